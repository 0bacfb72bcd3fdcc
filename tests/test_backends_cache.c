/* tests/test_backends_cache.c -- the cache of kernels on disk: what is found again, what
 * is another kernel, what is damaged, shared, bounded or may not be written.
 */
#include "tests/cpu_folder.h"

#include <sys/wait.h>

#include "fusion/backends/simd/simd.h"

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

/* The note of a compile, which dies with the executable. */
static void note_of(const struct backend_env *env, double number, char note[256])
{
	struct compile_stats stats;
	struct err err = { 0 };
	struct builder b;
	const struct lowered *l = small_program(&b, number);
	struct executable *exe = backend_find("cpu")->compile(env, l, &stats, &err);

	assert_non_null(exe);
	snprintf(note, 256, "%s", stats.note ? stats.note : "");
	backend_find("cpu")->destroy(exe);
	builder_destroy(&b);
}

static void what_is_damaged_is_told_and_mended(void **state)
{
	static const struct {
		const char *ending, *told;
	} cases[] = {
		{ ".so", "its object does not match its hash" },
		{ ".ok", "its object does not match its hash" },
		{ ".c", "its source is not the one that it was compiled of" },
	};
	struct backend_env env = { .cache_dir = folder };
	char path[512], note[256];

	(void)state;
	note_of(&env, 0.5, note);
	assert_string_equal(note, ""); /* an entry that is not there is no fault */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		path_of(cases[i].ending, path);
		assert_int_equal(truncate(path, 20), 0);
		note_of(&env, 0.5, note);
		assert_non_null(strstr(note, "The cached kernel "));
		assert_non_null(strstr(note, cases[i].told));
		note_of(&env, 0.5, note);
		assert_string_equal(note, "");
	}
	path_of(".ok", path);
	assert_int_equal(unlink(path), 0);
	note_of(&env, 0.5, note);
	assert_non_null(strstr(note, "a file is missing"));
	assert_true(run_small(&env, 0.5).cached);
}

/* How many bytes the entries have. */
static size_t folder_bytes(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;
	size_t sum = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0)
			sum += (size_t)st.st_size;
	closedir(dir);
	return sum;
}

/* As if all that is there had been used an hour ago, and longer. */
static void age_entries(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct stat st;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		struct timespec times[2];

		if (entry->d_name[0] == '.' || fstatat(dirfd(dir), entry->d_name, &st, 0) != 0)
			continue;
		times[0] = times[1] = st.st_mtim;
		times[0].tv_sec = times[1].tv_sec -= 3600;
		assert_int_equal(utimensat(dirfd(dir), entry->d_name, times, 0), 0);
	}
	closedir(dir);
}

static void the_cache_keeps_to_its_bytes(void **state)
{
	struct backend_env env = { .cache_dir = folder };
	size_t one;

	(void)state;
	run_small(&env, 1);
	one = folder_bytes();
	env.cache_bytes = 4 * one + one / 2;
	for (int i = 2; i <= 4; i++) { /* 1 was used first, then 2 and so on */
		age_entries();
		run_small(&env, i);
	}
	assert_int_equal(count_files(".so"), 4);
	age_entries();
	assert_true(run_small(&env, 1).cached); /* now 2 was used longest ago, then 3 */
	age_entries();
	run_small(&env, 5);
	assert_true(folder_bytes() <= env.cache_bytes);
	assert_int_equal(count_files(".so"), 3);
	assert_int_equal(count_files(".c"), 3);
	assert_int_equal(count_files(".ok"), 3);
	assert_true(run_small(&env, 1).cached);
	assert_true(run_small(&env, 4).cached);
	assert_true(run_small(&env, 5).cached);
	assert_false(run_small(&env, 2).cached);
}

/* The sum that is kept beside the entries is right after what others did to the folder: an
 * entry that is damaged and stored again, a sum that is none, one that is an hour old. */
static void the_bytes_that_are_kept_count_mend_themselves(void **state)
{
	static const char *const wrong[] = { "no number", "0 1000000000\n", "" };
	struct backend_env env = { .cache_dir = folder };
	char path[512];
	size_t one;

	(void)state;
	run_small(&env, 1);
	one = folder_bytes();
	env.cache_bytes = 2 * one + one / 2;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		run_small(&env, 2);
		snprintf(path, sizeof(path), "%s/.account", folder);
		overwrite(path, wrong[i]);
		age_entries();
		run_small(&env, 3 + (double)i);
		assert_true(folder_bytes() <= env.cache_bytes);
		assert_true(run_small(&env, 3 + (double)i).cached);
	}
	env.cache_rebuild = true; /* nothing is found, what is stored replaces itself */
	for (int i = 0; i < 4; i++)
		assert_false(run_small(&env, 5).cached);
	env.cache_rebuild = false;
	assert_true(run_small(&env, 5).cached);
	assert_true(folder_bytes() <= env.cache_bytes);
}

