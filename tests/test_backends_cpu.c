/* tests/test_backends_cpu.c -- the compiler, its failures, and the cache on disk. */
#include "tests/backends_help.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/breakeven-test-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static void remove_all(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char name[512];

		if (entry->d_name[0] == '.' && strlen(entry->d_name) < 3)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (unlink(name) != 0)
			remove_all(name);
	}
	if (dir)
		closedir(dir);
	rmdir(path);
}

static int remove_folder(void **state)
{
	(void)state;
	chmod(folder, 0700);
	remove_all(folder);
	return 0;
}

/* relu(x + number) over 100 elements: another number is another program. */
static const struct lowered *small_program(struct builder *b, double number)
{
	*b = builder_create();
	int x = INPUT(b, DTYPE_F32, NUM(b, 100));
	RETURN(b, ADD(b, OP_relu, T(ADD(b, OP_add, T(x), F(number)))));
	return lower_passed(b, false);
}

/* Compiles, runs and checks the values; the stats are the caller's to look at. */
static struct compile_stats run_small(const struct backend_env *env, double number)
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

static int count_files(const char *ending)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += strlen(entry->d_name) > strlen(ending) &&
		     !strcmp(entry->d_name + strlen(entry->d_name) - strlen(ending), ending);
	closedir(dir);
	return n;
}

/* The one file with that ending. */
static void path_of(const char *ending, char path[512])
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (strlen(entry->d_name) > strlen(ending) &&
		    !strcmp(entry->d_name + strlen(entry->d_name) - strlen(ending), ending))
			snprintf(path, 512, "%s/%s", folder, entry->d_name);
	closedir(dir);
}

static void a_second_compile_comes_from_the_cache(void **state)
{
	struct backend_env env = { .cache_dir = folder };
	struct compile_stats cold = run_small(&env, 0.5), warm = run_small(&env, 0.5);

	(void)state;
	assert_false(cold.cached);
	assert_int_equal(cold.kernels_built, 1);
	assert_true(warm.cached);
	assert_int_equal(warm.kernels_built, 0);
	assert_null(warm.note);
	assert_false(run_small(&env, 0.25).cached);
	assert_int_equal(count_files(".so"), 2);
	assert_int_equal(count_files(".c"), 2);
	assert_int_equal(count_files("XXXXXX"), 0);
}

static void overwrite(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void a_damaged_entry_is_a_miss_and_is_replaced(void **state)
{
	static const char *const endings[] = { ".so", ".c", ".ok" };
	struct backend_env env = { .cache_dir = folder };

	(void)state;
	run_small(&env, 0.5);
	for (int i = 0; i < 3; i++) {
		char path[512];

		path_of(endings[i], path);
		overwrite(path, "damaged");
		assert_false(run_small(&env, 0.5).cached);
		assert_true(run_small(&env, 0.5).cached);
	}
}

static void what_a_killed_process_left_is_swept_in_time(void **state)
{
	struct backend_env env = { .cache_dir = folder };
	struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	char stale[128], fresh[128], file[256];

	(void)state;
	snprintf(stale, sizeof(stale), "%s/.new-stale0", folder);
	snprintf(fresh, sizeof(fresh), "%s/.new-fresh0", folder);
	assert_int_equal(mkdir(stale, 0700), 0);
	assert_int_equal(mkdir(fresh, 0700), 0);
	snprintf(file, sizeof(file), "%s/kernel.c", stale);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	utimensat(AT_FDCWD, stale, old, 0);
	run_small(&env, 0.5);
	assert_int_not_equal(access(stale, F_OK), 0);
	assert_int_equal(access(fresh, F_OK), 0);
}

static void an_entry_that_others_may_write_is_not_loaded(void **state)
{
	struct backend_env env = { .cache_dir = folder };
	char path[512];

	(void)state;
	run_small(&env, 0.5);
	path_of(".so", path);
	chmod(path, 0666);
	assert_false(run_small(&env, 0.5).cached);
}

static void without_a_usable_folder_kernels_are_compiled_all_the_same(void **state)
{
	char file[128], link[128], nowhere[128];
	struct backend_env env = { .cache_dir = folder };

	(void)state;
	chmod(folder, 0777);
	assert_non_null(run_small(&env, 0.5).note);
	assert_int_equal(count_files(".so"), 0);
	chmod(folder, 0700);
	snprintf(file, sizeof(file), "%s/file", folder);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	snprintf(nowhere, sizeof(nowhere), "%s/file/below", folder);
	env.cache_dir = nowhere;
	assert_non_null(run_small(&env, 0.5).note);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink("/tmp", link), 0);
	env.cache_dir = link;
	assert_non_null(run_small(&env, 0.5).note);
}

static void the_cache_folder_is_made_where_it_is_missing(void **state)
{
	char deep[128];
	struct backend_env env = { .cache_dir = deep };
	struct stat st;

	(void)state;
	snprintf(deep, sizeof(deep), "%s/a/b", folder);
	assert_null(run_small(&env, 0.5).note);
	assert_int_equal(stat(deep, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_true(run_small(&env, 0.5).cached);
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

static void write_script(char path[128], const char *name, const char *text)
{
	snprintf(path, 128, "%s/%s", folder, name);
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0700);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
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

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_second_compile_comes_from_the_cache),
		IN_FOLDER(a_damaged_entry_is_a_miss_and_is_replaced),
		IN_FOLDER(what_a_killed_process_left_is_swept_in_time),
		IN_FOLDER(an_entry_that_others_may_write_is_not_loaded),
		IN_FOLDER(without_a_usable_folder_kernels_are_compiled_all_the_same),
		IN_FOLDER(the_cache_folder_is_made_where_it_is_missing),
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
