// tests/e2e/passes.test.mjs -- the passes of a run, the ops, and the form's switches, in a real browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, postRun, randn, startServer, waitFor, workload } from "../api/harness.mjs";
import { findings, openCommand, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

let server, browser, run, eager;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const made = await postRun(server, {
    ...workload("    y = torch.softmax(x * 1, dim=-1)\n    return torch.relu(torch.relu(y)) + y.sum()"),
    modes: ["eager", "static", "dynamic"],
    backend: "interp",
    passes: { lift: false },
  });
  const plain = await postRun(server, { name: "plain", source: "import torch\n\ndef model(x):\n    return x + 1\n", modes: ["eager"], backend: "interp", calls: [[randn(8)]] });
  [run, eager] = [made.body.id, plain.body.id];
  await waitFor(server, run);
  await waitFor(server, eager);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("each pass has its state, its rules with lines, and the graph before and after it", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${run}/passes?mode=static`);
  await page.locator(".passes").waitFor();
  assert.match(await page.locator(".verdict").innerText(), /nodes became \d+ nodes in \d+ kernels?: \d of \d+ passes changed the graph of static\./);
  assert.match(await page.locator(".verdict .how").innerText(), /Switched off in this run: hoist_views\./);
  const names = await page.locator(".passes .kind").allInnerTexts();
  assert.deepEqual(names, (await getJson(`${server.url}/api/v1/passes`)).body.passes.map((p) => p.name));
  const states = Object.fromEntries(names.map((n, i) => [n, i]));
  assert.match(await page.locator(".passes > li").nth(states.hoist_views).innerText(), /switched off/);
  assert.match(await page.locator(".passes > li").nth(states.fold).innerText(), /unchanged/);

  // The first that changed something is open.
  const first = page.locator(".passes details[open] .diff");
  assert.equal(await first.count(), 1);
  assert.match(await first.locator("td.del:not(.sign)").first().innerText(), /= softmax\(/);
  assert.match(await first.locator("td.add:not(.sign)").first().innerText(), /= amax\(/);
  // Signs say what colours say, also to who does not see them.
  assert.equal(await first.locator("td.sign.del").first().innerText(), "\u2212\nremoved");
  assert.equal(await first.locator("td.sign.add").first().innerText(), "+\nadded");

  const simplify = page.locator(".passes > li").nth(states.simplify);
  await simplify.locator("summary").focus();
  await page.keyboard.press("Enter");
  const rules = simplify.locator(".lines");
  await rules.waitFor();
  assert.match(await rules.innerText(), /x \* 1 is x 1 time line 4/);
  assert.match(await rules.innerText(), /f\(f\(x\)\) is f\(x\) 1 time line 5/);
  await rules.getByRole("link", { name: "line 4" }).click();
  await page.waitForURL(/\/source\?mode=static&line=4$/);
  assert.match(await page.locator(".code li[aria-selected=true]").innerText(), /softmax\(x \* 1/);

  await page.goBack();
  await page.locator("#graph-mode").selectOption("dynamic");
  assert.match(await page.locator(".verdict").innerText(), /the graph of dynamic/);
  assert.match(page.url(), /mode=dynamic/);
  assert.deepEqual(complaints, []);
});

test("on a narrow screen lines that came stand below those that went", async () => {
  const { page } = await openPage(browser, { width: 390 });
  await page.goto(`${server.url}/runs/${run}/passes`);
  await page.locator(".diff.one").waitFor();
  assert.equal(await page.locator(".diff.one tbody tr").first().locator("td:not([colspan])").count() <= 2, true);
  assert.ok((await sideways(page)) <= 0);
});

test("a run without graphs says so and offers what would have some", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/${eager}/passes`);
  assert.match(await page.locator(".state").innerText(), /Eager captures no graph/);
  await page.getByRole("link", { name: "Run static too" }).click();
  await page.locator('[data-mode="static"]').waitFor();
  assert.equal(await page.locator('[data-mode="static"]').isChecked(), true);
});

test("the ops are listed and filtered; the filter is in the address", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/ops`);
  await page.locator(".optable").waitFor();
  const all = await page.locator(".optable tbody tr").count();
  assert.ok(all > 200);
  assert.match(await page.locator(".verdict").innerText(), new RegExp(`^${all} ops under \\d+ spellings`));
  await page.getByLabel("Search the ops").fill("F.gelu");
  assert.deepEqual(await page.locator(".optable tbody th code").allInnerTexts(), ["gelu"]);
  assert.equal(await page.locator("#ops-count").innerText(), `1 of ${all} ops`);
  assert.match(page.url(), /q=F\.gelu/);
  await page.getByLabel("Gradient").selectOption("none");
  assert.match(await page.locator("#ops-list .state").innerText(), /Nothing matches \u201cF\.gelu\u201d, gradient none/);
  await page.getByRole("button", { name: "Show all ops" }).click();
  assert.equal(await page.locator(".optable tbody tr").count(), all);
  assert.equal(await page.getByLabel("Search the ops").inputValue(), "");
  await page.goto(`${server.url}/ops?kind=reduction`);
  await page.locator(".optable").waitFor();
  assert.equal(await page.getByLabel("Kind").inputValue(), "reduction");
  assert.match(await page.locator("#backends").innerText(), /interp\s+works here/);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

test("before and after have the same room, and nothing is cut: long lines go on below", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/${run}/passes?mode=static`);
  const table = page.locator("table.diff").first();
  await table.waitFor();
  const [left, right] = await table.locator("thead th:nth-child(even)").evaluateAll((all) => all.map((th) => th.getBoundingClientRect().width));
  assert.ok(Math.abs(left - right) < 2, `${left} and ${right}`);
  const cut = await table.evaluate((el) => [...el.querySelectorAll("td")].filter((td) => td.scrollWidth > td.clientWidth + 1).map((td) => td.textContent));
  assert.deepEqual(cut, []);
  assert.ok(await table.evaluate((el) => el.getBoundingClientRect().width <= el.parentElement.clientWidth + 1));
});

test("the form switches passes; the run has them off", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/new?from=${run}`);
  await page.locator("#passes").waitFor();
  assert.equal(await page.locator('[data-pass="hoist_views"]').isChecked(), false);
  assert.equal(await page.locator('[data-pass="cse"]').isChecked(), true);
  assert.equal(await page.locator('[data-pass="decompose"]').count(), 0);
  await page.locator('[data-pass="cse"]').uncheck();
  await page.locator('[data-pass="hoist_views"]').check();
  await openCommand(page);
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  const shown = JSON.parse(await page.locator(".curl").innerText());
  assert.deepEqual(shown.passes, { cse: false });
  await page.locator("#run").click();
  await page.waitForURL(/\/runs\/\d+$/);
  const id = /(\d+)$/.exec(page.url())[1];
  const done = await waitFor(server, id);
  const off = done.report.modes.static.graphs[0].passes[0].steps.filter((s) => s.off).map((s) => s.pass);
  assert.deepEqual(off, ["cse"]);
  assert.deepEqual(await findings(page), []);
});
