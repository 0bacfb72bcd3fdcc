/* fusion/fusion.h -- the engine: compile and run tensor programs.
 *
 *	struct fusion *f = fusion_create(&options, &err);
 *	struct fusion_program *p = fusion_parse(source, len, "model", &err);
 *	struct fusion_session *s = fusion_session(f, p, FUSION_STATIC, &err);
 *	fusion_call(s, args, n, &out, &err);	// captures and compiles
 *	fusion_call(s, args, n, &out, &err);	// finds the entry by its guards
 *
 * The headers below are the engine's other public ones, cut by idea: each may be included
 * alone, and all that the engine shows is in them.  A function that can fail has a last
 * argument `err`: it returns false or NULL then and fills in code and message; *err is as it
 * was where it succeeds.  A `struct buf *` is appended to.  Times are in nanoseconds.
 *
 * A program is immutable and may be shared by threads.  An engine and its
 * sessions belong to one thread; many engines may run at once.  Nothing here
 * prints, exits or keeps global state; no I/O but the kernel cache and options.files.
 */
#ifndef FUSION_FUSION_H
#define FUSION_FUSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/data.h"     /* struct fusion_data_files */
#include "fusion/device.h"   /* struct fence_counts, device_order */
#include "fusion/dtype.h"    /* enum dtype */
#include "fusion/inspect.h"  /* what a session has compiled, and why */
#include "fusion/mode.h"     /* enum fusion_mode, fusion_policy */
#include "fusion/observer.h" /* struct fusion_observer */
#include "fusion/registry.h" /* ops, passes, backends and plugins */
#include "fusion/source.h"   /* the text of a program */
#include "fusion/tensor.h"   /* struct tensor, allocators */
#include "fusion/value.h"    /* struct value: arguments and results */

struct buf; /* fusion/base/buf.h */
struct err; /* fusion/base/err.h */

const char *fusion_mode_name(enum fusion_mode mode);
bool fusion_mode_from_name(const char *name, enum fusion_mode *out);
const char *fusion_policy_name(enum fusion_policy policy);
bool fusion_policy_from_name(const char *name, enum fusion_policy *out);

struct fusion_options {
	const char *backend;    /* "interp", "cpu"; NULL: the best that works here */
	int threads;            /* 0: one per core */
	const char *cache_dir;  /* compiled kernels; NULL: no cache on disk */
	size_t cache_bytes;     /* of it; 0: BREAKEVEN_CACHE_MIB, else 256 MiB */
	bool cache_rebuild;     /* kernels are compiled even where it has them */
	enum autotune autotune; /* of kernels on a device */
	size_t memory_bytes;    /* limit for tensors; 0: 4 GiB, or all that a device has free */
	const struct registry *registry; /* NULL: what is built in */
	uint64_t passes_disabled;        /* bits of its list: fusion_pass_disable() */
	int recompile_limit;             /* 0: 8, as torch._dynamo.config.recompile_limit */
	int64_t steps;                   /* VM steps a call; 0: the VM's default */
	enum fusion_policy policy;
	/* Ops that the lowering treats as unsupported: ids or FX names, borrowed
	 * for as long as the engine lives. */
	const char *const *deny;
	int n_deny;
	bool grad;   /* fusion_backward() will be called */
	bool leaves; /* arguments may require a gradient, which the program may ask for */
	/* A debugging switch: memory is watched (guard words around every block), and a call fails
	 * with INTERNAL where something was written outside of its buffer. */
	bool poison;
	/* Each call is in torch.autocast(device, dtype=autocast): float16 or
	 * bfloat16; any other dtype, as 0: it does not. */
	enum dtype autocast;
	/* Sessions of mode eager compute in float64 too, in so many ways, for fusion_reference():
	 * at most FUSION_MOST_REFERENCES.  0: they do not. */
	int references;
	/* What programs may read with torch.load() and safetensors; borrowed, with its names
	 * and paths, for as long as the engine lives. */
	struct fusion_data_files files;
};

enum { FUSION_MOST_REFERENCES = 4 };

struct fusion;
struct fusion_program;
struct fusion_session;

struct fusion *fusion_create(const struct fusion_options *options, struct err *err);
void fusion_destroy(struct fusion *f); /* sessions and tensors first */
/* What an engine is; texts are its own. */
struct fusion_facts {
	const char *backend, *backend_note; /* why not a better one; NULL */
	int threads;
	const char *device; /* that kernels run on beside the host, "NVIDIA H200"; NULL: the host */
	/* Bytes of the last cache before the memory of that device, and what the backend has of it
	 * for itself; 0: the host, or not known. */
	size_t device_cache_bytes, device_own_bytes;
};
struct fusion_facts fusion_facts(const struct fusion *f);

/* One line: the library that multiplies large matrices, with its version, or why
 * there is none (looks for it).  Owned by the engine. */
