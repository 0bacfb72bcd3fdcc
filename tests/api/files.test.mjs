// tests/api/files.test.mjs -- programs of several files: over REST, and a folder at the command line.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, getJson, randn, startServer, waitFor } from './harness.mjs';

let server;
before(async () => { server = await startServer(); });
after(async () => { await server.stop(); });

const post = (path, body) => getJson(`${server.url}/api/v1/${path}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
});

const files = {
    'train.py': '# input: x=float32[4,8]\nfrom net import Net\nnet = Net()\n\ndef model(x):\n    return net(x) * 2\n',
    'net/__init__.py': 'from .block import Block as Net\n',
    'net/block.py': 'import torch\nfrom torch import nn\nfrom . import config\n\n\nclass Block(nn.Module):\n    def forward(self, x):\n        x = x * config.scale\n        if x.sum() > 1000:\n            x = x + 1\n        return torch.sin(x)\n',
    'net/config.py': 'scale = 3\n',
    'unused.py': 'this is not Python\n',
};
const workload = (more) => ({ name: 'folder', files, entry: 'train.py:model', calls: [[randn(4, 8)]], ...more });

function folder(extra = {}) {
    const root = mkdtempSync(join(tmpdir(), 'breakeven-files-'));
    for (const [path, text] of Object.entries({ ...files, ...extra })) {
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
    }
    return root;
}
const run = (...args) => spawnSync(binary, args, { encoding: 'utf8' });

test('a folder is explained, breaks with their file', () => {
    const r = run('explain', folder(), '--entry', 'train.py:model', '--json');
    assert.equal(r.status, 0, r.stderr);
    const [b] = JSON.parse(r.stdout).breaks;
    assert.equal(b.kind, 'data-dependent-branch');
    const inner = b.stack.at(-1);
    assert.deepEqual([inner.file, inner.line], ['net/block.py', 9]);
});

test('the text names the file and shows its line', () => {
    const r = run('explain', folder(), '--entry', 'train.py:model');
    assert.match(r.stdout, /net\/block\.py:9:12: data-dependent-branch/);
    assert.match(r.stdout, /9 \|         if x\.sum\(\) > 1000:/);
});

test('a run has the same values as its files in one', () => {
    const several = run('run', folder(), '--entry', 'train.py:model', '--no-timing', '--json');
    assert.equal(several.status, 0, several.stderr);
    const one = folder({ 'one.py': '# input: x=float32[4,8]\nimport torch\n\ndef model(x):\n    return torch.sin(x * 3) * 2\n' });
    const single = run('run', join(one, 'one.py'), '--no-timing', '--json');
    const output = (r) => JSON.parse(r.stdout).modes.static.calls[0].output;
    assert.deepEqual(output(several), output(single));
});

test('an error has its file, at the command line and in a check', async () => {
    const wrong = { 'net/config.py': 'scale = 1 / 0\n' };
    const r = run('run', folder(wrong), '--entry', 'train.py:model', '--no-timing');
    assert.equal(r.status, 1);
    assert.match(r.stderr, /net\/config\.py:1:9: division by zero/);
    const { body } = await post('check', workload({ files: { ...files, ...wrong } }));
    assert.deepEqual(body.diagnostics.filter((d) => d.severity === 'error').map((d) => [d.file, d.line]), [['net/config.py', 1]]);
});

test('graphs of passes have lines of their file', () => {
    const r = run('explain', folder(), '--entry', 'train.py:model', '--passes', '--json');
    const text = r.stdout.match(/# [^\\]*line \d+/g);
    assert.ok(text.length > 0);
    assert.deepEqual([...new Set(text)].sort().filter((t) => !/^# (train|net\/block)\.py, line \d+$/.test(t)), []);
    assert.ok(text.includes('# net/block.py, line 11'));
});

test('a comparison has the lines of each file, and a break\'s', async () => {
    const program = { ...files, 'net/block.py': files['net/block.py'].replace('torch.sin(x)', 'torch.cos(x)'), 'net/more.py': 'y = 1\n' };
    const ids = [];
    for (const f of [files, program]) {
        const { body } = await post('runs', workload({ files: f, modes: ['eager', 'static'], seconds: 0.01 }));
        assert.equal((await waitFor(server, body.id)).status, 'done');
        ids.push(body.id);
    }
    const { body } = await getJson(`${server.url}/api/v1/compare?a=${ids[0]}&b=${ids[1]}`);
    const [c] = body.comparisons;
    const source = c.differences.find((d) => d.key === 'source');
    assert.deepEqual([source.a, source.b], ['20 lines in 5 files', '2 lines added, 1 gone']);
    assert.deepEqual([c.source.added, c.source.gone], [2, 1]);
    assert.deepEqual(c.source.lines.filter((l) => l.sign !== ' ').map((l) => [l.file, l.sign, l.a ?? l.b, l.text.trim()]), [
        ['net/block.py', '-', 11, 'return torch.sin(x)'], ['net/block.py', '+', 11, 'return torch.cos(x)'], ['net/more.py', '+', 1, 'y = 1']]);
    const kept = c.breaks.find((b) => b.kind === 'data-dependent-branch');
    assert.deepEqual([kept.change, kept.text, kept.b.file, kept.b.line], ['kept', 'if x.sum() > 1000:', 'net/block.py', 9]);
    const page = await (await fetch(`${server.url}/api/v1/runs/${ids[0]}/export?format=html`)).text();
    assert.equal(page.match(/<details[^>]*><summary class="mono">/g).length, 5);
    assert.match(page, /<details open><summary class="mono">net\/block\.py<\/summary>/);
    assert.match(page, /<details open><summary class="mono">train\.py<\/summary>/);
    assert.match(page, /<details><summary class="mono">unused\.py<\/summary>/);
    assert.match(page, /<li class="hit"><span class="ln">9<\/span><span> {8}if x\.sum\(\) &gt; 1000:/);
});

test('a folder needs an entry, and no symbolic links', () => {
    assert.equal(run('run', folder()).status, 2);
    const linked = folder();
    symlinkSync('/etc', join(linked, 'etc'));
    const r = run('run', linked, '--entry', 'train.py:model');
    assert.equal(r.status, 1);
    assert.match(r.stderr, /symbolic link/);
    assert.match(run('run', folder(), '--entry', 'trane.py:model').stderr, /no file trane\.py; did you mean train\.py/);
});

/** @param {string} root */
function zipOf(root) {
    const made = join(mkdtempSync(join(tmpdir(), 'breakeven-zip-')), 'net.zip');
    const r = spawnSync('python3', ['-m', 'zipfile', '-c', made, `${root}/`], { encoding: 'utf8' });
    assert.equal(r.status, 0, r.stderr);
    return made;
}
const postZip = (path, file) => getJson(`${server.url}/api/v1/${path}`, {
    method: 'POST', headers: { 'Content-Type': 'application/zip' }, body: readFileSync(file),
});

test('a .zip is the folder that is in it', async () => {
    const zip = zipOf(folder({ 'notes.txt': 'not of the program' }));
    const r = run('explain', zip, '--entry', 'train.py:model');
    assert.match(r.stdout, /net\/block\.py:9:12: data-dependent-branch/);
    assert.equal(run('run', zip).status, 2);
    const { status, body } = await postZip('unpack', zip);
    assert.equal(status, 200);
    assert.deepEqual(body.files, files);
    const checked = await postZip('check?entry=train.py:model', zip);
    assert.equal(checked.body.breaks[0].kind, 'data-dependent-branch');
    const posted = await postZip('runs?entry=train.py:model&name=zipped&modes=eager&input=x%3Dfloat32[2,3]', zip);
    assert.equal(posted.status, 202, JSON.stringify(posted.body));
    const { body: got } = await getJson(`${server.url}/api/v1/runs/${posted.body.id}`);
    assert.deepEqual(got.workload.files, files);
    assert.deepEqual([got.name, got.modes, got.workload.calls[0][0].random.shape], ['zipped', ['eager'], [2, 3]]);
});

test('a suite takes folders, and a list with their entries; what fails is grouped by its cause', () => {
    const programs = mkdtempSync(join(tmpdir(), 'breakeven-suite-'));
    const wrong = (name) => `# input: x=float32[4,8]\nimport torch\n\ndef model(x):\n    return torch.${name}(x)\n`;
    cpSync(folder(), join(programs, 'net'), { recursive: true });
    writeFileSync(join(programs, 'a.py'), wrong('nosuch'));
    writeFileSync(join(programs, 'b.py'), wrong('other'));
    const suite = (path) => JSON.parse(run('suite', path, '--modes', 'eager', '--policy', 'dynamo', '--seconds', '0.01', '--json').stdout);
    const all = suite(programs);
    assert.deepEqual(all.workloads.map((w) => [w.name, w.results[0].status]), [['a', 'failed'], ['b', 'failed'], ['net', 'pass']]);
    assert.deepEqual(all.causes.map((c) => [c.cause, c.workloads]), [["torch has no attribute '...'", ['a', 'b']]]);
    const list = join(programs, 'list.txt');
    writeFileSync(list, `net --entry train.py:model --input x=float32[2,3]  # as published\n${zipOf(folder())} --entry train.py:model\nnet\n`);
    assert.deepEqual(suite(list).workloads.map((w) => w.results[0].status), ['pass', 'pass', 'failed']);
    writeFileSync(list, 'net --entrance train.py:model\n');
    assert.match(run('suite', list).stderr, /--entry FILE\.py:NAME, --input NAME=VALUE or --weights PATH/);
});

