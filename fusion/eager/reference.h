/* fusion/eager/reference.h -- private to eager/: each op in float64 too. */
#ifndef FUSION_RUNTIME_EAGER_REFERENCE_H
#define FUSION_RUNTIME_EAGER_REFERENCE_H

#include "fusion/base/generators.h"
#include "fusion/vm/value.h"
#include "fusion/graph/graph.h"
#include "fusion/tensor/shadow.h"

struct eager;
struct eager_call;

enum { REFERENCE_MAX_ARGS = MAX_ARGS + 1 };

/* An op under way, with its operands in each shadow. */
struct reference_call {
	int n; /* shadows; 0: the op has nothing to do with them */
	struct generators random;
	struct value values[MAX_SHADOWS][REFERENCE_MAX_ARGS]; /* references; UNSET: none */
};

/* Before the op runs, and after it gave `out`.  False with *err. */
bool reference_begin(struct eager *e, const struct eager_call *c, struct reference_call *k,
		     struct err *err);
bool reference_end(struct eager *e, const struct eager_call *c, struct reference_call *k,
		   struct value out, struct err *err);
void reference_drop(struct reference_call *k);

#endif
