/* fusion/backends/host/executable.c -- what interp and cpu share: plans, constants and bindings
 * of an executable, and its recording.
 */
#include "fusion/backends/host/executable.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/host/host.h"

/* Constants lie in the graph's arena, with no room for a vector to overrun. */
static bool copy_constants(struct executable *exe)
{
	const struct lowered *l = exe->lowered;

	for (int i = 0; i < l->n_buffers; i++) {
		const struct buffer *b = &l->buffers[i];
		size_t bytes;

		if (b->kind != BUFFER_CONST)
			continue;
		bytes = (size_t)sym_eval(b->numel, NULL) * dtype_bytes(b->dtype);
		exe->consts[i] = calloc(1, bytes + VECTOR_MAX);
		if (!exe->consts[i])
			return false;
		memcpy(exe->consts[i], b->data, bytes);
	}
	return true;
}

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "The system has no memory left to prepare kernels.");
}

/* Plans for a further set of symbol values; their code is that of the first. */
static bool add_binding(struct executable *exe, struct err *err)
{
	const struct lowered *l = exe->lowered;
	struct host_binding *b = &exe->bindings[exe->n_bindings++], *first = &exe->bindings[0];
	size_t n = (size_t)l->n_kernels + 1;

	b->plans = calloc(n, sizeof(struct plan *));
	b->libraries = calloc(n, sizeof(*b->libraries));
	if (!b->plans || !b->libraries)
		return out_of_memory(err);
	for (int i = 0; i < l->n_kernels; i++) {
		const struct kernel *k = &l->kernels[i];

		if (k->library && !library_check(k, err))
			return false;
		if (k->form == FORM_LIBRARY)
			continue;
		b->plans[i] = plan_create(l, k, exe->kernels, exe->consts, err);
		if (!b->plans[i])
			return false;
		b->plans[i]->exact = exe->exact;
		if (b != first)
			memcpy(b->plans[i]->code, first->plans[i]->code,
			       (size_t)b->plans[i]->n_parts * sizeof(struct tile_code));
	}
	return true;
}

static void use_binding(struct executable *exe, struct host_binding *b)
{
	exe->plans = b->plans;
	exe->libraries = b->libraries;
	b->used = ++exe->binds;
}

static bool is_fixed(const struct access *at)
{
	bool fixed = !at->offset || sym_is_const(at->offset);

	for (int d = 0; d < MAX_RANK; d++)
		fixed = fixed && (!at->stride[d] || sym_is_const(at->stride[d]));
	return fixed;
}

static bool are_fixed(const struct inst *insts, int n)
{
	for (int i = 0; i < n; i++)
		if (insts[i].join || insts[i].lookup || !is_fixed(&insts[i].at))
			return false;
	return true;
}

/* Whether all sizes and places are known. */
static bool has_numbers_alone(const struct lowered *l)
{
	bool fixed = true;

	for (int i = 0; i < l->n_kernels && fixed; i++) {
		const struct kernel *k = &l->kernels[i];

		fixed = !k->library && are_fixed(k->setup, k->n_setup) &&
			are_fixed(k->prologue, k->n_prologue);
		for (int d = 0; d < k->n_dims; d++)
			fixed = fixed && sym_is_const(k->extent[d]);
		for (int s = 0; s < k->n_stages; s++)
			fixed = fixed && are_fixed(k->stages[s].body, k->stages[s].n_body) &&
				are_fixed(k->stages[s].post, k->stages[s].n_post);
	}
	return fixed;
}

struct executable *executable_create(const struct backend_env *env, const struct lowered *l,
				     struct err *err)
{
	struct executable *exe = calloc(1, sizeof(*exe));
	const char *unit = env ? env->vector_unit : NULL;

	if (!exe) {
		out_of_memory(err);
		return NULL;
	}
	exe->lowered = l;
	exe->random = env ? env->random : NULL;
	exe->blas = env ? env->blas : NULL;
	exe->exact = env && env->fence;
	exe->kernels = kernels_named(unit);
	if (!exe->kernels) {
		err_set(err, ERR_UNSUPPORTED, "This machine has no vector unit %.20s; it has %s.",
			unit ? unit : "", kernels_here()->unit);
		executable_destroy(exe);
		return NULL;
	}
	exe->numbers_alone = has_numbers_alone(l);
	exe->consts = calloc((size_t)l->n_buffers + 1, sizeof(*exe->consts));
	if (!exe->consts || !copy_constants(exe)) {
		out_of_memory(err);
	} else if (add_binding(exe, err)) {
		use_binding(exe, &exe->bindings[0]);
		return exe;
	}
	executable_destroy(exe);
	return NULL;
}

static void drop_binding(struct host_binding *b, int n_kernels)
{
	for (int i = 0; b->plans && i < n_kernels; i++)
		plan_destroy(b->plans[i]);
	for (int i = 0; b->libraries && i < n_kernels; i++)
		free(b->libraries[i].state);
	free(b->plans);
	free(b->libraries);
	free(b->vars);
}

