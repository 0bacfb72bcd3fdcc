/* profiler/history/steps.c -- where a series of figures stepped to another level. */
#include "profiler/history/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/measure/stats.h"

enum { LEAST_RUNS = 4, LEAST_FOR_CORRELATION = 12, LEVEL_ROUNDS = 20, LOOKS = 4 };

#define BOUND 9.0 /* the most that a run costs: 3 deviations, squared */
#define PLACE_BOUND 25.0
#define LEAST_NOISE 0.001     /* of logs: no figure repeats better than this */
#define LEAST_COUNT_NOISE 0.2 /* of counts: a difference of 1 is one */
#define MAD_TO_DEVIATION 1.4826
#define MOST_CORRELATION 0.9
#define LINE_FOR_LEVELS 1.4
#define HALF_WIDTH 1.959964

/* A series as it is worked on: values of logs or counts, and 1 / variance of each. */
struct series_work {
	double *y, *weight, *scratch;
	int n;
	double floor;       /* the least deviation */
	double between;     /* variance from run to run, beside that of the runs' own intervals */
	double noise;       /* deviation of the typical run */
	double correlation; /* to the next run */
	double penalty;
};

/* ---- how noisy it is ---- */

static double median_of(double *x, int n)
{
	stats_sort(x, n);
	return stats_quantile(x, n, 0.5);
}

/* The deviation that the differences of neighbours tell: a step is one difference in many. */
static double deviation(const struct series_work *w)
{
	for (int i = 0; i + 1 < w->n; i++)
		w->scratch[i] = fabs(w->y[i + 1] - w->y[i]);
	return MAD_TO_DEVIATION * median_of(w->scratch, w->n - 1) / sqrt(2);
}

/* Deviation of a run's own interval; 0: it has none. */
static double own_deviation(const struct interval *v, bool counts)
{
	if (counts || !(v->low > 0 && v->high >= v->low && isfinite(v->high)))
		return 0;
	return log(v->high / v->low) / (2 * HALF_WIDTH);
}

static void weigh(struct series_work *w, const struct steps_series *s, double correlation)
{
	double own, total = deviation(w);

	/* The differences of what is correlated are smaller than it is. */
	total = fmax(total / sqrt(1 - correlation), w->floor);
	for (int i = 0; i < w->n; i++) {
		own = own_deviation(&s->values[i], s->counts);
		w->scratch[i] = own * own;
	}
	own = median_of(w->scratch, w->n);
	w->between = fmax(total * total - own, w->floor * w->floor);
	w->noise = total;
	w->correlation = correlation;
	for (int i = 0; i < w->n; i++) {
		own = own_deviation(&s->values[i], s->counts);
		w->weight[i] = 1 / fmax(w->between + own * own, total * total / 4);
	}
}

/* ---- the least sum ---- */

/* The cost of the best past as a function of the present level, on [low, high):
 * square * level^2 + line * level + rest, with the last change before run `since`. */
struct cost_piece {
	double low, high, square, line, rest;
	int since;
};

struct cost {
	VEC(struct cost_piece) now, next;
};

static double cost_at(const struct cost_piece *p, double level)
{
	return (p->square * level + p->line) * level + p->rest;
}

static bool add_piece(struct cost *c, struct cost_piece p)
{
	struct cost_piece *last = c->next.len ? &c->next.at[c->next.len - 1] : NULL;

	if (!(p.high > p.low))
		return true;
	if (last && last->since == p.since && last->square == p.square && last->line == p.line &&
	    last->rest == p.rest) {
		last->high = p.high;
		return true;
	}
	return VEC_PUSH(&c->next, p);
}

static void take_next(struct cost *c)
{
	struct cost_piece *at = c->now.at;
	size_t cap = c->now.cap;

	c->now.at = c->next.at;
	c->now.len = c->next.len;
	c->now.cap = c->next.cap;
	c->next.at = at;
	c->next.cap = cap;
	c->next.len = 0;
}

