/* server/cli/cmd_serve.c -- puts the server together and waits for a signal. */
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
#include "server/cli/serve_settings.h"
#include "server/http/http.h"
#include "server/http/metrics.h"
#include "server/queue/cgroup.h"
#include "server/queue/hosts.h"
#include "server/queue/queue.h"
#include "server/queue/sandbox.h"
#include "server/text/text.h"

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
	ok = workload && enqueue(db, json, workload, "", &id, err);
	workload_destroy(workload);
	json_decref(json);
	return ok;
}

/* After SIGTERM what is in hand may end: nothing new is begun, readers are answered. */
static void drain(struct app *app, const sigset_t *ends)
{
	const struct timespec look = { .tv_nsec = 50000000 };
	int64_t end = clock_ns() + app->bounds.drain_seconds * 1000000000, id;

	app->draining = true;
	jobs_drain(app->jobs);
	id = jobs_in_hand(app->jobs);
	if (id == 0 || app->bounds.drain_seconds == 0)
		return;
	log_line(LOG_INFO, "SIGTERM: nothing new is taken; run %lld has %lld s to end in",
		 (long long)id, (long long)app->bounds.drain_seconds);
	while (jobs_in_hand(app->jobs) != 0 && clock_ns() < end)
		if (sigtimedwait(ends, NULL, &look) > 0) {
			log_line(LOG_INFO, "a second signal: it is stopped at once");
			return;
		}
	if (jobs_in_hand(app->jobs) != 0)
		log_line(LOG_WARN, "run %lld has not ended within --drain-seconds %lld",
			 (long long)jobs_in_hand(app->jobs), (long long)app->bounds.drain_seconds);
}

/* Blocks until SIGINT or SIGTERM.  They are blocked in every thread, so that
 * no handler ever runs. */
static void wait_for_end(struct app *app, const sigset_t *ends)
{
	int sig = 0;

	while (sigwait(ends, &sig) != 0)
		;
	if (sig == SIGTERM)
		drain(app, ends);
	log_line(LOG_INFO, "%s: stopping", sig == SIGINT ? "Ctrl-C" : "SIGTERM");
}

/* The log's first line; programs that start a server read where it listens. */
static void tell_start(const struct serve_settings *o, const struct http *http)
{
	if (strcmp(o->log_format, "json") == 0)
		log_line(LOG_INFO, "breakeven %s listening on %s (Ctrl-C stops it)",
			 breakeven_version(), http_url(http));
	else
		fprintf(stderr, "breakeven %s listening on %s (Ctrl-C stops it)\n",
			breakeven_version(), http_url(http));
}

/* What was found of engine torch is said where somebody asked for it. */
static bool find_torch(const struct serve_settings *o, struct app *app, struct arena *arena,
		       struct err *err)
{
	const struct report_engine *torch;
	bool confined = json_integer_value(json_object_get(app->sandbox, "landlock")) > 0 &&
			json_is_true(json_object_get(app->sandbox, "seccomp"));

	app->torch = lists_torch(o->torch_python, true);
	torch = report_read_engine(app->torch, arena, err);
	if (!torch)
		return false;
	app->no_torch = torch->why_not;
	if (o->torch_python && torch->why_not)
		log_line(LOG_WARN, "engine torch does not work: %s", torch->why_not);
	else if (o->torch_python)
		log_line(LOG_WARN, "engine torch: %s of %s executes what is posted, %s",
			 torch->version ? torch->version : "?", o->torch_python,
			 confined ? "confined by Landlock and seccomp: it reads its own modules "
				    "and the system's programs"
				  : "WITH THE RIGHTS OF THIS SERVER'S USER: this kernel has not "
				    "what would confine it");
	if (o->torch_python && !torch->why_not)
		json_object_set_new(app->sandbox, "torch",
				    json_string(confined ? "confined" : "not confined"));
	return true;
}

static struct http *start_http(const struct serve_settings *o, struct app *app, struct err *err)
{
	const struct http_options options = {
		.listen = o->listen,
		.allow_hosts = o->allow_hosts.at,
		.n_allow_hosts = o->allow_hosts.n,
		.access = { .proxies = o->proxies.at,
			    .n_proxies = o->proxies.n,
			    .user_header = o->user_header,
			    .admin_users = o->admin_users.at,
			    .n_admin_users = o->admin_users.n,
			    .user_requests = (int)o->bounds.user_requests },
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
			 "network of their own%s",
			 (long long)version,
			 json_is_true(json_object_get(app->sandbox, "groups"))
			     ? ", each in a control group"
			     : "");
}

/* What the requests share: events, exports, the queue.  What was made is in *app, also where one of
 * them fails. */
