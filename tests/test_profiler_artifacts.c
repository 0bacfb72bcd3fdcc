/* tests/test_profiler_artifacts.c -- texts that an import keeps of a TORCH_TRACE. */
#include "tests/import_file.h"
#include "tests/read_whole.h"

#include "fusion/base/buf.h"
#include "profiler/import/artifacts.h"
#include "profiler/timeline/timeline.h"

struct kept_texts {
	json_t *rows;
	struct buf text; /* of all, one after the other */
};

static bool take_texts(void *self, const void *block, size_t len, struct err *err)
{
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct kept_texts *k = self;
	struct timeline_block b;
	struct buf piece = { 0 };
	json_t *rows;

	assert_true(timeline_block_read(block, len, &b, err));
	if (b.kind == TIMELINE_TEXTS) {
		assert_int_equal(b.t0_ns, k->text.len);
		assert_true(timeline_file_read(&b, name, &k->text, err));
		assert_int_equal(b.t1_ns, k->text.len - 1);
	} else if (b.kind == TIMELINE_INDEX) {
		assert_true(timeline_file_read(&b, name, &piece, err));
		rows = json_loadb(piece.data, piece.len, 0, NULL);
		assert_true(json_is_array(rows));
		assert_int_equal(b.t0_ns, json_array_size(k->rows) + 1);
		json_array_extend(k->rows, rows);
		assert_int_equal(b.t1_ns, json_array_size(k->rows));
		json_decref(rows);
		buf_finish(&piece);
	}
	return true;
}

/* The texts of logs, one after the other, and the report; the caller drops both. */
static json_t *keep_texts(const char *const *logs, int n, struct kept_texts *out)
{
	struct err err = { 0 };
	struct import *im;
	json_t *report;

	*out = (struct kept_texts){ .rows = json_array() };
	im = import_create(take_texts, out, 0, &err);
	for (int i = 0; i < n; i++) {
		assert_true(import_named(im, logs[i], "log", &err));
	}
	report = import_finish(im, &err);
	assert_non_null(report);
	import_destroy(im);
	return report;
}

static void drop_texts(struct kept_texts *k, json_t *report)
{
	json_decref(report);
	json_decref(k->rows);
	buf_finish(&k->text);
}

/* The nth text of a kind, new; *row is its row, NULL: there is none. */
static char *kept(const struct kept_texts *k, const char *kind, int nth, const json_t **row)
{
	const json_t *item;
	size_t i;

	json_array_foreach(k->rows, i, item)
	{
		if (strcmp(text_at(item, "kind"), kind) != 0 || nth-- > 0)
			continue;
		*row = item;
		return strndup(k->text.data + json_integer_value(json_object_get(item, "at")),
			       (size_t)json_integer_value(json_object_get(item, "bytes")));
	}
	*row = NULL;
	return NULL;
}

static void test_what_is_kept_of_each(void **state)
{
	static const char path[] = "tests/import/artifacts.log";
	const char *logs[] = { path, path };
	struct kept_texts k;
	const json_t *row;
	json_t *r = keep_texts(logs, 2, &k);
	char *text = kept(&k, "aot_joint_graph", 0, &row);

	(void)state;
	assert_string_equal(text, "one\ntwo");
	assert_string_equal(text_at(row, "compile"), "3/1");
	assert_count(row, "attempt", 2);
	assert_count(row, "line", 2);
	assert_string_equal(text_at(row, "group"), "graph");
	free(text);
	/* JSON is indented, its texts as they are; a name that nobody knows is a kind. */
	text = kept(&k, "tomorrow's", 0, &row);
	assert_string_equal(text, "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": \"x,{\"\n}");
	assert_string_equal(text_at(row, "group"), "other");
	assert_null(json_object_get(row, "compile"));
	assert_null(json_object_get(row, "said"));
	free(text);
	free(kept(&k, "optimize_ddp_split_child", 0, &row));
	assert_string_equal(text_at(row, "name"), "submod_0");
	free(kept(&k, "dump_file", 1, &row));
	assert_count(row, "file", 1);
	free(kept(&k, "a_kind", 0, &row));
	assert_count(row, "said.long", 1);
	assert_count(r, "artifacts.aot_joint_graph", 2);
	assert_count(r, "artifacts.tomorrow's", 2);
	assert_null(at_path(r, "artifacts.describe_tensor"));
	assert_count(r, "ledger.dropped.texts_full", 0);
	drop_texts(&k, r);
}

