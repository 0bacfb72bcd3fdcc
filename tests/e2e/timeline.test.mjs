// tests/e2e/timeline.test.mjs -- the timeline of a run in a real browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postLongTrace, postRun, startServer, sweep, until, waitFor, workload } from "../api/harness.mjs";
import { afterTimers, drawn, findings, openPage, refusals, sideways, sound, startBrowser } from "./browser.mjs";
import { decodeTimeline } from "../../web/js/model/timeline.js";

let server, browser, run, swept, long;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  run = (await postRun(server, workload("    y = torch.relu(x) * 2\n    print('between')\n    return y.sum()", { backend: "interp" }))).body.id;
  swept = (await postRun(server, { ...sweep([1, 3]), backend: "interp" })).body.id;
  long = await postLongTrace(server);
  await waitFor(server, run);
  await waitFor(server, swept);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** The window that the address says. @returns {[number, number]} */
const ends = (page) => {
  const q = new URL(page.url()).searchParams;
  return [Number(q.get("t0")), Number(q.get("t1"))];
};
const LEAST_NS = 50; // of a window, on each side of what is fitted into it
const span = (page) => ends(page)[1] - ends(page)[0];
/** Until the address is another, and the last that it will be. */
async function settled(page, before) {
  await page.waitForFunction((b) => location.href !== b, before);
  await afterTimers(page);
}
/** The rows of a table as texts. */
const rows = (page, name) => page.getByRole("region", { name }).locator("tbody tr").evaluateAll((all) => all.map((tr) => [...tr.cells].map((c) => c.textContent)));

async function open(page, id, query = "mode=static") {
  await page.goto(`${server.url}/runs/${id}/timeline?${query}`);
  await page.locator(".tl canvas").waitFor();
  await drawn(page);
  await page.waitForFunction(() => /t1=/.test(location.search));
  await afterTimers(page);
}
/** The sum of a column of shares, where what is less than half of one is no part of the sum. */
const percents = (texts) => Math.round(10 * texts.reduce((n, t) => n + (t === "<0.1 %" ? 0 : parseFloat(t)), 0)) / 10;

test("one call is in sight, its parts add up, and its kernels lead to their lines", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, run);
  assert.match(await page.locator(".timeline .bar h3").first().innerText(), /^\d+ calls of static$/);
  assert.match(await page.locator(".ledger").innerText(), /\d+ kernels recorded\s+0 dropped/);
  const kinds = await rows(page, "Time by kind");
  assert.deepEqual(kinds.map((r) => r[0]), ["Fused kernels", "Guards", "Dispatch", "Allocation", "Launches", "Rest", "1 call"].filter((k) => kinds.some((r) => r[0] === k)));
  assert.equal(kinds.at(-1)[0], "1 call");
  assert.equal(percents(kinds.slice(0, -1).map((r) => r[3])), 100);
  const idle = await rows(page, "Idle by cause");
  assert.equal(idle.find((r) => /print/.test(r[0]))?.[1], "1");
  assert.ok(idle.some((r) => r[0] === "end of the call"));
  assert.deepEqual(idle.slice(-2).map((r) => r[0]), ["Device idle", "Device busy"]);
  assert.equal(percents(idle.slice(-2).map((r) => r[3])), 100);
  const kernels = await rows(page, "Kernels in the visible range");
  assert.equal(kernels.length, 2);
  assert.deepEqual(kernels.map((r) => r[2]), ["1", "1"]);
  await page.getByRole("region", { name: "Kernels in the visible range" }).getByRole("link", { name: "4" }).click();
  await page.waitForURL(/\/source\?.*line=4$/);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});

