// tests/api/proxy.test.mjs -- behind nginx with deploy/nginx.conf and behind Caddy with deploy/Caddyfile, as they are
// but for the port, the name and the certificate; at / and below a path.  `make trial-proxy` installs both; one that
// is not there is not tried.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { binary, quietPort, startServer, until, workload } from './harness.mjs';

const where = (name) => spawnSync('sh', ['-c', `PATH=$PATH:/usr/sbin command -v ${name}`]).stdout.toString().trim();

/** The file of a proxy, with what this machine has in place of what it says. @param {[string, string][]} pairs */
function ours(file, pairs) {
    let text = readFileSync(file, 'utf8');
    for (const [from, to] of pairs) {
        assert.ok(text.includes(from), `${file} has no ${from}`);
        text = text.replace(from, to);
    }
    return text;
}

/** Writes what each reads into a folder; its arguments. */
const proxies = {
    nginx({ folder, port, cert, key, target, base }) {
        const site = ours('deploy/nginx.conf', [['listen 443 ssl', `listen 127.0.0.1:${port} ssl`], ['server_name perf.example.org', 'server_name localhost'],
            ['/etc/ssl/certs/perf.example.org.pem', cert], ['/etc/ssl/private/perf.example.org.key', key], ['http://127.0.0.1:8080', target],
            ...(base ? [['\tlocation / {', `\tlocation ${base}/ {`]] : [])]);
        const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};\n`).join('');
        writeFileSync(`${folder}/nginx.conf`, `${process.getuid() === 0 ? 'user root;\n' : ''}daemon off;\nerror_log ${folder}/error.log;\npid ${folder}/pid;\n` +
            `worker_processes 1;\nevents {}\nhttp {\naccess_log off;\n${temp}${site}}\n`);
        return ['-p', folder, '-c', `${folder}/nginx.conf`];
    },
    caddy({ folder, port, cert, key, target, base }) {
        const site = ours('deploy/Caddyfile', [['\nperf.example.org {', `\nhttps://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}`],
            ['\treverse_proxy 127.0.0.1:8080', `\treverse_proxy ${base ? `${base}/* ` : ''}${target.replace('http://', '')}`]]);
        writeFileSync(`${folder}/Caddyfile`, `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n}\n${site}`);
        return ['run', '--adapter', 'caddyfile', '--config', `${folder}/Caddyfile`];
    },
};

/** A proxy before a server, with its files in a folder of its own. */
async function proxyTo(name, server, port, base) {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-proxy-'));
    const [cert, key] = ['cert.pem', 'key.pem'].map((f) => join(folder, f));
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', cert], { stdio: 'ignore' });
    const target = new URL(server.url).origin;
    const child = spawn(where(name), proxies[name]({ folder, port, cert, key, target, base }), { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: folder } });
    let log = '';
    child.stderr.on('data', (bytes) => { log += bytes; });
    const ended = new Promise((done) => child.on('exit', done));
    const ca = readFileSync(cert);
    const ask = (path, { method = 'GET', headers = {}, body, each } = {}) => new Promise((done, fail) => {
        const request = https.request({ host: '127.0.0.1', port, servername: 'localhost', ca, path, method, agent: false, headers: { Host: `localhost:${port}`, ...headers } }, (answer) => {
            let text = '';
            answer.on('data', (part) => { text += part; if (each?.(text)) { request.destroy(); done({ status: answer.statusCode, headers: answer.headers, text }); } });
            answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers, text }));
            answer.on('error', () => {});
        });
        request.on('error', fail);
        request.end(body);
    });
    await until(() => ask(`${base}/healthz`).then(() => true, () => child.exitCode !== null), name);
    assert.equal(child.exitCode, null, log);
    return { ask: (path, options) => ask(base + path, options), bare: ask, async stop() { child.kill('SIGTERM'); await ended; rmSync(folder, { recursive: true }); } };
}

