/* profiler/cost/sum.c -- what each break costs, and all together: see cost.h. */
#include <math.h>
#include <stdlib.h>

#include "profiler/cost/cost.h"

static void cost_on_host(const struct break_costs *c, struct break_group *g)
{
	for (int i = 0; i < c->n_breaks; i++) {
		struct break_sample *b = &g->breaks[i];

		b->cost_ns = gap_parts_sum(&b->gap) + b->kernel_ns;
		g->cost_ns += b->cost_ns;
	}
}

static void cost_on_device(const struct break_costs *c, struct break_group *g)
{
	double gaps = 0, kernels = 0, host, device, whole = 0, met = 0;

	for (int i = 0; i < c->n_breaks; i++) {
		gaps += gap_parts_sum(&g->breaks[i].gap);
		kernels += g->breaks[i].kernel_ns;
	}
	host = g->call_ns - gaps;
	device = g->device_ns - kernels;
	g->cost_ns = fmax(g->call_ns, g->device_ns) - fmax(host, device);
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < c->n_breaks; i++) {
			struct break_sample *b = &g->breaks[i];
			double share = gap_parts_sum(&b->gap) + (host < device ? b->kernel_ns : 0);

			if (pass == 0) {
				whole += share;
				met += b->met;
			} else {
				b->cost_ns = g->cost_ns *
					     (whole > 0 ? share / whole : b->met / fmax(met, 1e-9));
			}
		}
}

void break_group_add_up(const struct break_costs *c, struct break_group *g)
{
	g->cost_ns = 0;
	(c->device ? cost_on_device : cost_on_host)(c, g);
}

void break_group_set_pace(const struct break_costs *c, struct break_group *g, double pace)
{
	double *of_group[] = { &g->call_ns,  &g->device_ns, &g->launch_ns, &g->lead_ns,
			       &g->watch_ns, &g->less_ns,   &g->more_ns };

	for (size_t i = 0; i < sizeof(of_group) / sizeof(of_group[0]); i++)
		*of_group[i] *= pace;
	for (int k = 0; k < c->n_breaks; k++) {
		struct break_sample *b = &g->breaks[k];
		double *of_break[] = { &b->gap_launch_ns, &b->kernel_ns, &b->eager_ns };

		gap_parts_scale(&b->gap, pace);
		for (size_t i = 0; i < sizeof(of_break) / sizeof(of_break[0]); i++)
			*of_break[i] *= pace;
	}
	break_group_add_up(c, g);
}

void break_costs_add_turns(struct break_costs *c, struct turnaround turn)
{
	for (size_t i = 0; i < c->groups.len; i++) {
		struct break_group *g = &c->groups.at[i];

		g->device_ns += g->ran * turn.ns;
		for (int k = 0; k < c->n_breaks; k++)
			g->breaks[k].kernel_ns += g->breaks[k].kernels * turn.ns;
		break_group_add_up(c, g);
	}
}

void break_costs_take_host(struct break_costs *c, const struct break_costs *host)
{
	size_t n = host->groups.len;

	for (size_t i = 0; n > 0 && i < c->groups.len; i++) {
		struct break_group *g = &c->groups.at[i];
		const struct break_group *from = &host->groups.at[i < n ? i : n - 1];

		g->call_ns = from->call_ns;
		g->less_ns = from->less_ns;
		g->more_ns = from->more_ns;
		g->launch_ns = from->launch_ns;
		g->lead_ns = from->lead_ns;
		g->watch_ns = from->watch_ns;
		for (int k = 0; k < c->n_breaks && k < host->n_breaks; k++) {
			g->breaks[k].gap = from->breaks[k].gap;
			g->breaks[k].gap_launches = from->breaks[k].gap_launches;
			g->breaks[k].gap_launch_ns = from->breaks[k].gap_launch_ns;
		}
		break_group_add_up(c, g);
	}
}

/* What one group has more than the other. */
struct added {
	double kernel_ns, launches, lead_ns;
};

