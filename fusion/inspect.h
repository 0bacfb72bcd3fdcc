/* fusion/inspect.h -- what a session has compiled, why, and what became of it.
 *
 * Graphs with their nodes, loops and kernels, what each pass did, guards, breaks, frames and
 * recompiles.  fusion_counts() says how many there are of each; an index is below that.
 * Strings and graphs are borrowed of the session: valid until it compiles again or ends.
 * All of it is for the session's thread.
 */
#ifndef FUSION_INSPECT_H
#define FUSION_INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/device.h"
#include "fusion/dtype.h"
#include "fusion/observer.h" /* struct fusion_line, fusion_symbol, fusion_origin */

struct arena;          /* fusion/base/arena.h */
struct buf;            /* fusion/base/buf.h */
struct err;            /* fusion/base/err.h */
struct fusion_session; /* fusion/fusion.h */
struct graph;          /* private */
struct kernel;         /* private */
struct lowered;        /* private */
struct sym;            /* private: a size that may be symbolic */

/* Totals since the session began; take differences around a call. */
struct fusion_counts {
	int64_t graphs, kernels_built, launches, guard_checks, eager_fallbacks;
	int64_t lowered;                /* pieces that graphs were lowered to */
	int64_t executions, cache_hits; /* lazy: traces run, and found by their hash */
	/* How many there are of what has an index below. */
	int n_graphs, n_barriers, n_recompiles, n_breaks, n_frames, n_entries;
	int64_t barriers_left_out; /* past the bound on kept ones */
	int64_t eager_compile_ns;  /* that kernels of eager ops took to compile, or to be found */
};
struct fusion_counts fusion_counts(const struct fusion_session *s);

/* ---- graphs ---- */

/* The graphs captured so far, in order.  Borrowed, valid until the session
 * compiles again or ends. */
struct fusion_recording {       /* mode graphs: what became of a graph's launches */
	bool tried;             /* the graph has run in that mode */
	int made, refused;      /* recordings: of a graph that runs in pieces one each */
	const char *why_not;    /* of the first that was refused, it runs as in static; NULL */
	int direct;             /* of the recordings made: replayed kernel by kernel */
	const char *why_direct; /* of the first such: some op runs on the host, say; NULL */
	const char *because;    /* why there had to be a new one: as fusion_entry_info.reason */
	int64_t record_ns;
	int64_t replays;        /* of all its recordings */
	int64_t pointed;        /* pointers that were set since tensors lay elsewhere */
	int64_t left_out;       /* calls in which guards of the program's objects were left out */
	const char *why_guards; /* why they never are; NULL: they may be */
	size_t held_bytes;      /* kept between two calls: temporaries, which recordings of a
				 * session share, and results that nobody has any more */
};
struct fusion_graph_info {
	const char *frame;            /* "model" */
	int frame_id, compile_id;     /* printed "0/1" */
	const struct graph *captured; /* as traced: ops, placeholders */
	int n_nodes;                  /* of it; arguments come before uses */
	const int *outputs;           /* of it: ids of nodes */
	int n_outputs;
	bool has_symbols;              /* some sizes of it may change */
	const struct graph *optimised; /* after the passes */
	int n_placeholders;            /* tensors and size symbols, as FX counts */
	int n_kernels;
	const struct kernel *kernels; /* for fusion_kernel() */
	const char *source;           /* generated C; NULL for the interpreter */
	int64_t compile_ns;           /* capture, passes, lowering and compiler */
	int64_t capture_ns, passes_ns, backend_ns;
	bool cached;
	const char *cache_note;    /* what is wrong with the cache of kernels; NULL */
	const char *const *guards; /* "x.dtype == float32", in order of evaluation */
	int n_guards;
	const struct fusion_origin *origins; /* of inputs, when it was captured; by their order */
	int n_origins;
	int64_t uses;
	int n_pieces;                  /* lowered pieces; 1 where nothing falls back */
	const struct lowered *lowered; /* NULL: it runs in pieces; for fusion_tile_program() */
	struct fusion_recording recording, backward; /* of the backward part */
};
struct fusion_graph_info fusion_graph(const struct fusion_session *s, int index);

/* ---- the nodes of a graph ---- */

enum fusion_arg_kind {
	FUSION_ARG_NONE,   /* Python None, or left out */
	FUSION_ARG_NODE,   /* .node */
	FUSION_ARG_INT,    /* .i */
	FUSION_ARG_SYMBOL, /* a symbolic number: fusion_print_symbol() */
	FUSION_ARG_FLOAT,  /* .f */
	FUSION_ARG_BOOL,   /* .i: 0 or 1 */
	FUSION_ARG_DTYPE,  /* .dtype */
	FUSION_ARG_INTS,   /* .n of them: fusion_arg_item() */
	FUSION_ARG_STR,    /* .str */
};
struct fusion_arg {
	enum fusion_arg_kind kind;
	int node, n;
	int64_t i;
	double f;
	enum dtype dtype;
	const char *str;
	const struct sym *symbol;
	const struct sym *const *items;
};

