// tests/e2e/panes.test.mjs -- source, picture and code of a graph side by side, in a real browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { postRun, randn, startServer, until, waitFor, workload } from "../api/harness.mjs";
import { afterTimers, drawn, openPage, sound, startBrowser } from "./browser.mjs";

const BODY = "    y = torch.softmax(x @ x.T, -1)\n    z = torch.relu(y) * 2\n    print('between')\n    return torch.tanh(z).sum()";
const how = { backend: "cpu", threads: 1, seconds: 0.1 };
const FILES = {
  "main.py": "import torch\nfrom net.block import Block\nfrom net import ops\n\nblock = Block()\n\ndef model(x):\n    y = block(x)\n    return ops.gate(y).sum()\n",
  "net/__init__.py": "",
  "net/ops.py": "import torch\n\ndef scale(x):\n    return x * 2\n\ndef gate(x):\n    h = torch.tanh(x)\n    print('gate')\n    return h * torch.sigmoid(x)\n",
  "net/block.py": "import torch\nfrom torch import nn\nfrom net.ops import scale\n\nclass Block(nn.Module):\n    def forward(self, x):\n        h = torch.relu(x)\n        return torch.softmax(scale(h), -1)\n",
};
const LIVE = `import torch

def model(x):
    a = torch.sin(x) * 2
    b = torch.relu(x)
    c = a.sum(0)
    print("one")
    d = torch.tanh(a) * b
    print("two")
    return torch.exp(d + c).sum()
`;
let server, browser, run, files, live, models;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const post = async (w) => (await postRun(server, w)).body.id;
  const example = (file) => {
    const { title: _title, ...w } = JSON.parse(readFileSync(`tests/workloads/${file}`, "utf8"));
    return { ...w, ...how, backend: "interp", modes: ["static"] };
  };
  /** A model of web/models; its first lines say its inputs. */
  const model = (name) => {
    const source = readFileSync(`web/models/${name}.py`, "utf8");
    const inputs = [...source.matchAll(/^# input: \w+=(\w+)(\[[\d,]*\])(?:<(\d+))?$/gm)];
    const call = inputs.map(([, dtype, shape, below], seed) => ({ random: { dtype, shape: JSON.parse(shape), seed, ...(below ? { kind: "randint", low: 0, high: Number(below) } : { kind: "randn" }) } }));
    return { name, source, calls: [call], ...how, backend: "interp", modes: ["static"] };
  };
  run = await post({ ...workload(BODY), ...how, name: "two", modes: ["eager", "static"] });
  files = await post({ name: "files", files: FILES, entry: "main.py:model", calls: [[randn(16, 16)]], ...how, modes: ["eager", "static"] });
  live = await post({ name: "live", source: LIVE, calls: [[randn(16, 16)]], ...how, modes: ["eager", "static"] });
  models = [];
  for (const f of ["63_gpt.json", "61_resnet_block.json", "64_lstm.json", "70_rerank_breaks.json", "4_layer_norm.json"]) models.push(await post(example(f)));
  for (const name of ["llama", "unet", "vit"]) models.push(await post(model(name)));
  for (const id of [run, files, live, ...models]) assert.equal((await waitFor(server, id)).status, "done");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function open(page, id, query = "") {
  await page.goto(`${server.url}/runs/${id}/graphs?mode=static${query}`);
  await drawn(page);
  await page.locator(".graph [data-node], .graph path.box").first().waitFor();
  await page.locator(".panes .pane:last-child .code").waitFor({ state: "attached" });
  await afterTimers(page);
}
const lines = (page, cls) => page.locator(`.panes .pane:first-child li.${cls}`).evaluateAll((all) => all.map((li) => Number(li.id.slice(1))));
const code = (page, cls) => page.locator(`.panes .pane:last-child li.${cls}`).evaluateAll((all) => [...new Set(all.map((li) => li.dataset.kernel ?? li.dataset.of))]);
const nodes = (page, cls) => page.locator(`.graph g.box.${cls}`).evaluateAll((all) => all.map((g) => g.dataset.node).sort());
const param = (page, name) => new URL(page.url()).searchParams.get(name);

test("what the pointer is over is marked in the other panes: a line, a node, a kernel's code", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, run);
  await page.locator("#L5").hover();
  assert.deepEqual(await lines(page, "hint"), [5]);
  assert.deepEqual(await nodes(page, "hint"), ["mul", "relu"]);
  const kernels = await code(page, "hint");
  assert.ok(kernels.length >= 1, String(kernels));
  await page.locator('.graph [data-node="relu"] rect').hover();
  assert.deepEqual(await lines(page, "hint"), [5]);
  assert.deepEqual(await code(page, "hint"), kernels);
  await page.locator(".panes .pane:last-child li[data-kernel]").first().hover();
  assert.ok((await nodes(page, "hint")).length >= 1 && (await lines(page, "hint")).includes(4), "a kernel has its nodes and lines");
  await page.locator("h1").hover();
  assert.deepEqual([await lines(page, "hint"), await code(page, "hint"), await nodes(page, "hint")], [[], [], []]);
  assert.deepEqual(complaints, []);
});

