/* fusion/compile/compile.h -- from a captured graph to something that runs.
 *
 *	graph -> partition -> passes -> lowering -> executor -> backend
 *
 * compile.c has these steps in one function.  Its result is a struct exec: kernels, with
 * what a run needs besides: where constants lie, how temporaries share one block, which
 * sizes the outputs have.  An eager op's plan, a compiled entry and a lazy trace each own
 * one.  It belongs to one thread; a run calls no malloc but the caching allocator.
 */
#ifndef FUSION_COMPILE_COMPILE_H
#define FUSION_COMPILE_COMPILE_H

#include "fusion/backends/backends.h"
#include "fusion/base/arena.h"
#include "fusion/passes/passes.h"
#include "fusion/observer.h"
#include "fusion/report/report.h"
#include "fusion/tensor/tensor.h"

/* What execs of an engine share; borrowed. */
struct exec_env {
	struct allocator *allocator;
	struct pool *pool;
	struct backend_env backend_env;
	struct prelude_programs *preludes;     /* vm/prelude.h; NULL: each VM its own */
	int64_t rounds;                        /* of a loop in a run; 0: as many as are allowed */
	const struct custom_ops *custom;       /* ops of plugins; NULL: none */
	const struct fusion_data_files *files; /* that programs may read; NULL: none */
	const struct pass_list *passes;        /* NULL: pass_list_default() */
	int64_t *changes;             /* counts what may have changed an object of a program, in any
				       * session of the engine; NULL: nobody counts */
	const struct backend *device; /* whose memory tensors are in; NULL: the host's */
};

/* What runs an op by itself: the interpreter, where memory is open to it. */
static inline const struct backend *exec_eager_backend(const struct exec_env *env)
{
	return env->device ? env->device : backend_find("interp");
}

/* What a backend must not lower, besides what it cannot; borrowed. */
struct lowering {
	const char *const *deny; /* ops: by id, FX target name or spelling */
	int n_deny;
};

/* How a graph is compiled; borrowed. */
struct compile_options {
	const struct exec_env *env;
	const struct backend *backend;
	struct pass_options passes;
	struct lowering lowering;
	bool of_eager; /* one op of eager: the cache on disk serves it even where a run asks for
			* kernels to be compiled again, whose time is a figure of compiled modes */
};

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

struct exec_step { /* before kernel `kernel` where it takes, after it where it drops */
	int kernel;
	enum step_kind kind;
	int index; /* of the temporary, the output, the input */
};

static inline bool exec_step_takes(enum step_kind kind)
{
	return kind == STEP_TAKE_TEMP || kind == STEP_TAKE_OUTPUT;
}

struct partition;
struct record;

struct exec {
	const struct exec_env *env;
	struct record *record;   /* record.h: its launches are replayed; NULL */
	struct partition *parts; /* it runs in pieces; NULL: it does not */
	int first_kernel;        /* for the observer: the number of its kernel 0 */
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
	bool stepwise; /* memory comes and goes kernel by kernel: the steps */
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
	bool fixed;    /* sizes do not depend on them, only numbers do */
	bool laid_out; /* sizes and offsets are computed */
};

/* Compiles `g`, which it changes, in pieces where the backend or options->lowering asks for
 * it: the exec then has `parts`, and its kernels are those of all pieces.  Everything lives
 * in `arena`, which must outlive the exec, as must the graph's own.  NULL with *err. */
struct exec *compile_graph(const struct compile_options *options, struct graph *g,
			   struct arena *arena, struct err *err);

/* The same for a graph that the backend lowers as a whole, such as an eager op's. */
struct exec *compile_piece(const struct compile_options *options, struct graph *g,
			   struct arena *arena, struct err *err);

/* Whether compile_graph() would make one piece of it: the backend lowers every op as it is. */
bool partition_is_whole(const struct backend *backend, struct graph *g, const struct lowering *how);

/* How many lowered pieces an exec has: 1 for one that was not cut, 0 for one
 * that computes nothing. */
int exec_lowered_count(const struct exec *e);

/* Counts the lowered pieces of a session's graph, and notes a break for each fallback,
 * which tells the observer of it from then on; `function` is where its nodes are.  False
 * when out of memory. */
bool partition_report(struct exec *e, struct session_report *r, int graph, const char *function);

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

/* What a run reads and writes; borrowed. */
struct exec_call {
	struct tensor *const *inputs; /* by graph input */
	struct tensor **outputs;      /* by output: a new tensor, the caller's */
	/* What output 0 is written to, row-major, of its dtype and sizes: outputs[0] is then a
	 * reference to it; NULL: a new tensor. */
	struct tensor *into;
	/* By output: the tensor that it is written to, of its dtype and sizes and with a storage
	 * of its own; NULL: a new one.  NULL: all are new. */
	struct tensor *const *given;
	const struct fusion_observer *observer; /* NULL: nobody watches */
	int graph;                              /* what the observer knows the graph by */
};

/* Runs the bound kernels.  On error no output is left. */
bool exec_run(struct exec *e, const struct exec_call *call, struct err *err);

/* The same for inputs that the caller will not need again: the references are
 * taken over, on error too, and given up as soon as no kernel reads them. */
bool exec_run_last(struct exec *e, struct tensor **inputs, struct tensor **outputs,
		   const struct fusion_observer *observer, int graph, struct err *err);

/* Mode graphs: launches are recorded once and replayed (record.h). */

/* The memory of temporaries, of all recordings of a session: they are replayed one
 * after another.  Zeroed with its allocator set, it is ready. */
struct record_memory {
	struct allocator *allocator;
	void *block;
	size_t bytes;
	int64_t moves; /* how often it has grown: recordings then point again */
};
void record_memory_finish(struct record_memory *m); /* recordings first */

/* What came of recording an exec: of one that runs in pieces, of each. */
struct exec_recorded {
	bool tried;
	int made, refused; /* recordings */
	int64_t record_ns;
	char why[ERR_MESSAGE_BYTES]; /* the first was refused; "" */
};

/* Records `e`, which is bound, and has it replayed from now on: e->record.  What
 * cannot be recorded runs as it did. */
void exec_record(struct exec *e, struct record_memory *memory, struct exec_recorded *out);
/* Of an exec with a recording: the first output of its last run, where that is kept; NULL. */
struct tensor *exec_recorded_output(const struct exec *e);

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
