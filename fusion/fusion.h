/* fusion/fusion.h -- the engine: compile and run tensor programs.
 *
 *	struct fusion *f = fusion_create(&options, &err);
 *	struct fusion_program *p = fusion_parse(source, len, "model", &err);
 *	struct fusion_session *s = fusion_session(f, p, FUSION_STATIC, &err);
 *	fusion_call(s, args, n, &out, &err);	// captures and compiles
 *	fusion_call(s, args, n, &out, &err);	// finds the entry by its guards
 *
 * A program is immutable and may be shared by threads.  An engine and its
 * sessions belong to one thread; many engines may run at once.  Nothing here
 * prints, exits or keeps global state; no I/O but the kernel cache.
 */
#ifndef FUSION_FUSION_H
#define FUSION_FUSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/backends/backends.h" /* struct kernel_use */
#include "fusion/backends/memory/memory.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/vm/value.h"
#include "fusion/graph/graph.h"
#include "fusion/compile/watch.h"   /* struct watched */
#include "fusion/report/mode.h"     /* enum fusion_mode, fusion_policy */
#include "fusion/report/observer.h" /* struct fusion_observer */
#include "fusion/tensor/tensor.h"

struct registry;

const char *fusion_mode_name(enum fusion_mode mode);
bool fusion_mode_from_name(const char *name, enum fusion_mode *out);
const char *fusion_policy_name(enum fusion_policy policy);
bool fusion_policy_from_name(const char *name, enum fusion_policy *out);

struct fusion_options {
	const char *backend;             /* "interp", "cpu"; NULL: the best that works here */
	int threads;                     /* 0: one per core */
	const char *cache_dir;           /* compiled kernels; NULL: no cache on disk */
	size_t cache_bytes;              /* of it; 0: BREAKEVEN_CACHE_MIB, else 256 MiB */
	bool cache_anew;                 /* kernels are compiled even where it has them */
	size_t memory_bytes;             /* limit for tensors; 0: 4 GiB */
	const struct registry *registry; /* fusion/session/registry.h; NULL: what is built in */
	uint64_t passes_disabled;        /* bits of its list: pass_list_disable() */
	int recompile_limit;             /* 0: 8, as torch._dynamo.config.recompile_limit */
	int64_t steps;                   /* VM steps a call; 0: the VM's default */
	enum fusion_policy policy;
	/* Ops that the lowering treats as unsupported: ids or FX names, borrowed
	 * for as long as the engine lives. */
	const char *const *deny;
	int n_deny;
	bool grad; /* fusion_backward() will be called */
	/* A debugging switch: memory is watched (backends/memory/memory.h), and a call fails with
	 * INTERNAL where something was written outside of its buffer. */
	bool poison;
	/* Each call is in torch.autocast(device, dtype=autocast): float16 or
	 * bfloat16; any other dtype, as 0: it does not. */
	enum dtype autocast;
	/* Sessions of mode eager compute in float64 too, in so many ways, for fusion_reference():
	 * at most FUSION_MOST_REFERENCES.  0: they do not. */
	int references;
};

enum { FUSION_MOST_REFERENCES = 4 };

struct fusion;
struct fusion_program;
struct fusion_session;

struct fusion *fusion_create(const struct fusion_options *options, struct err *err);
void fusion_destroy(struct fusion *f); /* sessions and tensors first */
const char *fusion_backend_name(const struct fusion *f);
const char *fusion_backend_note(const struct fusion *f); /* why not a better one; NULL */

/* One line: the library that multiplies large matrices, with its version, or why
 * there is none (looks for it).  Owned by the engine. */
const char *fusion_blas_note(struct fusion *f);
struct allocator *fusion_allocator(struct fusion *f);

/* What kernels run on beside the host, "NVIDIA H200"; NULL: the host itself. */
const char *fusion_device_name(const struct fusion *f);

/* Blocks of memory that were watched, and guard words looked at; zeros without
 * options.poison. */