const char *fusion_blas_note(struct fusion *f);
struct allocator *fusion_allocator(struct fusion *f); /* of its tensors; the engine's */

/* The vector unit that kernels use on this host: "avx512", "avx2" or "sse". */
const char *fusion_vector_unit(void);

/* Blocks of memory that were watched, and guard words looked at; zeros without
 * options.poison. */
struct fence_counts fusion_fence_counts(const struct fusion *f);

/* False where kernels run on the host, or nothing is known. */
bool fusion_device_order(const struct fusion *f, struct device_order *out);

/* Sets a word of the device's memory n times, each by a launch, and waits for them: it takes as
 * long as the host takes to launch, whatever it launches.  False where kernels run on the host, or
 * where it failed, which the next fusion_wait() says. */
bool fusion_launch_nothing(struct fusion *f, int n);

/* Returns when all kernels that were launched are done; at once where they run on
 * the host.  False with DEVICE, where it is known with the kernel and its line: one
 * has failed since the engine was made, and what was read of tensors since then means
 * nothing.  The engine cannot go on, nor another of this process on that device.  False
 * with VALUE for an index that was out of bounds: see fusion_call(). */
bool fusion_wait(struct fusion *f, struct err *err);

/* Parses and checks; `entry` is the name of a function, module or class at the top of the source,
 * or a call that makes one: "Net(64)", whose problems have err->file "entry".  NULL with code,
 * line, column of the first thing that must fail: what is no Python, and names, attributes of
 * modules and statements outside the language in code that runs whenever the program does.  Source
 * is copied. */
struct fusion_program *fusion_parse(const char *source, size_t len, const char *entry,
				    struct err *err);

/* A program of one file or several: texts by their path in the program's folder ("models/unet.py").
 * The one with the entry must compile; the others, which it may import, fail where they are. */
struct fusion_file {
	const char *path, *text;
	size_t len;
};
struct fusion_files {
	const struct fusion_file *at;
	int n, entry; /* index of the file with the entry */
};
/* The same where plugins add ops; `registry` may be NULL.  All is copied. */
struct fusion_program *fusion_parse_in(const struct registry *registry,
				       const struct fusion_files *files, const char *entry,
				       struct err *err);
/* Where something of such a program fails, *err has the file and the line in it.  Elsewhere
 * (fusion/inspect.h) lines count on from file to file, the entry's first.  The file that `line` is
 * in, the program's string, and its line there; of a program of one file NULL, and the line. */
const char *fusion_place(const struct fusion_program *p, int line, int *line_there);
void fusion_program_destroy(struct fusion_program *p);

/* A program that may be refused, to look at expressions in its scope; NULL where it is no Python.
 */
struct fusion_program *fusion_parse_anyway(const struct registry *registry,
					   const struct fusion_files *files, const char *entry);

/* All that can be seen without running, by line: at most 64 problems, and one of syntax alone.
 * `certain`: fusion_parse_in() refuses the source for it. */
typedef void fusion_problem_fn(void *self, const struct err *problem, bool certain);
void fusion_problems(const struct registry *registry, const struct fusion_files *files,
		     const char *entry, fusion_problem_fn *each, void *self);

/* An argument as text: a Python expression in the scope of the program's module. */
enum { FUSION_EXPRESSION_BYTES = 64 << 10 };
struct fusion_expression {
	const char *text;
	const char *label; /* goes to err->file where the place is in the text: "calls[0][1]" */
	uint64_t seed;     /* of its random numbers, on the CPU as torch.manual_seed(seed) */
	bool with_n;       /* the name n is `n` in it: the size of a sweep's point */
	int64_t n;
};
/* Without running it: calls `each` for every problem, and returns how many there are.  `p` NULL: of
 * its syntax alone. */
int fusion_expression_problems(const struct fusion_program *p, const struct registry *registry,
			       const struct fusion_expression *e, fusion_problem_fn *each,
			       void *self);
bool fusion_expression_uses_n(const char *text);

/* A mode's own variables and compiled entries: runs the module's code, compiles as calls come. */
struct fusion_session *fusion_session(struct fusion *f, const struct fusion_program *p,
				      enum fusion_mode mode, struct err *err);
void fusion_session_destroy(struct fusion_session *s);

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

/* The same where the last n_named arguments are given by name. */
struct fusion_arguments {
	const struct value *at;
	int n;
	const char *const *names; /* of the last n_named */
	int n_named;
};
bool fusion_call_named(struct fusion_session *s, const struct fusion_arguments *args,
		       struct value *out, struct err *err);

/* Runs an expression in the session's module, beside its calls: the program's own random numbers
 * are what they were.  *out is the caller's, and may hold objects of the program's classes, which
 * belong to this session; it goes before the session does. */
bool fusion_evaluate(struct fusion_session *s, const struct fusion_expression *e, struct value *out,
		     struct err *err);
bool fusion_requires_grad(struct value v); /* a tensor that does */

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

#endif
