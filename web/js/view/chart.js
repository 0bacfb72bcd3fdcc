// js/view/chart.js -- a chart that is drawn from its table.
//
// The table (th[data-series], td[data-v][data-lo][data-hi]) is made first and
// read back: what a reader sees as numbers, as CSV and as lines cannot differ.
// Without Chart.js the table simply stays.

import { h, button, ci, download, headRow, press, segmented } from "./dom.js";
import { chartConfig, yBounds } from "./chart_config.js";
import { chartFiles, ofChart } from "./chart_files.js";
import { chartLibrary } from "./chart_library.js";
import { Zoom } from "./zoom.js";
import { plain, withInterval } from "../model/format.js";
import { toCsv, visiblePart } from "../model/curves.js";

/** @typedef {import("../model/curves.js").Series} Series */
/** @typedef {import("./chart_config.js").ChartSpec} ChartSpec */

/**
 * @param {ChartSpec} spec
 * @returns {HTMLTableElement}
 */
function makeTwin(spec) {
  const xs = [...new Set(spec.series.flatMap((s) => s.dots.map((d) => d.x)))].sort((a, b) => a - b);
  const how = { scale: spec.unit.scale, suffix: spec.ratio ? "x" : "" };
  const cell = (/** @type {Series} */ s, /** @type {number} */ x) => {
    const d = s.dots.find((p) => p.x === x);
    if (!d) return h("td", { class: "r dim" }, "not measured");
    const data = { v: d.y, lo: d.lo, hi: d.hi };
    if (spec.ratio && d.y > 0 && d.y < 0.001) return h("td", { class: "r", data, title: `${d.y.toPrecision(3)}x` }, "<0.001x");
    const t = withInterval(d.y, d.lo === undefined || d.hi === undefined ? null : [d.lo, d.hi], how);
    return h("td", { class: "r", data }, t.text, ci(t.interval));
  };
  const head = headRow([spec.by ?? "n", ...spec.series.map((s) => /** @type {[string, string]} */ ([s.label, "r"]))]);
  spec.series.forEach((s, i) => {
    Object.assign(/** @type {HTMLElement} */ (head.querySelectorAll("th")[i + 1]).dataset, {
      series: s.key,
      mode: s.mode,
      imported: s.imported ? "yes" : "no",
      variant: String(s.variant ?? 0),
    });
  });
  const unit = spec.ratio ? "" : `, ${spec.unit.name}`;
  const row = (/** @type {number} */ x) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", data: { v: x } }, plain(x)),
      spec.series.map((s) => cell(s, x)),
    );
  return h(
    "table",
    { id: `${spec.id}-table` },
    h("caption", { class: "vh" }, `${spec.title} by ${spec.by ?? "n"}${unit}`),
    head,
    h("tbody", {}, xs.map(row)),
  );
}

/** @param {HTMLTableElement} table @returns {Series[]} */
export function readTwin(table) {
  const heads = /** @type {HTMLElement[]} */ ([...table.querySelectorAll("thead th")]);
  return heads.flatMap((th, col) => {
    const { series: key, mode = "", imported, variant } = th.dataset;
    if (!key) return [];
    const dots = [...table.tBodies[0].rows].flatMap((tr) => {
      const { v, lo, hi } = tr.cells[col].dataset;
      const x = Number(tr.cells[0].dataset.v);
      if (v === undefined) return [];
      return [
        lo === undefined || hi === undefined
          ? { x, y: Number(v) }
          : { x, y: Number(v), lo: Number(lo), hi: Number(hi) },
      ];
    });
    return [{ key, mode, label: th.textContent ?? "", imported: imported === "yes", dots, variant: Number(variant ?? 0) }];
  });
}

export class ChartFigure {
  #spec;
  #signal;
  #log;
  #table;
  /** @type {any} */
  #chart = null;
  #zoom;
  #canvas;
  #plot;
  #twin;
  #reset;
  #views;
  /** @type {HTMLElement[]} */
  #files;

