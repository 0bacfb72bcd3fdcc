"""tests/bench/ranks_job.py FOLDER --ranks N --mb M [--seed S] [--straggler R] [--swap R:INDEX] [--diverge R] [--gzip] -- a job of N ranks, as
torch.profiler would have traced each: data-parallel training, whose gradients are reduced in buckets on a stream of their own.

Simulated, not drawn: a rank's host runs ahead and launches, its compute stream runs in order, its collectives wait for the
kernels whose gradients they take, begin when their own rank is there and end when the last one is; the optimizer waits for
them.  Clocks are apart by up to 2 ms.  --straggler R: rank R computes 20 % longer.  --swap R:INDEX: rank R runs collective
INDEX after the next.  --diverge R: each rank has a compile log too, in which rank R captured another graph as [0/1] and has
its collectives in the other order.  Prints what is planted as JSON.
"""
import argparse
import gzip
import json
import os
import random

BUCKETS, LAYERS = 5, 40
KERNEL = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)"
GEMM = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
ALLREDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GATHER = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Rank:
    """The events of a rank, in ns; `host` and `gpu` are how far each has come, `comm` its stream of collectives."""

    def __init__(self, rank, args, rng):
        self.rank, self.args, self.rng = rank, args, rng
        self.offset = rng.randrange(-2_000_000, 2_000_000) if rank else 0
        self.slow = 1.2 if rank == args.straggler else 1.0
        self.host = self.gpu = self.comm = 1_000_000
        self.correlation, self.bytes = 1000, 0
        os.makedirs(args.folder, exist_ok=True)
        path = os.path.join(args.folder, f"rank-{rank}.pt.trace.json" + (".gz" if args.gzip else ""))
        self.file = gzip.open(path, "wt", compresslevel=1) if args.gzip else open(path, "w", buffering=1 << 20)
        self.put(json.dumps({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": args.ranks},
                             "baseTimeNanoseconds": 1790857026000000000})[:-1] + ', "traceEvents": [\n', comma=False)
        self.first = True

    def put(self, text, comma=True):
        if comma:
            text = ("" if self.first else ",\n") + text
            self.first = False
        self.bytes += len(text)
        self.file.write(text)

    def event(self, cat, name, pid, tid, start, duration, args):
        """`args`: as they stand in the file, without their brackets.  Not by json.dumps(): there are millions."""
        self.put(f'{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": {pid}, "tid": {tid}, "ts": {(start + self.offset) / 1e3}, '
                 f'"dur": {duration / 1e3}, "args": {{{args}}}}}')

    def launch(self, op):
        """A call of the host that launches; -> its correlation and when it began."""
        pid = 4000 + self.rank
        start, self.correlation = self.host, self.correlation + 1
        self.event("cpu_op", op, pid, pid, start, 9_000, f'"External id": {self.correlation}, "Record function id": 0, '
                   f'"Sequence number": {self.correlation}, "Fwd thread id": 0, "Input Dims": [[4096, 1024], [1024, 1024], []], '
                   f'"Input type": ["float", "float", "Scalar"], "Input Strides": [[1024, 1], [1, 1024], []], "Ev Idx": {self.correlation}')
        self.event("cuda_runtime", "cudaLaunchKernel", pid, pid, start + 3_000, 4_000,
                   f'"External id": {self.correlation}, "cbid": 211, "correlation": {self.correlation}')
        self.host = start + 10_000
        return self.correlation, start + 3_000

    def kernel(self, name, stream, start, duration, correlation, more=None):
        self.event("kernel", name, 0, stream, start, duration,
                   f'"External id": {correlation}, "queued": 0, "device": 0, "context": 1, "stream": {stream}, "correlation": {correlation}, '
                   '"registers per thread": 32, "shared memory": 0, "blocks per SM": 31.03, "warps per SM": 124.1, '
                   '"grid": [4096, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 91' + (", " + json.dumps(more)[1:-1] if more else ""))

    def compute(self, op, name, ns):
        correlation, at = self.launch(op)
        start = max(self.gpu + 1_000, at + 6_000)
        ns = int(ns * self.slow * self.rng.uniform(0.97, 1.03))
        self.kernel(name, 7, start, ns, correlation)
        self.gpu = start + ns

    def close(self):
        self.put('\n], "traceName": "job"}\n', comma=False)
        self.file.close()


