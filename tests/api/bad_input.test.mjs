// tests/api/bad_input.test.mjs -- what POST refuses, and how it words it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { getJson, postRun, startServer, workload } from './harness.mjs';

let server;
before(async () => { server = await startServer(); });
after(async () => { await server.stop(); });

const source = (text) => ({ ...workload(''), source: text });

/** [name, body, code, message, line] */
const refused = [
    ['not JSON', '{"name": ', 'json', /not JSON/],
    ['an empty list', '[]', 'workload', /1 to 200/],
    ['no source', { name: 'x', calls: [[]] }, 'workload', /source/],
    ['a syntax error', source('import torch\n\ndef model(x)\n    return x\n'), 'syntax', /':'|colon/, 3],
    ['an unknown name', source('import torch\n\ndef model(x):\n    return y\n'), 'unknown-name', /y/, 4],
    ['an unknown op', source('import torch\n\ndef model(x):\n    return torch.softmx(x)\n'), 'unknown-name', /softmax/, 4],
    ['no entry', source('import torch\n\ndef other(x):\n    return x\n'), 'unknown-name', /model/],
    ['a coroutine', source('import torch\n\nasync def model(x):\n    return x\n'), 'unsupported', /async/, 3],
    ['a mode that does not exist', workload('    return x', { modes: ['eager', 'fast'] }), 'workload', /fast/],
    ['an unknown field', workload('    return x', { mods: [] }), 'workload', /mods/],
    ['10^12 elements', workload('    return x', { calls: [[{ random: { shape: [1000000, 1000000], dtype: 'float32', kind: 'randn' } }]] }), 'bound', /1,?000,?000|elements|bytes/],
    ['a negative size', workload('    return x', { calls: [[{ random: { shape: [-1], dtype: 'float32', kind: 'randn' } }]] }), null, /shape\[0\].*>= 0/],
    ['an unknown dtype', workload('    return x', { calls: [[{ random: { shape: [1], dtype: 'float33', kind: 'randn' } }]] }), null, /float33/],
    ['data that do not fill the shape', workload('    return x', { calls: [[{ tensor: { shape: [3], dtype: 'float32', data: [1] } }]] }), null, /3/],
    ['an op to deny that there is not', workload('    return x', { deny: ['relu', 'torch.cosh', 'multiply', 'layer_norm', 'sofmax'] }), 'unknown-name', /deny\[4\]: there is no op 'sofmax', but torch.softmax; `breakeven ops`/],
    ['a sweep without its line', workload('    return x', { sweep: { statements: { pool: ['x = x'], counts: [1] } } }), 'workload', /\.\.\./],
];

for (const [name, body, code, message, line] of refused) {
    test(`refuses ${name}`, async () => {
        const answer = await postRun(server, body);
        assert.ok(answer.status >= 400 && answer.status < 500, `status ${answer.status}`);
        const { error } = answer.body;
        if (code) assert.equal(error.code, code, error.message);
        assert.match(error.message, message);
        if (line) assert.equal(error.line, line, error.message);
        if (line) assert.ok(error.column >= 1);
    });
}

test('all that the source would be refused for is named at once', async () => {
    const { status, body } = await postRun(server, source('import torch\n\ndef model(x):\n    y = torch.softmx(x)\n    return missing(b"x")\n'));
    assert.equal(status, 400);
    assert.equal(body.error.line, 4);
    assert.deepEqual(body.problems.map((p) => [p.code, p.line]), [['unknown-name', 4], ['unknown-name', 5]]);
});

test('what need not be reached is no reason to refuse', async () => {
    const { status } = await postRun(server, source('import torch, apex\nfrom .utils import *\n\ndef unused(x):\n    return torch.softmx(open(b"x"))\n\nasync def later():\n    await apex.f(1j)\n\ndef model(x):\n    return x\n'));
    assert.equal(status, 202);
});

test('refuses a body of 10 MB', async () => {
    const answer = await postRun(server, source(`import torch\n# ${'x'.repeat(10 << 20)}\n`));
    assert.equal(answer.status, 413);
    assert.equal(answer.body.error.code, 'too-large');
});

test('refuses a chunked body that grows over the limit', async () => {
    const body = new ReadableStream({
        pull(controller) {
            this.sent = (this.sent ?? 0) + 1;
            if (this.sent > 12) controller.close();
            else controller.enqueue(new Uint8Array(1 << 20).fill(32));
        },
    });
    const answer = await getJson(`${server.url}/api/v1/runs`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body, duplex: 'half',
    });
    assert.equal(answer.status, 413);
});

test('refuses a source over its own limit', async () => {
    const answer = await postRun(server, source(`import torch\n# ${'x'.repeat(2 << 20)}\ndef model(x):\n    return x\n`));
    assert.ok(answer.status === 400 || answer.status === 413 || answer.status === 422, String(answer.status));
    assert.match(answer.body.error.message, /source/);
});

test('refuses other content types, methods, paths and ids', async () => {
    const form = await getJson(`${server.url}/api/v1/runs`, { method: 'POST', body: 'a=b' });
    assert.equal(form.status, 415);
    // A type that a page of another site may send unasked stays one, whatever follows it.
    const dressed = await postRun(server, workload('    return x'), 'text/plain; application/json');
    assert.equal(dressed.status, 415);
    assert.match(dressed.body.error.message, /Content-Type: application\/json/);
    assert.equal((await postRun(server, '{', 'Application/JSON; charset=utf-8')).body.error.code, 'json');
    assert.equal((await getJson(`${server.url}/api/v1/runs`, { method: 'PUT' })).status, 405);
    assert.equal((await getJson(`${server.url}/api/v1/nothing`)).status, 404);
    assert.equal((await getJson(`${server.url}/api/v1/runs/999999`)).status, 404);
    assert.equal((await getJson(`${server.url}/api/v1/runs/abc`)).status, 400);
    assert.equal((await getJson(`${server.url}/api/v1/runs/1%00`)).status >= 400, true);
});

test('JSON nested without end is refused, not fatal', async () => {
    const answer = await postRun(server, '['.repeat(100000));
    assert.equal(answer.status, 400);
    assert.equal((await getJson(`${server.url}/healthz`)).body.status, 'ok');
});
