// js/view/pick.js -- the one thing that is picked in a run, kept in the address.
//
// Views do not know of each other: each reads the address, and is called when it changes.

import { remember } from "./router.js";
import { readSelection, sameSelection, selectionParams } from "../model/selection.js";

/** @typedef {import("../model/selection.js").Selection} Selection */

export const picked = () => readSelection(new URLSearchParams(location.search));

/** @param {Partial<Selection>} what in place of all that was picked */
export const pick = (what) => remember(selectionParams(what));

/** Calls `act` when something else is picked. @param {AbortSignal} signal @param {(now: Selection) => void} act */
export function onPick(signal, act) {
  let was = picked();
  addEventListener(
    "addresschange",
    () => {
      const now = picked();
      if (sameSelection(was, now)) return;
      was = now;
      act(now);
    },
    { signal },
  );
}
