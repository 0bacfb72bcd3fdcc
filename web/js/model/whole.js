// js/model/whole.js -- a graph that runs in pieces, as one: each piece after a pass, joined with what no piece
// computes (inputs, loops, ops that fall back to eager) by the names that both have in the captured graph.

import { loopId, loopsOf } from "./loops.js";
import { passName } from "./passes.js";
import { capturedNodes, once, parseGraph, withGone } from "./picture.js";

/** @typedef {import("../api/types.js").Graph} Graph */
/** @typedef {import("../api/types.js").PassPart} PassPart */
/** @typedef {import("./picture.js").Node} Node */
/** @typedef {import("./picture.js").Drawn} Drawn */
/** @typedef {ReturnType<typeof parseGraph>} Parsed */
/** @typedef {{part: PassPart, now: Parsed, nodes: Node[]}} Piece nodes: with those that are gone */

/** The pieces of what runs forward, where all is known that joins them. @param {Graph} g @returns {PassPart[]} */
function piecesOf(g) {
  const parts = (g.passes ?? []).filter((p) => !p.part.startsWith("backward"));
  const known = parts.every((p) => p.before && p.takes && p.gives) && Boolean(g.nodes && g.outputs);
  return known && parts.length > 1 ? parts : [];
}

/** Whether its pieces can be drawn as one. @param {Graph} g */
export const isInPieces = (g) => piecesOf(g).length > 0;

/**
 * The graph as captured, and after each pass that changed one of its pieces.
 * @param {Graph} g
 * @returns {Drawn[]}
 */
export function wholeSteps(g) {
  const parts = piecesOf(g);
  const loops = loopsOf(g).all;
  const passes = parts[0]?.steps ?? [];
  const changed = passes.flatMap((s, i) => (parts.some((p) => p.steps?.[i]?.after) ? [{ pass: s.pass, i }] : []));
  const texts = [-1, ...changed.map((c) => c.i)].map((last) => parts.map((p) => textAt(p, last)));
  const read = texts.map((all) => once(() => all.map(parseGraph)));
  const captured = once(() => capturedNodes(g));
  return read.map((own, i) => {
    const joined = once(() => {
      const pieces = parts.map((part, k) => ({ part, now: own()[k], nodes: withGone(own()[k].nodes, read[i - 1]()[k].nodes) }));
      return join(g, captured(), pieces);
    });
    return {
      title: i ? `After ${passName(changed[i - 1].pass)}` : "As captured",
      get nodes() { return i ? joined() : captured(); },
      get kernels() { return i ? parts.flatMap((p, k) => own()[k].kernels.map((x) => String((p.first_kernel ?? 0) + Number(x)))) : []; },
      outputs: [],
      loops,
      first: 0,
    };
  });
}

/** Its text after the pass at that place, -1: before all. @param {PassPart} p @param {number} last */
function textAt(p, last) {
  const steps = (p.steps ?? []).slice(0, last + 1);
  return steps.findLast((s) => s.after)?.after ?? p.before ?? "";
}

/** An input's place among those of its piece. @param {Node} n */
const place = (n) => Number.parseInt(n.args, 10);

/**
 * Ids of the pieces' nodes in the whole: their names, but where another piece has made the same.
 * @param {readonly Piece[]} pieces @param {ReadonlyMap<string, Node>} captured
 * @returns {Map<string, string>[]}
 */
function idsOf(pieces, captured) {
  const used = new Set(captured.keys());
  return pieces.map(({ part, nodes }) => {
    const own = new Set(parseGraph(part.before ?? "").nodes.map((n) => n.id));
    /** @type {Map<string, string>} */
    const ids = new Map();
    for (const n of nodes) {
      if (n.op === "input") continue;
      const kept = own.has(n.id) && captured.has(n.id);
      const id = kept || !used.has(n.id) ? n.id : `${n.id} in ${part.part}`;
      used.add(id);
      ids.set(n.id, id);
    }
    return ids;
  });
}

/** @param {Graph} g @param {readonly Node[]} list as captured @param {readonly Piece[]} pieces @returns {Node[]} */
function join(g, list, pieces) {
  const captured = new Map(list.map((n) => [n.id, n]));
  const ids = idsOf(pieces, captured);
  const inputs = pieces.map((p) => new Map(p.nodes.flatMap((n) => (n.op === "input" ? [/** @type {[string, string]} */ ([n.id, p.part.takes?.[place(n)] ?? n.id])] : []))));
  /** @type {Map<string, string>} by captured node that a piece gives: what it is in the whole */
  const given = new Map();
  const wholeName = (/** @type {number} */ k, /** @type {string} */ name) => {
    const outside = inputs[k].get(name);
    return outside === undefined ? (ids[k].get(name) ?? name) : (given.get(outside) ?? outside);
  };
  pieces.forEach((p, k) => p.part.gives?.forEach((name, i) => p.now.outputs[i] && given.set(name, wholeName(k, p.now.outputs[i]))));
  const { chains, tests } = loopsOf(g);
  /** @type {Map<string, Node>} */
  const out = new Map();
  /** What no piece computes, after what it reads. @param {string} name */
  const addGlue = (name) => {
    const n = captured.get(name);
    if (!n || given.has(name) || out.has(name)) return;
    n.reads.forEach(addGlue);
    const next = n.next && (given.get(n.next) ?? n.next);
    out.set(name, { ...n, reads: n.reads.map((r) => given.get(r) ?? r), next });
  };
  pieces.forEach((p, k) => {
    p.part.takes?.forEach(addGlue);
    const first = p.part.first_kernel ?? 0;
    const loops = p.part.loop ? chains.get(p.part.loop) ?? [loopId(p.part.loop)] : [];
    for (const n of p.nodes) {
      const id = ids[k].get(n.id);
      if (id !== undefined) out.set(id, { ...n, id, loops, test: tests.has(n.id), kernel: n.kernel === null ? null : String(first + Number(n.kernel)), reads: [...new Set(n.reads.map((r) => wholeName(k, r)))] });
    }
    if (p.part.loop && pieces[k + 1]?.part.loop !== p.part.loop) addGlue(p.part.loop);
  });
  const names = new Map((g.nodes ?? []).map((n) => [n.id, n.name]));
  g.outputs?.forEach((id) => addGlue(names.get(id) ?? ""));
  return [...out.values()];
}
