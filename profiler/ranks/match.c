/* profiler/ranks/match.c -- the collectives of all ranks, matched: offsets, waits, differences. */
#include "profiler/ranks/match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/ranks/path.h"

enum { MOST_WAITS = 50 };

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

static struct rank_collective *of(const struct rank_match *m, size_t meet)
{
	const struct rank_meet *x = &m->meets.at[meet];

	return &m->rows[x->row].collectives[x->collective];
}

static struct rank_row *row_of(const struct rank_match *m, size_t meet)
{
	return &m->rows[m->meets.at[meet].row];
}

void rank_match_finish(struct rank_match *m)
{
	VEC_FREE(&m->meets);
	free(m->came);
}

/* Whether all ranks give and take as many elements. */
static bool is_even(const char *name)
{
	static const char *const even[] = { "allreduce",  "all_reduce", "allgather",
					    "all_gather", "_allgather", "broadcast",
					    "reduce",     "_reduce",    "barrier" };

	for (size_t i = 0; i < sizeof(even) / sizeof(even[0]); i++)
		if (strncasecmp(name, even[i], strlen(even[i])) == 0)
			return true;
	return false;
}

/* An order in which those that are the same stand together. */
static int compare_collectives(const struct rank_collective *a, const struct rank_collective *b)
{
	int order = strcmp(a->name, b->name);

	order = order ? order : strcmp(a->dtype, b->dtype);
	if (order || !is_even(a->name))
		return order;
	if (a->in != b->in)
		return a->in < b->in ? -1 : 1;
	return (a->out > b->out) - (a->out < b->out);
}

static bool same_collective(const struct rank_collective *a, const struct rank_collective *b)
{
	return compare_collectives(a, b) == 0;
}

/* ---- matching ---- */

static int by_place(const void *a, const void *b)
{
	const struct rank_meet *x = a, *y = b;
	int order = x->group == y->group ? 0 : strcmp(x->group, y->group);

	if (order)
		return order;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->again != y->again)
		return x->again - y->again;
	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->collective > y->collective) - (x->collective < y->collective);
}

static bool same_place(const struct rank_meet *x, const struct rank_meet *y)
{
	return strcmp(x->group, y->group) == 0 && x->index == y->index && x->again == y->again;
}

/* Numbers those of one rank, which are sorted by group, number and start. */
static void number_row(struct rank_meet *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct rank_meet *last = i ? &at[i - 1] : NULL;
		bool same = last && strcmp(last->group, at[i].group) == 0;

		if (at[i].index < 0) /* not said: after the one before */
			at[i].index = same ? last->index + 1 : 0;
		else if (same && last->index == at[i].index)
			at[i].again = last->again + 1;
	}
}

/* ---- traces that do not begin with the same collective ----
 *
 * Where no number is said, and one rank's trace has some more at its beginning, the n-th is not the
 * n-th of another.  The right distance is the one at which ends are all apart by as much.
 */

enum { MOST_SHIFT = 16, MOST_PAIRS = 512, FEWEST_PAIRS = 4, NOT_APART_NS = 20000 };

static int by_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Those of a group on one rank. */
struct rank_part {
	size_t first, n;
};

static struct rank_part part_of(const struct rank_match *m, size_t first, size_t end)
{
	struct rank_part p = { first, 1 };

	while (first + p.n < end &&
	       strcmp(m->meets.at[first + p.n].group, m->meets.at[first].group) == 0)
		p.n++;
	return p;
}

/* The interquartile range of what ends are apart, the i-th of `own` and the i+shift-th of `other`;
 * INT64_MAX where they are not the same collectives. */
static int64_t spread_at(const struct rank_match *m, struct rank_part own, struct rank_part other,
			 int shift)
{
	int64_t apart[MOST_PAIRS];
	size_t n = 0, pairs = 0;

	for (size_t i = 0; i < own.n && n < MOST_PAIRS; i++) {
		int64_t at = (int64_t)i + shift;
		const struct rank_collective *x, *y;

		if (at < 0 || at >= (int64_t)other.n)
			continue;
		x = of(m, own.first + i);
		y = of(m, other.first + (size_t)at);
		pairs++;
		if (same_collective(x, y))
			apart[n++] = x->end_ns - y->end_ns;
	}
	if (n < FEWEST_PAIRS || 2 * n < pairs)
		return INT64_MAX;
	qsort(apart, n, sizeof(*apart), by_ns);
	return apart[n - 1 - n / 4] - apart[n / 4];
}

