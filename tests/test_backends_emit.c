/* tests/test_backends_emit.c -- every op through both backends, by dtype and unit.
 *
 * Generated C and the interpreter share vec.h, so their bits must agree, for
 * special values and for each lane width; and the C for units that this machine
 * lacks must at least compile.
 */
#include "tests/backends_help.h"
#include "tests/effort.h"

#include <stdio.h>
#include <unistd.h>

#include "fusion/backends/host/emit.h"
#include "fusion/backends/host/executable.h"
#include "fusion/backends/host/toolchain.h"

enum { N = 1000, MOST_OUTPUTS = 80 };

static bool is_int_op(enum op op)
{
	return op == OP_and_ || op == OP_or_ || op == OP_xor_ || op == OP_invert;
}

/* Whether torch has the op for operands of the dtype. */
static bool takes(enum op op, enum dtype dtype)
{
	const struct op_info *info = op_info(op);

	if (info->kind != KIND_POINTWISE || op == OP_to || op == OP_where)
		return false;
	if (op == OP_lshift || op == OP_rshift || op == OP_gcd)
		return dtype == DTYPE_I64;
	if (is_int_op(op))
		return dtype == DTYPE_BOOL || dtype == DTYPE_I64;
	if (dtype == DTYPE_BOOL)
		return info->rule == RULE_LOGIC || op == OP_isnan || op == OP_clone;
	return true;
}

/* All ops on two inputs of the dtype, each an output. */
static int all_ops(struct builder *b, enum dtype dtype)
{
	int outputs[MOST_OUTPUTS], n = 0;

	*b = builder_create();
	int x = INPUT(b, dtype, NUM(b, N)), y = INPUT(b, dtype, NUM(b, N));
	for (int op = 0; op < OP_COUNT; op++) {
		if (!takes(op, dtype))
			continue;
		if (op_info(op)->n_params == 2)
			outputs[n++] = ADD(b, op, T(x), T(y));
		else
			outputs[n++] = ADD(b, op, T(x));
	}
	int mask = dtype == DTYPE_BOOL ? x : ADD(b, OP_lt, T(x), T(y));
	outputs[n++] = ADD(b, OP_where, T(mask), T(y), T(x));
	for (int to = 0; to < DTYPE_COUNT; to++)
		if (to != (int)dtype)
			outputs[n++] = ADD(b, OP_to, T(x), arg_dtype(to));
	assert_true(n <= MOST_OUTPUTS);
	assert_true(graph_set_outputs(b->g, outputs, n));
	return n;
}

static double special(int i, int salt)
{
	static const double values[] = { 0,    -0.0, 1,   -1,   0.5,  2,        -3,        7,
					 1e-3, 1e3,  NAN, 25.5, 88.5, INFINITY, -INFINITY, 1e-40 };
	return values[(i * (salt ? 1 : 7) / (salt ? 16 : 1)) & 15];
}

static void *make_input(enum dtype dtype, int salt)
{
	void *memory = help_alloc(N * dtype_bytes(dtype));

	for (int i = 0; i < N; i++) {
		double v = special(i, salt);
		if (dtype == DTYPE_F32)
			((float *)memory)[i] = (float)v;
		else if (dtype == DTYPE_F64)
			((double *)memory)[i] = v;
		else if (dtype == DTYPE_I64)
			((int64_t *)memory)[i] = (i * 37 + salt * 11) % 23 - 9;
		else
			((uint8_t *)memory)[i] = (i * 5 + salt) % 3 == 0;
	}
	return memory;
}

static void run_ops(const char *name, const char *unit, const struct lowered *l,
		    const struct builder *b, const void *const *inputs, void *const *outputs)
{
	const struct backend *backend = backend_find(name);
	struct backend_env env = { .cache_dir = shared_kernels(), .vector_unit = unit };
	struct executable *exe = help_compile(backend, &env, l);

	help_run(backend, exe, l, b->vars, inputs, outputs, NULL);
	backend->destroy(exe);
}

static void check_ops(enum dtype dtype, const char *unit)
{
	struct builder b;
	int n = all_ops(&b, dtype);
	const struct lowered *l = lower_passed(&b, false);
	void *interp[MOST_OUTPUTS] = { 0 }, *cpu[MOST_OUTPUTS] = { 0 };
	const void *inputs[2] = { make_input(dtype, 0), make_input(dtype, 1) };

	for (int i = 0; i < n; i++) {
		interp[i] = calloc(N, 8);
		cpu[i] = calloc(N, 8);
	}
	run_ops("interp", unit, l, &b, inputs, interp);
	run_ops("cpu", unit, l, &b, inputs, cpu);
	for (int i = 0; i < n; i++) {
		size_t bytes = dtype_bytes(l->buffers[l->outputs[i]].dtype);
		const struct node *node = l->graph->nodes[l->buffers[l->outputs[i]].node];

		for (size_t j = 0; j < N; j++)
			if (memcmp((char *)interp[i] + j * bytes, (char *)cpu[i] + j * bytes,
				   bytes))
				fail_msg("%s, %s: %s at %zu differs", unit, dtype_name(dtype),
					 op_info(node->op)->id, j);
		free(interp[i]);
		free(cpu[i]);
	}
	free((void *)(uintptr_t)inputs[0]);
	free((void *)(uintptr_t)inputs[1]);
	builder_destroy(&b);
}

