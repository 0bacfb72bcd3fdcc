// js/view/marks.js -- the small drawings in rows: mode swatch, whisker, bars.
//
// SVG sized by its attributes, since the policy allows no style attribute.  An
// axis is shared by all rows of a column: model/axis.js.

import { h, svg } from "./dom.js";
import { modeOf } from "../model/modes.js";
import { plain, ratio } from "../model/format.js";
import { sparkPoints } from "../model/window.js";

/** @param {string} name */
function marker(name) {
  const c = `s-${name}`;
  switch (name) {
    case "eager":
      return svg("circle", { class: c, cx: 14, cy: 6, r: 3 });
    case "lazy":
      return svg("path", { class: c, "stroke-width": 1.75, d: "M11 3L17 9M11 9L17 3" });
    case "static":
      return svg("rect", { class: c, x: 11, y: 3, width: 6, height: 6 });
    case "dynamic":
      return svg("path", { class: c, d: "M14 2.5L17.5 9H10.5Z" });
    case "auto":
      return svg("path", { class: c, d: "M14 2L18 6L14 10L10 6Z" });
    default:
      return svg("path", { class: c, "stroke-width": 1.5, d: "M10 6H18M14 2V10M11.5 3.5L16.5 8.5M11.5 8.5L16.5 3.5" });
  }
}

/** A mode as a stroke with its dash and marker, and its name in ink. @param {string} name */
export function modeMark(name) {
  const dash = modeOf(name).dash.join(" ");
  return h(
    "span",
    { class: "mode" },
    svg(
      "svg",
      { width: 28, height: 12, "aria-hidden": "true" },
      svg("line", {
        class: `s-${name}`,
        x1: 0,
        x2: 28,
        y1: 6,
        y2: 6,
        "stroke-width": 1.75,
        "stroke-dasharray": dash || null,
      }),
      marker(name),
    ),
    name,
  );
}

/** @typedef {import("../model/axis.js").RatioAxis} RatioAxis */

/** The axis' labels, for the column's head. @param {RatioAxis} axis */
export function axisHead(axis) {
  return svg(
    "svg",
    { class: "wh", width: axis.width, height: 12, "aria-hidden": "true" },
    ...axis.ticks.map((t) => svg("text", { x: axis.at(t), y: 9, "text-anchor": "middle" }, `${plain(t)}x`)),
  );
}

/** @param {string} verdict */
const tone = (verdict) =>
  verdict === "FASTER" ? "good" : verdict === "SLOWER" ? "bad" : verdict === "AMBIGUOUS" ? "amb" : "flat";

/**
 * A ratio with its interval.
 * @param {RatioAxis} axis
 * @param {number} value
 * @param {readonly number[] | null | undefined} interval
 * @param {string} verdict
 */
export function whisker(axis, value, interval, verdict) {
  const c = tone(verdict);
  const r = ratio(value, interval);
  const inside = (/** @type {number} */ x) => Math.min(axis.width, Math.max(0, x));
  const [a, b] = interval ? [inside(axis.at(interval[0])), inside(axis.at(interval[1]))] : [0, 0];
  const mid = (a + b) / 2;
  const half = Math.max(1, (b - a) / 2);
  return svg(
    "svg",
    {
      class: "wh",
      width: axis.width,
      height: 16,
      role: "img",
      "aria-label": `${r.text}${r.interval ? `, interval ${r.interval.slice(1, -1)}` : ""}`,
    },
    svg("line", { class: "ax", x1: 0, x2: axis.width, y1: 8, y2: 8 }),
    svg("line", { class: "one", x1: axis.at(1), x2: axis.at(1), y1: 1, y2: 15 }),
    interval ? svg("line", { class: `iv ${c}`, x1: mid - half, x2: mid + half, y1: 8, y2: 8 }) : null,
    svg("circle", { class: `pt ${c}`, cx: axis.at(value), cy: 8, r: 3 }),
  );
}

/**
 * Ratios over the last runs, oldest first, as a line with its end marked.
 * @param {readonly number[]} values
 */
export function sparkline(values) {
  const [width, height] = [72, 14];
  const points = sparkPoints(values, width - 6, height - 6);
  const said = values.length > 1 ? `last ${values.length}: from ${ratio(values[0]).text} to ${ratio(values[values.length - 1]).text}` : "the first of its name";
  const [x, y] = points[points.length - 1];
  return svg(
    "svg",
    { class: "spark", width, height, viewBox: `-3 -3 ${width} ${height}`, role: "img", "aria-label": said },
    svg("title", {}, said),
    values.length > 1 ? svg("path", { d: `M${points.map((p) => p.join(" ")).join("L")}` }) : null,
    svg("circle", { cx: x, cy: y, r: 2 }),
  );
}

/** A share done. @param {number} share 0..1 @param {number} [width] pixels; the whole line where left out */
export function progressBar(share, width) {
  const percent = Math.round(100 * Math.min(1, Math.max(0, share)));
  return svg(
    "svg",
    {
      class: width ? "prog" : "prog wide",
      width: width ?? "100%",
      height: 4,
      role: "img",
      "aria-label": `${percent} percent`,
    },
    svg("rect", { class: "bg", width: "100%", height: 4 }),
    svg("rect", { class: "fg", width: `${percent}%`, height: 4 }),
  );
}
