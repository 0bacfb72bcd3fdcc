// tests/api/tokens.test.mjs -- who may ask: tokens, their scopes and projects, browsers that sign in, proxies, who did what.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary, ofFile, postLongTrace, startServer, stoppedExport, storeIn, storeSql, until, waitFor, workload } from './harness.mjs';

let server;
const tokens = {};
const command = (...args) => spawnSync(binary, [...args, '--db', server.store], { encoding: 'utf8' });
const add = (name, ...args) => {
    const { status, stdout, stderr } = command('token', 'add', name, ...args);
    assert.equal(status, 0, stderr);
    return stdout.trim();
};
const ask = async (path, { token, method = 'GET', headers = {}, body, at = server } = {}) => {
    const response = await fetch(`${at.url}${path}`, {
        method, body: body && JSON.stringify(body),
        headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: /^[[{]/.test(text) ? JSON.parse(text) : null };
};
const quick = (extra = {}) => workload('    return x', { modes: ['eager'], backend: 'interp', ...extra });
const post = (token, extra, how = {}) => ask('/api/v1/runs', { token, method: 'POST', body: quick(extra), ...how });

before(async () => {
    server = await startServer({ args: ['--trust-proxy', '127.0.0.1', '--user-header', 'X-Forwarded-User', '--admin-user', 'root@example.org'] });
    for (const scope of ['read', 'submit', 'admin']) tokens[scope] = add(`${scope}-token`, '--scope', scope);
    tokens.bound = add('team', '--scope', 'submit', '--project', 'vision', '--expires', '30');
});
after(async () => { await server.stop(); });

test('a token is shown once and kept as a hash; the store is its owner\'s alone', () => {
    for (const token of Object.values(tokens)) assert.match(token, /^bk_[0-9a-f]{64}$/);
    assert.equal(new Set(Object.values(tokens)).size, 4);
    const kept = ofFile.skip ? [] : ['store.db', 'store.db-wal'].map((name) => `${server.home}/${name}`);
    for (const file of kept) assert.equal(statSync(file).mode & 0o777, 0o600, file);
    const texts = [storeSql(server.store, 'SELECT id, name, hash FROM token'), ...kept.map((file) => readFileSync(file, 'latin1'))];
    for (const text of texts) for (const token of Object.values(tokens)) assert.ok(!text.includes(token.slice(3)));
    const list = command('token', 'list').stdout;
    assert.match(list, /^team +submit +vision +\d{4}-/m);
    assert.ok(!list.includes('bk_'));
});

test('wrong words and flags of token are refused', () => {
    for (const args of [[], ['add'], ['add', 'x'], ['add', 'x', '--scope', 'all'], ['add', 'a b', '--scope', 'read'], ['list', 'x'], ['revoke'], ['take', 'x'],
        ['add', 'x', '--scope', 'read', '--expires', '0'], ['add', 'x', '--scope', 'read', '--expires', '2020-01-01'], ['revoke', 'x', '--scope', 'read'], ['add', 'x\ny', '--scope', 'read']])
        assert.equal(command('token', ...args).status, 2, JSON.stringify(args));
    const twice = command('token', 'add', 'team', '--scope', 'admin');
    assert.equal(twice.status, 1);
    assert.match(twice.stderr, /there is a token 'team', or was/);
});

test('nobody without a token gets more than the page, its documentation and the health', async () => {
    const { paths } = (await ask('/api/v1/openapi.json')).body;
    let guarded = 0;
    for (const [path, methods] of Object.entries(paths)) {
        for (const [method, { 'x-scope': scope }] of Object.entries(methods)) {
            const url = path.replace(/\{\w+\}/g, '1');
            const answer = await ask(url, { method: method.toUpperCase(), headers: { 'Content-Type': 'application/json' } });
            if (scope === 'open') {
                assert.ok(answer.status !== 403 && (answer.status !== 401 || url === '/api/v1/session'), `${method} ${url}`);
                continue;
            }
            guarded++;
            assert.equal(answer.status, 401, `${method} ${url}`);
            assert.match(answer.headers.get('www-authenticate'), /^Bearer/);
            assert.equal(answer.body.error.code, 'unauthorized');
        }
    }
    assert.ok(guarded > 30);
    assert.equal((await ask('/runs')).status, 200);
    assert.equal((await ask('/healthz')).body.status, 'ok');
});

test('a scope may what those before it may, and no more', async () => {
    assert.equal((await post(tokens.read)).status, 403);
    const { status, body } = await post(tokens.submit);
    assert.equal(status, 202);
    const done = (id) => until(async () => {
        const got = (await ask(`/api/v1/runs/${id}`, { token: tokens.read })).body;
        return got.status === 'done' && got;
    }, `the end of run ${id}`);
    const run = await done(body.id);
    assert.equal(run.author, 'submit-token');
    assert.equal((await ask('/api/v1/audit', { token: tokens.submit })).status, 403);
    const note = await ask(`/api/v1/runs/${body.id}`, { token: tokens.admin, method: 'PATCH', body: { note: 'seen' } });
    assert.deepEqual([note.body.note, note.body.note_by, note.body.author], ['seen', 'admin-token', 'submit-token']);
    const other = (await post(tokens.admin)).body.id;
    await done(other); // what is removed as it ends is told to ask again
    assert.equal((await ask(`/api/v1/runs/${other}`, { token: tokens.submit, method: 'DELETE' })).status, 403, 'another\'s');
    assert.equal((await ask(`/api/v1/runs/${body.id}`, { token: tokens.submit, method: 'DELETE' })).status, 200, 'its own');
    assert.equal((await ask(`/api/v1/runs/${other}`, { token: tokens.admin, method: 'DELETE' })).status, 200);
});

test('who asked for an export, or an admin, cancels it', async () => {
    const of = (token) => ({ Authorization: `Bearer ${token}` });
    const run = await postLongTrace(server, 100000, of(tokens.submit));
    for (const [who, scope] of [[tokens.read, 'read'], [tokens.admin, 'admin']]) {
        const { answer } = await stoppedExport(server, run, of(tokens.read));
        const [{ id, author }] = (await ask(`/api/v1/runs/${run}/exports`, { token: tokens.submit })).body.exports;
        assert.equal(author, 'read-token');
        const path = `/api/v1/runs/${run}/exports/${id}`;
        const refused = await ask(path, { token: tokens.submit, method: 'DELETE' });
        assert.deepEqual([refused.status, refused.body.error.message], [403, `export ${id} is of 'read-token': a token for admin removes it`]);
        assert.equal((await ask(path, { token: tokens.bound, method: 'DELETE' })).status, 404, 'of another project');
        assert.equal((await ask(path, { token: who, method: 'DELETE' })).status, 200, scope);
        assert.equal((await answer).status, 409);
    }
});

test('a token of one project sees and posts that project alone', async () => {
    const mine = (await post(tokens.bound)).body.id, other = (await post(tokens.submit, { project: 'speech' })).body.id;
    assert.equal((await post(tokens.bound, { project: 'speech' })).status, 403);
    assert.equal((await post(tokens.bound, { project: 'vision' })).status, 202);
    const token = tokens.bound;
    assert.equal((await ask(`/api/v1/runs/${mine}`, { token })).body.project, 'vision');
    for (const [path, method] of [['', 'GET'], ['', 'DELETE'], ['/events', 'GET'], ['/export?format=json', 'GET'], ['/exports', 'GET'], ['/report.json', 'GET'], ['/timeline', 'GET']])
        assert.equal((await ask(`/api/v1/runs/${other}${path}`, { token, method })).status, 404, path);
    for (const query of ['', '?project=speech', '?q=test', '?facets=1']) {
        const { runs, facets } = (await ask(`/api/v1/runs${query}`, { token })).body;
        assert.deepEqual([...new Set(runs.map((r) => r.project))], ['vision'], query);
        if (facets) assert.deepEqual(facets.project.map(([name]) => name), ['vision']);
    }
    assert.equal((await ask(`/api/v1/compare?a=${mine}&b=${other}`, { token })).status, 404);
    assert.equal((await ask(`/api/v1/compare?a=${other}&b=${mine}`, { token })).status, 404);
    for (const query of [`b=${mine}&c=${other}`, `b=${mine}&b=${other}`, `${`b=${mine}&`.repeat(8)}b=${other}`])
        assert.equal((await ask(`/api/v1/compare?a=${mine}&${query}`, { token })).status, 404, query);
    const { points } = (await ask('/api/v1/history?workload=test&project=speech', { token })).body;
    assert.ok(points.every((p) => p.project === 'vision' || p.run?.project === 'vision'), JSON.stringify(points[0]));
    for (const path of ['/metrics', '/api/v1/suites', '/api/v1/history', '/api/v1/files', '/api/v1/audit'])
        assert.equal((await ask(path, { token })).status, 403, path);
    const view = (token, project) => ask('/api/v1/views', { token, method: 'POST', body: { name: 'v', page: 'runs', query: {}, project } });
    const theirs = (await view(tokens.submit, 'speech')).body, ours = (await view(token)).body;
    assert.deepEqual([ours.project, (await view(token, 'speech')).status], ['vision', 403]);
    assert.deepEqual((await ask('/api/v1/views', { token })).body.views.map((v) => v.id), [ours.id]);
    for (const method of ['DELETE', 'PATCH']) assert.equal((await ask(`/api/v1/views/${theirs.id}`, { token, method, body: method === 'PATCH' ? { name: 'w' } : undefined })).status, 404);
    assert.equal((await ask(`/api/v1/runs?view=${theirs.id}`, { token })).status, 404);
    assert.equal((await ask(`/api/v1/views/${ours.id}`, { token: tokens.submit, method: 'DELETE' })).status, 403);
    const suite = await ask('/api/v1/suites', { token: tokens.submit, method: 'POST', body: { name: 's', project: 'speech', workloads: [quick()] } });
    assert.equal((await ask(`/api/v1/suites/${suite.body.id}`, { token })).status, 404);
    assert.equal((await ask('/api/v1/suites', { token, method: 'POST', body: { name: 's', project: 'speech', workloads: [quick()] } })).status, 403);
});

test('revoked at once, also for browsers that signed in with it; expired ones do not count', async () => {
    const token = add('gone', '--scope', 'read');
    const cookie = (await ask('/api/v1/session', { token, method: 'POST' })).headers.get('set-cookie').split(';')[0];
    assert.equal((await ask('/api/v1/runs', { token })).status, 200);
    assert.equal((await ask('/api/v1/runs', { headers: { Cookie: cookie } })).status, 200);
    assert.equal(command('token', 'revoke', 'gone').status, 0);
    assert.equal((await ask('/api/v1/runs', { token })).status, 401);
    assert.equal((await ask('/api/v1/runs', { headers: { Cookie: cookie } })).status, 401);
    assert.equal(command('token', 'revoke', 'gone').status, 1);
    assert.match(command('token', 'list').stdout, /^gone +read .*revoked$/m);
});

test('a browser signs in for a cookie that scripts do not see, and writes with a CSRF token', async () => {
    assert.equal((await ask('/api/v1/session', { method: 'POST' })).status, 401);
    const begun = await ask('/api/v1/session', { token: tokens.submit, method: 'POST' });
    assert.equal(begun.body.user, 'submit-token');
    const set = begun.headers.get('set-cookie');
    assert.match(set, /^breakeven_session=bk_[0-9a-f]{64}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    const secure = await ask('/api/v1/session', { token: tokens.submit, method: 'POST', headers: { 'X-Forwarded-Proto': 'https' } });
    assert.match(secure.headers.get('set-cookie'), /; Secure$/);
    const Cookie = `other=1; ${set.split(';')[0]}`;
    const session = (await ask('/api/v1/session', { headers: { Cookie } })).body;
    assert.deepEqual([session.accounts, session.user, session.scope], [true, 'submit-token', 'submit']);
    assert.equal((await post(null, {}, { headers: { Cookie } })).status, 403, 'without');
    assert.equal((await post(null, {}, { headers: { Cookie, 'X-CSRF-Token': '0'.repeat(64) } })).status, 403, 'with another');
    assert.equal((await post(null, {}, { headers: { Cookie, 'X-CSRF-Token': session.csrf } })).status, 202);
    assert.equal((await post(null, {}, { headers: { Cookie, 'X-CSRF-Token': session.csrf, Origin: 'https://evil.example' } })).status, 403);
    assert.equal((await ask('/api/v1/session', { method: 'POST', headers: { Cookie } })).status, 401, 'a session does not make another');
    const out = await ask('/api/v1/session', { method: 'DELETE', headers: { Cookie } });
    assert.match(out.headers.get('set-cookie'), /^breakeven_session=; .*Max-Age=0/);
    assert.equal((await ask('/api/v1/runs', { headers: { Cookie } })).status, 401);
});

test('an address that tries tokens is slowed down; tokens that count go on', async () => {
    const from = { 'X-Forwarded-For': '203.0.113.9' };
    let status, headers;
    for (let i = 0; i < 40 && status !== 429; i++) ({ status, headers } = await ask('/api/v1/runs', { token: `bk_${String(i).padStart(64, '0')}`, headers: from }));
    assert.equal(status, 429);
    assert.equal(headers.get('retry-after'), '60');
    assert.equal((await ask('/api/v1/runs', { token: tokens.read, headers: from })).status, 200);
    assert.equal((await ask('/api/v1/runs', { token: 'bk_x', headers: { 'X-Forwarded-For': '203.0.113.77' } })).status, 401, 'another address');
    assert.equal((await ask('/api/v1/runs', { headers: { Authorization: 'Basic YTpi' } })).status, 401);
});

test('a trusted proxy names the user and the address; from elsewhere neither counts', async () => {
    const as = (user, address = '198.51.100.4') => ({ 'X-Forwarded-User': user, 'X-Forwarded-For': address });
    const { body: { id } } = await post(null, {}, { headers: as('ada@example.org') });
    assert.equal((await ask(`/api/v1/runs/${id}`, { token: tokens.read })).body.author, 'ada@example.org');
    assert.equal((await ask('/api/v1/audit', { headers: as('ada@example.org') })).status, 403);
    const { audit } = (await ask('/api/v1/audit', { headers: as('root@example.org', '192.0.2.1, 198.51.100.5, 127.0.0.1') })).body;
    const [last] = audit.filter((row) => row.who === 'ada@example.org');
    assert.deepEqual([last.address, last.route, last.id], ['198.51.100.4', 'POST /api/v1/runs', id]);
    assert.equal((await ask('/api/v1/audit', { headers: as('Root@example.org') })).status, 403, 'another user, to whom a case matters');
    assert.equal((await ask('/api/v1/runs', { headers: as('') })).status, 401);
    const closed = await startServer({ args: ['--trust-proxy', '192.0.2.200', '--user-header', 'X-Forwarded-User'] });
    assert.equal((await ask('/api/v1/runs', { at: closed, headers: as('ada@example.org') })).status, 401, 'this proxy is not trusted');
    await closed.stop();
    for (const args of [['--user-header', 'X-User'], ['--admin-user', 'x']]) assert.equal(spawnSync(binary, ['serve', ...args]).status, 2);
});

test('a user is named in one line of text, or nobody is: in answers, the audit log and the log of the server', async () => {
    const { port } = new URL(server.url);
    /** What fetch() would not send: bytes as they are, and a header in two lines. */
    const raw = (name, { method = 'GET', path = '/api/v1/session', body = '' } = {}) => new Promise((done, fail) => {
        let answer = '';
        const socket = net.connect(Number(port), '127.0.0.1', () => socket.write(Buffer.concat([
            Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nX-Forwarded-User: `),
            Buffer.from(name, 'latin1'), Buffer.from(`\r\n\r\n${body}`)])));
        socket.on('data', (bytes) => { answer += bytes.toString('utf8'); });
        socket.on('error', fail);
        socket.on('close', () => done({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]), body: answer.split('\r\n\r\n')[1] }));
    });
    const utf8 = (text) => Buffer.from(text).toString('latin1');
    const run = { method: 'POST', path: '/api/v1/runs', body: JSON.stringify(quick()) };
    const markup = `<img src=x data-owned onerror=owned=1>"'\\ \u00e4\u2713 %s%n`;
    for (const name of [markup, 'a "quoted" \'user\'', 'x'.repeat(199)]) {
        assert.equal(JSON.parse((await raw(utf8(name))).body).user, name);
        const { status, body } = await raw(utf8(name), run);
        assert.equal(status, 202, name);
        const { id } = JSON.parse(body);
        assert.equal((await ask(`/api/v1/runs/${id}`, { token: tokens.read })).body.author, name);
        assert.equal((await ask('/api/v1/audit', { token: tokens.admin })).body.audit.find((row) => row.id === id).who, name);
        assert.ok(command('audit', '--limit', '1').stdout.split('\n')[0].includes(name));
        assert.equal((await raw(utf8(name), { ...run, path: '/api/v1/nothing' })).status, 404);
    }
    for (const [name, why] of [['x'.repeat(200), 'too long'], ['x'.repeat(10000), 'much too long'], ['a\x01b', 'no text'], ['a\tb', 'no text'], ['a\x7fb', 'no text'], ['\xff\xfe', 'no UTF-8'],
        ['a\xc3', 'cut within a character'], ['\xed\xa0\x80', 'half of a pair'], ['a\r\n 2026-01-01 info a forged line', 'in two lines'], ['a\u0085b', 'a control character of Latin-1'], [utf8('a\u0085b'), 'a line of Unicode'], [utf8('a\u2028b'), 'a line of Unicode'], [utf8('\u202egro.elpmaxe@toor'), 'from right to left']]) {
        const { status, body } = await raw(name);
        assert.ok(status >= 400 && status < 500 || status === 200 && JSON.parse(body).user === '' && JSON.parse(body).scope === 'open', `${why}: ${status} ${body}`);
        assert.ok([400, 401, 413, 431].includes((await raw(name, run)).status), why);
    }
    assert.doesNotMatch(server.log(), /^2026-01-01|^ *info a forged line/m);
    assert.equal(server.log().split('\n').filter((line) => line && !/^\d{4}-\d\d-\d\d|listening on/.test(line)).length, 0, server.log());
});

test('who made, changed or removed what is told, newest first', async () => {
    const { id } = (await post(tokens.submit)).body;
    await ask(`/api/v1/runs/${id}`, { token: tokens.admin, method: 'PATCH', body: { note: 'x' } });
    await until(async () => (await ask(`/api/v1/runs/${id}`, { token: tokens.read })).body.status === 'done', 'the run');
    await ask(`/api/v1/runs/${id}`, { token: tokens.admin, method: 'DELETE' });
    await ask('/api/v1/runs', { token: tokens.read });
    const { audit } = (await ask('/api/v1/audit?limit=3', { token: tokens.admin })).body;
    assert.deepEqual(audit.map((row) => [row.who, row.route, row.id]), [
        ['admin-token', 'DELETE /api/v1/runs/{id}', id], ['admin-token', 'PATCH /api/v1/runs/{id}', id], ['submit-token', 'POST /api/v1/runs', id]]);
    const printed = command('audit', '--limit', '2').stdout.trim().split('\n');
    assert.equal(printed.length, 2);
    assert.match(printed[0], new RegExp(`admin-token +127\\.0\\.0\\.1 +DELETE /api/v1/runs/\\{id\\}  ${id}$`));
});

test('an address that others reach needs no --insecure where there are tokens', async () => {
    const db = storeIn(mkdtempSync(join(server.home, 'open')));
    assert.equal(spawnSync(binary, ['serve', '--listen', '0.0.0.0:0', '--db', db]).status, 1);
    assert.equal(spawnSync(binary, ['token', 'add', 'first', '--scope', 'admin', '--db', db]).status, 0);
    const open = await startServer({ db, args: ['--listen', '0.0.0.0:0'] });
    const { port } = new URL(open.url);
    assert.equal((await fetch(`http://127.0.0.1:${port}/api/v1/runs`)).status, 401);
    assert.doesNotMatch(open.log(), /WHOEVER/);
    await open.stop();
});

test('a server without accounts closes when the first token is made, and commands post with theirs', async () => {
    const fresh = await startServer();
    assert.equal((await ask('/api/v1/runs', { at: fresh })).status, 200);
    const made = spawnSync(binary, ['token', 'add', 'ci', '--scope', 'submit', '--db', fresh.store], { encoding: 'utf8' });
    await until(async () => (await ask('/api/v1/runs', { at: fresh })).status === 401, 'that the server has seen the token');
    const log = '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"device": 0, "stream": 7}}]}';
    const run = (env) => spawnSync(binary, ['import', '-', '--post', fresh.url], { input: log, encoding: 'utf8', env: { ...process.env, ...env } });
    const refused = run({ BREAKEVEN_TOKEN: '' });
    if (!/libcurl/.test(refused.stderr)) {
        assert.equal(refused.status, 1);
        assert.match(refused.stderr, /needs a token/);
        assert.equal(run({ BREAKEVEN_TOKEN: made.stdout.trim() }).status, 0);
        const { runs } = (await ask('/api/v1/runs', { at: fresh, token: made.stdout.trim() })).body;
        assert.equal(runs[0].author, 'ci');
    }
    await fresh.stop();
});
