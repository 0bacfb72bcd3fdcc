/* server/api/api_timeline.c -- /api/v1/runs/{id}/timeline: a window of a run's timeline out of the
 * store, and what is found in it. */
#define HANDLER_timeline(name) name
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/fusion.h"
#include "server/api/routes.h"
#include "server/text/text.h"

/* ---- out of the store ---- */

enum {
	LANES_CHARS = 128,
	LANES_LIST_CHARS = 4000,
	TIMELINE_DEFAULT_PX = 1600,
	TIMELINE_MOST_PX = 8192
};

/* Longer than a million events take, by far; a reader waits no longer. */
static const int64_t FIND_NS = 3 * 1000000000LL;

/* What a page asks for first: all lanes of `mode` (NULL: of all), from the first event to the last.
 */
static struct timeline_query timeline_whole(const char *mode)
{
	return (struct timeline_query){ .mode = mode, .t1_ns = -1, .px = TIMELINE_DEFAULT_PX };
}

static bool give_tables(void *self, const struct timeline_row *row, struct err *err)
{
	return timeline_view_tables(self, row->data, row->len, err);
}

/* False without a reason where a search has taken its time: nothing more is read. */
static bool give_chunk(void *self, const struct timeline_row *row, struct err *err)
{
	return timeline_view_wants_more(self) &&
	       timeline_view_chunk(self, row->data, row->len, err);
}

static bool fill_tables(struct db *db, int64_t id, struct timeline_view *v, struct err *err)
{
	return db_timeline_each(db, id, BLOCKS_ALL(TIMELINE_TABLES), give_tables, v, err);
}

static bool fill_events(struct db *db, int64_t id, struct timeline_view *v, struct err *err)
{
	int64_t t0, t1;

	return timeline_view_range(v, &t0, &t1, err) &&
	       (db_timeline_each(db, id, (struct block_range){ TIMELINE_CHUNK, t0, t1 }, give_chunk,
				 v, err) ||
		!timeline_view_wants_more(v));
}

static bool fill(struct db *db, int64_t id, struct timeline_view *v, struct err *err)
{
	return fill_tables(db, id, v, err) && fill_events(db, id, v, err);
}

/* ---- what is kept of a whole timeline: reading all events takes longer than a page may ----
 *
 * Of each mode, point and clock the finest answer, of which all coarser ones are made; and what a
 * page asks for first as it is.
 */

enum { FEW_CHUNKS = 1 }; /* are read as quickly as what is kept */

/* What the answers about the lanes of `q` are kept under, `what` being which one; false where it is
 * too long. */
static bool name_lanes(const struct timeline_query *q, const char *what, char name[LANES_CHARS])
{
	char n[24] = "";
	int len;

	if (q->has_n)
		snprintf(n, sizeof(n), " %lld", (long long)q->n);
	len = snprintf(name, LANES_CHARS, "%s%s%s%s", q->mode ? q->mode : "", n, what,
		       q->as_recorded ? " recorded" : "");
	return len >= 0 && len < LANES_CHARS;
}

static bool run_ended(const struct run_row *run)
{
	return run->status != RUN_QUEUED && run->status != RUN_RUNNING;
}

/* Whether it is what a page asks for first. */
static bool asks_first(const struct timeline_query *q)
{
	return !q->find && !q->lanes && !q->as_recorded && q->t0_ns == 0 && q->t1_ns == -1 &&
	       q->px == TIMELINE_DEFAULT_PX;
}

static struct timeline_query find_in_time(const struct timeline_query *q)
{
	struct timeline_query in_time = *q;

	in_time.find_until_ns = clock_ns() + FIND_NS;
	return in_time;
}

/* The finest answer about the lanes of `q`, made and kept where it is not yet. */
static bool finest_answer(struct db *db, const struct run_row *run, const struct timeline_query *q,
			  struct buf *out, struct err *err)
{
	struct timeline_query finest = { .mode = q->mode,
					 .has_n = q->has_n,
					 .n = q->n,
					 .t1_ns = -1,
					 .as_recorded = q->as_recorded,
					 .finest = true };
	char lanes[LANES_CHARS];
	bool named = name_lanes(q, " finest", lanes), found = false, ok;
	struct answer_key key = { run->id, lanes, TIMELINE_ANSWER_VERSION };
	struct err unkept = { 0 }; /* where it fails, the next one tries */
	struct timeline_view *v;

