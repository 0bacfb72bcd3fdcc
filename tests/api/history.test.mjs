// tests/api/history.test.mjs -- a workload over its runs, notes, baselines, commits.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary, getJson, postRun, startServer, storeSql, waitFor, workload } from './harness.mjs';

const quick = { backend: 'interp', seconds: 0.2, threads: 1, modes: ['eager', 'static'], name: 'chain' };
const body = '    x = x * 1.1\n    return x.sum()';
const sweep = { ...workload('    ...\n    return x', quick), sweep: { statements: { pool: ['x = x + 1'], counts: [1, 3] } } };

let server, ids;
before(async () => {
    server = await startServer();
    ids = [];
    for (const w of [workload(body, { ...quick, commit: 'aaa' }), workload(body, { ...quick, commit: 'bbb' }),
        workload('    return x.reshape(3)', quick), sweep]) {
        const { body: { id } } = await postRun(server, w);
        await waitFor(server, id);
        ids.push(id);
    }
});
after(() => server?.stop());

const history = (query) => getJson(`${server.url}/api/v1/history?${query}`);
const patch = (id, json) => getJson(`${server.url}/api/v1/runs/${id}`, {
    method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: typeof json === 'string' ? json : JSON.stringify(json),
});

test('the runs of a workload, oldest first, failed ones too, with the figure and its interval', async () => {
    const { status, body: h } = await history('workload=chain&metric=latency&mode=static');
    assert.equal(status, 200);
    assert.deepEqual(h.points.map((p) => p.run.id), ids);
    assert.deepEqual(h.points.map((p) => p.run.status), ['done', 'done', 'failed', 'done']);
    const [a, b, failed, swept] = h.points;
    assert.deepEqual([a.run.commit, b.run.commit], ['aaa', 'bbb']);
    assert.ok(a.ci[0] <= a.value && a.value <= a.ci[1] && a.samples > 0);
    assert.deepEqual([failed.value, failed.ci, failed.source], [null, null, null]);
    assert.deepEqual([a.n, swept.n], [null, 3], 'of a sweep the last point');
    assert.match(a.source, /^[0-9a-f]{12}$/);
    assert.equal(a.source, b.source);
    assert.notEqual(a.source, swept.source);
    assert.equal(a.settings, b.settings);
    assert.deepEqual([h.unit, h.more_is_better, h.total, h.pending], ['us', false, 4, false]);
    assert.deepEqual(h.known.modes.sort(), ['eager', 'static']);
    assert.deepEqual(h.known.points, [1, 3]);
    assert.ok(h.known.metrics.some((m) => m.name === 'peak_bytes' && m.title === 'peak memory'));
    const report = (await getJson(`${server.url}/api/v1/runs/${ids[0]}`)).body.report;
    assert.equal(a.value, report.modes.static.latency.median_us);
    assert.equal('change_points' in h, false, 'nobody has looked for them');
});

test('the lines that a sweep puts in are part of the source', async () => {
    const lines = (pool) => ({ ...sweep, name: 'swept', sweep: { statements: { pool, counts: [1, 2] } } });
    for (const pool of [['x = x + 1'], ['x = x + 1'], ['x = torch.sin(x)']])
        await waitFor(server, (await postRun(server, lines(pool))).body.id);
    const { points: [a, b, other] } = (await history('workload=swept')).body;
    assert.equal(a.source, b.source);
    assert.notEqual(b.source, other.source);
});

test('filters: source, point, limit; what is left out has a default', async () => {
    const all = (await history('workload=chain')).body;
    assert.deepEqual([all.metric, all.mode], ['speedup', 'static']);
    const source = all.points[0].source;
    assert.deepEqual((await history(`workload=chain&source=${source}`)).body.points.map((p) => p.run.id), ids.slice(0, 2));
    assert.deepEqual((await history('workload=chain&metric=latency&n=1')).body.points.map((p) => p.value !== null),
        [false, false, false, true]);
    const last = (await history('workload=chain&limit=1')).body;
    assert.deepEqual([last.points.length, last.points[0].run.id, last.total], [1, ids[3], 4]);
    const none = (await history('workload=none')).body;
    assert.deepEqual([none.points, none.total, none.known.modes], [[], 0, []]);
    assert.deepEqual((await history('')).body, { workload: null, workloads: [{ name: 'swept', runs: 3 }, { name: 'chain', runs: 3 }] });
});

test('bad questions are answered in words', async () => {
    for (const [query, message] of [
        ['workload=chain&metric=speed', /metric speed: one of latency speedup compile_ms/],
        ['workload=chain&n=x', /n=x: a point of the sweep/],
        ['workload=chain&source=xyz', /source=xyz: hexadecimal/],
        ['workload=chain&limit=0', /limit=0: a whole number/],
    ]) {
        const { status, body: { error } } = await history(query);
        assert.equal(status, 400);
        assert.match(error.message, message);
    }
});

