// tests/web/workload.test.mjs -- form to workload and back, programs, commands.
import test from "node:test";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import {
  axisTitle,
  describeCall,
  describeSweep,
  describeValue,
  extent,
  fromForm,
  newProposal,
  newRow,
  rowsFor,
  takeProposal,
  toForm,
  wholeNumbers,
} from "../../web/js/model/workload.js";
import { entries, entryAfter, hasDots, parameters, tokenLines, isAnother } from "../../web/js/model/source.js";
import { curlLine, fileStem, runLine, watchLine } from "../../web/js/model/commands.js";
import { exampleGroups, findExamples } from "../../web/js/model/workload.js";
import { aloneText, drops, parseQuery } from "../../web/js/model/query.js";
import { splitRows } from "../../web/js/model/split.js";
import { graphCount, graphRows } from "../../web/js/model/graphs.js";
import { machineFacts, orderFacts, stateFacts } from "../../web/js/model/machine.js";
import { inOrder, letters } from "../../web/js/model/modes.js";

const folder = new URL("../../web/examples/", import.meta.url);
const examples = readdirSync(folder).map((f) => JSON.parse(readFileSync(new URL(f, folder), "utf8")));

for (const { title, ...example } of examples) {
  test(`the form gives back the example: ${title}`, () => {
    const { workload, errors } = fromForm(toForm(example, parameters));
    assert.deepEqual(errors, []);
    assert.deepEqual(workload, { entry: "model", device: "cpu", ...example });
  });
}

test("a dtype of autocast is a field of the form", () => {
  const form = toForm({ source: "def model(x): return x", calls: [[]], autocast: "bfloat16" }, parameters);
  assert.equal(form.autocast, "bfloat16");
  assert.equal(fromForm(form).workload.autocast, "bfloat16");
  form.autocast = "";
  assert.equal("autocast" in fromForm(form).workload, false);
});

test("what the form does not show is kept", () => {
  const w = {
    name: "a",
    source: "def model(x, y): return x",
    entry: "model",
    deny: ["sin"],
    time: { static: [0] },
    modes: ["static"],
    device: "cpu",
    threads: 2,
    calls: [
      [{ tensor: { shape: [1], dtype: "float32", data: [1] } }, { value: 2.5 }],
      [{ value: 1 }, { value: 2 }],
    ],
  };
  assert.deepEqual(fromForm(toForm(w, parameters)).workload, w);
});

test("bad fields are named and say what is accepted", () => {
  const f = toForm(
    { source: "def model(x):\n    ...\n    return x", calls: [[{ random: { shape: [8], dtype: "float32", kind: "randn" } }]] },
    parameters,
  );
  Object.assign(f, { sweep: "statements", pool: "", counts: "1, two", threads: "x", modes: [] });
  f.inputs[0].shape = "8 by 16";
  assert.deepEqual(
    fromForm(f)
      .errors.map((e) => e.field)
      .sort(),
    ["counts", "input-0", "modes", "pool", "threads"],
  );
  f.source = "def model(x):\n    return x"; // it has no place for statements: nothing varies
  assert.deepEqual(fromForm(f).errors.map((e) => e.field).sort(), ["input-0", "modes", "threads"]);
  assert.equal(fromForm(f).workload.sweep, undefined);
});

test("a value is a JSON value or a Python constant", () => {
  const f = toForm({ source: "def model(flag): return flag", calls: [[{ value: true }]] }, parameters);
  f.inputs[0].text = "False";
  assert.deepEqual(fromForm(f).workload.calls, [[{ value: false }]]);
  f.inputs[0].text = "import os";
  assert.equal(fromForm(f).errors.length, 1);
});

test("whole numbers with commas or spaces, nothing else", () => {
  assert.deepEqual(wholeNumbers("8, 16", 0), [8, 16]);
  assert.deepEqual(wholeNumbers("[8 16]", 0), [8, 16]);
  assert.deepEqual(wholeNumbers("", 0), []);
  for (const bad of ["8.5", "-1", "1e3", "8x", "99999999999999999999"]) assert.equal(wholeNumbers(bad, 0), null, bad);
});

