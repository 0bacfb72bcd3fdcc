/* tests/test_fusion_programs.c -- what programs compute, in every mode on both tiers.
 *
 * Wanted numbers are computed here in double, by formula.  (PyTorch's own
 * answers to the same programs are replayed by tests/oracle.)
 */
#include <stdlib.h>

#include "tests/engine.h"

enum { MAX_IN = 3 };

struct input {
	int rank;
	int64_t size[4];
};

struct program {
	const char *name, *source;
	int n_inputs;
	struct input inputs[MAX_IN];
	/* Element `i` of result `part` (of a tuple, else 0) from the inputs. */
	double (*want)(const struct value *in, int part, int64_t i);
	int parts;
};

static double at(const struct value *in, int which, int64_t i)
{
	return tensor_get_double(in[which].tensor->memory, i);
}

static int64_t size(const struct value *in, int which, int dim)
{
	return in[which].tensor->memory->size[dim];
}

static int64_t numel(const struct value *in, int which)
{
	return tensor_numel(in[which].tensor->memory);
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static double want_chain(const struct value *in, int part, int64_t i)
{
	double sum = 0;

	(void)part, (void)i;
	for (int64_t k = 0; k < numel(in, 0); k++) {
		double x = cos(sin(at(in, 0, k) + 0.1) * 1.1) + 0.2;

		x = fmax(x, 0) - 0.3;
		x = exp(x * 0.9) * 0.1 + 0.4;
		sum += sigmoid(x);
	}
	return sum;
}

static double want_relu_sigmoid(const struct value *in, int part, int64_t i)
{
	(void)part;
	return fmax(at(in, 0, i), 0) + sigmoid(at(in, 0, i));
}

static double want_constant_fold(const struct value *in, int part, int64_t i)
{
	(void)part;
	return at(in, 0, i) + 1;
}

static double row_mean(const struct value *in, int64_t row, int64_t n)
{
	double sum = 0;

	for (int64_t k = 0; k < n; k++)
		sum += at(in, 0, row * n + k);
	return sum / (double)n;
}

static double want_mean_dim1(const struct value *in, int part, int64_t i)
{
	(void)part;
	return row_mean(in, i, size(in, 0, 1));
}

static double want_gelu_tanh(const struct value *in, int part, int64_t i)
{
	double x = at(in, 0, i);

	(void)part;
	return 0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
}

static double want_broadcast_bias(const struct value *in, int part, int64_t i)
{
	double x = at(in, 0, i), b = at(in, 1, i % 16), s = at(in, 2, i / 16 % 8);

	(void)part;
	return (x + b) * s - x / (fabs(b) + 1);
}

static double want_where_clamp(const struct value *in, int part, int64_t i)
{
	double x = at(in, 0, i), y = at(in, 1, i), z = x > y ? x : y;

	(void)part;
	z = fmin(fmax(z, -0.5), 0.5);
	return fmin(z, x) + fmax(z, y);
}

static double want_softmax(const struct value *in, int part, int64_t i)
{
	int64_t n = size(in, 0, 1), row = i / n;
	double most = -INFINITY, sum = 0;

	(void)part;
	for (int64_t k = 0; k < n; k++)
		most = fmax(most, at(in, 0, row * n + k));
	for (int64_t k = 0; k < n; k++)
		sum += exp(at(in, 0, row * n + k) - most);
	return exp(at(in, 0, i) - most) / sum;
}

static double normal(const struct value *in, int64_t i)
{
	int64_t n = size(in, 0, 1), row = i / n;
	double mean = row_mean(in, row, n), var = 0;

	for (int64_t k = 0; k < n; k++)
		var += pow(at(in, 0, row * n + k) - mean, 2) / (double)n;
	return (at(in, 0, i) - mean) / sqrt(var + 1e-5) * at(in, 1, i % n) + at(in, 2, i % n);
}

static double want_layer_norm(const struct value *in, int part, int64_t i)
{
	(void)part;
	return normal(in, i);
}

static double want_gelu_layer_norm(const struct value *in, int part, int64_t i)
{
	double x = normal(in, i);

	(void)part;
	return 0.5 * x * (1 + erf(x / sqrt(2)));
}

static double want_rms_norm(const struct value *in, int part, int64_t i)
{
	int64_t n = size(in, 0, 2), row = i / n;
	double sum = 0;

	(void)part;
	for (int64_t k = 0; k < n; k++)
		sum += pow(at(in, 0, row * n + k), 2);
	return at(in, 0, i) / sqrt(sum / (double)n + 1e-6) * at(in, 1, i % n);
}

static double variance(const struct value *in, int64_t first, int64_t step, int64_t n)
{
	double mean = 0, var = 0;

	for (int64_t k = 0; k < n; k++)
		mean += at(in, 0, first + k * step) / (double)n;
	for (int64_t k = 0; k < n; k++)
		var += pow(at(in, 0, first + k * step) - mean, 2) / (double)(n - 1);
	return var;
}

static double want_cumsum_var(const struct value *in, int part, int64_t i)
{
	int64_t rows = size(in, 0, 0), columns = size(in, 0, 1);
	double sum = 0, product = 1;

	if (part == 1)
		return variance(in, i, columns, rows);
	if (part == 2)
		return sqrt(variance(in, 0, 1, numel(in, 0)));
	for (int64_t k = 0; k < numel(in, 0); k++) {
		product *= at(in, 0, k);
		if (part == 4 || (part == 0 && k <= i && k % columns == i % columns))
			sum += part == 4 ? pow(at(in, 0, k), 2) : at(in, 0, k);
	}
	return part == 0 ? sum : part == 3 ? product : sqrt(sum);
}

/* Of [1, 4, 3, 4]: what interpolate, pad and pixel_shuffle find at place i of theirs. */
static double pixel(const struct value *in, int64_t c, int64_t y, int64_t x)
{
	return at(in, 0, (c * 3 + y) * 4 + x);
}

/* Between the neighbours of place `to` of a dim that is twice as long. */
static double doubled(const struct value *in, int64_t c, int64_t y, int64_t to)
{
	double from = fmax(((double)to + 0.5) / 2 - 0.5, 0), part = from - floor(from);
	int64_t x = (int64_t)from;

	return (1 - part) * pixel(in, c, y, x) + part * pixel(in, c, y, x < 3 ? x + 1 : 3);
}

static double want_resampled(const struct value *in, int part, int64_t i)
{
	int64_t c, y, x;

	switch (part) {
	case 0: /* nearest, twice as large */
		c = i / 48, y = i / 8 % 6, x = i % 8;
		return pixel(in, c, y / 2, x / 2);
	case 1: /* bilinear to the same height, twice the width */
		return doubled(in, i / 24, i / 8 % 3, i % 8);
	case 2: /* one place to the left, two above */
		c = i / 25, y = i / 5 % 5 - 2, x = i % 5 - 1;
		return y < 0 || x < 0 ? 0.5 : pixel(in, c, y, x);
	case 3: /* reflected by two at the left, one at the right */
		x = i % 7 - 2;
		return pixel(in, i / 21, i / 7 % 3, 3 - llabs(3 - llabs(x)));
	case 4:
		x = i % 6 - 1;
		return pixel(in, i / 18, i / 6 % 3, x < 0 ? 0 : x > 3 ? 3 : x);
	default: /* [1, 1, 6, 8] */
		y = i / 8, x = i % 8;
		return pixel(in, y % 2 * 2 + x % 2, y / 2, x / 2);
	}
}

static const struct program programs[] = {
	{ "chain",
	  "import torch\n"
	  "def model(x):\n"
	  "    x = x + 0.1\n"
	  "    x = torch.sin(x)\n"
	  "    x = x * 1.1\n"
	  "    x = torch.cos(x)\n"
	  "    x = x + 0.2\n"
	  "    x = torch.relu(x)\n"
	  "    x = x - 0.3\n"
	  "    x = x * 0.9\n"
	  "    x = torch.exp(x)\n"
	  "    x = x * 0.1 + 0.4\n"
	  "    x = torch.sigmoid(x)\n"
	  "    return x.sum()\n",
	  1,
	  { { 2, { 8, 16 } } },
	  want_chain,
	  1 },
	{ "relu_sigmoid",
	  "import torch\n"
	  "def model(x):\n"
	  "    return x.relu() + x.sigmoid()\n",
	  1,
	  { { 2, { 64, 32 } } },
	  want_relu_sigmoid,
	  1 },
	{ "constant_fold",
	  "import torch\n"
	  "def model(x):\n"
	  "    return x + torch.tensor([1.0])\n",
	  1,
	  { { 1, { 10 } } },
	  want_constant_fold,
	  1 },
	{ "mean_dim1",
	  "import torch\n"
	  "def model(x):\n"
	  "    return x.mean(dim=1)\n",
	  1,
	  { { 2, { 4, 7 } } },
	  want_mean_dim1,
	  1 },
	{ "gelu_tanh",
	  "import torch\n"
	  "def model(x):\n"
	  "    inner = 0.7978845608 * (x + 0.044715 * x ** 3)\n"
	  "    return 0.5 * x * (1.0 + torch.tanh(inner))\n",
	  1,
	  { { 2, { 5, 33 } } },
	  want_gelu_tanh,
	  1 },
	{ "broadcast_bias",
	  "import torch\n"
	  "def model(x, b, s):\n"
	  "    return (x + b) * s - x / (b.abs() + 1.0)\n",
	  3,
	  { { 3, { 4, 8, 16 } }, { 1, { 16 } }, { 2, { 8, 1 } } },
	  want_broadcast_bias,
	  1 },
	{ "where_clamp",
	  "import torch\n"
	  "def model(x, y):\n"
	  "    z = torch.where(x > y, x, y)\n"
	  "    z = z.clamp(-0.5, 0.5)\n"
	  "    return torch.minimum(z, x) + torch.maximum(z, y)\n",
	  2,
	  { { 2, { 17, 3 } }, { 2, { 17, 3 } } },
	  want_where_clamp,
	  1 },
	{ "softmax_rows",
	  "import torch\n"
	  "def model(x):\n"
	  "    m = x.amax(dim=-1, keepdim=True)\n"
	  "    e = torch.exp(x - m)\n"
	  "    return e / e.sum(dim=-1, keepdim=True)\n",
	  1,
	  { { 2, { 6, 129 } } },
	  want_softmax,
	  1 },
	{ "layer_norm_by_hand",
	  "import torch\n"
	  "def model(x, g, b):\n"
	  "    mu = x.mean(dim=-1, keepdim=True)\n"
	  "    var = ((x - mu) ** 2).mean(dim=-1, keepdim=True)\n"
	  "    return (x - mu) * torch.rsqrt(var + 1e-5) * g + b\n",
	  3,
	  { { 2, { 7, 64 } }, { 1, { 64 } }, { 1, { 64 } } },
	  want_layer_norm,
	  1 },
	{ "functional_layer_norm",
	  "import torch\n"
	  "import torch.nn.functional as F\n"
	  "\n"
	  "def model(x, g, b):\n"
	  "    return F.gelu(F.layer_norm(x, (64,), g, b))\n",
	  3,
	  { { 2, { 7, 64 } }, { 1, { 64 } }, { 1, { 64 } } },
	  want_gelu_layer_norm,
	  1 },
	{ "rms_norm",
	  "import torch\n"
	  "def model(x, g):\n"
	  "    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * g\n",
	  2,
	  { { 3, { 3, 5, 48 } }, { 1, { 48 } } },
	  want_rms_norm,
	  1 },
	{ "cumsum_var",
	  "import torch\n"
	  "def model(x):\n"
	  "    return x.cumsum(0), x.var(dim=0), x.std(), x.prod(), x.norm()\n",
	  1,
	  { { 2, { 5, 4 } } },
	  want_cumsum_var,
	  5 },
	{ "resampled",
	  "import torch\nimport torch.nn.functional as F\n"
	  "def model(x):\n"
	  "    return (F.interpolate(x, scale_factor=2),\n"
	  "            F.interpolate(x, size=(3, 8), mode='bilinear'),\n"
	  "            F.pad(x, (1, 0, 2, 0), value=0.5), F.pad(x, (2, 1), mode='reflect'),\n"
	  "            F.pad(x, (1, 1), mode='replicate'), F.pixel_shuffle(x, 2))\n",
	  1,
	  { { 4, { 1, 4, 3, 4 } } },
	  want_resampled,
	  6 },
};

static void check_result(const struct program *p, const struct value *in, struct value out)
{
	for (int part = 0; part < p->parts; part++) {
		struct value v = p->parts > 1 ? out.list->at[part] : out;

		assert_int_equal(v.kind, VALUE_TENSOR);
		for (int64_t i = 0; i < tensor_numel(v.tensor->memory); i++)
			engine_near(v, i, p->want(in, part, i));
	}
}

/* Two calls: the second one finds the compiled entry. */
static void run_program(const struct program *p, const char *backend, enum fusion_mode mode)
{
	struct engine e = engine_open(backend, mode, p->source);
	struct value in[MAX_IN], out;

	for (int i = 0; i < p->n_inputs; i++)
		in[i] = engine_floats(&e, p->inputs[i].rank, p->inputs[i].size, 0.3 + i);
	for (int call = 0; call < 2; call++) {
		out = engine_call(&e, in, p->n_inputs);
		check_result(p, in, out);
		value_unref(out);
	}
	assert_int_equal(fusion_counts(e.session).n_graphs, mode == FUSION_EAGER ? 0 : 1);
	engine_drop(in, p->n_inputs);
	engine_close(&e);
}

static void run_all(const char *backend)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
			run_program(&programs[i], backend, (enum fusion_mode)mode);
}

