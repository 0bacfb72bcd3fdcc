/* profiler/ranks/ranks.h -- the traces and compile logs of the ranks of one job, together.
 *
 *	struct ranks *r = ranks_create(&err);
 *	ranks_begin(r, "rank-0.json", 0, &err);
 *	ranks_event(r, &event, &err);            for each event of the file, in any order
 *	ranks_end(r, &head, false, &err);
 *	report = ranks_report(r, compiles, processes, &draft);
 *
 * Each file is read after the other: its device events and calls are held while it is, and then
 * its figures, its collectives and what each of these waited for.  Figures are those of
 * HolisticTraceAnalysis, by its definitions (web/docs/ranks.md).  Memory is bounded: of a file
 * RANKS_MAX_EVENTS, of all RANKS_MAX_COLLECTIVES, and what is beyond is counted.  One thread.
 */
#ifndef PROFILER_RANKS_RANKS_H
#define PROFILER_RANKS_RANKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "profiler/fields/fields.h"
#include "profiler/timeline/timeline.h"

struct ranks;

enum {
	RANKS_MAX_RANKS = 4096,
	RANKS_MAX_EVENTS = 1 << 20,      /* of one file */
	RANKS_MAX_COLLECTIVES = 1 << 19, /* of all */
	RANKS_MAX_LANES = 4096,          /* of one file */
};

/* NULL with MEMORY. */
struct ranks *ranks_create(struct err *err);
void ranks_destroy(struct ranks *r); /* NULL is fine */

/* A span of a trace: a kernel, copy or set of a device, a call of its driver, an op, a range, or
 * what the profiler notes of a synchronization (kind WAIT). */
struct ranks_event {
	enum timeline_kind kind;
	int64_t start_ns, duration_ns;
	const char *name;     /* borrowed to ranks_destroy(), once for each name */
	uint32_t lane;        /* of its stream, or of its thread: below RANKS_MAX_LANES */
	uint32_t correlation; /* of a launch and what it launched; 0: none */
	int64_t device, stream;
	int64_t bytes;     /* copied or set */
	uint32_t recorded; /* of WAIT: the correlation of the call that recorded the event; 0 */
	int64_t on_stream; /* of WAIT: the stream where it was */
	const char *text;  /* of a kernel: its JSON, which says what a collective is */
	size_t text_bytes;
};

/* The next file, number `number` of the import; the name is copied. */
bool ranks_begin(struct ranks *r, const char *file, int number, struct err *err);
bool ranks_event(struct ranks *r, const struct ranks_event *event, struct err *err);

/* What an allocator holds after a change, of the device `device`. */
void ranks_memory(struct ranks *r, int64_t allocated_bytes, int64_t reserved_bytes);

/* The file is over, or cut off; `head` is what it says of itself, an object ("distributedInfo"), or
 * NULL.  Its figures are made, and its events dropped. */
bool ranks_end(struct ranks *r, const json_t *head, bool is_cut_off, struct err *err);

/* The rank that the head of a file says (NULL: there is none), or its name: "rank_3",
 * "rank-3.json", "rank3"; -1: neither. */
int64_t ranks_number(const char *head, const char *file);

/* Of the text of a graph, whatever it says of source lines, devices' numbers and addresses: equal
 * where ranks compiled the same. */
uint64_t ranks_graph_hash(const char *text, size_t len);

/* All of it, in the memory of `draft`: NULL where no file has an event of a device and no two
 * processes of different ranks compiled anything, and without memory.  `compiles` and `processes`
 * are those of an import's report (import.def), borrowed; NULL: none. */
struct report_ranks *ranks_report(struct ranks *r, const json_t *compiles, const json_t *processes,
				  struct report_draft *draft);

/* A rank with a trace whose clock is known: of file `file`, its rank `rank`. */
struct ranks_clock {
	int file;
	int64_t rank, ahead_ns, error_ns;
};

/* After ranks_report(): the next of them at or after *at, which is moved past it; from 0 on.
 * False: there is none. */
bool ranks_clock_next(const struct ranks *r, size_t *at, struct ranks_clock *out);

#endif
