// tests/api/origins.test.mjs -- values that live across a break: the inputs of a graph that other graphs gave.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { binary, randn } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-origins-'));

/** By graph what it takes of others: "d from 1.0"; the mode is static. */
function originsOf(source, calls, more = {}) {
    const path = join(folder, 'w.json');
    writeFileSync(path, JSON.stringify({ name: 'w', source: `import torch\n\n${source}`, calls, modes: ['static'], backend: 'interp', ...more }));
    const done = spawnSync(binary, ['run', path, '--json', '--no-timing'], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    return JSON.parse(done.stdout).modes.static.graphs.map((g) => g.origins.map((o) => `${g.nodes.find((n) => n.id === o.node).name} from ${o.graph}.${o.output}`));
}

test('what a resume function takes names the graph and the output that gave it, also over a graph between', () => {
    const source = 'def model(x):\n    a = torch.sin(x)\n    b = torch.relu(x)\n    print(1)\n    c = torch.tanh(a)\n    print(2)\n    return b + c + x\n';
    assert.deepEqual(originsOf(source, [[randn(4)]]), [[], ['a from 0.0'], ['b from 0.1', 'c from 1.0']]);
});

test('through a call, a list and an attribute', () => {
    const source = 'def gate(v):\n    w = torch.sin(v)\n    print(1)\n    return [torch.relu(w), w]\n\nclass Keep:\n    pass\n\nkeep = Keep()\n\ndef model(x):\n    parts = gate(x)\n    keep.last = parts[1]\n    print(2)\n    return parts[0] + keep.last\n';
    assert.deepEqual(originsOf(source, [[randn(4)]]).map((g) => g.length), [0, 1, 2]);
    assert.deepEqual(originsOf(source, [[randn(4)]])[2].map((o) => o.replace(/.* from/, 'from')).sort(), ['from 0.0', 'from 1.0']);
});

test('a view of what was given, and an argument that a graph has written to', () => {
    const view = 'def model(x):\n    a = torch.sin(x)\n    v = a.T\n    print(1)\n    return v * 2\n';
    assert.deepEqual(originsOf(view, [[randn(2, 3)]]), [[], ['v from 0.0']]);
    const written = 'def model(x):\n    x.add_(1)\n    print(1)\n    return x * 2\n';
    assert.deepEqual(originsOf(written, [[randn(4)]]), [[], ['x from 0.0']]);
});

test('what eager made, and an argument that nobody wrote to, come from no graph', () => {
    const source = 'def model(x):\n    a = torch.sin(x).sum().item()\n    y = torch.full((4,), a)\n    print(1)\n    return y * x\n';
    assert.deepEqual(originsOf(source, [[randn(4)]]).flat().filter((o) => o.startsWith('x ')), []);
});

test('a version that another size asks for names them too, though the graph before it was there', () => {
    const source = 'def model(x, n):\n    a = torch.sin(x)\n    print(1)\n    return a * n\n';
    const calls = [[randn(4), { value: 2 }], [randn(4), { value: 3 }]];
    assert.deepEqual(originsOf(source, calls), [[], ['a from 0.0'], ['a from 0.0']]);
});
