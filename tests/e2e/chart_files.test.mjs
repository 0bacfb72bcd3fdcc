// tests/e2e/chart_files.test.mjs -- each chart of each page is saved as PNG and as SVG, with its points.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { getJson, postRun, randn, startServer, suiteEnded, sweep, waitFor, workload } from "../api/harness.mjs";
import { afterTimers, drawn, openPage, sound, startBrowser } from "./browser.mjs";

const how = { backend: "cpu", threads: 1, seconds: 0.1 };
let server, browser, swept, cut, suite;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const post = async (w) => (await postRun(server, w)).body.id;
  swept = [await post({ ...sweep([1, 5, 10]), ...how, name: "chain sweep", commit: "1f0c2ab93d" }), await post({ ...sweep([1, 5, 10]), ...how, name: "chain sweep", commit: "88ae01c3f2" })];
  cut = await post({ ...workload("    a = torch.sin(x @ x)\n    print(1)\n    return (a * 2).sum()", { name: "cut" }), calls: [[randn(64, 64)]], ...how, modes: ["eager", "static"] });
  for (const id of [...swept, cut]) assert.equal((await waitFor(server, id)).status, "done");
  const block = (name, line) => ({ ...workload(`    ${line}`, { name }), ...how, modes: ["eager", "static"] });
  const made = await getJson(`${server.url}/api/v1/suites`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ name: "nightly", workloads: [block("a", "return torch.relu(x) * 2"), block("b", "return x.exp().sum()")] }) });
  suite = made.body.id;
  await suiteEnded(server, suite);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Presses a button of a chart and reads what is saved. @param {any} page @param {any} place @param {string} format */
async function saved(page, place, format) {
  const [download] = await Promise.all([page.waitForEvent("download"), place.getByRole("button", { name: format, exact: true }).click()]);
  return { name: download.suggestedFilename(), body: readFileSync(await download.path()) };
}

