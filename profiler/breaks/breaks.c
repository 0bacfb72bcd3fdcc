/* profiler/breaks/breaks.c -- the costs of a mode's breaks, and their check. */
#include "profiler/breaks/breaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/refused.h"
#include "profiler/breaks/rewrites.h"
#include "profiler/cost/cost.h"
#include "profiler/fields/breaks.h"
#include "profiler/measure/break_even.h"
#include "profiler/measure/candidate.h"
#include "profiler/measure/measure.h"
#include "profiler/recorder/recorder.h"
#include "profiler/profiler.h"
#include "profiler/report/report.h"

/* ---- the same function without its breaks.
 *
 * A print is left out: moved to the end it would still end the frame's piece.  So the
 * text that is printed need not be the same.
 */

enum { MOST = 64 }; /* changes */

/* A line of the source as it is now, and which it was. */
struct line {
	const char *at;
	size_t len;
	int was; /* 0: a new one */
};

struct text {
	struct buf source;
	int *was; /* by line, from 1 */
	int n;
};

static int count_lines(const char *source)
{
	int n = 1;

	for (; *source; source++)
		n += *source == '\n';
	return n;
}

static struct line *cut_lines(const struct text *t)
{
	struct line *lines = calloc((size_t)t->n + 1, sizeof(*lines));
	const char *at = t->source.data;

	for (int i = 1; lines && i <= t->n; i++) {
		lines[i] = (struct line){ at, strcspn(at, "\n"), t->was[i] };
		at += lines[i].len + (at[lines[i].len] == '\n');
	}
	return lines;
}

