// tests/api/ranks.test.mjs -- ranks of a job as one run, against tables that are computed without Breakeven.
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { binary } from './harness.mjs';

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
