// tests/e2e/restore.test.mjs -- runs that came back from their exports, in a real browser: what they
// were, that they are distinguished, and the ledger over every view.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { binary, getJson, postRun, startServer, sweep, waitFor, workload } from "../api/harness.mjs";
import { findings, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

let server, browser;
const ids = {};

/** A run by its own export, changed on the way. */
async function again(id, query = "", change = (text) => text) {
  const text = await (await fetch(`${server.url}/api/v1/runs/${id}/export?format=chrome${query}`)).text();
  const { body } = await getJson(`${server.url}/api/v1/imports?name=again.json`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: change(text) });
  return body.id;
}

before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const ran = async (body) => {
    const { id } = (await postRun(server, body)).body;
    await waitFor(server, id);
    return id;
  };
  const swept = await ran({ ...sweep([1, 3]), backend: "interp", name: "swept" });
  const failed = await ran(workload("    return x.reshape(3, 7)", { backend: "interp", name: "fails" }));
  ids.swept = swept;
  // A duration below zero is repaired on the way.
  ids.back = await again(swept, "", (text) => text.replace('"dur":', '"dur":-'));
  ids.redacted = await again(swept, "&redact=1");
  ids.failed = await again(failed);
  assert.equal(spawnSync(binary, ["import", "--post", server.url, "tests/import/torch_trace_2.14.log", "tests/import/kineto.json"]).status, 0);
  ids.log = ids.failed + 1;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("the ledger is above every view of a run that came from a file, and of no other", async () => {
  const { page, complaints } = await openPage(browser);
  for (const tab of ["", "timeline", "memory", "breaks"]) {
    await page.goto(`${server.url}/runs/${ids.back}${tab ? `/${tab}` : ""}`);
    await page.locator(".lost").waitFor();
    assert.match(await page.locator(".lost summary").innerText(), /Loss ledger of the import: 1 repaired/);
  }
  await page.locator(".lost summary").click();
  assert.match(await page.locator(".lost tbody tr").first().innerText(), /durations below zero/);
  await page.goto(`${server.url}/runs/${ids.redacted}`);
  await page.locator(".lost").waitFor();
  assert.match(await page.locator(".lost").innerText(), /no record was dropped/);
  await page.goto(`${server.url}/runs/${ids.log}/timeline`);
  await page.locator(".tl canvas").waitFor();
  const [note, chart] = await Promise.all([".lost", ".tl canvas"].map((s) => page.locator(s).first().boundingBox()));
  assert.ok(note.y + note.height <= chart.y && chart.y - note.y < 400, "above the chart, and near it");
  await page.goto(`${server.url}/runs/${ids.swept}`);
  await page.locator("#run-body > *").first().waitFor();
  assert.equal(await page.locator(".lost").count(), 0);
  assert.deepEqual(complaints, []);
});

test("redacted and failed runs open as what they were", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${ids.redacted}`);
  await page.locator("#verdict").waitFor();
  assert.match(await page.locator(".meta").innerText(), /redacted: source and names were left out/);
  for (const tab of ["breaks", "graphs", "passes", "timeline", "memory", "source", "guards"]) {
    await page.goto(`${server.url}/runs/${ids.redacted}/${tab}`);
    await page.locator("#run-body > *").first().waitFor();
    await page.waitForLoadState("networkidle");
  }
  await page.goto(`${server.url}/runs/${ids.failed}`);
  await page.locator("#run-body").getByText("reshape").first().waitFor();
  assert.match(await page.locator(".meta").innerText(), /Imported/);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

for (const width of [1440, 390])
  for (const theme of ["light", "dark"])
    test(`lists, history and ledger at ${width}, ${theme}: imported runs are marked`, async () => {
      const { page, complaints } = await openPage(browser, { width, theme });
      const shot = async (name) => process.env.SHOTS && page.screenshot({ path: `${process.env.SHOTS}/${name}-${width}-${theme}.png`, fullPage: true });
      await page.goto(`${server.url}/history?workload=swept`);
      await page.locator("#history-runs tbody tr").nth(1).waitFor();
      const marked = await page.locator("#history-runs tbody tr").evaluateAll((all) => all.map((tr) => tr.cells[0].textContent));
      assert.deepEqual(marked.map((t) => /imported/.test(t)), [true, false]);
      assert.match(await page.locator("#history-chart header").innerText(), /filled: imported/);
      assert.ok((await sideways(page)) <= 0);
      assert.deepEqual(await findings(page), []);
      await shot("history");
      await page.goto(`${server.url}/runs`);
      await page.locator("tbody tr").nth(3).waitFor();
      assert.ok((await page.getByText("imported", { exact: true }).count()) >= 3);
      assert.deepEqual(await findings(page), []);
      await shot("runs");
      for (const [name, id] of [["back", ids.back], ["log", ids.log], ["failed", ids.failed], ["redacted", ids.redacted]]) {
        await page.goto(`${server.url}/runs/${id}`);
        await page.locator(".lost").waitFor();
        await page.waitForLoadState("networkidle");
        const open = page.locator("details.lost > summary");
        if (await open.count()) await open.click();
        assert.ok((await sideways(page)) <= 0, name);
        assert.deepEqual(await findings(page), [], name);
        await shot(name);
      }
      assert.deepEqual(complaints, []);
    });
