/* Kernels that another process compiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- one that never gets to its work ---- */

enum { GIVEN_UP_MS = 60000 };
static pid_t asks;      /* the process that starts it */
static bool waits_long; /* until that one has ended */

static void come_late(void)
{
	while (waits_long && getppid() == asks)
		usleep(1000);
}

static void hang(void *self)
{
	(void)self;
	if (write(STDERR_FILENO, "h", 1) == 1)
		sleep(2 * GIVEN_UP_MS / 1000);
	_exit(0);
}

/* Starts a process that starts such a builder; both have the pipe, whose other end is the answer.
 */
static int start_stuck(bool late)
{
	const struct kernel_builder_options options = { .cache_dir = cache, .confine = hang };
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	asks = fork();
	if (asks == 0) {
		asks = getpid();
		waits_long = late;
		dup2(ends[1], STDERR_FILENO);
		close(ends[1]);
		pthread_atfork(NULL, NULL, come_late);
		kernel_builder_start(kernel_builder_create(), &options, NULL);
		if (!late)
			pause();
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static void test_parent_killed(void **state)
{
	struct pollfd pipe = { .events = POLLIN };
	char byte;

	(void)state;
	pipe.fd = start_stuck(false);
	assert_int_equal(read(pipe.fd, &byte, 1), 1); /* it hangs */
	kill(asks, SIGKILL);
	waitpid(asks, NULL, 0);
	assert_int_equal(poll(&pipe, 1, GIVEN_UP_MS), 1);
	assert_int_equal(read(pipe.fd, &byte, 1), 0);
	close(pipe.fd);
}

/* Before the builder could ask to be told. */
static void test_parent_gone(void **state)
{
	struct pollfd pipe = { .events = POLLIN };
	char byte;

	(void)state;
	pipe.fd = start_stuck(true);
	waitpid(asks, NULL, 0);
	assert_int_equal(poll(&pipe, 1, GIVEN_UP_MS), 1);
	assert_int_equal(read(pipe.fd, &byte, 1), 0);
	close(pipe.fd);
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
		cmocka_unit_test(test_kept),          cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_rest),       cmocka_unit_test(test_units),
		cmocka_unit_test(test_parent_killed), cmocka_unit_test(test_parent_gone),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
