/* profiler/timeline/timeline.h -- what ran when: events in columns, in compressed blocks.
 *
 * Part of the profiler's public header.  A timeline is a row of blocks, in a file
 * one after the other, in the store a row each.  A block is a chunk of at most
 * TIMELINE_CHUNK_EVENTS events, sorted by their start, or tables: what the numbers
 * of lanes, names and launch shapes in the chunks stand for, and facts of the
 * recording (records lost, for one); or a piece of a file that was written beside it
 * (TORCH_TRACE of a PyTorch program); or texts of a log, and their index
 * (profiler/import/artifacts.h).
 *
 *	block   magic u32 | kind u32 | events u32 | version u32 | t0 i64 | t1 i64 |
 *		bytes of the body u64 | xxHash of the body u64 | body
 *	chunk   for each column: codec u32 | bytes u32 | the column, its values' first
 *		bytes, then their second bytes, and so on; starts as differences
 *	tables  bytes of the JSON u32 | codec u32 | {"lanes", "names", "shapes": lists
 *		that continue those of the tables before; "facts"}
 *	file    (texts and index too) bytes of the name u32 | bytes of the piece u32 | name |
 *		codec u32 | bytes u32 | the piece
 *
 * All of it little-endian; times are nanoseconds of the recording's clock, or, of a job
 * of several ranks, of each lane's own: what that is ahead of the first rank's is a fact,
 * "clocks", and who reads events reads them on the first rank's clock.  Blocks may come
 * from strangers: every reader checks before it believes.  A writer holds one
 * chunk, a view its answer; neither grows with the recording.  One thread each.
 */
#ifndef PROFILER_TIMELINE_TIMELINE_H
#define PROFILER_TIMELINE_TIMELINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"

/* KIND(id, name) of an event. */
#define TIMELINE_KINDS(KIND)                                                                       \
	KIND(CALL, "call")         /* of the user's function, whole */                             \
	KIND(GUARDS, "guards")     /* looking for the entry whose guards hold */                   \
	KIND(DISPATCH, "dispatch") /* from an op, or an entry, to its launches */                  \
	KIND(ALLOC, "alloc")       /* outputs and temporaries */                                   \
	KIND(LAUNCH, "launch")     /* what a launch costs its caller */                            \
	KIND(KERNEL, "kernel")     /* generated, fused of several ops or of one */                 \
	KIND(LIBRARY, "library")   /* a kernel that is no generated one: a product, a sort */      \
	KIND(EAGER, "eager")       /* a kernel of one op, run at once */                           \
	KIND(COPY, "copy")         /* memory to memory */                                          \
	KIND(SET, "set")           /* memory set to a value */                                     \
	KIND(API, "api")           /* a call of the driver or the runtime */                       \
	KIND(RANGE, "range")       /* that the program itself marked */                            \
	KIND(OVERHEAD, "overhead") /* of the recording */                                          \
	KIND(WAIT, "wait")         /* of the host for the device */                                \
	KIND(MEMORY, "memory")     /* an allocation or a release, of so many bytes */              \
	KIND(PIECE, "piece")       /* of the function, that one graph computes */                  \
	KIND(BREAK, "break")       /* what ended a graph, as the program has it */                 \
	KIND(OP, "op")             /* of an imported program, on the host */                       \
	KIND(COUNTER, "counter")   /* a value, `bytes`, that holds so long; import/counters.h */   \
	KIND(FLOW, "flow")         /* where an arrow begins, passes or ends; import/slices.h */    \
	KIND(IDLE, "idle")         /* a device runs nothing: made for a window, never written */

enum timeline_kind {
#define KIND(id, name) TIMELINE_##id,
	TIMELINE_KINDS(KIND)
#undef KIND
	    TIMELINE_KIND_COUNT
};
const char *timeline_kind_name(enum timeline_kind kind);

/* What devices run. */
static inline bool timeline_kind_runs(uint32_t kind)
{
	return kind == TIMELINE_KERNEL || kind == TIMELINE_LIBRARY || kind == TIMELINE_EAGER ||
	       kind == TIMELINE_COPY || kind == TIMELINE_SET;
}

/* What an event is drawn and grouped as: "collective", "compile", "python"
 * (profiler/timeline/drawn.def) where its name, or that of its lane, says more than its kind, whose
 * name it is else.  Both may be NULL. */
const char *timeline_drawn_as(enum timeline_kind kind, const char *name, const char *lane);

