/* profiler/export/redact.h -- private: an export without what is the user's own.
 *
 * Source, paths, texts of logs and printed output are left out; so are texts,
 * keys and numbers of arguments, what tensors held, and messages of errors.  Names that the
 * source gives to things are stand-ins, the same everywhere in the export.  What remains:
 * lines, ops, kernels, shapes, times, and kinds of things.
 */
#ifndef PROFILER_EXPORT_REDACT_H
#define PROFILER_EXPORT_REDACT_H

#include "profiler/export/job.h"

/* In place of what the job has: copies, or the run's own where nothing is to be hidden.
 * False without memory. */
bool redact_job(struct export_job *job);

#endif
