/* fusion/lower/schedule.c -- what a kernel computes in which stage.
 *
 * A stage is one walk over the row.  A value for each point that a later stage
 * needs again is recomputed there when that is cheap; else it is kept in a
 * slot, or read back from the buffer where it was stored anyway.
 *
 * An instruction goes where its sources allow: setup if all of them are the
 * same for the launch, prologue or a post if they are the same for the row.  So
 * `x * (g + 1)` with a 0-d g adds once a launch, whatever the node's shape says.
 */
#include "fusion/lower/build.h"

#include <string.h>
#include "fusion/base/bits.h"
#include "fusion/graph/view.h"

/* ---- instructions for one node: each function appends what is missing, with strides over
 * the dims of the domain, and returns the register */

static inst_list *list_of(struct build *b, struct home home)
{
	switch (home.level) {
	case LEVEL_ONE:
		return &b->setup;
	case LEVEL_ROW:
		return home.stage < 0 ? &b->prologue : &b->post[home.stage];
	default:
		return &b->body[home.stage];
	}
}

static void append(struct build *b, inst_list *list, const struct inst *inst)
{
	if (!VEC_PUSH(list, *inst))
		b->failed = true;
}

static struct inst blank(enum inst_kind kind, enum dtype dtype)
{
	return (struct inst){ .kind = kind,
			      .dtype = dtype,
			      .dst = -1,
			      .src = { -1, -1, -1 },
			      .at = { .buffer = -1 },
			      .slot = -1,
			      .node = -1 };
}

static int new_reg(struct build *b, enum dtype dtype, struct home home)
{
	if (!VEC_PUSH(&b->regs, (struct reg_info){ dtype, home, -1, dtype }))
		b->failed = true;
	return (int)b->regs.len - 1;
}

/* The later of two homes. */
static struct home later(struct home x, struct home y)
{
	if (x.level != y.level)
		return x.level > y.level ? x : y;
	return x.stage > y.stage ? x : y;
}

/* Whether a register can be read in the body or the post of a stage. */
static bool readable(const struct build *b, int reg, int stage)
{
	if (reg < 0)
		return false;
	const struct home *home = &b->regs.at[reg].home;
	return home->level != LEVEL_POINT || home->stage == stage;
}

/* What a conversion does not change is not converted back: y, wide, of a narrow x holds what
 * x does, and y, narrow, of a wide x that holds no more. */
static void note_same(struct build *b, int x, int y)
{
	struct reg_info *from = &b->regs.at[x], *to = &b->regs.at[y];

	if (dtype_category(from->dtype) != CATEGORY_FLOAT ||
	    dtype_category(to->dtype) != CATEGORY_FLOAT)
		return;
	if (from->dtype != to->dtype && dtype_wide(from->dtype) == to->dtype)
		to->kept = from->dtype;
	else if (from->kept == to->dtype)
		to->wide = x;
}

/* One conversion, which a backend has: see lower.h. */
static int emit_step(struct build *b, int src, enum dtype want, int node)
{
	if (src < 0 || b->failed || b->regs.at[src].dtype == want)
		return src;
	if (b->regs.at[src].wide >= 0 && b->regs.at[b->regs.at[src].wide].dtype == want)
		return b->regs.at[src].wide;
	struct home home = b->regs.at[src].home;
	inst_list *list = list_of(b, home);
	for (size_t i = list->len; i-- > 0;)
		if (list->at[i].kind == INST_CAST && list->at[i].src[0] == src &&
		    list->at[i].dtype == want)
			return list->at[i].dst;
	struct inst inst = blank(INST_CAST, want);
	inst.src[0] = src;
	inst.node = node;
	inst.dst = new_reg(b, want, home);
	append(b, list, &inst);
	if (!b->failed)
		note_same(b, src, inst.dst);
	return inst.dst;
}

