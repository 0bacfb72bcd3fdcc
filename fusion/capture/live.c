/* fusion/capture/live.c -- liveness of locals, backwards over the instructions. */
#include "fusion/capture/live.h"

#include <stdlib.h>
#include <string.h>

struct rows { /* by instruction: locals that are live before it */
	const struct code *code;
	bool *at;
};

static bool *row(const struct rows *r, int inst)
{
	return r->at + (size_t)inst * (size_t)r->code->n_locals;
}

static bool merge(const struct rows *r, bool *into, int from)
{
	const bool *add = row(r, from);
	bool changed = false;

	if (from >= r->code->n_insts)
		return false;
	for (int i = 0; i < r->code->n_locals; i++) {
		changed |= add[i] && !into[i];
		into[i] |= add[i];
	}
	return changed;
}

static bool falls_through(enum code_op op)
{
	return op != CODE_JUMP && op != CODE_RETURN && op != CODE_RAISE && op != CODE_RERAISE;
}

static bool jumps(enum code_op op)
{
	return op == CODE_JUMP || op == CODE_JUMP_IF_FALSE || op == CODE_JUMP_IF_TRUE ||
	       op == CODE_FOR_ITER;
}

/* One instruction; whether more is live before it than was known. */
static bool update(const struct rows *r, int i, bool *scratch)
{
	const struct lang_inst *inst = &r->code->insts[i];
	size_t bytes = sizeof(bool) * (size_t)r->code->n_locals;
	bool *before = row(r, i);
	bool changed;

	memset(scratch, 0, bytes);
	if (falls_through(inst->op))
		merge(r, scratch, i + 1);
	if (jumps(inst->op))
		merge(r, scratch, inst->arg);
	if (inst->op == CODE_STORE_FAST)
		scratch[inst->arg] = false;
	for (int h = 0; h < r->code->n_handlers; h++)
		if (i >= r->code->handlers[h].start && i < r->code->handlers[h].end)
			merge(r, scratch, r->code->handlers[h].target);
	if (inst->op == CODE_LOAD_FAST || inst->op == CODE_DELETE_FAST)
		scratch[inst->arg] = true;
	changed = memcmp(before, scratch, bytes) != 0;
	memcpy(before, scratch, bytes);
	return changed;
}

const bool *live_locals(const struct code *code, int inst, struct arena *arena)
{
	size_t n = (size_t)code->n_locals;
	struct rows r = { .code = code, .at = calloc((size_t)code->n_insts * n + 1, 1) };
	bool *out = ARENA_ARRAY(arena, bool, n + 1), *scratch = calloc(n + 1, 1);
	bool changed = r.at && out && scratch;

	while (changed) {
		changed = false;
		for (int i = code->n_insts - 1; i >= 0; i--)
			changed |= update(&r, i, scratch);
	}
	if (r.at && out && scratch && n)
		memcpy(out, row(&r, inst), n * sizeof(bool));
	else if (!r.at || !scratch)
		out = NULL;
	free(r.at);
	free(scratch);
	return out;
}
