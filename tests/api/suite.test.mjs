// tests/api/suite.test.mjs -- `breakeven suite`: folders, lists, what fails, flags.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { FOREVER, binary, getJson, postRun, startServer, storeIn, storeSql, suiteEnded, waitFor, workload } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-suite-'));
test.after(() => rmSync(folder, { recursive: true }));

const suite = (...args) => spawnSync(binary, ['suite', ...args], { encoding: 'utf8' });
const quick = ['--seconds', '0.2', '--backend', 'interp', '--modes', 'static'];
const column = (report, policy, mode) => report.columns.find((c) => c.policy === policy && c.mode === mode);
const result = (report, name, mode, policy = 'dynamo') =>
    report.workloads.find((w) => w.name === name).results.find((r) => r.mode === mode && r.policy === policy);

const files = join(folder, 'models');
mkdirSync(files);
writeFileSync(join(files, 'a.json'), JSON.stringify({ ...workload('    return (x * 2).sum()'), name: 'a' }));
writeFileSync(join(files, 'b.py'), '# input: x=float32[4]\nimport torch\n\ndef model(x):\n    print("b")\n    return x + 1\n');
writeFileSync(join(files, 'c.py'), '# input: x=float32[4]\nimport torch\n\ndef model(x):\n    return x.reshape(3)\n');
writeFileSync(join(files, 'd.py'), '# input: x=float32[4]\nimport torch\n\ndef model(x:\n    return x\n');
writeFileSync(join(files, 'e.json'), '{"source": ');
writeFileSync(join(files, 'notes.txt'), 'not a workload');

test('a folder: each that fails is a row with its reason, and the others are measured', () => {
    const done = suite(files, '--json', ...quick);
    assert.equal(done.status, 1, done.stderr);
    const report = JSON.parse(done.stdout);
    assert.deepEqual(report.workloads.map((w) => w.name), ['a', 'b', 'c', 'd', 'e.json']);
    assert.equal(report.columns.length, 4);
    const c = column(report, 'native', 'static');
    assert.deepEqual([c.pass, c.failed, c.disagrees, c.workloads, c.engine], [2, 3, 0, 5, 'breakeven']);
    assert.equal(c.pass_rate, 0.4);
    assert.deepEqual([c.geomean.common.n, c.geomean.own.n, report.common.n], [2, 2, 2]);
    const { speedup, speedup_ci: [low, high] } = c.geomean.common;
    assert.ok(low <= speedup && speedup <= high);
    assert.equal(c.histogram.reduce((a, b) => a + b), 2);
    assert.match(result(report, 'c', 'eager').reason, /shape|reshape/);
    assert.match(result(report, 'd', 'static').reason, /^line 4: the '\(' that opens here is never closed/);
    assert.match(result(report, 'e.json', 'static').reason, /is not JSON: line 1/);
    const a = result(report, 'a', 'static');
    assert.equal(a.status, 'pass');
    assert.ok(a.median_us > 0 && a.speedup > 0 && a.launches > 0 && a.peak_bytes > 0 && a.compile_ms >= 0);
    assert.deepEqual(result(report, 'b', 'static').breaks, { capture: 1, lowering: 0 });
    assert.deepEqual(result(report, 'b', 'static', 'native').breaks, { capture: 0, lowering: 0 });
    assert.equal(column(report, 'dynamo', 'static').breaks.capture, 1);
    assert.equal(report.environment.cores > 0, true);
});

test('a suite of several paths is named by the first and how many follow it', () => {
    const done = suite(join(files, 'a.json'), join(files, 'b.py'), '--json', '--policy', 'dynamo', ...quick);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(JSON.parse(done.stdout).name, 'a.json and 1 more');
});

test('a list names files, and the table says what failed', () => {
    const list = join(folder, 'some.list');
    writeFileSync(list, '# two\nmodels/a.json\n\nmodels/c.py  # fails\n');
    const done = suite(list, '--policy', 'dynamo', '--name', 'two', ...quick);
    assert.equal(done.status, 1);
    assert.match(done.stdout, /^Suite two: 2 workloads\..*common set, the 1 that/m);
    assert.match(done.stdout, /breakeven +dynamo +static +1\/2 +50 %/);
    assert.match(done.stdout, /^failed: c, breakeven, dynamo: eager, static: line 5: .*reshape/m);
    const passes = suite(join(files, 'a.json'), '--policy', 'dynamo', ...quick);
    assert.equal(passes.status, 0, passes.stderr);
});

