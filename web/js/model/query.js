// js/model/query.js -- the search box's words to the list's parameters.
//
// "device:cpu tag:nightly softmax" filters by field, "breaks:>2 speedup:<1.1" by number, and the rest is searched; a word with a
// colon that names no field, no verdict there is or no number, is searched as it is.  Quotes hold
// a value with spaces.

import { count, plural } from "./format.js";

const NUMBERS = ["speedup", "breaks", "median"];
const FIELDS = ["verdict", "project", "tag", "device", ...NUMBERS];
/** Where the server looks for a word alone: source:gelu. */
const SEARCHED = ["note", "source", "reason"];
const A_NUMBER = /^(?:[<>]=?)?-?\d+(?:\.\d+)?(?:e-?\d+)?$/;
/** What the server knows of verdicts, and what each says of the mode that a run is judged by.
 * @type {Readonly<Record<string, string>>} */
export const VERDICTS = { faster: "faster than eager", slower: "slower than eager", same: "as fast as eager", ambiguous: "ambiguous", "not-enough": "too few rounds", disagrees: "values differ from eager's", broken: "broken" };

/** @typedef {{q: string, verdict?: string, project?: string, tag?: string, device?: string, speedup?: string, breaks?: string, median?: string}} Query */

/** @param {string} text */
const wordsOf = (text) => text.match(/-?(?:[a-z]+:)?"[^"]*"|\S+/g) ?? [];

/** The field and value of a word; null where it is searched as it is. @param {string} word */
function fieldOf(word) {
  const m = /^([a-z]+):(?:"([^"]*)"|(.+))$/.exec(word);
  const value = m?.[2] ?? m?.[3] ?? "";
  if (!m || !FIELDS.includes(m[1]) || (m[1] === "verdict" && !Object.hasOwn(VERDICTS, value)) || (NUMBERS.includes(m[1]) && !A_NUMBER.test(value))) return null;
  return { field: m[1], value };
}

/** @param {string} text @returns {Query} */
export function parseQuery(text) {
  /** @type {Record<string, string>} */
  const out = {};
  const words = wordsOf(text).filter((w) => {
    const f = fieldOf(w);
    if (f) out[f.field] = f.value;
    return !f;
  });
  return { q: words.join(" "), ...out };
}

/** Words that look like a filter and are none, each with what would be right. @param {string} text @returns {string[]} */
export function mistakes(text) {
  return wordsOf(text).flatMap((w) => {
    const field = /^([a-z]+):/.exec(w)?.[1];
    if (!field || fieldOf(w) || SEARCHED.includes(field)) return [];
    if (NUMBERS.includes(field)) return [`${w} is no filter: ${field} takes a number or a bound, as ${field}:2 or ${field}:>2.`];
    if (field === "verdict") return [`${w} is no filter: there are ${Object.keys(VERDICTS).map((v) => `verdict:${v}`).join(", ")}.`];
    return [`${w} is no filter: there are ${[...FIELDS, ...SEARCHED].map((f) => `${f}:`).join(", ")}.`];
  });
}

/** How many runs each part of a search has alone. @param {readonly string[]} labels @param {readonly number[]} totals */
export const aloneText = (labels, totals) =>
  `${labels.map((label, i) => {
    const n = totals[i];
    const runs = i ? (n ? count(n) : "none") : n ? plural(n, "run") : "No run";
    return `${runs} ${n > 1 ? "match" : "matches"} ${label}`;
  }).join(", ")}.`;

/** The text with a field set to a value, or without it. @param {string} text @param {string} field @param {string} value */
export function withField(text, field, value) {
  const others = wordsOf(text).filter((w) => fieldOf(w)?.field !== field);
  const word = value ? [`${field}:${/\s/.test(value) ? `"${value}"` : value}`] : [];
  return [...others, ...word].join(" ");
}

/** Each part of a search that can be dropped, with what is left without it.
 * @param {string} text @param {string} status @returns {{label: string, text: string, status: string}[]} */
export function drops(text, status) {
  const words = wordsOf(text);
  const fields = words.filter(fieldOf);
  const free = words.filter((w) => !fieldOf(w));
  const out = fields.map((f) => ({ label: f, text: words.filter((w) => w !== f).join(" "), status }));
  if (free.length) out.push({ label: free.join(" "), text: fields.join(" "), status });
  if (status) out.push({ label: `status:${status}`, text, status: "" });
  return out;
}
