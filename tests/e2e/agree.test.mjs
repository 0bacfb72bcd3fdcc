// tests/e2e/agree.test.mjs -- the pages of thirty runs do not contradict each other: what two places say of
// one thing of one run is the same.
//
// Each reader takes what a place says as rows: the run, the thing, the words.  Times are compared as
// microseconds and bytes as bytes, whatever unit a place has chosen; all else is compared as it is written.
// FULL=1 in the environment: all places of every run; without it those that take long are of every third, or sixth.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { binary, getJson, postRun, randn, startServer, suiteEnded, timed, waitFor, workload } from "../api/harness.mjs";
import { drawn, openPage, startBrowser } from "./browser.mjs";

const QUICK = { backend: "interp", seconds: 0.05, threads: 1 };
const UNITS = { ns: 1e-3, µs: 1, ms: 1e3, s: 1e6, B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };

const body = (lines, extra = {}) => workload(lines.map((l) => `    ${l}`).join("\n"), extra);
const BREAK = "torch._dynamo.graph_break()";

/** Programs that differ in what pages have to say of them. */
const PROGRAMS = {
  once: body(["y = x * 2", BREAK, "return y.sum()"]),
  often: body(["for i in range(5):", "    x = x + 1", "    print(i)", "return x.sum()"]),
  branch: body(["if x.sum() > 0:", "    x = x + 1", "return torch.sin(x).sum()"]),
  nested: { ...body([]), source: `import torch\n\ndef gate(x):\n    print('in')\n    return x * 2\n\ndef model(x):\n    return gate(gate(x) + 1).sum()\n` },
  never: body(["for i in range(3):", "    try:", "        x = x + int(x.sum().item() * 0)", "    finally:", "        pass", "return x"]),
  sizes: { ...body(["return torch.relu(x @ x.T).sum()"]), calls: [4, 5, 6, 7].map((n) => [randn(n, 8)]) },
  scalars: { ...body([]), source: "import torch\n\ndef model(x, k):\n    return (x * k).sum()\n", calls: [1, 2, 3].map((k) => [randn(4, 4), { value: k }]) },
  limit: { ...body([]), source: "import torch\n\ndef model(x, k):\n    return x.reshape(k, -1).sum()\n", calls: [1, 2, 3, 4, 6, 8, 12, 16, 24, 48].map((k) => [randn(48), { value: k }]) },
  denied: { ...body(["y = torch.sin(x)", "return torch.relu(y).sum()"]), deny: ["relu"], modes: ["eager", "static", "lazy", "graphs"] },
  lazy: { ...body(["y = torch.sin(x)", "z = y * y.amax().item()", "return z.sum()"]), modes: ["eager", "lazy", "static"] },
  every: { ...body(["return torch.softmax(x @ x.T, -1).sum()"]), modes: ["eager", "lazy", "static", "dynamic", "auto", "graphs"] },
  native: { ...body(["if x.sum() > 0:", "    x = x + 1", "return x.sum()"]), policy: "native" },
  alone: { ...body(["return x + 1"]), modes: ["eager"] },
  wrong: body(["return x.sum() * (1.5 if torch.compiler.is_compiling() else 1.0)"]),
  swept: { ...workload("    ...\n    return x.sum()"), sweep: { statements: { pool: ["x = torch.sin(x)", "x = x * 1.1"], counts: [1, 4, 16] } } },
  cut: { ...workload("    ...\n    return x.sum()"), sweep: { statements: { pool: ["x = x * 1.1", "print('x')"], counts: [2, 4] } } },
  graded: { ...body(["return torch.tanh(x).sum()"]), grad: true },
};

let server, browser, page, runs, suite;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  ({ page } = await openPage(browser));
  const files = readdirSync("web/examples").filter((f) => f.endsWith(".json"));
  const known = files.map((f) => ({ ...JSON.parse(readFileSync(`web/examples/${f}`, "utf8")), name: f.replace(".json", "") }));
  const own = Object.entries(PROGRAMS).map(([name, w]) => ({ ...w, name, modes: w.modes ?? ["eager", "static", "dynamic"] }));
  const ids = [];
  for (const { title, ...w } of [...own, ...known]) {
    const { status, body: made } = await postRun(server, { ...w, ...QUICK, ...(w.sweep?.statements?.counts?.length > 3 ? { sweep: { statements: { ...w.sweep.statements, counts: [1, 10] } } } : {}) });
    assert.equal(status, 202, `${w.name}: ${JSON.stringify(made)}`);
    ids.push(made.id);
  }
  const posted = await getJson(`${server.url}/api/v1/suites`, {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "some", modes: ["static"], seconds: 0.05, backend: "interp", workloads: [PROGRAMS.once, PROGRAMS.every].map((w, i) => ({ ...w, name: `of_suite_${i}`, modes: undefined })) }),
  });
  assert.equal(posted.status, 202, JSON.stringify(posted.body));
  await suiteEnded(server, (suite = posted.body.id));
  for (const id of ids) {
    const run = await waitFor(server, id);
    assert.equal(run.status, "done", `run ${id}: ${run.error?.message}`);
  }
  ({ runs } = (await getJson(`${server.url}/api/v1/runs?limit=100`)).body);
  assert.ok(runs.length >= 30, `${runs.length} runs`);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** "1.5 ms (1.4–1.6)" as "1500 (1400–1600)"; what has no unit is told in `unit`. */
