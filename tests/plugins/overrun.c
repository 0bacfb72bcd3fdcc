/* tests/plugins/overrun.c -- ops that write outside of their result, for tests of --poison. */
#include "fusion/plugin.h"

static void fill(const struct be_tensor *result, int64_t first, int64_t more)
{
	int64_t count = 1;

	for (int d = 0; d < result->rank; d++)
		count *= result->size[d];
	for (int64_t i = first; i < count + more; i++)
		((float *)result->data)[i] = 1.0f;
}

static void one_past(const struct be_operand *operands, int n, const struct be_tensor *result,
		     void *self)
{
	(void)operands, (void)n, (void)self;
	fill(result, 0, 1);
}

static void one_before(const struct be_operand *operands, int n, const struct be_tensor *result,
		       void *self)
{
	(void)operands, (void)n, (void)self;
	fill(result, -1, 0);
}

/* It leaves its last element as it finds it. */
static void one_short(const struct be_operand *operands, int n, const struct be_tensor *result,
		      void *self)
{
	(void)operands, (void)n, (void)self;
	fill(result, 0, -1);
}

#define OP(function)                                                                               \
	{                                                                                          \
		.name = #function, .spellings = "torch.ops.demo." #function,                       \
		.signature = "Tensor x", .doc = "ones, but for a fault", .dtype = BE_RESULT_SAME,  \
		.shape = BE_SHAPE_FIRST, .compute = function                                       \
	}

static bool load(const struct be_host *host, struct be_registry *registry)
{
	static const struct be_op ops[] = { OP(one_past), OP(one_before), OP(one_short) };

	for (int i = 0; i < 3; i++)
		if (!host->add_op(registry, &ops[i]))
			return false;
	return true;
}
BE_PLUGIN(load)