test("by keyboard: a line picks its nodes and code, a box its line, a line of code its kernel; another graph's line brings that graph", async () => {
  const { page } = await openPage(browser);
  await open(page, run, "&line=4");
  await page.locator(".panes .pane:first-child [role=listbox]").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(param(page, "line"), "5");
  await until(async () => String(await nodes(page, "joined")) === "mul,relu", "the nodes of line 5 are picked");
  assert.ok((await code(page, "joined")).length >= 1);
  await page.locator(".graph").focus();
  await page.keyboard.press("ArrowRight");
  const [node, line] = [param(page, "node"), Number(param(page, "line"))];
  assert.ok(node);
  assert.deepEqual(await lines(page, "joined"), line ? [line] : []);
  await page.locator(".panes .pane:last-child [role=listbox]").focus();
  await page.keyboard.press("ArrowDown");
  assert.ok(param(page, "kernel") !== null);
  assert.deepEqual(await code(page, "joined"), [param(page, "kernel")]);
  await page.locator("#L7").click(); // of the graph after the print
  await page.waitForFunction(() => document.getElementById("graph-of").value === "1");
  await page.locator('.graph [data-node="tanh"]').waitFor();
  await page.getByRole("combobox", { name: "Graph" }).selectOption("0");
  await page.locator('.graph [data-node="relu"]').waitFor();
});

test("the third pane is the generated code, the tile program, or the graph as text at the step of the slider", async () => {
  const { page } = await openPage(browser);
  await open(page, run, "&node=relu&graph=0");
  const pane = page.locator(".panes .pane:last-child");
  assert.match(await pane.innerText(), /void k\d/);
  await pane.getByRole("button", { name: "Lowered" }).click();
  assert.match(await pane.innerText(), /kernel \d+ \w+: (map|rows|cols|library)[^]*load[^]*store/);
  assert.ok((await pane.locator("li.joined").count()) > 1); // the kernel of what is picked
  await page.reload();
  await pane.getByText(/^kernel \d+/).first().waitFor();
  await pane.getByRole("button", { name: "Graph as text" }).click();
  assert.match(await pane.innerText(), /%relu: float32/);
  assert.deepEqual(await code(page, "joined"), ["relu"]);
  await page.getByRole("slider", { name: /Passes over/ }).fill("0");
  await pane.getByText("As captured").waitFor();
  assert.match(await pane.innerText(), /%softmax: float32[^]*= softmax\(/);
  await page.reload();
  await pane.getByText("As captured").waitFor();
});

/** Texts of the picture that are too small, out of their box, or over each other. @param {any} page */
const faults = (page) =>
  page.locator(".graph").first().evaluate((stage) => {
    const window = stage.getBoundingClientRect();
    const texts = [...stage.querySelectorAll("text")].filter((t) => t.textContent).map((t) => ({ t, name: t.textContent, r: t.getBoundingClientRect(), px: parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a }));
    const seen = texts.filter(({ r }) => r.right > window.left && r.left < window.right && r.bottom > window.top && r.top < window.bottom);
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
    const boxes = [...stage.querySelectorAll("g.box")].map((g) => ({ g, r: g.querySelector("rect").getBoundingClientRect() }));
    return [
      ...seen.filter(({ px }) => px < 10.99).map(({ name, px }) => `${name}: ${px} px`),
      ...seen.flatMap((a, i) => seen.slice(i + 1).filter((b) => over(a.r, b.r)).map((b) => `${a.name} over ${b.name}`)),
      ...seen.flatMap((a) => boxes.filter(({ g, r }) => (g.contains(a.t) ? a.r.right > r.right + 1 || a.r.left < r.left - 1 : over(a.r, r))).map(({ g }) => `${a.name} and the box ${g.dataset.node}`)),
      ...(seen.length ? [] : ["nothing is in sight"]),
    ];
  });

test("labels of real graphs are never under 11 px, in their boxes, and over nothing: at first, open, fitted, nearer", async () => {
  const { page } = await openPage(browser);
  for (const id of models)
    for (const act of [null, "Open all", "Fit", "Close all", "+"]) {
      if (!act) await open(page, id);
      else if (act === "+") {
        await page.locator(".graph").focus();
        for (let i = 0; i < 3; i++) await page.keyboard.press("+");
      } else await page.getByRole("button", { name: act, exact: true }).first().click();
      await page.locator(".graph:not([aria-busy])").waitFor();
      await afterTimers(page);
      assert.deepEqual((await faults(page)).slice(0, 8).filter((f) => !["Fit", "+"].includes(act) || f !== "nothing is in sight"), [], `run ${id}, ${act ?? "at first"}`);
    }
});

test("of a program of several files the pane has the file that is named, by pointer, by keyboard and by choice", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, files, "&graph=0");
  const source = page.locator(".panes .pane:first-child");
  const file = source.getByRole("combobox", { name: "File" });
  assert.equal(await file.inputValue(), "net/block.py");
  assert.deepEqual(await file.locator("optgroup").evaluateAll((all) => all.map((g) => [g.label, [...g.children].map((o) => o.value)])), [
    ["Files of this graph", ["net/block.py", "net/ops.py"]],
    ["Other files", ["main.py", "net/__init__.py"]],
  ]);
  assert.match(await source.locator(".code").innerText(), /torch\.softmax\(scale\(h\), -1\)/);
  await page.getByRole("button", { name: "Open all", exact: true }).click();
  const node = (id) => page.locator(`.graph [data-node="${id}"] rect`).first();
  await node("relu").hover();
  assert.deepEqual(await lines(page, "hint"), [7]);
  await node("mul").hover(); // of the other file
  assert.deepEqual(await lines(page, "hint"), []);
  assert.equal(await source.locator(".elsewhere").textContent(), "net/ops.py:4");
  await node("mul").click();
  assert.equal(await file.inputValue(), "net/ops.py");
  assert.deepEqual([param(page, "file"), param(page, "line"), await lines(page, "joined")], ["net/ops.py", "4", [4]]);
  assert.match(await page.getByRole("region", { name: "Picked line" }).innerText(), /net\/ops\.py:4\s+return x \* 2/);
  await page.locator(".graph").focus();
  for (let i = 0; i < 12 && param(page, "node") !== "relu"; i++) await page.keyboard.press("ArrowLeft");
  assert.deepEqual([await file.inputValue(), await lines(page, "joined")], ["net/block.py", [7]]);
  await file.selectOption("net/ops.py");
  await source.locator("[role=listbox]").focus();
  await page.keyboard.press("ArrowDown");
  for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowDown"); // line 7: of graph 1
  assert.deepEqual([param(page, "file"), param(page, "line")], ["net/ops.py", "7"]);
  await page.waitForFunction(() => document.getElementById("graph-of").value === "1");
  await page.locator('.graph [data-node="tanh"], .graph [data-node^="kernel "]').first().waitFor();
  assert.equal(await file.inputValue(), "net/ops.py");
  await sound(page, complaints);
});

