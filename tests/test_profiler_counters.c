/* tests/test_profiler_counters.c -- counters, async spans and arrows of a trace, as the timeline
 * has them. */
#include "tests/import_file.h"

#include "profiler/import/counters.h"
#include "profiler/timeline/lanes_view.h"

#define TRACE(events) "{\"traceEvents\": [" events "]}"
#define COUNT(id, ts, args)                                                                        \
	"{\"ph\":\"C\",\"name\":\"load\"," id "\"pid\":4,\"ts\":" ts ",\"args\":{" args "}}"
#define ASYNC(ph, id, name, ts)                                                                    \
	"{\"ph\":\"" ph "\",\"cat\":\"net\",\"id\":" id ",\"name\":\"" name                        \
	"\",\"pid\":4,\"tid\":5,\"ts\":" ts "}"
#define ARROW(ph, id, ts, tid)                                                                     \
	"{\"ph\":\"" ph "\",\"cat\":\"fwdbwd\",\"id\":" id ",\"name\":\"fwdbwd\",\"pid\":4,"       \
	"\"tid\":" tid ",\"ts\":" ts "}"
#define RUNS(ts, dur)                                                                              \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":4,\"tid\":5,\"ts\":" ts          \
	",\"dur\":" dur "}"

/* The report of a text, and its timeline in *events. */
static json_t *import_timeline(const char *text, struct timeline_events *events)
{
	struct err err = { 0 };
	struct import *im = import_create(timeline_events_block, events, 0, &err);
	json_t *report = NULL;

	if (im && import_begin(im, "text", &err) && import_feed(im, text, strlen(text), &err) &&
	    import_end(im, &err))
		report = import_finish(im, &err);
	import_destroy(im);
	assert_non_null(report);
	return report;
}

static const char *name_in(const json_t *table, uint32_t at)
{
	return json_string_value(json_object_get(json_array_get(table, at), "name"));
}

/* The event of a lane of this name, the `n`th as they came; NULL: there is none. */
static const struct timeline_event *event_of(const struct timeline_events *t, const char *lane,
					     int n)
{
	for (size_t i = 0; i < t->list.len; i++)
		if (strcmp(name_in(t->tables.lanes, t->list.at[i].lane), lane) == 0 && n-- == 0)
			return &t->list.at[i];
	return NULL;
}

static void assert_sample(const struct timeline_events *t, const char *lane, int n,
			  int64_t start_ns, int64_t duration_ns, double value)
{
	const struct timeline_event *e = event_of(t, lane, n);
	const json_t *scale;

	assert_non_null(e);
	scale = json_object_get(json_array_get(t->tables.names, e->name), "scale");
	assert_int_equal(e->kind, TIMELINE_COUNTER);
	assert_int_equal(e->start_ns, start_ns);
	assert_int_equal(e->duration_ns, duration_ns);
	assert_true((double)e->bytes / (scale ? (double)json_integer_value(scale) : 1.0) == value);
}

static void a_counter_is_a_series_for_each_of_its_args(void **state)
{
	struct timeline_events t = { 0 };
	json_t *r = import_timeline(
	    TRACE(RUNS("1", "20") "," COUNT("", "2", "\"a\":7,\"b\":0.25") "," COUNT(
		"", "5", "\"a\":-3,\"b\":\"x\"") "," COUNT("\"id\":1,", "6",
							   "\"a\":9") "," COUNT("", "9",
										"\"a\":4.5")),
	    &t);

	(void)state;
	assert_sample(&t, "load: a", 0, 2000, 3000, 7);
	assert_sample(&t, "load: a", 1, 5000, 4000, -3);
	/* With an id it is another counter of the same name. */
	assert_sample(&t, "load: a", 2, 6000, 15000, 9);
	assert_sample(&t, "load: a", 3, 9000, 12000, 4.5); /* to the end of the file */
	assert_sample(&t, "load: b", 0, 2000, 19000, 0.25);
	assert_int_equal(json_array_size(json_object_get(r, "counters")), 3);
	assert_count(r, "counters.0.samples", 3);
	assert_true(json_number_value(at_path(r, "counters.0.min")) == -3);
	assert_true(json_number_value(at_path(r, "counters.0.max")) == 7);
	assert_true(json_number_value(at_path(r, "counters.0.last")) == 4.5);
	assert_count(r, "ledger.dropped.without_value", 1);
	assert_count(r, "ledger.dropped.other_phase", 0);
	json_decref(r);
	timeline_events_finish(&t);
}