static void the_interpreter_computes_every_program_in_every_mode(void **state)
{
	(void)state;
	run_all("interp");
}

static void generated_code_computes_every_program_in_every_mode(void **state)
{
	(void)state;
	if (!engine_has("cpu"))
		skip();
	run_all("cpu");
}

/* The same bits: rounding to the dtype after every op, in fused kernels too. */
static void pointwise_results_are_bit_equal_in_every_mode_and_tier(void **state)
{
	const char *source = programs[4].source; /* gelu_tanh */
	const char *tiers[] = { "interp", "cpu" };
	float first[165];

	(void)state;
	for (int run = 0; run < 2 * FUSION_MODE_COUNT; run++) {
		const char *tier = tiers[run / FUSION_MODE_COUNT];
		struct engine e;
		struct value in, out;

		if (!engine_has(tier))
			continue;
		e = engine_open(tier, (enum fusion_mode)(run % FUSION_MODE_COUNT), source);
		in = FLOATS(&e, 0.5, 5, 33);
		out = engine_call(&e, &in, 1);
		if (run == 0)
			memcpy(first, tensor_data(out.tensor->memory), sizeof(first));
		assert_memory_equal(first, tensor_data(out.tensor->memory), sizeof(first));
		value_unref(out);
		value_unref(in);
		engine_close(&e);
	}
}

