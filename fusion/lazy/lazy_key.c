/* fusion/lazy/lazy_key.c -- what makes two traces the same graph.
 *
 * As in PyTorch/XLA: ops and how they are wired, dtypes, shapes, strides of
 * inputs, and Python numbers, but neither names nor lines.  Of a float that kernels take
 * as an argument only which other uses are of the same one.  The whole key is
 * kept and compared, so equal hashes alone prove nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/lazy/lazy.h"

struct key_writer {
	const struct graph *g;
	bool with_names;
	bool *need;
	int *number; /* by node: its place among the needed ones */
	struct lazy_part *part;
	struct buf *key;
};

static void put(struct key_writer *w, int64_t word)
{
	buf_add(w->key, &word, sizeof(word));
}

static void put_text(struct key_writer *w, const char *text)
{
	put(w, (int64_t)strlen(text));
	buf_puts(w->key, text);
}

static void put_sizes(struct key_writer *w, const struct sym *const *size, int n)
{
	put(w, n);
	for (int i = 0; i < n; i++)
		put(w, size[i]->value);
}

/* The place of a symbol among those of the part. */
static int place_of(struct lazy_part *part, int symbol)
{
	int i = 0;

	while (i < part->n_numbers && part->numbers[i] != symbol)
		i++;
	if (i == part->n_numbers)
		part->numbers[part->n_numbers++] = symbol;
	return i;
}

static void put_arg(struct key_writer *w, const struct arg *a)
{
	int64_t bits;

	put(w, a->kind);
	switch (a->kind) {
	case ARG_NONE:
		return;
	case ARG_NODE:
		put(w, w->number[a->node]);
		return;
	case ARG_INT:
		put(w, a->sym->value);
		return;
	case ARG_REAL:
		put(w, place_of(w->part, (int)a->sym->value));
		return;
	case ARG_FLOAT: /* by bits: -0.0 is not 0.0 */
		memcpy(&bits, &a->f, sizeof(bits));
		put(w, bits);
		return;
	case ARG_BOOL:
		put(w, a->b);
		return;
	case ARG_DTYPE:
		put(w, a->dtype);
		return;
	case ARG_INTS:
		put_sizes(w, a->ints, a->n);
		return;
	case ARG_STR:
		put_text(w, a->str);
		return;
	}
}

static void put_node(struct key_writer *w, const struct node *n)
{
	size_t bytes = dtype_bytes(n->dtype);

	put(w, (int64_t)n->op | (int64_t)n->dtype << 16 | (int64_t)n->compute << 24 |
		   (int64_t)n->weak << 32);
	put_sizes(w, n->shape.size, n->shape.rank);
	if (n->op == OP_input)
		put_sizes(w, n->stride, n->shape.rank);
	for (int d = 0; d < n->shape.rank; d++)
		bytes *= (size_t)n->shape.size[d]->value;
	if (n->data)
		buf_add(w->key, n->data, bytes);
	for (int i = 0; i < n->n_args; i++)
		put_arg(w, &n->args[i]);
	if (w->with_names)
		put_text(w, n->fx);
}

void lazy_reach(const struct graph *g, const int *outputs, int n_outputs, bool *need)
{
	for (int i = 0; i < n_outputs; i++)
		need[outputs[i]] = true;
	for (int id = g->n_nodes - 1; id >= 0; id--) {
		const struct node *n = g->nodes[id];

		need[id] = need[id] || graph_draws(n);
		for (int i = 0; need[id] && i < n->n_args; i++)
			if (n->args[i].kind == ARG_NODE)
				need[n->args[i].node] = true;
	}
}

void lazy_part_finish(struct lazy_part *p)
{
	free(p->inputs);
	free(p->numbers);
	*p = (struct lazy_part){ 0 };
}

bool lazy_key(const struct graph *g, const int *outputs, int n_outputs, bool with_names,
	      struct buf *key, struct lazy_part *part)
{
	struct key_writer w = { .g = g, .with_names = with_names, .part = part, .key = key };
	int count = 0;

	w.need = calloc((size_t)g->n_nodes + 1, sizeof(*w.need));
	w.number = calloc((size_t)g->n_nodes + 1, sizeof(*w.number));
	*part = (struct lazy_part){
		.inputs = calloc((size_t)g->n_nodes + 1, sizeof(*part->inputs)),
		.numbers = calloc((size_t)sym_var_count(g->syms) + 1, sizeof(*part->numbers)),
	};
	if (w.need && w.number && part->inputs && part->numbers) {
		lazy_reach(g, outputs, n_outputs, w.need);
		for (int id = 0; id < g->n_nodes; id++) {
			if (!w.need[id])
				continue;
			w.number[id] = count++;
			put_node(&w, g->nodes[id]);
			if (g->nodes[id]->op == OP_input)
				part->inputs[part->n_inputs++] = g->nodes[id]->input;
		}
		put(&w, n_outputs);
		for (int i = 0; i < n_outputs; i++)
			put(&w, w.number[outputs[i]]);
	} else {
		key->failed = true;
	}
	free(w.need);
	free(w.number);
	return !key->failed;
}
