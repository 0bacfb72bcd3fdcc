// js/view/import_overview.js -- the first tab of an imported log: what the devices did, what compiling took beside it, then
// breaks with their costs, recompiles, and totals by name.

import { h, add, scroller, headRow, section } from "./dom.js";
import { importedSections } from "./imported.js";
import { asSentence, count, duration, plural } from "../model/format.js";
import { FIGURES } from "../model/ranks.js";

/** @typedef {import("../api/types.js").Imported} Imported */

const MOST_RANKS = 64;
/** Of the figures of ranks those that a device alone has. */
const SHOWN = ["total", "computing", "collectives", "copies", "idle", "host", "kernel", "other"];

/** @param {import("./router.js").Context} _ctx @param {HTMLElement} body @param {import("../api/types.js").Run} run @param {import("../api/types.js").Report} report */
export function importOverview(_ctx, body, run, report) {
  const i = report.import;
  if (!i) return;
  add(body, answer(i), devices(run, i), compiling(run, i), ...importedSections(i, { ledger: false, run: run.id }));
}

/** In a sentence: how busy, and how long compiling took. @param {Imported} i */
function answer(i) {
  const said = i.ranks?.busy ? [i.ranks.busy] : [];
  if (i.compile_us) said.push(`${plural(i.compiles.length, "compilation")} took ${duration(i.compile_us)}`);
  if (i.breaks.length) said.push(`graphs break at ${plural(i.breaks.length, "place")}`);
  return said.length ? h("p", { class: "answer" }, h("b", {}, asSentence(said.join("; ")))) : null;
}

/** What each rank's device did, as the page of ranks has it. @param {import("../api/types.js").Run} run @param {Imported} i */
function devices(run, i) {
  const ranks = (i.ranks?.ranks ?? []).filter((r) => r.kernels > 0);
  if (!ranks.length) return null;
  const figures = FIGURES.filter((f) => SHOWN.includes(f.key));
  const rows = ranks.slice(0, MOST_RANKS).map((r) => h("tr", {}, h("th", { scope: "row" }, ranks.length > 1 ? `rank ${r.rank}` : "device"), figures.map((f) => h("td", { class: "r" }, f.text(f.of(r), r))), h("td", { class: "r" }, count(r.kernels))));
  /** @type {[string, string][]} */
  const head = [...figures.map((f) => /** @type {[string, string]} */ ([f.label, "r"])), ["Kernels, copies, sets", "r"]];
  const table = h("table", {}, headRow(["Of", ...head]), h("tbody", {}, rows));
  const more = h("p", { class: "small" }, h("a", { href: `/runs/${run.id}/ranks` }, ranks.length > 1 ? "What differs between ranks, and why they wait" : "More of the device: streams, critical path"));
  return section("Device", `waits are gaps, added over its streams${ranks.some((r) => r.last_step_left_out) ? "; what the last ProfilerStep launched is left out" : ""}${ranks.length > MOST_RANKS ? `; the first ${count(MOST_RANKS)} of ${count(ranks.length)} ranks` : ""}`, null, scroller("Device time of the log", table), more);
}

/** Compile time beside run time. @param {import("../api/types.js").Run} run @param {Imported} i */
function compiling(run, i) {
  if (!i.compiles.length) return null;
  /** @type {[string, number | undefined][]} */
  const times = [
    ["Compiling", i.compile_us],
    ["Calls of compiled frames", i.regions?.length ? i.regions.reduce((n, r) => n + r.total_us, 0) : undefined],
    ["Kernels", i.kernels.count ? i.kernels.total_us : undefined],
  ];
  const rows = times.map(([what, us]) => h("tr", {}, h("th", { scope: "row" }, what), h("td", { class: "r" }, us === undefined ? h("span", { class: "dim" }, "not recorded") : duration(us))));
  const link = h("p", { class: "small" }, h("a", { href: `/runs/${run.id}/compiles` }, "Each compilation with its graphs and code"));
  return section("Compiling beside running", "", null, scroller("Compiling and running in the log", h("table", {}, headRow(["What", ["Time", "r"]]), h("tbody", {}, rows))), link);
}