  /**
   * @param {ChartSpec} spec
   * @param {AbortSignal} signal ends the chart with its view
   */
  constructor(spec, signal) {
    this.#spec = spec;
    this.#signal = signal;
    this.#log = spec.ratio;
    this.#table = makeTwin(spec);
    this.#canvas = h("canvas", { role: "img", "aria-label": spec.summary, tabindex: 0 });
    this.#plot = h("div", { class: "plot" }, this.#canvas);
    const name = `${spec.title} by ${spec.by ?? "n"}, table`;
    this.#twin = h(
      "div",
      { class: "twin", role: "region", "aria-label": name, tabindex: 0, hidden: true },
      this.#table,
    );
    this.#reset = button("Whole chart", () => this.#zoom.reset(), { hidden: true });
    this.#views = segmented("Show as", { chart: "Chart", table: "Table" }, "chart", (v) => this.show(v));
    this.#files = chartFiles(`${spec.file}_${spec.id}`, spec.summary, ofChart(() => this.#chart));
    this.figure = this.#frame();
    this.#zoom = new Zoom(this.#canvas, signal, (range, zoomed) => this.#fitY(range, zoomed));
    addEventListener("themechange", () => this.draw(), { signal });
    signal.addEventListener("abort", () => this.#chart?.destroy(), { once: true });
  }

  #frame() {
    const spec = this.#spec;
    const scale = segmented("Scale", { linear: "Linear", log: "Log" }, this.#log ? "log" : "linear", (k) => {
      this.#log = k === "log";
      this.draw();
    });
    const csv = download("CSV", `${spec.file}_${spec.id}.csv`, "text/csv", () =>
      toCsv(readTwin(this.#table), spec.ratio ? "x" : "us", spec.by),
    );
    const acts = h("div", { class: "acts" }, this.#reset, scale, this.#views, csv, this.#files);
    const header = h("header", {}, h("h2", {}, spec.title), h("p", {}, spec.note), acts);
    return h("figure", { class: "chart", id: spec.id, "aria-busy": "true" }, header, h("div", { class: "well" }, this.#plot, this.#twin));
  }

  /** @returns {string} "chart" or "table" */
  get view() {
    return this.#twin.hidden ? "chart" : "table";
  }

  /** @param {string} view */
  show(view) {
    this.#plot.hidden = view === "table";
    this.#twin.hidden = view !== "table";
    press(this.#views, view);
    if (view === "chart") this.#chart?.resize();
  }

  /**
   * Other series in the same frame.
   * @param {Series[]} series
   * @param {import("../model/curves.js").Crossing[]} crossings
   */
  update(series, crossings) {
    Object.assign(this.#spec, { series, crossings });
    const next = makeTwin(this.#spec);
    this.#table.replaceWith(next);
    this.#table = next;
    this.draw();
  }

  /** Draws it again; the frame must be in the page. */
  async draw() {
    const Chart = await chartLibrary();
    if (this.#signal.aborted) return undefined;
    this.figure.removeAttribute("aria-busy");
    for (const b of this.#files) b.hidden = !Chart;
    if (!Chart) return this.show("table");
    this.#chart?.destroy();
    this.#chart = new Chart(this.#canvas, chartConfig(this.#spec, readTwin(this.#table), this.#log));
    this.#zoom.attach(this.#chart);
    this.#reset.hidden = true;
    return undefined;
  }

  /**
   * @param {import("../model/ranges.js").Range} range
   * @param {boolean} zoomed
   */
  #fitY(range, zoomed) {
    this.#reset.hidden = !zoomed;
    const seen = visiblePart(readTwin(this.#table), range.min, range.max, this.#log);
    Object.assign(this.#chart.options.scales.y, yBounds(this.#spec, seen, this.#log));
    // Markers at the rim may reach out of the frame, lines that go on may not.
    for (const d of this.#chart.data.datasets) d.clip = zoomed ? 0 : 8;
  }
}
