// tests/api/kill.test.mjs -- kill -9 of the server, or of a worker, at moments that nobody chose: what was acknowledged is
// there afterwards, whole or as it was, and no process is left.  KILLS in the environment: how often (`make trial-kill`:
// 200).  SEED repeats a trial.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { test } from 'node:test';

import { getJson, integrity, postLongTrace, sleep, startServer, storeIn, storeSql, until, waitFor, workload } from './harness.mjs';

const KILLS = Number(process.env.KILLS ?? 8);
const SEED = Number(process.env.SEED ?? Date.now() % 1e6);

/** Numbers from 0 to 1 that a seed repeats. */
function random(seed) {
    let state = seed >>> 0;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
    };
}

/** Each run of a store, with how much of what a finished run leaves is there. */
const PARTS = ['report', 'run_summary', 'run_figure', 'run_result', 'suite_run', 'timeline_block'];
const partsOf = (store) => storeSql(store, `SELECT id, status, source_hash, ${PARTS.map((table) => `(SELECT count(*) FROM ${table} WHERE run = r.id)`)} FROM run r ORDER BY id`)
    .split('\n').filter(Boolean).map((line) => {
        const [id, status, source, ...counts] = line.split('|');
        return { id: Number(id), status, source, ...Object.fromEntries(PARTS.map((table, i) => [table, Number(counts[i])])) };
    });

/** The processes that have the folder in their arguments: the server, its workers, their compilers. */
const processesOf = (home) => execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
    .filter((line) => line.includes(home)).map((line) => {
        const [, pid, parent, args] = /^ *(\d+) +(\d+) +(.*)$/.exec(line);
        return { pid: Number(pid), parent: Number(parent), args };
    });

