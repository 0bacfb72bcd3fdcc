// tests/api/ranks.test.mjs -- ranks of a job as one run, against tables that are computed without Breakeven.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { binary, getJson, startServer } from './harness.mjs';
import { inductorRanks } from './made_ranks.mjs';

const folder = mkdtempSync(join(tmpdir(), 'breakeven-ranks-'));
test.after(() => rmSync(folder, { recursive: true }));

const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
const imported = (...paths) => JSON.parse(run(binary, 'import', '--json', ...paths)).ranks;
const job = (name, ...args) => {
    const path = join(folder, name);
    return { path, ...JSON.parse(run('python3', 'tests/bench/ranks_job.py', path, '--mb', '0.6', ...args)) };
};

const near = (found, wanted, what) =>
    assert.ok(Math.abs(found - wanted) <= 1e-6 * Math.max(1, Math.abs(wanted)) + 2e-3, `${what}: ${found}, not ${wanted}`);

/** What the tables of HolisticTraceAnalysis say of a file, and the report of its rank. */
function sameTables(rank, table) {
    for (const [share, us] of [['computation', 'computation_us'], ['communication', 'communication_us'], ['memory', 'memory_us'], ['exposed', 'exposed_us'], ['idle', 'idle_us']])
        near(rank.shares[share], rank[us] / rank.total_us, share);
    assert.equal(rank.rank, table.rank);
    const pairs = { kernel_time: 'total_us', idle_time: 'idle_us', compute_time: 'computation_us', non_compute_time: 'non_compute_us',
        communication_time: 'communication_us', overlap_time: 'overlap_us' };
    for (const [theirs, ours] of Object.entries(pairs))
        near(rank[ours], table[theirs], ours);
    if (table.overlap === null)
        assert.equal(rank.overlap, null);
    else
        near(rank.overlap, table.overlap, 'overlap');
    for (const what of ['launches', 'short_kernels', 'long_launches', 'late_starts'])
        assert.equal(rank[what], table[what], what);
    assert.equal(rank.streams.length, Object.keys(table.idle).length);
    for (const s of rank.streams) {
        const [idle, queue] = [table.idle[s.stream], table.queue[s.stream]];
        near(s.host_wait_us, idle.host_wait ?? 0, 'host wait');
        near(s.kernel_wait_us, idle.kernel_wait ?? 0, 'kernel wait');
        near(s.other_wait_us, idle.other ?? 0, 'other wait');
        assert.equal(s.queue_max, queue.max);
        near(s.queue_mean, queue.mean, 'queue');
    }
    for (const k of rank.top.filter((k) => k.name !== 'others')) {
        const other = table.kernels[k.name];
        assert.equal(k.count, other.count);
        near(k.sum_us, other.sum, k.name);
        near(k.max_us, other.max, k.name);
        near(k.min_us, other.min, k.name);
    }
}

const tablesOf = (...files) => JSON.parse(run('python3', 'tests/import/ranks_tables.py', ...files));

test('figures of a job are those of independent tables; its clocks and its straggler are found', () => {
    const made = job('straggler', '--ranks', '3', '--straggler', '2');
    const ranks = imported(made.path);
    const tables = tablesOf(...[0, 1, 2].map((r) => join(made.path, `rank-${r}.pt.trace.json`)));
    assert.equal(ranks.world_size, 3);
    ranks.ranks.forEach((rank, i) => sameTables(rank, tables[i]));
    ranks.ranks.forEach((rank, i) => assert.ok(Math.abs(rank.offset_us - made.offsets_us[i]) < 3, `offset ${rank.offset_us}`));
    assert.deepEqual(ranks.divergences, []);
    const [, , late] = ranks.ranks;
    assert.equal(late.last, late.collectives);
    assert.equal(late.late_kind, 'computation');
    assert.ok(ranks.ranks.every((r) => r === late || r.last === 0));
    const { path } = ranks;
    near(path.shares.reduce((sum, s) => sum + s.us, 0), path.total_us, 'shares');
    assert.ok(path.by_rank[2].us > 0.95 * path.total_us, 'the path runs through the rank that is late');
});

