/* fusion/capture/side_effects.h -- private to capture/: what a piece changed outside.
 *
 * A stand-in that ends otherwise than it began tells what the program did to
 * the object; the same is done to the real object in each call, after the
 * kernels.
 */
#ifndef FUSION_CAPTURE_SIDE_EFFECTS_H
#define FUSION_CAPTURE_SIDE_EFFECTS_H

#include "fusion/capture/reconstruction.h"

enum effect_kind {
	EFFECT_ITEMS,    /* the list's items are those of the list made by `step` */
	EFFECT_KEYS,     /* the same for a set */
	EFFECT_STORE,    /* dict, instance or class: key is what `step` made */
	EFFECT_REMOVE,   /* ... the key is gone */
	EFFECT_CONTENT,  /* a cell's; step -1: unset */
	EFFECT_GLOBAL,   /* number: the global; step -1: unset */
	EFFECT_POSITION, /* an iterator's: number */
	EFFECT_GRAD,     /* a tensor's .grad; source -1: of what step `number` made */
};

struct effect {
	enum effect_kind kind;
	int source; /* the object */
	int step;   /* of the reconstruction */
	int64_t number;
	struct value key; /* a reference */
	int key_step;     /* of the reconstruction, where the key is an object; -1 */
};

struct effects {
	struct effect *at;
	int n;
};

/* Compares stand-ins with what they began as; parts of new values go into the
 * reconstruction.  Lives in `arena`.  False with *err. */
bool effects_find(struct effects *e, struct reconstruction_builder *b, struct arena *arena);
static inline void effects_finish(struct effects *e)
{
	for (int i = 0; i < e->n; i++)
		value_unref(e->at[i].key);
	e->n = 0;
}

/* Does them to the objects of a call; `made` by reconstruction_follow(). */
bool effects_apply(const struct effects *e, const struct reconstruction *r,
		   const struct reconstruction_call *call, struct err *err);

#endif
