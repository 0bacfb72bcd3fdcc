/* tests/test_profiler_export.c -- runs as other tools read them: bounds, escapes, and back. */
#include <zlib.h>

#include "fusion/base/vec.h"
#include "profiler/export/export.h"
#include "tests/complete.h"
#include "tests/import_file.h"

enum { PIECE = 1 << 18 }; /* that an import is fed */

struct block {
	char *data;
	size_t len;
};

/* A store in memory. */
struct store {
	VEC(struct block) blocks;
};

static bool keep(void *self, const void *block, size_t len, struct err *err)
{
	struct store *s = self;
	struct block b = { malloc(len), len };

	(void)err;
	memcpy(b.data, block, len);
	return VEC_PUSH(&s->blocks, b);
}

static bool give(void *store, int64_t kind, timeline_block_fn *each, void *self, struct err *err)
{
	struct store *s = store;

	for (size_t i = 0; i < s->blocks.len; i++) {
		struct timeline_block b;

		assert_true(
		    timeline_block_read(s->blocks.at[i].data, s->blocks.at[i].len, &b, err));
		if (b.kind == kind && !each(self, s->blocks.at[i].data, s->blocks.at[i].len, err))
			return false;
	}
	return true;
}

static void drop(struct store *s)
{
	for (size_t i = 0; i < s->blocks.len; i++)
		free(s->blocks.at[i].data);
	VEC_FREE(&s->blocks);
}

struct sink {
	struct buf text;
	size_t most;    /* in one piece */
	size_t refused; /* from so many bytes on; 0: never */
};

static bool put(void *self, const void *bytes, size_t len, struct err *err)
{
	struct sink *s = self;

	s->most = len > s->most ? len : s->most;
	buf_add(&s->text, bytes, len);
	return !s->refused || s->text.len < s->refused || err_set(err, ERR_IO, "the disk is full");
}

static struct export_run run_of(struct store *s, const json_t *report)
{
	return (struct export_run){ .id = 7,
				    .name = "a \"run\" of <b>",
				    .status = "done",
				    .device = "cpu",
				    .report = report,
				    .blocks = give,
				    .store = s };
}

static bool write_as(const char *format, const struct export_run *run, const struct export_query *q,
		     struct sink *out, struct err *err)
{
	static const struct export_query all;
	const struct export_format *f = export_format_find(format, err);

	assert_non_null(f);
	buf_init(&out->text, 0);
	return export_write(f, run, q ? q : &all, put, out, err);
}

static json_t *json_as(const char *format, const struct export_run *run)
{
	struct sink out = { 0 };
	struct err err = { 0 };
	json_error_t at;
	json_t *json;

	assert_true(write_as(format, run, NULL, &out, &err));
	json = json_loadb(out.text.data, out.text.len, JSON_REJECT_DUPLICATES, &at);
	if (!json)
		print_error("%s: %s (line %d)\n", format, at.text, at.line);
	assert_non_null(json);
	buf_finish(&out.text);
	return json;
}

static char odd_name[TIMELINE_NAME_CHARS + 1];

/* Launches and what they launch, `n` of each, with odd names and shapes. */
static void record(struct store *s, int n)
{
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, s, &err);
	uint32_t host, device, names[3], shape;

	memset(odd_name, '"', TIMELINE_NAME_CHARS);
	memcpy(odd_name, "=<\\\t&\x01'\xf0\x9f\x90\x8d", 11);
	host = timeline_writer_lane(w, json_pack("{s:s, s:s, s:s, s:i}", "name", "host <1>", "role",
						 "host", "mode", "static", "n", 3));
	device = timeline_writer_lane(w, json_pack("{s:s, s:s, s:s, s:i}", "name", "kernels",
						   "role", "kernels", "mode", "static", "n", 3));
	names[0] = timeline_writer_name(w, json_pack("{s:s}", "name", "launch"));
	names[1] = timeline_writer_name(
	    w, json_pack("{s:s, s:[s], s:[i]}", "name", odd_name, "ops", "relu", "lines", 4));
	names[2] = timeline_writer_name(w, json_pack("{s:s}", "name", ""));
	shape = timeline_writer_shape(w, json_pack("{s:[i, i, i]}", "grid", 4, 1, 1));
	for (int i = 0; i < n; i++) {
		struct timeline_event e = { .start_ns = INT64_C(86400000000001) + 100 * i,
					    .duration_ns = 31,
					    .lane = host,
					    .kind = TIMELINE_LAUNCH,
					    .name = names[0],
					    .correlation = (uint32_t)i + 1 };

		assert_true(timeline_writer_add(w, &e, &err));
		e.start_ns += 33;
		e.duration_ns = 66;
		e.lane = device;
		e.kind = TIMELINE_KERNEL;
		e.name = names[1 + i % 2];
		e.shape = i % 2 ? 0 : shape;
		assert_true(timeline_writer_add(w, &e, &err));
	}
	assert_true(timeline_writer_finish(w, json_pack("{s:i}", "dropped", 2), &err));
	timeline_writer_destroy(w);
}

