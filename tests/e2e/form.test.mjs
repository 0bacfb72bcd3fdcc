// tests/e2e/form.test.mjs -- wrong input is named at its place; examples and files fill the form.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getJson, longSweep, postRun, randn, startServer, until, waitFor } from "../api/harness.mjs";
import { caretLine, openCommand, openPage, refusals, sourceOf, startBrowser, writeSource } from "./browser.mjs";

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const form = async (how) => {
  const opened = await openPage(browser, how);
  await opened.page.goto(`${server.url}/new`);
  await opened.page.getByRole("button", { name: "Run", exact: true }).waitFor();
  return opened;
};
const refused = { allow: /status of 4\d\d/ };

test("a syntax error shows at its line, and the place is a link to it", async () => {
  const { page, complaints } = await form(refused);
  await page.getByLabel("What varies").selectOption("nothing");
  await writeSource(page, "import torch\n\ndef model(x):\n    y = x +\n    return y\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("#run:not([disabled])").waitFor(); // its answer is there: what is typed now is not under it
  const place = page.locator("#diags .where button");
  await place.waitFor();
  assert.match(await place.textContent(), /^line 4/);
  assert.equal(await page.locator(".cm-gutterElement.e").textContent(), "4");
  assert.ok((await page.locator("#diags .msg").textContent()).length > 10);
  await place.click();
  assert.equal(await caretLine(page), 4);
  await page.locator("#source").press("End");
  await page.locator("#source").pressSequentially(" 1");
  assert.equal(await page.locator(".cm-gutterElement.e").count(), 0);
  assert.match(page.url(), /\/new$/);
  assert.deepEqual(complaints, []);
});

test("what is wrong shows while it is written, and so do breaks", async () => {
  const { page, complaints } = await form();
  await page.getByLabel("What varies").selectOption("nothing");
  await writeSource(page, "import torch\n\ndef model(x):\n    return torch.sinn(x)\n");
  await page.locator("#diags .msg", { hasText: "torch.sin" }).waitFor();
  assert.equal(await page.locator(".cm-gutterElement.e").textContent(), "4");
  await writeSource(page, "import torch\n\ndef model(x):\n    return torch.sin(x)\n");
  await page.locator("#diags li").waitFor({ state: "detached" });
  assert.equal(await page.locator(".cm-gutterElement.e").count(), 0);
  assert.deepEqual(complaints, []);
});

test("a function that is pasted over an example with a sweep: its break is found, and it runs as it is", async () => {
  const { page, complaints } = await form();
  await page.locator("#example").selectOption("chain_sweep");
  await page.locator("#run:not([disabled])").waitFor();
  await writeSource(page, "import torch\n\ndef model(x):\n    if x.sum() > 0:\n        x = x * 2\n    return x + 1\n");
  await page.locator("#diags .sev", { hasText: "Will break" }).waitFor();
  assert.deepEqual(await page.locator(".cm-gutterElement.b").allTextContents(), ["4"]);
  assert.equal(await page.locator("#run").isDisabled(), false);
  await page.getByText("Runs without the sweep: the source has no line `...`.").waitFor();
  assert.match(await page.locator("#extent").innerText(), /^The source has no line `\.\.\.` for the statements, so nothing varies\. 1 point/);
  await page.getByLabel("Threads").fill("x");
  await page.locator("#found", { hasText: "Checked without calls" }).waitFor();
  assert.equal(await page.locator("#run").isDisabled(), true);
  assert.ok(await page.locator("#why", { hasText: "1 field needs another value before it can run" }).isVisible());
  assert.deepEqual(complaints, []);
});

test("an example is checked as it opens: its breaks stand at their lines before anything runs", async () => {
  const { page, complaints } = await form();
  const below = page.locator("details.command");
  const before = await below.boundingBox();
  await page.locator("#example").selectOption("rerank_step");
  await page.locator("#diags .sev", { hasText: "Will break" }).first().waitFor();
  assert.deepEqual(await page.locator(".cm-gutterElement.b").allTextContents(), ["6", "13", "15"]);
  assert.equal(await page.locator(".sq.b").count(), 3);
  assert.match(await page.locator("#found").innerText(), /no error; the graph will break at \d places/);
  assert.deepEqual(await below.boundingBox(), before); // nothing below has moved
  assert.ok((await page.locator("#example optgroup").count()) >= 4);
  await page.getByLabel("Policy").selectOption("native");
  await page.waitForFunction(() => document.querySelectorAll("#diags li").length < 3);
  await page.getByLabel("Shape of w1").fill("255, 512");
  await page.locator("#diags .sev.e").waitFor();
  assert.match(await page.locator("#found").innerText(), /1 error, a run would fail/);
  assert.deepEqual(complaints, []);
});

test("a check that the server is too busy for is asked again, and the page says why it waits", async () => {
  const { page, complaints } = await form({ allow: /status of 503/ });
  const busy = { error: { code: "BUSY", message: "2 checks are under way, the limit; post it again later" } };
  let refusals = 0;
  await page.route("**/api/v1/check*", async (route) => {
    refusals++;
    await route.fulfill({ status: 503, contentType: "application/json", body: JSON.stringify(busy) });
  });
  await page.locator("#example").selectOption("rerank_step");
  await page.locator("#found", { hasText: "2 checks are under way" }).waitFor();
  await page.unroute("**/api/v1/check*");
  await page.locator("#diags .sev", { hasText: "Will break" }).first().waitFor();
  assert.ok(refusals >= 1);
  assert.deepEqual(complaints, []);
});

test("every error of the source is marked, each at its own line and word", async () => {
  const { page, complaints } = await form();
  await page.getByLabel("What varies").selectOption("nothing");
  await writeSource(page, "import torch\n\ndef model(x):\n    y = torch.sinn(x)\n    return torch.coss(y)\n");
  await page.locator("#diags li").nth(1).waitFor();
  assert.deepEqual(await page.locator(".cm-gutterElement.e").allTextContents(), ["4", "5"]);
  assert.deepEqual(await page.locator(".sq.e").allTextContents(), ["torch.sinn", "torch.coss"]);
  await page.locator("#source").press("F8");
  assert.equal(await caretLine(page), 4);
  await page.locator(".cm-diagnostic", { hasText: "torch.sin?" }).waitFor();
  assert.deepEqual(await refusals(page), []);
  assert.deepEqual(complaints, []);
});

test("what is written survives leaving the page, until it is discarded or runs", async () => {
  const { page } = await form();
  const first = await sourceOf(page);
  await page.getByLabel("What varies").selectOption("nothing");
  await page.locator("#source").press("Control+End");
  await page.keyboard.type("# mine");
  await page.getByRole("link", { name: "Ops" }).click();
  await page.getByRole("heading", { name: "Ops" }).waitFor();
  await page.goBack();
  await page.locator("#origin", { hasText: "your draft" }).waitFor();
  assert.equal(await sourceOf(page), `${first}# mine`);
  assert.equal(await page.getByLabel("What varies").inputValue(), "nothing");
  await page.reload();
  await page.getByRole("button", { name: "Discard it" }).click();
  await page.locator("#origin", { hasText: /^not run yet$/ }).waitFor();
  assert.equal(await sourceOf(page), first);
  await page.locator("#source").press("Control+End");
  await page.keyboard.type("# run");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/\d+$/);
  await page.goto(`${server.url}/new`);
  await page.locator("#origin", { hasText: /^not run yet$/ }).waitFor();
  assert.equal(await sourceOf(page), first);
});

