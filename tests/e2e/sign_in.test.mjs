// tests/e2e/sign_in.test.mjs -- the dialog that asks for a token: a wrong one, one that counts, signing out, one that was revoked.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, startServer, until, workload } from "../api/harness.mjs";
import { drawn, openPage, refusals, sound, startBrowser } from "./browser.mjs";

let server, browser, tokens;
const command = (...args) => {
  const { status, stdout, stderr } = spawnSync(binary, ["token", ...args, "--db", `${server.home}/store.db`], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.trim();
};
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  tokens = Object.fromEntries(["read", "submit"].map((scope) => [scope, command("add", `a-${scope}-token`, "--scope", scope)]));
  await until(async () => (await fetch(`${server.url}/api/v1/runs`)).status === 401, "that the server has seen the tokens");
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${tokens.submit}` };
  const { status } = await fetch(`${server.url}/api/v1/runs`, { method: "POST", headers, body: JSON.stringify(workload("    return x", { modes: ["eager"], backend: "interp", name: "seen_by_some" })) });
  assert.equal(status, 202);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Chromium logs each answer that is an error. */
const REFUSED = /status of 40[13]/;
const button = (page, name) => page.getByRole("button", { name, exact: true });
const signIn = async (page, token) => {
  await page.getByLabel("Token").fill(token);
  await button(page, "Sign in").click();
};
const statusOf = (page, path, init = {}) => page.evaluate(async ([p, how]) => (await fetch(p, how)).status, [path, init]);

test("a wrong token is refused in the dialog, one that counts shows the runs, and signing out asks again", async () => {
  const { page, context, complaints } = await openPage(browser, { allow: REFUSED });
  await page.goto(server.url);
  await page.waitForSelector("dialog#sign-in[open]");
  assert.equal(await page.locator("text=seen_by_some").count(), 0);
  const before = await button(page, "Sign in").boundingBox();
  await page.keyboard.press("Escape");
  await page.locator("h1", { hasText: "Sign in to see this page" }).waitFor();
  await button(page, "Enter a token").click();
  await page.waitForSelector("dialog#sign-in[open]");
  await signIn(page, `bk_${"0".repeat(64)}`);
  await page.waitForSelector("#sign-in .errline:not(:empty)");
  assert.match(await page.locator("#sign-in .errline").innerText(), /this token does not count/);
  assert.deepEqual(await button(page, "Sign in").boundingBox(), before, "what is below the message stays");
  await signIn(page, "\u00e4 token of an own alphabet \u2713");
  await page.waitForFunction(() => document.querySelector("#sign-in .errline")?.textContent?.includes("letters"));
  assert.equal(await statusOf(page, "/api/v1/runs"), 401);
  await signIn(page, ` ${tokens.submit} `);
  await page.waitForSelector("text=seen_by_some");
  assert.equal(await page.locator("#sign-in").count(), 0);
  assert.equal(await page.locator("#user").innerText(), "a-submit-token");
  assert.deepEqual(await page.evaluate(() => [document.cookie, localStorage.length, JSON.stringify(sessionStorage).includes("bk_")]), ["", 0, false]);
  assert.deepEqual((await context.cookies()).map((c) => [c.name, c.httpOnly, c.sameSite]), [["breakeven_session", true, "Strict"]]);

  // What the page writes carries the CSRF token, what another script of it writes without does not count.
  assert.equal(await statusOf(page, "/api/v1/runs/1", { method: "PATCH", headers: { "Content-Type": "application/json" }, body: '{"note": "x"}' }), 403);
  await page.goto(`${server.url}/new`);
  await page.waitForSelector("#extent");
  await button(page, "Run").click();
  await page.waitForURL(/\/runs\/\d+$/);

  await page.evaluate(() => localStorage.setItem("draft  ", "what somebody wrote"));
  await button(page, "Sign out").click();
  await page.waitForSelector("dialog#sign-in[open]");
  assert.equal(await page.evaluate(() => localStorage.getItem("draft  ")), null);
  assert.deepEqual(await context.cookies(), []);
  assert.equal(await statusOf(page, "/api/v1/runs"), 401);
  assert.deepEqual([complaints, await refusals(page)], [[], []]);
  await context.close();
});

test("who may only read is told so when they post; a token that is revoked ends what was begun with it", async () => {
  const { page, context } = await openPage(browser, { allow: REFUSED });
  await page.goto(`${server.url}/new`);
  await page.waitForSelector("dialog#sign-in[open]");
  await signIn(page, tokens.read);
  await page.waitForSelector("#user");
  assert.equal(await page.locator("#user").getAttribute("title"), "a-read-token may read");
  await page.waitForSelector("#extent");
  await page.setViewportSize({ width: 390, height: 800 });
  for (const what of ["#user", "#theme-toggle", ".menu summary"]) {
    const { x, width } = await page.locator(what).boundingBox();
    assert.ok(x >= 0 && width > 20 && x + width <= 390, `${what} reaches from ${x} to ${x + width} of 390`);
  }
  await page.setViewportSize({ width: 1440, height: 800 });
  await button(page, "Run").click();
  await page.waitForSelector("text=needs a token for submit");
  command("revoke", "a-read-token");
  await page.goto(`${server.url}/runs`);
  await page.waitForSelector("dialog#sign-in[open]");
  await signIn(page, tokens.read);
  await page.waitForSelector("#sign-in .errline:not(:empty)");
  await context.close();
});

for (const width of [1440, 390]) for (const theme of ["light", "dark"]) test(`the dialog is sound at ${width} pixels, ${theme}, and keeps its place`, async () => {
  const { page, context, complaints } = await openPage(browser, { width, theme, height: 700, allow: REFUSED });
  await page.goto(`${server.url}/runs`);
  await page.waitForSelector("dialog#sign-in[open]");
  await drawn(page);
  await sound(page, complaints);
  const place = () => page.locator("#sign-in").boundingBox();
  const before = await place();
  await signIn(page, "bk_of_nobody");
  await page.waitForSelector("#sign-in .errline:not(:empty)");
  await sound(page, complaints);
  assert.deepEqual(await place(), before);
  await context.close();
});