static void a_run_without_anything_is_written_in_every_format(void **state)
{
	struct store s = { 0 };
	struct export_run run = run_of(&s, NULL);
	json_t *json;

	(void)state;
	run.status = "failed";
	run.error = "line 3: <no & such> \"name\"";
	for (int i = 0; i < export_format_count(); i++) {
		const char *name = export_format_at(i)->name;
		struct sink out = { 0 };
		struct err err = { 0 };
		bool drawn = strcmp(name, "dot") == 0 || strcmp(name, "svg") == 0;

		assert_int_equal(write_as(name, &run, NULL, &out, &err), !drawn);
		assert_int_equal(err.code, drawn ? ERR_NOT_FOUND : ERR_NONE);
		if (strcmp(name, "html") == 0)
			assert_non_null(strstr(out.text.data,
					       "line 3: &lt;no &amp; such&gt; &quot;name&quot;"));
		buf_finish(&out.text);
	}
	json = json_as("json", &run);
	assert_string_equal(json_string_value(at_path(json, "run.error")), run.error);
	json_decref(json);
	json_decref(json_as("chrome", &run));
	json_decref(json_as("speedscope", &run));
}

/* A stranger's events may say any number of bytes: their sum stops where numbers end. */
static void bytes_add_up_to_what_a_number_holds(void **state)
{
	struct store s = { 0 };
	struct export_run run = run_of(&s, NULL);
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, &s, &err);
	uint32_t lane = timeline_writer_lane(
	    w, json_pack("{s:s, s:s}", "name", "kernels", "role", "kernels"));
	uint32_t name = timeline_writer_name(w, json_pack("{s:s}", "name", "copy"));

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct timeline_event e = { .start_ns = 100 * i,
					    .duration_ns = 50,
					    .lane = lane,
					    .kind = TIMELINE_KERNEL,
					    .name = name,
					    .bytes = INT64_MAX };

		assert_true(timeline_writer_add(w, &e, &err));
	}
	assert_true(timeline_writer_finish(w, json_object(), &err));
	timeline_writer_destroy(w);
	for (int i = 0; i < export_format_count(); i++) {
		struct sink out = { 0 };

		write_as(export_format_at(i)->name, &run, NULL, &out, &err);
		if (strcmp(export_format_at(i)->name, "csv") == 0)
			assert_non_null(strstr(out.text.data, "copy"));
		buf_finish(&out.text);
	}
	drop(&s);
}

static void odd_names_stay_what_they_are(void **state)
{
	struct store s = { 0 };
	struct export_run run = run_of(&s, NULL);
	struct sink html = { 0 }, csv = { 0 };
	struct err err = { 0 };
	json_t *chrome, *speedscope;
	const json_t *e;
	int kernels = 0;
	size_t i;

	(void)state;
	record(&s, 4);
	chrome = json_as("chrome", &run);
	json_array_foreach(json_object_get(chrome, "traceEvents"), i, e)
	{
		const char *cat = json_string_value(json_object_get(e, "cat"));

		if (!cat || strcmp(cat, "kernel") != 0 || !at_path(e, "args.shape"))
			continue;
		assert_string_equal(json_string_value(json_object_get(e, "name")), odd_name);
		assert_us(e, "ts", 0.033 + 0.2 * kernels++);
		assert_us(e, "dur", 0.066);
		assert_count(e, "args.lines.0", 4);
		assert_count(e, "args.shape.grid.0", 4);
	}
	assert_int_equal(kernels, 2);
	speedscope = json_as("speedscope", &run);
	assert_string_equal(json_string_value(at_path(speedscope, "shared.frames.2.name")),
			    odd_name);
	assert_true(write_as("html", &run, NULL, &html, &err));
	assert_null(strstr(html.text.data, "<\\"));
	assert_non_null(strstr(html.text.data, "=&lt;\\\t&amp;\xef\xbf\xbd&#39;"));
	assert_true(write_as("csv", &run, NULL, &csv, &err));
	assert_non_null(strstr(csv.text.data, "\"'=<\\\t&\x01'\xf0\x9f\x90\x8d\"\"\"\""));
	buf_finish(&html.text);
	buf_finish(&csv.text);
	json_decref(chrome);
	json_decref(speedscope);
	drop(&s);
}

