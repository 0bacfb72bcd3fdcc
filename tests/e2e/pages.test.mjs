// tests/e2e/pages.test.mjs -- what all pages share: links that lead somewhere, keys, help, theme, and a server
// that goes and comes back.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { binary, postRun, quietPort, randn, startServer, sweep, waitFor, workload } from "../api/harness.mjs";
import { findings, openPage, startBrowser } from "./browser.mjs";

let server, browser, done, failed, cut;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const zero = await postRun(server, {
    ...workload("    y = torch.sin(x)\n    return torch.relu(y).sum()"),
    name: "denied",
    deny: ["relu"],
    modes: ["eager", "static", "lazy", "graphs"],
    backend: "interp",
  });
  const one = await postRun(server, { ...sweep([1, 5, 10]), backend: "interp", tags: ["nightly"] });
  const two = await postRun(server, {
    name: "a_name_that_is_much_longer_than_any_column_could_ever_hold_without_being_cut",
    source: "import torch\n\ndef model(x, y):\n    return x + y\n",
    calls: [[randn(8), randn(3)]],
    backend: "interp",
  });
  done = one.body.id;
  cut = zero.body.id;
  failed = two.body.id;
  await waitFor(server, done);
  await waitFor(server, failed);
  await waitFor(server, cut);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const pages = () => [
  ["the list", "/runs", ".runs"],
  ["a filter without a match", "/runs?q=zzz&status=failed", ".state"],
  ["the form", "/new", "#extent"],
  ["a run", `/runs/${done}?over=h200,seed`, "#split-table"],
  ["graphs", `/runs/${done}/graphs`, ".ops"],
  ["recordings", `/runs/${cut}/graphs?mode=graphs`, "text=replayed"],
  ["passes", `/runs/${done}/passes`, ".diff"],
  ["passes of pieces", `/runs/${cut}/passes`, ".passes"],
  ["the ops", "/ops", ".optable"],
  ["no such op", "/ops?q=zzzz", "#ops-list .state"],
  ["no breaks", `/runs/${done}/breaks`, ".code"],
  ["breaks", `/runs/${cut}/breaks?mode=static`, ".brks"],
  ["traces", `/runs/${cut}/breaks?mode=lazy`, "#traces"],
  ["guards", `/runs/${cut}/guards?mode=static`, ".versions"],
  ["guards of lazy", `/runs/${cut}/guards?mode=lazy`, ".state"],
  ["memory", `/runs/${done}/memory`, ".memchart path"],
  ["memory that nothing is added to", `/runs/${cut}/memory?mode=graphs`, ".memchart path"],
  ["source", `/runs/${done}/source`, ".code"],
  ["a failed run", `/runs/${failed}`, "#failure"],
  ["a comparison", `/compare?a=${done}&b=${done}`, "#latencies"],
  ["a comparison that is refused", `/compare?a=${done}&b=${cut}`, ".chip.refused"],
  ["no runs chosen", "/compare", ".state"],
  ["a history", `/history?workload=chain_sweep`, "#history-runs"],
  ["the API", "/api", ".routes tbody tr"],
  ["no such run", "/runs/999999", ".state"],
  ["no such page", "/nothing/here", ".state"],
];

test("every link of a page leads somewhere and every button is named", async () => {
  const { page } = await openPage(browser);
  for (const [name, path, ready] of pages()) {
    await page.goto(server.url + path);
    await page.locator(ready).first().waitFor();
    const nameless = await page
      .locator("button:visible")
      .evaluateAll((bs) => bs.filter((b) => !(b.textContent.trim() || b.getAttribute("aria-label"))).length);
    assert.equal(nameless, 0, name);
    const hrefs = await page
      .locator("a[href]:not([href^='#'])")
      .evaluateAll((as) => [...new Set(as.map((a) => a.href))]);
    for (const href of hrefs) {
      const response = await fetch(href);
      assert.ok(response.ok, `${name}: ${href} answers ${response.status}`);
      await response.body?.cancel();
    }
  }
});