static bool start_queue(const struct serve_settings *o, struct app *app, struct arena *arena,
			struct err *err)
{
	app->events = events_create(run_event, app, (int)o->bounds.streams,
				    (int)o->bounds.user_streams);
	app->exports = exports_create();
	app->sandbox = sandbox_parts();
	app->metrics = metrics_create(&routes);
	if (!app->events || !app->exports || !app->sandbox || !app->metrics)
		return err_set(err, ERR_MEMORY, "out of memory while starting");
	if (!find_torch(o, app, arena, err) || (o->first_run && !queue_first_run(app->db, err)))
		return false;
	app->hosts = hosts_start(
	    app->db, app->events,
	    &(struct hosts_options){ .file = o->hosts, .run_seconds = (int)o->bounds.run_seconds },
	    err);
	if (!app->hosts)
		return false;
	app->jobs = jobs_start(app->db, app->events,
			       &(struct jobs_options){ .cache_dir = o->cache,
						       .yields = true,
						       .registry = app->registry,
						       .shared = db_path_is_shared(o->db),
						       .torch_python = o->torch_python,
						       .files_folder = app->files_folder,
						       .hosts = app->hosts,
						       .run_seconds = (int)o->bounds.run_seconds,
						       .keep_days = o->bounds.keep_days },
			       err);
	if (app->jobs)
		app->hooks = hooks_start(
		    app->db, app->jobs,
		    &(struct hooks_options){ .describe = hook_body,
					     .self = app,
					     .registry = app->registry,
					     .retry_seconds = (int)o->bounds.hook_seconds,
					     .inside = o->hook_hosts.at,
					     .n_inside = o->hook_hosts.n },
		    err);
	return app->hooks != NULL;
}

/* The folder of files that programs read: beside the store, where that is a file. */
static bool name_folder(const struct serve_settings *o, char *folder, size_t bytes, struct err *err)
{
	bool shared = db_path_is_shared(o->db);

	if (o->files && !shared)
		return err_set(
		    err, ERR_BAD_REQUEST,
		    "--files is for a store on PostgreSQL; files of the store %.300s are in "
		    "%.300s.files",
		    o->db, o->db);
	snprintf(folder, bytes, "%s%s",
		 !shared    ? o->db
		 : o->files ? o->files
			    : "breakeven",
		 shared && o->files ? "" : ".files");
	return true;
}

static bool serve(const struct serve_settings *o, const struct registry *registry,
		  const sigset_t *ends, struct err *err)
{
	char folder[4096]; /* beside the store */
	struct app app = { .started_ns = clock_ns(),
			   .registry = registry,
			   .store = o->db,
			   .files_folder = folder,
			   .bounds = o->bounds,
			   .base_path = o->base_path ? o->base_path : "",
			   .insecure = o->insecure,
			   .log_requests = o->log_requests };
	struct arena arena = { 0 };
	struct http *http = NULL;
	bool groups, ok = false;

	if (!name_folder(o, folder, sizeof(folder), err))
		return false;
	if (db_path_is_shared(o->db))
		app.store = folder; /* what it has on this machine */
	app.page = page_below(app.base_path, &arena, err);
	app.db = app.page ? db_open(o->db, err) : NULL;
	if (!app.db) {
		arena_finish(&arena);
		return false;
	}
	groups = cgroup_divide();
	if (start_queue(o, &app, &arena, err))
		http = start_http(o, &app, err);
	if (http) {
		json_object_set_new(app.sandbox, "groups", json_boolean(groups));
		tell_sandbox(&app);
		tell_start(o, http);
		wait_for_end(&app, ends);
		ok = true;
	}
	/* From the outside in: requests use the queue to their end. */
	app.stopping = true;
	if (app.events)
		events_stop(app.events);
	http_stop(http);
	hooks_stop(app.hooks);
	jobs_stop(app.jobs);
	hosts_stop(app.hosts);
	events_destroy(app.events);
	exports_destroy(app.exports);
	metrics_destroy(app.metrics);
	db_close(app.db);
	json_decref(app.torch);
	json_decref(app.sandbox);
	arena_finish(&arena);
	if (groups)
		cgroup_join();
	return ok;
}

static int serve_by(const struct serve_settings *o, const struct registry *registry)
{
	struct err err = { 0 };
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGINT, SIG_DFL); /* a shell may have set it to be ignored, as for `&` */
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	setenv("BREAKEVEN_LOG_FORMAT", o->log_format, 1); /* of workers too */
	signal(SIGXFSZ, SIG_IGN); /* a file over the shell's limit is an error like a full disk */
	if (serve(o, registry, &ends, &err))
		return EXIT_DONE;
	fprintf(stderr, "breakeven serve: %s\n", err.message);
	return EXIT_FAILED;
}

int cmd_serve(int argc, char **argv, const struct registry *registry)
{
	struct serve_settings *o = calloc(1, sizeof(*o));
	struct arena arena = { 0 };
	int status = serve_settings_read("serve", false, argc, argv, o, &arena);

	if (status < 0)
		status = serve_by(o, registry);
	arena_finish(&arena);
	free(o);
	return status;
}