/* The timeline of a trace that is imported, and the report of it. */
static json_t *import_into(struct store *s, const char *text, size_t len, struct err *err)
{
	struct import *im = import_create(keep, s, 0, err);
	json_t *report = NULL;
	bool ok = import_begin(im, "again", err);

	for (size_t at = 0; ok && at < len; at += PIECE)
		ok = import_feed(im, text + at, len - at < PIECE ? len - at : PIECE, err);
	if (ok && import_end(im, err))
		report = import_finish(im, err);
	import_destroy(im);
	return report;
}

static void a_long_timeline_goes_out_in_pieces_and_comes_back_whole(void **state)
{
	enum { LAUNCHES = 50000 };
	struct store s = { 0 }, back = { 0 };
	struct export_run run = run_of(&s, NULL), again = run_of(&back, NULL);
	struct sink first = { 0 }, second = { 0 };
	struct err err = { 0 };
	json_t *report;

	(void)state;
	record(&s, LAUNCHES);
	assert_true(write_as("chrome", &run, NULL, &first, &err));
	assert_true(first.text.len > 20 << 20);
	assert_true(first.most <= 512 << 10);
	report = import_into(&back, first.text.data, first.text.len, &err);
	assert_count(report, "kernels.count", LAUNCHES);
	assert_us(report, "kernels.total_us", LAUNCHES * 0.066);
	assert_count(report, "exported.id", 7);
	/* A second time it is written to the byte as the first, but for the head. */
	assert_true(write_as("chrome", &again, NULL, &second, &err));
	assert_string_equal(strstr(first.text.data, "\"traceEvents\""),
			    strstr(second.text.data, "\"traceEvents\""));
	assert_non_null(strstr(second.text.data, "\"dropped\":2"));
	json_decref(report);
	buf_finish(&first.text);
	buf_finish(&second.text);
	drop(&s);
	drop(&back);
}

static void what_is_packed_is_what_is_not(void **state)
{
	struct store s = { 0 };
	struct export_run run = run_of(&s, NULL);
	struct sink plain = { 0 }, packed = { 0 };
	struct err err = { 0 };
	unsigned char *bytes;
	z_stream z = { 0 };

	(void)state;
	record(&s, 5000);
	assert_true(write_as("chrome", &run, NULL, &plain, &err));
	assert_true(write_as("chrome_gz", &run, NULL, &packed, &err));
	assert_true(packed.text.len < plain.text.len / 10);
	bytes = malloc(plain.text.len + 1);
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = (unsigned char *)packed.text.data;
	z.avail_in = (unsigned)packed.text.len;
	z.next_out = bytes;
	z.avail_out = (unsigned)plain.text.len + 1;
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, plain.text.len);
	assert_memory_equal(bytes, plain.text.data, plain.text.len);
	inflateEnd(&z);
	free(bytes);
	buf_finish(&plain.text);
	buf_finish(&packed.text);
	drop(&s);
}

static void a_sink_that_fails_ends_the_export_with_its_error(void **state)
{
	struct store s = { 0 };
	struct export_run run = run_of(&s, NULL);

	(void)state;
	record(&s, 5000);
	for (int i = 0; i < export_format_count(); i++) {
		struct sink out = { .refused = 1 };
		struct err err = { 0 };

		assert_false(write_as(export_format_at(i)->name, &run, NULL, &out, &err));
		if (err.code != ERR_NOT_FOUND) /* a graph */
			assert_string_equal(err.message, "the disk is full");
		buf_finish(&out.text);
	}
	drop(&s);
}