enum fusion_node_kind { FUSION_PLACEHOLDER, FUSION_CONSTANT, FUSION_OP };
struct fusion_node {
	enum fusion_node_kind kind;
	const char *name; /* unique in the graph */
	const char *op;   /* as ops.def has it: "truediv" */
	const char *fx;   /* target name of FX: "truediv"; "": it is no call of FX */
	enum dtype dtype;
	struct fusion_arg shape; /* INTS */
	int n_args;
	int line, column;   /* in the user's source; 0: nowhere */
	const char *module; /* whose call it is part of; NULL */
};
struct fusion_node fusion_node(const struct graph *g, int id);
struct fusion_arg fusion_arg(const struct graph *g, int id, int index);
struct fusion_arg fusion_arg_item(const struct fusion_arg *list, int index); /* INT or SYMBOL */
void fusion_print_symbol(struct buf *out, const struct fusion_arg *a);       /* "(s0*s1 + s0)//2" */

/* The loops on tensors (policy native) within a graph, in order.  All ints but the line are
 * ids of the graph's nodes, which has those of the bodies too; -1: there is none. */
struct fusion_carried {
	int node;   /* the node of the body that has its value, which the body may not read */
	int start;  /* before the first round */
	int next;   /* in the next one */
	int result; /* after the loop, where something reads it */
};
struct fusion_loop {
	int node;                             /* the loop's own */
	int parent;                           /* the index of the loop that it lies in; -1 */
	int line;                             /* of the source */
	int first;                            /* whether there is a first round */
	int again;                            /* whether there is another round: computed in each */
	const struct fusion_carried *carried; /* what goes round */
	const int *reads;                     /* what it reads besides, from outside */
	const int *nodes;                     /* its body */
	const int *condition; /* those of them that only say whether there is another round */
	int n_carried, n_reads, n_nodes, n_condition;
};
struct fusion_loops {
	struct fusion_loop *at;
	int n;
};
/* In the arena; none where that has no memory. */
struct fusion_loops fusion_loops(const struct graph *g, struct arena *arena);

/* ---- the kernels of a graph, in launch order ---- */

struct fusion_kernel {
	const char *name; /* "fused_add_sin_sum": unique in the graph */
	const char *form; /* "map", "rows", "cols", "library" */
	const char *why;  /* one line: why it is a kernel of its own; may be empty, or NULL */
	const int *lines; /* of the user's source that its ops come from, each once */
	int n_lines;
	int n_ops; /* nodes that are computed here */
	/* At the sizes of the capture: what its accesses reach, and what its ops would have
	 * moved besides, one kernel each. */
	int64_t read_bytes, written_bytes, saved_bytes;
	bool copies;        /* makes row-major what views have put in another order */
	bool is_library;    /* one op's own function, and nothing else */
	bool calls_library; /* it is that, or begins with one: a product of matrices */
	/* At the sizes of the capture, each node once: a product of matrices 2 for each pair of
	 * elements that meet (multiply, add), a convolution the same over its windows, attention
	 * those of its two products; a pointwise op 1 for each element of its result, whatever it
	 * computes (sin counts as add does), a reduction 1 for each element that it takes; views
	 * and copies none.  -1: a kernel with an op of another kind, or of a graph that runs in
	 * pieces. */
	int64_t operations;
};
struct fusion_kernel fusion_kernel(const struct fusion_graph_info *info, int kernel);

/* The FX name of op `index` of the kernel; NULL where it is unknown: a graph that runs in
 * pieces has the nodes of each for itself. */
const char *fusion_kernel_op(const struct fusion_graph_info *info, int kernel, int index);

/* The tile program of a graph as text: what passes have left of it, kernel by kernel, before a
 * backend makes code of it.  Nothing of a graph that runs in pieces. */
void fusion_tile_program(const struct fusion_graph_info *info, struct buf *out);

/* What a kernel takes of the device that it runs on, once it is bound.  False where
 * there is nothing to say: on the host, of a library's kernel, of a graph in pieces. */
bool fusion_kernel_use(const struct fusion_session *s, int graph, int kernel,
		       struct kernel_use *out);

/* ---- what each pass did to a graph ---- */

/* Where a rule fired. */
struct fusion_firing {
	const char *rule; /* "x * 1 is x" */
	const char *node; /* name of what it was applied to */
	const char *with; /* name of what replaces it, or is in its kernel; NULL */
	int line, column; /* in the user's source; 0: nowhere */
};

struct fusion_watched_step {
	const char *name, *plugin; /* of the pass; plugin NULL: built in */
	bool off, changed;
	int n_nodes; /* after it */
	int64_t ns;
	const char *after; /* the graph after it, as text; NULL: not changed, or left out */
	const struct fusion_firing *firings;
	int n_firings;
	int64_t firings_left_out;
};

