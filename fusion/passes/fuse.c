/* fusion/passes/fuse.c -- put nodes together that one kernel can compute.
 *
 * Every node starts as a cluster of its own.  Clusters merge along edges from
 * producer to consumer, then side by side when they read the same value and
 * walk the same space, until nothing changes.  Last, small ones that walk the same
 * space share a launch.  A merge needs an iteration space
 * that holds both (graph/domain.h), no path between them through a third, and
 * must not make the kernel slower than its parts (fuse_cost.c).
 *
 * What would be wrong to assume: a producer is fused into one consumer only.
 * It is in one kernel, but its value may be stored there for others.
 */
#include "fusion/passes/pass.h"

#include <string.h>

#include "fusion/graph/view.h"
#include "fusion/passes/fuse.h"

/* Whether argument k is read from memory, in an order of its own: then its
 * producer is another kernel. */
static bool reads_memory(const struct fuse *f, const struct node *n, int k)
{
	enum op_kind kind = op_info(n->op)->kind;

	return kind == KIND_JOIN ||
	       (kind == KIND_LIBRARY && !op_is_scan(n->op) && !op_is_search(n->op)) ||
	       f->base[n->args[k].node] != n->args[k].node;
}

static bool visited(struct fuse *f, int cluster)
{
	bool before = f->seen[cluster] == f->epoch;
	f->seen[cluster] = f->epoch;
	return before;
}

/* Whether `to` needs a result of `from`; with `around`, by a path that passes
 * through a third cluster. */
static bool depends(struct fuse *f, int to, int from, bool around)
{
	int depth = 0;

	f->epoch++;
	visited(f, to);
	f->stack[depth++] = to;
	while (depth > 0) {
		int at = f->stack[--depth];
		const struct cluster *c = &f->clusters[at];
		for (int i = 0; i < c->n; i++) {
			const struct node *n = f->g->nodes[c->nodes[i]];
			for (int k = 0; k < n->n_args; k++) {
				int p = fuse_producer(f, n, k);
				if (p < 0 ||
				    (p == from && at == to && around && !reads_memory(f, n, k)))
					continue;
				if (p == from)
					return true;
				if (!visited(f, p))
					f->stack[depth++] = p;
			}
		}
	}
	return false;
}

/* The space of two clusters together: one of theirs. */
static bool join_domains(const struct cluster *a, const struct cluster *b, struct domain *out)
{
	const struct domain *x = &a->domain, *y = &b->domain;

	if (x->reduces && y->reduces) {
		*out = *x;
		return shape_equal(&x->full, &y->full) && x->reduced == y->reduced;
	}
	if (x->reduces || y->reduces) {
		*out = x->reduces ? *x : *y;
		return true; /* domain_place() will tell */
	}
	bool fits = domain_shape_fits(&y->full, &x->full);
	*out = fits ? *x : *y;
	return fits || domain_shape_fits(&x->full, &y->full);
}

static bool reserve(struct fuse *f, struct cluster *c, int n)
{
	if (n <= c->cap)
		return true;
	int cap = n > 2 * c->cap ? n : 2 * c->cap;
	int *nodes = ARENA_ARRAY(&f->scratch, int, (size_t)cap);
	if (!nodes)
		return false;
	memcpy(nodes, c->nodes, (size_t)c->n * sizeof(*nodes));
	c->nodes = nodes;
	c->cap = cap;
	return true;
}

/* Both lists ascend; so does the result, in `out`. */
static void merge_lists(const struct cluster *a, const struct cluster *b, int *out)
{
	int i = 0, j = 0;
	while (i < a->n || j < b->n)
		if (j == b->n || (i < a->n && a->nodes[i] < b->nodes[j]))
			*out++ = a->nodes[i++];
		else
			*out++ = b->nodes[j++];
}

static void give_nodes(struct fuse *f, const struct cluster *c, int to)
{
	for (int i = 0; i < c->n; i++)
		f->group[c->nodes[i]] = to;
}

/* Puts the places back that a failed try has overwritten. */
static void replace_nodes(struct fuse *f, int cluster)
{
	struct cluster *c = &f->clusters[cluster];
	domain_place(&(struct domain_set){ f->g, c->nodes, c->n, f->group, cluster }, &c->domain, 0,
		     f->places);
}