/** Its texts, its outlines as points, and whether it is one. @param {any} page @param {string} text */
const read = (page, text) =>
  page.evaluate((source) => {
    const doc = new DOMParser().parseFromString(source, "image/svg+xml");
    return {
      bad: doc.querySelector("parsererror")?.textContent ?? (doc.documentElement.tagName === "svg" ? "" : doc.documentElement.tagName),
      size: ["width", "height"].map((k) => Number(doc.documentElement.getAttribute(k))),
      texts: [...doc.querySelectorAll("text")].map((t) => t.textContent),
      points: [...doc.querySelectorAll("path")].flatMap((p) => [...p.getAttribute("d").matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map((m) => [Number(m[1]), Number(m[2])])),
      colours: [...doc.querySelectorAll("[fill]")].map((e) => e.getAttribute("fill")),
    };
  }, text);

const near = (points, [x, y], within = 0.6) => points.some(([a, b]) => Math.abs(a - x) < within && Math.abs(b - y) < within);

/** Where the points of a chart of Chart.js are drawn, or the corners of its bars. @param {any} canvas */
const pointsOf = (canvas) =>
  canvas.evaluate((el) => {
    const chart = globalThis.Chart.getChart(el);
    return chart.getSortedVisibleDatasetMetas().filter((m) => !m._dataset.band).flatMap((m) => m.data.filter((d) => !(d.height === 0)).map((d) => (d.width ? [d.x - d.width / 2, d.y] : [d.x, d.y])));
  });

/** @type {[string, () => string, string, RegExp][]} what, page, the chart's place, the names of its files */
const charts = [
  ["latency", () => `/runs/${swept[0]}`, "#latency", /^chain_sweep_\d+_latency$/],
  ["speedup", () => `/runs/${swept[0]}`, "#speedup", /^chain_sweep_\d+_speedup$/],
  ["break-even", () => `/runs/${swept[0]}`, "#repay", /^chain_sweep_\d+_repay$/],
  ["compared latencies", () => `/compare?a=${swept[0]}&b=${swept[1]}`, "#latencies", /^compare_\d+_\d+_latencies$/],
  ["compared ratios", () => `/compare?a=${swept[0]}&b=${swept[1]}`, "#ratios", /^compare_\d+_\d+_ratios$/],
  ["history", () => "/history?workload=chain%20sweep", "#history-chart", /^chain_sweep_history_\w+_\w+$/],
  ["distribution", () => `/suites/${suite}`, "section[aria-label=Distribution]", /^suite_nightly_\d+_distribution$/],
];

for (const [what, path, place, names] of charts)
  test(`${what}: PNG and SVG, named for run and chart, with every point`, async () => {
    const { page, complaints } = await openPage(browser);
    await page.goto(server.url + path());
    await drawn(page);
    const chart = page.locator(place);
    await page.waitForFunction((sel) => globalThis.Chart?.getChart(document.querySelector(`${sel} canvas`)), place);
    await afterTimers(page);
    const [png, svg] = [await saved(page, chart, "PNG"), await saved(page, chart, "SVG")];
    for (const [file, extension] of [[png, ".png"], [svg, ".svg"]]) {
      assert.ok(file.name.endsWith(extension), file.name);
      assert.match(file.name.slice(0, -4), names);
    }
    assert.equal(png.body.subarray(1, 4).toString(), "PNG");
    const [width, height] = [png.body.readUInt32BE(16), png.body.readUInt32BE(20)];
    const found = await read(page, svg.body.toString());
    assert.equal(found.bad, "");
    assert.ok(Math.abs(width - 2 * found.size[0]) <= 2 && Math.abs(height - 2 * found.size[1]) <= 2, `${width} x ${height} for ${found.size}`);
    const points = await pointsOf(chart.locator("canvas"));
    assert.ok(points.length >= 2, String(points.length));
    for (const p of points) assert.ok(near(found.points, p, 6), `${p} is drawn`); // markers are about it
    assert.ok(found.texts.length > 3);
    await sound(page, complaints);
  });

test("the roofline: each kernel's point and the names that are shown", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${cut}/kernels?mode=static`);
  await drawn(page);
  const figure = page.locator("figure.roofline");
  await figure.locator("circle").first().waitFor();
  const [png, svg] = [await saved(page, figure, "PNG"), await saved(page, figure, "SVG")];
  assert.deepEqual([png.name, svg.name], [`cut_${cut}_roofline.png`, `cut_${cut}_roofline.svg`]);
  const found = await read(page, svg.body.toString());
  assert.equal(found.bad, "");
  const shown = await figure.locator("svg.roof").evaluate((el) => {
    const box = el.getBoundingClientRect();
    return { texts: [...el.querySelectorAll("text")].map((t) => t.textContent), points: [...el.querySelectorAll("circle")].map((c) => [c.getBoundingClientRect().right - box.left, c.getBoundingClientRect().top + c.getBoundingClientRect().height / 2 - box.top]) };
  });
  assert.deepEqual(new Set(found.texts), new Set(shown.texts)); // a halo is a text, too
  assert.ok(shown.points.length >= 2);
  for (const p of shown.points) assert.ok(near(found.points, p, 2), `${p} is drawn`);
  await sound(page, complaints);
});

test("memory: each step of the curve; the picture of all graphs: each box; the heat map: each cell", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${cut}/memory?mode=static`);
  await drawn(page);
  const use = page.getByRole("region", { name: "In use over the call" });
  await use.locator(".memchart path.curve").first().waitFor();
  const memory = [await saved(page, use, "PNG"), await saved(page, use, "SVG")];
  assert.deepEqual(memory.map((f) => f.name), [`cut_${cut}_memory_static.png`, `cut_${cut}_memory_static.svg`]);
  let found = await read(page, memory[1].body.toString());
  assert.equal(found.bad, "");
  const steps = await use.locator("path.s-static").evaluate((p) => {
    const [at, all] = [{ x: 0, y: 0 }, []];
    for (const [, command, value] of p.getAttribute("d").matchAll(/([MHV])([\d. -]+)/g)) {
      if (command === "M") [at.x, at.y] = value.split(" ").map(Number);
      else at[command === "H" ? "x" : "y"] = Number(value);
      all.push([at.x, at.y]);
    }
    return all;
  });
  assert.ok(steps.length > 4);
  for (const p of steps) assert.ok(near(found.points, p), `${p} is drawn`);

  await page.goto(`${server.url}/runs/${cut}/graphs?mode=static&graphs=all`);
  await drawn(page);
  await page.locator(".graph.torn g.row").first().waitFor();
  await afterTimers(page);
  const torn = await saved(page, page.locator("#main"), "SVG");
  assert.equal(torn.name, `cut_${cut}_graphs_static.svg`);
  found = await read(page, torn.body.toString());
  assert.equal(found.bad, "");
  assert.deepEqual([...new Set(found.texts)].sort(), [...new Set(await page.locator(".graph.torn text").allTextContents())].sort());

  await page.goto(`${server.url}/history`);
  await drawn(page);
  const map = page.getByRole("region", { name: "All workloads over commits", exact: true });
  const heat = [await saved(page, map, "PNG"), await saved(page, map, "SVG")];
  assert.deepEqual(heat.map((f) => f.name), ["all_workloads_over_commits.png", "all_workloads_over_commits.svg"]);
  found = await read(page, heat[1].body.toString());
  assert.equal(found.bad, "");
  const cells = await map.locator("#heat td.hot a").evaluateAll((all) => all.map((a) => a.textContent));
  assert.ok(cells.length >= 2);
  for (const text of cells) assert.ok(found.texts.includes(text), text);
  const ground = await map.locator("#heat td.hot").first().evaluate((td) => getComputedStyle(td).backgroundColor);
  assert.ok(found.colours.includes(ground), ground);
  await sound(page, complaints);
});