/* A change before run `since` at the cost `fresh`, wherever that is less. */
static bool allow_change(struct cost *c, double fresh, int since)
{
	bool ok = true;

	for (size_t i = 0; ok && i < c->now.len; i++) {
		struct cost_piece p = c->now.at[i], change = { p.low, p.high, 0, 0, fresh, since };
		double half, root, a, b;

		if (p.square <= 0) {
			ok = add_piece(c, p.rest <= fresh ? p : change);
			continue;
		}
		half = -p.line / (2 * p.square);
		root = half * half - (p.rest - fresh) / p.square;
		a = root > 0 ? fmin(fmax(half - sqrt(root), p.low), p.high) : p.high;
		b = root > 0 ? fmin(fmax(half + sqrt(root), p.low), p.high) : p.high;
		change.high = a;
		ok = add_piece(c, change);
		p.low = a;
		p.high = b;
		ok = ok && add_piece(c, p);
		change.low = b;
		change.high = c->now.at[i].high;
		ok = ok && add_piece(c, change);
	}
	take_next(c);
	return ok;
}

/* What a run of value y adds: w (level - y)^2, at most BOUND. */
static bool add_run(struct cost *c, double y, double w)
{
	double reach = sqrt(BOUND / w), cuts[2] = { y - reach, y + reach };
	bool ok = true;

	for (size_t i = 0; ok && i < c->now.len; i++) {
		struct cost_piece p = c->now.at[i];
		double high = p.high;

		for (int part = 0; ok && part < 3; part++) {
			struct cost_piece q = p;

			q.high = part < 2 ? fmin(fmax(cuts[part], p.low), high) : high;
			p.low = q.high;
			if (part == 1) {
				q.square += w;
				q.line -= 2 * w * y;
				q.rest += w * y * y;
			} else {
				q.rest += BOUND;
			}
			ok = add_piece(c, q);
		}
	}
	take_next(c);
	return ok;
}

static double least_cost(const struct cost *c, int *since)
{
	double best = INFINITY;

	for (size_t i = 0; i < c->now.len; i++) {
		const struct cost_piece *p = &c->now.at[i];
		double level = p->square > 0
				   ? fmin(fmax(-p->line / (2 * p->square), p->low), p->high)
				   : p->low;
		double cost = cost_at(p, isfinite(level) ? level : 0);

		if (cost < best) {
			best = cost;
			*since = p->since;
		}
	}
	return best;
}

/* since[i]: where the last level of the best past of runs [0, i] begins. */
static bool solve(const struct series_work *w, int *since)
{
	struct cost c = { 0 };
	double best = 0;
	bool ok = VEC_PUSH(&c.now, (struct cost_piece){ -INFINITY, INFINITY, 0, 0, 0, 0 });

	for (int i = 0; ok && i < w->n; i++) {
		ok = (!i || allow_change(&c, best + w->penalty, i)) &&
		     add_run(&c, w->y[i], w->weight[i]);
		best = least_cost(&c, &since[i]);
	}
	VEC_FREE(&c.now);
	VEC_FREE(&c.next);
	return ok;
}

/* ---- levels ---- */

static double loss(const struct series_work *w, int i, double level)
{
	double d = w->y[i] - level;

	return fmin(w->weight[i] * d * d, BOUND);
}

/* The level of runs [from, to), and *sum: the weights that it rests on. */
static double level_of(const struct series_work *w, int from, int to, double *sum)
{
	double level, last;

	memcpy(w->scratch, w->y + from, (size_t)(to - from) * sizeof(double));
	level = median_of(w->scratch, to - from);
	for (int round = 0; round < LEVEL_ROUNDS; round++) {
		double total = 0;

		last = level;
		*sum = 0;
		for (int i = from; i < to; i++) {
			if (loss(w, i, last) >= BOUND)
				continue;
			*sum += w->weight[i];
			total += w->weight[i] * w->y[i];
		}
		if (!(*sum > 0)) /* a median between two far groups: no run is near */
			*sum = 1 / (w->noise * w->noise);
		else
			level = total / *sum;
		if (fabs(level - last) <= 1e-12 * (1 + fabs(level)))
			break;
	}
	return level;
}

