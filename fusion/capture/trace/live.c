/* fusion/capture/trace/live.c -- liveness of locals, backwards over the instructions, and whether
 * they have a value, forwards. */
#include "fusion/capture/trace/trace.h"

#include <stdlib.h>
#include <string.h>

struct live_rows { /* by instruction: locals that are live before it */
	const struct code *code;
	bool *at;
};

static bool *row(const struct live_rows *r, int inst)
{
	return r->at + (size_t)inst * (size_t)r->code->n_locals;
}

static bool merge(const struct live_rows *r, bool *into, int from)
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
static bool update(const struct live_rows *r, int i, bool *scratch)
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

/* Whether the code may read any local by its name, in a text. */
static bool reads_by_name(const struct code *code)
{
	for (int i = 0; i < code->n_insts; i++) {
		const struct lang_inst *inst = &code->insts[i];

		if (inst->op == CODE_LOAD_GLOBAL && (strcmp(code->names[inst->arg], "eval") == 0 ||
						     strcmp(code->names[inst->arg], "locals") == 0))
			return true;
	}
	return false;
}

const bool *live_locals(const struct code *code, int inst, struct arena *arena)
{
	size_t n = (size_t)code->n_locals;
	struct live_rows r = { .code = code, .at = calloc((size_t)code->n_insts * n + 1, 1) };
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
	for (int i = 0; out && i < code->n_locals && reads_by_name(code); i++)
		out[i] = out[i] || !local_may_be_unset(code, inst, i);
	free(r.at);
	free(scratch);
	return out;
}

/* Notes that `inst` is reached without a value. */
static void reach(const struct code *code, bool *reached, int *stack, int *depth, int inst)
{
	if (inst < code->n_insts && !reached[inst]) {
		reached[inst] = true;
		stack[(*depth)++] = inst;
	}
}

static void reach_from(const struct code *code, bool *reached, int *stack, int *depth, int local)
{
	int i = stack[--*depth];
	const struct lang_inst *inst = &code->insts[i];

	for (int h = 0; h < code->n_handlers; h++)
		if (i >= code->handlers[h].start && i < code->handlers[h].end)
			reach(code, reached, stack, depth, code->handlers[h].target);
	if (inst->op == CODE_STORE_FAST && inst->arg == local)
		return;
	if (falls_through(inst->op))
		reach(code, reached, stack, depth, i + 1);
	if (jumps(inst->op))
		reach(code, reached, stack, depth, inst->arg);
}

bool local_may_be_unset(const struct code *code, int inst, int local)
{
	size_t n = (size_t)code->n_insts;
	bool *reached = calloc(n + 1, sizeof(*reached)), may;
	int *stack = malloc((n + 1) * sizeof(*stack)), depth = 0;
	int n_params = code->n_positional + code->n_keyword_only + code->has_varargs +
		       code->has_kwargs;

	for (int i = 0; reached && stack && i < code->n_insts; i++)
		if (code->insts[i].op == CODE_DELETE_FAST && code->insts[i].arg == local)
			reach(code, reached, stack, &depth, i + 1);
	if (reached && stack && local >= n_params)
		reach(code, reached, stack, &depth, 0);
	while (depth > 0)
		reach_from(code, reached, stack, &depth, local);
	may = !reached || !stack || reached[inst];
	free(reached);
	free(stack);
	return may;
}
