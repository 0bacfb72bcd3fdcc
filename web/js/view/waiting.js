// js/view/waiting.js -- a place whose content is asked for: until it comes grey lines (css/base.css: busy and empty), or what
// was there before, pale; where it does not come why not, and a button that asks again.

import { h, button, prose } from "./dom.js";
import { asSentence } from "../model/format.js";

/** @param {string} what "The texts" @param {any} e @param {() => void} again */
export function failure(what, e, again) {
  return h("div", { class: "failure", role: "alert" }, h("p", {}, h("b", {}, `${what} could not be read.`), " ", prose(asSentence(e?.message ?? String(e)))), button("Try again", again));
}

/**
 * @template T
 * @param {HTMLElement} place @param {{what: string, signal: AbortSignal, still?: () => boolean}} of still: whether it is wanted when it comes
 * @param {() => Promise<T>} read @param {(it: T) => void} show fills the place
 */
export async function fillIn(place, of, read, show) {
  const wanted = () => !of.signal.aborted && of.still?.() !== false;
  if (place.querySelector(":scope > .failure")) place.replaceChildren();
  place.classList.add("fills");
  place.setAttribute("aria-busy", "true");
  try {
    const it = await read();
    if (!wanted()) return;
    show(it);
  } catch (e) {
    if (!wanted()) return;
    place.replaceChildren(failure(of.what, e, () => fillIn(place, of, read, show)));
  }
  place.removeAttribute("aria-busy");
}
