// tests/api/plugins.test.mjs -- plugins of tests/plugins on the command line and in a real server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, getJson, postRun, randn, startServer, waitFor, workload } from './harness.mjs';

const plugin = (name) => join(dirname(binary), 'tests', 'plugins', `${name}.so`);

let folder, file;
before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'breakeven-plugins-'));
    file = join(folder, 'work.json');
});
after(() => rm(folder, { recursive: true, force: true }));

const run = (...args) => new Promise((done) => {
    execFile(binary, args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => done({
        status: error?.code ?? 0, stdout, stderr,
    }));
});

/** The report of a workload, not timed. */
async function report(work, ...args) {
    await writeFile(file, JSON.stringify(work));
    const { status, stdout, stderr } = await run('run', file, '--json', '--no-timing', ...args);
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
}

const near = (a, b, bound = 1e-5) => a.length === b.length && a.every((x, i) => Math.abs(x - b[i]) <= bound + bound * Math.abs(b[i]));
const modes = ['eager', 'static', 'dynamic', 'auto', 'lazy', 'graphs'];
const scaled = workload('    return (x * 2) * 4 + torch.relu(x)', { modes });

test('a pass of a plugin runs at its place, in every mode, with its rule and line in the report', async () => {
    const plain = await report(scaled), with_ = await report(scaled, '--plugin', plugin('fold_pairs'));
    for (const mode of modes)
        assert.deepEqual(with_.modes[mode].calls[0].output, plain.modes[mode].calls[0].output, mode);
    for (const mode of modes.slice(1)) {
        const [part] = with_.modes[mode].graphs[0].passes;
        const names = part.steps.map((step) => step.pass);
        assert.equal(names.indexOf('fold_pairs'), names.indexOf('simplify') + 1);
        const step = part.steps[names.indexOf('fold_pairs')];
        assert.equal(step.plugin, 'fold_pairs.so');
        assert.equal(step.rules[0].rule, '(x * 2) * 4 is x * 8');
        assert.equal(step.rules[0].at[0].line, 4);
        assert.match(step.after, /mul\(%\w+, 8\.0\)/);
    }
    const off = await report({ ...scaled, passes: { fold_pairs: false } }, '--plugin', plugin('fold_pairs'));
    assert.doesNotMatch(JSON.stringify(off.modes.static.graphs), /mul\(%x, 8\.0\)/);
});

test('an op of a plugin has its spellings, its value and its dtype, in every mode', async () => {
    const work = workload('    a = torch.ops.demo.softclip(x * 3, limit=2.0)\n    return a, x.softclip(), torch.ops.demo.cbrt(x.t(), 0.5)', { modes });
    const theirs = await report(work, '--plugin', plugin('ops'));
    const plain = await report({ ...work, source: work.source.replace('torch.ops.demo.softclip(x * 3, limit=2.0)', '2.0 * torch.tanh(x * 3 / 2.0)').replace('x.softclip()', 'torch.tanh(x)').replace('torch.ops.demo.cbrt(x.t(), 0.5)', 'torch.sign(x.t()) * torch.abs(x.t()) ** (1 / 3) + 0.5') });
    for (const mode of modes)
        for (let i = 0; i < 3; i++) {
            const [a, b] = [theirs, plain].map((r) => r.modes[mode].calls[0].output.tuple[i].tensor);
            assert.deepEqual([a.shape, a.dtype], [b.shape, b.dtype]);
            assert.ok(near(a.data, b.data), `${mode}, output ${i}`);
        }
    assert.deepEqual(theirs.modes.static.graphs[0].ops, ['mul', 'softclip', 'softclip', 't', 'cbrt']);
    assert.equal(theirs.modes.static.breaks.length, 0);
});

