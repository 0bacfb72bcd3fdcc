/* profiler/compare/figures.h -- a report as a list of figures: metric, mode and point.
 *
 * Comparison and history read the same list, so that they cannot speak of different
 * numbers.
 */
#ifndef PROFILER_COMPARE_FIGURES_H
#define PROFILER_COMPARE_FIGURES_H

#include <stdbool.h>

#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/stats.h"

enum figure_kind { FIGURE_TIMED, FIGURE_ONCE, FIGURE_COUNTED };

enum figure_metric {
#define FIGURE(name, unit, kind, more, title) METRIC_##name,
#include "profiler/compare/figures.def"
#undef FIGURE
	METRIC_COUNT
};

struct metric_info {
	const char *name, *unit, *title;
	enum figure_kind kind;
	bool more_is_better;
};

const struct metric_info *metric_info(enum figure_metric metric);

/* By name; BAD_REQUEST naming those that there are. */
bool metric_from_name(const char *name, enum figure_metric *out, struct err *err);

/* The samples of a latency beside those of the control, of the same rounds. */
struct paced {
	const int64_t *latency_ns;                  /* all processes', one after another; NULL: the
						     * control was not timed beside them */
	const int64_t *control_ns[STATS_PROCESSES]; /* each process' */
	int of_process[STATS_PROCESSES];
	double process_sd; /* what processes of the same differ by, of their logs */
};

struct figure {
	enum figure_metric metric;
	const char *mode;      /* of the report */
	double n;              /* point of the sweep; NaN: no sweep */
	struct interval value; /* low and high are NaN where it has no interval */
	/* What a verdict rests on.  Of a latency, where its samples are there, their lower
	 * decile: what else runs on a machine makes samples longer, never shorter, and in its
	 * busy moments most of them; else the same as `value`. */
	struct interval judged;
	int samples;    /* rounds that a TIMED one rests on, else 0 */
	int processes;  /* that took them: 1 or more */
	int repeats;    /* runs that its spread is known from; 0: it is not */
	bool disagrees; /* the mode's values are not eager's there */
	double spread;  /* what runs of the same differ by: half-width of its log, 95 % */
	/* Of a latency: the part of the call that the processor was seen at work for it.  On a GPU
	 * the rest waits for the GPU; 1 on a processor, and where nothing tells. */
	double host_share;
	/* What processes of the same differ by, of their logs, where `judged` does not hold it. */
	double process_sd;
	struct paced paced; /* borrowed of the report */
};

struct figures {
	VEC(struct figure) rows;
};

/* Of every mode at every point, in the order of the report, whose texts are borrowed.
 * What was not measured is left out.  False with MEMORY; finish in any case. */
bool figures_of(const struct report_run *run, struct figures *out, struct err *err);

static inline void figures_finish(struct figures *f)
{
	VEC_FREE(&f->rows);
}

/* Sets repeats and spread of the TIMED ones from values of the same workload, settings and
 * version, each from a run of its own, those of one figure one after another.  The interval
 * of one process does not hold what differs from process to process: with k >= 3 values the
 * next lies within t(k - 1) deviations of their logs (Student's t, 95 %). */
struct repeat {
	const char *metric, *mode;
	double n, value; /* n NaN: no sweep */
};
void figures_spread(struct figures *f, const struct repeat *repeats, int n);

/* That of the same metric, mode and point; NULL: none. */
const struct figure *figures_find(const struct figures *f, const struct figure *like);

/* The points of a report: those of its sweep, or one with the modes of the report itself,
 * whose n is NAN. */
static inline size_t figures_points(const struct report_run *run)
{
	return run->points.n ? run->points.n : 1;
}

struct report_point figures_point(const struct report_run *run, size_t i);

#endif
