// tests/api/client.test.mjs -- the Python client that the server gives: with Python alone, and with PyTorch where TORCH_PYTHON (python3) has it.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { startServer } from './harness.mjs';

const torch = process.env.TORCH_PYTHON ?? 'python3';
const hasTorch = spawnSync(torch, ['-c', 'import torch']).status === 0;

let server, client;
before(async () => {
    server = await startServer();
    const answer = await fetch(`${server.url}/client.py`);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type'), /^text\/x-python/);
    client = join(server.home, 'breakeven.py');
    writeFileSync(client, await answer.text());
});
after(async () => { await server.stop(); });

/** Runs a file of checks; what it says where it fails. */
function check(python, file, ...flags) {
    return new Promise((done) => {
        const child = spawn(python, [...flags, file, client, server.url], { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
        let said = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { said += bytes; });
        child.on('close', (code) => done({ code, said }));
    });
}

test('it is the file of web/, and needs no package', async () => {
    assert.equal(readFileSync(client, 'utf8'), readFileSync('web/client.py', 'utf8'));
    assert.deepEqual(await check('python3', 'tests/api/client_checks.py', '-S'), { code: 0, said: '' });
});

test('modules, their parameters and traces', { skip: !hasTorch && `${torch} has no PyTorch` }, async () => {
    assert.deepEqual(await check(torch, 'tests/api/client_torch.py'), { code: 0, said: '' });
});
