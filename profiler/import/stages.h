/* profiler/import/stages.h -- private: where graphs split, in the capture or in the lowering.
 *
 * A PyTorch/XLA run splits its program twice: Dynamo into FX graphs, and each of them into
 * HLO graphs.  One graph would do; what a stage adds is how many more there are behind it
 * than before it.
 */
#ifndef PROFILER_IMPORT_STAGES_H
#define PROFILER_IMPORT_STAGES_H

#include "profiler/import/model.h"

/* A list with a row for each model: {"model", "captured_graphs" (null: nothing says it, as
 * with "capture_added" and "lowering_added"),
 * "captured_from" ("log", "counter" or null), "capture_added", "capture_breaks",
 * "lowered_graphs", "lowering_added", "lowering_breaks", "compile_us", "run_us",
 * "executions", "main_stage" ("capture", "lowering", "both", "none"; null: unknown)}.  Files
 * of one folder are of one model, which is named for it; where only one folder has logs of
 * PyTorch/XLA, all files are of one.  New. */
json_t *stages_json(const struct model *m, const json_t *files, const json_t *breaks);

#endif
