// tests/api/sites.test.mjs -- pages of other sites, names that were made to lead here, frames; addresses that others reach.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

let server, port, done;
before(async () => {
    server = await startServer({ args: ['--allow-host', 'perf.example', '--allow-host', 'tunnel.example:9000'] });
    port = Number(new URL(server.url).port);
    done = (await postRun(server, workload('    return x', { modes: ['eager'] }))).body.id;
    await waitFor(server, done);
});
after(async () => { await server.stop(); });

/** What fetch() would not send: any Host, any header of a browser. */
const ask = (path, { method = 'GET', headers = {}, body = '', at = port } = {}) => new Promise((resolve, fail) => {
    const request = http.request({ host: '127.0.0.1', port: at, path, method, headers, setHost: !('Host' in headers) }, (answer) => {
        let text = '';
        answer.on('data', (part) => { text += part; });
        answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
        if (answer.headers['content-type'] === 'text/event-stream') resolve({ status: answer.statusCode, headers: answer.headers, text });
    });
    request.on('error', fail);
    request.end(body);
});
const json = { 'Content-Type': 'application/json' };
const total = async () => (await getJson(`${server.url}/api/v1/runs`)).body.total;

test('a name that was made to lead here reads nothing and writes nothing', async () => {
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', '127.0.0.1:1', `127.0.0.1.evil.example:${port}`, `127.0.0.256:${port}`,
        `localhost.evil.example:${port}`, `perf.example.evil.example`, 'tunnel.example', 'tunnel.example:9001', `[::2]:${port}`, `[::1:${port}`, '']) {
        for (const path of ['/', '/runs', '/assets/css/main.css', '/api/v1/runs', '/healthz', '/api/v1/nothing', '/metrics']) {
            const answer = await ask(path, { headers: { Host: host, Accept: 'text/html' } });
            assert.equal(answer.status, 403, `${host} ${path}`);
            assert.equal(JSON.parse(answer.text).error.code, 'forbidden');
        }
        const post = await ask('/api/v1/runs', { method: 'POST', headers: { Host: host, ...json }, body: JSON.stringify(workload('    return x')) });
        assert.equal(post.status, 403, host);
        assert.equal((await ask(`/api/v1/runs/${done}`, { method: 'DELETE', headers: { Host: host } })).status, 403, host);
    }
    assert.equal(await total(), 1);
    assert.match((await ask('/', { headers: { Host: 'evil.example' } })).text, /--allow-host/);
});

test('names of loopback with the port, and those that were given, are answered', async () => {
    for (const host of [`127.0.0.1:${port}`, `127.0.1.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`,
        'perf.example', 'perf.example:443', 'Perf.Example', 'tunnel.example:9000'])
        assert.equal((await ask('/api/v1/runs', { headers: { Host: host } })).status, 200, host);
});

