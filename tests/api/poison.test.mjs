// tests/api/poison.test.mjs -- breakeven run --poison: what is written outside of a buffer is found, and what nobody wrote is a NaN.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { binary, workload } from './harness.mjs';

const modes = ['eager', 'static', 'dynamic', 'auto', 'lazy', 'graphs'];
const plugin = join(dirname(binary), 'tests', 'plugins', 'overrun.so');

function run(work, ...flags) {
    return spawnSync(binary, ['run', '-', '--json', '--plugin', plugin, ...flags], { input: JSON.stringify(work), encoding: 'utf8', maxBuffer: 1 << 26 });
}

for (const mode of modes) {
    for (const [op, place] of [['one_past', 'bytes 0 to 3 past the end'], ['one_before', 'bytes 1 to 4 before the first byte']]) {
        test(`${mode}: an op that writes ${op.replace('_', ' ')} its result is named`, () => {
            const work = workload(`    y = torch.ops.demo.${op}(x * 2)\n    return y + 1`, { modes: [mode] });
            const { status, stderr } = run(work, '--poison');
            assert.equal(status, 1, stderr);
            assert.match(stderr, /memory outside of a buffer was overwritten/);
            assert.ok(stderr.includes(place), stderr);
            assert.match(stderr, /float32 \[/);
            assert.match(stderr, new RegExp(`last written by the kernel .*${op}`));
        });
    }
}

test('what an op leaves unwritten is a NaN in every mode, on every call', () => {
    const work = workload('    return torch.ops.demo.one_short(x * 2) + 1', { modes });
    work.calls = [work.calls[0], work.calls[0], work.calls[0]];
    const { status, stdout, stderr } = run(work, '--poison');
    assert.equal(status, 0, stderr);
    for (const mode of modes) {
        for (const call of JSON.parse(stdout).modes[mode].calls) {
            assert.equal(call.output.tensor.data.at(-1), 'nan', mode);
            assert.equal(call.output.tensor.data[0], 2);
        }
        assert.ok(JSON.parse(stdout).modes[mode].memory_checks.looks > 0);
    }
});

test('poison is a field of a workload too, gives the same values, and is not timed', () => {
    const plain = workload('    h = torch.softmax(x * 2, -1)\n    return h.sum(0), h[:, 1:].contiguous(), torch.cumsum(h, 1)', { modes });
    const with_ = run({ ...plain, poison: true }), without = run(plain, '--no-timing');
    assert.equal(with_.status, 0, with_.stderr);
    const report = JSON.parse(with_.stdout), want = JSON.parse(without.stdout);
    for (const mode of modes)
        assert.deepEqual(report.modes[mode].calls.map((call) => call.output), want.modes[mode].calls.map((call) => call.output));
    assert.equal(report.modes.static.latency, undefined);
    assert.equal(want.modes.static.memory_checks, undefined);
    assert.match(run({ ...plain, poison: 1 }).stderr, /poison must be true or false/);
    assert.equal(run(plain, '--poison', '--post', 'http://127.0.0.1:1').status, 2);
});
