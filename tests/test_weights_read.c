/* tests/test_weights_read.c -- what the readers of weights take, and what they say of damaged
 * files.
 *
 * The files are those of tests/weights, made by PyTorch; what a run makes of them is compared with
 * PyTorch in tests/api/weights.test.mjs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fusion/weights/archive.h"
#include "fusion/weights/pickle.h"
#include "fusion/weights/weights.h"

enum { LIMIT = 1 << 24 };

static char *read_bytes(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *bytes = malloc(LIMIT);

	assert_non_null(f);
	assert_non_null(bytes);
	*len = fread(bytes, 1, LIMIT, f);
	fclose(f);
	return bytes;
}

/* ---- archives ---- */

static void an_archive_has_its_entries(void **state)
{
	struct archive a;
	const struct archive_entry *e;
	struct err err = { 0 };
	size_t len, at;
	char *bytes = read_bytes("tests/weights/net.pt", &len);

	(void)state;
	assert_true(archive_open(&a, bytes, len, &err));
	assert_null(archive_find(&a, "net/data.pk"));
	e = archive_find(&a, "net/byteorder");
	assert_non_null(e);
	assert_true(archive_place(&a, e, &at, &err));
	assert_int_equal(e->bytes, 6);
	assert_memory_equal(bytes + at, "little", 6);
	archive_close(&a);
	free(bytes);
}

/* ---- pickles ---- */

/* Knows one name, m.f, whose call gives its arguments, and one object, m.o(), with items. */
static bool named(void *self, const char *module, const char *name, struct value *out,
		  struct err *err)
{
	(void)self;
	if (strcmp(module, "m") != 0)
		return err_set(err, ERR_OP, "no %s.%s", module, name);
	*out = pickle_mark(name[0]);
	return true;
}

static bool called(void *self, struct value callee, struct value args, struct value *out,
		   struct err *err)
{
	(void)self, (void)callee, (void)err;
	*out = value_ref(args);
	return true;
}

static bool persistent(void *self, struct value id, struct value *out, struct err *err)
{
	(void)self, (void)id, (void)err;
	*out = pickle_mark(1000);
	return true;
}

static bool build(void *self, struct value made, struct value with, struct err *err)
{
	(void)self, (void)made, (void)with;
	return err_set(err, ERR_OP, "no state");
}

static struct dict *no_items(void *self, struct value made)
{
	(void)self, (void)made;
	return NULL;
}

static const struct pickle_reader reader = {
	.name = named, .call = called, .persistent = persistent, .build = build, .items = no_items
};

#define P(text) text, sizeof(text) - 1

static const struct {
	const char *pickle;
	size_t len;
	const char *want; /* repr() of the value, or the message */
} pickles[] = {
	{ P("\x80\2N."), "None" },
	{ P("\x80\2K\5."), "5" },
	{ P("\x80\2J\xfe\xff\xff\xff."), "-2" },
	{ P("\x80\2\x8a\1\xff."), "-1" },
	{ P("\x80\2\x8a\0."), "0" },
	{ P("\x80\2\x8a\x08\0\0\0\0\0\0\0\x80."), "-9223372036854775808" },
	{ P("\x80\2\x8a\x09\0\0\0\0\0\0\0\x80\0."),
	  "byte 13 of its pickle: a number needs more than 64 bits" },
	{ P("\x80\2G?\xf8\0\0\0\0\0\0."), "1.5" },
	{ P("\x80\2X\2\0\0\0\xc3\xa9."), "'\xc3\xa9'" },
	{ P("\x80\2X\1\0\0\0\xc3."), "byte 8 of its pickle: a text is no UTF-8" },
	{ P("\x80\2(K\1K\2t."), "(1, 2)" },
	{ P("\x80\2]q\0(K\1h\0e."), "byte 11 of its pickle: it changes an object that is "
				    "complete, or that holds itself" },
	{ P("\x80\2]q\0]q\1h\0a."), "byte 12 of its pickle: it ends with other than one value" },
	{ P("\x80\2}q\0(K\1]q\1K\2h\1u."), "{1: [], 2: []}" },
	{ P("\x80\2]q\0]q\1a0h\1K\5a."), "byte 15 of its pickle: it changes an object that "
					 "is complete, or that holds itself" },
	{ P("\x80\2}(X\1\0\0\0aK\1X\1\0\0\0b]u."), "{'a': 1, 'b': []}" },
	{ P("\x80\2}(]K\1u."), "byte 8 of its pickle: a key is neither a number nor text" },
	{ P("\x80\2}(K\1u."), "byte 7 of its pickle: a key has no value" },
	{ P("\x80\4\x8f(K\1K\2\x90."), "{1, 2}" },
	{ P("\x80\4\x95\0\0\0\0\0\0\0\0\x8c\1a\x94h\0\x86."), "('a', 'a')" },
	{ P("\x80\2cm\nf\n(K\1K\2tR."), "(1, 2)" },
	{ P("\x80\4\x8c\1m\x8c\1f\x93K\1\x85R."), "(1,)" },
	{ P("\x80\2cos\nsystem\n)R."), "no os.system" },
	{ P("\x80\2cm\nf\n."),
	  "byte 8 of its pickle: it keeps a type, a function or a storage itself; save "
	  "tensors, numbers and text" },
	{ P("\x80\2]cm\nf\n\x85\x61."),
	  "byte 10 of its pickle: it keeps a type, a function or a storage itself; save "
	  "tensors, numbers and text" },
	{ P("\x80\2K\1K\2R."), "byte 7 of its pickle: it calls what is no function" },
	{ P("\x80\2K\1"), "byte 4 of its pickle: it ends in the middle" },
	{ P("\x80\2X\xff\xff\xff\xff."), "byte 7 of its pickle: it ends in the middle" },
	{ P("\x80\2K\1K\2."), "byte 7 of its pickle: it ends with other than one value" },
	{ P("\x80\2h\5."), "byte 4 of its pickle: it asks for a value that it has not kept" },
	{ P("\x80\2K\1q\5."),
	  "byte 6 of its pickle: it keeps a value under a number that is not the next" },
	{ P("\x80\2]q\0q\1."), "byte 7 of its pickle: it keeps one value twice" },
	{ P("\x80\2t."), "byte 3 of its pickle: a mark is missing" },
	{ P("\x80\2\x92."), "byte 3 of its pickle: no opcode that a state dict needs" },
	{ P("\x80\2B\1\0\0\0a."), "byte 3 of its pickle: it keeps bytes, which the "
				  "language does not have; save them "
				  "as text or as a tensor" },
	{ P("\x80\6N."), "byte 2 of its pickle: its protocol is newer than 5" },
	{ P(""), "byte 0 of its pickle: it ends in the middle" },
};

