// js/view/run_rows.js -- the table of runs: one row a run, all whiskers on one
// axis, one unit for the column of medians.

import { button, h, chip, ci, headRow, prose } from "./dom.js";
import { axisHead, progressBar, sparkline, whisker } from "./marks.js";
import { extent, ratioAxis } from "../model/axis.js";
import { about, age, calls, count, duration, partly, plain, plural, ratio, stamp, timeUnit, withInterval } from "../model/format.js";
import { chipClass, meetsEager } from "../model/sentence.js";
import { headline } from "../model/suite.js";
import { suiteCells } from "./suite_row.js";
import { renameButton, tagMarks } from "./rename.js";
import { dashed } from "../model/result.js";
import { inOrder, letters } from "../model/modes.js";
import { nextSort } from "../model/window.js";

/** @typedef {import("../api/types.js").RunRow} RunRow */
/** @typedef {import("../api/types.js").Summary} Summary */
/** @typedef {import("./dom.js").Child} Child */
/**
 * @typedef {object} Columns what all rows share
 * @property {import("./marks.js").RatioAxis} axis
 * @property {string | null} mode the mode of every ratio, null where they differ
 * @property {import("../model/format.js").Unit} unit
 */

/** @param {string} text */
const dim = (text) => h("span", { class: "dim" }, text);

/** What all rows share, of those that are known. @param {readonly RunRow[]} runs @returns {Columns} */
export function columnsOf(runs) {
  const done = runs.flatMap((r) => (r.summary && !r.suite ? [r.summary] : []));
  const suites = runs.flatMap((r) => headline(r.suite?.columns ?? [])?.geomean.common ?? []);
  const modes = new Set(done.map((s) => s.mode));
  return {
    axis: ratioAxis(
      extent([...done, ...suites].flatMap((s) => (typeof s.speedup === "number" ? [[s.speedup, s.speedup_ci]] : []))),
      120,
    ),
    mode: modes.size === 1 ? [...modes][0] : null,
    unit: timeUnit(done.map((s) => s.median_us)),
  };
}

/**
 * The head; what a column can be sorted by is a button.
 * @param {Columns} columns
 * @param {string} sort as the list's parameter: "-age"
 * @param {(sort: string) => void} choose
 */
export function runHead({ axis, mode, unit }, sort, choose) {
  const by = (/** @type {string} */ key, /** @type {string} */ label, upFirst = false) => button(label, () => choose(nextSort(sort, key, upFirst)), { class: "sort", data: { sort: key } });
  const head = headRow([
    [by("name", "Run", true), "c-n"],
    [by("verdict", "Verdict", true), "c-v"],
    [by("speedup", mode ? `eager / ${mode}` : "Speedup"), "r c-r"],
    [axisHead(axis), "c-t", "Interval"],
    ["Last 12", "c-l"],
    [by("median", `${mode ?? "Median"}, ${unit.name}`, true), "r c-s"],
    [by("repaid", "Repaid after", true), "r c-m"],
    ["Meets eager", "r c-m"],
    [by("breaks", "Breaks"), "r c-b"],
    ["Modes", "c-s"],
    [by("device", "Device", true), "c-d"],
    [by("age", "Age"), "r c-w"],
  ]);
  const now = head.querySelector(`[data-sort="${sort.replace("-", "")}"]`);
  now?.closest("th")?.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending");
  return head;
}

/**
 * @param {RunRow} r
 * @param {Columns} columns
 * @param {boolean} picked whether it is selected
 * @param {boolean} open whether the suite that it stands for is
 */
export function row(r, columns, picked, open) {
  if (r.suite) return h("tr", { class: "suite-row" }, suiteCells(r.suite, columns, open), endCells(r, r.suite.created_ns / 1e6));
  const pick = h("input", { type: "checkbox", class: "pick", "aria-label": `Select ${r.name} #${r.id}`, data: { run: String(r.id) }, disabled: r.status === "queued" || r.status === "running" });
  pick.checked = picked;
  const name = h("a", { href: `/runs/${encodeURIComponent(r.id)}` }, r.name);
  const middle = r.status === "done" && r.summary ? summaryCells(r.summary, columns, spark(r)) : stateCells(r);
  return h(
    "tr",
    { class: r.suite_id && open ? "of-suite" : null },
    h("th", { scope: "row", class: "a-n" }, pick, name, " ", h("span", { class: "mono dim" }, `#${r.id}`), tagMarks(r), renameButton(r, () => {}), r.imported ? [" ", chip("plain", "imported")] : null, stepMark(r), foundMark(r)),
    middle,
    endCells(r, r.created_ns / 1e6),
  );
}

/** Characters before what was found: the column is narrow, and what was looked for is to be seen. */
const BEFORE = 14;

/** Where a search found it: the line that has it, with what was looked for marked. @param {RunRow} r */
function foundMark(r) {
  const one = r.found?.[0];
  if (!one) return null;
  const [before, it, after] = one.text;
  const begin = before.slice(before.lastIndexOf("\n") + 1).trimStart();
  const line = [begin.length > BEFORE ? `…${begin.slice(-BEFORE)}` : begin, h("mark", {}, it), after.split("\n")[0]];
  return h("span", { class: "found dim small", title: `${one.in}: ${one.text.join("")}` }, `${one.in}: `, ...line);
}

