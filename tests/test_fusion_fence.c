/* tests/test_fusion_fence.c -- memory that is watched: poison, guard words, plans that end
 * the life of memory too early. */
#include "fusion/backends/memory/memory.h"
#include "fusion/base/sanitized.h"
#include "fusion/compile/compile.h"
#include "tests/cuda_stand_in.h"
#include "tests/graph_builder.h"

/* ---- by itself */

struct block {
	struct fence *fence;
	unsigned char memory[2048] __attribute__((aligned(64)));
	unsigned char *inside;
};

static void open_block(struct block *b, size_t bytes)
{
	b->inside = fence_open(b->fence, b->memory, bytes);
	assert_ptr_equal(b->inside, b->memory + FENCE_BYTES);
}

static void overwritten_guard_words_are_named(void **state)
{
	static const struct {
		int at, bytes;
		const char *said;
	} cases[] = {
		{ 10, 1, "bytes 0 to 0 past the end of a [10], 10 bytes" },
		{ 12, 4, "bytes 2 to 5 past the end" },
		{ 10 + FENCE_BYTES - 1, 1, "bytes 255 to 255 past the end" },
		{ -4, 4, "bytes 1 to 4 before the first byte" },
		{ -FENCE_BYTES, 1, "bytes 256 to 256 before the first byte" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct block b = { .fence = fence_create() };
		struct err err = { 0 };

		open_block(&b, 10);
		fence_describe(b.fence, b.inside + 3, "a [10]");
		fence_wrote(b.fence, b.inside, "the kernel fused_add of graph 2");
		memset(b.inside, 1, 10);
		assert_true(fence_check(b.fence, &err));
		memset(b.inside + cases[i].at, 1, (size_t)cases[i].bytes);
		assert_false(fence_check(b.fence, &err));
		assert_int_equal(err.code, ERR_INTERNAL);
		if (!strstr(err.message, cases[i].said) ||
		    !strstr(err.message, "the kernel fused_add of graph 2"))
			fail_msg("%s", err.message);
		assert_true(fence_check(b.fence, &err)); /* reported once */
		assert_ptr_equal(fence_close(b.fence, b.inside), b.memory);
		fence_destroy(b.fence);
	}
}

static void what_is_found_when_memory_is_freed_is_told_later(void **state)
{
	struct block b = { .fence = fence_create() };
	struct err err = { 0 };

	(void)state;
	open_block(&b, 8);
	b.inside[8] = 0;
	fence_close(b.fence, b.inside);
	assert_false(fence_check(b.fence, &err));
	assert_non_null(strstr(err.message, "bytes 0 to 0 past the end"));
	fence_destroy(b.fence);
}

/* Fresh, freed, and beside a buffer: a NaN, whatever dtype it is read as. */
static void poison_is_a_nan_of_every_dtype(void **state)
{
	static const enum dtype dtypes[] = { DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64 };
	struct block b = { .fence = fence_create() };

	(void)state;
	open_block(&b, 64);
	for (int freed = 0; freed < 2; freed++) {
		for (size_t k = 0; k < sizeof(dtypes) / sizeof(*dtypes); k++)
			for (size_t i = 0; i < 64 / dtype_bytes(dtypes[k]); i++)
				assert_true(
				    isnan(dtype_get_double(dtypes[k], b.inside, (int64_t)i)));
		/* no index into anything, from either end */
		assert_true(dtype_get_int(DTYPE_I64, b.inside, 0) > (int64_t)1 << 40);
		assert_true(dtype_get_int(DTYPE_I32, b.inside, 0) > 1 << 30);
		if (!freed)
			fence_close(b.fence, b.inside);
	}
	open_block(&b, 64);
	for (size_t k = 0; k < sizeof(dtypes) / sizeof(*dtypes); k++)
		for (int64_t i = 0; i < 8; i++)
			assert_true(isnan(dtype_get_double(dtypes[k], b.inside + 64, i)));
	fence_destroy(b.fence);
}

/* ---- plans */

struct watched_env {
	struct exec_env env;
	struct fence *fence;
};

static struct watched_env watched_open(void)
{
	struct watched_env w = { .fence = fence_create() };

	w.env.allocator = allocator_create((size_t)1 << 30, NULL);
	w.env.pool = pool_create(1);
	assert_true(w.fence && w.env.allocator && w.env.pool);
	w.env.backend_env.fence = w.fence;
	allocator_set_fence(w.env.allocator, w.fence);
	return w;
}

static void watched_close(struct watched_env *w)
{
	assert_int_equal(allocator_used_bytes(w->env.allocator), 0);
	pool_destroy(w->env.pool);
	allocator_destroy(w->env.allocator);
	fence_destroy(w->fence);
}

/* Three reductions one after another, and the first again: temporaries between kernels. */
static struct exec *compile(struct watched_env *w, struct builder *b, int64_t size)
{
	const struct compile_options options = { .env = &w->env,
						 .backend = backend_find("interp"),
						 .passes = { .verify = true } };
	int x = INPUT(b, DTYPE_F32, NUM(b, size), NUM(b, size));
	int first = ADD(b, OP_softmax, T(x), I(b, 0)),
	    second = ADD(b, OP_softmax, T(first), I(b, 1));
	int third = ADD(b, OP_softmax, T(second), I(b, 0));
	struct err err = { 0 };
	struct exec *e;

	RETURN(b, ADD(b, OP_softmax, T(ADD(b, OP_add, T(third), T(first))), I(b, 1)));
	e = compile_piece(&options, b->g, b->arena, &err);
	if (!e)
		fail_msg("%s", err.message);
	assert_true(e->n_temps >= 2);
	return e;
}

/* By a plan that is wrong a temporary ends with its first kernel, though a later one reads
 * it.  (Nothing else happens between the two steps.) */
static void end_too_early(struct exec *e)
{
	struct buffer *b = NULL;

	for (int i = 1; i < e->n_steps && !b; i++) {
		if (e->steps[i].kind != STEP_DROP_TEMP)
			continue;
		b = &e->lowered->buffers[e->temps[e->steps[i].index].buffer];
		assert_int_equal(e->steps[i - 1].kind, STEP_TAKE_TEMP);
		e->steps[i].kernel = b->first_kernel;
	}
	assert_non_null(b);
	assert_true(b->first_kernel < b->last_kernel);
	b->last_kernel = b->first_kernel;
}

/* How many of the result's elements are NaN, the most in three runs. */
static int64_t nans(struct watched_env *w, struct exec *e, int64_t size, bool recorded)
{
	struct record_memory memory = { .allocator = w->env.allocator };
	struct tensor *x, *y;
	struct exec_recorded made;
	struct err err = { 0 };
	int64_t most = 0;

	x = tensor_create(w->env.allocator, DTYPE_F32, 2, (int64_t[]){ size, size }, &err);
	assert_non_null(x);
	for (int64_t i = 0; i < size * size; i++)
		((float *)tensor_data(x))[i] = (float)sin((double)i);
	assert_true(exec_bind(e, NULL, &err));
	if (recorded)
		exec_record(e, &memory, &made);
	for (int run = 0; run < 3; run++) {
		int64_t count = 0;

		if (!exec_run(e, &(struct exec_call){ .inputs = &x, .outputs = &y }, &err) ||
		    !fence_check(w->fence, &err))
			fail_msg("%s", err.message);
		for (int64_t i = 0; i < size * size; i++)
			count += isnan(((const float *)tensor_read(y))[i]);
		most = count > most ? count : most;
		tensor_unref(y);
	}
	tensor_unref(x);
	exec_destroy(e);
	record_memory_finish(&memory);
	return most;
}

/* In one block, taken step by step, and of a recording. */
static void a_plan_that_ends_a_life_too_early_gives_nans(void **state)
{
	static const struct {
		int64_t size;
		bool recorded;
	} ways[] = { { 12, false }, { 400, false }, { 12, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		/* memory of its own, freed: the address sanitizer finds that read itself */
		for (int wrong = 0; wrong < (ADDRESS_SANITIZED && i == 1 ? 1 : 2); wrong++) {
			struct watched_env w = watched_open();
			struct builder b = builder_create();
			struct exec *e = compile(&w, &b, ways[i].size);
			int64_t found;

			if (wrong)
				end_too_early(e);
			found = nans(&w, e, ways[i].size, ways[i].recorded);
			if (wrong)
				assert_true(found > 0);
			else
				assert_int_equal(found, 0);
			builder_destroy(&b);
			watched_close(&w);
		}
}

/* ---- an engine */

static struct engine open_poisoned(const char *backend, enum fusion_mode mode, const char *source)
{
	struct fusion_options options = { .backend = backend, .threads = 1, .poison = true };
	struct err err = { 0 };
	struct engine e = { 0 };

	e.f = fusion_create(&options, &err);
	if (e.f)
		e.program = fusion_parse(source, strlen(source), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return e;
}

static const char program[] = "import torch\n"
			      "def model(x):\n"
			      "    return torch.softmax(torch.softmax(x, 0), 1) * 2\n";

/* Odd sizes: what vectors take beyond the last element is nobody's. */
static void kernels_keep_to_their_buffers(void **state)
{
	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = open_poisoned("interp", (enum fusion_mode)mode, program);

		for (int64_t size = 1; size < 20; size += 3) {
			struct value x = FLOATS(&e, size, size, 7);

			for (int call = 0; call < 3; call++)
				value_unref(engine_call(&e, &x, 1));
			value_unref(x);
		}
		assert_true(fusion_fence_counts(e.f).looks > 0);
		engine_close(&e);
	}
}

static struct err after_overrun(struct engine *e)
{
	struct value x = FLOATS(e, 0, 3, 5), y = engine_call(e, &x, 1);
	struct err err;

	/* the stand-in's memory is the host's */
	memset((char *)y.tensor->memory->storage->data + 3 * 5 * 4, 0, 4);
	err = engine_fails(e, &x, 1);
	value_unref(y);
	value_unref(x);
	return err;
}

static void an_overrun_of_a_result_is_told_with_its_kernel(void **state)
{
	struct engine e = open_poisoned("interp", FUSION_STATIC, program);
	struct err err = after_overrun(&e);

	(void)state;
	if (!strstr(err.message, "bytes 0 to 3 past the end of float32 [3, 5]") ||
	    !strstr(err.message, "60 bytes") || !strstr(err.message, "of graph 0"))
		fail_msg("%s", err.message);
	engine_close(&e);
}

static void so_it_is_on_a_gpu(void **state)
{
	stand_in_open();
	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++) {
		struct engine e = open_poisoned("cuda", (enum fusion_mode)mode, program);
		struct err err = after_overrun(&e);

		assert_int_equal(err.code, ERR_INTERNAL);
		if (!strstr(err.message, "bytes 0 to 3 past the end of float32 [3, 5]"))
			fail_msg("%s", err.message);
		engine_close(&e);
	}
}

/* Kernels, products, functions of the library and copies: what the report says of their
 * order is so. */
static void all_of_an_engine_is_in_one_stream(void **state)
{
	static const char mixed[] = "import torch\n"
				    "def model(x):\n"
				    "    y = torch.cumsum(x @ x.t(), 1)\n"
				    "    y = torch.sort(y.sin(), 0)[0] + torch.arange(4)\n"
				    "    return y.softmax(1), torch.multinomial(y.abs() + 1, 2)\n";
	struct stand_in gpu = stand_in_open();

	(void)state;
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
		for (int poison = 0; poison < 2; poison++) {
			struct engine e = poison
					      ? open_poisoned("cuda", (enum fusion_mode)mode, mixed)
					      : engine_open("cuda", (enum fusion_mode)mode, mixed);
			struct value x = FLOATS(&e, 0, 4, 5);
			struct device_order o;
			struct err err = { 0 };

			gpu.clear();
			for (int call = 0; call < 3; call++)
				value_unref(engine_call(&e, &x, 1));
			value_unref(x);
			assert_int_equal(gpu.strays(), 0);
			assert_true(fusion_wait(e.f, &err) && fusion_device_order(e.f, &o));
			assert_int_equal(o.streams, 1);
			assert_int_equal(o.events, 0);
			assert_true(o.launches + o.graphs > 0 && o.copies > 0 && o.waits > 0);
			engine_close(&e);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overwritten_guard_words_are_named),
		cmocka_unit_test(what_is_found_when_memory_is_freed_is_told_later),
		cmocka_unit_test(poison_is_a_nan_of_every_dtype),
		cmocka_unit_test(a_plan_that_ends_a_life_too_early_gives_nans),
		cmocka_unit_test(kernels_keep_to_their_buffers),
		cmocka_unit_test(an_overrun_of_a_result_is_told_with_its_kernel),
		cmocka_unit_test(so_it_is_on_a_gpu),
		cmocka_unit_test(all_of_an_engine_is_in_one_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