test("keys zoom, pan, step and point; the address keeps the window", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, run);
  const canvas = page.locator(".tl canvas");
  await canvas.focus();
  const one = span(page);
  let at = page.url();
  await page.keyboard.press("w");
  await settled(page, at);
  assert.ok(Math.abs(span(page) / one - 0.7) < 0.02);
  at = page.url();
  await page.keyboard.press("p");
  await settled(page, at);
  assert.ok(page.url().includes("/timeline"), "n and p are the canvas's own");
  at = page.url();
  await page.keyboard.press("n");
  await settled(page, at);
  assert.ok(page.url().includes("/timeline"));
  await page.keyboard.press(".");
  const facts = page.locator(".three .kv");
  await facts.waitFor();
  assert.match(await facts.innerText(), /Fused kernels/);
  assert.match(await facts.innerText(), /Launched/);
  at = page.url();
  await page.keyboard.press("f");
  await settled(page, at);
  const [t0, t1] = ends(page);
  const [start, duration] = new URL(page.url()).searchParams.get("on").split("-").slice(-2).map(Number);
  assert.ok(t0 <= start && start + duration <= t1, `${t0} to ${t1} has all of ${start} for ${duration}`);
  assert.ok(t1 - t0 <= 1.12 * duration + 2 * LEAST_NS + 2, `${t0} to ${t1} has little but ${start} for ${duration}`);
  at = page.url();
  await page.keyboard.press("0");
  await settled(page, at);
  assert.match((await rows(page, "Time by kind")).at(-1)[0], /^([3-9]|1\d) calls$/);
  const address = page.url();
  await page.reload();
  await page.locator(".tl canvas").waitFor();
  await drawn(page);
  await afterTimers(page);
  assert.equal(page.url(), address);
  assert.deepEqual(complaints, []);
});

test("the legend hides a kind on the canvas, in the address too; the numbers stay", async () => {
  const { page, complaints } = await openPage(browser, { allow: /willReadFrequently/ });
  await open(page, run);
  const ink = () => page.locator(".tl canvas").evaluate((c) => {
    const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) n += data[i] === 0x2f && data[i + 1] === 0x7d && data[i + 2] === 0x95; // --c-fused
    return n;
  });
  const kernels = page.locator(".legend").getByRole("button", { name: "fused kernels" });
  await page.locator(".legend").getByRole("button", { name: "idle", exact: true }).click(); // some of it is hatched in the same colour
  await afterTimers(page);
  const before = [await ink(), await rows(page, "Time by kind")];
  assert.ok(before[0] > 100);
  await kernels.click();
  await page.waitForURL(/hide=idle%2Ckernel/);
  await afterTimers(page);
  assert.equal(await ink(), 0);
  assert.deepEqual(await rows(page, "Time by kind"), before[1]);
  await page.reload();
  await page.locator(".tl canvas").waitFor();
  await drawn(page);
  assert.equal(await kernels.getAttribute("aria-pressed"), "false");
  assert.equal(await ink(), 0);
  await kernels.click();
  await afterTimers(page);
  assert.ok((await ink()) > 100 && !/kernel/.test(page.url()));
  assert.deepEqual(complaints, []);
});

test("what is selected is summed by name, op, line and kernel, sorted, saved, and shown alone", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, long, "t0=1000000&t1=2000000&s0=1200000&s1=1400000");
  await page.getByText("Grouped by name, op, line or kernel").click();
  const table = page.getByRole("region", { name: "Grouped events" });
  await table.waitFor();
  const told = await (await fetch(`${server.url}/api/v1/runs/${long}/timeline/groups?t0=1200000&t1=1400000`)).json();
  assert.equal((await rows(page, "Grouped events")).length, told.rows.length);
  await table.getByRole("button", { name: "Count" }).click();
  await page.waitForFunction(() => document.querySelector(".groups th[aria-sort]")?.textContent === "Count");
  const counts = (await rows(page, "Grouped events")).map((r) => Number(r[1].replace(/,/g, "")));
  assert.deepEqual(counts, [...counts].sort((a, b) => b - a));
  await page.getByRole("group", { name: "Grouped by" }).getByRole("button", { name: "Kernel" }).click();
  await page.waitForFunction(() => document.querySelector(".groups th")?.textContent === "Kernel");
  const first = table.locator("tbody button").first();
  await first.click();
  assert.equal(await first.getAttribute("aria-pressed"), "true");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "CSV" }).click()]);
  assert.match(saved.suggestedFilename(), /groups\.csv$/);
  await sound(page, complaints);
});

