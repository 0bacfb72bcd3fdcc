// js/model/workload.js -- the form's fields to a workload, and back.
//
// What the form does not show (params, deny, several calls, exact tensors) is
// kept in `rest` and in each row's `raw`, so opening a file and running it again
// loses nothing.

import { plural } from "./format.js";
import { passName } from "./passes.js";
import { proposeEntry, splitEntry } from "./program.js";
import { hasDots, parameters, signature } from "./source.js";

/** @typedef {import("../api/types.js").Workload} Workload */
/** @typedef {import("../api/types.js").Proposal} Proposal */
/**
 * @typedef
 *   {{name: string, shape: string, dtype: string, kind: string, text: string,
 *   raw: import("../api/types.js").Value | null, named?: boolean, typed?: boolean, why?: string}}
 *   InputRow named: given by keyword; typed: by somebody, so that no proposal changes it; why: it was proposed
 */
/**
 * @typedef {object} Form
 * @property {string} name @property {string} source what the editor shows: the program, or its file `file`
 * @property {string} entry the function, of the file `main` where there are several
 * @property {Record<string, string> | null} files null: `source` is all @property {string} file @property {string} main
 * @property {InputRow[]} inputs @property {string[]} modes
 * @property {string} device @property {string} backend @property {string} threads
 * @property {string} host the machine that runs it; "" for the server's own
 * @property {string} autocast a dtype; "" for none
 * @property {string} policy "" for dynamo
 * @property {boolean} grad the backward pass too
 * @property {boolean} torch PyTorch measures it too
 * @property {"nothing" | "statements" | "input"} sweep
 * @property {string} pool @property {string} counts
 * @property {string} arg @property {string} dim @property {string} sizes
 * @property {string} project @property {string} tags
 * @property {string[]} off passes that are left out
 * @property {Record<string, unknown>} rest @property {import("../api/types.js").Call[]} moreCalls
 */

/** The files that the program reads: ids by name. @param {Form} form @returns {Record<string, string>} */
export const weightsOf = (form) => /** @type {Record<string, string>} */ (form.rest.weights ?? {});

export const DTYPES = ["float32", "float64", "int64", "bool"];
export const KINDS = ["randn", "rand", "randint", "zeros", "ones", "arange"];

const SHOWN = new Set([
  "name",
  "source",
  "files",
  "entry",
  "calls",
  "modes",
  "device",
  "backend",
  "threads",
  "host",
  "autocast",
  "policy",
  "grad",
  "engines",
  "passes",
  "sweep",
  "project",
  "tags",
]);
/** @type {readonly [string, (e: import("../api/types.js").Example, tags: string[]) => boolean][]} the first that fits */
const GROUPS = [
  ["Model blocks of the suite", (e) => e.group === "Model blocks"],
  ["Models in published style", (e) => e.group === "Models in published style"],
  ["Sweeps", (_, tags) => tags.includes("sweep")],
  ["Programs that break", (_, tags) => tags.includes("breaks")],
  ["Training steps", (e) => /_step(_|$)/.test(e.name)],
  ["Models", (_, tags) => tags.includes("model")],
  ["Blocks", () => true],
];

/** Examples in their groups, those without one left out. @param {readonly import("../api/types.js").Example[]} all */
export function exampleGroups(all) {
  const of = (/** @type {import("../api/types.js").Example} */ e) => GROUPS.findIndex(([, fits]) => fits(e, e.workload.tags ?? []));
  const groups = GROUPS.map(([name], i) => ({ name, examples: all.filter((e) => of(e) === i) }));
  return [...groups.slice(2), groups[1], groups[0]].filter((g) => g.examples.length);
}

/** Those that have each word in name, title, group or tags, in any case. @template {import("../api/types.js").Example} E @param {readonly E[]} all @param {string} text @returns {E[]} */
export function findExamples(all, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const said = (/** @type {E} */ e) => [e.name, e.title, e.group ?? "", ...(e.workload.tags ?? [])].join(" ").toLowerCase();
  return all.filter((e) => words.every((word) => said(e).includes(word)));
}

/** What tells an example from all others: the suite's blocks may have the name of one. @param {import("../api/types.js").Example} e */
export const exampleKey = (e) => (e.group ? `${e.group}: ${e.name}` : e.name);

