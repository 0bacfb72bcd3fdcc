// js/model/split.js -- where one call's time goes, so that it adds up.
//
// The parts come from watched calls of their own, taken after the latencies:
// they add up to the watched call, which is near the median but not equal to it.

/** @type {readonly {key: "guards" | "dispatch" | "alloc" | "launch" | "kernel" | "rest", label: string}[]} */
export const PARTS = [
  { key: "guards", label: "Guards" },
  { key: "dispatch", label: "Dispatch" },
  { key: "alloc", label: "Alloc" },
  { key: "launch", label: "Launch" },
  { key: "kernel", label: "Kernel" },
  { key: "rest", label: "Not attributed" },
];

/**
 * @typedef {{mode: string, shares: number[], median: number}} SplitRow shares of the watched call, as PARTS;
 *   microseconds
 */

/**
 * A bar is as long as its mode's median and is parted by the watched call: one that was watched in a bad moment
 * is no longer for it.
 * @param {import("../api/types.js").Point} point @param {readonly string[]} modes
 * @param {import("../api/report.js").ReportFindingsPoint} said of the point
 * @returns {SplitRow[]}
 */
export function splitRows(point, modes, said) {
  return modes.flatMap((mode) => {
    const of = said.modes[mode]?.split;
    const median = point.modes[mode]?.latency?.median_us;
    if (!of || !median) return [];
    const number = (/** @type {string} */ text) => Number(text.replaceAll(",", ""));
    const watched = number(of.watched);
    return [{ mode, shares: PARTS.map((p) => (watched > 0 ? number(of[p.key]) / watched : 0)), median }];
  });
}