test("a kernel of a trace shows the ops and Python frames that launched it", async () => {
  const X = (cat, name, tid, ts, dur, args = {}) => ({ ph: "X", cat, name, pid: 9, tid, ts, dur, args });
  const traceEvents = [
    X("python_function", "train.py(7): step", 1, 0, 100), X("cpu_op", "aten::addmm", 1, 10, 30),
    X("cuda_runtime", "cudaLaunchKernel", 1, 20, 5, { correlation: 3 }), X("kernel", "gemm", 7, 40, 10, { device: 0, stream: 7, correlation: 3 }),
  ];
  const { id } = await (await fetch(`${server.url}/api/v1/imports?name=stacks`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: JSON.stringify({ schemaVersion: 1, traceEvents }) })).json();
  const { page, complaints } = await openPage(browser);
  await open(page, id, "");
  await page.locator(".tl canvas").focus();
  await page.keyboard.press(".");
  const stack = page.locator(".three .stack li");
  await stack.first().waitFor();
  assert.deepEqual(await stack.allInnerTexts(), ["cudaLaunchKernel", "aten::addmm", "step, train.py:7"]);
  await sound(page, complaints);
});

test("SQL answers beside the timeline, and what is wrong is pointed at", async () => {
  const { page, complaints } = await openPage(browser, { allow: /status of 400/ });
  await open(page, long, "t0=1000000&t1=2000000");
  await page.getByRole("button", { name: "SQL", exact: true }).click();
  const text = page.getByLabel("SQL");
  await text.fill("SELECT count(*) AS n FROM kernels");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("region", { name: "Rows of the query" }).waitFor();
  assert.deepEqual(await rows(page, "Rows of the query"), [["10,000"]]);
  await page.getByLabel("what is selected").check();
  await text.press("Control+Enter");
  await page.waitForFunction(() => document.querySelector(".panel td")?.textContent !== "10,000");
  const told = await (await fetch(`${server.url}/api/v1/runs/${long}/timeline/groups?by=kernel&t0=1000000&t1=2000000`)).json();
  assert.deepEqual(await rows(page, "Rows of the query"), [[String(told.events)]]);
  await sound(page, complaints);
  await text.fill("SELECT\n oops FROM kernels");
  await text.press("Control+Enter");
  await page.getByText("Line 2, column 2: no such column: oops").waitFor();
  assert.equal(await text.evaluate((t) => t.value.slice(t.selectionStart, t.selectionEnd)), "o");
  await text.fill("SELECT 'a' AS b");
  const [saved] = await Promise.all([page.waitForEvent("download"), page.locator(".panel").getByRole("button", { name: "CSV" }).click()]);
  assert.match(saved.suggestedFilename(), /query\.csv$/);
});

