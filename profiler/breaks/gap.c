/* profiler/breaks/gap.c -- what the host does between two kernels. */
#include "profiler/breaks/gap.h"

#include <math.h>

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

double break_gap_overlap_ns(const struct watch_cost *w, const struct span *s,
			    const struct timeline_event *e)
{
	struct span part = overlap(s, e);

	return part.to_ns > part.from_ns ? watch_cost_less(w, &part) : 0;
}

/* The time of the span in what breaks ran, less what stands in there by itself. */
static double statement_ns(const struct lanes_view *v, const struct watch_cost *w,
			   const struct span *s)
{
	struct span left = *s; /* of it, behind the breaks before */
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

struct gap break_gap_measure(const struct lanes_view *v, const struct watch_cost *w,
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
