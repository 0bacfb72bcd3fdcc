/* tests/plugins/fold_pairs.c -- an example of a pass: two products by numbers are one.
 *
 * (x * 2) * 4 becomes x * 8.  Only for powers of two, where no bit of a floating
 * point number is lost, and far enough from overflow.
 */
#include <math.h>

#include "fusion/plugin.h"

static bool is_scale(const struct be_arg *arg, double *scale)
{
	int exponent;

	if (arg->kind == BE_ARG_FLOAT)
		*scale = arg->f;
	else if (arg->kind == BE_ARG_INT)
		*scale = (double)arg->i;
	else
		return false;
	return fabs(frexp(*scale, &exponent)) == 0.5 && exponent > -30 && exponent < 30;
}

/* The node is a product of a tensor, *x, by a number. */
static bool is_product(const struct be_host *host, const struct be_graph *g, int node, int *x,
		       double *scale)
{
	const char *op = host->node_op(g, node);
	struct be_arg first, second;

	if (op[0] != 'm' || op[1] != 'u' || op[2] != 'l' || op[3])
		return false;
	first = host->arg(g, node, 0);
	second = host->arg(g, node, 1);
	*x = first.node;
	return first.kind == BE_ARG_NODE && is_scale(&second, scale);
}

static int visit(const struct be_host *host, struct be_rewrite *rw, const struct be_graph *g,
		 void *self)
{
	double outer, inner;
	struct be_arg args[2];
	int x, y;

	(void)self;
	if (host->node_dtype(g, BE_THIS) != BE_FLOAT32 ||
	    !is_product(host, g, BE_THIS, &x, &outer) || !is_product(host, g, x, &y, &inner) ||
	    host->node_dtype(g, y) != BE_FLOAT32)
		return BE_KEEP;
	host->fired(rw, "(x * 2) * 4 is x * 8");
	args[0] = be_node(y);
	args[1] = be_float(outer * inner);
	return host->make(rw, "mul", args, 2);
}

static const struct be_pass pass = {
	.name = "fold_pairs",
	.purpose = "two products by powers of two become one",
	.needs = "primitive",
	.breaks = "live strided apart",
	.place = "simplify",
	.after = true,
	.visit = visit,
};

static bool load(const struct be_host *host, struct be_registry *registry)
{
	return host->add_pass(registry, &pass);
}
BE_PLUGIN(load)
