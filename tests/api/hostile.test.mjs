// tests/api/hostile.test.mjs -- bytes that no browser sends, clients that vanish, crowds.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';

import { getJson, longSweep, postRun, sleep, startServer, until, waitFor, workload } from './harness.mjs';

let server, port;
before(async () => {
    server = await startServer({ args: ['--allow-host', 'a'] });
    port = Number(new URL(server.url).port);
});
after(async () => { await server.stop(); });

const connect = async () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {}); // a reset is an answer too
    await once(socket, 'connect');
    return socket;
};

/** All that comes back for `bytes` until the server closes: the last request is to ask for that. */
async function say(bytes, { end = false } = {}) {
    const socket = await connect();
    let answer = '';
    socket.on('data', (part) => { answer += part.toString('latin1'); });
    const closed = once(socket, 'close');
    if (end) socket.end(bytes);
    else socket.write(bytes);
    await closed;
    return answer;
}

const statuses = (answer) => [...answer.matchAll(/HTTP\/1\.[01] (\d{3})/g)].map((m) => Number(m[1]));
const healthy = async () => assert.equal((await getJson(`${server.url}/healthz`)).body.status, 'ok');
const total = async () => (await getJson(`${server.url}/api/v1/runs`)).body.total;
const streams = async () => Number(/^breakeven_event_streams (\d+)$/m.exec(await (await fetch(`${server.url}/metrics`)).text())[1]);
const remove = (id) => getJson(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });

const close = 'Host: a\r\nConnection: close\r\n';
const post = (headers, body) => `POST /api/v1/runs HTTP/1.1\r\n${close}Content-Type: application/json\r\n${headers}\r\n${body}`;

test('clients that send half a header do not keep others waiting', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, async () => {
        const socket = await connect();
        socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ');
        return socket;
    }));
    for (let i = 0; i < 20; i++) await healthy();
    for (const socket of slow) socket.destroy();
});

