/* profiler/align/rows.h -- private: what each kernel adds to the difference. */
#ifndef PROFILER_ALIGN_ROWS_H
#define PROFILER_ALIGN_ROWS_H

#include "profiler/align/match.h"

/* A figure of a unit: its mean over the units of a side, and the standard error of that. */
struct unit_figure {
	double mean;  /* NAN: no unit has it */
	double error; /* NAN: too few units */
	int n;
};

struct unit_change {
	struct unit_figure a, b;
	double delta, low, high; /* low, high NAN: unknown */
	double chance;           /* how likely such a difference is where there is none */
	bool changed;            /* stands among all */
};

/* ROW_LENGTH: how long items take, whatever runs beside them; no part of a whole. */
enum row_part { ROW_DEVICE, ROW_IDLE, ROW_LENGTH, ROW_PARTS };

/* Matches of the same names on both sides, taken together. */
struct align_row {
	const struct match *first; /* of its matches the one that adds most */
	size_t from, to;           /* its matches, in order[] */
	size_t n_a, n_b;           /* items in a unit */
	size_t at_a, at_b;         /* the first of them, in of_a and of_b */
	bool any_moved;
	struct unit_change change[ROW_PARTS];
};

struct align_rows {
	struct matches matches;
	size_t *order;            /* of matches, by row */
	VEC(uint32_t) of_a, of_b; /* items of a unit, by row */
	VEC(struct align_row) list;
	struct unit_change wall, part[2]; /* of the unit itself */
};

/* False when out of memory; finish in any case. */
bool rows_make(const struct align_side *a, const struct align_side *b, struct align_rows *out);
void rows_finish(struct align_rows *r);

#endif
