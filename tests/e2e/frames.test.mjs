// tests/e2e/frames.test.mjs -- clickjacking: a page of another site has ours in a frame, and shows nothing of it.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { startServer } from "../api/harness.mjs";
import { openPage, startBrowser } from "./browser.mjs";

let server, browser, other, site;
/** What the other site lays over ours: a frame of each path, and nothing else. */
const FRAMED = ["/", "/new", "/runs", "/docs", "/api/v1/runs", "/api/v1/openapi.json", "/healthz", "/nowhere"];
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  other = createServer((request, response) => {
    const ways = { iframe: (u) => `<iframe src="${u}"></iframe>`, object: (u) => `<object data="${u}"></object>`, embed: (u) => `<embed src="${u}">` };
    const way = request.url.slice(1);
    response.setHeader("Content-Type", "text/html");
    response.end(way === "own" ? "<p id=shown>ours</p>" : `<title>another site</title>${way in ways ? FRAMED.map((p) => ways[way](server.url + p)).join("") : '<iframe src="/own"></iframe>'}`);
  }).listen(0, "127.0.0.1");
  await new Promise((done) => other.once("listening", done));
  site = (host) => `http://${host}:${other.address().port}`;
});
after(async () => {
  await browser?.close();
  other?.close();
  await server?.stop();
});

/** The texts that the frames of a page show, once all of them have come to an end. */
async function shown(page, url) {
  await page.goto(url, { waitUntil: "load" });
  const texts = [];
  for (const frame of page.frames().slice(1)) texts.push({ url: frame.url(), text: await frame.evaluate(() => document.body?.innerText ?? "").catch(() => "") });
  return texts;
}

test("a frame of another origin shows nothing of the page, whatever its path and however it is framed", async () => {
  const { page } = await openPage(browser, { allow: /./ });
  // This is how a frame that shows something looks here.
  assert.deepEqual((await shown(page, `${site("127.0.0.1")}/`)).map((f) => f.text), ["ours"]);
  const answered = [];
  page.on("response", (r) => { if (r.url().startsWith(server.url)) answered.push(r.url()); });
  for (const host of ["127.0.0.1", "localhost"]) // another origin of the same site, and another site
    for (const way of ["iframe", "object", "embed"]) {
      const frames = await shown(page, `${site(host)}/${way}`);
      for (const { url, text } of frames) {
        assert.ok(!url.startsWith(server.url), `${host} ${way}: ${url} is shown`);
        assert.doesNotMatch(text, /Breakeven|breakeven|"runs"|"status"|"error"/, `${host} ${way}`);
      }
      if (way === "iframe") assert.equal(frames.length, FRAMED.length, host);
    }
  assert.ok(answered.length > 0, "they were asked for");
});

test("nor does a frame of our own origin", async () => {
  const { page } = await openPage(browser, { allow: /./ });
  await page.goto(`${server.url}/docs`);
  await page.evaluate(() => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.onload = done;
    frame.src = "/runs";
    document.body.append(frame);
  }));
  for (const frame of page.frames().slice(1)) assert.ok(!frame.url().startsWith(server.url), frame.url());
});
