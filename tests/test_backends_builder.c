/* Kernels that another process compiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/backends/host/builder.h"

static char cache[64];

/* By `builder` (NULL: here); *cached as build_load() says. */
static void *load(struct kernel_builder *builder, const char *source, bool *cached, struct err *err)
{
	struct cpu_build b = {
		.source = source, .len = strlen(source), .vector_bytes = 16, .builder = builder
	};
	void *handle;

	assert_true(toolchain_find(&b.toolchain, NULL, err));
	cache_open(&b.cache, cache, 0);
	handle = build_load(&b, cached, err);
	cache_close(&b.cache);
	return handle;
}

static struct kernel_builder *start(void)
{
	const struct kernel_builder_options options = { .cache_dir = cache };
	struct kernel_builder *builder = kernel_builder_create();
	struct err err = { 0 };

	assert_non_null(builder);
	assert_true(kernel_builder_start(builder, &options, &err));
	return builder;
}

static int answer_of(void *handle)
{
	void *function = dlsym(handle, "answer");
	int (*answer)(void);

	assert_non_null(function);
	memcpy(&answer, &function, sizeof(answer));
	return answer();
}

static void test_kept(void **state)
{
	struct kernel_builder *builder = start();
	struct err err = { 0 };
	bool cached;
	void *handle = load(builder, "int answer(void) { return 1; }", &cached, &err);

	(void)state;
	assert_non_null(handle);
	assert_false(cached);
	assert_int_equal(answer_of(handle), 1);
	dlclose(handle);
	/* The key is the same, whoever makes it. */
	for (int i = 0; i < 2; i++) {
		handle = load(i ? NULL : builder, "int answer(void) { return 1; }", &cached, &err);
		assert_non_null(handle);
		assert_true(cached);
		assert_int_equal(answer_of(handle), 1);
		dlclose(handle);
	}
	kernel_builder_destroy(builder);
}

static void test_refused(void **state)
{
	struct kernel_builder *builder = start();
	struct err err = { 0 };
	bool cached;
	void *handle;

	(void)state;
	assert_null(load(builder, "no C", &cached, &err));
	assert_int_equal(err.code, ERR_COMPILER);
	assert_non_null(strstr(err.message, "error"));
	err = (struct err){ 0 };
	handle = load(builder, "int answer(void) { return 2; }", &cached, &err); /* it goes on */
	assert_non_null(handle);
	dlclose(handle);
	kernel_builder_destroy(builder);
}

/* What was not loaded, or did not compile, leaves nothing. */
static void test_no_rest(void **state)
{
	DIR *folder = opendir(cache);

	(void)state;
	assert_non_null(folder);
	for (struct dirent *e; (e = readdir(folder));)
		assert_int_not_equal(strncmp(e->d_name, ".new-", 5), 0);
	closedir(folder);
}

/* Each vector unit has kernels of its own: its flags are part of the key. */
static void test_units(void **state)
{
	struct toolchain t;
	struct err err = { 0 };

	(void)state;
	assert_true(toolchain_find(&t, NULL, &err));
	assert_non_null(strstr(toolchain_flags(&t, 16), "-msse4.2"));
	assert_non_null(strstr(toolchain_flags(&t, 32), "-mavx2"));
	assert_non_null(strstr(toolchain_flags(&t, 64), "-mavx512f"));
}

static int setup(void **state)
{
	(void)state;
	strcpy(cache, "/tmp/breakeven-builder-XXXXXX");
	return mkdtemp(cache) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", cache);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_rest),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
