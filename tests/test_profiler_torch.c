/* tests/test_profiler_torch.c -- engine torch, by the stand-in of tests/torch_stand_in. */
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "profiler/profiler.h"
#include "profiler/torch/child.h"
#include "profiler/torch/host.h"

#define PLAIN "tests/torch_stand_in"
#define FAILING PLAIN "/failing:" PLAIN
#define OLD PLAIN "/old"

/* A folder that there is not: whatever this test starts has it in its environment. */
static char mark[32];

static void use(const char *folders)
{
	char path[256];

	snprintf(mark, sizeof(mark), "of-%d-test", (int)getpid());
	snprintf(path, sizeof(path), "%s:%s", folders, mark);
	assert_int_equal(setenv("PYTHONPATH", path, 1), 0);
}

/* A workload of both engines; quotes are written as '. */
static struct workload *parse(const char *text, struct err *err)
{
	char *copy = strdup(text);
	struct workload *w;
	json_t *json;

	*err = (struct err){ 0 };
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json = json_loads(copy, 0, NULL);
	assert_non_null(json);
	w = workload_parse(json, err);
	json_decref(json);
	free(copy);
	return w;
}

#define SOURCE(op) "'source': 'import torch\\n\\ndef model(x):\\n    return " op "\\n'"
#define INPUT "'calls': [[{'random': {'shape': [2, 3], 'kind': 'randn', 'seed': 5}}]]"
#define BOTH(op)                                                                                   \
	"{'engines': ['breakeven', 'torch'], 'modes': ['eager', 'static'], 'threads': 1, "         \
	"'backend': 'interp', " SOURCE(op) ", " INPUT "}"

static json_t *run(const char *text, const struct profiler_options *options, struct err *err)
{
	struct workload *w = parse(text, err);
	struct report_draft draft = { 0 };
	json_t *report;

	if (!w)
		fail_msg("%s", err->message);
	report = report_write_run(profiler_run_engines(w, options, &draft, err));
	report_draft_finish(&draft);
	workload_destroy(w);
	return report;
}

static const struct profiler_options untimed = { .torch_python = "python3" };

/* `engines.torch` of the report, and its mode. */
static const json_t *torch_of(const json_t *report)
{
	return json_object_get(json_object_get(report, "engines"), "torch");
}

