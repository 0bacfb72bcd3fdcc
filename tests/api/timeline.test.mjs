// tests/api/timeline.test.mjs -- the timeline of a run over HTTP: binary windows, and the trace.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { getJson, postLongTrace, postRun, startServer, sweep, waitFor, workload } from './harness.mjs';
import { decodeTimeline } from '../../web/js/model/timeline.js';

let server, run, swept, long;
before(async () => {
    server = await startServer();
    run = (await postRun(server, workload('    y = torch.relu(x) * 2\n    print("between")\n    return y.sum()',
        { backend: 'interp' }))).body.id;
    swept = (await postRun(server, { ...sweep([1, 3]), backend: 'interp' })).body.id;
    long = await postLongTrace(server);
    await waitFor(server, run);
    await waitFor(server, swept);
});
after(() => server?.stop());

const url = (id, query) => `${server.url}/api/v1/runs/${id}/timeline?${query}`;
async function view(id, query) {
    const response = await fetch(url(id, query));
    assert.equal(response.status, 200, query);
    assert.equal(response.headers.get('content-type'), 'application/octet-stream');
    return decodeTimeline(await response.arrayBuffer());
}

test('a page opens on the last call; in seconds of nothing on the kernels', async () => {
    const v = await view(run, 'mode=static');
    const last = kinds(v, 'call').at(-1);
    assert.deepEqual(v.opens, { of: 'call', t0_ns: last.start, t1_ns: last.start + last.duration, t0: last.start, t1: last.start + last.duration, percent: 95 });
    const at = (ts, dur, cat, name) => ({ ph: 'X', cat, name, pid: 1, tid: 7, ts, dur, args: { device: 0, stream: 7 } });
    const traceEvents = [at(0, 19e6, 'user_annotation', 'all'), ...Array.from({ length: 13 }, (_, i) => at(12e6 + 20 * i, 20, 'kernel', 'k'))];
    const { status, body } = await getJson(`${server.url}/api/v1/imports?name=blank`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: JSON.stringify({ schemaVersion: 1, traceEvents }) });
    assert.equal(status, 201, JSON.stringify(body));
    const { opens, span } = await view(body.id, 'px=100');
    assert.equal(opens.of, 'device');
    assert.ok(Math.abs(opens.t1 - opens.t0 - 286e3) < 30e3 && opens.t0 < 12e9 && opens.t0 > 12e9 - 20e3, JSON.stringify(opens));
    assert.equal(span, 19e9);
});

const groups = async (id, query) => (await getJson(`${server.url}/api/v1/runs/${id}/timeline/groups?${query}`)).body;

test('the events of a window are summed by name, op, line and kernel', async () => {
    const { slices, names } = await view(long, 't0=1000000&t1=1100000');
    const by = await groups(long, 't0=1000000&t1=1100000');
    const inside = (s) => Math.min(1100000, s.start + s.duration) - Math.max(1000000, s.start);
    const timed = slices.filter((s) => s.kind !== 'idle');
    assert.equal(by.events, timed.length);
    assert.equal(by.sum_ns, timed.reduce((n, s) => n + inside(s), 0));
    assert.equal(by.rows.reduce((n, r) => n + r.sum_ns, 0), by.sum_ns);
    for (const r of by.rows) {
        const own = timed.filter((s) => names[s.name].name === r.text);
        assert.deepEqual([r.count, r.sum_ns, r.max_ns], [own.length, own.reduce((n, s) => n + inside(s), 0), Math.max(...own.map(inside))]);
        assert.ok(Math.abs(r.mean_ns - r.sum_ns / r.count) < 1e-6 && Math.abs(r.share - r.sum_ns / by.sum_ns) < 1e-12);
        assert.ok(r.names.every((n) => names[n].name === r.text));
    }
    for (const [sort, key] of [['sum', 'sum_ns'], ['count', 'count'], ['mean', 'mean_ns'], ['max', 'max_ns']]) {
        const sorted = (await groups(long, `sort=${sort}`)).rows.map((r) => r[key]);
        assert.deepEqual(sorted, [...sorted].sort((a, b) => b - a));
    }
    const few = await groups(long, 'limit=3');
    assert.equal(few.rows.length, 3);
    assert.equal(few.left_out.groups, few.groups - 3);
    assert.equal(few.left_out.sum_ns + few.rows.reduce((n, r) => n + r.sum_ns, 0), few.sum_ns);
    assert.deepEqual((await groups(long, 'q=NEEDLE')).rows.map((r) => r.text), ['needle']);
    const kernels = await groups(long, 'by=kernel');
    assert.ok(kernels.rows.every((r) => r.as === 'kernel') && kernels.events === 10000);
    const ops = await groups(run, 'mode=static&by=op');
    assert.ok(ops.rows.some((r) => /relu/.test(r.text)), JSON.stringify(ops.rows.map((r) => r.text)));
    const lines = await groups(run, 'mode=static&by=line');
    assert.ok(lines.rows.some((r) => r.text === '4'), JSON.stringify(lines.rows.map((r) => r.text)));
    assert.match((await groups(run, 'by=x')).error.message, /by=x: one of name op line kernel is needed/);
});

