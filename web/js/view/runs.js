// js/view/runs.js -- the list of runs, its search and its empty states.
//
// The list is asked again every two seconds while something waits or runs; only the rows
// in sight are replaced, and the focus stays on the run where it was.

import { h, button, select, stateWell } from "./dom.js";
import { pause, remember } from "./router.js";
import { onKeys } from "./frame.js";
import { RunList } from "./run_list.js";
import { Picked } from "./runs_picked.js";
import { renameForm } from "./rename.js";
import { sinceSection } from "./since.js";
import { ApiError, getSince, listRuns } from "../api/client.js";
import { count, plural } from "../model/format.js";
import { runsQuery } from "../model/views.js";
import { aloneText, drops, mistakes, parseQuery, VERDICTS, withField } from "../model/query.js";

/** @typedef {{text: string, status: string, sort: string}} Filter */

const NEWEST = "-age";
const LIVE_MS = 2000;
const IDLE_MS = 15000;
const TYPING_MS = 200;
/** With more runs than these somebody knows what this is. */
const START_MOST = 1;
const STATUSES = ["running", "queued", "done", "failed", "cancelled"];
/** Also what the heads of the table say, which a narrow page has not. @type {[string, string][]} */
const SORTS = [
  [NEWEST, "Newest first"],
  ["age", "Oldest first"],
  ["-speedup", "Largest speedup"],
  ["speedup", "Smallest speedup"],
  ["repaid", "Repaid soonest"],
  ["-breaks", "Most breaks"],
  ["median", "Quickest call"],
  ["name", "By name"],
  ["verdict", "By verdict"],
  ["device", "By device"],
  ["status", "By status"],
];
const FIELDS = /** @type {const} */ (["verdict", "project", "tag", "device"]);

/** @param {import("./router.js").Context} ctx */
export async function runsView(ctx) {
  ctx.setTitle("Runs");
  const page = new RunsPage(ctx);
  ctx.main.replaceChildren(...page.elements());
  let live = await page.load();
  while (await pause(live ? LIVE_MS : IDLE_MS, ctx.signal)) {
    if (document.hidden) continue;
    try {
      live = await page.load();
    } catch {
      /* asked again soon; the rows stay */
    }
  }
}

class RunsPage {
  #ctx;
  /** @type {Filter} */
  #filter;
  #search;
  #status;
  #sort;
  /** @type {Record<string, HTMLSelectElement>} one for each of FIELDS */
  #fields;
  /** @type {RunList} */
  #list;
  #total = h("span", { class: "sub small nw", id: "run-count" });
  #place = h("div", { id: "run-list", "aria-busy": "true" });
  #start = h("div");
  /** What the last day brought, above the list. */
  #since = h("div");
  /** @type {HTMLElement[]} what is above the list; without a run there is nothing to look for */
  #heads = [];
  #asked = 0;
  #picked = new Picked((id) => this.#list.find(id), () => this.#again());
  /** @type {Set<string>} suites whose runs are shown */
  #open;

