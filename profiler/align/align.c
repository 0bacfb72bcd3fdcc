/* profiler/align/align.c -- two timelines, aligned: rows as they are answered. */
#include "profiler/align/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/align/rows.h"
#include "profiler/align/say.h"

enum { MOST_ROWS = 200, MOST_NAMES = 8, MOST_SLICES = 400, MOST_APART = 32, MOST_HOST_ROWS = 50 };

struct answering {
	const struct align_run *run_a, *run_b;
	struct name_ids *names;
	const struct align_side *a, *b;
	const struct align_rows *rows;
	struct report_alignment *to;
	struct report_draft *draft;
	struct wording wording;
	struct listed_row *list; /* rows in their order */
	size_t n_listed;
};

/* A row's part, as it is listed. */
struct listed_row {
	const struct align_row *row;
	enum row_part part;
};

/* Item k of those of a match, of A or B. */
static const struct align_item *match_item(const struct answering *s, bool of_b,
					   const struct match *m, uint32_t k)
{
	const struct align_side *side = of_b ? s->b : s->a;
	const struct matches *all = &s->rows->matches;
	uint32_t item = of_b ? all->b.at[m->b + k] : all->a.at[m->a + k];

	return &side->items.at[side->units.at[side->model].first + item];
}

static const struct align_item *model_item(const struct align_side *s, size_t i)
{
	return &s->items.at[s->units.at[s->model].first + i];
}

/* ---- sides ---- */

static void fill_apart(struct answering *s, const struct align_side *side,
		       struct report_aligned_side *to)
{
	static const char *const why[] = { "", "other items", "warm-up", "far off",
					   "the first: nothing is known before it" };
	struct report_aligned_apart *rows = report_new_aligned_apart(MOST_APART, &s->draft->arena);
	size_t n = 0;

	for (size_t i = 0; rows && i < side->units.len && n < MOST_APART; i++) {
		const struct align_unit *u = &side->units.at[i];
		struct report_aligned_apart *row = &rows[n];

		if (u->apart == UNIT_USED)
			continue;
		REPORT_SET(row, index, (int64_t)i);
		REPORT_SET(row, why, why[u->apart]);
		REPORT_SET(row, wall, align_time(&s->wording, u->wall_ns));
		REPORT_SET_OR_NULL(row, cause, u->cause, u->cause);
		REPORT_SET_OR_NULL(row, cause_time, u->cause,
				   align_time(&s->wording, (double)u->cause_ns));
		REPORT_SET(row, t0_ns, u->from_ns - side->first_ns);
		REPORT_SET(row, t1_ns, u->to_ns - side->first_ns);
		n++;
	}
	REPORT_SET(to, apart, (struct report_aligned_apart_list){ rows, n });
}

/* Where the unit that stands for all begins, what was idle before it included. */
static int64_t model_from(const struct align_side *side)
{
	const struct align_unit *u = &side->units.at[side->model];
	int64_t from = INT64_MAX;

	for (size_t i = 0; i < u->n; i++) {
		const struct align_item *item = model_item(side, i);

		from = item->idle_from_ns < from ? item->idle_from_ns : from;
	}
	return from;
}

static struct report_aligned_side *fill_side(struct answering *s, const struct align_side *side)
{
	struct arena *arena = &s->draft->arena;
	const json_t *head = side->run->head, *id = json_object_get(head, "id");
	const char *file = json_string_value(json_object_get(head, "file"));
	const struct align_unit *u = &side->units.at[side->model];
	struct report_aligned_side *to = report_new_aligned_side(1, arena);

	if (!to)
		return NULL;
	REPORT_SET_IF(to, id, id, json_integer_value(id));
	REPORT_SET_IF(to, file, file, file);
	REPORT_SET(to, name, json_string_value(json_object_get(head, "name")));
	REPORT_SET_OR_NULL(to, mode, side->mode, side->mode);
	REPORT_SET_OR_NULL(to, n, side->has_n, side->n);
	REPORT_SET(to, unit, side->how);
	REPORT_SET(to, units, (int64_t)side->units.len);
	REPORT_SET(to, used, (int64_t)side->used);
	REPORT_SET(to, items, (int64_t)u->n);
	REPORT_SET(to, outside, (int64_t)side->outside);
	REPORT_SET(to, on_host, side->on_host);
	REPORT_SET_IF(to, device, side->devices > 1, side->device);
	REPORT_SET(to, left_out, side->run->events->left_out);
	REPORT_SET(to, t0_ns, model_from(side) - side->first_ns);
	REPORT_SET(to, t1_ns, u->to_ns - side->first_ns);
	fill_apart(s, side, to);
	return to;
}

