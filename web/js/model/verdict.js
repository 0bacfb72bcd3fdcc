// js/model/verdict.js -- the answer in words.
//
// Nothing here claims more than the interval holds: a verdict needs its whole
// interval beyond 2 % of 1x, SAME needs all of it within, everything else is
// AMBIGUOUS.  The sentence is made of parts, so that the view marks what is
// bold and the test reads it as text.

import { calls as countCalls, plural, ratio, withInterval, timeUnit, duration, smallError, plain } from "./format.js";
import { agreeText } from "./agreement.js";
import { inOrder } from "./modes.js";

export const MARGIN = 1.02;
/** Fewer rounds give no 95 % interval (profiler/measure/stats.h). */
export const FEWEST = 6;

/** Of a mode whose values are not eager's: how quick it is does not count. */
export const DISAGREES = "DISAGREES";

/** @typedef {"FASTER" | "SLOWER" | "SAME" | "AMBIGUOUS" | "NOT ENOUGH"} Verdict */
/** @typedef {{t: string, b?: true, ci?: true}} Part bold claims, intervals in grey, or plain */

/** @param {readonly number[] | null | undefined} ci interval of eager over mode
 * @param {number} [samples] rounds it rests on @returns {Verdict} */
export function verdictOf(ci, samples) {
  if (!ci || ci.length < 2 || (samples !== undefined && samples < FEWEST)) return "NOT ENOUGH";
  const [lo, hi] = ci;
  if (lo > MARGIN) return "FASTER";
  if (hi < 1 / MARGIN) return "SLOWER";
  if (lo >= 1 / MARGIN && hi <= MARGIN) return "SAME";
  return "AMBIGUOUS";
}

/**
 * The server's own word where the report has it.
 * @param {import("../api/types.js").BreakEven | undefined} be
 * @param {number} [samples]
 * @returns {string}
 */
export const wordOf = (be, samples) => be?.verdict ?? verdictOf(be?.speedup_ci, samples);

/** The CSS class of a verdict or status word. @param {string} word */
export function chipClass(word) {
  return word.toLowerCase().replace(/[^a-z]/g, "");
}

/** Which mode the page speaks of: static where it was measured, else the first compiled one.
 * @param {Iterable<string>} names @returns {string | null} */
export function headline(names) {
  const compiled = inOrder(names).filter((n) => n !== "eager");
  return compiled.includes("static") ? "static" : (compiled[0] ?? null);
}

const NBSP = "\u00a0";

/** @param {import("../api/types.js").Point} point @returns {string} " at n = 30", or "" without a sweep */
const where = (point) => (point.n === undefined || point.n === null ? "" : ` at n${NBSP}=${NBSP}${plain(point.n)}`);

/** When compile time comes back: parts that follow "and ".
 * @param {number | undefined} compileMs
 * @param {number | null | undefined} calls
 * @param {string} [repay]
 * @returns {Part[]} */
function repaid(compileMs, calls, repay) {
  const cost = compileMs === undefined ? "compile time" : duration(compileMs * 1e3).replace(" ", NBSP);
  if (repay === "unknown") return [{ t: `. Whether its ${cost} of compiling are repaid cannot be told.` }];
  if (calls === null || calls === undefined)
    return [{ t: ". Its " }, { t: `${cost} of compiling are never repaid`, b: true }, { t: "." }];
  if (calls < 1) return [{ t: " and " }, { t: "pays from the first call", b: true }, { t: "." }];
  return [{ t: " and " }, { t: `pays for its ${cost} after ${countCalls(calls)}`, b: true }, { t: "." }];
}

/**
 * Where the sweep changes sides.
 * @param {import("../api/types.js").Report} report
 * @param {string} mode
 * @returns {Part[]}
 */
