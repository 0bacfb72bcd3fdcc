// js/view/suite.js -- one suite: pass rates, geomeans, distribution, a row for each workload.
//
// While runs wait it is asked again every two seconds; the order of the table stays.

import { h, add, button, chip, ci, headRow, loadStyle, say, scroller, section, select, spoken, stateWell } from "./dom.js";
import { cards, clamped, whoNarrow } from "./cards.js";
import { jobsChanged } from "./frame.js";
import { removeSuites } from "./suite_changes.js";
import { axisHead, modeMark, progressBar, whisker } from "./marks.js";
import { go, pause } from "./router.js";
import { nothingHere } from "./missing.js";
import { suiteOver } from "./suite_over.js";
import { distribution } from "./suite_chart.js";
import { ApiError } from "../api/client.js";
import { deleteSuite, getSuite, listSuites, postSuite, resumeSuite } from "../api/suites.js";
import { extent, ratioAxis } from "../model/axis.js";
import { fileStem } from "../model/commands.js";
import { dashed } from "../model/result.js";
import { asSentence, count, date, plural, stamp } from "../model/format.js";
import { chipClass, intervalOf } from "../model/sentence.js";
import { breaksOf, columnKey, columnName, compared, failures, resultOf, sorted } from "../model/suite.js";

/** @typedef {import("../api/types.js").Suite} Suite */
/** @typedef {import("../api/types.js").SuiteColumn} SuiteColumn */
/** @typedef {import("../api/types.js").SuiteResult} SuiteResult */
/** @typedef {import("../api/types.js").SuiteWorkload} SuiteWorkload */

const LIVE_MS = 2000;

/** @param {Suite} suite */
const live = (suite) => suite.status === "running" || suite.status === "queued";

/** @typedef {{choose: HTMLElement | null, parts: HTMLElement[], over?: HTMLElement | null}} Beside the choice of another suite, the comparison with it, and those of its name */

/** @param {import("./router.js").Context} ctx */
export async function suiteView(ctx) {
  const styled = loadStyle("suites");
  const id = ctx.params[0];
  /** @type {import("../model/suite.js").Order} */
  const order = { key: "name", down: false };
  const found = await getSuite(id, ctx.signal).catch((e) => {
    if (e instanceof ApiError && e.status === 404) return null;
    throw e;
  });
  if (!found) {
    ctx.setTitle("Not found");
    return ctx.main.replaceChildren(nothingHere(`There is no suite #${id}`, ["It may have been deleted. Numbers are not used again."], [["All suites", "/suites"], ["All runs", "/runs"]]));
  }
  let suite = found;
  let beside = await besideOf(ctx, suite);
  await styled;
  let drawn = new AbortController();
  const show = () => {
    if (ctx.signal.aborted) return;
    drawn.abort();
    drawn = new AbortController();
    ctx.signal.addEventListener("abort", () => drawn.abort(), { once: true });
    ctx.main.replaceChildren(...page(suite, order, beside, drawn.signal));
  };
  ctx.setTitle(suite.name);
  show();
  const began = live(suite);
  while (live(suite) && (await pause(LIVE_MS, ctx.signal))) {
    if (document.hidden) continue;
    try {
      const before = JSON.stringify(suite.runs);
      suite = await getSuite(id, ctx.signal);
      if (JSON.stringify(suite.runs) !== before) show();
    } catch (e) {
      if (e instanceof ApiError && e.status === 404) throw e;
    }
  }
  if (!began || ctx.signal.aborted) return;
  beside = await besideOf(ctx, suite);
  show();
}

