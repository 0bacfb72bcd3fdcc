/* profiler/findings/maker.h -- private: what the makers of findings share. */
#ifndef PROFILER_FINDINGS_MAKER_H
#define PROFILER_FINDINGS_MAKER_H

#include "profiler/findings/sentence.h"
#include "profiler/numbers/numbers.h"

struct maker {
	const struct report_run *run;
	struct wording wording;
	const struct report_point *points; /* of a run without a sweep one, without n */
	size_t n_points;
	struct number_unit time, compile, bytes, activations;
};

/* As printf() would write it; "" once memory is out. */
#define maker_text(m, ...) wording_text(&(m)->wording, __VA_ARGS__)

/* doubts.c: warnings, and the modes whose values are wrong. */
void put_doubts(struct maker *m, struct report_findings *out);

/* modes.c: what is said of each mode of a point beside its verdict; the modes are there already. */
void put_modes(struct maker *m, const struct report_point *p, struct report_findings_point *to);

#endif
