/* profiler/measure/memory.h -- tensor memory over one call, by what it was taken for.
 *
 * The call is watched by itself, after the latencies: nothing is compiled any more and
 * nothing of other calls is kept, so its peak is no more than the mode's `peak_bytes`,
 * which is that of the first calls, in order, with their outputs.
 */
#ifndef PROFILER_MEASURE_MEMORY_H
#define PROFILER_MEASURE_MEMORY_H

#include "profiler/measure/candidate.h"

enum {
	MEMORY_MAX_CALLS = 16,     /* that are tried for the one with the highest peak */
	MEMORY_MAX_TENSORS = 8192, /* of a call that are told apart; more are counted */
	MEMORY_ALL_ROWS = 3072,    /* of a report; of a mode at a point: */
	MEMORY_MOST_ROWS = 256,
	MEMORY_LEAST_ROWS = 24,
	MEMORY_MAX_STEPS = 512, /* of a curve */
	MEMORY_MAX_HELD = 64,
	MEMORY_WATCHES = 5, /* of the call, as long as they take less than: */
	MEMORY_WATCH_NS = 50 * 1000 * 1000,
};

/* Adds `memory` to m: of the timed call with the highest peak (of the first
 * MEMORY_MAX_CALLS),
 *	{"call", "duration_us" (as watched, which takes time), "held_bytes" (in use before
 *	 it), "peak_bytes" (the most in use), "peak_us", "left_bytes" (in use after it,
 *	 its output kept),
 *	 "curve": {"at_us": [..], "bytes": [..]} (bytes in use from then on; thinned out
 *	  evenly over time, the peak kept), "events": how many there were,
 *	 "tensors": [{"op", "line", "use", "eager" (of an op by itself), "graph", "kernel",
 *"values", "dtype", "shape", "bytes", "from_us", "to_us" (null: outlives the call), "at_peak"}, ..]
 *in the order in which they were taken, "held_at_peak_bytes": peak_bytes less those of tensors at
 *the peak: what was in use before and has not been given back until then, "left_out": {"tensors",
 *"bytes", "peak_bytes" (of those at the peak)}, "held": [{"kind": "input|parameter|gradient|state",
 *"name", "dtype", "shape", "bytes"},
 *..], "other_inputs_bytes" (of the workload's other calls), "other_bytes" (of held_bytes: constants
 *of graphs, recordings, what the program keeps, arguments in lists)}. `use` is "output",
 *"temporary", "constant", "recording" or "other"; op, line, graph, kernel, dtype and shape are null
 *where they are unknown or `values` share the memory. Of tensors the largest have a row, those at
 *the peak before others.  `candidates`: of the whole report, which bounds the rows.  The outputs of
 *the candidate must have been dropped. False where a call fails. */
bool memory_report(struct candidate *candidate, int candidates, json_t *m, struct err *err);

#endif
