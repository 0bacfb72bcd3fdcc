/* fusion/graph/domain.c -- whether nodes share an iteration space, and how.
 *
 * Sizes are compared by pointer: two symbols that happen to have one value are
 * different sizes until a guard made them one symbol.
 */
#include "fusion/graph/domain.h"

#include <string.h>

static bool is_one(const struct sym *size)
{
	return sym_is(size, 1);
}

uint32_t domain_varying_dims(const struct shape *s)
{
	uint32_t bits = 0;
	for (int d = 0; d < s->rank; d++)
		if (!is_one(s->size[d]))
			bits |= 1u << d;
	return bits;
}

bool domain_shape_fits(const struct shape *small, const struct shape *big)
{
	if (small->rank > big->rank)
		return false;
	int shift = big->rank - small->rank;
	for (int d = 0; d < small->rank; d++)
		if (!is_one(small->size[d]) && small->size[d] != big->size[d + shift])
			return false;
	return true;
}

static bool reduces(const struct node *n)
{
	return op_folds(n->op);
}

/* The dims along which a node folds, or runs. */
static uint32_t walked(const struct graph *g, const struct node *n)
{
	int dim;

	if (reduces(n))
		return node_reduced(g, n);
	dim = (int)n->args[1].sym->value;
	return 1u << (dim < 0 ? dim + n->shape.rank : dim);
}

/* By which a shape that all others fit comes out on top. */
static bool is_larger(const struct shape *a, const struct shape *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return __builtin_popcount(domain_varying_dims(a)) >
	       __builtin_popcount(domain_varying_dims(b));
}

bool domain_find(const struct graph *g, const int *nodes, int n, struct domain *out)
{
	struct domain d = { .full = g->nodes[nodes[0]]->shape };

	for (int i = 0; i < n; i++) {
		const struct node *node = g->nodes[nodes[i]];
		if (!reduces(node) && !op_is_scan(node->op))
			continue;
		const struct shape *full = &g->nodes[node->args[0].node]->shape;
		uint32_t reduced = walked(g, node) & domain_varying_dims(full);
		if (!d.reduces)
			d = (struct domain){ .full = *full, .reduced = reduced, .reduces = true };
		else if (!shape_equal(full, &d.full) || reduced != d.reduced)
			return false;
	}
	for (int i = 0; i < n && !d.reduces; i++)
		if (is_larger(&g->nodes[nodes[i]]->shape, &d.full))
			d.full = g->nodes[nodes[i]]->shape;
	for (int i = 0; i < n && !d.reduces; i++)
		if (!domain_shape_fits(&g->nodes[nodes[i]]->shape, &d.full))
			return false;
	*out = d;
	return true;
}

/* Aligns a shape with the domain as broadcasting does. */
static bool align_full(const struct domain *domain, const struct shape *s, int8_t map[MAX_RANK])
{
	if (!domain_shape_fits(s, &domain->full))
		return false;
	for (int i = 0; i < s->rank; i++)
		map[i] = is_one(s->size[i]) ? -1 : (int8_t)(domain->full.rank - s->rank + i);
	return true;
}

/* Aligns the dims of a shape that vary with those of a row's place. */
static bool align_squeezed(const struct domain *domain, const struct shape *s, int8_t map[MAX_RANK])
{
	uint32_t dims = domain_varying_dims(&domain->full) & ~domain->reduced;

	for (int i = s->rank - 1; i >= 0; i--) {
		map[i] = -1;
		if (is_one(s->size[i]))
			continue;
		if (dims == 0)
			return false;
		int d = 31 - __builtin_clz(dims);
		if (s->size[i] != domain->full.size[d])
			return false;
		dims &= ~(1u << d);
		map[i] = (int8_t)d;
	}
	return true;
}

void domain_place_operand(const struct node *consumer, const struct domain_place *at,
			  const struct node *operand, int8_t map[MAX_RANK])
{
	int shift = consumer->shape.rank - operand->shape.rank;
	bool whole = op_folds(consumer->op);
	for (int i = 0; i < operand->shape.rank; i++) {
		if (is_one(operand->shape.size[i]))
			map[i] = -1;
		else
			map[i] = whole ? (int8_t)i : at->map[i + shift];
	}
}

