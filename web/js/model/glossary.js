// js/model/glossary.js -- the meaning of words in heads of tables and in sentences; the
// help lists them all.

/** @type {Record<string, string>} */
export const GLOSSARY = {
  Verdict: "FASTER, SLOWER or SAME where the interval of the speedup says so; AMBIGUOUS where it lies on both sides of 1x; NOT ENOUGH where too few rounds were measured. DISAGREES where the mode computes other values than eager: how quick it is does not count then.",
  Speedup: "Eager's time over the mode's: above 1x compiling pays. In brackets the 95 % interval of that ratio.",
  Median: "Of the rounds' mean times of a call, half are below it. In brackets its 95 % interval.",
  Compile: "Capturing, passes, lowering and the compiler, together: what the first call pays.",
  "Repaid after": "Calls after which the time saved has paid for the compiling; never, where a call saves nothing.",
  "Meets eager": "The n of the sweep at which the mode is as fast as eager. A row of the list has the figures at the largest n, which follows it.",
  Launches: "Kernels that a call starts, one after another.",
  Peak: "The most tensor memory in use at once, inputs and parameters included.",
  "Max error": "The largest difference of an output from eager's, over all elements.",
  Modes: "A letter for each mode that was measured: eager, lazy, static, dynamic, auto, graphs.",
  "Held before": "Tensor memory in use before the call: inputs, parameters and what else is kept between calls.",
  Adds: "The most in use at once during the call, less what is held before it.",
  "Taken in all": "The bytes of every tensor that the call takes, whenever they are given back.",
  Lives: "From where its memory is taken to where it is given back, over the call; the line is the peak.",
  "Written by": "The kernel that writes the tensor first.",
  "Of copy": "The time of a copy of as many bytes over the kernel's own: near 100 % memory is the limit.",
  Operations: "Those of the graph: 2 for each pair that a product multiplies and adds, 1 for each element of any other op.",
  "Op/byte": "Arithmetic intensity, operations over bytes: where it is low, memory is the limit.",
  Union: "Time in which at least one event of the lane ran: those within or beside each other count once, where a sum counts each.",
  Occupancy: "Threads of the kernel that a multiprocessor can hold over the most that it can.",
};

/** Words of sentences and tabs, for the help. @type {Record<string, string>} */
export const WORDS = {
  Eager: "One kernel for each op, at once: what the others are compared with.",
  Static: "Captured, fused, compiled for the sizes it meets; as torch.compile(dynamic=False).",
  Dynamic: "The same with sizes as symbols from the first call on; torch.compile(dynamic=True).",
  Auto: "Static first; a size that changes becomes a symbol; torch.compile().",
  Graphs: "Static, its launches recorded once and replayed; mode=\"reduce-overhead\".",
  Lazy: "Ops gather in a trace that runs when a value is read or the call ends; PyTorch/XLA.",
  Graph: "What was captured of the program in one piece, and is compiled as one.",
  Break: "A place where a graph has to end: what follows is captured again, or runs in eager.",
  Guard: "What a compiled version takes for granted of its inputs; checked in each call.",
  Recompile: "A guard failed in every version, so that the frame was compiled once more.",
  Frame: "A function, or the place in it where capture goes on after a break.",
  Policy: "dynamo breaks where torch.compile would; native breaks as little as this engine can.",
  Fused: "Several ops in one kernel: what lies between them never goes to memory.",
  Fallback: "An op that the backend cannot lower: a library call between two pieces of a graph.",
  Interval: "With 95 % confidence the true value lies in it; where two of them overlap, no order is claimed.",
  Sweep: "The same program at several sizes, or with 1, 5, 10 statements in its body: n.",
};

/** The term of a head, "Median" of "Median, µs"; "" where it needs no words. @param {string} head */
export function termOf(head) {
  const name = head.split(",")[0];
  return Object.hasOwn(GLOSSARY, name) ? name : "";
}
