/* fusion/compile/exec.h -- private to compile/: a graph made ready to run.
 *
 * A struct exec is a graph after passes, lowering and a backend, with what a
 * run needs besides: where constants lie, how temporaries share one block,
 * which sizes the outputs have.  An eager op's plan and a compiled entry both
 * own one.  It belongs to one thread; a run calls no malloc but the caching
 * allocator.
 */
#ifndef FUSION_RUNTIME_EXEC_H
#define FUSION_RUNTIME_EXEC_H

#include "fusion/backends/backends.h"
#include "fusion/base/arena.h"
#include "fusion/passes/passes.h"
#include "fusion/report/observer.h"
#include "fusion/tensor/tensor.h"

/* What execs of an engine share; borrowed. */
struct exec_env {
	struct allocator *allocator;
	struct pool *pool;
	struct backend_env backend_env;
	struct prelude_programs *preludes; /* vm/prelude.h; NULL: each VM its own */
	int64_t rounds;                    /* of a loop in a run; 0: as many as are allowed */
	const struct custom_ops *custom;   /* ops of plugins; NULL: none */
	const struct pass_list *passes;    /* NULL: pass_list_default() */
	int64_t *changes; /* of objects of programs: goes up with all that may change some,
			   * in any session of the engine; NULL: nobody counts */
	const struct backend *device; /* whose memory tensors are in; NULL: the host's */
};

/* What runs an op by itself: the interpreter, where memory is open to it. */
static inline const struct backend *exec_eager_backend(const struct exec_env *env)
{
	return env->device ? env->device : backend_find("interp");
}

struct exec_output {
	int buffer; /* of exec->buffers */
	bool copy;  /* the buffer is an input, a constant or another output's */
	enum dtype dtype;
	int rank;
	int64_t size[MAX_RANK]; /* under the bound symbols */
};

struct exec_temp {
	int buffer;
	size_t size;   /* of its elements alone */
	size_t offset; /* within the block of temporaries */
	size_t bytes;
};

/* Sizes and offsets under one set of symbol values. */
struct exec_layout {
	int64_t *vars;             /* NULL: not filled */
	int64_t (*size)[MAX_RANK]; /* of each output */
	struct exec_temp *temps;   /* each temporary's place */
	size_t temp_bytes;
};
enum { MAX_LAYOUTS = 16 };

enum step_kind { STEP_TAKE_TEMP, STEP_TAKE_OUTPUT, STEP_DROP_TEMP, STEP_DROP_INPUT };

struct exec_step { /* before kernel `kernel` where it takes, behind it where it drops */
	int kernel;
	enum step_kind kind;
	int index; /* of the temporary, the output, the input */
};

struct partition;
struct record;

struct exec {
	const struct exec_env *env;
	struct record *record;   /* record/record.h: its launches are replayed; NULL */
	struct partition *parts; /* partition.h: it runs in pieces; NULL: it does not */
	int first_kernel;        /* for the observer: the number of its kernel 0 */
	int told_graph;          /* for the observer: of the run under way */
	bool eager;              /* an op's plan: it serves any line of the program */
	int64_t launched;        /* kernels of the last run: a loop's rounds count */
	struct graph *graph;     /* after the passes; of one in pieces: as captured */
	struct lowered *lowered;
	const struct backend *backend;
	struct executable *executable; /* NULL: no kernel (all outputs are copies) */
	struct compile_stats stats;
	int64_t passes_ns, backend_ns;
	struct pass_options passes; /* that it was made with: watch.h runs them again */

	void **buffers; /* by buffer; constants filled in for good */
	struct exec_output *outputs;
	int n_outputs;
	struct exec_temp *temps;
	int n_temps;
	size_t temp_bytes;
	bool stepwise; /* memory comes and goes kernel by kernel: exec_step.c */
	int *inputs;   /* buffer of each graph input, -1: no kernel reads it */
	int n_inputs;
	struct exec_step *steps; /* where memory is taken and given back, in order */
	int n_steps;
	int *over;            /* by buffer: the one whose memory it takes over, -1 */
	void **taken;         /* by temporary, of a run: what is to be given back; NULL */
	struct tensor **held; /* or the input that it has taken over; NULL */

