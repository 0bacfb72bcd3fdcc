// js/view/timeline_lanes.js -- the lanes of a timeline as a list: filtered, folded, pinned and moved with keys too.

import { h, button, say } from "./dom.js";
import { remember } from "./router.js";
import { AS_THEY_CAME, inOrder, labelOf, moveLane, neighbour, processOf, turn } from "../model/lanes.js";
import { plural } from "../model/format.js";

/** @typedef {import("../model/timeline.js").LaneInfo} LaneInfo */
/** @typedef {import("../model/lanes.js").Arrangement} Arrangement */

const MOST_LISTED = 100;

/**
 * Fills a place once; what it returns is told of every change.
 * @param {HTMLElement} place @param {import("./timeline_canvas.js").TimelineCanvas} line
 * @param {readonly LaneInfo[]} lanes @param {string} q the filter, as the address has it
 */
export function lanesPanel(place, line, lanes, q) {
  const field = h("input", { class: "field", type: "search", placeholder: "Filter lanes", "aria-label": "Filter lanes", maxlength: 60, value: q, autocomplete: "off", spellcheck: "false" });
  const list = h("ul", { class: "lanes" });
  const many = h("span", { class: "sub small", role: "status" });
  const several = new Set(lanes.map((l) => l.pid)).size > 1;
  const full = (/** @type {LaneInfo} */ l) => labelOf(l) + (several && l.pid !== undefined ? `, ${processOf(l)}` : "");

  const act = (/** @type {LaneInfo} */ lane, /** @type {string} */ what, /** @type {string} */ text, /** @type {() => Arrangement} */ to, /** @type {string} */ told, /** @type {boolean | null} */ on = null) =>
    button(text, () => {
      line.arrange(to());
      say(`${full(lane)} ${told}.`);
      // Its list is new: the same button, or where that has nothing to do any more the lane's name.
      for (const q of [`[data-act="${what}"]:enabled`, "button"]) if (!list.contains(document.activeElement)) /** @type {HTMLElement | null} */ (list.querySelector(`[data-id="${lane.id}"] ${q}`))?.focus();
    }, { "aria-label": `${what} ${full(lane)}`, title: what, "data-act": what, ...(on === null ? {} : { "aria-pressed": String(on) }) });

  const one = (/** @type {LaneInfo} */ lane, /** @type {Arrangement} */ how) => {
    const [pinned, folded] = [how.pinned.includes(lane.id), how.folded.includes(lane.id)];
    const by = (/** @type {string} */ what, /** @type {string} */ text, /** @type {number} */ n) => {
      const other = neighbour(lanes, how, lane.id, n);
      const b = act(lane, what, text, () => moveLane(lanes, how, lane.id, other ?? lane.id), n < 0 ? "moved up" : "moved down");
      /** @type {HTMLButtonElement} */ (b).disabled = other === null;
      return b;
    };
    return h("li", { data: { id: String(lane.id) } },
      button(full(lane), () => line.scrollTo(lane.id), { class: "btn link" }),
      act(lane, "Pin", "Pin", () => turn(how, "pinned", lane.id), pinned ? "no longer pinned" : "pinned to the top", pinned),
      act(lane, "Fold", "Fold", () => turn(how, "folded", lane.id), folded ? "unfolded" : "folded", folded),
      by("Move up", "\u2191", -1), by("Move down", "\u2193", 1));
  };

  const fill = (/** @type {Arrangement} */ how) => {
    const wanted = field.value.trim().toLowerCase();
    const all = inOrder(lanes, how).filter((l) => full(l).toLowerCase().includes(wanted));
    const pinned = all.filter((l) => how.pinned.includes(l.id));
    const listed = [...pinned, ...all.filter((l) => !how.pinned.includes(l.id))].slice(0, MOST_LISTED);
    list.replaceChildren(...listed.map((l) => one(l, how)));
    many.textContent = `${plural(all.length, "lane")}${listed.length < all.length ? `, the first ${listed.length} listed` : ""}`;
  };
  field.addEventListener("input", () => {
    remember({ lanes: field.value.trim() });
    line.filter(field.value);
    fill(line.arrangement);
  });
  field.addEventListener("cleared", () => {
    field.value = "";
    fill(line.arrangement);
  });
  const processes = /** @type {number[]} */ ([...new Set(lanes.map((l) => l.pid))].filter((pid) => pid !== undefined));
  const closeAll = button("Fold all processes", () => line.arrange({ ...line.arrangement, closed: processes }));
  place.replaceChildren(
    h("div", { class: "bar" }, field, many, h("div", { class: "acts" }, several ? [closeAll, button("Unfold all", () => line.arrange({ ...line.arrangement, closed: [], folded: [] }))] : null, button("As they came", () => line.arrange(AS_THEY_CAME)))),
    list);
  fill(line.arrangement);
  return fill;
}
