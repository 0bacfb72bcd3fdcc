/* fusion/report/report.h -- what a session tells of its captures.
 *
 * Whoever captures, lowers or runs adds breaks, frames and entries here;
 * fusion/fusion.h reads them out.  Everything is copied, but an entry's uses,
 * refuted and guards, which are read where they live.
 *
 *	struct session_break b = { .id = BREAK_HOST_CALL, .subject = "print",
 *				   .outcome = OUTCOME_RESUME, .call = 0, .graph = 2,
 *				   .stack = stack, .n_stack = 1 };
 *	session_add_break(s, &b);
 */
#ifndef FUSION_REPORT_REPORT_H
#define FUSION_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/vec.h"
#include "fusion/observer.h" /* struct fusion_line, fusion_symbol */

enum break_kind {
#define KIND(id, name) BREAK_KIND_##id,
#define BREAK(id, kind, gb, message, hint)
#include "fusion/report/breaks.def"
#undef KIND
#undef BREAK
	BREAK_KIND_COUNT
};

enum break_id {
	BREAK_NONE,
#define KIND(id, name)
#define BREAK(id, kind, gb, message, hint) BREAK_##id,
#include "fusion/report/breaks.def"
#undef KIND
#undef BREAK
	BREAK_COUNT
};

/* Where it was found: source to graph, or graph to kernels. */
enum break_stage { STAGE_CAPTURE, STAGE_LOWERING, STAGE_COUNT };

/* What became of it. */
enum break_outcome {
	OUTCOME_RESUME,   /* runs in eager, the frame is captured again after it */
	OUTCOME_JUMP,     /* a branch: each side is captured when it is first taken */
	OUTCOME_STEP,     /* the rest of the frame runs in eager */
	OUTCOME_SKIP,     /* the whole frame runs in eager, from now on */
	OUTCOME_INLINE,   /* the caller stops before its call; the callee is a frame of its own */
	OUTCOME_FALLBACK, /* lowering: a library call between two pieces */
	OUTCOME_BARRIER,  /* lazy: the pending trace was run */
	OUTCOME_ORDERED,  /* native: runs after its graph, in order */
	OUTCOME_COUNT
};

struct break_row {
	enum break_kind kind;
	const char *gb;      /* PyTorch's registry id, or NULL */
	const char *message; /* may hold one %s, for the subject */
	const char *hint;    /* or NULL */
};
const struct break_row *break_row(enum break_id id); /* BREAK_NONE: an empty row */
const char *break_kind_name(enum break_kind kind);

static inline const char *break_stage_name(enum break_stage stage)
{
	return stage == STAGE_CAPTURE ? "capture" : "lowering";
}

const char *break_outcome_name(enum break_outcome outcome);

/* The row's message with the subject in place (NULL: "it"). */
void break_message(struct buf *out, enum break_id id, const char *subject);

/* A place in a block that a graph ends before: PyTorch names the block's line. */
struct break_cause {
	struct fusion_line at; /* line 0: the break's own place is its cause's */
	int column, end_column;
};

struct session_break {
	enum break_stage stage;
	enum break_id id;
	enum break_outcome outcome;
	enum break_id because;           /* STEP, SKIP: why not resumed; BREAK_NONE */
	const char *subject;             /* ".item()", "print", an op or a function; NULL */
	const char *message;             /* instead of the row's; NULL */
	const char *hint;                /* instead of the row's; NULL */
	int64_t call;                    /* 0: the first */
	int graph;                       /* that it ended; -1: none, or the frame was skipped */
	const struct fusion_line *stack; /* outermost first */
	int n_stack;
	int column, end_column; /* of the innermost line; end is one past; 0: unknown */
	struct break_cause cause;
	int64_t count;   /* entries that end at it, or calls; 0 counts as 1 */
	int64_t cost_ns; /* a call, as measured; -1: unknown */
};

/* A point where pieces begin: a function, or a place to resume in it. */
struct session_frame {
	const char *name; /* "model", "torch_dynamo_resume_in_model_at_4" */
	int frame_id;     /* the first number of a compile id "0/1" */
	int line;         /* where it begins */
	bool skipped;     /* runs in eager */
	bool run_only;    /* nothing is compiled any more */
	int broke;        /* the break that it is skipped for; -1 */
	const int *lines; /* those that run in eager, ascending; of a frame that is neither: none */
	int n_lines;
};

/* A compiled version of a frame. */
struct session_entry {
	int frame;      /* index among the frames */
	int compile_id; /* the second number of "0/1" */
	int graph;      /* -1: without ops */
	int64_t call;   /* that made it */
	int64_t compile_ns;
	const char *reason;        /* why it had to be compiled; NULL: the first */
	const int64_t *uses;       /* read later: lives as long as the session */
	const int64_t *refuted;    /* likewise: uses that eager had to do again */
	const char *const *guards; /* likewise; in order of evaluation */
	int n_guards;
	const struct fusion_symbol *symbols;
	int n_symbols;
};

struct session_counts {
	int64_t graphs, kernels_built, launches, guard_checks, eager_fallbacks;
	int64_t lowered, executions, cache_hits; /* pieces; lazy: traces run, and found */
};

struct session_report {
	const char *frame; /* the entry function's name */
	int64_t calls;
	struct session_counts counts;
	const struct fusion_observer *observer; /* NULL: nobody watches */
	struct arena arena;
	VEC(struct session_break) breaks;
	VEC(struct session_frame) frames;
	VEC(struct session_entry) entries;
	int64_t breaks_left_out; /* past the bound */
};

enum { REPORT_MAX_BREAKS = 4096, REPORT_MAX_ENTRIES = 65536, REPORT_MAX_STACK = 64 };

/* A zeroed report is ready. */
static inline void session_report_finish(struct session_report *r)
{
	VEC_FREE(&r->breaks);
	VEC_FREE(&r->frames);
	VEC_FREE(&r->entries);
	arena_finish(&r->arena);
}

/* All of these copy; false when out of memory. */

/* The same break (all but call and graph) in the same call, or as a barrier in
 * any call, is counted and not listed again.  *index (NULL: nobody asks) is its
 * place in the list; -1: past the bound. */
bool report_add_break(struct session_report *r, const struct session_break *b, int *index);

/* Counts a break at a place that is listed already, whatever the call and the
 * graph (those are the first one's); false: there is none.  Policy native: a round
 * of a loop comes to its break again in each entry that is made for it. */
bool report_again(struct session_report *r, const struct session_break *b, int *index);
/* *index: for session_entry.frame, and report->frames.at[]. */
bool report_add_frame(struct session_report *r, const struct session_frame *f, int *index);
bool report_add_entry(struct session_report *r, const struct session_entry *e);

#endif