/** Of a suite that has ended. @param {import("./router.js").Context} ctx @param {Suite} suite @returns {Promise<Beside>} */
async function besideOf(ctx, suite) {
  if (live(suite)) return { choose: null, parts: [] };
  const base = ctx.query.get("base") ?? "";
  const { suites } = await listSuites(ctx.signal);
  const others = suites.filter((s) => s.id !== suite.id).map((s) => ({ value: String(s.id), label: `${s.name} #${s.id}` }));
  if (base && !others.some((o) => o.value === base)) others.push({ value: base, label: `#${base}` });
  const chooser = () =>
    select([{ value: "", label: "no other suite" }, ...others], base, { id: "base" }, (v) =>
      go(`/suites/${encodeURIComponent(suite.id)}${v ? `?base=${encodeURIComponent(v)}` : ""}`),
    );
  const choose = others.length ? h("label", { class: "beside small sub" }, "Compare with", chooser()) : null;
  return { choose, parts: base ? [await comparison(ctx, suite, base)] : [], over: suiteOver(suites, suite) };
}

/** @param {import("./router.js").Context} ctx @param {Suite} suite @param {string} base */
async function comparison(ctx, suite, base) {
  const place = h("div", { id: "suite-comparison" });
  const { comparisonSections } = await import("./suite_compare.js");
  try {
    add(place, await comparisonSections(suite.id, base, ctx.signal));
  } catch (e) {
    const why = h("p", {}, asSentence(e instanceof Error ? e.message : String(e)));
    const alone = h("a", { class: "btn primary", href: `/suites/${encodeURIComponent(suite.id)}` }, "Show it alone");
    add(place, stateWell("The suites cannot be compared", why, h("div", { class: "acts" }, alone)));
  }
  return place;
}

/** @param {Suite} suite @param {import("../model/suite.js").Order} order @param {Beside} beside @param {AbortSignal} signal */
function page(suite, order, beside, signal) {
  if (suite.report.benchmarks) return [head(suite, null), h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", {}, spoken(suite.report.sentence))), benchmarks(suite)];
  const how =
    "A workload passes when it runs and its values agree with eager's. Geometric means cover the common set only: the workloads with a speedup in every mode that has any.";
  const verdict = h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", {}, spoken(suite.report.sentence)), h("p", { class: "how" }, how));
  const parts = [head(suite, beside.choose), ...beside.parts, live(suite) ? progress(suite) : null, verdict, tiles(suite)];
  return [...parts, columnsTable(suite), distribution(suite.report, `suite_${fileStem(suite.name)}_${suite.id}`, signal), workloadsTable(suite, order), causes(suite), reasons(suite), beside.over ?? null].filter((x) => x !== null);
}

/** A file of another tool's results: its benchmarks. @param {Suite} suite */
function benchmarks(suite) {
  const rows = (suite.report.benchmarks ?? []).map((b) =>
    h("tr", {}, h("th", { scope: "row" }, h("a", { href: `/runs/${encodeURIComponent(b.run)}` }, b.name), b.verdict ? [" ", chip(chipClass(b.verdict), b.verdict)] : null), h("td", {}, b.mode), h("td", { class: "r" }, dashed(b.shown)), h("td", { class: "r" }, h("a", { href: `/history?workload=${encodeURIComponent(b.name)}`, "aria-label": `History of ${b.name}` }, "History"))),
  );
  const table = h("table", {}, h("caption", { class: "vh" }, "Benchmarks"), headRow(["Benchmark", "Figure", ["Value, with its 95 % interval", "r"], [null, "", "History"]]), h("tbody", {}, rows));
  return section("Benchmarks", "the first figure of each; its run has them all", null, scroller("Benchmarks, table", table));
}

/** @param {Suite} suite @param {HTMLElement | null} choose */
function head(suite, choose) {
  const ms = suite.created_ns / 1e6;
  const facts = [
    ["Workloads", count(suite.report.workloads.length)],
    ["Runs", count(Object.values(suite.runs).reduce((a, b) => a + b, 0))],
    ...(suite.kept ? [["Kept", plural(suite.kept, "earlier run")]] : []),
    suite.report.benchmarks ? ["Tool", String(suite.request?.result ?? "")] : ["Device", String(suite.request?.device ?? "per workload")],
    ["Date", h("time", { datetime: new Date(ms).toISOString(), title: stamp(ms) }, date(ms))],
  ];
  const meta = h("dl", { class: "meta" }, facts.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));
  const title = h("h1", {}, suite.name, " ", h("span", { class: "mono dim" }, `#${suite.id}`));
  const act = live(suite) ? button("Cancel", () => end(suite)) : button("Delete", () => remove(suite));
  const json = h("a", { class: "btn", href: `/api/v1/suites/${encodeURIComponent(suite.id)}` }, "JSON");
  return h("div", { class: "head" }, h("div", { class: "titles" }, title, meta), h("div", { class: "acts" }, choose, json, goOn(suite), act));
}

