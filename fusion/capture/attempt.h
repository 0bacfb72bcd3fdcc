/* fusion/capture/attempt.h -- private to capture/: captures again until one succeeds. */
#ifndef FUSION_CAPTURE_ATTEMPT_H
#define FUSION_CAPTURE_ATTEMPT_H

#include "fusion/capture/entry.h"

struct attempt {
	struct trace trace;
	struct vm_place stops[VM_MAX_PLACE + 2]; /* where it has to end */
	int n_stops;                             /* 0: where it returns */
	int n_rounds;                            /* the first of them: where rounds of loops end */
	int n_frames;                            /* of the call: in which the piece begins */
	int most_frames;                         /* that may be where it ends */
	bool rest_eager;                         /* ... because nothing after it can be captured */
	bool has_shadow_frames;                  /* the frames have got their stand-ins */
	bool stopped;        /* it ended at a stop; its frames are still there */
	bool idle;           /* ... where the innermost frame returned, with nothing computed */
	bool never_idle;     /* what it returned cannot be kept */
	bool ends_at_return; /* ... of a frame in which it began: nothing is between */
	struct value result;
};

/* Of the frames in which the piece begins, the innermost that is still there; how
 * many calls out it is. */
static inline struct frame *attempt_last(const struct attempt *a, int *calls)
{
	struct frame *f = a->trace.vm->frame;

	while (!f->shadow_of)
		f = f->up;
	*calls = a->n_frames - f->shadow_of;
	return f;
}

/* Captures from the frame's place on and compiles it into `e` (zeroed); the
 * frame stays as it is.  The VM's host and evaluator are changed: the caller
 * sets them back.  `brk` (zeroed; the caller frees brk->at.stack) is what it
 * met on its way.  FAILED alone sets *err; e is to be destroyed unless MADE. */
enum entry_fate attempt_entry(const struct entry_options *options, struct entry *e,
			      const struct entry_source *from, struct entry_break *brk,
			      struct err *err);

#endif
