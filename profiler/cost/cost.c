/* profiler/cost/cost.c -- what a graph break costs, read from a timeline. */
#include "profiler/cost/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/measure/stats.h"
#include "profiler/timeline/lanes_view.h"

/* ---- what the host does between two kernels. ---- */

double gap_parts_sum(const struct gap_parts *p)
{
	double sum = 0;

#define PART(name, what) sum += p->name##_ns;
	GAP_PARTS(PART)
#undef PART
	return sum;
}

void gap_parts_scale(struct gap_parts *p, double by)
{
#define PART(name, what) p->name##_ns *= by;
	GAP_PARTS(PART)
#undef PART
}

void gap_parts_add(struct gap_parts *to, const struct gap_parts *p, double share)
{
#define PART(name, what) to->name##_ns += p->name##_ns * share;
	GAP_PARTS(PART)
#undef PART
}

static struct span overlap(const struct span *s, const struct timeline_event *e)
{
	return (struct span){ e->start_ns > s->from_ns ? e->start_ns : s->from_ns,
			      event_end(e) < s->to_ns ? event_end(e) : s->to_ns };
}

/* The part of an event that lies in the span, less what watching has added. */
static double break_gap_overlap_ns(const struct watch_cost *w, const struct span *s,
				   const struct timeline_event *e)
{
	struct span part = overlap(s, e);

	return part.to_ns > part.from_ns ? watch_cost_less(w, &part) : 0;
}

/* The time of the span in what breaks ran, less what is timed in it by itself. */
static double statement_ns(const struct lanes_view *v, const struct watch_cost *w,
			   const struct span *s)
{
	struct span left = *s; /* of it, after the breaks before */
	double total = 0;

	for (size_t i = 0; i < v->breaks.len; i++) {
		struct span own = overlap(&left, v->breaks.at[i]);

		if (own.to_ns <= own.from_ns)
			continue;
		left.from_ns = own.to_ns;
		total += watch_cost_less(w, &own);
		for (size_t k = 0; k < v->host.len; k++)
			total -= break_gap_overlap_ns(w, &own, v->host.at[k]);
		for (size_t k = 0; k < v->kernels.len && !w->device; k++)
			total -= break_gap_overlap_ns(w, &own, v->kernels.at[k]);
	}
	return fmax(total, 0);
}

/* Where the span begins in a piece: up to the piece's end. */
static double outputs_ns(const struct lanes_view *v, const struct watch_cost *w,
			 const struct span *s)
{
	for (size_t i = 0; i < v->pieces.len; i++) {
		const struct timeline_event *p = v->pieces.at[i];

		if (p->start_ns < s->from_ns && event_end(p) > s->from_ns &&
		    event_end(p) <= s->to_ns)
			return break_gap_overlap_ns(w, s, p);
	}
	return 0;
}

static double *part_of_kind(struct gap_parts *p, uint32_t kind)
{
	switch (kind) {
	case TIMELINE_GUARDS:
		return &p->guards_ns;
	case TIMELINE_DISPATCH:
		return &p->dispatch_ns;
	case TIMELINE_ALLOC:
		return &p->alloc_ns;
	default:
		return &p->launch_ns;
	}
}

/* At most what is left. */
static void take(double *part, double *left)
{
	*part = fmax(fmin(*part, *left), 0);
	*left -= *part;
}

/* Of the span of a call that `v` is cut to, less what watching has added.  `edge`: before the
 * first piece, or after the last. */
static struct gap break_gap_measure(const struct lanes_view *v, const struct watch_cost *w,
				    const struct span *s, bool edge)
{
	struct gap g = { { 0 }, 0, 0 };
	struct gap_parts *p = &g.parts;
	double left = watch_cost_less(w, s);

	for (size_t i = 0; i < v->host.len; i++)
		*part_of_kind(p, v->host.at[i]->kind) += break_gap_overlap_ns(w, s, v->host.at[i]);
	for (size_t i = 0; i < v->launches.len; i++) {
		const struct launch_at *l = &v->launches.at[i];

		if (!l->eager || !span_holds(s, l->in_ns))
			continue;
		g.eager++;
		g.eager_ns += (double)l->ns;
		left -= w->device ? 0 : (double)l->ns;
	}
	left = fmax(left, 0);
	p->statement_ns = statement_ns(v, w, s);
	p->outputs_ns = edge ? 0 : outputs_ns(v, w, s);
	take(&p->guards_ns, &left);
	take(&p->dispatch_ns, &left);
	take(&p->alloc_ns, &left);
	take(&p->launch_ns, &left);
	take(&p->statement_ns, &left);
	take(&p->outputs_ns, &left);
	*(edge ? &p->entry_ns : &p->frame_ns) = left;
	return g;
}

