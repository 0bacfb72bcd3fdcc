// tests/e2e/graph.test.mjs -- a graph as a picture in a real browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, until, waitFor, workload } from "../api/harness.mjs";
import { afterTimers, findings, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

const MANY = 600;
const NET = `import torch
import torch.nn as nn

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(16, 16)

    def forward(self, x):
        return torch.relu(self.up(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for b in self.blocks:
            x = b(x)
        return x

net = Net()

def model(x):
    return torch.cumsum(net(x), 0) * 2
`;
const LOOP = `    y = torch.sin(x)
    n = torch.tensor(0)
    while n < 3:
        y = torch.cos(y) * x
        n = n + 1
    return torch.exp(y)`;
const LOOPED = `import torch
import torch.nn as nn

class Block(nn.Module):
    def forward(self, x):
        return torch.cos(x) * 2

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        n = torch.tensor(0)
        while n < 3:
            x = self.block(x)
            n = n + 1
        return x + 1

net = Net()

def model(x):
    return net(torch.exp(x))
`;
let server, browser, run, many, modules, pieces, loops, looped;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const body = "    y = torch.relu(x) * 2\n    w = torch.softmax(y, -1) @ y.t()\n    return w + y.sum(dim=1)";
  run = (await postRun(server, { ...workload(body, { backend: "interp" }) })).body.id;
  const lines = Array.from({ length: MANY }, (_, i) => `    x = x ${i % 2 ? "+" : "*"} 1.${i % 7}`).join("\n");
  many = (await postRun(server, workload(`${lines}\n    return x`, { backend: "interp", modes: ["static"], passes: { simplify: false, fold: false } }))).body.id;
  modules = (await postRun(server, { ...workload("", { backend: "interp", modes: ["static"] }), source: NET })).body.id;
  pieces = (await postRun(server, workload("    y = torch.relu(x) + 1\n    z = torch.cumsum(y, 0)\n    return torch.tanh(z) * 2", { backend: "interp", modes: ["static"], deny: ["cumsum"] }))).body.id;
  const native = { backend: "interp", modes: ["static"], policy: "native" };
  loops = (await postRun(server, workload(LOOP, native))).body.id;
  looped = (await postRun(server, { ...workload("", native), source: LOOPED })).body.id;
  for (const id of [run, many, modules, pieces, loops, looped]) await waitFor(server, id);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The boxes of the picture, once it is drawn. */
async function boxes(page) {
  await page.locator(".graph:not([aria-busy])").first().waitFor();
  return page.locator(".graph [data-node]").evaluateAll((all) => all.map((e) => e.dataset.node));
}

async function open(page, id, query = "") {
  await page.goto(`${server.url}/runs/${id}/graphs?mode=static${query}`);
  await page.locator(".graph [data-node]").first().waitFor();
}

/** A click where the first such box is once the picture is drawn: a box is another element in each drawing. */
async function press(page, selector) {
  await page.locator(".graph:not([aria-busy])").waitFor();
  const box = page.locator(selector).first();
  await box.waitFor({ state: "attached" });
  await page.locator(".graph").scrollIntoViewIfNeeded();
  const { x, y, width, height } = await box.evaluate((el) => el.getBoundingClientRect().toJSON());
  await page.mouse.click(x + width / 2, y + height / 2);
}

test("kernels open and close, by keyboard and by button; the slider goes back to what was captured", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, run);
  assert.ok((await boxes(page)).includes("open kernel 0"));
  await page.getByRole("button", { name: "Close all" }).click();
  await page.locator('[data-node="kernel 0"]').waitFor();
  assert.ok(!(await boxes(page)).includes("relu"));
  await page.locator(".graph").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.locator(".graphside").getByText("Kernel 0").waitFor();
  await page.keyboard.press("Enter");
  await page.locator('[data-node="relu"]').waitFor();
  const slider = page.getByRole("slider", { name: /Passes over/ });
  await slider.focus();
  await page.keyboard.press("Home");
  await page.locator('[data-node="softmax"]').waitFor();
  assert.match(await slider.getAttribute("aria-valuetext"), /As captured/);
  assert.ok(page.url().includes("step=0"));
  await page.reload();
  await page.locator('[data-node="softmax"]').waitFor();
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

test("a click on a box says what it is, leads to its line and is kept in the address", async () => {
  const { page } = await openPage(browser);
  await open(page, run);
  await page.getByRole("button", { name: "Fit" }).click();
  await press(page, '[data-node="matmul"] rect');
  const side = page.locator(".graphside");
  await side.getByText("float32 8\u00d78").waitFor();
  assert.match(await side.innerText(), /256 B/);
  assert.ok(page.url().includes("node=matmul"));
  await page.reload();
  await side.getByText("float32 8\u00d78").waitFor();
  await page.getByRole("searchbox", { name: /Find an op/ }).fill("relu");
  await page.keyboard.press("Enter");
  await side.getByText("line 4").click();
  await page.waitForURL(/\/source\?.*line=4/);
});

test("by module: calls of modules stand within each other, open and close, and are kept in the address", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, modules);
  await page.getByRole("button", { name: "By module" }).click();
  const block = "module Net/blocks.0:Block";
  await page.locator(`[data-node="open ${block}/up:Linear"]`).waitFor();
  assert.ok(page.url().includes("by=modules"));
  await page.getByRole("button", { name: "Close all" }).click();
  await page.locator('[data-node="module Net"]').waitFor();
  assert.ok(!(await boxes(page)).some((b) => b.includes("blocks")));
  await press(page, '[data-node="module Net"] rect');
  await page.locator(".graph").focus();
  await page.keyboard.press("Enter");
  await page.locator(`[data-node="${block}"]`).waitFor();
  await press(page, `[data-node="${block}"] rect`);
  assert.match(await page.locator(".graphside").innerText(), /blocks\.0 Block[^]*Source\s+lines? 10/);
  await page.getByRole("button", { name: "Open module" }).click();
  await page.locator(`[data-node="${block}/up:Linear"]`).waitFor();
  await page.reload();
  await page.locator('[data-node="open module Net"]').waitFor();
  const slider = page.getByRole("slider", { name: /Passes over/ });
  await slider.fill("0");
  await press(page, '[data-node="linear"] rect');
  assert.match(await page.locator(".graphside").innerText(), /Net \/ blocks\.0 Block \/ up Linear/);
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(complaints, []);
});

