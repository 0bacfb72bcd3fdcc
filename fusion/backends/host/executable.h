/* fusion/backends/host/executable.h -- what the executables of both backends share.
 *
 * An executable has a plan for each kernel (see plan.h); the backends differ in
 * the code that the plans call.
 */
#ifndef FUSION_BACKENDS_HOST_EXECUTABLE_H
#define FUSION_BACKENDS_HOST_EXECUTABLE_H

#include "fusion/backends/backends.h"
#include "fusion/backends/host/executable.h"
#include "fusion/backends/library/library.h"
#include "fusion/backends/plan/plan.h"
#include "fusion/backends/simd/simd.h"

struct program;

/* The kernels with the numbers of one set of symbol values. */
struct host_binding {
	int64_t *vars;                  /* NULL: not bound yet */
	int64_t used;                   /* the least was used longest ago */
	struct plan **plans;            /* of each kernel; NULL: LIBRARY */
	struct library_call *libraries; /* of each kernel; op is NULL: it has no call */
};

/* A program that is called with a few shapes in turn must not be bound again
 * for each call: as many are kept. */
enum { MAX_BINDINGS = 16 };

struct executable {
	const struct lowered *lowered;
	const struct kernel_table *kernels;
	struct generators *random;      /* see struct backend_env */
	struct blas *blas;              /* likewise */
	struct plan **plans;            /* of the current binding */
	struct library_call *libraries; /* likewise */
	struct host_binding bindings[MAX_BINDINGS];
	int n_bindings; /* made so far; the first has the plans that code was made for */
	int64_t binds;
	bool exact;         /* env->fence: no store goes beyond the last element */
	bool numbers_alone; /* its symbols are values of kernels, no sizes: one binding does */
	struct launch_fault fault;
	struct library_room room;  /* of all kernels' calls */
	void **consts;             /* of each buffer: its constant, padded */
	struct program **programs; /* interp: of each part of each kernel */
	int n_programs;
	char *source; /* cpu: the generated C */
	char *note;   /* cpu: why kernels are not cached; NULL */
	void *handle; /* cpu: of dlopen */
};

/* Plans without code.  NULL with MEMORY or UNSUPPORTED. */
struct executable *executable_create(const struct backend_env *env, const struct lowered *l,
				     struct err *err);

void executable_destroy(struct executable *exe);

/* ---- the launches of an executable with all pointers in
 * place.
 *
 * A launch spends more on a small kernel than the kernel takes: the form, the places,
 * the rows are looked up each time though the next launch finds the same.  A recording
 * has a step for each kernel with what is found once: the code to call and its
 * argument block, or the plan, or the library's function.  When a buffer moves, the
 * pointers that came of it are set.
 */

/* backend.compile of each, and whether cpu's compiler is there. */
struct executable *interp_compile(const struct backend_env *env, const struct lowered *l,
				  struct compile_stats *stats, struct err *err);
struct executable *cpu_compile(const struct backend_env *env, const struct lowered *l,
			       struct compile_stats *stats, struct err *err);
bool cpu_available(const struct backend_env *env, char *why, size_t why_bytes);

#endif
