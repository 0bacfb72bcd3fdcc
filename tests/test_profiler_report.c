/* tests/test_profiler_report.c -- profiler/fields: reports read into structs and written again. */
#include <math.h>
#include <stdio.h>

#include "fusion/base/buf.h"
#include "profiler/fields/fields.h"
#include "profiler/import/import.h"
#include "profiler/lists/lists.h"
#include "profiler/suite/suite.h"
#include "tests/report_help.h"

#define SOURCE                                                                                     \
	"import torch\\n\\ndef model(x):\\n    y = torch.sin(x) * 2\\n    if y.mean() > 0.1:\\n"   \
	"        y = y + 1\\n    print(float(y.sum()))\\n    return y @ y\\n"
#define CALLS "'calls': [[{'random': {'shape': [8, 8]}}]]"
#define ALL_MODES "'modes': ['eager', 'static', 'dynamic', 'auto', 'lazy', 'graphs']"

/* ---- every field is in the table ---- */

static void check_record(const struct report_record *record, const json_t *json, const char *path);

static void check_value(const struct report_field *field, const json_t *json, const char *path)
{
	const char *key;
	json_t *item;
	char at[512];
	size_t i;

	if (!report_accepts(field, json))
		fail_msg("%s is not as report.def has it", path);
	if (json_is_null(json) && field->type != REPORT_VALUE && field->presence == REPORT_OR_NONE)
		fail_msg("%s is null: report.def says that it is left out", path);
	if (field->type == REPORT_ONE && !json_is_null(json))
		check_record(field->of, json, path);
	if (field->type == REPORT_LIST)
		json_array_foreach((json_t *)json, i, item)
		{
			snprintf(at, sizeof(at), "%s[%zu]", path, i);
			check_record(field->of, item, at);
		}
	if (field->type == REPORT_MAP)
		json_object_foreach((json_t *)json, key, item)
		{
			snprintf(at, sizeof(at), "%s.%s", path, key);
			check_record(field->of, item, at);
		}
}

/* Fails where the JSON has a field that its record has not, or lacks one that is always there. */
static void check_record(const struct report_record *record, const json_t *json, const char *path)
{
	const char *key;
	json_t *value;
	char at[512];

	json_object_foreach((json_t *)json, key, value)
	{
		const struct report_field *field = report_field(record, key);

		snprintf(at, sizeof(at), "%s.%s", path, key);
		if (!field)
			fail_msg("%s is no field of record %s in report.def", at, record->name);
		check_value(field, value, at);
	}
	for (int i = 0; i < record->n_fields; i++)
		if (record->fields[i].presence <= REPORT_OR_NULL &&
		    !json_object_get(json, record->fields[i].name))
			fail_msg("%s.%s is missing: report.def says that it is always there", path,
				 record->fields[i].name);
}

/* Reads, writes, and compares; checks that each field is in the table.  Takes the report. */
static void goes_round(const struct report_record *record, json_t *json)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	void *read = report_read(record, json, &arena, &err);
	json_t *back = read ? report_write(record, read) : NULL;

	if (!back)
		fail_msg("%s", err.message);
	check_record(record, json, record->name);
	assert_true(json_equal(json, back));
	json_decref(back);
	json_decref(json);
	arena_finish(&arena);
}

/* ---- reports of today ---- */

static void runs_go_round(void **state)
{
	(void)state;
	goes_round(REPORT_RECORD(run),
		   run("{'name': 'all', 'source': '" SOURCE "', " CALLS ", " ALL_MODES "}", false));
	goes_round(REPORT_RECORD(run), run("{'name': 'timed', 'source': '" SOURCE "', " CALLS
					   ", " ALL_MODES ", 'seconds': 0.05}",
					   true));
	goes_round(
	    REPORT_RECORD(run),
	    run("{'name': 'gradient', 'source': 'def model(x):\\n    return (x * x).sum()\\n', "
		"'grad': true, 'autocast': 'bfloat16', 'seconds': 0.05, " CALLS
		", 'modes': ['eager', 'static', 'graphs']}",
		true));
	goes_round(
	    REPORT_RECORD(run),
	    run("{'name': 'writes', 'source': 'def model(x):\\n    x += 1\\n    return x\\n', "
		"'seconds': 0.05, " CALLS "}",
		true));
	goes_round(
	    REPORT_RECORD(run),
	    run("{'name': 'memory', 'source': '" SOURCE "', " CALLS ", 'poison': true}", false));
}

