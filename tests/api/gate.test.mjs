// tests/api/gate.test.mjs -- workloads beside a baseline: exit statuses, forms, the route, CI examples.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { binary, getJson, startServer, workload } from './harness.mjs';
import { madeHistory } from './made_history.mjs';

const program = resolve(binary);
const quick = { backend: 'interp', seconds: 0.1, threads: 1, modes: ['eager', 'static'] };
const body = '    x = x * 1.1\n    return x.sum()';
const broken = '    x = x * 1.1\n    print("here <&> |")\n    return x.sum()';
const gate = (cwd, ...args) => spawnSync(program, ['gate', ...args], { cwd, encoding: 'utf8' });

let folder, server;
before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'breakeven-gate-'));
    mkdirSync(join(folder, 'bench'));
    writeFileSync(join(folder, 'bench/chain.json'), JSON.stringify(workload(body, { ...quick, name: 'chain' })));
    server = await startServer();
});
after(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true });
});

/** The saved report of chain with static's latencies, and what else, changed. */
function save(name, by, edit = () => {}) {
    const report = JSON.parse(readFileSync(join(folder, 'first/chain.json'), 'utf8'));
    const m = report.modes.static;
    m.latency.median_us *= by;
    m.latency.ci_us = m.latency.ci_us.map((x) => x * by);
    const paid = report.break_even.static;
    paid.speedup /= by;
    paid.speedup_ci = paid.speedup_ci.map((x) => x / by);
    edit(report);
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, name, 'chain.json'), JSON.stringify(report));
}

test('without a baseline it is not enough; the reports are kept, and are a baseline', () => {
    const first = gate(folder, 'bench', '--baseline', 'main', '--save', 'first');
    assert.equal(first.status, 3, first.stderr);
    assert.match(first.stdout, /^not enough +chain +NO BASELINE/);
    const second = gate(folder, 'bench', '--baseline', 'first', '--fail-on', 'values,graphs,breaks,launches', '--json');
    assert.equal(second.status, 0, second.stdout + second.stderr);
    const { verdict, exit, rows: [row] } = JSON.parse(second.stdout);
    assert.deepEqual([verdict, exit, row.outcome, row.workload], ['PASSED', 0, 'passed', 'chain']);
});

test('a baseline that was much quicker: SLOWER fails, unless times are only reported', () => {
    save('quicker', 0.2);
    const slow = gate(folder, 'bench', '--baseline', 'quicker');
    assert.equal(slow.status, 1, slow.stdout);
    assert.match(slow.stdout, /failed +chain +SLOWER +static (latency|speedup over eager) [\d.,]+x \(/);
    assert.match(slow.stdout, /! SLOWER/);
    const told = gate(folder, 'bench', '--baseline', 'quicker', '--fail-on', 'values,breaks');
    assert.equal(told.status, 0);
    assert.match(told.stdout, /- SLOWER/);
});

test('a new break fails, at its line in every form; a machine that is another is not enough', () => {
    writeFileSync(join(folder, 'chain.py'), '# input: x=float32[8,16]\nimport torch\n\ndef model(x):\n    x = x * 1.1\n    return x.sum()\n');
    const flags = ['chain.py', '--modes', 'eager,static'];
    assert.equal(gate(folder, ...flags, '--baseline', 'none', '--save', 'py').status, 3);
    writeFileSync(join(folder, 'chain.py'), '# input: x=float32[8,16]\nimport torch\n\ndef model(x):\n    x = x * 1.1\n    print("here <&> |")\n    return x.sum()\n');
    const r = gate(folder, ...flags, '--baseline', 'py', '--markdown', 'gate.md', '--junit', 'junit.xml', '--sarif', 'gate.sarif', '--github');
    assert.equal(r.status, 1, r.stdout + r.stderr);
    assert.match(r.stdout, /! breaks: static breaks: 1, were 0|! static breaks: 1, were 0/);
    assert.match(r.stdout, /^::warning title=chain,file=chain\.py,line=6::static: a new break/m);
    const sarif = JSON.parse(readFileSync(join(folder, 'gate.sarif'), 'utf8'));
    assert.equal(sarif.version, '2.1.0');
    const at = sarif.runs[0].results.filter((x) => x.locations.length && x.level === 'warning');
    assert.equal(at[0].locations[0].physicalLocation.region.startLine, 6);
    for (const x of sarif.runs[0].results) assert.ok(sarif.runs[0].tool.driver.rules.some((rule) => rule.id === x.ruleId));
    assert.match(readFileSync(join(folder, 'gate.md'), 'utf8'), /\| ❌ \| chain \|.*\n(.*\n)*.*here &lt;&\\?> \\\|/);
    const xml = readFileSync(join(folder, 'junit.xml'), 'utf8');
    execFileSync('python3', ['-c', 'import sys, xml.etree.ElementTree as e; s = e.fromstring(sys.stdin.read()).find("testsuite"); assert s.get("failures") == "1" and "here <&> |" in s.find("testcase/failure").text'], { input: xml });
    save('elsewhere', 1, (report) => { report.workload.threads = report.environment.threads = report.device.threads = 3; });
    const other = gate(folder, 'bench', '--baseline', 'elsewhere');
    assert.equal(other.status, 3, other.stdout);
    assert.match(other.stdout, /not comparable/);
});

test('what does not run fails; wrong flags are 2', () => {
    writeFileSync(join(folder, 'bad.json'), JSON.stringify(workload('    return x.reshape(3)', quick)));
    const bad = gate(folder, 'bad.json', '--baseline', 'first');
    assert.equal(bad.status, 1);
    assert.match(bad.stdout, /failed +bad +NO RUN/);
    for (const args of [['bench'], ['--baseline', 'x'], ['bench', '--baseline', 'x', '--fail-on', 'speed'], ['bench', '--baseline', 'x', '--margin', '0'], ['bench', '--baseline', 'x', '--server', 'http://127.0.0.1:1', '--save', 'y']])
        assert.equal(gate(folder, ...args).status, 2, args.join(' '));
    assert.equal(gate(folder, 'nothere', '--baseline', 'first').status, 3);
});

const ask = (json) => getJson(`${server.url}/api/v1/gate`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(json) });

