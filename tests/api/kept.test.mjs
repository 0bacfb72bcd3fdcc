// tests/api/kept.test.mjs -- answers that are kept: never older than what was written, squeezed, asked for again by their tag.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

let server, id;
before(async () => {
    server = await startServer();
    ({ body: { id } } = await postRun(server, workload('    return x.sum()', { modes: ['eager', 'static'] })));
    await waitFor(server, id);
});
after(() => server.stop());

/** {status, headers, bytes}; node's fetch() would undo the coding. */
const raw = (path, headers = {}, method = 'GET') => new Promise((done, fail) => {
    const asked = request(server.url + path, { method, headers }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, bytes: Buffer.concat(parts) }));
    });
    asked.on('error', fail);
    asked.end();
});
const patch = (body) => getJson(`${server.url}/api/v1/runs/${id}`, { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

test('what was written shows in the next answer, each time', async () => {
    for (let i = 0; i < 20; i++) {
        assert.equal((await patch({ note: `note ${i}` })).status, 200);
        const [list, run] = await Promise.all([getJson(`${server.url}/api/v1/runs?limit=5`), getJson(`${server.url}/api/v1/runs/${id}`)]);
        assert.equal(list.body.runs[0].note, `note ${i}`);
        assert.equal(run.body.note, `note ${i}`);
    }
});

test('what another process wrote shows too', async () => {
    const path = '/api/v1/runs?limit=500&q=written';
    assert.equal((await getJson(server.url + path)).body.total, 0);
    const times = [1, 1.01, 1.02, 1, 1.01], file = `${server.home}/results.json`;
    writeFileSync(file, JSON.stringify({ results: [{ command: 'written', mean: 1.008, stddev: 0.008, median: 1.01, user: 1, system: 0, min: 1, max: 1.02, times, exit_codes: times.map(() => 0) }] }));
    execFileSync(binary, ['import', file, '--db', server.store], { stdio: ['ignore', 'ignore', 'pipe'] });
    assert.equal((await getJson(server.url + path)).body.total, 1);
});

test('a tag that is still right is answered by its head, in each coding another', async () => {
    const path = `/api/v1/runs/${id}`, tags = new Set();
    for (const coding of ['', 'gzip', 'zstd']) {
        const whole = await raw(path, { 'accept-encoding': coding });
        assert.equal(whole.headers['content-encoding'] ?? '', coding);
        assert.match(whole.headers['cache-control'], /private, no-cache/);
        assert.match(whole.headers.vary, /Accept-Encoding.*Authorization/);
        tags.add(whole.headers.etag);
        const same = await raw(path, { 'accept-encoding': coding, 'if-none-match': `"other", ${whole.headers.etag}` });
        assert.deepEqual([same.status, same.bytes.length, same.headers.etag], [304, 0, whole.headers.etag]);
    }
    assert.equal(tags.size, 3);
    const [tag] = tags;
    await patch({ note: 'another' });
    assert.equal((await raw(path, { 'if-none-match': tag })).status, 200);
    assert.equal((await raw(path, { 'if-none-match': '*' })).status, 304);
    const head = await raw(path, {}, 'HEAD');
    assert.equal(head.bytes.length, 0);
    assert.equal(+head.headers['content-length'], (await raw(path)).bytes.length);
});

test('a summary is the row of a list', async () => {
    const summary = (await getJson(`${server.url}/api/v1/runs/${id}?view=summary`)).body;
    assert.deepEqual({ ...summary, recent: null }, { ...(await getJson(`${server.url}/api/v1/runs?q=${encodeURIComponent('#' + id)}`)).body.runs[0], recent: null });
    assert.equal((await getJson(`${server.url}/api/v1/runs/${id}?view=all`)).status, 400);
});

test('squeezed it is the same text, whatever its size', async () => {
    for (const path of [`/api/v1/runs/${id}`, '/api/v1/openapi.json', '/api/v1/ops']) {
        const plain = await raw(path), gzip = await raw(path, { 'accept-encoding': 'gzip' });
        assert.equal(plain.headers['content-encoding'], undefined);
        assert.ok(gunzipSync(gzip.bytes).equals(plain.bytes), path);
        assert.ok(gzip.bytes.length < plain.bytes.length / 2, path);
        assert.equal((await raw(path, { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'], undefined);
    }
    assert.equal((await raw('/api/v1/formats', { 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined); // it fits one packet
});

test('a part of it is answered where one is asked for', async () => {
    const path = `/api/v1/runs/${id}/report.json`, whole = await raw(path), n = whole.bytes.length;
    assert.equal(whole.headers['accept-ranges'], 'bytes');
    for (const [range, from, to] of [['0-99', 0, 99], ['100-', 100, n - 1], ['-50', n - 50, n - 1], [`10-${n + 5}`, 10, n - 1], [`-${n + 5}`, 0, n - 1]]) {
        const part = await raw(path, { range: `bytes=${range}`, 'if-range': whole.headers.etag });
        assert.deepEqual([part.status, part.headers['content-range']], [206, `bytes ${from}-${to}/${n}`], range);
        assert.ok(part.bytes.equals(whole.bytes.subarray(from, to + 1)), range);
    }
    for (const range of [`bytes=${n}-`, 'bytes=-0']) {
        const none = await raw(path, { range });
        assert.deepEqual([none.status, none.headers['content-range']], [416, `bytes */${n}`], range);
    }
    for (const range of ['bytes=5-2', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=', 'bytes=-', 'bytes=a-b', 'bytes=99999999999999999999999-'])
        assert.ok([200, 416].includes((await raw(path, { range })).status), range);
    assert.equal((await raw(path, { range: 'bytes=0-1', 'if-range': '"another"' })).status, 200);
});

test('what many ask for at once is made once', async () => {
    const counts = async () => Object.fromEntries([...(await raw('/metrics')).bytes.toString().matchAll(/answers_total\{how="(\w+)"\} (\d+)/g)].map(([, how, n]) => [how, +n]));
    await raw('/api/v1/examples'); // its answers are kept, it is seen
    let made = 0;
    for (let round = 0; round < 5; round++) {
        const before = await counts(), n = 24;
        const all = await Promise.all(Array.from({ length: n }, () => raw(`/api/v1/runs?fold=1&facets=1&limit=500&q=${round}`)));
        const now = await counts();
        assert.equal(new Set(all.map((a) => a.headers.etag)).size, 1);
        made += now.made - before.made;
        assert.equal(now.made + now.found + now.shared - before.made - before.found - before.shared, n);
    }
    assert.ok(made >= 5 && made <= 7, `${made} of 5`); // what is written after earlier tests has it made again
});

test('an answer has the id of its request, kept or not, whole, in part or by its head', async () => {
    const path = `/api/v1/runs/${id}/report.json`, { etag } = (await raw(path)).headers;
    for (const [headers, status] of [[{}, 200], [{ 'if-none-match': etag }, 304], [{ range: 'bytes=0-9' }, 206], [{ range: 'bytes=99999999-' }, 416], [{ 'accept-encoding': 'gzip' }, 200]]) {
        const mine = await raw(path, { ...headers, 'x-request-id': `mine-${status}` }), own = await raw(path, headers);
        assert.deepEqual([mine.status, mine.headers['x-request-id']], [status, `mine-${status}`]);
        assert.match(own.headers['x-request-id'], /^[0-9a-f]{16}$/);
    }
});

test('of an export and of the texts of a log a part can be had, where they are the same', async () => {
    const { body: log } = await getJson(`${server.url}/api/v1/imports`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: readFileSync('tests/import/torch_trace_2.6_rank_0.log') });
    for (const path of [...['chrome', 'csv', 'html'].map((format) => `/api/v1/runs/${id}/export?format=${format}`), `/api/v1/runs/${log.id}/artifacts/2`]) {
        const whole = await raw(path), n = whole.bytes.length;
        assert.deepEqual([whole.status, whole.headers['accept-ranges']], [200, 'bytes'], path);
        const part = await raw(path, { range: `bytes=10-${n + 9}`, 'if-range': whole.headers.etag });
        assert.deepEqual([part.status, part.headers['content-range'], part.headers.etag], [206, `bytes 10-${n - 1}/${n}`, whole.headers.etag], path);
        assert.ok(part.bytes.equals(whole.bytes.subarray(10)), path);
        assert.equal((await raw(path, { range: 'bytes=0-1', 'if-range': '"another"' })).bytes.length, n);
        const none = await raw(path, { range: `bytes=${n}-` });
        assert.deepEqual([none.status, none.headers['content-range'], none.bytes.length], [416, `bytes */${n}`, 0]);
    }
});

test('who may not see it does not, though it is kept', async () => {
    const path = `/api/v1/runs/${id}`;
    await raw(path); // it is kept now
    assert.equal((await raw(path, { host: 'elsewhere.example' })).status, 403);
    assert.equal((await raw(`${path}?nothing=1`)).status, 400);
    const token = (name, ...args) => execFileSync(binary, ['token', 'add', name, '--db', server.store, ...args], { encoding: 'utf8' }).trim().split(/\s+/).pop();
    const all = token('all', '--scope', 'read'), other = token('other', '--scope', 'read', '--project', 'theirs');
    await new Promise((done) => setTimeout(done, 1500)); // accounts are looked for each second
    const as = (secret) => raw(path, { authorization: `Bearer ${secret}` });
    assert.equal((await raw(path)).status, 401);
    assert.equal((await as(all)).status, 200);
    assert.equal((await as(other)).status, 404);
    const list = async (secret) => JSON.parse((await raw('/api/v1/runs', { authorization: `Bearer ${secret}` })).bytes).total;
    assert.deepEqual([await list(all), await list(other), await list(all)], [3, 0, 3]);
});
