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

/** A file that the browser gives; what comes back saves it. */
async function picker(page, name, text) {
  await page.addInitScript(([called, first]) => {
    globalThis.saved = { text: first, lastModified: 1 };
    globalThis.showOpenFilePicker = async () => [{ name: called, getFile: async () => ({ lastModified: globalThis.saved.lastModified, text: async () => globalThis.saved.text }) }];
  }, [name, text]);
  let at = 1;
  return (now) => page.evaluate(([is, lastModified]) => Object.assign(globalThis.saved, { text: is, lastModified }), [now, ++at]);
}

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`on a run's own page each save of its file runs with its settings, beside it, at ${how.width ?? 1440} px`, async () => {
    const run = (await getJson(`${server.url}/api/v1/runs/${id}`)).body;
    const before = (await runs()).length;
    const { page, complaints, context } = await openPage(browser, how);
    const save = await picker(page, "mine.py", run.workload.source);
    await page.goto(`${server.url}/runs/${id}`);
    await page.getByRole("button", { name: "Watch", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("mine.py is unchanged: it runs when it changes.").waitFor();
    assert.equal((await runs()).length, before, "the file is what the run has");
    await save(program("(x.sin() + x.cos()).sum()"));
    await rows(page, 1);
    assert.match(await page.locator(".watched > li").first().innerText(), new RegExp(`Beside #${id}: (FASTER|SLOWER|SAME|AMBIGUOUS|NOT ENOUGH|DISAGREES)`));
    const [first] = await runs();
    const { workload: posted } = (await getJson(`${server.url}/api/v1/runs/${first.id}`)).body;
    assert.deepEqual([posted.source, posted.calls, posted.backend, posted.modes], [program("(x.sin() + x.cos()).sum()"), run.workload.calls, "interp", run.workload.modes]);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await page.locator("[data-tab=source]").click();
    await page.waitForURL(/source$/);
    await save(program("x.tan().sum()"));
    await rows(page, 2);
    assert.match(await page.locator(".watched > li").first().innerText(), new RegExp(`Beside #${first.id}:`));
    await page.locator("#watch-place").getByRole("button", { name: "Watching" }).click();
    await page.getByText("No longer watching.").waitFor();
    const n = (await runs()).length;
    await save(program("x.exp().sum()"));
    await page.waitForTimeout(2500);
    assert.equal((await runs()).length, n);
    await context.close();
  });

test("who leaves the page of a run no longer watches; of several files the one of that name is changed, another is refused", async () => {
  const files = { "main.py": "from lib import act\n\ndef model(x):\n    return act(x).sum()\n", "lib.py": "def act(x):\n    return x.relu()\n" };
  const { source: _, ...rest } = workload("    return x");
  const many = (await postRun(server, { ...rest, files, entry: "main.py:model", backend: "interp", modes: ["eager", "static"], seconds: 0.1 })).body.id;
  await waitFor(server, many);
  const { page, context } = await openPage(browser);
  const save = await picker(page, "lib.py", files["lib.py"]);
  await page.goto(`${server.url}/runs/${many}`);
  await page.getByRole("button", { name: "Watch", exact: true }).click();
  await page.getByText("lib.py is unchanged").waitFor();
  await save("def act(x):\n    return x.sigmoid()\n");
  await rows(page, 1);
  const [newest] = await runs();
  assert.deepEqual((await getJson(`${server.url}/api/v1/runs/${newest.id}`)).body.workload.files, { ...files, "lib.py": "def act(x):\n    return x.sigmoid()\n" });
  await page.locator("[data-nav=runs]").first().click();
  await page.locator(".runs tbody tr").first().waitFor();
  const n = (await runs()).length;
  await save("def act(x):\n    return x.tanh()\n");
  await page.waitForTimeout(2500);
  assert.equal((await runs()).length, n);
  await context.close();
  const other = await openPage(browser);
  await picker(other.page, "else.py", "");
  await other.page.goto(`${server.url}/runs/${many}`);
  await other.page.getByRole("button", { name: "Watch", exact: true }).click();
  await other.page.getByText(/else.py is no file of this run, which has (main.py, lib.py|lib.py, main.py)./).waitFor();
  await other.context.close();
});

test("where the browser gives no files, the command that does the same is there to be copied", async () => {
  for (const how of [{}, { width: 390, theme: "dark" }]) {
    const { page, complaints, context } = await openPage(browser, how);
    await page.addInitScript(() => delete globalThis.showOpenFilePicker);
    await page.goto(`${server.url}/runs/${id}`);
    await page.getByRole("button", { name: "Watch", exact: true }).click();
    await page.getByText("This browser gives pages no access to files.").waitFor();
    assert.match(await page.getByRole("region", { name: "The command that watches a file" }).innerText(), /^breakeven watch \S+\.py --modes eager,static --backend interp --input /);
    await page.locator("#watch-place").getByRole("button", { name: "Copy" }).waitFor();
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await context.close();
  }
});
