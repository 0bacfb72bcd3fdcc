/* fusion/capture/frames.h -- private to capture/: frames run in pieces, each from a resume point.
 *
 * A session in a compiled mode is the VM's evaluator: each call of a program's
 * function comes here.  A frame is run piece by piece; between two pieces the
 * VM executes one instruction, whose own calls come here again.
 *
 * A resume point is the start of a function, or an instruction where a frame goes on
 * after a break ("torch_dynamo_resume_in_model_at_4").  Natively callers wait for
 * that frame: then the resume point is one of this chain of calls alone.  Each has
 * entries of its own, and its own memory of what it was given.
 */
#ifndef FUSION_CAPTURE_FRAMES_H
#define FUSION_CAPTURE_FRAMES_H

#include "fusion/capture/resume_point.h"
#include "fusion/vm/value.h"

/* ---- tensors that a break lies between
 *
 * For an observer that wants to know: what the frames hold where a piece ends, and
 * which of it the next piece reads again.  Nothing is kept for others. */

struct session;
struct storage;

struct storages {
	VEC(const struct storage *) list;
};

struct crossing {              /* zeroed: nothing was met */
	struct storages given; /* with the call */
	struct storages held;  /* by the frames, where the last break was met */
	size_t used_bytes;     /* before the call */
	int index;             /* of that break; -1: none yet */
};

/* What is known of the frame that a call pushes first: the entry that serves it, or that
 * none does.  Zeroed: nothing. */
struct frames_found {
	struct entry *entry;
	bool none;
};

/* A call of the session's callee by the VM, whose frames run in pieces. */
bool frames_call(struct session *s, const struct arguments *args, struct frames_found first,
		 struct value *out, struct err *err);

#endif
