/* server/cli/cmd_serve.c -- puts the server together and waits for a signal. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "db/db.h"
#include "fusion/base/clock.h"
#include "fusion/base/log.h"
#include "profiler/fields/fields.h"
#include "profiler/lists/lists.h"
#include "profiler/profiler.h"
#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/text/text.h"
#include "server/queue/queue.h"
#include "server/queue/sandbox.h"
#include "server/cli/flags.h"
#include "server/http/http.h"

enum {
	MAX_RUN_SECONDS = 7 * 24 * 3600,
	CHECK_SECONDS = 2,
	MAX_CHECK_SECONDS = 3600,
	FILES_GIB = 16,
	MAX_FILES_GIB = 1 << 20,
	MOST_NAMES = 64,
};

struct serve_options {
	const char *listen, *db, *cache, *torch_python;
	int64_t files_bytes;
	int run_seconds, check_seconds;
	const char *user_header;
	struct flag_texts allow_hosts, proxies, admin_users;
	bool first_run, insecure;
};

/* Returns -1 to go on, else the exit status. */
static int read_flags(int argc, char **argv, struct serve_options *o)
{
	const char *run = NULL, *check = NULL, *gib = NULL;
	const struct flag table[] = {
		{ "--listen", .value = &o->listen },
		{ "--db", .value = &o->db },
		{ "--cache", .value = &o->cache },
		{ "--torch-python", .value = &o->torch_python },
		{ "--run-seconds", .value = &run },
		{ "--check-seconds", .value = &check },
		{ "--files-gib", .value = &gib },
		{ "--first-run", .on = &o->first_run },
		{ "--allow-host", .many = &o->allow_hosts },
		{ "--trust-proxy", .many = &o->proxies },
		{ "--user-header", .value = &o->user_header },
		{ "--admin-user", .many = &o->admin_users },
		{ "--insecure", .on = &o->insecure },
	};
	struct flags flags = {
		.command = "serve",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
	};
	long long files_gib = FILES_GIB, run_seconds = o->run_seconds,
		  check_seconds = o->check_seconds;
	int status = flags_read(&flags, argc, argv);
	struct err err = { 0 };

	if (status < 0 &&
	    (!flags_integer("serve", "--run-seconds", run, 1, MAX_RUN_SECONDS, &run_seconds) ||
	     !flags_integer("serve", "--check-seconds", check, 1, MAX_CHECK_SECONDS,
			    &check_seconds) ||
	     !flags_integer("serve", "--files-gib", gib, 0, MAX_FILES_GIB, &files_gib)))
		status = EXIT_USAGE;
	if (status < 0 && o->user_header && o->proxies.n == 0) {
		flags_refuse("serve", "--user-header counts from a --trust-proxy alone; name one",
			     "");
		status = EXIT_USAGE;
	}
	if (status < 0 && o->admin_users.n > 0 && !o->user_header) {
		flags_refuse("serve", "--admin-user names users of a --user-header; name one", "");
		status = EXIT_USAGE;
	}
	if (status < 0 && !listen_check(o->listen, &err)) {
		flags_refuse("serve", err.message, "");
		status = EXIT_USAGE;
	}
	o->files_bytes = (int64_t)files_gib << 30;
	o->run_seconds = (int)run_seconds;
	o->check_seconds = (int)check_seconds;
	return status;
}

static bool queue_first_run(struct db *db, struct err *err)
{
	int64_t counts[RUN_STATUS_COUNT], total = 0, id;
	struct workload *workload;
	json_t *json;
	bool ok;

	if (!db_run_counts(db, counts, err))
		return false;
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		total += counts[i];
	if (total > 0)
		return true;
	json = examples_first(err);
	workload = json ? workload_parse(json, err) : NULL;
	ok = workload && enqueue(db, json, workload, &id, err);
	workload_destroy(workload);
	json_decref(json);
	return ok;
}

/* Blocks until SIGINT or SIGTERM.  They are blocked in every thread, so that
 * no handler ever runs. */
static void wait_for_end(const sigset_t *ends)
{
	int sig = 0;

	while (sigwait(ends, &sig) != 0)
		;
	log_line(LOG_INFO, "%s: stopping", sig == SIGINT ? "Ctrl-C" : "SIGTERM");
}

/* What was found of engine torch is said where somebody asked for it. */
static bool find_torch(const struct serve_options *o, struct app *app, struct arena *arena,
		       struct err *err)
{
	const struct report_engine *torch;

	app->torch = lists_torch(o->torch_python);
	torch = report_read_engine(app->torch, arena, err);
	if (!torch)
		return false;
	app->no_torch = torch->why_not;
	if (o->torch_python && torch->why_not)
		log_line(LOG_WARN, "engine torch does not work: %s", torch->why_not);
	else if (o->torch_python)
		log_line(LOG_INFO, "engine torch: %s of %s", torch->version ? torch->version : "?",
			 o->torch_python);
	return true;
}

