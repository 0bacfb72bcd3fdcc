// js/view/compare.js -- runs side by side: the verdict, its figures, and what changed with them.

import { h, add, button, chip, ci, headRow, loadStyle, scroller, section, segmented, select, spoken, stateWell } from "./dom.js";
import { go, remember } from "./router.js";
import { axisHead, modeMark, whisker } from "./marks.js";
import { sideBySide } from "./compare_graphs.js";
import { curvesSection } from "./compare_curves.js";
import { breaksPart, graphsPart, kernelsPart, settingsPart, sourcePart } from "./compare_parts.js";
import { ComparedRuns, runsOf } from "./compare_runs.js";
import { timelines } from "./compare_timelines.js";
import { ApiError, getAlignment, getChangesAt, getComparison, getRun, listRuns } from "../api/client.js";
import { ratioAxis } from "../model/axis.js";
import { aside, axisOf, compareUrl, figureName, pointsIn, ratioText, rowsAt, tone } from "../model/compare.js";
import { asSentence, plain, plural } from "../model/format.js";
import { chipClass, intervalOf, unbroken } from "../model/sentence.js";

/** @typedef {import("../api/compare/types.js").Comparison} Comparison */
/** @typedef {import("../api/compare/types.js").Pair} Pair */
/** @typedef {import("./router.js").Context} Context */

const MARGINS = [1, 2, 5, 10];