/* By how many the numbers of a rank's part are too low; 0 unless that is much better. */
static int shift_of(const struct rank_match *m, struct rank_part own, struct rank_part other)
{
	int64_t least = spread_at(m, own, other, 0);
	int best = 0;

	if (least <= NOT_APART_NS)
		return 0;
	/* A step is like the one before: of those that are as good the nearest. */
	least /= 4;
	for (int far = 1; far <= MOST_SHIFT; far++)
		for (int shift = -far; shift <= far; shift += 2 * far) {
			int64_t spread = spread_at(m, own, other, shift);

			if (spread < least) {
				least = spread / 2;
				best = shift;
			}
		}
	return best;
}

/* The first part of each group, by the group's text. */
struct group_parts {
	struct rank_part *slots; /* n 0: free */
	size_t n_slots;          /* a power of two, over twice the groups there may be */
};

/* The slot of the group of a meet: free where it has none yet. */
static struct rank_part *part_slot(const struct rank_match *m, const struct group_parts *g,
				   const char *group)
{
	size_t at = hash_bytes(group, strlen(group), 0) & (g->n_slots - 1);

	while (g->slots[at].n && strcmp(m->meets.at[g->slots[at].first].group, group) != 0)
		at = (at + 1) & (g->n_slots - 1);
	return &g->slots[at];
}

/* Numbers of the row whose meets begin at `first`, by the first row that has the same group. */
static void shift_row(struct rank_match *m, struct group_parts *g, size_t first)
{
	struct rank_part own;

	for (size_t i = first; i < m->meets.len; i += own.n) {
		struct rank_part *other = part_slot(m, g, m->meets.at[i].group);
		int shift = 0;

		own = part_of(m, i, m->meets.len);
		if (!other->n)
			*other = own;
		else if (of(m, i)->seq < 0 && of(m, other->first)->seq < 0)
			shift = shift_of(m, own, *other) + (int)m->meets.at[other->first].index;
		for (size_t k = i; shift && k < i + own.n; k++)
			m->meets.at[k].index += shift;
	}
}

/* The least number of a group is 0 where none is said; the meets are in their order. */
static void number_from_0(struct rank_match *m)
{
	struct rank_part p;

	for (size_t i = 0; i < m->meets.len; i += p.n) {
		int64_t least = m->meets.at[i].index;

		p = part_of(m, i, m->meets.len);
		for (size_t k = i; least < 0 && k < i + p.n; k++)
			m->meets.at[k].index -= least;
	}
}

static bool add_row(struct rank_match *m, struct group_parts *g, uint32_t row)
{
	const struct rank_row *r = &m->rows[row];
	size_t first = m->meets.len;

	for (size_t i = 0; i < r->n; i++) {
		const struct rank_collective *c = &r->collectives[i];
		struct rank_meet meet = { c->group, c->seq, 0, row, (uint32_t)i };

		if (!c->pairwise && !VEC_PUSH(&m->meets, meet))
			return false;
	}
	if (m->meets.len > first) {
		qsort(m->meets.at + first, m->meets.len - first, sizeof(*m->meets.at), by_place);
		number_row(m->meets.at + first, m->meets.len - first);
	}
	shift_row(m, g, first);
	return true;
}

/* So many meet from `first` on. */
static size_t meeting(const struct rank_match *m, size_t first)
{
	size_t n = 1;

	while (first + n < m->meets.len && same_place(&m->meets.at[first], &m->meets.at[first + n]))
		n++;
	return n;
}

static bool add_rows(struct rank_match *m)
{
	struct group_parts g = { .n_slots = 2 };
	size_t all = 0;
	bool ok;

	for (size_t i = 0; i < m->n_rows; i++)
		all += m->rows[i].n;
	while (g.n_slots <= 2 * all)
		g.n_slots *= 2;
	g.slots = calloc(g.n_slots, sizeof(*g.slots));
	ok = g.slots != NULL;
	for (size_t i = 0; ok && i < m->n_rows; i++)
		ok = add_row(m, &g, (uint32_t)i);
	free(g.slots);
	return ok;
}