static void pickles_give_their_values_or_say_what_is_wrong(void **state)
{
	bool same = true;

	(void)state;
	for (size_t i = 0; i < sizeof(pickles) / sizeof(pickles[0]); i++) {
		struct err err = { 0 };
		struct value v;
		struct buf text;

		buf_init(&text, 0);
		buf_puts(&text, "");
		if (pickle_read(&reader, pickles[i].pickle, pickles[i].len, &v, &err)) {
			value_print(&text, v, false);
			value_unref(v);
		} else {
			buf_puts(&text, err.message);
		}
		if (strcmp(text.data, pickles[i].want) != 0) {
			print_error("row %zu: %s, not %s\n", i, text.data, pickles[i].want);
			same = false;
		}
		buf_finish(&text);
	}
	assert_true(same);
}

static void containers_are_at_most_a_hundred_deep(void **state)
{
	char pickle[420] = "\x80\2";
	struct err err = { 0 };
	struct value v;

	(void)state;
	for (int depth = 99; depth <= 101; depth++) {
		memset(pickle + 2, ']', (size_t)depth);
		memset(pickle + 2 + depth, 'a', (size_t)depth - 1);
		pickle[1 + 2 * depth] = '.';
		if (pickle_read(&reader, pickle, (size_t)(2 + 2 * depth), &v, &err)) {
			assert_true(depth <= 100);
			value_unref(v);
		} else {
			assert_int_equal(depth, 101);
			assert_non_null(strstr(err.message, "more than 100 containers"));
		}
	}
}

/* ---- whole files ---- */

struct room {
	struct allocator *allocator;
	struct value ordered;
	char path[64];
};

static void open_room(struct room *r)
{
	struct value name = value_str("OrderedDict", strlen("OrderedDict"));
	int fd;

	r->allocator = allocator_create((size_t)1 << 28, NULL);
	r->ordered = value_class(name, (struct value){ .kind = VALUE_UNSET });
	value_unref(name);
	strcpy(r->path, "/tmp/breakeven-weights-XXXXXX");
	fd = mkstemp(r->path);
	assert_true(fd >= 0);
	close(fd);
}

static void close_room(struct room *r)
{
	unlink(r->path);
	value_unref(r->ordered);
	assert_int_equal(allocator_used_bytes(r->allocator), 0);
	allocator_destroy(r->allocator);
}

/* Of a file with these bytes: the message, or NULL where it was read. */
static const char *load(struct room *r, const char *bytes, size_t len, struct err *err)
{
	struct fusion_data file = { "w", r->path };
	struct fusion_data_files files = { &file, 1 };
	struct weights_reader how = { r->allocator, &files };
	FILE *f = fopen(r->path, "wb");
	struct value v;
	bool ok;

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
	*err = (struct err){ 0 };
	ok = len > 0 && bytes[0] != 'P' ? weights_safetensors(&how, "w", &v, err)
					: weights_torch(&how, "w", r->ordered, &v, err);
	if (!ok) {
		assert_int_not_equal(err->code, ERR_NONE);
		return err->message;
	}
	value_unref(v);
	return NULL;
}

/* No file that is cut short, and none with a byte that is another, is read beyond its end; what is
 * said of the former is an error always. */
