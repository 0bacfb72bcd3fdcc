/* tests/test_fusion_grad.c -- gradients in eager.
 *
 * Every rule of prelude/grads*.py is held against finite differences by
 * tests/grad; the op table says which rules there must be, and each must have
 * been run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/base/generators.h"
#include "fusion/vm/prelude.h"
#include "fusion/session/session.h"
#include "tests/effort.h"

struct lab {
	struct exec_env env;
	struct generators random;
	struct session session;
};

/* Compiled once for all labs, as for all runs of an engine. */
static struct prelude_programs *preludes;

static int make_preludes(void **state)
{
	(void)state;
	preludes = prelude_programs_create();
	return preludes ? 0 : -1;
}

static int drop_preludes(void **state)
{
	(void)state;
	prelude_programs_destroy(preludes);
	return 0;
}

static struct lang_program *compile_source(const char *source)
{
	struct err err = { 0 };
	struct lang_program *program = lang_compile(source, strlen(source), NULL, &err);

	if (!program)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return program;
}

/* The program outlives the lab. */
static void open_lab(struct lab *w, const struct lang_program *program, enum fusion_mode mode)
{
	struct session_options options = {
		.env = &w->env, .mode = mode, .recompile_limit = 8, .compiled = mode != FUSION_EAGER
	};
	struct err err = { 0 };

	memset(w, 0, sizeof(*w));
	w->env.allocator = allocator_create((size_t)1 << 30, NULL);
	w->env.pool = pool_create(1);
	w->env.preludes = preludes;
	w->env.backend_env.random = &w->random;
	options.backend = backend_find("interp");
	if (!session_init(&w->session, &options, program, "model", &err))
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
}

static void close_lab(struct lab *w)
{
	session_finish(&w->session);
	assert_int_equal(allocator_used_bytes(w->env.allocator), 0);
	pool_destroy(w->env.pool);
	allocator_destroy(w->env.allocator);
}

enum { CASES_BYTES = 1 << 18 };

static char *read_files(const char *const *paths, int n)
{
	char *text = calloc(1, CASES_BYTES);
	size_t len = 0;

	for (int i = 0; i < n; i++) {
		FILE *f = fopen(paths[i], "r");

		if (!f)
			fail_msg("%s cannot be read; tests run in the repository's root", paths[i]);
		len += fread(text + len, 1, CASES_BYTES - 1 - len, f);
		fclose(f);
	}
	return text;
}

