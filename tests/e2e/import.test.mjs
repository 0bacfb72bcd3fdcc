// tests/e2e/import.test.mjs -- logs of PyTorch in a real browser: tables, timeline, ledger.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, startServer, waitFor } from "../api/harness.mjs";
import { drawn, findings, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const logs = ["torch_trace_2.14.log", "kineto.json"].map((f) => `tests/import/${f}`);
  for (const files of [logs, ["tests/import/pt_xla.txt"]])
    assert.equal(spawnSync(binary, ["import", "--post", server.url, ...files]).status, 0);
  await waitFor(server, 1);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The rows of a table as texts. */
const rows = (page, name) => page.getByRole("region", { name: `${name} of the log`, exact: true }).locator("tbody tr").evaluateAll((all) => all.map((tr) => [...tr.cells].map((c) => c.textContent)));

test("a compile log and its trace are one run: breaks with their costs, compilations, kernels", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/1`);
  await page.locator(".tl canvas").waitFor();
  assert.match(await page.locator(".ledger").innerText(), /6 kernels and copies recorded\s+1 dropped/);
  await page.getByRole("region", { name: "Breaks of the log", exact: true }).waitFor(); // after the canvas
  const breaks = await rows(page, "Breaks");
  assert.deepEqual(breaks.map((r) => r[0]), ["/w/m.py:10", "/w/m.py:5", "/w/m.py:22", "/w/m.py:33"]);
  assert.deepEqual(breaks[0].slice(1, 7), ["data-dependent-branch", "GB0170", "resume", "4", "130 µs", "9 µs"]);
  assert.equal((await rows(page, "Compilations")).length, 7);
  assert.equal((await rows(page, "Recompiles")).length, 2);
  assert.deepEqual((await rows(page, "Kernels"))[0].slice(0, 2), ["triton_red_fused_sum_1", "2"]);
  await page.locator("details.lost > summary").click();
  const ledger = await page.locator(".lost tbody tr").evaluateAll((all) => all.map((tr) => [...tr.cells].map((c) => c.textContent)));
  assert.ok(ledger.some((r) => r[1] === "dropped" && r[2] === "1"), JSON.stringify(ledger));
  assert.ok((await sideways(page)) <= 0);
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

test("a log of PyTorch/XLA shows both stages", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/2`);
  await page.getByRole("region", { name: "Graphs of both stages of the log" }).waitFor();
  assert.deepEqual(await rows(page, "Graphs of both stages"), [
    ["import", "5", "2", "4", "0", "0", "2", "the capture", "369 s", "2,000 ms"],
  ]);
  assert.equal((await rows(page, "Breaks"))[0][0], "/w/train.py:51");
  assert.deepEqual(complaints, []);
});

test("ops of a thread that lie inside each other are levels, each pointed at in its own", async () => {
  const log = join(server.home, "nested.json");
  const op = (name, ts, dur) => ({ ph: "X", cat: "cpu_op", name, pid: 7, tid: 7, ts, dur });
  writeFileSync(log, JSON.stringify({ traceEvents: [op("outer", 0, 1000), op("middle", 100, 800), op("inner", 200, 600)] }));
  assert.equal(spawnSync(binary, ["import", "--post", server.url, log]).status, 0);
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/3`);
  const canvas = page.locator(".tl canvas");
  await canvas.waitFor();
  await drawn(page);
  const { width } = await canvas.boundingBox();
  for (const [level, name] of ["outer", "middle", "inner"].entries()) {
    await canvas.click({ position: { x: width / 2, y: 79 + 18 * level } });
    await page.getByRole("heading", { name, exact: true }).waitFor();
  }
  // What a search finds is in its level too.
  await page.getByLabel("Find events by name").fill("middle");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "middle", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});