function plain(text, unit = "") {
  const said = text.replace(/\s+/g, " ").trim().replace(/(\d),(?=\d{3})/g, "$1");
  const own = said.match(/(?<=\d )(ns|µs|ms|s|B|kB|MB|GB)(?= |$)/)?.[1] ?? unit;
  const scale = UNITS[own] ?? 1;
  const bare = own === unit ? said : said.replace(` ${own}`, "");
  if (scale === 1) return bare;
  return bare.replace(/\d[\d,]*(\.\d+)?(e-?\d+)?/g, (n) => String(Number((Number(n.replaceAll(",", "")) * scale).toPrecision(9))));
}

/** A list is in one unit, a page in another: 0.70 µs is 0.0007 ms. @param {string} text */
const bare = (text) => (Number.isFinite(Number(text)) ? String(Number(text)) : text);

const visit = async (path) => {
  await page.goto(server.url + path);
  await drawn(page);
};

/** Cells of a table's rows by the column's name. */
const table = (selector) =>
  page.locator(selector).first().evaluate((t) => {
    const heads = [...t.tHead.rows[0].cells].map((c) => c.innerText.trim() || c.getAttribute("aria-label") || "");
    return [...t.tBodies[0].rows].map((r) => Object.fromEntries([...r.cells].map((c, i) => [heads[i], c.innerText.replace(/\s+/g, " ").trim()])));
  });

const unitOf = (row, start) => Object.keys(row).find((k) => k.startsWith(start))?.split(", ")[1] ?? "";
const cellOf = (row, start) => row[Object.keys(row).find((k) => k.startsWith(start))];

/** What places have said, by run and thing: the words and who said them. */
class Said {
  things = new Map();
  add(run, thing, value, who) {
    if (value === undefined || value === null || value === "") return;
    const key = `run ${run}, ${thing}`;
    if (!this.things.has(key)) this.things.set(key, []);
    this.things.get(key).push([value, who]);
  }
  /** Things that two places or more tell, and how they differ. */
  contradictions() {
    return [...this.things].filter(([, all]) => new Set(all.map(([v]) => v)).size > 1).map(([key, all]) => `${key}: ${all.map(([v, who]) => `${who} "${v}"`).join(", ")}`);
  }
  get told() {
    return [...this.things.values()].filter((all) => new Set(all.map(([, who]) => who)).size > 1).length;
  }
}

async function readList(said) {
  await visit("/runs?limit=100");
  const read = await page.locator(".runs tbody tr").evaluateAll((rows) => {
    const heads = [...document.querySelector(".runs thead tr").cells].map((c) => c.innerText.trim());
    return rows.map((r) => ({ id: r.querySelector(".mono.dim")?.textContent.slice(1), cells: [...r.cells].map((c) => c.innerText.replace(/\s+/g, " ").trim()), heads }));
  });
  for (const { id, cells, heads } of read) {
    const run = runs.find((r) => String(r.id) === id);
    if (!run?.summary) continue;
    const { mode } = run.summary;
    const at = (start) => cells[heads.findIndex((h) => h.startsWith(start))];
    const median = heads.find((h) => /, (ns|µs|ms|s)$/.test(h));
    said.add(id, "verdict", at("Verdict"), "list");
    said.add(id, `speedup of ${mode}`, cells[2].replace(` ${mode}`, ""), "list");
    said.add(id, `median of ${mode}, without its interval`, bare(plain(cells[heads.indexOf(median)], median.split(", ").at(-1))), "list");
    said.add(id, `repaid of ${mode}`, at("Repaid").replace(/ calls?$/, ""), "list");
    said.add(id, "breaks", at("Breaks"), "list");
  }
}

