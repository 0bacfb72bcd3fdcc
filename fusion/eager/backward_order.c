/* fusion/eager/backward_order.c -- in which order nodes run in a backward pass.
 *
 * A node runs when all nodes that send it a gradient have run; of those that may run
 * the youngest comes first.  Age alone does not say it: the node of a view may be made
 * after a node that reads it (autograd_renew()).
 */
#include <stdlib.h>

#include "fusion/eager/eager.h"

/* A heap, by age: the youngest node is at[0]. */
struct ready {
	struct grad_node **at; /* borrowed */
	size_t n;
};

static void swap(struct ready *r, size_t i, size_t k)
{
	struct grad_node *node = r->at[i];

	r->at[i] = r->at[k];
	r->at[k] = node;
}

static void push_ready(struct ready *r, struct grad_node *node)
{
	size_t i = r->n++;

	r->at[i] = node;
	for (; i > 0 && r->at[i]->birth > r->at[(i - 1) / 2]->birth; i = (i - 1) / 2)
		swap(r, i, (i - 1) / 2);
}

static struct grad_node *pop_ready(struct ready *r)
{
	struct grad_node *first = r->at[0];

	r->at[0] = r->at[--r->n];
	for (size_t i = 0, k; (k = 2 * i + 1) < r->n; i = k) {
		if (k + 1 < r->n && r->at[k + 1]->birth > r->at[k]->birth)
			k++;
		if (r->at[i]->birth >= r->at[k]->birth)
			break;
		swap(r, i, k);
	}
	return first;
}

bool backward_order(struct grad_node **nodes, size_t n, struct err *err)
{
	struct ready ready = { .at = calloc(n + 1, sizeof(struct grad_node *)) };
	size_t done = 0;

	if (!ready.at)
		return torch_no_memory(err);
	for (size_t i = 0; i < n; i++)
		if (nodes[i]->senders == 0)
			push_ready(&ready, nodes[i]);
	while (ready.n > 0) {
		struct grad_node *node = pop_ready(&ready);

		nodes[done++] = node; /* all are counted: the array is written from its start */
		for (int k = 0; k < node->n_args; k++) {
			struct grad_node *to = node->args[k].to.node;

			if (to && --to->senders == 0)
				push_ready(&ready, to);
		}
	}
	free(ready.at);
	return true;
}