/* What the breaks `gone` add to the kernels, to each as it was estimated for it; launches
 * that their gaps have too many, or too few; and what comes before them all. */
static void share(struct break_group *g, const bool *gone, int n, const struct added *added)
{
	double estimated_ns = 0, met = 0, in_gaps = 0, in_gaps_ns = 0, one_ns;

	for (int i = 0; i < n; i++)
		if (gone[i]) {
			estimated_ns += g->breaks[i].kernel_ns;
			met += g->breaks[i].met;
			in_gaps += g->breaks[i].gap_launches;
			in_gaps_ns += g->breaks[i].gap_launch_ns;
		}
	one_ns = in_gaps > 0 ? in_gaps_ns / in_gaps : g->launch_ns;
	for (int i = 0; i < n && met > 0; i++) {
		struct break_sample *b = &g->breaks[i];
		double by_met = b->met / met;

		if (!gone[i])
			continue;
		b->kernel_ns = added->kernel_ns *
			       (estimated_ns > 0 ? b->kernel_ns / estimated_ns : by_met);
		b->gap.launch_ns += by_met * (added->launches - in_gaps) * one_ns;
		b->gap.replay_ns += by_met * added->lead_ns;
	}
}

void break_costs_fuse(struct break_costs *c, const struct break_costs *without, const bool *gone)
{
	for (size_t i = 0; i < c->groups.len && i < without->groups.len; i++) {
		struct break_group *g = &c->groups.at[i];
		const struct break_group *w = &without->groups.at[i];
		struct added added = { g->device_ns - w->device_ns, g->launches - w->launches,
				       c->graphs ? fmax(g->lead_ns - w->lead_ns, 0) : 0 };

		share(g, gone, c->n_breaks, &added);
		break_group_add_up(c, g);
	}
}

void break_costs_scale(struct break_costs *c, double call_ns)
{
	for (size_t i = 0; i < c->groups.len; i++) {
		struct break_group *g = &c->groups.at[i];
		double watched = fmax(g->call_ns, g->device_ns);
		double scale = watched > 0 && call_ns > 0 ? call_ns / watched : 1;

		g->call_ns *= scale;
		g->device_ns *= scale;
		g->cost_ns *= scale;
		g->less_ns *= scale;
		g->more_ns *= scale;
		for (int k = 0; k < c->n_breaks; k++)
			g->breaks[k].cost_ns *= scale;
	}
}

/* Whether a figure is also of break k. */
typedef bool chosen(const struct break_costs *c, int k, int index);

static bool every_one(const struct break_costs *c, int k, int index)
{
	(void)c, (void)k, (void)index;
	return true;
}

static bool only_this(const struct break_costs *c, int k, int index)
{
	(void)c;
	return k == index;
}

static bool not_gone(const struct break_costs *c, int k, int index)
{
	(void)index;
	return !c->gone[k];
}

/* How much of what all gaps may be more or less is that of the chosen ones. */
static double share_of_gaps(const struct break_costs *c, const struct break_group *g, chosen *of,
			    int index)
{
	double gaps = 0, kernels = 0, theirs = 0;

	for (int i = 0; i < c->n_breaks; i++) {
		double gap = gap_parts_sum(&g->breaks[i].gap);

		gaps += gap;
		theirs += of(c, i, index) ? gap : 0;
		kernels += g->breaks[i].kernel_ns;
	}
	if (c->device && g->call_ns - gaps < g->device_ns - kernels)
		return 0; /* the device is the longer one: gaps are hidden */
	return of == every_one ? 1 : gaps > 0 ? theirs / gaps : 0;
}