test("the extent counts points and modes", () => {
  assert.equal(extent({ ...toForm(examples[0], parameters) }), "7 points, 3 modes.");
  assert.equal(extent({ ...toForm({ source: "" }, parameters), modes: ["eager"] }), "1 point, 1 mode.");
});

test("parameters are read through annotations, defaults and line breaks", () => {
  assert.deepEqual(
    parameters("def model(\n  x: torch.Tensor,\n  w: dict[str, int],\n  eps=1e-5,\n  *rest):\n  pass", "model"),
    ["x", "w"],
  );
  assert.deepEqual(parameters("def model():\n  pass", "model"), []);
  assert.equal(parameters("def model(x", "model"), null);
  assert.equal(parameters("def other(x): pass", "model"), null);
});

test("entries are the functions and classes at the margin", () => {
  assert.deepEqual(
    entries("def a(x):\n    def inner(): pass\nclass Net(nn.Module):\n    def forward(self): pass\ndef b(): pass"),
    ["a", "Net", "b"],
  );
});

test("an object of a class of the program may be the entry, with the parameters of its forward", () => {
  const text = "class Net(nn.Module):\n    def forward(self, x, mask=None):\n        return x\n\nnet = Net(8)\nsize = max(1, 2)\nopt = torch.optim.SGD(net.parameters())\nmodel = Net(4)\n";
  assert.deepEqual(entries(text), ["Net", "net", "model"]);
  assert.deepEqual(parameters(text, "model"), ["x"]);
  assert.equal(parameters(text, "size"), null);
});

test("the line of three dots is found only where it is alone", () => {
  assert.equal(hasDots("def model(x):\n    ...\n"), true);
  assert.equal(hasDots("x[..., 0]"), false);
});

test("tokens put back together are the line", () => {
  for (const text of [
    "    if x > 0:  # branch\n\n",
    "s = \"a # b\" + 'c'",
    "for (int i = 0; i < n; i++) /* c\n */ x();",
    "unfinished = 'abc\nreturn",
    '"""doc\nstring"""\nx = 1',
    "/* open",
  ]) {
    for (const language of ["python", "c"])
      assert.equal(
        tokenLines(text, language)
          .map((l) => l.map((t) => t.t).join(""))
          .join("\n"),
        text,
      );
  }
  assert.deepEqual(
    tokenLines("return x")[0].map((t) => t.k),
    ["k", undefined],
  );
});

test("a comment over several lines is one, whatever words it holds", () => {
  assert.deepEqual(
    tokenLines("/* for each\n * struct */ int x;", "c").map((l) => l.map((t) => t.k)),
    [["cm"], ["cm", undefined, "k", undefined]],
  );
});

test("a name cannot break out of the command line", () => {
  assert.equal(fileStem("a b; rm -rf ~ $(x) `y` '\"/../"), "a_b_rm_-rf_x_y");
  assert.equal(fileStem("   "), "workload");
  assert.equal(fileStem(undefined), "workload");
  const nasty = { name: "n'\nEOF\n$(x)", source: "`y`\nEOF\n" };
  const line = curlLine(nasty, "http://h");
  assert.equal(line.split("\n").filter((l) => l === "EOF").length, 1);
  assert.deepEqual(JSON.parse(line.slice(line.indexOf("\n{"), -4)), nasty);
  assert.equal(runLine({ name: "chain", source: "" }), "breakeven run chain.json");
});

test("the search box splits fields from words", () => {
  assert.deepEqual(parseQuery("tag:nightly soft  max device:cpu a:b"), {
    q: "soft max a:b",
    tag: "nightly",
    device: "cpu",
  });
});