function sides(report, mode) {
  const be = report.break_even?.[mode];
  const points = (report.points ?? []).filter((p) => p.break_even?.[mode]);
  if (points.length < 2 || be?.side === "disagrees") return [];
  if (be && typeof be.crossover_n === "number") {
    const c = withInterval(be.crossover_n, be.crossover_ci);
    const [first, last] = [points[0], points[points.length - 1]].map((p) => p.break_even?.[mode].speedup ?? 1);
    const rises = be.side ? be.side === "above" : last > first;
    return [
      { t: rises ? " Below " : " Above " },
      { t: `n${NBSP}=${NBSP}${c.text}` },
      { t: c.interval ? ` ${c.interval}` : "", ci: true },
      { t: " stay with eager." },
    ];
  }
  const verdicts = points.map((p) => wordOf(p.break_even?.[mode], p.modes[mode]?.latency?.n));
  if (verdicts.every((v) => v === "FASTER")) return [{ t: " It is ahead at every n measured." }];
  if (verdicts.every((v) => v === "SLOWER")) return [{ t: " Stay with eager at every n measured." }];
  if (verdicts.includes("SLOWER")) return [{ t: " It is not ahead at every n: the curve shows where." }];
  return [{ t: " It is nowhere behind." }];
}

/**
 * A median alone, where nothing can be compared.
 * @param {string} mode
 * @param {import("../api/types.js").Latency} latency
 * @param {import("../api/types.js").Point} point
 * @param {string} why
 * @returns {Part[]}
 */
function alone(mode, latency, point, why) {
  const unit = timeUnit([latency.median_us]);
  const l = withInterval(latency.median_us, latency.ci_us, { scale: unit.scale });
  return [
    { t: `${mode} takes ${l.text}${NBSP}${unit.name}`, b: true },
    { t: ` ${l.interval}`, ci: true },
    { t: ` a call${where(point)}. ${why}, so nothing is compared.` },
  ];
}

/**
 * The claim itself, by its verdict.
 * @param {string} mode
 * @param {import("../api/types.js").ModeReport} m
 * @param {import("../api/types.js").BreakEven & {speedup: number}} be
 * @param {string} at " at n = 30"
 * @returns {Part[]}
 */
function claim(mode, m, be, at) {
  const r = ratio(be.speedup, be.speedup_ci);
  const [lo, hi] = be.speedup_ci ?? [be.speedup, be.speedup];
  switch (wordOf(be, m.latency?.n)) {
    case "FASTER": {
      const head = [
        { t: `${mode} is ${r.text}`, b: true },
        { t: ` ${r.interval} `, ci: true },
        { t: "faster", b: true },
      ];
      return /** @type {Part[]} */ ([
        ...head,
        { t: ` than eager${at}` },
        ...repaid(m.compile_ms, be.calls_to_repay, be.repay),
      ]);
    }
    case "SLOWER": {
      const slow = ratio(1 / be.speedup, [1 / hi, 1 / lo]);
      const head = [
        { t: `${mode} takes ${slow.text}`, b: true },
        { t: ` ${slow.interval} `, ci: true },
        { t: "as long as eager", b: true },
      ];
      return /** @type {Part[]} */ ([...head, { t: at }, ...repaid(m.compile_ms, null)]);
    }
    case "SAME": {
      const head = [
        { t: `${mode} is as fast as eager`, b: true },
        { t: `${at}: ${r.text}` },
        { t: ` ${r.interval}`, ci: true },
      ];
      return /** @type {Part[]} */ ([...head, ...repaid(m.compile_ms, be.calls_to_repay, be.repay)]);
    }
    default: {
      const [from, to] = r.interval ? r.interval.slice(1, -1).split("–") : [r.text, r.text];
      const few = wordOf(be, m.latency?.n) === "NOT ENOUGH";
      const why = few ? `it rests on ${plural(m.latency?.n ?? 0, "round")}` : "the interval holds 1x";
      return [
        { t: `${mode} may lie anywhere from ${from}x to ${to}x`, b: true },
        { t: ` of eager's speed${at}; ${why}, so no verdict is given.` },
      ];
    }
  }
}

/**
 * The sentence that opens a run.
 * @param {import("../api/types.js").Report} report
 * @param {import("../api/types.js").Point} point the point it speaks of
 * @param {string | null} mode
 * @returns {Part[]}
 */