/* ---- which rows ---- */

static const struct unit_change *time_of(const struct listed_row *l)
{
	return &l->row->change[l->part];
}

/* Whether it is more than noise, as far as is known. */
static bool stands(const struct listed_row *l)
{
	return time_of(l)->changed || isnan(time_of(l)->low) || l->row->n_a != l->row->n_b;
}

static double size_of(const struct listed_row *l)
{
	return fabs(time_of(l)->delta);
}

static int by_place(const struct listed_row *a, const struct listed_row *b)
{
	return a->row->from != b->row->from
		   ? (a->row->from > b->row->from) - (a->row->from < b->row->from)
		   : (int)a->part - (int)b->part;
}

/* What changed first, then what stands, the largest first. */
static int by_size(const void *x, const void *y)
{
	const struct listed_row *a = x, *b = y;
	int of_a = 2 * time_of(a)->changed + stands(a), of_b = 2 * time_of(b)->changed + stands(b);

	if (of_a != of_b)
		return of_b - of_a;
	if (size_of(a) != size_of(b))
		return size_of(a) < size_of(b) ? 1 : -1;
	return by_place(a, b);
}

/* The same, those of the device before. */
static int by_part(const void *x, const void *y)
{
	const struct listed_row *a = x, *b = y;

	if (time_of(a)->changed == time_of(b)->changed && a->part != b->part)
		return (int)a->part - (int)b->part;
	return by_size(x, y);
}

static bool list_rows(struct answering *s)
{
	const struct align_rows *r = s->rows;

	s->list = calloc(2 * r->list.len + 1, sizeof(*s->list));
	for (size_t i = 0; s->list && i < 2 * r->list.len; i++) {
		const struct align_row *row = &r->list.at[i / 2];
		enum row_part part = i % 2 ? ROW_IDLE : ROW_DEVICE;

		if (part == ROW_DEVICE || row->change[part].delta != 0)
			s->list[s->n_listed++] = (struct listed_row){ row, part };
	}
	if (s->n_listed)
		qsort(s->list, s->n_listed, sizeof(*s->list), r->wall.changed ? by_size : by_part);
	return s->list != NULL;
}

/* ---- a row ---- */

static const char *change_word(const struct listed_row *l)
{
	const struct align_row *row = l->row;
	const struct unit_change *c = &row->change[l->part];
	const struct match *m = row->first;

	if (l->part == ROW_IDLE)
		return !c->changed ? "same" : c->delta > 0 ? "longer" : "shorter";
	if (!row->n_a || !row->n_b)
		return row->n_a ? "gone" : "new";
	if (m->n > 1 || m->m > 1)
		return m->m == 1 ? "fused" : m->n == 1 ? "split" : "replaced";
	if (row->n_a != row->n_b)
		return row->n_b > row->n_a ? "more" : "fewer";
	return !c->changed ? "same" : c->delta > 0 ? "slower" : "faster";
}

static struct report_texts names_of(struct answering *s, bool of_b, const struct match *m)
{
	const char *names[MOST_NAMES];
	uint32_t n = of_b ? m->m : m->n;
	int kept = 0;

	for (uint32_t i = 0; i < n && kept < MOST_NAMES; i++)
		names[kept++] = side_name(of_b ? s->b : s->a, match_item(s, of_b, m, i)->event);
	return report_draft_texts(s->draft, names, kept);
}

/* Whether both sides say the same but for what a compiler counts. */
static bool same_names(const struct answering *s, const struct match *m)
{
	return m->n + m->m == 1 ||
	       (m->n == 1 && m->m == 1 &&
		match_item(s, false, m, 0)->key == match_item(s, true, m, 0)->key);
}

