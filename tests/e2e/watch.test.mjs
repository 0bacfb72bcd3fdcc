// tests/e2e/watch.test.mjs -- *Watch* on the form: the program runs again when it changes, beside the last run.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { openPage, sideways, sound, sourceOf, startBrowser, writeSource } from "./browser.mjs";

const program = (body) => `import torch\n\ndef model(x):\n    return ${body}\n`;
let server, browser, id;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  id = (await postRun(server, { ...workload("    return x.sin().sum()"), backend: "interp", modes: ["eager", "static"], seconds: 0.1 })).body.id;
  await waitFor(server, id);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const runs = async () => (await getJson(`${server.url}/api/v1/runs?tag=watch`)).body.runs;
const rows = (page, n) => page.locator(".watched > li").nth(n - 1).waitFor();

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`what is typed runs again, and is compared with the last run, at ${how.width ?? 1440} px`, async () => {
    const before = (await runs()).length;
    const { page, complaints, context } = await openPage(browser, how);
    await page.goto(`${server.url}/new?from=${id}`);
    await page.locator("#source").waitFor();
    await page.getByRole("button", { name: "Watch", exact: true }).click();
    await rows(page, 1);
    assert.equal((await runs()).length, before + 1);
    await writeSource(page, program("(x.sin() + x.cos()).sum()"));
    await rows(page, 2);
    const text = await page.locator(".watched > li").first().innerText();
    assert.match(text, /Beside #\d+: (FASTER|SLOWER|SAME|AMBIGUOUS|NOT ENOUGH|DISAGREES)/);
    assert.equal((await runs())[0].status, "done");
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await writeSource(page, program("x.reshape(3)"));
    await page.locator(".watched .chip.failed").waitFor();
    await page.getByRole("button", { name: "Watch", exact: true }).click();
    const n = (await runs()).length;
    await writeSource(page, program("x.tan().sum()"));
    await page.waitForTimeout(2000);
    assert.equal((await runs()).length, n, "nobody watches any more");
    await context.close();
  });

test("a file is run again when it is saved, where the browser gives it", async () => {
  const { page, context } = await openPage(browser);
  await page.addInitScript((first) => {
    globalThis.saved = { text: first, lastModified: 1 };
    const handle = { name: "mine.py", getFile: async () => ({ lastModified: globalThis.saved.lastModified, text: async () => globalThis.saved.text }) };
    globalThis.showOpenFilePicker = async () => [handle];
  }, program("(x * 2).sum()"));
  await page.goto(`${server.url}/new?from=${id}`);
  await page.locator("#source").waitFor();
  await page.getByRole("button", { name: "Watch a file" }).click();
  await rows(page, 1);
  await page.getByRole("button", { name: "Watching mine.py" }).waitFor();
  assert.equal(await sourceOf(page), program("(x * 2).sum()"));
  await page.evaluate((text) => Object.assign(globalThis.saved, { text, lastModified: 2 }), program("(x * 3).sum()"));
  await rows(page, 2);
  const [newest] = await runs();
  assert.match((await getJson(`${server.url}/api/v1/runs/${newest.id}`)).body.workload.source, /x \* 3/);
  await context.close();
});
