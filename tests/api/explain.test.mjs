// tests/api/explain.test.mjs -- `breakeven explain` on the command line: text,
// JSON, exit status; and the same breaks from POST /check.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, getJson, randn, startServer } from './harness.mjs';

const source = `import torch

def model(x):
    y = torch.sin(x)
    if y.sum() > 100:
        y = y * 2
    print("rows", y.shape[0])
    return y + 1
`;

let folder, file;
before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'breakeven-explain-'));
    file = join(folder, 'model.py');
    await writeFile(file, source);
});
after(() => rm(folder, { recursive: true, force: true }));

const explain = (...args) => new Promise((done) => {
    execFile(binary, ['explain', ...args], (error, stdout, stderr) => done({ status: error?.code ?? 0, stdout, stderr }));
});

test('shows counts, breaks under their lines, what to write, guards and other sizes', async () => {
    const { status, stdout } = await explain(file, '--input', 'x=float32[4,8]');
    assert.equal(status, 0);
    assert.match(stdout, /^Graph Count: 2\nGraph Break Count: 2\nOp Count: 4\n/);
    assert.match(stdout, /model\.py:5:8: data-dependent-branch \(GB0170\), ends graph 0\n.*\n +\| +\^~+\n/);
    assert.match(stdout, /instead: write torch\.where/);
    assert.match(stdout, /\+ {4,5}y = torch\.where\(y\.sum\(\) > 100, y \* 2, y\)/);
    assert.match(stdout, /torch_dynamo_resume_in_model_at_7/);
    assert.match(stdout, /x\.size\(0\) == 4/);
    assert.match(stdout, /x\.size\(0\), 4 to 5: recompiled: x\.size\(0\) is 5, was 4/);
});

test('JSON has the same, graphs have tables', async () => {
    const json = await explain(file, '--input=x=float32[4,8]', '--json', '--mode=static');
    const answer = JSON.parse(json.stdout);
    assert.deepEqual(answer.breaks.map((b) => b.kind), ['data-dependent-branch', 'host-call']);
    assert.equal(answer.mode, 'static');
    const tables = await explain(file, '--input', 'x=float32[4,8]', '--graph');
    assert.match(tables.stdout, /placeholder +x +\(\) +\[4, 8\] +float32/);
    assert.match(tables.stdout, /kernels\n +0 +fused_\w+: \d+ ops?, .* read, .* written.*\n +the first kernel/);
});

test('tells flags that are wrong from a program that fails', async () => {
    assert.equal((await explain()).status, 2);
    assert.equal((await explain(file, '--mode', 'eager')).status, 2);
    assert.equal((await explain('--help')).status, 0);
    const failed = await explain(file, '--input', 'x=3.5');
    assert.equal(failed.status, 1);
    assert.match(failed.stderr, /model\.py:4/);
});

test('POST /check finds the same breaks', async () => {
    const server = await startServer();
    const { body } = await getJson(`${server.url}/api/v1/check`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ source, calls: [[randn(4, 8)]] }),
    });
    assert.deepEqual(body.breaks.map((b) => [b.kind, b.line]), [['data-dependent-branch', 5], ['host-call', 7]]);
    assert.match(body.breaks[0].rewrite, /torch\.where/);
    await server.stop();
});
