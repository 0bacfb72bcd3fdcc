// tests/e2e/pictures.mjs -- makes the pictures of the documentation again: web/docs/images/*.png.
//
//   node tests/e2e/pictures.mjs
//
// It runs two of the examples on this machine, each in full, and takes a picture of their pages: the
// figures in them are of the machine and the hour.  No test reads them.
import { readFileSync } from "node:fs";
import { postRun, startServer, waitFor } from "../api/harness.mjs";
import { afterTimers, openPage, startBrowser } from "./browser.mjs";

const FOLDER = "web/docs/images";
/** Name, example, view of its run, what shows that it is there, height. */
const PICTURES = [
  ["run", "1_chain_sweep", "", "#latency:not([aria-busy]) canvas", 900],
  ["timeline", "70_rerank_breaks", "/timeline", ".tl canvas", 640],
];

const server = await startServer();
const browser = await startBrowser();
try {
  const ids = new Map();
  for (const [, file] of PICTURES) {
    if (ids.has(file)) continue;
    const { title, ...workload } = JSON.parse(readFileSync(`web/examples/${file}.json`, "utf8"));
    const { status, body } = await postRun(server, workload);
    if (status !== 202) throw new Error(`${title}: ${JSON.stringify(body)}`);
    const run = await waitFor(server, body.id);
    if (run.status !== "done") throw new Error(`${title}: ${run.status}: ${run.error?.message}`);
    ids.set(file, body.id);
  }
  for (const [name, file, tab, ready, height] of PICTURES) {
    const { page, context } = await openPage(browser, { width: 1440, height });
    await page.goto(`${server.url}/runs/${ids.get(file)}${tab}`);
    await page.locator(ready).first().waitFor();
    await page.waitForFunction(() => !document.querySelector("main [aria-busy=true]"));
    await afterTimers(page);
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
    await context.close();
    console.log(`${FOLDER}/${name}.png`);
  }
} finally {
  await browser.close();
  await server.stop();
}
