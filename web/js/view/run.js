// js/view/run.js -- one run: its head, its tabs, and what state it is in.
//
// While it waits or runs the server's events drive the page; at the end the run
// is read once more, whole.  Every tab is a URL of its own, and its script comes
// when it is opened; the server asks for it ahead (server/http/views.def).

import { h, add, button, say, toast } from "./dom.js";
import { go, problem } from "./router.js";
import { jobsChanged, onKeys } from "./frame.js";
import { removeRuns, changeRuns } from "./run_changes.js";
import { renameButton, renameForm } from "./rename.js";
import { exportMenu } from "./export.js";
import { joinedBar } from "./joined.js";
import { disagreements } from "./disagrees.js";
import { ledgerNote } from "./ledger.js";
import { follow } from "./follow.js";
import { failedState, partialState, stoppedState, thinnedState } from "./states.js";
import { noSuchRun, nothingHere } from "./missing.js";
import { ApiError, deleteRun, fileUrl, followRun, getRun } from "../api/client.js";
import { herePath, place } from "../api/place.js";
import { date, stamp } from "../model/format.js";
import { describeSweep, describeCall } from "../model/workload.js";
import { fileStem, watchLine } from "../model/commands.js";
import { pointsOf } from "../model/curves.js";
import { breakCount } from "../model/breaks.js";
import { graphCount } from "../model/graphs.js";
import { saidOf } from "../model/sentence.js";
import { recompileCount } from "../model/guards.js";
import { sharedQuery } from "../model/selection.js";
import { signature } from "../model/source.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Report} Report */
/** @typedef {import("./router.js").Context} Context */
/** @typedef {(ctx: Context, body: HTMLElement, run: Run, report: Report) => unknown} Tab */

/** @type {readonly {key: string, label: string, load: () => Promise<Tab>}[]} */
const TABS = [
  { key: "", label: "Overview", load: async () => (await import("./overview.js")).overview },
  { key: "breaks", label: "Breaks", load: async () => (await import("./breaks.js")).breaksTab },
  { key: "guards", label: "Recompiles", load: async () => (await import("./guards.js")).guardsTab },
  { key: "graphs", label: "Graphs", load: async () => (await import("./graphs.js")).graphsTab },
  { key: "kernels", label: "Kernels", load: async () => (await import("./kernels.js")).kernelsTab },
  { key: "passes", label: "Passes", load: async () => (await import("./passes.js")).passesTab },
  { key: "timeline", label: "Timeline", load: async () => (await import("./timeline.js")).timelineTab },
  { key: "memory", label: "Memory", load: async () => (await import("./memory.js")).memoryTab },
  { key: "source", label: "Source", load: async () => (await import("./source.js")).sourceTab },
  { key: "log", label: "Overview", load: async () => (await import("./import_overview.js")).importOverview },
  { key: "compiles", label: "Compiles", load: async () => (await import("./compiles.js")).compilesTab },
  { key: "ranks", label: "Ranks", load: async () => (await import("./ranks.js")).ranksTab },
  { key: "torch", label: "PyTorch", load: async () => (await import("./torch_tab.js")).torchTab },
];

/** What another tool measured has figures, and nothing else: in place of the overview.
 * @type {() => Promise<Tab>} */
const resultOf = async () => (await import("./result.js")).resultTab;

/** Views of logs alone. */
const OF_IMPORTS = ["log", "compiles", "ranks"];

/** What another process recorded has events, and with them what its compile log holds and what its ranks say; PyTorch
 * is there where it was asked for. @param {Run} run */
function tabsOf(run) {
  if (run.workload?.trace) return tabsOfTrace(run).flatMap((key) => TABS.filter((t) => t.key === key));
  return TABS.filter((t) => (run.workload?.result ? t.key === "" : !OF_IMPORTS.includes(t.key) && (t.key !== "torch" || run.report?.engines?.torch)));
}

/** @param {Run} run */
function tabsOfTrace(run) {
  const found = run.status === "running" ? null : run.report?.import;
  return [...(found ? ["log"] : []), "timeline", ...(found?.compiles.length || Object.keys(found?.artifacts ?? {}).length ? ["compiles"] : []), ...(found?.ranks ? ["ranks"] : [])];
}

