/* profiler/compare/settings.h -- in what two runs differ beside their figures, and whether
 * that forbids to compare them. */
#ifndef PROFILER_COMPARE_SETTINGS_H
#define PROFILER_COMPARE_SETTINGS_H

#include <stdbool.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "profiler/fields/fields.h"

struct setting_difference {
	const char *key, *title;
	const char *a, *b; /* what each side has, in words */
	bool matters;      /* it forbids a comparison */
	bool parts;        /* it begins another history of the workload */
};

/* Texts are the arena's, or of the program. */
struct differences {
	VEC(struct setting_difference) rows;
};

/* Those of two reports; none where they are alike.  Another name and another source together
 * are another workload, which matters; another source under the same name is a new version of
 * it.  False with MEMORY; finish in any case. */
bool settings_differences(const struct report_run *a, const struct report_run *b,
			  struct arena *arena, struct differences *out, struct err *err);

static inline void differences_finish(struct differences *d)
{
	VEC_FREE(&d->rows);
}

/* Appends "not comparable: threads 1 against 16; device cpu against cuda" where some of those
 * matter.  Returns whether one does. */
bool settings_refusal(const struct differences *d, struct buf *out);

/* Appends the values of the settings that part a history, sweep apart: equal texts mean that runs
 * of the same workload repeat each other. */
void settings_key(const struct report_run *run, struct buf *out);

/* The program itself, as text: the source, and the lines that a sweep puts into it.  Equal
 * where two runs are of the same. */
void settings_program(const struct report_run *run, struct buf *out);

#endif
