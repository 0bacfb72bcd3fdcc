// tests/api/groups.test.mjs -- POST /groups: what nodes are part of, and what it refuses.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { getJson, startServer } from './harness.mjs';

let server;
before(async () => { server = await startServer(); });
after(async () => { await server.stop(); });

const groups = (body) => getJson(`${server.url}/api/v1/groups`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ modules: [], loops: [], nodes: [], reads: [], ...body }),
});

test('kernels and modules of the same nodes; what is given is where it is read', async () => {
    const { status, body } = await groups({
        modules: ['Net/up:Linear', 'Net'],
        nodes: [[-1, -1, -1, 1], [0, -1, 0, 0], [1, -1, 0, 0], [0, -1, 1, 0]],
        reads: [[0, 1], [1, 2], [2, 3]],
    });
    assert.equal(status, 200);
    assert.deepEqual(body.kernels, { groups: [['kernel', '0', 'k0', -1], ['kernel', '1', 'k1', -1]], of: [-1, 0, 0, 1] });
    assert.deepEqual(body.modules, {
        groups: [['module', 'Net', 'Net', -1], ['module', 'Net/up:Linear', 'up Linear', 0], ['module', 'Net/up:Linear#2', 'up Linear', 0]],
        of: [1, 1, 0, 2],
    });
});

test('no nodes have no groups', async () => {
    assert.deepEqual((await groups({})).body, { kernels: { groups: [], of: [] }, modules: { groups: [], of: [] } });
});

const node = [-1, -1, -1, 0];
/** [name, body, code, message] */
const wrong = [
    ['no nodes', { nodes: undefined }, 'bad-request', /nodes is missing/],
    ['a module that is no text', { modules: [3] }, 'bad-request', /modules\[0\]/],
    ['a node that is no row', { nodes: [{}] }, 'bad-request', /nodes\[0\]/],
    ['a node of no module', { nodes: [[0, -1, -1, 0]] }, 'bad-request', /nodes\[0\]/],
    ['a node in no loop', { nodes: [[-1, 0, -1, 0]] }, 'bad-request', /nodes\[0\]/],
    ['a kernel beyond all', { nodes: [[-1, -1, 1000001, 0]] }, 'bad-request', /nodes\[0\]/],
    ['a loop in itself', { loops: [[-1, 0, 3]] }, 'bad-request', /loops\[0\]/],
    ['a read of nothing', { nodes: [node], reads: [[0, 1]] }, 'bad-request', /reads\[0\]/],
    ['too many nodes', { nodes: Array(50001).fill(node) }, 'too-large', /at most 50000/],
];
for (const [name, body, code, message] of wrong)
    test(`${name}: refused`, async () => {
        const { status, body: answer } = await groups(body);
        assert.ok(status >= 400 && status < 500);
        assert.equal(answer.error.code, code);
        assert.match(answer.error.message, message);
    });

test('loops in a circle end', async () => {
    const { status } = await groups({ loops: [[-1, 1, 3], [-1, 0, 4]], nodes: [[-1, 0, -1, 0]] });
    assert.equal(status, 200);
});

test('the largest that is taken is answered', async () => {
    const modules = Array.from({ length: 500 }, (_, i) => `Net/layer.${i}:Block/up:Linear`);
    const nodes = Array.from({ length: 50000 }, (_, i) => [Math.floor(i / 100), -1, Math.floor(i / 3), 0]);
    const reads = nodes.flatMap((_, i) => (i < 7 ? [] : [[i - 1, i], [i - 7, i], [i - 3, i]]));
    const { status, body } = await groups({ modules, nodes, reads });
    assert.equal(status, 200);
    assert.equal(body.modules.of.length, 50000);
});