struct fence_counts fusion_fence_counts(const struct fusion *f);

/* False where kernels run on the host, or nothing is known. */
bool fusion_device_order(const struct fusion *f, struct device_order *out);

/* Returns when all kernels that were launched are done; at once where they run on
 * the host.  False with DEVICE, where it is known with the kernel and its line: one
 * has failed since the engine was made, and what was read of tensors since then means
 * nothing.  The engine cannot go on, nor another of this process on that device.  False
 * with VALUE for an index that was out of bounds: see fusion_call(). */
bool fusion_wait(struct fusion *f, struct err *err);
int fusion_threads(const struct fusion *f);

/* Parses and checks names; NULL with code, line, column.  Source is copied. */
struct fusion_program *fusion_parse(const char *source, size_t len, const char *entry,
				    struct err *err);
/* The same where plugins add ops; `registry` may be NULL. */
struct fusion_program *fusion_parse_in(const struct registry *registry, const char *source,
				       size_t len, const char *entry, struct err *err);
void fusion_program_destroy(struct fusion_program *p);

/* The last function of the entry's name at the top of the source; NULL: there is
 * none, the entry is made otherwise. */
const struct code *fusion_entry_code(const struct fusion_program *p);

/* A mode's own world: runs the module's code, compiles entries as calls come. */
struct fusion_session *fusion_session(struct fusion *f, const struct fusion_program *p,
				      enum fusion_mode mode, struct err *err);
void fusion_session_destroy(struct fusion_session *s);

/* A tensor value around t (takes a reference of its own); for arguments.
 * VALUE_UNSET when out of memory. */
struct value fusion_value(struct tensor *t);

/* Copies t into a parameter or buffer ("up.weight") of an entry that is an
 * nn.Module; WORKLOAD where it has none of that name, shape and dtype. */
bool fusion_set_parameter(struct fusion_session *s, const char *name, const struct tensor *t,
			  struct err *err);

/* Whether a call with these arguments would be served by what is compiled; nothing
 * is run.  `why`: the guard that fails. */
enum fusion_found { FUSION_FOUND, FUSION_MISSED, FUSION_UNKNOWN };
enum fusion_found fusion_probe(struct fusion_session *s, const struct value *args, int n,
			       struct buf *why);

/* The name of the entry's parameter; NULL where it has not so many. */
const char *fusion_parameter_name(const struct fusion_session *s, int index);

/* Calls the entry.  `args` are borrowed (in-place ops write to them); *out is
 * the caller's.  Runs in eager where the recompile limit is reached.
 * On a device, an index that only the data decides (of x[i], an embedding) and that is out
 * of bounds fails the call at once where the program could tell (it handles errors, or
 * prints); else a later call may fail for it, or fusion_wait(), which the caller asks
 * before it uses what calls have left: VALUE, with the place. */
bool fusion_call(struct fusion_session *s, const struct value *args, int n, struct value *out,
		 struct err *err);

/* Gradients, where options.grad is set.  The floating point tensors in v become
 * leaves that require one. */
bool fusion_require_grad(struct fusion_session *s, struct value v, struct err *err);

/* From the one floating point tensor in `out`, or the sum of all, to the leaves. */
bool fusion_backward(struct fusion_session *s, struct value out, struct err *err);

/* Elements of t, a tensor of a session of an engine with `references`, as float64 would have
 * them: branches, prints, indices and random numbers are those of the program's own dtypes,
 * all else is computed in float64 from the start.  `which` > 0: the same where each element
 * of each result is off by up to half a unit in the last place of the program's dtype, which
 * says how far rounding may move what comes out.  The caller's; NULL with *err. */
struct tensor *fusion_reference(struct tensor *t, int which, struct err *err);

/* The gradient of a tensor, borrowed; UNSET: none. */
struct value fusion_grad(struct value t);
void fusion_drop_grad(struct value t);