static double cost_of_level(const struct series_work *w, int from, int to)
{
	double sum, level = level_of(w, from, to, &sum), cost = 0;

	for (int i = from; i < to; i++)
		cost += loss(w, i, level);
	return cost;
}

/* Of a straight line over [from, to), and *rise: from its first run to its last.  Weighted least
 * squares over the runs that are near, a few times. */
static double cost_of_line(const struct series_work *w, int from, int to, double *rise)
{
	double sum, a = level_of(w, from, to, &sum), b = 0, cost = 0,
		    middle = (from + to - 1) / 2.0;

	for (int round = 0; round < LEVEL_ROUNDS; round++) {
		double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;

		for (int i = from; i < to; i++) {
			double x = i - middle, far = w->y[i] - a - b * x;
			double near = BOUND / fmax(w->weight[i] * far * far, BOUND);
			double v = w->weight[i] * (round ? near : 1);

			s += v;
			sx += v * x;
			sy += v * w->y[i];
			sxx += v * x * x;
			sxy += v * x * w->y[i];
		}
		if (!(s * sxx - sx * sx > 0))
			break;
		b = (s * sxy - sx * sy) / (s * sxx - sx * sx);
		a = (sy - b * sx) / s;
	}
	for (int i = from; i < to; i++)
		cost += loss(w, i, a + b * (i - middle));
	*rise = b * (to - 1 - from);
	return cost;
}

/* ---- from the sum to steps ---- */

struct level {
	int from, to;
	bool line;
	double rise;
};

struct levels {
	VEC(struct level) at;
};

/* Levels of one run are not told: an odd first or last run belongs to its neighbours. */
static bool read_levels(const struct series_work *w, const int *since, struct levels *out)
{
	out->at.len = 0;
	for (int to = w->n; to > 0;) {
		int from = since[to - 1];

		if (!VEC_PUSH(&out->at, (struct level){ .from = from, .to = to }))
			return false;
		to = from;
	}
	for (size_t i = 0; i < out->at.len / 2; i++) {
		struct level swapped = out->at.at[i];

		out->at.at[i] = out->at.at[out->at.len - 1 - i];
		out->at.at[out->at.len - 1 - i] = swapped;
	}
	return true;
}

/* Of i and the next. */
static void join(struct levels *l, size_t i)
{
	l->at.at[i].to = l->at.at[i + 1].to;
	memmove(&l->at.at[i + 1], &l->at.at[i + 2], (l->at.len - i - 2) * sizeof(*l->at.at));
	l->at.len--;
}

static void join_lone(struct levels *l)
{
	for (size_t i = 0; l->at.len > 1 && i < l->at.len;) {
		if (l->at.at[i].to - l->at.at[i].from > 1)
			i++;
		else if (i > 0)
			join(l, i - 1);
		else
			join(l, i);
	}
}

/* How levels are best put into groups, each of one level or a line: group k's last level is k. */
struct group {
	double cost;  /* of the best groups up to it */
	size_t first; /* its first level */
	double rise;  /* of its line */
};

/* A line has 2 parameters; two levels have 3, and the place of the step was looked for: they have
 * to be better by most of a penalty. */
static void choose_group(const struct series_work *w, const struct levels *l, struct group *best,
			 size_t k)
{
	for (size_t first = k + 1; first-- > 0;) {
		const struct level *a = &l->at.at[first], *b = &l->at.at[k];
		double rise = 0, cost = first == k ? cost_of_level(w, a->from, b->to)
						   : cost_of_line(w, a->from, b->to, &rise);

		cost += first ? best[first - 1].cost + w->penalty / LINE_FOR_LEVELS : 0;
		if (first == k || cost < best[k].cost)
			best[k] = (struct group){ cost, first, rise };
	}
}

