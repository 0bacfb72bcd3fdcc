// js/model/provenance.js -- what a line of a compile log's texts comes from: source lines, nodes of graphs, generated kernels.
//
// A graph says its source above its nodes ("# File: PLACE:5 in f, code: ..."); Inductor's code has above each kernel
// which nodes it was made of, and above each call which; the log's own mappings of nodes, where it has them, are
// joined to that.  A node of Dynamo's graph is "d:sin", of an ATen graph "a:sin", of a backward's "b:sin": one name may
// be in each.

/** @typedef {{sources: string[], nodes: string[], kernels: string[]}} Line what one line stands for; sources as "PLACE:5" */
/** @typedef {{sources: Set<string>, nodes: Set<string>, kernels: Set<string>}} Related */

const FILE = /^\s*# File: (.+?):(\d+) in (.*?)(?:, code: (.*))?$/;
const NODE = /^\s+(%?[A-Za-z_]\w*)\s*(?:: "[^"]*"|: [^=]*)? = /;
const KERNEL = /^(\w+) = async_compile\.\w+\(/;
const OF_NODES = /^\s*# (?:Topologically Sorted )?Source Nodes: \[(.*?)\]/;
const MAPPING = /^#\s+(\S+) => (.+)$/;
const FRAGMENT = /^#\s+%(\w+)\b.* = (?!PlaceHolder)(?!placeholder)/;
const CALL = /^\s+(?:\w+ = )?([\w.]+?)(?:\.run)?\(/;

/** Of Dynamo's graph, or of one of ATen's? @param {string} kind of the text @param {boolean} backward */
const family = (kind, backward) => (/^(dynamo_output_graph|.*pre_grad_graph|optimize_ddp|exported_program|graph_dump)/.test(kind) ? "d" : backward || /backward/.test(kind) ? "b" : "a");

const names = (/** @type {string} */ text) => text.split(",").map((t) => t.trim()).filter(Boolean);

/** @template T @param {Map<string, Set<T>>} map @param {string} key @param {T} value */
function put(map, key, value) {
  const set = map.get(key);
  if (set) set.add(value);
  else map.set(key, new Set([value]));
}

/**
 * The stacks of kernels as lines to be read, a kernel above those of its calls: some releases write their line breaks
 * as \\n.  null where the text is of another kind, or damaged.
 * @param {string} kind of the text @param {string} text @returns {{text: string, kernel: string}[] | null}
 */
export function stackLines(kind, text) {
  if (!/kernel_stack_traces/.test(kind)) return null;
  try {
    const of = Object.entries(JSON.parse(text)).map(([name, stacks]) => {
      const each = (Array.isArray(stacks) ? stacks : []).map((s) => `  ${decoded(String(s)).trim().replace(/\n\s*/g, (gap) => (gap.length > 3 ? "\n      " : "\n  "))}`);
      return [name, ...each.join("\n\n").split("\n"), ""].map((line) => ({ text: line, kernel: name.replace(/:\d+$/, "") }));
    });
    return of.flat();
  } catch {
    return null;
  }
}

const decoded = (/** @type {string} */ text) => text.replaceAll("\\n", "\n");

/** The texts of one compilation, joined. */
export class Provenance {
  constructor() {
    /** @type {Map<string, Set<string>>} */
    this.sourcesOf = new Map(); // of a node
    /** @type {Map<string, Set<string>>} */
    this.nodesOf = new Map(); // of a source line, "k:" and a kernel
    /** @type {Map<string, Set<string>>} */
    this.kernelsOf = new Map(); // of a node
    /** @type {Map<string, Set<string>>} */
    this.same = new Map(); // nodes of the other family
    /** @type {Map<string, string>} */
    this.code = new Map(); // of a source line
  }

  /** @param {string} node @param {string} kernel */
  join(node, kernel) {
    put(this.kernelsOf, node, kernel);
    put(this.nodesOf, `k:${kernel}`, node);
  }

  /** @param {string} a @param {string} b */
  equal(a, b) {
    put(this.same, a, b);
    put(this.same, b, a);
  }

  /**
   * Reads a text of the kind.
   * @param {string} kind @param {readonly string[]} lines @param {boolean} [backward] whether it is of the backward graph
   * @returns {Line[]} what each stands for
   */
  add(kind, lines, backward = false) {
    if (/node_mappings|kernel_to_post_grad|kernel_stack_traces/.test(kind)) {
      this.addMapping(lines.join("\n"));
      return lines.map(() => ({ sources: [], nodes: [], kernels: [] }));
    }
    return /output_code|wrapper_code|kernel_code/.test(kind) ? this.addCode(backward ? "b" : "a", lines) : this.addGraph(family(kind, backward), lines);
  }

  /** @param {string} of @param {readonly string[]} lines @returns {Line[]} */
  addGraph(of, lines) {
    let source = "";
    return lines.map((text) => {
      const file = FILE.exec(text);
      if (file) {
        source = `${file[1]}:${file[2]}`;
        if (file[4]) this.code.set(source, file[4]);
        return { sources: [source], nodes: [], kernels: [] };
      }
      if (/^\s*(class|def) |# No stacktrace/.test(text)) source = "";
      const node = NODE.exec(text);
      if (!node) return { sources: [], nodes: [], kernels: [] };
      const key = `${of}:${node[1].replace(/^%/, "")}`;
      if (source) {
        put(this.sourcesOf, key, source);
        put(this.nodesOf, source, key);
      }
      return { sources: source ? [source] : [], nodes: [key], kernels: [] };
    });
  }

  /** @param {string} of @param {readonly string[]} lines @returns {Line[]} */
  addCode(of, lines) {
    /** @type {Line[]} */
    const out = lines.map(() => ({ sources: [], nodes: [], kernels: [] }));
    /** @type {Set<string>} */
    const kernels = new Set();
    /** @type {Set<string>} */
    let above = new Set(); // nodes of the comments above
    let begin = -1; // of the comments
    let inside = "";
    let commented = false;
    lines.forEach((text, i) => {
      if (inside) {
        out[i].kernels = [inside];
        if (/^'''[,)]/.test(text)) inside = "";
        return;
      }
      const kernel = KERNEL.exec(text);
      if (kernel) {
        kernels.add(kernel[1]);
        for (let at = begin < 0 ? i : begin; at <= i; at++) out[at].kernels = [kernel[1]];
        for (const node of above) this.join(node, kernel[1]);
        if (!/'''.*'''/.test(text)) inside = kernel[1];
        [above, begin, commented] = [new Set(), -1, false];
        return;
      }
      if (/^\s*#/.test(text)) {
        if (!commented) begin = i;
        if (!commented || OF_NODES.test(text)) above = new Set();
        commented = true;
        this.addComment(of, text, above);
        out[i].nodes = [...above];
        return;
      }
      commented = false;
      const call = CALL.exec(text);
      if (call && kernels.has(call[1])) out[i].kernels = [call[1]];
      else if (call && above.size && !/empty_strided|assert_size|get_raw_stream/.test(text)) out[i].nodes = [...above];
      if (!text.trim()) [above, begin] = [new Set(), -1];
    });
    return out;
  }

  /** @param {string} of ATen graph @param {string} text @param {Set<string>} above */
  addComment(of, text, above) {
    const named = OF_NODES.exec(text);
    for (const name of named ? names(named[1]) : []) above.add(`d:${name}`);
    const mapping = MAPPING.exec(text);
    if (mapping) {
      above.add(`d:${mapping[1]}`);
      for (const name of names(mapping[2])) {
        above.add(`${of}:${name}`);
        this.equal(`d:${mapping[1]}`, `${of}:${name}`);
      }
    }
    const fragment = FRAGMENT.exec(text);
    if (fragment) above.add(`${of}:${fragment[1]}`);
  }

  /** What the log says of nodes and kernels: {"preToPost": {node: nodes}, "cppCodeToPost": {kernel: nodes}}, {kernel: nodes}, or {kernel: stacks}. @param {string} text */
  addMapping(text) {
    let json;
    try {
      json = JSON.parse(text);
    } catch {
      return; // as any damaged text: it can be read all the same
    }
    const each = (/** @type {any} */ map, /** @type {(key: string, name: string) => void} */ use) => {
      for (const [key, list] of Object.entries(map ?? {})) if (Array.isArray(list)) for (const name of list) if (typeof name === "string") use(key, name);
    };
    const kernel = (/** @type {string} */ name) => name.replace(/:\d+$/, "");
    if (!json || typeof json !== "object") return;
    if (json.preToPost || json.cppCodeToPost) {
      each(json.preToPost, (pre, post) => this.equal(`d:${pre}`, `a:${post}`));
      each(json.postToPre, (post, pre) => this.equal(`d:${pre}`, `a:${post}`));
      each(json.cppCodeToPost, (k, post) => this.join(`a:${post}`, kernel(k)));
    } else each(json, (k, of) => (/\bFile "/.test(of) ? this.addStack(kernel(k), of) : this.join(`a:${of}`, kernel(k))));
  }

  /** Nodes of other graphs with a node's source line: what is known of one that no mapping names. @param {string} node */
  ofLine(node) {
    const of = [...(this.sourcesOf.get(node) ?? [])].flatMap((s) => [...(this.nodesOf.get(s) ?? [])]);
    return of.filter((other) => other[0] !== node[0] && !this.same.has(other));
  }

  /** A kernel's source is where its stack ends. @param {string} kernel @param {string} stack */
  addStack(kernel, stack) {
    const frames = [...decoded(stack).matchAll(/File "(.+?)", line (\d+), in [^\n]*(?:\n\s*([^\n]*))?/g)];
    const last = frames[frames.length - 1];
    if (!last) return;
    const source = `${last[1]}:${last[2]}`;
    if (last[3]?.trim() && !this.code.has(source)) this.code.set(source, last[3].trim());
    put(this.sourcesOf, `k:${kernel}`, source);
    put(this.kernelsOf, source, kernel);
  }

  /** What a line is joined to, in every text. @param {Line} line @returns {Related} */
  related(line) {
    const nodes = new Set(line.nodes);
    for (const k of line.kernels) for (const n of this.nodesOf.get(`k:${k}`) ?? []) nodes.add(n);
    if (!line.nodes.length && !line.kernels.length) for (const s of line.sources) for (const n of this.nodesOf.get(s) ?? []) nodes.add(n);
    for (const n of [...nodes]) for (const other of this.same.get(n) ?? this.ofLine(n)) nodes.add(other);
    const sources = new Set(line.sources);
    const kernels = new Set(line.kernels);
    for (const n of nodes) {
      for (const s of this.sourcesOf.get(n) ?? []) sources.add(s);
      if (!line.kernels.length) for (const k of this.kernelsOf.get(n) ?? []) kernels.add(k);
    }
    for (const k of line.kernels) for (const s of this.sourcesOf.get(`k:${k}`) ?? []) sources.add(s);
    if (!line.nodes.length && !line.kernels.length) for (const s of line.sources) for (const k of this.kernelsOf.get(s) ?? []) kernels.add(k);
    return { sources, nodes, kernels };
  }

  /** The source lines that graphs name, by file and line. @returns {{source: string, text: string}[]} */
  sourceLines() {
    const all = new Set([...this.nodesOf.keys()].filter((k) => !k.startsWith("k:")));
    for (const s of this.code.keys()) all.add(s);
    const parts = (/** @type {string} */ s) => /** @type {[string, number]} */ ([s.slice(0, s.lastIndexOf(":")), Number(s.slice(s.lastIndexOf(":") + 1))]);
    return [...all]
      .sort((a, b) => {
        const [[fa, la], [fb, lb]] = [parts(a), parts(b)];
        return fa < fb ? -1 : fa > fb ? 1 : la - lb;
      })
      .map((source) => ({ source, text: `${source.slice(source.lastIndexOf("/") + 1)}  ${this.code.get(source) ?? ""}` }));
  }
}

/** Whether a line is one of those. @param {Line} line @param {Related} r */
export function isRelated(line, r) {
  if (line.nodes.length || line.kernels.length) return line.nodes.some((n) => r.nodes.has(n)) || line.kernels.some((k) => r.kernels.has(k));
  return line.sources.some((s) => r.sources.has(s));
}
