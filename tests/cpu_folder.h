/* tests/cpu_folder.h -- for suites of the backend cpu: a folder of a test's own, a small
 * program, and compilers that are scripts.
 */
#ifndef TESTS_CPU_FOLDER_H
#define TESTS_CPU_FOLDER_H

#include "tests/backends_help.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static inline int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/breakeven-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static inline int remove_folder(void **state)
{
	(void)state;
	chmod(folder, 0700);
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return 0;
}

/* relu(x + number) over 100 elements: another number is another program. */
static inline const struct lowered *small_program(struct builder *b, double number)
{
	*b = builder_create();
	int x = INPUT(b, DTYPE_F32, NUM(b, 100));
	RETURN(b, ADD(b, OP_relu, T(ADD(b, OP_add, T(x), F(number)))));
	return lower_passed(b, false);
}

/* Compiles, runs and checks the values; the stats are the caller's to look at. */
static inline struct compile_stats run_small(const struct backend_env *env, double number)
{
	const struct backend *cpu = backend_find("cpu");
	struct compile_stats stats;
	struct err err = { 0 };
	struct builder b;
	const struct lowered *l = small_program(&b, number);
	struct executable *exe = cpu->compile(env, l, &stats, &err);
	float *x = help_alloc(400), out[100];

	if (!exe)
		fail_msg("%s", err.message);
	for (int i = 0; i < 100; i++)
		x[i] = ref_sample(i);
	help_run(cpu, exe, l, b.vars, (const void *[]){ x }, (void *[]){ out }, NULL);
	for (int i = 0; i < 100; i++) {
		float want = x[i] + (float)number;
		assert_true(out[i] == (want < 0 ? 0 : want));
	}
	stats.source = NULL;
	stats.note = stats.note ? "noted" : NULL; /* the text dies with the executable */
	cpu->destroy(exe);
	free(x);
	builder_destroy(&b);
	return stats;
}

static inline void write_script(char path[128], const char *name, const char *text)
{
	snprintf(path, 128, "%s/%s", folder, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

#endif
