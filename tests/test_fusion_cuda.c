/* tests/test_fusion_cuda.c -- backend cuda on a GPU that does nothing: what it launches.
 *
 * A recording's CUDA graph is compared with the launches of the same recording one by
 * one: functions, grids and every parameter.
 */
#include <stdlib.h>

#include "fusion/session/fusion_private.h"
#include "fusion/compile/record.h"
#include "fusion/tensor/view.h"
#include "tests/cuda_stand_in.h"

static struct fusion_recording recording(const struct engine *e)
{
	assert_int_equal(fusion_counts(e->session).n_graphs, 1);
	return fusion_graph(e->session, 0).recording;
}

static struct engine open_graphs(const char *body)
{
	char source[2048];

	snprintf(source, sizeof(source), "import torch\ndef model(x, w):\n    %s\n    return y\n",
		 body);
	return engine_open("cuda", FUSION_GRAPHS, source);
}

/* What the call launched, and what the same recording launches kernel by kernel. */
static void same_launches(struct stand_in *gpu, const struct engine *e, int graphs)
{
	const struct exec *x = e->session->session.graphs.at[0]->exec;
	char *of_call = strdup(gpu->log());

	assert_int_equal(gpu->graphs(), graphs);
	assert_true(strlen(of_call) > 0);
	gpu->clear();
	for (int k = 0; k < x->lowered->n_kernels; k++)
		x->backend->replay(x->record->recording, k, NULL, false);
	assert_string_equal(of_call, gpu->log());
	free(of_call);
}

static const char *const long_bodies[] = {
	"y = torch.sin(x + 0.1)",
	"y = (torch.sin(x).sum(dim=1) * torch.cos(x).sum(dim=0)).sum() + torch.exp(x).sum(dim=0)",
	"y = torch.relu(x @ w) @ w - (x @ x).sum()",
	"y = torch.softmax(torch.softmax(torch.softmax(x, 0), 1), 0).sum(0)",
};

static void a_graph_launches_what_its_kernels_launch(void **state)
{
	struct stand_in gpu = stand_in_open();

	(void)state;
	for (size_t b = 0; b < sizeof(long_bodies) / sizeof(*long_bodies); b++) {
		struct engine e = open_graphs(long_bodies[b]);
		struct value x = FLOATS(&e, 0, 8, 8), other = FLOATS(&e, 1, 8, 8), held[4];

		for (int i = 0; i < 4; i++) { /* results are held: outputs move, inputs too */
			/* Two, not one twice: that would be a version of its own. */
			struct value args[] = { i % 2 ? x : other, i % 2 ? other : x };

			gpu.clear();
			held[i] = engine_call(&e, args, 2);
			same_launches(&gpu, &e, 1);
		}
		assert_int_equal(recording(&e).made, 1);
		assert_int_equal(recording(&e).direct, 0);
		assert_int_equal(recording(&e).replays, 4);
		assert_null(recording(&e).why_direct);
		engine_drop(held, 4);
		value_unref(x);
		value_unref(other);
		engine_close(&e);
	}
}

/* Memory at an odd address has kernels of its own. */
static void a_graph_follows_memory_to_odd_addresses(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = open_graphs(long_bodies[1]);
	struct value base = FLOATS(&e, 0, 10, 8), w = FLOATS(&e, 1, 8, 8);

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct tensor *t = tensor_view(base.tensor->memory, 2, (int64_t[]){ 8, 8 },
					       (int64_t[]){ 8, 1 }, i % 2, NULL);
		struct value args[] = { fusion_value(t), w }, y;
		char first[32];

		tensor_unref(t);
		gpu.clear();
		y = engine_call(&e, args, 2);
		snprintf(first, sizeof(first), "%llx", (unsigned long long)tensor_kernel_reads(t));
		assert_non_null(strstr(gpu.log(), first));
		same_launches(&gpu, &e, 1);
		value_unref(y);
		value_unref(args[0]);
	}
	engine_drop((struct value[]){ base, w }, 2);
	engine_close(&e);
}

