// tests/api/query.test.mjs -- SQL over a run: what it answers, and what it refuses.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { binary, getJson, postLongTrace, postRun, startServer, waitFor, workload } from './harness.mjs';

let server, run, long;
before(async () => {
    server = await startServer();
    run = (await postRun(server, workload('    y = torch.relu(x) * 2\n    print("between")\n    return y.sum()', { backend: 'interp' }))).body.id;
    long = await postLongTrace(server);
    await waitFor(server, run);
});
after(() => server?.stop());

const ask = (id, sql, more = {}) => getJson(`${server.url}/api/v1/runs/${id}/query`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ sql, ...more }),
});
async function rows(id, sql, more) {
    const { status, body } = await ask(id, sql, more);
    assert.equal(status, 200, JSON.stringify(body));
    return body.rows;
}

test('events, lanes, kernels and links answer as the timeline has them', async () => {
    const { status, body } = await ask(long, "SELECT name, count(*) AS n, sum(duration_ns) AS ns FROM kernels GROUP BY name ORDER BY n DESC, name");
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.columns, ['name', 'n', 'ns']);
    assert.equal(body.cut, null);
    assert.equal(body.events, 20000);
    const groups = (await getJson(`${server.url}/api/v1/runs/${long}/timeline/groups?by=kernel&limit=1000`)).body;
    assert.deepEqual(new Map(body.rows.map(([name, n, ns]) => [name, `${n} ${ns}`])), new Map(groups.rows.map((r) => [r.text, `${r.count} ${r.sum_ns}`])));
    assert.deepEqual(await rows(long, 'SELECT count(*) FROM links'), [[10000]]);
    assert.deepEqual(await rows(long, 'SELECT min(delay_ns), max(delay_ns) FROM links'), [[3000, 3000]]);
    assert.deepEqual(await rows(long, "SELECT count(*) FROM lanes WHERE role = 'kernels'"), [[2]]);
    assert.deepEqual(await rows(long, 'SELECT count(*) FROM events', { t0: 1000000, t1: 1100000 }), [[(await getJson(`${server.url}/api/v1/runs/${long}/timeline/groups?t0=1000000&t1=1100000`)).body.events]]);
    const [[few]] = await rows(long, 'SELECT count(*) FROM (SELECT 1 FROM events LIMIT 7)');
    assert.equal(few, 7);
});

test('breaks and compilations of a run are tables, of one mode where it is asked for', async () => {
    const breaks = await rows(run, "SELECT mode, line, kind, count FROM breaks WHERE stage = 'capture'", { mode: 'static' });
    assert.equal(breaks.length, 1);
    assert.deepEqual(breaks[0].slice(0, 2), ['static', 5]);
    const compiles = await rows(run, 'SELECT mode, compile, nodes > 0, kernels > 0, compile_ms >= 0 FROM compiles', { mode: 'static' });
    assert.equal(compiles.length, 2);
    for (const c of compiles) assert.deepEqual([c[0], ...c.slice(2)], ['static', 1, 1, 1]);
    const [[calls]] = await rows(run, "SELECT count(*) FROM events WHERE kind = 'call'", { mode: 'static' });
    assert.ok(calls >= 3);
});

test('nothing but one SELECT over these tables is run, and what is wrong says where', async () => {
    const refused = async (sql, why, more) => {
        const { status, body } = await ask(long, sql, more);
        assert.equal(status, 400, `${sql}: ${JSON.stringify(body).slice(0, 200)}`);
        assert.match(body.error.message, why, sql);
        return body.error;
    };
    const place = await refused('SELECT name\nFROM events\nWHERE missing = 1', /no such column: missing/);
    assert.deepEqual([place.line, place.column], [3, 7]);
    await refused('SELEC 1', /near "SELEC": syntax error/);
    await refused('', /a statement is needed/);
    assert.deepEqual(await rows(long, 'SELECT 1; -- that is all'), [[1]]);
    await refused('SELECT 1; SELECT 2', /another follows: +SELECT 2/);
    await refused('DELETE FROM event_rows', /changes something is not allowed/);
    await refused('CREATE TABLE x (a)', /changes something is not allowed/);
    await refused("ATTACH '/etc/passwd' AS x", /ATTACH and DETACH is not allowed/);
    await refused('PRAGMA table_info(events)', /PRAGMA table_info is not allowed/);
    await refused("SELECT * FROM pragma_table_info('events')", /not allowed/);
    await refused('SELECT * FROM sqlite_master', /the table sqlite_master is not allowed/);
    await refused("SELECT load_extension('x')", /load_extension|not allowed/);
    await refused("SELECT readfile('/etc/passwd')", /no such function: readfile/);
    await refused('EXPLAIN SELECT 1', /reads is needed/);
    await refused('BEGIN', /not allowed|needed/);
    await refused("VACUUM INTO '/tmp/x'", /not allowed|needed/);
    await refused('WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n', /takes longer than 10/);
    await refused('SELECT length(zeroblob(1e9))', /too big/);
    await refused(`SELECT ${'('.repeat(2000)}1${')'.repeat(2000)}`, /too deep|overflow|depth/i);
    await refused('SELECT 1', /1 to 100000 rows/, { limit: 0 });
    await refused('SELECT 1', /"what" is not known/, { what: 1 });
    await refused('SELECT 1', /json or csv is needed/, { format: 'html' });
    assert.equal((await ask(4000, 'SELECT 1')).status, 404);
});

test('an answer is cut at its limits and says so; texts of any bytes come back', async () => {
    const cut = (await ask(long, 'SELECT id FROM events', { limit: 10 })).body;
    assert.equal(cut.rows.length, 10);
    assert.equal(cut.cut, 'rows');
    const big = (await ask(long, "SELECT printf('%.*c', 60000, 'x') FROM events", { limit: 1000 })).body;
    assert.equal(big.cut, 'bytes');
    assert.ok(big.rows.length < 300);
    assert.deepEqual(await rows(long, "SELECT CAST(x'ff41' AS TEXT), x'00ff', NULL, 1e999"), [['(a text that is no UTF-8)', '(2 bytes)', null, null]]);
});

test('rows are a table too, from the server and from the command', async () => {
    const r = await fetch(`${server.url}/api/v1/runs/${long}/query`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ sql: "SELECT 'a,b' AS t, 1.5 AS x, NULL AS none, '=1' AS f", format: 'csv' }) });
    assert.match(r.headers.get('content-type'), /text\/csv/);
    const cut = await fetch(`${server.url}/api/v1/runs/${long}/query`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ sql: 'SELECT name FROM events', format: 'csv', limit: 2 }) });
    assert.match(await cut.text(), /^name\r\n[^#]*\r\n# cut by rows\r\n$/);
    assert.equal(await r.text(), `t,x,none,f\r\n"a,b",1.5,,"'=1"\r\n`);
    const command = (...args) => spawnSync(binary, ['query', String(long), ...args, '--db', server.store], { encoding: 'utf8' });
    const told = command('SELECT count(*) AS n FROM kernels');
    assert.deepEqual([told.status, told.stdout], [0, 'n\r\n10000\r\n'], told.stderr);
    assert.deepEqual(JSON.parse(command('SELECT 1', '--json').stdout), { columns: ['1'], rows: [[1]], cut: null, events: 20000 });
    const wrong = command('SELECT\n x FROM events');
    assert.deepEqual([wrong.status, wrong.stderr], [1, 'breakeven query: 2:2: no such column: x\n']);
    assert.equal(spawnSync(binary, ['query', '1']).status, 2);
});
