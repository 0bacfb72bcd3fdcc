// js/view/timeline_tables.js -- the numbers of what is selected, or in sight: by kind, by lane, by
// kernel, and as a list of events.

import { h, add, button, headRow, scroller } from "./dom.js";
import { kindName, lineLinks, nameOf } from "./timeline_slice.js";
import { count, duration, number, plural, shares, shareText, timeUnit } from "../model/format.js";
import { keyOf, placesOf } from "../model/places.js";
import { byKind, DEVICE_KINDS } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */
/** @typedef {import("../model/timeline.js").View} View */
/** @typedef {import("../model/timeline.js").Total} Total */
/** @typedef {import("../model/timeline.js").LaneTotal} LaneTotal */
/** @typedef {import("./timeline.js").Asked} Asked */

/**
 * @typedef {object} Scope what the tables are of
 * @property {number} t0
 * @property {number} t1
 * @property {boolean} selected else it is what is in sight
 * @property {readonly Total[]} totals
 * @property {readonly LaneTotal[]} lanes
 * @property {View} view that has the names, and rows of it
 */

const MOST_ROWS = 50;
const MOST_LISTED = 200;

/** @param {string} kind */
export const swatch = (kind) => h("i", { class: `t-${kind}`, "aria-hidden": "true" });

/** @param {string} text */
const cell = (text) => h("td", { class: "r" }, text);

/** @param {HTMLElement} place @param {Scope} scope @param {() => void} clear */
export function fillTotals(place, { t0, t1, selected, totals, view }, clear) {
  const length = t1 - t0;
  const { rows, whole, calls, beside } = byKind(totals, length);
  const parts = shares(rows.map((r) => r.sum), whole);
  const unit = timeUnit([whole / 1000]);
  const us = (/** @type {number} */ ns) => number(ns / 1000 / unit.scale);
  const body = h("tbody");
  rows.forEach((r, i) => {
    const name = r.kind === "rest" ? "Rest" : kindName(view, r.kind);
    const key = h("span", { class: "key" }, swatch(r.kind), name);
    add(body, h("tr", {}, h("th", { scope: "row" }, key), cell(r.count ? count(r.count) : ""), cell(us(r.sum)), cell(shareText(parts[i], r.sum))));
  });
  const last = beside ? "All lanes" : calls ? plural(calls, "call") : selected ? "Selection" : "Visible range";
  add(body, h("tr", { class: "total" }, h("th", { scope: "row" }, last), cell(""), cell(us(whole)), cell("100 %")));
  const head = headRow(["Time of", ["Count", "r"], [`Sum, ${unit.name}`, "r"], ["Share", "r"]]);
  const title = h("header", { class: "bar" }, h("h3", {}, selected ? "Selection" : "Visible range"), h("span", { class: "sub small" }, duration(length / 1000)));
  if (selected) add(title, h("div", { class: "acts" }, button("Clear", clear, { "aria-label": "Clear the selection" })));
  place.replaceChildren(title, scroller("Time by kind", h("table", {}, head, body)));
}

/** @param {HTMLElement} place @param {Scope} scope @param {Asked} asked */
export function fillKernels(place, { totals, view }, asked) {
  const kernels = totals.filter((t) => DEVICE_KINDS.includes(t.kind));
  const all = kernels.reduce((n, t) => n + t.sum, 0);
  const unit = timeUnit(kernels.map((t) => t.sum / 1000));
  const parts = shares(kernels.map((t) => t.sum), all);
  const body = h("tbody");
  kernels.slice(0, MOST_ROWS).forEach((t, i) => {
    const name = h("th", { scope: "row" }, h("span", { class: "key name" }, swatch(t.as ?? t.kind), h("span", {}, nameOf(view, t))));
    const places = placesOf(view.names[t.name]?.lines, view.names[t.name]?.files);
    const at = places.length ? h("td", {}, lineLinks(places.slice(0, 3), asked)) : h("td", { class: "dim" }, "unknown");
    add(body, h("tr", { data: { lines: places.map(keyOf).join(" ") } }, name, at, cell(count(t.count)), cell(number(t.sum / 1000 / unit.scale)), cell(shareText(parts[i], t.sum))));
  });
  const head = headRow(["Kernel", "Line", ["Count", "r"], [`Sum, ${unit.name}`, "r"], ["Share", "r"]]);
  const title = h("header", { class: "bar" }, h("h3", {}, "Kernels"), h("span", { class: "sub small" }, plural(kernels.length, "name")));
  place.replaceChildren(title, scroller("Kernels in the visible range", h("table", { class: "kernels" }, head, body)));
  if (!kernels.length) place.replaceChildren(title, h("p", { class: "sub" }, "None ran in this part of the timeline."));
  if (kernels.length > MOST_ROWS)
    add(place, h("p", { class: "small sub" }, `${plural(kernels.length - MOST_ROWS, "more name")} with less time.`));
}

