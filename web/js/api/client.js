// js/api/client.js -- the one module that speaks to the server.
//
// Every failure becomes an ApiError with a message that can be shown as it is,
// also when the server is gone: fetch's own TypeError names nothing.

import { place } from "./place.js";
import { decodeTimeline } from "../model/timeline.js";

/** @typedef {import("./types.js").Problem} Problem */

const API = "/api/v1";
const BASE = place(API);

export class ApiError extends Error {
  /** @param {number} status @param {Problem} problem @param {Problem[]} [all] where several things are wrong */
  constructor(status, problem, all = [problem]) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
    this.problems = all;
  }
}

/** @param {string} path @param {RequestInit} [init] @param {boolean} [binary] @returns {Promise<any>} */
export async function request(path, init, binary = false) {
  let response;
  try {
    response = await fetch(BASE + path, init?.method ? await signed(init) : init);
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    throw new ApiError(0, {
      code: "OFFLINE",
      message: `No answer from ${location.host}. Is breakeven serve still running there?`,
    });
  }
  if (binary && response.ok) return response.arrayBuffer();
  const text = await response.text();
  let body = null;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    throw new ApiError(response.status, {
      code: "NOT_JSON",
      message: `${location.host} answered ${response.status} without JSON. Another program may listen there.`,
    });
  }
  if (!response.ok) {
    throw new ApiError(
      response.status,
      body?.error ?? {
        code: String(response.status),
        message: `The server answered ${response.status} and gave no reason.`,
      },
      body?.problems,
    );
  }
  return body;
}

/**
 * Who asks, and what they may do.
 * @typedef {{accounts: boolean, insecure: boolean, user: string, scope: string, project: string, csrf: string}} Session
 */

/** @type {Promise<Session> | null} */
let session = null;

/** Asked once; a page that is loaded again asks again. @returns {Promise<Session>} */
export function getSession() {
  session ??= request("/session");
  return session;
}

/** @param {string} token @returns {Promise<{user: string}>} */
export const signIn = (token) => request("/session", { method: "POST", headers: { Authorization: `Bearer ${token}` } });

export const signOut = () => request("/session", { method: "DELETE" });

/** What writes says that it is this page that does. @param {RequestInit} init @returns {Promise<RequestInit>} */
async function signed(init) {
  const csrf = session && (await session.catch(() => null))?.csrf;
  return csrf ? { ...init, headers: { ...init.headers, "X-CSRF-Token": csrf } } : init;
}

/**
 * @param {Record<string, string | number | undefined>} params
 * @param {AbortSignal} [signal]
 * @returns {Promise<import("./types.js").RunList>}
 */
export function listRuns(params, signal) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params)) if (v !== undefined && v !== "") q.set(k, String(v));
  return request(`/runs?${q}`, { signal });
}

/** All workloads over commits. @param {AbortSignal} [signal] @returns {Promise<import("./types.js").Heat>} */
export const getHeat = (signal) => request("/heat", { signal });

/** What the last hours brought. @param {AbortSignal} [signal] @param {number} [hours] @returns {Promise<import("./types.js").Since>} */
export const getSince = (signal, hours = 24) => request(`/since?hours=${hours}`, { signal });

/** @param {string} id @param {AbortSignal} [signal] @returns {Promise<import("./types.js").Run>} */
export const getRun = (id, signal) => request(`/runs/${encodeURIComponent(id)}`, { signal });

export const JSON_TYPE = { "Content-Type": "application/json" };

/** @param {import("./types.js").Workload} workload @returns {Promise<{id: number | string}>} */
export const postRun = (workload) =>
  request("/runs", { method: "POST", headers: JSON_TYPE, body: JSON.stringify(workload) });

/**
 * Bytes that take a while: how much of them is gone is told, and the signal gives them up.
 * @param {string} path @param {Blob} body @param {{signal: AbortSignal, sent: (bytes: number, of: number) => void}} how @returns {Promise<any>}
 */