/** What has it measured further: its cancelled runs, or, of the suite that comes with the program, all that was kept. @param {Suite} suite */
function goOn(suite) {
  if (live(suite)) return null;
  if (suite.runs.cancelled)
    return trying("Resume", async () => {
      await resumeSuite(suite.id);
      jobsChanged();
      go(`/suites/${encodeURIComponent(suite.id)}`, { replace: true });
    });
  const asked = suite.request;
  if (!suite.kept || !asked || !("suite" in asked)) return null;
  return trying("Measure all again", async () => {
    const { id } = await postSuite({ ...asked, again: true });
    jobsChanged();
    go(`/suites/${encodeURIComponent(id)}`);
  });
}

/** A button that says why it could not. @param {string} text @param {() => Promise<void>} run */
const trying = (text, run) =>
  button(text, async () => {
    try {
      await run();
    } catch (e) {
      say(e instanceof Error ? e.message : String(e));
    }
  });

/** @param {Suite} suite */
async function end(suite) {
  try {
    await deleteSuite(suite.id);
    jobsChanged();
  } catch (e) {
    say(e instanceof Error ? e.message : String(e));
  }
}

/** With its runs, at once: for a while they can be had back. @param {Suite} suite */
async function remove(suite) {
  let removed = false;
  await removeSuites([suite], () => {
    go(removed ? `/suites/${encodeURIComponent(suite.id)}` : "/suites");
    removed = true;
  });
}

/** @param {Suite} suite */
function progress(suite) {
  const { done, failed, cancelled } = suite.runs;
  const all = Object.values(suite.runs).reduce((a, b) => a + b, 0);
  const text = `${count(done + failed + cancelled)} of ${plural(all, "run")} ended${failed ? `, ${count(failed)} failed` : ""}`;
  return h("p", { class: "bar", role: "status", id: "suite-progress" }, progressBar(suite.progress, 160), " ", text);
}

/** @param {Suite} suite */
function tiles(suite) {
  const { columns, common } = suite.report;
  const list = columns.filter((c) => c.mode !== "eager" || c.pass_rate !== 1);
  const tile = (/** @type {string} */ label, /** @type {import("./dom.js").Child} */ value, /** @type {string} */ unit) =>
    h("div", {}, h("dt", {}, label), h("dd", {}, value, " ", h("span", { class: "unit" }, unit)));
  return h(
    "dl",
    { class: "stats", id: "suite-tiles" },
    tile("Common set", count(common.n), `of ${plural(common.of, "workload")}`),
    list.map((c) => tile(`Pass rate, ${columnName(c)}`, c.shown.pass_rate, c.shown.passed)),
  );
}