test("numbers and bounds are fields of the search, and what is none is searched", () => {
  assert.deepEqual(parseQuery("breaks:>2 speedup:<=1.1 median:35"), { q: "", breaks: ">2", speedup: "<=1.1", median: "35" });
  assert.deepEqual(parseQuery("breaks:many speedup:> median:=3"), { q: "breaks:many speedup:> median:=3" });
});

test("filters that match nothing together say what each has alone", () => {
  assert.equal(aloneText(["verdict:slower", "device:xeon"], [3, 1]), "3 runs match verdict:slower, 1 matches device:xeon.");
  assert.equal(aloneText(["zzz", "status:failed"], [0, 1200]), "No run matches zzz, 1,200 match status:failed.");
  assert.equal(aloneText(["tag:x", "a b"], [1, 0]), "1 run matches tag:x, none matches a b.");
});

test("each filter can be dropped alone", () => {
  assert.deepEqual(
    drops("tag:x foo", "failed").map((d) => [d.label, d.text, d.status]),
    [
      ["tag:x", "foo", "failed"],
      ["foo", "tag:x", "failed"],
      ["status:failed", "tag:x foo", ""],
    ],
  );
});

test("a split's bar is as long as the median, however long the call was that was watched", () => {
  const text = { guards: "0", dispatch: "700", alloc: "800", launch: "300", kernel: "8,500", rest: "500", watched: "10,800", median: "292" };
  const point = { modes: { eager: { latency: { median_us: 292 } }, static: { latency: { median_us: 100 } } } };
  const [row, ...others] = splitRows(point, ["eager", "static"], { modes: { eager: { split: text }, static: {} } });
  assert.deepEqual(others, []);
  assert.equal(row.median, 292);
  assert.ok(Math.abs(row.shares.reduce((a, b) => a + b, 0) - 1) < 1e-9);
  assert.ok(Math.abs(row.shares[4] - 8500 / 10800) < 1e-9);
});

test("guards belong to their graph, inputs come from the nodes", () => {
  const m = {
    guards: [
      { graph: 0, text: "a" },
      { graph: 1, text: "b" },
    ],
    graphs: [
      {
        id: 0,
        frame: "model",
        compile: "0/0",
        ops: ["sin"],
        kernels: ["k"],
        kernel_details: [
          { name: "k", form: "map", why: "the first", ops: 2, lines: [3], read_bytes: 512, written_bytes: 16800000, saved_bytes: 1024 },
        ],
        nodes: [
          { id: 0, name: "x", op: "placeholder", dtype: "float32", shape: "[8, 16]" },
          { id: 1, name: "sin", op: "sin", dtype: "float32", shape: "[8, 16]", line: 3 },
        ],
      },
      { id: 1 },
    ],
  };
  const said = { graphs: [{ title: "Graph 0", facts: ["1 op"], recording: ["Not recorded"], kernels: [{ about: "2 ops" }] }] };
  const twice = [{ n: 1, modes: { eager: {}, dynamic: { graphs: [{}] } } }, { n: 3, modes: { eager: {}, dynamic: { graphs: [{}, {}] }, static: m } }];
  assert.deepEqual([graphCount(twice), graphCount([{ modes: { eager: {} } }]), graphCount([])], [2, 0, 0]);
  const [a, b] = graphRows(m, said);
  assert.deepEqual([a.guards, b.guards], [["a"], ["b"]]);
  assert.deepEqual(a.inputs, ["x float32 [8, 16]"]);
  assert.deepEqual(a.ops, [{ name: "sin", about: "float32 [8, 16]", place: { line: 3, file: "" } }]);
  assert.deepEqual(b.ops, []);
  assert.deepEqual(a.kernels, [{ name: "k", about: "2 ops", why: "the first", places: [{ line: 3, file: "" }] }]);
  assert.deepEqual([a.title, a.facts, a.recording], ["Graph 0", ["1 op"], ["Not recorded"]]);
  assert.deepEqual([b.facts, b.recording], [[], []]);
});

