// js/model/levels.js -- slices of a lane that lie inside each other, as levels below one another.
//
// Host threads of a trace nest: an op calls ops, which call the driver.  So do breaks: a function that runs
// in eager for one calls others that break.  The other lanes of a measured run stay as they are: what nests
// there has lanes of its own.

import { isSame, lanesOfView } from "./timeline.js";

/** @typedef {import("./timeline.js").Slice} Slice */
/** @typedef {import("./timeline.js").View} View */
/** @typedef {import("./timeline.js").LaneInfo} LaneInfo */

/** What is deeper is drawn over the last of them. */
const MOST = 6;
const MARKS = ["flow", "idle", "counter"];

/** @type {WeakMap<View, Map<number, number>>} */
const known = new WeakMap();

/** @param {Slice} s */
const ends = (s) => s.start + s.duration;

/** @param {LaneInfo} lane */
const nests = (lane) => lane.role === "breaks" || (lane.role === "host" && (lane.pid !== undefined || lane.thread !== undefined));

/** Gives each slice its level. @param {Slice[]} slices in order of their starts @returns {number} how many there are */
function nest(slices) {
  /** @type {Slice[]} */
  const open = [];
  let deep = 1;
  // Of two that begin together the longer one is around the other.
  const order = slices.filter((s) => !MARKS.includes(s.kind)).sort((a, b) => a.start - b.start || b.duration - a.duration);
  for (const s of order) {
    while (open.length && ends(open[open.length - 1]) <= s.start) open.pop();
    const level = Math.min(open.length, MOST - 1);
    s.level = level;
    deep = Math.max(deep, level + 1);
    open.push(s);
  }
  return deep;
}

/** How many levels each lane has in a view; lanes of one level are left out. @param {View} view @returns {Map<number, number>} */
export function levelsOf(view) {
  const found = known.get(view);
  if (found) return found;
  const deep = new Map();
  for (const lane of view.lanes.filter(nests)) {
    const n = nest(lanesOfView(view).get(lane.id) ?? []);
    if (n > 1) deep.set(lane.id, n);
  }
  known.set(view, deep);
  return deep;
}

/** A slice's level, from 0; of one that a search found, that of the same slice in the view.
 * @param {View} view @param {Slice} slice */
export function levelOf(view, slice) {
  if (!levelsOf(view).has(slice.lane) || MARKS.includes(slice.kind)) return 0;
  if (slice.level !== undefined) return slice.level;
  const same = (lanesOfView(view).get(slice.lane) ?? []).find((s) => s !== slice && isSame(s, slice));
  return same?.level ?? 0;
}