test('sums are saved as a table', async () => {
    const r = await fetch(`${server.url}/api/v1/runs/${long}/timeline/groups?format=csv&by=kernel&sort=count`);
    assert.match(r.headers.get('content-type'), /text\/csv/);
    const lines = (await r.text()).trim().split('\r\n');
    assert.equal(lines[0], 'text,as,count,sum_ns,mean_ns,max_ns,share');
    const { rows } = await groups(long, 'by=kernel&sort=count');
    assert.equal(lines.length - 1, rows.length);
    assert.equal(lines[1].split(',').slice(0, 4).join(), [rows[0].text, rows[0].as, rows[0].count, rows[0].sum_ns].join());
});

test('a launch has the ops and Python frames around it, and a backward its forward', async () => {
    const X = (cat, name, tid, ts, dur, args = {}) => ({ ph: 'X', cat, name, pid: 9, tid, ts, dur, args });
    const flow = (ph, tid, ts) => ({ ph, cat: 'fwdbwd', name: 'fwdbwd', id: 5, pid: 9, tid, ts, ...(ph === 'f' ? { bp: 'e' } : {}) });
    const traceEvents = [
        X('python_function', 'train.py(7): step', 1, 0, 100), X('python_function', 'model.py(20): forward', 1, 5, 50), X('cpu_op', 'aten::addmm', 1, 10, 30), flow('s', 1, 10),
        X('cuda_runtime', 'cudaLaunchKernel', 1, 20, 5, { correlation: 3 }), X('kernel', 'gemm', 7, 40, 10, { device: 0, stream: 7, correlation: 3 }),
        X('cpu_op', 'autograd::engine::evaluate_function: AddmmBackward0', 2, 200, 60), X('cpu_op', 'AddmmBackward0', 2, 205, 50), flow('f', 2, 205),
        X('cuda_runtime', 'cudaLaunchKernel', 2, 220, 5, { correlation: 4 }), X('kernel', 'gemm_t', 7, 240, 10, { device: 0, stream: 7, correlation: 4 }), X('cpu_op', 'aten::other', 2, 300, 10),
    ];
    const { status, body } = await getJson(`${server.url}/api/v1/imports?name=stacks`, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: JSON.stringify({ schemaVersion: 1, traceEvents }) });
    assert.equal(status, 201, JSON.stringify(body));
    const stack = async (launch) => {
        const v = await view(body.id, 'px=100');
        const at = v.slices.filter((s) => s.kind === 'api')[launch];
        const { frames, forward } = (await getJson(`${server.url}/api/v1/runs/${body.id}/timeline/stack?lane=${at.lane}&at=${at.start}`)).body;
        return [frames.map((f) => f.name), forward.map((f) => f.name)];
    };
    assert.deepEqual(await stack(0), [['train.py(7): step', 'model.py(20): forward', 'aten::addmm', 'cudaLaunchKernel'], []]);
    assert.deepEqual(await stack(1), [['autograd::engine::evaluate_function: AddmmBackward0', 'AddmmBackward0', 'cudaLaunchKernel'], ['train.py(7): step', 'model.py(20): forward', 'aten::addmm']]);
    const none = (await getJson(`${server.url}/api/v1/runs/${body.id}/timeline/stack?lane=400&at=5`)).body;
    assert.deepEqual(none, { frames: [], forward: [] });
});

