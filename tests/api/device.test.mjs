// tests/api/device.test.mjs -- timelines of a GPU in a run of our own: a driver and a CUPTI
// that stand in (tests/cuda, tests/cupti).  What kernels compute means nothing there.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { binary, postRun, startServer, waitFor, workload } from './harness.mjs';
import { decodeTimeline, DEVICE_KINDS } from '../../web/js/model/timeline.js';

const built = resolve(dirname(binary), 'tests');
const [driver, fake] = [join(built, 'cuda/libcuda.so.1'), join(built, 'cupti/libcupti_fake.so')];
const nvrtc = existsSync('/usr/local/cuda/lib64/libnvrtc.so.13') || existsSync('/usr/local/cuda/lib64/libnvrtc.so');
const without = !existsSync(driver) || !existsSync(fake) ? 'no headers of the CUDA Toolkit here'
    : nvrtc ? false : 'no NVRTC here';

/** A server whose workers find these libraries. */
const start = (env = {}) => {
    const set = { LD_LIBRARY_PATH: join(built, 'cuda'), BREAKEVEN_TRACE_CUPTI: fake, ...env };
    return startServer({ prefix: ['env', ...Object.entries(set).map(([k, v]) => `${k}=${v}`)] });
};
async function view(server, id, query) {
    const response = await fetch(`${server.url}/api/v1/runs/${id}/timeline?${query}`);
    assert.equal(response.status, 200);
    return decodeTimeline(await response.arrayBuffer());
}
const program = workload('    y = torch.relu(x) * 2\n    print("between")\n    return y.sum()', { device: 'cuda' });
const kernels = (v) => v.slices.filter((s) => DEVICE_KINDS.includes(s.kind));

let server, run;
before(async () => {
    if (without) return;
    server = await start();
    run = await waitFor(server, (await postRun(server, program)).body.id);
});
after(() => server?.stop());

