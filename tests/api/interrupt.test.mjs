// tests/api/interrupt.test.mjs -- Ctrl-C ends a command with status 130, as shells expect; what a run belongs to.
import { after, before, test } from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binary, longSweep, workload } from './harness.mjs';

let folder;
before(() => {
    folder = mkdtempSync(join(tmpdir(), 'breakeven-interrupt-'));
    writeFileSync(join(folder, 'long.json'), JSON.stringify(longSweep()));
    writeFileSync(join(folder, 'short.json'), JSON.stringify(workload('    return x.sum()', { modes: ['eager', 'static'], project: 'of the file' })));
});
after(() => rmSync(folder, { recursive: true }));

for (const command of ['run', 'suite'])
    test(`${command} ends with 130 and says so`, async () => {
        const child = spawn(binary, [command, join(folder, 'long.json')], { stdio: ['ignore', 'ignore', 'pipe'] });
        let said = '';
        child.stderr.on('data', (bytes) => said += bytes);
        setTimeout(() => child.kill('SIGINT'), 1500);
        const [status, signal] = await new Promise((done) => child.on('exit', (...how) => done(how)));
        assert.deepEqual([status, signal], [130, null], said);
        assert.match(said, /interrupted|cancelled/i);
    });

test('--project goes before what the workload says', () => {
    const project = (...args) => JSON.parse(execFileSync(binary, ['run', join(folder, 'short.json'), '--json', '--no-timing', ...args])).workload.project;
    assert.equal(project(), 'of the file');
    assert.equal(project('--project', 'mine'), 'mine');
});
