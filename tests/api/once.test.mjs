// tests/api/once.test.mjs -- Idempotency-Key: a post that is sent again makes nothing again.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { getJson, startServer, until, waitFor, workload } from './harness.mjs';

let server;
before(async () => {
    server = await startServer();
});
after(() => server.stop());

const work = workload('    return torch.sin(x).sum()', { modes: ['eager', 'static'] });
const post = (key, body = work, path = '/api/v1/runs', at = server) => getJson(at.url + path, {
    method: 'POST', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key }, body: typeof body === 'string' ? body : JSON.stringify(body),
});
const total = async (at = server) => (await getJson(`${at.url}/api/v1/runs`)).body.total;

test('the same post with the same key is answered as the first time, also after a restart', async () => {
    const first = await post('a-1'), again = await post('a-1'), other = await post('a-2');
    assert.deepEqual([first.status, again.status, other.status], [202, 202, 202]);
    assert.equal(again.body.id, first.body.id);
    assert.notEqual(other.body.id, first.body.id);
    assert.deepEqual([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')], [null, 'true']);
    assert.equal(again.headers.get('location'), `/api/v1/runs/${first.body.id}`);
    await waitFor(server, other.body.id);
    await server.stop({ keep: true });
    server = await startServer({ folder: server.home });
    assert.equal((await post('a-1')).body.id, first.body.id);
    assert.equal(await total(), 2);
});

test('forty at once make one run', async () => {
    const before = await total(), answers = await Promise.all(Array.from({ length: 40 }, () => post('at-once')));
    const made = new Set(answers.filter((a) => a.status === 202).map((a) => a.body.id));
    assert.equal(made.size, 1);
    for (const a of answers) assert.ok([202, 409].includes(a.status), String(a.status));
    assert.equal(await total(), before + 1);
});

test('a key that another request has is refused', async () => {
    const first = await post('b');
    for (const [body, path] of [[{ ...work, name: 'another' }, '/api/v1/runs'], [work, '/api/v1/runs?wait=1'], [{ name: 's', workloads: [work] }, '/api/v1/suites']]) {
        const { status, body: { error } } = await post('b', body, path);
        assert.deepEqual([status, error.code], [422, 'value']);
    }
    assert.equal((await post('b')).body.id, first.body.id);
});

test('what was refused may be sent again, put right', async () => {
    assert.equal((await post('c', workload('    return x +'))).status, 400);
    assert.equal((await post('c')).status, 202);
});

test('a suite is made once too', async () => {
    const suite = { name: 's', workloads: [work] }, ids = [];
    for (let i = 0; i < 2; i++) ids.push((await post('d', suite, '/api/v1/suites')).body.id);
    assert.equal(ids[0], ids[1]);
});

test('what is no key is refused, and nothing is made', async () => {
    const before = await total();
    for (const key of ['', 'x'.repeat(201), 'a b', 'a\tb', 'é']) {
        const { status, body } = await post(key);
        if (key === '' && status === 202) assert.fail('an empty key was taken');
        assert.deepEqual([status, body.error.code], [400, 'bad-request'], key);
    }
    assert.equal(await total(), before);
    assert.equal((await post('x'.repeat(200))).status, 202);
});

test('each of a list is answered in its place', async () => {
    const list = [work, workload('    return x +'), { ...work, name: 'second' }, 7];
    const { status, body: { runs } } = await post('list', list), again = await post('list', list);
    assert.equal(status, 202);
    assert.deepEqual(runs.map((one) => Object.keys(one)[0]), ['id', 'error', 'id', 'error']);
    assert.ok(runs[1].error.line > 0);
    assert.deepEqual(again.body.runs, runs);
    assert.equal((await getJson(`${server.url}/api/v1/runs/${runs[2].id}`)).body.name, 'second');
    for (const wrong of [[], Array(201).fill(work)]) assert.equal((await post(`wrong${wrong.length}`, wrong)).status, 400);
    assert.equal((await post('waits', [work], '/api/v1/runs?wait=1')).status, 400);
});

test('events have ids that grow, and who comes again hears of the end', async () => {
    const { body: { id } } = await post('events');
    const listen = async (headers) => (await (await fetch(`${server.url}/api/v1/runs/${id}/events`, { headers })).text());
    const text = await listen({}), ids = [...text.matchAll(/^id: (\d+)$/gm)].map((found) => +found[1]);
    assert.equal(ids.length, [...text.matchAll(/^event: /gm)].length);
    assert.deepEqual(ids, [...ids].sort((a, b) => a - b));
    assert.match(await listen({ 'Last-Event-ID': String(ids[0]) }), /event: end/);
});

test('a server that is killed within posts has made what it answers again, once', async () => {
    const at = await startServer();
    const keys = Array.from({ length: 60 }, (_, i) => `killed-${i}`), heard = new Map();
    let server = at;
    for (let round = 0; round < 3; round++) {
        const sent = keys.map(async (key) => {
            const { status, body } = await post(key, { ...work, name: key }, '/api/v1/runs', server).catch(() => ({}));
            if (status !== 202) return;
            if (heard.has(key)) assert.equal(body.id, heard.get(key), key);
            heard.set(key, body.id);
        });
        if (round < 2) {
            await until(() => heard.size > 10 * (round + 1), 'an answer');
            await server.stop({ keep: true, signal: "SIGKILL" });
        }
        await Promise.all(sent);
        if (round < 2) server = await startServer({ folder: at.home });
    }
    assert.equal(heard.size, keys.length);
    assert.equal(await total(server), keys.length);
    await server.stop();
});

test('what a thread of its own handles is handled once, however quick that is', async () => {
    const told = async () => Number(/^breakeven_http_requests_total (\d+)$/m.exec(await (await fetch(`${server.url}/metrics`)).text())[1]);
    const before = await told(), N = 500;
    const body = JSON.stringify({ boxes: [], links: [] });
    let left = N;
    await Promise.all(Array.from({ length: 8 }, async () => {
        while (left-- > 0) await (await fetch(`${server.url}/api/v1/layout`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).arrayBuffer();
    }));
    assert.equal((await told()) - before, N + 1);
});
