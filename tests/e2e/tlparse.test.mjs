// tests/e2e/tlparse.test.mjs -- each file that tlparse writes is reached here by clicks, from the page of the run: all that
// the table of web/docs/imports.md names, over one log that has all kinds.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, getJson, startServer, waitFor } from "../api/harness.mjs";
import { inductorRanks } from "../api/made_ranks.mjs";
import { openPage, refusals, sideways, startBrowser } from "./browser.mjs";

const FIRST = { frame_id: 0, frame_compile_id: 0 };
const marker = (kind) => `what ${kind} says`;
const graph = (kind) => `class ${kind.replace(/\W/g, "_")}(torch.nn.Module):\n    def forward(self, x):\n        # File: /w/m.py:5 in f, code: return x.sin()\n        sin: "f32[4]" = torch.sin(x)\n        # ${marker(kind)}`;
const code = `# AOT ID: ['0_inference']\n# ${marker("inductor_output_code")}\n\n# Topologically Sorted Source Nodes: [sin], Original ATen: [aten.sin]\n# Source node to ATen node mapping:\n#   sin => sin\ntriton_poi_fused_sin_0 = async_compile.triton('triton_poi_fused_sin_0', '''\ndef triton_poi_fused_sin_0(in_ptr0):\n    pass\n''', device_str='cuda')\n`;

/** Texts of the page of a compilation: [kind, group that it is listed under, payload, of a record: what it says]. */
const TEXTS = [
  ...["dynamo_output_graph", "optimize_ddp_split_graph", "optimize_ddp_split_child", "compiled_autograd_graph", "graph_dump", "aot_forward_graph", "aot_backward_graph", "aot_inference_graph", "aot_joint_graph", "inductor_pre_grad_graph", "inductor_post_grad_graph"].map((kind) => [kind, "Graphs", graph(kind)]),
  ["exported_program", "Export", graph("exported_program")],
  ["inductor_output_code", "Code", code],
  ["inductor_provenance_tracking_kernel_stack_traces", "Provenance", JSON.stringify({ "triton_poi_fused_sin_0:1": [`  File "/w/m.py", line 5, in f\\n    return x.sin() # ${marker("inductor_provenance_tracking_kernel_stack_traces")}`] })],
  ["dump_file", "Code"],
  ["bytecode_dump", "Code", marker("bytecode_dump"), { co_name: "f", bytecode_type: "ORIGINAL_BYTECODE" }],
  ["dynamo_guards", "Guards", JSON.stringify([{ code: marker("dynamo_guards") }])],
  ["dynamo_cpp_guards_str", "Guards"],
  ...["guard_added", "guard_added_fast"].map((kind) => [kind, "Guards", null, { expr: marker(kind), user_stack: [], stack: [] }]),
  ...["propagate_real_tensors_provenance", "expression_created", "create_unbacked_symbol"].map((kind) => [kind, "Sizes", null, { expr: marker(kind), symbol: "u0", result: "u0 + 1" }]),
  ...["missing_fake_kernel", "mismatched_fake_kernel", "guard_on_data_dependent_error"].map((kind) => [kind, "Breaks and failures", null, { op: "my::op", expr: "u0 > 2", reason: marker(kind) }]),
  ...["bwd_compilation_metrics", "aot_autograd_backward_compilation_metrics"].map((kind) => [kind, "Metrics", null, { compile_id: "0/0", said: marker(kind) }]),
  ["compilation_metrics", "Metrics", null, { compile_id: "0/0", co_name: "f", co_filename: "/w/m.py", co_firstlineno: 3, entire_frame_compile_time_s: 0.5, restart_reasons: ["a value decided"], fail_type: "Unsupported", fail_reason: "no op for it", said: marker("compilation_metrics") }],
  ["link", "Links", null, { name: "Manifold", url: "https://example.org/of-the-run", said: marker("link") }],
  ["a_kind_of_tomorrow", "Others"],
];
/** Artifacts by their names, which are kinds: [name, group]. */
const ARTIFACTS = [["fx_graph_cache_hit", "Caches"], ["mm_autotuning_results", "Autotuning"], ["inductor_tlparse_runtime_and_tensor_meta", "Tensors"], ["cudagraph_skip_reason", "Breaks and failures"], ["inductor_aot_wrapper_code", "Code"], ["named_by_nobody", "Others"]];

const line = (record, payload) => `V1121 10:00:00.000000 77 torch/x.py:1] ${JSON.stringify(record)}\n${payload ? payload.replace(/^/gm, "\t") + "\n" : ""}`;
const event = (name, ph, ts) => line({ chromium_event: {}, ...FIRST, has_payload: "0" }, JSON.stringify({ name, ph, ts, cat: "dynamo_timed", tid: 0, pid: 0, args: { compile_id: "0/0" } }));

