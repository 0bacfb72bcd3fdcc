// tests/api/gate.test.mjs -- workloads beside a baseline: exit statuses, forms, the route, CI examples.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { binary, getJson, startServer, workload } from './harness.mjs';
import { madeHistory } from './made_history.mjs';
import { readJunit, readMarkdown, readPipeline, readSarif, readWorkflow } from './readers.mjs';

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
    m.latency.samples_ns = m.latency.samples_ns.map((x) => Math.max(1, Math.round(x * by)));
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
    save('quicker', 0.001); // by more than a busy machine makes of its interval
    const slow = gate(folder, 'bench', '--baseline', 'quicker');
    assert.equal(slow.status, 1, slow.stdout);
    assert.match(slow.stdout, /failed +chain +SLOWER +static (latency|speedup over eager) [\d.,]+x \(/);
    assert.match(slow.stdout, /! SLOWER/);
    const told = gate(folder, 'bench', '--baseline', 'quicker', '--fail-on', 'values,breaks');
    assert.equal(told.status, 0);
    assert.match(told.stdout, /- SLOWER/);
});

test('a new break fails, at its line in every form, as its readers have it; a machine that is another is not enough', async () => {
    writeFileSync(join(folder, 'chain.py'), '# input: x=float32[8,16]\nimport torch\n\ndef model(x):\n    x = x * 1.1\n    return x.sum()\n');
    const flags = ['chain.py', '--modes', 'eager,static'];
    assert.equal(gate(folder, ...flags, '--baseline', 'none', '--save', 'py').status, 3);
    writeFileSync(join(folder, 'chain.py'), '# input: x=float32[8,16]\nimport torch\n\ndef model(x):\n    x = x * 1.1\n    print("here <&> |")\n    return x.sum()\n');
    const r = gate(folder, ...flags, '--baseline', 'py', '--markdown', 'gate.md', '--junit', 'junit.xml', '--sarif', 'gate.sarif', '--github');
    assert.equal(r.status, 1, r.stdout + r.stderr);
    assert.match(r.stdout, /! breaks: static breaks: 1, were 0|! static breaks: 1, were 0/);
    assert.match(r.stdout, /^::warning title=chain,file=chain\.py,line=6::static: a new break/m);
    const sarif = readSarif(readFileSync(join(folder, 'gate.sarif'), 'utf8'));
    const at = sarif.runs[0].results.filter((x) => x.locations.length && x.level === 'warning');
    assert.equal(at[0].locations[0].physicalLocation.region.startLine, 6);
    const markdown = await readMarkdown(readFileSync(join(folder, 'gate.md'), 'utf8'));
    assert.equal(markdown.title, 'Breakeven: FAILED');
    assert.deepEqual(markdown.rows.map((row) => row.slice(0, 2)), [['❌', 'chain']]);
    assert.ok(markdown.items.some((item) => item.includes('here <&> |')), markdown.items.join('\n'));
    const [suite] = await readJunit(readFileSync(join(folder, 'junit.xml'), 'utf8'));
    assert.equal(suite.failures, 1);
    assert.ok(suite.testcase[0].failure[0].inner.includes('here <&> |'), JSON.stringify(suite.testcase));
    save('elsewhere', 1, (report) => { report.workload.threads = report.environment.threads = report.device.threads = 3; });
    const other = gate(folder, 'bench', '--baseline', 'elsewhere');
    assert.equal(other.status, 3, other.stdout);
    assert.match(other.stdout, /not comparable/);
});

test('Markdown has a picture of each ratio on one scale, in characters that every reader shows', async () => {
    save('quicker', 0.5);
    gate(folder, 'bench', '--baseline', 'quicker', '--markdown', 'picture.md');
    const { header, rows, code } = await readMarkdown(readFileSync(join(folder, 'picture.md'), 'utf8'));
    assert.equal(header.length, 6);
    const [, low, high] = /^([\d.]+)x to ([\d.]+)x, 1x in the middle$/.exec(header[5]).map(Number);
    assert.ok(Math.abs(low * high - 1) < 0.01, 'as wide to both sides, of logs');
    const ratio = Number(/^([\d.]+)x/.exec(rows[0][4])[1]);
    const cells = [...code[0][0]];
    assert.equal(cells.length, 21);
    const at = 10 + Math.round(10 * Math.log(ratio) / Math.log(high));
    assert.equal(cells.indexOf('●'), at, `${ratio}: ${code[0][0]}`);
    // Where the machine is busy, the interval may reach over the middle.
    assert.ok((at === 10 ? '●' : '│┿').includes(cells[10]), code[0][0]);
});

