// tests/api/watch.test.mjs -- `breakeven watch`: a file that is saved is run again, beside the run before.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { binary, until } from './harness.mjs';

const program = (body) => `import torch\n\ndef model(x):\n${body}\n`;

test('a file that is saved is run again and compared with the last run that did not fail; Ctrl-C ends it', async () => {
    const home = mkdtempSync(join(tmpdir(), 'breakeven-watch-'));
    const file = join(home, 'f.py');
    writeFileSync(file, program('    return torch.relu(x * 2)'));
    const child = spawn(binary, ['watch', file, '--input', 'x=float32[64,64]', '--modes', 'eager,static', '--backend', 'interp'], { env: { ...process.env, TMPDIR: home } });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (said += bytes));
    const waits = (n) => until(() => said.split('waiting until').length > n, `${n} runs`);
    await waits(1);
    assert.match(said, /^static +[\d.]+ /m);
    assert.ok(!said.includes('beside the run before'));
    writeFileSync(file, program('    return torch.relu(x *'));
    await waits(2);
    assert.match(said, /f\.py:4/);
    assert.ok(!said.includes('beside the run before'), 'a run that failed is compared with nothing');
    writeFileSync(file, program('    for i in range(20):\n        x = torch.sin(x * 2)\n    return x'));
    await waits(3);
    assert.match(said, /beside the run before:\n.*\n.*\n\nSLOWER\./);
    child.kill('SIGINT');
    assert.equal(await new Promise((done) => child.on('exit', done)), 130);
    assert.deepEqual(readdirSync(home), ['f.py'], 'its folder is gone');
    rmSync(home, { recursive: true });
});

test('what is wrong is said, with the flags of run', () => {
    const run = (...args) => spawnSync(binary, ['watch', ...args], { encoding: 'utf8' });
    for (const [args, message] of [
        [[], /it takes a FILE first/], [['--modes', 'eager', 'f.py'], /it takes a FILE first/], [['f.py', '--json'], /it prints tables/], [['f.py', '--nope'], /--nope/],
    ]) {
        const { status, stderr } = run(...args);
        assert.equal(status, 2, stderr);
        assert.match(stderr, message);
    }
    assert.match(run('--help').stdout, /breakeven watch FILE/);
});
