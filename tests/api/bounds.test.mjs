// tests/api/bounds.test.mjs -- bounds of what comes from outside, and the settings that say them.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import { FOREVER, binary, getJson, postRun, startServer, until, waitFor, workload } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-bounds-'));
const file = join(folder, 'breakeven.conf');
after(() => rmSync(folder, { recursive: true }));

const config = (args = [], env = {}) => spawnSync(binary, ['config', ...args], { encoding: 'utf8', env: { ...process.env, ...env } });
const valueOf = (printed, name) => new RegExp(`^${name} = (.*)$`, 'm').exec(printed)?.[1];

test('a flag counts before the environment, and that before the file; config says which it was', () => {
    writeFileSync(file, '# a comment\n\nqueue = 5  # of five\nstreams=6\n  idle-seconds =  7\nallow-host = one\nallow-host = two\nfirst-run = yes\n');
    const { status, stdout } = config(['--config', file, '--queue', '9'], { BREAKEVEN_QUEUE: '8', BREAKEVEN_STREAMS: '8', BREAKEVEN_TRUST_PROXY: '::1 10.0.0.1' });
    assert.equal(status, 0);
    assert.equal(valueOf(stdout, 'queue'), '9  # flag');
    assert.equal(valueOf(stdout, 'streams'), '8  # BREAKEVEN_STREAMS');
    assert.equal(valueOf(stdout, 'idle-seconds'), `7  # ${file}:5`);
    assert.equal(valueOf(stdout, 'recordings'), '100  # default');
    assert.equal(valueOf(stdout, 'first-run'), `yes  # ${file}:8`);
    assert.match(stdout, /^allow-host = one .*\nallow-host = two /m);
    assert.match(stdout, /^trust-proxy = ::1 .*\ntrust-proxy = 10\.0\.0\.1 /m);
    // What it prints is such a file.
    writeFileSync(file, stdout);
    const again = config(['--config', file]).stdout;
    const values = (text) => text.split('\n').slice(1).map((line) => line.replace(/ {2}#.*/, ''));
    assert.deepEqual(values(again), values(stdout));
});

test('a mistake in a file or in the environment is said with its place', () => {
    for (const [text, message] of [['x = 1', ':1: there is no such setting: x'], ['\nqueue 5', ':2: a line is `name = value`, not queue 5'],
        ['queue = 1\nqueue = 2', ':2: it stands twice: queue'], ['queue =', ':1: queue has no value'], ['insecure = maybe', ':1: insecure is yes or no'],
        ['config = x', ':1: there is no such setting: config'], ['queue = 0', '--queue needs a whole number from 1 to 100000, not \'0\''],
        ['a\0b', 'it is longer than 64 KiB, or no text'], ['#'.repeat(70000), 'it is longer than 64 KiB, or no text'],
        ['allow-host = x\n'.repeat(65), ':65: too many of allow-host']]) {
        writeFileSync(file, text);
        const { status, stderr } = config(['--config', file]);
        assert.equal(status, 2, text.slice(0, 40));
        assert.ok(stderr.includes(message), stderr);
        assert.equal(spawnSync(binary, ['serve', '--config', file]).status, 2);
    }
    assert.match(config(['--config', join(folder, 'none')]).stderr, /none: No such file/);
    assert.match(config([], { BREAKEVEN_FIRST_RUN: 'perhaps' }).stderr, /BREAKEVEN_FIRST_RUN: first-run is yes or no/);
});

let server;
before(async () => {
    writeFileSync(file + '.small', 'body-mib = 1\nquery-bytes = 64\nstreams = 2\nqueue = 2\nrecordings = 2\nrequest-seconds = 1\nidle-seconds = 600\nfiles-gib = 0\n');
    server = await startServer({ args: ['--config', `${file}.small`] });
});
after(async () => { await server.stop(); });

const refused = async (path, options, status, message) => {
    const { status: got, body } = await getJson(`${server.url}${path}`, options);
    assert.equal(got, status, JSON.stringify(body));
    assert.match(body.error.message, message);
};
const json = { 'Content-Type': 'application/json' };

test('a body and a query over their bounds are refused', async () => {
    await refused('/api/v1/runs', { method: 'POST', headers: json, body: JSON.stringify(workload(`    # ${'x'.repeat(1 << 20)}\n    return x`)) }, 413, /at most 1048576/);
    await refused(`/api/v1/runs?q=${'%C3%A9'.repeat(11)}`, {}, 413, /the parameters have over 64 bytes/);
    assert.equal((await fetch(`${server.url}/runs?q=${'x'.repeat(64)}`)).status, 413, 'of a page too');
    assert.equal((await getJson(`${server.url}/api/v1/runs?q=${'%C3%A9'.repeat(10)}`)).status, 200);
    await refused('/api/v1/files?bytes=5', { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: 'hello' }, 413, /./);
});

test('streams, waiting runs and recordings over their bounds are refused', async () => {
    const { id } = (await postRun(server, { ...workload(''), source: FOREVER })).body;
    await waitFor(server, id, ['running']);
    const streams = await Promise.all([1, 2].map(() => fetch(`${server.url}/api/v1/runs/${id}/events`)));
    assert.deepEqual(streams.map((s) => s.status), [200, 200]);
    await refused(`/api/v1/runs/${id}/events`, {}, 503, /2 event streams are open, the limit/);
    for (const s of streams) await s.body.cancel();
    const waiting = [];
    for (let i = 0; i < 2; i++) waiting.push((await postRun(server, workload('    return x'))).body.id);
    await refused('/api/v1/runs', { method: 'POST', headers: json, body: JSON.stringify(workload('    return x')) }, 503, /2 runs are waiting, the limit/);
    const begin = { method: 'POST', headers: json, body: JSON.stringify({ name: 't', command: 'x' }) };
    assert.equal((await getJson(`${server.url}/api/v1/traces`, begin)).status, 201);
    await refused('/api/v1/traces', begin, 503, /2 programs are being recorded, the limit/);
    for (const run of [...waiting, id]) await getJson(`${server.url}/api/v1/runs/${run}`, { method: 'DELETE' });
});

test('a request that is not whole in time is answered with 408', async () => {
    const { port } = new URL(server.url);
    const socket = net.connect(Number(port), '127.0.0.1');
    let answer = '';
    socket.on('data', (bytes) => { answer += bytes; });
    socket.write(`POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 10\r\n`);
    await until(() => socket.closed || socket.destroyed || answer, 'that the server gives it up');
    assert.match(answer, /^HTTP\/1\.1 408 /);
    socket.destroy();
});

test('a disk with less free than --free-mib takes nothing more; what there is can be read, changed and removed', async () => {
    const home = mkdtempSync(join(folder, 'store-'));
    const roomy = await startServer({ folder: home });
    const { id } = (await postRun(roomy, workload('    return x', { modes: ['eager'] }))).body;
    await waitFor(roomy, id);
    const trace = (await getJson(`${roomy.url}/api/v1/traces`, { method: 'POST', headers: json, body: JSON.stringify({ name: 't', command: 'x' }) })).body.id;
    await roomy.stop({ keep: true });
    const full = await startServer({ folder: home, args: ['--free-mib', '1073741824'] });
    const bytes = { 'Content-Type': 'application/octet-stream' };
    for (const [path, headers, body] of [['runs', json, JSON.stringify(workload('    return x'))], ['imports', bytes, '{"traceEvents": []}'],
        ['suites', json, JSON.stringify({ name: 's', workloads: [workload('    return x')], modes: ['eager'] })], ['traces', json, JSON.stringify({ name: 't', command: 'x' })],
        ['files?bytes=5', bytes, 'hello'], [`traces/${trace}/blocks?at=0`, bytes, '']]) {
        const answer = await getJson(`${full.url}/api/v1/${path}`, { method: 'POST', headers, body });
        assert.deepEqual([answer.status, answer.body.error?.code], [507, 'disk-full'], path);
        assert.match(answer.body.error.message, /has \d+ MiB free and is to have 1073741824 \(--free-mib\)/);
    }
    const health = await getJson(`${full.url}/healthz`);
    assert.deepEqual([health.status, health.body.problems[0].code], [503, 'disk-full']);
    assert.equal((await getJson(`${full.url}/api/v1/runs/${id}`)).status, 200);
    assert.equal((await getJson(`${full.url}/api/v1/runs/${id}`, { method: 'PATCH', headers: json, body: '{"note": "x"}' })).status, 200);
    assert.equal((await getJson(`${full.url}/api/v1/runs/${id}`, { method: 'DELETE' })).status, 200);
    await full.stop();
});

test('429 and 503 say after how many seconds to ask again, whoever answers so', async () => {
    const busy = await startServer({ args: ['--queue', '1', '--user-queue', '1', '--streams', '1', '--free-mib', '1073741824'] });
    assert.equal((await fetch(`${busy.url}/healthz`)).headers.get('retry-after'), '10', 'a server that is not well');
    await busy.stop();
    const { id } = (await postRun(server, { ...workload(''), source: FOREVER })).body;
    await waitFor(server, id, ['running']);
    const streams = await Promise.all([1, 2].map(() => fetch(`${server.url}/api/v1/runs/${id}/events`)));
    const third = await fetch(`${server.url}/api/v1/runs/${id}/events`);
    assert.deepEqual([third.status, third.headers.get('retry-after')], [503, '10'], 'a stream');
    for (const s of streams) await s.body.cancel();
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await fetch(`${server.url}/api/v1/runs`, { method: 'POST', headers: json, body: JSON.stringify(workload('    return x')) }));
    assert.deepEqual(answers.map((a) => [a.status, a.headers.get('retry-after')]), [[202, null], [202, null], [503, '10']], 'a queue');
    for (const run of [...await Promise.all(answers.slice(0, 2).map(async (a) => (await a.json()).id)), id]) await getJson(`${server.url}/api/v1/runs/${run}`, { method: 'DELETE' });
});

test('a connection that is silent is closed, and one beyond the bounds too', async () => {
    const small = await startServer({ args: ['--idle-seconds', '1', '--connections', '8', '--address-connections', '3'] });
    const { port } = new URL(small.url);
    const closed = (socket) => new Promise((done) => { socket.on('error', () => {}); socket.on('close', done); socket.resume(); });
    const idle = net.connect(Number(port), '127.0.0.1');
    await closed(idle);
    const three = Array.from({ length: 3 }, () => net.connect(Number(port), '127.0.0.1'));
    for (const s of three) s.on('error', () => {});
    const fourth = net.connect(Number(port), '127.0.0.1');
    await closed(fourth);
    for (const s of three) s.destroy();
    await until(async () => (await fetch(`${small.url}/healthz`).catch(() => null))?.status === 200, 'that there is room again');
    await small.stop();
});

test('a token that asks too often gets 429, and another goes on', async () => {
    const small = await startServer({ args: ['--user-requests', '5'] });
    const token = (name) => spawnSync(binary, ['token', 'add', name, '--scope', 'read', '--db', small.store], { encoding: 'utf8' }).stdout.match(/bk_\w+/)[0];
    const [one, other] = ['one', 'other'].map(token);
    const ask = (bearer) => fetch(`${small.url}/api/v1/runs`, { headers: { Authorization: `Bearer ${bearer}` } });
    const answer = await until(async () => { const a = await ask(one); return a.status !== 200 && a; }, 'the last that is answered');
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '60']);
    assert.match((await answer.json()).error.message, /'one' asked more than 5 times within a minute/);
    assert.equal((await ask(other)).status, 200);
    await small.stop();
});