/* ---- what a device takes from one kernel to the next. ---- */

/* A kernel, and when its launch was done. */
struct ran {
	int64_t start_ns, end_ns, launched_ns;
};

static int by_start(const void *a, const void *b)
{
	const struct ran *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_correlation(const void *a, const void *b)
{
	const struct timeline_event *x = *(const struct timeline_event *const *)a,
				    *y = *(const struct timeline_event *const *)b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

/* Launches and kernels by their correlation, side by side; how many kernels have a launch. */
static size_t join(const struct timeline_event **launches, size_t n_launches,
		   const struct timeline_event **kernels, size_t n_kernels, struct ran *out)
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < n_kernels; i++) {
		while (at < n_launches && launches[at]->correlation < kernels[i]->correlation)
			at++;
		if (at < n_launches && launches[at]->correlation == kernels[i]->correlation)
			out[n++] = (struct ran){ kernels[i]->start_ns, event_end(kernels[i]),
						 event_end(launches[at]) };
	}
	qsort(out, n, sizeof(*out), by_start);
	return n;
}

static int gaps_of(const struct ran *ran, size_t n, double *gaps)
{
	int count = 0;

	for (size_t i = 1; i < n; i++)
		if (ran[i].launched_ns < ran[i - 1].end_ns && ran[i].start_ns >= ran[i - 1].end_ns)
			gaps[count++] = (double)(ran[i].start_ns - ran[i - 1].end_ns);
	return count;
}

/* Of a set whose launches are filled in, beside a device.  False: out of memory. */
static bool turnaround_find(const struct lanes_view *v, struct turnaround *out)
{
	const struct timeline_event **launches = calloc(v->host.len + 1, sizeof(*launches)),
				    **kernels = calloc(v->kernels.len + 1, sizeof(*kernels));
	struct ran *ran = calloc(v->kernels.len + 1, sizeof(*ran));
	double *gaps = calloc(v->kernels.len + 1, sizeof(*gaps));
	bool ok = launches && kernels && ran && gaps;
	size_t n_launches = 0;

	*out = (struct turnaround){ 0 };
	for (size_t i = 0; ok && i < v->host.len; i++)
		if (v->host.at[i]->kind == TIMELINE_LAUNCH)
			launches[n_launches++] = v->host.at[i];
	for (size_t i = 0; ok && i < v->kernels.len; i++)
		kernels[i] = v->kernels.at[i];
	if (ok) {
		qsort(launches, n_launches, sizeof(struct timeline_event *), by_correlation);
		qsort(kernels, v->kernels.len, sizeof(struct timeline_event *), by_correlation);
		out->seen = gaps_of(ran, join(launches, n_launches, kernels, v->kernels.len, ran),
				    gaps);
	}
	if (out->seen > 0) {
		stats_sort(gaps, out->seen);
		out->ns = stats_quantile(gaps, out->seen, 0.5);
	}
	free(launches);
	free(kernels);
	free(ran);
	free(gaps);
	return ok;
}

struct reading {
	struct break_costs *c;
	struct lanes_view *v;
	struct break_group *g;
	struct watch_cost watch;
	double in_gaps_ns, in_calls_ns; /* of watching, in a row */
	int *met;                       /* breaks of the call under way, by number */
	int n_met;
};

void break_costs_finish(struct break_costs *c)
{
	for (size_t i = 0; i < c->groups.len; i++)
		free(c->groups.at[i].breaks);
	VEC_FREE(&c->groups);
	timeline_events_finish(&c->seen);
}

