/* profiler/align/rows.c -- what each kernel adds to the difference.
 *
 * A row sums over its items in a unit, so that there is one sample a unit, and figures are means
 * over units: means of rows add up to that of the whole, which medians do not, and units that are
 * far off were set apart before.  Whether the two sides differ is asked by Welch's test, with what
 * processes of the same differ by (stats.h) in the errors, and of all rows together by Holm's
 * method.
 */
#include "profiler/align/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/compare/ratio.h"
#include "profiler/measure/stats.h"

static const double alpha = 0.05, process_sd = STATS_PROCESS_SD;

/* ---- two samples ---- */

static struct unit_figure figure_of(const double *x, int n)
{
	struct unit_figure f = { n ? 0 : NAN, NAN, n };
	double square = 0;

	for (int i = 0; i < n; i++)
		f.mean += x[i] / n;
	for (int i = 0; i < n; i++)
		square += (x[i] - f.mean) * (x[i] - f.mean);
	if (n > 1)
		f.error = sqrt(square / (n * (n - 1.0)));
	return f;
}

/* Of |t| with so many degrees of freedom, both sides: by the normal distribution (Wallace, Bounds
 * on normal approximations to Student's and the chi-square distributions, 1959). */
static double chance_of(double t, double freedom)
{
	double z = sqrt(freedom * log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3);

	return erfc(z / sqrt(2));
}

/* How many errors 95 % of Student's t lie within: chance_of() turned round. */
static double errors_within(double freedom)
{
	const double most = 13, z = 1.959963984540054; /* of the normal distribution, by alpha */
	double scaled = z * (8 * freedom + 3) / (8 * freedom + 1);

	return fmin(sqrt(freedom * expm1(scaled * scaled / freedom)), most);
}

static struct unit_change change_of(struct unit_figure a, struct unit_figure b)
{
	struct unit_change c = { a, b, 0, NAN, NAN, 1, false };
	double error, freedom, ea, eb;

	c.delta = (isnan(b.mean) ? 0 : b.mean) - (isnan(a.mean) ? 0 : a.mean);
	if (isnan(a.error) || isnan(b.error))
		return c;
	ea = a.error * a.error + process_sd * a.mean * process_sd * a.mean;
	eb = b.error * b.error + process_sd * b.mean * process_sd * b.mean;
	error = sqrt(ea + eb);
	if (error == 0) {
		c.low = c.high = c.delta;
		return c;
	}
	freedom = (ea + eb) * (ea + eb) / (ea * ea / (a.n - 1) + eb * eb / (b.n - 1));
	c.chance = chance_of(fabs(c.delta) / error, freedom);
	error *= errors_within(freedom);
	c.low = c.delta - error;
	c.high = c.delta + error;
	return c;
}

/* ---- samples of a row ---- */

/* The units of a side that count. */
struct used_units {
	const struct align_side *side;
	const struct align_unit **at;
	int n, n_whole;
};

struct sampling {
	struct used_units a, b;
	struct align_rows *rows;
	double *room; /* for the units of either side */
};

/* False when out of memory. */
static bool list_used(const struct align_side *side, struct used_units *out)
{
	*out = (struct used_units){ .side = side };
	out->at = calloc(side->units.len + 1, sizeof(const struct align_unit *));
	for (size_t u = 0; out->at && u < side->units.len; u++) {
		if (side->units.at[u].apart != UNIT_USED)
			continue;
		out->at[out->n++] = &side->units.at[u];
		out->n_whole += side->units.at[u].whole;
	}
	return out->at != NULL;
}

static double busy_of(const struct align_item *item)
{
	return item->busy_ns;
}

static double length_of(const struct align_item *item)
{
	return (double)item->event->duration_ns;
}

static double idle_of(const struct align_item *item)
{
	return (double)(item->event->start_ns - item->idle_from_ns);
}

/* Each unit that counts is looked at for each item of it, so that all rows look at each item once,
 * however many rows have none of this side. */
static struct unit_figure sample(const struct sampling *s, const struct align_row *row, bool of_b,
				 enum row_part part)
{
	const struct used_units *used = of_b ? &s->b : &s->a;
	const uint32_t *list = of_b ? s->rows->of_b.at + row->at_b : s->rows->of_a.at + row->at_a;
	size_t n_items = of_b ? row->n_b : row->n_a;
	double (*of)(const struct align_item *) = part == ROW_IDLE ? idle_of
						  : part == ROW_LENGTH && !used->side->on_host
						      ? length_of
						      : busy_of;
	int n = part == ROW_IDLE ? used->n_whole : used->n, at = 0;

