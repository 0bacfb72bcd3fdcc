// js/view/timeline.js -- what ran when in one mode, or in all processes of a trace: asked for, and shown.

import { h, add, button, stateWell } from "./dom.js";
import { chosen } from "./choose.js";
import { remember } from "./router.js";
import { ask, TimelinePage } from "./timeline_page.js";
import { modesOf, pointsOf } from "../model/curves.js";

/**
 * @typedef {object} Asked
 * @property {import("../api/types.js").Run} run
 * @property {string} mode
 * @property {number | null} n
 * @property {string} clocks "recorded": each rank has its own; "": as the server puts them right
 * @property {(clocks: string) => void} onClocks asks again, with others
 * @property {AbortSignal} signal
 */
/** @typedef {Omit<Asked, "clocks" | "onClocks">} Part */

const LIVE_MS = 2000;

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export function timelineTab(ctx, body, run, report) {
  const points = pointsOf(report);
  let shown = new AbortController();
  let { query } = ctx;
  const draw = (/** @type {import("../api/types.js").Point} */ point, /** @type {string} */ mode) => {
    // A place in another mode is another time; what is looked for is the same.
    if (query !== ctx.query) remember({ t0: null, t1: null, s0: null, s1: null, on: null, marks: null });
    shown.abort();
    shown = new AbortController();
    const n = typeof point.n === "number" ? point.n : null;
    const place = emptyPlace();
    load(place, { run, mode, n, signal: AbortSignal.any([ctx.signal, shown.signal]) }, query);
    query = new URLSearchParams({ q: new URL(location.href).searchParams.get("q") ?? "" });
    return [place];
  };
  add(body, chosen(ctx, "Timeline", points, modesOf(points), draw));
}

/**
 * All lanes of what another process recorded; `more` reads it again, at most once in two seconds.
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 */
export function traceTab(ctx, body, run) {
  const place = emptyPlace();
  let waiting = 0;
  let shown = new AbortController();
  const read = () => {
    shown.abort();
    shown = new AbortController();
    const signal = AbortSignal.any([ctx.signal, shown.signal]);
    return load(place, { run, mode: "", n: null, signal }, new URL(location.href).searchParams);
  };
  add(body, [h("div", { class: "bar gap" }, h("h2", {}, "Timeline")), place]);
  read();
  const more = () => {
    if (waiting || place.contains(document.activeElement)) return; // whoever looks closer is not disturbed
    waiting = setTimeout(() => {
      waiting = 0;
      if (!ctx.signal.aborted) read();
    }, LIVE_MS);
  };
  return { more };
}

const emptyPlace = () => h("div", { class: "timeline", "aria-busy": "true" });

/** Until its canvas and the numbers below it are there. @param {HTMLElement} place @param {Part} part @param {URLSearchParams} query */
async function load(place, part, query) {
  const shown = new AbortController();
  /** @type {Asked} */
  const asked = {
    ...part,
    clocks: query.get("clocks") === "recorded" ? "recorded" : "",
    signal: AbortSignal.any([part.signal, shown.signal]),
    onClocks: (clocks) => {
      shown.abort();
      remember({ clocks, t0: null, t1: null, s0: null, s1: null, on: null, marks: null }); // a place is another time on other clocks
      load(place, part, new URL(location.href).searchParams).then(() => /** @type {HTMLElement | null} */ (place.querySelector('[data-act="clocks"]'))?.focus());
    },
  };
  try {
    const whole = await ask(asked, {});
    if (asked.signal.aborted) return;
    if (whole.events) await new TimelinePage(asked, whole, query).show(place);
    else place.replaceChildren(nothing(asked));
  } catch (e) {
    if (asked.signal.aborted) return;
    const again = button("Try again", () => {
      place.replaceChildren();
      place.setAttribute("aria-busy", "true");
      load(place, asked, query);
    }, { class: "btn primary" });
    place.replaceChildren(stateWell("The timeline could not be read", h("p", {}, /** @type {Error} */ (e)?.message ?? String(e)), h("div", { class: "acts" }, again)));
  }
  place.removeAttribute("aria-busy");
}

/** A run of an earlier version, or one that was not timed. @param {Asked} asked */
function nothing({ run, mode }) {
  if (run.workload?.trace) {
    const none = run.report?.import ? "The log has no event with a time." : "No process of the command used a GPU.";
    const why = run.status === "running" ? "They are shown as they come." : none;
    return stateWell(run.status === "running" ? "No events yet" : "No events were recorded", h("p", {}, why));
  }
  const href = `/new?from=${encodeURIComponent(run.id)}`;
  const why = h("p", {}, `This run has no events of ${mode}. Run it again to record some calls.`);
  const again = h("a", { class: "btn primary", href }, "Edit and run again");
  return stateWell("No timeline was recorded", why, h("div", { class: "acts" }, again));
}
