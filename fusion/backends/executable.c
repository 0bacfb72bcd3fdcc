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

struct executable *executable_create(const struct lowered *l, struct err *err)
{
	struct executable *exe = calloc(1, sizeof(*exe));
	size_t n = (size_t)l->n_kernels + 1;

	if (!exe)
		goto memory;
	exe->lowered = l;
	exe->kernels = kernels_here();
	exe->plans = calloc(n, sizeof(*exe->plans));
	exe->libraries = calloc(n, sizeof(*exe->libraries));
	exe->consts = calloc((size_t)l->n_buffers + 1, sizeof(*exe->consts));
	if (!exe->plans || !exe->libraries || !exe->consts || !copy_constants(exe))
		goto memory;
	for (int i = 0; i < l->n_kernels; i++) {
		const struct kernel *k = &l->kernels[i];

		if (k->form == FORM_LIBRARY) {
			if (!library_check(l, k, err))
				goto fail;
			continue;
		}
		exe->plans[i] = plan_create(l, k, exe->kernels->vector_bytes, exe->consts, err);
		if (!exe->plans[i])
			goto fail;
	}
	return exe;
memory:
	err_set(err, ERR_MEMORY, "The system has no memory left to prepare kernels.");
fail:
	executable_destroy(exe);
	return NULL;
}

bool executable_bind(struct executable *exe, const int64_t *vars, struct err *err)
{
	const struct lowered *l = exe->lowered;

	for (int i = 0; i < l->n_kernels; i++) {
		if (!exe->plans[i])
			library_bind(&exe->libraries[i], l, &l->kernels[i], vars);
		else if (!plan_bind(exe->plans[i], vars, err))
			return false;
	}
	return true;
}

void executable_launch(struct executable *exe, int kernel, void *const *buffers, struct pool *pool)
{
	if (exe->plans[kernel])
		plan_launch(exe->plans[kernel], buffers, pool);
	else
		library_launch(&exe->libraries[kernel], buffers, pool);
}

void executable_destroy(struct executable *exe)
{
	if (!exe)
		return;
	for (int i = 0; exe->plans && i < exe->lowered->n_kernels; i++)
		plan_destroy(exe->plans[i]);
	for (int i = 0; exe->consts && i < exe->lowered->n_buffers; i++)
		free(exe->consts[i]);
	for (int i = 0; i < exe->n_programs; i++)
		free(exe->programs[i]);
	if (exe->handle)
		dlclose(exe->handle);
	free(exe->programs);
	free(exe->plans);
	free(exe->libraries);
	free(exe->consts);
	free(exe->source);
	free(exe->note);
	free(exe);
}