/** @param {View} view @param {import("../model/timeline.js").LaneInfo} lane */
function laneName(view, lane) {
  const several = new Set(view.lanes.map((l) => l.pid)).size > 1;
  return lane.name[0].toUpperCase() + lane.name.slice(1) + (several && lane.pid !== undefined ? ` (${lane.rank === lane.pid ? "rank " : ""}${lane.pid})` : "");
}

/** What each lane ran: sums count what overlaps twice, unions once. @param {HTMLElement} place @param {Scope} scope */
export function fillLanes(place, { t0, t1, lanes, view }) {
  const busy = lanes.filter((l) => l.count > 0);
  const unit = timeUnit(busy.map((l) => l.sum / 1000));
  const us = (/** @type {number} */ ns) => number(ns / 1000 / unit.scale);
  const body = h("tbody");
  const least = (/** @type {{atLeast?: boolean}} */ l) => (l.atLeast ? "at least " : "");
  for (const l of busy.slice(0, MOST_ROWS)) {
    const share = t1 > t0 ? Math.round((100 * l.union) / (t1 - t0)) : 0;
    add(body, h("tr", {}, h("th", { scope: "row" }, laneName(view, l.lane)), cell(count(l.count)), cell(us(l.sum)), cell(`${least(l)}${us(l.union)}`), cell(`${least(l)}${shareText(share, l.union)}`)));
  }
  const head = headRow(["Lane", ["Events", "r"], [`Sum, ${unit.name}`, "r"], [`Union, ${unit.name}`, "r"], ["Of the time", "r"]]);
  const title = h("header", { class: "bar" }, h("h3", {}, "Lanes"), h("span", { class: "sub small" }, plural(busy.length, "lane")));
  place.replaceChildren(title, busy.length ? scroller("Lanes", h("table", {}, head, body)) : h("p", { class: "sub" }, "Nothing ran."));
  if (busy.length > MOST_ROWS) add(place, h("p", { class: "small sub" }, `${plural(busy.length - MOST_ROWS, "more lane")} of this run.`));
  if (busy.some((l) => l.atLeast)) add(place, h("p", { class: "small sub" }, "At least: some events came far out of order, so that overlaps before them are not known; a shorter window is exact."));
}

/**
 * The events one below the other, for who does not see the canvas: the longest where there are many.
 * @param {HTMLElement} place @param {Scope} scope @param {(slice: Slice) => void} go
 */
export function fillList(place, { t0, t1, lanes, view }, go) {
  const inside = view.slices.filter((s) => !["counter", "flow"].includes(s.kind) && s.start <= t1 && s.start + s.duration >= t0);
  const listed = [...inside].sort((a, b) => b.duration - a.duration).slice(0, MOST_LISTED).sort((a, b) => a.start - b.start);
  const unit = timeUnit(listed.map((s) => s.duration / 1000));
  const at = timeUnit([(t1 - t0) / 1000]);
  const body = h("tbody");
  for (const s of listed) {
    const lane = view.lanes.find((l) => l.id === s.lane);
    const name = button(nameOf(view, s), () => go(s), { class: "btn link" });
    add(body, h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, lane ? laneName(view, lane) : ""), h("td", {}, kindName(view, s.as)),
      cell(number(Math.max(0, s.start - t0) / 1000 / at.scale)), cell(number(s.duration / 1000 / unit.scale))));
  }
  const head = headRow(["Event", "Lane", "Kind", [`Start, ${at.name}`, "r"], [`Duration, ${unit.name}`, "r"]]);
  const all = lanes.reduce((n, l) => n + l.count, 0);
  const most = listed.length < inside.length || view.sampled;
  const of = most ? `The longest ${count(listed.length)}, of ${plural(all, "event")} and what is idle between them` : `${plural(listed.length, "event")}, idle time too`;
  place.replaceChildren(h("p", { class: "small sub" }, `${of}; starts count from ${duration(t0 / 1000)}.`), scroller("Events", h("table", { class: "kernels" }, head, body)));
}
