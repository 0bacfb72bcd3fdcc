// js/view/long_list.js -- a list that shows its first items, and all of them at a press.
//
// What comes from the picked line is shown in any case, and marked (joined.js marks the rest).

import { h, button } from "./dom.js";
import { onPick, picked } from "./pick.js";
import { keyOf } from "../model/places.js";

const SLACK = 1.5; // what is hardly longer is shown whole

/**
 * @template T
 * @param {AbortSignal} signal
 * @param {HTMLElement} el an empty list
 * @param {readonly T[]} all
 * @param {(item: T, i: number) => HTMLElement} make
 * @param {number} few
 * @param {(item: T, place: string) => boolean} [isOf] whether it comes from a line of the source, a placeKey()
 * @returns {(HTMLElement | null)[]} the list, and the button for the rest
 */
export function longList(signal, el, all, make, few, isOf = () => false) {
  let whole = all.length <= few * SLACK;
  const fill = () => {
    const now = picked();
    const items = all.flatMap((item, i) => {
      const of = now.line > 0 && isOf(item, keyOf(now));
      if (!whole && i >= few && !of) return [];
      const one = make(item, i);
      one.classList.toggle("joined", of);
      return [one];
    });
    el.replaceChildren(...items);
  };
  fill();
  if (whole) return [el, null];
  const more = button(`Show all ${all.length}`, () => {
    whole = true;
    fill();
    acts.remove();
  });
  const acts = h("div", { class: "acts" }, more);
  onPick(signal, () => whole || fill());
  return [el, acts];
}
