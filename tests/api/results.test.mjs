// tests/api/results.test.mjs -- results of other tools as runs: POST /results, breakeven import, and what
// compares, draws and judges them afterwards.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary, getJson, startServer, until } from './harness.mjs';
import { faults } from './schema.mjs';

const FILES = {
    'google_repetitions.json': 'google-benchmark', 'pytest_data.json': 'pytest-benchmark', 'hyperfine.json': 'hyperfine', 'asv_result.json': 'asv',
    'dynamo_performance.csv': 'dynamo', 'dynamo_accuracy.csv': 'dynamo', 'torch_list.pt': 'torch.utils.benchmark', 'torch_one.pkl': 'torch.utils.benchmark',
};

const post = (server, body, query = '', type = 'application/octet-stream') =>
    getJson(`${server.url}/api/v1/results${query}`, { method: 'POST', headers: { 'Content-Type': type }, body });
const get = async (server, path) => (await getJson(`${server.url}/api/v1${path}`)).body;
const breakeven = (...words) => spawnSync(binary, words, { encoding: 'utf8' });

/** What hyperfine writes of one command: 40 samples about a median of so many seconds, and no number twice. */
const hyperfine = (name, seconds, seed = 1) => JSON.stringify({
    results: [{ command: name, mean: seconds, times: Array.from({ length: 40 }, (_, i) => seconds * (1 + 0.004 * Math.sin(seed * 7 + i * 2.3))), exit_codes: Array(40).fill(0) }],
});

