// js/model/format.js -- numbers that depend on the pointer or on what is picked, as the server writes all
// others (profiler/numbers/numbers.h): tests/numbers.json has the cases that both are held against.
//
// At most three significant digits; beside an interval no digit finer than its
// half-width.  The step is chosen once and shared by median and ends, so that
// "7.1x (7.0–7.3)" never shows a digit the measurement does not hold.

const [SMALLEST, LARGEST] = [-12, 21]; // powers of ten between which numbers are printed

/** The power of ten of the first digit of x, once it is rounded to so many. @param {number} x @param {number} digits */
const exponentOf = (x, digits) => (Number.isFinite(x) ? Number(x.toExponential(digits - 1).split("e")[1]) : 0);

/** @param {number} exponent */
const powerOfTen = (exponent) => Number(`1e${exponent}`);

/** The half-width's power of ten, or the third significant digit's where that is coarser; never so coarse that a value
 * above 0 reads as 0, and finer by a digit where an end of the interval would. @param {number} value @param {number} [lo] @param {number} [hi] @returns {number} */
export function stepOf(value, lo = 0, hi = 0) {
  let step = value !== 0 ? exponentOf(value, 3) - 2 : -2;
  const half = (hi - lo) / 2;
  if (half > 0) step = Math.max(step, exponentOf(half, 12));
  if (value > 0) step = Math.min(step, exponentOf(value, 12));
  return powerOfTen([lo, hi].some((end) => end !== 0 && rounded(end, step) === 0) ? step - 1 : step);
}

/** x rounded to 10^step, halves away from 0, without its sign. @param {number} x @param {number} step */
function rounded(x, step) {
  const unit = powerOfTen(Math.abs(step));
  return step < 0 ? Math.round(Math.abs(x) * unit) / unit : Math.round(Math.abs(x) / unit) * unit;
}

/** `step`, or as fine a one as tells `end` from `pole`, where 0.01 does. @param {number} step @param {number} end @param {number} pole */
function toldApart(step, end, pole) {
  if (end === pole || rounded(end, -2) === pole) return step;
  let power = Math.round(Math.log10(step));
  while (power > -2 && rounded(end, power) === pole) power--;
  return powerOfTen(power);
}

/** A number rounded to a step (a power of ten), thousands with a comma.
 * @param {number} value @param {number} step @returns {string} */
export function toStep(value, step) {
  const power = step > 0 ? Math.min(Math.max(Math.round(Math.log10(step)), SMALLEST), LARGEST) : 0;
  const near = rounded(value, power);
  if (!Number.isFinite(value) || near >= 1e21) return "unknown";
  return (value < 0 && near > 0 ? "-" : "") + grouped(near.toFixed(power < 0 ? -power : 0));
}

/** With a comma for each thousand.  toLocaleString() makes a formatter at each call, the first of them for tens of
 * milliseconds: longer than a page may take to its first frame. @param {string} digits */
const grouped = (digits) => digits.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(?:\d{3})+$)/g, ","));

/** At most three significant digits: 183, 25.6, 9.11, 2,990; a whole number stays one. @param {number} value */
export function number(value) {
  const step = stepOf(value);
  return toStep(value, Number.isInteger(value) ? Math.max(step, 1) : step);
}

