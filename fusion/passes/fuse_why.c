/* fusion/passes/fuse_why.c -- "why is this its own kernel?", a sentence for each.
 *
 * What a kernel waits for comes first: the latest value of another kernel, and
 * what kept the two apart, asked again of the clusters as they ended up.  Then
 * why the kernel ends: a value that others read is stored once, since computing
 * it again in each of them would cost more.
 */
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/passes/fuse.h"

struct why_writer {
	struct fuse *f;
	const int *number;
	bool *marked; /* by node, for costs */
	struct buf out;
};

static const struct node *node_of(const struct why_writer *w, int id)
{
	return w->f->g->nodes[id];
}

static enum op_kind kind_of(const struct why_writer *w, int id)
{
	return op_info(node_of(w, id)->op)->kind;
}

/* The latest value of another kernel that this one waits for; -1: none. */
static int find_producer(const struct why_writer *w, int cluster)
{
	const struct cluster *c = &w->f->clusters[cluster];
	int last = -1;

	for (int i = 0; i < c->n; i++) {
		const struct node *n = node_of(w, c->nodes[i]);

		for (int k = 0; k < n->n_args; k++) {
			int p = fuse_producer(w->f, n, k);

			if (p >= 0 && p != cluster && w->f->base[n->args[k].node] > last)
				last = w->f->base[n->args[k].node];
		}
	}
	return last;
}

/* The reduction that a value comes from within its kernel; -1: none. */
static int find_reduction(const struct why_writer *w, int id)
{
	const int *group = w->f->group;

	while (!op_folds(node_of(w, id)->op)) {
		const struct node *n = node_of(w, id);
		int up = -1;

		for (int k = 0; k < n->n_args; k++)
			if (n->args[k].kind == ARG_NODE && group[n->args[k].node] == group[id] &&
			    n->args[k].node > up)
				up = n->args[k].node;
		if (up < 0)
			return -1;
		id = up;
	}
	return id;
}

static void print_dims(struct why_writer *w, int reduction)
{
	const struct node *n = node_of(w, reduction);
	uint32_t dims = node_reduced(w->f->g, n);
	int rank = node_of(w, n->args[0].node)->shape.rank, count = __builtin_popcount(dims);
	const char *separator = "";

	if (count == rank) {
		buf_puts(&w->out, "all dims");
		return;
	}
	buf_printf(&w->out, "dim%s ", count == 1 ? "" : "s");
	for (int d = 0; d < rank; d++)
		if (dims >> d & 1) {
			buf_printf(&w->out, "%s%d", separator, d);
			separator = ", ";
		}
}

/* The start of a kernel that waits for none. */
static void print_own_space(struct why_writer *w, int cluster)
{
	const struct cluster *c = &w->f->clusters[cluster];

	if (w->number[cluster] == 0) {
		buf_puts(&w->out, "the first kernel: it reads inputs alone");
		return;
	}
	buf_puts(&w->out, "no kernel before it ");
	for (int i = 0; i < c->n && c->domain.reduces; i++)
		if (op_folds(node_of(w, c->nodes[i])->op)) {
			buf_puts(&w->out, "folds ");
			print_dims(w, c->nodes[i]);
			buf_puts(&w->out, " of ");
			shape_print(&w->out, &c->domain.full);
			return;
		}
	buf_puts(&w->out, "reads the same values over ");
	shape_print(&w->out, &c->domain.full);
}

/* Two clusters whose spaces do not fit. */
static void print_spaces(struct why_writer *w, int cluster, int producer)
{
	int reduction = find_reduction(w, producer), from = w->f->group[producer];
	const struct shape *own = &w->f->clusters[cluster].domain.full;

	if (reduction >= 0) {
		buf_printf(&w->out, "the %s over ", op_info(node_of(w, reduction)->op)->id);
		print_dims(w, reduction);
		buf_printf(&w->out, " in kernel %d must end before it starts", w->number[from]);
		return;
	}
	if (shape_equal(own, &w->f->clusters[from].domain.full)) {
		buf_printf(&w->out, "folds other dims than kernel %d, or in another order",
			   w->number[from]);
		return;
	}
	buf_puts(&w->out, "another iteration space: ");
	shape_print(&w->out, own);
	buf_printf(&w->out, ", while kernel %d walks ", w->number[from]);
	shape_print(&w->out, &w->f->clusters[from].domain.full);
}

