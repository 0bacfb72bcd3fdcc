// js/view/timeline_stack.js -- what the host was in when it launched what is pointed at: ops and Python frames, the
// innermost first, and of a backward its forward.

import { h, add } from "./dom.js";
import { fillIn } from "./waiting.js";
import { viewUrl } from "./joined.js";
import { swatch } from "./timeline_tables.js";
import { getStack } from "../api/client.js";
import { partOf } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */
/** @typedef {import("./timeline.js").Asked} Asked */

const MOST = 40;

/** A frame of Python: where it is, and its function. @param {string} name */
function placeIn(name) {
  const [, file, line, what] = name.match(/^(.*\.py)\((\d+)\): (.*)$/) ?? [];
  return file ? { file, line: Number(line), what } : null;
}

/** @param {{name: string, as: string}} frame @param {Asked} asked */
function rowOf({ name, as }, { run }) {
  const at = placeIn(name);
  const own = at && Object.keys(run.workload?.files ?? {}).find((f) => at.file.endsWith(f));
  const text = at ? [`${at.what}, `, own ? h("a", { href: viewUrl(run, "source", { file: own, line: at.line }) }, `${at.file}:${at.line}`) : h("span", { class: "dim" }, `${at.file}:${at.line}`)] : name;
  return h("li", { class: "key" }, swatch(as), h("span", {}, text));
}

/** Adds to the panel of a slice what a thread was in at a moment. @param {HTMLElement} place @param {Slice} at on the host @param {Asked} asked @param {() => boolean} wanted still */
export function addStack(place, at, asked, wanted) {
  const { run, signal } = asked;
  const stack = h("div");
  add(place, stack);
  const part = (/** @type {string} */ title, /** @type {{name: string, as: string}[]} */ frames) => {
    if (frames.length) add(stack, h("h4", { class: "small" }, title), h("ol", { class: "stack" }, frames.toReversed().slice(0, MOST).map((f) => rowOf(f, asked))));
  };
  return fillIn(stack, { what: "The stack", signal, still: wanted }, () => getStack(String(run.id), { ...partOf(asked), lane: at.lane, at: Math.floor(at.start) }, signal), (told) => {
    part("Stack, the innermost first", told.frames);
    part("Its forward", told.forward);
  });
}
