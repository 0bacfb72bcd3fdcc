// js/view/result.js -- what another tool measured, or `breakeven record`: its figures, how the samples of a
// time are spread, and what the tool says of the machine, the build and the benchmark.

import { h, add, chip, download, headRow, painted, scroller, section } from "./dom.js";
import { ChartFigure } from "./chart.js";
import { fileStem } from "../model/commands.js";
import { count, duration, plural, timeUnit } from "../model/format.js";
import { machineFacts } from "../model/machine.js";
import { chipClass } from "../model/sentence.js";
import { dashed, spread, samplesCsv } from "../model/result.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").Report} Report */

/** More figures than this are one table each, without a chart of their own. */
const CHARTS = 4;

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {Run} run
 * @param {Report} report
 */
export async function resultTab(ctx, body, run, report) {
  add(body, figuresSection(run, report));
  await painted();
  if (ctx.signal.aborted) return;
  const charts = chartsOf(run, report, ctx.signal);
  add(body, charts.length ? h("div", { class: charts.length > 1 ? "two" : "" }, charts.map((c) => c.figure)) : null, factsSection(run, report));
  // Chart.js measures its frame, which must be in the page first.
  requestAnimationFrame(() => charts.forEach((c) => !ctx.signal.aborted && c.draw()));
}

/** @param {import("../api/report.js").ReportMode} m */
function agreement(m) {
  if (typeof m.agrees !== "boolean") return null;
  return [" ", m.agrees ? chip("same", "eager's values") : chip(chipClass("DISAGREES"), "DISAGREES")];
}

/** @param {Run} run @param {Report} report */
function figuresSection(run, report) {
  const rows = Object.entries(report.modes ?? {}).flatMap(([name, m]) => {
    const f = m.measure;
    if (!f) return [];
    const bounds = f.low !== undefined || f.high !== undefined ? `the tool's bounds: ${f.low ?? "none"} to ${f.high ?? "none"} ${f.unit}` : "";
    const of = [f.of ?? (f.samples ? "the median of the samples" : "one value of the file"), bounds, f.noise ?? ""].filter(Boolean).join("; ");
    return [h("tr", {}, h("th", { scope: "row" }, name, agreement(m)), h("td", { class: "r" }, dashed(f.shown ?? String(f.value))), h("td", { class: "r" }, count(f.n)), h("td", { class: "wrap" }, of))];
  });
  const head = headRow(["Figure", ["Value, with its 95 % interval", "r"], ["Samples", "r"], "What it is"]);
  const table = h("table", {}, h("caption", { class: "vh" }, "Figures"), head, h("tbody", {}, rows));
  const stem = `${fileStem(run.name)}_${run.id}`;
  const csv = Object.values(report.modes ?? {}).some((m) => m.measure?.samples) ? download("Samples as CSV", `${stem}_samples.csv`, "text/csv", () => samplesCsv(report)) : null;
  return section("Figures", `${plural(rows.length, "figure")} of ${report.result?.format ?? "another tool"}`, csv, scroller("Figures, table", table));
}

/** How the samples of each time are spread. @param {Run} run @param {Report} report @param {AbortSignal} signal */
function chartsOf(run, report, signal) {
  return Object.entries(report.modes ?? {})
    .filter(([, m]) => m.measure?.kind === "time" && (m.measure.samples?.length ?? 0) > 1)
    .slice(0, CHARTS)
    .map(([name, m], i) => {
      const samples = m.measure?.samples ?? [];
      const dots = spread(samples);
      const unit = timeUnit(dots.map((d) => d.y));
      const [least, most] = [dots[0].y, dots[dots.length - 1].y];
      return new ChartFigure(
        {
          id: `spread-${i + 1}`,
          title: `Samples of ${name}`,
          note: `${unit.name}, lower is better; from the quickest sample to the slowest`,
          summary: `Samples of ${name}, from the least to the most: ${duration(least)} to ${duration(most)}, median ${dashed(m.measure?.shown ?? "")}.`,
          series: [{ key: name, mode: "static", label: name, imported: false, dots }],
          crossings: [],
          xTitle: "% of the samples are quicker",
          by: "%",
          ratio: false,
          unit,
          file: `${fileStem(run.name)}_${run.id}`,
        },
        signal,
      );
    });
}

/** @param {Run} run @param {Report} report */
function factsSection(run, report) {
  const r = /** @type {import("../api/report.js").ReportResult} */ (report.result);
  const codes = [...new Set(r.exit_codes ?? [])];
  const waited = (r.waited_us ?? []).reduce((a, b) => a + b, 0);
  /** @type {[string, string][]} */
  const facts = [
    ["Tool", [r.format, r.version].filter(Boolean).join(" ")],
    ["File", r.file ?? ""],
    ["Benchmark", r.benchmark ?? ""],
    ["Command", run.workload?.command ?? ""],
    ["Measured", r.measured ?? ""],
    ["Ended with", codes.length ? `${plural(codes.length === 1 ? 1 : codes.length, "status", "statuses")}: ${codes.join(", ")}` : ""],
    ["Waited for a core, not in the times", waited ? `${duration(waited)} in all ${count(r.waited_us?.length ?? 0)} samples` : ""],
    ["Runs before the samples", r.warm_ups === undefined ? "" : count(r.warm_ups)],
    ["No more samples because", r.stopped ?? ""],
    ...Object.entries(r.parameters ?? {}).map(([k, v]) => /** @type {[string, string]} */ ([k, v])),
  ];
  /** @type {[string, string][]} */
  const machine = [
    ["Machine", r.machine ?? "not told: results of several machines may be taken for one's"],
    ["Build", r.build ?? ""],
    ...machineFacts(report.device, report.environment ?? run.environment),
    ...Object.entries(r.about ?? {}).map(([k, v]) => /** @type {[string, string]} */ ([k.replace(/_/g, " "), v])),
  ];
  const list = (/** @type {[string, string][]} */ all) => h("dl", { class: "kv" }, all.filter(([, d]) => d).flatMap(([t, d]) => [h("dt", {}, t), h("dd", {}, d)]));
  const part = (/** @type {string} */ title, /** @type {[string, string][]} */ all) => h("div", {}, h("header", { class: "bar" }, h("h2", {}, title)), list(all));
  return h("section", { class: "sec two", "aria-label": "Benchmark and machine" }, part("Benchmark", facts), part("Machine", machine));
}
