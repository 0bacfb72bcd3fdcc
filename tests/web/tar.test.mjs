// tests/web/tar.test.mjs -- several files as one .tar, as tar itself reads it; what a file is.
import test from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { kindOfFile, tarOf } from "../../web/js/model/tar.js";

test("tar reads what the page makes, of names of any length", async () => {
  const long = `job/${"a-long-name-".repeat(12)}ü.log`;
  const files = [["job/rank_0.log", "first"], [long, "second\n".repeat(200)], ["empty", ""], ["x".repeat(100), "edge"]].map(([path, text]) => ({ path, file: new Blob([text]) }));
  const tar = Buffer.from(await tarOf(files).arrayBuffer());
  assert.equal(tar.length % 512, 0);
  assert.deepEqual(execFileSync("tar", ["--quoting-style=literal", "-tf", "-"], { input: tar, encoding: "utf8" }).trim().split("\n"), files.map((f) => f.path));
  assert.equal(execFileSync("tar", ["-xOf", "-", long], { input: tar, encoding: "utf8" }), "second\n".repeat(200));
});

test("what a file is", () => {
  const cases = {
    program: [["m.py", "import torch"], ["n.ipynb", "{"]],
    result: [["r.json", '{"benchmarks": ['], ["t.csv", "dev,name"], ["m.pt", "PK"]],
    log: [["t.json", '{ "schemaVersion": 1,'], ["t.json", '[{"name": "x", "ph": "X"'], ["l.log", "V1121 10:00:00.000000 77 torch/x.py:1] {"], ["t.json.gz", "\x1f\x8b"], ["x.txt", "Metric: CompileTime"], ["blank.json", "  "]],
  };
  for (const [kind, all] of Object.entries(cases)) for (const [name, start] of all) assert.equal(kindOfFile(name, start), kind, name);
});