uint32_t domain_place_dims(const struct node *n, const int8_t map[MAX_RANK])
{
	uint32_t bits = 0;
	for (int i = 0; i < n->shape.rank; i++)
		if (map[i] >= 0)
			bits |= 1u << map[i];
	return bits;
}

/* Whether operands inside the set lie where the consumer reads them. */
static bool agrees(const struct graph *g, const struct node *n, const struct domain_place *at,
		   const int *member, int stamp, const struct domain_place *places)
{
	for (int i = 0; i < n->n_args; i++) {
		if (n->args[i].kind != ARG_NODE || member[n->args[i].node] != stamp)
			continue;
		const struct node *operand = g->nodes[n->args[i].node];
		int8_t map[MAX_RANK];
		domain_place_operand(n, at, operand, map);
		if (memcmp(map, places[operand->id].map, (size_t)operand->shape.rank) != 0)
			return false;
	}
	return true;
}

static void place_reduction(const struct graph *g, const struct node *n, struct domain_place *at)
{
	const struct shape *full = &g->nodes[n->args[0].node]->shape;
	uint32_t reduced = node_reduced(g, n);
	bool keep = node_keepdim(n);
	for (int d = 0, i = 0; d < full->rank; d++) {
		bool gone = reduced >> d & 1;
		if (gone && !keep)
			continue;
		at->map[i++] = gone || is_one(full->size[d]) ? -1 : (int8_t)d;
	}
}

/* Level and stage, from the operands'. */
static void place_in_time(const struct node *n, uint32_t reduced, const int *member, int stamp,
			  const struct domain_place *places, struct domain_place *at)
{
	int row = -1, point = -1;
	for (int i = 0; i < n->n_args; i++) {
		if (n->args[i].kind != ARG_NODE || member[n->args[i].node] != stamp)
			continue;
		const struct domain_place *p = &places[n->args[i].node];
		if (p->row)
			row = p->stage > row ? p->stage : row;
		else
			point = p->stage > point ? p->stage : point;
	}
	if (reduces(n) && reduced) {
		at->row = true;
		at->stage = row + 1 > point ? row + 1 : point;
		return;
	}
	at->row = reduced && !(domain_place_dims(n, at->map) & reduced);
	if (at->row)
		at->stage = row;
	else
		at->stage = row + 1 > point ? row + 1 : point;
}

static bool place_all(const struct domain_set *set, const struct domain *domain, int from,
		      struct domain_place *places)
{
	const struct graph *g = set->g;
	const int *member = set->member;
	int stamp = set->stamp;

	for (int k = from; k < set->n; k++) {
		const struct node *node = g->nodes[set->nodes[k]];
		struct domain_place at = { .row = false };
		bool fits = false;
		if (reduces(node)) {
			place_reduction(g, node, &at);
			fits = agrees(g, node, &at, member, stamp, places);
		}
		for (int f = 0; f < 2 && !fits && !reduces(node); f++) {
			/* A running value is one for each point. */
			if (op_is_scan(node->op) && domain->squeezed != f)
				continue;

			fits = (domain->squeezed == f ? align_full : align_squeezed)(
				   domain, &node->shape, at.map) &&
			       agrees(g, node, &at, member, stamp, places);
		}
		if (!fits)
			return false;
		place_in_time(node, domain->reduced, member, stamp, places, &at);
		if (at.stage >= DOMAIN_MAX_STAGES)
			return false;
		places[node->id] = at;
	}
	return true;
}

bool domain_place(const struct domain_set *set, struct domain *domain, int from,
		  struct domain_place *places)
{
	if (from > 0)
		return place_all(set, domain, from, places);
	/* A value without operands fits both frames; what its consumers need is seen
	 * later, so the second try takes the other frame. */
	for (int squeezed = 0; squeezed < 2; squeezed++) {
		domain->squeezed = squeezed;
		if (place_all(set, domain, 0, places))
			return true;
		if (!domain->reduces)
			break;
	}
	return false;
}
