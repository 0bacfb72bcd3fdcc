// js/model/panes.js -- what belongs together in the panes of a graph: lines of the source, nodes as they are
// drawn, kernels of the generated code.

import { keyOf, placesOf } from "./places.js";

/** @typedef {import("./places.js").Place} Place */
/** @typedef {import("../api/types.js").Graph} Graph */
/** @typedef {import("./picture.js").Drawn} Drawn */
/** @typedef {import("./picture.js").Node} Node */
/** @typedef {{places: Set<string>, nodes: Set<string>, kernels: Set<number>}} Together places: their keys; kernels: among those of the graph */

/** @returns {Together} */
export const nothing = () => ({ places: new Set(), nodes: new Set(), kernels: new Set() });

/** The number of a node's kernel among those of the graph; -1: of none, or not known at this step. @param {Drawn} d @param {Node} n */
const kernelAt = (d, n) => (typeof d.first === "number" && n.kernel !== null ? d.first + Number(n.kernel) : -1);

/** @param {Graph} g @param {Place} p */
const kernelsOfPlace = (g, p) => (g.kernel_details ?? []).flatMap((k, i) => (p.line > 0 && placesOf(k.lines, k.files).some((x) => keyOf(x) === keyOf(p)) ? [i] : []));

/**
 * What nodes belong to: their lines, and their kernels, or before they have any those of their lines.
 * @param {Graph} g @param {Drawn} d @param {readonly Node[]} nodes @returns {Together}
 */
export function ofNodes(g, d, nodes) {
  const to = nothing();
  for (const n of nodes) {
    to.nodes.add(n.id);
    if (n.line > 0) to.places.add(keyOf(n));
    const k = kernelAt(d, n);
    if (k >= 0) to.kernels.add(k);
    else if (!d.kernels.length) for (const i of kernelsOfPlace(g, n)) to.kernels.add(i);
  }
  return to;
}

/** @param {Graph} g @param {Drawn} d @param {Place} p @returns {Together} */
export function ofPlace(g, d, p) {
  if (!p.line) return nothing();
  const to = ofNodes(g, d, d.nodes.filter((n) => keyOf(n) === keyOf(p)));
  to.places.add(keyOf(p));
  for (const i of kernelsOfPlace(g, p)) to.kernels.add(i);
  return to;
}

/** @param {Graph} g @param {Drawn} d @param {number} kernel @returns {Together} */
export function ofKernel(g, d, kernel) {
  const k = g.kernel_details?.[kernel];
  const places = placesOf(k?.lines, k?.files).map(keyOf);
  const known = d.nodes.some((n) => kernelAt(d, n) >= 0);
  const nodes = d.nodes.filter((n) => (known ? kernelAt(d, n) === kernel : n.line > 0 && places.includes(keyOf(n))));
  return { places: new Set([...places, ...nodes.filter((n) => n.line > 0).map(keyOf)]), nodes: new Set(nodes.map((n) => n.id)), kernels: new Set([kernel]) };
}

/** Where the text of a tile program has each kernel: lines from 1, both included. @param {string} text @returns {{kernel: number, from: number, to: number}[]} */
export function tileParts(text) {
  const lines = text.trimEnd().split("\n");
  const heads = lines.flatMap((line, i) => (/^kernel \d+ /.test(line) ? [i] : []));
  const end = lines.length - Number(lines[lines.length - 1].startsWith("return"));
  return heads.map((at, k) => ({ kernel: Number(lines[at].split(" ")[1]), from: at + 1, to: heads[k + 1] ?? end }));
}

/** A graph at a step as text, a line for each node. @param {Drawn} d */
export const textOf = (d) => d.nodes.map((n) => `%${n.id}: ${n.dtype}${n.shape} = ${n.op}(${n.args || n.reads.map((r) => `%${r}`).join(", ")})${n.gone ? "  # removed" : ""}`).join("\n");
