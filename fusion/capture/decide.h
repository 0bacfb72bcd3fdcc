/* fusion/capture/decide.h -- private to capture/: what becomes of a break. */
#ifndef FUSION_CAPTURE_DECIDE_H
#define FUSION_CAPTURE_DECIDE_H

#include "fusion/capture/trace/trace.h"

struct decision {
	enum break_outcome outcome;
	enum break_id because; /* STEP, SKIP: why it cannot be resumed */
	int stop;              /* the instruction it is before; STEP: the checkpoint */
	bool as_a_whole;       /* a comprehension around it runs in eager */
	const struct frame *frame;
	struct vm_place place; /* where the next attempt ends: stop, in that frame */
};

/* For the break noted in t->brk, while the frames are still there.  Policy native
 * ends the piece in the innermost of `most_frames` that can go on, TorchDynamo in
 * the one where it began. */
struct decision decide_break(const struct trace *t, int most_frames);

/* A stop before the try statement that `stop` is in, for a piece that never gets
 * there: an exception leads past it.  -1: there is none. */
int decide_before_try(const struct code *code, int stop);

/* Where the round ends of the innermost for loop around the instruction; -1: it is
 * in none. */
int decide_round_end(const struct code *code, int inst);

#endif