/* By the timelines alone. */
static bool estimate(const struct break_costs *c, const struct break_costs *left, chosen *of,
		     int index, struct interval *out)
{
	size_t n = c->groups.len;
	double *x = calloc(3 * n + 1, sizeof(*x));
	struct interval each[3];
	bool ok = x && n > 0;

	for (size_t i = 0; ok && i < n; i++) {
		const struct break_group *g = &c->groups.at[i];
		double share = share_of_gaps(c, g, of, index), cost = 0;

		for (int k = 0; k < c->n_breaks; k++)
			cost += of(c, k, index) ? g->breaks[k].cost_ns : 0;
		if (left && i < left->groups.len)
			cost -= left->groups.at[i].cost_ns;
		x[i] = cost;
		x[n + i] = cost - share * g->less_ns;
		x[2 * n + i] = cost + share * g->more_ns;
	}
	for (size_t k = 0; ok && k < 3; k++)
		ok = stats_median(x + k * n, (int)n, &each[k]);
	if (ok)
		*out = (struct interval){ .mid = each[0].mid,
					  .low = each[1].low,
					  .high = each[2].high };
	free(x);
	return ok;
}

bool break_costs_explained(const struct break_costs *c, const struct break_costs *left,
			   struct interval *out)
{
	return estimate(c, left, every_one, -1, out);
}

/* What the timelines give to one of those that are gone, and to all of them. */
struct weight {
	double one, all;
};

static void add_weights(const struct break_costs *c, const struct break_group *g, int index,
			struct weight *cost, struct weight *met)
{
	for (int k = 0; k < c->n_breaks; k++) {
		const struct break_sample *b = &g->breaks[k];

		if (!c->gone[k])
			continue;
		cost->all += fmax(b->cost_ns, 0);
		met->all += b->met;
		if (k != index)
			continue;
		cost->one += fmax(b->cost_ns, 0);
		met->one += b->met;
	}
}

/* By what they cost; by how often they are met where by the timelines none costs anything. */
static double share_by(const struct weight *cost, const struct weight *met)
{
	return cost->all > 0 ? cost->one / cost->all : met->all > 0 ? met->one / met->all : 0;
}

/* Of what those that are gone cost: the share of one, over all groups, and from group to group. */
static bool share_of_saved(const struct break_costs *c, int index, struct interval *out)
{
	size_t n = c->groups.len;
	struct weight cost = { 0 }, met = { 0 };
	double *x = calloc(n + 1, sizeof(*x));
	bool ok = x != NULL;

	for (size_t i = 0; ok && i < n; i++) {
		struct weight own_cost = { 0 }, own_met = { 0 };

		add_weights(c, &c->groups.at[i], index, &own_cost, &own_met);
		add_weights(c, &c->groups.at[i], index, &cost, &met);
		x[i] = share_by(&own_cost, &own_met);
	}
	ok = ok && stats_median(x, (int)n, out);
	free(x);
	out->mid = share_by(&cost, &met);
	out->low = fmin(out->low, out->mid);
	out->high = fmax(out->high, out->mid);
	return ok;
}

/* Where all of them together cost nothing that could be told, neither does one. */
static bool settle(const struct break_costs *c, int index, struct interval *out)
{
	const struct interval *saved = c->saved;
	struct interval share;

	if (!share_of_saved(c, index, &share))
		return false;
	out->mid = share.mid * saved->mid;
	if (saved->low > 0) {
		out->low = share.low * saved->low;
		out->high = share.high * saved->high;
	} else {
		out->low = fmin(saved->low, 0);
		out->high = fmax(saved->high, 0);
	}
	return true;
}

bool break_costs_interval(const struct break_costs *c, int index, struct interval *out)
{
	bool timed = c->saved && c->gone;

	if (timed && index >= 0 && c->gone[index])
		return c->groups.len > 0 && settle(c, index, out);
	if (!estimate(c, NULL, index >= 0 ? only_this : timed ? not_gone : every_one, index, out))
		return false;
	if (timed && index < 0)
		*out = (struct interval){ .low = out->low + c->saved->low,
					  .mid = out->mid + c->saved->mid,
					  .high = out->high + c->saved->high };
	return true;
}
