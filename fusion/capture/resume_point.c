/* fusion/capture/resume_point.c -- finds resume points, and the entry of one that fits. */
#include "fusion/capture/resume_point.h"

#include <stdlib.h>
#include <string.h>

struct resume_point *resume_point_at(struct resume_points *p, struct resume_point *caller,
				     const struct code *code, const struct lang_inst *inst)
{
	struct pointers *by_inst = caller ? &caller->called : &p->by_inst;
	int found = pointers_get(by_inst, inst);
	struct resume_point *point;

	if (found >= 0)
		return p->list.at[found];
	point = calloc(1, sizeof(*point));
	if (!point)
		return NULL;
	point->caller = caller;
	point->code = code;
	point->inst = (int)(inst - code->insts);
	point->frame_id = point->frame_index = point->broke = -1;
	if (!VEC_PUSH(&p->list, point)) {
		free(point);
		return NULL;
	}
	return pointers_set(by_inst, inst, (int)p->list.len - 1) ? point : NULL;
}

struct entry *resume_point_find(struct resume_point *p, const struct roots *roots, int64_t *checks)
{
	for (int i = 0; i < p->n_entries; i++) {
		struct entry *e = p->entries[i];

		++*checks;
		if (!guards_hold(&e->guards, roots))
			continue;
		if (i > 0) {
			memmove(&p->entries[1], &p->entries[0], sizeof(struct entry *) * (size_t)i);
			p->entries[0] = e;
		}
		return e;
	}
	return NULL;
}