test('what a call of such an op does wrong is said in its own words, with its line', async () => {
    const refused = async (body, extra) => {
        await writeFile(file, JSON.stringify(workload(body, { modes: ['static'], ...extra })));
        const { status, stderr } = await run('run', file, '--no-timing', '--plugin', plugin('ops'));
        assert.equal(status, 1);
        return stderr;
    };
    assert.match(await refused('    return torch.ops.demo.softclip(x, 1.0, 2.0)'), /torch\.ops\.demo\.softclip takes \(x, limit\): 3 positional arguments do not fit/);
    assert.match(await refused('    return torch.ops.demo.softclip(x, limit="a")'), /limit must be a float, not str/);
    assert.match(await refused('    return torch.ops.demo.softclip(x, -1.0)'), /op softclip of the plugin ops\.so failed: limit must be above 0/);
    assert.match(await refused('    return torch.ops.demo.sofclip(x)'), /torch\.ops\.demo has no attribute sofclip/);
    assert.match(await refused('    return torch.ops.demo.softclip(x).sum()', { grad: true }), /:4:\d+: .*an op of a plugin has no gradient in this version/);
    const { status, stderr } = await run('run', file, '--no-timing');
    assert.equal(status, 1);
    assert.match(stderr, /torch\.ops has no attribute demo/);
});

test('a backend of a plugin computes what it takes; the rest breaks between its pieces', async () => {
    const work = workload('    y = torch.exp(x - x.sum(dim=1, keepdim=True) / 16)\n    return torch.sin(y) + y.t().t() * 2, torch.softmax(x, dim=0)', { modes: ['eager', 'static', 'dynamic', 'lazy', 'graphs'] });
    const theirs = await report(work, '--backend', 'loops', '--plugin', plugin('loops')), ours = await report(work);
    for (const mode of work.modes)
        for (let i = 0; i < 2; i++)
            assert.ok(near(theirs.modes[mode].calls[0].output.tuple[i].tensor.data, ours.modes[mode].calls[0].output.tuple[i].tensor.data), mode);
    assert.equal(theirs.device.backend, 'loops');
    const { recording } = theirs.modes.graphs.graphs[0]; // the interpreter's pieces alone
    assert.ok(recording.made >= 1 && recording.refused >= 1);
    assert.equal(recording.why_not, 'the backend loops cannot record launches');
    const breaks = theirs.modes.static.breaks;
    assert.ok(breaks.length >= 1);
    assert.deepEqual([...new Set(breaks.map((b) => b.stage))], ['lowering']);
    assert.ok(breaks.some((b) => b.kind === 'unsupported-op' && b.message.includes('ten ops')));
    const wide = await report({ ...work, source: work.source.replace('y = torch', 'x = x.to(torch.float64)\n    y = torch') }, '--backend', 'loops', '--plugin', plugin('loops'));
    assert.ok(wide.modes.static.breaks.some((b) => b.kind === 'unsupported-dtype' && b.message.includes('float32 alone')));
});

test('lists show what plugins add', async () => {
    const backends = JSON.parse((await run('backends', '--json', '--plugin', plugin('loops'))).stdout).backends;
    assert.deepEqual(backends.map((b) => [b.name, b.plugin]), [['interp', null], ['cpu', null], ['cuda', null], ['loops', 'loops.so']]);
    const passes = JSON.parse((await run('passes', '--json', '--plugin', plugin('fold_pairs'))).stdout).passes;
    assert.equal(passes.find((p) => p.plugin)?.name, 'fold_pairs');
    const [op] = JSON.parse((await run('ops', 'softclip', '--json', '--plugin', plugin('ops'), '--plugin', plugin('loops'))).stdout).ops;
    assert.deepEqual([op.signature, op.plugin, op.kind], ['Tensor x, float limit=1.0', 'ops.so', 'composite']);
    assert.ok(op.backends.cpu.includes('float32'));
    assert.deepEqual(op.backends.loops, []); // it has no tanh
});

