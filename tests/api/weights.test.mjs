// tests/api/weights.test.mjs -- files of weights: at the command line, and over REST.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, getJson, postRun, startServer, waitFor } from './harness.mjs';

let server;
before(async () => { server = await startServer({ args: ['--files-gib', '1'] }); });
after(async () => { await server.stop(); });

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

test('a tensor that is written in place leaves those beside it in the file', () => {
    const path = program(`# input: x=float32[1]
import torch
from safetensors.torch import load_file
b = load_file("every.safetensors")
wrong = []
for name in b:
    a = load_file("every.safetensors")
    if a[name].dtype != torch.bool:
        a[name].add_(1)
    wrong += [(name, k) for k in b if k != name and not torch.equal(a[k], b[k])]
print(wrong)

def model(x):
    return x
`);
    for (const [mode, text] of printed(path, ...all)) assert.equal(text, '[]\n', mode);
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
    const path = program('# input: x=float32[1]\nimport torch\nkept = torch.load("/data/out/best.pt")["up.bias"]\n\ndef model(x):\n    return kept + x\n');
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

// ---- over REST

const bytes = (body) => ({ method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body });
const post = (query, body) => getJson(`${server.url}/api/v1/files?${query}`, bytes(body));
const list = async () => (await getJson(`${server.url}/api/v1/files`)).body;

test('a file comes in pieces, and goes on after a break', async () => {
    const whole = readFileSync(`${folder}/gpt.pt`), cut = 50000;
    const first = await post(`bytes=${whole.length}`, whole.subarray(0, cut));
    assert.equal(first.status, 202);
    assert.deepEqual([first.body.received, first.body.bytes], [cut, whole.length]);
    const { upload } = first.body;
    const twice = await post(`upload=${upload}&at=0`, whole.subarray(0, cut));
    assert.equal(twice.status, 409);
    assert.match(twice.body.error.message, /has received 50000 bytes: go on from there, with at=50000/);
    assert.equal((await post(`upload=${upload}`, '')).body.received, cut);
    const long = await post(`upload=${upload}&at=${cut}`, Buffer.concat([whole.subarray(cut), Buffer.from('x')]));
    assert.equal(long.status, 413);
    const last = await post(`upload=${upload}&at=${cut}`, whole.subarray(cut));
    assert.equal(last.status, 201);
    assert.deepEqual([last.body.id, last.body.bytes], [idOf(`${folder}/gpt.pt`), whole.length]);
    assert.equal((await post(`upload=${upload}`, '')).status, 404);
    // what is there is not sent again
    const again = await post(`bytes=${whole.length}&id=${last.body.id}`, '');
    assert.deepEqual([again.status, again.body.id], [201, last.body.id]);
    const kept = await list();
    assert.deepEqual(kept.files.map((f) => [f.id, f.bytes]), [[last.body.id, whole.length]]);
    assert.deepEqual([kept.bytes, kept.most_bytes], [whole.length, 2 ** 30]);
});

test('a post is done once, however soon its thread is done with it', async () => {
    const before = (await list()).bytes, n = 300;
    for (let k = 0; k < n; k += 10) {
        const begun = await Promise.all(Array.from({ length: 10 }, () => post('bytes=2', 'x')));
        assert.deepEqual(begun.map((answer) => [answer.status, answer.body.received]), begun.map(() => [202, 1]));
    }
    assert.equal((await list()).bytes - before, 2 * n);
});

test('a run reads a posted file, as PyTorch does, and says so when it was deleted', async () => {
    const path = `${folder}/gpt.pt`, whole = readFileSync(path), id = idOf(path);
    await post(`bytes=${whole.length}&id=${id}`, whole);
    const workload = {
        name: 'gpt', source: readFileSync(`${folder}/gpt.py`, 'utf8'), calls: [[{ random: { shape: [1], kind: 'ones' } }]],
        weights: { 'gpt.pt': id }, seconds: 0.05,
    };
    const check = await getJson(`${server.url}/api/v1/check`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(workload) });
    assert.deepEqual(check.body.diagnostics, []);
    const { body } = await postRun(server, workload);
    const run = await waitFor(server, body.id);
    assert.equal(run.status, 'done', JSON.stringify(run.error));
    assert.equal(run.report.modes.static.calls[0].stdout, readFileSync(`${folder}/gpt.want`, 'utf8'));
    assert.deepEqual(run.report.workload.weights, workload.weights);
    assert.equal((await getJson(`${server.url}/api/v1/files/${id}`, { method: 'DELETE' })).status, 200);
    assert.equal((await getJson(`${server.url}/api/v1/files/${id}`, { method: 'DELETE' })).status, 404);
    const gone = await postRun(server, workload);
    assert.equal(gone.status, 404);
    assert.match(gone.body.error.message, /the weights gpt\.pt are not here: the file sha256:\w+ was deleted or never posted; post it to \/api\/v1\/files/);
    assert.equal((await waitFor(server, body.id)).status, 'done'); // the run stays
});

test('a post of a file has bounds', async () => {
    const cases = [
        ['', 'x', 400, /bytes= is missing/],
        ['bytes=-5', 'x', 400, /bytes=-5/],
        [`bytes=${2 ** 40}`, 'x', 413, /do not fit: .*--files-gib/],
        ['bytes=1&id=md5:1', 'x', 400, /sha256: and 64 digits/],
        ['upload=..%2F..%2Fetc', 'x', 400, /what the first POST answered/],
        ['upload=0123456789abcdef', 'x', 404, /there is no upload/],
        [`bytes=1&id=sha256:${'0'.repeat(64)}`, 'x', 422, /what was received is sha256:\w+, and not sha256:0+; post it again/],
    ];
    for (const [query, body, status, said] of cases) {
        const answer = await post(query, body);
        assert.equal(answer.status, status, query);
        assert.match(answer.body.error.message, said);
    }
    const wrong = await getJson(`${server.url}/api/v1/files/nope`, { method: 'DELETE' });
    assert.equal(wrong.status, 400);
    assert.deepEqual((await list()).files.filter((f) => f.bytes < 2), []);
    const empty = await post('bytes=0', '');
    assert.deepEqual([empty.status, empty.body.bytes], [201, 0]);
});