static void sweeps_and_changes_go_round(void **state)
{
	struct profiler_options options = { .timing = true, .passes = true, .version = "test" };
	struct report_draft draft = { 0 };
	struct workload *w;
	struct err err = { 0 };
	json_t *json, *report;

	(void)state;
	goes_round(REPORT_RECORD(run),
		   run("{'name': 'sweep', 'source': 'def model(x):\\n    ...\\n    return x\\n', "
		       "'sweep': {'statements': {'pool': ['x = x * 2'], 'counts': [1, 3]}}, " CALLS
		       ", 'seconds': 0.05}",
		       true));
	json = load("{'name': 'change', 'source': 'def model(x):\\n    return x * 2\\n', "
		    "'before': 'def model(x):\\n    return x + x\\n', " CALLS ", 'seconds': 0.05}");
	w = workload_parse(json, &err);
	json_decref(json);
	report = w ? report_write_run(profiler_run_engines(w, &options, &draft, &err)) : NULL;
	report_draft_finish(&draft);
	workload_destroy(w);
	if (!report)
		fail_msg("%s", err.message);
	assert_non_null(at(report, "modes.static.change"));
	goes_round(REPORT_RECORD(run), report);
}

/* Engine torch is switched off here: its report says so. */
static void other_engines_go_round(void **state)
{
	struct profiler_options options = { .version = "test" };
	struct err err = { 0 };
	json_t *json = load("{'name': 'torch', 'source': 'def model(x):\\n    return x * 2\\n', "
			    "'engines': ['breakeven', 'torch'], " CALLS "}");
	struct workload *w = workload_parse(json, &err);
	struct report_draft draft = { 0 };
	json_t *report = w ? report_write_run(profiler_run_engines(w, &options, &draft, &err))
			   : NULL;

	(void)state;
	json_decref(json);
	report_draft_finish(&draft);
	workload_destroy(w);
	if (!report)
		fail_msg("%s", err.message);
	assert_non_null(at(report, "engines.torch.error.message"));
	goes_round(REPORT_RECORD(run), report);
}

static void explanations_go_round(void **state)
{
	const struct explain_options options = {
		.mode = FUSION_DYNAMIC, .sizes_ms = -1, .rewrites_ms = -1, .passes = true
	};
	struct report_draft draft = { 0 };
	struct err err = { 0 };
	json_t *json = load("{'name': 'e', 'source': '" SOURCE "', " CALLS "}"), *out;
	struct workload *w = workload_parse(json, &err);

	(void)state;
	json_decref(json);
	out = w ? report_write_explain(profiler_explain(w, &options, &draft, &err)) : NULL;
	report_draft_finish(&draft);
	workload_destroy(w);
	if (!out)
		fail_msg("%s", err.message);
	goes_round(REPORT_RECORD(explain), out);
}

static void imports_go_round(void **state)
{
	static const char *const logs[] = { "kineto.json", "counters.json", "pt_xla.txt",
					    "torch_trace_2.14.log", "torch_trace_2.6_rank_0.log" };

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		struct err err = { 0 };
		struct import *im = import_create(NULL, NULL, 0, &err);
		json_t *report = NULL;
		char path[80];

		snprintf(path, sizeof(path), "tests/import/%s", logs[i]);
		if (im && import_named(im, path, logs[i], &err))
			report = import_finish(im, &err);
		import_destroy(im);
		if (!report)
			fail_msg("%s: %s", path, err.message);
		goes_round(REPORT_RECORD(import), report);
	}
}

