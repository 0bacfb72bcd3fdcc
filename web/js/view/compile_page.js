// js/view/compile_page.js -- one compilation of an imported log: what became of it, and its texts side by side, in which a
// picked line marks what it comes from and what comes from it.

import { h, add, button, scroller, headRow, section, stateWell } from "./dom.js";
import { remember } from "./router.js";
import { fillIn } from "./waiting.js";
import { TextPane } from "./text_pane.js";
import { outcomeChip } from "./compiles.js";
import { SHOWN_BYTES, listTexts, readText, textUrl } from "../api/texts.js";
import { bytes, count, duration, plural } from "../model/format.js";
import { cacheOf, compileKey, compileQuery, failuresOf, stackOf } from "../model/compiles.js";
import { differingLines } from "../model/passes.js";
import { Provenance, isRelated, stackLines } from "../model/provenance.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Imported} Imported */
/** @typedef {import("../api/types.js").ImportedCompile} Compile */
/** @typedef {import("../api/texts.js").Text} Text */
/** @typedef {{key: string, el: HTMLElement, pane: TextPane | null, lines: import("../model/provenance.js").Line[], turn?: number, beside?: boolean}} Shown beside: what differs from the text before it is marked */

const SOURCE = "s"; // the pane of source lines
const NONE = "none"; // what an address says of texts of no compilation
const MOST_PANES = 6;
/** Groups in the order of a compilation. @type {Record<string, string>} */
const GROUPS = { graph: "Graphs", code: "Code", guards: "Guards", failure: "Breaks and failures", cache: "Caches", autotune: "Autotuning", shapes: "Sizes", tensors: "Tensors", provenance: "Provenance", export: "Export", metrics: "Metrics", settings: "Settings", stack: "Stack", link: "Links", log: "Logs", other: "Others" };

/** @param {import("./router.js").Context} ctx @param {HTMLElement} body @param {Run} run @param {Imported} imported @param {URLSearchParams} wanted */
export async function compilePage(ctx, body, run, imported, wanted) {
  const [compile, process, resets] = [wanted.get("compile") ?? "", Number(wanted.get("process") ?? 0), Number(wanted.get("resets") ?? 0)];
  const at = imported.compiles.findIndex((c) => c.compile === compile && c.process === process && (c.resets ?? 0) === resets);
  const c = imported.compiles[at];
  const place = h("div");
  if (c || compile === NONE) add(body, head(run, imported, at, compile), c ? [facts(c), reasons(c), stack(imported, c)] : null);
  add(body, place);
  await fillIn(place, { what: "The texts of the compilation", signal: ctx.signal }, () => listTexts(run.id, { compile, process, resets }, ctx.signal), ({ artifacts }) => {
    if (!c && compile !== NONE) {
      // The report has no row of it; the log may have texts.
      if (!artifacts.length) return add(place, noSuchCompilation(run, imported, { compile, process, resets }));
      add(place, head(run, imported, at, compile));
    }
    artifacts.sort((a, b) => a.line - b.line);
    return add(place, new Texts(ctx, run, artifacts, wanted).el);
  });
}

/** @param {Run} run @param {Imported} imported @param {Pick<Compile, "compile" | "process" | "resets">} of */
function noSuchCompilation(run, imported, of) {
  const several = (imported.processes ?? []).length > 1 ? ` of process ${of.process}` : "";
  return stateWell(
    `There is no compilation ${compileKey(of)}${several}`,
    h("p", {}, `The log of this run has ${plural(imported.compiles.length, "compilation")}.`),
    h("div", { class: "acts" }, h("a", { class: "btn primary", href: `/runs/${run.id}/compiles` }, "All compilations")),
  );
}

/** @param {Run} run @param {Imported} imported @param {number} at @param {string} compile */
function head(run, imported, at, compile) {
  const to = (/** @type {Compile | undefined} */ c, /** @type {string} */ label) => (c ? h("a", { class: "btn", href: `/runs/${run.id}/compiles?${compileQuery(c)}` }, `${label} ${compileKey(c)}`) : null);
  const c = imported.compiles[at];
  const title = c ? `${compileKey(c)} ${c.frame ?? ""}` : compile === NONE ? "Texts of no compilation" : `[${compile}]`;
  return h("div", { class: "compilehead" }, h("a", { class: "btn", href: `/runs/${run.id}/compiles` }, "All compilations"), h("h2", {}, title), c ? outcomeChip(c) : null, h("div", { class: "acts" }, to(imported.compiles[at - 1], "Before"), c ? to(imported.compiles[at + 1], "Next") : null));
}

