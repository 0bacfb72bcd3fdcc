// tests/api/changes.test.mjs -- where figures of a workload stepped: found, stored, acknowledged.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary, getJson, startServer, workload } from './harness.mjs';
import { madeHistory } from './made_history.mjs';

const quick = { backend: 'interp', seconds: 0.1, threads: 1, modes: ['eager', 'static'], name: 'chain' };
const body = '    x = x * 1.1\n    return x.sum()';

let server, ids;
before(async () => {
    server = await startServer();
    ids = await madeHistory(server, workload(body, quick), Array.from({ length: 12 }, (_, i) => ({
        static: i >= 7 ? 1.3 : 1, commit: `c0ffee${i}`, edit: (r) => { r.modes.static.launches = i >= 7 ? 3 : 2; },
    })));
});
after(() => server?.stop());

const api = (path, options) => getJson(`${server.url}/api/v1${path}`, options);
const patch = (id, json) => api(`/history/changes/${id}`, { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(json) });

test('one change: what stepped, by how much, since which run', async () => {
    const { status, body: { changes, total } } = await api('/history/changes?workload=chain');
    assert.equal(status, 200);
    assert.equal(total, 1);
    const [c] = changes;
    assert.deepEqual([c.verdict, c.state, c.before.run, c.after.run], ['SLOWER', 'open', ids[6], ids[7]]);
    assert.deepEqual([c.before.commit, c.after.commit], ['c0ffee6', 'c0ffee7']);
    const [head] = c.steps;
    assert.deepEqual([head.metric, head.mode, head.verdict, head.runs_before, head.runs_after], ['latency', 'static', 'SLOWER', 7, 5]);
    assert.ok(head.ci[0] < 1.3 && 1.3 < head.ci[1] && head.ci[1] - head.ci[0] < 0.05, JSON.stringify(head.ci));
    assert.deepEqual(c.steps.map((s) => s.metric).sort(), ['latency', 'launches', 'speedup']);
    assert.equal(c.steps.find((s) => s.metric === 'launches').times.text, '+1');
    assert.match(c.sentence.map((p) => p.text).join(''), /^static latency went from 10\.\d* µs to 13\.?\d* µs: 1\.30?x \(1\.\d+–1\.\d+\), since run #\d+, in 5 runs; 2 more figures stepped with it\.$/);
    assert.match(c.how.join(' '), /no other place is likely.*git log c0ffee6\.\.c0ffee7/);
});

test('the history of the figure has the levels, that of another figure has not', async () => {
    const { body: h } = await api('/history?workload=chain&metric=latency&mode=static');
    assert.deepEqual(h.points.map((p) => p.change).filter((x) => x), [h.changes[0].id]);
    assert.equal(h.points[7].change, h.changes[0].id);
    assert.ok(h.points.every((p, i) => Math.abs(p.level / (i >= 7 ? 13 : 10) - 1) < 0.01));
    assert.match(h.how.join(' '), /1 step, /);
    const { body: still } = await api('/history?workload=chain&metric=latency&mode=eager');
    assert.ok(still.points.every((p) => p.level === undefined && p.change === undefined));
    assert.match(still.how.join(' '), /No step: /);
});

test('the command prints the change, from the same store', async () => {
    const { body: { changes: [c] } } = await api('/history/changes?workload=chain');
    const { status, stdout } = spawnSync(binary, ['history', 'chain', '--db', server.store], { encoding: 'utf8' });
    assert.equal(status, 0);
    assert.ok(stdout.includes(`#${ids[7]}`.padEnd(8) + `SLOWER    ${c.sentence.map((p) => p.text).join('')}`), stdout);
});

test('one change has its two runs side by side', async () => {
    const { body: [c] } = { body: (await api('/history/changes')).body.changes };
    const { status, body: one } = await api(`/history/changes/${c.id}`);
    assert.equal(status, 200);
    assert.deepEqual(one.comparison.runs.map((r) => r.id), [ids[6], ids[7]]);
    assert.equal(one.comparison.verdict, 'SLOWER');
    assert.equal((await api('/history/changes/999')).status, 404);
});

test('acknowledged with a note, and reopened; a bad word is refused', async () => {
    const { id } = (await api('/history/changes?state=open')).body.changes[0];
    const said = await patch(id, { acknowledged: true, note: 'a new driver' });
    assert.equal(said.status, 200);
    assert.deepEqual([said.body.state, said.body.note], ['acknowledged', 'a new driver']);
    assert.ok(said.body.said_ns > 0);
    assert.equal((await api('/history/changes?state=open')).body.total, 0);
    assert.equal((await api('/history/changes')).body.total, 1);
    assert.equal((await patch(id, { acknowledged: false })).body.note, 'a new driver');
    assert.equal((await api('/history/changes?state=open')).body.total, 1);
    for (const bad of [{}, { acknowledged: 1 }, { note: 7 }, { verdict: 'SAME' }, [], { note: 'x'.repeat(5000) }])
        assert.equal((await patch(id, bad)).status, 400, JSON.stringify(bad).slice(0, 40));
    assert.equal((await patch(999, { note: '' })).status, 404);
    assert.equal((await api('/history/changes?state=shut')).status, 400);
});

test('a machine that moved is no regression; other settings and branches are other series', async () => {
    const both = await madeHistory(server, workload(body, { ...quick, name: 'moved' }), Array.from({ length: 10 }, (_, i) => ({ static: i >= 5 ? 1.4 : 1, eager: i >= 5 ? 1.4 : 1 })));
    const { body: { changes: [moved] } } = await api('/history/changes?workload=moved');
    assert.deepEqual([moved.verdict, moved.after.run], ['MACHINE', both[5]]);
    assert.match(moved.how.join(' '), /Eager.*the machine moved/);
    await madeHistory(server, workload(body, { ...quick, name: 'branched' }), Array.from({ length: 12 }, (_, i) => ({ static: i % 2 ? 1.4 : 1, branch: i % 2 ? 'fast' : 'main' })));
    assert.equal((await api('/history/changes?workload=branched')).body.total, 0);
});

test('one odd run is none; when it comes back it is, and what was said stays while it moves', async () => {
    const at = (list) => list.map((s) => ({ static: s }));
    const more = (list) => madeHistory(server, workload(body, { ...quick, name: 'odd' }), at(list));
    await more([1, 1, 1, 1, 1, 1, 1, 1.5]);
    assert.equal((await api('/history/changes?workload=odd')).body.total, 0);
    await more([1.5]);
    const { body: { changes: [c] } } = await api('/history/changes?workload=odd');
    assert.equal(c.steps[0].runs_after, 2);
    await patch(c.id, { note: 'seen' });
    await more([1.5, 1.5]);
    const { body: { changes: [later] } } = await api('/history/changes?workload=odd');
    assert.deepEqual([later.id, later.note, later.steps[0].runs_after], [c.id, 'seen', 4]);
});

test('a change that is none any more stays where something was said of it, and comes back', async () => {
    const made = await madeHistory(server, workload(body, { ...quick, name: 'left' }), [1, 1, 1, 1, 1, 1, 1, 1, 1.4, 1.4].map((by) => ({ static: by })));
    const at = async () => (await api('/history/changes?workload=left')).body.changes.map((c) => [c.state, c.note, c.after.run]);
    const { body: { changes: [c] } } = await api('/history/changes?workload=left');
    assert.equal(c.after.run, made[8]);
    await patch(c.id, { note: 'why' });
    await api(`/runs/${made[9]}`, { method: 'DELETE' });
    assert.deepEqual(await at(), [['gone', 'why', made[8]]]);
    assert.equal((await api('/history/changes?workload=left&state=open')).body.total, 0);
    const { body: h } = await api('/history?workload=left&metric=latency&mode=static');
    assert.ok(h.points.every((p) => p.change === undefined), 'and is not on the chart');
    assert.equal((await api(`/runs/${made[9]}/restore`, { method: 'POST' })).status, 200);
    assert.deepEqual(await at(), [['open', 'why', made[8]]]);
    const unsaid = await madeHistory(server, workload(body, { ...quick, name: 'unsaid' }), [1, 1, 1, 1, 1, 1, 1, 1, 1.4, 1.4].map((by) => ({ static: by })));
    assert.equal((await api('/history/changes?workload=unsaid')).body.total, 1);
    await api(`/runs/${unsaid[9]}`, { method: 'DELETE' });
    assert.equal((await api('/history/changes?workload=unsaid')).body.total, 0, 'of which nothing was said it goes');
});

test('a token of one project sees the changes of its own, and says who acknowledged', async () => {
    const other = await startServer();
    try {
        for (const project of ['mine', 'theirs'])
            await madeHistory(other, workload(body, { ...quick, name: project, project }), [1, 1, 1, 1, 1, 1, 1, 1, 1.4, 1.4].map((by) => ({ static: by })));
        for (const project of ['mine', 'theirs'])
            assert.equal((await getJson(`${other.url}/api/v1/history/changes?workload=${project}`)).body.total, 1, project);
        const added = spawnSync(binary, ['token', 'add', 'ci', '--scope', 'submit', '--project', 'mine', '--db', other.store], { encoding: 'utf8' });
        assert.equal(added.status, 0, added.stderr);
        const headers = { Authorization: `Bearer ${added.stdout.trim().split(/\s+/).at(-1)}`, 'Content-Type': 'application/json' };
        const ask = (path, options) => getJson(`${other.url}/api/v1${path}`, { headers, ...options });
        const { status, body: { changes, total } } = await ask('/history/changes');
        assert.deepEqual([status, total, changes[0].project], [200, 1, 'mine']);
        const [mine, theirs] = [changes[0].id, changes[0].id + 1];
        assert.equal((await ask(`/history/changes/${theirs}`)).status, 404);
        assert.equal((await ask(`/history/changes/${theirs}`, { method: 'PATCH', body: '{"note":"x"}' })).status, 404);
        const said = await ask(`/history/changes/${mine}`, { method: 'PATCH', body: '{"acknowledged":true}' });
        assert.deepEqual([said.status, said.body.note_by, said.body.state], [200, 'ci', 'acknowledged']);
        const gate = await ask('/gate', { method: 'POST', body: JSON.stringify({ runs: [changes[0].after.run], baseline: String(changes[0].before.run + 11) }) });
        assert.deepEqual([gate.status, gate.body.rows?.[0].verdict], [200, 'NO BASELINE'], 'a run of another project is none');
    } finally {
        await other.stop();
    }
});

test('a change names its suspects where the commits between are known, and says what is missing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-commits-'));
    const git = (...args) => execFileSync('git', ['-C', folder, '-c', 'user.name=Ada', '-c', 'user.email=a@b.c', '-c', 'init.defaultBranch=main', '-c', 'commit.gpgsign=false', ...args], { encoding: 'utf8' }).trim();
    const commit = (subject) => { git('commit', '-q', '--allow-empty', '-m', subject); return git('rev-parse', 'HEAD'); };
    git('init', '-q');
    commit('zero');
    const from = commit('one');
    git('checkout', '-q', '-b', 'side', 'HEAD~1'); // a way that goes past `from`
    commit('on the side');
    git('checkout', '-q', 'main');
    commit('two');
    git('merge', '-q', '--no-ff', '-m', 'merged', 'side');
    const to = commit('three');
    commit('after it');
    await madeHistory(server, workload(body, { ...quick, name: 'told' }), Array.from({ length: 10 }, (_, i) => ({ static: i >= 5 ? 1.4 : 1, commit: i >= 5 ? to : `${from}-dirty` })));
    const change = async () => (await api('/history/changes?workload=told')).body.changes[0];
    const before = await change();
    assert.deepEqual([before.suspects, before.suspects_total], [[], null]);
    assert.match(before.how.join(' '), /Suspects: git log/);

    writeFileSync(join(folder, 'w.json'), JSON.stringify(workload(body, { ...quick, modes: ['eager'], name: 'posted' })));
    const posted = spawnSync(binary, ['run', 'w.json', '--post', server.url], { cwd: folder, encoding: 'utf8' });
    assert.equal(posted.status, 0, posted.stderr);
    const after = await change();
    assert.deepEqual(after.suspects.map((s) => s.subject).sort(), ['merged', 'on the side', 'three', 'two']);
    assert.equal(after.suspects_total, 4);
    assert.deepEqual([after.suspects[0].author, after.suspects.find((s) => s.subject === 'three').id], ['Ada', to]);
    assert.match(after.how.join(' '), /4 commits lie between the two\./);
    rmSync(folder, { recursive: true });
});