/** As vLLM logs it: each piece of a graph is compiled apart, for some sizes, with the graph after each of its passes. */
function vllmLog() {
  const of = { frame_id: 1, frame_compile_id: 0 };
  const dump = (name, ...lines) => line({ graph_dump: { name }, ...of, has_payload: "0" }, ["def forward(self, x):", ...lines].join("\n"));
  const start = (said) => line({ artifact: { name: "vllm_piecewise_compile_start", encoding: "json" }, ...of, has_payload: "0" }, JSON.stringify(said));
  return (
    line({ dynamo_start: { stack: [{ line: 9, name: "g", filename: 0 }] }, ...of }) +
    line({ artifact: { name: "vllm_compilation_config", encoding: "json" }, ...of, has_payload: "0" }, '{"model": "a model"}') +
    dump("vllm_piecewise_split_graph", "    return self.submod_0(x)") +
    start({ piecewise_index: 0, submod_name: "submod_0", compile_range_start: 1, compile_range_end: 8192, is_single_size: false }) +
    dump("vllm_post_grad.0.FusionPass", "    a = x.sin()", "    b = a.cos()", "    return b") +
    dump("vllm_post_grad.1.ReshapePass", "    a = x.sin()", "    c = a.reshape(-1)", "    d = c.cos()", "    return d") +
    start({ piecewise_index: 1, compile_range_start: 16, compile_range_end: 16, is_single_size: true }) +
    line({ artifact: { name: "fx_graph_runnable", encoding: "string" }, ...of, subgraph_name: "repeated_subgraph0", has_payload: "0" }, "import torch")
  );
}

function richLog() {
  let log = line({ str: ["/w/m.py", 0] });
  log += event("entire_frame_compile", "B", 1795000000500000);
  log += line({ dynamo_start: { stack: [{ line: 90, name: "<module>", filename: 0, loc: "f(x)" }, { line: 3, name: "f", filename: 0 }] }, ...FIRST });
  for (const [kind, , payload = marker(kind), said = {}] of TEXTS) log += line({ [kind]: said, ...FIRST, ...(payload === null ? {} : { has_payload: "0" }) }, payload);
  for (const [name] of ARTIFACTS) log += line({ artifact: { name, encoding: "string" }, ...FIRST, has_payload: "0" }, marker(name));
  log += event("entire_frame_compile", "E", 1795000000900000);
  log += line({ missing_fake_kernel: { op: "of none" }, stack: [{ line: 7, name: "at_import", filename: 0 }] });
  return log + vllmLog() + line({ a_kind_without_a_frame: {}, has_payload: "0" }, marker("a text of no compilation"));
}

let server, browser;
before(async () => {
  server = await startServer();
  browser = await startBrowser();
  const log = join(server.home, "rich.log");
  writeFileSync(log, richLog());
  const ranks = inductorRanks().map((text, rank) => {
    const file = join(server.home, `dedicated_log_torch_trace_rank_${rank}_ab.log`);
    writeFileSync(file, text);
    return file;
  });
  for (const files of [[log], [0, 1].map((r) => `tests/import/torch_trace_2.6_rank_${r}.log`), ranks]) {
    const { status, stderr } = spawnSync(binary, ["import", "--post", server.url, ...files], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
  }
  await waitFor(server, 3);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const open = async (page, run, tab) => {
  await page.goto(`${server.url}/runs/${run}`);
  await page.locator(".tabs").getByRole("link", { name: tab, exact: true }).click();
};
/** The file that a link leaves, read. */
async function download(page, name) {
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name, exact: true }).click()]);
  return JSON.parse(readFileSync(await file.path(), "utf8"));
}
const shows = (page, text) => page.locator(".tprows", { hasText: text }).first().waitFor();

