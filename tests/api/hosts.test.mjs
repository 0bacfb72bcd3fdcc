// tests/api/hosts.test.mjs -- runs of other machines: an executor of commands, which begins jobs as processes of this one.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FOREVER, binary, getJson, postRun, quietPort, startServer, until, waitFor, workload } from './harness.mjs';

/** A site whose queue is a folder: a job is a file there, and a process; `begin: false`: nobody begins it. */
function site(folder, port, { program = binary, begin = true, ...more } = {}) {
    const start = begin ? `setsid sh ${folder}/$n.sh >${folder}/$n.out 2>&1 </dev/null & echo $! >${folder}/$n.pid;` : '';
    return {
        executor: 'command', title: 'processes of this machine', server: `http://127.0.0.1:${port}`, program, grace_seconds: 0.1,
        submit: ['sh', '-c', `n=job$$; cp {script} ${folder}/$n.sh; ${start} echo $n`],
        state: ['sh', '-c', begin ? `kill -0 $(cat ${folder}/{job}.pid) 2>/dev/null && echo running || echo ended` : 'echo waiting # {job}'],
        cancel: ['sh', '-c', begin ? `kill $(cat ${folder}/{job}.pid) || true` : `touch ${folder}/{job}.cancelled`], ...more,
    };
}

async function withHosts(make, use) {
    const folder = await mkdtemp(join(tmpdir(), 'breakeven-hosts-'));
    const port = await quietPort();
    writeFileSync(join(folder, 'hosts.json'), JSON.stringify({ hosts: make(folder, port) }));
    const args = ['--listen', `127.0.0.1:${port}`, '--hosts', join(folder, 'hosts.json')];
    const server = await startServer({ folder, args });
    try {
        await use(server, folder, args);
    } finally {
        await server.stop?.();
        await rm(folder, { recursive: true, force: true });
    }
}

const hosts = async (server) => (await getJson(`${server.url}/api/v1/hosts`)).body.hosts;
const scripts = (folder) => readdirSync(folder).filter((name) => name.endsWith('.sh')).sort();
const tokenOf = (folder, name) => /BREAKEVEN_TOKEN=(\S+)/.exec(readFileSync(join(folder, name), 'utf8'))[1];
const ask = (server, path, token, body, type = 'application/octet-stream') => getJson(`${server.url}/api/v1/jobs/${path}`, {
    method: 'POST', body, headers: { 'Content-Type': type, ...(token && { Authorization: `Bearer ${token}` }) },
});
const take = (server, run, token, attempt) => ask(server, `${run}/take`, token, JSON.stringify({ attempt }), 'application/json');
/** A message of a worker, as bytes. */
const message = (type, json) => {
    const text = Buffer.from(JSON.stringify(json));
    const head = Buffer.alloc(5);
    head.writeUInt32LE(text.length);
    head[4] = type.charCodeAt(0);
    return Buffer.concat([head, text]);
};

