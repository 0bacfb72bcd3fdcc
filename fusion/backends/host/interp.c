/* fusion/backends/host/interp.c -- the backend that compiles nothing.
 *
 * A part of a kernel becomes a program: a list of steps, each a ready-made loop
 * (simd/simd.h) over tiles in the first cache.  Loads and stores are no
 * steps where the neighbouring loop can use the caller's memory itself, so a
 * kernel of one op is that op's loop and nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/host/executable.h"
#include "fusion/backends/host/host.h"

enum {
	MAX_LOCATIONS = 1024,
	/* A tile of 8-byte elements; the rest spreads tiles over the cache's sets. */
	TEMP_BYTES = TILE_ELEMENTS * 8 + 128,
};

enum interp_step_kind {
	STEP_POINT,  /* dst = point(src...) */
	STEP_REDUCE, /* accumulator dst = reduce(src[0]) */
	STEP_FOLD,   /* COLS: accumulator dst joined by src[0] */
	STEP_SPLAT,  /* repeat the first `splat` bytes of dst */
};

struct interp_step {
	enum interp_step_kind kind;
	union {
		point_fn *point;
		reduce_fn *reduce;
		fold_fn *fold;
		splat_fn *spread;
	};
	int dst, src[3]; /* locations */
	unsigned splat;
};

struct program {
	int n_places, n_temps;
	int n_regs, *regs; /* registers above LEVEL_POINT that it names */
	int n_steps;
	struct interp_step *steps;
};

/* ---- from a part's instructions to steps
 *
 * A register of a body gets a location: a place where it is loaded from or
 * stored to, else a tile of scratch, which is used again once its last reader
 * is done.  Setup, prologue and post compute on one vector of equal lanes (or,
 * for columns, a tile) and leave their results in the registers' own memory.
 */

enum { MOST_TEMPS = 512 };

struct interp_builder {
	const struct plan *plan;
	const struct part *part;
	const struct kernel_table *kernels;
	bool splat_part; /* one value: the lanes are copies */
	int *location;   /* of each register, -1: none yet */
	int *last_use;   /* of each POINT register: an instruction */
	int *direct;     /* of each register: the place that it is computed into, -1 */
	int *place_of;   /* of each instruction, -1 */
	int *temp_reg;   /* of each scratch tile: the register that it holds, -1 */
	int n_temps;
	int *regs, n_regs; /* as in struct program */
	struct interp_step *steps;
	int n_steps;
	struct err *err;
};

static const struct reg *reg_at(const struct interp_builder *b, int r)
{
	return &b->plan->kernel->regs[r];
}

/* Scratch locations are counted from a base that is known at the end. */
enum { TEMP_BASE = 1 << 20, REG_BASE = 1 << 10 };

static int reg_location(struct interp_builder *b, int r)
{
	for (int i = 0; i < b->n_regs; i++)
		if (b->regs[i] == r)
			return REG_BASE + i;
	b->regs[b->n_regs] = r;
	return REG_BASE + b->n_regs++;
}

static int new_temp(struct interp_builder *b, int r)
{
	for (int i = 0; i < b->n_temps; i++)
		if (b->temp_reg[i] < 0) {
			b->temp_reg[i] = r;
			return TEMP_BASE + i;
		}
	if (b->n_temps == MOST_TEMPS) {
		err_set(b->err, ERR_UNSUPPORTED,
			"A fused kernel keeps more than %d values at once. Split the function.",
			MOST_TEMPS);
		return -1;
	}
	b->temp_reg[b->n_temps] = r;
	return TEMP_BASE + b->n_temps++;
}

/* Frees the tiles whose register is read for the last time at `inst`. */
static void release(struct interp_builder *b, int inst, bool same_bytes, size_t bytes)
{
	for (int i = 0; i < b->n_temps; i++) {
		int r = b->temp_reg[i];

		if (r >= 0 && b->last_use[r] <= inst &&
		    (!same_bytes || dtype_bytes(reg_at(b, r)->dtype) == bytes))
			b->temp_reg[i] = -1;
	}
}

