/* tests/test_backends_cpu.c -- the compiler and its failures. */
#include "tests/cpu_folder.h"

/* Fails to compile; the message is the caller's to look at. */
static struct err fail_small(const struct backend_env *env)
{
	struct compile_stats stats;
	struct err err = { 0 };
	struct builder b;
	const struct lowered *l = small_program(&b, 0.5);

	assert_null(backend_find("cpu")->compile(env, l, &stats, &err));
	assert_int_equal(err.code, ERR_COMPILER);
	builder_destroy(&b);
	return err;
}

static unsigned read_mxcsr(void)
{
	return __builtin_ia32_stmxcsr();
}

static void loading_a_kernel_leaves_mxcsr_and_denormals_alone(void **state)
{
	struct backend_env env = { .cache_dir = folder };
	volatile float tiny = 1e-40f;
	unsigned before = read_mxcsr();

	(void)state;
	run_small(&env, 0.5);
	assert_int_equal(read_mxcsr() & 0xffc0, before & 0xffc0);
	run_small(&env, 0.5);
	assert_int_equal(read_mxcsr() & 0xffc0, before & 0xffc0);
	assert_true(tiny * 0.5f > 0);
}

static void a_compiler_that_hangs_is_stopped(void **state)
{
	char path[128];
	struct backend_env env = { .compiler = path, .compile_timeout_ms = 200 };

	(void)state;
	write_script(path, "hangs", "#!/bin/sh\nsleep 30 &\nwait\n");
	struct err err = fail_small(&env);
	assert_non_null(strstr(err.message, "longer than 200 ms"));
}

static void what_the_compiler_says_is_passed_on(void **state)
{
	char path[128];
	struct backend_env env = { .compiler = path };

	(void)state;
	write_script(path, "complains",
		     "#!/bin/sh\necho note\necho 'x: error: no luck' >&2\nexit 1\n");
	struct err err = fail_small(&env);
	assert_non_null(strstr(err.message, "x: error: no luck"));
	write_script(path, "crashes", "#!/bin/sh\nkill -SEGV $$\n");
	err = fail_small(&env);
	assert_non_null(strstr(err.message, "signal 11"));
	write_script(path, "lies", "#!/bin/sh\nexit 0\n");
	err = fail_small(&env);
	assert_non_null(strstr(err.message, "cannot be loaded"));
}

static void the_compiler_gets_a_fixed_environment(void **state)
{
	char path[128], text[256];
	struct backend_env env = { .compiler = path };

	(void)state;
	setenv("SECRET_OF_THE_TEST", "1", 1);
	snprintf(text, sizeof(text), "#!/bin/sh\nenv >%s/seen\ncat <&0 >%s/input\nexit 1\n", folder,
		 folder);
	write_script(path, "looks", text);
	fail_small(&env);
	snprintf(text, sizeof(text), "%s/seen", folder);
	FILE *seen = fopen(text, "r");
	assert_non_null(seen);
	while (fgets(text, sizeof(text), seen))
		assert_null(strstr(text, "SECRET_OF_THE_TEST"));
	fclose(seen);
}

static void a_missing_compiler_is_explained(void **state)
{
	const struct backend *cpu = backend_find("cpu");
	struct backend_env env = { .compiler = "/nowhere/gcc" };
	char why[512] = "", *path = strdup(getenv("PATH"));

	(void)state;
	assert_false(cpu->available(&env, why, sizeof(why)));
	assert_non_null(strstr(why, "/nowhere/gcc"));
	setenv("PATH", "/nowhere:relative", 1);
	env.compiler = NULL;
	assert_false(cpu->available(&env, why, sizeof(why)));
	assert_non_null(strstr(why, "apt install gcc"));
	assert_non_null(strstr(fail_small(&env).message, "apt install gcc"));
	setenv("PATH", path, 1);
	assert_true(cpu->available(&env, why, sizeof(why)));
	free(path);
}

static void no_text_of_the_user_reaches_the_source(void **state)
{
	struct backend_env env = { 0 };
	struct compile_stats stats;
	struct builder b;

	(void)state;
	b = builder_create();
	int x = INPUT(&b, DTYPE_F32, NUM(&b, 100));
	assert_true(graph_set_name(b.g, x, "injected"));
	RETURN(&b, ADD(&b, OP_sin, T(x)));
	const struct lowered *l = lower_passed(&b, false);
	struct executable *exe = backend_find("cpu")->compile(&env, l, &stats, NULL);
	assert_non_null(exe);
	assert_non_null(strstr(stats.source, "void k0p2("));
	assert_null(strstr(stats.source, "injected"));
	assert_null(strstr(stats.source, l->kernels[0].name));
	backend_find("cpu")->destroy(exe);
	builder_destroy(&b);
}

static void clang_compiles_the_kernels_too(void **state)
{
	struct backend_env env = { .compiler = "/usr/bin/clang" };

	(void)state;
	if (access(env.compiler, X_OK) != 0)
		skip();
	run_small(&env, 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(loading_a_kernel_leaves_mxcsr_and_denormals_alone),
		IN_FOLDER(a_compiler_that_hangs_is_stopped),
		IN_FOLDER(what_the_compiler_says_is_passed_on),
		IN_FOLDER(the_compiler_gets_a_fixed_environment),
		IN_FOLDER(a_missing_compiler_is_explained),
		IN_FOLDER(no_text_of_the_user_reaches_the_source),
		IN_FOLDER(clang_compiles_the_kernels_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
