// js/view/api.js -- the REST routes, read from the server's own description.

import { h, add, copyButton, headRow, section, scroller } from "./dom.js";
import { getOpenApi } from "../api/client.js";
import { origin } from "../api/place.js";
import { plural } from "../model/format.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** @typedef {{method: string, path: string, summary: string}} Route */

/** Where a route belongs; the first that fits. @type {readonly [string, string, (r: Route) => boolean][]} */
const GROUPS = [
  ["REST", "JSON under /api/v1", (r) => r.path.startsWith("/api/")],
  ["Pages", "each view of the page has an address of its own", (r) => r.summary.startsWith("the page")],
  ["Operation", "for those who run the server", () => true],
];

/** @param {import("./router.js").Context} ctx */
export async function apiView(ctx) {
  ctx.setTitle("API");
  const about = 'JSON over HTTP. Errors are {"error": {code, message, line, column}} with a fitting status.';
  const titles = h("div", { class: "titles" }, h("h1", {}, "API"), h("p", { class: "sub small" }, about));
  const acts = h("div", { class: "acts" }, h("a", { class: "btn", href: "/api/v1/openapi.json" }, "openapi.json"));
  const place = h("div", { "aria-busy": "true" });
  ctx.main.replaceChildren(h("div", { class: "head" }, titles, acts), place);
  const doc = await getOpenApi(ctx.signal);
  const routes = Object.entries(doc.paths ?? {}).flatMap(([path, item]) =>
    METHODS.filter((m) => item[m]).map((m) => ({ method: m.toUpperCase(), path, summary: item[m].summary ?? item[m].description ?? "" })),
  );
  const of = (/** @type {Route} */ r) => GROUPS.findIndex(([, , fits]) => fits(r));
  GROUPS.forEach(([name, note], i) => {
    const own = routes.filter((r) => of(r) === i);
    if (own.length) add(place, section(name, `${plural(own.length, "route")}, ${note}`, null, scroller(`${name}, table`, routeTable(name, own))));
  });
  place.setAttribute("aria-busy", "false");
}

/** @param {string} name @param {readonly Route[]} routes */
function routeTable(name, routes) {
  const head = headRow(["Method", "Path", "What it does", [null, "", "Copy"]]);
  return h("table", { class: "routes" }, h("caption", { class: "vh" }, name), head, h("tbody", {}, routes.map(row)));
}

/** @param {Route} r */
function row(r) {
  const line = `curl ${r.method === "GET" ? "" : `-X ${r.method} `}'${origin()}${r.path}'`;
  const copy = copyButton(() => line, `Copy a curl line of ${r.method} ${r.path}`);
  return h(
    "tr",
    {},
    h("td", {}, h("span", { class: "chip plain" }, r.method)),
    h("th", { scope: "row" }, h("code", {}, r.path)),
    h("td", { class: "wrap" }, words(r.summary)),
    h("td", { class: "r again" }, copy),
  );
}

/** Parameters of a summary, "limit=", as code. @param {string} summary */
const words = (summary) => summary.split(/(\b[a-z]\w*=)/).map((t, i) => (i % 2 ? h("code", {}, t) : t));