/** Of many ranks first what they say together; of a log its overview. @param {Run} run */
const firstOfTrace = (run) => ((run.report?.import?.ranks?.ranks.length ?? 0) > 1 && run.status !== "running" ? "ranks" : tabsOfTrace(run)[0]);

/** @param {Context} ctx */
export async function runView(ctx) {
  const [id, tab = ""] = ctx.params;
  // Before the run is there: a key pressed while it loads is not lost.
  /** @type {readonly {key: string}[]} */
  let numbered = TABS;
  onKeys(ctx.signal, Object.fromEntries(TABS.map((_, i) => [String(i + 1), () => numbered[i] && go(tabUrl(id, numbered[i].key))])));
  const shown = TABS.find((t) => t.key === tab);
  shown?.load().catch(() => {}); // its script comes while the run does
  let run;
  try {
    run = await getRun(id, ctx.signal);
  } catch (e) {
    if (!(e instanceof ApiError) || (e.status !== 404 && e.status !== 400)) throw e;
    ctx.setTitle("Not found");
    return ctx.main.replaceChildren(noSuchRun(id));
  }
  numbered = tabsOf(run);
  if (!shown || (!run.workload?.trace && OF_IMPORTS.includes(tab))) {
    ctx.setTitle("Not found");
    const views = tabsOf(run).map((t) => t.label).join(", ");
    return ctx.main.replaceChildren(
      nothingHere(`A run has no view ${tab}`, [`${run.name} #${run.id} has: ${views}.`], [[`Open run #${run.id}`, tabUrl(id, "")], ["All runs", "/runs"]]),
    );
  }
  if (run.workload?.trace && !tabsOfTrace(run).includes(tab)) return go(tabUrl(id, firstOfTrace(run)), { replace: true });
  if (run.workload?.result && tab) return go(tabUrl(id, ""), { replace: true });
  return draw(ctx, run, tab);
}

/** With what is picked, and the mode and point that are shown. @param {Run["id"]} id @param {string} key */
const tabUrl = (id, key) => `/runs/${encodeURIComponent(id)}${key ? `/${key}` : ""}${sharedQuery(new URLSearchParams(location.search))}`;

/** @param {Context} ctx @param {Run} run @param {string} tab */
async function draw(ctx, run, tab) {
  const shown = TABS.find((t) => t.key === tab) ?? TABS[0];
  ctx.setTitle(`${tab ? `${shown.label} of ` : ""}${run.name} #${run.id}`);
  const body = h("div", { id: "run-body" });
  ctx.main.replaceChildren(...[head(ctx, run, tab), run.workload?.result ? null : tabs(ctx, run, tab), watchPlace(ctx, run), disagreements(run), ledgerNote(run), body].filter((x) => x !== null));
  if (run.report && !run.workload?.trace && !run.workload?.result) add(ctx.main, joinedBar(ctx, run));
  const strip = ctx.main.querySelector(".tabs");
  const here = /** @type {HTMLElement | null | undefined} */ (strip?.querySelector("[aria-current]"));
  if (strip && here && tab) strip.scrollLeft = here.offsetLeft + here.offsetWidth - strip.clientWidth + 40;
  if (run.workload?.trace && tab === "timeline") return followTrace(ctx, body, run);
  const waits = run.status === "queued" || run.status === "running";
  if (waits && tab !== "source") return untilEnd(ctx, body, run, tab);
  if (run.report?.thinned_ns) body.before(thinnedState(run.report.thinned_ns));
  const part = run.report && run.partial;
  if (part) body.before(partialState(run, part));
  else if (run.status === "failed" && tab !== "source") body.append(failedState(run));
  else if (run.status === "cancelled" && tab !== "source") body.append(stoppedState(run));
  if (!run.report && tab !== "source") return undefined;
  body.setAttribute("aria-busy", "true");
  const show = await (run.workload?.result ? resultOf() : shown.load());
  if (!ctx.signal.aborted) await show(ctx, body, run, /** @type {Report} */ (run.report));
  body.removeAttribute("aria-busy");
  return undefined;
}