static const json_t *mode_of(const json_t *report, const char *mode)
{
	const json_t *m = json_object_get(json_object_get(torch_of(report), "modes"), mode);

	assert_non_null(m);
	return m;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static const char *error_of(const json_t *report)
{
	return text_at(json_object_get(torch_of(report), "error"), "message");
}

static void values_of_both_are_compared(void **state)
{
	struct err err;
	json_t *report, *values;

	(void)state;
	use(PLAIN);
	report = run("{'engines': ['breakeven', 'torch'], 'modes': ['eager', 'static'], 'grad': "
		     "true, " SOURCE("torch.sin(x) * 2.0") ", " INPUT "}",
		     &untimed, &err);
	assert_non_null(report);
	assert_string_equal(error_of(report), "");
	assert_string_equal(text_at(torch_of(report), "version"), "2.11.0+stand.in");
	values = json_object_get(mode_of(report, "static"), "values");
	assert_true(json_is_true(json_object_get(values, "agree")));
	/* the output, the input as it is left, its gradient */
	assert_int_equal(json_integer_value(json_object_get(values, "elements")), 18);
	assert_true(json_is_true(json_object_get(values, "stdout_same")));
	assert_int_equal(json_integer_value(json_object_get(mode_of(report, "static"), "frames")),
			 1);
	json_decref(report);
}

static void values_that_part_are_named(void **state)
{
	struct err err;
	json_t *report, *values;

	(void)state;
	use(FAILING);
	report = run(BOTH("torch.sigmoid(x)"), &untimed, &err);
	assert_non_null(report);
	values = json_object_get(mode_of(report, "eager"), "values");
	assert_true(json_is_false(json_object_get(values, "agree")));
	assert_int_equal(json_integer_value(json_object_get(values, "outside")), 6);
	assert_int_equal(strncmp(text_at(values, "first"), "calls[0].output: ", 17), 0);
	json_decref(report);
}

/* Times of both, the log of a process of its own, and breaks given to their mode. */
static void modes_are_timed_and_watched(void **state)
{
	struct err err;
	struct profiler_options options = { .timing = true, .torch_python = "python3" };
	json_t *whole, *latency, *breaks, *even;
	const json_t *report;

	(void)state;
	use(PLAIN);
	whole = run("{'engines': ['breakeven', 'torch'], 'modes': ['eager', 'static'], "
		    "'threads': 1, 'backend': 'interp', 'source': 'import torch\\n\\ndef "
		    "model(x):\\n    ...\\n    print(1)\\n    return x\\n', " INPUT
		    ", 'sweep': {'statements': {'pool': ['x = torch.sin(x)'], 'counts': [1, 2]}}}",
		    &options, &err);
	assert_non_null(whole);
	assert_string_equal(error_of(whole), "");
	report = torch_of(whole);
	latency = json_object_get(
	    json_object_get(
		json_object_get(json_array_get(json_object_get(report, "points"), 1), "modes"),
		"static"),
	    "latency");
	assert_true(json_number_value(json_object_get(latency, "median_us")) > 0);
	assert_int_equal(json_array_size(json_object_get(latency, "samples_ns")),
			 json_integer_value(json_object_get(latency, "n")));
	even = json_object_get(json_array_get(json_object_get(report, "points"), 0), "break_even");
	assert_non_null(json_object_get(json_object_get(even, "static"), "speedup"));
	assert_non_null(json_object_get(
	    json_object_get(json_object_get(report, "break_even"), "static"), "side"));
	breaks = json_object_get(
	    json_object_get(
		json_object_get(json_array_get(json_object_get(report, "points"), 1), "modes"),
		"static"),
	    "breaks");
	assert_int_equal(json_array_size(breaks), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(breaks, 0), "line")), 6);
	assert_string_equal(text_at(json_array_get(breaks, 0), "gb"), "GB0059");
	/* the trace met the compile log: a compilation for each point */
	assert_int_equal(
	    json_integer_value(json_object_get(json_object_get(report, "log"), "joined")), 2);
	json_decref(whole);
}

static void a_mode_that_fails_leaves_the_others(void **state)
{
	struct err err;
	json_t *report;

	(void)state;
	use(FAILING);
	setenv("TEST_SECRET", "of the operator", 1);
	report = run(BOTH("torch.erf(x)"), &untimed, &err);
	unsetenv("TEST_SECRET");
	assert_non_null(report);
	assert_string_equal(error_of(report), "");
	/* and what the operator keeps in the environment is not for posted programs */
	assert_string_equal(text_at(mode_of(report, "static"), "error"),
			    "RuntimeError: erf sees None");
	json_decref(report);
}

/* As a CUDA graph does that wrote over what the program keeps. */
static void so_does_one_that_fails_while_it_is_timed(void **state)
{
	struct profiler_options options = { .timing = true, .torch_python = "python3" };
	struct err err;
	json_t *report;

	(void)state;
	use(FAILING);
	report = run(BOTH("torch.cos(x)"), &options, &err);
	assert_non_null(report);
	assert_string_equal(error_of(report), "");
	assert_non_null(
	    strstr(text_at(mode_of(report, "static"), "error"), "RuntimeError: cos is tired"));
	assert_null(json_object_get(mode_of(report, "static"), "latency"));
	assert_non_null(json_object_get(mode_of(report, "eager"), "latency"));
	json_decref(report);
}

static void a_crash_is_told_with_the_end_of_what_it_said(void **state)
{
	struct err err;
	json_t *report, *error;

	(void)state;
	use(FAILING);
	report = run(BOTH("torch.log1p(x)"), &untimed, &err);
	assert_non_null(report); /* ours is there */
	assert_non_null(json_object_get(json_object_get(report, "modes"), "static"));
	assert_non_null(strstr(error_of(report), "signal 11"));
	error = json_object_get(torch_of(report), "error");
	assert_true(json_string_length(json_object_get(error, "detail")) <= TORCH_STDERR_BYTES);
	assert_non_null(strstr(text_at(error, "detail"), "the last words"));
	json_decref(report);
}