const quick = { ...workload('    return x * 2'), seconds: 0.01, modes: ['eager', 'static'] };
const json = (body, method = 'POST') => ({ method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

/** What a client does that notes what it was promised: each is asked for after each kill. */
function actions(server, promised, draw) {
    const api = `${server.url}/api/v1`;
    const note = async (run) => {
        if (!run) return;
        const sent = { run, text: `note ${promised.notes.length}`, began: promised.clock++, ended: Infinity };
        promised.notes.push(sent);
        if ((await getJson(`${api}/runs/${run}`, json({ note: sent.text }, 'PATCH'))).status === 200) sent.ended = promised.clock++;
    };
    return [
        async () => {
            const { status, body } = await getJson(`${api}/runs`, json({ ...quick, name: 'run' }));
            if (status === 202) promised.runs.add(body.id);
        },
        async () => {
            const { status, body } = await getJson(`${api}/suites`, json({ name: 'kills', policy: 'native', seconds: 0.01, modes: ['eager', 'static'], again: promised.suites.size % 2 === 0, workloads: Array(3).fill(quick) }));
            if (status === 202) promised.suites.add(body.id);
        },
        async () => {
            try {
                promised.imports.add(await postLongTrace(server, 50 + Math.floor(draw() * 4000)));
            } catch (error) { // its worker was the one that was killed
                if (!/the worker was killed/.test(error.message)) throw error;
            }
        },
        async () => {
            const { status, body } = await getJson(`${api}/traces`, json({ name: 'live' }));
            if (status === 201) promised.runs.add(body.id);
        },
        async () => {
            const bytes = Buffer.alloc(1 + Math.floor(draw() * 200000), promised.files.size);
            const { status, body } = await getJson(`${api}/files?bytes=${bytes.length}`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: bytes });
            if (status < 300 && body.id) promised.files.set(body.id, bytes.length);
        },
        async () => note([...promised.imports].at(-1) ?? [...promised.runs].at(-1)),
    ];
}

/** Does one after the other until the server is gone. */
async function client(server, promised, draw) {
    const all = actions(server, promised, draw);
    for (;;) {
        try {
            await all[Math.floor(draw() * all.length)]();
            await sleep(draw() * 150);
        } catch (error) {
            if (server.child.exitCode !== null || server.child.signalCode !== null) return;
            // What was under way when the server went: its end is told a moment later.
            if (!/fetch failed|ECONN|other side closed|terminated/.test(`${error} ${error.cause}`)) throw error;
            await sleep(5);
        }
    }
}

/** A worker of this moment, where there is one. */
const workerOf = (server) => processesOf(server.home).find((p) => p.parent === server.child.pid && / worker /.test(p.args));

/** What the store of a server that is gone has of what was promised. */
function checkStore(home, promised, done) {
    assert.equal(integrity(storeIn(home)), 'ok');
    const rows = new Map(partsOf(storeIn(home)).map((row) => [row.id, row]));
    for (const row of rows.values()) {
        // An import has no source, and what modes gave is kept of the runs of suites.
        const parts = [row.report, row.timeline_block, ...(row.source ? [row.run_summary, row.run_figure] : []), ...(row.suite_run ? [row.run_result] : [])];
        if (row.status === 'done') assert.ok(parts.every((n) => n > 0), JSON.stringify(row));
        if (row.status === 'queued') assert.ok(parts.every((n) => n === 0), JSON.stringify(row));
    }
    for (const id of promised.runs) assert.ok(rows.has(id), `run ${id} was accepted and is gone`);
    for (const id of promised.imports) assert.equal(rows.get(id)?.status, 'done', `import ${id} was answered`);
    for (const id of done) assert.equal(rows.get(id)?.status, 'done', `run ${id} was done`);
    for (const row of rows.values()) if (row.status === 'done') done.add(row.id);
}

/** What a run's note may be: each that was sent, answered or not, but those before one that was sent after their answer and answered. */
const notesOf = (sent) => sent.filter((one) => !sent.some((next) => next.began > one.ended && next.ended < Infinity)).map((one) => one.text);

async function checkServer(server, promised) {
    for (const run of new Set(promised.notes.filter(({ ended }) => ended < Infinity).map((sent) => sent.run))) {
        const { note } = (await getJson(`${server.url}/api/v1/runs/${run}`)).body, may = notesOf(promised.notes.filter((sent) => sent.run === run));
        assert.ok(may.includes(note), `run ${run} has the note ${note}, not one of ${may}`);
    }
    for (const id of promised.suites) assert.equal((await getJson(`${server.url}/api/v1/suites/${id}`)).status, 200, `suite ${id}`);
    const { files } = (await getJson(`${server.url}/api/v1/files`)).body;
    for (const [id, bytes] of promised.files) assert.equal(files.find((f) => f.id === id)?.bytes, bytes, `file ${id}`);
}

test(`${KILLS} times kill -9 (seed ${SEED}): nothing acknowledged is lost, nothing is left running`, async () => {
    const draw = random(SEED);
    const promised = { runs: new Set(), suites: new Set(), imports: new Set(), notes: [], clock: 0, files: new Map() };
    const done = new Set();
    let folder;

    for (let i = 0; i < KILLS; i++) {
        const server = await startServer({ folder });
        folder = server.home;
        await checkServer(server, promised);
        const clients = [client(server, promised, random(draw() * 2 ** 32)), client(server, promised, random(draw() * 2 ** 32))];
        await sleep(50 + draw() * 1500);
        if (draw() < 0.4) { // a worker first, whose run goes on or fails with a reason
            const worker = workerOf(server);
            if (worker) {
                try { process.kill(worker.pid, 'SIGKILL'); } catch (error) { assert.equal(error.code, 'ESRCH'); }
                await sleep(draw() * 300);
            }
        }
        assert.equal(await server.stop({ signal: 'SIGKILL', keep: true }), 'SIGKILL');
        await Promise.all(clients);
        await until(() => !processesOf(folder).some((p) => / (worker|serve) /.test(p.args)), 'the end of the workers with their server');
        checkStore(folder, promised, done);
    }
    const last = await startServer({ folder });
    await checkServer(last, promised);
    const waiting = partsOf(storeIn(folder)).filter(({ status, source }) => source && ['queued', 'running'].includes(status)).map(({ id }) => id);
    for (const id of waiting.slice(6)) await getJson(`${last.url}/api/v1/runs/${id}`, { method: 'DELETE' });
    for (const id of waiting.slice(0, 6)) {
        const run = await waitFor(last, id);
        if (run.status === 'failed') assert.match(run.error.message, /the server ended|the worker was killed|signal 9|stopped recording|was not ended/);
    }
    assert.equal(await last.stop({ keep: true }), 0);
    await until(() => processesOf(folder).length === 0, 'that no process is left');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});
