// js/view/files.js -- a program or a workload from a file, opened or dropped.
//
// A .py gets inputs for its parameters; a .json is a whole workload, or a report
// with one in it.

import { h, button } from "./dom.js";
import { entries, parameters } from "../model/source.js";
import { fromProgram } from "../model/workload.js";

/** @typedef {import("../api/types.js").Workload} Workload */
/**
 * @typedef {object} Receiver
 * @property {(w: Workload, note: string) => void} load
 * @property {(p: import("../api/types.js").Problem) => void} problem
 */

const MOST_BYTES = 4 * 1024 * 1024;

/**
 * @param {string} name
 * @param {string} text
 * @returns {Workload}
 */
function parse(name, text) {
  if (/\.json$/i.test(name)) {
    const parsed = JSON.parse(text);
    const w = parsed?.breakeven ? parsed.workload : parsed;
    if (!w || typeof w.source !== "string") throw new Error("it has no text `source`");
    return w;
  }
  if (!/\.py$/i.test(name)) throw new Error("a .py or a .json file can be one");
  const names = entries(text);
  const entry = names.includes("model") ? "model" : (names[names.length - 1] ?? "model");
  return fromProgram(name.replace(/\.[^.]*$/, ""), text, entry, parameters(text, entry) ?? []);
}

/**
 * @param {File} file
 * @param {Receiver} to
 */
async function read(file, to) {
  if (file.size > MOST_BYTES)
    return to.problem({ message: `${file.name} is larger than 4 MiB, more than a workload may be.` });
  try {
    return to.load(parse(file.name, await file.text()), `from ${file.name}, nothing has run yet`);
  } catch (e) {
    return to.problem({ message: `${file.name} is no workload: ${e instanceof Error ? e.message : e}` });
  }
}

/** @param {Receiver} to */
export function opener(to) {
  const name = "Open a .py or .json file";
  const file = h("input", {
    type: "file",
    accept: ".py,.json",
    hidden: true,
    id: "file",
    tabindex: -1,
    "aria-label": name,
  });
  file.addEventListener("change", () => {
    if (file.files?.[0]) read(file.files[0], to);
    file.value = "";
  });
  return h(
    "span",
    {},
    file,
    button("Open or drop .py, .json", () => file.click()),
  );
}

/**
 * Takes files that are dropped on an element.
 * @param {HTMLElement} el
 * @param {Receiver} to
 */
export function acceptDrops(el, to) {
  const over = (/** @type {boolean} */ on) => el.classList.toggle("dropping", on);
  el.addEventListener("dragover", (e) => {
    if (!e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    over(true);
  });
  el.addEventListener("dragleave", () => over(false));
  el.addEventListener("drop", (e) => {
    over(false);
    const file = e.dataTransfer?.files[0];
    if (!file) return;
    e.preventDefault();
    read(file, to);
  });
}