/* A binding to fill: a new one while there is room, else the one that was used
 * longest ago. */
static struct host_binding *take_binding(struct executable *exe, size_t n_vars, struct err *err)
{
	struct host_binding *b = &exe->bindings[0];

	if (b->vars && exe->n_bindings < MAX_BINDINGS) {
		b = &exe->bindings[exe->n_bindings];
		if (!add_binding(exe, err)) {
			drop_binding(b, exe->lowered->n_kernels);
			*b = (struct host_binding){ 0 };
			exe->n_bindings--;
			return NULL;
		}
	}
	for (int i = 0; b->vars && i < exe->n_bindings; i++)
		if (exe->bindings[i].used < b->used)
			b = &exe->bindings[i];
	if (!b->vars && !(b->vars = calloc(n_vars + 1, sizeof(*b->vars)))) {
		out_of_memory(err);
		return NULL;
	}
	return b;
}

static bool plan_suits_blocks(const struct plan *p, int64_t columns, int64_t numel)
{
	if (numel == 0)
		return false;
	if (p->kernel->form == FORM_MAP)
		return p->points == numel;
	return p->kernel->form == FORM_ROWS && p->points == columns && p->rows * p->points == numel;
}

static bool fill_binding(struct executable *exe, struct host_binding *b, const int64_t *vars,
			 struct err *err)
{
	const struct lowered *l = exe->lowered;

	for (int i = 0; i < l->n_kernels; i++) {
		const struct kernel *k = &l->kernels[i];
		struct library_call *call = &b->libraries[i];
		struct plan *plan = b->plans[i];

		if (k->library) {
			free(call->state);
			call->state = NULL;
			if (!library_bind(call,
					  &(struct library_site){ l, k, exe->kernels, exe->blas,
								  exe->random, vars },
					  err))
				return false;
			call->fault = &exe->fault;
			if (!library_take_room(call, &exe->room, err))
				return false;
		}
		if (!plan)
			continue;
		plan->fault = &exe->fault;
		plan->least_workers = k->library ? call->threads : 0;
		if (!plan_bind(plan, vars, err))
			return false;
		if (k->library && call->threads > 0 &&
		    plan_suits_blocks(plan, call->out.size[call->out.rank - 1], call->out.numel))
			call->epilogue = plan;
	}
	return true;
}

static bool executable_bind(struct executable *exe, const int64_t *vars, struct err *err)
{
	size_t n_vars = (size_t)sym_var_count(exe->lowered->graph->syms);
	size_t bytes = n_vars * sizeof(*vars);
	struct host_binding *b = &exe->bindings[0];

	if (exe->numbers_alone && b->vars) {
		for (int i = 0; i < exe->lowered->n_kernels; i++)
			plan_bind_numbers(b->plans[i], vars);
		return true;
	}
	for (int i = 0; i < exe->n_bindings; i++) {
		b = &exe->bindings[i];
		if (b->vars && (bytes == 0 || memcmp(b->vars, vars, bytes) == 0)) {
			use_binding(exe, b);
			return true;
		}
	}
	b = take_binding(exe, n_vars, err);
	if (!b)
		return false;
	if (!fill_binding(exe, b, vars, err)) {
		free(b->vars); /* half filled: never found again */
		b->vars = NULL;
		return false;
	}
	if (bytes)
		memcpy(b->vars, vars, bytes);
	use_binding(exe, b);
	return true;
}

/* Before run(), where memory is watched (memory.h): its room is as fresh. */
static void library_poison(const struct library_call *call)
{
	if (call->room_bytes > 0)
		fence_poison_here(call->room->at, call->room_bytes);
}

static bool executable_fault(struct executable *exe, struct err *err)
{
	return library_faulted(&exe->fault, err);
}

static void executable_launch(struct executable *exe, int kernel, void *const *buffers,
			      struct pool *pool, bool backward)
{
	const struct library_call *call = &exe->libraries[kernel];

	if (call->op && __builtin_expect(exe->exact, 0))
		library_poison(call);
	if (call->op)
		call->op->run(call, buffers, pool);
	if (exe->plans[kernel] && !call->epilogue)
		plan_launch(exe->plans[kernel], buffers, pool, backward);
}

void executable_destroy(struct executable *exe)
{
	if (!exe)
		return;
	for (int i = 0; i < exe->n_bindings; i++)
		drop_binding(&exe->bindings[i], exe->lowered->n_kernels);
	for (int i = 0; exe->consts && i < exe->lowered->n_buffers; i++)
		free(exe->consts[i]);
	for (int i = 0; i < exe->n_programs; i++)
		free(exe->programs[i]);
	if (exe->handle)
		dlclose(exe->handle);
	free(exe->programs);
	free(exe->room.at);
	free(exe->consts);
	free(exe->source);
	free(exe->note);
	free(exe);
}