/* A kernel that is larger than the whole bound is kept until the next one comes. */
static void the_newest_entry_is_never_dropped(void **state)
{
	struct backend_env env = { .cache_dir = folder, .cache_bytes = 1 };

	(void)state;
	run_small(&env, 1);
	assert_true(run_small(&env, 1).cached);
	run_small(&env, 2);
	assert_int_equal(count_files(".so"), 1);
	assert_true(run_small(&env, 2).cached);
}

static void another_compiler_or_unit_is_another_entry(void **state)
{
	static const char *const units[] = { "sse", "avx2", "avx512" };
	struct backend_env env = { .cache_dir = folder };
	char path[128];
	int entries = 1;

	(void)state;
	run_small(&env, 0.5);
	for (int i = 0; i < 3; i++) {
		env.vector_unit = units[i];
		if (kernels_named(units[i]) && strcmp(units[i], backend_vector_unit()) != 0) {
			assert_false(run_small(&env, 0.5).cached);
			assert_int_equal(count_files(".so"), ++entries);
		}
	}
	env.vector_unit = NULL;
	env.compiler = path;
	for (int i = 0; i < 2; i++) { /* the same path with another compiler in its place */
		write_script(path, "mycc",
			     i ? "#!/bin/sh\nexec  gcc \"$@\"\n" : "#!/bin/sh\nexec gcc \"$@\"\n");
		assert_false(run_small(&env, 0.5).cached);
		assert_true(run_small(&env, 0.5).cached);
		assert_int_equal(count_files(".so"), ++entries);
	}
}

enum { NOBODY = 65534 };

static int give_away(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return chown(path, NOBODY, NOBODY);
}

/* Root may write anywhere: then the folder, and the process, are nobody's. */
static void a_folder_that_cannot_be_written_still_gives_what_it_has(void **state)
{
	struct backend_env env = { .cache_dir = folder };
	pid_t child;
	int status;

	(void)state;
	run_small(&env, 0.5);
	if (geteuid() == 0)
		assert_int_equal(nftw(folder, give_away, 16, FTW_PHYS), 0);
	chmod(folder, 0555);
	child = fork();
	if (child == 0) {
		char note[256];

		if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
			_exit(9);
		if (chdir("/tmp") != 0 || !run_small(&env, 0.5).cached)
			_exit(1);
		note_of(&env, 0.5, note);
		if (!strstr(note, "is not writable: kernels that it lacks are compiled each time"))
			_exit(2);
		_exit(run_small(&env, 0.25).cached ? 3 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(count_files(".so"), 1);
}

static int count_workshops(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += strncmp(entry->d_name, ".new-", 5) == 0;
	closedir(dir);
	return n;
}

/* All begin at once, most with the same programs. */
static void processes_that_share_a_cold_cache_leave_it_whole(void **state)
{
	enum { PROCESSES = 8, PROGRAMS = 3 };
	struct backend_env env = { .cache_dir = folder };
	char note[256];
	int status, go[2];
	char c;

	(void)state;
	assert_int_equal(pipe(go), 0);
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0) {
			close(go[1]);
			(void)!read(go[0], &c, 1); /* until the parent closes it */
			for (int k = 0; k < PROGRAMS; k++)
				run_small(&env, (i + k) % PROGRAMS + 1);
			_exit(0);
		}
	close(go[1]);
	for (int i = 0; i < PROCESSES; i++) {
		assert_true(wait(&status) > 0);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	close(go[0]);
	assert_int_equal(count_files(".so"), PROGRAMS);
	assert_int_equal(count_files(".ok"), PROGRAMS);
	for (int k = 1; k <= PROGRAMS; k++) {
		assert_true(run_small(&env, k).cached);
		note_of(&env, k, note);
		assert_string_equal(note, "");
	}
	assert_int_equal(count_workshops(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_second_compile_comes_from_the_cache),
		IN_FOLDER(a_damaged_entry_is_a_miss_and_is_replaced),
		IN_FOLDER(what_a_killed_process_left_is_swept_in_time),
		IN_FOLDER(an_entry_that_others_may_write_is_not_loaded),
		IN_FOLDER(without_a_usable_folder_kernels_are_compiled_all_the_same),
		IN_FOLDER(the_cache_folder_is_made_where_it_is_missing),
		IN_FOLDER(what_is_damaged_is_told_and_mended),
		IN_FOLDER(the_cache_keeps_to_its_bytes),
		IN_FOLDER(the_bytes_that_are_kept_count_mend_themselves),
		IN_FOLDER(the_newest_entry_is_never_dropped),
		IN_FOLDER(another_compiler_or_unit_is_another_entry),
		IN_FOLDER(a_folder_that_cannot_be_written_still_gives_what_it_has),
		IN_FOLDER(processes_that_share_a_cold_cache_leave_it_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
