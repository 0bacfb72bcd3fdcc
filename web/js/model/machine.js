// js/model/machine.js -- what is known of the machine, as pairs to show.
//
// Known keys get our own words, in this order; keys of a newer server follow as
// they are, so that nothing recorded is hidden.

/** @type {readonly [string, string][]} */
const NAMES = [
  ["cpu", "CPU"], ["cpu_model", "CPU"], ["name", "Device"], ["model", "Model"], ["cores", "Cores"], ["physical_cores", "Physical cores"], ["memory_bytes", "Memory"],
  ["governor", "Governor"], ["vector_unit", "Vector unit"], ["vector", "Vector unit"], ["threads", "Threads"], ["compiler", "Compiler"],
  ["libc", "C library"], ["kernel", "Kernel"], ["os", "System"], ["version", "Breakeven"], ["breakeven", "Breakeven"], ["backend", "Backend"],
];

/** @param {unknown} v */
function words(v) {
  if (v === null || v === "") return "unknown";
  if (typeof v === "boolean") return v ? "yes" : "no";
  if (Array.isArray(v)) return v.join(", ");
  return typeof v === "object" ? JSON.stringify(v) : String(v);
}

/** @param {unknown} device @param {unknown} environment @returns {[string, string][]} */
export function machineFacts(device, environment) {
  /** @type {Record<string, unknown>} */
  const all = {
    ...(device && typeof device === "object" ? device : device ? { name: device } : {}),
    ...(environment && typeof environment === "object" ? environment : {}),
  };
  /** @type {[string, string][]} */
  const out = [];
  const seen = new Set();
  for (const [key, label] of NAMES) {
    if (!(key in all) || seen.has(label)) continue;
    seen.add(label);
    const v = all[key];
    out.push([label, key.endsWith("_bytes") && typeof v === "number" ? `${(v / 2 ** 30).toFixed(1)} GiB` : words(v)]);
  }
  const known = new Set(NAMES.map(([k]) => k));
  for (const [k, v] of Object.entries(all)) if (!known.has(k)) out.push([k.replace(/_/g, " "), words(v)]);
  return out;
}
