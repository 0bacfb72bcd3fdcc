// js/view/torch.js -- PyTorch beside Breakeven, on the overview: its rows at a point, and how it ended.

import { h, chip, figure } from "./dom.js";
import { clamped } from "./cards.js";
import { modeMark } from "./marks.js";
import { repaid, speedupWhisker } from "./modes_table.js";
import { chipClass, DISAGREES } from "../model/sentence.js";
import { inOrder } from "../model/modes.js";
import { torchAt, torchOf, torchOverlay, torchRows, valuesSentence } from "../model/torch.js";

/** @typedef {import("../api/types.js").TorchEngine} TorchEngine */
/** @typedef {import("../api/types.js").TorchMode} TorchMode */
/** @typedef {import("../api/types.js").TorchPoint} TorchPoint */
/** @typedef {import("./dom.js").Child} Child */

/** @param {string} text */
const dim = (text) => h("span", { class: "dim" }, text);
/** @param {Child | readonly Child[]} content */
const right = (content) => h("td", { class: "r" }, content);
/** @param {string} mode */
const name = (mode) => h("th", { scope: "row" }, modeMark(mode), " ", chip("plain", "torch"));

/** Why a mode failed, in place of its figures. @param {string} error @param {number} columns */
export const failedCell = (error, columns) => h("td", { class: "sub said", colspan: columns }, clamped(`failed: ${error}`));

/** What the findings say of PyTorch's modes at a point of the run. @param {import("../api/types.js").Run} run @param {number | null | undefined} n */
export const torchSaid = (run, n) => run.findings?.torch.find((p) => (p.n ?? null) === (n ?? null))?.modes ?? {};

/**
 * A row of the table of modes: its error is against our eager.
 * @param {TorchPoint} p
 * @param {string} mode
 * @param {import("./modes_table.js").Said} said
 * @param {import("./marks.js").RatioAxis} axis
 */
function modeRow(p, mode, said, axis) {
  const m = p.modes[mode];
  if (m.error) return h("tr", {}, name(mode), failedCell(m.error, 9));
  const differs = said.verdict === DISAGREES;
  const base = mode === "eager";
  const word = said.verdict ? chip(chipClass(said.verdict), said.verdict) : null;
  const error = differs ? chip("disagrees", DISAGREES) : (said.error ?? dim("not compared"));
  return h(
    "tr",
    { class: "torch" },
    name(mode),
    right(said.median ? figure(said.median) : dim("not timed")),
    right(base && !differs ? "1x" : said.speedup ? figure(said.speedup) : dim(differs ? "none" : "no baseline")),
    h("td", {}, said.speedup ? speedupWhisker(axis, p.break_even?.[mode], said) : null),
    right(base ? dim("none") : (said.compile ?? dim("unknown"))),
    right(base ? dim("baseline") : differs ? dim("none") : repaid(said)),
    right(dim("not counted")),
    right(said.peak ?? dim("not counted")),
    right(error),
    h("td", {}, differs ? word : base ? dim("baseline") : (word ?? dim("no baseline"))),
  );
}

/** Why it failed; null where it did not. @param {TorchEngine} t */
export function failure(t) {
  if (!t.error) return null;
  const detail = t.error.detail
    ? h("details", {}, h("summary", {}, "What it said last"), h("pre", { class: "mono small scroll", tabindex: 0 }, t.error.detail))
    : null;
  return h("div", { class: "notice", id: "torch-error" }, h("p", {}, h("b", {}, "PyTorch failed."), ` ${t.error.message}`), detail);
}

/** What is on the overview: how it ended, and whether it computes the same.
 * @param {import("../api/types.js").Run} run @param {import("../api/types.js").Report} report @returns {Child[]} */
function lines(run, report) {
  const t = torchOf(report);
  if (!t) return [];
  const more = h("a", { href: `/runs/${encodeURIComponent(run.id)}/torch` }, "Its values, breaks and kernels");
  return [failure(t), torchRows(t).length ? h("p", { class: "sub", id: "torch-values" }, `PyTorch ${t.version}: ${valuesSentence(t)} `, more) : null];
}

/** @typedef {{point: TorchPoint | null, rows: (axis: import("./marks.js").RatioAxis) => HTMLElement[], lines: Child[]}} TorchPart */

/**
 * What the table of modes has of it.
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 * @param {number | null | undefined} n
 * @returns {TorchPart}
 */
export function torchPart(run, report, n) {
  const point = torchAt(torchOf(report), n);
  const said = torchSaid(run, n);
  const rows = (/** @type {import("./marks.js").RatioAxis} */ axis) =>
    point ? inOrder(Object.keys(point.modes)).map((m) => modeRow(point, m, said[m], axis)) : [];
  return { point, rows, lines: lines(run, report) };
}

/** Its curves, none without a sweep. @param {import("../api/types.js").Report} report */
export function torchOverlays(report) {
  const overlay = torchOverlay(torchOf(report));
  return overlay ? [overlay] : [];
}
