/* server/cli/report_file.c -- files with a run, for commands that compare. */
#include "server/cli/report_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "profiler/gate/baseline.h"

enum { MAX_FILE_BYTES = 256 << 20 };

/* Of an export or an answer the run's own words; of a bare report its workload's. */
static json_t *head_of_file(const char *path, const struct report_compared_run *run,
			    const struct report_workload *workload)
{
	const struct report_compared_run from = {
		.name = run ? run->name : workload->name,
		.project = run ? run->project : workload->project,
		.device = run ? run->device : workload->device,
		.commit = run ? run->commit : workload->commit,
		.branch = run ? run->branch : workload->branch,
	};
	json_t *head = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "file", path, "name",
				 from.name ? from.name : "workload", "project",
				 report_text(from.project), "device",
				 from.device ? from.device : "cpu", "commit",
				 report_text(from.commit), "branch", report_text(from.branch));

	if (head && run && run->has.id)
		json_object_set_new(head, "id", json_integer((json_int_t)run->id));
	return head;
}

/* A file as JSON, which is said to be no `what` ("run") of the store where there is no such
 * file.  New; NULL with IO, TOO_LARGE or JSON. */
json_t *report_file_read(const char *path, const char *what, struct err *err)
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

/* Says which file an error is of, where its message does not. */
static bool no_report(const char *path, struct err *err)
{
	return err_set(err, ERR_WORKLOAD,
		       "%.300s is not a report of a workload: write one with "
		       "breakeven run FILE --json, or breakeven export RUN --format json",
		       path);
}

static bool add_json(struct loaded_runs *l, const char *path, const json_t *json,
		     struct arena *arena, struct err *err)
{
	const struct report_compared_file *file = report_read_compared_file(json, arena, err);
	const struct report_compared_report *report = file ? file->report : NULL;
	const struct report_compared_run *run = file ? file->run : NULL;

	if (!file)
		return false;
	if (!report)
		report = report_read_compared_report(json, arena, err);
	else if (!run)
		run = report_read_compared_run(json, arena, err);
	if (err->code != ERR_NONE)
		return false;
	if (!report->workload || !json_is_object(report->modes))
		return no_report(path, err);
	return loaded_add(l, head_of_file(path, run, report->workload),
			  json_incref((json_t *)report->json), err);
}

/* Of a baseline the report of that name, of any other file its own; NULL with why there is none. */
static const json_t *choose(const char *path, const char *name, const json_t *file, struct err *err)
{
	const json_t *one = baseline_is(file) && name ? baseline_get(file, name) : file;

	if (baseline_is(file) && !name)
		err_set(err, ERR_WORKLOAD,
			"%.300s is a baseline of many workloads, which `breakeven gate` takes",
			path);
	else if (!json_is_object(one) && one != file)
		err_set(err, ERR_NOT_FOUND, "%.300s has no workload %.100s", path, name);
	else if (!json_is_object(one))
		no_report(path, err);
	return err->code == ERR_NONE ? one : NULL;
}

/* What `breakeven run --json` prints, `export --format json` writes, or GET /runs/{id} answers. */
bool report_file_add(struct loaded_runs *l, const char *path, const char *name, struct err *err)
{
	json_t *file = report_file_read(path, "run", err);
	const json_t *one = file ? choose(path, name, file, err) : NULL;
	struct arena arena = { 0 };
	bool ok = one && add_json(l, path, one, &arena, err);

	if (file && !ok)
		report_file_name(path, err);
	arena_finish(&arena);
	json_decref(file);
	return ok;
}
