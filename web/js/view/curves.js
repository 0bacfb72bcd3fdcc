// js/view/curves.js -- latency and speedup over the sweep, with series from
// elsewhere to lay over.
//
// A published series fits only the sweep it was measured on, so the chooser
// stands there for sweeps over statements alone.

import { h } from "./dom.js";
import { remember } from "./router.js";
import { chartFigure } from "./chart.js";
import { crossingText } from "./chart_marks.js";
import { crossings, latencySeries, speedupSeries } from "../model/curves.js";
import { PUBLISHED, publishedCrossing, publishedLatency, publishedSpeedup } from "../model/published.js";
import { duration, ratio, timeUnit } from "../model/format.js";
import { axisTitle } from "../model/workload.js";
import { fileStem } from "../model/commands.js";

/** @typedef {import("../model/curves.js").Series} Series */

/** The finding in words, for a canvas' name. @param {readonly Series[]} series @param {readonly import("../model/curves.js").Crossing[]} cross @param {(v: number) => string} write */
function summary(series, cross, write) {
  const lines = series.filter((s) => !s.imported).map((s) => {
    const [a, b] = [s.dots[0], s.dots[s.dots.length - 1]];
    return `${s.label} from ${write(a.y)} at n = ${a.x} to ${write(b.y)} at n = ${b.x}`;
  });
  return `${lines.join("; ")}. ${cross.map(crossingText).join(" ")} The table holds the same numbers.`;
}

/** @param {import("../api/types.js").Run} run @param {import("../api/types.js").Report} report @param {string | null} mode @param {AbortSignal} signal */
export function curvesSection(run, report, mode, signal) {
  const own = { latency: latencySeries(report), speedup: speedupSeries(report), cross: crossings(report, mode) };
  const offered = report.workload?.sweep?.statements ? PUBLISHED : [];
  const asked = new Set((new URLSearchParams(location.search).get("over") ?? "").split(","));
  const on = new Set(offered.filter((p) => asked.has(p.key)));
  const now = () => ({
    latency: [...own.latency, ...[...on].flatMap(publishedLatency)],
    speedup: [...own.speedup, ...[...on].flatMap(publishedSpeedup)],
    cross: [...own.cross, ...[...on].flatMap(publishedCrossing)],
  });
  const first = now();
  const unit = timeUnit(own.latency.flatMap((s) => s.dots.map((d) => d.y)));
  const common = { crossings: first.cross, xTitle: axisTitle(report.workload), file: `${fileStem(run.name)}_${run.id}` };
  const latency = chartFigure({ ...common, id: "latency", title: "Latency", note: `${unit.name} a call, lower is better`, ratio: false, unit, series: first.latency,
    summary: `Latency by n. ${summary(own.latency, own.cross, duration)}` }, signal);
  const figures = [latency];
  if (first.speedup.length) {
    figures.push(chartFigure({ ...common, id: "speedup", title: "Speedup", note: "eager over mode, above 1x it pays", ratio: true, unit: { name: "x", scale: 1 }, series: first.speedup,
      summary: `Speedup over eager by n, log scale. ${summary(own.speedup, own.cross, (v) => ratio(v).text)}` }, signal));
  }
  const sources = h("p", { class: "small sub", id: "overlay-sources" });
  const redraw = () => {
    const s = now();
    latency.update(s.latency, s.cross);
    figures[1]?.update(s.speedup, s.cross);
    sources.replaceChildren([...on].map((p) => `Dotted, “${p.short}”: ${p.source}.`).join(" ") + (on.size ? " Measured elsewhere: compare the shapes, not the microseconds." : ""));
    sources.hidden = on.size === 0;
  };
  const chooser = h("fieldset", { class: "overlay" }, h("legend", {}, "Lay over"), offered.map((p) => {
    const box = h("input", { type: "checkbox", data: { overlay: p.key } });
    box.checked = on.has(p);
    box.addEventListener("change", () => {
      if (box.checked) on.add(p); else on.delete(p);
      remember({ over: [...on].map((x) => x.key).join(",") || null });
      redraw();
    });
    return h("label", {}, box, p.title);
  }));
  const el = h("section", { class: "sec", "aria-label": "Curves" }, h("div", { class: "two" }, figures.map((f) => f.figure)), offered.length ? chooser : null, sources);
  // Chart.js measures its frame, which must stand in the page first.
  requestAnimationFrame(() => { if (!signal.aborted) redraw(); });
  return { el, toggle: () => { const v = latency.view() === "chart" ? "table" : "chart"; figures.forEach((f) => f.show(v)); } };
}