/* ---- an eager op is prepared once for any number */

static const char with_number[] =
    "import torch\n"
    "def model(x, s):\n"
    "%s"
    "    b, d, n = x.bfloat16(), x.double(), (x * 50).long()\n"
    "    m = x.clone().mul_(s)\n"
    "    return (x + s, x - s, s - x, x * s, x / s, s / x, x %% s, x < s, x ** s, m,\n"
    "            torch.atan2(x, x.sign() * s), torch.clamp(x, s), torch.clamp(x, max=s),\n"
    "            torch.add(x, x, alpha=s), torch.sub(x, s), torch.lerp(x, d.float(), s),\n"
    "            torch.addcmul(x, x, x, value=s), torch.addcdiv(x, x, x, value=s),\n"
    "            torch.where(x > 0, x, s), x.masked_fill(x > 0, s), x.div(s, "
    "rounding_mode='floor'),\n"
    "            b * s, b + s, torch.add(b, b, alpha=s), b / s, d * s, d / s, n * s, n + s,\n"
    "            n.int() < s, n.short() + s, (x > 0) * s, torch.maximum(x, x * s), x.half() / s)\n";

static struct engine engine_with(enum fusion_mode mode, const char *number)
{
	char source[2048], line[64] = "";

	if (number)
		snprintf(line, sizeof(line), "    s = %s\n", number);
	snprintf(source, sizeof(source), with_number, line);
	return engine_open("interp", mode, source);
}

