/* fusion/lower/traffic.c -- the bytes that a kernel moves, and those that fusion
 * spared.
 *
 * Each element that an access reaches counts once, under the hints of the capture:
 * what a cache holds between two walks over a row costs no memory traffic.  A value
 * that stays in the kernel would have been written once and read by each op that
 * takes it.
 */
#include <string.h>

#include "fusion/lower/build.h"

static int64_t hint(const struct build *b, const struct sym *s)
{
	return s ? sym_hint(b->g->syms, s) : 0;
}

static int64_t value_bytes(const struct build *b, const struct node *n)
{
	int64_t bytes = (int64_t)dtype_bytes(n->dtype);

	for (int d = 0; d < n->shape.rank; d++)
		bytes *= hint(b, n->shape.size[d]);
	return bytes;
}

static bool moves(const struct access *at, int d)
{
	return at->stride[d] && !sym_is(at->stride[d], 0);
}

/* Elements that an access reaches: dims of stride 0 repeat the same ones. */
static int64_t reached_bytes(const struct build *b, const struct kernel *k, const struct inst *inst)
{
	int64_t bytes = (int64_t)dtype_bytes(inst->dtype);

	for (int d = 0; d < k->n_dims; d++) {
		bool moved = moves(&inst->at, d);

		for (int i = 0; inst->lookup && i < inst->lookup->n; i++)
			moved |= moves(&inst->lookup->index[i].at, d);
		bytes *= moved ? hint(b, k->extent[d]) : 1;
	}
	return bytes;
}

/* The indices of a load. */
static int64_t index_bytes(const struct build *b, const struct kernel *k,
			   const struct lower_lookup *lookup)
{
	int64_t total = 0;

	for (int i = 0; i < lookup->n; i++) {
		const struct inst index = {
			.dtype = b->l->buffers[lookup->index[i].at.buffer].dtype,
			.at = lookup->index[i].at
		};

		total += reached_bytes(b, k, &index);
	}
	return total;
}

static bool same_access(const struct access *x, const struct access *y)
{
	return x->buffer == y->buffer && x->offset == y->offset &&
	       memcmp(x->stride, y->stride, sizeof(x->stride)) == 0;
}

/* Of the product's block, which is in the cache. */
static bool loads_product(const struct kernel *k, const struct inst *inst)
{
	return inst->kind == INST_LOAD && k->library && inst->at.buffer == k->out_buffer;
}

/* Whether an instruction before list[i] of the kernel reads or writes the same. */
static bool is_repeated(const struct kernel *k, const struct inst *const *lists, const int *counts,
			int list, int i)
{
	const struct inst *inst = &lists[list][i];

	for (int l = 0; l <= list; l++)
		for (int j = 0; j < (l == list ? i : counts[l]); j++)
			if ((lists[l][j].kind == INST_LOAD || lists[l][j].kind == INST_STORE) &&
			    !lists[l][j].join && !lists[l][j].lookup &&
			    !loads_product(k, &lists[l][j]) &&
			    same_access(&lists[l][j].at, &inst->at))
				return true;
	return false;
}

static int64_t joined_bytes(const struct build *b, const struct inst *inst)
{
	int64_t total = 0;

	for (int p = 0; p < inst->join->n; p++) {
		int64_t bytes = (int64_t)dtype_bytes(inst->dtype);

		for (int d = 0; d < inst->join->rank; d++)
			bytes *= hint(b, inst->join->part[p].extent[d]);
		total += bytes;
	}
	return total;
}

static void count_accesses(const struct build *b, struct kernel *k)
{
	const struct inst *lists[2 + 2 * DOMAIN_MAX_STAGES] = { k->setup, k->prologue };
	int counts[2 + 2 * DOMAIN_MAX_STAGES] = { k->n_setup, k->n_prologue }, n = 2;

	for (int s = 0; s < k->n_stages; s++) {
		lists[n] = k->stages[s].body;
		counts[n++] = k->stages[s].n_body;
		lists[n] = k->stages[s].post;
		counts[n++] = k->stages[s].n_post;
	}
	for (int l = 0; l < n; l++)
		for (int i = 0; i < counts[l]; i++) {
			const struct inst *inst = &lists[l][i];

			if (loads_product(k, inst))
				continue;
			if (inst->kind == INST_LOAD && inst->join)
				k->read_bytes += joined_bytes(b, inst);
			else if (inst->kind == INST_LOAD && inst->lookup)
				k->read_bytes += reached_bytes(b, k, inst) +
						 index_bytes(b, k, inst->lookup);
			else if ((inst->kind == INST_LOAD || inst->kind == INST_STORE) &&
				 !is_repeated(k, lists, counts, l, i))
				*(inst->kind == INST_LOAD ? &k->read_bytes : &k->written_bytes) +=
				    reached_bytes(b, k, inst);
		}
}

static void count_library(const struct build *b, struct kernel *k)
{
	for (int a = 0; a < k->library->n_args; a++)
		if (k->library->args[a].kind == ARG_NODE)
			k->read_bytes += value_bytes(b, b->g->nodes[k->library->args[a].node]);
}

/* Whether the program stores to a buffer, in any stage. */
static bool stores_to(const struct kernel *k, int buffer)
{
	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++)
			if (k->stages[s].body[i].kind == INST_STORE &&
			    k->stages[s].body[i].at.buffer == buffer)
				return true;
	return false;
}

void traffic_count(const struct build *b, struct kernel *k)
{
	bool placed = k->library && stores_to(k, k->out_buffer);

	if (k->library)
		count_library(b, k);
	if (k->library && !placed)
		k->written_bytes += value_bytes(b, k->library);
	if (k->form == FORM_LIBRARY)
		return;
	count_accesses(b, k);
	for (int i = 0; i < k->n_nodes; i++) {
		const struct node *n = b->g->nodes[k->nodes[i]];

		k->copies |= n->op == OP_contiguous;
		if (b->state[n->id].buffer < 0 || (n == k->library && placed))
			k->saved_bytes += value_bytes(b, n); /* it is not written */
		for (int a = 0; a < n->n_args; a++) {
			int x = n->args[a].kind == ARG_NODE ? n->args[a].node : -1;

			if (x >= 0 && b->group[x] == b->kernel)
				k->saved_bytes += value_bytes(b, b->g->nodes[x]);
		}
	}
}
