// tests/api/bisect.test.mjs -- `breakeven bisect`: the commit that made a command slower, in a real repository.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { binary, until } from './harness.mjs';

let home, repo;
const env = () => ({ ...process.env, TMPDIR: home });
const git = (...args) => {
    const done = spawnSync('git', ['-C', repo, '-c', 'user.name=Ann', '-c', 'user.email=ann@example.org', ...args], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout.trim();
};
const bisect = (...args) => spawnSync(binary, ['bisect', '--repo', repo, ...args], { encoding: 'utf8', env: env() });
const log = () => JSON.parse(readFileSync(join(repo, '.git/breakeven-bisect.json'), 'utf8'));
const forget = () => rmSync(join(repo, '.git/breakeven-bisect.json'), { force: true });

/** 64 commits, c1 to c64, after `begin`: what they cost is 8 % more from c23 on, and c31 to c33 build nothing. */
before(() => {
    home = mkdtempSync(join(tmpdir(), 'breakeven-bisect-'));
    repo = join(home, 'repo');
    assert.equal(spawnSync('git', ['init', '-q', repo]).status, 0);
    const commit = (cost, build, message) => {
        writeFileSync(join(repo, 'cost'), `${cost}\n`);
        writeFileSync(join(repo, 'build.sh'), `${build}\n`);
        writeFileSync(join(repo, 'notes'), message);
        git('add', '.');
        git('commit', '-q', '-m', message);
    };
    commit(100, 'true', 'Begin');
    git('tag', 'begin');
    for (let i = 1; i <= 64; i++) commit(i >= 23 ? 108 : 100, i >= 31 && i <= 33 ? 'echo no rule; exit 2' : 'cp cost built', `Change ${i} <of> things`);
    git('tag', 'end');
    git('checkout', '-q', '-b', 'side', 'begin');
    commit(1, 'true', 'Aside');
    git('checkout', '-q', 'end');
});
after(() => rmSync(home, { recursive: true }));

const timed = ['begin', 'end', '--metric', 'printed', '--build', 'sh build.sh', '--', 'sh', '-c', 'echo it took $(cat cost) us'];

test('one of 64 commits is found in 8 steps, around commits that do not build; the log goes on; the page has its words', () => {
    forget();
    const page = join(home, 'page.html');
    const { status, stdout, stderr } = bisect(...timed.slice(0, 2), '--html', page, ...timed.slice(2));
    assert.equal(status, 0, stderr);
    const id = git('rev-parse', 'end~41');
    assert.match(stdout, new RegExp(`^The first larger commit is ${id.slice(0, 12)}, \\d{4}-\\d\\d-\\d\\d, Ann: Change 23 <of> things\\. It makes the whole change of 1\\.08x`));
    assert.match(stderr, /skipped, its build failed: no rule/);
    const found = log();
    assert.equal(found.state, 'found');
    assert.deepEqual(found.suspects.map((c) => c.id), [id]);
    assert.equal(found.share, 1);
    const judged = found.steps.filter((s) => s.verdict !== 'SKIPPED');
    assert.ok(judged.length <= 8, `${judged.length} steps`);
    for (const s of judged) assert.equal(s.verdict, s.position >= 23 ? 'BAD' : 'GOOD');
    assert.ok(found.steps.length > judged.length);
    assert.match(readFileSync(page, 'utf8'), /Change 23 &lt;of&gt; things[^]*SKIPPED: its build failed/);
    assert.equal(git('worktree', 'list').split('\n').length, 1, 'its trees are gone');
    assert.equal(git('status', '--short'), '', 'the user\'s own tree is as it was');
    assert.deepEqual(readdirSync(home).sort(), ['page.html', 'repo']);

    // The log alone, cut to its first steps, goes on to the same end; a second bisection does not write over it.
    const again = bisect(...timed);
    assert.equal(again.status, 2);
    assert.match(again.stderr, /has a bisection already; --resume goes on/);
    writeFileSync(join(repo, '.git/breakeven-bisect.json'), JSON.stringify({ ...found, state: 'running', steps: found.steps.slice(0, 2), suspects: [], sentence: undefined }));
    const resumed = bisect('--resume', '--json');
    assert.equal(resumed.status, 0, resumed.stderr);
    const rest = JSON.parse(resumed.stdout);
    assert.deepEqual([rest.state, rest.suspects, rest.steps.length, rest.sentence], [found.state, found.suspects, found.steps.length, found.sentence]);
});

test('Ctrl-C ends it with its children and its trees, and it can be resumed', async () => {
    forget();
    const child = spawn(binary, ['bisect', '--repo', repo, ...timed.slice(0, -1), 'sleep 0.2; cat cost'], { env: env() });
    let said = '';
    child.stderr.on('data', (bytes) => (said += bytes));
    const over = new Promise((done) => child.on('exit', done));
    await until(() => /step 1,/.test(said), 'a step');
    child.kill('SIGINT');
    assert.equal(await over, 130, said);
    assert.match(said, /stopped; `breakeven bisect --resume` goes on/);
    assert.equal(git('worktree', 'list').split('\n').length, 1);
    assert.ok(log().steps.length >= 1);
    assert.equal(log().state, 'running');
});

test('where all that is left was skipped, those among which it is are named', () => {
    forget();
    const { status, stderr } = bisect('begin~0', 'end', '--metric', 'printed', '--', 'sh', '-c', 'cost=$(cat cost); case "$(cat notes)" in "Change 2"[1-4]*) exit 7;; esac; echo $cost');
    assert.equal(status, 3, stderr);
    assert.match(stderr, /skipped, it ended with status 7/);
    const found = log();
    assert.equal(found.state, 'among');
    assert.deepEqual(found.suspects.map((c) => c.subject).sort(), [21, 22, 23, 24, 25].map((i) => `Change ${i} <of> things`));
    assert.equal(found.suspects.at(-1).subject, 'Change 25 <of> things');
});

/** Commits from 17 on print `even` and `odd` by turns, 108 from 48 on, those before 100. */
const byTurns = (even, odd) => ['begin', 'end', '--metric', 'printed', '--rounds', '12', '--build', 'echo 0 > n', '--', 'sh', '-c',
    `read at < notes; at=\${at#Change }; at=\${at% <*}; read n < n; echo $((1 - n)) > n; if [ "$at" = Begin ] || [ "$at" -lt 17 ]; then echo 100; elif [ "$at" -ge 48 ]; then echo 108; elif [ $n = 0 ]; then echo ${even}; else echo ${odd}; fi`];

test('a commit with a part of the change counts as bad: the first part is found', () => {
    forget();
    const { status, stdout, stderr } = bisect(...byTurns(102.884, 104.962)); // around the middle of 100 and 108, on the scale of logs
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^The first larger commit is .*: Change 17 <of> things\. It makes \d\d % of 1\.08x/);
    assert.ok(log().steps.length <= 8);
});

