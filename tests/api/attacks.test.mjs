// tests/api/attacks.test.mjs -- what a hostile client, archive or store tries: paths that lead out, files that grow, a
// database of another program.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createGzip } from 'node:zlib';

import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

let server;
const folder = mkdtempSync(join(tmpdir(), 'breakeven-attacks-'));
before(async () => { server = await startServer(); });
after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
});

/** As it stands: a client of the standard library would tidy the path. */
const raw = (path) => new Promise((done) => {
    const { port } = new URL(server.url);
    const socket = net.connect(Number(port), '127.0.0.1', () => socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`));
    let text = '';
    socket.on('data', (bytes) => { text += bytes.toString('latin1'); });
    socket.on('error', () => {});
    socket.on('close', () => done(text));
});

test('no path leads out of what the server has', async () => {
    writeFileSync(join(server.home, 'secret.txt'), 'a secret of this machine');
    const outs = ['..', '%2e%2e', '..%2f..', '..\\..', '%252e%252e', '....//....', '.%00.'];
    const bases = ['/', '/assets/', '/assets/examples/', '/docs/', '/runs/1/', '/api/v1/runs/1/', '/api/v1/files/', '/api/v1/suites/'];
    for (const base of bases)
        for (const out of outs)
            for (const end of ['etc/passwd', `${server.home}/secret.txt`, 'store.db']) {
                const answer = await raw(`${base}${out}/${out}/${out}/${out}/${out}/${out}/${end}`);
                assert.ok(/^HTTP\/1\.1 4\d\d /.test(answer), `${base}${out}: ${answer.slice(0, 100)}`);
                assert.ok(!/root:|a secret of|SQLite format/.test(answer), `${base}${out}`);
            }
    for (const id of ['sha256:..%2f..%2fsecret.txt', '..%2fsecret.txt', 'sha256:%2fetc%2fpasswd'])
        assert.match((await getJson(`${server.url}/api/v1/files/${id}`, { method: 'DELETE' })).body.error.code, /not-found|bad-request/, id);
    for (const upload of ['../secret.txt', '/etc/passwd', '0'.repeat(5000)]) {
        const { status } = await getJson(`${server.url}/api/v1/files?upload=${encodeURIComponent(upload)}&at=0&bytes=5`, {
            method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: 'hello' });
        assert.ok(status >= 400 && status < 500, `${upload.slice(0, 20)}: ${status}`);
    }
    assert.equal(readFileSync(join(server.home, 'secret.txt'), 'utf8'), 'a secret of this machine');
});

/** A .zip by Python: names that lead out, a link, and a file that grows a thousandfold. */
function zip(kind) {
    const file = join(folder, `${kind}.zip`);
    execFileSync('python3', ['-c', `
import sys, zipfile
kind, file = sys.argv[1:]
with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("model.py", "import torch\\ndef model(x):\\n    return x\\n")
    if kind == "bomb":
        z.writestr("big.py", "#" * (1 << 27))
    elif kind == "link":
        link = zipfile.ZipInfo("link.py"); link.external_attr = 0o120777 << 16
        z.writestr(link, "/etc/passwd")
    else:
        z.writestr({"up": "../../evil.py", "root": "/etc/evil.py", "drive": "C:\\\\evil.py", "inner": "a/../../evil.py"}[kind], "x = 1\\n")
`, kind, file]);
    return readFileSync(file);
}

test('archives that lead out, link or grow are refused, and nothing of them is kept', async () => {
    for (const kind of ['up', 'root', 'inner', 'drive', 'bomb', 'link']) {
        const { status, body } = await getJson(`${server.url}/api/v1/unpack`, { method: 'POST', headers: { 'Content-Type': 'application/zip' }, body: zip(kind) });
        if (kind === 'link') assert.ok(status >= 400 || !JSON.stringify(body).includes('root:'));
        else assert.ok(status >= 400 && status < 500, `${kind}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
    }
});

