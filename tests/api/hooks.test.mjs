// tests/api/hooks.test.mjs -- webhooks: who is told of what, signed, tried again, kept, and sent to no address inside.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { binary, getJson, postRun, startServer, until, waitFor, workload } from './harness.mjs';
import { madeHistory } from './made_history.mjs';

const quick = { backend: 'interp', seconds: 0.1, threads: 1, modes: ['eager', 'static'] };
const body = '    x = x * 1.1\n    return x.sum()';
const inside = ['--hook-host', '127.0.0.1', '--hook-seconds', '1'];

/** A receiver: `got` has every request, `answer` says what the next are answered with. */
async function receiver() {
    const self = { got: [], answer: () => [200, 'ok'], secrets: {} };
    self.http = createServer(async (req, res) => {
        const parts = [];
        for await (const part of req) parts.push(part);
        const text = Buffer.concat(parts).toString();
        self.got.push({ path: req.url, headers: req.headers, text, json: JSON.parse(text) });
        const [status, said, headers] = self.answer(req);
        res.writeHead(status, headers).end(said);
    });
    await once(self.http.listen(0, '127.0.0.1'), 'listening');
    self.url = `http://127.0.0.1:${self.http.address().port}`;
    self.at = (path) => self.got.filter((g) => g.path === path);
    return self;
}

/** What web/docs/webhooks.md tells a receiver to do. */
function verified({ headers, text }, secret) {
    const [, t, given] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['breakeven-signature']);
    const made = createHmac('sha256', secret).update(`${t}.${text}`).digest();
    return timingSafeEqual(made, Buffer.from(given, 'hex')) && Math.abs(Date.now() / 1000 - t) < 300;
}

let server, to;
const api = (path, options) => getJson(`${server.url}/api/v1${path}`, options);
const send = (method, path, json) => api(path, { method, headers: { 'Content-Type': 'application/json' }, body: json === undefined ? undefined : JSON.stringify(json) });
const hook = async (path, fields = {}) => (await send('POST', '/hooks', { url: to.url + path, ...fields })).body;
const log = async (id) => (await api(`/hooks/${id}/deliveries`)).body.deliveries;
const ended = (id) => until(async () => (await log(id)).find((d) => d.state !== 'waiting'), `an end of a delivery of webhook ${id}`);

before(async () => {
    to = await receiver();
    server = await startServer({ args: inside });
});
after(async () => {
    to?.http.closeAllConnections();
    to?.http.close();
    await server?.stop();
});

test('a test comes signed, as one may check with the secret; the log says what came of it', async () => {
    const { id, secret } = await hook('/test');
    const { status, body: { delivery } } = await send('POST', `/hooks/${id}/test`, {});
    assert.equal(status, 202);
    const d = await ended(id);
    assert.deepEqual([d.id, d.event, d.state, d.tries, d.status, d.said], [delivery, 'test', 'delivered', 1, 200, '']);
    const [got] = to.at('/test');
    assert.deepEqual(got.json, { event: 'test' });
    assert.ok(verified(got, secret));
    assert.ok(!verified({ ...got, text: `${got.text} ` }, secret), 'another body has another signature');
    assert.ok(!verified(got, `${secret}x`));
    assert.deepEqual([got.headers['breakeven-event'], got.headers['breakeven-delivery'], got.headers['content-type']], ['test', String(delivery), 'application/json']);
    const { body: { hooks } } = await api('/hooks');
    const row = hooks.find((h) => h.id === id);
    assert.deepEqual([row.events, row.waiting, row.last.state, row.secret], [['change'], 0, 'delivered', undefined]);
    assert.ok(!JSON.stringify(hooks).includes(secret), 'a secret is shown once');
});

