/* profiler/import/model.h -- what the readers of logs fill in together.
 *
 * One of these for an import, however many files and kinds it has: that is where
 * a trace and the compile log of the same process meet (report.c).
 */
#ifndef PROFILER_IMPORT_MODEL_H
#define PROFILER_IMPORT_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "profiler/import/artifacts.h"
#include "profiler/import/compiles.h"
#include "profiler/import/kineto.h"
#include "profiler/import/ledger.h"
#include "profiler/import/stacks.h"
#include "profiler/import/xla.h"
#include "profiler/ranks/ranks.h"
#include "profiler/timeline/timeline.h"

/* ---- Which flows begin, and which end.
 *
 * Two bits for each id, in pages: some 0.25 byte a flow where ids are dense, as
 * correlation ids are.
 */

enum { FLOW_STARTS = 1, FLOW_ENDS = 2, FLOW_PAGE_IDS = 1 << 14, FLOW_MAX_PAGES = 1 << 13 };

struct flow_page {
	uint64_t number;
	uint8_t *bits; /* NULL: free slot */
};

/* Zeroed is empty. */
struct flows {
	struct flow_page *pages; /* 2 * FLOW_MAX_PAGES slots */
	int n_pages;
};

void flows_finish(struct flows *f);

/* Notes that a flow begins or ends; false: no room. */
bool flows_note(struct flows *f, uint64_t id, int bits);

/* What was noted of an id. */
int flows_have(const struct flows *f, uint64_t id);

/* How many have begun and not ended, ended and not begun, and both. */
void flows_count(const struct flows *f, int64_t *open, int64_t *orphans, int64_t *whole);

/* ---- Threads and streams of a trace, each a lane. */

enum lane_class { LANE_HOST, LANE_DEVICE, LANE_DEVICE_NOTES, LANE_MEMORY, LANE_RECORDING };

/* A begin that waits for its end. */
struct begun {
	int64_t start_ns;
	char name[128], category[EVENT_TEXT_CHARS + 1];
};

struct model;

struct trace_lane {
	enum lane_class of;
	char pid[EVENT_TEXT_CHARS + 1], tid[EVENT_TEXT_CHARS + 1];
	uint32_t lane;
	uint16_t next; /* of the same slot, + 1; 0: none */
	int64_t
	    ahead_ns; /* of our own traces: what its clock was ahead, by which they are put right */
	VEC(struct begun) begun;
};

enum { LANE_SLOTS = 2 * TIMELINE_MAX_LANES };

/* Zeroed is empty; the lanes of one file. */
struct trace_lanes {
	VEC(struct trace_lane) rows;
	uint16_t first[LANE_SLOTS]; /* by process and thread, + 1; 0: none */
	size_t last;                /* that was found: the next event is often of the same */
};

void trace_lanes_finish(struct trace_lanes *l);

/* The lanes of an event's process and thread, in the order in which they came: the one after
 * `before` (NULL: the first); NULL after the last. */
struct trace_lane *trace_lane_next(struct trace_lanes *l, const struct kineto_event *e,
				   const struct trace_lane *before);

/* The lane of an event; good until the next call.  Where there are too many, the last
 * one, and counted; NULL without memory. */
struct trace_lane *trace_lane_of(struct trace_lanes *l, enum lane_class of,
				 const struct kineto_event *e, struct model *m);

/* The lane of an event of a trace of our own, with its row (taken over); NULL without memory, or
 * where there are too many. */
struct trace_lane *trace_lane_own(struct trace_lanes *l, const struct kineto_event *e, json_t *row,
				  struct model *m);

/* ---- Names that come again, each once, with its totals. */

/* Names are kept up to so many bytes in all, those after count as "others". */
enum { NAMES_MAX_BYTES = 32 << 20 };

/* Totals are kept apart by what has the name. */
enum name_group {
	GROUP_KERNEL,
	GROUP_COPY,
	GROUP_SET,
	GROUP_OP,
	GROUP_ANNOTATION,
	GROUP_API,
	GROUP_OTHER,
	GROUP_COUNT
};

struct name_total {
	enum name_group group;
	uint32_t timeline; /* its number in the writer's table */
	const char *text;
	size_t len;
	uint64_t hash;
	int64_t count, total_ns, bytes;
};

/* Zeroed is empty. */
struct names {
	struct arena arena;
	VEC(struct name_total) rows;
	uint32_t *slots; /* row + 1; 0: free */
	size_t n_slots;
	struct name_total others[GROUP_COUNT];
};

/* The row of a name in a group, new where it is not known; good until the next call.
 * `writer` may be NULL. */
struct name_total *names_find(struct names *n, struct timeline_writer *writer,
			      enum name_group group, const char *text, size_t len,
			      struct ledger *ledger);

/* A text as JSON, whatever its bytes; *bad is set where some were no UTF-8, or NUL, for which
 * U+FFFD stands. */
json_t *json_of_text(const char *text, size_t len, bool *bad);

/* ---- What ran inside of what, and for which compiled frame.
 *
 * torch.profiler marks a call of a compiled frame as "Torch-Compiled Region: F/C", with its
 * resume frames and all that they call within, compilations that they begin too.  What a
 * region takes beyond the regions, compiled graphs and compilations in it is its own: guards,
 * bytecode, and what the break was for.  A launch
 * belongs to the innermost region around it, a cache lookup to the region that begins next.
 *
 * Spans are looked through a window at a time, sorted: memory does not grow with the file.
 */

enum { REGION_WINDOW = 1 << 19, REGION_MAX = 4096, REGION_MAX_LINKS = 3 << 20 };

