// tests/e2e/compare.test.mjs -- runs side by side in a real browser: chosen, judged, refused.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { getJson, postRun, startServer, timed, waitFor, workload } from "../api/harness.mjs";
import { openPage, sound, startBrowser, twinNumbers } from "./browser.mjs";

const quick = { backend: "interp", seconds: 0.1, threads: 1, modes: ["eager", "static"], name: "chain" };
const evil = "<img src=x onerror=alert(1)>";
const light = workload("    x = x * 1.1\n    return x.sum()", quick);
const heavy = workload(`    for i in range(60):\n        x = torch.sin(x)\n    print("${evil}")\n    return x.sum()`, { ...quick, commit: "abcdef0123" });
const sweep = (line) => ({ ...workload("    ...\n    return x", { ...quick, name: "swept" }), sweep: { statements: { pool: [line], counts: [1, 4, 8] } } });

let server, browser, ids;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("nothing to compare yet: what the page is for, and the way to a run", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/compare`);
  await page.getByRole("heading", { name: "No runs to compare yet" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Choose runs" }).count(), 0);
  assert.ok(await page.locator(".state a[href='/new']").isVisible());
  await sound(page, complaints);
});

test("from the list by keyboard to the verdict, and what changed", async () => {
  ids = [];
  for (const w of [light, heavy, { ...light, threads: 2 }, sweep("x = x + 1"), sweep("x = torch.sin(x)")]) {
    const { body } = await postRun(server, w);
    assert.equal((await waitFor(server, body.id)).status, "done");
    // What is said of times is said of these; the sweeps took what they took.
    if (w.sweep) ids.push(body.id);
    else ids.push(await timed(server, body.id, w === heavy ? { eager: 60, static: 30 } : { eager: 2, static: 1 }));
  }
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs`);
  await page.locator("input.pick").first().waitFor();
  await page.getByRole("link", { name: "chain", exact: true }).last().focus();
  await page.keyboard.press("x");
  assert.match(await page.getByRole("region", { name: "Selected runs" }).innerText(), new RegExp(`#${ids[0]} is selected; select what to compare it with`));
  await page.keyboard.press("k");
  await page.keyboard.press("x");
  assert.match(await page.getByRole("region", { name: "Selected runs" }).innerText(), new RegExp(`#${ids[1]} beside #${ids[0]}`));
  await sound(page, complaints);
  await page.keyboard.press("c");
  await page.locator("#verdict").waitFor();
  assert.match(page.url(), new RegExp(`/compare\\?a=${ids[0]}&b=${ids[1]}$`));
  assert.match(await page.locator("#verdict").innerText(), /^SLOWER B takes [\d.]+x \([\d.]+–[\d.]+\) as long as A under static: .*\sµs against .*\sµs\. 1 new break.* Changed with it: .*\d+ lines of source\.$/s);
  assert.match(await page.locator("#metrics").innerText(), /static latency[\s\S]*SLOWER[\s\S]*static launches a call[\s\S]*MORE/);
  const main = await page.locator("#comparison").innerText();
  assert.ok(main.includes(`print("${evil}")`), "text of users is text");
  assert.equal(await page.locator("#comparison img").count(), 0);
  assert.match(main, /Kernels\s+\d+ added, \d+ gone/);
  assert.match(main, /source[\s\S]*added[\s\S]*commit\s+none\s+abcdef0123/);
  for (const t of await page.locator("table.changes").all()) {
    const ends = await t.evaluate((el) => [...el.tHead.rows[0].cells].map((c, i) => [c, el.tBodies[0].rows[0].cells[i]].map((x) => Math.round(x.getBoundingClientRect().right))));
    for (const [head, cell] of ends) assert.equal(head, cell, "a head stands over its column");
  }
  await page.getByRole("button", { name: "static, side by side" }).click();
  const both = page.getByRole("region", { name: "Graphs of A and B, static" });
  assert.match(await both.innerText(), /static: \d+ lines of \d+ differ/);
  assert.ok((await both.locator("td.added").count()) >= 60, "each of its sines");
  assert.ok((await both.locator("td.gone").count()) >= 1);
  await sound(page, complaints);
  await page.getByRole("button", { name: "Swap A and B" }).click();
  await page.locator(".verdict .chip.faster").waitFor();
  assert.match(page.url(), new RegExp(`a=${ids[1]}&b=${ids[0]}$`));
  await page.getByRole("link", { name: "All runs" }).click();
  await page.locator("input.pick").first().waitFor();
  await sound(page, complaints);
});

