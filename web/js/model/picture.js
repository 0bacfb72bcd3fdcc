// js/model/picture.js -- a graph as boxes and edges: read from its text after a pass,
// with kernels closed to one box or open, or the neighbourhood of one node.

/** @typedef {import("../api/types.js").Graph} Graph */
/**
 * @typedef {object} Node
 * @property {string} id its name in the text
 * @property {string} op
 * @property {string} args as written
 * @property {string} dtype
 * @property {string} shape
 * @property {number} line 0: unknown
 * @property {string} file that has the line, of a program of several; else ""
 * @property {string[]} reads ids
 * @property {string | null} kernel number of its kernel
 * @property {string} [module] whose call it is part of: "Net/head:Linear"
 * @property {boolean} gone the pass has removed it
 * @property {string[]} [loops] that it is in, outermost first
 * @property {boolean} [test] it only says whether there is another round of the innermost
 * @property {string} [next] what goes round: the node that it is in the next round
 *
 * @typedef {{title: string, nodes: Node[], kernels: string[], outputs: string[], loops?: Map<string, import("./loops.js").Loop>,
 *   first?: number | null}} Drawn first: the number of kernel 0 among those of the graph; null: they are not among them
 * @typedef {{id: string, kind: "op" | "input" | "kernel" | "library" | "module" | "loop" | "gone", title: string, sub: string,
 *   w: number, h: number, group: string | null, nodes: Node[]}} PictureBox
 * @typedef {{boxes: PictureBox[], edges: [string, string][], labels: Record<string, string>, full: Record<string, string>,
 *   parents: Record<string, string | null>}} Picture by edge: bytes, and all that is known; parents of open groups
 */
import { bytes, duration, plural } from "./format.js";
import { kernelOfGroup } from "./groups.js";
import { loopsOf } from "./loops.js";
import { passName } from "./passes.js";

