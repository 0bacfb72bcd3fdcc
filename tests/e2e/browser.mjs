// tests/e2e/browser.mjs -- Chromium for the tests, with everything it complains of kept.
//
// playwright-core and axe-core come from web/node_modules; the browser is
// Debian's.  Its headless shell is Chromium without windows, for half of the
// processor time; where it is not installed the whole one serves.  CHROMIUM
// names another one.  Whatever the page logs as an error, throws, or is refused
// by its Content-Security-Policy fails the test that reads `complaints`.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { HANG_MS } from "../api/harness.mjs";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const browsers = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

export async function startBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? browsers.find(existsSync), args: ["--no-sandbox", "--disable-gpu"], timeout: HANG_MS / 2 });
}

/**
 * What a page complains of on a busy machine alone: that the server has too much to do for a check, which is asked
 * again, and that a script which was asked for ahead was not needed within a few seconds.
 */
const BUSY = /status of 503|was preloaded using link preload but not used within a few seconds/;

/**
 * A page of its own context.
 * @param {any} browser @param {{width?: number, height?: number, theme?: "light" | "dark", allow?: RegExp}} [how]
 *   allow: complaints that the test provokes on purpose
 */
export async function openPage(browser, { width = 1440, height = 900, theme = "light", allow = /^$/ } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true });
  context.setDefaultTimeout(HANG_MS / 2);
  const page = await context.newPage();
  const complaints = [];
  const complain = (text) => {
    if (!allow.test(text) && !BUSY.test(text)) complaints.push(text);
  };
  page.on("console", (m) => {
    if (m.type() === "error" || m.type() === "warning") complain(m.text());
  });
  page.on("pageerror", (e) => complain(String(e.stack ?? e)));
  await page.addInitScript(() => {
    globalThis.refused = [];
    addEventListener("securitypolicyviolation", (e) =>
      globalThis.refused.push(`${e.violatedDirective} ${e.blockedURI}`),
    );
  });
  return { page, context, complaints };
}

/**
 * What the page does a moment after what has happened to it is done: its timers go off before one that is set
 * now and is longer than they are, however busy the machine.
 * @param {any} page
 */
export const afterTimers = (page) => page.evaluate(() => new Promise((done) => setTimeout(done, 300)));

/** Until the view is there and nothing of it is under way. @param {any} page */
export const drawn = (page) => page.waitForFunction(() => document.querySelector("#main > *") && !document.querySelector("#main [aria-busy=true]"));

/** Before a page is opened: what of it moves is kept, for shiftsOf(). @param {any} page */
export const watchShifts = (page) =>
  page.addInitScript(() => {
    globalThis.shifts = [];
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) globalThis.shifts.push([e.value, ...e.sources.map((s) => s.node?.outerHTML?.slice(0, 60))]);
    }).observe({ type: "layout-shift", buffered: true });
  });

/** How much has moved, and what. @param {any} page */
export async function shiftsOf(page) {
  const shifts = await page.evaluate(() => globalThis.shifts);
  return { sum: shifts.reduce((sum, [value]) => sum + value, 0), what: JSON.stringify(shifts) };
}

/** What the page's policy refused. */
export const refusals = (page) => page.evaluate(() => globalThis.refused);

/** axe's findings, one line each, once nothing on the page is pale for what is still to come. */
export async function findings(page) {
  await page.waitForFunction(() => !document.querySelector('.fills[aria-busy="true"]'));
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await globalThis.axe.run({ resultTypes: ["violations"] });
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
  });
}

/** Pixels by which the page itself could be scrolled sideways. */
export const sideways = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Nothing sticks out, axe finds nothing, and neither the page nor its policy complained. */
export async function sound(page, complaints) {
  assert.ok((await sideways(page)) <= 0);
  assert.deepEqual(await findings(page), []);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
}

/** Puts a text in the place of the program in the editor, as pasting does. */
export async function writeSource(page, text) {
  const source = page.locator("#source");
  await source.press("Control+a");
  await source.evaluate((el, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    el.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** The program in the editor: what of it is drawn, about a hundred lines. */
export const sourceOf = (page) => page.locator("#source .cm-line").evaluateAll((lines) => lines.map((l) => l.textContent).join("\n"));

/** Opens what the form says as a command, where it is closed. */
export const openCommand = (page) => page.locator("details.command").evaluate((d) => (d.open = true));

/** The number of the line that the caret is in. */
export const caretLine = async (page) => Number(await page.locator(".cm-activeLineGutter").innerText());

/** The numbers of a table twin: {series: [[n, value, low, high], ...]}. */
export function twinNumbers(page, id) {
  return page.evaluate((name) => {
    const table = document.querySelector(`#${name} table`);
    const heads = [...table.querySelectorAll("thead th")];
    const out = {};
    heads.forEach((th, col) => {
      if (!th.dataset.series) return;
      out[th.dataset.series] = [...table.tBodies[0].rows].flatMap((tr) => {
        const { v, lo, hi } = tr.cells[col].dataset;
        return v === undefined ? [] : [[Number(tr.cells[0].dataset.v), Number(v), Number(lo), Number(hi)]];
      });
    });
    return out;
  }, id);
}
