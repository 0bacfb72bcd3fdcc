// js/api/place.js -- where this server's paths begin: at /, or below a path that it shares its name by
// (serve --base-path).  The scripts are below it too, so their own address tells.

const SCRIPTS = /^(.*)\/assets(\/[0-9a-f]{12})?\/js\//;

/** Of an address of a script: "/breakeven" or "", and "/assets/0123456789ab", below which files of this version are. @param {string} url */
export function placesOf(url) {
  const { protocol, pathname } = new URL(url);
  const [, base = "", version = ""] = (protocol.startsWith("http") && SCRIPTS.exec(pathname)) || [];
  return { base, assets: `/assets${version}` };
}

const { base: BASE, assets: ASSETS } = placesOf(import.meta.url);

/** The path of a file in assets/ that belongs to these scripts: for ever the same. @param {string} name "css/docs.css" */
export const asset = (name) => `${ASSETS}/${name}`;

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