test('weights for all workloads, and in a list for one', async () => {
    const reads = join(folder, 'reads.py'), list = join(folder, 'weights.list');
    const given = resolve('tests/weights/net.safetensors'), fast = ['--policy', 'dynamo', ...quick];
    writeFileSync(reads, '# input: x=float32[4]\nfrom safetensors.torch import load_file\nw = load_file("net.safetensors")\n\ndef model(x):\n    return x * len(w)\n');
    assert.match(suite(reads, ...fast).stdout, /FileNotFoundError/);
    for (const arg of [given, `net.safetensors=${given}`]) {
        const done = suite(reads, '--weights', arg, ...fast);
        assert.equal(done.status, 0, done.stdout + done.stderr);
    }
    writeFileSync(list, `reads.py --weights ${given}\n`);
    assert.equal(suite(list, ...fast).status, 0);
    for (const args of [['--weights', 'none.pt'], ['--weights', folder]]) {
        const done = suite(reads, ...args, ...fast);
        assert.deepEqual([done.status, done.stdout], [1, '']);
        assert.match(done.stderr, /^breakeven suite: .*(cannot be opened|is no file)/);
    }
    const server = await startServer({ args: ['--files-gib', '1'] });
    try {
        const child = spawn(binary, ['suite', list, '--post', server.url, ...fast]);
        let said = '';
        child.stdout.on('data', (b) => { said += b; });
        assert.equal(await new Promise((done) => child.on('close', done)), 0);
        const posted = await suiteEnded(server, Number(said.trim().split('/').at(-1)));
        assert.deepEqual(posted.report.workloads[0].results.map((r) => r.status), ['pass', 'pass']);
        assert.equal((await getJson(`${server.url}/api/v1/files`)).body.files.length, 1);
    } finally {
        await server.stop();
    }
});

test('a mode that fails where eager passes is that mode\'s failure alone', () => {
    const plugin = join(dirname(binary), 'tests/plugins/bad_graph.so');
    const report = JSON.parse(suite(join(files, 'a.json'), '--policy', 'dynamo', '--json', '--plugin', plugin, ...quick).stdout);
    assert.equal(result(report, 'a', 'eager').status, 'pass');
    assert.equal(result(report, 'a', 'static').status, 'failed');
    assert.match(result(report, 'a', 'static').reason, /no_sums of the plugin bad_graph\.so broke the graph/);
    assert.equal(column(report, 'dynamo', 'static').geomean.own.speedup, null);
});

test('a store keeps a suite and its runs, and a server shows them', async () => {
    const home = join(folder, 'kept');
    mkdirSync(home);
    const done = suite(join(files, 'a.json'), files, '--name', 'kept', '--policy', 'dynamo', '--json', '--db', storeIn(home), ...quick);
    const report = JSON.parse(done.stdout);
    assert.equal(report.suite, 1);
    assert.doesNotMatch(done.stderr, /started/);
    const server = await startServer({ folder: home });
    const { body } = await getJson(`${server.url}/api/v1/suites/1`);
    assert.deepEqual([body.name, body.status, body.runs.done, body.runs.failed], ['kept', 'done', 3, 3]);
    assert.deepEqual(body.report.columns, report.columns);
    const { run } = body.report.workloads[0].results[0];
    assert.ok((await getJson(`${server.url}/api/v1/runs/${run}`)).body.report.modes.static.latency.median_us > 0);
    assert.equal((await fetch(`${server.url}/api/v1/runs/${run}/trace.json`)).status, 200);
    await server.stop();
});

test('the runs that a store has waiting are left to a server: the command runs its own', async () => {
    const home = join(folder, 'waiting');
    mkdirSync(home);
    let server = await startServer({ folder: home });
    const { body: { id } } = await postRun(server, { ...workload(''), source: FOREVER, name: 'waiting' });
    await server.stop({ keep: true }); // it goes back to the queue
    const done = suite(join(files, 'a.json'), '--policy', 'dynamo', '--json', '--db', storeIn(home), ...quick);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(column(JSON.parse(done.stdout), 'dynamo', 'static').pass, 1);
    assert.equal(storeSql(storeIn(home), `SELECT status, attempts FROM run WHERE id = ${id}`), 'queued|0');
    server = await startServer({ folder: home });
    await waitFor(server, id, ['running']);
    await server.stop();
});

