/* fusion/passes/order.c -- part of fuse: the order of kernels that holds least memory.
 *
 * Kernels are numbered as the source has them first.  A value that is computed long
 * before it is read is held all that time, which the backward part of a training
 * step, with all it computes again, cannot afford.  Two more orders are tried: from
 * the front the kernel that adds least, and from the back the one that needs least
 * of what is not there yet.  The one with the lowest peak wins, the given order
 * where it is as good.  Bytes are those at the sizes of the capture.
 */
#include "fusion/passes/pass.h"

#include <string.h>

#include "fusion/graph/view.h"

enum { ORDER_MAX_GROUPS = 4096 }; /* the search is quadratic */

struct value_use {
	int64_t bytes;
	int maker;   /* group; -1: an input */
	int n_users; /* groups that read it */
	bool stays;  /* an output, or an input that is not given up */
	int left;    /* readers that are not placed yet */
};

struct group_order {
	const struct graph *g;
	const int *group;
	int n_groups;
	struct arena scratch;
	struct value_use *values; /* by node */
	int *reads, *first_read; /* reads[first_read[k] .. first_read[k + 1]): nodes that k reads */
	int *makes, *first_make; /* nodes that k makes and that are in memory */
	int *waits;              /* by group: producers, or readers, that are not placed */
	int *chain;              /* by group: the one before it that draws random numbers, -1 */
	bool *placed;
};

static int64_t bytes_of(const struct graph *g, const struct node *n)
{
	double bytes = (double)dtype_bytes(n->dtype);

	for (int d = 0; d < n->shape.rank; d++)
		bytes *= (double)sym_hint(g->syms, n->shape.size[d]);
	return bytes < 1e15 ? (int64_t)bytes : (int64_t)1e15;
}

/* The node whose memory argument `a` reads, where another kernel or the caller made
 * it; -1. */
static int read_from(const struct group_order *o, const struct node *n, int a)
{
	int base;

	if (n->args[a].kind != ARG_NODE)
		return -1;
	base = view_base(o->g, n->args[a].node);
	if (o->group[base] < 0 && o->g->nodes[base]->op != OP_input)
		return -1;
	return o->group[base] == o->group[n->id] ? -1 : base;
}

/* Lists of what groups read, each value once a group. */
static bool list_reads(struct group_order *o)
{
	const struct graph *g = o->g;
	int *seen = ARENA_ARRAY(&o->scratch, int, (size_t)g->n_nodes + 1), total = 0, n = 0;

	for (int id = 0; id < g->n_nodes; id++)
		total += g->nodes[id]->n_args;
	o->reads = ARENA_ARRAY(&o->scratch, int, (size_t)total + 1);
	o->first_read = ARENA_ARRAY(&o->scratch, int, (size_t)o->n_groups + 2);
	if (!seen || !o->reads || !o->first_read)
		return false;
	for (int k = 0; k < o->n_groups; k++) {
		o->first_read[k] = n;
		for (int i = o->first_make[k]; i < o->first_make[k + 1]; i++) {
			const struct node *node = g->nodes[o->makes[i]];

			for (int a = 0; a < node->n_args; a++) {
				int from = read_from(o, node, a);

				if (from < 0 || seen[from] == k + 1)
					continue;
				seen[from] = k + 1;
				o->reads[n++] = from;
				o->values[from].n_users++;
			}
		}
	}
	o->first_read[o->n_groups] = n;
	return true;
}

/* Nodes by group. */
static bool list_makes(struct group_order *o)
{
	const struct graph *g = o->g;
	int *next = ARENA_ARRAY(&o->scratch, int, (size_t)o->n_groups + 1);

	o->makes = ARENA_ARRAY(&o->scratch, int, (size_t)g->n_nodes + 1);
	o->first_make = ARENA_ARRAY(&o->scratch, int, (size_t)o->n_groups + 2);
	if (!next || !o->makes || !o->first_make)
		return false;
	for (int id = 0; id < g->n_nodes; id++)
		if (o->group[id] >= 0)
			o->first_make[o->group[id] + 1]++;
	for (int k = 0; k < o->n_groups; k++)
		o->first_make[k + 1] += o->first_make[k];
	memcpy(next, o->first_make, (size_t)o->n_groups * sizeof(*next));
	for (int id = 0; id < g->n_nodes; id++)
		if (o->group[id] >= 0)
			o->makes[next[o->group[id]]++] = id;
	return true;
}

