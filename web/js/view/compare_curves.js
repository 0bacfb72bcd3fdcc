// js/view/compare_curves.js -- the sweeps of a comparison: latencies laid over, and their ratio
// over n with its bands.

import { h, add, section, select } from "./dom.js";
import { remember } from "./router.js";
import { onKeys } from "./frame.js";
import { ChartFigure } from "./chart.js";
import { latencies, ratios, sweptModes } from "../model/compare_curves.js";
import { duration, plain, ratio, timeUnit } from "../model/format.js";
import { axisTitle } from "../model/workload.js";

/** @typedef {import("../api/compare/types.js").Comparison} Comparison */
/** @typedef {import("../api/compare/types.js").Pair} Pair */
/** @typedef {import("../model/curves.js").Series} Series */

/** The finding in words, for a canvas' name. @param {readonly Series[]} series @param {(y: number) => string} write */
function summary(series, write) {
  const lines = series.map((s) => {
    const [a, b] = [s.dots[0], s.dots[s.dots.length - 1]];
    return `${s.label} from ${write(a.y)} at n = ${plain(a.x)} to ${write(b.y)} at n = ${plain(b.x)}`;
  });
  return `${lines.join("; ")}. The table holds the same numbers.`;
}

/**
 * Both frames of some runs.
 * @param {Comparison} all @param {readonly Pair[]} pairs beside A @param {string} mode "": every mode @param {string} metric
 * @param {AbortSignal} signal
 */
function figures(all, pairs, mode, metric, signal) {
  const [over, of] = [latencies(pairs, mode), ratios(pairs, mode, metric)];
  const unit = timeUnit(over.flatMap((s) => s.dots.map((d) => d.y)));
  const common = { crossings: [], xTitle: axisTitle(all.sweep), file: `compare_${[all.runs.find((r) => r.label === "A") ?? all.runs[0], ...pairs.map((p) => all.runs.find((r) => r.label === p.b))].map((r) => r?.id).join("_")}` };
  const names = pairs.map((p) => p.b).join(", ");
  const speed = metric === "speedup";
  const better = speed ? "above 1x it is better" : "below 1x it is faster";
  const latency = { id: "latencies", title: "Latency", note: `${unit.name} a call; lower is better; A dotted`, ratio: false, unit, series: over, summary: summary(over, duration) };
  const quotient = {
    id: "ratios",
    title: pairs.length > 1 ? "Over A" : `${names}\u00a0/\u00a0A`,
    note: `${speed ? "speedup" : "latency"}, ${better}; grey: within ${plain(100 * all.margin)} %`,
    ratio: true,
    margin: all.margin,
    unit: { name: "x", scale: 1 },
    series: of,
    summary: `Ratios by n, log scale. ${summary(of, (y) => ratio(y).text)}`,
  };
  return [latency, ...(of.length ? [quotient] : [])].map((f) => new ChartFigure({ ...common, ...f }, signal));
}

/**
 * The section; null where no two points were measured by both.
 * @param {Comparison} all @param {Pair} pair the one that is shown beside A
 * @param {string | null} asked the mode of the address @param {AbortSignal} signal
 */
export function curvesSection(all, pair, asked, signal) {
  const pairs = all.comparisons.filter((c) => c.figures);
  const modes = sweptModes(pairs);
  if (!modes.length) return null;
  const many = pairs.length > 1;
  const first = many ? (modes.includes(pair.headline?.mode ?? "") ? (pair.headline?.mode ?? "") : modes[0]) : "";
  const place = h("div", { class: "two" });
  /** @type {ChartFigure[]} */
  let shown = [];
  let drawn = new AbortController();
  const draw = (/** @type {string} */ mode) => {
    drawn.abort();
    drawn = new AbortController();
    shown = figures(all, mode ? pairs : [pair], mode, pair.judged_by ?? "latency", drawn.signal);
    place.replaceChildren();
    add(place, shown.map((f) => f.figure));
    // Chart.js measures its frame, which must be in the page first.
    requestAnimationFrame(() => drawn.signal.aborted || shown.forEach((f) => f.draw()));
  };
  signal.addEventListener("abort", () => drawn.abort(), { once: true });
  const now = asked !== null && (modes.includes(asked) || asked === "all") ? (asked === "all" ? "" : asked) : first;
  const options = [{ value: "", label: many ? `every mode, ${pair.b} beside A` : "every mode" }, ...modes.map((m) => ({ value: m, label: many ? `${m}, every run` : m }))];
  const choose = select(pair.figures ? options : options.slice(1), now, { id: "compare-mode", "aria-label": "Mode of the curves" }, (mode) => {
    remember({ mode: mode || "all" });
    draw(mode);
  });
  draw(choose.value);
  onKeys(signal, {
    t: () => {
      const view = shown[0].view === "chart" ? "table" : "chart";
      for (const f of shown) f.show(view);
    },
  });
  return section("Curves", "", h("label", { class: "sub" }, "Mode ", choose), place);
}
