/* fusion/compile/exec_run.h -- private to compile/: the parts of a run that a replay has too. */
#ifndef FUSION_COMPILE_EXEC_RUN_H
#define FUSION_COMPILE_EXEC_RUN_H

#include "fusion/compile/compile.h"

/* One launch, which an observer is told of; as `recording` (NULL: there is none) has it. */
void exec_launch(struct exec *e, struct recording *recording, int kernel, bool backward,
		 const struct exec_call *call);

/* Puts the tensors that the caller gives into call->outputs, and NULL where it gives none. */
void exec_place_given(const struct exec *e, const struct exec_call *call);
/* A new tensor for an output of a run of `graph`; NULL with *err. */
struct tensor *exec_output_tensor(const struct exec *e, int index, int graph, struct err *err);
/* Fills in an output that no kernel writes to memory of its own. */
void exec_copy_output(const struct exec *e, int index, const struct exec_call *call);
void exec_drop_outputs(const struct exec *e, struct tensor **outputs);

/* Whether the first kernel begins at the end of its tensors, which is still in the cache. */
bool exec_starts_backward(const struct exec *e, struct tensor *const *inputs);
/* Notes in which order the outputs were written. */
void exec_note_order(const struct exec *e, struct tensor *const *outputs, bool backward);

#endif
