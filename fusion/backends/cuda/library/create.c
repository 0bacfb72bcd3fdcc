/* fusion/backends/cuda/library/create.c -- arange, eye, tril and class_loss on the device. */
#include "fusion/backends/cuda/library/library.h"

struct created {
	CUfunction function;
	struct create_args args;
	bool reads;
};

static void emit_create(struct buf *out, const struct node *n, int kernel, const char *body)
{
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "create", ARGS_THREADS },
			   "create_args", "%s<%s>", body, cuda_element(n->dtype));
}

static void emit_arange(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	(void)g;
	emit_create(out, n, kernel, "count_up");
}

static void emit_linspace(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	(void)g;
	emit_create(out, n, kernel, "count_between");
}

static void emit_eye(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	(void)g;
	emit_create(out, n, kernel, "diagonal_ones");
}

static void emit_triangle(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	(void)g;
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "create", ARGS_THREADS },
			   "create_args", "triangle<%s, %s>", cuda_bits(dtype_bytes(n->dtype)),
			   n->op == OP_tril ? "true" : "false");
}

static double number(const struct library_call *call, int i)
{
	const struct arg *arg = &call->node->args[i];

	return arg->kind == ARG_FLOAT ? arg->f : (double)call->number[i];
}

static void fill_triangle(struct create_args *a, const struct library_call *call)
{
	const struct operand *x = &call->arg[0];

	a->columns = x->size[x->rank - 1];
	a->height = x->size[x->rank - 2];
	a->step = x->stride[x->rank - 1];
	a->diagonal = call->number[1];
	a->rows.rank = x->rank - 1;
	a->rows.points = 1;
	for (int d = 0; d < x->rank - 1; d++) {
		a->rows.size[d] = x->size[d];
		a->rows.points *= x->size[d];
	}
	cuda_walk_dims(&a->rows, 0, 0, x, 0, x->rank - 1);
	cuda_walk_fold(&a->rows, 1);
}

/* NULL with *err. */
static struct created *created(const struct cuda_call *c, void **state, struct err *err)
{
	struct created *s = cuda_state(sizeof(*s), err);

	*state = s;
	if (!s || !cuda_function(c, "create", &s->function, err))
		return NULL;
	s->args.points = c->call->out.numel;
	return s;
}

static enum placing bind_arange(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	struct created *s = created(c, state, err);

	if (!s)
		return NOWHERE;
	s->args.exact = call->node->args[0].kind != ARG_FLOAT &&
			call->node->args[1].kind != ARG_FLOAT;
	s->args.start = number(call, 0);
	s->args.by = number(call, 1);
	s->args.start_int = call->number[0];
	s->args.by_int = call->number[1];
	return ON_DEVICE;
}

static enum placing bind_linspace(const struct cuda_call *c, void **state, struct err *err)
{
	struct created *s = created(c, state, err);
	struct create_args *a;

	if (!s)
		return NOWHERE;
	a = &s->args;
	a->start = number(c->call, 0);
	a->end = number(c->call, 1);
	a->by = a->points > 1 ? (a->end - a->start) / (double)(a->points - 1) : 0;
	return ON_DEVICE;
}

static enum placing bind_eye(const struct cuda_call *c, void **state, struct err *err)
{
	struct created *s = created(c, state, err);

	if (!s)
		return NOWHERE;
	s->args.columns = c->call->out.size[1];
	return ON_DEVICE;
}

static enum placing bind_triangle(const struct cuda_call *c, void **state, struct err *err)
{
	struct created *s = created(c, state, err);

	if (!s)
		return NOWHERE;
	s->reads = true;
	fill_triangle(&s->args, c->call);
	return ON_DEVICE;
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct created *s = state;

	s->args.in = s->reads ? operand_start(&c->call->arg[0], buffers) : NULL;
	s->args.out = operand_start(&c->call->out, buffers);
	cuda_start(c, s->function, cuda_blocks(c, s->args.points), ARGS_THREADS, &s->args);
}

const struct cuda_library cuda_arange = {
	.part = PART_CREATE, .emit = emit_arange, .bind = bind_arange, .run = run
};
const struct cuda_library cuda_linspace = {
	.part = PART_CREATE, .emit = emit_linspace, .bind = bind_linspace, .run = run
};
const struct cuda_library cuda_eye = {
	.part = PART_CREATE, .emit = emit_eye, .bind = bind_eye, .run = run
};
const struct cuda_library cuda_triangle = {
	.part = PART_CREATE, .emit = emit_triangle, .bind = bind_triangle, .run = run
};

/* ---- class_loss */

enum { ARG_X, ARG_TARGET, ARG_WEIGHT, ARG_BASE, ARG_EVEN, ARG_IGNORE, ARG_SMOOTH, ARG_REDUCTION };

struct losses {
	CUfunction function;
	struct loss_args args;
	int64_t blocks; /* that add up */
};

enum { MOST_LOSS_BLOCKS = 264 };

static const char *element_of(const struct graph *g, const struct node *n, int arg)
{
	const struct arg *a = &n->args[arg];

	return cuda_element(a->kind == ARG_NODE ? g->nodes[a->node]->dtype : DTYPE_F64);
}

