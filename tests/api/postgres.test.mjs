// tests/api/postgres.test.mjs -- a store on PostgreSQL: two servers share it, one is killed, and it is copied there and back.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { binary, getJson, postRun, startServer, until, waitFor, workload } from './harness.mjs';
import { missing, psql, startPostgres } from './postgres.mjs';

const body = '    return torch.relu(x + 1.0)';
const quick = { seconds: 0.01, modes: ['eager', 'static'], backend: 'interp' };
const skip = missing() ?? false;
// KILLS=200 in trials.
const KILLS = Number(process.env.KILLS ?? 1);
const folder = mkdtempSync(join(tmpdir(), 'breakeven-copy-'));
let postgres;
before(() => { if (!skip) postgres = startPostgres(); });
after(() => {
    postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
});

const command = (...args) => spawnSync(binary, args, { encoding: 'utf8', env: { ...process.env, TMPDIR: folder } });
function works(...args) {
    const done = command(...args);
    assert.equal(done.status, 0, `${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
}
const listed = async (server) => (await getJson(`${server.url}/api/v1/runs?limit=200`)).body;
/** All that is answered of the runs of a server: by id. */
async function answers(server) {
    const out = {};
    for (const { id } of (await listed(server)).runs) {
        const run = (await getJson(`${server.url}/api/v1/runs/${id}`)).body;
        const history = (await getJson(`${server.url}/api/v1/history?workload=${run.name}`)).body;
        out[id] = { run, history };
    }
    return out;
}

test('copied from a file to PostgreSQL and back, each run is answered as it was, and ids go on', { skip }, async () => {
    const [one, three] = [join(folder, 'one.db'), join(folder, 'three.db')];
    const two = postgres.create();
    const from = await startServer({ db: one });
    for (const name of ['a', 'b', 'b'])
        await waitFor(from, (await postRun(from, workload(body, { ...quick, name, tags: ['z', 'é', 'a'], project: 'p' }))).body.id);
    const gone = (await postRun(from, workload(body, { ...quick, name: 'gone' }))).body.id;
    await waitFor(from, gone);
    await getJson(`${from.url}/api/v1/runs/1`, { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ note: 'a slow driver', baseline: true }) });
    const was = await answers(from);
    const there = JSON.parse(works('store', 'copy', one, two, '--to-files', join(folder, 'files'), '--json'));
    assert.equal(there.tables.run_row, 4);
    // All tables but what a server notes of itself, and what is made again.
    const all = psql(two, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename NOT IN ('store_schema', 'store_turn', 'run_server', 'search_gone', 'run_count') ORDER BY 1").split('\n');
    assert.deepEqual(Object.keys(there.tables).sort(), all);
    const middle = await startServer({ db: two });
    assert.deepEqual(await answers(middle), was);
    const found = (await getJson(`${middle.url}/api/v1/runs?q=${encodeURIComponent('SLOW driver')}`)).body;
    assert.deepEqual([found.runs.map((r) => r.id), found.runs[0].found[0].in], [[1], 'note']);
    for (const route of ['since', 'heat', 'suites', 'history', 'history/changes', 'hooks', 'audit', 'runs?fold=1'])
        assert.equal((await getJson(`${middle.url}/api/v1/${route}`)).status, 200, route);
    await middle.stop();
    works('store', 'copy', two, three, '--from-files', join(folder, 'files'));
    const back = await startServer({ db: three });
    assert.deepEqual(await answers(back), was);
    assert.equal((await postRun(back, workload(body, quick))).body.id, gone + 1);
    await back.stop();
    await from.stop();
    const again = command('store', 'copy', one, two);
    assert.equal(again.status, 1);
    assert.match(again.stderr, /has runs or tokens already/);
    for (const args of [['backup', join(folder, 'no'), '--db', two], ['check', '--db', two]])
        assert.match(command(...args).stderr, /PostgreSQL/);
});

test(`two servers share a store, one of them is killed (${KILLS} times): nothing acknowledged is lost, and each run is done once`, { skip }, async () => {
    const db = postgres.create();
    const stays = await startServer({ db });
    const ids = [];
    for (let i = 0; i < KILLS; i++) {
        const goes = await startServer({ db });
        const posted = await Promise.all([goes, stays, goes, stays].map((s) => postRun(s, workload(body, { ...quick, name: 'shared' }))));
        for (const answer of posted) {
            assert.equal(answer.status, 202, JSON.stringify(answer.body));
            ids.push(answer.body.id);
        }
        // What one server stored the other one answers at once.
        assert.equal((await getJson(`${stays.url}/api/v1/runs/${posted[0].body.id}`)).status, 200);
        await new Promise((done) => setTimeout(done, (i * 37) % 300));
        await goes.stop({ signal: 'SIGKILL' });
    }
    assert.equal(new Set(ids).size, ids.length);
    // A run whose third server was killed has failed, as with one server.
    const ended = async (status) => (await getJson(`${stays.url}/api/v1/runs?status=${status}&limit=1`)).body.total;
    await until(async () => await ended('done') + await ended('failed') === ids.length, 'all runs end');
    assert.equal(psql(db, 'SELECT count(*) FROM report'), String(await ended('done')));
    assert.equal(psql(db, "SELECT count(*) FROM run_row WHERE status <> 'done' AND (attempts < 3 OR error_message NOT LIKE 'the server ended three times%')"), '0');
    await stays.stop();
});

test('a server goes on when its sessions were ended', { skip }, async () => {
    const db = postgres.create();
    const server = await startServer({ db });
    await waitFor(server, (await postRun(server, workload(body, quick))).body.id);
    // All its sessions end.
    psql(postgres.url('postgres'), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'breakeven' AND datname <> 'postgres'");
    await waitFor(server, (await postRun(server, workload(body, quick))).body.id);
    assert.equal((await listed(server)).runs.length, 2);
    await server.stop();
});
