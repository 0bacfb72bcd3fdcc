/* tests/test_profiler_artifacts.c -- texts that an import keeps of a TORCH_TRACE. */
#include "tests/import_file.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_kept_of_each),
		cmocka_unit_test(test_records_without_a_payload),
		cmocka_unit_test(test_many_texts),
		cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
