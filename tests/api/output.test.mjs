// tests/api/output.test.mjs -- a result that cannot be written is a failure, in every command.
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { binary } from './harness.mjs';

const commands = [
    ['version'], ['--version'], ['--help'], ['import', '--help'], ['ops'], ['ops', '--json'], ['ops', 'add'], ['passes'],
    ['import', 'tests/import/kineto.json'], ['import', '--json', 'tests/import/kineto.json'],
    ['explain', 'web/examples/1_chain_sweep.json'],
];

for (const args of commands) {
    test(`breakeven ${args.join(' ')} onto a full disk fails and says so, once`, () => {
        const full = openSync('/dev/full', 'w');
        const done = spawnSync(binary, args, { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
        closeSync(full);
        assert.equal(done.status, 1, done.stderr);
        assert.match(done.stderr, /^breakeven.*: the result could not be written: No space left on device\n$/);
    });
}
