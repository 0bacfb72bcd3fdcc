/* tests/test_server_cgroup.c -- control groups of what a server starts, where the system has them
 * to be divided: version 2 with the controllers "memory" or "pids", and a group that can be
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server/queue/cgroup.h"

static void own_groups(char text[4096])
{
	int fd = open("/proc/self/cgroup", O_RDONLY);
	ssize_t n = read(fd, text, 4095);

	close(fd);
	text[n > 0 ? n : 0] = '\0';
}

/* A child that enters a group, starts a process that does not end, and ends. */
static pid_t start_child(int *others)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		char text[4096], name[64];

		snprintf(name, sizeof(name), "/breakeven-%d\n", (int)getpid());
		own_groups(text);
		if (!strstr(text, "/breakeven-server\n") || !cgroup_enter())
			_exit(1);
		own_groups(text);
		if (!strstr(text, name))
			_exit(2);
		if (fork() == 0) {
			pause();
			_exit(0);
		}
		_exit(0);
	}
	close(ends[1]);
	*others = ends[0]; /* ends when the last process that has the other end does */
	return pid;
}

static void what_a_child_leaves_ends_with_its_group(void **state)
{
	char before[4096], after[4096], byte;
	siginfo_t info;
	int others, status;
	pid_t pid;

	(void)state;
	own_groups(before);
	if (!cgroup_divide())
		skip();
	pid = start_child(&others);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	fcntl(others, F_SETFL, O_NONBLOCK);
	assert_int_equal(read(others, &byte, 1), -1); /* one is left */
	cgroup_remove(pid);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fcntl(others, F_SETFL, 0);
	assert_int_equal(read(others, &byte, 1), 0);
	close(others);
	cgroup_join();
	own_groups(after);
	assert_string_equal(before, after);
	assert_true(cgroup_divide()); /* nothing of it is left */
	cgroup_join();
}

static void a_process_of_no_server_stays_where_it_is(void **state)
{
	char before[4096], after[4096];

	(void)state;
	own_groups(before);
	assert_false(cgroup_enter());
	cgroup_remove(getpid());
	own_groups(after);
	assert_string_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_child_leaves_ends_with_its_group),
		cmocka_unit_test(a_process_of_no_server_stays_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
