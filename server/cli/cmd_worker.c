/* server/cli/cmd_worker.c -- the child that runs one job.
 *
 * The server starts it with a socket as file descriptor 3 (worker.c).  It sets
 * its own limits before it reads a byte of the job, dies with the server, and
 * answers with progress and then a report or an error.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fusion/base/refused.h"
#include "fusion/base/sanitized.h"
#include "fusion/base/spawn.h"
#include "profiler/export/export.h"
#include "profiler/fields/fields.h"
#include "profiler/import/import.h"
#include "profiler/profiler.h"
#include "profiler/results/results.h"
#include "profiler/torch/host.h"
#include "server/cli/cache_log.h"
#include "server/cli/cli.h"
#include "server/text/text.h"
#include "server/cli/flags.h"
#include "server/cli/heap.h"
#include "server/queue/query.h"
#include "server/queue/queue.h"
#include "server/queue/sandbox.h"
#include "server/http/http.h"

/* While someone types: where that is too short for each change they are tried
 * together. */
static const double check_rewrites_ms = 40;
/* Of a run's wall time, what engine torch leaves: its failure is to be told, not the run's. */
enum { TORCH_SPARE_S = 5 };
/* Of what a gzip of the body's size may hold; larger logs are read by `breakeven import --post`,
 * where they lie. */
enum { FEED_BYTES = 1 << 20 };

struct worker_flags {
	const char *cache_dir, *files_folder, *torch_python, *torch_host, *tmp;
	int cpu_seconds;
	bool blocking, compiles, device, torch, second, yields;
	struct worker_options again; /* of the workers of `beside` */
	struct beside *beside;       /* of a job that is measured; else NULL */
};

/* NULL: a log that is read, a run that is written.  Shadow memory needs terabytes of address space,
 * and the driver of a GPU maps more than any limit would leave: there the engine's own limit of
 * tensor memory has to do. */
static void confine_memory(const struct workload *w)
{
	/* a file is mapped by each mode that loads it */
	rlim_t most = WORKER_ADDRESS_BYTES + (w ? (rlim_t)workload_weights_bytes(w) * 8 : 0);
	struct rlimit limit;

	if (ADDRESS_SANITIZED || THREAD_SANITIZED || (w && workload_on_device(w)))
		return;
	if (!w || !workload_wants_torch(w)) {
		sandbox_limit(RLIMIT_AS, most);
	} else if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur > most) {
		/* Torch maps more than it uses: its guard lifts this for it, and counts
		 * what is resident (profiler/torch/child.h). */
		limit.rlim_cur = most;
		setrlimit(RLIMIT_AS, &limit);
	}
}

/* Before a byte of the job is read. */
static bool sandbox(struct worker_flags *f, const struct registry *registry, struct err *err)
{
	char folder[320] = "";
	struct sandbox_needs needs = { .device = f->device,
				       .torch_host = f->torch ? folder : NULL,
				       .torch = f->torch && !f->torch_host,
				       .network = f->torch && !f->torch_host,
				       .cache_dir = f->cache_dir,
				       .temporary = f->tmp,
				       .owns_temporary = f->device,
				       .files = f->files_folder };

	if (f->torch_host)
		torch_host_folder(f->torch_host, folder, sizeof(folder));
	for (int i = 0; registry_plugin_path(registry, i); i++)
		needs.read[needs.n_read++] = registry_plugin_path(registry, i);
	end_with_parent(WORKER_FD);
	if (f->yields) /* what it starts has it from it */
		setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + WORKER_NICE);
	f->again = (struct worker_options){ .cache_dir = f->cache_dir,
					    .files_folder = f->files_folder,
					    .cpu_seconds = f->cpu_seconds,
					    .registry = registry };
	signal(SIGXFSZ, SIG_IGN); /* a file over the shell's limit is an error */
	sandbox_begin(needs.network, f->cpu_seconds);
	if (f->compiles && !f->second && !f->blocking)
		f->beside = beside_start(&f->again);
	if (f->compiles) {
		profiler_environment_prepare();
		if (!registry_builder_start(registry, f->cache_dir, sandbox_builder, &needs, err))
			return false;
	}
	return sandbox_enter(&needs, err);
}

