// js/view/breaks.js -- where the graphs of a mode end: the source with its cuts, and
// each break with what to write instead.

import { h, add, prose, segmented, spoken, stateWell, svg } from "./dom.js";
import { chosen } from "./choose.js";
import { codeWell, showLine } from "./code.js";
import { fileChoice, filesOf, firstFile } from "./file_choice.js";
import { cutsSection } from "./cuts.js";
import { lineLinks, viewUrl } from "./joined.js";
import { onPick, pick, picked } from "./pick.js";
import { list as listOf, plural } from "../model/format.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { breakRows, COST_PARTS, eagerFrames, lineMarks, traceRows } from "../model/breaks.js";
import { keyOf, placeOf, placeText } from "../model/places.js";
import { intervalOf, saidOf } from "../model/sentence.js";
import { tryPart } from "./try.js";

const MOST_CALLS = 8; // listed of a break

/** @typedef {import("../model/breaks.js").BreakRow} BreakRow */
/** @typedef {import("../api/types.js").ModeReport} ModeReport */

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export function breaksTab(ctx, body, run, report) {
  const points = pointsOf(report);
  const modes = modesOf(points).filter((m) => m !== "eager");
  if (!modes.length) return add(body, noModes(run));
  const posted = run.workload?.source ?? report.workload?.source ?? "";
  let drawn = new AbortController();
  const draw = (/** @type {import("../api/types.js").Point} */ point, /** @type {string} */ mode) => {
    drawn.abort();
    drawn = new AbortController();
    const shown = { run, source: point.source || posted, posted, n: point.n ?? null, mode, signal: AbortSignal.any([ctx.signal, drawn.signal]) };
    return parts(point.modes[mode], saidOf(run, point, mode), shown);
  };
  add(body, chosen(ctx, "Graph breaks", points, modes, draw));
  return undefined;
}

/** @param {import("../api/types.js").Run} run */
function noModes(run) {
  const href = `/new?from=${encodeURIComponent(run.id)}&add=auto`;
  const more = h("a", { class: "btn primary", href }, "Run auto too");
  const why = h("p", {}, "Only eager was run: there is no graph that could break.");
  return stateWell("Eager captures no graph", why, h("div", { class: "acts" }, more));
}

/** On each break, whether the other policy has it too. @param {HTMLElement} place @param {readonly boolean[]} both @param {string} other */
function markBoth(place, both, other) {
  for (const card of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll(".brks details"))) {
    const said = both[Number(card.dataset.row)] ? "both policies" : `not under ${other}`;
    card.querySelector(".w")?.append(card.querySelector(".w")?.textContent ? `, ${said}` : said);
  }
}

/** All changes together, as they were timed beside the run. @param {ModeReport} m @param {Shown} s @returns {HTMLElement[]} */
function wholeChange(m, s) {
  const without = m.break_cost?.without;
  if (!without?.source || without.lines.length < 2 || without.source === s.source) return [];
  const what = `lines ${without.lines.join(", ")} rewritten`;
  const head = h("header", {}, h("h3", {}, "All changes together"), h("p", {}, `${what}; prints are left out`));
  const well = codeWell(without.source, "The program without these breaks");
  const part = tryPart({ ...s, before: s.source, after: without.source, what, key: `${s.mode}-all` });
  return [h("section", { class: "sec two", "aria-label": "All changes together" }, h("div", {}, head, well), h("div", {}, part))];
}

/** @typedef {{run: import("../api/types.js").Run, source: string, posted: string, n: number | null, mode: string, signal: AbortSignal}} Shown */

/**
 * @param {ModeReport | undefined} m
 * @param {import("../api/report.js").ReportFindingsMode | undefined} said
 * @param {Shown} shown
 * @returns {HTMLElement[]}
 */
