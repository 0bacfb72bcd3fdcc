/* tests/test_profiler_kineto.c -- traces in Chrome's format: counts, times, and the ledger. */
#include <stdlib.h>
#include <zlib.h>

#include "tests/import_file.h"

#include "profiler/import/decimal.h"
#include "profiler/import/repair.h"
#include "profiler/import/slices.h"
#include "profiler/timeline/format.h"

#define KERNEL(name, ts, dur, correlation)                                                         \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" ts    \
	",\"dur\":" dur ",\"args\":{\"device\":0,\"stream\":7,\"correlation\":" correlation        \
	",\"grid\":[1,1,1],\"block\":[128,1,1]}}"
#define LAUNCH(ts, correlation)                                                                    \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"          \
	"\"tid\":9,\"ts\":" ts ",\"dur\":1,\"args\":{\"correlation\":" correlation "}}"
#define OP(name, ts, dur)                                                                          \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":9,\"tid\":9,\"ts\":" ts    \
	",\"dur\":" dur "}"
#define TRACE(events) "{\"schemaVersion\": 1, \"traceEvents\": [" events "], \"traceName\": \"t\"}"

static const char *const good = TRACE(
    OP("aten::add", "10", "20") "," LAUNCH("12.5", "3") "," KERNEL(
	"k", "40.125", "2.375",
	"3") ",{\"ph\":\"s\",\"id\":3,\"pid\":9,\"tid\":9,\"ts\":12.5,\"cat\":\"ac2g\",\"name\":"
	     "\"ac2g\"},"
	     "{\"ph\":\"f\",\"id\":3,\"pid\":0,\"tid\":7,\"ts\":40.125,\"cat\":\"ac2g\",\"bp\":"
	     "\"e\"},"
	     "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"s\":\"t\",\"name\":\"[memory]\","
	     "\"pid\":9,\"tid\":9,\"ts\":11,\"args\":{\"Total Reserved\":64,\"Total Allocated\":"
	     "32,\"Bytes\":32,\"Device Id\":0,\"Device Type\":1,\"Addr\":1}}");

static void test_counts(void **state)
{
	/* Whatever the pieces that a file comes in. */
	static const size_t pieces[] = { 1, 2, 3, 7, 64, 1 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		json_t *r = import_texts(&good, 1, pieces[i]);

		assert_non_null(r);
		assert_string_equal(json_string_value(at_path(r, "kind")), "kineto");
		assert_count(r, "kernels.count", 1);
		assert_us(r, "kernels.total_us", 2.375);
		assert_string_equal(json_string_value(at_path(r, "kernels.by_name.0.name")), "k");
		assert_count(r, "ops.count", 1);
		assert_count(r, "api.count", 1);
		assert_count(r, "flows", 2);
		assert_count(r, "memory.0.peak_bytes", 32);
		assert_count(r, "memory.0.peak_reserved_bytes", 64);
		assert_count(r, "events", 6);
		assert_string_equal(json_string_value(at_path(r, "heads.0.traceName")), "t");
		assert_count(r, "ledger.kept.unmatched_flow_start", 0);
		assert_count(r, "ledger.kept.kernels_without_launch", 0);
		assert_count(r, "ledger.dropped.cut_off", 0);
		json_decref(r);
	}
}