test('a wrong order of collectives is named with rank, index and sizes', () => {
    const ranks = imported(job('swapped', '--ranks', '4', '--swap', '1:9', '--gzip').path);
    assert.equal(ranks.divergences.length, 1);
    const [d] = ranks.divergences;
    assert.deepEqual([d.kind, d.ranks, d.index], ['collective', [1], 9]);
    assert.match(d.sentence, /^rank 1: _allgather_base of \d+ to \d+ Float as collective 9 of group .*, where ranks 0, 2 and 3: allreduce of \d+ Float$/);
});

/** Events of every kind on three streams, at times that mean nothing: seed after seed the same. */
function anyTrace(seed) {
    let state = seed;
    const draw = (below) => {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        return (state >>> 8) % below;
    };
    const names = ['gemm', 'add', 'ncclKernel_AllReduce_RING_LL', 'ncclDevKernel_AllGather', 'Memcpy HtoD (Pageable -> Device)', 'Memset (Device)'];
    const events = [0, 1, 2].slice(0, 1 + draw(3)).map((i) => ({
        ph: 'X', cat: 'user_annotation', name: `ProfilerStep#${i}`, pid: 1, tid: 1, ts: i * 4000, dur: 4000, args: {} }));
    for (let i = 1; i <= 300; i++) {
        const stream = 7 + draw(3), ts = draw(12000), kind = draw(names.length);
        const cat = names[kind].startsWith('Memcpy') ? 'gpu_memcpy' : names[kind].startsWith('Memset') ? 'gpu_memset' : 'kernel';
        const call = ['cudaLaunchKernel', 'cudaMemcpyAsync', 'cudaMemsetAsync', 'cudaGraphLaunch'][draw(4)];
        if (draw(10))
            events.push({ ph: 'X', cat: 'cuda_runtime', name: call, pid: 1, tid: 1, ts: Math.max(0, ts - draw(300)) + i / 1000, dur: 2, args: { correlation: i } });
        events.push({ ph: 'X', cat, name: names[kind], pid: 0, tid: stream, ts: ts + 0.5 + i / 1000, dur: draw(80) + draw(1000) / 1000,
            args: { device: 0, stream, correlation: i, bytes: 100 } });
    }
    return { distributedInfo: { rank: seed, world_size: 20 }, traceEvents: events };
}

test('figures of any trace are those of independent tables', () => {
    const seeds = Array.from({ length: 20 }, (_, i) => i);
    const files = seeds.map((seed) => {
        const file = join(folder, `any-${seed}.json`);
        writeFileSync(file, JSON.stringify(anyTrace(seed)));
        return file;
    });
    const ranks = imported(...files);
    tablesOf(...files).forEach((table, i) => sameTables(ranks.ranks[i], table));
    near(ranks.path.shares.reduce((sum, s) => sum + s.us, 0), ranks.path.total_us, 'shares');
});

/** Within 1 %: of the figure, or of the least that matters beside it. */
const equal = (found, wanted, least, what) =>
    assert.ok(Math.abs(found - wanted) <= 0.01 * Math.max(Math.abs(wanted), least), `${what}: ${found}, HolisticTraceAnalysis: ${wanted}`);

