// tests/api/import.test.mjs -- logs of PyTorch as runs: POST /imports and breakeven import --post.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { binary, getJson, startServer, storeSql, until, waitFor } from './harness.mjs';
import { decodeTimeline } from '../../web/js/model/timeline.js';

const [trace, log] = ['kineto.json', 'torch_trace_2.14.log'].map((f) => `tests/import/${f}`);

/** A log that takes a while to read: blanks between two events. */
const blanks = gzipSync(Buffer.alloc(200 << 20, ' '), { level: 1 });
const slowLog = Buffer.concat([gzipSync('{"traceEvents":['), blanks, blanks, blanks, gzipSync(']}')]);

/**
 * Posts that, and halts its worker: the connection, what it will be answered, and the run's number.  Where the log
 * was read before that, it is posted again.
 */
const haltedImport = (server) => until(async () => {
    const { hostname, port } = new URL(server.url);
    const socket = net.connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let answered = false;
    const answer = new Promise((done) => {
        let text = '';
        socket.on('data', (part) => { text += part; });
        socket.on('error', () => {});
        socket.on('end', () => socket.destroy());
        socket.on('close', () => done(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0)));
    }).finally(() => { answered = true; });
    socket.write(`POST /api/v1/imports?name=slow HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\nContent-Type: application/gzip\r\nContent-Length: ${slowLog.length}\r\n\r\n`);
    socket.write(slowLog);
    const found = await until(() => answered || spawnSync('pgrep', ['-P', String(server.child.pid), '-f', 'worker']).stdout.toString().trim(), 'a worker');
    const worker = Number(found);
    // Before it has the whole log its server waits to hand that over, and looks at nothing else meanwhile.
    const reads = async () => (await getJson(`${server.url}/api/v1/runs`)).body.runs.some((run) => run.status === 'running' && run.what !== 'starting a worker');
    if (found === true || await until(async () => answered || await reads(), 'that it reads') && answered || !send(worker, 'SIGSTOP')) return null;
    const { runs } = (await getJson(`${server.url}/api/v1/runs`)).body;
    return runs[0].status === 'running' && { socket, answer, worker, id: runs[0].id };
}, 'an import that is halted while its log is read');

/** Whether there is such a process to take it. */
function send(pid, signal) {
    try {
        return process.kill(pid, signal);
    } catch {
        return false;
    }
}
const isGone = (pid) => !send(pid, 0);

const count = (v, kind) => v.totals.filter((t) => t.kind === kind).reduce((n, t) => n + t.count, 0);

const postLog = (server, body, query = '', type = 'application/octet-stream') =>
    getJson(`${server.url}/api/v1/imports${query}`, { method: 'POST', headers: { 'Content-Type': type }, body });

async function view(server, id) {
    const response = await fetch(`${server.url}/api/v1/runs/${id}/timeline`);
    assert.equal(response.status, 200);
    return decodeTimeline(await response.arrayBuffer());
}

test('a posted log is a run that lists, opens and has a timeline', async () => {
    const server = await startServer();
    try {
        const { status, body } = await postLog(server, gzipSync(readFileSync(trace)), '?name=made&project=p');
        assert.equal(status, 201, JSON.stringify(body));
        const run = await waitFor(server, body.id);
        assert.equal(run.status, 'done');
        assert.equal(run.name, 'made');
        assert.equal(run.report.import.kind, 'kineto');
        assert.equal(run.report.import.kernels.count, 4);
        assert.equal(run.report.import.kernels.total_us, 12);
        const v = await view(server, body.id);
        assert.equal(count(v, 'kernel'), 4);
        assert.equal(count(v, 'copy'), 2);
        assert.ok(v.lanes.some((l) => l.name === 'GPU 0, stream 7'));
        const runs = (await getJson(`${server.url}/api/v1/runs?project=p`)).body.runs;
        assert.deepEqual(runs.map((r) => r.id), [body.id]);
        const chrome = (await getJson(`${server.url}/api/v1/runs/${body.id}/trace.json`)).body;
        assert.equal(chrome.traceEvents.filter((e) => e.ph === 'X' && e.cat === 'kernel').length, 4);
        assert.equal((await fetch(`${server.url}/api/v1/runs/${body.id}`, { method: 'DELETE' })).status, 200);
        for (const [type, bytes] of [['application/json', readFileSync(trace)], ['application/gzip', gzipSync(readFileSync(trace))]])
            assert.equal((await postLog(server, bytes, '', type)).status, 201, type);
    } finally {
        await server.stop();
    }
});