static void same_bits(struct value a, struct value b, const char *number, int index)
{
	struct tensor *x = a.tensor->memory, *y = b.tensor->memory;

	assert_int_equal(x->dtype, y->dtype);
	if (memcmp(tensor_data(x), tensor_data(y),
		   (size_t)tensor_numel(x) * dtype_bytes(x->dtype)) != 0)
		fail_msg("result %d differs for %s", index, number);
}

/* 0, 1, -1 and powers of 2, which are other programs when they are known; ints that a
 * float32 rounds. */
static void eager_computes_with_a_number_as_if_it_stood_there(void **state)
{
	static const char *const numbers[] = {
		"0.1", "2.0", "1.0", "0.5", "-1.0", "0.25",  "-0.0",     "3.0",
		"7",   "1",   "2",   "-3",  "4",    "1e-45", "16777217", "9007199254740993",
	};
	struct engine any = engine_with(FUSION_EAGER, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct engine one = engine_with(FUSION_STATIC, numbers[i]);
		bool whole = !strpbrk(numbers[i], ".e");
		struct value args[] = { FLOATS(&any, 1, 67),
					whole ? value_int(strtoll(numbers[i], NULL, 10))
					      : value_float(strtod(numbers[i], NULL)) };
		struct value mine[] = { FLOATS(&one, 1, 67), value_none() };
		struct value a = engine_call(&any, args, 2), b = engine_call(&one, mine, 2);

		for (int k = 0; k < a.list->len; k++)
			same_bits(a.list->at[k], b.list->at[k], numbers[i], k);
		engine_drop((struct value[]){ a, b, args[0], mine[0] }, 4);
		engine_close(&one);
	}
	engine_close(&any);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eager_computes_with_a_number_as_if_it_stood_there),
		cmocka_unit_test(the_interpreter_computes_every_program_in_every_mode),
		cmocka_unit_test(generated_code_computes_every_program_in_every_mode),
		cmocka_unit_test(pointwise_results_are_bit_equal_in_every_mode_and_tier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
