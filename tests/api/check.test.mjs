// tests/api/check.test.mjs -- POST /check: diagnostics at their place, breaks from
// a worker, and a server that outlives what it looks at.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { FOREVER, binary, getJson, randn, startServer, workload } from './harness.mjs';

let server;
before(async () => { server = await startServer(); });
after(async () => { await server.stop(); });

const check = (body) => getJson(`${server.url}/api/v1/check`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
});
const source = (text) => ({ source: `import torch\n\ndef model(x):\n${text}\n` });

test('a program without calls is parsed, nothing more', async () => {
    const { status, body } = await check(source('    return torch.sin(x)'));
    assert.equal(status, 200);
    assert.deepEqual([body.diagnostics, body.breaks], [[], []]);
});

/** [name, workload, code, message, line, column, end_column] */
const wrong = [
    ['a syntax error', source('    y = x +'), 'syntax', /./, 4],
    ['an unknown op', source('    return torch.sinn(x)'), 'unknown-name', /torch\.sin\?/, 4, 12, 22],
    ['an unknown name', source('    return x + yy'), 'unknown-name', /yy/, 4, 16, 18],
    ['sizes that do not fit', { ...source('    return x + torch.ones(3)'), calls: [[randn(2)]] }, 'shape', /broadcast|fit/, 4],
    ['a loop without end', { ...source('    while True:\n        pass'), calls: [[randn(2)]] }, /step-limit|worker/, /steps|took/],
];
for (const [name, body, code, message, line, column, end] of wrong) {
    test(`names ${name}`, async () => {
        const answer = await check(body);
        assert.equal(answer.status, 200);
        const [found] = answer.body.diagnostics;
        assert.match(found.code, new RegExp(code));
        assert.match(found.message, message);
        if (line) assert.equal(found.line, line);
        if (column) assert.deepEqual([found.column, found.end_column], [column, end]);
    });
}

test('names every problem at once, and warns of what need not be reached', async () => {
    const { body } = await check({ source: 'import torch\n\ndef unused(x):\n    return 99999999999999999999 * x\n\ndef model(x):\n    y = torch.sinn(x)\n    return y + yy\n' });
    assert.deepEqual(body.diagnostics.map((d) => [d.severity, d.line]).sort((a, b) => a[1] - b[1]), [['warning', 4], ['error', 7], ['error', 8]]);
});

test('captures the calls, and finds the lowering\'s breaks at their line', async () => {
    const { body } = await check({
        ...workload('    y = torch.sin(x)\n    return torch.relu(y).sum()'), deny: ['relu'], modes: ['eager', 'static'],
    });
    assert.deepEqual(body.diagnostics, []);
    assert.equal(body.mode, 'static');
    assert.equal(body.graph_count, 1);
    assert.equal(body.op_count, 3);
    assert.deepEqual(body.breaks.map((b) => [b.kind, b.line, b.column, b.outcome]), [['denied-op', 5, 12, 'fallback']]);
});

test('refuses what is no program', async () => {
    assert.equal((await check({ calls: [] })).body.error.code, 'workload');
    assert.equal((await check([])).body.error.code, 'workload');
});

test('many at once are answered or told to come again', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => check(workload('    return x.sum()'))));
    for (const { status, body } of answers) {
        assert.ok(status === 200 || status === 503, `status ${status}`);
        if (status === 200) assert.deepEqual(body.diagnostics, []);
        else assert.equal(body.error.code, 'busy');
    }
    assert.ok(answers.some((a) => a.status === 200));
});

test('one that takes over --check-seconds says so, and that is a number of seconds', async () => {
    const quick = await startServer({ args: ['--check-seconds', '1'] });
    const { body } = await getJson(`${quick.url}/api/v1/check`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...workload(''), source: FOREVER }),
    });
    assert.match(body.diagnostics[0].message, /the program took over 1 s, the limit of a check/);
    await quick.stop();
    for (const bad of ['0', 'x', '1e9', '-3'])
        assert.equal(spawnSync(binary, ['serve', '--check-seconds', bad]).status, 2, bad);
});