test('the texts of a log are listed, read and searched', async () => {
    const server = await startServer();
    try {
        const { id } = (await postLog(server, gzipSync(readFileSync(log)))).body;
        const url = `${server.url}/api/v1/runs/${id}/artifacts`;
        const { artifacts: all, total, next } = (await getJson(url)).body;
        assert.equal(all.length, total);
        assert.equal(next, null);
        assert.deepEqual(all.map((a) => a.n), all.map((a, i) => i + 1));
        const { report } = (await getJson(`${server.url}/api/v1/runs/${id}`)).body;
        const counted = {};
        for (const a of all) if (!a.records) counted[a.kind] = (counted[a.kind] ?? 0) + 1;
        assert.deepEqual(counted, report.import.artifacts);
        const read = async (a, query = '') => (await fetch(`${url}/${a.n}${query}`)).text();
        const of = (await getJson(`${url}?compile=0/0&kind=inductor_output_code`)).body.artifacts;
        assert.deepEqual(of.map((a) => [a.name, a.group, a.attempt]), [['x.py', 'code', 1]]);
        assert.equal(await read(of[0]), "# AOT ID: ['0_inference']\nimport torch\n");
        assert.equal(await read(of[0], '?at=26&bytes=6'), 'import');
        for (const a of all) assert.equal(Buffer.byteLength(await read(a)), a.bytes, a.kind);
        const pages = [];
        for (let from = 0; from !== null;) {
            const page = (await getJson(`${url}?from=${from}&limit=7`)).body;
            pages.push(...page.artifacts);
            from = page.next;
        }
        assert.deepEqual(pages, all);
        const found = (await getJson(`${url}?q=tensor_MATCH`)).body;
        assert.deepEqual([found.total, found.lines, found.looked_at, found.cut], [1, 1, total, false]);
        assert.equal(found.artifacts[0].kind, 'dynamo_cpp_guards_str');
        assert.deepEqual(found.artifacts[0].found, [{ line: 6, column: 8, text: "| | +- TENSOR_MATCH: check_tensor(L['x'])" }]);
        assert.equal((await read(found.artifacts[0])).split('\n')[5].slice(7, 19), 'TENSOR_MATCH');
        assert.equal((await getJson(`${url}?q=cache_miss&group=cache`)).body.artifacts[0].matches, 0);
        // What begins with the end of a line is found once a line, and the search ends.
        assert.ok((await getJson(`${url}?q=${encodeURIComponent('\n|')}`)).body.artifacts[0].matches > 1);
        assert.equal((await getJson(`${url}?q=nowhere to be found`)).body.total, 0);
        assert.equal((await getJson(`${url}/9999`)).status, 404);
        assert.equal((await getJson(`${url}?limit=0`)).status, 400);
        const empty = (await postLog(server, readFileSync(trace))).body.id;
        assert.deepEqual((await getJson(`${server.url}/api/v1/runs/${empty}/artifacts`)).body, { artifacts: [], total: 0, next: null });
        const cli = spawnSync(binary, ['import', log, '--post', server.url, '--json'], { encoding: 'utf8' });
        assert.equal(cli.status, 0, cli.stderr);
        const posted = Number(/run (\d+)/.exec(cli.stderr)[1]);
        assert.deepEqual((await getJson(`${server.url}/api/v1/runs/${posted}/artifacts`)).body.artifacts, all);
        // The same by the command, from the store.
        const show = (...words) => spawnSync(binary, ['show', ...words.map(String), '--db', server.store], { encoding: 'utf8' });
        assert.deepEqual(JSON.parse(show(id, '--texts', '--json').stdout).artifacts, all);
        const rows = show(id, '--compile', '0/0').stdout.trim().split('\n');
        assert.deepEqual(rows.map((r) => Number(r.trim().split(' ')[0])), all.filter((a) => a.compile === '0/0').map((a) => a.n));
        assert.match(show(id, '--find', 'tensor_match').stdout, /dynamo_cpp_guards_str .*\n +6:8: \| \| \+- TENSOR_MATCH: check_tensor/);
        const [code] = of;
        assert.equal(show(id, '--text', code.n).stdout, await read(code));
        for (const [words, status, says] of [
            [[id, '--text', 9999], 1, /has no text 9999/], [[id, '--text', 'x'], 2, /--text/], [[id, '--text', 1, '--texts'], 2, /--text prints one text/],
            [[99, '--texts'], 1, /run 99/], [[id, '--find', 'nowhere to be found'], 0, /has no such text/], [[id, '--find', 'x'.repeat(300)], 1, /at most 200/], [['--texts'], 2, /a run is missing/],
        ]) {
            const { status: is, stderr } = show(...words);
            assert.equal(is, status, `${words}: ${stderr}`);
            assert.match(stderr, says, String(words));
        }
    } finally {
        await server.stop();
    }
});

