// tests/api/suite.test.mjs -- `breakeven suite`: folders, lists, what fails, flags.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binary, workload } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-suite-'));
test.after(() => rmSync(folder, { recursive: true }));

const suite = (...args) => spawnSync(binary, ['suite', ...args], { encoding: 'utf8' });
const quick = ['--seconds', '0.02', '--backend', 'interp', '--modes', 'static'];
const column = (report, policy, mode) => report.columns.find((c) => c.policy === policy && c.mode === mode);
const result = (report, name, mode, policy = 'dynamo') =>
    report.workloads.find((w) => w.name === name).results.find((r) => r.mode === mode && r.policy === policy);

const files = join(folder, 'models');
mkdirSync(files);
writeFileSync(join(files, 'a.json'), JSON.stringify({ ...workload('    return (x * 2).sum()'), name: 'a' }));
writeFileSync(join(files, 'b.py'), '# input: x=float32[4]\nimport torch\n\ndef model(x):\n    print("b")\n    return x + 1\n');
writeFileSync(join(files, 'c.py'), '# input: x=float32[4]\nimport torch\n\ndef model(x):\n    return x.reshape(3)\n');
writeFileSync(join(files, 'd.py'), '# input: x=float32[4]\nimport torch\n\ndef model(x:\n    return x\n');
writeFileSync(join(files, 'e.json'), '{"source": ');
writeFileSync(join(files, 'notes.txt'), 'not a workload');

test('a folder: each that fails is a row with its reason, and the others are measured', () => {
    const done = suite(files, '--json', ...quick);
    assert.equal(done.status, 1, done.stderr);
    const report = JSON.parse(done.stdout);
    assert.deepEqual(report.workloads.map((w) => w.name), ['a', 'b', 'c', 'd', 'e.json']);
    assert.equal(report.columns.length, 4);
    const c = column(report, 'native', 'static');
    assert.deepEqual([c.pass, c.failed, c.disagrees, c.workloads, c.engine], [2, 3, 0, 5, 'breakeven']);
    assert.equal(c.pass_rate, 0.4);
    assert.deepEqual([c.geomean.common.n, c.geomean.own.n, report.common.n], [2, 2, 2]);
    const { speedup, speedup_ci: [low, high] } = c.geomean.common;
    assert.ok(low <= speedup && speedup <= high);
    assert.equal(c.histogram.reduce((a, b) => a + b), 2);
    assert.match(result(report, 'c', 'eager').reason, /shape|reshape/);
    assert.match(result(report, 'd', 'static').reason, /^line 4: the '\(' that opens here is never closed/);
    assert.match(result(report, 'e.json', 'static').reason, /is not JSON: line 1/);
    const a = result(report, 'a', 'static');
    assert.equal(a.status, 'pass');
    assert.ok(a.median_us > 0 && a.speedup > 0 && a.launches > 0 && a.peak_bytes > 0 && a.compile_ms >= 0);
    assert.deepEqual(result(report, 'b', 'static').breaks, { capture: 1, lowering: 0 });
    assert.deepEqual(result(report, 'b', 'static', 'native').breaks, { capture: 0, lowering: 0 });
    assert.equal(column(report, 'dynamo', 'static').breaks.capture, 1);
    assert.equal(report.environment.cores > 0, true);
});

test('a list names files, and the table says what failed', () => {
    const list = join(folder, 'some.list');
    writeFileSync(list, '# two\nmodels/a.json\n\nmodels/c.py  # fails\n');
    const done = suite(list, '--policy', 'dynamo', '--name', 'two', ...quick);
    assert.equal(done.status, 1);
    assert.match(done.stdout, /^Suite two: 2 workloads\..*common set, the 1 that/m);
    assert.match(done.stdout, /breakeven +dynamo +static +1\/2 +50 %/);
    assert.match(done.stdout, /^failed: c, breakeven, dynamo: eager, static: line 5: .*reshape/m);
    const passes = suite(join(files, 'a.json'), '--policy', 'dynamo', ...quick);
    assert.equal(passes.status, 0, passes.stderr);
});

test('a mode that fails where eager passes is that mode\'s failure alone', () => {
    const plugin = join(dirname(binary), 'tests/plugins/bad_graph.so');
    const report = JSON.parse(suite(join(files, 'a.json'), '--policy', 'dynamo', '--json', '--plugin', plugin, ...quick).stdout);
    assert.equal(result(report, 'a', 'eager').status, 'pass');
    assert.equal(result(report, 'a', 'static').status, 'failed');
    assert.match(result(report, 'a', 'static').reason, /no_sums of the plugin bad_graph\.so broke the graph/);
    assert.equal(column(report, 'dynamo', 'static').geomean.own.speedup, null);
});

test('wrong flags and paths say what would be right', () => {
    for (const [args, status, message] of [
        [[], 2, /a folder, a file or blocks is missing/],
        [[files, '--modes', 'eager,fast'], 2, /modes has 'fast'; there are eager, static/],
        [[files, '--policy', 'some'], 2, /--policy some: one of dynamo, native, both is needed/],
        [[files, '--device', 'tpu'], 2, /--device tpu: one of cpu, cuda/],
        [[files, '--threads', 'x'], 2, /--threads needs a whole number, not 'x'/],
        [[files, '--seconds', '-1'], 2, /--seconds needs a number/],
        [[files, '--fast'], 2, /unknown flag --fast/],
        [[files, '--modes'], 2, /a value is missing after --modes/],
        [[join(folder, 'none')], 1, /none cannot be opened: No such file/],
        [[folder], 1, /has no workloads: files that end in \.json or \.py/],
        [[files, '--post', 'ftp://x'], 1, /is no server's address/],
    ]) {
        const done = suite(...args);
        assert.equal(done.status, status, `${args}: ${done.stderr}`);
        assert.match(done.stderr, message);
        assert.equal(done.stdout, '');
    }
    assert.equal(suite('--help').status, 0);
});
