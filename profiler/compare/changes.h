/* profiler/compare/changes.h -- breaks, kernels and graphs that came, went or changed.
 *
 * Each compares one mode at one point of two reports, and appends to a list what is not
 * as it was; every entry has `mode` and `n` (null without a sweep).
 */
#ifndef PROFILER_COMPARE_CHANGES_H
#define PROFILER_COMPARE_CHANGES_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"

/* One side of a mode at a point. */
struct measured {
	const json_t *mode; /* M of the report */
	const char *source; /* that lines of the point count in */
};

struct place {
	const char *mode;
	const json_t *n; /* NULL: no sweep */
};

/* {"change": "added", "gone" or "kept", "stage", "kind", "gb", "text" (of the line), "a"
 * and "b": {"line", "count", "cost_us", "ci_us"} or null}.  The same break is one of the
 * same stage, kind and registry id at a line of the same text, wherever that stands now. */
void changes_breaks(json_t *list, struct place at, struct measured a, struct measured b);

/* {"change": "added", "gone", "slower" or "faster", "name", "form", "ops", "a" and "b":
 * {"us", "ci_us"} or null, "ratio", "ci"}.  Kernels are matched by their names, in order;
 * which of them are slower stands at 5 % for all of them together, beyond the margin.
 * Returns how many are as they were. */
bool changes_kernels(json_t *list, struct place at, struct measured a, struct measured b,
		     double margin, int *same, struct err *err);

/* {"a" and "b": numbers of graphs, "ops": [{"op", "a", "b"}]} where they differ. */
void changes_graphs(json_t *list, struct place at, struct measured a, struct measured b);

#endif
