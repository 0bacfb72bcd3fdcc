/* fusion/observer.h -- what the engine tells whoever watches.
 *
 * Calls come from the engine's thread, in order; an observer must not call back.
 * Times are clock_ns().
 */
#ifndef FUSION_OBSERVER_H
#define FUSION_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "fusion/dtype.h"

enum fusion_phase {
	PHASE_GUARDS,   /* looking for the entry whose guards hold */
	PHASE_DISPATCH, /* eager: from an op to its plan; compiled: binding sizes */
	PHASE_ALLOC,    /* outputs and temporaries */
	PHASE_LAUNCH,   /* what a launch costs beside its kernel */
	PHASE_KERNEL,   /* inside kernels */
	PHASE_COUNT
};

/* A line of the program on a stack of calls. */
struct fusion_line {
	int line;
	const char *function;
};

/* A symbol of a compiled version: "s0" is "x.size(0)", within "2 <= s0". */
struct fusion_symbol {
	const char *name, *source, *range; /* range may be NULL */
};

/* An input of a graph that holds what another graph has given: across a break, or kept from an
 * earlier call. */
struct fusion_origin {
	int node;          /* of the graph that takes it: a placeholder */
	int graph, output; /* which graph gave it, and the place among that graph's outputs */
};

/* What tensor memory is taken for. */
enum fusion_use {
	USE_OTHER,     /* by no kernel of a graph: a literal, a copy, what a library's op made */
	USE_OUTPUT,    /* a result of a graph, or of an eager op */
	USE_TEMPORARY, /* between two kernels of a graph */
	USE_CONSTANT,  /* of a graph; taken when it is compiled */
	USE_RECORDING, /* the temporaries that recordings of mode graphs share; kept */
	USE_COUNT
};

/* Memory as it is taken, and for what. */
struct fusion_memory {
	enum fusion_use use;
	bool eager;     /* of the eager op that eager_op() named last, which has op and line */
	int graph;      /* -1: no graph's, or of its backward part */
	int kernel;     /* of the graph, that writes it first; -1: none, or unknown */
	int values;     /* of the graph that have a place in it: temporaries in one block */
	const char *op; /* FX name of what computes the value; NULL: unknown, or several values */
	int line;       /* of the user's source; 0: unknown */
	int rank;       /* -1: of no one shape */
	enum dtype dtype;
	int64_t size[MAX_RANK];
};

/* Kernels `first` to `first` + n - 1 of a graph, which ran as one launch of the driver, in their
 * order. */
struct fusion_replay {
	int graph, first;
	const int *counts; /* by kernel: how many things of the device: kernels, copies and sets */
	int n;
	int64_t begin_ns, end_ns;
};

/* Any member may be NULL.  `graph` is an index for fusion_graph(); -1 for an
 * eager op. */
struct fusion_observer {
	void *self;
	void (*compiled)(void *self, int graph, int64_t compile_ns, int kernels, bool cached);
	/* A launch begins, and has ended.  `library`: it calls an op's own function. */
	void (*launching)(void *self, bool library);
	/* Called before launched(): of a device, how many kernels ran for it that are the
	 * backend's own, generated or an op's, in the order of their launches. */
	void (*ran)(void *self, int kernels);
	void (*launched)(void *self, int graph, int kernel, int64_t begin_ns, int64_t end_ns);
	/* Instead of launching() to launched().  Whoever has launched() and not this sees the
	 * kernels launched one by one. */
	void (*replayed)(void *self, const struct fusion_replay *replay);
	void (*phase)(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns);
	void (*recompiled)(void *self, const char *frame, const char *reason);
	/* An op runs in eager: the launches that follow with graph -1 are its own.
	 * `name` is as in ops.def, or a plugin's; `line` is of the user's source, 0: nowhere. */
	void (*eager_op)(void *self, const char *name, int line);
	/* A piece of the program ran: from its inputs to what it leaves, its launches
	 * within.  `graph` -1: without ops. */
	void (*piece)(void *self, int graph, int64_t begin_ns, int64_t end_ns);
	/* What ended a graph ran as the program has it: one statement's part, or the rest
	 * of a frame; pieces of functions that it calls lie within.  Within a piece: an op
	 * of its graph that the backend does not lower.  `index` is for fusion_break(). */
	void (*broke)(void *self, int index, int64_t begin_ns, int64_t end_ns);
	/* Tensor memory that a break costs, in parts that add up: bytes taken in this call
	 * and still held where it is met, and bytes that are written and read again only
	 * because the graph ends there.  Takes time to find out: for calls that nobody
	 * times. */
	void (*crossed)(void *self, int index, int64_t kept_bytes, int64_t moved_bytes);
	/* Tensor memory is taken, and given back: each took() has one gave() with the same
	 * `block`, but what was taken before the observer came and what is kept when it goes.
	 * A block's address may come again.  `used_bytes`: of all tensors of the engine by
	 * now, with what a device's backend has for itself.  On a device it is the host's
	 * order: kernels that were launched may not have run.  `what` lives for the call. */
	void (*took)(void *self, const struct fusion_memory *what, const void *block, int64_t bytes,
		     int64_t used_bytes, int64_t at_ns);
	void (*gave)(void *self, const void *block, int64_t bytes, int64_t used_bytes,
		     int64_t at_ns);
};

#endif
