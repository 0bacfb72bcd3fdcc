/* tests/test_profiler_program.c -- what a program waited for a core is told apart from its time. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiler/measure/program.h"

#define LOOP "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"

/* A process that takes what it gets of the core that both may use. */
static pid_t start_neighbour(void)
{
	cpu_set_t set;
	int core = 0;
	pid_t pid;

	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(core, &set))
		core++;
	CPU_ZERO(&set);
	CPU_SET(core, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		for (volatile unsigned x = 0;;)
			x++;
	return pid;
}

static struct timed_program_end end_of(const char *words)
{
	const char *const argv[] = { "/bin/sh", "-c", words, NULL };
	const struct timed_program p = { .argv = argv, .folder = ".", .timeout_s = 60 };
	struct timed_program_end end;
	struct err err = { 0 };
	struct buf out;

	buf_init(&out, 1000);
	if (!program_run(&p, &out, &end, &err))
		fail_msg("%s", err.message);
	buf_finish(&out);
	assert_int_equal(end.status, 0);
	return end;
}

/* Its time without the wait is what it had of the core, and hardly more. */
static void what_waits_for_a_core_is_told_apart(void **state)
{
	struct timed_program_end end;
	pid_t neighbour;

	(void)state;
	if (access("/proc/self/schedstat", R_OK) != 0)
		skip();
	neighbour = start_neighbour();
	end = end_of(LOOP);
	kill(neighbour, SIGKILL);
	waitpid(neighbour, NULL, 0);
	assert_true(end.wait_s > 0.2 * end.cpu_s);
	assert_true(end.wall_s - end.wait_s > 0.9 * end.cpu_s);
	assert_true(end.wall_s - end.wait_s < 0.9 * end.wall_s);
}

/* Programs that a program starts may wait for each other: nothing is taken off. */
static void of_a_program_with_children_nothing_is_told(void **state)
{
	(void)state;
	assert_true(end_of("sh -c '" LOOP "'; true").wait_s == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_for_a_core_is_told_apart),
		cmocka_unit_test(of_a_program_with_children_nothing_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
