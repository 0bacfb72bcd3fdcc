/* tests/test_server_heap.c -- what is freed stays with a command that compiles for a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fusion/base/sanitized.h"
#include "server/cli/heap.h"

enum { PIECES = 1024, PIECE_BYTES = 4000 };

static void use_and_free(void)
{
	static char *pieces[PIECES];

	for (int i = 0; i < PIECES; i++) {
		pieces[i] = malloc(PIECE_BYTES);
		memset(pieces[i], 1, PIECE_BYTES);
	}
	for (int i = 0; i < PIECES; i++)
		free(pieces[i]);
}

/* As a compilation does it, twice: whether the second one faults for half of its pages again. */
static bool faults_again(const char *device)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct rusage before, after;

		heap_take_for(device);
		use_and_free();
		getrusage(RUSAGE_SELF, &before);
		use_and_free();
		getrusage(RUSAGE_SELF, &after);
		_exit(after.ru_minflt - before.ru_minflt > PIECES / 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) != 0;
}

static void what_a_compilation_frees_stays(void **state)
{
	(void)state;
	if (ADDRESS_SANITIZED)
		skip(); /* it has a heap of its own */
	assert_true(faults_again("cpu"));
	assert_true(faults_again(NULL));
	assert_false(faults_again("cuda"));
	assert_false(faults_again("cuda:1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_a_compilation_frees_stays) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
