// js/model/align.js -- two timelines aligned: which rows are shown, where bars and slices lie, addresses.

/** @typedef {import("../api/report.js").ReportAlignment} Alignment */
/** @typedef {import("../api/report.js").ReportAlignedRow} Row */
/** @typedef {import("../api/report.js").ReportAlignedSlice} Slice */
/** @typedef {import("../api/report.js").ReportAlignedSide} Side */

/** Better, worse, or neither: for its colour. @param {Row} r */
export const toneOf = (r) => (!r.stands ? "same" : r.time.delta_us > 0 ? "worse" : r.time.delta_us < 0 ? "better" : "same");

/** Where each row's bar begins and ends, one after the other, from 0 to 1 of the axis; and where 0 is.
 * @param {readonly Row[]} rows
 * @returns {{zero: number, bars: {from: number, to: number}[]}} */
export function waterfall(rows) {
  let at = 0;
  const ends = rows.map((r) => ({ from: at, to: (at += r.time.delta_us) }));
  const all = [0, ...ends.flatMap((e) => [e.from, e.to])];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const scale = (/** @type {number} */ x) => (high > low ? (x - low) / (high - low) : 0);
  return { zero: scale(0), bars: ends.map((e) => ({ from: scale(e.from), to: scale(e.to) })) };
}

/** A name without namespaces, and what a template or a call takes, as the server's titles. @param {string} name */
export function shortName(name) {
  const bare = name.replace(/^void /, "").replace(/\(anonymous namespace\)::/g, "");
  const end = bare.search(/[<(]/);
  return end > 0 && bare[end - 1] !== " " ? bare.slice(0, end).replace(/^.*::(?=.)/, "") : bare;
}

/** A row's words: "fused from 3, 1 of op". @param {Row} r */
export function countsText(r) {
  return r.n_a === r.n_b ? (r.n_a === 1 ? "" : `${r.n_a}×`) : `${r.n_a} → ${r.n_b}`;
}

/** The address of a part of a side's timeline, with something around it; null: it is of no run here.
 * @param {Side} side @param {{t0_ns: number, t1_ns: number} | null} place */
export function placeUrl(side, place) {
  if (!side.id || !place) return null;
  const around = Math.max(place.t1_ns - place.t0_ns, 1000);
  const q = new URLSearchParams();
  if (side.mode) q.set("mode", side.mode);
  if (side.n !== null) q.set("n", String(side.n));
  for (const [k, v] of [["t0", Math.max(0, place.t0_ns - around)], ["t1", place.t1_ns + around], ["s0", Math.max(0, place.t0_ns)], ["s1", place.t1_ns]]) q.set(String(k), String(Math.round(Number(v))));
  return `/runs/${encodeURIComponent(side.id)}/timeline?${q}`;
}

/** Slices of both sides on one scale.  Without idle time, moments in which nothing runs take no room.
 * @typedef {{slice: Slice, x: number, width: number}} Placed
 * @param {readonly Slice[]} slices @param {boolean} idle @returns {{placed: Placed[], end: number, lanes: number}} */
export function placeSlices(slices, idle) {
  const order = [...slices].sort((a, b) => a.at_us - b.at_us);
  let until = -Infinity, gone = 0, end = 0;
  const placed = order.map((slice) => {
    if (!idle) gone += Math.max(0, slice.at_us - (until === -Infinity ? 0 : until));
    until = Math.max(until, slice.at_us + slice.us);
    const x = slice.at_us - gone;
    end = Math.max(end, x + slice.us);
    return { slice, x, width: slice.us };
  });
  return { placed, end, lanes: Math.max(1, ...slices.map((s) => s.lane + 1)) };
}

/** Lines between what was matched: the middles of the first slices of each match, as A and B have it.
 * @param {readonly Placed[]} a @param {readonly Placed[]} b
 * @returns {{a: Placed, b: Placed}[]} */
export function linesBetween(a, b) {
  /** @type {Map<number, Placed[]>} */
  const ofB = new Map();
  for (const p of b) ofB.set(p.slice.match, [...(ofB.get(p.slice.match) ?? []), p]);
  return a.flatMap((p) => (ofB.get(p.slice.match) ?? []).map((q) => ({ a: p, b: q })));
}
