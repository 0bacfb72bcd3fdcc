// js/view/router.js -- paths to views; every view has a URL of its own.
//
// A view gets an AbortSignal that ends with it: whatever it starts (requests,
// event streams, timers, key handlers) hangs from that signal, so nothing of an
// old page can write into a new one.

import { asset, herePath, pathOf, place } from "../api/place.js";
import { button, h, prose, say } from "./dom.js";
import { asSentence } from "../model/format.js";

/**
 * @typedef
 *   {{signal: AbortSignal, params: string[], query: URLSearchParams, main: HTMLElement,
 *   setTitle: (title: string) => void}}
 *   Context
 */
/** @typedef {(ctx: Context) => void | Promise<void>} View */
/** @typedef {{pattern: RegExp, nav: string, load: () => Promise<View>}} Route its script comes when it is opened */

/** @type {readonly Route[]} */
let routes = [];
/** @type {Map<Route, View>} */
const loaded = new Map();
let current = new AbortController();
/** Path and query of the view that is shown: what differs by its hash alone is a place on the same page. */
let shown = "";

/** @param {readonly Route[]} table the last row must match everything */
export function startRouter(table) {
  routes = table;
  addEventListener("popstate", () => {
    if (location.pathname + location.search !== shown) show();
  });
  document.addEventListener("click", onClick);
  addEventListener("serverback", () => {
    if (document.querySelector("#main [data-offline]")) show(true);
  });
  show(true);
}

/** @param {string} path path and query @param {{replace?: boolean}} [how] */
export function go(path, how = {}) {
  if (how.replace) history.replaceState(null, "", place(path));
  else history.pushState(null, "", place(path));
  // What replaces an address has moved the reader nowhere: the focus stays.
  show(how.replace);
}

/**
 * Writes a choice into the address without leaving the view; whoever listens for addresschange hears of it.
 * @param {Record<string, string | null>} values
 */
export function remember(values) {
  const url = new URL(location.href);
  for (const [k, v] of Object.entries(values))
    if (v === null || v === "") url.searchParams.delete(k);
    else url.searchParams.set(k, v);
  history.replaceState(null, "", url);
  shown = location.pathname + location.search;
  dispatchEvent(new Event("addresschange"));
}

/** @param {MouseEvent} e */
function onClick(e) {
  if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  const a = e.target instanceof Element ? e.target.closest("a") : null;
  if (!a || a.target || a.hasAttribute("download") || a.origin !== location.origin) return;
  const path = pathOf(a.pathname);
  if (path === null || /^\/(api\/|assets\/|metrics$|healthz$|livez$|readyz$)/.test(path) || (a.hash && a.pathname === location.pathname)) return;
  e.preventDefault();
  a.closest("details")?.removeAttribute("open");
  go(path + a.search + a.hash);
}

/** @param {boolean} [first] the page has just been loaded: leave the focus where it is */
function show(first = false) {
  current.abort();
  current = new AbortController();
  shown = location.pathname + location.search;
  const path = herePath().replace(/(.)\/$/, "$1");
  const main = /** @type {HTMLElement} */ (document.getElementById("main"));
  const route = routes.find((r) => r.pattern.test(path)) ?? routes[routes.length - 1];
  const params = (route.pattern.exec(path) ?? []).slice(1).map((p) => decodeURIComponent(p ?? ""));
  for (const a of document.querySelectorAll("[data-nav]")) {
    if (/** @type {HTMLElement} */ (a).dataset.nav === route.nav) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const { signal } = current;
  const setTitle = (/** @type {string} */ title) => {
    if (!signal.aborted) document.title = `${title} · Breakeven`;
  };
  main.replaceChildren();
  if (!first) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
    say("");
  }
  const ctx = { signal, params, query: new URLSearchParams(location.search), main, setTitle };
  open(route, ctx).catch((e) => {
    if (!signal.aborted) main.replaceChildren(problem(e));
  });
}

/** Whether the server has become another version, whose page has its scripts elsewhere. */
async function isReplaced() {
  const page = await fetch(place("/runs"), { cache: "no-store" }).then((r) => (r.ok ? r.text() : null), () => null);
  return page !== null && !page.includes(`${asset("js")}/`);
}

/** At once where its script is there: the view's keys work from then on. @param {Route} route @param {Context} ctx */
async function open(route, ctx) {
  let view = loaded.get(route);
  if (!view) {
    view = await route.load().catch(async (e) => {
      if (await isReplaced()) location.reload();
      throw Object.assign(new Error(`No answer from ${location.host}: ${e?.message ?? e}`), { status: 0 });
    });
    loaded.set(route, view);
  }
  if (!ctx.signal.aborted) await view(ctx);
}

/** What went wrong, as a state. @param {any} e */
export function problem(e) {
  const status = e?.status;
  if (status === 401) return state("Sign in to see this page", "This server has accounts: a token opens its pages.", button("Enter a token", () => dispatchEvent(new Event("signinwanted")), { class: "btn primary" }));
  // Loaded again (a target is left to the browser): a script that did not come is not asked for twice.
  const again = h("a", { class: "btn primary", href: herePath() + location.search, target: "_self" }, "Try again");
  const el = state(status === 0 ? "The server does not answer" : "This page could not be made", asSentence(e?.message ?? String(e)), again, h("a", { class: "btn", href: "/runs" }, "All runs"));
  if (status === 0) el.dataset.offline = "";
  return el;
}

/** @param {string} title @param {string} text @param {HTMLElement[]} acts */
const state = (title, text, ...acts) =>
  h("div", { class: "well gap" }, h("div", { class: "state" }, h("h1", {}, title), h("p", {}, prose(text)), h("div", { class: "acts" }, acts)));

/**
 * Waits, and ends early with the view.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<boolean>} false where the view has gone
 */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const t = setTimeout(() => resolve(!signal.aborted), ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(t);
        resolve(false);
      },
      { once: true },
    );
  });
}