static bool send_json(int fd, enum message_type type, const json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT);
	bool ok = text && message_send(fd, type, text, strlen(text), NULL);

	free(text);
	return ok;
}

/* What a job gives, where all of it is there. */
static bool send_result(int fd, const json_t *json, struct err *err)
{
	if (memory_refused())
		return memory_refused_error(err, "the result");
	return json && send_json(fd, MESSAGE_REPORT, json);
}

/* What is kept of the run should it end before its report is there: all but its points, with the
 * machine, before the first of them. */
static bool send_head(int fd, const struct report_run *run)
{
	struct report_partial partial = { 0 };
	struct report_run head = *run;
	json_t *environment = profiler_environment(breakeven_version()), *json;
	bool ok = environment && send_json(fd, MESSAGE_ENVIRONMENT, environment);

	REPORT_SET(&partial, of, (int64_t)run->points.n);
	REPORT_SET(&head, partial, &partial);
	head.points.n = 0;
	head.has.break_even = false;
	json = report_write_run(&head);
	ok = ok && json && send_json(fd, MESSAGE_KEEP, json);
	json_decref(environment);
	json_decref(json);
	return ok;
}

/* Without its samples; of the modes that have a time. */
static bool send_measured(int fd, const struct report_point *point)
{
	struct report_measured_mode modes[FUSION_MODE_COUNT] = { { 0 } };
	struct report_latency times[FUSION_MODE_COUNT];
	const char *names[FUSION_MODE_COUNT];
	struct report_measured_point p = { 0 };
	json_t *json;
	size_t n = 0;
	bool ok;

	for (size_t i = 0; i < point->modes.n && n < FUSION_MODE_COUNT; i++) {
		if (!point->modes.at[i].latency)
			continue;
		times[n] = *point->modes.at[i].latency;
		times[n].has.samples_ns = false;
		names[n] = point->modes.keys[i];
		REPORT_SET(&modes[n], latency, &times[n]);
		n++;
	}
	REPORT_SET(&p, n, point->n);
	REPORT_SET(&p, modes, (struct report_measured_mode_map){ modes, n, names });
	REPORT_SET_IF(&p, break_even, point->has.break_even, point->break_even);
	json = report_write_measured_point(&p);
	ok = json && send_json(fd, MESSAGE_POINT, json);
	json_decref(json);
	return ok;
}

/* The point as the report will have it, then what is shown of it meanwhile. */
static bool send_point(void *self, const struct report_run *run, const struct report_point *point)
{
	int fd = *(int *)self;
	bool first = point->n == run->points.at[0].n;
	json_t *json = report_write_point(point);
	bool ok = json && (!first || send_head(fd, run)) && send_json(fd, MESSAGE_KEEP, json);

	json_decref(json);
	return ok && send_measured(fd, point);
}

static bool send_progress(void *self, double share, const char *what, double left_s)
{
	struct report_progress p = { 0 };
	json_t *json;
	bool ok;

	REPORT_SET(&p, share, share);
	REPORT_SET(&p, what, what);
	REPORT_SET(&p, left_s, left_s);
	json = report_write_progress(&p);
	ok = json && send_json(*(int *)self, MESSAGE_PROGRESS, json);

	json_decref(json);
	return ok; /* the server is gone: nobody wants the result */
}

static bool send_block(void *self, const void *block, size_t len, struct err *err)
{
	return message_send(*(int *)self, MESSAGE_TIMELINE, block, len, err);
}

static bool send_error(int fd, const struct err *err)
{
	json_t *json = json_pack("{s:s, s:o, s:i, s:i}", "code", err_name(err->code), "message",
				 json_message(err), "line", err->line, "column", err->column);
	bool ok;

	if (err->file[0])
		json_object_set_new(json, "file", json_string(err->file));
	ok = json && send_json(fd, MESSAGE_ERROR, json);

	json_decref(json);
	return ok;
}