/* Random numbers are drawn in the order of the source. */
static bool chain_draws(struct group_order *o)
{
	int last = -1;

	o->chain = ARENA_ARRAY(&o->scratch, int, (size_t)o->n_groups + 1);
	if (!o->chain)
		return false;
	for (int k = 0; k < o->n_groups; k++) {
		o->chain[k] = -1;
		for (int i = o->first_make[k]; i < o->first_make[k + 1]; i++)
			if (op_draws(o->g->nodes[o->makes[i]]->op)) {
				o->chain[k] = last;
				last = k;
				break;
			}
	}
	return true;
}

static bool prepare(struct group_order *o, const bool *given_up)
{
	const struct graph *g = o->g;

	o->values = ARENA_ARRAY(&o->scratch, struct value_use, (size_t)g->n_nodes + 1);
	o->waits = ARENA_ARRAY(&o->scratch, int, (size_t)o->n_groups + 1);
	o->placed = ARENA_ARRAY(&o->scratch, bool, (size_t)o->n_groups + 1);
	if (!o->values || !o->waits || !o->placed || !list_makes(o) || !list_reads(o) ||
	    !chain_draws(o))
		return false;
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];

		o->values[id].maker = o->group[id];
		o->values[id].bytes = bytes_of(g, n);
		o->values[id].stays = n->op == OP_input && !(given_up && given_up[n->input]);
	}
	for (int i = 0; i < g->n_outputs; i++)
		o->values[view_base(g, g->outputs[i])].stays = true;
	return true;
}

/* Whether a value that the group makes is in memory at all. */
static bool is_kept(const struct group_order *o, int id)
{
	return o->values[id].n_users > 0 || (o->values[id].stays && o->values[id].maker >= 0);
}

static int64_t made_bytes(const struct group_order *o, int k)
{
	int64_t bytes = 0;

	for (int i = o->first_make[k]; i < o->first_make[k + 1]; i++)
		if (is_kept(o, o->makes[i]))
			bytes += o->values[o->makes[i]].bytes;
	return bytes;
}

static void start(struct group_order *o)
{
	for (int id = 0; id < o->g->n_nodes; id++)
		o->values[id].left = o->values[id].n_users;
	memset(o->placed, 0, sizeof(*o->placed) * (size_t)o->n_groups);
}

/* Whether the value ends with the kernel that is placed now. */
static bool ends(const struct value_use *v)
{
	return v->left == 1 && !v->stays;
}

/* Bytes of results that may take the place of operands: those of a kernel of our
 * own that are of one size. */
static int64_t replaced_bytes(const struct group_order *o, int k)
{
	int first = o->first_read[k], at;
	int64_t bytes = 0;

	if (op_info(o->g->nodes[o->makes[o->first_make[k]]]->op)->kind == KIND_LIBRARY)
		return 0;
	for (int i = o->first_make[k]; i < o->first_make[k + 1]; i++) {
		const struct value_use *made = &o->values[o->makes[i]];

		if (!is_kept(o, o->makes[i]))
			continue;
		for (at = first; at < o->first_read[k + 1]; at++)
			if (ends(&o->values[o->reads[at]]) &&
			    o->values[o->reads[at]].bytes == made->bytes)
				break;
		if (at == o->first_read[k + 1])
			continue;
		bytes += made->bytes;
		first = at + 1; /* each operand once */
	}
	return bytes;
}

/* The most that is held at once; inputs count as long as they do. */
static int64_t peak_of(struct group_order *o, const int *order)
{
	int64_t held = 0, peak = 0;

	start(o);
	for (int id = 0; id < o->g->n_nodes; id++)
		if (o->values[id].maker < 0 && o->values[id].n_users > 0)
			held += o->values[id].bytes;
	for (int at = 0; at < o->n_groups; at++) {
		int k = order[at];
		int64_t replaced = replaced_bytes(o, k);

		held += made_bytes(o, k);
		peak = held - replaced > peak ? held - replaced : peak;
		for (int i = o->first_read[k]; i < o->first_read[k + 1]; i++) {
			struct value_use *v = &o->values[o->reads[i]];

			held -= ends(v) ? v->bytes : 0;
			v->left--;
		}
	}
	return peak;
}

/* ---- from the front */

static int64_t front_cost(const struct group_order *o, int k)
{
	int64_t bytes = made_bytes(o, k);

	for (int i = o->first_read[k]; i < o->first_read[k + 1]; i++) {
		const struct value_use *v = &o->values[o->reads[i]];

		bytes -= ends(v) ? v->bytes : 0;
	}
	return bytes;
}

