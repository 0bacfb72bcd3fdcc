/* profiler/ranks/critical.c -- the critical path of all ranks.
 *
 * Each rank knows what its collectives waited for, back to the one before (path.c).  The way goes
 * from the last moment of all back to a collective; from its end to where the last of its ranks
 * came it is the collective itself; and on, on that rank.
 */
#include "profiler/ranks/critical.h"

#include <stdlib.h>

#include "profiler/ranks/path.h"

enum { MOST_PARTS = 100, MOST_NAMES = 20, NAMES = 256 };

struct critical_part {
	const struct rank_row *row;
	int64_t from_ns, to_ns; /* on the first rank's clock */
	enum path_kind kind;
	const char *name, *collective;
};

struct critical {
	const struct rank_match *m;
	int64_t ns[PATH_KINDS];
	int64_t *by_row;
	struct path_top names[NAMES];
	VEC(struct critical_part) parts;
};

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

static enum path_kind longest(const struct path_segment *s)
{
	int kind = 0;

	for (int k = 1; k < PATH_KINDS; k++)
		kind = s->ns[k] > s->ns[kind] ? k : kind;
	return (enum path_kind)kind;
}

static bool add_segment(struct critical *c, const struct rank_row *row,
			const struct path_segment *s)
{
	struct critical_part part = {
		row, rank_aligned(row, s->from_ns), rank_aligned(row, s->to_ns), longest(s), NULL,
		NULL
	};

	for (int k = 0; k < PATH_KINDS; k++)
		c->ns[k] = timeline_add(c->ns[k], s->ns[k]);
	c->by_row[row - c->m->rows] += s->to_ns - s->from_ns;
	for (int i = 0; i < PATH_TOP && s->top[i].name; i++) {
		path_top_add(c->names, NAMES, s->top[i]);
		if (!part.name && s->top[i].kind == part.kind)
			part.name = s->top[i].name;
	}
	return part.to_ns <= part.from_ns || VEC_PUSH(&c->parts, part);
}

/* From where the last rank of it came (whose row is the answer) to its end on `row`. */
static const struct rank_row *add_collective(struct critical *c, const struct rank_row *row,
					     const struct rank_collective **at)
{
	const struct rank_collective *x = *at;
	int64_t end = rank_aligned(row, x->end_ns), from;
	struct critical_part part = { .row = row, .to_ns = end, .kind = PATH_COMMUNICATION };

	if (x->n_meet) {
		const struct rank_meet *last = &c->m->meets.at[x->last];

		row = &c->m->rows[last->row];
		*at = &row->collectives[last->collective];
	}
	from = rank_aligned(row, (*at)->start_ns);
	part.from_ns = from < end ? from : end;
	part.name = part.collective = x->name;
	c->ns[PATH_COMMUNICATION] = timeline_add(c->ns[PATH_COMMUNICATION], end - part.from_ns);
	c->by_row[part.row - c->m->rows] += end - part.from_ns;
	path_top_add(c->names, NAMES,
		     (struct path_top){ x->name, PATH_COMMUNICATION, end - part.from_ns });
	return VEC_PUSH(&c->parts, part) ? row : NULL;
}

static bool follow(struct critical *c, const struct rank_row *row)
{
	const struct path_segment *s = &row->last;
	size_t most = 1;

	for (size_t i = 0; i < c->m->n_rows; i++)
		most += c->m->rows[i].n;
	/* Clocks that are wrong could lead round; not further than all collectives. */
	while (row && most-- > 0) {
		const struct rank_collective *at;

		if (!add_segment(c, row, s))
			return false;
		if (s->after == PATH_BEGIN)
			return true;
		at = &row->collectives[s->after];
		row = add_collective(c, row, &at);
		s = at->before;
	}
	return row != NULL;
}

/* ---- as a report ---- */

static int by_length(const void *a, const void *b)
{
	const struct critical_part *x = a, *y = b;
	int64_t p = x->to_ns - x->from_ns, q = y->to_ns - y->from_ns;

	return (p < q) - (p > q);
}

