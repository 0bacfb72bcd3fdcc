// tests/api/store.test.mjs -- the store as a file: backups while runs arrive, restored elsewhere; damage is found; space goes back; stores of
// every earlier schema are copied and brought up to date; kill -9 in the midst of each.  KILLS in the environment: how often
// (`make trial-kill-store`: 200).  SEED repeats a trial.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';

import { binary, getJson, postLongTrace, postRun, sleep, startServer, waitFor, workload } from './harness.mjs';

const KILLS = Number(process.env.KILLS ?? 8);
const SEED = Number(process.env.SEED ?? Date.now() % 1e6);
const folder = mkdtempSync(join(tmpdir(), 'breakeven-store-'));
const at = (name) => join(folder, name);
const command = (...args) => spawnSync(binary, args, { encoding: 'utf8' });
const works = (...args) => {
    const done = command(...args, '--json');
    assert.equal(done.status, 0, `${args.join(' ')}: ${done.stdout}${done.stderr}`);
    return JSON.parse(done.stdout);
};
const python = (program, ...args) => execFileSync('python3', ['-c', `import json, sys; sys.path.insert(0, "tests/api"); sys.dont_write_bytecode = True; import old_store, sqlite3\n${program}`, ...args], { encoding: 'utf8' }).trim();
const quick = { ...workload('    return x * 2'), seconds: 0.01, modes: ['eager', 'static'], backend: 'interp' };

/** Numbers from 0 to 1 that a seed repeats. */
let state = SEED >>> 0;
function draw() {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
}

let server;
before(async () => {
    server = await startServer();
});
after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
});
const api = (path, options) => getJson(`${server.url}/api/v1${path}`, options);
const storeOf = (s) => s.store;

/** All that the API says of the runs that have ended. */
async function reports(of, ids) {
    const out = [];
    for (const id of ids) {
        const { status, body } = await getJson(`${of.url}/api/v1/runs/${id}`);
        assert.equal(status, 200);
        out.push(body);
    }
    return out;
}

/** Bytes as a file that programs read: its id. */
async function postFile(bytes) {
    const { body } = await api(`/files?bytes=${bytes.length}`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: bytes });
    assert.ok(body.id, JSON.stringify(body));
    return body.id.replace('sha256:', '');
}

test('a backup that is made while runs arrive gives equal reports elsewhere, and the files of programs', async () => {
    const ids = [await postLongTrace(server, 3000)];
    for (let i = 0; i < 3; i++) ids.push((await postRun(server, { ...quick, name: `run ${i}` })).body.id);
    for (const id of ids) assert.equal((await waitFor(server, id)).status, 'done');
    const file = await postFile(Buffer.alloc(3 << 20, 7));
    let posting = true, more = 0;
    const client = (async () => {
        while (posting) if ((await postRun(server, { ...quick, name: 'meanwhile' })).status === 202) more++;
    })();
    await sleep(100);
    const said = await new Promise((done) => {
        const child = spawn(binary, ['backup', at('live'), '--db', storeOf(server), '--json']);
        let out = '';
        child.stdout.on('data', (bytes) => { out += bytes; });
        child.on('exit', (code) => { assert.equal(code, 0); done(JSON.parse(out)); });
    });
    posting = false;
    await client;
    assert.ok(more > 0 && said.tables.run_row >= ids.length);
    assert.deepEqual(said.files, { [file]: 3 << 20 });
    // SQLite reads it as it is.
    assert.equal(python('print(sqlite3.connect(sys.argv[1]).execute("PRAGMA integrity_check").fetchone()[0])', at('live')), 'ok');
    rmSync(`${at('live')}-wal`, { force: true });
    rmSync(`${at('live')}-shm`, { force: true });

    const home = mkdtempSync(join(tmpdir(), 'breakeven-elsewhere-'));
    works('restore', at('live'), '--db', join(home, 'store.db'));
    const elsewhere = await startServer({ folder: home });
    try {
        assert.deepEqual(await reports(elsewhere, ids), await reports(server, ids));
        assert.deepEqual((await getJson(`${elsewhere.url}/api/v1/files`)).body.files.map(({ id, bytes }) => [id, bytes]), [[`sha256:${file}`, 3 << 20]]);
        const window = async (s) => Buffer.from(await (await fetch(`${s.url}/api/v1/runs/${ids[0]}/timeline?px=200`)).arrayBuffer());
        assert.deepEqual(await window(elsewhere), await window(server));
    } finally {
        await elsewhere.stop();
    }
    const again = command('backup', at('live'), '--db', storeOf(server));
    assert.equal(again.status, 1);
    assert.match(again.stderr, /is there already; name another file/);
    const over = command('restore', at('live'), '--db', storeOf(server));
    assert.equal(over.status, 1);
    assert.match(over.stderr, /there is a store .* already/);
});