static bool join_drifts(const struct series_work *w, struct levels *l)
{
	size_t n = l->at.len, kept = n;
	struct group *best = calloc(n, sizeof(*best));

	for (size_t k = 0; best && k < n; k++)
		choose_group(w, l, best, k);
	for (size_t k = n; best && k > 0;) { /* from the last group on, into the end of the list */
		const struct group *g = &best[k - 1];
		struct level joined = { l->at.at[g->first].from, l->at.at[k - 1].to,
					g->first < k - 1, g->rise };

		k = g->first;
		l->at.at[--kept] = joined;
	}
	memmove(l->at.at, l->at.at + kept, (n - kept) * sizeof(*l->at.at));
	l->at.len = n - kept;
	free(best);
	return best != NULL;
}

/* What levels leave. */
struct rest {
	double correlation; /* how much of a run's noise the next run has */
	double scale;       /* its variance, over what the weights take it for */
};

static struct rest rest_of(const struct series_work *w, const struct levels *l)
{
	double both = 0, own = 0, near = 0, sum, freedom = -(double)l->at.len;
	struct rest r = { 0 };

	for (size_t k = 0; k < l->at.len; k++) {
		const struct level *at = &l->at.at[k];
		double level = level_of(w, at->from, at->to, &sum), last = 0;

		for (int i = at->from; i < at->to; i++) {
			double rest = sqrt(w->weight[i]) * (w->y[i] - level);

			near += rest * rest < BOUND ? rest * rest : 0;
			freedom += rest * rest < BOUND;
			rest = fmin(fmax(rest, -3), 3);
			own += rest * rest;
			both += i > at->from ? rest * last : 0;
			last = rest;
		}
	}
	/* Each level that is taken off takes some correlation with it. */
	sum = own > 0 ? both / own + (1 + (double)l->at.len) / w->n : 0;
	r.correlation = fmin(fmax(sum, 0), MOST_CORRELATION);
	r.scale = freedom > 0 ? fmax(near / freedom, 1) : 1;
	return r;
}

static double penalty_of(const struct series_work *w, const struct rest *rest, int family)
{
	double few = 1 + 4.0 / w->n +
		     20.0 / w->n / w->n; /* the noise of few runs is not well known */
	double plain = fmax(2 * log(w->n) + 1, 7) + 2 * log(family);

	return plain * few * rest->scale * (1 + rest->correlation) / (1 - rest->correlation);
}

/* Noise that goes on from run to run makes levels that are not there, and what levels leave shows
 * how far it goes on: so levels are looked for a few times, with what the last ones left. */
static bool find_levels(struct series_work *w, const struct steps_series *series,
			struct levels *out)
{
	int *since = calloc((size_t)w->n, sizeof(*since));
	struct rest rest = { 0, 1 };
	bool ok = since != NULL;

	for (int round = 0; ok && round < LOOKS; round++) {
		weigh(w, series, rest.correlation);
		w->penalty = penalty_of(w, &rest, series->family);
		ok = solve(w, since) && read_levels(w, since, out);
		if (ok && w->n >= LEAST_FOR_CORRELATION)
			rest = rest_of(w, out);
	}
	free(since);
	if (!ok)
		return false;
	join_lone(out);
	return series->counts || join_drifts(w, out);
}

/* ---- a step in figures ---- */

/* In what the series is in. */
static struct interval as_measured(double mid, double half, bool counts)
{
	return counts ? (struct interval){ mid - half, mid, mid + half }
		      : (struct interval){ exp(mid - half), exp(mid), exp(mid + half) };
}

/* As loss(), for the place of a step that is there: that a run beside it is odd is less likely. */
static double place_loss(const struct series_work *w, int i, double level)
{
	double d = w->y[i] - level;

	return fmin(w->weight[i] * d * d, PLACE_BOUND);
}

