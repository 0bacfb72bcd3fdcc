// tests/e2e/stand.mjs -- servers with real runs of every kind, and the visits of all pages over them.
//
// A visit is a row: name, address, what shows that the page is there, and its state: real, empty or
// failing.  looks.test.mjs holds that every view of the page's own tables is visited, so a page that is
// added without a row fails.  SHOTS in the environment: runs as people have them, with generated C and
// every mode, for the screenshots; without it what takes little time.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { binary, getJson, longSweep, postRun, randn, startServer, suiteEnded, sweep, waitFor, workload } from "../api/harness.mjs";

const rich = Boolean(process.env.SHOTS);
const how = rich ? {} : { backend: "interp", seconds: 0.2 };
const JSON_POST = { method: "POST", headers: { "Content-Type": "application/json" } };

/** A row of /api/v1/suites of these workloads, when it has ended. @param {any} server */
async function suiteOf(server, name, workloads) {
  const body = JSON.stringify({ name, workloads, modes: ["static"], seconds: 0.2, backend: "interp", again: true });
  const posted = await getJson(`${server.url}/api/v1/suites`, { ...JSON_POST, body });
  assert.equal(posted.status, 202, JSON.stringify(posted.body));
  const { id } = posted.body;
  await suiteEnded(server, id);
  return id;
}

/** Posts a workload that the server must take. @param {any} server @returns {Promise<number>} its run */
async function post(server, w) {
  const { status, body } = await postRun(server, w);
  assert.equal(status, 202, `${w.name}: ${JSON.stringify(body)}`);
  return body.id;
}

/** The runs that the visits need, by what they show. @param {any} server */
async function runsOf(server) {
  const example = (file) => JSON.parse(readFileSync(`web/examples/${file}`, "utf8"));
  const chain = workload("    x = x * 1.1\n    return x.sum()", { name: "chain", ...how, modes: ["eager", "static"], threads: 1 });
  const { title, ...breaks } = { ...example("70_rerank_breaks.json"), ...how };
  const workloads = {
    before: { ...chain, commit: "1f0c2ab93d" },
    after: { ...chain, commit: "88ae01c3f2", source: chain.source.replace("x.sum()", "torch.sin(x).exp().sum()") },
    swept: { ...sweep(rich ? undefined : [1, 5, 10]), ...how, tags: ["nightly"], project: "engine", ...(rich ? { modes: ["eager", "lazy", "static", "dynamic", "auto", "graphs"] } : {}) },
    breaks,
    denied: { ...workload("    y = torch.sin(x)\n    return torch.relu(y).sum()"), name: "denied", deny: ["relu"], modes: ["eager", "static", "lazy", "graphs"], backend: "interp" },
    shapes: { ...workload("    return torch.relu(x @ x.T).sum()", { name: "shapes", ...how, modes: ["eager", "static", "dynamic"] }), calls: [4, 5, 6].map((n) => [randn(n, 8)]) },
    failed: {
      name: "a_name_that_is_much_longer_than_any_column_could_ever_hold_without_being_cut",
      source: "import torch\n\ndef model(x, y):\n    return x + y\n", calls: [[randn(8), randn(3)]], backend: "interp",
    },
    torch: {
      name: "beside", source: "import torch\n\ndef model(x):\n    ...\n    print('seen')\n    return x\n", calls: [[randn(4, 4)]],
      modes: ["eager", "static"], backend: "interp", engines: ["breakeven", "torch"], sweep: { statements: { pool: ["x = torch.sin(x)"], counts: [1, 3] } },
    },
    wrong: {
      ...sweep([1, 5, 10]), name: "wrong", ...how, modes: ["eager", "static", "dynamic"],
      source: "import torch\n\ndef model(x):\n    ...\n    return x.sum(1) * (1.01 if torch.compiler.is_compiling() and x.dim() == 2 else 1.0)\n",
    },
    tired: { ...workload("    return torch.cos(x).sum()"), name: "tired", modes: ["eager", "static"], backend: "interp", engines: ["breakeven", "torch"] },
  };
  const ids = {};
  for (const [name, w] of Object.entries(workloads)) ids[name] = await post(server, w);
  for (const [name, id] of Object.entries(ids)) {
    const run = await waitFor(server, id);
    assert.equal(run.status, name === "failed" ? "failed" : "done", `${name}: ${run.error?.message}`);
  }
  return ids;
}

/** Logs of PyTorch as runs. @param {any} server */
function importsOf(server) {
  const take = (files) => {
    const done = spawnSync(binary, ["import", "--post", server.url, ...files.map((f) => `tests/import/${f}`)], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stderr);
  };
  take(["torch_trace_2.14.log", "kineto.json"]);
  take(["pt_xla.txt"]);
}

