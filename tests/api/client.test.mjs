// tests/api/client.test.mjs -- the Python client that the server gives: with Python alone, and with PyTorch where TORCH_PYTHON (python3) has it.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createServer, request } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { getJson, startServer } from './harness.mjs';

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

/** A proxy before the server; `does(n, answer, response)` is told of the n-th post, which the server has answered. */
async function between(does) {
    const seen = [];
    const proxy = createServer((asked, response) => {
        const { hostname, port } = new URL(server.url);
        const on = request({ hostname, port, method: asked.method, path: asked.url, headers: { ...asked.headers, host: `${hostname}:${port}` } }, (answer) => {
            if (asked.method === 'POST') seen.push(asked.headers['idempotency-key']);
            if (asked.method === 'POST' && does(seen.length, answer, response)) return answer.resume();
            response.writeHead(answer.statusCode, answer.headers);
            answer.pipe(response);
        });
        asked.pipe(on);
    });
    await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
    return { url: `http://127.0.0.1:${proxy.address().port}`, seen, close: () => new Promise((done) => { proxy.close(done); proxy.closeAllConnections(); }) };
}
const python = (url, program) => new Promise((done) => {
    const child = spawn('python3', ['-S', '-c', `import sys; sys.path.insert(0, sys.argv[1]); import breakeven\nbreakeven.connect(sys.argv[2])\n${program}`, server.home, url], { env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => { said += bytes; });
    child.on('close', (code) => done({ code, said }));
});

test('a post whose answer is lost is sent again with its key, and makes one run', async () => {
    const losses = [
        ['the connection is cut', (answer, response) => response.destroy()],
        ['half an answer', (answer, response) => { response.writeHead(202, { 'content-type': 'application/json', 'content-length': '100' }); response.write('{"id"', () => response.destroy()); }],
        ['a proxy that is restarted', (answer, response) => { response.writeHead(502, { 'content-type': 'text/html' }); response.end('<h1>502</h1>'); }],
    ];
    for (const [name, lose] of losses) {
        const proxy = await between((n, answer, response) => n < 3 && (lose(answer, response), true));
        try {
            const { code, said } = await python(proxy.url, `print(breakeven.record(${JSON.stringify(name)}, [0.1, 0.2]).id)`);
            assert.equal(code, 0, `${name}: ${said}`);
            assert.equal(proxy.seen.length, 3, name);
            assert.match(proxy.seen[0], /^[0-9a-f]{32}$/);
            assert.equal(new Set(proxy.seen).size, 1, name);
            const { body: { runs } } = await getJson(`${server.url}/api/v1/runs?q=${encodeURIComponent(name)}`);
            assert.deepEqual(runs.map((run) => run.id), [Number(said)], name);
        } finally {
            await proxy.close();
        }
    }
});

test('what the server refuses, and a server that is not there, is said at once', async () => {
    const proxy = await between(() => false);
    try {
        const { code, said } = await python(proxy.url, 'breakeven.run("def model(x):\\n    return y\\n", breakeven.random(3))');
        assert.equal(code, 1);
        assert.match(said, /BreakevenError: .*y/);
        assert.equal(proxy.seen.length, 1);
    } finally {
        await proxy.close();
    }
    const { said } = await python(proxy.url, `try:\n    breakeven.record("x", [1])\nexcept breakeven.BreakevenError as error:\n    print(error.code, "no server answers at" in str(error))`);
    assert.equal(said.trim(), 'no-server True');
});

test('modules, their parameters and traces', { skip: !hasTorch && `${torch} has no PyTorch` }, async () => {
    assert.deepEqual(await check(torch, 'tests/api/client_torch.py'), { code: 0, said: '' });
});
