/* server/api/timeline_answer.c -- see timeline_answer.h. */
#include "server/api/timeline_answer.h"

#include <stdio.h>
#include <string.h>

#include "fusion/base/clock.h"

enum { LANES_CHARS = 128 };

/* Longer than a million events take, by far; a reader waits no longer. */
static const int64_t FIND_NS = 3 * 1000000000LL;

struct timeline_query timeline_whole(const char *mode)
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

static bool fill(struct db *db, int64_t id, struct timeline_view *v, struct err *err)
{
	int64_t t0, t1;

	return db_timeline_each(db, id, BLOCKS_ALL(TIMELINE_TABLES), give_tables, v, err) &&
	       timeline_view_range(v, &t0, &t1, err) &&
	       (db_timeline_each(db, id, (struct block_range){ TIMELINE_CHUNK, t0, t1 }, give_chunk,
				 v, err) ||
		!timeline_view_wants_more(v));
}

/* The name that the answer is kept under; false where it is not one of those. */
static bool name_lanes(const struct run *run, const struct timeline_query *q,
		       char name[LANES_CHARS])
{
	char n[24] = "";
	int len;

	if (run->status == RUN_QUEUED || run->status == RUN_RUNNING || q->find || q->t0_ns != 0 ||
	    q->t1_ns != -1 || q->px != TIMELINE_DEFAULT_PX)
		return false;
	if (q->has_n)
		snprintf(n, sizeof(n), " %lld", (long long)q->n);
	len = snprintf(name, LANES_CHARS, "%s%s", q->mode ? q->mode : "", n);
	return len >= 0 && len < LANES_CHARS;
}

static struct timeline_query find_in_time(const struct timeline_query *q)
{
	struct timeline_query in_time = *q;

	in_time.find_until_ns = clock_ns() + FIND_NS;
	return in_time;
}

bool timeline_answer(struct db *db, const struct run *run, const struct timeline_query *q,
		     struct buf *out, struct err *err)
{
	struct timeline_view *v;
	char lanes[LANES_CHARS];
	bool keeps = name_lanes(run, q, lanes), found = false, ok;
	struct timeline_query in_time = find_in_time(q);
	struct answer_key key = { run->id, lanes, TIMELINE_ANSWER_VERSION };
	struct err unkept = { 0 };

	if (keeps && !db_timeline_answer_get(db, &key, out, &found, err))
		return false;
	if (found)
		return true;
	v = timeline_view_create(&in_time, err);
	ok = v && fill(db, run->id, v, err) && timeline_view_columns(v, out, err);
	if (ok && keeps && timeline_view_is_sampled(v)) /* where it fails, the next one tries */
		db_timeline_answer_put(db, &key, out->data, out->len, &unkept);
	timeline_view_destroy(v);
	return ok;
}

json_t *timeline_found(struct db *db, const struct run *run, const struct timeline_query *q,
		       struct err *err)
{
	struct timeline_query in_time = find_in_time(q);
	struct timeline_view *v = timeline_view_create(&in_time, err);
	json_t *found = NULL;

	if (v && fill(db, run->id, v, err))
		found = timeline_view_found(v, err);
	timeline_view_destroy(v);
	return found;
}