/** @param {Compile} c */
function facts(c) {
  const time = (/** @type {number | null | undefined} */ s) => (typeof s === "number" ? duration(s * 1e6) : "not recorded");
  /** @type {[string, string][]} */
  const all = [
    ["Place", c.file ? `${c.file}:${c.line}` : "not recorded"],
    ["Compiled in", time(c.entire_s)],
    ["Backend", time(c.backend_s)],
    ["Inductor", time(c.inductor_s)],
    ["Graphs", String(c.graphs)],
    ["Ops", typeof c.ops === "number" ? count(c.ops) : "not recorded"],
    ["Guards", typeof c.guards === "number" ? count(c.guards) : "not recorded"],
    ["Analyses", String(c.attempts ?? 1)],
    ["Cache", cacheOf(c) || "not asked"],
  ];
  if (typeof c.estimated_us === "number") all.push(["Estimated run time", `${duration(c.estimated_us)} of ${plural(c.estimated_ops ?? 0, "op")}`]);
  if (c.schedule_offset !== undefined) all.push(["Collectives in the code", c.schedule_offset || c.missing_waits ? `off Inductor's order by ${c.schedule_offset}, ${plural(c.missing_waits ?? 0, "wait")} missing` : "as Inductor put them in order"]);
  const phases = Object.entries(c.phases_us ?? {}).sort((a, b) => b[1] - a[1]);
  const rows = phases.map(([name, us]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "r" }, duration(us))));
  const table = rows.length ? h("details", {}, h("summary", {}, `Time by phase: ${plural(rows.length, "phase")}; one may hold others`), scroller("Time by phase", h("table", {}, headRow(["Phase", ["Time", "r"]]), h("tbody", {}, rows)))) : null;
  return h("div", {}, h("dl", { class: "meta" }, all.map(([t, d]) => h("div", {}, h("dt", {}, t), h("dd", {}, d)))), table);
}

/** Why it was compiled again, restarted or given up. @param {Compile} c */
function reasons(c) {
  const all = [...(c.recompile_reasons ?? []).map((r) => ["compiled again", r]), ...failuresOf([c]).map((f) => [f.what, `${f.place ? `${f.place}: ` : ""}${f.reason}`])];
  if (!all.length) return null;
  return section("Why", "", null, h("dl", { class: "whys well" }, all.slice(0, 50).map(([what, why]) => h("div", {}, h("dt", {}, what), h("dd", {}, h("pre", {}, why))))));
}

/** @param {Imported} imported @param {Compile} c */
function stack(imported, c) {
  const frames = stackOf(imported, c);
  if (!frames.length) return null;
  return h("details", { class: "stacks" }, h("summary", {}, `Called from ${frames[frames.length - 1].function}: ${plural(frames.length, "frame")}`), h("ol", {}, frames.map((f) => h("li", { class: "frame" }, h("code", {}, f.function), h("span", { class: "small sub" }, ` ${f.file}:${f.line}`), f.code ? h("code", { class: "loc" }, f.code) : null))));
}

/** Which are of the backward graph: where there is one, each kind's second. @param {readonly Text[]} texts @returns {Set<number>} */
function backwards(texts) {
  /** @type {Set<string>} */
  const seen = new Set();
  const has = texts.some((t) => t.kind === "aot_backward_graph");
  return new Set(texts.filter((t) => {
    const again = seen.has(`${t.attempt ?? 0} ${t.kind}`);
    seen.add(`${t.attempt ?? 0} ${t.kind}`);
    return has && again && /post_grad|output_code|runnable/.test(t.kind);
  }).map((t) => t.n));
}

