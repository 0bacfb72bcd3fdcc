/* fusion/backends/plan/by_rows.c -- a MAP whose operands stand still for long is walked by
 * rows.
 *
 * What batch norm adds to a channel is one value for all of its pixels.  A MAP would fill a
 * tile with copies of it, point by point; as a ROWS that reduces nothing, the kernel loads it
 * once a row, and what it alone goes into is computed once a row too.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/plan/plan.h"

enum { LONG_ROW = 256, MANY_ROWS = 32 };

static int64_t hint(const struct lowered *l, const struct kernel *k, int from, int to)
{
	int64_t n = 1;

	for (int d = from; d < to; d++)
		n *= sym_hint(l->graph->syms, k->extent[d]);
	return n;
}

/* Whether a load is one element for the dims from `first` on, and not for all. */
static bool is_still(const struct kernel *k, const struct access *at, int first)
{
	bool moves = false;

	for (int d = 0; d < k->n_dims; d++) {
		if (d >= first && !sym_is(at->stride[d], 0))
			return false;
		moves |= !sym_is(at->stride[d], 0);
	}
	return moves;
}

/* The dim that rows begin with; 0: it is no kernel for this. */
static int first_of_row(const struct lowered *l, const struct kernel *k)
{
	const struct stage *s = k->stages;

	if (k->form != FORM_MAP || k->library || k->n_stages != 1)
		return 0;
	for (int i = 0; i < s->n_body; i++)
		if (s->body[i].kind != INST_OP && s->body[i].kind != INST_CAST &&
		    s->body[i].kind != INST_STORE && !inst_loads(&s->body[i]))
			return 0;
	for (int first = k->n_dims - 1; first > 0; first--)
		for (int i = 0; i < s->n_body; i++)
			if (s->body[i].kind == INST_LOAD && is_still(k, &s->body[i].at, first) &&
			    hint(l, k, first, k->n_dims) >= LONG_ROW)
				return hint(l, k, 0, first) >= MANY_ROWS ? first : 0;
	return 0;
}

/* Whether an instruction of the body has one value for a row. */
static bool is_of_row(const struct kernel *k, const struct inst *inst, int first)
{
	if (inst->kind == INST_LOAD)
		return is_still(k, &inst->at, first);
	for (int i = 0; i < 3; i++)
		if (inst->src[i] >= 0 && k->regs[inst->src[i]].level == LEVEL_POINT)
			return false;
	return inst->kind != INST_STORE;
}

bool kernel_by_rows(const struct lowered *l, const struct kernel *k, struct kernel **made)
{
	int first = first_of_row(l, k), n = first ? k->stages->n_body : 0;
	struct {
		struct kernel kernel;
		struct stage stage;
	} * rows;
	struct inst *inst;

	*made = NULL;
	if (!first)
		return true;
	rows = malloc(sizeof(*rows) + sizeof(*inst) * 2 * (size_t)n +
		      sizeof(*k->regs) * (size_t)k->n_regs);
	if (!rows)
		return false;
	inst = (struct inst *)(rows + 1);
	rows->kernel = *k;
	rows->kernel.form = FORM_ROWS;
	rows->kernel.n_outer = first;
	rows->kernel.prologue = inst;
	rows->kernel.stages = &rows->stage;
	rows->kernel.regs = memcpy(inst + 2 * n, k->regs, sizeof(*k->regs) * (size_t)k->n_regs);
	rows->stage = (struct stage){ .body = inst + n };
	for (int i = 0; i < n; i++) {
		const struct inst *at = &k->stages->body[i];

		if (is_of_row(&rows->kernel, at, first)) {
			rows->kernel.regs[at->dst].level = LEVEL_ROW;
			inst[rows->kernel.n_prologue++] = *at;
		} else {
			rows->stage.body[rows->stage.n_body++] = *at;
		}
	}
	*made = &rows->kernel;
	return true;
}
