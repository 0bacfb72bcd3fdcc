// js/view/history.js -- a workload over its runs and commits: a curve, the runs, notes and the baseline.

import { h, add, button, chip, figure, headRow, loadStyle, scroller, section, select, spoken, stateWell, toast } from "./dom.js";
import { heatSection } from "./heat.js";
import { changesSection } from "./history_changes.js";
import { historyChart } from "./history_chart.js";
import { go } from "./router.js";
import { getHeat, getHistory, patchRun } from "../api/client.js";
import { compareUrl } from "../model/compare.js";
import { baselineOf, measured } from "../model/history.js";
import { given } from "../model/views.js";
import { date, plain, plural, stamp } from "../model/format.js";

/** @typedef {import("../api/compare/types.js").History} History */
/** @typedef {import("../api/compare/types.js").HistoryPoint} HistoryPoint */
/** @typedef {import("./router.js").Context} Context */

const KEYS = ["workload", "metric", "mode", "n", "source"];

/** @param {Context} ctx */
export async function historyView(ctx) {
  ctx.setTitle("History");
  const styled = loadStyle("compare");
  const asked = Object.fromEntries(KEYS.map((k) => [k, ctx.query.get(k)]));
  let data = await getHistory(asked, ctx.signal);
  // Without a name: the workload of the newest run.
  if (!data.workload && data.workloads.length) data = await getHistory({ ...asked, workload: data.workloads[0].name }, ctx.signal);
  await styled;
  if (ctx.signal.aborted) return;
  const heat = await getHeat(ctx.signal).catch(() => null);
  if (ctx.signal.aborted) return;
  if (!data.workload) return ctx.main.replaceChildren(heading("History"), empty());
  ctx.setTitle(`History of ${data.workload}`);
  /** @type {AbortController} */
  let drawn = new AbortController();
  const show = () => {
    drawn.abort();
    drawn = new AbortController();
    ctx.signal.addEventListener("abort", () => drawn.abort(), { once: true });
    ctx.main.replaceChildren(...page(data, asked, drawn.signal, again), ...(heat?.rows.length ? [heatSection(heat, String(data.workload))] : []));
  };
  const again = async () => {
    data = await getHistory({ ...asked, workload: data.workload }, ctx.signal);
    if (!ctx.signal.aborted) show();
  };
  show();
  return undefined;
}

/** @param {string} title @param {...HTMLElement} more */
const heading = (title, ...more) => h("div", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, title)), ...more);

function empty() {
  const text = "This page shows the figures of a workload over time and commits. Runs with the same name are the same workload.";
  return stateWell("No runs yet", h("p", {}, text), h("div", { class: "acts" }, h("a", { class: "btn primary", href: "/new" }, "New run")));
}

/** @param {History} data @param {Record<string, string | null>} asked @param {AbortSignal} signal @param {() => Promise<void>} again */
function page(data, asked, signal, again) {
  const n = data.points?.length ?? 0;
  const title = h("h1", {}, data.workload, h("span", { class: "dim" }, ` over ${plural(n, "run")}`));
  const head = h("div", { class: "head" }, h("div", { class: "titles" }, title), choices(data, asked));
  if (!n) return [head, nothing(data)];
  const verdict = h("section", { class: "verdict", "aria-label": "Finding" }, h("p", { id: "verdict" }, spoken(data.sentence ?? [])), h("p", { class: "how" }, (data.how ?? []).join(" ")));
  const chart = measured(data).length ? h("section", { class: "sec", "aria-label": "Curve" }, historyChart(data, signal)) : null;
  const changes = data.changes?.length ? changesSection(data.changes, again) : null;
  return [head, verdict, chart, changes, runs(data, again)].filter((x) => x !== null);
}

/** @param {History} data */
function nothing(data) {
  const known = data.workloads.some((w) => w.name === data.workload);
  const text = known ? "None of its runs has ended yet." : `No run here is of a workload named ${data.workload}.`;
  return stateWell("Nothing to show", h("p", {}, text), h("div", { class: "acts" }, h("a", { class: "btn primary", href: "/history" }, "The newest workload"), h("a", { class: "btn", href: "/runs" }, "All runs")));
}

/** Which workload, figure, mode and point. @param {History} data @param {Record<string, string | null>} asked */
function choices(data, asked) {
  const open = (/** @type {Record<string, string>} */ change) => {
    const all = { ...asked, workload: data.workload, metric: data.metric, mode: data.mode, ...change };
    const q = new URLSearchParams(Object.entries(all).flatMap(([k, v]) => (v ? [[k, v]] : [])));
    go(`/history?${q}`, { replace: true });
  };
  const one = (/** @type {string} */ key, /** @type {string} */ name, /** @type {{value: string, label: string}[]} */ options, /** @type {string} */ now) =>
    options.length ? select(options, now, { "aria-label": name, id: `history-${key}` }, (v) => open(key === "workload" ? { workload: v, n: "", source: "" } : { [key]: v })) : null;
  const known = data.known;
  const names = data.workloads.map((w) => ({ value: w.name, label: `${w.name} (${w.runs})` }));
  if (!names.some((o) => o.value === data.workload)) names.unshift({ value: data.workload ?? "", label: data.workload ?? "" });
  const points = known?.points.length ? [{ value: "", label: "last point" }, ...known.points.map((n) => ({ value: String(n), label: `n = ${plain(n)}` }))] : [];
  const metrics = (known?.metrics ?? []).map((m) => ({ value: m.name, label: m.title }));
  if (known && data.metric && !metrics.some((m) => m.value === data.metric)) metrics.unshift({ value: data.metric, label: data.title ?? data.metric });
  const modes = (known?.modes ?? []).map((m) => ({ value: m, label: m }));
  return h(
    "div",
    { class: "acts choices" },
    one("workload", "Workload", names, data.workload ?? ""),
    one("metric", "Figure", metrics, data.metric ?? ""),
    one("mode", "Mode", modes, data.mode ?? ""),
    one("n", "Point of the sweep", points, asked.n ?? ""),
    button("Views", () => import("./views.js").then((v) => v.openViews("history", () => ({ query: given({ ...asked, workload: data.workload, metric: data.metric, mode: data.mode }), project: "" })))),
  );
}

