/* profiler/import/torch_trace.h -- private: how long each phase of a compilation took.
 *
 * chromium_event records are begins and ends of phases, in epoch microseconds; a phase
 * has the time between both, whatever lies within.
 */
#ifndef PROFILER_IMPORT_TORCH_PHASES_H
#define PROFILER_IMPORT_TORCH_PHASES_H

#include "profiler/import/model.h"
#include "profiler/import/torch_record.h"

struct open_phase {
	char name[128], id[64];
	int64_t start_ns;
};

/* Zeroed is empty; of one process. */
struct torch_phases {
	VEC(struct open_phase) open;
	uint32_t lane;
	bool has_lane;
};

#endif
