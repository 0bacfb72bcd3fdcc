// js/api/place.js -- where this server's paths begin: at /, or below a path that it shares its name by
// (serve --base-path).  The scripts are below it too, so their own address tells.

const SCRIPTS = "/assets/js/";

/** @param {string} url of a script @returns {string} "/breakeven", or "" */
export function baseOf(url) {
  const { protocol, pathname } = new URL(url);
  const at = pathname.lastIndexOf(SCRIPTS);
  return protocol.startsWith("http") && at > 0 ? pathname.slice(0, at) : "";
}

const BASE = baseOf(import.meta.url);

/** Where a browser finds a path of this server; other addresses as they are. @param {string} path */
export const place = (path) => (path.startsWith("/") ? BASE + path : path);

/** What programs put before a path. */
export const origin = () => location.origin + BASE;

/** A path of this server, as the views know it; null: it is not of this server. @param {string} pathname of an address */
export function pathOf(pathname) {
  if (pathname === BASE) return "/";
  return pathname.startsWith(`${BASE}/`) ? pathname.slice(BASE.length) : null;
}

/** The path that is shown. */
export const herePath = () => pathOf(location.pathname) ?? location.pathname;
