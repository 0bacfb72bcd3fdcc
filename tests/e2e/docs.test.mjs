// tests/e2e/docs.test.mjs -- the documentation at /docs: every page and every link of it, anchors, pictures,
// pages that are not there, the way to it from each view, and what the check of its sources finds.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { binary, getJson, startServer } from "../api/harness.mjs";
import { openPage, sound, startBrowser } from "./browser.mjs";
import { docOf } from "../../web/js/model/docs.js";
import { filled, pageOf, partsOf, sectionsOf } from "../../web/docs/docs.mjs";

let server, browser;
before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const names = () => readdirSync("web/docs").filter((f) => f.endsWith(".md")).map((f) => f.slice(0, -3));
const addressOf = (name) => (name === "index" ? "/docs" : `/docs/${name}`);
const pageFile = async (name) => (await getJson(`${server.url}/assets/docs/${name}.json`)).body;

/** Elements of a page with this tag, wherever they are in it. */
const tagged = (trees, tag) => trees.flatMap((t) => (typeof t === "string" ? [] : [...(t[0] === tag ? [t] : []), ...tagged(t.slice(2), tag)]));
const idsOf = (page) => new Set(["h1", "h2", "h3", "h4"].flatMap((h) => tagged(page.body, h)).map(([, { id }]) => id));

