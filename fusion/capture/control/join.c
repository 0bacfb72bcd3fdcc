/* fusion/capture/control/join.c -- post-dominators of one code object.
 *
 * An instruction post-dominates another if every way from that one to a RETURN
 * leads over it.  Those of an instruction form a chain; the next one is where
 * the sides of a branch join.  Ways that raise count for nothing.
 */
#include "fusion/capture/control/join.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct sets { /* by instruction: its post-dominators, as bits; one more is set: no way out */
	const struct code *code;
	uint64_t *at;
	size_t words;
};

static uint64_t *row(const struct sets *s, int inst)
{
	return s->at + (size_t)inst * s->words;
}

static bool has(const struct sets *s, int inst, int other)
{
	return row(s, inst)[other / 64] >> (other % 64) & 1;
}

static void meet(const struct sets *s, uint64_t *into, int successor)
{
	if (successor >= s->code->n_insts)
		return;
	for (size_t w = 0; w < s->words; w++)
		into[w] &= row(s, successor)[w];
}

/* The set before an instruction, from those behind it. */
static bool update(const struct sets *s, int i, uint64_t *scratch)
{
	const struct lang_inst *inst = &s->code->insts[i];
	size_t bytes = s->words * sizeof(uint64_t);
	bool changed;

	memset(scratch, inst->op == CODE_RETURN ? 0 : 0xff, bytes);
	if (inst->op == CODE_JUMP || inst->op == CODE_JUMP_IF_FALSE ||
	    inst->op == CODE_JUMP_IF_TRUE || inst->op == CODE_FOR_ITER)
		meet(s, scratch, inst->arg);
	if (inst->op != CODE_JUMP && inst->op != CODE_RETURN && inst->op != CODE_RAISE &&
	    inst->op != CODE_RERAISE)
		meet(s, scratch, i + 1);
	scratch[i / 64] |= (uint64_t)1 << (i % 64);
	changed = memcmp(row(s, i), scratch, bytes) != 0;
	memcpy(row(s, i), scratch, bytes);
	return changed;
}

static int count(const struct sets *s, int inst)
{
	int n = 0;

	for (size_t w = 0; w < s->words; w++)
		n += __builtin_popcountll(row(s, inst)[w]);
	return n;
}

/* The nearest: whose own chain is the longest. */
static int nearest(const struct sets *s, int inst)
{
	int best = -1, most = 0;

	for (int i = 0; i < s->code->n_insts; i++) {
		if (i == inst || !has(s, inst, i) || count(s, i) <= most)
			continue;
		best = i;
		most = count(s, i);
	}
	return best;
}

static bool no_way_out(const struct sets *s, int inst)
{
	return inst >= s->code->n_insts || has(s, inst, s->code->n_insts);
}

static void settle(const struct sets *s, uint64_t *scratch)
{
	bool changed = true;

	memset(s->at, 0xff, (size_t)s->code->n_insts * s->words * sizeof(uint64_t));
	while (changed) {
		changed = false;
		for (int i = s->code->n_insts - 1; i >= 0; i--)
			changed |= update(s, i, scratch);
	}
}

static void describe(const struct sets *s, int inst, bool *stops, struct join *out)
{
	int sides[2] = { inst + 1, s->code->insts[inst].arg };

	for (int i = 0; i < 2; i++)
		out->raises[i] = no_way_out(s, sides[i]);
	out->at = no_way_out(s, inst) ? -1 : nearest(s, inst);
	out->stops = stops;
	for (int i = 0; i < s->code->n_insts; i++)
		stops[i] = i == out->at || s->code->insts[i].op == CODE_RETURN ||
			   s->code->insts[i].op == CODE_YIELD;
}

bool join_find(const struct code *code, int inst, struct arena *arena, struct join *out)
{
	struct sets s = { .code = code, .words = (size_t)code->n_insts / 64 + 1 };
	bool *stops = ARENA_ARRAY(arena, bool, (size_t)code->n_insts);
	uint64_t *scratch;

	if (code->n_insts > JOIN_MAX_INSTS || !stops)
		return false;
	s.at = malloc((size_t)code->n_insts * s.words * sizeof(uint64_t));
	scratch = malloc(s.words * sizeof(uint64_t));
	if (s.at && scratch) {
		settle(&s, scratch);
		describe(&s, inst, stops, out);
	}
	free(scratch);
	free(s.at);
	return s.at && scratch;
}
