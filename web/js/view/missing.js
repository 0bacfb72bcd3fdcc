// js/view/missing.js -- a path that names nothing.

import { h } from "./dom.js";

/** @param {import("./router.js").Context} ctx */
export function missingView(ctx) {
  ctx.setTitle("Not found");
  ctx.main.replaceChildren(
    nothingHere("No page has this address", [
      location.pathname,
      " is not a page. Runs are at /runs, a single run at /runs/ followed by its number.",
    ]),
  );
}

/** @param {string} title @param {import("./dom.js").Child[]} text */
export function nothingHere(title, text) {
  return h(
    "div",
    { class: "well gap" },
    h(
      "div",
      { class: "state" },
      h("h1", {}, title),
      h("p", {}, ...text),
      h(
        "div",
        { class: "acts" },
        h("a", { class: "btn primary", href: "/runs" }, "All runs"),
        h("a", { class: "btn", href: "/new" }, "New run"),
      ),
    ),
  );
}