static void fill_names(struct answering *s, const struct align_row *row,
		       struct report_aligned_row *to)
{
	const struct match *m = row->first;
	const struct align_item *item = match_item(s, m->m > 0, m, 0);
	const struct align_side *side = m->m ? s->b : s->a;
	const char *op = item->op_name
			     ? timeline_name_at(&side->run->events->tables, item->op_name - 1).name
			     : NULL;

	REPORT_SET(to, name, side_name(side, item->event));
	REPORT_SET(to, title, align_title(&s->wording, to->name));
	REPORT_SET_OR_NULL(to, op, op, op);
	if (same_names(s, m)) {
		REPORT_SET(to, from, (struct report_texts){ 0 });
		REPORT_SET(to, to, (struct report_texts){ 0 });
		return;
	}
	REPORT_SET(to, from, names_of(s, false, m));
	REPORT_SET(to, to, names_of(s, true, m));
	if (m->n == 1 && m->m == 1 && strcmp(to->change, "same") == 0)
		REPORT_SET(to, change, "renamed");
}

/* From the begin of the first item to the end of the last; NULL: there is none. */
static struct report_aligned_place *place_of(struct answering *s, bool of_b, const struct match *m)
{
	const struct align_side *side = of_b ? s->b : s->a;
	struct report_aligned_place *to = report_new_aligned_place(1, &s->draft->arena);
	uint32_t n = of_b ? m->m : m->n;
	int64_t from = INT64_MAX, until = INT64_MIN;

	if (!to || !n)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		const struct timeline_event *e = match_item(s, of_b, m, i)->event;

		from = e->start_ns < from ? e->start_ns : from;
		until = event_end(e) > until ? event_end(e) : until;
	}
	REPORT_SET(to, t0_ns, from - side->first_ns);
	REPORT_SET(to, t1_ns, until - side->first_ns);
	return to;
}

/* ---- causes of idle time ---- */

static const char *const cause_names[] = {
#define CAUSE(id, name, label) name,
#include "profiler/timeline/idle.def"
#undef CAUSE
};
static const char *const cause_labels[] = {
#define CAUSE(id, name, label) label,
#include "profiler/timeline/idle.def"
#undef CAUSE
};

/* Adds what was idle before an item, by cause. */
static void add_causes(const struct align_side *s, const struct align_item *item, double *us)
{
	int64_t from = item->idle_from_ns, to = item->event->start_ns;
	size_t low = 0, high = s->idle.len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->idle.at[mid].to_ns <= from)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < s->idle.len && s->idle.at[low].from_ns < to; low++) {
		const struct idle_part *part = &s->idle.at[low];
		int64_t begin = part->from_ns > from ? part->from_ns : from;
		int64_t end = part->to_ns < to ? part->to_ns : to;

		if (end > begin)
			us[part->cause] += (double)(end - begin) / 1e3;
	}
}

static void causes_of_row(const struct answering *s, const struct align_row *row, double *a,
			  double *b)
{
	for (size_t i = row->from; i < row->to; i++) {
		const struct match *m = &s->rows->matches.list.at[s->rows->order[i]];

		for (uint32_t k = 0; k < m->n; k++)
			add_causes(s->a, match_item(s, false, m, k), a);
		for (uint32_t k = 0; k < m->m; k++)
			add_causes(s->b, match_item(s, true, m, k), b);
	}
}

static int by_difference(const void *x, const void *y)
{
	const struct report_aligned_cause *a = x, *b = y;
	double of_a = fabs(a->b_us - a->a_us), of_b = fabs(b->b_us - b->a_us);

	return (of_a < of_b) - (of_a > of_b);
}

static void fill_causes(struct answering *s, const struct align_row *row,
			struct report_aligned_row *to)
{
	double a[IDLE_CAUSE_COUNT] = { 0 }, b[IDLE_CAUSE_COUNT] = { 0 };
	struct report_aligned_cause *list = report_new_aligned_cause(IDLE_CAUSE_COUNT,
								     &s->draft->arena);
	size_t n = 0;

