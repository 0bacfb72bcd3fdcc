// js/model/ops.js -- the list of ops: filters, and what is in their rows.

import { plural } from "./format.js";

/** @typedef {import("../api/types.js").Op} Op */
/** @typedef {{text: string, kind: string, gradient: string}} OpFilter */

const ALL_DTYPES = 10;

/** Every word has to be in a name, a spelling or the line about it; F. is torch.nn.functional. */
/** @param {readonly Op[]} ops @param {OpFilter} f @returns {Op[]} */
export function filterOps(ops, f) {
  const words = f.text
    .trim()
    .replace(/(^|\s)F\./g, "$1torch.nn.functional.")
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean);
  return ops.filter((op) => {
    const text = [op.name, ...op.spellings, ...op.operators, op.doc, op.kind].join(" ").toLowerCase();
    return (
      words.every((w) => text.includes(w)) &&
      (!f.kind || op.kind === f.kind) &&
      (!f.gradient || (op.gradient === "yes") === (f.gradient === "yes"))
    );
  });
}

/** @param {readonly Op[]} ops @returns {string[]} */
export const kindsOf = (ops) => [...new Set(ops.map((op) => op.kind))].sort();

/** Which dtypes, in few words; all of them are in the cell's title. @param {readonly string[]} dtypes */
export function dtypesText(dtypes) {
  if (!dtypes.length) return "no: a call";
  if (dtypes.length === ALL_DTYPES) return "all dtypes";
  const floats = dtypes.filter((d) => d.includes("float")).length;
  const ints = dtypes.filter((d) => d.includes("int")).length;
  const parts = [];
  if (floats) parts.push(floats === 4 ? "floats" : dtypes.filter((d) => d.includes("float")).join(", "));
  if (ints) parts.push(ints === 5 ? "ints" : dtypes.filter((d) => d.includes("int")).join(", "));
  if (dtypes.includes("bool")) parts.push("bool");
  return parts.join(", ");
}

/** What a backend does with an op. @param {readonly string[]} dtypes @param {readonly string[]} host computed by the host */
export function loweredText(dtypes, host) {
  if (!host.length) return dtypesText(dtypes);
  return dtypes.length ? `${dtypesText(dtypes)}; the rest on the host` : "on the host";
}

/**
 * The bold claim, and what follows it.
 * @param {readonly Op[]} ops
 * @param {readonly string[]} backends
 * @returns {[string, string]}
 */
export function opsVerdict(ops, backends) {
  const gradients = ops.filter((op) => op.gradient === "yes").length;
  const lowered = ops.filter((op) => backends.every((b) => op.backends[b]?.length)).length;
  const spellings = ops.reduce((sum, op) => sum + op.spellings.length + op.operators.length, 0);
  return [
    `${plural(ops.length, "op")} under ${spellings.toLocaleString("en-US")} spellings`,
    `: ${gradients} have a gradient, ${lowered} are lowered by every backend.`,
  ];
}
