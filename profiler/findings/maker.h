/* profiler/findings/maker.h -- private: what the makers of findings share. */
#ifndef PROFILER_FINDINGS_MAKER_H
#define PROFILER_FINDINGS_MAKER_H

#include <string.h>

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
#define plural(m, n, one, many) wording_plural(&(m)->wording, (n), (one), (many))
#define size_text(m, bytes) wording_bytes(&(m)->wording, (bytes))
#define figure_text(m, x) wording_number(&(m)->wording, (x))
#define step_text(m, x, step) wording_step(&(m)->wording, (x), (step))

static inline bool same_text(const char *a, const char *b) /* NULL is "" */
{
	return strcmp(report_text(a), report_text(b)) == 0;
}

/* A verdict without words yet; NULL: no memory. */
static inline struct report_findings_verdict *maker_verdict(struct maker *m, struct sentence *s)
{
	struct report_findings_verdict *to = report_new_findings_verdict(1, m->wording.arena);

	m->wording.failed |= !to;
	if (to) {
		REPORT_SET(to, sentence, (struct report_sentence_part_list){ 0 });
		*s = sentence_begin(&m->wording, &to->sentence);
	}
	return to;
}

/* doubts.c: warnings, and the modes whose values are wrong. */
void put_doubts(struct maker *m, struct report_findings *out);

/* breaks.c: what is said of the breaks of a mode: the verdict, each distinct one, each kind. */
void put_breaks(struct maker *m, const char *mode, const struct report_mode *at,
		struct report_findings_mode *to);

/* guards.c: what is said of its guards, and of each compiled version. */
void put_guards(struct maker *m, const char *mode, const struct report_mode *at,
		struct report_findings_mode *to);

/* memory.c: what is said of the memory of a call, of all modes of a point. */
void put_memory(struct maker *m, const struct report_point *p, struct report_findings_point *to);

/* modes.c: what is said of each mode of a point beside its verdict; the modes are there already. */
void put_modes(struct maker *m, const struct report_point *p, struct report_findings_point *to);

#endif
