// tests/e2e/files.test.mjs -- programs of several files in the form and on the page of the source.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { postRun, randn, startServer, waitFor } from "../api/harness.mjs";
import { drawn, openPage, sideways, sound, sourceOf, startBrowser } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const files = {
  "train.py": "import torch\nfrom net.block import Block\n\nblock = Block()\n\n\ndef get_args():\n    return None\n\n\ndef step(x):\n    return block(x).sum()\n\n\nif __name__ == '__main__':\n    step(torch.randn(4, 8))\n",
  "net/__init__.py": "",
  "net/block.py": "import torch\nfrom torch import nn\n\n\nclass Block(nn.Module):\n    def forward(self, x):\n        if x.sum() > 1000:\n            x = x + 1\n        return torch.sin(x)\n",
};

function folder() {
  const root = join(mkdtempSync(join(tmpdir(), "breakeven-e2e-")), "repo-main");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  writeFileSync(join(root, "README.md"), "not of the program\n");
  return root;
}

function zip() {
  const root = folder();
  const made = `${root}.zip`;
  assert.equal(spawnSync("python3", ["-m", "zipfile", "-c", made, root]).status, 0);
  return made;
}

async function form(how) {
  const opened = await openPage(browser, how);
  await opened.page.goto(`${server.url}/new`);
  await opened.page.getByRole("button", { name: "Run", exact: true }).waitFor();
  return opened;
}
const tree = (page) => page.getByRole("navigation", { name: "Files", exact: true });

for (const [what, field, give] of [["a .zip", "#file", zip], ["a folder", "#folder", folder]]) {
  test(`${what} is opened, its entry proposed, and what its files break at is found`, async () => {
    const { page, complaints } = await form();
    await page.locator(field).setInputFiles(give());
    await tree(page).getByRole("button", { name: "block.py" }).waitFor();
    assert.deepEqual(await tree(page).getByRole("button").allTextContents(), ["__init__.py", "block.py", "train.py"]);
    assert.equal(await page.locator("#entry").inputValue(), "step");
    assert.equal(await page.locator("#file-name").textContent(), "train.py");
    const place = page.locator("#diags .where button", { hasText: "net/block.py:7" });
    await place.click();
    assert.equal(await page.locator("#file-name").textContent(), "net/block.py");
    assert.equal(await sourceOf(page), files["net/block.py"]);
    assert.deepEqual(await page.locator(".cm-gutterElement.b").allTextContents(), ["7"]);
    assert.deepEqual(complaints, []);
  });
}

test("a file that is edited is what runs; its run has the tree, and is run again", async () => {
  const { page, complaints } = await form();
  await page.locator("#file").setInputFiles(zip());
  await tree(page).getByRole("button", { name: "block.py" }).click();
  await page.locator("#source").press("Control+End");
  await page.locator("#source").pressSequentially("# edited");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/runs\/\d+/);
  const id = /runs\/(\d+)/.exec(page.url())[1];
  await page.locator("#verdict").waitFor();
  await page.goto(`${server.url}/runs/${id}/source`);
  await tree(page).getByRole("button", { name: "block.py" }).click();
  assert.match(page.url(), /file=net%2Fblock\.py/);
  assert.match(await page.locator(".code").textContent(), /# edited/);
  assert.match(await tree(page).textContent(), /block\.pybreaks in 1 line/);
  for (const how of [{ width: 1440 }, { width: 390 }, { width: 390, theme: "dark" }, { width: 1440, theme: "dark" }]) {
    const { page: other, complaints: others } = await openPage(browser, how);
    for (const at of [`runs/${id}/source`, `new?from=${id}`]) {
      await other.goto(`${server.url}/${at}`);
      await tree(other).waitFor();
      if (process.env.SHOTS) await other.screenshot({ path: join(process.env.SHOTS, `files-${at.replace(/\W/g, "")}-${how.width}-${how.theme ?? "light"}.png`), fullPage: true });
      await sound(other, others);
    }
    await other.context().close();
  }
  assert.deepEqual(complaints, []);
});

test("a long path and a long name never make a narrow page scroll sideways", async () => {
  const path = `experiments_of_last_year/${"a_file_with_a_long_name_".repeat(3)}and_more.py`;
  const name = "a_run_with_a_long_name_".repeat(5);
  const posted = await postRun(server, { files: { [path]: "import torch\n\n\ndef model(x):\n    if x.sum() > 0:\n        x = x * 2\n    return torch.relu(x)\n" }, entry: `${path}:model`, name, calls: [[randn(4, 4)]], modes: ["eager", "static"], backend: "interp", seconds: 0.05 });
  assert.equal(posted.status, 202, JSON.stringify(posted.body));
  const { id } = await waitFor(server, posted.body.id);
  const { page, complaints, context } = await openPage(browser, { width: 390 });
  for (const place of ["/runs", `/runs/${id}`, ...["source", "breaks", "graphs", "kernels", "timeline", "memory", "passes", "guards"].map((tab) => `/runs/${id}/${tab}`), `/history?workload=${name}`, `/compare?a=${id}&b=${id}`]) {
    await page.goto(server.url + place);
    await drawn(page);
    assert.equal(await sideways(page), 0, place);
  }
  const file = join(server.home, `${"a_file_with_a_long_name_".repeat(3)}and_more.py`);
  writeFileSync(file, "import torch\n\n\ndef model(x):\n    return torch.relu(x)\n");
  await page.goto(`${server.url}/new`);
  await page.locator("input[type=file]").first().setInputFiles(file);
  await page.locator("#origin", { hasText: "and_more.py" }).waitFor();
  assert.equal(await sideways(page), 0, "a file of a long name in the form");
  assert.deepEqual(complaints, []);
  await context.close();
});
