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

/**
 * @param {string} title @param {import("./dom.js").Child[]} text
 * @param {[label: string, href: string][]} [next] where to go on, the likeliest first
 */
export function nothingHere(title, text, next = [["All runs", "/runs"], ["New run", "/new"]]) {
  const acts = next.map(([label, href], i) => h("a", { class: i ? "btn" : "btn primary", href }, label));
  return h("div", { class: "well gap" }, h("div", { class: "state" }, h("h1", {}, title), h("p", {}, ...text), h("div", { class: "acts" }, acts)));
}

/** A run that the server does not have. @param {string} id @param {[label: string, href: string][]} [next] */
export function noSuchRun(id, next) {
  const why = /^\d+$/.test(id) ? "It may have been deleted. Numbers are not used again." : "Runs are numbered: the address of one ends in its number.";
  return nothingHere(`There is no run #${id}`, [why], next);
}