/* Narrow dtypes are reached from the wide one of their kind, and left to it. */
static int emit_cast(struct build *b, int src, enum dtype want, int node)
{
	if (src < 0 || b->failed || b->regs.at[src].dtype == want)
		return src;
	src = emit_step(b, src, dtype_wide(b->regs.at[src].dtype), node);
	src = emit_step(b, src, dtype_wide(want), node);
	return emit_step(b, src, want, node);
}

static int emit_imm(struct build *b, struct inst imm)
{
	for (size_t i = 0; i < b->setup.len; i++) {
		const struct inst *at = &b->setup.at[i];
		if (at->kind == INST_IMM && at->dtype == imm.dtype && at->imm_i == imm.imm_i &&
		    same_double(at->imm_f, imm.imm_f) && at->sym == imm.sym && at->real == imm.real)
			return at->dst;
	}
	imm.dst = new_reg(b, imm.dtype, (struct home){ LEVEL_ONE, -1 });
	append(b, &b->setup, &imm);
	return imm.dst;
}

/* A float cut off as a cast does it; what does not fit is INT64_MIN. */
static int64_t to_int(double f)
{
	return f > -9223372036854775808.0 && f < 9223372036854775808.0 ? (int64_t)f : INT64_MIN;
}

static struct inst imm_of(enum dtype dtype, double f, int64_t i, bool is_float)
{
	struct inst imm = blank(INST_IMM, dtype);
	switch (dtype_category(dtype)) {
	case CATEGORY_FLOAT:
		imm.imm_f = is_float ? f : (double)i;
		if (dtype == DTYPE_F32)
			imm.imm_f = is_float ? (float)f : (float)i;
		break;
	case CATEGORY_INT:
		imm.imm_i = is_float ? to_int(f) : i;
		break;
	case CATEGORY_BOOL:
		imm.imm_i = is_float ? f != 0 : i != 0;
		break;
	}
	return imm;
}

static int emit_real(struct build *b, const struct arg *arg, enum dtype want)
{
	struct inst imm = blank(INST_IMM,
				dtype_category(want) == CATEGORY_FLOAT ? want : DTYPE_F64);

	imm.sym = arg->sym;
	imm.real = true;
	return emit_cast(b, emit_imm(b, imm), want, -1);
}

static int emit_scalar(struct build *b, const struct arg *arg, enum dtype want)
{
	switch (arg->kind) {
	case ARG_FLOAT:
		return emit_imm(b, imm_of(want, arg->f, 0, true));
	case ARG_REAL:
		return emit_real(b, arg, want);
	case ARG_BOOL:
		return emit_imm(b, imm_of(want, 0, arg->b, false));
	default:
		break;
	}
	if (sym_is_const(arg->sym))
		return emit_imm(b, imm_of(want, 0, arg->sym->value, false));
	struct inst imm = blank(INST_IMM, want);
	imm.sym = arg->sym;
	return emit_imm(b, imm);
}

/* A constant of one element. */
static int emit_element(struct build *b, const struct node *n, enum dtype wide)
{
	if (dtype_category(wide) == CATEGORY_FLOAT)
		return emit_imm(b, imm_of(wide, dtype_get_double(n->dtype, n->data, 0), 0, true));
	return emit_imm(b, imm_of(wide, 0, dtype_get_int(n->dtype, n->data, 0), false));
}

static int fill_zero(struct build *b, const struct node *n, enum dtype wide)
{
	(void)n;
	return emit_imm(b, imm_of(wide, 0, 0, false));
}

static int fill_one(struct build *b, const struct node *n, enum dtype wide)
{
	(void)n;
	return emit_imm(b, imm_of(wide, 0, 1, false));
}

static int fill_value(struct build *b, const struct node *n, enum dtype wide)
{
	return emit_scalar(b, &n->args[1], wide);
}

/* Column `element` of ops.def. */
static int (*const fills[OP_COUNT])(struct build *b, const struct node *n, enum dtype wide) = {
#define CREATE(id, spellings, signature, doc, infer, element, ...) [OP_##id] = fill_##element,
#include "fusion/graph/ops_some.h"
};