static void what_is_no_graph_is_launched_directly(void **state)
{
	struct stand_in gpu = stand_in_open();
	static const struct {
		const char *body, *why;
	} cases[] = {
		{ "y = torch.sin(x[:0]) + 1", "there is nothing to launch" },
		{ "y = (x + torch.randperm(8)).sum(0).softmax(0).sum(0)", "runs on the host" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct engine e = open_graphs(cases[i].body);
		struct value args[] = { FLOATS(&e, 0, 8, 8), FLOATS(&e, 1, 8, 8) }, y;

		gpu.clear();
		y = engine_call(&e, args, 2);
		assert_int_equal(gpu.graphs(), 0);
		assert_int_equal(recording(&e).made, 1);
		assert_int_equal(recording(&e).direct, 1);
		assert_non_null(strstr(recording(&e).why_direct, cases[i].why));
		value_unref(y);
		engine_drop(args, 2);
		engine_close(&e);
	}
}

/* The stand-in takes 64 nodes. */
static void what_the_driver_makes_no_graph_of_is_launched_directly(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = open_graphs("y = x\n    for i in range(70):\n        y = y @ w");
	struct value args[] = { FLOATS(&e, 0, 8, 8), FLOATS(&e, 1, 8, 8) }, y;

	(void)state;
	for (int i = 0; i < 2; i++) {
		gpu.clear();
		y = engine_call(&e, args, 2);
		same_launches(&gpu, &e, 0);
		value_unref(y);
	}
	assert_non_null(strstr(recording(&e).why_direct, "CUDA_ERROR_INVALID_VALUE"));
	engine_drop(args, 2);
	engine_close(&e);
}

/* ---- failures */

/* Fails while the fault is there, with this in the message and at this line. */
static void fails(struct stand_in *gpu, const char *order, const char *source, int calls,
		  const char *text, int line)
{
	struct engine e = engine_open("cuda", FUSION_STATIC, source);
	struct value x = FLOATS(&e, 0, 8, 8), y;
	struct err err = { 0 };
	bool ok = true;

	gpu->fault(order);
	for (int i = 0; i < calls && ok; i++) {
		y = value_none();
		ok = fusion_call(e.session, &x, 1, &y, &err) && fusion_wait(e.f, &err);
		value_unref(y);
	}
	assert_false(ok);
	assert_int_equal(err.code, ERR_DEVICE);
	if (!strstr(err.message, text) || err.line != line)
		fail_msg("line %d: %s", err.line, err.message);
	value_unref(x);
	engine_close(&e);
	gpu->fault(NULL);
}

static const char ONE[] = "import torch\ndef model(x):\n    y = x + 1\n    return torch.sin(y)\n";
static const char TWO[] = "import torch\ndef model(x):\n    y = torch.softmax(x, 1)\n"
			  "    return y.sum(0)\n";

static void a_failure_names_the_kernel_and_its_line(void **state)
{
	struct stand_in gpu = stand_in_open();

	(void)state;
	/* found when it is waited for */
	fails(&gpu, "kernel 1 700", ONE, 1,
	      "the kernel fused_add_sin (lines 3 to 4) failed on stand-in GPU: an illegal memory "
	      "access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS); this process has lost",
	      3);
	fails(&gpu, "kernel 2 719", TWO, 1, "one of the last 2 kernels", 0);
	fails(&gpu, "kernel 2 719", TWO, 1, "(line 4)", 0);
	fails(&gpu, "kernel 2 719", TWO, 1, "CUDA_ERROR_LAUNCH_FAILED", 0);
	fails(&gpu, "kernel 6 700", TWO, 9, "one of the last 2 kernels", 0); /* after waits */
	/* or by the next launch */
	fails(&gpu, "kernel 1 719", TWO, 1, "(line 3) failed", 3);
	/* refused at once: that very one, and the device goes on */
	fails(&gpu, "launch 2 1", TWO, 1,
	      "the launch of fused_sum (line 4) failed on stand-in GPU: invalid argument", 4);
}

static void waiting_for_each_launch_finds_the_one(void **state)
{
	struct stand_in gpu = stand_in_open();

	(void)state;
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	fails(&gpu, "kernel 1 700", TWO, 1, "(line 3) failed", 3);
	fails(&gpu, "kernel 2 700", TWO, 1, "(line 4) failed", 4);
	unsetenv("CUDA_LAUNCH_BLOCKING");
}

static void a_failed_graph_names_its_kernels(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = open_graphs(long_bodies[1]);
	struct value args[] = { FLOATS(&e, 0, 8, 8), FLOATS(&e, 1, 8, 8) }, y;
	struct err err = { 0 };

	(void)state;
	gpu.fault("kernel 2 700");
	if (!fusion_call(e.session, args, 2, &y, &err))
		fail_msg("%s", err.message);
	assert_false(fusion_wait(e.f, &err));
	assert_non_null(strstr(err.message, "one of the last "));
	assert_non_null(strstr(err.message, "(line 3)"));
	value_unref(y);
	engine_drop(args, 2);
	engine_close(&e);
	gpu.fault(NULL);
}

/* ---- memory */

static void a_device_that_is_full_says_what_there_is(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = engine_open("cuda", FUSION_STATIC, ONE);
	struct err err = { 0 };
	struct allocator *a = fusion_allocator(e.f);
	const struct device_memory *device = allocator_device(a);
	size_t before = device->free_bytes(device->self);
	void *block = allocator_get(a, 1 << 20, &err), *other;
	char order[64];

	(void)state;
	/* room for two; what is kept for later makes room for one that is larger */
	snprintf(order, sizeof(order), "memory %zu", ((size_t)16 << 30) - before + (5 << 19));
	gpu.fault(order);
	allocator_put(a, block, 1 << 20);
	other = allocator_get(a, 2 << 20, &err);
	assert_non_null(other);
	assert_null(allocator_get(a, 1 << 20, &err));
	assert_int_equal(err.code, ERR_MEMORY);
	assert_non_null(strstr(err.message, "stand-in GPU is out of memory: 1.0 MiB were asked "
					    "for, 2.0 MiB are in use here (0.0 MiB of it by "
					    "kernels) and "));
	allocator_put(a, other, 2 << 20);
	gpu.fault(NULL);
	engine_close(&e);
}

/* Of a long row several blocks have a share: they leave partial results. */
static void the_peak_counts_what_kernels_have_for_themselves(void **state)
{
	struct engine e;
	struct value x, y;
	const struct device_memory *device;
	size_t peak;

	(void)state;
	stand_in_open();
	e = engine_open("cuda", FUSION_STATIC, "import torch\ndef model(x):\n    return x.sum()\n");
	x = FLOATS(&e, 0, 1 << 20);
	device = allocator_device(fusion_allocator(e.f));
	allocator_reset_peak(fusion_allocator(e.f));
	assert_int_equal(allocator_peak_bytes(fusion_allocator(e.f)), 4 << 20);
	y = engine_call(&e, &x, 1);
	peak = allocator_peak_bytes(fusion_allocator(e.f));
	assert_true(device->own_bytes > 0);
	assert_int_equal(peak, (4 << 20) + 4 + device->own_bytes);
	engine_drop((struct value[]){ x, y }, 2);
	engine_close(&e);
}

/* It counts as nothing that a program asked for, and takes nothing of its memory. */
static void nothing_can_be_launched(void **state)
{
	struct engine on_device, on_host;
	struct device_order before, after;
	const struct device_memory *memory;
	size_t own_bytes;

	(void)state;
	stand_in_open();
	on_device = engine_open("cuda", FUSION_STATIC, "def model(x):\n    return x\n");
	on_host = engine_open("cpu", FUSION_STATIC, "def model(x):\n    return x\n");
	memory = allocator_device(fusion_allocator(on_device.f));
	own_bytes = memory->own_bytes;
	assert_true(fusion_device_order(on_device.f, &before));
	assert_true(fusion_launch_nothing(on_device.f, 32));
	assert_true(fusion_device_order(on_device.f, &after));
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(memory->own_bytes, own_bytes);
	assert_false(fusion_launch_nothing(on_host.f, 32));
	engine_close(&on_device);
	engine_close(&on_host);
}

/* tests/cuda/driver.c: 40 registers, and as many blocks as threads allow. */
static void a_kernel_says_what_it_takes_of_the_device(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = engine_open("cuda", FUSION_STATIC,
				      "import torch\ndef model(x):\n    return torch.sin(x) + 1\n");
	struct value x = FLOATS(&e, 0, 8, 8);
	struct kernel_use use;

	(void)state;
	(void)gpu;
	value_unref(engine_call(&e, &x, 1));
	assert_true(fusion_kernel_use(e.session, 0, 0, &use));
	assert_int_equal(use.registers, 40);
	assert_int_equal(use.block_threads, 256);
	assert_float_equal(use.occupancy, 1, 1e-9);
	assert_false(fusion_kernel_use(e.session, 0, 1, &use)); /* there is one */
	value_unref(x);
	engine_close(&e);
}

/* ---- schedules that are tried */

static struct kernel_tried tried_in(const char *cache, enum autotune autotune)
{
	static const char source[] = "import torch\ndef model(x):\n    return x.sum(1)\n";
	struct fusion_options options = {
		.backend = "cuda", .threads = 1, .cache_dir = cache, .autotune = autotune
	};
	struct err err = { 0 };
	struct engine e = { .f = fusion_create(&options, &err) };
	struct kernel_use use;
	struct value x;

	assert_non_null(e.f);
	e.program = fusion_parse(source, strlen(source), "model", &err);
	e.session = fusion_session(e.f, e.program, FUSION_STATIC, &err);
	assert_non_null(e.session);
	x = FLOATS(&e, 0, 2000, 600);
	value_unref(engine_call(&e, &x, 1));
	assert_true(fusion_kernel_use(e.session, 0, 0, &use));
	value_unref(x);
	engine_close(&e);
	return use.tried;
}

static void schedules_are_tried_once_and_kept(void **state)
{
	char cache[] = "/tmp/breakeven-tuned-XXXXXX", command[96];
	struct kernel_tried first, second;

	(void)state;
	stand_in_open();
	assert_non_null(mkdtemp(cache));
	assert_int_equal(tried_in(cache, AUTOTUNE_OFF).n, 0);
	first = tried_in(cache, AUTOTUNE_FAST);
	assert_true(first.n >= 3);
	assert_in_range(first.chosen, 0, first.n - 1);
	assert_false(first.kept);
	assert_non_null(strstr(first.at[0].what, "as planned: "));
	for (int i = 0; i < first.n; i++) {
		assert_true(first.at[i].us > 0);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(first.at[i].what, first.at[k].what);
	}
	second = tried_in(cache, AUTOTUNE_FAST);
	assert_true(second.kept);
	assert_int_equal(second.n, first.n);
	assert_int_equal(second.chosen, first.chosen);
	for (int i = 0; i < first.n; i++)
		assert_string_equal(second.at[i].what, first.at[i].what);
	assert_false(tried_in(cache, AUTOTUNE_MAX).kept); /* more is tried */
	snprintf(command, sizeof(command), "rm -r %s", cache);
	assert_int_equal(system(command), 0);
}

/* ---- how a kernel is cut */

static const char *source_of(const struct engine *e)
{
	return e->session->session.graphs.at[0]->exec->stats.source;
}

/* A loop that is gone through once takes long to compile. */
static void what_fits_into_the_threads_of_a_row_has_no_loop(void **state)
{
	static const int64_t sizes[] = { 64, 1 << 14 };

	(void)state;
	stand_in_open();
	for (int i = 0; i < 2; i++) {
		struct engine e = engine_open("cuda", FUSION_STATIC,
					      "import torch\ndef model(x):\n    return x.sum()\n");
		struct value x = engine_floats(&e, 1, &sizes[i], 0);

		value_unref(engine_call(&e, &x, 1));
		assert_int_equal(strstr(source_of(&e), "for (u32 p = ") != NULL, i);
		value_unref(x);
		engine_close(&e);
	}
}

/* 4 elements of each of 128 threads, and no block strides. */
static void an_op_over_many_elements_has_a_block_for_each_share(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = engine_open("cuda", FUSION_EAGER, "def model(x):\n    return x * 2.5\n");
	struct value x = engine_tensor(&e, DTYPE_F32, 1, (int64_t[]){ 1 << 24 });
	char grid[32];

	(void)state;
	gpu.clear();
	value_unref(engine_call(&e, &x, 1));
	snprintf(grid, sizeof(grid), "k0 %d", (1 << 24) / 512);
	assert_memory_equal(gpu.log(), grid, strlen(grid));
	value_unref(x);
	engine_close(&e);
}

/* The last parameter of each launch, in their order. */
static void last_parameters(const char *log, char *to, size_t room)
{
	size_t n = 0;

	for (const char *end; (end = strchr(log, '\n')) != NULL; log = end + 1)
		if (n + 1 < room)
			to[n++] = end[-1];
	to[n] = '\0';
}

/* A launch over more than the cache holds begins where the one before has ended. */
static void large_kernels_go_each_the_other_way_round(void **state)
{
	static const struct {
		const char *source;
		enum fusion_mode mode;
		const char *turned; /* of the last launches */
	} cases[] = {
		{ "def model(x):\n    return x * 2.5 + 1.5 - 0.5\n", FUSION_EAGER, "010" },
		{ "def model(x):\n    return x / x.sum(-1, keepdim=True) * x.sum()\n",
		  FUSION_GRAPHS, "1" },
	};
	struct stand_in gpu = stand_in_open();

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct engine e = engine_open("cuda", cases[i].mode, cases[i].source);
		struct value x = engine_tensor(&e, DTYPE_F32, 2, (int64_t[]){ 1 << 12, 1 << 12 });
		char turned[8];

		gpu.clear();
		value_unref(engine_call(&e, &x, 1));
		last_parameters(gpu.log(), turned, sizeof(turned));
		assert_true(strlen(turned) >= strlen(cases[i].turned));
		assert_string_equal(turned + strlen(turned) - strlen(cases[i].turned),
				    cases[i].turned);
		value_unref(x);
		engine_close(&e);
	}
}

