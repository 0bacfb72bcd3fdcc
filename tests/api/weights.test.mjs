// tests/api/weights.test.mjs -- files of weights: at the command line, and over REST.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { binary } from './harness.mjs';

const folder = 'tests/weights';
const files = readdirSync(folder).filter((f) => /\.(pt|safetensors)$/.test(f)).map((f) => join(folder, f));
const all = files.flatMap((f) => ['--weights', f]);
const run = (...args) => spawnSync(binary, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
const idOf = (path) => `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex')}`;

function program(text) {
    const path = join(mkdtempSync(join(tmpdir(), 'breakeven-weights-')), 'model.py');
    writeFileSync(path, text);
    return path;
}

// The program's output in each mode.
function printed(path, ...args) {
    const r = run('run', path, '--no-timing', '--json', ...args);
    assert.equal(r.status, 0, r.stderr);
    const report = JSON.parse(r.stdout);
    return Object.entries(report.modes).map(([mode, m]) => [mode, m.calls[0].stdout]);
}

for (const name of ['state', 'gpt'])
    test(`${name}.py prints what it prints in PyTorch, in every mode`, () => {
        const want = readFileSync(`${folder}/${name}.want`, 'utf8');
        const modes = printed(`${folder}/${name}.py`, ...all, '--modes', 'eager,static,auto,lazy,graphs');
        assert.equal(modes.length, 5);
        for (const [mode, text] of modes) assert.equal(text, want, mode);
    });

test('safetensors hold what torch.save holds', () => {
    const path = program(`# input: x=float32[1]
import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model
a, b = load_file("every.safetensors"), torch.load("every.pt")
print([k for k, v in a.items() if v.dtype != b[k].dtype or not torch.equal(v, b[k])])
with safe_open("net.safetensors", framework="pt", device="cpu") as f:
    print(f.metadata(), len(f.keys()), f.get_slice("up.weight")[0, :2].shape, f.get_slice("up.bias").get_shape())
up = torch.nn.Linear(4, 8)
try:
    load_model(up, "net.safetensors")
except RuntimeError as error:
    print(str(error).split("\\n")[1])

def model(x):
    return x
`);
    const want = `[]\n{'format': 'pt', 'a b': 'é\\n😀'} 9 torch.Size([2]) [8]\n    Missing key(s) in state_dict: "bias", "weight"\n`;
    for (const [mode, text] of printed(path, ...all)) assert.equal(text, want, mode);
});

test('a run that watches memory reads the same', () => {
    const want = readFileSync(`${folder}/gpt.want`, 'utf8');
    for (const [mode, text] of printed(`${folder}/gpt.py`, '--poison', '--weights', `${folder}/gpt.pt`)) assert.equal(text, want, mode);
});

test('what cannot be read is refused with its reason', () => {
    const cases = [
        ['torch.load("float8.pt")', /float8\.pt: it has a tensor of dtype float8_e4m3fn, which is not among those of this engine/],
        ['torch.load("whole.pt", weights_only=False)', /GLOBAL state\.Net was not an allowed global; .*state_dict/],
        ['torch.load("legacy.pt")', /legacy\.pt: it is in the format that torch\.save had before PyTorch 1\.6/],
        ['torch.load("net.safetensors")', /safetensors\.torch\.load_file\(path\) reads it/],
        ['load_file("net.pt")', /what torch\.save wrote is read by torch\.load/],
        ['load_file("float8.safetensors")', /x is of dtype float8_e4m3fn/],
        ['torch.load("nope.pt")', /FileNotFoundError: \[Errno 2\] No such file or directory: 'nope\.pt'/],
        ['torch.load("/etc/passwd")', /No such file or directory/],
        ['save_file({}, "a.safetensors")', /nothing here writes files/],
    ];
    for (const [call, said] of cases) {
        const path = program(`# input: x=float32[1]\nimport torch\nfrom safetensors.torch import load_file, save_file\n\ndef model(x):\n    return x\n\n${call}\n`);
        const r = run('run', path, '--no-timing', ...all);
        assert.equal(r.status, 1, call);
        assert.match(r.stderr, said);
        assert.match(r.stderr, /model\.py:8:/);
    }
});

test('a program names a file by its last parts, and a flag may give it another name', () => {
    const path = program('# input: x=float32[1]\nimport torch\nkept = torch.load("/root/out/best.pt")["up.bias"]\n\ndef model(x):\n    return kept + x\n');
    assert.equal(run('run', path, '--no-timing', '--weights', `best.pt=${folder}/net.pt`).status, 0);
    assert.equal(run('explain', path, '--weights', `out/best.pt=${folder}/net.pt`).status, 0);
    assert.match(run('run', path, '--no-timing', '--weights', `${folder}/net.pt`).stderr, /No such file/);
    assert.match(run('run', path, '--weights', 'nope.pt').stderr, /nope\.pt cannot be opened/);
});

test('a workload has ids, which the flags must agree with', () => {
    const path = join(mkdtempSync(join(tmpdir(), 'breakeven-weights-')), 'run.json');
    const workload = {
        source: 'import torch\nbias = torch.load("net.pt")["up.bias"]\n\ndef model(x):\n    return x + bias\n',
        calls: [[{ random: { shape: [8] } }]], weights: { 'net.pt': idOf(`${folder}/net.pt`) },
    };
    writeFileSync(path, JSON.stringify(workload));
    const good = run('run', path, '--no-timing', '--json', '--weights', `${folder}/net.pt`);
    assert.equal(good.status, 0, good.stderr);
    assert.deepEqual(JSON.parse(good.stdout).workload.weights, workload.weights);
    assert.match(run('run', path, '--no-timing').stderr, /name it with --weights net\.pt=PATH/);
    assert.match(run('run', path, '--weights', `net.pt=${folder}/gpt.pt`).stderr, /the workload asks for another file of that name/);
    writeFileSync(path, JSON.stringify({ ...workload, weights: { '../net.pt': workload.weights['net.pt'] } }));
    assert.match(run('run', path, '--no-timing').stderr, /no path within the program's folder/);
    writeFileSync(path, JSON.stringify({ ...workload, weights: { 'net.pt': 'md5:1' } }));
    assert.match(run('run', path, '--no-timing').stderr, /sha256: and 64 digits/);
});