/** What is opened first: from the source to the code. @param {readonly Text[]} texts */
function first(texts) {
  const last = (/** @type {RegExp} */ kind) => texts.filter((t) => kind.test(t.kind) && !t.records && t.at !== undefined).map((t) => t.n);
  const one = (/** @type {number[]} */ ns, /** @type {number} */ i) => (ns.length ? [String(ns.at(i) ?? ns[0])] : []);
  const code = one(last(/^inductor_output_code$/), 0);
  const graphs = [...one(last(/^dynamo_output_graph$/), -1), ...one(last(/^(inductor_post_grad_graph|after_post_grad_graph)$/), 0)];
  const some = [...(graphs.length ? graphs : one(last(/graph/), 0)), ...code];
  return some.length ? [SOURCE, ...some] : texts.filter((t) => t.at !== undefined).slice(0, 1).map((t) => String(t.n));
}

class Texts {
  /** @param {import("./router.js").Context} ctx @param {Run} run @param {readonly Text[]} texts @param {URLSearchParams} wanted */
  constructor(ctx, run, texts, wanted) {
    this.signal = ctx.signal;
    this.run = run;
    this.texts = texts;
    this.backward = backwards(texts);
    this.links = new Provenance();
    /** @type {Shown[]} */
    this.shown = [];
    /** @type {Map<string, Promise<string[]>>} */
    this.read = new Map();
    this.panes = h("div", { class: "textpanes" });
    this.said = h("p", { class: "small sub", "aria-live": "polite" }, "Pick a line: what it comes from, and what comes from it, is marked in every text.");
    const open = (wanted.get("texts") ?? "").split(",").filter((k) => k === SOURCE || texts.some((t) => String(t.n) === k));
    const more = button("Add a text beside", () => this.open(String(this.unseen()?.n ?? texts[0]?.n ?? SOURCE)));
    this.el = h("div", {}, this.list(), section("Side by side", "", more, this.said, this.panes));
    const mappings = texts.filter((t) => t.group === "provenance" && !t.records && t.at !== undefined);
    Promise.all([...mappings.map((t) => this.lines(String(t.n))), ...(open.length ? open : first(texts)).slice(0, MOST_PANES).map((key) => this.open(key, true))]).then(() => {
      const [n, line] = (wanted.get("line") ?? "").split(":");
      const at = this.shown.find((s) => s.key === n);
      if (at && Number(line)) at.pane?.choose(Number(line), true);
    }, (e) => {
      if (!this.signal.aborted) this.said.textContent = `What lines come from what cannot be read: ${e instanceof Error ? e.message : e}`;
    });
  }

  /** What tells a text from others of its kind, beside its name. @param {Text} t */
  restOf(t) {
    return `${t.part ? `, ${t.part}` : ""}${t.attempt ? `, analysis ${t.attempt + 1}` : ""}${this.backward.has(t.n) ? ", backward" : ""}`;
  }

  /** A text that no pane shows. */
  unseen() {
    return this.texts.find((t) => t.group === "graph" && t.at !== undefined && !this.shown.some((s) => s.key === String(t.n)));
  }

  /** All of them by group; a click opens one. */
  list() {
    const groups = Object.entries(GROUPS).map(([group, title]) => {
      const of = this.texts.filter((t) => t.group === group);
      if (!of.length) return null;
      const items = of.map((t) => {
        const label = `${t.kind}${t.name && t.name.length < 40 ? ` ${t.name}` : ""}${this.restOf(t)}`;
        const url = linkOf(t);
        return h("li", {}, t.at === undefined ? h("span", {}, label) : button(label, () => this.open(String(t.n)), { class: "btn link", title: t.what }), h("span", { class: "small sub" }, ` ${t.records ? `${plural(t.records, "record")}, ` : ""}${t.at === undefined ? `${bytes(t.bytes)}, not kept: the log has too much` : bytes(t.bytes)}`), url ? h("a", { class: "small", href: url, target: "_blank", rel: "noreferrer noopener" }, " open") : null);
      });
      return h("div", { class: "group" }, h("h3", {}, title), h("ul", {}, items));
    });
    return section("Texts", plural(this.texts.length, "text"), null, h("div", { class: "textgroups" }, groups));
  }