static void test_records_without_a_payload(void **state)
{
	const char *logs[] = { "tests/import/artifacts.log" };
	struct kept_texts k;
	const json_t *row;
	json_t *r = keep_texts(logs, 1, &k);
	char *text;

	(void)state;
	/* Records without a payload: a line each, the stack with the file's name. */
	text = kept(&k, "missing_fake_kernel", 0, &row);
	assert_string_equal(text, "{\"op\":\"my::op\",\"stack\":[{\"line\":5,\"name\":\"f\","
				  "\"filename\":\"/w/m.py\"}]}\n");
	free(text);
	text = kept(&k, "describe_tensor", 0, &row);
	assert_string_equal(text, "{\"id\":1}\n{\"id\":2}\n");
	assert_count(row, "records", 2);
	free(text);
	drop_texts(&k, r);
}

/* Nothing that is written or left out grows with the log: blocks are of bounded size. */
static void test_many_texts(void **state)
{
	static const char path[] = "/tmp/breakeven-many-texts.log";
	FILE *log = fopen(path, "w");
	struct kept_texts k;
	const json_t *row;
	const char *logs[1];
	char *text;
	json_t *r;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		fprintf(log,
			"V1121 10:00:00.000000 77 torch/x.py:1] {\"graph_dump\": "
			"{\"name\": \"g%d\"}, \"has_payload\": \"0\"}\n",
			i);
		for (int line = 0; line < 40; line++)
			fprintf(log, "\tline %d of text %d, which is no short one\n", line, i);
	}
	fclose(log);
	logs[0] = path;
	r = keep_texts(logs, 1, &k);
	assert_count(r, "artifacts.graph_dump", 3000);
	assert_int_equal(json_array_size(k.rows), 3000);
	assert_true(k.text.len > 3 * ARTIFACTS_PIECE_BYTES);
	text = kept(&k, "graph_dump", 2999, &row);
	assert_memory_equal(text, "line 0 of text 2999,", 20);
	free(text);
	drop_texts(&k, r);
	remove(path);
}

/* NUL in what a record says, which would end a text and the index with it. */
static void test_nul(void **state)
{
	static const char path[] = "/tmp/breakeven-nul.log";
	const char *logs[] = { path };
	FILE *log = fopen(path, "w");
	struct kept_texts k;
	const json_t *row;
	json_t *r;

	(void)state;
	fprintf(log,
		"V1121 10:00:00.000000 77 torch/x.py:1] {\"graph_dump\": {\"a\": "
		"\"x\\u0000y\", \"b\": \"%cz\"}, \"has_payload\": \"0\"}\n\ttext\n",
		'\0');
	fclose(log);
	r = keep_texts(logs, 1, &k);
	free(kept(&k, "graph_dump", 0, &row));
	assert_string_equal(text_at(row, "said.a"), "x\xef\xbf\xbdy");
	assert_string_equal(text_at(row, "said.b"), "\xef\xbf\xbdz");
	assert_count(r, "ledger.repaired.control_characters", 1);
	drop_texts(&k, r);
	remove(path);
}

/* Stacks that begin alike share their nodes; what Dynamo adds at the end is no frame of them. */
static void test_stacks(void **state)
{
	json_t *r = import_path("tests/import/torch_trace_2.14.log");
	const json_t *nodes = at_path(r, "stacks"), *compile;
	int64_t parents = 0;
	const json_t *node;
	size_t i;

	(void)state;
	json_array_foreach(nodes, i, node)
	{
		int64_t parent = json_integer_value(json_object_get(node, "parent"));

		assert_true(parent < (int64_t)i);
		parents += parent < 0;
		assert_string_equal(text_at(node, "file"), "/w/m.py");
	}
	json_array_foreach(at_path(r, "compiles"), i, compile)
	{
		node = json_array_get(
		    nodes, (size_t)json_integer_value(json_object_get(compile, "stack")));
		assert_string_equal(text_at(node, "function"), text_at(compile, "frame"));
		assert_int_equal(json_integer_value(json_object_get(node, "line")),
				 json_integer_value(json_object_get(compile, "line")));
	}
	assert_true(json_array_size(nodes) < 2 * json_array_size(at_path(r, "compiles")));
	assert_true(parents < (int64_t)json_array_size(nodes));
	json_decref(r);
	r = import_path("tests/import/artifacts.log");
	assert_count(r, "stacks.0.records.missing_fake_kernel", 1);
	assert_count(r, "stacks.0.line", 5);
	json_decref(r);
}