	if (!n_items)
		return (struct unit_figure){ n ? 0 : NAN, n > 1 ? 0 : NAN, n };
	for (int u = 0; u < used->n; u++) {
		const struct align_item *items = &used->side->items.at[used->at[u]->first];
		double sum = 0;

		if (part == ROW_IDLE && !used->at[u]->whole)
			continue;
		for (size_t i = 0; i < n_items; i++)
			sum += of(&items[list[i]]);
		s->room[at++] = sum;
	}
	return figure_of(s->room, at);
}

static double wall_of(const struct align_unit *u)
{
	return u->wall_ns;
}

static double busy_of_unit(const struct align_unit *u)
{
	return u->busy_ns;
}

static double idle_of_unit(const struct align_unit *u)
{
	return u->idle_ns;
}

/* A figure of the unit as a whole. */
static struct unit_figure whole_figure(const struct used_units *used, double *room, bool all,
				       double (*of)(const struct align_unit *))
{
	int n = 0;

	for (int u = 0; u < used->n; u++)
		if (all || used->at[u]->whole)
			room[n++] = of(used->at[u]);
	return figure_of(room, n);
}

static struct unit_change whole_change(const struct sampling *s, bool all,
				       double (*of)(const struct align_unit *))
{
	struct unit_change c = change_of(whole_figure(&s->a, s->room, all, of),
					 whole_figure(&s->b, s->room, all, of));

	c.changed = c.chance < alpha;
	return c;
}

/* ---- matches to rows ---- */

/* What a match is taken together by. */
struct signed_match {
	uint64_t sign;
	size_t at;
};