static void both_backends_agree_bit_for_bit_on_every_op(void **state)
{
	static const char *const units[] = { "sse", "avx2", "avx512" };

	(void)state;
	for (int u = 0; u < 3; u++)
		for (int dtype = 0; dtype < DTYPE_COUNT && kernels_named(units[u]); dtype++)
			check_ops(dtype, units[u]);
}

static void a_unit_that_the_machine_lacks_is_refused(void **state)
{
	struct backend_env env = { .vector_unit = "altivec" };
	struct err err = { 0 };
	struct builder b;

	(void)state;
	all_ops(&b, DTYPE_F32);
	assert_null(backend_find("interp")->compile(&env, lower_passed(&b, false), NULL, &err));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.message, backend_vector_unit()));
	builder_destroy(&b);
}

/* The C of all kernels for vectors of that size. */
static void emit_for(const struct lowered *l, int vector_bytes, struct buf *source)
{
	void **consts = calloc((size_t)l->n_buffers + 1, sizeof(*consts));
	struct plan **plans = calloc((size_t)l->n_kernels + 1, sizeof(*plans));
	const struct kernel_table *kernels = vector_bytes == 64   ? &kernels_avx512
					     : vector_bytes == 32 ? &kernels_avx2
								  : &kernels_sse;
	struct err err = { 0 };

	for (int k = 0; k < l->n_kernels; k++) {
		if (l->kernels[k].form == FORM_LIBRARY) /* no C is made of it */
			continue;
		plans[k] = plan_create(l, &l->kernels[k], kernels, consts, &err);
		if (!plans[k])
			fail_msg("%s", err.message);
	}
	assert_true(emit_source(source, plans, l->n_kernels, vector_bytes, &err));
	for (int k = 0; k < l->n_kernels; k++)
		plan_destroy(plans[k]);
	free(plans);
	free(consts);
}

static void compile_for(const char *compiler, const struct buf *source, int vector_bytes)
{
	char folder[] = "/tmp/breakeven-test-XXXXXX", path[64];
	struct toolchain t;
	struct err err = { 0 };

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/kernel.c", folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(source->data, 1, source->len, file), source->len);
	fclose(file);
	assert_true(toolchain_find(&t, compiler, &err));
	if (!toolchain_compile(&t, folder, vector_bytes, 0, &err))
		fail_msg("%d bytes: %s", vector_bytes, err.message);
	unlink(path);
	snprintf(path, sizeof(path), "%s/kernel.so", folder);
	assert_int_equal(unlink(path), 0);
	rmdir(folder);
}

/* Softmax over rows and over columns besides all ops: every form of kernel.  The C is the
 * same sanitized, where it is only made. */
static void the_c_of_every_unit_compiles(void **state)
{
	static const char *const compilers[] = { "/usr/bin/gcc", "/usr/bin/clang" };

	(void)state;
	for (int c = 0; c < 2; c++)
		for (int bytes = 16; bytes <= 64 && access(compilers[c], X_OK) == 0; bytes *= 2)
			for (int dtype = 0; dtype <= DTYPE_COUNT; dtype++) {
				struct builder b;
				struct buf source;

				buf_init(&source, 0);
				if (dtype < DTYPE_COUNT) {
					all_ops(&b, dtype);
				} else {
					b = builder_create();
					int x = INPUT(&b, DTYPE_F32, SYM(&b, 20), NUM(&b, 30));
					RETURN(&b, ADD(&b, OP_softmax, T(x), I(&b, 0)),
					       ADD(&b, OP_softmax, T(x), I(&b, 1)),
					       ADD(&b, OP_any, T(ADD(&b, OP_gt, T(x), F(1)))));
				}
				emit_for(lower_passed(&b, false), bytes, &source);
				if (case_step(2) == 1)
					compile_for(compilers[c], &source, bytes);
				buf_finish(&source);
				builder_destroy(&b);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_backends_agree_bit_for_bit_on_every_op),
		cmocka_unit_test(a_unit_that_the_machine_lacks_is_refused),
		cmocka_unit_test(the_c_of_every_unit_compiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
