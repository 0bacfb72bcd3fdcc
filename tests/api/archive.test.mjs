// tests/api/archive.test.mjs -- what an archive is found by, and what retention takes from it.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

let server;
const api = (path, method = 'GET', body) => getJson(`${server.url}/api/v1${path}`, { method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
const run = async (name, line, more = {}) => (await waitFor(server, (await postRun(server, { ...workload(line), backend: 'interp', modes: ['eager', 'static'], seconds: 0.05, name, ...more })).body.id)).id;
const sql = (text) => execFileSync('python3', ['-c', 'import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None); print(db.execute(sys.argv[2]).fetchall())', server.store, text], { encoding: 'utf8' }).trim();
const search = async (q) => (await api(`/runs?q=${encodeURIComponent(q)}`)).body.runs;
const prune = (...args) => spawnSync(binary, ['prune', '--db', server.store, ...args], { encoding: 'utf8' });
before(async () => {
    server = await startServer({ args: ['--keep-days', '60'] });
});
after(() => server.stop());

test('runs are found by their sources, notes and reasons of breaks, and what is found is shown', async () => {
    const [breaks, whole] = [await run('with_print', '    print(x.shape)\n    return x.cumsum(0).sum()'), await run('whole', '    return x.sin().sum()')];
    await api(`/runs/${whole}`, 'PATCH', { note: 'Measured cold, with the new driver' });
    assert.deepEqual((await search('CUMSUM')).map((r) => [r.id, r.found.map((f) => [f.in, f.text[1]])]), [[breaks, [['source', 'cumsum']]]]);
    assert.deepEqual((await search('reason:print')).map((r) => [r.id, r.found[0].in]), [[breaks, 'reason']]);
    assert.deepEqual((await search('"new driver"')).map((r) => [r.id, r.found]), [[whole, [{ in: 'note', text: ['Measured cold, with the ', 'new driver', ''] }]]]);
    assert.deepEqual((await search('return -cumsum')).map((r) => r.id), [whole]);
    assert.equal((await search('with_print'))[0].found, undefined, 'its name is in the row');
    const { status, body } = await api(`/runs?q=${encodeURIComponent('"new driver')}`);
    assert.deepEqual([status, body.error.code], [400, 'bad-request']);
    assert.match(body.error.message, /is not closed/);
    assert.equal((await api(`/runs?q=${'x'.repeat(401)}`)).status, 400);
});

test('a run is moved to another project, and is no baseline there', async () => {
    const id = await run('moves', '    return x.cos().sum()', { project: 'one' });
    await api(`/runs/${id}`, 'PATCH', { baseline: true });
    assert.deepEqual(((r) => [r.project, r.baseline])((await api(`/runs/${id}`, 'PATCH', { project: 'two' })).body), ['two', false]);
    assert.deepEqual((await search('moves two')).map((r) => r.id), [id]);
    assert.equal((await api(`/runs/${id}`, 'PATCH', { project: 'a\nb' })).status, 400);
});

test('retention names what goes and what that frees, takes it, and leaves pinned runs and figures', async () => {
    const [old, pinned] = [await run('aged', '    return x.exp().sum()'), await run('aged', '    return x.exp().sum()')];
    await api(`/runs/${pinned}`, 'PATCH', { pinned: true });
    sql(`UPDATE run_row SET created_ns = 1 WHERE id IN (${old}, ${pinned})`);
    const before = (await api(`/runs/${old}`)).body;
    const plan = (await api('/retention')).body;
    assert.deepEqual([plan.days, plan.total, plan.runs.map((r) => r.id), plan.next], [60, 1, [old], null]);
    assert.ok(plan.frees_bytes > 0 && plan.frees_bytes < plan.stored_bytes);
    const dry = prune('--dry-run', '--json');
    assert.equal(dry.status, 0, dry.stderr);
    assert.deepEqual(((d) => [d.runs, d.bytes, d.list[0].id])(JSON.parse(dry.stdout)), [1, plan.frees_bytes, old]);
    assert.match(prune('--dry-run').stdout, /aged\nwould thin out 1 run older than 60 days: .* would be freed; nothing is changed/);
    assert.deepEqual((await api('/runs/' + old)).body.report, before.report, 'a dry run changes nothing');
    assert.deepEqual((await api('/retention', 'POST', { days: 60 })).body, { runs: 1, bytes: plan.frees_bytes, more: false });
    const after = (await api(`/runs/${old}`)).body;
    const m = after.report.modes.static;
    assert.ok(after.report.thinned_ns > 0 && !m.calls && !m.memory && !m.latency.samples_ns && m.graphs[0].ops.length && !m.graphs[0].nodes);
    assert.deepEqual([after.summary, m.latency.median_us, Object.keys(after.findings)], [before.summary, before.report.modes.static.latency.median_us, Object.keys(before.findings)]);
    assert.ok((await api(`/runs/${pinned}`)).body.report.modes.static.calls);
    assert.equal((await api('/history?workload=aged')).body.points.length, 2);
    for (const body of [{}, { days: -1 }, { days: 1.5 }, { days: 9, colour: 1 }]) assert.equal((await api('/retention', 'POST', body)).status, 400, JSON.stringify(body));
    assert.equal(prune('--days', 'x').status, 2);
});
