// js/view/imported.js -- what logs of PyTorch hold, as plain tables: breaks, recompiles,
// compilations, totals by name, graphs of PyTorch/XLA, and the ledger.

import { h, headRow, scroller, section } from "./dom.js";
import { bytes, count, duration, plural } from "../model/format.js";
import { compileQuery, outcomeWords } from "../model/compiles.js";
import { ledgerRows } from "../model/ledger.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Imported} Imported */
/** @typedef {import("../api/types.js").ImportedTotals} Totals */

const MOST_ROWS = 200;

/** What a log does not say is told apart from what there is not. @param {string | number | null | undefined} text */
const known = (text) => (text === null || text === undefined || text === "" ? h("span", { class: "dim" }, "not recorded") : String(text));
/** @param {string | number | null | undefined} text */
const right = (text) => h("td", { class: "r" }, known(text));
/** @param {string | null | undefined} text */
const left = (text) => h("td", {}, known(text));

/**
 * A section with one table; nothing where there are no rows.
 * @param {string} title
 * @param {(string | [string, string])[]} head
 * @param {HTMLElement[][]} rows
 * @param {string} [words] above it
 */
function table(title, head, rows, words = "") {
  if (!rows.length) return null;
  const note = rows.length > MOST_ROWS ? `the first ${MOST_ROWS} of ${count(rows.length)}` : "";
  const body = h("tbody", {}, rows.slice(0, MOST_ROWS).map((r) => h("tr", {}, r)));
  const above = words ? h("p", {}, words) : null;
  return section(title, note, null, above, scroller(`${title} of the log`, h("table", {}, headRow(head), body)));
}

/** @param {Imported} i */
function breaks(i) {
  const rows = i.breaks.map((b) => [
    h("th", { scope: "row" }, `${b.file || "?"}:${b.line}`),
    left(b.kind),
    left(b.gb || "none"),
    left(b.outcome),
    right(b.count),
    right(b.cost?.host_us_per_call === undefined ? "" : duration(b.cost.host_us_per_call)),
    right(b.cost?.lookup_us_per_call === undefined ? "" : duration(b.cost.lookup_us_per_call)),
    left(b.message),
  ]);
  return table("Breaks", ["Place", "Kind", "Registry", "Outcome", ["Hits", "r"], ["Host, a call", "r"], ["Lookups, a call", "r"], "Message"], rows);
}

/** The id of a compilation, linked to its page. @param {Run["id"] | undefined} run undefined: it has none @param {import("../api/types.js").ImportedCompile} c */
const idOf = (run, c) => (run === undefined ? c.compile : h("a", { href: `/runs/${run}/compiles?${compileQuery(c)}` }, c.compile));

/** A recompile says neither its reset nor, in older reports, its process: the page of the one that it can be. @param {Imported} i @param {Run["id"] | undefined} run */
function recompiles(i, run) {
  const rows = i.recompiles.map((r) => {
    const of = i.compiles.filter((c) => c.compile === r.compile && c.process === (r.process ?? c.process));
    return [h("th", { scope: "row" }, of.length === 1 ? idOf(run, of[0]) : r.compile), left(r.frame), left(r.reason)];
  });
  return table("Recompiles", ["Id", "Frame", "Reason"], rows);
}

/** @param {Imported} i @param {Run["id"] | undefined} run */
function compilations(i, run) {
  const rows = i.compiles.map((c) => [
    h("th", { scope: "row" }, idOf(run, c), c.resets ? h("span", { class: "dim" }, `, reset ${c.resets}`) : null),
    left(c.frame),
    left(outcomeWords(c.outcome)),
    right(c.graphs),
    right(c.ops),
    right(c.guards),
    right(typeof c.entire_s === "number" ? duration(c.entire_s * 1e6) : ""),
    right((c.dynamic ?? []).length || "none"),
    right(c.timeline ? c.timeline.calls : ""),
    right(c.timeline ? duration(c.timeline.kernel_us) : ""),
    left([...(c.cudagraph_skips ?? []), ...(c.recompile_reasons ?? [])].join("; ") || "none"),
  ]);
  return table(
    "Compilations",
    ["Id", "Frame", "Outcome", ["Graphs", "r"], ["Ops", "r"], ["Guards", "r"], ["Compiled in", "r"], ["Dynamic sizes", "r"], ["Calls", "r"], ["Kernels", "r"], "Why recompiled or not recorded"],
    rows,
  );
}

/** What compilations counted, in the words of the table of fields. @param {Imported} i */
function counted(i) {
  const rows = Object.entries(i.counted ?? {}).map(([what, n]) => [h("th", { scope: "row" }, what), right(count(n))]);
  return table("Counted", ["What", ["Count", "r"]], rows);
}

/** @param {string} title @param {Totals | undefined} totals */
function byName(title, totals) {
  const name = (/** @type {string} */ text) => h("th", { scope: "row" }, h("span", { class: "clip", title: text }, text));
  const rows = (totals?.by_name ?? []).map((t) => [name(t.name), right(count(t.count)), right(duration(t.total_us))]);
  return table(title, ["Name", ["Count", "r"], ["Sum", "r"]], rows);
}

