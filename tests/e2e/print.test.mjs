// tests/e2e/print.test.mjs -- a page on paper: light, without what is pressed, as a PDF of what it says.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { drawn, openPage, startBrowser } from "./browser.mjs";

let server, browser, id;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  const swept = { ...workload("    ...\n    return x.sum()", { backend: "interp", seconds: 0.1, threads: 1, modes: ["eager", "static"] }), sweep: { statements: { pool: ["x = x * 1.1"], counts: [1, 4, 8] } } };
  id = (await postRun(server, swept)).body.id;
  await waitFor(server, id);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("a dark page is printed light and comes back dark; bars, tabs and buttons stay out", async () => {
  const { page } = await openPage(browser, { theme: "dark" });
  await page.goto(`${server.url}/runs/${id}`);
  await drawn(page);
  await page.evaluate(() => {
    globalThis.themes = [];
    addEventListener("themechange", () => globalThis.themes.push(document.documentElement.dataset.theme));
  });
  const pdf = await page.pdf();
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  assert.deepEqual(await page.evaluate(() => globalThis.themes), ["light", "dark"]);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.emulateMedia({ media: "print" });
  const seen = (selector) => page.evaluate((s) => [...document.querySelectorAll(s)].filter((e) => e.getClientRects().length).length, selector);
  for (const gone of [".nav", ".tabs", ".head .acts", ".foot", ".chart .acts"]) assert.equal(await seen(gone), 0, gone);
  for (const kept of [".verdict", "#modes-table tbody tr", "#latency canvas", ".meta"]) assert.ok((await seen(kept)) > 0, kept);
});
