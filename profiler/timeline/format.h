/* profiler/timeline/format.h -- a block's head as it lies in a file. */
#ifndef PROFILER_TIMELINE_FORMAT_H
#define PROFILER_TIMELINE_FORMAT_H

#include <stdint.h>

enum {
	TIMELINE_VERSION = 1,
	TIMELINE_MAGIC = 0x4c544542, /* "BETL" */
	TIMELINE_HEAD_BYTES = 48,
	TIMELINE_PLAIN = 0,
	TIMELINE_ZSTD = 1,
	TIMELINE_LEVEL = 3,
};

struct timeline_head {
	uint32_t magic, kind, events, version;
	int64_t t0_ns, t1_ns;
	uint64_t body_bytes, hash;
};
_Static_assert(sizeof(struct timeline_head) == TIMELINE_HEAD_BYTES, "no gaps");

/* A column, or the JSON of tables, within a body. */
struct timeline_part {
	uint32_t codec, bytes;
};

#endif