static void print_bound(struct why_writer *w, const struct fuse_verdict *v, int with)
{
	static const char *const what[] = {
		[LIMIT_NODES] = "ops, more than a kernel may have",
		[LIMIT_ACCESSES] = "tensors read and written at once, more than a kernel may have",
		[LIMIT_REDUCTIONS] = "reductions, more than a kernel may have",
		[LIMIT_LIVE] = "values alive at once, whose tiles would fill the second cache",
	};

	buf_printf(&w->out, "with kernel %d it would have %.0f %s", with, v->count, what[v->limit]);
}

static void print_alone(struct why_writer *w, int cluster, int producer)
{
	int node = w->f->clusters[cluster].nodes[0], repeats = w->f->clusters[cluster].repeats;

	if (repeats)
		buf_printf(&w->out,
			   "%s is a library call; the ops after it read %d operands that repeat "
			   "along its rows, which would be copied out for each block, and its "
			   "result stays in the cache anyway",
			   op_info(node_of(w, node)->op)->id, repeats);
	else if (kind_of(w, node) == KIND_LIBRARY)
		buf_printf(&w->out, "%s is a library call, which is never fused",
			   op_info(node_of(w, node)->op)->id);
	else if (producer >= 0 && kind_of(w, producer) == KIND_LIBRARY)
		buf_printf(&w->out, "reads what the library call %s wrote",
			   op_info(node_of(w, producer)->op)->id);
	else if (kind_of(w, node) == KIND_CREATE)
		buf_puts(&w->out, "a fill that is needed in memory");
	else
		buf_puts(&w->out, "a mask that is made first, so that what it is made of can go");
}

/* A reduction that would have to wait for all columns of a row. */
static void print_whole_rows(struct why_writer *w, int from, const struct fuse_verdict *v)
{
	buf_printf(&w->out,
		   "folds rows that the %s of kernel %d makes: in that kernel each block would "
		   "have all %.0f columns, and with %.0f rows that costs more than a launch",
		   op_info(node_of(w, v->node)->op)->id, w->number[from], v->count, v->units);
}

static void print_product(struct why_writer *w, int cluster)
{
	const struct cluster *c = &w->f->clusters[cluster];

	buf_printf(&w->out, "%s is a library call", op_info(node_of(w, c->product)->op)->id);
	if (c->n == 1)
		buf_puts(&w->out, "; no op after it could be done on its blocks");
	else
		buf_printf(&w->out,
			   "; the %d op%s after it %s computed block by block of its result, "
			   "while that is in the cache",
			   c->n - 1, c->n == 2 ? "" : "s", c->n == 2 ? "is" : "are");
}

/* Why it is not in one kernel with its producer, which is in cluster `from`. */
static void print_verdict(struct why_writer *w, const struct fuse_verdict *v, int cluster,
			  int producer, int from)
{
	switch (v->limit) {
	case LIMIT_ALONE:
		return print_alone(w, cluster, producer);
	case LIMIT_SPACE:
		return print_spaces(w, cluster, producer);
	case LIMIT_MEMORY:
		buf_printf(&w->out,
			   "reads %%%s of kernel %d in another order, which needs it in memory",
			   node_of(w, producer)->name, w->number[from]);
		return;
	case LIMIT_PRODUCT:
		buf_printf(&w->out,
			   "walks what %%%s of kernel %d makes in another order, or has a "
			   "product of its own",
			   node_of(w, v->node)->name, w->number[from]);
		return;
	case LIMIT_WHOLE_ROW:
		print_whole_rows(w, from, v);
		return;
	case LIMIT_JOIN:
		buf_printf(&w->out,
			   "%s is read in the order of its own points, and not in a kernel "
			   "that folds",
			   v->node >= 0 ? op_info(node_of(w, v->node)->op)->id
					: "a join, or what has its channels last,");
		return;
	case LIMIT_STORED:
		buf_printf(&w->out, "%%%s, ", node_of(w, v->node)->name);
		shape_print(&w->out, &node_of(w, v->node)->shape);
		buf_printf(
		    &w->out,
		    ", is stored, and with kernel %d it would be for every point of a larger walk",
		    w->number[from]);
		return;
	case LIMIT_RECOMPUTE:
		buf_printf(&w->out,
			   "with kernel %d, %%%s would be computed %.0f times for each element: "
			   "%.3g units "
			   "of work more, and a launch costs %d",
			   w->number[from], node_of(w, v->node)->name, v->count, v->units,
			   UNITS_LAUNCH);
		return;
	case LIMIT_LONG_ROW:
		print_spaces(w, cluster, producer);
		buf_printf(&w->out, ": all threads share its one row of %.0f points", v->count);
		return;
	case LIMIT_NODES:
	case LIMIT_ACCESSES:
	case LIMIT_REDUCTIONS:
	case LIMIT_LIVE:
		return print_bound(w, v, w->number[from]);
	case LIMIT_ORDER:
	case LIMIT_NONE:
		buf_printf(&w->out, "another kernel lies between it and %%%s of kernel %d",
			   node_of(w, producer)->name, w->number[from]);
	}
}

