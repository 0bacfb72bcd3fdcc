// tests/e2e/suite.test.mjs -- suites in a real browser: empty, running, failing, sorted.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { getJson, startServer, suiteEnded } from "../api/harness.mjs";
import { openPage, sound, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const block = (name, body) =>
  ({ name, source: `import torch\n\ndef model(x):\n${body}\n`, calls: [[{ random: { shape: [64], dtype: "float32", kind: "randn", seed: 0 } }]] });
const workloads = [
  block("chain", "    for _ in range(20):\n        x = x * 1.1\n    return x"),
  block("printed", "    print('x')\n    return x + 1"),
  block("wrong", "    return x + torch.compiler.is_compiling()"),
  block("failing", "    return x.reshape(3)"),
];

/**
 * Queues a suite; its number, when it has ended.  What passed is 2x in the store then: on a machine that
 * stalls too few rounds may fit for a figure.
 */
async function ranSuite(settings) {
  const body = JSON.stringify({ seconds: 0.2, backend: "interp", modes: ["static"], ...settings });
  const { body: { id } } = await getJson(`${server.url}/api/v1/suites`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  await suiteEnded(server, id);
  execFileSync("python3", ["-c", `
import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=600) as db:
    db.execute("UPDATE run_result SET speedup = 2, speedup_lo = 1.9, speedup_hi = 2.1 WHERE mode = 'static' AND status = 'pass'")`, join(server.home, "store.db")]);
  return id;
}
const long = "a reason of many words that goes on and on, ".repeat(8);

test("no suites: what one is, and the one that comes with the server", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/suites`);
  await page.getByRole("heading", { name: "No suites yet" }).waitFor();
  assert.match(await page.locator("pre").innerText(), /^breakeven suite FOLDER --post http/);
  assert.ok(await page.getByRole("button", { name: "Run the model blocks" }).isEnabled());
  await sound(page, complaints);
});

test("a suite: pass rates, geomeans, rows that sort and link, reasons", async () => {
  const id = await ranSuite({ name: "four", workloads });
  for (const how of [{ width: 1440 }, { width: 390, theme: "dark" }]) {
    const { page, complaints, context } = await openPage(browser, how);
    await page.goto(`${server.url}/suites`);
    await page.getByRole("link", { name: "four" }).click();
    await page.locator("#suite-workloads").waitFor();
    assert.match(await page.locator("#suite-tiles").innerText(), /Common set\s+2\s+of 4 workloads[\s\S]*Pass rate, static\s+50 %\s+2 of 4/);
    const names = () => page.locator("#suite-workloads tbody th").allInnerTexts();
    assert.deepEqual(await names(), ["chain", "failing", "printed", "wrong"]);
    await page.locator("#suite-workloads").getByRole("button", { name: "breaks, dynamo" }).click();
    assert.equal((await names())[0], "printed");
    assert.equal(await page.locator("#suite-workloads th[aria-sort]").getAttribute("aria-sort"), "descending");
    const chips = await page.locator("#suite-workloads tr", { hasText: "wrong" }).locator(".chip").allInnerTexts();
    assert.deepEqual(chips, ["DISAGREES", "DISAGREES"]);
    assert.match(await page.locator("#suite-reasons").innerText(), /failing[\s\S]*FAILED[\s\S]*eager, static[\s\S]*reshape/);
    await page.getByRole("button", { name: "Table" }).click();
    assert.equal(await page.locator("#suite-histogram tbody tr").count() > 0, true);
    await sound(page, complaints);
    await page.locator("#suite-workloads tr", { hasText: "chain" }).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: /chain/ }).waitFor();
    await context.close();
  }
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/suites/${id}`);
  assert.equal(await page.getByLabel("Compare with").count(), 0, "there is no other suite");
  // The run of a workload says itself what did not pass.
  await page.locator("#suite-workloads tr", { hasText: "wrong" }).getByRole("link").first().click();
  await page.locator("#modes-table").waitFor();
  assert.match(await page.locator("#modes-table tr", { hasText: "static" }).first().innerText(), /DISAGREES/);
  assert.match(await page.locator("#disagreements").innerText(), /^DISAGREES static DISAGREES with eager: its values are wrong/);
  await page.goto(`${server.url}/suites/${id}`);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "No suites yet" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForURL(`${server.url}/suites/${id}`);
  await page.locator("#suite-workloads").waitFor();
  assert.deepEqual(complaints, []);
});

