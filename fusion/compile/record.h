/* fusion/compile/record.h -- private to compile/: launches recorded once, replayed.
 *
 * Mode graphs.  An exec whose sizes are numbers makes the same launches in each run, with
 * temporaries at the same places: a RECORDING is those launches with their arguments
 * ready, as a backend keeps them (backends.h).  Before a replay inputs and outputs that
 * lie elsewhere than the last time are pointed at; everything else stays.
 *
 * What a run hands out is never written by the next one: an output is a new tensor, or
 * that of the run before where nobody has it any more.
 */
#ifndef FUSION_RUNTIME_RECORD_H
#define FUSION_RUNTIME_RECORD_H

#include "fusion/compile/exec.h"

/* The memory of temporaries, of all recordings of a session: they are replayed one
 * after another.  Zeroed with its allocator set, it is ready. */
struct record_memory {
	struct allocator *allocator;
	void *block;
	size_t bytes;
	int64_t moves; /* how often it has grown: recordings then point anew */
};
void record_memory_finish(struct record_memory *m); /* recordings first */

struct record_input { /* a graph input that kernels read */
	int index, buffer;
	void *at; /* where the recording has it */
};

struct record_output {
	int *chain; /* buffers whose memory is the output's, n of them */
	int n;
	void *at;
	struct tensor *kept; /* of the last run; NULL */
};

struct record_temp {
	int buffer;
	size_t offset; /* in the session's block */
};

struct record {
	struct exec *exec;
	struct record_memory *memory;
	struct recording *recording; /* the backend's */
	struct record_input *inputs;
	int n_inputs;
	struct record_output *outputs;
	bool copies;     /* some output is a copy of what is no kernel's */
	bool alternates; /* tensors are large: the end that is in the cache goes first */
	struct record_temp *temps;
	int n_temps;
	int *counts; /* by kernel: backend.whole() */
	size_t temp_bytes;
	int64_t moves;            /* of the memory, as last pointed at */
	int64_t replays, pointed; /* ... and pointers that were set for them */
};

/* What came of recording an exec: of one that runs in pieces, of each. */
struct recorded {
	bool tried;
	int made, refused; /* recordings */
	int64_t record_ns;
	char why[ERR_MESSAGE_BYTES]; /* the first was refused; "" */
};

/* Records `e`, which is bound, and has it replayed from now on: e->record.  What
 * cannot be recorded runs as it did. */
void exec_record(struct exec *e, struct record_memory *memory, struct recorded *out);
void record_destroy(struct record *r); /* NULL is fine */

/* exec.c: exec_run() of an exec with e->record. */
bool record_run(struct record *r, struct tensor *const *inputs, struct tensor **outputs,
		struct tensor *into, const struct fusion_observer *observer, int graph,
		struct err *err);

/* Of e and of the pieces that it runs in: replays of all their recordings, pointers
 * set, and bytes that they keep between two runs beyond the session's block. */
struct record_totals {
	int recordings, direct; /* `direct`: replayed kernel by kernel */
	const char *why_direct; /* of the first such; NULL */
	int64_t replays, pointed;
	size_t temp_bytes, kept_bytes;
};
void exec_record_totals(const struct exec *e, struct record_totals *sum);

#endif