static bool is_splat(const struct interp_builder *b, int r)
{
	const struct reg *reg = reg_at(b, r);

	return reg->level == LEVEL_ONE ||
	       (reg->level == LEVEL_ROW && b->plan->kernel->form == FORM_ROWS);
}

static int source(struct interp_builder *b, int r)
{
	if (reg_at(b, r)->level != LEVEL_POINT)
		return reg_location(b, r);
	return b->location[r];
}

static struct interp_step *add_step(struct interp_builder *b, enum interp_step_kind kind)
{
	struct interp_step *s = &b->steps[b->n_steps++];

	*s = (struct interp_step){ .kind = kind };
	return s;
}

static void add_copy(struct interp_builder *b, int dst, int src, enum dtype dtype, bool splat_src)
{
	struct interp_step *s = add_step(b, STEP_POINT);

	s->point = b->kernels->cast[dtype][dtype];
	s->dst = dst;
	s->src[0] = s->src[1] = s->src[2] = src;
	s->splat = splat_src;
}

/* Where the result of instruction i goes. */
static int destination(struct interp_builder *b, int i, int r)
{
	if (reg_at(b, r)->level != LEVEL_POINT)
		return reg_location(b, r);
	if (b->direct[r] >= 0) {
		b->location[r] = b->direct[r];
		return b->location[r];
	}
	release(b, i, true, dtype_bytes(reg_at(b, r)->dtype));
	b->location[r] = new_temp(b, r);
	return b->location[r];
}

static point_fn *point_of(const struct interp_builder *b, const struct inst *inst)
{
	int last = inst->src[2] >= 0 ? 2 : inst->src[1] >= 0 ? 1 : 0;

	if (inst->kind == INST_CAST)
		return b->kernels->cast[inst->dtype][reg_at(b, inst->src[0])->dtype];
	return b->kernels->point[inst->op][reg_at(b, inst->src[last])->dtype];
}

static bool add_point(struct interp_builder *b, int i, const struct inst *inst)
{
	struct interp_step s = { .kind = STEP_POINT, .point = point_of(b, inst) };
	bool narrow = inst->dtype == DTYPE_BOOL ||
		      (inst->kind == INST_CAST &&
		       dtype_bytes(reg_at(b, inst->src[0])->dtype) > dtype_bytes(inst->dtype));

	if (!s.point)
		return err_set(b->err, ERR_INTERNAL, "No kernel for %s of %s.",
			       op_info(inst->op)->id, dtype_name(reg_at(b, inst->src[0])->dtype));
	for (int k = 0; k < 3; k++) {
		int r = inst->src[k] >= 0 ? inst->src[k] : inst->src[0];

		s.src[k] = source(b, r);
		if (is_splat(b, r) && !b->splat_part)
			s.splat |= 1u << k;
	}
	s.dst = destination(b, i, inst->dst);
	b->steps[b->n_steps++] = s;
	if (b->splat_part && narrow) { /* its lanes do not fill the vector */
		struct interp_step *again = add_step(b, STEP_SPLAT);

		again->spread = b->kernels->splat;
		again->dst = s.dst;
		again->splat = (unsigned)dtype_bytes(inst->dtype);
	}
	return s.dst >= 0;
}

static bool add_store(struct interp_builder *b, int i, const struct inst *inst)
{
	int r = inst->src[0];

	if (reg_at(b, r)->level == LEVEL_POINT && b->location[r] == b->place_of[i])
		return true; /* computed into it */
	add_copy(b, b->place_of[i], source(b, r), inst->dtype, is_splat(b, r) && !b->splat_part);
	return true;
}

static bool add_reduce(struct interp_builder *b, int i, const struct inst *inst, int reduction)
{
	bool cols = b->plan->kernel->form == FORM_COLS;
	int src = source(b, inst->src[0]);
	struct interp_step *s;

	if (is_splat(b, inst->src[0])) { /* one value, but n times */
		int tile = new_temp(b, inst->src[0]);

		if (tile < 0)
			return false;
		add_copy(b, tile, src, inst->dtype, true);
		b->temp_reg[tile - TEMP_BASE] = -1;
		src = tile;
	}
	s = add_step(b, cols ? STEP_FOLD : STEP_REDUCE);
	if (cols)
		s->fold = b->kernels->fold[inst->op][inst->dtype];
	else
		s->reduce = b->kernels->reduce[inst->op][inst->dtype];
	s->dst = reduction;
	s->src[0] = src;
	(void)i;
	return true;
}