/** What is watched on this page: a file, each save of which runs with the settings of this run.  It goes on from tab to
 * tab.  @type {{id: string, watch: import("./watch.js").Watch, ends: AbortController} | null} */
let watching = null;

/** Where its runs appear: empty, until it is asked for. @param {Context} ctx @param {Run} run */
function watchPlace(ctx, run) {
  const id = String(run.id);
  if (watching && watching.id !== id) endWatch();
  ctx.signal.addEventListener("abort", () => {
    if (watching?.id === id && !new RegExp(`^/runs/${id}(/|$)`).test(herePath())) endWatch();
  });
  return h("div", { id: "watch-place" }, watching?.watch.el ?? null);
}

function endWatch() {
  watching?.ends.abort();
  watching = null;
}

/** @param {Run} run */
async function watchFile(run) {
  const { Watch } = await import("./watch.js");
  if (!watching) {
    const ends = new AbortController();
    let workload = /** @type {import("../api/types.js").Workload} */ (run.workload);
    const take = (/** @type {string} */ text, /** @type {string} */ name) => {
      const { files } = workload;
      const path = files && Object.keys(files).find((p) => p === name || p.endsWith(`/${name}`));
      if (files && !path) return `${name} is no file of this run, which has ${Object.keys(files).join(", ")}.`;
      workload = files && path ? { ...workload, files: { ...files, [path]: text } } : { ...workload, source: text };
      watching?.watch.changed();
      return null;
    };
    const names = signature(workload.source ?? "", workload.entry ?? "model")?.map((p) => p.name) ?? [];
    const of = { asked: () => ({ workload, errors: [] }), take, command: () => watchLine(workload, names), signal: ends.signal, run };
    watching = { id: String(run.id), ends, watch: new Watch(of) };
  }
  document.getElementById("watch-place")?.replaceChildren(watching.watch.el);
  return watching.watch.pick();
}

/** The page of a run that has ended meanwhile. @param {Context} ctx @param {Run} run @param {string} tab */
function again(ctx, run, tab) {
  draw(ctx, run, tab).catch((e) => {
    if (!ctx.signal.aborted) ctx.main.replaceChildren(problem(e));
  });
}

/** Its events so far, read again as more come. @param {Context} ctx @param {HTMLElement} body @param {Run} run */
async function followTrace(ctx, body, run) {
  if (run.status === "failed") body.append(failedState(run));
  const { traceTab } = await import("./timeline.js");
  if (ctx.signal.aborted) return;
  const tab = traceTab(ctx, body, run);
  if (run.status !== "running") return;
  followRun(String(run.id), ctx.signal, tab.more, async () => {
    const done = await getRun(String(run.id), ctx.signal).catch(() => null);
    if (!done || ctx.signal.aborted) return;
    jobsChanged();
    say(`${done.name} has ended: ${done.status}.`);
    again(ctx, done, "timeline");
  });
}

/** @param {Context} ctx @param {HTMLElement} body @param {Run} run @param {string} tab */
function untilEnd(ctx, body, run, tab) {
  follow(run, body, ctx.signal, async () => {
    const done = await getRun(String(run.id), ctx.signal).catch(() => null);
    if (!done || ctx.signal.aborted) return;
    say(
      done.status === "done"
        ? `${done.name} is measured.`
        : `${done.name} ${done.status}: ${done.error?.message ?? ""}`,
    );
    again(ctx, done, tab);
  });
}