export function sentence(report, point, mode) {
  const eager = point.modes.eager?.latency;
  const m = mode ? point.modes[mode] : undefined;
  const be = mode ? point.break_even?.[mode] : undefined;
  const speedup = be?.speedup ?? null;
  if (mode && m && (m.agrees === false || wordOf(be) === DISAGREES))
    return [{ t: `${mode} disagrees with eager`, b: true }, { t: `${where(point)}: it is neither faster nor slower, for what it computes is something else.` }];
  if (mode && m?.latency && eager && be && speedup !== null) return [...claim(mode, m, { ...be, speedup }, where(point)), ...sides(report, mode)];
  if (mode && m?.latency) return alone(mode, m.latency, point, "Eager was not measured");
  if (eager) return alone("eager", eager, point, "No compiled mode was measured");
  return [{ t: "Nothing was timed in this run", b: true }, { t: ": it compares values and graphs only." }];
}

/** @param {readonly Part[]} parts @returns {string} */
export const asText = (parts) =>
  parts
    .map((p) => p.t)
    .join("")
    .replace(/\u00a0/g, " ");

/**
 * How it was measured, in one grey line.
 * @param {import("../api/types.js").Point} point
 */
export function how(point) {
  const modes = Object.entries(point.modes).filter(([, m]) => m.latency);
  if (!modes.length) return "";
  const rounds = modes.map(([, m]) => m.latency?.n ?? 0).filter((n) => n > 0);
  const [least, most] = [Math.min(...rounds), Math.max(...rounds)];
  const many = !rounds.length
    ? "Median"
    : least === most
      ? `Median of ${plural(least, "round")}`
      : `Median of ${least} to ${most} rounds`;
  const told = agreeText(Object.fromEntries(modes));
  const errors = modes.flatMap(([, m]) => (m.max_abs_error === undefined ? [] : [m.max_abs_error]));
  const odd = errors.some((e) => typeof e !== "number");
  const error = Math.max(0, ...errors.map(Number));
  const old = !errors.length
    ? ""
    : odd
      ? " A mode's values differ from eager's by NaN."
      : error === 0
        ? " Every mode gives eager's bits."
        : ` Every mode agrees with eager within ${smallError(error)}.`;
  const agree = told || old; // a report of before agreements were kept
  return `${many}, modes in turn in each; 95 % intervals.${agree}`;
}

/**
 * @param {import("../api/types.js").Latency | null | undefined} l
 * @returns {string} "" where nothing is to be said
 */
function noiseOf(l) {
  if (!l) return "";
  if (typeof l.noise === "string") return l.noise;
  const half = (l.ci_us[1] - l.ci_us[0]) / 2 / l.median_us;
  return l.noise === undefined && half > 0.05
    ? `The half-width of its interval is ${Math.round(100 * half)}${NBSP}%: verdicts there rest on the wider interval.`
    : "";
}

/** @typedef {{title: string, text: string}} Warning */

/** The values of each key, keys in the order of their first. @param {readonly (readonly [string, string])[]} pairs */
function gathered(pairs) {
  /** @type {Map<string, string[]>} */
  const all = new Map();
  for (const [key, value] of pairs) all.set(key, [...(all.get(key) ?? []), value]);
  return [...all];
}

/**
 * What a reader should know before trusting a figure; what several modes and points have in
 * common is one.
 * @param {import("../api/types.js").Report} report
 * @returns {Warning[]}
 */
export function warnings(report) {
  const points = report.points?.length ? report.points : [{ n: null, modes: report.modes ?? {} }];
  const each = points.flatMap((p) => Object.entries(p.modes).map(([mode, m]) => ({ mode, n: p.n, text: noiseOf(m.latency) })));
  return [...new Set(each.map((w) => w.text))].filter(Boolean).flatMap((text) => {
    const its = each.filter((w) => w.text === text);
    const modes = gathered(its.map((w) => [w.mode, typeof w.n === "number" ? plain(w.n) : ""]));
    const alike = gathered(modes.map(([mode, at]) => [at.join(", "), mode]));
    return alike.map(([at, names]) => ({ title: `${names.join(", ")}${at && ` at n${NBSP}=${NBSP}${at}`}.`, text }));
  });
}