/** How each thing that tlparse writes is reached; those of TEXTS by their kinds. */
const WAYS = {
  "index.html": async (page) => {
    await open(page, 1, "Compiles");
    const stacks = page.getByRole("navigation", { name: "Stacks" });
    await stacks.getByRole("link", { name: "[0/0]" }).waitFor();
    await stacks.getByText("missing_fake_kernel 1").waitFor(); // a stack of no compilation
    await page.getByRole("region", { name: "Texts of the log that are of no compilation" }).getByRole("link", { name: "a_kind_without_a_frame" }).click();
    await shows(page, marker("a text of no compilation"));
  },
  "compile_directory.json": async (page) => {
    await open(page, 1, "Compiles");
    await page.getByRole("region", { name: "Compilations of the log" }).getByRole("link", { name: "[0/0]" }).click();
    await page.getByRole("heading", { name: /^\[0\/0\]/ }).waitFor();
  },
  "failures_and_restarts.html": async (page) => {
    await open(page, 1, "Compiles");
    const table = page.getByRole("region", { name: "Failures and restarts of the log" }).locator("tbody tr");
    await table.first().waitFor();
    const rows = await table.allInnerTexts();
    assert.deepEqual(rows.map((r) => r.split("\t")[1].trim()), ["analysed again", "Unsupported"]);
    assert.match(rows.join(), /a value decided.*no op for it/s);
  },
  "raw.log": async (page) => {
    await open(page, 1, "Compiles");
    await page.getByLabel("Search every text of the log").fill("SAYS"); // each text has its marker
    await page.keyboard.press("Enter");
    await page.locator(".founds").waitFor();
    const found = await page.locator(".founds h3").allInnerTexts();
    for (const kind of [...TEXTS, ...ARTIFACTS].map(([k]) => k)) assert.ok(found.some((t) => t.includes(kind)), kind);
  },
  "chromium_events.json": async (page) => {
    await open(page, 1, "Timeline");
    await page.getByText("Events as a list").click();
    await page.locator("details.events").getByRole("button", { name: /entire_frame_compile/ }).first().waitFor();
  },
  "provenance_tracking_*.html": async (page) => {
    await openCompilation(page); // source, Dynamo's graph, post-grad graph and code are open side by side
    await page.getByRole("listbox", { name: "Source lines" }).getByText("return x.sin()").click();
    for (const text of ["dynamo_output_graph", "inductor_post_grad_graph", "inductor_output_code"])
      await page.getByRole("listbox", { name: text, exact: true }).locator(".rel").first().waitFor();
    await page.getByRole("listbox", { name: "inductor_output_code", exact: true }).getByText("def triton_poi_fused_sin_0").click();
    await page.getByRole("listbox", { name: "Source lines" }).locator(".rel").waitFor();
  },
  "vLLM's summary: settings, pieces by compile range, graphs and differences of its passes": async (page) => {
    await open(page, 1, "Compiles");
    await page.getByRole("region", { name: "Compilations of the log" }).getByRole("link", { name: "[1/0]" }).click();
    const texts = page.locator(".textgroups");
    for (const name of ["vllm_compilation_config", "graph_dump vllm_piecewise_split_graph", "fx_graph_runnable, subgraph_1, size 16, repeated_subgraph0"]) await texts.getByRole("button", { name, exact: true }).waitFor();
    for (const pass of ["0.FusionPass", "1.ReshapePass"]) await texts.getByRole("button", { name: `graph_dump vllm_post_grad.${pass}, submod_0, sizes 1 to 8192`, exact: true }).click();
    await shows(page, "c = a.reshape(-1)");
    const [left, right] = await Promise.all([-2, -1].map((i) => page.locator(".pane").nth(i)));
    await right.getByRole("button", { name: "Differences" }).click();
    assert.deepEqual(await right.locator(".add").allInnerTexts(), ["3\n    c = a.reshape(-1)", "4\n    d = c.cos()", "5\n    return d"]);
    assert.deepEqual(await left.locator(".del").allInnerTexts(), ["3\n    b = a.cos()", "4\n    return b"]);
    await page.getByText("3 lines that graph_dump vllm_post_grad.0.FusionPass, submod_0, sizes 1 to 8192 lacks, which has 2 others").waitFor();
    await right.getByRole("button", { name: "Differences" }).click();
    await right.locator(".add").first().waitFor({ state: "detached" });
  },
  "the report of many ranks: compile ids, caches, collectives, tensors and order of graphs that differ": async (page) => {
    await open(page, 2, "Ranks");
    await page.locator("#run-body section").first().waitFor();
    await open(page, 3, "Ranks");
    const { ranks } = (await getJson(`${server.url}/api/v1/runs/3`)).body.report.import;
    await page.locator("#rank-order tbody tr").first().waitFor(); // drawn last
    const text = await page.locator("#main").innerText();
    for (const d of ranks.divergences) assert.ok(text.includes(d.sentence), d.sentence);
    assert.match(text, /Caches met other things at the same place: ranks 0, 1, 2, 3\./);
    assert.match(await page.locator("#rank-order tbody tr").first().innerText(), /^0\s+\[0\/0\] on ranks 0, 2, 3; \[1\/0\] on rank 1\s+caches$/);
    await page.locator("#rank-order").getByRole("link", { name: "[1/0]" }).first().click();
    await page.getByRole("heading", { name: /^\[1\/0\]/ }).waitFor();
  },
  "_readable.html": async (page) => {
    await openCompilation(page);
    await page.locator(".textgroups").getByRole("button", { name: "inductor_provenance_tracking_kernel_stack_traces" }).click();
    const stacks = page.getByRole("listbox", { name: /kernel_stack_traces/ });
    await stacks.getByText('File "/w/m.py", line 5, in f', { exact: true }).waitFor();
    await stacks.getByText("triton_poi_fused_sin_0:1").click();
    await page.getByRole("listbox", { name: "inductor_output_code", exact: true }).locator(".rel").first().waitFor();
  },
  "collectives_parity.json": async (page) => {
    const rows = async () => (await page.locator("#rank-calls tbody tr").allInnerTexts()).map((r) => r.split(/\s+/).join(" "));
    await open(page, 3, "Ranks");
    await page.locator("#rank-calls").waitFor();
    assert.deepEqual(await rows(), ["rank 1 [0/0] 0 1", "rank 3 [0/0] 2 1"]);
    const [, , , wrong] = await download(page, "collectives_parity.json");
    assert.deepEqual([wrong.rank, wrong.graphs[0].offset], [3, 2]);
    await page.locator("#rank-calls").getByRole("link", { name: "[0/0]" }).first().click();
    await page.getByText("off Inductor's order by 0, 1 wait missing").waitFor();
  },
  "runtime_estimations.json": async (page) => {
    await open(page, 3, "Ranks");
    assert.match(await page.locator("#rank-estimates tbody tr").first().innerText(), /\[0\/0\]\s+4\s+2\.00 µs rank 0\s+5\.00 µs rank 2\s+3 µs/);
    assert.equal((await download(page, "runtime_estimations.json")).length, 8);
  },
  "chromium_trace_with_runtime.json": async (page) => {
    await open(page, 3, "Ranks");
    assert.equal((await download(page, "chromium_trace_with_runtime.json")).filter((e) => e.ph === "X").length, 12);
  },
  "collective_schedules.json": async (page) => {
    await open(page, 3, "Ranks");
    assert.deepEqual((await download(page, "collective_schedules.json")).map((s) => s.graph), ["-_0_0_0", "-_0_0_0", "-_0_0_0", "-_0_0_0"]);
  },
};
/** Names of the table for which texts of other kinds stand. */
const ALSO = { "raw.jsonl": "raw.log", _child: "optimize_ddp_split_child", symbolic_guard_information: "propagate_real_tensors_provenance", artifact: "named_by_nobody", "payloads/*.txt": "a_kind_of_tomorrow" };