/* ---- limits, of the process alone */

static const char hanging[] = "import torch\nSOURCE, WORKLOAD = '', {'modes': ['eager']}\n"
			      "MODES, DEVICE = {'eager': None}, torch.device('cpu')\n"
			      "points = lambda: []\nset_up = lambda: torch.%s(None)\n";

static bool on_message(void *self, const struct report_torch_message *message, struct err *err)
{
	(void)self, (void)message, (void)err;
	return true;
}

/* Runs torch.OP(None) in the process. */
static bool run_op(const char *op, const struct torch_limits *limits, bool (*tick)(void *),
		   struct err *err)
{
	struct report_draft messages = { 0 };
	struct scratch folder = { 0 };
	struct torch_host *host = torch_host_start("python3", NULL, err);
	struct torch_child child = { .python = "python3",
				     .folder = &folder,
				     .limits = limits,
				     .role = "run",
				     .messages = &messages,
				     .on_message = on_message,
				     .tick = tick };
	char script[sizeof(hanging) + 16];
	bool ok;

	assert_non_null(host);
	child.socket = torch_host_socket(host);
	child.options = json_pack("{s:b, s:s}", "timing", 0, "folder", "/tmp");
	snprintf(script, sizeof(script), hanging, op); /* NOLINT */
	*err = (struct err){ 0 };
	ok = scratch_create(&folder, "torch", err) &&
	     torch_folder_write(&folder, "experiment.py", script, err) &&
	     torch_child_run(&child, err);
	torch_host_stop(host);
	scratch_destroy(&folder);
	report_draft_finish(&messages);
	json_decref((json_t *)child.options);
	return ok;
}

/* The processes that three jobs of one host ran in; the second ends as `end` says. */
static void three_jobs(const char *end, int64_t pids[3])
{
	static const char script[] =
	    "import os, torch\nSOURCE, WORKLOAD = '', {'modes': ['eager']}\n"
	    "MODES, DEVICE = {'eager': None}, torch.device('cpu')\npoints = lambda: []\n"
	    "use_weights = lambda places: lambda: None\n"
	    "class Folder:\n    leave = staticmethod(lambda: None)\n"
	    "def set_up():\n    with open(os.path.dirname(__file__) + '/pid', 'w') as f:\n"
	    "        f.write(str(os.getpid()))\n    torch.get_default_device()\n    %s\n";
	const struct torch_limits limits = { 60, 60, INT64_C(4) << 30, 1 << 20 };
	struct err err = { 0 };
	struct torch_host *host = torch_host_start("python3", NULL, &err);
	json_t *options = json_pack("{s:b, s:s}", "timing", 0, "folder", "/tmp");

	assert_non_null(host);
	for (int i = 0; i < 3; i++) {
		struct report_draft messages = { 0 };
		struct scratch folder = { 0 };
		struct torch_child child = { .python = "python3",
					     .socket = torch_host_socket(host),
					     .folder = &folder,
					     .limits = &limits,
					     .role = "run",
					     .options = options,
					     .messages = &messages,
					     .on_message = on_message };
		char text[sizeof(script) + 64], path[320];
		long long pid = 0;
		FILE *file;

		snprintf(text, sizeof(text), script, i == 1 ? end : "pass"); /* NOLINT */
		assert_true(scratch_create(&folder, "torch", &err));
		assert_true(torch_folder_write(&folder, "experiment.py", text, &err));
		if (!torch_child_run(&child, &err) && i != 1)
			fail_msg("%s", err.message);
		snprintf(path, sizeof(path), "%s/pid", folder.path);
		file = fopen(path, "re");
		assert_non_null(file);
		assert_int_equal(fscanf(file, "%lld", &pid), 1);
		fclose(file);
		pids[i] = pid;
		scratch_destroy(&folder);
		report_draft_finish(&messages);
	}
	json_decref(options);
	assert_true(torch_host_alive(host));
	torch_host_stop(host);
}