static int emit_fill(struct build *b, const struct node *n)
{
	enum dtype wide = dtype_wide(n->dtype);
	int reg;

	reg = fills[n->op] ? fills[n->op](b, n, wide) : emit_element(b, n, wide);
	return emit_cast(b, reg, n->dtype, n->id);
}

/* Strides over the dims of the domain, for now; space.c makes the kernel's. */
static struct access access_of(struct build *b, const struct node *n, const int8_t map[MAX_RANK])
{
	struct access own = build_access(b, n->id), at = own;
	for (int d = 0; d < MAX_RANK; d++)
		at.stride[d] = b->zero;
	for (int d = 0; own.buffer >= 0 && d < n->shape.rank; d++)
		if (map[d] >= 0)
			at.stride[map[d]] = own.stride[d];
	return at;
}

static int emit_load(struct build *b, const struct node *n, const int8_t map[MAX_RANK], int stage)
{
	struct node_state *s = &b->state[n->id];
	if (readable(b, s->reg, stage) && memcmp(s->map, map, (size_t)n->shape.rank) == 0)
		return s->reg;
	uint32_t dims = domain_place_dims(n, map), reduced = b->domain.reduced;
	struct home home = { LEVEL_ONE, -1 };
	if (dims & reduced || (dims && !reduced))
		home = (struct home){ LEVEL_POINT, stage };
	else if (dims)
		home.level = LEVEL_ROW;
	struct inst inst = blank(INST_LOAD, n->dtype);
	inst.at = access_of(b, n, map);
	inst.node = n->id;
	inst.dst = new_reg(b, n->dtype, home);
	append(b, list_of(b, home), &inst);
	s->reg = inst.dst;
	memcpy(s->map, map, sizeof(s->map));
	return inst.dst;
}

static int emit_operand(struct build *b, const struct node *n, int arg, enum dtype want, int stage)
{
	if (n->args[arg].kind != ARG_NODE)
		return emit_scalar(b, &n->args[arg], want);
	const struct node *operand = b->g->nodes[n->args[arg].node];
	struct node_state *s = &b->state[operand->id];
	int reg;

	const struct node *base = b->g->nodes[view_base(b->g, operand->id)];
	if (b->state[base->id].constant) {
		reg = emit_fill(b, base);
	} else if (b->group[operand->id] == b->kernel) {
		reg = s->reg;
	} else {
		int8_t map[MAX_RANK] = { 0 };
		domain_place_operand(n, &b->places[n->id], operand, map);
		reg = emit_load(b, operand, map, stage);
	}
	return emit_cast(b, reg, want, n->id);
}

/* Bools have no arithmetic of their own: it is done in int64. */
static enum dtype compute_dtype(const struct node *n)
{
	if (op_info(n->op)->rule == RULE_LOGIC)
		return DTYPE_BOOL;
	if (n->compute != DTYPE_BOOL)
		return dtype_wide(n->compute);
	return op_has(n->op, FACT_ON_BOOLS) ? DTYPE_BOOL : DTYPE_I64;
}

/* Whether each value of its result is one of its operands', up to the sign. */
static bool chooses(enum op op)
{
	return op == OP_neg || op == OP_abs || op == OP_relu || op == OP_where ||
	       op == OP_maximum || op == OP_minimum;
}

/* The narrow dtype of n that holds all that the operands of `inst` do; `other`: none. */
static enum dtype kept_of(const struct build *b, const struct inst *inst, enum dtype narrow,
			  enum dtype other)
{
	for (int i = inst->op == OP_where; i < 3 && inst->src[i] >= 0; i++)
		if (b->regs.at[inst->src[i]].kept != narrow)
			return other;
	return narrow;
}

