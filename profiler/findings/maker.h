/* profiler/findings/maker.h -- private: what the makers of findings share. */
#ifndef PROFILER_FINDINGS_MAKER_H
#define PROFILER_FINDINGS_MAKER_H

#include "profiler/fields/fields.h"
#include "profiler/numbers/numbers.h"

struct maker {
	const struct report_run *run;
	struct arena *arena;
	const struct report_point *points; /* of a run without a sweep one, without n */
	size_t n_points;
	struct number_unit time, compile, bytes, activations;
	bool failed; /* out of memory: what was made is not to be used */
};

static inline const char *maker_kept(struct maker *m, const char *text)
{
	m->failed |= !text;
	return text ? text : "";
}

/* As printf() would write it; "" once memory is out. */
#define maker_text(m, ...) maker_kept((m), arena_printf((m)->arena, __VA_ARGS__))

/* doubts.c: warnings, and the modes whose values are wrong. */
void put_doubts(struct maker *m, struct report_findings *out);

#endif
