/* tests/test_profiler_archive.c -- several logs in a .tar or a .zip are one import.
 *
 * job.tar was written by GNU tar, job.zip by Python's zipfile: two logs, one of them by gzip and
 * with a name that has no room in the head of a .tar, and a file that is no log.
 */
#include <zlib.h>

#include "fusion/base/buf.h"
#include "tests/import_file.h"

static char *whole(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");
	char *bytes = malloc(1 << 20);

	assert_non_null(file);
	*len = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

/* NULL with the reason. */
static json_t *read_in_pieces(const char *bytes, size_t len, size_t piece, struct err *err)
{
	struct import *im = import_create(NULL, NULL, 0, err);
	json_t *report = NULL;
	bool ok = import_begin(im, "job", err);

	for (size_t at = 0; ok && at < len; at += piece)
		ok = import_feed(im, bytes + at, len - at < piece ? len - at : piece, err);
	if (ok && import_end(im, err))
		report = import_finish(im, err);
	import_destroy(im);
	return report;
}

static void check_job(const json_t *r)
{
	static const char *const names[] = { "job/a-name-that-is-much-longer-than-a-hundred-bytes-"
					     "as-those-of-shards-of-jobs-that-somebody-named-well-"
					     "are.log.gz",
					     "job/notes.txt", "job/rank_0.log" };
	static const char *const kinds[] = { "torch_trace", "none", "torch_trace" };

	assert_string_equal(text_at(r, "kind"), "torch_trace");
	assert_int_equal(json_array_size(at_path(r, "files")), 3);
	for (size_t i = 0; i < 3; i++) {
		const json_t *file = json_array_get(at_path(r, "files"), i);

		assert_string_equal(text_at(file, "name"), names[i]);
		assert_string_equal(text_at(file, "kind"), kinds[i]);
	}
	assert_non_null(strstr(text_at(r, "files.1.refused"), "is not a log of a known kind"));
	assert_count(r, "graphs", 6);
	assert_int_equal(json_array_size(at_path(r, "processes")), 2);
	assert_count(r, "processes.1.file", 2);
	assert_count(r, "ledger.dropped.cut_off", 0);
}

static void test_archives(void **state)
{
	static const char *const paths[] = { "tests/import/job.tar", "tests/import/job.zip" };
	static const size_t pieces[] = { 1, 7, 512, 513, 1 << 16 };
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size_t len;
		char *bytes = whole(paths[i], &len);

		for (size_t k = 0; k < sizeof(pieces) / sizeof(pieces[0]); k++) {
			json_t *r = read_in_pieces(bytes, len, pieces[k], &err);

			assert_non_null(r);
			check_job(r);
			json_decref(r);
		}
		free(bytes);
	}
}

static void put16(struct buf *b, unsigned x)
{
	char bytes[2] = { (char)x, (char)(x >> 8) };

	buf_add(b, bytes, 2);
}

static void put32(struct buf *b, uint32_t x)
{
	put16(b, x & 0xffff);
	put16(b, x >> 16);
}

/* A member that is stored as it is, with its length after it: 4 bytes of it or 8 (is_long), with a
 * mark or without. */
static void put_stored(struct buf *b, const char *name, const struct buf *data, bool marked,
		       bool is_long)
{
	uint32_t size = is_long ? UINT32_MAX : 0;

	buf_add(b, "PK\3\4", 4);
	put16(b, 45);
	put16(b, 8);
	put16(b, 0);
	put32(b, 0);
	put32(b, 0);
	put32(b, size);
	put32(b, size);
	put16(b, (unsigned)strlen(name));
	put16(b, is_long ? 20 : 0);
	buf_puts(b, name);
	if (is_long) {
		put16(b, 1);
		put16(b, 16);
		for (int i = 0; i < 4; i++)
			put32(b, 0);
	}
	buf_add(b, data->data, data->len);
	if (marked)
		buf_add(b, "PK\7\10", 4);
	put32(b, (uint32_t)crc32(0, (const Bytef *)data->data, (uInt)data->len));
	for (int i = 0; i < 2; i++) {
		put32(b, (uint32_t)data->len);
		if (is_long)
			put32(b, 0);
	}
}

