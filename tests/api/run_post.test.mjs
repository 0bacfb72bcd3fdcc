// tests/api/run_post.test.mjs -- `breakeven run --post`, and --device cuda:N.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';
import { decodeTimeline } from '../../web/js/model/timeline.js';

const quick = { modes: ['eager', 'static'], backend: 'interp' };

/** [status, stdout, stderr] of the binary, while this process answers others. */
const run = (...args) => new Promise((done) => {
    const child = spawn(binary, args);
    const said = ['', ''];
    child.stdout.on('data', (b) => { said[0] += b; });
    child.stderr.on('data', (b) => { said[1] += b; });
    child.on('close', (status) => done([status, ...said]));
});

test('what was measured here is a run of the server, with its report and timeline', async () => {
    const server = await startServer();
    try {
        const file = join(server.home, 'posted.json');
        writeFileSync(file, JSON.stringify({ ...workload('    print("x")\n    return torch.relu(x).sum()', quick), name: 'posted', project: 'p', tags: ['t'] }));
        const [status, out, err] = await run('run', file, '--json', '--post', server.url);
        assert.equal(status, 0, err);
        const id = Number(/breakeven run: run (\d+) of http/.exec(err)[1]);
        const { body } = await getJson(`${server.url}/api/v1/runs/${id}`);
        assert.deepEqual([body.status, body.name, body.project, body.tags, body.modes], ['done', 'posted', 'p', ['t'], quick.modes]);
        const report = JSON.parse(out);
        assert.deepEqual(body.report.modes, report.modes);
        assert.deepEqual(body.report.break_even, report.break_even);
        const view = decodeTimeline(await (await fetch(`${server.url}/api/v1/runs/${id}/timeline?mode=static`)).arrayBuffer());
        assert.ok(view.lanes.length > 0 && view.totals.length > 0);
        const again = await getJson(`${server.url}/api/v1/compare?a=${id}&b=${id}`);
        assert.equal(again.status, 200);
    } finally {
        await server.stop();
    }
});

test('weights go before the run, so that it can be run again there', async () => {
    const server = await startServer({ args: ['--files-gib', '1'] });
    try {
        const file = join(server.home, 'weighed.py'), big = join(server.home, 'big.safetensors');
        // Longer than one piece: one tensor of 2.5 million floats.
        const header = Buffer.from(JSON.stringify({ w: { dtype: 'F32', shape: [2500000], data_offsets: [0, 10000000] } }).padEnd(128));
        const length = Buffer.alloc(8);
        length.writeBigUInt64LE(BigInt(header.length));
        writeFileSync(big, Buffer.concat([length, header, Buffer.alloc(10000000, 1)]));
        writeFileSync(file, '# input: x=float32[4]\nfrom safetensors.torch import load_file\nw = load_file("big.safetensors")["w"][:4]\ndef model(x):\n    return x * w\n');
        const posted = () => run('run', file, '--modes', 'eager', '--weights', big, '--post', server.url);
        const [status, , err] = await posted();
        assert.equal(status, 0, err);
        const { body } = await getJson(`${server.url}/api/v1/files`);
        assert.deepEqual(body.files.map((f) => f.bytes), [10000136]);
        const id = Number(/breakeven run: run (\d+) of http/.exec(err)[1]);
        const { body: there } = await getJson(`${server.url}/api/v1/runs/${id}`);
        assert.deepEqual(there.workload.weights, { 'big.safetensors': body.files[0].id });
        assert.equal((await posted())[0], 0); // what is there is not sent again
        assert.equal((await getJson(`${server.url}/api/v1/files`)).body.files.length, 1);
        const { body: made } = await postRun(server, there.workload);
        assert.equal((await waitFor(server, made.id)).status, 'done');
    } finally {
        await server.stop();
    }
});

test('a server that takes no weights gets the run, and the command says so', async () => {
    const server = await startServer({ args: ['--files-gib', '0'] });
    try {
        const file = join(server.home, 'weighed.py');
        writeFileSync(file, '# input: x=float32[1]\ndef model(x):\n    return x\n');
        const [status, , err] = await run('run', file, '--modes', 'eager', '--weights', 'tests/weights/net.safetensors', '--post', server.url);
        assert.equal(status, 1);
        assert.match(err, /weights tests\/weights\/net\.safetensors not posted: .*--files-gib; without them the run cannot be run again there\n/);
        assert.match(err, /breakeven run: run \d+ of http/);
    } finally {
        await server.stop();
    }
});

test('a server that is not there, is none, or has nothing to be posted', () => {
    const file = 'web/examples/1_chain_sweep.json';
    const said = (...args) => {
        const done = spawnSync(binary, ['run', file, '--modes', 'eager', '--at', '1', '--backend', 'interp', ...args], { encoding: 'utf8' });
        return [done.status, done.stderr];
    };
    assert.deepEqual(said('--post', 'nowhere'), [1, 'breakeven run: nowhere is no server\'s address; http://127.0.0.1:8080 is one\n']);
    const [status, err] = said('--post', 'http://127.0.0.1:1');
    assert.equal(status, 1);
    assert.match(err, /not posted: http:\/\/127\.0\.0\.1:1: /);
    assert.equal(said('--post', 'http://127.0.0.1:1', '--no-timing')[0], 2);
});

test('--device cuda:N is GPU N of those that can be seen', () => {
    const said = (device, env = {}, command = 'run') => {
        const done = spawnSync(binary, [command, 'web/examples/1_chain_sweep.json', '--device', device, ...(command === 'run' ? ['--no-timing'] : ['--db', '/proc/none'])],
            { encoding: 'utf8', env: { ...process.env, ...env } });
        return [done.status, done.stderr];
    };
    for (const command of ['run', 'suite']) {
        for (const device of ['cuda:', 'cuda:x', 'cuda:-1', 'cuda:64', 'cuda1', 'gpu']) assert.equal(said(device, {}, command)[0], 2, `${command} ${device}`);
        const [status, err] = said('cuda:1', { CUDA_VISIBLE_DEVICES: '3' }, command);
        assert.equal(status, 2);
        assert.match(err, /CUDA_VISIBLE_DEVICES has no entry for --device cuda:1/);
        assert.notEqual(said('cuda:1', { CUDA_VISIBLE_DEVICES: '3,GPU-5f' }, command)[0], 2);
    }
});
