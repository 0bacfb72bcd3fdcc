// tests/bench/pages.mjs -- how fast the pages are, in headless Chromium: `node tests/bench/pages.mjs [ROUNDS]`.
//
// BREAKEVEN names the binary; BESIDE another one, of an earlier commit say, whose pages are opened in turn with
// ours: a line for each.  Prints figures, asserts nothing: the median of the rounds, the least and the
// most, beside the bar; and the load of the machine before and after, for all of it moves with that.  A view is
// there when what it was asked for has been painted, counted from the start of the navigation with nothing in
// the browser's cache; the window has stood a second before, for Chromium loads pages of its own when it opens
// one.  Layout shift is Chromium's score until a second after.  `work` is what the main thread does in a frame,
// `frame` the time between two.
import { execFileSync } from "node:child_process";
import { createWriteStream, readFileSync, readdirSync } from "node:fs";
import { once } from "node:events";
import { loadavg } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { binary, randn, startServer, sweep } from "../api/harness.mjs";
import { openPage, startBrowser } from "../e2e/browser.mjs";

const ROUNDS = Number(process.argv[2] ?? 5);
const EVENTS = 1e6;
const NODES = 2000;
const RUNS = 1e4;
const FRAMES = 120;
const SETTLE_MS = 1000;

const median = (xs) => [...xs].sort((a, b) => a - b)[xs.length >> 1];
const p95 = (xs) => [...xs].sort((a, b) => a - b)[Math.floor(xs.length * 0.95)];
const load = () => loadavg()[0].toFixed(1);

/** One line: what, median (least to most), bar. */
function tell(what, xs, unit, bar) {
  const of = (x) => x.toFixed(unit ? (x < 100 ? 1 : 0) : 3);
  console.log(`${what.padEnd(52)} ${of(median(xs)).padStart(7)} ${unit} (${of(Math.min(...xs))} to ${of(Math.max(...xs))})  bar ${bar}`);
}

/** A Kineto trace: launches on a host thread, kernels on four streams. */
async function writeTrace(path) {
  const out = createWriteStream(path);
  out.write('{"schemaVersion": 1, "traceEvents": [\n');
  for (let i = 0; i < EVENTS / 2; i++) {
    const ts = i * 5;
    const text =
      `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":${ts},"dur":2,"args":{"correlation":${i + 1}}},\n` +
      `{"ph":"X","cat":"kernel","name":"kernel_${i % 40}","pid":0,"tid":${7 + (i % 4)},"ts":${ts + 3},"dur":${2 + (i % 11)},"args":{"correlation":${i + 1},"device":0,"stream":${7 + (i % 4)}}}${i + 1 < EVENTS / 2 ? "," : ""}\n`;
    if (!out.write(text)) await once(out, "drain");
  }
  out.end("]}\n");
  await once(out, "finish");
}

/** A function of many ops, cut into kernels by its reductions. */
function manyOps() {
  const ops = ["torch.sin(x)", "x * 1.1", "torch.relu(x)", "x + 0.1", "torch.cos(x)", "x - x.mean(dim=-1, keepdim=True)"];
  const lines = Array.from({ length: NODES }, (_, i) => `    x = ${ops[i % ops.length]}`);
  return {
    name: "many_ops", source: `import torch\n\ndef model(x):\n${lines.join("\n")}\n    return x\n`,
    calls: [[randn(8, 16)]], modes: ["static"], backend: "interp",
  };
}