test('one call to a server runs what is missing, and answers the same', async () => {
    const ids = await madeHistory(server, workload(body, { ...quick, name: 'made' }), [{ branch: 'main', commit: 'a1' }, { branch: 'main', commit: 'b2' }, { branch: 'topic', commit: 'c3', static: 1.5 }]);
    await getJson(`${server.url}/api/v1/history?workload=made`);
    const { status, body: g } = await ask({ runs: [ids[2]], baseline: 'main' });
    assert.equal(status, 200, JSON.stringify(g));
    assert.deepEqual([g.verdict, g.exit, g.rows[0].verdict, g.rows[0].a.id], ['FAILED', 1, 'SLOWER', ids[1]], 'the newest of main');
    assert.equal((await ask({ runs: [ids[1]], baseline: String(ids[0]) })).body.verdict, 'PASSED');
    assert.equal((await ask({ runs: [ids[1]], baseline: 'nobody' })).body.verdict, 'NOT ENOUGH');
    const markdown = await fetch(`${server.url}/api/v1/gate`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ runs: [ids[2]], baseline: 'main', format: 'markdown' }) });
    assert.match(await markdown.text(), /^### Breakeven: FAILED/);
    const w = workload(body, { ...quick, name: 'posted' });
    let answer = await ask({ workloads: [w], baseline: 'main' });
    assert.equal(answer.status, 202);
    const [{ id }] = answer.body.runs;
    while (answer.status === 202) answer = await ask({ workloads: [w], baseline: 'main' });
    assert.deepEqual([answer.status, answer.body.rows[0].verdict, answer.body.rows[0].workload], [200, 'NO BASELINE', 'posted']);
    const again = await ask({ workloads: [w], baseline: String(id) });
    assert.equal(again.status, 200, 'it is not run again');
    assert.equal(again.body.exit, 0);
    for (const bad of [{}, { runs: [1] }, { runs: ['x'], baseline: 'a' }, { runs: [1], baseline: 'a', more: 1 }, { runs: [1], baseline: 'a', margin: -1 }, { runs: [ids[0]], baseline: 'main', format: 'pdf' }])
        assert.equal((await ask(bad)).status, 400, JSON.stringify(bad));
    const cli = gate(folder, 'bench', '--server', server.url, '--baseline', 'main', '--branch', 'topic');
    assert.equal(cli.status, 3, cli.stdout + cli.stderr);
    assert.match(cli.stdout, /NO BASELINE/);
});

test('the step of the CI examples: a change is compared with its merge base', () => {
    const git = (...args) => execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd: join(folder, 'repo'), stdio: 'pipe' }).toString();
    const bench = join(folder, 'repo/bench');
    mkdirSync(bench, { recursive: true });
    const write = (text) => writeFileSync(join(bench, 'chain.json'), JSON.stringify(workload(text, { ...quick, name: 'chain' })));
    git('init', '-q', '-b', 'main');
    write(body);
    git('add', '.');
    git('commit', '-q', '-m', 'one');
    git('checkout', '-q', '-b', 'topic');
    const step = () => spawnSync('sh', [resolve('deploy/ci/gate.sh'), 'bench', '--fail-on', 'values,graphs,breaks,launches'], { cwd: join(folder, 'repo'), encoding: 'utf8', env: { ...process.env, BREAKEVEN: program, BASE: 'main' } });
    const good = step();
    assert.equal(good.status, 0, good.stdout + good.stderr);
    write(broken);
    git('commit', '-q', '-am', 'two');
    const bad = step();
    assert.equal(bad.status, 1, bad.stdout + bad.stderr);
    assert.match(bad.stdout, /FAILED: 1 workload/);
    for (const name of ['gate.md', 'junit.xml', 'gate.sarif', 'now/chain.json', 'base/chain.json']) assert.ok(readFileSync(join(folder, 'repo/breakeven-gate', name), 'utf8').length > 10, name);
});

test('the examples name what is there: the step, its files, and well-formed YAML', () => {
    for (const name of ['github.yml', 'gitlab.yml', 'Jenkinsfile']) {
        const text = readFileSync(`deploy/ci/${name}`, 'utf8');
        assert.match(text, /deploy\/ci\/gate\.sh bench/);
        for (const [file] of text.matchAll(/breakeven-gate\/[\w.]+/g)) assert.ok(['breakeven-gate/gate.md', 'breakeven-gate/gate.sarif', 'breakeven-gate/junit.xml'].includes(file), file);
    }
});