test("a draft outlives its window; where the browser has no room for it, the page asks before it goes", async () => {
  const { page, context } = await form();
  await page.locator("#source").press("Control+End");
  await page.keyboard.type("# mine");
  await page.close();
  const again = await context.newPage();
  await again.goto(`${server.url}/new`);
  await again.locator("#origin", { hasText: "your draft" }).waitFor();
  assert.match(await sourceOf(again), /# mine$/);
  const asked = [];
  again.on("dialog", async (dialog) => {
    asked.push(dialog.type());
    await dialog.accept();
  });
  await again.evaluate(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await again.locator("#source").press("Control+End");
  await again.keyboard.type(" too");
  await again.locator("#origin", { hasText: "no room to keep it" }).waitFor();
  await again.goto(`${server.url}/ops`);
  await again.getByRole("heading", { name: "Ops", exact: true }).waitFor();
  assert.deepEqual(asked, ["beforeunload"]);
  await again.evaluate(() => localStorage.setItem("draft  ", '{"source": "of another version"}'));
  await again.goto(`${server.url}/new`);
  await again.locator("#origin", { hasText: /^not run yet$/ }).waitFor();
});

test("the editor colours, searches and matches brackets; its licences are served", async () => {
  const { page, complaints } = await form();
  await writeSource(page, "def model(x):\n    return (x + 1)  # one\n");
  const of = (text) => page.locator("#source span", { hasText: text }).last().evaluate((el) => getComputedStyle(el).color + getComputedStyle(el).fontWeight);
  assert.equal(new Set([await of(/^return$/), await of(/^1$/), await of(/^# one$/), await of(/^model$/)]).size, 4);
  await page.locator("#source").press("Control+Home");
  for (const key of ["ArrowDown", "End", ...Array(7).fill("ArrowLeft")]) await page.keyboard.press(key);
  await page.locator(".cm-matchingBracket").first().waitFor();
  await page.keyboard.press("Control+f");
  await page.locator(".cm-search [name=search]").pressSequentially("x");
  await page.locator(".cm-searchMatch").nth(1).waitFor();
  assert.equal(await page.locator(".cm-searchMatch").count(), 2);
  await page.keyboard.press("Escape");
  assert.match(await (await fetch(`${server.url}/assets/vendor/codemirror.LICENSE.txt`)).text(), /@codemirror\/view [\d.]+, MIT[\s\S]*style-mod [\d.]+, MIT/);
  assert.deepEqual(await refusals(page), []);
  assert.deepEqual(complaints, []);
});

test("names are completed as one types: of modules, of tensors, of self; by keyboard", async () => {
  const { page, complaints } = await form();
  await writeSource(page, "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.mixing = nn.Linear(16, 4)\n\n    def forward(self, x):\n");
  const list = page.locator(".cm-tooltip-autocomplete");
  const source = page.locator("#source");
  await source.press("Control+End");
  for (const [typed, first, rest] of [["        y = F.layer_", "layer_norm", "(x, (16,))"], ["\n        z = y.unsque", "unsqueeze", "(0)"], ["\n        z = self.mi", "mixing", "(z)"], ["\n        return torch.softm", "softmax", "(z, -1)"]]) {
    await source.pressSequentially(typed.replace(/^\n +/, "\n"), { delay: 20 });
    /* What was found for fewer letters is there until more are looked for. */
    await until(async () => (await list.getByRole("option").first().innerText()) === first, `${first} as the first name`);
    await page.waitForTimeout(100); // CodeMirror takes no key for a list that has just come
    await source.press("Enter");
    await list.waitFor({ state: "detached" });
    await source.pressSequentially(rest);
  }
  assert.match(await sourceOf(page), /y = F\.layer_norm\(x, \(16,\)\)\n +z = y\.unsqueeze\(0\)\n +z = self\.mixing\(z\)\n +return torch\.softmax\(z, -1\)$/);
  await page.locator("#found", { hasText: "no error" }).waitFor();
  await source.press("Enter");
  await source.pressSequentially("x = nn.Conv");
  await list.waitFor();
  await source.press("Escape");
  await list.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("an unknown op is named with what was meant", async () => {
  const { page } = await form(refused);
  await page.getByLabel("What varies").selectOption("nothing");
  await writeSource(page, "import torch\n\ndef model(x):\n    return torch.softmx(x)\n");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.locator("#diags .msg", { hasText: "softmax" }).waitFor();
});

test("a field in error names what it accepts, is tied to its message, and holds the button back", async () => {
  const { page } = await form();
  await page.getByLabel("Shape of x").fill("8 by 16");
  const field = page.getByLabel("Shape of x");
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  const message = await page.locator(`#${await field.getAttribute("aria-describedby")}`).textContent();
  assert.match(message, /list of whole numbers/);
  assert.equal(await page.getByRole("button", { name: "Run", exact: true }).isDisabled(), true);
  await page.locator(".head").getByRole("button", { name: "1 field needs another value" }).click();
  assert.equal(await field.evaluate((el) => el === document.activeElement), true);
  await field.fill("8, 16");
  assert.equal(await page.getByRole("button", { name: "Run", exact: true }).isDisabled(), false);
});

test("inputs follow the entry's parameters and keep what was typed", async () => {
  const { page } = await form();
  await page.getByLabel("Shape of x").fill("3, 5");
  await writeSource(page, "import torch\n\ndef model(x, scale):\n    ...\n    return x * scale\n");
  assert.equal(await page.getByLabel("Shape of x").inputValue(), "3, 5");
  await page.getByLabel("Values of scale").selectOption("value");
  await page.getByLabel("Value of scale").fill("2.5");
  await openCommand(page);
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  const { calls } = JSON.parse(await page.getByRole("region", { name: "The same as a command" }).textContent());
  assert.deepEqual(calls, [[{ random: { shape: [3, 5], dtype: "float32", kind: "randn", seed: 0 } }, { value: 2.5 }]]);
});

test("an object of a class of the program is its entry: `model = Gate()`", async () => {
  const { page, complaints } = await form();
  await writeSource(page, "");
  await writeSource(page, "import torch\nfrom torch import nn\n\nclass Gate(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.up = nn.Linear(48, 8)\n\n    def forward(self, x):\n        if x.sum() > 0:\n            x = x / 2\n        return self.up(x)\n\nmodel = Gate()\n");
  await page.locator("#run:not([disabled])").waitFor();
  assert.equal(await page.getByLabel("Entry").inputValue(), "model");
  await page.locator("#found", { hasText: "the graph will break at 1 place" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("Enter indents, Tab indents, Escape and Tab leave the editor", async () => {
  const { page } = await form();
  const source = page.locator("#source");
  await source.press("Control+a");
  await source.press("Delete");
  await source.pressSequentially("def model(x):\nreturn x");
  assert.equal(await sourceOf(page), "def model(x):\n    return x");
  await source.press("Tab");
  assert.equal(await sourceOf(page), "def model(x):\n    return x    ");
  await source.press("Escape");
  await source.press("Tab");
  assert.notEqual(await page.evaluate(() => document.activeElement.className), "editor");
});

test("examples and files fill the form; a broken file is named", async () => {
  const { page } = await form();
  await page.getByLabel("Start from an example").selectOption({ label: "Softmax over rows" });
  assert.match(await sourceOf(page), /amax/);
  const groups = page.locator("#example optgroup");
  assert.equal(await groups.last().getAttribute("label"), "Model blocks of the suite");
  assert.ok((await groups.last().locator("option").count()) >= 30);
  await page.getByLabel("Start from an example").selectOption({ label: "gpt2_block" });
  assert.match(await sourceOf(page), /class |def model/);
  assert.equal(await page.locator("#diags .msg").count(), 0);
  // A model in published style, found by a word and taken by keyboard.
  const search = page.getByLabel("Search the examples");
  await search.fill("vision");
  assert.deepEqual(await groups.evaluateAll((all) => all.map((g) => g.label)), ["Models in published style"]);
  await search.press("Enter");
  assert.match(await sourceOf(page), /A vision transformer in one file/);
  await page.getByLabel("Shape of labels").waitFor();
  await search.fill("no such thing");
  assert.equal(await page.locator("#example option").innerText(), "none found");
  await search.fill("");
  const py = join(server.home, "mine.py");
  await writeFile(py, "import torch\n\ndef model(a, b):\n    return a + b\n");
  await page.locator("#file").setInputFiles(py);
  await page.getByLabel("Shape of b").waitFor();
  assert.equal(await page.locator("#name").inputValue(), "mine");
  const bare = join(server.home, "bare.py");
  await writeFile(bare, "import torch\n\nw = [torch.randn(24, 3)]\n\ndef model(a):\n    return torch.relu(a) @ w[0]\n");
  await page.locator("#file").setInputFiles(bare);
  await page.waitForFunction(() => document.querySelector("[aria-label='Shape of a']")?.value === "8, 24"); // nobody has typed one
  const bad = join(server.home, "bad.json");
  await writeFile(bad, "{ not json");
  await page.locator("#file").setInputFiles(bad);
  await page.locator("#diags .msg", { hasText: "bad.json is not a workload" }).waitFor();
});

test("a file that is dropped on the form fills the form", async () => {
  const { page, complaints } = await form();
  const drop = async (name, text, place = ".editor") => {
    const files = await page.evaluateHandle(
      ([n, t]) => {
        const data = new DataTransfer();
        data.items.add(new File([t], n));
        return data;
      },
      [name, text],
    );
    for (const event of ["dragover", "drop"]) await page.locator(place).dispatchEvent(event, { dataTransfer: files });
  };
  await drop("dropped.py", "import torch\n\ndef model(a, b):\n    return a - b\n");
  await page.getByLabel("Shape of b").waitFor();
  assert.equal(await page.locator("#name").inputValue(), "dropped");
  assert.equal(await page.locator("#origin").textContent(), "from dropped.py, not run yet");
  const whole = { name: "whole", source: "import torch\n\ndef model(q):\n    return q\n", calls: [[randn(2, 3)]], modes: ["eager"] };
  await drop("whole.json", JSON.stringify(whole), "#inputs");
  await page.waitForFunction(() => /** @type {any} */ (document.getElementById("name")).value === "whole");
  assert.equal(await page.getByLabel("Shape of q").inputValue(), "2, 3");
  await drop("picture.png", "no text");
  await page.locator("#diags .msg", { hasText: "picture.png" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("the curl line is whole: pasted in a shell it starts the run", async () => {
  const { page } = await form();
  await page.getByLabel("What varies").selectOption("nothing");
  const line = await page.locator("pre.curl").textContent();
  // Of curl no more than what it is given: the shell's part is what the page is answerable for.
  const told = spawnSync("sh", ["-c", `curl() { printf '%s\\n' "$@"; cat; }\n${line}`], { encoding: "utf8" });
  assert.equal(told.stderr, "");
  const at = told.stdout.indexOf("\n{");
  assert.match(told.stdout.slice(0, at), new RegExp(`-X\nPOST\n${server.url}/api/v1/runs\n-H\nContent-Type: application/json\n--data-binary\n@-`));
  await openCommand(page);
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  assert.equal(told.stdout.slice(at + 1).trim(), (await page.locator("pre.curl").textContent()).trim());
  const { status, body } = await postRun(server, told.stdout.slice(at + 1));
  assert.equal(status, 202);
  await waitFor(server, body.id);
});

test("what running finds is shown at its line with a caret, and leads back to it", async () => {
  const { page, complaints } = await openPage(browser);
  const { body } = await postRun(server, {
    name: "shapes",
    source: "import torch\n\ndef model(x, y):\n    z = x * 2\n    return z + y\n",
    calls: [[randn(8, 16), randn(3)]],
    modes: ["eager", "static"],
    backend: "interp",
  });
  const run = await waitFor(server, body.id);
  assert.equal(run.status, "failed");
  await page.goto(`${server.url}/runs/${body.id}`);
  await page.locator("#failure").waitFor();
  assert.equal(await page.locator("#failure").textContent(), run.error.message.replace(/`/g, ""));
  assert.equal(await page.locator(".code .ln.e").textContent(), "5");
  assert.equal((await page.locator(".caret .bad").textContent()).length, run.error.column);
  await page.getByRole("link", { name: "Edit line 5" }).click();
  await page.waitForURL(/\/new\?from=/);
  await page.waitForFunction(() => document.activeElement.className === "editor");
  assert.deepEqual(complaints, []);
});

test("a run under way can be cancelled from its page", async () => {
  const { page } = await openPage(browser);
  const { body } = await postRun(server, { ...longSweep(), backend: "interp" });
  await page.goto(`${server.url}/runs/${body.id}`);
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Cancelled before it ended").waitFor();
  await waitFor(server, body.id, ["cancelled"]);
});

test("an input is a Python expression; what is wrong in it is said of the input, not of the source", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${server.url}/new`);
  await page.locator("#inputs .inp select").last().selectOption("python");
  const field = page.locator("#inputs .inp input").first();
  await field.fill("torch.randn(rows, 16)");
  await page.locator(".where", { hasText: "input x" }).waitFor();
  await page.getByText("name 'rows' is not defined").waitFor();
  await field.fill("torch.randn(8, 16).t()");
  await page.getByText("Checked: no error").waitFor();
});

test("inputs that the program's own text tells are offered, and taken by one click", async () => {
  const { page, complaints } = await form();
  const inputs = page.locator("#inputs");
  await page.getByLabel("What varies").selectOption("nothing");
  await writeSource(
    page,
    'import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        self.a = nn.Linear(width, 2)\n\n    def forward(self, x, *, scale=1.0):\n        return self.a(x) * scale\n\nif __name__ == "__main__":\n    width = 6\n    net = Net(width)\n    net(torch.randn(4, width), scale=2)\n',
  );
  const offer = page.getByRole("group", { name: "Proposed inputs" });
  await offer.waitFor();
  assert.match(await offer.innerText(), /^Line 15 calls Net\(6\) so:\s+x = torch\.randn\(4, 6\)\s+scale = 2\s/);
  await offer.getByRole("button", { name: "Use these inputs" }).click();
  await offer.waitFor({ state: "detached" });
  assert.equal(await page.locator("#entry").inputValue(), "Net(6)");
  assert.deepEqual(await inputs.locator(".inp code").allTextContents(), ["x", "scale="]);
  assert.equal(await page.getByLabel("Expression of x").inputValue(), "torch.randn(4, 6)");
  assert.equal(await page.getByLabel("Value of scale").inputValue(), "2");
  await page.locator("#found", { hasText: "Checked: no error" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("several mistakes are listed at once: in the source at their lines, and those of inputs by name", async () => {
  const { page, complaints } = await form();
  await page.getByLabel("What varies").selectOption("nothing");
  await writeSource(page, "import torch\n\ndef model(x, y):\n    z = torch.rann(3)\n    w = undefined_name + 1\n    return torch.nn.functional.sofmax(x)\n");
  for (const [name, text] of [["x", "float33[8]"], ["y", "torch.randm(3)"]]) {
    await page.getByLabel(`Values of ${name}`).selectOption("python");
    await page.getByLabel(`Expression of ${name}`).fill(text);
  }
  await page.locator("#found", { hasText: "5 errors" }).waitFor();
  assert.deepEqual((await page.locator("#diags .where").allTextContents()).sort(), ["input x", "input y", "line 4:9", "line 5:9", "line 6:12"]);
  assert.deepEqual(complaints, []);
});

test("a run goes to another machine of the server, and the form of its repetition has it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "breakeven-api-"));
  const site = { executor: "command", title: "a site's queue", server: "http://127.0.0.1:1", submit: ["sh", "-c", "echo job # {script}"], state: ["sh", "-c", "echo waiting # {job}"], cancel: ["sh", "-c", "true # {job}"] };
  await writeFile(join(folder, "hosts.json"), JSON.stringify({ hosts: { site } }));
  const other = await startServer({ folder, args: ["--hosts", join(folder, "hosts.json")] });
  const { page, complaints } = await openPage(browser);
  await page.goto(`${other.url}/new`);
  await page.getByLabel("Machine").selectOption({ label: "site: a site's queue" });
  assert.equal(await page.locator("#device option").count(), 2);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/1/);
  assert.equal((await getJson(`${other.url}/api/v1/runs/1`)).body.host, "site");
  await page.goto(`${other.url}/new?from=1`);
  assert.equal(await page.getByLabel("Machine").inputValue(), "site");
  assert.deepEqual(complaints, []);
  await getJson(`${other.url}/api/v1/runs/1`, { method: "DELETE" });
  await page.close();
  await other.stop();
});
