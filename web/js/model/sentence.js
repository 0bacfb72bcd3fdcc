// js/model/sentence.js -- sentences in parts: the server's findings, and those of comparisons, suites and histories.

import { number } from "./format.js";

/** @typedef {import("../api/report.js").ReportSentencePart} Part claim: in bold; interval: in grey; plain without */

export const DISAGREES = "DISAGREES";

/** The CSS class of a verdict or status word. @param {string} word */
export function chipClass(word) {
  return word.toLowerCase().replace(/[^a-z]/g, "");
}

/** Where the curve of a mode meets eager's.  Curves that do not cross lie at every point as at the last, whose verdict the
 * row has. @param {import("../api/types.js").Summary} s */
export function meetsEager(s) {
  if (s.speedup === null) return "none";
  if (typeof s.crossover_n === "number") return `n = ${number(s.crossover_n)}`;
  if (typeof s.at_n !== "number") return "no sweep";
  return { FASTER: "always ahead", SLOWER: "never ahead" }[s.verdict] ?? "no crossing";
}

/** @param {readonly Part[]} parts @returns {string} */
export const asText = (parts) => parts.map((p) => p.text).join("").replace(/\u00a0/g, " ");

/** What the findings say of a mode at a point of the run. @param {import("../api/types.js").Run} run @param {{n?: number | null}} point
 * @param {string} mode @returns {import("../api/report.js").ReportFindingsMode | undefined} */
export const saidOf = (run, point, mode) => run.findings?.points.find((p) => (p.n ?? null) === (point.n ?? null))?.modes[mode];

/** An equation and a figure with its unit stay on one line. @param {string} text */
export const unbroken = (text) => text.replace(/ = (?=\d)/g, "\u00a0=\u00a0").replace(/(\d) (µs|ms|s|min|B|kB|MB|GB)(?![\w-])/g, "$1\u00a0$2");

/** "(3.54–3.55)", with a word where an end is negative; "" where none was measured.
 * @param {import("../api/report.js").ReportFigure | null | undefined} f */
export const intervalOf = (f) => (f?.low ? `(${f.low}${/^[-−+]/.test(f.low) ? " to " : "–"}${f.high})` : "");
