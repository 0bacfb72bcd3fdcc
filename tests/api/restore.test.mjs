// tests/api/restore.test.mjs -- exports that come back: redacted, failed, recorded and large runs are
// what they were, as far as the file holds, and say that they were imported.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binary, getJson, postRun, startServer, sweep, waitFor, workload } from './harness.mjs';

let server;
before(async () => { server = await startServer(); });
after(() => server?.stop());

const textOf = async (id, query = '') => {
    const response = await fetch(`${server.url}/api/v1/runs/${id}/export?format=chrome${query}`);
    assert.equal(response.status, 200);
    return response.text();
};
const runOf = async (id) => (await getJson(`${server.url}/api/v1/runs/${id}`)).body;

/** A run by its own export. */
async function again(id, query, change = (text) => text) {
    const body = change(await textOf(id, query));
    const answer = await getJson(`${server.url}/api/v1/imports`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return runOf(answer.body.id);
}
async function ran(body) {
    const { id } = (await postRun(server, body)).body;
    await waitFor(server, id);
    return runOf(id);
}

test('a redacted run is that run without its source, and says so', async () => {
    for (const body of [workload('    y = torch.relu(x) * 2\n    print("between")\n    return y.sum()', { backend: 'interp', name: 'secretly' }), { ...sweep([1, 3]), backend: 'interp', name: 'secretly' }]) {
        const was = await ran(body);
        const is = await again(was.id, '&redact=1');
        assert.equal(is.status, 'done');
        assert.ok(!is.report.import && is.report.imported.run.redacted);
        assert.equal(is.name, `run ${was.id}`);
        assert.equal(is.workload.source, undefined);
        assert.ok(!JSON.stringify(is).includes('secretly'));
        assert.deepEqual(is.summary, was.summary);
        assert.deepEqual(is.modes, was.modes);
        const figures = (r) => [r.report, ...r.report.points].map((p) => Object.entries(p.modes).map(([m, x]) => [m, x.latency?.median_us, x.graphs.length, x.breaks.map((b) => [b.kind, b.stack.at(-1).line])]));
        assert.deepEqual(figures(is), figures(was));
        // And once more, for it can be exported as any other.
        assert.deepEqual(figures(await again(is.id, '')), figures(was));
    }
});

test('without its source, a file that does not say that it is redacted is no run', async () => {
    const was = await ran(workload('    return x.sum()', { backend: 'interp' }));
    const plain = (text) => { const t = JSON.parse(text); delete t.breakeven.run.redacted; return JSON.stringify(t); };
    assert.ok((await again(was.id, '&redact=1', plain)).report.import);
    // What is left of a redacted one is looked at as what is posted is.
    for (const spoil of [(w) => { w.calls = 7; }, (w) => { w.modes = ['none']; }, (w) => { w.sweep = { statements: { counts: 'x' } }; }]) {
        const spoilt = (text) => { const t = JSON.parse(text); spoil(t.breakeven.workload); return JSON.stringify(t); };
        assert.ok((await again(was.id, '&redact=1', spoilt)).report.import);
    }
});

test('a redacted compile log has no line of its stacks, as its schema says, and comes back', async () => {
    const { body } = await getJson(`${server.url}/api/v1/imports`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: readFileSync('tests/import/torch_trace_2.14.log') });
    const was = await runOf(body.id); // held against openapi.json, as all answers are
    assert.ok(was.report.import.stacks.some((f) => f.code), JSON.stringify(was.report.import.stacks));
    const is = await again(body.id, '&redact=1');
    assert.deepEqual(is.report.import.stacks.map((f) => [f.parent, f.line, f.code ?? null]), was.report.import.stacks.map((f) => [f.parent, f.line, null]));
});

