// js/view/follow.js -- a run that waits or is measured: how far it is, and the points of its sweep as they come.

import { progressState } from "./states.js";
import { jobsChanged } from "./frame.js";
import { followRun, getRun } from "../api/client.js";

/**
 * @param {import("../api/types.js").Run} run
 * @param {HTMLElement} place
 * @param {AbortSignal} signal
 * @param {() => unknown} onEnd
 * @param {{speedupOnly?: boolean}} [how] of growingCurves()
 */
export function follow(run, place, signal, onEnd, how) {
  const id = String(run.id);
  const state = progressState(run);
  let shown = 0;
  /** @type {ReturnType<typeof import("./curves.js").growingCurves> | null} */
  let curves = null;
  place.append(state.el);
  const draw = async () => {
    const [{ growingCurves }, { points = [] }] = await Promise.all([import("./curves.js"), getRun(id, signal)]);
    if (signal.aborted || !points.length) return;
    curves ??= growingCurves(run, signal, how);
    if (!curves.el.isConnected) place.append(curves.el);
    curves.update(points);
  };
  followRun(id, signal, (e) => {
    state.update(e);
    const { measured = 0 } = e;
    if (measured <= shown) return;
    shown = measured;
    draw().catch(() => {}); // the next point brings this one too
  }, () => {
    jobsChanged();
    onEnd();
  });
}
