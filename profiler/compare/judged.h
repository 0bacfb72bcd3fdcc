/* profiler/compare/judged.h -- private: the figures of two reports side by side, judged. */
#ifndef PROFILER_COMPARE_JUDGED_H
#define PROFILER_COMPARE_JUDGED_H

#include "profiler/compare/figures.h"
#include "profiler/compare/ratio.h"

struct judged {
	struct figure a, b;
	struct interval ratio; /* b over a; low and high NaN: no interval */
	int points;            /* of a sweep that it speaks for; 0: its own alone */
	enum verdict verdict;  /* of TIMED and ONCE */
	bool alone;            /* it would be FASTER or SLOWER if it were the only one */
};

struct judgement {
	VEC(struct judged) rows;
	int family; /* figures that were judged together */
};

/* False with MEMORY; finish in any case. */
bool judge_figures(const struct figures *a, const struct figures *b, double margin,
		   struct judgement *out, struct err *err);
void judgement_finish(struct judgement *j);

/* As compare.h shows it. */
json_t *judged_json(const struct judged *j, int family);

#endif