for (const [name, bytes, wanted] of [
    ['a header of 40 kB', `GET / HTTP/1.1\r\n${close}X: ${'x'.repeat(40960)}\r\n\r\n`, [431]],
    ['a URL of 40 kB', `GET /${'x'.repeat(40960)} HTTP/1.1\r\n${close}\r\n`, [414]],
    ['a query of 16 KiB, all of it percent-coded', `GET /api/v1/history?workload=${'%C3%A9'.repeat(2729)} HTTP/1.1\r\n${close}X: ${'x'.repeat(4000)}\r\n\r\n`, [200]],
    ['a query over 16 KiB', `GET /api/v1/history?workload=${'%C3%A9'.repeat(2730)} HTTP/1.1\r\n${close}\r\n`, [413]],
    ['a length that is no number', post('Content-Length: many\r\n', '{}'), [400]],
    ['a negative length', post('Content-Length: -1\r\n', '{}'), [400]],
    ['a length over 64 bits', post('Content-Length: 99999999999999999999999\r\n', '{}'), [400, 413]],
    ['a length of 2^62', post(`Content-Length: ${2n ** 62n}\r\n`, '{}'), [413]],
    ['two hosts', `GET /healthz HTTP/1.1\r\nHost: b\r\n${close}\r\n`, [null]],
    ['two lengths', post('Content-Length: 2\r\nContent-Length: 40\r\n', '{}'), [400]],
    ['a length beside chunks', post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n'), [400]],
    ['chunks in another coding', post('Transfer-Encoding: gzip\r\n', '{}'), [400]],
    ['a chunk whose size is no number', post('Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'), [400, null]],
    ['a chunk of 2^68 bytes', post('Transfer-Encoding: chunked\r\n', 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n'), [400, 413, null]],
    ['a method of its own', `BREW / HTTP/1.1\r\n${close}\r\n`, [405]],
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', [400, 404, 405, null]],
    ['NUL bytes in the header', `GET /\0 HTTP/1.1\r\n${close}X\0: \0\r\n\r\n`, [400, 404, null]],
    ['invalid UTF-8 in the path', `GET /api/v1/\xff\xfe%ff%fe HTTP/1.1\r\n${close}\r\n`, [404]],
    ['invalid UTF-8 in the query', `GET /api/v1/runs?q=%ff%fe&status=%c3%28 HTTP/1.1\r\n${close}\r\n`, [400]],
    ['a path that climbs', `GET /assets/../../../etc/passwd HTTP/1.1\r\n${close}\r\n`, [404]],
    ['a path that climbs in disguise', `GET /assets/%2e%2e%2f%2e%2e%2fetc/passwd HTTP/1.1\r\n${close}\r\n`, [404]],
    ['a body for a file', `POST /assets/css/main.css HTTP/1.1\r\n${close}Content-Length: 2\r\n\r\n{}`, [405]],
    ['a body on GET', `GET /healthz HTTP/1.1\r\n${close}Content-Length: 2\r\n\r\n{}`, [413]],
    ['invalid UTF-8 in the body', post('Content-Length: 14\r\n', Buffer.from('{"name": "\xff"}\n', 'latin1').toString('latin1')), [400]],
]) {
    test(`${name} is refused, and nothing is queued`, async () => {
        const runs = await total();
        // The library writes the head of its own refusals twice, and closes.
        const got = [...new Set(statuses(await say(Buffer.from(bytes, 'latin1'))))];
        assert.ok(got.length <= 1, `one answer at most: ${got}`);
        assert.ok(wanted.includes(got[0] ?? null), `status ${got[0]}`);
        assert.equal(await total(), runs);
        await healthy();
    });
}

test('a request smuggled by two lengths or chunks is never answered', async () => {
    const hidden = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';
    const open = 'POST /api/v1/runs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    for (const bytes of [
        `${open}Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
        `${open}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
        `${open}Content-Length: ${hidden.length}\r\nContent-Length: 0\r\n\r\n${hidden}`,
        `GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
        `GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n${hidden}`,
    ]) {
        const answer = await say(bytes);
        assert.doesNotMatch(answer, /breakeven_uptime_seconds/, bytes);
        assert.ok(statuses(answer).length <= 1);
    }
});

test('a path with a coded NUL is not the path before it', async () => {
    const { body } = await postRun(server, workload('    return x'));
    await waitFor(server, body.id);
    const answer = await say(`GET /api/v1/runs/${body.id}%00 HTTP/1.1\r\n${close}\r\n`);
    assert.deepEqual(statuses(answer), [400]);
    const file = await say(`GET /assets/css/main.css%00.png HTTP/1.1\r\n${close}\r\n`);
    assert.deepEqual(statuses(file), [404]);
});

test('a body that stops before its length queues nothing', async () => {
    const runs = await total();
    await say(post('Content-Length: 5000\r\n', JSON.stringify(workload('    return x'))), { end: true });
    assert.equal(await total(), runs);
    await healthy();
});

test('a client that has closed its sending side is answered where its request is whole, and dropped where it is not', async () => {
    const patient = await startServer({ args: ['--idle-seconds', '3600', '--request-seconds', '3600', '--allow-host', 'a'] });
    const ask = (bytes, late = false) => new Promise((done) => {
        let answer = '';
        const socket = net.connect({ port: Number(new URL(patient.url).port), host: '127.0.0.1', allowHalfOpen: true });
        socket.on('data', (part) => { answer += part.toString('latin1'); });
        socket.on('error', () => {});
        socket.on('end', () => { socket.destroy(); done(statuses(answer)); });
        if (late) socket.write(bytes, () => setTimeout(() => socket.end(), Math.random() * 20)); // while it is answered
        else socket.end(bytes); // with its last bytes
    });
    const get = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n', begun = 'POST /api/v1/runs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    for (const [bytes, wanted] of [['GET /hea', []], ['GET /healthz HTTP/1.1\r\nHost: a\r\nX: ', []], [get, [200]], [get + get, [200, 200]], [`${get}GET /h`, [200]],
        [`${begun}Content-Length: 100000\r\n\r\n${'x'.repeat(50000)}`, []], [`${begun}Content-Length: 20000000\r\n\r\n${'x'.repeat(50000)}`, []],
        [`${begun}Transfer-Encoding: chunked\r\n\r\n40\r\n{`, []], [`${begun}Content-Length: 2\r\n\r\n{}`, [400]]])
        for (const got of await Promise.all(Array.from({ length: 50 }, () => ask(bytes)))) assert.deepEqual(got, wanted, bytes.slice(0, 100));
    // What is made by one request for all that ask, what is slow, and what waits: the connection is paused meanwhile.
    const { body: { id } } = await postRun(patient, longSweep()), checked = JSON.stringify(workload('    return x.sum()'));
    const head = (line) => `${line} HTTP/1.1\r\nHost: a\r\n`;
    let n = 0;
    for (const bytes of [() => `${head(`GET /api/v1/runs?fold=1&facets=1&limit=500&q=${n >> 4}`)}\r\n`,
        () => `${head('POST /api/v1/check')}Content-Type: application/json\r\nContent-Length: ${checked.length}\r\n\r\n${checked}`,
        () => `${head(`GET /api/v1/runs/${id}?wait=${n & 1 ? 600 : 1}`)}\r\n`])
        for (const late of [false, true])
            for (const got of await Promise.all(Array.from({ length: 32 }, () => (n++, ask(bytes(), late))))) assert.equal(got.length, 1, bytes().slice(0, 100));
    await patient.stop();
});

test('HTTP/1.0 and pipelined requests are answered in order', async () => {
    assert.deepEqual(statuses(await say('GET /healthz HTTP/1.0\r\n\r\n')), [200]);
    const one = (path, last = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${last}\r\n`;
    const answer = await say(one('/healthz') + one('/nothing') + one('/api/v1/runs/0') + one('/healthz', 'Connection: close\r\n'));
    assert.deepEqual(statuses(answer), [200, 404, 400, 200]);
});

test('HEAD gives each GET route\'s status and no body', async () => {
    const { body } = await postRun(server, workload('    return x'));
    await waitFor(server, body.id);
    const { paths } = (await getJson(`${server.url}/api/v1/openapi.json`)).body;
    for (const path of Object.keys(paths).filter((p) => paths[p].get)) {
        const url = path.replace('{id}', body.id).replace('{tab}', 'graphs');
        const answer = await say(`HEAD ${url} HTTP/1.1\r\n${close}\r\n`);
        const get = path.endsWith('/events') ? null : await fetch(`${server.url}${url}`);
        await get?.arrayBuffer();
        assert.deepEqual(statuses(answer), [get?.status ?? 200], url);
        assert.equal(answer.split('\r\n\r\n').slice(1).join(''), '', url);
    }
    await until(async () => await streams() === 0, 'that HEAD of the events keeps no stream');
});

test('five hundred connections at once: the limit holds, and the server recovers', async () => {
    const crowd = await Promise.all(Array.from({ length: 500 }, () => new Promise((done) => {
        const socket = net.connect(port, '127.0.0.1');
        socket.on('error', () => {});
        socket.on('connect', () => { socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'); });
        socket.once('data', () => done({ socket, answered: true }));
        socket.once('close', () => done({ socket, answered: false }));
    })));
    const answered = crowd.filter((c) => c.answered).length;
    assert.ok(answered >= 300 && answered <= 460, `${answered} were answered`);
    for (const { socket } of crowd) socket.destroy();
    for (let i = 0; i < 20; i++) await until(() => healthy().then(() => true, () => false), 'an answer after the crowd');
});

test('twenty posts at once: all are stored, each once, and run in the order of their ids', async () => {
    const blocker = (await postRun(server, longSweep())).body.id;
    await waitFor(server, blocker, ['running']);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => postRun(server, workload('    return x', { name: `crowd ${i}` }))));
    assert.ok(answers.every((a) => a.status === 202));
    const ids = answers.map((a) => a.body.id);
    assert.equal(new Set(ids).size, 20);
    const { runs } = (await getJson(`${server.url}/api/v1/runs?status=queued&limit=100`)).body;
    assert.deepEqual(runs.map((r) => r.name).sort(), answers.map((_, i) => `crowd ${i}`).sort());
    for (const id of ids.slice(3)) assert.equal((await remove(id)).body.did, 'cancelled');
    await remove(blocker);
    const ended = await Promise.all(ids.slice(0, 3).map((id) => waitFor(server, id)));
    const order = ended.sort((a, b) => a.id - b.id).map((r) => r.started_ns);
    assert.deepEqual(order, [...order].sort((a, b) => a - b));
});

test('of two removals at once one removes and the other finds nothing', async () => {
    for (let i = 0; i < 10; i++) {
        const { body } = await postRun(server, longSweep());
        await remove(body.id);
        await waitFor(server, body.id, ['cancelled']);
        const two = await Promise.all([remove(body.id), remove(body.id)]);
        assert.deepEqual(two.map((a) => a.status).sort(), [200, 404]);
    }
});

test('a run cancelled at the moment that it starts is cancelled, not run', async () => {
    for (let i = 0; i < 30; i++) {
        const { body } = await postRun(server, longSweep());
        await sleep(i % 6);
        assert.equal((await remove(body.id)).body.did, 'cancelled');
        assert.equal((await waitFor(server, body.id, ['cancelled', 'done', 'failed'])).status, 'cancelled');
    }
    const next = (await postRun(server, workload('    return x'))).body.id;
    assert.equal((await waitFor(server, next, ['done'])).status, 'done', 'the queue is free');
});

test('what DELETE says it did is what happened, also at the end of a run', async () => {
    for (let i = 0; i < 15; i++) {
        const { body } = await postRun(server, workload('    return x'));
        await waitFor(server, body.id, ['running', 'done']);
        await sleep(i * 8);
        const answer = await remove(body.id);
        if (answer.body.did === 'removed') continue;
        const run = await waitFor(server, body.id);
        if (answer.status === 200) assert.equal(run.status, 'cancelled');
        else assert.deepEqual([answer.status, run.status], [409, 'done']);
    }
});

test('two tabs see one run, each to its end', async () => {
    const { body } = await postRun(server, workload('    return x.sum()'));
    const texts = await Promise.all([1, 2].map(async () => (await fetch(`${server.url}/api/v1/runs/${body.id}/events`)).text()));
    for (const text of texts) assert.match(text, /event: end\ndata: \{"status":"done"/);
});

test('a hundred streams cut in mid-run leave none open, on a running and on a waiting run', async () => {
    const running = (await postRun(server, longSweep())).body.id;
    const waiting = (await postRun(server, longSweep())).body.id;
    for (let round = 0; round < 5; round++) {
        const sockets = await Promise.all(Array.from({ length: 20 }, async (_, i) => {
            const socket = await connect();
            socket.write(`GET /api/v1/runs/${i % 2 ? running : waiting}/events HTTP/1.1\r\nHost: a\r\n\r\n`);
            await once(socket, 'data');
            return socket;
        }));
        for (const [i, socket] of sockets.entries()) {
            if (i % 3) socket.resetAndDestroy?.() ?? socket.destroy();
            else socket.destroy();
        }
    }
    await until(async () => await streams() === 0, 'the end of every stream');
    await remove(waiting);
    await remove(running);
});

test('a stop waits for no stream and for no client, idle or busy', async () => {
    const other = await startServer();
    const { body } = await postRun(other, longSweep());
    const open = await Promise.all(Array.from({ length: 16 }, () => fetch(`${other.url}/api/v1/runs/${body.id}/events`)));
    let going = true;
    const busy = Array.from({ length: 16 }, async () => {
        while (going) {
            await fetch(`${other.url}/api/v1/runs/${body.id}`).then((r) => r.text()).catch(() => { going = false; });
            await fetch(`${other.url}/api/v1/runs`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' } }).then((r) => r.text()).catch(() => {});
        }
    });
    await waitFor(other, body.id, ['running']);
    await other.stop();
    going = false;
    await Promise.all([...busy, ...open.map((r) => r.text().catch(() => {}))]);
});
