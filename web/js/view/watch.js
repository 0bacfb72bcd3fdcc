// js/view/watch.js -- *Watch*: a program runs again whenever it has changed, and the page shows what that changed
// against the last run.
//
// What changes it is typing in the form, or a file on this computer that is saved elsewhere, where the browser gives
// access to files; where it does not, the command that does the same is shown.  A run that is under way when the
// next begins is cancelled.

import { h, button, chip, copyButton, section, spoken } from "./dom.js";
import { jobsChanged } from "./frame.js";
import { deleteRun, followRun, getComparison, getRun, postRun } from "../api/client.js";
import { compareUrl } from "../model/compare.js";
import { plural } from "../model/format.js";
import { chipClass } from "../model/sentence.js";

/** @typedef {import("../api/types.js").Workload} Workload */
/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {{text: () => Promise<string>, lastModified: number}} Saved */
/**
 * @typedef {object} Watched
 * @property {() => {workload: Workload, errors: readonly unknown[]}} asked what would run now
 * @property {(text: string, name: string) => string | null} take the text of a file that was saved; why it is not taken
 * @property {() => {line: string, without: readonly string[]}} command that watches a file with these settings
 * @property {AbortSignal} signal
 * @property {Run} [run] that is on the page, and that the first one is held against; without it the form is
 */

/** Nobody types for so long: what is there is meant. */
const STILL_MS = 1000;
const LOOK_MS = 500;
const SHOWN = 5;
/** What its runs are found by. */
const TAG = "watch";