static int emit_pointwise(struct build *b, const struct node *n, int stage)
{
	if (n->op == OP_to || n->op == OP_clone || n->op == OP_contiguous)
		return emit_operand(b, n, 0, n->dtype, stage);

	enum dtype compute = compute_dtype(n);
	enum dtype result = dtype_wide(n->dtype);
	if (compute == DTYPE_I64 && n->compute == DTYPE_BOOL && op_info(n->op)->rule == RULE_SAME)
		result = compute;
	struct home home = { LEVEL_ONE, -1 };
	struct inst inst = blank(INST_OP, result);
	int count = 0;
	for (int i = 0; i < n->n_args && count < 3; i++) {
		if (n->args[i].kind == ARG_NONE)
			continue;
		bool mask = n->op == OP_where && i == 0;
		int src = emit_operand(b, n, i, mask ? DTYPE_BOOL : compute, stage);
		if (src < 0 || b->failed)
			return -1;
		inst.src[count++] = src;
		home = later(home, b->regs.at[src].home);
	}
	inst.op = n->op;
	inst.node = n->id;
	inst.dst = new_reg(b, result, home);
	append(b, list_of(b, home), &inst);
	if (!b->failed && chooses(n->op) && result == dtype_wide(n->dtype))
		b->regs.at[inst.dst].kept = kept_of(b, &inst, n->dtype, result);
	return emit_cast(b, inst.dst, n->dtype, n->id);
}

static int emit_reduction(struct build *b, const struct node *n, int stage)
{
	enum dtype compute = compute_dtype(n);
	int src = emit_operand(b, n, 0, compute, stage);

	/* Over dims of size 1 there is nothing to fold. */
	if (!b->domain.reduced || src < 0 || b->failed)
		return emit_cast(b, src, n->dtype, n->id);
	struct inst inst = blank(INST_REDUCE, compute);
	inst.op = n->op;
	inst.node = n->id;
	inst.src[0] = src;
	inst.dst = new_reg(b, compute, (struct home){ LEVEL_ROW, stage });
	append(b, &b->body[stage], &inst);
	return emit_cast(b, inst.dst, n->dtype, n->id);
}

static int emit_search(struct build *b, const struct node *n, int stage)
{
	struct inst inst = blank(INST_REDUCE, DTYPE_F32);

	inst.src[0] = emit_operand(b, n, 0, DTYPE_F32, stage);
	if (inst.src[0] < 0 || b->failed)
		return -1;
	inst.op = n->op;
	inst.node = n->id;
	inst.dst = new_reg(b, n->dtype, (struct home){ LEVEL_ROW, stage });
	append(b, &b->body[stage], &inst);
	return inst.dst;
}

static int emit_scan(struct build *b, const struct node *n, int stage)
{
	struct inst inst = blank(INST_SCAN, n->dtype);

	inst.src[0] = emit_operand(b, n, 0, n->dtype, stage);
	if (inst.src[0] < 0 || b->failed)
		return -1;
	inst.op = n->op;
	inst.node = n->id;
	inst.dst = new_reg(b, n->dtype, (struct home){ LEVEL_POINT, stage });
	append(b, &b->body[stage], &inst);
	return inst.dst;
}

static int emit_join(struct build *b, const struct node *n)
{
	struct lower_join *join = ARENA_NEW(b->arena, struct lower_join);
	struct inst inst = blank(INST_LOAD, n->dtype);
	int dim = n->args[0].sym ? (int)n->args[0].sym->value : 0;

	if (!join) {
		b->failed = true;
		return -1;
	}
	join->rank = n->shape.rank;
	join->dim = dim < 0 ? dim + join->rank : dim;
	for (int a = 1; a < n->n_args; a++) {
		if (n->args[a].kind != ARG_NODE)
			continue;
		const struct node *x = b->g->nodes[n->args[a].node];
		struct join_part *part = &join->part[join->n];
		if (x->shape.rank != n->shape.rank) /* torch.cat takes an empty [0] for anything */
			continue;
		part->at = build_access(b, x->id);
		memcpy(part->extent, x->shape.size, sizeof(part->extent));
		join->n++;
	}
	inst.join = join;
	inst.node = n->id;
	inst.dst = new_reg(b, n->dtype, (struct home){ LEVEL_POINT, 0 });
	append(b, &b->body[0], &inst);
	return inst.dst;
}

