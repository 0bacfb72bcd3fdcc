// js/view/new.js -- the form: source, inputs, modes, sweep, and the same as a
// command.
//
// The form's state is one object; fields write into it and `changed` draws what
// depends on them.  Inputs follow the entry's parameters by name, so a shape
// survives when another parameter comes or goes.

import { h, add, button, copyButton, prose, say, segmented, select } from "./dom.js";
import { go } from "./router.js";
import { jobsChanged } from "./frame.js";
import { editor } from "./editor.js";
import { devicePart, filingPart, inputsPart, modesPart, showErrors, sweepPart } from "./fields.js";
import { ApiError, getExamples, getRun, postRun } from "../api/client.js";
import { blank, fromForm, newRow, toForm } from "../model/workload.js";
import { entries, parameters } from "../model/source.js";
import { curlLine, fileStem, runLine } from "../model/commands.js";

/** @typedef {import("../model/workload.js").Form} Form */
/** @typedef {import("../api/types.js").Workload} Workload */
/** @typedef {import("../api/types.js").Problem} Problem */

const MOST_BYTES = 4 * 1024 * 1024;

/** @param {import("./router.js").Context} ctx */
export async function newView(ctx) {
  ctx.setTitle("New run");
  const from = ctx.query.get("from");
  /** @type {Workload} */
  let start = blank();
  let origin = "";
  const examples = await getExamples(ctx.signal).then((a) => a.examples ?? [], () => []);
  if (examples[0]) start = examples[0].workload;
  if (from) {
    const run = await getRun(from, ctx.signal);
    start = run.workload ?? run.report?.workload ?? start;
    origin = `from run #${run.id}`;
    const more = (ctx.query.get("add") ?? "").split(",").filter(Boolean);
    if (more.length) start = { ...start, modes: [...(start.modes ?? []), ...more.filter((m) => !start.modes?.includes(m))] };
  }
  const page = makePage(ctx, examples);
  page.load(start, origin);
  const line = Number(ctx.query.get("line"));
  if (line > 0) page.goTo(line, Number(ctx.query.get("column")) || 1);
}

/** @param {import("./router.js").Context} ctx @param {readonly import("../api/types.js").Example[]} examples */
function makePage(ctx, examples) {
  /** @type {Form} */
  let form = toForm(blank(), parameters);
  let command = "curl";
  const diags = h("ul", { class: "diags", id: "diags", "aria-label": "Messages", "aria-live": "polite" });
  const ed = editor({ label: "Source", describedby: "diags", onInput: () => { form.source = ed.value; followSource(); changed(); clear(); }, onRun: () => run() });
  const title = h("b", { id: "file-name" });
  const origin = h("span", { class: "sub small", id: "origin" });
  const entryPlace = h("span");
  const settings = h("form", { class: "form", "aria-label": "Run settings" });
  const why = h("p", { class: "errline", id: "why" });
  const runButton = button("Run", () => run(), { class: "btn primary", id: "run" });
  const text = h("pre", { class: "curl", tabindex: 0, role: "region", "aria-label": "The same as a command" });
  /** @type {{update: () => void} | null} */
  let sweep = null;

  const changed = () => {
    const { workload, errors } = fromForm(form);
    title.textContent = `${fileStem(form.name || form.entry)}.py`;
    text.textContent = command === "curl" ? curlLine(workload, location.origin) : command === "run" ? runLine(workload) : JSON.stringify(workload, null, 2);
    showErrors(settings, errors);
    runButton.toggleAttribute("disabled", errors.length > 0 || !form.source.trim());
    why.textContent = errors.length ? `${errors.length === 1 ? "1 field needs" : `${errors.length} fields need`} another value: run it then.` : form.source.trim() ? "" : "The source is empty.";
    sweep?.update();
  };
  const clear = () => diags.replaceChildren();
  const fields = () => {
    sweep = sweepPart(form, changed);
    settings.replaceChildren(inputsPart(form, changed), modesPart(form, changed), devicePart(form, changed), /** @type {any} */ (sweep).el, filingPart(form, changed), why);
    const names = entries(form.source);
    const list = names.includes(form.entry) ? names : [form.entry, ...names];
    entryPlace.replaceChildren(select(list.map((n) => ({ value: n, label: n })), form.entry, { id: "entry", "aria-label": "Entry" }, (v) => { form.entry = v; followSource(); changed(); }));
  };
  /** Inputs and entries follow the text; the fields are made anew only where names differ. */
  const followSource = () => {
    const names = parameters(form.source, form.entry);
    const known = entryPlace.textContent;
    const same = names === null || names.join() === form.inputs.map((r) => r.name).join();
    if (same && known === [...new Set([form.entry, ...entries(form.source)])].join("")) return;
    if (names && !same) form.inputs = names.map((n, i) => form.inputs.find((r) => r.name === n) ?? (form.inputs[i] && !names.includes(form.inputs[i].name) ? { ...form.inputs[i], name: n } : newRow(n)));
    fields();
  };
  const load = (/** @type {Workload} */ w, /** @type {string} */ note) => {
    form = toForm(w, parameters);
    ed.value = form.source;
    origin.textContent = note || "nothing has run yet";
    clear();
    fields();
    changed();
  };
  const problem = (/** @type {Problem} */ p) => {
    const inText = typeof p.line === "number" && p.line > 0 && p.line <= ed.value.split("\n").length;
    const where = inText ? button(`line ${p.line}${p.column ? `:${p.column}` : ""}`, () => ed.goTo(Number(p.line), p.column ?? 1), { class: "btn link" }) : h("span", { class: "dim" }, "workload");
    diags.replaceChildren(h("li", {}, h("span", { class: "where" }, where), h("span", { class: "sev e" }, "Error"), h("span", { class: "msg" }, prose(p.message))));
    ed.mark(inText ? [p] : []);
    if (!inText) diags.scrollIntoView({ block: "nearest" });
  };
  const run = async () => {
    const { workload, errors } = fromForm(form);
    if (errors.length || runButton.hasAttribute("disabled")) return;
    runButton.setAttribute("disabled", "");
    try {
      const { id } = await postRun(workload);
      jobsChanged();
      go(`/runs/${encodeURIComponent(id)}`);
    } catch (e) {
      runButton.removeAttribute("disabled");
      problem(e instanceof ApiError ? e.problem : { message: String(e) });
      say("");
    }
  };

  settings.addEventListener("submit", (e) => { e.preventDefault(); run(); });
  ctx.main.replaceChildren(
    h("div", { class: "head" }, h("div", { class: "titles" }, h("h1", {}, "New run")), h("div", { class: "acts" }, exampleChooser(examples, load), opener(load, problem), runButton)),
    h("div", { class: "newgrid" },
      h("div", {}, h("div", { class: "bar" }, h("label", { for: "source" }, title), origin, h("div", { class: "acts" }, h("label", { class: "small sub", for: "entry" }, "Entry"), entryPlace)),
        h("div", { class: "well", id: "drop" }, ed.el, diags),
        h("section", { class: "sec flat", "aria-label": "As a command" }, h("header", {}, h("h2", {}, "As a command"), h("div", { class: "acts" },
          segmented("Form", [{ key: "curl", label: "curl" }, { key: "run", label: "breakeven run" }, { key: "json", label: "JSON" }], command, (k) => { command = k; changed(); }), copyButton(() => text.textContent ?? ""))),
        h("div", { class: "well" }, text))),
      settings));
  dropping(/** @type {HTMLElement} */ (document.getElementById("drop")), load, problem);
  return { load, goTo: ed.goTo };
}

