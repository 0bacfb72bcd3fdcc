// tests/api/layout.test.mjs -- POST /layout: places of boxes, and what it refuses.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { getJson, startServer } from './harness.mjs';

let server;
before(async () => { server = await startServer(); });
after(async () => { await server.stop(); });

const layout = (body) => getJson(`${server.url}/api/v1/layout`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
});

test('boxes go in layers, groups around theirs, edges are paths', async () => {
    const { status, body } = await layout({ boxes: [[100, 40, -1], [80, 40, 0], [80, 40, 0]], groups: [[-1, 50]], edges: [[0, 1], [1, 2]] });
    assert.equal(status, 200);
    const [a, b, c] = body.boxes;
    assert.ok(a[1] < b[1] && b[1] < c[1]);
    const [x, y, w, h] = body.groups[0];
    for (const [bx, by, bw, bh] of [b, c]) assert.ok(bx >= x && by >= y && bx + bw <= x + w && by + bh <= y + h);
    assert.ok(a[1] + a[3] <= y);
    assert.equal(body.edges.length, 2);
    for (const path of body.edges) assert.match(path, /^M[-\d.]+ [-\d.]+([CVH][-\d. ]+)+$/);
    assert.ok(body.width >= w && body.height >= y + h);
});

test('a graph without boxes is laid out', async () => {
    const { status, body } = await layout({ boxes: [], groups: [], edges: [] });
    assert.equal(status, 200);
    assert.deepEqual(body, { width: 0, height: 0, boxes: [], groups: [], edges: [] });
});

const one = [[10, 10, -1]];
/** [name, body, code, message] */
const wrong = [
    ['no boxes', { groups: [], edges: [] }, 'bad-request', /boxes is missing/],
    ['no list', { boxes: 3, groups: [], edges: [] }, 'bad-request', /boxes is missing/],
    ['a box that is no row', { boxes: [{}], groups: [], edges: [] }, 'bad-request', /boxes\[0\]/],
    ['a box of negative width', { boxes: [[-1, 10, -1]], groups: [], edges: [] }, 'bad-request', /boxes\[0\]/],
    ['a box in no group', { boxes: [[10, 10, 0]], groups: [], edges: [] }, 'bad-request', /boxes\[0\]/],
    ['a group in itself', { boxes: one, groups: [[0, 10]], edges: [] }, 'bad-request', /groups\[0\]/],
    ['an edge to nowhere', { boxes: one, groups: [], edges: [[0, 1]] }, 'bad-request', /edges\[0\]/],
    ['an edge to itself', { boxes: one, groups: [], edges: [[0, 0]] }, 'bad-request', /edges\[0\]/],
    ['no height', { boxes: one, groups: [], edges: [], band_height: 'all' }, 'bad-request', /band_height/],
    ['too many boxes', { boxes: Array(5001).fill([1, 1, -1]), groups: [], edges: [] }, 'too-large', /at most 5000/],
];
for (const [name, body, code, message] of wrong)
    test(`${name}: refused`, async () => {
        const { status, body: answer } = await layout(body);
        assert.ok(status >= 400 && status < 500);
        assert.equal(answer.error.code, code);
        assert.match(answer.error.message, message);
    });

test('the largest that is taken is answered', async () => {
    const boxes = Array.from({ length: 5000 }, (_, i) => [100, 40, i % 3 ? Math.floor(i / 50) : -1]);
    const edges = boxes.flatMap((_, i) => (i < 20 ? [] : [[i - 1, i], [i - 7, i], [i - 20, i], [Math.floor(i / 2), i]]));
    const groups = Array.from({ length: 100 }, (_, i) => [i % 10 ? i - 1 : -1, 80]);
    const { status, body } = await layout({ boxes, groups, edges: edges.slice(0, 20000), band_height: 500 });
    assert.equal(status, 200);
    assert.equal(body.boxes.length, 5000);
});