/** @param {Context} ctx */
export async function compareView(ctx) {
  ctx.setTitle("Compare");
  const styled = loadStyle("compare");
  if (ctx.query.has("b") && !ctx.query.has("a")) {
    const a = await counterpart(String(ctx.query.get("b")), ctx.signal);
    if (a && !ctx.signal.aborted) return go(compareUrl([a.id, String(ctx.query.get("b"))], new URLSearchParams(a.modes?.length ? {} : { view: "timelines" })), { replace: true });
  }
  const ids = [...ctx.query.getAll("a"), ...ctx.query.getAll("b")];
  if (ctx.query.get("view") === "timelines" && ids.length > 1) return sideBySideInTime(ctx, ids, styled);
  const asked = ids.length > 1 ? await comparison(ctx) : null;
  const runs = asked && !(asked instanceof ApiError) ? asked.runs : await runsOf(ids, ctx.signal);
  await styled;
  if (ctx.signal.aborted) return;
  const chosen = new ComparedRuns(ctx, runs);
  const head = h("div", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Compare")), h("div", { class: "acts" }, chosen.acts()));
  ctx.main.replaceChildren(head);
  if (runs.length) add(ctx.main, chosen.list());
  if (!asked) return add(ctx.main, await empty(ctx, chosen, runs.length));
  if (asked instanceof ApiError && ids.length === 2 && runs.every((r) => r.created_ns) && !runs.some((r) => "modes" in r && r.modes?.length)) return go(viewUrl(ctx, ids, "timelines"), { replace: true });
  if (asked instanceof ApiError) return add(ctx.main, stateWell("These runs cannot be compared", h("p", {}, asSentence(asked.message)), chosen.mend()));
  ctx.setTitle(`${asked.runs.map((r) => `#${r.id}`).join(" and ")} compared`);
  add(ctx.main, viewChoice(ctx, ids, "figures"));
  show(ctx, asked, ids);
  const steps = h("section", { class: "sec", "aria-label": "Steps in the history", hidden: true });
  add(ctx.main, steps);
  stepsOf(asked.runs, ctx.signal).then((lines) => {
    if (!lines.length || ctx.signal.aborted) return;
    steps.replaceChildren(h("header", {}, h("h2", {}, "Steps in the history")), h("ul", { class: "plain" }, lines));
    steps.hidden = false;
  }, () => {});
  return undefined;
}

/** The same runs in another view. @param {Context} ctx @param {readonly string[]} ids @param {string} view */
function viewUrl(ctx, ids, view) {
  const query = new URLSearchParams(ctx.query);
  view === "figures" ? query.delete("view") : query.set("view", view);
  return compareUrl(ids, query);
}

/** Figures, or what ran. @param {Context} ctx @param {readonly string[]} ids @param {string} now */
function viewChoice(ctx, ids, now) {
  return h("div", { class: "bar" }, segmented("What is compared", { figures: "Figures", timelines: "Timelines" }, now, (view) => go(viewUrl(ctx, ids, view))));
}

/** The timelines of the first two. @param {Context} ctx @param {readonly string[]} ids @param {Promise<unknown>} styled */
async function sideBySideInTime(ctx, ids, styled) {
  const two = ids.slice(0, 2);
  const [runs, aligned] = await Promise.all([runsOf(ids, ctx.signal), alignment(ctx, two)]);
  await styled;
  if (ctx.signal.aborted) return undefined;
  const chosen = new ComparedRuns(ctx, runs);
  ctx.setTitle(`Timelines of ${two.map((id) => `#${id}`).join(" and ")}`);
  ctx.main.replaceChildren(h("div", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "Compare")), h("div", { class: "acts" }, chosen.acts())), chosen.list());
  if (runs.some((r) => r.modes?.length)) add(ctx.main, viewChoice(ctx, ids, "timelines"));
  if (aligned instanceof ApiError) return add(ctx.main, stateWell("These timelines cannot be compared", h("p", {}, asSentence(aligned.message)), chosen.mend()));
  return add(ctx.main, h("div", { id: "comparison" }, ...timelines(ctx, aligned, ids, runs)));
}

/** @param {Context} ctx @param {readonly string[]} two */
async function alignment(ctx, two) {
  const query = new URLSearchParams(ctx.query);
  query.set("a", two[0]);
  query.set("b", two[1]);
  try {
    return await getAlignment(query, ctx.signal);
  } catch (e) {
    if (e instanceof ApiError && e.status) return e;
    throw e;
  }
}

/** What the history of each run's workload says begins there. @param {Comparison["runs"]} runs @param {AbortSignal} signal */
async function stepsOf(runs, signal) {
  const known = runs.filter((r) => r.id);
  const found = await Promise.all(known.map((r) => getChangesAt(r.id, signal)));
  return found.flatMap(({ changes }, i) => changes.map((c) => h("li", {}, chip(chipClass(c.verdict), c.verdict), ` ${known[i].label}: `, spoken(c.sentence), " ", h("a", { href: `/history?workload=${encodeURIComponent(c.workload)}` }, "History"))));
}

/** What the server says of them, or why it does not. @param {Context} ctx @returns {Promise<Comparison | ApiError>} */
async function comparison(ctx) {
  try {
    return await getComparison(ctx.query, ctx.signal);
  } catch (e) {
    if (e instanceof ApiError && e.status) return e;
    throw e;
  }
}

/** The page of each pair in turn. @param {Context} ctx @param {Comparison} asked @param {string[]} ids */
function show(ctx, asked, ids) {
  const place = h("div", { id: "comparison" });
  let drawn = new AbortController();
  const draw = (/** @type {string} */ b) => {
    drawn.abort();
    drawn = new AbortController();
    ctx.signal.addEventListener("abort", () => drawn.abort(), { once: true });
    const pair = asked.comparisons.find((c) => c.b === b) ?? asked.comparisons[0];
    place.replaceChildren(...page(ctx, asked, pair, ids, drawn.signal));
  };
  if (asked.comparisons.length > 1) add(ctx.main, chooser(asked, draw));
  add(ctx.main, place);
  draw(asked.comparisons[0].b);
}

/**
 * What a run is held against: the baseline of its workload, else the run of it before.
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<import("../api/types.js").RunRow | null>} null where there is none
 */
async function counterpart(id, signal) {
  const run = await getRun(id, signal);
  const { runs } = await listRuns({ status: "done", q: run.name, limit: 200 }, signal);
  const others = runs.filter((r) => r.name === run.name && String(r.id) !== id);
  const found = others.find((r) => r.baseline) ?? others.find((r) => Number(r.id) < Number(id));
  return found ?? null;
}

/** @param {Context} ctx @param {ComparedRuns} chosen @param {number} n how many are chosen */
async function empty(ctx, chosen, n) {
  const key = (/** @type {string} */ k) => h("kbd", {}, k);
  const what = "what is slower, with the interval of each ratio, and which breaks, kernels, lines and settings changed with it.";
  if (n) return stateWell("One more run is needed", h("p", {}, "Choose a run to compare it with, ", key("b"), `: ${what}`));
  const { total } = await listRuns({ status: "done", limit: 1 }, ctx.signal);
  if (!total) return stateWell("No runs to compare yet", h("p", {}, `Once two runs are done, this page says ${what}`), h("div", { class: "acts" }, h("a", { class: "btn primary", href: "/new" }, "New run")));
  const text = h("p", {}, `Choose two runs or more: ${what} In the list of runs, `, key("x"), " selects a run and ", key("c"), " compares those selected.");
  return stateWell("Choose two runs to compare", text, h("div", { class: "acts" }, button("Choose runs", () => chosen.start(), { class: "btn primary" }), h("a", { class: "btn", href: "/runs" }, "Choose in the list")));
}

/** Several runs: each beside A, one at a time. @param {Comparison} all @param {(b: string) => void} show */
function chooser(all, show) {
  const label = (/** @type {Pair} */ c) => {
    const r = c.headline ? ` ${ratioText(c.headline).text}` : "";
    return `${c.b}: ${c.verdict}${r}`;
  };
  const seg = segmented("Which run beside A", Object.fromEntries(all.comparisons.map((c) => [c.b, label(c)])), all.comparisons[0].b, show);
  return h("div", { class: "bar" }, h("span", { class: "sub" }, "Beside A"), seg);
}

/** @param {Context} ctx @param {Comparison} all @param {Pair} pair @param {string[]} ids @param {AbortSignal} signal */
function page(ctx, all, pair, ids, signal) {
  const head = verdict(ctx, pair, ids);
  if (!pair.figures) return [head, h("section", { class: "sec", "aria-label": "Settings" }, settingsPart(pair))];
  const changes = pair.of_results ? h("section", { class: "sec", "aria-label": "What changed" }, settingsPart(pair)) : h("section", { class: "sec two", "aria-label": "What changed" }, h("div", {}, breaksPart(pair), kernelsPart(pair)), h("div", {}, sourcePart(pair), graphsPart(pair), besideOf(all, pair, signal), settingsPart(pair)));
  return [head, metrics(ctx, all, pair, ids), curvesSection(all, pair, ctx.query.get("mode"), signal), changes].filter((x) => x !== null);
}

/** The graphs of both, for each mode whose graphs changed, or the one that is judged. @param {Comparison} all @param {Pair} pair @param {AbortSignal} signal */
function besideOf(all, pair, signal) {
  const changed = [...new Set((pair.graphs ?? []).map((g) => g.mode))];
  const modes = changed.length ? changed : pair.headline && pair.headline.mode !== "eager" ? [pair.headline.mode] : [];
  const other = all.runs[all.comparisons.indexOf(pair) + 1];
  const n = pair.graphs?.[0]?.n ?? pair.headline?.n ?? null;
  return modes.map((mode) => sideBySide({ a: { id: String(all.runs[0].id), name: "A" }, b: { id: String(other.id), name: pair.b }, mode, n }, signal));
}

/** @param {Context} ctx @param {Pair} pair @param {string[]} ids */
function verdict(ctx, pair, ids) {
  const parts = spoken(pair.sentence);
  const el = h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", { id: "verdict" }, chip(chipClass(pair.verdict), pair.verdict), " ", parts));
  if (pair.forced) add(el, h("p", { class: "notice" }, h("b", {}, "Compared anyway. "), `They are ${pair.refused}.`));
  add(el, h("p", { class: "how" }, pair.how.join(" ")));
  const forced = new URLSearchParams(ctx.query);
  forced.set("force", "1");
  if (pair.verdict === "REFUSED") add(el, h("div", { class: "acts" }, h("a", { class: "btn", href: compareUrl(ids, forced) }, "Compare anyway")));
  return el;
}

/** The table of figures at one point. @param {Context} ctx @param {Comparison} all @param {Pair} pair @param {string[]} ids */
function metrics(ctx, all, pair, ids) {
  const figures = pair.figures ?? [];
  const points = pointsIn(figures);
  const wanted = Number(ctx.query.get("n") ?? NaN);
  const first = points.includes(wanted) ? wanted : (pair.headline?.n ?? points[points.length - 1] ?? null);
  const place = h("div");
  const fill = (/** @type {number | null} */ n) => place.replaceChildren(...table(pair, n));
  const choose = points.length > 1
    ? h("label", { class: "sub" }, "n = ", select(points.map((n) => ({ value: String(n), label: plain(n) })), String(first), { id: "compare-point", "aria-label": "Point of the sweep" }, (v) => {
        remember({ n: v });
        fill(Number(v));
      }))
    : null;
  fill(first);
  return section("Metrics", `${pair.b} over A; beyond ${plain(100 * all.margin)} % counts`, [...rules(ctx, all, ids), choose], place);
}

/** What the verdict rests on, and from where on a difference counts. @param {Context} ctx @param {Comparison} all @param {string[]} ids */
function rules(ctx, all, ids) {
  const open = (/** @type {Record<string, string>} */ change) => {
    const query = new URLSearchParams(ctx.query);
    for (const [k, v] of Object.entries(change)) v ? query.set(k, v) : query.delete(k);
    go(compareUrl(ids, query), { replace: true });
  };
  const percent = Number(plain(100 * all.margin));
  const margins = [...new Set([...MARGINS, percent])].sort((a, b) => a - b).map((m) => ({ value: String(m), label: `${m} %` }));
  const metrics = [{ value: "", label: "automatic" }, { value: "latency", label: "latency" }, { value: "speedup", label: "speedup" }];
  return [
    h("label", { class: "sub", title: "Automatic: latency, or the speedup where eager moved too" }, "Judged by ", select(metrics, ctx.query.get("metric") ?? "", { id: "compare-metric" }, (metric) => open({ metric }))),
    h("label", { class: "sub" }, "Margin ", select(margins, String(percent), { id: "compare-margin" }, (margin) => open({ margin }))),
  ];
}

/** @param {Pair} pair @param {number | null} n */
function table(pair, n) {
  const { rows, same } = rowsAt(pair.figures ?? [], n);
  const axis = ratioAxis(axisOf(rows), 160, [-1, 1]);
  const row = (/** @type {import("../api/compare/types.js").Figure} */ f) => {
    const r = ratioText(f);
    const cell = (/** @type {import("../api/report.js").ReportFigure} */ x, /** @type {string} */ cls) => h("td", { class: `r ${cls}`, data: { label: pair.b } }, unbroken(x.text), ci(intervalOf(x)));
    const mark = f.ratio && f.ratio > 0 ? whisker(axis, f.ratio, f.ci, aside(pair, f) ? "" : tone(f.verdict)) : null;
    const why = f.why ? h("span", { class: "why" }, f.why) : null;
    const ratioCell = h("td", { class: "r m-r" }, h("span", { class: "num-strong" }, r.text), ci(r.interval));
    const name = h("th", { scope: "row" }, modeMark(f.mode), " ", figureName(f));
    return h("tr", {}, name, cell(f.a.shown, "m-a"), cell(f.b.shown, "m-b"), ratioCell, h("td", { class: "m-w" }, mark), h("td", { class: "m-v" }, chip(aside(pair, f) ? "aside" : chipClass(f.verdict), f.verdict), why));
  };
  const head = headRow(["Metric", ["A", "r"], [pair.b, "r"], [`${pair.b} / A`, "r"], [axisHead(axis), "", `Interval of ${pair.b} / A`], "Verdict"]);
  const el = h("table", { class: "metrics", id: "metrics" }, h("caption", { class: "vh" }, "Figures of both runs"), head, h("tbody", {}, rows.map(row)));
  const left = same ? [h("p", { class: "small sub more" }, `${plural(same, "more counted figure")} ${same === 1 ? "is" : "are"} the same in both.`)] : [];
  return [scroller("Metrics, table", el), ...left];
}