test("the list by keyboard: j, k, Enter, /, and n", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs`);
  await page.locator(".runs tbody tr").nth(2).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), `/runs/${done}`);
  await page.keyboard.press("k");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), `/runs/${failed}`);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator("#verdict").waitFor();
  await page.goBack();
  await page.locator(".runs").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("chain n?");
  assert.equal(await page.getByLabel("Search the runs").inputValue(), "chain n?");
  await page.getByText("No run matches").waitFor();
  await page.getByRole("button", { name: "Drop chain n?" }).click();
  await page.locator(".runs").waitFor();
  await page.locator("body").click({ position: { x: 5, y: 600 } });
  await page.keyboard.press("n");
  await page.waitForURL(/\/new$/);
});

test("the run by keyboard: views, charts or tables, zoom, help", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/${done}`);
  await page.locator("#latency:not([aria-busy]) canvas").waitFor();
  await page.keyboard.press("t");
  await page.locator("#latency table").waitFor();
  await page.locator("#speedup table").waitFor();
  await page.keyboard.press("t");
  await page.locator("#latency canvas").focus();
  await page.keyboard.press("+");
  await page.locator("#latency").getByRole("button", { name: "Whole chart" }).waitFor();
  await page.keyboard.press("0");
  await page.locator("#latency").getByRole("button", { name: "Whole chart" }).waitFor({ state: "hidden" });
  await page.keyboard.press("?");
  await page.locator("#help[open]").waitFor();
  await page.keyboard.press("2");
  assert.match(page.url(), new RegExp(`/runs/${done}$`));
  await page.keyboard.press("Escape");
  await page.keyboard.press("2");
  await page.waitForURL(/\/breaks/);
  await page.keyboard.press("3");
  await page.waitForURL(/\/guards/);
  await page.keyboard.press("4");
  await page.waitForURL(/\/graphs/);
  await page.keyboard.press("5");
  await page.waitForURL(/\/kernels/);
  await page.keyboard.press("7");
  await page.waitForURL(/\/timeline/);
  await page.keyboard.press("8");
  await page.waitForURL(/\/memory/);
  await page.keyboard.press("9");
  await page.waitForURL(/\/source/);
  await page.keyboard.press("1");
  await page.locator("#verdict").waitFor();
});

test("a head explains itself where it is, by keys, and the help has every term", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/${done}`);
  const word = page.locator("#modes-table").getByRole("button", { name: "Repaid after" });
  await word.focus();
  await page.keyboard.press("Enter");
  const term = page.locator("#term:popover-open");
  assert.match(await term.innerText(), /the time saved equals the compile time/);
  assert.equal(await word.getAttribute("aria-expanded"), "true");
  assert.deepEqual(await findings(page), []);
  const [at, box] = [await word.boundingBox(), await term.boundingBox()];
  assert.ok(box.y > at.y && box.x + box.width <= 1440);
  await page.keyboard.press("Escape");
  await term.waitFor({ state: "detached" });
  assert.equal(await word.evaluate((el) => el === document.activeElement), true);
  await word.click();
  await term.waitFor();
  await page.keyboard.press("Tab");
  await term.waitFor({ state: "detached" });
  await page.keyboard.press("?");
  assert.ok((await page.locator("#help-terms dt").count()) > 30);
  assert.match(await page.locator("#help-terms").innerText(), /Recompile\s+No cache entry matched/);
  assert.deepEqual(await findings(page), []);
});

test("the API page has every route, in groups, each with a line to copy", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/api`);
  await page.locator(".routes tbody tr").first().waitFor();
  const doc = await (await fetch(`${server.url}/api/v1/openapi.json`)).json();
  const routes = Object.values(doc.paths).flatMap((p) => Object.keys(p)).length;
  assert.equal(await page.locator(".routes tbody tr").count(), routes);
  assert.deepEqual(await page.locator("main h2").allInnerTexts(), ["REST", "Pages", "Operation"]);
  await page.getByRole("button", { name: "Copy a curl line of GET /api/v1/runs", exact: true }).waitFor();
});

test("the first Tab offers to skip to the content", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs`);
  await page.locator(".runs").waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "main");
});

test("the theme is switched, redraws the charts and is remembered", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/${done}`);
  await page.locator("#latency:not([aria-busy]) canvas").waitFor();
  await page.getByRole("button", { name: "Switch to the dark theme" }).click();
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
});

test("when the server goes, the page says so, and goes on when it is back", async () => {
  const args = ["--listen", `127.0.0.1:${await quietPort()}`];
  const other = await startServer({ args });
  const { page } = await openPage(browser, { allow: /ERR_CONNECTION|Failed to load/ });
  await page.goto(`${other.url}/runs`);
  await page.getByText("No runs yet").waitFor();
  await other.stop({ keep: true });
  await page.getByRole("link", { name: "API" }).first().click();
  await page.getByText("The server does not answer").waitFor();
  await page.locator("#offline", { hasText: "No answer from 127.0.0.1" }).waitFor();
  assert.deepEqual(await findings(page), []);
  const again = await startServer({ folder: other.home, args });
  await page.locator(".routes tbody tr").first().waitFor();
  await page.locator("#offline").waitFor({ state: "hidden" });
  await again.stop();
});

test("all our own scripts and styles stay under 250 kB compressed", async () => {
  const served = join(dirname(binary), "gen/web/assets");
  // The editor is a library's, in a file of its own that comes when an editor is opened.
  const library = (/** @type {string} */ file) => file === "js/view/editor.js";
  const files = ["js", "css"].flatMap((folder) => readdirSync(join(served, folder), { recursive: true }).map((f) => `${folder}/${f}`)).filter((f) => /\.\w+$/.test(f) && !library(f));
  let bytes = 0;
  for (const file of files) {
    const response = await fetch(`${server.url}/assets/${file}`, { headers: { "Accept-Encoding": "gzip" } });
    assert.equal(response.headers.get("content-encoding"), "gzip", file);
    bytes += Number(response.headers.get("content-length"));
    await response.body?.cancel();
  }
  assert.ok(files.length > 10 && bytes > 1e5 && bytes < 250e3, `${files.length} files, ${bytes} bytes`);
});
