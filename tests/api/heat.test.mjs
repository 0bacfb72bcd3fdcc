// tests/api/heat.test.mjs -- GET /heat: all workloads over commits.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { getJson, postRun, startServer, timed, waitFor, workload } from './harness.mjs';

let server;
const heat = async (query = '') => (await getJson(`${server.url}/api/v1/heat${query}`)).body;
async function run(name, commit, us, more = {}) {
    const { id } = await waitFor(server, (await postRun(server, { ...workload('    return x.sin().sum()'), backend: 'interp', modes: ['eager', 'static'], seconds: 0.05, name, commit, ...more })).body.id);
    return timed(server, id, us);
}
before(async () => {
    server = await startServer();
});
after(() => server.stop());

test('an empty store has no rows', async () => assert.deepEqual(await heat(), { columns: [], rows: [] }));

test('a row a workload, a column a commit in the order in which they came, the newest run in a cell', async () => {
    const first = await run('a', 'c1', { eager: 40, static: 10 });
    await run('b', 'c2', { eager: 30, static: 10 });
    await run('a', 'c2', { eager: 10, static: 20 });
    const again = await run('a', 'c2', { eager: 10, static: 5 });
    await run('a', 'c1', { eager: 40, static: 20 }); // an old commit, measured again, stays where it was
    const { columns, rows } = await heat();
    assert.deepEqual(columns, ['c1', 'c2']);
    assert.deepEqual(rows.map((r) => [r.name, r.cells.map((c) => c && Math.round(10 * c.speedup) / 10)]), [['a', [2, 2]], ['b', [null, 3]]]);
    const [old, now] = rows[0].cells;
    assert.ok(old.run > again && first < again);
    assert.equal(now.run, again);
    assert.deepEqual([now.mode, now.verdict, now.median_us, old.median_of_first, now.median_of_first], ['static', 'FASTER', 5, 1, 0.25]);
    assert.ok(now.speedup_ci[0] < 2 && now.speedup_ci[1] > 2);
});

test('runs without a commit are by day, and a project is apart', async () => {
    await run('c', '', { eager: 20, static: 10 }, { project: 'p' });
    const { columns, rows } = await heat('?project=p');
    assert.deepEqual([columns, rows.map((r) => r.name)], [[new Date().toISOString().slice(0, 10)], ['c']]);
    assert.equal((await heat()).columns.length, 3);
});

test('an old commit that is measured later stands before those that come from it', async () => {
    const id = (k) => `${k}`.repeat(40);
    await run('late', id(2), { eager: 30, static: 10 }, { project: 'q' });
    await run('late', id(1), { eager: 20, static: 5 }, { project: 'q' });
    assert.deepEqual((await heat('?project=q')).columns, [id(2), id(1)], 'as they came: nothing says which is older');
    const commits = [1, 2].map((k) => ({ id: id(k), parents: k > 1 ? [id(k - 1)] : [], subject: 's', author: 'a', committed_ns: k }));
    const headers = { 'Content-Type': 'application/json' };
    assert.equal((await getJson(`${server.url}/api/v1/commits`, { method: 'POST', headers, body: JSON.stringify({ project: 'q', commits }) })).body.added, 2);
    const { columns, rows } = await heat('?project=q');
    assert.deepEqual(columns, [id(1), id(2)]);
    assert.deepEqual(rows[0].cells.map((c) => [c.median_us, c.median_of_first]), [[5, 1], [10, 2]]);
});