/** That a step of its workload's history begins with it. @param {RunRow} r */
const stepMark = (r) => (r.change ? [" ", h("a", { class: "chip plain", href: `/history?workload=${encodeURIComponent(r.name)}`, "aria-label": `a step in the history of ${r.name} begins with #${r.id}` }, "step")] : null);

/** Modes, device, age. @param {RunRow} r @param {number} created */
function endCells(r, created) {
  const modes = inOrder(r.modes ?? []);
  const when = h("time", { datetime: new Date(created).toISOString(), title: stamp(created) }, age(created, Date.now()));
  return [
    h("td", { class: "x" }, h("span", { class: "mono ltr", role: "img", "aria-label": modes.join(", ") || "no modes" }, letters(modes))),
    h("td", { class: "a-d sub" }, r.device ? r.device.toUpperCase() : dim("unknown")),
    h("td", { class: "r a-w sub" }, when),
  ];
}

/** The ratios of its name, which lead to its history. @param {RunRow} r @returns {Child} */
function spark(r) {
  if (!r.recent?.length) return null;
  const drawn = sparkline(r.recent);
  const name = `History of ${r.name}: ${drawn.getAttribute("aria-label")}`;
  return h("a", { href: `/history?workload=${encodeURIComponent(r.name)}`, "aria-label": name }, drawn);
}

/**
 * @param {Summary} s
 * @param {Columns} columns
 * @param {Child} recent
 */
function summaryCells(s, columns, recent) {
  const r = s.speedup === null ? null : ratio(s.speedup, s.speedup_ci);
  const swept = typeof s.at_n === "number";
  const cell = (/** @type {Child | Child[]} */ content) => h("td", { class: "r x" }, content);
  return [
    h("td", { class: "a-v" }, chip(chipClass(s.verdict), s.verdict)),
    h(
      "td",
      { class: "r a-r" },
      r ? [h("span", { class: "num-strong" }, r.text), ...ci(r.interval)] : dim("none"),
      columns.mode ? null : h("span", { class: "two-line" }, s.mode),
    ),
    h("td", { class: "a-t" }, s.speedup === null ? null : whisker(columns.axis, s.speedup, s.speedup_ci, s.verdict)),
    h("td", { class: "x" }, recent),
    cell(withInterval(s.median_us / columns.unit.scale, s.median_ci?.map((x) => x / columns.unit.scale)).text),
    cell(repaid(s)),
    cell([typeof s.crossover_n === "number" ? meetsEager(s) : dim(meetsEager(s)), swept ? h("span", { class: "vh" }, `; the row is at n = ${plain(Number(s.at_n))}`) : null]),
    cell(typeof s.breaks === "number" ? count(s.breaks) : dim("unknown")),
  ];
}

/** @param {Summary} s */
function repaid(s) {
  if (typeof s.calls_to_repay === "number") return calls(s.calls_to_repay);
  return dim(s.speedup === null ? "none" : s.repay);
}

/** @param {RunRow} r */
function stateCells(r) {
  const word = chip(r.status, r.status === "failed" ? "FAILED" : r.status);
  return [h("td", { class: "a-v" }, word), h("td", { class: "a-r sub wide", colspan: 7 }, stateText(r))];
}

/**
 * @param {RunRow} r
 * @returns {Child[]}
 */
function stateText(r) {
  switch (r.status) {
    case "running": {
      const left = typeof r.left_s === "number" && r.left_s >= 0 ? `, ${about(r.left_s)} left` : "";
      return [progressBar(r.progress, 96), " ", `${r.what || "starting"}${left}`];
    }
    case "queued":
      return ["waiting for its turn"];
    case "failed": {
      const place = r.error?.line ? `line ${r.error.line}: ` : "";
      return [h("span", { class: "clip" }, r.partial ? `${partly(r.partial)}. ` : "", place, prose(r.error?.message ?? "no reason was kept"))];
    }
    case "cancelled":
      return [r.partial ? partly(r.partial) : "cancelled before it ended"];
    default:
      return [r.modes?.length ? "nothing was compared" : h("span", { class: "clip" }, aboutText(r))];
  }
}

const KINDS = /** @type {Record<string, string>} */ ({ kineto: "profiler trace", torch_trace: "TORCH_TRACE log", pt_xla: "PyTorch/XLA log", recording: "recording" });

/** What a recording or an import is: "profiler trace of train.json, 1,204 kernels in 3.2 s"; of a result its first
 * figure: "wall 513 µs (507–519), by hyperfine". @param {RunRow} r */
function aboutText(r) {
  const a = r.about;
  if (!a) return "a recording or import made by an earlier version";
  if (a.kind === "result") return `${a.mode} ${dashed(a.shown ?? "")}, by ${a.name}`;
  const more = a.files > 1 && a.kind !== "recording" ? ` and ${plural(a.files - 1, "file")} more` : "";
  const kernels = a.kernels ? `, ${plural(a.kernels, "kernel")}` : "";
  const length = a.length_us > 0 ? `${kernels ? " in" : ","} ${duration(a.length_us)}` : "";
  return `${KINDS[a.kind] ?? a.kind}${a.name ? ` of ${a.name}` : ""}${more}${kernels}${length}`;
}
