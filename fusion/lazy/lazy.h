/* fusion/lazy/lazy.h -- mode lazy, ops that gather in a trace.
 *
 * The program runs for real, but an op on tensors only appends a node.  At a
 * BARRIER -- a value is read, an op needs elements, the call ends -- what is
 * pending becomes a graph, which is found by its key (ops, dtypes, shapes,
 * Python numbers) or compiled, and run.  The counterpart of LazyTensor.  A float of an
 * op that computes the same way for any (op_takes_any_number()) is no part of the key:
 * kernels take it as an argument, as eager's do, so that a learning rate may change.
 *
 * A tensor object is REGISTERED while the trace knows it: `owner` is the lazy,
 * `node` its value, `input` its entry.  It may have memory besides: one that was
 * read is a graph input, one that an in-place op changed is DIRTY, its memory is
 * written at the next barrier.  After a full barrier no object is registered.
 */
#ifndef FUSION_LAZY_LAZY_H
#define FUSION_LAZY_LAZY_H

#include "fusion/base/hash.h"
#include "fusion/base/vec.h"
#include "fusion/vm/call_path.h"
#include "fusion/graph/view.h"
#include "fusion/eager/eager.h"
#include "fusion/compile/compile.h"
#include "fusion/report/report.h"

enum {
	LAZY_MAX_NODES = 4096,
	LAZY_MAX_PROGRAMS = 1024,
	LAZY_MAX_EVENTS = 4096,
	LAZY_QUIET_CALLS = 16,
	LAZY_MAX_NUMBERS = 64 /* of a trace, as arguments: others are part of the key */
};

/* How a view was made of a pending tensor: done again for real once that one has
 * elements, so that the two share memory as they would in eager. */
struct lazy_view {
	enum op op;
	int n;
	struct value values[MAX_ARGS + 1]; /* references; [0]: what it is a view of */
	struct keywords kw;                /* of the last values */
	struct value names[MAX_ARGS];
};

struct lazy_entry {
	struct vtensor *at;                 /* NULL: it is gone */
	bool dirty;                         /* its memory is older than its node */
	struct lazy_view *view;             /* NULL: none, or it shares memory already */
	void (*release)(struct vtensor *t); /* that it had before */
	struct tensor *orphan;              /* gone and dirty, but others see its memory */
	int orphan_node;
};

/* A compiled trace. */
struct lazy_program {
	struct lazy_program *next; /* of the same bucket */
	uint64_t hash;
	struct buf key;
	char hex[HASH_HEX_BYTES];
	struct arena arena;
	struct graph *captured;
	struct exec *exec;
	uint32_t *orders; /* by output: lay.h */
	int *numbers;     /* by place in lazy_part.numbers: its symbol here */
	int64_t *vars;
	int graph; /* its number among the session's graphs; -1: past the bound */
	int64_t trace_ns, compile_ns, uses;
	bool unplaced; /* its nodes have no modules: lazy_modules.off */
};

/* Why the trace ran. */
struct lazy_reason {
	enum break_id id;    /* BREAK_STEP_END: the call ended */
	const char *subject; /* ".item()"; NULL */
};

struct lazy_event {
	struct lazy_reason reason; /* subject: static */
	int64_t call;
	int line;
	const char *function; /* of the program's code, or the entry */
	bool compiled;
	int graph, n_inputs, n_outputs;
	char hex[HASH_HEX_BYTES];
};

/* The modules of nodes are for reports alone.  They are looked up until so many calls in a row
 * have compiled nothing. */
struct lazy_modules {
	int quiet;             /* calls in a row that compiled nothing */
	bool off;              /* of the call under way */
	struct call_path path; /* whose module the pending graph has */
};

struct lazy {
	struct vm_host host;
	struct vm *vm;
	struct session_report *report;
	struct value callee; /* borrowed */
	uint64_t passes_disabled;
	struct eager *eager; /* runs what is not traced */
	struct decomposer decomposer;
	struct autocast autocast;
	const struct backend *backend;
	struct lowering lowering;

	/* the pending trace */
	struct arena arena;
	struct graph *graph; /* NULL: nothing is pending */
	VEC(struct lazy_entry) entries;
	VEC(struct tensor *) inputs; /* by graph input; references */
	VEC(int64_t) numbers;        /* by symbol: the bits of a float */
	VEC(int) unsure;             /* nodes that may fail where they run, and have not run */
	int n_dirty;
	bool faulted; /* an op of this call failed when it ran; no try is around it */
	int64_t begin_ns;
	struct lazy_modules modules;

	struct lazy_program *buckets[256];
	VEC(struct lazy_program *) programs; /* in order of compilation */
	VEC(struct lazy_event) events;
	int64_t events_left_out;
};

/* What a lazy session works with; all of it outlives the session. */
struct lazy_options {
	struct eager *eager;
	struct vm *vm;
	struct session_report *report;
	struct value callee;
	const struct backend *backend;
	uint64_t passes_disabled;
	const char *const *deny; /* ids or FX names of ops that are not lowered */
	int n_deny;
};

/* NULL with *err when out of memory. */
struct lazy *lazy_create(const struct lazy_options *options, struct err *err);
void lazy_destroy(struct lazy *l); /* NULL is fine; no call is under way */

/* A call, from its arguments to materialised results. */
bool lazy_call(struct lazy *l, const struct arguments *args, struct value *out, struct err *err);

/* What ran and why, as PT_XLA_DEBUG_LEVEL=2 prints it. */
void lazy_print(const struct lazy *l, struct buf *out);
const char *lazy_cause(struct lazy_reason why);

/* lazy_trace.c: one op as the user called it, under autocast, as a node; as eager_run(). */
bool lazy_op(struct lazy *l, const struct op_call *c, struct value *out, struct err *err);

/* Whether the value of v is not in its memory. */
static inline bool lazy_pending(const struct lazy *l, struct value v)
{
	return v.kind == VALUE_TENSOR && v.tensor->owner == l &&
	       (!v.tensor->memory || l->entries.at[v.tensor->input].dirty);
}

/* Whether the trace reads or writes the memory of v, or of a tensor in it. */
bool lazy_touches(const struct lazy *l, struct value v, int depth);

/* How a pending tensor without memory will lie in what it is a view of, or else row by row;
 * false when out of memory. */
bool lazy_layout(const struct lazy *l, struct vtensor *t, struct view_layout *out);

/* Lets views that nothing shares with be tensors of their own. */
void lazy_views_settle(struct lazy *l);

/* Makes the view for real, of operands that have elements; it is not pending
 * then. */
bool lazy_view_replay(struct lazy *l, struct lazy_entry *entry, struct err *err);

/* Forgets the trace; pending tensors have no value then. */
void lazy_reset(struct lazy *l);

/* lazy_run.c: a barrier for everything, or for one tensor and the live ones that
 * it is made of (its memory is valid then), or for dirty ones.  On failure the trace stays as it
 * is. */
bool lazy_sync(struct lazy *l, struct lazy_reason why, struct err *err);
bool lazy_sync_one(struct lazy *l, struct value v, struct lazy_reason why, struct err *err);
bool lazy_sync_dirty(struct lazy *l, struct lazy_reason why, struct err *err);
void lazy_free_programs(struct lazy *l);

/* What a part of a trace is called with. */
struct lazy_part {
	int *inputs; /* of the trace, in order */
	int n_inputs;
	int *numbers; /* its symbols of floats, in order of their first use */
	int n_numbers;
};

/* lazy_host.c: fills in the callbacks. */
void lazy_host_init(struct lazy *l);

#endif
