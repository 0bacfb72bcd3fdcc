// tests/api/partial.test.mjs -- a sweep that ends before it is measured keeps the points that are.
import { test, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { getJson, postRun, startServer, sweep, until, waitFor, workersOf } from './harness.mjs';

let server;
before(async () => {
    server = await startServer();
});
after(() => server.stop({ keep: false }));

/** As long as its last point, which nobody waits for. */
const ending = (counts = [1, 2, 3, 4], more = {}) => ({ ...sweep(counts), backend: 'interp', modes: ['eager', 'static'], ...more });
/** A sweep whose last point takes for ever. */
const stuck = (more = {}) => {
    const w = ending([1, 2, 3, 4], more);
    w.sweep = { statements: { pool: ['x = x + 1', 'x = torch.sin(x)', 'x = x * 2', 'for i in range(400): x = x + torch.ones(3000, 3000).matmul(torch.ones(3000, 3000)).sum()'], counts: [1, 2, 3, 4] } };
    return w;
};
const api = (path) => getJson(`${server.url}/api/v1${path}`);
/** The run, when so many of its points are measured. */
const measured = (id, n) => until(async () => {
    const { body } = await api(`/runs/${id}`);
    assert.ok(['queued', 'running'].includes(body.status), JSON.stringify(body.error));
    return body.measured >= n && body;
}, `${n} points of run ${id}`);
const text = async (path) => (await fetch(`${server.url}/api/v1${path}`)).text();

function holds(run, status, points) {
    assert.equal(run.status, status);
    assert.deepEqual(run.partial, { measured: points, of: 4 });
    assert.deepEqual(run.report.partial, { measured: points, of: 4 });
    assert.deepEqual(run.report.points.map((p) => p.n), [1, 2, 3, 4].slice(0, points));
    for (const p of run.report.points) {
        assert.ok(p.modes.static.latency.median_us > 0);
        assert.ok(p.modes.static.graphs.length > 0, 'a point is whole, not its time alone');
        assert.ok(p.break_even.static.verdict);
    }
    assert.equal(run.findings.points.length, points);
    assert.ok(run.environment.cpu);
}

test('a run that is cancelled keeps its points: in the API, the list, exports and the terminal', async () => {
    const id = (await postRun(server, stuck())).body.id;
    const live = await measured(id, 3);
    await fetch(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
    const run = await waitFor(server, id, ['cancelled']);
    holds(run, 'cancelled', 3);
    assert.equal(run.report.points[2].modes.static.latency.median_us, live.points[2].modes.static.latency.median_us, 'what was shown is what is kept');
    const { runs } = (await api(`/runs?q=%23${id}`)).body;
    assert.deepEqual(runs[0].partial, { measured: 3, of: 4 });
    assert.equal(runs[0].summary, null, 'no verdict is counted that the sweep did not reach');
    assert.match(await text(`/runs/${id}/export?format=html`), /3 of the sweep(&#39;|'|&apos;)s 4 points/);
    assert.match(await text(`/runs/${id}/export?format=csv&table=modes`), /static/);
    assert.deepEqual((await api(`/runs/${id}/report.json`)).body.partial, { measured: 3, of: 4 });
    const shown = execFileSync(process.env.BREAKEVEN ?? 'build/breakeven', ['show', '--db', server.store, String(id)], { encoding: 'utf8' });
    assert.match(shown, /partial: 3 of the sweep's 4 points were measured/);
    const other = await api(`/compare?a=${id}&b=${id}`);
    assert.equal(other.status, 409, 'a part is compared with nothing');
    const { points } = (await api(`/history?workload=chain_sweep&metric=latency&mode=static`)).body;
    for (const p of points) assert.ok(p.run.id !== id || p.value === null, 'no figure of a part');
});

test('so does one whose worker ends, and one that takes too long', async () => {
    const killed = (await postRun(server, stuck())).body.id;
    await measured(killed, 3);
    for (const pid of workersOf(server)) process.kill(pid, 'SIGKILL');
    const run = await waitFor(server, killed, ['failed']);
    holds(run, 'failed', 3);
    assert.equal(run.error.code, 'worker');
    const brief = await startServer({ args: ['--run-seconds', '25'] });
    const late = (await postRun(brief, stuck({ seconds: 0.2 }))).body.id;
    const over = await waitFor(brief, late, ['failed']);
    holds(over, 'failed', 3);
    await brief.stop();
});

test('a point that fails leaves those before it', async () => {
    const w = ending();
    w.sweep = { statements: { pool: ['x = x + 1', 'x = torch.sin(x)', 'x = x.reshape(3)'], counts: [1, 2, 3, 4] } };
    const id = (await postRun(server, w)).body.id;
    const run = await waitFor(server, id, ['failed']);
    holds(run, 'failed', 2);
    assert.ok(run.error.line > 0);
});

test('where no point was measured, or there is no sweep, nothing is kept, and a run that is done is whole', async () => {
    const w = { ...stuck(), sweep: undefined, source: 'import torch\n\ndef model(x):\n    for i in range(1000000): sum(range(1000000))\n    return x\n' };
    const id = (await postRun(server, w)).body.id;
    await waitFor(server, id, ['running']);
    await fetch(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
    const run = await waitFor(server, id, ['cancelled']);
    assert.equal(run.partial, null);
    assert.equal(run.report, null);
    const done = await waitFor(server, (await postRun(server, ending([1, 2]))).body.id);
    assert.equal(done.status, 'done');
    assert.equal(done.partial, null);
    assert.equal(done.report.partial, undefined);
    assert.equal(done.report.points.length, 2);
});

test('its export brings the points back, once and again, as bounded as its sweep is', async () => {
    const w = ending();
    w.sweep = { statements: { pool: ['x = x + 1', 'x = torch.sin(x)', 'x = x.reshape(3)'], counts: [1, 2, 3, 4] } };
    const id = (await postRun(server, w)).body.id;
    const was = await waitFor(server, id, ['failed']);
    const again = async (from, query = '', change = (t) => t) => {
        const file = JSON.parse(await text(`/runs/${from}/export?format=chrome${query}`));
        const body = JSON.stringify(change(file) ?? file);
        const answer = await getJson(`${server.url}/api/v1/imports`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body });
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
        return (await api(`/runs/${answer.body.id}`)).body;
    };
    const is = await again(id);
    holds(is, 'failed', 2);
    assert.deepEqual(is.error, was.error);
    const { imported: _, ...report } = is.report;
    assert.deepEqual(report, was.report);
    assert.deepEqual(is.findings, was.findings);
    assert.deepEqual((await api(`/runs?q=%23${is.id}`)).body.runs[0].partial, { measured: 2, of: 4 });
    holds(await again(is.id), 'failed', 2);
    const hidden = await again(id, '&redact=1');
    assert.deepEqual([hidden.status, hidden.partial, hidden.report.points.length, hidden.workload.source], ['failed', { measured: 2, of: 4 }, 2, undefined]);
    assert.match(await text(`/runs/${is.id}/export?format=html`), /2 of the sweep(&#39;|'|&apos;)s 4 points/);
    // What a stranger made of it, and what an earlier version wrote, is a run that ended without points.
    const spoils = [
        (r) => { r.partial.of = 1e9; }, (r) => { r.partial.of = 2; }, (r) => { r.partial.measured = 0; }, (r) => { r.partial.measured = -1; }, (r) => { r.partial.measured = 3; },
        (r) => { delete r.partial; }, (r) => { r.points = []; }, (r, head) => { head.report = null; },
    ];
    for (const spoil of spoils) {
        const other = await again(id, '', (file) => { spoil(file.breakeven.report, file.breakeven); });
        assert.deepEqual([other.status, other.partial, other.report, other.error], ['failed', null, null, was.error], String(spoil));
    }
});
