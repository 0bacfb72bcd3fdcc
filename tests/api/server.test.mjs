// tests/api/server.test.mjs -- the server itself: start, load, crash, files.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { HANG_MS, binary, getJson, integrity, longSweep, ofFile, postRun, startServer, sweep, until, waitFor, workload } from './harness.mjs';
import { faults } from './schema.mjs';

/** The letter of a process's state; '' when it is gone, Z when nobody has asked for its end yet. */
const stateOf = (pid) => spawnSync('ps', ['-o', 'state=', '-p', pid]).stdout.toString().trim();

test('kill -9 of the server loses no finished run and takes the other up again', async () => {
    const first = await startServer();
    const done = (await postRun(first, workload('    return x.sum()'))).body.id;
    await waitFor(first, done);
    const running = (await postRun(first, longSweep())).body.id;
    const queued = (await postRun(first, workload('    return x * 2'))).body.id;
    await waitFor(first, running, ['running']);
    const worker = await until(() => spawnSync('pgrep', ['-P', String(first.child.pid)]).stdout.toString().trim(), 'a worker');
    assert.equal(await first.stop({ signal: 'SIGKILL', keep: true }), 'SIGKILL');
    await until(() => ['', 'Z'].includes(stateOf(worker)), 'the end of the worker with its server');
    assert.equal(integrity(first.store), 'ok');

    const second = await startServer({ folder: first.home });
    assert.equal((await waitFor(second, done)).status, 'done');
    assert.ok(['queued', 'running'].includes((await getJson(`${second.url}/api/v1/runs/${running}`)).body.status));
    await getJson(`${second.url}/api/v1/runs/${running}`, { method: 'DELETE' });
    assert.equal((await waitFor(second, queued)).status, 'done');
    assert.equal(await second.stop({ keep: true }), 0);
    assert.equal(integrity(first.store), 'ok');
    rmSync(first.home, { recursive: true });
});

test('Ctrl-C in the middle of a run puts it back into the queue', async () => {
    const first = await startServer();
    const id = (await postRun(first, longSweep())).body.id;
    await waitFor(first, id, ['running']);
    assert.equal(await first.stop({ keep: true }), 0);
    const second = await startServer({ folder: first.home });
    const { body } = await getJson(`${second.url}/api/v1/runs/${id}`);
    assert.ok(['queued', 'running'].includes(body.status));
    assert.equal(await second.stop(), 0);
});

test('two hundred keep-alive clients beside a run: each is answered, time and again', async () => {
    const server = await startServer();
    const { body } = await postRun(server, longSweep());
    await waitFor(server, body.id, ['running']);
    const streams = await Promise.all(Array.from({ length: 8 }, () => fetch(`${server.url}/api/v1/runs/${body.id}/events`)));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 200 });
    const one = () => new Promise((done, fail) => {
        http.get(`${server.url}/healthz`, { agent }, (response) => {
            response.resume();
            response.on('end', () => done(response.statusCode));
        }).on('error', fail);
    });
    await Promise.all(Array.from({ length: 200 }, async () => {
        for (let n = 0; n < 25; n++) assert.equal(await one(), 200);
    }));
    agent.destroy();
    for (const stream of streams) await stream.body.cancel();
    await server.stop();
});

test('streams beyond the limit are refused, and closed ones make room', async () => {
    const server = await startServer({ args: ['--user-streams', '400'] });
    const { body } = await postRun(server, longSweep());
    // In a crowd a connection that was kept may be closed as it is used (patience.h).
    const events = `${server.url}/api/v1/runs/${body.id}/events`;
    const open = await Promise.all(Array.from({ length: 400 }, () => until(() => fetch(events).catch(() => null), 'a stream')));
    const over = await until(() => getJson(events).catch(() => null), 'an answer');
    assert.equal(over.status, 503);
    assert.equal(over.body.error.code, 'busy');
    for (const stream of open) await stream.body.cancel();
    await until(async () => {
        const again = await fetch(events).catch(() => null);
        await again?.body.cancel();
        return again?.status === 200;
    }, 'a stream that is free');
    await server.stop();
});

