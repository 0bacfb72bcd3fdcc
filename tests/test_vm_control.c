/* tests/test_vm_control.c -- programs that print what CPython prints for them,
 * which their .want holds: those of tests/control, and random ones that the build
 * makes beside this test (tests/control/generate.py).  CONTROL_DIR names another
 * folder of such programs. */
#include "tests/vm_host.h"

#include <glob.h>
#include <stdio.h>

#include "fusion/base/vec.h"
#include "tests/read_whole.h"

static void prints_what_cpython_prints(void **state)
{
	const char *path = *state;
	char want_path[4096], *source = read_whole(path), *wanted;
	struct session s;

	snprintf(want_path, sizeof(want_path), "%.*s.want", (int)(strlen(path) - strlen(".py")),
		 path);
	wanted = read_whole(want_path);
	if (!session_open(&s, source, NULL))
		fail_msg("%s:%d:%d: %s", path, s.err.line, s.err.column, s.err.message);
	buf_puts(&s.host.printed, "");
	assert_string_equal(s.host.printed.data, wanted);
	session_close(&s);
	free(source);
	free(wanted);
}

static int find_programs(const char *folder, int flags, glob_t *found)
{
	char pattern[4096];

	snprintf(pattern, sizeof(pattern), "%s/*.py", folder);
	if (glob(pattern, flags, NULL, found) == 0)
		return 0;
	fprintf(stderr, "%s: nothing there; run from the project's root\n", pattern);
	return 1;
}

int main(int argc, char **argv)
{
	const char *dir = getenv("CONTROL_DIR"), *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	VEC(struct CMUnitTest) tests = { 0 };
	char made[4096];
	glob_t found;
	int failed;

	snprintf(made, sizeof(made), "%.*s/control", slash ? (int)(slash - argv[0]) : 1,
		 slash ? argv[0] : ".");
	if (find_programs(dir ? dir : "tests/control", 0, &found) ||
	    (!dir && find_programs(made, GLOB_APPEND, &found)))
		return 1;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct CMUnitTest test = { .name = strrchr(found.gl_pathv[i], '/') + 1,
					   .test_func = prints_what_cpython_prints,
					   .initial_state = found.gl_pathv[i] };

		if (strcmp(test.name, "generate.py") != 0 && !VEC_PUSH(&tests, test))
			return 1;
	}
	failed = _cmocka_run_group_tests("control", tests.at, tests.len, NULL, NULL);
	VEC_FREE(&tests);
	globfree(&found);
	return failed;
}
