// js/model/program.js -- a program of several files: its tree, its entry, what of a folder is of it.
//
// The server unpacks a .zip by the same rules (profiler/gather); here they are for folders and files
// that are dropped on the page.

import { entries, parameters } from "./source.js";

/** @typedef {Record<string, string>} Files texts by path */
/** @typedef {{name: string, path: string, below: Tree[] | null}} Tree `below` of a folder */

const SKIPPED = /(^|\/)(\.[^/]*|__pycache__|__MACOSX)(\/|$)/;

/** Whether a path of a folder is a file of the program. @param {string} path */
export const isOfProgram = (path) => /\.py$/.test(path) && !SKIPPED.test(path);

/** Without the only folder that all are in, where that is no package. @param {Files} files @returns {Files} */
export function withoutFolder(files) {
  const paths = Object.keys(files);
  const first = paths[0]?.includes("/") ? paths[0].slice(0, paths[0].indexOf("/") + 1) : "";
  if (!first || `${first}__init__.py` in files || !paths.every((p) => p.startsWith(first))) return files;
  return Object.fromEntries(paths.map((p) => [p.slice(first.length), files[p]]));
}

/** Folders before files, each by name. @param {readonly string[]} paths @returns {Tree[]} */
export function treeOf(paths) {
  /** @type {Tree[]} */
  const top = [];
  for (const path of paths) {
    let level = top;
    const names = path.split("/");
    names.slice(0, -1).forEach((name, i) => {
      let folder = level.find((t) => t.below && t.name === name);
      if (!folder) level.push((folder = { name, path: names.slice(0, i + 1).join("/"), below: [] }));
      level = folder.below ?? [];
    });
    level.push({ name: names[names.length - 1], path, below: null });
  }
  return inOrder(top);
}

/** @param {Tree[]} level @returns {Tree[]} */
function inOrder(level) {
  const sorted = [...level].sort((a, b) => Number(!a.below) - Number(!b.below) || (a.name < b.name ? -1 : 1));
  return sorted.map((t) => (t.below ? { ...t, below: inOrder(t.below) } : t));
}

/** "train.py:model" as its two parts. @param {string} entry @returns {{path: string, name: string}} */
export function splitEntry(entry) {
  const [, path, name] = /^(.*?\.py)(?::(.*))?$/.exec(entry) ?? [];
  return path ? { path, name: name || "model" } : { path: "", name: entry };
}

const LIKELY = ["model.py", "train.py", "main.py", "run.py", "demo.py", "sample.py", "inference.py"];
const NO_ENTRY = /^(main|get_args|parse_args|get_parser|setup|_.*)$/;

/** What may be run of a text, the likeliest last. @param {string} text */
function runnable(text) {
  const functions = entries(text).filter((n) => !NO_ENTRY.test(n) && parameters(text, n) !== null);
  return functions.includes("model") ? ["model"] : functions;
}

/**
 * The file and function that somebody would run: of a script at the top, else of what is deepest the
 * least.
 * @param {Files} files @returns {{path: string, name: string}}
 */
export function proposeEntry(files) {
  const rank = (/** @type {string} */ path) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const known = LIKELY.indexOf(name);
    const script = /^if __name__ ==/m.test(files[path]) ? 0 : 1;
    return [runnable(files[path]).length ? 0 : 1, known < 0 ? 1 : 0, script, path.split("/").length, known];
  };
  const paths = Object.keys(files).map((path) => ({ path, rank: rank(path) }));
  paths.sort((a, b) => a.rank.map((r, i) => r - b.rank[i]).find((d) => d) || (a.path < b.path ? -1 : 1));
  const path = paths[0]?.path ?? "";
  const names = runnable(files[path] ?? "");
  return { path, name: names[names.length - 1] ?? entries(files[path] ?? "").at(-1) ?? "model" };
}