  /** The lines of a pane, read once. @param {string} key @returns {Promise<string[]>} */
  lines(key) {
    const text = this.texts.find((t) => String(t.n) === key);
    let lines = this.read.get(key);
    if (!lines && text) {
      lines = readText(this.run.id, text, this.signal).then((all) => {
        const list = all.replace(/\n$/, "").split("\n");
        const said = this.links.add(text.kind, list, this.backward.has(text.n));
        const stacks = stackLines(text.kind, all);
        this.linesOf.set(key, stacks?.map((l) => ({ sources: [], nodes: [], kernels: [l.kernel] })) ?? said);
        return stacks?.map((l) => l.text) ?? list;
      });
      lines.catch(() => this.read.delete(key)); // it may be asked for again
      this.read.set(key, lines);
    }
    return lines ?? Promise.resolve([]);
  }

  /** @type {Map<string, import("../model/provenance.js").Line[]>} */
  linesOf = new Map();

  /** Shows a text in a pane of its own. @param {string} key @param {boolean} [quiet] */
  async open(key, quiet = false) {
    const there = this.shown.find((s) => s.key === key);
    if (there) return quiet ? undefined : there.el.scrollIntoView({ block: "nearest" });
    if (this.shown.length >= MOST_PANES) this.close(this.shown[this.shown.length - 1]);
    /** @type {Shown} */
    const shown = { key, el: h("div", { class: "pane" }), pane: null, lines: [] };
    this.shown.push(shown);
    add(this.panes, shown.el);
    await this.fill(shown);
    if (!quiet) {
      this.note();
      this.nameSources();
      shown.el.scrollIntoView({ block: "nearest" });
    }
  }

  /** @param {Shown} shown */
  async fill(shown) {
    const { key } = shown;
    const turn = (shown.turn = (shown.turn ?? 0) + 1); // another text may be asked for while this one comes
    const body = h("div", { class: "panebody" });
    shown.el.replaceChildren(this.paneHead(shown), body);
    const of = { what: this.labelOf(key), signal: this.signal, still: () => turn === shown.turn };
    return fillIn(body, of, () => (key === SOURCE ? this.sources() : this.lines(key)), (lines) => {
      shown.lines = key === SOURCE ? this.links.sourceLines().map((l) => ({ sources: [l.source], nodes: [], kernels: [] })) : (this.linesOf.get(key) ?? []);
      this.put(shown, body, lines);
    });
  }

  /** The lines of the source that the other panes name, once they are read. */
  async sources() {
    await Promise.resolve(); // those that are opened with it are in the list then
    await Promise.all(this.shown.filter((s) => s.key !== SOURCE).map((s) => this.lines(s.key)));
    const lines = this.links.sourceLines();
    return lines.length ? lines.map((l) => l.text) : ["No text that is open names a line of the source."];
  }

  /** Source lines that a text names which was opened since. */
  nameSources() {
    const of = this.shown.find((s) => s.key === SOURCE);
    if (of && of.lines.length !== this.links.sourceLines().length) this.fill(of);
  }

  /** @param {Shown} shown @param {HTMLElement} body @param {string[]} lines */
  put(shown, body, lines) {
    shown.pane = new TextPane(this.labelOf(shown.key), lines, { pick: (line) => this.picked(shown, line) });
    body.replaceChildren(shown.pane.el);
    shown.pane.draw();
    this.differences();
  }

  /** @param {string} key */
  labelOf(key) {
    const t = this.texts.find((x) => String(x.n) === key);
    return t ? `${t.kind}${t.name ? ` ${t.name}` : ""}${t.part ? `, ${t.part}` : ""}` : "Source lines";
  }

