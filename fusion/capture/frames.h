/* fusion/capture/frames.h -- private to capture/: frames run in pieces.
 *
 * A session in a compiled mode is the VM's evaluator: each call of a program's
 * function comes here.  A frame is run piece by piece; between two pieces the
 * VM executes one instruction, whose own calls come here again.
 */
#ifndef FUSION_RUNTIME_FRAMES_H
#define FUSION_RUNTIME_FRAMES_H

#include "fusion/capture/capture.h"

/* Lets the session run the frames of its VM. */
void frames_watch(struct session *s);

/* session_compile.c: a new entry for where the frames from `base` on stand, kept by
 * the point; NULL
 * where there is none: then *fate says why (FAILED: with *err). */
struct entry *session_compile(struct session *s, struct point *p, struct frame *base,
			      const struct roots *roots, enum entry_fate *fate, struct err *err);

/* The values that a call of f brings, for the guards of its place. */
struct call_roots {
	struct roots roots;
	struct value few[16], *values; /* parameters that cells have taken over */
};
bool call_roots_init(struct call_roots *r, const struct frame *f, const struct vm *vm);
void call_roots_finish(struct call_roots *r);

#endif