test('several files in a .tar or a .zip are one run', async () => {
    const server = await startServer();
    try {
        for (const [file, type] of [['job.tar', 'application/x-tar'], ['job.zip', 'application/zip']]) {
            const { status, body } = await postLog(server, readFileSync(`tests/import/${file}`), '?name=job', type);
            assert.equal(status, 201, JSON.stringify(body));
            const { report } = await waitFor(server, body.id);
            assert.deepEqual(report.import.files.map((f) => f.kind), ['torch_trace', 'none', 'torch_trace']);
            assert.equal(report.import.processes.length, 2);
        }
        const { status, body } = await postLog(server, readFileSync('tests/import/job.tar').subarray(0, 512), '', 'application/x-tar');
        assert.deepEqual([status, body.error.message], [400, 'import holds no file']);
    } finally {
        await server.stop();
    }
});

test('lanes of what a profiler notes of itself have names of their own', async () => {
    const server = await startServer();
    const spans = [['Trace', 'Spans', 'PyTorch Profiler'], ['overhead', -1, 0], ['kernel', 0, 7]].map(([cat, pid, tid]) => ({ ph: 'X', cat, pid, tid, name: 'x', ts: 1, dur: 5 }));
    try {
        const { body } = await postLog(server, JSON.stringify({ traceEvents: spans }));
        assert.deepEqual((await view(server, body.id)).lanes.map((l) => l.name), ['recording by PyTorch Profiler', 'overhead of recording', 'GPU 0, stream 7']);
    } finally {
        await server.stop();
    }
});

test('an import ran where its events are; a log without events does not say', async () => {
    const server = await startServer();
    const op = { ph: 'X', cat: 'cpu_op', name: 'aten::add', pid: 1, tid: 1, ts: 1, dur: 5 };
    try {
        for (const [bytes, device] of [[readFileSync(trace), 'cuda'], [JSON.stringify({ traceEvents: [op] }), 'cpu'], [readFileSync(log), '']]) {
            const { body } = await postLog(server, bytes);
            const run = await waitFor(server, body.id);
            assert.equal(run.status, 'done');
            assert.equal(run.device, device);
            assert.equal(run.workload.device, device);
            const back = await postLog(server, await (await fetch(`${server.url}/api/v1/runs/${body.id}/trace.json`)).text());
            assert.equal((await waitFor(server, back.body.id)).device, device, 'as it comes back from an export');
        }
        const { facets } = (await getJson(`${server.url}/api/v1/runs?facets=1`)).body;
        assert.deepEqual(facets.device.map(([name]) => name).sort(), ['cpu', 'cuda']);
    } finally {
        await server.stop();
    }
});

test('what is no log is refused, and leaves no run', async () => {
    const server = await startServer();
    try {
        const bad = await postLog(server, 'GIF89a');
        assert.equal(bad.status, 400);
        assert.match(bad.body.error.message, /not a log of a known kind/);
        assert.match((await postLog(server, '{}', '', 'application/json')).body.error.message, /: it has no list of "traceEvents"/);
        assert.equal((await postLog(server, readFileSync(trace), '', 'text/plain')).status, 415);
        assert.deepEqual((await getJson(`${server.url}/api/v1/runs`)).body.runs, []);
    } finally {
        await server.stop();
    }
});

test('breakeven import joins files and posts them as one run', async () => {
    const server = await startServer();
    try {
        const done = spawnSync(binary, ['import', '--json', '--post', server.url, '--name', 'both', log, trace], { encoding: 'utf8' });
        assert.equal(done.status, 0, done.stderr);
        const said = JSON.parse(done.stdout);
        assert.equal(said.joined, 3);
        const run = await waitFor(server, 1);
        assert.equal(run.name, 'both');
        assert.deepEqual(run.report.import, said);
        assert.equal(run.report.import.breaks[0].cost.host_us_per_call, 130);
        assert.equal(count(await view(server, 1), 'kernel'), 4);
    } finally {
        await server.stop();
    }
});

