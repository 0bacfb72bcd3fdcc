// js/view/dom.js -- elements from code; the only place that makes them.
//
// A string child becomes a text node, always: text of users cannot become
// markup because nothing here parses any.  `style` and `on...` attributes are
// refused, as the Content-Security-Policy would drop them silently.  `href` and
// `src` are paths as views know them: api/place.js says where they are.

import { asset, place } from "../api/place.js";
import { GLOSSARY, termOf } from "../model/glossary.js";
import { intervalOf, unbroken } from "../model/sentence.js";
import { toggleTerm } from "./term.js";

/** @typedef {Node | string | number | null | undefined | false} Child */
/**
 * @typedef
 *   {Record<string, string | number | boolean | null | undefined | Record<string,
 *   string | number | undefined>>}
 *   Attributes
 */

const SVG = "http://www.w3.org/2000/svg";

/** @param {Element} el @param {Attributes} attributes */
function setAll(el, attributes) {
  for (const [k, v] of Object.entries(attributes)) {
    if (v === false || v === null || v === undefined) continue;
    if (k === "style" || k.startsWith("on")) throw new Error(`dom.js: attribute ${k} is not allowed here`);
    if (k === "data" && typeof v === "object") {
      for (const [d, x] of Object.entries(v))
        if (x !== undefined) /** @type {HTMLElement} */ (el).dataset[d] = String(x);
    } else if (k === "href" || k === "src") el.setAttribute(k, place(String(v)));
    else el.setAttribute(k, v === true ? "" : String(v));
  }
}

/** @param {Node} el @param {readonly (Child | readonly Child[])[]} children */
export function add(el, ...children) {
  for (const c of children.flat()) {
    if (c === null || c === undefined || c === false) continue;
    el.appendChild(c instanceof Node ? c : document.createTextNode(String(c)));
  }
}

/** In a sentence a line never ends between a number and its unit. @param {string} text */
const tied = (text) => text.replace(/(\d) (?=(?:%|[num]?s|min|[kMGT]?B)(?!\w))/g, "$1\u00a0");

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Attributes} [attributes] @param {(Child | readonly Child[])[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes = {}, ...children) {
  const el = document.createElement(tag);
  setAll(el, attributes);
  add(el, ...(tag === "p" || tag === "b" ? children.flat().map((c) => (typeof c === "string" ? tied(c) : c)) : children));
  return el;
}

/**
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {Child[]} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  const el = /** @type {SVGElementTagNameMap[K]} */ (document.createElementNS(SVG, tag));
  setAll(el, attributes);
  add(el, ...children);
  return el;
}

/**
 * A button with what it does.
 * @param {string} label
 * @param {() => void} act
 * @param {Attributes} [attributes]
 */
export function button(label, act, attributes = {}) {
  const b = h("button", { type: "button", class: "btn", ...attributes }, label);
  b.addEventListener("click", act);
  return b;
}

/** @param {string} cls chip class @param {string} word */
export const chip = (cls, word) => h("span", { class: `chip ${cls}` }, word);