static void print_start(struct why_writer *w, int cluster)
{
	int producer = find_producer(w, cluster), from;
	struct fuse_verdict v;

	if (w->f->clusters[cluster].product >= 0)
		return print_product(w, cluster);
	if (w->f->clusters[cluster].alone)
		return print_alone(w, cluster, producer);
	if (producer < 0)
		return print_own_space(w, cluster);
	from = w->f->group[producer];
	if (w->f->off) {
		buf_puts(&w->out, "fusion is off: every op is a kernel");
		return;
	}
	v = fuse_verdict_of(w->f, from, cluster);
	print_verdict(w, &v, cluster, producer, from);
}

/* Units of work to compute a node once more for one element, from what its kernel
 * reads. */
static int units_of(struct why_writer *w, int id)
{
	const struct cluster *c = &w->f->clusters[w->f->group[id]];
	int units = 0;

	memset(w->marked, 0, (size_t)w->f->g->n_nodes);
	w->marked[id] = true;
	for (int i = c->n - 1; i >= 0; i--) {
		const struct node *n = node_of(w, c->nodes[i]);

		if (!w->marked[n->id])
			continue;
		units += op_info(n->op)->transcendental ? UNITS_HEAVY : 1;
		for (int k = 0; k < n->n_args; k++)
			if (n->args[k].kind == ARG_NODE)
				w->marked[n->args[k].node] = true;
	}
	return units;
}

/* Kernels other than its own that read a value. */
static int count_readers(const struct why_writer *w, int id)
{
	const struct fuse *f = w->f;
	int readers = 0;

	for (int u = f->first_use[id]; u < f->first_use[id + 1]; u++) {
		int group = f->group[f->uses[u]], before = f->first_use[id];

		while (before < u && f->group[f->uses[before]] != group)
			before++;
		readers += group >= 0 && group != f->group[id] && before == u;
	}
	return readers;
}

/* The value that most other kernels read, where it could be computed there. */
static void print_end(struct why_writer *w, int cluster)
{
	const struct cluster *c = &w->f->clusters[cluster];
	int most = 1, stored = -1;

	for (int i = 0; i < c->n && !c->alone; i++) {
		int readers = w->f->is_output[c->nodes[i]] ? 0 : count_readers(w, c->nodes[i]);

		if (readers > most && kind_of(w, c->nodes[i]) == KIND_POINTWISE) {
			most = readers;
			stored = c->nodes[i];
		}
	}
	if (stored >= 0 && c->product >= 0)
		buf_printf(&w->out, "; %%%s is stored: %d kernels read it",
			   node_of(w, stored)->name, most);
	else if (stored >= 0)
		buf_printf(&w->out,
			   "; %%%s is stored: %d kernels read it, and to compute it again "
			   "costs %d units an element",
			   node_of(w, stored)->name, most, units_of(w, stored));
}

const char **fuse_why(struct fuse *f, const int *number, int n_groups)
{
	struct why_writer w = { .f = f, .number = number };
	const char **why = ARENA_ARRAY(f->g->arena, const char *, (size_t)n_groups + 1);

	w.marked = ARENA_ARRAY(&f->scratch, bool, (size_t)f->g->n_nodes + 1);
	for (int id = 0; why && w.marked && id < f->g->n_nodes; id++) {
		if (f->clusters[id].n == 0)
			continue;
		buf_init(&w.out, 1024);
		print_start(&w, id);
		print_end(&w, id);
		if (!w.out.failed)
			why[number[id]] = arena_strdup(f->g->arena, w.out.data);
		buf_finish(&w.out);
		if (!why[number[id]])
			return NULL;
	}
	return w.marked ? why : NULL;
}