test('a .zip without an entry, or that is none, is refused', async () => {
    const zip = zipOf(folder());
    assert.match((await postZip('runs', zip)).body.error.message, /entry= is missing/);
    writeFileSync(zip, 'PK\x03\x04 and no more');
    const { status, body } = await postZip('unpack', zip);
    assert.equal(status, 400);
    assert.match(body.error.message, /is no \.zip that can be read/);
});

test('a workload with files runs, and its report has them', async () => {
    const { status, body } = await post('runs', workload({ modes: ['eager', 'static'], seconds: 0.05 }));
    assert.equal(status, 202, JSON.stringify(body));
    const got = await waitFor(server, body.id);
    assert.equal(got.status, 'done', JSON.stringify(got.error));
    assert.equal(got.report.workload.files['net/config.py'], files['net/config.py']);
    const s = got.report.modes.static;
    assert.equal(s.breaks[0].stack.at(-1).file, 'net/block.py');
    const placed = s.graphs.flatMap((g) => g.nodes ?? []).filter((n) => n.line > 0);
    assert.ok(placed.length > 0 && placed.every((n) => n.file in files));
});

test('a run that fails says in which file', async () => {
    const { body } = await post('runs', workload({ files: { ...files, 'net/config.py': 'scale = 1 / 0\n' } }));
    const got = await waitFor(server, body.id);
    assert.equal(got.status, 'failed');
    assert.match(got.error.message, /^net\/config\.py: division by zero/);
});

