// js/view/runs.js -- the list of runs, its search and its empty states.
//
// The list is asked again every two seconds while something waits or runs; only
// its rows are replaced, and the focus stays on the row where it was.

import { h, add, button, say, select, stateWell } from "./dom.js";
import { go, pause, remember } from "./router.js";
import { onKeys, jobsChanged } from "./frame.js";
import { runTable } from "./run_rows.js";
import { getExamples, listRuns, postRun } from "../api/client.js";
import { count, plural } from "../model/format.js";
import { drops, parseQuery } from "../model/query.js";
import { runLine } from "../model/commands.js";

/** @typedef {import("../api/types.js").RunRow} RunRow */
/** @typedef {{text: string, status: string, rows: number}} Filter */

const PAGE = 50;
const LIVE_MS = 2000;
const IDLE_MS = 15000;
const TYPING_MS = 200;
const STATUSES = ["running", "queued", "done", "failed", "cancelled"];

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
  #total = h("span", { class: "sub small nw", id: "run-count" });
  #place = h("div", { id: "run-list", "aria-busy": "true" });
  #asked = 0;

  /** @param {import("./router.js").Context} ctx */
  constructor(ctx) {
    this.#ctx = ctx;
    this.#filter = { text: ctx.query.get("q") ?? "", status: ctx.query.get("status") ?? "", rows: PAGE };
    const hint = "Search, or device:cpu tag:nightly project:bench";
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
    onKeys(ctx.signal, { j: () => this.#move(1), k: () => this.#move(-1), "/": () => this.#search.focus() });
  }

  elements() {
    const create = h("div", { class: "acts" }, h("a", { class: "btn primary", href: "/new" }, "New run"));
    const head = h("div", { class: "head list" }, h("div", { class: "titles" }, h("h1", {}, "Runs")), create);
    const total = h("div", { class: "acts" }, this.#total);
    const form = h("form", { class: "bar", role: "search" }, this.#search, this.#status, total);
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
    return [head, form, this.#place];
  }

  /** @returns {Promise<boolean>} whether something still waits or runs */
  async load() {
    const turn = ++this.#asked;
    /** @type {RunRow[]} */
    const runs = [];
    let next;
    let total = 0;
    do {
      const params = { ...parseQuery(this.#filter.text), status: this.#filter.status, limit: PAGE, cursor: next };
      const answer = await listRuns(params, this.#ctx.signal);
      runs.push(...answer.runs);
      next = answer.next ?? undefined;
      total = answer.total ?? runs.length;
    } while (next && runs.length < this.#filter.rows);
    if (turn !== this.#asked || this.#ctx.signal.aborted) return false;
    this.#draw(runs, total, next !== undefined);
    return runs.some((r) => r.status === "running" || r.status === "queued");
  }

  /** @param {Partial<Filter>} filter */
  #change(filter) {
    Object.assign(this.#filter, filter);
    if (this.#search.value !== this.#filter.text) this.#search.value = this.#filter.text;
    this.#status.value = this.#filter.status;
    remember({ q: this.#filter.text, status: this.#filter.status });
    this.load().catch(() => {});
  }

  /**
   * @param {readonly RunRow[]} runs
   * @param {number} total
   * @param {boolean} more
   */
  #draw(runs, total, more) {
    const place = this.#place;
    const { text, status, rows } = this.#filter;
    const focus = place.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : null;
    place.setAttribute("aria-busy", "false");
    this.#total.textContent = runs.length ? `${count(runs.length)} of ${plural(total, "run")}` : "";
    if (runs.length) place.replaceChildren(runTable(runs));
    else if (text || status) place.replaceChildren(this.#noMatch());
    else if (!place.querySelector(".state")) place.replaceChildren(empty());
    if (more)
      add(
        place,
        h(
          "p",
          { class: "more" },
          button("Show more", () => this.#change({ rows: rows + PAGE })),
        ),
      );
    if (focus) /** @type {HTMLElement | null} */ (place.querySelector(`a[href="${CSS.escape(focus)}"]`))?.focus();
  }

  /** Filters that match nothing: each can be dropped. */
  #noMatch() {
    const parts = drops(this.#filter.text, this.#filter.status);
    const hint = parts.length > 1 ? "Drop one of the filters to see more." : "Drop the filter to see every run.";
    const acts = parts.map((p) => button(`Drop ${p.label}`, () => this.#change({ text: p.text, status: p.status })));
    const title = `No run matches ${parts.map((p) => p.label).join(" ")}`;
    return stateWell(title, h("p", {}, hint), h("div", { class: "acts" }, acts));
  }

  /** Focus to the next or previous run. @param {1 | -1} by */
  #move(by) {
    const links = /** @type {HTMLElement[]} */ ([...this.#place.querySelectorAll("tbody th a")]);
    const at = links.findIndex((a) => a === document.activeElement);
    const first = by > 0 ? 0 : links.length - 1;
    links[at < 0 ? first : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
  }
}

/** The first minute of the product: the first example is one press away. */
function empty() {
  const why = h("p", { class: "errline" });
  const command = h("pre", { tabindex: 0, role: "region", "aria-label": "The same as a command", hidden: true });
  const acts = h("div", { class: "acts" }, h("a", { class: "btn", href: "/new" }, "Write a function"));
  getExamples().then(
    ({ examples }) => {
      if (!examples?.length) return;
      acts.prepend(starter(examples[0], why));
      command.textContent = runLine(examples[0].workload);
      command.hidden = false;
    },
    () => {
      /* writing a function still works */
    },
  );
  const text =
    "Post a function and see whether compiling it pays. The chain sweep measures a body of 1 to 30 " +
    "statements in every mode, on this machine.";
  return stateWell("No runs yet", h("p", {}, text), acts, why, command);
}

/**
 * A button that runs an example.
 * @param {import("../api/types.js").Example} example
 * @param {HTMLElement} why where a refusal is shown
 */
function starter(example, why) {
  const start = button(
    `Run ${example.name.replace(/_/g, " ")}`,
    async () => {
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
    },
    { class: "btn primary" },
  );
  return start;
}
