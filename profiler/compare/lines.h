/* profiler/compare/lines.h -- two programs line by line. */
#ifndef PROFILER_COMPARE_LINES_H
#define PROFILER_COMPARE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/arena.h"
#include "profiler/fields/fields.h"

/* The program that a run is of. */
struct compared_program {
	const struct report_workload *workload; /* NULL: none is known */
	const char *source; /* of a point of a sweep: what ran there; NULL: the workload's */
};

/* Its text, of several files that of `file` (NULL or "": of the entry's); "" where there is none.
 */
const char *program_text(const struct compared_program *p, const char *file);

struct line_change {
	const char *sign; /* " " both have it, "-" a alone, "+" b alone */
	int in_a, in_b;   /* its number there, from 1; 0: it is not there */
	const char *file; /* of a program of several files; else NULL */
	const char *text;
};

/* The fewest lines added and gone (longest common subsequence). */
struct lines {
	bool counted; /* false where a file has over 2,000 lines on a side: then the rest is 0 */
	int added, gone;
	struct line_change
	    *at; /* NULL where both are alike, too; of several files those that differ */
	size_t n;
};

/* Lines live in the arena.  False when out of memory. */
bool lines_compare(const struct compared_program *a, const struct compared_program *b,
		   struct arena *arena, struct lines *out);

/* Line `number`, from 1, of a text without the space around it: *len bytes; "" where there
 * is none. */
const char *lines_at(const char *text, int number, int *len);

#endif