static const struct timeline_events *seen_by(const struct break_costs *c)
{
	return c->of ? c->of : &c->seen;
}

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for the costs of breaks");
}

/* ---- one call ---- */

static int number_of_break(const struct break_costs *c, const struct timeline_event *e)
{
	struct timeline_name row = timeline_name_at(&seen_by(c)->tables, e->name);
	int64_t at = row.has.nth_break ? row.nth_break : -1;

	return at >= 0 && at < c->n_breaks ? (int)at : -1;
}

static void give(struct break_sample *to, const struct gap *g, double share)
{
	gap_parts_add(&to->gap, &g->parts, share);
	to->eager += g->eager * share;
	to->eager_ns += g->eager_ns * share;
}

/* What a launch takes of the host, by itself. */
static double host_ns(const struct reading *r, const struct launch_at *l)
{
	struct span s = { l->begin_ns, l->in_ns };

	return r->c->device ? watch_cost_less(&r->watch, &s) : 0;
}

static double bytes_of(const struct break_costs *c, const struct launch_at *l)
{
	struct timeline_name row = timeline_name_at(&seen_by(c)->tables, l->name);

	return (double)row.read_bytes + (double)row.written_bytes;
}

static double fourth_root(double x)
{
	return x > 0 ? sqrt(sqrt(x)) : 0;
}

/* What both take more than one kernel that moves so much less; all without what the
 * smallest kernel takes.  Of kernels whose time is unknown: all of it. */
static double saved_ns(const struct break_costs *c, const struct launch_at *a,
		       const struct launch_at *b, double moved_ns)
{
	const struct launch_at *of[2] = { a, b };
	double least_ns = copy_curve_ns(c->curve, 0), compute = 0, memory = 0, both = 0, one;

	if (a->ns <= 0 || b->ns <= 0)
		return moved_ns;
	for (int i = 0; i < 2; i++) {
		double t = fmax((double)of[i]->ns - least_ns, 0);
		double m = fmin(fmax(copy_curve_ns(c->curve, bytes_of(c, of[i])) - least_ns, 0), t);

		compute += fourth_root(pow(t, 4) - pow(m, 4));
		memory += m;
		both += t;
	}
	one = fourth_root(pow(compute, 4) + pow(fmax(memory - moved_ns, 0), 4));
	return fmin(fmax(both - one, 0), moved_ns);
}

/* A function of a library has a launch of its own, whatever is compiled around it. */
static bool is_library(const struct break_costs *c, const struct launch_at *l)
{
	return timeline_name_at(&seen_by(c)->tables, l->name).library;
}

/* The kernel that break `index` adds between two others. */
static void give_kernel(const struct break_costs *c, struct break_sample *to, int index,
			const struct launch_at *before, const struct launch_at *after, double share)
{
	double least_ns = copy_curve_ns(c->curve, 0);
	double bytes_ns = fmax(copy_curve_ns(c->curve, c->moved_bytes[index]) - least_ns, 0);
	double ns = least_ns + saved_ns(c, before, after, bytes_ns);

	if (c->reads && c->reads[index])
		return;
	/* one kernel of both takes as long as the longer at least */
	if (before->ns > 0 && after->ns > 0)
		ns = fmin(ns, (double)(before->ns < after->ns ? before->ns : after->ns));
	to->kernels += share;
	to->kernel_ns += share * ns;
}

/* A gap is that of the breaks that begin or end in it; of none: of all that the call
 * has met.  `before` and `after`: the kernels that it lies between, or NULL. */
static void add_gap(struct reading *r, struct span s, const struct launch_at *before,
		    const struct launch_at *after, bool edge)
{
	struct gap g;
	int n = 0;

	if (s.to_ns <= s.from_ns)
		return;
	g = break_gap_measure(r->v, &r->watch, &s, edge);
	r->in_gaps_ns += watch_cost_in_a_row(&r->watch, &s);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < r->v->breaks.len; i++) {
			const struct timeline_event *b = r->v->breaks.at[i];
			int index = number_of_break(r->c, b);

			if (index < 0 ||
			    (!span_holds(&s, b->start_ns) && !span_holds(&s, event_end(b))))
				continue;
			if (pass == 0) {
				n++;
				continue;
			}
			give(&r->g->breaks[index], &g, 1.0 / n);
			if (!before || !after)
				continue;
			r->g->breaks[index].gap_launches += 1.0 / n;
			r->g->breaks[index].gap_launch_ns += host_ns(r, after) / n;
			give_kernel(r->c, &r->g->breaks[index], index, before, after, 1.0 / n);
		}
	for (int i = 0; n == 0 && i < r->n_met; i++)
		give(&r->g->breaks[r->met[i]], &g, 1.0 / r->n_met);
}

