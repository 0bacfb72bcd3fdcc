// js/model/published.js -- series measured elsewhere, to lay over a run's own.
//
// The same chain of statements over [8, 16] float32, on other machines: only
// the shape of these curves compares with a run here, not their microseconds.
// They carry no intervals, because their sources give none.

import { meeting } from "./curves.js";

/**
 * @typedef
 *   {{key: string, title: string, short: string, source: string, n: number[], us: Record<string, number[]>}}
 *   Published
 */

const N = [1, 5, 10, 15, 20, 25, 30];

/** @type {readonly Published[]} */
export const PUBLISHED = [
  {
    key: "h200",
    title: "PyTorch 2.11 on an H200",
    short: "H200",
    source: "PyTorch 2.11.0+cu130 on one NVIDIA H200, 2026-11-21, median of 7 batches of 100 calls",
    n: N,
    us: {
      eager: [12.4, 35.3, 65.6, 91.3, 129.8, 164.7, 183.0],
      static: [24.5, 25.1, 25.4, 25.1, 25.5, 25.3, 25.6],
      dynamic: [28.6, 28.7, 29.4, 29.5, 29.4, 29.0, 30.4],
      graphs: [45.7, 46.4, 46.0, 47.7, 54.2, 46.7, 46.3],
    },
  },
  {
    key: "seed",
    title: "Published reference (another card)",
    short: "reference",
    source: "A published reference, on a card that it does not name",
    n: N,
    us: {
      eager: [13.3, 40.5, 86.4, 109.9, 137.3, 167.8, 225.6],
      static: [37.7, 40.3, 36.7, 42.4, 36.3, 37.0, 42.4],
      dynamic: [59.9, 62.3, 64.4, 59.1, 60.4, 67.3, 66.8],
    },
  },
];

/**
 * Curves of another to lay over a run's own.
 * @typedef
 *   {{key: string, title: string, short: string, source: string, here?: boolean,
 *   latency: import("./curves.js").Series[], speedup: import("./curves.js").Series[],
 *   crossings: import("./curves.js").Crossing[]}}
 *   Overlay
 */

/** @param {Published} p @returns {Overlay} */
export const overlayOf = (p) => ({
  ...p,
  latency: publishedLatency(p),
  speedup: publishedSpeedup(p),
  crossings: publishedCrossing(p),
});

/** @param {Published} p @param {string} mode */
const dots = (p, mode) => p.n.map((x, i) => ({ x, y: p.us[mode][i] }));

/** @param {Published} p @returns {import("./curves.js").Series[]} */
export function publishedLatency(p) {
  return Object.keys(p.us).map((mode) => ({
    key: `${mode}-${p.key}`,
    mode,
    label: `${mode}, ${p.short}`,
    imported: true,
    dots: dots(p, mode),
  }));
}

/** Ratios of the published medians. @param {Published} p @returns {import("./curves.js").Series[]} */
export function publishedSpeedup(p) {
  return Object.keys(p.us)
    .filter((m) => m !== "eager")
    .map((mode) => ({
      key: `${mode}-${p.key}`,
      mode,
      label: `${mode}, ${p.short}`,
      imported: true,
      dots: p.n.map((x, i) => ({ x, y: p.us.eager[i] / p.us[mode][i] })),
    }));
}

/** Where its static meets its eager.
 * @param {Published} p @returns {import("./curves.js").Crossing[]} */
export function publishedCrossing(p) {
  const x = meeting(dots(p, "eager"), dots(p, "static"));
  return x === null ? [] : [{ x, lo: x, hi: x, text: "", sub: `static meets eager, ${p.short}` }];
}