test("suites that are selected are deleted at once, by keyboard alone, and had back", async () => {
  const [one, two] = [await ranSuite({ name: "first of two", policy: "dynamo", again: true, workloads: [workloads[0]] }), await ranSuite({ name: "second of two", policy: "dynamo", again: true, workloads: [workloads[0]] })];
  for (const how of [{}, { width: 390, theme: "dark" }]) {
    const { page, complaints, context } = await openPage(browser, how);
    await page.goto(`${server.url}/suites`);
    const names = () => page.locator("#suite-list tbody th a").allTextContents();
    const gone = async (is) => page.waitForFunction((n) => [...document.querySelectorAll("#suite-list tbody th a")].filter((a) => a.textContent.endsWith("of two")).length === n, is);
    await gone(2);
    await page.getByRole("link", { name: "first of two" }).focus();
    await page.keyboard.press("x");
    await page.getByLabel(`Select second of two #${two}`).check();
    await page.getByText("2 suites selected, with 2 runs").waitFor();
    await sound(page, complaints);
    await page.keyboard.press("Delete");
    await page.getByText("2 suites deleted.").waitFor();
    await gone(0);
    await page.keyboard.press("u");
    await page.getByText("2 suites restored.").waitFor();
    await gone(2);
    assert.ok((await names()).includes("first of two"));
    await context.close();
  }
  for (const id of [one, two]) await getJson(`${server.url}/api/v1/suites/${id}`, { method: "DELETE" });
});

test("two suites are compared: what broke and was fixed, how speedups changed", async () => {
  const post = (list) => ranSuite({ name: "pair", workloads: list, policy: "dynamo" });
  const [chain, printed, wrong, failing] = workloads;
  const before = await post([chain, printed, failing, wrong]);
  const after = await post([chain, { ...failing, name: "printed" }, { ...printed, name: "failing" }, { ...wrong, name: "new" }]);
  for (const how of [{ width: 1440 }, { width: 390, theme: "dark" }]) {
    const { page, complaints, context } = await openPage(browser, how);
    await page.goto(`${server.url}/suites/${after}`);
    await page.getByLabel("Compare with").selectOption(String(before));
    await page.locator("#suite-compared").waitFor();
    assert.equal(new URL(page.url()).searchParams.get("base"), String(before));
    assert.match(await page.locator("#suite-compared").innerText(), /^1 workload passed before and does not now, and 1 workload is fixed\.[\s\S]*Only before: wrong\. New: new\./);
    const turned = await page.locator("#suite-turned tbody tr").evaluateAll((all) => all.map((tr) => [...tr.cells].map((c) => c.textContent).slice(0, 5)));
    assert.deepEqual(turned, [
      ["printed", "eager", "broken", "pass", "failed"],
      ["printed", "static", "broken", "pass", "failed"],
      ["failing", "eager", "fixed", "failed", "pass"],
      ["failing", "static", "fixed", "failed", "pass"],
    ]);
    assert.equal(await page.locator("#suite-changes tbody tr").count(), 2);
    assert.deepEqual(await page.locator("#suite-ratios tbody th").allInnerTexts(), ["chain"]);
    await sound(page, complaints);
    await context.close();
  }
  const { page } = await openPage(browser, { allow: /404/ });
  await page.goto(`${server.url}/suites/${after}?base=999`);
  await page.getByRole("heading", { name: "The suites cannot be compared" }).waitFor();
});

test("at 390 px the tables of suites begin with workload or mode and need no scrolling; a long reason is read at a key", async () => {
  const { body: { suites } } = await getJson(`${server.url}/api/v1/suites`);
  const raising = block("raising", `    raise RuntimeError("${long}")`);
  const id = await ranSuite({ name: "narrow", workloads: [workloads[0], raising] });
  const { page, complaints } = await openPage(browser, { width: 390 });
  const wide = () => page.locator(".scroll").evaluateAll((all) => all.filter((el) => el.scrollWidth > el.clientWidth).map((el) => el.ariaLabel));
  await page.goto(`${server.url}/suites/${id}?base=${suites[0].id}`);
  await page.locator("#suite-workloads").waitFor();
  await page.getByRole("button", { name: "Table" }).click();
  assert.deepEqual(await wide(), []);
  const first = await page.locator("#suite-columns tbody tr", { hasText: "static" }).first().evaluate((tr) => {
    const top = (el) => el.getBoundingClientRect().top;
    return [...tr.cells].filter((c) => c.getClientRects().length).sort((a, b) => top(a) - top(b)).slice(0, 3).map((c) => c.dataset.label ?? "head");
  });
  assert.deepEqual(first, ["head", "Passed", "Geomean, common set"]);
  const why = page.locator("#suite-reasons .clamped").first();
  const height = () => why.locator(".told").evaluate((el) => el.clientHeight);
  const cut = await height();
  const more = why.getByRole("button", { name: "Read all" });
  await more.focus();
  await page.keyboard.press("Enter");
  assert.ok((await height()) > 2 * cut, "all of it is there");
  assert.equal(await why.getByRole("button", { name: "Show less" }).getAttribute("aria-expanded"), "true");
  await sound(page, complaints);
  await page.goto(`${server.url}/suites`);
  await page.locator("#suite-list tbody tr").first().waitFor();
  assert.deepEqual(await wide(), []);
  await sound(page, complaints);
});
