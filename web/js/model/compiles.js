// js/model/compiles.js -- the compilations of an imported log: names, outcomes, failures, and the trie of their stacks.

/** @typedef {import("../api/types.js").Imported} Imported */
/** @typedef {import("../api/types.js").ImportedCompile} Compile */
/** @typedef {{function: string, file: string, line: number, code?: string | null}} Frame */
/** @typedef {{frames: Frame[], compiles: Compile[], records: Record<string, number>, below: Branch[]}} Branch frames that have one way on are one */

/** As PyTorch writes it. @param {Pick<Compile, "compile" | "resets">} c */
export const compileKey = (c) => `[${c.compile}]${c.resets ? ` after reset ${c.resets}` : ""}`;

/** What names it in an address. @param {Pick<Compile, "compile" | "resets" | "process">} c */
export function compileQuery(c) {
  const q = new URLSearchParams({ compile: c.compile, process: String(c.process) });
  if (c.resets) q.set("resets", String(c.resets));
  return String(q);
}

/** @type {Record<string, string>} */
const OUTCOMES = { ok: "compiled", break: "graph break", empty: "no graph", skip: "skipped", error: "failed" };

/** @param {string} outcome */
export const outcomeWords = (outcome) => OUTCOMES[outcome] ?? outcome;

/** Hits, misses and bypasses of its caches, in words. @param {Compile} c */
export function cacheOf(c) {
  /** @type {Record<string, string[]>} */
  const by = { hit: [], miss: [], bypass: [] };
  for (const name of Object.keys(c.caches ?? {})) {
    const how = /cache_(hit|miss|bypass)$/.exec(name)?.[1];
    if (how) by[how].push(name.replace(/_?cache_(hit|miss|bypass)$/, "").replace(/_graph$/, "").replace("aotautograd", "AOTAutograd").replace("fx", "FX"));
  }
  return Object.entries(by).filter(([, names]) => names.length).map(([how, names]) => `${how}: ${names.join(", ")}`).join("; ");
}

/** What failed, and each analysis that began again, in the order of the log. @param {readonly Compile[]} compiles */
export function failuresOf(compiles) {
  /** @type {{compile: Compile, what: string, place: string, reason: string}[]} */
  const all = [];
  for (const compile of compiles) {
    for (const reason of compile.restart_reasons ?? []) all.push({ compile, what: "analysed again", place: "", reason });
    if (compile.fail_type || compile.fail_reason) all.push({ compile, what: compile.fail_type ?? "failed", place: compile.fail_file ? `${String(compile.fail_file).split("/").pop()}:${compile.fail_line ?? "?"}` : "", reason: compile.fail_reason ?? "" });
    for (const reason of compile.cudagraph_skips ?? []) all.push({ compile, what: "no CUDA graph", place: "", reason });
  }
  return all;
}

/** The frames that a compilation was called from, outermost first. @param {Imported} imported @param {Compile} c @returns {Frame[]} */
export function stackOf(imported, c) {
  /** @type {Frame[]} */
  const frames = [];
  for (let at = c.stack ?? -1; at >= 0 && imported.stacks?.[at] && frames.length < 1000; at = imported.stacks[at].parent) frames.unshift(imported.stacks[at]);
  return frames;
}

/** @param {Imported} imported @returns {Branch[]} */
export function trieOf(imported) {
  const nodes = imported.stacks ?? [];
  /** @type {number[][]} */
  const children = nodes.map(() => []);
  /** @type {Compile[][]} */
  const compiles = nodes.map(() => []);
  /** @type {number[]} */
  const roots = [];
  nodes.forEach((n, i) => (n.parent >= 0 && n.parent < i ? children[n.parent] : roots).push(i));
  for (const c of imported.compiles) if (c.stack !== undefined && compiles[c.stack]) compiles[c.stack].push(c);
  /** @param {number} i @returns {Branch} */
  const branch = (i) => {
    const frames = [nodes[i]];
    let at = i;
    while (children[at].length === 1 && !compiles[at].length && !nodes[at].records) {
      [at] = children[at];
      frames.push(nodes[at]);
    }
    return { frames, compiles: compiles[at], records: nodes[at].records ?? {}, below: children[at].map(branch) };
  };
  return roots.map(branch);
}
