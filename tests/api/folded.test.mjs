// tests/api/folded.test.mjs -- a list in which the runs of a suite are one row; what imports are.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { getJson, postLongTrace, postRun, startServer, suiteEnded, waitFor, workload } from './harness.mjs';

let server, alone, suite;
const of = { backend: 'interp', modes: ['eager', 'static'] };
const list = async (query) => (await getJson(`${server.url}/api/v1/runs?${query}`)).body;
const json = (body) => ({ method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
before(async () => {
    server = await startServer();
    alone = (await postRun(server, { ...workload('    return x.sin().sum()'), ...of, name: 'alone' })).body.id;
    const workloads = ['red', 'green', 'blue'].map((name) => ({ ...workload('    return (x * 2).sum()'), name }));
    workloads.push({ ...workload('    return x.reshape(3)'), name: 'broken' });
    suite = (await getJson(`${server.url}/api/v1/suites`, json({ name: 'colours', workloads, policy: 'dynamo', modes: ['eager', 'static'], seconds: 0.05, backend: 'interp' }))).body.id;
    await suiteEnded(server, suite);
    await waitFor(server, alone);
});
after(() => server.stop());

test('folded, a suite is one row with its counts and its geometric mean', async () => {
    const flat = await list('limit=50');
    assert.equal(flat.total, 5);
    assert.ok(flat.runs.every((r) => (r.suite_id === suite) === (r.id !== alone)));
    const { runs, total, total_runs } = await list('fold=1');
    assert.deepEqual([runs.length, total, total_runs], [2, 2, 5]);
    assert.equal(runs[1].id, alone);
    assert.equal(runs[1].suite, undefined);
    const row = runs[0].suite;
    assert.deepEqual([row.id, row.name, row.matching], [suite, 'colours', 4]);
    assert.deepEqual([row.runs.done, row.runs.failed], [3, 1]);
    const whole = (await getJson(`${server.url}/api/v1/suites/${suite}`)).body.report;
    const mean = (columns) => columns.find((c) => c.mode === 'static').geomean.common;
    assert.deepEqual(mean(row.columns), mean(whole.columns));
});

test('an open suite has its runs after it, page by page; a filter counts what matches', async () => {
    const { runs, total } = await list(`fold=1&open=${suite},99`);
    assert.equal(total, 6);
    assert.deepEqual(runs.map((r) => r.name), ['broken', 'broken', 'blue', 'green', 'red', 'alone']);
    assert.deepEqual(runs.map((r) => !!r.suite), [true, false, false, false, false, false]);
    const pages = [];
    for (let offset = 0; offset < total; offset += 2) pages.push(...(await list(`fold=1&open=${suite}&limit=2&offset=${offset}`)).runs);
    assert.deepEqual(pages.map((r) => [r.id, !!r.suite]), runs.map((r) => [r.id, !!r.suite]));
    const some = await list(`fold=1&open=${suite}&q=re`);
    assert.deepEqual(some.runs.map((r) => r.name), ['green', 'green', 'red']);
    assert.equal(some.runs[0].suite.matching, 2);
    assert.deepEqual([some.total, some.total_runs], [3, 2]);
    assert.deepEqual((await list('fold=1&q=alone')).runs.map((r) => r.id), [alone]);
    assert.equal((await list('fold=1&q=nothing-like-it')).total, 0);
});

test('what cannot be folded is refused', async () => {
    for (const query of ['fold=2', 'fold=1&sort=name', 'fold=1&cursor=3', 'fold=1&open=a', 'fold=1&open=1,,2', 'fold=1&open=,', `fold=1&open=${'1,'.repeat(300)}1`]) {
        const { status, body } = await getJson(`${server.url}/api/v1/runs?${query}`);
        assert.equal(status, 400, query);
        assert.match(body.error.message, /^(fold|open)=/);
    }
});

test('an import says what it is: kind, file, kernels, length', async () => {
    const id = await postLongTrace(server, 400);
    const { runs } = await list(`q=%23${id}`);
    assert.deepEqual({ ...runs[0].about, length_us: 0, name: '' }, { kind: 'kineto', name: '', files: 1, kernels: 400, length_us: 0 });
    assert.ok(runs[0].about.length_us > 1990 && runs[0].about.length_us < 2020, `${runs[0].about.length_us} µs`);
    assert.equal((await list(`q=alone`)).runs[0].about, null);
});