/* A slice that ends after the one it began in is closed with it. */
static void speedscope_clips_what_does_not_nest(void **state)
{
	static const int64_t spans[][2] = { { 0, 100 }, { 50, 100 }, { 60, 0 }, { 120, 10 } };
	struct store s = { 0 };
	struct export_run run = run_of(&s, NULL);
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(keep, &s, &err);
	const json_t *profile, *e;
	json_int_t now = 0;
	json_t *json;
	int open = 0;
	size_t i;

	(void)state;
	timeline_writer_lane(w, json_pack("{s:s}", "name", "lane"));
	for (i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		struct timeline_event event = { .start_ns = spans[i][0],
						.duration_ns = spans[i][1] };

		assert_true(timeline_writer_add(w, &event, &err));
	}
	assert_true(timeline_writer_finish(w, NULL, &err));
	timeline_writer_destroy(w);
	json = json_as("speedscope", &run);
	profile = at_path(json, "profiles.0");
	assert_string_equal(json_string_value(at_path(profile, "name")), "lane (1 clipped)");
	json_array_foreach(json_object_get(profile, "events"), i, e)
	{
		json_int_t at = json_integer_value(json_object_get(e, "at"));

		assert_true(at >= now);
		now = at;
		open += json_string_value(json_object_get(e, "type"))[0] == 'O' ? 1 : -1;
		assert_true(open >= 0);
	}
	assert_int_equal(open, 0);
	assert_int_equal(i, 8);
	json_decref(json);
	drop(&s);
}

/* Any byte of a trace of ours may be another: that is an import like others. */
static void a_mutated_trace_is_read_or_refused(void **state)
{
	struct store s = { 0 };
	struct export_run run = run_of(&s, NULL);
	struct sink out = { 0 };
	struct err err = { 0 };
	uint32_t random = 1;

	(void)state;
	record(&s, 8);
	assert_true(write_as("chrome", &run, NULL, &out, &err));
	for (int i = 0; i < 400; i++) {
		struct store back = { 0 };
		struct err why = { 0 };
		size_t len = out.text.len, at;
		char *text = malloc(len);
		json_t *report;

		memcpy(text, out.text.data, len);
		for (int k = 0; k <= i % 5; k++) {
			random = random * 1664525 + 1013904223;
			at = (random >> 8) % len;
			text[at] = "\"{}[]:,0-9\\x\xff"[random % 13];
		}
		if (i % 7 == 0)
			len = (random >> 4) % len;
		report = import_into(&back, text, len, &why);
		assert_true(report ? json_is_object(json_object_get(report, "ledger"))
				   : why.message[0] != '\0');
		json_decref(report);
		drop(&back);
		free(text);
	}
	buf_finish(&out.text);
	drop(&s);
}

/* A head that claims too much: numbers of rows, rows that are none. */
static void hostile_tables_are_bounded(void **state)
{
	static const char *const events[] = {
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":"
		"\"a\",\"args\":{\"name_id\":131071,\"shape_id\":131071,\"shape\":[]}}",
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1,\"name\":"
		"\"a\",\"args\":{\"name_id\":131072,\"shape_id\":-4}}",
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"lane\":7}}",
		"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2}",
	};
	struct buf text;

	(void)state;
	buf_init(&text, 0);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct store back = { 0 };
		struct err err = { 0 };
		json_t *report;

		buf_clear(&text);
		buf_printf(&text,
			   "{\"breakeven\":{\"export\":1,\"facts\":[],\"report\":{\"import\":{"
			   "\"ledger\":{\"dropped\":{\"cut_off\":-5}}},\"points\":7,\"modes\":[]}},"
			   "\"traceEvents\":[%s]}",
			   events[i]);
		report = import_into(&back, text.data, text.len, &err);
		assert_non_null(report);
		assert_count(report, "ledger.dropped.cut_off", 0);
		assert_count(report, "kernels.count", i < 2);
		json_decref(report);
		drop(&back);
	}
	buf_finish(&text);
}

