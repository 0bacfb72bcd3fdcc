// tests/e2e/first_view.test.mjs -- how a page comes: what it needs is asked for together with it, once, and
// nothing that has been drawn moves when the rest arrives.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, sweep, waitFor } from "../api/harness.mjs";
import { openPage, shiftsOf, startBrowser, watchShifts } from "./browser.mjs";

let server, browser, run;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  await postRun(server, { ...sweep([1]), backend: "interp" }); // two: the page of who has just begun is start.test.mjs
  run = (await postRun(server, { ...sweep([1, 5, 10]), backend: "interp" })).body.id;
  await waitFor(server, run);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const views = () => [
  ["/runs", ".runs tbody tr"],
  ["/new", "#extent"],
  ["/ops", ".optable"],
  ["/api", ".routes tbody tr"],
  ["/suites", ".state"],
  ["/compare", ".state"],
  ["/history", "#history-runs"],
  [`/runs/${run}`, "#verdict"],
  ...[["breaks", ".code"], ["guards", ".versions"], ["graphs", ".ops"], ["passes", ".diff"], ["memory", ".memchart path"],
    ["source", ".code"], ["timeline", ".tl canvas"], ["torch", "#run-body p"]].map(([tab, ready]) => [`/runs/${run}/${tab}`, ready]),
];

test("scripts and the answer of a view are asked for ahead, and once", async () => {
  for (const [path, ready] of views()) {
    const { page, context, complaints } = await openPage(browser);
    const asked = [];
    page.on("request", (r) => asked.push(new URL(r.url())));
    const response = await page.goto(server.url + path);
    await page.locator(ready).first().waitFor();
    const ahead = [...((await response.headerValue("link")) ?? "").matchAll(/<([^>]+)>; rel=(\w+)/g)];
    const named = new Set(ahead.map((m) => m[1]));
    assert.ok([...named].some((a) => /^\/assets\/[0-9a-f]{12}\/js\/main\.js$/.test(a)), path);
    const answers = ahead.filter((m) => m[2] === "preload").map((m) => m[1]);
    assert.equal(answers.length, path === "/runs" ? 2 : /^\/(compare|history|new)$/.test(path) ? 0 : 1, path);
    const paths = asked.map((u) => u.pathname + u.search);
    for (const a of named) assert.equal(paths.filter((p) => p === a).length, 1, `${path} asks for ${a} once`);
    const views = paths.filter((p) => /^\/assets\/[^/]+\/js\/view\//.test(p));
    for (const v of views) assert.ok(named.has(v), `${path} asks for ${v} only when it has begun`);
    assert.deepEqual(complaints, [], path);
    await context.close();
  }
});

test("nothing that is drawn moves when the rest of a page comes", async () => {
  for (const width of [1440, 390])
    for (const [path, ready] of views()) {
      const { page, context } = await openPage(browser, { width });
      await watchShifts(page);
      await page.goto(server.url + path);
      await page.locator(ready).first().waitFor();
      await page.waitForLoadState("networkidle");
      const { sum, what } = await shiftsOf(page);
      assert.ok(sum < 0.01, `${path} at ${width} px: ${what}`);
      await context.close();
    }
});
