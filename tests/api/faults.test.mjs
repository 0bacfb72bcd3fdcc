// tests/api/faults.test.mjs -- runs on a GPU that fails, and on none: a driver that does
// nothing but fail by order (tests/cuda) takes the place of the real one.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { binary, postRun, startServer, waitFor, workload } from './harness.mjs';

const folder = resolve(dirname(binary), 'tests/cuda');
const without = existsSync(join(folder, 'libcuda.so.1')) ? false : 'no headers of the CUDA Toolkit here';
const path = `LD_LIBRARY_PATH=${folder}:${join(folder, 'nvrtc')}`;
const job = (more) => workload('    y = torch.softmax(x, 1)\n    z = y.sum(0)\n    return z', { device: 'cuda', ...more });

test('a kernel that fails ends its run, with its line; the server and the next run go on', { skip: without }, async () => {
    const home = mkdtempSync(join(tmpdir(), 'breakeven-device-'));
    const order = join(home, 'order');
    // A worker reads the folders of LD_LIBRARY_PATH, and of its environment what begins with CUDA_.
    const server = await startServer({ prefix: ['env', `${path}:${home}`, `CUDA_STAND_IN_FAULT=@${order}`] });
    const ended = async (fault, more) => {
        writeFileSync(order, fault);
        const { status, body } = await postRun(server, job(more));
        assert.equal(status, 202);
        return waitFor(server, body.id);
    };

    // The sixth kernel is found when a seventh is launched, and would be any of those
    // between two waits: a second worker waits for each.
    const failed = await ended('kernel 6 700', { modes: ['static'], calls: Array(4).fill(job().calls[0]) });
    assert.equal(failed.status, 'failed');
    assert.equal(failed.error.code, 'device');
    assert.equal(failed.error.line, 5);
    assert.match(failed.error.message, /^the kernel fused_sum \(line 5\) failed on stand-in GPU: an illegal memory access was encountered \(CUDA_ERROR_ILLEGAL_ADDRESS\); this process has lost the device/);
    assert.equal((await ended('')).status, 'done');

    const full = await ended('memory 100000', { calls: [[{ random: { shape: [512, 512], dtype: 'float32', kind: 'randn', seed: 0 } }]] });
    assert.equal(full.error.code, 'memory');
    assert.match(full.error.message, /stand-in GPU is out of memory: 1\.0 MiB were asked for, 0\.0 MiB are in use here .* and 0\.1 MiB free/);
    assert.equal((await ended('')).status, 'done');
    await server.stop();
    rmSync(home, { recursive: true });
});

test('a launch that is refused, and one that is waited for, are known at once', { skip: without }, () => {
    const run = (order) => spawnSync(binary, ['run', '-', '--no-timing'], {
        input: JSON.stringify(job({ modes: ['graphs'] })), encoding: 'utf8',
        env: { ...process.env, LD_LIBRARY_PATH: path.slice(16), CUDA_STAND_IN_FAULT: order, CUDA_LAUNCH_BLOCKING: '1' },
    });
    const first = run('kernel 1 719');
    assert.equal(first.status, 1);
    assert.match(first.stderr, /source:4:9: the kernel fused_amax\w* \(line 4\) failed/);
    assert.match(run('launch 2 1').stderr, /source:5:9: the launch of fused_sum \(line 5\) failed on stand-in GPU: invalid argument/);
});

test('a run on a device that is not there says so by its code', async (t) => {
    const server = await startServer();
    const { body } = await postRun(server, job());
    const run = await waitFor(server, body.id);
    if (run.status === 'done') t.skip('a GPU is here');
    else {
        assert.equal(run.error.code, 'no-device');
        assert.match(run.error.message, /the device cuda does not work here: .*; leave the device out, or choose cpu/);
    }
    await server.stop();
});
