// tests/e2e/heat.test.mjs -- the map of workloads over commits: colours, keys, and the same as a table.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, timed, waitFor, workload } from "../api/harness.mjs";
import { drawn, openPage, sideways, sound, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  for (const [name, commit, us] of [["fast", "c1", { eager: 40, static: 10 }], ["slow", "c2", { eager: 10, static: 30 }], ["fast", "c2", { eager: 40, static: 20 }]]) {
    const { id } = await waitFor(server, (await postRun(server, { ...workload("    return x.sin().sum()"), backend: "interp", modes: ["eager", "static"], seconds: 0.05, name, commit })).body.id);
    await timed(server, id, us);
  }
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`workloads over commits, at ${how.width ?? 1440} px`, async () => {
    const { page, complaints, context } = await openPage(browser, how);
    await page.goto(`${server.url}/history?workload=fast`);
    await drawn(page);
    const cells = () => page.locator("#heat tbody td").evaluateAll((all) => all.map((td) => [td.innerText, td.dataset.heat ?? ""]));
    assert.deepEqual(await cells(), [["4.00x", "5"], ["2.00x", "3"], ["not run", ""], ["0.333x", "-4"]]);
    const ground = await page.locator("#heat tbody td").evaluateAll((all) => all.map((td) => getComputedStyle(td).backgroundColor));
    assert.equal(new Set(ground).size, 4, "no two of these look alike");
    await page.locator("#heat td a").first().focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator("#heat-tip").innerText(), /^2\.00x, fast at c2: static 2\.00?x \(.*\) over eager, FASTER; 20 µs a call, 2\.00x of the oldest here\. Run #\d+\.$/);
    await page.keyboard.press("ArrowDown");
    assert.match(await page.locator("#heat-tip").innerText(), /, slow at c2: /);
    await page.getByRole("button", { name: "Median" }).click();
    assert.deepEqual((await cells()).map(([, level]) => level), ["0", "-3", "", "0"]);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await page.locator("#heat").locator("xpath=ancestor::section").getByRole("button", { name: "Table" }).click();
    assert.equal(await page.locator("#heat td.hot").first().evaluate((td) => getComputedStyle(td).backgroundColor), "rgba(0, 0, 0, 0)");
    await page.locator("#heat td a").first().focus();
    await page.keyboard.press("Enter");
    await page.locator("#verdict").waitFor();
    await context.close();
  });
