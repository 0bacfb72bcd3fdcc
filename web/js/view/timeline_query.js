// js/view/timeline_query.js -- SQL over a run, beside its timeline: one SELECT, its rows, and what is wrong with it.

import { h, button, headRow, save, scroller } from "./dom.js";
import { failure } from "./waiting.js";
import { postQuery } from "../api/client.js";
import { count, plural } from "../model/format.js";

/** @typedef {import("./timeline.js").Asked} Asked */

const MOST_SHOWN = 200;
/** To begin with. */
const FIRST = `SELECT name, class, count(*) AS n, sum(duration_ns) / 1e3 AS us
FROM events
GROUP BY name, class
ORDER BY us DESC
LIMIT 20`;

/** @param {HTMLElement} place @param {Asked} asked @param {() => {t0: number, t1: number} | null} selection */
export function queryPanel(place, asked, selection) {
  const text = h("textarea", { class: "field code", rows: 5, "aria-label": "SQL", spellcheck: "false", autocomplete: "off", maxlength: 65536 }, FIRST);
  const within = h("input", { type: "checkbox" });
  const told = h("p", { class: "sub small", role: "status" });
  const rows = h("div", { class: "fills" });
  /** @type {AbortController | null} of what is under way */
  let under = null;
  const body = () => {
    const { mode, n, clocks } = asked;
    const part = within.checked ? selection() : null;
    return { sql: text.value, ...(mode ? { mode } : {}), ...(n === null ? {} : { n }), ...(clocks ? { clocks } : {}), ...(part ? { t0: Math.floor(part.t0), t1: Math.ceil(part.t1) } : {}) };
  };
  /** @param {"json" | "csv"} format @param {(answer: any) => void} take */
  const ask = async (format, take) => {
    if (under) return;
    const own = (under = new AbortController());
    busy(true);
    told.textContent = "Reading the events.";
    try {
      take(await postQuery(String(asked.run.id), { ...body(), format, ...(format === "csv" ? { limit: 100000 } : {}) }, AbortSignal.any([asked.signal, own.signal])));
    } catch (e) {
      if (own.signal.aborted) told.textContent = "Cancelled.";
      else if (!asked.signal.aborted) wrong(/** @type {import("../api/client.js").ApiError} */ (e), () => ask(format, take));
    }
    under = null;
    busy(false);
  };
  /** While it runs the button ends it. @param {boolean} on */
  const busy = (on) => {
    csv.disabled = on;
    run.textContent = on ? "Cancel" : "Run";
    if (on) rows.setAttribute("aria-busy", "true");
    else rows.removeAttribute("aria-busy");
  };
  /** What is wrong with the statement has its place; what else went wrong may go well again. @param {import("../api/client.js").ApiError} e @param {() => void} again */
  const wrong = (e, again) => {
    const { line, column } = e.problem ?? {};
    told.textContent = line ? `Line ${line}, column ${column}: ${e.message}` : "";
    rows.replaceChildren(...(line ? [] : [failure("The rows", e, again)]));
    if (line) point(line, column ?? 1);
  };
  /** @param {number} line @param {number} column */
  const point = (line, column) => {
    const at = text.value.split("\n").slice(0, line - 1).reduce((n, l) => n + l.length + 1, column - 1);
    text.focus();
    text.setSelectionRange(at, at + 1);
  };
  const run = /** @type {HTMLButtonElement} */ (button("Run", () => (under ? under.abort() : ask("json", fill)), { class: "btn primary", title: "Ctrl and Enter" }));
  const csv = /** @type {HTMLButtonElement} */ (button("CSV", () => ask("csv", (answer) => {
    save(`run_${asked.run.id}_query.csv`, new Blob([answer], { type: "text/csv" }));
    const cut = String(answer).match(/\n# cut by (rows|bytes)\r?\n$/)?.[1];
    told.textContent = cut ? `Saved, but not whole: ${cut === "rows" ? "100,000 rows are the most that an answer has" : "an answer holds no more bytes"}; the last line says so.` : "Saved.";
  })));
  /** @param {import("../api/client.js").QueryAnswer} answer */
  const fill = (answer) => {
    const cut = answer.cut === "rows" ? ", the limit" : answer.cut === "bytes" ? ", as many as an answer holds" : "";
    const shown = answer.rows.slice(0, MOST_SHOWN);
    told.textContent = `${plural(answer.rows.length, "row")}${cut}${shown.length < answer.rows.length ? `, the first ${MOST_SHOWN} shown` : ""}, of ${plural(answer.events, "event")}.`;
    const cell = (/** @type {any} */ v) => (typeof v === "number" ? h("td", { class: "r" }, Number.isInteger(v) ? count(v) : String(Number(v.toPrecision(6)))) : h("td", { class: v === null ? "dim" : "" }, v === null ? "null" : h("span", { class: "clip", title: String(v) }, String(v))));
    const isNumber = (/** @type {number} */ i) => shown.some((r) => typeof r[i] === "number");
    rows.replaceChildren(shown.length ? scroller("Rows of the query", h("table", {}, headRow(answer.columns.map((c, i) => /** @type {any} */ (isNumber(i) ? [c || "?", "r"] : c || "?"))), h("tbody", {}, shown.map((r) => h("tr", {}, r.map(cell)))))) : "");
  };
  text.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    ask("json", fill);
  });
  place.replaceChildren(text, h("div", { class: "bar" }, h("label", { class: "check small" }, within, " what is selected, else in sight, alone"), h("a", { href: "/docs/query" }, "Tables"), h("div", { class: "acts" }, csv, run)), told, rows);
  text.focus();
}