test('a baseline of what is the same on every machine: kept as one file, judged without times, refused where it does not fit', () => {
    const counts = ['--no-timing', '--fail-on', 'values,graphs,breaks,launches'];
    const json = (file) => JSON.parse(readFileSync(join(folder, file), 'utf8'));
    assert.equal(gate(folder, 'bench', '--baseline', 'none', ...counts, '--save-baseline', 'kept.json').status, 3);
    const again = gate(folder, 'bench', '--baseline', 'kept.json', ...counts, '--save-baseline', 'again.json');
    assert.equal(again.status, 0, again.stdout + again.stderr);
    assert.match(again.stdout, /^passed +chain +SAME/);
    assert.equal(readFileSync(join(folder, 'again.json'), 'utf8'), readFileSync(join(folder, 'kept.json'), 'utf8'));
    assert.doesNotMatch(JSON.stringify(json('kept.json')), /latency|compile_ms|peak_bytes|environment|"cpu":|vector_unit|_us"/);
    // Times of this run are told, and those of no baseline.
    const timed = gate(folder, 'bench', '--baseline', 'kept.json', ...counts.slice(1));
    assert.equal(timed.status, 0, timed.stdout);
    assert.match(timed.stdout, /SAME +static over eager in this run [\d.,]+x \(/);
    assert.equal(gate(folder, 'bench', '--baseline', 'kept.json').status, 3, 'times were asked for');
    const edited = (name, edit) => {
        const file = json('kept.json');
        edit(file.workloads.chain.modes.static, file.workloads.chain);
        writeFileSync(join(folder, name), JSON.stringify(file));
        return gate(folder, 'bench', '--baseline', name, ...counts);
    };
    const more = edited('fewer.json', (m) => { m.launches--; m.graphs = []; });
    assert.equal(more.status, 1);
    assert.match(more.stdout, /failed +chain +MORE/);
    assert.match(more.stdout, /! static launches a call: 1, were 0\n.*|! static graphs: 1, were 0/);
    assert.match(edited('more.json', (m) => { m.launches++; }).stdout, /passed +chain +LESS/);
    assert.match(edited('other.json', (m, w) => { w.device.backend = 'cpu'; }).stdout, /not enough +chain +REFUSED[^]*backend/);
    assert.match(edited('modes.json', (m, w) => { w.modes.lazy = m; }).stdout, /- lazy is in the baseline alone/);
    writeFileSync(join(folder, 'empty.json'), '{"breakeven_baseline": 1, "workloads": {}}');
    assert.match(gate(folder, 'bench', '--baseline', 'empty.json', ...counts).stdout, /empty\.json has no workload chain/);
    for (const bad of ['{"breakeven_baseline": 1}', '{"breakeven_baseline": 1, "workloads": 7}', '{"breakeven_baseline": 1, "workloads": {"chain": 7}}', '{"breakeven_baseline": 1, "workloads": {"chain": {"modes": {}}}}', '[', '{}']) {
        writeFileSync(join(folder, 'bad.json'), bad);
        assert.equal(gate(folder, 'bench', '--baseline', 'bad.json', ...counts).status, 3, bad);
    }
    rmSync(join(folder, 'bad.json'));
});

test('values that are not eager\'s fail without times too, and those of the baseline alone do not', () => {
    const counts = ['--no-timing', '--fail-on', 'values'];
    gate(folder, 'bench', '--baseline', 'none', ...counts, '--save', 'right');
    const file = join(folder, 'right/chain.json'), report = JSON.parse(readFileSync(file, 'utf8'));
    report.modes.static.agrees = false;
    writeFileSync(file, JSON.stringify(report));
    const mended = gate(folder, 'bench', '--baseline', 'right', ...counts);
    assert.equal(mended.status, 0, mended.stdout);
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

/** A clone of a repository with bench/ and a change of it: `good` and `bad` are commits that pass and fail. */
function repository() {
    const origin = join(folder, 'origin'), clone = join(folder, 'clone');
    const git = (cwd, ...args) => execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd, stdio: 'pipe' }).toString().trim();
    const write = (text) => writeFileSync(join(origin, 'bench/chain.json'), JSON.stringify(workload(text, { ...quick, name: 'chain' })));
    mkdirSync(join(origin, 'bench'), { recursive: true });
    cpSync('deploy/ci', join(origin, 'deploy/ci'), { recursive: true });
    git(origin, 'init', '-q', '-b', 'main');
    write(body);
    git(origin, 'add', '.');
    git(origin, 'commit', '-q', '-m', 'one');
    git(origin, 'checkout', '-q', '-b', 'topic');
    writeFileSync(join(origin, 'readme'), 'x');
    git(origin, 'add', '.');
    git(origin, 'commit', '-q', '-m', 'two');
    const good = git(origin, 'rev-parse', 'HEAD');
    write(broken);
    git(origin, 'commit', '-q', '-am', 'three');
    git(folder, 'clone', '-q', origin, clone);
    return { clone, good, bad: git(origin, 'rev-parse', 'HEAD'), checkout: (commit) => git(clone, 'checkout', '-q', '-f', commit) };
}

/** What each example runs in a shell, out of its file: env and commands, and what it is told by the CI system. */
async function commandsOf() {
    const steps = await readWorkflow('deploy/ci/github.yml', folder);
    const gateStep = steps.find((s) => s.name === 'Gate'), summary = steps.find((s) => s.name === 'Summary');
    const [{ Key: key, Value: value }] = gateStep.env.map;
    assert.deepEqual([key, value.expr], ['BASE', "format('origin/{0}', github.base_ref)"]);
    assert.ok(steps.slice(steps.indexOf(gateStep) + 1).every((s) => s.if.expr === 'always()'), 'what tells of it runs when it fails too');
    mkdirSync(join(folder, 'gitlab'));
    execFileSync('git', ['init', '-q', '-b', 'main', join(folder, 'gitlab')]);
    cpSync('deploy/ci/gitlab.yml', join(folder, 'gitlab/.gitlab-ci.yml'));
    const { breakeven: job } = readPipeline('.gitlab-ci.yml', join(folder, 'gitlab'));
    const jenkins = readFileSync('deploy/ci/Jenkinsfile', 'utf8').replace(/^\/\/.*$/gm, '');
    const bare = jenkins.replace(/'[^'\n]*'/g, '');
    assert.ok(!bare.includes("'"), 'each text ends on its line');
    for (const [open, close] of ['{}', '()', '[]']) assert.equal(bare.split(open).length, bare.split(close).length, `${open}${close}`);
    return {
        github: { env: { BASE: 'origin/main', GITHUB_STEP_SUMMARY: join(folder, 'summary.md') }, first: [gateStep.run], then: [summary.run], files: ['gate.md', 'gate.sarif'] },
        gitlab: { env: { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' }, first: job.script, then: [], files: [job.artifacts.reports.junit ?? job.artifacts.reports[0]].map((f) => String(f).replace(/^breakeven-gate\//, '')) },
        jenkins: { env: { CHANGE_TARGET: 'main' }, first: [/script: '([^']+)'/.exec(jenkins)[1]], then: [], files: [/junit '([^']+)'/.exec(jenkins)[1].replace('breakeven-gate/', '')] },
    };
}

test('each example of CI is what its system takes, and its steps let a change pass, and fail one with a new break', async () => {
    const { clone, good, bad, checkout } = repository();
    mkdirSync(join(folder, 'bin'));
    writeFileSync(join(folder, 'bin/breakeven'), `#!/bin/sh\nexec '${program}' "$@"\n`, { mode: 0o755 });
    for (const [name, { env, first, then, files }] of Object.entries(await commandsOf())) {
        const run = (commands) => spawnSync('bash', ['-e', '-o', 'pipefail', '-c', commands.join('\n').replaceAll('gate.sh bench', 'gate.sh bench --fail-on values,graphs,breaks,launches')],
            { cwd: clone, encoding: 'utf8', env: { ...process.env, ...env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` } });
        for (const [commit, status] of [[good, 0], [bad, 1]]) {
            checkout(commit);
            rmSync(join(clone, 'breakeven-gate'), { recursive: true, force: true });
            const r = run(first);
            assert.equal(r.status, status, `${name}: ${r.stdout}${r.stderr}`);
            assert.equal(run(then).status, 0, name);
            for (const file of files) assert.ok(readFileSync(join(clone, 'breakeven-gate', file), 'utf8').length > 10, `${name}: ${file}`);
        }
        readSarif(readFileSync(join(clone, 'breakeven-gate/gate.sarif'), 'utf8'));
        assert.equal((await readJunit(readFileSync(join(clone, 'breakeven-gate/junit.xml'), 'utf8')))[0].failures, 1);
        assert.equal((await readMarkdown(readFileSync(join(clone, 'breakeven-gate/gate.md'), 'utf8'))).title, 'Breakeven: FAILED');
    }
    assert.match(readFileSync(join(folder, 'summary.md'), 'utf8'), /Breakeven: PASSED[^]*Breakeven: FAILED/);
});

test('the gate over our own examples: its own file first, then the merge base; a shallow clone and the branch itself are told', () => {
    const origin = join(folder, 'own');
    const git = (cwd, ...args) => execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@y', ...args], { cwd, stdio: 'pipe' }).toString().trim();
    const write = (text) => writeFileSync(join(origin, 'web/examples/chain.json'), JSON.stringify(workload(text, { ...quick, name: 'chain' })));
    const own = (cwd = origin, env = {}) => {
        const r = spawnSync('sh', [resolve('tests/gate/examples.sh')], { cwd, encoding: 'utf8', env: { ...process.env, BREAKEVEN: program, BASE: '', ...env } });
        return { status: r.status, said: r.stdout + r.stderr };
    };
    const baseline = () => gate(origin, 'web/examples', '--baseline', 'none', '--no-timing', '--save-baseline', 'tests/gate/examples.json');
    const commit = (...message) => {
        git(origin, 'add', '.');
        git(origin, 'commit', '-q', ...message.flatMap((m) => ['-m', m]));
    };
    for (const path of ['web/examples', 'tests/gate']) mkdirSync(join(origin, path), { recursive: true });
    git(origin, 'init', '-q', '-b', 'main');
    write(body);
    baseline();
    assert.match(own().said, /no clone of the repository/);
    commit('one');
    const first = own();
    assert.equal(first.status, 0, first.said);
    assert.match(first.said, /no commit to compare with/);
    git(origin, 'checkout', '-q', '-b', 'topic');
    write(broken);
    const stale = own();
    assert.equal(stale.status, 1);
    assert.match(stale.said, /is not what this build gives.*make baseline/);
    baseline();
    commit('two');
    const worse = own();
    assert.equal(worse.status, 1, worse.said);
    assert.match(worse.said, /! static breaks: 1, were 0[^]*beside [0-9a-f]+ one/);
    writeFileSync(join(origin, 'readme'), 'x');
    commit('four', 'Gate-accepts: it prints now');
    const accepted = own();
    assert.equal(accepted.status, 0, accepted.said);
    assert.match(accepted.said, /accepted by [0-9a-f]+ it prints now/);
    git(origin, 'checkout', '-q', 'main');
    git(origin, 'merge', '-q', '--no-ff', '--no-edit', 'topic');
    assert.match(own().said, /beside [0-9a-f]+ one/, 'on main: the commit before');
    git(folder, 'clone', '-q', '--depth', '1', `file://${origin}`, 'shallow');
    const shallow = own(join(folder, 'shallow'));
    assert.equal(shallow.status, 0, shallow.said);
    assert.match(shallow.said, /shallow clone/);
});
