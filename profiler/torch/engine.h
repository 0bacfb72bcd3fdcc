/* profiler/torch/engine.h -- private: the workload by real PyTorch, for the same report.
 *
 * Two jobs of the operator's Python, one after the other (host.h): the first runs
 * and times every mode under the sampling rules of measure.h, nothing attached; the
 * second, in another process, makes a few calls of each mode at some points under
 * TORCH_TRACE and torch.profiler, whose logs are read by profiler/import/.  Values of the
 * first are compared with those of our eager mode.  Statistics are ours, from its samples.
 */
#ifndef PROFILER_TORCH_ENGINE_H
#define PROFILER_TORCH_ENGINE_H

#include "profiler/workload/workload.h"

/* `engines.torch` of the report `ours`:
 *
 *	error       null, or {"code", "message", "detail"}: the end of its standard error
 *	version, python, executable, cuda, device_name, threads, first_compile_ms, seconds
 *	modes, points, break_even   as the report has them at its top, of torch's modes
 *	log         what `breakeven import --json` prints of its TORCH_TRACE and its Chrome
 *	            trace; null where there is none
 *	log_error   why not, or null
 *	trace       {"points", "calls", "table", "failed"}: what was watched, and what
 *	            torch.profiler itself sums up
 *
 * A mode: latency, compile_ms, peak_bytes (null on the CPU), first_call_ms, frames,
 * draws, values {"agree", ...} against our eager, over_ours {"ratio", "ci"}, breaks; or
 * error.  A failure of torch is no failure of the run: it stands there.  NULL with
 * CANCELLED or MEMORY. */
json_t *torch_engine_run(const struct workload *w, const struct profiler_options *options,
			 const json_t *ours, int wall_s, struct err *err);

/* report.c: the row of a mode as the process sent it, and the row of the same mode of Breakeven at
 * that point (NULL: not measured), as the report has it.  New. */
json_t *torch_mode_json(const json_t *row, const json_t *ours);

/* Adds `break_even` against torch's eager: of a point to `out`, from its rows; of a sweep,
 * from the messages of its points.  False when out of memory. */
bool torch_point_even(const json_t *rows, json_t *out);
bool torch_sweep_even(const json_t *messages, json_t *out);

/* A mode whose values are not ours is neither FASTER nor SLOWER: `even`, of a point or of a
 * sweep with this point. */
void torch_mark_disagreeing(json_t *modes, json_t *even);

/* log.c: reads what the second process left in the folder, and gives each mode the breaks
 * that are its own.  NULL with *err. */
json_t *torch_log_read(const char *folder, struct err *err);
json_t *torch_log_breaks(const json_t *log, const char *mode, const int64_t *n);

#endif
