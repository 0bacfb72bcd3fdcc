/* fusion/backends/host/emit_schedule.c -- cuts a part into loops.
 *
 * A loop has one lane width and calls the math library at most once: the call
 * spills all vector registers, and loops with one call overlap better in the
 * processor than a chain of calls does.  Cheap instructions join the loop at
 * hand.  What a later loop needs goes through a tile of scratch.
 *
 * Chains of dependent instructions are cut as well: the processor's schedulers
 * hold some hundred operations, and of long chains too few run side by side
 * (30 adds, muls and relus: 0.68 ms cut at 8, 1.25 ms in one loop, Zen 3).
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/host/emit.h"

enum { DEEPEST = 8 };

static enum dtype reg_dtype(const struct schedule *s, int r)
{
	return s->plan->kernel->regs[r].dtype;
}

static int lane_width(enum dtype dtype)
{
	return dtype == DTYPE_BOOL ? 0 : (int)dtype_bytes(dtype_wide(dtype));
}

/* The lane width that an instruction needs; 0: any. */
static int width_of(const struct schedule *s, const struct inst *inst)
{
	int last = inst->src[2] >= 0 ? 2 : inst->src[1] >= 0 ? 1 : 0;
	int to = lane_width(inst->dtype), from;

	switch (inst->kind) {
	case INST_OP:
		return lane_width(reg_dtype(s, inst->src[last]));
	case INST_CAST:
		from = lane_width(reg_dtype(s, inst->src[0]));
		return from > to ? from : to;
	default:
		return to;
	}
}

static bool is_sink(const struct inst *inst)
{
	return inst->kind == INST_STORE || inst->kind == INST_SAVE || inst->kind == INST_REDUCE;
}

/* How long a chain of dependent instructions would end with inst in the loop. */
static int depth_in(const struct schedule *s, const struct inst *inst, const struct emit_loop *loop)
{
	int depth = 1;

	for (int k = 0; k < 3; k++) {
		int def = inst->src[k] >= 0 ? s->def[inst->src[k]] : -1;

		if (def >= 0 && s->loop_of[def] == (int)(loop - s->loops) && s->depth[def] >= depth)
			depth = s->depth[def] + 1;
	}
	return is_sink(inst) ? 0 : depth;
}

static bool fits(const struct schedule *s, const struct inst *inst, const struct emit_loop *loop)
{
	int width = width_of(s, inst);
	bool heavy = inst->kind == INST_OP && op_info(inst->op)->transcendental;

	if ((heavy && loop->heavy) || depth_in(s, inst, loop) > DEEPEST)
		return false;
	if (width == 0 || loop->width == 0 || width == loop->width)
		return true;
	/* Floats may be written from a loop of doubles. */
	return loop->width == 8 && width == 4 && is_sink(inst) && inst->dtype == DTYPE_F32 &&
	       inst->kind != INST_REDUCE;
}

/* The loop for instruction i: stores and reductions go where their value is
 * made, all else to the last one. */
static int choose_loop(struct schedule *s, int i)
{
	const struct inst *inst = &s->part->insts[i];

	if (is_sink(inst) && s->def[inst->src[0]] >= 0) {
		int home = s->loop_of[s->def[inst->src[0]]];

		if (home >= 0 && fits(s, inst, &s->loops[home]))
			return home;
	}
	if (s->n_loops > 0 && fits(s, inst, &s->loops[s->n_loops - 1]))
		return s->n_loops - 1;
	s->loops[s->n_loops] = (struct emit_loop){ 0 };
	return s->n_loops++;
}

/* COLS: whether the reductions go into the one loop of a body that stores nothing; then it
 * runs down the points of some columns, whose sums stay in registers. */
static bool folds_in_loop(struct schedule *s)
{
	const struct part *part = s->part;
	int width = 0;

	if (s->plan->kernel->form != FORM_COLS || s->plan->kernel->pairs || !part->body ||
	    part->n_reduces == 0 || s->n_loops > 1)
		return false;
	for (int i = 0; i < part->n; i++) {
		const struct inst *inst = &part->insts[i];
		int own = (int)dtype_bytes(inst->dtype);

		if (inst->kind == INST_STORE || inst->kind == INST_SAVE)
			return false;
		if (inst->kind != INST_REDUCE)
			continue;
		if (inst->dtype == DTYPE_BOOL || (width != 0 && own != width))
			return false;
		width = own;
	}
	if (s->n_loops == 0)
		s->loops[s->n_loops++] = (struct emit_loop){ 0 };
	if (s->loops[0].width != 0 && s->loops[0].width != width)
		return false;
	s->loops[0].width = width;
	for (int i = 0; i < part->n; i++)
		if (part->insts[i].kind == INST_REDUCE)
			s->loop_of[i] = 0;
	return true;
}

