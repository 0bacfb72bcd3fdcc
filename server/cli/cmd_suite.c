/* server/cli/cmd_suite.c -- `breakeven suite FOLDER|FILE...`: many workloads as one. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/profiler.h"
#include "server/cli/commands.h"
#include "server/cli/device_flag.h"
#include "server/cli/flags.h"
#include "server/cli/interrupt.h"
#include "server/cli/post.h"
#include "server/cli/suite_files.h"
#include "server/queue/queue.h"
#include "server/cli/suite_text.h"

enum { MAX_PATHS = 1024 };

static const char all_modes[] = "eager,static,dynamic,auto,lazy,graphs";

struct suite_flags {
	const char *modes, *policy, *device, *backend, *threads, *seconds, *name, *project, *post,
	    *db;
	const char *engines, *torch_python;
	const char *paths[MAX_PATHS];
	int n_paths;
	bool json;
};

static int read_flags(int argc, char **argv, struct suite_flags *f)
{
	const struct flag table[] = {
		{ "--modes", .value = &f->modes },
		{ "--policy", .value = &f->policy },
		{ "--device", .value = &f->device },
		{ "--backend", .value = &f->backend },
		{ "--threads", .value = &f->threads },
		{ "--seconds", .value = &f->seconds },
		{ "--name", .value = &f->name },
		{ "--project", .value = &f->project },
		{ "--post", .value = &f->post },
		{ "--db", .value = &f->db },
		{ "--engine", .value = &f->engines },
		{ "--json", .on = &f->json },
		{ "--torch-python", .value = &f->torch_python },
	};
	struct flags flags = {
		.command = "suite",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f->paths, .most = MAX_PATHS, .over = "too many paths from " },
	};
	int status = flags_read(&flags, argc, argv);

	f->n_paths = flags.words.n;
	if (status < 0 && !f->n_paths) {
		flags_refuse("suite", "a folder, a file or blocks is missing", "");
		return EXIT_USAGE;
	}
	return status;
}

/* "eager,static" as a list. */
static json_t *list_of(const char *text)
{
	char *copy = strdup(text), *rest = copy;
	json_t *list = json_array();

	for (char *name; copy && (name = strsep(&rest, ","));)
		json_array_append_new(list, json_string(name));
	free(copy);
	return list;
}

/* The seconds of sampling for each run, where they are given. */
static bool set_seconds(json_t *request, const struct suite_flags *f)
{
	double seconds;
	char *end;

	if (!f->seconds)
		return true;
	seconds = strtod(f->seconds, &end);
	if (end == f->seconds || *end || !(seconds >= 0 && seconds <= 1e6))
		return flags_refuse("suite", "--seconds needs a number from 0 to 1e6, not ",
				    f->seconds);
	json_object_set_new(request, "seconds", json_real(seconds));
	return true;
}

static const char *last_part(const char *path, char *out, size_t bytes)
{
	size_t len = strlen(path);
	const char *from;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (from = path + len; from > path && from[-1] != '/'; from--)
		;
	snprintf(out, bytes, "%.*s", (int)(path + len - from), from);
	return out;
}

/* The request without its workloads; NULL after a message. */
static json_t *request_of(const struct suite_flags *f)
{
	static const char *const devices[] = { "cpu", "cuda", NULL },
				 *const policies[] = { "dynamo", "native", "both", NULL },
				 *const backends[] = { "cpu", "interp", "cuda", NULL };
	const struct {
		const char *name, *value;
	} texts[] = { { "policy", f->policy },
		      { "device", f->device },
		      { "backend", f->backend },
		      { "project", f->project } };
	long long threads = 0;
	char name[256];
	json_t *request;

	if (f->engines && strstr(f->engines, "torch") && !f->torch_python && !f->post) {
		fprintf(stderr, "breakeven suite: " TORCH_SWITCHED_OFF "\n");
		return NULL;
	}
	if (!flags_one_of("suite", "--device", f->device, devices) ||
	    !flags_one_of("suite", "--policy", f->policy, policies) ||
	    !flags_one_of("suite", "--backend", f->backend, backends) ||
	    !flags_integer("suite", "--threads", f->threads, 0, 1000000, &threads))
		return NULL;
	request = json_object();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].value)
			json_object_set_new(request, texts[i].name, json_string(texts[i].value));
	if (f->modes)
		json_object_set_new(request, "modes",
				    list_of(strcmp(f->modes, "all") == 0 ? all_modes : f->modes));
	if (f->engines)
		json_object_set_new(request, "engines", list_of(f->engines));
	last_part(f->paths[0], name, sizeof(name));
	json_object_set_new(request, "name", json_string(f->name ? f->name : name));
	if (f->threads)
		json_object_set_new(request, "threads", json_integer(threads));
	if (set_seconds(request, f))
		return request;
	json_decref(request);
	return NULL;
}