test("what is not comparable is refused with the field, and shown where one insists", async () => {
  const { page, complaints } = await openPage(browser, { width: 390, theme: "dark" });
  await page.goto(`${server.url}/compare?a=${ids[0]}&b=${ids[2]}`);
  await page.locator("#verdict").waitFor();
  assert.match(await page.locator("#verdict").innerText(), /^REFUSED B and A are not comparable: threads 1 against 2\.$/);
  assert.equal(await page.locator("#metrics").count(), 0);
  await sound(page, complaints);
  await page.getByRole("link", { name: "Compare anyway" }).click();
  await page.locator("#metrics").waitFor();
  assert.match(await page.locator(".notice").innerText(), /Compared anyway\. They are not comparable: threads 1 against 2/);
  await sound(page, complaints);
});

test("runs are chosen by search and keyboard: A, B, another B, one more, one less", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/compare`);
  const dialog = page.getByRole("dialog");
  const search = dialog.getByRole("combobox", { name: "Search the runs" });
  await page.getByRole("button", { name: "Choose runs" }).press("Enter");
  await dialog.getByRole("option").first().waitFor();
  assert.match(await dialog.innerText(), /^A: what the others are compared with[\s\S]*5 runs/);
  await sound(page, complaints);
  await page.keyboard.type(`#${ids[0]}`);
  await dialog.getByText("1 run", { exact: true }).waitFor();
  await search.press("Enter");
  await dialog.getByRole("heading", { name: "B: what is compared with A" }).waitFor();
  await dialog.getByRole("option").first().waitFor();
  const first = dialog.getByRole("option", { selected: true });
  assert.match(await first.innerText(), /^chain #/, "runs of A's name come first, without A");
  await page.keyboard.type("abcdef");
  await dialog.getByText("1 run", { exact: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("#metrics").waitFor();
  assert.match(page.url(), new RegExp(`a=${ids[0]}&b=${ids[1]}$`));
  await page.keyboard.press("b");
  await dialog.getByRole("option").first().waitFor();
  await search.press("ArrowDown");
  await search.press("ArrowUp");
  assert.equal(await search.getAttribute("aria-activedescendant"), await first.getAttribute("id"));
  await search.press("Enter");
  await page.getByRole("link", { name: "Compare anyway" }).waitFor();
  assert.match(page.url(), new RegExp(`a=${ids[0]}&b=${ids[2]}$`));
  await page.getByRole("button", { name: "Add a run" }).click();
  await search.fill("abcdef");
  await dialog.getByText("1 run", { exact: true }).waitFor();
  await dialog.getByRole("option").click();
  await page.getByRole("button", { name: "Remove B" }).click();
  await page.locator("#metrics").waitFor();
  assert.match(page.url(), new RegExp(`a=${ids[0]}&b=${ids[1]}$`));
  await page.keyboard.press("m");
  await search.fill("nothing of the kind");
  await dialog.getByText("No run that can be chosen matches.").waitFor();
  await search.press("Enter");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await page.locator("#compare-margin").selectOption("10");
  await page.getByText("beyond 10 % counts").waitFor();
  await page.locator("#compare-metric").selectOption("speedup");
  await page.waitForURL(/margin=10&metric=speedup/);
  await page.getByText(/The speedup of static over eager is the same in B as in A/).waitFor();
  await sound(page, complaints);
});

test("on a narrow page all of a break is in sight, and runs are chosen there too", async () => {
  const { page, complaints } = await openPage(browser, { width: 390 });
  await page.goto(`${server.url}/compare?a=${ids[0]}&b=${ids[1]}`);
  await page.locator("#metrics").waitFor();
  const where = page.locator(".changes td.wrap", { hasText: "print(" }).first();
  const box = await where.boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, JSON.stringify(box));
  await page.getByRole("button", { name: "Change A" }).click();
  await page.getByRole("dialog").getByRole("option").first().waitFor();
  await sound(page, complaints);
});

test("a sweep: both curves from one table, a point chosen, several runs in turn", async () => {
  const { page, complaints } = await openPage(browser);
  // Which mode the verdict is about, and so is shown first, depends on what was measured.
  await page.goto(`${server.url}/compare?a=${ids[3]}&b=${ids[4]}&b=${ids[3]}`);
  await page.locator("#metrics").waitFor();
  const all = (await getJson(`${server.url}/api/v1/compare?a=${ids[3]}&b=${ids[4]}&b=${ids[3]}`)).body;
  assert.equal(await page.locator("#compare-mode").inputValue(), all.comparisons[0].headline?.mode ?? "eager");
  await page.locator("#compare-mode").selectOption("static");
  const series = await twinNumbers(page, "latencies");
  assert.deepEqual(Object.keys(series).sort(), ["A static", "B static", "C static"]);
  assert.deepEqual(series["B static"].map(([n]) => n), [1, 4, 8]);
  const over = await twinNumbers(page, "ratios");
  assert.deepEqual(Object.keys(over), ["B over A static", "C over A static"], "of several runs one mode");
  const { body } = await getJson(`${server.url}/api/v1/compare?a=${ids[3]}&b=${ids[4]}`);
  const of = (n) => body.comparisons[0].figures.find((f) => f.metric === "latency" && f.mode === "static" && f.n === n);
  assert.deepEqual(over["B over A static"], [1, 4, 8].map((n) => [n, of(n).ratio, ...of(n).ci]));
  await page.locator("#compare-mode").selectOption("");
  assert.deepEqual(Object.keys(await twinNumbers(page, "ratios")), ["B over A eager", "B over A static"]);
  assert.match(page.url(), /mode=all/);
  assert.match(await page.locator("#comparison").innerText(), /statements\s+1 line: x = x \+ 1\s+1 line: x = torch\.sin\(x\)/);
  await page.locator("#compare-point").selectOption("4");
  assert.match(page.url(), /[?&]n=4/);
  await page.keyboard.press("Tab");
  await page.locator("main").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("t");
  assert.ok(await page.getByRole("region", { name: "Latency by n, table" }).isVisible());
  await page.getByRole("button", { name: /^C: / }).click();
  assert.match(await page.locator("#comparison").innerText(), /Identical\./);
  await sound(page, complaints);
});

test("from a run to the run of the same workload before it; a run that is not there", async () => {
  const { page, complaints } = await openPage(browser);
  await page.goto(`${server.url}/runs/${ids[4]}`);
  await page.locator("main").getByRole("link", { name: "Compare", exact: true }).click();
  await page.locator("#verdict").waitFor();
  assert.match(page.url(), new RegExp(`a=${ids[3]}&b=${ids[4]}$`));
  await sound(page, complaints);
  const other = await openPage(browser, { allow: /404/ });
  await other.page.goto(`${server.url}/compare?a=${ids[0]}&b=999`);
  await other.page.getByText("there is no run 999").waitFor();
  await other.page.getByRole("button", { name: "Change B" }).waitFor();
  assert.equal(await other.page.getByRole("link", { name: "no such run" }).count(), 0, "a link leads somewhere");
  await sound(other.page, other.complaints);
});

for (const [width, theme] of [[1440, "light"], [390, "dark"]])
  test(`eager that moved too: the speedup leads, and no latency is in colour, at ${width} px`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme });
    const two = [];
    for (const us of [{ eager: 20, static: 10 }, { eager: 14, static: 7 }]) two.push(await timed(server, (await waitFor(server, (await postRun(server, { ...light, name: `drifted ${width}` })).body.id)).id, us));
    await page.goto(`${server.url}/compare?a=${two[0]}&b=${two[1]}`);
    await page.locator("#metrics").waitFor();
    assert.match(await page.locator("#verdict").innerText(), /^SAME The speedup of static over eager is the same in B as in A: 1\.00x .*Eager moved too, to 0\.70x .* of A's time.*the speedup decides, not the latency \(0\.70x\)\.$/s);
    const rows = await page.locator("#metrics tbody tr").evaluateAll((all) => all.map((r) => [r.querySelector("th").innerText.trim(), r.querySelector(".chip")?.className, r.querySelector(".iv")?.getAttribute("class"), r.querySelector(".why")?.innerText ?? ""]));
    const of = (name) => rows.find(([n]) => n === name).slice(1);
    assert.deepEqual(of("static latency"), ["chip aside", "iv flat", "the speedup decides"]);
    assert.deepEqual(of("static speedup over eager").slice(0, 2), ["chip same", "iv flat"]);
    assert.deepEqual(of("eager latency"), ["chip aside", "iv flat", "the control"]);
    assert.equal(await page.locator("#compare-metric").inputValue(), "");
    await sound(page, complaints);
    await page.locator("#compare-metric").selectOption("latency");
    await page.waitForURL(/metric=latency/);
    await page.locator(".verdict .chip.faster").waitFor();
    assert.match(await page.locator(".how").innerText(), /latency decides because it was asked for/);
    await page.locator("#compare-metric").selectOption("");
    await page.locator(".verdict .chip.same").waitFor();
    assert.ok(!page.url().includes("metric="), page.url());
  });

