// js/view/timeline_groups.js -- what a part of a timeline sums up to, by name, op, line or kernel: the server
// adds up all of its events.  A row shows its own on the canvas.

import { h, add, button, scroller, segmented } from "./dom.js";
import { fillIn } from "./waiting.js";
import { swatch } from "./timeline_tables.js";
import { fileUrl, getGroups } from "../api/client.js";
import { count, duration, number, plural, shares, shareText, timeUnit } from "../model/format.js";
import { partOf } from "../model/timeline.js";

/** @typedef {import("../api/client.js").Groups} Groups */
/** @typedef {import("./timeline.js").Asked} Asked */

/** @type {Record<string, string>} */
const BY = { name: "Name", op: "Op", line: "Line", kernel: "Kernel" };
const SORTS = [["count", "Count"], ["sum", "Sum"], ["mean", "Mean"], ["max", "Longest"]];
const MOST_CSV = 10000;

/** The section of a page: a fold whose table is asked for while it is open. */
export class GroupsTable {
  #asked;
  #place;
  #light;
  #by = "name";
  #sort = "sum";
  #range = { t0: 0, t1: 0 };
  #turn = 0;
  /** @type {string | null} the row whose events are lit */
  #lit = null;

  /** @param {Asked} asked @param {HTMLElement} place @param {(names: Set<number> | null) => void} light */
  constructor(asked, place, light) {
    this.#asked = asked;
    this.#place = place;
    this.#light = light;
  }

  /** @param {{t0: number, t1: number}} range */
  show(range) {
    this.#range = { t0: Math.floor(range.t0), t1: Math.ceil(range.t1) };
    const turn = ++this.#turn;
    const { run, signal } = this.#asked;
    return fillIn(this.#place, { what: "The groups", signal, still: () => turn === this.#turn }, () => getGroups(String(run.id), this.#params(), signal), (groups) => this.#fill(groups));
  }

  #params() {
    return { ...partOf(this.#asked), ...this.#range, by: this.#by, sort: this.#sort };
  }

  #again() {
    this.#lit = null;
    this.#light(null);
    return this.show(this.#range);
  }

  /** @param {string} key @param {string} title */
  #head(key, title) {
    const b = button(title, () => {
      this.#sort = key;
      this.#again();
    }, { class: "sort" });
    return h("th", { scope: "col", class: "r", ...(this.#sort === key ? { "aria-sort": "descending" } : {}) }, b);
  }

  /** @param {Groups} groups */
  #fill(groups) {
    const at = /** @type {HTMLElement | null} */ (document.activeElement)?.textContent;
    const inside = this.#place.contains(document.activeElement);
    const unit = timeUnit(groups.rows.map((r) => r.sum_ns / 1000));
    const time = (/** @type {number} */ ns) => h("td", { class: "r" }, number(ns / 1000 / unit.scale));
    const parts = shares(groups.rows.map((r) => r.sum_ns), groups.sum_ns);
    const body = h("tbody");
    groups.rows.forEach((r, i) => {
      const key = `${r.as} ${r.text}`;
      const lit = button(r.text || "unnamed", () => this.#turnLight(key, r.names), { class: "btn link", "aria-pressed": String(this.#lit === key), title: "Show its events alone" });
      add(body, h("tr", { data: { key } }, h("th", { scope: "row" }, h("span", { class: "key name" }, swatch(r.as), lit)), h("td", { class: "r" }, count(r.count)), time(r.sum_ns), time(r.mean_ns), time(r.max_ns), h("td", { class: "r" }, shareText(parts[i], r.sum_ns))));
    });
    const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, BY[this.#by]), SORTS.map(([key, text]) => this.#head(key, key === "count" ? text : `${text}, ${unit.name}`)), h("th", { scope: "col", class: "r" }, "Share")));
    const csv = `${fileUrl(String(this.#asked.run.id), "timeline/groups")}?${new URLSearchParams(Object.entries({ ...this.#params(), format: "csv", limit: MOST_CSV }).map(([k, v]) => [k, String(v)]))}`;
    const rest = groups.left_out.groups ? `, ${plural(groups.left_out.groups, "more group")} with ${duration(groups.left_out.sum_ns / 1000)}` : "";
    const several = groups.rows.reduce((n, r) => n + r.count, groups.left_out.count) > groups.events ? " What has several counts for each of them." : "";
    const seg = segmented("Grouped by", BY, this.#by, (by) => {
      this.#by = by;
      this.#again();
    });
    this.#place.replaceChildren(
      h("div", { class: "bar" }, seg, h("span", { class: "sub small" }, `${plural(groups.groups, "group")} of ${plural(groups.events, "event")}, ${duration(groups.sum_ns / 1000)}${rest}.${several}`), h("div", { class: "acts" }, h("a", { class: "btn", href: csv, download: "" }, "CSV"))),
      groups.rows.length ? scroller("Grouped events", h("table", { class: "kernels groups" }, head, body)) : h("p", { class: "sub" }, "Nothing that takes time lies in this part of the timeline."));
    if (inside) /** @type {HTMLElement | undefined} */ ([...this.#place.querySelectorAll("button")].find((b) => b.textContent === at))?.focus();
  }

  /** @param {string} key @param {number[]} names */
  #turnLight(key, names) {
    this.#lit = this.#lit === key ? null : key;
    this.#light(this.#lit ? new Set(names) : null);
    for (const tr of this.#place.querySelectorAll("tr[data-key]"))
      tr.querySelector("button")?.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (tr).dataset.key === this.#lit));
  }
}
