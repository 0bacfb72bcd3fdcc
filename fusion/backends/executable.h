/* fusion/backends/executable.h -- what the executables of both backends share.
 *
 * An executable has a plan for each kernel (see plan.h); the backends differ in
 * the code that the plans call.  Private to backends/.
 */
#ifndef FUSION_BACKENDS_EXECUTABLE_H
#define FUSION_BACKENDS_EXECUTABLE_H

#include "fusion/backends/backend.h"
#include "fusion/backends/library.h"
#include "fusion/backends/plan.h"
#include "fusion/backends/simd/kernels.h"

struct program;

/* The kernels with the numbers of one set of symbol values. */
struct binding {
	int64_t *vars;                  /* NULL: not bound yet */
	int64_t used;                   /* the least was used longest ago */
	struct plan **plans;            /* of each kernel; NULL: LIBRARY */
	struct library_call *libraries; /* of each kernel; op is NULL: it has no call */
};

/* A program that is called with a few shapes in turn must not be bound anew
 * for each call: as many are kept. */
enum { MAX_BINDINGS = 16 };

struct executable {
	const struct lowered *lowered;
	const struct kernel_table *kernels;
	struct generators *random;      /* see struct backend_env */
	struct blas *blas;              /* likewise */
	struct plan **plans;            /* of the current binding */
	struct library_call *libraries; /* likewise */
	struct binding bindings[MAX_BINDINGS];
	int n_bindings; /* made so far; the first has the plans that code was made for */
	int64_t binds;
	bool exact;         /* env->fence: no store goes beyond the last element */
	bool numbers_alone; /* its symbols are values of kernels, no sizes: one binding does */
	struct library_fault fault;
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

/* backend.bind, .launch, .destroy of both. */
bool executable_bind(struct executable *exe, const int64_t *vars, struct err *err);
void executable_launch(struct executable *exe, int kernel, void *const *buffers, struct pool *pool,
		       bool backward);
bool executable_fault(struct executable *exe, struct err *err);

/* lowers.c: backend.h's can_lower. */
bool executable_lowers(const struct backend *self, const struct graph *g, const struct node *n,
		       bool *by_type, const char **why);
void executable_destroy(struct executable *exe);

/* Fills the plans' code with interpreted programs; for kernels [first, last). */
bool interp_prepare(struct executable *exe, struct err *err);

#endif