test("marks are set, named, moved and removed; what lies between is selected; the address has them", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, long, "t0=1000000&t1=2000000");
  const canvas = page.locator(".tl canvas");
  const marks = () => new URL(page.url()).searchParams.get("marks");
  await canvas.focus();
  await page.keyboard.press("Shift+M");
  await page.waitForURL(/marks=1500000/);
  const box = await canvas.boundingBox();
  await page.mouse.dblclick(box.x + 124 + (box.width - 134) * 0.75, box.y + 34 + 20);
  await page.getByRole("region", { name: "Marks" }).locator("tbody tr").nth(1).waitFor();
  const second = Number(marks().split(".")[1].split("~")[0]);
  assert.ok(Math.abs(second - 1750000) < 3000, String(second));
  const name = page.getByLabel("Name of mark 1");
  await name.fill("begins");
  await name.press("Enter");
  await page.waitForURL(/1500000%7Ebegins/);
  await page.evaluate(() => scrollTo(0, 0));
  const now = await canvas.boundingBox(); // the table of marks may have moved it
  await page.mouse.move(now.x + 124 + (now.width - 134) * 0.75, now.y + 34 + 20);
  await page.mouse.down();
  await page.mouse.move(now.x + 124 + (now.width - 134) * 0.25, now.y + 34 + 20, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => /^12[45]\d+~\.1500000~begins$/.test(new URL(location.href).searchParams.get("marks")));
  await page.getByRole("button", { name: /^Select to next, from mark 1/ }).click();
  await page.waitForURL(/s1=1500000/);
  const address = page.url();
  await page.reload();
  await page.getByRole("region", { name: "Marks" }).waitFor();
  await drawn(page);
  assert.equal(new URL(address).searchParams.get("marks"), marks());
  assert.equal(await page.getByLabel("Name of begins").inputValue(), "begins");
  await sound(page, complaints);
  await page.getByRole("button", { name: "Remove begins" }).click();
  await page.getByRole("button", { name: "Remove all" }).click();
  await page.waitForFunction(() => !/marks=/.test(location.search));
  await page.getByRole("region", { name: "Marks" }).waitFor({ state: "detached" });
});

test("lanes are folded, pinned, moved, widened and filtered, by mouse and keys; a run remembers it", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, long);
  const canvas = page.locator(".tl canvas");
  const stored = () => page.evaluate(() => Object.values(JSON.parse(localStorage.getItem("lanes") ?? "{}"))[0] ?? null);
  const height = async () => (await canvas.boundingBox()).height;
  const box = await canvas.boundingBox();
  const all = await height();
  const first = box.y + 34 + 6 + 24 + 4 + 17; // below overview and ruler
  await page.mouse.click(box.x + 30, first);
  await page.waitForFunction((h) => document.querySelector(".tl canvas").clientHeight < h, all);
  const [id] = (await stored()).folded;
  assert.equal(typeof id, "number");
  await page.getByRole("button", { name: "Lanes", exact: true }).click();
  const lanes = page.locator(".panel .lanes li");
  await lanes.first().waitFor();
  const names = () => lanes.evaluateAll((all) => all.map((li) => li.querySelector("button").textContent));
  const before = await names();
  await lanes.nth(1).getByRole("button", { name: /^Move down/ }).press("Enter");
  assert.deepEqual(await names(), [before[0], before[2], before[1], ...before.slice(3)]);
  assert.equal(await page.evaluate(() => document.activeElement.closest("li")?.querySelector("button").textContent), before[1]);
  await lanes.nth(2).getByRole("button", { name: /^Pin/ }).press("Enter");
  assert.equal((await names())[0], before[1]);
  const at = await canvas.boundingBox();
  await page.mouse.move(at.x + 124, at.y + 100);
  await page.mouse.down();
  await page.mouse.move(at.x + 220, at.y + 100, { steps: 3 });
  await page.mouse.up();
  assert.equal((await stored()).left, 220);
  const kept = await stored();
  const now = await height();
  await page.reload();
  await canvas.waitFor();
  await drawn(page);
  assert.deepEqual(await stored(), kept);
  assert.equal(await height(), now);
  await page.getByRole("button", { name: "Lanes", exact: true }).click();
  await page.getByRole("searchbox", { name: "Filter lanes" }).fill("stream 8");
  await afterTimers(page);
  assert.match(page.url(), /lanes=stream\+8/);
  assert.equal(await lanes.count(), 1);
  // What is left out is said, in an address that was sent too, and all come back.
  await page.reload();
  await afterTimers(page);
  await page.getByText("Lanes that have “stream 8” alone.").waitFor();
  await sound(page, complaints);
  await page.getByRole("button", { name: "Lanes", exact: true }).click();
  await page.getByRole("button", { name: "Show all lanes" }).click();
  assert.doesNotMatch(page.url(), /lanes=/);
  assert.ok((await lanes.count()) > 1);
  assert.equal(await page.getByRole("searchbox", { name: "Filter lanes" }).inputValue(), "");
  await page.getByRole("button", { name: "As they came" }).click();
  assert.equal(await stored(), null);
  assert.deepEqual(await refusals(page), []);
});

