// js/model/mixed.js -- what autocast saved, in words.

import { list } from "./format.js";

/** @typedef {import("../api/types.js").Mixed} Mixed */

/**
 * The answer, slower and larger as plainly as faster and smaller.
 * @param {Mixed} mixed @param {readonly string[]} modes those that it has
 */
export function mixedSentence(mixed, modes) {
  const timed = modes.filter((m) => mixed.modes[m].verdict);
  const of = (/** @type {string} */ word) => timed.filter((m) => mixed.modes[m].verdict === word);
  const unclear = timed.filter((m) => !["FASTER", "SLOWER"].includes(String(mixed.modes[m].verdict)));
  const speed = [
    ...(of("FASTER").length ? [`faster in ${list(of("FASTER"))}`] : []),
    ...(of("SLOWER").length ? [`slower in ${list(of("SLOWER"))}`] : []),
  ];
  const ratio = (/** @type {string} */ m) => mixed.modes[m].activation_ratio ?? 1;
  const [less, more] = [modes.filter((m) => ratio(m) < 1), modes.filter((m) => ratio(m) > 1)];
  const memory = [
    ...(less.length ? [`less memory in ${list(less)}`] : []),
    ...(more.length ? [`more in ${list(more)}: the copies that it casts outweigh the smaller results`] : []),
  ];
  return [
    speed.length ? `Autocast is ${speed.join(" and ")}.` : "",
    unclear.length ? `In ${list(unclear)} no difference can be told.` : "",
    memory.length ? `It takes ${memory.join(" and ")}.`.replace("takes more in", "takes more memory in") : "",
  ]
    .filter(Boolean)
    .join(" ");
}
