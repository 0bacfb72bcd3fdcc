// js/view/repay.js -- break-even over the number of calls, at one point: the curve, and what each
// mode costs and saves.

import { h, chip, ci, headRow, scroller, section } from "./dom.js";
import { ChartFigure } from "./chart.js";
import { modeMark } from "./marks.js";
import { plain, ratio } from "../model/format.js";
import { intervalOf } from "../model/sentence.js";
import { repaidOf, repayCrossing, repaySeries } from "../model/repay.js";
import { fileStem } from "../model/commands.js";

/** @typedef {import("../model/repay.js").Repaid} Repaid */

const dim = (/** @type {string} */ text) => h("span", { class: "dim" }, text);

/** @param {import("../api/report.js").ReportFigure} f */
const figure = (f) => [f.text, ...ci(intervalOf(f))];

/** @param {readonly Repaid[]} all */
function table(all) {
  const rows = all.map((r) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, modeMark(r.mode), r.by ? [" ", chip("plain", r.by)] : null),
      h("td", { class: "r" }, r.said.compile),
      h("td", { class: "r" }, r.said.saved ? figure(r.said.saved) : dim("nothing")),
      h("td", { class: "r" }, r.calls === null ? dim(r.said.after.text) : figure(r.said.after)),
      h("td", { class: "r" }, r.said.nearly === null ? dim(r.said.nearly_after) : r.said.nearly_after),
    ),
  );
  const head = headRow(["Mode", ["Compile", "r"], ["Saved a call, µs", "r"], ["Repaid after", "r"], ["90 % of its speedup after", "r"]]);
  const el = h("table", { id: "repaid" }, h("caption", { class: "vh" }, "What compiling costs and saves"), head, h("tbody", {}, rows));
  return scroller("Break-even by mode, table", el);
}

/** What is said of the modes of a point. @param {readonly import("../api/report.js").ReportFindingsPoint[] | undefined} points @param {import("../api/types.js").Point} at */
const saidAt = (points, at) => points?.find((p) => (p.n ?? null) === (at.n ?? null))?.modes ?? {};

/**
 * The section; [] where nothing was compiled, or held against eager.
 * @param {import("../api/types.js").Run} run @param {import("../api/types.js").Point} point @param {string | null} mode the one that is marked
 * @param {AbortSignal} signal @param {import("../api/types.js").TorchPoint | null} [torch] the same point by PyTorch
 */
export function repaySection(run, point, mode, signal, torch = null) {
  const all = [...repaidOf(point, saidAt(run.findings?.points, point)), ...(torch ? repaidOf(torch, saidAt(run.findings?.torch, point), "torch") : [])];
  if (!all.length) return [];
  const series = repaySeries(all);
  const last = series[0].dots[series[0].dots.length - 1];
  const said = all.map((r) => `${r.mode}${r.by && ` of ${r.by}`} ${r.calls === null ? "is never repaid" : `is repaid after ${r.said.after.text}`}`).join("; ");
  const figure = new ChartFigure(
    {
      id: "repay",
      title: "Total speedup",
      note: "with compiling; above 1x it pays",
      ratio: true,
      unit: { name: "x", scale: 1 },
      by: "calls",
      xTitle: "calls since the start",
      series,
      crossings: repayCrossing(all, mode),
      summary: `Eager over each mode with its compile time, from 1 to ${plain(last.x)} calls, log scale: ${series.map((s) => `${s.label} ends at ${ratio(s.dots[s.dots.length - 1].y).text}`).join("; ")}. ${said}. The table holds the same numbers.`,
      file: `${fileStem(run.name)}_${run.id}`,
    },
    signal,
  );
  requestAnimationFrame(() => signal.aborted || figure.draw());
  const note = typeof point.n === "number" ? `at n = ${plain(point.n)}, over the number of calls` : "over the number of calls";
  return [section("Break-even", note, null, h("div", { class: "two" }, figure.figure, h("div", {}, table(all))))];
}