/* ---- what indices name */

static bool is_within(const struct build *b, const struct node *n, int64_t least,
		      const struct sym *size)
{
	const struct sym *numel = shape_numel(b->g->syms, &n->shape);

	if (op_info(n->op)->kind != KIND_CONSTANT || !sym_is_const(size) || !numel ||
	    !sym_is_const(numel))
		return false;
	for (int64_t i = 0; i < numel->value; i++) {
		int64_t at = dtype_get_int(n->dtype, n->data, i);

		if (at < least || at >= size->value)
			return false;
	}
	return true;
}

/* An index over dims [first, first + its rank) of node n, which lies at `map`. */
static struct lower_index index_of(struct build *b, const struct node *n, int arg, int first,
				   const int8_t map[MAX_RANK])
{
	const struct node *index = b->g->nodes[n->args[arg].node];
	const struct access own = build_access(b, index->id);
	struct lower_index at = { .at = own, .from_end = n->op == OP_index };

	for (int d = 0; d < MAX_RANK; d++)
		at.at.stride[d] = b->zero;
	for (int d = 0; d < index->shape.rank; d++)
		if (map[first + d] >= 0)
			at.at.stride[map[first + d]] = own.stride[d];
	return at;
}

/* The steps of x along its dim d, which is dim `to` of node n. */
static void place_dim(struct inst *inst, const struct access *x, int d, int to,
		      const int8_t map[MAX_RANK])
{
	if (map[to] >= 0)
		inst->at.stride[map[to]] = x->stride[d];
}

/* Indices, and where x lies but for them. */
static void place_lookup(struct build *b, const struct node *n, const int8_t map[MAX_RANK],
			 struct inst *inst)
{
	const struct node *x = b->g->nodes[n->args[0].node];
	const struct access own = build_access(b, x->id);
	int dim = (int)n->args[1].sym->value, rank = b->g->nodes[n->args[2].node]->shape.rank;
	struct lower_lookup *l = inst->lookup;

	dim += dim < 0 ? x->shape.rank : 0;
	inst->at = own;
	for (int d = 0; d < MAX_RANK; d++)
		inst->at.stride[d] = b->zero;
	for (int a = 2; a < n->n_args && l->n < MAX_INDICES && n->args[a].kind == ARG_NODE; a++) {
		struct lower_index *at = &l->index[l->n];
		const struct node *index = b->g->nodes[n->args[a].node];
		int d = dim + l->n++;

		*at = index_of(b, n, a, n->op == OP_gather ? 0 : dim, map);
		at->size = x->shape.rank ? x->shape.size[d] : sym_const(b->g->syms, 1);
		at->step = x->shape.rank ? own.stride[d] : b->zero;
		at->known = at->size &&
			    is_within(b, b->g->nodes[view_base(b->g, index->id)],
				      at->from_end && sym_is_const(at->size) ? -at->size->value : 0,
				      at->size);
		b->failed |= !at->size;
	}
	for (int d = 0; d < x->shape.rank; d++)
		if (n->op == OP_gather ? d != dim : d < dim)
			place_dim(inst, &own, d, d, map);
		else if (n->op != OP_gather && d >= dim + l->n)
			place_dim(inst, &own, d,
				  d - l->n + (n->op == OP_index_select && rank == 0 ? 1 : rank),
				  map);
}

