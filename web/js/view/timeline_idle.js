// js/view/timeline_idle.js -- time in which a device ran nothing: hatched in the
// colour of its cause on the canvas, and its table.

import { h, add, headRow, scroller, token } from "./dom.js";
import { count, duration, number, plural, shares, shareText, timeUnit } from "../model/format.js";
import { causeOf, idleRows } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").View} View */
/** @typedef {import("../model/timeline.js").Total} Total */
/** @typedef {import("../model/timeline.js").Slice} Slice */

/** Token of each cause; the classes i-* have the same. @type {Record<string, string>} */
const COLOURS = {
  wait: "--k-library",
  compile: "--k-compile",
  break: "--c-break",
  guards: "--k-guards",
  launch: "--k-launch",
  alloc: "--k-alloc",
  dispatch: "--k-eager",
  piece: "--c-fused",
};
const STRIPE = 6;
const LABELLED = 24; // no time is shorter
/** By so much it is lower than what runs, above and below. */
const INSET = 10;

/** Less in a folded lane. @param {{height: number}} row */
export const insetOf = (row) => Math.min(INSET, row.height / 2 - 4);

/** The colour of a gap. @param {View} view @param {Slice} e */
export const idleToken = (view, e) => COLOURS[causeOf(view, e)] ?? "--edge";

/** Stripes at 45 degrees, which go on from one gap to the next.
 * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} width @param {number} height */
function hatch(g, x, y, width, height) {
  g.beginPath();
  for (let at = Math.ceil((x + y) / STRIPE) * STRIPE; at < x + width + y + height; at += STRIPE) {
    const [left, right] = [Math.max(x, at - y - height), Math.min(x + width, at - y)];
    g.moveTo(left, at - left);
    g.lineTo(right, at - right);
  }
  g.stroke();
}

/**
 * A gap, lower than what runs; its time where there is room.
 * @param {CanvasRenderingContext2D} g @param {View} view @param {Slice} e @param {number} x @param {number} width
 * @param {{y: number, height: number}} row @param {boolean} pointed @param {[number, number]} sight where a label may be
 */
export function drawIdle(g, view, e, x, width, row, pointed, sight) {
  const colour = token(idleToken(view, e));
  const inset = insetOf(row);
  const [y, height] = [row.y + inset, row.height - 2 * inset];
  const alpha = g.globalAlpha;
  if (width > 4) {
    const [from, to] = [Math.max(x, sight[0]), Math.min(x + width, sight[1])];
    g.strokeStyle = colour;
    g.lineWidth = 1.2;
    if (to > from) hatch(g, from, y, to - from, height);
    g.strokeStyle = pointed ? token("--ink") : colour;
    g.lineWidth = pointed ? 2 : 1;
    g.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    g.lineWidth = 1;
  } else {
    g.fillStyle = colour;
    g.globalAlpha = alpha / 2;
    g.fillRect(x, y, width, height);
    g.globalAlpha = alpha;
  }
  if (width < LABELLED || height < 14) return;
  const text = duration(e.duration / 1000);
  g.font = `600 11px ${token("--font-ui")}`;
  const [from, to, room] = [Math.max(x, sight[0]), Math.min(x + width, sight[1]), g.measureText(text).width + 8];
  if (to - from < room + 10) return;
  const left = (from + to - room) / 2;
  g.fillStyle = token("--well");
  g.fillRect(left, y + 3, room, height - 6);
  g.fillStyle = token("--ink2");
  g.fillText(text, left + 4, y + height / 2 + 0.5);
}

/** @param {string} cause */
export const idleSwatch = (cause) => h("i", { class: `i-idle i-${cause}`, "aria-hidden": "true" });

/** @param {string} text */
const cell = (text) => h("td", { class: "r" }, text);

/**
 * What the devices waited for in sight: causes and what ran add up to their time.
 * @param {HTMLElement} place @param {readonly Total[]} totals @param {number} length ns @param {View} view
 */
export function fillIdle(place, totals, length, view) {
  const { devices, late, left_out: leftOut } = view.idle;
  const title = h("header", { class: "bar" }, h("h3", {}, "Idle by cause"));
  if (!devices) return place.replaceChildren(title, h("p", { class: "sub" }, "No device ran anything in this recording."));
  const { rows, idle, busy, whole } = idleRows(totals, view, length);
  if (devices > 1) add(title, h("span", { class: "sub small" }, plural(devices, "device")));
  const parts = shares([...rows.map((r) => r.sum), busy], whole);
  const unit = timeUnit([whole / 1000]);
  const us = (/** @type {number} */ ns) => number(ns / 1000 / unit.scale);
  const body = h("tbody");
  rows.forEach((r, i) => {
    const key = h("span", { class: "key" }, idleSwatch(r.cause), r.name);
    add(body, h("tr", {}, h("th", { scope: "row" }, key), cell(count(r.count)), cell(us(r.sum)), cell(shareText(parts[i], r.sum))));
  });
  const share = parts.slice(0, -1).reduce((a, b) => a + b, 0);
  add(body, h("tr", { class: "total" }, h("th", { scope: "row" }, "Device idle"), cell(""), cell(us(idle)), cell(shareText(share, idle))));
  add(body, h("tr", {}, h("th", { scope: "row" }, "Device busy"), cell(""), cell(us(busy)), cell(shareText(parts.at(-1) ?? 0, busy))));
  const head = headRow(["What the host did", ["Gaps", "r"], [`Idle, ${unit.name}`, "r"], ["Share", "r"]]);
  place.replaceChildren(title, scroller("Idle by cause", h("table", { class: "idle" }, head, body)));
  const watching = view.idle.watching_ns / Math.max(1, view.t1 - view.t0);
  const said = [
    watching > 0.01 ? `Recording itself takes about ${Math.round(watching * 100)} % of this recording, between kernels.` : "",
    late ? `${plural(late, "event")} came too late in the recording to be assigned to a gap.` : "",
    leftOut ? `Lanes of further devices are not in these sums: ${count(leftOut)}.` : "",
  ].filter(Boolean);
  if (said.length) add(place, h("p", { class: "small sub" }, said.join(" ")));
}