test('a failed run is failed again, with its error and its place', async () => {
    const was = await ran(workload('    return x.reshape(3, 7)', { backend: 'interp', name: 'fails', project: 'p' }));
    assert.equal(was.status, 'failed');
    const is = await again(was.id);
    assert.equal(is.status, 'failed');
    assert.deepEqual(is.error, was.error);
    assert.deepEqual([is.name, is.project, is.workload], [was.name, was.project, was.workload]);
    assert.equal(is.imported.run.id, was.id);
    const hidden = await again(was.id, '&redact=1');
    assert.deepEqual([hidden.status, hidden.error.code, hidden.error.line], ['failed', was.error.code, was.error.line]);
    assert.ok(!hidden.workload.source);
});

const [fake, driver] = ['libcupti_fake.so', 'driver'].map((f) => join(dirname(binary), 'tests/cupti', f));
const without = existsSync(fake) && existsSync(driver) ? false : 'no headers of the CUDA Toolkit here';

/** A run that another process records, by a stand-in for CUPTI. */
async function recorded() {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-restore-'));
    const done = spawnSync(binary, ['trace', '-o', join(folder, 't'), '--post', server.url, '--cupti', fake, '--', driver, '0'],
        { encoding: 'utf8', env: { ...process.env, CUPTI_FAKE_KERNELS: '50' } });
    rmSync(folder, { recursive: true });
    assert.equal(done.status, 0, done.stderr);
    return runOf((await getJson(`${server.url}/api/v1/runs`)).body.runs[0].id);
}

test('a recording is a recording again, no log that was imported', { skip: without }, async () => {
    const was = await recorded();
    const is = await again(was.id);
    assert.equal(is.status, 'done');
    assert.equal(is.report.import, undefined);
    assert.equal(is.report.imported.run.id, was.id);
    assert.deepEqual([is.name, is.project, is.workload.command, is.workload.trace], [was.name, was.project, was.workload.command, true]);
    assert.equal(is.workload.imported, undefined);
    const { imported, ...report } = is.report;
    assert.deepEqual(report, was.report);
});

test('a report over 4 MiB comes back without values and code, and says so', async () => {
    const input = { random: { shape: [4096], dtype: 'float32', kind: 'randn', seed: 0 } };
    const was = await ran({ ...workload('    return x * 2 + 1', { backend: 'interp' }), calls: Array.from({ length: 48 }, (_, i) => [{ random: { ...input.random, seed: i } }]), modes: ['eager', 'static'] });
    assert.equal(was.status, 'done', JSON.stringify(was.error));
    assert.ok(JSON.stringify(was.report).length > 4 << 20, String(JSON.stringify(was.report).length));
    const is = await again(was.id);
    assert.equal(is.status, 'done');
    assert.ok(!is.report.import && is.report.imported && is.report.slimmed);
    assert.equal(is.report.modes.static.calls, undefined);
    assert.deepEqual(is.workload, was.workload);
    assert.deepEqual(is.summary, was.summary);
    assert.deepEqual(is.report.break_even, was.report.break_even);
    assert.equal(is.report.modes.static.latency.median_us, was.report.modes.static.latency.median_us);
    assert.deepEqual(is.report.modes.static.graphs.map((g) => g.ops), was.report.modes.static.graphs.map((g) => g.ops));
    for (const format of ['html', 'csv', 'json', 'speedscope'])
        assert.equal((await fetch(`${server.url}/api/v1/runs/${is.id}/export?format=${format}`)).status, 200, format);
});

