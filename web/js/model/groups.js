// js/model/groups.js -- what the nodes of a graph are part of: a kernel, or the modules
// (nn.Module) whose calls they belong to, one within another; and the loops that they run in.

import { loopId } from "./loops.js";

/** @typedef {import("./picture.js").Node} Node */
/** @typedef {Pick<import("./picture.js").Drawn, "nodes" | "loops">} Shown */
/** @typedef {"kernel" | "module" | "loop"} Kind */
/**
 * @typedef {object} Groups
 * @property {"kernels" | "modules"} by
 * @property {Map<string, string[]>} chains by node: its groups, outermost first
 * @property {Map<string, {kind: Kind, title: string, parent: string | null}>} all in order
 */

/** @param {Pick<import("./picture.js").Drawn, "nodes" | "kernels" | "loops">} d @returns {Groups} */
export function kernelGroups({ nodes, kernels, loops }) {
  /** @type {Groups["all"]} */
  const all = new Map();
  for (const [id, x] of loops ?? []) all.set(id, { kind: "loop", title: x.title, parent: x.parent });
  for (const k of kernels) all.set(k, { kind: "kernel", title: `k${k}`, parent: null });
  /** @type {Map<string, string[]>} */
  const chains = new Map();
  for (const n of nodes) {
    const chain = [...(n.loops ?? []), ...(n.kernel === null ? [] : [n.kernel])];
    if (chain.length) chains.set(n.id, chain);
    const kernel = n.kernel === null ? undefined : all.get(n.kernel);
    if (kernel) kernel.parent = n.loops?.at(-1) ?? null;
  }
  return { by: "kernels", chains, all };
}

/** Whether any node is of a module. @param {readonly Node[]} nodes */
export const hasModules = (nodes) => nodes.some((n) => n.module);

/** What a node is part of, outermost first: parts of its module's path, and each loop within the module that
 * it runs in. @param {Node} n @param {ReadonlyMap<string, Node>} loops their nodes, by id */
function partsOf(n, loops) {
  const modules = n.module ? n.module.split("/") : [];
  const parts = [...modules];
  for (const id of [...(n.loops ?? [])].reverse()) {
    const around = loops.get(id)?.module;
    let depth = 0;
    for (const part of around ? around.split("/") : []) if (part === modules[depth]) depth++;
    parts.splice(depth, 0, id);
  }
  return parts;
}

/**
 * A module that is called again, with something else in between, is a group of its own for
 * each call: then no group reads, by way of others, what it made itself.
 * @param {Shown} shown nodes in order
 * @returns {Groups}
 */
export function moduleGroups({ nodes, loops = new Map() }) {
  /** @type {Groups} */
  const groups = { by: "modules", chains: new Map(), all: new Map() };
  const loopNodes = new Map(nodes.flatMap((n) => (n.op === "while_loop" ? [/** @type {[string, Node]} */ ([loopId(n.id), n])] : [])));
  /** @type {Map<string, number>} */
  const calls = new Map();
  /** @type {{part: string, id: string}[]} */
  let stack = [];
  for (const n of nodes) {
    if (n.gone || isGiven(n)) continue;
    const parts = partsOf(n, loopNodes);
    let same = 0;
    while (same < stack.length && stack[same].part === parts[same]) same++;
    stack = stack.slice(0, same);
    for (const part of parts.slice(same)) {
      const parent = stack.at(-1)?.id ?? null;
      const loop = loops.get(part);
      const path = `module ${parts.slice(0, stack.length + 1).join("/")}`;
      const call = loop ? 1 : (calls.get(path) ?? 0) + 1;
      if (!loop) calls.set(path, call);
      const id = loop ? part : call > 1 ? `${path}#${call}` : path;
      if (!groups.all.has(id)) groups.all.set(id, { kind: loop ? "loop" : "module", title: loop ? loop.title : part.replace(":", " "), parent });
      stack.push({ part, id });
    }
    if (stack.length) groups.chains.set(n.id, stack.map((s) => s.id));
  }
  placeGiven(nodes, groups);
  return groups;
}

/** Nothing is computed for it. @param {Node} n */
const isGiven = (n) => n.op === "input" || n.op === "constant" || n.op === "tensor";

/** A parameter is in the innermost module that holds all that read it.
 * @param {readonly Node[]} nodes @param {Groups} groups */
function placeGiven(nodes, groups) {
  const given = new Set(nodes.flatMap((n) => (isGiven(n) ? [n.id] : [])));
  /** @type {Map<string, string[]>} */
  const around = new Map();
  for (const n of nodes)
    for (const id of n.gone ? [] : n.reads) {
      if (!given.has(id)) continue;
      const chain = groups.chains.get(n.id) ?? [];
      const known = around.get(id);
      const end = known ? known.findIndex((g, i) => g !== chain[i]) : -1;
      around.set(id, known ? known.slice(0, end < 0 ? known.length : end) : chain);
    }
  for (const [id, all] of around) {
    const loop = all.findIndex((x) => groups.all.get(x)?.kind === "loop"); // it comes from outside, for all rounds
    const chain = loop < 0 ? all : all.slice(0, loop);
    if (chain.length) groups.chains.set(id, chain);
  }
}

/** The box that stands for a group while it is closed. @param {string} group */
export const closedId = (group) => (isNamed(group) ? group : `kernel ${group}`);

/** The group that a closed box stands for; null for another box. @param {string} box */
export const groupOfBox = (box) => (isNamed(box) ? box : box.startsWith("kernel ") ? box.slice(7) : null);

const isNamed = (/** @type {string} */ group) => group.startsWith("module ") || group.startsWith("loop ");

/**
 * What is open where nobody has said: all of a small graph, of a larger one the outermost modules.
 * @param {Groups} groups @param {boolean} small
 */
export function openAtFirst(groups, small) {
  const outermost = [...groups.all].filter(([, g]) => g.parent === null).map(([id]) => id);
  return new Set(small ? groups.all.keys() : groups.by === "modules" ? outermost : []);
}
