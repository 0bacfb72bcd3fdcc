// tests/e2e/history.test.mjs -- a workload over its runs in a real browser: curve, note, baseline.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { drawn, openPage, sound, startBrowser } from "./browser.mjs";

const quick = { backend: "interp", seconds: 0.2, threads: 1, modes: ["eager", "static"], name: "chain" };
const body = "    x = x * 1.1\n    return x.sum()";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("no runs, and a name that none has", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/history`);
  await page.getByRole("heading", { name: "No runs yet" }).waitFor();
  await page.goto(`${server.url}/history?workload=%3Cb%3Enone`);
  await page.getByText("No run here is of a workload named <b>none.").waitFor();
  await sound(page, complaints);
});

test("runs over commits: figures of the store, a note, a baseline, and the way to a comparison", async () => {
  for (const w of [workload(body, { ...quick, commit: "aaaaaaa111" }), workload(body, { ...quick, commit: "bbbbbbb222" }),
    workload("    return x.reshape(3)", quick), workload(`    x = x + 1\n${body}`, quick)]) {
    await waitFor(server, (await postRun(server, w)).body.id);
  }
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/history`);
  await page.locator("#history-runs").waitFor();
  const { body: h } = await getJson(`${server.url}/api/v1/history?workload=chain`);
  assert.match(await page.locator("#verdict").innerText(), /^static speedup over eager: [\d.]+x \([\d.,]+–[\d.,]+\) in the newest of 3 runs\.$/);
  assert.match(await page.locator(".verdict .how").innerText(), /No step: a change has to come back in a second run.*No run is marked as the baseline\. 1 run failed\./);
  const rows = page.locator("#history-runs tbody tr");
  assert.deepEqual(await rows.locator("th").allInnerTexts(), ["#4", "#3", "#2", "#1"]);
  assert.equal(await rows.nth(3).locator(".num-strong").innerText(), h.points[0].shown.text, "the figure that the store has");
  assert.match(await rows.nth(0).innerText(), /source changed/);
  assert.match(await rows.nth(1).innerText(), /FAILED/);
  assert.match(await rows.nth(2).innerText(), /bbbbbbb[\s\S]*same source and settings/);
  await rows.nth(3).getByRole("button", { name: /^Baseline/ }).click();
  await page.locator("#history-runs tr.base").waitFor();
  assert.match(await page.locator("#verdict").innerText(), /the baseline #1 has/);
  await rows.nth(2).getByRole("button", { name: /^Note/ }).click();
  await page.getByRole("textbox", { name: "Note" }).fill("<i>new</i> driver");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("td.note", { hasText: "<i>new</i> driver" }).waitFor();
  assert.equal((await getJson(`${server.url}/api/v1/runs/2`)).body.note, "<i>new</i> driver");
  const canvas = page.locator("#history-chart canvas");
  const live = page.locator("#live");
  await drawn(page);
  await canvas.focus();
  await page.keyboard.press("Home");
  await page.waitForFunction(() => /^#1, commit aaaaaaa/.test(document.querySelector("#live").textContent));
  assert.match(await live.innerText(), /static speedup over eager: [\d.]+x \([\d.]+–[\d.]+\)\. the baseline/);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /Note: <i>new<\/i> driver/.test(document.querySelector("#live").textContent));
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "#2", "from the point to the row that is edited");
  const box = await canvas.boundingBox();
  await page.mouse.click(box.x + box.width - 60, box.y + 100);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "#4");
  await sound(page, complaints);
  await page.locator("#history-metric").selectOption("peak_bytes");
  await page.locator("#verdict", { hasText: "static peak memory" }).waitFor();
  assert.match(page.url(), /metric=peak_bytes/);
  await page.locator("#history-runs").getByRole("link", { name: /Compare with baseline #2/ }).click();
  await page.locator("#metrics").waitFor();
  assert.match(page.url(), /\/compare\?a=1&b=2$/);
  assert.deepEqual(complaints, []);
});

test("on a narrow dark screen, by a link from the run", async () => {
  const { page, complaints } = await openPage(browser, { width: 390, theme: "dark" });
  await page.goto(`${server.url}/runs/2`);
  await page.locator("main").getByRole("link", { name: "History", exact: true }).click();
  await page.locator("#history-runs").waitFor();
  await sound(page, complaints);
});
