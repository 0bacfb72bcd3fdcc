/* tests/test_vm_cases.c -- tests/vm: a program, and beside it what
 * model() gives.
 *
 * NAME.want is what CPython prints for repr(model()); tests/vm/record.sh
 * writes it.  TESTS_DIR says where the cases are. */
#include "tests/vm_host.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEAST_CASES = 10 };

static bool read_file(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "rb");
	char chunk[4096];
	size_t n;

	buf_init(out, 0);
	if (!file)
		return false;
	while ((n = fread(chunk, 1, sizeof(chunk), file)))
		buf_add(out, chunk, n);
	buf_puts(out, "");
	fclose(file);
	return !out->failed;
}

/* Whether the program at `path` gives what is wanted; says so if not. */
static bool agrees(const char *path)
{
	struct buf source, want, name;
	char *got;
	bool same;

	buf_init(&name, 0);
	buf_printf(&name, "%.*s.want", (int)(strlen(path) - strlen(".py")), path);
	assert_true(read_file(path, &source));
	assert_true(read_file(name.data, &want));
	while (want.len && want.data[want.len - 1] == '\n')
		want.data[--want.len] = '\0';
	got = session_run(source.data, NULL);
	same = got && strcmp(got, want.data) == 0;
	if (!same)
		print_error("%s\n  gives %s\n  not   %s\n", path, got, want.data);
	free(got);
	buf_finish(&name);
	buf_finish(&want);
	buf_finish(&source);
	return same;
}

static void programs_give_what_python_gives(void **state)
{
	const char *dir = getenv("TESTS_DIR");
	struct buf pattern;
	glob_t found;
	int bad = 0;

	(void)state;
	buf_init(&pattern, 0);
	buf_printf(&pattern, "%s/*.py", dir ? dir : "tests/vm");
	assert_int_equal(glob(pattern.data, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= LEAST_CASES);
	for (size_t i = 0; i < found.gl_pathc; i++)
		bad += !agrees(found.gl_pathv[i]);
	globfree(&found);
	buf_finish(&pattern);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_give_what_python_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