/* A file, and which row of the ledger it fills; all of it still yields so many kernels. */
static const struct {
	const char *row;
	int count, kernels;
	const char *text;
} damaged[] = {
	{ "repaired.control_characters", 1, 1, TRACE(KERNEL("a\tb\x01", "1", "1", "1")) },
	{ "repaired.bad_escapes", 1, 1, TRACE(KERNEL("C:\\dir\\x", "1", "1", "1")) },
	{ "repaired.not_finite", 1, 1, TRACE(KERNEL("k", "1", "1", "nan")) },
	{ "repaired.not_finite", 1, 1, TRACE(KERNEL("k", "1", "1", "-Infinity")) },
	{ "repaired.commas", 1, 1, TRACE(KERNEL("k", "1", "1", "1,")) },
	{ "repaired.commas", 1, 1, TRACE(KERNEL("k", "1", "1", "1 \"x\": 2")) },
	{ "repaired.commas", 1, 2,
	  TRACE(KERNEL("k", "1", "1", "1") " " KERNEL("k", "3", "1", "2")) },
	{ "repaired.commas", 1, 2,
	  TRACE(KERNEL("k", "1", "1", "1") " ,, " KERNEL("k", "3", "1", "2")) },
	{ "repaired.commas", 1, 1, TRACE(KERNEL("k", "1", "1", "1") ",") },
	{ "repaired.commas", 1, 1, TRACE(", " KERNEL("k", "1", "1", "1")) },
	{ "repaired.commas", 0, 2,
	  TRACE(KERNEL("k", "1", "1", "1") "\n , " KERNEL("k", "3", "1", "2")) },
	/* In the place of an event: no object. */
	{ "dropped.broken_json", 4, 1, TRACE("12, null,\"{\", " KERNEL("k", "1", "1", "1") ", x") },
	{ "repaired.negative_duration", 1, 1, TRACE(KERNEL("k", "1", "-5", "1")) },
	{ "kept.negative_start", 1, 1, TRACE(KERNEL("k", "-1", "5", "1")) },
	{ "kept.overlapping_device", 1, 2,
	  TRACE(KERNEL("k", "1", "5", "1") "," KERNEL("k", "3", "5", "2")) },
	{ "kept.overlapping", 1, 0, TRACE(OP("a", "1", "5") "," OP("b", "3", "5")) },
	{ "kept.overlapping", 0, 0, TRACE(OP("a", "1", "5") "," OP("b", "3", "3")) },
	{ "kept.string_pids", 1, 0,
	  TRACE(
	      "{\"ph\":\"X\",\"name\":\"a\",\"pid\":\"Spans\",\"tid\":\"x\",\"ts\":1,\"dur\":1}") },
	{ "kept.unknown_category", 1, 0,
	  TRACE("{\"ph\":\"X\",\"cat\":\"new\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,"
		"\"dur\":1}") },
	{ "kept.unmatched_flow_start", 1, 0,
	  TRACE("{\"ph\":\"s\",\"id\":1,\"cat\":\"ac2g\",\"ts\":1}") },
	{ "kept.unmatched_flow_end", 1, 0,
	  TRACE("{\"ph\":\"f\",\"id\":\"0x7\",\"cat\":\"ac2g\",\"ts\":1}") },
	/* The same id of another category is another flow. */
	{ "kept.unmatched_flow_start", 1, 0,
	  TRACE("{\"ph\":\"s\",\"id\":1,\"cat\":\"ac2g\",\"ts\":1},"
		"{\"ph\":\"f\",\"id\":1,\"cat\":\"fwdbwd\",\"ts\":1}") },
	{ "kept.flows_unchecked", 1, 0,
	  TRACE("{\"ph\":\"s\",\"id\":\"x\",\"cat\":\"ac2g\",\"ts\":1}") },
	{ "kept.kernels_without_launch", 1, 1, TRACE(KERNEL("k", "1", "1", "5")) },
	{ "repaired.without_duration", 1, 0,
	  TRACE("{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1}") },
	{ "dropped.without_time", 1, 1,
	  TRACE("{\"ph\":\"X\",\"name\":\"a\",\"dur\":1}," KERNEL("k", "1", "1", "1")) },
	{ "dropped.without_phase", 1, 1, TRACE("{\"name\":\"a\"}," KERNEL("k", "1", "1", "1")) },
	{ "dropped.other_phase", 1, 1,
	  TRACE("{\"ph\":\"N\",\"name\":\"a\"}," KERNEL("k", "1", "1", "1")) },
	{ "dropped.unmatched_begin", 1, 0,
	  TRACE("{\"ph\":\"B\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1}") },
	{ "dropped.unmatched_end", 1, 0, TRACE("{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":1}") },
	/* A quote that is missing, a bracket that is missing: the next event is whole. */
	{ "dropped.broken_json", 1, 2,
	  TRACE(KERNEL("k", "1", "1", "1") ",{\"ph\":\"X,\"ts\":1}," KERNEL("k", "3", "1", "2")) },
	{ "dropped.broken_json", 1, 2,
	  TRACE(KERNEL("k", "1", "1", "1") ",{\"ph\":\"X\",\"ts\":1," KERNEL("k", "3", "1", "2")) },
	{ "dropped.broken_json", 1, 1, TRACE("{\"ph\" \"X\"},{?}," KERNEL("k", "3", "1", "2")) },
	{ "dropped.cut_off", 1, 1,
	  "{\"traceEvents\": [" KERNEL("k", "1", "1", "1") ",{\"ph\":\"X\",\"ts" },
	{ "dropped.cut_off", 1, 1, "{\"traceEvents\": [" KERNEL("k", "1", "1", "1") },
};

static void test_ledger(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		json_t *r = import_texts(&damaged[i].text, 1, 5);
		char path[64];

		assert_non_null(r);
		snprintf(path, sizeof(path), "ledger.%s", damaged[i].row);
		if (strstr(damaged[i].text, "{?}"))
			assert_true(json_integer_value(at_path(r, path)) >= 1);
		else
			assert_count(r, path, damaged[i].count);
		assert_count(r, "kernels.count", damaged[i].kernels);
		json_decref(r);
	}
}

