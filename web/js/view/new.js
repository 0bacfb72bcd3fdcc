// js/view/new.js -- the form: source, inputs, modes, sweep, and the same as a
// command.
//
// The form's state is one object; fields write into it and #changed draws what
// depends on them.  Inputs follow the entry's parameters by name, so a shape
// survives when another parameter comes or goes.  What was changed and has not run is a draft: it is
// kept in this browser (localStorage), one for each address of the form.

import { h, button, copyButton, focusKept, prose, say, segmented, select } from "./dom.js";
import { go } from "./router.js";
import { jobsChanged } from "./frame.js";
import { Checker } from "./checker.js";
import { noSuchRun } from "./missing.js";
import { acceptDrops, opener } from "./files.js";
import { fileTree } from "./tree.js";
import { Watch } from "./watch.js";
import { weightsPart } from "./weights.js";
import {
  devicePart,
  enginePart,
  filingPart,
  inputsPart,
  modesPart,
  passesPart,
  precisionPart,
  proposalPart,
  showErrors,
  sweepPart,
} from "./fields.js";
import { ApiError, getBackends, getExamples, getHosts, getNames, getPasses, getRun, postRun } from "../api/client.js";
import { herePath, origin } from "../api/place.js";
import { blank, entryText, exampleGroups, exampleKey, findExamples, freeOf, fromForm, newProposal, rowsFor, sweepIsIdle, takeProposal, toForm, untyped } from "../model/workload.js";
import { askedAt } from "../model/complete.js";
import { entries, entryAfter, isAnother, parameters, signature } from "../model/source.js";
import { curlLine, fileStem, runLine, watchLine } from "../model/commands.js";
import { plural } from "../model/format.js";

/** @typedef {import("../api/types.js").Workload} Workload */
/** @typedef {import("../api/types.js").Problem} Problem */
/** @typedef {import("../api/types.js").Example} Example */
/** @typedef {import("../api/types.js").PassInfo} PassInfo */
/** @typedef {import("../api/types.js").BackendInfo} BackendInfo */

/** @typedef {import("../model/workload.js").Form} Form */

const COMMANDS = { curl: "curl", run: "breakeven run", json: "JSON" };

/** @param {import("./router.js").Context} ctx */
export async function newView(ctx) {
  ctx.setTitle("New run");
  const having = await parts(ctx.signal);
  const { examples } = having;
  const from = ctx.query.get("from");
  const draft = new Draft(ctx.query);
  draft.guard(ctx.signal);
const page = new NewPage({ ...having, draft, signal: ctx.signal });
  const kept = draft.read();
  if (kept) page.restore(kept);
  else if (from) {
    const run = await getRun(from, ctx.signal).catch((e) => {
      if (e instanceof ApiError && (e.status === 404 || e.status === 400)) return null;
      throw e;
    });
    if (ctx.signal.aborted) return;
    if (!run) return ctx.main.replaceChildren(noSuchRun(from, [["Write a function", "/new"], ["All runs", "/runs"]]));
    const more = (ctx.query.get("add") ?? "").split(",").filter(Boolean);
    page.load(withModes(run.workload ?? blank(), more), `from run #${run.id}`);
  } else page.loadExample(examples[0]?.workload ?? blank(), "");
  if (ctx.signal.aborted) return;
  ctx.main.replaceChildren(...page.elements());
  const line = Number(ctx.query.get("line"));
  if (line > 0) page.goTo(line, Number(ctx.query.get("column")) || 1);
}

/**
 * The editor, a function in it, its inputs and *Run*: all else that a run may have is in the form, which has the same
 * draft.
 * @param {AbortSignal} signal
 */
export async function startForm(signal) {
  const having = await parts(signal);
  const draft = new Draft(new URLSearchParams());
  draft.guard(signal);
const page = new NewPage({ ...having, draft, signal, brief: true });
  const kept = draft.read();
  if (kept) page.restore(kept);
  else page.loadExample((having.examples.find((e) => !e.workload.sweep) ?? having.examples[0])?.workload ?? blank(), "");
  return page.brief();
}

