// tests/e2e/timeline.test.mjs -- the timeline of a run in a real browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, sweep, waitFor, workload } from "../api/harness.mjs";
import { findings, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

let server, browser, run, swept;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  run = (await postRun(server, workload("    y = torch.relu(x) * 2\n    print('between')\n    return y.sum()", { backend: "interp" }))).body.id;
  swept = (await postRun(server, { ...sweep([1, 3]), backend: "interp" })).body.id;
  await waitFor(server, run);
  await waitFor(server, swept);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const span = (page) => {
  const q = new URL(page.url()).searchParams;
  return Number(q.get("t1")) - Number(q.get("t0"));
};
const settled = (page, before) => page.waitForFunction((b) => location.href !== b, before);
/** The rows of a table as texts. */
const rows = (page, name) => page.getByRole("region", { name }).locator("tbody tr").evaluateAll((all) => all.map((tr) => [...tr.cells].map((c) => c.textContent)));

async function open(page, id, query = "mode=static") {
  await page.goto(`${server.url}/runs/${id}/timeline?${query}`);
  await page.locator(".tl canvas").waitFor();
  await page.waitForFunction(() => /t1=/.test(location.search));
}

test("one call is in sight, its parts add up, and its kernels lead to their lines", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, run);
  assert.match(await page.locator(".timeline .bar h3").first().innerText(), /^\d+ calls of static$/);
  assert.match(await page.locator(".ledger").innerText(), /\d+ kernels recorded\s+0 dropped/);
  const kinds = await rows(page, "Time by kind");
  assert.deepEqual(kinds.map((r) => r[0]), ["Fused kernels", "Guards", "Dispatch", "Allocation", "Launches", "Rest", "1 call"].filter((k) => kinds.some((r) => r[0] === k)));
  assert.equal(kinds.at(-1)[0], "1 call");
  assert.equal(kinds.slice(0, -1).reduce((n, r) => n + parseInt(r[3]), 0), 100);
  const idle = await rows(page, "Idle by cause");
  assert.equal(idle.find((r) => /print/.test(r[0]))?.[1], "1");
  assert.ok(idle.some((r) => r[0] === "end of the call"));
  assert.deepEqual(idle.slice(-2).map((r) => r[0]), ["Device idle", "Device busy"]);
  assert.equal(idle.slice(-2).reduce((n, r) => n + parseInt(r[3]), 0), 100);
  const kernels = await rows(page, "Kernels in sight");
  assert.equal(kernels.length, 2);
  assert.deepEqual(kernels.map((r) => r[2]), ["1", "1"]);
  await page.getByRole("region", { name: "Kernels in sight" }).getByRole("link", { name: "4" }).click();
  await page.waitForURL(/\/source\?.*line=4$/);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

test("keys zoom, pan, step and point; the address keeps the window", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, run);
  const canvas = page.locator(".tl canvas");
  await canvas.focus();
  const one = span(page);
  let at = page.url();
  await page.keyboard.press("w");
  await settled(page, at);
  assert.ok(Math.abs(span(page) / one - 0.7) < 0.02);
  at = page.url();
  await page.keyboard.press("p");
  await settled(page, at);
  assert.ok(page.url().includes("/timeline"), "n and p are the canvas's own");
  at = page.url();
  await page.keyboard.press("n");
  await settled(page, at);
  assert.ok(page.url().includes("/timeline"));
  await page.keyboard.press(".");
  const facts = page.locator(".three .kv");
  await facts.waitFor();
  assert.match(await facts.innerText(), /Fused kernels/);
  assert.match(await facts.innerText(), /Launched/);
  at = page.url();
  await page.keyboard.press("f");
  await settled(page, at);
  assert.ok(span(page) < one);
  at = page.url();
  await page.keyboard.press("0");
  await settled(page, at);
  assert.match((await rows(page, "Time by kind")).at(-1)[0], /^([3-9]|1\d) calls$/);
  const address = page.url();
  await page.reload();
  await page.locator(".tl canvas").waitFor();
  await page.waitForTimeout(300);
  assert.equal(page.url(), address);
  assert.deepEqual(complaints, []);
});

test("the mouse drags, zooms once the canvas has the focus, and points", async () => {
  const { page } = await openPage(browser);
  await open(page, run);
  const box = await page.locator(".tl canvas").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height - 28 - 38]; // the kernels, above the memory
  let at = page.url();
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 200, y, { steps: 4 });
  await page.mouse.up();
  await settled(page, at);
  const dragged = span(page);
  await page.locator(".tl canvas").focus();
  at = page.url();
  await page.mouse.wheel(0, -300);
  await settled(page, at);
  assert.ok(span(page) < dragged);
  // A kernel that fills the canvas lies under the pointer.
  await page.keyboard.press(".");
  at = page.url();
  await page.keyboard.press("f");
  await settled(page, at);
  await page.mouse.move(x + 5, y);
  const tip = page.locator(".tip");
  await tip.waitFor({ state: "visible" });
  const seen = await tip.innerText();
  assert.match(seen, /^fused_\w+\n/);
  assert.match(seen, /us/);
});

test("a point of the sweep and a mode are chosen as in other views", async () => {
  const { page } = await openPage(browser);
  await open(page, swept, "mode=eager&n=3");
  assert.equal((await rows(page, "Kernels in sight")).length, 4);
  await page.locator("#graph-point").selectOption("0");
  await page.waitForFunction(() => document.querySelectorAll(".kernels tbody tr").length === 2);
});

for (const width of [1440, 390])
  for (const theme of ["light", "dark"])
    test(`nothing is wrong for assistive technology at ${width}, ${theme}`, async () => {
      const { page } = await openPage(browser, { width, theme });
      await open(page, run);
      assert.deepEqual(await findings(page), []);
      assert.ok((await sideways(page)) <= 0);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/timeline-${width}-${theme}.png`, fullPage: true });
    });
