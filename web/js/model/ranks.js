// js/model/ranks.js -- the ranks of a job: what a table of them shows, and how a figure stands among those of the others.
//
// All figures are the server's (profiler/ranks); here they are chosen, written and compared for a colour.

import { bytes, count, duration, toStep } from "./format.js";

/** @typedef {import("../api/report.js").ReportRank} Rank */
/** @typedef {import("../api/report.js").ReportRanks} Ranks */

/** To a tenth, of what is there at all. @param {number | null} share */
export const percent = (share) => (share === null ? "none" : share > 0 && share < 0.0005 ? "<0.1 %" : `${toStep(100 * share, 0.1)} %`);
const time = (/** @type {number | null} */ us) => (us === null ? "not known" : duration(us));

/**
 * What the map of ranks shows.  `better`: 1 where more is better, -1 where less is, 0 where neither.
 * @type {readonly {key: string, label: string, says: string, of: (r: Rank) => number | null, text: (v: number | null, r: Rank) => string, better: number}[]}
 */
export const FIGURES = [
  { key: "total", label: "Total", says: "from the first kernel to the end of the last", of: (r) => r.total_us, text: time, better: -1 },
  { key: "computing", label: "Computing", says: "a kernel computes, whatever runs beside it", of: (r) => r.shares.computation, text: percent, better: 0 },
  { key: "collectives", label: "Collectives", says: "a collective runs, whatever runs beside it", of: (r) => r.shares.communication, text: percent, better: 0 },
  { key: "overlap", label: "Hidden", says: "of the collectives' time, while something computes", of: (r) => r.overlap, text: percent, better: 1 },
  { key: "copies", label: "Copies", says: "a copy or a set runs, whatever runs beside it", of: (r) => r.shares.memory, text: percent, better: 0 },
  { key: "exposed", label: "Exposed", says: "a collective runs and nothing computes", of: (r) => r.shares.exposed, text: percent, better: -1 },
  { key: "idle", label: "Idle", says: "nothing runs", of: (r) => r.shares.idle, text: percent, better: -1 },
  { key: "host", label: "Host wait", says: "gaps of its streams: the next launch came later", of: (r) => r.host_wait_us, text: time, better: -1 },
  { key: "kernel", label: "Kernel wait", says: "gaps shorter than 30 µs", of: (r) => r.kernel_wait_us, text: time, better: -1 },
  { key: "other", label: "Other wait", says: "the other gaps of its streams", of: (r) => r.other_wait_us, text: time, better: -1 },
  { key: "waits", label: "Waits", says: "in collectives, for the last rank", of: (r) => r.wait_us, text: time, better: 0 },
  { key: "last", label: "Late", says: "collectives to which it came late, after the middle rank", of: (r) => r.last, text: (v) => count(v ?? 0), better: -1 },
  { key: "caused", label: "Caused", says: "what the others waited for it", of: (r) => r.caused_us, text: time, better: -1 },
  { key: "memory", label: "Peak memory", says: "most in use at once", of: (r) => r.peak_bytes, text: (v) => (v === null ? "not recorded" : bytes(v)), better: 0 },
  { key: "clock", label: "Clock", says: "ahead of the first rank's, and the error of that", of: (r) => r.offset_us, text: (v, r) => (v === null ? "not known" : `${v > 0 ? "+" : ""}${duration(v)} ±${duration(r.offset_error_us ?? 0)}`), better: 0 },
];

/** The middle of the figures that there are. @param {readonly number[]} values */
function middle(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/**
 * How far a figure is from the middle of all, to be coloured as a ratio: over 1 is better.  1 where it is near, where
 * neither way is better, and where there is no other rank.
 * @param {typeof FIGURES[number]} figure @param {Rank} rank @param {readonly Rank[]} all
 */
export function standing(figure, rank, all) {
  const values = all.map(figure.of).filter((v) => v !== null);
  const [own, mid] = [figure.of(rank), values.length > 1 ? middle(/** @type {number[]} */ (values)) : null];
  if (!figure.better || own === null || mid === null || own === mid) return 1;
  const most = Math.max(.../** @type {number[]} */ (values));
  const floor = most / 16; // what is next to nothing is no factor of another
  const ratio = Math.max(own, floor) / Math.max(mid, floor);
  return figure.better > 0 ? ratio : 1 / ratio;
}

/** What a device ran, as a bar has it: each moment once. @type {readonly {key: string, label: string, of: (r: Rank) => number}[]} */
export const MIXES = [
  { key: "comp", label: "computing alone", of: (r) => r.shares.computation_alone },
  { key: "both", label: "computing and a collective", of: (r) => r.shares.both },
  { key: "comm", label: "a collective alone", of: (r) => r.shares.exposed },
  { key: "copy", label: "copies and sets alone", of: (r) => r.shares.memory_alone },
  { key: "idle", label: "idle", of: (r) => r.shares.idle },
];

/** A line of least and most lengths of a queue as points of a polygon, in a box. @param {readonly (readonly number[])[]} queue @param {number} width @param {number} height @param {number} most */
export function queueShape(queue, width, height, most) {
  const x = (/** @type {number} */ i) => Math.round((10 * width * i) / Math.max(1, queue.length - 1)) / 10;
  const y = (/** @type {number} */ v) => Math.round(10 * (height - (height * Math.min(v, most)) / Math.max(1, most))) / 10;
  const up = queue.map(([, high], i) => `${x(i)},${y(high)}`);
  const down = queue.map(([low], i) => `${x(i)},${y(Math.max(0, low))}`).reverse();
  return [...up, ...down].join(" ");
}
