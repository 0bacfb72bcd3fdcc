/* profiler/import/kineto.h -- private: one event of a Chrome trace, from its text. */
#ifndef PROFILER_IMPORT_KINETO_H
#define PROFILER_IMPORT_KINETO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "profiler/import/ledger.h"

/* ---- Where the clock's zero of a trace lies.
 *
 * "baseTimeNanoseconds" comes before the events since 2.9 or so, and after them in older files.
 */

/* The same of the last bytes of a file that can be looked at out of turn; its place stays. */
bool kineto_base_at_end(int fd, int64_t *ns);

enum { EVENT_TEXT_CHARS = 63, EVENT_NAME_CHARS = 16 << 10 };

/* Numbers of `args` that are read: ARG(id, name in the file). */
#define KINETO_ARGS(ARG)                                                                           \
	ARG(EXTERNAL, "External id")                                                               \
	ARG(CORRELATION, "correlation")                                                            \
	ARG(DEVICE, "device")                                                                      \
	ARG(STREAM, "stream")                                                                      \
	ARG(COPIED, "bytes")                                                                       \
	ARG(BYTES, "Bytes")                                                                        \
	ARG(DEVICE_TYPE, "Device Type")                                                            \
	ARG(DEVICE_ID, "Device Id")                                                                \
	ARG(ALLOCATED, "Total Allocated")                                                          \
	ARG(RESERVED, "Total Reserved")                                                            \
	ARG(REGISTERS, "registers per thread")                                                     \
	ARG(SHARED, "shared memory")                                                               \
	ARG(GRAPH_NODE, "graph node id")                                                           \
	ARG(ON_STREAM, "wait_on_stream")                                                           \
	ARG(ON_RECORD, "wait_on_cuda_event_record_corr_id")                                        \
	ARG(NAME_ID, "name_id")                                                                    \
	ARG(SHAPE_ID, "shape_id")

enum kineto_arg {
#define ARG(id, name) KINETO_ARG_##id,
	KINETO_ARGS(ARG)
#undef ARG
	    KINETO_ARG_COUNT
};

struct kineto_event {
	const char *text; /* its JSON, of `len` bytes, while it is taken */
	size_t len;
	char phase;                          /* of "ph"; 0: none */
	char category[EVENT_TEXT_CHARS + 1]; /* "": none; longer texts are cut */
	char pid[EVENT_TEXT_CHARS + 1], tid[EVENT_TEXT_CHARS + 1], id[EVENT_TEXT_CHARS + 1];
	bool pid_is_text;
	bool has_ts, has_dur;
	bool is_object; /* {...}, of which something was read */
	int64_t ts_ns, dur_ns;
	uint32_t has;                     /* a bit for each kineto_arg */
	int64_t arg[KINETO_ARG_COUNT];    /* where its bit is set */
	int32_t grid[3], block[3];        /* 0: none */
	char label[EVENT_TEXT_CHARS + 1]; /* args.name of metadata, args.group */
	struct buf name;                  /* cut at EVENT_NAME_CHARS */
};

struct event_parser;

#endif
