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
 * @typedef {{mode: string, parts: number[], watched: number, median: number}} SplitRow microseconds, parts as
 *   PARTS
 */

/** @param {import("../api/types.js").Point} point @param {readonly string[]} modes @returns {SplitRow[]} */
export function splitRows(point, modes) {
  return modes.flatMap((mode) => {
    const m = point.modes[mode];
    if (!m?.split_us || !m.latency) return [];
    const s = m.split_us;
    const named = PARTS.slice(0, -1).reduce((sum, p) => sum + (s[p.key] ?? 0), 0);
    const watched = s.observed ?? Math.max(named, m.latency.median_us);
    return [
      {
        mode,
        parts: PARTS.map((p) => (p.key === "rest" ? watched - named : (s[p.key] ?? 0))),
        watched,
        median: m.latency.median_us,
      },
    ];
  });
}
