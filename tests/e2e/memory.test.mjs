// tests/e2e/memory.test.mjs -- memory over a call: what is in use at the peak and at any
// moment, by keys alone, and eager beside what is compiled.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, randn, startServer, waitFor } from "../api/harness.mjs";
import { openPage, startBrowser } from "./browser.mjs";

let server, browser, run, report;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const { body } = await postRun(server, {
    name: "memory", backend: "interp", modes: ["eager", "static"], calls: [[randn(256, 256)]],
    source: "import torch\n\ndef model(x):\n    y = torch.sin(x)\n    z = torch.cos(y) * y\n    return z.sum()\n",
  });
  run = body.id;
  report = (await waitFor(server, run)).report;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** @param {string} mode */
const open = async (mode) => {
  const opened = await openPage(browser);
  await opened.page.goto(`${server.url}/runs/${run}/memory?mode=${mode}`);
  await opened.page.locator(".memchart path").first().waitFor();
  return opened;
};
const text = (page, selector) => page.locator(selector).innerText();

test("the sentence has the bytes of both, and the table of modes their peaks", async () => {
  const { page, complaints } = await open("static");
  const adds = (mode) => report.modes[mode].memory.peak_bytes - report.modes[mode].memory.held_bytes;
  assert.ok(adds("eager") === 3 * 262144 && adds("static") < 1000);
  assert.match(await text(page, ".verdict"), /A call in static adds 4\u00a0B at its peak .* Eager adds 786\u00a0kB/);
  assert.match(await text(page, "#memory-modes"), /eager\s+0\.262\s+0\.786\s+baseline\s+1\.05/);
  assert.deepEqual(complaints, []);
});

test("a moment is chosen by keys: what is in use then adds up", async () => {
  const { page } = await open("eager");
  const at = page.locator("#memory-at");
  assert.match(await at.innerText(), /In use at the peak/);
  assert.match(await at.innerText(), /sin\s+line 4\s+\[256, 256\] float32/);
  const slider = page.locator("#memory-moment");
  await slider.focus();
  await page.keyboard.press("Home");
  assert.match(await slider.getAttribute("aria-valuetext"), /before the call: 262 kB in use/);
  assert.match(await at.innerText(), /In use before the call/);
  await page.keyboard.press("ArrowRight");
  assert.match(await slider.getAttribute("aria-valuetext"), /into the call: 524 kB in use/);
  assert.match(await at.innerText(), /1 tensor of the call/);
  await page.keyboard.press("ArrowRight");
  assert.match(await at.innerText(), /2 tensors of the call/);
  await page.getByRole("button", { name: "Peak", exact: true }).press("Enter");
  assert.match(await at.innerText(), /In use at the peak/);
  await at.getByRole("link", { name: "line 4" }).first().click();
  await page.waitForURL(/source\?.*line=4/);
  await page.locator('#L4[aria-selected="true"]').waitFor();
});

test("a point of the chart is a moment too", async () => {
  const { page } = await open("eager");
  const chart = await page.locator(".memchart").boundingBox();
  await page.mouse.click(chart.x + 61, chart.y + 60);
  const slider = page.locator("#memory-moment");
  const start = await slider.getAttribute("aria-valuetext");
  await page.mouse.click(chart.x + chart.width - 14, chart.y + 60);
  assert.notEqual(await slider.getAttribute("aria-valuetext"), start);
});

test("a run without the record says why, and what to do", async () => {
  const { page } = await openPage(browser);
  await page.route(`**/api/v1/runs/${run}`, async (route) => {
    const body = await (await route.fetch()).json();
    for (const m of Object.values(body.report.modes)) delete m.memory;
    return route.fulfill({ json: body });
  });
  await page.goto(`${server.url}/runs/${run}/memory`);
  await page.getByText("This run has no record of memory").waitFor();
  await page.getByRole("link", { name: "Edit and run again" }).first().waitFor();
});

test("no line of the chart is over a label, at any moment: what a label stands on is below it", async () => {
  for (const width of [1440, 390]) {
    const { page } = await openPage(browser, { width });
    await page.goto(`${server.url}/runs/${run}/memory?mode=eager`);
    await page.locator(".memchart path").first().waitFor();
    const slider = page.locator("#memory-moment");
    await slider.focus();
    for (const key of ["Home", "ArrowRight", "ArrowRight", "ArrowRight", "End"]) {
      await page.keyboard.press(key);
      const struck = await page.locator(".memchart").evaluate((svg) => {
        const all = [...svg.children];
        const box = (e) => e.getBoundingClientRect();
        const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
        const texts = all.filter((e) => e.tagName === "text");
        return [
          ...texts.flatMap((t) => all.slice(all.indexOf(t) + 1).filter((e) => e.tagName === "line" && meet(box(t), { ...box(e).toJSON(), left: box(e).left - 1, right: box(e).right + 1 })).map((e) => `${e.getAttribute("class")} over ${t.textContent}`)),
          ...texts.flatMap((a, i) => texts.slice(i + 1).filter((b) => meet(box(a), box(b))).map((b) => `${a.textContent} over ${b.textContent}`)),
        ];
      });
      assert.deepEqual(struck, [], `${width} px, ${key}`);
    }
  }
});