/* Guards of the piece that ran next: functions have versions, and each its own. */
static int guards_behind(const struct reading *r, const struct timeline_event *brk)
{
	const struct break_costs *c = r->c;

	for (size_t i = 0; i < r->v->pieces.len; i++) {
		const struct timeline_event *p = r->v->pieces.at[i];
		struct timeline_name row;
		int64_t at;

		if (p->start_ns < event_end(brk))
			continue;
		row = timeline_name_at(&seen_by(c)->tables, p->name);
		at = row.has.graph ? row.graph : -1;
		return at >= 0 && at < c->n_graphs && c->guards ? c->guards[at] : 0;
	}
	return 0;
}

/* What a call of one piece has before it: the search for its entry. */
static int64_t behind_first_guards(const struct reading *r, const struct span *call)
{
	for (size_t i = 0; i < r->v->host.len; i++) {
		const struct timeline_event *e = r->v->host.at[i];

		if (span_holds(call, e->start_ns))
			return e->kind == TIMELINE_GUARDS ? event_end(e) : call->from_ns;
	}
	return call->from_ns;
}

static bool is_lowering(const struct break_costs *c, const struct timeline_event *brk)
{
	const char *stage = timeline_name_at(&seen_by(c)->tables, brk->name).stage;

	return stage && strcmp(stage, "lowering") == 0;
}

/* What a fallback launches is its own, as an eager op's is. */
static void mark_fallbacks(const struct break_costs *c, struct lanes_view *v)
{
	for (size_t i = 0, k = 0; i < v->breaks.len; i++) {
		struct span s = { v->breaks.at[i]->start_ns, event_end(v->breaks.at[i]) };

		if (!is_lowering(c, v->breaks.at[i]))
			continue;
		while (k > 0 && v->launches.at[k - 1].in_ns >= s.from_ns)
			k--;
		while (k < v->launches.len && v->launches.at[k].in_ns < s.from_ns)
			k++;
		for (; k < v->launches.len && v->launches.at[k].in_ns < s.to_ns; k++)
			v->launches.at[k].eager = true;
	}
}

/* Whether an op that is not lowered ran within the span, and all of its gap with it. */
static bool has_fallback(const struct reading *r, struct span s)
{
	for (size_t i = 0; i < r->v->breaks.len; i++)
		if (is_lowering(r->c, r->v->breaks.at[i]) &&
		    span_holds(&s, r->v->breaks.at[i]->start_ns) &&
		    span_holds(&s, event_end(r->v->breaks.at[i])))
			return true;
	return false;
}

/* Before the first kernel: the search for an entry after `from_ns`, and a fallback that
 * the graph begins with. */
static void read_head(struct reading *r, const struct span *call, const struct launch_at *l)
{
	struct span in = { l->piece->start_ns, l->begin_ns };

	add_gap(r, (struct span){ behind_first_guards(r, call), in.from_ns }, NULL, NULL, true);
	if (has_fallback(r, in))
		add_gap(r, in, NULL, NULL, false);
}

static void read_tail(struct reading *r, const struct span *call, const struct launch_at *last)
{
	struct span in = { last->out_ns, event_end(last->piece) };

	if (has_fallback(r, in))
		add_gap(r, in, NULL, NULL, false);
	add_gap(r, (struct span){ in.to_ns, call->to_ns }, NULL, NULL, true);
}

