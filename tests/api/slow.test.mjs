// tests/api/slow.test.mjs -- requests that take long hold up nobody's connection.
import test, { afterEach } from 'node:test';
import assert from 'node:assert/strict';
import http from 'node:http';
import { FOREVER, randn, startServer, until } from './harness.mjs';


let server;
let agents = [];
afterEach(async () => {
    agents.splice(0).forEach((agent) => agent.destroy());
    server?.child.kill();
    await server?.exited;
});

/** GET over a connection of its own, kept by `agent`; resolves to the status. */
const get = (agent, url) => new Promise((done, fail) => {
    http.get(url, { agent }, (answer) => {
        answer.resume();
        answer.on('end', () => done(answer.statusCode));
    }).on('error', fail);
});

/** Until so many checks are under way. */
const checking = (n) => until(async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^breakeven_slow_requests\{kind="check"\} (\d+)$/m.exec(metrics)?.[1]) === n;
}, `that ${n} checks are under way`);

test('who is connected is answered while checks take long', async () => {
    server = await startServer();
    // A connection stays with the thread that took it: with 64, every thread has some.
    agents = Array.from({ length: 64 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
    const all = () => Promise.all(agents.map((agent) => get(agent, `${server.url}/healthz`)));
    assert.deepEqual([...new Set(await all())], [200]);
    const ended = [];
    const checks = Array.from({ length: 2 }, () => fetch(`${server.url}/api/v1/check`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'forever', source: FOREVER, calls: [[randn(2)]] }),
    }).then((answer) => ended.push(answer.status), () => ended.push(0)));
    await checking(2);
    assert.deepEqual([...new Set(await all())], [200]);
    assert.equal(ended.length, 0, 'a connection waited for the end of a check');
    await server.stop(); // and waits for neither
    await Promise.all(checks);
});

test('a server that stops ends with what it is at', async () => {
    server = await startServer();
    const check = fetch(`${server.url}/api/v1/check`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'forever', source: FOREVER, calls: [[randn(2)]] }),
    }).then((answer) => answer.status, () => 0);
    await checking(1);
    await server.stop();
    await check;
});