static bool match(struct rank_match *m)
{
	if (!add_rows(m))
		return false;
	if (m->meets.len)
		qsort(m->meets.at, m->meets.len, sizeof(*m->meets.at), by_place);
	number_from_0(m);
	for (size_t i = 0, n; i < m->meets.len; i += n) {
		n = meeting(m, i);
		for (size_t k = i; k < i + n; k++) {
			of(m, k)->meet = (uint32_t)i;
			of(m, k)->n_meet = n > 1 ? (uint32_t)n : 0;
		}
		m->matched += n > 1;
		m->unmatched += n == 1;
	}
	return true;
}

/* ---- what differs ---- */

static void say_ranks(const int64_t *ranks, int n, char *out, size_t bytes)
{
	size_t at = 0;
	int shown = n > 8 ? 6 : n;

	at += (size_t)snprintf(out, bytes, n == 1 ? "rank" : "ranks");
	for (int i = 0; i < shown && at + 24 < bytes; i++)
		at += (size_t)snprintf(out + at, bytes - at, "%s%lld",
				       i == 0       ? " "
				       : i == n - 1 ? " and "
						    : ", ",
				       (long long)ranks[i]);
	if (n > shown && at + 24 < bytes)
		snprintf(out + at, bytes - at, " and %d more", n - shown);
}

static struct report_integers ranks_in_draft(struct rank_match *m, const int64_t *ranks, int n)
{
	int64_t *at = ARENA_ARRAY(&m->draft->arena, int64_t, (size_t)n);

	if (at)
		memcpy(at, ranks, (size_t)n * sizeof(*at));
	return (struct report_integers){ at, at ? (size_t)n : 0 };
}

/* A copy, of UTF-8. */
static const char *draft_text(struct rank_match *m, const char *text)
{
	return rank_valid(&m->draft->arena, report_draft_text(m->draft, text));
}

struct report_divergence *divergence_add(struct rank_match *m, const struct divergence_of *of_it,
					 char who[DIVERGENCE_WHO])
{
	struct divergences *d = &m->divergences;
	struct report_divergence *row;

	if (!d->rows)
		d->rows = report_new_divergence(MOST_DIVERGENCES, &m->draft->arena);
	if (!d->rows || d->n == MOST_DIVERGENCES) {
		d->left_out++;
		return NULL;
	}
	row = &d->rows[d->n++];
	REPORT_SET(row, kind, of_it->kind);
	REPORT_SET(row, theirs, draft_text(m, of_it->theirs));
	REPORT_SET(row, most, draft_text(m, of_it->most));
	REPORT_SET(row, ranks, ranks_in_draft(m, of_it->ranks, of_it->n));
	say_ranks(of_it->ranks, of_it->n, who, DIVERGENCE_WHO);
	return row;
}

static void say_collective(const struct rank_collective *c, char *out, size_t bytes)
{
	size_t at = (size_t)snprintf(out, bytes, "%.80s", c->name);

	if (c->in >= 0 && at < bytes)
		at += (size_t)snprintf(out + at, bytes - at, " of %lld", (long long)c->in);
	if (c->in >= 0 && c->out >= 0 && c->out != c->in && at < bytes)
		at += (size_t)snprintf(out + at, bytes - at, " to %lld", (long long)c->out);
	if (c->dtype[0] && at < bytes)
		snprintf(out + at, bytes - at, " %.40s", c->dtype);
}

static int by_collective(const void *a, const void *b, void *match)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_collectives(of(match, x), of(match, y));

	return order ? order : (x > y) - (x < y);
}

/* Meets of one place that are the same collective, in the order of ranks. */
struct alike {
	const uint32_t *at;
	size_t n;
};

static int by_first(const void *a, const void *b)
{
	uint32_t x = ((const struct alike *)a)->at[0], y = ((const struct alike *)b)->at[0];

	return (x > y) - (x < y);
}