test('a taken port, an unwritable folder and a locked store each give one clear line', async () => {
    const taken = createServer();
    await new Promise((done) => taken.listen(0, '127.0.0.1', done));
    taken.unref(); // a test that fails here ends all the same
    const home = mkdtempSync(join(tmpdir(), 'breakeven-api-'));
    const serve = (...args) => spawnSync(binary, ['serve', ...args], { timeout: HANG_MS });
    const port = serve('--listen', `127.0.0.1:${taken.address().port}`, '--db', join(home, 'a.db'));
    assert.equal(port.status, 1);
    assert.match(port.stderr.toString(), /^breakeven serve: 127\.0\.0\.1:\d+ is taken by another program.*--listen[^\n]*\n$/);
    const folder = serve('--listen', '127.0.0.1:0', '--db', '/proc/none/a.db');
    assert.equal(folder.status, 1);
    assert.match(folder.stderr.toString(), /^breakeven serve: cannot write beside[^\n]*--db[^\n]*\n$/);
    const server = await startServer();
    if (!ofFile.skip) { // servers share any other store
        const locked = serve('--listen', '127.0.0.1:0', '--db', server.store);
        assert.equal(locked.status, 1);
        assert.match(locked.stderr.toString(), /in use by another server/);
    }
    assert.equal(serve('--liste', 'x').status, 2);
    for (const address of ['x', '127.0.0.1:', '127.0.0.1:99999', '127.0.0.1:-1', '127.0.0.1:80x', '[::1]:65536']) {
        const wrong = serve('--listen', address, '--db', join(home, 'b.db'));
        assert.equal(wrong.status, 2, address);
        assert.match(wrong.stderr.toString(), /^breakeven serve: --listen takes HOST:PORT, as 127\.0\.0\.1:8080; '[^\n]*\n$/);
    }
    assert.ok(!existsSync(join(home, 'b.db')));
    await server.stop();
    taken.close();
    rmSync(home, { recursive: true });
});

test('an empty store with --first-run measures the example sweep', async () => {
    const server = await startServer({ args: ['--first-run'] });
    const run = await waitFor(server, 1, ['done', 'failed']);
    assert.equal(run.status, 'done', JSON.stringify(run.error));
    assert.equal(run.name, 'chain_sweep');
    assert.equal(run.report.points.length, 7);
    await server.stop({ keep: true });
    const again = await startServer({ folder: server.home, args: ['--first-run'] });
    assert.equal((await getJson(`${again.url}/api/v1/runs`)).body.total, 1);
    await again.stop();
});

test('the page and its files come with their type, ETag, gzip and a strict policy', async () => {
    const server = await startServer();
    for (const path of ['/', '/runs', '/new', '/runs/1', '/runs/1/graphs', '/api']) {
        const page = await fetch(server.url + path);
        assert.equal(page.status, 200, path);
        assert.match(page.headers.get('content-type'), /^text\/html/);
        assert.match(page.headers.get('content-security-policy'), /^default-src 'self';/);
        assert.doesNotMatch(page.headers.get('content-security-policy'), /unsafe/);
    }
    const html = await (await fetch(server.url)).text();
    const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((m) => m[1]);
    assert.ok(files.length >= 3);
    for (const path of files) {
        const file = await fetch(server.url + path);
        assert.equal(file.status, 200, path);
        assert.equal(file.headers.get('content-encoding'), 'gzip', path);
        const again = await fetch(server.url + path, { headers: { 'If-None-Match': file.headers.get('etag') } });
        assert.equal(again.status, 304, path);
        // A script or a style has an address that no other version of it will have; without that it is asked for again each time.
        const plain = path.replace(/^(\/assets)\/[0-9a-f]{12}\//, '$1/'), same = await fetch(server.url + plain);
        assert.equal(same.headers.get('etag'), file.headers.get('etag'), plain);
        assert.equal(same.headers.get('cache-control'), 'no-cache', plain);
        assert.equal(plain !== path, /\.(js|css)$/.test(path), path);
        if (plain === path) continue;
        assert.equal(file.headers.get('cache-control'), 'public, max-age=31536000, immutable', path);
        assert.equal((await fetch(server.url + plain.replace('/assets/', '/assets/0123456789ab/'))).status, 404);
    }
    for (const [path, control] of [['/', 'no-cache'], ['/runs', 'no-cache'], ['/client.py', 'no-cache']]) assert.equal((await fetch(server.url + path)).headers.get('cache-control'), control, path);
    const missing = await fetch(`${server.url}/nothing`, { headers: { Accept: 'text/html' } });
    assert.equal(missing.status, 404);
    assert.match(missing.headers.get('content-type'), /^text\/html/);
    assert.equal((await fetch(`${server.url}/assets/../etc/passwd`)).status, 404);
    await server.stop();
});

test('a page names the scripts and the answer that its view reads first, and no others', async () => {
    const server = await startServer();
    const linkOf = async (path) => (await fetch(server.url + path, { headers: { Accept: 'text/html' } })).headers.get('link') ?? '';
    for (const path of ['/', '/runs', '/new', '/compare', '/runs/12', '/runs/12/graphs', '/suites/3', '/api', '/ops']) {
        const scripts = [...(await linkOf(path)).matchAll(/<(\/assets\/[0-9a-f]{12}\/js\/[^>]+)>; rel=modulepreload/g)].map((m) => m[1]);
        assert.ok(scripts.length >= 3, path);
        assert.equal(new Set(scripts).size, scripts.length, path);
        for (const script of scripts) {
            const file = await fetch(server.url + script);
            assert.equal(file.status, 200, script);
            for (const [, from] of (await file.text()).matchAll(/(?:from|^import|;import)"(\.[^"]+)"/g))
                assert.ok(scripts.includes(new URL(from, server.url + script).pathname), `${script} imports ${from}`);
        }
    }
    assert.match(await linkOf('/runs/12/graphs'), /<\/api\/v1\/runs\/12>; rel=preload; as=fetch; crossorigin/);
    assert.match(await linkOf('/suites/3'), /<\/api\/v1\/suites\/3>; rel=preload/);
    for (const path of ['/', '/runs']) assert.match(await linkOf(path), /<\/api\/v1\/runs\?sort=-age&limit=100&offset=0&facets=1&fold=1>; rel=preload; as=fetch; crossorigin, <\/api\/v1\/since>; rel=preload/);
    for (const path of ['/compare', '/runs?q=x', '/?status=failed']) assert.doesNotMatch(await linkOf(path), /rel=preload/, path);
    for (const path of ['/runs/1x', '/runs/%3E%3B%20rel=preload', '/runs/%0d%0aX:%201', '/runs/12/nothing', '/runs/12/graphs/more', '/nothing'])
        assert.equal(await linkOf(path), '', path);
    await server.stop();
});

test('the API describes itself, and counts', async () => {
    const server = await startServer();
    const api = (await getJson(`${server.url}/api/v1/openapi.json`)).body;
    assert.match(api.openapi, /^3\./);
    assert.ok(api.paths['/api/v1/runs'].post && api.paths['/api/v1/runs/{id}'].delete);
    const { schemas } = api.components;
    assert.deepEqual(schemas.ReportLatency.required, ['median_us', 'ci_us']);
    assert.deepEqual(schemas.ReportMode.properties.breaks.items, { $ref: '#/components/schemas/ReportBreak' });
    assert.match(schemas.ReportLatency.properties.median_us.description, /^the median \(us\)$/);
    for (const [path, methods] of Object.entries(api.paths))
        for (const [method, { responses }] of Object.entries(methods))
            for (const [status, { content }] of Object.entries(responses)) {
                const [type, { schema } = {}] = Object.entries(content ?? {})[0] ?? [];
                assert.ok(type === 'text/html' || (schema && Object.keys(schema).length), `${method} ${path}: what of status ${status}?`);
            }
    const refs = JSON.stringify(api).matchAll(/"#\/components\/schemas\/(\w+)"/g);
    assert.deepEqual([...refs].map((m) => m[1]).filter((name) => !schemas[name]), []);
    assert.equal(api.paths['/api/v1/runs/{id}/report.json'].get.responses['200'].content['application/json'].schema.$ref, '#/components/schemas/ReportRun');
    const mode = { graphs: [], breaks: [], recompiles: [], latency: { median_us: '3', ci_us: [1, 2] }, mode_us: 3 };
    assert.deepEqual(faults({ breakeven: 1, modes: { static: mode } }, schemas.ReportRun, schemas), [
        'report.modes.static.latency.median_us is "3", not of type number', 'report.modes.static.mode_us is not in the schema']);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^breakeven_runs\{status="done"\} 0$/m);
    const { examples } = (await getJson(`${server.url}/api/v1/examples`)).body;
    assert.ok(examples.length >= 3);
    assert.equal(new Set(examples.map((e) => `${e.group}: ${e.name}`)).size, examples.length);
    assert.ok(examples.filter((e) => e.group === 'Model blocks').length >= 30);
    const models = examples.filter((e) => e.group === 'Models in published style');
    assert.deepEqual(models.map((e) => `${e.name}.py`), readdirSync('web/models').sort());
    assert.equal(models.find((e) => e.name === 'gpt').title, 'A GPT in one file: tied weights, a ModuleDict, optimiser groups, sampling');
    const workloads = readdirSync('tests/workloads').map((f) => JSON.parse(readFileSync(`tests/workloads/${f}`, 'utf8')).name);
    assert.deepEqual(workloads.filter((name) => !examples.some((e) => e.name === name && !e.group)), []);
    for (const example of examples) {
        const { status, body } = await postRun(server, example.workload);
        assert.equal(status, 202, `${example.name}: ${JSON.stringify(body)}`);
        await getJson(`${server.url}/api/v1/runs/${body.id}`, { method: 'DELETE' });
    }
    await server.stop();
});

test('the sweep of the design is the first example', async () => {
    const server = await startServer();
    const { examples } = (await getJson(`${server.url}/api/v1/examples`)).body;
    assert.deepEqual(examples[0].workload.sweep, sweep().sweep);
    await server.stop();
});

test('a parameter that a route does not take is refused, and those that it takes are named', async () => {
    const server = await startServer();
    const { paths } = (await getJson(`${server.url}/api/v1/openapi.json`)).body;
    let asked = 0;
    for (const [path, methods] of Object.entries(paths)) {
        if (!/^\/(api\/v1\/|healthz|livez|readyz|metrics)/.test(path)) continue;
        for (const [method, { parameters }] of Object.entries(methods)) {
            const { status, body } = await getJson(`${server.url}${path.replace(/{id}/g, '1')}?commit_of=0123`, { method: method.toUpperCase() });
            const taken = parameters.filter((p) => p.in === 'query').map((p) => p.name);
            assert.deepEqual([status, body.error.code], [400, 'bad-request'], path);
            assert.match(body.error.message, taken.length ? /^there is no parameter commit_of=; .* takes, each followed by =: / : /takes none$/);
            for (const name of taken) assert.ok(body.error.message.includes(` ${name}`), `${path} ${name}`);
            asked++;
        }
    }
    assert.ok(asked > 40);
    // Parts of names are none, and pages read their own.
    assert.equal((await getJson(`${server.url}/api/v1/runs?li=1`)).status, 400);
    assert.equal((await fetch(`${server.url}/runs?anything=1`)).status, 200);
    await server.stop();
});
