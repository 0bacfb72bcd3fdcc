// web/docs/docs.mjs TABLES FOLDER -- the Markdown of web/docs as the pages of /docs.
//
// TABLES is what manual.c prints: its parts take the place of "<!-- NAME -->" in a page.  For each
// page FOLDER gets NAME.json (types Page and Tree below), which js/view/docs.js makes elements of:
// nothing here or there parses HTML, so none gets through.  index.md lists the pages in their
// order: each must be in that list, and only what is there.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { marked } from "marked";

/** @typedef {string | [string, Record<string, string | number>, ...Tree[]]} Tree a text, or a tag with its attributes and what is in it */
/** @typedef {{name: string, title: string, body: Tree[], heads: {id: string, text: string}[], pages: {title: string, pages: {name: string, title: string}[]}[]}} Page */

const here = dirname(fileURLToPath(import.meta.url));

/** The id of a heading, as GitHub makes it. @param {string} text */
export const idOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").trim().replace(/\s/g, "-");

const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"' };
/** @param {string} text */
const entities = (text) => text.replace(/&(amp|lt|gt|quot);/g, (_, name) => NAMED[name]);

/** Text of tokens, without what is around it. @param {any[]} tokens @returns {string} */
const textOf = (tokens) => tokens.map((t) => (t.tokens ? textOf(t.tokens) : entities(t.text ?? ""))).join("");

/** "workloads.md#inputs" as "/docs/workloads#inputs"; what lies outside of web/docs has no page. @param {string} href */
function linkOf(href) {
  if (/^(https:|#|\/(?!\/))/.test(href)) return href;
  const [, name, hash] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (!name) return null;
  return `/docs${name === "index" ? "" : `/${name}`}${hash ?? ""}`;
}

/** Width and height of a PNG, or of an SVG by its viewBox: the page keeps room for it. @param {string} file */
function sizeOf(file) {
  if (!/^images\/[\w-]+\.(png|svg)$/.test(file)) throw new Error(`${file}: pictures are PNG or SVG in images/`);
  const bytes = readFileSync(join(here, file));
  if (file.endsWith(".png")) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(bytes.toString()) ?? [];
  if (!width) throw new Error(`${file}: its viewBox is missing`);
  return { width: Number(width), height: Number(height) };
}

/** @type {Record<string, (t: any, page: any) => Tree[]>} */
const INLINE = {
  text: (t, page) => (t.tokens ? inline(t.tokens, page) : [entities(t.text)]),
  escape: (t) => [entities(t.text)],
  codespan: (t) => [["code", {}, t.text]],
  strong: (t, page) => [["strong", {}, ...inline(t.tokens, page)]],
  em: (t, page) => [["em", {}, ...inline(t.tokens, page)]],
  br: () => [["br", {}]],
  link(t, page) {
    const href = linkOf(t.href);
    return href ? [["a", { href }, ...inline(t.tokens, page)]] : inline(t.tokens, page);
  },
  image: (t) => [["img", { src: `/assets/docs/${t.href}`, alt: t.text, ...sizeOf(t.href), class: t.href.endsWith(".svg") ? "drawing" : "shot" }]],
};

/** @type {Record<string, (t: any, page: any) => Tree[]>} */
const BLOCK = {
  space: () => [],
  heading(t, page) {
    const text = textOf(t.tokens);
    let id = idOf(text);
    if (page.ids.has(id)) throw new Error(`two headings "${text}"`);
    page.ids.add(id);
    if (t.depth === 2) page.heads.push({ id, text });
    if (t.depth === 1) page.title = text;
    return [[`h${t.depth}`, { id }, ...inline(t.tokens, page)]];
  },
  paragraph: (t, page) => [["p", {}, ...inline(t.tokens, page)]],
  code: (t) => [["pre", {}, t.text]],
  blockquote: (t, page) => [["blockquote", {}, ...block(t.tokens, page)]],
  list: (t, page) => [[t.ordered ? "ol" : "ul", {}, ...t.items.map((i) => ["li", {}, ...block(i.tokens, page)])]],
  text: (t, page) => inline(t.tokens, page),
  table(t, page) {
    const cell = (tag, c, extra) => [tag, { ...extra, ...(c.align === "right" ? { class: "r" } : {}) }, ...inline(c.tokens, page)];
    const head = ["thead", {}, ["tr", {}, ...t.header.map((c) => cell("th", c, { scope: "col" }))]];
    const rows = t.rows.map((r) => ["tr", {}, ...r.map((c) => cell("td", c, {}))]);
    return [["table", {}, head, ["tbody", {}, ...rows]]];
  },
};

/** @param {any[]} tokens @returns {Tree[]} */
function rendered(table, tokens, page) {
  return tokens.flatMap((t) => {
    if (!Object.hasOwn(table, t.type)) throw new Error(`there is no ${t.type} in the documentation: ${t.raw.trim()}`);
    return table[t.type](t, page);
  });
}
const inline = (tokens, page) => rendered(INLINE, tokens, page);
const block = (tokens, page) => rendered(BLOCK, tokens, page);

/** "<!-- routes -->" by the part of that name. @param {string} text @param {Map<string, string>} parts */
export const filled = (text, parts) =>
  text.replace(/^<!-- (\w+) -->$/gm, (_, name) => {
    if (!parts.has(name)) throw new Error(`there is no table "${name}"`);
    return parts.get(name);
  });

/** The parts of what manual.c prints, by their names. @param {string} text @returns {Map<string, string>} */
export const partsOf = (text) => new Map([...text.matchAll(/^<!-- (\w+) -->$(.*?)(?=^<!-- |(?![^]))/gms)].map(([, name, part]) => [name, part.trim()]));

/** @param {string} text Markdown @returns {{title: string, heads: Page["heads"], body: Tree[]}} */
export function pageOf(text) {
  const page = { title: "", heads: [], ids: new Set() };
  const body = block(marked.lexer(text), page);
  return { title: page.title, heads: page.heads, body };
}

/** The sections of index.md with the names of their pages. @param {string} text */
export function sectionsOf(text) {
  return text.split(/^## /m).slice(1).map((part) => ({
    title: part.split("\n")[0],
    pages: [...part.matchAll(/^- \[.*?\]\((?!index)([\w-]+)\.md\)/gm)].map(([, name]) => name),
  }));
}

function build(tablesFile, out) {
  const parts = partsOf(readFileSync(tablesFile, "utf8"));
  const names = readdirSync(here).filter((f) => f.endsWith(".md")).map((f) => f.slice(0, -3));
  const pages = new Map();
  for (const name of names)
    try {
      pages.set(name, pageOf(filled(readFileSync(join(here, `${name}.md`), "utf8"), parts)));
    } catch (e) {
      throw new Error(`web/docs/${name}.md: ${e.message}`);
    }
  const sections = sectionsOf(readFileSync(join(here, "index.md"), "utf8"));
  const listed = sections.flatMap((s) => s.pages);
  for (const name of [...names.filter((n) => n !== "index" && !listed.includes(n)), ...listed.filter((n) => !pages.has(n))])
    throw new Error(`web/docs/index.md and web/docs differ: ${name}`);
  const list = sections.map((s) => ({ title: s.title, pages: s.pages.map((name) => ({ name, title: pages.get(name).title })) }));
  mkdirSync(join(out, "images"), { recursive: true });
  for (const [name, page] of pages) writeFileSync(join(out, `${name}.json`), JSON.stringify({ name, ...page, pages: list }));
  for (const file of readdirSync(join(here, "images"))) copyFileSync(join(here, "images", file), join(out, "images", basename(file)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build(process.argv[2], process.argv[3]);