static void assign_loops(struct schedule *s)
{
	bool cols = s->plan->kernel->form == FORM_COLS;
	int place = 0, reduction = 0;

	for (int i = 0; i < s->part->n; i++) {
		const struct inst *inst = &s->part->insts[i];
		bool load = inst->kind == INST_LOAD || inst->kind == INST_RESTORE;
		struct emit_loop *loop;
		int width;

		if (load || inst->kind == INST_STORE || inst->kind == INST_SAVE)
			s->place_of[i] = place++;
		if (inst->dst >= 0)
			s->def[inst->dst] = i;
		if (inst->kind == INST_REDUCE)
			s->reduction[i] = reduction++;
		if (inst->kind == INST_IMM || (inst->kind == INST_REDUCE && cols))
			continue;
		if (load && s->plan->kernel->regs[inst->dst].level == LEVEL_POINT)
			continue; /* read where it is used */
		s->loop_of[i] = choose_loop(s, i);
		loop = &s->loops[s->loop_of[i]];
		width = width_of(s, inst);
		if (loop->width == 0)
			loop->width = width;
		loop->heavy |= inst->kind == INST_OP && op_info(inst->op)->transcendental;
		loop->reduces |= inst->kind == INST_REDUCE;
		s->depth[i] = depth_in(s, inst, loop);
		loop->n++;
	}
	s->folds = folds_in_loop(s);
	for (int l = 0; l < s->n_loops; l++)
		if (s->loops[l].width == 0)
			s->loops[l].width = 1;
}

/* The last loop that reads register r from memory; -1: none but its own. */
static int last_reader(const struct schedule *s, int r)
{
	int home = s->loop_of[s->def[r]], last = -1;

	for (int i = 0; i < s->part->n; i++) {
		const struct inst *inst = &s->part->insts[i];
		int loop = inst->kind == INST_REDUCE && s->loop_of[i] < 0 ? s->n_loops
									  : s->loop_of[i];

		for (int k = 0; k < 3; k++)
			if (inst->src[k] == r && loop != home && loop > last)
				last = loop;
	}
	return last;
}

/* Scratch for values that cross loops; a tile is free again in the loop after
 * its last reader. */
static void assign_temps(struct schedule *s)
{
	int *busy_until = s->busy_until;

	for (int i = 0; i < s->part->n; i++) {
		const struct inst *inst = &s->part->insts[i];
		int r = inst->dst;

		if ((inst->kind == INST_STORE || inst->kind == INST_SAVE) &&
		    s->def[inst->src[0]] >= 0 && s->memory_at[inst->src[0]] < 0 &&
		    s->loop_of[i] == s->loop_of[s->def[inst->src[0]]])
			s->memory_at[inst->src[0]] = s->place_of[i];
		if (s->place_of[i] >= 0 && r >= 0)
			s->memory_at[r] = s->place_of[i];
	}
	for (int i = 0; i < s->part->n; i++) {
		int r = s->part->insts[i].dst, last, t = 0;
		size_t size;

		if (r < 0 || s->loop_of[i] < 0 || s->memory_at[r] >= 0 ||
		    s->plan->kernel->regs[r].level != LEVEL_POINT)
			continue;
		last = last_reader(s, r);
		if (last < 0)
			continue;
		size = dtype_bytes(reg_dtype(s, r));
		while (t < s->n_temps &&
		       (busy_until[t] >= s->loop_of[i] || s->temp_bytes[t] != size))
			t++;
		if (t == s->n_temps) {
			s->temp_offset[s->n_temps] = s->scratch_bytes;
			s->temp_bytes[s->n_temps++] = size;
			/* The rest spreads tiles over the cache's sets. */
			s->scratch_bytes += size * TILE_ELEMENTS + 128;
		}
		busy_until[t] = last;
		s->temp[r] = t;
	}
}

bool schedule_part(struct schedule *s, const struct plan *plan, const struct part *part)
{
	size_t n = (size_t)part->n, regs = (size_t)plan->kernel->n_regs;
	size_t ints = 6 * n + 3 * regs;

	*s = (struct schedule){ .plan = plan, .part = part };
	s->memory = malloc(sizeof(int) * (ints + 1));
	s->loops = calloc(n + 1, sizeof(*s->loops));
	s->temp_offset = calloc(2 * n + 1, sizeof(*s->temp_offset));
	if (!s->memory || !s->loops || !s->temp_offset)
		return false;
	memset(s->memory, -1, sizeof(int) * (ints + 1));
	s->loop_of = s->memory;
	s->place_of = s->memory + n;
	s->reduction = s->memory + 2 * n;
	s->depth = s->memory + 3 * n;
	s->def = s->memory + 4 * n;
	s->memory_at = s->def + regs;
	s->temp = s->memory_at + regs;
	s->busy_until = s->temp + regs;
	s->temp_bytes = s->temp_offset + n;
	assign_loops(s);
	assign_temps(s);
	return true;
}
