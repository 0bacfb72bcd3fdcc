/* tests/test_fusion_language.c -- tests/language: programs without tensors print in
 * every mode what CPython prints for them (record.py beside them); tests/prelude: programs
 * of libraries print what the libraries themselves print there.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/engine.h"
#include "tests/read_whole.h"

/* Takes the next part off *text: a line "# name", and what follows up to the next. */
static bool next_part(char **text, char name[64], char **body)
{
	char *at = *text, *end;

	if (sscanf(at, "# %63[a-z_0-9A-Z]\n", name) != 1)
		return false;
	*body = strchr(at, '\n') + 1;
	for (end = *body; *end && !(end[-1] == '\n' && end[0] == '#' && end[1] == ' '); end++)
		;
	*text = end;
	end[-1] = '\0';
	return true;
}

/* Whether it prints what is wanted; says so if not. */
static bool agrees(const char *name, const char *source, const char *want, enum fusion_mode mode,
		   enum fusion_policy policy)
{
	struct fusion_options options = { .backend = "interp", .threads = 1, .policy = policy };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct value out = { .kind = VALUE_NONE };
	struct err err = { 0 };
	const char *got = NULL;
	bool same = false;

	e.program = fusion_parse(source, strlen(source), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (e.session && fusion_call(e.session, NULL, 0, &out, &err)) {
		buf_puts(fusion_stdout(e.session), "");
		got = fusion_stdout(e.session)->data;
		same = strncmp(got, want, strlen(want)) == 0 &&
		       strcmp(got + strlen(want), "\n") == 0;
	}
	if (!same)
		print_error("%s, mode %d, policy %d: %s%s\n  not %s\n", name, mode, policy,
			    got ? got : "", err.message, want);
	value_unref(out);
	fusion_session_destroy(e.session);
	fusion_program_destroy(e.program);
	fusion_destroy(e.f);
	return same;
}

static void programs_print_what_cpython_prints(void **state)
{
	static const enum fusion_mode modes[] = { FUSION_EAGER, FUSION_STATIC, FUSION_DYNAMIC,
						  FUSION_AUTO, FUSION_LAZY };
	char *programs = read_whole("tests/language/programs.txt"), *source;
	char *wanted = read_whole("tests/language/programs.want"), *want;
	char *next = programs, *next_want = wanted, name[64], same[64];
	int n = 0, bad = 0;

	(void)state;
	for (; next_part(&next, name, &source); n++) {
		assert_true(next_part(&next_want, same, &want));
		assert_string_equal(name, same);
		for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
			bad += !agrees(name, source, want, modes[m], FUSION_DYNAMO);
		bad += !agrees(name, source, want, FUSION_STATIC, FUSION_NATIVE);
		bad += !agrees(name, source, want, FUSION_AUTO, FUSION_NATIVE);
	}
	assert_true(n >= 30);
	assert_int_equal(bad, 0);
	free(programs);
	free(wanted);
}

/* Where Dynamo itself makes of a program something else than Python does, what that is: it takes a
 * number of NumPy for an array, which isinstance() and type() see. */
static char *wanted_of_dynamo(const char *source_name, const char *want)
{
	char name[256], *own;

	snprintf(name, sizeof(name), "%.*s.dynamo", (int)strlen(source_name) - 3, source_name);
	if (access(name, R_OK) != 0)
		return strdup(want);
	own = read_whole(name);
	own[strlen(own) - 1] = '\0';
	return own;
}

static void libraries_print_what_they_print_elsewhere(void **state)
{
	glob_t found;
	int bad = 0;

	(void)state;
	assert_int_equal(glob("tests/prelude/*.want", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];
		char name[256], *source, *want = read_whole(path), *of_dynamo;

		snprintf(name, sizeof(name), "%.*s.py", (int)strlen(path) - 5, path);
		source = read_whole(name);
		want[strlen(want) - 1] = '\0';
		bad += !agrees(name, source, want, FUSION_EAGER, FUSION_DYNAMO);
		of_dynamo = wanted_of_dynamo(name, want);
		bad += !agrees(name, source, of_dynamo, FUSION_STATIC, FUSION_DYNAMO);
		bad += !agrees(name, source, want, FUSION_AUTO, FUSION_NATIVE);
		free(of_dynamo);
		free(source);
		free(want);
	}
	assert_true(found.gl_pathc >= 1);
	assert_int_equal(bad, 0);
	globfree(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_print_what_cpython_prints),
		cmocka_unit_test(libraries_print_what_they_print_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
