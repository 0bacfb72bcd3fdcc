/* profiler/breaks/run.c -- the costs of a mode's breaks, and their check. */
#include "profiler/breaks/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/breaks/cure.h"
#include "profiler/breaks/cost.h"
#include "profiler/measure/lane.h"
#include "profiler/measure/measure.h"
#include "profiler/recorder/recorder.h"
#include "profiler/report/break.h"

enum {
	GROUPS = 48, /* short ones: whoever else works comes and goes in milliseconds */
	LEAST_GROUPS = 6,
	GROUP_CALLS = 100,
	GROUP_NS = 1000 * 1000,
	BATCH_CALLS = 10, /* 1 where a call is long beside a reading of the clock */
	LONG_NS = 5000
};

/* Of a break, by number: sums over `calls`. */
struct bytes {
	int64_t kept, moved, met;
};

/* `call_ns`: of a call that nobody watches, by lane and group. */
struct break_sides {
	struct lane *lane[2];
	int n;
	struct timeline_events seen;
	bool of_host; /* its pace is the recording's: kernels of a device have their own */
	double call_ns[2][GROUPS];
	int groups; /* fewer where calls are long */
};

/* A lane's breaks as its timelines have them. */
struct priced {
	struct break_costs costs;
	struct bytes *bytes;
	double *moved_bytes;
	int *guards; /* by graph */
	bool *reads;
	bool *gone; /* by break: the function is known without it; NULL: none is */
};

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

/* zeroed is fine */
static void break_sides_finish(struct break_sides *s)
{
	timeline_events_finish(&s->seen);
}

/* By how long the first took. */
static int groups_for(int64_t ns)
{
	double n = record_s * 1e9 / (double)(ns > 0 ? ns : 1);

	return n > GROUPS ? GROUPS : n < LEAST_GROUPS ? LEAST_GROUPS : (int)n;
}

/* Watches s->lane[0] to [n - 1].  `cupti`: kernels of a device too, where launches cost
 * more.  False with *err; s is to be finished in any case. */
static bool break_sides_record(struct break_sides *s, bool cupti, struct err *err)
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

/* zeroed is fine */
static void priced_finish(struct priced *p)
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

