// tests/e2e/ranks.test.mjs -- the page of the ranks of a job, and one of a job whose ranks differ.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FIGURES } from "../../web/js/model/ranks.js";
import { binary, getJson, startServer } from "../api/harness.mjs";
import { drawn, openPage, sideways, sound, startBrowser } from "./browser.mjs";

let server, browser;
const folder = mkdtempSync(join(tmpdir(), "breakeven-ranks-page-"));
const importJob = (name, ...args) => {
  const path = join(folder, name);
  execFileSync("python3", ["tests/bench/ranks_job.py", path, "--ranks", "4", "--mb", "0.4", ...args]);
  execFileSync(binary, ["import", path, "--post", server.url], { stdio: "ignore" });
};
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  importJob("late", "--straggler", "2");
  importJob("swapped", "--swap", "3:2");
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, { recursive: true });
});

for (const how of [{}, { width: 390, theme: "dark" }])
  test(`ranks say who is late, what each runs and where they wait, at ${how.width ?? 1440} px`, async () => {
    const { page, complaints, context } = await openPage(browser, how);
    const { ranks } = (await getJson(`${server.url}/api/v1/runs/1`)).body.report.import;
    await page.goto(`${server.url}/runs/1`);
    await page.waitForURL(`${server.url}/runs/1/ranks`); // what many ranks say together comes first
    await drawn(page);
    const text = await page.locator("#main").innerText();
    for (const sentence of ranks.sentences) assert.ok(text.replace(/\s+/g, " ").includes(sentence.replace(/\s+/g, " ")), sentence);
    assert.match(text, /Rank 2 comes late to \d+ of its \d+ collectives/);
    assert.match(text, /Collectives that were matched are the same, in the same order, on all ranks\./);
    assert.equal(await page.locator("#rank-bars tbody tr").count(), 4);
    // The late rank stands out, by colour and by words.
    const late = page.locator('#rank-heat tr[data-rank="2"] td').nth(12);
    assert.ok(Number(await late.getAttribute("data-heat")) < 0);
    assert.match(await late.locator("button").getAttribute("aria-label"), /^rank 2, Caused .* ms: what the others waited for it, worse than the middle rank$/);
    // The keys go from figure to figure; one opens its rank.
    await page.locator('#rank-heat tr[data-rank="1"] button').first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator("#rank-tip").innerText(), /^rank 2, Computing/);
    await page.keyboard.press("Enter");
    assert.equal(await page.getByLabel("Rank", { exact: true }).inputValue(), "2");
    assert.match(page.url(), /[?&]rank=2/);
    assert.match(await page.locator("#main").innerText(), /rank-2\.pt\.trace\.json: its head says the rank/);
    // Shares of the path are those of the report.
    const kinds = await page.locator("#path-kinds tbody tr").count();
    assert.equal(kinds, ranks.path.shares.filter((s) => s.us > 0).length);
    assert.equal(await sideways(page), 0);
    await sound(page, complaints);
    await page.getByRole("navigation", { name: "Views of this run" }).getByRole("link", { name: "Timeline" }).click();
    await page.waitForURL(/timeline/);
    await drawn(page);
    // Its lanes are together: the filter takes the number of a rank.
    await page.goto(`${server.url}/runs/1/timeline?lanes=rank%203`);
    await drawn(page);
    if (!(await page.locator(".panel .lanes").count())) await page.getByRole("button", { name: "Lanes", exact: true }).click();
    const lanes = page.locator(".panel .lanes li");
    await lanes.first().waitFor();
    const said = (/** @type {string} */ how) => lanes.evaluateAll((all, how) => all.map((li) => new RegExp(`, Rank 3, its ${how}$`).test(li.querySelector("button").textContent)), how);
    assert.deepEqual(await said("clock .* (fast|slow) \\(±.*\\), put right"), [true, true, true]);
    // Each on its own clock, as the files have them, and back.
    const own = page.getByRole("button", { name: "Own clocks" });
    assert.equal(await own.getAttribute("aria-pressed"), "false");
    await own.click();
    await page.waitForURL(/clocks=recorded/);
    await drawn(page);
    await page.waitForFunction(() => `${document.activeElement.textContent} ${document.activeElement.getAttribute("aria-pressed")}` === "Own clocks true");
    await page.getByRole("button", { name: "Lanes", exact: true }).click();
    await lanes.first().waitFor();
    assert.deepEqual(await said("times .* too (late|early)"), [true, true, true]);
    await own.click();
    await page.waitForURL((url) => !url.searchParams.has("clocks"));
    await drawn(page);
    await context.close();
  });

test("the page, the command and the API say the same of each rank", async () => {
  const { ranks } = (await getJson(`${server.url}/api/v1/runs/1`)).body.report.import;
  const command = (...more) => execFileSync(binary, ["import", join(folder, "late"), ...more], { encoding: "utf8", maxBuffer: 1 << 26 });
  // A file's name is where it lay: the rest is the same to the last digit.
  const bare = (all) => ({ ...all, ranks: all.ranks.map(({ file, ...rank }) => ({ ...rank, file: file.split("/").at(-1) })) });
  assert.deepEqual(bare(JSON.parse(command("--json")).ranks), bare(ranks));
  const lines = command().split("\n"), head = lines.findIndex((line) => line.startsWith("ranks "));
  const printed = lines.slice(head + 1, head + 1 + ranks.ranks.length).map((line) => line.trim().split(/\s+/).slice(0, 9));
  const ms = (us) => (us / 1e3).toFixed(3), percent = (us, r) => ((100 / r.total_us) * us).toFixed(1);
  assert.deepEqual(printed, ranks.ranks.map((r) => [`${r.rank}`, ms(r.total_us), percent(r.computation_us, r), percent(r.communication_us, r),
    `${(100 * r.overlap).toFixed(1)}%`, percent(r.idle_us, r), ms(r.wait_us), `${r.last}`, ms(r.caused_us)]));
  for (const sentence of ranks.sentences) assert.ok(lines.includes(sentence), sentence);
  const { page, complaints, context } = await openPage(browser);
  await page.goto(`${server.url}/runs/1/ranks`);
  await drawn(page);
  const cells = await page.locator("#rank-heat tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
  assert.deepEqual(cells, ranks.ranks.map((r) => [`rank ${r.rank}`, ...FIGURES.map((f) => f.text(f.of(r), r))]));
  const idle = await page.locator("#rank-bars tbody tr").evaluateAll((rows) => rows.map((row) => parseFloat(row.cells[row.cells.length - 2].innerText)));
  idle.forEach((shown, i) => assert.ok(Math.abs(shown - (100 * ranks.ranks[i].idle_us) / ranks.ranks[i].total_us) <= 0.5, `idle ${shown}`));
  await sound(page, complaints);
  await context.close();
});

test("a collective that one rank runs in another order is said first", async () => {
  const { page, complaints, context } = await openPage(browser);
  await page.goto(`${server.url}/runs/2/ranks`);
  await drawn(page);
  const [d] = await page.locator(".differ li").allInnerTexts();
  assert.match(d, /rank 3: .* as collective 2 of group .*, where ranks 0, 1 and 2: /);
  await sound(page, complaints);
  await context.close();
});
