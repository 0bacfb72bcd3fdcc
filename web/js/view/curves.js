// js/view/curves.js -- latency and speedup over the sweep, with series from
// elsewhere to lay over.
//
// A published series fits only the sweep it was measured on, so the chooser
// is there for sweeps over statements alone.

import { h } from "./dom.js";
import { ChartFigure } from "./chart.js";
import { Overlays } from "./overlays.js";
import { crossingText } from "./chart_marks.js";
import { crossings, latencySeries, speedupSeries } from "../model/curves.js";
import { PUBLISHED, overlayOf } from "../model/published.js";
import { duration, ratio, timeUnit } from "../model/format.js";
import { axisTitle } from "../model/workload.js";
import { fileStem } from "../model/commands.js";

/** @typedef {import("../model/curves.js").Series} Series */

/**
 * The finding in words, for a canvas' name.
 * @param {readonly Series[]} series
 * @param {readonly import("../model/curves.js").Crossing[]} cross
 * @param {(v: number) => string} write
 */
function summary(series, cross, write) {
  const lines = series
    .filter((s) => !s.imported)
    .map((s) => {
      const [a, b] = [s.dots[0], s.dots[s.dots.length - 1]];
      return `${s.label} from ${write(a.y)} at n = ${a.x} to ${write(b.y)} at n = ${b.x}`;
    });
  return `${lines.join("; ")}. ${cross.map(crossingText).join(" ")} The table holds the same numbers.`;
}

/** @typedef {import("../model/published.js").Overlay} Overlay */

/**
 * The two frames, without the overlays yet.
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 * @param {{latency: Series[], speedup: Series[], cross: import("../model/curves.js").Crossing[]}} own
 * @param {AbortSignal} signal
 */
function makeFigures(run, report, own, signal) {
  const unit = timeUnit(own.latency.flatMap((s) => s.dots.map((d) => d.y)));
  const common = { crossings: own.cross, xTitle: axisTitle(report.workload?.sweep), file: `${fileStem(run.name)}_${run.id}` };
  const latency = {
    id: "latency",
    title: "Latency",
    note: `${unit.name} a call, lower is better`,
    ratio: false,
    unit,
    series: own.latency,
    summary: `Latency by n. ${summary(own.latency, own.cross, duration)}`,
  };
  const speedup = {
    id: "speedup",
    title: "Speedup",
    note: "eager over mode, above 1x it pays",
    ratio: true,
    unit: { name: "x", scale: 1 },
    series: own.speedup,
    summary: `Speedup over eager by n, log scale. ${summary(own.speedup, own.cross, (v) => ratio(v).text)}`,
  };
  return [latency, ...(own.speedup.length ? [speedup] : [])].map((f) => new ChartFigure({ ...common, ...f }, signal));
}

/**
 * The speedup alone, or latency and speedup, of the points there are: of a sweep that is being measured they become
 * more. Drawn once it is in the page.
 * @param {import("../api/types.js").Run} run
 * @param {AbortSignal} signal
 * @param {{speedupOnly?: boolean, mode?: string | null}} [how] mode: the one whose crossover is marked
 */
export function growingCurves(run, signal, { speedupOnly = false, mode = null } = {}) {
  /** @type {ChartFigure[]} */
  let figures = [];
  const el = h("div", { class: speedupOnly ? "growing" : "growing two" });
  const update = (/** @type {import("../api/types.js").Point[]} */ points) => {
    const report = /** @type {import("../api/types.js").Report} */ ({ workload: run.workload, points });
    const own = { latency: latencySeries(report), speedup: speedupSeries(report), cross: mode ? crossings(run.report ?? report, mode) : [] };
    if (figures.length < (own.speedup.length ? 2 : 1)) {
      figures = makeFigures(run, report, own, signal);
      el.replaceChildren(...figures.slice(speedupOnly ? 1 : 0).map((f) => f.figure));
    }
    // Chart.js measures its frame, which must be in the page first.
    requestAnimationFrame(() => {
      if (signal.aborted) return;
      if (!speedupOnly) figures[0].update(own.latency, own.cross);
      figures[1]?.update(own.speedup, own.cross);
    });
  };
  return { el, update };
}

/**
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 * @param {string | null} mode the one whose crossover is marked
 * @param {AbortSignal} signal
 * @param {readonly Overlay[]} here those of the same run, by other engines
 */
export function curvesSection(run, report, mode, signal, here) {
  const own = { latency: latencySeries(report), speedup: speedupSeries(report), cross: crossings(report, mode) };
  const figures = makeFigures(run, report, own, signal);
  const redraw = () => {
    const over = [...overlays.on];
    const cross = [...own.cross, ...over.flatMap((o) => o.crossings)];
    figures[0].update([...own.latency, ...over.flatMap((o) => o.latency)], cross);
    figures[1]?.update([...own.speedup, ...over.flatMap((o) => o.speedup)], cross);
  };
  const published = report.workload?.sweep?.statements ? PUBLISHED.map(overlayOf) : [];
  const overlays = new Overlays(run, [...here, ...published], signal, redraw);
  const frames = h(
    "div",
    { class: "two" },
    figures.map((f) => f.figure),
  );
  const el = h("section", { class: "sec", "aria-label": "Curves" }, frames, overlays.elements);
  // Chart.js measures its frame, which must be in the page first.
  requestAnimationFrame(() => {
    if (!signal.aborted) redraw();
  });
  const toggle = () => {
    const view = figures[0].view === "chart" ? "table" : "chart";
    for (const f of figures) f.show(view);
  };
  return { el, toggle };
}
