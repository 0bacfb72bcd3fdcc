// tests/api/trace.test.mjs -- `breakeven trace` on a machine without a GPU: a fake CUPTI and
// a fake driver (tests/cupti) stand for the real ones.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binary } from './harness.mjs';

const [fake, driver] = ['libcupti_fake.so', 'driver'].map((f) => join(dirname(binary), 'tests/cupti', f));
const without = existsSync(fake) && existsSync(driver) ? false : 'no headers of the CUDA Toolkit here';

/** Runs a trace; the file's blocks as {kind, events}. */
function trace(command, { env = {}, args = ['--cupti', fake] } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-trace-test-'));
    const file = join(folder, 'out.trace');
    const done = spawnSync(binary, ['trace', '-o', file, ...args, '--', ...command],
        { encoding: 'utf8', env: { ...process.env, ...env } });
    const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
    const blocks = [];
    for (let at = 0; at < bytes.length; at += 48 + Number(bytes.readBigUInt64LE(at + 32)))
        blocks.push({ kind: bytes.readUInt32LE(at + 4), events: bytes.readUInt32LE(at + 8) });
    rmSync(folder, { recursive: true });
    return { ...done, bytes, events: blocks.reduce((n, b) => n + b.events, 0), blocks };
}

test('kernels of a process are recorded, dropped ones counted, its status passed on', { skip: without }, () => {
    const t = trace([driver, '3'], { env: { FAKE_KERNELS: '200000', FAKE_DROPPED: '5' } });
    assert.equal(t.status, 3);
    assert.match(t.stderr, /200000 kernels, 5 dropped, 0 lost, 0 doubtful\n/);
    assert.equal(t.events, 200000 + 200);
    assert.ok(t.blocks.every((b) => b.events <= 65536));
    assert.ok(t.bytes.length < 200000);
});

test('children have lanes of their own', { skip: without }, () => {
    const t = trace(['sh', '-c', `${driver} 0 & ${driver} 0 & wait`], { env: { FAKE_KERNELS: '10' } });
    assert.equal(t.status, 0);
    assert.equal(t.stderr.match(/10 kernels, 0 dropped, 0 lost, 1 doubtful/g).length, 2);
    assert.equal(t.events, 20);
});

test('who else records is named', { skip: without }, () => {
    const t = trace([driver, '0'], { env: { FAKE_HOLDER: 'Nsight Systems' } });
    assert.equal(t.status, 0);
    assert.match(t.stderr, /another profiler records this process already: Nsight Systems/);
});

test('a program without CUDA, a signal, a missing program and a missing library', { skip: without }, () => {
    const plain = trace(['sh', '-c', 'exit 7']);
    assert.equal(plain.status, 7);
    assert.match(plain.stderr, /no process of the command used CUDA/);
    assert.equal(trace(['sh', '-c', 'kill -9 $$']).status, 137);
    assert.equal(trace(['/nonexistent']).status, 127);
    assert.match(trace([driver, '0'], { args: ['--cupti', '/no/libcupti.so'] }).stderr, /no CUPTI/);
    assert.match(trace([driver, '0'], { args: ['--inject', '/no/inject.so'] }).stderr, /there is no/);
});

test('wrong flags are named', () => {
    for (const args of [['--what'], ['-o'], ['-o', 'x'], ['--']]) {
        const t = spawnSync(binary, ['trace', ...args], { encoding: 'utf8' });
        assert.equal(t.status, 2);
        assert.match(t.stderr, /breakeven trace: .*; write breakeven trace/);
    }
});
