// tests/e2e/speedscope.test.mjs -- what we export, in a viewer that others wrote: speedscope,
// the npm package, served from here as it is.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize } from "node:path";
import { spawnSync } from "node:child_process";
import { binary, HANG_MS, postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { startBrowser } from "./browser.mjs";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const viewer = join(dirname(require.resolve("speedscope/package.json")), "dist/release");
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

let server, browser, files, base, run;
/** Exports by name, as the viewer's own server has them. */
const exports = new Map();
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  files = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname);
    const body = exports.get(path) ?? (await readFile(join(viewer, path)).catch(() => null));
    response.writeHead(body ? 200 : 404, { "Content-Type": types[extname(path)] ?? "application/octet-stream" });
    response.end(body);
  });
  await new Promise((done) => files.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${files.address().port}`;
  run = (await postRun(server, workload("    y = torch.relu(x) * 2\n    print('between')\n    return y.sum()", { backend: "interp" }))).body.id;
  await waitFor(server, run);
  assert.equal(spawnSync(binary, ["import", "--post", server.url, "tests/import/kineto.json"]).status, 0);
});
after(async () => {
  await browser?.close();
  files?.close();
  await server?.stop();
});

/** The same frames, each as long as any other: how long a kernel took must not decide whether its name has room. */
function even(file) {
  for (const p of file.profiles) {
    p.events.forEach((e, i) => (e.at = i));
    Object.assign(p, { startValue: 0, endValue: p.events.length });
  }
  return file;
}

/** Opens an export in speedscope; `shown` holds every text that the flame view drew. */
async function open(id, query) {
  const response = await fetch(`${server.url}/api/v1/runs/${id}/export?${query}`);
  assert.equal(response.status, 200);
  const file = await response.json();
  exports.set("/run.json", Buffer.from(JSON.stringify(file.profiles ? even(file) : file)));
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(HANG_MS / 2);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  // The flame view is drawn on canvases: what it writes there is what a reader sees.
  await page.addInitScript(() => {
    globalThis.shown = new Set();
    const fill = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      globalThis.shown.add(text);
      return fill.call(this, text, ...rest);
    };
  });
  await page.goto(`${base}/index.html#profileURL=${encodeURIComponent(`${base}/run.json`)}`);
  return { page, errors };
}

for (const [name, of, query, kernels] of [
  ["our own format", () => run, "format=speedscope&mode=static", ["fused_relu_mul", "fused_sum"]],
  ["an imported run in our own format", () => run + 1, "format=speedscope", ["triton_red_fused_sum_1"]],
  ["a redacted run", () => run, "format=speedscope&mode=static&redact=1", ["fused_relu_mul", "fused_sum"]],
])
  test(`speedscope's flame view shows the kernels of ${name}`, async () => {
    const { page, errors } = await open(of(), query);
    // In the order of time a call's kernels are a few pixels wide; its flame graph adds them up.
    await page.getByText("Left Heavy").click();
    await page.waitForFunction((names) => names.every((n) => globalThis.shown.has(n)), kernels).catch(async (e) => {
      throw new Error(`drawn: ${JSON.stringify(await page.evaluate(() => [...globalThis.shown]))}`, { cause: e });
    });
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/speedscope-${query.length}.png` });
    assert.deepEqual(errors, []);
    await page.context().close();
  });

test("speedscope reads the Chrome trace too", async () => {
  const { page, errors } = await open(run, "format=chrome&mode=static");
  await page.waitForFunction(() => globalThis.shown.size > 3);
  assert.deepEqual(errors, []);
  await page.context().close();
});