static int emit_lookup(struct build *b, const struct node *n, int stage)
{
	const int8_t *map = b->places[n->id].map;
	uint32_t dims = domain_place_dims(n, map), reduced = b->domain.reduced;
	struct home home = { LEVEL_ONE, -1 };
	struct inst inst = blank(INST_LOAD, n->dtype);

	if (dims & reduced || (dims && !reduced))
		home = (struct home){ LEVEL_POINT, stage };
	else if (dims)
		home.level = LEVEL_ROW;
	inst.lookup = ARENA_NEW(b->arena, struct lower_lookup);
	if (!inst.lookup) {
		b->failed = true;
		return -1;
	}
	place_lookup(b, n, map, &inst);
	inst.node = n->id;
	inst.dst = new_reg(b, n->dtype, home);
	append(b, list_of(b, home), &inst);
	return inst.dst;
}

static int emit_restore(struct build *b, const struct node *n, int stage)
{
	struct node_state *s = &b->state[n->id];
	if (s->buffer >= 0) /* stored by an earlier stage, or by the product: load it */
		return emit_load(b, n, b->places[n->id].map, stage);
	struct inst inst = blank(INST_RESTORE, n->dtype);
	inst.slot = s->slot;
	inst.node = n->id;
	inst.dst = new_reg(b, n->dtype, (struct home){ LEVEL_POINT, stage });
	append(b, &b->body[stage], &inst);
	return inst.dst;
}

static void emit_save(struct build *b, const struct node *n, int stage)
{
	struct node_state *s = &b->state[n->id];
	if (b->failed || b->regs.at[s->reg].home.level != LEVEL_POINT)
		return; /* readable in every stage as it is */
	if (!VEC_PUSH(&b->slots, n->dtype))
		b->failed = true;
	s->slot = (int)b->slots.len - 1;
	struct inst inst = blank(INST_SAVE, n->dtype);
	inst.src[0] = s->reg;
	inst.slot = s->slot;
	inst.node = n->id;
	append(b, &b->body[stage], &inst);
}

static void emit_store(struct build *b, const struct node *n, int stage)
{
	const struct domain_place *p = &b->places[n->id];
	struct inst inst = blank(INST_STORE, n->dtype);
	inst.src[0] = b->state[n->id].reg;
	inst.at = access_of(b, n, p->map);
	inst.node = n->id;
	append(b, p->row ? &b->post[stage < 0 ? 0 : stage] : &b->body[stage], &inst);
}

/* ---- stages */

enum {
	/* Keeping a value costs a store and a load, as much as so many cheap ops. */
	COST_KEEP = 6,
};

static const struct node *node_at(const struct build *b, int i)
{
	return b->g->nodes[b->nodes[i]];
}

static bool is_reduction(const struct node *n)
{
	return op_folds(n->op);
}

/* The nodes of this kernel with a value for each point, among n's operands. */
static bool is_point_operand(const struct build *b, const struct arg *arg)
{
	return arg->kind == ARG_NODE && b->group[arg->node] == b->kernel &&
	       !b->places[arg->node].row;
}

static int recompute_cost(const struct build *b, const struct node *n)
{
	int cost = 1;
	for (int i = 0; i < n->n_args; i++) {
		const struct arg *arg = &n->args[i];
		if (is_point_operand(b, arg))
			cost += b->state[arg->node].cost;
		else if (arg->kind == ARG_NODE && b->group[arg->node] != b->kernel &&
			 !b->state[arg->node].constant)
			cost++;
	}
	return cost;
}

static void find_costs(struct build *b)
{
	for (int i = 0; i < b->n_nodes; i++) {
		const struct node *n = node_at(b, i);
		struct node_state *s = &b->state[n->id];
		s->cost = recompute_cost(b, n);
		s->saved = op_info(n->op)->transcendental || op_is_lookup(n->op) ||
			   op_is_scan(n->op) || s->cost > COST_KEEP;
		if (s->saved || s->buffer >= 0)
			s->cost = 1;
	}
}

static void need_operands(struct build *b, const struct node *n, uint32_t stage_bit)
{
	for (int i = 0; i < n->n_args; i++)
		if (is_point_operand(b, &n->args[i]))
			b->state[n->args[i].node].needed |= stage_bit;
}

