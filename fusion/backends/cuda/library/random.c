/* fusion/backends/cuda/library/random.c -- random numbers on the device, as PyTorch draws them
 * there. */
#include "fusion/backends/library/library.h"

#include <string.h>

#include "fusion/backends/cuda/library/library.h"
#include "fusion/base/generators.h"

struct drawn {
	CUfunction function;
	struct draw draw;
};

static const char *const hows[] = { [DRAW_UNIT] = "DRAW_UNIT",
				    [DRAW_OPEN] = "DRAW_OPEN",
				    [DRAW_LOG] = "DRAW_LOG",
				    [DRAW_CAUCHY] = "DRAW_CAUCHY",
				    [DRAW_GEOMETRIC] = "DRAW_GEOMETRIC",
				    [DRAW_NORMAL] = "DRAW_NORMAL",
				    [DRAW_EXP] = "DRAW_EXP",
				    [DRAW_INTS] = "DRAW_INTS",
				    [DRAW_KEEP] = "DRAW_KEEP",
				    [DRAW_DROP] = "DRAW_DROP" };

/* What is drawn where is known once sizes are: a function for each width of an int. */
static void emit_one(struct buf *out, const struct node *n, int kernel, enum draw_how how,
		     bool wide)
{
	cuda_emit_function(
	    out, (struct cuda_function_name){ kernel, wide ? "draw_wide" : "draw", ARGS_THREADS },
	    "draw_args", "draw<%s, %s, %s>", cuda_element(n->dtype), wide ? "f64" : "f32",
	    hows[how]);
}

static void emit(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const struct arg *arg = node_arg(n, "draws");
	const char *draws = arg ? arg->str : "";
	enum draw_how how = draw_how(n->op, draws);
	bool alone = how == DRAW_KEEP || how == DRAW_DROP || draw_alone(draws);

	(void)g;
	if (strcmp(draws, "cpu") == 0)
		return;
	if (how == DRAW_INTS || n->dtype != DTYPE_F64 || alone)
		emit_one(out, n, kernel, how, false);
	if (how == DRAW_INTS || (n->dtype == DTYPE_F64 && !alone))
		emit_one(out, n, kernel, how, true);
}

static enum placing bind(const struct cuda_call *c, void **state, struct err *err)
{
	struct drawn *s;

	if (!draw_on_gpu(c->call))
		return ON_HOST;
	*state = s = cuda_state(sizeof(*s), err);
	if (!s)
		return NOWHERE;
	draw_plan(c->call, &s->draw);
	return cuda_function(c, s->draw.args.wide ? "draw_wide" : "draw", &s->function, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static void run(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct drawn *s = state;

	if (draw_is_dropout(c->call)) /* of which elements the generator may say */
		draw_plan(c->call, &s->draw);
	if (c->call->node->op == OP_drop)
		s->draw.args.x = operand_start(&c->call->arg[0], buffers);
	draw_take(&s->draw, c->call->random, operand_start(&c->call->out, buffers));
	cuda_start(c, s->function, cuda_blocks(c, s->draw.args.calls), ARGS_THREADS, &s->draw.args);
}

const struct cuda_library cuda_draws = {
	.part = PART_RANDOM, .emit = emit, .bind = bind, .run = run, .draws = true
};
