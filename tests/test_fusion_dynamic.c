/* tests/test_fusion_dynamic.c -- functions whose answer depends on values, tuples of
 * results, casts and questions about types, in every mode.
 *
 * The programs check themselves with assert; numbers are PyTorch's.
 */
#include "tests/engine.h"

/* x is [[1, 0, 3], [0, -2, 0]] */
static const char *const bodies[] = {
	/* nonzero and its kin */
	"    assert torch.nonzero(x).tolist() == [[0, 0], [0, 2], [1, 1]]\n"
	"    rows, columns = x.nonzero(as_tuple=True)\n"
	"    assert rows.tolist() == [0, 0, 1] and columns.tolist() == [0, 2, 1]\n"
	"    assert torch.where(x > 0)[1].tolist() == [0, 2]\n"
	"    assert torch.argwhere(x < 0).tolist() == [[1, 1]]\n"
	"    assert torch.nonzero(x > 9).shape == (0, 2)\n",
	/* unique */
	"    assert torch.unique(x).tolist() == [-2.0, 0.0, 1.0, 3.0]\n"
	"    v, i, n = torch.unique(x, return_inverse=True, return_counts=True)\n"
	"    assert i.tolist() == [[2, 1, 3], [1, 0, 1]] and n.tolist() == [1, 3, 1, 1]\n"
	"    t = torch.tensor([1, 1, 2, 1])\n"
	"    assert torch.unique_consecutive(t).tolist() == [1, 2, 1]\n"
	"    assert t.unique().dtype == torch.int64\n",
	/* masked_select, bincount, equal, allclose */
	"    assert x.masked_select(x != 0).tolist() == [1.0, 3.0, -2.0]\n"
	"    assert torch.masked_select(x, torch.tensor([True, False, True])).tolist() == "
	"[1.0, 3.0, 0.0, 0.0]\n"
	"    assert torch.bincount(torch.tensor([0, 2, 2]), minlength=5).tolist() == "
	"[1, 0, 2, 0, 0]\n"
	"    assert torch.equal(x, x + 0) and not torch.equal(x, x + 1)\n"
	"    assert torch.allclose(x, x + 1e-9) and not torch.allclose(x, x + 1e-3)\n",
	/* tuples of results */
	"    top = x.max(dim=1)\n"
	"    assert top.values.tolist() == [3.0, 0.0] and top.indices.tolist() == [2, 0]\n"
	"    low, where = torch.min(x, 0, keepdim=True)\n"
	"    assert low.tolist() == [[0.0, -2.0, 0.0]] and where.tolist() == [[1, 1, 1]]\n"
	"    assert torch.max(x, -x).tolist() == [[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]\n"
	"    assert x.topk(2).indices.tolist() == [[2, 0], [0, 2]]\n"
	"    assert x.sort(descending=True)[0].tolist() == [[3.0, 1.0, 0.0], [0.0, 0.0, -2.0]]\n"
	"    assert x.median().item() == 0 and x.kthvalue(3).values.tolist() == [3.0, 0.0]\n"
	"    assert x.aminmax().max == 3 and torch.aminmax(x, dim=0).min.tolist() == "
	"[0.0, -2.0, 0.0]\n"
	"    assert x.cummax(1)[0].tolist() == [[1.0, 1.0, 3.0], [0.0, 0.0, 0.0]]\n"
	"    assert torch.var_mean(x, dim=1, unbiased=False)[1][1] < 0\n",
	/* casts */
	"    assert x.half().dtype is torch.float16 and x.bfloat16().float().sum() == 2\n"
	"    assert x.int().dtype == torch.int32 and x.byte()[1, 1] == 254\n"
	"    assert (x.char() * 100).tolist() == [[100, 0, 44], [0, 56, 0]]\n"
	"    assert x.to('cpu').dtype == x.dtype and x.to(x.int()).dtype == torch.int32\n"
	"    assert x.type_as(x.long()).dtype == torch.int64\n"
	"    assert (x.half() + x.bfloat16()).dtype == torch.float32\n"
	"    assert (x.byte() + x.char()).dtype == torch.int16\n"
	"    assert (x.half() * 2.5).dtype == torch.float16 and (x.int() / 2).dtype == "
	"torch.float32\n",
	/* questions about types */
	"    assert x.is_floating_point() and not torch.is_floating_point(x.int())\n"
	"    assert torch.finfo(x.dtype).eps == 2.0 ** -23 and torch.iinfo(torch.int8).min == "
	"-128\n"
	"    assert torch.promote_types(torch.uint8, torch.int8) == torch.int16\n"
	"    assert torch.get_default_dtype() == torch.float32\n",
	/* random numbers after one seed */
	"    torch.manual_seed(0)\n"
	"    a = torch.randint(0, 100, (5,))\n"
	"    assert a.tolist() == [44, 39, 33, 60, 63]\n"
	"    torch.manual_seed(3)\n"
	"    a = torch.rand(2, 3)\n"
	"    torch.manual_seed(3)\n"
	"    assert torch.equal(a, torch.rand_like(x))\n"
	"    assert torch.nn.functional.dropout(x, 0.5, training=False) is not None\n"
	"    y = torch.nn.functional.dropout(torch.ones(1000), 0.25)\n"
	"    assert 650 < (y > 0).sum() < 850 and y.max() == 1 / 0.75\n",
	/* running statistics are written */
	"    m, v = torch.zeros(3), torch.ones(3)\n"
	"    torch.nn.functional.batch_norm(x, m, v, training=True, momentum=0.5)\n"
	"    assert m.tolist() == [0.25, -0.5, 0.75] and v.tolist() == [0.75, 1.5, 2.75]\n",
};

static void run(const char *body, enum fusion_mode mode)
{
	static const float elements[] = { 1, 0, 3, 0, -2, 0 };
	char source[4096];
	struct engine e;
	struct value x, out;

	snprintf(source, sizeof(source), "import torch\ndef model(x):\n%s    return x\n", body);
	e = engine_open("interp", mode, source);
	x = engine_tensor(&e, DTYPE_F32, 2, (int64_t[]){ 2, 3 });
	memcpy(tensor_data(x.tensor->memory), elements, sizeof(elements));
	for (int i = 0; i < 2; i++) {
		out = engine_call(&e, &x, 1);
		value_unref(out);
	}
	value_unref(x);
	engine_close(&e);
}

static void programs_agree_with_themselves(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
			run(bodies[i], (enum fusion_mode)mode);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_agree_with_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