function parts(m, said, shown) {
  const { mode } = shown;
  if (!m) return [h("p", { class: "sub" }, `${mode} was not run at this point.`)];
  const rows = breakRows(m, said, shown.source);
  const traces = traceRows(m);
  const well = sourceWell(shown, rows, eagerFrames(m, said));
  const priced = rows.some(costTold);
  const unit = priced ? h("p", { class: "small dim" }, "µs a call, at the line that breaks") : null;
  const title = priced ? "Breaks by cost" : "Breaks";
  const list = breakList(rows, shown);
  const left = h("div", {}, h("div", { class: "bar" }, h("h3", {}, "Source"), unit, well.choice), well.place);
  const right = h("div", {}, h("div", { class: "bar" }, h("h3", {}, title), rows.length > 1 ? grouping(said?.break_kinds ?? [], () => list) : null), list);
  const two = h("section", { class: "sec two", "aria-label": "Source and breaks" }, left, right);
  joinRows(rows, two, well, shown.signal);
  const below = wholeChange(m, shown);
  if (traces.length) below.push(traceSection(traces, m.lazy?.left_out ?? 0));
  const marked = (/** @type {boolean[]} */ both, /** @type {string} */ other) => markBoth(two, both, other);
  return [...verdict(said?.breaks), cutsSection(shown.run, { m, said, distinct: rows.map((r) => m.breaks[r.said.first]) }, shown, marked), two, ...below];
}

/**
 * The program with its breaks in the margin; of several files one at a time, those with a break or with lines in eager first.
 * @param {Shown} shown @param {readonly BreakRow[]} rows @param {readonly import("../model/breaks.js").EagerFrame[]} eager
 */
function sourceWell(shown, rows, eager) {
  const files = filesOf(shown.run);
  const lines = (/** @type {string} */ path) => new Set([...rows, ...rows.flatMap((r) => r.callers), ...eager.flatMap((f) => f.places)].filter((p) => p.file === path).map((p) => p.line)).size;
  const own = Object.keys(files ?? {}).sort().filter(lines);
  const [place, choice] = [h("div"), h("div", { class: "acts" })];
  let file = files ? firstFile(shown.run, files, [picked().file, rows[0]?.file ?? "", ...own]) : "";
  const fill = () => {
    const text = files ? files[file] : shown.source;
    place.replaceChildren(codeWell(text, `${file || "Source"} with breaks in the margin`, { marks: lineMarks(rows, eager, file), pick: (line) => pick({ line, file }) }));
    if (files) choice.replaceChildren(fileChoice(files, file, own, "with breaks", goTo, (path) => (lines(path) ? plural(lines(path), "line") : "")));
  };
  const goTo = (/** @type {string} */ path) => {
    file = path;
    fill();
    show(picked());
  };
  /** @param {import("../model/places.js").Place} at */
  const show = (at) => {
    if (files && at.line && at.file !== file && at.file in files) goTo(at.file);
    else showLine(/** @type {HTMLElement} */ (place.firstElementChild), files && at.file !== file ? 0 : at.line);
  };
  fill();
  return { place, choice: files ? choice : null, show };
}

/** @param {import("../api/report.js").ReportFindingsVerdict | undefined} said */
const verdict = (said) => (said ? [h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", {}, spoken(said.sentence)), h("p", { class: "how" }, said.how))] : []);

/**
 * A picked line opens its breaks, an opened break picks its line.
 * @param {readonly BreakRow[]} rows @param {HTMLElement} place @param {{show: (at: import("../model/places.js").Place) => void}} well @param {AbortSignal} signal
 */
function joinRows(rows, place, well, signal) {
  const cards = /** @type {HTMLDetailsElement[]} */ ([...place.querySelectorAll(".brks details")]).sort((a, b) => Number(a.dataset.row) - Number(b.dataset.row));
  const show = () => {
    const now = picked();
    well.show(now);
    const of = rows.map((r, i) => (now.brk ? now.brk === String(i + 1) : now.line > 0 && [r, ...r.callers].some((p) => keyOf(p) === keyOf(now))));
    cards.forEach((card, i) => card.classList.toggle("joined", of[i]));
    if (of.includes(true)) cards.forEach((card, i) => (card.open = i === of.indexOf(true)));
  };
  cards.forEach((card, i) =>
    card.querySelector("summary")?.addEventListener("click", (e) => {
      e.preventDefault(); // opened below, with what else is picked
      const open = !card.open;
      if (open) pick({ ...placeOf(rows[i]), brk: String(i + 1) });
      card.open = open;
    }),
  );
  show();
  onPick(signal, show);
}

/** @param {readonly BreakRow[]} rows @param {Shown} shown */
function breakList(rows, shown) {
  if (!rows.length) return h("p", { class: "sub" }, "None: every op of every call is in a graph.");
  return h(
    "ol",
    { class: "brks" },
    rows.map((r, i) => h("li", { data: { row: i } }, breakCard(r, i, shown))),
  );
}

/** Each by itself, or those of a kind together, the dearest kind first; the cards stay what they are.
 * @param {readonly import("../api/report.js").ReportFindingsBreakKind[]} kinds @param {() => HTMLElement} listOf */
function grouping(kinds, listOf) {
  const choose = (/** @type {string} */ how) => {
    const list = listOf();
    const items = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("li:has(> details)")]);
    items.sort((a, b) => Number(a.dataset.row) - Number(b.dataset.row));
    if (how === "distinct") return list.replaceChildren(...items);
    return list.replaceChildren(...kinds.flatMap((k) => [h("li", { class: "kindhead" }, h("b", {}, k.kind), ` ${k.says}`), ...k.rows.map((i) => items[i])]));
  };
  return h("div", { class: "acts" }, segmented("Group the breaks", { distinct: "Distinct", kind: "By kind" }, "distinct", choose));
}

