// tests/e2e/kernels.test.mjs -- the kernels of a run, each with its code, in a real browser.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { postRun, startServer, waitFor, workload } from "../api/harness.mjs";
import { drawn, openPage, sound, startBrowser } from "./browser.mjs";

const BODY = "    y = torch.softmax(x @ x.T, -1)\n    print('between')\n    return torch.relu(y).sum() * 2";
let server, browser, run, eager;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  run = (await postRun(server, { ...workload(BODY), name: "some", modes: ["eager", "static"], backend: "cpu", threads: 1, seconds: 0.2 })).body.id;
  eager = (await postRun(server, { ...workload("    return x * 2"), name: "eager", modes: ["eager"], backend: "interp", seconds: 0.1 })).body.id;
  for (const id of [run, eager]) assert.equal((await waitFor(server, id)).status, "done");
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const open = async (page, path) => {
  await page.goto(server.url + path);
  await drawn(page);
};
const param = (page, name) => new URL(page.url()).searchParams.get(name);

test("kernels have a tab of their own; the picked one shows its code, its graph and why it is one", async () => {
  const { page, complaints } = await openPage(browser);
  await open(page, `/runs/${run}/graphs?mode=static`);
  assert.equal(await page.locator("#kernels-table, .roofline").count(), 0); // in one place
  await page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: "Kernels" }).click();
  const rows = page.locator("#kernels-table tbody tr");
  await rows.first().waitFor();
  assert.match(await page.locator(".verdict").innerText(), /kernel/);
  await page.locator(".roofline").waitFor();
  const fused = rows.filter({ hasText: "fused_relu" });
  await fused.getByRole("link", { name: /^fused_relu/ }).click();
  assert.deepEqual([param(page, "graph"), param(page, "kernel")], ["1", "0"]);
  assert.ok(await fused.evaluate((tr) => tr.classList.contains("joined")));
  assert.match(await page.locator(".onekernel .code").innerText(), /void k0p\d/);
  assert.doesNotMatch(await page.locator(".onekernel .code").innerText(), /VECTOR_BYTES/);
  const side = page.locator(".onekernel .graphside");
  assert.match(await side.innerText(), /fused_relu[^]*Why it is a kernel of its own/);
  await page.reload();
  await side.getByText(/fused_relu/).waitFor();
  await side.getByRole("link", { name: "graph 1" }).click();
  await page.waitForURL(/\/graphs\?.*graph=1/);
  assert.deepEqual(complaints, []);
});

test("a picked line picks its kernel; text of the roofline is not under 11 px", async () => {
  const { page } = await openPage(browser);
  await open(page, `/runs/${run}/kernels?mode=static&line=6`);
  await page.locator(".onekernel .graphside").getByText(/relu/).first().waitFor();
  const small = await page.locator(".roof").evaluate((svg) => [...svg.querySelectorAll("text")].filter((t) => parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a < 10.99).map((t) => t.textContent));
  assert.deepEqual(small, []);
});

test("a run of eager alone says that it has none", async () => {
  const { page } = await openPage(browser);
  await open(page, `/runs/${eager}/kernels`);
  assert.match(await page.locator(".state").innerText(), /Eager fuses no kernel/);
});

for (const [width, theme] of [[1440, "light"], [390, "dark"]])
  test(`Kernels at ${width} px, ${theme}: axe, no sideways scroll`, async () => {
    const { page, complaints } = await openPage(browser, { width, theme });
    await open(page, `/runs/${run}/kernels?mode=static`);
    await page.locator(".roofline").waitFor();
    await sound(page, complaints);
  });