/* Two loads of a thread; four where a later stage loads more, and that too is under way
 * before the first sum waits. */
static void threads_of_a_row_load_before_they_wait(void **state)
{
	static const struct {
		const char *result;
		int block_threads, loads;
	} rows[] = { { "torch.softmax(x, -1)", 128, 1 },
		     { "F.layer_norm(x, (1024,), w, w + 1)", 64, 2 } };

	(void)state;
	stand_in_open();
	for (int i = 0; i < 2; i++) {
		char source[256];
		struct engine e;
		struct value args[2];
		struct kernel_use use;
		const char *kept, *join;

		snprintf(source, sizeof(source),
			 "import torch\nimport torch.nn.functional as F\n"
			 "def model(x, w):\n    return %s\n",
			 rows[i].result);
		e = engine_open("cuda", FUSION_STATIC, source);
		args[0] = engine_tensor(&e, DTYPE_F32, 2, (int64_t[]){ 64, 1024 });
		args[1] = engine_tensor(&e, DTYPE_F32, 1, (int64_t[]){ 1024 });
		value_unref(engine_call(&e, args, 2));
		assert_true(fusion_kernel_use(e.session, 0, 0, &use));
		assert_int_equal(use.block_threads, rows[i].block_threads);
		kept = strstr(source_of(&e), "get(h0[it]");
		join = strstr(source_of(&e), " = join_row<");
		assert_true(kept && kept < join);
		kept = strstr(kept, "get(h1[it]");
		assert_int_equal(kept && kept<join, rows[i].loads> 1);
		assert_null(strstr(join, "get("));
		engine_drop(args, 2);
		engine_close(&e);
	}
}

