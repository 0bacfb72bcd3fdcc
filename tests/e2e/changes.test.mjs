// tests/e2e/changes.test.mjs -- names and tags are edited in their place; several runs are tagged, pinned and deleted, and it is undone.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, postRun, startServer, until, waitFor, workload } from "../api/harness.mjs";
import { drawn, findings, openPage, sideways, sound, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  for (const name of ["one", "two", "three"]) await waitFor(server, (await postRun(server, { ...workload("    return x.sin().sum()"), name, backend: "interp", modes: ["eager", "static"], seconds: 0.05, tags: ["old"] })).body.id);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const runs = async () => (await getJson(`${server.url}/api/v1/runs`)).body.runs;
const names = (page) => page.locator(".runs tbody th a").allInnerTexts();
const rows = (page, n) => page.waitForFunction((n) => document.querySelectorAll(".runs tbody th a").length === n, n);
const open = async (how, path = "/runs") => {
  const opened = await openPage(browser, how);
  await opened.page.goto(server.url + path);
  return opened;
};

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`in the list and on its page a run gets another name and tags, at ${how.width ?? 1440} px`, async () => {
    const { page, complaints, context } = await open(how);
    await rows(page, 3);
    await page.getByRole("link", { name: "two", exact: true }).hover();
    await page.getByRole("button", { name: /Name and tags of two/ }).click();
    assert.deepEqual(await findings(page), []);
    await page.getByLabel("Name", { exact: true }).fill("second");
    await page.getByLabel("Tags, separated by commas").fill("old, h200");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "second", exact: true }).waitFor();
    assert.deepEqual((await runs())[1].tags, ["h200", "old"]);
    assert.match(await page.locator(".runs tbody tr").nth(1).locator("th").innerText(), /h200/);
    assert.equal(await sideways(page), 0);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "two", exact: true }).waitFor();
    assert.deepEqual((await runs())[1].tags, ["old"]);
    await page.getByRole("link", { name: "two", exact: true }).focus();
    await page.keyboard.press("e");
    await page.getByLabel("Name", { exact: true }).fill("never");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "two");
    await page.keyboard.press("Enter");
    await page.locator("#verdict").waitFor();
    await page.getByRole("button", { name: /Name and tags of two/ }).click();
    await page.getByLabel("Name", { exact: true }).fill("zwei");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: /^zwei/ }).waitFor();
    await page.keyboard.press("u");
    await page.getByRole("heading", { name: /^two/ }).waitFor();
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByRole("button", { name: "Unpin" }).waitFor();
    await page.getByRole("button", { name: "Unpin" }).click();
    await page.getByRole("button", { name: "Pin", exact: true }).waitFor();
    await drawn(page);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await context.close();
  });

test("a run is selected while the list is read again", async () => {
  const { page, complaints, context } = await open();
  await rows(page, 3);
  const waiting = [];
  await page.route("**/api/v1/runs?*", (route) => waiting.push(route));
  await page.locator("input.pick").nth(0).check();
  await page.getByRole("button", { name: "Pin", exact: true }).click();
  await until(async () => waiting.length > 0, "the list to be asked for");
  await page.locator("input.pick").nth(1).check();
  await page.getByText("is selected; select what to compare it with").waitFor();
  for (const route of waiting) await route.continue();
  await page.unroute("**/api/v1/runs?*");
  await page.getByRole("button", { name: "Undo" }).click();
  await until(async () => (await runs()).every((r) => !r.pinned), "the pin to go");
  await sound(page, complaints);
  await context.close();
});

test("several are tagged, pinned and deleted by keys, and each is undone", async () => {
  const { page, complaints, context } = await open();
  await rows(page, 3);
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByText("beside #").waitFor();
  await page.keyboard.press("t");
  await page.keyboard.type("gate");
  await page.keyboard.press("Enter");
  await page.getByText("2 runs tagged gate.").waitFor();
  assert.deepEqual((await runs()).map((r) => r.tags.includes("gate")), [true, true, false]);
  await page.keyboard.press("u");
  await until(async () => (await runs()).every((r) => !r.tags.includes("gate")), "the tags to go");
  const boxes = page.locator("input.pick");
  await boxes.nth(0).click();
  await boxes.nth(2).click({ modifiers: ["Shift"] });
  await page.getByText("3 runs selected", { exact: true }).or(page.getByText("#2, #3 beside #1")).first().waitFor();
  await page.keyboard.press("p");
  await page.getByText("3 runs pinned.").waitFor();
  assert.ok((await runs()).every((r) => r.pinned));
  await page.getByText("pinned", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await until(async () => (await runs()).every((r) => !r.pinned), "the pins to go");
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await sound(page, complaints);
  await page.keyboard.press("Delete");
  await page.getByText("2 runs deleted.").waitFor();
  await rows(page, 1);
  assert.deepEqual(await names(page), ["one"]);
  await page.keyboard.press("u");
  await rows(page, 3);
  await page.getByText("2 runs restored.").waitFor();
  assert.deepEqual(await names(page), ["three", "two", "one"]);
  await sound(page, complaints);
  await context.close();
});

test("what was refused is said, and nothing is offered to be undone", async () => {
  const { page, context } = await open();
  await rows(page, 3);
  await page.locator("input.pick").first().check();
  await page.getByLabel("Tags to add").fill("x".repeat(70));
  await page.getByRole("button", { name: "Tag", exact: true }).click();
  await page.getByText(/not changed: tags\[\d\] must be a string of 1 to 64 bytes/).waitFor();
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0);
  await context.close();
});
