// tests/api/harness.mjs -- a real server on a free port, for tests.
//
// BREAKEVEN names the binary.  Each server has a folder of its own, which goes
// when it is closed.  A report of a sanitizer in its log, or in a worker's,
// which is the same, fails the test that stops it; so does a status that is not 0.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { psql, startPostgres } from './postgres.mjs';
import { faults } from './schema.mjs';

export const binary = process.env.BREAKEVEN ?? 'build/breakeven';
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
/** What has not happened by then never will: no machine is that busy. */
export const HANG_MS = 600000;

/**
 * What this kernel has to confine with, asked of itself: {landlock: its version, 0: none; seccomp}.  What a server says of it
 * must not decide whether the server is tried.
 */
export const kernelHas = () => JSON.parse(execFileSync('python3', ['-c', `
import ctypes, errno, json
libc = ctypes.CDLL(None, use_errno=True)
landlock = libc.syscall(444, None, ctypes.c_size_t(0), 1)  # landlock_create_ruleset, for its version
seccomp = libc.prctl(22, 2, None, 0, 0) != 0 and ctypes.get_errno() == errno.EFAULT  # it has filters, and misses one
print(json.dumps({"landlock": max(landlock, 0), "seccomp": seccomp}))
`], { encoding: 'utf8' }));

/** Asks `found` until it gives something true, and resolves to that. `what` is named where it never does. */
export async function until(found, what) {
    for (const end = Date.now() + HANG_MS; ;) {
        const got = await found();
        if (got) return got;
        if (Date.now() > end) throw new Error(`${what} did not happen within ${HANG_MS} ms`);
        await sleep(20);
    }
}

const sanitizer = /ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: /;

// A test that fails leaves its server: it keeps no file of tests from its end, and ends with it.
const started = new Set();
process.once('exit', () => {
    for (const child of started) child.kill('SIGKILL');
});

/** STORE=1: each server has a database of a PostgreSQL that this file of tests starts; null: a file. */
function sharedStore(home) {
    if (!process.env.STORE) return null;
    const kept = join(home, 'store.url');
    if (!existsSync(kept)) {
        postgres ??= startPostgres();
        writeFileSync(kept, postgres.create());
    }
    return readFileSync(kept, 'utf8');
}
let postgres;

/** The store of a server whose folder this is. */
export const storeIn = (home) => sharedStore(home) ?? join(home, 'store.db');

/** A test of a store that is a file: where the store is none, it is skipped by name. */
export const ofFile = { skip: process.env.STORE ? 'of a store that is a file' : false };

/** What the engine of a store says is wrong with it; 'ok': nothing. PostgreSQL checks by itself, at each write. */
export const integrity = (store) => store.includes('://') ? 'ok' : storeSql(store, 'PRAGMA integrity_check');

/** What a statement on a store, of either kind, answers: a line a row, `|` between values. */
export const storeSql = (store, text) => store.includes('://') ? psql(store, text) : execFileSync('python3', ['-c', `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
db.execute("PRAGMA foreign_keys = ON")
for row in db.execute(sys.argv[2]):
    print(*("" if v is None else "\\\\x" + v.hex() if isinstance(v, bytes) else v for v in row), sep="|")
`, store, text], { encoding: 'utf8' }).trim();

/**
 * Starts a server; `folder` continues with the store of an earlier one, and `prefix` is a command
 * that starts it, as a shell that sets limits; `db` names a store, where it is not one of its own.
 */
export async function startServer({ folder, args = [], prefix = [], program = binary, db } = {}) {
    const home = folder ?? await mkdtemp(join(tmpdir(), 'breakeven-api-'));
    const store = db ?? storeIn(home);
    const [command, ...before] = [...prefix, program];
    const child = spawn(command, [...before, 'serve', '--listen', '127.0.0.1:0', '--db', store, ...(store.includes('://') ? ['--files', join(home, 'files')] : []),
        '--cache', join(home, 'cache'), ...(program === binary ? ['--check-seconds', '600'] : []), ...args], {
        stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, TMPDIR: home },
    });
    let log = '';
    const url = await new Promise((done, fail) => {
        child.stderr.on('data', (bytes) => {
            log += bytes;
            const found = /listening on (http:\S+)/.exec(log);
            if (found) done(found[1]);
        });
        child.on('exit', (code) => fail(new Error(`server ended with ${code}: ${log}`)));
    });
    const exited = new Promise((done) => child.on('exit', (code, signal) => done(signal ?? code)));
    started.add(child);
    child.unref();
    child.stderr.unref();
    return {
        url, home, child, store,
        get exited() {
            child.ref();
            return exited;
        },
        log: () => log,
        /** Ends it and, unless `keep`, removes its folder; resolves to the exit status. */
        async stop({ signal = 'SIGINT', keep = false } = {}) {
            child.kill(signal);
            const status = await this.exited;
            const report = sanitizer.exec(log);
            assert.equal(report && log.slice(report.index, report.index + 4000), null);
            if (signal !== 'SIGKILL') assert.equal(status, 0, `the server ended with ${status}: ${log.slice(-2000)}`);
            // A compiler of a worker that was killed may still be at its end.
            if (!keep) await rm(home, { recursive: true, force: true, maxRetries: 10 });
            return status;
        },
    };
}

