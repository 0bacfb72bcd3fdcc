/* fusion/backends/recording.c -- see recording.h. */
#include "fusion/backends/recording.h"

#include <stdlib.h>
#include <string.h>

enum step_kind {
	STEP_TILE,    /* MAP of one tile: a call */
	STEP_ROWS,    /* ROWS of a tile each, on one thread */
	STEP_PLAN,    /* all else that has a plan */
	STEP_NOTHING, /* a function of the library has done it all */
};

/* A kernel's launch. */
struct step {
	enum step_kind kind;
	bool setup; /* code runs before it */
	struct plan *plan;
	const struct tile_code *code;
	struct tile tile;                   /* TILE */
	void **at;                          /* TILE, ROWS: where each place of the plan lies */
	const struct library_call *library; /* runs first; NULL: none */
};

/* A pointer into a buffer, so many bytes behind its first. */
struct mark {
	void **pointer;
	int64_t offset;
};

struct recording {
	struct executable *exe;
	void **buffers;
	struct step *steps;
	int n_steps;
	struct mark *marks; /* by buffer */
	int *first;         /* of each buffer's marks, and where the last one's end */
	void **pointers;    /* of all steps */
};

static enum step_kind kind_of(const struct executable *exe, int kernel)
{
	const struct plan *p = exe->plans[kernel];

	if (!p || exe->libraries[kernel].behind)
		return STEP_NOTHING;
	if (p->n_workers == 1 && p->kernel->form == FORM_MAP && p->flat && p->tiles == 1)
		return STEP_TILE;
	if (p->n_workers == 1 && p->kernel->form == FORM_ROWS && p->quick && p->row_run >= p->rows)
		return STEP_ROWS;
	return STEP_PLAN;
}

/* Pointers of a step: places of the plan, of which those of setup stay empty. */
static int pointer_count(const struct executable *exe, int kernel)
{
	enum step_kind kind = kind_of(exe, kernel);

	return kind == STEP_TILE || kind == STEP_ROWS ? exe->plans[kernel]->n_places : 0;
}

static bool is_slot(const struct place *at)
{
	return at->inst->kind == INST_SAVE || at->inst->kind == INST_RESTORE;
}

/* Whether the place moves with a buffer; constants lie where they are. */
static bool moves(const struct plan *p, const struct place *at)
{
	return !is_slot(at) && !p->const_data[at->buffer];
}

/* The place at which a step's pointers begin: those of setup are opened anew. */
static int first_place(const struct plan *p)
{
	return p->parts[PART_SETUP].n_places;
}

static bool allocate(struct recording *r)
{
	const struct lowered *l = r->exe->lowered;
	size_t pointers = 1;

	for (int k = 0; k < l->n_kernels; k++)
		pointers += (size_t)pointer_count(r->exe, k);
	r->buffers = calloc((size_t)l->n_buffers + 1, sizeof(*r->buffers));
	r->steps = calloc((size_t)l->n_kernels + 1, sizeof(*r->steps));
	r->first = calloc((size_t)l->n_buffers + 1, sizeof(*r->first));
	r->pointers = calloc(pointers, sizeof(*r->pointers));
	r->marks = calloc(pointers, sizeof(*r->marks));
	return r->buffers && r->steps && r->first && r->pointers && r->marks;
}

static void fill_step(struct recording *r, int kernel, void **at)
{
	struct step *step = &r->steps[kernel];
	struct plan *p = r->exe->plans[kernel];
	const struct worker *w;

	step->kind = kind_of(r->exe, kernel);
	step->plan = p;
	step->at = at;
	if (r->exe->libraries[kernel].op)
		step->library = &r->exe->libraries[kernel];
	if (step->kind != STEP_TILE && step->kind != STEP_ROWS)
		return;
	step->setup = p->has_setup;
	w = &p->workers[0];
	for (int i = first_place(p); i < p->n_places; i++) {
		const struct place *place = &p->places[i];

		if (is_slot(place))
			at[i] = w->slot[place->inst->slot];
		else if (!moves(p, place))
			at[i] = (char *)p->const_data[place->buffer] +
				place->offset * (int64_t)place->bytes;
	}
	if (step->kind == STEP_TILE) {
		step->code = &p->code[part_body(0)];
		step->tile = (struct tile){ .at = at + (p->parts[part_body(0)].places - p->places),
					    .reg = w->reg,
					    .scratch = w->scratch,
					    .n = p->points };
	}
}