/* NUL in a name, with which a report and a table of names could not be read again. */
static void test_nul(void **state)
{
	json_t *r = import_one("{\"traceEvents\": [" KERNEL("a\\u0000b", "1", "1", "1") "]}");
	char *text = json_dumps(r, 0);
	json_t *again = json_loads(text, 0, NULL);

	(void)state;
	assert_string_equal(text_at(again, "kernels.by_name.0.name"), "a\xef\xbf\xbd"
								      "b");
	json_decref(again);
	free(text);
	json_decref(r);
}

static void test_pairs_and_bare_lists(void **state)
{
	json_t *r = import_one(
	    "[{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,"
	    "\"tid\":1,\"ts\":1},{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"b\","
	    "\"pid\":1,\"tid\":1,\"ts\":2},{\"ph\":\"E\",\"pid\":1,\"tid\":1,"
	    "\"ts\":4},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":9}]");

	(void)state;
	assert_count(r, "ops.count", 2);
	assert_us(r, "ops.by_name.0.total_us", 8);
	assert_us(r, "ops.by_name.1.total_us", 2);
	json_decref(r);
}

static void test_regions(void **state)
{
	json_t *r = import_one(TRACE(
	    OP("TorchDynamo Cache Lookup", "0", "4") "," OP("Torch-Compiled Region: 0/0", "5", "100") "," LAUNCH(
		"10",
		"1") "," OP("TorchDynamo Cache Lookup", "50",
			    "3") "," OP("Torch-Compiled Region: 1/0", "60",
					"30") "," OP("## Call CompiledFxGraph fabc ##", "62",
						     "10") "," LAUNCH("65",
								      "2") "," KERNEL("k", "70",
										      "6",
										      "2") "," KERNEL("k",
												      "20",
												      "2",
												      "1")));

	(void)state;
	assert_string_equal(json_string_value(at_path(r, "regions.0.compile")), "0/0");
	assert_us(r, "regions.0.total_us", 100);
	assert_us(r, "regions.0.self_us", 70); /* without the region within */
	assert_us(r, "regions.0.lookup_us", 4);
	assert_us(r, "regions.0.kernel_us", 2);
	assert_us(r, "regions.1.self_us", 20); /* without its graph */
	assert_us(r, "regions.1.lookup_us", 3);
	assert_us(r, "regions.1.graph_us", 10);
	assert_count(r, "regions.1.launches", 1);
	assert_us(r, "regions.1.kernel_us", 6);
	assert_count(r, "graphs", 1);
	json_decref(r);
}