/** @param {Context} ctx @param {Run} run @param {string} tab */
function head(ctx, run, tab) {
  const [id, stem] = [String(run.id), fileStem(run.name)];
  const link = (/** @type {string} */ label, /** @type {string} */ href, /** @type {string} */ download) =>
    h("a", { class: "btn", href, download: download || null }, label);
  const ended = run.status !== "queued" && run.status !== "running";
  const end = ended ? button("Delete", () => remove(run)) : button("Cancel", () => cancel(run));
  const torch = run.report?.trace?.torch_trace_bytes
    ? link("TORCH_TRACE", fileUrl(id, "torch_trace.log"), `${stem}_${id}.log`)
    : null;
  const ofTrace = h("div", { class: "acts" }, ended ? link("Compare", `/compare?b=${encodeURIComponent(id)}`, "") : null, torch, exportMenu(run), end);
  const acts = run.workload?.trace ? ofTrace : h(
    "div",
    { class: "acts" },
    run.workload?.result ? null : link("Edit and run again", `/new?from=${encodeURIComponent(id)}`, ""),
    run.workload?.source || run.workload?.files ? button("Watch", () => watchFile(run), { class: "btn", title: "Pick its file: each save runs it again with these settings" }) : null,
    run.report ? link("Compare", `/compare?b=${encodeURIComponent(id)}`, "") : null,
    link("History", `/history?workload=${encodeURIComponent(run.name)}`, ""),
    exportMenu(run),
    end,
  );
  return h("div", { class: "head" }, h("div", { class: "titles" }, titleOf(ctx, run, tab), factList(run)), acts);
}

/** The name, which is edited in its place. @param {Context} ctx @param {Run} run @param {string} tab */
function titleOf(ctx, run, tab) {
  const title = h("h1", {}, run.name, h("span", { class: "mono" }, `#${run.id}`));
  const edit = () => {
    const form = renameForm(run, async (changed) => {
      form.replaceWith(line);
      pen.focus();
      if (changed) showAgain(ctx, run, tab);
    });
    line.replaceWith(form);
  };
  const pen = renameButton(run, edit);
  const pin = button(run.pinned ? "Unpin" : "Pin", () => changeRuns([run], () => ({ pinned: !run.pinned }), run.pinned ? "no longer pinned" : "pinned", () => showAgain(ctx, run, tab)), { class: "btn link" });
  const line = h("div", { class: "titleline" }, title, pen, pin);
  onKeys(ctx.signal, { e: edit });
  return line;
}

/** @param {Context} ctx @param {Run} run @param {string} tab */
async function showAgain(ctx, run, tab) {
  const now = await getRun(String(run.id), ctx.signal).catch(() => null);
  if (now && !ctx.signal.aborted) again(ctx, now, tab);
}

/** Of several files the first and the last, without their folders. @param {string[]} names */
function filesText(names) {
  const [first, last] = [names[0], names[names.length - 1]].map((name) => (name ?? "").split("/").pop());
  return names.length > 1 ? `${names.length} files: ${first}${names.length > 2 ? " to" : ","} ${last}` : names.join();
}

/** The facts that decide comparability. @param {Run} run */
function factList(run) {
  const w = run.workload;
  const created = run.created_ns / 1e6;
  const when = h("time", { datetime: new Date(created).toISOString(), title: stamp(created) }, date(created));
  const mark = run.report?.imported ?? run.imported;
  /** @type {[string, string | Node][]} */
  const ofTrace = run.report?.import && !run.imported && !run.report.trace?.processes?.length ? [
    ["Imported from", filesText(run.report.import.files.map((f) => f.name))],
    ["Device", run.device?.toUpperCase() || "not known"],
    ["Imported", when],
  ] : [
    ["Command", w?.command ?? ""],
    ["Processes", String(run.report?.trace?.processes?.length ?? "not known yet")],
    ...(run.imported ? importedFrom(run.imported, when, "Recorded") : [/** @type {[string, Node]} */ (["Recorded", when])]),
  ];
  /** @type {[string, string | Node][]} */
  const ofResult = [
    ["Tool", run.report?.result?.format ?? w?.result ?? ""],
    ["Machine", run.report?.result?.machine ?? "not told"],
    ["Branch", run.branch || "none"],
    ["Imported", when],
  ];
  /** @type {[string, string | Node][]} */
  const facts = w?.trace ? ofTrace : w?.result ? ofResult : [
    ["Device", (run.device ?? w?.device ?? "cpu").toUpperCase()],
    ["Backend", backendOf(run)],
    ["Threads", w?.threads ? String(w.threads) : "one per core"],
    ...(w?.autocast ? [/** @type {[string, string]} */ (["Autocast", w.autocast])] : []),
    ["Input", describeCall(w?.calls?.[0])],
    ["Sweep", describeSweep(w)],
    ...(mark ? importedFrom(mark, when, "Run", run.report?.slimmed) : [/** @type {[string, Node]} */ (["Run", when])]),
  ];
  if (run.commit) facts.push(["Commit", `${run.commit.slice(0, 12)}${run.commit.endsWith("-dirty") && run.commit.length > 12 ? "-dirty" : ""}`]);
  if (run.baseline) facts.push(["Baseline", "of its workload"]);
  if (run.author) facts.push(["By", run.author]);
  if (run.note) facts.push(["Note", run.note_by ? `${run.note} (${run.note_by})` : run.note]);
  if (run.project) facts.push(["Project", run.project]);
  if (run.tags?.length) facts.push(["Tags", run.tags.join(", ")]);
  return h(
    "dl",
    { class: "meta" },
    facts.map(([t, d]) => h("div", {}, h("dt", {}, t), h("dd", {}, d))),
  );
}