/* ---- what the backends of this machine make kernels of
 *
 * A search for order (BETWEEN in ops.def) has no loop nest that could take in what
 * comes before or after it: it is a call between two pieces, and is reported as one.  (Other
 * library kernels, as of matmul, are launched from within a piece.)
 */

static bool executable_lowers(const struct backend *self, const struct graph *g,
			      const struct node *n, bool *by_type, const char **why)
{
	(void)self, (void)g, (void)by_type, (void)why;
	return !op_has(n->op, FACT_BETWEEN);
}

/* ---- recordings */

enum recording_step_kind {
	STEP_TILE,    /* MAP of one tile: a call */
	STEP_ROWS,    /* ROWS of a tile each, on one thread */
	STEP_PLAN,    /* all else that has a plan */
	STEP_NOTHING, /* a function of the library has done it all */
};

/* A kernel's launch. */
struct recording_step {
	enum recording_step_kind kind;
	bool setup; /* code runs before it */
	struct plan *plan;
	const struct tile_code *code;
	struct tile tile;                   /* TILE */
	void **at;                          /* TILE, ROWS: where each place of the plan lies */
	const struct library_call *library; /* runs first; NULL: none */
};

/* A pointer into a buffer, so many bytes after its first. */
struct mark {
	void **pointer;
	int64_t offset;
};

struct recording {
	struct executable *exe;
	void **buffers;
	struct recording_step *steps;
	int n_steps;
	struct mark *marks; /* by buffer */
	int *first;         /* of each buffer's marks, and where the last one's end */
	void **pointers;    /* of all steps */
};

static enum recording_step_kind kind_of(const struct executable *exe, int kernel)
{
	const struct plan *p = exe->plans[kernel];

	if (!p || exe->libraries[kernel].epilogue)
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
	enum recording_step_kind kind = kind_of(exe, kernel);

	return kind == STEP_TILE || kind == STEP_ROWS ? exe->plans[kernel]->n_places : 0;
}

static bool is_slot(const struct plan_place *at)
{
	return at->inst->kind == INST_SAVE || at->inst->kind == INST_RESTORE;
}

/* Whether the place moves with a buffer; constants lie where they are. */
static bool moves(const struct plan *p, const struct plan_place *at)
{
	return !is_slot(at) && !p->const_data[at->buffer];
}

/* The place at which a step's pointers begin: those of setup are opened again. */
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
	struct recording_step *step = &r->steps[kernel];
	struct plan *p = r->exe->plans[kernel];
	const struct plan_worker *w;

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
		const struct plan_place *place = &p->places[i];

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
static void mark_step(struct recording *r, const struct recording_step *step, struct mark *to,
		      int *count)
{
	const struct plan *p = step->plan;

	if (step->kind != STEP_TILE && step->kind != STEP_ROWS)
		return;
	for (int i = first_place(p); i < p->n_places; i++) {
		const struct plan_place *place = &p->places[i];

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

static void recording_point(struct recording *r, int buffer, void *memory)
{
	r->buffers[buffer] = memory;
	for (int i = r->first[buffer]; i < r->first[buffer + 1]; i++)
		*r->marks[i].pointer = (char *)memory + r->marks[i].offset;
}

static inline void run_step(struct recording *r, const struct recording_step *step,
			    struct pool *pool, bool backward)
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
		executor_rows_from(step->plan, (char *const *)step->at);
		return;
	case STEP_PLAN:
		plan_launch(step->plan, r->buffers, pool, backward);
		return;
	case STEP_NOTHING:
		return;
	}
}

static void recording_replay(struct recording *r, int kernel, struct pool *pool, bool backward)
{
	if (kernel >= 0) {
		run_step(r, &r->steps[kernel], pool, backward);
		return;
	}
	for (int k = 0; k < r->n_steps; k++, backward = !backward)
		run_step(r, &r->steps[k], pool, backward);
}

static void recording_destroy(struct recording *r)
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

static struct recording *recording_create(struct executable *exe, void *const *buffers,
					  struct err *err)
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

/* ---- the backends ---- */

/* What interp and cpu have in common. */
#define EXECUTABLE_FUNCTIONS                                                                       \
	.can_lower = executable_lowers, .bind = executable_bind, .launch = executable_launch,      \
	.fault = executable_fault, .destroy = executable_destroy, .record = recording_create,      \
	.point = recording_point, .replay = recording_replay, .erase = recording_destroy

static bool always(const struct backend_env *env, char *why, size_t why_bytes)
{
	(void)env;
	(void)why;
	(void)why_bytes;
	return true;
}

const struct backend backend_interp = {
	.name = "interp",
	.purpose = "loops that are built in: compiles nothing, always there",
	.available = always,
	.compile = interp_compile,
	EXECUTABLE_FUNCTIONS,
};

const struct backend backend_cpu = {
	.name = "cpu",
	.purpose = "C through the system compiler, a kernel for each group of ops, cached on disk",
	.available = cpu_available,
	.compile = cpu_compile,
	EXECUTABLE_FUNCTIONS,
};
