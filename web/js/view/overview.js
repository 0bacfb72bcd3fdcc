// js/view/overview.js -- is compiling worth it, and from when on?
//
// A sentence, then its evidence: modes at one point, both curves, where the
// floor comes from, how to repeat it, warnings and the machine.  The sentence and
// the modes are painted before anything else is made, and the curves' script comes
// meanwhile.

import { h, add, button, copyButton, download, headRow, painted, scroller, section, spoken, stateWell } from "./dom.js";
import { remember } from "./router.js";
import { onKeys } from "./frame.js";
import { modesSection, pointName } from "./modes_table.js";
import { mixedSection } from "./mixed.js";
import { splitSection } from "./split.js";
import { count } from "../model/format.js";
import { unbroken } from "../model/sentence.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { fileStem, runLine } from "../model/commands.js";
import { machineFacts, orderFacts, stateFacts, wallTime } from "../model/machine.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Report} Report */
/** @typedef {import("../api/types.js").Point} Point */

const WARNINGS_SHOWN = 4;
/** Of a file, in letters: longer ones stay out of its button. */
const LONG_NAME = 32;

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {Run} run
 * @param {Report} report
 */
export async function overview(ctx, body, run, report) {
  const coming = Promise.all([report.points?.length ? import("./curves.js") : null, import("./repay.js")]);
  coming.catch(() => {}); // said where it is awaited
  // Most runs have our engine alone: the script for another is loaded where there is one.
  const torch = report.engines?.torch ? await import("./torch.js") : null;
  if (ctx.signal.aborted) return;
  const points = pointsOf(report);
  const last = points.length - 1;
  const modes = modesOf(points);
  const said = run.findings;
  if (!said) return add(body, stateWell("Nothing was measured in this run", h("p", {}, "Its report has no modes.")));
  const { mode } = said;
  const [modesPlace, mixedPlace, repayPlace, splitPlace, againPlace] = [h("div"), h("div"), h("div"), h("div"), h("div")];
  const its = (/** @type {number} */ at) => torch?.torchPart(run, report, points[at].n);
  const fillModes = (/** @type {number} */ at) => modesPlace.replaceChildren(modesSection({ run, points, at, modes, said }, choose, its(at)));
  /** @type {typeof import("./repay.js") | null} */
  let repay = null;
  let drawn = new AbortController();
  ctx.signal.addEventListener("abort", () => drawn.abort(), { once: true });
  const fillRest = (/** @type {number} */ at) => {
    drawn.abort();
    drawn = new AbortController();
    repayPlace.replaceChildren(...(repay?.repaySection(run, points[at], mode, drawn.signal, its(at)?.point) ?? []));
    mixedPlace.replaceChildren(...mixedSection(points[at], modes, said, at));
    splitPlace.replaceChildren(...splitSection(points[at], modes, said.points[at]));
    againPlace.replaceChildren(againSection(run, report, points[at], modes));
  };
  let shown = points.findIndex((p) => p.n === Number(ctx.query.get("n") ?? NaN));
  if (shown < 0) shown = last;
  const choose = (/** @type {number} */ at) => {
    const { n } = points[at];
    remember({ n: at === last || typeof n !== "number" ? null : String(n) });
    shown = at;
    fillModes(at);
    fillRest(at);
  };
  fillModes(shown);
  add(body, verdictSection(said), modesPlace);
  await painted();
  const [sweep, calls] = await coming;
  if (ctx.signal.aborted) return;
  repay = calls;
  const curves = sweep?.curvesSection(run, report, mode, ctx.signal, torch?.torchOverlays(report) ?? []);
  fillRest(shown);
  add(body, mixedPlace, curves?.el, repayPlace, splitPlace, againPlace, notesSection(run, report, points[last]));
  if (curves) onKeys(ctx.signal, { t: () => curves.toggle() });
}

/** @param {import("../api/types.js").Findings} said */
function verdictSection(said) {
  const method = h("p", { class: "how" }, said.points[said.points.length - 1].how);
  return h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", { id: "verdict" }, spoken(said.answer)), method);
}

/**
 * A line for the whole run and one for each figure of the chosen point.
 * @param {Run} run
 * @param {Report} report
 * @param {Point} point
 * @param {readonly string[]} modes
 */
function againSection(run, report, point, modes) {
  const w = run.workload ?? report.workload;
  const stem = fileStem(w?.name);
  const at = typeof point.n === "number" ? ` at ${pointName(point)}` : "";
  const figures = modes.map((m) => ({ what: m + at, line: point.modes[m]?.reproduce ?? "" })).filter((l) => l.line);
  const rows = [{ what: "The whole run", line: runLine(w) }, ...figures].map(({ what, line }) => {
    const copy = copyButton(() => line, `Copy the command of ${what}`);
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, what),
      h("td", {}, h("code", {}, line)),
      h("td", { class: "r" }, copy),
    );
  });
  const caption = h("caption", { class: "vh" }, "Commands that measure it again");
  const head = headRow(["Figure", "Command", [null, "", "Copy"]]);
  const table = h("table", { class: "again" }, caption, head, h("tbody", {}, rows));
  const json = () => `${JSON.stringify(w, null, 2)}\n`;
  const file = download(stem.length > LONG_NAME ? "Download the workload" : `Download ${stem}.json`, `${stem}.json`, "application/json", json);
  const note = "run each in the folder that has the workload file";
  return section("Measure it again", note, file, scroller("Commands that measure it again, table", table));
}

/**
 * @param {Run} run
 * @param {Report} report
 * @param {Point} point the last
 */
function notesSection(run, report, point) {
  const all = run.findings?.warnings ?? [];
  const title = all.length ? `Warnings (${all.length})` : "Warnings";
  const facts = machineFacts(report.device, run.environment ?? report.environment);
  facts.push(...stateFacts(report));
  const wall = wallTime(report.wall_ms);
  if (wall) facts.push(["Wall time of the run", wall]);
  facts.push(...orderFacts(point.modes));
  const pairs = facts.flatMap(([t, d]) => [h("dt", {}, t), h("dd", {}, d)]);
  const left = h("div", {}, h("header", { class: "bar" }, h("h2", {}, title)), warningList(all, Boolean(report.machine?.gpu?.aside)));
  const machine = h("div", {}, h("header", { class: "bar" }, h("h2", {}, "Machine")), h("dl", { class: "kv" }, pairs));
  return h("section", { class: "sec two", "aria-label": "Warnings and machine" }, left, machine);
}

/** @param {readonly import("../api/report.js").ReportWarning[]} all @param {boolean} dropped whether samples were set aside */
function warningList(all, dropped) {
  const list = h("div");
  const notice = (/** @type {import("../api/report.js").ReportWarning} */ w) =>
    h("div", { class: "notice" }, h("p", {}, h("b", {}, unbroken(w.title)), " ", w.text));
  const fill = (/** @type {number} */ most) => {
    list.replaceChildren(...all.slice(0, most).map(notice));
    if (all.length > most)
      add(
        list,
        button(`Show ${count(all.length - most)} more`, () => fill(all.length)),
      );
  };
  fill(WARNINGS_SHOWN);
  if (!all.length) add(list, h("p", { class: "sub" }, dropped ? "None: no figure is noisy." : "None: no figure is noisy, no sample was dropped."));
  return list;
}
