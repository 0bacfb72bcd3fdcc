// tests/e2e/cuts.test.mjs -- where a program is cut, on *Breaks* and on the timeline, in a real browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, randn, startServer, waitFor } from "../api/harness.mjs";
import { drawn, openPage, sound, startBrowser } from "./browser.mjs";

// `model` runs in eager, for its loop breaks in each round; `gate` is cut three times.
const TEN = `import torch

def gate(x, i):
    if x.sum() > 0:
        x = x * i
    print("gate", i)
    return torch.relu(x) + i

def model(x):
    y = torch.sin(x)
    for i in range(10):
        y = gate(y, i)
        y = torch.cos(y)
    scale = y.std().item()
    return torch.softmax(y * scale, -1)
`;
const FLAT = `import torch\n\ndef model(x):\n${Array.from({ length: 10 }, (_, i) => `    x = torch.sin(x) * ${i}.5\n    print(${i})\n`).join("")}    return x.sum()\n`;
const FILES = {
  "main.py": "import torch\nfrom parts import gate\n\ndef model(x):\n    y = torch.sin(x)\n    return torch.softmax(gate(y), -1)\n",
  "parts.py": "import torch\n\ndef gate(x):\n    for i in range(2):\n        print(i)\n        x = torch.relu(x)\n    return x\n",
};
let server, browser, ten, flat, files;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const post = async (name, source) => (await postRun(server, { name, source, calls: [[randn(16, 16)]], modes: ["eager", "static"], backend: "interp", threads: 1, seconds: 0.2 })).body.id;
  [ten, flat] = [await post("ten", TEN), await post("flat", FLAT)];
  files = (await postRun(server, { name: "files", files: FILES, entry: "main.py:model", calls: [[randn(4, 4)]], modes: ["static"], backend: "interp", seconds: 0.1 })).body.id;
  for (const id of [ten, flat, files]) assert.equal((await waitFor(server, id)).status, "done");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const open = async (page, path) => {
  await page.goto(server.url + path);
  await drawn(page);
};
const strip = (page, policy) => page.getByRole("group", { name: policy, exact: true }).locator(".strip > li");

test("the strip has the graphs in order with the cuts between them; a cut opens its card", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, `/runs/${flat}/breaks?mode=static`);
  const pieces = await strip(page, "dynamo").allInnerTexts();
  assert.equal(pieces.length, 21);
  assert.match(pieces[0], /^graph 0\s+2 ops · [\d.]+ [nµ]s$/);
  assert.match(pieces[1], /^line 5\s+print\(\)$/);
  assert.match(pieces.at(-2), /^line 23\s+print\(\)$/);
  const cut = strip(page, "dynamo").nth(5).getByRole("link");
  await cut.click();
  const card = page.locator(".brks details[open]");
  assert.equal(await card.count(), 1);
  assert.match(await card.locator("summary").innerText(), /line 9\b/);
  assert.ok(await card.locator("summary").evaluate((el) => el === document.activeElement));
  assert.ok(await page.locator("#L9[aria-selected=true]").count());
  // Where nothing is cut there is one box.
  await page.getByRole("group", { name: "native", exact: true }).getByText("checked").waitFor();
  assert.match((await strip(page, "native").allInnerTexts()).join("|"), /^graph 0\s+21 ops$/);
  await strip(page, "dynamo").first().getByRole("link").click();
  await page.waitForURL(/\/graphs\?.*graph=0/);
  assert.deepEqual(complaints, []);
});

test("what runs in eager is said, is in the strip, and each of its lines has a mark in the margin", async () => {
  const { page } = await openPage(browser);
  await open(page, `/runs/${ten}/breaks?mode=static`);
  const notes = await page.locator(".eagernotes li").allInnerTexts();
  assert.match(notes[0], /^model runs in eager in every call, op by op, because the break is in a loop\. Its lines 10, 11, 12, 13, 14, 15\. Cause: break \d\.$/);
  assert.ok((await strip(page, "dynamo").allInnerTexts()).some((t) => /^model\s+eager, 6 lines$/.test(t)));
  const marked = await page.locator(".code li[id]").evaluateAll((all) => all.filter((li) => /\b(brk|low|eag)\b/.test(li.className)).map((li) => Number(li.id.slice(1))));
  for (const line of [10, 11, 12, 13, 14, 15]) assert.ok(marked.includes(line), `line ${line} of ${marked}`);
  assert.ok(!marked.includes(1) && !marked.includes(9), String(marked));
  assert.equal(await page.locator("#L13 .lens").innerText(), "runs in eager");
  await page.locator(".eagernotes li").first().getByRole("link", { name: /^break/ }).click();
  assert.match(await page.locator(".brks details[open]").innerText(), /whole function runs in eager/);
});

test("a program of several files shows those that break, and is looked at under the other policy too", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, `/runs/${files}/breaks?mode=static`);
  await page.getByRole("group", { name: "native", exact: true }).getByText("checked").waitFor();
  const well = page.getByRole("region", { name: "parts.py with breaks in the margin" });
  assert.match(await well.innerText(), /print\(i\)/);
  assert.equal(await well.locator("li.brk").count(), 1);
  assert.ok((await well.locator("li.eag").count()) >= 3); // gate runs in eager
  assert.deepEqual(complaints, []);
});

for (const width of [1440, 390])
  test(`no label of the timeline is drawn over another at ${width} px`, async () => {
    const { page } = await openPage(browser, { width });
    await page.addInitScript(() => {
      globalThis.texts = [];
      const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.clearRect = function (...at) {
        globalThis.texts = [];
        clearRect.apply(this, at);
      };
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const { width: w } = this.measureText(text);
        if (text) globalThis.texts.push({ text, x, y: y - 6, w, h: 11 });
        fillText.call(this, text, x, y);
      };
    });
    for (const id of [ten, flat]) {
      await open(page, `/runs/${id}/timeline?mode=static`);
      await page.waitForFunction(() => /t1=/.test(location.search));
      await page.waitForFunction(() => globalThis.texts.some((t) => t.text === "Breaks"));
      const over = await page.evaluate(() =>
        globalThis.texts.flatMap((a, i) => globalThis.texts.slice(i + 1).filter((b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h).map((b) => `${a.text} over ${b.text}`)));
      assert.deepEqual(over, []);
      // What has no room for all of its name says its line; none is cut where the picture ends.
      if (width > 400) assert.deepEqual(await page.evaluate(() => globalThis.texts.map((t) => t.text).filter((t) => /^(break|line)\b.*…$/.test(t))), []);
    }
  });

for (const [width, theme] of [[1440, "light"], [390, "dark"]])
  test(`Breaks with its strip at ${width} px, ${theme}: axe, no sideways scroll`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme });
    await open(page, `/runs/${ten}/breaks?mode=static`);
    await page.getByRole("group", { name: "native", exact: true }).getByText("checked").waitFor();
    await sound(page, complaints);
  });