/* What looks like its end within a member is none: its length is right, but not its sum. */
static void put_notes(struct buf *notes)
{
	buf_puts(notes, "notes PPK PK\3\4 ");
	for (int i = 0; i < 300; i++) {
		uint32_t at = (uint32_t)notes->len;

		buf_add(notes, "PK\7\10", 4);
		put32(notes, 7);
		put32(notes, at);
		put32(notes, at);
		put32(notes, 7);
		put32(notes, at + 16);
		put32(notes, at + 16);
		buf_add(notes, i % 2 ? "PK\3\4" : "PK\1\2", 4);
	}
	buf_puts(notes, "PK\7");
}

static void test_stored_without_a_length(void **state)
{
	static const size_t pieces[] = { 1, 13, 4096, 1 << 20 };

	(void)state;
	for (int form = 0; form < 4; form++) {
		struct buf zip = { 0 }, notes = { 0 }, log = { 0 }, none = { 0 };
		struct err err = { 0 };
		size_t len;
		char *bytes = whole("tests/import/torch_trace_2.6_rank_0.log", &len);

		buf_add(&log, bytes, len);
		put_notes(&notes);
		put_stored(&zip, "notes.bin", &notes, form & 1, form & 2);
		put_stored(&zip, "rank_0.log", &log, form & 1, form & 2);
		put_stored(&zip, "empty", &none, form & 1, form & 2);
		buf_puts(&zip, "PK\1\2 the list of its files, which is not read");
		for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
			json_t *r = read_in_pieces(zip.data, zip.len, pieces[i], &err), *alone;

			assert_non_null(r);
			assert_string_equal(text_at(r, "files.1.name"), "rank_0.log");
			assert_count(r, "files.0.bytes", (int)notes.len);
			assert_count(r, "files.1.bytes", (int)log.len);
			assert_count(r, "ledger.dropped.cut_off", 0);
			alone = read_in_pieces(log.data, log.len, log.len, &err);
			assert_true(json_equal(at_path(r, "compiles"), at_path(alone, "compiles")));
			json_decref(r);
			json_decref(alone);
		}
		buf_finish(&zip);
		buf_finish(&notes);
		buf_finish(&log);
		free(bytes);
	}
}

/* Cut anywhere, or with a byte changed: what was there, or why not. */
static void test_damaged_archives(void **state)
{
	static const char *const paths[] = { "tests/import/job.tar", "tests/import/job.zip" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		size_t len;
		char *bytes = whole(paths[i], &len);

		for (size_t at = 1; at < len; at += 41) {
			struct err err = { 0 };
			json_t *r = read_in_pieces(bytes, at, 4096, &err);

			assert_true(r ? json_array_size(at_path(r, "files")) > 0 : err.message[0]);
			json_decref(r);
			bytes[at] ^= 0x55;
			err = (struct err){ 0 };
			r = read_in_pieces(bytes, len, 4096, &err);
			assert_true(r || err.message[0]);
			json_decref(r);
			bytes[at] ^= 0x55;
		}
		free(bytes);
	}
}

static void test_nothing_to_read(void **state)
{
	struct err err = { 0 };
	size_t len;
	char *bytes = whole("tests/import/job.zip", &len), *flags;
	json_t *r;

	(void)state;
	bytes[6] |= 1; /* encrypted */
	assert_null(read_in_pieces(bytes, len, len, &err));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, "are.log.gz\" in it is encrypted"));
	free(bytes);
	/* All of it but the notes is cut away. */
	bytes = whole("tests/import/job.tar", &len);
	flags = memmem(bytes, len, "job/notes.txt", 13);
	assert_non_null(flags);
	memset(flags + 1024, 0, 1024);
	err = (struct err){ 0 };
	r = read_in_pieces(flags, 2048, 2048, &err);
	assert_null(r);
	assert_non_null(strstr(err.message, "job/notes.txt is not a log of a known kind"));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_archives),
		cmocka_unit_test(test_stored_without_a_length),
		cmocka_unit_test(test_damaged_archives),
		cmocka_unit_test(test_nothing_to_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
