// js/view/run_picker.js -- a run chosen from a dialog: a search, and what it finds.
//
// The keyboard stays in the search: up and down move through the list, Enter takes, Escape
// leaves it as it was.

import { h, add, chip, loadStyle } from "./dom.js";
import { listRuns } from "../api/client.js";
import { age, plural, ratio } from "../model/format.js";
import { parseQuery } from "../model/query.js";
import { chipClass } from "../model/sentence.js";

/** @typedef {import("../api/types.js").RunRow} RunRow */
/**
 * @typedef {object} Wanted
 * @property {string} title what the run is chosen for
 * @property {string} [like] a name: runs of it come first
 * @property {readonly string[]} [taken] ids that are not offered
 * @property {(run: RunRow) => boolean} [fits] whether it can be chosen; where left out, what was measured
 */

const MOST = 50;
const TYPING_MS = 150;

/** Of a list's row, whatever was measured there. @param {RunRow} r */
const measured = (r) => Boolean(r.modes?.length);

/** @param {RunRow} r @param {number} i */
function option(r, i) {
  const s = r.summary;
  const judged = s ? [chip(chipClass(s.verdict), s.verdict), " ", h("span", { class: "num-strong" }, s.speedup === null ? "" : ratio(s.speedup, s.speedup_ci).text)] : null;
  const commit = r.commit ? `commit ${r.commit.slice(0, 7)}` : "";
  const facts = [r.device?.toUpperCase(), r.project, r.branch, commit, r.tags?.join(", "), age(r.created_ns / 1e6, Date.now())].filter(Boolean);
  const head = h("span", { class: "what" }, h("b", {}, r.name), " ", h("span", { class: "mono dim" }, `#${r.id}`), r.baseline ? [" ", chip("plain", "baseline")] : null);
  return h("li", { role: "option", id: `picker-${i}`, "aria-selected": "false", data: { run: String(r.id) } }, head, h("span", { class: "judged" }, judged), h("span", { class: "facts sub small" }, facts.join(", ")));
}

/**
 * What the search finds, without what is not offered; with nothing typed runs of the name first.
 * @param {string} text @param {Wanted} wanted @param {AbortSignal} signal @returns {Promise<RunRow[]>}
 */
async function find(text, { like, taken = [], fits = measured }, signal) {
  const ask = (/** @type {string} */ q) => listRuns({ ...parseQuery(q), status: "done", limit: MOST }, signal);
  const answers = await Promise.all(text || !like ? [ask(text)] : [listRuns({ q: like, status: "done", limit: MOST }, signal), ask("")]);
  const near = answers.length > 1 ? answers[0].runs.filter((r) => r.name === like) : [];
  const all = [...near, ...answers[answers.length - 1].runs];
  return all.filter((r, i) => fits(r) && !taken.includes(String(r.id)) && all.findIndex((x) => x.id === r.id) === i).slice(0, MOST);
}

class Picker {
  #wanted;
  #input = h("input", { class: "field", type: "search", role: "combobox", "aria-label": "Search the runs", "aria-expanded": "true", "aria-controls": "picker-list", "aria-autocomplete": "list", placeholder: "Name, commit, #7, verdict:slower, tag:nightly", autocomplete: "off", autofocus: true });
  #list = h("ul", { id: "picker-list", role: "listbox", "aria-label": "Runs", tabindex: -1 });
  #said = h("p", { class: "small sub", role: "status" });
  /** @type {RunRow[]} */
  #runs = [];
  #at = -1;
  #asked = new AbortController();
  /** @type {RunRow | null} */
  chosen = null;
  /** @type {HTMLDialogElement} */
  el;

  /** @param {Wanted} wanted */
  constructor(wanted) {
    this.#wanted = wanted;
    const close = h("form", { method: "dialog", class: "acts" }, h("button", { class: "btn" }, "Close"));
    const keys = h("p", { class: "small dim keyline" }, h("kbd", {}, "↑"), " ", h("kbd", {}, "↓"), " move, ", h("kbd", {}, "Enter"), " takes it");
    this.el = h("dialog", { class: "picker", "aria-labelledby": "picker-title" }, h("div", { class: "bar" }, h("h2", { id: "picker-title" }, wanted.title), close), this.#input, this.#list, h("div", { class: "bar" }, this.#said, keys));
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let typing;
    this.#input.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => this.#ask(), TYPING_MS);
    });
    this.#input.addEventListener("keydown", (e) => this.#key(e));
    this.#list.addEventListener("click", (e) => {
      const li = e.target instanceof Element ? e.target.closest("li") : null;
      if (li) this.#take(this.#runs.findIndex((r) => String(r.id) === li.dataset.run));
    });
    this.el.addEventListener("close", () => this.#asked.abort());
    this.#ask();
  }

  async #ask() {
    this.#asked.abort();
    this.#asked = new AbortController();
    const { signal } = this.#asked;
    try {
      const runs = await find(this.#input.value.trim(), this.#wanted, signal);
      if (!signal.aborted) this.#show(runs);
    } catch (e) {
      if (!signal.aborted) this.#said.textContent = e instanceof Error ? e.message : String(e);
    }
  }

  /** @param {RunRow[]} runs */
  #show(runs) {
    this.#runs = runs;
    this.#list.replaceChildren();
    add(this.#list, runs.map(option));
    this.#said.textContent = runs.length ? `${plural(runs.length, "run")}${runs.length < MOST ? "" : " or more"}` : "No run that can be chosen matches.";
    this.#mark(runs.length ? 0 : -1);
  }

  /** @param {number} at */
  #mark(at) {
    this.#at = at;
    [...this.#list.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === at)));
    this.#list.children[at]?.scrollIntoView({ block: "nearest" });
    if (at < 0) this.#input.removeAttribute("aria-activedescendant");
    else this.#input.setAttribute("aria-activedescendant", `picker-${at}`);
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const last = this.#runs.length - 1;
    const to = { ArrowDown: Math.min(last, this.#at + 1), ArrowUp: Math.max(0, this.#at - 1), PageDown: Math.min(last, this.#at + 8), PageUp: Math.max(0, this.#at - 8) }[e.key];
    if (e.key === "Enter") this.#take(this.#at);
    else if (e.key === "Escape") this.el.close(); // a search field would only be cleared
    else if (to !== undefined && last >= 0) this.#mark(to);
    else return;
    e.preventDefault();
  }

  /** @param {number} at */
  #take(at) {
    if (!this.#runs[at]) return;
    this.chosen = this.#runs[at];
    this.el.close();
  }
}

/** @param {Wanted} wanted @returns {Promise<RunRow | null>} null where nothing was chosen */
export async function pickRun(wanted) {
  await loadStyle("picker");
  const picker = new Picker(wanted);
  document.body.append(picker.el);
  picker.el.showModal();
  return new Promise((resolve) => {
    picker.el.addEventListener("close", () => {
      picker.el.remove();
      resolve(picker.chosen);
    });
  });
}
