/* fusion/compile/exec.h -- private to compile/: an exec is made, and launches its kernels.
 */
#ifndef FUSION_COMPILE_EXEC_H
#define FUSION_COMPILE_EXEC_H

#include "fusion/compile/compile.h"

/* A graph after its passes, and its kernels' programs: which buffers they read and write,
 * where temporaries lie, constants in memory.  Without the kernels themselves.  NULL with *err. */
struct exec *exec_create(const struct compile_options *options, struct graph *g,
			 struct lowered *lowered, struct arena *arena, struct err *err);

/* The steps of e's buffers; false when out of memory. */
bool step_plan(struct exec *e);
/* Runs it with memory that is there while kernels need it, and no longer.  `owned`:
 * the inputs' references go with their last kernel; NULL: they are the caller's. */
bool step_run(struct exec *e, struct tensor *const *inputs, struct tensor **owned,
	      struct tensor **outputs, struct tensor *into, const struct fusion_observer *observer,
	      int graph, struct err *err);

/* Outputs that are there before the kernels. */
void exec_place_given(const struct exec *e, struct tensor **outputs, struct tensor *into);

/* Of an exec whose memory is watched (backends/memory/memory.h), NULL: it is not. */
struct fence *exec_fence(const struct exec *e);
/* Bytes of the memory for a temporary of its own. */
size_t exec_temp_bytes(const struct exec *e, int index);
/* The launches of exec_run(): a temporary is as fresh before its first kernel, and freed
 * after its last one, though all of them are in one block. */
void exec_fenced_launches(struct exec *e, bool backward, const struct fusion_observer *observer,
			  int graph);
/* A temporary that lies at e->buffers[buffer], where others have been before. */
void exec_fence_describe(const struct exec *e, int buffer);
/* After the launch of `kernel`, of an exec that is watched or not: e->buffers are where it
 * has written. */
void exec_fence_wrote(const struct exec *e, int kernel, int graph);

/* Tells whoever watches memory that the next is for this buffer, or for all
 * temporaries in one block (buffer -1). */
void exec_label(const struct exec *e, int buffer, enum fusion_use use);

/* One launch, watched or not. */
void exec_launch(struct exec *e, int kernel, bool backward, const struct fusion_observer *observer,
		 int graph);
/* Tells the observer that a launch begins, and what ran for it; the former's
 * result is for the latter. */
int64_t exec_launching(const struct exec *e, int kernel, const struct fusion_observer *observer);
void exec_ran(const struct exec *e, int64_t before, const struct fusion_observer *observer);
bool exec_starts_backward(const struct exec *e, struct tensor *const *inputs);
struct tensor *exec_output_tensor(const struct exec *e, int index, struct err *err);
void exec_copy_output(const struct exec *e, int index, struct tensor *const *inputs,
		      struct tensor *const *outputs);
void exec_note_order(const struct exec *e, struct tensor *const *outputs, bool backward);
void exec_drop_outputs(const struct exec *e, struct tensor **outputs);

#endif