async function readOverview(said, { id, summary }) {
  await visit(`/runs/${id}`);
  for (const tab of ["breaks", "guards", "graphs"]) said.add(id, tab, await page.locator(`.tabs [data-tab=${tab}] .n`).innerText(), "tab");
  said.add(id, "headline", await page.locator(".verdict p").first().innerText(), "overview");
  for (const row of await table("#modes-table")) {
    const mode = row.Mode;
    if (!row.Verdict) continue; // not in this run
    const time = unitOf(row, "Median"), bytes = unitOf(row, "Peak");
    said.add(id, `median of ${mode}`, plain(cellOf(row, "Median"), time), "overview");
    said.add(id, `median of ${mode}, without its interval`, bare(plain(cellOf(row, "Median"), time).split(" ")[0]), "overview");
    said.add(id, `speedup of ${mode}`, row.Speedup, "overview");
    said.add(id, `peak of ${mode}`, plain(cellOf(row, "Peak"), bytes), "overview");
    said.add(id, `launches of ${mode}`, row.Launches, "overview");
    if (mode === "eager") continue;
    said.add(id, `repaid of ${mode}`, cellOf(row, "Repaid"), "overview");
    if (mode === summary?.mode) said.add(id, "verdict", row.Verdict, "overview");
  }
  if (!(await page.locator("#repaid").count())) return;
  for (const row of await table("#repaid")) said.add(id, `repaid of ${row.Mode}`, cellOf(row, "Repaid")?.replace(/ calls?\b.*$/, ""), "table of repayment");
}

async function readBreaks(said, { id, modes }) {
  const counts = [];
  for (const mode of modes.filter((m) => m !== "eager")) {
    await visit(`/runs/${id}/breaks?mode=${mode}`);
    const cards = await page.locator(".brks details").count();
    counts.push(cards);
    const sentence = (await page.locator(".verdict p").count()) ? await page.locator(".verdict p").first().innerText() : "";
    const told = sentence.match(/(\d+) breaks?/)?.[1];
    if (cards || told) said.add(id, `breaks of ${mode}`, String(cards), "cards");
    said.add(id, `breaks of ${mode}`, told, "sentence of breaks");
    if (cards && /cost/.test(sentence)) said.add(id, `what breaks of ${mode} cost`, sentence.replace(/\s+/g, " "), "breaks");
    if (cards) await partsClaimNoMore(sentence, `run ${id}, ${mode}`);
  }
  if (counts.length) said.add(id, "breaks", String(Math.max(...counts)), "cards, the most");
}

/** Whether what costs nothing, or may, has a figure on a card, in a margin or beside a kind; and none is larger than all.
 * @param {string} sentence @param {string} who */
async function partsClaimNoMore(sentence, who) {
  const shown = await page.evaluate(() => {
    for (const d of document.querySelectorAll(".brks details")) d.open = true;
    const text = (/** @type {string} */ all) => [...document.querySelectorAll(all)].map((el) => el.innerText.replace(/\s+/g, " ").trim());
    return { figures: text(".brks .us"), margin: [...document.querySelectorAll(".code .lens")].flatMap((el) => el.textContent.match(/^[\d.,]+/) ?? []), cards: text(".brks details") };
  });
  await page.evaluate(() => [...document.querySelectorAll(".seg .btn")].find((b) => b.textContent === "By kind")?.click());
  const kinds = await page.locator(".kindhead").allInnerTexts();
  const us = (/** @type {string} */ t) => Number(plain(t, "µs").match(/[\d.]+/)?.[0]);
  if (/cost(s)? nothing/.test(sentence) || /cannot be told apart from 0/.test(sentence)) {
    assert.deepEqual([...shown.figures, ...shown.margin, ...kinds.filter((k) => /µs/.test(k))], [], `${who}: "${sentence}"`);
    const as = /cost(s)? nothing/.test(sentence) ? /It costs nothing|cost is not known/ : /cannot be told apart from 0|It costs nothing|cost is not known/;
    for (const card of shown.cards) assert.match(card, as, `${who}: "${sentence}"`);
  }
  const bound = sentence.match(/at most ([\d.,]+ (?:ns|µs|ms))/)?.[1];
  for (const card of bound ? shown.cards : []) assert.ok(us(card.match(/at most ([\d.,]+ (?:ns|µs|ms))/)?.[1] ?? "0 µs") <= us(bound), `${who}: "${sentence}", a card: ${card}`);
  const claim = sentence.match(/costs? ([\d.,]+) (ns|µs|ms)(?: \([\d.,]+–([\d.,]+)\))?/);
  if (!claim) return;
  const most = us(`${claim[3] ?? claim[1]} ${claim[2]}`);
  for (const f of shown.figures) assert.ok(us(f) <= most * 1.01, `${who}: a card has ${f}, "${sentence}"`);
}