export async function upload(path, body, { signal, sent }) {
  const init = await signed({ method: "POST", headers: { "Content-Type": "application/octet-stream" } });
  signal.throwIfAborted();
  return new Promise((done, fail) => {
    const xhr = new XMLHttpRequest();
    xhr.open("POST", BASE + path);
    for (const [name, value] of new Headers(init.headers)) xhr.setRequestHeader(name, value);
    xhr.upload.addEventListener("progress", (e) => sent(e.loaded, e.total));
    signal.addEventListener("abort", () => xhr.abort());
    xhr.addEventListener("abort", () => fail(new DOMException("given up", "AbortError")));
    xhr.addEventListener("error", () => fail(new ApiError(0, { code: "OFFLINE", message: `The connection to ${location.host} ended before the file was there.` })));
    xhr.addEventListener("load", () => {
      let json = null;
      try {
        json = JSON.parse(xhr.responseText);
      } catch {
        /* said below */
      }
      if (xhr.status < 300 && json) done(json);
      else fail(new ApiError(xhr.status, json?.error ?? { code: String(xhr.status), message: `The server answered ${xhr.status} and gave no reason.` }));
    });
    xhr.send(body);
  });
}

const PIECE_BYTES = 8 << 20;

/**
 * A file that programs read, in pieces.
 * @param {File} file @param {string | undefined} upload what was begun before, to go on with
 * @param {(received: number, upload: string) => void} onPiece
 * @returns {Promise<{id: string, bytes: number}>}
 */
