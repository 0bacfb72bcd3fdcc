/* server/queue/job.c -- takes in what the worker of a run sends, and stores how the run ended. */
#include "server/queue/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/log.h"
#include "fusion/base/refused.h"
#include "profiler/timeline/timeline.h"

/* A timeline of one run: what is past this is left out, whole blocks. */
enum { TIMELINE_BYTES = 64 << 20 };
enum {
	MOST_POINTS = 64, /* of a sweep: bounds.def */
	LOOK_AT = 20,     /* groups of runs at once */
};

void job_begin(struct job *j, int64_t run)
{
	j->failure = (struct err){ 0 };
	j->stopped = false;
	pthread_mutex_lock(j->lock);
	j->run = run;
	j->cancel = false;
	j->state = (struct job_state){ .left_s = -1, .what = "starting a worker" };
	json_decref(j->points);
	j->points = NULL;
	pthread_mutex_unlock(j->lock);
}

/* ---- what comes ---- */

static void read_progress(struct job *j, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	struct arena arena = { 0 };
	const struct report_progress *p = json ? report_read_progress(json, &arena, NULL) : NULL;

	if (p) {
		pthread_mutex_lock(j->lock);
		j->state = job_state_of(p);
		j->state.n_points = (int)json_array_size(j->points);
		pthread_mutex_unlock(j->lock);
		events_publish(j->events, j->run);
	}
	json_decref(json);
	arena_finish(&arena);
}

/* A point that is measured: shown while others are not. */
static void read_point(struct job *j, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	struct arena arena = { 0 };

	if (json && report_read_measured_point(json, &arena, NULL)) {
		pthread_mutex_lock(j->lock);
		if (!j->points)
			j->points = json_array();
		if (json_array_size(j->points) < MOST_POINTS)
			json_array_append(j->points, json);
		j->state.n_points = (int)json_array_size(j->points);
		pthread_mutex_unlock(j->lock);
		events_publish(j->events, j->run);
	}
	json_decref(json);
	arena_finish(&arena);
}

static void replace(char **text, const char *with)
{
	free(*text);
	*text = strdup(with);
}

/* The worker is this program, but what it runs is not: its blocks are checked. */
static void read_block(struct job *j, const char *bytes, size_t len)
{
	struct timeline_row row = { .len = len };
	struct timeline_block block;
	struct err err = { 0 };
	void *copy;

	if (!timeline_block_read(bytes, len, &block, &err)) {
		log_line(LOG_WARN, "run %lld: %s", (long long)j->run, err.message);
		return;
	}
	if (block.kind == TIMELINE_CHUNK && j->timeline_bytes + len > TIMELINE_BYTES)
		return;
	copy = malloc(len);
	if (!copy)
		return;
	memcpy(copy, bytes, len);
	row.kind = block.kind;
	row.events = block.events;
	row.t0_ns = block.t0_ns;
	row.t1_ns = block.t1_ns;
	row.data = copy;
	j->timeline_bytes += len;
	if (!VEC_PUSH(&j->timeline, row))
		free(copy);
}

static void drop_timeline(struct job *j)
{
	for (size_t i = 0; i < j->timeline.len; i++)
		free((void *)j->timeline.at[i].data);
	VEC_FREE(&j->timeline);
	j->timeline_bytes = 0;
}

/* The head, or a point of its sweep.  After one for which there is no room there is none. */
static void keep(struct job *j, const char *text, size_t len)
{
	char *copy = j->kept_bytes + len <= MESSAGE_MAX_BYTES ? strdup(text) : NULL;

	j->kept_bytes = copy ? j->kept_bytes + len : MESSAGE_MAX_BYTES;
	if (copy && !VEC_PUSH(&j->kept, copy))
		free(copy);
}

void job_drop(struct job *j)
{
	for (size_t i = 0; i < j->kept.len; i++)
		free(j->kept.at[i]);
	VEC_FREE(&j->kept);
	j->kept_bytes = 0;
	outcome_finish(&j->outcome);
	free(j->report);
	free(j->part);
	free(j->environment);
	j->report = j->part = j->environment = NULL;
	drop_timeline(j);
}