static void load(struct interp_builder *b, int i, const struct inst *inst)
{
	if (reg_at(b, inst->dst)->level == LEVEL_POINT)
		b->location[inst->dst] = b->place_of[i];
	else
		add_copy(b, reg_location(b, inst->dst), b->place_of[i], inst->dtype, false);
}

static bool add_inst(struct interp_builder *b, int i, int *reductions)
{
	const struct inst *inst = &b->part->insts[i];

	switch (inst->kind) {
	case INST_IMM:
		return true; /* plan_bind() has written it */
	case INST_LOAD:
	case INST_RESTORE:
		load(b, i, inst);
		return true;
	case INST_STORE:
	case INST_SAVE:
		return add_store(b, i, inst);
	case INST_REDUCE:
		return add_reduce(b, i, inst, (*reductions)++);
	default:
		return add_point(b, i, inst);
	}
}

/* Last readers; and who may be computed into the place where it is stored: a
 * result that is read again is read from there. */
static void scan(struct interp_builder *b)
{
	const struct part *part = b->part;
	int place = 0;

	for (int i = 0; i < part->n; i++) {
		const struct inst *inst = &part->insts[i];
		bool store = inst->kind == INST_STORE || inst->kind == INST_SAVE;

		b->place_of[i] = -1;
		if (store || inst->kind == INST_LOAD || inst->kind == INST_RESTORE)
			b->place_of[i] = place++;
		for (int k = 0; k < 3; k++)
			if (inst->src[k] >= 0)
				b->last_use[inst->src[k]] = i;
		if (store && b->direct[inst->src[0]] < 0)
			b->direct[inst->src[0]] = b->place_of[i];
	}
}

static int final_location(const struct interp_builder *b, int location)
{
	if (location >= TEMP_BASE)
		return b->part->n_places + b->n_regs + (location - TEMP_BASE);
	if (location >= REG_BASE)
		return b->part->n_places + (location - REG_BASE);
	return location;
}

static struct program *finish(struct interp_builder *b)
{
	size_t steps = sizeof(struct interp_step) * (size_t)b->n_steps;
	size_t regs = sizeof(int) * (size_t)b->n_regs;
	struct program *p;

	if (b->part->n_places + b->n_regs + b->n_temps > MAX_LOCATIONS) {
		err_set(b->err, ERR_UNSUPPORTED,
			"A fused kernel names more than %d values. Split the function.",
			MAX_LOCATIONS);
		return NULL;
	}
	p = malloc(sizeof(*p) + steps + regs);
	if (!p) {
		err_set(b->err, ERR_MEMORY, "The system has no memory left for a program.");
		return NULL;
	}
	*p = (struct program){ .n_places = b->part->n_places,
			       .n_temps = b->n_temps,
			       .n_regs = b->n_regs,
			       .n_steps = b->n_steps };
	p->steps = (struct interp_step *)(p + 1);
	p->regs = (int *)(p->steps + b->n_steps);
	memcpy(p->regs, b->regs, regs);
	for (int i = 0; i < b->n_steps; i++) {
		struct interp_step s = b->steps[i];

		if (s.kind == STEP_POINT || s.kind == STEP_SPLAT)
			s.dst = final_location(b, s.dst);
		for (int k = 0; k < 3; k++)
			s.src[k] = final_location(b, s.src[k]);
		p->steps[i] = s;
	}
	return p;
}

