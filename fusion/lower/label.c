/* fusion/lower/label.c -- what people read about a kernel: its name and why it
 * is one of its own.
 */
#include <stdio.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/lower/build.h"

enum { NAME_OPS = 6, NAME_CHARS = 64 };

static const char *op_name(const struct node *n)
{
	return op_info(n->op)->id;
}

/* Names of kernels before this one that open with the same text. */
static int count_namesakes(const struct build *b, const char *name)
{
	int count = 0;
	size_t len = strlen(name);
	for (int i = 0; i < b->kernel; i++) {
		const char *other = b->l->kernels[i].name;
		if (strncmp(other, name, len) == 0 &&
		    (!other[len] || strspn(other + len, "_0123456789") == strlen(other + len)))
			count++;
	}
	return count;
}

/* "fused_" and the ops in order, each once, as many as fit. */
const char *label_name(struct build *b, const struct kernel *k)
{
	char name[NAME_CHARS + 32];
	size_t len = (size_t)snprintf(name, sizeof(name), "%s",
				      k->form == FORM_LIBRARY ? "library" : "fused");
	bool used[OP_COUNT] = { false };

	for (int i = 0, listed = 0; i < k->n_nodes; i++) {
		const struct node *n = b->g->nodes[k->nodes[i]];
		const char *op = op_name(n);
		if (used[n->op])
			continue;
		used[n->op] = true;
		/* The first ones and the last one say what it is. */
		if (listed >= NAME_OPS && i + 1 < k->n_nodes)
			continue;
		if (len + 1 + strlen(op) >= NAME_CHARS)
			break;
		len += (size_t)snprintf(name + len, sizeof(name) - len, "_%s", op);
		listed++;
	}
	int before = count_namesakes(b, name);
	if (before > 0)
		snprintf(name + len, sizeof(name) - len, "_%d", before);
	return arena_strdup(b->arena, name);
}

static void print_dims(struct buf *out, const struct build *b, const struct node *n)
{
	uint32_t dims = node_reduced(b->g, n);
	int rank = b->g->nodes[n->args[0].node]->shape.rank, count = __builtin_popcount(dims);
	const char *separator = "";

	if (count == rank) {
		buf_puts(out, "all dims");
		return;
	}
	buf_printf(out, "dim%s ", count == 1 ? "" : "s");
	for (int d = 0; d < rank; d++)
		if (dims >> d & 1) {
			buf_printf(out, "%s%d", separator, d);
			separator = ", ";
		}
}

/* The last value from another kernel that this one waits for. */
static const struct node *find_producer(const struct build *b, const struct kernel *k)
{
	const struct node *last = NULL;
	for (int i = 0; i < k->n_nodes; i++) {
		const struct node *n = b->g->nodes[k->nodes[i]];
		for (int a = 0; a < n->n_args; a++) {
			if (n->args[a].kind != ARG_NODE)
				continue;
			const struct node *p = b->g->nodes[n->args[a].node];
			if (b->group[p->id] >= 0 && b->group[p->id] != b->kernel &&
			    (!last || p->id > last->id))
				last = p;
		}
	}
	return last;
}

/* The reduction that a value comes from within its kernel; NULL: none. */
static const struct node *find_reduction(const struct build *b, const struct node *n)
{
	while (op_info(n->op)->kind != KIND_REDUCE) {
		const struct node *up = NULL;
		for (int a = 0; a < n->n_args; a++)
			if (n->args[a].kind == ARG_NODE &&
			    b->group[n->args[a].node] == b->group[n->id] &&
			    (!up || n->args[a].node > up->id))
				up = b->g->nodes[n->args[a].node];
		if (!up)
			return NULL;
		n = up;
	}
	return n;
}

/* The reason of a kernel that waits for none. */
static void print_own_space(struct buf *out, const struct build *b, const struct kernel *k)
{
	if (b->kernel == 0) {
		buf_puts(out, "the first kernel: it reads inputs alone");
		return;
	}
	buf_puts(out, "no kernel before it ");
	for (int i = 0; i < k->n_nodes && b->domain.reduces; i++) {
		const struct node *n = b->g->nodes[k->nodes[i]];
		if (op_info(n->op)->kind != KIND_REDUCE)
			continue;
		buf_puts(out, "folds ");
		print_dims(out, b, n);
		buf_puts(out, " of ");
		shape_print(out, &b->domain.full);
		return;
	}
	buf_puts(out, "reads the same values over ");
	shape_print(out, &b->domain.full);
}

static void print_reason(struct buf *out, const struct build *b, const struct kernel *k)
{
	const struct node *producer = find_producer(b, k);
	if (k->form == FORM_LIBRARY) {
		buf_printf(out, "%s is a library call, which is never fused", op_name(k->library));
		return;
	}
	if (!producer) {
		print_own_space(out, b, k);
		return;
	}
	const struct kernel *from = &b->l->kernels[b->group[producer->id]];
	const struct node *reduction = find_reduction(b, producer);
	if (from->form == FORM_LIBRARY) {
		buf_printf(out, "reads what the library call %s wrote", op_name(producer));
	} else if (reduction) {
		buf_printf(out, "the %s over ", op_name(reduction));
		print_dims(out, b, reduction);
		buf_printf(out, " in %s must end before it starts", from->name);
	} else if (!shape_equal(&producer->shape, &b->domain.full)) {
		buf_puts(out, "another iteration space: ");
		shape_print(out, &b->domain.full);
		buf_printf(out, ", while %s walks ", from->name);
		shape_print(out, &producer->shape);
	} else {
		buf_printf(out,
			   "reads %%%s of %s; one kernel for both would be slower or past a bound",
			   producer->name, from->name);
	}
}

const char *label_reason(struct build *b, const struct kernel *k)
{
	struct buf text;
	buf_init(&text, 1024);
	print_reason(&text, b, k);
	const char *reason = text.failed ? NULL : arena_strdup(b->arena, text.data);
	buf_finish(&text);
	return reason;
}