test('where rounds do not tell, more of them are taken, not more commits; then it ends, and goes on with more', () => {
    forget();
    const { status, stdout, stderr } = bisect(...byTurns(100, 108));
    assert.equal(status, 3, stderr);
    assert.match(stdout, /^96 rounds do not tell on which side of the change \w{12} lies: one of \d+ commits made it\./);
    const { steps } = log(), open = steps.filter((s) => s.verdict === 'NOT ENOUGH');
    assert.deepEqual(open.map((s) => s.rounds.good.length), [96, 96], 'eight times 12');
    assert.ok(steps.length <= 8);
    const resumed = bisect('--resume', '--rounds', '13');
    assert.equal(resumed.status, 3, resumed.stderr);
    assert.deepEqual(log().steps.filter((s) => s.verdict === 'NOT ENOUGH').map((s) => s.rounds.good.length), [104, 104], 'tried again');
});

test('two commits that do not differ, and what a tree cannot run', () => {
    forget();
    const same = bisect('begin', 'end~50', '--metric', 'printed', '--', 'cat', 'cost');
    assert.equal(same.status, 1, same.stderr);
    assert.match(same.stdout, /There is nothing to find: \w{12} is at 1\.00x .* of \w{12}, within the margin of 2 %/);
    for (const [command, message] of [
        [['no-such-program'], /no-such-program cannot be started: No such file/], [['false'], /ended with status 1/],
        [['echo', 'nothing'], /it printed no number/], [['echo', '0'], /its figure is 0/], [['sleep', '5'], /longer than 1 s/],
    ]) {
        forget();
        const { status, stderr } = bisect('begin', 'end', '--metric', 'printed', '--timeout', '1', '--', ...command);
        assert.equal(status, 1, stderr);
        assert.match(stderr, message);
    }
});