/* A graph may be run in parts: lowered pieces, bodies of loops, a forward and a
 * backward part. */
struct fusion_watched_part {
	const char *name; /* "" where there is one, else "piece 0", "backward", ... */
	const char *loop; /* the while_loop whose body it is or is of; NULL: it is of none */
	/* What its inputs and outputs are in the graph that is run in parts: names of nodes. */
	const char *const *takes, *const *gives;
	int n_takes, n_gives;
	int first_kernel, n_kernels; /* of those of the whole */
	const char *before;          /* the graph as it came, as text; NULL: left out */
	int n_nodes;                 /* in it */
	const struct fusion_watched_step *steps;
	int n_steps;
	size_t left_out_bytes; /* of texts that were not kept */
};
struct fusion_watched {
	const struct fusion_watched_part *parts;
	int n_parts;
};
/* The passes run again for it, so nothing of it is in any time that was measured.  *bytes:
 * how many of the texts of graphs may be kept; becomes how many are.  The caller's, for
 * fusion_watched_destroy(); without parts for a graph that computes nothing.  NULL with
 * MEMORY, or what a pass failed with. */
struct fusion_watched *fusion_watch_passes(const struct fusion_session *s, int graph, size_t *bytes,
					   struct err *err);
void fusion_watched_destroy(struct fusion_watched *w); /* NULL is fine */

/* ---- barriers, recompiles, breaks, frames ---- */

/* Mode lazy: the pending trace was run, and why.  None in other modes, and of many
 * only the first: the rest is counted. */
struct fusion_barrier {
	const char *cause; /* as PT_XLA_DEBUG_LEVEL=2 names it */
	int64_t call;
	const char *function;
	int line;
	const char *hash; /* of the trace */
	bool compiled;    /* else it was found by its hash */
	int graph;        /* -1: past the bound on kept graphs */
	int n_inputs, n_outputs;
};
struct fusion_barrier fusion_barrier(const struct fusion_session *s, int index);
/* What asked for it, a sentence; nothing where the call ended. */
void fusion_barrier_message(const struct fusion_session *s, int index, struct buf *out);
/* All of it as PyTorch/XLA would print it. */
void fusion_lazy_log(const struct fusion_session *s, struct buf *out);

struct fusion_recompile {
	int64_t call;
	const char *frame;
	const char *reason;
};
struct fusion_recompile fusion_recompile(const struct fusion_session *s, int index);

/* Where graphs end, and what became of it.  Strings are borrowed, valid until
 * the session breaks again or ends. */
struct fusion_break {
	const char *stage;        /* "capture", "lowering" */
	const char *kind;         /* "data-dependent-branch": report/breaks.def */
	const char *outcome;      /* "resume", "jump", "step", "skip", "inline", ... */
	const char *gb;           /* PyTorch's registry id; NULL */
	const char *subject;      /* "print", ".item()"; NULL */
	const char *hint;         /* NULL */
	const char *because;      /* why it could not be resumed; NULL */
	const char *because_hint; /* NULL */
	const char *because_gb;   /* NULL */
	int64_t call;
	int graph; /* that it ended; -1: that piece had no ops, or the frame was skipped */
	const struct fusion_line *stack; /* outermost first */
	int n_stack;
	int column, end_column; /* in the innermost line; end is one past; 0: unknown */
	/* What it was, where the graph ends before the block that it is in; line 0 else. */
	struct fusion_line cause;
	int cause_column, cause_end_column;
	int64_t count;
	int64_t cost_ns; /* -1: unknown */
};
struct fusion_break fusion_break(const struct fusion_session *s, int index);
/* The whole sentence, of any length. */
void fusion_break_message(const struct fusion_session *s, int index, struct buf *out);

/* The frames that were met, and the compiled versions of each: the tree that
 * says which inputs led where.  Borrowed as breaks are. */
struct fusion_frame_info {
	const char *name; /* "model", "torch_dynamo_resume_in_model_at_4" */
	int frame_id;
	int line;
	bool skipped, run_only;
	int broke;        /* the break that it is skipped for; -1 */
	const int *lines; /* skipped, or run_only and no entry serves: those that run in eager */
	int n_lines;
};
struct fusion_frame_info fusion_frame(const struct fusion_session *s, int index);

struct fusion_entry_info {
	int frame; /* index for fusion_frame() */
	int compile_id;
	int graph;    /* -1: no ops */
	int64_t call; /* that made it */
	int64_t compile_ns, uses;
	int64_t refuted;    /* of the uses: what it took for granted did not hold, eager ran it */
	const char *reason; /* why the older ones did not serve; NULL: the first */
	const char *const *guards;
	int n_guards;
	const struct fusion_symbol *symbols;
	int n_symbols;
};
struct fusion_entry_info fusion_entry(const struct fusion_session *s, int index);

#endif
