// js/view/choose.js -- a mode and a point of a sweep, chosen in a bar and kept
// in the URL.

import { h, add, select } from "./dom.js";
import { remember } from "./router.js";
import { pointName } from "./modes_table.js";
import { headline } from "../model/modes.js";

/**
 * The bar, and below it what `draw` makes of the chosen point and mode.
 * @param {import("./router.js").Context} ctx
 * @param {string} title
 * @param {readonly import("../api/types.js").Point[]} points
 * @param {string[]} modes
 * @param {(point: import("../api/types.js").Point, mode: string) => HTMLElement[]} draw
 */
export function chosen(ctx, title, points, modes, draw) {
  const asked = ctx.query.get("mode") ?? "";
  const state = { mode: modes.includes(asked) ? asked : String(headline(modes)), at: points.length - 1 };
  const at = points.findIndex((p) => p.n === Number(ctx.query.get("n") ?? NaN));
  if (at >= 0) state.at = at;
  const place = h("div");
  const fill = () => {
    const { n } = points[state.at];
    remember({ mode: state.mode, n: typeof n === "number" ? String(n) : null });
    place.replaceChildren(...draw(points[state.at], state.mode));
  };
  const byMode = select(
    modes.map((m) => ({ value: m, label: m })),
    state.mode,
    { id: "graph-mode" },
    (v) => {
      state.mode = v;
      fill();
    },
  );
  const order = points.map((p, i) => ({ value: String(i), label: pointName(p) })).reverse();
  const byPoint = select(order, String(state.at), { id: "graph-point" }, (v) => {
    state.at = Number(v);
    fill();
  });
  const label = (/** @type {string} */ text, /** @type {string} */ id) =>
    h("label", { class: "small sub", for: id }, text);
  const acts = h("div", { class: "acts" }, label("Mode", "graph-mode"), byMode);
  if (points.length > 1) add(acts, label("Point", "graph-point"), byPoint);
  fill();
  return [h("div", { class: "bar gap" }, h("h2", {}, title), acts), place];
}