static bool front_ready(const struct group_order *o, int k)
{
	if (o->placed[k] || (o->chain[k] >= 0 && !o->placed[o->chain[k]]))
		return false;
	for (int i = o->first_read[k]; i < o->first_read[k + 1]; i++) {
		int maker = o->values[o->reads[i]].maker;

		if (maker >= 0 && !o->placed[maker])
			return false;
	}
	return true;
}

static void from_front(struct group_order *o, int *order)
{
	start(o);
	for (int at = 0; at < o->n_groups; at++) {
		int best = -1;
		int64_t least = 0;

		for (int k = 0; k < o->n_groups; k++) {
			int64_t cost;

			if (!front_ready(o, k))
				continue;
			cost = front_cost(o, k);
			if (best >= 0 && cost >= least)
				continue;
			best = k;
			least = cost;
		}
		order[at] = best;
		o->placed[best] = true;
		for (int i = o->first_read[best]; i < o->first_read[best + 1]; i++)
			o->values[o->reads[i]].left--;
	}
}

/* ---- from the back: what has a reader after it is there; placing a kernel frees
 * what it makes, and asks for what it reads */

static int64_t back_cost(const struct group_order *o, int k)
{
	int64_t bytes = -made_bytes(o, k);

	for (int i = o->first_read[k]; i < o->first_read[k + 1]; i++) {
		const struct value_use *v = &o->values[o->reads[i]];

		if (v->left == v->n_users && !v->stays)
			bytes += v->bytes;
	}
	return bytes;
}

static void note_back_waits(struct group_order *o)
{
	memset(o->waits, 0, sizeof(*o->waits) * (size_t)o->n_groups);
	for (int k = 0; k < o->n_groups; k++) {
		for (int i = o->first_read[k]; i < o->first_read[k + 1]; i++)
			if (o->values[o->reads[i]].maker >= 0)
				o->waits[o->values[o->reads[i]].maker]++;
		if (o->chain[k] >= 0)
			o->waits[o->chain[k]]++;
	}
}

static void from_back(struct group_order *o, int *order)
{
	start(o);
	note_back_waits(o);
	for (int at = o->n_groups - 1; at >= 0; at--) {
		int best = -1;
		int64_t least = 0;

		for (int k = o->n_groups - 1; k >= 0; k--) {
			int64_t cost;

			if (o->placed[k] || o->waits[k] > 0)
				continue;
			cost = back_cost(o, k);
			if (best >= 0 && cost >= least)
				continue;
			best = k;
			least = cost;
		}
		order[at] = best;
		o->placed[best] = true;
		for (int i = o->first_read[best]; i < o->first_read[best + 1]; i++) {
			struct value_use *v = &o->values[o->reads[i]];

			v->left--;
			if (v->maker >= 0)
				o->waits[v->maker]--;
		}
		if (o->chain[best] >= 0)
			o->waits[o->chain[best]]--;
	}
}

/* ---- the choice */

/* The kernels that now run after one that they ran before. */
static void note_moved(struct group_order *o, struct graph *g, const int *order)
{
	int last = -1;

	for (int at = 0; at < o->n_groups; at++) {
		if (order[at] < last)
			pass_fired(g, "a kernel runs when its result is read next",
				   g->nodes[o->makes[o->first_make[order[at]]]], NULL);
		else
			last = order[at];
	}
}

static bool choose(struct group_order *o, int *best)
{
	static void (*const ways[])(struct group_order *, int *) = { from_front, from_back };
	int *tried = ARENA_ARRAY(&o->scratch, int, (size_t)o->n_groups + 1);
	int64_t least;

	if (!tried)
		return false;
	least = peak_of(o, best);
	for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		int64_t peak;

		ways[w](o, tried);
		peak = peak_of(o, tried);
		if (peak >= least)
			continue;
		least = peak;
		memcpy(best, tried, sizeof(*best) * (size_t)o->n_groups);
	}
	return true;
}

bool order_groups(struct graph *g, const bool *given_up, const int *group, int n, int *place)
{
	struct group_order o = { .g = g, .group = group, .n_groups = n };
	int *best = ARENA_ARRAY(&o.scratch, int, (size_t)n + 1);
	bool ok = best != NULL;

	for (int k = 0; ok && k < n; k++)
		best[k] = k;
	if (ok && n > 2 && n <= ORDER_MAX_GROUPS) {
		ok = prepare(&o, given_up) && choose(&o, best);
		if (ok)
			note_moved(&o, g, best);
	}
	for (int at = 0; ok && at < n; at++)
		place[best[at]] = at;
	arena_finish(&o.scratch);
	return ok;
}
