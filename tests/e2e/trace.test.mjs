// tests/e2e/trace.test.mjs -- what another process recorded, in a real browser; CUPTI is a
// stand-in (tests/cupti).
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { binary, getJson, startServer, until, waitFor } from "../api/harness.mjs";
import { findings, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

const [fake, driver] = ["libcupti_fake.so", "driver"].map((f) => join(dirname(binary), "tests/cupti", f));
const without = existsSync(fake) && existsSync(driver) ? false : "no headers of the CUDA Toolkit here";

let server, browser;
before(async () => {
  if (without) return;
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Posts what two processes record, and waits until the run is there. */
async function traced(env) {
  const command = ["sh", "-c", `${driver} 0 & ${driver} 0 & wait`];
  const child = spawn(binary, ["trace", "-o", join(server.home, "out.trace"), "--post", server.url, "--name", "two", "--cupti", fake, "--", ...command], {
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  const done = new Promise((end) => child.on("exit", end));
  const id = await until(async () => {
    const run = (await getJson(`${server.url}/api/v1/runs`)).body.runs[0];
    return run?.status === "running" && run.id;
  }, "that the run begins");
  return { id, done };
}

test("a trace is watched while it records; then its lanes stand by process", { skip: without }, async () => {
  const { page, complaints } = await openPage(browser);
  const end = join(server.home, "end");
  const { id, done } = await traced({ CUPTI_FAKE_KERNELS: "3000", CUPTI_FAKE_STEP: "20", CUPTI_FAKE_MEMORY: "9", CUPTI_FAKE_UNTIL: end });
  await page.goto(`${server.url}/runs/${id}`);
  await page.waitForURL(/\/timeline/);
  await page.locator(".tl canvas").waitFor();
  const kernels = async () => parseInt((await page.locator(".ledger").innerText()).match(/([\d,]+) kernels? recorded/)[1].replace(/,/g, ""));
  const early = await kernels();
  assert.ok(early < 6000);
  writeFileSync(end, "");
  assert.equal(await done, 0);
  await waitFor(server, id);
  await page.waitForFunction(() => /6,000 kernels recorded/.test(document.querySelector(".ledger")?.textContent ?? ""));
  const ledger = await page.locator(".ledger").innerText();
  assert.match(ledger, /0 dropped/);
  assert.match(ledger, /0 doubtful/);
  assert.equal(ledger.match(/at most 4\.\d kB of GPU 0|at most [\d.]+ \w+ of GPU 0/g).length, 2);
  assert.deepEqual(await page.locator(".tabs a").allInnerTexts(), ["Timeline"]);
  assert.match(await page.locator(".head .meta").innerText(), /Processes\s*2/);
  assert.deepEqual(await findings(page), []);
  assert.equal(await sideways(page), 0);
  await page.goto(`${server.url}/runs`);
  assert.match(await page.getByRole("row", { name: /two/ }).innerText(), /recording of .*, [0-9,]+ kernels in/);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});
