// tests/e2e/partial.test.mjs -- a sweep that was cancelled: its points stay on its page, and the list says so.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, postRun, startServer, sweep, until, waitFor } from "../api/harness.mjs";
import { drawn, openPage, sideways, sound, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("a sweep that was cancelled shows what was measured, and says of how much", async () => {
  const w = { ...sweep(), backend: "interp", modes: ["eager", "static"] };
  const pool = ["x = x + 1", "x = torch.sin(x)", "x = x * 2", "for i in range(400): x = x + torch.ones(3000, 3000).matmul(torch.ones(3000, 3000)).sum()"];
  const id = (await postRun(server, { ...w, sweep: { statements: { pool, counts: [1, 2, 3, 4] } } })).body.id;
  await until(async () => (await getJson(`${server.url}/api/v1/runs/${id}`)).body.measured >= 3, "three points");
  const watching = await openPage(browser);
  await watching.page.goto(`${server.url}/runs/${id}`);
  await watching.page.getByRole("button", { name: "Cancel" }).click();
  await watching.page.getByText("Partial: 3 of 4 points measured").waitFor();
  await watching.context.close();
  const run = await waitFor(server, id);
  for (const how of [{}, { width: 390, theme: "dark" }]) {
    const { page, context, complaints } = await openPage(browser, how);
    await page.goto(`${server.url}/runs/${id}`);
    await drawn(page);
    assert.match(await page.locator("#partial").innerText(), /cancelled Partial: 3 of 4 points measured; the figures below cover only those\./);
    assert.match(await page.locator("#verdict").innerText(), /at\sn\s=\s3/);
    assert.equal(await page.locator("#speedup-table tbody tr").count(), run.report.points.length);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    for (const tab of ["breaks", "graphs", "source", "passes", "guards", "timeline", "memory"]) {
      await page.goto(`${server.url}/runs/${id}/${tab}`);
      await page.locator("#run-body:not([aria-busy])").waitFor();
      await page.locator("#partial").waitFor();
    }
    await page.goto(`${server.url}/runs`);
    await page.locator(".runs tbody tr").getByText("Partial: 3 of 4 points measured").waitFor();
    await sound(page, complaints);
    await context.close();
  }
});