	if (named && !db_timeline_answer_get(db, &key, out, &found, err))
		return false;
	if (found)
		return true;
	v = timeline_view_create(&finest, err);
	ok = v && fill(db, run->id, v, err) && timeline_view_columns(v, out, err);
	if (ok && named)
		db_timeline_answer_put(db, &key, out->data, out->len, &unkept);
	timeline_view_destroy(v);
	return ok;
}

/* Whether the answer is to be made of what is kept, for it is about all of a long timeline.  `v`
 * has the tables. */
static bool is_of_kept(struct db *db, const struct run_row *run, struct timeline_view *v, bool *of,
		       struct err *err)
{
	int64_t chunks;

	*of = run_ended(run);
	if (!*of)
		return true;
	if (!timeline_view_is_whole(v, of, err) ||
	    !db_timeline_count(db, run->id, TIMELINE_CHUNK, &chunks, err))
		return false;
	*of = *of && chunks > FEW_CHUNKS;
	return true;
}

/* The answer to `q` out of the finest; *fits: whether that can be. */
static bool answer_of_kept(struct db *db, const struct run_row *run, const struct timeline_query *q,
			   struct buf *out, bool *fits, struct err *err)
{
	struct buf finest = { 0 };
	bool ok = finest_answer(db, run, q, &finest, err) &&
		  timeline_coarser(&finest, q, out, fits, err);

	buf_finish(&finest);
	return ok;
}

/* *out becomes the answer of timeline_view_columns(). */
static bool timeline_answer(struct db *db, const struct run_row *run,
			    const struct timeline_query *q, struct buf *out, struct err *err)
{
	struct timeline_query in_time = find_in_time(q);
	struct timeline_view *v;
	char lanes[LANES_CHARS];
	bool keeps = run_ended(run) && asks_first(q) && name_lanes(q, "", lanes);
	bool found = false, of_kept = false, ok;
	struct answer_key key = { run->id, lanes, TIMELINE_ANSWER_VERSION };
	struct err unkept = { 0 }; /* where it fails, the next one tries */

	if (keeps && !db_timeline_answer_get(db, &key, out, &found, err))
		return false;
	if (found)
		return true;
	v = timeline_view_create(&in_time, err);
	ok = v && fill_tables(db, run->id, v, err) && is_of_kept(db, run, v, &of_kept, err);
	if (ok && of_kept && !q->find)
		ok = answer_of_kept(db, run, q, out, &found, err);
	if (ok && !found)
		ok = fill_events(db, run->id, v, err) && timeline_view_columns(v, out, err);
	if (ok && keeps && (found || timeline_view_is_sampled(v)))
		db_timeline_answer_put(db, &key, out->data, out->len, &unkept);
	timeline_view_destroy(v);
	return ok;
}

/* What of it `q` looks for: timeline_view_found().  NULL where it fails; the caller owns it. */
static json_t *timeline_found(struct db *db, const struct run_row *run,
			      const struct timeline_query *q, struct err *err)
{
	struct timeline_query in_time = find_in_time(q);
	struct timeline_view *v = timeline_view_create(&in_time, err);
	json_t *found = NULL;

	if (v && fill(db, run->id, v, err))
		found = timeline_view_found(v, err);
	timeline_view_destroy(v);
	return found;
}

/* Whether times on the lanes' own clocks are others. */
static bool has_clocks(struct db *db, int64_t id, const struct timeline_query *whole,
		       struct err *err)
{
	struct timeline_view *v = timeline_view_create(whole, err);
	bool has = v && fill_tables(db, id, v, err) && timeline_view_has_clocks(v);

	timeline_view_destroy(v);
	return has;
}

