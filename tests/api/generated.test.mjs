// tests/api/generated.test.mjs -- a client that a public generator makes of openapi.json posts a run, waits for it and reads its report.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer, workload } from './harness.mjs';

const web = createRequire(new URL('../../web/package.json', import.meta.url));
const { generate } = web('openapi-typescript-codegen');
const { build } = web('esbuild');
let server, folder, client;
before(async () => {
    server = await startServer();
    folder = mkdtempSync(join(tmpdir(), 'breakeven-client-'));
    const document = await (await fetch(`${server.url}/api/v1/openapi.json`)).json();
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    await generate({ input: join(folder, 'openapi.json'), output: join(folder, 'client'), httpClient: 'fetch', useUnionTypes: true });
    await build({ entryPoints: [join(folder, 'client/index.ts')], bundle: true, format: 'esm', outfile: join(folder, 'client.mjs'), logLevel: 'error' });
    client = await import(join(folder, 'client.mjs'));
    client.OpenAPI.BASE = server.url;
});
after(async () => {
    rmSync(folder, { recursive: true, force: true });
    await server.stop();
});

test('it posts a run, waits, and reads its report', async () => {
    const { RunsService } = client;
    const made = await RunsService.runsPost(workload('    return torch.sin(x).sum()', { modes: ['eager', 'static'] }));
    let run = await RunsService.runGet(made.id);
    while (['queued', 'running'].includes(run.status)) run = await RunsService.runGet(made.id);
    assert.equal(run.status, 'done');
    assert.equal(run.report.modes.static.graphs.length, 1);
    assert.ok(run.summary.speedup > 0);
    const list = await RunsService.runsList();
    assert.equal(list.total, 1);
    assert.equal((await RunsService.runDelete(made.id)).did, 'removed');
});

test('what is refused is an error with its status and what was said', async () => {
    await assert.rejects(client.RunsService.runGet('99'), (error) => error.status === 404 && error.body.error.code === 'not-found');
    await assert.rejects(client.RunsService.runsPost(workload('    return x +')), (error) => error.status === 400 && error.body.error.line > 0);
});