test('rows are of the lanes that are asked for, totals of all', async () => {
    const all = await view(long, 't0=1000000&t1=1100000');
    const [lane] = all.lanes.filter((l) => l.role === 'kernels');
    const one = await view(long, `t0=1000000&t1=1100000&lanes=${lane.id},4000`);
    assert.ok(one.slices.length > 0 && one.slices.length < all.slices.length);
    assert.deepEqual(new Set(one.slices.map((s) => s.lane)), new Set([lane.id]));
    assert.deepEqual(one.slices, all.slices.filter((s) => s.lane === lane.id));
    assert.deepEqual(one.totals, all.totals);
    assert.deepEqual([...one.without].sort(), all.lanes.map((l) => l.id).filter((id) => id !== lane.id).sort());
    assert.equal(all.without.size, 0);
    const { status, body } = await getJson(url(long, 'lanes=a'));
    assert.equal(status, 400);
    assert.match(body.error.message, /lanes=a: numbers of lanes/);
});

const kinds = (v, kind) => v.slices.filter((s) => s.kind === kind);

test('a mode has its calls, its host and its kernels, with ops and lines', async () => {
    const v = await view(run, 'mode=static');
    assert.deepEqual(v.lanes.map((l) => l.role), ['calls', 'breaks', 'graphs', 'host', 'kernels', 'counter']);
    const calls = kinds(v, 'call');
    assert.ok(calls.length >= 3);
    assert.equal(kinds(v, 'kernel').length, 2 * calls.length);
    for (const k of kinds(v, 'kernel')) {
        const inside = calls.filter((c) => c.start <= k.start && k.start + k.duration <= c.start + c.duration);
        assert.equal(inside.length, 1);
        assert.equal(kinds(v, 'launch').filter((l) => l.correlation === k.correlation).length, 1);
    }
    assert.equal(kinds(v, 'break').length, calls.length);
    assert.equal(kinds(v, 'piece').length, 2 * calls.length);
    const named = Object.values(v.names).find((n) => n.ops?.includes('relu'));
    assert.deepEqual(named.lines, [4]);
    assert.equal(v.facts.dropped, 0);
    assert.equal(v.slices[0].start >= 0, true);
});

test('memory in use is a lane of its own: of a call no more than its peak, and back after it', async () => {
    const { body } = await getJson(`${server.url}/api/v1/runs/${run}`);
    const v = await view(run, 'mode=static');
    const samples = kinds(v, 'counter');
    const lane = v.lanes.find((l) => l.role === 'counter');
    assert.deepEqual([lane.name, lane.unit], ['memory', 'bytes']);
    assert.ok(samples.length >= 4 * kinds(v, 'call').length - 1);
    assert.ok(samples.every((s) => s.lane === lane.id && s.bytes > 0 && s.bytes <= body.report.modes.static.peak_bytes));
    assert.equal(samples.at(-1).bytes, Math.min(...samples.map((s) => s.bytes)));
    samples.slice(1).forEach((s, i) => assert.equal(samples[i].start + samples[i].duration, s.start));
});

test('what runs and what is idle add up, each gap with what the host did', async () => {
    const v = await view(run, 'mode=static');
    const sum = (kind) => kinds(v, kind).reduce((n, s) => n + s.duration, 0);
    assert.deepEqual([v.idle.devices, v.idle.late, v.idle.left_out], [1, 0, 0]);
    assert.equal(sum('idle') + sum('kernel'), v.span);
    const causes = new Set(kinds(v, 'idle').map((s) => v.names[s.name].idle ?? `break ${v.names[s.name].break}`));
    for (const cause of ['guards', 'piece', 'alloc', 'python', 'break 0', 'end', 'between']) assert.ok(causes.has(cause), cause);
    assert.ok(!causes.has('unknown'));
    for (const b of kinds(v, 'break')) {
        const inside = kinds(v, 'idle').filter((s) => s.name === b.name && s.start >= b.start && s.start + s.duration <= b.start + b.duration);
        assert.ok(inside.length >= 1);
    }
});

test('a window holds what reaches into it; its times are those of the whole', async () => {
    const whole = await view(run, 'mode=static');
    const recorded = (v) => v.slices.filter((s) => s.kind !== 'idle'); // gaps are those of the window
    const [, second] = kinds(whole, 'call');
    const end = second.start + second.duration;
    const part = await view(run, `mode=static&t0=${second.start}&t1=${end}`);
    assert.deepEqual(recorded(part), recorded(whole).filter((s) => s.start <= end && s.start + s.duration >= second.start));
    const busy = part.slices.filter((s) => s.kind === 'kernel' || s.kind === 'idle').reduce((n, s) => n + s.duration, 0);
    assert.equal(busy, second.duration);
    assert.equal(part.span, whole.span);
    const all = await view(run, '');
    assert.equal(all.lanes.length, 4 + 6 + 6); // eager has neither graphs nor breaks
});