test('a backup of which one byte is another, or the end is missing, is refused, and nothing is made', () => {
    const whole = readFileSync(at('live'));
    const refused = (name, bytes, said) => {
        writeFileSync(at('damaged'), bytes);
        const done = command('restore', at('damaged'), '--db', at('none'));
        assert.equal(done.status, 1, name);
        assert.match(done.stderr, said, name);
        assert.deepEqual(readdirSync(folder).filter((f) => f.startsWith('none')), [], name);
    };
    const places = [0, 18, 100, whole.length - 1, whole.length - 2, whole.length - 80, whole.length - 104, whole.length - 200, ...Array.from({ length: 12 }, () => Math.floor(draw() * whole.length))];
    for (const place of places) {
        const bytes = Buffer.from(whole);
        bytes[place] ^= 1 << Math.floor(draw() * 8);
        refused(`byte ${place} of ${whole.length}`, bytes, /is no whole backup: .*; nothing was restored/);
    }
    for (const length of [0, 1, 50, 4096, whole.length - 1, whole.length - 105]) refused(`the first ${length} bytes`, whole.subarray(0, length), /is no whole backup/);
    refused('a byte more', Buffer.concat([whole, Buffer.from('x')]), /is no whole backup/);
    writeFileSync(at('none-wal'), 'changes of a store that is gone');
    const done = command('restore', at('live'), '--db', at('none'));
    assert.equal(done.status, 1);
    assert.match(done.stderr, /none-wal has changes of a store that is gone/);
    rmSync(at('none-wal'));
});

test('check names what is wrong: a page, a reference, what is packed, a hash, a file', () => {
    works('restore', at('live'), '--db', at('sound'));
    assert.deepEqual(works('check', '--db', at('sound')).problems, []);
    const wrong = (what, sql, said) => {
        for (const end of ['', '-wal', '-shm']) rmSync(at(`wrong${end}`), { force: true });
        copyFileSync(at('sound'), at('wrong'));
        python('db = sqlite3.connect(sys.argv[1]); db.execute("PRAGMA foreign_keys = OFF"); db.execute("PRAGMA writable_schema = ON"); db.executescript(sys.argv[2]); db.commit()', at('wrong'), sql);
        const done = command('check', '--db', at('wrong'));
        assert.equal(done.status, 1, what);
        assert.match(done.stdout, said, what);
        const backed = command('backup', at('of-wrong'), '--db', at('wrong'));
        assert.equal(backed.status, 1, what);
        assert.match(backed.stderr, /the store is damaged, and is not copied: .*`breakeven check`/);
        assert.ok(!existsSync(at('of-wrong')));
    };
    wrong('a reference', 'DELETE FROM run_row WHERE id = 2', /foreign_key_check: \w+ refers to no row of run/);
    wrong('what is packed', 'UPDATE report SET data = zeroblob(40), codec = 1 WHERE run = 2', /report of run 2: a stored report is damaged/);
    wrong('its length', 'UPDATE report SET bytes = -5, codec = 1 WHERE run = 3', /report of run 3: /);
    wrong('a hash', "UPDATE environment SET json = json || ' '", /environment 1: it has another hash/);
    wrong('a count', "UPDATE run_count SET n = n + 1 WHERE kind = 'all'", /run_count: all .* counts \d+ runs, and there are \d+; `breakeven vacuum` counts again/);
    works('vacuum', '--db', at('wrong'));
    assert.deepEqual(works('check', '--db', at('wrong')).problems, []);
    const [file] = readdirSync(`${at('sound')}.files`);
    writeFileSync(join(`${at('sound')}.files`, file), 'other bytes');
    const done = command('check', '--db', at('sound'));
    assert.equal(done.status, 1);
    assert.match(done.stdout, new RegExp(`file sha256:${file}: its SHA-256 is `));
    const page = Buffer.from(readFileSync(at('wrong')));
    page.fill(0xff, 3 * 4096, 4 * 4096);
    writeFileSync(at('wrong'), page);
    assert.equal(command('check', '--db', at('wrong')).status, 1);
    writeFileSync(at('text'), 'text '.repeat(2000));
    for (const [name, bytes] of [['no database', 'text '.repeat(2000)], ['empty', '']]) {
        writeFileSync(at('other'), bytes);
        const none = command('check', '--db', at('other'));
        assert.equal(none.status, 1, name);
        assert.match(none.stderr, /is no store of Breakeven/, name);
    }
    for (const words of [['check'], ['vacuum'], ['backup', at('of-none')]])
        for (const [path, why] of [[at('not-there'), /cannot open the database .*not-there: No such file or directory; name another with --db FILE/], [folder, /cannot open the database .*: Is a directory/]]) {
            const done = command(...words, '--db', path);
            assert.equal(done.status, 1);
            assert.match(done.stderr, why, words[0]);
        }
    const backed = command('backup', at('of-none'), '--db', at('text'));
    assert.deepEqual([backed.status, existsSync(at('of-none'))], [1, false]);
    assert.match(backed.stderr, /text is no store of Breakeven: file is not a database/);
});

