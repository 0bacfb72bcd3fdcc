// js/model/graphs.js -- captured graphs in one shape, whatever the report's.
//
// A kernel may be a name or an object, guards a list or a count, depending on
// the version that wrote the report; the page reads one form.

/** @typedef {{name: string, ops: string[], code: string}} KernelRow */
/** @typedef {{title: string, ops: string[], placeholders: string[], kernels: KernelRow[], guards: string[], code: string, compileMs: number | null, lowered: string}} GraphRow */

/** @param {unknown} v @returns {string} */
function word(v) {
  if (v === null || v === undefined) return "";
  if (typeof v !== "object") return String(v);
  const o = /** @type {Record<string, unknown>} */ (v);
  const shape = Array.isArray(o.shape) ? ` [${o.shape.join(", ")}]` : "";
  const name = o.name ?? o.text ?? o.expr ?? o.code ?? o.op;
  if (name !== undefined) return `${name}${o.dtype ? ` ${o.dtype}` : ""}${shape}`;
  return o.dtype ? `${o.dtype}${shape}` : JSON.stringify(v);
}

/** @param {unknown} v @returns {string[]} */
function list(v) {
  if (Array.isArray(v)) return v.map(word);
  if (v && typeof v === "object") return Object.entries(v).map(([k, x]) => `${k} ${word(x)}`);
  return [];
}

/** @param {unknown} v @returns {KernelRow} */
function kernel(v) {
  if (!v || typeof v !== "object") return { name: word(v), ops: [], code: "" };
  const k = /** @type {Record<string, unknown>} */ (v);
  const code = k.source ?? k.code ?? k.c;
  return { name: String(k.name ?? k.symbol ?? k.id ?? "kernel"), ops: list(k.ops), code: typeof code === "string" ? code : "" };
}

/** @param {import("../api/types.js").ModeReport} m @returns {GraphRow[]} */
export function graphRows(m) {
  return (m.graphs ?? []).map((g, i) => {
    const kernels = Array.isArray(g.kernels) ? g.kernels.map(kernel) : [];
    const own = g.source ?? g.code;
    const guards = list(g.guards);
    const placeholders = list(g.placeholders);
    if (typeof g.placeholders === "number") placeholders.push(...Array.from({ length: g.placeholders }, (_, k) => `input ${k}`));
    return {
      title: `Graph ${g.id ?? i}${g.compile ? `, ${g.compile}` : ""}`, ops: (g.ops ?? []).map(word), placeholders, kernels,
      guards: guards.length || (m.graphs?.length ?? 0) > 1 ? guards : list(m.guards),
      code: typeof own === "string" ? own : "", compileMs: typeof g.compile_ms === "number" ? g.compile_ms : null,
      lowered: Array.isArray(g.lowered) ? list(g.lowered).join(", ") : typeof g.lowered === "string" ? g.lowered : "",
    };
  });
}

/** Consecutive equal ops counted: "sin, mul, add x2" reads better than thirty words only where they repeat.
 * @param {readonly string[]} ops @returns {{op: string, n: number}[]} how often each op occurs, most first */
export function opCounts(ops) {
  /** @type {Map<string, number>} */
  const m = new Map();
  for (const o of ops) m.set(o, (m.get(o) ?? 0) + 1);
  return [...m].map(([op, n]) => ({ op, n })).sort((a, b) => b.n - a.n);
}
