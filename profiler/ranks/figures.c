/* profiler/ranks/figures.c -- the figures of one rank, by HolisticTraceAnalysis' definitions.
 *
 * Spans of a kind are merged, then laid over each other: each moment between the first kernel's
 * start and the last one's end has the kinds that run then, none, one or several.  Gaps are those
 * between one event of a stream and the next by start, below zero where they overlap; a gap is the
 * host's where the call that launched the next began after the gap did.
 */
#include "profiler/ranks/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHORT_GAP_NS = 30000, /* "30", in microseconds as its times are */
	FULL_QUEUE = 1024,
	MOST_NAMES = 10, /* of a kind */
	QUEUE_PARTS = 100,
	MOST_STREAMS = 64,
};

static double us(int64_t ns)
{
	return (double)ns / 1e3;
}

struct rank_edge {
	int64_t at_ns;
	int step;
};
struct rank_edges {
	struct rank_edge *at;
	size_t n;
};

/* Where times meet what is longer afterwards comes first: a launch before the start. */
static int by_time(const void *a, const void *b)
{
	const struct rank_edge *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->step < y->step) - (x->step > y->step);
}

/* ---- what runs at once ---- */

/* Adds the merged spans of a kind, whose events are in order, as edges of +bit and -bit. */
static void add_merged(const struct rank_events *e, const uint32_t *at, size_t n, int kind,
		       struct rank_edges *edges)
{
	int bit = 1 << kind;
	int64_t from = 0, to = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		const struct rank_event *row = &e->rows.at[at[i]];

		if (row->kind != kind)
			continue;
		if (row->start_ns > to || to == INT64_MIN) {
			if (to != INT64_MIN) {
				edges->at[edges->n++] = (struct rank_edge){ from, bit };
				edges->at[edges->n++] = (struct rank_edge){ to, -bit };
			}
			from = row->start_ns;
			to = row->end_ns;
		}
		to = row->end_ns > to ? row->end_ns : to;
	}
	if (to != INT64_MIN) {
		edges->at[edges->n++] = (struct rank_edge){ from, bit };
		edges->at[edges->n++] = (struct rank_edge){ to, -bit };
	}
}

/* mix[0] is the time in which nothing runs.  The events are in order. */
static bool find_mix(const struct rank_events *e, const uint32_t *at, size_t n,
		     int64_t mix[RANK_MIXES])
{
	struct rank_edges edges = { malloc((2 * n + 1) * sizeof(*edges.at)), 0 };
	int running = 0;

	if (!edges.at)
		return false;
	for (int kind = 0; kind < RANK_KERNELS; kind++)
		add_merged(e, at, n, kind, &edges);
	if (edges.n)
		qsort(edges.at, edges.n, sizeof(*edges.at), by_time);
	for (size_t i = 0; i < edges.n; i++) {
		if (i > 0)
			mix[running] += edges.at[i].at_ns - edges.at[i - 1].at_ns;
		running += edges.at[i].step;
	}
	free(edges.at);
	return true;
}

static int64_t time_with(const int64_t mix[RANK_MIXES], int bits)
{
	int64_t ns = 0;

	for (int m = 1; m < RANK_MIXES; m++)
		ns = timeline_add(ns, (m & bits) == bits ? mix[m] : 0);
	return ns;
}

struct report_kernel_mix_list rank_mix_rows(const int64_t mix[RANK_MIXES],
					    struct report_draft *draft)
{
	struct report_kernel_mix *rows = report_new_kernel_mix(RANK_MIXES, &draft->arena);
	int64_t total = 0;
	size_t n = 0;

	for (int m = 0; m < RANK_MIXES; m++)
		total = timeline_add(total, mix[m]);
	for (int m = 1; rows && m < RANK_MIXES; m++) {
		const char *kinds[RANK_KERNELS];
		int k = 0;

		for (int kind = 0; kind < RANK_KERNELS; kind++)
			if (m & 1 << kind)
				kinds[k++] = rank_kernel_name((enum rank_kernel)kind);
		if (mix[m] == 0)
			continue;
		REPORT_SET(&rows[n], kinds, report_draft_texts(draft, kinds, k));
		REPORT_SET(&rows[n], us, us(mix[m]));
		REPORT_SET(&rows[n], share, rank_rounded((double)mix[m] / (double)total));
		n++;
	}
	return (struct report_kernel_mix_list){ rows, n };
}