/** Everything that may stand in a store. @param {any} server */
async function filled(server) {
  const ids = await runsOf(server);
  const block = (name, line) => workload(`    ${line}`, { name });
  const some = [block("chain", "return x * 2 + 1"), block("printed", "print('x')\n    return x + 1"), block("failing", "return x.reshape(3)")];
  ids.suiteBefore = await suiteOf(server, "nightly", [...some, block("mended", "return x.reshape(5)")]);
  ids.suite = await suiteOf(server, "nightly", [...some, block("mended", "return x.sum()")]);
  importsOf(server);
  for (const events of ["change", "change,verdict"]) await getJson(`${server.url}/api/v1/hooks`, { ...JSON_POST, body: JSON.stringify({ url: `https://ci.example.org/${events}`, events }) });
  const { runs } = (await getJson(`${server.url}/api/v1/runs?limit=2`)).body;
  [ids.xla, ids.log] = runs.map((r) => r.id);
  return ids;
}

/** A run that is caught in the act, one that waits after it and one that was stopped; earlier ones end. @param {any} server */
export async function underWay(server) {
  const { runs } = (await getJson(`${server.url}/api/v1/runs`)).body;
  for (const r of runs) await fetch(`${server.url}/api/v1/runs/${r.id}`, { method: "DELETE" });
  const long = { ...longSweep(), name: "under_way", backend: "interp" };
  const [running, queued, stopped] = [await post(server, long), await post(server, { ...long, name: "behind_it" }), await post(server, { ...long, name: "stopped" })];
  await fetch(`${server.url}/api/v1/runs/${stopped}`, { method: "DELETE" });
  await waitFor(server, running, ["running"]);
  return { running, queued, stopped };
}

/** Servers and the runs of each: one with all, one with nothing, one at work. */
export async function stand() {
  process.env.PYTHONPATH = "tests/torch_stand_in/failing:tests/torch_stand_in";
  const [full, empty, busy] = await Promise.all([startServer({ args: ["--torch-python", "python3"] }), startServer(), startServer()]);
  delete process.env.PYTHONPATH;
  const stop = () => Promise.all([full, empty, busy].map((s) => s.stop()));
  try {
    return { full, empty, busy, ids: { ...(await filled(full)), ...(await underWay(busy)) }, stop };
  } catch (e) {
    await stop();
    throw e;
  }
}