	causes_of_row(s, row, a, b);
	for (int i = 0; list && i < IDLE_CAUSE_COUNT; i++) {
		if (a[i] == 0 && b[i] == 0)
			continue;
		REPORT_SET(&list[n], name, cause_names[i]);
		REPORT_SET(&list[n], label, cause_labels[i]);
		REPORT_SET(&list[n], a_us, a[i]);
		REPORT_SET(&list[n], b_us, b[i]);
		n++;
	}
	if (n)
		qsort(list, n, sizeof(*list), by_difference);
	REPORT_SET(to, causes, (struct report_aligned_cause_list){ list, n });
}

/* What leads: the wall time, else what the device runs. */
static const struct unit_change *leading(const struct align_rows *r)
{
	return r->wall.changed ? &r->wall : &r->part[ROW_DEVICE];
}

static void fill_row(struct answering *s, const struct listed_row *l, struct report_aligned_row *to)
{
	const struct align_row *row = l->row;
	const struct match *m = row->first;
	const struct unit_change *leads = leading(s->rows);
	double delta = row->change[l->part].delta;

	REPORT_SET(to, part, l->part == ROW_IDLE ? "idle" : s->a->asks_host ? "host" : "device");
	REPORT_SET(to, change, change_word(l));
	fill_names(s, row, to);
	REPORT_SET(to, n_a, (int64_t)row->n_a);
	REPORT_SET(to, n_b, (int64_t)row->n_b);
	REPORT_SET(to, moved, row->any_moved);
	REPORT_SET(to, stands, stands(l));
	REPORT_SET(to, time, align_change(&s->wording, &row->change[l->part]));
	REPORT_SET_IF(to, length, l->part == ROW_DEVICE,
		      align_change(&s->wording, &row->change[ROW_LENGTH]));
	REPORT_SET_OR_NULL(to, share, leads->delta != 0, delta / leads->delta);
	if (l->part == ROW_IDLE)
		fill_causes(s, row, to);
	REPORT_SET_OR_NULL(to, a, m->n, place_of(s, false, m));
	REPORT_SET_OR_NULL(to, b, m->m, place_of(s, true, m));
}

static void fill_rows(struct answering *s)
{
	size_t n = s->n_listed < MOST_ROWS ? s->n_listed : MOST_ROWS;
	struct report_aligned_row *rows = report_new_aligned_row(n, &s->draft->arena);
	struct report_aligned_others *others = report_new_aligned_others(1, &s->draft->arena);
	double left[2] = { 0, 0 };

	for (size_t i = 0; rows && i < n; i++)
		fill_row(s, &s->list[i], &rows[i]);
	for (size_t i = n; i < s->n_listed; i++)
		left[s->list[i].part] += time_of(&s->list[i])->delta;
	REPORT_SET(s->to, rows, (struct report_aligned_row_list){ rows, n });
	if (!others)
		return;
	REPORT_SET(others, rows, (int64_t)(s->n_listed - n));
	REPORT_SET(others, device_us, left[ROW_DEVICE] / 1e3);
	REPORT_SET(others, idle_us, left[ROW_IDLE] / 1e3);
	REPORT_SET(s->to, others, others);
}

/* ---- what ran in the units that stand for all ---- */

static int by_length(const void *x, const void *y)
{
	const struct align_item *a = *(const struct align_item *const *)x,
				*b = *(const struct align_item *const *)y;

	if (a->event->duration_ns != b->event->duration_ns)
		return a->event->duration_ns < b->event->duration_ns ? 1 : -1;
	return (a > b) - (a < b);
}

/* Of each item of a model unit the number of its match. */
static int64_t *match_numbers(const struct answering *s, bool of_b)
{
	const struct align_side *side = of_b ? s->b : s->a;
	int64_t *of = calloc(side->units.at[side->model].n + 1, sizeof(*of));

	for (size_t i = 0; of && i < s->rows->matches.list.len; i++) {
		const struct match *m = &s->rows->matches.list.at[i];

		for (uint32_t k = 0; k < (of_b ? m->m : m->n); k++)
			of[match_item(s, of_b, m, k) - model_item(side, 0)] = (int64_t)i;
	}
	return of;
}