static void suites_go_round(void **state)
{
	static const char *const names[] = { "a", "b" };
	const struct suite_result results[] = {
		{ .workload = 0,
		  .engine = "breakeven",
		  .policy = "dynamo",
		  .mode = "static",
		  .speedup = { 1.5, 2, 2.5 },
		  .median_us = 3,
		  .compile_ms = 40,
		  .launches = 1,
		  .peak_bytes = 64,
		  .graphs = 1,
		  .run = 7 },
		{ .workload = 1,
		  .engine = "breakeven",
		  .policy = "dynamo",
		  .mode = "static",
		  .status = SUITE_FAILED,
		  .reason = "it failed",
		  .speedup = { NAN, NAN, NAN },
		  .median_us = NAN,
		  .compile_ms = NAN,
		  .launches = NAN,
		  .peak_bytes = NAN,
		  .max_abs_error = NAN,
		  .graphs = -1,
		  .capture_breaks = -1,
		  .lowering_breaks = -1,
		  .recompiles = -1 },
	};
	struct err err = { 0 };

	(void)state;
	goes_round(REPORT_RECORD(suite), suite_report(names, 2, results, 2, &err));
}

static void lists_go_round(void **state)
{
	struct err err = { 0 };
	json_t *backends = lists_backends(NULL, &err);

	(void)state;
	assert_non_null(backends);
	json_object_set_new(backends, "engines", json_pack("[o]", lists_torch(NULL, false)));
	goes_round(REPORT_RECORD(listed_backends), backends);
	goes_round(REPORT_RECORD(listed_ops), lists_ops(NULL, NULL, &err));
	goes_round(REPORT_RECORD(listed_passes), lists_passes(NULL, &err));
}

static void lists_within_an_object_are_read(void **state)
{
	json_t *json = lists_ops(NULL, "sin", &(struct err){ 0 });
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct report_listed_ops *all = report_read_listed_ops(json, &arena, &err);
	struct report_texts *cpu;
	json_t *op = json_array_get(json_object_get(json, "ops"), 0);

	(void)state;
	assert_non_null(all);
	cpu = report_get(all->ops.at[0].backends, "cpu");
	assert_non_null(cpu);
	assert_true(cpu->n > 1);
	assert_string_equal(cpu->at[0], "bool");
	json_object_set_new(op, "backends", json_pack("{s:[s, i]}", "cpu", "float32", 1));
	assert_null(report_read_listed_ops(json, &arena, &err));
	assert_string_equal(err.message, "ops[0].backends.cpu[1] is 1; it takes a text");
	json_decref(json);
	arena_finish(&arena);
}

/* ---- reports of other versions ---- */

static const char old[] = /* what fd00674 wrote, without most of its fields */
    "{'breakeven': 1, 'workload': {'source': 'def model(x): return x', 'calls': [[{'value': 1}]]},"
    " 'device': {'kind': 'cpu', 'name': 'a CPU'}, 'points': [], 'modes': {'eager': {'graphs': [],"
    " 'breaks': [], 'recompiles': []}, 'static': {'graphs': [{'id': 0, 'ops': ['sin']}], 'breaks':"
    " [{'stage': 'capture', 'kind': 'explicit', 'outcome': 'resume', 'message': 'm', 'call': 0, "
    "'count': 1}], 'recompiles': [{'reason': 'size'}], 'launches':"
    " 1.5, 'latency': {'median_us': 3, 'ci_us': [2.5, 4.0]}, 'max_abs_error': 'nan'}},"
    " 'break_even': {'static': {'speedup': null, 'verdict': 'FASTER'}}}";