export async function postFile(file, upload, onPiece) {
  const piece = (/** @type {string} */ query, /** @type {BodyInit} */ body) =>
    request(`/files?${query}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body });
  let state = await (upload ? piece(`upload=${upload}`, "") : piece(`bytes=${file.size}`, ""));
  while (!state.id) {
    onPiece(state.received, state.upload);
    state = await piece(`upload=${state.upload}&at=${state.received}`, file.slice(state.received, state.received + PIECE_BYTES));
  }
  return state;
}

/**
 * What is wrong in a program, and where it breaks; without calls only the former.
 * @param {import("./types.js").Workload} workload @param {AbortSignal} signal
 * @param {readonly string[]} [free] parameters that nobody has typed inputs for: where a call fails, others are tried
 * @returns {Promise<import("./types.js").Check>}
 */
export const postCheck = (workload, signal, free = []) =>
  request(`/check${free.length ? `?${new URLSearchParams({ free: free.join() })}` : ""}`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(workload), signal });

/** The program in a .zip. @param {Blob} zip @returns {Promise<{files: Record<string, string>}>} */
export const postUnpack = (zip) => request("/unpack", { method: "POST", headers: { "Content-Type": "application/zip" }, body: zip });

/**
 * Where the boxes of a graph go.
 * @param {import("../model/layout.js").LayoutBody} body @param {AbortSignal} signal
 * @returns {Promise<import("../model/layout.js").LayoutAnswer>}
 */
export const postLayout = (body, signal) =>
  request("/layout", { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body), signal });

/**
 * What the nodes of a graph are part of, by kernels and by modules.
 * @param {import("../model/groups.js").GroupsBody} body @param {AbortSignal} signal
 * @returns {Promise<import("../model/groups.js").GroupsAnswer>}
 */
export const postGroups = (body, signal) =>
  request("/groups", { method: "POST", headers: JSON_TYPE, body: JSON.stringify(body), signal });

/** Cancels a run that waits or runs, removes one that has ended. @param {string} id */
export const deleteRun = (id) => request(`/runs/${encodeURIComponent(id)}`, { method: "DELETE" });

/** @param {AbortSignal} [signal] @returns {Promise<{examples: import("./types.js").Example[]}>} */
export const getExamples = (signal) => request("/examples", { signal });

/** @param {AbortSignal} [signal] @returns {Promise<{ops: import("./types.js").Op[]}>} */
export const getOps = (signal) => request("/ops", { signal });

/** @param {AbortSignal} [signal] @returns {Promise<{backends: import("./types.js").BackendInfo[],
 *   engines?: import("./types.js").EngineInfo[]}>} */
export const getBackends = (signal) => request("/backends", { signal });

/** @param {AbortSignal} [signal] @returns {Promise<import("./report.js").ReportHosts>} */
export const getHosts = (signal) => request("/hosts", { signal });

/** @param {string} module @param {AbortSignal} [signal] @returns {Promise<{names: string[]}>} */
export const getNames = (module, signal) => request(`/names?module=${encodeURIComponent(module)}`, { signal });

/** @param {AbortSignal} [signal] @returns {Promise<{passes: import("./types.js").PassInfo[]}>} */
export const getPasses = (signal) => request("/passes", { signal });

/** @param {URLSearchParams} query a, b (again and again), force, margin @param {AbortSignal} [signal]
 * @returns {Promise<import("./compare/types.js").Comparison>} */
export function getComparison(query, signal) {
  const asked = [...query].filter(([name]) => /^([a-h]|force|margin|metric)$/.test(name));
  return request(`/compare?${new URLSearchParams(asked)}`, { signal });
}

/** Two timelines, a= and b=, kernel by kernel. @param {URLSearchParams} query also mode, mode_b, n, n_b @param {AbortSignal} [signal]
 * @returns {Promise<import("./report.js").ReportAlignment>} */
export function getAlignment(query, signal) {
  const asked = [...query].filter(([name, value]) => /^(mode_b|mode|n_b|n)$/.test(name) && value);
  return request(`/compare/timelines?${new URLSearchParams([["a", query.get("a") ?? ""], ["b", query.get("b") ?? ""], ...asked])}`, { signal });
}

/** @param {Record<string, string | null>} params @param {AbortSignal} [signal] @returns {Promise<import("./compare/types.js").History>} */
export function getHistory(params, signal) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params)) if (v) q.set(k, v);
  return request(`/history?${q}`, { signal });
}

/** Has a run back that was removed not long ago. @param {string | number} id @returns {Promise<import("./types.js").RunRow>} */
export const restoreRun = (id) => request(`/runs/${encodeURIComponent(id)}/restore`, { method: "POST" });

/** @param {string | number} id @param {{name?: string, note?: string, baseline?: boolean, pinned?: boolean, tags?: string[]}} notes
 * @returns {Promise<import("./types.js").RunRow>} */
export const patchRun = (id, notes) =>
  request(`/runs/${encodeURIComponent(id)}`, { method: "PATCH", headers: JSON_TYPE, body: JSON.stringify(notes) });

/** @typedef {import("./report.js").ReportHistoryChange} Change */
/** @param {number} id @param {{acknowledged?: boolean, note?: string}} said @returns {Promise<Change>} */
export const patchChange = (id, said) => request(`/history/changes/${id}`, { method: "PATCH", headers: JSON_TYPE, body: JSON.stringify(said) });

/** Changes that begin at a run. @param {string | number} run @param {AbortSignal} [signal] @returns {Promise<{changes: Change[], total: number}>} */
export const getChangesAt = (run, signal) => request(`/history/changes?run=${encodeURIComponent(run)}`, { signal });

/** @param {AbortSignal} [signal] @returns {Promise<any>} */
export const getOpenApi = (signal) => request("/openapi.json", { signal });

/**
 * A window of a run's timeline.
 * @param {string} id
 * @param {Record<string, string | number>} params mode, n, t0, t1 (ns), px
 * @param {AbortSignal} signal
 */
export async function getTimeline(id, params, signal) {
  const q = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]));
  return decodeTimeline(await request(`/runs/${encodeURIComponent(id)}/timeline?${q}`, { signal }, true));
}

/**
 * The next event of a timeline that is looked for, or those of a launch.
 * @param {string} id
 * @param {Record<string, string | number>} params mode, n; q, at (ns), lane, duration, name, back; or correlation, lane
 * @param {AbortSignal} signal
 * @returns {Promise<{events: number, sum_ns: number, busy_ns: number, busy_at_least: boolean, looked_at: number, cut: string | null, index: number, event: any, joined: any[]}>}
 */
export function findEvent(id, params, signal) {
  const q = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]));
  return request(`/runs/${encodeURIComponent(id)}/timeline/find?${q}`, { signal });
}

/**
 * @typedef {{events: number, sum_ns: number, groups: number, left_out: {groups: number, count: number, sum_ns: number},
 *   rows: {text: string, as: string, count: number, sum_ns: number, mean_ns: number, max_ns: number, share: number, names: number[]}[]}} Groups
 */
/**
 * The events of a part of a timeline, summed.
 * @param {string} id @param {Record<string, string | number>} params mode, n, t0, t1 (ns), by, sort, limit @param {AbortSignal} signal
 * @returns {Promise<Groups>}
 */
export function getGroups(id, params, signal) {
  const q = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]));
  return request(`/runs/${encodeURIComponent(id)}/timeline/groups?${q}`, { signal });
}

/** @typedef {{columns: string[], rows: any[][], cut: string | null, events: number}} QueryAnswer */
/**
 * SQL over a run; of format csv its bytes. @param {string} id @param {{format: string, [key: string]: any}} query @param {AbortSignal} signal
 * @returns {Promise<any>}
 */
export const postQuery = (id, query, signal) => request(`/runs/${encodeURIComponent(id)}/query`, { method: "POST", headers: JSON_TYPE, body: JSON.stringify(query), signal }, query.format === "csv");

/**
 * What a thread was in. @param {string} id @param {Record<string, string | number>} params mode, n, lane, at (ns) @param {AbortSignal} signal
 * @returns {Promise<{frames: {name: string, as: string}[], forward: {name: string, as: string}[]}>}
 */
export const getStack = (id, params, signal) => request(`/runs/${encodeURIComponent(id)}/timeline/stack?${new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]))}`, { signal });

/** @param {AbortSignal} [signal] @returns {Promise<{formats: import("./types.js").Format[]}>} */
export const getFormats = (signal) => request("/formats", { signal });

/** Exports of a run that are being written. @param {string} id @returns {Promise<{exports: import("./types.js").ExportUnderWay[]}>} */
export const getExports = (id) => request(`/runs/${encodeURIComponent(id)}/exports`);

/** @param {string} id @param {number} which its id in getExports() */
export const cancelExport = (id, which) => request(`/runs/${encodeURIComponent(id)}/exports/${which}`, { method: "DELETE" });

/** @param {string} id @param {string} file "export", "script.py" or "trace.json" */
export const fileUrl = (id, file) => `${API}/runs/${encodeURIComponent(id)}/${file}`;

const AGAIN_MS = 3000;

/**
 * Follows a run's events until it ends or the signal aborts.  The browser reconnects by itself after a lost
 * connection; after an answer that is none it gives up, and is asked again.
 * @param {string} id @param {AbortSignal} signal
 * @param {(p: import("./types.js").Progress) => void} onProgress
 * @param {() => void} onEnd
 */
export function followRun(id, signal, onProgress, onEnd) {
  const source = new EventSource(`${BASE}/runs/${encodeURIComponent(id)}/events`);
  const close = () => source.close();
  signal.addEventListener("abort", close, { once: true });
  source.addEventListener("progress", (e) => {
    try {
      onProgress(JSON.parse(e.data));
    } catch {
      /* a cut-off event: the next one is whole */
    }
  });
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED || signal.aborted) return;
    signal.removeEventListener("abort", close);
    setTimeout(() => signal.aborted || followRun(id, signal, onProgress, onEnd), AGAIN_MS);
  });
  source.addEventListener("end", () => {
    close();
    onEnd();
  });
}