/** Rows like the first: running them would take hours.  The server is stopped meanwhile. */
function multiply(store) {
  const script = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
names = [r[1] for r in db.execute("PRAGMA table_info(run)") if r[1] != "id"]
of = ", ".join('"%s"' % n for n in names)
table = db.execute("SELECT max(name) FROM sqlite_master WHERE type = 'table' AND name IN ('run', 'run_row')").fetchone()[0]
db.executemany("INSERT INTO %s (%s) SELECT %s FROM %s WHERE id = 1" % (table, of, of, table), [()] * int(sys.argv[2]))
# Each with the summary of the first, in either store: without it a row is a third as long.
names = [r[1] for r in db.execute("PRAGMA table_info(run_summary)") if r[1] != "run"]
of = ", ".join('"%s"' % n for n in names)
db.execute("INSERT INTO run_summary (run, %s) SELECT %s.id, %s FROM %s JOIN (SELECT %s FROM run_summary WHERE run = 1) WHERE %s.id > (SELECT max(run) FROM run_summary)" % (of, table, of, table, of, table))
db.commit()
`;
  execFileSync("python3", ["-c", script, store, String(RUNS)]);
}

/** Milliseconds until `ready` is painted; the longest task and the layout shift until a second later. */
async function view(browser, url, ready) {
  const { page, context } = await openPage(browser);
  await page.addInitScript((selector) => {
    globalThis.longest = 0;
    globalThis.shift = 0;
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) globalThis.shift += e.value;
    }).observe({ type: "layout-shift", buffered: true });
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, e.duration);
    }).observe({ type: "longtask", buffered: true });
    const look = () => {
      if (!document.querySelector(selector)) return requestAnimationFrame(look);
      const after = new MessageChannel();
      after.port1.onmessage = () => (globalThis.painted = performance.now());
      return after.port2.postMessage(0);
    };
    requestAnimationFrame(look);
  }, ready);
  await page.waitForTimeout(SETTLE_MS);
  await page.goto(url);
  await page.waitForFunction(() => globalThis.painted, null, { timeout: 60000, polling: 200 });
  await page.waitForTimeout(SETTLE_MS);
  const told = await page.evaluate(() => ({ painted: globalThis.painted, longest: globalThis.longest, shift: globalThis.shift }));
  return { page, context, ...told };
}

/** Frames while `act(i)` runs in each: the time between two, and the main thread's work in each. */
function frames(page, act) {
  return page.evaluate(
    ({ n, text }) =>
      new Promise((done) => {
        const each = new Function("i", text);
        const [between, work] = [[], []];
        let last = 0;
        let i = 0;
        const frame = (at) => {
          if (last) between.push(at - last);
          last = at;
          const began = performance.now();
          each(i++);
          // After the callbacks of this frame and its paint.
          requestAnimationFrame(i < n ? frame : () => done({ between, work }));
          const after = new MessageChannel();
          after.port1.onmessage = () => work.push(performance.now() - began);
          after.port2.postMessage(0);
        };
        requestAnimationFrame(frame);
      }),
    { n: FRAMES, text: act },
  );
}

/** A binary whose pages are opened: its server, and the runs there. */
const sides = [{ name: "", program: binary }, ...(process.env.BESIDE ? [{ name: "beside: ", program: process.env.BESIDE }] : [])];

/** @param {(side: any) => string} path */
async function first(browser, what, path, ready, bar, blocked = "") {
  const views = sides.map(() => []);
  for (let i = 0; i <= ROUNDS; i++)
    for (const [k, side] of sides.entries()) {
      const v = await view(browser, side.server.url + path(side), ready);
      await v.context.close();
      if (i) views[k].push(v); // the first warms the server
    }
  for (const [k, side] of sides.entries()) {
    tell(side.name + what, views[k].map((v) => v.painted), "ms", bar);
    if (blocked) tell("  longest block of its main thread", views[k].map((v) => v.longest), "ms", blocked);
    tell("  layout shift", views[k].map((v) => v.shift), "", "0.01");
  }
}

/** @param {(side: any) => string} path */
async function moving(browser, what, path, ready, act) {
  const got = sides.map(() => ({ between: [], work: [], middle: [] }));
  for (let i = 0; i < ROUNDS; i++)
    for (const [k, side] of sides.entries()) {
      const { page, context } = await view(browser, side.server.url + path(side), ready);
      const { between, work } = await frames(page, act);
      await context.close();
      got[k].between.push(p95(between));
      got[k].work.push(p95(work));
      got[k].middle.push(median(work));
    }
  for (const [k, side] of sides.entries()) {
    tell(`  ${side.name}${what}, work, median frame`, got[k].middle, "ms", "16 ms"); // on a busy machine p95 is the machine's
    tell(`  ${side.name}${what}, work p95`, got[k].work, "ms", "16 ms");
    tell(`  ${side.name}${what}, frame p95`, got[k].between, "ms", "16.7 ms");
  }
}

/** Runs a workload; its number.  Answers are not held against the schema: they may be those of an earlier commit. */
async function ran(server, workload) {
  const post = await fetch(`${server.url}/api/v1/runs`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(workload) });
  const { id } = await post.json();
  for (;;) {
    const run = await (await fetch(`${server.url}/api/v1/runs/${id}`)).json();
    if (run.status === "done") return id;
    if (run.status !== "queued" && run.status !== "running") throw new Error(JSON.stringify(run.error));
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** What its pages are opened on: two runs and the import of a trace. */
async function fill(side, trace) {
  const { server } = side;
  side.run = await ran(server, { ...sweep([1, 5, 10]), backend: "interp" });
  side.many = await ran(server, manyOps());
  const told = execFileSync(side.program, ["import", trace, "--post", server.url, "--json"], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const listed = await (await fetch(`${server.url}/api/v1/runs`)).json();
  side.imported = Math.max(...listed.runs.map((r) => r.id));
  if (side.imported === side.many) throw new Error(`the trace was not posted: ${told.slice(0, 400)}`);
}

/** The editor is CodeMirror, in a file that only the form loads. */
const isEditor = (file) => file.endsWith("/view/editor.js");

/** Of the page's scripts and styles, compressed. */
function servedBytes(program, wanted) {
  const served = join(dirname(program), "gen/web/assets");
  const files = ["js", "css"].flatMap((d) => readdirSync(join(served, d), { recursive: true }).map((f) => join(served, d, f))).filter((f) => /\.\w+$/.test(f) && wanted(f));
  return files.reduce((sum, f) => sum + gzipSync(readFileSync(f), { level: 9 }).length, 0);
}

const key = (code) => `document.querySelector(".tl canvas").dispatchEvent(new KeyboardEvent("keydown", { key: ${code}, bubbles: true }))`;

const browser = await startBrowser();
try {
  for (const side of sides) side.server = await startServer({ program: side.program });
  console.log(`load ${load()}; ${ROUNDS} rounds: median (least to most)`);
  const trace = join(sides[0].server.home, "trace.json");
  await writeTrace(trace);
  for (const side of sides) await fill(side, trace);

  await first(browser, "a run: its verdict", (s) => `/runs/${s.run}`, "#verdict", "300 ms");
  await first(browser, `a timeline of ${EVENTS} events: first frame`, (s) => `/runs/${s.imported}/timeline`, ".tl canvas", "200 ms");
  await moving(browser, "pan", (s) => `/runs/${s.imported}/timeline?t0=1e9&t1=1.1e9`, ".tl canvas", key('i % 20 < 10 ? "d" : "a"'));
  await moving(browser, "zoom", (s) => `/runs/${s.imported}/timeline`, ".tl canvas", key('i % 40 < 20 ? "w" : "s"'));
  await first(browser, `a graph of ${NODES} nodes: something to read`, (s) => `/runs/${s.many}/graphs`, ".ops li, .graph [data-node]", "300 ms", "none frozen");

  for (const side of sides) {
    await side.server.stop({ keep: true });
    multiply(join(side.server.home, "store.db"));
    side.server = await startServer({ folder: side.server.home, program: side.program });
  }
  await first(browser, `a list of ${RUNS} runs`, () => "/runs", ".runs tbody tr", "none");
  await moving(browser, "scroll", () => "/runs", ".runs tbody tr", "scrollBy(0, i % 60 < 30 ? 120 : -120)");
  for (const { name, program } of sides) {
    console.log(`${`${name}own JavaScript and CSS, compressed`.padEnd(52)} ${(servedBytes(program, (f) => !isEditor(f)) / 1e3).toFixed(1).padStart(7)} kB  bar 250 kB`);
    console.log(`${`${name}the editor (CodeMirror), compressed`.padEnd(52)} ${(servedBytes(program, isEditor) / 1e3).toFixed(1).padStart(7)} kB  bar 150 kB`);
  }
  console.log(`load ${load()}`);
} finally {
  await browser.close();
  for (const side of sides) await side.server?.stop();
}