/* Places the nodes of a and b, listed in f->merged, as one cluster `a`. */
static bool place_together(struct fuse *f, int a, int b, struct domain *domain)
{
	const struct cluster *ca = &f->clusters[a], *cb = &f->clusters[b];
	int n = ca->n + cb->n;
	bool same = domain->reduces == ca->domain.reduces &&
		    shape_equal(&domain->full, &ca->domain.full);
	struct domain_set set = { f->g, f->merged, n, f->group, a };

	/* The usual case: one node more at the end of a chain. */
	if (same && cb->nodes[0] > ca->nodes[ca->n - 1]) {
		*domain = ca->domain;
		if (domain_place(&set, domain, ca->n, f->places))
			return true;
	}
	return domain_place(&set, domain, 0, f->places);
}

/* Tries b in a.  True: the nodes are placed as cluster a, in `domain`, and listed
 * in f->merged.  False: all is as before, and *why says what was in the way. */
static bool try_together(struct fuse *f, int a, int b, struct domain *domain,
			 struct fuse_verdict *why)
{
	const struct cluster *ca = &f->clusters[a], *cb = &f->clusters[b];
	int n = ca->n + cb->n;

	*why = (struct fuse_verdict){ .node = -1, .count = n };
	if (ca->alone || cb->alone)
		why->limit = LIMIT_ALONE;
	else if (n > FUSE_MAX_NODES)
		why->limit = LIMIT_NODES;
	else if (!join_domains(ca, cb, domain))
		why->limit = LIMIT_SPACE;
	else if ((ca->joins || cb->joins) + (ca->last || cb->last) + domain->reduces > 1)
		why->limit = LIMIT_JOIN; /* each walks in an order of its own */
	else if (ca->scans && cb->scans)
		why->limit = LIMIT_REDUCTIONS;
	if (why->limit != LIMIT_NONE)
		return false;
	merge_lists(ca, cb, f->merged);
	give_nodes(f, cb, a);
	if (!place_together(f, a, b, domain))
		why->limit = LIMIT_SPACE;
	else if (fuse_pays(f, a, b, domain, n, why))
		return true;
	give_nodes(f, cb, b);
	replace_nodes(f, a);
	replace_nodes(f, b);
	return false;
}

/* Merges cluster b into a if that is possible and pays. */
static bool try_merge(struct fuse *f, int a, int b)
{
	struct cluster *ca = &f->clusters[a], *cb = &f->clusters[b];
	struct fuse_verdict why;
	struct domain domain;

	if (a == b || !try_together(f, a, b, &domain, &why))
		return false;
	if (!reserve(f, ca, ca->n + cb->n)) {
		f->failed = true;
		return false;
	}
	ca->n += cb->n;
	memcpy(ca->nodes, f->merged, (size_t)ca->n * sizeof(int));
	ca->joins |= cb->joins;
	ca->last |= cb->last;
	ca->looks_up |= cb->looks_up;
	ca->scans |= cb->scans;
	ca->product = ca->product < 0 ? cb->product : ca->product;
	ca->domain = domain;
	cb->n = 0;
	return true;
}

/* Whether b reads a result of a in an order of its own. */
static bool reads_through_memory(const struct fuse *f, int a, int b)
{
	const struct cluster *c = &f->clusters[b];

	for (int i = 0; i < c->n; i++) {
		const struct node *n = f->g->nodes[c->nodes[i]];

		for (int k = 0; k < n->n_args; k++)
			if (fuse_producer(f, n, k) == a && reads_memory(f, n, k))
				return true;
	}
	return false;
}

struct fuse_verdict fuse_verdict_of(struct fuse *f, int a, int b)
{
	struct fuse_verdict why = { .node = -1 };
	struct domain domain;

	if (f->clusters[a].alone || f->clusters[b].alone)
		why.limit = LIMIT_ALONE;
	else if (reads_through_memory(f, a, b))
		why.limit = LIMIT_MEMORY;
	else if (depends(f, b, a, true))
		why.limit = LIMIT_ORDER;
	if (why.limit != LIMIT_NONE || !try_together(f, a, b, &domain, &why))
		return why;
	give_nodes(f, &f->clusters[b], b);
	replace_nodes(f, a);
	replace_nodes(f, b);
	return why;
}

/* A cast to a wider dtype, of what a kernel with a product makes: it goes to those that
 * read it before it goes there, where its elements would be stored, and larger. */
static bool waits_for_readers(const struct fuse *f, const struct node *n, int producer)
{
	return f->rounds == 0 && n->op == OP_to && f->clusters[producer].product >= 0 &&
	       !f->is_output[n->id] &&
	       dtype_bytes(n->dtype) > dtype_bytes(f->g->nodes[f->base[n->args[0].node]]->dtype);
}