static void memory_is_a_series_of_its_device(void **state)
{
	static const char text[] = TRACE(
	    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":"
	    "9,"
	    "\"tid\":9,\"ts\":11,\"args\":{\"Total Reserved\":64,\"Total "
	    "Allocated\":32,\"Bytes\":32,"
	    "\"Device Id\":0,\"Device Type\":1}},"
	    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":"
	    "9,"
	    "\"tid\":9,\"ts\":15,\"args\":{\"Total Reserved\":64,\"Total "
	    "Allocated\":8,\"Bytes\":-24,"
	    "\"Device Id\":0,\"Device Type\":1}},"
	    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\",\"pid\":"
	    "9,"
	    "\"tid\":9,\"ts\":16,\"args\":{\"Total Allocated\":5,\"Bytes\":5,\"Device Id\":-1,"
	    "\"Device Type\":0}}");
	struct timeline_events t = { 0 };
	json_t *r = import_timeline(text, &t);

	(void)state;
	assert_sample(&t, "memory allocated, GPU 0", 0, 11000, 4000, 32);
	assert_sample(&t, "memory allocated, GPU 0", 1, 15000, 1000, 8);
	assert_sample(&t, "memory reserved, GPU 0", 0, 11000, 4000, 64);
	assert_sample(&t, "memory allocated, host", 0, 16000, 0, 5);
	assert_int_equal(json_array_size(json_object_get(r, "counters")), 3);
	json_decref(r);
	timeline_events_finish(&t);
}

static void assert_span(const struct timeline_events *t, const char *lane, int n, const char *name,
			int64_t start_ns, int64_t duration_ns)
{
	const struct timeline_event *e = event_of(t, lane, n);

	assert_non_null(e);
	assert_string_equal(name_in(t->tables.names, e->name), name);
	assert_int_equal(e->start_ns, start_ns);
	assert_int_equal(e->duration_ns, duration_ns);
}

static void async_spans_have_lanes_of_their_own(void **state)
{
	struct timeline_events t = { 0 };
	json_t *r = import_timeline(
	    TRACE(ASYNC("b", "1", "first", "1") "," ASYNC("b", "\"0x2\"", "second", "2") "," ASYNC("b", "1", "within", "3") "," ASYNC(
		"n", "1", "mark",
		"4") "," ASYNC("e", "1", "within",
			       "5") "," ASYNC("e", "1", "first",
					      "9") "," ASYNC("S", "7", "old",
							     "10") "," ASYNC("F", "7", "old",
									     "12") "," ASYNC("e",
											     "\"0x2"
											     "\"",
											     "secon"
											     "d",
											     "14") "," ASYNC("b",
													     "8",
													     "open",
													     "15") "," ASYNC("e",
															     "99",
															     "no begin",
															     "16") ","
																   "{\"ph\":\"b\",\"cat\":\"net\",\"name\":\"no id\",\"pid\":4,\"tid\":5,\"ts\":1},"
																   "{\"ph\":\"b\",\"cat\":\"net\",\"id2\":{\"local\":\"0x1\"},\"name\":\"local\","
																   "\"pid\":4,\"tid\":5,\"ts\":20},"
																   "{\"ph\":\"e\",\"cat\":\"net\",\"id2\":{\"local\":\"0x1\"},\"name\":\"local\","
																   "\"pid\":4,\"tid\":5,\"ts\":22}"),
	    &t);

	(void)state;
	/* Chunks are sorted by start. */
	assert_span(&t, "net", 0, "first", 1000, 8000);
	assert_span(&t, "net", 1, "within", 3000, 2000);
	assert_span(&t, "net", 2, "mark", 4000, 0);
	assert_span(&t, "net", 3, "old", 10000, 2000);
	assert_span(&t, "net, 2", 0, "second", 2000, 12000);
	assert_span(&t, "net, 2", 1, "local", 20000, 2000); /* "open" holds the first */
	assert_count(r, "async_spans", 5);
	assert_count(r, "async_marks", 1);
	assert_count(r, "ledger.dropped.unmatched_begin", 1);
	assert_count(r, "ledger.dropped.unmatched_end", 1);
	assert_count(r, "ledger.dropped.without_id", 1);
	assert_count(r, "ledger.dropped.other_phase", 0);
	json_decref(r);
	timeline_events_finish(&t);
}