static void add_collective(struct rank_match *m, const struct alike *most,
			   const struct alike *other, int64_t *ranks)
{
	const struct rank_meet *at = &m->meets.at[other->at[0]];
	char theirs[256], common[256], who[DIVERGENCE_WHO], others[DIVERGENCE_WHO];
	struct report_divergence *row;

	for (size_t i = 0; i < most->n; i++)
		ranks[i] = row_of(m, most->at[i])->report->rank;
	say_ranks(ranks, (int)most->n, others, sizeof(others));
	for (size_t i = 0; i < other->n; i++)
		ranks[i] = row_of(m, other->at[i])->report->rank;
	say_collective(of(m, other->at[0]), theirs, sizeof(theirs));
	say_collective(of(m, most->at[0]), common, sizeof(common));
	row = divergence_add(
	    m, &(struct divergence_of){ "collective", theirs, common, ranks, (int)other->n }, who);
	if (!row)
		return;
	REPORT_SET(row, group, draft_text(m, at->group));
	REPORT_SET(row, index, at->index);
	REPORT_SET(
	    row, sentence,
	    rank_valid(&m->draft->arena,
		       arena_printf(&m->draft->arena,
				    "%s: %s as collective %lld of group %s, where %s: %s", who,
				    theirs, (long long)at->index, at->group, others, common)));
}

/* A row for each run of `alike` but the longest (the first of as many). */
static void add_runs(struct rank_match *m, struct alike *runs, size_t n, int64_t *ranks)
{
	const struct alike *most = &runs[0];

	qsort(runs, n, sizeof(*runs), by_first);
	for (size_t i = 1; i < n; i++)
		most = runs[i].n > most->n ? &runs[i] : most;
	for (size_t i = 0; i < n; i++)
		if (&runs[i] != most && m->divergences.n < MOST_DIVERGENCES)
			add_collective(m, most, &runs[i], ranks);
		else
			m->divergences.left_out += &runs[i] != most;
}

/* Whether one is the same as the first of those that meet, of which the file is whole. */
static bool same_as_whole(const struct rank_match *m, size_t first, size_t at)
{
	while (first < at && row_of(m, first)->is_torn)
		first++;
	return same_collective(of(m, first), of(m, at));
}

/* What differs at one place: a row for each that is not as most are. */
static bool differ_at(struct rank_match *m, size_t first, bool *differs)
{
	size_t all = of(m, first)->n_meet, n = 0, n_runs = 0;
	uint32_t *sorted;
	struct alike *runs;
	int64_t *ranks;

	*differs = false;
	for (size_t i = first; i < first + all && !*differs; i++)
		*differs = !row_of(m, i)->is_torn && !same_as_whole(m, first, i);
	if (!*differs)
		return true;
	sorted = malloc(all * sizeof(*sorted));
	runs = malloc(all * sizeof(*runs));
	ranks = malloc(all * sizeof(*ranks));
	for (size_t i = first; sorted && i < first + all; i++)
		if (!row_of(m, i)->is_torn)
			sorted[n++] = (uint32_t)i;
	if (sorted && runs && ranks) {
		qsort_r(sorted, n, sizeof(*sorted), by_collective, m);
		for (size_t i = 0; i < n; i++)
			if (i && same_collective(of(m, sorted[i - 1]), of(m, sorted[i])))
				runs[n_runs - 1].n++;
			else
				runs[n_runs++] = (struct alike){ &sorted[i], 1 };
		add_runs(m, runs, n_runs, ranks);
	}
	free(ranks);
	free(runs);
	free(sorted);
	return n_runs > 0;
}

/* Ends of a group: which of them a rank reaches last. */
static bool add_short(struct rank_match *m, const char *group, const int64_t *reached, int64_t most)
{
	int64_t *ranks = malloc((m->n_rows + 1) * sizeof(*ranks));
	int n = 0;
	int64_t at = -1;
	char theirs[100], common[100], who[DIVERGENCE_WHO];
	struct report_divergence *row;

	for (size_t i = 0; ranks && i < m->n_rows; i++)
		if (reached[i] >= 0 && reached[i] + m->rows[i].in_last_step < most &&
		    !m->rows[i].is_cut) {
			ranks[n++] = m->rows[i].report->rank;
			at = reached[i];
		}
	if (n == 0) {
		free(ranks);
		return ranks != NULL;
	}
	snprintf(theirs, sizeof(theirs), "the last is number %lld", (long long)at);
	snprintf(common, sizeof(common), "the last is number %lld", (long long)most);
	row = divergence_add(m, &(struct divergence_of){ "collectives", theirs, common, ranks, n },
			     who);
	if (row) {
		REPORT_SET(row, group, draft_text(m, group));
		REPORT_SET(row, index, at + 1);
		REPORT_SET(
		    row, sentence,
		    rank_valid(
			&m->draft->arena,
			arena_printf(&m->draft->arena,
				     "%s: of group %s the last collective is number %lld, of "
				     "others number %lld: the trace ends before, or the rank left "
				     "one out",
				     who, group, (long long)at, (long long)most)));
	}
	free(ranks);
	return true;
}