/**
 * A port for a server that goes and comes back to it: below those that the system hands out, so that nobody is
 * given it meanwhile.
 */
export const quietPort = () => until(async () => {
    const port = 20000 + Math.floor(Math.random() * 10000);
    const probe = createServer();
    const free = await new Promise((done) => {
        probe.once('error', () => done(false));
        probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)));
    });
    return free && port;
}, 'a free port');

export async function getJson(url, options) {
    const ask = () => fetch(url, options);
    // In a crowd a connection that was kept may be closed as it is used (patience.h): what only asks is asked once more.
    const response = await ((options?.method ?? 'GET') === 'GET' ? ask().catch(ask) : ask());
    const body = await response.json();
    await checkAnswer(url, options?.method ?? 'GET', response.status, body);
    return { status: response.status, headers: response.headers, body };
}

const documents = new Map();

/** openapi.json of the server of an address, and how its paths begin. */
async function documentOf(url) {
    const [begin] = url.split(/\/(?:api\/v1|healthz|readyz)(?:\/|$|\?)/);
    if (!documents.has(begin)) {
        const response = await fetch(`${begin}/api/v1/openapi.json`);
        documents.set(begin, response.ok ? await response.json() : null);
    }
    return { document: documents.get(begin), path: new URL(url).pathname.slice(new URL(begin).pathname.replace(/\/$/, '').length) };
}

/** The path of the document that a path is of, the one with the fewest names for anything first. */
const templateOf = (document, path) => Object.keys(document.paths)
    .filter((template) => new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path))
    .sort((a, b) => a.split('{').length - b.split('{').length)[0];

/** Every answer that a test gets is as openapi.json says, and has no field that is not there. */
async function checkAnswer(url, method, status, body) {
    const { document, path } = await documentOf(url);
    if (!document) return;
    const operation = document.paths[templateOf(document, path)]?.[method.toLowerCase()];
    const responses = operation?.responses ?? { default: document.paths['/api/v1/runs'].get.responses.default };
    const response = responses[status] ?? (status >= 400 ? responses.default : null);
    assert.ok(response, `openapi.json does not say that ${method} ${path} answers status ${status}`);
    const schema = response.content?.['application/json']?.schema;
    if (schema) assert.deepEqual(faults(body, schema, document.components.schemas, 'answer').slice(0, 5), [], `${method} ${url}: ${status}`);
}

export const postRun = (server, workload, type = 'application/json') => getJson(`${server.url}/api/v1/runs`, {
    method: 'POST',
    headers: { 'Content-Type': type },
    body: typeof workload === 'string' ? workload : JSON.stringify(workload),
});

/** The run, when it has one of the statuses. */
export function waitFor(server, id, statuses = ['done', 'failed', 'cancelled']) {
    let body;
    return until(async () => {
        ({ body } = await getJson(`${server.url}/api/v1/runs/${id}`));
        return statuses.includes(body.status) ? body : null;
    }, `that run ${id} is ${statuses.join(' or ')}`);
}

/** The suite, when it has ended. */
export const suiteEnded = (server, id) => until(async () => {
    const { body } = await getJson(`${server.url}/api/v1/suites/${id}`);
    return ['queued', 'running'].includes(body.status) ? null : body;
}, `the end of suite ${id}`);

/**
 * A run that is done, as it would be had each mode taken `us[mode]` a call (of a sweep at `n` also `us(n)[mode]`), in every round about as long: its
 * number.  What a test says of times must not be what this machine was busy with.
 */
export async function timed(server, id, us) {
    const answer = await fetch(`${server.url}/api/v1/runs/${id}/export?format=chrome`);
    const text = await answer.json();
    const near = (x) => [x * 0.99, x * 1.01];
    const { report } = text.breakeven;
    Object.assign(report.control, { median_us: 20, ci_us: near(20) });
    for (const point of report.points.length ? report.points : [report]) {
        const at = typeof us === 'function' ? us(point.n) : us;
        for (const [mode, { latency }] of Object.entries(point.modes))
            Object.assign(latency, { median_us: at[mode], ci_us: near(at[mode]), n: 50, samples_ns: undefined, noise: undefined });
        for (const [mode, even] of Object.entries(point.break_even ?? {}))
            Object.assign(even, { speedup: at.eager / at[mode], speedup_ci: near(at.eager / at[mode]), verdict: at[mode] < at.eager ? 'FASTER' : 'SLOWER' });
    }
    const { status, body } = await getJson(`${server.url}/api/v1/imports`, {
        method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: JSON.stringify(text),
    });
    assert.equal(status, 201, JSON.stringify(body));
    await getJson(`${server.url}/api/v1/runs/${id}`, { method: 'DELETE' });
    return body.id;
}