/** A run that came back from its own export: when it was measured, as which run, what was left out.
 * @param {import("../api/types.js").ImportedRun} imported @param {Node} when @param {string} was what `when` is of
 * @param {boolean} [slimmed] @returns {[string, string | Node][]} */
function importedFrom({ run, file }, when, was, slimmed = false) {
  const ms = (run?.created_ns ?? NaN) / 1e6;
  const origin = [run?.name ? `${run.name} #${run.id}` : "", file ? `from ${file}` : "", run?.redacted ? "redacted: source and names were left out" : "", slimmed ? "too long for the file: values, code and samples were left out" : ""];
  return [
    [was, Number.isFinite(ms) ? h("time", { datetime: new Date(ms).toISOString(), title: stamp(ms) }, date(ms)) : "not known"],
    ["Imported", when],
    ["As", origin.filter(Boolean).join(", ") || "a run of another server"],
  ];
}

/** What was asked for, until the report says what was taken. @param {Run} run */
function backendOf(run) {
  const device = run.report?.device;
  const taken = device && typeof device === "object" ? /** @type {Record<string, unknown>} */ (device).backend : null;
  return { cpu: "generated C", interp: "interpreter" }[String(taken ?? run.workload?.backend)] ?? "best";
}

/** @param {Context} ctx @param {Run} run @param {string} open */
function tabs(ctx, run, open) {
  const points = run.report ? pointsOf(run.report) : [];
  const modes = points.flatMap((p) => Object.values(p.modes));
  const graphs = graphCount(points);
  const breaks = Math.max(0, ...points.flatMap((p) => Object.entries(p.modes).map(([mode, m]) => breakCount(m, saidOf(run, p, mode)))));
  const guards = Math.max(0, ...modes.map(recompileCount));
  const links = tabsOf(run).map(({ key, label }) => {
    const counts = /** @type {Record<string, number>} */ ({ graphs, breaks, guards });
    const n = key in counts && run.report ? h("span", { class: "n" }, counts[key]) : null;
    return h("a", { href: tabUrl(run.id, key), "aria-current": key === open ? "page" : null, data: { tab: key } }, label, n);
  });
  addEventListener("addresschange", () => links.forEach((a) => (a.href = place(tabUrl(run.id, a.dataset.tab ?? "")))), { signal: ctx.signal });
  return h("nav", { class: "tabs", "aria-label": "Views of this run" }, links);
}

/** Removed at once: for a while it can be had back. @param {Run} run */
async function remove(run) {
  let removed = false;
  await removeRuns([run], () => {
    go(removed ? `/runs/${encodeURIComponent(run.id)}` : "/runs");
    removed = true;
  });
}

/** @param {Run} run */
async function cancel(run) {
  try {
    await deleteRun(String(run.id));
    jobsChanged();
  } catch (e) {
    toast(`Run #${run.id} was not stopped: ${e instanceof Error ? e.message : e}`);
  }
}