test('a workload is run by this program in each tree', () => {
    forget();
    const source = (statements) => ({ source: `import torch\ndef model(x):\n${'    x = torch.sin(x)\n'.repeat(statements)}    return x\n`, calls: [[{ random: { shape: [64, 64], dtype: 'float32', kind: 'randn', seed: 1 } }]], backend: 'interp', seconds: 0.02 });
    git('checkout', '-q', '-b', 'work', 'begin');
    for (const n of [1, 1, 12, 12]) {
        writeFileSync(join(repo, 'work.json'), JSON.stringify(source(n)));
        writeFileSync(join(repo, 'notes'), `${n} ${Math.random()}`);
        git('add', '.');
        git('commit', '-q', '-m', `${n} statements`);
    }
    const { status, stdout, stderr } = bisect('work~3', 'work', '--workload', 'work.json', '--mode', 'static');
    git('checkout', '-q', 'end');
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^The first slower commit is .*: 12 statements\./);
    assert.equal(log().suspects[0].id, git('rev-parse', 'work~1'));
});

test('what is wrong is said', () => {
    forget();
    for (const [args, message] of [
        [[], /two commits: GOOD, the earlier, and BAD/], [['begin'], /two commits/], [['begin', 'end'], /a COMMAND after `--`, or a --workload/],
        [['begin', 'end', 'side', '--', 'true'], /not also side/], [['begin', 'end', '--'], /a COMMAND after `--`/],
        [['begin', 'end', '--workload', 'w.json', '--', 'true'], /one of them/], [['begin', 'end', '--mode', 'static', '--', 'true'], /--mode is of a --workload/],
        [['begin', 'end', '--metric', 'latency', '--', 'true'], /--metric/], [['begin', 'end', '--metric', 'cpu', '--workload', 'w.json'], /--metric/],
        [['begin', 'end', '--margin', '0', '--', 'true'], /percents above 0/], [['begin', 'end', '--rounds', '3', '--', 'true'], /--rounds/],
        [['--resume', '--build', 'make'], /as the log says, without --build/], [['nope', 'end', '--', 'true'], /nope is no commit/],
        [['--', 'true'], /two commits/], [['side', 'end', '--', 'true'], /side|no ancestor of \w{12}; both come from \w{12}/], [['end', 'end', '--', 'true'], /has no commit that/],
        [['end', 'begin', '--', 'true'], /no ancestor/], [['--upload-pack=x', 'end', '--', 'true'], /unknown flag/],
    ]) {
        const { status, stderr } = bisect(...args);
        assert.equal(status, 2, `${args.join(' ')}: ${stderr}`);
        assert.match(stderr, message);
    }
    const elsewhere = spawnSync(binary, ['bisect', '--repo', home, 'a', 'b', '--', 'true'], { encoding: 'utf8' });
    assert.equal(elsewhere.status, 1);
    assert.match(elsewhere.stderr, /is in no git repository/);
    const none = bisect('--resume');
    assert.equal(none.status, 1);
    assert.match(none.stderr, /there is no log .* to go on from/);
    for (const [text, message] of [['{', /is not JSON/], ['{}', /breakeven_bisect/], [JSON.stringify({ breakeven_bisect: 2 }), /./]]) {
        const file = join(home, 'log.json');
        writeFileSync(file, text);
        const { status, stderr } = bisect('--resume', '--log', file);
        assert.equal(status, 1);
        assert.match(stderr, message);
        rmSync(file);
    }
    assert.ok(!existsSync(join(repo, '.git/breakeven-bisect.json')), 'nothing was begun');
});