test("the mouse drags, zooms once the canvas has the focus, and points", async () => {
  const { page } = await openPage(browser);
  await open(page, run);
  const box = await page.locator(".tl canvas").boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height - 28 - 38]; // the kernels, above the memory
  let at = page.url();
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 200, y, { steps: 4 });
  await page.mouse.up();
  await settled(page, at);
  const dragged = span(page);
  await page.locator(".tl canvas").focus();
  at = page.url();
  await page.mouse.wheel(0, -300);
  await settled(page, at);
  assert.ok(span(page) < dragged);
  // A kernel that fills the canvas lies under the pointer.
  await page.keyboard.press(".");
  at = page.url();
  await page.keyboard.press("f");
  await settled(page, at);
  await page.mouse.move(x + 5, y);
  const tip = page.locator(".tip");
  await tip.waitFor({ state: "visible" });
  const seen = await tip.innerText();
  assert.match(seen, /^fused_\w+\n/);
  assert.match(seen, /µs/);
});

test("a finger drags, two pinch, and up and down is left to the page", async () => {
  const { page, context } = await openPage(browser, { width: 390, height: 844 });
  const device = await context.newCDPSession(page);
  await device.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 2 });
  const touch = (type, ...points) => device.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  await open(page, run);
  const from = (page) => Number(new URL(page.url()).searchParams.get("t0"));
  const box = await page.locator(".tl canvas").boundingBox();
  const [x, y] = [box.x + 200, box.y + 100];
  let [at, start, width] = [page.url(), from(page), span(page)];
  await touch("touchStart", [x, y]);
  for (let d = 20; d <= 80; d += 20) await touch("touchMove", [x + d, y]);
  await touch("touchEnd");
  await settled(page, at);
  assert.ok(from(page) < start, "what was before comes into sight");
  assert.ok(Math.abs(span(page) - width) < 2, "and no more than before");
  [at, width] = [page.url(), span(page)];
  await touch("touchStart", [x - 20, y], [x + 20, y]);
  for (let d = 30; d <= 60; d += 10) await touch("touchMove", [x - d, y], [x + d, y]);
  await touch("touchEnd");
  await settled(page, at);
  assert.ok(span(page) < width / 2, `${span(page)} of ${width}`);
  at = page.url();
  await touch("touchStart", [x, y]);
  for (let d = 20; d <= 80; d += 20) await touch("touchMove", [x, y - d]);
  await touch("touchEnd");
  await page.waitForFunction(() => scrollY > 0);
  await afterTimers(page);
  assert.equal(page.url(), at);
});

test("a point of the sweep and a mode are chosen as in other views", async () => {
  const { page } = await openPage(browser);
  await open(page, swept, "mode=eager&n=3");
  assert.equal((await rows(page, "Kernels in the visible range")).length, 4);
  await page.locator("#graph-point").selectOption("0");
  await page.waitForFunction(() => document.querySelectorAll(".kernels tbody tr").length === 2);
});

const query = (page, key) => new URL(page.url()).searchParams.get(key);
const asked = (page, key) => page.waitForFunction((k) => new URL(location.href).searchParams.has(k), key);
const told = (page, text) => page.locator(".told", { hasText: text }).waitFor();

