/* profiler/workload/value_json.h -- values of a program from JSON and to JSON. */
#ifndef PROFILER_WORKLOAD_VALUE_JSON_H
#define PROFILER_WORKLOAD_VALUE_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"
#include "fusion/value.h"
#include "fusion/tensor.h"

struct fusion_session; /* fusion/fusion.h */

enum { VALUE_JSON_MAX_ELEMENTS = 4096 }; /* a larger tensor is summed up, unless `whole` */

/* Makes the value of a spec that spec_check() has passed; tensors come from
 * `a`.  kind VALUE_UNSET with MEMORY or BOUND. */
struct value value_from_json(const json_t *spec, struct allocator *a, struct err *err);

/* The same where it may hold expressions, which the session evaluates, and tensors that require a
 * gradient of it: VALUE_UNSET with the program's error, too. */
struct value_scope {
	struct fusion_session *session;
	const char *label; /* of the argument, "calls[0][1]" */
	uint64_t seed;
	bool with_n; /* n is a name in it */
	int64_t n;
};
struct value value_in_scope(const json_t *spec, struct allocator *a,
			    const struct value_scope *scope, struct err *err);

/* The numbers of `from` into the tensors of `to`, which the same expression made; false where they
 * are not of one form. */
bool value_refill(struct value to, struct value from);

/* The tensors of a copy require a gradient, in that session, where those of the original do. */
bool value_mark_leaves(struct fusion_session *session, struct value copy, struct value original,
		       struct err *err);

/* A deep copy with tensors of its own, in the original's order of memory where that has no gaps,
 * else row-major. */
struct value value_copy(struct value v, struct allocator *a, struct err *err);

/* Whether v is, or lists, a tensor that something else holds too: the program itself, or another
 * argument.  Of containers that nothing else holds. */
bool value_shares_tensor(struct value v);

/* Whether the functions below can walk v: a program may nest lists without end,
 * put one into itself, or share it so often that its text would never end.
 * BOUND, naming `what` ("the output of calls[3]"). */
bool value_walkable(struct value v, const char *what, struct err *err);

/* {"tensor": {...}}, {"value": ...}, {"tuple": [...]}, ...  Not whole: a tensor
 * over the limit has "sum" and "hash" in place of "data".  What has no form of
 * its own is {"repr": "..."}. */
json_t *value_to_json(struct value v, bool whole);

/* Two tensors of the same dtype and shape. */
bool value_alike(struct value a, struct value b);

/* Same kinds, shapes, dtypes and bits (NaN equals itself). */
bool value_same(struct value a, struct value b);

/* The largest |a - b| over all numbers in both; NaN where one alone is NaN or
 * the structures differ.  `any`: whatever the dtypes of tensors are. */
double value_distance(struct value a, struct value b, bool any);

#endif