/** What HolisticTraceAnalysis' own code answered of a trace (ns), and the report of its rank (us). */
function sameAnswers(rank, said) {
    const of = (us, ns, what) => equal(1e3 * us, ns, 1e3, what);
    const temporal = said.get_temporal_breakdown;
    of(rank.total_us, temporal['kernel_time(ns)'], 'kernel time');
    of(rank.idle_us, temporal['idle_time(ns)'], 'idle time');
    of(rank.computation_us, temporal['compute_time(ns)'], 'compute time');
    of(rank.non_compute_us, temporal['non_compute_time(ns)'], 'non-compute time');
    equal(rank.overlap, said.get_comm_comp_overlap.comp_comm_overlap_ratio, 0, 'overlap');
    const mix = new Map(rank.mix.map((m) => [[...m.kinds].sort().join(), m.us]));
    for (const { kernel_type: type, sum } of said.get_gpu_kernel_breakdown.types)
        of(mix.get(type.toLowerCase().split(' overlapping ').sort().join()) ?? 0, sum, type);
    for (const k of said.get_gpu_kernel_breakdown.kernels) {
        const own = rank.top.find((x) => x.name === k.name && k.name !== 'others');
        for (const [ours, theirs] of own ? [['sum_us', 'sum (ns)'], ['min_us', 'min (ns)'], ['max_us', 'max (ns)'], ['stddev_us', 'stddev']] : [])
            of(own[ours], k[theirs], `${k.name} ${theirs}`);
    }
    const stream = new Map(rank.streams.map((s) => [s.stream, s]));
    const waits = { host_wait: 'host_wait_us', kernel_wait: 'kernel_wait_us', other: 'other_wait_us' };
    for (const idle of said.get_idle_time_breakdown)
        of(stream.get(idle.stream)[waits[idle.idle_category]], idle.idle_time, `stream ${idle.stream} ${idle.idle_category}`);
    for (const q of said.get_queue_length_summary) {
        equal(stream.get(q.stream).queue_mean, q.mean, 0, `queue of stream ${q.stream}`);
        equal(stream.get(q.stream).queue_median, q['50%'], 0, `median queue of stream ${q.stream}`);
        assert.equal(stream.get(q.stream).queue_max, q.max);
    }
    return rank.top.filter((k) => said.get_gpu_kernel_breakdown.kernels.some((x) => x.name === k.name)).length;
}

test("figures of two real jobs are what HolisticTraceAnalysis' own code answered", () => {
    const { traces } = JSON.parse(readFileSync('tests/import/hta/tables.json', 'utf8'));
    for (const name of ['eager', 'straggler'])
        for (const rank of imported(...[0, 1].map((r) => `tests/import/hta/${name}_rank_${r}.json.gz`)).ranks)
            assert.ok(sameAnswers(rank, traces[basename(rank.file)]) > 10, 'kernels by name');
});

test('a recorded trace has the figures of the tables', () => {
    const file = 'tests/import/kineto_rank_1.json';
    const { ranks, path } = imported(file);
    sameTables(ranks[0], tablesOf(file)[0]);
    assert.ok(path.waits_recorded);
});

test('ranks of compile logs are compared by compile id', () => {
    const schedule = (...names) => JSON.stringify(names.map((name) => `torch.ops._c10d_functional.${name}.default`));
    const line = (rank, n, json, payload = '') =>
        `V1121 10:00:00.00${n}000 ${100 + rank} torch/_dynamo/x.py:1] ${JSON.stringify({ ...json, rank, frame_id: 0, frame_compile_id: json.id ?? 0, attempt: 0,
            ...(payload && { has_payload: '0'.repeat(32) }) })}\n${payload && `\t${payload}\n`}`;
    const files = [0, 1, 2].map((rank) => {
        const file = join(folder, `dedicated_log_torch_trace_rank_${rank}_ab.log`);
        const graph = (id, text) => line(rank, 2, { dynamo_start: { stack: [{ line: 3, name: 'f', filename: 'a.py' }] }, id }) +
            line(rank, 3, { dynamo_output_graph: { sizes: {} }, id }, text);
        writeFileSync(file, graph(0, rank === 1 ? 'mul = x * 2' : `add = x + 2 # rank ${rank}`) + 
            line(rank, 4, { artifact: { name: 'inductor_collective_schedule', encoding: 'json' } }, rank === 2 ? schedule('all_reduce', 'all_gather', 'wait') : schedule('all_reduce', 'wait', 'all_gather')) +
            (rank === 2 ? graph(1, 'add = x + s0') : ''));
        return file;
    });
    const { divergences, ranks } = imported(...files);
    assert.deepEqual(ranks, []);
    assert.deepEqual(divergences.map((d) => [d.kind, d.compile, d.ranks]), [['graph', '0/0', [1]], ['collective', '0/0', [2]], ['compile', '0/1', [2]]]);
    assert.equal(divergences[1].index, 1);
    assert.equal(divergences[1].sentence, 'rank 2: compilation 0/0 runs torch.ops._c10d_functional.all_gather.default as collective 1 of 3, of other ranks torch.ops._c10d_functional.wait.default as collective 1 of 3');
    assert.match(divergences[2].sentence, /^rank 2: compilation 0\/1 compiles f of line 3, of other ranks nothing/);
});

