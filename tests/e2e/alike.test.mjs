// tests/e2e/alike.test.mjs -- one run reads alike on the page, on a terminal, in the report of one file and
// in the answer of the server.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, getJson, startServer, sweep } from "../api/harness.mjs";
import { openPage, startBrowser } from "./browser.mjs";

let server, browser, page, text, html, said, report;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  const file = join(server.home, "alike.json");
  writeFileSync(file, JSON.stringify({ ...sweep([1, 30]), name: "alike", modes: ["eager", "static", "dynamic"], backend: "interp" }));
  text = await new Promise((done) => {
    const child = spawn(binary, ["run", file, "--post", server.url]);
    let out = "";
    child.stdout.on("data", (bytes) => (out += bytes));
    child.on("close", () => done(out));
  });
  ({ body: { findings: said, report } } = await getJson(`${server.url}/api/v1/runs/1`));
  ({ page } = await openPage(browser));
  html = await openPage(browser);
  await html.page.setContent(await (await fetch(`${server.url}/api/v1/runs/1/export?format=html`)).text());
  html = html.page;
  await page.goto(`${server.url}/runs/1`);
  await page.locator("#modes-table").waitFor();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const textOf = (parts) => parts.map((p) => p.text).join("");
/** As a reader sees it: a space is a space. @param {string} s */
const plain = (s) => s.replace(/\s+/g, " ").trim();
const last = () => said.points.at(-1).modes;

test("the sentences", async () => {
  const sentences = Object.values(last()).map((m) => textOf(m.sentence)).filter(Boolean);
  assert.equal(sentences.length, 2);
  assert.deepEqual(text.split("\n").slice(0, 2), sentences);
  assert.deepEqual((await html.locator("p.verdict").allInnerTexts()).map(plain), sentences);
  assert.equal(plain(await page.locator("#verdict").innerText()), textOf(said.answer));
  assert.equal(textOf(said.answer), sentences[0], "static is what a run is about");
});

/** The table of modes at the last point: [mode, median, its interval, speedup, its interval, verdict, compile, repaid, launches, peak]. */
const want = () =>
  Object.entries(last()).map(([mode, m]) => {
    const own = mode !== "eager";
    const interval = (f) => (f?.low ? `${f.low}–${f.high}` : "");
    return [mode, m.median.text, interval(m.median), own ? m.speedup.text : "", own ? interval(m.speedup) : "", m.verdict ?? "", own ? m.compile : "", own ? m.repaid : "", m.launches, m.peak];
  });

const split = (cell) => {
  const [, figure, interval = ""] = /^(\S+)(?: \((.*)\))?$/.exec(plain(cell)) ?? ["", "", ""];
  return [figure, interval];
};

test("the figures on a terminal", () => {
  const head = text.split("\n").find((l) => / n {2}mode/.test(l));
  for (const unit of [said.time_unit, `peak ${said.bytes_unit}`, `compile ${said.compile_unit}`]) assert.ok(head.includes(unit), head);
  const rows = text.split("\n").filter((l) => /^ +30 {2}\w/.test(l)).map((l) => l.trim().split(/\s{2,}/));
  // What was not measured is left blank: what there is stands in this order.
  const cells = Object.entries(last()).map(([mode, m]) => {
    const range = (f) => (f?.low ? `${f.low}-${f.high}` : "");
    const own = mode === "eager" ? [] : [m.speedup?.text, range(m.speedup), m.verdict, m.repaid];
    return ["30", mode, m.median.text, range(m.median), m.launches, m.peak, m.compile, ...own].filter(Boolean);
  });
  assert.deepEqual(rows, cells);
});

test("the figures in the report of one file", async () => {
  const heads = (await html.locator("section[aria-label=Modes] th[scope=col]").allInnerTexts()).join("|");
  for (const head of [`Median, ${said.time_unit}`, `Compiled in, ${said.compile_unit}`, `Peak, ${said.bytes_unit}`]) assert.ok(heads.includes(head), heads);
  const rows = await html.locator("section[aria-label=Modes] tbody tr").evaluateAll((all) => all.map((r) => [...r.children].map((c) => c.innerText)));
  assert.deepEqual(
    rows.filter((r) => r[1] === "30").map(([mode, , median, speedup, verdict, compile, repaid, launches, , peak]) => {
      const own = mode !== "eager";
      return [mode, ...split(median), ...split(speedup), verdict, own ? compile : "", repaid, launches, peak];
    }),
    want(),
  );
});

