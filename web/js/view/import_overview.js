// js/view/import_overview.js -- the first tab of an imported log: what the devices did, what compiling took beside it, then
// breaks with their costs, recompiles, and totals by name.

import { h, add, scroller, headRow, section } from "./dom.js";
import { importedSections } from "./imported.js";
import { count, duration, plural, shareText } from "../model/format.js";

/** @typedef {import("../api/types.js").Imported} Imported */
/** @typedef {import("../api/report.js").ReportRank} Rank */

const MOST_RANKS = 64;

/** @param {import("./router.js").Context} _ctx @param {HTMLElement} body @param {import("../api/types.js").Run} run @param {import("../api/types.js").Report} report */
export function importOverview(_ctx, body, run, report) {
  const i = report.import;
  if (!i) return;
  add(body, answer(i), devices(run, i), compiling(run, i), ...importedSections(i, { ledger: false, run: run.id }));
}

/** @param {number} part @param {number} whole */
const share = (part, whole) => (whole > 0 ? shareText(Math.round((100 * part) / whole), part) : "0 %");

/** In a sentence: how busy, and how long compiling took. @param {Imported} i */
function answer(i) {
  const ranks = (i.ranks?.ranks ?? []).filter((r) => r.kernels > 0);
  const said = [];
  if (ranks.length === 1) said.push(`${share(ranks[0].total_us - ranks[0].idle_us, ranks[0].total_us)} of ${duration(ranks[0].total_us)} the device was busy`);
  if (ranks.length > 1) {
    const busy = ranks.map((r) => Math.round((100 * (r.total_us - r.idle_us)) / Math.max(r.total_us, 1e-9)));
    const [least, most] = [Math.min(...busy), Math.max(...busy)];
    said.push(`devices of ${plural(ranks.length, "rank")} were busy ${least < most ? `${least} to ${most}` : most} % of their time`);
  }
  if (i.compile_us) said.push(`${plural(i.compiles.length, "compilation")} took ${duration(i.compile_us)}`);
  if (i.breaks.length) said.push(`graphs break at ${plural(i.breaks.length, "place")}`);
  if (!said.length) return null;
  const text = said.join("; ");
  return h("p", { class: "answer" }, h("b", {}, `${text[0].toUpperCase()}${text.slice(1)}.`));
}

/** What each rank's device did, each moment once. @param {import("../api/types.js").Run} run @param {Imported} i */
function devices(run, i) {
  const ranks = (i.ranks?.ranks ?? []).filter((r) => r.kernels > 0);
  if (!ranks.length) return null;
  const cell = (/** @type {number} */ us, /** @type {Rank} */ r) => h("td", { class: "r" }, duration(us), h("span", { class: "small sub" }, ` ${share(us, r.total_us)}`));
  const rows = ranks.slice(0, MOST_RANKS).map((r) => h("tr", {}, h("th", { scope: "row" }, ranks.length > 1 ? `rank ${r.rank}` : "device"), h("td", { class: "r" }, duration(r.total_us)), cell(r.computation_us, r), cell(r.communication_us, r), cell(r.memory_us, r), cell(r.idle_us, r), h("td", { class: "r" }, duration(r.host_wait_us)), h("td", { class: "r" }, duration(r.kernel_wait_us)), h("td", { class: "r" }, duration(r.other_wait_us)), h("td", { class: "r" }, count(r.kernels))));
  const head = ["Of", ["From first to last", "r"], ["Computing", "r"], ["Collectives", "r"], ["Copies", "r"], ["Idle", "r"], ["Gaps: late launch", "r"], ["Gaps between kernels", "r"], ["Other gaps", "r"], ["Kernels, copies, sets", "r"]];
  const more = h("p", { class: "small" }, h("a", { href: `/runs/${run.id}/ranks` }, ranks.length > 1 ? "What differs between ranks, and why they wait" : "More of the device: streams, critical path"));
  return section("Device", `gaps are added over its streams${ranks.some((r) => r.last_step_left_out) ? "; what the last ProfilerStep launched is left out" : ""}${ranks.length > MOST_RANKS ? `; the first ${count(MOST_RANKS)} of ${count(ranks.length)} ranks` : ""}`, null, scroller("Device time of the log", h("table", {}, headRow(/** @type {(string | [string, string])[]} */ (head)), h("tbody", {}, rows))), more);
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