/** @param {Imported} i */
function memory(i) {
  const rows = (i.memory ?? []).map((m) => [
    h("th", { scope: "row" }, m.device === null ? "host" : `GPU ${m.device}`),
    right(count(m.events)),
    right(bytes(m.peak_bytes)),
    right(bytes(m.peak_reserved_bytes)),
  ]);
  return table("Memory", ["Of", ["Events", "r"], ["Most held", "r"], ["Most reserved", "r"]], rows);
}

/** @type {Record<string, string>} */
const MAIN_STAGE = {
  capture: "the capture",
  lowering: "the lowering",
  both: "both alike",
  none: "none: one graph",
};

/** Where each model's graphs split, beside how long it ran. @param {import("../api/types.js").ImportedModel[]} models */
function stages(models) {
  const time = (/** @type {number} */ us) => (us > 0 ? duration(us) : "not recorded");
  const rows = models.map((m) => [
    h("th", { scope: "row" }, m.model),
    right(m.captured_graphs ?? "not recorded"),
    right(m.lowered_graphs),
    right(m.capture_added ?? "not recorded"),
    right(m.lowering_added ?? "not recorded"),
    right(m.capture_breaks),
    right(m.lowering_breaks),
    left(m.main_stage ? MAIN_STAGE[m.main_stage] : "not recorded"),
    right(time(m.compile_us)),
    right(time(m.run_us)),
  ]);
  const said = models.filter((m) => m.main_stage === "capture" || m.main_stage === "lowering");
  const most = said.filter((m) => m.main_stage === "capture").length;
  const words =
    models.length > 1 && said.length
      ? `Of ${plural(models.length, "model")} ${count(most)} ${most === 1 ? "is" : "are"} split most by the capture, ${count(said.length - most)} by the lowering.`
      : "";
  const head = ["Model", ["Captured", "r"], ["Lowered", "r"], ["Added by capture", "r"], ["Added by lowering", "r"], ["Breaks, capture", "r"], ["Breaks, lowering", "r"], "Most from", ["Compiling", "r"], ["Running", "r"]];
  return [table("Graphs of both stages", /** @type {(string | [string, string])[]} */ (head), rows, words)];
}

/** What its log says of a graph is found by its hash. @param {Imported} i @param {Run["id"] | undefined} run undefined: it has no page of texts */
function xla(i, run) {
  if (!i.pt_xla) return [];
  const x = i.pt_xla;
  const said = run !== undefined && i.artifacts?.pt_xla_log;
  const graphs = x.graphs.map((g) => [
    h("th", { scope: "row" }, said ? h("a", { href: `/runs/${run}/compiles?${new URLSearchParams({ q: g.hash })}`, title: "What the log says of it" }, g.hash) : g.hash),
    left(g.cause),
    left(`${g.function} (${g.file}:${g.line})`),
    right(g.compilations),
    right(g.executions),
  ]);
  const ops = x.fallbacks.map((f) => [h("th", { scope: "row" }, f.op), right(count(f.count))]);
  return [
    ...stages(x.models ?? []),
    table("Lowered graphs", ["Hash", "Cause", "Where", ["Compiled", "r"], ["Run", "r"]], graphs),
    table("Ops that ran on the CPU", ["Op", ["Count", "r"]], ops),
  ];
}

/** What was lost, repaired or doubtful; a file that lost nothing says so. @param {Imported} i */
function ledger(i) {
  const rows = ledgerRows(i.ledger).map((r) => [h("th", { scope: "row" }, r.what), left(r.fate), right(count(r.n))]);
  if (!rows.length) return section("Ledger", "", null, h("p", {}, "No record was dropped, repaired or doubtful."));
  return table("Ledger", ["What", "Fate", ["Count", "r"]], rows);
}

/**
 * @param {Imported} i
 * @param {{ledger?: boolean, run?: Run["id"]}} [of] ledger: the page has none over its charts; run: whose compilations have pages
 * @returns {(Node | null)[]}
 */
export function importedSections(i, of = { ledger: true }) {
  const files = i.files.map((f) => `${f.name} (${f.kind}, ${bytes(f.bytes)})`).join(", ");
  /** @type {[number, string][]} */
  const counts = [[i.graphs, "graph"], [i.compiles.length, "compilation"], [i.breaks.length, "break"], [i.recompiles.length, "recompile"], [i.kernels.count, "kernel"]];
  const some = counts.filter(([n]) => n > 0).map(([n, what]) => plural(n, what));
  const sums = `${some.join(", ") || "no graph, no compilation and no kernel"}${i.kernels.count ? `, ${duration(i.kernels.total_us)} in all` : ""}`;
  return [
    section("Imported", "", null, h("p", {}, `${files}: ${sums}.`)),
    of.ledger ? ledger(i) : null,
    breaks(i),
    recompiles(i, of.run),
    compilations(i, of.run),
    counted(i),
    ...xla(i, of.run),
    byName("Kernels", i.kernels),
    byName("Copies", i.copies),
    byName("Ops on the host", i.ops),
    byName("Annotations", i.annotations),
    memory(i),
  ];
}