async function readMemory(said, { id, modes }) {
  const mode = modes.find((m) => m !== "eager") ?? "eager";
  await visit(`/runs/${id}/memory?mode=${mode}`);
  const rows = page.locator("table:has(caption:text-is('Memory by mode'))");
  if (!(await rows.count())) return;
  const row = (await table("table:has(caption:text-is('Memory by mode'))")).find((r) => r.Mode === mode);
  said.add(id, `memory peak of ${mode}`, plain(cellOf(row, "Peak,"), unitOf(row, "Peak,")), "memory by mode");
  said.add(id, `memory peak of ${mode}`, plain((await page.locator("#main").innerText()).match(/^peak ([\d.,]+\s[kMG]?B)$/m)?.[1] ?? ""), "memory chart");
}

async function readGraphs(said, { id, modes }) {
  const { body: run } = await getJson(`${server.url}/api/v1/runs/${id}`);
  const points = run.report.points?.length ? run.report.points : [run.report];
  for (const mode of modes.filter((m) => m !== "eager")) {
    await visit(`/runs/${id}/graphs?mode=${mode}`);
    const chooser = page.locator("#graph-of");
    const listed = (await chooser.count()) ? chooser.locator("option:not([value=all])") : page.locator("#main section[aria-label^='Graph ']");
    said.add(id, `graphs of ${mode}`, String(await listed.count()), "graphs");
    const all = (await chooser.count()) ? (await chooser.innerText()).match(/^\s*all (\d+),/m)?.[1] : "";
    said.add(id, `graphs of ${mode}`, all, "all graphs in one picture");
    said.add(id, `graphs of ${mode}`, String(points.at(-1).modes[mode]?.graphs.length ?? 0), "answer");
  }
}

const count = (/** @type {string} */ text, /** @type {RegExp} */ what) => text.match(what)?.[1].replaceAll(",", "");
const sum = (/** @type {(string | undefined)[]} */ all) => String(all.reduce((n, t) => n + Number((t ?? "0").replaceAll(",", "")), 0));

/** Kernels, passes and cache entries: how many of each, and what they took. */
async function readCompiled(said, { id, modes }) {
  for (const mode of modes.filter((m) => m !== "eager")) {
    await visit(`/runs/${id}/kernels?mode=${mode}`);
    if (await page.locator("#kernels-table").count()) {
      said.add(id, `kernels of ${mode}`, String(await page.locator("#kernels-table tbody tr").count()), "table of kernels");
      said.add(id, `kernels of ${mode}`, count(await page.locator(".verdict p").first().innerText(), /([\d,]+) kernels?/), "sentence of kernels");
    }
    await visit(`/runs/${id}/passes?mode=${mode}`);
    if (await page.locator(".verdict p").count()) {
      const sentence = await page.locator(".verdict p").first().innerText();
      const facts = await page.locator("section[aria-label^='Passes over'] header p").allInnerTexts();
      said.add(id, `kernels after passes of ${mode}`, count(sentence, /in ([\d,]+) kernels?/), "sentence of passes");
      said.add(id, `kernels after passes of ${mode}`, sum(facts.map((f) => count(f, /([\d,]+) kernels?/))), "graphs of passes");
      said.add(id, `graphs of ${mode}`, String(facts.length), "passes");
    }
    await visit(`/runs/${id}/guards?mode=${mode}`);
    if (!(await page.locator(".versions").count())) continue;
    const [sentence, how] = await page.locator(".verdict p").allInnerTexts();
    const entries = await page.locator(".versions .vrow").evaluateAll((rows) => rows.map((r) => ({ id: r.children[0].textContent, guards: r.children[3].firstChild?.textContent, causes: r.querySelectorAll(".why > p > code + .dim").length })));
    said.add(id, `cache entries of ${mode}`, String(entries.length), "rows of entries");
    said.add(id, `cache entries of ${mode}`, count(sentence, /([\d,]+) cache entr/), "sentence of entries");
    said.add(id, `cache entries of ${mode}`, sum((await page.locator(".frame > header p").allInnerTexts()).map((f) => count(f, /([\d,]+) cache entr/))), "frames");
    said.add(id, `guards of ${mode}`, sum(entries.map((e) => e.guards)), "rows of entries");
    said.add(id, `guards of ${mode}`, count(how ?? "", /([\d,]+) guards? in all/), "how entries are used");
  }
}

