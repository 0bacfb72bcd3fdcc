/* profiler/import/torch_phases.h -- private: the phases of compilations, which a TORCH_TRACE holds
 * as events of a Chrome trace, each a begin and an end.  They are drawn on the timeline and summed
 * up for their compilation.
 */
#ifndef PROFILER_IMPORT_TORCH_PHASES_H
#define PROFILER_IMPORT_TORCH_PHASES_H

#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "profiler/import/torch_trace.h"

struct model;

struct open_phase {
	char name[128], id[64];
	int64_t start_ns;
};

/* Zeroed is empty; of one process. */
struct torch_phases {
	VEC(struct open_phase) open;
	int process; /* its place in the list */
	uint32_t lane;
	bool has_lane;
};

void torch_phases_finish(struct torch_phases *p);

/* The event that is the record's payload; `id` of its compilation, "" where it has none. */
bool torch_phases_take(struct torch_phases *p, struct model *m, int process, const char *id,
		       const struct torch_record *record, struct err *err);

#endif