export const randn = (...shape) => ({ random: { shape, dtype: 'float32', kind: 'randn', seed: 0 } });

/** A source whose call takes hours, in few steps of the program. */
export const FOREVER = 'import torch\n\ndef model(x):\n    for i in range(1000000):\n        sum(range(1000000))\n    return x\n';

/** A workload of one function; `body` is its indented lines.  Sampled for a moment: what a test says of times it gives (timed()). */
export const workload = (body, extra = {}) => ({
    name: 'test', source: `import torch\n\ndef model(x):\n${body}\n`, calls: [[randn(8, 16)]],
    modes: ['eager', 'static', 'dynamic'], seconds: 0.1, ...extra,
});

const pool = ['x = x + 0.1', 'x = torch.sin(x)', 'x = x * 1.1', 'x = torch.cos(x)', 'x = x + 0.2',
    'x = torch.relu(x)', 'x = x - 0.1', 'x = torch.exp(x * 0.5)', 'x = x + 0.3', 'x = torch.sigmoid(x)',
    'x = x * 1.2', 'x = torch.sin(x)', 'x = x + 0.4', 'x = torch.cos(x)', 'x = x - 0.2',
    'x = torch.relu(x)', 'x = x + 0.5', 'x = torch.exp(x * 0.4)', 'x = x * 1.3', 'x = torch.sigmoid(x)'];

export const sweep = (counts = [1, 5, 10, 15, 20, 25, 30]) => workload('    ...\n    return x.sum()', {
    name: 'chain_sweep', sweep: { statements: { pool, counts } }, seconds: undefined, // as the profiler decides
});

/** Runs until it is stopped, for minutes at least: many points, each of calls that take long. */
export const longSweep = () => {
    const long = sweep(Array.from({ length: 40 }, (_, i) => i + 1));
    return { ...long, source: long.source.replace('    ...', '    for i in range(10000000):\n        pass\n    ...'), seconds: 120 };
};

/**
 * A log of n kernels on two streams, each with its launch, 5 us apart, as a run: its id.  Every 40th kernel is
 * a `needle`, of 1 us; the others take 2 to 8.
 */
export async function postLongTrace(server, n = 10000, headers = {}) {
    const of = (i) => [
        { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 1, ts: i * 5, dur: 2, args: { correlation: i + 1 } },
        { ph: 'X', cat: 'kernel', name: i % 40 ? `kernel_${i % 40}` : 'needle', pid: 0, tid: 7 + (i % 2), ts: i * 5 + 3,
            dur: i % 40 ? 2 + (i % 7) : 1, args: { correlation: i + 1, device: 0, stream: 7 + (i % 2) } },
    ];
    const traceEvents = Array.from({ length: n }, (_, i) => of(i)).flat();
    const { status, body } = await getJson(`${server.url}/api/v1/imports?name=long`, {
        method: 'POST', headers: { 'Content-Type': 'application/octet-stream', ...headers },
        body: JSON.stringify({ schemaVersion: 1, traceEvents }),
    });
    assert.equal(status, 201, JSON.stringify(body));
    return body.id;
}

/** Processes of its workers. */
export const workersOf = (server) => spawnSync('pgrep', ['-P', String(server.child.pid), '-f', 'breakeven worker'], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean).map(Number);

/** Asks for a Chrome trace of a run (a long one) until a worker is seen at it, confined, and stops that: it gets no further. */
export function stoppedExport(server, run, headers = {}) {
    const { seccomp } = kernelHas();
    const confined = (pid) => { // it is from some moment of its start on
        try {
            const has = readFileSync(`/proc/${pid}/status`, 'utf8');
            return /^CapEff:\t0+$/m.test(has) && (!seccomp || /^Seccomp:\t2$/m.test(has));
        } catch {
            return false;
        }
    };
    return until(async () => {
        const given = new AbortController();
        const answer = fetch(`${server.url}/api/v1/runs/${run}/export?format=chrome`, { signal: given.signal, headers }).catch(() => null);
        let ended = false, pid;
        answer.then(() => { ended = true; });
        while (!ended && !(pid = workersOf(server).find(confined))) await new Promise((done) => setTimeout(done, 1));
        try {
            if (!pid) return null;
            process.kill(pid, 'SIGSTOP');
            return { pid, answer, given };
        } catch {
            return null; // it had ended
        }
    }, 'a worker that writes an export');
}
