// tests/e2e/base_path.test.mjs -- the page of a server whose paths begin below one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { drawn, openPage, refusals, startBrowser } from "./browser.mjs";

let server, browser, id;
before(async () => {
  [server, browser] = await Promise.all([startServer({ args: ["--base-path", "/perf"] }), startBrowser()]);
  id = (await postRun(server, workload("    return torch.relu(x)", { backend: "interp", modes: ["eager", "static"] }))).body.id;
  await waitFor(server, id);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("every view opens by its links and by its address, and nothing is asked for elsewhere", async () => {
  const { page, context, complaints } = await openPage(browser);
  const asked = [];
  page.on("request", (r) => asked.push(new URL(r.url())));
  await page.goto(server.url);
  await page.click(`.runs tbody a[href="/perf/runs/${id}"]`);
  await page.waitForSelector("#modes-table");
  for (const tab of ["breaks", "graphs", "timeline", "source"]) {
    await page.click(`a[href^="/perf/runs/${id}/${tab}"]`);
    await page.waitForURL(`${server.url}/runs/${id}/${tab}*`);
    await drawn(page);
    await page.reload();
    await drawn(page);
  }
  for (const nav of ["suites", "new", "compare", "history", "ops", "api", "docs", "runs"]) {
    await page.click(`header nav a[data-nav="${nav}"]`);
    await page.waitForURL(`${server.url}/${nav}`);
    await drawn(page);
    assert.equal(await page.locator(`header nav a[data-nav="${nav}"]`).getAttribute("aria-current"), "page");
  }
  await page.goBack();
  await page.click('.docs nav a[href="/perf/docs/pages"]');
  await page.waitForSelector(".doc img");
  await page.click('.doc a[href^="/perf/docs/"]');
  await page.waitForSelector(".doc");
  // A choice in the address, and a view that another opens.
  await page.goto(`${server.url}/history?workload=nothing`);
  await page.click('a[href="/perf/history"]');
  await page.waitForURL((url) => url.pathname === "/perf/history" && !url.search.includes("nothing"));
  for (const url of asked.filter((u) => u.protocol.startsWith("http"))) assert.ok(url.href === server.url || url.pathname.startsWith("/perf/"), url.href);
  assert.deepEqual([complaints, await refusals(page)], [[], []]);
  await context.close();
});

test("a run that is posted from the page is followed to its end; commands have the path", async () => {
  const { page, context, complaints } = await openPage(browser);
  await page.goto(`${server.url}/new?from=${id}`);
  await page.waitForSelector("#extent");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(new RegExp(`${server.url}/runs/\\d+$`));
  await page.waitForSelector("#modes-table");
  await page.goto(`${server.url}/suites`);
  await page.waitForSelector(`text=breakeven suite FOLDER --post ${server.url}`);
  assert.deepEqual(complaints, []);
  await context.close();
});