/* COLUMN(name, type), in the order of a chunk's body. */
#define TIMELINE_COLUMNS(COLUMN)                                                                   \
	COLUMN(start_ns, int64_t)                                                                  \
	COLUMN(duration_ns, int64_t)                                                               \
	COLUMN(bytes, int64_t)        /* moved; 0: none or unknown */                              \
	COLUMN(lane, uint32_t)        /* of the tables' lanes */                                   \
	COLUMN(kind, uint32_t)        /* enum timeline_kind */                                     \
	COLUMN(name, uint32_t)        /* of the tables' names */                                   \
	COLUMN(shape, uint32_t)       /* of the tables' shapes, from 1; 0: none */                 \
	COLUMN(correlation, uint32_t) /* the same in a launch and its kernel; 0: none */

struct timeline_event {
#define COLUMN(name, type) type name;
	TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
};

enum {
	TIMELINE_CHUNK_EVENTS = 65536,
	TIMELINE_MAX_BLOCK_BYTES = 16 << 20,
	TIMELINE_MAX_LANES = 4096,
	TIMELINE_MAX_NAMES = 1 << 17, /* and shapes */
	TIMELINE_NAME_CHARS = 2048,   /* of which a name keeps at most */
};
/* Starts and ends lie within plus and minus so much: 146 years. */
#define TIMELINE_MAX_NS (INT64_C(1) << 62)

/* The sum of two times or of bytes; it stops where int64_t ends, since a stranger's blocks may
 * hold any. */
