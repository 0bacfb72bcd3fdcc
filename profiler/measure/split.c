/* profiler/measure/split.c -- turns the observer's intervals into exclusive times.
 *
 * Phases may nest (dispatch may hold alloc) and a child is reported before its
 * parent.  The intervals reported since a parent began are on a stack; the
 * parent takes them off and keeps what is left of its own time.
 */
#include "profiler/measure/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/measure/measure.h"
#include "profiler/measure/stats.h"

enum { MAX_CALLS = 500, MIN_CALLS = 8, MAX_OPEN = 4096, WATCH_NS = 30 * 1000 * 1000 };

struct split_piece {
	int64_t begin_ns, end_ns;
	double cost_ns; /* of the reports made between the two */
};

struct split_watcher {
	double self_ns[PHASE_COUNT];
	struct split_piece open[MAX_OPEN];
	int n_open;
	double clock_ns, report_ns; /* a reading of the clock; a whole report */
};

static void on_phase(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns)
{
	struct split_watcher *w = self;
	struct split_piece piece = { begin_ns, end_ns, w->report_ns };
	double own = (double)(end_ns - begin_ns) - w->clock_ns;

	while (w->n_open && w->open[w->n_open - 1].begin_ns >= begin_ns &&
	       w->open[w->n_open - 1].end_ns <= end_ns) {
		const struct split_piece *child = &w->open[--w->n_open];

		/* What the child reported lies inside it; its last report and
		 * its first reading stand in the parent. */
		own -= (double)(child->end_ns - child->begin_ns) - w->clock_ns + w->report_ns;
		piece.cost_ns += child->cost_ns;
	}
	w->self_ns[phase] += own;
	if (w->n_open < MAX_OPEN)
		w->open[w->n_open++] = piece;
}

static void keep_call(struct split_watcher *w, struct split *out, double duration_ns)
{
	double cost = w->clock_ns;

	for (int i = 0; i < w->n_open; i++)
		cost += w->open[i].cost_ns;
	out->observed_us = fmax(duration_ns - cost, 0) / 1000;
	for (int p = 0; p < PHASE_COUNT; p++)
		out->phase_us[p] = fmax(w->self_ns[p], 0) / 1000;
	out->calls = 1;
}

static bool watch_calls(struct candidate *candidate, struct split_watcher *w, struct split *calls,
			int *n, struct err *err)
{
	int64_t start = clock_ns();

	for (*n = 0; *n < MAX_CALLS; (*n)++) {
		int call = candidate->timed[*n % candidate->n_timed];
		struct value out;
		int64_t begin;

		if (*n >= MIN_CALLS && *n % candidate->n_timed == 0 &&
		    clock_ns() - start > WATCH_NS)
			break;
		if (candidate->writes && !candidate_restore(candidate, call, err))
			return false;
		memset(w->self_ns, 0, sizeof(w->self_ns));
		w->n_open = 0;
		begin = clock_ns();
		if (!candidate_call(candidate, call, &out, err))
			return false;
		value_unref(out);
		keep_call(w, &calls[*n], (double)(clock_ns() - begin));
		buf_clear(fusion_stdout(candidate->session));
	}
	return true;
}

static int compare_splits(const void *a, const void *b)
{
	double x = ((const struct split *)a)->observed_us,
	       y = ((const struct split *)b)->observed_us;

	return (x > y) - (x < y);
}

void split_average(struct split *calls, int n, struct split *out)
{
	int from = n / 4, to = n - n / 4;

	*out = (struct split){ .calls = to - from };
	qsort(calls, (size_t)n, sizeof(*calls), compare_splits);
	for (int i = from; i < to; i++) {
		for (int p = 0; p < PHASE_COUNT; p++)
			out->phase_us[p] += calls[i].phase_us[p] / (to - from);
		out->observed_us += calls[i].observed_us / (to - from);
	}
}

bool split_measure(struct candidate *candidate, struct split *out, struct err *err)
{
	struct split_watcher *w = calloc(1, sizeof(*w));
	struct split *calls = calloc(MAX_CALLS, sizeof(*calls));
	struct fusion_observer observer = { .self = w, .phase = on_phase };
	bool ok = false;
	int n = 0;

	if (!w || !calls) {
		err_set(err, ERR_MEMORY, "out of memory for the run");
		goto out;
	}
	w->report_ns = measure_reporting_ns(on_phase, w, &w->n_open);
	w->n_open = 0;
	w->clock_ns = measure_clock_cost_ns();
	fusion_observe(candidate->session, &observer);
	ok = watch_calls(candidate, w, calls, &n, err);
	fusion_observe(candidate->session, NULL);
	if (ok)
		split_average(calls, n, out);
out:
	free(w);
	free(calls);
	return ok;
}