/* Those of one group, from `first` on; after the first difference the others follow from it. */
static bool differ_in(struct rank_match *m, size_t first, size_t end)
{
	int64_t *reached = malloc((m->n_rows + 1) * sizeof(*reached)), most = -1;
	bool ok = reached != NULL, differs = false;

	if (ok)
		memset(reached, 0xff, (m->n_rows + 1) * sizeof(*reached));
	for (size_t i = first, n; ok && i < end; i += n) {
		n = of(m, i)->n_meet ? of(m, i)->n_meet : 1;
		for (size_t k = i; k < i + n; k++)
			reached[m->meets.at[k].row] = m->meets.at[k].index;
		most = m->meets.at[i].index;
		if (!differs)
			ok = differ_at(m, i, &differs);
	}
	ok = ok && (differs || add_short(m, m->meets.at[first].group, reached, most));
	free(reached);
	return ok;
}

static bool differ(struct rank_match *m)
{
	bool ok = true;

	for (size_t i = 0, end; ok && i < m->meets.len; i = end) {
		for (end = i + 1; end < m->meets.len &&
				  strcmp(m->meets.at[end].group, m->meets.at[i].group) == 0;)
			end++;
		ok = m->n_rows < 2 || differ_in(m, i, end);
	}
	return ok;
}

/* ---- clocks ----
 *
 * All ranks leave a collective together, to some microseconds: what their ends are apart, in the
 * middle of all that two share, is what their clocks are.
 */

struct apart {
	uint32_t row;
	int64_t ns;
};

static int by_apart(const void *a, const void *b)
{
	const struct apart *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->ns > y->ns) - (x->ns < y->ns);
}

static void set_offset(struct rank_row *row, const struct apart *at, size_t n)
{
	row->has_offset = true;
	row->offset_ns = at[n / 2].ns;
	row->error_ns = (at[n - 1 - n / 4].ns - at[n / 4].ns) / 2;
	REPORT_SET(row->report, offset_us, us(row->offset_ns));
	REPORT_SET(row->report, offset_error_us, us(row->error_ns));
	REPORT_SET(row->report, offset_from, (int64_t)n);
}

/* Offsets of ranks that meet one whose offset is known; *any: there are such. */
static bool next_offsets(struct rank_match *m, bool *any)
{
	VEC(struct apart) list = { 0 };
	bool ok = true;

	for (size_t i = 0, n; ok && i < m->meets.len; i += n) {
		size_t known = SIZE_MAX;

		n = of(m, i)->n_meet ? of(m, i)->n_meet : 1;
		for (size_t k = i; k < i + n && known == SIZE_MAX; k++)
			known = row_of(m, k)->has_offset ? k : SIZE_MAX;
		for (size_t k = i; ok && known != SIZE_MAX && k < i + n; k++) {
			struct apart a = { m->meets.at[k].row, 0 };

			if (row_of(m, k)->has_offset || !same_collective(of(m, k), of(m, known)))
				continue;
			a.ns = of(m, k)->end_ns -
			       rank_aligned(row_of(m, known), of(m, known)->end_ns);
			ok = VEC_PUSH(&list, a);
		}
	}
	if (ok && list.len)
		qsort(list.at, list.len, sizeof(*list.at), by_apart);
	*any = list.len > 0;
	for (size_t i = 0, n; ok && i < list.len; i += n) {
		for (n = 1; i + n < list.len && list.at[i + n].row == list.at[i].row;)
			n++;
		set_offset(&m->rows[list.at[i].row], &list.at[i], n);
	}
	VEC_FREE(&list);
	return ok;
}

static bool align(struct rank_match *m)
{
	bool ok = true, any = true;

	for (size_t i = 0; i < m->n_rows; i++)
		REPORT_SET(m->rows[i].report, offset_from, 0);
	/* The first rank that meets any other is the clock. */
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct rank_row *row = &m->rows[i];
		size_t k = 0;

		while (k < row->n && row->collectives[k].n_meet == 0)
			k++;
		if (k == row->n)
			continue;
		set_offset(&m->rows[i], &(struct apart){ 0, 0 }, 1);
		REPORT_SET(row->report, offset_from, 0);
		break;
	}
	while (ok && any)
		ok = next_offsets(m, &any);
	return ok;
}

