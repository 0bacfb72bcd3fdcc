// js/api/views.js -- the requests of views, filters that people keep under a name.

import { JSON_TYPE, request } from "./client.js";

/** @typedef {"runs" | "history"} ViewPage */
/** @typedef {{id: number, project: string, name: string, page: ViewPage, query: Record<string, string>, author: string, created_ns: number}} View */

/** @param {number} id */
const at = (id) => `/views/${encodeURIComponent(id)}`;

/** @param {ViewPage} page @param {AbortSignal} [signal] @returns {Promise<{views: View[]}>} */
export const listViews = (page, signal) => request(`/views?page=${page}`, { signal });

/** @param {{name: string, project: string, page: ViewPage, query: Record<string, string>}} view @returns {Promise<View>} */
export const postView = (view) => request("/views", { method: "POST", headers: JSON_TYPE, body: JSON.stringify(view) });

/** @param {number} id @param {{name?: string, query?: Record<string, string>}} change @returns {Promise<View>} */
export const patchView = (id, change) => request(at(id), { method: "PATCH", headers: JSON_TYPE, body: JSON.stringify(change) });

/** @param {number} id */
export const deleteView = (id) => request(at(id), { method: "DELETE" });
