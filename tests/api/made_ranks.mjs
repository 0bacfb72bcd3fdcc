// tests/api/made_ranks.mjs -- compile logs of ranks, as Inductor writes them, of which some are wrong in something.

/** A log of a rank: graphs as [frame, what Inductor tells of it], then the order in which they ran. */
function inductorLog(rank, graphs, order) {
    const line = (json, payload) => `V1121 10:00:00.001000 ${100 + rank} torch/x.py:1] ${JSON.stringify({ rank, attempt: 0, ...json, has_payload: '0'.repeat(32) })}\n${payload.replace(/^/gm, '\t')}\n`;
    const artifact = (name, of, payload) => line({ ...of, artifact: { name, encoding: 'json' } }, JSON.stringify(payload));
    return graphs.map(([frame, told]) => {
        const of = { frame_id: frame, frame_compile_id: 0 };
        return line({ ...of, dynamo_output_graph: { sizes: {} } }, `graph ${frame}`) +
            (told.cache ? line({ ...of, artifact: { name: told.cache, encoding: 'json' } }, '{}') : '') +
            (told.schedule ? artifact('inductor_collective_schedule', of, told.schedule.map((op) => `torch.ops._c10d_functional.${op}.default`)) : '') +
            (told.ops ? artifact('inductor_runtime_and_tensor_meta', of, { ops: told.ops.map(([name, ns, ...shape]) => ({ name, type: 'compute', estimated_runtime_ns: ns, outputs: [{ shape, stride: [1], dtype: 'torch.float32' }] })) }) : '') +
            (told.code ? line({ ...of, inductor_output_code: { filename: 'x.py' } }, told.code) : '');
    }).join('') + (order ? artifact('graph_execution', {}, { graph_execution_order: order }) : '');
}
const call = (op) => `    buf = torch.ops._c10d_functional.${op}.default(arg, 'sum', '0')  # torch.ops._c10d_functional.broadcast.default(x)\n`;

/** Texts of the logs of four ranks: the second lacks a wait and runs its graphs in another order, the third has another tensor and estimate, the fourth calls another collective and ends early. */
export const inductorRanks = () => {
    const ops = [['buf0', 1500, 8], ['buf1', 500.5, 4, 4]], schedule = ['all_reduce_', 'all_gather_into_tensor'];
    const code = call('all_reduce_') + call('all_gather_into_tensor') + call('wait_tensor') + call('wait_tensor');
    const graphs = (first = {}, second = {}) => [[0, { ops, schedule, code, cache: 'fx_graph_cache_miss', ...first }], [1, { ops: [['buf0', 100, 2]], ...second }]];
    return [
        inductorLog(0, graphs(), ['0/0', '1/0', '0/0']),
        inductorLog(1, graphs({ code: code.replace(call('wait_tensor'), '') }, { cache: 'fx_graph_cache_hit' }), ['1/0', { compile_id: '0/0' }, '0/0']),
        inductorLog(2, graphs({ ops: [['buf0', 4500, 8], ['buf1', 500.5, 4, 5]] }), ['0/0', '1/0', '0/0']),
        inductorLog(3, graphs({ code: call('all_reduce_') + call('reduce_scatter_tensor') + call('wait_tensor') }), ['0/0', '1/0']),
    ];
};