/* ---- who waits for whom ---- */

static uint32_t last_of(const struct rank_match *m, const struct rank_collective *c)
{
	uint32_t last = c->meet;

	for (uint32_t i = c->meet; i < c->meet + c->n_meet; i++)
		if (rank_aligned(row_of(m, i), of(m, i)->start_ns) >
		    rank_aligned(row_of(m, last), of(m, last)->start_ns))
			last = i;
	return last;
}

struct rank_meeting {
	size_t first, n;
	uint32_t last;
	int64_t last_ns, middle_ns, wait_ns; /* when the last and the middle one came */
	bool comparable;                     /* all run the same */
};

static int64_t came_ns(const struct rank_match *m, size_t meet)
{
	return rank_aligned(row_of(m, meet), of(m, meet)->start_ns);
}

static struct rank_meeting look_at(const struct rank_match *m, size_t first)
{
	struct rank_meeting x = { .first = first,
				  .n = of(m, first)->n_meet,
				  .last = last_of(m, of(m, first)),
				  .comparable = true };

	x.last_ns = came_ns(m, x.last);
	for (size_t i = 0; i < x.n; i++) {
		m->came[i] = came_ns(m, first + i);
		x.wait_ns = timeline_add(x.wait_ns, x.last_ns - m->came[i]);
		x.comparable = x.comparable && row_of(m, first + i)->has_offset &&
			       same_collective(of(m, first + i), of(m, first));
	}
	qsort(m->came, x.n, sizeof(*m->came), by_ns);
	x.middle_ns = m->came[(x.n - 1) / 2];
	return x;
}

/* Whether one holds the others up: by more than clocks may err, and nearer to the last than to the
 * middle one, for several may be late together. */
static bool is_late(const struct rank_match *m, const struct rank_meeting *x, size_t meet)
{
	int64_t late = came_ns(m, meet) - x->middle_ns;

	return late > RANK_LATE_NS + row_of(m, meet)->error_ns &&
	       late > (x->last_ns - x->middle_ns) / 2;
}

/* What a late rank did before, against what those did that were not. */
static void note_excess(const struct rank_match *m, size_t meet, const double others[PATH_KINDS])
{
	struct rank_row *row = row_of(m, meet);
	const struct path_segment *own = of(m, meet)->before;

	for (int k = 0; k < PATH_KINDS; k++)
		row->excess_ns[k] += (double)own->ns[k] - others[k];
	for (int i = 0; i < PATH_TOP && own->top[i].name; i++)
		path_top_add(row->late, RANK_TOP, own->top[i]);
}

static void note_late(const struct rank_match *m, const struct rank_meeting *x)
{
	double others[PATH_KINDS] = { 0 };
	int64_t late = 0, waits = 0;
	size_t end = x->first + x->n;

	for (size_t i = x->first; i < end; i++) {
		bool is = is_late(m, x, i);

		late += is;
		waits = timeline_add(waits, is ? 0 : x->last_ns - came_ns(m, i));
		for (int k = 0; k < PATH_KINDS && !is; k++)
			others[k] += (double)of(m, i)->before->ns[k];
	}
	for (int k = 0; k < PATH_KINDS; k++)
		others[k] /= (double)((int64_t)x->n - late);
	for (size_t i = x->first; i < end; i++) {
		struct rank_row *row = row_of(m, i);

		if (!is_late(m, x, i))
			continue;
		row->last_n++;
		row->late_ns = timeline_add(row->late_ns, came_ns(m, i) - x->middle_ns);
		row->caused_ns = timeline_add(row->caused_ns, waits / late);
		note_excess(m, i, others);
	}
}

