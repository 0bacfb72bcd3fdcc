/* profiler/roofline/roofline.c -- how far kernels are from what the machine allows. */
#include "profiler/roofline/roofline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/timeline/lanes_view.h"
#include "profiler/measure/measure.h"
#include "profiler/recorder/recorder.h"

enum { CALLS = 40, ENOUGH_NS = 15 * 1000 * 1000 };

/* ---- durations ---- */

/* Of one kernel of one graph: a sum for each of its launches. */
struct durations {
	VEC(double) us;
	uint32_t correlation; /* of the last; several kernels of a library have one */
};

static bool add_duration(struct durations *d, const struct timeline_event *e, double less_ns)
{
	double us = fmax((double)e->duration_ns - less_ns, 1) / 1000;

	if (d->us.len && e->correlation && d->correlation == e->correlation) {
		d->us.at[d->us.len - 1] += us;
		return true;
	}
	d->correlation = e->correlation;
	return VEC_PUSH(&d->us, us);
}

/* The kernel's durations: its name is the only one of that text in its graph. */
static bool find_durations(const struct timeline_events *seen, int graph, const char *name,
			   double less_ns, struct durations *out)
{
	bool ok = true;

	for (size_t i = 0; ok && i < seen->list.len; i++) {
		const struct timeline_event *e = &seen->list.at[i];
		struct timeline_name row;

		if (e->kind != TIMELINE_KERNEL && e->kind != TIMELINE_LIBRARY)
			continue;
		row = timeline_name_at(&seen->tables, e->name);
		if (row.has.graph && row.graph == graph && row.name && strcmp(row.name, name) == 0)
			ok = add_duration(out, e, less_ns);
	}
	return ok;
}

static bool record(struct candidate *candidate, struct timeline_events *seen, struct err *err)
{
	struct recorder *r = recorder_create(timeline_events_block, seen, 1, err);
	bool ok;

	if (r && fusion_facts(candidate->engine).device)
		recorder_begin_device(r, false);
	ok = r && recorder_watch_for(r, candidate, NULL, CALLS, ENOUGH_NS, err) &&
	     recorder_finish(r, err);
	recorder_destroy(r);
	return ok;
}

/* ---- the report ---- */

/* What kernels were seen to take. */
struct roofline_of {
	const struct copy_curve *curve;
	const struct candidate *candidate;
	struct arena *arena;
	struct timeline_events seen;
	double less_ns; /* of each duration: what the clock itself takes */
};

static void add_achieved(struct report_kernel *to, const struct roofline_of *w,
			 const struct interval *us, int seen)
{
	double bytes = (double)(to->read_bytes + to->written_bytes);

	REPORT_SET(to, median_us, us->mid);
	REPORT_SET(to, ci_us, (struct report_interval){ us->low, us->high });
	REPORT_SET(to, seen, seen);
	REPORT_SET(to, bandwidth_gbps, bytes / us->mid / 1e3);
	REPORT_SET_IF(to, rate_gflops, to->has.operations, (double)to->operations / us->mid / 1e3);
	if (bytes <= 0 || !copy_curve_reaches(w->curve, (int64_t)bytes) || w->curve->n == 0)
		return;
	REPORT_SET(to, copy_share, copy_curve_ns(w->curve, bytes) / 1000 / us->mid);
	/* Its operands, and the copy's, may lie where they were just written. */
	REPORT_SET(to, copy_in, bytes <= (double)w->curve->cache_bytes ? "cache" : "memory");
}

/* Schedules that were tried.  False: out of memory. */
static bool add_tried(struct report_kernel *to, const struct kernel_tried *tried,
		      struct arena *arena)
{
	struct report_schedule *all = tried->n ? report_new_schedule((size_t)tried->n, arena)
					       : NULL;

	for (int i = 0; all && i < tried->n; i++) {
		const char *what = arena_strdup(arena, tried->at[i].what);

		if (!what)
			return false;
		REPORT_SET(&all[i], what, what);
		REPORT_SET(&all[i], us, tried->at[i].us);
		REPORT_SET(&all[i], chosen, i == tried->chosen);
	}
	if (all) {
		REPORT_SET(to, schedules, (struct report_schedule_list){ all, (size_t)tried->n });
		REPORT_SET(to, schedules_kept, tried->kept);
	}
	return all || tried->n == 0;
}

static bool add_use(struct report_kernel *to, const struct roofline_of *w, int graph, int kernel)
{
	struct kernel_use use;

	if (!fusion_kernel_use(w->candidate->session, graph, kernel, &use))
		return true;
	REPORT_SET(to, registers, use.registers);
	REPORT_SET(to, shared_bytes, use.shared_bytes);
	REPORT_SET(to, local_bytes, use.local_bytes);
	REPORT_SET(to, block_threads, use.block_threads);
	REPORT_SET(to, occupancy, use.occupancy);
	return add_tried(to, &use.tried, w->arena);
}

/* Bytes and operations are those of the capture: durations of other sizes say nothing
 * of them. */
static bool has_one_size(const struct candidate *candidate, const struct fusion_graph_info *info)
{
	return candidate->n_timed == 1 || !info->has_symbols;
}

static bool report_kernel(struct report_kernel *to, const struct roofline_of *w, int graph,
			  int kernel)
{
	struct fusion_graph_info info = fusion_graph(w->candidate->session, graph);
	int64_t operations = fusion_kernel(&info, kernel).operations;
	int64_t bytes = to->read_bytes + to->written_bytes;
	struct durations d = { 0 };
	struct interval us;
	bool ok = true;

	REPORT_SET_OR_NULL(to, operations, operations >= 0, operations);
	REPORT_SET_OR_NULL(to, intensity, operations >= 0 && bytes > 0,
			   (double)operations / (double)bytes);
	ok = add_use(to, w, graph, kernel);
	if (ok && has_one_size(w->candidate, &info)) {
		ok = find_durations(&w->seen, graph, to->name, w->less_ns, &d);
		if (ok && d.us.len > 0 && stats_median(d.us.at, (int)d.us.len, &us))
			add_achieved(to, w, &us, (int)d.us.len);
	}
	VEC_FREE(&d.us);
	return ok;
}

bool roofline_report(const struct copy_curve *curve, struct candidate *candidate,
		     struct report_graph_list graphs, struct arena *arena, struct err *err)
{
	struct roofline_of w = { .curve = curve, .candidate = candidate, .arena = arena };
	bool ok;

	if (graphs.n == 0)
		return true;
	w.less_ns = fusion_facts(candidate->engine).device ? 0 : measure_clock_cost_ns();
	ok = record(candidate, &w.seen, err);
	for (size_t g = 0; g < graphs.n; g++) {
		struct report_kernel_list kernels = graphs.at[g].kernel_details;

		for (size_t k = 0; ok && k < kernels.n; k++)
			ok = report_kernel(&kernels.at[k], &w, (int)g, (int)k) ||
			     err_set(err, ERR_MEMORY, "out of memory for the run");
	}
	timeline_events_finish(&w.seen);
	return ok;
}