/* Whether the text names it, between blanks. */
static bool names(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at++)
		if ((at == text || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

static bool is_tensor_param(const struct op_param *p)
{
	return p->kind == PARAM_TENSOR || p->kind == PARAM_TENSOR_SCALAR;
}

/* Ops that passes alone make, and one whose gradient is an error. */
static bool is_untried(enum op op)
{
	return op == OP_matmul_nt || op == OP_reverse || op == OP_floordiv;
}

/* What an op without a case of its own is called with: "x, y, 1" and two tensors.  A
 * parameter that must be given is a tensor, or the dim. */
static bool default_call(const struct op_info *info, char *args, size_t cap, int *tensors)
{
	*args = '\0';
	*tensors = 0;
	for (int i = 0; i < info->n_params; i++) {
		const struct op_param *p = &info->params[i];
		size_t len = strlen(args);

		if (p->optional)
			continue;
		if (is_tensor_param(p) && *tensors < 3)
			snprintf(args + len, cap - len, "%s%c", len ? ", " : "",
				 "xyz"[(*tensors)++]);
		else if (strcmp(p->name, "dim") == 0)
			snprintf(args + len, cap - len, "%s1", len ? ", " : "");
		else
			return false;
	}
	return *tensors > 0;
}

/* Adds DEFAULTS to the program: a case for each function of torch that cases.py does not
 * name.  Without a dim the tensors have all the shapes of pointwise ops. */
static void add_defaults(char *text)
{
	static const char *const shapes[] = { "UNARY_SHAPES", "BINARY_SHAPES",
					      "[[(2, 3), (2, 3), (2, 3)]]" };
	static const char *const with_dim[] = { "[[(2, 3)]]", "[[(2, 3), (2, 3)]]",
						"[[(2, 3), (2, 3), (2, 3)]]" };
	char *cases = strdup(text), args[64], quoted[80];
	size_t len = strlen(text);
	int tensors;

	len += (size_t)snprintf(text + len, CASES_BYTES - len, "\nDEFAULTS = [\n");
	for (int op = 0; op < OP_COUNT; op++) {
		const struct op_info *info = op_info((enum op)op);
		const char *spelt = info->spellings;

		snprintf(quoted, sizeof(quoted), "\"%s\"", info->id);
		if (strncmp(spelt, "torch.", 6) != 0 || strncmp(spelt, "torch._C.", 9) == 0 ||
		    strstr(cases, quoted) || is_untried((enum op)op) ||
		    !default_call(info, args, sizeof(args), &tensors))
			continue;
		len += (size_t)snprintf(
		    text + len, CASES_BYTES - len, "    (%s, %s, lambda %.*s: %.*s(%s)),\n", quoted,
		    (strchr(args, '1') ? with_dim : shapes)[tensors - 1], 3 * tensors - 2,
		    "x, y, z", (int)strcspn(spelt, " "), spelt, args);
	}
	snprintf(text + len, CASES_BYTES - len, "]\n");
	free(cases);
}

/* The program of tests/grad, with a case for every op. */
static char *read_cases(void)
{
	static const char *const paths[] = { "tests/grad/check.py", "tests/grad/cases.py" };
	char *source = read_files(paths, 2);

	add_defaults(source);
	return source;
}

/* Every op is said to have no gradient, or has rules that were run. */
static int check_table(struct autograd *a, const char *exempt)
{
	int bad = 0;

	for (int op = 0; op < OP_COUNT; op++) {
		const struct op_info *info = op_info((enum op)op);
		bool any = false, has, ran;

		for (int i = 0; i < info->n_params; i++) {
			if (!is_tensor_param(&info->params[i]))
				continue;
			grad_rule_state(a, (enum op)op, i, &has, &ran);
			any |= has;
			if (has && !ran && !is_untried((enum op)op)) {
				print_message(
				    "%s: no case of tests/grad runs its gradient for %s\n",
				    info->id, info->params[i].name);
				bad++;
			}
		}
		if (any == names(exempt, info->id)) {
			print_message("%s: %s\n", info->id,
				      any ? "it has a gradient and is in NO_GRADIENT"
					  : "a gradient, or its name in NO_GRADIENT, is missing");
			bad++;
		}
	}
	return bad;
}

static void rules_agree_with_finite_differences(void **state)
{
	char *source = read_cases();
	struct lang_program *program = compile_source(source);
	struct value none = value_none(), out;
	struct err err = { 0 };
	struct lab w;
	int bad;

	(void)state;
	open_lab(&w, program, FUSION_EAGER);
	if (!session_call(&w.session, &none, 1, &out, &err))
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	if (w.session.out.len)
		fail_msg("%s", w.session.out.data);
	assert_int_equal(out.kind, VALUE_STR);
	bad = check_table(&w.session.eager.autograd, out.str->text);
	value_unref(out);
	close_lab(&w);
	lang_destroy(program);
	free(source);
	assert_int_equal(bad, 0);
}

/* Forward and backward of every case compiled; how many there are. */
static int compile_case(const struct lang_program *program, enum fusion_mode mode, int which)
{
	struct value index = value_int(which), out;
	struct err err = { 0 };
	struct lab w;

	open_lab(&w, program, mode);
	if (!session_call(&w.session, &index, 1, &out, &err))
		fail_msg("case %d: %d:%d: %s", which, err.line, err.column, err.message);
	if (w.session.out.len)
		fail_msg("%s: %s", mode == FUSION_STATIC ? "static" : "dynamic",
			 w.session.out.data);
	close_lab(&w);
	return (int)out.i;
}

static void compiled_gradients_agree_with_finite_differences(void **state)
{
	char *source = read_cases();
	struct lang_program *program = compile_source(source);
	int n = 1;

	(void)state;
	for (int i = 0; i < n; i += case_step(5))
		n = compile_case(program, i % 2 ? FUSION_STATIC : FUSION_DYNAMIC, i);
	lang_destroy(program);
	free(source);
	assert_true(n > 200);
}

/* Programs of which PyTorch prints `want`, in every mode but where the name says
 * otherwise: the results of a compiled piece share a grad_fn of its own, and what is
 * written in place inside of it is a new value there. */
static const struct {
	const char *name, *source, *want;
} programs[] = {
	{ "gradients add up, and are cleared",
	  "def model(n):\n"
	  "    x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
	  "    (x * x).sum().backward()\n"
	  "    (x * 3).sum().backward()\n"
	  "    print(x.grad, x.is_leaf, x.grad_fn)\n"
	  "    x.grad = None\n"
	  "    print(x.grad)\n",
	  "tensor([5., 7.]) True None\nNone\n" },
	{ "eager: what is printed of a tensor",
	  "def model(n):\n"
	  "    x = torch.ones(2, requires_grad=True)\n"
	  "    print(x, x * 2, (x * 2).detach(), (x + 1).relu().requires_grad)\n"
	  "    with torch.no_grad():\n"
	  "        print(x * 2)\n",
	  "tensor([1., 1.], requires_grad=True) tensor([2., 2.], grad_fn=<MulBackward0>) "
	  "tensor([2., 2.]) True\ntensor([2., 2.])\n" },
	{ "backward twice",
	  "def model(n):\n"
	  "    x = torch.ones(2, requires_grad=True)\n"
	  "    y = (x * x).sum()\n"
	  "    y.backward(retain_graph=True)\n"
	  "    y.backward()\n"
	  "    try:\n"
	  "        y.backward()\n"
	  "    except RuntimeError as e:\n"
	  "        print(str(e)[:47])\n"
	  "    print(x.grad)\n",
	  "Trying to backward through the graph a second t\ntensor([4., 4.])\n" },
	{ "errors",
	  "def tried(f):\n"
	  "    try:\n"
	  "        f()\n"
	  "    except RuntimeError as e:\n"
	  "        print(str(e)[:60])\n"
	  "def model(n):\n"
	  "    x = torch.ones(2, requires_grad=True)\n"
	  "    tried(lambda: (x * 2).backward())\n"
	  "    tried(lambda: torch.ones(2).sum().backward())\n"
	  "    tried(lambda: x.add_(1))\n"
	  "    tried(lambda: x[0].mul_(2))\n"
	  "    tried(lambda: torch.ones(2, dtype=torch.int64).requires_grad_())\n"
	  "    tried(lambda: torch.autograd.grad((x * 2).sum(), torch.ones(2, "
	  "requires_grad=True)))\n",
	  "grad can be implicitly created only for scalar outputs\n"
	  "element 0 of tensors does not require grad and does not have\n"
	  "a leaf Variable that requires grad is being used in an in-pl\n"
	  "a view of a leaf Variable that requires grad is being used i\n"
	  "only Tensors of floating point dtype can require gradients\n"
	  "One of the differentiated Tensors appears to not have been u\n" },
	{ "eager: a saved tensor that is written to",
	  "def model(n):\n"
	  "    x = torch.ones(2, requires_grad=True)\n"
	  "    y = x.exp()\n"
	  "    y.add_(1)\n"
	  "    try:\n"
	  "        y.sum().backward()\n"
	  "    except RuntimeError as e:\n"
	  "        print(str(e)[:60])\n",
	  "one of the variables needed for gradient computation has bee\n" },
	{ "second derivatives, and a gradient of its own",
	  "def model(n):\n"
	  "    x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
	  "    g, = torch.autograd.grad((x ** 3).sum(), x, create_graph=True)\n"
	  "    h, = torch.autograd.grad(g.sum(), x)\n"
	  "    print(g.detach(), h)\n"
	  "    y = x * 2\n"
	  "    y.backward(torch.tensor([1.0, 10.0]))\n"
	  "    print(x.grad)\n",
	  "tensor([ 3., 12.]) tensor([ 6., 12.])\ntensor([ 2., 20.])\n" },
	{ "a third derivative, an island without gradients, a write inside",
	  "def f(x):\n"
	  "    with torch.no_grad():\n"
	  "        k = x * 2\n"
	  "    y = x * k\n"
	  "    z = y.clone()\n"
	  "    z[0] = x[1] ** 4\n"
	  "    z.mul_(x)\n"
	  "    return (z + x.detach() * x).sum()\n"
	  "def model(n):\n"
	  "    x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
	  "    g, = torch.autograd.grad(f(x), x, create_graph=True)\n"
	  "    h, = torch.autograd.grad(g.sum(), x, create_graph=True)\n"
	  "    h.sum().backward()\n"
	  "    print(g.detach(), h.detach(), x.grad)\n",
	  "tensor([17., 50.]) tensor([32., 88.]) tensor([ 48., 144.])\n" },
	{ "what was drawn at random is the same in a gradient's gradient",
	  "import torch.nn.functional as F\n"
	  "def f(x):\n"
	  "    return (F.dropout(x, 0.5) ** 3).sum()\n"
	  "def model(n):\n"
	  "    x = torch.ones(64, requires_grad=True)\n"
	  "    g, = torch.autograd.grad(f(x), x, create_graph=True)\n"
	  "    h, = torch.autograd.grad(g.sum(), x)\n"
	  "    print(bool((h == 2 * g).all()), bool((g == 24).any()), bool((g == 0).any()))\n",
	  "True True True\n" },
	{ "a backward pass draws nothing",
	  "import torch.nn.functional as F\n"
	  "def f(x):\n"
	  "    return (F.dropout(x, 0.5) ** 3).sum()\n"
	  "def model(n):\n"
	  "    x = torch.ones(8, requires_grad=True)\n"
	  "    torch.manual_seed(0)\n"
	  "    loss = f(x)\n"
	  "    a = torch.rand(1).item()\n"
	  "    torch.manual_seed(0)\n"
	  "    f(x).backward()\n"
	  "    print(a == torch.rand(1).item(), loss.item() == (x.grad * x).sum().item() / 3)\n",
	  "True True\n" },
	{ "eager: a gradient's gradient needs what was read as it was",
	  "def f(x, y):\n"
	  "    return (x * x * y).sum()\n"
	  "def model(n):\n"
	  "    x = torch.ones(2, requires_grad=True)\n"
	  "    y = torch.ones(2)\n"
	  "    loss = f(x, y)\n"
	  "    y.add_(1)\n"
	  "    try:\n"
	  "        torch.autograd.grad(loss, x, create_graph=True)\n"
	  "    except RuntimeError as e:\n"
	  "        print(str(e)[:60])\n",
	  "one of the variables needed for gradient computation has bee\n" },
	{ "views that are written to",
	  "def model(n):\n"
	  "    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n"
	  "    y = torch.zeros(2, 3)\n"
	  "    y[0] = x * x\n"
	  "    y[1, 1:] = x[1:]\n"
	  "    y[0, 0] = 7.0\n"
	  "    row = y[0]\n"
	  "    y.mul_(2)\n"
	  "    (row * y[1]).sum().backward()\n"
	  "    print(x.grad, y.detach())\n",
	  "tensor([  0.,  48., 108.]) tensor([[14.,  8., 18.],\n        [ 0.,  4.,  6.]])\n" },
	{ "retain_grad, detach, and a frozen parameter",
	  "def model(n):\n"
	  "    x = torch.ones(2, requires_grad=True)\n"
	  "    y = x * 2\n"
	  "    y.retain_grad()\n"
	  "    (y * y.detach()).sum().backward()\n"
	  "    print(y.grad, x.grad)\n"
	  "    m = torch.nn.Linear(2, 1)\n"
	  "    m.weight.requires_grad_(False)\n"
	  "    m(x.detach()).sum().backward()\n"
	  "    print(m.weight.grad, m.bias.grad)\n"
	  "    m.zero_grad()\n"
	  "    print(m.bias.grad)\n",
	  "tensor([2., 2.]) tensor([4., 4.])\nNone tensor([1.])\nNone\n" },
	{ "a step of SGD with momentum by hand",
	  "def model(n):\n"
	  "    p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))\n"
	  "    opt = torch.optim.SGD([p], lr=0.5, momentum=0.5)\n"
	  "    for _ in range(2):\n"
	  "        opt.zero_grad()\n"
	  "        (p * p).sum().backward()\n"
	  "        opt.step()\n"
	  "    print(p.detach(), torch.nn.utils.clip_grad_norm_([p], 1.0))\n",
	  "tensor([-0.5000, -1.0000]) tensor(0.)\n" },
	{ "attention's result in four dims is kept for its gradient",
	  "def model(n):\n"
	  "    for shape in [(1, 2, 2), (1, 1, 2, 2)]:\n"
	  "        q = torch.ones(shape, requires_grad=True)\n"
	  "        y = torch.nn.functional.scaled_dot_product_attention(q, q, q)\n"
	  "        y.mul_(2)\n"
	  "        try:\n"
	  "            y.sum().backward()\n"
	  "            print(q.grad.sum())\n"
	  "        except RuntimeError as e:\n"
	  "            print('modified by an inplace' in str(e))\n",
	  "tensor(8.)\nTrue\n" },
	{ "the derivative of // is none",
	  "def model(n):\n"
	  "    x = torch.ones(2, requires_grad=True)\n"
	  "    try:\n"
	  "        (x // 2).sum().backward()\n"
	  "    except RuntimeError as e:\n"
	  "        print(e)\n",
	  "derivative for aten::floor_divide is not implemented\n" },
};

static void programs_print_what_pytorch_prints(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_DYNAMIC,
						  FUSION_AUTO, FUSION_LAZY };
	char source[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (size_t m = 0; m < (strncmp(programs[i].name, "eager: ", 7) == 0
					    ? 1
					    : sizeof(modes) / sizeof(modes[0]));
		     m++) {
			struct lang_program *program;
			struct value n = value_int(1), out;
			struct err err = { 0 };
			struct lab w;

			snprintf(source, sizeof(source), "import torch\n%s", programs[i].source);
			program = compile_source(source);
			open_lab(&w, program, modes[m]);
			if (!session_call(&w.session, &n, 1, &out, &err))
				fail_msg("%s, mode %zu: %d:%d: %s", programs[i].name, m, err.line,
					 err.column, err.message);
			if (!w.session.out.data ||
			    strcmp(w.session.out.data, programs[i].want) != 0)
				fail_msg("%s, mode %zu: prints\n%s", programs[i].name, m,
					 w.session.out.data ? w.session.out.data : "nothing");
			value_unref(out);
			close_lab(&w);
			lang_destroy(program);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_agree_with_finite_differences),
		cmocka_unit_test(programs_print_what_pytorch_prints),
		cmocka_unit_test(compiled_gradients_agree_with_finite_differences),
	};

	return cmocka_run_group_tests(tests, make_preludes, drop_preludes);
}