test("what Inductor tells is compared over ranks: estimates, tensors, collectives of its code, and the order of graphs", () => {
    const files = inductorRanks().map((text, rank) => {
        const file = join(folder, `dedicated_log_torch_trace_rank_${rank}_in.log`);
        writeFileSync(file, text);
        return file;
    });
    const { ranks, compiles } = JSON.parse(run(binary, 'import', '--json', ...files));
    assert.deepEqual(ranks.estimates, [
        { compile: '0/0', ranks: 4, least_us: 2.0005, fastest: 0, most_us: 5.0005, slowest: 2 },
        { compile: '1/0', ranks: 4, least_us: 0.1, fastest: 0, most_us: 0.1, slowest: 0 },
    ]);
    assert.deepEqual(ranks.calls, [
        { rank: 1, compile: '0/0', offset: 0, missing_waits: 1 },
        { rank: 3, compile: '0/0', offset: 2, missing_waits: 1 },
    ]);
    assert.deepEqual([compiles[0].collective_calls, compiles[0].collective_waits, compiles[0].schedule_offset, compiles[0].missing_waits],
        [{ all_reduce: 1, all_gather: 1 }, 2, 0, 0]);
    assert.ok(!('op_tensors' in compiles[0]) && !('scheduled' in compiles[0]));
    const sentences = ranks.divergences.map((d) => d.sentence);
    assert.ok(sentences.includes('rank 2: compilation 0/0 gives buf1: torch.float32[4, 5] (1) as op 1 of 2, of other ranks buf1: torch.float32[4, 4] (1) as op 1 of 2'), sentences.join('\n'));
    assert.ok(sentences.includes('rank 1: ran [1/0] as graph 0 of 3, most ranks [0/0] as graph 0 of 3'), sentences.join('\n'));
    assert.ok(sentences.includes('rank 3: ran nothing as graph 2 of 2, most ranks [0/0] as graph 2 of 3'), sentences.join('\n'));
    const { places, ...order } = ranks.order;
    assert.deepEqual(order, { ranks: 4, graphs: 3, compared: 3, differ: 3, ranks_collectives: [], ranks_caches: [0, 1, 2, 3] });
    assert.deepEqual(places[0], { index: 0, graphs: [{ compile: '0/0', ranks: [0, 2, 3] }, { compile: '1/0', ranks: [1] }], other_collectives: false, other_caches: true });
    assert.deepEqual(places[2].graphs, [{ compile: '0/0', ranks: [0, 1, 2] }, { compile: null, ranks: [3] }]);
    // Of ranks that ran the same there is no difference.
    const same = imported(files[0], ...[1].map(() => {
        const file = join(folder, 'dedicated_log_torch_trace_rank_7_in.log');
        writeFileSync(file, readFileSync(files[0], 'utf8').replaceAll('"rank":0', '"rank":7'));
        return file;
    }));
    assert.deepEqual([same.divergences, same.calls, same.order.differ, same.order.places], [[], [], 0, []]);
});