/* What a device ran as parts of `total`. */
static struct report_rank_shares *shares_of(const int64_t mix[RANK_MIXES], int64_t total,
					    struct report_draft *draft)
{
	struct report_rank_shares *to = report_new_rank_shares(1, &draft->arena);
	int64_t computation = time_with(mix, 1 << RANK_COMPUTATION),
		communication = time_with(mix, 1 << RANK_COMMUNICATION),
		both = time_with(mix, 1 << RANK_COMPUTATION | 1 << RANK_COMMUNICATION);

	if (!to)
		return NULL;
#define SHARE(field, ns)                                                                           \
	REPORT_SET(to, field, total > 0 ? rank_rounded((double)(ns) / (double)total) : 0)
	SHARE(busy, total - mix[0]);
	SHARE(computation, computation);
	SHARE(communication, communication);
	SHARE(memory, time_with(mix, 1 << RANK_MEMORY));
	SHARE(exposed, communication - both);
	SHARE(idle, mix[0]);
	SHARE(computation_alone, computation - both);
	SHARE(both, both);
	SHARE(memory_alone, mix[1 << RANK_MEMORY]);
#undef SHARE
	return to;
}

static void set_times(const int64_t mix[RANK_MIXES], struct report_draft *draft,
		      struct report_rank *out)
{
	int64_t total = 0, busy, computation = time_with(mix, 1 << RANK_COMPUTATION),
		communication = time_with(mix, 1 << RANK_COMMUNICATION),
		overlap = time_with(mix, 1 << RANK_COMPUTATION | 1 << RANK_COMMUNICATION);

	for (int m = 0; m < RANK_MIXES; m++)
		total = timeline_add(total, mix[m]);
	busy = total - mix[0];
	REPORT_SET(out, total_us, us(total));
	REPORT_SET(out, computation_us, us(computation));
	REPORT_SET(out, communication_us, us(communication));
	REPORT_SET(out, memory_us, us(time_with(mix, 1 << RANK_MEMORY)));
	REPORT_SET(out, overlap_us, us(overlap));
	REPORT_SET_OR_NULL(out, overlap, communication > 0,
			   rank_rounded((double)overlap / (double)communication));
	REPORT_SET(out, exposed_us, us(communication - overlap));
	REPORT_SET(out, non_compute_us, us(busy - computation));
	REPORT_SET(out, idle_us, us(mix[0]));
	REPORT_SET(out, shares, shares_of(mix, total, draft));
}

/* ---- names ---- */

struct kernel_tally {
	const char *name;
	int kind;
	int64_t count, sum, min, max;
	double squares;
};

static void tally_add(struct kernel_tally *t, const struct kernel_tally *more)
{
	t->min = t->count == 0 || more->min < t->min ? more->min : t->min;
	t->max = t->count == 0 || more->max > t->max ? more->max : t->max;
	t->count += more->count;
	t->sum = timeline_add(t->sum, more->sum);
	t->squares += more->squares;
}