/** One call on the timeline: its launches, its kernels, and the lines where it broke. */
async function readTimeline(said, { id, modes }) {
  for (const mode of modes.filter((m) => m !== "lazy")) {
    await visit(`/runs/${id}/timeline?mode=${mode}`);
    const text = await page.locator("#main").innerText();
    if (!/^Visible range$/m.test(text) || !/^1 call\t/m.test(text)) continue;
    const row = (/** @type {string} */ name) => count(text, new RegExp(`^${name}\\t([\\d,]+)\\t`, "m"));
    said.add(id, `launches of ${mode}`, row("Launches"), "phases of the timeline");
    said.add(id, `launches of ${mode}`, row("Kernels"), "lane of kernels");
    said.add(id, `launches of ${mode}`, sum([...text.matchAll(/^\w+ kernels\t([\d,]+)\t/gm)].map((m) => m[1])), "kinds of kernels");
    if (mode === "eager") continue;
    const where = new Set([...text.matchAll(/^break, line (\d+)/gm)].map((m) => m[1]));
    await visit(`/runs/${id}/breaks?mode=${mode}`);
    const cards = new Set([...(await page.locator(".brks").allInnerTexts()).join("\n").matchAll(/line (\d+)/g)].map((m) => m[1]));
    assert.deepEqual([...where].filter((l) => !cards.has(l)), [], `run ${id}, ${mode}: the timeline breaks where Breaks has no card`);
  }
}

async function readCompare(said, { id, modes, summary }) {
  if (!modes.includes("static") || !modes.includes("eager")) return;
  const n = summary?.at_n ?? null;
  await visit(`/compare?a=${id}&b=${id}${n === null ? "" : `&n=${n}`}`);
  for (const row of await table(".metrics")) {
    const [mode, ...metric] = row.Metric.split(" ");
    if (metric.join(" ") === "latency") said.add(id, `median of ${mode}`, plain(row.A), "compare");
    if (metric.join(" ") === "speedup over eager") said.add(id, `speedup of ${mode}`, row.A, "compare");
    said.add(id, `${row.Metric} of one run twice`, plain(row.A), "compare, A");
    said.add(id, `${row.Metric} of one run twice`, plain(row.B), "compare, B");
    assert.ok(!["FASTER", "SLOWER"].includes(row.Verdict.split(" ")[0]), `run ${id} beside itself: ${row.Metric} is ${row.Verdict}`);
  }
}

async function readHistory(said, { id, name, summary }) {
  if (typeof summary?.speedup !== "number" || summary.at_n !== null) return;
  await visit(`/history?workload=${encodeURIComponent(name)}&metric=speedup&mode=${summary.mode}`);
  const row = page.locator(`#history-runs tr[data-run="${id}"]`);
  said.add(id, `speedup of ${summary.mode}`, await row.locator("td").first().innerText(), "history");
}

async function readTexts(said, { id, summary }) {
  const shown = spawnSync(binary, ["show", String(id), "--db", `${server.home}/store.db`], { encoding: "utf8" });
  assert.equal(shown.status, summary?.verdict === "DISAGREES" ? 1 : 0, shown.stderr);
  const html = await (await fetch(`${server.url}/api/v1/runs/${id}/export?format=html`)).text();
  await page.setContent(html);
  const text = await page.locator("body").innerText();
  for (const [key, [[sentence]]] of said.things)
    if (key.startsWith(`run ${id}, what breaks of `)) {
      const flat = (/** @type {string} */ t) => t.replace(/\s+/g, " ");
      assert.ok(flat(text).includes(sentence), `${key}: the file has "${sentence}"`);
      assert.ok(flat(shown.stdout).includes(sentence), `${key}: \`breakeven show\` has "${sentence}"`);
    }
  const [{ 0: headline } = []] = said.things.get(`run ${id}, headline`) ?? [];
  const flat = (s) => s.replace(/\s+/g, " ");
  if (!headline || !summary) return;
  assert.ok(flat(text).includes(flat(headline)), `run ${id}: the file has "${headline}"`);
  assert.ok(flat(shown.stdout).includes(flat(headline)), `run ${id}: \`breakeven show\` has "${headline}":\n${shown.stdout}`);
}

async function readSuite(said) {
  await visit(`/suites/${suite}`);
  const cells = await page.locator("#suite-workloads tbody a[href^='/runs/']").evaluateAll((all) => all.map((a) => [a.getAttribute("href").split("/").at(-1), a.closest("td").dataset.label, a.closest("td").innerText.replace(/\s+/g, " ").trim()]));
  assert.ok(cells.length >= 2);
  for (const [id, label, text] of cells) if (!label.includes(",")) said.add(id, `speedup of ${label}`, text, "suite");
}

