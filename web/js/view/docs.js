// js/view/docs.js -- the documentation: a list of its pages, one of them, and what is on it.

import { add, h, loadStyle, scroller } from "./dom.js";
import { nothingHere } from "./missing.js";
import { getDoc } from "../api/docs.js";

/** @typedef {import("../api/docs.js").Tree} Tree */

const HEADS = ["h2", "h3", "h4"];

/** Names of its tables, each another one: by the heading above it. @param {string} title of the page */
function namer(title) {
  const used = new Map();
  let heading = title;
  return {
    under: (/** @type {string} */ text) => (heading = text),
    table() {
      const n = (used.get(heading) ?? 0) + 1;
      used.set(heading, n);
      return n > 1 ? `${heading}, table ${n}` : `${heading}, table`;
    },
  };
}

/** @param {readonly Tree[]} trees @param {ReturnType<typeof namer>} names @returns {Node[]} */
function grown(trees, names) {
  return trees.map((tree) => {
    if (typeof tree === "string") return document.createTextNode(tree);
    const [tag, attributes, ...inside] = tree;
    const el = h(/** @type {"p"} */ (tag), tag === "pre" ? { tabindex: 0, ...attributes } : attributes);
    add(el, grown(/** @type {Tree[]} */ (inside), names));
    if (HEADS.includes(tag)) names.under(el.textContent?.trim() ?? "");
    if (HEADS.includes(tag)) add(el, " ", h("a", { class: "anchor", href: `#${attributes.id}`, "aria-label": `Link to ${el.textContent?.trim()}` }, "#"));
    return tag === "table" ? scroller(names.table(), /** @type {any} */ (el)) : el;
  });
}

/** @param {import("../api/docs.js").Page} page */
function listOf(page) {
  const link = (/** @type {string} */ name, /** @type {string} */ title) =>
    h("li", {}, h("a", { href: name === "index" ? "/docs" : `/docs/${name}`, "aria-current": name === page.name ? "page" : null }, title));
  const parts = page.pages.flatMap((s) => [h("h2", {}, s.title), h("ul", {}, s.pages.map((p) => link(p.name, p.title)))]);
  return [h("ul", {}, link("index", "All pages")), ...parts];
}

/** The list is beside the page where there is room, and is opened where there is none. @param {import("../api/docs.js").Page} page @param {AbortSignal} signal */
function contents(page, signal) {
  const narrow = matchMedia("(max-width: 900px)");
  const list = h("nav", { "aria-label": "Documentation" }, listOf(page));
  const all = h("details", { class: "contents", open: !narrow.matches }, h("summary", {}, "Pages of the documentation"), list);
  narrow.addEventListener("change", () => (all.open = !narrow.matches), { signal });
  return all;
}

/** @param {import("../api/docs.js").Page} page */
function onThisPage(page) {
  if (page.heads.length < 2) return null;
  return h("nav", { class: "onpage", "aria-label": "On this page" }, h("h2", {}, "On this page"), h("ul", {}, page.heads.map((x) => h("li", {}, h("a", { href: `#${x.id}` }, x.text)))));
}

/** @param {import("./router.js").Context} ctx */
export async function docsView(ctx) {
  const name = ctx.params[0] || "index";
  ctx.setTitle("Documentation");
  const [page] = await Promise.all([getDoc(name, ctx.signal), loadStyle("docs")]);
  if (ctx.signal.aborted) return;
  if (!page) {
    ctx.main.replaceChildren(nothingHere(`The documentation has no page ${name}`, ["Its first page lists all of them."], [["The documentation", "/docs"], ["All runs", "/runs"]]));
    return;
  }
  ctx.setTitle(`${page.title} · Documentation`);
  const article = h("article", { class: "doc" });
  add(article, grown(page.body, namer(page.title)));
  ctx.main.replaceChildren(h("div", { class: "docs" }, contents(page, ctx.signal), article, onThisPage(page)));
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}