/** Bounds that the server holds too; here they only give the message sooner. */
const MOST_COUNT = 10000;

/** What the form shows when no example can be had. @returns {Workload} */
export function blank() {
  return {
    name: "model",
    source: "import torch\n\ndef model(x):\n    return torch.relu(x)\n",
    entry: "model",
    calls: [[{ random: { shape: [8, 16], dtype: "float32", kind: "randn", seed: 0 } }]],
  };
}

/** @param {string} name @returns {InputRow} */
export const newRow = (name) => ({ name, shape: "8, 16", dtype: "float32", kind: "randn", text: "", raw: null });

/** @param {string} name @param {import("../api/types.js").Value} value @returns {InputRow} */
const rowOf = (name, value) => ({ ...fieldsOf(name, value), typed: true });

/** @param {string} name @param {import("../api/types.js").Value} value @returns {InputRow} */
function fieldsOf(name, value) {
  if (value.random) {
    return {
      name,
      shape: value.random.shape.join(", "),
      dtype: value.random.dtype ?? "float32",
      kind: value.random.kind ?? "randn",
      text: "",
      raw: value,
    };
  }
  if (value.python !== undefined) return { name, shape: "", dtype: "", kind: "python", text: value.python, raw: value };
  if ("value" in value)
    return { name, shape: "", dtype: "", kind: "value", text: JSON.stringify(value.value), raw: value };
  const t = value.tensor;
  return { name, shape: t ? t.shape.join(", ") : "", dtype: t?.dtype ?? "", kind: "given", text: "", raw: value };
}

/** @param {import("../api/types.js").Call | undefined} call */
export function argumentsOf(call) {
  if (!call || Array.isArray(call)) return { args: call ?? [], keywords: null };
  return { args: call.args ?? [], keywords: call.kwargs ?? null };
}

/**
 * A row for each argument of a call, and for each parameter that it lacks.
 * @param {string} source @param {string} entry @param {import("../api/types.js").Call | undefined} call
 * @param {readonly string[] | null} needed the parameters that have to be given
 * @returns {InputRow[]}
 */
function rowsOf(source, entry, call, needed) {
  const { args, keywords } = argumentsOf(call);
  const known = signature(source, entry);
  const places = known ? known.filter((p) => !p.named).map((p) => p.name) : (needed ?? []);
  const given = new Set([...places.slice(0, args.length), ...Object.keys(keywords ?? {})]);
  const byName = new Set(known?.filter((p) => p.named).map((p) => p.name));
  const lacking = (needed ?? []).filter((name) => !given.has(name));
  return [
    ...args.map((value, i) => rowOf(places[i] ?? `arg ${i}`, value)),
    ...lacking.filter((name) => !byName.has(name)).map((name) => newRow(name)),
    ...Object.entries(keywords ?? {}).map(([name, value]) => ({ ...rowOf(name, value), named: true })),
    ...lacking.filter((name) => byName.has(name)).map((name) => ({ ...newRow(name), named: true })),
  ];
}

/**
 * @param {Workload} w
 * @param {(source: string, entry: string) => string[] | null} parametersOf
 * @returns {Form}
 */
export function toForm(w, parametersOf) {
  const files = w.files ?? null;
  const { path: main, name: entry } = files ? splitEntry(w.entry ?? "") : { path: "", name: w.entry ?? "model" };
  const source = files ? (files[main] ?? "") : (w.source ?? "");
  const s = w.sweep ?? {};
  return {
    name: w.name ?? "",
    source,
    files,
    file: main,
    main,
    entry,
    inputs: rowsOf(source, entry, w.calls?.[0], parametersOf(source, entry)),
    modes: w.modes ?? ["eager", "static", "dynamic"],
    device: w.device ?? "cpu",
    backend: w.backend ?? "",
    threads: w.threads ? String(w.threads) : "",
    host: w.host === "local" ? "" : (w.host ?? ""),
    autocast: w.autocast ?? "",
    policy: w.policy === "native" ? "native" : "",
    grad: w.grad === true,
    torch: (w.engines ?? []).includes("torch"),
    off: Object.keys(w.passes ?? {}).filter((name) => w.passes?.[name] === false).map(passName),
    sweep: s.statements ? "statements" : s.input ? "input" : "nothing",
    pool: (s.statements?.pool ?? []).join("\n"),
    counts: (s.statements?.counts ?? []).join(", "),
    arg: s.input && s.input.arg === undefined ? "n" : String(s.input?.arg ?? 0),
    dim: String(s.input?.dim ?? 0),
    sizes: (s.input?.sizes ?? []).join(", "),
    project: w.project ?? "",
    tags: (w.tags ?? []).join(", "),
    rest: Object.fromEntries(Object.entries(w).filter(([k]) => !SHOWN.has(k))),
    moreCalls: (w.calls ?? []).slice(1),
  };
}

