/* fusion/capture/resume_point.c -- finds resume points, and the entry of one that fits. */
#include "fusion/capture/resume_point.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/vm/frame.h"

/* The one of frame f, where the frames out to `base` wait. */
struct resume_point *resume_point_of(struct resume_points *p, const struct frame *base,
				     const struct frame *f)
{
	struct resume_point *caller = f == base ? NULL : resume_point_of(p, base, f->up);

	return f == base || caller ? resume_point_at(p, caller, f->code, f->inst) : NULL;
}

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

void resume_points_finish(struct resume_points *p)
{
	for (size_t i = 0; i < p->list.len; i++) {
		struct resume_point *point = p->list.at[i];

		for (int j = 0; j < point->n_entries; j++)
			entry_destroy(point->entries[j]);
		free(point->entries);
		memory_finish(&point->memory);
		pointers_finish(&point->called);
		free(point);
	}
	VEC_FREE(&p->list);
	pointers_finish(&p->by_inst);
}

/* "model", "torch_dynamo_resume_in_model_at_4"; into `out`. */
void resume_point_name(const struct resume_point *p, struct buf *out)
{
	if (p->inst == 0)
		buf_puts(out, p->code->name);
	else
		buf_printf(out, "torch_dynamo_resume_in_%s_at_%d", p->code->name,
			   p->code->insts[p->inst].line);
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

/* A new entry, to the front; false when out of memory. */
bool resume_point_add(struct resume_point *p, struct entry *e)
{
	if (p->n_entries == p->cap_entries) {
		int cap = p->cap_entries ? 2 * p->cap_entries : 4;
		struct entry **grown = realloc(p->entries, sizeof(struct entry *) * (size_t)cap);

		if (!grown)
			return false;
		p->entries = grown;
		p->cap_entries = cap;
	}
	memmove(&p->entries[1], &p->entries[0], sizeof(struct entry *) * (size_t)p->n_entries);
	p->entries[0] = e;
	e->compile_id = p->n_entries++;
	return true;
}
