// js/view/heat_keys.js -- a table of coloured cells, each with something to open: the arrow keys go from cell to cell, and
// what a cell says stands below the table.

import { press, segmented } from "./dom.js";

/** What is opened in a cell. @param {EventTarget | null} at @param {string} what */
const opened = (at, what) => (at instanceof HTMLElement ? at.closest(`td ${what}`) : null);

/** To the next cell that way that has something to open. @param {KeyboardEvent} e @param {string} what */
function step(e, what) {
  const way = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[e.key];
  const td = opened(e.target, what)?.closest("td");
  const tr = td?.closest("tr");
  const body = tr?.parentElement;
  if (!way || !td || !tr || !(body instanceof HTMLTableSectionElement)) return;
  e.preventDefault();
  let [row, col] = [tr.sectionRowIndex + way[0], td.cellIndex + way[1]];
  for (let to; (to = body.rows[row]?.cells[col]) && to.tagName === "TD"; row += way[0], col += way[1]) {
    const next = /** @type {HTMLElement | null} */ (to.querySelector(what));
    if (next) return next.focus();
  }
}

/**
 * Gives the table its keys and its line below; the switch between colours and plain figures.
 * @param {HTMLTableElement} table @param {HTMLElement} tip @param {string} what a cell has to open: "a" or "button"
 */
export function heatKeys(table, tip, what) {
  for (const kind of ["focusin", "mouseover"])
    table.addEventListener(kind, (e) => {
      const of = opened(e.target, what);
      if (of) tip.textContent = of.getAttribute("aria-label");
    });
  table.addEventListener("keydown", (e) => step(e, what));
  const views = segmented("Show the map as", { map: "Map", table: "Table" }, "map", (v) => {
    press(views, v);
    table.classList.toggle("plain", v === "table");
  });
  return views;
}
