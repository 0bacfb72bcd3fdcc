// js/model/lanes.js -- which lanes of a timeline are shown, in which order and how high.
//
// Those of a process are together, below its name; what is pinned stands above all and does not
// scroll.  A folded lane is a strip, a closed process its name alone.  What a reader has arranged
// is kept by the numbers of lanes and processes, which a run never changes.

/** @typedef {import("./timeline.js").LaneInfo} LaneInfo */
/**
 * @typedef {object} Arrangement
 * @property {readonly number[]} order lanes that were moved stand as here; the others as they came
 * @property {readonly number[]} pinned
 * @property {readonly number[]} folded
 * @property {readonly number[]} closed processes
 * @property {number} left width of the names, px; 0: as wide as usual
 *
 * @typedef {object} Row
 * @property {number} id of the lane; of a name of a process alone -1
 * @property {number} y
 * @property {number} height
 * @property {number} deep levels
 * @property {string} label
 * @property {string} process named above it, "": none
 * @property {number | undefined} pid
 * @property {boolean} counter
 * @property {boolean} folded
 * @property {boolean} pinned
 * @property {boolean} closed a process whose lanes are not shown
 */

/** @type {Arrangement} */
export const AS_THEY_CAME = { order: [], pinned: [], folded: [], closed: [], left: 0 };

const GAP = 4;
const FOLDED = 16;
/** Above the first lane of a process, for its name. */
export const PROCESS = 18;
/** Of one of several levels. */
export const LEVEL = 18;
const [NARROWEST, WIDEST] = [48, 420];
const MOST_KEPT = 50;

/** Without the process, which is named above it. @param {LaneInfo} lane */
export function labelOf({ name, pid }) {
  const own = pid === undefined ? name : name.replace(new RegExp(`(?:, process| of) ${pid}$`), "");
  return own[0].toUpperCase() + own.slice(1);
}

/** @param {LaneInfo} lane */
export const processOf = (lane) => (lane.rank !== undefined && lane.rank === lane.pid ? `Rank ${lane.rank}${lane.clock ?? ""}` : lane.process ? `${lane.process} (${lane.pid})` : `Process ${lane.pid}`);

/** By process as they came, its GPUs' streams after what its host did; then as they were moved.
 * @param {readonly LaneInfo[]} lanes @param {Arrangement} how */
export function inOrder(lanes, how) {
  const order = [...new Set(lanes.map((l) => l.pid))];
  const key = (/** @type {LaneInfo} */ l) => [order.indexOf(l.pid), Number(l.compiling ?? false), l.pid === undefined ? 0 : ["kernels", "counter"].indexOf(l.role ?? "") + 1, l.device ?? -1, l.stream ?? -1];
  const below = (/** @type {LaneInfo} */ l) => Number(l.role === "counter");
  const one = order.length === 1 && order[0] === undefined;
  const sorted = [...lanes].sort((a, b) => {
    if (one) return below(a) - below(b);
    const [x, y] = [key(a), key(b)];
    const at = x.findIndex((v, i) => v !== y[i]);
    return at < 0 ? a.id - b.id : x[at] - y[at];
  });
  if (!how.order.length) return sorted;
  const place = new Map(how.order.map((id, i) => [id, i]));
  const first = new Map(sorted.map((l) => [l.pid, Infinity]));
  for (const l of sorted) first.set(l.pid, Math.min(first.get(l.pid) ?? Infinity, place.get(l.id) ?? Infinity));
  const at = (/** @type {LaneInfo} */ l) => [Math.min(first.get(l.pid) ?? Infinity, 1e9), Math.min(place.get(l.id) ?? Infinity, 1e9)];
  return sorted
    .map((l, i) => ({ l, key: [at(l)[0], order.indexOf(l.pid), at(l)[1], i] }))
    .sort((a, b) => a.key.map((v, i) => v - b.key[i]).find((d) => d !== 0) ?? 0)
    .map(({ l }) => l);
}

/** @param {LaneInfo} lane @param {number} deep */
const heightOf = (lane, deep) => (deep > 1 ? deep * LEVEL + 6 : lane.role === "kernels" ? 44 : ["calls", "breaks", "graphs"].includes(lane.role ?? "") ? 26 : 34);

/**
 * @param {readonly LaneInfo[]} lanes @param {Map<number, number>} levels @param {Arrangement} how
 * @param {string} filter a part of the name of a lane or its process @param {number} top
 * @returns {{rows: Row[], fixed: number, height: number}} rows from top to bottom; where the pinned end, and the last
 */