/** Whether a cost can be told apart from 0. @param {BreakRow} r */
const costTold = (r) => !!r.said.cost && !r.said.cost_open;

/** @param {BreakRow} r @param {number} i @param {Shown} shown */
function breakCard(r, i, shown) {
  const head = h(
    "summary",
    {},
    h("span", { class: "rk" }, i + 1),
    costTold(r) ? h("span", { class: "us" }, r.said.cost?.text, " ", h("span", { class: "unit" }, "µs")) : null,
    h(
      "span",
      {},
      h("span", { class: "kind" }, r.kind),
      " ",
      h("span", { class: "sub" }, `${placeText(r)}${r.callers.length ? `, from ${placeText(r.callers[r.callers.length - 1])}` : ""}`),
      " ",
      h("span", { class: "mono dim" }, r.gb),
    ),
    h("span", { class: "small sub w" }, r.said.met > 1 ? plural(r.said.met, "time") : r.lowering ? "lowering" : ""),
  );
  const body = h("div", { class: "body" });
  for (const text of [r.message, r.because, r.then]) if (text) add(body, h("p", {}, prose(text)));
  if (r.said.cost_open) add(body, h("p", {}, r.said.cost_open));
  else if (r.said.cost && r.said.parts) add(body, costParts(r.said.cost, r.said.parts, i));
  if (r.hint) add(body, h("p", { class: "instead" }, h("b", {}, "Instead: "), prose(r.hint)));
  if (r.around) add(body, h("p", { class: "instead" }, h("b", {}, "Or, around it: "), prose(r.around)));
  add(body, r.rewrite ? fix(r.rewrite, r.line, i, shown) : byHand(r, shown));
  const facts = h("dl", {}, h("dt", {}, "Stage, outcome"), h("dd", {}, r.stage));
  if (r.graph !== null) {
    const href = viewUrl(shown.run, "graphs", { ...placeOf(r), graph: String(r.graph) });
    add(facts, h("dt", {}, r.lowering ? "Splits" : "Ends"), h("dd", {}, h("a", { href }, `graph ${r.graph}`)));
  }
  const { calls } = r.said;
  if (calls.length) add(facts, h("dt", {}, calls.length > 1 ? "Calls" : "Call"), h("dd", {}, listOf(calls.slice(0, MOST_CALLS).map(String)) + (calls.length > MOST_CALLS ? ` and ${calls.length - MOST_CALLS} more` : "")));
  if (r.line) add(facts, h("dt", {}, "Source"), h("dd", {}, lineLinks(shown.run, [r])));
  for (const { name, value } of r.said.facts ?? []) add(facts, h("dt", {}, name), h("dd", {}, value));
  add(facts, h("dt", {}, "Stack"), h("dd", { class: "mono" }, r.stack || "unknown"));
  add(body, facts);
  return h("details", { open: i === 0 ? "" : null, class: costTold(r) ? "priced" : null, data: { row: i } }, head, body);
}

/** The microseconds of a break as a bar, and in words.
 * @param {import("../api/report.js").ReportFigure} cost @param {import("../api/report.js").ReportFindingsParts} parts @param {number} i */