static void older_reports_are_read(void **state)
{
	json_t *json = load(old), *back;
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct report_run *r = report_read_run(json, &arena, &err);
	struct report_mode *eager, *m;
	struct report_comparison *c;

	(void)state;
	if (!r)
		fail_msg("%s", err.message);
	m = report_get(r->modes, "static");
	eager = report_get(r->modes, "eager");
	c = report_get(r->break_even, "static");
	assert_null(report_get(r->modes, "lazy"));
	assert_non_null(m->latency);
	assert_true(m->latency->median_us == 3 && m->latency->ci_us.high == 4);
	assert_false(m->latency->has.n);
	assert_null(m->latency->noise);
	assert_true(isnan(m->max_abs_error) && m->has.max_abs_error && m->launches == 1.5);
	assert_null(eager->latency);
	assert_true(isnan(eager->launches) && !eager->has.launches);
	assert_true(isnan(c->speedup) && !c->has.speedup && isnan(c->speedup_ci.low));
	assert_string_equal(c->verdict, "FASTER");
	assert_string_equal(m->graphs.at[0].ops.at[0], "sin");
	assert_string_equal(m->breaks.at[0].kind, "explicit");
	assert_true(m->breaks.n == 1 && m->breaks.at[0].stack.n == 0 &&
		    isnan(m->breaks.at[0].cost_us));
	back = report_write_run(r);
	assert_true(json_equal(json, back));
	json_decref(back);
	json_decref(json);
	arena_finish(&arena);
}

static void fields_of_newer_versions_are_kept(void **state)
{
	json_t *json = load(old), *back;
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct report_run *r;

	(void)state;
	json_object_set_new(json, "tomorrow", load("{'a': [1, 2.5, null]}"));
	json_object_set_new(at(json, "modes.static.latency"), "mode_us", json_real(2));
	json_object_set_new(at(json, "modes.static.graphs.0"), "colour", json_string("red"));
	r = report_read_run(json, &arena, &err);
	if (!r)
		fail_msg("%s", err.message);
	REPORT_SET(report_get(r->modes, "static"), compile_ms, 12.5);
	back = report_write_run(r);
	assert_true(number(back, "modes.static.compile_ms") == 12.5);
	json_object_del(at(back, "modes.static"), "compile_ms");
	assert_true(json_equal(json, back));
	json_decref(back);
	json_decref(json);
	arena_finish(&arena);
}

/* Sets a value of the old report, reads it, and looks for the words in the error. */
static void refuses(const char *path, const char *key, const char *value, const char *words)
{
	json_t *json = load(old), *to = *path ? at(json, path) : json;
	struct arena arena = { 0 };
	struct err err = { 0 };

	if (value) {
		json_t *in = load(value);

		json_object_set(to, key, json_object_get(in, "v"));
		json_decref(in);
	} else {
		json_object_del(to, key);
	}
	if (report_read_run(json, &arena, &err))
		fail_msg("%s.%s was read", path, key);
	assert_int_equal(err.code, ERR_WORKLOAD);
	if (!strstr(err.message, words))
		fail_msg("'%s' says nothing of '%s'", err.message, words);
	json_decref(json);
	arena_finish(&arena);
}

static void wrong_types_are_refused(void **state)
{
	(void)state;
	refuses("modes.static.latency", "median_us", "{'v': 'fast'}",
		"modes.static.latency.median_us is \"fast\"; it takes a number (us): the median");
	refuses("modes.static.latency", "median_us", NULL,
		"modes.static.latency.median_us is missing; it takes a number (us)");
	refuses("modes.static.latency", "median_us", "{'v': null}", "median_us is null");
	refuses("modes.static.latency", "ci_us", "{'v': [1, 2, 3]}",
		"ci_us is [1,2,3]; it takes [low, high]");
	refuses("modes.static.latency", "n", "{'v': 1.5}", "n is 1.5; it takes a whole number");
	refuses("modes.static.graphs.0", "ops", "{'v': ['sin', 2]}",
		"modes.static.graphs[0].ops[1] is 2; it takes a text");
	refuses("modes.static", "breaks", "{'v': [{'kind': 'x'}]}",
		"modes.static.breaks[0].stage is missing");
	refuses("modes.static", "max_abs_error", "{'v': 'large'}", "max_abs_error is \"large\"");
	refuses("modes", "dynamic", "{'v': 3}", "modes.dynamic is 3; it takes an object");
	refuses("modes.static", "agrees", "{'v': 1}", "agrees is 1; it takes true or false");
	refuses("", "modes", "{'v': []}", "modes is []; it takes an object of objects");
	refuses("", "breakeven", NULL, "breakeven is missing");
}