/* The parameters of an entry that is an nn.Module, by qualified name. */
typedef void fusion_parameter_fn(void *self, const char *name, struct value t);
void fusion_parameters(struct fusion_session *s, fusion_parameter_fn *each, void *self);

/* The tensors that the program keeps between calls, each once: what its globals lead to,
 * and a module that is the entry, by path ("net.up.weight", "opt.state[0].exp_avg").  Of
 * the first few thousand objects; to be read. */
void fusion_kept(const struct fusion_session *s, fusion_parameter_fn *each, void *self);

/* Watches from here on; NULL ends it.  An observed call is slower. */
void fusion_observe(struct fusion_session *s, const struct fusion_observer *observer);

/* What print() wrote since the last take; the caller clears it. */
struct buf *fusion_stdout(struct fusion_session *s);

/* Totals since the session began; take differences around a call. */
struct fusion_counts {
	int64_t graphs, kernels_built, launches, guard_checks, eager_fallbacks;
	int64_t lowered;                /* pieces that graphs were lowered to */
	int64_t executions, cache_hits; /* lazy: traces run, and found by their hash */
};
struct fusion_counts fusion_counts(const struct fusion_session *s);

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
	const char *frame;             /* "model" */
	int frame_id, compile_id;      /* printed "0/1" */
	const struct graph *captured;  /* as traced: ops, placeholders */
	const struct graph *optimised; /* after the passes */
	int n_placeholders;            /* tensors and size symbols, as FX counts */
	int n_kernels;
	const struct kernel *kernels; /* fusion/lower/lower.h: names, reasons, bytes */
	const char *source;           /* generated C; NULL for the interpreter */
	int64_t compile_ns;           /* capture, passes, lowering and compiler */
	int64_t capture_ns, passes_ns, backend_ns;
	bool cached;
	const char *cache_note;    /* what is wrong with the cache of kernels; NULL */
	const char *const *guards; /* "x.dtype == float32", in order of evaluation */
	int n_guards;
	int64_t uses;
	int n_pieces; /* lowered pieces; 1 where nothing falls back */
	struct fusion_recording recording, backward; /* of the backward part */
};
int fusion_graph_count(const struct fusion_session *s);
struct fusion_graph_info fusion_graph(const struct fusion_session *s, int index);

/* What a kernel takes of the device that it runs on, once it is bound.  False where
 * there is nothing to say: on the host, of a library's kernel, of a graph in pieces. */
bool fusion_kernel_use(const struct fusion_session *s, int graph, int kernel,
		       struct kernel_use *out);

/* What each pass did to the graph, added to *out (watch.h; the caller finishes it).
 * The passes run again for it, so nothing of it is in any time that was measured.
 * Nothing for a graph that computes nothing. */
bool fusion_watch_passes(const struct fusion_session *s, int index, struct watched *out,
			 struct err *err);

/* Whether the op has a gradient: a rule in vm/prelude/grads*.py.  Ops without
 * one have none by their nature; a test holds both lists complete. */
bool fusion_op_has_gradient(enum op op);

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
int fusion_barrier_count(const struct fusion_session *s);
struct fusion_barrier fusion_barrier(const struct fusion_session *s, int index);
int64_t fusion_barriers_left_out(const struct fusion_session *s);
/* What asked for it, a sentence; nothing where the call ended. */
void fusion_barrier_message(const struct fusion_session *s, int index, struct buf *out);
/* All of it as PyTorch/XLA would print it. */
void fusion_lazy_log(const struct fusion_session *s, struct buf *out);

struct fusion_recompile {
	int64_t call;
	const char *frame;
	const char *reason;
};
int fusion_recompile_count(const struct fusion_session *s);
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
int fusion_break_count(const struct fusion_session *s);
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
};
int fusion_frame_count(const struct fusion_session *s);
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
int fusion_entry_count(const struct fusion_session *s);
struct fusion_entry_info fusion_entry(const struct fusion_session *s, int index);

#endif
