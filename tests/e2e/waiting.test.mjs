// tests/e2e/waiting.test.mjs -- what pages of an import show while a part is asked for, and where it does not come: no place is
// empty as if there were nothing, and each can be asked for again.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { binary, startServer, waitFor } from "../api/harness.mjs";
import { findings, openPage, sideways, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const logs = ["torch_trace_2.14.log", "kineto.json"].map((f) => `tests/import/${f}`);
  assert.equal(spawnSync(binary, ["import", "--post", server.url, ...logs]).status, 0);
  await waitFor(server, 1);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const allow = /ERR_FAILED|ERR_CONNECTION/;

/** Answers to these addresses wait until they are let go, as they are or by failing. @param {any} page @param {RegExp} of */
async function held(page, of) {
  /** @type {any[]} */
  let waiting = [];
  let through = false;
  await page.route(of, (route) => (through ? route.continue() : waiting.push(route)));
  const end = (how) => async () => {
    const all = waiting;
    waiting = [];
    await Promise.all(all.map(how));
  };
  return {
    some: () => page.waitForFunction(() => document.querySelector("#main [aria-busy=true]")),
    fail: end((route) => route.abort()),
    go: async () => {
      through = true;
      await end((route) => route.continue())();
    },
  };
}

/** A busy place that is empty has grey lines; what it replaces stays. @param {any} page @param {string} selector */
const lines = (page, selector) => page.locator(selector).evaluate((el) => [el.getAttribute("aria-busy"), el.matches(":empty") ? getComputedStyle(el, "::before").height : getComputedStyle(/** @type {Element} */ (el.firstElementChild)).opacity]);

/** Held, failed, asked for again, there. @param {any} page @param {Awaited<ReturnType<typeof held>>} answers @param {string} place @param {RegExp} said @param {() => Promise<unknown>} there */
async function waits(page, answers, place, said, there) {
  await page.locator(`${place}[aria-busy=true]`).waitFor({ state: "attached" });
  assert.deepEqual(await lines(page, place), ["true", "124px"]);
  assert.ok((await sideways(page)) <= 0);
  await answers.fail();
  const failure = page.locator(`${place} .failure`);
  await failure.waitFor();
  assert.match(await failure.innerText(), said);
  assert.deepEqual(await findings(page), []);
  assert.ok((await sideways(page)) <= 0);
  await failure.getByRole("button", { name: "Try again" }).click();
  await page.locator(`${place}[aria-busy=true]`).waitFor({ state: "attached" });
  await answers.go();
  await there();
  assert.equal(await page.locator(`${place}[aria-busy=true]`).count(), 0);
}

test("a page whose first answer is still to come is as wide as the window", async () => {
  for (const [width, grey] of [[390, "358px"], [1440, "552px"]]) {
    const { page, complaints } = await openPage(browser, { allow, width });
    const run = await held(page, /\/api\/v1\/runs\/1/);
    await page.goto(`${server.url}/runs/1`);
    await page.waitForFunction(() => document.querySelector("#main")?.matches(":empty"));
    assert.ok((await sideways(page)) <= 0);
    const drawn = await page.locator("#main").evaluate((el) => {
      const { width, paddingLeft, paddingRight } = getComputedStyle(el, "::before");
      return `${parseFloat(width) - parseFloat(paddingLeft) - parseFloat(paddingRight)}px`;
    });
    assert.equal(drawn, grey);
    await run.go();
    await page.locator("#run-body").waitFor();
    assert.deepEqual(complaints, []);
  }
});

test("the search over texts", async () => {
  const { page, complaints } = await openPage(browser, { allow });
  const answers = await held(page, /artifacts\?q=/);
  await page.goto(`${server.url}/runs/1/compiles`);
  await page.getByLabel("Search every text of the log").fill("tensor_match");
  await page.keyboard.press("Enter");
  await waits(page, answers, "#run-body > [aria-live]", /^What the texts have could not be read\. No answer from /, () => page.getByRole("link", { name: /TENSOR_MATCH: check_tensor/ }).waitFor());
  await page.getByLabel("Search every text of the log").fill("nowhere to be found");
  await page.keyboard.press("Enter");
  await page.getByText("No text of this run has it.").waitFor();
  assert.deepEqual(complaints, []);
});

test("the texts of a compilation, and a pane", async () => {
  const { page, complaints } = await openPage(browser, { allow, width: 390, theme: "dark" });
  const list = await held(page, /artifacts\?compile=/);
  const text = await held(page, /artifacts\/\d+$/);
  await page.goto(`${server.url}/runs/1/compiles?compile=0/0&process=0&texts=7`);
  await waits(page, list, "#run-body > div:last-child", /^The texts of the compilation could not be read\./, () => page.locator(".textgroups").waitFor());
  await waits(page, text, ".panebody", /could not be read\. No answer from /, () => page.locator(".panebody .tprows > div").first().waitFor());
  assert.deepEqual(complaints, []);
});

test("the groups of what is selected, and SQL, which can be cancelled", async () => {
  const { page, complaints } = await openPage(browser, { allow });
  const groups = await held(page, /timeline\/groups/);
  await page.goto(`${server.url}/runs/1/timeline`);
  await page.getByText("Grouped by name, op, line or kernel").click();
  await waits(page, groups, "details.events > .fills", /^The groups could not be read\./, () => page.getByRole("region", { name: "Grouped events" }).waitFor());
  const query = await held(page, /\/query$/);
  await page.getByRole("button", { name: "SQL" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByText("Cancelled.").waitFor();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waits(page, query, ".panel > .fills", /^The rows could not be read\./, () => page.getByRole("region", { name: "Rows of the query" }).waitFor());
  assert.deepEqual(complaints, []);
});

test("the numbers of a selection, and the timeline itself", async () => {
  const { page, complaints } = await openPage(browser, { allow });
  const whole = await held(page, /\/timeline\?/);
  await page.goto(`${server.url}/runs/1/timeline`);
  await page.locator(".timeline[aria-busy=true]").waitFor({ state: "attached" });
  await whole.fail();
  await page.getByRole("heading", { name: "The timeline could not be read" }).waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".timeline[aria-busy=true]").waitFor({ state: "attached" });
  await whole.go();
  await page.locator(".three h3").first().waitFor();
  await page.unroute(/\/timeline\?/);
  const part = await held(page, /\/timeline\?.*px=100/);
  await page.locator(".tl canvas").focus();
  await page.keyboard.press("Shift+ArrowRight");
  await page.locator(".three .fills[aria-busy=true]").first().waitFor();
  await page.waitForFunction(() => getComputedStyle(document.querySelector(".three > div:first-child > *")).opacity === "0.5"); // what was there, pale
  await part.fail();
  await page.locator(".three .failure").waitFor();
  await part.go();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".three .failure").waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});