	struct exec_layout layouts[MAX_LAYOUTS]; /* kept for shapes that come in turn */
	int next_layout;
	struct arena *arena;

	int64_t *vars; /* values that the executable is bound to */
	int n_vars;
	bool bound;
	bool fixed;    /* no size depends on them: numbers alone do */
	bool laid_out; /* sizes and offsets are there */
	/* By output: the tensor that the next run writes it to, of its dtype and sizes and
	 * with a storage of its own; NULL: a new one.  NULL: none. */
	struct tensor *const *given;
};

/* Runs the passes over `g` (changed in place) and compiles it; everything lives
 * in `arena`, which must outlive the exec, as must the graph's own.  NULL with
 * *err. */
struct exec *exec_create(const struct exec_env *env, const struct backend *backend, struct graph *g,
			 const struct pass_options *options, struct arena *arena, struct err *err);
void exec_destroy(struct exec *e); /* NULL is fine */

/* Binds symbol values; cheap where they have not changed.  `vars` has n_vars
 * entries (NULL where it is 0). */
bool exec_rebind(struct exec *e, const int64_t *vars, struct err *err);
static inline bool exec_bind(struct exec *e, const int64_t *vars, struct err *err)
{
	if (__builtin_expect(e->bound, 1)) {
		int i = 0;

		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): NULL where n_vars is 0 */
		while (i < e->n_vars && e->vars[i] == vars[i])
			i++;
		if (i == e->n_vars)
			return true;
	}
	return exec_rebind(e, vars, err);
}

/* Runs the bound kernels.  inputs[i] is graph input i; outputs[i] becomes a new
 * tensor, the caller's.  `into`, if not NULL, is what output 0 is written to
 * (row-major, of its dtype and shape): outputs[0] is then a reference to it.
 * `observer` may be NULL; `graph` is passed on to it.  On error no output is
 * left behind. */
bool exec_run(struct exec *e, struct tensor *const *inputs, struct tensor **outputs,
	      struct tensor *into, const struct fusion_observer *observer, int graph,
	      struct err *err);

/* The same for inputs that the caller will not need again: the references are
 * taken over, on error too, and given up as soon as no kernel reads them. */
bool exec_run_last(struct exec *e, struct tensor **inputs, struct tensor **outputs,
		   const struct fusion_observer *observer, int graph, struct err *err);

/* exec_step.c, for exec.c: the steps of e's buffers; false when out of memory. */
bool step_plan(struct exec *e);
/* Runs it with memory that is there while kernels need it, and no longer.  `owned`:
 * the inputs' references go with their last kernel; NULL: they are the caller's. */
bool step_run(struct exec *e, struct tensor *const *inputs, struct tensor **owned,
	      struct tensor **outputs, struct tensor *into, const struct fusion_observer *observer,
	      int graph, struct err *err);

/* exec.c, for exec_step.c: outputs that are there before the kernels. */
void exec_place_given(const struct exec *e, struct tensor **outputs, struct tensor *into);

/* exec_fence.c: of an exec whose memory is watched (backends/memory/memory.h), NULL: it is not. */
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

/* exec_label.c: tells whoever watches memory that the next is for this buffer, or for all
 * temporaries in one block (buffer -1). */
void exec_label(const struct exec *e, int buffer, enum fusion_use use);

/* exec.c, for exec_step.c: one launch, watched or not. */
void exec_launch(struct exec *e, int kernel, bool backward, const struct fusion_observer *observer,
		 int graph);
/* exec.c, for record/: tells the observer that a launch begins, and what ran for it;
 * the former's result is for the latter. */
int64_t exec_launching(const struct exec *e, int kernel, const struct fusion_observer *observer);
void exec_ran(const struct exec *e, int64_t before, const struct fusion_observer *observer);
bool exec_starts_backward(const struct exec *e, struct tensor *const *inputs);
struct tensor *exec_output_tensor(const struct exec *e, int index, struct err *err);
void exec_copy_output(const struct exec *e, int index, struct tensor *const *inputs,
		      struct tensor *const *outputs);
void exec_note_order(const struct exec *e, struct tensor *const *outputs, bool backward);
void exec_drop_outputs(const struct exec *e, struct tensor **outputs);

#endif