/* The shortest run of places around the best that holds 95 % of the likelihood, the levels held. */
static void place(const struct series_work *w, struct series_step *s, double before, double after)
{
	double stretch = (1 + w->correlation) / (1 - w->correlation), total = 0, held, sum = 0;
	double *chance = w->scratch;
	int low = s->at, high = s->at;

	for (int i = s->from + 1; i < s->to; i++) {
		sum += place_loss(w, i - 1, before) - place_loss(w, i - 1, after);
		chance[i] = sum;
	}
	held = chance[s->at];
	for (int i = s->from + 1; i < s->to; i++) {
		chance[i] = exp(-(chance[i] - held) / (2 * stretch));
		total += chance[i];
	}
	for (held = chance[s->at]; held < 0.95 * total;) {
		double down = low > s->from + 1 ? chance[low - 1] : -1;
		double up = high < s->to - 1 ? chance[high + 1] : -1;

		if (down < 0 && up < 0)
			break;
		held += down > up ? down : up;
		if (down > up)
			low--;
		else
			high++;
	}
	s->earliest = low;
	s->latest = high;
}

static struct series_step step_between(const struct series_work *w, const struct levels *l,
				       size_t i, bool counts)
{
	const struct level *a = &l->at.at[i - 1], *b = &l->at.at[i];
	struct series_step s = { .at = b->from, .from = a->from, .to = b->to };
	double sum_a, sum_b, before, after, t;
	double stretch = (1 + w->correlation) / (1 - w->correlation);

	/* Of a drift its end is what the step begins from. */
	before = level_of(w, a->line ? (a->from + 2 * a->to) / 3 : a->from, a->to, &sum_a);
	after = level_of(w, b->from, b->line ? (2 * b->from + b->to + 2) / 3 : b->to, &sum_b);
	t = stats_student(w->n - (int)l->at.len);
	s.before = as_measured(before, t * sqrt(stretch / sum_a), counts);
	s.after = as_measured(after, t * sqrt(stretch / sum_b), counts);
	s.change = as_measured(after - before, t * sqrt(stretch * (1 / sum_a + 1 / sum_b)), counts);
	place(w, &s, before, after);
	return s;
}

static bool worth_telling(const struct steps_series *series, const struct series_step *s)
{
	double margin = series->margin > 0 ? series->margin : STEPS_MARGIN;

	if (series->counts)
		return fabs(s->change.mid) >= 0.5;
	return fabs(log(s->change.mid)) >= log1p(margin);
}

static bool read_steps(const struct series_work *w, const struct levels *l,
		       const struct steps_series *series, struct series_steps *out)
{
	const struct level *last = &l->at.at[l->at.len - 1];
	double sum, level = level_of(w, last->from, last->to, &sum);

	for (size_t i = 1; i < l->at.len; i++) {
		struct series_step s = step_between(w, l, i, series->counts);

		if (worth_telling(series, &s) && !VEC_PUSH(&out->at, s))
			return false;
	}
	out->noise = w->noise;
	out->correlation = w->correlation;
	out->drift = last->line ? (series->counts ? last->rise : expm1(last->rise)) : 0;
	out->pending = !last->line && last->to - last->from > 2 &&
		       loss(w, w->n - 1, level) >= BOUND && loss(w, w->n - 2, level) < BOUND;
	return true;
}

static bool begin(struct series_work *w, const struct steps_series *s)
{
	size_t n = (size_t)s->n;

	*w = (struct series_work){ .y = calloc(n, sizeof(double)),
				   .weight = calloc(n, sizeof(double)),
				   .scratch = calloc(n + 1, sizeof(double)),
				   .n = s->n,
				   .floor = s->counts ? LEAST_COUNT_NOISE : LEAST_NOISE };
	if (!w->y || !w->weight || !w->scratch)
		return false;
	for (int i = 0; i < s->n; i++)
		w->y[i] = s->counts ? s->values[i].mid : log(s->values[i].mid);
	return true;
}

bool steps_find(const struct steps_series *series, struct series_steps *out)
{
	struct levels levels = { 0 };
	struct series_work w = { 0 };
	bool ok;

	*out = (struct series_steps){ .noise = NAN };
	if (series->n < LEAST_RUNS)
		return true;
	ok = begin(&w, series) && find_levels(&w, series, &levels) &&
	     read_steps(&w, &levels, series, out);
	VEC_FREE(&levels.at);
	free(w.y);
	free(w.weight);
	free(w.scratch);
	return ok;
}