test('wrong flags and paths say what would be right', () => {
    for (const [args, status, message] of [
        [[], 2, /a folder, a file or blocks is missing/],
        [[files, '--modes', 'eager,fast'], 2, /modes has 'fast'; there are eager, static/],
        [[files, '--policy', 'some'], 2, /--policy some: one of dynamo, native, both is needed/],
        [[files, '--device', 'tpu'], 2, /--device tpu: one of cpu, cuda/],
        [[files, '--threads', 'x'], 2, /--threads needs a whole number from 0 to 1000000, not 'x'/],
        [[files, '--seconds', '-1'], 2, /--seconds needs a number/],
        [[files, '--fast'], 2, /unknown flag --fast/],
        [[files, '--modes'], 2, /a value is missing after --modes/],
        [[join(folder, 'none')], 1, /none cannot be opened: No such file/],
        [[mkdtempSync(join(tmpdir(), 'breakeven-none-'))], 1, /has no workloads: files that end in \.json or \.py/],
        [[files, '--post', 'ftp://x'], 1, /is no server's address/],
    ]) {
        const done = suite(...args);
        assert.equal(done.status, status, `${args}: ${done.stderr}`);
        assert.match(done.stderr, message);
        assert.equal(done.stdout, '');
    }
    assert.equal(suite('--help').status, 0);
});

// ---- on a server

const post = (server, body) => getJson(`${server.url}/api/v1/suites`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: typeof body === 'string' ? body : JSON.stringify(body),
});
const get = async (server, id) => (await getJson(`${server.url}/api/v1/suites/${id}`)).body;
const fields = { seconds: 0.2, backend: 'interp', modes: ['static'] };
const good = (name, body = '    return (x * 2).sum()') => ({ ...workload(body), name });

test('a server runs a suite as many runs; its report is that of the command', async () => {
    const server = await startServer();
    const workloads = [good('a'), good('a', '    print("b")\n    return x'), good('c', '    return x.reshape(3)'),
        { name: 'd', source: 'def model(x:\n    pass\n', calls: [[]] }];
    const posted = await post(server, { name: 'four', project: 'p', workloads, ...fields });
    assert.deepEqual([posted.status, posted.body.workloads, posted.body.runs], [202, 4, 8]);
    const suite = await suiteEnded(server, posted.body.id);
    assert.deepEqual([suite.status, suite.progress, suite.name, suite.project], ['done', 1, 'four', 'p']);
    assert.deepEqual(suite.runs, { queued: 0, running: 0, done: 4, failed: 4, cancelled: 0 });
    assert.deepEqual(suite.request.modes, ['eager', 'static']);
    const report = suite.report;
    assert.deepEqual(report.workloads.map((w) => w.name), ['a', 'a (2)', 'c', 'd']);
    assert.deepEqual(report.columns.map((c) => `${c.policy} ${c.mode} ${c.pass}/${c.failed}`),
        ['dynamo eager 2/2', 'dynamo static 2/2', 'native eager 2/2', 'native static 2/2']);
    assert.deepEqual([report.common.n, column(report, 'native', 'static').geomean.common.n], [2, 2]);
    assert.equal(result(report, 'a (2)', 'static').breaks.capture, 1);
    const a = result(report, 'a', 'static', 'native');
    assert.ok(a.speedup_ci[0] <= a.speedup && a.speedup <= a.speedup_ci[1] && a.peak_bytes > 0);
    const run = (await getJson(`${server.url}/api/v1/runs/${a.run}`)).body;
    assert.deepEqual([run.name, run.status, run.project, run.report.workload.policy], ['a', 'done', 'p', 'native']);
    assert.equal(run.report.break_even.static.speedup, a.speedup);
    assert.match(result(report, 'd', 'static').reason, /^line 1: /);

    const { suites, total, next } = (await getJson(`${server.url}/api/v1/suites?limit=1`)).body;
    assert.deepEqual([suites.length, total, next, suites[0].id, suites[0].common.n], [1, 1, null, suite.id, 2]);
    assert.equal(suites[0].columns.length, 4);

    // one run is removed: its row stays, without results
    await getJson(`${server.url}/api/v1/runs/${a.run}`, { method: 'DELETE' });
    const less = (await get(server, suite.id)).report.workloads[0].results;
    assert.deepEqual(less.map((r) => r.policy), ['dynamo', 'dynamo']);

    const removed = await getJson(`${server.url}/api/v1/suites/${suite.id}`, { method: 'DELETE' });
    assert.deepEqual(removed.body, { id: suite.id, did: 'removed', restorable_s: 60 });
    assert.equal((await getJson(`${server.url}/api/v1/runs`)).body.total, 0);
    assert.equal((await getJson(`${server.url}/api/v1/suites/${suite.id}`)).status, 404);
    await server.stop();
});

