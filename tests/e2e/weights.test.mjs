// tests/e2e/weights.test.mjs -- a file of weights is attached in the form, and the run reads it.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { startServer, waitFor } from "../api/harness.mjs";
import { openCommand, openPage, refusals, sideways, sound, startBrowser, writeSource } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

for (const [width, theme] of [[1440, "light"], [390, "dark"]])
  test(`a file that is attached goes with the run, ${width} px, ${theme}`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme });
    await page.goto(`${server.url}/new`);
    await page.getByRole("button", { name: "Attach weights" }).waitFor();
    await page.getByLabel("What varies").selectOption("nothing");
    await writeSource(page, readFileSync("tests/weights/gpt.py", "utf8").replace("\"gpt.pt\"", "\"out/best.pt\""));
    await page.locator("#weights-file").setInputFiles("tests/weights/gpt.pt");
    const name = page.getByLabel("The name of gpt.pt in the program");
    await name.waitFor();
    assert.match(await page.locator(".weights code").textContent(), /^sha256:[0-9a-f]{12}$/);
    await name.fill("best.pt");
    await name.press("Tab");
    await page.getByLabel("The name of best.pt in the program").waitFor();
    await openCommand(page);
    await page.getByText("breakeven run", { exact: true }).click();
    assert.match(await page.locator("pre.curl").textContent(), /--weights 'best\.pt=PATH'/);
    assert.ok(await sideways(page) <= 0);
    await sound(page, complaints);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForURL(/\/runs\/\d+/);
    const run = await waitFor(server, /\/runs\/(\d+)/.exec(page.url())[1]);
    assert.equal(run.status, "done", JSON.stringify(run.error));
    assert.equal(run.report.modes.static.calls[0].stdout.split("\n")[0], "<All keys matched successfully>");
    await page.goto(`${server.url}/new?from=${run.id}`);
    await page.getByRole("button", { name: "Remove best.pt" }).click();
    assert.equal(await page.locator(".weights li").count(), 0);
    assert.deepEqual(await refusals(page), []);
    assert.deepEqual(complaints, []);
  });
