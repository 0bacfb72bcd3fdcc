// tests/api/compare.test.mjs -- runs side by side: the route, the command, what they refuse.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binary, getJson, longSweep, postRun, startServer, timed, waitFor, workload } from './harness.mjs';

const quick = { backend: 'interp', seconds: 0.1, threads: 1, modes: ['eager', 'static'] };
const light = workload('    x = x * 1.1\n    return x.sum()', { ...quick, name: 'chain' });
const heavy = workload('    for i in range(60):\n        x = torch.sin(x)\n    print("now")\n    return x.sum()',
    { ...quick, name: 'chain', commit: 'abcdef0123' });

let server, ids;
/** A run that took so many microseconds a call, eager and static. */
async function run(w, [eager, compiled]) {
    const { body } = await postRun(server, w);
    const done = await waitFor(server, body.id);
    assert.equal(done.status, 'done', JSON.stringify(done.error));
    return timed(server, body.id, { eager, static: compiled });
}
before(async () => {
    server = await startServer();
    ids = [];
    for (const [w, us] of [[light, [2, 1]], [heavy, [60, 30]], [{ ...light, threads: 2 }, [2, 1]], [{ ...heavy, name: 'other' }, [60, 30]]])
        ids.push(await run(w, us));
});
after(() => server?.stop());

const compare = (query) => getJson(`${server.url}/api/v1/compare?${query}`);
const command = (...args) => spawnSync(binary, ['compare', ...args], { encoding: 'utf8' });
const store = () => ['--db', server.store];
const figure = (c, metric, mode) => c.figures.find((f) => f.metric === metric && f.mode === mode);

test('a run beside itself does not differ from it', async () => {
    const { status, body } = await compare(`a=${ids[0]}&b=${ids[0]}`);
    assert.equal(status, 200);
    assert.equal(body.verdict, 'SAME');
    assert.deepEqual([body.comparable, body.refused], [true, null]);
    const [c] = body.comparisons;
    for (const f of c.figures) assert.ok(['SAME', 'NOT ENOUGH'].includes(f.verdict), JSON.stringify(f));
    assert.equal(figure(c, 'latency', 'static').ratio, 1);
    assert.deepEqual([c.differences, c.kernels, c.graphs, c.source.added], [[], [], [], 0]);
});

test('what is slower says so with its interval, and what changed with it', async () => {
    const { body } = await compare(`a=${ids[0]}&b=${ids[1]}`);
    assert.equal(body.verdict, 'SLOWER');
    assert.deepEqual(body.runs.map((r) => [r.label, r.id, r.commit]), [['A', ids[0], ''], ['B', ids[1], 'abcdef0123']]);
    const [c] = body.comparisons;
    const f = figure(c, 'latency', 'static');
    assert.ok(1.05 < f.ci[0] && f.ci[0] <= f.ratio && f.ratio <= f.ci[1]);
    assert.deepEqual([f.verdict, c.headline.mode, c.headline.metric], ['SLOWER', 'static', 'latency']);
    assert.equal(figure(c, 'breaks', 'static').verdict, 'MORE');
    assert.equal(figure(c, 'breaks', 'eager'), undefined);
    const [added] = c.breaks.filter((b) => b.change === 'added');
    assert.deepEqual([added.text, added.kind, added.b.line, added.a], ['print("now")', 'host-call', 6, null]);
    assert.ok(c.kernels.some((k) => k.change === 'added') && c.kernels.some((k) => k.change === 'gone'));
    assert.ok(c.graphs[0].ops.some((o) => o.op === 'sin' && o.b === 60 && o.a === 0), JSON.stringify(c.graphs));
    assert.deepEqual(c.differences.map((d) => [d.key, d.matters]), [['source', false], ['commit', false]]);
    assert.equal(c.control, null, 'eager is no control of another source');
    assert.ok(c.source.lines.some((l) => l.sign === '+' && l.text.includes('print')));
    assert.equal((await compare(`a=${ids[1]}&b=${ids[0]}`)).body.verdict, 'FASTER');
});

