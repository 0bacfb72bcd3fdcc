// js/view/modes_table.js -- the modes at one point: medians, ratios with their
// whisker, what compiling costs and when it is repaid.

import { h, chip, ci, headRow, prose, scroller, section, select } from "./dom.js";
import { axisHead, modeMark, ratioAxis, whisker } from "./marks.js";
import {
  bytesUnit,
  calls,
  duration,
  number,
  plain,
  ratio,
  smallError,
  timeUnit,
  withInterval,
} from "../model/format.js";
import { chipClass, DISAGREES, wordOf } from "../model/verdict.js";
import { BUILT } from "../model/modes.js";

/** @typedef {import("../api/types.js").Point} Point */
/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/types.js").BreakEven} BreakEven */
/** @typedef {import("./dom.js").Child} Child */
/**
 * @typedef {object} Columns what all rows share
 * @property {import("./marks.js").RatioAxis} axis
 * @property {import("../model/format.js").Unit} time
 * @property {import("../model/format.js").Unit} bytes
 */

/** @param {Point} p */
export const pointName = (p) => (typeof p.n === "number" ? `n = ${plain(p.n)}` : "this input");

/** @param {string} text */
const dim = (text) => h("span", { class: "dim" }, text);

/** @param {Child | readonly Child[]} content */
const right = (content) => h("td", { class: "r" }, content);

/** @param {{text: string, interval: string}} v @returns {Child[]} */
const strong = (v) => [h("span", { class: "num-strong" }, v.text), ...ci(v.interval)];

/**
 * @param {import("../api/types.js").Run} run
 * @param {readonly Point[]} points
 * @param {number} at the point that is shown
 * @param {readonly string[]} modes
 * @param {(i: number) => void} choose
 * @param {import("./torch.js").TorchPart} [torch] PyTorch's rows at that point
 */
export function modesSection(run, points, at, modes, choose, torch) {
  const p = points[at];
  const title = points.length > 1 ? `Modes at ${pointName(p)}` : "Modes";
  const measured = modes.flatMap((m) => (p.modes[m] ? [p.modes[m]] : []));
  const columns = {
    axis: ratioAxis(
      [...Object.values(p.break_even ?? {}), ...Object.values(torch?.point?.break_even ?? {})].flatMap((b) =>
        typeof b.speedup === "number" ? [b.speedup, ...(b.speedup_ci ?? [])] : [],
      ),
      200,
    ),
    time: timeUnit([...measured, ...Object.values(torch?.point?.modes ?? {})].map((m) => m.latency?.median_us ?? 0)),
    bytes: bytesUnit(measured.map((m) => m.peak_bytes ?? 0)),
  };
  const head = headRow([
    "Mode",
    [`Median, ${columns.time.name}`, "r"],
    ["Speedup", "r"],
    [axisHead(columns.axis), "", "Speedup interval"],
    ["Compile", "r"],
    ["Repaid after", "r"],
    ["Launches", "r"],
    [`Peak, ${columns.bytes.name}`, "r"],
    ["Max error", "r"],
    "Verdict",
  ]);
  const rows = modes.map((m) => h("tr", {}, h("th", { scope: "row" }, modeMark(m)), cells(p, m, columns)));
  const failed = run.report?.failed ?? {};
  for (const [m, why] of Object.entries(failed)) rows.push(failedRow(m, why));
  const body = h(
    "tbody",
    {},
    rows,
    torch?.rows(columns) ?? null,
    missingRow(
      run,
      BUILT.filter((m) => !modes.includes(m) && !(m in failed)),
    ),
  );
  const table = h("table", { id: "modes-table" }, h("caption", { class: "vh" }, title), head, body);
  return section(
    title,
    null,
    points.length > 1 ? pointChooser(points, at, choose) : null,
    scroller(`${title}, table`, table),
    torch?.lines ?? null,
  );
}

/**
 * @param {readonly Point[]} points
 * @param {number} at
 * @param {(i: number) => void} choose
 */
function pointChooser(points, at, choose) {
  const order = points.map((q, i) => ({ value: String(i), label: pointName(q) })).reverse();
  const chooser = select(order, String(at), { id: "point" }, (v) => {
    choose(Number(v));
    document.getElementById("point")?.focus();
  });
  return [h("label", { class: "small sub", for: "point" }, "Point"), chooser];
}

/**
 * Modes that could have been measured have their row too.
 * @param {import("../api/types.js").Run} run
 * @param {readonly string[]} missing
 */
function missingRow(run, missing) {
  if (!missing.length) return null;
  const href = `/new?from=${encodeURIComponent(run.id)}&add=${missing.join(",")}`;
  const name = h("th", { scope: "row" }, h("span", { class: "sub" }, missing.join(", ")));
  const link = h("td", {}, h("a", { class: "btn quiet", href }, "Measure too"));
  return h("tr", {}, name, h("td", { class: "dim", colspan: 8 }, "not in this run"), link);
}

/**
 * A mode that did not run to the end, where a suite went on without it.
 * @param {string} mode @param {{message: string, line?: number | null}} why
 */
function failedRow(mode, why) {
  const text = why.line ? `line ${why.line}: ${why.message}` : why.message;
  return h("tr", {}, h("th", { scope: "row" }, modeMark(mode)), h("td", { class: "wrap", colspan: 8 }, prose(text)), h("td", {}, chip("failed", "FAILED")));
}

/**
 * @param {Point} p
 * @param {string} name
 * @param {Columns} columns
 */
function cells(p, name, columns) {
  const m = p.modes[name];
  if (!m) return [h("td", { class: "dim", colspan: 9 }, "not measured at this point")];
  const l = m.latency;
  const median = l ? strong(withInterval(l.median_us, l.ci_us, { scale: columns.time.scale })) : dim("not timed");
  const launches = m.launches === undefined ? dim("unknown") : number(m.launches);
  const peak = m.peak_bytes === undefined ? dim("unknown") : number(m.peak_bytes / columns.bytes.scale);
  if (name === "eager") {
    return [
      right(median),
      right("1x"),
      h("td"),
      right(dim("none")),
      right(dim("baseline")),
      right(launches),
      right(peak),
      right(dim("reference")),
      h("td", {}, dim("baseline")),
    ];
  }
  const differs = m.agrees === false;
  const b = differs ? undefined : p.break_even?.[name];
  const word = differs ? DISAGREES : wordOf(b, l?.n);
  const speedup = b?.speedup ?? null;
  const compile = m.compile_ms === undefined ? dim("unknown") : duration(m.compile_ms * 1e3);
  const none = dim(differs ? "none" : "no baseline");
  const error = m.max_abs_error === undefined ? dim("unknown") : smallError(m.max_abs_error);
  return [
    right(median),
    right(speedup === null ? none : strong(ratio(speedup, b?.speedup_ci))),
    h("td", {}, speedup === null ? null : whisker(columns.axis, speedup, b?.speedup_ci, word)),
    right(compile),
    right(differs ? none : repaid(b)),
    right(launches),
    right(peak),
    right(error),
    h("td", {}, differs || b ? chip(chipClass(word), word) : none),
  ];
}

/** @param {BreakEven | undefined} b */
function repaid(b) {
  if (!b || b.repay === "unknown") return dim("unknown");
  if (typeof b.calls_to_repay !== "number") return "never";
  return b.calls_to_repay < 1 ? "at once" : calls(b.calls_to_repay);
}
