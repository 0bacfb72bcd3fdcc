/* profiler/ranks/ranks.c -- the traces and compile logs of the ranks of one job, together. */
#include "profiler/ranks/ranks.h"

#include <math.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/numbers/numbers.h"
#include "profiler/ranks/critical.h"
#include "profiler/ranks/figures.h"
#include "profiler/ranks/logs.h"
#include "profiler/ranks/order.h"
#include "profiler/ranks/match.h"
#include "profiler/ranks/path.h"

struct ranks {
	struct report_draft draft; /* of what is kept of each rank */
	struct rank_texts texts;
	struct rank_events events; /* of the file that is read */
	const char *file;
	int number;                              /* of it */
	int64_t peak_bytes, peak_reserved_bytes; /* -1: not said */
	VEC(struct rank_row) rows;
	VEC(int64_t) taken; /* numbers of ranks, sorted */
	int64_t next_rank;  /* below it all are taken */
	int64_t mix[RANK_MIXES];
	int64_t world_size, n_collectives, left_out;
	bool recorded;
};

struct ranks *ranks_create(struct err *err)
{
	struct ranks *r = calloc(1, sizeof(*r));

	if (!r)
		err_set(err, ERR_MEMORY, "out of memory for ranks");
	return r;
}

void ranks_destroy(struct ranks *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->rows.len; i++)
		free(r->rows.at[i].collectives);
	VEC_FREE(&r->rows);
	VEC_FREE(&r->taken);
	rank_events_finish(&r->events);
	rank_texts_finish(&r->texts);
	report_draft_finish(&r->draft);
	free(r);
}

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for the figures of a rank");
}

bool ranks_begin(struct ranks *r, const char *file, int number, struct err *err)
{
	rank_events_finish(&r->events);
	r->events = (struct rank_events){ 0 };
	r->peak_bytes = r->peak_reserved_bytes = -1;
	r->number = number;
	r->file = rank_valid(&r->draft.arena, report_draft_text(&r->draft, file));
	return r->file || no_memory(err);
}

bool ranks_event(struct ranks *r, const struct ranks_event *event, struct err *err)
{
	return rank_events_add(&r->events, event, &r->texts) || no_memory(err);
}

void ranks_memory(struct ranks *r, int64_t allocated_bytes, int64_t reserved_bytes)
{
	if (allocated_bytes > r->peak_bytes)
		r->peak_bytes = allocated_bytes;
	if (reserved_bytes > r->peak_reserved_bytes)
		r->peak_reserved_bytes = reserved_bytes;
}

/* ---- which rank a file is of ---- */

static int64_t number_in_name(const char *file)
{
	const char *name = strrchr(file, '/');

	name = name ? name + 1 : file;
	for (const char *at = name; (at = strcasestr(at, "rank")); at += 4) {
		const char *digits = at + 4 + (at[4] && strchr("-_. ", at[4]) ? 1 : 0);

		if (at > name && isalpha((unsigned char)at[-1]))
			continue;
		if (isdigit((unsigned char)*digits) && strspn(digits, "0123456789") < 7)
			return atoll(digits);
	}
	return -1;
}

int64_t ranks_number(const char *head, const char *file)
{
	static const char info[] = "\"distributedInfo\"", key[] = "\"rank\":";
	const char *at = head ? strstr(head, info) : NULL, *rank = at ? strstr(at, key) : NULL;
	const char *end = at ? strchr(at, '}') : NULL;
	long long said = -1;

	if (rank && (!end || rank < end))
		said = strtoll(rank + sizeof(key) - 1, NULL, 10);
	return said >= 0 && said <= INT32_MAX ? said : number_in_name(file);
}