/* A convolution has its channels last; what comes after it writes them where they were. */
static void what_is_after_a_convolution_is_turned_in_shared_memory(void **state)
{
	struct engine e;
	struct value args[2];

	(void)state;
	stand_in_open();
	e = engine_open("cuda", FUSION_STATIC,
			"import torch\nimport torch.nn.functional as F\n"
			"def model(x, w):\n    return F.silu(F.conv2d(x, w, None, 2, 1))\n");
	args[0] = engine_tensor(&e, DTYPE_BF16, 4, (int64_t[]){ 4, 16, 64, 64 });
	args[1] = engine_tensor(&e, DTYPE_BF16, 4, (int64_t[]){ 64, 16, 3, 3 });
	value_unref(engine_call(&e, args, 2));
	assert_non_null(strstr(source_of(&e), "s0[k][threadIdx.x * 2 + j]"));
	engine_drop(args, 2);
	engine_close(&e);
}

/* Steps of an optimiser, one for each size of its parameters: their size is a number of the launch.
 */
static void flat_kernels_of_all_sizes_are_one_function(void **state)
{
	struct engine e;
	struct value args[2];
	const char *function;

	(void)state;
	stand_in_open();
	e = engine_open("cuda", FUSION_STATIC,
			"import torch\ndef model(x, y):\n"
			"    return torch.exp(x) * 2 + 1, torch.exp(y) * 2 + 1\n");
	args[0] = engine_tensor(&e, DTYPE_F32, 2, (int64_t[]){ 40, 7 });
	args[1] = engine_tensor(&e, DTYPE_F32, 1, (int64_t[]){ 300 });
	value_unref(engine_call(&e, args, 2));
	function = strstr(source_of(&e), "extern \"C\" __global__");
	assert_non_null(function);
	assert_null(strstr(function + 1, "extern \"C\" __global__"));
	engine_drop(args, 2);
	engine_close(&e);
}