static struct http *start_http(const struct serve_options *o, struct app *app, struct err *err)
{
	const struct http_options options = {
		.listen = o->listen,
		.allow_hosts = o->allow_hosts.at,
		.n_allow_hosts = o->allow_hosts.n,
		.access = { .proxies = o->proxies.at,
			    .n_proxies = o->proxies.n,
			    .user_header = o->user_header,
			    .admin_users = o->admin_users.at,
			    .n_admin_users = o->admin_users.n },
	};
	struct http *http = http_start(app, &routes, &options, err);

	if (http && app->insecure)
		log_line(LOG_WARN,
			 "--insecure: WHOEVER REACHES %s MAY READ AND REMOVE EVERY RUN AND HAVE "
			 "PROGRAMS EXECUTED HERE",
			 http_url(http));
	return http;
}

/* What the kernel lacks is a warning: programs run all the same. */
static void tell_sandbox(const struct app *app)
{
	const char *lacks = json_string_value(json_object_get(app->sandbox, "lacks"));
	json_int_t version = json_integer_value(json_object_get(app->sandbox, "landlock"));

	if (lacks && *lacks)
		log_line(LOG_WARN, "workers are confined, but this kernel lets them have no %s",
			 lacks);
	else
		log_line(LOG_INFO,
			 "workers are confined by Landlock (version %lld), seccomp and a "
			 "network of their own",
			 (long long)version);
}

static bool serve(const struct serve_options *o, const struct registry *registry,
		  const sigset_t *ends, struct err *err)
{
	char folder[4096]; /* beside the store */
	struct app app = { .started_ns = clock_ns(),
			   .registry = registry,
			   .files_folder = folder,
			   .files_bytes = o->files_bytes,
			   .insecure = o->insecure,
			   .check_seconds = o->check_seconds };
	struct arena arena = { 0 };
	struct http *http = NULL;
	bool ok = false;

	snprintf(folder, sizeof(folder), "%s.files", o->db);
	app.db = db_open(o->db, err);
	if (!app.db)
		return false;
	app.events = events_create(run_event, &app);
	if (!app.events)
		err_set(err, ERR_MEMORY, "out of memory while starting");
	else if (!(app.sandbox = sandbox_parts()))
		err_set(err, ERR_MEMORY, "out of memory while starting");
	else if (find_torch(o, &app, &arena, err) &&
		 (!o->first_run || queue_first_run(app.db, err)))
		app.jobs = jobs_start(app.db, app.events,
				      &(struct jobs_options){ .cache_dir = o->cache,
							      .registry = registry,
							      .torch_python = o->torch_python,
							      .files_folder = folder,
							      .run_seconds = o->run_seconds },
				      err);
	if (app.jobs)
		http = start_http(o, &app, err);
	if (http) {
		tell_sandbox(&app);
		fprintf(stderr, "breakeven %s listening on %s (Ctrl-C stops it)\n",
			breakeven_version(), http_url(http));
		wait_for_end(ends);
		ok = true;
	}
	/* From the outside in: requests use the queue to their end. */
	app.stopping = true;
	if (app.events)
		events_stop(app.events);
	http_stop(http);
	jobs_stop(app.jobs);
	events_destroy(app.events);
	db_close(app.db);
	json_decref(app.torch);
	json_decref(app.sandbox);
	arena_finish(&arena);
	return ok;
}

int cmd_serve(int argc, char **argv, const struct registry *registry)
{
	const char *allow_hosts[MOST_NAMES], *proxies[MOST_NAMES], *admin_users[MOST_NAMES];
	struct serve_options o = { .listen = "127.0.0.1:8080",
				   .allow_hosts = { .at = allow_hosts, .most = MOST_NAMES },
				   .proxies = { .at = proxies, .most = MOST_NAMES },
				   .admin_users = { .at = admin_users, .most = MOST_NAMES },
				   .db = "breakeven.db",
				   .run_seconds = WORKER_WALL_S,
				   .check_seconds = CHECK_SECONDS };
	struct err err = { 0 };
	char cache[4096];
	sigset_t ends;
	int status = read_flags(argc, argv, &o);

	if (status >= 0)
		return status;
	if (!o.cache && default_cache_dir(cache, sizeof(cache)))
		o.cache = cache;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGINT, SIG_DFL); /* a shell may have set it to be ignored, as for `&` */
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file over the shell's limit is an error like a full disk */
	if (serve(&o, registry, &ends, &err))
		return EXIT_DONE;
	fprintf(stderr, "breakeven serve: %s\n", err.message);
	return EXIT_FAILED;
}
