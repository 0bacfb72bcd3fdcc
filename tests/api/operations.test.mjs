// tests/api/operations.test.mjs -- what an operator watches and does: counters, probes, the log, an end that lets runs end.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';

import { binary, getJson, longSweep, postRun, startServer, until, waitFor, workersOf, workload } from './harness.mjs';

const quick = { ...workload('    return x * 2'), seconds: 0.01, modes: ['eager', 'static'], backend: 'interp' };
let server;
before(async () => { server = await startServer(); });
after(() => server?.stop());

test('a worker leaves the processors to the server first', async () => {
    const nice = (pid) => +readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ')[16];
    const { body: { id } } = await postRun(server, longSweep());
    const [worker] = await until(async () => {
        const all = workersOf(server);
        return all.length && nice(all[0]) > nice(server.child.pid) && all;
    }, 'a worker below the server');
    assert.equal(nice(worker) - nice(server.child.pid), 5);
    for (const thread of readdirSync(`/proc/${worker}/task`)) assert.equal(nice(`${worker}/task/${thread}`), nice(worker));
    await fetch(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
    await waitFor(server, id);
});

/** {name: {labels: value}} of Prometheus' text, whose form is looked at too. */
async function metrics(of) {
    const response = await fetch(`${of.url}/metrics`);
    assert.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
    const text = await response.text(), types = {}, values = {};
    assert.ok(text.endsWith('\n'));
    for (const line of text.trimEnd().split('\n')) {
        const help = /^# HELP (\w+) \S.*$/.exec(line), type = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line);
        const value = /^(\w+)(?:\{((?:\w+="[^"\\]*",?)*)\})? (-?[\d.e+-]+)$/.exec(line);
        assert.ok(help || type || value, line);
        if (type) types[type[1]] = type[2];
        if (!value) continue;
        assert.ok(types[value[1]] ?? types[value[1].replace(/_(bucket|sum|count)$/, '')], `${value[1]} has no type`);
        (values[value[1]] ??= {})[value[2] ?? ''] = Number(value[3]);
    }
    return values;
}

test('counters: the queue, how workers end, the store', async () => {
    const before = await metrics(server);
    assert.equal(before.breakeven_queue_depth[''], 0);
    assert.equal(before.breakeven_queue_age_seconds[''], 0);
    const { body: { id: long } } = await postRun(server, longSweep());
    await waitFor(server, long, ['running']);
    const waiting = (await postRun(server, quick)).body.id;
    const full = await until(async () => { const m = await metrics(server); return m.breakeven_queue_age_seconds[''] > 0.05 && m; }, 'a run that has waited');
    assert.equal(full.breakeven_queue_depth[''], 1);
    assert.equal(full.breakeven_runs['status="running"'], 1);
    assert.ok(full.breakeven_queue_age_seconds[''] < 600);
    await getJson(`${server.url}/api/v1/runs/${long}`, { method: 'DELETE' });
    assert.equal((await waitFor(server, waiting)).status, 'done');
    const failing = (await postRun(server, { ...quick, source: 'import torch\ndef model(x):\n    raise ValueError("no")\n' })).body.id;
    assert.equal((await waitFor(server, failing)).status, 'failed');
    const ended = (await metrics(server)).breakeven_worker_runs_total;
    const more = Object.fromEntries(Object.entries(ended).map(([end, n]) => [end, n - before.breakeven_worker_runs_total[end]]));
    assert.deepEqual(more, { 'end="done"': 1, 'end="failed"': 1, 'end="cancelled"': 1, 'end="crashed"': 0, 'end="requeued"': 0 });
    const { breakeven_store_bytes: store } = await metrics(server);
    assert.ok(store['part="database"'] >= 4096 && store['part="log"'] > 0 && store['part="files"'] === 0, JSON.stringify(store));
});

test('histograms of answers, by route', async () => {
    const series = (m, part, labels) => m[`breakeven_http_request_duration_seconds_${part}`]?.[labels] ?? 0;
    const labels = 'method="GET",route="/api/v1/passes"';
    const before = await metrics(server);
    for (let i = 0; i < 3; i++) assert.equal((await getJson(`${server.url}/api/v1/passes`)).status, 200);
    assert.equal((await getJson(`${server.url}/api/v1/runs/999999`)).status, 404);
    const now = await until(async () => { const m = await metrics(server); return series(m, 'count', labels) === series(before, 'count', labels) + 3 && m; }, 'three more');
    const buckets = Object.entries(now.breakeven_http_request_duration_seconds_bucket).filter(([of]) => of.startsWith(labels));
    assert.equal(buckets.length, 15);
    assert.deepEqual(buckets.map(([, n]) => n), buckets.map(([, n]) => n).sort((a, b) => a - b), 'they add up');
    assert.equal(buckets.at(-1)[1], series(now, 'count', labels));
    assert.ok(series(now, 'sum', labels) > 0 && series(now, 'sum', labels) < 60);
    assert.ok(series(now, 'count', 'method="GET",route="/api/v1/runs/{id}"') > 0, 'by the route, not by the path');
    assert.ok(now.breakeven_http_responses_total['code="4xx"'] > 0 && now.breakeven_http_responses_total['code="2xx"'] > 3);
});

test('a request has an id: its own, or the plain one that it came with', async () => {
    const id = async (headers) => (await fetch(`${server.url}/api/v1/runs/999999`, { headers })).headers.get('x-request-id');
    const [one, other] = [await id(), await id()];
    assert.match(one, /^[0-9a-f]{16}$/);
    assert.notEqual(one, other);
    assert.equal(await id({ 'X-Request-Id': 'from-the-proxy.1' }), 'from-the-proxy.1');
    for (const bad of ['abc', 'x'.repeat(65), 'a b c d', 'level=error']) assert.match(await id({ 'X-Request-Id': bad }), /^[0-9a-f]{16}$/, bad);
});

test('a worker that was killed is counted as such', async () => {
    const { body: { id } } = await postRun(server, longSweep());
    await waitFor(server, id, ['running']);
    const before = (await metrics(server)).breakeven_worker_runs_total['end="crashed"'];
    await until(() => {
        const pid = spawnSync('pgrep', ['-P', String(server.child.pid), '-f', 'breakeven worker'], { encoding: 'utf8' }).stdout.trim().split('\n')[0];
        if (pid) process.kill(Number(pid), 'SIGKILL');
        return pid;
    }, 'a worker');
    await waitFor(server, id);
    assert.equal((await metrics(server)).breakeven_worker_runs_total['end="crashed"'], before + 1);
});

test('alive and ready are told apart', async () => {
    assert.deepEqual((({ status, body }) => [status, body.status])(await getJson(`${server.url}/livez`)), [200, 'alive']);
    assert.deepEqual((({ status, body }) => [status, body.status])(await getJson(`${server.url}/readyz`)), [200, 'ready']);
});

test('SIGTERM: nothing new is taken, the run in hand ends, what waits is kept', async () => {
    const one = await startServer({ args: ['--drain-seconds', '120'] });
    const slow = (await postRun(one, { ...quick, seconds: 1.5 })).body.id;
    const waiting = (await postRun(one, quick)).body.id;
    await waitFor(one, slow, ['running']);
    one.child.kill('SIGTERM');
    const ready = await until(async () => { const r = await getJson(`${one.url}/readyz`); return r.status === 503 && r; }, 'that it is not ready');
    assert.deepEqual(ready.body.problems.map((p) => p.code), ['draining']);
    assert.equal((await getJson(`${one.url}/livez`)).status, 200);
    assert.equal((await getJson(`${one.url}/healthz`)).status, 200);
    assert.equal((await metrics(one)).breakeven_draining[''], 1);
    for (const [path, body] of [['/runs', quick], ['/suites', { name: 's', suite: 'blocks' }], ['/traces', { name: 't' }]]) {
        const refused = await getJson(`${one.url}/api/v1${path}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
        assert.equal(refused.status, 503, path);
        assert.match(refused.body.error.message, /is to end, and takes no new work/);
        assert.equal(refused.headers.get('retry-after'), '10');
    }
    assert.equal(await one.exited, 0);
    assert.match(one.log(), /SIGTERM: nothing new is taken; run \d+ has 120 s to end in/);
    assert.match(one.log(), new RegExp(`run ${slow}: done`));
    const again = await startServer({ folder: one.home });
    try {
        assert.equal((await getJson(`${again.url}/api/v1/runs/${slow}`)).body.status, 'done');
        assert.equal((await waitFor(again, waiting)).status, 'done');
    } finally {
        await again.stop();
    }
});

test('SIGTERM: a run that does not end in time waits again, and a second signal ends the wait', async () => {
    for (const [seconds, said] of [['1', /run \d+ has not ended within --drain-seconds 1/], ['600', /a second signal: it is stopped at once/]]) {
        const one = await startServer({ args: ['--drain-seconds', seconds] });
        const { body: { id } } = await postRun(one, longSweep());
        await waitFor(one, id, ['running']);
        one.child.kill('SIGTERM');
        if (seconds === '600') {
            await until(() => /nothing new is taken/.test(one.log()), 'that it drains');
            one.child.kill('SIGTERM');
        }
        assert.equal(await one.exited, 0);
        assert.match(one.log(), said);
        assert.match(one.log(), new RegExp(`run ${id}: back in the queue`));
        rmSync(one.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
});

const evil = 'a\n2026-11-21T07:00:00Z info forged\r\u001b[2J"}\\\u007f é';
test('--log-format json: a line is one object, whatever others name', async () => {
    const one = await startServer({ args: ['--log-format', 'json', '--log-requests'] });
    const { body: { id } } = await postRun(one, { ...quick, name: evil });
    await waitFor(one, id);
    await fetch(`${one.url}/api/v1/runs/4711?${encodeURIComponent(evil)}=1`, { headers: { 'X-Request-Id': 'that-one' } });
    await fetch(`${one.url}/${encodeURIComponent(evil)}`);
    for (const long of ['/' + 'x'.repeat(9000), '/' + '%01'.repeat(4000)]) await fetch(one.url + long);
    await one.stop();
    const lines = one.log().trimEnd().split('\n').map((line) => JSON.parse(line));
    for (const line of lines) {
        assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        assert.ok(['info', 'warn', 'error'].includes(line.level));
        assert.equal(typeof line.message, 'string');
    }
    assert.ok(lines.some((line) => line.message === `run ${id}: started (${evil})`), one.log());
    const posted = lines.find((line) => line.message === 'request' && line.method === 'POST');
    assert.deepEqual([posted.path, posted.status, posted.user, posted.address], ['/api/v1/runs', 202, '-', '127.0.0.1']);
    assert.ok(posted.ms > 0 && /^[0-9a-f]{16}$/.test(posted.request));
    const refused = lines.find((line) => line.request === 'that-one');
    assert.deepEqual([refused.method, refused.path, refused.status], ['GET', '/api/v1/runs/4711', 400]);
    assert.match(refused.error, /^there is no parameter/);
    assert.ok(lines.some((line) => line.path === `/${evil}` && line.status === 404));
    assert.deepEqual(lines.filter((line) => /^\/(xxx|\u0001)/.test(line.path)).map((line) => [line.status, line.path.length < 1501]), [[404, true], [404, true]]);
});

test('lines of text are one for each event too', async () => {
    const one = await startServer({ args: ['--log-requests'] });
    await fetch(`${one.url}/${encodeURIComponent(evil)}`);
    await one.stop();
    const lines = one.log().trimEnd().split('\n');
    for (const line of lines.slice(1)) assert.match(line, /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ (info|warn|error) |breakeven )/);
    assert.equal(lines.filter((line) => line.includes('forged')).length, 1);
    assert.match(lines.find((line) => line.includes('forged')), /info request request=[0-9a-f]{16} method=GET path="\/a\?2026-11-21T07:00:00Z info forged\?\?\[2J\\"\}\\\\\? é" status=404 ms=/);
});

test('a form of the log that there is not is refused', () => {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-log-'));
    const done = spawnSync(binary, ['serve', '--log-format', 'xml', '--db', join(folder, 'x.db')], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    assert.equal(done.status, 2);
    assert.match(done.stderr, /--log-format/);
});
