// tests/api/removed.test.mjs -- a run that was removed can be had back; names, tags and pins are changed.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { getJson, postRun, startServer, storeSql, until, waitFor, workload } from './harness.mjs';

let server;
const of = { backend: 'interp', modes: ['eager', 'static'], seconds: 0.05 };
const api = (path, method = 'GET', body) => getJson(`${server.url}/api/v1${path}`, { method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
const run = async (name, more = {}) => (await waitFor(server, (await postRun(server, { ...workload('    return x.sin().sum()'), ...of, name, ...more })).body.id)).id;
const sql = (text) => storeSql(server.store, text);
before(async () => {
    server = await startServer();
});
after(() => server.stop());

test('a removed run is nowhere, and comes back whole', async () => {
    const [kept, gone] = [await run('a', { tags: ['one'], project: 'p' }), await run('a', { tags: ['one', 'two'], project: 'p' })];
    await api(`/runs/${gone}`, 'PATCH', { note: 'mine', baseline: true, pinned: true });
    const was = (await api(`/runs/${gone}`)).body;
    const { body } = await api(`/runs/${gone}`, 'DELETE');
    assert.deepEqual(body, { id: gone, did: 'removed', restorable_s: 60 });
    for (const path of ['', '/report.json', '/events', '/export?format=html', '/timeline', '/script.py']) assert.equal((await fetch(`${server.url}/api/v1/runs/${gone}${path}`)).status, 404, path);
    for (const [method, more] of [['PATCH', { note: 'x' }], ['DELETE']]) assert.equal((await api(`/runs/${gone}`, method, more)).status, 404);
    const list = (await api('/runs?facets=1')).body;
    assert.deepEqual(list.runs.map((r) => r.id), [kept]);
    assert.deepEqual([list.total, list.facets.tag, list.facets.verdict.reduce((n, [, of]) => n + of, 0), list.facets.project], [1, [['one', 1]], 1, [['p', 1]]]);
    assert.equal(list.runs[0].recent.length, 1);
    assert.equal((await api('/history?workload=a')).body.points.length, 1);
    assert.equal((await api(`/compare?a=${kept}&b=${gone}`)).status, 404);
    const back = await api(`/runs/${gone}/restore`, 'POST');
    assert.equal(back.status, 200);
    assert.deepEqual((await api(`/runs/${gone}`)).body, was);
    assert.equal((await api('/runs')).body.total, 2);
    assert.equal((await api(`/runs/${gone}/restore`, 'POST')).status, 404, 'it is there');
    assert.equal((await api('/runs/999/restore', 'POST')).status, 404);
});

test('one that took the mark of a baseline meanwhile keeps it', async () => {
    const [first, second] = [await run('base'), await run('base')];
    await api(`/runs/${first}`, 'PATCH', { baseline: true });
    await api(`/runs/${first}`, 'DELETE');
    await api(`/runs/${second}`, 'PATCH', { baseline: true });
    await api(`/runs/${first}/restore`, 'POST');
    assert.deepEqual([(await api(`/runs/${first}`)).body.baseline, (await api(`/runs/${second}`)).body.baseline], [false, true]);
});

test('after a while it is gone for good, with all that belongs to it, also over a new start', async () => {
    const id = await run('old');
    await api(`/runs/${id}`, 'DELETE');
    assert.equal(sql(`SELECT count(*) FROM report WHERE run = ${id}`), '1');
    sql(`UPDATE run_row SET removed_ns = removed_ns - 61000000000 WHERE id = ${id}`);
    await server.stop({ keep: true });
    server = await startServer({ folder: server.home });
    await until(async () => sql(`SELECT count(*) FROM run_row WHERE id = ${id}`) === '0', 'the end of a removed run');
    assert.equal(sql(`SELECT count(*) FROM report WHERE run = ${id}`), '0');
    assert.equal((await api(`/runs/${id}/restore`, 'POST')).status, 404);
});

test('a removed suite goes with its runs, and comes back with those that went with it', async () => {
    const w = (name) => ({ ...workload('    return x.sin().sum()'), ...of, name });
    const { id } = (await api('/suites', 'POST', { name: 'both', policy: 'dynamo', workloads: [w('s1'), w('s2'), w('s3')] })).body;
    const suite = async (path = '') => (await api(`/suites/${id}${path}`));
    await until(async () => (await suite()).body.status === 'done', 'the end of the suite');
    const runs = (await api('/runs?q=s1')).body.runs.concat((await api('/runs?q=s2')).body.runs, (await api('/runs?q=s3')).body.runs).map((r) => r.id);
    assert.equal(runs.length, 3);
    await api(`/runs/${runs[0]}`, 'DELETE');
    const was = (await suite()).body;
    assert.equal(was.runs.done, 2);
    const total = (await api('/runs')).body.total;
    const { body } = await api(`/suites/${id}`, 'DELETE');
    assert.deepEqual(body, { id, did: 'removed', restorable_s: 60 });
    assert.equal((await suite()).status, 404);
    assert.equal((await suite(`/compare?base=${id}`)).status, 404);
    assert.equal((await api(`/suites/${id}`, 'DELETE')).status, 404);
    assert.ok(!(await api('/suites')).body.suites.some((s) => s.id === id));
    assert.equal((await api('/runs')).body.total, total - 2);
    for (const run of runs) assert.equal((await api(`/runs/${run}`)).status, 404);
    const alone = await api(`/runs/${runs[1]}/restore`, 'POST');
    assert.equal(alone.status, 409);
    assert.match(alone.body.error.message, new RegExp(`went with suite ${id}`));
    const back = await api(`/suites/${id}/restore`, 'POST');
    assert.equal(back.status, 200, JSON.stringify(back.body));
    assert.deepEqual((await suite()).body, was);
    assert.equal((await api(`/runs/${runs[0]}`)).status, 404, 'it was removed before');
    assert.equal((await api(`/runs/${runs[0]}/restore`, 'POST')).status, 200, 'and can be had back by itself');
    assert.equal((await suite()).body.runs.done, 3);
    for (const path of [`/suites/${id}/restore`, '/suites/999/restore']) assert.equal((await api(path, 'POST')).status, 404, path);
});

test('a removed suite is gone for good after a while, with its runs', async () => {
    const { id } = (await api('/suites', 'POST', { name: 'old', policy: 'dynamo', workloads: [{ ...workload('    return x.sin().sum()'), ...of, name: 'o1' }] })).body;
    await until(async () => (await api(`/suites/${id}`)).body.status === 'done', 'the end of the suite');
    await api(`/suites/${id}`, 'DELETE');
    assert.equal(sql(`SELECT count(*) FROM suite_row WHERE id = ${id}`), '1');
    for (const table of ['run_row', 'suite_row']) sql(`UPDATE ${table} SET removed_ns = removed_ns - 61000000000 WHERE removed_ns IS NOT NULL`);
    await server.stop({ keep: true });
    server = await startServer({ folder: server.home });
    await until(async () => sql(`SELECT count(*) FROM suite_row WHERE id = ${id}`) === '0', 'the end of a removed suite');
    assert.equal(sql(`SELECT count(*) FROM suite_run WHERE suite = ${id}`), '0');
    assert.equal((await api(`/suites/${id}/restore`, 'POST')).status, 404);
});

test('a name, tags and a pin are changed; under another name a run is of another workload', async () => {
    const [one, other] = [await run('before'), await run('after')];
    await api(`/runs/${one}`, 'PATCH', { baseline: true });
    const { body } = await api(`/runs/${one}`, 'PATCH', { name: 'after', tags: ['x', 'y z'], pinned: true });
    assert.deepEqual([body.name, body.tags, body.pinned, body.baseline], ['after', ['x', 'y z'], true, false]);
    assert.deepEqual((await api('/history?workload=after')).body.points.map((p) => p.run.id), [one, other]);
    assert.equal((await api('/history?workload=before')).body.points.length, 0);
    assert.deepEqual((await api('/runs?pinned=1&tag=x')).body.runs.map((r) => r.id), [one]);
    assert.equal((await api('/runs?pinned=no')).status, 400);
    for (const [change, says] of [[{ name: '' }, /name must be a string of 1 to 200 bytes/], [{ name: 'x'.repeat(201) }, /1 to 200/], [{ name: 'a\nb' }, /one line/], [{ pinned: 1 }, /pinned must be true or false/], [{ colour: 1 }, /name, project, note, tags, baseline and pinned can/]]) {
        const refused = await api(`/runs/${one}`, 'PATCH', change);
        assert.equal(refused.status, 400);
        assert.match(refused.body.error.message, says);
    }
});
