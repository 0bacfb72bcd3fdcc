// js/view/files.js -- a program or a workload from files, opened or dropped.
//
// A .py, or the Python of a notebook, gets inputs for its parameters; a .json is a whole workload, or a report with one in it; a
// .zip, a folder or several files are a program of several files, whose entry is proposed.

import { h, button } from "./dom.js";
import { givenBy, givenOf } from "./dropped.js";
import { ApiError, postUnpack } from "../api/client.js";
import { notebookSource } from "../model/notebook.js";
import { isOfProgram, withoutFolder } from "../model/program.js";
import { entries, likelyEntry, parameters } from "../model/source.js";
import { fromFiles, fromProgram } from "../model/workload.js";

/** @typedef {import("../api/types.js").Workload} Workload */
/**
 * @typedef {object} Receiver
 * @property {(w: Workload, note: string, bare: boolean) => void} load bare: a program without inputs, for which some were made up
 * @property {(p: import("../api/types.js").Problem) => void} problem
 */
/** @typedef {import("./dropped.js").Given} Given */

const MOST_BYTES = 4 * 1024 * 1024;
const MOST_FILES = 1000;

/**
 * @param {string} name
 * @param {string} text
 * @returns {Workload}
 */
function parse(name, text) {
  if (/\.json$/i.test(name)) {
    const parsed = JSON.parse(text);
    const w = parsed?.breakeven ? parsed.workload : parsed;
    if (!w || (typeof w.source !== "string" && !w.files)) throw new Error("it has neither a string `source` nor `files`");
    return w;
  }
  if (/\.ipynb$/i.test(name)) return fromSource(name, notebookSource(text));
  if (!/\.py$/i.test(name)) throw new Error("a .py, .ipynb, .json or .zip file can be one");
  return fromSource(name, text);
}

/** Its entry is `model`, else the last that is defined. @param {string} name @param {string} text */
function fromSource(name, text) {
  const entry = likelyEntry(entries(text));
  return fromProgram(stem(name), text, entry, parameters(text, entry) ?? []);
}

/** @param {string} name */
const stem = (name) => name.replace(/\.[^.]*$/, "");

/** @param {File} file @returns {Promise<Workload>} */
async function readOne(file) {
  if (/\.zip$/i.test(file.name)) return fromFiles(stem(file.name), (await postUnpack(file)).files);
  if (file.size > MOST_BYTES) throw new Error("it is larger than 4 MiB, more than a workload may be");
  return parse(file.name, await file.text());
}

/** @param {string} name @param {readonly Given[]} given @returns {Promise<Workload>} */
async function readProgram(name, given) {
  const of = given.filter((g) => isOfProgram(g.path));
  if (!of.length) throw new Error("it holds no .py file");
  if (of.length > MOST_FILES) throw new Error(`it has ${of.length} .py files; the limit is ${MOST_FILES}`);
  if (of.reduce((sum, g) => sum + g.file.size, 0) > MOST_BYTES) throw new Error("its .py files are larger than 4 MiB together");
  const texts = await Promise.all(of.map(async (g) => [g.path, await g.file.text()]));
  return fromFiles(name, withoutFolder(Object.fromEntries(texts)));
}

/** @param {readonly Given[]} given @param {Receiver} to */
async function read(given, to) {
  if (!given.length) return;
  const [{ path, file }] = given;
  const one = given.length === 1 && !path.includes("/");
  const folder = path.includes("/") ? path.slice(0, path.indexOf("/")) : "program";
  const name = one ? file.name : folder;
  try {
    const workload = one ? await readOne(file) : await readProgram(folder, given);
    to.load(workload, `from ${name}, not run yet`, !/\.json$/i.test(name));
  } catch (e) {
    if (e instanceof ApiError) to.problem(e.problem);
    else to.problem({ message: `${name} is not a workload: ${e instanceof Error ? e.message : e}` });
  }
}

/** @param {Receiver} to */
export function opener(to) {
  const field = (/** @type {string} */ id, /** @type {string} */ name, /** @type {Record<string, unknown>} */ more) => {
    const input = h("input", { type: "file", multiple: true, hidden: true, id, tabindex: -1, "aria-label": name, ...more });
    input.addEventListener("change", async () => {
      await read(givenOf(input.files), to);
      input.value = "";
    });
    return input;
  };
  const file = field("file", "Open files or a .zip", { accept: ".py,.ipynb,.json,.zip" });
  const folder = field("folder", "Open a folder", { webkitdirectory: true });
  return h(
    "span",
    {},
    file,
    folder,
    button("Open or drop files, .zip", () => file.click()),
    button("Folder", () => folder.click(), { "aria-label": "Open a folder" }),
  );
}

/**
 * Takes files and folders that are dropped on an element.
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
    if (!e.dataTransfer?.files.length) return;
    e.preventDefault();
    givenBy(e.dataTransfer).then(
      (given) => read(given, to),
      (why) => to.problem({ message: `What was dropped cannot be read: ${why instanceof Error ? why.message : why}` }),
    );
  });
}