/* Producers into consumers, the latest producer first: what it reads may be in
 * the way of the others. */
static bool merge_down(struct fuse *f)
{
	bool any = false;

	for (int id = 0; id < f->g->n_nodes && !f->failed; id++) {
		const struct node *n = f->g->nodes[id];
		int before = f->g->n_nodes;
		while (f->group[id] >= 0) {
			int arg = -1;
			for (int k = 0; k < n->n_args; k++)
				if (n->args[k].kind == ARG_NODE && n->args[k].node < before &&
				    n->args[k].node > arg)
					arg = n->args[k].node;
			if (arg < 0)
				break;
			before = arg;
			int a = f->group[arg], b = f->group[id];
			if (a >= 0 && a != b && waits_for_readers(f, n, a))
				any = true;
			else if (a >= 0 && a != b && !depends(f, b, a, true))
				any |= try_merge(f, a, b);
		}
	}
	return any;
}

/* Clusters that read one value over the same space and not from each other. */
static bool merge_across(struct fuse *f)
{
	bool any = false;

	for (int id = 0; id < f->g->n_nodes && !f->failed; id++) {
		int last = -1;
		for (int u = f->first_use[id]; u < f->first_use[id + 1]; u++) {
			int b = f->group[f->uses[u]];
			if (b < 0 || b == last || f->clusters[b].alone ||
			    f->clusters[b].product >= 0)
				continue; /* what waits for a product waits for nothing else */
			int a = last;
			last = b;
			if (a < 0 ||
			    !shape_equal(&f->clusters[a].domain.full,
					 &f->clusters[b].domain.full) ||
			    depends(f, a, b, false) || depends(f, b, a, false))
				continue;
			if (try_merge(f, a, b)) {
				any = true;
				last = a;
			}
		}
	}
	return any;
}

static bool has_few_points(const struct fuse *f, const struct cluster *c)
{
	double points = 1;

	for (int d = 0; d < c->domain.full.rank; d++)
		points *= (double)sym_hint(f->g->syms, c->domain.full.size[d]);
	return points <= FEW_POINTS;
}

static bool same_walk(const struct cluster *a, const struct cluster *b)
{
	return a->domain.reduces == b->domain.reduces && a->domain.reduced == b->domain.reduced &&
	       shape_equal(&a->domain.full, &b->domain.full);
}

/* Small clusters that walk the same space and need nothing of each other share a
 * launch: the steps of an optimiser over parameters of one size, say. */
static void merge_siblings(struct fuse *f)
{
	for (int b = 0; b < f->g->n_nodes && !f->failed; b++) {
		const struct cluster *cb = &f->clusters[b];
		int tries = 0;

		if (cb->n == 0 || cb->alone || cb->product >= 0 || !has_few_points(f, cb))
			continue;
		for (int a = b - 1; a >= 0 && tries < SIBLING_TRIES; a--) {
			const struct cluster *ca = &f->clusters[a];

			if (ca->n == 0 || ca->alone || ca->product >= 0 || !same_walk(ca, cb))
				continue;
			tries++;
			if (!depends(f, a, b, false) && !depends(f, b, a, false) &&
			    try_merge(f, a, b))
				break;
		}
	}
}

/* Whether an op reads its operands through pointers alone. */
static bool needs_memory(const struct node *n)
{
	return op_info(n->op)->kind == KIND_LIBRARY || op_info(n->op)->kind == KIND_JOIN;
}

/* What is computed where it is used, and so in no kernel of its own: inputs,
 * constants, and fills unless someone needs them in memory. */
static bool needs_no_kernel(const struct fuse *f, const struct node *n)
{
	switch (op_info(n->op)->kind) {
	case KIND_INPUT:
	case KIND_CONSTANT:
	case KIND_VIEW:
		return true;
	case KIND_CREATE:
		for (int u = f->first_use[n->id]; u < f->first_use[n->id + 1]; u++)
			if (needs_memory(f->g->nodes[f->uses[u]]))
				return false;
		return !f->is_output[n->id];
	default:
		return false;
	}
}