test('where eager moved too, the speedup decides: in the answer, in the text and for the exit status', async () => {
    for (const [us, verdict, by, status] of [
        [[14, 7], 'SAME', 'speedup', 0], [[14, 5], 'FASTER', 'speedup', 0], [[14, 10], 'SLOWER', 'speedup', 1],
        [[28, 14], 'SAME', 'speedup', 0], [[20, 14], 'SLOWER', 'latency', 1], [[20.1, 10], 'SAME', 'latency', 0],
    ]) {
        const named = { ...light, name: `beside ${us}` }; // no other run repeats either
        const first = await run(named, [20, 10]), id = await run(named, us);
        const { body } = await compare(`a=${first}&b=${id}`);
        const [c] = body.comparisons;
        assert.deepEqual([body.verdict, c.judged_by, c.headline.metric, c.headline.verdict, c.headline.mode], [verdict, by, by, verdict, 'static'], String(us));
        for (const f of c.figures) assert.equal(f.decides, f.metric === by && f.mode === 'static', `${f.metric} of ${f.mode}`);
        const said = c.sentence.map((p) => p.text).join('');
        const done = command(String(first), String(id), ...store());
        assert.equal(done.status, status, done.stdout);
        assert.ok(done.stdout.includes(`${verdict}. ${said}`), done.stdout);
        const row = (name) => done.stdout.split('\n').find((line) => line.startsWith(name)).split(/ {2,}/).at(-1);
        assert.ok(!row('static speedup over eager').endsWith(')'), done.stdout);
        for (const name of ['static latency', 'eager latency']) assert.equal(/^\([A-Z]+\)$/.test(row(name)), by === 'speedup', done.stdout);
        assert.equal(done.stdout.includes('In brackets: what does not count toward the verdict.'), by === 'speedup');
        assert.equal(/Eager moved too, to .* of A's time, with the same source and version, so the machine may have changed: the speedup decides, not the latency \([\d.]+x\)\./.test(said), by === 'speedup', said);
        const asked = (await compare(`a=${first}&b=${id}&metric=latency`)).body.comparisons[0];
        assert.equal(asked.judged_by, 'latency');
        assert.equal(asked.verdict, figure(asked, 'latency', 'static').verdict);
    }
});

test('in a sweep eager that moved at one point has the speedups decide at all of them', async () => {
    const swept = { ...workload('    ...\n    return x.sum()', { ...quick, name: 'drift' }), sweep: { statements: { pool: ['x = x * 1.1'], counts: [1, 4] } } };
    const [a, b] = await Promise.all([1, 1.3].map(async (by) => {
        const { id } = await waitFor(server, (await postRun(server, swept)).body.id);
        return timed(server, id, (n) => ({ eager: n === 1 ? 20 * by : 80, static: n === 1 ? 10 * by : 10 }));
    }));
    const [c] = (await compare(`a=${a}&b=${b}`)).body.comparisons;
    assert.deepEqual([c.verdict, c.judged_by, c.headline.metric, c.headline.n, c.control.n], ['SAME', 'speedup', 'speedup', 4, 1]);
    assert.equal(c.figures.find((f) => f.metric === 'latency' && f.mode === 'static' && f.n === 1).verdict, 'SLOWER');
    assert.deepEqual([c.counts.SAME, c.counts.SLOWER], [2, 0]);
    assert.match(c.how[0], /^Of 2 speedups 2 are SAME\.$/);
});

test('what cannot be compared is refused with the field named, and shown where one insists', async () => {
    const refused = (await compare(`a=${ids[0]}&b=${ids[2]}`)).body;
    assert.deepEqual([refused.verdict, refused.comparable], ['REFUSED', false]);
    assert.equal(refused.refused, 'not comparable: threads 1 against 2');
    assert.equal(refused.comparisons[0].figures, undefined);
    const forced = (await compare(`a=${ids[0]}&b=${ids[2]}&force=1`)).body;
    assert.equal(forced.comparisons[0].forced, true);
    assert.equal(forced.refused, refused.refused);
    assert.ok(forced.comparisons[0].figures.length > 0);
    assert.match((await compare(`a=${ids[0]}&b=${ids[3]}`)).body.refused, /: workload chain against other$/);
});

test('more than two are each compared with the first', async () => {
    for (const query of [`a=${ids[0]}&b=${ids[1]}&b=${ids[0]}`, `a=${ids[0]}&b=${ids[1]}&c=${ids[0]}`]) {
        const { body } = await compare(query);
        assert.deepEqual(body.comparisons.map((c) => c.a + c.b), ['AB', 'AC']);
        assert.equal(body.comparisons[0].verdict, 'SLOWER');
        assert.equal(body.comparisons[1].verdict, 'SAME');
        assert.equal(body.verdict, 'SLOWER');
    }
});

test('bad questions are answered in words', async () => {
    const waiting = (await postRun(server, longSweep())).body.id;
    for (const [query, status, message] of [
        ['', 400, /a= is missing/],
        [`a=${ids[0]}`, 400, /b= is missing/],
        [`a=${ids[0]}&b=x`, 400, /b=x is no run/],
        [`a=${ids[0]}&a=${ids[1]}&b=${ids[1]}`, 400, /a= stands twice/],
        [`a=${ids[0]}&b=999`, 404, /there is no run 999/],
        [`a=${ids[0]}&b=${waiting}`, 409, /only a run that is done/],
        [`a=${ids[0]}&b=${ids[1]}&force=yes`, 400, /force=yes: 1 or 0/],
        [`a=${ids[0]}&b=${ids[1]}&margin=0`, 400, /margin=0: percents above 0/],
        [`a=${ids[0]}&b=${ids[1]}&metric=launches`, 400, /latency or speedup/],
        [`a=${ids[0]}${`&b=${ids[1]}`.repeat(8)}`, 400, /at most 8 runs/],
    ]) {
        const { status: got, body } = await compare(query);
        assert.equal(got, status, `${query}: ${JSON.stringify(body)}`);
        assert.match(body.error.message, message);
    }
    await getJson(`${server.url}/api/v1/runs/${waiting}`, { method: 'DELETE' });
});

test('the command: runs of the store, exit 1 for SLOWER alone', () => {
    const slower = command(String(ids[0]), String(ids[1]), ...store());
    assert.equal(slower.status, 1, slower.stderr);
    assert.match(slower.stdout, /^SLOWER\. B takes \S+x \(\S+\) as long as A under static: \S+ µs against \S+ µs\. 1 new break/m);
    assert.match(slower.stdout, /^break added, static: host-call, line 6: print\("now"\)/m);
    assert.match(slower.stdout, /^source: \d+ lines in A, \d+ lines added, \d+ gone in B$/m);
    const rows = slower.stdout.split('\n').filter((line) => / (SLOWER|SAME|FASTER|LESS|MORE)$/.test(line)).map((line) => line.replace(/\S+$/, '').length);
    assert.ok(rows.length > 1 && new Set(rows).size === 1, slower.stdout);
    const faster = command(String(ids[1]), String(ids[0]), ...store());
    assert.equal(faster.status, 0, faster.stdout);
    assert.match(faster.stdout, /^FASTER\./m);
    const refused = command(String(ids[0]), String(ids[2]), ...store());
    assert.equal(refused.status, 1);
    assert.match(refused.stdout, /^REFUSED\. .*threads 1 against 2/m);
    assert.equal(command(String(ids[0]), String(ids[0]), ...store()).status, 0);
});

test('the command: files, as run --json and export write them', async () => {
    const report = join(server.home, 'a.json');
    const whole = (await getJson(`${server.url}/api/v1/runs/${ids[0]}`)).body;
    writeFileSync(report, JSON.stringify(whole.report));
    const exported = join(server.home, 'b.json');
    assert.equal(spawnSync(binary, ['export', String(ids[1]), '--format', 'json', '-o', exported, ...store()]).status, 0);
    const done = command(report, exported, '--json');
    assert.equal(done.status, 1, done.stderr);
    const json = JSON.parse(done.stdout);
    assert.equal(json.verdict, 'SLOWER');
    assert.deepEqual(json.runs.map((r) => [r.name, r.id, r.commit]), [['chain', undefined, ''], ['chain', ids[1], 'abcdef0123']]);
    const slow = JSON.parse(readFileSync(report, 'utf8'));
    const l = slow.modes.static.latency;
    [l.median_us, l.ci_us] = [10 * l.median_us, l.ci_us.map((x) => 10 * x)];
    writeFileSync(exported, JSON.stringify(slow));
    assert.equal(command(report, exported).status, 1);
    assert.equal(command(report, exported, '--metric', 'speedup').status, 0, 'the pairs within a run were not touched');
});

test('the command: wrong flags and files', () => {
    const text = join(server.home, 'text.json');
    writeFileSync(text, '{"name": 1}');
    const wrong = join(server.home, 'wrong.json');
    writeFileSync(wrong, '{"report": {"workload": {"name": 3}, "modes": {}}}');
    for (const [args, status, message] of [
        [[], 2, /two runs are missing/],
        [['1'], 2, /a second run is missing/],
        [['1', '2', '--fast'], 2, /unknown flag --fast;/],
        [['1', '2', '--marginn', '3'], 2, /unknown flag --marginn \(did you mean --margin\?\);/],
        [['1', '2', '--marginn=3'], 2, /unknown flag --marginn=3 \(did you mean --margin\?\);/],
        [['1', '2', '--margin'], 2, /a value is missing after --margin/],
        [['1', '2', '--margin', 'x'], 2, /--margin takes percents/],
        [['1', '2', '--metric', 'x'], 2, /--metric x: one of latency, speedup is needed/],
        [Array(9).fill('1'), 2, /at most 8 runs/],
        [['none.json', String(ids[0])], 1, /none\.json cannot be opened: No such file.*by its number/],
        [[text, text], 1, /is not a report of a workload/],
        [[wrong, text], 1, /wrong\.json: report\.workload\.name is 3; it takes a text/],
        [[String(ids[0]), '999', ...store()], 1, /there is no run 999/],
    ]) {
        const done = command(...args);
        assert.equal(done.status, status, `${args}: ${done.stderr}`);
        assert.match(done.stderr, message);
    }
    assert.equal(command('--help').status, 0);
});

/* ---- timelines ---- */

/** A trace of so many steps, of three kernels each, of which the second takes so many microseconds. */
function trace(steps, us, names = ['first_0', 'second_1', 'third_2'], opUs = 8) {
    const events = [];
    for (let step = 0; step < steps; step++)
        names.forEach((name, i) => {
            const ts = 100 * step + 20 * i, correlation = 10 * step + i + 1;
            const dur = (i === 1 ? us : 5) + 0.01 * ((step + i) % 3);
            events.push({ ph: 'X', cat: 'cpu_op', name: `aten::op${i}`, pid: 9, tid: 9, ts, dur: i ? 8 : opUs });
            events.push({ ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 9, tid: 9, ts: ts + 2, dur: 3, args: { correlation } });
            events.push({ ph: 'X', cat: 'kernel', name, pid: 0, tid: 7, ts: ts + 6, dur, args: { correlation, device: 0, stream: 7 } });
        });
    return JSON.stringify({ schemaVersion: 1, traceEvents: events });
}
const timelines = (query) => getJson(`${server.url}/api/v1/compare/timelines?${query}`);
async function importTrace(name, text) {
    const answer = await fetch(`${server.url}/api/v1/imports?name=${name}`, { method: 'POST', body: text, headers: { 'Content-Type': 'application/json' } });
    assert.equal(answer.status, 201);
    return (await answer.json()).id;
}

test('the difference of two traces is laid to the kernel that is slower', async () => {
    const a = await importTrace('before', trace(9, 10)), b = await importTrace('after', trace(9, 14, ['first_4', 'second_5', 'third_6'], 9));
    const { status, body } = await timelines(`a=${a}&b=${b}`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.a.id, body.b.id, body.a.unit, body.a.used, body.a.items], [a, b, 'period of 3', 8, 3]);
    const [first] = body.rows;
    assert.deepEqual([first.part, first.change, first.name, first.n_a, first.n_b], ['device', 'slower', 'second_5', 1, 1]);
    assert.ok(Math.abs(first.time.delta_us - 4) < 0.01 && first.time.changed, JSON.stringify(first.time));
    const sum = body.rows.filter((r) => r.part === 'device').reduce((n, r) => n + r.time.delta_us, 0);
    assert.ok(Math.abs(sum - body.device.delta_us) < 1e-6);
    assert.ok(first.b.t0_ns > 0 && first.b.t1_ns > first.b.t0_ns);
    assert.equal(body.leads, 'device');
    const quiet = body.rows.filter((r) => !r.stands);
    assert.equal(body.noise_rows, quiet.length);
    assert.ok(quiet.length && quiet.every((r) => !r.time.changed && r.n_a === r.n_b && r.time.ci_us), JSON.stringify(quiet));
    assert.ok(Math.abs(quiet.reduce((n, r) => n + r.time.delta_us, 0) - body.noise_us) < 1e-6);
    const shown = spawnSync(binary, ['compare', '--timelines', String(a), String(b), '--db', server.store], { encoding: 'utf8' });
    assert.ok(shown.stdout.includes(`\n${quiet.length} more within their noise, together `), shown.stdout + shown.stderr);
    assert.deepEqual(body.host_rows.map((r) => [r.part, r.change, r.name]), [['host', 'slower', 'aten::op0']]);
    assert.ok(Math.abs(body.host.delta_us - 1) < 1e-6, JSON.stringify(body.host));
    const same = (await timelines(`a=${a}&b=${a}`)).body;
    assert.deepEqual([same.leads, same.rows.filter((r) => r.time.changed)], ['none', []]);
});