/* ---- numbers */

static const char OPTIMISER[] =
    "import torch\n"
    "def model(x, rate, n):\n"
    "    m = x.lerp(x + 1.5, rate).mul_(rate)\n"
    "    m.add_(x, alpha=rate).addcdiv_(x, x, value=-rate)\n"
    "    m = torch.clamp(m / rate, rate, max=n) - (n // (x > rate))\n"
    "    return torch.where(m < rate, m, rate).masked_fill_(x != n, rate)\n";

static const char *hex_of(double f, char text[32])
{
	int64_t bits;

	memcpy(&bits, &f, sizeof(bits));
	snprintf(text, 32, "%llx", (unsigned long long)bits);
	return text;
}

/* Step sizes of an optimiser, a scale: each call has others. */
static void an_eager_op_is_compiled_for_any_number(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = engine_open("cuda", FUSION_EAGER, OPTIMISER);
	struct value x = FLOATS(&e, 0, 8, 8);
	int compiles = 0;

	(void)state;
	for (int i = 1; i < 4; i++) {
		struct value args[] = { x, value_float(0.1 * i), value_int(40 + i) };
		char text[32];

		gpu.clear();
		value_unref(engine_call(&e, args, 3));
		if (i == 1)
			compiles = gpu.compiles();
		assert_non_null(strstr(gpu.log(), hex_of(0.1 * i, text)));
		assert_non_null(strstr(gpu.log(), hex_of(-0.1 * i, text)));
	}
	assert_int_equal(gpu.compiles(), compiles);
	value_unref(x);
	engine_close(&e);
}

