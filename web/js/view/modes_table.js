// js/view/modes_table.js -- the modes at one point: medians, ratios with their
// whisker, what compiling costs and when it is repaid.

import { h, chip, figure, headRow, prose, scroller, section, select } from "./dom.js";
import { axisHead, modeMark, whisker } from "./marks.js";
import { extent, ratioAxis } from "../model/axis.js";
import { plain } from "../model/format.js";
import { chipClass, DISAGREES } from "../model/sentence.js";
import { BUILT } from "../model/modes.js";

/** @typedef {import("../api/types.js").Point} Point */
/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("../api/report.js").ReportFindingsMode} Said */
/** @typedef {{run: import("../api/types.js").Run, points: readonly Point[], at: number, modes: readonly string[],
 *   said: import("../api/types.js").Findings}} Shown at: the point that is shown */

/** @param {Point} p */
export const pointName = (p) => (typeof p.n === "number" ? `n = ${plain(p.n)}` : "this input");

/** @param {string} text */
const dim = (text) => h("span", { class: "dim" }, text);

/** @param {Child | readonly Child[]} content */
const right = (content) => h("td", { class: "r" }, content);

/**
 * @param {Shown} shown
 * @param {(i: number) => void} choose
 * @param {import("./torch.js").TorchPart} [torch] PyTorch's rows at that point
 */
export function modesSection({ run, points, at, modes, said }, choose, torch) {
  const p = points[at];
  const title = points.length > 1 ? `Modes at ${pointName(p)}` : "Modes";
  const axis = ratioAxis(
    extent([...Object.values(p.break_even ?? {}), ...Object.values(torch?.point?.break_even ?? {})].flatMap((b) =>
      typeof b.speedup === "number" ? [[b.speedup, b.speedup_ci]] : [],
    )),
    200,
  );
  const head = headRow([
    "Mode",
    [`Median, ${said.time_unit}`, "r"],
    ["Speedup", "r"],
    [axisHead(axis), "", "Speedup interval"],
    [`Compile, ${said.compile_unit}`, "r"],
    ["Repaid after, calls", "r"],
    ["Launches", "r"],
    [`Peak, ${said.bytes_unit}`, "r"],
    ["Max error", "r"],
    "Verdict",
  ]);
  const rows = modes.map((m) => h("tr", {}, h("th", { scope: "row" }, modeMark(m)), cells(p, m, said.points[at].modes[m], axis)));
  const failed = run.report?.failed ?? {};
  for (const [m, why] of Object.entries(failed)) rows.push(failedRow(m, why));
  const body = h(
    "tbody",
    {},
    rows,
    torch?.rows(axis) ?? null,
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
 * @param {Said | undefined} said
 * @param {import("./marks.js").RatioAxis} axis
 */
function cells(p, name, said, axis) {
  const m = p.modes[name];
  if (!m || !said) return [h("td", { class: "dim", colspan: 9 }, "not measured at this point")];
  const median = said.median ? figure(said.median) : dim("not timed");
  const launches = said.launches ?? dim("unknown");
  const peak = said.peak ?? dim("unknown");
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
  const none = dim(said.verdict === DISAGREES ? "none" : "no baseline");
  return [
    right(median),
    right(said.speedup ? figure(said.speedup) : none),
    h("td", {}, said.speedup ? speedupWhisker(axis, p.break_even?.[name], said) : null),
    right(said.compile ?? dim("unknown")),
    right(said.verdict === DISAGREES ? none : repaid(said)),
    right(launches),
    right(peak),
    right(said.error ?? dim("unknown")),
    h("td", {}, said.verdict ? chip(chipClass(said.verdict), said.verdict) : none),
  ];
}

/** @param {import("./marks.js").RatioAxis} axis @param {import("../api/types.js").BreakEven | undefined} b @param {Said} said */
export const speedupWhisker = (axis, b, said) => (typeof b?.speedup === "number" ? whisker(axis, b.speedup, b.speedup_ci, said.verdict ?? "") : null);

/** @param {Said} said */
export const repaid = ({ repaid: after }) => (after && after !== "unknown" ? after : dim("unknown"));