test("no two places contradict each other", async () => {
  const said = new Said();
  await readList(said);
  await readSuite(said);
  for (const [i, run] of runs.entries()) {
    await readOverview(said, run);
    await readBreaks(said, run);
    if (i % 3 && !process.env.FULL) continue;
    await readGraphs(said, run);
    await readMemory(said, run);
    if (i % 6 === 0 || process.env.FULL) {
      await readCompiled(said, run);
      await readTimeline(said, run);
    }
    await readCompare(said, run);
    await readHistory(said, run);
    await readTexts(said, run);
  }
  console.log(`# ${said.told} things are told in two places or more`);
  assert.ok(said.told > 200, `${said.told} things were told twice`);
  assert.deepEqual(said.contradictions(), []);
});

const IMPORTS = [["torch_trace_2.14.log", "kineto.json"], ["kineto.json"], ["torch_trace_2.6_rank_0.log", "torch_trace_2.6_rank_1.log"], ["counters.json"], ["pt_xla.txt"]];
const COUNTED = ["graph", "compilation", "break", "recompile", "kernel", "op on the CPU"];
/** The sentence of a page that names its files and counts what they hold. */
const COUNTS = /\(.*\): (?:[\d,]+ (?:graph|compilation|break|recompile|kernel)s?\b|no graph, )/;
const us = (/** @type {string | undefined} */ text) => text && String(Number(plain(text, "µs").match(/[\d.]+/)?.[0]));

/** What a sentence, or a command's text, counts: "7 compilations", "kernels: 4, 12.0 µs". */
function readCounts(said, id, text, who) {
  for (const thing of COUNTED) said.add(id, `${thing}s`, count(text, new RegExp(`^${thing}s: ([\\d,]+)`, "m")) ?? count(text, new RegExp(`(?<![\\w.])([\\d,]+) ${thing}s?(?!\\w)`)), who);
}

/** The cells of a table of the page, by the row's head and the column's. @param {string} which */
async function cellsOf(which) {
  const rows = await page.locator(`${which} tbody tr`).evaluateAll((all) => all.map((r) => [...r.cells].map((c) => c.innerText.trim())));
  const heads = await page.locator(`${which} thead th`).allInnerTexts();
  return rows.map((r) => Object.fromEntries(r.map((text, i) => [heads[i]?.trim() || "bar", text])));
}

/** What devices did, where there are any: on the overview, on the page of ranks, in the sentence and in the command. */
async function readDevices(said, id, command) {
  if (!(await page.getByRole("region", { name: "Device time of the log", exact: true }).count())) return;
  const add = (what, text, who) => said.add(id, what, text?.replace(/\s+/g, " "), who);
  const rows = (cells, who) => {
    for (const row of cells) for (const [what, text] of Object.entries(row)) add(`${row.Of ?? row.Rank}: ${what}`.replace("device:", "rank 0:"), text, who);
  };
  const busy = (text, who) => add("devices busy", text.match(/busy ([\d.]+(?: to [\d.]+)?\s%)/)?.[1], who);
  rows(await cellsOf('[aria-label="Device time of the log"] table'), "overview");
  busy(await page.locator(".answer").innerText(), "overview");
  busy(command, "command");
  await visit(`/runs/${id}/ranks`);
  await page.locator("#rank-heat").waitFor();
  rows(await cellsOf("#rank-heat"), "map of ranks");
  rows(await cellsOf("#rank-bars"), "bars of ranks");
  busy(await page.locator(".ranksaid").innerText(), "ranks");
  for (const line of command.match(/^ranks .*\n((?: *\d+ .*\n)+)/m)?.[1].trim().split("\n") ?? []) {
    const [rank, , computing, collectives, , idle] = line.trim().split(/\s+/);
    for (const [what, text] of [["Computing", computing], ["Collectives", collectives], ["Idle", idle]]) add(`rank ${rank}: ${what}`, `${text} %`, "command");
  }
}

