/* server/api/api_meta.c -- what the server says of itself: health, counters, ops, backends and
 * passes, examples to start from. */
#define HANDLER_meta(name) name
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/scratch.h"
#include "profiler/lists/lists.h"
#include "server/api/routes.h"
#include "server/http/metrics.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

/* ---- health ---- */

enum { LEAST_FREE_BYTES = 1 << 20 };
static const int64_t look_ns = 1000000000; /* no oftener at the disks */

/* Whether a file beside the store can have so many bytes: the disk, a quota and a limit on
 * files may each say no. */
static bool has_room(const char *store, struct err *err)
{
	char path[4096];
	int fd, code;

	snprintf(path, sizeof(path), "%s.room-XXXXXX", store);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	code = fd < 0 ? errno : posix_fallocate(fd, 0, LEAST_FREE_BYTES);
	if (fd >= 0)
		close(fd);
	if (code == ENOSPC || code == EDQUOT || code == EFBIG)
		return err_set(err, ERR_FULL, "the disk of the store %.200s is full: %s", store,
			       strerror(code));
	return code == 0 || err_set(err, ERR_STORAGE, "the folder of the store %.200s: %s", store,
				    strerror(code));
}

bool store_has_room(const struct app *app, struct err *err)
{
	int64_t least = app->bounds.free_mib;
	char folder[4096];
	struct statvfs disk;
	unsigned long long free_mib;

	snprintf(folder, sizeof(folder), "%s", app->store);
	if (statvfs(dirname(folder), &disk) != 0)
		return true; /* a write will say why */
	free_mib = (unsigned long long)disk.f_bavail * disk.f_frsize >> 20;
	return free_mib >= (unsigned long long)least ||
	       err_set(err, ERR_FULL,
		       "the disk of the store %.200s has %llu MiB free and is to have %lld "
		       "(--free-mib); remove runs, or make room",
		       app->store, free_mib, (long long)least);
}

static bool has_temporary_folder(struct err *err)
{
	int fd = scratch_file("workers", err);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Takes the error that a look found, if any. */
static void add_problem(json_t *problems, bool well, struct err *err)
{
	if (!well)
		json_array_append_new(problems, json_pack("{s:s, s:o}", "code", err_name(err->code),
							  "message", json_message(err)));
	*err = (struct err){ 0 };
}

/* What does not work: a list of {code, message}. */
static json_t *find_problems(struct app *app)
{
	json_t *problems = json_array();
	struct err err = { 0 };
	int64_t since;

	if (clock_ns() - app->well_ns < look_ns)
		return problems;
	add_problem(problems, db_queue_since(app->db, &since, &err), &err); /* runs can be read */
	add_problem(problems, store_has_room(app, &err) && has_room(app->store, &err), &err);
	add_problem(problems, has_temporary_folder(&err), &err);
	if (json_array_size(problems) == 0)
		app->well_ns = clock_ns();
	return problems;
}

/* {"status": `fine` or "failing", "version", "problems" where there are some}. */
static bool answer_problems(struct reply *reply, const char *fine, json_t *problems,
			    struct err *err)
{
	bool well = json_array_size(problems) == 0;

	reply->json = json_pack("{s:s, s:s}", "status", well ? fine : "failing", "version",
				breakeven_version());
	if (!well)
		json_object_set(reply->json, "problems", problems);
	json_decref(problems);
	reply->status = well ? 200 : 503;
	return reply->json || err_set(err, ERR_MEMORY, "out of memory for the answer");
}

static bool api_health(struct req *req, struct reply *reply, struct err *err)
{
	if (!answer_problems(reply, "ok", find_problems(req->app), err))
		return false;
	if (req_query(req, "full"))
		json_object_set(reply->json, "sandbox", req->app->sandbox);
	return true;
}

static bool api_live(struct req *req, struct reply *reply, struct err *err)
{
	(void)req;
	return answer_problems(reply, "alive", json_array(), err);
}

static bool api_ready(struct req *req, struct reply *reply, struct err *err)
{
	json_t *problems = find_problems(req->app);

	if (req->app->draining)
		json_array_append_new(problems,
				      json_pack("{s:s, s:s}", "code", "draining", "message",
						"the server is to end, and takes no new work"));
	return answer_problems(reply, "ready", problems, err);
}

/* ---- counters ---- */

static void print_head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP breakeven_%s %s\n# TYPE breakeven_%s %s\n", name, help, name, type);
}

static void print_one(struct buf *out, const char *name, const char *type, const char *help,
		      double value)
{
	print_head(out, name, type, help);
	buf_printf(out, "breakeven_%s %.15g\n", name, value);
}

