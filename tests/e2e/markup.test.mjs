// tests/e2e/markup.test.mjs -- text of users is text on every page: in names, projects, tags, notes, sources,
// inputs, parameters, messages, files and recorded kernels.
//
// Each of those texts is an element that would run a script.  Were it parsed anywhere, it would be found by
// its attribute, whatever the page's policy lets it do.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { binary, getJson, postRun, randn, startServer, suiteEnded, waitFor } from "../api/harness.mjs";
import { afterTimers, openCommand, openPage, refusals, startBrowser, writeSource } from "./browser.mjs";

// Without a slash, so that it may be the name of a file.
const evil = "<img src=x data-owned onerror=globalThis.owned=1><script data-owned>globalThis.owned=1<script>";
const quoted = `"' onmouseover=globalThis.owned=1 data-owned ><b data-owned>`;
const JSON_BODY = { "Content-Type": "application/json" };

let server, browser, ids, suites;
/** The fields that were posted with such a text and taken, by record. */
const taken = new Set();
const isTaken = (record, body) => {
  for (const [field, value] of Object.entries(body)) if (JSON.stringify(value)?.includes("data-owned")) taken.add(`${record}.${field}`);
};
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  ids = [];
  for (const w of [...hostile(), ...(await rarer())]) {
    const { status, body } = await postRun(server, w);
    isTaken("workload", w);
    assert.equal(status, 202, JSON.stringify(body));
    ids.push(body.id);
  }
  for (const id of ids) await waitFor(server, id);
  const note = await getJson(`${server.url}/api/v1/runs/${ids[0]}`, { method: "PATCH", headers: JSON_BODY, body: JSON.stringify({ note: evil, baseline: true }) });
  assert.equal(note.status, 200);
  await importHostile();
  const begun = { name: evil, command: evil, project: evil, tags: [evil.slice(0, 60)] }, ended = { error: evil, import: null };
  const recording = await getJson(`${server.url}/api/v1/traces`, { method: "POST", headers: JSON_BODY, body: JSON.stringify(begun) });
  assert.equal(recording.status, 201, JSON.stringify(recording.body));
  isTaken("workload", begun);
  const over = await getJson(`${server.url}/api/v1/traces/${recording.body.id}/end`, { method: "POST", headers: JSON_BODY, body: JSON.stringify(ended) });
  isTaken("trace_ended", ended);
  assert.equal(over.status, 200, JSON.stringify(over.body));
  ids.push(recording.body.id);
  // What is none of those that there are fails each workload of a suite, with its name.
  suites = [await suiteOf(), await suiteOf(), await suiteOf({ device: evil, backend: evil, engines: [evil] })];
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Runs that are done, that break, and that fail with a message of their own. */
function hostile() {
  const text = JSON.stringify(evil);
  const common = {
    name: evil, title: evil, project: evil, tags: [evil.slice(0, 60)], commit: evil.slice(0, 40), branch: evil.slice(0, 60), calls: [[randn(4), { value: quoted }]],
    modes: ["eager", "static"], backend: "interp", seconds: 0.1,
  };
  const source = (body) => `import torch\n\ndef model(x, s=${JSON.stringify(quoted)}):  # ${evil}\n${body}\n`;
  return [
    { ...common, source: source(`    print(${text}, s)\n    return x + 1`) },
    { ...common, source: source(`    if x.sum() > 0:  # ${evil}\n        print(${text})\n    return x * 2`), name: quoted },
    { ...common, source: source(`    raise ValueError(${text})`) },
  ];
}

/** Several files with a file of weights; a sweep; a change of another program; names of parameters that there are not. */
async function rarer() {
  const common = { ...hostile()[0], calls: [[randn(4)]], modes: ["eager"] };
  const weights = await getJson(`${server.url}/api/v1/files?bytes=5`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: "hello" });
  assert.ok(weights.status < 300, JSON.stringify(weights.body));
  const program = `import torch\n\ndef model(x):  # ${evil}\n    return x + 1\n`;
  return [
    { ...common, source: undefined, files: { [`${evil}.py`]: program }, entry: `${evil}.py:model`, weights: { [`${evil}.pt`]: weights.body.id } },
    { ...common, source: `${program.slice(0, program.indexOf("    return"))}    ...\n    return x\n`, sweep: { statements: { pool: [`x = x + 1  # ${evil}`], counts: [1, 2] } } },
    { ...common, source: program, before: program.replace("x + 1", "1 + x") },
    { ...common, source: `import torch\n\nclass model(torch.nn.Module):\n    def forward(self, x):\n        return x  # ${evil}\n`, params: { [evil]: randn(4) } },
  ];
}