test('what is not taken is sent again, later each time, and is then delivered; 410 and a redirect end it', async () => {
    const { id } = await hook('/later');
    let n = 0;
    to.answer = (req) => req.url === '/later' && n++ < 2 ? [503, 'not\u0007 now'] : req.url === '/gone' ? [410, ''] : req.url === '/moved' ? [302, '', { Location: `${to.url}/elsewhere` }] : [204, ''];
    await send('POST', `/hooks/${id}/test`, {});
    const waiting = await until(async () => (await log(id)).find((d) => d.tries === 1), 'a first try');
    assert.deepEqual([waiting.state, waiting.status, waiting.said], ['waiting', 503, 'it was not taken: not  now']);
    assert.ok(waiting.due_ns > waiting.tried_ns);
    const last = await ended(id);
    assert.deepEqual([last.state, last.tries, last.status], ['delivered', 3, 204]);
    assert.equal(new Set(to.at('/later').map((g) => g.headers['breakeven-delivery'])).size, 1, 'one delivery, however often');
    for (const [path, status] of [['/gone', 410], ['/moved', 302]]) {
        const one = await hook(path);
        await send('POST', `/hooks/${one.id}/test`, {});
        const d = await ended(one.id);
        assert.deepEqual([d.state, d.tries, d.status], ['failed', 1, status]);
    }
    assert.equal(to.at('/elsewhere').length, 0, 'no redirect is followed');
});

test('a verdict that is another than before is told to those who want it, of their project', async () => {
    const [all, mine, others] = [await hook('/all', { events: 'verdict,change' }), await hook('/mine', { events: 'verdict', project: 'a' }), await hook('/others', { events: 'verdict', project: 'b' })];
    await madeHistory(server, workload(body, { ...quick, name: 'told', project: 'a' }), [false, false, true].map((wrong) => ({ edit: (r) => {
        r.break_even.static.verdict = 'FASTER';
        if (wrong) r.modes.static.agrees = false;
    } })));
    const d = await ended(all.id);
    assert.equal(d.event, 'verdict');
    const [got] = to.at('/all');
    assert.ok(verified(got, all.secret));
    assert.deepEqual([got.json.event, got.json.verdict, got.json.was, got.json.run.name], ['verdict', 'DISAGREES', 'FASTER', 'told']);
    assert.equal(got.json.page, `/compare?a=${got.json.before}&b=${got.json.run.id}`);
    await ended(mine.id);
    assert.equal(to.at('/mine').length, 1);
    assert.deepEqual(await log(others.id), []);
});

test('a change of runs that were imported is told at once; one that this server measured runs again first', async () => {
    const { id, secret } = await hook('/changes');
    await madeHistory(server, workload(body, { ...quick, name: 'imported' }), Array.from({ length: 12 }, (_, i) => ({ static: i >= 7 ? 1.4 : 1, commit: `c${i}` })));
    await ended(id);
    const got = to.at('/changes').find((g) => g.json.change.workload === 'imported');
    assert.ok(verified(got, secret));
    assert.deepEqual([got.json.change.verdict, got.json.again, got.json.page], ['SLOWER', null, '/history?workload=imported']);
    assert.equal(got.json.change.before.commit, 'c6');
    // Of runs that are measured here: breaks that came with a print, which any machine counts alike.
    const run = async (text, i) => waitFor(server, (await postRun(server, workload(text, { ...quick, seconds: 0.01, name: 'here', commit: `d${i}` }))).body.id);
    for (let i = 0; i < 8; i++) await run(i < 4 ? body : '    x = x * 1.1\n    print("x")\n    return x.sum()', i);
    const told = await until(() => to.at('/changes').find((g) => g.json.change.workload === 'here' && g.json.change.steps.some((s) => s.metric === 'breaks')), 'news of the change');
    assert.equal(told.json.again.status, 'done');
    const { body: again } = await api(`/runs/${told.json.again.run}`);
    assert.deepEqual(again.report.workload.tags, ['again']);
    assert.ok(told.json.change.steps.some((s) => s.metric === 'breaks' && s.mode === 'static' && s.verdict === 'MORE'), JSON.stringify(told.json.change.steps.map((s) => s.metric)));
    assert.equal(to.at('/changes').filter((g) => g.json.change.id === told.json.change.id).length, 1, 'once');
});

test('it survives the server: what waits is sent by the next one, killed or not', async () => {
    let up = false;
    to.answer = (req) => req.url === '/kept' && !up ? [500, ''] : [200, ''];
    const { id } = await hook('/kept');
    await send('POST', `/hooks/${id}/test`, {});
    await until(async () => (await log(id)).some((d) => d.tries > 0), 'a first try');
    await server.stop({ signal: 'SIGKILL', keep: true });
    up = true;
    server = await startServer({ folder: server.home, args: inside });
    assert.equal((await ended(id)).state, 'delivered');
});