async function openCompilation(page) {
  await open(page, 1, "Compiles");
  await page.getByRole("region", { name: "Compilations of the log" }).getByRole("link", { name: "[0/0]" }).click();
  await page.locator(".textgroups").waitFor();
}

/** Of the table: the names of its first column. */
function written() {
  const table = readFileSync("web/docs/imports.md", "utf8").split("| tlparse writes | Here |\n")[1].split("\n\n")[0];
  return table.split("\n").slice(1).flatMap((row) => {
    const [, first] = row.split("|");
    return first.includes("`") ? [...first.matchAll(/`([^`]+)`/g)].map((m) => m[1]) : [first.trim()];
  });
}

test("all that tlparse writes is named in the table, and has a way here", () => {
  const known = new Set([...TEXTS, ...ARTIFACTS].map(([kind]) => kind));
  for (const name of written()) {
    const to = ALSO[name] ?? name;
    assert.ok(known.has(to) || WAYS[to], `${name} of web/docs/imports.md is reached by no test`);
  }
  assert.ok(written().length > 30);
});

for (const [name, way] of Object.entries(WAYS))
  test(`${name} is reached by clicks`, async () => {
    const { page, context, complaints } = await openPage(browser);
    await way(page);
    assert.deepEqual(complaints, []);
    assert.deepEqual(await refusals(page), []);
    await context.close();
  });

test("the text of each kind is reached by clicks, in its group", async () => {
  const { page, complaints } = await openPage(browser);
  await openCompilation(page);
  for (const [kind, group] of [...TEXTS, ...ARTIFACTS]) {
    const listed = page.locator(".textgroups .group", { has: page.getByRole("heading", { name: group, exact: true }) });
    await listed.getByRole("button", { name: kind, exact: true }).or(listed.getByRole("button", { name: new RegExp(`^${kind} `) })).first().click();
    await page.locator(".tprows", { hasText: marker(kind) }).first().waitFor();
  }
  await page.locator(".textgroups").getByRole("button", { name: "link", exact: true }).click();
  await shows(page, "https://example.org/of-the-run");
  assert.ok((await sideways(page)) <= 0);
  assert.deepEqual(complaints, []);
  assert.deepEqual(await refusals(page), []);
});