/** What the form is made of. @param {AbortSignal} signal */
async function parts(signal) {
  const [{ Editor }, { examples }, { passes }, { backends, engines = [] }, { hosts }] = await Promise.all([
    import("./editor.js"),
    getExamples(signal).catch(() => ({ examples: /** @type {Example[]} */ ([]) })),
    getPasses(signal).catch(() => ({ passes: /** @type {PassInfo[]} */ ([]) })),
    getBackends(signal).catch(() => ({ backends: /** @type {BackendInfo[]} */ ([]), engines: [] })),
    getHosts(signal).catch(() => ({ hosts: [] })),
  ]);
  return { Editor, examples, passes, backends, engines, hosts };
}

/**
 * @param {Workload} w
 * @param {readonly string[]} more modes to measure too
 * @returns {Workload}
 */
function withModes(w, more) {
  return more.length ? { ...w, modes: [...new Set([...(w.modes ?? []), ...more])] } : w;
}

/** What completes the text of the editor: each module's names are asked for once. @param {AbortSignal} signal
 * @returns {import("./editor.js").Names} */
function completer(signal) {
  /** @type {Map<string, Promise<string[]>>} */
  const known = new Map();
  const namesOf = (/** @type {string} */ module) => {
    const asked = known.get(module) ?? getNames(module, signal).then(({ names }) => names, () => (known.delete(module), []));
    known.set(module, asked);
    return asked;
  };
  return async (text, at) => {
    const asked = askedAt(text, at);
    return asked && { from: asked.from, names: asked.names ?? (await namesOf(asked.module)) };
  };
}

/** What has been changed at an address of the form and has not run. */
class Draft {
  #key;
  /** What is in the form could not be kept: leaving asks first. */
  lost = false;

  /** @param {URLSearchParams} query */
  constructor(query) {
    this.#key = `draft ${query.get("from") ?? ""} ${query.get("add") ?? ""}`;
  }

