// tests/e2e/autocast.test.mjs -- autocast in the form, and what it saved on the run's page.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, randn, startServer, waitFor } from "../api/harness.mjs";
import { findings, openCommand, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const source = "import torch\n\ndef model(x, w):\n    return torch.relu(x @ w)\n";
const run = async (extra) => {
  const workload = { name: "mixed", source, calls: [[randn(8, 16), randn(16, 16)]], modes: ["eager", "static"] };
  const { body } = await postRun(server, { ...workload, backend: "interp", ...extra });
  await waitFor(server, body.id);
  return body.id;
};

test("the form's choice is the workload's field", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/new`);
  await page.getByLabel("Autocast").selectOption("float16");
  await openCommand(page);
  await page.getByText("JSON", { exact: true }).click();
  const shown = JSON.parse(await page.locator("pre.curl").textContent());
  assert.equal(shown.autocast, "float16");
  await page.getByLabel("Autocast").selectOption("");
  const without = JSON.parse(await page.locator("pre.curl").textContent());
  assert.equal("autocast" in without, false);
  assert.deepEqual(complaints, []);
});

for (const [width, theme] of [
  [1440, "light"],
  [390, "dark"],
])
  test(`each mode has a row with it and without, ${width} ${theme}`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme });
    await page.goto(`${server.url}/runs/${await run({ autocast: "bfloat16" })}`);
    const rows = page.locator("#mixed-table tbody tr");
    await rows.first().waitFor();
    assert.deepEqual(await rows.locator("th").allTextContents(), ["eager", "static"]);
    assert.match(await page.locator("#mixed-verdict").textContent(), /Autocast is|no difference can be told/);
    assert.match(await page.locator("dl.meta").textContent(), /Autocastbfloat16/);
    assert.equal(await rows.first().locator("td").count(), 10);
    assert.equal(await sideways(page), 0);
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(await refusals(page), []);
    assert.deepEqual(complaints, []);
  });

test("a program that fails without autocast has the reason, and one without it no section", async () => {
  const { page } = await openPage(browser);
  const needs = "import torch\n\ndef model(x, w):\n    return x @ w.half()\n";
  await page.goto(`${server.url}/runs/${await run({ autocast: "float16", source: needs })}`);
  await page.getByText("Without autocast the program fails").waitFor();
  assert.equal(await page.locator("#mixed-table").count(), 0);
  await page.goto(`${server.url}/runs/${await run({})}`);
  await page.locator("#modes-table").waitFor();
  assert.equal(await page.getByText("Autocast").count(), 0);
});
