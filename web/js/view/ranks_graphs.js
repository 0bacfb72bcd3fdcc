// js/view/ranks_graphs.js -- what Inductor tells of the graphs of ranks: their order, the collectives of their code, estimates.

import { h, headRow, scroller, section } from "./dom.js";
import { count, duration, plural } from "../model/format.js";
import { compileQuery } from "../model/compiles.js";

/** @typedef {import("../api/report.js").ReportRanks} Ranks */
/** @typedef {import("../api/types.js").Run} Run */

/** Files as tlparse writes them. */
const FILES = ["collective_schedules", "collectives_parity", "runtime_estimations", "chromium_trace_with_runtime"];

/** The compilation of a rank, as a link to its texts. @param {Run} run @param {number} rank @param {string} compile @param {number} [resets] @param {string} [text] */
export function compileLink(run, rank, compile, resets, text = `[${compile}]`) {
  const log = run.report?.import;
  const found = log?.compiles.find((c) => c.compile === compile.split("_")[0] && log.processes?.[c.process]?.rank === rank && (c.resets ?? 0) === (resets ?? 0));
  return found ? h("a", { href: `/runs/${encodeURIComponent(run.id)}/compiles?${compileQuery(found)}` }, text) : text;
}

const say = (/** @type {readonly number[]} */ ranks) => (ranks.length === 1 ? `rank ${ranks[0]}` : ranks.length > 8 ? `${count(ranks.length)} ranks, from ${ranks[0]} on` : `ranks ${ranks.join(", ")}`);

/** @param {Run} run @param {NonNullable<Ranks["order"]>} o */
function order(run, o) {
  const same = o.differ ? `${plural(o.differ, "place")} of ${count(o.compared)} with other graphs` : `${plural(o.ranks, "rank")} ran their graphs in the same order`;
  const warn = [
    o.ranks_collectives.length ? `Collectives of graphs that run at the same time differ: ${say(o.ranks_collectives)}.` : "",
    o.ranks_caches.length ? `Caches met other things at the same place: ${say(o.ranks_caches)}.` : "",
  ].filter(Boolean);
  const rows = o.places.map((p) =>
    h("tr", {}, h("th", { scope: "row" }, count(p.index)), h("td", {}, p.graphs.map((g, i) => [i ? "; " : "", g.compile === null ? "nothing more" : compileLink(run, g.ranks[0], g.compile), ` on ${say(g.ranks)}`]).flat()), h("td", {}, [p.other_collectives ? "collectives" : "", p.other_caches ? "caches" : ""].filter(Boolean).join(", "))),
  );
  const table = h("table", { id: "rank-order" }, h("caption", { class: "vh" }, "Places at which ranks do not do the same"), headRow(["Place", "Graph", "Also differs"]), h("tbody", {}, rows));
  return section("Order of graphs", same, null, warn.length ? h("p", {}, warn.join(" ")) : null, rows.length ? scroller("Order of graphs, table", table) : null);
}

/** @param {Run} run @param {Ranks} ranks */
function calls(run, ranks) {
  if (!ranks.calls.length) return null;
  const rows = ranks.calls.map((c) => h("tr", {}, h("th", { scope: "row" }, `rank ${c.rank}`), h("td", {}, compileLink(run, c.rank, c.compile, c.resets)), h("td", { class: "r" }, count(c.offset)), h("td", { class: "r" }, count(c.missing_waits))));
  const table = h("table", { id: "rank-calls" }, h("caption", { class: "vh" }, "Collectives in the generated code"), headRow(["Rank", "Compilation", ["Off Inductor's order by", "r"], ["Missing waits", "r"]]), h("tbody", {}, rows));
  return section("Collectives in the generated code", "compilations whose code does not call what Inductor put in order, or waits for fewer", null, scroller("Collectives in the generated code, table", table));
}

/** @param {Run} run @param {Ranks} ranks */
function estimates(run, ranks) {
  if (!ranks.estimates.length) return null;
  const of = (/** @type {number} */ rank, /** @type {number} */ us) => h("td", { class: "r" }, duration(us), h("span", { class: "dim" }, ` rank ${rank}`));
  const rows = ranks.estimates.map((e) => {
    const apart = e.most_us - e.least_us;
    return h("tr", {}, h("th", { scope: "row" }, compileLink(run, e.slowest, e.compile, e.resets)), h("td", { class: "r" }, count(e.ranks)), of(e.fastest, e.least_us), of(e.slowest, e.most_us), h("td", { class: "r num-strong" }, apart ? duration(apart) : "none"));
  });
  const table = h("table", { id: "rank-estimates" }, h("caption", { class: "vh" }, "Estimated run time by graph"), headRow(["Compilation", ["Ranks", "r"], ["Least", "r"], ["Most", "r"], ["Difference", "r"]]), h("tbody", {}, rows));
  return section("Estimated run time by graph", "what Inductor estimates of its ops, added; the largest differences first", null, scroller("Estimated run time by graph, table", table));
}

/** All of it; nothing where the logs have nothing of it. @param {Run} run @param {Ranks} ranks */
export function graphsOfRanks(run, ranks) {
  const parts = [ranks.order ? order(run, ranks.order) : null, calls(run, ranks), estimates(run, ranks)].filter((x) => x !== null);
  const scheduled = run.report?.import?.compiles.some((c) => c.collectives);
  if (!parts.length && !scheduled) return [];
  const files = FILES.map((name, i) => [i ? ", " : "", h("a", { href: `/api/v1/runs/${encodeURIComponent(run.id)}/ranks/${name}.json`, download: `${name}.json` }, `${name}.json`)]).flat();
  return [...parts, h("p", { class: "small sub" }, "As tlparse writes it: ", files)];
}
