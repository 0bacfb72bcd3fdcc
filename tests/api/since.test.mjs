// tests/api/since.test.mjs -- GET /since: runs of the last hours, verdicts that changed, suites with failures, pinned runs.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { binary, getJson, postRun, startServer, storeSql, suiteEnded, timed, waitFor, workload } from './harness.mjs';

let server;
const of = { backend: 'interp', modes: ['eager', 'static'], seconds: 0.05 };
const api = (path, method = 'GET', body) => getJson(`${server.url}/api/v1${path}`, { method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
const sql = (text) => storeSql(server.store, text);
async function run(name, us, more = {}) {
    const { id } = await waitFor(server, (await postRun(server, { ...workload('    return x.sin().sum()'), ...of, name, ...more })).body.id);
    return timed(server, id, us);
}
const [fast, slow] = [{ eager: 20, static: 10 }, { eager: 10, static: 20 }];
before(async () => {
    server = await startServer();
});
after(() => server.stop());

test('an empty store has nothing', async () => {
    const { status, body } = await api('/since');
    assert.equal(status, 200);
    assert.deepEqual({ ...body, since_ns: 0 }, { since_ns: 0, runs: { queued: 0, running: 0, done: 0, failed: 0, cancelled: 0 }, changed: 0, changes: [], suites: [], pinned: [], failed: [], stepped: 0, steps: [] });
    assert.ok(Math.abs(body.since_ns / 1e6 - (Date.now() - 86400e3)) < 60e3);
    assert.equal((await api('/since?hours=0')).status, 400);
});

test('a verdict that is another than before is told, with the run before; what came earlier is not', async () => {
    const first = await run('turns', fast);
    const second = await run('turns', slow, { tags: ['x'] });
    await run('stays', fast);
    await run('stays', fast);
    await run('turns', fast, { project: 'else' });
    await run('settings', fast);
    sql(`UPDATE run_row SET settings_hash = 'others' WHERE id = ${await run('settings', slow)}`);
    let { body } = await api('/since');
    assert.equal(body.runs.done, 7);
    assert.equal(body.changed, 1);
    assert.deepEqual(body.changes.map((c) => [c.run.id, c.run.summary.verdict, c.before, c.was]), [[second, 'SLOWER', first, 'FASTER']], 'and a run with other settings is no repeat');
    assert.deepEqual((await api('/since?project=else')).body.changes, []);
    assert.equal((await api('/since?project=else')).body.runs.done, 1);
    sql(`UPDATE run_row SET created_ns = created_ns - 7200000000000 WHERE id = ${second}`);
    assert.equal((await api('/since?hours=1')).body.changed, 0);
    ({ body } = await api('/since?hours=3'));
    assert.equal(body.changed, 1);
    await api(`/runs/${first}`, 'DELETE');
    assert.equal((await api('/since')).body.changed, 0, 'beside a run that is gone nothing changed');
});

test('suites of which something did not pass, and pinned runs however old', async () => {
    for (const broken of [false, true]) {
        const workloads = [{ ...workload('    return x * 2'), name: 'a' }, ...(broken ? [{ ...workload('    return x.reshape(3)'), name: 'b' }] : [])];
        const { id } = (await api('/suites', 'POST', { name: broken ? 'bad' : 'good', workloads, policy: 'dynamo', ...of })).body;
        await suiteEnded(server, id);
    }
    const [newest] = (await api('/runs?q=stays')).body.runs;
    await api(`/runs/${newest.id}`, 'PATCH', { pinned: true });
    sql(`UPDATE run_row SET created_ns = 1 WHERE id = ${newest.id}`);
    await waitFor(server, (await postRun(server, { ...workload('    return x.reshape(3)'), name: 'fails' })).body.id);
    const { body } = await api('/since');
    assert.deepEqual(body.failed.map((r) => r.name), ['fails', 'b']);
    assert.match(execFileSync(binary, ['digest', '--days', '1', '--db', server.store], { encoding: 'utf8' }), /2 failed[^]*\n\nRuns that failed:\n {2}#\d+ +fails .*reshape[^]*\nSuites of which something did not pass:\n {2}suite #\d+ bad\n\nPinned:\n/);
    assert.deepEqual(body.suites.map((s) => s.name), ['bad']);
    assert.ok(body.suites[0].columns.some((c) => c.failed === 1));
    assert.deepEqual(body.pinned.map((r) => r.id), [newest.id]);
});
