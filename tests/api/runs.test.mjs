// tests/api/runs.test.mjs -- the way of a run through REST, from post to report.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';

import { binary, getJson, longSweep, postRun, randn, startServer, sweep, until, waitFor, workload } from './harness.mjs';

let server;
before(async () => { server = await startServer(); });
after(async () => { await server.stop(); });

test('the sweep comes back done, with a report as the design says', async () => {
    const { status, body } = await postRun(server, sweep());
    assert.equal(status, 202);
    const run = await waitFor(server, body.id, ['done', 'failed']);
    assert.equal(run.status, 'done', JSON.stringify(run.error));

    const { report } = run;
    assert.equal(report.breakeven, 1);
    assert.deepEqual(report.modes, {});
    assert.deepEqual(report.points.map((p) => p.n), [1, 5, 10, 15, 20, 25, 30]);
    for (const point of report.points) {
        assert.deepEqual(Object.keys(point.modes), ['eager', 'static', 'dynamic']);
        for (const [name, mode] of Object.entries(point.modes)) {
            const [lo, hi] = mode.latency.ci_us;
            assert.ok(lo > 0 && lo <= mode.latency.median_us && mode.latency.median_us <= hi, `${name} at ${point.n}`);
            assert.ok(mode.latency.n > 0);
            assert.ok(mode.peak_bytes > 0);
            for (const part of ['guards', 'dispatch', 'alloc', 'launch', 'kernel'])
                assert.ok(mode.split_us[part] >= 0, `${name}.${part}`);
        }
        // Statement n of the pool is two ops where it has a product in an exp.
        assert.equal(point.modes.static.calls[0].new_graphs, 1);
        assert.equal(point.modes.eager.calls[0].new_graphs, 0);
        assert.equal(point.modes.static.launches, 1);
        assert.equal(point.modes.eager.launches, point.modes.static.graphs[0].ops.length);
        assert.ok(point.break_even.static.speedup_ci[0] <= point.break_even.static.speedup);
        assert.ok(point.break_even.static.speedup <= point.break_even.static.speedup_ci[1]);
    }
    assert.ok('crossover_n' in report.break_even.static);
    assert.ok('crossover_ci' in report.break_even.static);
    assert.ok(run.environment.cpu, 'the machine is stored with the run');
});

test('points of a sweep are there while others are measured, and are those of the report', async () => {
    const { body } = await postRun(server, { ...sweep(), backend: 'interp' });
    const seen = await until(async () => {
        const run = (await getJson(`${server.url}/api/v1/runs/${body.id}`)).body;
        assert.ok(['queued', 'running'].includes(run.status), 'it ended before two points were seen');
        return run.points?.length >= 2 && run.measured <= run.points.length && run.points;
    }, 'two measured points');
    const { report, points, measured } = await waitFor(server, body.id);
    assert.deepEqual([points, measured], [undefined, 0]);
    for (const [i, point] of seen.entries()) {
        const whole = report.points[i];
        assert.equal(point.n, whole.n);
        assert.deepEqual(point.break_even, whole.break_even);
        for (const [name, { latency }] of Object.entries(point.modes)) {
            const { samples_ns, ...rest } = whole.modes[name].latency;
            assert.ok(samples_ns.length > 0);
            assert.deepEqual(latency, rest);
        }
    }
});

test('values and errors of one call are what the program says', async () => {
    const { body } = await postRun(server, workload('    return x + 1', {
        calls: [[{ tensor: { shape: [2], dtype: 'float32', data: [1, 2.5] } }]],
    }));
    const run = await waitFor(server, body.id);
    assert.equal(run.status, 'done', JSON.stringify(run.error));
    for (const mode of ['eager', 'static', 'dynamic'])
        assert.deepEqual(run.report.modes[mode].calls[0].output,
            { tensor: { shape: [2], dtype: 'float32', data: [2, 3.5] } });
});

test('shapes that do not broadcast fail with line and column', async () => {
    const { status, body } = await postRun(server, {
        ...workload(''), source: 'import torch\n\ndef model(x, y):\n    z = x * 2\n    return z + y\n',
        calls: [[randn(8, 16), randn(4, 16)]],
    });
    assert.equal(status, 202);
    const run = await waitFor(server, body.id);
    assert.equal(run.status, 'failed');
    assert.equal(run.error.line, 5);
    assert.ok(run.error.column >= 12);
    assert.match(run.error.message, /8.*4|4.*8/);
    assert.equal(run.report, null);
});