static int by_from(const void *a, const void *b)
{
	const struct critical_part *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void set_parts(struct critical *c, struct report_rank_path *out)
{
	struct report_draft *draft = c->m->draft;
	size_t n = c->parts.len < MOST_PARTS ? c->parts.len : MOST_PARTS;
	struct report_path_part *rows = report_new_path_part(n ? n : 1, &draft->arena);

	if (c->parts.len)
		qsort(c->parts.at, c->parts.len, sizeof(*c->parts.at), by_length);
	if (n)
		qsort(c->parts.at, n, sizeof(*c->parts.at), by_from);
	for (size_t i = 0; rows && i < n; i++) {
		const struct critical_part *p = &c->parts.at[i];

		REPORT_SET(&rows[i], rank, p->row->report->rank);
		REPORT_SET(&rows[i], from_us, us(p->from_ns - c->m->begin_ns));
		REPORT_SET(&rows[i], us, us(p->to_ns - p->from_ns));
		REPORT_SET(&rows[i], kind, path_kind_name(p->kind));
		REPORT_SET_OR_NULL(&rows[i], name, p->name, rank_valid(&draft->arena, p->name));
		REPORT_SET_IF(&rows[i], collective, p->collective,
			      rank_valid(&draft->arena, p->collective));
	}
	REPORT_SET(out, parts, (struct report_path_part_list){ rows, rows ? n : 0 });
	REPORT_SET(out, more_parts, (int64_t)(c->parts.len - n));
}

static void set_shares(const struct critical *c, struct report_rank_path *out)
{
	struct report_draft *draft = c->m->draft;
	struct report_path_share *shares = report_new_path_share(PATH_KINDS, &draft->arena);
	struct report_path_rank *ranks = report_new_path_rank(c->m->n_rows, &draft->arena);
	int64_t total = 0, n = 0;

	for (size_t i = 0; i < c->m->n_rows; i++)
		n += c->by_row[i] > 0;
	REPORT_SET(out, ranks, n);
	for (int k = 0; k < PATH_KINDS; k++)
		total = timeline_add(total, c->ns[k]);
	REPORT_SET(out, total_us, us(total));
	for (int k = 0; shares && k < PATH_KINDS; k++) {
		REPORT_SET(&shares[k], kind, path_kind_name((enum path_kind)k));
		REPORT_SET(&shares[k], us, us(c->ns[k]));
		REPORT_SET(&shares[k], share,
			   total ? rank_rounded((double)c->ns[k] / (double)total) : 0);
	}
	for (size_t i = 0; ranks && i < c->m->n_rows; i++) {
		REPORT_SET(&ranks[i], rank, c->m->rows[i].report->rank);
		REPORT_SET(&ranks[i], us, us(c->by_row[i]));
	}
	REPORT_SET(out, shares, (struct report_path_share_list){ shares, shares ? PATH_KINDS : 0 });
	REPORT_SET(out, by_rank, (struct report_path_rank_list){ ranks, ranks ? c->m->n_rows : 0 });
}

static void set_names(const struct critical *c, struct report_rank_path *out)
{
	struct report_path_name *rows = report_new_path_name(MOST_NAMES, &c->m->draft->arena);
	size_t n = 0;

	for (; rows && n < MOST_NAMES && c->names[n].name; n++) {
		REPORT_SET(&rows[n], name, rank_valid(&c->m->draft->arena, c->names[n].name));
		REPORT_SET(&rows[n], kind, path_kind_name(c->names[n].kind));
		REPORT_SET(&rows[n], us, us(c->names[n].ns));
	}
	REPORT_SET(out, names, (struct report_path_name_list){ rows, n });
}

/* The rank whose last moment is the last of all; NULL: none has any. */
static const struct rank_row *last_row(const struct rank_match *m)
{
	const struct rank_row *last = NULL;

	for (size_t i = 0; i < m->n_rows; i++) {
		const struct rank_row *row = &m->rows[i];

		if (row->report->kernels > 0 && (!last || rank_aligned(row, row->last.to_ns) >
							      rank_aligned(last, last->last.to_ns)))
			last = row;
	}
	return last;
}

struct report_rank_path *rank_critical(const struct rank_match *m, bool recorded)
{
	const struct rank_row *last = last_row(m);
	struct critical *c = last ? calloc(1, sizeof(*c)) : NULL;
	struct report_rank_path *out = NULL;

	if (!c)
		return NULL;
	c->m = m;
	c->by_row = calloc(m->n_rows, sizeof(*c->by_row));
	if (c->by_row && follow(c, last))
		out = report_new_rank_path(1, &m->draft->arena);
	if (out) {
		set_shares(c, out);
		set_names(c, out);
		set_parts(c, out);
		REPORT_SET(out, waits_recorded, recorded);
	}
	VEC_FREE(&c->parts);
	free(c->by_row);
	free(c);
	return out;
}