test('vacuum gives space back while the server goes on', async () => {
    // Less than a server gives back by itself.
    python('db = sqlite3.connect(sys.argv[1], timeout=60); db.execute("CREATE TABLE t AS SELECT zeroblob(3000000)"); db.execute("DROP TABLE t"); db.commit()', storeOf(server));
    assert.ok(works('check', '--db', storeOf(server)).free_bytes > 2.9e6);
    const said = works('vacuum', '--db', storeOf(server));
    assert.ok(said.bytes_before - said.bytes > 2.9e6, JSON.stringify(said));
    assert.equal(works('check', '--db', storeOf(server)).free_bytes, 0);
    assert.equal((await postRun(server, quick)).status, 202);
    // One that another program wrote as a whole, without it.
    python('db = sqlite3.connect(sys.argv[1]); db.execute("PRAGMA journal_mode = DELETE"); db.execute("PRAGMA auto_vacuum = NONE"); db.execute("VACUUM"); db.execute("CREATE TABLE t AS SELECT zeroblob(1000000)"); db.execute("DROP TABLE t"); db.commit()', at('sound'));
    const alone = works('vacuum', '--db', at('sound'));
    assert.ok(alone.bytes_before - alone.bytes > 900000, JSON.stringify(alone));
});

const newest = readdirSync('db/migrations').length;
// Those around which tables are made and renamed; FULL=1 and trials: every one (tests/test_db_store.c opens a run of each).
const versions = Array.from({ length: newest - 1 }, (_, i) => i + 1).filter((v) => process.env.FULL || KILLS > 20 || [1, 6, 14, 17].includes(v) || v === newest - 1);
test('stores of every earlier schema are copied, and brought up to date without a loss', () => {
    const found = JSON.parse(python(`
import subprocess
binary, folder, newest = sys.argv[1], sys.argv[2], int(sys.argv[3])
run = lambda *args: json.loads(subprocess.run([binary, *args, "--json"], check=True, stdout=subprocess.PIPE).stdout)
out = []
for version in map(int, sys.argv[4:]):
    path = f"{folder}/old-{version}"
    old_store.make(version, path)
    before = old_store.dump(path)
    run("vacuum", "--db", path)
    after = run("check", "--db", path)
    copy = run("restore", f"{path}.before-{newest}", "--db", path + ".back")
    out.append([version, after["version"], copy["version"], old_store.lost(before, old_store.dump(path)), before == old_store.dump(path + ".back")])
print(json.dumps(out))
`, binary, folder, newest, ...versions));
    assert.deepEqual(found, versions.map((version) => [version, newest, version, [], true]));
});

test('a store that cannot be copied is left as it is', () => {
    python('old_store.make(3, sys.argv[1], 2000)', at('tight'));
    const done = spawnSync('bash', ['-c', 'ulimit -f 4000; trap "" XFSZ; exec "$@"', 'sh', binary, 'vacuum', '--db', at('tight')], { encoding: 'utf8' });
    assert.equal(done.status, 1);
    assert.match(done.stderr, /is of an earlier version, and is copied before it is brought up to date: /);
    assert.equal(works('check', '--db', at('tight')).version, 3);
});

// ---- kill -9 ----

/** Starts a command and ends it at a moment of its life that nobody chose; whether it had ended before. */
async function killed(args, most) {
    const child = spawn(binary, args, { stdio: 'ignore' });
    const ended = new Promise((done) => child.on('exit', (code, signal) => done(signal === null && code === 0)));
    await Promise.race([ended, sleep(draw() * most)]);
    child.kill('SIGKILL');
    return ended;
}
const timeOf = (args) => {
    const began = performance.now();
    works(...args);
    return performance.now() - began;
};

