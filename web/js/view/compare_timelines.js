// js/view/compare_timelines.js -- two timelines side by side: where the difference of what they repeat comes from.

import { h, add, chip, ci, headRow, scroller, section, segmented, select, spoken, svg } from "./dom.js";
import { go } from "./router.js";
import { countsText, linesBetween, placeSlices, placeUrl, shortName, toneOf, waterfall } from "../model/align.js";
import { compareUrl } from "../model/compare.js";
import { plural } from "../model/format.js";
import { intervalOf, unbroken } from "../model/sentence.js";

/** @typedef {import("../model/align.js").Alignment} Alignment */
/** @typedef {import("../model/align.js").Row} Row */
/** @typedef {import("./router.js").Context} Context */

const BAR = 180, LANE = 14, BETWEEN = 56, SPAN = 1000;

/**
 * @param {Context} ctx @param {Alignment} of @param {readonly string[]} ids
 * @param {readonly {modes?: readonly string[] | null}[]} runs A, then B
 */
export function timelines(ctx, of, ids, runs) {
  const shown = of.rows.filter((r) => r.stands);
  const how = h("p", { class: "how" }, of.how.join(" "));
  const verdict = h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", { id: "verdict" }, spoken(of.sentence)), how);
  return [verdict, unitPart(ctx, of, ids, runs), rowsPart(of, shown), hostPart(of), slicesPart(of), apartPart(of)].filter((x) => x !== null);
}

/** The modes of a run, to choose from. @param {Context} ctx @param {readonly string[]} ids @param {string} key @param {string} label @param {readonly string[]} modes @param {string | null} now */
function modeChoice(ctx, ids, key, label, modes, now) {
  if (modes.length < 2) return null;
  const options = modes.map((m) => ({ value: m, label: m }));
  return h("label", { class: "sub" }, `${label} `, select(options, now ?? "", { id: `align-${key}` }, (mode) => {
    const query = new URLSearchParams(ctx.query);
    query.set(key, mode);
    go(compareUrl(ids, query), { replace: true });
  }));
}

/** What a unit takes. @param {Context} ctx @param {Alignment} of @param {readonly string[]} ids @param {Parameters<typeof timelines>[3]} runs */
function unitPart(ctx, of, ids, runs) {
  const host = of.a.on_host && of.b.on_host;
  const row = (/** @type {string} */ name, /** @type {import("../api/report.js").ReportAlignedChange} */ c, /** @type {boolean} */ inner) => {
    const rest = c.rest && c.rest_us ? h("span", { class: "why" }, `${c.rest.text} of it is in no row`) : null;
    const delta = h("td", { class: "r" }, h("span", { class: "num-strong" }, unbroken(c.delta.text)), ci(intervalOf(c.delta)), rest);
    return h("tr", {}, h("th", { scope: "row", class: inner ? "inner" : null }, name), h("td", { class: "r", data: { label: "A" } }, unbroken(c.a.text)), h("td", { class: "r", data: { label: "B" } }, unbroken(c.b.text)), delta, h("td", {}, c.changed ? chip(c.delta_us > 0 ? "slower" : "faster", c.delta_us > 0 ? "LONGER" : "SHORTER") : chip("same", c.ci_us ? "NOISE" : "UNKNOWN")));
  };
  const body = [row("whole unit", of.wall, false), row(host ? "in ops" : "device runs", of.device, true), row("idle", of.idle, true)];
  if (of.host) body.push(row("ops of the host", of.host, false));
  const table = h("table", { class: "unit", id: "unit" }, h("caption", { class: "vh" }, "What a unit takes"), headRow(["Time of a unit", ["A", "r"], ["B", "r"], ["B less A", "r"], "Verdict"]), h("tbody", {}, body));
  const modes = runs.map((r) => [...(r?.modes ?? [])]);
  const acts = [modeChoice(ctx, ids, "mode", "A", modes[0] ?? [], of.a.mode), modeChoice(ctx, ids, "mode_b", "B", modes[1] ?? [], of.b.mode)];
  const what = of.a.unit === of.b.unit ? `${of.a.unit}, ${of.a.used} and ${of.b.used} times` : `A: ${of.a.unit}, B: ${of.b.unit}`;
  return section("What repeats", what, acts.filter((x) => x !== null), scroller("What a unit takes, table", table));
}

