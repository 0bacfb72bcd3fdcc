// js/view/source.js -- the program as it was posted, or as it was at a point; beside it
// what comes from the picked line.

import { h, add, copyButton, download, select, stateWell } from "./dom.js";
import { codeWell, showLine } from "./code.js";
import { entryFile, filesOf, firstFile } from "./file_choice.js";
import { joinedList, shown } from "./joined.js";
import { fileTree } from "./tree.js";
import { onPick, pick, picked } from "./pick.js";
import { remember } from "./router.js";
import { breakRows, eagerFrames, lineMarks } from "../model/breaks.js";
import { plain, plural } from "../model/format.js";
import { fileStem } from "../model/commands.js";
import { keyOf } from "../model/places.js";
import { joinLines } from "../model/selection.js";

/** @typedef {import("../api/types.js").Run} Run */

/**
 * `?line=4` picks a line, `?n=10` the source of that point.
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {Run} run
 */
export function sourceTab(ctx, body, run) {
  const files = filesOf(run);
  if (files) return filesTab(ctx, body, run, files);
  const posted = run.workload?.source ?? run.report?.workload?.source ?? "";
  const points = (run.report?.points ?? []).filter((p) => p.source && p.source !== posted);
  if (!posted && !points.length) return add(body, stateWell("The source is not here", h("p", {}, "It was left out of the file that the run came from.")));
  let text = posted;
  const place = h("div");
  const side = h("div", { class: "graphside" });
  /** @type {HTMLElement} */
  let well;
  const beside = () => {
    const now = picked();
    const at = shown(run);
    // What the report knows are lines of the source that ran.
    const of = at?.m && at.source === text ? joinLines(at.m, at.said).get(keyOf(now)) : undefined;
    side.replaceChildren(...joinedList(run, now, of, at?.mode ?? ""));
    showLine(well, now.line);
  };
  const fill = (/** @type {string} */ v) => {
    text = v === "" ? posted : (points[Number(v)].source ?? "");
    const at = shown(run);
    const marks = at?.m && at.source === text ? lineMarks(breakRows(at.m, at.said), eagerFrames(at.m, at.said)) : undefined;
    well = codeWell(text, "Source", { error: v === "" ? run.error : null, marks, pick: (line) => pick({ line }) });
    place.replaceChildren(well);
    beside();
  };
  const at = points.findIndex((p) => p.n === Number(ctx.query.get("n") ?? NaN));
  const first = at < 0 ? "" : String(at);
  const change = (/** @type {string} */ v) => {
    remember({ n: v === "" ? null : String(points[Number(v)].n) });
    fill(v);
  };
  const order = [{ value: "", label: "as posted" }, ...points.map((p, i) => ({ value: String(i), label: `as run at n = ${plain(p.n ?? 0)}` })).reverse()];
  const choose = points.length
    ? [h("label", { class: "small sub", for: "source-point" }, "Show"), select(order, first, { id: "source-point" }, change)]
    : null;
  const save = download("Download", `${fileStem(run.name)}.py`, "text/x-python", () => text);
  const acts = h("div", { class: "acts" }, choose, copyButton(() => text), save);
  add(body, h("div", { class: "bar gap" }, h("h2", {}, `${fileStem(run.name)}.py`), acts), h("div", { class: "graphwrap sourcewrap" }, place, side));
  fill(first);
  onPick(ctx.signal, beside);
  const sweep = run.workload?.sweep?.statements;
  if (sweep?.pool) add(body, poolSection(sweep.pool, sweep.counts));
}

/**
 * A program of several files: one at a time, `?file=models/unet.py&line=4`, the entry's first; beside it what comes from the picked line.
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {Run} run
 * @param {Record<string, string>} files
 */
function filesTab(ctx, body, run, files) {
  const paths = Object.keys(files).sort();
  const entry = entryFile(run);
  const now = shown(run);
  const rows = now?.m ? breakRows(now.m, now.said) : [];
  const note = (/** @type {string} */ path) => {
    const n = new Set(rows.filter((r) => r.file === path).map((r) => r.line)).size;
    return [run.error?.file === path ? "error" : "", n ? `breaks in ${plural(n, "line")}` : ""].filter(Boolean).join(", ");
  };
  const first = firstFile(run, files, [picked().file]);
  const joined = now?.m ? joinLines(now.m, now.said) : null;
  const [place, side] = [h("div"), h("div", { class: "graphside" })];
  const title = h("h2", {}, first);
  let [text, shownPath] = ["", ""];
  const save = h("span");
  const beside = () => {
    const at = picked();
    if (at.file in files && at.file !== shownPath) fill(at.file);
    const here = at.file === shownPath ? at.line : 0;
    side.replaceChildren(...joinedList(run, { line: here, file: shownPath }, here ? joined?.get(keyOf(at)) : undefined, now?.mode ?? ""));
    showLine(/** @type {HTMLElement} */ (place.firstElementChild), here);
  };
  const fill = (/** @type {string} */ path) => {
    shownPath = path;
    text = files[path] ?? "";
    save.replaceChildren(download("Download", path.slice(path.lastIndexOf("/") + 1), "text/x-python", () => text));
    const marks = now?.m ? lineMarks(rows, eagerFrames(now.m, now.said), path) : undefined;
    const error = run.error?.file === path ? run.error : null;
    place.replaceChildren(codeWell(text, path, { error, marks, pick: (line) => pick({ line, file: path }) }));
    title.textContent = path;
    tree.show(path);
  };
  const change = (/** @type {string} */ path) => {
    pick({ file: path });
    fill(path);
    beside();
  };
  const tree = fileTree(paths, { entry, note, choose: change });
  fill(first);
  beside();
  onPick(ctx.signal, beside);
  const acts = h("div", { class: "acts" }, copyButton(() => text), save);
  add(body, h("div", { class: "bar gap" }, title, acts), h("div", { class: "filewrap" }, tree.el, h("div", { class: "graphwrap sourcewrap" }, place, side)));
}

/** @param {readonly string[]} pool @param {readonly number[]} counts */
function poolSection(pool, counts) {
  const about = h("p", {}, `the first n, cycling, take the place of ... in the source; n = ${counts.join(", ")}`);
  const head = h("header", {}, h("h2", {}, "Pool of statements"), about);
  return h("section", { class: "sec gap", "aria-label": "What the sweep puts in" }, head, codeWell(pool.join("\n"), "Pool of statements"));
}
