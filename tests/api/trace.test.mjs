// tests/api/trace.test.mjs -- `breakeven trace` on a machine without a GPU: a fake CUPTI and
// a fake driver (tests/cupti) stand for the real ones.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binary, getJson, startServer, until, waitFor } from './harness.mjs';
import { decodeTimeline } from '../../web/js/model/timeline.js';

const [fake, driver] = ['libcupti_fake.so', 'driver'].map((f) => join(dirname(binary), 'tests/cupti', f));
const without = existsSync(fake) && existsSync(driver) ? false : 'no headers of the CUDA Toolkit here';

/** Runs a trace; the file's blocks as {kind, events}. */
function trace(command, { env = {}, args = ['--cupti', fake] } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-trace-test-'));
    const file = join(folder, 'out.trace');
    const done = spawnSync(binary, ['trace', '-o', file, ...args, '--', ...command],
        { encoding: 'utf8', env: { ...process.env, ...env } });
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    const blocks = [];
    for (let at = 0; at < bytes.length; at += 48 + Number(bytes.readBigUInt64LE(at + 32)))
        blocks.push({ kind: bytes.readUInt32LE(at + 4), events: bytes.readUInt32LE(at + 8) });
    rmSync(folder, { recursive: true });
    return { ...done, bytes, events: blocks.reduce((n, b) => n + b.events, 0), blocks };
}

test('kernels of a process are recorded, dropped ones counted, its status passed on', { skip: without }, () => {
    const t = trace([driver, '3'], { env: { CUPTI_FAKE_KERNELS: '200000', CUPTI_FAKE_DROPPED: '5' } });
    assert.equal(t.status, 3);
    assert.match(t.stderr, /200000 kernels, 5 dropped, 0 lost, 0 doubtful\n/);
    assert.equal(t.events, 200000 + 200);
    assert.ok(t.blocks.every((b) => b.events <= 65536));
    assert.ok(t.bytes.length < 200000);
});

test('ranges and memory are left out where that is asked for', { skip: without }, () => {
    const env = { CUPTI_FAKE_KERNELS: '3000', CUPTI_FAKE_MEMORY: '9' };
    assert.equal(trace([driver, '0'], { env }).events, 3000 + 3 + 9 + 9); // each change of memory, and what is in use then
    assert.equal(trace([driver, '0'], { env, args: ['--cupti', fake, '--kernels-only'] }).events, 3000);
});

test('children have lanes of their own', { skip: without }, () => {
    const t = trace(['sh', '-c', `${driver} 0 & ${driver} 0 & wait`], { env: { CUPTI_FAKE_KERNELS: '10' } });
    assert.equal(t.status, 0);
    assert.equal(t.stderr.match(/10 kernels, 0 dropped, 0 lost, 1 doubtful/g).length, 2);
    assert.equal(t.events, 20);
});

async function view(server, id, query = '') {
    const response = await fetch(`${server.url}/api/v1/runs/${id}/timeline?${query}`);
    assert.equal(response.status, 200);
    return decodeTimeline(await response.arrayBuffer());
}
const count = (v, kind) => v.totals.filter((t) => t.kind === kind).reduce((n, t) => n + t.count, 0);

