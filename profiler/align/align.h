/* profiler/align/align.h -- two timelines of one program: where does the difference come from?
 *
 * Each side's items (kernels and copies; of a program that ran on the host alone, ops) are cut into
 * the units that the program repeats, a unit of A is aligned with one of B, and the difference of a
 * unit's time is split into rows: kernels that take another time, that are new, gone, fused or
 * split, that run more or less often, and what the device waits before a kernel.  The rows of a
 * part add up to its difference; `rest` says what they do not.
 *
 * Of the time in which several streams run at once each has its share, so that busy and idle
 * together are the wall time.
 */
#ifndef PROFILER_ALIGN_ALIGN_H
#define PROFILER_ALIGN_ALIGN_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"
#include "profiler/timeline/lanes_view.h"

/* Of a side: later ones are left out, which the answer says. */
enum { ALIGN_MOST_EVENTS = 1 << 20 };

/* Events of a timeline as far as they are aligned; timeline_events_block() adds to them. */
#define ALIGN_EVENTS ((struct timeline_events){ .spans = true, .most = ALIGN_MOST_EVENTS })

struct align_run {
	json_t *head;                         /* shown as it is: id or file, name */
	const struct timeline_events *events; /* ALIGN_EVENTS, with its blocks */
	const char *mode;                     /* of a run: NULL: a compiled one, or the only one */
	bool has_n;
	int64_t n; /* the point of a sweep; else the last */
};

/* A new object, `alignment` of profiler/fields/align.def.  NULL with BAD_REQUEST where a side has
 * nothing that ran, or MEMORY. */
json_t *align_timelines(const struct align_run *a, const struct align_run *b, struct err *err);

#endif
