/* fusion/runtime/attempt.h -- private to runtime/: captures until one stands. */
#ifndef FUSION_RUNTIME_ATTEMPT_H
#define FUSION_RUNTIME_ATTEMPT_H

#include "fusion/runtime/entry.h"

struct attempt {
	struct trace trace;
	int stop;        /* where it has to end; -1: where it returns */
	bool rest_eager; /* ... because nothing behind it can be captured */
	bool stopped;    /* it ended there; trace.base still stands */
	struct value result;
};

/* entry_create.c: recipe, guards and outputs of an attempt that stands. */
bool entry_describe(struct entry *e, struct attempt *a, const struct entry_options *options,
		    struct err *err);

/* Passes, lowering, backend; the captured graph stays as it was. */
bool entry_compile(struct entry *e, const struct entry_options *options, struct err *err);

#endif
