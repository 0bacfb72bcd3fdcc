// tests/api/doctor.test.mjs -- `breakeven doctor` names each of ten faults that are planted, each alone, and what to do.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test, { after, before } from 'node:test';

import { binary as named, startServer } from './harness.mjs';

const binary = resolve(named);
const folder = mkdtempSync(join(tmpdir(), 'breakeven-doctor-'));
const at = (name) => join(folder, name);
after(() => rmSync(folder, { recursive: true, force: true }));

/** What it says, by name; its exit status is that of what it found.  `settings`: no flag says where, a file does. */
function doctor({ args = [], env = {}, prefix = [], settings = false } = {}) {
    const [command, ...rest] = [...prefix, binary, 'doctor', '--json', ...(settings ? [] : ['--listen', '127.0.0.1:0', '--db', at('store.db'), '--cache', at('cache')]), ...args];
    const done = spawnSync(command, rest, { encoding: 'utf8', env: { ...process.env, CUDA_HOME: '', ...env } });
    assert.match(done.stdout, /^\{/, `${done.stdout}${done.stderr}`);
    const said = JSON.parse(done.stdout);
    assert.equal(said.faults, said.checks.filter((c) => c.finding === 'fault').length);
    assert.equal(done.status, said.faults ? 1 : 0);
    return Object.fromEntries(said.checks.map((c) => [c.name, c]));
}

/** One fault more than without it: this one, with this remedy. */
function planted(name, options, said, remedy) {
    const found = doctor(options);
    assert.deepEqual(Object.values(found).filter((c) => c.finding === 'fault').map((c) => c.name).filter((n) => n === name || !usual.includes(n)), [name], JSON.stringify(found, null, 1));
    assert.match(found[name].said, said);
    assert.match(found[name].remedy, remedy);
}
let usual; // what this machine lacks without our help
before(() => {
    usual = Object.values(doctor()).filter((c) => c.finding === 'fault').map((c) => c.name);
});

/** A shell in a world of mounts of its own; null: this machine has none. */
const mounts = [['unshare', '-m', '--propagation', 'private'], ['unshare', '-rm', '--propagation', 'private']]
    .find((words) => spawnSync(words[0], [...words.slice(1), 'mount', '-t', 'tmpfs', 'tmpfs', folder]).status === 0);
const inMounts = (script) => [...mounts, 'sh', '-c', `${script} && exec "$@"`, 'sh'];
const noMounts = mounts ? false : 'no mounts of its own here';

test('what is not here and need not be is no fault', () => {
    const found = doctor();
    for (const name of ['port', 'disk', 'cache', 'clock']) assert.equal(found[name].finding, 'good', JSON.stringify(found[name]));
    assert.equal(found.schema.finding, 'none');
    const text = spawnSync(binary, ['doctor', '--listen', '127.0.0.1:0', '--db', at('store.db')], { encoding: 'utf8' }).stdout;
    assert.match(text, /^good {3}disk {10}\d+ MiB are free/m);
    assert.match(text, /\d+ faults?\n$/);
});

/** Where the unit has its settings, each of which is wrong here. */
const wrong = () => {
    writeFileSync(at('no-folder'), '');
    return `listen = 127.0.0.1:0\ndb = ${at('no-folder/store.db')}\ncache = ${at('no-folder/cache')}\ntorch-python = ${at('no-python')}\nfree-mib = 1000000000\n`;
};
const seen = (found) => {
    assert.match(found.settings.said, /^of .*breakeven\.conf, flags/);
    for (const [name, said] of [['disk', /no-folder: Not a directory/], ['cache', /no-folder\/cache: Not a directory/], ['torch', /no-python/]]) {
        assert.equal(found[name].finding, 'fault', JSON.stringify(found[name]));
        assert.match(found[name].said, said);
        assert.match(found[name].remedy, /./);
    }
};

test('it looks with the settings of the file, the environment and flags, as a server has them', () => {
    writeFileSync(at('breakeven.conf'), wrong());
    seen(doctor({ settings: true, args: ['--config', at('breakeven.conf')] }));
    seen(doctor({ settings: true, env: { BREAKEVEN_CONFIG: at('breakeven.conf') } }));
    const found = doctor({ settings: true, args: ['--config', at('breakeven.conf'), '--db', at('store.db')], env: { BREAKEVEN_CACHE: at('cache') } });
    assert.deepEqual([found.cache.finding, found.torch.finding], ['good', 'fault']);
    assert.match(found.disk.remedy, /--free-mib, 1000000000 MiB/);
});

test('of an installed server it reads /etc/breakeven.conf', { skip: noMounts }, () => {
    writeFileSync(at('breakeven.conf'), wrong());
    seen(doctor({ settings: true, prefix: inMounts(`cp -a /etc ${at('etc')} && cp ${at('breakeven.conf')} ${at('etc')} && mount --bind ${at('etc')} /etc`) }));
    rmSync(at('etc'), { recursive: true, force: true });
});

test('a setting that is wrong is named with its place', () => {
    for (const [line, said] of [['listn = 127.0.0.1:1', /breakeven\.conf:2: there is no such setting: listn\n$/], ['run-seconds = soon', /--run-seconds needs a whole number .*, not 'soon'\n.*--run-seconds is from .*breakeven\.conf:2\n$/],
        ['listen = here', /--listen takes HOST:PORT.*\n.*--listen is from .*breakeven\.conf:2\n$/], ['base-path = x', /--base-path takes a path.*\n.*--base-path is from .*breakeven\.conf:2\n$/],
        ['log-format = loud', /one of text, json is needed\n.*--log-format is from .*breakeven\.conf:2\n$/]])
        for (const command of ['doctor', 'config', 'serve']) {
            writeFileSync(at('breakeven.conf'), `# settings\n${line}\n`);
            const done = spawnSync(binary, [command, '--config', at('breakeven.conf')], { encoding: 'utf8' });
            assert.deepEqual([done.status, done.stdout], [2, ''], done.stderr);
            assert.match(done.stderr, said);
        }
});

test('a port that a server of Breakeven has is no fault', async () => {
    const server = await startServer();
    try {
        const found = doctor({ args: ['--listen', new URL(server.url).host] });
        assert.deepEqual([found.port.finding, found.port.said], ['good', `a server of Breakeven listens on ${new URL(server.url).host}`]);
    } finally {
        await server.stop();
    }
});

test('a cache that is not there is not made', () => {
    assert.equal(doctor({ args: ['--cache', at('new-cache')] }).cache.finding, 'good');
    assert.ok(!existsSync(at('new-cache')));
});

test('no compiler', () => planted('compiler', { env: { PATH: at('nowhere') } }, /compiler/, /apt-get install gcc/));

test('no permission to profile', { skip: noMounts }, () => {
    mkdirSync(at('driver/nvidia'), { recursive: true });
    writeFileSync(at('driver/nvidia/params'), 'ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n');
    planted('cupti', { prefix: [...inMounts(`mount --bind ${at('driver')} /proc/driver`), 'setpriv', '--bounding-set', '-sys_admin', '--inh-caps', '-sys_admin'] },
        /administrators alone profile/, /NVreg_RestrictProfilingToAdminUsers=0/);
});

test('a full disk', { skip: noMounts }, () => {
    mkdirSync(at('small'));
    planted('disk', { prefix: inMounts(`mount -t tmpfs -o size=64k tmpfs ${at('small')}`), args: ['--db', at('small/store.db')] }, /small: No space left on device/, /make room/);
});

test('a port that is taken', async () => {
    const other = createServer();
    await new Promise((done) => other.listen(0, '127.0.0.1', done));
    try {
        planted('port', { args: ['--listen', `127.0.0.1:${other.address().port}`] }, /is taken by another program/, /ss -ltnp/);
    } finally {
        other.close();
    }
});

test('a cache that is read-only', { skip: noMounts }, () => {
    mkdirSync(at('cache-ro'));
    planted('cache', { prefix: inMounts(`mount -t tmpfs -o ro tmpfs ${at('cache-ro')}`), args: ['--cache', at('cache-ro')] }, /cache-ro: Read-only file system/, /--cache DIR/);
    planted('cache', { prefix: inMounts(`mount -t tmpfs -o noexec tmpfs ${at('cache-ro')}`), args: ['--cache', at('cache-ro')] }, /noexec/, /--cache DIR/);
});

test('an old schema', () => {
    execFileSync('python3', ['-B', 'tests/api/old_store.py', '3', at('old.db')]);
    planted('schema', { args: ['--db', at('old.db')] }, /is of version 3, and this Breakeven reads version \d+/, /copied to .*old\.db\.before-N and brought up to date/);
});

test('a clock that is behind', () => {
    execFileSync('python3', ['-B', 'tests/api/old_store.py', String(execFileSync('ls', ['db/migrations'], { encoding: 'utf8' }).trim().split('\n').length), at('ahead.db')]);
    utimesSync(at('ahead.db'), new Date('2100-01-02'), new Date('2100-01-02'));
    planted('clock', { args: ['--db', at('ahead.db')] }, /the clock is wrong, or was: .*ahead\.db was written at 2100-01-02/, /timedatectl/);
});

test('a kernel without what confines workers', () => {
    // Its calls of Landlock and seccomp fail as in one that has neither.
    writeFileSync(at('old_kernel.py'), `
import ctypes, os, struct, sys
ENOSYS, LANDLOCK, SECCOMP = 38, 444, 317
code = [(0x20, 0, 0, 0), (0x15, 0, 1, LANDLOCK), (0x06, 0, 0, 0x00050000 | ENOSYS), (0x06, 0, 0, 0x7fff0000)]
text = b"".join(struct.pack("HBBI", *row) for row in code)
buffer = ctypes.create_string_buffer(text)
program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
assert libc.prctl(22, 2, ctypes.create_string_buffer(program), 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
`);
    planted('sandbox', { prefix: ['python3', at('old_kernel.py')] }, /no .*Landlock/, /serve who you trust alone/);
});

test('no headers of CUDA', () => {
    mkdirSync(at('cuda'));
    planted('cuda-headers', { env: { CUDA_HOME: at('cuda') } }, /cuda\/include\/cuda\.h is not there/, /CUDA_HOME/);
});

test('an npm that does not work', () => {
    mkdirSync(at('bin'));
    writeFileSync(at('bin/npm'), '#!/bin/sh\necho "Error: Cannot find module npm-cli.js"\nexit 1\n');
    chmodSync(at('bin/npm'), 0o755);
    planted('npm', { env: { PATH: `${at('bin')}:${process.env.PATH}` } }, /npm does not work: Error: Cannot find module/, /apt-get install nodejs npm/);
});
