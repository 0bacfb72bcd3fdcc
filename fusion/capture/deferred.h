/* fusion/capture/deferred.h -- private to capture/: nodes that are numbers of the program.
 *
 * All of float64, int64 or bool, of 0 dims; -1 with *err where there is none, and
 * as an operand: then the result is -1, too.
 */
#ifndef FUSION_RUNTIME_LATE_H
#define FUSION_RUNTIME_LATE_H

#include "fusion/capture/trace.h"

/* |number| < most, or eager runs the piece: no NaN either. */
bool late_within(struct trace *t, int node, double most, struct err *err);

#endif