/** @param {Suite} suite */
function columnsTable(suite) {
  const { columns } = suite.report;
  const ratios = compared(columns).flatMap((c) => [c.geomean.common.speedup ?? 1, ...(c.geomean.common.speedup_ci ?? [])]);
  const axis = ratioAxis(ratios, 120);
  const header = headRow([
    "Mode", "Policy", "Engine", ["Passed", "r"], ["Geomean, common set", "r"], [axisHead(axis), "", "Interval"], ["Geomean, own set", "r"],
    ["Min", "r"], ["Median", "r"], ["Max", "r"], ["Capture breaks", "r"], ["Lowering breaks", "r"], ["Compile time, all", "r"],
  ]);
  const num = (/** @type {import("./dom.js").Child} */ x) => h("td", { class: "r" }, x);
  const dim = (/** @type {string} */ x) => h("span", { class: "dim" }, x);
  const text = (/** @type {string | null} */ v) => num(v ?? dim("none"));
  const rows = columns.map((c) => {
    const g = c.geomean.common;
    const f = c.shown.geomean;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, modeMark(c.mode), whoNarrow(c)),
      h("td", { class: "who" }, c.policy),
      h("td", { class: "who" }, c.engine),
      num(h("span", {}, c.shown.passed, c.shown.not_passed ? h("span", { class: "two-line" }, c.shown.not_passed) : null)),
      h("td", { class: "r" }, f ? [h("span", { class: "num-strong" }, f.text), ...ci(intervalOf(f))] : dim(c.mode === "eager" ? "baseline" : "none")),
      h("td", {}, g.speedup === null ? null : whisker(axis, g.speedup, g.speedup_ci, c.shown.verdict ?? "SAME")),
      text(c.shown.own),
      text(c.shown.min),
      text(c.shown.median),
      text(c.shown.max),
      num(count(c.breaks.capture)),
      h("td", { class: "r", data: { label: "Lowering breaks" } }, count(c.breaks.lowering)),
      num(c.mode === "eager" ? dim("none") : c.shown.compiling),
    );
  });
  const table = h("table", { id: "suite-columns" }, h("caption", { class: "vh" }, "Columns of the suite"), header, h("tbody", {}, rows));
  return section("Modes", "speedups over eager; breaks of both stages over all workloads", null, scroller("Modes of the suite", cards(table)));
}

/** @param {Suite} suite @param {import("../model/suite.js").Order} order */
function workloadsTable(suite, order) {
  const { columns, workloads } = suite.report;
  const shown = compared(columns);
  const axis = ratioAxis(extent(workloads.flatMap((w) => shown.flatMap((c) => ratioOf(resultOf(w, c))))), 88);
  const policies = [...new Set(columns.filter((c) => c.engine === "breakeven").map((c) => c.policy))];
  const heads = [
    { key: "name", label: "Workload", cls: "" },
    ...shown.map((c) => ({ key: columnKey(c), label: columnName(c), cls: "r" })),
    ...policies.map((p) => ({ key: `breaks:${p}`, label: `Breaks, ${p}`, cls: "r" })),
  ];
  const place = h("tbody", {});
  const header = h("tr", {});
  const table = h("table", { id: "suite-workloads" }, h("caption", { class: "vh" }, "Workloads of the suite"), h("thead", {}, header), place);
  const fill = () => {
    place.replaceChildren(...sorted(workloads, order).map((w) => workloadRow(w, shown, policies, axis)));
    cards(table);
  };
  for (const { key, label, cls } of heads) {
    const th = h("th", { scope: "col", class: cls || null });
    const b = button(
      label,
      () => {
        order.down = order.key === key ? !order.down : key !== "name";
        order.key = key;
        mark();
        fill();
      },
      { class: "sort" },
    );
    th.append(b);
    th.dataset.key = key;
    header.append(th);
  }
  for (const text of ["Launches", "Peak", "Compile time"]) header.append(h("th", { scope: "col", class: "r" }, text));
  const mark = () => {
    for (const th of /** @type {NodeListOf<HTMLElement>} */ (header.querySelectorAll("th[data-key]")))
      if (th.dataset.key === order.key) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
  };
  mark();
  fill();
  const note = "speedup over eager with its 95 % interval, linked to its run; breaks: capture + lowering; launches a call, peak memory and compile time are those of mode static, or of the first compiled mode";
  return section("Workloads", note, null, scroller("Workloads of the suite", table));
}

/** @param {SuiteResult | undefined} r @returns {[number, import("../api/types.js").Interval | null][]} */
const ratioOf = (r) => (r?.status === "pass" && r.speedup !== null ? [[r.speedup, r.speedup_ci]] : []);

