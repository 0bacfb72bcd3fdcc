// js/view/api.js -- the REST routes, read from the server's own description.

import { h, scroller } from "./dom.js";
import { getOpenApi } from "../api/client.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** @param {import("./router.js").Context} ctx */
export async function apiView(ctx) {
  ctx.setTitle("API");
  const body = h("tbody");
  const table = h(
    "table",
    { class: "routes" },
    h("caption", { class: "vh" }, "Routes"),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["Method", "Path", "What it does"].map((t) => h("th", { scope: "col" }, t)),
      ),
    ),
    body,
  );
  ctx.main.replaceChildren(
    h(
      "div",
      { class: "head" },
      h(
        "div",
        { class: "titles" },
        h("h1", {}, "API"),
        h(
          "p",
          { class: "sub small" },
          'JSON over HTTP. Errors are {"error": {code, message, line, column}} with a fitting status.',
        ),
      ),
      h("div", { class: "acts" }, h("a", { class: "btn", href: "/api/v1/openapi.json" }, "openapi.json")),
    ),
    h("section", { class: "sec", "aria-label": "Routes" }, scroller("Routes, table", table)),
  );
  const doc = await getOpenApi(ctx.signal);
  for (const [path, item] of Object.entries(doc.paths ?? {})) {
    for (const method of METHODS.filter((m) => item[m])) {
      const op = item[method];
      body.append(
        h(
          "tr",
          {},
          h("td", {}, h("span", { class: "chip plain" }, method.toUpperCase())),
          h("th", { scope: "row" }, h("code", {}, path)),
          h("td", { class: "wrap" }, op.summary ?? op.description ?? ""),
        ),
      );
    }
  }
}