test('a run of another machine is done there, and stored as one of this', async () => {
    await withHosts((folder, port) => ({ site: site(folder, port) }), async (server, folder) => {
        const { body } = await postRun(server, { ...workload('    return x.relu().sum()'), seconds: 0.05, host: 'site' });
        const run = await waitFor(server, body.id);
        assert.equal(run.status, 'done', JSON.stringify(run.error));
        assert.deepEqual([run.host, run.attempts, Object.keys(run.report.modes)], ['site', 1, ['eager', 'static', 'dynamic']]);
        await until(() => readFileSync(join(folder, scripts(folder)[0].replace('.sh', '.out')), 'utf8') === 'run 1: done\n', 'the end of the process there');
        const list = await hosts(server);
        assert.deepEqual(list.map((h) => [h.name, h.executor, h.waiting, h.handed, h.running]), [['local', 'local', 0, 0, 0], ['site', 'command', 0, 0, 0]]);
        const here = await postRun(server, { ...workload('    return x'), host: 'local' });
        assert.equal((await waitFor(server, here.body.id)).host, '');
        const nobody = await postRun(server, { ...workload('    return x'), host: 'nope' });
        assert.equal(nobody.status, 400);
        assert.match(nobody.body.error.message, /host 'nope' is none of this server's/);
    });
});

test('a run that is cancelled ends its process there, and one whose job dies is begun three times', async () => {
    await withHosts((folder, port) => ({ site: site(folder, port), broken: site(folder, port, { program: '/bin/false' }) }), async (server, folder) => {
        const long = await postRun(server, { ...workload('    return x'), source: FOREVER, host: 'site' });
        const dies = await postRun(server, { ...workload('    return x'), host: 'broken' });
        await waitFor(server, long.body.id, ['running']);
        const pid = () => Number(readFileSync(join(folder, readdirSync(folder).find((name) => name.endsWith('.pid'))), 'utf8'));
        await fetch(`${server.url}/api/v1/runs/${long.body.id}`, { method: 'DELETE' });
        assert.equal((await waitFor(server, long.body.id)).status, 'cancelled');
        await until(() => !existsSync(`/proc/${pid()}`), 'the end of its process');
        const run = await waitFor(server, dies.body.id);
        assert.equal(run.status, 'failed');
        assert.match(run.error.message, /host broken: three jobs ended without a report, the last: ended/);
    });
});

test('only who was handed a run may post of it, and goes on where it was', async () => {
    await withHosts((folder, port) => ({ site: site(folder, port, { begin: false }) }), async (server, folder, args) => {
        for (let i = 0; i < 2; i++) await postRun(server, { ...workload('    return x'), host: 'site' });
        await until(() => scripts(folder).length === 2, 'two scripts');
        const tokens = Object.fromEntries(scripts(folder).map((name) => [Number(/set -- (\d+)/.exec(readFileSync(join(folder, name), 'utf8'))[1]), tokenOf(folder, name)]));
        for (const [run, token, attempt, status] of [[1, undefined, 'a'.repeat(8), 401], [1, tokens[2], 'a'.repeat(8), 401], [1, `bj_${'0'.repeat(64)}`, 'a'.repeat(8), 401],
            [1, tokens[1], 'short', 400], [1, tokens[1], 'with-a-dash', 400], [1, tokens[1], 'first0000', 200], [1, tokens[1], 'first0000', 200]]) {
            assert.equal((await take(server, run, token, attempt)).status, status, `${run} ${attempt}`);
        }
        assert.equal((await getJson(`${server.url}/api/v1/runs/1`)).body.status, 'running');
        const bytes = message('P', { share: 0.25, what: 'half of half', left_s: 3 });
        const post = (attempt, at, body) => ask(server, `1/messages?attempt=${attempt}&at=${at}`, tokens[1], body);
        assert.deepEqual((await post('first0000', 0, bytes.subarray(0, 9))).body, { received: 9, ended: false, status: 'running' });
        assert.equal((await post('first0000', 0, bytes)).body.received, 9, 'what is there is not taken again');
        assert.equal((await post('first0000', 9, bytes.subarray(9))).body.received, bytes.length);
        const { body: shown } = await getJson(`${server.url}/api/v1/runs/1`);
        assert.deepEqual([shown.progress, shown.what], [0.25, 'half of half']);
        // another process: the first is told that nothing is wanted of it
        assert.equal((await take(server, 1, tokens[1], 'second000')).status, 200);
        assert.equal((await post('first0000', bytes.length, bytes)).body.ended, true);
        assert.equal((await post('second000', 0, bytes)).body.received, bytes.length);
        await server.stop({ keep: true });
        const next = await startServer({ folder, args });
        try {
            const again = (at, body) => ask(next, `1/messages?attempt=second000&at=${at}`, tokens[1], body);
            assert.equal((await again(bytes.length, bytes)).body.received, 0, 'a server that was started again has nothing');
            const failed = await again(0, Buffer.concat([bytes, message('E', { code: 'program', message: 'it would not', line: 3, column: 1 }), message('E', { code: 'worker', message: 'late' })]));
            assert.deepEqual([failed.body.ended, failed.body.status], [true, 'failed']);
            const { body: end } = await getJson(`${next.url}/api/v1/runs/1`);
            assert.deepEqual([end.status, end.error.message, end.error.line, end.attempts], ['failed', 'it would not', 3, 2]);
            assert.ok([401, 409].includes((await take(next, 1, tokens[1], 'third0000')).status));
            await fetch(`${next.url}/api/v1/runs/2`, { method: 'DELETE' });
            await until(() => readdirSync(folder).some((name) => name.endsWith('.cancelled')), 'the end of a job that waits');
        } finally {
            await next.stop();
        }
    });
});

test('a file of hosts that is none is refused at the start, and says where', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'breakeven-hosts-'));
    const file = join(folder, 'hosts.json');
    const good = site(folder, 1);
    const cases = [
        ['{"hosts": {', /line 1: /], [{ 'a b': good }, /'a b' is no name of a host/], [{ local: good }, /'local' is no name of a host/],
        [{ x: { ...good, executor: 'ssh' } }, /executor must be slurm or command, not 'ssh'/], [{ x: { ...good, partion: 'gpu' } }, /x has no field 'partion'/],
        [{ x: { ...good, server: 'myhost' } }, /server must be an address/], [{ x: { ...good, submit: ['sbatch'] } }, /submit must have \{script\}/],
        [{ x: { ...good, cancel: undefined } }, /executor command needs cancel/], [{ x: { ...good, gres: 'gpu:1' } }, /are of executor slurm/],
        [{ x: { executor: 'slurm', server: good.server, options: ['nice'] } }, /options\[0\] is no option of sbatch/], [{ x: { ...good, most: 0 } }, /most must be 1 to 1000/],
    ];
    for (const [text, what] of cases) {
        writeFileSync(file, typeof text === 'string' ? text : JSON.stringify({ hosts: text }));
        const end = spawnSync(binary, ['serve', '--listen', '127.0.0.1:0', '--db', join(folder, 'store.db'), '--hosts', file], { encoding: 'utf8', timeout: 60000 });
        assert.equal(end.status, 1, `${JSON.stringify(text)}: ${end.stderr}`);
        assert.match(end.stderr, what);
    }
    await rm(folder, { recursive: true, force: true });
});
