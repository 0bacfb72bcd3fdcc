// tests/e2e/sweep.test.mjs -- the main job, as a newcomer does it in the browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { getJson, longSweep, postRun, startServer, waitFor } from "../api/harness.mjs";
import { drawn, openCommand, openPage, refusals, sound, sourceOf, startBrowser, twinNumbers } from "./browser.mjs";

let server, browser, page, complaints, report, runPath;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  ({ page, complaints } = await openPage(browser));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("an empty store offers the sweep and its command line", async () => {
  await page.goto(server.url);
  await page.getByRole("button", { name: "Run chain sweep" }).waitFor();
  assert.equal(
    await page.getByRole("region", { name: "The same as a command" }).textContent(),
    `breakeven run model.py --input 'x=float32[64,64]' --post ${server.url}`,
  );
});

test("the form opens with the sweep, posts it, and progress is shown until it is done", async () => {
  await page.getByRole("link", { name: "New run" }).first().click();
  await page.getByRole("button", { name: "Run", exact: true }).waitFor();
  assert.match(await sourceOf(page), /def model\(x\):\n {4}\.\.\.\n/);
  assert.equal(await page.getByLabel("Counts").inputValue(), "1, 5, 10, 15, 20, 25, 30");
  // Until its page is there it waits for another run: however quick it is, its progress is seen.
  const other = `${server.url}/api/v1/runs/${(await postRun(server, { ...longSweep(), backend: "interp" })).body.id}`;
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/\d+$/);
  runPath = new URL(page.url()).pathname;
  await page.locator("#progress-share").waitFor();
  await fetch(other, { method: "DELETE" });
  await page.locator("#verdict").waitFor();
  await drawn(page);
  await fetch(other, { method: "DELETE" }); // stopped before, deleted now
  report = (await getJson(`${server.url}/api/v1${runPath}/report.json`)).body;
});

test("the latency curve's numbers are the report's, interval by interval", async () => {
  const want = {};
  for (const mode of ["eager", "static", "dynamic"]) {
    want[mode] = report.points.map((p) => [p.n, p.modes[mode].latency.median_us, ...p.modes[mode].latency.ci_us]);
  }
  assert.deepEqual(
    report.points.map((p) => p.n),
    [1, 5, 10, 15, 20, 25, 30],
  );
  assert.deepEqual(await twinNumbers(page, "latency"), want);
});

test("the speedup curve's numbers are the report's", async () => {
  const want = {};
  for (const mode of ["static", "dynamic"]) {
    want[mode] = report.points.map((p) => [p.n, p.break_even[mode].speedup, ...p.break_even[mode].speedup_ci]);
  }
  assert.deepEqual(await twinNumbers(page, "speedup"), want);
});

test("the sentence and the table speak of the same verdict as the report", async () => {
  const last = report.points.at(-1);
  const { verdict } = last.break_even.static;
  const cell = page.locator("#modes-table tbody tr", { hasText: "static" }).locator(".chip");
  assert.equal(await cell.textContent(), verdict);
  const sentence = await page.locator("#verdict").textContent();
  const said = {
    FASTER: /^static is \d.*faster than eager at n = 30/, SLOWER: /^static is \d.*slower than eager at n = 30/,
    SAME: /^static is as fast as eager: .* at n = 30/, AMBIGUOUS: /^static may or may not be faster than eager: .* at n = 30/,
  };
  assert.match(sentence.replace(/\u00a0/g, " "), said[verdict] ?? /^There are not enough samples to compare static with eager at n = 30/);
});