/** @param {Awaited<ReturnType<typeof stand>>} s @returns {[string, string, string, string][]} name, address, ready, state */
export function visits({ full, empty, busy, ids }) {
  const of = (server, state, rows) => rows.map(([name, path, ready, other]) => [name, server.url + path, ready, other ?? state]);
  const run = (id, tab = "") => `/runs/${id}${tab && `/${tab}`}`;
  return [
    ...of(busy, "real", [
      ["runs under way", "/runs", ".runs tbody tr"],
      ["running", run(ids.running), "#progress-share"],
      ["running, its source", run(ids.running, "source"), ".code"],
      ["queued", run(ids.queued), "#progress-share"],
      ["stopped", run(ids.stopped), ".state", "failing"],
    ]),
    ...of(full, "real", [
      ["runs", "/runs", ".runs tbody tr"],
      ["start", "/", ".runs tbody tr"],
      ["runs, a filter without a match", "/runs?q=zzz&status=failed", ".state", "empty"],
      ["new", "/new", "#extent"],
      ["new, from a run", `/new?from=${ids.breaks}`, "#extent"],
      ["new, at the error", `/new?from=${ids.failed}&line=4&column=14`, "#diags li", "failing"],
      ["new, from no run", "/new?from=999999", ".state", "failing"],
      ["suites", "/suites", "main tbody tr"],
      ["suite", `/suites/${ids.suite}`, "#suite-workloads"],
      ["suite beside another", `/suites/${ids.suite}?base=${ids.suiteBefore}`, "#suite-compared"],
      ["suite beside none", `/suites/${ids.suite}?base=999`, ".state", "failing"],
      ["no such suite", "/suites/999999", ".state", "failing"],
      ["a run whose values are wrong", run(ids.wrong), "#disagreements", "failing"],
      ["its breaks", run(ids.wrong, "breaks"), "#disagreements", "failing"],
      ["compare with what is wrong", `/compare?a=${ids.swept}&b=${ids.wrong}`, ".verdict", "failing"],
      ["history of what is wrong", "/history?workload=wrong", "#verdict", "failing"],
      ["compare", `/compare?a=${ids.before}&b=${ids.after}`, ".metrics"],
      ["compare sweeps", `/compare?a=${ids.swept}&b=${ids.swept}`, "#latencies"],
      ["compare, refused", `/compare?a=${ids.swept}&b=${ids.denied}`, ".chip.refused", "failing"],
      ["compare, nothing chosen", "/compare", ".state", "empty"],
      ["compare, no such run", "/compare?a=1&b=999999", ".state", "failing"],
      ["history", "/history?workload=chain", "#history-runs"],
      ["history of an unknown", "/history?workload=zzzz", ".state", "empty"],
      ["webhooks", "/webhooks", ".hooks"],
      ["digest", "/digest", "#digest li"],
      ["ops", "/ops", ".optable"],
      ["ops, no such op", "/ops?q=zzzz", "#ops-list .state", "empty"],
      ["api", "/api", ".routes tbody tr"],
      ["docs", "/docs", ".doc"],
      ["docs, a page with pictures", "/docs/pages", ".doc img"],
      ["docs, a page of tables", "/docs/figures", ".doc table"],
      ["docs, no such page", "/docs/nothing", ".state", "failing"],
      ["sweep", `${run(ids.swept)}?over=h200,seed`, "#split-table"],
      ["overview with breaks", run(ids.breaks), "#modes-table"],
      ["failed", run(ids.failed), "#failure", "failing"],
      ["failed, its source", run(ids.failed, "source"), ".code", "failing"],
      ["breaks, none", run(ids.swept, "breaks"), ".code", "empty"],
      ["breaks", run(ids.breaks, "breaks"), ".brks"],
      ["breaks of lazy", `${run(ids.denied, "breaks")}?mode=lazy`, "#traces"],
      ["guards", run(ids.shapes, "guards"), ".versions"],
      ["guards of lazy", `${run(ids.denied, "guards")}?mode=lazy`, ".state", "empty"],
      ["graphs", run(ids.swept, "graphs"), ".ops"],
      ["graphs, cut", `${run(ids.breaks, "graphs")}?mode=static`, ".ops"],
      ["recordings", `${run(ids.denied, "graphs")}?mode=graphs`, "text=replayed"],
      ["kernels", run(ids.swept, "kernels"), "#kernels-table"],
      ["kernels of many graphs", `${run(ids.breaks, "kernels")}?mode=static`, "#kernels-table"],
      ["passes", run(ids.swept, "passes"), ".diff"],
      ["passes of pieces", run(ids.denied, "passes"), ".passes"],
      ["timeline", run(ids.breaks, "timeline"), ".tl canvas"],
      ["memory", run(ids.swept, "memory"), ".memchart path"],
      ["memory that nothing is added to", `${run(ids.denied, "memory")}?mode=graphs`, ".memchart path"],
      ["source", run(ids.swept, "source"), ".code"],
      ["torch", run(ids.torch, "torch"), "#torch-table"],
      ["overview beside torch", run(ids.torch), "#split-table"],
      ["overview, a mode of torch failed", run(ids.tired), "#modes-table td.said", "failing"],
      ["torch, a mode failed", run(ids.tired, "torch"), "#torch-table", "failing"],
      ["import", run(ids.log, "log"), "text=Compiling beside running"],
      ["import, its timeline", run(ids.log, "timeline"), ".tl canvas"],
      ["import, its compilations", run(ids.log, "compiles"), ".stacks"],
      ["import, one compilation", `${run(ids.log, "compiles")}?compile=0%2F0&process=0`, ".textpanes"],
      ["import, its ranks", run(ids.log, "ranks"), "#rank-bars"],
      ["import of xla", run(ids.xla), "text=both stages"],
      ["no such run", run(999999), ".state", "failing"],
      ["no such view", run(ids.swept, "zzz"), ".state", "failing"],
      ["no such page", "/nothing/here", ".state", "failing"],
    ]),
    ...["breaks", "guards", "graphs", "kernels", "passes", "timeline", "memory"].flatMap((tab) =>
      of(full, "failing", [[`failed, its ${tab}`, run(ids.failed, tab), "#failure"]])),
    ...of(empty, "empty", [
      ["runs, empty store", "/runs", ".start-form"],
      ["suites, empty store", "/suites", ".state"],
      ["compare, empty store", "/compare", ".state"],
      ["history, empty store", "/history", ".state"],
      ["webhooks, none", "/webhooks", ".state"],
      ["digest, nothing to tell", "/digest", ".state"],
    ]),
  ];
}