test('waiting runs and event streams of one user are bounded, and another goes on; without accounts of one address', async () => {
    const small = await startServer({ args: ['--user-queue', '2', '--user-streams', '2', '--trust-proxy', '127.0.0.1'] });
    const post = (headers) => fetch(`${small.url}/api/v1/runs`, { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify({ ...workload(''), source: FOREVER }) });
    const follow = (run, headers) => fetch(`${small.url}/api/v1/runs/${run}/events`, { headers });
    const tooMuch = async (answer, message) => {
        assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '60']);
        assert.match((await answer.json()).error.message, message);
    };
    const bounded = async (one, other, name, running) => {
        for (let i = 0; i < 2; i++) assert.equal((await post(one)).status, 202);
        await tooMuch(await post(one), new RegExp(`2 runs of '${name}' are waiting, the limit for one`));
        const streams = [await follow(running, one), await follow(running, one)];
        await tooMuch(await follow(running, one), new RegExp(`2 event streams of '${name}' are open, the limit for one`));
        streams.push(await follow(running, other));
        assert.deepEqual([(await post(other)).status, ...streams.map((s) => s.status)], [202, 200, 200, 200]);
        for (const s of streams) await s.body.cancel();
    };
    const { id } = await (await post({ 'X-Forwarded-For': '10.0.0.9' })).json();
    await until(async () => (await (await fetch(`${small.url}/api/v1/runs/${id}`)).json()).status === 'running', 'that it runs');
    await bounded({ 'X-Forwarded-For': '10.0.0.1' }, { 'X-Forwarded-For': '10.0.0.2' }, '10\\.0\\.0\\.1', id);
    const bearer = (name) => ({ Authorization: `Bearer ${spawnSync(binary, ['token', 'add', name, '--scope', 'submit', '--db', small.store], { encoding: 'utf8' }).stdout.match(/bk_\w+/)[0]}` });
    await bounded(bearer('one'), bearer('other'), 'one', id);
    await small.stop();
});