/** @param {readonly import("../api/types.js").Example[]} examples @param {(w: Workload, note: string) => void} load */
function exampleChooser(examples, load) {
  if (!examples.length) return null;
  return select([{ value: "", label: "Start from an example" }, ...examples.map((e) => ({ value: e.name, label: e.title || e.name }))], "", { id: "example", "aria-label": "Start from an example" }, (v) => {
    const chosen = examples.find((e) => e.name === v);
    if (chosen) load(chosen.workload, "an example, nothing has run yet");
  });
}

/** A .py gets inputs for its parameters; a .json is a whole workload, or a report with one in it.
 * @param {File} file @param {(w: Workload, note: string) => void} load @param {(p: Problem) => void} problem */
async function read(file, load, problem) {
  if (file.size > MOST_BYTES) return problem({ message: `${file.name} is larger than 4 MiB, which is more than a workload may be.` });
  const text = await file.text();
  if (!/\.json$/i.test(file.name)) {
    const names = entries(text);
    const entry = names.includes("model") ? "model" : names[names.length - 1] ?? "model";
    const calls = [(parameters(text, entry) ?? []).map(() => ({ random: { shape: [8, 16], dtype: "float32", kind: "randn", seed: 0 } }))];
    return load({ name: file.name.replace(/\.[^.]*$/, ""), source: text, entry, calls, modes: ["eager", "static", "dynamic"] }, `from ${file.name}`);
  }
  try {
    const parsed = JSON.parse(text);
    const w = parsed?.breakeven ? parsed.workload : parsed;
    if (!w || typeof w.source !== "string") throw new Error("it has no text `source`");
    return load(w, `from ${file.name}`);
  } catch (e) {
    return problem({ message: `${file.name} is no workload: ${e instanceof Error ? e.message : e}` });
  }
}

/** @param {(w: Workload, note: string) => void} load @param {(p: Problem) => void} problem */
function opener(load, problem) {
  const file = h("input", { type: "file", accept: ".py,.json", hidden: true, id: "file", tabindex: -1, "aria-label": "Open a .py or .json file" });
  file.addEventListener("change", () => {
    if (file.files?.[0]) read(file.files[0], load, problem);
    file.value = "";
  });
  const span = h("span", {});
  add(span, file, button("Open .py or .json", () => file.click()));
  return span;
}

/** @param {HTMLElement} el @param {(w: Workload, note: string) => void} load @param {(p: Problem) => void} problem */
function dropping(el, load, problem) {
  const over = (/** @type {boolean} */ on) => el.classList.toggle("dropping", on);
  el.addEventListener("dragover", (e) => {
    if (!e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    over(true);
  });
  el.addEventListener("dragleave", () => over(false));
  el.addEventListener("drop", (e) => {
    over(false);
    const file = e.dataTransfer?.files[0];
    if (!file) return;
    e.preventDefault();
    read(file, load, problem);
  });
}