static void torch_stays_loaded_from_job_to_job(void **state)
{
	int64_t pids[3];

	(void)state;
	use(PLAIN);
	three_jobs("torch.set_default_device('cpu')", pids);
	assert_int_equal(pids[0], pids[1]);
	assert_int_equal(pids[1], pids[2]);
}

static void one_that_was_changed_failed_or_ended_serves_no_other(void **state)
{
	static const char *const ends[] = { "torch.nn.Module = int",
					    "torch.backends.cudnn.benchmark = True",
					    "raise ValueError", "os._exit(0)",
					    "os.kill(os.getpid(), 9)" };

	(void)state;
	use(PLAIN);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		int64_t pids[3];

		three_jobs(ends[i], pids);
		assert_int_equal(pids[0], pids[1]);
		assert_int_not_equal(pids[1], pids[2]);
	}
}

static const struct torch_limits enough = {
	.wall_s = 600, .cpu_s = 600, .memory_bytes = INT64_C(4) << 30, .file_bytes = 1 << 20
};

/* Of a process: `file` as it is in /proc, as much as there is room for. */
static size_t read_proc(const char *process, const char *file, char *text, size_t room)
{
	char path[300];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", process, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, room);
		close(fd);
	}
	return n < 0 ? 0 : (size_t)n;
}

/* Whether the process that hang() of the stand-in leaves is there; others may be
 * tested beside. */
static bool left_behind(void)
{
	DIR *dir = opendir("/proc");
	bool found = false;

	for (struct dirent *e; !found && (e = readdir(dir));) {
		char text[8192];
		size_t n = read_proc(e->d_name, "cmdline", text, sizeof(text));

		if (n < sizeof("sleep") || memcmp(text, "sleep", sizeof("sleep")) != 0)
			continue;
		n = read_proc(e->d_name, "environ", text, sizeof(text));
		found = memmem(text, n, mark, strlen(mark)) != NULL;
	}
	closedir(dir);
	return found;
}

/* Until it is there, or gone; ten minutes are never. */
static bool wait_for(bool there)
{
	for (int i = 0; i < 600 * 20 && left_behind() != there; i++)
		usleep(50 * 1000);
	return left_behind() == there;
}

static void one_that_hangs_is_ended_with_all_that_it_started(void **state)
{
	struct torch_limits limits = enough;
	struct err err;

	(void)state;
	use(FAILING);
	limits.wall_s = 1;
	assert_false(run_op("exp", &limits, NULL, &err));
	assert_int_equal(err.code, ERR_WORKER);
	assert_non_null(strstr(err.message, "over 1 s"));
	assert_true(wait_for(false));
}

static bool when_it_hangs(void *self)
{
	(void)self;
	return !left_behind();
}

