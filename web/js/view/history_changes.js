// js/view/history_changes.js -- the changes of a workload: what stepped, since when, and what people say of it.

import { h, add, button, chip, ci, headRow, scroller, section, spoken, toast } from "./dom.js";
import { patchChange } from "../api/client.js";
import { compareUrl } from "../model/compare.js";
import { date, plain, plural } from "../model/format.js";
import { chipClass, intervalOf } from "../model/sentence.js";

/** @typedef {import("../api/report.js").ReportHistoryChange} Change */
/** @typedef {import("../api/report.js").ReportChangeStep} Step */

/** @param {readonly Change[]} changes the newest first @param {() => Promise<void>} again */
export function changesSection(changes, again) {
  const open = changes.filter((c) => c.state === "open").length;
  const note = `the newest first; ${open ? `${open} not acknowledged` : "all are acknowledged"}`;
  const cards = h("div", { class: "changes", id: "history-changes" }, changes.map((c) => card(c, again)));
  return section("Changes", note, null, cards);
}

/** @param {Change} c @param {() => Promise<void>} again */
function card(c, again) {
  const commit = c.after.commit ? h("span", { class: "mono dim" }, ` ${c.after.commit.slice(0, 7)}`) : null;
  const state = c.state === "open" ? null : [" ", chip("plain", c.state)];
  const head = h("h3", {}, chip(chipClass(c.verdict), c.verdict), " ", h("a", { href: `/runs/${encodeURIComponent(c.after.run)}` }, `#${c.after.run}`), commit, c.branch ? h("span", { class: "dim" }, ` ${c.branch}`) : null, state);
  const which = h("span", { class: "vh" }, ` the change at #${c.after.run}`);
  const acts = h("div", { class: "acts" }, h("a", { class: "btn", href: compareUrl([String(c.before.run), String(c.after.run)]) }, `Compare #${c.before.run} and #${c.after.run}`));
  if (c.state !== "gone") {
    const done = c.state === "acknowledged";
    const b = button(done ? "Reopen" : "Acknowledge", () => (done ? save(c, { acknowledged: false }, again) : acknowledge(c, again)));
    add(b, which);
    add(acts, b);
  }
  const note = c.note ? h("p", { class: "said" }, c.note, c.note_by ? h("span", { class: "dim" }, ` ${c.note_by}`) : null) : null;
  return h("article", { class: `change ${c.state}`, data: { change: String(c.id) } }, head, h("p", {}, spoken(c.sentence)), h("p", { class: "how" }, c.how.join(" ")), note, suspects(c), steps(c), acts);
}

/** The commits between the runs of before and after. @param {Change} c */
function suspects(c) {
  if (!c.suspects.length) return null;
  const total = c.suspects_total ?? c.suspects.length;
  const rows = c.suspects.map((s) => h("li", {}, h("code", {}, s.id.slice(0, 7)), ` ${s.subject} `, h("span", { class: "dim" }, `${s.author}, ${date(s.committed_ns / 1e6)}`)));
  const left = total > c.suspects.length ? h("p", { class: "dim" }, `${total - c.suspects.length} older ones are not shown.`) : null;
  return h("details", { class: "suspects" }, h("summary", {}, plural(total, "suspect", "suspects")), h("ul", {}, rows), left);
}

/** @param {Change} c */
function steps(c) {
  const head = headRow(["Figure", "Verdict", ["Before", "r"], ["After", "r"], ["Change", "r"], ["Runs", "r"]]);
  const table = h("table", {}, h("caption", { class: "vh" }, `Figures that stepped at #${c.after.run}`), head, h("tbody", {}, c.steps.map(stepRow)));
  return h("details", {}, h("summary", {}, plural(c.steps.length, "figure", "figures")), scroller(`Figures that stepped at #${c.after.run}, table`, table));
}

/** @param {Step} s */
function stepRow(s) {
  const n = s.n === null ? "" : ` at n = ${plain(s.n)}`;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, `${s.mode} ${s.title}${n}`),
    h("td", {}, chip(chipClass(s.verdict), s.verdict)),
    h("td", { class: "r" }, s.old.shown.text),
    h("td", { class: "r" }, s.new.shown.text),
    h("td", { class: "r" }, h("span", { class: "num-strong" }, s.times.text), ...ci(intervalOf(s.times))),
    h("td", { class: "r sub" }, `${s.runs_before}, then ${s.runs_after}${s.ended ? ", ended" : ""}`),
  );
}

/** Asks for a note, which may stay empty. @param {Change} c @param {() => Promise<void>} again */
function acknowledge(c, again) {
  const text = h("textarea", { class: "field", maxlength: 1000, "aria-label": "Note" });
  text.value = c.note;
  const form = h("form", { method: "dialog", class: "noteform" }, h("h2", { id: "change-title" }, `Acknowledge the change at #${c.after.run}`), text);
  add(form, h("div", { class: "acts" }, h("button", { class: "btn primary", value: "save" }, "Acknowledge"), h("button", { class: "btn", value: "" }, "Cancel")));
  const d = h("dialog", { class: "ask", "aria-labelledby": "change-title" }, form);
  document.body.append(d);
  d.addEventListener("close", () => {
    if (d.returnValue === "save") save(c, { acknowledged: true, note: text.value }, again);
    d.remove();
  });
  d.showModal();
  text.focus();
}

/** @param {Change} c @param {{acknowledged?: boolean, note?: string}} said @param {() => Promise<void>} again */
async function save(c, said, again) {
  try {
    await patchChange(c.id, said);
    await again();
    toast(said.acknowledged ? `The change at #${c.after.run} is acknowledged.` : `The change at #${c.after.run} is open again.`);
  } catch (e) {
    toast(`The change at #${c.after.run} was not changed: ${e instanceof Error ? e.message : e}`);
  }
}