/* The next message of the server; its text is good until the one after it. */
static bool read_message(struct message_reader *reader, int fd, enum message_type *type,
			 char **text, size_t *len, struct err *err)
{
	bool bad = false;

	while (!message_next(reader, type, text, len, &bad) && !bad)
		if (message_fill(reader, fd) <= 0)
			return err_set(err, ERR_IO,
				       "the server closed the socket before the job came");
	return !bad ||
	       err_set(err, ERR_IO, "the job is over the limit of %d MiB", MESSAGE_MAX_BYTES >> 20);
}

/* Answers what the program's capture looks like; nothing is measured. */
static bool explain_job(int fd, const struct workload *workload, struct err *err)
{
	struct explain_options options = { .mode = workload_explained_mode(workload),
					   .rewrites_ms = check_rewrites_ms,
					   .brief = true };
	struct report_draft draft = { 0 };
	const struct report_explain *explained = profiler_explain(workload, &options, &draft, err);
	json_t *answer = explained ? report_write_explain(explained) : NULL;
	bool ok = explained && send_result(fd, answer, err);

	if (explained && !ok && err->code == ERR_NONE)
		err_set(err, ERR_IO, "the answer could not be sent to the server");
	json_decref(answer);
	report_draft_finish(&draft);
	return ok;
}

/* Answers inputs that the program runs with. */
static bool fit_job(int fd, const json_t *job, const struct registry *registry, struct err *err)
{
	json_t *list;
	bool ok;

	heap_take();
	confine_memory(NULL);
	list = profiler_proposals(json_object_get(job, "workload"), json_object_get(job, "free"),
				  registry, json_number_value(json_object_get(job, "limit_ms")));
	ok = send_result(fd, list, err);
	json_decref(list);
	return ok;
}

static bool send_report(int fd, const struct report_run *run, struct err *err)
{
	json_t *report = report_write_run(run);
	json_t *environment = profiler_environment(breakeven_version());
	bool ok = environment && report && send_json(fd, MESSAGE_ENVIRONMENT, environment) &&
		  send_result(fd, report, err);

	json_decref(environment);
	json_decref(report);
	if (!ok && err->code == ERR_NONE)
		err_set(err, ERR_IO,
			"the report could not be sent to the server; it is at most %d MiB: "
			"return fewer or smaller values, or make fewer calls",
			MESSAGE_MAX_BYTES >> 20);
	return ok;
}

/* What a run is told by, and its second process. */
struct running_job {
	int fd; /* first: progress and blocks go by it alone */
	const struct worker_flags *flags;
	const json_t *workload;
};

static const struct report_run *time_again(void *self, const struct profiler_again *what,
					   struct report_draft *draft, struct err *err)
{
	const struct running_job *job = self;

	return beside_again(job->flags->beside, job->workload,
			    &(struct beside_order){ .again = what }, draft, err);
}

/* The samples of a point, for another process that has measured it. */
static bool again_job(int fd, const struct worker_flags *f, const json_t *order,
		      const struct registry *registry, struct err *err)
{
	json_t *json = json_object_get(order, "workload"), *report = NULL;
	struct profiler_options options = { .timing = true,
					    .cache_dir = f->cache_dir,
					    .version = breakeven_version(),
					    .progress = send_progress,
					    .only = json_is_true(json_object_get(order, "swept")),
					    .at = json_integer_value(json_object_get(order, "n")),
					    .rounds = (int)json_integer_value(
						json_object_get(order, "rounds")),
					    .self = &fd };
	struct report_draft draft = { 0 };
	const struct report_run *run = NULL;
	struct workload *workload;
	bool ok;

	heap_take_for(json_string_value(json_object_get(json, "device")));
	workload = workload_parse_in(json, registry, err);
	ok = workload && (!f->files_folder || workload_weights_in(workload, f->files_folder, err));
	if (ok) {
		confine_memory(workload);
		run = profiler_run(workload, &options, &draft, err);
	}
	if (run)
		report = report_write_run(run);
	ok = run && send_result(fd, report, err);
	if (run && !ok && err->code == ERR_NONE)
		err_set(err, ERR_IO, "the samples could not be sent");
	json_decref(report);
	report_draft_finish(&draft);
	workload_destroy(workload);
	return ok;
}