/** A bar of the waterfall. @param {{from: number, to: number}} bar @param {number} zero @param {string} tone */
function barOf(bar, zero, tone) {
  const x = (/** @type {number} */ at) => 1 + at * (BAR - 2);
  const left = Math.min(bar.from, bar.to);
  const mark = svg("rect", { class: `fall ${tone}`, x: x(left), y: 4, width: Math.max(1.5, Math.abs(bar.to - bar.from) * (BAR - 2)), height: 12 });
  const line = svg("line", { class: "zero", x1: x(zero), x2: x(zero), y1: 0, y2: 20 });
  return svg("svg", { width: BAR, height: 20, "aria-hidden": "true" }, line, mark);
}

/** Links to both timelines. @param {Alignment} of @param {Row} r */
function placesOf(of, r) {
  const link = (/** @type {string} */ letter, /** @type {string | null} */ href) => (href ? h("a", { href, "aria-label": `${r.title} in the timeline of ${letter}` }, letter) : null);
  return h("td", { class: "places" }, link("A", placeUrl(of.a, r.a)), " ", link("B", placeUrl(of.b, r.b)));
}

/** Under a row's name: how many, of which op, from what. @param {Row} r */
function about(r) {
  const names = [...new Set(r.from.map(shortName))];
  const from = names.length ? `from ${names.slice(0, 3).join(", ")}${names.length > 3 ? " …" : ""}` : "";
  const cause = r.causes?.length ? r.causes[0].label : "";
  return [countsText(r), r.op === r.title ? "" : r.op, cause, r.moved ? "moved" : "", from].filter(Boolean).join(", ");
}

/** @param {Alignment} of @param {readonly Row[]} rows @param {boolean} falls */
function rowsTable(of, rows, falls) {
  const fall = waterfall(rows);
  const body = rows.map((r, i) => {
    const cell = (/** @type {import("../api/report.js").ReportFigure} */ f, /** @type {string} */ label) => h("td", { class: "r", data: { label } }, unbroken(f.text));
    const name = h("th", { scope: "row" }, r.part === "idle" ? h("span", { class: "sub" }, "idle before ") : null, h("code", { title: r.name }, r.title), h("span", { class: "two-line" }, about(r)));
    const tone = toneOf(r);
    const word = h("td", { class: "word" }, chip(tone === "worse" ? "slower" : tone === "better" ? "faster" : "same", r.change));
    const delta = h("td", { class: "r" }, h("span", { class: "num-strong" }, unbroken(r.time.delta.text)), ci(intervalOf(r.time.delta)));
    return h("tr", { data: { row: of.rows.indexOf(r) } }, name, word, cell(r.time.a, "A"), cell(r.time.b, "B"), delta, falls ? h("td", { class: "falls" }, barOf(fall.bars[i], fall.zero, tone)) : null, placesOf(of, r));
  });
  const head = headRow([rows[0]?.part === "host" ? "Op" : "Kernel", "Change", ["A", "r"], ["B", "r"], ["B less A", "r"], ...(falls ? /** @type {[null, string, string][]} */ ([[null, "", "One after the other"]]) : []), [null, "", "In the timelines"]]);
  return h("table", { class: "rows" }, h("caption", { class: "vh" }, rows[0]?.part === "host" ? "Ops of the host that changed" : falls ? "What makes the difference" : "What differs by no more than noise"), head, h("tbody", {}, body));
}

/** @param {Alignment} of @param {readonly Row[]} shown */
function rowsPart(of, shown) {
  const quiet = of.rows.filter((r) => !r.stands);
  const note = shown.length ? `${plural(shown.length, "row")} that changed, one after the other; the rest is noise` : "";
  const box = section("Where the difference comes from", note, [], shown.length ? scroller("What makes the difference, table", rowsTable(of, shown, true)) : h("p", { class: "sub" }, "Nothing differs by more than noise."));
  const unlisted = of.noise_rows - quiet.length;
  if (of.others.rows > unlisted) add(box, h("p", { class: "small sub" }, `${plural(of.others.rows - unlisted, "smaller row")} not listed.`));
  if (!of.noise_rows) return box;
  const more = h("details", {}, h("summary", {}, `${plural(of.noise_rows, "row")} within noise, together ${unbroken(of.noise.text)}`));
  more.addEventListener("toggle", () => more.open && more.childElementCount === 1 && add(more, scroller("What differs by no more than noise, table", rowsTable(of, quiet, false)), unlisted ? h("p", { class: "small sub" }, `${plural(unlisted, "smaller row")} not listed.`) : null));
  add(box, more);
  return box;
}

