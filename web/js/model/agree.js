// js/model/agree.js -- how far a mode's values lie from eager's.
//
// Outputs above 4,096 elements come as a hash: equal hashes are a difference of
// 0, unequal ones cannot be turned into a number, so the answer is null.

/** @param {any} a @param {any} b @returns {number | null} largest |a - b|; null where it cannot be told */
export function difference(a, b) {
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b ? 0 : null;
  if (a.tensor && b.tensor) return tensors(a.tensor, b.tensor);
  for (const k of ["tuple", "list"]) {
    if (Array.isArray(a[k]) && Array.isArray(b[k]) && a[k].length === b[k].length) {
      return worst(a[k].map((/** @type {any} */ x, /** @type {number} */ i) => difference(x, b[k][i])));
    }
  }
  if (a.dict && b.dict) return worst(Object.keys(a.dict).map((k) => difference(a.dict[k], b.dict[k] ?? null)));
  if ("value" in a && "value" in b) return numbers([a.value], [b.value]);
  return JSON.stringify(a) === JSON.stringify(b) ? 0 : null;
}

/** @param {any} a @param {any} b */
function tensors(a, b) {
  if (String(a.shape) !== String(b.shape) || a.dtype !== b.dtype) return null;
  if (Array.isArray(a.data) && Array.isArray(b.data)) return numbers(a.data.flat(Infinity), b.data.flat(Infinity));
  return a.hash !== undefined && a.hash === b.hash ? 0 : null;
}

/** @param {any[]} a @param {any[]} b @returns {number | null} */
function numbers(a, b) {
  let most = 0;
  if (a.length !== b.length) return null;
  for (let i = 0; i < a.length; i++) {
    if (a[i] === b[i]) continue;
    if (typeof a[i] !== "number" || typeof b[i] !== "number") return null;
    most = Math.max(most, Math.abs(a[i] - b[i]));
  }
  return most;
}

/** @param {(number | null)[]} all @returns {number | null} */
const worst = (all) => (all.some((d) => d === null) ? null : Math.max(0, ...all.map(Number)));

/** Over all calls of a point. @param {import("../api/types.js").Point} point @param {string} mode @returns {number | null} */
export function errorOf(point, mode) {
  const [e, m] = [point.modes.eager?.calls, point.modes[mode]?.calls];
  if (!e?.length || !m?.length || e.length !== m.length) return null;
  if (e.some((c) => c.output === undefined) || m.some((c) => c.output === undefined)) return null;
  return worst(e.map((c, i) => difference(c.output, m[i].output)));
}

/** The worst mode's, null where one of them cannot be told. @param {import("../api/types.js").Point} point */
export function worstError(point) {
  const modes = Object.keys(point.modes).filter((m) => m !== "eager");
  return modes.length && point.modes.eager ? worst(modes.map((m) => errorOf(point, m))) : null;
}