/** Newest first. @param {History} data @param {() => Promise<void>} again */
function runs(data, again) {
  const all = data.points ?? [];
  const base = baselineOf(data);
  const rows = all.map((p, i) => row(p, all.slice(0, i).findLast((q) => q.value !== null) ?? null, base, again)).reverse();
  const head = headRow(["Run", [capital(data.title ?? ""), "r"], "Commit", "Date", "Since the run before", "Note", [null, "", "Actions"]]);
  const table = h("table", { class: "hist", id: "history-runs" }, h("caption", { class: "vh" }, "Runs, newest first"), head, h("tbody", {}, rows));
  return section("Runs", "newest first; notes and the baseline are kept with the run", h("a", { class: "btn", href: "/webhooks" }, "Webhooks"), scroller("Runs, table", table));
}

/** @param {string} s */
const capital = (s) => s.slice(0, 1).toUpperCase() + s.slice(1);

/** Which run a button is of, for who does not see its row. @param {string | number} id */
const number = (id) => h("span", { class: "vh" }, ` #${id}`);

/**
 * @param {HistoryPoint} p @param {HistoryPoint | null} before the last that has the figure
 * @param {HistoryPoint | null} base @param {() => Promise<void>} again
 */
function row(p, before, base, again) {
  const { run } = p;
  const ms = run.created_ns / 1e6;
  const value = p.shown ? figure(p.shown) : run.status === "failed" ? chip("failed", "FAILED") : run.summary?.verdict === "DISAGREES" ? chip("disagrees", "DISAGREES") : h("span", { class: "dim" }, "not measured");
  const commit = run.commit ? h("span", { class: "mono", title: run.commit }, run.commit.slice(0, 7), run.commit.endsWith("-dirty") ? "-dirty" : "") : h("span", { class: "dim" }, "none given");
  const changed = p.value === null ? "" : before ? p.parting || "same source and settings" : h("span", { class: "dim" }, "first run");
  const against = base && base !== p ? base : before;
  const link = against && p.value !== null && against.value !== null ? h("a", { class: "btn", href: compareUrl([against.run.id, run.id]) }, `Compare with ${base && against === base ? "baseline" : `#${against.run.id}`}`, number(run.id)) : null;
  const mark = p.value === null ? null : button(run.baseline ? "No baseline" : "Baseline", () => save(run.id, { baseline: !run.baseline }, again));
  const note = button(run.note ? "Edit note" : "Note", () => editNote(run, again));
  for (const b of [mark, note]) if (b) add(b, number(run.id));
  return h(
    "tr",
    { class: run.baseline ? "base" : null, data: { run: String(run.id) } },
    h("th", { scope: "row" }, h("a", { href: `/runs/${encodeURIComponent(run.id)}` }, `#${run.id}`), run.baseline ? [" ", chip("plain", "baseline")] : null, run.imported ? [" ", chip("plain", "imported")] : null),
    h("td", { class: "r" }, value),
    h("td", {}, commit, run.branch ? [" ", h("span", { class: "dim" }, run.branch)] : null),
    h("td", { class: "sub" }, h("time", { datetime: new Date(ms).toISOString(), title: stamp(ms) }, date(ms))),
    h("td", { class: "sub" }, changed),
    h("td", { class: "note" }, run.note ?? "", run.note && run.note_by ? h("span", { class: "dim" }, ` ${run.note_by}`) : null),
    h("td", {}, h("div", { class: "acts" }, link, note, mark)),
  );
}

/** @param {string | number} id @param {{note?: string, baseline?: boolean}} notes @param {() => Promise<void>} again */
async function save(id, notes, again) {
  try {
    await patchRun(id, notes);
    await again();
    toast(notes.note === undefined ? (notes.baseline ? `Run #${id} is the baseline.` : `Run #${id} is no longer the baseline.`) : `The note on run #${id} is saved.`);
  } catch (e) {
    toast(`Run #${id} was not changed: ${e instanceof Error ? e.message : e}`);
  }
}

/** @param {import("../api/types.js").RunRow} run @param {() => Promise<void>} again */
function editNote(run, again) {
  const text = h("textarea", { class: "field", maxlength: 1000, "aria-label": "Note" });
  text.value = run.note ?? "";
  const form = h("form", { method: "dialog", class: "noteform" }, h("h2", { id: "note-title" }, `Note on #${run.id}`), text);
  add(form, h("div", { class: "acts" }, h("button", { class: "btn primary", value: "save" }, "Save"), h("button", { class: "btn", value: "" }, "Cancel")));
  const d = h("dialog", { class: "ask", "aria-labelledby": "note-title" }, form);
  document.body.append(d);
  d.addEventListener("close", () => {
    if (d.returnValue === "save" && text.value !== (run.note ?? "")) save(run.id, { note: text.value }, again);
    d.remove();
  });
  d.showModal();
  text.focus();
}