/* Which of the listed rows has each match; -1: none. */
static int64_t *row_numbers(const struct answering *s)
{
	int64_t *of = calloc(s->rows->matches.list.len + 1, sizeof(*of));
	size_t n = s->n_listed < MOST_ROWS ? s->n_listed : MOST_ROWS;

	for (size_t i = 0; of && i < s->rows->matches.list.len; i++)
		of[i] = -1;
	for (size_t i = 0; of && i < n; i++)
		for (size_t k = s->list[i].row->from; k < s->list[i].row->to; k++)
			if (s->list[i].part == ROW_DEVICE)
				of[s->rows->order[k]] = (int64_t)i;
	return of;
}

struct slicing {
	const struct align_side *side;
	const int64_t *match, *row;
	int64_t from_ns;
	uint32_t lanes[64];
	int n_lanes;
};

static int lane_of(struct slicing *s, uint32_t lane)
{
	int i = 0;

	while (i < s->n_lanes && s->lanes[i] != lane)
		i++;
	if (i == s->n_lanes && i < 63)
		s->lanes[s->n_lanes++] = lane;
	return i;
}

static void fill_slice(struct slicing *s, const struct align_item *item,
		       struct report_aligned_slice *to)
{
	size_t at = (size_t)(item - model_item(s->side, 0));
	int64_t row = s->row[s->match[at]];

	REPORT_SET(to, at_us, (double)(item->event->start_ns - s->from_ns) / 1e3);
	REPORT_SET(to, us, (double)item->event->duration_ns / 1e3);
	REPORT_SET(to, lane, lane_of(s, item->event->lane));
	REPORT_SET(to, name, side_name(s->side, item->event));
	REPORT_SET(to, match, s->match[at]);
	REPORT_SET_OR_NULL(to, row, row >= 0, row);
}

static struct report_aligned_slice_list slices_of(struct answering *s, bool of_b)
{
	const struct align_side *side = of_b ? s->b : s->a;
	size_t n = side->units.at[side->model].n, kept = n < MOST_SLICES ? n : MOST_SLICES;
	const struct align_item **items = calloc(n + 1, sizeof(const struct align_item *));
	int64_t *match = match_numbers(s, of_b), *row = row_numbers(s);
	struct report_aligned_slice *to = report_new_aligned_slice(kept, &s->draft->arena);
	struct slicing slicing = {
		.side = side, .match = match, .row = row, .from_ns = model_from(side)
	};
	bool ok = items && match && row && to;

	for (size_t i = 0; ok && i < n; i++)
		items[i] = model_item(side, i);
	if (ok && n > kept)
		qsort(items, n, sizeof(const struct align_item *), by_length);
	for (size_t i = 0; ok && i < kept; i++)
		fill_slice(&slicing, items[i], &to[i]);
	s->wording.failed |= !ok;
	free(items);
	free(match);
	free(row);
	return (struct report_aligned_slice_list){ to, ok ? kept : 0 };
}

/* ---- the answer ---- */

static struct report_aligned_change *fill_part(struct answering *s, enum row_part part)
{
	const struct unit_change *whole = &s->rows->part[part];
	struct report_aligned_change *to = align_change(&s->wording, whole);
	double rest = whole->delta;

	for (size_t i = 0; i < s->rows->list.len; i++)
		rest -= s->rows->list.at[i].change[part].delta;
	if (!to)
		return NULL;
	if (fabs(rest) < 1) /* what adding up rounds */
		rest = 0;
	REPORT_SET(to, rest_us, rest / 1e3);
	REPORT_SET(to, rest, align_signed(&s->wording, rest, NAN, NAN));
	return to;
}

/* What the rows that do not stand differ by, together. */
static void fill_noise(struct answering *s)
{
	double sum = 0;
	int64_t n = 0;

	for (size_t i = 0; i < s->n_listed; i++) {
		if (stands(&s->list[i]))
			continue;
		sum += time_of(&s->list[i])->delta;
		n++;
	}
	REPORT_SET(s->to, noise_rows, n);
	REPORT_SET(s->to, noise_us, sum / 1e3);
	REPORT_SET(s->to, noise, align_signed(&s->wording, sum, NAN, NAN));
}

