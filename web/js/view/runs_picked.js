// js/view/runs_picked.js -- runs that are selected in the list, and what is done with them.
//
// The oldest is A, what the others are held against.

import { h, button, say } from "./dom.js";
import { go } from "./router.js";
import { compareUrl } from "../model/compare.js";
import { plural } from "../model/format.js";

const MOST = 8;

export class Picked {
  /** @type {Set<string>} */
  ids = new Set();
  bar = h("div", { class: "picked", role: "region", "aria-label": "Selected runs", hidden: true });
  /** @type {HTMLElement | null} */
  #place = null;

  /** @param {HTMLElement} place the list, whose boxes come and go */
  watch(place) {
    this.#place = place;
    place.addEventListener("change", (e) => {
      const box = e.target;
      if (box instanceof HTMLInputElement && box.dataset.run) this.#set(box.dataset.run, box.checked);
    });
  }

  /** x selects the run that has the focus, c compares. */
  keys() {
    return { x: () => this.#toggle(), c: () => this.#compare() };
  }

  #toggle() {
    const row = document.activeElement?.closest("tr");
    const box = row?.querySelector("input.pick");
    if (!(box instanceof HTMLInputElement) || box.disabled) return;
    box.checked = !box.checked;
    this.#set(String(box.dataset.run), box.checked);
  }

  /** @param {string} id @param {boolean} on */
  #set(id, on) {
    if (on) this.ids.add(id);
    else this.ids.delete(id);
    this.#draw();
  }

  #inOrder() {
    return [...this.ids].sort((a, b) => Number(a) - Number(b));
  }

  #compare() {
    if (this.ids.size > 1 && this.ids.size <= MOST) go(compareUrl(this.#inOrder()));
    else say(this.ids.size > MOST ? `At most ${MOST} runs are compared at once.` : "Select two runs or more to compare them.");
  }

  #clear() {
    this.ids.clear();
    for (const box of this.#place?.querySelectorAll("input.pick") ?? []) /** @type {HTMLInputElement} */ (box).checked = false;
    this.#draw();
  }

  #draw() {
    const [first, ...others] = this.#inOrder();
    const n = this.ids.size;
    const text = n > MOST ? `${plural(n, "run")} selected; at most ${MOST} are compared at once` : n < 2 ? `#${first} is selected; select what to compare it with` : `${others.map((id) => `#${id}`).join(", ")} beside #${first}`;
    const compare = button("Compare", () => this.#compare(), { class: "btn primary", disabled: n < 2 || n > MOST });
    this.bar.replaceChildren(h("span", {}, text), h("div", { class: "acts" }, button("Clear", () => this.#clear()), compare));
    this.bar.hidden = n === 0;
    say(n ? `${plural(n, "run")} selected.` : "");
  }
}