/* Which op it is, and whether it may be, is in some of them. */
static void a_number_that_decides_is_compiled_for(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = engine_open("cuda", FUSION_EAGER,
				      "import torch\ndef model(x, p):\n    return x ** p\n");
	struct value x = FLOATS(&e, 0, 8, 8);
	int compiles = gpu.compiles();

	(void)state;
	for (int i = 2; i < 5; i++) {
		struct value args[] = { x, value_float(0.5 * i) };

		value_unref(engine_call(&e, args, 2));
		assert_int_equal(gpu.compiles(), ++compiles);
	}
	value_unref(x);
	engine_close(&e);
}

/* ---- what the host waits for */

/* Kernels do nothing here: the host has counted. */
static void a_count_that_the_host_knows_is_counted_there(void **state)
{
	struct stand_in gpu = stand_in_open();
	struct engine e = engine_open("cuda", FUSION_EAGER,
				      "import torch\ndef model(x):\n"
				      "    step = torch.tensor(0.0)\n"
				      "    step += 1\n    step += 2\n"
				      "    return x * step.item()\n");
	struct value x = FLOATS(&e, 0, 8, 8);
	char text[32];

	(void)state;
	gpu.clear();
	value_unref(engine_call(&e, &x, 1));
	assert_non_null(strstr(gpu.log(), hex_of(3.0, text)));
	assert_int_equal(gpu.waits(), 0);
	value_unref(x);
	engine_close(&e);
}

static void a_view_is_written_where_it_lies(void **state)
{
	static const char *const writes[] = { "x[:, 1:3] = y[:, 1:3]", "x.t()[1].mul_(2)",
					      "x[::2, 4:].addcmul_(y[::2, 4:], y[::2, :4])" };
	char source[256];

	(void)state;
	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		struct stand_in gpu = stand_in_open();
		struct engine e;
		struct value args[2];

		snprintf(source, sizeof(source), "def model(x, y):\n    %s\n    return x\n",
			 writes[i]);
		e = engine_open("cuda", FUSION_EAGER, source);
		args[0] = FLOATS(&e, 0, 8, 8);
		args[1] = FLOATS(&e, 0, 8, 8);
		value_unref(engine_call(&e, args, 2));
		gpu.clear();
		value_unref(engine_call(&e, args, 2));
		assert_int_equal(gpu.waits(), 0);
		assert_non_null(strstr(gpu.log(), "l0_copy"));
		engine_drop(args, 2);
		engine_close(&e);
	}
}

