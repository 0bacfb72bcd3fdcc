/* tests/report_help.h -- for tests of profiler/profiler.h: workloads in, reports out.
 *
 * Helpers fail the test where there is no report, or it has not what is asked for.
 */
#ifndef TESTS_REPORT_HELP_H
#define TESTS_REPORT_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/fields/fields.h"
#include "profiler/profiler.h"

/* JSON with quotes as in Python.  The caller's. */
static inline json_t *load(const char *text)
{
	char *copy = strdup(text);
	json_error_t at;
	json_t *json;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json = json_loads(copy, 0, &at);
	free(copy);
	if (!json)
		fail_msg("the test's JSON is wrong: %s", at.text);
	return json;
}

/* NULL with the error; takes the reference to `json`. */
static inline json_t *run_json(json_t *json, const struct profiler_options *options,
			       struct err *err)
{
	struct report_draft draft = { 0 };
	struct workload *w;
	json_t *report = NULL;

	*err = (struct err){ 0 };
	w = workload_parse(json, err);
	json_decref(json);
	if (w)
		report = report_write_run(profiler_run(w, options, &draft, err));
	report_draft_finish(&draft);
	workload_destroy(w);
	return report;
}

static inline json_t *run_with(const char *text, const struct profiler_options *options,
			       struct err *err)
{
	return run_json(load(text), options, err);
}

static inline json_t *run_whole(json_t *json, bool timing)
{
	struct profiler_options options = { .timing = timing, .version = "test" };
	struct err err;
	json_t *report = run_json(json, &options, &err);

	if (!report)
		fail_msg("%s: line %d: %s", err_name(err.code), err.line, err.message);
	return report;
}

static inline json_t *run(const char *text, bool timing)
{
	return run_whole(load(text), timing);
}

/* The value at a path such as "modes.static.calls.0.output". */
static inline json_t *at(const json_t *json, const char *path)
{
	char *copy = strdup(path), *rest = copy;
	json_t *value = (json_t *)json;

	for (char *key; (key = strsep(&rest, "."));)
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key))
					     : json_object_get(value, key);
	free(copy);
	if (!value)
		fail_msg("the report has no %s", path);
	return value;
}

static inline double number(const json_t *json, const char *path)
{
	json_t *value = at(json, path);

	assert_true(json_is_number(value));
	return json_number_value(value);
}

#endif