test('a page of another site neither writes nor reads; links to pages are followed', async () => {
    const own = `127.0.0.1:${port}`;
    const others = [{ Origin: 'https://evil.example' }, { Origin: 'null' }, { Origin: `http://127.0.0.1:${port + 1}` }, { Origin: `http://localhost:${port}` },
        { Origin: `ftp://${own}` }, { Origin: '' }, { 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' },
        { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'script' },
        { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' }];
    for (const headers of others) {
        for (const [method, path, body] of [['POST', '/api/v1/runs', JSON.stringify(workload('    return x'))], ['DELETE', `/api/v1/runs/${done}`, ''],
            ['PATCH', `/api/v1/runs/${done}`, '{"note": "x"}'], ['GET', '/api/v1/runs', ''], ['GET', `/api/v1/runs/${done}`, '']])
            assert.equal((await ask(path, { method, headers: { ...json, ...headers }, body })).status, 403, `${method} ${JSON.stringify(headers)}`);
    }
    assert.equal(await total(), 1);
    const link = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
    assert.equal((await ask(`/runs/${done}`, { headers: link })).status, 200);
    assert.equal((await ask(`/api/v1/runs/${done}`, { method: 'DELETE', headers: link })).status, 403);
    for (const headers of [{}, { Origin: `http://${own}` }, { 'Sec-Fetch-Site': 'same-origin' }, { 'Sec-Fetch-Site': 'none' }])
        assert.equal((await ask(`/api/v1/runs/${done}`, { method: 'PATCH', headers: { ...json, ...headers }, body: '{"note": "x"}' })).status, 200, JSON.stringify(headers));
});

test('no answer may be framed, sniffed or embedded, and none tells where a visitor came from', async () => {
    for (const [path, init, status] of [['/', {}, 200], [`/runs/${done}`, {}, 200], ['/assets/css/main.css', {}, 200], ['/api/v1/runs', {}, 200],
        [`/api/v1/runs/${done}/report.json`, {}, 200], [`/api/v1/runs/${done}/export?format=json`, {}, 200], [`/api/v1/runs/${done}/events`, {}, 200],
        [`/api/v1/runs/${done}/script.py`, {}, 200], ['/metrics', {}, 200], ['/nowhere', {}, 404], ['/nowhere', { headers: { Accept: 'text/html' } }, 404],
        ['/api/v1/runs/999999', {}, 404], ['/healthz', { method: 'DELETE' }, 405], ['/api/v1/runs', { method: 'HEAD' }, 200],
        ['/', { headers: { Host: 'evil.example' } }, 403], ['/api/v1/runs', { method: 'POST', headers: json, body: '{' }, 400]]) {
        const answer = await ask(path, init);
        assert.equal(answer.status, status, path);
        assert.match(answer.headers['content-security-policy'], /frame-ancestors 'none'/, path);
        for (const [name, value] of [['x-frame-options', 'DENY'], ['x-content-type-options', 'nosniff'], ['referrer-policy', 'no-referrer'],
            ['cross-origin-resource-policy', 'same-origin']])
            assert.equal(answer.headers[name], value, `${path} ${name}`);
    }
    const { headers: { etag } } = await ask('/assets/css/main.css');
    const same = await ask('/assets/css/main.css', { headers: { 'If-None-Match': etag } });
    assert.equal(same.status, 304);
    assert.equal(same.headers['x-frame-options'], 'DENY');
});

test('405 says in Allow what the path takes', async () => {
    for (const [method, path, allow] of [['DELETE', '/healthz', 'GET, HEAD'], ['PUT', '/api/v1/runs', 'GET, HEAD, POST'], ['POST', '/assets/css/main.css', 'GET, HEAD'],
        ['POST', `/api/v1/runs/${done}`, 'DELETE, GET, HEAD, PATCH'], ['GET', '/api/v1/check', 'POST']]) {
        const answer = await ask(path, { method });
        assert.equal(answer.status, 405, path);
        assert.equal(answer.headers.allow, allow, path);
    }
});

test('an address that others reach is refused, unless --insecure says that it is wanted', async () => {
    for (const listen of ['0.0.0.0:0', '[::]:0']) {
        const { status, stderr } = spawnSync(binary, ['serve', '--listen', listen, '--db', `${server.home}/other.db`], { encoding: 'utf8' });
        assert.equal(status, 1, listen);
        assert.match(stderr, /--listen .*whoever reaches this address.*127\.0\.0\.1.*--insecure/s);
    }
    const open = await startServer({ args: ['--insecure', '--listen', '0.0.0.0:0'] });
    const { port: at } = new URL(open.url);
    assert.match(open.log(), /warn --insecure: WHOEVER REACHES/);
    assert.equal((await ask('/healthz', { at, headers: { Host: 'gpu-box:8080' } })).status, 200, 'it is known by any name');
    assert.equal((await ask('/healthz', { at, headers: { Origin: 'https://evil.example' } })).status, 403, 'but not to other sites');
    assert.equal(JSON.parse((await ask('/api/v1/session', { at })).text).insecure, true);
    await open.stop();
    assert.equal((await getJson(`${server.url}/api/v1/session`)).body.insecure, false);
});