test("events are found by name over the whole run, and gone through with keys and buttons", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, long, "");
  await page.keyboard.press("/");
  await page.keyboard.type("NEEDLE");
  await told(page, "250 found, 250 µs in all");
  assert.equal(query(page, "q"), "NEEDLE");
  await page.keyboard.press("Enter");
  await told(page, "1 of 250");
  assert.equal(query(page, "on").split("-")[1], "3000");
  // What is too short to be seen is zoomed to.
  await page.waitForFunction(() => Number(new URL(location.href).searchParams.get("t1")) < 1e6);
  await page.getByRole("button", { name: "The next one" }).click();
  await told(page, "2 of 250");
  assert.equal(query(page, "on").split("-")[1], "203000");
  await page.locator(".tl canvas").focus();
  await page.keyboard.press("Shift+Enter");
  await told(page, "1 of 250");
  await page.keyboard.press("Shift+Enter"); // round the begin
  await told(page, "250 of 250");
  await page.getByRole("heading", { name: "needle" }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("softmax");
  await told(page, "No event's name has");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !location.search.includes("q="));
  assert.deepEqual(complaints, []);
});

test("what is found is drawn over the whole run, also where longer events hide it", async () => {
  const { page } = await openPage(browser);
  await open(page, long, "");
  const marked = () => page.evaluate(() => {
    const canvas = document.querySelector(".tl canvas");
    const ratio = devicePixelRatio;
    const row = canvas.getContext("2d").getImageData(0, 8 * ratio, canvas.width, 1).data; // above the strip's own bars
    let n = 0;
    for (let i = 0; i < row.length; i += 4) n += row[i + 2] - row[i] > 60 ? 1 : 0;
    return n;
  });
  assert.equal(await marked(), 0);
  await page.getByRole("searchbox").fill("needle");
  await told(page, "250 found");
  await until(async () => (await marked()) > 200, "that what is found is drawn");
});

test("a range is selected by Shift and a drag, along the ruler or in its mode; totals are exact, overlaps once", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, long, "t0=1000000&t1=2000000");
  await page.getByRole("region", { name: "Lanes" }).waitFor();
  const box = await page.locator(".tl canvas").boundingBox();
  const drag = async (y) => {
    await page.mouse.move(box.x + 400, box.y + y);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + y, { steps: 4 });
    await page.mouse.up();
  };
  await page.keyboard.down("Shift");
  await drag(150);
  await page.keyboard.up("Shift");
  await asked(page, "s1");
  await page.getByRole("heading", { name: "Selection" }).waitFor();
  const [s0, s1] = [Number(query(page, "s0")), Number(query(page, "s1"))];
  assert.equal(query(page, "t0"), "1000000"); // it did not move
  const view = await (await fetch(`${server.url}/api/v1/runs/${long}/timeline?t0=${s0}&t1=${s1}`)).arrayBuffer();
  const { lanes } = decodeTimeline(view);
  const shown = await rows(page, "Lanes");
  assert.deepEqual(shown.map((r) => Number(r[1])), lanes.map((l) => l.events));
  assert.deepEqual(shown.map((r) => Math.abs(Number(r[3]) - laneOf(lanes, r[0]).busy_ns / 1000) < 0.5), lanes.map(() => true));
  await page.getByRole("button", { name: "Clear the selection" }).click();
  await page.waitForFunction(() => !location.search.includes("s1="));
  await drag(50); // the ruler
  await asked(page, "s1");
  await page.locator(".tl canvas").focus();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !location.search.includes("s1="));
  await page.getByRole("button", { name: "Select a range" }).click();
  await drag(150);
  await asked(page, "s1");
  assert.deepEqual(complaints, []);
});

const laneOf = (lanes, name) => lanes.find((l) => l.name.toLowerCase() === name.toLowerCase());