/** Two logs as one run, each a file with such a name; the kernels and breaks in them too. */
async function importHostile() {
  const files = [];
  for (const [from, name] of [["kineto.json", `${evil}.json`], ["torch_trace_2.14.log", `${evil}.log`]]) {
    const inText = JSON.stringify(evil).slice(1, -1);
    const log = (await readFile(`tests/import/${from}`, "utf8")).replaceAll("triton_red_fused_sum_1", inText).replaceAll("/w/m.py", inText);
    files.push(join(server.home, name));
    await writeFile(files[files.length - 1], log);
  }
  const done = spawnSync(binary, ["import", "--post", server.url, ...files], { encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  ids.push((await getJson(`${server.url}/api/v1/runs?limit=1`)).body.runs[0].id);
}

async function suiteOf(more = {}) {
  const workloads = hostile().map((w, i) => ({ ...w, name: `${i}${evil}` }));
  const unread = { name: evil, error: evil };
  const suite = {
    name: evil, workloads: [...workloads, unread], modes: ["static"], seconds: 0.1, backend: "interp", policy: "dynamo",
    project: evil, tags: [evil.slice(0, 60)], commit: evil.slice(0, 40), branch: evil.slice(0, 60), ...more,
  };
  const posted = await getJson(`${server.url}/api/v1/suites`, { method: "POST", headers: JSON_BODY, body: JSON.stringify(suite) });
  assert.equal(posted.status, 202, JSON.stringify(posted.body));
  isTaken("suite_request", suite);
  isTaken("suite_entry", unread);
  await suiteEnded(server, posted.body.id);
  return posted.body.id;
}

/** Nothing was made of it, nothing ran, and nothing had to be refused. */
async function isText(page, where) {
  assert.equal(await page.locator("[data-owned]").count(), 0, `${where}: parsed as elements`);
  assert.equal(await page.evaluate(() => globalThis.owned), undefined, `${where}: ran`);
}

test("no text of users is parsed or run, on any page", async () => {
  const { page, complaints } = await openPage(browser, { allow: /status of 40[049]/ });
  const word = encodeURIComponent(evil);
  const todo = [
    "/runs", `/runs?q=${word}zzz`, `/runs?sort=${word}`, `/runs?project=${word}`, "/suites", `/suites/${suites[1]}?base=${suites[0]}`, `/suites/${suites[2]}`, `/suites/${word}`,
    `/compare?a=${ids[0]}&b=${ids[1]}`, `/compare?a=${ids[0]}&b=${ids[2]}`, `/compare?a=${word}&b=${word}`, `/compare?a=${ids[0]}&b=${ids[1]}&force=1`,
    `/history?workload=${word}`, `/history?workload=${word}zzz`, `/history?workload=${word}&metric=${word}&mode=${word}`, `/ops?q=${word}`,
    `/new?from=${ids[0]}`, `/new?from=${ids[2]}`, `/new?from=${word}`, `/runs/${word}`, `/runs/${ids[0]}/${word}`, `/${word}`,
    ...ids.map((id) => `/runs/${id}`), `/runs/${ids[0]}?mode=${word}&n=${word}&over=${word}`,
  ];
  const seen = new Set();
  let shown = 0;
  while (todo.length) {
    const path = todo.shift();
    if (seen.has(path)) continue;
    seen.add(path);
    await page.goto(server.url + path);
    await page.locator("main h1, main h2").first().waitFor();
    await page.waitForFunction(() => !document.querySelector("main [aria-busy=true]"));
    await afterTimers(page);
    await isText(page, path);
    assert.deepEqual(await refusals(page), [], path);
    if ((await page.locator("main").innerText()).includes("data-owned")) shown++;
    // The tabs of each run, as the page has them.
    todo.push(...(await page.locator(".tabs a").evaluateAll((as) => as.map((a) => a.pathname))));
  }
  assert.ok(seen.size > 40, `${seen.size} pages`);
  assert.ok(shown > 25, `the text itself stands on ${shown} of them`);
  assert.deepEqual(complaints, []);
});

test("nor is it in what a run is exported as", async () => {
  const { page } = await openPage(browser);
  const { formats } = (await getJson(`${server.url}/api/v1/formats`)).body;
  const pictures = formats.filter((f) => /html|svg/.test(f.media_type ?? f.type));
  assert.ok(pictures.length >= 2, JSON.stringify(formats));
  for (const { name } of pictures)
    for (const id of ids) {
      const response = await fetch(`${server.url}/api/v1/runs/${id}/export?format=${name}`);
      if (!response.ok) continue; // a run without graphs has no drawing
      // With no policy around it: what is there would run.
      await page.setContent(await response.text());
      await isText(page, `${name} of ${id}`);
    }
});

test("nor in the form, as it is typed, opened and checked", async () => {
  const { page, complaints } = await openPage(browser, { allow: /status of 4\d\d/ });
  await page.goto(`${server.url}/new`);
  await page.locator("#extent").waitFor();
  await writeSource(page, `import torch\n\ndef model(x):\n    return x.${evil}\n`);
  await page.locator("#name").fill(evil);
  await page.locator("#diags .msg").first().waitFor();
  await page.getByLabel("What varies").selectOption("nothing");
  await openCommand(page);
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  const bad = join(server.home, `${evil}.json`.slice(0, 100));
  await writeFile(bad, `{"source": 1, ${evil}`);
  await page.locator("#file").setInputFiles(bad);
  await page.locator("#diags .msg", { hasText: "is not a workload" }).waitFor();
  await isText(page, "the form");
  assert.deepEqual(await refusals(page), []);
  assert.deepEqual(complaints, []);
});

test("each text that may be posted is one of these, or there is a list of what it may be", async () => {
  const table = ["report", "requests"].map((name) => readFileSync(`profiler/fields/${name}.def`, "utf8")).join("\n");
  const fields = [...table.matchAll(/^FIELD\((workload|suite_request|suite_entry|trace_ended), (\w+), (text|texts|names|value),/gm)];
  assert.ok(fields.length > 30);
  const asked = { workload: ["runs", hostile()[0]], suite_request: ["suites", { name: "s", workloads: hostile().slice(0, 1), modes: ["eager"] }] };
  const values = { text: [evil], texts: [[evil]], value: [{ [evil]: false }, [evil], { [evil]: [0] }] };
  const open = [];
  for (const [, record, field, kind] of fields) {
    if (taken.has(`${record}.${field}`) || `${record}.${field}` === "trace_ended.import") continue; // importHostile()
    const [route, whole] = asked[record] ?? [];
    for (const value of values[kind] ?? []) {
      const { status } = await getJson(`${server.url}/api/v1/${route}`, { method: "POST", headers: JSON_BODY, body: JSON.stringify({ ...whole, [field]: value }) });
      if (status < 400) open.push(`${record}.${field} = ${JSON.stringify(value)}`);
    }
  }
  assert.deepEqual(open, []);
});

test("nor is the name of a user whom a proxy names", async () => {
  const proxied = await startServer({ args: ["--trust-proxy", "127.0.0.1", "--user-header", "X-Forwarded-User"] });
  const { page, context, complaints } = await openPage(browser);
  const headers = { "X-Forwarded-User": evil };
  await context.setExtraHTTPHeaders(headers);
  const posted = await getJson(`${proxied.url}/api/v1/runs`, { method: "POST", headers: { ...JSON_BODY, ...headers }, body: JSON.stringify(hostile()[0]) });
  assert.equal(posted.status, 202, JSON.stringify(posted.body));
  await getJson(`${proxied.url}/api/v1/runs/${posted.body.id}`, { method: "PATCH", headers: { ...JSON_BODY, ...headers }, body: JSON.stringify({ note: "x" }) });
  for (const path of ["/runs", `/runs/${posted.body.id}`, "/new"]) {
    await page.goto(proxied.url + path);
    await page.locator("#user").filter({ hasText: "data-owned" }).waitFor();
    await isText(page, path);
    assert.deepEqual(await refusals(page), [], path);
  }
  assert.deepEqual(complaints, []);
  await proxied.stop();
});
