/* fusion/passes/fuse_cost.c -- when a merged kernel would be wrong or slow.
 *
 * The unit of cost is one cheap op on one element, about 0.1 ns.  Sizes are the
 * hints of the capture: a wrong hint costs time, never correctness.
 */
#include "fusion/passes/fuse.h"

enum {
	UNITS_HEAVY = 20,    /* one transcendental, about 2 ns scalar, 1 ns a lane */
	UNITS_LAUNCH = 4000, /* one kernel more: launch, buffer, lost locality */
	FREE_CHEAP_OPS = 4,  /* as many hide behind the memory traffic of a point */
	/* A row of its own longer than this is given to several threads, which
	 * only a single walk allows; half of a usual L2 cache in float32. */
	LONG_ROW = 1 << 16,
};

static double hint_points(const struct fuse *f, const struct shape *s, uint32_t dims)
{
	double points = 1;
	for (int d = 0; d < s->rank; d++)
		if (dims >> d & 1)
			points *= (double)sym_hint(f->g->syms, s->size[d]);
	return points;
}

static bool is_stored(const struct fuse *f, int a, int node)
{
	if (f->is_output[node])
		return true;
	for (int u = f->first_use[node]; u < f->first_use[node + 1]; u++)
		if (f->group[f->uses[u]] != a)
			return true;
	return false;
}

bool fuse_pays(const struct fuse *f, int a, const struct domain *domain, const int *nodes, int n)
{
	uint32_t varying = domain_varying_dims(&domain->full);
	uint32_t rows = varying & ~domain->reduced;
	double extra = 0;
	int cheap = 0, heavy = 0, last_stage = 0;

	for (int i = 0; i < n; i++) {
		const struct node *node = f->g->nodes[nodes[i]];
		const struct place *p = &f->places[node->id];
		uint32_t dims = domain_place_dims(node, p->map);
		uint32_t walked = p->row ? rows : varying;
		/* A join is read point by point in the order of the walk. */
		if (op_info(node->op)->kind == KIND_JOIN &&
		    !shape_equal(&node->shape, &domain->full))
			return false;
		if (!p->row && p->stage > last_stage)
			last_stage = p->stage;
		if (dims == walked)
			continue;
		/* A value smaller than the walk would be stored many times. */
		if (is_stored(f, a, node->id))
			return false;
		if (dims == 0)
			continue; /* computed once a launch */
		bool slow = op_info(node->op)->transcendental;
		heavy += slow;
		cheap += !slow && !p->row;
		extra += (hint_points(f, &domain->full, walked) -
			  hint_points(f, &domain->full, dims)) *
			 (slow ? UNITS_HEAVY : 1);
	}
	if (last_stage > 0 && rows == 0 && hint_points(f, &domain->full, varying) > LONG_ROW)
		return false;
	return extra <= UNITS_LAUNCH || (heavy == 0 && cheap <= FREE_CHEAP_OPS);
}