/**
 * Whole numbers, comma or space between; null where there is something else.
 * @param {string} text
 * @param {number} least
 * @returns {number[] | null}
 */
export function wholeNumbers(text, least) {
  const words = text
    .replace(/[[\]()]/g, " ")
    .split(/[\s,]+/)
    .filter(Boolean);
  const out = words.map((w) => (/^\d+$/.test(w) ? Number(w) : NaN));
  return out.every((n) => Number.isSafeInteger(n) && n >= least) ? out : null;
}

/** @typedef {{field: string, message: string}} FieldError */

/**
 * @param {InputRow} row
 * @param {number} i
 * @param {FieldError[]} errors
 * @returns {import("../api/types.js").Value}
 */
function valueOf(row, i, errors) {
  if (row.kind === "given" && row.raw) return row.raw;
  if (row.kind === "python") {
    if (!row.text.trim()) errors.push({ field: `input-${i}`, message: `${row.name}: write an expression, for example torch.randn(8, 16).` });
    return { ...(row.raw?.python === undefined ? {} : row.raw), python: row.text.trim() };
  }
  if (row.kind === "value") {
    try {
      return {
        value: JSON.parse(
          row.text
            .replace(/^True$/, "true")
            .replace(/^False$/, "false")
            .replace(/^None$/, "null"),
        ),
      };
    } catch {
      errors.push({ field: `input-${i}`, message: `${row.name}: write a number, a bool or a text in double quotes.` });
      return { value: null };
    }
  }
  const shape = wholeNumbers(row.shape, 0);
  if (!shape)
    errors.push({
      field: `input-${i}`,
      message: `${row.name}: a shape is a list of whole numbers, for example 8, 16. Leave it empty for a scalar.`,
    });
  const kept = row.raw?.random ?? { seed: 0 };
  return { ...row.raw, random: { ...kept, shape: shape ?? [], dtype: row.dtype || "float32", kind: row.kind } };
}

/** @param {Form} f @param {FieldError[]} errors @returns {import("../api/types.js").Sweep | null} */
function sweepOf(f, errors) {
  if (sweepIsIdle(f)) return null;
  if (f.sweep === "statements") {
    const pool = f.pool
      .split("\n")
      .map((l) => l.trim())
      .filter(Boolean);
    const counts = wholeNumbers(f.counts, 0);
    if (!pool.length) errors.push({ field: "pool", message: "The pool is empty: write one statement per line." });
    if (!counts?.length || counts.some((c) => c > MOST_COUNT))
      errors.push({
        field: "counts",
        message: `Counts are whole numbers up to ${MOST_COUNT.toLocaleString("en-US")}, for example 1, 5, 10.`,
      });
    return { statements: { pool, counts: counts ?? [] } };
  }
  if (f.sweep === "input") {
    const sizes = wholeNumbers(f.sizes, 1);
    if (!sizes?.length)
      errors.push({ field: "sizes", message: "Sizes are whole numbers of at least 1, for example 512, 1024, 2048." });
    if (f.arg === "n") return { input: { sizes: sizes ?? [] } };
    const dim = wholeNumbers(f.dim, 0);
    if (dim?.length !== 1) errors.push({ field: "dim", message: "A dimension is a whole number of at least 0." });
    return { input: { arg: Number(f.arg), dim: dim?.[0] ?? 0, sizes: sizes ?? [] } };
  }
  return null;
}

/**
 * The workload that a form stands for, with what is wrong in its fields.  The
 * workload is complete only where `errors` is empty.
 * @param {Form} f @returns {{workload: Workload, errors: FieldError[]}}
 */
