// js/model/suite.js -- what the page says of a suite: names, cells, order.

/** @typedef {import("../api/types.js").Suite} Suite */
/** @typedef {import("../api/types.js").SuiteColumn} SuiteColumn */
/** @typedef {import("../api/types.js").SuiteResult} SuiteResult */
/** @typedef {import("../api/types.js").SuiteWorkload} SuiteWorkload */
/** @typedef {{key: string, down: boolean}} Order */

/** Engine and policy only where they are not the usual ones. @param {{engine: string, policy: string, mode: string}} c */
export function columnName(c) {
  const engine = c.engine === "breakeven" ? "" : `${c.engine} `;
  return `${engine}${c.mode}${c.policy === "dynamo" ? "" : `, ${c.policy}`}`;
}

/** @param {{engine: string, policy: string, mode: string}} c */
export const columnKey = (c) => `${c.engine}/${c.policy}/${c.mode}`;

/** Columns that are compared with their eager. @param {readonly SuiteColumn[]} columns */
export const compared = (columns) => columns.filter((c) => c.mode !== "eager");

/** The column that stands for a suite: mode static of Breakeven, else the first compiled one. @param {readonly SuiteColumn[]} columns */
export function headline(columns) {
  const all = compared(columns);
  return all.find((c) => c.mode === "static" && c.engine === "breakeven") ?? all[0];
}

/** @param {SuiteWorkload} w @param {{engine: string, policy: string, mode: string}} c */
export const resultOf = (w, c) => w.results.find((r) => columnKey(r) === columnKey(c));

/**
 * The result whose breaks stand for a policy: mode static of Breakeven, else its first compiled one.
 * @param {SuiteWorkload} w @param {string} policy
 */
export function breaksOf(w, policy) {
  const own = w.results.filter((r) => r.policy === policy && r.engine === "breakeven" && r.mode !== "eager");
  return own.find((r) => r.mode === "static") ?? own[0];
}

/** "0.71–1.0x" and the open ends. @param {readonly number[]} edges */
export function bucketNames(edges) {
  const name = (/** @type {number} */ x) => String(Number(x.toPrecision(2)));
  return [
    `below ${name(edges[0])}x`,
    ...edges.slice(1).map((e, i) => `${name(edges[i])}–${name(e)}x`),
    `${name(edges[edges.length - 1])}x and above`,
  ];
}

/** The buckets that any column has something in, and those between. @param {readonly SuiteColumn[]} columns @param {readonly number[]} edges */
export function buckets(columns, edges) {
  const names = bucketNames(edges);
  const filled = names.map((_, i) => columns.some((c) => (c.histogram?.[i] ?? 0) > 0));
  const first = filled.indexOf(true);
  const last = filled.lastIndexOf(true);
  return first < 0 ? [] : names.map((name, i) => ({ name, i })).slice(first, last + 1);
}

/** @param {SuiteWorkload} w @param {string} key @returns {number | string | null} */
function sortValue(w, key) {
  if (key === "name") return w.name;
  if (key.startsWith("breaks:")) {
    const b = breaksOf(w, key.slice(7))?.breaks;
    return b && b.capture !== null ? b.capture + (b.lowering ?? 0) : null;
  }
  const r = w.results.find((x) => columnKey(x) === key);
  return r && r.status === "pass" ? r.speedup : null;
}

/** Sorted again; what has no value comes last, either way. @param {readonly SuiteWorkload[]} workloads @param {Order} order */
export function sorted(workloads, order) {
  const sign = order.down ? -1 : 1;
  return [...workloads].sort((a, b) => {
    const [x, y] = [sortValue(a, order.key), sortValue(b, order.key)];
    if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return sign * (typeof x === "string" ? x.localeCompare(String(y)) : x - Number(y));
  });
}

/** Engine torch names each mode's source after it, "<static, n = 3>": the same reason in all else. */
const ownSource = (/** @type {string} */ reason, /** @type {string} */ mode) =>
  reason.replaceAll(new RegExp(`<${mode}(, n = \\d+)?>`, "g"), (_, point) => `<source${point ?? ""}>`);

/**
 * @typedef {object} Failure
 * @property {string} name of the workload
 * @property {number | null} run the first that met it
 * @property {"failed" | "disagrees"} status
 * @property {string} engine
 * @property {string[]} policies
 * @property {string[]} modes under each of the policies
 * @property {string} reason
 */

/** Those of one workload, engine, status and reason, policy by policy. @param {readonly SuiteWorkload[]} workloads */
function failuresByPolicy(workloads) {
  /** @type {Map<string, Failure>} */
  const found = new Map();
  for (const { name, results } of workloads)
    for (const { engine, policy, status, mode, run, reason: told } of results) {
      if (status !== "failed" && status !== "disagrees") continue;
      const reason = ownSource(told ?? "no reason was kept", mode);
      const key = JSON.stringify([name, engine, policy, status, reason]);
      const entry = found.get(key) ?? { name, run, status, engine, policies: [policy], modes: [], reason };
      if (!entry.modes.includes(mode)) entry.modes.push(mode);
      found.set(key, entry);
    }
  return [...found.values()];
}

/**
 * What did not pass and why: one for each reason of a workload, with all modes, and with both policies
 * where the same modes met it.
 * @param {readonly SuiteWorkload[]} workloads
 * @returns {Failure[]}
 */
export function failures(workloads) {
  /** @type {Map<string, Failure>} */
  const found = new Map();
  for (const f of failuresByPolicy(workloads)) {
    const key = JSON.stringify([f.name, f.engine, f.status, f.reason, f.modes]);
    const same = found.get(key);
    if (same) same.policies.push(...f.policies);
    else found.set(key, f);
  }
  return [...found.values()];
}