/* Up to the first kernel of a piece. */
static void add_lead(struct reading *r, const struct span *call)
{
	const struct lanes_view *v = r->v;
	struct span whole = *call, made = { behind_first_guards(r, call), 0 };
	double ns;

	if (v->launches.len == 0 || v->launches.at[0].eager)
		return;
	whole.to_ns = v->launches.at[0].begin_ns;
	ns = watch_cost_less(&r->watch, &whole);
	if (r->watch.hidden_piece) /* it begins there */
		ns -= r->watch.pace * r->watch.clock_ns;
	made.to_ns = v->launches.at[0].piece ? v->launches.at[0].piece->start_ns : made.from_ns;
	if (made.to_ns > made.from_ns)
		ns -= watch_cost_less(&r->watch, &made);
	r->g->lead_ns += ns;
}

static void read_gaps(struct reading *r, const struct span *call)
{
	const struct launch_at *last = NULL;

	for (size_t i = 0; i < r->v->launches.len; i++) {
		const struct launch_at *l = &r->v->launches.at[i];
		bool split;

		if (!span_holds(call, l->in_ns) || l->eager || !l->piece)
			continue;
		split = last && (last->piece != l->piece ||
				 has_fallback(r, (struct span){ last->out_ns, l->begin_ns }));
		if (!last)
			read_head(r, call, l);
		else if (split && is_library(r->c, l))
			add_gap(r, (struct span){ last->out_ns, l->begin_ns }, NULL, NULL, false);
		else if (split)
			add_gap(r, (struct span){ last->out_ns, l->in_ns }, last, l, false);
		last = l;
	}
	if (last)
		read_tail(r, call, last);
	else
		add_gap(r, (struct span){ behind_first_guards(r, call), call->to_ns }, NULL, NULL,
			true);
}

/* What a barrier takes beside its kernels, and the kernel that it ends. */
static void read_barrier(struct reading *r, const struct timeline_event *brk, int index)
{
	struct span s = { brk->start_ns, event_end(brk) };
	struct break_sample *to = &r->g->breaks[index];
	const struct launch_at *before = NULL, *after = NULL;
	struct gap g;

	for (size_t i = 0; i < r->v->launches.len && !after; i++) {
		const struct launch_at *l = &r->v->launches.at[i];

		if (l->eager || l->in_ns < s.from_ns)
			continue;
		*(l->in_ns <= s.to_ns ? &before : &after) = l;
	}
	g = break_gap_measure(r->v, &r->watch, &s, false);
	for (size_t i = 0; i < r->v->kernels.len && !r->c->device; i++)
		g.parts.frame_ns -= break_gap_overlap_ns(&r->watch, &s, r->v->kernels.at[i]);
	g.parts.frame_ns += g.parts.statement_ns; /* no statement runs in it */
	g.parts.statement_ns = 0;
	g.parts.frame_ns = fmax(g.parts.frame_ns, 0);
	give(to, &g, 1);
	r->in_gaps_ns += watch_cost_in_a_row(&r->watch, &s);
	if (!before)
		return;
	to->gap_launches++;
	to->gap_launch_ns += host_ns(r, before);
	if (after)
		give_kernel(r->c, to, index, before, after, 1);
}

static void read_barriers(struct reading *r)
{
	for (size_t i = 0; i < r->v->breaks.len; i++) {
		int index = number_of_break(r->c, r->v->breaks.at[i]);

		if (index >= 0 && !is_lowering(r->c, r->v->breaks.at[i]))
			read_barrier(r, r->v->breaks.at[i], index);
	}
}