#define NOTE(name, ts, dur)                                                                        \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"" name                               \
	"\",\"pid\":9,\"tid\":9,\"ts\":" ts ",\"dur\":" dur "}"

/* A compilation that a call begins, an op in 2.14 and an annotation in 2.6, is none of the
 * frame's own time, nor are the kernels that it tries. */
static void test_compilations_within(void **state)
{
	static const char *const events[] = {
		OP("Torch-Compiled Region: 0/0", "0", "100"),
		OP("dynamo", "10", "40"),
		OP("_compile.compile_inner (dynamo_timed)", "12", "30"),
		LAUNCH("15", "1"),
		KERNEL("tried", "20", "2", "1"),
		NOTE("_compile.compile_inner (dynamo_timed)", "60", "20"),
		OP("Torch-Compiled Region: 1/0", "85", "5"),
	};
	char text[4096] = "[";
	json_t *r;

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		sprintf(text + strlen(text), "%s%s", i ? "," : "", events[i]);
	strcat(text, "]");
	r = import_one(text);
	assert_us(r, "regions.0.total_us", 100);
	assert_us(r, "regions.0.compile_us", 60);
	assert_us(r, "regions.0.self_us", 35);
	assert_count(r, "regions.0.launches", 0);
	assert_count(r, "regions.0.kernels", 0);
	assert_us(r, "regions.1.self_us", 5);
	assert_count(r, "kernels.count", 1);
	json_decref(r);
}

/* The earliest time of a timeline's blocks. */
static bool note_start(void *self, const void *block, size_t len, struct err *err)
{
	int64_t *least = self;
	struct timeline_head head;

	(void)err;
	assert_true(len >= sizeof(head));
	memcpy(&head, block, sizeof(head));
	if (head.events && head.t0_ns < *least)
		*least = head.t0_ns;
	return true;
}

/* 2.6 says after the events where the zero of their clock is: looked up in a file, lost in a
 * stream. */
static void test_base_at_end(void **state)
{
	static const char text[] = "{\"traceEvents\": [" OP(
	    "a", "5.5", "1") "],\n"
			     "\"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": "
			     "1790857026000000000\n}\n";
	int64_t least = INT64_MAX;
	FILE *file = tmpfile();
	struct err err = { 0 };
	struct import *im = import_create(note_start, &least, 0, &err);
	json_t *r;

	(void)state;
	assert_non_null(file);
	fputs(text, file);
	fflush(file);
	rewind(file);
	assert_true(import_fd(im, "trace.json", fileno(file), &err));
	r = import_finish(im, &err);
	assert_count(r, "ledger.kept.late_base_time", 0);
	assert_int_equal(least, INT64_C(1790857026000005500));
	json_decref(r);
	import_destroy(im);
	fclose(file);
	r = import_one(text);
	assert_count(r, "ledger.kept.late_base_time", 1);
	json_decref(r);
}

static void test_decimals(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} times[] = {
		{ "4379411508918.460", 4379411508918460 },
		{ "10", 10000 },
		{ "1.5e+15", 1500000000000000000 },
		{ "-0.5", -500 },
		{ "1.0006", 1001 },
		{ "1700000000000000.123", 1700000000000000123 },
	};
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_true(decimal_scaled(times[i].text, strlen(times[i].text), 3, &ns));
		assert_true(ns == times[i].ns);
	}
	assert_false(decimal_scaled("", 0, 3, &ns));
	assert_false(decimal_scaled("1e400", 5, 3, &ns));
	assert_false(decimal_scaled("12x", 3, 3, &ns));
}

