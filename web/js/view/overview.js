// js/view/overview.js -- is compiling worth it, and from when on?
//
// A sentence, then its evidence: modes at one point, both curves, where the
// floor comes from, how to repeat it, warnings and the machine.

import { h, add, ci, chip, copyButton, download, scroller, select, button } from "./dom.js";
import { remember } from "./router.js";
import { onKeys } from "./frame.js";
import { axisHead, modeMark, ratioAxis, whisker } from "./marks.js";
import { curvesSection } from "./curves.js";
import { splitSection } from "./split.js";
import { bytesUnit, calls, count, duration, number, ratio, smallError, timeUnit, withInterval, plain } from "../model/format.js";
import { chipClass, headline, how, sentence, warnings, wordOf } from "../model/verdict.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { BUILT } from "../model/modes.js";
import { fileStem, runLine } from "../model/commands.js";
import { machineFacts } from "../model/machine.js";

/** @typedef {import("../api/types.js").Report} Report */
/** @typedef {import("../api/types.js").Point} Point */

/** @param {import("./router.js").Context} ctx @param {HTMLElement} body @param {import("../api/types.js").Run} run @param {Report} report */
export function overview(ctx, body, run, report) {
  const points = pointsOf(report);
  const modes = modesOf(points);
  const mode = headline(modes);
  const asked = Number(ctx.query.get("n") ?? NaN);
  let at = points.findIndex((p) => p.n === asked);
  if (at < 0) at = points.length - 1;
  const last = points[points.length - 1];

  const verdict = h("section", { class: "verdict", "aria-label": "Verdict" },
    h("p", { id: "verdict" }, sentence(report, last, mode).map((p) => (p.b ? h("b", {}, p.t) : p.ci ? h("span", { class: "ci" }, p.t) : p.t))),
    h("p", { class: "how" }, how(last)));
  const modesPlace = h("div");
  const splitPlace = h("div");
  const againPlace = h("div");
  const choose = (/** @type {number} */ i) => {
    at = i;
    const n = points[i].n;
    remember({ n: i === points.length - 1 || typeof n !== "number" ? null : String(n) });
    fill();
  };
  const fill = () => {
    modesPlace.replaceChildren(modesSection(run, points, at, modes, choose));
    splitPlace.replaceChildren(...splitSection(points[at], modes));
    againPlace.replaceChildren(reproduce(run, report, points[at], modes));
  };
  fill();
  const curves = report.points?.length ? curvesSection(run, report, mode, ctx.signal) : null;
  add(body, verdict, modesPlace, curves?.el, splitPlace, againPlace, notes(run, report));
  if (curves) onKeys(ctx.signal, { t: () => curves.toggle() });
}

/** @param {Point} p */
const pointName = (p) => (typeof p.n === "number" ? `n = ${plain(p.n)}` : "this input");

/** @param {import("../api/types.js").Run} run @param {readonly Point[]} points @param {number} at @param {readonly string[]} modes @param {(i: number) => void} choose */
function modesSection(run, points, at, modes, choose) {
  const p = points[at];
  const title = points.length > 1 ? `Modes at ${pointName(p)}` : "Modes";
  const order = points.map((q, i) => ({ value: String(i), label: pointName(q) })).reverse();
  const chooser = points.length > 1
    ? h("div", { class: "acts" }, h("label", { class: "small sub", for: "point" }, "Point"), select(order, String(at), { id: "point" }, (v) => { choose(Number(v)); document.getElementById("point")?.focus(); }))
    : null;
  const rows = modes.map((m) => p.modes[m]).filter(Boolean);
  const axis = ratioAxis(Object.values(p.break_even ?? {}).flatMap((b) => [b.speedup, ...(b.speedup_ci ?? [])]), 200);
  const time = timeUnit(rows.map((m) => m.latency?.median_us ?? 0));
  const bytes = bytesUnit(rows.map((m) => m.peak_bytes ?? 0));
  const heads = [["Mode", ""], [`Median, ${time.name}`, "r"], ["Speedup", "r"], [axisHead(axis), ""], ["Compile", "r"], ["Repaid after", "r"], ["Launches", "r"], [`Peak, ${bytes.name}`, "r"], ["Max error", "r"], ["Verdict", ""]];
  const missing = BUILT.filter((m) => !modes.includes(m));
  const table = h("table", { id: "modes-table" }, h("caption", { class: "vh" }, title),
    h("thead", {}, h("tr", {}, heads.map(([t, c]) => h("th", { scope: "col", class: /** @type {string} */ (c) || null }, t, t instanceof Node ? h("span", { class: "vh" }, "Speedup interval") : null)))),
    h("tbody", {}, modes.map((m) => modeRow(p, m, axis, time, bytes)),
      missing.length ? h("tr", {}, h("th", { scope: "row" }, h("span", { class: "sub" }, missing.join(", "))), h("td", { class: "dim", colspan: 8 }, "not in this run"),
        h("td", {}, h("a", { class: "btn quiet", href: `/new?from=${encodeURIComponent(run.id)}&add=${missing.join(",")}` }, "Measure too"))) : null));
  return h("section", { class: "sec", "aria-label": "Modes" }, h("header", {}, h("h2", {}, title), chooser), scroller(`${title}, table`, table));
}