/* False: out of memory. */
static bool read_call(struct reading *r, const struct timeline_event *call)
{
	struct span s = { call->start_ns, event_end(call) };
	struct lanes_view *whole = r->v, part = lanes_cut_view(whole, &s);

	if (!watch_cost_enter(&r->watch, &part))
		return false;
	r->v = &part;
	r->n_met = 0;
	for (size_t i = 0; i < r->v->breaks.len; i++) {
		int index = number_of_break(r->c, r->v->breaks.at[i]);

		if (index < 0 || !span_holds(&s, r->v->breaks.at[i]->start_ns))
			continue;
		r->met[r->n_met++] = index;
		r->g->breaks[index].met++;
		r->g->breaks[index].guards += guards_behind(r, r->v->breaks.at[i]);
	}
	r->g->call_ns += (double)(s.to_ns - s.from_ns) -
			 r->watch.pace * watch_cost_of_call(&r->watch, &s);
	r->in_calls_ns += watch_cost_of_call(&r->watch, &s);
	add_lead(r, &s);
	for (size_t i = 0; i < r->v->launches.len; i++)
		if (span_holds(&s, r->v->launches.at[i].in_ns)) {
			const struct launch_at *l = &r->v->launches.at[i];

			r->g->device_ns += (double)l->ns;
			r->g->ran += l->kernels;
			r->g->launch_ns += host_ns(r, l);
			r->g->launches++;
		}
	if (r->n_met > 0 && r->c->lazy)
		read_barriers(r);
	else if (r->n_met > 0)
		read_gaps(r, &s);
	r->g->calls++;
	r->v = whole;
	return true;
}

/* ---- groups ---- */

static void mean_of_calls(const struct break_costs *c, struct break_group *g)
{
	double n = g->calls;

	g->call_ns /= n;
	g->device_ns /= n;
	g->launch_ns /= fmax(g->launches, 1);
	g->launches /= n;
	g->ran /= n;
	g->lead_ns /= n;
	for (int i = 0; i < c->n_breaks; i++) {
		struct break_sample *b = &g->breaks[i];

		gap_parts_scale(&b->gap, 1 / n);
		b->guards = b->met > 0 ? b->guards / b->met : 0;
		b->met /= n;
		b->kernels /= n;
		b->gap_launches /= n;
		b->gap_launch_ns /= n;
		b->kernel_ns /= n;
		b->eager /= n;
		b->eager_ns /= n;
	}
}

/* What watching costs beyond what it takes in a row, or less, may be of the gaps alone, or
 * of all the rest. */
static void set_doubt(const struct reading *r, struct break_group *g)
{
	double off = r->watch.pace - 1, gaps = r->in_gaps_ns / g->calls,
	       all = r->in_calls_ns / g->calls, rest = fmax(all - gaps, 0);

	g->watch_ns = r->watch.pace * all;
	g->more_ns = off > 0 ? off * gaps : -off * rest;
	g->less_ns = off > 0 ? off * rest : -off * gaps;
}

/* By the watched calls, beside one that nobody watches.  False: out of memory. */
static bool find_pace(struct reading *r, double call_ns)
{
	double watched = 0, in_a_row = 0, n = (double)r->v->calls.len;

	for (size_t i = 0; i < r->v->calls.len; i++) {
		struct span s = { r->v->calls.at[i]->start_ns, event_end(r->v->calls.at[i]) };
		struct lanes_view part = lanes_cut_view(r->v, &s);

		if (!watch_cost_enter(&r->watch, &part))
			return false;
		watched += (double)(s.to_ns - s.from_ns) / n;
		in_a_row += watch_cost_of_call(&r->watch, &s) / n;
	}
	watch_cost_set_pace(&r->watch, watched, in_a_row, call_ns);
	return true;
}

/* A kernel of the host runs between two readings of the clock. */
static void correct_kernels(const struct watch_cost *w, struct lanes_view *v)
{
	double reading_ns = w->pace * w->clock_ns;

	for (size_t i = 0; i < v->launches.len && !w->device; i++)
		v->launches.at[i].ns = (int64_t)fmax((double)v->launches.at[i].ns - reading_ns, 0);
}

static int by_duration(const void *a, const void *b)
{
	const struct timeline_event *x = *(const struct timeline_event *const *)a,
				    *y = *(const struct timeline_event *const *)b;

	return (x->duration_ns > y->duration_ns) - (x->duration_ns < y->duration_ns);
}

/* Leaves out calls that took twice the median: the system had something else to do
 * meanwhile.  False: out of memory. */
static bool leave_out_interrupted(struct lanes_view *v)
{
	const struct timeline_event **sorted = calloc(v->calls.len + 1, sizeof(*sorted));
	size_t n = 0;

	if (!sorted)
		return false;
	for (size_t i = 0; i < v->calls.len; i++)
		sorted[i] = v->calls.at[i];
	qsort(sorted, v->calls.len, sizeof(*sorted), by_duration);
	for (size_t i = 0; i < v->calls.len; i++)
		if (v->calls.at[i]->duration_ns <= 2 * sorted[v->calls.len / 2]->duration_ns)
			v->calls.at[n++] = v->calls.at[i];
	v->calls.len = n;
	free(sorted);
	return true;
}