/* ---- blocks of an export ---- */

enum { MOST_BLOCKS = 8 };

struct blocks {
	struct buf at[MOST_BLOCKS];
	int n;
};

static bool take_block(void *self, const void *block, size_t len, struct err *err)
{
	struct blocks *b = self;
	struct timeline_block head;

	assert_true(timeline_block_read(block, len, &head, err));
	if (head.kind >= TIMELINE_FILE) {
		assert_true(b->n < MOST_BLOCKS);
		buf_add(&b->at[b->n++], block, len);
	}
	return true;
}

static void drop_blocks(struct blocks *b)
{
	for (int i = 0; i < b->n; i++)
		buf_finish(&b->at[i]);
	b->n = 0;
}

static void test_restored(void **state)
{
	static const char path[] = "tests/import/torch_trace_2.14.log";
	const char *logs[] = { path };
	struct kept_texts was, is = { .rows = json_array() };
	json_t *report = keep_texts(logs, 1, &was);
	struct artifacts a = { 0 };
	struct blocks blocks = { 0 };
	struct ledger ledger = { 0 };
	struct err err = { 0 };
	struct import *im = import_create(take_block, &blocks, 0, &err);
	struct timeline_writer *w = timeline_writer_create(take_texts, &is, &err);

	(void)state;
	assert_true(import_named(im, path, "log", &err));
	json_decref(import_finish(im, &err));
	import_destroy(im);
	assert_int_equal(blocks.n, 2);
	for (int i = 0; i < 2; i++)
		assert_true(artifacts_restore(&a, w, &blocks.at[i], &ledger, &err));
	assert_true(artifacts_end(&a, w, &err));
	assert_true(json_equal(is.rows, was.rows));
	assert_int_equal(is.text.len, was.text.len);
	assert_memory_equal(is.text.data, was.text.data, was.text.len);
	assert_int_equal(ledger.n[LEDGER_BROKEN_TEXTS], 0);
	assert_int_equal(a.cut, 0);
	timeline_writer_destroy(w);
	drop_blocks(&blocks);
	drop_texts(&is, NULL);
	drop_texts(&was, report);
}

/* A block as a stranger may write it. */
static void write_block(struct blocks *out, enum timeline_block_kind kind, const char *text,
			int64_t first, int64_t last)
{
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(take_block, out, &err);
	struct timeline_piece piece = { .kind = kind,
					.name = "",
					.bytes = text,
					.len = strlen(text),
					.first = first,
					.last = last };

	assert_true(timeline_writer_file(w, &piece, &err));
	timeline_writer_destroy(w);
}

/* The rows that come of a stranger's blocks; texts: "hello world". */
static json_t *restore_strange(const char *rows, int64_t first, int64_t last, int64_t *broken,
			       int64_t *cut)
{
	struct kept_texts is = { .rows = json_array() };
	struct blocks blocks = { 0 };
	struct artifacts a = { 0 };
	struct ledger ledger = { 0 };
	struct err err = { 0 };
	struct timeline_writer *w = timeline_writer_create(take_texts, &is, &err);

	write_block(&blocks, TIMELINE_TEXTS, "hello world", first, last);
	write_block(&blocks, TIMELINE_INDEX, rows, 1, 1);
	for (int i = 0; i < 2; i++)
		assert_true(artifacts_restore(&a, w, &blocks.at[i], &ledger, &err));
	assert_true(artifacts_end(&a, w, &err));
	*broken = ledger.n[LEDGER_BROKEN_TEXTS];
	*cut = a.cut;
	timeline_writer_destroy(w);
	drop_blocks(&blocks);
	buf_finish(&is.text);
	return is.rows;
}

