// js/view/timeline_slice.js -- what is known of one slice: its panel and its tip.

import { h, add } from "./dom.js";
import { viewUrl } from "./joined.js";
import { bytes, duration, list, number, plural } from "../model/format.js";
import { placeOf, placesOf, placeText } from "../model/places.js";
import { DEVICE_KINDS, KIND_NAMES, partner, valueOf } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */
/** @typedef {import("../model/timeline.js").View} View */
/** @typedef {import("../model/timeline.js").Total} Total */
/** @typedef {import("./timeline.js").Asked} Asked */

/** @param {View} view @param {Slice | Total} of */
export const nameOf = (view, of) => `${of.kind === "idle" ? "idle: " : ""}${view.names[of.name]?.name ?? of.kind}`;

/** What another program launches is not known to be fused. @param {View} view @param {string} kind */
export const kindName = (view, kind) => (view.facts.processes && kind === "kernel" ? "Kernels" : KIND_NAMES[kind] ?? kind);

/** @param {readonly import("../model/places.js").Place[]} places @param {Asked} asked */
export function lineLinks(places, { run }) {
  return places.flatMap((p, i) => [
    i ? ", " : "",
    h("a", { href: viewUrl(run, "source", placeOf(p)) }, p.file && places[i - 1]?.file !== p.file ? placeText(p) : String(p.line)),
  ]);
}

/** @param {HTMLElement} place @param {Slice | null} slice @param {View} view @param {Asked} asked
 * @param {Slice | null} other the end of its arrow that the view has no row for */
export function fillSlice(place, slice, view, asked, other) {
  const title = h("header", { class: "bar" }, h("h3", {}, slice ? nameOf(view, slice) : "Selected event"));
  if (!slice) return place.replaceChildren(title, h("p", { class: "sub" }, "Point at an event, or step through events with the full stop and comma keys."));
  const info = view.names[slice.name] ?? { name: "" };
  const launch = partner(view.slices, slice, view.lanes) ?? other;
  /** @type {[string, import("./dom.js").Child | import("./dom.js").Child[]][]} */
  const facts = [
    ["Kind", kindName(view, slice.as)],
    ["Start", duration(slice.start / 1000)],
    ["Duration", duration(slice.duration / 1000)],
  ];
  if (slice.kind === "counter") facts.push(["Value", sampleText(view, slice)]);
  if (slice.events > 1) facts.push(["Stands for", `${plural(slice.events, "event")}, the ${slice.kind === "counter" ? "largest" : "longest"}`]);
  if (launch && DEVICE_KINDS.includes(slice.kind))
    facts.push(["Launched", `${duration(Math.max(0, slice.start - launch.start) / 1000)} before`]);
  if (info.ops?.length) facts.push(["Ops", list(info.ops)]);
  if (info.lines?.length) facts.push(["Line", lineLinks(placesOf(info.lines, info.files), asked)]);
  if (info.graph !== undefined) facts.push(["Graph", [info.graph, [info.frame, info.compile].filter(Boolean).join(" ")].filter((t) => t !== "").join(", ")]);
  if (info.kernels) facts.push(["Kernels in it", String(info.kernels)]);
  if (info.read_bytes) facts.push(["Reads, writes", `${bytes(info.read_bytes)}, ${bytes(info.written_bytes ?? 0)}`]);
  if (info.why) facts.push(["Own kernel because", info.why]);
  if (info.symbol) facts.push(["Symbol", info.symbol]);
  if (slice.bytes && slice.kind !== "counter") facts.push(["Bytes", bytes(slice.bytes)]);
  const shape = view.shapes[slice.shape];
  if (shape)
    facts.push(
      ["Grid, block", `${sides(shape.grid)}, ${sides(shape.block)}`],
      ["Registers, shared memory", `${shape.registers}, ${Number.isFinite(shape.static_bytes + shape.dynamic_bytes) ? bytes(shape.static_bytes + shape.dynamic_bytes) : "unknown"}`],
    );
  return place.replaceChildren(title, h("dl", { class: "kv" }, facts.flatMap(([t, d]) => [h("dt", {}, t), h("dd", {}, d)])));
}

/** @param {View} view @param {Slice} s */
const sampleText = (view, s) => (view.lanes.find((l) => l.id === s.lane)?.unit === "bytes" ? bytes : number)(valueOf(view, s));

/** @param {number[]} of */
const sides = (of) => of.join(" x ");

/** Repeats what the panel beside holds. @param {HTMLElement} tip @param {Slice | null} slice @param {View} view */
export function showTip(tip, slice, view) {
  tip.hidden = !slice;
  if (!slice) return;
  const info = view.names[slice.name] ?? { name: "" };
  const lines = info.lines?.length ? `, ${placesOf(info.lines, info.files).map(placeText).join(", ")}` : "";
  const ops = info.ops?.length ? h("div", { class: "dim" }, info.ops.slice(0, 12).join(", ") + (info.ops.length > 12 ? ", ..." : "")) : null;
  const value = slice.kind === "counter" ? `${sampleText(view, slice)} for ` : "";
  tip.replaceChildren(h("b", {}, nameOf(view, slice)), h("div", {}, `${value}${duration(slice.duration / 1000)}${lines}`));
  add(tip, ops);
}

/** @param {HTMLElement} tip @param {HTMLElement} canvas @param {PointerEvent} e */
export function placeTip(tip, canvas, e) {
  const box = canvas.getBoundingClientRect();
  const x = Math.min(e.clientX - box.left + 14, Math.max(0, box.width - tip.offsetWidth - 8));
  const below = e.clientY - box.top + 16;
  // Lanes that scroll cut off what stands out.
  const y = canvas.closest(".long") && below + tip.offsetHeight > box.height ? below - 24 - tip.offsetHeight : below;
  tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}