const LINE = /^\s*%(.+?): (\w+)(\[[^\]]*\]) = (\S+?)\((.*)\)(?:\s+# (?:(.*), )?line (\d+))?$/;
const PLAIN = /^[\w.]+/; // most names; that of an input may be "self._states[0]['step']" or "operand 0"
const NARROWEST = 76;
const WIDEST = 210;
const LETTER = 7.4;

/** What a text of a graph says (fusion/graph/print.c). @param {string} text @returns {{nodes: Node[], kernels: string[], outputs: string[]}} */
export function parseGraph(text) {
  /** @type {Node[]} */
  const nodes = [];
  /** @type {Map<string, Node>} */
  const by = new Map();
  /** @type {string[]} */
  const kernels = [];
  /** @type {string[]} */
  let outputs = [];
  let module = "";
  /** @type {string[]} names that are not plain, the longest first */
  let odd = [];
  const nameAt = (/** @type {string} */ s) => odd.find((x) => s.startsWith(x)) ?? PLAIN.exec(s)?.[0] ?? "";
  const names = (/** @type {string} */ s) => s.split("%").slice(1).map(nameAt).filter(Boolean);
  for (const row of text.split("\n")) {
    const m = LINE.exec(row);
    if (m) {
      const node = { id: m[1], op: m[4], args: m[5], dtype: m[2], shape: m[3], line: Number(m[7] ?? 0), file: m[6] ?? "", reads: [...new Set(names(m[5]))], kernel: null, module, gone: false };
      nodes.push(node);
      by.set(node.id, node);
      if (PLAIN.exec(node.id)?.[0] !== node.id) odd = [...odd, node.id].sort((a, b) => b.length - a.length);
    } else if (row.startsWith("in ")) module = row === "in the program" ? "" : row.slice(3);
    else if (row.startsWith("return ")) outputs = names(row);
    else if (row.startsWith("kernel ")) {
      const k = String(kernels.length);
      kernels.push(k);
      for (const id of names(row)) {
        const node = by.get(id);
        if (node) node.kernel = k;
      }
    }
  }
  return { nodes, kernels, outputs };
}

/** The graph as it was captured, from the report's list: what a loop reads is at its body. @param {Graph} g @returns {Node[]} */
export function capturedNodes(g) {
  const list = g.nodes ?? [];
  const name = new Map(list.map((n) => [n.id, n.name]));
  const loops = loopsOf(g);
  return list.filter((n) => n.op !== "loop_operands").map((n) => {
    /** @type {string[]} */
    const reads = [];
    const walk = (/** @type {any} */ a) => {
      if (Array.isArray(a)) a.forEach(walk);
      else if (a && typeof a === "object" && "node" in a && name.has(a.node)) reads.push(/** @type {string} */ (name.get(a.node)));
    };
    walk(/** @type {any} */ (n).args ?? []);
    const op = n.op === "placeholder" ? "input" : n.op;
    return {
      id: n.name, op, args: "", dtype: n.dtype ?? "", shape: n.shape ?? "", line: n.line ?? 0, file: n.file ?? "", reads: loops.reads.get(n.name) ?? [...new Set(reads)],
      kernel: null, module: n.module ?? "", gone: false, loops: loops.chains.get(n.name) ?? [], next: loops.next.get(n.name), test: loops.tests.has(n.name),
    };
  });
}

/** @template T @param {() => T} make @returns {() => T} */
export function once(make) {
  /** @type {T | undefined} */
  let made;
  return () => (made ??= make());
}

/**
 * The graph as captured, and after each pass that changed it.  What a pass removed is there once more, `gone`.
 * A step is read when it is looked at: of thousands of nodes each takes as long as the picture.
 * @param {Graph} g
 * @param {number} part of a graph that runs in pieces
 * @returns {Drawn[]}
 */
export function steps(g, part) {
  const told = g.passes?.[part];
  const loops = loopsOf(g).all;
  if (!told?.before) return [{ title: "As captured", nodes: capturedNodes(g), kernels: [], outputs: [], loops }];
  const changed = (told.steps ?? []).filter((s) => s.after); // fuse tells the kernels even where each is one op
  const read = [told.before, ...changed.map((s) => s.after)].map((text) => once(() => parseGraph(String(text))));
  const first = told.part.startsWith("backward") ? null : (told.first_kernel ?? (g.passes?.length === 1 ? 0 : null));
  return read.map((own, i) => {
    const nodes = once(() => (i ? withGone(own().nodes, read[i - 1]().nodes) : own().nodes));
    return {
      title: i ? `After ${passName(changed[i - 1].pass)}` : "As captured",
      get nodes() { return nodes(); },
      get kernels() { return own().kernels; },
      get outputs() { return own().outputs; },
      first,
    };
  });
}

/** @param {Node[]} now @param {Node[]} before @returns {Node[]} */
export function withGone(now, before) {
  const there = new Set(now.map((n) => n.id));
  return [...now, ...before.filter((n) => !there.has(n.id)).map((n) => ({ ...n, kernel: null, gone: true }))];
}

/** What the report says of a kernel of what is drawn. @param {Graph} g @param {Drawn} d @param {string | null} k */
export const kernelOf = (g, d, k) => (typeof d.first === "number" && k !== null ? g.kernel_details?.[d.first + Number(k)] : undefined);

/** Bytes of a tensor; null where a size is a symbol. @param {string} dtype @param {string} shape */
export function sizeOf(dtype, shape) {
  const bits = /(\d+)$/.exec(dtype)?.[1];
  const each = dtype === "bool" ? 1 : bits ? Number(bits) / 8 : null;
  const sizes = shape.slice(1, -1).split(",").map((s) => s.trim()).filter(Boolean).map(Number);
  return each === null || sizes.some((s) => !Number.isInteger(s)) ? null : sizes.reduce((p, s) => p * s, each);
}

/** From outside, or from the round before. @param {Node} n */
const given = (n) => n.op === "input" || n.op === "loop_carried";

/** @param {string} title @param {string} sub */
const widthOf = (title, sub) => Math.min(WIDEST, Math.max(NARROWEST, Math.max(title.length * LETTER, sub.length * 6.9) + 18));

/** "[8, 16]" as "8x16". @param {string} shape */
export const short = (shape) => shape.slice(1, -1).split(",").map((s) => s.trim()).filter(Boolean).join("\u00d7") || "1";

/** What an edge carries: "float32 64\u00d7256, 65.5 kB". @param {readonly Node[]} tensors @param {string} size */
const carried = (tensors, size) =>
  [tensors.length > 1 ? plural(tensors.length, "tensor") : `${tensors[0].dtype} ${short(tensors[0].shape)}`, size].filter(Boolean).join(", ");

/**
 * @param {Drawn} d
 * @param {Graph} g
 * @param {ReadonlySet<string>} open groups
 * @param {ReadonlySet<string> | null} only these nodes, with what is between them
 * @param {import("./groups.js").Groups} groups
 * @returns {Picture}
 */
export function pictureOf(d, g, open, only, groups) {
  const shown = only ? d.nodes.filter((n) => only.has(n.id)) : d.nodes;
  const chainOf = (/** @type {Node} */ n) => groups.chains.get(n.id) ?? [];
  /** @type {(n: Node) => {id: string, group: string | null}} the outermost group that is closed, or the node */
  const placeOf = (n) => {
    const chain = chainOf(n);
    const at = chain.findIndex((x) => !open.has(x));
    return { id: at < 0 ? n.id : chain[at], group: (at < 0 ? chain.at(-1) : chain[at - 1]) ?? null };
  };
  const places = new Map(shown.map((n) => [n.id, placeOf(n)]));
  const idOf = (/** @type {Node} */ n) => /** @type {{id: string}} */ (places.get(n.id)).id;
  const by = new Map(shown.map((n) => [n.id, n]));
  /** @type {Map<string, PictureBox>} */
  const boxes = new Map();
  for (const n of shown) {
    const { id, group } = /** @type {{id: string, group: string | null}} */ (places.get(n.id));
    const known = boxes.get(id);
    if (known) known.nodes.push(n);
    else boxes.set(id, { id, kind: n.gone ? "gone" : given(n) ? "input" : "op", title: given(n) ? n.id : n.op, sub: short(n.shape), w: 0, h: 40, group, nodes: [n] });
  }
  for (const b of boxes.values()) nameBox(b, d, g, groups);
  /** @type {Map<string, [string, string]>} */
  const edges = new Map();
  /** @type {Map<string, Map<string, Node>>} by edge: the tensors that cross it */
  const crossing = new Map();
  for (const n of shown)
    for (const r of n.reads) {
      const from = by.get(r);
      if (!from || idOf(from) === idOf(n)) continue;
      const key = `${idOf(from)}\n${idOf(n)}`;
      edges.set(key, [idOf(from), idOf(n)]);
      if (chainOf(n).length && chainOf(from).at(-1) === chainOf(n).at(-1)) continue;
      crossing.set(key, (crossing.get(key) ?? new Map()).set(from.id, from));
    }
  /** @type {Record<string, string>[]} */
  const [labels, full] = [{}, {}];
  for (const [key, tensors] of crossing) {
    const of = [...tensors.values()];
    const sizes = of.map((t) => sizeOf(t.dtype, t.shape));
    const size = sizes.includes(null) ? "" : bytes(sizes.reduce((/** @type {number} */ sum, x) => sum + Number(x), 0));
    if (size) labels[key] = size;
    full[key] = carried(of, size);
  }
  const parents = Object.fromEntries([...groups.all].map(([id, x]) => [id, x.parent]));
  return { boxes: [...boxes.values()], edges: [...edges.values()], labels, full, parents };
}

/** What a box says. @param {PictureBox} b @param {Drawn} d @param {Graph} g @param {import("./groups.js").Groups} groups */
function nameBox(b, d, g, groups) {
  const group = groups.all.get(b.id);
  if (group && group.kind !== "kernel")
    [b.kind, b.title, b.sub] = [group.kind, group.title, plural(b.nodes.filter((n) => n.op !== "input" && n.op !== "loop_carried").length, "op")];
  else if (group) {
    const about = kernelOf(g, d, kernelOfGroup(b.id));
    b.kind = about?.form === "library" ? "library" : "kernel";
    b.title = `${group.title} ${[...new Set(b.nodes.map((n) => n.op))].join(" ")}`;
    b.sub = `${plural(b.nodes.length, "op")}${about?.median_us ? `  ${duration(about.median_us)}` : ""}`;
  }
  b.w = widthOf(b.title, b.sub);
}

/** At most `most` nodes about one, the nearest first. @param {Drawn} d @param {string} id @param {number} most @returns {Set<string>} */
export function neighbourhood(d, id, most) {
  /** @type {Map<string, string[]>} */
  const near = new Map(d.nodes.map((n) => [n.id, []]));
  for (const n of d.nodes)
    for (const r of n.reads)
      if (near.has(r)) {
        /** @type {string[]} */ (near.get(r)).push(n.id);
        /** @type {string[]} */ (near.get(n.id)).push(r);
      }
  const start = near.has(id) ? id : d.nodes[0]?.id;
  const found = new Set(start === undefined ? [] : [start]);
  for (const at of found) {
    for (const next of near.get(at) ?? []) if (found.size < most) found.add(next);
    if (found.size >= most) break;
  }
  return found;
}