static bool run_job(int fd, const struct worker_flags *f, json_t *job, bool check,
		    const struct registry *registry, struct err *err)
{
	bool blocking = f->blocking;
	const char *cache_dir = f->cache_dir;
	struct running_job running = { fd, f, job };
	struct profiler_options options = { .timing = !blocking,
					    .passes = !blocking,
					    .cache_dir = cache_dir,
					    .version = breakeven_version(),
					    .progress = send_progress,
					    .point = send_point,
					    .timeline = send_block,
					    .torch_python = f->torch_python,
					    .torch_confined = true,
					    .torch_host = f->torch_host,
					    .wall_s = f->cpu_seconds / WORKER_CPU_PER_WALL -
						      TORCH_SPARE_S,
					    .again = f->beside ? time_again : NULL,
					    .self = &running };
	struct workload *workload = NULL;
	struct report_draft draft = { 0 };
	const struct report_run *report = NULL;
	bool ok = false;

	if (check)
		heap_take();
	else
		heap_take_for(json_string_value(json_object_get(job, "device")));
	workload = workload_parse_in(job, registry, err);
	if (workload && f->files_folder && !workload_weights_in(workload, f->files_folder, err)) {
		workload_destroy(workload);
		workload = NULL;
	}
	if (workload)
		confine_memory(workload);
	if (workload && check)
		ok = explain_job(fd, workload, err);
	else if (workload)
		report = profiler_run_engines(workload, &options, &draft, err);
	if (workload && !check && !report)
		beside_locate(f->beside, job, err);
	if (report) {
		cache_log(report);
		ok = send_report(fd, report, err);
	}
	report_draft_finish(&draft);
	workload_destroy(workload);
	return ok;
}

/* Reads the log that the server sends after its name.  It comes whole: the server does not
 * listen while it sends. */
static bool import_job(int fd, struct message_reader *reader, const char *name, struct err *err)
{
	struct import *im = import_create(send_block, &fd, IMPORT_MAX_UNPACKED_BYTES, err);
	enum message_type type;
	json_t *report = NULL;
	char *log = NULL;
	size_t len = 0;
	bool ok = im && import_begin(im, name, err) &&
		  read_message(reader, fd, &type, &log, &len, err);

	if (ok && type != MESSAGE_LOG)
		ok = err_set(err, ERR_INTERNAL, "no log followed its name");
	for (size_t at = 0; ok && at < len; at += FEED_BYTES) {
		size_t n = len - at < FEED_BYTES ? len - at : FEED_BYTES;

		ok = import_feed(im, log + at, n, err);
		if (ok &&
		    !send_progress(&fd, (double)(at + n) / (double)len, "reading the log", -1))
			ok = err_set(err, ERR_IO, "the server is gone");
	}
	if (ok && import_end(im, err))
		report = import_finish(im, err);
	ok = report && send_result(fd, report, err);
	if (report && !ok && err->code == ERR_NONE)
		err_set(err, ERR_IO, "what was read could not be sent to the server");
	json_decref(report);
	import_destroy(im);
	return ok;
}

/* A text of what is asked of a file of results; NULL: it does not say. */
static const char *asked_text(const json_t *asked, const char *key)
{
	return json_string_value(json_object_get(asked, key));
}

