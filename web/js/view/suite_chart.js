// js/view/suite_chart.js -- how the speedups of a suite are distributed, drawn from its table.

import { h, headRow, press, segmented, token } from "./dom.js";
import { tooltipLook } from "./chart_config.js";
import { chartFiles, ofChart } from "./chart_files.js";
import { chartLibrary } from "./chart_library.js";
import { buckets, columnName, compared } from "../model/suite.js";

/** @typedef {import("../api/types.js").SuiteReport} SuiteReport */
/** @typedef {import("../api/types.js").SuiteColumn} SuiteColumn */

/** @param {readonly SuiteColumn[]} columns @param {{name: string, i: number}[]} rows */
function twin(columns, rows) {
  const head = headRow([
    "Speedup over eager",
    ...columns.map((c) => /** @type {[string, string]} */ ([columnName(c), "r"])),
  ]);
  const body = rows.map((b) =>
    h("tr", {}, h("th", { scope: "row" }, b.name), columns.map((c) => h("td", { class: "r" }, String(c.histogram?.[b.i] ?? 0)))),
  );
  return h("table", { id: "suite-histogram" }, h("caption", { class: "vh" }, "Workloads by speedup"), head, h("tbody", {}, body));
}

/** Hatched for policy native, dotted outlines for other engines: never colour alone. @param {SuiteColumn} c */
function look(c) {
  const colour = token(`--${c.mode}`) || token("--ink2");
  return c.policy === "native" || c.engine !== "breakeven"
    ? { backgroundColor: `${colour}40`, borderColor: colour, borderWidth: 1.5, borderDash: [2, 2] }
    : { backgroundColor: colour, borderColor: colour, borderWidth: 1.5 };
}

/** @param {any} Chart @param {HTMLCanvasElement} canvas @param {readonly SuiteColumn[]} columns @param {{name: string, i: number}[]} rows */
function draw(Chart, canvas, columns, rows) {
  const font = { size: 11, family: token("--font-ui") };
  const ticks = { color: token("--ink3"), font };
  return new Chart(canvas, {
    type: "bar",
    data: {
      labels: rows.map((b) => b.name),
      datasets: columns.map((c) => ({ label: columnName(c), data: rows.map((b) => c.histogram?.[b.i] ?? 0), ...look(c) })),
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      plugins: {
        legend: { position: "top", align: "start", labels: { color: token("--ink2"), font, boxWidth: 10, boxHeight: 10 } },
        tooltip: tooltipLook(),
      },
      scales: {
        x: { grid: { display: false }, ticks: { ...ticks, maxRotation: 45 }, border: { color: token("--line2") } },
        y: {
          beginAtZero: true,
          grid: { color: token("--line"), tickLength: 0 },
          border: { display: false },
          ticks: { ...ticks, precision: 0 },
          title: { display: true, text: "workloads", color: token("--ink3"), font },
        },
      },
    },
  });
}

/** @param {SuiteReport} report @param {string} name of files @param {AbortSignal} signal */
export function distribution(report, name, signal) {
  const columns = compared(report.columns).filter((c) => c.histogram);
  const rows = buckets(columns, report.histogram_edges);
  if (!rows.length) return null;
  const canvas = h("canvas", { role: "img", "aria-label": "Workloads by speedup; the table has the same numbers" });
  const plot = h("div", { class: "plot" }, canvas);
  const table = h("div", { class: "twin", role: "region", "aria-label": "Workloads by speedup, table", tabindex: 0, hidden: true }, twin(columns, rows));
  const views = segmented("Chart or table", { chart: "Chart", table: "Table" }, "chart", (key) => show(key));
  const show = (/** @type {string} */ key) => {
    plot.hidden = key === "table";
    table.hidden = key !== "table";
    press(views, key);
  };
  /** @type {any} */
  let chart = null;
  const redraw = async () => {
    const Chart = await chartLibrary();
    if (signal.aborted) return undefined;
    if (!Chart) return show("table");
    chart?.destroy();
    chart = draw(Chart, canvas, columns, rows);
    return undefined;
  };
  addEventListener("themechange", redraw, { signal });
  signal.addEventListener("abort", () => chart?.destroy(), { once: true });
  queueMicrotask(redraw);
  const note = h("p", {}, "each bucket a factor of 1.41; to the right of 1x compiling pays");
  const head = h("header", {}, h("h2", {}, "Distribution"), note, h("div", { class: "acts" }, views, chartFiles(`${name}_distribution`, "Workloads by speedup", ofChart(() => chart))));
  return h("section", { class: "sec chart", "aria-label": "Distribution" }, head, h("div", { class: "well" }, plot, table));
}
