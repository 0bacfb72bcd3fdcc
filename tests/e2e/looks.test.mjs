// tests/e2e/looks.test.mjs -- every page, in all its states, light and dark, wide and narrow: axe finds
// nothing, nothing scrolls sideways, nothing moves once it is there, the policy refuses nothing.
//
// SHOTS=FOLDER in the environment: a screenshot of each beside it, at both widths and in both themes
// (`SHOTS=/tmp/shots node --test tests/e2e/looks.test.mjs`).
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterTimers, findings, openPage, refusals, sideways, startBrowser } from "./browser.mjs";
import { stand, underWay, visits } from "./stand.mjs";

const folder = process.env.SHOTS;
/** Of the height of the window: what is left is a pixel or two of a font. */
const MOST_SHIFT = 0.01;

let at, browser;
before(async () => {
  [at, browser] = await Promise.all([stand(), startBrowser()]);
  if (folder) mkdirSync(folder, { recursive: true });
});
after(async () => {
  await browser?.close();
  await at?.stop();
});

/** Sums what moved without a key or a click, and what it was. */
const watchShifts = () => {
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const e of list.getEntries())
      if (!e.hadRecentInput)
        globalThis.shifts.push({
          value: e.value,
          what: e.sources.map(({ node, previousRect: a, currentRect: b }) => {
            const el = node?.nodeType === 1 ? node : node?.parentElement;
            const name = el ? `${el.tagName.toLowerCase()}${el.id && `#${el.id}`}.${el.className}` : "gone";
            return `${name} ${a.x},${a.y} ${a.width}x${a.height} to ${b.x},${b.y} ${b.width}x${b.height}`;
          }),
        });
  }).observe({ type: "layout-shift", buffered: true });
};

/** What is wrong with the page as it is. @param {any} page @returns {Promise<string[]>} */
async function faults(page) {
  const shifts = await page.evaluate(() => globalThis.shifts);
  const moved = shifts.reduce((sum, s) => sum + s.value, 0);
  const wide = await sideways(page);
  return [
    ...(moved > MOST_SHIFT ? [`moves by ${moved.toFixed(3)}: ${JSON.stringify(shifts)}`] : []),
    ...(wide > 0 ? [`scrolls sideways by ${wide} px`] : []),
    ...(await findings(page)),
    ...(await refusals(page)),
  ];
}

// Each width and each theme; all pairs of them for screenshots, and where FULL asks for it.
const looks = { 1440: ["light"], 390: ["dark"] };
for (const width of [1440, 390])
  for (const theme of process.env.FULL || folder ? ["light", "dark"] : looks[width])
    test(`every page at ${width} px, ${theme}`, async () => {
      const { page, complaints } = await openPage(browser, { width, theme, height: width === 390 ? 844 : 900, allow: /status of 404|status of 400/ });
      await page.addInitScript(watchShifts);
      const wrong = [];
      const now = { ...at, ids: { ...at.ids, ...(await underWay(at.busy)) } };
      for (const [name, url, ready] of visits(now)) {
        await page.goto(url);
        await page.locator(ready).first().waitFor().catch((e) => wrong.push(`${name}: ${e.message}`));
        await page.waitForFunction(() => !document.querySelector("main [aria-busy=true]"));
        await afterTimers(page);
        if (folder) await page.screenshot({ path: join(folder, `${name.replace(/[^\w]+/g, "_")}-${width}-${theme}.png`), fullPage: true });
        wrong.push(...(await faults(page)).map((f) => `${name}: ${f}`));
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
      }
      assert.deepEqual([...wrong, ...complaints], []);
    });

test("what is being measured is said in one line or two, and nothing below it moves", async () => {
  const { page, complaints } = await openPage(browser, { width: 390, height: 844, allow: /events/ });
  const { running } = await underWay(at.busy);
  const said = ["dynamic", "dynamic, native, at n = 4096, 2 of 3 rounds, with the grad", "eager"];
  let next = 0;
  await page.route("**/events", (route) => {
    const state = { status: "running", progress: 0.5, what: said[next++ % said.length], left_s: 40 };
    return route.fulfill({ contentType: "text/event-stream", body: `retry: 50\nevent: progress\ndata: ${JSON.stringify(state)}\n\n` });
  });
  await page.goto(`${at.busy.url}/runs/${running}`);
  const seen = [];
  for (const what of said) {
    await page.getByRole("heading", { name: `Measuring ${what}`, exact: true }).waitFor();
    seen.push(await page.locator("#progress-share").evaluate((el) => el.getBoundingClientRect().y));
  }
  assert.deepEqual(seen, said.map(() => seen[0]));
  assert.deepEqual(complaints, []);
});