test('a plugin in C++ is loaded', async () => {
    const answer = await report(workload('    return x.sum()', { modes: ['static'] }), '--plugin', plugin('cxx'));
    const step = answer.modes.static.graphs[0].passes[0].steps.find((s) => s.pass === 'note_numbers');
    assert.equal(step.rules[0].rule, 'a number');
});

test('what is no plugin of this version is refused, with the reason, before anything runs', async () => {
    const text = join(folder, 'text.so');
    await writeFile(text, 'this is no shared object');
    for (const [path, reason] of [
        [plugin('bad_version'), /was built for version 2 of the interface, and this is version 1; build it with the fusion\/plugin\.h of this version/],
        [plugin('bad_symbol'), /exports no breakeven_plugin_load: write BE_PLUGIN\(load\) in it/],
        [plugin('bad_name'), /was not taken: pass dce: there is a pass 'dce' already/],
        [plugin('bad_order'), /was not taken: pass early: pass early needs a graph in which every view is an offset and strides into memory \('strided'\), which pass views makes: views has to run before it/],
        [text, /cannot be loaded: (file too short|invalid ELF header)/],
        [join(folder, 'none.so'), /cannot be opened: No such file or directory/],
    ])
        for (const command of ['passes', 'run', 'serve']) {
            const { status, stdout, stderr } = await run(command, '--plugin', path);
            assert.equal(status, 1, path);
            assert.match(stderr, reason);
            assert.equal(stdout, '');
        }
    assert.equal((await run('passes', '--plugin')).status, 2);
    const twice = await run('passes', '--plugin', plugin('ops'), '--plugin', plugin('ops'));
    assert.match(twice.stderr, /is loaded already/);
});

test('a pass that breaks the graph is caught: the message names it', async () => {
    await writeFile(file, JSON.stringify(workload('    return (x * 2).sum(dim=0)', { modes: ['static'] })));
    const { status, stderr } = await run('run', file, '--no-timing', '--plugin', plugin('bad_graph'));
    assert.equal(status, 1);
    assert.match(stderr, /pass no_sums of the plugin bad_graph\.so broke the graph: output 0, %\w+, has another dtype or shape/);
});

test('a server hands plugins to its workers; one that crashes fails its run, and the server goes on', async () => {
    const args = ['fold_pairs', 'ops', 'loops', 'bad_crash'].flatMap((name) => ['--plugin', plugin(name)]);
    const server = await startServer({ args });
    try {
        const quick = { modes: ['static'], backend: 'loops' };
        const first = await postRun(server, workload('    return torch.ops.demo.softclip(x * 2 * 4)', quick));
        assert.equal(first.status, 202, JSON.stringify(first.body));
        const done = await waitFor(server, first.body.id);
        assert.equal(done.status, 'done', JSON.stringify(done.error));
        assert.equal(done.report.device.backend, 'loops');
        assert.match(JSON.stringify(done.report.modes.static.graphs), /x \* 2\) \* 4 is x \* 8/);

        const crash = await postRun(server, workload('    return torch.tan(x)', { modes: ['static'] }));
        const failed = await waitFor(server, crash.body.id);
        assert.equal(failed.status, 'failed');
        assert.match(failed.error.message, /the worker crashed \(signal \d+/);

        const again = await postRun(server, workload('    return x + 1', { modes: ['static'] }));
        assert.equal((await waitFor(server, again.body.id)).status, 'done');

        const check = await getJson(`${server.url}/api/v1/check`, {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(workload('    return x.softclip()')),
        });
        assert.deepEqual(check.body.diagnostics, []);
        const { body } = await getJson(`${server.url}/api/v1/backends`);
        assert.equal(body.backends.at(-1).plugin, 'loops.so');

        // Plugins come from the command line alone.
        for (const field of ['plugin', 'plugins']) {
            const refused = await postRun(server, workload('    return x', { [field]: [plugin('ops')] }));
            assert.equal(refused.status, 400);
            assert.match(refused.body.error.message, /is unknown/);
        }
    } finally {
        await server.stop();
    }
});
