// js/view/ledger.js -- what an import lost, repaired or kept although it is doubtful: over the charts of every
// view of its run.

import { h, headRow, scroller } from "./dom.js";
import { ledgerOf, ledgerRows, ledgerSums } from "../model/ledger.js";
import { count } from "../model/format.js";

/**
 * One line, which opens to the rows; null of a run that came from no file.
 * @param {import("../api/types.js").Run} run
 */
export function ledgerNote(run) {
  const ledger = ledgerOf(run);
  if (!ledger) return null;
  const rows = ledgerRows(ledger);
  const name = h("b", {}, "Loss ledger");
  if (!rows.length) return h("p", { class: "lost" }, name, " of the import: no record was dropped, repaired or doubtful.");
  const sums = ledgerSums(ledger);
  const words = [sums.dropped ? `${count(sums.dropped)} dropped` : "", sums.repaired ? `${count(sums.repaired)} repaired` : "", sums.kept ? `${count(sums.kept)} kept but doubtful` : ""];
  const body = rows.map((r) => h("tr", {}, h("th", { scope: "row" }, r.what), h("td", {}, r.fate), h("td", { class: "r" }, count(r.n))));
  const table = h("table", {}, headRow(["What", "Fate", ["Count", "r"]]), h("tbody", {}, body));
  return h("details", { class: "lost" }, h("summary", {}, name, ` of the import: ${words.filter(Boolean).join(", ")}`), scroller("Loss ledger, table", table));
}
