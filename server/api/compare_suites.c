/* server/api/compare_suites.c -- see compare_suites.h. */
#include "server/api/compare_suites.h"

#include <string.h>

#include "profiler/suite/suite.h"
#include "server/api/compare_load.h"
#include "server/queue/queue.h"

static json_t *of_store(const char *path, int64_t id, json_t **head, struct err *err)
{
	struct db *db = db_open_reading(path, err);
	struct arena arena = { 0 };
	json_t *report = NULL;
	struct suite suite;

	if (db && db_suite_get(db, id, &arena, &suite, err))
		report = suite_stored_report(db, &suite, &arena, err);
	if (report)
		*head = json_pack("{s:I, s:s, s:I}", "id", (json_int_t)id, "name", suite.name,
				  "created_ns", (json_int_t)suite.created_ns);
	arena_finish(&arena);
	db_close(db);
	return report;
}

/* The report that a file is, or has; its name is the suite's. */
static json_t *of_file(const char *path, json_t **head, struct err *err)
{
	json_t *file = loaded_json(path, "suite", err);
	json_t *inner = json_object_get(file, "report"), *report = inner ? inner : file;
	const char *name = json_string_value(json_object_get(file, "name"));

	if (!file)
		return NULL;
	if (!json_is_array(json_object_get(report, "columns"))) {
		err_set(err, ERR_WORKLOAD,
			"%.300s is no report of a suite: write one with "
			"breakeven suite FOLDER --json",
			path);
		json_decref(file);
		return NULL;
	}
	*head = json_pack("{s:s, s:s}", "file", path, "name", name ? name : "suite");
	json_incref(report);
	json_decref(file);
	return report;
}

static json_t *load(const char *text, const char *db, json_t **head, struct err *err)
{
	int64_t id = loaded_id(text);

	return id ? of_store(db, id, head, err) : of_file(text, head, err);
}

json_t *compare_suites(const char *before, const char *after, const char *db, struct err *err)
{
	json_t *heads[2] = { NULL, NULL };
	json_t *old = load(before, db, &heads[0], err);
	json_t *new = old ? load(after, db, &heads[1], err) : NULL;
	json_t *comparison = new ? suite_compare(old, new, err) : NULL;

	if (comparison) {
		json_object_set(comparison, "before", heads[0]);
		json_object_set(comparison, "after", heads[1]);
	}
	json_decref(heads[0]);
	json_decref(heads[1]);
	json_decref(old);
	json_decref(new);
	return comparison;
}

bool compare_suites_lost(const json_t *comparison)
{
	const json_t *c;
	size_t i;

	json_array_foreach(json_object_get(comparison, "columns"), i, c) {
		const char *verdict = json_string_value(
		    json_object_get(json_object_get(c, "geomean"), "verdict"));

		if (json_integer_value(json_object_get(c, "broken")) > 0 ||
		    (verdict && strcmp(verdict, "SLOWER") == 0))
			return true;
	}
	return false;
}