test("every page is served, and each link and picture of it leads somewhere", async () => {
  const pages = new Map(await Promise.all(names().map(async (n) => [addressOf(n), await pageFile(n)])));
  assert.ok(pages.size > 15, `${pages.size} pages`);
  const seen = new Set();
  const wrong = [];
  for (const [address, page] of pages) {
    const shell = await fetch(server.url + address);
    assert.equal(shell.status, 200, address);
    assert.match(shell.headers.get("content-type"), /^text\/html/);
    for (const [, { href }] of tagged(page.body, "a")) {
      if (href.startsWith("https:")) continue;
      const [path, id] = href.split("#");
      const target = pages.get(path || address);
      if (id !== undefined && !(target && idsOf(target).has(id))) wrong.push(`${address}: ${href}`);
      else if (path && !seen.has(path) && !(await fetch(server.url + path)).ok) wrong.push(`${address}: ${href}`);
      seen.add(path);
    }
    for (const [, { src, alt, width, height }] of tagged(page.body, "img")) {
      const { ok, headers } = await fetch(server.url + src);
      assert.ok(ok && /^image\//.test(headers.get("content-type")) && alt && width > 0 && height > 0, src);
    }
  }
  assert.deepEqual(wrong, []);
  assert.ok(seen.size > 15, "links were followed");
});

test("what is no page is answered by 404, and says where the pages are", async () => {
  for (const path of ["/docs/nothing", "/docs/index.json", "/docs/..", "/docs/%2e%2e%2fapi", "/docs/cli/more", `/docs/${"x".repeat(3000)}`]) {
    const answer = await fetch(server.url + path, { headers: { Accept: "text/html" }, redirect: "manual" });
    // Where the client itself takes the dots away, another page is asked for.
    assert.ok(answer.status === 404 || new URL(answer.url).pathname === "/", `${path}: ${answer.status}`);
    await answer.body?.cancel();
  }
  assert.equal((await fetch(`${server.url}/assets/docs/nothing.json`)).status, 404);
  const { page } = await openPage(browser, { allow: /status of 404/ });
  await page.goto(`${server.url}/docs/nothing`);
  await page.getByText("The documentation has no page nothing").waitFor();
  await page.locator("main").getByRole("link", { name: "The documentation" }).click();
  await page.locator(".doc h1").waitFor();
  assert.equal(new URL(page.url()).pathname, "/docs");
});

test("a reader goes from page to page, to a heading, and back", async () => {
  const { page, complaints } = await openPage(browser);
  const inSight = (id) => page.waitForFunction((i) => {
    const at = document.getElementById(i)?.getBoundingClientRect();
    return at && at.top >= -1 && at.top < innerHeight / 2;
  }, id);
  await page.goto(`${server.url}/docs`);
  await page.locator(".contents").getByRole("link", { name: "Modes and policies" }).click();
  await page.locator(".doc h1", { hasText: "Modes and policies" }).waitFor();
  assert.equal(await page.locator(".contents a[aria-current=page]").innerText(), "Modes and policies");
  assert.match(await page.title(), /^Modes and policies/);
  await page.locator(".onpage").getByRole("link", { name: "Policies" }).click();
  await inSight("policies");
  // The heading is a place of the page that is shown: nothing is drawn again.
  await page.evaluate(() => (document.querySelector(".doc").dataset.kept = ""));
  await page.locator(".onpage").getByRole("link", { name: "Two stages of breaks" }).click();
  await inSight("two-stages-of-breaks");
  await page.goBack();
  await page.waitForURL(/#policies$/);
  assert.equal(await page.locator(".doc[data-kept]").count(), 1);
  await page.goto(`${server.url}/docs/suites`);
  await page.locator(".doc").getByRole("link", { name: "stages" }).click();
  await page.waitForURL(/\/docs\/modes#two-stages-of-breaks$/);
  await inSight("two-stages-of-breaks");
  await page.goto(`${server.url}/docs/measuring#values`);
  await inSight("values");
  await sound(page, complaints);
});

test("every page, dark and narrow: nothing sticks out, and the list opens", async () => {
  const { page, complaints } = await openPage(browser, { width: 390, height: 844, theme: "dark" });
  for (const name of names()) {
    await page.goto(server.url + addressOf(name));
    await page.locator(".doc h1").waitFor();
    await sound(page, complaints);
  }
  await page.locator(".contents summary").click();
  await page.locator(".contents").getByRole("link", { name: "Glossary" }).click();
  await page.locator(".doc h1", { hasText: "Glossary" }).waitFor();
});

test("the help of every view leads to the part about it", async () => {
  const { page } = await openPage(browser);
  const views = ["/", "/runs", "/new", "/suites", "/suites/1", "/compare", "/history", "/webhooks", "/ops", "/api", "/docs/cli",
    ...["", "breaks", "guards", "graphs", "passes", "timeline", "memory", "source", "torch"].map((t) => `/runs/1${t && `/${t}`}`)];
  const ids = { "/docs/pages": idsOf(await pageFile("pages")) };
  for (const view of views) {
    const [path, id] = docOf(view).split("#");
    assert.ok((await fetch(server.url + path)).ok, view);
    if (id) assert.ok(ids[path]?.has(id), `${view}: ${docOf(view)}`);
  }
  await page.goto(`${server.url}/ops`);
  await page.locator(".optable").waitFor();
  await page.keyboard.press("?");
  await page.getByRole("link", { name: "How to read this page" }).click();
  await page.waitForURL(/\/docs\/pages#ops$/);
  await page.locator(".doc h1").waitFor();
  assert.equal(await page.locator("#help[open]").count(), 0);
});

test("commands, routes and manual pages are those of the program", async () => {
  const run = (...args) => spawnSync(binary, args, { encoding: "utf8" }).stdout;
  const said = (name) => pageFile(name).then((p) => JSON.stringify(p.body));
  const [cli, rest] = [await said("cli"), await said("rest")];
  const commands = [...run("--help").matchAll(/^ {2}(\w+) /gm)].map(([, c]) => c);
  assert.ok(commands.length > 10);
  for (const c of commands) {
    const man = readFileSync(join(binary, `../man/breakeven-${c}.1`), "utf8");
    for (const [, flag] of run(c, "--help").matchAll(/^ {2}(-[\w-]+)/gm)) {
      assert.ok(cli.includes(flag), `${c} ${flag}`);
      assert.ok(man.includes(flag.replaceAll("-", "\\-")), `the manual of ${c} has ${flag}`);
    }
  }
  const { paths } = (await getJson(`${server.url}/api/v1/openapi.json`)).body;
  for (const path of Object.keys(paths)) assert.ok(rest.includes(`"${path}"`), path);
});

test("Markdown becomes elements that are known, and HTML in it fails the build", () => {
  const { title, heads, body } = pageOf("# A `b`\n\ntext [there](cli.md#x) [up](/runs) `<i>` &lt;\n\n## C\n\n- one\n  - two\n\n| a |\n| --: |\n| 1 |\n");
  assert.equal(title, "A b");
  assert.deepEqual(heads, [{ id: "c", text: "C" }]);
  assert.deepEqual(body[1], ["p", {}, "text ", ["a", { href: "/docs/cli#x" }, "there"], " ", ["a", { href: "/runs" }, "up"], " ", ["code", {}, "<i>"], " <"]);
  assert.deepEqual(tagged(body, "td"), [["td", { class: "r" }, "1"]]);
  for (const evil of ["<script>x</script>", "a <b>b</b>", "<img src=x onerror=y>", "<!-- routes --> tail"]) assert.throws(() => pageOf(evil), /there is no html/, evil);
  assert.deepEqual(tagged(pageOf("[x](javascript:alert(1)) [y](data:text/html,x) [z](//evil.example/x)").body, "a").map(([, a]) => a.href), []);
  assert.throws(() => pageOf("## A\n\n## A\n"), /two headings/);
  assert.equal(filled("x\n<!-- t -->\ny", partsOf("<!-- t -->\n\nrow\n\n<!-- u -->\nv\n")), "x\nrow\ny");
  assert.throws(() => filled("<!-- none -->", new Map()), /no table "none"/);
  assert.deepEqual(sectionsOf("# I\n\n## S\n\n- [A](a.md): b\n"), [{ title: "S", pages: ["a"] }]);
});

test("the check of the sources finds what is not there", async () => {
  const faults = {
    "[a](nothing.md)": /nothing\.md: no such file/, "[a](#nowhere)": /#nowhere: no such heading/, "[a](/nowhere)": /\/nowhere: no such route/,
    "`breakeven run FILE --nope`": /run --nope: no such flag/, "`--nix`": /--nix: no such flag/, "`breakeven fly`": /fly: no such command/,
    "`fusion/none.c`": /none\.c: no such file/, "`make nix`": /make nix: no such target/, "`GET /api/v1/nope`": /nope: no such route/,
    "```sh\nbuild/breakeven compare a b --modes x\n```": /compare --modes: no such flag/,
    "```sh\nbuild/tests/test_none\n```": /test_none: no such file/,
  };
  const file = join(server.home, "probe.md");
  const check = () => spawnSync("python3", ["tests/docs.py", file], { encoding: "utf8" });
  for (const [text, said] of Object.entries(faults)) {
    await writeFile(file, `# A\n\n${text}\n`);
    const { status, stdout } = check();
    assert.equal(status, 1, text);
    assert.match(stdout, said);
  }
  await writeFile(file, "# A\n\n[a](#a) [b](/runs/1) `breakeven run FILE --json` `--db FILE` `fusion/fusion.h` `make all` `GET /api/v1/runs/1`\n");
  assert.equal(check().stdout, "");
});
