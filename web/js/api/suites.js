// js/api/suites.js -- the requests of suites, loaded where a page shows them.

import { JSON_TYPE, request } from "./client.js";

/** @param {AbortSignal} [signal] @returns {Promise<{suites: import("./types.js").SuiteHead[], total: number}>} */
export const listSuites = (signal) => request("/suites?limit=100", { signal });

/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<import("./types.js").Suite>} */
export const getSuite = (id, signal) => request(`/suites/${encodeURIComponent(id)}`, { signal });

/** @param {string | number} id @param {string | number} base @param {AbortSignal} [signal] @returns {Promise<import("../model/suite_compare.js").ComparedSuites>} */
export const compareSuites = (id, base, signal) => request(`/suites/${encodeURIComponent(id)}/compare?base=${encodeURIComponent(base)}`, { signal });

/** @param {object} suite @returns {Promise<{id: number}>} */
export const postSuite = (suite) => request("/suites", { method: "POST", headers: JSON_TYPE, body: JSON.stringify(suite) });

/** Cancels a suite that has not ended, removes one that has. @param {string | number} id */
export const deleteSuite = (id) => request(`/suites/${encodeURIComponent(id)}`, { method: "DELETE" });

/** Queues its cancelled runs again. @param {string | number} id @returns {Promise<unknown>} */
export const resumeSuite = (id) => request(`/suites/${encodeURIComponent(id)}/resume`, { method: "POST" });

/** Has a suite back that was removed not long ago, with the runs that went with it. @param {string | number} id @returns {Promise<unknown>} */
export const restoreSuite = (id) => request(`/suites/${encodeURIComponent(id)}/restore`, { method: "POST" });