/** A trace of eight steps of three kernels, of which the second takes so many microseconds. */
function trace(us, names) {
  const events = [];
  for (let step = 0; step < 8; step++)
    names.forEach((name, i) => {
      const ts = 100 * step + 20 * i, correlation = 10 * step + i + 1;
      events.push({ ph: "X", cat: "cpu_op", name: `aten::op${i}`, pid: 9, tid: 9, ts, dur: 8 });
      events.push({ ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 9, tid: 9, ts: ts + 2, dur: 3, args: { correlation } });
      events.push({ ph: "X", cat: "kernel", name, pid: 0, tid: 7, ts: ts + 6, dur: (i === 1 ? us : 5) + 0.01 * ((step + i) % 3), args: { correlation, device: 0, stream: 7 } });
    });
  return JSON.stringify({ schemaVersion: 1, traceEvents: events });
}

for (const [width, theme] of [[1440, "light"], [390, "dark"]])
  test(`two timelines from the list: the kernel that is slower leads, with a way to its place, at ${width} px`, async () => {
    const name = `traced ${width}`;
    const two = [];
    for (const [us, names] of [[8, ["first_0", "second_1", "third_2"]], [12, ["first_4", "second_5", "third_6"]]]) {
      const answer = await fetch(`${server.url}/api/v1/imports?name=${encodeURIComponent(name)}`, { method: "POST", body: trace(us, names), headers: { "Content-Type": "application/json" } });
      two.push((await answer.json()).id);
    }
    const { page, complaints } = await openPage(browser, { width, theme });
    await page.goto(`${server.url}/runs/${two[1]}`);
    await page.locator("main").getByRole("link", { name: "Compare", exact: true }).click();
    await page.locator(".rows").first().waitFor();
    assert.match(page.url(), new RegExp(`a=${two[0]}&b=${two[1]}&view=timelines$`));
    assert.match(await page.locator("#verdict").innerText(), /^In a unit of B the device is busy 4\.0\sµs longer than in one of A .*: second_5 slower \+4\.0\sµs\.$/s);
    const first = page.locator(".rows tbody tr").first();
    assert.match(await first.innerText(), /second_5\s+aten::op1\s+slower\s+(A )?8\.01\sµs\s+(B )?12\.0\sµs\s+\+4\.0\sµs/);
    assert.equal(await page.locator(".ties .slice.worse").count(), 2);
    assert.equal(await page.locator("main img").count(), 0, "text of users is text");
    await page.getByRole("button", { name: "With idle time" }).click();
    assert.equal(await page.locator(".ties .slice").count(), 6);
    await page.locator("details summary", { hasText: "within noise" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "What differs by no more than noise, table" }).waitFor();
    await sound(page, complaints);
    await first.getByRole("link", { name: "second_5 in the timeline of B" }).click();
    await page.waitForURL(/\/timeline\?t0=\d+&t1=\d+&s0=\d+&s1=\d+/);
    await sound(page, complaints);
  });
