// tests/e2e/guards.test.mjs -- compiled versions: which guard failed, and the advice.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, randn, startServer, waitFor } from "../api/harness.mjs";
import { openPage, startBrowser } from "./browser.mjs";

let server, browser, run, report;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const { body } = await postRun(server, {
    name: "sizes", backend: "interp", modes: ["eager", "static", "auto", "lazy"],
    calls: [[randn(4, 8)], [randn(5, 8)], [randn(6, 8)]],
    source: "import torch\n\ndef model(x):\n    return torch.sin(x).sum()\n",
  });
  run = body.id;
  report = (await waitFor(server, run)).report;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("each cache entry says what failed first, and its guards which of them failed later", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${run}/guards?mode=static`);
  await page.locator(".versions").waitFor();
  assert.equal(report.modes.static.tree[0].entries.length, 3);
  assert.match(await page.locator(".verdict").innerText(), /2 recompiles in static took .* of all compile time/);
  const second = await page.locator(".versions > li").nth(1).innerText();
  assert.match(second, /x\.size\(0\) is 5, was 4 failed first in 0\/0, call 1/);
  assert.match(second, /Advice: The size was specialized\. Mode auto/);
  const third = page.locator(".versions > li").nth(2);
  assert.doesNotMatch(await third.innerText(), /Advice/, "that of the second is not said again");
  const older = third.locator("details.older");
  assert.equal(await older.locator("summary").innerText(), "and in 1 older entry");
  assert.ok(await older.getByText("x.size(0) is 6, was 4").isHidden());
  await older.locator("summary").click();
  assert.ok(await older.getByText("x.size(0) is 6, was 4").isVisible());
  const list = page.locator(".versions > li").first().locator("details");
  await list.locator("summary").focus();
  await page.keyboard.press("Enter");
  assert.match(await list.innerText(), /x\.size\(0\) == 4 failed in call 1: 0\/1 was compiled/);
  assert.equal(await page.locator(".tabs [aria-current]").innerText(), "Recompiles\n2");
  assert.deepEqual(complaints, []);
});

test("auto: the size is a symbol from the second cache entry on; lazy has no guards", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/${run}/guards?mode=auto`);
  await page.locator(".versions").waitFor();
  assert.equal(await page.locator(".versions > li").count(), 2);
  assert.match(await page.locator(".versions").innerText(), /It is a symbol from this cache entry on \(s0 = x\.size\(0\)/);
  await page.getByLabel("Mode", { exact: true }).selectOption("lazy");
  await page.getByText("Mode lazy has no guards").waitFor();
  await page.getByRole("link", { name: "line 3" }).waitFor({ state: "detached" });
});