static void test_rows_of_a_stranger(void **state)
{
#define OF "\"kind\": \"k\", \"process\": 0, \"file\": 0, \"line\": 1, \"bytes\": 5"
#define LONG "0123456789012345678901234567890123456789012345678901234567890123"
	static const struct {
		const char *rows;
		int kept, placed, broken, cut;
	} cases[] = {
		{ "[{" OF ", \"at\": 0}, {" OF ", \"at\": 5}]", 2, 2, 0, 0 },
		{ "[{" OF "}]", 1, 0, 0, 0 },
		{ "[{" OF ", \"at\": 8}]", 1, 0, 0, 1 },
		{ "[{" OF ", \"at\": 9223372036854775807}]", 1, 0, 0, 1 },
		{ "[{" OF ", \"at\": -1}, {" OF ", \"at\": \"0\"}, 7, null, [], {}]", 0, 0, 6, 0 },
		{ "[{" OF ", \"at\": 2}, {" OF ", \"at\": 6}, {" OF ", \"at\": 0}]", 1, 1, 2, 0 },
		{ "[{" OF ", \"compile\": \"" LONG "\"}, {" OF ", \"compile\": 7}]", 0, 0, 2, 0 },
		{ "[{" OF ", \"said\": []}, {" OF ", \"name\": {}}]", 0, 0, 2, 0 },
		{ "[{" OF ", \"records\": 0}, {" OF ", \"resets\": 1.5}]", 0, 0, 2, 0 },
		{ "[{" OF ", \"bytes\": 67108865}, {" OF ", \"bytes\": -1}]", 0, 0, 2, 0 },
		{ "[{" OF ", \"process\": 2147483648}]", 0, 0, 1, 0 },
		{ "{\"0\": 1}", 0, 0, 1, 0 },
		{ "[", 0, 0, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t broken, cut, placed = 0;
		json_t *rows = restore_strange(cases[i].rows, 0, 10, &broken, &cut), *row;
		size_t k;

		json_array_foreach(rows, k, row)
		{
			assert_string_equal(text_at(row, "group"), "other");
			placed += json_object_get(row, "at") != NULL;
		}
		if ((int)json_array_size(rows) != cases[i].kept || placed != cases[i].placed ||
		    broken != cases[i].broken || cut != cases[i].cut)
			fail_msg("%s: %zu rows, %lld placed, %lld broken, %lld cut", cases[i].rows,
				 json_array_size(rows), (long long)placed, (long long)broken,
				 (long long)cut);
		json_decref(rows);
	}
}

/* Bytes that say they lie elsewhere than they can: none of them is kept, and rows say so. */
static void test_places_of_a_stranger(void **state)
{
	static const struct {
		int64_t first, last;
		int broken;
	} cases[] = {
		{ 0, 9, 1 },
		{ 0, 11, 1 },
		{ -5, 5, 1 },
		{ 10, 0, 1 },
		{ 0, INT64_MAX, 1 },
		{ ARTIFACTS_BYTES - 10, ARTIFACTS_BYTES, 0 },
		{ INT64_MAX - 10, INT64_MAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t broken, cut;
		json_t *rows = restore_strange("[{" OF ", \"at\": 0, \"group\": \"graph\"}]",
					       cases[i].first, cases[i].last, &broken, &cut);

		assert_int_equal(broken, cases[i].broken);
		assert_int_equal(cut, 1);
		assert_int_equal(json_array_size(rows), 1);
		assert_null(json_object_get(json_array_get(rows, 0), "at"));
		assert_string_equal(text_at(json_array_get(rows, 0), "group"), "other");
		json_decref(rows);
	}
}

/* Logs of PyTorch/XLA are texts of the import, whole, also where a line has no end for long. */
static void test_logs_of_xla(void **state)
{
	static const char path[] = "tests/import/pt_xla.txt";
	const char *logs[] = { path };
	struct kept_texts k;
	json_t *r = keep_texts(logs, 1, &k);
	const json_t *row;
	char *whole = read_whole(path);

	(void)state;
	assert_int_equal(json_array_size(k.rows), 1);
	row = json_array_get(k.rows, 0);
	assert_string_equal(text_at(row, "kind"), "pt_xla_log");
	assert_string_equal(text_at(row, "name"), "log");
	assert_string_equal(text_at(row, "group"), "log");
	assert_count(row, "line", 1);
	assert_int_equal(k.text.len, strlen(whole));
	assert_memory_equal(k.text.data, whole, k.text.len);
	assert_count(r, "artifacts.pt_xla_log", 1);
	free(whole);
	drop_texts(&k, r);
}

/* A long one is several texts, each of whole lines. */
static void test_long_logs_of_xla(void **state)
{
	enum { MOST_LINES = 120000, ENDLESS = 9 << 20 };
	struct kept_texts k = { .rows = json_array() };
	struct err err = { 0 };
	struct import *im = import_create(take_texts, &k, 0, &err);
	struct buf log = { 0 };
	json_int_t line = 1;
	const json_t *row;
	json_t *r;
	size_t i;

	(void)state;
	buf_puts(&log, "Execution Analysis: ===\n");
	for (int n = 1; n < MOST_LINES; n++)
		buf_printf(&log, "a line of the program: %d, and what follows in it is long\n", n);
	for (int n = 0; n < ENDLESS; n++)
		buf_putc(&log, 'x');
	assert_true(import_begin(im, "long.txt", &err));
	for (size_t at = 0, n; at < log.len; at += n) {
		n = log.len - at < 100003 ? log.len - at : 100003;
		assert_true(import_feed(im, log.data + at, n, &err));
	}
	assert_true(import_end(im, &err));
	r = import_finish(im, &err);
	assert_non_null(r);
	import_destroy(im);
	assert_int_equal(json_array_size(k.rows), 3);
	assert_int_equal(k.text.len, log.len);
	assert_memory_equal(k.text.data, log.data, log.len);
	json_array_foreach(k.rows, i, row)
	{
		size_t at = (size_t)json_integer_value(json_object_get(row, "at"));

		assert_true(line > MOST_LINES || at == 0 || log.data[at - 1] == '\n');
		assert_count(row, "line", line);
		for (size_t n = 0; n < (size_t)json_integer_value(json_object_get(row, "bytes"));
		     n++)
			line += log.data[at + n] == '\n';
	}
	buf_finish(&log);
	drop_texts(&k, r);
}

/* A recording's files come back with its texts, as far as they are bounded. */
static void test_files_of_a_recording(void **state)
{
	struct blocks blocks = { 0 }, back = { 0 };
	struct artifacts a = { 0 };
	struct ledger ledger = { 0 };
	struct err err = { 0 };
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct timeline_writer *to = timeline_writer_create(take_block, &blocks, &err), *w;
	struct timeline_piece piece = {
		.kind = TIMELINE_FILE, .name = "rank_0.log", .bytes = "first ", .len = 6
	};
	struct timeline_block b;
	struct buf text = { 0 };

	(void)state;
	assert_true(timeline_writer_file(to, &piece, &err));
	timeline_writer_destroy(to);
	assert_int_equal(blocks.n, 1);
	w = timeline_writer_create(take_block, &back, &err);
	assert_true(artifacts_restore(&a, w, &blocks.at[0], &ledger, &err));
	assert_int_equal(back.n, 1);
	assert_true(timeline_block_read(back.at[0].data, back.at[0].len, &b, &err));
	assert_int_equal(b.kind, TIMELINE_FILE);
	assert_true(timeline_file_read(&b, name, &text, &err));
	assert_string_equal(name, "rank_0.log");
	assert_string_equal(text.data, "first ");
	a.file_bytes = ARTIFACTS_FILE_BYTES; /* full: none is added, and that is counted */
	assert_true(artifacts_restore(&a, w, &blocks.at[0], &ledger, &err));
	assert_int_equal(back.n, 1);
	assert_int_equal(a.cut, 1);
	blocks.at[0].data[blocks.at[0].len - 7] ^= 1;
	blocks.at[0].data[48] ^= 0x7f; /* the name is longer than the block */
	blocks.at[0].data[50] ^= 0x7f;
	assert_true(artifacts_restore(&a, w, &blocks.at[0], &ledger, &err));
	assert_int_equal(ledger.n[LEDGER_BROKEN_TEXTS], 1);
	assert_true(artifacts_end(&a, w, &err));
	timeline_writer_destroy(w);
	buf_finish(&text);
	drop_blocks(&blocks);
	drop_blocks(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_kept_of_each),
		cmocka_unit_test(test_records_without_a_payload),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_many_texts),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_restored),
		cmocka_unit_test(test_rows_of_a_stranger),
		cmocka_unit_test(test_places_of_a_stranger),
		cmocka_unit_test(test_logs_of_xla),
		cmocka_unit_test(test_long_logs_of_xla),
		cmocka_unit_test(test_files_of_a_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
