// js/model/groups.js -- what the nodes of a graph are part of: a kernel, or the modules
// (nn.Module) whose calls they belong to, one within another.

/** @typedef {import("./picture.js").Node} Node */
/**
 * @typedef {object} Groups
 * @property {"kernels" | "modules"} by
 * @property {Map<string, string[]>} chains by node: its groups, outermost first
 * @property {Map<string, {title: string, parent: string | null}>} all in order
 */

/** @param {readonly Node[]} nodes @param {readonly string[]} kernels @returns {Groups} */
export function kernelGroups(nodes, kernels) {
  const chains = new Map(nodes.flatMap((n) => (n.kernel === null ? [] : [/** @type {[string, string[]]} */ ([n.id, [n.kernel]])])));
  return { by: "kernels", chains, all: new Map(kernels.map((k) => [k, { title: `k${k}`, parent: null }])) };
}

/** Whether any node is of a module. @param {readonly Node[]} nodes */
export const hasModules = (nodes) => nodes.some((n) => n.module);

/**
 * A module that is called again, with something else in between, is a group of its own for
 * each call: then no group reads, by way of others, what it made itself.
 * @param {readonly Node[]} nodes in order
 * @returns {Groups}
 */
export function moduleGroups(nodes) {
  /** @type {Groups} */
  const groups = { by: "modules", chains: new Map(), all: new Map() };
  /** @type {Map<string, number>} */
  const calls = new Map();
  /** @type {{part: string, id: string}[]} */
  let stack = [];
  for (const n of nodes) {
    if (n.gone || isGiven(n)) continue;
    const parts = n.module ? n.module.split("/") : [];
    let same = 0;
    while (same < stack.length && stack[same].part === parts[same]) same++;
    stack = stack.slice(0, same);
    for (const part of parts.slice(same)) {
      const parent = stack.at(-1)?.id ?? null;
      const path = `module ${parts.slice(0, stack.length + 1).join("/")}`;
      const call = (calls.get(path) ?? 0) + 1;
      calls.set(path, call);
      const id = call > 1 ? `${path}#${call}` : path;
      groups.all.set(id, { title: part.replace(":", " "), parent });
      stack.push({ part, id });
    }
    if (stack.length) groups.chains.set(n.id, stack.map((s) => s.id));
  }
  placeGiven(nodes, groups);
  return groups;
}

/** Nothing is computed for it. @param {Node} n */
const isGiven = (n) => n.op === "input" || n.op === "constant" || n.op === "tensor";

/** A parameter stands in the innermost module that holds all that read it.
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
  for (const [id, chain] of around) if (chain.length) groups.chains.set(id, chain);
}

/** The box that stands for a group while it is closed. @param {string} group */
export const closedId = (group) => (group.startsWith("module ") ? group : `kernel ${group}`);

/** The group that a closed box stands for; null for another box. @param {string} box */
export const groupOfBox = (box) => (box.startsWith("module ") ? box : box.startsWith("kernel ") ? box.slice(7) : null);

/**
 * What is open where nobody has said: all of a small graph, of a larger one the outermost modules.
 * @param {Groups} groups @param {boolean} small
 */
export function openAtFirst(groups, small) {
  const outermost = [...groups.all].filter(([, g]) => g.parent === null).map(([id]) => id);
  return new Set(small ? groups.all.keys() : groups.by === "modules" ? outermost : []);
}
