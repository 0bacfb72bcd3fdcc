// tests/api/lists.test.mjs -- ops, backends and passes, by the API and on the command line; passes switched off.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

let server, folder;
before(async () => {
    server = await startServer();
    folder = await mkdtemp(join(tmpdir(), 'breakeven-lists-'));
});
after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
});

const run = (...args) => new Promise((done) => {
    execFile(binary, args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => done({
        status: error?.code ?? 0, stdout, stderr,
    }));
});

test('GET /ops lists every op, as the command does', async () => {
    const { status, body } = await getJson(`${server.url}/api/v1/ops`);
    assert.equal(status, 200);
    assert.ok(body.ops.length > 200);
    const by = Object.fromEntries(body.ops.map((op) => [op.name, op]));
    assert.deepEqual(by.sin.spellings, ['torch.sin', 'Tensor.sin']);
    assert.deepEqual(by.mul.operators, ['*']);
    assert.equal(by.softmax.kind, 'composite');
    assert.equal(by.softmax.gradient, 'yes');
    assert.equal(by.argmax.gradient, 'none');
    assert.equal(by.sum.signature, 'Tensor x, int[]? dim=None, bool keepdim=False, *, dtype? dtype=None');
    assert.ok(by.sin.backends.cpu.includes('float16') && by.sin.backends.interp.includes('int64'));
    assert.deepEqual(by.argsort.backends.cpu, []); // a call between two pieces
    for (const op of body.ops) {
        assert.ok(Object.keys(op.on_host).every((b) => b === 'cuda'), op.name);
        for (const d of op.on_host.cuda ?? []) assert.ok(!op.backends.cuda.includes(d), `${op.name} ${d}`);
    }
    // A build without the toolkit's headers has no row to tell: all or none of these.
    const drawn = ['dropout', 'rand_like'].filter((name) => by[name]).map((name) => Boolean(by[name].on_host.cuda));
    assert.ok(drawn.every((said) => said === drawn[0]) && drawn.length > 0);
    assert.ok(!by.and_.backends.cpu.includes('float32')); // ints and bools alone
    assert.deepEqual(JSON.parse((await run('ops', '--json')).stdout), body);
    for (const op of body.ops) assert.ok(op.doc && op.kind && op.dtypes && Object.keys(op.backends).length === 3, op.name);
});

test('one op is found by id or spelling; a wrong name has the nearest', async () => {
    for (const name of ['softmax', 'torch.nn.functional.softmax', 'Tensor.softmax']) {
        const { body } = await getJson(`${server.url}/api/v1/ops?name=${name}`);
        assert.deepEqual(body.ops.map((op) => op.name), ['softmax']);
    }
    const { status, body } = await getJson(`${server.url}/api/v1/ops?name=sofmax`);
    assert.equal(status, 404);
    assert.match(body.error.message, /did you mean 'softmax'\?/);
    assert.equal((await getJson(`${server.url}/api/v1/ops?name=`)).status, 404);
    const text = await run('ops', 'softmax');
    assert.match(text.stdout, /spellings {2}torch\.softmax, Tensor\.softmax, torch\.nn\.functional\.softmax/);
    assert.equal((await run('ops', 'sofmax')).status, 1);
    assert.equal((await run('ops', '--all')).status, 2);
});

test('GET /backends says what works here, and why not', async () => {
    const { body } = await getJson(`${server.url}/api/v1/backends`);
    assert.deepEqual(body.backends.map((b) => b.name), ['interp', 'cpu', 'cuda']);
    assert.deepEqual(body.backends.filter((b) => b.default).length, 1);
    assert.match(body.backends[0].vector_unit, /^(sse|avx2|avx512)$/);
    assert.equal(body.backends.find((b) => b.name === "cuda").vector_unit, null, "of the host alone");
    const none = await new Promise((done) => {
        execFile(binary, ['backends', '--json'], { env: { ...process.env, PATH: folder } }, (_, stdout) => done(JSON.parse(stdout)));
    });
    const cpu = none.backends[1];
    assert.equal(cpu.available, false);
    assert.match(cpu.why_not, /compiler/);
    assert.equal(none.backends[0].default, true);
    const cuda = none.backends[2];
    assert.equal(cuda.available, cuda.why_not === null);
    assert.equal(cuda.default, false); // it is asked for: "device": "cuda"
});