/* From the last stage and the last node backwards: what each stage needs. */
static void find_needs(struct build *b)
{
	for (int stage = b->n_stages - 1; stage >= 0; stage--) {
		uint32_t bit = 1u << stage;
		for (int i = b->n_nodes - 1; i >= 0; i--) {
			const struct node *n = node_at(b, i);
			const struct domain_place *p = &b->places[n->id];
			struct node_state *s = &b->state[n->id];
			if (p->row) {
				if (is_reduction(n) && p->stage == stage)
					need_operands(b, n, bit);
				continue;
			}
			if (s->buffer >= 0 && p->stage == stage)
				s->needed |= bit;
			if (!(s->needed & bit))
				continue;
			if (p->stage == stage)
				need_operands(b, n, bit);
			else if (s->buffer < 0 && s->saved)
				s->needed |= 1u << p->stage;
			else if (s->buffer < 0)
				need_operands(b, n, bit);
		}
	}
}

/* Whether a later stage fetches what this one saves. */
static bool is_fetched(const struct node_state *s, int stage)
{
	return s->saved && s->buffer < 0 && s->needed >> stage >> 1;
}

static void emit_point(struct build *b, const struct node *n, int stage)
{
	const struct domain_place *p = &b->places[n->id];
	struct node_state *s = &b->state[n->id];

	if (!(s->needed >> stage & 1))
		return;
	if (p->stage < stage && s->reg >= 0 && b->regs.at[s->reg].home.level != LEVEL_POINT)
		return; /* the same for the row, and there already */
	if (op_is_product(n->op) || (p->stage < stage && (s->buffer >= 0 || s->saved))) {
		s->reg = emit_restore(b, n, stage);
		return;
	}
	if (op_info(n->op)->kind == KIND_CREATE)
		s->reg = emit_fill(b, n);
	else if (op_info(n->op)->kind == KIND_JOIN)
		s->reg = emit_join(b, n);
	else if (op_is_lookup(n->op))
		s->reg = emit_lookup(b, n, stage);
	else if (op_is_scan(n->op))
		s->reg = emit_scan(b, n, stage);
	else if (is_reduction(n))
		s->reg = emit_reduction(b, n, stage);
	else
		s->reg = emit_pointwise(b, n, stage);
	if (b->failed || p->stage != stage)
		return;
	if (is_fetched(s, stage))
		emit_save(b, n, stage);
	if (s->buffer >= 0)
		emit_store(b, n, stage);
}

static void emit_row(struct build *b, const struct node *n, int stage)
{
	struct node_state *s = &b->state[n->id];

	s->reg = op_is_search(n->op)   ? emit_search(b, n, stage)
		 : is_reduction(n)     ? emit_reduction(b, n, stage)
		 : op_is_lookup(n->op) ? emit_lookup(b, n, stage)
				       : emit_pointwise(b, n, stage);
	if (!b->failed && s->buffer >= 0)
		emit_store(b, n, stage);
}

/* One pass over the nodes for each stage; reductions belong to the body of
 * theirs, and ids ascend, so what a row value needs is there before it. */
bool schedule_kernel(struct build *b)
{
	b->n_stages = 1;
	for (int i = 0; i < b->n_nodes; i++)
		if (b->places[b->nodes[i]].stage >= b->n_stages)
			b->n_stages = b->places[b->nodes[i]].stage + 1;
	find_costs(b);
	find_needs(b);
	for (int stage = -1; stage < b->n_stages; stage++)
		for (int i = 0; i < b->n_nodes && !b->failed; i++) {
			const struct node *n = node_at(b, i);
			const struct domain_place *p = &b->places[n->id];
			if (!p->row && stage >= 0)
				emit_point(b, n, stage);
			else if (p->row && p->stage == stage)
				emit_row(b, n, stage);
		}
	return !b->failed;
}