/* `good` as gzip, in `out`; its length. */
static size_t zip(unsigned char *out, size_t room)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)good;
	z.avail_in = (uInt)strlen(good);
	z.next_out = out;
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static json_t *import_bytes(const unsigned char *bytes, size_t len, size_t most, size_t piece)
{
	struct err err = { 0 };
	struct import *im = import_create(NULL, NULL, most, &err);
	bool ok = import_begin(im, "bytes", &err);
	json_t *report;

	for (size_t at = 0; ok && at < len; at += piece)
		ok = import_feed(im, bytes + at, len - at < piece ? len - at : piece, &err);
	report = ok && import_end(im, &err) ? import_finish(im, &err) : NULL;
	if (!report)
		assert_int_equal(err.code, ERR_TOO_LARGE);
	import_destroy(im);
	return report;
}

static void test_gzip(void **state)
{
	unsigned char bytes[4096];
	size_t len = zip(bytes, sizeof(bytes));
	json_t *r;

	(void)state;
	for (size_t piece = 1; piece < 4; piece++) {
		r = import_bytes(bytes, len, 0, piece);
		assert_count(r, "kernels.count", 1);
		assert_count(r, "files.0.bytes", (int64_t)len);
		assert_count(r, "files.0.decoded_bytes", (int64_t)strlen(good));
		assert_count(r, "ledger.dropped.cut_off", 0);
		json_decref(r);
	}
	r = import_bytes(bytes, len - 12, 0, 100);
	assert_true(json_integer_value(at_path(r, "ledger.dropped.cut_off")) > 0);
	json_decref(r);
	memset(bytes + len / 2, 0xff, 16);
	r = import_bytes(bytes, len, 0, 100);
	assert_count(r, "ledger.dropped.broken_gzip", 1);
	json_decref(r);
	assert_null(import_bytes(bytes, len, 16, 100)); /* more than is taken */
}

/* Whether bytes are refused with a message that has `words`. */
static void assert_refused(const char *bytes, size_t len, const char *words)
{
	struct err err = { 0 };
	struct import *im = import_create(NULL, NULL, 0, &err);

	assert_true(import_begin(im, "a.json", &err));
	assert_false(import_feed(im, bytes, len, &err) && import_end(im, &err));
	import_destroy(im);
	if (!strstr(err.message, words) || !strstr(err.message, "a.json"))
		fail_msg("'%s' has no '%s'", err.message, words);
}

static void test_no_log(void **state)
{
	(void)state;
	assert_refused("GIF89a", 6, "not a log of a known kind");
	assert_refused("", 0, "is empty");
	assert_refused("\x28\xb5\x2f\xfd\x04\x58", 6,
		       "is packed by zstd; logs are taken as they are or by gzip");
	assert_refused("\x1f\x8b\x08", 3, "gzip");
	/* JSON that is whole and lists no events; one that is cut before them is in the ledger.
	 */
	assert_refused("{}", 2, "\"traceEvents\"");
	assert_refused("{\"a\": [1]}", 10, "\"traceEvents\"");
	assert_refused("{\"traceEvents\": 3}", 18, "\"traceEvents\"");
}

/* Real ones: what a careful reader counts in them (python3: len of the events with
 * "cat": "kernel", the sum of their "dur"). */
static void test_real(void **state)
{
	json_t *r = import_path("../shared/traces/kineto_2.11_chain20_eager.json.gz");

	(void)state;
	if (!r) {
		print_message("no ../shared/traces here: real traces are not read\n");
		skip();
	}
	assert_count(r, "kernels.count", 230);
	assert_us(r, "kernels.total_us", 246.431);
	assert_count(r, "kernels.by_name.0.count", 70);
	assert_count(r, "ops.count", 270);
	assert_count(r, "api.count", 232);
	assert_count(r, "flows", 462);
	assert_count(r, "ledger.kept.unmatched_flow_start", 2);
	json_decref(r);
	r = import_path("../shared/traces/kineto_2.11_chain20_compiled.json.gz");
	assert_count(r, "kernels.count", 10);
	assert_us(r, "kernels.total_us", 13.982);
	assert_count(r, "regions.0.calls", 10);
	assert_count(r, "regions.0.kernels", 10);
	assert_count(r, "graphs", 1);
	json_decref(r);
}