def collective(ranks, index, elements, swap):
    """All ranks run it; it ends on all together."""
    launched = [r.launch("c10d::allreduce_") for r in ranks]
    starts = [max(r.gpu + 2_000, r.comm + 2_000, at + 8_000) for r, (_, at) in zip(ranks, launched)]
    end = max(starts) + elements // 40
    for r, (correlation, _), start in zip(ranks, launched, starts):
        at = index
        if swap and r.rank == swap[0] and index in (swap[1], swap[1] + 1):
            at = 2 * swap[1] + 1 - index
        gather = at % 7 == 3
        n = elements // len(ranks) if gather else elements
        own_end = end + r.rng.randrange(-1500, 1500)
        r.kernel(GATHER if gather else ALLREDUCE, 20, start, own_end - start, correlation,
                 {"Collective name": "_allgather_base" if gather else "allreduce", "dtype": "Float", "In msg nelems": n,
                  "Out msg nelems": elements, "Group size": len(ranks), "Process Group Name": "0",
                  "Process Group Description": "default_pg", "Process Group Ranks": str([x.rank for x in ranks])})
        r.comm = own_end


def log(rank, args):
    """A compile log: two compilations, each with its graph and the order of its collectives."""
    def line(record, payload=None):
        record = {**record, "attempt": 0, "rank": rank, **({} if payload is None else {"has_payload": "0" * 32})}
        text = f"V1121 10:00:00.000000 {4000 + rank} torch/x.py:1] {json.dumps(record)}\n"
        return text + "".join(f"\t{part}\n" for part in (payload or "").split("\n") if payload)

    with open(os.path.join(args.folder, f"dedicated_log_torch_trace_rank_{rank}_x.log"), "w") as f:
        f.write(f'V1121 10:00:00.000000 {4000 + rank} torch/x.py:1] {{"str": ["/w/train.py", 0]}}\n')
        for compile in range(2):
            other = compile == 1 and rank == args.diverge
            of = {"frame_id": 0, "frame_compile_id": compile}
            op = "relu" if other else "gelu"
            order = [f"torch.ops._c10d_functional.{name}.default" for name in ("all_gather_into_tensor", "all_reduce")]
            f.write(line({"dynamo_start": {"stack": [{"line": 3, "name": "step", "filename": 0}]}, **of}))
            f.write(line({"dynamo_output_graph": {"sizes": {"l_x_": [4]}}, **of},
                         f"class GraphModule(torch.nn.Module):\n    def forward(self, L_x_):\n        y = torch.nn.functional.{op}(L_x_)\n        return (y,)"))
            f.write(line({"artifact": {"name": "inductor_collective_schedule", "encoding": "json"}, **of}, json.dumps(order[::-1] if other else order)))
            f.write(line({"compilation_metrics": {"co_name": "step", "co_filename": "/w/train.py", "co_firstlineno": 3, "graph_op_count": 1}, **of}))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("folder")
    p.add_argument("--ranks", type=int, default=8)
    p.add_argument("--mb", type=float, default=1.0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--straggler", type=int, default=-1)
    p.add_argument("--swap", default="")
    p.add_argument("--diverge", type=int, default=-1)
    p.add_argument("--gzip", action="store_true")
    args = p.parse_args()
    swap = tuple(int(x) for x in args.swap.split(":")) if args.swap else None
    ranks = [Rank(i, args, random.Random(args.seed * 1000 + i)) for i in range(args.ranks)]
    index = step = 0
    while ranks[0].bytes < args.mb * 1e6:
        begins = [r.host for r in ranks]
        for r in ranks:
            for _ in range(LAYERS):
                r.compute("aten::linear", GEMM, 60_000)
                r.compute("aten::add_", KERNEL, 15_000)
        for bucket in range(BUCKETS):
            for r in ranks:
                for _ in range(LAYERS // BUCKETS):
                    r.compute("aten::mm", GEMM, 110_000)
            collective(ranks, index, 8_000_000 + bucket * 1_000_000, swap)
            index += 1
        for r, begin in zip(ranks, begins):
            r.gpu = max(r.gpu, r.comm)
            r.compute("Optimizer.step#AdamW.step", KERNEL, 300_000)
            pid = 4000 + r.rank
            r.correlation += 1
            r.event("cuda_runtime", "cudaDeviceSynchronize", pid, pid, r.host, max(1_000, r.gpu + 3_000 - r.host), f'"cbid": 165, "correlation": {r.correlation}')
            r.host = max(r.host + 1_000, r.gpu + 3_000) + 20_000
            r.event("user_annotation", f"ProfilerStep#{step}", pid, pid, begin, r.host - 10_000 - begin, f'"External id": {r.correlation}')
        step += 1
    for r in ranks:
        r.close()
        if args.diverge >= 0:
            log(r.rank, args)
    print(json.dumps({"ranks": args.ranks, "steps": step, "collectives": index, "bytes": sum(r.bytes for r in ranks),
                      "offsets_us": [r.offset / 1e3 for r in ranks], "straggler": args.straggler, "swap": swap, "diverge": args.diverge}))


if __name__ == "__main__":
    main()
