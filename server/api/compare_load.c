/* server/api/compare_load.c -- see compare_load.h. */
#include "server/api/compare_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE_BYTES = 256 << 20 };

static bool add(struct loaded_runs *l, json_t *head, json_t *report, struct err *err)
{
	if (l->n < COMPARE_MAX_RUNS && head && report) {
		l->at[l->n++] = (struct compared_run){ .head = head, .report = report };
		return true;
	}
	json_decref(head);
	json_decref(report);
	if (l->n == COMPARE_MAX_RUNS)
		return err_set(err, ERR_BAD_REQUEST, "at most %d runs are compared at once",
			       COMPARE_MAX_RUNS);
	return err_set(err, ERR_MEMORY, "out of memory for a comparison");
}

/* What a report says of its machine stands beside it in the store. */
static json_t *with_environment(json_t *report, const struct buf *environment)
{
	json_t *of_run = json_loadb(environment->data, environment->len, 0, NULL);

	if (json_object_size(of_run) > 0 && !json_object_get(report, "environment"))
		json_object_set(report, "environment", of_run);
	json_decref(of_run);
	return report;
}

/* What the store has of runs that repeat it; none is no failure. */
static bool add_repeats(struct loaded_runs *l, struct db *db, int64_t id, struct err *err)
{
	struct compared_run *run = &l->at[l->n - 1];
	struct run_figure *figures;
	struct repeat *repeats;
	int n;

	if (!db_repeats(db, id, &l->arena, &figures, &n, err))
		return false;
	repeats = ARENA_ARRAY(&l->arena, struct repeat, (size_t)n + 1);
	if (!repeats)
		return err_set(err, ERR_MEMORY, "out of memory for a comparison");
	for (int i = 0; i < n; i++)
		repeats[i] = (struct repeat){ figures[i].metric, figures[i].mode, figures[i].n,
					      figures[i].value };
	run->repeats = repeats;
	run->n_repeats = n;
	return true;
}

bool loaded_add_run(struct loaded_runs *l, struct db *db, int64_t id, struct err *err)
{
	struct buf report = { 0 }, environment = { 0 };
	struct arena arena = { 0 };
	struct run run;
	bool ok = db_run_get(db, id, &arena, &run, err);

	if (ok && run.status != RUN_DONE)
		ok = err_set(err, ERR_CONFLICT,
			     "run %lld is %s; only a run that is done can be "
			     "compared",
			     (long long)id, run_status_name(run.status));
	ok = ok && db_report_get(db, id, &report, &environment, err);
	if (ok) {
		json_t *json = json_loadb(report.data, report.len, 0, NULL);

		ok = add(l,
			 json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:I}", "id", (json_int_t)id,
				   "name", run.name, "project", run.project, "device", run.device,
				   "commit", run.commit, "branch", run.branch, "created_ns",
				   (json_int_t)run.created_ns),
			 json ? with_environment(json, &environment) : NULL, err) &&
		     add_repeats(l, db, id, err);
	}
	buf_finish(&report);
	buf_finish(&environment);
	arena_finish(&arena);
	return ok;
}

static const char *text_of(const json_t *object, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : otherwise;
}

/* Of an export the run's own words; of a bare report its workload's. */
static json_t *head_of_file(const char *path, const json_t *file, const json_t *report)
{
	const json_t *workload = json_object_get(report, "workload");
	const json_t *run = json_object_get(file, "run"), *id;
	const json_t *from = json_is_object(run)               ? run
			     : json_object_get(file, "report") ? file
							       : workload;
	json_t *head = json_pack(
	    "{s:s, s:s, s:s, s:s, s:s, s:s}", "file", path, "name",
	    text_of(from, "name", "workload"), "project", text_of(from, "project", ""), "device",
	    text_of(from, "device", "cpu"), "commit", text_of(from, "commit", ""), "branch",
	    text_of(from, "branch", ""));

	id = json_object_get(from, "id");
	if (head && json_is_integer(id))
		json_object_set(head, "id", (json_t *)id);
	return head;
}

int64_t loaded_id(const char *text)
{
	char *end;
	long long id;

	errno = 0;
	id = strtoll(text, &end, 10);
	return errno || end == text || *end || id <= 0 ? 0 : id;
}

json_t *loaded_json(const char *path, const char *what, struct err *err)
{
	json_error_t at;
	struct stat st;
	json_t *file = NULL;

	if (stat(path, &st) != 0)
		err_set(err, ERR_IO,
			"%.300s cannot be opened: %s; a %s of the store is named by its number",
			path, strerror(errno), what);
	else if (st.st_size > MAX_FILE_BYTES)
		err_set(err, ERR_TOO_LARGE, "%.300s is over %d MiB", path, MAX_FILE_BYTES >> 20);
	else if (!(file = json_load_file(path, JSON_REJECT_DUPLICATES, &at)))
		err_set(err, ERR_JSON, "%.300s is not JSON: line %d, column %d: %s", path, at.line,
			at.column, at.text);
	return file;
}

bool loaded_add_file(struct loaded_runs *l, const char *path, struct err *err)
{
	json_t *file = loaded_json(path, "run", err), *report;
	bool ok;

	if (!file)
		return false;
	report = json_object_get(file, "report");
	report = json_is_object(report) ? report : file;
	if (!json_is_object(json_object_get(report, "workload")) ||
	    !json_is_object(json_object_get(report, "modes")))
		ok = err_set(err, ERR_WORKLOAD,
			     "%.300s is no report of a workload: write one with "
			     "breakeven run FILE --json, or breakeven export RUN --format json",
			     path);
	else
		ok = add(l, head_of_file(path, file, report), json_incref(report), err);
	json_decref(file);
	return ok;
}

void loaded_finish(struct loaded_runs *l)
{
	for (int i = 0; i < l->n; i++) {
		json_decref(l->at[i].head);
		json_decref((json_t *)l->at[i].report);
	}
	l->n = 0;
	arena_finish(&l->arena);
}
