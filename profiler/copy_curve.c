/* profiler/copy_curve.c -- see copy_curve.h. */
#include "profiler/copy_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/lane.h"
#include "profiler/lanes_view.h"
#include "profiler/measure.h"
#include "profiler/recorder.h"

static const char source[] = "def model(x):\n    return x + 1.0\n";

/* Elements of float32: a step of four from 1 KiB on.  The last is a device's alone:
 * it has caches of that size. */
static const int64_t elements[COPY_POINTS] = { 1,       1 << 8,  1 << 10, 1 << 12, 1 << 14, 1 << 16,
					       1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26 };
/* Of the times of a size: what others do on the machine makes no kernel quicker. */
static const double undisturbed = 0.1;
enum { N_HOST = COPY_POINTS - 1, N_SMALL = 7, SMALL_CYCLES = 40, LARGE_CYCLES = 5 };

static struct workload *make_workload(const struct workload *w, int n, struct err *err)
{
	json_t *calls = json_array();
	json_t *json = json_pack("{s:s, s:s, s:[s], s:i, s:o}", "name", "copy", "source", source,
				 "modes", "dynamic", "threads", w->threads, "calls", calls);
	struct workload *made;

	for (int i = 0; i < n; i++)
		json_array_append_new(calls, json_pack("[{s:{s:[I], s:s, s:s}}]", "random", "shape",
						       (json_int_t)elements[i], "dtype", "float32",
						       "kind", "zeros"));
	if (w->threads == 0)
		json_object_del(json, "threads");
	made = workload_parse_in(json, w->registry, err);
	json_decref(json);
	if (made) /* borrowed, as its own would be */
		made->backend = w->backend;
	return made;
}

/* Kernels in the order of the calls: one each. */
static bool read_kernels(const struct timeline_events *seen, const struct lane *lane,
			 double less_ns, struct copy_curve *c)
{
	VEC(double) of[COPY_POINTS] = { { 0 } };
	int at = 0;
	bool ok = true;

	for (size_t i = 0; i < seen->list.len; i++) {
		int call = lane->timed[at % lane->n_timed];

		if (seen->list.at[i].kind != TIMELINE_KERNEL)
			continue;
		ok &= VEC_PUSH(&of[call], (double)seen->list.at[i].duration_ns - less_ns);
		at++;
	}
	for (int k = 0; k < lane->n_timed; k++) {
		int call = lane->timed[k], n = (int)of[call].len;

		ok = ok && n > 0;
		if (!ok)
			break;
		stats_sort(of[call].at, n);
		c->ns[call] = fmax(stats_quantile(of[call].at, n, undisturbed), 1);
	}
	for (int i = 0; i < COPY_POINTS; i++)
		VEC_FREE(&of[i]);
	return ok;
}

/* Watches calls [from, to) of the lane. */
static bool watch(struct lane *lane, int from, int to, int cycles, bool device,
		  struct copy_curve *c, struct err *err)
{
	struct timeline_events seen = { 0 };
	struct recorder *r;
	bool ok;

	lane->timed = lane->all + from;
	lane->n_timed = to - from;
	r = recorder_create(timeline_events_block, &seen, 1, err);
	ok = r && recorder_lane_for(r, lane, NULL, cycles * lane->n_timed, INT64_MAX, err) &&
	     recorder_finish(r, err) &&
	     read_kernels(&seen, lane, device ? 0 : measure_clock_cost_ns(), c);
	recorder_destroy(r);
	timeline_events_finish(&seen);
	return ok;
}

static bool warm(struct lane *lane, int n, struct err *err)
{
	for (int i = 0; i < 2 * n; i++) {
		struct value out;

		if (!lane_call(lane, i % n, &out, err))
			return false;
		value_unref(out);
	}
	return fusion_wait(lane->engine, err);
}

bool copy_curve_measure(struct copy_curve *c, const struct workload *w, struct err *err)
{
	bool device = workload_on_device(w), ok;
	int n = device ? COPY_POINTS : N_HOST;
	struct workload *copy = make_workload(w, n, err);
	struct inputs inputs = { 0 };
	struct lane lane = { 0 };

	c->n = 0;
	ok = copy && inputs_create(&inputs, copy, &copy->points[0], err) &&
	     lane_create(&lane, copy, &copy->points[0], FUSION_DYNAMIC, &inputs, NULL, err) &&
	     warm(&lane, n, err) && watch(&lane, 0, N_SMALL, SMALL_CYCLES, device, c, err) &&
	     watch(&lane, N_SMALL, n, LARGE_CYCLES, device, c, err);
	for (int i = 0; ok && i < n; i++)
		c->bytes[i] = 2 * (int64_t)sizeof(float) * elements[i];
	c->n = ok ? n : 0;
	lane_destroy(&lane);
	inputs_destroy(&inputs);
	workload_destroy(copy);
	return ok;
}

double copy_curve_ns(const struct copy_curve *c, double bytes)
{
	int i = 1;
	double slope;

	if (c->n == 0)
		return 0;
	if (bytes <= (double)c->bytes[0])
		return c->ns[0];
	if (bytes >= (double)c->bytes[c->n - 1])
		return c->ns[c->n - 1] * bytes / (double)c->bytes[c->n - 1];
	while (bytes > (double)c->bytes[i])
		i++;
	slope = log(c->ns[i] / c->ns[i - 1]) / log((double)c->bytes[i] / (double)c->bytes[i - 1]);
	return c->ns[i - 1] * pow(bytes / (double)c->bytes[i - 1], slope);
}

double copy_curve_bandwidth(const struct copy_curve *c)
{
	return c->n ? (double)c->bytes[c->n - 1] / c->ns[c->n - 1] * 1e9 : 0;
}
