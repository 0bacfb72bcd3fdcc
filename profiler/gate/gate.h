/* profiler/gate/gate.h -- do workloads pass beside a baseline?
 *
 * Each is compared with its baseline as profiler/compare does, by its rule.  It fails where values
 * differ from eager's, where the verdict is SLOWER, or where graphs, breaks or launches of a mode
 * are more than they were: of these what `fails_on` has; the rest is reported.  It is NOT ENOUGH
 * where it cannot be judged: without a baseline, where the two cannot be compared, or with too few
 * rounds. */
#ifndef PROFILER_GATE_GATE_H
#define PROFILER_GATE_GATE_H

#include "fusion/base/buf.h"
#include "profiler/compare/compare.h"

enum gate_kind {
	GATE_VALUES = 1,
	GATE_TIMES = 2,
	GATE_GRAPHS = 4,
	GATE_BREAKS = 8,
	GATE_LAUNCHES = 16,
	GATE_ALL = 31
};

/* "values,breaks" as a sum of kinds; BAD_REQUEST naming those that there are. */
bool gate_kinds_read(const char *text, unsigned *out, struct err *err);

struct gate_pair {
	const char *name, *file;          /* file NULL: it came from none */
	const struct compared_run *a, *b; /* NULL: there is none */
	const char *why;                  /* why there is none; NULL: both are there */
};

struct gate_options {
	const char *baseline; /* as it was asked for */
	unsigned fails_on;    /* kinds */
	double margin;        /* 0: RATIO_MARGIN */
};

/* In the draft, which keeps the comparisons too; texts of `pairs` are borrowed.  NULL with MEMORY
 * or BAD_REQUEST. */
struct report_gate *gate_judge(const struct gate_pair *pairs, int n, const struct gate_options *o,
			       struct report_draft *draft, struct err *err);

/* Appends it as "text", "markdown", "junit", "sarif", "github" or "json"; BAD_REQUEST naming these.
 * Texts of users are escaped as each form asks. */
bool gate_write(const struct report_gate *gate, const char *format, struct buf *out,
		struct err *err);

#endif
