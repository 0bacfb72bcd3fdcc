/* fusion/capture/overlap.h -- private to tensor/: tensors from outside that share memory.
 */
#ifndef FUSION_RUNTIME_OVERLAP_H
#define FUSION_RUNTIME_OVERLAP_H

#include "fusion/capture/trace.h"

/* Of tensors of which one is written, once an attempt is through. */
enum overlap {
	OVERLAP_NONE,    /* or the attempt knew of it */
	OVERLAP_COVERED, /* slots are views of one another: the next attempt knows */
	OVERLAP_UNKNOWN, /* no tensor covers the others */
};
enum overlap overlap_find(struct trace *t);

/* The stand-in of a slot that is a view of another one. */
bool overlap_stand(struct trace *t, int slot, struct value *out, struct err *err);

#endif
