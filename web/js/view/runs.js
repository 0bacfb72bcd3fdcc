// js/view/runs.js -- the list of runs: verdict, ratio and whisker on one axis.
//
// The list is asked again every two seconds while something waits or runs, and
// only its rows are replaced: the focus stays where it was.

import { h, add, button, chip, ci, prose, scroller, select, say } from "./dom.js";
import { go, pause, remember } from "./router.js";
import { onKeys, jobsChanged } from "./frame.js";
import { axisHead, progressBar, ratioAxis, whisker } from "./marks.js";
import { getExamples, listRuns, postRun } from "../api/client.js";
import { about, age, calls, count, number, plural, ratio, stamp, timeUnit, plain } from "../model/format.js";
import { chipClass } from "../model/verdict.js";
import { inOrder, letters } from "../model/modes.js";
import { drops, parseQuery } from "../model/query.js";
import { runLine } from "../model/commands.js";

/** @typedef {import("../api/types.js").RunRow} RunRow */

const PAGE = 50;
const LIVE_MS = 2000;
const IDLE_MS = 15000;
const STATUSES = ["running", "queued", "done", "failed", "cancelled"];

/** @param {import("./router.js").Context} ctx */
export async function runsView(ctx) {
  ctx.setTitle("Runs");
  const state = { text: ctx.query.get("q") ?? "", status: ctx.query.get("status") ?? "", limit: PAGE };
  const search = h("input", { class: "field grow", type: "search", placeholder: "Search, or device:cpu tag:nightly project:bench", "aria-label": "Search the runs" });
  search.value = state.text;
  const status = select([{ value: "", label: "Every status" }, ...STATUSES.map((s) => ({ value: s, label: s }))], state.status, { "aria-label": "Status" }, (v) => { state.status = v; again(); });
  const total = h("span", { class: "sub small nw", id: "run-count" });
  const place = h("div", { id: "run-list", "aria-busy": "true" });
  ctx.main.replaceChildren(
    h("div", { class: "head list" }, h("div", { class: "titles" }, h("h1", {}, "Runs")), h("div", { class: "acts" }, h("a", { class: "btn primary", href: "/new" }, "New run"))),
    h("form", { class: "bar", role: "search" }, search, status, h("div", { class: "acts" }, total)), place);

  let asked = 0;
  let asking = Promise.resolve(false);
  /** @returns {Promise<boolean>} whether something still waits or runs */
  const load = async () => {
    const turn = ++asked;
    const answer = await listRuns({ ...parseQuery(state.text), status: state.status, limit: state.limit }, ctx.signal);
    if (turn !== asked || ctx.signal.aborted) return false;
    draw(place, total, answer, state, (s) => { Object.assign(state, s); search.value = state.text; status.value = state.status; again(); });
    return answer.runs.some((r) => r.status === "running" || r.status === "queued");
  };
  const again = () => {
    remember({ q: state.text, status: state.status });
    asking = load();
    asking.catch(() => {});
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  search.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => { state.text = search.value; again(); }, 200);
  });
  /** @type {HTMLFormElement} */ (search.form).addEventListener("submit", (e) => { e.preventDefault(); state.text = search.value; again(); });
  keys(ctx, place, search);

  let live = await load();
  while (await pause(live ? LIVE_MS : IDLE_MS, ctx.signal)) {
    if (document.hidden) continue;
    try { live = await load(); } catch { /* shown again when the server answers; the rows stay */ }
  }
}

/** @param {import("./router.js").Context} ctx @param {HTMLElement} place @param {HTMLElement} search */
function keys(ctx, place, search) {
  const move = (/** @type {number} */ by) => {
    const links = [...place.querySelectorAll("tbody th a")];
    const at = links.findIndex((a) => a === document.activeElement);
    const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))];
    /** @type {HTMLElement | undefined} */ (next)?.focus();
  };
  onKeys(ctx.signal, { j: () => move(1), k: () => move(-1), "/": () => search.focus() });
}

