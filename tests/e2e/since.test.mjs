// tests/e2e/since.test.mjs -- what changed since yesterday, above the list of runs.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, postRun, startServer, timed, waitFor, workload } from "../api/harness.mjs";
import { drawn, openPage, shiftsOf, sideways, sound, startBrowser, watchShifts } from "./browser.mjs";

let server, browser, ids;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  ids = [];
  for (const us of [{ eager: 20, static: 10 }, { eager: 10, static: 20 }]) {
    const { id } = await waitFor(server, (await postRun(server, { ...workload("    return x.sin().sum()"), name: "turns", backend: "interp", modes: ["eager", "static"], seconds: 0.05 })).body.id);
    ids.push(await timed(server, id, us));
  }
  await getJson(`${server.url}/api/v1/runs/${ids[0]}`, { method: "PATCH", headers: { "Content-Type": "application/json" }, body: '{"pinned": true}' });
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`a verdict that changed and a pinned run stand above the list, at ${how.width ?? 1440} px`, async () => {
    const { page, complaints, context } = await openPage(browser, how);
    await watchShifts(page);
    await page.goto(server.url);
    await page.locator("#since li").first().waitFor();
    await drawn(page);
    const rows = await page.locator("#since li").allInnerTexts();
    assert.match(rows[0], /FASTER.*became.*SLOWER turns #\d+ 0\.50+x.*static compared with #\d+/s);
    assert.match(rows[1], /pinned turns #\d+ FASTER 2\.0+x/);
    assert.match(await page.locator("#since header").innerText(), /2 runs; 1 verdict changed/);
    assert.equal(await sideways(page), 0);
    const { sum, what } = await shiftsOf(page);
    assert.ok(sum < 0.01, what);
    await sound(page, complaints);
    await page.getByLabel("Search the runs").fill("turns");
    await page.locator("#since").waitFor({ state: "hidden" });
    await page.getByLabel("Search the runs").fill("");
    await page.getByRole("link", { name: /^compared with #/ }).click();
    await page.waitForURL(/\/compare\?a=\d+&b=\d+/);
    await context.close();
  });

test("a filter is kept as a view, opened, renamed and deleted; at 390 px in the dark too", async () => {
  for (const how of [{}, { width: 390, theme: "dark" }]) {
    const { page, complaints, context } = await openPage(browser, how);
    await page.goto(`${server.url}/runs?q=pinned`);
    const views = () => page.getByRole("button", { name: "Views" }).click();
    await page.getByText("No run matches pinned").waitFor();
    await views();
    await page.getByText("None is kept yet").waitFor();
    await page.getByLabel("Name of the view").fill("of nothing");
    await page.getByRole("button", { name: "Keep this view" }).click();
    await page.getByRole("link", { name: "of nothing" }).waitFor();
    await sound(page, complaints);
    assert.equal(await sideways(page), 0);
    await page.getByRole("button", { name: "Rename of nothing" }).click();
    await page.getByLabel("New name of of nothing").fill("none");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "none" }).waitFor();
    await page.getByLabel("Name of the view").fill("none");
    await page.getByRole("button", { name: "Keep this view" }).click();
    await page.getByText(/the project has a view 'none'/).waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.goto(`${server.url}/runs`);
    await page.locator("#run-list tbody tr").first().waitFor();
    await views();
    await page.getByRole("link", { name: "none" }).click();
    await page.getByText("No run matches pinned").waitFor();
    assert.match(page.url(), /\/runs\?q=pinned$/);
    await views();
    await page.getByRole("button", { name: "Delete none" }).click();
    await page.getByText("None is kept yet").waitFor();
    await context.close();
  }
});

test("a run that was thinned out says what it lost; the pinned one is whole", async () => {
  await getJson(`${server.url}/api/v1/retention`, { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"days": 0}' });
  const { page, complaints, context } = await openPage(browser, { width: 390 });
  for (const [id, thinned] of [[ids[0], 0], [ids[1], 1]]) {
    await page.goto(`${server.url}/runs/${id}`);
    await page.locator("#modes-table").waitFor();
    assert.equal(await page.locator("#thinned").count(), thinned);
  }
  await sound(page, complaints);
  await context.close();
});
