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

#endif
