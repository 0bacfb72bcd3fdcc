// tests/api/run_flags.test.mjs -- `breakeven run --autocast`: a field put over the workload's.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-run-'));
test.after(() => rmSync(folder, { recursive: true }));

const run = (file, ...flags) => spawnSync(binary, ['run', file, '--no-timing', '--json', ...flags], { encoding: 'utf8' });
const dtype = (done) => JSON.parse(done.stdout).modes.eager.calls[0].output.tensor.dtype;

test('a .py file runs under autocast, and a workload with or without it', () => {
    const program = join(folder, 'a.py');
    const workload = join(folder, 'a.json');
    const source = 'import torch\n\ndef model(x):\n    return x @ x\n';
    writeFileSync(program, source);
    writeFileSync(workload, JSON.stringify({
        name: 'a', source, calls: [[{ random: { shape: [4, 4] } }]], modes: ['eager'], backend: 'interp', autocast: 'bfloat16',
    }));
    const input = ['--input', 'x=float32[4,4]', '--backend', 'interp'];
    assert.equal(dtype(run(program, ...input)), 'float32');
    assert.equal(dtype(run(program, ...input, '--autocast', 'float16')), 'float16');
    assert.equal(dtype(run(workload)), 'bfloat16');
    assert.equal(dtype(run(workload, '--autocast=float16')), 'float16');
    assert.equal(dtype(run(workload, '--autocast=none')), 'float32');
    writeFileSync(join(folder, 'empty.json'), '');
    assert.match(run(join(folder, 'empty.json')).stderr, /empty\.json is empty/);
    assert.match(run('LICENSE').stderr, /LICENSE is not JSON: line 1, .*; a program's name ends in \.py/);
    const wrong = run(workload, '--autocast', 'float32');
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /--autocast float32: one of bfloat16, float16, none is needed/);
});
