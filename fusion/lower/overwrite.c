/* fusion/lower/overwrite.c -- which input of a kernel its output may replace.
 *
 * A backend runs a body in loops of its own making, each of which loads what it
 * reads.  So nothing that is computed from the old element may come after the new
 * one: all of it must be part of how the new one is made.  And no later stage may
 * read the old element again.
 */
#include <stdlib.h>

#include "fusion/lower/lower.h"

static bool same_place(const struct access *a, const struct access *b)
{
	bool same = a->offset == b->offset;

	for (int d = 0; d < MAX_RANK; d++)
		same &= a->stride[d] == b->stride[d];
	return same;
}

static bool reads(const struct inst *i, int buffer)
{
	if (i->kind != INST_LOAD)
		return false;
	for (int k = 0; i->lookup && k < i->lookup->n; k++)
		if (i->lookup->index[k].at.buffer == buffer)
			return true;
	if (!i->join)
		return i->at.buffer == buffer;
	for (int p = 0; p < i->join->n; p++)
		if (i->join->part[p].at.buffer == buffer)
			return true;
	return false;
}

static bool any_reads(const struct inst *list, int n, int buffer)
{
	for (int i = 0; i < n; i++)
		if (reads(&list[i], buffer))
			return true;
	return false;
}

/* The one store to the buffer, and its stage; NULL: there are others, or none in a
 * body. */
static const struct inst *store_of(const struct kernel *k, int buffer, int *stage)
{
	const struct inst *found = NULL;

	for (int s = 0; s < k->n_stages; s++) {
		const struct stage *at = &k->stages[s];

		for (int i = 0; i < at->n_post; i++)
			if (at->post[i].kind == INST_STORE && at->post[i].at.buffer == buffer)
				return NULL;
		for (int i = 0; i < at->n_body; i++) {
			if (at->body[i].kind != INST_STORE || at->body[i].at.buffer != buffer)
				continue;
			if (found)
				return NULL;
			found = &at->body[i];
			*stage = s;
		}
	}
	return found;
}

static bool uses(const struct inst *i, int reg)
{
	return i->src[0] == reg || i->src[1] == reg || i->src[2] == reg;
}

/* The registers of a body that `reg` is made of, itself too. */
static bool *find_parts(const struct kernel *k, const struct stage *at, int reg)
{
	bool *part = calloc((size_t)k->n_regs + 1, sizeof(*part));

	if (!part)
		return NULL;
	part[reg] = true;
	for (int i = at->n_body - 1; i >= 0; i--)
		for (int a = 0; a < 3 && at->body[i].dst >= 0 && part[at->body[i].dst]; a++)
			if (at->body[i].src[a] >= 0)
				part[at->body[i].src[a]] = true;
	return part;
}

/* Whether every use of the element that is loaded goes into what is stored. */
static bool goes_into(const struct stage *at, int loaded, const struct inst *store,
		      const bool *part)
{
	for (int i = 0; i < at->n_body; i++) {
		const struct inst *user = &at->body[i];

		if (!uses(user, loaded) || user == store)
			continue;
		if (user->dst < 0 || user->kind == INST_REDUCE || !part[user->dst])
			return false;
	}
	for (int i = 0; i < at->n_post; i++)
		if (uses(&at->post[i], loaded))
			return false;
	return true;
}

static bool stage_allows(const struct stage *at, int in, const struct inst *store, bool here,
			 const bool *part)
{
	if (any_reads(at->post, at->n_post, in))
		return false;
	for (int i = 0; i < at->n_body; i++) {
		const struct inst *load = &at->body[i];

		if (!reads(load, in))
			continue;
		if (!inst_loads(load) || load->dtype != store->dtype ||
		    !same_place(&load->at, &store->at))
			return false;
		if (here && !goes_into(at, load->dst, store, part))
			return false;
	}
	return true;
}

/* Whether an operand lies row by row, from its buffer's first element on. */
static bool is_row_by_row(const struct access *at, const struct shape *shape)
{
	int64_t step = 1;

	if (!sym_is(at->offset, 0))
		return false;
	for (int d = shape->rank - 1; d >= 0; d--) {
		if (!sym_is_const(shape->size[d]) ||
		    (!sym_is(shape->size[d], 1) && !sym_is(at->stride[d], step)))
			return false;
		step *= shape->size[d]->value;
	}
	return true;
}

/* The same of a function that changes some elements of its first operand. */
static bool updates(const struct kernel *k, int in, int out)
{
	bool first = k->library && op_has(k->library->op, FACT_UPDATES) && k->arg_buffer[0] == in &&
		     k->out_buffer == out;

	for (int a = 1; a < MAX_ARGS; a++)
		first &= k->arg_buffer[a] != in;
	return first && is_row_by_row(&k->arg_at[0], &k->library->shape);
}

bool kernel_overwrites(const struct kernel *k, int in, int out)
{
	const struct inst *store;
	bool *part, ok = true;
	int stage = 0;

	if (k->form == FORM_LIBRARY && updates(k, in, out))
		return true;

	for (int a = 0; k->library && a < MAX_ARGS; a++)
		if (k->arg_buffer[a] == in)
			return false; /* read for other blocks */
	if (k->library && (in == k->out_buffer || out == k->out_buffer))
		return false; /* written first */
	store = k->form == FORM_LIBRARY ? NULL : store_of(k, out, &stage);
	if (!store || any_reads(k->setup, k->n_setup, in) ||
	    any_reads(k->prologue, k->n_prologue, in))
		return false;
	for (int s = stage + 1; s < k->n_stages; s++)
		if (any_reads(k->stages[s].body, k->stages[s].n_body, in))
			return false;
	part = find_parts(k, &k->stages[stage], store->src[0]);
	if (!part)
		return false; /* memory of its own is never wrong */
	for (int s = 0; s <= stage && ok; s++)
		ok = stage_allows(&k->stages[s], in, store, s == stage, part);
	free(part);
	return ok;
}
