/* tests/test_base_scratch.c -- temporary folders, and what a process that was killed leaves. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fusion/base/scratch.h"

static char base[] = "/tmp/test_base_scratch-XXXXXX";

static const char *under(const char *folder, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static bool there(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0;
}

static void put_file(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fclose(file);
}

static struct scratch make(void)
{
	struct err err = { 0 };
	struct scratch s = { 0 };

	if (!scratch_create(&s, "a test", &err))
		fail_msg("%s", err.message);
	return s;
}

/* Another process that makes a folder with a file in a folder in it, and waits. */
static pid_t start_other(struct scratch *s)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		struct scratch own = make();

		mkdir(under(own.path, "inner"), 0700);
		put_file(under(own.path, "inner/file"));
		if (write(ends[1], &own, sizeof(own)) != sizeof(own))
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], s, sizeof(*s)), sizeof(*s));
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void kill_other(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_folder_is_private_and_goes_with_all_that_is_in_it(void **state)
{
	struct scratch s = make(), none = { 0 };
	struct stat info;
	char path[256];

	(void)state;
	strcpy(path, s.path);
	assert_int_equal(strncmp(path, base, strlen(base)), 0);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	mkdir(under(path, "inner"), 0700);
	put_file(under(path, "inner/file"));
	scratch_destroy(&s);
	assert_false(there(path));
	scratch_destroy(&s);
	scratch_destroy(&none);
}

static void what_a_killed_process_left_goes_with_the_next(void **state)
{
	struct scratch other = { "", -1 }, mine;
	pid_t pid = start_other(&other);

	(void)state;
	assert_true(there(under(other.path, "inner/file")));
	mine = make();
	assert_true(there(under(other.path, "inner/file"))); /* it is alive */
	scratch_destroy(&mine);
	kill_other(pid);
	assert_true(there(other.path));
	mine = make();
	assert_false(there(other.path));
	scratch_destroy(&mine);
}

static void several_of_one_process_stay(void **state)
{
	struct scratch first = make(), second = make();

	(void)state;
	assert_true(there(first.path) && there(second.path));
	scratch_destroy(&second);
	assert_true(there(first.path));
	scratch_destroy(&first);
}

static void what_is_not_ours_stays(void **state)
{
	struct scratch s;
	char link[256], plain[256], other[256], target[256];

	(void)state;
	strcpy(plain, under(base, "breakeven-scratch-a-file"));
	strcpy(link, under(base, "breakeven-scratch-a-link"));
	strcpy(other, under(base, "breakeven-of-somebody"));
	strcpy(target, under(base, "target"));
	put_file(plain);
	mkdir(other, 0700);
	mkdir(target, 0700);
	assert_int_equal(symlink(target, link), 0);
	s = make();
	assert_true(there(plain) && there(link) && there(other) && there(target));
	scratch_destroy(&s);
	unlink(plain);
	unlink(link);
	rmdir(other);
	rmdir(target);
}

static void a_file_has_no_name(void **state)
{
	struct err err = { 0 };
	int fd = scratch_file("a test", &err);
	char back[4] = "";
	DIR *all = opendir(base);
	int n = 0;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(pread(fd, back, 3, 0), 3);
	assert_string_equal(back, "abc");
	assert_non_null(all);
	while (readdir(all))
		n++;
	closedir(all);
	assert_int_equal(n, 2); /* . and .. */
	close(fd);
}

static void a_place_that_is_not_there_is_said(void **state)
{
	struct err err = { 0 };
	struct scratch s = { 0 };

	(void)state;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_int_equal(scratch_file("a test", &err), -1);
	assert_string_equal(err.message, "no temporary file for a test in /nowhere/at/all: "
					 "No such file or directory");
	assert_false(scratch_create(&s, "a test", &err));
	setenv("TMPDIR", base, 1);
	assert_int_equal(err.code, ERR_IO);
	assert_string_equal(err.message, "no temporary folder for a test in /nowhere/at/all: "
					 "No such file or directory");
	assert_string_equal(s.path, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_folder_is_private_and_goes_with_all_that_is_in_it),
		cmocka_unit_test(what_a_killed_process_left_goes_with_the_next),
		cmocka_unit_test(several_of_one_process_stay),
		cmocka_unit_test(what_is_not_ours_stays),
		cmocka_unit_test(a_file_has_no_name),
		cmocka_unit_test(a_place_that_is_not_there_is_said),
	};
	int failed;

	if (!mkdtemp(base))
		return 1;
	setenv("TMPDIR", base, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	return rmdir(base) == 0 ? failed : 1;
}
