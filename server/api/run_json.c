/* server/api/run_json.c -- see run_json.h. */
#include "server/api/run_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/queue/queue.h"

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *time_or_null(int64_t ns)
{
	return ns ? json_integer(ns) : json_null();
}

/* "a,b" or "a\nb" as an array. */
static json_t *split_json(const char *text, char separator)
{
	json_t *list = json_array();

	while (text && *text) {
		const char *end = strchr(text, separator);
		size_t len = end ? (size_t)(end - text) : strlen(text);

		json_array_append_new(list, json_stringn(text, len));
		text += len + (end != NULL);
	}
	return list;
}

static json_t *summary_json(const struct run_summary *m)
{
	json_t *speedup = json_null(), *interval = json_null();

	if (!m->mode)
		return json_null();
	if (strcmp(m->verdict, RUN_DISAGREES) != 0) {
		speedup = json_real(m->speedup);
		interval = json_pack("[f, f]", m->speedup_lo, m->speedup_hi);
	}
	return json_pack("{s:s, s:s, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "mode", m->mode,
			 "verdict", m->verdict, "speedup", speedup, "speedup_ci", interval,
			 "median_us", m->median_us, "calls_to_repay",
			 number_or_null(m->calls_to_repay), "crossover_n",
			 number_or_null(m->crossover_n), "at_n", number_or_null(m->at_n), "breaks",
			 m->breaks < 0 ? json_null() : json_integer(m->breaks));
}

static json_t *run_error(const struct run *run)
{
	json_t *wrapped, *inner;

	if (run->error.code == ERR_NONE)
		return json_null();
	wrapped = error_json(&run->error);
	inner = json_incref(json_object_get(wrapped, "error"));
	json_decref(wrapped);
	return inner;
}

/* status, progress, what, left_s: from the worker where it has the run. */
static json_t *state_json(struct app *app, const struct run *run)
{
	struct job_state state = { .left_s = -1 };

	if (run->status == RUN_DONE)
		state.share = 1;
	else if (run->status == RUN_QUEUED)
		strcpy(state.what, "waiting for its turn");
	else if (run->status == RUN_RUNNING && run->trace)
		strcpy(state.what, "recording");
	else if (run->status == RUN_RUNNING)
		jobs_state(app->jobs, run->id, &state);
	return json_pack("{s:s, s:f, s:s, s:o}", "status", run_status_name(run->status), "progress",
			 state.share, "what", state.what, "left_s",
			 state.left_s >= 0 ? json_real(state.left_s) : json_null());
}

/* What a run that came from a file says of it; null where it ran here.  The ledger is for who
 * opens it. */
static json_t *imported_json(const struct run *run, bool whole)
{
	json_t *mark = run->imported && *run->imported ? json_loads(run->imported, 0, NULL) : NULL;

	if (!whole)
		json_object_del(mark, "ledger");
	return mark ? mark : json_null();
}

json_t *run_list_json(struct app *app, const struct run *run)
{
	json_t *json = json_pack(
	    "{s:I, s:s, s:s, s:o, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:i, s:s, s:b}",
	    "id", (json_int_t)run->id, "name", run->name, "project", run->project, "tags",
	    split_json(run->tags, '\n'), "device", run->device, "modes",
	    split_json(run->modes, ','), "commit", run->commit, "branch", run->branch, "created_ns",
	    time_or_null(run->created_ns), "started_ns", time_or_null(run->started_ns),
	    "finished_ns", time_or_null(run->finished_ns), "summary", summary_json(&run->summary),
	    "error", run_error(run), "attempts", run->attempts, "note", run->note, "baseline",
	    run->baseline);
	json_t *state = state_json(app, run), *recent = json_array();

	for (int i = run->n_recent; i-- > 0;)
		json_array_append_new(recent, json_real(run->recent[i]));
	json_object_set_new(json, "recent", recent);
	json_object_set_new(json, "imported", imported_json(run, false));
	json_object_update(json, state);
	json_decref(state);
	return json;
}

json_t *run_head_json(struct app *app, const struct run *run)
{
	json_t *json = run_list_json(app, run);

	json_object_set_new(json, "workload", json_loads(run->workload, 0, NULL));
	json_object_set_new(json, "imported", imported_json(run, true));
	return json;
}

size_t run_event(void *self, int64_t id, char *out, size_t size, bool *last)
{
	struct app *app = self;
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct run run;
	size_t len = 0;

	*last = !db_run_get(app->db, id, &arena, &run, &err) || run.status > RUN_RUNNING;
	if (err.code != ERR_NONE) {
		len = (size_t)snprintf(out, size, "event: end\ndata: {}\n\n");
	} else {
		json_t *state = state_json(app, &run);
		char *text = json_dumps(state, JSON_COMPACT | JSON_ENSURE_ASCII);

		len = (size_t)snprintf(out, size, "event: %s\ndata: %s\n\n",
				       *last ? "end" : "progress", text ? text : "{}");
		free(text);
		json_decref(state);
	}
	arena_finish(&arena);
	return len < size ? len : size - 1;
}
