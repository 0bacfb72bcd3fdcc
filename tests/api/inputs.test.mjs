// tests/api/inputs.test.mjs -- inputs as Python expressions, keyword arguments, and all that is wrong at once.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

test('a tensor that the program holds is that tensor, and one that is given twice is one', () => {
    const held = join(folder, 'held.py');
    writeFileSync(held, `import torch
X = torch.ones(2)
Y = torch.ones(2)
COLUMN = torch.arange(6.).view(2, 3)[:, :1]

def model(x, y, column):
    x.add_(1)
    return x is X, x is y, len({x, y}), column.stride(), y * 1
`);
    const call = (...texts) => texts.map((python) => ({ python }));
    writeFileSync(join(folder, 'held.json'), JSON.stringify({
        name: 'held', source: readFileSync(held, 'utf8'), modes: ['eager', 'static'],
        calls: [call('X', 'Y', 'COLUMN'), call('X', 'X', 'COLUMN'), call('Y', 'X', 'COLUMN.clone()'), call('torch.ones(2)', '[Y][0]', 'COLUMN')],
    }));
    const done = command('run', join(folder, 'held.json'), '--no-timing', '--json');
    assert.equal(done.status, 0, done.stderr);
    const { modes } = JSON.parse(done.stdout);
    const said = (mode) => modes[mode].calls.map(({ output }) => output.tuple.map((v) => v.value ?? v.tuple?.map((s) => s.value) ?? v.tensor.data));
    const want = [[true, false, 2, [3, 1], [1, 1]], [true, true, 1, [3, 1], [3, 3]], [false, false, 2, [1, 1], [3, 3]], [false, false, 2, [3, 1], [2, 2]]];
    for (const mode of ['eager', 'static'])
        assert.deepEqual(said(mode), want, mode);
});