/* How many of the ranks that are taken, which are sorted, lie below a number. */
static size_t ranks_below(const struct ranks *r, int64_t rank)
{
	size_t low = 0, high = r->taken.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->taken.at[middle] < rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_taken(const struct ranks *r, int64_t rank)
{
	size_t at = ranks_below(r, rank);

	return at < r->taken.len && r->taken.at[at] == rank;
}

static bool take_rank(struct ranks *r, int64_t rank)
{
	size_t at = ranks_below(r, rank);

	if (!VEC_PUSH(&r->taken, rank))
		return false;
	memmove(&r->taken.at[at + 1], &r->taken.at[at],
		(r->taken.len - 1 - at) * sizeof(*r->taken.at));
	r->taken.at[at] = rank;
	return true;
}

/* A rank's number, and what says it; one that another file has is numbered after all. */
static bool set_rank(struct ranks *r, const json_t *head, struct report_rank *out)
{
	const json_t *info = json_object_get(head, "distributedInfo");
	const json_t *said = json_object_get(info, "rank"),
		     *size = json_object_get(info, "world_size");
	int64_t rank = json_is_integer(said) ? json_integer_value(said) : -1;
	const char *from = "header", *host;

	if (rank < 0 || is_taken(r, rank)) {
		rank = number_in_name(r->file);
		from = "name";
	}
	if (rank < 0 || is_taken(r, rank)) {
		from = "order";
		while (is_taken(r, r->next_rank))
			r->next_rank++;
		rank = r->next_rank;
	}
	if (json_is_integer(size) && json_integer_value(size) > r->world_size)
		r->world_size = json_integer_value(size);
	host = json_string_value(json_object_get(head, "host_name"));
	REPORT_SET(out, rank, rank);
	REPORT_SET(out, rank_from, from);
	REPORT_SET_IF(out, host, host, report_draft_text(&r->draft, host));
	return take_rank(r, rank);
}

/* ---- the end of a file ---- */

static int by_start(const void *a, const void *b)
{
	const struct rank_collective *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Those past the bound of all are left out: the last. */
static bool keep_collectives(struct ranks *r, struct rank_row *row)
{
	struct rank_events *e = &r->events;
	size_t room = (size_t)(RANKS_MAX_COLLECTIVES - r->n_collectives);

	if (e->collectives.len)
		qsort(e->collectives.at, e->collectives.len, sizeof(*e->collectives.at), by_start);
	if (e->collectives.len > room) {
		r->left_out += (int64_t)(e->collectives.len - room);
		row->is_cut = true;
		e->collectives.len = room;
	}
	if (!rank_paths(e, &row->last, &r->recorded, &r->draft.arena))
		return false;
	row->n = e->collectives.len;
	r->n_collectives += (int64_t)row->n;
	/* What is left of the list is its own. */
	row->collectives = e->collectives.at;
	memset(&e->collectives, 0, sizeof(e->collectives));
	return true;
}

static bool analyse(struct ranks *r, const json_t *head, struct rank_row *row)
{
	struct report_rank *out = row->report;

	r->left_out += r->events.left_out;
	row->is_cut = row->is_cut || r->events.left_out > 0;
	row->in_last_step = r->events.in_last_step;
	if (!set_rank(r, head, out))
		return false;
	REPORT_SET(out, file, r->file);
	REPORT_SET(out, on_host, r->events.on_host);
	REPORT_SET(out, steps, r->events.steps);
	REPORT_SET(out, last_step_left_out, r->events.last_left_out);
	REPORT_SET_OR_NULL(out, peak_bytes, r->peak_bytes >= 0, r->peak_bytes);
	REPORT_SET_OR_NULL(out, peak_reserved_bytes, r->peak_reserved_bytes >= 0,
			   r->peak_reserved_bytes);
	return keep_collectives(r, row) && rank_figures(&r->events, out, r->mix, &r->draft);
}

bool ranks_end(struct ranks *r, const json_t *head, bool is_cut_off, struct err *err)
{
	struct rank_row row = { .file = r->number, .is_torn = is_cut_off, .is_cut = is_cut_off };
	bool ok = rank_events_end(&r->events);

	row.begin_ns = r->events.begin_ns;
	if (ok && row.begin_ns < INT64_MAX && r->rows.len < RANKS_MAX_RANKS) {
		row.report = report_new_rank(1, &r->draft.arena);
		ok = row.report && analyse(r, head, &row) && VEC_PUSH(&r->rows, row);
		if (!ok)
			free(row.collectives);
	}
	rank_events_finish(&r->events);
	r->events = (struct rank_events){ 0 };
	return ok || no_memory(err);
}

/* ---- all together ---- */

static int by_rank(const void *a, const void *b)
{
	const struct rank_row *x = a, *y = b;

	return (x->report->rank > y->report->rank) - (x->report->rank < y->report->rank);
}

static struct report_rank_list rank_rows(const struct ranks *r, struct report_draft *draft)
{
	struct report_rank *rows = report_new_rank(r->rows.len ? r->rows.len : 1, &draft->arena);

	for (size_t i = 0; rows && i < r->rows.len; i++)
		rows[i] = *r->rows.at[i].report;
	return (struct report_rank_list){ rows, rows ? r->rows.len : 0 };
}

enum { MOST_SENTENCES = 5 };

/* `like`: so many others are late half as much or more. */
static void say_late(const struct report_rank *r, int like, struct report_draft *draft,
		     const char **out)
{
	bool is_named = r->late_name && strcmp(r->late_name, r->late_kind) != 0;
	char caused[NUMBER_BYTES];

	char others[32] = "";

	if (like)
		snprintf(others, sizeof(others), ", like %d other%s,", like, like > 1 ? "s" : "");
	number_duration(caused, r->caused_us);
	*out = arena_printf(
	    &draft->arena,
	    "Rank %lld%s comes late to %lld of its %lld collectives; the others wait "
	    "%s for it, all together. What it spends more on is %s%s%.140s%s.",
	    (long long)r->rank, others, (long long)r->last, (long long)r->collectives, caused,
	    path_kind_label(r->late_kind), is_named ? ", most of it in " : "",
	    is_named ? r->late_name : "", is_named && strlen(r->late_name) > 140 ? "..." : "");
	*out = rank_valid(&draft->arena, *out);
}

static void say_path(const struct report_rank_path *path, struct report_draft *draft,
		     const char **out)
{
	const struct report_path_share *most = &path->shares.at[0];
	char length[NUMBER_BYTES], share[NUMBER_BYTES];

	for (size_t i = 1; i < path->shares.n; i++)
		if (path->shares.at[i].us > most->us)
			most = &path->shares.at[i];
	number_duration(length, path->total_us);
	number_print(share, 100 * most->share, 1);
	*out = arena_printf(&draft->arena,
			    "The critical path of %s runs through %lld %s: %s %% of it is %s.",
			    length, (long long)path->ranks, path->ranks == 1 ? "rank" : "ranks",
			    share, path_kind_label(most->kind));
}

/* Of all ranks how much of the collectives nothing hides. */
static void say_exposed(const struct ranks *r, struct report_draft *draft, const char **out)
{
	double communication = 0, exposed = 0, total = 0;
	char hidden[NUMBER_BYTES], share[NUMBER_BYTES];

	for (size_t i = 0; i < r->rows.len; i++) {
		communication += r->rows.at[i].report->communication_us;
		exposed += r->rows.at[i].report->exposed_us;
		total += r->rows.at[i].report->total_us;
	}
	if (!(communication > 0) || !(total > 0))
		return;
	number_print(hidden, 100 * (1 - exposed / communication), 1);
	number_print(share, 100 * exposed / total, 1);
	*out = arena_printf(&draft->arena,
			    "%s %% of the collectives' time is hidden by computation; in %s %% of "
			    "all time a collective runs and nothing computes.",
			    hidden, share);
}

/* Ranks of which too many compilations came: what they lack is no difference. */
static const char *cut_sentence(const struct rank_match *m)
{
	if (m->n_cut == 1)
		return arena_printf(&m->draft->arena,
				    "Compilations of rank %lld were left out, over what an import "
				    "keeps: what it lacks is not compared.",
				    (long long)m->first_cut);
	return arena_printf(&m->draft->arena,
			    "Compilations of %lld ranks, the first of them %lld, were left out, "
			    "over what an import keeps: what they lack is not compared.",
			    (long long)m->n_cut, (long long)m->first_cut);
}

static bool any_on_host(const struct ranks *r)
{
	for (size_t i = 0; i < r->rows.len; i++)
		if (r->rows.at[i].report->on_host)
			return true;
	return false;
}

static struct report_texts sentences(const struct ranks *r, const struct rank_match *m,
				     const struct report_rank_path *path)
{
	struct report_draft *draft = m->draft;
	const char *said[MOST_SENTENCES] = { NULL };
	const struct report_rank *late = NULL;
	int n = 0, like = 0;

	for (size_t i = 0; i < r->rows.len; i++) {
		const struct report_rank *x = r->rows.at[i].report;

		late = x->last > 0 && (!late || x->caused_us > late->caused_us) ? x : late;
	}
	for (size_t i = 0; late && i < r->rows.len; i++)
		like += r->rows.at[i].report->caused_us >= late->caused_us / 2;
	if (late)
		say_late(late, like - 1, draft, &said[n++]);
	if (path && path->shares.n)
		say_path(path, draft, &said[n++]);
	say_exposed(r, draft, &said[n]);
	n += said[n] != NULL;
	if (any_on_host(r))
		said[n++] = "Traces have no event of a device: outermost ops of the host are the "
			    "computation, and what gloo, MPI or UCC ran the collectives.";
	if (m->n_cut)
		said[n++] = cut_sentence(m);
	return report_draft_texts(draft, said, n);
}

/* How busy the devices were; NULL: none ran anything. */
static const char *say_busy(const struct ranks *r, struct report_draft *draft)
{
	const struct report_rank *one = NULL;
	double least = 1, most = 0;
	char low[NUMBER_BYTES], high[NUMBER_BYTES], length[NUMBER_BYTES];
	int n = 0;

	for (size_t i = 0; i < r->rows.len; i++) {
		const struct report_rank *x = r->rows.at[i].report;

		if (!x->kernels || !x->shares)
			continue;
		one = x;
		least = fmin(least, x->shares->busy);
		most = fmax(most, x->shares->busy);
		n++;
	}
	if (!n)
		return NULL;
	number_print(low, 100 * least, 0.1);
	number_print(high, 100 * most, 0.1);
	number_duration(length, one->total_us);
	if (any_on_host(r))
		return arena_printf(
		    &draft->arena,
		    "Hosts of %d rank%s ran ops and collectives %s%s%s %% of their time", n,
		    n > 1 ? "s" : "", low, strcmp(low, high) ? " to " : "",
		    strcmp(low, high) ? high : "");
	if (n == 1)
		return arena_printf(&draft->arena, "The device was busy %s %% of %s", high, length);
	return arena_printf(&draft->arena, "Devices of %d ranks were busy %s%s%s %% of their time",
			    n, low, strcmp(low, high) ? " to " : "", strcmp(low, high) ? high : "");
}

static void set_all(const struct ranks *r, struct rank_match *m, struct report_rank_order *order,
		    struct report_ranks *out)
{
	struct report_rank_path *path = rank_critical(m, r->recorded);
	const char *busy;

	REPORT_SET_OR_NULL(out, world_size, r->world_size > 0, r->world_size);
	busy = say_busy(r, m->draft);
	REPORT_SET_OR_NULL(out, busy, busy, busy);
	REPORT_SET(out, sentences, sentences(r, m, path));
	REPORT_SET(out, ranks, rank_rows(r, m->draft));
	REPORT_SET(out, mix, rank_mix_rows(r->mix, m->draft));
	REPORT_SET(out, collectives, m->matched);
	REPORT_SET(out, unmatched, m->unmatched);
	REPORT_SET(out, wait_us, (double)m->wait_ns / 1e3);
	REPORT_SET(out, waits, m->waits);
	REPORT_SET(out, divergences,
		   (struct report_divergence_list){ m->divergences.rows, m->divergences.n });
	REPORT_SET(out, estimates, m->estimates);
	REPORT_SET(out, calls, m->calls);
	REPORT_SET_OR_NULL(out, order, order, order);
	REPORT_SET_OR_NULL(out, path, path, path);
	REPORT_SET(out, left_out, r->left_out + m->divergences.left_out);
}

struct report_ranks *ranks_report(struct ranks *r, const json_t *compiles, const json_t *processes,
				  struct report_draft *draft)
{
	struct rank_match m = { .draft = draft };
	struct report_ranks *out = NULL;
	int logs;

	if (r->rows.len)
		qsort(r->rows.at, r->rows.len, sizeof(*r->rows.at), by_rank);
	m.rows = r->rows.at;
	m.n_rows = r->rows.len;
	logs = rank_match(&m) ? rank_logs(&m, compiles, processes) : -1;
	if (logs > 1 || (logs >= 0 && m.n_rows))
		out = report_new_ranks(1, &draft->arena);
	if (out)
		set_all(r, &m, rank_order(&m, compiles, processes), out);
	rank_match_finish(&m);
	return out;
}

bool ranks_clock_next(const struct ranks *r, size_t *at, struct ranks_clock *out)
{
	while (*at < r->rows.len && !r->rows.at[*at].has_offset)
		++*at;
	if (*at == r->rows.len)
		return false;
	*out = (struct ranks_clock){ .file = r->rows.at[*at].file,
				     .rank = r->rows.at[*at].report->rank,
				     .ahead_ns = r->rows.at[*at].offset_ns,
				     .error_ns = r->rows.at[*at].error_ns };
	++*at;
	return true;
}
