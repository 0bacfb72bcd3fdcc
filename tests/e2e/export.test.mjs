// tests/e2e/export.test.mjs -- the menu of exports, and the report in one file, in a real browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { binary, postLongTrace, postRun, startServer, stoppedExport, sweep, waitFor, workload } from "../api/harness.mjs";
import { drawn, findings, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  await postRun(server, workload("    y = torch.relu(x) * 2\n    print('between')\n    return y.sum()", { backend: "interp" }));
  await postRun(server, { ...sweep([1, 3, 5]), backend: "interp" });
  await postRun(server, workload("    return x.reshape(3, 7)", { backend: "interp" }));
  for (const id of [1, 2, 3]) await waitFor(server, id);
  assert.equal(spawnSync(binary, ["import", "--post", server.url, "tests/import/kineto.json"]).status, 0);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("the menu has a download for each format, and one box that redacts them all", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/1`);
  await page.getByText("Export", { exact: true }).click();
  const links = page.locator(".export li a");
  await links.first().waitFor();
  assert.deepEqual(await links.allInnerTexts(), ["Report, one HTML file", "Chrome trace, for Perfetto", "Chrome trace, compressed", "speedscope", "Report, JSON", "Graph, DOT", "Graph, SVG", "Kernels, CSV", "Modes, CSV", "Breaks, CSV", "PyTorch script"]);
  await page.getByLabel("Without source, paths and names").check();
  assert.equal(await links.count(), 10, "the script is nothing but source");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Report, one HTML file" }).click()]);
  assert.equal(file.suggestedFilename().endsWith(".html"), true);
  const html = await readFile(await file.path(), "utf8");
  assert.ok(html.includes("source, paths and names are left out") && !html.includes("between"));
  await page.keyboard.press("Escape");
  assert.equal(await links.first().isVisible(), false);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

test("a run that was exported and imported again opens as the run it was, and says that it was imported", async () => {
  const text = await (await fetch(`${server.url}/api/v1/runs/2/export?format=chrome`)).text();
  const posted = await fetch(`${server.url}/api/v1/imports?name=again.json`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: text });
  const { id } = await posted.json();
  const pages = [];
  for (const run of [2, id]) {
    const { page, complaints } = await openPage(browser);
    const seen = {};
    for (const tab of ["", "breaks", "graphs", "passes", "timeline", "source"]) {
      await page.goto(`${server.url}/runs/${run}${tab ? `/${tab}` : ""}`);
      await page.locator("#run-body > *").first().waitFor();
      await drawn(page);
      await page.waitForLoadState("networkidle");
      seen[tab] = (await page.locator("#run-body").innerText()).replaceAll(`runs/${run}`, "runs/ID");
    }
    await page.goto(`${server.url}/runs/${run}`);
    await page.locator(".meta").waitFor();
    pages.push({ seen, meta: await page.locator(".meta").innerText() });
    assert.deepEqual(complaints, []);
    assert.deepEqual(await refusals(page), []);
  }
  assert.ok(pages[0].seen[""].length > 200);
  for (const tab of Object.keys(pages[0].seen)) assert.equal(pages[1].seen[tab], pages[0].seen[tab], `the tab ${tab || "overview"}`);
  assert.doesNotMatch(pages[0].meta, /Imported/);
  assert.match(pages[1].meta, /Imported\s*\d{4}-\d\d-\d\d\s*As\s*\S+ #2, from again\.json/);
});

for (const width of [1440, 390])
  for (const theme of ["light", "dark"])
    test(`menu and reports at ${width}, ${theme}: nothing is wrong for assistive technology, nothing scrolls sideways`, async () => {
      const { page, complaints } = await openPage(browser, { width, theme });
      const shot = async (name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}-${width}-${theme}.png`, fullPage: true });
      for (const id of [1, 3, 4]) {
        await page.goto(`${server.url}/runs/${id}`);
        await page.getByText("Export", { exact: true }).click();
        await page.locator(".export li a").first().waitFor();
        assert.deepEqual(await findings(page), []);
        assert.ok((await sideways(page)) <= 0);
        await shot(`menu-${id}`);
      }
      for (const id of [1, 2, 3, 4]) {
        const path = join(server.home, `run-${id}.html`);
        assert.equal(spawnSync(binary, ["export", String(id), "--format", "html", "--db", join(server.home, "store.db"), "-o", path]).status, 0);
        await page.goto(pathToFileURL(path).href);
        assert.deepEqual(await findings(page), [], `run ${id}`);
        assert.ok((await sideways(page)) <= 0);
        assert.deepEqual(await refusals(page), []);
        await shot(`report-${id}`);
      }
      assert.deepEqual(complaints, []);
    });

test("the menu says how far an export is, and cancels it", async () => {
  const id = await postLongTrace(server, 200000);
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${id}`);
  const row = page.locator(".export .writing li");
  const { answer } = await stoppedExport(server, id);
  await page.getByText("Export", { exact: true }).click();
  await row.waitFor();
  assert.match(await row.innerText(), /^Chrome trace, for Perfetto: (starting|(\d+ % of the timeline read)?(, )?([\d.]+ (B|kB|MB) written)?)\s+Cancel$/);
  assert.ok((await sideways(page)) <= 0);
  await row.getByRole("button", { name: "Cancel Chrome trace, for Perfetto" }).click();
  await row.waitFor({ state: "detached" });
  assert.equal((await answer).status, 409);
  assert.deepEqual(complaints, []);
});
