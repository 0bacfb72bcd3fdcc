// js/model/modes.js -- the execution modes as the page draws them.
//
// A mode is a stroke with a dash and a marker, never a bare colour; the colour
// itself is the CSS token of the same name.  `built` lists what this version
// can run: the form offers no other.

/** @typedef {{name: string, letter: string, dash: number[], point: string}} Mode */

/** In the order of every table, list and legend. @type {readonly Mode[]} */
export const MODES = [
  { name: "eager", letter: "e", dash: [], point: "circle" },
  { name: "lazy", letter: "l", dash: [2, 3], point: "crossRot" },
  { name: "static", letter: "s", dash: [], point: "rect" },
  { name: "dynamic", letter: "d", dash: [7, 3], point: "triangle" },
  { name: "auto", letter: "a", dash: [7, 3, 2, 3], point: "rectRot" },
  { name: "graphs", letter: "g", dash: [2, 2], point: "star" },
];

export const BUILT = ["eager", "lazy", "static", "dynamic", "auto", "graphs"];

/** Dash of a series that was measured elsewhere. */
export const IMPORTED_DASH = [1, 3];

/** @param {string} name @returns {Mode} a mode this page does not know is drawn solid, without a letter */
export function modeOf(name) {
  return MODES.find((m) => m.name === name) ?? { name, letter: "?", dash: [], point: "circle" };
}

/** How runs of one mode are told apart, from the second on: its colour, another dash and marker. */
const LOOKS = [
  { dash: [7, 3], point: "triangle" },
  { dash: [2, 2], point: "star" },
  { dash: [7, 3, 2, 3], point: "rectRot" },
  { dash: [2, 3], point: "crossRot" },
  { dash: [12, 4], point: "circle" },
  { dash: [12, 3, 2, 3], point: "rect" },
];

/** @param {string} mode @param {number} [variant] 0: as the mode is drawn @returns {{dash: number[], point: string}} */
export function lookOf(mode, variant = 0) {
  const own = modeOf(mode);
  const others = LOOKS.filter((l) => l.point !== own.point);
  return variant ? others[(variant - 1) % others.length] : own;
}

/** Names in the page's order, unknown ones last. @param {Iterable<string>} names @returns {string[]} */
export function inOrder(names) {
  const at = (/** @type {string} */ n) => {
    const i = MODES.findIndex((m) => m.name === n);
    return i < 0 ? 99 : i;
  };
  return [...names].sort((a, b) => at(a) - at(b));
}

/** Letters in fixed places, a dot for what was not measured: "e·sd··". @param {Iterable<string>} names */
export function letters(names) {
  const has = new Set(names);
  return MODES.map((m) => (has.has(m.name) ? m.letter : "·")).join("");
}

/** Which mode a view opens with: static where it was measured, else the first compiled one.
 * @param {Iterable<string>} names @returns {string | null} */
export function headline(names) {
  const compiled = inOrder(names).filter((n) => n !== "eager");
  return compiled.includes("static") ? "static" : (compiled[0] ?? null);
}