  /** @returns {Form | null} */
  read() {
    const form = JSON.parse(localStorage.getItem(this.#key) ?? "null");
    const whole = form && Object.keys(toForm(blank(), parameters)).every((key) => key in form);
    return whole ? form : null; // another version of the form may have written it
  }

  /** @param {Form} form @returns {boolean} false: the browser has no room for it */
  write(form) {
    try {
      localStorage.setItem(this.#key, JSON.stringify(form));
      this.lost = false;
    } catch {
      this.drop();
      this.lost = true;
    }
    return !this.lost;
  }

  drop() {
    this.lost = false;
    localStorage.removeItem(this.#key);
  }

  /** Asks before the page goes with what could not be kept. @param {AbortSignal} signal */
  guard(signal) {
    addEventListener("beforeunload", (e) => this.lost && e.preventDefault(), { signal });
  }
}

class NewPage {
  #form = toForm(blank(), parameters);
  #command = "curl";
  #with;
  #editor;
  /** @type {Problem[]} */
  #shown = [];
  /** Nobody has changed what was loaded. */
  #untouched = true;
  /** What the text defined before it was changed. @type {readonly string[]} */
  #defined = [];
  /** The name that was loaded, which goes with its entry. */
  #named = "";
  /** The text of the example that was loaded; "": none was, or it has become another program. */
  #example = "";
  #diags = h("ul", { class: "diags", id: "diags", "aria-label": "Messages", "aria-live": "polite" });
  #title = h("b", { id: "file-name" });
  #origin = h("span", { class: "sub small", id: "origin" });
  #found = h("p", { class: "small dim", id: "found" });
  #entry = h("span");
  #files = h("div");
  /** @type {ReturnType<typeof fileTree> | null} of a program of several files */
  #tree = null;
  #settings = h("form", { class: "form", "aria-label": "Run settings" });
  #proposed = h("div", { id: "proposal" });
  #why = h("p", { class: "errline", id: "why" });
  #text = h("pre", { class: "curl", tabindex: 0, role: "region", "aria-label": "The same as a command" });
  #run = button("Run", () => this.#post(), { class: "btn primary", id: "run" });
  /** @type {ReturnType<typeof sweepPart> | null} */
  #sweep = null;
  #checker;
  /** @type {Watch} */
  #watch;

  /**
   * @param {{Editor: typeof import("./editor.js").Editor, examples: readonly Example[], passes: readonly PassInfo[],
   *   backends: readonly BackendInfo[], engines: readonly import("../api/types.js").EngineInfo[], draft: Draft,
   *   hosts: import("../api/report.js").ReportHostState[], signal: AbortSignal, brief?: boolean}} having brief: of the settings the inputs alone
   */
  constructor(having) {
    this.#with = having;
    this.#checker = new Checker(
      (found, proposals, called) => {
        this.#problems(found, called ? "with its calls" : "without calls");
        this.#propose(proposals);
      },
      (why) => (this.#found.textContent = `Not checked yet; trying again: ${why}`),
    );
    const onInput = () => {
      this.#untouched = false;
      this.#form.source = this.#editor.value;
      if (this.#form.files) this.#form.files = { ...this.#form.files, [this.#form.file]: this.#form.source };
      this.#followSource();
      this.#changed();
      this.#check();
    };
    const take = (/** @type {string} */ text) => {
      this.#editor.value = text;
      onInput();
      return null;
    };
    const command = () => watchLine(fromForm(this.#form).workload, signature(entryText(this.#form), this.#form.entry)?.map((p) => p.name) ?? []);
    this.#watch = new Watch({ asked: () => fromForm(this.#form), take, command, signal: having.signal });
    this.#editor = new having.Editor({ onInput, onRun: () => this.#post(), names: completer(having.signal) });
    this.#settings.addEventListener("submit", (e) => {
      e.preventDefault();
      this.#post();
    });
  }

  elements() {
    const receiver = {
      load: (/** @type {Workload} */ w, /** @type {string} */ note, /** @type {boolean} */ bare) => this.#take(w, note, bare),
      problem: (/** @type {Problem} */ p) => {
        this.#checker.stop(); // what it finds in the form as it was would take the place of this
        this.#problems([p]);
      },
    };
    const acts = h("div", { class: "acts" }, this.#exampleChooser(), opener(receiver), this.#watch.file, this.#watch.toggle, this.#run);
    const well = this.#well();
    const entry = h("div", { class: "acts" }, h("label", { class: "small sub", for: "entry" }, "Entry"), this.#entry);
    const bar = h("div", { class: "bar" }, this.#title, this.#origin, entry);
    const grid = h("div", { class: "newgrid" }, h("div", {}, bar, well, this.#watch.el, this.#commandSection()), this.#settings);
    acceptDrops(grid, receiver); // all of it: a file that falls beside the editor would replace the page
    return [
      h("div", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "New run"), this.#why), acts),
      grid,
    ];
  }

  /** Of the first page. */
  brief() {
    const all = h("a", { class: "btn", href: "/new" }, "All settings");
    all.addEventListener("click", () => this.#with.draft.write(this.#form));
    const bar = h("div", { class: "bar" }, this.#title, this.#origin, h("div", { class: "acts" }, this.#run));
    return [bar, this.#well(), this.#settings, h("div", { class: "acts" }, all)];
  }

  /** The editor, and what was found in what is in it. */
  #well() {
    const findings = h("div", { class: "findings", role: "region", "aria-label": "What was found", tabindex: 0 }, this.#found, this.#diags);
    this.#files.append(this.#editor.el);
    return h("div", { class: "well" }, this.#files, findings);
  }

  /**
   * @param {Workload} workload
   * @param {string} note where it comes from
   */
  load(workload, note) {
    this.#fill(toForm(workload, parameters), note || "not run yet");
  }

  /** One whose inputs nobody has typed: they follow the program. @param {Workload} workload @param {string} note */
  loadExample(workload, note) {
    this.#fill(untyped(toForm(workload, parameters)), note || "not run yet");
    this.#example = entryText(this.#form);
  }

  /** In place of what was there: what was chosen is a draft.
   * @param {Workload} workload @param {string} note @param {boolean} bare its inputs are made up, and nobody's */
  #take(workload, note, bare) {
    this.#untouched = false;
    const form = toForm(workload, parameters);
    this.#fill(bare ? untyped(form) : form, note);
  }

  /** @param {Form} form that was left without a run */
  restore(form) {
    this.#fill(form, "your draft, not run yet");
    const drop = button("Discard it", () => {
      this.#with.draft.drop();
      go(herePath() + location.search, { replace: true });
    }, { class: "btn link" });
    this.#origin.append(" ", drop);
  }

  /** @param {Form} form @param {string} note where it comes from */
  #fill(form, note) {
    this.#form = form;
    this.#defined = entries(entryText(form));
    this.#named = form.name;
    this.#example = "";
    this.#showTree();
    this.#editor.value = this.#form.source;
    this.#origin.textContent = note;
    this.#fields();
    this.#changed();
    this.#check(0);
  }

  /** The files beside the editor, where there are several. */
  #showTree() {
    const { files, main, file } = this.#form;
    this.#tree = files ? fileTree(Object.keys(files), { entry: main, choose: (path) => this.#open(path) }) : null;
    this.#files.className = files ? "filewrap" : "";
    this.#files.replaceChildren(...(this.#tree ? [this.#tree.el] : []), this.#editor.el);
    this.#tree?.show(file);
  }

  /** Shows another file of the program. @param {string} path */
  #open(path) {
    const form = this.#form;
    if (!form.files || path === form.file) return;
    form.file = path;
    form.source = form.files[path] ?? "";
    this.#editor.value = form.source;
    this.#tree?.show(path);
    this.#title.textContent = path;
    this.#mark();
  }

  /** What is wrong and where it will break, before anything runs. @param {number} [pauseMs] */
  #check(pauseMs) {
    this.#diags.replaceChildren();
    this.#shown = [];
    this.#editor.mark([]);
    this.#found.textContent = entryText(this.#form).trim() ? "Checking: nothing runs yet." : "";
    this.#checker.later(() => ({ ...fromForm(this.#form), free: freeOf(this.#form) }), pauseMs);
  }

  /**
   * @param {number} line
   * @param {number} column
   */
  goTo(line, column) {
    this.#editor.goTo(line, column);
  }

  #exampleChooser() {
    if (!this.#with.examples.length) return null;
    const label = "Start from an example";
    const shown = "Examples";
    const el = select([], "", { id: "example", "aria-label": label }, (name) => take(this.#with.examples.find((e) => exampleKey(e) === name)));
    const take = (/** @type {Example | undefined} */ chosen) => {
      if (!chosen) return;
      this.#untouched = false;
      this.loadExample(chosen.workload, "an example, not run yet");
    };
    const search = h("input", { class: "field", type: "search", id: "example-search", placeholder: "Search examples", "aria-label": "Search the examples", autocomplete: "off" });
    const fill = () => {
      const found = findExamples(this.#with.examples, search.value);
      const first = search.value ? (found.length ? `${found.length} found` : "none found") : shown;
      const groups = exampleGroups(found).map((g) => h("optgroup", { label: g.name }, g.examples.map((e) => h("option", { value: exampleKey(e) }, e.title || e.name))));
      el.replaceChildren(h("option", { value: "" }, first), ...groups);
    };
    search.addEventListener("input", fill);
    search.addEventListener("keydown", (e) => {
      const [first] = exampleGroups(findExamples(this.#with.examples, search.value)).flatMap((g) => g.examples);
      if (e.key !== "Enter" || !first) return;
      e.preventDefault();
      el.value = exampleKey(first);
      take(first);
    });
    fill();
    return h("span", { class: "examples" }, search, el);
  }

  #commandSection() {
    const forms = segmented("Form", COMMANDS, this.#command, (k) => {
      this.#command = k;
      this.#changed();
    });
    const acts = h(
      "div",
      { class: "acts" },
      forms,
      copyButton(() => this.#text.textContent ?? ""),
    );
    const title = h("summary", {}, h("h2", {}, "As a command"), h("span", { class: "small sub" }, "curl, breakeven run or JSON"));
    return h("details", { class: "sec flat command", "aria-label": "As a command" }, title, acts, h("div", { class: "well" }, this.#text));
  }

  /** The settings, made again: after loading, and when the parameters' names change. */
  #fields() {
    const changed = () => {
      this.#untouched = false;
      this.#changed();
      this.#check();
    };
    const form = this.#form;
    if (this.#with.brief) return this.#settings.replaceChildren(inputsPart(form, changed, this.#proposed), this.#why);
    this.#sweep = sweepPart(form, changed);
    const parts = [
      inputsPart(form, changed, this.#proposed),
      weightsPart(form, changed),
      modesPart(form, changed),
      devicePart(form, changed, this.#with.backends, this.#with.hosts),
      precisionPart(form, changed),
      this.#sweep.el,
    ];
    const engine = enginePart(form, changed, this.#with.engines);
    if (engine) parts.push(engine);
    if (this.#with.passes.length) parts.push(passesPart(form, changed, this.#with.passes));
    this.#settings.replaceChildren(...parts, filingPart(form, changed));
    const names = this.#entries().map((n) => ({ value: n, label: n }));
    const chooser = select(names, form.entry, { id: "entry", "aria-label": "Entry" }, (v) => {
      this.#untouched = false;
      form.entry = v;
      this.#followSource();
      this.#changed();
    });
    return this.#entry.replaceChildren(chooser);
  }

  /** @returns {string[]} what may be the entry; the one that is, also while it is being renamed */
  #entries() {
    return [...new Set([this.#form.entry, ...entries(entryText(this.#form))])];
  }

  /** Inputs and entries follow the text. */
  #followSource() {
    const form = this.#form;
    const names = entries(entryText(form));
    const entry = entryAfter(form.entry, this.#defined, names);
    if (names.length) this.#defined = names;
    const another = this.#example !== "" && names.length > 0 && isAnother(this.#example, entryText(form));
    if ((entry !== form.entry || another) && form.name === this.#named) form.name = this.#named = entry; // it is not what was loaded
    if (another) {
      this.#example = ""; // what it was filed under goes with it
      [form.project, form.tags] = ["", ""];
      this.#fields();
    }
    if (entry !== form.entry) {
      const own = parameters(entryText(form), entry) ?? [];
      form.inputs = form.inputs.filter((r) => own.includes(r.name));
      form.entry = entry;
    }
    const rows = rowsFor(form.inputs, entryText(form), form.entry);
    const sameInputs = rows === null || rows.map((r) => r.name).join() === form.inputs.map((r) => r.name).join();
    const shown = [...this.#entry.querySelectorAll("option")].map((o) => o.value);
    if (sameInputs && shown.sort().join() === this.#entries().sort().join()) return;
    if (rows && !sameInputs) form.inputs = rows;
    this.#fields();
  }

  /** Draws what depends on the state. */
  #changed() {
    const form = this.#form;
    const { workload, errors } = fromForm(form);
    const n = errors.length;
    this.#title.textContent = form.files ? form.file : `${fileStem(form.name || form.entry)}.py`;
    this.#text.textContent = this.#commandText(workload);
    showErrors(this.#settings, errors);
    const empty = !entryText(form).trim();
    this.#run.toggleAttribute("disabled", n > 0 || empty);
    const idle = sweepIsIdle(form) ? "Runs without the sweep: the source has no line `...`." : "";
    this.#why.replaceChildren(...(n ? [this.#toField(n), " before it can run"] : [empty ? "The source is empty" : idle]));
    this.#sweep?.update();
    this.#watch.changed();
    if (!this.#untouched && !this.#with.draft.write(form)) this.#origin.textContent = "the browser has no room to keep it as a draft: leaving the page loses it";
  }

  /** "1 field needs another value", which leads to the first. @param {number} n */
  #toField(n) {
    const first = () => /** @type {HTMLElement | null} */ (this.#settings.querySelector("[aria-invalid=true]"))?.focus();
    return button(`${n === 1 ? "1 field needs" : `${n} fields need`} another value`, first, { class: "btn link" });
  }

  /** @param {Workload} workload */
  #commandText(workload) {
    if (this.#command === "curl") return curlLine(workload, origin());
    return this.#command === "run" ? runLine(workload) : JSON.stringify(workload, null, 2);
  }

  /** Names what is wrong or will break, at its line where it has one. @param {Problem[]} found @param {"with its calls" | "without calls"} [checked] */
  #problems(found, checked) {
    const breaks = found.filter((p) => p.allowed).length;
    const warnings = found.filter((p) => p.severity === "warning").length;
    const errors = found.length - breaks - warnings;
    const none = checked === "with its calls" ? "Checked: no error, and no break in these calls." : "Checked without calls, because a field needs another value: no error in the source."; // a break is met by a call
    const some = `Checked: ${errors ? `${plural(errors, "error")}, a run would fail` : "no error"}${warnings ? `, ${plural(warnings, "line")} would fail if a call came there` : ""}; ${breaks ? `the graph will break at ${plural(breaks, "place")}` : "no break"}.`;
    this.#found.textContent = checked ? (found.length ? some : none) : "";
    this.#diags.replaceChildren(...found.map((p) => this.#item(p)));
    this.#shown = found;
    this.#mark();
  }

  /** Inputs that the text tells, where the form has others; those that the program has run with, in place of what
   * nobody typed. @param {import("../api/types.js").Proposal[]} proposals */
  #propose(proposals) {
    const form = this.#form;
    const proposal = newProposal(form, proposals);
    const take = () => {
      if (!proposal) return;
      this.#untouched = false;
      takeProposal(form, proposal);
      this.#fields();
      this.#changed();
      this.#check(0);
    };
    this.#proposed.replaceChildren();
    if (proposal?.runs) {
      const back = focusKept(this.#settings);
      take();
      back();
      say(`Inputs proposed for ${proposal.inputs.map((input) => input.name).join(", ")}: the program runs with them.`);
    } else if (proposal) {
      this.#proposed.append(proposalPart(proposal, () => {
        take();
        this.#settings.querySelector("#inputs")?.querySelector("input")?.focus();
      }));
    }
  }

  #mark() {
    const { files, file } = this.#form;
    this.#editor.mark(this.#shown.filter((p) => this.#inText(p) && (!files || p.file === file)));
  }

  /** @param {Problem} p */
  #inText(p) {
    const line = p.line ?? 0;
    const text = this.#form.files ? this.#form.files[p.file ?? ""] : p.file ? "" : this.#editor.value;
    return line > 0 && Boolean(text) && line <= (text ?? "").split("\n").length;
  }

  /** Of what is in no text: the input whose expression it is, or the workload. @param {Problem} p */
  #placeOf(p) {
    const [, call, i] = /^calls\[(\d+)\]\[(\d+)\]/.exec(p.file ?? "") ?? [];
    return call === "0" ? `input ${this.#form.inputs[Number(i)]?.name ?? i}` : (p.file ?? "workload");
  }

  /** @param {Problem} p */
  #item(p) {
    const line = p.line ?? 0;
    const at = `${line}${p.column ? `:${p.column}` : ""}`;
    const name = this.#form.files && p.file ? `${p.file}:${at}` : `line ${at}`;
    const open = () => {
      if (p.file) this.#open(p.file);
      this.#editor.goTo(line, p.column ?? 1);
    };
    const where = this.#inText(p)
      ? button(name, open, { class: "btn link" })
      : h("span", { class: "dim" }, this.#placeOf(p));
    const [cls, word] = p.allowed ? ["sev b", "Will break"] : p.severity === "warning" ? ["sev w", "Warning"] : ["sev e", "Error"];
    const severity = h("span", { class: cls }, word);
    const text = h("span", { class: "msg" }, prose(p.message));
    return h("li", {}, h("span", { class: "where" }, where), severity, text);
  }

  async #post() {
    const { workload, errors } = fromForm(this.#form);
    if (errors.length || this.#run.hasAttribute("disabled")) return;
    this.#run.setAttribute("disabled", "");
    this.#checker.stop();
    try {
      const { id } = await postRun(workload);
      this.#with.draft.drop();
      jobsChanged();
      go(`/runs/${encodeURIComponent(id)}`);
    } catch (e) {
      this.#run.removeAttribute("disabled");
      this.#problems(e instanceof ApiError ? e.problems : [{ message: String(e) }]);
      this.#diags.scrollIntoView({ block: "nearest" });
    }
  }
}