test("of a graph that runs in pieces each can be drawn", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, pieces);
  const choice = page.getByRole("combobox", { name: /Piece of/ });
  assert.ok((await choice.locator("option").count()) >= 3);
  // All pieces as one graph: the op that falls back is between them, in no kernel.
  assert.equal(await choice.locator("option:checked").innerText(), "all pieces");
  const all = await boxes(page);
  for (const id of ["relu", "cumsum", "tanh", "open kernel 0", "open kernel 2"]) assert.ok(all.includes(id), `${id} in ${all}`);
  await choice.selectOption("piece 0");
  await page.locator('[data-node="relu"]').waitFor();
  assert.ok(!(await boxes(page)).includes("tanh"));
  await choice.selectOption({ index: (await choice.locator("option").count()) - 1 });
  await page.locator('[data-node="tanh"]').waitFor();
  await page.reload();
  await page.locator('[data-node="tanh"]').waitFor();
  assert.deepEqual(complaints, []);
});

test("no edge runs over the title of an open kernel, and no box is narrower than what it says", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/1/graphs`);
  await page.locator(".graph [data-node]").first().waitFor();
  const outside = () =>
    page.locator(".graph").first().evaluate((stage) =>
      [...stage.querySelectorAll("g.box")].filter((g) => [...g.querySelectorAll("text")].some((t) => t.getBBox().x + t.getBBox().width > g.querySelector("rect").getBBox().x + g.querySelector("rect").getBBox().width)).map((g) => g.textContent));
  await page.getByRole("button", { name: "Close all" }).first().click();
  await page.locator('.graph [data-node^="kernel "]').first().waitFor();
  assert.deepEqual(await outside(), []);
  await page.getByRole("button", { name: "Open all" }).first().click();
  await page.locator('.graph [data-node^="open "]').first().waitFor();
  assert.deepEqual(await outside(), []);
  const drawn = await page.locator(".graph").first().evaluate((stage) => [...stage.querySelectorAll("path.edge, g.open text, text.title")].map((e) => e.tagName));
  assert.ok(drawn.includes("path") && drawn.includes("text"));
  assert.ok(drawn.lastIndexOf("path") < drawn.indexOf("text"), "titles are drawn over edges");
});

test("a loop on a tensor is a box that opens and closes, with its kernels, by mouse and by keyboard", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, loops);
  const box = "loop while_loop";
  await page.locator(`[data-node="open ${box}"]`).waitFor();
  assert.match(await page.locator(".picture .small.sub").first().innerText(), /\d+ nodes, \d+ kernels, 1 loop/);
  // What goes round is inside, with what it is in the next round; so are the kernels of the body.
  await press(page, '[data-node="loop_carried"] rect');
  const side = page.locator(".graphside");
  assert.match(await side.innerText(), /Result\s+float32 8\u00d716[^]*Next round\s+mul/);
  assert.ok(page.url().includes("node=loop_carried"));
  await side.getByRole("button", { name: "Close loop" }).click();
  await page.locator(`[data-node="${box}"]`).waitFor();
  assert.ok(!(await boxes(page)).some((b) => b === "loop_carried" || b === `open ${box}`));
  assert.match(await side.innerText(), /while loop, line 6[^]*Source\s+line/);
  // What a closed loop reads and leaves is on its edges.
  assert.match(await page.locator(".graph .size.on").first().textContent(), /float32 8\u00d716, 512 B|tensors/);
  await page.locator(".graph").focus();
  await page.keyboard.press("Enter");
  await page.locator(`[data-node="open ${box}"]`).waitFor();
  await page.getByRole("searchbox", { name: /Find an op/ }).fill("cos");
  await page.keyboard.press("Enter");
  await side.getByText("Close kernel").waitFor();
  assert.match(await side.innerText(), /fused_cos_mul/);
  await side.getByRole("link", { name: "line 7" }).click();
  await page.waitForURL(/\/source\?.*line=7/);
  await page.goBack();
  await page.locator('[data-node="cos"]').waitFor();
  await press(page, '[data-node="ne_1"] rect');
  await side.getByText("the test of the loop alone").waitFor();
  const slider = page.getByRole("slider", { name: /Passes over/ });
  await slider.fill("0");
  await page.locator(`[data-node="open ${box}"]`).waitFor();
  await page.getByRole("combobox", { name: /Piece of/ }).selectOption("loop 1");
  await page.locator('[data-node="open kernel 0"]').waitFor();
  assert.ok(!(await boxes(page)).includes("sin"));
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(complaints, []);
});

test("by module a loop is in the module whose call it is, with the modules that it calls", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, looped, "&by=modules");
  const loop = "loop while_loop";
  await page.locator('[data-node="open module Net"]').waitFor();
  await page.locator(`[data-node="open ${loop}"]`).waitFor();
  const inside = await page.evaluate(([a, b]) => {
    const [x, y] = [a, b].map((id) => document.querySelector(`[data-node="${id}"] rect`).getBoundingClientRect());
    return x.left >= y.left && x.top >= y.top && x.right <= y.right && x.bottom <= y.bottom;
  }, [`open ${loop}`, "open module Net"]);
  assert.ok(inside);
  const block = "module Net/loop 0/block:Block";
  await page.locator(`[data-node="open ${block}"]`).waitFor();
  await page.getByRole("button", { name: "Close all" }).click();
  await page.locator('[data-node="module Net"]').waitFor();
  assert.equal((await boxes(page)).filter((b) => b.includes("loop")).length, 0);
  await press(page, '[data-node="module Net"] rect');
  await page.getByRole("button", { name: "Open module" }).click();
  await page.locator(`[data-node="${loop}"]`).waitFor();
  assert.deepEqual(complaints, []);
});

test("SVG and DOT are the exporters'", async () => {
  const { page } = await openPage(browser);
  await open(page, run);
  for (const [name, has] of [["SVG", "<svg"], ["DOT", "digraph"]]) {
    const href = await page.locator(".picture").getByRole("link", { name, exact: true }).getAttribute("href");
    const response = await fetch(server.url + href);
    assert.ok(response.ok && (await response.text()).includes(has), name);
  }
});

test("a large graph begins with closed kernels, and all of its ops are laid out in the worker", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, many);
  await page.getByRole("button", { name: "Open all" }).click();
  await page.getByRole("slider", { name: /Passes over/ }).fill("0");
  // From afar one shape holds all boxes of a kind: each is closed once.
  const drawn = () =>
    page.locator(".graph path.box").evaluateAll((all) => all.reduce((sum, p) => sum + (p.getAttribute("d").match(/z/g) ?? []).length, 0));
  await until(async () => {
    await page.getByRole("button", { name: "Fit" }).click();
    await afterTimers(page);
    return (await drawn()) > MANY;
  }, "that all boxes are drawn");
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

test("the list of many ops shows its first, what the picked line has, and all at a press", async () => {
  const { page } = await openPage(browser);
  await open(page, many);
  const ops = page.locator(".ops li");
  const all = page.getByRole("button", { name: `Show all ${MANY}`, exact: true });
  await all.first().waitFor();
  const first = await ops.count();
  assert.ok(first > 50 && first < MANY / 2, `${first} ops`);
  await open(page, many, `&line=${MANY}`);
  await page.locator(".ops li.joined").waitFor();
  assert.equal(await ops.count(), first + 1);
  await page.locator(".ops + .acts").getByRole("button").click();
  assert.equal(await ops.count(), MANY);
  assert.equal(await page.locator(".ops li.joined").count(), 1);
});

test("long texts of the panes show their first lines, what is picked, and all at a press", async () => {
  const { page } = await openPage(browser);
  await open(page, many);
  const [source, nodes] = [page.locator(".panes .pane:first-child"), page.locator(".panes .pane:last-child")];
  await nodes.getByRole("button", { name: /^Show all \d+ lines$/ }).waitFor();
  assert.equal(await source.locator("li[id]").count(), 300);
  await source.getByRole("button", { name: /^Show all \d+ lines$/ }).click();
  assert.ok((await source.locator("li[id]").count()) > MANY);
  await open(page, many, `&line=${MANY}`);
  await source.locator(`#L${MANY}.joined`).waitFor();
  await nodes.locator("li.joined").first().waitFor();
});

for (const width of [1440, 390])
  for (const theme of ["light", "dark"])
    test(`the picture at ${width} px, ${theme}: axe, no sideways scroll`, async () => {
      const { page } = await openPage(browser, { width, theme });
      await open(page, run, "&node=relu");
      assert.deepEqual(await findings(page), []);
      assert.ok((await sideways(page)) <= 0);
    });
