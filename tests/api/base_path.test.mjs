// tests/api/base_path.test.mjs -- a server whose paths begin below one that it shares its name by.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import http from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, getJson, postRun, startServer, until, workload } from './harness.mjs';

let server, root;
before(async () => {
    server = await startServer({ args: ['--base-path', '/perf/one'] });
    root = new URL(server.url).origin;
});
after(() => server.stop());

/** As it stands in the request: fetch() would tidy it. */
const raw = (path, headers = {}) => new Promise((done, fail) => {
    const { hostname, port } = new URL(root);
    http.get({ hostname, port, path, headers, agent: false }, (answer) => {
        let text = '';
        answer.on('data', (part) => { text += part; });
        answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, text }));
    }).on('error', fail);
});

test('the line at the start has it, and nothing is answered outside of it', async () => {
    assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/perf\/one$/);
    for (const path of ['/', '/healthz', '/runs', '/assets/js/main.js', '/api/v1/runs', '/perf', '/perf/', '/perf/one2', '/perf/oneruns', '/Perf/one/runs']) {
        const { status, text } = await raw(path);
        assert.equal(status, 404, path);
        assert.match(JSON.parse(text).error.message, /the paths of this server begin at \/perf\/one\//);
    }
    for (const path of ['/healthz', '/api/v1/runs', '/metrics']) assert.equal((await raw(`/perf/one${path}`)).status, 200, path);
    // What is escaped is the same path.
    assert.equal((await raw('/%70erf/one/healthz')).status, 200);
    assert.equal((await raw('/perf/one/../../healthz')).status, 404);
});

test('the page, what it links to and what it is sent ahead are below it', async () => {
    for (const path of ['', '/', '/runs', '/docs/cli', '/nothing']) {
        const { status, headers, text } = await raw(`/perf/one${path}`, { Accept: 'text/html', 'Accept-Encoding': 'gzip' });
        assert.equal(status, path === '/nothing' ? 404 : 200, path);
        const links = [...text.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map((m) => m[1]);
        assert.ok(links.length > 20);
        for (const link of new Set(links)) assert.ok(link.startsWith('/perf/one/'), link);
        const ahead = [...(headers.link ?? '').matchAll(/<([^>]*)>/g)].map((m) => m[1]);
        assert.equal(ahead.length > 0, path !== '/nothing');
        for (const link of [...new Set(links), ...ahead]) assert.equal((await raw(link)).status, 200, link);
        if (path !== '/nothing') assert.equal((await raw(`/perf/one${path}`, { 'If-None-Match': headers.etag })).status, 304);
    }
    // It is another page than that of a server at /: a cache of both must not mix them.
    const plain = await startServer();
    const etag = async (url) => (await fetch(`${url}/runs`)).headers.get('etag');
    assert.notEqual(await etag(plain.url), await etag(server.url));
    await plain.stop();
});

test('openapi.json says where its paths are', async () => {
    const { servers, paths } = (await getJson(`${server.url}/api/v1/openapi.json`)).body;
    assert.deepEqual(servers, [{ url: '/perf/one' }]);
    assert.ok(paths['/api/v1/runs']);
});

test('a run, its events and its exports; the command line posts below it', async () => {
    const { id } = (await postRun(server, workload('    return x', { backend: 'interp' }))).body;
    const { body } = await fetch(`${server.url}/api/v1/runs/${id}/events`);
    let events = '';
    for await (const part of body) if ((events += Buffer.from(part)).includes('\n\n')) break;
    assert.match(events, /^id: \d+\nevent: /);
    await until(async () => (await (await fetch(`${server.url}/api/v1/runs/${id}`)).json()).status === 'done', 'the end of the run');
    const html = await (await fetch(`${server.url}/api/v1/runs/${id}/export?format=html`)).text();
    for (const [, link] of html.matchAll(/(?:href|src)="(\/[^"]*)"/g)) assert.ok(link.startsWith('/perf/one/'), link);
    const done = spawnSync(binary, ['import', '--post', `${server.url}/`, 'tests/import/kineto.json'], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    const imported = (await (await fetch(`${server.url}/api/v1/runs?limit=1`)).json()).runs[0];
    assert.ok(imported.id > id && imported.name === 'kineto.json', JSON.stringify(imported));
});

test('the cookie of who signs in is for these paths alone', async () => {
    const small = await startServer({ args: ['--base-path', '/perf'] });
    const token = spawnSync(binary, ['token', 'add', 'ada', '--scope', 'read', '--db', small.store], { encoding: 'utf8' }).stdout.match(/bk_\w+/)[0];
    const begun = await fetch(`${small.url}/api/v1/session`, { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
    assert.match(begun.headers.get('set-cookie'), /; Path=\/perf; /);
    await small.stop();
});

test('what is no such path is refused at the start', () => {
    for (const path of ['perf', '/', '/perf/', '//perf', '/a//b', '/a b', '/a"', '/a/../b', '/a;b', '/a%20', '', `/${'a'.repeat(100)}`]) {
        const { status, stderr } = spawnSync(binary, ['serve', '--base-path', path], { encoding: 'utf8' });
        assert.equal(status, 2, path);
        assert.match(stderr, /--base-path/);
    }
    const { stdout } = spawnSync(binary, ['config'], { encoding: 'utf8', env: { ...process.env, BREAKEVEN_BASE_PATH: '/perf' } });
    assert.match(stdout, /^base-path = \/perf {2}# BREAKEVEN_BASE_PATH$/m);
});
