// js/model/machine.js -- what is known of the machine, as pairs to show.
//
// Known keys get our own words, in this order; keys of a newer server follow as
// they are, so that nothing recorded is hidden.

import { bytes, number, plural } from "./format.js";

/** The first key of a label that is there wins. @type {readonly [string, string][]} */
const NAMES = [
  ["cpu", "CPU"],
  ["name", "CPU"],
  ["cores", "Cores"],
  ["threads", "Threads used"],
  ["governor", "Governor"],
  ["vector_unit", "Vector unit"],
  ["backend", "Backend"],
  ["backend_note", "Backend, note"],
  ["copy_gbps", "Copy bandwidth, GB/s"],
  ["copy_curve", "A copy of"],
  ["cache_bytes", "Last cache"],
  ["compiler", "Compiler"],
  ["libc", "C library"],
  ["kernel", "Kernel"],
  ["breakeven", "Breakeven"],
];
const LEFT_OUT = new Set(["kind"]);

/** Pairs of bytes and microseconds. @param {unknown} v */
function copies(v) {
  if (!Array.isArray(v)) return null;
  return v.map(([moved, us]) => `${bytes(moved)} in ${number(us)} µs`.replaceAll(" ", "\u00a0")).join(", ");
}

/** @param {string} key @param {unknown} v @returns {string} */
function words(key, v) {
  if (v === "") return "unknown";
  if (key === "copy_curve") return copies(v) ?? "unknown";
  if (key === "cache_bytes" && typeof v === "number") return bytes(v);
  if (key === "copy_gbps" && typeof v === "number") return number(v);
  if (typeof v === "boolean") return v ? "yes" : "no";
  if (v === null || v === undefined) return "none";
  if (Array.isArray(v)) return v.length ? v.map((x) => words("", x)).join(", ") : "none";
  if (typeof v !== "object") return String(v);
  return Object.entries(v).map(([k, x]) => `${k.replace(/_/g, " ")} ${words(k, x)}`).join("; ");
}

/**
 * Where the time of a whole run went; parts below a thousandth are left out.
 * @param {import("../api/report.js").ReportWall | undefined} wall milliseconds by part @returns {string | null}
 */
export function wallTime(wall) {
  const { total = 0, ...others } = wall ?? {};
  if (!total) return null;
  const parts = Object.entries(others).filter(([, ms]) => ms >= total / 1000);
  const all = parts.map(([part, ms]) => `${part.replace("_", "-")} ${number(ms / 1000)} s`);
  return `${number(total / 1000)} s: ${all.join(", ")}`;
}

/** What an order counts, for one and for many. @type {readonly [keyof import("../api/types.js").Order, string, string?][]} */
const ORDERED = [
  ["streams", "stream"],
  ["events", "event"],
  ["launches", "launch", "launches"],
  ["graph_launches", "graph launch", "graph launches"],
  ["library_calls", "library call"],
  ["copies", "copy", "copies"],
  ["sets", "fill"],
  ["waits", "host wait", "host waits"],
];

/**
 * What each mode handed to the GPU in its whole run, on how many streams.
 * @param {Record<string, import("../api/types.js").ModeReport>} modes
 * @returns {[string, string][]}
 */
export function orderFacts(modes) {
  return Object.entries(modes).flatMap(([mode, { order }]) => {
    if (!order) return [];
    const counted = ORDERED.filter(([key]) => order[key]).map(([key, one, many]) => plural(order[key], one, many));
    return [[`GPU work, ${mode}`, counted.join(", ")]];
  });
}

/**
 * What the machine did while samples were taken, beside what it is.
 * @param {import("../api/report.js").ReportRun} report
 * @returns {[string, string][]}
 */
export function stateFacts({ machine, control, one_process, wide }) {
  /** @type {[string, string][]} */
  const facts = machine ? [["While it was timed", machine.text]] : [];
  if (machine?.gpu?.aside) facts.push(["Set aside", `${plural(machine.gpu.aside, "round")} in which the GPU ran below its clocks`]);
  if (machine?.unknown?.length) facts.push(["It does not tell", machine.unknown.join("; ")]);
  if (control) facts.push(["Fixed control", `${number(control.median_us)} µs (${number(control.ci_us[0])}–${number(control.ci_us[1])})`]);
  const processes = control?.of_process?.filter((/** @type {number} */ n) => n > 0).length ?? 0;
  if (one_process) facts.push(["Processes", `one, since ${one_process}`]);
  else if (processes > 1) facts.push(["Processes", `${processes} took the samples`]);
  if (wide) facts.push(["Still wide", wide]);
  return facts;
}

/** @param {unknown} device @param {unknown} environment @returns {[string, string][]} */
export function machineFacts(device, environment) {
  /** @type {Record<string, unknown>} */
  const all = {
    ...(device && typeof device === "object" ? device : device ? { name: device } : {}),
    ...(environment && typeof environment === "object" ? environment : {}),
  };
  const known = NAMES.filter(
    ([key], i) => key in all && !NAMES.slice(0, i).some(([k, label]) => label === NAMES[i][1] && k in all),
  );
  const shown = new Set(NAMES.map(([key]) => key));
  const rest = Object.keys(all)
    .filter((k) => !shown.has(k) && !LEFT_OUT.has(k))
    .map((k) => [k, k.replace(/_/g, " ")]);
  return [...known, ...rest]
    .filter(([key]) => all[key] !== null && all[key] !== undefined)
    .map(([key, label]) => [label, words(key, all[key])]);
}