test('a point of a sweep has lanes of its own', async () => {
    const one = await view(swept, 'mode=eager&n=1');
    const three = await view(swept, 'mode=eager&n=3');
    const perCall = (v) => kinds(v, 'eager').length / kinds(v, 'call').length;
    assert.equal(perCall(one), 2);
    assert.equal(perCall(three), 4);
    assert.equal((await view(swept, 'mode=eager&n=2')).lanes.length, 0);
});

test('the trace is one that Perfetto reads', async () => {
    const { status, headers, body } = await getJson(`${server.url}/api/v1/runs/${run}/trace.json?mode=static`);
    assert.equal(status, 200);
    assert.match(headers.get('content-disposition'), /breakeven-run-\d+\.trace\.json/);
    const v = await view(run, 'mode=static');
    const complete = body.traceEvents.filter((e) => e.ph === 'X');
    assert.equal(complete.length, v.events - kinds(v, 'counter').length);
    for (const e of complete) assert.ok(e.ts >= 0 && e.dur >= 0 && typeof e.name === 'string' && e.tid >= 0);
    const [call] = kinds(v, 'call');
    const window = (await getJson(`${server.url}/api/v1/runs/${run}/trace.json?mode=static&t0=${call.start}&t1=${call.start + call.duration}`)).body;
    const inside = v.slices.filter((s) => !['idle', 'counter'].includes(s.kind) && s.start <= call.start + call.duration && s.start + s.duration >= call.start);
    assert.equal(window.traceEvents.filter((e) => e.ph === 'X').length, inside.length);
    const threads = body.traceEvents.filter((e) => e.name === 'thread_name').map((e) => e.args.name);
    assert.deepEqual(threads, ['calls', 'breaks', 'graphs', 'host', 'kernels', 'memory']);
});

test('what is asked wrongly is refused with the parameter named', async () => {
    for (const [query, message] of [['mode=fast', /mode=fast: one of eager, static, dynamic/], ['t0=x', /t0/], ['t0=9&t1=5', /t0=9 is after t1=5/], ['px=0', /px/], ['n=one', /n=/]]) {
        const { status, body } = await getJson(url(run, query));
        assert.equal(status, 400, query);
        assert.match(body.error.message, message);
    }
    assert.equal((await getJson(url(999, ''))).status, 404);
});

test('the whole of a long timeline is the same at every look, after the server has gone too', async () => {
    const bytes = async (query) => Buffer.from(await (await fetch(url(long, query))).arrayBuffer());
    const first = await bytes('mode=');
    const decoded = decodeTimeline(first.buffer.slice(first.byteOffset, first.byteOffset + first.length));
    assert.equal(decoded.sampled, true);
    assert.ok(decoded.slices.every((s, i, all) => i === 0 || all[i - 1].start <= s.start));
    for (const query of ['', 'px=1600', 't0=0&mode=']) assert.ok(first.equals(await bytes(query)), query);
    assert.ok(!first.equals(await bytes('px=1000')));
    assert.ok(!first.equals(await bytes('q=needle')));
    assert.equal((await view(long, 'mode=static')).lanes.length, 0);
    const { home } = server;
    await server.stop({ keep: true });
    server = await startServer({ folder: home });
    assert.ok(first.equals(await bytes('mode=')));
});

test('a whole timeline of several chunks in any width, of some of its lanes, and as a page asks for it', async () => {
    const id = await postLongTrace(server, 70000);
    const first = await view(id, '');
    const stream = first.lanes.find((l) => l.name === 'GPU 0, stream 8');
    const counted = (v) => v.slices.reduce((n, s) => n + (s.kind === 'idle' ? 0 : s.events), 0);
    assert.deepEqual([first.events, counted(first), first.sampled], [140000, 140000, true]);
    for (const px of [100, 333, 1000, 8192]) {
        const v = await view(id, `px=${px}`);
        assert.deepEqual([v.px, v.events, counted(v), v.totals, v.span], [px, 140000, 140000, first.totals, first.span]);
        assert.deepEqual((await view(id, `px=${px}&t0=0&t1=${first.span}`)).slices, v.slices);
        const some = await view(id, `px=${px}&t0=0&t1=${first.span + 5}&lanes=${stream.id}`);
        assert.deepEqual(some.slices, v.slices.filter((s) => s.lane === stream.id));
        assert.deepEqual(some.lanes.filter((l) => !some.without.has(l.id)).map((l) => l.name), [stream.name]);
    }
});