export class Watch {
  #of;
  #signal;
  #on = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #still;
  #posted = "";
  /** @type {string | null} the run that is under way */
  #current = null;
  /** @type {string | null} the last that is done */
  #last = null;
  /** @type {AbortController | null} */
  #following = null;
  /** @type {AbortController | null} of the file that is looked at */
  #picked = null;
  #name = "";
  #state = h("p", { class: "small sub", id: "watch-state", role: "status" });
  #rows = h("ul", { class: "watched" });
  #help = h("div", { hidden: true });
  toggle = button("Watch", () => this.#set(!this.#on), { class: "btn", id: "watch", "aria-pressed": false, title: "Run again whenever the program changes" });
  file = button("Watch a file", () => this.pick(), { class: "btn" });
  el;

  /** @param {Watched} of */
  constructor(of) {
    this.#of = of;
    this.#signal = of.signal;
    if (of.run?.status === "done") this.#last = String(of.run.id);
    if (of.run) this.#posted = JSON.stringify(of.asked().workload);
    if (of.run) this.toggle.textContent = "Watching"; // beside the button that began it
    this.el = section("Runs on save", null, of.run ? this.toggle : null, this.#help, this.#state, this.#rows);
    this.el.hidden = true;
    of.signal.addEventListener("abort", () => clearTimeout(this.#still), { once: true });
  }

  /** The program or its settings are others. */
  changed() {
    if (!this.#on) return;
    clearTimeout(this.#still);
    this.#still = setTimeout(() => this.#run(), STILL_MS);
  }

  /** @param {boolean} on */
  #set(on) {
    this.#on = on;
    this.toggle.setAttribute("aria-pressed", String(on));
    this.el.hidden = !on && !this.#rows.childElementCount;
    clearTimeout(this.#still);
    this.#state.textContent = on ? `${this.#name || "The program"} is unchanged: it runs when it changes.` : "No longer watching.";
    if (on) this.#run();
  }

  async #run() {
    const { workload, errors } = this.#of.asked();
    const asked = JSON.stringify(workload);
    if (errors.length) {
      this.#state.textContent = `Not run: ${plural(errors.length, "field needs", "fields need")} another value.`;
      return;
    }
    if (asked === this.#posted) return;
    this.#posted = asked;
    this.#following?.abort();
    if (this.#current) deleteRun(this.#current).catch(() => {}); // it may have ended just now
    this.#current = null;
    try {
      const { id } = await postRun({ ...workload, tags: [...new Set([...(workload.tags ?? []), TAG])] });
      jobsChanged();
      this.#follow(String(id));
    } catch (e) {
      this.#state.textContent = `Not run: ${e instanceof Error ? e.message : e}`;
    }
  }

  /** @param {string} id */
  #follow(id) {
    this.#current = id;
    this.#following = new AbortController();
    const { signal } = this.#following;
    this.#signal.addEventListener("abort", () => this.#following?.abort(), { once: true });
    this.#state.textContent = `#${id} runs.`;
    followRun(id, signal, (e) => (this.#state.textContent = `#${id}: ${e.what || e.status}, ${Math.round(100 * (e.progress ?? 0))} %`), async () => {
      const run = await getRun(id, signal).catch(() => null);
      if (!run || signal.aborted) return;
      this.#current = null;
      jobsChanged();
      const row = await this.#row(run, signal);
      if (signal.aborted) return;
      this.#rows.prepend(row);
      for (const old of [...this.#rows.children].slice(SHOWN)) old.remove();
      this.#state.textContent = this.#on ? `#${id} is ${run.status}. It runs again when the program changes.` : `#${id} is ${run.status}.`;
      if (run.status === "done") this.#last = id;
    });
  }

  /** What came out, and beside it what is other than in the last. @param {Run} run @param {AbortSignal} signal */
  async #row(run, signal) {
    const id = String(run.id);
    const link = h("a", { href: `/runs/${encodeURIComponent(id)}` }, `#${id}`);
    if (run.status !== "done") return h("li", {}, link, " ", chip(run.status, run.status === "failed" ? "FAILED" : run.status), " ", run.error?.line ? `line ${run.error.line}: ` : "", run.error?.message ?? "");
    const word = run.summary?.verdict;
    const answer = h("p", {}, link, " ", word ? [chip(chipClass(word), word), " "] : null, spoken(run.findings?.answer ?? []));
    return h("li", {}, answer, this.#last ? await this.#beside(this.#last, id, signal) : null);
  }

  /** @param {string} a @param {string} b @param {AbortSignal} signal */
  async #beside(a, b, signal) {
    const link = h("a", { href: compareUrl([a, b]) }, `Beside #${a}`);
    try {
      const { comparisons: [pair] } = await getComparison(new URLSearchParams([["a", a], ["b", b]]), signal);
      return h("p", { class: "sub" }, link, ": ", chip(chipClass(pair.verdict), pair.verdict), " ", spoken(pair.sentence));
    } catch (e) {
      return h("p", { class: "sub" }, link, `: ${e instanceof Error ? e.message : e}`);
    }
  }

  /** The same from a terminal. */
  #showCommand() {
    const { line, without } = this.#of.command();
    const pre = h("pre", { class: "curl", tabindex: 0, role: "region", "aria-label": "The command that watches a file" }, line);
    const lacks = without.length ? ` It has no flag for ${without.join(" or ")}.` : "";
    const words = `This browser gives pages no access to files. In a terminal this command does the same: it runs the file again at each save, with these settings.${lacks}`;
    this.#help.replaceChildren(h("p", {}, words), h("div", { class: "well" }, pre), h("div", { class: "acts" }, copyButton(() => line)));
    this.#help.hidden = false;
    this.toggle.hidden = this.#of.run !== undefined;
    this.el.hidden = false;
  }

  /** A file of this computer: read again whenever it is saved. */
  async pick() {
    if (!("showOpenFilePicker" in globalThis)) return this.#showCommand();
    /** @type {{name: string, getFile: () => Promise<Saved>}} */
    let handle;
    try {
      [handle] = await /** @type {any} */ (globalThis).showOpenFilePicker({ types: [{ description: "Python", accept: { "text/x-python": [".py"] } }] });
    } catch {
      return; // nothing was chosen
    }
    this.#picked?.abort();
    const { signal } = (this.#picked = new AbortController());
    this.#signal.addEventListener("abort", () => this.#picked?.abort(), { once: true });
    this.#name = handle.name;
    this.file.textContent = `Watching ${handle.name}`;
    let seen = -1;
    for (let first = true; !signal.aborted; first = false) {
      const saved = await handle.getFile().catch(() => null);
      if (!saved) {
        this.file.textContent = `${handle.name} cannot be read: watch another file`;
        return;
      }
      if (saved.lastModified !== seen) {
        seen = saved.lastModified;
        const refused = this.#of.take(await saved.text(), handle.name);
        if (refused) {
          this.file.textContent = "Watch a file";
          this.el.hidden = false;
          this.#state.textContent = refused;
          return;
        }
        if (first) this.#set(true);
      }
      await new Promise((done) => setTimeout(done, LOOK_MS));
    }
  }
}
