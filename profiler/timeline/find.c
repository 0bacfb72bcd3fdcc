/* profiler/timeline/find.c -- events looked for by their names, or by a launch's number. */
#include "profiler/timeline/find.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fusion/base/clock.h"

static bool text_has(const json_t *text, const char *part)
{
	const char *s = json_string_value(text);

	return s && strcasestr(s, part);
}

/* By its name, the symbol behind it, or one of the ops that it is made of. */
static bool name_has(const json_t *row, const char *part)
{
	const json_t *op;
	size_t i;

	if (text_has(json_object_get(row, "name"), part) ||
	    text_has(json_object_get(row, "symbol"), part))
		return true;
	json_array_foreach(json_object_get(row, "ops"), i, op)
	{
		if (text_has(op, part))
			return true;
	}
	return false;
}

/* Of which process a lane is, or of which file of a log. */
static json_int_t source_of(const json_t *lane)
{
	const json_t *pid = json_object_get(lane, "pid");

	return json_integer_value(json_is_integer(pid) ? pid : json_object_get(lane, "file"));
}

struct find *find_create(const struct timeline_query *q, const struct timeline_tables *tables,
			 int64_t begin_ns)
{
	struct find *f = calloc(1, sizeof(*f));
	const json_t *asker;

	if (!f)
		return NULL;
	f->query = q;
	f->begin_ns = begin_ns;
	f->n_names = json_array_size(tables->names);
	f->n_lanes = json_array_size(tables->lanes);
	f->names = calloc(f->n_names + 1, 1);
	f->lanes = calloc(f->n_lanes + 1, sizeof(*f->lanes));
	if (!f->names || !f->lanes) {
		find_destroy(f);
		return NULL;
	}
	for (size_t i = 0; q->find && i < f->n_names; i++)
		f->names[i] = name_has(json_array_get(tables->names, i), q->find);
	asker = json_array_get(tables->lanes, q->seek.lane < 0 ? 0 : (size_t)q->seek.lane);
	for (size_t i = 0; i < f->n_lanes; i++)
		f->lanes[i].joined = source_of(json_array_get(tables->lanes, i)) ==
				     source_of(asker);
	return f;
}

void find_destroy(struct find *f)
{
	if (!f)
		return;
	VEC_FREE(&f->joined);
	for (size_t i = 0; f->lanes && i < f->n_lanes; i++)
		overlap_finish(&f->lanes[i].busy);
	free(f->names);
	free(f->lanes);
	free(f);
}

static int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Where an event stands to the one that the query goes on from. */
static int compare(const struct find *f, const struct timeline_event *e,
		   const struct timeline_seek *at)
{
	int by = order(e->start_ns - f->begin_ns, at->at_ns);

	by = by ? by : order((int64_t)e->lane, at->lane);
	by = by ? by : order(at->duration_ns, e->duration_ns);
	return by ? by : order((int64_t)e->name, at->name);
}

static struct timeline_seek place_of(const struct find *f, const struct timeline_event *e)
{
	return (struct timeline_seek){ .at_ns = e->start_ns - f->begin_ns,
				       .lane = e->lane,
				       .duration_ns = e->duration_ns,
				       .name = e->name };
}

static void seek(struct find *f, const struct timeline_event *e)
{
	const struct timeline_seek *at = &f->query->seek;
	struct timeline_seek best = place_of(f, &f->next);
	int side = compare(f, e, at);

	f->before += at->back ? side < 0 : side <= 0;
	if (at->back ? side >= 0 : side <= 0)
		return;
	if (f->has_next && (compare(f, e, &best) < 0) == at->back)
		return;
	f->next = *e;
	f->has_next = true;
}

bool find_goes_on(struct find *f)
{
	const struct timeline_query *q = f->query;
	bool looks = q->find || q->seek.wanted;

	if (looks && q->find_until_ns && !f->cut)
		f->cut = clock_ns() >= q->find_until_ns;
	return !f->cut;
}

static void count(struct find *f, const struct timeline_event *e, int64_t from_ns, int64_t to_ns)
{
	struct find_lane *lane = &f->lanes[e->lane];

	f->sum_ns = timeline_add_ns(f->sum_ns, to_ns - from_ns);
	if (!overlap_add(&lane->busy, &f->room, from_ns, to_ns))
		lane->busy.at_least = true; /* out of memory */
	lane->events++;
	f->events++;
}

bool find_busy_ns(struct find *f, int64_t *ns, bool *at_least)
{
	*ns = 0;
	*at_least = f->cut;
	for (size_t i = 0; i < f->n_lanes; i++) {
		int64_t busy;

		if (!overlap_ns(&f->lanes[i].busy, &f->room, &busy))
			return false;
		*ns = timeline_add_ns(*ns, busy);
		*at_least = *at_least || f->lanes[i].busy.at_least;
	}
	return true;
}

bool find_event(struct find *f, const struct timeline_event *e, int64_t from_ns, int64_t to_ns)
{
	uint32_t joined = f->query->seek.correlation;

	if (f->cut)
		return false;
	f->looked++;
	if (e->kind == TIMELINE_COUNTER || e->kind == TIMELINE_FLOW)
		return false;
	if (joined && e->correlation == joined && f->lanes[e->lane].joined &&
	    f->joined.len < FIND_MOST_JOINED)
		VEC_PUSH(&f->joined, *e); /* out of memory: one arrow less */
	if (e->name >= f->n_names || !f->names[e->name])
		return false;
	count(f, e, from_ns, to_ns);
	seek(f, e);
	return true;
}
