// tests/e2e/results.test.mjs -- pages of what other tools measured: a run, a suite, the list, Compare, History.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { getJson, startServer } from "../api/harness.mjs";
import { drawn, openPage, sideways, sound, startBrowser } from "./browser.mjs";

let server, browser, google, again, dynamo;
const post = async (file, query) =>
  (await getJson(`${server.url}/api/v1/results?file=${file}&${query}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: readFileSync(`tests/results/${file}`) })).body;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  google = await post("google_repetitions.json", "commit=c1");
  again = await post("google_repetitions.json", "commit=c2");
  dynamo = await post("dynamo_accuracy.csv", "");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`a result has figures, samples and its machine, and no view of a program, at ${how.width ?? 1440} px`, async () => {
    const { page, complaints, context } = await openPage(browser, how);
    const [id] = google.runs;
    const { report } = (await getJson(`${server.url}/api/v1/runs/${id}`)).body;
    await page.goto(`${server.url}/runs/${id}`);
    await page.locator("#spread-1:not([aria-busy=true])").waitFor();
    const rows = await page.getByRole("region", { name: "Figures, table" }).locator("tbody tr").allInnerTexts();
    assert.equal(rows.length, Object.keys(report.modes).length);
    assert.ok(rows[0].startsWith("wall") && rows[0].includes(report.modes.wall.measure.shown.replace(/-/, "–")), rows[0]);
    assert.equal(await page.locator(".tabs").count(), 0);
    assert.equal(await page.getByRole("link", { name: "Edit and run again" }).count(), 0);
    assert.match(await page.locator("#main").innerText(), /Machine\s+vm[^]*Build\s+debug/);
    assert.equal(await page.locator("#spread-1-table tbody tr").count(), report.modes.wall.measure.samples.length);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    // A view that it has not leads to the one that it has.
    await page.goto(`${server.url}/runs/${id}/kernels`);
    await page.waitForURL(`${server.url}/runs/${id}`);

    await page.goto(`${server.url}/suites/${google.suite}`);
    await drawn(page);
    assert.match(await page.locator(".verdict").innerText(), /^4 benchmarks of google-benchmark\.$/);
    assert.equal(await page.getByRole("region", { name: "Benchmarks, table" }).locator("tbody tr").count(), 4);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);

    await page.goto(`${server.url}/compare?a=${id}&b=${again.runs[0]}`);
    await drawn(page);
    assert.match(await page.locator(".verdict").first().innerText(), /SAME/);
    assert.doesNotMatch(await page.locator("#main").innerText(), /Neither breaks|Neither has kernels|Identical\./);
    await sound(page, complaints);

    await page.goto(`${server.url}/runs`);
    await page.locator(".runs tbody tr").first().waitFor();
    assert.match(await page.locator(".runs tbody").innerText(), new RegExp(`simple_gpt\\s*#${dynamo.runs[0]}[^]*accuracy 1, by dynamo`));
    await sound(page, complaints);
    await context.close();
  });
