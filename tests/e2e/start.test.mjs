// tests/e2e/start.test.mjs -- the first page of a store without runs, and with one.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, sweep, waitFor } from "../api/harness.mjs";
import { drawn, openPage, shiftsOf, sideways, sound, sourceOf, startBrowser, watchShifts, writeSource } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const BREAKS = "import torch\n\ndef model(x):\n    if x.sum() > 0:\n        return x * 2\n    return x - 1\n";
const first = async (how) => {
  const opened = await openPage(browser, how);
  await watchShifts(opened.page);
  await opened.page.goto(server.url);
  await drawn(opened.page);
  return opened;
};

test("a function that is pasted is the entry, whatever its name, with inputs for its parameters", async () => {
  const { page, complaints } = await first();
  await writeSource(page, "import torch\n\ndef attention(q, k, v):\n    return torch.softmax(q @ k.T, -1) @ v\n");
  await page.getByLabel("Shape of q").waitFor();
  assert.equal(await page.getByLabel("Shape of v").count(), 1);
  await page.locator("#found", { hasText: "no error" }).waitFor();
  assert.equal(await page.locator("#file-name").textContent(), "attention.py");
  assert.deepEqual(complaints, []);
});

test("inputs that nobody typed follow the program, with the reason below; what is typed stays", async () => {
  const { page, complaints } = await first();
  const net = (width) => `import torch\nfrom torch import nn\n\nnet = nn.Sequential(nn.Linear(${width}, 64), nn.GELU(), nn.Linear(64, 10))\n\ndef model(x, w):\n    return net(x).log_softmax(-1) @ w\n`;
  const shapes = async (x, w) => {
    await page.waitForFunction(([a, b]) => ["x", "w"].every((name, i) => document.querySelector(`[aria-label="Shape of ${name}"]`)?.value === [a, b][i]), [x, w]);
    await page.locator("#found", { hasText: "no error" }).waitFor();
  };
  await writeSource(page, net(32));
  await shapes("8, 32", "10, 16");
  assert.equal(await page.locator("#file-name").textContent(), "model.py", "it is the example no more");
  assert.match(await page.locator(".why:visible").first().innerText(), /^Proposed: with float32\[.*\] line 7 fails: linear: sizes/);
  await sound(page, complaints);
  await page.getByLabel("Shape of x").fill("5, 48");
  assert.equal(await page.locator(".why:visible").count(), 1, "what somebody typed is not proposed");
  await writeSource(page, net(48));
  await shapes("5, 48", "10, 16");
  await writeSource(page, net(40));
  await page.locator("#diags .sev.e").waitFor();
  assert.equal(await page.getByLabel("Shape of x").inputValue(), "5, 48");
});

test("without a run it says what this is, and a function that is pasted gets its verdict", async () => {
  for (const how of [{ width: 390, theme: "dark" }, {}]) {
    const { page, context, complaints } = await first(how);
    await page.getByText("what each break costs").waitFor();
    assert.equal(await page.getByRole("search").count(), 0, "there is nothing to look for yet");
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await context.close();
  }
  const { page } = await first();
  await writeSource(page, BREAKS);
  await page.locator("#diags .sev.b").waitFor();
  await page.getByLabel("Shape of x").fill("64, 64");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/1$/);
  await page.locator("#verdict").waitFor();
});

test("with one run its answer and its curve stand beside the editor, and what was written goes into the form", async () => {
  const other = await startServer();
  const { page, complaints } = await openPage(browser);
  const id = (await postRun(other, { ...sweep([1, 5, 10]), backend: "interp" })).body.id;
  await page.goto(other.url);
  await page.getByRole("heading", { name: "The first run" }).waitFor();
  const { findings } = await waitFor(other, id);
  await page.locator("#start figure canvas").waitFor();
  const text = await page.locator("#start").getByText("than eager at n = 10").innerText();
  assert.ok(text.startsWith(findings.answer.map((part) => part.text ?? part).join("").slice(0, 12)), text);
  await sound(page, complaints);
  await writeSource(page, BREAKS);
  await page.getByRole("link", { name: "All settings" }).click();
  await page.waitForURL(/\/new$/);
  await page.locator("#source").waitFor();
  assert.equal(await sourceOf(page), BREAKS);
  await postRun(other, { ...sweep([1, 5]), backend: "interp" });
  await page.goto(other.url);
  await page.locator(".runs tbody tr").nth(1).waitFor();
  assert.equal(await page.locator("#start").count(), 0, "who has two runs knows");
  await other.stop();
});

test("the points of a sweep are drawn as they are measured, on its page and on the first", async () => {
  const other = await startServer();
  const id = (await postRun(other, { ...sweep(Array.from({ length: 40 }, (_, i) => i + 1)), backend: "interp" })).body.id;
  for (const [path, most] of [["", 1], [`/runs/${id}`, 2]]) {
    const { page, context, complaints } = await openPage(browser);
    await page.goto(other.url + path);
    await page.waitForFunction(() => document.querySelectorAll("#speedup-table tbody tr").length >= 2);
    assert.equal(await page.locator("#progress-share").count(), 1, "it is still being measured");
    assert.equal(await page.locator("figure.chart").count(), most);
    await sound(page, complaints);
    await context.close();
  }
  await other.stop();
});

test("what comes later moves nothing", async () => {
  for (const width of [1440, 390]) {
    const { page, context } = await first({ width });
    await page.waitForLoadState("networkidle");
    const { sum, what } = await shiftsOf(page);
    assert.ok(sum < 0.01, `${width} px: ${what}`);
    await context.close();
  }
});
