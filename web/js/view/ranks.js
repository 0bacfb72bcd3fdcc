// js/view/ranks.js -- the ranks of a job: where they differ, for whom they wait, what each does, and the critical path.

import { add, button, h, headRow, loadStyle, scroller, section, select, stateWell, svg } from "./dom.js";
import { chartFiles, ofElement } from "./chart_files.js";
import { bytes, count, duration, number, plural } from "../model/format.js";
import { heatKeys } from "./heat_keys.js";
import { compileLink, graphsOfRanks } from "./ranks_graphs.js";
import { remember } from "./router.js";
import { heatLevel } from "../model/heat.js";
import { FIGURES, MIXES, percent, queueShape, standing } from "../model/ranks.js";

/** @typedef {import("../api/report.js").ReportRank} Rank */
/** @typedef {import("../api/report.js").ReportRanks} Ranks */
/** @typedef {import("../api/report.js").ReportDivergence} Divergence */
/** @typedef {import("../api/types.js").Run} Run */

const [BAR, FEW] = [360, 12];

/**
 * @param {import("./router.js").Context} ctx @param {HTMLElement} body @param {Run} run @param {import("../api/types.js").Report} report
 */
export async function ranksTab(ctx, body, run, report) {
  await Promise.all([loadStyle("compare"), loadStyle("ranks")]); // .heat is of the history, too
  if (ctx.signal.aborted) return;
  const ranks = report.import?.ranks;
  if (!ranks) return void add(body, stateWell("No ranks", h("p", {}, "This run has no trace with events of a device, and no compile logs of several ranks.")));
  add(body, findings(ranks), divergences(run, ranks), ...graphsOfRanks(run, ranks), ...(ranks.ranks.length ? [bars(ranks), heatMap(ranks), waits(ranks), path(ranks), oneRank(ranks)] : []));
}

/** What is to be known first. @param {Ranks} ranks */
function findings(ranks) {
  const of = ranks.world_size ? ` of ${count(ranks.world_size)}` : "";
  const facts = [
    ranks.ranks.length ? `${plural(ranks.ranks.length, "rank")}${of}` : "",
    ranks.collectives ? `${plural(ranks.collectives, "collective")} matched` : "",
    ranks.unmatched ? `${count(ranks.unmatched)} of one rank alone` : "",
    ranks.left_out ? `${plural(ranks.left_out, "event")} past the bounds left out` : "",
  ];
  const differ = ranks.divergences.length ? h("li", {}, h("b", {}, `${plural(ranks.divergences.length, "difference")} between ranks`), " that should run the same.") : null;
  const items = [differ, ...[ranks.busy ? `${ranks.busy}.` : "", ...ranks.sentences].filter(Boolean).map((s) => h("li", {}, s))].filter((x) => x !== null);
  return section("Ranks", facts.filter(Boolean).join(", "), h("a", { class: "btn", href: "/docs/ranks" }, "Definitions"), items.length ? h("ul", { class: "ranksaid" }, items) : null);
}

/** Of the first rank that differs; of one that lacks the compilation the list. @param {Run} run @param {Divergence} d */
function placeOf(run, d) {
  const link = d.compile ? compileLink(run, d.ranks[0], d.compile, undefined, `${d.compile} of rank ${d.ranks[0]}`) : "";
  const [view, text] = d.compile || d.kind === "order" ? ["compiles", "Compiles"] : ["timeline", "Timeline"];
  return link instanceof HTMLElement ? link : h("a", { href: `/runs/${encodeURIComponent(run.id)}/${view}` }, text);
}

/** @param {Run} run @param {Divergence} d */
function divergence(run, d) {
  const where = placeOf(run, d);
  return h("li", {}, h("span", { class: "chip failed" }, d.kind), " ", d.sentence, ". ", where);
}

/** @param {Run} run @param {Ranks} ranks */
function divergences(run, ranks) {
  if (!ranks.divergences.length && !ranks.collectives && ranks.ranks.length) return null;
  if (!ranks.divergences.length) return section("Differences", "", null, h("p", {}, ranks.collectives ? `Collectives that were matched are the same, in the same order, on all ranks.${ranks.left_out ? " What is beyond the bounds was not looked at." : ""}` : "The compile logs of these ranks do not differ."));
  return section("Differences", "what ranks run that most others do not", null, h("ul", { class: "differ" }, ranks.divergences.map((d) => divergence(run, d))));
}

/* ---- bars ---- */