void job_take(struct job *j, enum message_type type, const char *text, size_t len)
{
	uint64_t refused = memory_refused_here();

	if (type == MESSAGE_PROGRESS)
		read_progress(j, text);
	else if (type == MESSAGE_POINT)
		read_point(j, text);
	else if (type == MESSAGE_KEEP)
		keep(j, text, len);
	else if (type == MESSAGE_TIMELINE)
		read_block(j, text, len);
	else if (type == MESSAGE_ENVIRONMENT)
		replace(&j->environment, text);
	else if (type == MESSAGE_REPORT)
		replace(&j->report, text);
	else if (type == MESSAGE_ERROR)
		message_error(text, &j->failure);
	if (memory_refused_here() != refused && j->failure.code == ERR_NONE)
		memory_refused_error(&j->failure, "what the worker sent");
}

/* ---- its end ---- */

/* The report of what was measured, as JSON text, new; NULL: no point was, or no memory. */
static char *partial_report(const struct job *j)
{
	json_t *report = j->kept.len > 1 ? json_loads(j->kept.at[0], 0, NULL) : NULL;
	json_t *points = json_array();
	char *text = NULL;

	for (size_t i = 1; i < j->kept.len; i++)
		json_array_append_new(points, json_loads(j->kept.at[i], 0, NULL));
	json_object_set_new(json_object_get(report, "partial"), "measured",
			    json_integer((json_int_t)json_array_size(points)));
	json_object_set(report, "points", points);
	if (report && json_array_size(points))
		text = json_dumps(report, JSON_COMPACT);
	json_decref(points);
	json_decref(report);
	return text;
}

/* All of it or nothing. */
static bool store_outcome(struct job *j, struct err *err)
{
	struct run_outcome *o = &j->outcome.stored;

	if (!outcome_read(&j->outcome, j->report, strlen(j->report), err))
		return false;
	o->environment = j->environment ? j->environment : "{}";
	o->blocks = j->timeline.at;
	o->n_blocks = j->timeline.len;
	return db_run_finish(j->db, j->run, o, err);
}

/* Ends the current run before it is done; the points of its sweep that are measured stay. */
static bool store_part(struct job *j, enum run_status status, const struct err *why,
		       struct err *err)
{
	struct run_outcome *o = &j->outcome.stored;
	const json_t *partial;

	if (!j->part && !j->report)
		j->part = partial_report(j);
	if (!j->part)
		return db_run_end(j->db, j->run, status, why, NULL, err);
	if (!outcome_read(&j->outcome, j->part, strlen(j->part), err))
		return false;
	partial = json_object_get(j->outcome.report, "partial");
	o->points_kept = (int)json_integer_value(json_object_get(partial, "measured"));
	o->points_of = (int)json_integer_value(json_object_get(partial, "of"));
	o->environment = j->environment ? j->environment : "{}";
	return db_run_end(j->db, j->run, status, why, o, err);
}

bool job_write_end(struct job *j, bool requeues, struct job_ending *e, struct err *err)
{
	bool cancelled;

	pthread_mutex_lock(j->lock);
	cancelled = j->cancel;
	pthread_mutex_unlock(j->lock);
	if (cancelled || j->stopped) {
		*e = (struct job_ending){ "cancelled", JOB_CANCELLED };
		return store_part(j, RUN_CANCELLED,
				  j->failure.code != ERR_NONE && j->stopped ? &j->failure : NULL,
				  err);
	}
	if (requeues && !j->report) {
		*e = (struct job_ending){ "back in the queue", JOB_REQUEUED };
		return db_run_requeue(j->db, j->run, err);
	}
	if (j->report && j->failure.code == ERR_NONE) {
		*e = (struct job_ending){ "done", JOB_DONE };
		return store_outcome(j, err);
	}
	*e = (struct job_ending){ j->failure.message,
				  j->failure.code == ERR_WORKER ? JOB_CRASHED : JOB_FAILED };
	return store_part(j, RUN_FAILED, &j->failure, err);
}

void job_look_for_changes(struct db *db, int64_t id)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct run_row run;
	bool left;

	if (!db_run_get(db, id, &arena, &run, &err) || run.status != RUN_DONE ||
	    !changes_catch_up(db, run.name, LOOK_AT, &left, &err))
		if (err.code != ERR_NONE)
			log_line(LOG_WARN, "run %lld: changes: %s", (long long)id, err.message);
	arena_finish(&arena);
}
