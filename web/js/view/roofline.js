// js/view/roofline.js -- kernels under the roof that the speed of memory sets, as a chart.

import { chartFiles, ofElement } from "./chart_files.js";
import { h, scroller, svg } from "./dom.js";
import { bytes, number, plain } from "../model/format.js";
import { copyOf, roofline } from "../model/roofline.js";

/** @typedef {import("../model/kernels.js").KernelFacts} KernelFacts */
/** @typedef {import("../model/roofline.js").Roofline} Roofline */

const [WIDTH, HEIGHT, LEFT, TOP, BELOW, RIGHT] = [440, 280, 52, 22, 40, 12];

/** @param {number} x @param {number} y @param {string} text @param {"start" | "middle" | "end"} [anchor] @param {string} [cls] */
const label = (x, y, text, anchor = "start", cls) => svg("text", { x, y, "text-anchor": anchor, class: cls }, text);

/** @param {Roofline} r */
function grid(r) {
  return [
    ...r.x.flatMap((t) => [
      svg("line", { class: "g", x1: t.at, x2: t.at, y1: 0, y2: HEIGHT }),
      label(t.at, HEIGHT + 16, plain(t.value), "middle"),
    ]),
    ...r.y.flatMap((t) => [
      svg("line", { class: "g", x1: 0, x2: WIDTH, y1: t.at, y2: t.at }),
      label(-6, t.at + 4, plain(t.value), "end"),
    ]),
    label(WIDTH / 2, HEIGHT + 34, "Operations per byte", "middle"),
    label(-LEFT + 2, -9, "GFLOP/s"),
  ];
}

/** @typedef {{gbps: number, bytes: number | null} | null} Copy */

/** @param {Roofline} r @param {Copy} copy */
function roof(r, copy) {
  if (!r.roof || !copy) return [];
  const { x1, y1, x2, y2 } = r.roof;
  const [x, y] = [x1 + (x2 - x1) * 0.5, y1 + (y2 - y1) * 0.5];
  return [svg("line", { class: "roofl", x1, y1, x2, y2 }), label(x - 8, y - 6, `a copy${copy.bytes ? ` of ${bytes(copy.bytes)}` : ""}, ${number(copy.gbps)} GB/s`, "end", "halo")];
}

/** @param {KernelFacts} k */
const told = (k) =>
  `${k.name}, graph ${k.graph}: ${number(Number(k.rate))} GFLOP/s at ${number(Number(k.intensity))} operations per byte` +
  (k.share === null ? "" : `, ${Math.round(k.share * 100)} % of a copy`);

/** @param {Roofline} r */
function points(r) {
  const dots = r.points.map((p) =>
    svg("circle", { class: p.library ? "p li" : "p fu", cx: p.x, cy: p.y, r: 4.5 }, svg("title", {}, told(p.kernel))),
  );
  const lines = r.points.map((p) => p.label && Math.abs(p.label.y - p.y) > 8 && svg("line", { class: "to", x1: p.x, y1: p.y, x2: p.label.x, y2: p.label.y - 4 }));
  const names = r.points.map((p) => p.label && label(p.label.x, p.label.y, p.kernel.name, p.label.anchor, "lab halo"));
  return [...lines, ...dots, ...names];
}

/**
 * @param {readonly KernelFacts[]} rows
 * @param {object} device @param {string} name of files
 * @returns {HTMLElement | null} null where no kernel has a rate
 */
export function rooflineFigure(rows, device, name) {
  const copy = copyOf(device);
  const r = roofline(rows, copy?.gbps ?? null, WIDTH, HEIGHT);
  if (!r) return null;
  const said = `Roofline. ${r.points.map((p) => told(p.kernel)).join("; ")}.`;
  const box = `${-LEFT} ${-TOP} ${LEFT + WIDTH + RIGHT} ${TOP + HEIGHT + BELOW}`;
  const chart = svg("svg", { class: "roof", viewBox: box, role: "img", "aria-label": said }, ...grid(r), ...roof(r, copy), ...points(r));
  const left = rows.length - r.points.length;
  const line = r.roof
    ? "A kernel on the line is as fast as memory allows; above it, its data was in a faster cache. "
    : "Copies were not timed here, so there is no memory roof. ";
  const more = left ? `${left} ${left === 1 ? "kernel is" : "kernels are"} not shown: ${left === 1 ? "it does" : "they do"} no arithmetic, or how much is unknown.` : "";
  return h("figure", { class: "roofline" }, h("div", { class: "bar" }, h("h4", {}, "Roofline"), h("div", { class: "acts" }, chartFiles(`${name}_roofline`, said, ofElement(() => chart)))), scroller("Roofline, chart", chart), h("figcaption", { class: "small dim" }, line + more));
}