/** A trace that is posted while it runs; resolves to {status, err}. */
function posting(server, command, env = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-trace-test-'));
    const child = spawn(binary, ['trace', '-o', join(folder, 'out.trace'), '--post', server.url, '--cupti', fake, '--', ...command],
        { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    let err = '';
    child.stderr.on('data', (bytes) => (err += bytes));
    return { folder, file: join(folder, 'out.trace'), child, done: new Promise((done) => child.on('exit', (status) => done({ status, err }))) };
}

test('a trace is a run of a server, with its events there while it records', { skip: without }, async () => {
    const server = await startServer();
    try {
        const line = 'V1122 10:00:00.000000 7 torch/x.py:1] {"dynamo_output_graph": {}, "frame_id": 0, "frame_compile_id": 0}';
        const command = ['sh', '-c', `mkdir -p $TORCH_TRACE; echo '${line}' > $TORCH_TRACE/rank_0.log; ${driver} 5`];
        const end = join(server.home, 'end');
        const t = posting(server, command, { CUPTI_FAKE_KERNELS: '100000', CUPTI_FAKE_STEP: '1000', CUPTI_FAKE_MEMORY: '30', CUPTI_FAKE_UNTIL: end });
        let id;
        const live = await until(async () => {
            const run = (await getJson(`${server.url}/api/v1/runs`)).body.runs[0];
            id = run?.id;
            return run?.status === 'running' && count(await view(server, id), 'kernel');
        }, 'that events come while it runs');
        assert.ok(live < 100000);
        writeFileSync(end, '');
        const { status, err } = await t.done;
        assert.equal(status, 5);
        assert.match(err, /100000 kernels, 0 dropped, 0 lost, 0 doubtful/);
        const run = await waitFor(server, id);
        assert.equal(run.status, 'done');
        assert.equal(run.workload.trace, true);
        assert.equal(run.device, 'cuda');
        assert.match(run.name, /^sh -c mkdir/);
        const v = await view(server, id);
        assert.equal(count(v, 'kernel'), 100000);
        assert.equal(count(v, 'range'), 100);
        assert.equal(count(v, 'memory'), 30);
        assert.deepEqual(v.lanes.map((l) => l.name).sort(), ['GPU 0, in use', 'GPU 0, memory', 'GPU 0, stream 7', 'GPU 0, stream 8', 'NVTX 77']);
        const used = v.lanes.find((l) => l.role === 'counter');
        assert.deepEqual([used.unit, used.device, used.events], ['bytes', 0, 30]);
        assert.equal(Math.max(...v.slices.filter((s) => s.kind === 'counter').map((s) => s.bytes)), 11000);
        const [process] = run.report.trace.processes;
        assert.equal(process.kernels, 100000);
        assert.deepEqual(process.memory, [{ device: 0, held_bytes: 10000, peak_bytes: 11000 }]);
        assert.equal(run.report.trace.dropped, 0);
        const torch = await fetch(`${server.url}/api/v1/runs/${id}/torch_trace.log`);
        assert.equal(await torch.text(), `${line}\n`);
        assert.equal(run.report.import.graphs, 1); // the log is read too
        assert.deepEqual(run.report.import.compiles.map((c) => c.compile), ['0/0']);
        // What it says is read as an import's texts are, and travels with the run's export, as the log itself does.
        const texts = async (of) => (await getJson(`${server.url}/api/v1/runs/${of}/artifacts`)).body.artifacts;
        const kept = await texts(id);
        assert.deepEqual(kept.map((a) => [a.kind, a.compile, a.process, a.records]), [['dynamo_output_graph', '0/0', 0, 1]]);
        // The file holds the same, and can be posted by itself.
        const again = spawnSync(binary, ['trace', '--post', server.url, '--from', t.file, '--name', 'again'], { encoding: 'utf8' });
        assert.equal(again.status, 0, again.stderr);
        const other = await waitFor(server, id + 1);
        assert.equal(other.name, 'again');
        assert.deepEqual(other.report, run.report);
        assert.deepEqual(await texts(other.id), kept);
        const file = await (await fetch(`${server.url}/api/v1/runs/${id}/export?format=chrome`)).arrayBuffer();
        const back = (await getJson(`${server.url}/api/v1/imports`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: file })).body.id;
        assert.deepEqual(await texts(back), kept);
        assert.equal(await (await fetch(`${server.url}/api/v1/runs/${back}/torch_trace.log`)).text(), `${line}\n`);
        rmSync(t.folder, { recursive: true });
    } finally {
        await server.stop();
    }
});

test('several GPUs have lanes of their own in each process, and their own memory', { skip: without }, async () => {
    const server = await startServer();
    const t = posting(server, ['sh', '-c', `${driver} 0 & ${driver} 0 & wait`], { CUPTI_FAKE_KERNELS: '3000', CUPTI_FAKE_MEMORY: '12', CUPTI_FAKE_DEVICES: '2', CUPTI_FAKE_PEERS: '8' });
    try {
        assert.equal((await t.done).status, 0);
        const [run] = (await getJson(`${server.url}/api/v1/runs`)).body.runs;
        const v = await view(server, run.id, 'px=400');
        const pids = [...new Set(v.lanes.map((l) => l.pid))];
        assert.equal(pids.length, 2);
        assert.equal(count(v, 'copy'), 2 * 8); // from one GPU to another
        for (const pid of pids) {
            const lanes = v.lanes.filter((l) => l.pid === pid);
            const names = ['GPU 0, stream 7', 'GPU 0, stream 8', 'GPU 1, stream 7', 'GPU 1, stream 8'];
            assert.deepEqual(lanes.map((l) => l.name).sort(), ['GPU 0, in use', 'GPU 0, memory', ...names.slice(0, 2), 'GPU 1, in use', 'GPU 1, memory', ...names.slice(2), 'NVTX 77']);
            for (const name of names) {
                const lane = lanes.find((l) => l.name === name);
                assert.equal(lane.device, Number(name[4]));
                assert.equal(lane.events, 750 + 2);
            }
            assert.deepEqual(v.facts.processes.find((p) => p.pid === pid).memory.map((m) => m.device), [0, 1]);
        }
    } finally {
        rmSync(t.folder, { recursive: true });
        await server.stop();
    }
});

test('what a server does not take is said, and the file kept', { skip: without }, async () => {
    const server = await startServer();
    try {
        const end = join(server.home, 'end');
        const t = posting(server, [driver, '0'], { CUPTI_FAKE_KERNELS: '1000', CUPTI_FAKE_UNTIL: end });
        const id = await until(async () => (await getJson(`${server.url}/api/v1/runs`)).body.runs[0]?.id, 'a run');
        await getJson(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
        writeFileSync(end, '');
        const { status, err } = await t.done;
        assert.equal(status, 0); // the program's own
        assert.match(err, new RegExp(`not posted whole: run ${id} is no trace that is being recorded; breakeven trace --post URL --from`));
        assert.equal((await waitFor(server, id)).status, 'cancelled');
        assert.ok(existsSync(t.file));
        rmSync(t.folder, { recursive: true });
        const nobody = trace([driver, '0'], { args: ['--cupti', fake, '--post', 'http://127.0.0.1:9'] });
        assert.equal(nobody.status, 1);
        assert.match(nobody.stderr, /127\.0\.0\.1:9: /);
    } finally {
        await server.stop();
    }
});

test('blocks are checked, come in order, and only to a trace; a restart fails what was under way', async (t) => {
    let server = await startServer();
    t.after(() => server.stop()); // where an assertion failed, too
    const post = (path, body, type = 'application/octet-stream') =>
        getJson(`${server.url}/api/v1${path}`, { method: 'POST', headers: { 'Content-Type': type }, body });
    const begun = await post('/traces', JSON.stringify({ name: 'by hand' }), 'application/json');
    assert.equal(begun.status, 201);
    const { id } = begun.body;
    assert.equal((await post(`/traces/${id}/blocks`, 'no block at all, but long enough to be the head of one')).status, 422);
    assert.equal((await post(`/traces/${id}/blocks`, '{}', 'application/json')).status, 415);
    assert.equal((await post(`/traces/${id}/blocks?at=3`, '')).status, 409);
    assert.equal((await post(`/traces/${id}/blocks`, '')).status, 200);
    assert.equal((await post('/traces/999/blocks', '')).status, 409);
    for (const bad of ['[]', '{}', '{"name": 5}', '{"name": ""}'])
        assert.equal((await post('/traces', bad, 'application/json')).status, 400, bad);
    assert.equal((await getJson(`${server.url}/api/v1/runs/${id}/torch_trace.log`)).status, 404);
    await server.stop({ keep: true });
    server = await startServer({ folder: server.home });
    const run = await waitFor(server, id);
    assert.equal(run.status, 'failed');
    assert.match(run.error.message, /the server ended while this was being posted; .*--from FILE/);
    const many = await Promise.all(Array.from({ length: 120 }, () => post('/traces', '{"name": "one of many"}', 'application/json')));
    const begunOf = many.filter((r) => r.status === 201).length;
    assert.ok(begunOf >= 100 && begunOf < 110, `${begunOf}`);
    assert.match(many.find((r) => r.status === 503).body.error.message, /100 programs are being recorded/);
    // Posts side by side may begin a few too many: as many go, and one more.
    for (const { body } of many.filter((r) => r.status === 201).slice(99))
        await getJson(`${server.url}/api/v1/runs/${body.id}`, { method: 'DELETE' });
    const failing = (await post('/traces', JSON.stringify({ name: 'it fails' }), 'application/json')).body.id;
    assert.equal((await post(`/traces/${failing}/end`, JSON.stringify({ error: 'disk full' }), 'application/json')).status, 200);
    assert.equal((await waitFor(server, failing)).error.message, 'disk full');
});

test('who else records is named', { skip: without }, () => {
    const t = trace([driver, '0'], { env: { CUPTI_FAKE_HOLDER: 'Nsight Systems' } });
    assert.equal(t.status, 0);
    assert.match(t.stderr, /another profiler records this process already: Nsight Systems/);
});

test('a program without CUDA, a signal, a missing program and a missing library', { skip: without }, () => {
    const plain = trace(['sh', '-c', 'exit 7']);
    assert.equal(plain.status, 7);
    assert.match(plain.stderr, /no process of the command used CUDA/);
    assert.equal(trace(['sh', '-c', 'kill -9 $$']).status, 137);
    assert.equal(trace(['/nonexistent']).status, 127);
    assert.match(trace([driver, '0'], { args: ['--cupti', '/no/libcupti.so'] }).stderr, /no CUPTI/);
    assert.match(trace([driver, '0'], { args: ['--inject', '/no/inject.so'] }).stderr, /there is no/);
});

test('what is no recording is not posted', async () => {
    const server = await startServer();
    for (const [file, message] of [['tests/import/kineto.json', /is no recording of breakeven trace; `breakeven import`/], ['/no/such', /\/no\/such: No such file/], ['tests', /tests has no recording of a rank: they are called rank-0\.trace/]]) {
        const t = spawnSync(binary, ['trace', '--from', file, '--post', server.url], { encoding: 'utf8' });
        assert.equal(t.status, 1, file);
        assert.match(t.stderr, message);
    }
    assert.deepEqual((await getJson(`${server.url}/api/v1/runs`)).body.runs, []);
    await server.stop();
});

test('wrong flags are named', () => {
    for (const args of [['--what'], ['-o'], ['-o', 'x'], ['--']]) {
        const t = spawnSync(binary, ['trace', ...args], { encoding: 'utf8' });
        assert.equal(t.status, 2);
        assert.match(t.stderr, /breakeven trace: .*; `breakeven trace --help` says more/);
    }
});

test('a step of several ranks is one run, with lanes for each, and their logs', { skip: without }, async () => {
    const server = await startServer();
    const folder = join(mkdtempSync(join(tmpdir(), 'breakeven-trace-test-')), 'job');
    const line = (graph, rank) => `V1122 10:00:00.000000 7 torch/x.py:1] {"dynamo_output_graph": {}, "rank": ${rank}, "frame_id": 0, "frame_compile_id": 0, "has_payload": "0"}\n\t${graph}`;
    const rank = (n) => new Promise((done) => {
        const step = { SLURM_JOB_ID: '12', SLURM_STEP_ID: '0', SLURM_STEP_NUM_TASKS: '3', SLURM_PROCID: String(n) };
        const log = `mkdir -p $TORCH_TRACE; printf '%s\n' '${line(n === 1 ? 'other' : 'same', n)}' > $TORCH_TRACE/log; ${driver} ${n}`;
        const child = spawn(binary, ['trace', '-o', folder, '--post', server.url, '--name', 'the job', '--cupti', fake, '--json', '--', 'sh', '-c', log], { env: { ...process.env, ...step, CUPTI_FAKE_KERNELS: String(100 + n) }, stdio: ['ignore', 'pipe', 'pipe'] });
        const told = { out: '', err: '' };
        child.stdout.on('data', (bytes) => (told.out += bytes));
        child.stderr.on('data', (bytes) => (told.err += bytes));
        child.on('exit', (status) => done({ status, ...told }));
    });
    try {
        const all = await Promise.all([2, 0, 1].map(rank));
        assert.deepEqual(all.map((r) => r.status), [2, 0, 1], all.map((r) => r.err).join());
        const said = all.map((r) => JSON.parse(r.out));
        assert.deepEqual(said.map((r) => [r.posted, r.run]), [[false, null], [true, 1], [false, null]]);
        assert.match(all[1].err, /3 ranks written to .*job\/job\.trace/);
        const { runs } = (await getJson(`${server.url}/api/v1/runs`)).body;
        assert.deepEqual(runs.map((r) => [r.name, r.status]), [['the job', 'done']]);
        const { report } = (await getJson(`${server.url}/api/v1/runs/1`)).body;
        assert.deepEqual(report.trace.processes.map((p) => [p.rank, p.pid, p.kernels]), [[0, 0, 100], [1, 1, 101], [2, 2, 102]]);
        const v = await view(server, 1);
        assert.equal(count(v, 'kernel'), 303);
        assert.deepEqual([...new Set(v.lanes.map((l) => `${l.rank} ${l.pid}`))].sort(), ['0 0', '1 1', '2 2']);
        assert.ok(v.span < 60e9, `on one clock: ${v.span}`);
        const { ranks } = report.import;
        assert.deepEqual(ranks.divergences.map((d) => [d.kind, d.compile, d.ranks]), [['graph', '0/0', [1]]]);
        const { artifacts } = (await getJson(`${server.url}/api/v1/runs/1/artifacts`)).body;
        assert.equal(artifacts.filter((t) => t.kind === 'dynamo_output_graph').length, 3);
        const again = spawnSync(binary, ['trace', '--from', folder, '--post', server.url], { encoding: 'utf8' });
        assert.equal(again.status, 0, again.stderr);
        assert.equal(count(await view(server, 2), 'kernel'), 303);
    } finally {
        await server.stop();
        rmSync(join(folder, '..'), { recursive: true });
    }
});