test("keys alone select: the event that is pointed at, and its ends moved", async () => {
  const { page } = await openPage(browser);
  await open(page, run);
  await page.locator(".tl canvas").focus();
  await page.keyboard.press(".");
  await page.keyboard.press("m");
  await asked(page, "s1");
  const [, start, length] = query(page, "on").split("-").map(Number);
  assert.deepEqual([Number(query(page, "s0")), Number(query(page, "s1"))], [start, start + length]);
  // The address has the selection before the tables have its figures.
  await until(async () => {
    const kernels = (await rows(page, "Lanes")).find((r) => r[0] === "Kernels");
    return kernels?.[1] === "1" && kernels[4] === "100 %";
  }, "the figures of the one kernel");
  let at = page.url();
  await page.keyboard.press("Shift+ArrowRight");
  await settled(page, at);
  assert.ok(Number(query(page, "s1")) > start + length);
  at = page.url();
  await page.keyboard.press("[");
  await settled(page, at);
  assert.ok(Number(query(page, "s0")) < start);
  await page.keyboard.press("Escape"); // what is pointed at,
  await page.waitForFunction(() => !location.search.includes("on="));
  at = page.url();
  await page.keyboard.press("f"); // so that the selection is fitted
  await settled(page, at);
  assert.deepEqual([query(page, "t0"), query(page, "t1")], [query(page, "s0"), query(page, "s1")]);
  await page.keyboard.press("Escape"); // then the selection
  await page.waitForFunction(() => !location.search.includes("s0="));
});

test("a link opens the same moment, selection, search and slice", async () => {
  const { page } = await openPage(browser);
  await open(page, long, "t0=1000000&t1=2000000&s0=1200000&s1=1400000&q=needle&on=1-1203000-1000");
  await told(page, "250 found");
  await page.getByRole("heading", { name: "needle" }).waitFor();
  await page.getByRole("heading", { name: "Selection" }).waitFor();
  assert.match(await page.locator(".three header", { hasText: "Selection" }).innerText(), /200 µs/);
  const params = new URL(page.url()).searchParams;
  assert.deepEqual(Object.fromEntries(params), { t0: "1000000", t1: "2000000", s0: "1200000", s1: "1400000", q: "needle", on: "1-1203000-1000" });
});

test("the launch of a kernel is found where the picture has no room for it", async () => {
  const { page } = await openPage(browser);
  await open(page, long, "q=needle&t0=0&t1=49000000");
  await told(page, "250 found");
  await page.locator(".tl canvas").focus();
  await page.keyboard.press("Enter");
  await page.locator("dt", { hasText: "Launched" }).waitFor();
  assert.match(await page.locator("dt:has-text('Launched') + dd").innerText(), /^3(\.00)? µs before$/);
});

test("the events are a list too, from which the canvas is reached", async () => {
  const { page } = await openPage(browser);
  await open(page, run);
  await page.getByText("Events as a list").click();
  await page.getByRole("region", { name: "Events", exact: true }).waitFor();
  const list = await rows(page, "Events");
  assert.ok(list.some((r) => r[2] === "Fused kernels") && list.some((r) => /^idle: /.test(r[0])));
  await page.getByRole("region", { name: "Events", exact: true }).getByRole("button", { name: /^fused_/ }).first().click();
  await asked(page, "on");
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "CANVAS");
});

test("names that look like markup are found as they are, and stay text", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, long, `q=${encodeURIComponent("<img src=x onerror=alert(1)>")}`);
  await told(page, "No event's name has \u201c<img src=x onerror=alert(1)>\u201d");
  assert.equal(await page.locator(".told img").count(), 0);
  assert.deepEqual(complaints, []);
});

for (const width of [1440, 390])
  test(`a search and a selection are sound at ${width}`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme: width > 400 ? "light" : "dark" });
    await open(page, long, "t0=1000000&t1=2000000&s0=1200000&s1=1400000&q=needle");
    await told(page, "250 found");
    await page.getByText("Events as a list").click();
    await page.getByRole("region", { name: "Events", exact: true }).waitFor();
    await sound(page, complaints);
  });

for (const width of [1440, 390])
  for (const theme of ["light", "dark"])
    test(`nothing is wrong for assistive technology at ${width}, ${theme}`, async () => {
      const { page } = await openPage(browser, { width, theme });
      await open(page, run);
      assert.deepEqual(await findings(page), []);
      assert.ok((await sideways(page)) <= 0);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/timeline-${width}-${theme}.png`, fullPage: true });
    });
