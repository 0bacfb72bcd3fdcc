// js/api/compare.js -- comparisons, histories and what people say of a run: loaded where a page shows them.

import { JSON_TYPE, request } from "./client.js";

/** @param {URLSearchParams} query a, b (again and again), force, margin @param {AbortSignal} [signal]
 * @returns {Promise<import("./compare/types.js").Comparison>} */
export const getComparison = (query, signal) => request(`/compare?${query}`, { signal });

/** @param {Record<string, string | null>} params @param {AbortSignal} [signal] @returns {Promise<import("./compare/types.js").History>} */
export function getHistory(params, signal) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params)) if (v) q.set(k, v);
  return request(`/history?${q}`, { signal });
}

/** @param {string | number} id @param {{note?: string, baseline?: boolean, tags?: string[]}} notes
 * @returns {Promise<import("./types.js").RunRow>} */
export const patchRun = (id, notes) =>
  request(`/runs/${encodeURIComponent(id)}`, { method: "PATCH", headers: JSON_TYPE, body: JSON.stringify(notes) });
