// js/model/split.js -- where one call's time goes, so that it adds up.
//
// The parts are measured in calls of their own, so their sum is near the
// median, not equal to it.  The difference is a row: "not attributed" where the
// parts fall short, and named as an excess where they do not.

/** @type {readonly {key: "guards" | "dispatch" | "alloc" | "launch" | "kernel", label: string, fixed: boolean}[]} */
export const PARTS = [
  { key: "guards", label: "Guards", fixed: true },
  { key: "dispatch", label: "Dispatch", fixed: true },
  { key: "alloc", label: "Alloc", fixed: true },
  { key: "launch", label: "Launch", fixed: true },
  { key: "kernel", label: "Kernel", fixed: false },
];

/** @typedef {{mode: string, parts: number[], rest: number, total: number}} SplitRow microseconds, parts as PARTS */

/** @param {import("../api/types.js").Point} point @param {readonly string[]} modes @returns {SplitRow[]} */
export function splitRows(point, modes) {
  return modes.flatMap((mode) => {
    const m = point.modes[mode];
    if (!m?.split_us || !m.latency) return [];
    const parts = PARTS.map((p) => m.split_us?.[p.key] ?? 0);
    const total = m.latency.median_us;
    return [{ mode, parts, rest: total - parts.reduce((a, b) => a + b, 0), total }];
  });
}

/** Time of a call that no kernel uses: the floor of its curve. @param {SplitRow} row */
export function floorOf(row) {
  return row.parts.reduce((sum, us, i) => sum + (PARTS[i].fixed ? us : 0), 0);
}