test('a note, tags and a baseline stay with the run', async () => {
    const note = '<img src=x onerror=alert(1)> new driver';
    const { status, body: run } = await patch(ids[0], { note, baseline: true, tags: ['nightly'] });
    assert.equal(status, 200);
    assert.deepEqual([run.note, run.baseline, run.tags], [note, true, ['nightly']]);
    const point = (await history('workload=chain')).body.points[0].run;
    assert.deepEqual([point.note, point.baseline, point.tags], [note, true, ['nightly']]);
    assert.equal((await patch(ids[1], { baseline: true })).body.note, '');
    const marks = (await history('workload=chain')).body.points.map((p) => p.run.baseline);
    assert.deepEqual(marks, [false, true, false, false], 'one baseline a workload');
    assert.equal((await getJson(`${server.url}/api/v1/runs?tag=nightly`)).body.total, 1);
    assert.equal((await patch(ids[0], { note: '' })).body.note, '');
});

test('what cannot be said of a run is refused', async () => {
    for (const [json, status, message] of [
        [{}, 400, /an object with name, project, note, tags, baseline or pinned/],
        [[1], 400, /an object with name, project, note, tags, baseline or pinned/],
        [{ colour: 'x' }, 400, /colour cannot be changed/],
        [{ note: 1 }, 400, /note must be a string of 0 to 4000/],
        [{ note: 'x'.repeat(4001) }, 400, /0 to 4000/],
        [{ baseline: 1 }, 400, /baseline must be true or false/],
        [{ tags: 'x' }, 400, /tags must be a list/],
        [{ tags: [''] }, 400, /tags\[0\] must be a string of 1 to 64/],
        [{ tags: ['a\nb'] }, 400, /in one line/],
        ['{', 400, /not JSON/],
    ]) {
        const { status: got, body: { error } } = await patch(ids[0], json);
        assert.equal(got, status, JSON.stringify(json).slice(0, 80));
        assert.match(error.message, message);
    }
    assert.equal((await patch(999, { note: 'x' })).status, 404);
    const form = await getJson(`${server.url}/api/v1/runs/${ids[0]}`, { method: 'PATCH', body: 'note=x' });
    assert.equal(form.status, 415, 'another site cannot send it');
});

test('a comparison counts the runs that repeat each side', async () => {
    const third = (await postRun(server, workload(body, { ...quick, commit: 'aaa' }))).body.id;
    const fourth = (await postRun(server, workload(body, { ...quick, commit: 'aaa' }))).body.id;
    await waitFor(server, fourth);
    const { body: c } = await getJson(`${server.url}/api/v1/compare?a=${ids[0]}&b=${third}`);
    const f = c.comparisons[0].figures.find((x) => x.metric === 'latency' && x.mode === 'static');
    assert.deepEqual([f.a.repeats, f.b.repeats], [3, 3]);
});

test('runs of an older store get their figures when they are asked for', async () => {
    const home = server.home;
    await server.stop({ keep: true });
    storeSql(server.store, 'DELETE FROM run_figure');
    storeSql(server.store, "UPDATE run_row SET source_hash = '', settings_hash = ''");
    server = await startServer({ folder: home });
    const { body: h } = await history('workload=chain&metric=latency');
    assert.ok(h.points[0].value > 0);
    assert.equal(h.pending, false);
});

test('breakeven run keeps the commit of the folder it runs in, unless told one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-git-'));
    const git = (...args) => execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: folder, stdio: 'pipe' }).toString().trim();
    const run = (...args) => {
        const done = spawnSync(binary, ['run', 'w.json', '--json', ...args], { cwd: folder, encoding: 'utf8' });
        assert.equal(done.status, 0, done.stderr);
        const { commit, branch } = JSON.parse(done.stdout).workload;
        return [commit, branch];
    };
    writeFileSync(join(folder, 'w.json'), JSON.stringify(workload(body, quick)));
    assert.deepEqual(run(), [undefined, undefined], 'no repository');
    git('init', '-q', '-b', 'work');
    assert.deepEqual(run(), [undefined, undefined], 'no commit yet');
    git('add', 'w.json');
    git('commit', '-q', '-m', 'one');
    const head = git('rev-parse', 'HEAD');
    assert.deepEqual(run(), [head, 'work']);
    git('tag', 'v1');
    writeFileSync(join(folder, 'w.json'), JSON.stringify(workload(body, { ...quick, seconds: 0.21 })));
    assert.deepEqual(run(), [`${head}-dirty`, 'work']);
    git('checkout', '-q', '--detach');
    assert.deepEqual(run(), [`${head}-dirty`, undefined]);
    assert.deepEqual(run('--commit', 'abc', '--branch', 'main'), ['abc', 'main']);
    rmSync(folder, { recursive: true });
});

test('runs under two policies are no repeats of each other', async () => {
    for (const policy of ['dynamo', undefined, 'native'])
        await waitFor(server, (await postRun(server, workload(body, { ...quick, name: 'policies', policy }))).body.id);
    const { points } = (await history('workload=policies')).body;
    assert.deepEqual(points.map((p) => p.parting ?? null), [null, null, 'settings changed: policy none, then native']);
});