static void damaged_files_are_refused(void **state)
{
	static const char *const paths[] = { "tests/weights/net.pt", "tests/weights/every.pt",
					     "tests/weights/net.safetensors" };
	struct room r;
	struct err err;

	(void)state;
	open_room(&r);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		size_t len;
		char *bytes = read_bytes(paths[i], &len);

		assert_null(load(&r, bytes, len, &err));
		for (size_t cut = 0; cut < len; cut += 1 + cut % 7)
			assert_non_null(load(&r, bytes, cut, &err));
		for (size_t at = 0; at < len; at += 3) {
			bytes[at] ^= (char)(1 << at % 8);
			load(&r, bytes, len, &err);
			bytes[at] ^= (char)(1 << at % 8);
		}
		free(bytes);
	}
	close_room(&r);
}

static const struct {
	const char *header, *want; /* of eight bytes of elements; "": it is read */
} headers[] = {
	{ "{}", "" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", "" },
	{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[7,8]}} ", "" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{"
	  "\"dtype\":\"I16\","
	  "\"shape\":[0,3],\"data_offsets\":[8,8]}}",
	  "" },
	{ "{\"\\u00e9\\ud83d\\ude00\\n\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":"
	  "[1,5]}}",
	  "" }, /* its elements do not lie as floats must */
	{ "[]", "{ is expected" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}", "} is expected" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},}", "\" is expected" },
	{ "{}x", "something follows the object" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]}}",
	  "a lies at bytes 0 to 12 of 8 that the file has" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}",
	  "a has 4 bytes, and its shape and dtype ask for 8" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}",
	  "a lies at bytes 8 to 0" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4294967296],\"data_"
	  "offsets\":"
	  "[0,8]}}",
	  "a shape is too large" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,"
	  "8]}}",
	  "a number is too large" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}"
	  "}",
	  "more than 8 dimensions" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}",
	  "a number is expected" },
	{ "{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}",
	  "a dtype of safetensors is expected" },
	{ "{\"a\":{\"dtype\":\"F8_E5M2\",\"shape\":[1],\"data_offsets\":[0,1]}}",
	  "a is of dtype float8_e5m2, which is not among those of this engine" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "lacks its dtype, shape or data_offsets" },
	{ "{\"a\":{\"dtype\":\"F32\",\"size\":[1]}}", "dtype, shape or data_offsets is expected" },
	{ "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"a\":{"
	  "\"dtype\":\"F32\","
	  "\"shape\":[1],\"data_offsets\":[4,8]}}",
	  "two tensors have one name" },
	{ "{\"__metadata__\":{\"a\":1}}", "\" is expected" },
	{ "{\"\\ud83d\":{}}", "no escape of JSON" },
	{ "{\"\xff\":{}}", "a text is no UTF-8" },
};

/* A name may hold any byte, a zero too. */
static void an_archive_with_odd_names_is_refused(void **state)
{
	struct room r;
	struct err err;
	size_t len;
	char *bytes = read_bytes("tests/weights/net.pt", &len);

	(void)state;
	open_room(&r);
	for (size_t i = 0; i + 4 <= len; i++)
		if (memcmp(bytes + i, "net/", 4) == 0)
			bytes[i + 1] = '\0';
	assert_string_equal(load(&r, bytes, len, &err),
			    "w: it has no record data/0; it is damaged");
	free(bytes);
	close_room(&r);
}

static void headers_of_safetensors_are_checked(void **state)
{
	struct room r;

	(void)state;
	open_room(&r);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		size_t n = strlen(headers[i].header);
		char bytes[512] = { (char)n, (char)(n >> 8) };
		const char *said;
		struct err err;

		memcpy(bytes + 8, headers[i].header, n);
		memset(bytes + 8 + n, 0, 8);
		said = load(&r, bytes, 16 + n, &err);
		if (headers[i].want[0] ? !said || !strstr(said, headers[i].want) : said != NULL)
			fail_msg("%s: %s", headers[i].header, said ? said : "was read");
	}
	close_room(&r);
}

static void a_path_means_the_longest_name(void **state)
{
	static const struct fusion_data at[] = { { "w.pt", "1" },
						 { "a/w.pt", "2" },
						 { "./x", "3" } };
	const struct fusion_data_files files = { at, 3 };

	(void)state;
	assert_ptr_equal(weights_find(&files, "w.pt"), &at[0]);
	assert_ptr_equal(weights_find(&files, "./w.pt"), &at[0]);
	assert_ptr_equal(weights_find(&files, "/b/w.pt"), &at[0]);
	assert_ptr_equal(weights_find(&files, "c/a/w.pt"), &at[1]);
	assert_ptr_equal(weights_find(&files, "x"), &at[2]);
	assert_null(weights_find(&files, "new.pt"));
	assert_null(weights_find(&files, "nw.pt"));
	assert_null(weights_find(NULL, "w.pt"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_archive_has_its_entries),
		cmocka_unit_test(pickles_give_their_values_or_say_what_is_wrong),
		cmocka_unit_test(containers_are_at_most_a_hundred_deep),
		cmocka_unit_test(damaged_files_are_refused),
		cmocka_unit_test(an_archive_with_odd_names_is_refused),
		cmocka_unit_test(headers_of_safetensors_are_checked),
		cmocka_unit_test(a_path_means_the_longest_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