enum span_kind {
	SPAN_PLAIN,
	SPAN_REGION,
	SPAN_GRAPH,
	SPAN_COMPILE, /* Dynamo and what it calls at work */
	SPAN_LOOKUP,
	SPAN_LAUNCH,
	SPAN_DEVICE
};

struct import_span {
	int64_t start_ns, duration_ns;
	uint32_t lane;
	uint32_t kind : 3, number : 29; /* of a region */
	uint32_t id;                    /* a launch's correlation */
};

/* A compiled frame of a process, over all its calls. */
struct region {
	char pid[24], id[24]; /* "398", "0/0" */
	int64_t calls, total_ns, self_ns;
	int64_t lookups, lookup_ns; /* "TorchDynamo Cache Lookup" */
	int64_t graph_calls, graph_ns;
	int64_t compile_ns; /* of compilations that calls of it began */
	int64_t launches, kernels, kernel_ns;
};

struct region_link { /* of a launch to its region, or of a kernel to its time */
	uint32_t correlation, region;
	int64_t kernel_ns;
};

/* Zeroed is empty. */
struct regions {
	VEC(struct region) rows;
	VEC(struct import_span) window;
	VEC(struct region_link) launches, kernels;
	int64_t links_left_out; /* past REGION_MAX_LINKS */
	struct ledger *ledger;
};

/* The number of a frame's row, new where it is not known; -1: there are too many. */
int regions_find(struct regions *r, const char *pid, const char *id);

/* Adds a span; looks the window through where it is full. */
bool regions_add(struct regions *r, struct import_span span);

/* A kernel's time, for the region that launched it. */
bool regions_kernel(struct regions *r, uint32_t correlation, int64_t ns);

/* Looks through what is left of the file. */
bool regions_end_file(struct regions *r);

/* Memory of a device, as its allocator said it. */
struct held_memory {
	int64_t events, allocated_bytes, peak_allocated_bytes, peak_reserved_bytes;
};
/* What clocks may be apart: far more than machines are. */
#define MODEL_MAX_AHEAD_NS (TIMELINE_MAX_NS / 4)
enum { MODEL_MAX_DEVICES = 64, MODEL_SHAPES = 8192, MODEL_MAX_GRAPHS = 16384 };

struct model_shape {
	int32_t grid[3], block[3];
	int64_t registers, shared_bytes;
	uint32_t number; /* in the timeline's table; 0: a free slot */
};

/* Whose clock a lane of the timeline has. */
struct import_lane {
	uint32_t lane;
	int file;                    /* of traces; -1: of a compile log, */
	int64_t rank;                /* of which this is the rank, or -1 */
	struct timeline_clock clock; /* of a trace of our own, which is put right by it */
};

struct model {
	struct timeline_writer *writer; /* NULL: no timeline is wanted; borrowed */
	struct ledger ledger;
	int file;                      /* which of the files is read, from 0 */
	const char *file_name;         /* borrowed */
	int64_t base_at_end_ns;        /* its clock's zero, where its end says so; else 0 */
	VEC(struct import_lane) lanes; /* of the timeline, as they were made */

	/* of traces */
	int64_t rank; /* of the file, as it says itself; -1: it does not */
	struct names names;
	struct regions regions;
	int64_t events, flows, graph_kernels;             /* all that were read */
	struct held_memory memory[MODEL_MAX_DEVICES + 1]; /* the host's first */
	json_t *counters;                         /* a list: a row for each series (counters.h) */
	int64_t async_spans, async_marks, arrows; /* slices.h */
	json_t *heads;                            /* a list: what each file says of itself */
	json_t *exported;      /* what a trace of our own says of its run (own.h); NULL: none */
	json_t *graphs_called; /* {hash of a compiled graph: calls} */
	struct ranks *ranks;
	struct model_shape shapes[MODEL_SHAPES];
	int n_shapes;

	/* of compile logs */
	struct compiles compiles;
	struct artifacts artifacts;
	struct stacks stacks;

	/* of PyTorch/XLA */
	struct xla_log xla;
};

bool model_init(struct model *m, struct timeline_writer *writer, struct err *err);
void model_finish(struct model *m);

/* A new lane of the timeline (`row` is taken over), of the trace that is read: its row says the
 * file, unless it is the first, and the rank, where that is known. */
uint32_t model_lane(struct model *m, json_t *row);

/* A new lane whose row is taken as it is, with whose clock it has. */
uint32_t model_lane_of(struct model *m, json_t *row, struct import_lane of);

/* What the clocks of the lanes are ahead of the first rank's, for the facts of the timeline
 * (profiler/timeline/timeline.h), once the ranks are reported; new.  NULL: none is apart. */
json_t *model_clocks(const struct model *m);

/* The number of a launch's shape in the timeline's table; 0: there are too many. */
uint32_t model_shape(struct model *m, const int32_t grid[3], const int32_t block[3],
		     int64_t registers, int64_t shared_bytes);

/* Counts a call of a compiled graph, by its hash. */
void model_graph_called(struct model *m, const char *hash, size_t len);

/* A reader of one kind of log.  A file is given to it in pieces of any size. */
struct log_reader {
	const char *kind; /* as in answers: "kineto" */
	/* Whether a file that begins so is of this kind; `len` is at least some KB, or all. */
	bool (*recognises)(const char *bytes, size_t len);
	void *(*create)(struct model *m, struct err *err);
	bool (*feed)(void *self, const char *bytes, size_t len, struct err *err);
	bool (*end)(void *self, struct err *err); /* the file is over */
	void (*destroy)(void *self);              /* NULL is fine */
};
extern const struct log_reader reader_kineto, reader_torch_trace, reader_pt_xla;

#endif
