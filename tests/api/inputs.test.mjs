// tests/api/inputs.test.mjs -- inputs as Python expressions, keyword arguments, and all that is wrong at once.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, getJson, postRun, startServer, waitFor } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-inputs-'));
let server;
before(async () => { server = await startServer(); });
after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
});

const source = `import torch
from dataclasses import dataclass


@dataclass
class Batch:
    x: torch.Tensor
    scale: float = 2.0


def model(batch, ids, *, causal=False):
    y = batch.x * batch.scale
    return y[ids] if not causal else y.tril()[ids]
`;
const file = join(folder, 'batch.py');
writeFileSync(file, source);
const command = (...args) => spawnSync(binary, args, { encoding: 'utf8' });
const run = (...inputs) => command('run', file, '--modes', 'eager,static', '--no-timing', '--json', ...inputs.flatMap((i) => ['--input', i]));

test('objects of the program\'s classes, tensors of torch and keywords are inputs, by name and in any order', () => {
    const done = run('causal=True', 'ids=torch.tensor([0, 3])', 'batch=Batch(torch.ones(4, 4), scale=3.0)');
    assert.equal(done.status, 0, done.stderr);
    const { modes, workload } = JSON.parse(done.stdout);
    for (const mode of ['eager', 'static'])
        assert.deepEqual(modes[mode].calls[0].output.tensor, { shape: [2, 4], dtype: 'float32', data: [3, 0, 0, 0, 3, 3, 3, 3] });
    assert.deepEqual(workload.calls, [{ args: [], kwargs: { batch: { python: 'Batch(torch.ones(4, 4), scale=3.0)' }, causal: { value: true }, ids: { python: 'torch.tensor([0, 3])' } } }]);
});

test('a shorthand beside an expression; random numbers of an input leave the program\'s own alone', () => {
    const drawn = join(folder, 'drawn.py');
    writeFileSync(drawn, 'import torch\ntorch.manual_seed(1)\n\ndef model(x, y):\n    return torch.randn(3) + 0 * x.sum() + 0 * y.sum()\n');
    const output = (...inputs) => {
        const done = command('run', drawn, '--modes', 'eager', '--no-timing', '--json', ...inputs.flatMap((i) => ['--input', i]));
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout).modes.eager.calls[0].output.tensor.data;
    };
    assert.deepEqual(output('x=float32[4]', 'y=torch.randn(5, 5)'), output('x=torch.randn(100)', 'y=1.0 * torch.ones(2)'));
});

const wrong = [
    [['batch=Batch(torch.randn(4, 4)', 'ids=1'], /^--input batch:1:6: the '\(' that opens here is never closed/],
    [['batch=Batch(torch.rann(4, 4))', 'ids=1'], /torch has no attribute rann\n.*Batch\(torch\.rann/],
    [['batch=Batch(torch.randn(4, 4))', 'idx=1'], /no parameter 'idx'; did you mean 'ids'\?/],
    [['batch=Batch(torch.randn(4, 4))'], /missing 1 required positional argument: 'ids'/],
    [['batch=1 / 0', 'ids=1'], /division by zero/],
    [['batch=[x for x in iter(int, 1)]', 'ids=1'], /iter\(\) with a sentinel is not in the language/],
];
for (const [inputs, message] of wrong)
    test(`${inputs.join(' ')} is refused in words`, () => {
        const done = run(...inputs);
        assert.notEqual(done.status, 0);
        assert.match(done.stderr, message);
    });

test('over REST: keywords, a sweep over n, and a gradient that only the program takes', async () => {
    const posted = await postRun(server, {
        name: 'n', entry: 'model', modes: ['eager', 'static'], seconds: 0.01,
        source: 'import torch\n\ndef model(x, y):\n    (x @ y).sum().backward()\n    return x.grad\n',
        calls: [{ args: [{ python: 'torch.ones(n, 16, requires_grad=True)' }], kwargs: { y: { python: 'torch.ones(16, n)' } } }],
        sweep: { input: { sizes: [4, 8] } },
    });
    assert.equal(posted.status, 202, JSON.stringify(posted.body));
    const done = await waitFor(server, posted.body.id);
    assert.equal(done.status, 'done', JSON.stringify(done.error));
    assert.deepEqual(done.report.points.map((p) => [p.n, p.modes.static.calls[0].output.tensor?.shape ?? p.modes.static.calls[0].output.shape]), [[4, [4, 16]], [8, [8, 16]]]);
});

test('all that is wrong with a workload is said at once, and in a check', async () => {
    const broken = {
        name: 'broken', source: 'import torch\n\ndef model(x):\n    return torch.nothing(x)\n', entry: 'model', modes: ['eager', 'quick'], device: 'tpu', colour: 1,
        calls: [[{ random: { shape: [-1], dtype: 'float31' } }]],
    };
    const { status, body } = await postRun(server, broken);
    assert.ok(status >= 400 && status < 500, String(status));
    const said = [body.error, ...body.problems].map((p) => p.message).join('\n');
    for (const what of [/quick/, /tpu/, /colour/, /-1|float31/]) assert.match(said, what);
    const checked = await getJson(`${server.url}/api/v1/check`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(broken) });
    const found = checked.body.diagnostics.map((d) => d.message).join('\n');
    for (const what of [/quick/, /tpu/, /colour/]) assert.match(found, what);
});
