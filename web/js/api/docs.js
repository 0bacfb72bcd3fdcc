// js/api/docs.js -- pages of the documentation, as web/docs/docs.mjs makes them.

import { ApiError } from "./client.js";
import { place } from "./place.js";

/** @typedef {string | [string, Record<string, string | number>, ...unknown[]]} Tree */
/** @typedef {{name: string, title: string, body: Tree[], heads: {id: string, text: string}[], pages: {title: string, pages: {name: string, title: string}[]}[]}} Page */

/** @param {string} name @param {AbortSignal} signal @returns {Promise<Page | null>} null where there is no such page */
export async function getDoc(name, signal) {
  let response;
  try {
    response = await fetch(place(`/assets/docs/${encodeURIComponent(name)}.json`), { signal });
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    throw new ApiError(0, { code: "OFFLINE", message: `No answer from ${location.host}. Is breakeven serve still running there?` });
  }
  if (response.status === 404) return null;
  if (!response.ok) throw new ApiError(response.status, { code: "DOCS", message: `The page answers ${response.status}.` });
  return response.json();
}