test('a suite is cancelled: what ran is kept; the command posts one', async () => {
    const server = await startServer();
    const workloads = Array.from({ length: 6 }, (_, i) => ({ ...good(`w${i}`), source: FOREVER }));
    const { body: { id } } = await post(server, { workloads, ...fields, policy: 'dynamo' });
    const cancelled = await getJson(`${server.url}/api/v1/suites/${id}`, { method: 'DELETE' });
    assert.equal(cancelled.body.did, 'cancelled');
    const suite = await suiteEnded(server, id);
    assert.equal(suite.status, 'cancelled');
    assert.ok(suite.runs.cancelled >= 5);
    assert.equal(column(suite.report, 'dynamo', 'static').cancelled, suite.runs.cancelled);
    assert.equal(column(suite.report, 'dynamo', 'static').pass_rate, null);

    const done = await new Promise((resolve) => {
        const child = spawn(binary, ['suite', join(files, 'a.json'), '--post', server.url, '--policy', 'native', ...quick]);
        let out = '';
        child.stdout.on('data', (b) => { out += b; });
        child.on('exit', (code) => resolve({ code, out }));
    });
    assert.deepEqual(done, { code: 0, out: `${server.url}/suites/${id + 1}\n` });
    const after = await suiteEnded(server, id + 1);
    assert.deepEqual([after.name, after.runs.done], ['a.json', 1]);
    await server.stop();
});

test('a suite keeps what an earlier one measured where nothing has changed; one that was cancelled goes on', async () => {
    const server = await startServer();
    const quickly = { ...fields, seconds: 0.01, policy: 'dynamo', name: 'kept', project: 'p' };
    const three = [good('a'), good('b', '    return x + 1'), good('c', '    return x.reshape(3)')];
    const first = (await post(server, { ...quickly, workloads: three, commit: 'one' })).body;
    assert.deepEqual([first.runs, first.kept], [3, 0]);
    const before = await suiteEnded(server, first.id);
    assert.equal(before.kept, 0);
    const runOf = (suite, name) => result(suite.report, name, 'static');
    assert.equal(runOf(before, 'a').kept_ns, undefined);

    // another commit, and the same program twice: b and both a; c failed, d is new
    const next = [good('b', '    return x + 1'), good('a'), good('c', '    return x.reshape(3)'), good('a'), good('d', '    return x - 1')];
    const second = (await post(server, { ...quickly, workloads: next, commit: 'two' })).body;
    assert.deepEqual([second.runs, second.kept, second.workloads], [2, 3, 5]);
    const after = await suiteEnded(server, second.id);
    assert.deepEqual([after.status, after.kept, after.runs.done, after.runs.failed], ['done', 3, 1, 1]);
    for (const [name, of] of [['a', 'a'], ['a (4)', 'a'], ['b', 'b']]) {
        assert.equal(runOf(after, name).run, runOf(before, of).run);
        assert.equal(runOf(after, name).speedup, runOf(before, of).speedup);
        assert.ok(runOf(after, name).kept_ns >= before.created_ns);
    }
    assert.notEqual(runOf(after, 'c').run, runOf(before, 'c').run);
    assert.equal(column(after.report, 'dynamo', 'static').pass, 4);

    // what differs is measured: a setting, a project, and all where that is asked for
    for (const [differs, kept] of [[{ seconds: 0.02 }, 0], [{ project: 'q' }, 0], [{ threads: 1 }, 0], [{ again: true }, 0], [{ tags: ['t'] }, 1]]) {
        const { body } = await post(server, { ...quickly, workloads: [good('b', '    return x + 1')], ...differs });
        assert.equal(body.kept, kept, JSON.stringify(differs));
        await suiteEnded(server, body.id);
    }

    // the first suite is removed: what the others keep stays, and comes back to it
    const remove = (id) => getJson(`${server.url}/api/v1/suites/${id}`, { method: 'DELETE' });
    await remove(first.id);
    assert.equal((await getJson(`${server.url}/api/v1/runs/${runOf(before, 'a').run}`)).body.suite_id, second.id);
    assert.equal((await getJson(`${server.url}/api/v1/runs/${runOf(before, 'c').run}`)).status, 404);
    const own = await get(server, second.id);
    assert.deepEqual([runOf(own, 'a').speedup, own.kept + own.runs.done], [runOf(after, 'a').speedup, 4]);
    await getJson(`${server.url}/api/v1/suites/${first.id}/restore`, { method: 'POST' });
    const back = await get(server, first.id);
    assert.deepEqual([back.kept, back.runs.failed, runOf(back, 'b').run], [2, 1, runOf(before, 'b').run]);

    // a suite is stopped: what had not ended is queued again, and alone that
    const resume = (id) => getJson(`${server.url}/api/v1/suites/${id}/resume`, { method: 'POST' });
    assert.equal((await resume(second.id)).status, 409);
    assert.equal((await resume(999)).status, 404);
    const slow = { ...good('slow'), source: FOREVER };
    const { body: stopped } = await post(server, { ...quickly, workloads: [slow, good('a'), good('e', '    return x * 5')] });
    await remove(stopped.id);
    assert.deepEqual([(await suiteEnded(server, stopped.id)).runs.cancelled, stopped.kept], [2, 1]);
    const resumed = await resume(stopped.id);
    assert.deepEqual([resumed.status, resumed.body.runs.cancelled, resumed.body.kept], [200, 0, 1]);
    const its = (await getJson(`${server.url}/api/v1/runs`)).body.runs;
    await getJson(`${server.url}/api/v1/runs/${its.find((r) => r.name === 'slow').id}`, { method: 'DELETE' });
    const ended = await suiteEnded(server, stopped.id);
    assert.deepEqual([ended.runs.done, ended.runs.cancelled, runOf(ended, 'e').status], [1, 1, 'pass']);
    await server.stop();
});

