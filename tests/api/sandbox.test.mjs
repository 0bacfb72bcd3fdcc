// tests/api/sandbox.test.mjs -- what a worker of a real server has, and has not; what commands keep.
//
// What it cannot do is tried in machine code by tests/test_server_sandbox.c.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FOREVER, binary, getJson, kernelHas, postRun, randn, startServer, until, waitFor, workload } from './harness.mjs';

const status = (pid) => Object.fromEntries(readFileSync(`/proc/${pid}/status`, 'utf8').split('\n').map((line) => line.split(':\t')));
const children = (pid) => spawnSync('pgrep', ['-P', String(pid)]).stdout.toString().trim().split('\n').filter(Boolean).map(Number);

test('a worker has no capabilities, no secrets and no network, and system calls by a list', async () => {
    process.env.SECRET_OF_THE_OPERATOR = 'do not tell';
    const server = await startServer();
    delete process.env.SECRET_OF_THE_OPERATOR;
    try {
        const { body: { sandbox } } = await getJson(`${server.url}/healthz?full=1`);
        assert.deepEqual({ landlock: sandbox.landlock, seccomp: sandbox.seccomp }, kernelHas());
        // Whether it has one of its own is up to the system (tests/test_server_cgroup.c): what it says is so.
        assert.equal(sandbox.groups, /\/breakeven-server$/m.test(readFileSync(`/proc/${server.child.pid}/cgroup`, 'utf8')));
        assert.match(server.log(), sandbox.lacks ? new RegExp(`let them have no ${sandbox.lacks}`) : /workers are confined by Landlock/);
        const { body } = await postRun(server, { name: 'forever', source: FOREVER, calls: [[randn(2)]], modes: ['eager'] });
        const worker = await until(() => children(server.child.pid)[0], 'a worker');
        // It says what it does once it has begun, and it is confined before that.
        await until(async () => (await getJson(`${server.url}/api/v1/runs/${body.id}`)).body.what !== 'starting a worker', 'its first word');
        const has = status(worker);
        for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapAmb']) assert.match(has[set], /^0+$/, set);
        assert.equal(sandbox.groups, readFileSync(`/proc/${worker}/cgroup`, 'utf8').includes(`/breakeven-${worker}\n`));
        assert.equal(has.NoNewPrivs, '1');
        assert.equal(has.Seccomp, sandbox.seccomp ? '2' : '0');
        const environment = readFileSync(`/proc/${worker}/environ`, 'utf8');
        assert.match(environment, /TMPDIR=/);
        assert.doesNotMatch(environment, /SECRET_OF_THE_OPERATOR/);
        if (sandbox.network)
            assert.notEqual(readlinkSync(`/proc/${worker}/ns/net`), readlinkSync(`/proc/${server.child.pid}/ns/net`));
        const [compiler] = children(worker);
        assert.equal(status(compiler).NoNewPrivs, '1', 'the process that compiles');
        assert.match(status(compiler).CapEff, /^0+$/);
        await getJson(`${server.url}/api/v1/runs/${body.id}`, { method: 'DELETE' });
        await waitFor(server, body.id);
        await until(() => children(worker).length === 0, 'the end of what it had started');
    } finally {
        await server.stop();
    }
});

test('what a worker compiles is in the cache, as it was compiled', async () => {
    const server = await startServer();
    try {
        const { body } = await postRun(server, workload('    return torch.sin(x) * 2 + x', { seconds: 0.01 }));
        const run = await waitFor(server, body.id);
        assert.equal(run.status, 'done', JSON.stringify(run.error));
        assert.match(run.environment.compiler, /gcc|cc/);
        const files = readdirSync(join(server.home, 'cache'));
        assert.deepEqual(files.filter((f) => f.startsWith('.new')), []);
        assert.ok(files.some((f) => f.endsWith('.so')) && files.some((f) => f.endsWith('.ok')));
    } finally {
        await server.stop();
    }
});

test('a command confines itself too, and says so where it does not', () => {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-sandbox-'));
    const file = join(folder, 'm.json');
    try {
        writeFileSync(file, JSON.stringify(workload('    return torch.sin(x) * 2 + x')));
        for (const command of [['run', '--no-timing', '--cache', join(folder, 'cache')], ['explain']]) {
            const confined = spawnSync(binary, [...command, file, '--json']);
            assert.equal(confined.status, 0, confined.stderr.toString());
            assert.equal(confined.stderr.toString(), '');
            const free = spawnSync(binary, [...command, file, '--json', '--no-sandbox']);
            assert.equal(free.status, 0);
            assert.match(free.stderr.toString(), /--no-sandbox: the program may do all that you may do/);
        }
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
});