/** What the keyboard has to reach: all that can be operated and seen. */
const controls = () => {
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
  const there = all.filter((el) => !el.disabled && el.tabIndex >= 0 && el.checkVisibility({ visibilityProperty: true }) && el.getClientRects().length);
  there.forEach((el, i) => (el.dataset.control = String(i)));
  return there.map((el) => `${el.tagName.toLowerCase()} ${el.getAttribute("aria-label") ?? el.textContent.trim().slice(0, 40)}`);
};

/** The control that has the focus; whether it shows. */
const focused = () => {
  const el = document.activeElement;
  if (!el || el === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(el);
  return { at: Number(el.dataset.control ?? -1), text: el.className === "editor", ring: outlineStyle !== "none" && parseFloat(outlineWidth) > 0 };
};

/** Tabs through the page once. @param {any} page @returns {Promise<string[]>} what is wrong on the way */
async function tabThrough(page) {
  const names = await page.evaluate(controls);
  const seen = new Set();
  const ringless = new Set();
  // Until the focus leaves the page: what came meanwhile is stepped through as well.
  for (let i = 0; i < 2 * names.length + 50; i++) {
    await page.keyboard.press("Tab");
    const now = await page.evaluate(focused);
    if (!now) break;
    if (now.at >= 0) seen.add(now.at);
    if (!now.ring) ringless.add(names[now.at] ?? "what was not listed");
    if (now.text) await page.keyboard.press("Escape"); // in the editor a tab is one
  }
  const missed = names.filter((_, i) => !seen.has(i));
  return [...missed.map((n) => `Tab does not reach ${n}`), ...[...ringless].map((n) => `no ring on ${n}`)];
}

/** As many controls as are stepped through: pages of hundreds are lists of one kind. */
const MOST_STEPS = 150;

test("every view and tab that there is was visited, and the keyboard reaches every control of each", async () => {
  const all = visits(at);
  const paths = all.map(([, url]) => new URL(url).pathname);
  const source = readFileSync("web/js/main.js", "utf8");
  const table = [...source.matchAll(/pattern: \/(.*?)\/, nav/g)].map(([, p]) => new RegExp(p));
  assert.ok(table.length > 8, "the table of views in main.js is read");
  const first = paths.map((p) => table.findIndex((r) => r.test(p)));
  assert.deepEqual(table.filter((_, i) => !first.includes(i)).map(String), []);
  const shapes = new Set(paths.map((p) => p.replace(/\d+/g, "{id}")));
  const { page } = await openPage(browser);
  const wrong = [];
  for (const [name, url, ready] of all.filter(([, u, , state]) => state === "real" && u.startsWith(at.full.url))) {
    await page.goto(url);
    await page.locator(ready).first().waitFor();
    const links = await page.locator(".tabs a, nav[aria-label=Main] a").evaluateAll((as) => as.map((a) => a.pathname));
    assert.deepEqual(links.filter((p) => !shapes.has(p.replace(/\d+/g, "{id}"))), [], url);
    if ((await page.evaluate(controls)).length <= MOST_STEPS) wrong.push(...(await tabThrough(page)).map((w) => `${name}: ${w}`));
  }
  assert.deepEqual(wrong, []);
  const doc = await (await fetch(`${at.full.url}/api/v1/openapi.json`)).json();
  const pages = Object.entries(doc.paths).filter(([, of]) => of.get?.summary?.startsWith("the page")).map(([p]) => p);
  assert.ok(pages.length > 8);
  const seen = (p) => shapes.has(p) || shapes.has(p.replace("{tab}", "breaks").replace("{page}", "pages"));
  assert.deepEqual(pages.filter((p) => !seen(p)), []);
});
