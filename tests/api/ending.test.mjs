// tests/api/ending.test.mjs -- the end of what is posted, through a network and a server that lose requests and answers.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import { binary, getJson, startServer } from './harness.mjs';

let server;
before(async () => {
    server = await startServer();
});
after(() => server.stop());

/** Sends a request on to the server; resolves to its answer. */
const forward = (method, path, headers, body) => new Promise((done, fail) => {
    const { hostname, port } = new URL(server.url);
    const to = request({ hostname, port, method, path, headers: { ...headers, host: `${hostname}:${port}` } }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
    });
    to.on('error', fail);
    to.end(body);
});

/** What stands between: `onEnd(n, pass, drop)` is told of the n-th request that ends a trace, likewise `onBegin`. */
async function between(onEnd, onBegin = async (n, { pass, give }) => give(await pass())) {
    let [ends, begins] = [0, 0];
    const proxy = createServer(async (req, res) => {
        const parts = [];
        for await (const part of req) parts.push(part);
        const pass = (headers = req.headers) => forward(req.method, req.url, headers, Buffer.concat(parts));
        const give = ({ status, headers, body }) => res.writeHead(status, headers).end(body);
        const drop = () => req.socket.destroy();
        if (req.url.endsWith('/end')) await onEnd(++ends, { pass, give, drop, headers: req.headers });
        else if (req.url.endsWith('/traces')) await onBegin(++begins, { pass, give, drop, headers: req.headers });
        else give(await pass());
    });
    await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
    return { url: `http://127.0.0.1:${proxy.address().port}`, ends: () => ends, close: () => new Promise((done) => { proxy.close(done); proxy.closeAllConnections(); }) };
}

const post = (url) => new Promise((done) => {
    const child = spawn(binary, ['import', 'tests/import/kineto.json', '--post', url], { stdio: ['ignore', 'ignore', 'pipe'] });
    let told = '';
    child.stderr.on('data', (bytes) => (told += bytes));
    child.on('exit', (status) => done({ status, told, run: Number(/run (\d+) of/.exec(told)?.[1]) }));
});

/** Posts through it; the run, as the server has it. */
async function through(onEnd) {
    const proxy = await between(onEnd);
    const { status, told, run } = await post(proxy.url);
    await proxy.close();
    return { status, told, ends: proxy.ends(), id: run, run: (await getJson(`${server.url}/api/v1/runs/${run}`)).body };
}

async function holds(what, onEnd, ends) {
    const got = await through(onEnd);
    assert.deepEqual([got.status, got.run.status, got.ends], [0, 'done', ends], `${what}: ${got.told}`);
    assert.ok(got.run.report.import.kernels.count > 0, what);
}

test('an end that is lost on the way, whose answer is lost, or that comes twice is sent again and ends the run once', async () => {
    await holds('lost on the way', async (n, { pass, give, drop }) => (n < 3 ? drop() : give(await pass())), 3);
    const keys = new Set();
    await holds('the answer is lost', async (n, { pass, give, drop, headers }) => {
        const answer = await pass();
        keys.add(headers['idempotency-key']);
        if (n > 1) assert.equal(answer.headers['idempotent-replayed'], 'true');
        if (n < 3) drop();
        else give(answer);
    }, 3);
    assert.equal(keys.size, 1);
    // As of a server that was started again: it knows nothing of the key.
    await holds('the answer is lost, and the key', async (n, { pass, give, drop, headers: { 'idempotency-key': key, ...headers } }) => {
        assert.match(key, /^end-[0-9a-f]{32}$/);
        const answer = await pass(headers);
        if (n < 2) return drop();
        assert.equal(answer.status, 409);
        give(answer);
    }, 2);
    let late;
    await holds('the first comes after the second', async (n, { pass, give, drop }) => {
        if (n === 2) return give(await pass());
        drop();
        late = new Promise((done) => setTimeout(done, 2500)).then(pass);
    }, 2);
    assert.equal((await late).headers['idempotent-replayed'], 'true');
    // It is under way as long as the server says so.
    await holds('under way', async (n, { pass, give, drop }) => {
        if (n < 2) return drop();
        if (n < 4) return give({ status: 409, headers: { 'content-type': 'application/json' }, body: '{"error": {"code": "conflict", "message": "under way", "line": null, "column": null}}' });
        give(await pass());
    }, 4);
});

test('a beginning that is lost on the way, or whose answer is, is sent again and makes one run', async () => {
    const { length } = (await getJson(`${server.url}/api/v1/runs`)).body.runs;
    const keys = [];
    const proxy = await between(async (n, { pass, give }) => give(await pass()), async (n, { pass, give, drop, headers }) => {
        keys.push(headers['idempotency-key']);
        if (n === 1) return drop();
        const answer = await pass();
        return n === 2 ? drop() : give(answer);
    });
    const { status, told, run } = await post(proxy.url);
    await proxy.close();
    assert.equal(status, 0, told);
    assert.match(keys[0], /^begin-[0-9a-f]{32}$/);
    assert.deepEqual(keys, Array(3).fill(keys[0]));
    const { runs } = (await getJson(`${server.url}/api/v1/runs`)).body;
    assert.equal(runs.length, length + 1);
    assert.deepEqual([runs[0].id, runs[0].status], [run, 'done']);
});

test('an end that is refused, and that of a run which ended otherwise, is told', async () => {
    const refused = await through((n, { give }) => give({ status: 422, headers: { 'content-type': 'application/json' }, body: '{"error": {"code": "value", "message": "not this", "line": null, "column": null}}' }));
    assert.deepEqual([refused.status, refused.ends], [1, 1]);
    assert.match(refused.told, /not this/);
    let id;
    const cancelled = await through(async (n, { pass, give, drop }) => {
        if (n > 1) return give(await pass());
        ({ runs: [{ id }] } = (await getJson(`${server.url}/api/v1/runs?limit=1`)).body);
        await fetch(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
        drop();
    });
    assert.deepEqual([cancelled.status, cancelled.ends], [1, 2], cancelled.told);
    assert.match(cancelled.told, new RegExp(`run ${id}`));
});
