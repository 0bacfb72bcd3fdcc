/* fusion/backends/executable.c -- plans and constants of an executable. */
#include "fusion/backends/executable.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

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
	struct binding *b = &exe->bindings[exe->n_bindings++], *first = &exe->bindings[0];
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

static void use_binding(struct executable *exe, struct binding *b)
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
		if (insts[i].join || !is_fixed(&insts[i].at))
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
			unit ? unit : "", backend_vector_unit());
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

static void drop_binding(struct binding *b, int n_kernels)
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
static struct binding *take_binding(struct executable *exe, size_t n_vars, struct err *err)
{
	struct binding *b = &exe->bindings[0];

	if (b->vars && exe->n_bindings < MAX_BINDINGS) {
		b = &exe->bindings[exe->n_bindings];
		if (!add_binding(exe, err)) {
			drop_binding(b, exe->lowered->n_kernels);
			*b = (struct binding){ 0 };
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

static bool fill_binding(struct executable *exe, struct binding *b, const int64_t *vars,
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
			if (!library_bind(call, l, k, exe->kernels, exe->blas, exe->random, vars,
					  err))
				return false;
			call->fault = &exe->fault;
		}
		if (!plan)
			continue;
		plan->least_workers = k->library ? call->threads : 0;
		if (!plan_bind(plan, vars, err))
			return false;
		if (k->library && call->threads > 0 &&
		    plan_suits_blocks(plan, call->out.size[call->out.rank - 1], call->out.numel))
			call->behind = plan;
	}
	return true;
}

bool executable_bind(struct executable *exe, const int64_t *vars, struct err *err)
{
	size_t n_vars = (size_t)sym_var_count(exe->lowered->graph->syms);
	size_t bytes = n_vars * sizeof(*vars);
	struct binding *b = &exe->bindings[0];

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

void executable_launch(struct executable *exe, int kernel, void *const *buffers, struct pool *pool,
		       bool backward)
{
	const struct library_call *call = &exe->libraries[kernel];

	if (call->op && __builtin_expect(exe->exact, 0))
		library_poison(call);
	if (call->op)
		call->op->run(call, buffers, pool);
	if (exe->plans[kernel] && !call->behind)
		plan_launch(exe->plans[kernel], buffers, pool, backward);
}

bool executable_fault(struct executable *exe, struct err *err)
{
	return library_faulted(&exe->fault, err);
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
	free(exe->consts);
	free(exe->source);
	free(exe->note);
	free(exe);
}