/** Up to six significant digits, without zeros that say nothing: 0.5, 30, 1,024. @param {number} value */
export function plain(value) {
  const text = toStep(value, powerOfTen(value !== 0 ? exponentOf(value, 6) - 5 : 0));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** How values of an axis are written, all with the digits of its step: 0.8, 1.0, 1.2. @param {number} step @returns {(value: number) => string} */
export const onAxis = (step) => (value) => toStep(value, powerOfTen(Math.min(0, Math.floor(Math.log10(step) + 1e-9))));

/** Counts are exact, with thousands. @param {number} value */
export function count(value) {
  return toStep(value, 1);
}

/** @param {number} n @param {string} one @param {string} [many] @returns {string} */
export function plural(n, one, many = `${one}s`) {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Of a sweep that ended early. @param {{measured: number, of: number}} part */
export const partly = (part) => `Partial: ${count(part.measured)} of ${plural(part.of, "point")} measured`;

/** Calls to repay, rounded as an estimate is: "2,990 calls"; "at once" where nothing was compiled. @param {number} n */
export function calls(n) {
  return n < 1 ? "at once" : `${number(n)} ${n === 1 ? "call" : "calls"}`;
}

/**
 * A value with its interval; `text` and `interval` share one step.
 * @param {number} value @param {readonly number[] | null | undefined} ci
 * @param {{scale?: number, suffix?: string}} [how]
 * @returns {{text: string, interval: string}} interval is "" where none was measured
 */
export function withInterval(value, ci, how = {}) {
  const { scale = 1, suffix = "" } = how;
  const v = value / scale;
  if (!ci || ci.length < 2 || !Number.isFinite(ci[0]) || !Number.isFinite(ci[1])) {
    return { text: toStep(v, stepOf(v)) + suffix, interval: "" };
  }
  const [lo, hi] = [ci[0] / scale, ci[1] / scale];
  const own = stepOf(v, lo, hi);
  const step = suffix === "x" ? toldApart(toldApart(own, lo, 1), hi, 1) : own;
  return { text: toStep(v, step) + suffix, interval: `(${toStep(lo, step)}${lo < 0 ? " to " : "–"}${toStep(hi, step)})` };
}

/** A ratio with its interval: 7.1x (7.0–7.3). @param {number} value @param {readonly number[] | null} [ci] */
export function ratio(value, ci) {
  return withInterval(value, ci, { suffix: "x" });
}

/** @typedef {{name: string, scale: number}} Unit */

/** @type {Unit[]} */
const TIME = [
  { name: "µs", scale: 1 },
  { name: "ms", scale: 1e3 },
  { name: "s", scale: 1e6 },
  { name: "min", scale: 60e6 },
  { name: "h", scale: 3600e6 },
  { name: "days", scale: 86400e6 },
];

/**
 * One unit for a column of microseconds: µs below 10 ms.
 * @param {Iterable<number>} valuesUs
 * @returns {Unit}
 */
export function timeUnit(valuesUs) {
  const most = Math.max(0, ...[...valuesUs].filter(Number.isFinite));
  if (most < 10e3) return TIME[0];
  if (most < 10e6) return TIME[1];
  if (most < 600e6) return TIME[2];
  if (most < 600 * 60e6) return TIME[3];
  return TIME[most < 100 * 3600e6 ? 4 : 5];
}

/** @type {Unit[]} */
const BYTES = [
  { name: "B", scale: 1 },
  { name: "kB", scale: 1e3 },
  { name: "MB", scale: 1e6 },
  { name: "GB", scale: 1e9 },
];

/** One unit for a column of bytes: that of its largest, or the next where its smallest would begin with zeros (4 B beside
 * 1,540, not 0.004 kB beside 1.54). @param {Iterable<number>} values @returns {Unit} */
export function bytesUnit(values) {
  const all = [...values].filter((v) => Number.isFinite(v) && v > 0);
  const most = Math.max(0, ...all);
  const unit = most < 1e3 ? 0 : most < 1e6 ? 1 : most < 1e9 ? 2 : 3;
  const least = Math.min(...all) / BYTES[Math.max(0, unit - 1)].scale;
  return BYTES[unit && least >= 0.1 && least < 10 ? unit - 1 : unit];
}

/** "16.8 MB" @param {number} value */
export function bytes(value) {
  const unit = bytesUnit([value]);
  return `${number(value / unit.scale)} ${unit.name}`;
}

/** A duration in its own unit: "470 ms", "25.6 µs". @param {number} us */
export function duration(us) {
  const unit = timeUnit([us]);
  return `${number(us / unit.scale)} ${unit.name}`;
}

/** Seconds that are left, for prose: "about 8 s", "about 2 min". @param {number} seconds */
export function about(seconds) {
  if (seconds < 90) return `about ${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 5400) return `about ${Math.round(seconds / 60)} min`;
  return `about ${Math.round(seconds / 3600)} h`;
}

/** Percents to a tenth that add up to the whole's own (largest remainder).
 * @param {readonly number[]} parts @param {number} whole @returns {number[]} */
export function shares(parts, whole) {
  if (!(whole > 0)) return parts.map(() => 0);
  const exact = parts.map((p) => (1000 * p) / whole);
  const floors = exact.map(Math.floor);
  let rest = Math.round(exact.reduce((a, b) => a + b, 0)) - floors.reduce((a, b) => a + b, 0);
  const order = exact.map((e, i) => ({ i, r: e - floors[i] })).sort((a, b) => b.r - a.r);
  for (const { i } of order) if (rest-- > 0) floors[i] += 1;
  return floors.map((f) => f / 10);
}

/** To a tenth; a share of what is not nothing is not "0 %". @param {number} percent @param {number} value */
export const shareText = (percent, value) => (percent === 0 && value > 0 ? "<0.1 %" : `${toStep(percent, percent % 100 === 0 ? 1 : 0.1)} %`);

/**
 * An error bound: 4.8e-7, 24.6, and 0 where the bits agree.
 * @param {number | string} value "nan" as a report has it
 */
export function smallError(value) {
  if (typeof value !== "number") return value;
  if (Math.abs(value) >= 1 && Math.abs(value) < 1e4) return number(value);
  const e = exponentOf(value, 2);
  return value === 0 ? "0" : `${value < 0 ? "-" : ""}${(rounded(value, e - 1) / powerOfTen(e)).toFixed(1)}e${e}`;
}

/** Age in lists: now, 5 min, 2 h, 1 d. @param {number} thenMs @param {number} nowMs */
export function age(thenMs, nowMs) {
  const s = Math.max(0, (nowMs - thenMs) / 1000);
  if (s < 60) return "now";
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

/** @param {number} n @returns {string} */
const two = (n) => String(n).padStart(2, "0");

/** Date in heads: 2026-11-21. @param {number} ms */
export function date(ms) {
  const d = new Date(ms);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

/** Exact stamp with its zone, for titles. @param {number} ms */
export function stamp(ms) {
  const d = new Date(ms);
  const off = -d.getTimezoneOffset();
  const zone = `${off < 0 ? "-" : "+"}${two(Math.floor(Math.abs(off) / 60))}:${two(Math.abs(off) % 60)}`;
  return `${date(ms)} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())} ${zone}`;
}

/** "a, b and c". @param {readonly string[]} words */
export function list(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** A message of the server on its own: a capital, and a full stop where it ends without one. @param {string} text */
export const asSentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
