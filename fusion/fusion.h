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

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/capture/value.h"
#include "fusion/graph/graph.h"
#include "fusion/runtime/observer.h" /* struct fusion_observer */
#include "fusion/runtime/tensor.h"

enum fusion_mode { FUSION_EAGER, FUSION_STATIC, FUSION_DYNAMIC, FUSION_MODE_COUNT };
const char *fusion_mode_name(enum fusion_mode mode);
bool fusion_mode_from_name(const char *name, enum fusion_mode *out);

struct fusion_options {
	const char *backend;   /* "interp", "cpu"; NULL: the best that works here */
	int threads;           /* 0: one per core */
	const char *cache_dir; /* compiled kernels; NULL: no cache on disk */
	size_t memory_bytes;   /* limit for tensors; 0: 4 GiB */
	uint64_t passes_disabled;
	int recompile_limit; /* 0: 8, as torch._dynamo.config.recompile_limit */
	int64_t steps;       /* VM steps a call; 0: the VM's default */
};

struct fusion;
struct fusion_program;
struct fusion_session;

struct fusion *fusion_create(const struct fusion_options *options, struct err *err);
void fusion_destroy(struct fusion *f); /* sessions and tensors first */
const char *fusion_backend_name(const struct fusion *f);
const char *fusion_backend_note(const struct fusion *f); /* why not a better one; NULL */
struct allocator *fusion_allocator(struct fusion *f);
int fusion_threads(const struct fusion *f);

/* Parses and checks names; NULL with code, line, column.  Source is copied. */
struct fusion_program *fusion_parse(const char *source, size_t len, const char *entry,
				    struct err *err);
void fusion_program_destroy(struct fusion_program *p);

/* A mode's own world: runs the module's code, compiles entries as calls come. */
struct fusion_session *fusion_session(struct fusion *f, const struct fusion_program *p,
				      enum fusion_mode mode, struct err *err);
void fusion_session_destroy(struct fusion_session *s);

/* A tensor value around t (takes a reference of its own); for arguments.
 * VALUE_UNSET when out of memory. */
struct value fusion_value(struct tensor *t);

/* Calls the entry.  `args` are borrowed (in-place ops write to them); *out is
 * the caller's.  Runs in eager where the recompile limit is reached. */
bool fusion_call(struct fusion_session *s, const struct value *args, int n, struct value *out,
		 struct err *err);

/* Watches from here on; NULL ends it.  An observed call is slower. */
void fusion_observe(struct fusion_session *s, const struct fusion_observer *observer);

/* What print() wrote since the last take; the caller clears it. */
struct buf *fusion_stdout(struct fusion_session *s);

/* Totals since the session began; take differences around a call. */
struct fusion_counts {
	int64_t graphs, kernels_built, launches, guard_checks, eager_fallbacks;
};
struct fusion_counts fusion_counts(const struct fusion_session *s);

/* The graphs captured so far, in order.  Borrowed, valid until the session
 * compiles again or ends. */
struct fusion_graph_info {
	const char *frame;             /* "model" */
	int frame_id, compile_id;      /* printed "0/1" */
	const struct graph *captured;  /* as traced: ops, placeholders */
	const struct graph *optimised; /* after the passes */
	int n_placeholders;            /* tensors and size symbols, as FX counts */
	int n_kernels;
	const char *const *kernels; /* names */
	const char *source;         /* generated C; NULL for the interpreter */
	int64_t compile_ns;         /* capture, passes, lowering and compiler */
	int64_t capture_ns, passes_ns, backend_ns;
	bool cached;
	const char *const *guards; /* "x.dtype == float32", in order of evaluation */
	int n_guards;
	int64_t uses;
};
int fusion_graph_count(const struct fusion_session *s);
struct fusion_graph_info fusion_graph(const struct fusion_session *s, int index);

struct fusion_recompile {
	int64_t call;
	const char *frame;
	const char *reason;
};
int fusion_recompile_count(const struct fusion_session *s);
struct fusion_recompile fusion_recompile(const struct fusion_session *s, int index);

#endif
