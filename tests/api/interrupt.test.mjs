// tests/api/interrupt.test.mjs -- Ctrl-C ends a command with status 130, as shells expect; what a run belongs to.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FOREVER, binary as named, longSweep, sleep, workload } from './harness.mjs';

const binary = resolve(named);

let folder;
before(() => {
    folder = mkdtempSync(join(tmpdir(), 'breakeven-interrupt-'));
    writeFileSync(join(folder, 'long.json'), JSON.stringify(longSweep()));
    const git = (...args) => execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], { cwd: join(folder, 'repository') });
    mkdirSync(join(folder, 'repository'));
    git('init', '-q');
    for (const name of ['first', 'second']) {
        git('commit', '-q', '--allow-empty', '-m', name);
        git('tag', name);
    }
    writeFileSync(join(folder, 'endless.py'), FOREVER);
    writeFileSync(join(folder, 'slow-python'), '#!/bin/sh\nexec sleep 60\n');
    chmodSync(join(folder, 'slow-python'), 0o755);
    writeFileSync(join(folder, 'short.json'), JSON.stringify(workload('    return x.sum()', { modes: ['eager', 'static'], project: 'of the file' })));
});
after(() => rmSync(folder, { recursive: true }));

/** Starts a command in a world of its own, interrupts it as a terminal does once `ready`, and says how it ended. */
async function interrupted(args, { ready = () => sleep(1000), stdin = 'ignore' } = {}) {
    const tmp = mkdtempSync(join(folder, 'tmp-'));
    const child = spawn(binary, args, { stdio: [stdin, 'ignore', 'pipe'], detached: true, cwd: folder, env: { ...process.env, TMPDIR: tmp, XDG_CACHE_HOME: join(folder, 'cache') } });
    let said = '';
    child.stderr.on('data', (bytes) => said += bytes);
    const ended = new Promise((done) => child.on('exit', (code, signal) => done(signal ?? code)));
    await ready(() => child.exitCode !== null);
    process.kill(-child.pid, 'SIGINT');
    // What it started in groups of their own has its TMPDIR, which /proc tells.
    const how = await ended;
    for (let i = 0; i < 100 && processesOf(tmp).length > 0; i++) await sleep(50);
    return { how, said, files: readdirSync(tmp), processes: processesOf(tmp) };
}
const processesOf = (tmp) => readdirSync('/proc').flatMap((pid) => {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        return /^\d+ \(.*\) [ZX]/.test(stat) || !readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`TMPDIR=${tmp}\0`) ? [] : [stat + readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')];
    } catch {
        return [];
    }
});
/** Waits until a file is there. */
const appears = (name) => async (ended) => {
    while (!existsSync(join(folder, name)) && !ended()) await sleep(5);
};

const [first, second] = ['a', 'b'].map((c) => c.repeat(64));
/** A store with a file of programs beside it that takes long to read, and a backup that does. */
function longStore() {
    execFileSync(binary, ['token', 'list', '--db', join(folder, 'store.db')]);
    mkdirSync(join(folder, 'store.db.files'), { recursive: true });
    for (const name of [first, second]) truncateSync(openAndClose(join(folder, 'store.db.files', name)), 8 * 2 ** 30);
    const bytes = 8 * 2 ** 30;
    truncateSync(openAndClose(join(folder, 'backup')), bytes);
    appendFileSync(join(folder, 'backup'), `{}\nbreakeven-backup 1 ${String(bytes).padStart(20, '0')} ${first}\n`);
}
const openAndClose = (path) => (writeFileSync(path, ''), path);

// Those that notice it and say so.
const said = {
    run: [['run', 'long.json']],
    suite: [['suite', 'long.json']],
    watch: [['watch', 'long.json'], { says: /^/ }],
    gate: [['gate', 'long.json', '--baseline', 'none']],
    record: [['record', 'long', '--json', '--', 'sleep', '60']],
    bisect: [['bisect', 'first', 'second', '--repo', 'repository', '--', 'sleep', '60']],
    backup: [['backup', 'copy', '--db', 'store.db'], { ready: appears('copy.partial') }],
    restore: [['restore', 'backup', '--db', 'made.db'], { ready: appears('made.db.restoring') }],
    check: [['check', '--db', 'store.db']],
    vacuum: [['vacuum', '--db', 'store.db']],
};
for (const [name, [args, { says = /interrupted|cancelled|stopped/i, ...how } = {}]] of Object.entries(said))
    test(`${name} ends with 130 and says so, and nothing is left of it`, async () => {
        if (name === 'backup') longStore();
        const before = readdirSync(folder).filter((f) => !/^tmp-|^cache$|^store\.db/.test(f));
        const end = await interrupted(args, how);
        assert.equal(end.how, 130, end.said);
        assert.match(end.said, says);
        assert.deepEqual([end.files, end.processes], [[], []]);
        assert.deepEqual(readdirSync(folder).filter((f) => !/^tmp-|^cache$|^store\.db/.test(f)), before);
    });

// Those that only read or wait end by the signal itself, which a shell tells as 130 too.
for (const [args, how] of [
    [['import', '-'], { stdin: 'pipe' }], [['explain', 'endless.py', '--input', 'x=float32[4]']], [['hook', 'test', '1', '--db', 'store.db']],
    [['doctor', '--torch-python', './slow-python']],
])
    test(`${args[0]} ends by the signal`, async () => {
        if (args[0] === 'hook') execFileSync(binary, ['hook', 'add', 'https://example.org/', '--db', join(folder, 'store.db')], { stdio: 'ignore' });
        const end = await interrupted(args, how);
        assert.ok(end.how === 130 || end.how === 'SIGINT', `${end.how}: ${end.said}`);
        assert.deepEqual(end.processes, []);
    });

test('--project goes before what the workload says', () => {
    const project = (...args) => JSON.parse(execFileSync(binary, ['run', join(folder, 'short.json'), '--json', '--no-timing', ...args])).workload.project;
    assert.equal(project(), 'of the file');
    assert.equal(project('--project', 'mine'), 'mine');
});