static int by_name(const void *a, const void *b, void *rows)
{
	const struct rank_event *x = &((const struct rank_event *)rows)[*(const uint32_t *)a],
				*y = &((const struct rank_event *)rows)[*(const uint32_t *)b];

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static int by_sum(const void *a, const void *b)
{
	const struct kernel_tally *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind - y->kind;
	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void set_tally(const struct kernel_tally *t, struct report_rank_kernel *out,
		      struct report_draft *draft)
{
	double mean = (double)t->sum / (double)t->count;
	double of = t->squares - (double)t->count * mean * mean;

	REPORT_SET(out, name, rank_valid(&draft->arena, t->name));
	REPORT_SET(out, kind, rank_kernel_name((enum rank_kernel)t->kind));
	REPORT_SET(out, count, t->count);
	REPORT_SET(out, sum_us, us(t->sum));
	REPORT_SET(out, min_us, us(t->min));
	REPORT_SET(out, max_us, us(t->max));
	REPORT_SET(out, stddev_us,
		   t->count > 1 && of > 0 ? rank_rounded(sqrt(of / (double)(t->count - 1)) / 1e3)
					  : 0);
}

/* The longest of each kind, and the others as one; `all` is sorted here. */
static struct report_rank_kernel_list top_rows(struct kernel_tally *all, size_t n,
					       struct report_draft *draft)
{
	size_t most = (size_t)RANK_KERNELS * (MOST_NAMES + 1), k = 0;
	struct report_rank_kernel *rows = report_new_rank_kernel(most, &draft->arena);

	if (n)
		qsort(all, n, sizeof(*all), by_sum);
	for (size_t i = 0; rows && i < n;) {
		struct kernel_tally others = { .name = "others", .kind = all[i].kind };
		int named = 0;

		for (; i < n && all[i].kind == others.kind; i++) {
			if (named++ < MOST_NAMES)
				set_tally(&all[i], &rows[k++], draft);
			else
				tally_add(&others, &all[i]);
		}
		if (others.count)
			set_tally(&others, &rows[k++], draft);
	}
	return (struct report_rank_kernel_list){ rows, k };
}

static bool set_names(const struct rank_events *e, const uint32_t *sorted, size_t n,
		      struct report_rank *out, struct report_draft *draft)
{
	uint32_t *at = malloc((n + 1) * sizeof(*at));
	VEC(struct kernel_tally) all = { 0 };
	bool ok = at != NULL;

	if (ok && n) {
		memcpy(at, sorted, n * sizeof(*at));
		qsort_r(at, n, sizeof(*at), by_name, e->rows.at);
	}
	for (size_t i = 0; ok && i < n; i++) {
		const struct rank_event *row = &e->rows.at[at[i]];
		int64_t ns = row->end_ns - row->start_ns;
		struct kernel_tally one = {
			row->name, row->kind, 1, ns, ns, ns, (double)ns * (double)ns
		};
		struct kernel_tally *last = all.len ? &all.at[all.len - 1] : NULL;

		if (last && last->name == row->name && last->kind == row->kind)
			tally_add(last, &one);
		else
			ok = VEC_PUSH(&all, one);
	}
	if (ok)
		REPORT_SET(out, top, top_rows(all.at, all.len, draft));
	VEC_FREE(&all);
	free(at);
	return ok;
}

/* ---- streams ---- */

struct of_stream {
	const struct rank_events *e;
	const struct rank_launches *launches;
	const uint32_t *at; /* its events by start */
	size_t n;
	int64_t from_ns, to_ns; /* of the rank */
};

struct gaps {
	int64_t busy, host, kernel, other;
};

static struct gaps find_gaps(const struct of_stream *s)
{
	struct gaps g = { 0 };
	int64_t reached = INT64_MIN;

	for (size_t i = 0; i < s->n; i++) {
		const struct rank_event *row = &s->e->rows.at[s->at[i]];
		uint32_t launch = rank_launch_of(s->launches, row->correlation);
		int64_t from = row->start_ns > reached ? row->start_ns : reached, before, gap;

		g.busy += row->end_ns > from ? row->end_ns - from : 0;
		reached = row->end_ns > reached ? row->end_ns : reached;
		if (i == 0)
			continue;
		before = s->e->rows.at[s->at[i - 1]].end_ns;
		gap = row->start_ns - before;
		if (launch != UINT32_MAX && s->e->rows.at[launch].start_ns > before)
			g.host = timeline_add(g.host, gap);
		else if (gap < SHORT_GAP_NS)
			g.kernel = timeline_add(g.kernel, gap);
		else
			g.other = timeline_add(g.other, gap);
	}
	return g;
}

static void set_gaps(const struct gaps *g, struct report_rank_stream *out)
{
	REPORT_SET(out, busy_us, us(g->busy));
	REPORT_SET(out, host_wait_us, us(g->host));
	REPORT_SET(out, kernel_wait_us, us(g->kernel));
	REPORT_SET(out, other_wait_us, us(g->other));
}

/* Launches that are there and made the queue longer, and the starts of what they launched. */
static struct rank_edges queue_edges(const struct of_stream *s)
{
	struct rank_edges q = { malloc((2 * s->n + 1) * sizeof(*q.at)), 0 };

	for (size_t i = 0; q.at && i < s->n; i++) {
		const struct rank_event *row = &s->e->rows.at[s->at[i]];
		uint32_t launch = rank_launch_of(s->launches, row->correlation);

		if (launch == UINT32_MAX || s->e->rows.at[launch].call != CALL_ENQUEUE)
			continue;
		q.at[q.n++] = (struct rank_edge){ s->e->rows.at[launch].start_ns, 1 };
		q.at[q.n++] = (struct rank_edge){ row->start_ns, -1 };
	}
	if (q.at && q.n)
		qsort(q.at, q.n, sizeof(*q.at), by_time);
	return q;
}

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* The least and the most of each part of the rank's time. */
static struct report_intervals queue_parts(const struct of_stream *s, const struct rank_edges *q,
					   struct report_draft *draft)
{
	struct report_interval *parts = ARENA_ARRAY(&draft->arena, struct report_interval,
						    QUEUE_PARTS);
	double width = (double)(s->to_ns - s->from_ns) / QUEUE_PARTS;
	size_t k = 0;
	int length = 0;

	for (int i = 0; parts && i < QUEUE_PARTS; i++) {
		int64_t to = s->from_ns + (int64_t)(width * (i + 1));

		for (; i == 0 && k < q->n && q->at[k].at_ns < s->from_ns; k++)
			length += q->at[k].step;
		parts[i] = (struct report_interval){ length, length };
		for (; k < q->n && q->at[k].at_ns <= to; k++) {
			length += q->at[k].step;
			parts[i].low = length < parts[i].low ? length : parts[i].low;
			parts[i].high = length > parts[i].high ? length : parts[i].high;
		}
	}
	return (struct report_intervals){ parts, parts ? QUEUE_PARTS : 0 };
}

static bool set_queue(const struct of_stream *s, struct report_rank_stream *out,
		      struct report_draft *draft)
{
	struct rank_edges q = queue_edges(s);
	int *lengths = malloc((q.n + 1) * sizeof(*lengths)), length = 0;
	bool ok = q.at && lengths;
	int64_t full = 0;
	double sum = 0;

	for (size_t i = 0; ok && i < q.n; i++) {
		full += i > 0 && length >= FULL_QUEUE ? q.at[i].at_ns - q.at[i - 1].at_ns : 0;
		length += q.at[i].step;
		lengths[i] = length;
		sum += length;
	}
	if (ok) {
		REPORT_SET(out, queue, queue_parts(s, &q, draft));
		qsort(lengths, q.n, sizeof(*lengths), by_value);
		REPORT_SET(out, queue_mean, q.n ? rank_rounded(sum / (double)q.n) : 0);
		REPORT_SET(out, queue_median,
			   q.n ? (lengths[(q.n - 1) / 2] + lengths[q.n / 2]) / 2.0 : 0);
		REPORT_SET(out, queue_max, q.n ? lengths[q.n - 1] : 0);
		REPORT_SET(out, full_us, us(full));
	}
	free(q.at);
	free(lengths);
	return ok;
}

static int by_lane(const void *a, const void *b, void *rows)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct rank_event *of = rows;

	if (of[x].lane != of[y].lane)
		return of[x].lane < of[y].lane ? -1 : 1;
	if (of[x].start_ns != of[y].start_ns)
		return of[x].start_ns < of[y].start_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static void set_sums(const struct gaps *all, struct report_rank *out)
{
	REPORT_SET(out, host_wait_us, us(all->host));
	REPORT_SET(out, kernel_wait_us, us(all->kernel));
	REPORT_SET(out, other_wait_us, us(all->other));
}

/* `at`: all events of the device, which are sorted by stream here. */
static bool set_streams(struct of_stream s, uint32_t *at, size_t n, struct report_rank *out,
			struct report_draft *draft)
{
	struct report_rank_stream *rows = report_new_rank_stream(MOST_STREAMS, &draft->arena);
	struct gaps all = { 0 };
	size_t k = 0;
	bool ok = rows != NULL;

	if (n)
		qsort_r(at, n, sizeof(*at), by_lane, s.e->rows.at);
	for (size_t i = 0; ok && i < n; i += s.n) {
		const struct rank_lane *lane = &s.e->lanes.at[s.e->rows.at[at[i]].lane];
		struct gaps g;

		s.at = at + i;
		for (s.n = 0;
		     i + s.n < n && s.e->rows.at[s.at[s.n]].lane == s.e->rows.at[at[i]].lane;)
			s.n++;
		g = find_gaps(&s);
		all.host = timeline_add(all.host, g.host);
		all.kernel = timeline_add(all.kernel, g.kernel);
		all.other = timeline_add(all.other, g.other);
		if (k == MOST_STREAMS)
			continue;
		REPORT_SET(&rows[k], device, lane->device);
		REPORT_SET(&rows[k], stream, lane->stream);
		REPORT_SET(&rows[k], kernels, (int64_t)s.n);
		set_gaps(&g, &rows[k]);
		ok = set_queue(&s, &rows[k++], draft);
	}
	set_sums(&all, out);
	REPORT_SET(out, streams, (struct report_rank_stream_list){ rows, k });
	return ok;
}

/* ---- launches ---- */

enum { LONG_LAUNCH_NS = 50000, LATE_START_NS = 100000 };

static void set_launches(const struct rank_events *e, const struct rank_launches *launches,
			 struct report_rank *out)
{
	int64_t n = 0, shorter = 0, longer = 0, late = 0;

	for (size_t i = 0; i < e->rows.len; i++) {
		const struct rank_event *row = &e->rows.at[i], *call;
		uint32_t at = row->kind < RANK_KERNELS ? rank_launch_of(launches, row->correlation)
						       : UINT32_MAX;

		if (at == UINT32_MAX || e->rows.at[at].call != CALL_ENQUEUE)
			continue;
		call = &e->rows.at[at];
		n++;
		shorter += row->end_ns - row->start_ns < call->end_ns - call->start_ns;
		longer += call->end_ns - call->start_ns > LONG_LAUNCH_NS;
		late += row->start_ns - call->end_ns > LATE_START_NS;
	}
	REPORT_SET(out, launches, n);
	REPORT_SET(out, short_kernels, shorter);
	REPORT_SET(out, long_launches, longer);
	REPORT_SET(out, late_starts, late);
}

/* ---- copies ---- */

/* "Memcpy HtoD" of "Memcpy HtoD (Pageable -> Device)", "Memset". */
static const char *copy_kind(const char *name, struct report_draft *draft)
{
	size_t len = strncmp(name, "Memcpy", 6) == 0 ? strcspn(name, "(") : strcspn(name, " (");

	while (len && name[len - 1] == ' ')
		len--;
	return rank_valid(&draft->arena, arena_strndup(&draft->arena, name, len));
}

static void set_copies(const struct rank_events *e, struct report_rank *out,
		       struct report_draft *draft)
{
	enum { MOST = 16 };
	struct report_rank_copy *rows = report_new_rank_copy(MOST, &draft->arena);
	size_t n = 0;

	for (size_t i = 0; rows && i < e->copied.len; i++) {
		const struct rank_event *row = &e->rows.at[e->copied.at[i].event];
		const char *name = row->name;
		size_t k = 0, len;

		for (; k < n; k++) {
			len = strlen(rows[k].name);
			if (strncmp(rows[k].name, name, len) == 0 && strchr(" (", name[len]))
				break;
		}
		if (k == MOST)
			continue;
		if (k == n) {
			REPORT_SET(&rows[n], name, copy_kind(name, draft));
			REPORT_SET(&rows[n], count, 0);
			REPORT_SET(&rows[n], bytes, 0);
			REPORT_SET(&rows[n], us, 0);
			if (!rows[n++].name)
				break;
		}
		rows[k].count++;
		rows[k].bytes = timeline_add(rows[k].bytes, e->copied.at[i].bytes);
		rows[k].us += us(row->end_ns - row->start_ns);
	}
	for (size_t k = 0; k < n; k++)
		REPORT_SET_OR_NULL(&rows[k], gb_per_s, rows[k].us > 0,
				   rank_rounded((double)rows[k].bytes / rows[k].us / 1e3));
	REPORT_SET(out, copies, (struct report_rank_copy_list){ rows, n });
}

bool rank_figures(const struct rank_events *e, struct report_rank *out, int64_t mix[RANK_MIXES],
		  struct report_draft *draft)
{
	int64_t own[RANK_MIXES] = { 0 };
	struct rank_launches launches = { 0 };
	size_t n;
	uint32_t *at = rank_events_sorted(e, RANK_KERNELS, &n);
	struct of_stream s = { .e = e, .launches = &launches };
	bool ok = at && rank_launches_init(&launches, e) && find_mix(e, at, n, own) &&
		  set_names(e, at, n, out, draft);

	if (ok) {
		int64_t total = 0;

		for (int m = 0; m < RANK_MIXES; m++) {
			mix[m] = timeline_add(mix[m], own[m]);
			total = timeline_add(total, own[m]);
		}
		s.from_ns = n ? e->rows.at[at[0]].start_ns : 0;
		s.to_ns = s.from_ns + total;
		set_times(own, draft, out);
		REPORT_SET(out, kernels, (int64_t)n);
		REPORT_SET(out, mix, rank_mix_rows(own, draft));
		set_copies(e, out, draft);
		set_launches(e, &launches, out);
		ok = set_streams(s, at, n, out, draft);
	}
	rank_launches_finish(&launches);
	free(at);
	return ok;
}
