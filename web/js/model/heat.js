// js/model/heat.js -- which colour a ratio has on a map.

const STEPS = 5;
/** At twice or half and beyond the colour is the strongest but one; at four times the strongest. */
const OCTAVES = 2;

/** From -5, far slower, to 5, far faster; 0 within 2 % of 1x. @param {number} ratio over 1: better */
export function heatLevel(ratio) {
  if (!(ratio > 0) || Math.abs(ratio - 1) < 0.02) return 0;
  const level = Math.min(1, Math.abs(Math.log2(ratio)) / OCTAVES) * STEPS;
  return Math.sign(Math.log2(ratio)) * Math.max(1, Math.round(level));
}