export function fromForm(f) {
  /** @type {FieldError[]} */
  const errors = [];
  const threads = wholeNumbers(f.threads, 0);
  if (!threads || threads.length > 1)
    errors.push({ field: "threads", message: "Threads is a whole number; empty or 0 means one per core." });
  if (!f.modes.length) errors.push({ field: "modes", message: "Choose at least one mode." });
  const sweep = sweepOf(f, errors);
  const tags = f.tags
    .split(",")
    .map((t) => t.trim())
    .filter(Boolean);
  const values = f.inputs.map((r, i) => valueOf(r, i, errors));
  const placed = values.filter((_, i) => !f.inputs[i].named);
  const named = f.inputs.flatMap((r, i) => (r.named ? [/** @type {const} */ ([r.name, values[i]])] : []));
  /** @type {Workload} */
  const workload = {
    ...f.rest,
    name: f.name.trim() || f.entry,
    ...(f.files ? { files: f.files, entry: `${f.main}:${f.entry}` } : { source: f.source, entry: f.entry }),
    calls: [named.length ? { args: placed, kwargs: Object.fromEntries(named) } : placed, ...f.moreCalls],
    modes: f.modes,
    device: f.device,
    ...(threads?.[0] ? { threads: threads[0] } : {}),
    ...(f.backend ? { backend: f.backend } : {}),
    ...(f.host ? { host: f.host } : {}),
    ...(f.autocast ? { autocast: f.autocast } : {}),
    ...(f.policy ? { policy: f.policy } : {}),
    ...(f.grad ? { grad: true } : {}),
    ...(f.torch ? { engines: ["breakeven", "torch"] } : {}),
    ...(f.off.length ? { passes: Object.fromEntries(f.off.map((name) => [name, false])) } : {}),
    ...(sweep ? { sweep } : {}),
    ...(f.project.trim() ? { project: f.project.trim() } : {}),
    ...(tags.length ? { tags } : {}),
  };
  return { workload, errors };
}

/** The text that defines the entry. @param {Pick<Form, "files" | "main" | "source">} f */
export const entryText = (f) => (f.files ? (f.files[f.main] ?? "") : f.source);

/** Whether statements are to vary and the source has no place for them: it runs as it is. @param {Form} f */
export const sweepIsIdle = (f) => f.sweep === "statements" && !hasDots(entryText(f));

/** One line on how much will be measured. @param {Form} f */
export function extent(f) {
  const idle = sweepIsIdle(f);
  const points = idle
    ? 1
    : f.sweep === "statements"
      ? wholeNumbers(f.counts, 0)?.length
      : f.sweep === "input"
        ? wholeNumbers(f.sizes, 1)?.length
        : 1;
  const p = points ?? 0;
  if (!p || !f.modes.length) return "";
  const why = idle ? "The source has no line `...` for the statements, so nothing varies. " : "";
  return `${why}${p} ${p === 1 ? "point" : "points"}, ${f.modes.length} ${f.modes.length === 1 ? "mode" : "modes"}.`;
}

/** A number, text, list or dict as its program has it. @param {unknown} v @returns {string} */
export function written(v) {
  if (v === null || v === undefined) return "None";
  if (typeof v === "boolean") return v ? "True" : "False";
  if (typeof v === "string") return `'${v}'`;
  if (Array.isArray(v)) return `[${v.map(written).join(", ")}]`;
  return typeof v === "object" ? `{${Object.entries(v).map(([k, x]) => `'${k}': ${written(x)}`).join(", ")}}` : String(v);
}

/** A shape as the page writes it: float32 [8, 16]. @param {import("../api/types.js").Value | undefined} v */
export function describeValue(v) {
  const t = v?.random ?? v?.tensor;
  if (t) return `${t.dtype ?? "float32"} [${t.shape.join(", ")}]`;
  if (v?.python !== undefined) return v.python;
  if (v && "value" in v) return written(v.value);
  return "other";
}

/** A call's arguments in one line. @param {import("../api/types.js").Call | undefined} call */
export function describeCall(call) {
  const { args, keywords } = argumentsOf(call);
  return [...args.map(describeValue), ...Object.entries(keywords ?? {}).map(([name, v]) => `${name}=${describeValue(v)}`)].join(", ") || "none";
}

