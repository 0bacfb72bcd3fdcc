// js/view/compiles.js -- the compilations of an imported log: the list, the stacks they were called from, what failed, and
// the search over all texts.  One compilation has a page of its own (compile_page.js).

import { h, add, button, loadStyle, scroller, headRow, section, stateWell } from "./dom.js";
import { remember } from "./router.js";
import { fillIn } from "./waiting.js";
import { listTexts, textUrl } from "../api/texts.js";
import { bytes, count, duration, plural } from "../model/format.js";
import { cacheOf, compileKey, compileQuery, failuresOf, outcomeWords, trieOf } from "../model/compiles.js";
import { compilePage } from "./compile_page.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Imported} Imported */
/** @typedef {import("../api/types.js").ImportedCompile} Compile */
/** @typedef {import("../api/texts.js").Text} Text */

const FEW = 200;
const MOST_STACKS = 3000;

/**
 * @param {import("./router.js").Context} ctx @param {HTMLElement} body @param {Run} run @param {import("../api/types.js").Report} report
 */
export async function compilesTab(ctx, body, run, report) {
  await loadStyle("compiles");
  const imported = report.import;
  if (ctx.signal.aborted) return;
  if (!imported) return add(body, stateWell("No compile log", h("p", {}, "This run was imported without a TORCH_TRACE.")));
  const wanted = new URLSearchParams(ctx.query);
  if (wanted.has("compile")) return compilePage(ctx, body, run, imported, wanted);
  const results = h("div", { class: "fills", "aria-live": "polite" });
  add(body, searchBar(ctx, run, results), results, ...compilations(run, imported), failures(run, imported), stacks(run, imported));
  const loose = h("div");
  add(body, loose);
  fillIn(loose, { what: "The texts of no compilation", signal: ctx.signal }, () => listTexts(run.id, { compile: "none" }, ctx.signal), (of) => add(loose, textsOfNone(run, of.artifacts)));
}

/** @param {Run} run @param {Compile} c @param {string} [more] of the query */
const link = (run, c, more = "") => h("a", { href: `/runs/${run.id}/compiles?${compileQuery(c)}${more}` }, compileKey(c));

/** @param {Compile} c */
export const outcomeChip = (c) => h("span", { class: `outcome ${c.outcome}` }, outcomeWords(c.outcome));

/** @param {number | null | undefined} s */
const seconds = (s) => (typeof s === "number" ? duration(s * 1e6) : "");