/** [name, what changes, message] */
const refused = [
    ['a path that leaves the folder', { files: { '../a.py': '' }, entry: '../a.py:model' }, /no path within/],
    ['an absolute path', { files: { '/a.py': '' }, entry: '/a.py:model' }, /no path within/],
    ['a backslash', { files: { 'a\\b.py': '' }, entry: 'a\\b.py:model' }, /backslash/],
    ['what is no .py', { files: { 'a.txt': '' }, entry: 'a.txt:model' }, /no \.py file/],
    ['a long path', { files: { [`${'a'.repeat(200)}.py`]: '' } }, /limit is 120/],
    ['deep folders', { files: { [`${'a/'.repeat(20)}b.py`]: '' } }, /folders deep/],
    ['too many files', { files: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}.py`, ''])) }, /limit is 1000/],
    ['no text', { files: { 'a.py': 3 }, entry: 'a.py:model' }, /text/],
    ['source as well', { source: 'x = 1' }, /not both/],
    ['an entry without a file', { entry: 'model' }, /as "train\.py:model"/],
];
for (const [name, change, message] of refused) {
    test(`refuses ${name}`, async () => {
        const { status, body } = await post('runs', workload(change));
        assert.ok(status >= 400 && status < 500, String(status));
        assert.match(body.error.message, message);
    });
}