/* In a row, as the recorder has timed it; a function of one piece has no lane for it. */
static struct watch_cost watching(const struct break_costs *c, const struct lanes_view *v)
{
	struct timeline_watching cost = timeline_watching(&seen_by(c)->tables);

	return (struct watch_cost){ .clock_ns = cost.clock_ns,
				    .report_ns = cost.tell_ns,
				    .device = c->device,
				    .hidden_piece = v->pieces.len == 0 };
}

/* False: out of memory. */
static bool find_turn(struct break_costs *c, const struct lanes_view *v)
{
	struct turnaround turn = { 0 };

	if (c->device && !turnaround_find(v, &turn))
		return false;
	c->turn = turnaround_of_both(c->turn, turn);
	return true;
}

static bool read_view(struct break_costs *c, struct lanes_view *v, double call_ns, int number)
{
	struct break_group g = { .number = number,
				 .breaks = calloc((size_t)c->n_breaks + 1, sizeof(*g.breaks)) };
	struct reading r = { .c = c, .v = v, .g = &g };
	bool ok;

	r.met = calloc(v->breaks.len + 1, sizeof(*r.met));
	ok = g.breaks && r.met && leave_out_interrupted(v) && lanes_view_launches(v, c->device);
	r.watch = watching(c, v);
	if (ok)
		mark_fallbacks(c, v);
	ok = ok && find_pace(&r, call_ns) && find_turn(c, v);
	if (ok)
		correct_kernels(&r.watch, v);
	for (size_t i = 0; ok && i < v->calls.len; i++)
		ok = read_call(&r, v->calls.at[i]);
	watch_cost_finish(&r.watch);
	free(r.met);
	if (ok && g.calls > 0 && (v->breaks.len > 0 || c->n_breaks == 0)) {
		mean_of_calls(c, &g);
		set_doubt(&r, &g);
		break_group_add_up(c, &g);
		ok = VEC_PUSH(&c->groups, g);
	} else {
		free(g.breaks);
	}
	return ok;
}

/* A set of lanes begins with that of the calls. */
static int set_of_candidate(const struct break_costs *c, uint32_t candidate)
{
	int set = -1;

	for (uint32_t i = 0; i <= candidate && i < json_array_size(seen_by(c)->tables.lanes); i++) {
		const char *role = timeline_lane_at(&seen_by(c)->tables, i).role;

		set += role && strcmp(role, "calls") == 0;
	}
	return set;
}

bool break_costs_read(struct break_costs *c, const struct copy_curve *curve,
		      const double *moved_bytes, bool device, const double *call_ns,
		      struct err *err)
{
	size_t n_candidates = json_array_size(seen_by(c)->tables.lanes);
	int n_sets = n_candidates ? set_of_candidate(c, (uint32_t)n_candidates - 1) + 1 : 0;
	int *sets = calloc(n_candidates + 1, sizeof(*sets));
	bool ok = sets != NULL;

	c->curve = curve;
	c->moved_bytes = moved_bytes;
	c->device = device;
	for (size_t i = 0; ok && i < n_candidates; i++)
		sets[i] = set_of_candidate(c, (uint32_t)i);
	for (int set = c->first, k = 0; ok && set < n_sets; set += c->step ? c->step : 1, k++) {
		struct lanes_view v = { 0 };

		for (size_t i = 0; ok && i < seen_by(c)->list.len; i++)
			if (seen_by(c)->list.at[i].lane < n_candidates &&
			    sets[seen_by(c)->list.at[i].lane] == set)
				ok = lanes_view_add(&v, &seen_by(c)->list.at[i]);
		ok = ok && read_view(c, &v, call_ns ? call_ns[k] : 0, k);
		lanes_view_finish(&v);
	}
	free(sets);
	return ok || out_of_memory(err);
}