static bool count_event(void *self, const char *text, size_t len, struct err *err)
{
	(void)text, (void)len, (void)err;
	++*(int *)self;
	return true;
}

/* What is kept is looked at again with the next piece: of blanks nothing is, wherever they are. */
static void test_blanks_are_read_once(void **state)
{
	static const char *const places[][2] = {
		{ "", "[{},{}]" }, { "[", "{},{}]" }, { "[{}", ",{}]" },
		{ "[{},", "{}]" }, { "[{},{}", "]" }, { "[{},{}]", "" },
	};
	char blanks[4096];

	(void)state;
	memset(blanks, ' ', sizeof(blanks));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct ledger ledger = { 0 };
		struct err err = { 0 };
		struct slices s;
		int events = 0;

		slices_init(&s, count_event, &events, &ledger);
		assert_true(slices_feed(&s, places[i][0], strlen(places[i][0]), &err));
		for (int k = 0; k < 100; k++) {
			assert_true(slices_feed(&s, blanks, sizeof(blanks), &err));
			assert_in_range(s.pending.len, 0, 1);
		}
		assert_true(slices_feed(&s, places[i][1], strlen(places[i][1]), &err));
		assert_true(slices_end(&s, &err));
		assert_int_equal(events, 2);
		assert_int_equal(ledger.n[LEDGER_COMMA] + ledger.n[LEDGER_BROKEN_EVENT] +
				     ledger.n[LEDGER_CUT_OFF],
				 0);
		slices_finish(&s);
	}
}

/* Of a hole of gigabytes, or whatever else has no event, the rest is left out. */
static void a_hole_is_left(void **state)
{
	static const char hole[4096];
	const char *begin = "[{}", *end = ",{},{}]";

	(void)state;
	for (int left = 0; left < 2; left++) {
		struct ledger ledger = { 0 };
		struct err err = { 0 };
		struct slices s;
		int events = 0;

		slices_init(&s, count_event, &events, &ledger);
		assert_true(slices_feed(&s, begin, strlen(begin), &err));
		assert_true(slices_feed(&s, hole, sizeof(hole), &err));
		/* As if so much of it had come that this much is left. */
		s.idle = SLICE_IDLE_BYTES - sizeof(hole) - !left;
		for (int k = 0; k < 3 - 2 * !left; k++)
			assert_true(slices_feed(&s, hole, sizeof(hole), &err));
		assert_true(slices_feed(&s, end, strlen(end), &err));
		assert_true(slices_feed(&s, begin + 1, 2, &err));
		assert_true(slices_end(&s, &err));
		assert_int_equal(events, left ? 1 : 3);
		assert_int_equal(ledger.n[LEDGER_NO_EVENTS], left);
		assert_int_equal(ledger.n[LEDGER_CUT_OFF], left);
		slices_finish(&s);
	}
}

static void a_missing_comma_is_put_in(void **state)
{
	static const char text[] = "[{\"a\": nan} {\"b\": 2},]";
	struct repairs done = { 0 };
	struct buf out;

	(void)state;
	buf_init(&out, 1 << 10);
	assert_true(repair_json(text, strlen(text), &out, &done));
	assert_true(done.comma && done.not_finite && !done.escape && !done.control);
	assert_string_equal(out.data, "[{\"a\": null} ,{\"b\": 2} ]");
	buf_finish(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hole_is_left),
		cmocka_unit_test(a_missing_comma_is_put_in),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_blanks_are_read_once),
		cmocka_unit_test(test_ledger),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_pairs_and_bare_lists),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_compilations_within),
		cmocka_unit_test(test_base_at_end),
		cmocka_unit_test(test_decimals),
		cmocka_unit_test(test_gzip),
		cmocka_unit_test(test_no_log),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
