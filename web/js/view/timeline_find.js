// js/view/timeline_find.js -- events looked for by a part of their name: how many there are in the
// whole run, and from one to the next.  The server looks, through all that it has stored.

import { h, button } from "./dom.js";
import { remember } from "./router.js";
import { foundFigures, foundText, sliceOf } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */
/** @typedef {import("../model/timeline.js").View} View */

/**
 * @typedef {object} Looking
 * @property {(q: string) => Promise<View>} look all of it, with what is found
 * @property {(params: Record<string, string | number>) => ReturnType<typeof import("../api/client.js").findEvent>} seek
 * @property {(q: string, whole: View | null) => void} found null: nothing is looked for any more
 * @property {(slice: Slice, info: any) => void} go
 * @property {() => {t0: number, t1: number}} window
 * @property {() => void} left with Escape
 */

const WAIT_MS = 200;
const MOST_CHARS = 60; // the server takes 200 bytes

export class Finder {
  #how;
  #signal;
  #field = h("input", { class: "field", type: "search", placeholder: "Find by name", "aria-label": "Find events by name", maxlength: MOST_CHARS, autocomplete: "off", spellcheck: "false" });
  #told = h("span", { class: "sub small told", role: "status" });
  #steps;
  #waiting = 0;
  /** What was looked for last, and when that is done. */
  #q = "";
  /** @type {Promise<View | null>} */
  #done = Promise.resolve(null);
  /** @type {Slice | null} the one that was gone to */
  #at = null;
  #turn = 0;

  /** @param {Looking} how @param {AbortSignal} signal */
  constructor(how, signal) {
    this.#how = how;
    this.#signal = signal;
    const by = (/** @type {string} */ sign, /** @type {string} */ name, /** @type {number} */ n) => button(sign, () => this.step(n), { "aria-label": name, title: name });
    this.#steps = h("span", { class: "steps", hidden: true }, by("\u2039", "The one before", -1), by("\u203a", "The next one", 1));
    this.el = h("div", { class: "find", role: "search", "aria-label": "Events" }, this.#field, this.#steps, this.#told);
    this.#field.addEventListener("input", () => {
      clearTimeout(this.#waiting);
      this.#waiting = setTimeout(() => this.#look(), WAIT_MS);
    });
    this.#field.addEventListener("keydown", (e) => this.#key(e));
    signal.addEventListener("abort", () => clearTimeout(this.#waiting), { once: true });
  }

  focus() {
    this.#field.focus();
    this.#field.select();
  }

  /** As the address has it. @param {string} q */
  start(q) {
    this.#field.value = q.slice(0, MOST_CHARS);
    if (q) this.#look();
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    if (e.key !== "Enter" && e.key !== "Escape") return;
    e.preventDefault();
    if (e.key === "Enter") return this.step(e.shiftKey ? -1 : 1);
    if (!this.#field.value) return this.#how.left();
    this.#field.value = "";
    return this.#look();
  }

  #look() {
    clearTimeout(this.#waiting);
    const q = this.#field.value.trim();
    if (q === this.#q) return;
    this.#q = q;
    this.#at = null;
    remember({ q });
    this.#done = this.#ask(q);
  }

  /** @param {string} q @returns {Promise<View | null>} null: it failed, or another is looked for by now */
  async #ask(q) {
    if (!q) {
      this.#tell("", 0);
      this.#how.found("", null);
      return null;
    }
    this.#told.textContent = "Looking through all events.";
    try {
      const whole = await this.#how.look(q);
      if (this.#signal.aborted || q !== this.#q || !whole.found) return null;
      this.#tell(foundText(whole.found, q), whole.found.events);
      this.#how.found(q, whole);
      return whole;
    } catch (e) {
      if (!this.#signal.aborted && q === this.#q) this.#tell(/** @type {Error} */ (e).message, 0);
      return null;
    }
  }

  /** @param {string} text @param {number} events */
  #tell(text, events) {
    this.#told.textContent = text;
    this.#steps.hidden = events === 0;
  }

  /** To the next, or the last before; round at the ends. @param {number} by */
  async step(by) {
    this.#look();
    const turn = ++this.#turn;
    const whole = await this.#done;
    if (!whole?.found?.events || turn !== this.#turn) return;
    const back = by < 0 ? 1 : 0;
    const { t0, t1 } = this.#how.window();
    /** @type {Record<string, number>} */
    const from = this.#at
      ? { at: this.#at.start, lane: this.#at.lane, duration: this.#at.duration, name: this.#at.name }
      : { at: Math.floor(back ? t1 : t0) };
    try {
      let told = await this.#how.seek({ q: this.#q, back, ...from });
      if (!told.event) told = await this.#how.seek({ q: this.#q, back, at: back ? Math.ceil(whole.span) + 1 : 0 });
      if (this.#signal.aborted || turn !== this.#turn || !told.event) return;
      this.#at = sliceOf(told.event);
      this.#tell(foundText(foundFigures(told), this.#q, told.index), told.events);
      this.#how.go(this.#at, told.event.info);
    } catch (e) {
      if (!this.#signal.aborted) this.#tell(/** @type {Error} */ (e).message, 0);
    }
  }
}
