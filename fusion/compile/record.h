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
#ifndef FUSION_COMPILE_RECORD_H
#define FUSION_COMPILE_RECORD_H

#include "fusion/compile/exec.h"

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

/* NULL is fine */
static inline void record_destroy(struct record *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->exec->n_outputs; i++)
		tensor_unref(r->outputs[i].kept);
	r->exec->backend->erase(r->recording);
}

#endif
