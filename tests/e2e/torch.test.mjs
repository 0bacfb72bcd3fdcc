// tests/e2e/torch.test.mjs -- PyTorch's curves over ours, its rows, its tab, its error; by the stand-in.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, randn, startServer, waitFor } from "../api/harness.mjs";
import { findings, openCommand, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

let server, browser, swept, crashed, tired;
const source = "import torch\n\ndef model(x):\n    ...\n    print('seen')\n    return x\n";
const run = async (extra) => {
  const workload = { name: "beside", source, calls: [[randn(4, 4)]], modes: ["eager", "static"], backend: "interp" };
  const { body } = await postRun(server, { ...workload, engines: ["breakeven", "torch"], ...extra });
  await waitFor(server, body.id);
  return body.id;
};
const over = (line, counts) => ({ sweep: { statements: { pool: [line], counts } } });

before(async () => {
  process.env.PYTHONPATH = "tests/torch_stand_in/failing:tests/torch_stand_in";
  server = await startServer({ args: ["--torch-python", "python3"] });
  browser = await startBrowser();
  swept = await run(over("x = torch.sin(x)", [1, 3]));
  crashed = await run(over("x = torch.log1p(x)", [1]));
  tired = await run(over("x = torch.cos(x)", [1]));
});
after(async () => {
  delete process.env.PYTHONPATH;
  await browser?.close();
  await server?.stop();
});

for (const [width, theme] of [
  [1440, "light"],
  [1440, "dark"],
  [390, "light"],
  [390, "dark"],
])
  test(`its rows, curves and tables stand beside ours, ${width} ${theme}`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme });
    await page.goto(`${server.url}/runs/${swept}`);
    await page.locator("#modes-table").waitFor();
    const names = await page.locator("#modes-table tbody th").allTextContents();
    assert.deepEqual(names.slice(0, 4), ["eager", "static", "eager torch", "static torch"]);
    assert.match(await page.locator("#torch-values").textContent(), /PyTorch 2\.11\.0\+stand\.in: Its values (agree with|equal) Breakeven's/);
    assert.equal(await page.locator('[data-overlay="torch"]').isChecked(), true);
    const heads = await page.locator("#speedup-table thead th").allTextContents();
    assert.ok(heads.includes("static") && heads.includes("static, torch"), heads.join());
    const repaid = await page.locator("#repaid tbody th").allTextContents();
    assert.ok(repaid.some((t) => t.includes("torch")), repaid.join());
    await page.locator('[data-overlay="torch"]').uncheck();
    assert.ok(!(await page.locator("#speedup-table thead th").allTextContents()).includes("static, torch"));
    assert.equal(new URL(page.url()).searchParams.get("over"), "none");
    assert.equal(await sideways(page), 0);
    assert.deepEqual(await findings(page), []);
    await page.getByRole("link", { name: "PyTorch", exact: true }).click();
    await page.locator("#torch-table").waitFor();
    assert.equal(await page.locator("#torch-table tbody tr").count(), 4);
    const found = await page.locator("#torch-breaks tbody tr").last().locator("td").allTextContents();
    assert.deepEqual(found.slice(0, 4), ["3", "7", "host-call", "GB0059"]);
    assert.equal(await sideways(page), 0);
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(await refusals(page), []);
    assert.deepEqual(complaints, []);
  });

for (const width of [1440, 390])
  test(`why a mode failed is cut to two lines, and widens no table, ${width}`, async () => {
    const { page, complaints } = await openPage(browser, { width });
    await page.goto(`${server.url}/runs/${tired}`);
    const said = page.locator("#modes-table td.said");
    await said.waitFor();
    const wide = (table = "#modes-table") => page.locator(`${table} .clamped`).evaluate((el) => [el.getBoundingClientRect().right, innerWidth, el.querySelector(".told").clientHeight]);
    const [right, window, lines] = await wide();
    assert.ok(right <= window, `${right} of ${window}`);
    if (width === 1440) assert.equal(await page.locator("#modes-table").evaluate((el) => el.parentElement.scrollWidth - el.parentElement.clientWidth), 0);
    await said.getByRole("button", { name: "Read all" }).click();
    assert.ok((await wide())[2] > lines);
    assert.match(await said.textContent(), /failed: RuntimeError: cos is tired of being/);
    await page.goto(`${server.url}/runs/${tired}/torch`);
    await page.locator("#torch-table td.said").waitFor();
    assert.ok((await wide("#torch-table"))[0] <= window);
    assert.equal(await sideways(page), 0);
    assert.deepEqual(await findings(page), []);
    assert.deepEqual(complaints, []);
  });

test("its failure has its message and what it said last; ours is there", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${crashed}`);
  await page.locator("#torch-error").waitFor();
  assert.match(await page.locator("#torch-error").textContent(), /PyTorch failed\. torch crashed \(signal 11/);
  await page.locator("#torch-error summary").click();
  assert.match(await page.locator("#torch-error pre").textContent(), /the last words$/);
  assert.match(await page.locator("#verdict").textContent(), /static/);
  assert.equal(await sideways(page), 0);
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(complaints, []);
});

test("the form offers it where the server has it", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/new`);
  await page.getByLabel("PyTorch too").check();
  await openCommand(page);
  await page.getByText("JSON", { exact: true }).click();
  assert.deepEqual(JSON.parse(await page.locator("pre.curl").textContent()).engines, ["breakeven", "torch"]);
  await page.getByLabel("PyTorch too").uncheck();
  assert.equal("engines" in JSON.parse(await page.locator("pre.curl").textContent()), false);
  assert.deepEqual(complaints, []);
});
