// js/view/torch.js -- PyTorch beside Breakeven, on the overview: its rows at a point, and how it ended.

import { h, chip, ci } from "./dom.js";
import { clamped } from "./cards.js";
import { modeMark, whisker } from "./marks.js";
import { calls, duration, number, ratio, smallError, withInterval } from "../model/format.js";
import { chipClass, DISAGREES, wordOf } from "../model/verdict.js";
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

/** @param {TorchMode} m */
function error(m) {
  if (!m.values) return dim("not compared");
  return m.values.agree ? smallError(m.values.max_abs_error) : chip("disagrees", DISAGREES);
}

/** Why a mode failed, in place of its figures. @param {string} error @param {number} columns */
export const failedCell = (error, columns) => h("td", { class: "sub said", colspan: columns }, clamped(`failed: ${error}`));

/**
 * A row of the table of modes: its error is against our eager.
 * @param {TorchPoint} p
 * @param {string} mode
 * @param {import("./modes_table.js").Columns} columns
 */
function modeRow(p, mode, columns) {
  const m = p.modes[mode];
  if (m.error) return h("tr", {}, name(mode), failedCell(m.error, 9));
  const l = m.latency;
  const t = l ? withInterval(l.median_us, l.ci_us, { scale: columns.time.scale }) : null;
  const b = p.break_even?.[mode];
  const differs = m.values?.agree === false;
  const speedup = differs ? null : (b?.speedup ?? null);
  const r = speedup === null ? null : ratio(speedup, b?.speedup_ci);
  const word = differs ? DISAGREES : wordOf(b, l?.n);
  const base = mode === "eager";
  const repaid = !b || typeof b.calls_to_repay !== "number" ? (b?.repay === "never" ? "never" : dim("unknown")) : calls(b.calls_to_repay);
  return h(
    "tr",
    { class: "torch" },
    name(mode),
    right(t ? [h("span", { class: "num-strong" }, t.text), ...ci(t.interval)] : dim("not timed")),
    right(base && !differs ? "1x" : r ? [h("span", { class: "num-strong" }, r.text), ...ci(r.interval)] : dim(differs ? "none" : "no baseline")),
    h("td", {}, speedup === null ? null : whisker(columns.axis, speedup, b?.speedup_ci, word)),
    right(base || m.compile_ms === undefined ? dim(base ? "none" : "unknown") : duration(m.compile_ms * 1e3)),
    right(base ? dim("baseline") : differs ? dim("none") : repaid),
    right(dim("not counted")),
    right(typeof m.peak_bytes === "number" ? number(m.peak_bytes / columns.bytes.scale) : dim("not counted")),
    right(error(m)),
    h("td", {}, differs ? chip(chipClass(word), word) : base ? dim("baseline") : b ? chip(chipClass(word), word) : dim("no baseline")),
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

/** @typedef {{point: TorchPoint | null, rows: (columns: import("./modes_table.js").Columns) => HTMLElement[], lines: Child[]}} TorchPart */

/**
 * What the table of modes has of it.
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 * @param {number | null | undefined} n
 * @returns {TorchPart}
 */
export function torchPart(run, report, n) {
  const point = torchAt(torchOf(report), n);
  const rows = (/** @type {import("./modes_table.js").Columns} */ columns) =>
    point ? inOrder(Object.keys(point.modes)).map((m) => modeRow(point, m, columns)) : [];
  return { point, rows, lines: lines(run, report) };
}

/** Its curves, none without a sweep. @param {import("../api/types.js").Report} report */
export function torchOverlays(report) {
  const overlay = torchOverlay(torchOf(report));
  return overlay ? [overlay] : [];
}
