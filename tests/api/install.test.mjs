// tests/api/install.test.mjs -- `make install`: what it puts where, and that it works from there.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';

import { binary } from './harness.mjs';

let folder;
before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'breakeven-install-'));
    const made = spawnSync('make', ['install', `B=${dirname(binary)}`, `DESTDIR=${folder}`, 'PREFIX=/usr'], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
});
after(() => rm(folder, { recursive: true, force: true }));

const installed = (path) => join(folder, 'usr', path);

test('the installed program runs, and its manual pages are those of --help', async () => {
    const run = spawnSync(installed('bin/breakeven'), ['run', '--help'], { encoding: 'utf8' });
    assert.equal(run.status, 0);
    const manual = await readFile(installed('share/man/man1/breakeven-run.1'), 'utf8');
    for (const flag of run.stdout.match(/^ {2}--[a-z-]+/gm))
        assert.ok(manual.replaceAll('\\', '').includes(flag.trim()), flag);
});

test('a plugin builds against the installed headers and loads into the installed program', () => {
    const plugin = join(folder, 'fold_pairs.so');
    const built = spawnSync('cc', ['-shared', '-fPIC', `-I${installed('include/breakeven')}`, '-o', plugin, 'tests/plugins/fold_pairs.c', '-lm'], { encoding: 'utf8' });
    assert.equal(built.status, 0, built.stderr);
    const passes = spawnSync(installed('bin/breakeven'), ['passes', '--plugin', plugin], { encoding: 'utf8' });
    assert.match(passes.stdout, /fold_pairs/);
});

test('trace finds its library where it was installed', { skip: !existsSync(join(dirname(binary), 'libbreakeven_inject.so')) && 'the headers of CUPTI are missing' }, () => {
    const traced = spawnSync(installed('bin/breakeven'), ['trace', '-o', join(folder, 'out.json'), '--', 'true'], { encoding: 'utf8' });
    assert.doesNotMatch(traced.stderr, /there is no/);
});
