/* fusion/lower/product.c -- kernels that begin with a product of matrices.
 *
 * The product's function writes its result, and the tile program loads it from
 * there.  Where nobody else reads the result it lies in the memory of a value that
 * the program stores at the same points, so that it needs none of its own.
 */
#include "fusion/lower/build.h"

void library_place(struct build *b, struct kernel *k, const struct node *n)
{
	k->op = n->op;
	k->library = n;
	for (int a = 0; a < n->n_args; a++)
		if (n->args[a].kind == ARG_NODE) {
			k->arg_at[a] = build_access(b, n->args[a].node);
			k->arg_buffer[a] = k->arg_at[a].buffer;
		}
}

const struct node *product_of(const struct build *b)
{
	for (int i = 0; i < b->n_nodes; i++)
		if (op_is_product(b->g->nodes[b->nodes[i]]->op))
			return b->g->nodes[b->nodes[i]];
	return NULL;
}

/* A buffer that is stored where the product would be read for the last time; -1. */
static int find_stored(const struct build *b, const struct kernel *k, int product)
{
	const struct buffer *buffers = b->l->buffers;

	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++) {
			const struct inst *inst = &k->stages[s].body[i];

			if (inst->kind == INST_STORE &&
			    buffers[inst->at.buffer].dtype == buffers[product].dtype &&
			    kernel_overwrites(k, product, inst->at.buffer))
				return inst->at.buffer;
		}
	return -1;
}

static void load_from(struct kernel *k, int from, int to)
{
	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++)
			if (k->stages[s].body[i].at.buffer == from)
				k->stages[s].body[i].at.buffer = to;
}

/* The tile program is complete; `k` has no product yet, as far as
 * kernel_overwrites() knows. */
void product_place(struct build *b, struct kernel *k)
{
	const struct node *n = product_of(b);
	int own = b->state[n->id].buffer, stored = -1;

	if (b->own_result)
		stored = find_stored(b, k, own);
	if (stored >= 0)
		load_from(k, own, stored);
	library_place(b, k, n);
	k->out_buffer = stored >= 0 ? stored : own;
}
