/* server/api/timelines.c -- a timeline of the store, whole, as it is aligned with another. */
#include "server/api/timelines.h"

static bool give_block(void *self, const struct timeline_row *row, struct err *err)
{
	return timeline_events_block(self, row->data, row->len, err);
}

bool loaded_timeline_of_run(struct loaded_timeline *t, struct db *db, int64_t id, struct err *err)
{
	struct arena arena = { 0 };
	struct run_row run;
	bool ok = db_run_get(db, id, &arena, &run, err);

	if (ok && (run.status == RUN_QUEUED || run.status == RUN_RUNNING))
		ok = err_set(err, ERR_CONFLICT,
			     "run %lld is %s; its timeline can be aligned once it has ended",
			     (long long)id, run_status_name(run.status));
	ok = ok &&
	     db_timeline_each(db, id, BLOCKS_ALL(TIMELINE_TABLES), give_block, &t->events, err) &&
	     db_timeline_each(db, id, BLOCKS_ALL(TIMELINE_CHUNK), give_block, &t->events, err);
	if (ok && !t->events.list.len)
		ok = err_set(err, ERR_CONFLICT,
			     "run %lld has no timeline: it was not recorded, or nothing ran",
			     (long long)id);
	if (ok)
		t->head = json_pack("{s:I, s:s}", "id", (json_int_t)id, "name", run.name);
	arena_finish(&arena);
	return ok && (t->head || err_set(err, ERR_MEMORY, "out of memory for a timeline"));
}

json_t *loaded_timelines_align(const struct loaded_timeline t[2],
			       const struct timelines_asked *asked, struct err *err)
{
	struct align_run runs[2];

	for (int i = 0; i < 2; i++)
		runs[i] = (struct align_run){ .head = t[i].head,
					      .events = &t[i].events,
					      .mode = asked->mode[i],
					      .has_n = asked->has_n[i],
					      .n = asked->n[i] };
	return align_timelines(&runs[0], &runs[1], err);
}

void loaded_timeline_finish(struct loaded_timeline *t)
{
	timeline_events_finish(&t->events);
	json_decref(t->head);
	*t = (struct loaded_timeline){ 0 };
}