static void emit_loss(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "loss", LOSS_THREADS },
			   "loss_args", "%s<%s, %s, %s, %s, %s>",
			   n->args[ARG_REDUCTION].str[0] == 'n' ? "each_loss" : "add_losses",
			   element_of(g, n, ARG_X), element_of(g, n, ARG_WEIGHT),
			   element_of(g, n, ARG_BASE), element_of(g, n, ARG_EVEN),
			   cuda_element(n->dtype));
}

/* The walk of the targets: scores of class 0, targets, bases, even parts. */
static void fill_targets(struct loss_args *a, const struct library_call *call)
{
	const struct operand *x = &call->arg[ARG_X], *target = &call->arg[ARG_TARGET];
	struct walk_args *w = &a->targets;
	int dim = x->rank > 1;

	w->rank = target->rank;
	w->points = target->numel;
	for (int d = 0; d < w->rank; d++) {
		w->size[d] = target->size[d];
		w->stride[0][d] = !dim ? 0 : d == 0 ? x->stride[0] : x->stride[d + 1];
		w->stride[1][d] = target->stride[d];
	}
	for (int i = 0; i < 2; i++)
		if (call->arg[ARG_BASE + i].buffer >= 0) {
			int64_t step = 1;

			/* Counted row by row, whatever dims of size 1 they have. */
			for (int d = w->rank - 1; d >= 0; d--) {
				w->stride[2 + i][d] = step;
				step *= w->size[d];
			}
		}
	cuda_walk_fold(w, 4);
}

static const size_t LEFT_BYTES = 2 * MOST_LOSS_BLOCKS * sizeof(double);

/* Many losses have several blocks, which leave what they find. */
static bool share_losses(const struct cuda_call *c, struct losses *s, struct err *err)
{
	struct loss_args *a = &s->args;

	s->blocks = (a->targets.points + LOSS_POINTS - 1) / LOSS_POINTS;
	s->blocks = s->blocks > MOST_LOSS_BLOCKS ? MOST_LOSS_BLOCKS : s->blocks;
	if (s->blocks <= 1) {
		s->blocks = 1;
		return true;
	}
	a->left = (double *)cuda_take(c->device, LEFT_BYTES);
	a->arrived = (unsigned *)cuda_take(c->device, sizeof(unsigned));
	if (!a->left || !a->arrived)
		return err_set(err, ERR_MEMORY,
			       "There is no memory left on the device for %s; use smaller inputs.",
			       c->call->node->fx);
	c->device->memory.clear(c->device, a->arrived, sizeof(unsigned));
	return true;
}

static enum placing bind_loss(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	const struct operand *x = &call->arg[ARG_X], *weight = &call->arg[ARG_WEIGHT];
	struct losses *s = cuda_state(sizeof(*s), err);
	struct loss_args *a;

	*state = s;
	if (!s || !cuda_function(c, "loss", &s->function, err))
		return NOWHERE;
	for (int i = ARG_BASE; i <= ARG_EVEN; i++)
		if (call->arg[i].buffer >= 0 && !cuda_row_by_row(&call->arg[i]))
			return ON_HOST;
	a = &s->args;
	fill_targets(a, call);
	a->classes = x->size[x->rank > 1];
	a->step = x->stride[x->rank > 1];
	a->weight_step = weight->buffer >= 0 ? weight->stride[0] : 0;
	a->ignored = call->number[ARG_IGNORE];
	a->share = 1 - call->node->args[ARG_SMOOTH].f;
	a->reduction = (unsigned char)call->node->args[ARG_REDUCTION].str[0];
	a->call = c->call;
	a->fault = c->device->fault;
	return a->reduction == 'n' || share_losses(c, s, err) ? ON_DEVICE : NOWHERE;
}

static void drop_loss(struct device *d, void *state)
{
	struct losses *s = state;

	if (!s)
		return;
	if (s->args.left)
		cuda_release(d, (uint64_t)s->args.left, LEFT_BYTES);
	if (s->args.arrived)
		cuda_release(d, (uint64_t)s->args.arrived, sizeof(unsigned));
	free(s);
}

static void *place(const struct library_call *call, int arg, void *const *buffers)
{
	return call->arg[arg].buffer < 0 ? NULL : operand_start(&call->arg[arg], buffers);
}

static void run_loss(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct losses *s = state;
	struct loss_args *a = &s->args;

	a->scores = place(c->call, ARG_X, buffers);
	a->target = place(c->call, ARG_TARGET, buffers);
	a->weight = place(c->call, ARG_WEIGHT, buffers);
	a->base = place(c->call, ARG_BASE, buffers);
	a->even = place(c->call, ARG_EVEN, buffers);
	a->out = operand_start(&c->call->out, buffers);
	if (a->reduction == 'n')
		cuda_start(c, s->function, cuda_blocks(c, a->targets.points), ARGS_THREADS, a);
	else
		cuda_start(c, s->function, s->blocks, LOSS_THREADS, a);
}

const struct cuda_library cuda_losses = { .part = PART_CREATE,
					  .emit = emit_loss,
					  .bind = bind_loss,
					  .run = run_loss,
					  .drop = drop_loss,
					  .looks_up = true };
