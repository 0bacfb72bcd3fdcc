// tests/api/soak.test.mjs -- a server that is used without a pause: its memory and its descriptors do not grow.
// SOAK_SECONDS in the environment: for how long (`make trial-soak`: TRIAL_SECONDS).
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import { binary, getJson, postLongTrace, postRun, startServer, waitFor, workload } from './harness.mjs';

const SECONDS = Number(process.env.SOAK_SECONDS ?? 15);
/** What an allocator and SQLite's cache may take while they find their size. */
const MARGIN_KIB = 24 << 10;

const residentKib = (pid) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
const openFiles = (pid) => readdirSync(`/proc/${pid}/fd`).length;

/** What people and programs ask for, once each: the same number of runs is there afterwards. */
async function round(server) {
    const api = `${server.url}/api/v1`;
    const { id } = (await postRun(server, workload('    return x.sum()', { modes: ['eager', 'static'], seconds: 0.01 }))).body;
    const events = new AbortController();
    const stream = await fetch(`${api}/runs/${id}/events`, { signal: events.signal });
    await waitFor(server, id);
    events.abort();
    await stream.body.cancel().catch(() => {});
    const imported = await postLongTrace(server, 500);
    for (const path of ['/', '/runs', `/runs/${id}`, '/healthz', '/metrics', '/api/v1/runs?facets=1', `/api/v1/runs/${id}`,
        `/api/v1/runs/${id}/timeline`, `/api/v1/runs/${imported}/timeline?px=600`, `/api/v1/runs/${imported}/export?format=chrome`,
        `/api/v1/runs/${id}/export?format=html`, `/api/v1/history?workload=test`, `/api/v1/compare?a=${id}&b=${id}`, '/api/v1/openapi.json', '/nothing']) {
        const response = await fetch(server.url + path);
        await response.arrayBuffer();
    }
    await getJson(`${api}/check`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(workload('    return x.nothing()')) });
    await postRun(server, '{"source": ');
    for (const run of [id, imported]) assert.equal((await getJson(`${api}/runs/${run}`, { method: 'DELETE' })).status < 300, true);
}

const sanitized = /build-(asan|tsan)/.test(binary); // what is freed is kept for a while

test(`${SECONDS} s of use leave memory and descriptors as they were`, async (t) => {
    const server = await startServer();
    for (let i = 0; i < 3; i++) await round(server);
    const [before, files] = [residentKib(server.child.pid), openFiles(server.child.pid)];
    const tenths = [];
    let rounds = 0;

    for (const start = Date.now(); tenths.length < 10;) {
        for (const end = start + SECONDS * 100 * (tenths.length + 1); Date.now() < end; rounds++) await round(server);
        tenths.push(residentKib(server.child.pid));
    }
    const [after, now] = [tenths.at(-1), openFiles(server.child.pid)];
    t.diagnostic(`${rounds} rounds: ${before} KiB and ${files} descriptors before, then ${tenths.join(', ')} KiB at each tenth, and ${now} descriptors`);
    assert.ok(now <= files + 8, `${files} descriptors, then ${now}`);
    if (!sanitized) assert.ok(after <= before + MARGIN_KIB, `${before} KiB, then ${tenths} after ${rounds} rounds`);
    await server.stop();
});
