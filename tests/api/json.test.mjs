// tests/api/json.test.mjs -- every command that prints facts takes --json and prints one document of JSON, and nothing beside it.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-json-'));
const at = (name) => join(folder, name);
const store = ['--db', at('store.db')];
const program = ['tests/faults/programs/prints.py', '--input', 'x=float32[8,8]', '--backend', 'interp'];
const [fake, driver] = ['libcupti_fake.so', 'driver'].map((f) => join(dirname(binary), 'tests/cupti', f));
const cupti = existsSync(fake) && existsSync(driver);
const repository = at('repository');

/** Of each command what it is asked, and what its document has. */
const asked = {
    config: [[], (d) => assert.equal(d.settings.find((s) => s.name === 'drain-seconds').from, 'default')],
    run: [[...program, '--no-timing'], (d) => assert.equal(d.breakeven, 1)],
    suite: [['--backend', 'interp', '--modes', 'eager', '--seconds', '0.01', program[0]], (d) => assert.equal(d.workloads?.length ?? d.rows?.length, 1)],
    explain: [[program[0], '--input', 'x=float32[8,8]'], (d) => assert.ok(d.graphs)],
    ops: [['add'], (d) => assert.equal(d.ops[0].name, 'add')],
    backends: [[], (d) => assert.ok(d.backends.some((b) => b.name === 'interp'))],
    passes: [[], (d) => assert.ok(d.passes.length > 3)],
    trace: [['-o', at('trace'), '--cupti', fake, '--', driver, '0'], (d) => {
        assert.equal(d.bytes, readFileSync(d.file).length);
        assert.deepEqual([d.status, d.posted, d.run, d.processes.length, d.dropped], [0, false, null, 1, 0]);
        assert.ok(d.processes[0].kernels > 0);
    }],
    import: [['tests/import/kineto.json'], (d) => assert.equal(d.kind, 'kineto')],
    record: [['nothing', '--samples', '1', '--', 'true'], (d) => assert.deepEqual(d.results.map((r) => r.workload.name), ['nothing'])],
    export: [['1', '--format', 'csv', '-o', at('run.csv'), ...store], (d) => {
        const bytes = readFileSync(at('run.csv'));
        assert.deepEqual(d, { run: 1, format: 'csv', redacted: false, file: at('run.csv'), bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    }],
    query: [['1', 'SELECT 1 AS one', ...store], (d) => assert.deepEqual(d.rows, [[1]])],
    compare: [['1', '1', ...store], (d) => assert.ok(d.comparisons)],
    gate: [[program[0], '--modes', 'eager', '--baseline', 'none', ...store], (d) => assert.equal(d.rows.length, 1), 3],
    history: [[...store], (d) => assert.ok(d.workloads)],
    bisect: [['--resume', '--repo', repository], (d) => assert.ok(d.sentence)],
    show: [['1', ...store], (d) => assert.equal(d.breakeven, 1)],
    store: [['copy', store[1], at('copied.db')], (d) => assert.equal(d.tables.run_row, 1)],
    token: [['list', ...store], (d) => assert.deepEqual(d.tokens, [])],
    hook: [['list', ...store], (d) => assert.deepEqual(d.hooks, [])],
    audit: [[...store], (d) => assert.ok(d.audit.length > 0)],
    doctor: [['--listen', '127.0.0.1:0', ...store], (d) => assert.ok(d.checks.length > 10), null],
    backup: [[at('backup'), ...store], (d) => assert.equal(d.tables.run_row, 1)],
    bundle: [['write', at('bundle'), '--run', '1', ...store], (d) => assert.deepEqual(d.runs, [1])],
    restore: [[at('backup'), '--db', at('back.db')], (d) => assert.equal(d.tables.run_row, 1)],
    check: [[...store], (d) => assert.equal(d.ok, true)],
    vacuum: [[...store], (d) => assert.ok(d.bytes > 0)],
    runs: [[...store], (d) => assert.ok(d.total > 0 && d.runs[0].id > 0)],
    digest: [[...store], (d) => assert.ok(d.runs.done > 0)],
    prune: [['--dry-run', ...store], (d) => assert.equal(d.runs, 0)],
    version: [[], (d) => assert.match(d.version, /^\d+\.\d+\.\d+/)],
};
// They go on until somebody ends them, do what a server asks, or print a program of a shell.
const none = ['serve', 'watch', 'job', 'worker', 'confine', 'completion'];

let answers;
before(async () => {
    for (const cost of ['first', 'second']) {
        const git = (...args) => assert.equal(spawnSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], { cwd: repository }).status, 0, args[0]);
        if (cost === 'first') assert.equal(spawnSync('git', ['init', '-q', repository]).status, 0);
        writeFileSync(join(repository, 'cost'), cost === 'first' ? '10' : '20');
        git('add', '.');
        git('commit', '-q', '-m', cost);
        git('tag', cost);
    }
    assert.equal(spawnSync(binary, ['bisect', 'first', 'second', '--repo', repository, '--metric', 'printed', '--', 'cat', 'cost']).status, 0);
    const server = await startServer({ folder });
    try {
        const { body } = await postRun(server, workload('    return x * 2', { name: 'workload', backend: 'interp', modes: ['eager', 'static'], seconds: 0.01 }));
        assert.equal((await waitFor(server, body.id)).status, 'done');
        answers = (await getJson(`${server.url}/api/v1/audit`)).body;
    } finally {
        await server.stop({ keep: true });
    }
});
after(() => rmSync(folder, { recursive: true }));