test('results of other tools', async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    const schemas = (await get(server, '/openapi.json')).components.schemas;

    await t.test('each tool\'s file becomes runs that are done, as openapi.json says them', async () => {
        for (const [file, format] of Object.entries(FILES)) {
            const { status, body } = await post(server, readFileSync(`tests/results/${file}`), `?file=${file}&project=tools`);
            assert.equal(status, 201, JSON.stringify(body));
            assert.equal(body.format, format);
            assert.equal(body.suite !== null, body.runs.length > 1);
            for (const id of body.runs) {
                const run = await get(server, `/runs/${id}`);
                assert.equal(run.status, 'done');
                assert.equal(run.project, 'tools');
                assert.equal(run.report.result.file, file);
                assert.equal(run.about.kind, 'result');
                assert.deepEqual(faults(run.report, { $ref: '#/components/schemas/ReportRun' }, schemas), []);
            }
            if (body.suite) assert.equal((await get(server, `/suites/${body.suite}`)).runs.done, body.runs.length);
        }
    });

    await t.test('what no known tool wrote, and a file with one bad result, leave nothing', async () => {
        const before = (await get(server, '/runs')).total;
        const strange = await post(server, '{"hello": 1}');
        assert.equal(strange.status, 400);
        assert.match(strange.body.error.message, /no tool that is known wrote it: results are JSON of pytest-benchmark/);
        const good = JSON.parse(breakeven('import', 'tests/results/hyperfine.json', '--json').stdout);
        good.results[1].modes = {};
        const half = await post(server, JSON.stringify(good), '', 'application/json');
        assert.equal(half.status, 400);
        assert.match(half.body.error.message, /result 1 of the file lacks/);
        const empty = await post(server, '{"context": {}, "benchmarks": [{"name": "a", "run_name": "a", "error_occurred": true, "error_message": "no device", "time_unit": "ns"}]}');
        assert.match(empty.body.error.message, /has no result: a has no result: no device/);
        assert.equal((await get(server, '/runs')).total, before);
    });

    await t.test('hundreds of benchmarks are one suite', async () => {
        const many = Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`bench ${i}`, { latency: { value: 1000 + i } }]));
        const { status, body } = await post(server, JSON.stringify(many), '?name=many');
        assert.equal(status, 201);
        assert.equal(body.runs.length, 700);
        const suite = await get(server, `/suites/${body.suite}`);
        assert.deepEqual([suite.name, suite.runs.done], ['many', 700]);
        assert.equal((await get(server, '/runs?fold=1')).runs[0].suite.id, body.suite);
        const over = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`bench ${i}`, { latency: { value: 1 } }]));
        assert.match((await post(server, JSON.stringify(over))).body.error.message, /more than 1000 benchmarks/);
    });

    await t.test('verdicts rest on the samples, and machines are not mixed', async () => {
        const one = async (seconds, seed, machine) => (await post(server, hyperfine('sort', seconds, seed), `?machine=${machine}`)).body.runs[0]; // of no commit: none repeats another
        const [a, b, slow, other] = [await one(0.1, 1, 'one'), await one(0.1, 2, 'one'), await one(0.11, 3, 'one'), await one(0.1, 4, 'two')];
        const verdict = async (x, y) => (await get(server, `/compare?a=${x}&b=${y}`)).comparisons[0];
        assert.equal((await verdict(a, b)).verdict, 'SAME');
        assert.equal((await verdict(a, slow)).verdict, 'SLOWER');
        const mixed = await verdict(a, other);
        assert.equal(mixed.comparable, false);
        assert.match(JSON.stringify(mixed.differences), /"machine"/);
    });

    await t.test('a figure without samples is not enough for a verdict', async () => {
        const bmf = (value) => JSON.stringify({ query: { latency: { value, lower_value: value - 1, upper_value: value + 1 } } });
        const [a, b] = [await post(server, bmf(100), '?machine=m'), await post(server, bmf(200), '?machine=m')];
        assert.equal((await get(server, `/compare?a=${a.body.runs[0]}&b=${b.body.runs[0]}`)).comparisons[0].verdict, 'NOT ENOUGH');
        assert.match(a.body.notes.join(), /no verdict rests on them/);
    });

    await t.test('a history has them, and the step in it', async () => {
        for (let i = 0; i < 12; i++) {
            const { status } = await post(server, hyperfine('grep', i < 6 ? 0.1 : 0.12, i), `?machine=one&branch=main&commit=c${i}`);
            assert.equal(status, 201);
        }
        const found = await until(async () => {
            const h = await get(server, '/history?workload=grep');
            return h.changes?.length && h;
        }, 'a change');
        assert.deepEqual([found.metric, found.mode, found.points.length], ['latency', 'wall', 12]);
        assert.deepEqual(found.changes.map((c) => [c.verdict, c.after.commit]), [['SLOWER', 'c6']]);
        const { status, body } = await getJson(`${server.url}/api/v1/gate`, {
            method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ runs: [found.points[11].run.id], baseline: String(found.points[0].run.id) }),
        });
        assert.equal(status, 200);
        assert.equal(body.exit, 1);
    });

    await t.test('values that are not eager\'s disagree', async () => {
        const csv = (word) => `dev,name,batch_size,accuracy,graph_breaks\ncuda,resnet,4,${word},2\n`;
        const [good, bad] = [await post(server, csv('pass'), '?machine=m', 'text/csv'), await post(server, csv('fail_accuracy'), '?machine=m', 'text/csv')].map(({ body }) => body.runs[0]);
        assert.equal((await get(server, `/compare?a=${good}&b=${bad}`)).comparisons[0].verdict, 'DISAGREES');
        const { body } = await post(server, `${csv('pass')}cuda,vgg,4,fail_accuracy,0\n`, '?machine=m', 'text/csv');
        const { benchmarks, sentence } = (await get(server, `/suites/${body.suite}`)).report;
        assert.deepEqual(benchmarks.map((b) => [b.name, b.mode, b.shown, b.verdict]), [['resnet', 'accuracy', '1', undefined], ['vgg', 'accuracy', '0', 'DISAGREES']]);
        assert.equal(sentence[0].text, '2 benchmarks of dynamo.');
    });

    await t.test('breakeven import posts them, and says what it would not', async () => {
        const done = breakeven('import', 'tests/results/google_repetitions.json', '--post', server.url, '--machine', 'mine', '--branch', 'main');
        assert.equal(done.status, 0, done.stderr);
        assert.match(done.stdout, /BM_Sum\/1024\/min_time:0\.005\n {2}wall .* µs \(/);
        assert.match(done.stdout, /note: not kept: caches of the context/);
        const [, first] = /4 runs from (\d+) on/.exec(done.stderr);
        const run = await get(server, `/runs/${first}`);
        assert.deepEqual([run.report.result.machine, run.branch, run.report.result.format], ['mine', 'main', 'google-benchmark']);
    });
});