/* Reads the file of results that the server sends after what it asks. */
static bool results_job(int fd, struct message_reader *reader, const json_t *asked, struct err *err)
{
	const struct results_request request = { .file = asked_text(asked, "file"),
						 .name = asked_text(asked, "name"),
						 .project = asked_text(asked, "project"),
						 .commit = asked_text(asked, "commit"),
						 .branch = asked_text(asked, "branch"),
						 .machine = asked_text(asked, "machine") };
	enum message_type type;
	json_t *results = NULL;
	char *file;
	size_t len;
	bool ok = read_message(reader, fd, &type, &file, &len, err);

	if (ok && type != MESSAGE_LOG)
		ok = err_set(err, ERR_INTERNAL, "no file followed what is asked of it");
	if (ok)
		results = results_read(file, len, &request, err);
	ok = results && send_result(fd, results, err);
	if (results && !ok && err->code == ERR_NONE)
		err_set(err, ERR_IO, "what was read could not be sent to the server");
	json_decref(results);
	return ok;
}

struct exporting {
	int fd;
	struct message_reader *reader;
};

/* Those of the run, one by one, from the server. */
static bool ask_for_blocks(void *self, int64_t kind, timeline_block_fn *each, void *each_self,
			   struct err *err)
{
	struct exporting *e = self;
	enum message_type type;
	char text[24], *block;
	size_t len;
	bool ok;

	snprintf(text, sizeof(text), "%lld", (long long)kind);
	ok = message_send(e->fd, MESSAGE_BLOCKS, text, strlen(text), err);
	while (ok && (ok = read_message(e->reader, e->fd, &type, &block, &len, err))) {
		if (type == MESSAGE_BLOCKS)
			break;
		ok = each(each_self, block, len, err) &&
		     message_send(e->fd, MESSAGE_MORE, "", 0, err);
	}
	return ok;
}

static bool send_part(void *self, const void *bytes, size_t len, struct err *err)
{
	struct exporting *e = self;

	return message_send(e->fd, MESSAGE_PART, bytes, len, err);
}

/* Of what the server says of a run (order_of() in api_export.c); texts are those of `order`. */
static bool read_order(json_t *order, struct export_run *run, struct export_query *q,
		       const char **format)
{
	json_int_t id, created_ns, n, t0, t1, graph;
	int has_n, has_window, redact, redacted;
	json_t *query, *workload = NULL, *report = NULL, *environment = NULL;

	if (json_unpack(order,
			"{s:s, s:o, s:I, s:I, s?s, s?s, s?s, s?s, s?s, s?s, s?s, s?s, s:i, s:i, "
			"s:b, s?o, s?o, s?o}",
			"format", format, "query", &query, "id", &id, "created_ns", &created_ns,
			"name", &run->name, "project", &run->project, "status", &run->status,
			"device", &run->device, "commit", &run->commit, "branch", &run->branch,
			"error", &run->error, "error_code", &run->error_code, "error_line",
			&run->error_line, "error_column", &run->error_column, "redacted", &redacted,
			"workload", &workload, "report", &report, "environment",
			&environment) != 0 ||
	    json_unpack(query, "{s?s, s:b, s:I, s:b, s:I, s:I, s?s, s:I, s:b}", "mode", &q->mode,
			"has_n", &has_n, "n", &n, "has_window", &has_window, "t0", &t0, "t1", &t1,
			"table", &q->table, "graph", &graph, "redact", &redact) != 0)
		return false;
	run->id = id;
	run->created_ns = created_ns;
	run->redacted = redacted;
	run->workload = workload;
	run->report = report;
	run->environment = environment;
	q->has_n = has_n;
	q->n = n;
	q->has_window = has_window;
	q->t0_ns = t0;
	q->t1_ns = t1;
	q->graph = graph;
	q->redact = redact;
	return true;
}

static bool export_job(int fd, struct message_reader *reader, json_t *order, struct err *err)
{
	struct exporting e = { fd, reader };
	struct export_run run = { .version = breakeven_version(),
				  .blocks = ask_for_blocks,
				  .store = &e };
	struct export_query q = { 0 };
	const json_t *select = json_object_get(order, "select");
	const struct export_format *format;
	const char *name;

	if (!read_order(order, &run, &q, &name))
		return err_set(err, ERR_INTERNAL, "the order of an export is not whole");
	format = export_format_find(name, err);
	if (!format || !(select ? query_write(&run, select, send_part, &e, err)
				: export_write(format, &run, &q, send_part, &e, err)))
		return false;
	if (memory_refused())
		return memory_refused_error(err, "the export");
	return message_send(fd, MESSAGE_REPORT, "{}", 2, err);
}