static int by_sign(const void *x, const void *y)
{
	const struct signed_match *a = x, *b = y;

	if (a->sign != b->sign)
		return a->sign < b->sign ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* The key of an item in the list of a side. */
static uint32_t key_at(const struct sampling *s, bool of_b, size_t at)
{
	const struct align_side *side = of_b ? s->b.side : s->a.side;
	uint32_t item = of_b ? s->rows->matches.b.at[at] : s->rows->matches.a.at[at];

	return side->items.at[side->units.at[side->model].first + item].key;
}

static uint64_t sign_with(uint64_t sign, uint32_t key)
{
	return hash_bytes(&key, sizeof(key), sign);
}

/* A kernel that one side has alone is signed as a pair of it, so that it counts there. */
static uint64_t sign_of(const struct sampling *s, const struct match *m)
{
	uint32_t alone = m->n ? key_at(s, false, m->a) : key_at(s, true, m->b);
	uint64_t sign = 0;

	for (uint32_t i = 0; i < m->n; i++)
		sign = sign_with(sign, key_at(s, false, m->a + i));
	sign = m->n ? sign + 1 : sign_with(0, alone) + 1;
	for (uint32_t i = 0; i < m->m; i++)
		sign = sign_with(sign, key_at(s, true, m->b + i));
	return m->n == 1 && !m->m ? sign_with(sign, alone) : sign;
}

static bool add_match(struct align_rows *r, struct align_row *row, const struct match *m)
{
	bool ok = true;

	for (uint32_t i = 0; ok && i < m->n; i++)
		ok = VEC_PUSH(&r->of_a, r->matches.a.at[m->a + i]);
	for (uint32_t i = 0; ok && i < m->m; i++)
		ok = VEC_PUSH(&r->of_b, r->matches.b.at[m->b + i]);
	row->n_a += m->n;
	row->n_b += m->m;
	row->any_moved |= m->moved;
	return ok;
}

/* Rows of matches of one sign. */
static bool add_rows(struct align_rows *r, const struct signed_match *list, size_t n)
{
	bool ok = true;

	for (size_t i = 0, end; ok && i < n; i = end) {
		struct align_row row = { .from = i, .at_a = r->of_a.len, .at_b = r->of_b.len };

		for (end = i; ok && end < n && list[end].sign == list[i].sign; end++) {
			r->order[end] = list[end].at;
			ok = add_match(r, &row, &r->matches.list.at[list[end].at]);
		}
		row.to = end;
		row.first = &r->matches.list.at[r->order[i]];
		ok = ok && VEC_PUSH(&r->list, row);
	}
	return ok;
}

static bool group_matches(const struct sampling *s)
{
	struct align_rows *r = s->rows;
	size_t n = r->matches.list.len;
	struct signed_match *list = calloc(n + 1, sizeof(*list));
	bool ok;

	r->order = calloc(n + 1, sizeof(*r->order));
	ok = list && r->order;
	for (size_t i = 0; ok && i < n; i++)
		list[i] = (struct signed_match){ sign_of(s, &r->matches.list.at[i]), i };
	if (ok)
		qsort(list, n, sizeof(*list), by_sign);
	ok = ok && add_rows(r, list, n);
	free(list);
	return ok;
}

/* Of a row's matches that whose items differ most in the model units. */
static void choose_first(const struct sampling *s, struct align_row *row)
{
	const struct align_side *of_a = s->a.side, *of_b = s->b.side;
	const struct align_item *a = &of_a->items.at[of_a->units.at[of_a->model].first];
	const struct align_item *b = &of_b->items.at[of_b->units.at[of_b->model].first];
	const struct matches *all = &s->rows->matches;
	double best = -1;

	for (size_t i = row->from; i < row->to; i++) {
		const struct match *m = &s->rows->matches.list.at[s->rows->order[i]];
		double sum = 0;

		for (uint32_t k = 0; k < m->n; k++)
			sum -= a[all->a.at[m->a + k]].busy_ns;
		for (uint32_t k = 0; k < m->m; k++)
			sum += b[all->b.at[m->b + k]].busy_ns;
		if (fabs(sum) > best) {
			best = fabs(sum);
			row->first = m;
		}
	}
}

/* Of a kernel its share of the time or its own length may tell: the length is less disturbed by
 * what runs beside it. */
static double chance_in(const struct align_row *row, enum row_part part)
{
	double share = row->change[part].chance, length = row->change[ROW_LENGTH].chance;

	return part == ROW_IDLE ? share : fmin(1, 2 * fmin(share, length));
}

/* Which of all rows changed. */
static bool judge(struct align_rows *r)
{
	size_t n = 2 * r->list.len;
	double *chance = calloc(n + 1, sizeof(*chance));
	bool *stands = calloc(n + 1, sizeof(*stands));
	bool ok = chance && stands;

	for (size_t i = 0; ok && i < n; i++)
		chance[i] = chance_in(&r->list.at[i / 2], i % 2 ? ROW_IDLE : ROW_DEVICE);
	ok = ok && ratio_holm(chance, (int)n, alpha, stands);
	for (size_t i = 0; ok && i < n; i++)
		r->list.at[i / 2].change[i % 2].changed = stands[i];
	for (size_t i = 0; ok && i < r->list.len; i++)
		r->list.at[i].change[ROW_LENGTH].changed = r->list.at[i].change[ROW_DEVICE].changed;
	free(chance);
	free(stands);
	return ok;
}

bool rows_make(const struct align_side *a, const struct align_side *b, struct align_rows *out)
{
	size_t most = a->units.len > b->units.len ? a->units.len : b->units.len;
	struct sampling s = { .rows = out, .room = calloc(most + 1, sizeof(double)) };
	bool ok = s.room && list_used(a, &s.a) && list_used(b, &s.b);

	*out = (struct align_rows){ 0 };
	ok = ok && match_units(a, b, &out->matches) && group_matches(&s);
	for (size_t i = 0; ok && i < out->list.len; i++) {
		struct align_row *row = &out->list.at[i];

		for (enum row_part part = ROW_DEVICE; part < ROW_PARTS; part++)
			row->change[part] = change_of(sample(&s, row, false, part),
						      sample(&s, row, true, part));
		choose_first(&s, row);
	}
	if (ok) {
		out->wall = whole_change(&s, false, wall_of);
		out->part[ROW_DEVICE] = whole_change(&s, true, busy_of_unit);
		out->part[ROW_IDLE] = whole_change(&s, false, idle_of_unit);
	}
	ok = ok && judge(out);
	free(s.room);
	free(s.a.at);
	free(s.b.at);
	return ok;
}

void rows_finish(struct align_rows *r)
{
	matches_finish(&r->matches);
	VEC_FREE(&r->list);
	VEC_FREE(&r->of_a);
	VEC_FREE(&r->of_b);
	free(r->order);
}