/** What a workload varies, in words. @param {Workload | undefined} w */
export function describeSweep(w) {
  const s = w?.sweep;
  if (s?.statements) return `${plural(s.statements.counts.length, "count")} of ${s.statements.pool ? plural(s.statements.pool.length, "statement") : "statements"}`;
  if (s?.input) return `${plural(s.input.sizes.length, "size")} of ${s.input.arg === undefined ? "n in the inputs" : `input ${s.input.arg}, dim ${s.input.dim}`}`;
  return "none";
}

/** The x axis' title. @param {{input?: {arg?: number, dim?: number}} | null | undefined} s the sweep */
export function axisTitle(s) {
  if (s?.input && s.input.arg === undefined) return "n in the inputs";
  if (s?.input) return `n, size of dim ${s.input.dim} of input ${s.input.arg}`;
  return "n, statements in the body";
}

/**
 * Rows for the entry's parameters: a known name keeps its row, a renamed one its values, and one that has
 * a default is there where it was.  Null: the entry is not defined (yet).
 * @param {readonly InputRow[]} rows
 * @param {string} source
 * @param {string} entry
 * @returns {InputRow[] | null}
 */
export function rowsFor(rows, source, entry) {
  const all = signature(source, entry);
  if (!all) return null;
  const wanted = all.filter((p) => !p.optional || rows.some((r) => r.name === p.name));
  const skipped = all.findIndex((p) => !p.named && !wanted.includes(p));
  /** @type {InputRow[]} */
  const made = wanted.map((p, i) => {
    const kept = rows.find((r) => r.name === p.name);
    const renamed = rows[i] && !all.some((q) => q.name === rows[i].name) ? rows[i] : null;
    /** @type {InputRow} */
    const row = kept ?? (renamed ? { ...renamed, name: p.name } : newRow(p.name));
    const { named, ...rest } = row;
    return p.named || named || (skipped >= 0 && all.indexOf(p) > skipped) ? { ...rest, named: true } : rest;
  });
  return [...made.filter((r) => !r.named), ...made.filter((r) => r.named)];
}

/**
 * The first proposal of a check that the form does not have already.
 * @param {Form} f @param {readonly Proposal[]} proposals @returns {Proposal | null}
 */
export function newProposal(f, proposals) {
  const { workload } = fromForm(f);
  const same = (/** @type {Proposal} */ p) => p.entry === workload.entry && JSON.stringify(p.calls) === JSON.stringify(workload.calls);
  return proposals.some(same) ? null : (proposals[0] ?? null);
}

/** The form with the inputs of a proposal. @param {Form} f @param {Proposal} p */
export function takeProposal(f, p) {
  const proposed = new Map(p.inputs.map((input) => [input.name, p.line ? `line ${p.line} gives it` : input.because]));
  f.entry = splitEntry(p.entry).name;
  f.inputs = rowsOf(entryText(f), f.entry, p.calls[0], null).map((row) => (proposed.has(row.name) ? { ...row, typed: false, why: proposed.get(row.name) } : row));
  f.moreCalls = [];
}

/** The parameters whose inputs a proposal may change: nobody has typed them. @param {Form} f */
export const freeOf = (f) => (f.moreCalls.length ? [] : f.inputs.filter((r) => !r.typed).map((r) => r.name));

/** As what came with an example, or with no program at all: none of its inputs are somebody's. @param {Form} f @returns {Form} */
export const untyped = (f) => ({ ...f, inputs: f.inputs.map((r) => ({ ...r, typed: false })) });

/**
 * A program without settings: inputs for its parameters, every mode.
 * @param {string} name
 * @param {string} source
 * @param {string} entry
 * @param {readonly string[]} names of its parameters
 * @returns {Workload}
 */
export function fromProgram(name, source, entry, names) {
  const random = () => ({ random: { shape: [8, 16], dtype: "float32", kind: "randn", seed: 0 } });
  return { name, source, entry, calls: [names.map(random)], modes: ["eager", "static", "dynamic"] };
}

/**
 * A program of several files without settings, the likeliest entry of them chosen.
 * @param {string} name @param {Record<string, string>} files
 * @returns {Workload}
 */
export function fromFiles(name, files) {
  const entry = proposeEntry(files);
  const text = files[entry.path] ?? "";
  const { source: _source, ...rest } = fromProgram(name, text, entry.name, parameters(text, entry.name) ?? []);
  return { ...rest, files, entry: `${entry.path}:${entry.name}` };
}