  /** @param {Shown} shown */
  paneHead(shown) {
    const text = this.texts.find((t) => String(t.n) === shown.key);
    const choices = h("select", { class: "field", "aria-label": "Text of this pane" }, h("option", { value: SOURCE }, "Source lines"), Object.entries(GROUPS).map(([group, title]) => {
      const of = this.texts.filter((t) => t.group === group && t.at !== undefined);
      return of.length ? h("optgroup", { label: title }, of.map((t) => h("option", { value: String(t.n) }, `${t.kind}${t.kind === "graph_dump" ? ` ${t.name}` : ""}${this.restOf(t)}${t.records ? ", records" : ""}`))) : null;
    }));
    choices.value = shown.key;
    choices.addEventListener("change", () => {
      shown.key = choices.value;
      this.fill(shown).then(() => this.nameSources());
      this.note();
    });
    const rest = text && text.bytes > SHOWN_BYTES ? h("span", { class: "small sub" }, `the first ${bytes(SHOWN_BYTES)} of ${bytes(text.bytes)}`) : null;
    const beside = button("Differences", () => this.besides(shown), { class: "btn quiet beside", title: "Mark the lines that the text before it lacks, and those that it lacks", "aria-pressed": String(shown.beside === true) });
    const raw = text ? h("a", { class: "small", href: textUrl(this.run.id, text.n), target: "_blank" }, "raw") : null;
    return h("div", { class: "panehead" }, choices, rest, raw, beside, button("Close", () => this.close(shown), { class: "btn quiet", "aria-label": `Close ${this.labelOf(shown.key)}` }));
  }

  /** @param {Shown} shown */
  close(shown) {
    this.shown = this.shown.filter((s) => s !== shown);
    shown.el.remove();
    this.note();
  }

  /** Marks what differs from the text before, or no more. @param {Shown} shown */
  besides(shown) {
    shown.beside = !shown.beside;
    shown.el.querySelector(".beside")?.setAttribute("aria-pressed", String(shown.beside));
    const told = this.differences().get(shown);
    if (shown.beside && told) this.said.textContent = told;
  }

  /** The lines of each text that its neighbours lack, where that is asked for; what that says of each. */
  differences() {
    /** @type {Map<Shown, string>} */
    const told = new Map();
    /** @type {Set<number>[]} */
    const gone = this.shown.map(() => new Set());
    /** @type {Set<number>[]} */
    const come = this.shown.map(() => new Set());
    this.shown.forEach((right, i) => {
      const left = this.shown[i - 1];
      if (!right.beside || !left?.pane || !right.pane) return;
      ({ gone: gone[i - 1], come: come[i] } = differingLines(left.pane.lines, right.pane.lines));
      told.set(right, `${this.labelOf(right.key)}: ${plural(come[i].size, "line")} that ${this.labelOf(left.key)} lacks, which has ${plural(gone[i - 1].size, "other", "others")}.`);
    });
    this.shown.forEach((s, i) => s.pane?.tell((n) => (come[i].has(n) ? "add" : gone[i].has(n) ? "del" : "")));
    return told;
  }

  /** What is open, in the address. */
  note() {
    this.differences();
    remember({ texts: this.shown.map((s) => s.key).join(","), line: null });
  }

  /** @param {Shown} from @param {number} line */
  picked(from, line) {
    const of = from.lines[line - 1];
    if (!of) return;
    const related = this.links.related(of);
    let marks = 0;
    for (const s of this.shown) {
      const is = (/** @type {number} */ n) => Boolean(s.lines[n - 1]) && isRelated(s.lines[n - 1], related);
      s.pane?.mark(is, s !== from);
      if (s !== from) marks += s.lines.filter((l) => isRelated(l, related)).length;
    }
    const names = (/** @type {Set<string>} */ set, /** @type {string} */ one) => (set.size ? `${plural(set.size, one)}: ${[...set].slice(0, 4).map((k) => k.replace(/^[abd]:/, "").replace(/^.*\/(?=[^/]+:\d+$)/, "")).join(", ")}${set.size > 4 ? " and more" : ""}` : "");
    const parts = [names(related.sources, "source line"), names(related.nodes, "node"), names(related.kernels, "kernel")].filter(Boolean);
    this.said.textContent = parts.length ? `${parts.join("; ")}. ${plural(marks, "line")} marked elsewhere.` : "The log does not say what this line comes from.";
    remember({ line: `${from.key}:${line}` });
  }
}

/** Where a record links to, if that is a page. @param {Text} t */
function linkOf(t) {
  const url = t.said?.url;
  return typeof url === "string" && /^https?:\/\//.test(url) ? url : null;
}
