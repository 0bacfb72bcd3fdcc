// tests/api/wait.test.mjs -- wait=: an answer comes once the run has ended, or when its time is over, and nobody else waits for it.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { getJson, longSweep, postRun, startServer, waitFor, workload } from './harness.mjs';

let server;
before(async () => {
    server = await startServer();
});
after(() => server.stop());

const quick = workload('    return torch.sin(x).sum()', { modes: ['eager', 'static'] });
const post = (body, query) => getJson(`${server.url}/api/v1/runs${query}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const get = (id, query = '') => getJson(`${server.url}/api/v1/runs/${id}${query}`);

test('a post that waits answers the run with its report', async () => {
    const { status, headers, body } = await post(quick, '?wait=600');
    assert.equal(status, 200);
    assert.equal(body.status, 'done');
    assert.ok(body.report.modes.static.latency.median_us > 0);
    assert.equal(headers.get('location'), null); // nothing is yet to come
    assert.equal((await getJson(`${server.url}/api/v1/runs?wait=600`)).status, 400);
});

test('what is made says where it is', async () => {
    const { status, headers, body } = await postRun(server, quick);
    assert.deepEqual([status, headers.get('location')], [202, `/api/v1/runs/${body.id}`]);
    assert.equal((await getJson(server.url + headers.get('location') + '?wait=600')).body.status, 'done');
});

test('many wait for one run, and each hears of its end; one that is gone is not missed', async () => {
    const { body: { id } } = await postRun(server, longSweep());
    const lost = request(`${server.url}/api/v1/runs/${id}?wait=600`).on('error', () => {}).end();
    const all = Array.from({ length: 40 }, () => get(id, '?wait=600'));
    await waitFor(server, id, ['running']);
    lost.destroy();
    assert.equal((await getJson(`${server.url}/healthz`)).status, 200);
    await fetch(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
    for (const { status, body } of await Promise.all(all)) assert.deepEqual([status, body.status], [200, 'cancelled']);
});

test('when its time is over the answer is the run as it is', async () => {
    const begun = Date.now();
    const { status, headers, body } = await post(longSweep(), '?wait=1');
    assert.equal(status, 202);
    assert.match(body.status, /queued|running/);
    assert.equal(headers.get('location'), `/api/v1/runs/${body.id}`);
    assert.ok(Date.now() - begun >= 1000);
    const again = await get(body.id, '?wait=1'), later = await get(body.id, '?wait=1');
    assert.deepEqual([again.status, later.status], [200, 200]);
    assert.ok(Date.now() - begun >= 3000); // neither was kept
    await fetch(`${server.url}/api/v1/runs/${body.id}`, { method: 'DELETE' });
    assert.equal((await get(body.id, '?wait=600')).body.status, 'cancelled');
});

test('what is no number of seconds is refused, and nothing is queued', async () => {
    const { body: { total } } = await getJson(`${server.url}/api/v1/runs`);
    for (const wait of ['-1', '601', 'x', '1e3', '']) {
        const { status, body } = await post(quick, `?wait=${wait}`);
        assert.equal(status, 400, wait);
        assert.match(body.error.message, /wait=/);
    }
    assert.equal((await getJson(`${server.url}/api/v1/runs`)).body.total, total);
});

test('a server that ends keeps nobody waiting', async () => {
    const other = await startServer();
    const { body: { id } } = await postRun(other, longSweep());
    const waits = getJson(`${other.url}/api/v1/runs/${id}?wait=600`).catch(() => null);
    await waitFor(other, id, ['running']);
    assert.equal(await other.stop(), 0);
    await waits;
});
