/* profiler/import/regions.h -- private: what ran inside of what, and for which compiled frame.
 *
 * torch.profiler marks a call of a compiled frame as "Torch-Compiled Region: F/C", with its
 * resume frames and all that they call within, compilations that they begin too.  What a
 * region takes beyond the regions, compiled graphs and compilations in it is its own: guards,
 * bytecode, and what the break was for.  A launch
 * belongs to the innermost region around it, a cache lookup to the region that begins next.
 *
 * Spans are looked through a window at a time, sorted: memory does not grow with the file.
 */
#ifndef PROFILER_IMPORT_REGIONS_H
#define PROFILER_IMPORT_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/vec.h"
#include "profiler/import/ledger.h"

enum { REGION_WINDOW = 1 << 19, REGION_MAX = 4096, REGION_MAX_LINKS = 3 << 20 };

enum span_kind {
	SPAN_PLAIN,
	SPAN_REGION,
	SPAN_GRAPH,
	SPAN_COMPILE, /* Dynamo and what it calls at work */
	SPAN_LOOKUP,
	SPAN_LAUNCH,
	SPAN_DEVICE
};

struct span {
	int64_t start_ns, duration_ns;
	uint32_t lane;
	uint32_t kind : 3, number : 29; /* of a region */
	uint32_t id;                    /* a launch's correlation */
};

/* A compiled frame of a process, over all its calls. */
struct region {
	char pid[24], id[24]; /* "398", "0/0" */
	int64_t calls, total_ns, self_ns;
	int64_t lookups, lookup_ns; /* "TorchDynamo Cache Lookup" */
	int64_t graph_calls, graph_ns;
	int64_t compile_ns; /* of compilations that calls of it began */
	int64_t launches, kernels, kernel_ns;
};

struct region_link { /* of a launch to its region, or of a kernel to its time */
	uint32_t correlation, region;
	int64_t kernel_ns;
};

/* Zeroed is empty. */
struct regions {
	VEC(struct region) rows;
	VEC(struct span) window;
	VEC(struct region_link) launches, kernels;
	int64_t links_left_out; /* past REGION_MAX_LINKS */
	struct ledger *ledger;
};

void regions_finish(struct regions *r);

/* The number of a frame's row, new where it is not known; -1: there are too many. */
int regions_find(struct regions *r, const char *pid, const char *id);

/* Adds a span; looks the window through where it is full. */
bool regions_add(struct regions *r, struct span span);

/* A kernel's time, for the region that launched it. */
bool regions_kernel(struct regions *r, uint32_t correlation, int64_t ns);

/* Looks through what is left of the file. */
bool regions_end_file(struct regions *r);

#endif