export function layLanes(lanes, levels, how, filter, top) {
  const wanted = filter.trim().toLowerCase();
  const several = new Set(lanes.map((l) => l.pid)).size > 1;
  const shown = inOrder(lanes, how).filter((l) => !wanted || how.pinned.includes(l.id) || `${labelOf(l)} ${l.pid === undefined ? "" : processOf(l)}`.toLowerCase().includes(wanted));
  /** @type {Row[]} */
  const rows = [];
  let y = top + GAP;
  const add = (/** @type {LaneInfo} */ lane, /** @type {boolean} */ pinned, /** @type {string} */ process) => {
    const deep = levels.get(lane.id) ?? 1;
    const folded = how.folded.includes(lane.id);
    if (process) y += PROCESS;
    const height = folded ? FOLDED : heightOf(lane, deep);
    const label = pinned && several && lane.pid !== undefined ? `${labelOf(lane)} (${lane.pid})` : labelOf(lane);
    rows.push({ id: lane.id, y, height, deep: folded ? 1 : deep, label, process, pid: lane.pid, counter: lane.role === "counter", folded, pinned, closed: false });
    y += height + GAP;
  };
  for (const lane of shown.filter((l) => how.pinned.includes(l.id))) add(lane, true, "");
  const fixed = rows.length ? y : top;
  let last = NaN;
  for (const lane of shown.filter((l) => !how.pinned.includes(l.id))) {
    const process = lane.pid !== undefined && lane.pid !== last ? processOf(lane) : "";
    const closed = lane.pid !== undefined && how.closed.includes(lane.pid);
    last = lane.pid ?? NaN;
    if (closed && process) {
      rows.push({ id: -1, y: y + PROCESS, height: 0, deep: 1, label: "", process, pid: lane.pid, counter: false, folded: true, pinned: false, closed: true });
      y += PROCESS + GAP;
    } else if (!closed) add(lane, false, process);
  }
  return { rows, fixed, height: rows.length ? y : top + 16 };
}

/** @template T @param {readonly T[]} list @param {T} one */
const turned = (list, one) => (list.includes(one) ? list.filter((x) => x !== one) : [...list, one]);

/** @param {Arrangement} how @param {"pinned" | "folded" | "closed"} what @param {number} one @returns {Arrangement} */
export const turn = (how, what, one) => ({ ...how, [what]: turned(how[what], one) });

/** A lane to the place of another: below it where it came from above. @param {readonly LaneInfo[]} lanes @param {Arrangement} how @param {number} id @param {number} to @returns {Arrangement} */
export function moveLane(lanes, how, id, to) {
  const order = inOrder(lanes, how).map((l) => l.id);
  const [from, at] = [order.indexOf(id), order.indexOf(to)];
  if (from < 0 || at < 0 || from === at) return how;
  order.splice(from, 1);
  order.splice(at, 0, id);
  return { ...how, order };
}

/** Its neighbour among those that it may change places with: of its process, pinned or not as it is.
 * @param {readonly LaneInfo[]} lanes @param {Arrangement} how @param {number} id @param {number} by */
export function neighbour(lanes, how, id, by) {
  const all = inOrder(lanes, how);
  const own = all.find((l) => l.id === id);
  const like = all.filter((l) => how.pinned.includes(l.id) === how.pinned.includes(id) && l.pid === own?.pid);
  return like[like.findIndex((l) => l.id === id) + by]?.id ?? null;
}

/** @param {Arrangement} how @param {number} px @returns {Arrangement} */
export const widen = (how, px) => ({ ...how, left: Math.round(Math.min(WIDEST, Math.max(NARROWEST, px))) });

/** @param {any} list @param {number} [least] @returns {number[]} */
const numbers = (list, least = 0) => (Array.isArray(list) ? list.filter((n) => Number.isInteger(n) && n >= least).slice(0, 4096) : []);

/** What was kept of a run, whatever is stored. @param {string | null} text @param {string} run @returns {Arrangement} */
export function kept(text, run) {
  try {
    const of = JSON.parse(text ?? "{}")?.[run];
    if (!of) return AS_THEY_CAME;
    const how = { order: numbers(of.order), pinned: numbers(of.pinned), folded: numbers(of.folded), closed: numbers(of.closed, -Infinity), left: 0 };
    return of.left > 0 ? widen(how, of.left) : how;
  } catch {
    return AS_THEY_CAME;
  }
}

/** The text to store: those of the last runs alone. @param {string | null} text @param {string} run @param {Arrangement} how */
export function keep(text, run, how) {
  /** @type {[string, any][]} */
  let all = [];
  try {
    all = Object.entries(JSON.parse(text ?? "{}") ?? {});
  } catch {
    // what is no JSON is written over
  }
  const others = all.filter(([key]) => key !== run);
  const plain = JSON.stringify(how) === JSON.stringify(AS_THEY_CAME);
  return JSON.stringify(Object.fromEntries([...others, ...(plain ? [] : [/** @type {[string, any]} */ ([run, how])])].slice(-MOST_KEPT)));
}