static inline int64_t timeline_add(int64_t a, int64_t b)
{
	int64_t sum;

	return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

enum timeline_block_kind {
	TIMELINE_CHUNK = 1,
	TIMELINE_TABLES,
	TIMELINE_FILE,
	TIMELINE_TEXTS,
	TIMELINE_INDEX
};

struct timeline_block {
	uint32_t kind, events;
	int64_t t0_ns, t1_ns; /* of a chunk: its first start, its last end */
	const void *body;     /* borrowed */
	size_t body_bytes, block_bytes;
};

/* The block at the beginning of `bytes`; its body is borrowed from there.  False
 * with TIMELINE: cut off, damaged, or no block at all. */
bool timeline_block_read(const void *bytes, size_t len, struct timeline_block *out,
			 struct err *err);

/* ---- writing (write.c) ---- */

struct timeline_writer;
typedef bool timeline_block_fn(void *self, const void *block, size_t len, struct err *err);

/* Blocks go to `put` when they are full.  NULL with MEMORY. */
struct timeline_writer *timeline_writer_create(timeline_block_fn *put, void *self, struct err *err);
void timeline_writer_destroy(struct timeline_writer *w); /* NULL is fine */

/* New rows of the tables; each takes over `row`, an object with a "name" (a shape:
 * without).  The number to write into events.  Where the tables are full (or `row`
 * is NULL) it is that of the row "others"; lanes and shapes: of the last row, and 0. */
uint32_t timeline_writer_lane(struct timeline_writer *w, json_t *row);
uint32_t timeline_writer_name(struct timeline_writer *w, json_t *row);
uint32_t timeline_writer_shape(struct timeline_writer *w, json_t *row);

/* One event; a start or duration out of range is counted as such and left out. */
bool timeline_writer_add(struct timeline_writer *w, const struct timeline_event *event,
			 struct err *err);

/* Hands out what is there, as it is, with `events` and `extents` so far: for whoever
 * watches while it runs. */
bool timeline_writer_flush(struct timeline_writer *w, struct err *err);

/* The next piece of a file, of texts or of their index, at most TIMELINE_PIECE_BYTES. */
enum { TIMELINE_PIECE_BYTES = 4 << 20, TIMELINE_FILE_NAME_CHARS = 200 };
struct timeline_piece {
	enum timeline_block_kind kind;
	const char *name; /* of a file */
	const void *bytes;
	size_t len;
	int64_t first, last; /* what the store finds it by: t0 and t1 of the block; of a file 0 */
	size_t stored_bytes; /* out: of the block */
};
bool timeline_writer_file(struct timeline_writer *w, struct timeline_piece *piece, struct err *err);

/* The rest, and the last tables: their facts are `facts` (taken over; NULL: none)
 * with `out_of_range`, `events`, and `extents` ([[lane, t0, t1, events], ...]). */
bool timeline_writer_finish(struct timeline_writer *w, json_t *facts, struct err *err);

/* ---- reading (read.c) ---- */

/* What the clock of a lane is ahead of the first rank's, and how far that may be wrong. */
struct timeline_clock {
	bool known;
	int64_t ahead_ns, error_ns;
};

/* Zeroed is empty. */
struct timeline_tables {
	json_t *lanes, *names, *shapes, *facts;
	size_t text_bytes, values; /* of the JSON so far: bounded, whatever it was packed into */
	/* Of the facts: "clocks", [[lane, ahead_ns, error_ns], ...], by lane; NULL: all are one. */
	struct timeline_clock *clocks;
	size_t n_clocks;
	bool as_recorded; /* the reader's wish: each lane's times are those of its own clock */
};
void timeline_tables_finish(struct timeline_tables *t);

/* What a lane's row says, by its keys.  A text is NULL and a number 0 where the row has none; texts
 * are the tables'. */
#define TIMELINE_LANE(TEXT, NUMBER)                                                                \
	TEXT(name)     /* as it is shown */                                                        \
	TEXT(mode)     /* of a run: whose calls these are */                                       \
	NUMBER(n)      /* of a sweep: the point */                                                 \
	TEXT(role)     /* calls, kernels, ... */                                                   \
	TEXT(process)  /* of a log */                                                              \
	NUMBER(pid)    /* of a trace: the process */                                               \
	NUMBER(file)   /* of a log: which of its files */                                          \
	NUMBER(device) /* of kernels: which GPU */

struct timeline_lane {
#define TEXT(key) const char *key;
#define NUMBER(key) int64_t key;
	TIMELINE_LANE(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
	struct {
#define TEXT(key)
#define NUMBER(key) bool key;
		TIMELINE_LANE(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
	} has;
};
/* What the row of a name says, likewise: of a kernel, a call or a break. */
#define TIMELINE_NAME(TEXT, NUMBER)                                                                \
	TEXT(name, "name")         /* as it is shown */                                            \
	TEXT(symbol, "symbol")     /* of a kernel: the function that ran */                        \
	TEXT(stage, "stage")       /* of a break: capture or lowering */                           \
	TEXT(flow, "flow")         /* of an arrow: which end this is */                            \
	NUMBER(graph, "graph")     /* of a kernel: whose it is */                                  \
	NUMBER(line, "line")       /* of the source */                                             \
	NUMBER(nth_break, "break") /* of a break: its number among those of the mode */            \
	NUMBER(read_bytes, "read_bytes")                                                           \
	NUMBER(written_bytes, "written_bytes")                                                     \
	NUMBER(scale, "scale") /* of a counter: a sample's value is its bytes over that */

struct timeline_name {
#define TEXT(member, key) const char *member;
#define NUMBER(member, key) int64_t member;
	TIMELINE_NAME(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
	bool library;              /* a function of a library */
	const json_t *ops, *lines; /* of a kernel: texts, and lines of the source; or NULL */
	struct {
#define TEXT(member, key)
#define NUMBER(member, key) bool member;
		TIMELINE_NAME(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
	} has;
};
struct timeline_name timeline_name_at(const struct timeline_tables *t, size_t name);

/* What watching takes: of reading the clock once, and of telling of an event.  0: unknown. */
struct timeline_watching {
	double clock_ns, tell_ns;
};
struct timeline_watching timeline_watching(const struct timeline_tables *t);

/* Not known where there is no such lane too. */
struct timeline_clock timeline_clock_at(const struct timeline_tables *t, size_t lane);

/* From a span of the reader's time to the one of the blocks that may hold events of it. */
void timeline_recorded_span(const struct timeline_tables *t, int64_t *t0_ns, int64_t *t1_ns);

/* What the events of a lane reach over, as the facts have it, on the clock that the tables are read
 * by; false past the last. */
struct timeline_extent {
	size_t lane;
	int64_t t0_ns, t1_ns;
};
bool timeline_extent_at(const struct timeline_tables *t, size_t i, struct timeline_extent *out);

/* All without a value where there is no such lane. */
struct timeline_lane timeline_lane_at(const struct timeline_tables *t, size_t lane);

/* Whether a lane is one of a mode (NULL: any) at a point (NULL: any). */
bool timeline_lane_is_of(const struct timeline_lane *lane, const char *mode, const int64_t *n);

/* Of which process a lane is, or of which file of a log. */
static inline int64_t timeline_lane_source(const struct timeline_lane *lane)
{
	return lane->has.pid ? lane->pid : lane->file;
}

/* Continues the tables; they are as before where it fails. */
bool timeline_tables_read(struct timeline_tables *t, const struct timeline_block *block,
			  struct err *err);

/* A piece of a file, of texts or of their index, added to *out. */
bool timeline_file_read(const struct timeline_block *block, char name[TIMELINE_FILE_NAME_CHARS + 1],
			struct buf *out, struct err *err);

/* Columns of a chunk; the pointers belong to it. */
struct timeline_chunk {
	int n;
#define COLUMN(name, type) type *name;
	TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
	uint8_t *scratch;
};
bool timeline_chunk_create(struct timeline_chunk *c, struct err *err);
void timeline_chunk_destroy(struct timeline_chunk *c); /* zeroed is fine */

/* In *c: events in order of their starts, of known kinds; other numbers may lead nowhere.  Times
 * are on the clock that `tables` are read by (NULL: as recorded, within the block's t0 and t1). */
bool timeline_chunk_read(struct timeline_chunk *c, const struct timeline_tables *tables,
			 const struct timeline_block *block, struct err *err);

/* Event i of a chunk that was read. */
static inline struct timeline_event timeline_chunk_event(const struct timeline_chunk *c, int i)
{
#define COLUMN(name, type) .name = c->name[i],
	return (struct timeline_event){ TIMELINE_COLUMNS(COLUMN) };
#undef COLUMN
}

/* ---- a window (view.c) ---- */

/* One event out of those that are looked for: the next of their order (start, lane, the longer
 * first, name) after a place, or the last before it; and the events of a launch. */
struct timeline_seek {
	bool wanted;         /* nothing but this is asked for: timeline_view_found() */
	bool back;           /* the last before */
	int64_t at_ns, lane; /* lane -1: before all lanes */
	int64_t duration_ns, name;
	uint32_t correlation; /* of the process that `lane` is of; 0: none */
};

/* What is asked for: the lanes of a mode and a point, and a span of their time,
 * which begins with the first event of these lanes. */
struct timeline_query {
	const char *mode; /* NULL: of all */
	bool has_n;
	int64_t n;             /* the point of a sweep */
	int64_t t0_ns, t1_ns;  /* t1 < 0: to the end */
	int px;                /* so many buckets where there are more events than fit */
	const char *lanes;     /* NULL: of all; else those that rows are of: "3,4,17" */
	const char *find;      /* NULL: nothing; else a part of a name, symbol or op, in any case */
	int64_t find_until_ns; /* by clock_ns(): when looking for `find` or `seek` ends; 0: never */
	bool as_recorded;      /* each lane's times are those of its own clock */
	bool finest;           /* as many buckets as timeline_coarser() takes; px is not read */
	struct timeline_seek seek;
};

struct timeline_view;

enum { TIMELINE_FIND_CHARS = 200 };

/* Borrows the query's texts.  Give it all tables, ask for the range, give it the
 * chunks that reach into that, in order. */
struct timeline_view *timeline_view_create(const struct timeline_query *q, struct err *err);
void timeline_view_destroy(struct timeline_view *v); /* NULL is fine */
bool timeline_view_tables(struct timeline_view *v, const void *block, size_t len, struct err *err);

/* Which blocks are to be read, in their own time. */
bool timeline_view_range(struct timeline_view *v, int64_t *t0_ns, int64_t *t1_ns, struct err *err);
bool timeline_view_chunk(struct timeline_view *v, const void *block, size_t len, struct err *err);

/* Once all tables are there: whether the window is all of the lanes' time. */
bool timeline_view_is_whole(struct timeline_view *v, bool *whole, struct err *err);

/* Whether more chunks are to be read: not once a search has taken its time. */
bool timeline_view_wants_more(struct timeline_view *v);

/* The answer: "BETV" | bytes of the head u32 | the head, JSON, filled up with spaces
 * to a multiple of 8 | columns, each from a multiple of 8 on.  The head says which
 * columns, what their numbers stand for, totals that hold for all events of the
 * window, those that have no row of their own too, and where a page opens: "opens".
 * Rows are in order of their starts; of one start the longest comes first, then the lane with the
 * lowest number, then the name with the lowest. */
bool timeline_view_columns(struct timeline_view *v, struct buf *out, struct err *err);
enum { TIMELINE_ANSWER_VERSION = 6 }; /* one more with each change of it */

/* The answer to `q`, whose window is whole and looks for nothing, out of that to it with `finest`
 * and all lanes.  *fits false: it cannot be had, for of the few lanes of `q` each event has a row,
 * or `q` has more columns.  STORAGE: `finest` is damaged. */
bool timeline_coarser(const struct buf *finest, const struct timeline_query *q, struct buf *out,
		      bool *fits, struct err *err);

/* {"events": how many are found, "sum_ns", "busy_ns": overlaps in a lane once, "busy_at_least": it
 * may be more, "looked_at": events, "cut": null, or in words that the time was up and what to do,
 * "index": from 1, "event": or null, "joined": [events of the launch]}; NULL: out of memory.  The
 * caller owns it. */
json_t *timeline_view_found(struct timeline_view *v, struct err *err);

/* Whether lanes have clocks of their own, once all tables are there. */
bool timeline_view_has_clocks(const struct timeline_view *v);

/* Whether rows of the answer stand for more events than one. */
bool timeline_view_is_sampled(const struct timeline_view *v);

/* ---- a window's events, summed by what they are (groups.c) ---- */

enum timeline_by {
	TIMELINE_BY_NAME, /* all events that take time */
	TIMELINE_BY_OP,   /* ops of the host, and of what devices run the ops that it is made of */
	TIMELINE_BY_LINE, /* what devices run, by the source line that it comes from */
	TIMELINE_BY_KERNEL, /* what devices run, by the function that ran */
};
enum timeline_order {
	TIMELINE_ORDER_SUM,
	TIMELINE_ORDER_COUNT,
	TIMELINE_ORDER_MEAN,
	TIMELINE_ORDER_MAX
};
struct timeline_grouping {
	enum timeline_by by;
	enum timeline_order order; /* the most first */
	const char *find;          /* NULL: all; else a part of a group's text, in any case */
	int limit;                 /* rows of the answer, at least 1 */
};

/* Used as a view is: borrows the query's and the grouping's texts; tables, range, chunks. */
struct timeline_groups;
struct timeline_groups *timeline_groups_create(const struct timeline_query *q,
					       const struct timeline_grouping *how,
					       struct err *err);
void timeline_groups_destroy(struct timeline_groups *g); /* NULL is fine */
bool timeline_groups_tables(struct timeline_groups *g, const void *block, size_t len,
			    struct err *err);
bool timeline_groups_range(struct timeline_groups *g, int64_t *t0_ns, int64_t *t1_ns,
			   struct err *err);
bool timeline_groups_chunk(struct timeline_groups *g, const void *block, size_t len,
			   struct err *err);

/* {"t0_ns", "t1_ns", "events", "sum_ns": of all events that were grouped, "groups": how many there
 * are, "rows": [{"text", "as": timeline_drawn_as() or "line", "count", "sum_ns": what lies in the
 * window, "mean_ns": of that, "max_ns": the longest, whole, "share": of sum_ns, "names": numbers of
 * names, at most 64}], "left_out": {"groups", "count", "sum_ns"}: past the limit}.  An event of
 * several ops or lines counts in the row of each, so that rows may add up to more than all.  Once;
 * NULL: out of memory.  The caller owns it. */
json_t *timeline_groups_json(struct timeline_groups *g, struct err *err);

/* ---- what a thread was in at a moment (stack.c) ---- */

/* The query's lanes are those that may be read; its seek says the `lane` and the moment, `at_ns`
 * from their first event.  Give it all tables; then as long as timeline_stack_next() is true, the
 * chunks of that range.  It is false at the end, and with MEMORY. */
struct timeline_stack;
struct timeline_stack *timeline_stack_create(const struct timeline_query *q, struct err *err);
void timeline_stack_destroy(struct timeline_stack *s); /* NULL is fine */
bool timeline_stack_tables(struct timeline_stack *s, const void *block, size_t len,
			   struct err *err);
bool timeline_stack_next(struct timeline_stack *s, int64_t *t0_ns, int64_t *t1_ns, struct err *err);
bool timeline_stack_chunk(struct timeline_stack *s, const void *block, size_t len, struct err *err);

/* {"frames": [{"name", "as": timeline_drawn_as(), "start_ns", "duration_ns"}], the outermost first,
 * "forward": likewise, around where autograd's arrow into an op of `frames` begins; [] without}.
 * NULL: out of memory.  The caller owns it. */
json_t *timeline_stack_json(struct timeline_stack *s, struct err *err);

#endif
