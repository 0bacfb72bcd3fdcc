// tests/api/terminal.test.mjs -- what the store has, on a terminal: `breakeven show` and `breakeven history`
// read it beside a server, and print what its answers say.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { binary, getJson, postRun, startServer, waitFor, workload } from './harness.mjs';

const quick = { backend: 'interp', seconds: 0.2, threads: 1, modes: ['eager', 'static', 'graphs'], name: 'told' };
let server, findings;
before(async () => {
    server = await startServer();
    for (const w of [workload('    return x * 2 + 1', { ...quick, commit: 'aaa' }), workload('    return x * 3', quick), workload('    return x.reshape(3)', quick)])
        await waitFor(server, (await postRun(server, w)).body.id);
    ({ body: { findings } } = await getJson(`${server.url}/api/v1/runs/1`));
});
after(() => server?.stop());

const breakeven = (...args) => spawnSync(binary, [...args, '--db', server.store], { encoding: 'utf8' });
const textOf = (parts) => parts.map((p) => p.text).join('');

test('a stored run is printed with the sentences and figures of its answer', () => {
    const { status, stdout, stderr } = breakeven('show', '1');
    assert.equal(status, 0, stderr);
    const [point] = findings.points;
    const lines = stdout.split('\n');
    assert.deepEqual(lines.slice(0, 2), ['static', 'graphs'].map((mode) => textOf(point.modes[mode].sentence)));
    assert.ok(lines.includes(point.split));
    for (const [mode, { split }] of Object.entries(point.modes)) {
        const row = [mode, ...['guards', 'dispatch', 'alloc', 'launch', 'kernel', 'rest', 'watched', 'median'].map((part) => split[part])];
        assert.ok(lines.some((line) => line.trim().split(/\s+/).join(' ') === row.join(' ')), `${row} in ${stdout}`);
    }
});

test('columns are aligned, whatever unit is in them', () => {
    const run = breakeven('show', '1').stdout.split('\n');
    const from = run.findIndex((line) => line.startsWith('mode'));
    const end = run[from].indexOf(findings.time_unit) + findings.time_unit.length;
    assert.equal(findings.time_unit, 'µs');
    for (const line of run.slice(from + 1, from + 4))
        assert.match(line.slice(0, end) + '|', /^\w+ +[\d.,]+\|$/, run.slice(from).join('\n'));
    const history = breakeven('history', 'told', '--metric', 'latency').stdout.split('\n').filter((line) => /^ *\d+ {2}/.test(line));
    assert.ok(history[0].includes('µs') && history[2].includes('not measured'), history.join('\n'));
    assert.equal(new Set(history.map((line) => line.replace('source changed', '').length)).size, 1, history.join('\n'));
});

test('the parts of a call add up to it, as they are written', () => {
    for (const { split } of Object.values(findings.points[0].modes)) {
        const number = (text) => Number(text.replaceAll(',', ''));
        const sum = ['guards', 'dispatch', 'alloc', 'launch', 'kernel', 'rest'].reduce((all, part) => all + number(split[part]), 0);
        assert.ok(Math.abs(sum - number(split.watched)) < 1e-9 * Math.max(1, sum), JSON.stringify(split));
    }
});

test('its report is printed as it is stored', async () => {
    const { body: { report } } = await getJson(`${server.url}/api/v1/runs/1`);
    assert.deepEqual(JSON.parse(breakeven('show', '1', '--json').stdout), report);
});

test('a history is printed as it is answered', async () => {
    const { body } = await getJson(`${server.url}/api/v1/history?workload=told`);
    assert.equal(body.points[1].parting, 'source changed');
    assert.deepEqual(JSON.parse(breakeven('history', 'told', '--json').stdout), body);
    const { status, stdout, stderr } = breakeven('history', 'told');
    assert.equal(status, 0, stderr);
    const lines = stdout.split('\n');
    assert.equal(lines[0], textOf(body.sentence));
    for (const how of body.how)
        assert.ok(lines.includes(how), how);
    for (const p of body.points) {
        const line = lines.find((l) => l.trim().startsWith(`${p.run.id} `));
        assert.match(line, new RegExp(`^ *${p.run.id}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  `));
        const interval = p.shown?.low ? ` (${p.shown.low}-${p.shown.high})` : '';
        assert.ok(line.includes(p.shown ? `${p.shown.text}${interval}` : 'not measured'), line);
        assert.ok(line.includes(p.parting ?? ''), line);
        assert.ok(line.includes(p.run.commit), line);
    }
    assert.match(breakeven('history').stdout, /^ +2 runs  told\n$/);
});