test('the files that tlparse writes of many ranks are made of the texts', async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    const files = inductorRanks().map((text, rank) => {
        const file = join(folder, `dedicated_log_torch_trace_rank_${rank}_tl.log`);
        writeFileSync(file, text);
        return file;
    });
    run(binary, 'import', ...files, '--post', server.url);
    const get = async (name) => (await getJson(`${server.url}/api/v1/runs/1/ranks/${name}.json`)).body;
    const schedules = await get('collective_schedules'), estimates = await get('runtime_estimations');
    assert.deepEqual(schedules.map((s) => [s.rank, s.graph, s.ops.length]), [0, 1, 2, 3].map((rank) => [rank, '-_0_0_0', 2]));
    assert.equal(estimates.length, 8);
    assert.deepEqual(estimates[4], { rank: 2, graph: '-_0_0_0', ops: [{ name: 'buf0', estimated_runtime_ns: 4500 }, { name: 'buf1', estimated_runtime_ns: 500.5 }] });
    assert.deepEqual((await get('collectives_parity')).map((r) => [r.rank, r.graphs]), [
        [0, []], [1, [{ graph: '-_0_0_0', compile_id: '[0/0]', offset: 0, missing_waits: 1 }]],
        [2, []], [3, [{ graph: '-_0_0_0', compile_id: '[0/0]', offset: 2, missing_waits: 1 }]]]);
    const trace = await get('chromium_trace_with_runtime'), ops = trace.filter((e) => e.ph === 'X');
    assert.deepEqual(ops.filter((e) => e.pid === 2 && e.args.graph === '-_0_0_0').map((e) => [e.name, e.ts, e.dur, e.args.runtime_ns]), [['buf0', 0, 5, 4500], ['buf1', 5, 1, 500.5]]);
    assert.equal(new Set(ops.map((e) => `${e.pid} ${e.tid}`)).size, 8);
    assert.deepEqual(trace.filter((e) => e.name === 'process_name').map((e) => e.args.name), ['Rank 0', 'Rank 1', 'Rank 2', 'Rank 3']);
    // A trace of estimates is one that can be imported.
    writeFileSync(join(folder, 'estimates.json'), JSON.stringify(trace));
    assert.equal(JSON.parse(run(binary, 'import', '--json', join(folder, 'estimates.json'))).kind, 'kineto');
    const none = await getJson(`${server.url}/api/v1/runs/1/ranks/index.html`);
    assert.equal(none.status, 404);
    assert.match(none.body.error.message, /collectives_parity.json/);
    run(binary, 'import', 'tests/import/kineto_rank_1.json', '--post', server.url);
    assert.deepEqual((await getJson(`${server.url}/api/v1/runs/2/ranks/runtime_estimations.json`)).body, []);
});

/** The head of a timeline's answer. */
async function headOf(server, id, more = '') {
    const bytes = Buffer.from(await (await fetch(`${server.url}/api/v1/runs/${id}/timeline?px=100${more}`)).arrayBuffer());
    return JSON.parse(bytes.subarray(8, 8 + bytes.readUInt32LE(4)).toString());
}