test('a suite of a folder goes on where it was interrupted', () => {
    const kept = join(folder, 'goes_on.db');
    const run = (...more) => suite(files, '--policy', 'dynamo', '--json', '--db', kept, '--backend', 'interp', '--modes', 'static', '--seconds', '0.01', ...more);
    const first = JSON.parse(run().stdout), again = JSON.parse(run().stdout);
    assert.equal(first.kept, undefined);
    assert.equal(again.kept, 2);
    assert.equal(result(again, 'a', 'static').run, result(first, 'a', 'static').run);
    assert.equal(JSON.parse(run('--again').stdout).kept, undefined);
    const told = suite(files, '--policy', 'dynamo', '--db', kept, '--backend', 'interp', '--modes', 'static', '--seconds', '0.01').stdout;
    assert.match(told, /^2 runs of an earlier suite are kept: programs, settings, engine and machine are the same/m);
});

test('a suite is compared with an earlier one: broken, fixed, changes with their intervals', async () => {
    const server = await startServer();
    const post = async (bodies) => {
        const workloads = Object.entries(bodies).map(([name, body]) => ({ ...workload(body), name }));
        const body = JSON.stringify({ name: 'x', workloads, seconds: 0.2, backend: 'interp', modes: ['static'], again: true });
        const { body: { id } } = await getJson(`${server.url}/api/v1/suites`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
        await suiteEnded(server, id);
        return id;
    };
    const [good, bad] = ['    return (x * 2).sum()', '    return x.reshape(3)'];
    const before = await post({ a: good, b: good, c: bad });
    const after = await post({ a: good, b: bad, c: good });
    const { status, body: c } = await getJson(`${server.url}/api/v1/suites/${after}/compare?base=${before}`);
    assert.equal(status, 200);
    assert.deepEqual([c.before.id, c.after.id], [before, after]);
    const of = (name) => c.workloads.find((w) => w.name === name).results.find((r) => r.mode === 'static');
    assert.deepEqual(['a', 'b', 'c'].map((n) => of(n).turn), ['passes', 'broken', 'fixed']);
    assert.match(of('b').reason, /reshape/);
    const a = of('a');
    assert.ok(a.ratio_ci[0] <= a.ratio && a.ratio <= a.ratio_ci[1]);
    assert.ok(Math.abs(a.ratio - a.speedup / a.speedup_before) < 1e-9);
    const column = c.columns.find((x) => x.mode === 'static');
    assert.deepEqual([column.broken, column.fixed, column.geomean.n], [1, 1, 1]);
    assert.ok(Math.abs(column.geomean.ratio - a.ratio) < 1e-9);
    // the same on the command line, of the store and of files
    const cli = (...args) => {
        const done = spawnSync(binary, ['compare', '--suites', ...args, '--db', server.store], { encoding: 'utf8' });
        return { status: done.status, out: done.stdout, err: done.stderr };
    };
    const told = cli(String(before), String(after));
    assert.equal(told.status, 1, 'a workload broke');
    assert.match(told.out, new RegExp(`^A: x #${before}\\nB: x #${after}\\n\\n1 workload passed before and does not now, and 1 workload is fixed\\.`));
    assert.match(told.out, /breakeven +dynamo +static +67 % to 67 % +1 +1 +[\d.]+x/);
    assert.match(told.out, /^broken: b, static, dynamo, breakeven: .*reshape/m);
    assert.match(told.out, /^fixed: c, static/m);
    const { before: _b, after: _a, ...same } = JSON.parse(cli(String(before), String(after), '--json').out);
    const { before: _c, after: _d, ...answered } = c;
    assert.deepEqual(same, answered);
    const file = join(folder, 'suite_after.json');
    writeFileSync(file, JSON.stringify((await getJson(`${server.url}/api/v1/suites/${after}`)).body));
    const self = cli(file, String(after));
    assert.equal(self.status, 0, self.err);
    assert.match(self.out, /^A: x, .*suite_after\.json\nB: x #\d+\n\nNothing that passed is broken\. /);
    for (const [args, status, message] of [
        [['1'], 2, /two suites are needed, the earlier first/],
        [['1', '2', '3'], 2, /two suites at once, not also 3/],
        [['1', '2', '--margin', '3'], 2, /--suites compares by its own rules, without --margin/],
        [[String(before), '77'], 1, /no suite 77/],
        [[String(before), 'none.json'], 1, /none\.json cannot be opened: .*; a suite of the store is named by its number/],
        [[join(files, 'a.json'), '1'], 1, /is not a report of a suite: write one with breakeven suite FOLDER --json/],
    ]) {
        const { status: got, err } = cli(...args);
        assert.match(err, message);
        assert.equal(got, status, err);
    }
    assert.equal((await getJson(`${server.url}/api/v1/suites/${after}/compare`)).status, 400);
    assert.equal((await getJson(`${server.url}/api/v1/suites/${after}/compare?base=77`)).status, 404);
    await server.stop();
});

test('what is wrong with a posted suite is said at once', async () => {
    const server = await startServer();
    for (const [body, status, message] of [
        ['[]', 400, /a suite is a JSON object/],
        [{}, 400, /workloads must be a list of workloads, or suite be "blocks"/],
        [{ workloads: [] }, 400, /workloads must be a list/],
        [{ workloads: [1] }, 400, /workloads\[0\] must be a workload/],
        [{ suite: 'all' }, 400, /suite must be "blocks"/],
        [{ suite: 'blocks', workloads: [good('a')] }, 400, /either suite or workloads/],
        [{ workloads: [good('a')], modes: ['fast'] }, 400, /modes has 'fast'/],
        [{ workloads: [good('a')], modes: 'static' }, 400, /modes is "static"; it takes a list of texts/],
        [{ workloads: [good('a')], policy: 1 }, 400, /policy is 1; it takes a text: dynamo, native or both/],
        [{ workloads: [good('a')], policy: 'fast' }, 400, /policy must be dynamo, native or both/],
        [{ workloads: [good('a')], engines: ['breakeven', 'torch'] }, 400, /torch/],
        [{ workloads: Array.from({ length: 501 }, () => ({})) }, 400, /makes 1002 runs; the limit is 1000/],
    ]) {
        const answer = await post(server, body);
        assert.match(answer.body.error.message, message);
        assert.ok(answer.status >= status && answer.status < 500, String(answer.status));
    }
    assert.equal((await getJson(`${server.url}/api/v1/suites`)).body.total, 0);
    assert.equal((await getJson(`${server.url}/api/v1/suites/7`)).status, 404);
    assert.equal((await getJson(`${server.url}/api/v1/suites/x`)).status, 400);
    await server.stop();
});
