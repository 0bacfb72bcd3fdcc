/* tests/plugins/ops.c -- examples of ops: one made of others, one with its own kernel. */
#include <math.h>

#include "fusion/plugin.h"

/* limit * tanh(x / limit) */
static int expand_softclip(const struct be_host *host, struct be_rewrite *rw,
			   const struct be_arg *args, int n, void *self)
{
	struct be_arg pair[2] = { args[0], args[1] };
	int id;

	(void)n, (void)self;
	if (args[1].kind == BE_ARG_FLOAT && !(args[1].f > 0)) {
		host->fail(rw, "limit must be above 0");
		return BE_FAILED;
	}
	id = host->make(rw, "truediv", pair, 2);
	if (id < 0)
		return id;
	pair[0] = be_node(id);
	id = host->make(rw, "tanh", pair, 1);
	if (id < 0)
		return id;
	pair[0] = be_node(id);
	return host->make(rw, "mul", pair, 2);
}

/* The cube root of x, plus a shift: a function that no op of ours has. */
static void compute_cbrt(const struct be_operand *operands, int n, const struct be_tensor *result,
			 void *self)
{
	const struct be_tensor *x = &operands[0].tensor;
	int64_t at[BE_MAX_RANK] = { 0 }, count = 1;

	(void)n, (void)self;
	for (int d = 0; d < result->rank; d++)
		count *= result->size[d];
	for (int64_t i = 0; i < count; i++) {
		int64_t offset = 0;

		for (int d = 0; d < x->rank; d++)
			offset += at[d] * x->stride[d];
		if (x->dtype == BE_FLOAT32)
			((float *)result->data)[i] =
			    (float)(cbrt(((const float *)x->data)[offset]) + operands[1].f);
		else if (x->dtype == BE_FLOAT64)
			((double *)result->data)[i] = cbrt(((const double *)x->data)[offset]) +
						      operands[1].f;
		for (int d = result->rank - 1; d >= 0 && ++at[d] == result->size[d]; d--)
			at[d] = 0;
	}
}

static const struct be_op softclip = {
	.name = "softclip",
	.spellings = "torch.ops.demo.softclip Tensor.softclip",
	.signature = "Tensor x, float limit=1.0",
	.doc = "limit * tanh(x / limit)",
	.dtype = BE_RESULT_FLOAT,
	.shape = BE_SHAPE_FIRST,
	.expand = expand_softclip,
};

static const struct be_op root = {
	.name = "cbrt",
	.spellings = "torch.ops.demo.cbrt",
	.signature = "Tensor x, float shift=0.0",
	.doc = "the cube root, plus a shift",
	.dtype = BE_RESULT_SAME,
	.shape = BE_SHAPE_FIRST,
	.compute = compute_cbrt,
};

static bool load(const struct be_host *host, struct be_registry *registry)
{
	return host->add_op(registry, &softclip) && host->add_op(registry, &root);
}
BE_PLUGIN(load)