/** What is done to a store, and what must hold after it was ended in its midst. */
function attempts() {
    const store = storeOf(server);
    const lasts = { backup: timeOf(['backup', at('timed'), '--db', store]), restore: timeOf(['restore', at('timed'), '--db', at('timed-back')]) };
    python('old_store.make(4, sys.argv[1], 1500)', at('aged'));
    python('json.dump(old_store.dump(sys.argv[1]), open(sys.argv[2], "w"))', at('aged'), at('aged.json'));
    copyFileSync(at('aged'), at('aged-timed'));
    lasts.vacuum = timeOf(['vacuum', '--db', at('aged-timed')]);
    const whole = (backup, name) => {
        works('restore', backup, '--db', at(name));
        const said = works('check', '--db', at(name));
        for (const file of readdirSync(folder)) if (file.startsWith(name)) rmSync(at(file), { recursive: true });
        return said;
    };
    return [
        async () => { // a backup is whole or not there; the next one works
            const name = at('killed-backup');
            const done = await killed(['backup', name, '--db', store], lasts.backup * 1.2);
            if (existsSync(name)) whole(name, 'of-killed');
            else assert.ok(!done);
            rmSync(name, { force: true });
            assert.ok(works('backup', name, '--db', store).tables.run_row > 0);
            rmSync(name);
        },
        async () => { // a restored store is whole or not there; the next one works
            const done = await killed(['restore', at('timed'), '--db', at('killed-restore')], lasts.restore * 1.2);
            assert.ok(existsSync(at('killed-restore')) || !done);
            if (!existsSync(at('killed-restore'))) works('restore', at('timed'), '--db', at('killed-restore'));
            assert.ok(works('check', '--db', at('killed-restore')).ok);
            for (const file of readdirSync(folder)) if (file.startsWith('killed-restore')) rmSync(at(file), { recursive: true });
        },
        async () => { // a migration, with its copy, is done or not begun
            copyFileSync(at('aged'), at('killed-aged'));
            await killed(['vacuum', '--db', at('killed-aged')], lasts.vacuum * 1.2);
            const { version } = works('check', '--db', at('killed-aged'));
            assert.ok([4, newest].includes(version), `version ${version}`);
            if (existsSync(at(`killed-aged.before-${newest}`))) assert.equal(whole(at(`killed-aged.before-${newest}`), 'of-copy').version, 4);
            else assert.equal(version, 4);
            works('vacuum', '--db', at('killed-aged'));
            assert.equal(works('check', '--db', at('killed-aged')).version, newest);
            assert.equal(python('print(old_store.lost(json.load(open(sys.argv[2])), old_store.dump(sys.argv[1])))', at('killed-aged'), at('aged.json')), '[]');
            for (const file of readdirSync(folder)) if (file.startsWith('killed-aged')) rmSync(at(file), { recursive: true });
        },
        async () => { // space that is given back beside a server
            await killed(['vacuum', '--db', store], 60);
        },
    ];
}

test(`${KILLS} times kill -9 in a backup, a restore, a migration or vacuum beside a server that works, and of the server (seed ${SEED}): nothing acknowledged is lost`, async () => {
    const promised = new Set(), removed = new Set();
    const kinds = attempts();
    for (let i = 0; i < KILLS; i++) {
        let posting = true;
        const client = (async () => {
            while (posting) {
                try {
                    const { status, body } = await postRun(server, { ...quick, name: `promised ${promised.size}`, source: `${quick.source}\n# ${'x'.repeat(20000)}` });
                    if (status === 202) promised.add(body.id);
                    else if (status === 503 || status === 429) await sleep(20); // it has enough
                    const [first] = promised;
                    if (promised.size > 40 && (await api(`/runs/${first}`, { method: 'DELETE' })).status === 200) {
                        promised.delete(first);
                        removed.add(first);
                    }
                } catch (error) { // it was ended; what it had not answered was not promised
                    if (!/fetch failed|ECONN|other side closed|terminated/.test(`${error} ${error.cause}`)) throw error;
                    await sleep(5);
                }
            }
        })();
        await kinds[i % kinds.length]();
        if (draw() < 0.3) {
            await server.stop({ signal: 'SIGKILL', keep: true });
            posting = false;
            await client;
            server = await startServer({ folder: server.home });
        }
        posting = false;
        await client;
        assert.deepEqual(works('check', '--db', storeOf(server)).problems, []);
        const there = new Set(JSON.parse(python('print(json.dumps([id for id, in sqlite3.connect(sys.argv[1]).execute("SELECT id FROM run_row")]))', storeOf(server))));
        assert.deepEqual([...promised].filter((id) => !there.has(id)), []);
    }
    assert.ok(promised.size > 0);
});