test('every command is asked here', () => {
    const all = [...readFileSync('server/cli/commands.def', 'utf8').matchAll(/^COMMAND\((\w+)/gm)].map((row) => row[1]);
    assert.deepEqual(all, all.filter((name) => name in asked !== none.includes(name)));
});

for (const [name, [args, holds, status = 0]] of Object.entries(asked))
    test(`breakeven ${name} --json`, { skip: name === 'trace' && !cupti ? 'no headers of the CUDA Toolkit here' : false }, () => {
        const done = spawnSync(binary, [name, '--json', ...args], { encoding: 'utf8', env: { ...process.env, CUPTI_FAKE_KERNELS: '1000' } });
        if (status !== null) assert.equal(done.status, status, done.stdout + done.stderr);
        holds(JSON.parse(done.stdout));
    });

test('what the API has too is the same', () => {
    const done = spawnSync(binary, ['audit', '--json', ...store], { encoding: 'utf8' });
    assert.deepEqual(JSON.parse(done.stdout), answers);
});

test('tokens and webhooks that are made, tried and removed', () => {
    const said = (...args) => {
        const done = spawnSync(binary, [...args, '--json', ...store], { encoding: 'utf8' });
        assert.equal(done.status, 0, done.stderr);
        return JSON.parse(done.stdout);
    };
    const made = said('token', 'add', 'ci', '--scope', 'submit', '--project', 'p', '--expires', '30');
    assert.match(made.token, /^bk_[0-9a-f]{64}$/);
    assert.deepEqual([made.name, made.scope, made.project, made.state], ['ci', 'submit', 'p', 'counts']);
    assert.deepEqual(said('token', 'revoke', 'ci'), { name: 'ci', revoked: true });
    const [row] = said('token', 'list').tokens;
    assert.deepEqual([row.name, row.state, row.expires_ns === made.expires_ns, 'token' in row], ['ci', 'revoked', true, false]);
    const hook = said('hook', 'add', 'https://example.org/told', '--events', 'verdict,change');
    assert.match(hook.secret, /./);
    assert.deepEqual(said('hook', 'list').hooks.map((h) => [h.id, h.url]), [[hook.id, 'https://example.org/told']]);
    assert.deepEqual(said('hook', 'log', String(hook.id)), { deliveries: [] });
    assert.deepEqual(said('hook', 'remove', String(hook.id)), { id: hook.id, removed: true });
});

test('what of an export is not a file has no facts beside it', () => {
    const done = spawnSync(binary, ['export', '1', '--format', 'csv', '--json', ...store], { encoding: 'utf8' });
    assert.deepEqual([done.status, done.stdout], [2, '']);
    assert.match(done.stderr, /name one with -o/);
});
