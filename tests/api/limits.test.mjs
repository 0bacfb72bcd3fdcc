// tests/api/limits.test.mjs -- what a workload or a full disk may not do to the server.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, getJson, longSweep, ofFile, postRun, randn, sleep, startServer, until, waitFor, workload } from './harness.mjs';

let server;
before(async () => { server = await startServer({ args: ['--run-seconds', '600'] }); });
after(async () => { await server.stop(); });

/** Address space is only limited where no sanitizer needs all of it. */
const sanitized = /__[at]san_init/.test(readFileSync(binary, 'latin1'));

const double = (...shape) => ({ random: { shape, dtype: 'float64', kind: 'randn', seed: 0 } });

const ends = async (body) => {
    const { status, body: answer } = await postRun(server, body);
    assert.equal(status, 202, JSON.stringify(answer));
    return waitFor(server, answer.id, ['done', 'failed']);
};

test('--run-seconds ends a run that takes longer, says so, and the queue goes on', async () => {
    const quick = await startServer({ args: ['--run-seconds', '1'] });
    const { body } = await postRun(quick, longSweep());
    const run = await waitFor(quick, body.id);
    assert.equal(run.status, 'failed');
    assert.equal(run.error.code, 'worker');
    assert.match(run.error.message, /took over 1 s.*--run-seconds/);
    const next = (await postRun(quick, longSweep())).body.id;
    await waitFor(quick, next, ['running', 'failed']);
    await quick.stop();
    for (const bad of ['0', 'x', '1e9', '-3'])
        assert.equal(spawnSync(binary, ['serve', '--run-seconds', bad]).status, 2, bad);
});

test('a list that grows without end fails with the memory that it wanted', { skip: sanitized && 'no limit on address space under a sanitizer' }, async () => {
    // The server's limit is large; an operator's lower one holds for workers too.
    const small = await startServer({ prefix: ['bash', '-c', 'ulimit -v 1000000; exec "$@"', 'limited'] });
    const { body } = await postRun(small, workload('    kept = []\n    for i in range(100000):\n        kept.append(x + i)\n    return kept[0]',
        { calls: [[randn(1 << 24)]], modes: ['eager'] }));
    const run = await waitFor(small, body.id);
    assert.equal(run.status, 'failed');
    assert.match(run.error.message, /memory|bytes/);
    assert.equal((await getJson(`${small.url}/healthz`)).body.status, 'ok');
    await small.stop();
});

test('tensors larger than the memory fail and say how large', { skip: sanitized && 'no limit on address space under a sanitizer' }, async () => {
    const run = await ends({
        ...workload(''), source: 'import torch\n\ndef model(x, y):\n    z = x + y\n    return torch.exp(z), z\n',
        calls: [[double(65536, 1), double(1, 32767)]], modes: ['eager'],
    });
    assert.equal(run.status, 'failed');
    assert.match(run.error.message, /memory|bytes/);
});

test('an output of millions of elements is summed up, not stored', async () => {
    const run = await ends(workload('    return x, [x, x + 1], {"k": x}', { calls: [[randn(1 << 20)]], modes: ['eager'] }));
    assert.equal(run.status, 'done', JSON.stringify(run.error));
    assert.ok(JSON.stringify(run.report).length < 1 << 20);
});

test('an output of very many small values ends, and the server can show it', async () => {
    const run = await ends(workload('    out = []\n    for i in range(200000):\n        out.append(i)\n    return out', { modes: ['eager'] }));
    assert.equal(run.status, 'failed');
    assert.match(run.error.message, /output of calls\[0\] has over 100000 values/);
});

test('an output that holds itself, or shares its parts without end, fails', async () => {
    for (const lines of ['    y = [x]\n    y.append(y)\n', '    y = [x]\n    for i in range(60):\n        y = [y, y]\n']) {
        const run = await ends(workload(`${lines}    return y`, { modes: ['eager'] }));
        assert.equal(run.status, 'failed');
        assert.match(run.error.message, /output of calls\[0\]/);
    }
});

test('a thousand calls end', async () => {
    const run = await ends(workload('    return x + 1', { calls: Array.from({ length: 1000 }, () => [randn(4)]), modes: ['eager', 'static'] }));
    assert.equal(run.status, 'done', JSON.stringify(run.error));
});