test("another point is chosen, and its address keeps it", async () => {
  await page.getByLabel("Point", { exact: true }).selectOption({ label: "n = 5" });
  await page.getByRole("heading", { name: "Modes at n = 5" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Modes at n = 5" }).waitFor();
  await drawn(page);
});

test("the split's printed parts add up to the watched call", async () => {
  const rows = await page
    .locator("#split-table tbody tr")
    .evaluateAll((trs) =>
      trs.map((tr) => [...tr.cells].slice(2, 9).map((c) => Number(c.textContent.replace("−", "-").replace(/,/g, "")))),
    );
  assert.equal(rows.length, 3);
  for (const cells of rows) {
    const parts = cells.slice(0, 6).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(parts - cells[6]) < 1e-6 * Math.max(1, cells[6]), `${cells}`);
  }
});

test("published series are laid over, with their source and their crossover", async () => {
  await page.getByLabel("PyTorch 2.11 on an H200").check();
  assert.match(await page.locator("#overlay-sources").textContent(), /NVIDIA H200.*Measured elsewhere/);
  const twin = await twinNumbers(page, "latency");
  assert.deepEqual(
    twin["static-h200"].map((r) => r[1]),
    [24.5, 25.1, 25.4, 25.1, 25.5, 25.3, 25.6],
  );
  await page.getByLabel("PyTorch 2.11 on an H200").uncheck();
  assert.deepEqual(Object.keys(await twinNumbers(page, "latency")), ["eager", "static", "dynamic"]);
});

test("break-even over the number of calls: the report's calls are where the curve meets 1x", async () => {
  const last = report.points.at(-1);
  await page.getByLabel("Point", { exact: true }).selectOption({ label: "n = 30" });
  const twin = await twinNumbers(page, "repay");
  assert.deepEqual(Object.keys(twin), ["static", "dynamic"]);
  for (const [mode, dots] of Object.entries(twin)) {
    const be = last.break_even[mode];
    if (be.repay !== "after" || be.calls_to_repay > 1e9) continue; // the curve ends there
    const met = dots.find(([calls]) => calls === be.calls_to_repay);
    const step = be.saved_us / last.modes.eager.latency.median_us; // calls are rounded up to a whole one
    assert.ok(met[1] >= 1 && met[1] - 1 <= step, `${mode}: ${met}`);
    assert.ok(dots[0][1] < dots.at(-1)[1]);
  }
  assert.match(await page.locator("#repaid").innerText(), /static[\s\S]*dynamic/);
  await page.getByLabel("Point", { exact: true }).selectOption({ label: "n = 1" });
  await page.getByText("at n = 1, over the number of calls").waitFor();
  const eager = (await twinNumbers(page, "repay")).static[0][1];
  const first = report.points[0];
  const { latency, compile_ms } = first.modes.static;
  const one = (latency.median_us + first.break_even.static.saved_us) / (1e3 * compile_ms + latency.median_us);
  assert.ok(Math.abs(eager / one - 1) < 1e-9);
});

test("a series from a file and the sweep of another run are laid over; a wrong file says why", async () => {
  const chooser = async (name, text) => {
    const [files] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "A file" }).click()]);
    await files.setFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
  };
  await chooser("mine.csv", "n,eager_us,static_ms,static_ms_lo,static_ms_hi\n1,10,0.004,0.003,0.005\n30,90,0.005,0.004,0.006\n");
  await page.locator('[data-overlay="file:mine.csv"]').waitFor();
  assert.deepEqual((await twinNumbers(page, "latency"))["static-file:mine.csv"], [[1, 4, 3, 5], [30, 5, 4, 6]]);
  assert.deepEqual((await twinNumbers(page, "speedup"))["static-file:mine.csv"].map((r) => r[1]), [2.5, 18]);
  assert.match(await page.locator("#overlay-sources").textContent(), /From the file mine\.csv/);
  await chooser("bad.csv", "n,static\n1,2\n");
  await page.getByText("bad.csv is not a series: column static: a mode and a unit are needed").waitFor();
  const { id } = (await postRun(server, { ...report.workload, name: "other", seconds: 1 })).body;
  await waitFor(server, id);
  await page.getByRole("button", { name: "Another run" }).click();
  await page.getByRole("dialog").getByRole("option", { name: /other #/ }).click();
  await page.locator(`[data-overlay="run${id}"]`).waitFor();
  assert.match(page.url(), new RegExp(`over=run${id}`));
  const { report: its } = (await getJson(`${server.url}/api/v1/runs/${id}`)).body;
  assert.deepEqual((await twinNumbers(page, "latency"))[`static-run${id}`].map((r) => r[1]), its.points.map((p) => p.modes.static.latency.median_us));
  await page.reload();
  await page.locator(`[data-overlay="run${id}"]:checked`).waitFor();
  await sound(page, complaints);
  await fetch(`${server.url}/api/v1/runs/${id}`, { method: "DELETE" });
  await page.goto(server.url + runPath);
  await page.locator("#latency:not([aria-busy]) canvas").waitFor();
});

