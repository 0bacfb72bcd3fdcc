/* profiler/timeline/coarser.c -- a whole timeline in fewer columns, out of the finest that are
 * kept.
 *
 * A column of the answer is what lies in it of the finest ones: the longest of the longest.  It is
 * what all events would give where its width divides the finest; else an event may be left out that
 * is hidden, in the finest column that an edge cuts, by a longer one on the other side.
 */
#include "profiler/timeline/answer.h"

#include <stdlib.h>

/* What is left of the finest. */
struct coarser {
	json_t *head;                  /* its own */
	struct answer_bucket *fine;    /* its own, as the following are */
	size_t n_fine, n_ids, n_rows;  /* n_ids: one more than the highest lane's number */
	int *rows;                     /* of each lane, for its events; -1: not asked for */
	struct answer_bucket *buckets; /* for each lane that is asked for: its events, its gaps */
	int64_t span_ns;
	int px;
};

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for a window of the timeline");
}

/* Which lanes have rows, and how many events these have; the head says so. */
static bool choose_lanes(struct coarser *c, const char *list, int64_t *events, struct err *err)
{
	json_t *lanes = json_object_get(c->head, "lanes"), *lane;
	size_t i;

	*events = 0;
	json_array_foreach(lanes, i, lane)
	{
		json_int_t id = json_integer_value(json_object_get(lane, "id"));

		if (id < 0 || id >= TIMELINE_MAX_LANES)
			return err_set(err, ERR_STORAGE, "a kept timeline has a lane %lld",
				       (long long)id);
		c->n_ids = (size_t)id >= c->n_ids ? (size_t)id + 1 : c->n_ids;
	}
	c->rows = malloc((c->n_ids + 1) * sizeof(*c->rows));
	if (!c->rows)
		return out_of_memory(err);
	for (i = 0; i < c->n_ids; i++)
		c->rows[i] = -1;
	json_array_foreach(lanes, i, lane)
	{
		size_t id = (size_t)json_integer_value(json_object_get(lane, "id"));
		bool has_rows = answer_lists_lane(list, id);

		json_object_set_new(lane, "has_rows", json_boolean(has_rows));
		if (!has_rows)
			continue;
		c->rows[id] = (int)c->n_rows++;
		*events += json_integer_value(json_object_get(lane, "events"));
	}
	return true;
}

static void add(struct coarser *c, const struct answer_bucket *fine)
{
	const struct timeline_event *e = &fine->event;
	int64_t from = e->start_ns < 0 ? 0 : e->start_ns > c->span_ns ? c->span_ns : e->start_ns;
	int row = e->lane < c->n_ids ? c->rows[e->lane] : -1;
	struct answer_bucket *b;
	uint32_t events;

	if (row < 0)
		return;
	b = &c->buckets[((size_t)row * 2 + (e->kind == TIMELINE_IDLE)) * (size_t)c->px +
			(size_t)answer_column(from, c->span_ns, c->px)];
	events = b->events + fine->events;
	if (answer_stands_for(b, e, false))
		b->event = *e;
	b->events = events;
}

static bool merge(struct coarser *c, struct buf *out, struct err *err)
{
	size_t n = 0, n_buckets = c->n_rows * 2 * (size_t)c->px;

	c->buckets = calloc(n_buckets + 1, sizeof(*c->buckets));
	if (!c->buckets)
		return out_of_memory(err);
	for (size_t i = 0; i < c->n_fine; i++)
		add(c, &c->fine[i]);
	for (size_t i = 0; i < n_buckets; i++)
		if (c->buckets[i].events)
			c->buckets[n++] = c->buckets[i];
	answer_sort(c->buckets, n);
	json_object_set_new(c->head, "px", json_integer(c->px));
	json_object_set_new(c->head, "rows", json_integer((json_int_t)n));
	return answer_write(json_incref(c->head), c->buckets, n, 0, out) || out_of_memory(err);
}

/* Rows that are events already: those of the lanes. */
static bool choose_events(struct coarser *c, struct buf *out, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_fine; i++)
		if (c->fine[i].event.lane < c->n_ids && c->rows[c->fine[i].event.lane] >= 0)
			c->fine[n++] = c->fine[i];
	json_object_set_new(c->head, "px", json_integer(c->px));
	json_object_set_new(c->head, "rows", json_integer((json_int_t)n));
	return answer_write(json_incref(c->head), c->fine, n, 0, out) || out_of_memory(err);
}

bool timeline_coarser(const struct buf *finest, const struct timeline_query *q, struct buf *out,
		      bool *fits, struct err *err)
{
	struct coarser c = { 0 };
	int64_t events, devices;
	bool sampled, ok;

	*fits = false;
	buf_clear(out);
	ok = answer_read(finest, &c.head, &c.fine, &c.n_fine, err) &&
	     choose_lanes(&c, q->lanes, &events, err);
	if (ok) {
		sampled = json_is_true(json_object_get(c.head, "sampled"));
		devices = json_integer_value(
		    json_object_get(json_object_get(c.head, "idle"), "devices"));
		c.span_ns = json_integer_value(json_object_get(c.head, "span_ns"));
		c.px = answer_px(q->px, c.n_rows + (size_t)devices, ANSWER_BUCKETS);
		*fits = !sampled || ((!q->lanes || events > ANSWER_MAX_ROWS) &&
				     c.px <= json_integer_value(json_object_get(c.head, "px")));
		ok = !*fits || (sampled ? merge(&c, out, err) : choose_events(&c, out, err));
	}
	json_decref(c.head);
	free(c.fine);
	free(c.rows);
	free(c.buckets);
	return ok;
}
