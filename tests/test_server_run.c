/* tests/test_server_run.c -- `breakeven run` as a person meets it: numbers,
 * sentences, messages and exit statuses.  The command runs in a child, since
 * it writes to the process's own stdout and sets its signal handlers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "profiler/fields/fields.h"
#include "server/cli/cli.h"
#include "server/text/text.h"

static void has(char *table, const char *part)
{
	if (!strstr(table, part))
		fail_msg("no \"%s\" in\n%s", part, table);
	free(table);
}

/* Runs the command in a child; what it wrote (stdout first) is the caller's. */
static char *command(int *status, char *const *argv)
{
	FILE *out = tmpfile(), *err = tmpfile();
	static char text[65536];
	size_t n;
	pid_t pid;
	int argc = 0;

	while (argv[argc])
		argc++;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		argc = cmd_run(argc, (char **)argv, NULL);
		fflush(NULL);
		_exit(argc);
	}
	waitpid(pid, status, 0);
	*status = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
	rewind(out);
	rewind(err);
	n = fread(text, 1, sizeof(text) / 2, out);
	n += fread(text + n, 1, sizeof(text) / 2 - 1, err);
	text[n] = '\0';
	fclose(out);
	fclose(err);
	return text;
}

#define RUN(status, ...) command((status), (char *[]){ (char *)"run", __VA_ARGS__, NULL })

static void expect(int got, int want, const char *text, const char *part)
{
	if (got != want || !strstr(text, part))
		fail_msg("exit %d (not %d), or no \"%s\" in\n%s", got, want, part, text);
}

static void wrong_flags_exit_2(void **state)
{
	int status;
	char *text;

	(void)state;
	text = RUN(&status, (char *)"--frobnicate");
	expect(status, 2, text, "unknown flag --frobnicate");
	text = RUN(&status, (char *)"x.json", (char *)"--modes", (char *)"eager,warp");
	expect(status, 2, text, "--modes warp: one of eager");
	text = RUN(&status, (char *)"x.json");
	expect(status, 1, text, "x.json cannot be opened");
	text = RUN(&status, (char *)"x.json", (char *)"--at", (char *)"soon");
	expect(status, 2, text, "--at needs a whole number");
	text = RUN(&status, (char *)"x.json", (char *)"--modes");
	expect(status, 2, text, "a value is missing after --modes");
	text = RUN(&status, (char *)"x.json", (char *)"--input", (char *)"x=float32[2]");
	expect(status, 2, text, "--input is for .py files");
	text = RUN(&status, (char *)"--help");
	expect(status, 0, text, "usage: breakeven run FILE");
}

/* A file with this text; the caller unlinks it. */
static void write_file(char *path, int suffix, const char *text)
{
	int fd = mkstemps(path, suffix);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void python_file_runs_and_its_fault_has_a_caret(void **state)
{
	char good[] = "/tmp/breakeven_XXXXXX.py", bad[] = "/tmp/breakeven_XXXXXX.py";
	int status;
	char *text;

	(void)state;
	write_file(good, 3, "import torch\ndef model(x):\n    return torch.sin(x).sum()\n");
	text = RUN(&status, good, (char *)"--input", (char *)"x=float32[4]", (char *)"--no-timing",
		   (char *)"--backend", (char *)"interp", (char *)"--modes", (char *)"eager,static",
		   (char *)"--json");
	expect(status, 0, text, "\"new_graphs\":1");
	unlink(good);
	write_file(bad, 3, "import torch\ndef model(x):\n    return torch.sinn(x)\n");
	text = RUN(&status, bad, (char *)"--input", (char *)"x=float32[4]");
	expect(status, 1, text, "    3 |     return torch.sinn(x)\n");
	expect(status, 1, text, "^");
	unlink(bad);
}

static void file_that_is_not_json_names_its_line(void **state)
{
	char path[] = "/tmp/breakeven_XXXXXX.json";
	int status;
	char *text;

	(void)state;
	write_file(path, 5, "{\n\"source\": }\n");
	text = RUN(&status, path);
	expect(status, 1, text, "is not JSON: line 2");
	unlink(path);
}

/* What run_table_print() makes of a report. */
static struct buf table_of(const char *text)
{
	json_t *report = json_loads(text, 0, NULL);
	struct arena arena = { 0 };
	struct err err = { 0 };
	const struct report_run *run = report_read_run(report, &arena, &err);
	struct buf out;

	if (!run)
		fail_msg("%s", err.message);
	buf_init(&out, 0);
	run_table_print(&out, run);
	arena_finish(&arena);
	json_decref(report);
	return out;
}

/* What autocast saved has a table of its own; slower is said. */
static void autocast_has_its_table(void **state)
{
	const char *text =
	    "{\"breakeven\": 1, \"modes\": {\"static\": {\"graphs\": [], \"breaks\": [], "
	    "\"recompiles\": [], \"calls\": []}}, \"device\": {\"threads\": 1}, "
	    "\"autocast\": "
	    "{\"dtype\": \"bfloat16\", \"batch\": 64, \"error\": null, \"modes\": {\"static\": "
	    "{\"activation_ratio\": 0.5, \"with\": {\"peak_bytes\": 1, \"median_us\": 200, "
	    "\"samples_per_s\": 320000, \"activation_bytes\": "
	    "512000}, \"without\": {\"peak_bytes\": 1, \"median_us\": 100, \"samples_per_s\": "
	    "640000, "
	    "\"activation_bytes\": 1024000}, \"max_abs_error\": 0.01, \"speedup\": 0.5, "
	    "\"speedup_ci\": [0.49, 0.51], \"verdict\": \"SLOWER\"}}}}";
	const char *failing =
	    "{\"breakeven\": 1, \"modes\": {}, \"device\": {\"threads\": 1}, \"autocast\": "
	    "{\"dtype\": "
	    "\"float16\", \"batch\": null, \"error\": \"two dtypes\", \"modes\": {}}}";
	struct buf out;

	(void)state;
	out = table_of(text);
	assert_non_null(strstr(out.data,
			       "autocast to bfloat16, each mode with it and without, side "
			       "by side; a call has 64 samples\n"));
	has(buf_steal(&out),
	    "static         200       100  0.50x (0.49-0.51)   SLOWER         320,000     "
	    "640,000      0.512       1.02     1.0e-2\n");
	out = table_of(failing);
	has(buf_steal(&out),
	    "autocast to float16: without it the program fails, so nothing is compared: "
	    "two dtypes\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(autocast_has_its_table),
		cmocka_unit_test(wrong_flags_exit_2),
		cmocka_unit_test(python_file_runs_and_its_fault_has_a_caret),
		cmocka_unit_test(file_that_is_not_json_names_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