static json_t *answer(struct answering *s)
{
	const struct align_rows *r = s->rows;
	struct report_alignment *to = s->to;

	if (!to || !list_rows(s))
		return NULL;
	REPORT_SET(to, a, fill_side(s, s->a));
	REPORT_SET(to, b, fill_side(s, s->b));
	REPORT_SET(to, leads,
		   r->wall.changed               ? "wall"
		   : r->part[ROW_DEVICE].changed ? "device"
						 : "none");
	REPORT_SET(to, wall, align_change(&s->wording, &r->wall));
	REPORT_SET(to, device, fill_part(s, ROW_DEVICE));
	REPORT_SET(to, idle, fill_part(s, ROW_IDLE));
	fill_rows(s);
	fill_noise(s);
	REPORT_SET(to, slices_a, slices_of(s, false));
	REPORT_SET(to, slices_b, slices_of(s, true));
	if (to->a && to->b && to->wall && to->device && to->idle && to->rows.at)
		align_say(to, &s->wording);
	return s->wording.failed ? NULL : report_write_alignment(to);
}

static bool read_side(struct align_side *s, const struct align_run *run, struct name_ids *names,
		      bool asks_host, struct err *err)
{
	return side_read(s, run, names, asks_host, err) && side_share(s, err) &&
	       side_find_units(s, err);
}

/* Two sides with what is made of them. */
struct pairing {
	struct align_side a, b;
	struct align_rows rows;
};

static bool pair(struct pairing *p, const struct answering *s, bool asks_host, struct err *err)
{
	return read_side(&p->a, s->run_a, s->names, asks_host, err) &&
	       read_side(&p->b, s->run_b, s->names, asks_host, err) &&
	       (rows_make(&p->a, &p->b, &p->rows) ||
		err_set(err, ERR_MEMORY, "out of memory for two timelines"));
}

static void pairing_finish(struct pairing *p)
{
	rows_finish(&p->rows);
	side_finish(&p->a);
	side_finish(&p->b);
}

/* The rows of ops of the host that changed, where a device ran beside it and ops are known. */
static void answer_host(struct answering *s)
{
	struct pairing p = { 0 };
	struct answering host = *s;
	struct report_aligned_row *rows = report_new_aligned_row(MOST_HOST_ROWS, &s->draft->arena);
	struct err err = { 0 }; /* without ops there are no rows */
	size_t n = 0;

	host.list = NULL;
	host.n_listed = 0;
	if (rows && !s->a->on_host && !s->b->on_host && pair(&p, s, true, &err)) {
		host.a = &p.a;
		host.b = &p.b;
		host.rows = &p.rows;
		s->wording.failed |= !list_rows(&host);
		for (size_t i = 0; i < host.n_listed && n < MOST_HOST_ROWS; i++)
			if (host.list[i].part == ROW_DEVICE &&
			    host.list[i].row->change[ROW_DEVICE].changed)
				fill_row(&host, &host.list[i], &rows[n++]);
		REPORT_SET(s->to, host, align_change(&s->wording, &p.rows.part[ROW_DEVICE]));
		s->wording.failed |= host.wording.failed;
	}
	REPORT_SET(s->to, host_rows, (struct report_aligned_row_list){ rows, n });
	free(host.list);
	pairing_finish(&p);
}

json_t *align_timelines(const struct align_run *a, const struct align_run *b, struct err *err)
{
	struct name_ids names = { 0 };
	struct pairing p = { 0 };
	struct report_draft draft = { 0 };
	struct answering s = { .a = &p.a,
			       .b = &p.b,
			       .rows = &p.rows,
			       .draft = &draft,
			       .run_a = a,
			       .run_b = b,
			       .names = &names };
	json_t *json = NULL;
	bool ok = pair(&p, &s, false, err);

	if (ok) {
		s.wording.arena = &draft.arena;
		s.to = report_new_alignment(1, &draft.arena);
		if (s.to)
			answer_host(&s);
		json = answer(&s);
	}
	if (ok && !json)
		err_set(err, ERR_MEMORY, "out of memory for two timelines");
	free(s.list);
	pairing_finish(&p);
	name_ids_finish(&names);
	report_draft_finish(&draft);
	return json;
}