test("the timeline: each text, each rectangle and each stripe of what is in sight", async () => {
  const { page, complaints } = await openPage(browser);
  // What is drawn on the page: its texts, and where its rectangles and lines begin.
  await page.addInitScript(() => {
    globalThis.pen = { texts: [], points: [] };
    const of = CanvasRenderingContext2D.prototype;
    for (const [name, note] of [["fillText", (text) => globalThis.pen.texts.push(text)], ["moveTo", (x, y) => globalThis.pen.points.push([x, y])], ["fillRect", (x, y) => globalThis.pen.points.push([x, y])]]) {
      const draw = of[name];
      of[name] = function (...args) {
        note(...args);
        return draw.apply(this, args);
      };
    }
  });
  await page.goto(`${server.url}/runs/${cut}/timeline?mode=static`);
  await drawn(page);
  await page.locator(".tl canvas").waitFor();
  await afterTimers(page);
  const shown = await page.evaluate(async () => {
    globalThis.pen = { texts: [], points: [] };
    dispatchEvent(new Event("themechange"));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const { width, height } = document.querySelector(".tl canvas").getBoundingClientRect();
    return { ...globalThis.pen, size: [width, height] };
  });
  const [png, svg] = [await saved(page, page.locator("#main"), "PNG"), await saved(page, page.locator("#main"), "SVG")];
  assert.deepEqual([png.name, svg.name], [`cut_${cut}_timeline_static.png`, `cut_${cut}_timeline_static.svg`]);
  assert.deepEqual([png.body.readUInt32BE(16), png.body.readUInt32BE(20)], shown.size.map((v) => Math.ceil(2 * v)));
  const found = await read(page, svg.body.toString());
  assert.equal(found.bad, "");
  assert.deepEqual(found.size, shown.size);
  assert.ok(shown.texts.length > 5);
  assert.deepEqual([...new Set(found.texts)].sort(), [...new Set(shown.texts)].sort());
  assert.ok(shown.points.length > 20);
  for (const p of shown.points) assert.ok(near(found.points, p), `${p} is drawn`);
  await sound(page, complaints);
});

test("the picture of a graph: as PNG what the server gives as SVG", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${cut}/graphs?mode=static`);
  await drawn(page);
  const picture = page.locator(".picture");
  const png = await saved(page, picture, "PNG");
  assert.equal(png.name, `cut_${cut}_graph_0_static.png`);
  const given = await (await fetch(`${server.url}/api/v1/runs/${cut}/export?format=svg&mode=static&graph=0`)).text();
  const size = /^<svg [^>]*width="(\d+)" height="(\d+)"/.exec(given).slice(1).map(Number);
  assert.deepEqual([png.body.readUInt32BE(16), png.body.readUInt32BE(20)], size.map((v) => 2 * v));
  const colours = await page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
    const pen = new OffscreenCanvas(image.width, image.height).getContext("2d");
    pen.drawImage(image, 0, 0);
    return new Set(new Uint32Array(pen.getImageData(0, 0, image.width, image.height).data.buffer)).size;
  }, [...png.body]);
  assert.ok(colours > 8, `${colours} colours`);
  await sound(page, complaints);
});