/* One block of memory, to be freed.  NULL with MEMORY, UNSUPPORTED or INTERNAL. */
static struct program *program_create(const struct plan *plan, int index,
				      const struct kernel_table *kernels, struct err *err)
{
	const struct part *part = &plan->parts[index];
	size_t n_regs = (size_t)plan->kernel->n_regs + 1, n = (size_t)part->n + 1;
	struct interp_builder b = { .plan = plan, .part = part, .kernels = kernels, .err = err };
	struct program *p = NULL;
	int reductions = 0, *ints = malloc(sizeof(int) * (4 * n_regs + n + MOST_TEMPS));

	b.steps = malloc(sizeof(*b.steps) * n * 2);
	if (!ints || !b.steps) {
		err_set(err, ERR_MEMORY, "The system has no memory left for a program.");
		goto done;
	}
	memset(ints, -1, sizeof(int) * (4 * n_regs + n + MOST_TEMPS));
	b.location = ints;
	b.last_use = ints + n_regs;
	b.direct = ints + 2 * n_regs;
	b.regs = ints + 3 * n_regs;
	b.place_of = ints + 4 * n_regs;
	b.temp_reg = ints + 4 * n_regs + n;
	b.splat_part = !part->body && (plan->kernel->form != FORM_COLS || index == PART_SETUP);
	scan(&b);
	for (int i = 0; i < part->n; i++) {
		if (!add_inst(&b, i, &reductions))
			goto done;
		release(&b, i, false, 0);
	}
	p = finish(&b);
done:
	free(ints);
	free(b.steps);
	return p;
}

/* ---- the backend */

/* Locations: the part's places, then the registers that it names, then scratch. */
static void run(const void *code, const struct tile *t)
{
	const struct program *p = code;
	void *loc[MAX_LOCATIONS];
	int n = p->n_places;

	for (int i = 0; i < n; i++)
		loc[i] = t->at[i];
	for (int i = 0; i < p->n_regs; i++)
		loc[n + i] = t->reg[p->regs[i]];
	n += p->n_regs;
	for (int i = 0; i < p->n_temps; i++)
		loc[n + i] = (char *)t->scratch + i * TEMP_BYTES;
	for (int i = 0; i < p->n_steps; i++) {
		const struct interp_step *s = &p->steps[i];

		switch (s->kind) {
		case STEP_POINT:
			s->point(loc[s->dst], loc[s->src[0]], loc[s->src[1]], loc[s->src[2]], t->n,
				 s->splat);
			break;
		case STEP_REDUCE:
			s->reduce(t->acc[s->dst], loc[s->src[0]], t->n);
			break;
		case STEP_FOLD:
			s->fold(t->acc[s->dst], loc[s->src[0]], t->n, t->width);
			break;
		case STEP_SPLAT:
			s->spread(loc[s->dst], loc[s->dst], s->splat);
			break;
		}
	}
}

/* Fills the plans' code with interpreted programs; for kernels [first, last). */
static bool prepare(struct executable *exe, struct err *err)
{
	int n = 0;

	for (int k = 0; k < exe->lowered->n_kernels; k++)
		n += exe->plans[k] ? exe->plans[k]->n_parts : 0;
	exe->programs = calloc((size_t)n + 1, sizeof(*exe->programs));
	if (!exe->programs)
		return err_set(err, ERR_MEMORY, "The system has no memory left for a program.");
	for (int k = 0; k < exe->lowered->n_kernels; k++) {
		struct plan *plan = exe->plans[k];

		for (int i = 0; plan && i < plan->n_parts; i++) {
			struct program *program = program_create(plan, i, exe->kernels, err);

			if (!program)
				return false;
			exe->programs[exe->n_programs++] = program;
			plan->code[i] = (struct tile_code){
				.run = run,
				.code = program,
				.scratch_bytes = (size_t)program->n_temps * TEMP_BYTES,
			};
		}
	}
	return true;
}

struct executable *interp_compile(const struct backend_env *env, const struct lowered *l,
				  struct compile_stats *stats, struct err *err)
{
	struct executable *exe = executable_create(env, l, err);

	if (stats)
		*stats = (struct compile_stats){ 0 };
	if (exe && !prepare(exe, err)) {
		executable_destroy(exe);
		return NULL;
	}
	return exe;
}