/** The list, which a word narrows. @param {Run} run @param {Imported} imported */
function compilations(run, imported) {
  const several = new Set(imported.compiles.map((c) => c.process)).size > 1;
  const rows = (/** @type {Compile[]} */ list) =>
    list.map((c) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, link(run, c)),
        several ? h("td", {}, typeof imported.processes?.[c.process]?.rank === "number" ? `rank ${imported.processes[c.process].rank}` : `process ${c.process}`) : null,
        h("td", {}, h("span", { class: "clip", title: c.file ? `${c.file}:${c.line}` : "" }, c.frame ?? "not recorded"), c.file ? h("span", { class: "small sub" }, ` ${String(c.file).split("/").pop()}:${c.line}`) : null),
        h("td", {}, outcomeChip(c)),
        h("td", { class: "r" }, String(c.graphs)),
        h("td", { class: "r" }, typeof c.ops === "number" ? count(c.ops) : ""),
        h("td", { class: "r" }, typeof c.guards === "number" ? count(c.guards) : ""),
        h("td", {}, cacheOf(c)),
        h("td", { class: "r" }, seconds(c.entire_s)),
        h("td", { class: "r" }, seconds(c.backend_s)),
        h("td", { class: "r" }, seconds(c.inductor_s)),
        h("td", { class: "r" }, String(c.breaks ?? 0)),
        h("td", { class: "r" }, String((c.restart_reasons ?? []).length)),
        h("td", {}, h("span", { class: "clip wide" }, c.fail_reason ?? c.recompile_reasons?.[0] ?? "")),
      ),
    );
  const head = ["Id", ...(several ? ["Process"] : []), "Frame", "Outcome", ["Graphs", "r"], ["Ops", "r"], ["Guards", "r"], "Cache", ["Compiled in", "r"], ["Backend", "r"], ["Inductor", "r"], ["Breaks", "r"], ["Restarts", "r"], "Why"];
  const tbody = h("tbody");
  const note = h("p", { class: "small sub", "aria-live": "polite" });
  const filter = h("input", { class: "field", type: "search", placeholder: "Frame, file, id, outcome or reason", "aria-label": "Show compilations that have" });
  let most = FEW;
  const more = button("Show all", () => {
    most = Infinity;
    fill();
  });
  const fill = () => {
    const q = filter.value.trim().toLowerCase();
    const list = imported.compiles.filter((c) => !q || [compileKey(c), c.frame, c.file, c.outcome, c.fail_reason, ...(c.recompile_reasons ?? []), ...Object.keys(c.caches ?? {})].some((t) => String(t ?? "").toLowerCase().includes(q)));
    tbody.replaceChildren(...rows(list.slice(0, most)));
    note.textContent = list.length > most ? `the first ${most} of ${count(list.length)}` : plural(list.length, "compilation");
    more.hidden = list.length <= most;
  };
  filter.addEventListener("input", fill);
  fill();
  if (!imported.compiles.length) return [];
  const table = h("table", {}, headRow(/** @type {(string | [string, string])[]} */ (head)), tbody);
  return [section("Compilations", "", filter, note, scroller("Compilations of the log", table), more)];
}

/** Restarts and failures with their reasons. @param {Run} run @param {Imported} imported */
function failures(run, imported) {
  const all = failuresOf(imported.compiles);
  if (!all.length) return null;
  const rows = all.slice(0, FEW).map((f) => h("tr", {}, h("th", { scope: "row" }, link(run, f.compile)), h("td", {}, f.what), h("td", {}, f.place), h("td", {}, h("span", { class: "why" }, f.reason))));
  const note = all.length > FEW ? `the first ${FEW} of ${count(all.length)}` : plural(all.length, "failure or restart", "failures and restarts");
  return section("Failures and restarts", note, null, scroller("Failures and restarts of the log", h("table", {}, headRow(["Id", "What", "Place", "Reason"]), h("tbody", {}, rows))));
}

/** The stacks that frames were called from, those that begin alike together. @param {Run} run @param {Imported} imported */
function stacks(run, imported) {
  const roots = trieOf(imported);
  if (!roots.length) return null;
  let left = MOST_STACKS;
  /** @param {import("../model/compiles.js").Branch[]} level @returns {HTMLElement} */
  const list = (level) =>
    h(
      "ul",
      {},
      level.map((b) => {
        left -= b.frames.length;
        if (left < 0) return null;
        const frames = b.frames.map((f) => h("div", { class: "frame" }, h("code", {}, f.function), h("span", { class: "small sub", title: f.file }, ` ${f.file.split("/").pop()}:${f.line}`), f.code ? h("code", { class: "loc" }, f.code) : null));
        const of = b.compiles.map((c) => h("span", { class: "of" }, link(run, c), " ", outcomeChip(c)));
        const loose = Object.entries(b.records).map(([kind, n]) => h("span", { class: "of small sub" }, `${kind} ${n}`));
        const said = of.length || loose.length ? h("div", { class: "ofs" }, of, loose) : null;
        return b.below.length
          ? h("li", {}, h("details", { open: true }, h("summary", {}, frames), said, list(b.below)))
          : h("li", {}, frames, said);
      }),
    );
  const tree = list(roots);
  const note = left < 0 ? `the first ${count(MOST_STACKS)} frames` : "outermost first";
  return section("Stacks", note, null, h("nav", { class: "stacks well", "aria-label": "Stacks" }, tree));
}