/* Bytes of a file, or of the files of a folder; 0 where it is not there. */
static int64_t bytes_on_disk(const char *path, const char *ending)
{
	char name[4096];
	const struct dirent *entry;
	struct stat at;
	int64_t bytes = 0;
	DIR *dir;

	snprintf(name, sizeof(name), "%s%s", path, ending);
	if (stat(name, &at) != 0)
		return 0;
	if (!S_ISDIR(at.st_mode))
		return at.st_size;
	dir = opendir(name);
	while (dir && (entry = readdir(dir)) != NULL)
		if (fstatat(dirfd(dir), entry->d_name, &at, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(at.st_mode))
			bytes += at.st_size;
	if (dir)
		closedir(dir);
	return bytes;
}

static bool print_queue(struct buf *out, struct app *app, struct err *err)
{
	int64_t counts[RUN_STATUS_COUNT], ends[JOB_ENDS] = { 0 }, since;

	if (!db_run_counts(app->db, counts, err) || !db_queue_since(app->db, &since, err))
		return false;
	print_head(out, "runs", "gauge", "Runs in the store, by status.");
	for (int i = 0; i < RUN_STATUS_COUNT; i++)
		buf_printf(out, "breakeven_runs{status=\"%s\"} %lld\n",
			   run_status_name((enum run_status)i), (long long)counts[i]);
	print_one(out, "queue_depth", "gauge", "Runs that wait for a worker.",
		  (double)counts[RUN_QUEUED]);
	print_one(out, "queue_age_seconds", "gauge", "How long the first of them has waited.",
		  since ? (double)(clock_wall_ns() - since) / 1e9 : 0);
	if (app->jobs)
		jobs_ends(app->jobs, ends);
	print_head(out, "worker_runs_total", "counter",
		   "Runs that a worker had in hand, by how they ended.");
	for (int i = 0; i < JOB_ENDS; i++)
		buf_printf(out, "breakeven_worker_runs_total{end=\"%s\"} %lld\n",
			   job_end_name((enum job_end)i), (long long)ends[i]);
	return true;
}

static void print_store(struct buf *out, const struct app *app)
{
	print_head(out, "store_bytes", "gauge",
		   "On the disk: the database, its log, files of programs.");
	buf_printf(out,
		   "breakeven_store_bytes{part=\"database\"} %lld\n"
		   "breakeven_store_bytes{part=\"log\"} %lld\n"
		   "breakeven_store_bytes{part=\"files\"} %lld\n",
		   (long long)bytes_on_disk(app->store, ""),
		   (long long)bytes_on_disk(app->store, "-wal"),
		   (long long)bytes_on_disk(app->files_folder, ""));
}

static void print_requests(struct buf *out, struct app *app)
{
	struct export_row exports[EXPORTS_MOST];

	print_one(out, "http_requests_total", "counter", "Requests answered.",
		  (double)app->requests);
	print_one(out, "event_streams", "gauge", "Open event streams.",
		  events_open_count(app->events));
	print_head(out, "slow_requests", "gauge", "Under way, of those that may take seconds.");
	buf_printf(out,
		   "breakeven_slow_requests{kind=\"check\"} %d\n"
		   "breakeven_slow_requests{kind=\"export\"} %d\n"
		   "breakeven_slow_requests{kind=\"import\"} %d\n",
		   app->checks, exports_list(app->exports, 0, exports), app->imports);
	if (app->metrics)
		metrics_print(app->metrics, out);
}

static bool api_metrics(struct req *req, struct reply *reply, struct err *err)
{
	struct app *app = req->app;
	struct buf out = { 0 };

	if (!print_queue(&out, app, err)) {
		buf_finish(&out);
		return false;
	}
	print_store(&out, app);
	print_requests(&out, app);
	print_one(&out, "draining", "gauge", "1 from SIGTERM on: nothing new is taken.",
		  app->draining);
	print_one(&out, "uptime_seconds", "gauge", "Since the server started.",
		  (double)((clock_ns() - app->started_ns) / 1000000000));
	reply->content_type = "text/plain; version=0.0.4; charset=utf-8";
	reply->text_len = out.len;
	reply->text = buf_steal(&out);
	return reply->text || err_set(err, ERR_MEMORY, "out of memory for the counters");
}

/* ---- lists ---- */

static bool api_ops(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_ops(req->app->registry, req_query(req, "name"), err);
	reply->keep = KEEP_STORE;
	if (!reply->json && err->code == ERR_NAME)
		err->code = ERR_NOT_FOUND;
	return reply->json != NULL;
}

static bool api_names(struct req *req, struct reply *reply, struct err *err)
{
	const char *module = req_query(req, "module");

	if (!module || !*module)
		return err_set(err, ERR_BAD_REQUEST,
			       "module= is missing: a module such as torch.nn, or torch.Tensor");
	reply->json = lists_names(module, err);
	reply->keep = KEEP_STORE;
	return reply->json != NULL;
}

static bool api_backends(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_backends(req->app->registry, err);
	reply->keep = KEEP_STORE;
	if (reply->json && req->app->torch)
		json_object_set_new(reply->json, "engines", json_pack("[O]", req->app->torch));
	return reply->json != NULL;
}

static bool api_passes(struct req *req, struct reply *reply, struct err *err)
{
	reply->json = lists_passes(req->app->registry, err);
	reply->keep = KEEP_STORE;
	return reply->json != NULL;
}

/* ---- examples: workloads to start from.
 *
 * A file of web/examples/ is a workload that also says "title" about itself;
 * they are listed in the order of their names, and the first one is run when a
 * server starts with an empty store.  Models in published style and the blocks of the
 * suite, both Python programs, follow in groups of their own. ---- */

static const char examples_start[] = "/assets/examples/";

/* The workload of a file, and what it says of itself; NULL with INTERNAL. */
static json_t *load_example(const struct asset *a, struct arena *arena,
			    const struct report_workload **fields, struct err *err)
{
	json_error_t at;
	json_t *workload = json_loadb((const char *)a->data, a->len, 0, &at);

	if (!workload) {
		err_set(err, ERR_INTERNAL, "example %s, line %d: %s", a->path, at.line, at.text);
		return NULL;
	}
	*fields = report_read_workload(workload, arena, err);
	if (*fields && (*fields)->name && (*fields)->title)
		return workload;
	if (*fields)
		err_set(err, ERR_INTERNAL, "example %s has no name or title", a->path);
	json_decref(workload);
	return NULL;
}

static json_t *example_at(const struct asset *a, struct arena *arena, struct err *err)
{
	const struct report_workload *fields;
	json_t *workload = load_example(a, arena, &fields, err), *example;

	if (!workload)
		return NULL;
	example = json_pack("{s:s, s:s, s:O}", "name", fields->name, "title", fields->title,
			    "workload", workload);
	json_object_del(workload, "title");
	json_decref(workload);
	return example;
}

/* The first line of a program's own description, without its full stop; NULL: it has none. */
static json_t *described(const char *source)
{
	static const char quotes[] = "\"\"\"";
	const char *at = source ? strstr(source, quotes) : NULL;
	size_t len;

	if (!at)
		return NULL;
	at += strlen(quotes);
	len = strcspn(at, "\"\n");
	len -= len && at[len - 1] == '.';
	return len ? json_stringn(at, len) : NULL;
}

struct examples {
	json_t *list;
	struct arena *arena;
};

/* The programs of a folder, as examples of a group; their titles are their names, or what they
 * say of themselves. */
static bool add_programs(struct examples *to, const char *folder, const char *group,
			 bool described_ones, struct err *err)
{
	json_t *programs = embedded_programs(folder, err), *workload;
	bool ok = programs != NULL;
	size_t i;

	json_array_foreach(programs, i, workload) {
		const struct report_workload *w = report_read_workload(workload, to->arena, err);
		json_t *title = w && described_ones ? described(w->source) : NULL;

		ok = ok && w;
		if (w)
			json_array_append_new(
			    to->list, json_pack("{s:s, s:o, s:s, s:O}", "name", w->name, "title",
						title ? title : json_string(w->name), "group",
						group, "workload", workload));
	}
	json_decref(programs);
	return ok;
}

static bool is_example(const struct asset *a)
{
	return strncmp(a->path, examples_start, sizeof(examples_start) - 1) == 0;
}

static bool add_all(struct examples *to, struct err *err)
{
	for (size_t i = 0; i < n_assets; i++) {
		json_t *example = is_example(&assets[i]) ? example_at(&assets[i], to->arena, err)
							 : NULL;

		if (is_example(&assets[i]) && !example)
			return false;
		if (example)
			json_array_append_new(to->list, example);
	}
	return add_programs(to, "models", "Models in published style", true, err) &&
	       add_programs(to, "suite", "Model blocks", false, err);
}

json_t *examples_first(struct err *err)
{
	const struct report_workload *fields;
	struct arena arena = { 0 };
	json_t *first = NULL;
	size_t i = 0;

	while (i < n_assets && !is_example(&assets[i]))
		i++;
	if (i < n_assets)
		first = load_example(&assets[i], &arena, &fields, err);
	else
		err_set(err, ERR_INTERNAL, "this build has no examples");
	json_object_del(first, "title");
	arena_finish(&arena);
	return first;
}

/* {"examples": [{"name", "title", "workload"}]}; the programs have a "group". */
static bool api_examples(struct req *req, struct reply *reply, struct err *err)
{
	struct examples all = { json_array(), req->arena };
	bool ok = add_all(&all, err);

	if (ok)
		reply->json = json_pack("{s:O}", "examples", all.list);
	reply->keep = KEEP_STORE;
	json_decref(all.list);
	return ok;
}

handler_fn *const meta_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
