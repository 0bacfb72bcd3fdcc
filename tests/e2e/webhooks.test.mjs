// tests/e2e/webhooks.test.mjs -- the page of webhooks: add one, its secret, a test, the log, and away with it.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { getJson, startServer } from "../api/harness.mjs";
import { drawn, openPage, sound, startBrowser } from "./browser.mjs";

let server, browser, to, got, status;
before(async () => {
  [got, status] = [[], 204];
  to = createServer(async (req, res) => {
    for await (const _ of req);
    got.push(req.headers);
    res.writeHead(status).end(status === 204 ? "" : "not <b>now</b>");
  });
  await once(to.listen(0, "127.0.0.1"), "listening");
  [server, browser] = await Promise.all([startServer({ args: ["--hook-host", "127.0.0.1", "--hook-seconds", "1"] }), startBrowser()]);
});
after(async () => {
  await browser?.close();
  to?.closeAllConnections();
  to?.close();
  await server?.stop();
});

const address = (path) => `http://127.0.0.1:${to.address().port}${path}`;
const press = (page, name) => page.getByRole("button", { name, exact: true }).click();

test("a webhook is added by keyboard, told, looked up in its log and removed", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/webhooks`);
  await page.getByRole("heading", { name: "No webhooks yet" }).waitFor();
  await page.getByLabel("Address").fill(address("/one"));
  await page.getByLabel("Project").fill("ranking");
  await page.getByRole("checkbox", { name: /^verdict/ }).check();
  await page.getByLabel("Address").press("Enter");
  const secret = await page.locator(".secret code").innerText();
  assert.ok(secret.length >= 32, secret);
  const row = page.locator("tr[data-hook]");
  assert.match((await row.innerText()).replace(/\s+/g, " "), /^#1 http:\/\/127\.0\.0\.1:\d+\/one ranking change, verdict none yet 0 /);
  await press(page, "Test webhook 1");
  const log = page.getByRole("region", { name: "Log of webhook 1, table" });
  await log.locator("tbody tr", { hasText: "delivered" }).waitFor();
  assert.match((await log.locator("tbody tr").innerText()).replace(/\s+/g, " "), /^test delivered 1 204 taken /);
  assert.equal(got[0]["breakeven-event"], "test");
  await row.locator(".chip", { hasText: "delivered" }).waitFor();
  await sound(page, complaints);
  await press(page, "Log of webhook 1");
  await log.waitFor({ state: "detached" });
  await press(page, "Remove webhook 1");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Keep webhook 1", "what removes is one key further");
  await press(page, "Keep webhook 1");
  assert.equal(await row.count(), 1);
  await press(page, "Remove webhook 1");
  await press(page, "Remove webhook 1 with its secret");
  await page.getByRole("heading", { name: "No webhooks yet" }).waitFor();
  assert.deepEqual((await getJson(`${server.url}/api/v1/hooks`)).body.hooks, []);
});

test("what is refused says why; what is not taken is in the log as it was said", async () => {
  const { page, complaints } = await openPage(browser, { width: 390, theme: "dark", allow: /status of 400/ });
  status = 503;
  await page.goto(`${server.url}/webhooks`);
  const why = page.locator(".errline");
  await page.getByLabel("Address").fill("ftp://127.0.0.1/x");
  await press(page, "Add");
  await page.waitForFunction(() => /http/.test(document.querySelector("#main .errline")?.textContent ?? ""));
  await page.getByLabel("Address").fill(address("/two"));
  await page.getByRole("checkbox", { name: /^change/ }).uncheck();
  await press(page, "Add");
  assert.match(await why.innerText(), /Choose what it is told of/);
  await page.getByRole("checkbox", { name: /^verdict/ }).check();
  await press(page, "Add");
  await page.locator("tr[data-hook]").waitFor();
  assert.equal(await why.innerText(), "");
  const id = await page.locator("tr[data-hook]").getAttribute("data-hook");
  await press(page, `Test webhook ${id}`);
  await page.getByRole("region", { name: `Log of webhook ${id}, table` }).locator("tbody tr", { hasText: "not <b>now</b>" }).waitFor();
  await drawn(page);
  await sound(page, complaints);
  await press(page, `Remove webhook ${id}`);
  assert.match(await page.locator("tr[data-hook] .acts").innerText(), /1 delivery and its secret are lost\./);
});