test('results without a server', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'results-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const db = join(folder, 'store');

    // asv keeps units and names of parameters beside the folders of its machines.
    mkdirSync(join(folder, 'results', 'machine'), { recursive: true });
    writeFileSync(join(folder, 'results', 'benchmarks.json'), JSON.stringify({ 's.track_loss': { type: 'track', unit: 'bits', param_names: ['n'] }, version: 2 }));
    const asv = join(folder, 'results', 'machine', 'abc-env.json');
    writeFileSync(asv, JSON.stringify({ commit_hash: 'abc', env_name: 'env', params: { machine: 'machine' }, result_columns: ['result', 'params'], results: { 's.track_loss': [[7], [['10']]] }, version: 2 }));
    assert.match(breakeven('import', asv).stdout, /s\.track_loss\(10\)\n {2}value +7 bits\n/);

    for (let i = 0; i < 3; i++) {
        const file = join(folder, `h${i}.json`);
        writeFileSync(file, hyperfine('sort', 0.1, i));
        assert.match(breakeven('import', file, '--db', db, '--commit', `c${i}`).stderr, new RegExp(`run ${i + 1} of`));
    }
    const history = breakeven('history', 'sort', '--db', db);
    assert.equal(history.status, 0, history.stderr);
    assert.match(history.stdout, /c2/);

    // The gate judges a file of results as it is: beside another file, or a branch of a store.
    const [then, now] = [join(folder, 'then.json'), join(folder, 'now.json')];
    const two = (seconds, seed) => JSON.stringify({ results: [...JSON.parse(hyperfine('sort', 0.1, seed)).results, ...JSON.parse(hyperfine('grep', seconds, seed + 1)).results] });
    writeFileSync(then, two(0.1, 1));
    writeFileSync(now, two(0.12, 5));
    const files = breakeven('gate', now, '--baseline', then);
    assert.equal(files.status, 1, files.stderr);
    assert.match(files.stdout, /passed +sort +SAME[^]*failed +grep +SLOWER/);
    assert.equal(breakeven('import', then, '--db', db, '--machine', 'ci', '--branch', 'main').status, 0);
    assert.equal(breakeven('gate', then, '--baseline', 'main', '--db', db, '--machine', 'ci').status, 0);
    const unlike = breakeven('gate', then, '--baseline', 'main', '--db', db);
    assert.deepEqual([unlike.status, /not comparable: machine ci against none/.test(unlike.stdout) || unlike.stdout], [3, true]);
    assert.match(breakeven('gate', then, '--baseline', then, '--modes', 'static').stderr, /has results, which are not run/);

    // Any command, a process each.
    const record = (...words) => breakeven('record', 'nap', '--db', db, '--seconds', '1', ...words);
    const nap = record('--commit', 'c9', '--', 'sleep', '0.005');
    assert.equal(nap.status, 0, nap.stderr);
    assert.match(nap.stdout, /^nap\n {2}wall +[\d.,]+ [mµ]s .*\n {2}cpu +/);
    assert.match(breakeven('history', 'nap', '--db', db).stdout, /c9/);
    const failed = record('--', 'sh', '-c', 'echo so what; exit 3');
    assert.deepEqual([failed.status, failed.stderr.split(': ').slice(1).join(': ').trim()], [1, 'it ended with status 3, which --allow-failure allows: so what']);
    const kept = JSON.parse(breakeven('record', 'nap', '--json', '--samples', '7', '--warm-up', '0', '--allow-failure', '--', 'sh', '-c', 'exit 3').stdout).results[0];
    assert.equal(kept.result.waited_us.length, 7);
    assert.deepEqual([kept.result.exit_codes, kept.result.warm_ups, kept.modes.wall.measure.n, kept.result.stopped], [Array(7).fill(3), 0, 7, '7 samples were asked for']);
    assert.match(record('--timeout', '1', '--', 'sleep', '9').stderr, /it ran longer than 1 s/);
    assert.equal(record().status, 2);
    assert.equal(record('--', 'no-such-program').status, 1);

    const mixed = breakeven('import', asv, 'tests/import/kineto.json');
    assert.deepEqual([mixed.status, /imported apart/.test(mixed.stderr)], [2, true]);
    const log = breakeven('import', 'tests/import/kineto.json', '--db', db);
    assert.deepEqual([log.status, /logs take no --db/.test(log.stderr)], [2, true]);
    const why = breakeven('import', '--results', 'README.md');
    assert.deepEqual([why.status, /README\.md: no tool that is known wrote it/.test(why.stderr)], [1, true]);
});
