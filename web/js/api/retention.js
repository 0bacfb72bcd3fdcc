// js/api/retention.js -- the requests of retention, loaded where its page shows them.

import { JSON_TYPE, request } from "./client.js";

/**
 * @typedef {{id: number, name: string, project: string, created_ns: number, stored_bytes: number, frees_bytes: number}} OldRun
 * @typedef {{days: number, total: number, stored_bytes: number, frees_bytes: number, runs: OldRun[], next: number | null}} Retention days: of the rule that the server has, 0: none
 * @typedef {{runs: number, bytes: number, more: boolean}} Thinned
 */

/** What would go; nothing does. @param {{days?: number, project: string, cursor?: number | null}} of @param {AbortSignal} [signal] @returns {Promise<Retention>} */
export const getRetention = ({ days, project, cursor }, signal) => {
  const query = new URLSearchParams({ limit: "50", project });
  if (days !== undefined) query.set("days", String(days));
  if (cursor) query.set("cursor", String(cursor));
  return request(`/retention?${query}`, { signal });
};

/** Takes it from the next hundred runs, for good. @param {{days: number, project?: string}} rule @returns {Promise<Thinned>} */
export const thinOut = (rule) => request("/retention", { method: "POST", headers: JSON_TYPE, body: JSON.stringify(rule) });
