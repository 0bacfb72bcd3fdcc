/* tests/fuzz/fuzz_import.c -- libFuzzer entry of the importer: logs of strangers.
 *
 * The first byte says in which pieces the rest comes, and a line that is FILE_ENDS begins the next
 * file of the import: another rank of the job.  Whatever it is, there is a report with its ledger,
 * or a message; and the timeline that was made can be read, and aligned with itself.
 *
 * Half of the inputs are changed by what a file of their kind is made of (mutate.h); the rest is
 * changed byte by byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/align/align.h"
#include "profiler/import/import.h"
#include "tests/fuzz/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static bool read_back(void *self, const void *block, size_t len, struct err *err)
{
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct timeline_block b;
	struct buf text = { 0 };
	json_t *rows = NULL;

	if (!timeline_block_read(block, len, &b, err))
		abort();
	if (b.kind >= TIMELINE_TEXTS && !timeline_file_read(&b, name, &text, err))
		abort();
	if (b.kind == TIMELINE_INDEX) {
		rows = json_loadb(text.data, text.len, 0, NULL);
		if (!json_is_array(rows) || b.t1_ns - b.t0_ns + 1 != (int64_t)json_array_size(rows))
			abort();
	}
	json_decref(rows);
	buf_finish(&text);
	return timeline_events_block(self, block, len, err);
}

/* Nothing differs from itself. */
static void align(const struct timeline_events *events)
{
	struct err err = { 0 };
	json_t *head = json_object();
	struct align_run run = { .head = head, .events = events };
	json_t *aligned = align_timelines(&run, &run, &err);

	if (aligned ? json_is_true(json_object_get(json_object_get(aligned, "wall"), "changed"))
		    : !err.message[0])
		abort();
	json_decref(aligned);
	json_decref(head);
}

/* What is stored can be read again. */
static void reload(const json_t *report)
{
	char *text = json_dumps(report, 0);
	json_t *again = text ? json_loads(text, 0, NULL) : NULL;

	if (!json_is_object(again))
		abort();
	json_decref(again);
	free(text);
}

struct slice {
	const uint8_t *at;
	size_t len;
};

static bool feed(struct import *im, size_t rank, struct slice file, size_t piece, struct err *err)
{
	char name[40];
	bool ok;

	snprintf(name, sizeof(name), "rank-%zu.json", rank);
	ok = import_begin(im, name, err);
	for (size_t at = 0; ok && at < file.len; at += piece)
		ok = import_feed(im, file.at + at, file.len - at < piece ? file.len - at : piece,
				 err);
	return ok && import_end(im, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size ? 1 + data[0] * (size_t)97 : 1, at = size ? 1 : 0, rank = 0;
	struct timeline_events events = ALIGN_EVENTS;
	struct import *im = import_create(read_back, &events, 1 << 21, NULL);
	struct err err = { 0 };
	json_t *report = NULL;
	bool ok = true;

	do {
		const uint8_t *end = memmem(data + at, size - at, FILE_ENDS, strlen(FILE_ENDS));
		size_t n = end ? (size_t)(end - data) - at : size - at;

		ok = feed(im, rank++, (struct slice){ data + at, n }, piece, &err);
		at += n + (end ? strlen(FILE_ENDS) : 0);
	} while (ok && at < size);
	report = ok ? import_finish(im, &err) : NULL;
	if (report ? !json_is_object(json_object_get(report, "ledger")) : !err.message[0])
		abort();
	if (report) {
		reload(report);
		align(&events);
	}
	json_decref(report);
	import_destroy(im);
	timeline_events_finish(&events);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	struct mutant m = { .data = data, .size = size, .most = most, .state = seed };

	if (size < 2 || draw(&m.state, 2) || !mutate_file(&m))
		return LLVMFuzzerMutate(data, size, most);
	return draw(&m.state, 4) ? m.size : LLVMFuzzerMutate(data, m.size, most);
}