/** All places that tell what a log holds. */
async function readImport(said, id, command) {
  const flat = (/** @type {string} */ t) => t.replace(/[ \t\u00a0]+/g, " ");
  readCounts(said, id, flat(command).replace(/^ledger$[^]*/m, ""), "command"); // which counts records by what became of them
  said.add(id, "time of kernels", us(flat(command).match(/^kernels: [\d,]+, (.*)$/m)?.[1]), "command");
  const { body: run } = await getJson(`${server.url}/api/v1/runs/${id}`);
  const { import: log } = run.report;
  for (const [thing, n] of Object.entries({ graphs: log.graphs, compilations: log.compiles.length, breaks: log.breaks.length, recompiles: log.recompiles.length, kernels: log.kernels.count })) said.add(id, thing, String(n), "answer");
  await visit("/runs?limit=100");
  const row = flat(await page.locator(".runs tbody tr", { hasText: `#${id}` }).first().innerText()).replace(/\n/g, " ");
  readCounts(said, id, row, "list");
  await visit(`/runs/${id}`);
  await page.locator("#main", { hasText: COUNTS }).waitFor();
  const main = flat(await page.locator("#main").innerText());
  const sentence = main.split("\n").find((line) => COUNTS.test(line)) ?? "";
  assert.ok(sentence, main.slice(0, 2000));
  readCounts(said, id, sentence.replace(/^.*\): /, ""), "page");
  said.add(id, "time of kernels", us(sentence.match(/kernels?, (.*) in all/)?.[1]), "page");
  for (const [name, thing] of [["Breaks", "breaks"], ["Recompiles", "recompiles"], ["Compilations", "compilations"]]) {
    const rows = page.getByRole("region", { name: `${name} of the log`, exact: true }).locator("tbody tr");
    if (await rows.count()) said.add(id, thing, String(await rows.count()), `table of ${thing}`);
  }
  for (const [name, thing] of [["Kernels", "kernels"], ["Copies", "copies"]]) {
    const rows = await page.getByRole("region", { name: `${name} of the log`, exact: true }).locator("tbody tr").evaluateAll((all) => all.map((r) => [...r.cells].map((c) => c.innerText.trim())));
    if (!rows.length) continue;
    said.add(id, thing, sum(rows.map((r) => r[1])), `table of ${thing}`);
    said.add(id, `time of ${thing}`, String(rows.reduce((n, r) => n + Number(us(flat(r[2]))), 0)), `table of ${thing}`);
  }
  await readDevices(said, id, command);
  await visit(`/runs/${id}/timeline`);
  await page.locator(".timeline:not([aria-busy])").waitFor();
  if (!(await page.locator(".tl canvas").count())) return;
  await page.locator(".btn", { hasText: /^All$/ }).click();
  await page.waitForFunction(() => !new URLSearchParams(location.search).get("t0") || new URLSearchParams(location.search).get("t0") === "0");
  await drawn(page);
  const whole = await page.locator("#main").innerText();
  const phases = whole.match(/^Visible range$[^]*?^Visible range\t.*$/m)?.[0] ?? "";
  const unit = phases.match(/Sum, (\S+)/)?.[1] ?? "µs";
  for (const [name, thing] of [["Kernels", "kernels"], ["Copies", "copies"]]) {
    const [, n, time] = phases.match(new RegExp(`^${name}\\t([\\d,]+)\\t([\\d.,]+)`, "m")) ?? [];
    said.add(id, thing, n?.replaceAll(",", ""), "phases of the timeline");
    if (time) said.add(id, `time of ${thing}`, us(`${time} ${unit}`), "phases of the timeline");
  }
  const { kernels, copies } = Object.fromEntries(["kernels", "copies"].map((k) => [k, Number(said.things.get(`run ${id}, ${k}`)?.[0][0] ?? 0)]));
  said.add(id, "kernels", count(whole, /([\d,]+) kernels? recorded/), "ledger");
  said.add(id, "kernels and copies", count(whole, /([\d,]+) (?:kernels and copies|copy) recorded/), "ledger");
  said.add(id, "kernels and copies", String(kernels + copies), "sum of both");
}