const wrong = [
    [['batch=Batch(torch.randn(4, 4)', 'ids=1'], /^--input batch:1:6: the '\(' that opens here is never closed/],
    [['batch=Batch(torch.rann(4, 4))', 'ids=1'], /torch has no attribute rann; did you mean torch\.rand\?\n.*Batch\(torch\.rann/],
    [['batch=Batch(torch.randn(4, 4))', 'idx=1'], /no parameter 'idx'; did you mean 'ids'\?/],
    [['batch=Batch(torch.randn(4, 4))'], /missing 1 required positional argument: 'ids'/],
    [['batch=1 / 0', 'ids=1'], /division by zero/],
    [['batch=memoryview(b"ab")', 'ids=1'], /memoryview is a builtin of Python that the workload language leaves out/],
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

const net = `import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a = nn.Linear(width, 2)

    def forward(self, x, *, scale=1.0):
        return self.a(x) * scale


if __name__ == "__main__":
    width = 6
    net = Net(width)
    print(net(torch.randn(4, width), scale="it's" and 2))
`;

test('without inputs, those that the text tells are shown as a command, which runs as it is', () => {
    const path = join(folder, 'net.py');
    writeFileSync(path, net);
    for (const what of ['explain', 'run']) {
        const done = command(what, path);
        assert.equal(done.status, 1);
        assert.equal(done.stdout, '');
        assert.match(done.stderr, /: Net\(6\) needs its inputs \(--input\); line 17 calls it so:\n/);
        const [, line] = /\n {4}breakeven (.*)\n/.exec(done.stderr);
        assert.equal(line, `${what} ${path} --entry 'Net(6)' --input 'x=torch.randn(4, 6)' --input 'scale="it'\\''s" and 2'`);
        const more = what === 'run' ? ' --modes eager --no-timing' : '';
        const again = spawnSync('sh', ['-c', `"$0" ${line}${more}`, binary], { encoding: 'utf8' });
        assert.equal(again.status, 0, again.stderr);
    }
    const other = command('explain', path, '--entry', 'Nett');
    assert.match(other.stderr, /the source defines no function Nett/);
    const given = command('explain', path, '--entry', 'Net(6)', '--input', 'x=float32[2,6]');
    assert.equal(given.status, 0, given.stderr);
});

const checkOf = (body) => getJson(`${server.url}/api/v1/check`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

test('a check answers proposals, whose calls run as they are', async () => {
    const { status, body } = await checkOf({ source: net });
    assert.equal(status, 200);
    const [proposal] = body.proposals;
    assert.deepEqual({ ...proposal, calls: [] }, {
        entry: 'Net(6)', line: 17, needed: true, calls: [],
        inputs: [{ name: 'x', text: 'torch.randn(4, 6)', because: 'line 17 gives it' }, { name: 'scale', text: '"it\'s" and 2', because: 'line 17 gives it' }],
    });
    const posted = await postRun(server, { name: 'net', source: net, entry: proposal.entry, calls: proposal.calls, modes: ['eager', 'static'], seconds: 0.01 });
    assert.equal(posted.status, 202, JSON.stringify(posted.body));
    const done = await waitFor(server, posted.body.id);
    assert.equal(done.status, 'done', JSON.stringify(done.error));
    const nothing = await checkOf({ source: 'def model(a):\n    return a\n' });
    assert.deepEqual(nothing.body.proposals, []);
});

test('a call that fails has inputs proposed that it has run with; what is not free stays', async () => {
    const source = 'import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Linear(32, 64), nn.Linear(64, 10))\ndef model(x, w):\n    return net(x) @ w\n';
    const float = (...shape) => ({ random: { shape, seed: 0 } });
    const ask = (free, calls) => getJson(`${server.url}/api/v1/check${free}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ source, calls }) });
    const both = [[float(8, 16), float(8, 16)]];
    const { body } = await ask('?free=x,w', both);
    const [found] = body.proposals;
    assert.equal(found.runs, true);
    assert.deepEqual(found.inputs.map((i) => i.text), ['float32[8,32]', 'float32[10,16]']);
    assert.match(found.inputs[1].because, /^with float32\[8,16\] line 5 fails: matmul: sizes \[8, 10\] and \[8, 16\]/);
    const clean = await ask('?free=x,w', found.calls);
    assert.deepEqual(clean.body.diagnostics, []);
    assert.deepEqual(clean.body.proposals.filter((p) => p.runs), [], 'what runs needs no other');
    const typed = await ask('?free=w', [[float(5, 32), float(8, 16)]]);
    assert.deepEqual(typed.body.proposals[0].inputs.map((i) => `${i.name} ${i.text}`), ['w float32[10,16]']);
    assert.deepEqual(typed.body.proposals[0].calls[0][0].random.shape, [5, 32]);
    for (const [free, calls] of [['', both], ['?free=', both], ['?free=w', both], ['?free=nobody', both]]) {
        const none = await ask(free, calls);
        assert.equal(none.body.diagnostics.length, 1);
        assert.deepEqual(none.body.proposals.filter((p) => p.runs), [], free);
    }
});

test('a program that never ends ends the search for inputs', async () => {
    const source = 'def model(x):\n    while True:\n        x = x + 1\n';
    const { status, body } = await getJson(`${server.url}/api/v1/check?free=x`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ source, calls: [[{ random: { shape: [2] } }]] }) });
    assert.equal(status, 200);
    assert.equal(body.diagnostics[0].code, 'step-limit');
    assert.deepEqual(body.proposals.filter((p) => p.runs), []);
});

test('an entry that makes a module says where it is wrong', async () => {
    const wrong = await checkOf({ source: net, entry: 'Net(torch.rann(1))', calls: [[{ value: 1 }]] });
    const [found] = wrong.body.diagnostics;
    assert.deepEqual([found.file, found.line, found.column], ['entry', 1, 5]);
    assert.match(found.message, /torch has no attribute rann/);
    const late = command('explain', join(folder, 'net.py'), '--entry', 'Net()', '--input', 'x=1');
    assert.match(late.stderr, /^--entry:1:1: .*missing 1 required positional argument: 'width'/);
});

const mistaken = 'import torch\n\ndef helper(x):\n    return x\n\ndef main(x, y):\n    z = torch.rann(3)\n    w = undefined_name + 1\n    return torch.nn.functional.sofmax(x)\n';
const inSource = ['7:9', '8:9', '9:12'];

test('all mistakes of a workload are told at once, each at its place: fields, entry, inputs, sweep, source', async () => {
    const broken = {
        name: 'six', source: mistaken, entry: 'mian', modes: ['eager', 'quick'], colour: 1,
        calls: [[{ python: 'float33[8]' }, { python: 'torch.randm(3)' }, { random: { shape: [2], dtype: 'float31' } }]],
        sweep: { input: { arg: 7, dim: 0, sizes: [1] } },
    };
    const told = [
        /field 'colour' is unknown/, /'quick' is not available/, /no function mian; did you mean main\?/, /sweep\.input\.arg is 7/,
        /'float33' is no dtype; did you mean float32\?/, /torch has no attribute randm; did you mean torch\.rand\?/, /calls\[0\]\[2\].*'float31'/,
        /torch has no attribute rann; did you mean torch\.rand\?/, /name 'undefined_name' is not defined/, /did you mean torch\.nn\.functional\.softmax\?/,
    ];
    const places = (list) => list.filter((p) => p.line && !p.file).map((p) => `${p.line}:${p.column}`).sort();
    const posted = await postRun(server, broken);
    const problems = [posted.body.error, ...posted.body.problems];
    const checked = (await checkOf(broken)).body.diagnostics;
    for (const what of told) {
        assert.ok(problems.some((p) => what.test(p.message)), String(what));
        assert.ok(checked.some((p) => what.test(p.message)), String(what));
    }
    assert.deepEqual(places(problems), inSource);
    assert.deepEqual(places(checked), inSource);
    const path = join(folder, 'six.json');
    writeFileSync(path, JSON.stringify(broken));
    const done = command('run', path);
    assert.equal(done.status, 1);
    for (const what of told) assert.match(done.stderr, what);
    for (const at of inSource) assert.ok(done.stderr.includes(`six.json, source:${at}: `), at);
});

test('all mistakes of inputs and of the program that they are for are told at once', () => {
    const path = join(folder, 'six.py');
    writeFileSync(path, mistaken);
    const done = command('explain', path, '--entry', 'main', ...['x=float33[8]', 'yy=3', 'y=torch.randm(3)', 'bad'].flatMap((i) => ['--input', i]));
    assert.equal(done.status, 1);
    const lines = done.stderr.split('\n').filter((line) => line && !line.startsWith('  '));
    assert.equal(lines.length, 7, done.stderr);
    for (const what of [/x=float33\[8\]', column 3: 'float33' is no dtype/, /no parameter 'yy'/, /'bad' has no name/, /^--input y:1:1: torch has no attribute randm/m]) assert.match(done.stderr, what);
    for (const at of inSource) assert.ok(done.stderr.includes(`six.py:${at}: `), at);
});
