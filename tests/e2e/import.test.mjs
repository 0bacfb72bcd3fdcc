// tests/e2e/import.test.mjs -- logs of PyTorch in a real browser: tables, timeline, ledger.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
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
const rows = (page, name) => page.getByRole("region", { name: new RegExp(`^${name} (of|in) the log$`) }).locator("tbody tr").evaluateAll((all) => all.map((tr) => [...tr.cells].map((c) => c.textContent)));

test("a compile log and its trace are one run: breaks with their costs, compilations, kernels", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/1/timeline`);
  await page.locator(".tl canvas").waitFor();
  assert.match(await page.locator(".ledger").innerText(), /6 kernels and copies recorded\s+1 dropped/);
  await page.goto(`${server.url}/runs/1`);
  await page.waitForURL(/\/runs\/1\/log/);
  await page.getByRole("region", { name: "Breaks of the log", exact: true }).waitFor();
  assert.deepEqual(await page.locator(".tabs a").evaluateAll((all) => all.map((a) => a.textContent)), ["Overview", "Timeline", "Compiles", "Ranks"]);
  assert.match(await page.locator(".answer").innerText(), /^The device was busy 1\.4\s% of .*; 7 compilations took .*; graphs break at 4 places\.$/);
  assert.equal((await rows(page, "Device time")).length, 1);
  assert.deepEqual((await rows(page, "Compiling and running")).map((r) => r[0]).slice(0, 1), ["Compiling"]);
  const breaks = await rows(page, "Breaks");
  assert.deepEqual(breaks.map((r) => r[0]), ["/w/m.py:10", "/w/m.py:5", "/w/m.py:22", "/w/m.py:33"]);
  assert.deepEqual(breaks[0].slice(1, 7), ["data-dependent-branch", "GB0170", "resume", "4", "130 µs", "9 µs"]);
  assert.equal((await rows(page, "Compilations")).length, 7);
  assert.equal((await rows(page, "Recompiles")).length, 2);
  for (const name of ["Compilations", "Recompiles"]) {
    const links = await page.getByRole("region", { name: `${name} of the log` }).locator("tbody th a").evaluateAll((all) => all.map((a) => [a.textContent, new URLSearchParams(a.search).get("compile")]));
    assert.deepEqual(links.map(([text]) => text), (await rows(page, name)).map((r) => r[0].split(",")[0]));
    assert.ok(links.every(([text, compile]) => text === compile), JSON.stringify(links));
  }
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
  // A graph leads to what the log says of it, and that to the log.
  assert.deepEqual(await page.locator(".tabs a").allInnerTexts(), ["Overview", "Timeline", "Compiles"]);
  await page.getByRole("link", { name: "c74c3b91b855b2b123f833b0d5f86943" }).click();
  await page.getByRole("heading", { name: "pt_xla_log", exact: false }).first().waitFor();
  assert.deepEqual(await page.locator(".founds ol a").allInnerTexts().then((all) => all.map((t) => t.split(/\s+/)[0])), ["6", "25"]);
  await page.locator(".founds ol a").first().click();
  const log = page.getByRole("listbox", { name: "pt_xla_log", exact: false });
  assert.match(await log.locator("[aria-selected=true]").innerText(), /^6\s*Compilation Analysis: {3}Graph Hash: c74c/);
  assert.ok((await sideways(page)) <= 0);
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(complaints, []);
});

test("ops of a thread that lie inside each other are levels, each pointed at in its own", async () => {
  const log = join(server.home, "nested.json");
  const op = (name, ts, dur) => ({ ph: "X", cat: "cpu_op", name, pid: 7, tid: 7, ts, dur });
  writeFileSync(log, JSON.stringify({ traceEvents: [op("outer", 0, 1000), op("middle", 100, 800), op("inner", 200, 600)] }));
  assert.equal(spawnSync(binary, ["import", "--post", server.url, log]).status, 0);
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/3/timeline`);
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

