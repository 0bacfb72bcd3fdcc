// js/view/source.js -- the program as it was posted, or as it was at a point; beside it
// what comes from the picked line.

import { h, add, copyButton, download, select, stateWell } from "./dom.js";
import { codeWell, showLine } from "./code.js";
import { joinedList, shown } from "./joined.js";
import { fileTree } from "./tree.js";
import { onPick, pick, picked } from "./pick.js";
import { remember } from "./router.js";
import { breakRows, eagerFrames, lineMarks } from "../model/breaks.js";
import { plain, plural } from "../model/format.js";
import { fileStem } from "../model/commands.js";
import { splitEntry } from "../model/program.js";
import { joinLines } from "../model/selection.js";

/** @typedef {import("../api/types.js").Run} Run */

/**
 * `?line=4` picks a line, `?n=10` the source of that point.
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {Run} run
 */
export function sourceTab(ctx, body, run) {
  const files = run.workload?.files ?? run.report?.workload?.files;
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
    const of = at?.m && at.source === text ? joinLines(at.m, at.said).get(now.line) : undefined;
    side.replaceChildren(...joinedList(run, now.line, of, at?.mode ?? ""));
    showLine(well, now.line);
  };
  const fill = (/** @type {string} */ v) => {
    text = v === "" ? posted : (points[Number(v)].source ?? "");
    const at = shown(run);
    const marks = at?.m && at.source === text ? lineMarks(breakRows(at.m, at.said), eagerFrames(at.m, at.said).flatMap((f) => f.lines)) : undefined;
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
 * A program of several files: one at a time, `?file=models/unet.py`, the entry's first.
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {Run} run
 * @param {Record<string, string>} files
 */
function filesTab(ctx, body, run, files) {
  const paths = Object.keys(files).sort();
  const entry = splitEntry(run.workload?.entry ?? run.report?.workload?.entry ?? "").path;
  const asked = ctx.query.get("file") ?? "";
  const now = shown(run);
  const rows = now?.m ? breakRows(now.m, now.said) : [];
  const note = (/** @type {string} */ path) => {
    const n = new Set(rows.filter((r) => r.file === path).map((r) => r.line)).size;
    return [run.error?.file === path ? "error" : "", n ? `breaks in ${plural(n, "line")}` : ""].filter(Boolean).join(", ");
  };
  const first = [asked, entry, paths[0]].find((p) => p in files) ?? "";
  const place = h("div");
  const title = h("h2", {}, first);
  let text = "";
  const save = h("span");
  const fill = (/** @type {string} */ path) => {
    text = files[path] ?? "";
    save.replaceChildren(download("Download", path.slice(path.lastIndexOf("/") + 1), "text/x-python", () => text));
    const eager = now?.m ? eagerFrames(now.m, now.said).flatMap((f) => f.lines.filter((_, i) => f.files[i] === path)) : [];
    const marks = lineMarks(rows.filter((r) => r.file === path).map((r) => ({ ...r, callers: [] })), eager);
    const error = run.error?.file === path ? run.error : null;
    place.replaceChildren(codeWell(text, path, { error, marks }));
    title.textContent = path;
    tree.show(path);
  };
  const change = (/** @type {string} */ path) => {
    remember({ file: path === entry ? null : path });
    fill(path);
  };
  const tree = fileTree(paths, { entry, note, choose: change });
  fill(first);
  const acts = h("div", { class: "acts" }, copyButton(() => text), save);
  add(body, h("div", { class: "bar gap" }, title, acts), h("div", { class: "filewrap" }, tree.el, place));
}

/** @param {readonly string[]} pool @param {readonly number[]} counts */
function poolSection(pool, counts) {
  const about = h("p", {}, `the first n, cycling, take the place of ... in the source; n = ${counts.join(", ")}`);
  const head = h("header", {}, h("h2", {}, "Pool of statements"), about);
  return h("section", { class: "sec gap", "aria-label": "What the sweep puts in" }, head, codeWell(pool.join("\n"), "Pool of statements"));
}
