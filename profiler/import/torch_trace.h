/* profiler/import/torch_trace.h -- private: the records of a TORCH_TRACE file.
 *
 *	V1121 09:08:07.123000 4242 torch/_dynamo/convert_frame.py:304] {"kind": ..., ...}
 *		payload, each line after a tab, where the object says "has_payload"
 */
#ifndef PROFILER_IMPORT_TORCH_TRACE_H
#define PROFILER_IMPORT_TORCH_TRACE_H

#include <jansson.h>
#include <stdint.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "profiler/import/ledger.h"

enum { RECORD_MAX_BYTES = 16 << 20 };

struct torch_record {
	int64_t pid, line;   /* who wrote it; the first line of the log is 1 */
	const json_t *json;  /* an object */
	const char *payload; /* NUL terminated; NULL: none */
	size_t payload_len;
};

typedef bool torch_record_fn(void *self, const struct torch_record *record, struct err *err);

struct torch_records {
	torch_record_fn *each;
	void *self;
	struct ledger *ledger;
	struct buf line, payload;
	json_t *json;                /* of the record whose payload is coming; NULL: none */
	int64_t pid, lines, at_line; /* read; where `json` was */
	bool wants_payload, has_payload, skipping; /* the rest of a line that is too long */
};

#endif