test('what is not there is said', () => {
    for (const [args, status, message] of [
        [['show', '77'], 1, 'run 77 has no report'],
        [['show', '3'], 1, 'run 3 has no report'],
        [['show'], 2, 'a run is missing'],
        [['show', 'x'], 2, 'RUN'],
        [['history', 'none'], 1, 'no run of none has ended in this store'],
        [['history', 'told', '--metric', 'x'], 2, 'metric x'],
        [['history', 'told', '--n', 'x'], 2, 'a point of the sweep'],
        [['history', 'told', 'other'], 2, 'one workload at a time'],
    ]) {
        const { status: got, stdout, stderr } = breakeven(...args);
        assert.deepEqual([got, stdout], [status, ''], args.join(' '));
        assert.ok(stderr.includes(message), stderr);
    }
});

test('what a stranger wrote moves no cursor and sets no title: a terminal gets no control character of it', async (t) => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u009b31m\r\u007f\u00e4';
    const source = `import torch\n\ndef model(x):\n    if x.sum() > 0:  # ${evil.replace('\r', '')}\n        return x\n    raise ValueError(${JSON.stringify(evil)})\n`;
    const { body: { id } } = await postRun(server, { ...workload(''), ...quick, source, name: `n${evil}`, project: `p${evil}`, commit: `c${evil}`, tags: [`t${evil}`] });
    await waitFor(server, id);
    const failing = (await postRun(server, { ...workload(`    raise ValueError(${JSON.stringify(evil)})`), ...quick, name: `n${evil}` })).body.id;
    await waitFor(server, failing);
    let shown = 0;
    const terminals = spawnSync('python3', ['-c', 'import pty; pty.openpty()']).status === 0;
    if (!terminals) t.diagnostic('there are no terminals (/dev/pts): pipes alone are tried');
    for (const words of [['show', id], ['show', failing], ['history'], ['history', `n${evil}`], ['history', evil], ['compare', id, id], ['compare', id, evil], ['audit'], ['show', evil], [evil]]) {
        const { stdout, stderr } = breakeven(...words.map(String));
        for (const text of [stdout, stderr]) assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f]/, words.join(' '));
        // A terminal of Python's, which ends lines by \r\n.
        const line = [binary, ...words.map(String), '--db', server.store];
        if (terminals) {
            const seen = spawnSync('python3', ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])', ...line], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).stdout;
            assert.ok(seen.length > 0, words.join(' '));
            assert.doesNotMatch(seen.replaceAll('\r\n', '\n'), /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/, words.join(' '));
        }
        shown += `${stdout}${stderr}`.includes('owned');
    }
    assert.ok(shown > 2, `it is shown by ${shown} of them`);
    assert.equal(JSON.parse(breakeven('history', `n${evil}`, '--json').stdout).workload, `n${evil}`, 'of JSON nothing is lost');
});

test('nothing is coloured, with NO_COLOR or without; a line of progress is for a terminal alone', (t) => {
    const terminals = spawnSync('python3', ['-c', 'import pty; pty.openpty()']).status === 0;
    if (!terminals) t.diagnostic('there are no terminals (/dev/pts): pipes alone are tried');
    const program = ['tests/faults/programs/prints.py', '--input', 'x=float32[8,8]'];
    const commands = [['run', ...program, '--backend', 'interp', '--modes', 'eager', '--no-timing'], ['suite', '--backend', 'interp', '--modes', 'eager', '--seconds', '0.01', program[0]],
        ['explain', 'none.py'], ['--help']];
    let drawn = 0;
    for (const env of [{ NO_COLOR: '1' }, { FORCE_COLOR: '1', CLICOLOR_FORCE: '1', TERM: 'xterm-256color' }])
        for (const words of commands) {
            const options = { encoding: 'utf8', env: { ...process.env, NO_COLOR: undefined, ...env }, stdio: ['ignore', 'pipe', 'pipe'] };
            const piped = spawnSync(binary, words, options);
            assert.doesNotMatch(piped.stdout + piped.stderr, /[\u001b\r]/, words.join(' '));
            if (!terminals) continue;
            const seen = spawnSync('python3', ['-c', 'import pty, sys; pty.spawn(sys.argv[1:])', binary, ...words], options).stdout.replaceAll('\r\n', '\n');
            assert.ok(seen.length > 0, words.join(' '));
            assert.doesNotMatch(seen.replaceAll('\u001b[K', ''), /\u001b/, words.join(' '));
            drawn += seen.includes('\r');
        }
    assert.ok(!terminals || drawn > 0, 'a line of progress is drawn');
});