for (const name of Object.keys(proxies)) for (const base of ['', '/breakeven']) test(`behind ${name}, at ${base}/`, { skip: where(name) ? false : `no ${name} here` }, async () => {
    const port = await quietPort();
    const server = await startServer({ args: [...(base ? ['--base-path', base] : []), '--trust-proxy', '127.0.0.1', '--allow-host', `localhost:${port}`, '--user-header', 'X-Forwarded-User', '--admin-user', 'ada'] });
    const db = server.store;
    const token = spawnSync(binary, ['token', 'add', 'ci', '--scope', 'submit', '--db', db], { encoding: 'utf8' }).stdout.match(/bk_\w+/)[0];
    const proxy = await proxyTo(name, server, port, base);
    const bearer = { Authorization: `Bearer ${token}` }, json = { 'Content-Type': 'application/json' };

    const page = await proxy.ask('/');
    assert.deepEqual([page.status, page.headers['strict-transport-security'], page.headers['x-frame-options']], [200, 'max-age=31536000', 'DENY']);
    for (const [, link] of page.text.matchAll(/(?:href|src)="(\/[^"]*)"/g)) assert.ok(link.startsWith(`${base}/`), link);
    assert.equal((await proxy.ask('/assets/js/main.js')).status, 200);
    // What is another site's does not come here.
    if (base) assert.ok(!(await proxy.bare('/runs')).text.includes('Breakeven'));
    assert.equal((await proxy.ask('/api/v1/runs')).status, 401);
    // Nobody names himself from outside.
    assert.equal((await proxy.ask('/api/v1/runs', { headers: { 'X-Forwarded-User': 'ada' } })).status, 401);
    const misled = await proxy.ask('/api/v1/runs', { headers: { ...bearer, Host: 'evil.example.org' } });
    assert.ok(!misled.text.includes('"runs"'), 'another name leads nowhere: Caddy answers it itself');
    assert.equal((await proxy.ask('/api/v1/runs', { headers: { ...bearer, Origin: 'https://evil.example.org' }, method: 'POST' })).status, 403);
    // A browser signs in over TLS, writes with its CSRF token, and is taken for the site itself.
    const origin = { Origin: `https://localhost:${port}` };
    const begun = await proxy.ask('/api/v1/session', { method: 'POST', headers: { ...bearer, ...origin } });
    const cookie = begun.headers['set-cookie'][0];
    assert.match(cookie, /HttpOnly/);
    assert.match(cookie, /; Secure/);
    assert.match(cookie, base ? /; Path=\/breakeven;/ : /; Path=\/;/);
    const session = { Cookie: cookie.split(';')[0] };
    const { csrf } = JSON.parse((await proxy.ask('/api/v1/session', { headers: session })).text);
    const post = (body, more = {}) => proxy.ask('/api/v1/runs', { method: 'POST', headers: { ...session, ...origin, ...json, 'X-CSRF-Token': csrf, ...more }, body });
    const posted = await post(JSON.stringify(workload('    return x', { backend: 'interp' })), { 'X-Forwarded-For': '6.6.6.6' });
    assert.equal(posted.status, 202, posted.text);
    const { id } = JSON.parse(posted.text);
    // The audit log has the address that the proxy saw.
    const audit = spawnSync(binary, ['audit', '--db', db], { encoding: 'utf8' }).stdout;
    assert.ok(audit.includes('127.0.0.1') && !audit.includes('6.6.6.6'), audit);
    // Events come while the run goes on; large bodies arrive, and larger ones do not.
    const events = await proxy.ask(`/api/v1/runs/${id}/events`, { headers: session, each: (text) => text.includes('\n\n') });
    assert.match(events.text, /^id: \d+\nevent: /);
    assert.equal((await post(JSON.stringify({ ...workload('    return x'), note: 'x'.repeat(7 << 20) }))).status, 400);
    const send = (bytes) => proxy.ask('/api/v1/imports', { method: 'POST', headers: { ...bearer, 'Content-Type': 'application/gzip' }, body: Buffer.alloc(bytes) });
    const most = await send(64 << 20);
    assert.match(most.text, /"error"/, 'the server reads as much as it takes itself');
    assert.notEqual(most.status, 413);
    // Caddy answers 502 where its request to the server fails first.
    const { status } = await send(65 << 20).catch(() => ({ status: 413 }));
    assert.ok(status === 413 || (name === 'caddy' && status === 502), `${status}`);
    await proxy.stop();
    await server.stop();
});
