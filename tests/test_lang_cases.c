/* tests/test_lang_cases.c -- tests/lang: a program, and beside it what it gives.
 *
 * NAME.py is compiled; NAME.want holds the instructions, or for a program that
 * is refused "line:col: code: message" and the caret.  TESTS_DIR says where
 * the cases are; LANG_CASES_OUT=DIR writes what is given to DIR/NAME.want, to
 * look at and keep.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "fusion/source.h"
#include "fusion/base/vec.h"
#include "fusion/lang/lang.h"

enum { LEAST_CASES = 100 };

static const char *cases_dir(void)
{
	const char *dir = getenv("TESTS_DIR");

	return dir ? dir : "tests/lang";
}

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

/* What the compiler makes of a source. */
static void give(struct buf *out, const struct buf *source)
{
	struct err err = { 0 };
	struct lang_program *program = lang_compile(source->data, source->len, NULL, &err);
	struct buf caret;

	buf_init(out, 0);
	buf_init(&caret, 0);
	if (program) {
		assert_int_equal(err.code, ERR_NONE);
		lang_print(out, program->module);
	} else {
		buf_printf(out, "%d:%d: %s: %s\n", err.line, err.column, err_name(err.code),
			   err.message);
		lang_caret(&caret, "model.py", source->data, &err);
		assert_non_null(strchr(caret.data, '\n'));
		buf_puts(out, strchr(caret.data, '\n') + 1);
	}
	buf_finish(&caret);
	lang_destroy(program);
}

static void keep(const char *name, const struct buf *given)
{
	const char *dir = getenv("LANG_CASES_OUT");
	char path[4096];
	FILE *file;

	if (!dir)
		return;
	snprintf(path, sizeof(path), "%s/%s.want", dir, name);
	file = fopen(path, "wb");
	assert_non_null(file);
	fwrite(given->data, 1, given->len, file);
	fclose(file);
}

static void gives_the_wanted_text(void **state)
{
	const char *path = *state, *name = strrchr(path, '/') + 1;
	struct buf source, wanted, given;
	char stem[256], want_path[4096];

	snprintf(stem, sizeof(stem), "%.*s", (int)strcspn(name, "."), name);
	snprintf(want_path, sizeof(want_path), "%s/%s.want", cases_dir(), stem);
	assert_true(read_file(path, &source));
	give(&given, &source);
	keep(stem, &given);
	if (!read_file(want_path, &wanted))
		fail_msg("%s is missing", want_path);
	assert_string_equal(given.data, wanted.data);
	buf_finish(&source);
	buf_finish(&wanted);
	buf_finish(&given);
}

int main(void)
{
	VEC(struct CMUnitTest) tests = { 0 };
	char pattern[4096];
	glob_t found;
	int failed;

	snprintf(pattern, sizeof(pattern), "%s/*.py", cases_dir());
	if (glob(pattern, 0, NULL, &found) || found.gl_pathc < LEAST_CASES) {
		fprintf(stderr, "%s: fewer than %d cases; run from the project's root\n", pattern,
			LEAST_CASES);
		return 1;
	}
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct CMUnitTest test = { .name = strrchr(found.gl_pathv[i], '/') + 1,
					   .test_func = gives_the_wanted_text,
					   .initial_state = found.gl_pathv[i] };

		if (!VEC_PUSH(&tests, test))
			return 1;
	}
	failed = _cmocka_run_group_tests("lang cases", tests.at, tests.len, NULL, NULL);
	VEC_FREE(&tests);
	globfree(&found);
	return failed;
}
