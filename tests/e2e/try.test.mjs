// tests/e2e/try.test.mjs -- what to write instead of a break, tried at a click.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { caretLine, openPage, sound, startBrowser } from "./browser.mjs";

// Line 4 can be changed by itself; line 7 cannot.
const BODY = "    if x.sum() > 1:\n        x = torch.relu(x) * 2\n    y = torch.softmax(x, -1)\n    return y[y > 0.01].sum()";
let server, browser, run;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  run = (await postRun(server, workload(BODY, { backend: "interp", modes: ["eager", "static"], seconds: 0.1 }))).body.id;
  await waitFor(server, run);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const url = (query) => `${server.url}/runs/${run}/breaks?mode=static${query}`;

test("a rewrite is run beside the program: values, breaks and times, with the run and an address", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(url("&line=4"));
  const card = page.locator(".brks details[open]");
  await card.getByRole("button", { name: "Try it: line 4 rewritten" }).click();
  const table = card.getByRole("table", { name: /Before and after: line 4/ });
  await table.waitFor();
  const row = async (name) => (await table.getByRole("row").filter({ hasText: name }).innerText()).split(/\s+/);
  const [, was, now] = await row("Breaks");
  assert.ok(Number(now) < Number(was), `${was} ${now}`);
  assert.match(await card.innerText(), /values are the same|values agree/);
  assert.match((await row("A call, µs")).join(" "), /A call, µs [\d.,]+ \([^)]*\) [\d.,]+ \(/);
  const link = card.locator(".try").getByRole("link", { name: /run #/ });
  const tried = await (await fetch(`${server.url}/api/v1${await link.getAttribute("href")}`)).json();
  assert.match(tried.name, /, line 4 rewritten$/);
  assert.equal(tried.workload.before, tried.workload.source.replace(/ {4}x = torch.where.*\n/, "    if x.sum() > 1:\n        x = torch.relu(x) * 2\n"));
  await page.reload();
  await table.waitFor();
  await sound(page, complaints);
});

test("a break that no rewrite is known for leads to the editor, at its line", async () => {
  const { page } = await openPage(browser);
  await page.goto(url("&line=7"));
  await page.locator(".brks details[open]").getByRole("link", { name: "Edit line 7" }).click();
  await page.waitForURL(/\/new\?from=\d+&line=7/);
  await page.waitForFunction(() => document.activeElement?.className === "editor");
  assert.equal(await caretLine(page), 7);
});

test("both policies stand side by side, each break says whether it is of both; breaks of a kind together", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(url(""));
  const row = (policy) => page.getByRole("group", { name: policy, exact: true });
  const counts = async (policy) => (await row(policy).locator(".counts").innerText()).match(/\d+/g).map(Number);
  await row("native").getByText("checked").waitFor();
  const [dynamo, native] = [await counts("dynamo"), await counts("native")];
  assert.ok(dynamo[0] > native[0] && dynamo[2] > native[2], `${dynamo} ${native}`);
  const said = page.locator(".brks details", { hasText: "data-dependent-branch" }).locator(".w").first();
  assert.match(await said.innerText(), /not under native/);
  const kinds = await page.locator(".brks .kind").allInnerTexts();
  await page.getByRole("button", { name: "By kind" }).click();
  assert.equal(await page.locator(".brks .kindhead").count(), new Set(kinds).size);
  await page.locator("#L4").click();
  assert.equal(await page.locator(".brks details[open] .kind").innerText(), "data-dependent-branch");
  await page.getByRole("button", { name: "Distinct" }).click();
  assert.deepEqual(await page.locator(".brks .kind").allInnerTexts(), kinds);
  await sound(page, complaints);
});

test("what came to nothing says so, and can be tried again", async () => {
  const { page } = await openPage(browser);
  await page.goto(url("&line=4&try=static-4.999999"), { waitUntil: "networkidle" });
  const card = page.locator(".brks details[open]");
  await card.getByRole("alert").waitFor();
  assert.ok(await card.getByRole("button", { name: /^Try it/ }).isEnabled());
});

for (const [width, theme] of [[1440, "light"], [390, "dark"]])
  test(`a change that was tried at ${width} px, ${theme}: axe, no sideways scroll`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme });
    await page.goto(url("&line=4"));
    await page.locator(".brks details[open]").getByRole("button", { name: /^Try it/ }).click();
    await page.locator(".tried").waitFor();
    await sound(page, complaints);
  });