/** @param {SuiteWorkload} w @param {readonly SuiteColumn[]} shown @param {readonly string[]} policies @param {import("./marks.js").RatioAxis} axis */
function workloadRow(w, shown, policies, axis) {
  const main = policies.map((p) => breaksOf(w, p)).find((r) => r && r.status === "pass");
  const cell = (/** @type {string | null} */ text) => h("td", { class: "r" }, text ?? h("span", { class: "dim" }, "not run"));
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, w.name),
    shown.map((c) => resultCell(resultOf(w, c), axis)),
    policies.map((p) => cell(knownBreaks(breaksOf(w, p)?.shown.breaks))),
    cell(main?.shown.launches ?? null),
    cell(main?.shown.peak ?? null),
    cell(main?.shown.compiling ?? null),
  );
}

/** @param {string | undefined} text */
const knownBreaks = (text) => (text && text !== "unknown" ? text : null);

const WORDS = { disagrees: "DISAGREES", failed: "FAILED", cancelled: "cancelled", waiting: "queued" };

/** @param {SuiteResult | undefined} r @param {import("./marks.js").RatioAxis} axis */
function resultCell(r, axis) {
  if (!r) return h("td", { class: "r dim" }, "not run");
  const link = (/** @type {import("./dom.js").Child} */ content) =>
    r.run ? h("a", { href: `/runs/${encodeURIComponent(r.run)}` }, content) : content;
  if (r.status !== "pass") {
    const cls = r.status === "waiting" ? "queued" : r.status;
    return h("td", { class: "r", title: r.reason }, link(chip(cls, WORDS[r.status])));
  }
  const f = r.shown.speedup;
  if (!f) return h("td", { class: "r", title: r.reason }, link("passed"));
  const [[speedup, interval] = [0, null]] = ratioOf(r);
  const kept = r.kept_ns ? `kept: measured for an earlier suite, ${stamp(r.kept_ns / 1e6)}` : null;
  return h("td", { class: `r v-${(r.shown.verdict ?? "").toLowerCase()}`, title: kept }, link(f.text), ci(intervalOf(f)), speedup > 0 ? whisker(axis, speedup, interval, r.shown.verdict ?? "SAME") : null);
}

/** @param {Suite} suite */
function causes(suite) {
  const found = suite.report.causes ?? [];
  if (!found.length) return null;
  const rows = found.map(({ cause, status, workloads, example }) =>
    h("tr", {}, h("th", { scope: "row", class: "wrap why", title: example }, cause), h("td", {}, chip(status, WORDS[/** @type {"failed" | "disagrees"} */ (status)])), h("td", { class: "r" }, workloads.length), h("td", { class: "wrap" }, clamped(workloads.join(", ")))),
  );
  const header = headRow(["Cause", "Status", ["Workloads", "r"], "Which"]);
  const table = h("table", { id: "suite-causes" }, h("caption", { class: "vh" }, "Causes"), header, h("tbody", {}, rows));
  return section("Causes", "most frequent first; reasons that differ only in quoted names (…) and numbers (N) count as one", null, scroller("Causes, table", cards(table)));
}

/** @param {Suite} suite */
function reasons(suite) {
  const found = failures(suite.report.workloads);
  if (!found.length) return null;
  const rows = found.map(({ name, run, status, engine, policies, modes, reason }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, run ? h("a", { href: `/runs/${encodeURIComponent(run)}` }, name) : name),
      h("td", {}, chip(status, WORDS[status])),
      h("td", {}, `${engine === "breakeven" ? "" : `${engine}: `}${policies.join(", ")}`),
      h("td", { class: "wrap modes" }, modes.join(", ")),
      h("td", { class: "wrap why", data: { label: "" } }, clamped(reason)),
    ),
  );
  const table = h("table", { id: "suite-reasons" }, h("caption", { class: "vh" }, "What did not pass"), headRow(["Workload", "Status", "Policy", "Modes", "Reason"]), h("tbody", {}, rows));
  return section("What did not pass", plural(found.length, "reason"), null, scroller("What did not pass, table", cards(table)));
}
