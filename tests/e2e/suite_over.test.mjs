// tests/e2e/suite_over.test.mjs -- a suite beside those of its name, over time.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, startServer, suiteEnded, workload } from "../api/harness.mjs";
import { openPage, sideways, sound, startBrowser } from "./browser.mjs";

let server, browser;
const ids = [];
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  for (const name of ["nightly", "nightly", "other"]) {
    const body = JSON.stringify({ name, workloads: ["a", "b"].map((n) => ({ ...workload("    return (x * 2).sum()"), name: n })), policy: "dynamo", modes: ["eager", "static"], seconds: 0.05, backend: "interp" });
    const { id } = (await getJson(`${server.url}/api/v1/suites`, { method: "POST", headers: { "Content-Type": "application/json" }, body })).body;
    await suiteEnded(server, id);
    ids.push(id);
  }
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`a suite shows those of its name, newest first, at ${how.width ?? 1440} px`, async () => {
    const { page, complaints, context } = await openPage(browser, how);
    await page.goto(`${server.url}/suites/${ids[0]}`);
    await page.locator("#suite-over").waitFor();
    assert.deepEqual(await page.locator("#suite-over tbody th").allInnerTexts(), [`#${ids[1]}`, `#${ids[0]} this one`]);
    const { suites } = (await getJson(`${server.url}/api/v1/suites`)).body;
    const mean = suites.find((s) => s.id === ids[1]).columns.find((c) => c.mode === "static").shown.geomean.text;
    const text = await page.locator("#suite-over tbody tr").first().innerText();
    assert.ok(text.includes(mean) && text.includes("2 of 2"), text);
    assert.equal(await page.locator("#suite-over .wh .pt").count(), 2);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await page.goto(`${server.url}/suites/${ids[2]}`);
    await page.locator("#suite-workloads").waitFor();
    assert.equal(await page.locator("#suite-over").count(), 0, "there is nothing to set it beside");
    await context.close();
  });