test('an endless loop and a deep recursion fail with their line, and the server goes on', async () => {
    const loop = await postRun(server, workload('    while True:\n        x = x + 0\n    return x'));
    const deep = await postRun(server, {
        ...workload(''), source: 'import torch\n\ndef f(n):\n    return f(n - 1) if n > 0 else 0\n\ndef model(x):\n    return x + f(10000)\n',
    });
    const looped = await waitFor(server, loop.body.id);
    assert.equal(looped.status, 'failed');
    assert.ok(looped.error.line === 4 || looped.error.line === 5, JSON.stringify(looped.error));
    const recursed = await waitFor(server, deep.body.id);
    assert.equal(recursed.status, 'failed');
    assert.equal(recursed.error.code, 'recursion');
    assert.equal(recursed.error.line, 4);
    assert.equal((await getJson(`${server.url}/healthz`)).body.status, 'ok');
});

test('progress comes as server-sent events and ends with the run', async () => {
    // It waits for another until it is listened to: however quick it is, none of its events is missed.
    const before = (await postRun(server, longSweep())).body.id;
    const { body } = await postRun(server, sweep([1, 5]));
    const response = await fetch(`${server.url}/api/v1/runs/${body.id}/events`);
    await getJson(`${server.url}/api/v1/runs/${before}`, { method: 'DELETE' });
    assert.match(response.headers.get('content-type'), /^text\/event-stream/);
    const text = await response.text(); // ends by itself
    const events = text.split('\n\n').filter((e) => /^event:/m.test(e));
    assert.ok(events.length >= 2);
    assert.match(events.at(-1), /^event: end$/m);
    const shares = events.map((e) => JSON.parse(e.split('data: ')[1]).progress);
    assert.deepEqual(shares, [...shares].sort((a, b) => a - b), 'progress never goes back');
    assert.equal(JSON.parse(events.at(-1).split('data: ')[1]).status, 'done');
});