static void bounds_hold(void **state)
{
	enum { FRAMES = 2000 * 1000 };
	json_t *json = load(old), *list = json_array(), *frame = load("{'reason': 'a size'}");
	struct arena arena = { 0 };
	struct err err = { 0 };

	(void)state;
	json_object_del(frame, "reason");
	for (int i = 0; i < FRAMES; i++)
		json_array_append(list, frame);
	json_object_set_new(at(json, "modes.static"), "calls", list);
	json_object_set_new(frame, "new_graphs", json_integer(1));
	assert_true(FRAMES * REPORT_RECORD(call)->bytes < REPORT_MOST_BYTES);
	for (int i = 0; i < 2 * FRAMES; i++)
		json_array_append(list, frame);
	assert_true(3L * FRAMES * (long)REPORT_RECORD(call)->bytes > REPORT_MOST_BYTES);
	assert_null(report_read_run(json, &arena, &err));
	assert_int_equal(err.code, ERR_BOUND);
	assert_non_null(strstr(err.message, "512 MiB"));
	json_decref(frame);
	json_decref(json);
	arena_finish(&arena);
	assert_null(report_read_run(NULL, &arena, &err));
	arena_init(&arena, 256);
	json = load(old);
	assert_null(report_read_run(json, &arena, &err));
	assert_int_equal(err.code, ERR_MEMORY);
	json_decref(json);
	arena_finish(&arena);
}

/* ---- structs that are filled ---- */

static void filled_structs_are_written(void **state)
{
	struct arena arena = { 0 };
	struct report_latency *l = report_new_latency(1, &arena);
	struct report_size_try *t = report_new_size_try(1, &arena);
	int64_t samples[] = { 1000, 2000 };
	json_t *json, *expected;

	(void)state;
	REPORT_SET(l, median_us, 1.5);
	REPORT_SET(l, ci_us, (struct report_interval){ 1, 2 });
	REPORT_SET(l, samples_ns, (struct report_integers){ samples, 2 });
	json = report_write_latency(l);
	expected = load("{'median_us': 1.5, 'ci_us': [1.0, 2.0], 'samples_ns': [1000, 2000]}");
	assert_true(json_equal(json, expected));
	json_decref(json);
	json_decref(expected);
	REPORT_SET(t, change, "8 to 1");
	REPORT_SET(t, result, "same entry");
	json = report_write_size_try(t); /* those that are null where there is none */
	expected = load("{'change': '8 to 1', 'result': 'same entry', 'new_graphs': null, "
			"'reason': null, 'then': null}");
	assert_true(json_equal(json, expected));
	json_decref(json);
	json_decref(expected);
	arena_finish(&arena);
}

/* ---- the table itself ---- */

static void rows_are_whole(void **state)
{
	(void)state;
	for (int i = 0; i < REPORT_RECORDS; i++) {
		const struct report_record *record = &report_records[i];

		for (int k = 0; k < record->n_fields; k++) {
			const struct report_field *f = &record->fields[k];

			if (report_field(record, f->name) != f)
				fail_msg("%s.%s is there twice", record->name, f->name);
			if (!*f->meaning || f->meaning[strlen(f->meaning) - 1] == '.')
				fail_msg("%s.%s: the meaning is a phrase without a full stop",
					 record->name, f->name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_go_round),
		cmocka_unit_test(sweeps_and_changes_go_round),
		cmocka_unit_test(other_engines_go_round),
		cmocka_unit_test(explanations_go_round),
		cmocka_unit_test(imports_go_round),
		cmocka_unit_test(suites_go_round),
		cmocka_unit_test(lists_go_round),
		cmocka_unit_test(lists_within_an_object_are_read),
		cmocka_unit_test(older_reports_are_read),
		cmocka_unit_test(fields_of_newer_versions_are_kept),
		cmocka_unit_test(wrong_types_are_refused),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(filled_structs_are_written),
		cmocka_unit_test(rows_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
