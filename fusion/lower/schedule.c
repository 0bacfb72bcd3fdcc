/* fusion/lower/schedule.c -- what a kernel computes in which stage.
 *
 * A stage is one walk over the row.  A value for each point that a later stage
 * needs again is recomputed there when that is cheap; else it is kept in a
 * slot, or read back from the buffer where it was stored anyway.
 */
#include "fusion/lower/build.h"

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
	return op_info(n->op)->kind == KIND_REDUCE;
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
		s->saved = op_info(n->op)->transcendental || s->cost > COST_KEEP;
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
			const struct place *p = &b->places[n->id];
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
	const struct place *p = &b->places[n->id];
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

	s->reg = is_reduction(n) ? emit_reduction(b, n, stage) : emit_pointwise(b, n, stage);
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
			const struct place *p = &b->places[n->id];
			if (!p->row && stage >= 0)
				emit_point(b, n, stage);
			else if (p->row && p->stage == stage)
				emit_row(b, n, stage);
		}
	return !b->failed;
}