static bool find_uses(struct fuse *f)
{
	const struct graph *g = f->g;
	int total = 0;

	for (int id = 0; id < g->n_nodes; id++)
		f->base[id] = view_base(g, id);
	for (int id = 0; id < g->n_nodes; id++)
		for (int k = 0; k < g->nodes[id]->n_args; k++)
			if (g->nodes[id]->args[k].kind == ARG_NODE) {
				f->first_use[f->base[g->nodes[id]->args[k].node] + 1]++;
				total++;
			}
	for (int id = 0; id < g->n_nodes; id++)
		f->first_use[id + 1] += f->first_use[id];
	f->uses = ARENA_ARRAY(&f->scratch, int, (size_t)total + 1);
	int *next = ARENA_ARRAY(&f->scratch, int, (size_t)g->n_nodes + 1);
	if (!f->uses || !next)
		return false;
	memcpy(next, f->first_use, (size_t)g->n_nodes * sizeof(*next));
	for (int id = 0; id < g->n_nodes; id++)
		for (int k = 0; k < g->nodes[id]->n_args; k++)
			if (g->nodes[id]->args[k].kind == ARG_NODE)
				f->uses[next[f->base[g->nodes[id]->args[k].node]]++] = id;
	for (int i = 0; i < g->n_outputs; i++)
		f->is_output[f->base[g->outputs[i]]] = true;
	return true;
}

/* x > 0 of an x that the caller gives up, which products of matrices alone read
 * besides: the mask is a quarter of x, and x can go when they have run.  In the
 * kernel that reads the mask it would have to stay. */
static bool is_small_rest(const struct fuse *f, const struct node *n)
{
	const struct node *x = NULL;
	bool product = false;

	if (!f->given_up || op_info(n->op)->kind != KIND_POINTWISE || n->dtype != DTYPE_BOOL)
		return false;
	for (int k = 0; k < n->n_args; k++) {
		if (n->args[k].kind != ARG_NODE)
			continue;
		if (x)
			return false;
		x = f->g->nodes[n->args[k].node];
	}
	if (!x || x->op != OP_input || !f->given_up[x->input] || dtype_bytes(x->dtype) < SMALL_REST)
		return false;
	for (int u = f->first_use[x->id]; u < f->first_use[x->id + 1]; u++) {
		const struct node *user = f->g->nodes[f->uses[u]];

		if (user == n)
			continue;
		if (op_info(user->op)->kind == KIND_LIBRARY)
			product = true;
		else if (op_info(user->op)->kind != KIND_VIEW)
			return false;
	}
	return product;
}

/* A running sum that a kernel makes while it walks rows: along the last dim, of float32. */
static bool runs_along(const struct fuse *f, const struct node *n)
{
	uint32_t varying = domain_varying_dims(&n->shape);
	int dim;

	if (!op_is_scan(n->op) || !f->calls || n->dtype != DTYPE_F32 ||
	    f->g->nodes[n->args[0].node]->dtype != DTYPE_F32)
		return false;
	dim = (int)n->args[1].sym->value;
	dim += dim < 0 ? n->shape.rank : 0;
	return varying >> dim == 1;
}

static bool init(struct fuse *f)
{
	size_t n = (size_t)f->g->n_nodes + 1;

	f->clusters = ARENA_ARRAY(&f->scratch, struct cluster, n);
	f->places = ARENA_ARRAY(&f->scratch, struct domain_place, n);
	f->first_use = ARENA_ARRAY(&f->scratch, int, n + 1);
	f->base = ARENA_ARRAY(&f->scratch, int, n);
	f->is_output = ARENA_ARRAY(&f->scratch, bool, n);
	f->seen = ARENA_ARRAY(&f->scratch, int, n);
	f->stack = ARENA_ARRAY(&f->scratch, int, n);
	f->merged = ARENA_ARRAY(&f->scratch, int, n);
	int *ids = ARENA_ARRAY(&f->scratch, int, n);
	if (!f->clusters || !f->places || !f->first_use || !f->base || !f->is_output || !f->seen ||
	    !f->stack || !f->merged || !ids || !find_uses(f))
		return false;
	for (int id = 0; id < f->g->n_nodes; id++) {
		const struct node *node = f->g->nodes[id];
		enum op_kind kind = op_info(node->op)->kind;
		f->group[id] = -1;
		if (needs_no_kernel(f, node))
			continue;
		f->group[id] = id;
		ids[id] = id;
		struct cluster *c = &f->clusters[id];
		*c = (struct cluster){ .nodes = &ids[id], .n = 1, .cap = 1 };
		c->repeats = op_is_product(node->op) ? fuse_product_repeats(f, node) : 0;
		c->product = op_is_product(node->op) && !c->repeats ? id : -1;
		c->scans = runs_along(f, node);
		c->looks_up = op_is_lookup(node->op);
		c->alone = (kind == KIND_LIBRARY && c->product < 0 && !c->looks_up && !c->scans &&
			    !(f->calls && domain_searches(f->g, node))) ||
			   kind == KIND_CREATE;
		c->joins = kind == KIND_JOIN;
		c->last = node->channels_last;
		if (!c->alone && domain_find(f->g, c->nodes, 1, &c->domain))
			replace_nodes(f, id);
		c->alone |= is_small_rest(f, node);
	}
	return true;
}