static void arrows_are_points_of_their_threads(void **state)
{
	struct timeline_events t = { 0 };
	json_t *r = import_timeline(
	    TRACE(RUNS("1", "2") "," ARROW("s", "3", "1.5", "5") "," ARROW(
		"t", "3", "4", "6") "," ARROW("f", "3", "8",
					      "6") ","
						   "{\"ph\":\"s\",\"cat\":\"ac2g\",\"id\":3,"
						   "\"name\":\"ac2g\",\"pid\":4,\"tid\":5,"
						   "\"ts\":1},{\"ph\":\"f\",\"cat\":\"ac2g\","
						   "\"id\":3,\"name\":\"ac2g\",\"pid\":0,"
						   "\"tid\":7,\"ts\":2}"),
	    &t);
	static const char *const phases[] = { "s", "t", "f" };
	const struct timeline_event *e[3] = { event_of(&t, "thread 5 of 4", 1),
					      event_of(&t, "thread 6 of 4", 0),
					      event_of(&t, "thread 6 of 4", 1) };

	(void)state;
	for (int i = 0; i < 3; i++) {
		const json_t *row = json_array_get(t.tables.names, e[i]->name);

		assert_int_equal(e[i]->kind, TIMELINE_FLOW);
		assert_int_equal(e[i]->correlation, 3);
		assert_string_equal(json_string_value(json_object_get(row, "flow")), phases[i]);
		assert_string_equal(json_string_value(json_object_get(row, "name")), "fwdbwd");
	}
	assert_count(r, "flows", 5);
	assert_count(r, "arrows", 1);
	assert_int_equal(t.list.len, 4); /* a launch's are its correlation */
	json_decref(r);
	timeline_events_finish(&t);
}

static void series_behind_the_limit_are_counted(void **state)
{
	struct buf text;
	json_t *r;

	(void)state;
	buf_init(&text, 0);
	buf_puts(&text,
		 "{\"traceEvents\":[{\"ph\":\"C\",\"name\":\"c\",\"pid\":1,\"ts\":1,\"args\":{");
	for (int i = 0; i < COUNTER_MAX_SERIES + 3; i++)
		buf_printf(&text, "%s\"s%d\":%d", i ? "," : "", i, i);
	buf_puts(&text, "}}]}");
	r = import_one(text.data);
	assert_int_equal(json_array_size(json_object_get(r, "counters")), COUNTER_MAX_SERIES);
	assert_count(r, "ledger.dropped.series_full", 3);
	json_decref(r);
	buf_finish(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_is_a_series_for_each_of_its_args),
		cmocka_unit_test(memory_is_a_series_of_its_device),
		cmocka_unit_test(async_spans_have_lanes_of_their_own),
		cmocka_unit_test(arrows_are_points_of_their_threads),
		cmocka_unit_test(series_behind_the_limit_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
