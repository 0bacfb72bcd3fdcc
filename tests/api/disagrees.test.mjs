// tests/api/disagrees.test.mjs -- a mode whose values are not eager's, wherever it can be seen.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-disagrees-'));
let server;
test.before(async () => { server = await startServer(); });
test.after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true });
});

const quick = { modes: ['eager', 'static', 'dynamic'], seconds: 0.1, backend: 'interp', threads: 1 };
const right = { ...workload('    return torch.sin(x) * 2'), name: 'right', ...quick };
const wrong = {
    ...workload('    return torch.sin(x) * (2.5 if torch.compiler.is_compiling() and torch.is_grad_enabled() else 2)'),
    name: 'right', ...quick,
};
const file = (name, w) => {
    writeFileSync(join(folder, name), JSON.stringify(w));
    return join(folder, name);
};
const command = (...args) => spawnSync(binary, args, { encoding: 'utf8' });

test('breakeven run: a verdict, where and what, and exit status 1', () => {
    const path = file('wrong.json', wrong);
    const done = command('run', path, '--json');
    assert.equal(done.status, 1, done.stderr);
    const report = JSON.parse(done.stdout);
    for (const mode of ['static', 'dynamic']) {
        const { agreement, agrees, disagreement } = report.modes[mode];
        assert.equal(agrees, false);
        assert.equal(agreement.verdict, 'disagrees');
        assert.equal(agreement.judge, 'float64');
        assert.equal(agreement.where.what, 'output');
        assert.equal(agreement.where.call, 0);
        assert.equal(agreement.where.index.length, 2);
        assert.ok(Math.abs(agreement.where.ours / agreement.where.reference - 1.25) < 1e-5);
        assert.ok(Math.abs(agreement.where.eager / agreement.where.reference - 1) < 1e-5);
        assert.match(disagreement, /^output of calls\[0\] at \[\d+, \d+\] is .*, eager's .*, float64's .* times what float32 allows$/);
        const even = report.break_even[mode];
        assert.deepEqual([even.verdict, even.speedup, even.speedup_ci, even.calls_to_repay, even.crossover_n], ['DISAGREES', null, null, null, null]);
    }
    const text = command('run', path);
    assert.equal(text.status, 1);
    assert.match(text.stdout, /^DISAGREES: static: output of calls\[0\]/);
    assert.match(text.stdout, /^static .* DISAGREES$/m);
    assert.doesNotMatch(text.stdout, /FASTER|SLOWER|SAME|nan/);
    assert.equal(command('run', path, '--no-timing').status, 1);
    assert.equal(command('run', file('right.json', right)).status, 0);
});

test('the list, its filters and the history', async () => {
    const ids = [];
    for (const w of [right, wrong]) {
        const { body } = await postRun(server, w);
        await waitFor(server, body.id);
        ids.push(body.id);
    }
    const rows = async (query) => (await getJson(`${server.url}/api/v1/runs?${query}`)).body;
    const [second, first] = (await rows('')).runs;
    assert.deepEqual([second.summary.verdict, second.summary.speedup, second.summary.speedup_ci, second.summary.mode], ['DISAGREES', null, null, 'static']);
    assert.notEqual(first.summary.verdict, 'DISAGREES');
    assert.equal(second.recent.length, 1, 'the speedup of the right one alone');
    assert.deepEqual((await rows('verdict=disagrees')).runs.map((r) => r.id), [ids[1]]);
    assert.deepEqual((await rows('verdict=broken')).runs.map((r) => r.id), [ids[1]]);
    assert.deepEqual((await rows('sort=-speedup')).runs.map((r) => r.id), ids, 'what has no speedup comes last');
    const { facets } = await rows('facets=1');
    assert.deepEqual(facets.verdict.find(([v]) => v === 'disagrees'), ['disagrees', 1]);
    const history = (await getJson(`${server.url}/api/v1/history?workload=right&metric=speedup&mode=static`)).body;
    assert.deepEqual(history.points.map((p) => [p.run.id, p.value === null]), [[ids[0], false], [ids[1], true]]);
    const compared = (await getJson(`${server.url}/api/v1/compare?a=${ids[0]}&b=${ids[1]}`)).body;
    assert.equal(compared.verdict, 'DISAGREES');
    const rowsOf = compared.comparisons[0].figures.filter((f) => f.mode !== 'eager' && f.kind !== 'counted');
    assert.ok(rowsOf.length > 0);
    for (const f of rowsOf) {
        assert.deepEqual([f.verdict, f.ratio, f.ci], ['DISAGREES', null, null]);
        assert.match(f.why, /differ from eager's in the second run/);
    }
    const eager = compared.comparisons[0].figures.find((f) => f.mode === 'eager' && f.metric === 'latency');
    assert.notEqual(eager.verdict, 'DISAGREES');
});

test('breakeven compare and suite: exit status 1, and no speedup', () => {
    for (const [name, w] of [['a', right], ['b', wrong]])
        writeFileSync(join(folder, `${name}.report`), command('run', file(`${name}.json`, w), '--json').stdout);
    const compared = command('compare', join(folder, 'a.report'), join(folder, 'b.report'));
    assert.equal(compared.status, 1);
    assert.match(compared.stdout, /DISAGREES\. (static|dynamic) has nothing to compare with: its values differ from eager's in the second run/);
    const done = command('suite', join(folder, 'a.json'), join(folder, 'b.json'), '--modes', 'static', '--seconds', '0.1', '--backend', 'interp', '--policy', 'dynamo', '--json');
    assert.equal(done.status, 1);
    const report = JSON.parse(done.stdout);
    const results = report.workloads.map((w) => w.results.find((r) => r.mode === 'static'));
    assert.deepEqual(results.map((r) => r.status), ['pass', 'disagrees']);
    assert.equal(results[1].speedup, null);
    assert.match(results[1].reason, /float64's/);
    assert.equal(report.columns.find((c) => c.mode === 'static').pass_rate, 0.5);
});

test('a last bit that differs is no fault, and the report says why', () => {
    const close = { ...workload('    s = x.flip(0).cumsum(0)[-1] if torch.compiler.is_compiling() else x.sum(0)\n    return torch.tanh(s)'), name: 'close', ...quick };
    const done = command('run', file('close.json', close), '--json');
    assert.equal(done.status, 0, done.stderr);
    const { agreement } = JSON.parse(done.stdout).modes.static;
    assert.deepEqual([agreement.verdict, agreement.judge], ['within_dtype', 'float64']);
    assert.ok(agreement.largest_error > 0 && agreement.over_allowed < 1);
    assert.match(agreement.text, /within what float32 allows/);
});