test("Breaks and Source of several files: one at a time, lines lead on, the other views know the file", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${files}/breaks?mode=static`);
  await drawn(page);
  const two = page.getByRole("region", { name: "Source and breaks" });
  const file = two.getByRole("combobox", { name: "File" });
  assert.equal(await file.inputValue(), "net/ops.py");
  assert.match(await two.locator("#L8").innerText(), /host call/);
  await file.selectOption("main.py");
  assert.match(await two.locator("#L9").innerText(), /call that breaks inside/);
  await two.locator("#L9").click();
  assert.deepEqual([param(page, "file"), param(page, "line")], ["main.py", "9"]);
  await two.locator(".brks details").filter({ hasText: "resume" }).first().locator("summary").click();
  assert.equal(await file.inputValue(), "net/ops.py");
  await two.locator(".brks details[open]").getByRole("link", { name: "net/ops.py:8" }).click();
  await page.waitForURL(/\/source\?/);
  await drawn(page);
  assert.match(await page.locator("li[aria-selected=true]").innerText(), /print\('gate'\)/);
  await page.locator("#L7").click();
  const side = page.locator(".graphside");
  assert.match(await side.innerText(), /net\/ops\.py:7[^]*tanh/);
  await side.getByRole("link", { name: /^fused/ }).first().click();
  await page.waitForURL(/\/kernels\?/);
  await drawn(page);
  assert.deepEqual([param(page, "file"), param(page, "line")], ["net/ops.py", "7"]);
  assert.ok((await page.locator("#kernels-table tr.joined").count()) >= 1);
  for (const [tab, place] of [["timeline", /net\/block\.py:\d+/], ["memory", /net\/block\.py:7/], ["guards", /net\/ops\.py:\d+/]]) {
    await page.goto(`${server.url}/runs/${files}/${tab}?mode=static`);
    await drawn(page);
    await page.getByText(place).first().waitFor();
  }
  await sound(page, complaints);
});

test("all graphs are one picture, torn at each break, with edges over the tears; it is stepped through, a box leads to its graph, a tear to its break", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, live, "&graph=0");
  await page.getByRole("combobox", { name: "Graph" }).selectOption("all");
  const torn = page.getByRole("application", { name: /torn at 2 breaks, with 4 edges over the tears/ });
  await torn.locator("g.row").nth(4).waitFor();
  assert.equal(param(page, "graphs"), "all");
  const rows = await torn.locator("g.row").evaluateAll((all) => all.map((g) => [g.getAttribute("class"), g.textContent.replace(/ \u00b7 [\d.]+ .s$/, "")]));
  assert.deepEqual(rows, [["row torn-graph", "graph 0 \u00b7 4 ops"], ["row torn-cut", "line 7 \u00b7 print()"], ["row torn-graph", "graph 1 \u00b7 2 ops"], ["row torn-cut", "line 9 \u00b7 print()"], ["row torn-graph", "graph 2 \u00b7 3 ops"]]);
  const told = ["a, float32 16\u00d716, 1.02 kB: from graph 0 to graph 1", "b, float32 16\u00d716, 1.02 kB: from graph 0 to graph 1", "c, float32 16, 64 B: from graph 0 to graph 2", "d, float32 16\u00d716, 1.02 kB: from graph 1 to graph 2"];
  assert.deepEqual((await page.locator("#across li").allTextContents()).sort(), told);
  assert.deepEqual((await torn.locator(".edge.across title").allTextContents()).sort(), told);
  // Each goes from below a box of the one to above a box of the other, through the tears between.
  const ways = await torn.locator(".edge.across").evaluateAll((all) => all.map((p) => {
    const [from, to] = [0, p.getTotalLength()].map((at) => p.getPointAtLength(at));
    return [Math.round(from.y), Math.round(to.y)];
  }));
  const bands = await torn.locator(".torn-cut rect").evaluateAll((all) => all.map((r) => r.y.baseVal.value));
  for (const [from, to] of ways) assert.ok(bands.some((y) => from < y && y < to), `${from} to ${to}, torn at ${bands}`);
  const named = await torn.locator("text.across").allTextContents();
  assert.ok(named.length >= 3, String(named));
  for (const act of ["", "Fit", "+"]) {
    if (act === "+") for (let i = 0; i < 3; i++) await torn.press("+");
    else if (act) await page.getByRole("button", { name: act, exact: true }).click();
    await afterTimers(page);
    assert.deepEqual(await faults(page), [], act);
  }
  await page.reload();
  await torn.locator("g.row").nth(4).waitFor();
  await sound(page, complaints);
  await torn.focus();
  const said = page.locator("#live");
  for (let i = 0; i < 40 && !/^line 7/.test(await said.textContent()); i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await said.textContent(), /from graph 0 to graph 1/);
  await page.keyboard.press("Enter");
  await page.locator('.graph [data-node="tanh"], .graph [data-node^="kernel "]').first().waitFor();
  assert.deepEqual([param(page, "graph"), param(page, "graphs")], ["1", null]);
  await page.getByRole("combobox", { name: "Graph" }).selectOption("all");
  await torn.locator("g.row").nth(1).locator("text").click();
  await page.waitForURL(/\/breaks\?.*break=\d/);
  await page.goBack();
  const strip = page.getByRole("group", { name: "Pieces in order" });
  await strip.getByRole("listitem").first().waitFor();
  assert.deepEqual(await strip.getByRole("listitem").evaluateAll((all) => all.map((li) => li.className)), ["s-graph", "s-cut", "s-graph", "s-cut", "s-graph"]);
});

test("the torn pictures of real programs have no text that is small, over another or cut", async () => {
  for (const width of [1440, 390]) {
    const { page, complaints } = await openPage(browser, { width });
    for (const id of [files, ...models.slice(3, 4)]) {
      await page.goto(`${server.url}/runs/${id}/graphs?mode=static&graphs=all`);
      await drawn(page);
      await page.locator(".graph.torn g.row").first().waitFor();
      await afterTimers(page);
      assert.deepEqual(await faults(page), [], `run ${id} at ${width}`);
      await sound(page, complaints);
    }
    await page.context().close();
  }
});

test("a narrow page shows one pane, with a switch", async () => {
  const { page, complaints } = await openPage(browser, { width: 390 });
  await open(page, run);
  const shown = () => page.locator(".panes > .pane").evaluateAll((all) => all.map((p) => getComputedStyle(p).display !== "none"));
  assert.deepEqual(await shown(), [false, true, false]);
  await page.getByRole("button", { name: "Code", exact: true }).click();
  assert.deepEqual(await shown(), [false, false, true]);
  await page.reload();
  await drawn(page);
  assert.deepEqual(await shown(), [false, false, true]);
  await page.getByRole("button", { name: "Source", exact: true }).click();
  assert.deepEqual(await shown(), [true, false, false]);
  await sound(page, complaints);
});

for (const theme of ["light", "dark"])
  test(`panes at 1440 px, ${theme}: axe, no sideways scroll`, async () => {
    const { page, complaints } = await openPage(browser, { theme });
    await open(page, run, "&node=relu&graph=0");
    await sound(page, complaints);
  });
