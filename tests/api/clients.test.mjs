// tests/api/clients.test.mjs -- clients that are slow on purpose keep nobody out.  CLIENTS in the environment: how many
// (`make trial-clients` takes 2,000).
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, test } from 'node:test';

import { getJson, longSweep, postRun, startServer, until, waitFor, workload } from './harness.mjs';

const CLIENTS = Number(process.env.CLIENTS ?? 500);

let server, port;
before(async () => {
    server = await startServer({ args: ['--allow-host', 'a', '--user-streams', '400'] });
    port = Number(new URL(server.url).port);
});
after(async () => { await server.stop(); });

/** Sends `begin`, then a byte of `rest` now and then, until it is closed; begins again where `again` says so. */
function drip(begin, rest, state) {
    const socket = net.connect(port, '127.0.0.1');
    state.sockets.add(socket);
    let at = 0;
    const timer = setInterval(() => socket.write(rest[at++ % rest.length]), 500);
    socket.on('error', () => {});
    socket.on('data', (bytes) => { if (/^HTTP\/1\.1 408 /.test(bytes.toString('latin1'))) state.late++; });
    socket.on('connect', () => socket.write(begin));
    socket.on('close', () => {
        clearInterval(timer);
        state.sockets.delete(socket);
        state.closed++;
        if (state.again) setTimeout(() => state.again && drip(begin, rest, state), 100);
    });
}

/** A connection over which one request was answered, kept for the next. */
async function keptOpen() {
    const kept = { said: '', closed: false };
    const socket = net.connect(port, '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'));
    socket.on('data', (bytes) => { kept.said += bytes.toString('latin1'); });
    socket.on('error', () => {});
    socket.on('close', () => { kept.closed = true; });
    await until(() => kept.said.includes('"ok"'), 'an answer');
    return kept;
}

for (const [name, begin, rest] of [
    ['a header', 'GET /healthz HTTP/1.1\r\nHost: a\r\nX: ', 'x'],
    ['a body', 'POST /api/v1/runs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n', ' '],
    ['chunks', 'POST /api/v1/runs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n', ['1\r\n \r\n']],
]) {
    test(`${CLIENTS} clients that send ${name} a byte at a time, and come again, lock nobody out`, async () => {
        const state = { sockets: new Set(), late: 0, closed: 0, again: true };
        for (let i = 0; i < CLIENTS; i++) drip(begin, rest, state);
        await until(() => state.late > 0, 'that one is told that it is late');
        // One of us may meet the limit of connections, and asks again.
        for (let i = 0; i < 10; i++) await until(() => getJson(`${server.url}/healthz`).then(({ body }) => body.status === 'ok', () => false), 'an answer among slow clients');
        const { body } = await until(() => postRun(server, workload('    return x', { modes: ['eager'], backend: 'interp' })).catch(() => null), 'a post among slow clients');
        state.again = false;
        for (const socket of state.sockets) socket.destroy();
        await waitFor(server, body.id);
    });
}

test('few that are slow are left alone for as long as a request may take', async () => {
    const state = { sockets: new Set(), late: 0, closed: 0, again: false };
    for (let i = 0; i < 20; i++) drip('GET /healthz HTTP/1.1\r\nHost: a\r\nX: ', 'x', state);
    for (let i = 0; i < 20; i++) await getJson(`${server.url}/healthz`);
    assert.equal(state.late, 0);
    for (const socket of state.sockets) socket.destroy();
});

test('four hundred streams of events are open at once, beside requests', async () => {
    const busy = (await postRun(server, longSweep())).body.id, { id } = (await postRun(server, longSweep())).body;
    const stop = new AbortController();
    try {
        const idle = await keptOpen();
        const streams = await Promise.all(Array.from({ length: 400 }, () => until(
            () => fetch(`${server.url}/api/v1/runs/${id}/events`, { signal: stop.signal }).catch(() => null), 'a stream')));
        assert.deepEqual([...new Set(streams.map((s) => s.status))], [200]);
        await until(() => idle.closed, 'the end of a connection that is not used');
        assert.equal(idle.said.match(/HTTP\/1\.1/g).length, 1, 'what comes later would be taken for the answer to the next request');
        // One that was kept may be closed as it is used.
        await until(() => getJson(`${server.url}/healthz`).then(({ body }) => body.status === 'ok', () => false), 'an answer beside streams');
    } finally {
        stop.abort();
    }
    for (const run of [id, busy]) await until(() => getJson(`${server.url}/api/v1/runs/${run}`, { method: 'DELETE' }).catch(() => null), 'the end of a run');
});

test('the name of a run does not begin a line of the log', async () => {
    const forged = '2026-01-01T00:00:00Z error forged';
    const { body } = await postRun(server, workload('    return x', { name: `x\n${forged}\r${forged}`, modes: ['eager'], backend: 'interp' }));
    if (body.id) await waitFor(server, body.id);
    for (const line of server.log().split(/[\r\n]/)) assert.ok(!line.startsWith(forged), line);
});