/**
 * A .zip by Python, of n files. Meanwhile this process goes on: one that waited as long as a connection may be silent would
 * send its next request over one that the server has closed, and not see it.
 */
const programmed = promisify(execFile);
const zip = async (n, bytes) => (await programmed('python3', ['-c', `
import io, sys, zipfile
n, text, out = int(sys.argv[1]), "#" * int(sys.argv[2]), io.BytesIO()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
    for i in range(n): z.writestr("f%d.py" % i, text)
sys.stdout.buffer.write(out.getvalue())
`, String(n), String(bytes)], { maxBuffer: 64 << 20, encoding: 'buffer' })).stdout;

test('what no flag changes is refused with the status of the table, and what runs on ends', async () => {
    const other = await startServer();
    const post = (w) => postRun(other, w);
    const unpack = (body) => getJson(`${other.url}/api/v1/unpack`, { method: 'POST', headers: { 'Content-Type': 'application/zip' }, body });
    const tensor = (...shape) => ({ random: { shape, dtype: 'float32', kind: 'zeros' } });
    const calls = (list) => post(workload('    return x', { calls: list }));
    const swept = (counts) => post({ ...workload('    ...\n    return x'), sweep: { statements: { pool: ['x = x'], counts } } });
    const packed = (byte, mib) => Buffer.concat(Array(mib / 16).fill(gzipSync(Buffer.alloc(16 << 20, byte))));
    const ended = async (body, code) => {
        const run = await waitFor(other, (await post(workload(body, { modes: ['eager'] }))).body.id);
        assert.deepEqual([run.status, run.error.code], ['failed', code]);
        return { status: 'the run fails' };
    };
    const beyond = {
        'the source of a program': () => post({ ...workload(''), source: `# ${'x'.repeat(1 << 20)}\n` }),
        'files of a program': () => post({ ...workload(''), source: undefined, entry: 'f0.py:model', files: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`f${i}.py`, ''])) }),
        'files of a program together, unpacked': async () => unpack(await zip(17, (1 << 20) - 1)),
        'entries of a .zip': async () => { // more than a body may have; 422 is what the code of this error is
            writeFileSync(join(folder, 'many.zip'), await zip(100001, 0));
            const ended = await programmed(binary, ['explain', join(folder, 'many.zip'), '--entry', 'f0.py:f']).catch((e) => e);
            assert.match(ended.stderr, /has 100001 entries; the limit is 100000/);
            return { status: 422 };
        },
        'a log that is imported, unpacked': () => getJson(`${other.url}/api/v1/imports`, {
            method: 'POST', headers: { 'Content-Type': 'application/gzip' }, body: Buffer.concat([gzipSync('{"traceEvents": [{"name": "'), packed('a', 1040)]) }),
        'benchmarks of a file of results': () => getJson(`${other.url}/api/v1/results`, {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`b${i}`, { latency: { value: 1 } }]))) }),
        'samples of a file of results': () => getJson(`${other.url}/api/v1/results`, {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: `{"results": [{"command": "c", "mean": 1, "times": [${'1,'.repeat(2000000)}1]}]}` }),
        'calls of a workload': () => calls(Array(1001).fill([tensor(1)])),
        'arguments of a call': () => calls([Array(257).fill(tensor(1))]),
        'points of a sweep': () => swept(Array.from({ length: 65 }, (_, i) => i + 1)),
        'statements of a point': () => swept([10001]),
        'depth of an argument': () => calls([[Array(17).fill(0).reduce((inner) => ({ list: [inner] }), tensor(1))]]),
        'elements of a tensor': () => calls([[tensor(65536, 32769)]]),
        'tensors of the calls of a point': () => calls([[tensor(16384, 16385)]]),
        'depth of a body in JSON': () => post(`{"name": ${'['.repeat(3000)}`),
        'steps of a call': () => ended('    while True:\n        pass', 'step-limit'),
        'calls within calls': () => ended('    def f(n):\n        return f(n + 1)\n    return f(0)', 'recursion'),
        'lists, texts and other objects of a program': () => ended('    a = [0]\n    while True:\n        a = a + a', 'memory'),
    };
    const elsewhere = { // too much for a test: the same code with lower bounds
        'blocks of a recording or of a log that is imported, packed': ['tests/test_db_store.c', 'trace_post){ 3, blocks, 1, 12, 1000 }'],
        'events of a recording or of a log that is imported': ['tests/test_db_store.c', 'at most 11 events'],
    };
    const rows = [...readFileSync('server/queue/bounds.def', 'utf8').matchAll(/^FIXED\(\d+, "\w*", "([^"]+)", "([^"]+)"\)/gm)];
    assert.deepEqual(rows.map(([, , meaning]) => meaning), [...Object.keys(beyond), ...Object.keys(elsewhere)]);
    for (const [, answer, meaning] of rows) {
        if (elsewhere[meaning]) {
            const [path, words] = elsewhere[meaning];
            assert.ok(readFileSync(path, 'utf8').includes(words), meaning);
            continue;
        }
        const { status, body } = await beyond[meaning]();
        assert.equal(String(status), answer, `${meaning}: ${JSON.stringify(body)}`);
    }
    await other.stop();
});

test('every bound has its flag in the documentation', () => {
    const rows = [...readFileSync('server/queue/bounds.def', 'utf8').matchAll(/^BOUND\(\w+, "(--[\w-]+)", (\d+)/gm)];
    assert.ok(rows.length > 10);
    const { stdout } = config();
    for (const [, flag, value] of rows) assert.equal(valueOf(stdout, flag.slice(2)), `${value}  # default`);
});
