/* profiler/measure/roofline.c -- how far kernels are from what the machine allows. */
#include "profiler/measure/roofline.h"

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
		const json_t *row = json_array_get(seen->tables.names, e->name);
		const json_t *of = json_object_get(row, "graph");
		const char *text = json_string_value(json_object_get(row, "name"));

		if ((e->kind == TIMELINE_KERNEL || e->kind == TIMELINE_LIBRARY) &&
		    json_is_integer(of) && json_integer_value(of) == graph && text &&
		    strcmp(text, name) == 0)
			ok = add_duration(out, e, less_ns);
	}
	return ok;
}

static bool record(struct lane *lane, struct timeline_events *seen, struct err *err)
{
	struct recorder *r = recorder_create(timeline_events_block, seen, 1, err);
	bool ok;

	if (r && fusion_device_name(lane->engine))
		recorder_begin_device(r, false);
	ok = r && recorder_lane_for(r, lane, NULL, CALLS, ENOUGH_NS, err) &&
	     recorder_finish(r, err);
	recorder_destroy(r);
	return ok;
}

/* ---- the report ---- */

static void add_achieved(json_t *to, const struct copy_curve *curve, const struct fusion_kernel *k,
			 int64_t operations, const struct interval *us, int seen)
{
	double bytes = (double)(k->read_bytes + k->written_bytes);

	json_object_set_new(to, "median_us", json_real(us->mid));
	json_object_set_new(to, "ci_us", json_pack("[f, f]", us->low, us->high));
	json_object_set_new(to, "seen", json_integer(seen));
	json_object_set_new(to, "bandwidth_gbps", json_real(bytes / us->mid / 1e3));
	if (operations >= 0)
		json_object_set_new(to, "rate_gflops",
				    json_real((double)operations / us->mid / 1e3));
	if (bytes <= 0 || !copy_curve_reaches(curve, (int64_t)bytes) || curve->n == 0)
		return;
	json_object_set_new(to, "copy_share",
			    json_real(copy_curve_ns(curve, bytes) / 1000 / us->mid));
	/* Its operands, and the copy's, may lie where they were just written. */
	json_object_set_new(to, "copy_in",
			    json_string(bytes <= (double)curve->cache_bytes ? "cache" : "memory"));
}

static void add_use(json_t *to, const struct lane *lane, int graph, int kernel)
{
	struct kernel_use use;

	if (!fusion_kernel_use(lane->session, graph, kernel, &use))
		return;
	json_object_set_new(to, "registers", json_integer(use.registers));
	json_object_set_new(to, "shared_bytes", json_integer(use.shared_bytes));
	json_object_set_new(to, "local_bytes", json_integer(use.local_bytes));
	json_object_set_new(to, "block_threads", json_integer(use.block_threads));
	json_object_set_new(to, "occupancy", json_real(use.occupancy));
}

/* Bytes and operations are those of the capture: durations of other sizes say nothing
 * of them. */
static bool has_one_size(const struct lane *lane, const struct fusion_graph_info *info)
{
	return lane->n_timed == 1 || !fusion_has_symbols(info->captured);
}

static bool report_kernel(const struct copy_curve *curve, const struct lane *lane,
			  const struct timeline_events *seen, double less_ns, int graph, int kernel,
			  json_t *to)
{
	struct fusion_graph_info info = fusion_graph(lane->session, graph);
	struct fusion_kernel k = fusion_kernel(&info, kernel);
	int64_t operations = fusion_kernel_operations(&info, kernel);
	int64_t bytes = k.read_bytes + k.written_bytes;
	struct durations d = { 0 };
	struct interval us;
	bool ok = true;

	json_object_set_new(to, "operations",
			    operations < 0 ? json_null() : json_integer(operations));
	json_object_set_new(to, "intensity",
			    operations < 0 || bytes <= 0
				? json_null()
				: json_real((double)operations / (double)bytes));
	add_use(to, lane, graph, kernel);
	if (has_one_size(lane, &info)) {
		ok = find_durations(seen, graph, k.name, less_ns, &d);
		if (ok && d.us.len > 0 && stats_median(d.us.at, (int)d.us.len, &us))
			add_achieved(to, curve, &k, operations, &us, (int)d.us.len);
	}
	VEC_FREE(&d.us);
	return ok;
}

void report_copy(json_t *device, const struct copy_curve *curve)
{
	json_t *points = json_array();

	if (curve->n == 0) {
		json_decref(points);
		return;
	}
	for (int i = 0; i < curve->n; i++)
		json_array_append_new(
		    points, json_pack("[I, f]", (json_int_t)curve->bytes[i], curve->ns[i] / 1000));
	if (curve->whole)
		json_object_set_new(device, "copy_gbps",
				    json_real(copy_curve_bandwidth(curve) / 1e9));
	json_object_set_new(device, "copy_curve", points);
	json_object_set_new(device, "cache_bytes", json_integer((json_int_t)curve->cache_bytes));
}

bool roofline_report(const struct copy_curve *curve, struct lane *lane, json_t *m, struct err *err)
{
	json_t *graphs = json_object_get(m, "graphs"), *graph;
	double less_ns = fusion_device_name(lane->engine) ? 0 : measure_clock_cost_ns();
	struct timeline_events seen = { 0 };
	bool ok;
	size_t g;

	if (json_array_size(graphs) == 0)
		return true;
	ok = record(lane, &seen, err);
	json_array_foreach(graphs, g, graph)
	{
		json_t *details = json_object_get(graph, "kernel_details");

		for (size_t k = 0; ok && k < json_array_size(details); k++)
			ok = report_kernel(curve, lane, &seen, less_ns, (int)g, (int)k,
					   json_array_get(details, k)) ||
			     err_set(err, ERR_MEMORY, "out of memory for the run");
	}
	timeline_events_finish(&seen);
	return ok;
}