/** @param {Point} p @param {string} name @param {import("./marks.js").RatioAxis} axis @param {import("../model/format.js").Unit} time @param {import("../model/format.js").Unit} bytes */
function modeRow(p, name, axis, time, bytes) {
  const m = p.modes[name];
  const head = h("th", { scope: "row" }, modeMark(name));
  const dim = (/** @type {string} */ t) => h("span", { class: "dim" }, t);
  if (!m) return h("tr", {}, head, h("td", { class: "dim", colspan: 9 }, "not measured at this point"));
  const l = m.latency ? withInterval(m.latency.median_us, m.latency.ci_us, { scale: time.scale }) : null;
  const median = h("td", { class: "r" }, l ? [h("span", { class: "num-strong" }, l.text), ...ci(l.interval)] : dim("not timed"));
  const common = [h("td", { class: "r" }, m.launches === undefined ? dim("unknown") : number(m.launches)), h("td", { class: "r" }, m.peak_bytes === undefined ? dim("unknown") : number(m.peak_bytes / bytes.scale))];
  if (name === "eager") {
    return h("tr", {}, head, median, h("td", { class: "r" }, "1x"), h("td"), h("td", { class: "r" }, dim("none")), h("td", { class: "r" }, dim("baseline")), ...common,
      h("td", { class: "r" }, dim("reference")), h("td", {}, dim("baseline")));
  }
  const b = p.break_even?.[name];
  const word = b ? wordOf(b, m.latency?.n) : "";
  const r = b ? ratio(b.speedup, b.speedup_ci) : null;
  const error = m.max_abs_error;
  return h("tr", {}, head, median,
    h("td", { class: "r" }, r ? [h("span", { class: "num-strong" }, r.text), ...ci(r.interval)] : dim("no baseline")),
    h("td", {}, b ? whisker(axis, b.speedup, b.speedup_ci, word) : null),
    h("td", { class: "r" }, m.compile_ms === undefined ? dim("unknown") : duration(m.compile_ms * 1e3)),
    h("td", { class: "r" }, repaid(b, dim)), ...common,
    h("td", { class: "r" }, error === undefined ? dim("unknown") : smallError(error)),
    h("td", {}, b ? chip(chipClass(word), word) : dim("no baseline")));
}

/** @param {import("../api/types.js").BreakEven | undefined} b @param {(t: string) => HTMLElement} dim */
function repaid(b, dim) {
  if (!b || b.repay === "unknown") return dim("unknown");
  if (typeof b.calls_to_repay !== "number") return "never";
  return b.calls_to_repay < 1 ? "at once" : calls(b.calls_to_repay);
}

/** A line for the whole run and one for each figure of the chosen point.
 * @param {import("../api/types.js").Run} run @param {Report} report @param {Point} point @param {readonly string[]} modes */
function reproduce(run, report, point, modes) {
  const w = run.workload ?? report.workload;
  const stem = fileStem(w?.name);
  const place = typeof point.n === "number" ? ` at n = ${plain(point.n)}` : "";
  const lines = [{ what: "The whole run", line: runLine(w) }, ...modes.flatMap((m) => (point.modes[m]?.reproduce ? [{ what: `${m}${place}`, line: point.modes[m].reproduce ?? "" }] : []))];
  const table = h("table", { class: "again" }, h("caption", { class: "vh" }, "Commands that measure it again"),
    h("thead", {}, h("tr", {}, ["Figure", "Command", ""].map((t) => (t ? h("th", { scope: "col" }, t) : h("th", { scope: "col" }, h("span", { class: "vh" }, "Copy")))))),
    h("tbody", {}, lines.map((l) => h("tr", {}, h("th", { scope: "row" }, l.what), h("td", {}, h("code", {}, l.line)), h("td", { class: "r" }, copyButton(() => l.line, `Copy the command of ${l.what}`))))));
  return h("section", { class: "sec", "aria-label": "Measure it again" },
    h("header", {}, h("h2", {}, "Measure it again"), h("p", {}, "each in the folder that holds the workload"),
      h("div", { class: "acts" }, download(`Download ${stem}.json`, `${stem}.json`, "application/json", () => `${JSON.stringify(w, null, 2)}\n`))),
    scroller("Commands that measure it again, table", table));
}

/** @param {import("../api/types.js").Run} run @param {Report} report */
function notes(run, report) {
  const all = warnings(report);
  const shown = h("div");
  const fill = (/** @type {number} */ most) => {
    shown.replaceChildren(...all.slice(0, most).map((w) => h("div", { class: "notice" }, h("p", {}, w.title ? h("b", {}, w.title) : null, w.title ? " " : null, w.text))));
    if (all.length > most) shown.append(button(`Show ${count(all.length - most)} more`, () => fill(all.length)));
  };
  fill(4);
  if (!all.length) shown.append(h("p", { class: "sub" }, "None: no figure is noisy, no sample was dropped."));
  const facts = machineFacts(report.device, run.environment ?? report.environment);
  return h("section", { class: "sec two", "aria-label": "Warnings and machine" },
    h("div", {}, h("header", { class: "bar" }, h("h2", {}, all.length ? `Warnings (${all.length})` : "Warnings")), shown),
    h("div", {}, h("header", { class: "bar" }, h("h2", {}, "Machine")), h("dl", { class: "kv" }, facts.map(([t, d]) => [h("dt", {}, t), h("dd", {}, d)]).flat())));
}
