// tests/e2e/history_changes.test.mjs -- a step in a history: on its chart, as a card, in the list, on the
// first page and beside a comparison; acknowledged and reopened.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, startServer, workload } from "../api/harness.mjs";
import { madeHistory } from "../api/made_history.mjs";
import { drawn, openPage, sound, startBrowser } from "./browser.mjs";

const quick = { backend: "interp", seconds: 0.1, threads: 1, modes: ["eager", "static"], name: "chain" };

let server, browser, ids;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  ids = await madeHistory(server, workload("    x = x * 1.1\n    return x.sum()", quick), Array.from({ length: 14 }, (_, i) => ({ static: i >= 9 ? 1.3 : 1, commit: `c0ffee${i}`, edit: (r) => { r.modes.static.launches = i >= 9 ? 3 : 2; } })));
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const width of [1440, 390]) {
  test(`the card of a step and its levels, at ${width}`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme: width < 640 ? "dark" : "light" });
    await page.goto(`${server.url}/history?workload=chain&metric=latency`);
    const card = page.locator("#history-changes article");
    await card.waitFor();
    await drawn(page);
    const { body: h } = await getJson(`${server.url}/api/v1/history?workload=chain&metric=latency`);
    assert.equal(await card.count(), 1);
    const text = await card.innerText();
    assert.match(text, /^SLOWER #\d+ c0ffee9/);
    assert.ok(text.replace(/\u00a0/g, " ").includes(h.changes[0].sentence.map((p) => p.text).join("").replace(/\u00a0/g, " ")), text);
    assert.match(await page.locator("#history-chart header p").innerText(), /upright: a step/);
    await card.locator("summary").click();
    assert.equal(await card.locator("tbody tr").count(), h.changes[0].steps.length);
    assert.match(await card.getByRole("link", { name: /Compare/ }).getAttribute("href"), new RegExp(`a=${ids[8]}&b=${ids[9]}`));
    await sound(page, complaints);
  });
}

test("a step is acknowledged with a note, and reopened", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/history?workload=chain`);
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await page.getByRole("textbox", { name: "Note" }).fill("a new driver");
  await page.locator("dialog").getByRole("button", { name: "Acknowledge" }).click();
  const card = page.locator("#history-changes article");
  await card.getByText("acknowledged").waitFor();
  assert.match(await card.innerText(), /a new driver/);
  assert.equal((await getJson(`${server.url}/api/v1/since`)).body.stepped, 0);
  await card.getByRole("button", { name: "Reopen" }).click();
  await card.getByRole("button", { name: "Acknowledge" }).waitFor();
  await sound(page, complaints);
});

test("the list, the first page and a comparison name it", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(server.url);
  const since = page.locator("#since li").filter({ hasText: "went from" });
  await since.waitFor();
  assert.match(await since.innerText(), /^SLOWER chain static latency went from/);
  await page.locator("a.chip", { hasText: "step" }).first().waitFor();
  assert.equal(await page.locator("a.chip", { hasText: "step" }).count(), 1);
  await since.getByRole("link", { name: "chain" }).click();
  await page.locator("#history-changes article").waitFor();
  await page.goto(`${server.url}/compare?a=${ids[8]}&b=${ids[9]}`);
  await page.getByRole("heading", { name: "Steps in the history" }).waitFor();
  assert.match(await page.locator("section[aria-label='Steps in the history']").innerText(), /SLOWER B: static latency went from/);
  await sound(page, complaints);
});