test('modes of a run are aligned; what has no timeline and no such lanes is refused', async () => {
    const { status, body } = await timelines(`a=${ids[1]}&b=${ids[1]}&mode=eager&mode_b=static`);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.a.mode, body.b.mode], ['eager', 'static']);
    assert.ok(body.a.items > body.b.items, JSON.stringify([body.a, body.b]));
    for (const [query, code, says] of [
        [`a=${ids[0]}`, 400, /b= is missing/], [`a=${ids[0]}&b=x`, 400, /b=x/], [`a=${ids[0]}&b=${ids[0]}&mode=fast`, 400, /mode=fast/],
        [`a=${ids[0]}&b=${ids[0]}&mode=lazy`, 400, /no lanes of mode lazy/], [`a=${ids[0]}&b=999999`, 404, /999999/],
    ]) {
        const answer = await timelines(query);
        assert.equal(answer.status, code, query);
        assert.match(answer.body.error.message, says);
    }
});

test('the command aligns two files, and says by its exit status what is slower', () => {
    const [a, b] = [['a.json', trace(9, 10)], ['b.json', trace(9, 18)]].map(([name, text]) => {
        const path = join(server.home, name);
        writeFileSync(path, text);
        return path;
    });
    const same = command(a, a), slower = command(a, b);
    assert.equal(same.status, 0, same.stderr);
    assert.match(same.stdout, /^No difference beyond noise/);
    assert.equal(slower.status, 0, 'the step takes as long: its kernels lie in its idle time');
    assert.match(slower.stdout, /\+8.0 µs {2}device {2}slower {7}1 {5}1 {2}second_1/);
    for (const [args, says] of [[[a, b, '--margin', '3'], /without --margin/], [['1', '2', '--mode', 'eager'], /--timelines alone: --mode/], [[a, b, '--mode', 'fast'], /no mode is named fast/], [[a, b, a], /two at once, and this is one: /]]) {
        const r = command(...args);
        assert.equal(r.status, 2);
        assert.match(r.stderr, says);
    }
    const log = command(a, 'tests/import/torch_trace_2.14.log');
    assert.deepEqual([log.status, log.stdout], [1, '']);
    assert.match(log.stderr, /torch_trace_2\.14\.log has neither kernels nor ops/);
});
