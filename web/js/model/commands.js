// js/model/commands.js -- a workload as a command line.
//
// File names are made from the workload's name and go into a shell line, so
// they hold nothing but letters, digits, dot, dash and underscore.

import { argumentsOf, written } from "./workload.js";

/** @param {string | null | undefined} name @returns {string} */
export function fileStem(name) {
  const stem = (name ?? "").replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^[._-]+|[._-]+$/g, "");
  return stem.slice(0, 60) || "workload";
}

/**
 * Whole, so that it runs as it is pasted.  The shell takes nothing in the text for its own, and no line of it can
 * be the closing EOF: what JSON quotes holds no line break.
 * @param {import("../api/types.js").Workload} w @param {string} origin "http://127.0.0.1:8080"
 */
export function curlLine(w, origin) {
  return `curl -X POST ${origin}/api/v1/runs -H 'Content-Type: application/json' --data-binary @- <<'EOF'\n${JSON.stringify(w, null, 2)}\nEOF`;
}

/** Measured at once, on this machine, which has to have the files of weights.
 * @param {Pick<import("../api/report.js").ReportWorkload, "name" | "engines" | "weights"> | undefined} w */
export const runLine = (w) =>
  `breakeven run ${fileStem(w?.name)}.json${w?.engines?.includes("torch") ? " --torch-python python3" : ""}${weightFlags(w?.weights)}`;

/** @param {unknown} weights */
const weightFlags = (weights) =>
  Object.keys(weights ?? {}).map((name) => ` --weights '${name.replaceAll("'", "'\\''")}=PATH'`).join("");

/** @param {string} text */
const word = (text) => (/^[\w./:=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** An input in the language of --input; null: it has no such text. @param {import("../api/types.js").Value} v */
function inputText(v) {
  if (v.python !== undefined) return v.python;
  if ("value" in v) return v.value !== null && typeof v.value === "object" ? null : written(v.value);
  const r = v.random;
  if (!r || (r.kind ?? "randn") !== (/^(u?int|bool)/.test(r.dtype ?? "") ? "randint" : "randn") || r.low) return null;
  return `${r.dtype ?? "float32"}[${r.shape.join(",")}]${/^u?int/.test(r.dtype ?? "") ? `<${r.high ?? 10}` : ""}`;
}

/**
 * Runs a file again whenever it is saved, with the settings of a workload.
 * @param {import("../api/types.js").Workload} w @param {readonly string[]} names of its entry's parameters
 * @returns {{line: string, without: string[]}} without: what no flag says
 */
export function watchLine(w, names) {
  const { args, keywords } = argumentsOf(w.calls?.[0]);
  const inputs = [...args.map((v, i) => /** @type {const} */ ([names[i] ?? `arg${i}`, v])), ...Object.entries(keywords ?? {})];
  const texts = inputs.map(([name, v]) => /** @type {const} */ ([name, inputText(v)]));
  const off = Object.keys(w.passes ?? {}).filter((name) => w.passes?.[name] === false);
  /** @type {[string, unknown][]} */
  const flags = [
    ["entry", w.files || w.entry !== "model" ? w.entry : ""],
    ["modes", w.modes?.join()],
    ["device", w.device === "cpu" ? "" : w.device],
    ["backend", w.backend],
    ["threads", w.threads],
    ["policy", w.policy],
    ["autocast", w.autocast],
    ["autotune", w.autotune === "off" ? "" : w.autotune],
    ["engine", w.engines?.join()],
    ["torch-python", w.engines?.includes("torch") ? "python3" : ""],
    ["without", off.join()],
    ...texts.flatMap(([name, text]) => (text === null ? [] : [/** @type {[string, unknown]} */ (["input", `${name}=${text}`])])),
  ];
  const said = flags.map(([flag, value]) => (value ? ` --${flag} ${word(String(value))}` : "")).join("");
  const without = [
    w.sweep ? "the sweep" : "",
    w.grad ? "the backward pass" : "",
    (w.calls?.length ?? 0) > 1 ? "the calls after the first" : "",
    ...texts.map(([name, text]) => (text === null ? `the values of ${name}` : "")),
  ].filter(Boolean);
  return { line: `breakeven watch ${w.files ? "FOLDER" : `${fileStem(w.name)}.py`}${said}${weightFlags(w.weights)}`, without };
}

/** Measured and kept by a server. @param {import("../api/types.js").Workload} w @param {string} origin */
export const postLine = (w, origin) => `breakeven run ${fileStem(w.name)}.json --post ${origin}`;