/** Every text of a run with its row. */
async function textsOf(id) {
    const url = `${server.url}/api/v1/runs/${id}/artifacts`;
    const { artifacts } = (await getJson(url)).body;
    return Promise.all(artifacts.map(async (row) => ({ row, text: Buffer.from(await (await fetch(`${url}/${row.n}`)).arrayBuffer()).toString('latin1') })));
}
const post = async (body) => {
    const answer = await getJson(`${server.url}/api/v1/imports`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.id;
};

test('the texts of a compile log come back with its export, on another server too; redacted they do not', async () => {
    const log = Buffer.concat([readFileSync('tests/import/torch_trace_2.14.log'), readFileSync('tests/import/artifacts.log'), Buffer.from('V1121 10:00:00.000000 77 torch/x.py:1] {"dump_file": {"name": "latin.py"}, "has_payload": "0"}\n\t# \xe9\n', 'latin1')]);
    const was = await post(log), texts = await textsOf(was);
    assert.ok(texts.length > 30 && texts.some((t) => t.row.kind === 'inductor_output_code') && texts.some((t) => t.text.includes('\xe9')));
    const packed = Buffer.from(await (await fetch(`${server.url}/api/v1/runs/${was}/export?format=chrome_gz`)).arrayBuffer());
    const here = server;
    server = await startServer();
    try {
        const is = await runOf(await post(packed));
        assert.deepEqual(await textsOf(is.id), texts);
        assert.deepEqual(is.report.import.artifacts, (await getJson(`${here.url}/api/v1/runs/${was}`)).body.report.import.artifacts);
        assert.equal(is.report.import.ledger.dropped.broken_texts, 0);
        const found = async (of, id) => (await getJson(`${of.url}/api/v1/runs/${id}/artifacts?q=tensor_match`)).body;
        assert.ok((await found(server, is.id)).total > 0);
        assert.deepEqual(await found(server, is.id), await found(here, was));
        assert.deepEqual(await textsOf((await again(is.id, '')).id), texts); // and once more
    } finally {
        await server.stop();
        server = here;
    }
    const hidden = await textOf(was, '&redact=1');
    assert.ok(!hidden.includes('breakeven_texts'));
    assert.deepEqual(await textsOf(await post(hidden)), []);
});

test('texts of an export are looked at: what is damaged or out of place is counted, the rest is kept', async () => {
    const was = await post(readFileSync('tests/import/torch_trace_2.14.log')), texts = await textsOf(was);
    const spoilt = async (spoil) => {
        const is = await again(was, '', (text) => {
            const trace = JSON.parse(text);
            const at = trace.traceEvents.findIndex((e) => e.name === 'breakeven_texts');
            spoil(trace.traceEvents, at);
            return JSON.stringify(trace);
        });
        const { artifacts } = (await getJson(`${server.url}/api/v1/runs/${is.id}/artifacts`)).body;
        return { rows: artifacts.map((a) => a.at !== undefined), ...is.report.import.ledger.dropped };
    };
    const all = (value) => texts.map(() => value);
    const turned = (block) => `${block.slice(0, 90)}${block[90] === 'A' ? 'B' : 'A'}${block.slice(91)}`;
    // One block of texts, then one of their index.
    for (const block of ['', 'AAA', 'no base64', 7, null]) {
        const of = await spoilt((events, at) => { events[at + 1].args.block = block; });
        assert.deepEqual([of.rows, of.broken_texts], [[], 1], String(block));
    }
    const broken = await spoilt((events, at) => { events[at].args.block = turned(events[at].args.block); });
    assert.deepEqual([broken.rows, broken.broken_texts, broken.texts_full], [all(false), 1, texts.length]);
    const twice = await spoilt((events, at) => { events.splice(at, 0, events[at]); });
    assert.deepEqual([twice.rows, twice.broken_texts], [all(true), 1]);
    const listed = await spoilt((events, at) => { events.push(events[at + 1]); });
    assert.equal(listed.rows.length + listed.broken_texts, 2 * texts.length);
    const without = await spoilt((events, at) => { events.splice(at, 1); });
    assert.deepEqual([without.rows, without.broken_texts, without.texts_full], [all(false), 0, texts.length]);
});

test('lists and histories tell what came from a file', async () => {
    const was = await ran(workload('    return x.sum()', { backend: 'interp', name: 'told apart' }));
    const is = await again(was.id);
    const { points } = (await getJson(`${server.url}/api/v1/history?workload=told+apart`)).body;
    assert.deepEqual(points.map((p) => [p.run.id, p.run.imported?.run.id ?? null]), [[was.id, null], [is.id, was.id]]);
    const { runs } = (await getJson(`${server.url}/api/v1/runs?q=told`)).body;
    assert.deepEqual(runs.map((r) => [r.id, r.imported === null]), [[is.id, false], [was.id, true]]);
    assert.equal(runs[0].imported.ledger, undefined);
    assert.ok((await runOf(is.id)).imported.ledger.dropped);
});
