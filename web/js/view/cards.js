// js/view/cards.js -- tables of many columns that a narrow window shows as cards, and long texts in them.
//
// In a card (css/suites.css) each cell says its column's name; nothing scrolls sideways.

import { h, add, button, prose } from "./dom.js";

/** A name for each column; "" where its cell speaks for itself. @param {HTMLTableElement} table */
const columnNames = (table) => [...(table.tHead?.rows[0].cells ?? [])].map((c) => (c.querySelector("svg") ? "" : (c.textContent ?? "").trim()));

/** The cells of rows that came after the table, too. @param {HTMLTableElement} table */
export function cards(table) {
  const names = columnNames(table);
  table.classList.add("cards");
  for (const row of table.tBodies[0].rows)
    for (const cell of row.cells) if (cell.tagName === "TD") cell.dataset.label ??= names[cell.cellIndex] ?? "";
  return table;
}

/** Policy and engine beside a mode, where their columns have no room. @param {{engine: string, policy: string}} c */
export const whoNarrow = (c) => h("span", { class: "who-narrow small sub" }, ` ${c.engine === "breakeven" ? "" : `${c.engine}, `}${c.policy}`);

/** As many characters as two lines of a table have room for. */
const SHORT_CHARS = 140;

/** A text of which a long one shows two lines, and all at a press. @param {string} text */
export function clamped(text) {
  const line = h("span", { class: "told" }, prose(text));
  if (text.length <= SHORT_CHARS && !text.includes("\n")) return line;
  const box = h("div", { class: "clamped" }, line);
  const more = button(
    "Read all",
    () => {
      const open = box.classList.toggle("open");
      more.setAttribute("aria-expanded", String(open));
      more.textContent = open ? "Show less" : "Read all";
    },
    { class: "btn link", "aria-expanded": "false" },
  );
  add(box, more);
  return box;
}
