// js/view/runs_picked.js -- runs that are selected in the list, and what is done with them.
//
// Of those that are compared the oldest is A, what the others are held against.

import { h, button, say } from "./dom.js";
import { go } from "./router.js";
import { changeRuns, removeRuns, tagsOf } from "./run_changes.js";
import { compareUrl } from "../model/compare.js";
import { plural } from "../model/format.js";

/** @typedef {import("../api/types.js").RunRow} RunRow */

const MOST = 8;

/** A measured workload. @param {RunRow} r */
const comparable = (r) => r.status === "done" && !!r.modes?.length;

/** What was recorded or imported has a timeline, which is compared with one other. @param {RunRow} r */
const traced = (r) => r.status === "done" && !r.modes?.length;

export class Picked {
  /** @type {Set<string>} */
  ids = new Set();
  bar = h("div", { class: "picked", role: "region", "aria-label": "Selected runs", hidden: true });
  /** @type {HTMLElement | null} */
  #place = null;
  /** @type {Map<string, RunRow>} as they were when they were selected */
  #rows = new Map();
  /** @type {HTMLInputElement | null} the box that was set last */
  #last = null;
  #tags = h("input", { class: "field", "aria-label": "Tags to add or remove, separated by commas", placeholder: "tag, another" });
  #find;
  #again;

  /** @param {(id: string) => RunRow | undefined} find @param {() => unknown} again the list is to be read again */
  constructor(find, again) {
    this.#find = find;
    this.#again = again;
    this.#tags.addEventListener("keydown", (e) => {
      if (e.key === "Enter") this.#tag(true);
      if (e.key === "Escape") this.#clear();
    });
  }

  /** @param {HTMLElement} place the list, whose boxes come and go */
  watch(place) {
    this.#place = place;
    let shift = false;
    place.addEventListener("click", (e) => (shift = e.shiftKey), { capture: true });
    place.addEventListener("change", (e) => {
      const box = e.target;
      if (!(box instanceof HTMLInputElement) || !box.dataset.run) return;
      for (const b of shift ? this.#between(box) : [box]) {
        b.checked = box.checked;
        this.#set(String(b.dataset.run), box.checked);
      }
      this.#last = box;
      this.#draw();
    });
  }

  /** The boxes from the one that was set last to this one. @param {HTMLInputElement} box */
  #between(box) {
    const all = /** @type {HTMLInputElement[]} */ ([...(this.#place?.querySelectorAll("input.pick:enabled") ?? [])]);
    const [from, to] = [all.findIndex((b) => b.dataset.run === this.#last?.dataset.run), all.indexOf(box)];
    return from < 0 ? [box] : all.slice(Math.min(from, to), Math.max(from, to) + 1);
  }

  /** x selects the run that has the focus, c compares, t tags, p pins, Delete deletes. */
  keys() {
    return { x: () => this.#toggle(), c: () => this.#compare(), t: () => this.#tags.isConnected && this.#tags.focus(), p: () => this.#pin(), Delete: () => this.#remove() };
  }

  #toggle() {
    const row = document.activeElement?.closest("tr");
    const box = row?.querySelector("input.pick");
    if (!(box instanceof HTMLInputElement) || box.disabled) return;
    box.checked = !box.checked;
    this.#set(String(box.dataset.run), box.checked);
    this.#last = box;
    this.#draw();
  }

  /** @param {string} id @param {boolean} on */
  #set(id, on) {
    const row = this.#find(id);
    if (on) this.ids.add(id);
    else this.ids.delete(id);
    if (on && row) this.#rows.set(id, row);
    else this.#rows.delete(id);
  }

  #runs() {
    return [...this.#rows.values()];
  }

  #inOrder() {
    return [...this.ids].sort((a, b) => Number(a) - Number(b));
  }

  #canCompare() {
    const runs = this.#runs();
    return this.ids.size > 1 && this.ids.size <= MOST && (runs.every(comparable) || (runs.length === 2 && runs.every(traced)));
  }

  #compare() {
    if (this.#canCompare()) go(compareUrl(this.#inOrder(), new URLSearchParams(this.#runs().every(traced) ? { view: "timelines" } : {})));
    else say(this.ids.size > MOST ? `At most ${MOST} runs are compared at once.` : this.ids.size > 1 ? "Only runs that are done and have modes can be compared, or two that were recorded or imported." : "Select two runs or more to compare them.");
  }

  /** @param {boolean} add */
  #tag(add) {
    const tags = tagsOf(this.#tags.value);
    if (!tags.length || !this.ids.size) return this.#tags.focus();
    const change = (/** @type {RunRow} */ r) => ({ tags: add ? [...new Set([...(r.tags ?? []), ...tags])] : (r.tags ?? []).filter((t) => !tags.includes(t)) });
    return this.#done(changeRuns(this.#runs(), change, add ? `tagged ${tags.join(", ")}` : `no longer tagged ${tags.join(", ")}`, this.#again));
  }

  #pin() {
    if (!this.ids.size) return undefined;
    const pinned = !this.#runs().every((r) => r.pinned);
    return this.#done(changeRuns(this.#runs(), () => ({ pinned }), pinned ? "pinned" : "no longer pinned", this.#again));
  }

  #baseline() {
    const [run] = this.#runs();
    const baseline = !run.baseline;
    return this.#done(changeRuns([run], () => ({ baseline }), baseline ? "is the baseline of its workload" : "is no longer the baseline", this.#again));
  }

  #remove() {
    return this.ids.size ? this.#done(removeRuns(this.#runs(), this.#again)) : undefined;
  }

  /** @param {Promise<unknown>} change */
  #done(change) {
    this.#tags.value = "";
    this.#clear();
    return change;
  }

  #clear() {
    this.ids.clear();
    this.#rows.clear();
    for (const box of this.#place?.querySelectorAll("input.pick") ?? []) /** @type {HTMLInputElement} */ (box).checked = false;
    this.#draw();
  }

  #words() {
    const [first, ...others] = this.#inOrder();
    const n = this.ids.size;
    if (n > MOST) return `${plural(n, "run")} selected`;
    if (n < 2) return `#${first} is selected${this.#runs().every(comparable) ? "; select what to compare it with" : ""}`;
    return this.#canCompare() ? `${others.map((id) => `#${id}`).join(", ")} beside #${first}` : `${plural(n, "run")} selected`;
  }

  #draw() {
    const n = this.ids.size;
    const all = this.#runs();
    const compare = button("Compare", () => this.#compare(), { class: "btn primary", disabled: !this.#canCompare() });
    const one = n === 1 && comparable(all[0]) ? button(all[0].baseline ? "No baseline" : "Baseline", () => this.#baseline()) : null;
    const tags = h("div", { class: "tagging" }, this.#tags, button("Tag", () => this.#tag(true)), button("Untag", () => this.#tag(false)));
    const acts = h("div", { class: "acts" }, button(all.every((r) => r.pinned) ? "Unpin" : "Pin", () => this.#pin()), one, button("Delete", () => this.#remove()), button("Clear", () => this.#clear()), compare);
    const focused = document.activeElement === this.#tags;
    this.bar.replaceChildren(h("span", { class: "grow" }, this.#words()), tags, acts);
    if (focused && n) this.#tags.focus();
    this.bar.hidden = n === 0;
    say(n ? `${plural(n, "run")} selected.` : "");
  }
}
