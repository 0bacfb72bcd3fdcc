/* profiler/breaks/price.c -- see price.h. */
#include "profiler/breaks/price.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/recorder/recorder.h"

/* Groups are fewer where calls are so long that all would take more. */
static const double record_s = 1.2;

static void on_crossed(void *self, int index, int64_t kept, int64_t moved)
{
	struct bytes *b = (struct bytes *)self + index;

	b->met += moved == 0;
	b->kept = kept > b->kept ? kept : b->kept;
	b->moved += moved;
}

/* Each timed call once, with nobody looking at the clock. */
static bool find_bytes(struct lane *lane, struct bytes *bytes, struct err *err)
{
	struct fusion_observer observer = { .self = bytes, .crossed = on_crossed };
	bool ok = true;

	fusion_observe(lane->session, &observer);
	for (int i = 0; ok && i < lane->n_timed; i++) {
		struct value out;

		ok = (!lane->writes || lane_restore(lane, lane->timed[i], err)) &&
		     lane_call(lane, lane->timed[i], &out, err);
		if (ok)
			value_unref(out);
		buf_clear(fusion_stdout(lane->session));
	}
	fusion_observe(lane->session, NULL);
	return ok;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* What a call takes at this moment while nobody watches, the median of a few calls each
 * time; 0 where inputs are put back between calls. */
static bool time_unwatched(struct lane *lane, double *ns, struct err *err)
{
	double each[GROUP_CALLS];
	int64_t start, begin;
	int n = 0, k, batch = 1; /* the first is by itself: how long is it? */

	*ns = 0;
	if (lane->writes)
		return true;
	if (!fusion_wait(lane->engine, err))
		return false;
	start = begin = clock_ns();
	for (k = 0; n < GROUP_CALLS && begin - start < GROUP_NS;) {
		int64_t end;

		for (int i = 0; i < batch; i++) {
			struct value out;

			if (!lane_start(lane, lane->timed[n++ % lane->n_timed], &out, err))
				return false;
			value_unref(out);
		}
		end = clock_ns();
		each[k++] = (double)(end - begin) / batch;
		begin = end;
		if (n == 1 && each[0] < LONG_NS) {
			batch = BATCH_CALLS;
			k = 0; /* it was cold */
		}
	}
	qsort(each, (size_t)k, sizeof(*each), by_size);
	*ns = each[k / 2];
	buf_clear(fusion_stdout(lane->session));
	return true;
}

void break_sides_finish(struct break_sides *s)
{
	timeline_events_finish(&s->seen);
}

/* By how long the first took. */
static int groups_for(int64_t ns)
{
	double n = record_s * 1e9 / (double)(ns > 0 ? ns : 1);

	return n > GROUPS ? GROUPS : n < LEAST_GROUPS ? LEAST_GROUPS : (int)n;
}

bool break_sides_record(struct break_sides *s, bool cupti, struct err *err)
{
	struct recorder *r = recorder_create(timeline_events_block, &s->seen, 1, err);
	int64_t begin = clock_ns();
	bool ok = r != NULL;

	if (r && fusion_device_name(s->lane[0]->engine)) {
		if (cupti)
			recorder_begin_device(r, false);
		else
			recorder_begin_host(r);
	}
	s->of_host = !cupti || !fusion_device_name(s->lane[0]->engine);
	s->groups = GROUPS;
	for (int i = 0; ok && i < s->groups * s->n; i++) {
		struct lane *lane = s->lane[i % s->n];

		if (i == s->n)
			s->groups = groups_for(clock_ns() - begin);

		ok = time_unwatched(lane, &s->call_ns[i % s->n][i / s->n], err) &&
		     recorder_lane_for(r, lane, NULL, GROUP_CALLS, GROUP_NS, err);
	}
	ok = ok && recorder_finish(r, err);
	recorder_destroy(r);
	return ok;
}

void priced_finish(struct priced *p)
{
	break_costs_finish(&p->costs);
	free(p->bytes);
	free(p->moved_bytes);
	free(p->guards);
	free(p->reads);
	free(p->gone);
}

static bool reads_number(const struct lane *lane, int index)
{
	const char *kind = fusion_break(lane->session, index).kind;

	return strcmp(kind, "scalar-read") == 0 || strcmp(kind, "data-dependent-branch") == 0;
}

static bool find_guards(const struct lane *lane, struct priced *p, struct err *err)
{
	int n = fusion_graph_count(lane->session);

	p->guards = calloc((size_t)n + 1, sizeof(*p->guards));
	if (!p->guards)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (int i = 0; i < n; i++)
		p->guards[i] = fusion_graph(lane->session, i).n_guards;
	p->costs.guards = p->guards;
	p->costs.n_graphs = n;
	p->costs.reads = p->reads;
	return true;
}

/* To the pace of the middle group, as long as the calls that nobody watched just before
 * each tell it. */
static bool even_out(struct break_costs *c, const double *call_ns)
{
	size_t n = c->groups.len;
	double *x = calloc(n + 1, sizeof(*x)), middle;

	if (!x)
		return false;
	for (size_t i = 0; i < n; i++)
		x[i] = call_ns[c->groups.at[i].number];
	stats_sort(x, (int)n);
	middle = n ? stats_quantile(x, (int)n, 0.5) : 0;
	for (size_t i = 0; i < n; i++) {
		struct break_group *g = &c->groups.at[i];

		if (x[0] > 0)
			break_group_set_pace(c, g, middle / call_ns[g->number]);
	}
	free(x);
	return true;
}

bool priced_read(const struct copy_curve *curve, const struct break_sides *s, int at,
		 struct priced *p, struct err *err)
{
	static const struct copy_curve none;

	p->costs.of = &s->seen;
	p->costs.first = at;
	p->costs.step = s->n;
	return break_costs_read(&p->costs, curve ? curve : &none, p->moved_bytes,
				fusion_device_name(s->lane[at]->engine) != NULL, s->call_ns[at],
				err) &&
	       (!s->of_host || even_out(&p->costs, s->call_ns[at]) ||
		err_set(err, ERR_MEMORY, "out of memory for the run"));
}

bool priced_init(struct priced *p, struct lane *lane, struct err *err)
{
	int n = fusion_break_count(lane->session);

	*p = (struct priced){ .bytes = calloc((size_t)n + 1, sizeof(*p->bytes)),
			      .moved_bytes = calloc((size_t)n + 1, sizeof(*p->moved_bytes)),
			      .reads = calloc((size_t)n + 1, sizeof(*p->reads)) };
	break_costs_init(&p->costs, n);
	p->costs.lazy = lane->mode == FUSION_LAZY;
	p->costs.graphs = lane->mode == FUSION_GRAPHS;
	if (!p->bytes || !p->moved_bytes || !p->reads)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	if (n > 0 && !find_bytes(lane, p->bytes, err))
		return false;
	for (int i = 0; i < n; i++) {
		const struct bytes *b = &p->bytes[i];

		p->reads[i] = reads_number(lane, i);
		p->moved_bytes[i] = b->met && !p->reads[i] ? (double)b->moved / (double)b->met : 0;
	}
	return find_guards(lane, p, err);
}