test("compilations of a log: the list, stacks, a search over its texts, and a page for each with its texts side by side", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/1/compiles`);
  const table = page.getByRole("region", { name: "Compilations of the log", exact: true });
  await table.locator("tbody tr").first().waitFor();
  assert.equal(await table.locator("tbody tr").count(), 7);
  assert.ok((await page.getByRole("navigation", { name: "Stacks" }).getByRole("link", { name: "[0/0]" }).count()) === 1);
  await page.getByLabel("Show compilations that have").fill("1/2");
  assert.deepEqual(await table.locator("tbody th").allInnerTexts(), ["[1/2]"]);
  assert.deepEqual(await findings(page), []);
  await page.getByLabel("Search every text of the log").fill("tensor_match");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /TENSOR_MATCH: check_tensor/ }).click();
  await page.getByRole("heading", { name: /^\[0\/0\] f/ }).waitFor();
  const guards = page.getByRole("listbox", { name: "dynamo_cpp_guards_str" });
  await guards.locator("[aria-selected=true]").waitFor();
  assert.match(await guards.locator("[aria-selected=true]").innerText(), /^6\s*\| \| \+- TENSOR_MATCH/);
  // A text from the list beside it, its lines by the keyboard, and back to where it was.
  await page.getByRole("button", { name: "inductor_output_code x.py" }).click();
  const code = page.getByRole("listbox", { name: "inductor_output_code x.py" });
  await code.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.match(await code.locator("[aria-selected=true]").innerText(), /^2\s*import torch/);
  await page.getByLabel("Find in inductor_output_code x.py").fill("AOT");
  await page.keyboard.press("Enter");
  assert.match(await code.locator("[aria-selected=true]").innerText(), /^1\s*# AOT ID/);
  assert.deepEqual(await findings(page), []);
  assert.ok((await sideways(page)) <= 0);
  const link = page.url();
  await page.goto(`${server.url}/runs/1/compiles`);
  await page.goto(link);
  await code.waitFor();
  await guards.waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  assert.ok((await sideways(page)) <= 0);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

test("ids of the overview lead to their compilations; an address of none says so, with a way to all", async () => {
  const { page, complaints } = await openPage(browser, { width: 390, theme: "dark" });
  await page.goto(`${server.url}/runs/1/log`);
  await page.getByRole("region", { name: "Compilations of the log", exact: true }).getByRole("link", { name: "1/2", exact: true }).click();
  await page.getByRole("heading", { name: /^\[1\/2\] / }).waitFor();
  await page.goto(`${server.url}/runs/1/compiles?compile=9/9`);
  await page.getByRole("heading", { name: "There is no compilation [9/9]", exact: true }).waitFor();
  assert.match(await page.locator(".state p").innerText(), /has 7 compilations/);
  assert.equal(await page.locator(".textpanes").count(), 0);
  assert.deepEqual(await findings(page), []);
  assert.ok((await sideways(page)) <= 0);
  await page.getByRole("link", { name: "All compilations", exact: true }).click();
  await page.getByRole("region", { name: "Compilations of the log", exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

test("of a text of many lines those in sight alone are in the page", async () => {
  const log = join(server.home, "long.log");
  const head = (json) => `V1121 10:00:00.000000 77 torch/x.py:1] ${JSON.stringify(json)}\n`;
  const of = { frame_id: 0, frame_compile_id: 0, attempt: 0 };
  const lines = Array.from({ length: 100000 }, (_, i) => `\tline ${i + 1} of a long graph, which is of no use but to be long\n`).join("");
  writeFileSync(log, head({ dynamo_output_graph: {}, ...of, has_payload: "0" }) + lines);
  const posted = spawnSync(binary, ["import", "--post", server.url, log], { encoding: "utf8" });
  assert.equal(posted.status, 0);
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${/run (\d+)/.exec(posted.stderr)[1]}/compiles?compile=0/0`);
  const text = page.getByRole("listbox", { name: "dynamo_output_graph" });
  await text.locator("[data-n='1']").waitFor();
  assert.ok((await text.locator("[data-n]").count()) < 200);
  await text.focus();
  await page.keyboard.press("End");
  await text.locator("[data-n='100000'][aria-selected=true]").waitFor();
  await page.getByLabel("Find in dynamo_output_graph").fill("line 77777 ");
  await page.keyboard.press("Enter");
  await text.locator("[data-n='77777'][aria-selected=true]").waitFor();
  assert.deepEqual(complaints, []);
});

/** Drops files on the page, as a user does. */
const drop = (page, files) => page.evaluate((all) => {
  const transfer = new DataTransfer();
  for (const [name, text] of all) transfer.items.add(new File([text], name));
  for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}, files);

test("files that are dropped on any page are imported: several logs as one run, results as theirs; what is refused says why", async () => {
  const { page, complaints } = await openPage(browser, { allow: /status of 4/ });
  page.setDefaultTimeout(60000); // what waits in vain does not wait for ever
  const text = (file) => readFileSync(`tests/${file}`, "utf8");
  await page.goto(`${server.url}/ops`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await drop(page, [["torch_trace.log", text("import/torch_trace_2.14.log")], ["kineto.json", text("import/kineto.json")]]);
  await page.waitForURL(/\/runs\/\d+\/log/);
  assert.match(await page.getByRole("heading", { level: 1 }).innerText(), /^torch_trace\.log and 1 more file/);
  const { report } = await (await fetch(`${server.url}/api/v1${new URL(page.url()).pathname.replace("/log", "")}`)).json();
  assert.deepEqual(report.import.files.map((f) => f.kind), ["torch_trace", "kineto"]);
  assert.ok(report.import.joined > 0);

  await drop(page, [["m.py", "x = 1"], ["hyperfine.json", text("results/hyperfine.json")], ["notes.txt", "nothing"]]);
  const dialog = page.getByRole("dialog", { name: "Import" });
  await dialog.getByRole("button", { name: "Open what was imported" }).waitFor();
  const refused = await dialog.getByRole("listitem").allInnerTexts();
  assert.equal(refused.length, 2, refused.join());
  assert.match(refused[0], /m\.py is a program: open it on New run/);
  assert.match(refused[1], /notes\.txt is not a log of a known kind/);
  assert.deepEqual(await findings(page), []);
  await dialog.getByRole("button", { name: "Open what was imported" }).click();
  await page.waitForURL(/\/(runs|suites)\/\d+$/);

  // Without dragging: a button of the list of runs.
  await page.goto(`${server.url}/runs`);
  await page.getByRole("button", { name: "Import files" }).click();
  await dialog.waitFor();
  assert.deepEqual(await findings(page), []);
  await dialog.getByLabel("Files to import").setInputFiles("tests/import/job.zip");
  await page.waitForURL(/\/runs\/\d+\/log/);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});
