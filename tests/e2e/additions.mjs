// tests/e2e/additions.mjs -- the pages of a build with the changes of web/docs/additions.md, which
// tests/walks.py makes: node --test runs it there.  SHOTS=FOLDER: the chart at both widths, in both themes.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { join } from "node:path";
import { getJson, postRun, startServer, sweep, waitFor, workload } from "../api/harness.mjs";
import { findings, openPage, refusals, sideways, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The text of a page, once `ready` is there. */
const textAt = async (path, ready) => {
  const { page, complaints } = await openPage(browser);
  await page.goto(server.url + path);
  await page.locator(ready).first().waitFor();
  const text = await page.locator("main").innerText();
  assert.deepEqual(complaints, []);
  return text;
};

test("the op has its line on the page of ops, the route its own on that of the API", async () => {
  assert.match(await textAt("/ops", "main table td"), /cube\s[^]*cummean\s/);
  assert.match(await textAt("/api", "main code"), /\/api\/v1\/runs\/\{id\}\/source\.py/);
});

test("the page of passes says what the pass did, at which line", async () => {
  const { body } = await postRun(server, { ...workload("    y = x > 0\n    return (y & (y | (x > 1))) * 2"), modes: ["eager", "static"], backend: "interp" });
  await waitFor(server, body.id);
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/${body.id}/passes?mode=static`);
  const step = page.locator(".passes > li", { hasText: "absorb" });
  await step.waitFor();
  assert.match(await step.innerText(), /x & \(x \| y\) is x/);
});

test("the chart is drawn at both widths and in both themes, and its table has the numbers", async () => {
  const { body } = await postRun(server, { ...sweep([1, 5, 10]), modes: ["eager", "static"] });
  await waitFor(server, body.id);
  for (const width of [1440, 390])
    for (const theme of ["light", "dark"]) {
      const { page, complaints } = await openPage(browser, { width, theme });
      await page.goto(`${server.url}/runs/${body.id}`);
      await page.waitForFunction(() => document.querySelector("#kernels") && !document.querySelector("main [aria-busy=true]"));
      const drawn = await page.locator("#kernels canvas").evaluate((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0));
      assert.ok(drawn, `${width} ${theme}`);
      assert.equal(await page.locator("#kernels-table tbody tr").count(), 3);
      if (process.env.SHOTS) await page.locator("#kernels").screenshot({ path: join(process.env.SHOTS, `kernels-${width}-${theme}.png`) });
      assert.deepEqual([...(await findings(page)), ...(await refusals(page)), ...complaints, await sideways(page)], [0]);
    }
});

test("the page of an import has the count", async () => {
  const log = 'V1121 10:00:00.000000 7 torch/_dynamo/x.py:1] {"guard_on_data_dependent_error": {"expr": "u0 > 5"}, "frame_id": 0, "frame_compile_id": 0}\n';
  const { status, body } = await getJson(`${server.url}/api/v1/imports?name=guards`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: log });
  assert.equal(status, 201, JSON.stringify(body));
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/runs/${body.id}`);
  const table = page.getByRole("region", { name: "Counted of the log", exact: true });
  assert.match(await table.innerText(), /guards on values of tensors, which could not be decided\s+1/);
});
