/* fusion/capture/resume_point.h -- private to capture/: where a piece of the program begins.
 *
 * A resume point is the start of a function, or an instruction where a frame goes on
 * after a break ("torch_dynamo_resume_in_model_at_4").  Natively callers wait for
 * that frame: then the point is one of this chain of calls alone.  Each point has
 * entries of its own, and its own memory of what it was given.
 */
#ifndef FUSION_CAPTURE_RESUME_POINT_H
#define FUSION_CAPTURE_RESUME_POINT_H

#include "fusion/base/vec.h"
#include "fusion/capture/entry.h"

struct resume_point {
	struct resume_point *caller; /* the call in which the frame around it waits; NULL: none */
	struct pointers called;      /* points of what is called here, by instruction */
	const struct code *code;
	int inst;
	int frame_id;           /* of compile ids "0/1"; -1: nothing compiled yet */
	int frame_index;        /* of the report; -1 */
	bool skip;              /* runs in eager from here, for good */
	int broke;              /* why it is skipped: the break in the report; -1 */
	bool run_only;          /* has as many entries as are allowed */
	struct entry **entries; /* most recently used first */
	int n_entries, cap_entries;
	struct memory memory;
};

struct resume_points {
	struct pointers by_inst;
	VEC(struct resume_point *) list;
};

/* The point of a frame at `inst` that `caller` (may be NULL) waits for, made where
 * there is none; NULL when out of memory. */
struct resume_point *resume_point_at(struct resume_points *p, struct resume_point *caller,
				     const struct code *code, const struct lang_inst *inst);

/* The first entry whose guards hold, moved to the front; NULL: none.  *checks
 * counts the entries that were asked. */
struct entry *resume_point_find(struct resume_point *p, const struct roots *roots, int64_t *checks);

#endif