/* Whether every producer of the cluster has its number. */
static bool is_ready(const struct fuse *f, const struct cluster *c, const int *number)
{
	for (int i = 0; i < c->n; i++) {
		const struct node *n = f->g->nodes[c->nodes[i]];
		for (int k = 0; k < n->n_args; k++) {
			int p = fuse_producer(f, n, k);
			if (p >= 0 && &f->clusters[p] != c && number[p] < 0)
				return false;
		}
	}
	return true;
}

/* Numbers the clusters so that producers come first, else as in the source. */
static bool number_groups(struct fuse *f, int *number, int *n_groups, struct err *err)
{
	int n = f->g->n_nodes, count = 0, left = 0;

	for (int id = 0; id < n; id++) {
		number[id] = -1;
		left += f->clusters[id].n > 0;
	}
	while (left > 0) {
		int before = left;
		for (int id = 0; id < n; id++) {
			const struct cluster *c = &f->clusters[id];
			if (c->n == 0 || number[id] >= 0 || !is_ready(f, c, number))
				continue;
			number[id] = count++;
			left--;
		}
		if (left == before)
			return err_set(err, ERR_INTERNAL,
				       "pass fuse made %d kernels that wait "
				       "for each other",
				       left);
	}
	*n_groups = count;
	return true;
}

/* Numbers the clusters again, in the order that holds the least memory. */
static bool order_clusters(struct fuse *f, struct graph *g, int *number, int n_groups)
{
	int *group = ARENA_ARRAY(&f->scratch, int, (size_t)g->n_nodes + 1);
	int *place = ARENA_ARRAY(&f->scratch, int, (size_t)n_groups + 1);

	if (!group || !place)
		return false;
	for (int id = 0; id < g->n_nodes; id++)
		group[id] = f->group[id] < 0 ? -1 : number[f->group[id]];
	if (!order_groups(g, f->given_up, group, n_groups, place))
		return false;
	for (int id = 0; id < g->n_nodes; id++)
		if (number[id] >= 0)
			number[id] = place[number[id]];
	return true;
}

/* Whether some kernel computes more than one node. */
static bool has_fused(const struct pass_result *out)
{
	int computed = 0;

	for (int i = 0; i < out->graph->n_nodes; i++)
		computed += out->group[i] >= 0;
	return computed > out->n_groups;
}

/* needs: no COMPOSITE, args before uses; keeps: the graph as it is.  Fills out->group,
 * out->n_groups and out->why.  no_fusion: every node is a group. */
bool pass_fuse(struct pass_run *run, bool *changed, struct err *err)
{
	struct graph *g = run->g;
	struct pass_result *out = run->out;
	bool off = run->no_fusion;
	struct fuse f = {
		.g = g, .given_up = run->options->given_up, .calls = run->options->calls, .off = off
	};
	bool ok = false;
	int *number;

	f.group = ARENA_ARRAY(g->arena, int, (size_t)g->n_nodes + 1);
	number = ARENA_ARRAY(&f.scratch, int, (size_t)g->n_nodes + 1);
	if (!f.group || !number || !init(&f))
		goto out;
	for (bool again = !off; again && f.rounds < FUSE_MAX_ROUNDS; f.rounds++) {
		again = merge_down(&f);
		again |= merge_across(&f);
	}
	if (!off)
		merge_siblings(&f);
	if (f.failed)
		goto out;
	ok = number_groups(&f, number, &out->n_groups, err);
	if (ok && !off && !order_clusters(&f, g, number, out->n_groups))
		goto out;
	if (ok && !(out->why = fuse_why(&f, number, out->n_groups)))
		goto out;
	for (int id = 0; ok && id < g->n_nodes; id++)
		if (f.group[id] >= 0)
			f.group[id] = number[f.group[id]];
	if (ok) {
		out->group = f.group;
		*changed = has_fused(out);
	}
	arena_finish(&f.scratch);
	return ok;
out:
	arena_finish(&f.scratch);
	return err_set(err, ERR_MEMORY, "out of memory while fusing a graph of %d nodes",
		       g->n_nodes);
}
