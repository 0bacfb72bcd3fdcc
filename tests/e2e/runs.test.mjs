// tests/e2e/runs.test.mjs -- the list of runs: order, filters, and ten thousand of them.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { findings, openPage, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const of = { backend: "interp", modes: ["eager", "static"], time: { eager: [0], static: [0] } };
  const sin = "    return torch.sin(x).sum()";
  for (const more of [{ name: "beta", project: "one" }, { name: "alpha", project: "my two", tags: ["nightly"] }, { name: "beta", project: "one" }])
    await waitFor(server, (await postRun(server, { ...workload(sin), ...of, ...more })).body.id);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const names = (page) => page.locator(".runs tbody th a").allInnerTexts();
const open = async (how) => {
  const opened = await openPage(browser, how);
  await opened.page.goto(`${server.url}/runs`);
  await opened.page.locator(".runs tbody tr").first().waitFor();
  return opened;
};

test("a head sorts by its column, again the other way round, and the address keeps it", async () => {
  const { page, complaints } = await open();
  assert.deepEqual(await names(page), ["beta", "alpha", "beta"]);
  await page.getByRole("button", { name: "Run", exact: true }).press("Enter");
  await page.locator('th[aria-sort="ascending"]').waitFor();
  await page.waitForFunction(() => document.querySelector(".runs tbody th a")?.textContent === "alpha");
  assert.match(page.url(), /sort=name/);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Run");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".runs tbody th a")?.textContent === "beta");
  await page.reload();
  await page.locator('th[aria-sort="descending"] [data-sort="name"]').waitFor();
  assert.equal(await page.getByLabel("Order").inputValue(), "-name");
  await page.getByLabel("Order").selectOption("-age");
  await page.waitForFunction(() => !location.search.includes("sort"));
  assert.deepEqual(complaints, []);
});

test("a project and a tag are chosen from what there is, and can be dropped", async () => {
  const { page } = await open();
  assert.deepEqual(await page.getByLabel("Project").locator("option").allInnerTexts(), ["Every project", "one (2)", "my two (1)"]);
  await page.getByLabel("Project").selectOption("my two");
  await page.waitForFunction(() => document.querySelectorAll(".runs tbody th a").length === 1);
  assert.equal(await page.getByLabel("Search the runs").inputValue(), 'project:"my two"');
  await page.getByLabel("Status").selectOption("failed");
  await page.getByText("No run matches").waitFor();
  await page.getByRole("button", { name: "Drop status:failed" }).click();
  await page.locator(".runs tbody tr").waitFor();
  assert.equal(await page.getByLabel("Project").inputValue(), "my two");
});

test("a run has the ratios of those before it", async () => {
  const { page } = await open();
  const spark = page.locator(".runs tbody tr").first().locator(".spark");
  assert.match(await spark.getAttribute("aria-label"), /last 2: from [\d.]+x to [\d.]+x/);
  assert.equal(await page.locator(".runs tbody tr").nth(1).locator(".spark").getAttribute("aria-label"), "the first of its name");
});

/** 10,000 rows made of a real one; the server's own pages are tested where it is. */
async function many(page) {
  const total = 10000;
  let asked = 0;
  await page.route("**/api/v1/runs?*", async (route) => {
    const q = new URL(route.request().url()).searchParams;
    if (q.get("status")) return route.continue();
    const [offset, limit] = [Number(q.get("offset") ?? 0), Number(q.get("limit"))];
    const body = await (await route.fetch({ url: `${server.url}/api/v1/runs?limit=1&facets=1` })).json();
    if (!q.get("facets")) asked++; // with them the list is read again, as often as there is time for
    const runs = Array.from({ length: Math.min(limit, total - offset) }, (_, i) => ({ ...body.runs[0], id: total - offset - i, name: `run_${offset + i}` }));
    return route.fulfill({ json: { ...body, runs, total, next: null } });
  });
  return () => asked;
}

for (const width of [1440, 390]) {
  test(`of ten thousand runs those in sight are in the page, at ${width} px`, async () => {
    const { page, complaints } = await openPage(browser, { width });
    const asked = await many(page);
    await page.goto(`${server.url}/runs`);
    await page.locator(".runs tbody tr").first().waitFor();
    await page.waitForFunction(() => document.documentElement.scrollHeight > 300000);
    assert.ok((await page.locator(".runs tbody tr").count()) < 130);
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.evaluate((y) => scrollTo(0, y / 2), height);
    await page.getByRole("link", { name: "run_5000", exact: true }).waitFor();
    assert.ok((await page.locator(".runs tbody tr").count()) < 130);
    assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), height);
    await page.evaluate((y) => scrollTo(0, y), height);
    await page.getByRole("link", { name: "run_9999", exact: true }).waitFor();
    assert.ok(asked() < 12, `${asked()} requests`);
    await page.evaluate(() => scrollTo(0, 0));
    await page.getByRole("link", { name: "run_0", exact: true }).waitFor();
    for (let i = 0; i < 60; i++) await page.keyboard.press("j");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "run_59");
    const box = await page.evaluate(() => document.activeElement.getBoundingClientRect().toJSON());
    assert.ok(box.top >= 0 && box.bottom <= 900, "the run with the focus is in sight");
    await page.keyboard.press("k");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "run_58");
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(complaints, []);
  });
}

test("runs are filtered by verdict, those that broke too; a sparkline leads to the history", async () => {
  await waitFor(server, (await postRun(server, { ...workload("    return x.reshape(3)"), name: "broke" })).body.id);
  const { page, complaints } = await open();
  const select = page.getByLabel("Verdict");
  // Of the newer of the two: the older has none before it, and the two need not have the same verdict.
  const word = (await page.getByRole("row", { name: /beta/ }).first().locator(".chip").innerText()).toLowerCase();
  await select.selectOption("broken");
  await page.waitForFunction(() => document.querySelectorAll(".runs tbody th a").length === 1);
  assert.deepEqual(await names(page), ["broke"]);
  assert.match(page.url(), /q=verdict%3Abroken/);
  assert.match(await select.locator("option:checked").innerText(), /^broken \(1\)$/);
  await page.getByLabel("Search the runs").fill("verdict:sl");
  await page.getByRole("heading", { name: "No run matches verdict:sl" }).waitFor();
  await page.getByLabel("Search the runs").fill(`verdict:${word.replace(" ", "-")} beta`);
  await page.waitForFunction(() => document.querySelector(".runs tbody th a")?.textContent === "beta");
  assert.equal(await select.inputValue(), word.replace(" ", "-"));
  await page.getByRole("link", { name: /^History of beta: last/ }).first().click();
  await page.locator("#history-runs").waitFor();
  assert.match(page.url(), /\/history\?workload=beta$/);
  assert.deepEqual(complaints, []);
});