static bool read_workloads(const struct suite_flags *f, json_t *request, struct err *err)
{
	json_t *list = json_array();
	bool ok = true;

	json_object_set_new(request, "workloads", list);
	for (int i = 0; ok && i < f->n_paths; i++)
		ok = suite_files_add(list, f->paths[i], err);
	return ok;
}

static void show_progress(void *self, int done, int of, const char *name, const char *policy)
{
	if (*(bool *)self)
		fprintf(stderr, "\r%d of %d  %s, %s\033[K", done, of, name, policy);
}

/* Whether no result is other than a pass. */
static bool all_passed(const json_t *report)
{
	const json_t *results = json_object_get(report, "results");

	return json_integer_value(json_object_get(results, "disagrees")) +
		   json_integer_value(json_object_get(results, "failed")) +
		   json_integer_value(json_object_get(results, "cancelled")) ==
	       0;
}

static bool print_report(const struct suite_flags *f, const json_t *report, struct err *err)
{
	struct buf text;
	bool ok;

	if (f->json) {
		ok = json_dumpf(report, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;
	} else {
		buf_init(&text, 0);
		suite_text(&text, report);
		ok = text.data && fputs(text.data, stdout) != EOF;
		buf_finish(&text);
	}
	return (ok && fflush(stdout) == 0) ||
	       err_set(err, ERR_IO, "the result could not be written: %s", strerror(errno));
}

/* The server runs it: prints where. */
static bool post_suite(const struct suite_flags *f, const json_t *request, struct err *err)
{
	char *text = json_dumps(request, JSON_COMPACT);
	struct post *p = text ? post_open(f->post, err) : NULL;
	json_t *answer = NULL;
	bool ok = p &&
		  post_send(p, "/suites", "application/json", text, strlen(text), &answer, err);

	if (ok && f->json)
		ok = json_dumpf(answer, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;
	else if (ok)
		printf("%s/suites/%lld\n", f->post,
		       (long long)json_integer_value(json_object_get(answer, "id")));
	json_decref(answer);
	post_close(p);
	free(text);
	return ok;
}

static int run_here(const struct suite_flags *f, const json_t *request,
		    const struct registry *registry, const volatile sig_atomic_t *interrupted,
		    struct err *err)
{
	bool terminal = isatty(STDERR_FILENO);
	char cache[4096];
	const struct suite_options options = { .run_seconds = WORKER_WALL_S,
					       .db = f->db,
					       .cache_dir = default_cache_dir(cache, sizeof(cache))
								? cache
								: NULL,
					       .registry = registry,
					       .torch_python = f->torch_python,
					       .progress = show_progress,
					       .self = &terminal,
					       .interrupted = interrupted };
	struct suite_plan plan;
	json_t *report;
	int status = EXIT_FAILED;

	if (!suite_plan_make(&plan, request, registry, err))
		return EXIT_USAGE;
	report = suite_run(&plan, &options, err);
	if (terminal)
		fprintf(stderr, "\r\033[K");
	if (report && print_report(f, report, err) && all_passed(report))
		status = EXIT_DONE;
	json_decref(report);
	suite_plan_finish(&plan);
	return status;
}

static int suite_command(const struct suite_flags *f, const struct registry *registry)
{
	json_t *request = request_of(f);
	struct err err = { 0 };
	const volatile sig_atomic_t *interrupted;
	int status = EXIT_FAILED;

	if (!request)
		return EXIT_USAGE;
	interrupted = interrupt_watch();
	if (read_workloads(f, request, &err)) {
		if (f->post)
			status = post_suite(f, request, &err) ? EXIT_DONE : EXIT_FAILED;
		else
			status = run_here(f, request, registry, interrupted, &err);
	}
	if (err.code != ERR_NONE)
		fprintf(stderr, "breakeven suite: %s\n", err.message);
	json_decref(request);
	return status;
}

int cmd_suite(int argc, char **argv, const struct registry *registry)
{
	struct suite_flags f = { 0 };
	int status = read_flags(argc, argv, &f);

	/* A server chooses its own GPU. */
	if (status < 0 && !f.post && !device_flag_take("suite", &f.device))
		status = EXIT_USAGE;
	return status >= 0 ? status : suite_command(&f, registry);
}
