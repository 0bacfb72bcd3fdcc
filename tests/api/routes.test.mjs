// tests/api/routes.test.mjs -- every route of openapi.json, asked as it should be and as it should not: what it does not take is
// refused with what it takes, and nothing is status 500.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

let server, operations, ids;
before(async () => {
    server = await startServer();
    const { body: { id } } = await postRun(server, workload('    return torch.sin(x).sum()', { modes: ['eager', 'static'], backend: 'interp', seconds: 0.01 }));
    const suite = (await json('/api/v1/suites', { name: 's', workloads: [workload('    return x + 1', { backend: 'interp', seconds: 0.01 })] })).body.id;
    await waitFor(server, id);
    ids = { runs: id, suites: suite };
    const { paths } = (await getJson(`${server.url}/api/v1/openapi.json`)).body;
    operations = Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })))
        .filter(({ operation }) => operation.tags[0] !== 'pages');
});
after(() => server.stop());

const json = (path, body, method = 'POST') => getJson(server.url + path, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const filled = (path) => path.replace('{id}', String(ids[path.split('/')[3]] ?? 1)).replace(/\{\w+\}/, '1');
/** Its status, and the error where it is one: each is JSON of the one form. An answer of events is not waited for. */
async function ask(method, path, { body, type } = {}) {
    const given = new AbortController();
    const answer = await fetch(server.url + path, { method, body, signal: given.signal, headers: { Connection: 'close', ...type ? { 'Content-Type': type } : {} } });
    const { status } = answer;
    assert.ok(status < 500 || status === 503, `${method} ${path}: ${status}`);
    if (status < 400) {
        given.abort();
        return { status };
    }
    const { error } = await answer.json();
    for (const key of ['code', 'message']) assert.equal(typeof error[key], 'string', `${method} ${path}`);
    assert.ok(error.message.length > 10 && !/undefined|\(null\)/.test(error.message), error.message);
    return { status, error };
}
const bodyOf = (operation) => operation.requestBody ? { type: Object.keys(operation.requestBody.content)[0], body: '{}' } : {};

test('a parameter that a route does not take is refused, with those that it takes', async () => {
    for (const { method, path, operation } of operations) {
        const { status, error } = await ask(method, `${filled(path)}?nothing=1`, bodyOf(operation));
        assert.equal(status, 400, `${method} ${path}`);
        assert.match(error.message, /there is no parameter nothing=; .* takes/, `${method} ${path}`);
        for (const { name } of operation.parameters.filter((p) => p.in === 'query')) assert.ok(error.message.includes(` ${name}`), `${method} ${path}: ${error.message}`);
    }
});

test('a number that is none, and an id that nothing has, are refused', async () => {
    for (const { method, path, operation } of operations) {
        for (const { name } of operation.parameters.filter((p) => p.in === 'query' && p.schema.type === 'integer')) {
            const { status, error } = await ask(method, `${filled(path)}?${name}=many`, bodyOf(operation));
            assert.ok(status >= 400, `${method} ${path}?${name}=many: ${status}`);
            if (status === 400 && !operation.requestBody) assert.match(error.message, new RegExp(`${name}=many|missing`), `${method} ${path}`);
        }
        if (!path.includes('{id}')) continue;
        for (const id of ['987654321', '0', '-1', 'x', '%00', '1e3']) {
            const { status } = await ask(method, path.replace('{id}', id).replace(/\{\w+\}/, '1'), bodyOf(operation));
            // of a run of another machine its process alone may ask
            assert.ok([400, 404, 409, 422, ...(path.includes('/jobs/') ? [401] : [])].includes(status), `${method} ${path} of ${id}: ${status}`);
        }
    }
});

test('a body of another type, no JSON, or none is refused', async () => {
    for (const { method, path, operation } of operations.filter(({ operation }) => operation.requestBody)) {
        const types = Object.keys(operation.requestBody.content);
        assert.equal((await ask(method, filled(path), { type: 'text/html', body: 'x' })).status, 415, `${method} ${path}`);
        if (types[0] !== 'application/json') continue;
        for (const body of ['', '{', '[]', '"x"', 'null', '\u0000']) {
            const { status } = await ask(method, filled(path), { type: types[0], body });
            assert.ok(status >= 400 && status < 500, `${method} ${path} with ${JSON.stringify(body)}: ${status}`);
        }
    }
});

test('every route that reads answers for what is there', async () => {
    const needs = { '/api/v1/runs/{id}/timeline/find': '?q=sin', '/api/v1/compare': `?a=${ids.runs}&b=${ids.runs}`, '/api/v1/names': '?module=torch', '/api/v1/runs/{id}/export': '?format=csv', '/api/v1/suites/{id}/compare': `?base=${ids.suites}` };
    const absent = ['/api/v1/compare/timelines', '/api/v1/files/{id}', '/api/v1/history/changes/{id}', '/api/v1/hooks/{id}/deliveries', '/api/v1/runs/{id}/artifacts/{artifact}', '/api/v1/runs/{id}/ranks/{file}', '/api/v1/runs/{id}/torch_trace.log'];
    for (const { method, path, operation } of operations.filter(({ method }) => method === 'GET')) {
        const { status, error } = await ask(method, filled(path) + (needs[path] ?? ''));
        if (absent.includes(path)) assert.ok([400, 404].includes(status), `${path}: ${status}`);
        else assert.equal(status, 200, `${path}: ${error?.message}`);
        assert.equal((await fetch(server.url + filled(path) + (needs[path] ?? ''), { method: 'HEAD', headers: { Connection: 'close' } })).status, status, `HEAD ${path}`);
        if (operation.responses[200]?.content?.['application/json'] && status === 200 && path !== '/api/v1/openapi.json') await getJson(server.url + filled(path) + (needs[path] ?? ''));
    }
});