test("no two places contradict each other on a log of PyTorch", async () => {
  const said = new Said();
  for (const files of IMPORTS) {
    const done = spawnSync(binary, ["import", "--post", server.url, ...files.map((f) => `tests/import/${f}`)], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
    await readImport(said, Number(done.stderr.match(/run (\d+) of/)[1]), done.stdout);
  }
  console.log(`# ${said.told} things of logs are told in two places or more`);
  assert.ok(said.told > 30, `${said.told} things were told twice`);
  assert.deepEqual(said.contradictions(), []);
});

/** Two runs of programs that were as fast as is said, at each point; no other run repeats them. @param {string} name @param {any[]} programs @param {any[]} times */
const pairOf = (name, programs, times) =>
  Promise.all(programs.map(async (w, i) => timed(server, (await waitFor(server, (await postRun(server, { ...w, ...QUICK, name })).body.id)).id, times[i])));

/** Of each pair: its name, both runs, and what decides. */
async function pairsOf() {
  const once = { ...PROGRAMS.once, modes: ["eager", "static", "dynamic"] };
  const other = { ...once, source: once.source.replace("x * 2", "x * 2 + 1") };
  const swept = { ...PROGRAMS.swept, modes: ["eager", "static"] };
  const fast = { eager: 20, static: 10, dynamic: 11 };
  const by = (/** @type {number} */ x, more = {}) => ({ ...Object.fromEntries(Object.entries(fast).map(([m, t]) => [m, t * x])), ...more });
  const at = (/** @type {(n: number) => number} */ drift, slow = 1) => (/** @type {number} */ n) => ({ eager: 10 * n * drift(n), static: (4 + n) * drift(n) * slow });
  const rows = [
    ["eager stayed, static is slower", [once, once], [fast, by(1, { static: 15 })], "latency"],
    ["all moved together", [once, once], [fast, by(0.71)], "speedup"],
    ["all moved together, slower", [once, once], [fast, by(1.5)], "speedup"],
    ["eager moved, static more", [once, once], [fast, by(0.71, { static: 5 })], "speedup"],
    ["eager alone moved", [once, once], [fast, by(1, { eager: 14 })], "speedup"],
    ["another program", [once, other], [fast, by(0.71)], "latency"],
    ["one without eager", [once, { ...once, modes: ["static"] }], [fast, by(0.71)], "latency"],
    ["values differ", [PROGRAMS.wrong, PROGRAMS.wrong].map((w) => ({ ...w, modes: ["eager", "static"] })), [fast, by(0.71)], ""],
    ["a sweep that drifted at one point", [swept, swept], [at(() => 1), at((n) => (n === 1 ? 1.3 : 1))], "speedup"],
    ["a sweep whose static is slower", [swept, swept], [at(() => 1), at(() => 1, 1.4)], "latency"],
  ];
  const out = [];
  for (const [name, programs, times, decides] of rows) out.push({ name, ids: await pairOf(name, programs, times), decides });
  return out;
}

/** The verdict words of the page's table at each point that decide and are in colour, and those that are in none. */
async function tableWords() {
  const points = (await page.locator("#compare-point option").allInnerTexts()) ?? [];
  const words = { told: [], aside: [] };
  for (const point of points.length ? points : [null]) {
    if (point) await page.locator("#compare-point").selectOption({ label: point });
    const rows = await page.locator("#metrics tbody tr").evaluateAll((all) => all.map((r) => [r.querySelector("th").innerText.trim(), r.querySelector(".chip")?.className ?? "", r.querySelector(".chip")?.innerText ?? ""]));
    for (const [name, cls, word] of rows) if (/ (latency|speedup over eager)$/.test(name)) (cls.includes("aside") ? words.aside : words.told).push([name, word]);
  }
  return words;
}

test("a comparison says one thing: headline, table, curve, command and its exit status", async () => {
  for (const { name, ids, decides } of await pairsOf()) {
    const { body } = await getJson(`${server.url}/api/v1/compare?a=${ids[0]}&b=${ids[1]}`);
    const [pair] = body.comparisons;
    await visit(`/compare?a=${ids[0]}&b=${ids[1]}`);
    const flat = (/** @type {string} */ t) => t.replace(/\s+/g, " ").trim();
    const headline = flat(await page.locator("#verdict").innerText());
    const done = spawnSync(binary, ["compare", ...ids.map(String), "--db", `${server.home}/store.db`], { encoding: "utf8" });
    const told = flat(done.stdout).match(/(?<= )(DISAGREES|SLOWER|FASTER|SAME|AMBIGUOUS|NOT ENOUGH)\. (.*?\.)(?= A B| *$)/)?.[0] ?? flat(done.stdout);
    const sentence = headline.slice(pair.verdict.length + 1);
    assert.ok(headline.startsWith(`${pair.verdict} `), `${name}: "${headline}", the answer says ${pair.verdict}`);
    assert.ok(flat(done.stdout).includes(`${pair.verdict}. ${sentence}`), `${name}: "${headline}", the command says "${told}"`);
    assert.equal(done.status, ["SLOWER", "DISAGREES"].includes(pair.verdict) ? 1 : 0, `${name}: ${done.stdout}`);
    if (decides) assert.equal(pair.judged_by, decides, name);
    const words = await tableWords();
    const of = words.told.filter(([row]) => row.endsWith(pair.judged_by === "speedup" ? "speedup over eager" : "latency"));
    assert.ok(of.some(([, word]) => word === pair.verdict), `${name}: "${headline}" and in the table ${JSON.stringify(of)}`);
    if (["SAME", "FASTER"].includes(pair.verdict)) assert.deepEqual(words.told.filter(([, word]) => word === "SLOWER"), [], `${name}: "${headline}"`);
    if (["SAME", "SLOWER"].includes(pair.verdict) && pair.judged_by === "speedup") assert.deepEqual(words.told.filter(([, word]) => word === "FASTER"), [], `${name}: "${headline}"`);
    if (pair.judged_by === "speedup") assert.ok(words.aside.length && words.aside.every(([row]) => row.endsWith(" latency")), `${name}: ${JSON.stringify(words)}`);
    if (await page.locator("#ratios").count()) assert.match(flat(await page.locator("figure:has(#ratios), #ratios").first().innerText()), new RegExp(pair.judged_by), name);
  }
});
