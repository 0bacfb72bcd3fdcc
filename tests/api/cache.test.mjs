// tests/api/cache.test.mjs -- the cache of kernels as a user meets it: processes that
// start one after another, all at once, and with something wrong on the disk.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary, postRun, startServer, waitFor, workload } from './harness.mjs';

const modes = ['eager', 'static', 'dynamic', 'auto', 'lazy', 'graphs'];
const compiled = modes.slice(1);
let folder, file;
before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'breakeven-cache-'));
    file = join(folder, 'work.json');
    const work = workload('    y = torch.softmax(torch.sin(x) * 2, dim=1)\n    return (y @ y.t()).sum(dim=0), torch.cos(x)', { modes, backend: 'cpu' });
    await writeFile(file, JSON.stringify(work));
});
after(() => rm(folder, { recursive: true }));

const run = (...args) => new Promise((done) => {
    execFile(binary, args, { maxBuffer: 1 << 26 }, (error, stdout, stderr) => done({ status: error ? error.code : 0, stdout, stderr }));
});

/** A process of its own: kernels built in each mode, outputs, stderr. */
async function start(cache) {
    const { status, stdout, stderr } = await run('run', file, '--json', '--no-timing', '--cache', cache);
    assert.equal(status, 0, stderr);
    const report = JSON.parse(stdout).modes;
    return {
        built: compiled.map((mode) => report[mode].calls.reduce((n, call) => n + call.compiles, 0)),
        cached: compiled.every((mode) => report[mode].cached),
        outputs: compiled.map((mode) => JSON.stringify(report[mode].calls.map((call) => call.output))),
        stderr,
    };
}
const zeros = compiled.map(() => 0);
const files = async (cache, ending) => (await readdir(cache)).filter((name) => name.endsWith(ending)).sort();

test('a second process compiles nothing, and says so', async () => {
    const cache = join(folder, 'second');
    const cold = await start(cache), warm = await start(cache);
    assert.ok(cold.built[0] > 0);
    assert.deepEqual(warm.built, zeros);
    assert.ok(warm.cached && !cold.cached);
    assert.deepEqual(warm.outputs, cold.outputs);
    assert.equal(warm.stderr, '');
});

test('processes that begin at once on a cold cache all compute the same and leave it whole', async () => {
    const cache = join(folder, 'shared');
    const all = await Promise.all(Array.from({ length: 6 }, () => start(cache)));
    for (const one of all) {
        assert.deepEqual(one.outputs, all[0].outputs);
        assert.equal(one.stderr, '');
    }
    const objects = await files(cache, '.so');
    for (const ending of ['.c', '.ok'])
        assert.deepEqual((await files(cache, ending)).map((name) => name.slice(0, 32)), objects.map((name) => name.slice(0, 32)));
    assert.deepEqual((await readdir(cache)).filter((name) => name.startsWith('.new')), []);
    assert.deepEqual((await start(cache)).built, zeros);
});

test('a truncated object is reported in a line, compiled again, and mended', async () => {
    const cache = join(folder, 'damaged');
    const cold = await start(cache);
    for (const name of await files(cache, '.so'))
        await truncate(join(cache, name), 100);
    const mended = await start(cache);
    assert.deepEqual(mended.outputs, cold.outputs);
    assert.match(mended.stderr, /^\S+Z warn The cached kernel [0-9a-f]{12} in \S+ is damaged: its object does not match its hash\. It is compiled again\.$/m);
    const after = await start(cache);
    assert.deepEqual(after.built, zeros);
    assert.equal(after.stderr, '');
});

test('a cache that cannot be used is reported, and every value is right all the same', async () => {
    const good = await start(join(folder, 'good'));
    const { outputs, built, stderr } = await start(file); // no folder
    assert.deepEqual(outputs, good.outputs);
    assert.ok(built.every((n) => n > 0));
    assert.match(stderr, /warn No kernel cache: .* cannot be opened/);
});

test('a timed run compiles all the same, and leaves what it compiled', async () => {
    const cache = join(folder, 'timed');
    const timed = async () => {
        const { status, stdout, stderr } = await run('run', file, '--json', '--modes', 'eager,static', '--cache', cache);
        assert.equal(status, 0, stderr);
        return JSON.parse(stdout).modes.static;
    };
    for (let i = 0; i < 2; i++) {
        const { calls, cached } = await timed();
        assert.ok(calls[0].compiles > 0 && !cached);
    }
    assert.equal((await start(cache)).built[0], 0);
});

test('BREAKEVEN_CACHE_MIB bounds it: what was used longest ago goes', async () => {
    const cache = join(folder, 'bounded');
    const old = join(cache, `${'0'.repeat(32)}.so`);
    await mkdir(cache, { mode: 0o700 });
    await writeFile(old, Buffer.alloc(2 << 20));
    await utimes(old, 1000000000, 1000000000);
    await start(cache);
    assert.equal((await stat(old)).size, 2 << 20); // 256 MiB hold it
    process.env.BREAKEVEN_CACHE_MIB = '1';
    const work = JSON.parse(await readFile(file));
    await writeFile(file, JSON.stringify({ ...work, source: work.source.replace('* 2', '* 3') }));
    try {
        await start(cache);
    } finally {
        delete process.env.BREAKEVEN_CACHE_MIB;
    }
    await assert.rejects(stat(old), /ENOENT/);
    assert.deepEqual((await start(cache)).built, zeros);
});

test('a server whose --cache is a relative path compiles', async () => {
    const home = await mkdtemp(join(folder, 'relative-'));
    const there = ['sh', '-c', 'b=$(realpath "$1") && shift && cd "$0" && exec "$b" "$@"', home];
    const server = await startServer({ args: ['--cache', 'kernels'], prefix: there });
    const { body: { id } } = await postRun(server, workload('    return torch.sin(x).sum()', { modes: ['eager', 'static'], backend: 'cpu' }));
    const run = await waitFor(server, id);
    assert.deepEqual([run.status, run.error], ['done', null]);
    assert.ok((await files(join(home, 'kernels'), '.so')).length > 0);
    await server.stop();
});