test('parts of the backend that are missing have a line each', { skip: without }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-parts-'));
    // What is no library hides one that is installed.
    for (const name of ['libcublasLt.so.13', 'libcublasLt.so.12', 'libcublasLt.so', 'libcudnn.so.9']) writeFileSync(join(folder, name), '');
    const env = { ...process.env, LD_LIBRARY_PATH: [folder, join(built, 'cuda'), join(built, 'cuda/nvrtc')].join(':'), CUDA_HOME: '/nowhere' };
    const listed = (...args) => execFileSync(binary, ['backends', ...args], { env, encoding: 'utf8' });
    try {
        const cuda = JSON.parse(listed('--json')).backends.find((b) => b.name === 'cuda');
        assert.equal(cuda.available, true);
        assert.deepEqual(cuda.lacks.map((l) => l.split(':')[0]), ['no cuBLASLt', 'no cuDNN']);
        assert.match(listed(), /\n {11}no cuDNN: libcudnn\.so\.9 is not on the library path; .*\n/);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test('a GPU that there is not is named', { skip: without }, () => {
    const env = { ...process.env, LD_LIBRARY_PATH: join(built, 'cuda') };
    const on = (n) => spawnSync(binary, ['run', 'tests/workloads/1_chain_sweep.json', '--device', `cuda:${n}`, '--at', '1', '--no-timing'], { env, encoding: 'utf8' });
    const none = on(7);
    assert.equal(none.status, 1);
    assert.match(none.stderr, /finds no GPU under CUDA_VISIBLE_DEVICES='7', .*nvidia-smi lists those there are/);
    assert.equal(on(0).status, 0);
});

test('kernels come from CUPTI, each laid to its launch', { skip: without }, async () => {
    assert.equal(run.error, null);
    for (const mode of ['static', 'eager']) {
        const v = await view(server, run.id, `mode=${mode}`);
        assert.deepEqual(v.lanes.map((l) => l.name).filter((n) => !['breaks', 'graphs'].includes(n)), ['calls', 'host', 'memory', 'GPU 0, stream 7']);
        const calls = v.slices.filter((s) => s.kind === 'call').length;
        const launches = v.slices.filter((s) => s.kind === 'launch');
        assert.ok(calls >= 3);
        assert.equal(kernels(v).length, (mode === 'static' ? 2 : 3) * calls);
        assert.equal(launches.length, kernels(v).length);
        for (const k of kernels(v)) {
            const launch = launches.filter((l) => l.correlation === k.correlation);
            assert.equal(launch.length, 1);
            assert.equal(launch[0].name, k.name);
            assert.deepEqual(v.names[k.name].lines.length, mode === 'static' ? v.names[k.name].lines.length : 1);
            assert.equal(v.shapes[k.shape].registers, 24);
            assert.deepEqual(v.shapes[k.shape].block, [128, 0, 0]);
        }
        assert.equal(v.facts.recorder, 'cupti');
        assert.equal(v.facts.dropped, 0);
        assert.equal(v.facts.doubtful, 0);
    }
    const v = await view(server, run.id, 'mode=static');
    assert.ok(kernels(v).some((k) => v.names[k.name].ops.includes('relu') && v.names[k.name].lines.includes(4)));
});

test('what a library runs is laid to the op that called it, by its external id', { skip: without }, async () => {
    const products = workload('    y = x @ x.t()\n    z = y @ y\n    return torch.relu(z @ y)',
        { device: 'cuda', modes: ['eager', 'static'] });
    const { id } = await waitFor(server, (await postRun(server, products)).body.id);
    const { id: withApi } = await waitFor(server, (await postRun(server, { ...products, record_api: true })).body.id);
    for (const [mode, of] of [['eager', id], ['static', id], ['eager', withApi], ['static', withApi]]) {
        const v = await view(server, of, `mode=${mode}`);
        const ofDriver = v.slices.filter((s) => s.kind === 'api').length;
        assert.equal(v.facts.api_records, of === withApi);
        assert.equal(ofDriver, of === withApi ? kernels(v).length : 0);
        const calls = v.slices.filter((s) => s.kind === 'call').length;
        const launches = v.slices.filter((s) => s.kind === 'launch');
        const ran = kernels(v).filter((k) => v.names[k.name].symbol === 'product');
        assert.equal(ran.length, 3 * calls);
        assert.equal(new Set(ran.map((k) => k.correlation)).size, ran.length);
        for (const k of ran) {
            const launch = launches.find((l) => l.correlation === k.correlation);
            assert.ok(launch.start <= k.start && v.names[k.name].ops.includes('matmul'));
        }
        assert.deepEqual([...new Set(ran.flatMap((k) => v.names[k.name].lines))].sort(), [4, 5, 6]);
        assert.equal(v.facts.doubtful, 0);
    }
});

test('an op of several kernels of our own has them all, and no other\'s', { skip: without }, async () => {
    const sorts = workload('    y = torch.sort(x)[0]\n    z = torch.sort(y * 2)[0]\n    return torch.cumsum(z, 0), torch.sort(z)[0]',
        { device: 'cuda', modes: ['eager', 'static'], calls: [[{ random: { shape: [4, 5000], dtype: 'float32', kind: 'randn', seed: 0 } }]] });
    const { id, error } = await waitFor(server, (await postRun(server, sorts)).body.id);
    assert.equal(error, null);
    for (const mode of ['eager', 'static']) {
        const v = await view(server, id, `mode=${mode}`);
        const launches = v.slices.filter((s) => s.kind === 'launch');
        assert.ok(kernels(v).length > launches.length, `${kernels(v).length} of ${launches.length} launches`);
        assert.equal(v.facts.doubtful, 0);
        const of = (line) => kernels(v).filter((k) => v.names[k.name].lines?.includes(line)).length;
        assert.ok(of(4) > 0 && of(5) >= of(4));
        for (const k of kernels(v)) assert.equal(launches.filter((l) => l.correlation === k.correlation).length, 1);
    }
});

test('a CUDA graph is recorded as it was launched: one launch, its kernels laid to what they compute', { skip: without }, async () => {
    const chain = workload('    y = torch.softmax(x, 1)\n    z = torch.softmax(y @ y.t(), 0)\n    return z.sum(1)', { device: 'cuda', modes: ['static', 'graphs'] });
    const { id, error } = await waitFor(server, (await postRun(server, chain)).body.id);
    assert.equal(error, null);
    const [one, whole] = [await view(server, id, 'mode=static'), await view(server, id, 'mode=graphs')];
    const calls = (v) => v.slices.filter((s) => s.kind === 'call').length;
    const launches = whole.slices.filter((s) => s.kind === 'launch');
    assert.equal(launches.length, calls(whole));
    assert.equal(whole.names[launches[0].name].name, 'CUDA graph of graph 0');
    assert.ok(whole.names[launches[0].name].read_bytes > 0);
    const each = kernels(one).length / calls(one);
    assert.ok(each >= 4, `${each} kernels a call`);
    for (const launch of launches) {
        const ran = kernels(whole).filter((k) => k.correlation === launch.correlation);
        const names = (v, list) => list.map((k) => `${v.names[k.name].name} ${v.names[k.name].symbol ?? ''} ${k.kind}`);
        assert.deepEqual(names(whole, ran), names(one, kernels(one).slice(0, each)));
    }
    assert.equal(kernels(whole).length, each * launches.length);
    assert.equal(whole.facts.doubtful, 0);
});

test('of a CUDA graph with a kernel unseen the others keep their places, by their nodes', { skip: without }, async () => {
    const other = await start({ CUPTI_FAKE_UNSEEN: '8' });
    const chain = workload('    y = torch.softmax(x, 1)\n    z = torch.sort(y * 2, 1)[0]\n    return torch.softmax(z, 0).sum(1)', { device: 'cuda', modes: ['graphs'] });
    try {
        const { id, error } = await waitFor(other, (await postRun(other, chain)).body.id);
        assert.equal(error, null);
        const v = await view(other, id, 'mode=graphs');
        const launches = v.slices.filter((s) => s.kind === 'launch');
        const ran = launches.map((l) => kernels(v).filter((k) => k.correlation === l.correlation).map((k) => v.names[k.name].name));
        const most = ran.find((list) => list.length === Math.max(...ran.map((r) => r.length)));
        const short = ran.filter((list) => list.length < most.length);
        assert.equal(short.length, 1);
        assert.equal(short[0].length, most.length - 1);
        assert.deepEqual(most.filter((name) => short[0].includes(name)), short[0]);
        assert.equal(v.facts.doubtful, 1);
    } finally {
        await other.stop();
    }
});

test('records that were dropped, or have no times, are counted', { skip: without }, async () => {
    const other = await start({ CUPTI_FAKE_DROPPED: '5', CUPTI_FAKE_TIMELESS: '2' });
    try {
        const { id } = await waitFor(other, (await postRun(other, { ...program, modes: ['static'] })).body.id);
        const v = await view(other, id, 'mode=static');
        assert.equal(v.facts.dropped, 5);
        assert.ok(v.facts.doubtful >= 2);
    } finally {
        await other.stop();
    }
});

test('who else records is named; the host is recorded all the same', { skip: without }, async () => {
    const other = await start({ CUPTI_FAKE_HOLDER: 'Nsight Systems' });
    try {
        const { id } = await waitFor(other, (await postRun(other, { ...program, modes: ['static'] })).body.id);
        const v = await view(other, id, 'mode=static');
        assert.match(v.facts.not_recorded, /another profiler records this process already: Nsight Systems/);
        assert.equal(kernels(v).length, 0);
        assert.ok(v.slices.some((s) => s.kind === 'launch'));
    } finally {
        await other.stop();
    }
});