test("dragging zooms, and Whole chart comes back", async () => {
  const whole = page.locator("#latency").getByRole("button", { name: "Whole chart" });
  await page.locator("#latency canvas").scrollIntoViewIfNeeded();
  const box = await page.locator("#latency canvas").boundingBox();
  await page.mouse.move(box.x + 0.3 * box.width, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.6 * box.width, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await whole.waitFor();
  await whole.click();
  await whole.waitFor({ state: "hidden" });
});

test("a logarithmic scale and the table are one press away", async () => {
  const latency = page.locator("#latency");
  await latency.getByRole("button", { name: "Log" }).click();
  assert.equal(await latency.getByRole("button", { name: "Log" }).getAttribute("aria-pressed"), "true");
  await latency.getByRole("button", { name: "Table" }).click();
  await latency.locator("table").waitFor();
  assert.equal(await latency.locator("canvas").isVisible(), false);
  await latency.getByRole("button", { name: "Chart" }).click();
});

test("CSV holds the curve's numbers", async () => {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#latency").getByRole("button", { name: "CSV" }).click(),
  ]);
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\n");
  assert.equal(
    lines[0],
    "n,eager_us,eager_us_lo,eager_us_hi,static_us,static_us_lo,static_us_hi,dynamic_us,dynamic_us_lo,dynamic_us_hi",
  );
  assert.equal(Number(lines[7].split(",")[1]), report.points[6].modes.eager.latency.median_us);
});

test("PNG is the chart as it is shown", async () => {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("#latency").getByRole("button", { name: "PNG" }).click(),
  ]);
  assert.match(file.suggestedFilename(), /_latency\.png$/);
  const shown = await page.evaluate(async (bytes) => {
    const image = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: image.width, height: image.height });
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, image.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4) colours.add(data.slice(i, i + 4).join());
    const drawn = document.querySelector("#latency canvas");
    const times = image.width / drawn.clientWidth;
    return { times, same: Math.abs(image.height - times * drawn.clientHeight) <= 1, ground: data.slice(0, 4).join(), colours: colours.size };
  }, [...(await readFile(await file.path()))]);
  assert.ok(shown.same && shown.times >= 2, `${shown.times} times as sharp, of the same shape: ${shown.same}`);
  assert.equal(shown.ground, "255,255,255,255");
  assert.ok(shown.colours > 10, `${shown.colours}`);
});