/* Costs of side `at` as it was recorded; borrows s.  `curve`: NULL where none is known. */
static bool priced_read(const struct copy_curve *curve, const struct break_sides *s, int at,
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

/* What is known of the lane's breaks without a clock.  False with *err; p is to be finished
 * in any case. */
static bool priced_init(struct priced *p, struct lane *lane, struct err *err)
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

/* Breaks of a mode that captures, barriers of one that traces. */
static bool has_costs(const struct lane *lane)
{
	return lane->mode != FUSION_EAGER && fusion_break_count(lane->session) > 0;
}

/* Seconds of sampling the function with breaks and the one without. */
static const double check_s = 0.6;

static json_t *us_interval(const struct interval *i)
{
	return json_pack("[f, f]", i->low / 1000, i->high / 1000);
}

static int by_cost(const void *a, const void *b)
{
	const struct break_sample *x = *(const struct break_sample *const *)a,
				  *y = *(const struct break_sample *const *)b;

	return (x->cost_ns > y->cost_ns) - (x->cost_ns < y->cost_ns);
}

/* The mean over the middle half of the groups: its parts still add up. */
static struct break_sample mean_of(const struct break_costs *c, int index)
{
	struct break_sample sum = { .met = 0 };
	const struct break_sample *of[GROUPS];
	int all = c->groups.len < GROUPS ? (int)c->groups.len : GROUPS;
	int from = all / 4, to = all - all / 4;
	double n = to - from;

	for (int i = 0; i < all; i++)
		of[i] = &c->groups.at[i].breaks[index];
	qsort(of, (size_t)all, sizeof(*of), by_cost);
	for (int i = from; i < to; i++) {
		const struct break_sample *b = of[i];

		gap_parts_add(&sum.gap, &b->gap, 1 / n);
		sum.met += b->met;
		sum.kernels += b->kernels;
		sum.kernel_ns += b->kernel_ns / n;
		sum.eager += b->eager;
		sum.guards += b->guards;
		sum.cost_ns += b->cost_ns / n;
	}
	sum.met /= n; /* once: a break that each call meets is met 1 time, no hair less */
	sum.kernels /= n;
	sum.eager /= n;
	sum.guards /= n;
	return sum;
}

/* Parts that add up to the median: each has its share of the mean. */
static json_t *cost_json(const struct priced *p, int index, const struct interval *cost)
{
	bool fused = p->gone && p->gone[index];
	struct break_sample s = mean_of(&p->costs, index);
	const struct bytes *bytes = &p->bytes[index];
	double idle = gap_parts_sum(&s.gap), all = idle + s.kernel_ns;
	double scale = all != 0 ? cost->mid / all / 1000 : 0;
	json_t *json = json_pack(
	    "{s:o, s:f, s:f, s:s, s:f, s:f, s:f, s:f, s:I, s:I}", "ci_us", us_interval(cost),
	    "idle_us", idle * scale, "kernel_us", s.kernel_ns * scale, "kernel_from",
	    fused ? "fused" : "estimate", "met", s.met, "launches", s.kernels + s.eager, "guards",
	    s.guards, "eager_launches", s.eager, "moved_bytes", (json_int_t)p->moved_bytes[index],
	    "kept_bytes", (json_int_t)bytes->kept);

#define PART(name, what) json_object_set_new(json, #name "_us", json_real(s.gap.name##_ns *scale));
	GAP_PARTS(PART)
#undef PART
	return json;
}

static bool report_each(const struct priced *p, json_t *breaks)
{
	const struct break_costs *c = &p->costs;

	for (int i = 0; i < c->n_breaks && i < (int)json_array_size(breaks); i++) {
		json_t *item = json_array_get(breaks, (size_t)i);
		struct interval cost;

		if (!break_costs_interval(c, NULL, i, &cost))
			return false;
		if (mean_of(c, i).met <= 0) /* the timed calls do not come there */
			continue;
		json_object_set_new(item, "cost_us", json_real(cost.mid / 1000));
		json_object_set_new(item, "cost", cost_json(p, i, &cost));
	}
	return true;
}

/* ---- the check ---- */

static bool always(void *self, const struct lane *lane, int round, double share)
{
	(void)self, (void)lane, (void)round, (void)share;
	return true;
}

static bool make_calls(struct lane *lane, struct err *err)
{
	for (int i = 0; i < lane->originals->n_calls; i++) {
		struct value out;

		if (!lane_call(lane, i, &out, err))
			return false;
		value_unref(out);
		buf_clear(fusion_stdout(lane->session));
		if (!lane_note_writes(lane, i, err) ||
		    (lane->writes && !lane_restore(lane, i, err)))
			return false;
	}
	return true;
}

/* Of the function with breaks less that without, in microseconds a call; the medians
 * of a call without, and with. */
static bool time_both(struct lane *with, struct lane *without, struct interval *saved,
		      struct interval median[2], struct err *err)
{
	const struct measure_watch watch = { .tick = always };
	struct lane pair[2] = { *without, *with };
	double *saved_us = NULL;
	bool ok;

	pair[0].sample_us = pair[1].sample_us = NULL;
	pair[0].n_samples = pair[1].n_samples = 0;
	ok = measure_lanes(pair, 2, check_s, &watch, err);
	if (ok)
		saved_us = calloc((size_t)pair[0].n_samples + 1, sizeof(*saved_us));
	for (int i = 0; saved_us && i < pair[0].n_samples; i++)
		saved_us[i] = pair[1].sample_us[i] - pair[0].sample_us[i];
	if (ok && (!saved_us || !stats_median(saved_us, pair[0].n_samples, saved) ||
		   !stats_median(pair[0].sample_us, pair[0].n_samples, &median[0]) ||
		   !stats_median(pair[1].sample_us, pair[1].n_samples, &median[1])))
		ok = err_set(err, ERR_MEMORY, "out of memory for the run");
	free(saved_us);
	free(pair[0].sample_us);
	free(pair[1].sample_us);
	return ok;
}

static json_t *check_json(const struct break_check *check, const struct interval *said)
{
	const struct cure *cure = &check->cure;
	const struct interval *saved = &check->saved, *cured = &check->median[0];
	json_t *lines = json_array();
	double said_us = said->mid / 1000;
	bool told = saved->low > 0; /* else the difference may be none */
	double ratio = saved->mid != 0 ? said_us / saved->mid : 0;
	bool agrees = (ratio >= 0.8 && ratio <= 1.2) ||
		      (said->low / 1000 <= saved->high && saved->low <= said->high / 1000);

	for (int i = 0; i < cure->n; i++)
		json_array_append_new(lines, json_integer(cure->lines[i]));
	return json_pack("{s:s, s:o, s:i, s:f, s:o, s:f, s:[f, f], s:f, s:o, s:o, s:b, s:b}",
			 "source", cure->source.data, "lines", lines, "breaks_left", cure->left,
			 "explained_us", said_us, "explained_ci_us", us_interval(said),
			 "measured_us", saved->mid, "measured_ci_us", saved->low, saved->high,
			 "median_us", cured->mid, "ratio", told ? json_real(ratio) : json_null(),
			 "ratio_ci",
			 told ? json_pack("[f, f]", said->low / 1000 / saved->high,
					  said->high / 1000 / saved->low)
			      : json_null(),
			 "agrees", agrees, "allowed", check->allowed);
}

/* A lane of the changed program; its point borrows the source. */
static bool create_without(const struct break_run *run, const struct lane *lane,
			   const struct break_check *check, struct cured *out, struct err *err)
{
	const struct cure *cure = &check->cure;
	struct workload w = *run->w;

	if (check->allowed)
		w.n_deny = 0;
	out->point = (struct point){ .n = run->p->n, .source = cure->source.data };
	out->point.program = fusion_parse_in(run->w->registry, cure->source.data, cure->source.len,
					     run->w->entry, err);
	return out->point.program &&
	       lane_create(&out->lane, &w, &out->point, lane->mode, lane->originals,
			   (struct lane_cache){ 0 }, err) &&
	       make_calls(&out->lane, err);
}

static void cured_destroy(struct cured *c)
{
	lane_destroy(&c->lane);
	fusion_program_destroy(c->point.program);
	*c = (struct cured){ 0 };
}

/* Gaps beside a device, while CUPTI has no part in it. */
static bool record_gaps(const struct break_run *run, struct lane *lane, struct break_costs *out,
			struct err *err)
{
	struct break_sides s = { .lane = { lane }, .n = 1 };
	struct priced p = { 0 };
	bool ok = priced_init(&p, lane, err) && break_sides_record(&s, false, err) &&
		  priced_read(run->curve, &s, 0, &p, err);

	if (ok) { /* its groups alone outlive the recording */
		*out = (struct break_costs){ .n_breaks = p.costs.n_breaks,
					     .groups = p.costs.groups };
		memset(&p.costs.groups, 0, sizeof(p.costs.groups));
	}
	priced_finish(&p);
	break_sides_finish(&s);
	return ok;
}

static bool time_cured(const struct break_run *run, struct lane *lane, struct break_check *out,
		       struct err *err)
{
	bool device = fusion_device_name(lane->engine) != NULL;

	out->known = create_without(run, lane, out, &out->cured, err) &&
		     time_both(lane, &out->cured.lane, &out->saved, out->median, err) &&
		     (!device || record_gaps(run, &out->cured.lane, &out->host[0], err));
	if (out->known)
		out->cure.left = fusion_break_count(out->cured.lane.session);
	if (device || !out->known)
		cured_destroy(&out->cured);
	return out->known;
}

static bool is_denied(const struct lane *lane, int index)
{
	return strcmp(fusion_break(lane->session, index).kind, "denied-op") == 0;
}

/* The function with fewer breaks: its source changed, or denied ops allowed, or both. */
static bool find_without(const struct break_run *run, const struct lane *lane,
			 struct break_check *out)
{
	const char *source = point_source(run->w, run->p);
	bool changed = cure_find(&out->cure, lane, run->w, run->p);

	for (int i = 0; i < fusion_break_count(lane->session); i++)
		out->allowed |= is_denied(lane, i);
	if (changed || !out->allowed)
		return changed;
	buf_finish(&out->cure.source);
	buf_init(&out->cure.source, WORKLOAD_MAX_SOURCE_BYTES);
	buf_add(&out->cure.source, source, strlen(source) + 1);
	out->cure.source.len--; /* the zero is not of the text */
	return !out->cure.source.failed;
}

bool break_check_time(const struct break_run *run, struct lane *lane, struct break_check *out,
		      struct err *err)
{
	*out = (struct break_check){ 0 };
	if (!has_costs(lane))
		return true;
	if (find_without(run, lane, out) && !time_cured(run, lane, out, err))
		return false;
	return !fusion_device_name(lane->engine) || record_gaps(run, lane, &out->host[1], err);
}

void break_check_drop_lane(struct break_check *c)
{
	cured_destroy(&c->cured);
}

void break_check_finish(struct break_check *c)
{
	break_check_drop_lane(c);
	cure_finish(&c->cure);
	break_costs_finish(&c->host[0]);
	break_costs_finish(&c->host[1]);
	*c = (struct break_check){ 0 };
}

/* Beside what was timed, what those breaks are said to cost; null where it is not known. */
static json_t *compare(const struct break_check *check, struct priced *with, struct priced *left,
		       struct err *err)
{
	struct interval said;

	if (!check->known)
		return json_null();
	/* the machine may have had another pace then */
	break_costs_scale(&with->costs, check->median[1].mid * 1000);
	break_costs_scale(&left->costs, check->median[0].mid * 1000);
	/* of those that are gone: some may be left, as a print that was moved */
	if (break_costs_interval(&with->costs, &left->costs, -1, &said))
		return check_json(check, &said);
	err_set(err, ERR_MEMORY, "out of memory for the run");
	return NULL;
}

/* What watching has added to a call, which is in no cost: by what it was taken off. */
static json_t *watching_json(const struct break_costs *c)
{
	const json_t *facts = c->of->tables.facts;
	double added = 0;

	for (size_t i = 0; i < c->groups.len; i++)
		added += c->groups.at[i].watch_ns / (double)c->groups.len / 1000;
	return json_pack("{s:f, s:O, s:O}", "added_us", added, "reading_ns",
			 json_object_get(facts, "clock_ns"), "report_ns",
			 json_object_get(facts, "tell_ns"));
}

static bool report(const struct break_check *check, struct priced *p, struct priced *left,
		   json_t *m, struct err *err)
{
	const struct break_costs *c = &p->costs;
	struct interval all;
	json_t *without;
	int calls = 0;

	if (c->groups.len == 0) /* the timed calls meet none */
		return true;
	if (!report_each(p, json_object_get(m, "breaks")) ||
	    !break_costs_interval(c, NULL, -1, &all))
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (size_t i = 0; i < c->groups.len; i++)
		calls += c->groups.at[i].calls;
	without = compare(check, p, left, err);
	if (!without)
		return false;
	json_object_set_new(m, "break_cost",
			    json_pack("{s:f, s:o, s:i, s:i, s:o, s:o}", "sum_us", all.mid / 1000,
				      "ci_us", us_interval(&all), "calls", calls, "groups",
				      (int)c->groups.len, "watching", watching_json(c), "without",
				      without));
	if (c->turn.seen > 0)
		json_object_set_new(json_object_get(m, "break_cost"), "turnaround_us",
				    json_real(c->turn.ns / 1000));
	return true;
}

/* Breaks on the lines that the changed function has without them, and denied ops that it
 * may lower. */
static bool find_gone(struct priced *p, const struct lane *lane, const struct break_check *check,
		      const json_t *breaks)
{
	const struct cure *cure = &check->cure;

	p->gone = calloc((size_t)p->costs.n_breaks + 1, sizeof(*p->gone));
	for (int i = 0; p->gone && i < p->costs.n_breaks; i++) {
		const json_t *item = json_array_get(breaks, (size_t)i);

		p->gone[i] = check->allowed && is_denied(lane, i);
		for (int k = 0; k < cure->n; k++)
			p->gone[i] |= profiler_break_place(item).line == cure->lines[k];
	}
	return p->gone != NULL;
}

/* Of the lane, and beside it of the function without breaks where that is known. */
static bool price(const struct break_run *run, struct break_sides *s,
		  const struct break_check *check, const json_t *m, struct priced *with,
		  struct priced *without, struct err *err)
{
	double call_us = json_number_value(
	    json_object_get(json_object_get(m, "latency"), "median_us"));
	struct turnaround turn;

	if (!priced_init(with, s->lane[0], err) ||
	    (s->n > 1 && !priced_init(without, s->lane[1], err)) ||
	    !break_sides_record(s, true, err) || !priced_read(run->curve, s, 0, with, err) ||
	    (s->n > 1 && !priced_read(run->curve, s, 1, without, err)))
		return false;
	turn = turnaround_of_both(with->costs.turn, without->costs.turn);
	with->costs.turn = turn;
	break_costs_add_turns(&with->costs, turn);
	break_costs_add_turns(&without->costs, turn);
	break_costs_take_host(&with->costs, &check->host[1]);
	break_costs_take_host(&without->costs, &check->host[0]);
	if (s->n > 1) {
		if (!find_gone(with, s->lane[0], check, json_object_get(m, "breaks")))
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		break_costs_fuse(&with->costs, &without->costs, with->gone);
	}
	break_costs_scale(&with->costs, call_us * 1000);
	return true;
}

bool break_run_report(const struct break_run *run, struct lane *lane, struct break_check *check,
		      json_t *m, struct err *err)
{
	struct break_sides s = { .lane = { lane }, .n = 1 };
	struct priced with = { 0 }, without = { 0 };
	bool ok = true;

	if (!has_costs(lane))
		return true;
	if (check->known) {
		s.lane[s.n++] = &check->cured.lane;
		ok = check->cured.point.program ||
		     create_without(run, lane, check, &check->cured, err);
	}
	ok = ok && price(run, &s, check, m, &with, &without, err) &&
	     report(check, &with, &without, m, err);
	priced_finish(&with);
	priced_finish(&without);
	break_sides_finish(&s);
	cured_destroy(&check->cured);
	return ok;
}