/**
 * @param {HTMLElement} place @param {HTMLElement} total @param {import("../api/types.js").RunList} answer
 * @param {{text: string, status: string, limit: number}} state @param {(s: {text?: string, status?: string, limit?: number}) => void} change
 */
function draw(place, total, answer, state, change) {
  const { runs } = answer;
  place.setAttribute("aria-busy", "false");
  total.textContent = runs.length ? `${count(runs.length)} of ${plural(answer.total ?? runs.length, "run")}` : "";
  const focused = document.activeElement instanceof HTMLAnchorElement && place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  if (runs.length) place.replaceChildren(table(runs));
  else if (state.text || state.status) place.replaceChildren(noMatch(state, change));
  else if (!place.querySelector(".state")) place.replaceChildren(empty());
  if (answer.next) place.append(h("p", { class: "more" }, button("Show more", () => change({ limit: state.limit + PAGE }))));
  if (focused) /** @type {HTMLElement | null} */ (place.querySelector(`a[href="${CSS.escape(focused)}"]`))?.focus();
}

/** @param {readonly RunRow[]} runs */
function table(runs) {
  const done = runs.flatMap((r) => (r.summary ? [r.summary] : []));
  const axis = ratioAxis(done.flatMap((s) => [s.speedup, ...(s.speedup_ci ?? [])]), 120);
  const modes = new Set(done.map((s) => s.mode));
  const one = modes.size === 1 ? [...modes][0] : null;
  const unit = timeUnit(done.map((s) => s.median_us));
  const heads = [["Run", ""], ["Verdict", ""], [one ? `eager / ${one}` : "Speedup", "r"], [axisHead(axis), ""], ["At", "r"], [`${one ?? "Median"}, ${unit.name}`, "r"],
    ["Repaid after", "r"], ["Meets eager", "r"], ["Modes", ""], ["Device", ""], ["Age", "r"]];
  return scroller("Runs, table", h("table", { class: "runs" }, h("caption", { class: "vh" }, "Runs, newest first"),
    h("thead", {}, h("tr", {}, heads.map(([t, c]) => h("th", { scope: "col", class: /** @type {string} */ (c) || null }, t, t instanceof Node ? h("span", { class: "vh" }, "Interval") : null)))),
    h("tbody", {}, runs.map((r) => row(r, axis, one, unit)))));
}

/** @param {RunRow} r @param {import("./marks.js").RatioAxis} axis @param {string | null} one @param {import("../model/format.js").Unit} unit */
function row(r, axis, one, unit) {
  const created = r.created_ns / 1e6;
  const cells = h("tr", {}, h("th", { scope: "row", class: "a-n" }, h("a", { href: `/runs/${encodeURIComponent(r.id)}` }, r.name), " ", h("span", { class: "mono dim" }, `#${r.id}`)));
  if (r.status === "done" && r.summary) summaryCells(cells, r.summary, axis, one, unit);
  else add(cells, h("td", { class: "a-v" }, chip(r.status, r.status === "failed" ? "FAILED" : r.status)), h("td", { class: "a-r sub wide", colspan: 6 }, stateText(r)));
  const modes = inOrder(r.modes ?? []);
  add(cells,
    h("td", { class: "x" }, modes.length ? h("span", { class: "mono ltr", role: "img", "aria-label": modes.join(", ") }, letters(modes)) : null),
    h("td", { class: "a-d sub" }, (r.device ?? "").toUpperCase()),
    h("td", { class: "r a-w sub" }, h("time", { datetime: new Date(created).toISOString(), title: stamp(created) }, age(created, Date.now()))));
  return cells;
}