test("machine facts hide nothing that was recorded, and repeat nothing", () => {
  const facts = machineFacts(
    { kind: "cpu", name: "EPYC", backend: "cpu", backend_note: null },
    { cpu: "EPYC", cores: 2, new_thing: true, copy_gbps: 41.26, copy_curve: [[8, 0.05185], [2097152, 56.95]] },
  );
  assert.deepEqual(facts, [
    ["CPU", "EPYC"],
    ["Cores", "2"],
    ["Backend", "cpu"],
    ["Copy bandwidth, GB/s", "41.3"],
    ["A copy of", "8\u00a0B\u00a0in\u00a00.0519\u00a0µs, 2.10\u00a0MB\u00a0in\u00a057.0\u00a0µs"],
    ["new thing", "yes"],
  ]);
});

test("the machine's state while samples were taken: what is known, what it does not tell, and who took them", () => {
  const control = { median_us: 20.123, ci_us: [20.05, 20.2], n: 90, of_process: [60, 30] };
  assert.deepEqual(stateFacts({ machine: { text: "cores 50 % busy", looks: 3 }, control }), [
    ["While it was timed", "cores 50 % busy"],
    ["Fixed control", "20.1\u00a0µs (20.1–20.2)".replace("\u00a0", " ")],
    ["Processes", "2 took the samples"],
  ]);
  const slowed = { machine: { text: "load 1", looks: 3, unknown: ["the cores' clocks"], gpu: { aside: 7 } }, one_process: "the time was up" };
  assert.deepEqual(stateFacts(slowed), [
    ["While it was timed", "load 1"],
    ["Set aside", "7 rounds in which the GPU ran below its clocks"],
    ["It does not tell", "the cores' clocks"],
    ["Processes", "one, since the time was up"],
  ]);
  const apart = "static is known to 2.1 % each way, by 7 processes: the time for more processes was up";
  assert.deepEqual(stateFacts({ control, wide: apart }).slice(1), [
    ["Processes", "2 took the samples"],
    ["Still wide", apart],
  ]);
  assert.deepEqual(stateFacts({}), []);
});

test("modes keep their places", () => {
  assert.equal(letters(["dynamic", "eager", "static"]), "e·sd··");
  assert.deepEqual(inOrder(["dynamic", "other", "eager"]), ["eager", "dynamic", "other"]);
});

test("values and sweeps are described in short", () => {
  assert.equal(describeValue({ random: { shape: [8, 16], dtype: "float32" } }), "float32 [8, 16]");
  assert.equal(describeValue({ value: 2.5 }), "2.5");
  assert.deepEqual([null, true, "sum", [1, [2, 3]], { a: 1 }].map((value) => describeValue({ value })), ["None", "True", "'sum'", "[1, [2, 3]]", "{'a': 1}"]);
  assert.equal(describeSweep(examples[0]), "7 counts of 20 statements");
  assert.equal(describeSweep(undefined), "none");
});

test("a row for each keyword: those of a call, and those that the entry has to be given so", () => {
  const source = "import torch\n\nclass Net(torch.nn.Module):\n    def __init__(self, n):\n        pass\n\n    def forward(self, x, mask=None, *, scale, bias=0):\n        return x\n";
  const form = toForm({ source, entry: "Net(3)", calls: [{ args: [{ value: 1 }], kwargs: { bias: { value: 2 } } }] }, parameters);
  assert.deepEqual(form.inputs.map((r) => [r.name, Boolean(r.named), r.text || r.shape]), [["x", false, "1"], ["bias", true, "2"], ["scale", true, "8, 16"]]);
  form.inputs[2].text = "4";
  form.inputs[2].kind = "value";
  assert.deepEqual(fromForm(form).workload.calls, [{ args: [{ value: 1 }], kwargs: { bias: { value: 2 }, scale: { value: 4 } } }]);
  const edited = source.replace("mask=None", "mask").replace("scale", "factor");
  assert.deepEqual(rowsFor(form.inputs, edited, "Net(3)").map((r) => [r.name, Boolean(r.named), r.text]), [["x", false, "1"], ["mask", false, ""], ["factor", true, "4"], ["bias", true, "2"]]);
  assert.deepEqual(rowsFor(form.inputs, source, "Net(3)").map((r) => r.name), ["x", "scale", "bias"]);
  assert.equal(rowsFor(form.inputs, "def other(): pass", "Net"), null);
});

