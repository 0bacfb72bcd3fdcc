/* fusion/backends/cuda/library/conv_back.c -- gradients of convolutions by cuDNN; without it by
 * kernels of our own. */
#include <stdlib.h>

#include "fusion/backends/cuda/library/conv.h"

enum { ARG_GROUPS = 6, ARG_ORDERED };

struct convolution_back {
	CUfunction function; /* our own */
	struct conv_args args;
	struct dnn_graph *graph; /* NULL: our own */
	int64_t points;          /* of the result */
};

static bool makes_x(const struct node *n)
{
	return n->op == OP_conv_x;
}

static struct conv_operands operands_of(const struct library_call *call)
{
	const struct operand *g = &call->arg[0], *other = &call->arg[1];

	if (makes_x(call->node))
		return (struct conv_operands){ .x = &call->out,
					       .w = other,
					       .y = g,
					       .groups = call->number[ARG_GROUPS],
					       .result = CONV_X,
					       .varies = !call->number[ARG_ORDERED] };
	return (struct conv_operands){ .x = other,
				       .w = &call->out,
				       .y = g,
				       .groups = call->number[ARG_GROUPS],
				       .result = CONV_W,
				       .varies = !call->number[ARG_ORDERED] };
}

static void emit(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	(void)g;
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "convolve", ARGS_THREADS },
			   "conv_args", makes_x(n) ? "convolve_x<%s>" : "convolve_weight<%s>",
			   cuda_element(n->dtype));
}

static enum placing bind(const struct cuda_call *c, void **state, struct err *err)
{
	struct conv_operands o = operands_of(c->call);
	struct convolution_back *s = cuda_state(sizeof(*s), err);

	*state = s;
	if (!s)
		return NOWHERE;
	cuda_conv_fill(&s->args, c->call, &o);
	s->points = c->call->out.numel;
	if (cuda_conv_suits(&o) && cuda_row_by_row(o.w))
		s->graph = cuda_conv_graph(c, &s->args, &o);
	if (s->graph)
		return ON_DEVICE;
	if (!c->module)
		return WANTS_KERNELS;
	return cuda_function(c, "convolve", &s->function, err) ? ON_DEVICE : NOWHERE;
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct convolution_back *s = state;
	struct conv_args *a = &s->args;
	void *out = operand_start(&c->call->out, buffers);
	const void *other = operand_start(&c->call->arg[1], buffers);
	bool for_x = makes_x(c->call->node);

	a->y = operand_start(&c->call->arg[0], buffers);
	a->x = for_x ? out : other;
	a->w = for_x ? other : out;
	a->out = out;
	if (s->graph)
		cuda_conv_run(c, s->graph, a->x, a->w, a->y);
	else
		cuda_start(c, s->function, cuda_blocks(c, s->points), ARGS_THREADS, a);
}

static void drop(struct device *d, void *state)
{
	struct convolution_back *s = state;

	(void)d;
	if (s)
		dnn_drop(s->graph);
	free(s);
}

const struct cuda_library cuda_convolution_back = {
	.part = PART_WINDOW, .late = true, .emit = emit, .bind = bind, .run = run, .drop = drop
};
