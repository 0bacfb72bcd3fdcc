// js/api/texts.js -- the texts of an imported compile log.

import { ApiError, request } from "./client.js";

/**
 * @typedef {{n: number, process: number, file: number, compile?: string, resets?: number, attempt?: number, kind: string,
 *   name?: string, part?: string, group: string, what: string, line: number, records?: number, said?: Record<string, unknown>, bytes: number,
 *   at?: number, found?: {line: number, column: number, text: string}[], matches?: number}} Text a row of the list
 * @typedef {{artifacts: Text[], total: number, next?: number | null, lines?: number, looked_at?: number, cut?: boolean}} Texts
 */

/** @param {string | number} run @param {Record<string, string | number | undefined>} which @param {AbortSignal} signal @returns {Promise<Texts>} */
export function listTexts(run, which, signal) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(which)) if (v !== undefined && v !== "") q.set(k, String(v));
  return request(`/runs/${encodeURIComponent(run)}/artifacts?${q}`, { signal });
}

/** Where a text is, as an address that h() places. @param {string | number} run @param {number} n */
export const textUrl = (run, n) => `/api/v1/runs/${encodeURIComponent(run)}/artifacts/${n}`;

/** At most so much of a text is shown; the rest is a link away. */
export const SHOWN_BYTES = 16 << 20;

/** @param {string | number} run @param {Text} text @param {AbortSignal} signal @returns {Promise<string>} */
export async function readText(run, text, signal) {
  const part = text.bytes > SHOWN_BYTES ? `?bytes=${SHOWN_BYTES}` : "";
  const bytes = await request(`/runs/${encodeURIComponent(run)}/artifacts/${text.n}${part}`, { signal }, true);
  if (!(bytes instanceof ArrayBuffer)) throw new ApiError(0, { code: "NOT_TEXT", message: "The server answered no text." });
  return new TextDecoder().decode(bytes);
}