/** A message as it was written: what is in backticks is code. @param {string} text @returns {Child[]} */
export function prose(text) {
  return text.split(/`([^`]+)`/).map((t, i) => (i % 2 ? h("code", {}, t) : t));
}

/** A sentence: its claim in bold, intervals in grey. @param {readonly import("../model/sentence.js").Part[]} parts */
export const spoken = (parts) =>
  parts.map(({ text, as }) => (as === "claim" ? h("b", {}, unbroken(text)) : as === "interval" ? h("span", { class: "ci" }, text) : unbroken(text)));

/** A figure of the findings with its interval. @param {import("../api/report.js").ReportFigure} f @returns {Child[]} */
export const figure = (f) => [h("span", { class: "num-strong" }, f.text), ...ci(intervalOf(f))];

/** Interval in grey, with its space; nothing where there is none. @param {string} text @returns {Child[]} */
export const ci = (text) => (text ? [" ", h("span", { class: "ci" }, text)] : []);

/**
 * A table that may scroll sideways, in a region that the keyboard reaches.
 * @param {string} name
 * @param {HTMLTableElement | SVGSVGElement} table
 */
export function scroller(name, table) {
  return h("div", { class: "scroll", role: "region", "aria-label": name, tabindex: 0 }, table);
}

/** A head as a button that explains its term; as it is where there is nothing to explain. @param {string} text */
function explained(text) {
  const term = termOf(text);
  if (!term) return text;
  const word = button(text, () => toggleTerm(word, GLOSSARY[term]), { class: "term", "aria-expanded": "false", "aria-controls": "term", "aria-describedby": "term" });
  return word;
}

/**
 * A table's head: a text, or content with its class and the name that is spoken for a drawing.
 * @param {readonly (string | [Child, string?, string?])[]} cells
 */
export function headRow(cells) {
  const row = h("tr");
  for (const cell of cells) {
    const [content, cls, spoken] = Array.isArray(cell) ? cell : [cell];
    const name = spoken ? h("span", { class: "vh" }, spoken) : null;
    add(row, h("th", { scope: "col", class: cls || null }, typeof content === "string" ? explained(content) : content, name));
  }
  return h("thead", {}, row);
}

/**
 * A section: heading, a note beside it, and what can be done at its right.
 * @param {string} title
 * @param {Child} note
 * @param {Child | readonly Child[]} acts
 * @param {(Child | readonly Child[])[]} children
 */
export function section(title, note, acts, ...children) {
  const head = h("header", {}, h("h2", {}, title), note ? h("p", {}, note) : null);
  if (acts) add(head, h("div", { class: "acts" }, acts));
  return h("section", { class: "sec", "aria-label": title }, head, ...children);
}

/**
 * A state: what happened, and what to do next.
 * @param {Child | readonly Child[]} title
 * @param {(Child | readonly Child[])[]} children
 */
export function stateWell(title, ...children) {
  return h("div", { class: "well gap" }, h("div", { class: "state" }, h("h2", {}, title), ...children));
}

/**
 * Buttons of which one is pressed.
 * @param {string} name
 * @param {Record<string, string>} options labels by key
 * @param {string} now
 * @param {(key: string) => void} choose
 */
export function segmented(name, options, now, choose) {
  const el = h("div", { class: "seg", role: "group", "aria-label": name });
  for (const [key, label] of Object.entries(options)) {
    const b = button(label, () => {
      press(el, key);
      choose(key);
    });
    b.dataset.key = key;
    add(el, b);
  }
  press(el, now);
  return el;
}

/**
 * Shows one of a group's buttons as pressed.
 * @param {HTMLElement} group
 * @param {string} key
 */
export function press(group, key) {
  for (const b of group.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.key === key));
}

/**
 * @param {readonly {value: string, label: string}[]} options
 * @param {string} now
 * @param {Attributes} attributes
 * @param {(value: string) => void} [change]
 */
export function select(options, now, attributes, change) {
  const el = h(
    "select",
    { class: "field", ...attributes },
    options.map((o) => h("option", { value: o.value }, o.label)),
  );
  el.value = now;
  if (change) el.addEventListener("change", () => change(el.value));
  return el;
}

/**
 * A link that saves text as a file.
 * @param {string} label
 * @param {string} name
 * @param {string} type
 * @param {() => string} text
 */
export function download(label, name, type, text) {
  return button(label, () => save(name, new Blob([text()], { type })));
}

/** As a file of the user's. @param {string} name @param {Blob} content */
export function save(name, content) {
  const url = URL.createObjectURL(content);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/**
 * Puts text on the clipboard and says so on the button.
 * @param {() => string} text
 * @param {string} [name] where "Copy" alone does not say of what
 */
export function copyButton(text, name) {
  const b = button(
    "Copy",
    async () => {
      let done = false;
      try {
        await navigator.clipboard.writeText(text());
        done = true;
      } catch {
        /* refused, or not a secure origin */
      }
      b.textContent = done ? "Copied" : "Copy it by hand";
      setTimeout(() => {
        b.textContent = "Copy";
      }, 2000);
    },
    name ? { "aria-label": name } : {},
  );
  return b;
}

/** Once what is in the page has been painted; a page that nobody sees is not, and does not wait long. */
export const painted = () =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });

/**
 * Of what is about to be made again: gives the focus back to the control of the same label, with its caret.
 * @param {HTMLElement} el @returns {() => void}
 */
export function focusKept(el) {
  const held = /** @type {HTMLInputElement | null} */ (el.contains(document.activeElement) ? document.activeElement : null);
  const label = held?.getAttribute("aria-label");
  const caret = held?.selectionStart ?? null;
  return () => {
    const now = /** @type {HTMLInputElement | null} */ (label && el.querySelector(`[aria-label="${CSS.escape(label)}"]`));
    now?.focus();
    if (now && caret !== null && now.setSelectionRange) now.setSelectionRange(caret, caret);
  };
}

/** Speaks one sentence to a screen reader. @param {string} text */
export function say(text) {
  const live = document.getElementById("live");
  if (live && live.textContent !== text) live.textContent = text;
}

/** A style sheet that few pages need, once. @param {string} name of a file in css/ */
export function loadStyle(name) {
  const href = asset(`css/${name}.css`);
  if (document.querySelector(`link[href="${place(href)}"]`)) return Promise.resolve();
  const link = h("link", { rel: "stylesheet", href });
  const ready = new Promise((done) => {
    for (const event of ["load", "error"]) link.addEventListener(event, done, { once: true });
  });
  document.head.append(link);
  return ready;
}

/** Tokens by theme and name: a canvas asks for hundreds a frame, and a style is dear to compute. @type {Map<string, string>} */
const tokens = new Map();

/** The value of a CSS token; tokens differ by nothing but the theme. @param {string} name */
export function token(name) {
  const root = document.documentElement;
  const key = `${root.dataset.theme} ${name}`;
  const known = tokens.get(key) ?? getComputedStyle(root).getPropertyValue(name).trim();
  if (known) tokens.set(key, known); // none before the styles are there
  return known;
}

/** @param {string} text @param {string} [cls] */
export const toast = (text, cls = "toast") => {
  const place = document.getElementById("toasts");
  const t = h("div", { class: cls }, h("span", {}, text));
  place?.replaceChildren(t);
  setTimeout(() => t.remove(), 6000);
};