test('what a name has is counted in a window, and shown before what is longer', async () => {
    const whole = await view(long, 'q=NEEDLE');
    assert.deepEqual([whole.found.events, whole.found.sum, whole.found.busy], [250, 250e3, 250e3]);
    assert.deepEqual(whole.found.names.map((n) => whole.names[n].name), ['needle']);
    assert.deepEqual(whole.lanes.filter((l) => l.found).map((l) => [l.name, l.found]), [['GPU 0, stream 7', 250]]);
    assert.equal(whole.slices.filter((s) => whole.names[s.name].name === 'needle').length, 250);
    assert.ok((await view(long, '')).slices.filter((s) => whole.names[s.name]?.name === 'needle').length < 250);
    assert.equal((await view(long, `q=needle&t0=0&t1=${200e3 * 10 - 1}`)).found.events, 10);
    assert.deepEqual((await view(long, 'q=softmax')).found, { events: 0, sum: 0, busy: 0, atLeast: false, lookedAt: whole.events, cut: false, names: [] });
});

const find = (id, query) => getJson(`${server.url}/api/v1/runs/${id}/timeline/find?${query}`);

test('from one event that is found to the next, and back, with its number', async () => {
    let { body } = await find(long, 'q=needle');
    assert.deepEqual([body.events, body.sum_ns, body.index, body.event.start_ns], [250, 250e3, 1, 3000]);
    const place = (e) => `at=${e.start_ns}&lane=${e.lane}&duration=${e.duration_ns}&name=${e.name}`;
    ({ body } = await find(long, `q=needle&${place(body.event)}`));
    assert.deepEqual([body.index, body.event.start_ns, body.event.info.name], [2, 203e3, 'needle']);
    ({ body } = await find(long, `q=needle&back=1&${place(body.event)}`));
    assert.deepEqual([body.index, body.event.start_ns], [1, 3000]);
    ({ body } = await find(long, `q=needle&back=1&${place(body.event)}`));
    assert.equal(body.event, null);
    ({ body } = await find(long, 'q=needle&back=1&at=1000000000'));
    assert.deepEqual([body.index, body.event.start_ns], [250, 249 * 200e3 + 3000]);
    ({ body } = await find(long, `q=needle&t0=0&t1=${200e3 * 10 - 1}`)); // a part of the time narrows it
    assert.deepEqual([body.events, body.cut], [10, null]);
    assert.ok(body.looked_at < 20000);
    ({ body } = await find(run, 'q=relu&mode=static')); // an op of a fused kernel
    assert.equal(body.event.kind, 'kernel');
});

test('a launch is found from its kernel', async () => {
    const { body } = await find(long, 'correlation=77&lane=2');
    assert.deepEqual(body.joined.map((e) => e.kind).sort(), ['api', 'kernel']);
    assert.ok(body.joined.every((e) => e.correlation === 77));
    assert.equal(body.event, null);
});

test('what is looked for wrongly is refused with the parameter named', async () => {
    const wrong = [['', /q=.*correlation=/], ['q=', /q=/], [`q=${'x'.repeat(201)}`, /201 bytes; at most 200/],
        ['q=a&at=-1', /at=-1/], ['q=a&at=x', /at=x/], ['q=a&lane=4096', /lane=4096/], ['q=a&back=2', /back=2/],
        ['correlation=4294967296', /correlation=/], ['q=a&name=-1', /name=-1/], ['q=a&duration=1e3', /duration=1e3/]];
    for (const [query, message] of wrong) {
        const { status, body } = await find(run, query);
        assert.equal(status, 400, query);
        assert.equal(body.error.code, 'bad-request');
        assert.match(body.error.message, message);
    }
    assert.equal((await find(999, 'q=a')).status, 404);
    assert.equal((await getJson(url(run, `q=${'x'.repeat(201)}`))).status, 400);
});

test('a deleted run leaves no timeline', async () => {
    await fetch(`${server.url}/api/v1/runs/${swept}`, { method: 'DELETE' });
    assert.equal((await getJson(url(swept, ''))).status, 404);
});
