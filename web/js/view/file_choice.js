// js/view/file_choice.js -- which file of a program of several is shown.

import { add, h } from "./dom.js";
import { splitEntry } from "../model/program.js";

/** @typedef {import("../api/types.js").Run} Run */

/** The texts by path; null: the program is one text. @param {Run} run @returns {Record<string, string> | null} */
export const filesOf = (run) => run.workload?.files ?? run.report?.workload?.files ?? null;

/** The file of the entry. @param {Run} run */
export const entryFile = (run) => splitEntry(run.workload?.entry ?? run.report?.workload?.entry ?? "").path;

/** The first of those wanted that is there, else the entry's. @param {Run} run @param {Record<string, string>} files @param {readonly string[]} wanted */
export const firstFile = (run, files, wanted) => [...wanted, entryFile(run), ...Object.keys(files).sort()].find((path) => path in files) ?? "";

/**
 * A select of all files, those that matter here first.
 * @param {Record<string, string>} files @param {string} now
 * @param {readonly string[]} own those that matter @param {string} why what they are, as "of this graph"
 * @param {(path: string) => void} choose @param {(path: string) => string} [note] beside a name
 */
export function fileChoice(files, now, own, why, choose, note = () => "") {
  const el = h("select", { class: "field", "aria-label": "File" });
  const group = (/** @type {string} */ label, /** @type {readonly string[]} */ paths) =>
    paths.length ? h("optgroup", { label }, paths.map((value) => h("option", { value }, [value, note(value)].filter(Boolean).join(", ")))) : null;
  const first = own.filter((path) => path in files);
  add(el, group(`Files ${why}`, first), group(first.length ? "Other files" : "Files", Object.keys(files).sort().filter((path) => !first.includes(path))));
  el.value = now;
  el.addEventListener("change", () => choose(el.value));
  return el;
}
