/* fusion/capture/deferred.h -- private to capture/: nodes that are numbers of the program.
 *
 * All of float64, int64 or bool, of 0 dims; -1 with *err where there is none, and
 * as an operand: then the result is -1, too.
 */
#ifndef FUSION_RUNTIME_LATE_H
#define FUSION_RUNTIME_LATE_H

#include "fusion/capture/trace.h"

int late_add(struct trace *t, enum op op, const struct arg *args, int n, struct err *err);
int late_one(struct trace *t, enum op op, int a, struct err *err);
int late_two(struct trace *t, enum op op, int a, int b, struct err *err);
int late_convert(struct trace *t, int node, enum dtype dtype, struct err *err);
int late_float(struct trace *t, double f, struct err *err);
int late_int(struct trace *t, int64_t i, struct err *err);
/* POW, FLOORDIV, MOD, ROUND; a function of math: of one operand, y is x. */
int late_number(struct trace *t, enum symreal_kind kind, int x, int y, struct err *err);
int late_function(struct trace *t, int function, int x, int y, struct err *err);
/* int() of a float: what does not fit, NaN too, is an error of Python's. */
int late_whole(struct trace *t, int node, struct err *err);
/* |number| < most, or eager runs the piece: no NaN either. */
bool late_within(struct trace *t, int node, double most, struct err *err);
bool late_finish(struct trace *t, int node, struct value *out); /* false for -1 */

#endif