test("a timeline has all ranks, and their compile logs, on the first one's clock, and as they were recorded", async (t) => {
    const server = await startServer();
    t.after(() => server.stop());
    const made = job('clocks', '--ranks', '3');
    const begin = 1790857026000000; // us, as the traces say
    const phase = (ph, us) => `V1121 10:00:00.001000 77 torch/_dynamo/x.py:1] {"chromium_event": {}, "rank": 2, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "00000000000000000000000000000000"}
\t${JSON.stringify({ name: 'dynamo', ph, ts: begin + 2000 + us + made.offsets_us[2], args: {} })}
`;
    writeFileSync(join(made.path, 'dedicated_log_torch_trace_rank_2_ab.log'), phase('B', 0) + phase('E', 500));
    const post = (...paths) => run(binary, 'import', ...paths, '--post', server.url);
    post(made.path);
    const ask = async (id, sql, more = {}) => (await getJson(`${server.url}/api/v1/runs/${id}/query`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ sql, ...more }) })).body.rows;
    const ends = `SELECT max(end_ns) - min(end_ns) FROM (SELECT end_ns, row_number() OVER (PARTITION BY lane ORDER BY start_ns) AS k FROM kernels WHERE class = 'collective') GROUP BY k`;
    const phases = "SELECT e.start_ns - (SELECT min(start_ns) FROM events JOIN lanes USING (lane) WHERE lanes.name = 'main thread of 4000') FROM events e WHERE name LIKE 'dynamo%'";
    const same = async (id) => {
        const head = await headOf(server, id), raw = await headOf(server, id, '&clocks=recorded');
        assert.deepEqual([head.clocks, raw.clocks], ['aligned', 'recorded']);
        for (const lane of head.lanes) {
            const ahead = made.offsets_us[lane.rank];
            assert.ok(Math.abs(lane.ahead_ns / 1e3 - ahead) < 3, `${lane.name} of rank ${lane.rank}: ${lane.ahead_ns} ns, not ${ahead} us`);
        }
        assert.equal(head.lanes.filter((l) => l.name.startsWith('compiling')).length, 1);
        // All leave a collective within 3 us; as recorded they do not.
        for (const [apart] of await ask(id, ends)) assert.ok(apart <= 6000, `${apart} ns`);
        const most = Math.max(...made.offsets_us) - Math.min(...made.offsets_us);
        for (const [apart] of await ask(id, ends, { clocks: 'recorded' })) assert.ok(Math.abs(apart / 1e3 - most) < 6, `${apart} ns`);
        // The log has the clock of its rank: 2,000 us after the zero of the traces, at 1,000 of which the first begins.
        const [[at]] = await ask(id, phases);
        assert.ok(Math.abs(at / 1e3 - 1000) < 3, `compiling at ${at} ns`);
    };
    await same(1);
    // Sums are of the same window.
    for (const clocks of ['', '&clocks=recorded']) {
        const { body: sums } = await getJson(`${server.url}/api/v1/runs/1/timeline/groups?by=name${clocks}`), head = await headOf(server, 1, clocks);
        assert.deepEqual([sums.t0_ns, sums.t1_ns, sums.events], [0, head.span_ns, head.events]);
    }
    assert.equal((await fetch(`${server.url}/api/v1/runs/1/timeline?clocks=mine`)).status, 400);
    assert.equal((await getJson(`${server.url}/api/v1/runs/1/query`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"sql": "SELECT 1", "clocks": "mine"}' })).status, 400);
    // A Chrome trace is on one clock and says so; it comes back as the same.
    const chrome = await (await fetch(`${server.url}/api/v1/runs/1/export?format=chrome`)).text();
    const events = JSON.parse(chrome).traceEvents;
    const left = events.filter((e) => e.ph === 'X' && e.name.startsWith('ncclDev')).map((e) => [e.tid, e.ts + e.dur]);
    const first = [...new Set(left.map(([tid]) => tid))].map((tid) => Math.min(...left.filter(([of]) => of === tid).map(([, end]) => end)));
    assert.equal(first.length, 3);
    assert.ok(Math.max(...first) - Math.min(...first) < 6, `${first}`);
    const labels = events.filter((e) => e.name === 'process_labels').map((e) => e.args.labels);
    assert.ok(labels.some((l) => /^its clock is .* (ahead|behind), ± .*; times are the first rank's$/.test(l)), labels.join());
    writeFileSync(join(folder, 'back.json'), chrome);
    post(join(folder, 'back.json'));
    await same(2);
    // One rank alone has no other's clock.
    post(join(made.path, 'rank-1.pt.trace.json'));
    assert.equal((await headOf(server, 3)).clocks, null);
});

/** A rank of a job on CPUs: 20 steps of an op and the two collectives that it begins, on two threads by turns. */
function traceOnHost(rank, { ahead = 0, slow = 1, swap = -1 } = {}) {
    const events = [];
    const put = (cat, name, tid, ts, dur, args = {}) => events.push({ ph: 'X', cat, name, pid: 50 + rank, tid, ts: ts + ahead, dur, args });
    for (let i = 0; i < 20; i++) {
        const at = 1000 + 1000 * i, own = 100 * slow;
        put('cpu_op', 'aten::linear', 1, at, own);
        put('cpu_op', 'aten::addmm', 1, at + 5, own - 10);
        put('cpu_op', 'c10d::allreduce_', 1, at + own + 5, 10);
        for (const k of [0, 1]) {
            const begin = at + own + 10 + (k ? 410 - own : 0), name = (k === 1) === (i === swap) ? 'all_reduce' : 'all_gather';
            put('user_annotation', `gloo:${name}`, 10 + (2 * i + k + rank) % 2, begin, at + 400 + 100 * k - begin, { 'Input type': ['float'], 'Input Dims': [[64, 32]] });
        }
    }
    return { distributedInfo: { backend: 'gloo', rank, world_size: 3 }, traceEvents: events };
}

test("of a job on CPUs the host's collectives tell clocks, who is late and who differs", async (t) => {
    const path = join(folder, 'hosts');
    execFileSync('mkdir', [path]);
    const write = (...how) => how.forEach((h, rank) => writeFileSync(join(path, `rank${rank}.json`), JSON.stringify(traceOnHost(rank, h))));
    write({}, { ahead: 777, slow: 3 }, { ahead: -5000000 });
    const ranks = imported(path);
    assert.deepEqual(ranks.ranks.map((r) => [r.on_host, r.offset_us, r.offset_error_us, r.offset_from, r.collectives]), [[true, 0, 0, 0, 40], [true, 777, 0, 40, 40], [true, -5000000, 0, 40, 40]]);
    assert.deepEqual(ranks.ranks.map((r) => [r.last, r.wait_us]), [[0, 4000], [20, 0], [0, 4000]]);
    assert.deepEqual([ranks.ranks[1].late_kind, ranks.ranks[1].late_name], ['computation', 'aten::linear']);
    // What lies in an op is not counted again, and an op that begins a collective computes nothing.
    assert.deepEqual(ranks.ranks.map((r) => r.computation_us), [2000, 6000, 2000]);
    assert.deepEqual(ranks.divergences, []);
    assert.match(ranks.busy, /^Hosts of 3 ranks ran ops and collectives /);
    assert.ok(ranks.sentences.some((s) => s.startsWith('Traces have no event of a device')));
    const { path: { shares, total_us: all } } = ranks;
    near(shares.reduce((sum, s) => sum + s.us, 0), all, 'shares');
    // Of one that is cut off what it has is compared; one that is missing is not there.
    const whole = readFileSync(join(path, 'rank2.json'), 'utf8');
    writeFileSync(join(path, 'rank2.json'), whole.slice(0, whole.length / 2));
    const cut = imported(path);
    assert.ok(cut.ranks[2].collectives > 10 && cut.ranks[2].collectives < 30);
    assert.equal(cut.ranks[2].offset_us, -5000000);
    assert.deepEqual(cut.divergences, []);
    // Nor is it said to run another order where its events do not lie in theirs: the first collective is not in what is left.
    const late = traceOnHost(2);
    late.traceEvents.push(...late.traceEvents.splice(3, 1));
    writeFileSync(join(path, 'rank2.json'), JSON.stringify(late).slice(0, whole.length / 2));
    assert.deepEqual(imported(path).divergences, []);
    rmSync(join(path, 'rank1.json'));
    assert.deepEqual(imported(path).ranks.map((r) => r.rank), [0, 2]);
    assert.equal(imported(path).world_size, 3);
    write({}, {}, { swap: 7 });
    assert.deepEqual(imported(path).divergences.map((d) => [d.ranks, d.index]), [[[2], 14]]);
    // With an event of a device it is a job on devices, whatever its host ran.
    const trace = traceOnHost(0);
    trace.traceEvents.push({ ph: 'X', cat: 'kernel', name: 'add', pid: 0, tid: 7, ts: 1500, dur: 10, args: { stream: 7, device: 0, correlation: 1 } });
    writeFileSync(join(path, 'rank0.json'), JSON.stringify(trace));
    const device = imported(join(path, 'rank0.json')).ranks[0];
    assert.deepEqual([device.on_host, device.computation_us, device.collectives], [false, 10, 0]);
});
