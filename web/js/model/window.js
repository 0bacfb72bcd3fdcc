// js/model/window.js -- which rows of a long list are drawn, and which pages that takes.

/**
 * The rows in sight and some around them, `end` exclusive.
 * @param {{total: number, height: number, top: number, view: number, around: number}} at `top`: how far the
 *   first row lies above the view's upper edge, in pixels; `height` of a row, `view` of the window
 * @returns {{start: number, end: number}}
 */
export function rowsInView({ total, height, top, view, around }) {
  const first = Math.floor(top / height);
  const last = Math.ceil((top + view) / height);
  const start = Math.min(Math.max(0, first - around), Math.max(0, total - 1));
  return { start, end: Math.max(Math.min(total, last + around), Math.min(total, start + 1)) };
}

/** The pages that hold rows start to end, by number. @param {number} start @param {number} end @param {number} size */
export function pagesOf(start, end, size) {
  const pages = [];
  for (let p = Math.floor(start / size); p * size < end; p++) pages.push(p);
  return pages;
}

/** What a click on a head sorts by next: "name" up first, figures and age down first.
 * @param {string} now "-age" @param {string} key @param {boolean} upFirst */
export function nextSort(now, key, upFirst) {
  if (now === key) return `-${key}`;
  if (now === `-${key}`) return key;
  return upFirst ? key : `-${key}`;
}

/** Corners of a line through values, in a box: equal steps in x, ratios in y on a log scale.
 * @param {readonly number[]} values newest last @param {number} width @param {number} height @returns {[number, number][]} */
export function sparkPoints(values, width, height) {
  const logs = values.map((v) => Math.log2(Math.max(v, 1e-6)));
  const [lo, hi] = [Math.min(...logs), Math.max(...logs)];
  // A change of less than a tenth is no mountain.
  const span = Math.max(hi - lo, 0.14);
  const mid = (lo + hi) / 2;
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  const px = (/** @type {number} */ n) => Math.round(n * 10) / 10;
  return logs.map((y, i) => [px(values.length > 1 ? i * step : width), px(height / 2 - ((y - mid) / span) * height)]);
}
