// js/model/views.js -- what a view keeps of a page, and the page that it is.

import { parseQuery, withField } from "./query.js";

/** @typedef {import("../api/views.js").View} View */

/** What is set alone. @param {Record<string, string | null | undefined>} all @returns {Record<string, string>} */
export const given = (all) => Object.fromEntries(Object.entries(all).flatMap(([k, v]) => (v ? [[k, v]] : [])));

/** What the list of runs is filtered by. @param {{text: string, status: string, sort: string}} filter @param {string} newest the order that is usual */
export const runsQuery = ({ text, status, sort }, newest) => given({ ...parseQuery(text), status, sort: sort === newest ? "" : sort });

/** Where it is shown. @param {View} view */
export function viewUrl({ page, query }) {
  if (page === "history") return `/history?${new URLSearchParams(query)}`;
  const { q = "", status, sort, ...fields } = query;
  const text = Object.entries(fields).reduce((words, [field, value]) => withField(words, field, value), q);
  return `/runs?${new URLSearchParams(given({ q: text, status, sort }))}`;
}

/** "verdict:slower, status:failed"; what is not filtered is said too. @param {View} view */
export const viewText = ({ query }) => Object.entries(query).map(([k, v]) => (k === "q" ? v : `${k}:${v}`)).join(", ") || "all, newest first";
