/* tests/fuzz/fuzz_profiler.c -- libFuzzer entry of timelines: blocks of strangers.
 *
 * The bytes are blocks one after the other, and what is to be changed in blocks
 * that the writer makes.  With the hash put right (else none would get past it) each
 * is read, and a window and an export are made of all.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/export/export.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The length of the block at `bytes`, with its magic, version and hash put right. */
static size_t repair(char *bytes, size_t left)
{
	struct timeline_head head;

	if (left < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	head.magic = TIMELINE_MAGIC;
	head.version = TIMELINE_VERSION;
	head.body_bytes %= left - sizeof(head) + 1;
	head.hash = hash_bytes(bytes + sizeof(head), head.body_bytes, 0);
	memcpy(bytes, &head, sizeof(head));
	return sizeof(head) + head.body_bytes;
}

struct bytes {
	const char *at;
	size_t size;
};

static bool each_block(void *store, int64_t kind, timeline_block_fn *each, void *self,
		       struct err *err)
{
	const struct bytes *b = store;
	struct timeline_block block;

	for (size_t at = 0;
	     at < b->size && timeline_block_read(b->at + at, b->size - at, &block, NULL);
	     at += block.block_bytes)
		if (block.kind == kind && !each(self, b->at + at, block.block_bytes, err))
			return false;
	return true;
}

static bool drop(void *self, const void *bytes, size_t len, struct err *err)
{
	(void)self;
	(void)bytes;
	(void)len;
	(void)err;
	return true;
}

/* In one of the formats: all of them for each input would be most of the time. */
static void export_one(struct bytes b)
{
	struct export_run run = { .name = "fuzz", .blocks = each_block, .store = &b };
	int n = export_format_count(), pick = (int)(b.size % (2 * (size_t)n));
	struct export_query q = { .redact = pick >= n };

	export_write(export_format_at(pick % n), &run, &q, drop, NULL, NULL);
}

static void look(const char *bytes, size_t size)
{
	struct timeline_query q = { .t1_ns = -1, .px = 64, .find = "a" };
	struct timeline_view *v = timeline_view_create(&q, NULL);
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct timeline_block block;
	struct buf out = { 0 };
	size_t at = 0;
	int64_t t0, t1;

	for (; at < size && timeline_block_read(bytes + at, size - at, &block, NULL);
	     at += block.block_bytes) {
		timeline_view_tables(v, bytes + at, block.block_bytes, NULL);
		timeline_file_read(&block, name, &out, NULL);
	}
	buf_finish(&out);
	timeline_view_range(v, &t0, &t1, NULL);
	for (at = 0; at < size && timeline_block_read(bytes + at, size - at, &block, NULL);
	     at += block.block_bytes)
		timeline_view_chunk(v, bytes + at, block.block_bytes, NULL);
	json_decref(timeline_view_found(v, NULL));
	if (!timeline_view_columns(v, &out, NULL))
		abort();
	buf_finish(&out);
	timeline_view_destroy(v);
	export_one((struct bytes){ bytes, size });
}

static void look_repaired(char *bytes, size_t size)
{
	for (size_t at = 0, n; at < size && (n = repair(bytes + at, size - at)) > 0;)
		at += n;
	look(bytes, size);
}

static bool keep(void *self, const void *block, size_t len, struct err *err)
{
	(void)err;
	buf_add(self, block, len);
	return true;
}

/* Blocks of up to 31 events, each of 8 of the bytes; *used: how many were taken. */
static void write_blocks(const uint8_t *data, size_t size, struct buf *out, size_t *used)
{
	static const char *const roles[] = { "calls", "host", "kernels" };
	struct timeline_writer *w = timeline_writer_create(keep, out, NULL);
	int n = size ? data[0] % 32 : 0;
	size_t at = 1;

	for (int i = 0; i < 3; i++)
		timeline_writer_lane(w, json_pack("{s:s, s:s, s:s}", "name", "a", "mode", "static",
						  "role", roles[i]));
	timeline_writer_name(w, json_pack("{s:s}", "name", "k"));
	timeline_writer_shape(w, json_pack("{s:i}", "grid", 1));
	for (; n > 0 && at + 8 <= size; n--, at += 8) {
		uint64_t start = (uint64_t)data[at] << data[at + 1] % 64;
		uint64_t duration = (uint64_t)data[at + 2] << data[at + 3] % 64;
		struct timeline_event e = { .start_ns = (int64_t)start,
					    .duration_ns = (int64_t)duration,
					    .lane = data[at + 4] % 4,
					    .kind = data[at + 5] % TIMELINE_KIND_COUNT,
					    .name = data[at + 6],
					    .shape = data[at + 7] };

		timeline_writer_add(w, &e, NULL);
	}
	timeline_writer_finish(w, NULL, NULL);
	timeline_writer_destroy(w);
	*used = at < size ? at : size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size + 1);
	struct buf made = { 0 };
	size_t at;

	memcpy(bytes, data, size);
	look_repaired(bytes, size);
	free(bytes);
	write_blocks(data, size, &made, &at);
	look(made.data, made.len);
	for (; at + 3 <= size; at += 3)
		made.data[(size_t)(data[at] << 8 | data[at + 1]) % made.len] ^= (char)data[at + 2];
	look_repaired(made.data, made.len);
	buf_finish(&made);
	return 0;
}
