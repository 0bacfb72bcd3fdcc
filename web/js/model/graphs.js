// js/model/graphs.js -- a mode's captured graphs, with the guards that belong to
// each and its inputs picked from its nodes.

import { bytes, plural } from "./format.js";

/** @typedef {{name: string, about: string, line: number | null}} OpRow */
/** @typedef {{name: string, about: string, why: string, lines: number[]}} KernelRow */
/**
 * @typedef
 *   {{title: string, ops: OpRow[], inputs: string[], kernels: KernelRow[], guards: string[], code: string,
 *   recording: string[],
 *   facts: {compileMs: number | null, uses: number | null, cached: boolean, later: boolean, copies: number}}}
 *   GraphRow
 */

/** @param {import("../api/types.js").GraphNode} n */
const about = (n) => [n.dtype, n.shape].filter(Boolean).join(" ");

/** @param {import("../api/types.js").ModeReport} m @returns {GraphRow[]} */
export function graphRows(m) {
  return (m.graphs ?? []).map((g, i) => {
    const nodes = Array.isArray(g.nodes) ? g.nodes : [];
    const inputs = nodes.filter((n) => n.op === "placeholder");
    // `ops` is what PyTorch's graph would list; nodes say more about the same calls.
    const named = nodes.filter((n) => n.op !== "placeholder" && n.op !== "constant");
    const ops = g.ops ?? [];
    return {
      title: `Graph ${g.id ?? i}, ${g.frame ?? "model"} ${g.compile ?? ""}`.trim(),
      ops: ops.map((name, k) =>
        named.length === ops.length
          ? { name, about: about(named[k]), line: named[k].line || null }
          : { name, about: "", line: null },
      ),
      inputs: inputs.map((n) => `${n.name} ${about(n)}`.trim()),
      kernels: kernelRows(g),
      guards: (m.guards ?? []).filter((x) => x.graph === undefined || x.graph === (g.id ?? i)).map((x) => x.text),
      code: g.lowered ?? "",
      recording: [...recordingLines(g.recording), ...recordingLines(g.backward_recording, "Backward: ")],
      facts: { compileMs: g.compile_ms ?? null, uses: g.uses ?? null, cached: g.cached === true, later: g.later === true, copies: copies(g) },
    };
  });
}

/** @param {import("../api/types.js").Graph} g @returns {KernelRow[]} */
function kernelRows(g) {
  const details = g.kernel_details ?? [];
  return (g.kernels ?? []).map((name, i) => {
    const k = details[i];
    if (!k) return { name, about: "", why: "", lines: [] };
    const about = [plural(k.ops, "op"), `${bytes(k.read_bytes)} read`, `${bytes(k.written_bytes)} written`];
    if (k.ops > 1) about.push(`${bytes(k.saved_bytes)} saved by fusion`);
    return { name, about: about.join(", "), why: k.why, lines: k.lines ?? [] };
  });
}

/**
 * Mode graphs: what became of the launches, in sentences.
 * @param {import("../api/types.js").Recording | null | undefined} r
 * @param {string} [part] of the graph, in front of each
 * @returns {string[]}
 */
function recordingLines(r, part = "") {
  if (!r) return [];
  const lines = [];
  if (r.made)
    lines.push(
      `${plural(r.made, "recording")}, replayed ${plural(r.replays, "time")}; ${plural(r.pointed, "pointer")} set again; ${bytes(r.held_bytes)} held between calls`,
    );
  if (r.direct) lines.push(`${r.direct < r.made ? `${plural(r.direct, "recording")} launched` : "Launched"} kernel by kernel: ${r.why_direct}`);
  if (r.because) lines.push(`Recorded again: ${r.because}`);
  if (r.refused)
    lines.push(`${r.made ? `${plural(r.refused, "piece")} not recorded` : "Not recorded"}, runs as in static: ${r.why_not}`);
  if (!r.made && !r.refused) lines.push("Nothing to record: no kernel is launched");
  if (!part && r.why_guards) lines.push(`All guards are checked in each call: ${r.why_guards}`);
  else if (!part) lines.push(`Guards of the program's objects left out in ${plural(r.guards_left_out, "call")}`);
  return lines.map((line) => part + line);
}

/** Kernels that do nothing but copy. @param {import("../api/types.js").Graph} g */
const copies = (g) => (g.kernel_details ?? []).filter((k) => k.copies && k.ops === 1).length;

/**
 * How often each op occurs, most first.
 * @param {readonly string[]} ops
 * @returns {{op: string, n: number}[]}
 */
export function opCounts(ops) {
  /** @type {Map<string, number>} */
  const m = new Map();
  for (const o of ops) m.set(o, (m.get(o) ?? 0) + 1);
  return [...m].map(([op, n]) => ({ op, n })).sort((a, b) => b.n - a.n);
}
