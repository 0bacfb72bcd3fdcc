// js/model/timeline_marks.js -- times of a timeline that a reader has marked, as the address has them:
// "1200000~first kernel.1400000~", in order of their times.

/** @typedef {{t: number, name: string}} Mark t: ns from the first event */

const MOST = 40;
const NAME_CHARS = 40;

/** @param {readonly Mark[]} marks @returns {Mark[]} */
const inOrder = (marks) => [...marks].sort((a, b) => a.t - b.t).slice(0, MOST);

/** @param {string} name */
const shortened = (name) => [...name.replace(/[\s~.]+/g, " ").trim()].slice(0, NAME_CHARS).join("");

/** @param {string} text @param {number} span @returns {Mark[]} */
export function marksOf(text, span) {
  const marks = text.split(".").flatMap((part) => {
    const [t, name = ""] = part.split("~");
    return /^\d+$/.test(t) && Number(t) <= span ? [{ t: Number(t), name: shortened(name) }] : [];
  });
  return inOrder(marks);
}

/** @param {readonly Mark[]} marks */
export const marksText = (marks) => marks.map((m) => `${m.t}~${m.name}`).join(".");

/** One more; there are no two at one time, and no more than so many. @param {readonly Mark[]} marks @param {number} t @param {number} span @returns {readonly Mark[]} */
export function setMark(marks, t, span) {
  const at = Math.round(Math.min(span, Math.max(0, t)));
  return marks.length >= MOST || marks.some((m) => m.t === at) ? marks : inOrder([...marks, { t: at, name: "" }]);
}

/** To another time, past others too. @param {readonly Mark[]} marks @param {number} i @param {number} t @param {number} span */
export const moveMark = (marks, i, t, span) => inOrder(marks.map((m, k) => (k === i ? { ...m, t: Math.round(Math.min(span, Math.max(0, t))) } : m)));

/** @param {readonly Mark[]} marks @param {number} i @param {string} name */
export const nameMark = (marks, i, name) => marks.map((m, k) => (k === i ? { ...m, name: shortened(name) } : m));

/** @param {readonly Mark[]} marks @param {number} i */
export const dropMark = (marks, i) => marks.filter((_, k) => k !== i);

/** What a mark is called: its name, else its number. @param {readonly Mark[]} marks @param {number} i */
export const markName = (marks, i) => marks[i].name || `mark ${i + 1}`;