test('flags and files that are wrong are said', () => {
    const run = (...args) => spawnSync(binary, ['import', ...args], { encoding: 'utf8' });
    assert.equal(run().status, 2);
    assert.equal(run('--new').status, 2);
    assert.equal(run(log, '--post').status, 2);
    const missing = run('/no/such/file');
    assert.equal(missing.status, 1);
    assert.match(missing.stderr, /\/no\/such\/file: No such file/);
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-import-test-'));
    for (const [name, bytes] of [['a.txt', 'hello'], ['empty.log', ''], ['cut.json.gz', gzipSync(readFileSync(trace)).subarray(0, 12)]]) writeFileSync(join(folder, name), bytes);
    for (const [names, says] of [[['cut.json.gz'], /cut or damaged/], [['empty.log'], /is empty/], [['a.txt'], /not a log of a known kind/]])
        assert.match(run(...names.map((n) => join(folder, n))).stderr, says);
    rmSync(join(folder, 'cut.json.gz'));
    const none = run(folder); // each file in it is left out
    assert.deepEqual([none.status, none.stdout], [1, '']);
    assert.match(none.stderr, /left out: .*a\.txt[^]*holds no log/);
    const twice = run(log, `./${log}`);
    assert.equal(twice.status, 1);
    assert.match(twice.stderr, /is named twice, as tests\/import\/.*; it would count twice/);
    rmSync(folder, { recursive: true });
    assert.equal(run('--help').status, 0);
    assert.match(run(log).stdout, /6 graphs, 7 compilations, 4 breaks, 2 recompiles/);
});

test('an import whose client goes, that is cancelled, or whose server stops is given up', async () => {
    const server = await startServer();
    const halted = [];
    try {
        halted.push(await haltedImport(server));
        const [cancelled] = halted;
        const answer = await getJson(`${server.url}/api/v1/runs/${cancelled.id}`, { method: 'DELETE' });
        assert.deepEqual(answer.body, { id: cancelled.id, did: 'cancelled' });
        assert.equal(await cancelled.answer, 409);
        assert.equal((await waitFor(server, cancelled.id)).status, 'cancelled');
        await until(() => isGone(cancelled.worker), 'the end of its worker');

        // What has closed its sending side may listen still: it is told whose doing it was.
        halted.push(await haltedImport(server));
        const half = halted.at(-1);
        half.socket.end();
        assert.ok([0, 409].includes(await half.answer), 'it is answered so, or dropped');
        await until(async () => (await getJson(`${server.url}/api/v1/runs/${half.id}`)).status === 404, 'that its run is gone');

        halted.push(await haltedImport(server));
        const { socket, worker, id } = halted.at(-1);
        socket.destroy();
        await until(() => isGone(worker), 'the end of the worker whose client went');
        await until(async () => (await getJson(`${server.url}/api/v1/runs/${id}`)).status === 404, 'that its run is gone');

        halted.push(await haltedImport(server));
    } finally {
        await server.stop({ signal: 'SIGTERM' });
    }
    await until(() => isGone(halted.at(-1).worker), 'the end of the worker of a server that stopped');
    assert.ok([0, 503].includes(await halted.at(-1).answer), 'the answer, or its connection was closed before that');
});

test('an import whose worker is killed, even before it has the log, says so', async () => {
    const server = await startServer();
    const answer = postLog(server, Buffer.concat([Buffer.from('{"traceEvents": ['), Buffer.alloc(60 << 20, ' ')]));
    const worker = await until(() => spawnSync('pgrep', ['-P', String(server.child.pid), '-f', 'worker']).stdout.toString().trim(), 'a worker');
    assert.ok(send(Number(worker), 'SIGKILL'));
    const { status, body } = await answer;
    assert.deepEqual([status, body.error.code], [500, 'worker']);
    assert.match(body.error.message, /^the worker was killed \(signal 9\)/);
    await server.stop();
});

test('an import that has read no event for long goes on: it is no recording that fell silent', async () => {
    const server = await startServer();
    try {
        const { worker, id } = await haltedImport(server);
        storeSql(server.store, 'UPDATE run_row SET heard_ns = 1');
        await until(() => storeSql(server.store, "SELECT count(*) FROM run_row WHERE heard_ns > 1 OR status <> 'running'") === '1', 'that the queue looks for traces that are silent');
        assert.equal((await getJson(`${server.url}/api/v1/runs/${id}`)).body.status, 'running');
        send(worker, 'SIGKILL');
    } finally {
        await server.stop();
    }
});

test('how far an import is shows while it is read', async () => {
    const server = await startServer();
    try {
        const said = [];
        const { id, worker, answer } = await haltedImport(server);
        const response = await fetch(`${server.url}/api/v1/runs/${id}/events`);
        for await (const bytes of response.body) {
            said.push(Buffer.from(bytes).toString());
            send(worker, 'SIGCONT'); // it is listened to: the log may be read on
        }
        assert.match(said.join(''), /starting a worker|reading the log/);
        assert.equal(await answer, 201);
    } finally {
        await server.stop();
    }
});