/* A program that cannot see the difference gets the error of an index out of bounds later. */
/* A fault of an index is seen when all has run, as PyTorch sees it: nothing is kept for it. */
static void what_an_index_writes_is_written_where_it_lies(void **state)
{
	static const char source[] = "import torch\ndef model(x, i, y):\n"
				     "    x.index_copy_(1, i, y)\n    return x.sum()\n";
	static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_GRAPHS };
	struct stand_in gpu = stand_in_open();

	(void)state;
	for (size_t m = 0; m < sizeof(modes) / sizeof(*modes); m++) {
		struct engine e = engine_open("cuda", modes[m], source);
		struct allocator *a = fusion_allocator(e.f);
		struct value args[] = { FLOATS(&e, 0, 64, 64),
					engine_tensor(&e, DTYPE_I64, 1, (int64_t[]){ 1 }),
					FLOATS(&e, 1, 64, 1) };
		size_t used;

		value_unref(engine_call(&e, args, 3)); /* which compiles it */
		used = allocator_used_bytes(a);
		allocator_reset_peak(a);
		gpu.clear();
		value_unref(engine_call(&e, args, 3));
		assert_true(allocator_peak_bytes(a) - used < 64 * 64 * 4);
		assert_non_null(strstr(gpu.log(), "put"));
		assert_null(strstr(gpu.log(), "claim")); /* one index names one place */
		engine_drop(args, 3);
		engine_close(&e);
	}
}

static void a_look_up_is_waited_for_where_that_can_be_told(void **state)
{
	static const char *const bodies[] = {
		"    return x[i] + 1\n",
		"    try:\n        return x[i] + 1\n    except Exception:\n        return x\n",
		"    y = x[i] + 1\n    print('looked up')\n    return y\n",
	};
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_GRAPHS };

	(void)state;
	for (int k = 0; k < 9; k++) {
		struct stand_in gpu = stand_in_open();
		struct engine e;
		struct value args[2];
		char source[256];

		snprintf(source, sizeof(source), "def model(x, i):\n%s", bodies[k % 3]);
		e = engine_open("cuda", modes[k / 3], source);
		args[0] = FLOATS(&e, 0, 8, 8);
		args[1] = engine_tensor(&e, DTYPE_I64, 1, (int64_t[]){ 4 });
		value_unref(engine_call(&e, args, 2));
		gpu.clear();
		value_unref(engine_call(&e, args, 2));
		assert_int_equal(gpu.waits() > 0, k % 3 > 0);
		engine_drop(args, 2);
		engine_close(&e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_into_the_threads_of_a_row_has_no_loop),
		cmocka_unit_test(schedules_are_tried_once_and_kept),
		cmocka_unit_test(an_op_over_many_elements_has_a_block_for_each_share),
		cmocka_unit_test(large_kernels_go_each_the_other_way_round),
		cmocka_unit_test(threads_of_a_row_load_before_they_wait),
		cmocka_unit_test(what_is_after_a_convolution_is_turned_in_shared_memory),
		cmocka_unit_test(flat_kernels_of_all_sizes_are_one_function),
		cmocka_unit_test(an_eager_op_is_compiled_for_any_number),
		cmocka_unit_test(a_number_that_decides_is_compiled_for),
		cmocka_unit_test(a_count_that_the_host_knows_is_counted_there),
		cmocka_unit_test(a_view_is_written_where_it_lies),
		cmocka_unit_test(what_an_index_writes_is_written_where_it_lies),
		cmocka_unit_test(a_look_up_is_waited_for_where_that_can_be_told),
		cmocka_unit_test(nothing_can_be_launched),
		cmocka_unit_test(a_kernel_says_what_it_takes_of_the_device),
		cmocka_unit_test(a_graph_launches_what_its_kernels_launch),
		cmocka_unit_test(a_graph_follows_memory_to_odd_addresses),
		cmocka_unit_test(what_is_no_graph_is_launched_directly),
		cmocka_unit_test(what_the_driver_makes_no_graph_of_is_launched_directly),
		cmocka_unit_test(a_failure_names_the_kernel_and_its_line),
		cmocka_unit_test(waiting_for_each_launch_finds_the_one),
		cmocka_unit_test(a_failed_graph_names_its_kernels),
		cmocka_unit_test(a_device_that_is_full_says_what_there_is),
		cmocka_unit_test(the_peak_counts_what_kernels_have_for_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
