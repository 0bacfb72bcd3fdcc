// tests/e2e/joined.test.mjs -- one thing is picked in a run: a line finds its ops, kernels and
// breaks on every view, and each of those finds its line.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { drawn, openPage, sound, startBrowser } from "./browser.mjs";

// Line 4 is in graph 0 and breaks, line 5 is in the graph after it.
const BODY = "    if x.abs().sum() > 1:\n        x = torch.relu(x) * 2\n    return torch.softmax(x, -1)";
let server, browser, run;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  run = (await postRun(server, workload(BODY, { backend: "interp", modes: ["eager", "static"] }))).body.id;
  await waitFor(server, run);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

async function open(how, tab, query = "") {
  const opened = await openPage(browser, how);
  await opened.page.goto(`${server.url}/runs/${run}/${tab}${query}`);
  return opened;
}

const bar = (page) => page.getByRole("region", { name: "Picked line" });
const param = (page, name) => new URL(page.url()).searchParams.get(name);

test("a click on a line lists what comes from it; each leads there, with the line marked", async () => {
  const { page, complaints } = await open({}, "source");
  assert.ok(await bar(page).isHidden());
  await page.locator("#L4").click();
  const side = page.locator(".graphside");
  await side.getByRole("heading", { name: "Line 4" }).waitFor();
  assert.match(await side.innerText(), /Breaks\s+data-dependent-branch[^]*Ops\s+abs[^]*gt/);
  assert.match(await bar(page).innerText(), /line 4 [^]*3 ops.*1 break/);
  await side.getByRole("link", { name: "gt", exact: true }).click();
  await page.locator('.graph .on[data-node="gt"]').waitFor();
  assert.deepEqual([param(page, "node"), param(page, "line")], ["gt", "4"]);
  assert.ok((await page.locator(".graph .joined").count()) >= 2);
  await page.getByRole("link", { name: /^Breaks/ }).click();
  assert.equal(await page.locator("#L4").getAttribute("aria-selected"), "true");
  assert.equal(await page.locator(".brks details[open] .kind").innerText(), "data-dependent-branch");
  await sound(page, complaints);
});

test("a box of a graph, a break and a kernel of the timeline each pick their line, and lead to it", async () => {
  const { page } = await open({}, "graphs", "?mode=static");
  await page.locator(".graph:not([aria-busy])").first().waitFor();
  await page.locator('.graph [data-node="abs"] rect').click();
  assert.equal(param(page, "line"), "4");
  await bar(page).getByRole("link", { name: "line 4" }).click();
  await page.locator('#L4[aria-selected="true"]').waitFor();
  await bar(page).getByRole("button", { name: "Clear what is picked" }).click();
  assert.ok(await bar(page).isHidden());
  assert.equal(param(page, "line"), null);
  await page.getByRole("link", { name: "Timeline" }).click();
  await page.locator("canvas").waitFor();
  await drawn(page);
  await page.locator("canvas").focus();
  await page.keyboard.press(".");
  await bar(page).waitFor();
  const line = param(page, "line");
  assert.ok(["4", "5", "6"].includes(line), line);
  await page.locator(`tr.joined[data-lines~="${line}"]`).first().waitFor();
  await page.goto(`${server.url}/runs/${run}/breaks?mode=static&line=6`);
  await page.locator(".brks summary").first().click();
  await page.locator(".brks summary").first().click();
  assert.deepEqual([param(page, "line"), param(page, "break")], ["4", "1"]);
});

test("the line is chosen by keyboard, and the address brings it back on each view", async () => {
  const { page, complaints } = await open({}, "source", "?mode=static");
  await page.getByRole("listbox").focus();
  for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowDown");
  assert.equal(param(page, "line"), "6");
  for (const tab of ["Breaks", "Graphs", "Timeline", "Memory", "Overview", "Source"]) {
    await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: tab }).click();
    await bar(page).getByText("line 6").waitFor();
    assert.equal(param(page, "line"), "6", tab);
  }
  await page.locator('#L6[aria-selected="true"]').waitFor();
  // Of the second graph: its picture is the one that is open.
  await page.goto(`${server.url}/runs/${run}/graphs?mode=static&line=6`);
  await page.locator(".graph .joined").first().waitFor();
  await page.locator('li.joined:has-text("softmax")').first().waitFor();
  assert.deepEqual(complaints, []);
});

for (const [width, theme] of [[1440, "dark"], [390, "light"]])
  for (const tab of ["source", "breaks", "graphs", "timeline"])
    test(`${tab} with a picked line at ${width} px, ${theme}: axe, no sideways scroll`, async () => {
      const { page, complaints } = await open({ width, theme }, tab, "?mode=static&line=4");
      await bar(page).waitFor();
      if (tab === "graphs") await page.locator(".graph .joined").first().waitFor();
      if (tab === "timeline") await page.locator("canvas").waitFor();
      await sound(page, complaints);
    });
