/* tests/fuzz/fuzz_import.c -- libFuzzer entry of the importer: logs of strangers.
 *
 * The first byte says in which pieces the rest comes.  Whatever it is, there is a report
 * with its ledger, or a message; and the timeline that was made can be read.
 */
#include <stdlib.h>
#include <string.h>

#include "profiler/import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_back(void *self, const void *block, size_t len, struct err *err)
{
	struct timeline_block b;

	(void)self;
	if (!timeline_block_read(block, len, &b, err))
		abort();
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size ? 1 + data[0] * (size_t)97 : 1;
	struct import *im = import_create(read_back, NULL, 1 << 21, NULL);
	struct err err = { 0 };
	bool ok = import_begin(im, "fuzz", &err);
	json_t *report = NULL;

	for (size_t at = 1; ok && at < size; at += piece)
		ok = import_feed(im, data + at, size - at < piece ? size - at : piece, &err);
	ok = ok && import_end(im, &err);
	report = ok ? import_finish(im, &err) : NULL;
	if (report ? !json_is_object(json_object_get(report, "ledger")) : !err.message[0])
		abort();
	json_decref(report);
	import_destroy(im);
	return 0;
}