static void a_redacted_report_has_stand_ins_that_stay_the_same(void **state)
{
	struct store s = { 0 };
	json_t *report = json_pack(
	    "{s:{s:{s:[{s:s, s:s, s:[{s:i, s:s}]}], s:[{s:i, s:s, s:[s]}]}}}", "modes", "static",
	    "breaks", "kind", "host-call", "message", "`walrus.tusk` is read, as 'blubber' is",
	    "stack", "line", 9, "function", "walrus_of_mine", "graphs", "id", 0, "frame",
	    "torch_dynamo_resume_in_walrus_at_5", "ops", "relu");
	json_t *workload = json_pack("{s:s, s:s}", "policy", "dynamo", "source",
				     "def f(walrus): # secret\n  return walrus.tusk + 'blubber'\n");
	struct export_run run = run_of(&s, complete(REPORT_RECORD(run), report));
	struct export_query q = { .redact = true };
	struct sink out = { 0 };
	struct err err = { 0 };
	json_t *json;

	(void)state;
	run.workload = workload;
	assert_true(write_as("json", &run, &q, &out, &err));
	json = json_loadb(out.text.data, out.text.len, 0, NULL);
	assert_null(strstr(out.text.data, "walrus"));
	assert_null(strstr(out.text.data, "tusk"));
	assert_null(strstr(out.text.data, "blubber"));
	assert_null(strstr(out.text.data, "secret"));
	assert_count(json, "modes.static.breaks.0.stack.0.line", 9);
	assert_string_equal(json_string_value(at_path(json, "modes.static.graphs.0.ops.0")),
			    "relu");
	assert_string_equal(json_string_value(at_path(json, "workload.policy")), "dynamo");
	assert_true(json_is_true(at_path(json, "run.redacted")));
	/* walrus is the same name in the message and in the frame. */
	{
		const char *message = json_string_value(
		    at_path(json, "modes.static.breaks.0.message"));
		const char *frame = json_string_value(at_path(json, "modes.static.graphs.0.frame"));
		char wanted[64];
		int number;

		assert_int_equal(sscanf(message, "`name%d.", &number), 1);
		snprintf(wanted, sizeof(wanted), "torch_dynamo_resume_in_name%d_at_5", number);
		assert_string_equal(frame, wanted);
	}
	json_decref(json);
	json_decref(report);
	json_decref(workload);
	buf_finish(&out.text);
}

static void a_name_that_no_event_has_is_hidden(void **state)
{
	struct store s = { 0 };
	json_t *report = json_pack("{s:{s:[{s:s}], s:[{s:s, s:s}]}, s:{s:{}}}", "import", "heads",
				   "my_key", "mine", "files", "name", "/home/me/trace.json", "kind",
				   "kineto", "modes", "none");
	struct export_run run = run_of(&s, complete(REPORT_RECORD(run), report));
	struct export_query q = { .redact = true, .mode = "none" };
	struct sink frames = { 0 }, all = { 0 };
	struct err err = { 0 };
	json_t *json;

	(void)state;
	record(&s, 4);
	assert_true(write_as("speedscope", &run, &q, &frames, &err));
	json = json_loadb(frames.text.data, frames.text.len, 0, NULL);
	assert_string_equal(json_string_value(at_path(json, "shared.frames.1.name")), "hidden");
	json_decref(json);
	q.mode = NULL;
	assert_true(write_as("chrome", &run, &q, &all, &err));
	assert_non_null(strstr(all.text.data, "\"name\":\"launch\""));
	assert_non_null(strstr(all.text.data, "\"path1\""));
	assert_null(strstr(all.text.data, "my_key"));
	assert_null(strstr(all.text.data, "/home"));
	json_decref(report);
	buf_finish(&frames.text);
	buf_finish(&all.text);
	drop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_without_anything_is_written_in_every_format),
		cmocka_unit_test(bytes_add_up_to_what_a_number_holds),
		cmocka_unit_test(odd_names_stay_what_they_are),
		cmocka_unit_test(a_long_timeline_goes_out_in_pieces_and_comes_back_whole),
		cmocka_unit_test(what_is_packed_is_what_is_not),
		cmocka_unit_test(a_sink_that_fails_ends_the_export_with_its_error),
		cmocka_unit_test(speedscope_clips_what_does_not_nest),
		cmocka_unit_test(a_mutated_trace_is_read_or_refused),
		cmocka_unit_test(hostile_tables_are_bounded),
		cmocka_unit_test(a_redacted_report_has_stand_ins_that_stay_the_same),
		cmocka_unit_test(a_name_that_no_event_has_is_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
