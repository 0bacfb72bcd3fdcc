// js/view/undo.js -- what was just done can be undone: by a button, and by the key u.
//
// It is offered for 10 s, and for as long as the offer has the pointer or the focus.

import { button, h } from "./dom.js";
import { onKeys } from "./frame.js";

const OFFER_MS = 10000;

/** The offer that stands. @type {AbortController | null} */
let offered = null;

/** @param {string} text what was done @param {() => Promise<unknown>} undo */
export function offerUndo(text, undo) {
  offered?.abort();
  const ends = new AbortController();
  offered = ends;
  const act = () => {
    ends.abort();
    undo();
  };
  const key = h("kbd", { "aria-hidden": "true" }, "u");
  const t = h("div", { class: "toast" }, h("span", {}, text), button("Undo", act, { "aria-keyshortcuts": "u", class: "btn undo" }), key);
  document.getElementById("toasts")?.replaceChildren(t);
  ends.signal.addEventListener("abort", () => t.remove());
  onKeys(ends.signal, { u: act });
  const wait = () => setTimeout(() => (t.matches(":hover, :focus-within") ? wait() : ends.abort()), OFFER_MS);
  wait();
}