test('deep nesting of source, of values and of output ends with a message', async () => {
    const source = await postRun(server, workload(`    return ${'('.repeat(5000)}x${')'.repeat(5000)}`));
    assert.ok(source.status >= 400 && source.status < 500 || source.status === 202);
    let deep = randn(2);
    for (let i = 0; i < 500; i++) deep = { list: [deep] };
    assert.ok((await postRun(server, workload('    return x', { calls: [[deep]] }))).status >= 400);
    const run = await ends(workload('    y = x\n    for i in range(100000):\n        y = [y]\n    return y', { modes: ['eager'] }));
    assert.equal(run.status, 'failed', 'such an output has no JSON');
    assert.match(run.error.message, /nest|deep|depth/);
});

test('a stopped worker is ended at its limit and the server stops at once', async () => {
    const quick = await startServer({ args: ['--run-seconds', '2'] });
    // A machine that is busy may take so long over it that the run is over: then once more.
    const run = await until(async () => {
        const { body } = await postRun(quick, longSweep());
        await waitFor(quick, body.id, ['running', 'failed']);
        const stopped = spawnSync('pkill', ['-STOP', '-P', String(quick.child.pid)]).status === 0;
        const ended = await waitFor(quick, body.id, ['failed']);
        return stopped && ended;
    }, 'a worker that is stopped while it runs');
    assert.match(run.error.message, /took over 2 s/);
    await quick.stop();
});

test('a server without a temporary folder says so, and is well once it is there', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'breakeven-limits-')), 'temporary');
    const server = await startServer({ prefix: ['env', `TMPDIR=${folder}`] });
    const { status, body } = await getJson(`${server.url}/healthz`);
    assert.deepEqual([status, body.status, body.problems.map((p) => p.code)], [503, 'failing', ['io']]);
    assert.ok(body.problems[0].message.includes(folder));
    mkdirSync(folder);
    assert.deepEqual((await getJson(`${server.url}/healthz`)).body.status, 'ok');
    await server.stop();
    rmSync(dirname(folder), { recursive: true });
});

test('a disk that is full: posts are refused, a run waits for room and is then stored', ofFile, async () => {
    // A limit on file sizes is the same to the store as a full disk, and can be lifted.
    const full = await startServer();
    const first = (await postRun(full, workload('    return x.sum()'))).body.id;
    await waitFor(full, first, ['done']);
    const running = (await postRun(full, workload('    return x * 2', { calls: Array.from({ length: 50 }, () => [randn(4)]) }))).body.id;
    assert.ok(running, 'there is room for a second run');
    execFileSync('prlimit', ['--pid', String(full.child.pid), '--fsize=655360:unlimited']);
    const padded = (i) => workload(`    # ${String.fromCharCode(97 + i % 26).repeat(60000)}\n    return x`);
    let refused;
    for (let i = 0; i < 40 && !refused; i++) {
        const answer = await postRun(full, padded(i));
        if (answer.status !== 202) refused = answer;
    }
    assert.equal(refused?.status, 507, JSON.stringify(refused?.body));
    assert.equal(refused.body.error.code, 'disk-full');
    assert.match(refused.body.error.message, /the disk of the database is full/);
    assert.equal((await getJson(`${full.url}/api/v1/runs`)).status, 200, 'reading goes on');
    const health = await until(async () => {
        const { status, body } = await getJson(`${full.url}/healthz`);
        return status !== 200 && { status, body };
    }, 'that the server says that it fails');
    assert.deepEqual([health.status, health.body.status, health.body.problems[0].code], [503, 'failing', 'disk-full']);
    await sleep(3000);
    const lines = full.log().split('\n').length;
    await sleep(3000);
    assert.ok(full.log().split('\n').length <= lines + 4, 'the log is not flooded');
    execFileSync('prlimit', ['--pid', String(full.child.pid), '--fsize=unlimited:unlimited']);
    await until(async () => (await getJson(`${full.url}/healthz`)).status === 200, 'that the server is well again');
    const stored = await waitFor(full, running, ['done', 'failed']);
    assert.ok(stored.status === 'done' || ['storage', 'disk-full'].includes(stored.error.code), JSON.stringify(stored.error));
    const after = (await postRun(full, workload('    return x'))).body.id;
    const { runs } = (await getJson(`${full.url}/api/v1/runs?status=queued&limit=100`)).body;
    for (const run of runs.filter((r) => r.id !== after))
        await getJson(`${full.url}/api/v1/runs/${run.id}`, { method: 'DELETE' });
    assert.equal((await waitFor(full, after, ['done'])).status, 'done');
    await full.stop();
});