test('GET /passes has the order, with needs and effects', async () => {
    const table = await readFile(new URL('../../fusion/passes/passes.def', import.meta.url), 'utf8');
    const order = [...table.matchAll(/^PASS\((\w+)/gm)].map((m) => m[1]);
    assert.ok(order.length > 10);
    const { body } = await getJson(`${server.url}/api/v1/passes`);
    assert.deepEqual(body.passes.map((p) => p.name), order);
    assert.deepEqual(body.passes.filter((p) => p.required).map((p) => p.name), ['decompose', 'views', 'outputs']);
    assert.deepEqual(body.passes.at(-1).needs, ['primitive', 'strided', 'apart']);
    assert.match(body.passes.find((p) => p.name === 'decompose').why_required, /pass fold needs a graph in which/);
    for (const command of ['ops', 'backends', 'passes']) {
        const { status, stdout } = await run(command, '--help');
        assert.equal(status, 0);
        assert.match(stdout, /^usage: breakeven/);
    }
});

test('passes are switched off per workload; needed ones are not', async () => {
    const body = '    return torch.relu(x * 1) + torch.relu(x * 1)';
    const on = await postRun(server, workload(body, { modes: ['static'] }));
    const off = await postRun(server, workload(body, { modes: ['static'], passes: { cse: false, simplify: false, fuse: false } }));
    const [a, b] = [await waitFor(server, on.body.id), await waitFor(server, off.body.id)];
    assert.deepEqual(a.report.modes.static.calls[0].output, b.report.modes.static.calls[0].output);
    assert.equal(a.report.modes.static.graphs[0].kernels.length, 1);
    assert.equal(b.report.modes.static.graphs[0].kernels.length, 5);
    const steps = b.report.modes.static.graphs[0].passes[0].steps;
    assert.deepEqual(steps.filter((s) => s.off).map((s) => s.pass), ['simplify', 'cse', 'fuse']);
    const refused = await postRun(server, workload(body, { passes: { decompose: false } }));
    assert.equal(refused.status, 400);
    assert.match(refused.body.error.message, /pass decompose cannot be switched off/);
    const unknown = await postRun(server, workload(body, { passes: { simplfy: false } }));
    assert.match(unknown.body.error.message, /did you mean 'simplify'\?/);
});

test('run and explain take --without; explain shows what each pass did', async () => {
    const file = join(folder, 'work.json');
    await writeFile(file, JSON.stringify(workload('    return torch.relu(x * 1) + torch.relu(x * 1)', { modes: ['static'] })));
    const shown = await run('explain', file, '--passes', '--without', 'cse');
    assert.equal(shown.status, 0);
    assert.match(shown.stdout, /Passes over graph 0 of model \(0\/0\)\n/);
    assert.match(shown.stdout, /simplify +6 nodes -> \d+, .* µs\n {6}x \* 1 is x, 2 times: line 4\n/);
    assert.match(shown.stdout, /- %mul: float32\[8, 16\] = mul\(%x, 1\) {2}# line 4/);
    assert.match(shown.stdout, /cse +switched off/);
    assert.doesNotMatch((await run('explain', file)).stdout, /Passes over/);
    const bad = await run('run', file, '--without', 'views');
    assert.equal(bad.status, 2);
    assert.match(bad.stderr, /pass views cannot be switched off/);
    assert.equal((await run('explain', file, '--without', 'nothing')).status, 2);
});

test('GET /names has what programs find in a module, each of which they find', async () => {
    const names = async (module) => (await getJson(`${server.url}/api/v1/names?module=${module}`)).body.names;
    for (const [module, some] of [['torch', ['softmax', 'nn', 'float32', 'manual_seed']], ['torch.nn', ['Linear', 'functional', 'Module']], ['torch.nn.functional', ['gelu', 'cross_entropy']], ['torch.Tensor', ['unsqueeze', 'add_', 'shape', 'item', 'backward', 'to', 'requires_grad']], ['torch.optim', ['AdamW']], ['math', ['pi', 'sqrt']]]) {
        const all = await names(module);
        for (const name of some) assert.ok(all.includes(name), `${module}.${name}`);
        assert.deepEqual(all, [...new Set(all)].sort(), module);
        assert.ok(all.every((name) => /^[A-Za-z]\w*$/.test(name)));
    }
    const all = await names('torch.nn.functional');
    const source = `import torch.nn.functional as F\ndef model(x):\n    have = [${all.map((name) => `F.${name}`).join(', ')}]\n    return x\n`;
    const { status, body } = await getJson(`${server.url}/api/v1/check`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...workload('    return x'), source }) });
    assert.equal(status, 200);
    assert.deepEqual(body.diagnostics, []);
    assert.deepEqual(await names('no.such.module'), []);
    assert.equal((await getJson(`${server.url}/api/v1/names`)).status, 400);
    assert.equal((await getJson(`${server.url}/api/v1/names?module=`)).status, 400);
});