/** Of a byte again and again, after a beginning. */
const packed = (begin, byte, mib) => new Promise((done) => {
    const gzip = createGzip({ level: 9 }), parts = [];
    gzip.on('data', (part) => parts.push(part));
    gzip.on('end', () => done(Buffer.concat(parts)));
    gzip.write(begin);
    for (let i = 0; i < mib; i++) gzip.write(Buffer.alloc(1 << 20, byte));
    gzip.end();
});

test('a gzip that grows a thousandfold is read to its bound, in a process of its own', async () => {
    for (const [begin, byte] of [['', '\0'], ['{"traceEvents": [', ' '], ['{"traceEvents": [{"name": "', 'a'], ['[', '['], ['V0101 00:00:00.000000 1 a.py:1] {"x": "', 'b']]) {
        const body = await packed(begin, byte, process.env.FULL ? 1100 : 64);
        assert.ok(body.length < 8 << 20);
        const { status } = await getJson(`${server.url}/api/v1/imports`, { method: 'POST', headers: { 'Content-Type': 'application/gzip' }, body });
        assert.ok(status >= 400 && status < 500 || status === 201, `${begin}: ${status}`);
        const resident = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))[1];
        assert.ok(sanitized || resident < 600 << 10, `the server has ${resident} kB`);
        assert.equal((await getJson(`${server.url}/healthz`)).body.status, 'ok');
    }
});
const sanitized = /__[at]san_init/.test(readFileSync(binary, 'latin1'));

test('a database of another program, or one that was turned against us, is refused or served as it can be', async () => {
    const home = mkdtempSync(join(folder, 'store-'));
    const first = await startServer({ folder: home });
    await waitFor(first, (await postRun(first, workload('    return x', { backend: 'interp' }))).body.id);
    await first.stop({ keep: true });
    const store = join(home, 'store.db');
    const whole = join(home, 'whole.db');
    copyFileSync(store, whole);
    const sql = (text) => execFileSync('python3', ['-c', 'import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.executescript(sys.argv[2])\nc.close()', store, text]);
    const marker = join(home, 'written');
    for (const [name, change] of [
        ['a trigger', `CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT writefile('${marker}', 'x'); END;`],
        ['a trigger that loads', `CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT load_extension('${marker}'); END;`],
        ['a view in place of a table', 'PRAGMA foreign_keys = OFF; ALTER TABLE run RENAME TO was; CREATE VIEW run AS SELECT * FROM was;'],
        ['a schema of a later version', 'PRAGMA user_version = 9999;'],
        ['no tables', 'DROP TABLE IF EXISTS run_report; PRAGMA writable_schema = ON; DELETE FROM sqlite_master; PRAGMA writable_schema = OFF;'],
        ['rows that no server wrote', "UPDATE run_row SET created_ns = -9223372036854775807, attempts = 9223372036854775807, started_ns = 1, modes = '\\'; UPDATE run_workload SET json = '[';"],
        ['a report that claims to be large', 'UPDATE report SET codec = 1, bytes = 9000000000000000000;'],
        ['a report that is no report', "UPDATE report SET codec = 0, data = x'00ff00ff';"],
    ]) {
        copyFileSync(whole, store);
        try { sql(change); } catch { continue; } // this schema has no such place
        let server2;
        try { server2 = await startServer({ folder: home }); } catch (error) {
            assert.match(String(error), /server ended with 1: .*(database|store)/s, name);
            continue;
        }
        for (const path of ['/api/v1/runs', '/api/v1/runs/1', '/api/v1/runs/1/export?format=html', '/api/v1/history', '/metrics'])
            assert.ok((await fetch(server2.url + path)).status < 600, `${name}: ${path}`);
        await postRun(server2, workload('    return x', { backend: 'interp' }));
        await server2.stop({ keep: true });
        assert.equal(spawnSync('test', ['-e', marker]).status, 1, name);
    }
    for (const bytes of ['', 'SQLite format 3\0', 'x'.repeat(100000)]) {
        rmSync(`${store}-wal`, { force: true });
        writeFileSync(store, bytes);
        await startServer({ folder: home }).then((s) => s.stop({ keep: true }), (error) => assert.match(String(error), /server ended with 1: /));
    }
});