static bool do_job(int fd, const struct worker_flags *f, const struct registry *registry,
		   struct err *err)
{
	struct message_reader reader = { 0 };
	enum message_type kind;
	json_t *job = NULL;
	char *text, *name;
	size_t len;
	bool ok = read_message(&reader, fd, &kind, &text, &len, err);

	if (ok && (kind == MESSAGE_IMPORT || kind == MESSAGE_EXPORT || kind == MESSAGE_RESULTS))
		confine_memory(NULL);
	if (ok && kind == MESSAGE_IMPORT) {
		name = strdup(text);
		ok = name ? import_job(fd, &reader, name, err)
			  : err_set(err, ERR_MEMORY, "out of memory for a log");
		free(name);
		message_reader_finish(&reader);
		return ok;
	}
	if (ok)
		job = json_loadb(text, len, 0, NULL);
	ok = ok && (job || err_set(err, ERR_JSON, "the job is not JSON"));
	if (ok && kind == MESSAGE_EXPORT)
		ok = export_job(fd, &reader, job, err);
	if (ok && kind == MESSAGE_RESULTS)
		ok = results_job(fd, &reader, job, err);
	message_reader_finish(&reader);
	if (ok && kind == MESSAGE_FIT)
		ok = fit_job(fd, job, registry, err);
	else if (ok && kind == MESSAGE_AGAIN)
		ok = again_job(fd, f, job, registry, err);
	else if (ok && kind != MESSAGE_EXPORT && kind != MESSAGE_RESULTS)
		ok = run_job(fd, f, job, kind == MESSAGE_CHECK, registry, err);
	json_decref(job);
	return ok;
}

/* -1 to go on, else the exit status. */
static int read_flags(int argc, char **argv, struct worker_flags *f)
{
	const char *cpu_seconds = NULL;
	const struct flag table[] = {
		{ "--cache", .value = &f->cache_dir },
		{ "--files", .value = &f->files_folder },
		{ "--tmp", .value = &f->tmp },
		{ "--torch-python", .value = &f->torch_python },
		{ "--torch-host", .value = &f->torch_host },
		{ "--cpu-seconds", .value = &cpu_seconds },
		{ "--blocking", .on = &f->blocking },
		{ "--compiles", .on = &f->compiles },
		{ "--device", .on = &f->device },
		{ "--torch", .on = &f->torch },
		{ "--second", .on = &f->second },
		{ "--yield", .on = &f->yields },
	};
	struct flags flags = {
		.command = "worker",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
	};
	long long seconds = f->cpu_seconds;
	int status = flags_read(&flags, argc, argv);

	if (status >= 0)
		return status;
	if (!flags_integer("worker", "--cpu-seconds", cpu_seconds, 1, INT_MAX, &seconds))
		return EXIT_USAGE;
	f->cpu_seconds = (int)seconds;
	if (f->tmp)
		setenv("TMPDIR", f->tmp, 1);
	if (f->blocking)
		setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	return -1;
}

int cmd_worker(int argc, char **argv, const struct registry *registry)
{
	struct worker_flags f = { .cpu_seconds = WORKER_WALL_S * WORKER_CPU_PER_WALL };
	struct err err = { 0 };
	int status = read_flags(argc, argv, &f);
	bool done;

	if (status >= 0)
		return status;
	done = sandbox(&f, registry, &err) && do_job(WORKER_FD, &f, registry, &err);
	beside_stop(f.beside);
	if (done)
		return EXIT_DONE;
	if (!send_error(WORKER_FD, &err))
		fprintf(stderr, "breakeven worker: %s\n", err.message);
	return EXIT_FAILED;
}
