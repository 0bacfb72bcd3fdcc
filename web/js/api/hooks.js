// js/api/hooks.js -- the requests of webhooks, loaded where a page shows them.

import { JSON_TYPE, request } from "./client.js";

/**
 * @typedef {{id: number, url: string, project: string, events: string[], author: string, created_ns: number, waiting: number,
 *   last: {state: string, at_ns: number} | null}} Hook
 * @typedef {{id: number, event: string, subject: number, state: "waiting" | "delivered" | "failed", tries: number,
 *   created_ns: number, due_ns: number, tried_ns: number, status: number, said: string}} Delivery
 */

/** @param {number} id */
const at = (id) => `/hooks/${encodeURIComponent(id)}`;

/** @param {AbortSignal} [signal] @returns {Promise<{hooks: Hook[]}>} */
export const listHooks = (signal) => request("/hooks", { signal });

/** @param {{url: string, project?: string, events: string}} hook @returns {Promise<{id: number, secret: string}>} */
export const postHook = (hook) => request("/hooks", { method: "POST", headers: JSON_TYPE, body: JSON.stringify(hook) });

/** With all that waits for it. @param {number} id */
export const deleteHook = (id) => request(at(id), { method: "DELETE" });

/** @param {number} id @param {AbortSignal} [signal] @returns {Promise<{deliveries: Delivery[]}>} */
export const listDeliveries = (id, signal) => request(`${at(id)}/deliveries`, { signal });

/** @param {number} id @returns {Promise<{delivery: number}>} */
export const testHook = (id) => request(`${at(id)}/test`, { method: "POST", headers: JSON_TYPE, body: "{}" });
