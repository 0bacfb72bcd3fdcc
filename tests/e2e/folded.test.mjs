// tests/e2e/folded.test.mjs -- a suite's runs as one row of the list: by click, by key, under a filter.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, postLongTrace, postRun, startServer, suiteEnded, waitFor, workload } from "../api/harness.mjs";
import { openPage, sideways, sound, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const of = { backend: "interp", modes: ["eager", "static"] };
  await waitFor(server, (await postRun(server, { ...workload("    return x.sin().sum()"), ...of, name: "alone" })).body.id);
  const workloads = ["red", "green", "blue"].map((name) => ({ ...workload("    return (x * 2).sum()"), name }));
  workloads.push({ ...workload("    return x.reshape(3)"), name: "broken" });
  const body = JSON.stringify({ name: "colours", workloads, policy: "dynamo", modes: ["eager", "static"], seconds: 0.05, backend: "interp" });
  const { id } = (await getJson(`${server.url}/api/v1/suites`, { method: "POST", headers: { "Content-Type": "application/json" }, body })).body;
  await suiteEnded(server, id);
  await postLongTrace(server, 400);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const names = (page) => page.locator(".runs tbody th a").allInnerTexts();
const rows = (page, n) => page.waitForFunction((n) => document.querySelectorAll(".runs tbody th a").length === n, n);

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`a suite is one row that opens and closes, at ${how.width ?? 1440} px`, async () => {
    const { page, complaints, context } = await openPage(browser, how);
    await page.goto(`${server.url}/runs`);
    await rows(page, 3);
    assert.deepEqual(await names(page), ["long", "colours", "alone"]);
    assert.equal(await page.locator("#run-count").innerText(), "6 runs");
    const suite = page.locator(".runs tbody tr.suite-row");
    const said = await suite.innerText();
    assert.match(said, /3 of 4 pass/);
    assert.match(said, /\dx/);
    if (!how.width) assert.match(said, /Geometric mean, static: 4 runs, 3 done, 1 failed/);
    assert.match(await page.locator(".runs tbody tr").first().innerText(), /profiler trace.*, 400 kernels in 2,000 µs/);
    await page.getByRole("button", { name: /Open suite colours/ }).click();
    await rows(page, 7);
    assert.deepEqual(await names(page), ["long", "colours", "broken", "blue", "green", "red", "alone"]);
    assert.match(page.url(), /open=1/);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await page.reload();
    await rows(page, 7);
    await page.getByRole("button", { name: /Close suite colours/ }).focus();
    await page.keyboard.press("Enter");
    await rows(page, 3);
    assert.match(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), /Open suite colours/);
    await page.keyboard.press("o");
    await rows(page, 7);
    await page.keyboard.press("j");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "broken");
    await page.getByLabel("Search the runs").fill("re");
    await rows(page, 3);
    assert.deepEqual(await names(page), ["colours", "green", "red"]);
    if (!how.width) assert.match(await suite.innerText(), /2 of 4 runs match/);
    assert.deepEqual(complaints, []);
    await context.close();
  });

test("in another order each run of a suite is a row of its own", async () => {
  const { page, context } = await openPage(browser);
  await page.goto(`${server.url}/runs?sort=name`);
  await rows(page, 6);
  assert.equal(await page.locator(".suite-row").count(), 0);
  await context.close();
});
