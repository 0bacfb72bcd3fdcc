// js/model/glossary.js -- the meaning of words in heads of tables and in sentences; the
// help lists them all.

/** @type {Record<string, string>} */
export const GLOSSARY = {
  Verdict: "FASTER where the whole interval of the speedup lies above 1.02x, SLOWER where it lies below 1x / 1.02, SAME where it lies between them, AMBIGUOUS where it crosses one of them. NOT ENOUGH: fewer than 6 rounds were measured. DISAGREES: the mode's values differ from eager's, so its speed is not compared.",
  Speedup: "Eager's time divided by the mode's in the same round; the median over rounds, so it can differ from the ratio of the two medians. Above 1x the mode is faster. In brackets its 95 % interval.",
  Median: "The median over rounds of the mean time of a call. In brackets its 95 % interval.",
  Compile: "What the first call pays: capture, passes, lowering and the compiler together.",
  "Repaid after": "Calls until the time saved equals the compile time; never, where a call saves nothing.",
  "Meets eager": "The n of the sweep at which the mode is as fast as eager; always ahead or never ahead where the two curves do not cross. A row of the list has the figures at the largest n.",
  Launches: "Kernels that a call launches.",
  Peak: "Peak memory of tensors, inputs and parameters included.",
  "Max error": "The largest difference of an output from eager's, over all elements.",
  Modes: "One letter per measured mode: eager, lazy, static, dynamic, auto, graphs.",
  "Held before": "Tensor memory in use before the call: inputs, parameters and whatever else is kept between calls.",
  Adds: "The peak during the call, less what was held before it.",
  "Allocated in all": "The bytes of every tensor that the call allocates, whenever they are freed.",
  Lifetime: "From its allocation until it is freed, over the call; the line marks the peak.",
  "Written by": "The kernel that writes the tensor first.",
  "Of copy": "The time of a copy of as many bytes, divided by the kernel's own: near 100 % the kernel is bound by memory.",
  Operations: "Those of the graph: 2 for each multiply-add of a product, 1 for each element of any other op.",
  "Op/byte": "Arithmetic intensity, operations per byte: where it is low, the kernel is bound by memory.",
  Union: "Time in which at least one event of the lane ran: nested or overlapping events count once, where a sum counts each.",
  Occupancy: "Threads of this kernel that fit on a multiprocessor, divided by the most that it can hold.",
};

/** Words of sentences and tabs, for the help. @type {Record<string, string>} */
export const WORDS = {
  Eager: "Each op launches its own kernel at once: the baseline of the other modes.",
  Static: "Captured, fused and compiled for the sizes it sees; as torch.compile(dynamic=False).",
  Dynamic: "The same with sizes as symbols from the first call on; torch.compile(dynamic=True).",
  Auto: "Static first; a size that changes becomes a symbol; torch.compile().",
  Graphs: "Static, its launches recorded once and replayed; mode=\"reduce-overhead\".",
  Lazy: "Ops collect in a trace that runs when a value is read or the call ends; as PyTorch/XLA.",
  Graph: "A part of the program that was captured and compiled as one.",
  Break: "A place where a graph has to end: what follows is captured as another graph, or runs in eager.",
  Guard: "What a cache entry assumes of its inputs; checked in each call.",
  Recompile: "No cache entry matched, so the frame was compiled once more.",
  Frame: "A function, or what remains of it after a break (a resume function).",
  Policy: "dynamo breaks where torch.compile would; native breaks as little as this engine can.",
  Fused: "Several ops in one kernel: values between them never go to memory.",
  Fallback: "An op that the backend cannot lower: a library call between two pieces of a graph.",
  Interval: "The true value lies in it with 95 % confidence; where two of them overlap, no order is claimed.",
  Sweep: "The same program at several sizes, or with 1, 5, 10 statements in its body: n.",
};

/** The term of a head, "Median" of "Median, µs"; "" where it needs no words. @param {string} head */
export function termOf(head) {
  const name = head.split(",")[0];
  return Object.hasOwn(GLOSSARY, name) ? name : "";
}