test("SVG is the chart as shapes and texts, and looks as it does", async () => {
  for (const id of ["latency", "speedup"]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(`#${id}`).getByRole("button", { name: "SVG" }).click()]);
    assert.match(file.suggestedFilename(), new RegExp(`_${id}\\.svg$`));
    const text = await readFile(await file.path(), "utf8");
    assert.doesNotMatch(text, /NaN|undefined|null|<image/);
    const shown = await page.evaluate((id) => {
      const drawn = document.querySelector(`#${id} canvas`);
      return { png: drawn.toDataURL(), width: drawn.clientWidth };
    }, id);
    const apart = await page.context().newPage(); // of no policy, which would refuse pictures from elsewhere
    const seen = await apart.evaluate(async ({ text, png }) => {
      const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
      const [drawn, image] = [png, URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))].map((src) => Object.assign(new Image(), { src }));
      await Promise.all([drawn.decode(), image.decode()]);
      const [ours, theirs] = [drawn, image].map((from) => {
        const canvas = document.createElement("canvas");
        Object.assign(canvas, { width: drawn.width, height: drawn.height });
        const pen = canvas.getContext("2d");
        pen.fillStyle = "#fff";
        pen.fillRect(0, 0, canvas.width, canvas.height);
        pen.drawImage(from, 0, 0, canvas.width, canvas.height);
        return pen.getImageData(0, 0, canvas.width, canvas.height).data;
      });
      let [inked, missed] = [0, 0];
      for (let i = 0; i < ours.length; i += 4) {
        const dark = (d) => d[i] + d[i + 1] + d[i + 2] < 500;
        inked += dark(ours);
        missed += dark(ours) && !dark(theirs);
      }
      return { root: svg.nodeName, texts: [...svg.querySelectorAll("text")].map((t) => t.textContent), width: Number(svg.getAttribute("width")), missed: missed / inked };
    }, { text, png: shown.png });
    await apart.close();
    assert.equal(seen.root, "svg");
    assert.ok(Math.abs(seen.width - shown.width) <= 1);
    for (const name of ["static", "dynamic", "30"]) assert.ok(seen.texts.includes(name), `${name} in ${seen.texts}`);
    assert.ok(seen.missed < 0.35, `${Math.round(100 * seen.missed)} % of what is drawn is elsewhere in the file`);
  }
});

test("the report and the PyTorch script download", async () => {
  for (const [name, ending] of [
    ["Report, JSON", /\.json$/],
    ["PyTorch script", /\.py$/],
  ]) {
    await page.locator("details.export").evaluate((menu) => (menu.open = true));
    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name }).click()]);
    assert.match(file.suggestedFilename(), ending);
    assert.ok((await readFile(await file.path(), "utf8")).length > 200);
  }
});

test("graphs list the report's ops and guards", async () => {
  await page.getByRole("link", { name: /^Graphs/ }).click();
  await page.waitForURL(/\/graphs/);
  const last = report.points.at(-1).modes.static;
  await page.getByLabel("Point", { exact: true }).selectOption({ label: "n = 30" });
  const listed = page.locator(".ops li code"); // after the picture
  await listed.nth(last.graphs[0].ops.length - 1).waitFor();
  assert.deepEqual(await listed.allTextContents(), last.graphs[0].ops);
  const text = await page.locator("#run-body").textContent();
  for (const g of last.guards) assert.ok(text.includes(g.text), g.text);
});

test("source shows the program as it ran at a point", async () => {
  await page.getByRole("link", { name: "Source" }).click();
  await page.getByLabel("Show", { exact: true }).selectOption({ label: "as run at n = 5" });
  const shown = await page.locator(".code").first().locator("li > span:last-child").allTextContents();
  assert.equal(shown.join("\n").trim(), report.points[1].source.replace(/^\s*$/gm, " ").trim());
});

test("the list has the run with its verdict and ratio", async () => {
  await page.getByRole("link", { name: "Breakeven" }).click();
  const row = page.locator(".runs tbody tr");
  await row.waitFor();
  assert.equal(await row.count(), 1);
  assert.match(
    await row.textContent(),
    new RegExp(`chain_sweep.*${report.points.at(-1).break_even.static.verdict}.*x`),
  );
});

test("edit and run again brings the same workload back", async () => {
  await page.goto(server.url + runPath);
  await page.getByRole("link", { name: "Edit and run again" }).click();
  await page.waitForURL(/\/new\?from=/);
  await openCommand(page);
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  const { title, ...posted } = { entry: "model", device: "cpu", ...report.workload };
  assert.equal(title, undefined);
  assert.deepEqual(JSON.parse(await page.getByRole("region", { name: "The same as a command" }).textContent()), posted);
});

test("a deleted run is off the list, and can be had back", async () => {
  await page.goto(server.url + runPath);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/\/runs$/);
  await page.getByText("No runs yet").waitFor();
  assert.equal((await getJson(`${server.url}/api/v1${runPath}`)).status, 404);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForURL(new RegExp(`${runPath}$`));
  await page.locator("#verdict").waitFor();
});

test("nothing was logged as an error and nothing refused by the policy", async () => {
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});
