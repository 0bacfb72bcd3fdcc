// tests/api/output.test.mjs -- a result that cannot be written is a failure, in every command.
import test, { after, before, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binary, postRun, startServer, waitFor, workload } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-output-'));
const store = ['--db', join(folder, 'store.db')];
const program = ['tests/faults/programs/prints.py', '--input', 'x=float32[8,8]'];
const repository = join(folder, 'repository');
for (const cost of ['first', 'second']) {
    const git = (...args) => assert.equal(spawnSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], { cwd: repository }).status, 0, args[0]);
    if (cost === 'first') assert.equal(spawnSync('git', ['init', '-q', repository]).status, 0);
    writeFileSync(join(repository, 'cost'), cost === 'first' ? '10' : '20');
    git('add', '.');
    git('commit', '-q', '-m', cost);
    git('tag', cost);
}
assert.equal(spawnSync(binary, ['bisect', 'first', 'second', '--repo', repository, '--metric', 'printed', '--', 'cat', 'cost']).status, 0);
const fresh = join(folder, 'fresh'); // what is made only where it is not there
const commands = [
    ['version'], ['--version'], ['--help'], ['import', '--help'], ['config'],
    ['ops'], ['ops', '--json'], ['ops', 'add'], ['backends'], ['backends', '--json'], ['passes'], ['passes', '--json'],
    ['import', 'tests/import/kineto.json'], ['import', '--json', 'tests/import/kineto.json'],
    ['import', 'tests/results/hyperfine.json', ...store], ['import', '--json', 'tests/results/hyperfine.json'],
    ['record', 'nothing', '--samples', '1', ...store, '--', 'true'],
    ['explain', 'web/examples/1_chain_sweep.json'], ['explain', ...program, '--json'], ['explain', ...program, '--graph'],
    ['run', ...program, '--backend', 'interp', '--no-timing'], ['run', ...program, '--backend', 'interp', '--no-timing', '--json'],
    ['watch', ...program, '--backend', 'interp', '--no-timing'],
    ['suite', '--backend', 'interp', '--modes', 'eager', '--seconds', '0.01', 'tests/faults/programs/prints.py'],
    ...['chrome', 'speedscope', 'csv', 'html', 'chrome_gz', 'dot', 'svg', 'json'].map((form) => ['export', '1', '--format', form, ...store]),
    ['export', '1', '--format', 'json', '--redact', ...store], ['export', '1', '--format', 'csv', '-o', '/dev/full', ...store],
    ['show', '1', ...store], ['show', '1', '--json', ...store],
    ['compare', '1', '1', ...store], ['compare', '1', '1', '--json', ...store],
    ['gate', 'tests/faults/programs/prints.py', '--modes', 'eager', '--baseline', 'none', ...store],
    ['query', '1', 'SELECT 1', ...store], ['query', '1', 'SELECT 1', '--json', ...store],
    ['history', ...store], ['history', 'workload', ...store], ['history', 'workload', '--json', ...store],
    ['bisect', '--resume', '--repo', repository],
    ...['bash', 'zsh', 'fish'].map((shell) => ['completion', shell]),
    ['audit', ...store], ['token', 'list', ...store], ['hook', 'list', ...store],
    ['doctor', '--listen', '127.0.0.1:0', ...store], ['doctor', '--listen', '127.0.0.1:0', '--json', ...store],
    ['check', ...store], ['check', '--json', ...store], ['vacuum', ...store], ['vacuum', '--json', ...store], ['digest', ...store], ['digest', '--json', ...store], ['runs', ...store], ['runs', '--json', ...store], ['prune', '--dry-run', ...store], ['prune', '--dry-run', '--json', ...store],
    ...[[], ['--json']].flatMap((json) => [['bundle', 'write', fresh, '--run', '1', ...json, ...store], ['bundle', 'read', join(folder, 'bundle'), '--db', fresh, ...json]]),
    ...[[], ['--json']].flatMap((json) => [['backup', fresh, ...json, ...store], ['store', 'copy', store[1], fresh, ...json], ['restore', join(folder, 'backup'), '--db', fresh, ...json]]),
];
// serve, worker, job and confine write no result; trace writes a file.
const others = ['serve', 'worker', 'job', 'confine', 'trace'];
const said = /^breakeven.*: the (result|export) could not be written: (No space left on device|Bad file descriptor)\n$/;

before(async () => {
    const server = await startServer({ folder });
    try {
        const { body } = await postRun(server, workload('    return x * 2', { name: 'workload', backend: 'interp', modes: ['eager', 'static'], seconds: 0.01 }));
        assert.equal((await waitFor(server, body.id)).status, 'done');
    } finally {
        await server.stop({ keep: true });
    }
    assert.equal(spawnSync(binary, ['backup', join(folder, 'backup'), ...store]).status, 0);
    assert.equal(spawnSync(binary, ['bundle', 'write', join(folder, 'bundle'), '--run', '1', ...store]).status, 0);
});
beforeEach(() => rmSync(fresh, { force: true }));
after(() => rmSync(folder, { recursive: true }));

test('every command that prints is tried here', () => {
    const all = [...readFileSync('server/cli/commands.def', 'utf8').matchAll(/^COMMAND\((\w+)/gm)].map((row) => row[1]);
    assert.deepEqual(all.filter((name) => !others.includes(name) && !commands.some((args) => args[0] === name)), []);
});

for (const args of commands) {
    test(`breakeven ${args.join(' ').replace(folder, '')} onto a full disk fails and says so, once`, () => {
        const full = openSync('/dev/full', 'w');
        const done = spawnSync(binary, args, { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
        closeSync(full);
        assert.equal(done.status, 1, done.stderr);
        assert.match(done.stderr.slice(done.stderr.lastIndexOf('breakeven')), said);
        assert.equal(done.stderr.split('could not be').length, 2);
    });
    // What is opened first has the number of a stream that is closed: a socket of the sandbox, the store.
    test(`breakeven ${args.join(' ').replace(folder, '')} without a standard output fails and says so, once`, { skip: args.includes('-o') }, () => {
        const done = spawnSync('sh', ['-c', 'exec "$@" >&-', 'sh', binary, ...args], { encoding: 'utf8' });
        assert.equal(done.status, 1, done.stderr);
        assert.match(done.stderr.slice(done.stderr.lastIndexOf('breakeven')), said);
        assert.equal(done.stderr.split('could not be').length, 2);
    });
}

test('a token that could not be shown is revoked', () => {
    const full = openSync('/dev/full', 'w');
    const done = spawnSync(binary, ['token', 'add', 'someone', '--scope', 'read', ...store], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
    closeSync(full);
    assert.equal(done.status, 1);
    assert.equal(done.stderr, 'breakeven token: the result could not be written: No space left on device; the token is revoked\n');
    assert.match(spawnSync(binary, ['token', 'list', ...store], { encoding: 'utf8' }).stdout, /someone .*revoked/);
});

const [fake, driver] = ['libcupti_fake.so', 'driver'].map((f) => join(dirname(binary), 'tests/cupti', f));
test('a trace onto a full disk fails and says so', { skip: existsSync(fake) && existsSync(driver) ? false : 'no headers of the CUDA Toolkit here' }, () => {
    const done = spawnSync(binary, ['trace', '-o', '/dev/full', '--cupti', fake, '--', driver, '0'], { encoding: 'utf8', env: { ...process.env, CUPTI_FAKE_KERNELS: '1000' } });
    assert.equal(done.status, 1, done.stderr);
    assert.match(done.stderr, /^breakeven trace: the timeline could not be written: No space left on device\n$/m);
});