/** @param {Rank} r @param {number} most */
function bar(r, most) {
  const el = svg("svg", { class: "rankbar", width: BAR, height: 14, viewBox: `0 0 ${BAR} 14`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const all = (BAR * r.total_us) / most;
  let x = 0;
  MIXES.forEach((m) => {
    const width = Math.max(0, m.of(r) * all);
    const idle = m.key === "idle";
    if (width > 0.2) el.append(svg("rect", { class: `m-${m.key}`, x, y: idle ? 0.5 : 0, width: Math.max(0.5, width - 0.5), height: idle ? 13 : 14 }));
    x += width;
  });
  return el;
}

/** @param {Ranks} ranks */
function bars(ranks) {
  const most = Math.max(...ranks.ranks.map((r) => r.total_us));
  const rows = ranks.ranks.map((r) => h("tr", {}, h("th", { scope: "row" }, `rank ${r.rank}`), h("td", { class: "drawn" }, bar(r, most)), MIXES.map((m) => h("td", { class: "r" }, percent(m.of(r)))), h("td", { class: "r dim" }, duration(r.total_us))));
  const table = h("table", { id: "rank-bars" }, h("caption", { class: "vh" }, "What the ranks run"), headRow(["Rank", [null, "", "As a bar"], ...MIXES.map((m) => /** @type {[string, string]} */ ([`${m.label[0].toUpperCase()}${m.label.slice(1)}`, "r"])), ["Total", "r"]]), h("tbody", {}, rows));
  const legend = h("div", { class: "legend" }, MIXES.map((m) => h("span", { class: "key" }, h("i", { class: `m-${m.key}` }), m.label)));
  const title = ranks.ranks.some((r) => r.on_host) ? "What each host runs" : "What each device runs";
  return section(title, "each moment once; bars are as long as the rank's time", h("div", { class: "acts" }, legend, chartFiles("ranks", title, ofElement(() => table))), scroller(`${title}, table`, table));
}

/* ---- the map ---- */

/** @param {Ranks} ranks */
function heatMap(ranks) {
  const all = ranks.ranks;
  const tip = h("p", { class: "small sub", id: "rank-tip", role: "status" }, all.length > 1 ? "Colours are against the middle rank: red is worse, green is better. Point at a figure, or use the arrow keys." : "Point at a figure, or use the arrow keys.");
  const rows = all.map((r) =>
    h(
      "tr",
      { data: { rank: r.rank } },
      h("th", { scope: "row" }, `rank ${r.rank}`),
      FIGURES.map((f) => {
        const text = f.text(f.of(r), r);
        const heat = heatLevel(standing(f, r, all));
        const beside = heat < 0 ? ", worse than the middle rank" : heat > 0 ? ", better than the middle rank" : "";
        return h("td", { class: "hot", data: { heat: String(heat) } }, button(text, () => showRank(String(r.rank)), { class: "cellbtn", "aria-label": `rank ${r.rank}, ${f.label} ${text}: ${f.says}${beside}` }));
      }),
    ),
  );
  const body = h("tbody", {}, rows);
  const table = h("table", { id: "rank-heat", class: "heat rankheat" }, h("caption", { class: "vh" }, "Ranks by figure"), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Rank"), FIGURES.map((f) => h("th", { scope: "col", title: f.says }, f.label)))), body);
  const views = heatKeys(table, tip, "button");
  return section("Ranks by figure", "a figure opens its rank below", h("div", { class: "acts" }, views, chartFiles("ranks_by_figure", "Ranks by figure", ofElement(() => table))), scroller("Ranks by figure, table", table), tip);
}

/* ---- collectives ---- */

/** A table whose rows are few at first. @param {string} title @param {HTMLTableElement} table @param {HTMLElement[]} rows */
function fewRows(title, table, rows) {
  const body = h("tbody", {}, rows.slice(0, FEW));
  add(table, body);
  const all = button(`All ${count(rows.length)}`, () => {
    body.replaceChildren(...rows);
    all.remove();
    body.querySelector("tr")?.scrollIntoView({ block: "nearest" });
  });
  return rows.length > FEW ? [scroller(`${title}, table`, table), h("p", {}, all)] : [scroller(`${title}, table`, table)];
}

/** @param {Ranks} ranks */
function waits(ranks) {
  if (!ranks.waits.length) return null;
  const rows = ranks.waits.map((w) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, w.name),
      h("td", {}, h("span", { class: "clip", title: w.group }, w.group)),
      h("td", { class: "r" }, count(w.index)),
      h("td", { class: "r" }, w.elements === null ? h("span", { class: "dim" }, "not recorded") : count(w.elements)),
      h("td", { class: "r" }, duration(w.at_us)),
      h("td", { class: "r" }, count(w.ranks)),
      h("td", { class: "r num-strong" }, duration(w.wait_us)),
      h("td", { class: "r" }, `rank ${w.last}`),
      h("td", { class: "r" }, duration(w.late_us)),
    ),
  );
  const table = h("table", { id: "rank-waits" }, h("caption", { class: "vh" }, "Collectives with the longest waits"), headRow(["Collective", "Group", ["Number", "r"], ["Elements", "r"], ["At", "r"], ["Ranks", "r"], ["Waits", "r"], ["Last", "r"], ["After the middle", "r"]]));
  return section("Where ranks wait", `${duration(ranks.wait_us)} in all; the collectives with the longest waits`, null, ...fewRows("Where ranks wait", table, rows));
}

/* ---- the critical path ---- */

/** @param {NonNullable<Ranks["path"]>} p */
function pathBar(p) {
  const el = svg("svg", { class: "rankbar wide", width: 720, height: 16, viewBox: "0 0 720 16", preserveAspectRatio: "none", "aria-hidden": "true" });
  let x = 0;
  for (const s of p.shares) {
    if (s.share > 0.0005) el.append(svg("rect", { class: `q-${s.kind}`, x, y: 0, width: Math.max(0.5, 720 * s.share - 0.5), height: 16 }));
    x += 720 * s.share;
  }
  return el;
}

/** @param {Ranks} ranks */
function path(ranks) {
  const p = ranks.path;
  if (!p) return null;
  const kinds = p.shares.filter((s) => s.us > 0).map((s) => h("tr", {}, h("th", { scope: "row" }, h("span", { class: "key" }, h("i", { class: `q-${s.kind}` }), s.kind)), h("td", { class: "r" }, duration(s.us)), h("td", { class: "r" }, percent(s.share))));
  const names = p.names.map((n) => h("tr", {}, h("th", { scope: "row" }, h("span", { class: "clip", title: n.name }, n.name)), h("td", {}, n.kind), h("td", { class: "r" }, duration(n.us))));
  const parts = p.parts.map((x) => h("tr", {}, h("th", { scope: "row" }, duration(x.from_us)), h("td", { class: "r" }, duration(x.us)), h("td", {}, `rank ${x.rank}`), h("td", {}, x.collective ? "collective" : x.kind), h("td", {}, h("span", { class: "clip", title: x.name ?? "" }, x.name ?? ""))));
  const on = p.by_rank.filter((r) => r.us > 0).sort((a, b) => b.us - a.us).slice(0, 8).map((r) => `rank ${r.rank} ${duration(r.us)}`);
  const told = p.waits_recorded ? "Which stream waited for which is recorded." : "The traces do not record which stream waited for which (cuda_sync): it is told from times.";
  const names_table = h("table", { id: "path-names" }, h("caption", { class: "vh" }, "Names on the critical path"), headRow(["Name", "Kind", ["Time", "r"]]));
  const parts_table = h("table", { id: "path-parts" }, h("caption", { class: "vh" }, "Parts of the critical path"), headRow(["From", ["Length", "r"], "On", "Most of it", "Longest in it"]));
  const kinds_table = h("table", { id: "path-kinds" }, h("caption", { class: "vh" }, "Critical path by kind"), headRow(["Kind", ["Time", "r"], ["Share", "r"]]), h("tbody", {}, kinds));
  return section(
    "Critical path",
    `${duration(p.total_us)} through ${plural(p.ranks, "rank")}`,
    null,
    pathBar(p),
    h("p", { class: "small sub" }, `${on.join(", ")}. ${told}`),
    h("div", { class: "two" }, h("div", {}, h("h3", {}, "By kind"), scroller("Critical path by kind, table", kinds_table)), h("div", {}, h("h3", {}, "By name"), ...fewRows("Names on the critical path", names_table, names))),
    h("h3", {}, "Its longest parts, in the order of time"),
    p.more_parts ? h("p", { class: "small sub" }, `${plural(p.more_parts, "shorter part")} not listed.`) : null,
    ...fewRows("Parts of the critical path", parts_table, parts),
  );
}

/* ---- one rank ---- */

/** @type {(rank: string) => void} */
let showRank = () => {};

/** @param {Rank} r */
function kernels(r) {
  const rows = r.top.map((k) => h("tr", {}, h("th", { scope: "row" }, h("span", { class: "clip", title: k.name }, k.name)), h("td", {}, k.kind), h("td", { class: "r" }, count(k.count)), h("td", { class: "r num-strong" }, duration(k.sum_us)), h("td", { class: "r" }, duration(k.min_us)), h("td", { class: "r" }, duration(k.max_us)), h("td", { class: "r" }, duration(k.stddev_us))));
  const table = h("table", {}, h("caption", { class: "vh" }, `Kernels of rank ${r.rank}`), headRow(["Name", "Kind", ["Count", "r"], ["Sum", "r"], ["Shortest", "r"], ["Longest", "r"], ["Deviation", "r"]]));
  return [h("h3", {}, "Kernels"), ...fewRows(`Kernels of rank ${r.rank}`, table, rows)];
}

/** @param {import("../api/report.js").ReportRankStream} s @param {number} most */
const queueChart = (s, most) => svg("svg", { class: "queue", width: 200, height: 24, viewBox: "0 0 200 24", role: "img", "aria-label": `queue of stream ${s.stream} over time: most ${s.queue_max}` }, svg("polygon", { points: queueShape(s.queue, 200, 24, most) }));

/** @param {Rank} r */
function streams(r) {
  const most = Math.max(1, ...r.streams.map((s) => s.queue_max));
  const rows = r.streams.map((s) => h("tr", {}, h("th", { scope: "row" }, `GPU ${s.device}, stream ${s.stream}`), h("td", { class: "r" }, count(s.kernels)), h("td", { class: "r" }, duration(s.busy_us)), h("td", { class: "r" }, duration(s.host_wait_us)), h("td", { class: "r" }, duration(s.kernel_wait_us)), h("td", { class: "r" }, duration(s.other_wait_us)), h("td", { class: "drawn" }, queueChart(s, most)), h("td", { class: "r" }, number(s.queue_mean)), h("td", { class: "r" }, count(s.queue_max)), h("td", { class: "r" }, duration(s.full_us))));
  const table = h("table", {}, h("caption", { class: "vh" }, `Streams of rank ${r.rank}`), headRow(["Stream", ["Kernels", "r"], ["Busy", "r"], ["Host wait", "r"], ["Kernel wait", "r"], ["Other wait", "r"], "Queue over time", ["Mean", "r"], ["Most", "r"], ["Full", "r"]]), h("tbody", {}, rows));
  return [h("h3", {}, "Streams and their queues"), scroller(`Streams of rank ${r.rank}, table`, table)];
}

/** @param {Rank} r */
const launched = (r) => `Of ${plural(r.launches, "launch", "launches")} ${count(r.long_launches)} took longer than 50 µs; of what they launched ${count(r.short_kernels)} ran shorter than its launch took, ${count(r.late_starts)} began more than 100 µs after it.`;

/** @param {Rank} r */
function copies(r) {
  if (!r.copies.length) return [];
  const rows = r.copies.map((c) => h("tr", {}, h("th", { scope: "row" }, c.name), h("td", { class: "r" }, count(c.count)), h("td", { class: "r" }, bytes(c.bytes)), h("td", { class: "r" }, duration(c.us)), h("td", { class: "r" }, c.gb_per_s === null ? "" : `${number(c.gb_per_s)} GB/s`)));
  const table = h("table", {}, h("caption", { class: "vh" }, `Copies of rank ${r.rank}`), headRow(["Kind", ["Count", "r"], ["Bytes", "r"], ["Time", "r"], ["Rate", "r"]]), h("tbody", {}, rows));
  return [h("h3", {}, "Copies and sets"), scroller(`Copies of rank ${r.rank}, table`, table)];
}

/** @param {Ranks} ranks */
function oneRank(ranks) {
  const body = h("div", { "aria-live": "polite" });
  const draw = (/** @type {string} */ rank) => {
    const r = ranks.ranks.find((x) => String(x.rank) === rank) ?? ranks.ranks[0];
    const steps = r.steps ? `${plural(r.steps, "ProfilerStep")}${r.last_step_left_out ? "; what was launched after the last one began is left out, since its kernels are cut off" : ""}` : "No ProfilerStep";
    const from = { header: "its head says the rank", name: "its name says the rank", order: "numbered in the order of the files" }[r.rank_from] ?? "";
    body.replaceChildren(h("p", { class: "small sub" }, `${r.file}: ${from}. ${steps}.`), ...kernels(r), ...streams(r), h("p", { class: "small sub" }, launched(r)), ...copies(r));
  };
  const asked = new URL(location.href).searchParams.get("rank");
  const first = ranks.ranks.find((r) => String(r.rank) === asked) ?? ranks.ranks[0];
  const choose = (/** @type {string} */ rank) => {
    remember({ rank });
    draw(rank);
  };
  const pick = select(ranks.ranks.map((r) => ({ value: String(r.rank), label: `rank ${r.rank}` })), String(first.rank), { "aria-label": "Rank" }, choose);
  const el = section("One rank", "", ranks.ranks.length > 1 ? pick : null, body);
  showRank = (rank) => {
    pick.value = rank;
    choose(rank);
    el.scrollIntoView({ block: "start" });
    pick.focus();
  };
  draw(pick.value);
  return el;
}