test("a proposal is offered where the form has other inputs, and takes their place", () => {
  const source = "class Net:\n    def forward(self, x, *, k):\n        return x\n";
  const form = toForm({ source, entry: "Net", calls: [[{ value: 1 }]] }, parameters);
  const proposal = { entry: "Net(3)", line: 9, needed: true, inputs: [], calls: [{ args: [{ python: "f(1)" }], kwargs: { k: { value: 2 } } }] };
  assert.equal(newProposal(form, []), null);
  assert.equal(newProposal(form, [proposal]), proposal);
  takeProposal(form, proposal);
  assert.equal(newProposal(form, [proposal]), null);
  const { workload } = fromForm(form);
  assert.deepEqual([workload.entry, workload.calls], ["Net(3)", proposal.calls]);
});

test("expressions, keywords and a sweep over n go through the form", () => {
  const workload = {
    name: "f", source: "def model(x, k, *, scale=1):\n    return x * k * scale\n", entry: "model", modes: ["eager"], device: "cpu",
    calls: [{ args: [{ python: "torch.randn(n, 16).t()" }, { value: 2 }], kwargs: { scale: { value: 3 } } }],
    sweep: { input: { sizes: [8, 16] } },
  };
  const form = toForm(workload, () => ["x", "k", "scale"]);
  assert.deepEqual(form.inputs.map((r) => [r.name, r.kind, r.text]), [["x", "python", "torch.randn(n, 16).t()"], ["k", "value", "2"], ["scale", "value", "3"]]);
  assert.deepEqual(fromForm(form), { workload, errors: [] });
  form.inputs[0].text = " ";
  assert.match(fromForm(form).errors[0].message, /^x: write an expression/);
  assert.equal(describeCall(workload.calls[0]), "torch.randn(n, 16).t(), 2, scale=3");
  assert.equal(describeCall([]), "none");
  assert.deepEqual([describeSweep(workload), axisTitle(workload.sweep)], ["2 sizes of n in the inputs", "n in the inputs"]);
});

test("examples stand in groups, each in one", () => {
  const example = (name, ...tags) => ({ name, title: name, workload: { source: "", tags } });
  const all = [example("chain", "sweep", "norm"), example("softmax", "softmax"), example("mlp_step_autocast", "model"), example("gpt", "model"), example("rerank_step", "breaks")];
  assert.deepEqual(exampleGroups(all).map((g) => [g.name, ...g.examples.map((e) => e.name)]), [
    ["Sweeps", "chain"], ["Programs that break", "rerank_step"], ["Training steps", "mlp_step_autocast"], ["Models", "gpt"], ["Blocks", "softmax"],
  ]);
});

test("examples are found by words of their name, title, group and tags; published models have a group", () => {
  const example = (name, title, extra = {}, tags = []) => ({ name, title, workload: { source: "", tags }, ...extra });
  const all = [example("gpt", "A GPT in one file", { group: "Models in published style" }), example("gpt2_block", "gpt2_block", { group: "Model blocks" }), example("softmax", "Softmax over rows", {}, ["norm"])];
  const names = (text) => findExamples(all, text).map((e) => e.name);
  assert.deepEqual(names("GPT"), ["gpt", "gpt2_block"]);
  assert.deepEqual(names("file gpt"), ["gpt"]);
  assert.deepEqual(names("norm"), ["softmax"]);
  assert.deepEqual(names("published"), ["gpt"]);
  assert.deepEqual([names("zzz"), names(" ").length], [[], 3]);
  assert.deepEqual(exampleGroups(all).map((g) => g.name), ["Blocks", "Models in published style", "Model blocks of the suite"]);
});

