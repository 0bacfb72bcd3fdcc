// tests/api/archive.test.mjs -- what an archive is found by, and what retention takes from it.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binary, getJson, postRun, startServer, storeSql, waitFor, workload } from './harness.mjs';

let server;
const api = (path, method = 'GET', body) => getJson(`${server.url}/api/v1${path}`, { method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
const run = async (name, line, more = {}) => (await waitFor(server, (await postRun(server, { ...workload(line), backend: 'interp', modes: ['eager', 'static'], seconds: 0.05, name, ...more })).body.id)).id;
const sql = (text) => storeSql(server.store, text);
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

/* A bundle's text with another last line: the hash of what it has now. */
const hashed = (bytes) => {
    const rows = bytes.subarray(0, bytes.length - 72);
    return Buffer.concat([rows, Buffer.from(`sha256 ${createHash('sha256').update(rows).digest('hex')}\n`)]);
};
const changed = (bytes, from, to) => {
    const at = bytes.indexOf(from);
    assert.ok(at > 0, from);
    return hashed(Buffer.concat([bytes.subarray(0, at), Buffer.from(to), bytes.subarray(at + from.length)]));
};

test('a bundle opens in another server: reports byte for byte, ids mapped, what is not as it was written refused', async () => {
    const other = await startServer();
    const there = (path, method = 'GET', body) => getJson(`${other.url}/api/v1${path}`, { method, body, headers: { 'Content-Type': 'application/octet-stream' } });
    const bytes = async (path) => Buffer.from(await (await fetch(`${server.url}/api/v1${path}`)).arrayBuffer());
    const text = async (url, id) => (await fetch(`${url}/api/v1/runs/${id}/report.json`)).text();
    try {
        const suite = (await api('/suites', 'POST', { name: 'two', workloads: ['sin', 'cos'].map((op) => ({ ...workload(`    return x.${op}().sum()`), name: op, backend: 'interp' })), modes: ['static'], policy: 'native', project: 'away' })).body.id;
        for (let i = 0; i < 200 && (await api(`/suites/${suite}`)).body.status !== 'done'; i++) await new Promise((r) => setTimeout(r, 100));
        const alone = await run('bundled', '    print(x.shape)\n    return x.tan().sum()', { project: 'away', tags: ['t'] });
        await api(`/runs/${alone}`, 'PATCH', { note: 'kept with it', pinned: true, baseline: true });
        const whole = await bytes('/bundles?project=away');
        const { status, body } = await there('/bundles', 'POST', whole);
        assert.equal(status, 201, JSON.stringify(body));
        assert.deepEqual([body.runs.length, body.suites.length], [3, 1]);
        for (const { was, id } of body.runs) assert.equal(await text(other.url, id), await text(server.url, was));
        const [before, after] = [(await api(`/runs/${alone}`)).body, (await there(`/runs/${body.runs.find((r) => r.was === alone).id}`)).body];
        for (const field of ['name', 'project', 'tags', 'note', 'pinned', 'summary', 'status', 'environment', 'workload', 'created_ns']) assert.deepEqual(after[field], before[field], field);
        assert.equal(after.baseline, false);
        assert.deepEqual((await there(`/suites/${body.suites[0].id}`)).body.report.columns, (await api(`/suites/${suite}`)).body.report.columns);
        assert.equal((await there('/runs?q=reason:print')).body.runs.length, 1, 'it is found');
        assert.deepEqual((await there('/bundles?project=mine', 'POST', await bytes(`/runs/${alone}/bundle`))).body.suites, []);
        assert.equal((await there('/runs?project=mine')).body.runs.length, 1);

        const total = (await there('/runs')).body.total;
        const flipped = Buffer.from(whole);
        flipped[flipped.length >> 1] ^= 1;
        for (const [bad, why] of [
            [flipped, /not as it was written/], [whole.subarray(0, -1), /cut off/], [Buffer.from('breakeven'), /no bundle/], [hashed(Buffer.from('breakeven-bundle 1\n{"version":1}\n' + ' '.repeat(72))), /has no run/],
            [changed(whole, '{"run_tag":', '{"token":'), /no row of a table/], [changed(whole, '"status":"done"', '"status":"queued"'), /has not ended/],
            [changed(whole, '"name":"bundled"', `"name":"${'x'.repeat(1001)}"`), /too long a name/], [changed(whole, '"name":"bundled"', '"id) VALUES(1);--":1'), /knows no column/],
            [changed(whole, '"name":"bundled"', '"author":"root"'), /a bundle has no author/], [changed(whole, '"data":[', '"data":[9'), /so many bytes do not follow/],
            [changed(whole, `{"run_tag":{"run":${alone}`, '{"run_tag":{"run":999999'), /names what the bundle has not/], [changed(whole, '"note":"kept with it"', '"note":[]'), /so many bytes/],
            [changed(whole, '"codec":1', '"codec":7'), /cannot be read/],
        ]) {
            const refused = await there('/bundles', 'POST', bad);
            assert.equal(refused.status, 400, JSON.stringify(refused.body));
            assert.match(refused.body.error.message, why);
        }
        assert.equal((await there('/runs')).body.total, total, 'nothing of those is stored');
        assert.equal((await api('/runs/999999/bundle')).status, 404);

        const file = join(server.home, 'one.bundle');
        const cli = (...args) => spawnSync(binary, ['bundle', ...args], { encoding: 'utf8' });
        assert.match(cli('write', file, '--suite', suite, '--db', server.store).stdout, /2 runs, 1 suite, .*\nSHA-256 [0-9a-f]{64}\n/);
        assert.match(cli('read', file, '--db', other.store).stdout, new RegExp(`suite #\\d+, there #${suite}\nrun #`));
        assert.equal(cli('write', file, '--suite', suite, '--db', server.store).status, 1, 'it is there');
        writeFileSync(file, flipped);
        assert.match(cli('read', file, '--db', other.store).stderr, /not as it was written/);
        for (const args of [[], ['write', file], ['read', file, '--run', '1'], ['write', file, '--run', 'x']]) assert.equal(cli(...args).status, 2);
    } finally {
        await other.stop();
    }
});