static void cancelling_ends_it(void **state)
{
	struct err err;

	(void)state;
	use(FAILING);
	assert_false(run_op("exp", &enough, when_it_hangs, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_true(wait_for(false));
}

/* As a worker does that the server kills: nobody is left to tidy up. */
static void it_ends_when_who_started_it_is_killed(void **state)
{
	struct err err;
	pid_t pid;

	(void)state;
	use(FAILING);
	pid = fork();
	if (pid == 0) {
		run_op("exp", &enough, NULL, &err);
		_exit(0);
	}
	assert_true(wait_for(true));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(wait_for(false));
}

static void memory_is_limited(void **state)
{
	struct torch_limits limits = enough;
	struct err err;

	(void)state;
	use(FAILING);
	limits.memory_bytes = 128 << 20;
	assert_false(run_op("tan", &limits, NULL, &err));
	assert_int_equal(err.code, ERR_WORKER);
	assert_non_null(strstr(err.message, "the limit is 128 MiB"));
}

/* ---- whether it is there */

static void refused(const char *python, const char *folders, enum err_code code, const char *part)
{
	struct err err = { 0 };

	use(folders);
	assert_null(profiler_torch_probe(python, false, &err));
	assert_int_equal(err.code, code);
	if (!strstr(err.message, part))
		fail_msg("%s", err.message);
}

static void what_will_not_do_is_one_clear_line(void **state)
{
	(void)state;
	refused("python3", OLD, ERR_NO_DEVICE,
		"has torch 2.4.1, which is too old: it needs torch 2.5");
	refused("/nowhere/python3", PLAIN, ERR_IO,
		"/nowhere/python3 cannot be started: No such file or directory; --torch-python");
	refused("/bin/false", PLAIN, ERR_WORKER, "/bin/false ended before it was done");
}

static void without_torch_it_says_what_to_install(void **state)
{
	(void)state;
	if (system("PYTHONPATH= python3 -c 'import torch' 2>/dev/null") == 0) /* NOLINT */
		skip();
	refused("python3", "", ERR_NO_DEVICE, "has no torch: install torch 2.5 or newer");
}

/* The one test that needs PyTorch itself. */
static void with_real_torch_values_agree(void **state)
{
	struct err err = { 0 };
	json_t *found, *report;

	(void)state;
	use("");
	found = profiler_torch_probe("python3", false, &err);
	if (!found) {
		print_message("skipped: %s\n", err.message);
		skip();
	}
	json_decref(found);
	report = run(
	    "{'engines': ['breakeven', 'torch'], 'modes': ['eager'], 'grad': true, " SOURCE(
		"(torch.softmax(x, -1) @ torch.ones(3, 2), x.mean().item(), x > 0)") ", " INPUT "}",
	    &untimed, &err);
	assert_non_null(report);
	assert_string_equal(error_of(report), "");
	assert_true(json_is_true(
	    json_object_get(json_object_get(mode_of(report, "eager"), "values"), "agree")));
	json_decref(report);
}

static void it_is_off_unless_switched_on(void **state)
{
	const struct profiler_options off = { 0 };
	struct err err;
	json_t *report = run(BOTH("torch.sin(x)"), &off, &err);

	(void)state;
	assert_non_null(report);
	assert_string_equal(error_of(report), TORCH_SWITCHED_OFF);
	json_decref(report);
}

static void engines_are_named_or_refused(void **state)
{
	static const char *const wrong[][2] = {
		{ "'torch'", "engines must be a list" },
		{ "['breakeven', 'jax']",
		  "engines[1] 'jax' is unknown; there are breakeven and torch" },
		{ "['torch']", "engines must hold breakeven" },
	};
	struct err err;
	struct workload *w;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[512];

		snprintf(text, sizeof(text), "{'engines': %s, " SOURCE("x") ", " INPUT "}",
			 wrong[i][0]);
		assert_null(parse(text, &err));
		assert_int_equal(err.code, ERR_WORKLOAD);
		assert_non_null(strstr(err.message, wrong[i][1]));
	}
	w = parse("{" SOURCE("x") ", " INPUT "}", &err);
	assert_false(workload_wants_torch(w));
	workload_destroy(w);
}

static int needs_python(void **state)
{
	(void)state;
	return system("python3 -c pass") == 0 ? 0 : -1; /* NOLINT */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_both_are_compared),
		cmocka_unit_test(values_that_part_are_named),
		cmocka_unit_test(modes_are_timed_and_watched),
		cmocka_unit_test(a_mode_that_fails_leaves_the_others),
		cmocka_unit_test(so_does_one_that_fails_while_it_is_timed),
		cmocka_unit_test(a_crash_is_told_with_the_end_of_what_it_said),
		cmocka_unit_test(torch_stays_loaded_from_job_to_job),
		cmocka_unit_test(one_that_was_changed_failed_or_ended_serves_no_other),
		cmocka_unit_test(one_that_hangs_is_ended_with_all_that_it_started),
		cmocka_unit_test(cancelling_ends_it),
		cmocka_unit_test(it_ends_when_who_started_it_is_killed),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(what_will_not_do_is_one_clear_line),
		cmocka_unit_test(without_torch_it_says_what_to_install),
		cmocka_unit_test(with_real_torch_values_agree),
		cmocka_unit_test(it_is_off_unless_switched_on),
		cmocka_unit_test(engines_are_named_or_refused),
	};

	return cmocka_run_group_tests(tests, needs_python, NULL);
}