test('a queued and a running run can be cancelled, an ended one removed', async () => {
    const running = (await postRun(server, longSweep())).body.id;
    const queued = (await postRun(server, longSweep())).body.id;
    await waitFor(server, running, ['running']);
    const remove = (id) => getJson(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
    assert.equal((await remove(queued)).body.did, 'cancelled');
    assert.equal((await waitFor(server, queued)).status, 'cancelled');
    assert.equal((await remove(running)).body.did, 'cancelled');
    assert.equal((await waitFor(server, running)).status, 'cancelled');
    assert.equal((await remove(running)).body.did, 'removed');
    assert.equal((await getJson(`${server.url}/api/v1/runs/${running}`)).status, 404);
});

test('a worker that is killed fails its run, and the next run works', async () => {
    const { body } = await postRun(server, longSweep());
    await waitFor(server, body.id, ['running']);
    await until(() => spawnSync('pkill', ['-KILL', '-P', String(server.child.pid)]).status === 0, 'a worker');
    const run = await waitFor(server, body.id);
    assert.equal(run.status, 'failed');
    assert.match(run.error.message, /killed/);
    assert.deepEqual((await readdir(server.home)).filter((name) => name.startsWith('breakeven-scratch')), [],
        'its temporary files went with it');
    const next = await postRun(server, workload('    return x.sum()'));
    assert.equal((await waitFor(server, next.body.id)).status, 'done');
});

test('runs are listed, filtered and paged', async () => {
    for (const project of ['alpha', 'alpha', 'beta']) {
        const { body } = await postRun(server, workload('    return x', { name: `p_${project}`, project, tags: ['t1', project] }));
        await waitFor(server, body.id);
    }
    const list = async (query) => (await getJson(`${server.url}/api/v1/runs?${query}`)).body;
    assert.equal((await list('project=alpha')).runs.length, 2);
    assert.equal((await list('tag=beta')).runs.length, 1);
    assert.equal((await list('q=P_AL')).total, 2);
    const first = await list('limit=1&project=alpha');
    const second = await list(`limit=1&project=alpha&cursor=${first.next}`);
    assert.ok(first.runs[0].id > second.runs[0].id);
    assert.equal(second.next, null);
    assert.deepEqual(first.runs[0].tags.sort(), ['alpha', 't1']);
    const names = async (query) => (await list(query)).runs.map((r) => r.name);
    assert.deepEqual(await names('q=p_&sort=name'), ['p_alpha', 'p_alpha', 'p_beta']);
    assert.deepEqual(await names('q=p_&sort=-name&limit=1&offset=1'), ['p_alpha']);
    const { runs, facets } = await list('q=p_&sort=-speedup&facets=1');
    assert.ok(runs[0].summary.speedup >= runs[1].summary.speedup);
    assert.equal(runs[0].recent.at(-1), runs[0].summary.speedup);
    assert.deepEqual(facets.project.filter(([p]) => p === 'alpha'), [['alpha', 2]]);
    const word = runs[0].summary.verdict.toLowerCase().replace(' ', '-');
    const judged = await list(`q=p_&verdict=${word}`);
    assert.deepEqual([...new Set(judged.runs.map((r) => r.summary.verdict))], [runs[0].summary.verdict]);
    assert.ok(facets.verdict.some(([v, n]) => v === word && n >= judged.total));
    const broken = await list('verdict=broken&limit=500');
    assert.ok(broken.total > 0 && broken.runs.every((r) => r.status === 'failed'), 'the runs of the tests above');
    assert.deepEqual(facets.verdict.find(([v]) => v === 'broken'), ['broken', broken.total]);
    for (const bad of ['verdict=FASTER', 'verdict=x', 'limit=0', 'limit=x', 'cursor=-1', 'status=gone', 'sort=id', 'sort=-', 'offset=-1', 'sort=name&cursor=3'])
        assert.equal((await getJson(`${server.url}/api/v1/runs?${bad}`)).status, 400, bad);
});

test('the experiment downloads as a Python script that compiles', async () => {
    const { body } = await postRun(server, sweep([1, 5]));
    const response = await fetch(`${server.url}/api/v1/runs/${body.id}/script.py`);
    assert.equal(response.status, 200);
    const script = await response.text();
    execFileSync('python3', ['-c', 'import sys; compile(sys.stdin.read(), "script", "exec")'], { input: script });
    assert.match(script, /torch\.compile/);
    await waitFor(server, body.id);
});

test('the findings of a run are its own, however often and in what order runs are asked for', async () => {
    const ids = [];
    for (const modes of [['eager', 'static'], ['eager', 'static', 'dynamic']]) {
        const { body } = await postRun(server, workload('    return x * 2 + 1', { name: `asked ${modes.length}`, modes }));
        await waitFor(server, body.id, ['done']);
        ids.push(body.id);
    }
    const first = [];
    for (const id of ids)
        first.push((await getJson(`${server.url}/api/v1/runs/${id}`)).body);
    for (const i of [1, 0, 0, 1]) {
        const { body } = await getJson(`${server.url}/api/v1/runs/${ids[i]}`);
        assert.deepEqual(body.findings, first[i].findings);
        assert.ok(body.findings);
    }
    assert.deepEqual(first.map((run) => Object.keys(run.findings.points[0].modes).length), [2, 3]);
});

test('the list is filtered by numbers and bounds; what is no number is refused', async () => {
    const other = await startServer();
    const post = async (body) => waitFor(other, (await postRun(other, { ...workload(body), backend: 'interp' })).body.id);
    const straight = await post('    return x + 1');
    const broken = await post('    print("a")\n    y = x + 1\n    print("b")\n    return y * 2');
    const found = async (query) => (await getJson(`${other.url}/api/v1/runs?${query}`)).body.runs?.map((r) => r.id).sort();
    assert.equal(broken.summary.breaks, 2);
    for (const [query, ids] of [
        ['breaks=2', [broken.id]], ['breaks=%3E1', [broken.id]], ['breaks=%3C%3D0', [straight.id]], ['breaks=%3E2', []], ['breaks=%3E%3D0', [straight.id, broken.id]],
        [`speedup=${straight.summary.speedup}`, [straight.id]], [`median=%3C${straight.summary.median_us}&breaks=0`, []], ['speedup=%3E0&breaks=2', [broken.id]],
    ]) assert.deepEqual(await found(query), ids, query);
    for (const wrong of ['many', '%3E', '%3D2', '%3E%202', 'nan', '1e999', '2..3']) {
        const { status, body } = await getJson(`${other.url}/api/v1/runs?breaks=${wrong}`);
        assert.equal(status, 400, wrong);
        assert.match(body.error.message, /^breaks=.*: a number is needed, with <, <=, > or >= before it/);
    }
    await other.stop();
});

test('a filter is kept under a name: listed, used by the list and the command, renamed, removed', async () => {
    const ask = (path, method = 'GET', body) => getJson(`${server.url}/api/v1${path}`, { method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
    const [one] = await Promise.all(['viewed one', 'viewed two'].map(async (name) => (await waitFor(server, (await postRun(server, { ...workload('    return x'), name, project: 'seen', tags: [name.slice(-3)], backend: 'interp', modes: ['eager'], seconds: 0.01 })).body.id)).id));
    const made = await ask('/views', 'POST', { name: '  the first ', page: 'runs', project: 'seen', query: { q: 'viewed', tag: 'one', sort: 'name' } });
    assert.equal(made.status, 201);
    assert.deepEqual([made.body.name, made.body.project, made.body.page, made.body.query], ['the first', 'seen', 'runs', { q: 'viewed', tag: 'one', sort: 'name' }]);
    const { id } = made.body;
    assert.deepEqual((await ask(`/runs?view=${id}`)).body.runs.map((r) => r.id), [one]);
    assert.deepEqual((await ask(`/runs?view=${id}&tag=two`)).body.runs.map((r) => r.name), ['viewed two']);
    await ask('/views', 'POST', { name: 'a step', page: 'history', query: { workload: 'viewed one', metric: 'median' } });
    assert.deepEqual((await ask('/views')).body.views.map((v) => v.name), ['a step', 'the first']);
    assert.deepEqual((await ask('/views?page=runs')).body.views.map((v) => v.id), [id]);
    assert.deepEqual((await ask('/views?project=seen')).body.views.map((v) => v.project), ['', 'seen']);
    const runs = (...args) => spawnSync(binary, ['runs', ...args, '--db', server.store], { encoding: 'utf8' });
    assert.match(runs('--view', 'the first').stdout, /^#\d+ +\d{4}-\d\d-\d\d \d\d:\d\d {2}viewed one .* seen\n\n1 of 1 run\n$/);
    assert.deepEqual(JSON.parse(runs('viewed', '--tag', 'two', '--json').stdout).runs.map((r) => r.name), ['viewed two']);
    for (const [args, status, message] of [[['--view', 'none'], 1, /there is no view 'none' of runs/], [['--verdict', 'slow'], 2, /verdict=slow: one of faster/], [['--sort', 'size'], 2, /sort=size: one of age/], [['--limit', '0'], 2, /--limit/]]) {
        const got = runs(...args);
        assert.deepEqual([got.status, got.stdout], [status, ''], got.stderr);
        assert.match(got.stderr, message);
    }
    for (const [body, status, message] of [
        [{ name: 'the first', page: 'runs', project: 'seen', query: {} }, 409, /has a view 'the first'/],
        [{ name: '', page: 'runs', query: {} }, 400, /name: a text of 1 to 80 bytes/],
        [{ name: 'x', page: 'suites', query: {} }, 400, /page must be runs or history/],
        [{ name: 'x', page: 'runs', query: { colour: 'red' } }, 400, /query\.colour is no filter of runs/],
        [{ name: 'x', page: 'runs', query: { q: 1 } }, 400, /query\.q is a text/],
        [{ name: 'x', page: 'runs', query: 'q=1' }, 400, /an object of texts/],
        [{ name: 'x', page: 'runs', query: {}, more: 1 }, 400, /more is not taken here/],
        [{ name: 'x', page: 'runs', query: { q: 'y'.repeat(4001) } }, 400, /the limit is 4000/],
    ]) {
        const got = await ask('/views', 'POST', body);
        assert.deepEqual([got.status, message.test(got.body.error.message)], [status, true], JSON.stringify(got.body));
    }
    assert.deepEqual([(await ask(`/views/${id}`, 'PATCH', { name: 'renamed' })).body.name, (await ask('/views/999', 'PATCH', { name: 'x' })).status], ['renamed', 404]);
    assert.deepEqual((await ask(`/views/${id}`, 'DELETE')).body, { id, removed: true });
    assert.deepEqual([(await ask(`/runs?view=${id}`)).status, (await ask(`/views/${id}`, 'DELETE')).status], [404, 404]);
});
