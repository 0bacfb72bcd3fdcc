// js/model/groups.js -- what the nodes of a graph are part of, as the server says (POST /api/v1/groups): kernels, or
// the modules (nn.Module) whose calls they belong to, one within another; and the loops that they run in.

/** @typedef {import("./picture.js").Node} Node */
/** @typedef {Pick<import("./picture.js").Drawn, "nodes" | "loops">} Shown */
/** @typedef {"kernel" | "module" | "loop"} Kind */
/** @typedef {{modules: string[], loops: [number, number, number][], nodes: number[][], reads: [number, number][]}} GroupsBody */
/** @typedef {{groups: [Kind, string, string, number][], of: number[]}} Grouping */
/** @typedef {{kernels: Grouping, modules: Grouping}} GroupsAnswer */
/**
 * @typedef {object} Groups
 * @property {"kernels" | "modules"} by
 * @property {Map<string, string[]>} chains by node: its groups, outermost first
 * @property {Map<string, {kind: Kind, title: string, parent: string | null}>} all in order
 */

/** @param {"kernels" | "modules"} by @returns {Groups} until the server has answered */
export const noGroups = (by) => ({ by, chains: new Map(), all: new Map() });

/** Whether any node is of a module. @param {readonly Node[]} nodes */
export const hasModules = (nodes) => nodes.some((n) => n.module);

/** Nothing is computed for it. @param {Node} n */
const isGiven = (n) => n.op === "input" || n.op === "constant" || n.op === "tensor";

/** What a pass has removed is part of nothing. @param {Shown} d */
const present = (d) => d.nodes.filter((n) => !n.gone);

/** What to ask for. @param {Shown} d @returns {GroupsBody} */
export function groupsBody(d) {
  const nodes = present(d);
  const loops = [...(d.loops ?? [])];
  const place = new Map(nodes.map((n, i) => [n.id, i]));
  const loopPlace = new Map(loops.map(([id], i) => [id, i]));
  const modules = [...new Set(nodes.flatMap((n) => n.module || []))];
  const module = new Map(modules.map((m, i) => [m, i]));
  return {
    modules,
    loops: loops.map(([id, x]) => [place.get(id.replace(/^loop /, "")) ?? -1, loopPlace.get(x.parent ?? "") ?? -1, x.line]),
    nodes: nodes.map((n) => [module.get(n.module ?? "") ?? -1, loopPlace.get(n.loops?.at(-1) ?? "") ?? -1, n.kernel === null ? -1 : Number(n.kernel), Number(isGiven(n))]),
    reads: nodes.flatMap((n, to) => n.reads.flatMap((r) => (place.has(r) ? [/** @type {[number, number]} */ ([Number(place.get(r)), to])] : []))),
  };
}

/** What was answered for it. @param {Shown} d @param {GroupsAnswer} answer @param {"kernels" | "modules"} by @returns {Groups} */
export function groupsFrom(d, answer, by) {
  const { groups, of } = answer[by];
  const loops = [...(d.loops?.keys() ?? [])];
  const found = noGroups(by);
  /** @type {string[][]} */
  const chains = [];
  for (const [kind, key, title, parent] of groups) {
    const id = kind === "loop" ? loops[Number(key)] : `${kind} ${key}`;
    const around = chains[parent] ?? [];
    chains.push([...around, id]);
    found.all.set(id, { kind, title, parent: around.at(-1) ?? null });
  }
  present(d).forEach((n, i) => of[i] >= 0 && found.chains.set(n.id, chains[of[i]]));
  return found;
}

/** The number of a kernel that is a group; null of another. @param {string | null} group */
export const kernelOfGroup = (group) => (group?.startsWith("kernel ") ? group.slice(7) : null);

/**
 * What is open where nobody has said: all of a small graph, of a larger one the outermost modules.
 * @param {Groups} groups @param {boolean} small
 */
export function openAtFirst(groups, small) {
  const outermost = [...groups.all].filter(([, g]) => g.parent === null).map(([id]) => id);
  return new Set(small ? groups.all.keys() : groups.by === "modules" ? outermost : []);
}