/** Texts that belong to no compilation. @param {Run} run @param {readonly Text[]} texts */
function textsOfNone(run, texts) {
  if (!texts.length) return null;
  const rows = texts.slice(0, FEW).map((t) => textRow(run, t));
  return section("Texts of no compilation", texts.length > FEW ? `the first ${count(FEW)} of ${plural(texts.length, "text")}` : plural(texts.length, "text"), null, scroller("Texts of the log that are of no compilation", h("table", {}, headRow(["Text", "What it is", ["Line of the log", "r"], ["Size", "r"]]), h("tbody", {}, rows))));
}

/** @param {Run} run @param {Text} t */
const textRow = (run, t) =>
  h("tr", {}, h("th", { scope: "row" }, h("a", { href: `/runs/${run.id}/compiles?${textQuery(t)}` }, t.kind, t.name ? ` ${t.name}` : "")), h("td", {}, t.what || "not known"), h("td", { class: "r" }, count(t.line)), h("td", { class: "r" }, bytes(t.bytes)));

/** @param {Text} t @param {number} [line] */
const textQuery = (t, line) => {
  const q = new URLSearchParams({ compile: t.compile ?? "none", process: String(t.process), texts: String(t.n) });
  if (t.resets) q.set("resets", String(t.resets));
  if (line) q.set("line", `${t.n}:${line}`);
  return String(q);
};

/** What all texts of the run are searched for. @param {import("./router.js").Context} ctx @param {Run} run @param {HTMLElement} results */
function searchBar(ctx, run, results) {
  const q = h("input", { class: "field grow", type: "search", maxlength: 200, placeholder: "Search graphs, code, guards, every text of the log", "aria-label": "Search every text of the log", value: ctx.query.get("q") ?? "" });
  const form = h("form", { class: "bar searchtexts", role: "search" }, q, h("button", { class: "btn", type: "submit" }, "Search"));
  let last = new AbortController();
  const look = () => {
    last.abort();
    last = new AbortController();
    const signal = AbortSignal.any([ctx.signal, last.signal]);
    const text = q.value.trim();
    remember({ q: text });
    if (text) return fillIn(results, { what: "What the texts have", signal }, () => listTexts(run.id, { q: text }, signal), (found) => results.replaceChildren(foundTexts(run, text, found)));
    results.removeAttribute("aria-busy");
    return results.replaceChildren();
  };
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    look();
  });
  if (q.value) look();
  return form;
}

/** @param {Run} run @param {string} q @param {import("../api/texts.js").Texts} found */
function foundTexts(run, q, found) {
  const said = `${plural(found.total, "text")}${found.cut ? " at least" : ""}, ${plural(found.lines ?? 0, "line")}; ${count(found.looked_at ?? 0)} looked at`;
  const items = found.artifacts.map((t) => {
    const lines = (t.found ?? []).map((l) => h("li", {}, h("a", { href: `/runs/${run.id}/compiles?${textQuery(t, l.line)}` }, h("span", { class: "ln" }, count(l.line)), h("code", {}, ...marked(l.text, q)))));
    const rest = (t.matches ?? 0) > lines.length ? h("li", { class: "small sub" }, `${count((t.matches ?? 0) - lines.length)} more lines`) : null;
    return h("div", { class: "foundtext" }, h("h3", {}, h("a", { href: `/runs/${run.id}/compiles?${textQuery(t)}` }, `${t.compile ?? "no compilation"} ${t.kind}${t.name ? ` ${t.name}` : ""}`), h("span", { class: "small sub" }, ` ${t.what}`), " ", h("a", { class: "small", href: textUrl(run.id, t.n), target: "_blank" }, "raw")), h("ol", {}, lines, rest));
  });
  return section(`Texts with “${q}”`, said, null, items.length ? h("div", { class: "well founds" }, items) : h("p", {}, "No text of this run has it."));
}

/** @param {string} text @param {string} q */
function marked(text, q) {
  const at = text.toLowerCase().indexOf(q.toLowerCase());
  return at < 0 ? [text] : [text.slice(0, at), h("mark", {}, text.slice(at, at + q.length)), text.slice(at + q.length)];
}