test("the figures on the page", async () => {
  const heads = (await page.locator("#modes-table thead th").allInnerTexts()).join("|");
  for (const head of [`Median, ${said.time_unit}`, `Compile, ${said.compile_unit}`, `Peak, ${said.bytes_unit}`]) assert.ok(heads.includes(head), heads);
  const rows = await page.locator("#modes-table tbody tr").evaluateAll((all) => all.map((r) => [...r.children].map((c) => c.innerText)));
  assert.deepEqual(
    rows.filter((r) => r.length === 10).map(([mode, median, speedup, , compile, repaid, launches, peak, error, verdict]) => {
      const own = plain(mode) !== "eager";
      if (own) assert.equal(error, last()[plain(mode)].error);
      return [plain(mode), ...split(median), ...(own ? split(speedup) : ["", ""]), own ? verdict : "", own ? compile : "", own ? repaid : "", launches, peak];
    }),
    want(),
  );
});

test("what the machine did while samples were taken", async () => {
  const facts = Object.fromEntries(await page.locator(".kv dt").evaluateAll((all) => all.map((t) => [t.innerText, t.nextElementSibling.innerText])));
  const { machine, control, points } = report;
  assert.ok(machine.looks > 0 && control.n > 0);
  assert.equal(plain(facts["While it was timed"]), machine.text);
  assert.ok(text.includes(`machine: ${machine.text}\n`), text);
  assert.match(facts["Fixed control"], /^[\d.,]+ µs \([\d.,]+–[\d.,]+\)$/);
  const { latency } = points.at(-1).modes.static;
  assert.equal(facts.Processes, `${control.of_process.length} took the samples`, report.one_process);
  assert.equal(latency.of_process.reduce((a, b) => a + b), latency.n, "each sample is of a process");
  assert.equal(latency.samples_ns.length, latency.n);
});

test("the number of graphs on the tab is that of the mode which the list opens with", async () => {
  const graphs = last().static.graphs.length;
  await page.goto(`${server.url}/runs/1/graphs`);
  await page.locator("#graph-mode").waitFor();
  await page.getByRole("heading", { name: "Graph 0" }).first().waitFor();
  assert.equal(await page.locator("#graph-mode").inputValue(), "static");
  assert.equal(await page.locator('.tabs a[data-tab="graphs"] .n').innerText(), String(graphs));
  assert.equal(await page.getByRole("heading", { name: /^Graph \d/ }).count(), graphs);
});

/** What the binary prints. @param {...string} args */
const printed = (...args) =>
  new Promise((done) => {
    const child = spawn(binary, args);
    let out = "";
    child.stdout.on("data", (bytes) => (out += bytes));
    child.on("close", () => done(out));
  });

test("two runs: the sentence, what it rests on, and the figures", async () => {
  const file = join(server.home, "alike.json");
  await printed("run", file, "--post", server.url);
  const { body } = await getJson(`${server.url}/api/v1/compare?a=1&b=2`);
  const [c] = body.comparisons;
  const cli = await printed("compare", "1", "2", "--db", join(server.home, "store.db"));
  assert.ok(cli.includes(`\n${c.verdict}. ${textOf(c.sentence)}\n`), cli);
  assert.ok(cli.includes(`\n${c.how.join("\n")}\n`), cli);
  await page.goto(`${server.url}/compare?a=1&b=2`);
  await page.locator("#metrics").waitFor();
  assert.equal(plain(await page.locator("#verdict").innerText()), `${c.verdict} ${textOf(c.sentence)}`);
  assert.equal(plain(await page.locator(".verdict .how").innerText()), c.how.join(" "));
  // The point that the page opens with is its verdict's: it depends on what was measured.
  const point = page.locator("#compare-point");
  assert.equal(await point.inputValue(), String(c.headline.n ?? 30));
  const words = (f) => (f.low ? `${f.text} (${f.low}–${f.high})` : f.text);
  for (const n of [1, 30]) {
    const figure = c.figures.find((f) => f.metric === "latency" && f.mode === "static" && f.n === n);
    const shown = [figure.a.shown, figure.b.shown, figure.times].map(words);
    const row = cli.split("\n").find((l) => l.startsWith(`static latency at n = ${n} `)).trim().split(/\s{2,}/);
    const verdict = c.judged_by === "speedup" ? `(${figure.verdict})` : figure.verdict; // eager moved: latency does not decide
    assert.deepEqual(row.slice(1), [...shown.map((t) => t.replace("–", "-")), verdict]);
    await point.selectOption(String(n));
    const cells = await page.locator("#metrics tbody tr", { hasText: "static latency" }).locator("td").allInnerTexts();
    assert.deepEqual(cells.slice(0, 3).map(plain), shown);
  }
});

test("a history", async () => {
  const { body } = await getJson(`${server.url}/api/v1/history?workload=alike`);
  await page.goto(`${server.url}/history?workload=alike`);
  await page.locator("#history-runs").waitFor();
  assert.equal(plain(await page.locator("#verdict").innerText()), textOf(body.sentence));
  assert.equal(plain(await page.locator(".verdict .how").innerText()), body.how.join(" "));
  const figures = await page.locator("#history-runs tbody tr td:nth-child(2)").allInnerTexts();
  assert.deepEqual(figures.map(plain).reverse(), body.points.map((p) => `${p.shown.text} (${p.shown.low}–${p.shown.high})`));
});
