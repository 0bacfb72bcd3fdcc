// js/model/loops.js -- loops on tensors (policy native) within a captured graph: what is in which, and
// what each reads.  A picture has no cycles: what a round leaves for the next one
// is named beside the node and is no edge.

/** @typedef {{title: string, parent: string | null, line: number}} Loop */
/**
 * @typedef {object} Loops nodes by name
 * @property {Map<string, Loop>} all by id
 * @property {Map<string, string[]>} chains by node: the loops that it is in, outermost first
 * @property {Map<string, string[]>} reads by node: what it reads instead of what its arguments say
 * @property {Map<string, string>} next by node that goes round: what it is in the next round
 * @property {Set<string>} tests nodes that only say whether there is another round
 */

/** The group of a loop. @param {string} name of its node */
export const loopId = (name) => `loop ${name}`;

/** @param {import("../api/types.js").Graph} g @returns {Loops} */
export function loopsOf(g) {
  /** @type {Loops} */
  const found = { all: new Map(), chains: new Map(), reads: new Map(), next: new Map(), tests: new Set() };
  const all = g.subgraphs ?? [];
  if (!all.length) return found;
  const names = new Map((g.nodes ?? []).map((n) => [n.id, n.name]));
  const name = (/** @type {number | null} */ id) => (id === null ? "" : (names.get(id) ?? ""));
  /** @param {import("../api/types.js").Subgraph | undefined} s @returns {string[]} */
  const chainOf = (s, depth = 0) => (s && depth < all.length ? [...chainOf(s.parent === null ? undefined : all[s.parent], depth + 1), loopId(name(s.node))] : []);
  for (const s of all) {
    const chain = chainOf(s);
    for (const id of s.condition) found.tests.add(name(id));
    const results = s.carried.flatMap((c) => (c.result === null ? [] : [c.result]));
    const carried = s.carried.flatMap((c) => (c.node === null ? [] : [c.node]));
    for (const id of [s.node, ...s.nodes, ...carried, ...results]) {
      const at = name(id);
      // A loop within it, and what that leaves, are deeper.
      if ((found.chains.get(at)?.length ?? 0) < chain.length) found.chains.set(at, chain);
    }
    for (const c of s.carried) {
      if (c.node !== null) found.reads.set(name(c.node), [name(c.start)]);
      if (c.node !== null) found.next.set(name(c.node), name(c.next));
      if (c.result !== null) found.reads.set(name(c.result), [name(c.next)]);
    }
    found.reads.set(name(s.node), [...new Set([name(s.first), name(s.again)])]);
    found.all.set(loopId(name(s.node)), { title: `while loop, line ${s.line}`, parent: chain.at(-2) ?? null, line: s.line });
  }
  return found;
}