/** @param {HTMLElement} cells @param {import("../api/types.js").Summary} s @param {import("./marks.js").RatioAxis} axis @param {string | null} one @param {import("../model/format.js").Unit} unit */
function summaryCells(cells, s, axis, one, unit) {
  const r = ratio(s.speedup, s.speedup_ci);
  add(cells,
    h("td", { class: "a-v" }, chip(chipClass(s.verdict), s.verdict)),
    h("td", { class: "r a-r" }, h("span", { class: "num-strong" }, r.text), ci(r.interval), one ? null : h("span", { class: "two-line" }, s.mode)),
    h("td", { class: "a-t" }, whisker(axis, s.speedup, s.speedup_ci, s.verdict)),
    h("td", { class: "r x" }, typeof s.at_n === "number" ? `n = ${plain(s.at_n)}` : h("span", { class: "dim" }, "one point")),
    h("td", { class: "r x" }, number(s.median_us / unit.scale)),
    h("td", { class: "r x" }, repaid(s)),
    h("td", { class: "r x" }, typeof s.crossover_n === "number" ? `n = ${number(s.crossover_n)}` : h("span", { class: "dim" }, typeof s.at_n === "number" ? "nowhere" : "no sweep")));
}

/** The list's rows do not say why there is no number: the interval of the ratio does. @param {import("../api/types.js").Summary} s */
function repaid(s) {
  if (typeof s.calls_to_repay === "number") return calls(s.calls_to_repay);
  const maybe = s.speedup > 1 && (s.speedup_ci?.[1] ?? 0) > 1;
  return h("span", { class: "dim" }, maybe ? "unknown" : "never");
}

/** @param {RunRow} r @returns {import("./dom.js").Child[]} */
function stateText(r) {
  if (r.status === "running") {
    const left = typeof r.left_s === "number" && r.left_s >= 0 ? `, ${about(r.left_s)} left` : "";
    return [progressBar(r.progress, 96), " ", `${r.what || "starting"}${left}`];
  }
  if (r.status === "queued") return ["waiting for its turn"];
  if (r.status === "failed") return [h("span", { class: "clip" }, r.error?.line ? `line ${r.error.line}: ` : "", prose(r.error?.message ?? "no reason was kept"))];
  if (r.status === "cancelled") return ["stopped before it was done"];
  return ["nothing was timed"];
}

/** @param {{text: string, status: string}} state @param {(s: {text?: string, status?: string}) => void} change */
function noMatch(state, change) {
  const parts = drops(state.text, state.status);
  return h("div", { class: "well gap" }, h("div", { class: "state" }, h("h2", {}, `No run matches ${parts.map((p) => p.label).join(" ")}`),
    h("p", {}, parts.length > 1 ? "Drop one of the filters to see more." : "Drop the filter to see every run."),
    h("div", { class: "acts" }, parts.map((p) => button(`Drop ${p.label}`, () => change({ text: p.text, status: p.status }))))));
}

/** The first minute of the product: the first example is one press away. */
function empty() {
  const why = h("p", { class: "errline" });
  const command = h("pre", { tabindex: 0, role: "region", "aria-label": "The same as a command", hidden: true });
  const acts = h("div", { class: "acts" }, h("a", { class: "btn", href: "/new" }, "Write a function"));
  const offer = (/** @type {import("../api/types.js").Example} */ example) => {
    const start = button(`Run ${example.name.replace(/_/g, " ")}`, async () => {
      start.setAttribute("disabled", "");
      try {
        const { id } = await postRun(example.workload);
        jobsChanged();
        go(`/runs/${encodeURIComponent(id)}`);
      } catch (e) {
        start.removeAttribute("disabled");
        why.textContent = e instanceof Error ? e.message : String(e);
        say(why.textContent);
      }
    }, { class: "btn primary", id: "run-example" });
    acts.prepend(start);
    command.textContent = runLine(example.workload);
    command.hidden = false;
  };
  getExamples().then(({ examples }) => { if (examples?.[0]) offer(examples[0]); }).catch(() => { /* writing a function still works */ });
  return h("div", { class: "well gap" }, h("div", { class: "state" }, h("h2", {}, "No runs yet"),
    h("p", {}, "Post a function and see whether compiling it pays. The chain sweep measures a body of 1 to 30 statements in every mode, on this machine."),
    acts, why, command));
}