/* The marks of a step; `to` NULL counts them by buffer. */
static void mark_step(struct recording *r, const struct step *step, struct mark *to, int *count)
{
	const struct plan *p = step->plan;

	if (step->kind != STEP_TILE && step->kind != STEP_ROWS)
		return;
	for (int i = first_place(p); i < p->n_places; i++) {
		const struct place *place = &p->places[i];

		if (!moves(p, place))
			continue;
		if (to)
			to[r->first[place->buffer] + count[place->buffer]] =
			    (struct mark){ &step->at[i], place->offset * (int64_t)place->bytes };
		count[place->buffer]++;
	}
}

/* Sorted by buffer: the pointers that a buffer's move sets. */
static bool mark_all(struct recording *r)
{
	int n = r->exe->lowered->n_buffers, sum = 0;
	int *count = calloc((size_t)n + 1, sizeof(*count));

	if (!count)
		return false;
	for (int k = 0; k < r->n_steps; k++)
		mark_step(r, &r->steps[k], NULL, count);
	for (int b = 0; b <= n; b++) {
		r->first[b] = sum;
		sum += count[b];
		count[b] = 0;
	}
	for (int k = 0; k < r->n_steps; k++)
		mark_step(r, &r->steps[k], r->marks, count);
	free(count);
	return true;
}

struct recording *recording_create(struct executable *exe, void *const *buffers, struct err *err)
{
	struct recording *r = calloc(1, sizeof(*r));
	void **at;

	if (r)
		r->exe = exe;
	if (!r || !allocate(r)) {
		recording_destroy(r);
		err_set(err, ERR_MEMORY, "The system has no memory left to record launches.");
		return NULL;
	}
	r->n_steps = exe->lowered->n_kernels;
	at = r->pointers;
	for (int k = 0; k < r->n_steps; k++) {
		fill_step(r, k, at);
		at += pointer_count(exe, k);
	}
	if (!mark_all(r)) {
		recording_destroy(r);
		err_set(err, ERR_MEMORY, "The system has no memory left to record launches.");
		return NULL;
	}
	for (int b = 0; b < exe->lowered->n_buffers; b++)
		if (buffers[b])
			recording_point(r, b, buffers[b]);
	return r;
}

void recording_point(struct recording *r, int buffer, void *memory)
{
	r->buffers[buffer] = memory;
	for (int i = r->first[buffer]; i < r->first[buffer + 1]; i++)
		*r->marks[i].pointer = (char *)memory + r->marks[i].offset;
}

static inline void run_step(struct recording *r, const struct step *step, struct pool *pool,
			    bool backward)
{
	if (step->library && __builtin_expect(r->exe->exact, 0))
		library_poison(step->library);
	if (step->library)
		step->library->op->run(step->library, r->buffers, pool);
	if (__builtin_expect(step->setup, 0))
		plan_setup(step->plan, r->buffers);
	switch (step->kind) {
	case STEP_TILE:
		step->code->run(step->code->code, &step->tile);
		return;
	case STEP_ROWS:
		drive_rows_from(step->plan, (char *const *)step->at);
		return;
	case STEP_PLAN:
		plan_launch(step->plan, r->buffers, pool, backward);
		return;
	case STEP_NOTHING:
		return;
	}
}

void recording_replay(struct recording *r, int kernel, struct pool *pool, bool backward)
{
	if (kernel >= 0) {
		run_step(r, &r->steps[kernel], pool, backward);
		return;
	}
	for (int k = 0; k < r->n_steps; k++, backward = !backward)
		run_step(r, &r->steps[k], pool, backward);
}

void recording_destroy(struct recording *r)
{
	if (!r)
		return;
	free(r->buffers);
	free(r->steps);
	free(r->first);
	free(r->pointers);
	free(r->marks);
	free(r);
}