test('commits are bounded, and what is no commit is refused by its place', async () => {
    const post = (json) => api('/commits', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(json) });
    const one = { id: 'abcdef1', parents: ['abcdef0'], subject: 's', author: 'a', committed_ns: 1 };
    assert.deepEqual((await post({ commits: [one] })).body, { added: 1 });
    assert.deepEqual((await post({ commits: [one, { ...one, id: 'abcdef2' }] })).body, { added: 1 });
    for (const bad of [[], {}, { commits: [] }, { commits: [one], more: 1 }, { project: 7, commits: [one] }, { commits: Array(1001).fill(one) }])
        assert.equal((await post(bad)).status, 400, JSON.stringify(bad).slice(0, 60));
    for (const wrong of [{ id: 'main' }, { id: 'abc' }, { parents: 'x' }, { parents: ['HEAD'] }, { parents: Array(17).fill('abcdef0') }, { subject: 'x'.repeat(501) }, { author: null }, { committed_ns: -1 }, { committed_ns: 1.5 }, { more: 1 }]) {
        const { status, body: refused } = await post({ commits: [one, { ...one, ...wrong }] });
        assert.equal(status, 400, JSON.stringify(wrong).slice(0, 60));
        assert.match(refused.error.message, /commits\[1\]: /);
    }
});