test('an address inside is refused as it is connected to, whatever name leads there, unless it was named', async () => {
    const strict = await startServer({ args: ['--hook-seconds', '3600', '--hook-host', 'named.example'] });
    const ask = (method, path, json) => getJson(`${strict.url}/api/v1${path}`, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(json) });
    const port = new URL(to.url).port;
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '169.254.169.254', '10.0.0.1', '0x7f000001', '[fe80::1]', '[fd00::1]']) {
        const { body: { id } } = await ask('POST', '/hooks', { url: `http://${host}:${port}/inside` });
        await ask('POST', `/hooks/${id}/test`, {});
        const d = await until(async () => (await getJson(`${strict.url}/api/v1/hooks/${id}/deliveries`)).body.deliveries.find((x) => x.tries > 0), host);
        assert.match(d.said, /of this machine or its network, which is refused|resolve host/, host);
        assert.equal(d.status, null);
    }
    assert.equal(to.at('/inside').length, 0);
    await strict.stop();
});

test('what is wrong with a webhook is said; there are not more than 50', async () => {
    for (const bad of [[], {}, { url: 7 }, { url: 'ftp://a/' }, { url: 'http://' }, { url: 'http://u:p@h/' }, { url: 'http://h/a b' }, { url: 'http://h/\u00e9' }, { url: `http://h/${'x'.repeat(3000)}` }, { url: 'file:///etc/passwd' },
        { url: 'http://h', events: 'runs' }, { url: 'http://h', events: '' }, { url: 'http://h', secret: 'short' }, { url: 'http://h', more: '' }, { url: 'http://h', project: 'p'.repeat(101) }])
        assert.equal((await send('POST', '/hooks', bad)).status, 400, JSON.stringify(bad).slice(0, 60));
    for (const [method, path] of [['DELETE', '/hooks/999'], ['POST', '/hooks/999/test'], ['GET', '/hooks/999/deliveries']])
        assert.equal((await api(path, { method, headers: { 'Content-Type': 'application/json' } })).status, 404, path);
    let last = { status: 201 };
    while (last.status === 201) last = await send('POST', '/hooks', { url: 'http://h', project: 'none' });
    assert.equal(last.status, 409);
    const { body: { hooks } } = await api('/hooks');
    assert.equal(hooks.length, 50);
    for (const h of hooks.filter((x) => x.project === 'none')) assert.equal((await send('DELETE', `/hooks/${h.id}`)).status, 200);
});

test('the command does the same beside the server', async () => {
    const hookCommand = (...args) => spawnSync(binary, ['hook', ...args, '--db', server.store], { encoding: 'utf8' });
    const added = hookCommand('add', `${to.url}/command`, '--events', 'verdict,change');
    assert.equal(added.status, 0, added.stderr);
    const secret = added.stdout.trim(), [, id] = /Webhook (\d+)/.exec(added.stderr);
    // Meanwhile this process answers.
    const child = spawn(binary, ['hook', 'test', id, '--db', server.store]);
    let out = '';
    child.stdout.on('data', (x) => { out += x; });
    const [status] = await once(child, 'close');
    assert.equal(status, 0, out);
    assert.match(out, /test +delivered +1 +200/);
    assert.ok(verified(to.at('/command')[0], secret));
    assert.match(hookCommand('list').stdout, new RegExp(`${id} +all +change,verdict +0 +delivered.*/command`));
    assert.match(hookCommand('log', id).stdout, /test +delivered/);
    assert.equal(hookCommand('remove', id).status, 0);
    assert.equal(hookCommand('remove', id).status, 1);
    assert.equal(hookCommand('log', id).status, 1, 'it is no more');
    for (const args of [[], ['add'], ['add', 'nothing'], ['add', 'http://h', '--events', 'x'], ['list', '7'], ['test', 'x'], ['log'], ['remove', '1', '--events', 'change'], ['send']])
        assert.equal(hookCommand(...args).status, 2, args.join(' '));
});
