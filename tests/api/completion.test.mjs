// tests/api/completion.test.mjs -- what shells complete: every command, and of each the flags that its help has; and commands that are misspelt.
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary } from './harness.mjs';

const said = (...args) => execFileSync(binary, args, { encoding: 'utf8' });

test('bash completes commands, flags and files', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'breakeven-completion-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'script'), said('completion', 'bash'));
    writeFileSync(join(folder, 'model.py'), '');
    const complete = (...words) => execFileSync('bash', ['-c', `. ./script; COMP_WORDS=(breakeven "$@"); COMP_CWORD=$#; _breakeven; printf '%s\\n' "\${COMPREPLY[@]}"`, 'bash', ...words], { cwd: folder, encoding: 'utf8' }).split('\n').filter(Boolean);
    const all = complete('');
    for (const name of ['serve', 'run', 'completion', 'version']) assert.ok(all.includes(name), name);
    assert.ok(!all.includes('worker') && !all.includes('confine'));
    assert.deepEqual(complete('comp').sort(), ['compare', 'completion']);
    for (const command of all) {
        const flags = new Set([...said(command, '--help').matchAll(/^ {2}(--?[a-z][a-z0-9-]*)/gm)].map(([, flag]) => flag));
        const offered = complete(command, '-');
        for (const flag of flags) assert.ok(offered.includes(flag), `${command} ${flag}`);
    }
    assert.deepEqual(complete('run', 'mod'), ['model.py']);
});

test('zsh and fish have each command and flag, on lines that quotes close', () => {
    for (const shell of ['zsh', 'fish']) {
        const script = said('completion', shell);
        for (const word of ['serve', 'explain', 'completion', 'listen', 'modes']) assert.ok(script.includes(word), `${shell} ${word}`);
        for (const line of script.split('\n')) assert.equal(line.replace(/'\\''/g, '').split("'").length % 2, 1, line);
    }
});

test('another shell is refused', () => {
    for (const args of [['tcsh'], [], ['bash', 'zsh']]) assert.equal(spawnSync(binary, ['completion', ...args]).status, 2);
});

test('a misspelt command is refused, with the one that it may have meant', () => {
    for (const [word, said] of [['rum', "'rum' is not a command (did you mean run?); "], ['nothing-like-it', "'nothing-like-it' is not a command; "]]) {
        const done = spawnSync(binary, [word], { encoding: 'utf8' });
        assert.equal(done.status, 2);
        assert.ok(done.stderr.startsWith(`breakeven: ${said}`), done.stderr);
    }
});
