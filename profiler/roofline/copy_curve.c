/* profiler/roofline/copy_curve.c -- how long this device takes to move bytes. */
#include "profiler/roofline/copy_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/measure/candidate.h"
#include "profiler/timeline/lanes_view.h"
#include "profiler/measure/measure.h"
#include "profiler/recorder/recorder.h"

static const char source[] = "def model(x):\n    return x + 1.0\n";

/* Elements of float32.  On the host one version serves all sizes, since compiling takes
 * longer there; on a device each size has its own, of which there are at most eight. */
static const int64_t host_elements[] = { 1,       1 << 8,  1 << 10, 1 << 12, 1 << 14, 1 << 16,
					 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26 };
static const int64_t device_elements[] = { 1,       1 << 12, 1 << 16, 1 << 18,
					   1 << 20, 1 << 22, 1 << 24, 1 << 26 };
enum {
	HOST_SIZES = sizeof(host_elements) / sizeof(*host_elements),
	DEVICE_SIZES = sizeof(device_elements) / sizeof(*device_elements),
	/* What small kernels are held against, and no fresh memory to speak of. */
	HOST_LEAST = 7,
	DEVICE_LEAST = 4
};
/* Where the system does not say what the last cache holds. */
static const int64_t unknown_cache_bytes = 32 << 20;
enum { LARGE = 1 << 14, DEVICE_LARGE = 1 << 19, SMALL_CALLS = 40, LARGE_CALLS = 5 };
/* Of the times of a size: what others do on the machine makes no kernel quicker. */
static const double undisturbed = 0.1;

static struct workload *make_workload(const struct workload *w, enum fusion_mode mode,
				      const int64_t *elements, int n, struct err *err)
{
	json_t *calls = json_array();
	json_t *json = json_pack("{s:s, s:s, s:[s], s:i, s:o}", "name", "copy", "source", source,
				 "modes", fusion_mode_name(mode), "threads", w->threads, "calls",
				 calls);
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

/* Sizes whose time is that of starting a kernel: their calls take turns, as the kernels
 * of a program do, so that none finds its own code in the nearest cache.  Larger ones
 * would not find their bytes there either, as what a program has just written is. */
static int count_small(const int64_t *elements, int n, int64_t large)
{
	int small = 0;

	while (small < n && elements[small] < large)
		small++;
	return small;
}

/* The n-th kernel's size: one kernel a call.  -1: there were no more calls. */
static int size_of_kernel(int kernel, int small, int n)
{
	int size = small + (kernel - small * SMALL_CALLS) / LARGE_CALLS;

	if (kernel < small * SMALL_CALLS)
		return kernel % small;
	return size < n ? size : -1;
}

/* False where some were not seen. */
static bool read_kernels(const struct timeline_events *seen, int small, int n, double less_ns,
			 struct copy_curve *c)
{
	double ns[COPY_POINTS][SMALL_CALLS];
	int have[COPY_POINTS] = { 0 }, kernels = 0;

	for (size_t i = 0; i < seen->list.len; i++) {
		int size;

		if (seen->list.at[i].kind != TIMELINE_KERNEL)
			continue;
		size = size_of_kernel(kernels++, small, n);
		if (size < 0)
			return false;
		ns[size][have[size]++] = (double)seen->list.at[i].duration_ns - less_ns;
	}
	if (kernels != small * SMALL_CALLS + (n - small) * LARGE_CALLS)
		return false;
	for (int i = 0; i < n; i++) {
		stats_sort(ns[i], have[i]);
		c->ns[i] = fmax(stats_quantile(ns[i], have[i], undisturbed), 1);
	}
	for (int i = n - 1; i > 0; i--) /* moving more takes no less: the rest is noise */
		c->ns[i - 1] = fmin(c->ns[i - 1], c->ns[i]);
	return true;
}

/* Large sizes come one after another: what fits into a cache is there. */
static bool watch(struct candidate *candidate, const int64_t *elements, int n, bool device,
		  struct copy_curve *c, struct err *err)
{
	struct timeline_events seen = { 0 };
	struct recorder *r = recorder_create(timeline_events_block, &seen, 1, err);
	int small = count_small(elements, n, device ? DEVICE_LARGE : LARGE);
	bool ok = r != NULL;

	if (r && device)
		recorder_begin_device(r, false);
	candidate->timed = candidate->all;
	candidate->n_timed = small;
	ok = ok && recorder_watch_for(r, candidate, NULL, small * SMALL_CALLS, INT64_MAX, err);
	candidate->n_timed = 1;
	for (int i = small; ok && i < n; i++) {
		candidate->timed = candidate->all + i;
		ok = recorder_watch_for(r, candidate, NULL, LARGE_CALLS, INT64_MAX, err);
	}
	ok = ok && recorder_finish(r, err);
	if (ok)
		c->blind = !read_kernels(&seen, small, n, device ? 0 : measure_clock_cost_ns(), c);
	recorder_destroy(r);
	timeline_events_finish(&seen);
	return ok;
}

static bool warm(struct candidate *candidate, int n, struct err *err)
{
	for (int i = 0; i < 2 * n; i++) {
		struct value out;

		if (!candidate_start(candidate, i % n, &out, err))
			return false;
		value_unref(out);
	}
	return fusion_wait(candidate->engine, err);
}

static int64_t bytes_of(int64_t elements)
{
	return 2 * (int64_t)sizeof(float) * elements;
}

int64_t copy_cache_bytes(struct fusion *engine)
{
	int64_t bytes = fusion_facts(engine).device
			    ? (int64_t)fusion_facts(engine).device_cache_bytes
			    : sysconf(_SC_LEVEL3_CACHE_SIZE);

	return bytes > 0 ? bytes : unknown_cache_bytes;
}

static int sizes_up_to(const int64_t *elements, int least, int all, int64_t reach_bytes,
		       int64_t cache_bytes)
{
	int n = least;

	if (reach_bytes > cache_bytes) /* larger ones take as long a byte */
		reach_bytes = COPY_BEYOND * cache_bytes;
	while (n < all && bytes_of(elements[n - 1]) < reach_bytes)
		n++;
	return n;
}

bool copy_curve_measure(struct copy_curve *c, const struct workload *w, int64_t reach_bytes,
			int64_t cache_bytes, struct err *err)
{
	bool device = workload_on_device(w), ok;
	const int64_t *elements = device ? device_elements : host_elements;
	int all = device ? DEVICE_SIZES : HOST_SIZES;
	int n = sizes_up_to(elements, device ? DEVICE_LEAST : HOST_LEAST, all, reach_bytes,
			    cache_bytes);
	enum fusion_mode mode = device ? FUSION_STATIC : FUSION_DYNAMIC;
	struct workload *copy = make_workload(w, mode, elements, n, err);
	struct inputs inputs = { 0 };
	struct candidate candidate = { 0 };

	*c = (struct copy_curve){ .cache_bytes = cache_bytes };
	ok = copy && inputs_create(&inputs, copy, &copy->points[0], err) &&
	     candidate_create(
		 &candidate,
		 &(struct candidate_spec){
		     .w = copy, .p = &copy->points[0], .mode = mode, .originals = &inputs },
		 err) &&
	     warm(&candidate, n, err) && watch(&candidate, elements, n, device, c, err);
	for (int i = 0; ok && i < n; i++)
		c->bytes[i] = bytes_of(elements[i]);
	c->n = ok && !c->blind ? n : 0;
	c->whole = c->n > 0 && c->bytes[n - 1] >= COPY_BEYOND * cache_bytes;
	candidate_destroy(&candidate);
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