/** Ops of the host that changed, beside a device. @param {Alignment} of */
function hostPart(of) {
  if (!of.host_rows.length) return null;
  return section("On the host", `${plural(of.host_rows.length, "op")} that changed, each without those it calls`, [], scroller("Ops of the host that changed, table", rowsTable(of, of.host_rows, true)));
}

/** Both units, one over the other, with lines between what was matched. @param {Alignment} of @param {boolean} idle */
function picture(of, idle) {
  const [a, b] = [placeSlices(of.slices_a, idle), placeSlices(of.slices_b, idle)];
  const scale = SPAN / Math.max(a.end, b.end, 1e-9);
  const top = b.lanes * LANE, under = a.lanes * LANE + BETWEEN, height = under + top;
  const toneAt = (/** @type {number | null} */ row) => (row === null ? "same" : toneOf(of.rows[row]));
  const rect = (/** @type {import("../model/align.js").Placed} */ p, /** @type {number} */ y, /** @type {string} */ letter) =>
    svg("rect", { class: `slice ${toneAt(p.slice.row)}`, x: p.x * scale, y: y + p.slice.lane * LANE, width: Math.max(p.width * scale, 0.6), height: LANE - 2 }, svg("title", {}, `${letter}: ${p.slice.name}`));
  const middle = (/** @type {import("../model/align.js").Placed} */ p) => (p.x + p.width / 2) * scale;
  const lines = linesBetween(a.placed, b.placed).map((l) => svg("line", { class: `tie ${toneAt(l.a.slice.row)}`, x1: middle(l.a), x2: middle(l.b), y1: (l.a.slice.lane + 1) * LANE - 2, y2: under + l.b.slice.lane * LANE }));
  const label = `A above, B below: ${plural(of.slices_a.length, "item")} and ${of.slices_b.length}, with lines between what was matched; the table has the numbers`;
  return svg("svg", { class: "ties", viewBox: `0 0 ${SPAN} ${height}`, preserveAspectRatio: "none", height, width: "100%", role: "img", "aria-label": label }, ...lines, ...a.placed.map((p) => rect(p, 0, "A")), ...b.placed.map((p) => rect(p, under, "B")));
}

/** @param {Alignment} of */
function slicesPart(of) {
  if (!of.slices_a.length || !of.slices_b.length) return null;
  const place = h("div", { class: "well ab-lanes" });
  const draw = (/** @type {string} */ what) => place.replaceChildren(h("span", { class: "letter", "aria-hidden": "true" }, "A"), picture(of, what === "idle"), h("span", { class: "letter low", "aria-hidden": "true" }, "B"));
  draw("busy");
  const choose = segmented("Time in which nothing ran", { busy: "Without idle time", idle: "With idle time" }, "busy", draw);
  const cut = of.a.items > of.slices_a.length || of.b.items > of.slices_b.length ? "the longest of a unit" : "all of a unit, on one scale";
  const side = (/** @type {string} */ letter, /** @type {import("../model/align.js").Side} */ s) => {
    const href = placeUrl(s, s);
    return href ? h("a", { href }, `Unit of ${letter} in its timeline`) : null;
  };
  return section("One unit of each", cut, choose, place, h("p", { class: "small unit-links" }, side("A", of.a), " ", side("B", of.b)));
}

/** Units that do not count. @param {Alignment} of */
function apartPart(of) {
  const rows = [{ letter: "A", side: of.a }, { letter: "B", side: of.b }].flatMap(({ letter, side }) => side.apart.map((u) => {
    const href = placeUrl(side, u);
    const cause = u.cause ? [h("code", {}, u.cause), ` ${unbroken(u.cause_time?.text ?? "")}`] : [];
    return h("tr", {}, h("th", { scope: "row" }, href ? h("a", { href }, `${letter}, unit ${u.index + 1}`) : `${letter}, unit ${u.index + 1}`), h("td", {}, u.why), h("td", { class: "r", data: { label: "time" } }, unbroken(u.wall.text)), h("td", { class: "wrap" }, cause));
  }));
  if (!rows.length) return null;
  const table = h("table", { class: "changes apart" }, h("caption", { class: "vh" }, "Units that do not count"), headRow(["Unit", "Why", ["Time", "r"], "Longest on the host"]), h("tbody", {}, rows));
  return section("Set apart", `${plural(rows.length, "unit")} that do not count`, [], scroller("Units that do not count, table", table));
}