function costParts(cost, parts, i) {
  const bar = svg("svg", { class: "costbar", role: "img", "aria-label": `Where the ${cost.text} µs of break ${i + 1} go` });
  const shown = COST_PARTS.map((p) => Math.max(Number(parts[p.key].replace(/,/g, "")), 0)); // what is written as 0 has no colour
  const above = shown.reduce((sum, part) => sum + part, 0);
  let x = 0;
  COST_PARTS.forEach((p, k) => {
    const share = above > 0 ? (shown[k] / above) * 100 : 0;
    if (share > 0.5) add(bar, svg("rect", { class: `p-${p.cls}`, x: `${x}%`, y: 0, width: `${Math.max(share - 0.4, 0.3)}%`, height: 8 }));
    x += share;
  });
  const keys = COST_PARTS.map((p) => h("span", { class: "key", title: p.about }, h("i", { class: `k-${p.cls}` }), `${p.name} ${parts[p.key]}`));
  const unit = h("span", { class: "dim" }, `µs, together ${cost.text} `, intervalOf(cost));
  const terms = COST_PARTS.map((p) => `${p.name}: ${p.about}`).join("; ");
  return h("div", { class: "costs" }, bar, h("p", { class: "legend" }, keys, unit), h("p", { class: "small dim" }, `${terms[0].toUpperCase()}${terms.slice(1)}.`));
}

/** No change is known that can be made by itself. @param {BreakRow} r @param {Shown} s */
function byHand(r, { run, source, posted }) {
  const at = r.line && source === posted ? `&line=${r.line}&column=${r.column || 1}` : "";
  const edit = h("a", { class: "btn", href: `/new?from=${encodeURIComponent(run.id)}${at}` }, at ? `Edit line ${r.line}` : "Edit the program");
  const why = h("span", { class: "small dim" }, r.hint ? "Make this change by hand." : "There is no way to write this statement without the break.");
  return h("div", { class: "acts try" }, edit, why);
}

/** The lines to write instead, and what they are worth.
 * @param {import("../model/breaks.js").Rewrite} r @param {number} at @param {number} i @param {Shown} s */
function fix(r, at, i, s) {
  const line = (/** @type {string} */ sign, /** @type {string} */ cls) => (/** @type {string} */ text) =>
    h("span", { class: cls }, `${sign} ${text}\n`);
  const lines = [...r.removed.map(line("\u2212", "del")), ...r.added.map(line("+", "add"))];
  const name = `Suggested source for break ${i + 1}`;
  const well = h("pre", { tabindex: 0, role: "region", "aria-label": name }, ...lines);
  const part = tryPart({ ...s, before: s.source, after: r.source, what: `line ${at} rewritten`, key: `${s.mode}-${at}` });
  return h("div", { class: "fix" }, well, r.gain ? h("p", { class: "small sub" }, r.gain) : null, part);
}

/** @param {readonly import("../model/breaks.js").TraceRow[]} rows @param {number} leftOut */
function traceSection(rows, leftOut) {
  const head = h(
    "div",
    { class: "row small dim" },
    h("span", {}, "Graph"),
    h("span", {}, "Where, and what made it run"),
    h("span", { class: "r" }, "Hash"),
    h("span", { class: "r x" }, "Cache"),
    h("span", { class: "r" }, "Times"),
  );
  const runs = rows.reduce((sum, r) => sum + r.count, 0) + leftOut;
  const found = rows.reduce((sum, r) => sum + (r.compiled ? 0 : r.count), 0);
  const more = leftOut ? `, ${leftOut} of them not listed` : "";
  const note = `${plural(runs, "run")}, ${found} found by their hash${more}`;
  return h(
    "section",
    { class: "sec", id: "traces", "aria-label": "Traces that were run" },
    h("header", {}, h("h3", {}, "Traces that were run"), h("p", {}, note)),
    h("div", { class: "well tree" }, head, h("ul", {}, rows.map(traceItem))),
  );
}

/** @param {import("../model/breaks.js").TraceRow} r */
function traceItem(r) {
  const where = h("span", {}, h("b", {}, `line ${r.line}`), ` in ${r.function}, call ${r.call}`);
  add(where, h("span", { class: "why" }, r.cause));
  if (r.message) add(where, h("span", { class: "why" }, prose(r.message)));
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      h("span", { class: "mono" }, r.graph ?? ""),
      where,
      h("span", { class: "r mono", title: r.hash }, r.hash.slice(0, 8)),
      h("span", { class: "r x" }, r.compiled ? "miss" : "hit"),
      h("span", { class: "r" }, r.count),
    ),
  );
}