static void note_waits(struct rank_match *m)
{
	for (size_t i = 0, n; i < m->meets.len; i += n) {
		struct rank_meeting x;

		n = of(m, i)->n_meet ? of(m, i)->n_meet : 1;
		if (n < 2)
			continue;
		x = look_at(m, i);
		for (size_t k = i; k < i + n; k++) {
			struct rank_row *row = row_of(m, k);

			row->met++;
			of(m, k)->last = x.last;
			if (x.comparable)
				row->wait_ns = timeline_add(row->wait_ns,
							    x.last_ns - came_ns(m, k));
		}
		if (!x.comparable)
			continue;
		m->wait_ns = timeline_add(m->wait_ns, x.wait_ns);
		note_late(m, &x);
	}
}

static void set_row(struct rank_row *row, struct report_draft *draft)
{
	struct report_rank *to = row->report;
	const struct path_top *name = NULL;
	int kind = 0;

	for (int k = 1; k < PATH_KINDS; k++)
		kind = row->excess_ns[k] > row->excess_ns[kind] ? k : kind;
	for (int i = 0; i < RANK_TOP && row->late[i].name && !name; i++)
		name = (int)row->late[i].kind == kind ? &row->late[i] : NULL;
	REPORT_SET(to, collectives, row->met);
	REPORT_SET(to, wait_us, us(row->wait_ns));
	REPORT_SET(to, last, row->last_n);
	REPORT_SET(to, late_us, us(row->late_ns));
	REPORT_SET(to, caused_us, us(row->caused_ns));
	REPORT_SET_OR_NULL(to, late_kind, row->last_n > 0, path_kind_name((enum path_kind)kind));
	REPORT_SET_OR_NULL(to, late_name, row->last_n > 0 && name,
			   rank_valid(&draft->arena, name ? name->name : NULL));
}

/* ---- the longest waits ---- */

static void set_wait(const struct rank_match *m, const struct rank_meeting *x,
		     struct report_collective_wait *out)
{
	const struct rank_meet *at = &m->meets.at[x->first];
	const struct rank_collective *c = of(m, x->first);

	REPORT_SET(out, name, rank_valid(&m->draft->arena, c->name));
	REPORT_SET(out, group, rank_valid(&m->draft->arena, at->group));
	REPORT_SET(out, index, at->index);
	REPORT_SET_OR_NULL(out, elements, c->in >= 0, c->in);
	REPORT_SET(out, at_us, us(x->last_ns - m->begin_ns));
	REPORT_SET(out, ranks, (int64_t)c->n_meet);
	REPORT_SET(out, wait_us, us(x->wait_ns));
	REPORT_SET(out, last, row_of(m, x->last)->report->rank);
	REPORT_SET(out, late_us, us(x->last_ns - x->middle_ns));
}

static struct report_collective_wait_list longest_waits(const struct rank_match *m)
{
	struct report_collective_wait *rows = report_new_collective_wait(MOST_WAITS,
									 &m->draft->arena);
	struct rank_meeting best[MOST_WAITS];
	size_t k = 0;

	for (size_t i = 0, n; rows && i < m->meets.len; i += n) {
		struct rank_meeting x;
		size_t at;

		n = of(m, i)->n_meet ? of(m, i)->n_meet : 1;
		if (n < 2)
			continue;
		x = look_at(m, i);
		if (!x.comparable || (k == MOST_WAITS && best[k - 1].wait_ns >= x.wait_ns))
			continue;
		at = k < MOST_WAITS ? k++ : k - 1;
		for (; at > 0 && best[at - 1].wait_ns < x.wait_ns; at--)
			best[at] = best[at - 1];
		best[at] = x;
	}
	for (size_t i = 0; i < k; i++)
		set_wait(m, &best[i], &rows[i]);
	return (struct report_collective_wait_list){ rows, k };
}

static int64_t begin_of_all(const struct rank_match *m)
{
	int64_t begin_ns = INT64_MAX;

	for (size_t i = 0; i < m->n_rows; i++) {
		int64_t own = rank_aligned(&m->rows[i], m->rows[i].begin_ns);

		begin_ns = own < begin_ns ? own : begin_ns;
	}
	return begin_ns;
}

bool rank_match(struct rank_match *m)
{
	if (!match(m) || !align(m) || !differ(m))
		return false;
	m->came = malloc((m->meets.len + 1) * sizeof(*m->came));
	if (!m->came)
		return false;
	m->begin_ns = begin_of_all(m);
	note_waits(m);
	for (size_t i = 0; i < m->n_rows; i++)
		set_row(&m->rows[i], m->draft);
	m->waits = longest_waits(m);
	return true;
}