test("policy and gradient go through the form", () => {
  const w = { source: "def model(x):\n    return x\n", entry: "model", calls: [[]], policy: "native", grad: true };
  const back = fromForm(toForm(w, () => [])).workload;
  assert.deepEqual([back.policy, back.grad], ["native", true]);
  const plain = fromForm(toForm({ ...w, policy: "dynamo", grad: false }, () => [])).workload;
  assert.deepEqual([plain.policy, plain.grad], [undefined, undefined]);
});

test("what a mode handed to a GPU is counted in words; a mode on the CPU has none", () => {
  const order = { streams: 2, events: 1, launches: 1200, graph_launches: 0, library_calls: 1, copies: 1, sets: 3, waits: 2 };
  assert.deepEqual(orderFacts({ eager: {}, static: { order } }), [
    ["GPU work, static", "2 streams, 1 event, 1,200 launches, 1 library call, 1 copy, 3 fills, 2 host waits"],
  ]);
});

test("the entry of a changed text: kept, renamed in its place, or what is likely", () => {
  assert.equal(entryAfter("model", ["model"], ["helper", "model"]), "model");
  assert.equal(entryAfter("model", ["helper", "model"], ["helper", "mode"]), "mode");
  assert.equal(entryAfter("model", ["model"], ["scale", "attention"]), "attention");
  assert.equal(entryAfter("step", ["step"], ["model", "loss"]), "model");
  assert.equal(entryAfter("model", ["model"], []), "model"); // nothing is defined yet
});

test("a file is watched by a command with the settings of a workload, which says what it leaves out", () => {
  const random = (shape, more) => ({ random: { shape, dtype: "float32", ...more } });
  const plain = { name: "two words", source: "", entry: "model", calls: [[random([8, 16])]], modes: ["eager", "static"], device: "cpu" };
  assert.deepEqual(watchLine(plain, ["x"]), { line: "breakeven watch two_words.py --modes eager,static --input 'x=float32[8,16]'", without: [] });
  const more = {
    ...plain, entry: "Net(2)", backend: "interp", threads: 2, policy: "native", autocast: "bfloat16", grad: true, passes: { fold: false, cse: true }, sweep: { input: { sizes: [1, 2] } },
    calls: [{ args: [random([4], { dtype: "int64", kind: "randint", high: 50 }), { value: true }, random([2], { kind: "zeros" })], kwargs: { s: { python: "'it'" } } }, [random([1])]],
  };
  assert.deepEqual(watchLine(more, ["i", "b", "z"]), {
    line: `breakeven watch two_words.py --entry 'Net(2)' --modes eager,static --backend interp --threads 2 --policy native --autocast bfloat16 --without fold --input 'i=int64[4]<50' --input b=True --input 's='\\''it'\\'''`,
    without: ["the sweep", "the backward pass", "the calls after the first", "the values of z"],
  });
  const files = { ...plain, source: undefined, files: { "a.py": "" }, entry: "a.py:model" };
  assert.equal(watchLine(files, []).line, "breakeven watch FOLDER --entry a.py:model --modes eager,static --input 'arg0=float32[8,16]'");
});

test("a text of which most lines are others is another program", () => {
  const before = "import torch\n\ndef model(x):\n    y = x * 2\n    return y.sum()\n";
  assert.ok(!isAnother(before, before));
  assert.ok(!isAnother(before, before.replace("x * 2", "x * 3")));
  assert.ok(!isAnother(before, "import numpy\n" + before));
  assert.ok(!isAnother(before, ""));
  assert.ok(isAnother(before, "import torch\n\ndef model(x):\n    for i in range(3):\n        x = x + i\n    return x\n"));
});