void timeline_look_ahead(struct db *db, int64_t id)
{
	struct timeline_query whole = timeline_whole(NULL);
	struct arena arena = { 0 };
	struct buf answer = { 0 };
	struct err err = { 0 }; /* that look will tell */
	struct run_row run;

	if (db_run_get(db, id, &arena, &run, &err) &&
	    timeline_answer(db, &run, &whole, &answer, &err) && has_clocks(db, id, &whole, &err)) {
		whole.as_recorded = true;
		timeline_answer(db, &run, &whole, &answer, &err);
	}
	buf_finish(&answer);
	arena_finish(&arena);
}

/* ---- routes ---- */

/* A mode's own name, or none at all. */
static bool read_mode(struct req *req, const char **mode, struct err *err)
{
	enum fusion_mode known;
	char names[128] = "";

	*mode = req_query(req, "mode");
	if (*mode && !**mode)
		*mode = NULL;
	if (!*mode || fusion_mode_from_name(*mode, &known))
		return true;
	for (int i = 0; i < FUSION_MODE_COUNT; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", fusion_mode_name((enum fusion_mode)i));
	return err_set(err, ERR_BAD_REQUEST, "mode=%.40s: one of %s is needed", *mode, names);
}

/* One of the words of a list, "a b c"; its number. */
static bool read_word(struct req *req, const char *key, const char *words, int *at, struct err *err)
{
	const char *given = req_query(req, key);
	size_t len = given ? strlen(given) : 0;

	*at = 0;
	if (!len)
		return true;
	for (const char *w = words; *w; w += strcspn(w, " "), w += *w == ' ', ++*at)
		if (strcspn(w, " ") == len && strncmp(w, given, len) == 0)
			return true;
	return err_set(err, ERR_BAD_REQUEST, "%s=%.40s: one of %s is needed", key, given, words);
}

/* The lanes, and what is looked for in their names. */
static bool read_lanes(struct req *req, struct timeline_query *q, struct err *err)
{
	int clocks;

	if (!read_mode(req, &q->mode, err) ||
	    !read_word(req, "clocks", "aligned recorded", &clocks, err))
		return false;
	q->as_recorded = clocks == 1;
	q->has_n = req_query(req, "n") != NULL;
	q->find = req_query(req, "q");
	if (q->find && !*q->find)
		q->find = NULL;
	if (q->find && strlen(q->find) > TIMELINE_FIND_CHARS)
		return err_set(err, ERR_BAD_REQUEST, "q= has %zu bytes; at most %d are looked for",
			       strlen(q->find), TIMELINE_FIND_CHARS);
	return req_query_int(req, "n", (struct req_range){ INT64_MIN / 2, INT64_MAX / 2, 0 }, &q->n,
			     err);
}

/* Which lanes rows are of: numbers with commas between them. */
static bool read_rows_of(struct req *req, struct timeline_query *q, struct err *err)
{
	const char *list = req_query(req, "lanes");

	q->lanes = list && *list ? list : NULL;
	if (!q->lanes)
		return true;
	return (strlen(list) <= LANES_LIST_CHARS && strspn(list, "0123456789,") == strlen(list)) ||
	       err_set(
		   err, ERR_BAD_REQUEST,
		   "lanes=%.40s: numbers of lanes with commas between them, at most %d characters, "
		   "are needed",
		   list, LANES_LIST_CHARS);
}

/* The part of the time, ns since the first event. */
static bool read_span(struct req *req, struct timeline_query *q, struct err *err)
{
	if (!req_query_int(req, "t0", (struct req_range){ 0, TIMELINE_MAX_NS, 0 }, &q->t0_ns,
			   err) ||
	    !req_query_int(req, "t1", (struct req_range){ 0, TIMELINE_MAX_NS, -1 }, &q->t1_ns, err))
		return false;
	return (q->t1_ns < 0 || q->t0_ns <= q->t1_ns) ||
	       err_set(err, ERR_BAD_REQUEST, "t0=%lld is after t1=%lld", (long long)q->t0_ns,
		       (long long)q->t1_ns);
}

/* What is asked for, from the address. */
static bool read_window(struct req *req, struct timeline_query *q, struct err *err)
{
	int64_t px;

	if (!read_lanes(req, q, err) || !read_rows_of(req, q, err) || !read_span(req, q, err) ||
	    !req_query_int(req, "px",
			   (struct req_range){ 1, TIMELINE_MOST_PX, TIMELINE_DEFAULT_PX }, &px,
			   err))
		return false;
	q->px = (int)px;
	return true;
}

/* From where to look: an event that was found before, or a time. */
static bool read_seek(struct req *req, struct timeline_query *q, struct err *err)
{
	struct timeline_seek *s = &q->seek;
	int64_t back, correlation;

	*q = timeline_whole(NULL);
	if (!read_lanes(req, q, err) || !read_span(req, q, err) ||
	    !req_query_int(req, "at", (struct req_range){ 0, TIMELINE_MAX_NS, 0 }, &s->at_ns,
			   err) ||
	    !req_query_int(req, "lane", (struct req_range){ -1, TIMELINE_MAX_LANES - 1, -1 },
			   &s->lane, err) ||
	    !req_query_int(req, "duration", (struct req_range){ 0, TIMELINE_MAX_NS, 0 },
			   &s->duration_ns, err) ||
	    !req_query_int(req, "name", (struct req_range){ 0, TIMELINE_MAX_NAMES, 0 }, &s->name,
			   err) ||
	    !req_query_int(req, "correlation", (struct req_range){ 0, UINT32_MAX, 0 }, &correlation,
			   err) ||
	    !req_query_int(req, "back", (struct req_range){ 0, 1, 0 }, &back, err))
		return false;
	s->wanted = true;
	s->back = back != 0;
	s->correlation = (uint32_t)correlation;
	return q->find || correlation ||
	       err_set(err, ERR_BAD_REQUEST,
		       "say what to look for: q=, a part of a name, or correlation=, of a launch");
}

static bool api_run_timeline(struct req *req, struct reply *reply, struct err *err)
{
	struct timeline_query q = { 0 };
	struct buf out = { 0 };
	struct run_row run;
	int64_t id;
	bool ok;

	ok = req_id(req, 0, &id, err) && db_run_get(req->app->db, id, req->arena, &run, err) &&
	     read_window(req, &q, err) && timeline_answer(req->app->db, &run, &q, &out, err);
	reply->text_len = out.len;
	reply->text = ok ? buf_steal(&out) : NULL;
	buf_finish(&out);
	reply->content_type = "application/octet-stream";
	return ok;
}

/* ---- what a window's events sum up to ---- */

enum { GROUPS_DEFAULT = 100, GROUPS_MOST = 10000 };

static bool group_tables(void *self, const struct timeline_row *row, struct err *err)
{
	return timeline_groups_tables(self, row->data, row->len, err);
}

static bool group_chunk(void *self, const struct timeline_row *row, struct err *err)
{
	return timeline_groups_chunk(self, row->data, row->len, err);
}

static bool read_grouping(struct req *req, struct timeline_grouping *how, bool *csv,
			  struct err *err)
{
	int by, order, format;
	int64_t limit;

	if (!read_word(req, "by", "name op line kernel", &by, err) ||
	    !read_word(req, "sort", "sum count mean max", &order, err) ||
	    !read_word(req, "format", "json csv", &format, err) ||
	    !req_query_int(req, "limit", (struct req_range){ 1, GROUPS_MOST, GROUPS_DEFAULT },
			   &limit, err))
		return false;
	*csv = format == 1;
	*how = (struct timeline_grouping){ .by = (enum timeline_by)by,
					   .order = (enum timeline_order)order,
					   .limit = (int)limit };
	return true;
}

static json_t *groups_of(struct db *db, int64_t id, const struct timeline_query *q,
			 const struct timeline_grouping *how, struct err *err)
{
	struct timeline_groups *g = timeline_groups_create(q, how, err);
	json_t *json = NULL;
	int64_t t0, t1;

	if (g && db_timeline_each(db, id, BLOCKS_ALL(TIMELINE_TABLES), group_tables, g, err) &&
	    timeline_groups_range(g, &t0, &t1, err) &&
	    db_timeline_each(db, id, (struct block_range){ TIMELINE_CHUNK, t0, t1 }, group_chunk, g,
			     err))
		json = timeline_groups_json(g, err);
	timeline_groups_destroy(g);
	return json;
}

/* The rows as a table. */
static bool groups_csv(const json_t *groups, struct buf *out)
{
	static const char *const keys[] = { "text",    "as",     "count", "sum_ns",
					    "mean_ns", "max_ns", "share" };
	json_t *row, *cells = json_array();
	size_t i;

	for (size_t k = 0; k < 7; k++)
		json_array_append_new(cells, json_string(keys[k]));
	csv_row(out, cells);
	json_array_foreach(json_object_get(groups, "rows"), i, row) {
		json_array_clear(cells);
		for (size_t k = 0; k < 7; k++)
			json_array_append(cells, json_object_get(row, keys[k]));
		csv_row(out, cells);
	}
	json_decref(cells);
	return !out->failed;
}

static bool api_run_timeline_groups(struct req *req, struct reply *reply, struct err *err)
{
	struct timeline_query q = timeline_whole(NULL);
	struct timeline_grouping how;
	struct buf out = { 0 };
	struct run_row run;
	bool csv, ok;
	json_t *groups;
	int64_t id;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err) ||
	    !read_lanes(req, &q, err) || !read_span(req, &q, err) ||
	    !read_grouping(req, &how, &csv, err))
		return false;
	how.find = q.find;
	q.find = NULL;
	groups = groups_of(req->app->db, id, &q, &how, err);
	if (!csv) {
		reply->json = groups;
		return groups != NULL;
	}
	ok = groups && (groups_csv(groups, &out) || err_set(err, ERR_MEMORY, "out of memory"));
	json_decref(groups);
	reply->text_len = out.len;
	reply->text = ok ? buf_steal(&out) : NULL;
	buf_finish(&out);
	reply->content_type = "text/csv; charset=utf-8";
	reply->filename = arena_printf(req->arena, "breakeven-run-%lld-groups.csv", (long long)id);
	return ok;
}