  /** @param {import("./router.js").Context} ctx */
  constructor(ctx) {
    this.#ctx = ctx;
    this.#filter = { text: ctx.query.get("q") ?? "", status: ctx.query.get("status") ?? "", sort: ctx.query.get("sort") ?? NEWEST };
    this.#open = new Set((ctx.query.get("open") ?? "").split(",").filter((id) => /^\d+$/.test(id)));
    const hint = "Search, or verdict:slower breaks:>2";
    this.#search = h("input", {
      class: "field grow",
      type: "search",
      placeholder: hint,
      "aria-label": "Search the runs",
    });
    this.#search.value = this.#filter.text;
    const choices = [{ value: "", label: "Every status" }, ...STATUSES.map((s) => ({ value: s, label: s }))];
    this.#status = select(choices, this.#filter.status, { "aria-label": "Status" }, (status) =>
      this.#change({ status }),
    );
    this.#fields = Object.fromEntries(FIELDS.map((f) => [f, this.#fieldSelect(f)]));
    this.#sort = select([], "", { "aria-label": "Order" }, (sort) => this.#change({ sort }));
    this.#fillSort();
    this.#list = this.#newList();
    onKeys(ctx.signal, { j: () => this.#list.move(1), k: () => this.#list.move(-1), "/": () => this.#search.focus(), o: () => this.#openHere(), e: () => this.#rename(document.activeElement) });
    onKeys(ctx.signal, this.#picked.keys());
  }

  /** An order that only a head gives is there while it is in use. */
  #fillSort() {
    const now = this.#filter.sort;
    const all = SORTS.some(([key]) => key === now) ? SORTS : [...SORTS, [now, "By the marked column"]];
    this.#sort.replaceChildren(...all.map(([value, label]) => h("option", { value }, label)));
    this.#sort.value = now;
  }

  /** @param {string} field */
  #fieldSelect(field) {
    const name = field[0].toUpperCase() + field.slice(1);
    return select([{ value: "", label: `Every ${field}` }], "", { "aria-label": name, disabled: true }, (value) =>
      this.#change({ text: withField(this.#filter.text, field, value) }),
    );
  }

  #newList() {
    return new RunList((offset, limit) => this.#ask(offset, limit), this.#filter.sort, (sort) => this.#change({ sort }), this.#ctx.signal, this.#picked.ids, this.#open);
  }

  /** Opens or closes a suite. @param {string | undefined} id */
  #toggle(id) {
    if (!id) return;
    if (!this.#open.delete(id)) this.#open.add(id);
    remember({ open: [...this.#open].join(",") || null });
    this.#list.forget();
    this.load().catch(() => {});
  }

  /** Rows have changed. */
  #again() {
    if (this.#ctx.signal.aborted) return;
    this.#list.forget();
    this.load().catch(() => {});
  }

  /** Name and tags of the run of a row, in their place. @param {Element | null} at */
  #rename(at) {
    const tr = /** @type {HTMLElement | null | undefined} */ (at?.closest(".runs tbody tr"));
    const run = this.#list.find(tr?.dataset.id ?? "");
    const cell = tr?.querySelector("th");
    if (!run || !cell || cell.querySelector(".rename")) return;
    const form = renameForm(run, (changed) => {
      form.remove();
      if (changed) this.#again();
      /** @type {HTMLElement | null} */ (cell.querySelector("a"))?.focus();
    });
    cell.append(form);
  }

  /** That of the row that has the focus, or that its run is of. */
  #openHere() {
    this.#toggle(/** @type {HTMLElement | null | undefined} */ (document.activeElement?.closest("tr")?.querySelector("[data-suite]"))?.dataset.suite);
  }

  /** @param {number} offset @param {number} limit @param {boolean} [facets] what to filter by, too */
  #ask(offset, limit, facets) {
    const { text, status, sort } = this.#filter;
    const fold = sort === NEWEST ? { fold: 1, open: [...this.#open].join(",") } : {};
    return listRuns({ ...parseQuery(text), status, sort, limit, offset, facets: facets ? 1 : undefined, ...fold }, this.#ctx.signal);
  }

  elements() {
    const load = button("Import files", () => import("./drop.js").then((d) => d.chooseFiles()), { class: "btn" });
    const views = button("Views", () => import("./views.js").then((v) => v.openViews("runs", () => this.#now())));
    const create = h("div", { class: "acts" }, views, load, h("a", { class: "btn primary", href: "/new" }, "New run"));
    const head = h("div", { class: "head list" }, h("div", { class: "titles" }, h("h1", {}, "Runs")), create);
    const total = h("div", { class: "acts" }, this.#total);
    const form = h("form", { class: "bar", role: "search" }, this.#search, this.#status, Object.values(this.#fields), this.#sort, total);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let typing;
    this.#search.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.#change({ text: this.#search.value }), TYPING_MS);
    });
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      clearTimeout(typing);
      this.#change({ text: this.#search.value });
    });
    this.#picked.watch(this.#place);
    this.#place.addEventListener("click", (e) => {
      if (!(e.target instanceof HTMLElement)) return;
      if (e.target.matches(".pen")) this.#rename(e.target);
      else this.#toggle(e.target.dataset.suite);
    });
    this.#heads = [head, form];
    for (const el of this.#heads) el.style.visibility = "hidden"; // what may stand above them would move them
    return [this.#start, this.#since, head, form, this.#place, this.#picked.bar];
  }

  /** What a view keeps. */
  #now() {
    const query = runsQuery(this.#filter, NEWEST);
    return { query, project: query.project ?? "" };
  }

  /** @returns {Promise<boolean>} whether something still waits or runs */
  async load() {
    const turn = ++this.#asked;
    const { offset, limit } = this.#list.inSight;
    const since = this.#askSince();
    const answer = await this.#ask(offset, limit, true).catch((e) => this.#refused(e, turn));
    if (!answer || turn !== this.#asked || this.#ctx.signal.aborted) return false;
    await Promise.all([this.#begin(answer), this.#tell(answer, since)]);
    if (turn !== this.#asked || this.#ctx.signal.aborted) return false;
    this.#draw(answer, offset);
    return answer.runs.some((r) => r.status === "running" || r.status === "queued");
  }

  /** A search that is wrong says what would be right. @param {unknown} e @param {number} turn */
  #refused(e, turn) {
    if (!(e instanceof ApiError) || e.status !== 400) throw e;
    if (turn !== this.#asked) return null;
    for (const el of this.#heads) el.style.visibility = "";
    this.#place.setAttribute("aria-busy", "false");
    this.#place.replaceChildren(stateWell("This search is not understood", h("p", {}, e.message)));
    return null;
  }

  /** @param {Partial<Filter>} filter */
  #change(filter) {
    Object.assign(this.#filter, filter);
    if (this.#search.value !== this.#filter.text) this.#search.value = this.#filter.text;
    this.#status.value = this.#filter.status;
    this.#fillSort();
    const { text, status, sort } = this.#filter;
    remember({ q: text, status, sort: sort === NEWEST ? null : sort });
    this.#list = this.#newList();
    scrollTo(0, 0);
    this.load().catch(() => {});
  }

  /** @param {import("../api/types.js").RunList} answer @param {number} offset */
  #draw(answer, offset) {
    const place = this.#place;
    const { text, status } = this.#filter;
    const total = answer.total ?? answer.runs.length;
    place.setAttribute("aria-busy", "false");
    this.#total.textContent = total ? plural(answer.total_runs ?? total, "run") : "";
    for (const el of this.#heads) {
      el.hidden = !total && !text && !status;
      el.style.visibility = "";
    }
    this.#fillFields(answer.facets);
    if (total) {
      const focus = /** @type {HTMLElement | null} */ (place.querySelector(":focus"))?.dataset.sort;
      if (!place.contains(this.#list.el)) place.replaceChildren(this.#list.el);
      this.#list.take(answer, offset);
      if (focus) /** @type {HTMLElement | null} */ (place.querySelector(`[data-sort="${focus}"]`))?.focus();
    } else if (text || status) this.#noMatch();
    else place.replaceChildren();
  }

  /** The first minute stands above the list before that is drawn. @param {import("../api/types.js").RunList} answer */
  async #begin(answer) {
    const { text, status } = this.#filter;
    if ((answer.total_runs ?? answer.total ?? answer.runs.length) > START_MOST || text || status || this.#start.hasChildNodes()) return;
    const { startSection } = await import("./start.js");
    if (!this.#ctx.signal.aborted && !this.#start.hasChildNodes()) this.#start.append(startSection(this.#ctx.signal, answer.runs[0]?.id ?? null));
  }

  /** Asked for together with the list (server/http/views.def too), for that waits for it. @returns {Promise<import("../api/types.js").Since | null>} */
  #askSince() {
    const { text, status } = this.#filter;
    this.#since.hidden = !!(text || status);
    return this.#since.hidden ? Promise.resolve(null) : getSince(this.#ctx.signal).catch(() => null); // the list is there without it
  }

  /** What changed since yesterday stands above the list before that is drawn; then it is read with it. @param {import("../api/types.js").RunList} answer @param {Promise<import("../api/types.js").Since | null>} asked */
  async #tell(answer, asked) {
    const since = (answer.total_runs ?? 0) > START_MOST ? await asked : null;
    if (since) sinceSection(this.#since, since);
  }

  /** What can be chosen, with how many runs have it. @param {import("../api/types.js").Facets | undefined} facets */
  #fillFields(facets) {
    const now = /** @type {Record<string, string | undefined>} */ (parseQuery(this.#filter.text));
    for (const field of FIELDS) {
      const el = this.#fields[field];
      const values = [...(facets?.[field] ?? [])];
      const chosen = now[field] ?? "";
      if (chosen && !values.some(([v]) => v === chosen)) values.push([chosen, 0]);
      const options = [h("option", { value: "" }, `Every ${field}`), ...values.map(([v, n]) => h("option", { value: v }, `${field === "verdict" ? (VERDICTS[v] ?? v) : v} (${count(n)})`))];
      // Not while it is open: a list that changes under the pointer is worse than an old one.
      if (el.childElementCount !== options.length || (document.activeElement !== el && el.textContent !== options.map((o) => o.textContent).join(""))) el.replaceChildren(...options);
      el.value = chosen;
      el.disabled = values.length < 2 && !chosen;
    }
  }

  /** Filters that match nothing: each can be dropped, and says how many runs it has alone. */
  async #noMatch() {
    const turn = this.#asked;
    const parts = drops(this.#filter.text, this.#filter.status);
    const alone = parts.map((p) => (p.label === `status:${this.#filter.status}` ? { q: "", status: this.#filter.status } : { ...parseQuery(p.label), status: "" }));
    const totals = await Promise.all(alone.map((q) => listRuns({ ...q, limit: 1 }, this.#ctx.signal).then((a) => a.total ?? a.runs.length))).catch(() => []);
    if (turn !== this.#asked || this.#ctx.signal.aborted) return;
    const hint = parts.length > 1 && totals.length ? aloneText(parts.map((p) => p.label), totals) : "Remove the filter to see every run.";
    const acts = parts.map((p) => button(`Drop ${p.label}`, () => this.#change({ text: p.text, status: p.status })));
    const title = `No run matches ${parts.map((p) => p.label).join(" ")}`;
    const wrong = mistakes(this.#filter.text).map((m) => h("p", { class: "errline" }, m));
    const state = stateWell(title, ...wrong, h("p", {}, hint), h("div", { class: "acts" }, acts));
    if (this.#place.textContent !== state.textContent) this.#place.replaceChildren(state); // else its buttons keep the focus
  }
}