static bool same_line(const struct line *a, const struct line *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

/* Which lines those of `to` were: the ones around the change as they stand, within it
 * by their text. */
static void follow_lines(const struct line *old, int n, struct line *new, int m, int *was)
{
	int head = 1, tail = 0;

	while (head <= n && head <= m && same_line(&old[head], &new[head]))
		head++;
	while (tail < n - head + 1 && tail < m - head + 1 &&
	       same_line(&old[n - tail], &new[m - tail]))
		tail++;
	for (int i = 1; i <= m; i++) {
		if (i < head)
			was[i] = old[i].was;
		else if (i > m - tail)
			was[i] = old[n - (m - i)].was;
		for (int k = head; i >= head && i <= m - tail && k <= n - tail; k++)
			if (same_line(&old[k], &new[i]))
				was[i] = old[k].was;
	}
}

static bool text_create(struct text *t, const char *source, size_t len)
{
	buf_init(&t->source, WORKLOAD_MAX_SOURCE_BYTES);
	buf_add(&t->source, source, len);
	if (t->source.failed || !t->source.data)
		return false;
	t->n = count_lines(t->source.data);
	t->was = calloc((size_t)t->n + 2, sizeof(*t->was));
	for (int i = 1; t->was && i <= t->n; i++)
		t->was[i] = i;
	return t->was != NULL;
}

static void text_finish(struct text *t)
{
	buf_finish(&t->source);
	free(t->was);
	*t = (struct text){ 0 };
}

/* The text with the change of the line that was `line`; false, with nothing changed,
 * where that cannot be. */
static bool change(struct text *t, enum lang_rewrite kind, int line)
{
	struct text next = { 0 };
	struct lang_rewriter *rewriter;
	struct line *old, *new;
	struct buf out;
	int at = 1;
	bool ok;

	while (at <= t->n && t->was[at] != line)
		at++;
	rewriter = lang_rewriter_create(t->source.data, t->source.len);
	buf_init(&out, WORKLOAD_MAX_SOURCE_BYTES);
	ok = at <= t->n && rewriter && lang_rewrite(rewriter, kind, at, &out) &&
	     text_create(&next, out.data, out.len);
	lang_rewriter_destroy(rewriter);
	buf_finish(&out);
	old = ok ? cut_lines(t) : NULL;
	new = ok ? cut_lines(&next) : NULL;
	if (old && new) {
		memset(next.was, 0, sizeof(*next.was) * (size_t)(next.n + 1));
		follow_lines(old, t->n, new, next.n, next.was);
		text_finish(t);
		*t = next;
	} else {
		text_finish(&next);
		ok = false;
	}
	free(old);
	free(new);
	return ok;
}

struct wanted {
	enum lang_rewrite kind;
	int line;
	bool made;
};

static int by_line(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return x->line - y->line;
}

static int find_wanted(const struct candidate *again, struct wanted *list)
{
	uint64_t refused = memory_refused_here();
	struct report_draft draft = { 0 };
	struct report_break_list breaks = breaks_of_session(again->session, &draft);
	bool whole = memory_refused_here() == refused;
	int n = 0;

	for (size_t i = 0; whole && i < breaks.n; i++) {
		struct wanted want = { .line = break_place_of(&breaks.at[i]).line };
		bool known = n == MOST || !rewrites_kind(breaks.at[i].kind, &want.kind);

		for (int k = 0; k < n; k++)
			known |= list[k].line == want.line;
		if (want.kind == REWRITE_PRINT) /* moved, it would still be a break */
			want.kind = REWRITE_DROP;
		if (!known)
			list[n++] = want;
	}
	report_draft_finish(&draft);
	qsort(list, (size_t)n, sizeof(*list), by_line);
	return n;
}

/* Makes these changes in `t` if the program then does the same with fewer breaks. */
static bool make(struct text *t, struct wanted *list, int n, const struct candidate *again,
		 const struct workload *quick, int *left)
{
	struct text next = { 0 };
	struct rewrites_gain gain;
	bool gained = false;
	int made = 0;

	if (text_create(&next, t->source.data, t->source.len)) {
		memcpy(next.was, t->was, sizeof(*t->was) * (size_t)(t->n + 1));
		for (int i = 0; i < n; i++)
			made += list[i].made = change(&next, list[i].kind, list[i].line);
	}
	if (made)
		gained = rewrites_try(&next.source, again, quick, false, &gain);
	for (int i = 0; i < n; i++)
		list[i].made &= gained;
	if (gained) {
		struct text old = *t;

		*left = (int)gain.breaks.after;
		*t = next;
		next = old;
	}
	text_finish(&next);
	return gained;
}

static bool note(struct counterfactual *c, struct text *t, const struct wanted *list, int n)
{
	c->lines = calloc((size_t)n + 1, sizeof(*c->lines));
	if (!c->lines)
		return false;
	for (int i = 0; i < n; i++)
		if (list[i].made)
			c->lines[c->n++] = list[i].line;
	c->source = t->source;
	buf_init(&t->source, 1);
	return c->n > 0;
}

/* Changes the source as fusion/source.h can, break by break, until nothing more can be
 * changed; keeps the changes only if the interpreter, which makes the calls of `candidate`
 * again, then finds fewer breaks and the same outputs and inputs.  Prints are left out.
 * False: there is no such program (no error). */
static bool counterfactual_find(struct counterfactual *c, const struct candidate *candidate,
				const struct workload *w, const struct point *p)
{
	const char *source = point_source(w, p);
	struct workload quick = workload_quick(w);
	struct wanted list[MOST];
	struct candidate again = { 0 };
	struct text t = { 0 };
	bool ok = false;
	int n;

	*c = (struct counterfactual){ 0 };
	/* Nothing that can be changed: the calls of a large model would take a minute. */
	if (find_wanted(candidate, list) > 0 && rewrites_again(&again, candidate, &quick, p) &&
	    text_create(&t, source, strlen(source))) {
		n = find_wanted(&again, list);
		ok = n > 0 && make(&t, list, n, &again, &quick, &c->left);
		for (int i = 0; n > 1 && !ok && i < n; i++) /* one by one, then */
			make(&t, &list[i], 1, &again, &quick, &c->left);
		ok = note(c, &t, list, n);
	}
	candidate_destroy(&again);
	text_finish(&t);
	return ok;
}

static void counterfactual_finish(struct counterfactual *c)
{
	buf_finish(&c->source);
	free(c->lines);
	*c = (struct counterfactual){ 0 };
}

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

/* `call_ns`: of a call that nobody watches, by candidate and group. */
struct break_sides {
	struct candidate *candidate[2];
	int n;
	struct timeline_events seen;
	bool of_host; /* its pace is the recording's: kernels of a device have their own */
	double call_ns[2][GROUPS];
	int groups; /* fewer where calls are long */
};

/* A candidate's breaks as its timelines have them. */
struct costed {
	struct break_costs costs;
	struct bytes *bytes;
	double *moved_bytes;
	int *guards; /* by graph */
	bool *reads;
	bool *gone;               /* by break: the function is known without it; NULL: none is */
	struct interval saved_ns; /* what those that are gone cost, as timed */
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
static bool find_bytes(struct candidate *candidate, struct bytes *bytes, struct err *err)
{
	struct fusion_observer observer = { .self = bytes, .crossed = on_crossed };
	bool ok = true;

	fusion_observe(candidate->session, &observer);
	for (int i = 0; ok && i < candidate->n_timed; i++) {
		struct value out;

		ok = (!candidate->writes ||
		      candidate_restore(candidate, candidate->timed[i], err)) &&
		     candidate_call(candidate, candidate->timed[i], &out, err);
		if (ok)
			value_unref(out);
		buf_clear(fusion_stdout(candidate->session));
	}
	fusion_observe(candidate->session, NULL);
	return ok;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* What a call takes at this moment while nobody watches, the median of a few calls each
 * time; 0 where inputs are put back between calls. */
static bool time_unwatched(struct candidate *candidate, double *ns, struct err *err)
{
	double each[GROUP_CALLS];
	int64_t start, begin;
	int n = 0, k, batch = 1; /* the first is by itself: how long is it? */

	*ns = 0;
	if (candidate->writes)
		return true;
	if (!fusion_wait(candidate->engine, err))
		return false;
	start = begin = clock_ns();
	for (k = 0; n < GROUP_CALLS && begin - start < GROUP_NS;) {
		int64_t end;

		for (int i = 0; i < batch; i++) {
			struct value out;

			if (!candidate_start(candidate, candidate->timed[n++ % candidate->n_timed],
					     &out, err))
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
	buf_clear(fusion_stdout(candidate->session));
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

/* Watches s->candidate[0] to [n - 1].  `cupti`: kernels of a device too, where launches cost
 * more.  False with *err; s is to be finished in any case. */
static bool break_sides_record(struct break_sides *s, bool cupti, struct err *err)
{
	struct recorder *r = recorder_create(timeline_events_block, &s->seen, 1, err);
	int64_t begin = clock_ns();
	bool ok = r != NULL;

	if (r && fusion_facts(s->candidate[0]->engine).device) {
		if (cupti)
			recorder_begin_device(r, false);
		else
			recorder_begin_host(r);
	}
	s->of_host = !cupti || !fusion_facts(s->candidate[0]->engine).device;
	s->groups = GROUPS;
	for (int i = 0; ok && i < s->groups * s->n; i++) {
		struct candidate *candidate = s->candidate[i % s->n];

		if (i == s->n)
			s->groups = groups_for(clock_ns() - begin);

		ok = time_unwatched(candidate, &s->call_ns[i % s->n][i / s->n], err) &&
		     recorder_watch_for(r, candidate, NULL, GROUP_CALLS, GROUP_NS, err);
	}
	ok = ok && recorder_finish(r, err);
	recorder_destroy(r);
	return ok;
}

/* zeroed is fine */
static void costed_finish(struct costed *p)
{
	break_costs_finish(&p->costs);
	free(p->bytes);
	free(p->moved_bytes);
	free(p->guards);
	free(p->reads);
	free(p->gone);
}

static bool reads_number(const struct candidate *candidate, int index)
{
	const char *kind = fusion_break(candidate->session, index).kind;

	return strcmp(kind, "scalar-read") == 0 || strcmp(kind, "data-dependent-branch") == 0;
}

static bool find_guards(const struct candidate *candidate, struct costed *p, struct err *err)
{
	int n = fusion_counts(candidate->session).n_graphs;

	p->guards = calloc((size_t)n + 1, sizeof(*p->guards));
	if (!p->guards)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (int i = 0; i < n; i++)
		p->guards[i] = fusion_graph(candidate->session, i).n_guards;
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
static bool costed_read(const struct copy_curve *curve, const struct break_sides *s, int at,
			struct costed *p, struct err *err)
{
	static const struct copy_curve none;

	p->costs.of = &s->seen;
	p->costs.first = at;
	p->costs.step = s->n;
	return break_costs_read(&p->costs, curve ? curve : &none, p->moved_bytes,
				fusion_facts(s->candidate[at]->engine).device != NULL,
				s->call_ns[at], err) &&
	       (!s->of_host || even_out(&p->costs, s->call_ns[at]) ||
		err_set(err, ERR_MEMORY, "out of memory for the run"));
}

/* What is known of the candidate's breaks without a clock.  False with *err; p is to be finished
 * in any case. */
static bool costed_init(struct costed *p, struct candidate *candidate, struct err *err)
{
	int n = fusion_counts(candidate->session).n_breaks;

	*p = (struct costed){ .bytes = calloc((size_t)n + 1, sizeof(*p->bytes)),
			      .moved_bytes = calloc((size_t)n + 1, sizeof(*p->moved_bytes)),
			      .reads = calloc((size_t)n + 1, sizeof(*p->reads)) };
	break_costs_init(&p->costs, n);
	p->costs.lazy = candidate->mode == FUSION_LAZY;
	p->costs.graphs = candidate->mode == FUSION_GRAPHS;
	if (!p->bytes || !p->moved_bytes || !p->reads)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	if (n > 0 && !find_bytes(candidate, p->bytes, err))
		return false;
	for (int i = 0; i < n; i++) {
		const struct bytes *b = &p->bytes[i];

		p->reads[i] = reads_number(candidate, i);
		p->moved_bytes[i] = b->met && !p->reads[i] ? (double)b->moved / (double)b->met : 0;
	}
	return find_guards(candidate, p, err);
}

/* Breaks of a mode that captures, barriers of one that traces. */
static bool has_costs(const struct candidate *candidate)
{
	return candidate->mode != FUSION_EAGER && fusion_counts(candidate->session).n_breaks > 0;
}

/* Seconds of sampling the function with breaks and the one without. */
static const double check_s = 0.6;

static struct report_interval us_interval(const struct interval *i)
{
	return (struct report_interval){ i->low / 1000, i->high / 1000 };
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

/* What a cost is made of: the gap, as the timelines have it, and what kernels take more. */
struct cost_parts {
	double gap_by; /* a part of the gap times this is its microseconds */
	double kernel_us;
};

/* They add up to the cost.  Each has its share by the timelines, as long as these have nothing
 * below zero; else the gap is what was seen, and the kernels have the rest. */
static struct cost_parts parts_of(const struct break_sample *s, double cost_us)
{
	double idle = gap_parts_sum(&s->gap), all = idle + s->kernel_ns;
	bool shared = cost_us > 0 && s->kernel_ns >= 0 && all > 0;
	double by = shared ? cost_us / all : 1e-3;

	return (struct cost_parts){ by, cost_us - idle * by };
}

static struct report_break_cost *cost_of(const struct costed *p, int index,
					 const struct interval *cost, struct report_draft *draft)
{
	bool fused = p->gone && p->gone[index];
	struct break_sample s = mean_of(&p->costs, index);
	struct cost_parts parts = parts_of(&s, cost->mid / 1000);
	struct report_break_cost *to = report_new_break_cost(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, ci_us, us_interval(cost));
	REPORT_SET(to, idle_us, gap_parts_sum(&s.gap) * parts.gap_by);
	REPORT_SET(to, kernel_us, parts.kernel_us);
	REPORT_SET(to, kernel_from, fused ? "fused" : "estimate");
	REPORT_SET(to, met, s.met);
	REPORT_SET(to, launches, s.kernels + s.eager);
	REPORT_SET(to, guards, s.guards);
	REPORT_SET(to, eager_launches, s.eager);
	REPORT_SET(to, moved_bytes, (int64_t)p->moved_bytes[index]);
	REPORT_SET(to, kept_bytes, (int64_t)p->bytes[index].kept);
#define PART(name, what) REPORT_SET(to, name##_us, s.gap.name##_ns *parts.gap_by);
	GAP_PARTS(PART)
#undef PART
	return to;
}

/* Where a group is cut short on a busy machine its calls may be others: any one will do. */
static bool is_met(const struct break_costs *c, int index)
{
	for (size_t i = 0; i < c->groups.len; i++)
		if (c->groups.at[i].breaks[index].met > 0)
			return true;
	return false;
}

static bool report_each(const struct costed *p, struct report_break_list breaks,
			struct report_draft *draft)
{
	const struct break_costs *c = &p->costs;

	for (int i = 0; i < c->n_breaks && i < (int)breaks.n; i++) {
		struct report_break *b = &breaks.at[i];
		struct interval cost;

		if (!break_costs_interval(c, i, &cost))
			return false;
		if (!is_met(c, i)) /* the timed calls do not come there */
			continue;
		REPORT_SET(b, cost_us, cost.mid / 1000);
		REPORT_SET(b, cost, cost_of(p, i, &cost, draft));
	}
	return true;
}

/* ---- the check ---- */

static bool always(void *self, const struct candidate *candidate, int round, double share)
{
	(void)self, (void)candidate, (void)round, (void)share;
	return true;
}

static bool make_calls(struct candidate *candidate, struct err *err)
{
	for (int i = 0; i < candidate->originals->n_calls; i++) {
		struct value out;

		if (!candidate_call(candidate, i, &out, err))
			return false;
		value_unref(out);
		buf_clear(fusion_stdout(candidate->session));
		if (!candidate_note_writes(candidate, i, err) ||
		    (candidate->writes && !candidate_restore(candidate, i, err)))
			return false;
	}
	return true;
}

/* Of the function with breaks less that without, in microseconds a call; the medians
 * of a call without, and with. */
static bool time_both(struct candidate *with, struct candidate *without, struct interval *saved,
		      struct interval median[2], struct err *err)
{
	struct measure_watch watch = { .tick = always };
	struct candidate pair[2] = { *without, *with };
	double *saved_us = NULL;
	bool ok;

	pair[0].sample_us = pair[1].sample_us = NULL;
	pair[0].n_samples = pair[1].n_samples = 0;
	ok = measure_candidates(pair, 2, check_s, &watch, err);
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

static struct report_unbroken *unbroken_of(const struct break_check *check,
					   const struct interval *said, struct report_draft *draft)
{
	const struct counterfactual *counterfactual = &check->counterfactual;
	const struct interval *saved = &check->saved, *without = &check->median[0];
	struct report_unbroken *to = report_new_unbroken(1, &draft->arena);
	double said_us = said->mid / 1000;
	/* else the difference may be none */
	bool certain = saving_beyond_margin(saved, check->median[1].mid).low > 0;
	double ratio = saved->mid != 0 ? said_us / saved->mid : 0;
	bool agrees = (ratio >= 0.8 && ratio <= 1.2) ||
		      (said->low / 1000 <= saved->high && saved->low <= said->high / 1000);

	if (!to)
		return NULL;
	REPORT_SET(to, source, report_draft_text(draft, counterfactual->source.data));
	REPORT_SET(to, lines,
		   report_draft_integers(draft, counterfactual->lines, counterfactual->n));
	REPORT_SET(to, breaks_left, counterfactual->left);
	REPORT_SET(to, explained_us, said_us);
	REPORT_SET(to, explained_ci_us, us_interval(said));
	REPORT_SET(to, measured_us, saved->mid);
	REPORT_SET(to, measured_ci_us, report_interval_of(saved));
	REPORT_SET(to, median_us, without->mid);
	REPORT_SET_IF(to, ratio, certain, ratio);
	REPORT_SET_IF(to, ratio_ci, certain,
		      (struct report_interval){ said->low / 1000 / saved->high,
						said->high / 1000 / saved->low });
	REPORT_SET(to, agrees, agrees);
	REPORT_SET(to, allowed, check->allowed);
	return to;
}

/* A candidate of the changed program; its point borrows the source. */
static bool create_without(const struct break_run *run, const struct candidate *candidate,
			   const struct break_check *check, struct counterfactual_run *out,
			   struct err *err)
{
	const struct counterfactual *counterfactual = &check->counterfactual;
	struct workload w = *run->w;

	if (check->allowed)
		w.n_deny = 0;
	out->point = (struct point){ .n = run->p->n, .source = counterfactual->source.data };
	out->point.program = workload_program(run->w, counterfactual->source.data,
					      counterfactual->source.len, err);
	return out->point.program &&
	       candidate_create(&out->candidate,
				&(struct candidate_spec){ .w = &w,
							  .p = &out->point,
							  .mode = candidate->mode,
							  .originals = candidate->originals },
				err) &&
	       make_calls(&out->candidate, err);
}

static void counterfactual_run_destroy(struct counterfactual_run *c)
{
	candidate_destroy(&c->candidate);
	fusion_program_destroy(c->point.program);
	*c = (struct counterfactual_run){ 0 };
}

/* Gaps beside a device, while CUPTI has no part in it. */
static bool record_gaps(const struct break_run *run, struct candidate *candidate,
			struct break_costs *out, struct err *err)
{
	struct break_sides s = { .candidate = { candidate }, .n = 1 };
	struct costed p = { 0 };
	bool ok = costed_init(&p, candidate, err) && break_sides_record(&s, false, err) &&
		  costed_read(run->curve, &s, 0, &p, err);

	if (ok) { /* its groups alone outlive the recording */
		*out = (struct break_costs){ .n_breaks = p.costs.n_breaks,
					     .groups = p.costs.groups };
		memset(&p.costs.groups, 0, sizeof(p.costs.groups));
	}
	costed_finish(&p);
	break_sides_finish(&s);
	return ok;
}

static bool time_cured(const struct break_run *run, struct candidate *candidate,
		       struct break_check *out, struct err *err)
{
	bool device = fusion_facts(candidate->engine).device != NULL;

	out->known = create_without(run, candidate, out, &out->run, err) &&
		     time_both(candidate, &out->run.candidate, &out->saved, out->median, err) &&
		     (!device || record_gaps(run, &out->run.candidate, &out->host[0], err));
	if (out->known)
		out->counterfactual.left = fusion_counts(out->run.candidate.session).n_breaks;
	if (device || !out->known)
		counterfactual_run_destroy(&out->run);
	return out->known;
}

static bool is_denied(const struct candidate *candidate, int index)
{
	return strcmp(fusion_break(candidate->session, index).kind, "denied-op") == 0;
}

/* The function with fewer breaks: its source changed, or denied ops allowed, or both. */
static bool find_without(const struct break_run *run, const struct candidate *candidate,
			 struct break_check *out)
{
	const char *source = point_source(run->w, run->p);
	bool changed = counterfactual_find(&out->counterfactual, candidate, run->w, run->p);

	for (int i = 0; i < fusion_counts(candidate->session).n_breaks; i++)
		out->allowed |= is_denied(candidate, i);
	if (changed || !out->allowed)
		return changed;
	buf_finish(&out->counterfactual.source);
	buf_init(&out->counterfactual.source, WORKLOAD_MAX_SOURCE_BYTES);
	buf_add(&out->counterfactual.source, source, strlen(source) + 1);
	out->counterfactual.source.len--; /* the zero is not of the text */
	return !out->counterfactual.source.failed;
}

bool break_check_time(const struct break_run *run, struct candidate *candidate,
		      struct break_check *out, struct err *err)
{
	*out = (struct break_check){ 0 };
	if (!has_costs(candidate))
		return true;
	if (find_without(run, candidate, out) && !time_cured(run, candidate, out, err))
		return false;
	return !fusion_facts(candidate->engine).device ||
	       record_gaps(run, candidate, &out->host[1], err);
}

void break_check_drop_candidate(struct break_check *c)
{
	counterfactual_run_destroy(&c->run);
}

void break_check_finish(struct break_check *c)
{
	break_check_drop_candidate(c);
	counterfactual_finish(&c->counterfactual);
	break_costs_finish(&c->host[0]);
	break_costs_finish(&c->host[1]);
	*c = (struct break_check){ 0 };
}

/* Beside what was timed, what those breaks are said to cost; null where it is not known. */
static bool compare(struct report_break_costs *to, const struct break_check *check,
		    struct costed *with, struct costed *left, struct report_draft *draft)
{
	struct interval said;

	REPORT_SET_OR_NULL(to, without, false, NULL);
	if (!check->known)
		return true;
	/* the machine may have had another pace then */
	break_costs_scale(&with->costs, check->median[1].mid * 1000);
	break_costs_scale(&left->costs, check->median[0].mid * 1000);
	/* of those that are gone: some may be left, as a print that was moved */
	if (!break_costs_explained(&with->costs, &left->costs, &said))
		return false;
	REPORT_SET(to, without, unbroken_of(check, &said, draft));
	return true;
}

/* What watching has added to a call, which is in no cost: by what it was taken off. */
static struct report_watching *watching_of(const struct break_costs *c, struct report_draft *draft)
{
	struct timeline_watching watching = timeline_watching(&c->of->tables);
	struct report_watching *to = report_new_watching(1, &draft->arena);
	double added = 0;

	for (size_t i = 0; i < c->groups.len; i++)
		added += c->groups.at[i].watch_ns / (double)c->groups.len / 1000;
	if (!to)
		return NULL;
	REPORT_SET(to, added_us, added);
	REPORT_SET_IF(to, reading_ns, watching.clock_ns > 0, watching.clock_ns);
	REPORT_SET_IF(to, report_ns, watching.tell_ns > 0, watching.tell_ns);
	return to;
}

static bool fill_costs(struct report_break_costs *to, const struct break_check *check,
		       struct costed *p, struct costed *left, struct report_draft *draft)
{
	const struct break_costs *c = &p->costs;
	struct interval all;
	int calls = 0;

	if (!break_costs_interval(c, -1, &all))
		return false;
	for (size_t i = 0; i < c->groups.len; i++)
		calls += c->groups.at[i].calls;
	REPORT_SET(to, sum_us, all.mid / 1000);
	REPORT_SET(to, ci_us, us_interval(&all));
	REPORT_SET(to, timed, c->saved != NULL);
	REPORT_SET(to, calls, calls);
	REPORT_SET(to, groups, (int64_t)c->groups.len);
	REPORT_SET(to, watching, watching_of(c, draft));
	if (!compare(to, check, p, left, draft))
		return false;
	REPORT_SET_IF(to, turnaround_us, c->turn.seen > 0, c->turn.ns / 1000);
	return true;
}

static bool report(const struct break_check *check, struct costed *p, struct costed *left,
		   struct report_mode *m, struct report_draft *draft)
{
	struct report_break_costs *to;
	bool any = false;

	for (int i = 0; i < p->costs.n_breaks; i++)
		any |= is_met(&p->costs, i);
	if (!any) /* the timed calls meet none */
		return true;
	to = report_new_break_costs(1, &draft->arena);
	if (!to || !report_each(p, m->breaks, draft) || !fill_costs(to, check, p, left, draft))
		return false;
	REPORT_SET(m, break_cost, to);
	return true;
}

/* Breaks on the lines that the changed function has without them, and denied ops that it
 * may lower; and what a call without them was timed to take less. */
static bool find_gone(struct costed *p, const struct candidate *candidate,
		      const struct break_check *check, struct report_break_list breaks)
{
	const struct counterfactual *counterfactual = &check->counterfactual;

	struct interval saved = saving_beyond_margin(&check->saved, check->median[1].mid);
	bool any = false;

	p->gone = calloc((size_t)p->costs.n_breaks + 1, sizeof(*p->gone));
	for (int i = 0; p->gone && i < p->costs.n_breaks; i++) {
		int line = i < (int)breaks.n ? break_place_of(&breaks.at[i]).line : 0;

		p->gone[i] = check->allowed && is_denied(candidate, i);
		for (int k = 0; k < counterfactual->n; k++)
			p->gone[i] |= line == counterfactual->lines[k];
		any |= p->gone[i];
	}
	p->saved_ns = (struct interval){ .low = saved.low * 1000,
					 .mid = saved.mid * 1000,
					 .high = saved.high * 1000 };
	p->costs.gone = p->gone;
	p->costs.saved = any ? &p->saved_ns : NULL;
	return p->gone != NULL;
}

/* A candidate, and where its function is known without breaks that one beside it. */
struct costed_pair {
	struct break_sides sides;
	struct costed with, without;
};

static bool read_costs(const struct break_run *run, struct costed_pair *pair,
		       const struct break_check *check, const struct report_mode *m,
		       struct err *err)
{
	struct break_sides *s = &pair->sides;
	struct costed *with = &pair->with, *without = &pair->without;
	double call_us = m->latency ? m->latency->median_us : 0;
	struct turnaround turn;

	if (!costed_init(with, s->candidate[0], err) ||
	    (s->n > 1 && !costed_init(without, s->candidate[1], err)) ||
	    !break_sides_record(s, true, err) || !costed_read(run->curve, s, 0, with, err) ||
	    (s->n > 1 && !costed_read(run->curve, s, 1, without, err)))
		return false;
	turn = turnaround_of_both(with->costs.turn, without->costs.turn);
	with->costs.turn = turn;
	break_costs_add_turns(&with->costs, turn);
	break_costs_add_turns(&without->costs, turn);
	break_costs_take_host(&with->costs, &check->host[1]);
	break_costs_take_host(&without->costs, &check->host[0]);
	if (s->n > 1) {
		if (!find_gone(with, s->candidate[0], check, m->breaks))
			return err_set(err, ERR_MEMORY, "out of memory for the run");
		break_costs_fuse(&with->costs, &without->costs, with->gone);
	}
	break_costs_scale(&with->costs, call_us * 1000);
	return true;
}

bool break_run_report(const struct break_run *run, struct candidate *candidate,
		      struct break_check *check, struct report_mode *m, struct err *err)
{
	struct costed_pair pair = { .sides = { .candidate = { candidate }, .n = 1 } };
	bool ok = true;

	if (!has_costs(candidate))
		return true;
	if (check->known) {
		pair.sides.candidate[pair.sides.n++] = &check->run.candidate;
		ok = check->run.point.program ||
		     create_without(run, candidate, check, &check->run, err);
	}
	ok = ok && read_costs(run, &pair, check, m, err) &&
	     (report(check, &pair.with, &pair.without, m, run->draft) ||
	      err_set(err, ERR_MEMORY, "out of memory for the run"));
	costed_finish(&pair.with);
	costed_finish(&pair.without);
	break_sides_finish(&pair.sides);
	counterfactual_run_destroy(&check->run);
	return ok;
}