static bool stack_tables(void *self, const struct timeline_row *row, struct err *err)
{
	return timeline_stack_tables(self, row->data, row->len, err);
}

static bool stack_chunk(void *self, const struct timeline_row *row, struct err *err)
{
	return timeline_stack_chunk(self, row->data, row->len, err);
}

static bool api_run_timeline_stack(struct req *req, struct reply *reply, struct err *err)
{
	struct timeline_query q = timeline_whole(NULL);
	struct timeline_stack *s = NULL;
	struct db *db = req->app->db;
	struct run_row run;
	int64_t id, t0, t1;
	bool ok;

	ok = req_id(req, 0, &id, err) && db_run_get(db, id, req->arena, &run, err) &&
	     read_lanes(req, &q, err) &&
	     req_query_int(req, "at", (struct req_range){ 0, TIMELINE_MAX_NS, 0 }, &q.seek.at_ns,
			   err) &&
	     req_query_int(req, "lane", (struct req_range){ 0, TIMELINE_MAX_LANES - 1, 0 },
			   &q.seek.lane, err) &&
	     (s = timeline_stack_create(&q, err)) != NULL &&
	     db_timeline_each(db, id, BLOCKS_ALL(TIMELINE_TABLES), stack_tables, s, err);
	while (ok && timeline_stack_next(s, &t0, &t1, err))
		ok = db_timeline_each(db, id, (struct block_range){ TIMELINE_CHUNK, t0, t1 },
				      stack_chunk, s, err);
	if (ok && err->code == ERR_NONE)
		reply->json = timeline_stack_json(s, err);
	timeline_stack_destroy(s);
	return reply->json != NULL;
}

static bool api_run_timeline_find(struct req *req, struct reply *reply, struct err *err)
{
	struct timeline_query q;
	struct run_row run;
	int64_t id;

	if (!req_id(req, 0, &id, err) || !db_run_get(req->app->db, id, req->arena, &run, err) ||
	    !read_seek(req, &q, err))
		return false;
	reply->json = timeline_found(req->app->db, &run, &q, err);
	return reply->json != NULL;
}

handler_fn *const timeline_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
