/* server/cli/cmd_run.c -- `breakeven run FILE`: the job without a server.
 *
 * Flags override fields of the workload before it is parsed, so the report's
 * workload is what was run.  A report is taken as a file too: its workload is
 * run again.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fusion/base/buf.h"
#include "fusion/base/vec.h"
#include "fusion/fusion.h"
#include "profiler/bisect/repository.h"
#include "profiler/export/export.h"
#include "profiler/fields/fields.h"
#include "profiler/profiler.h"
#include "server/cli/cache_log.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/heap.h"
#include "server/cli/interrupt.h"
#include "server/cli/post.h"
#include "server/cli/workload_file.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

/* ---- the commits before it ---- */

enum { TOLD = 500 };

static json_t *parents_of(const char *ids)
{
	json_t *list = json_array();

	while (*ids) {
		size_t len = strcspn(ids, " ");

		json_array_append_new(list, json_stringn(ids, len));
		ids += len + (ids[len] == ' ');
	}
	return list;
}

static bool add_commit(void *self, const struct commit *c, const char *parents, int64_t committed_s)
{
	return json_array_append_new(
		   self, json_pack("{s:s, s:o, s:s, s:s, s:I}", "id", c->id, "parents",
				   parents_of(parents), "subject", c->subject, "author", c->author,
				   "committed_ns", (json_int_t)committed_s * 1000000000)) == 0;
}

/* What git says of the newest commits here; empty where the folder is in no repository.  Asked for
 * before the process confines itself. */
static json_t *commits_here(void)
{
	json_t *list = json_array();
	struct repository here;
	struct err none = { 0 };

	if (list && repository_open(&here, ".", &none))
		repository_log(&here, TOLD, add_commit, list, &none);
	return list;
}

static bool commits_post(struct post *p, const char *project, json_t *commits, struct err *err)
{
	json_t *request = json_pack("{s:s, s:O}", "project", project, "commits", commits);
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	bool ok = text ? post_send(p, "/commits",
				   (struct post_body){ .type = "application/json",
						       .bytes = text,
						       .len = strlen(text) },
				   NULL, err)
		       : err_set(err, ERR_MEMORY, "out of memory for commits");

	json_decref(request);
	free(text);
	return ok;
}

/* ---- the run, posted to a server as a run of its own.
 *
 * It goes as the export that a server would write of it, and comes back by the same way: what
 * POST /imports makes of an export of Breakeven is that run. ---- */

/* Of POST /imports; a longer timeline is left out. */
enum { MOST_BYTES = 64 << 20, TIMELINE_BYTES = 32 << 20 };

struct run_post {
	struct post *post;
	json_t *commits; /* of the current folder */
	VEC(struct buf) blocks;
	size_t bytes; /* of the blocks */
};

static void drop_blocks(struct run_post *p)
{
	for (size_t i = 0; i < p->blocks.len; i++)
		buf_finish(&p->blocks.at[i]);
	VEC_FREE(&p->blocks);
}

static void run_post_destroy(struct run_post *p)
{
	if (!p)
		return;
	drop_blocks(p);
	json_decref(p->commits);
	post_close(p->post);
	free(p);
}

static struct run_post *run_post_create(const char *url, struct err *err)
{
	struct run_post *p = calloc(1, sizeof(*p));

	if (!p) {
		err_set(err, ERR_MEMORY, "out of memory for a post");
		return NULL;
	}
	p->post = post_open(url, err);
	p->commits = p->post ? commits_here() : NULL;
	if (p->post)
		return p;
	run_post_destroy(p);
	return NULL;
}

static bool run_post_block(void *self, const void *block, size_t len, struct err *err)
{
	struct run_post *p = self;
	struct buf copy;

	p->bytes += len;
	if (p->bytes > TIMELINE_BYTES)
		return true;
	buf_init(&copy, len + 1);
	buf_add(&copy, block, len);
	if (!copy.failed && VEC_PUSH(&p->blocks, copy))
		return true;
	buf_finish(&copy);
	return err_set(err, ERR_MEMORY, "out of memory for a timeline");
}

static bool give_blocks(void *store, int64_t kind, timeline_block_fn *each, void *self,
			struct err *err)
{
	const struct run_post *p = store;
	struct timeline_block b;

	for (size_t i = 0; p->bytes <= TIMELINE_BYTES && i < p->blocks.len; i++) {
		const struct buf *block = &p->blocks.at[i];

		if (!timeline_block_read(block->data, block->len, &b, err))
			return false;
		if (b.kind == kind && !each(self, block->data, block->len, err))
			return false;
	}
	return true;
}

static bool add(void *self, const void *bytes, size_t len, struct err *err)
{
	struct buf *out = self;

	buf_add(out, bytes, len);
	return !out->failed ||
	       err_set(err, ERR_TOO_LARGE, "the run has more than %d MiB", (int)(MOST_BYTES >> 20));
}

static bool write_run(struct run_post *p, const struct report_run *of, struct buf *out,
		      struct err *err)
{
	static const struct report_workload nothing;
	const struct report_workload *workload = of->workload ? of->workload : &nothing;
	const struct export_format *format = export_format_find("chrome_gz", err);
	const struct export_query all = { 0 };
	json_t *report = report_write_run(of);
	struct timespec now;
	bool ok;
	struct export_run run = {
		.name = workload->name ? workload->name : "workload",
		.project = report_text(workload->project),
		.status = "done",
		.device = workload->device ? workload->device : "cpu",
		.commit = report_text(workload->commit),
		.branch = report_text(workload->branch),
		.version = breakeven_version(),
		.workload = json_object_get(report, "workload"),
		.report = report,
		.environment = json_object_get(report, "environment"),
		.blocks = give_blocks,
		.store = p,
	};

	clock_gettime(CLOCK_REALTIME, &now);
	run.created_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	ok = report || err_set(err, ERR_MEMORY, "out of memory for a post");
	ok = ok && format && export_write(format, &run, &all, add, out, err);
	json_decref(report);
	return ok;
}

static bool run_post_send(struct run_post *p, const struct report_run *run, int64_t *id,
			  struct err *err)
{
	struct buf out;
	bool ok;

	buf_init(&out, MOST_BYTES);
	ok = write_run(p, run, &out, err) &&
	     post_create(p->post, "/imports",
			 (struct post_body){ .type = "application/octet-stream",
					     .bytes = out.data,
					     .len = out.len },
			 id, err);
	buf_finish(&out);
	return ok;
}

/* ---- the command ---- */

struct run_flags {
	struct workload_file source;
	const char *modes, *device, *backend, *threads, *policy, *at, *cache, *without, *autocast;
	const char *engines, *torch_python, *commit, *branch, *project, *url, *autotune;
	bool json, no_timing, brief, poison;
	long long at_point;    /* what `at` says */
	struct run_post *post; /* to `url`; NULL: it stays here */
	const struct registry *registry;
};

static int read_flags(int argc, char **argv, struct run_flags *f)
{
	struct flag_texts inputs = workload_file_inputs(&f->source);
	struct flag_texts weights = workload_file_weights(&f->source);
	const struct flag table[] = {
		{ "--modes", .value = &f->modes },
		{ "--device", .value = &f->device },
		{ "--at", .value = &f->at },
		{ "--backend", .value = &f->backend },
		{ "--threads", .value = &f->threads },
		WORKLOAD_FILE_FLAGS(&f->source, &inputs, &weights),
		{ "--policy", .value = &f->policy },
		{ "--cache", .value = &f->cache },
		{ "--without", .value = &f->without },
		{ "--autocast", .value = &f->autocast },
		{ "--autotune", .value = &f->autotune },
		{ "--engine", .value = &f->engines },
		{ "--torch-python", .value = &f->torch_python },
		{ "--commit", .value = &f->commit },
		{ "--branch", .value = &f->branch },
		{ "--project", .value = &f->project },
		{ "--post", .value = &f->url },
		{ "--json", .on = &f->json },
		{ "--no-timing", .on = &f->no_timing },
		{ "--brief", .on = &f->brief },
		{ "--poison", .on = &f->poison },
	};
	struct flags flags = {
		.command = "run",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = &f->source.file, .most = 1, .over = "more than one FILE: " },
	};
	int status = flags_read(&flags, argc, argv);

	f->source.n_inputs = inputs.n;
	f->source.n_weights = weights.n;
	if (status < 0 && f->url && (f->no_timing || f->poison)) {
		flags_refuse("run", "--post is for what was measured: leave out ",
			     f->poison ? "--poison" : "--no-timing");
		status = EXIT_USAGE;
	}
	return status >= 0 || (workload_file_check_flags(&f->source, "run") &&
			       device_flag_take("run", &f->device))
		   ? status
		   : EXIT_USAGE;
}

static bool check_backend(const struct run_flags *f)
{
	struct buf names;

	if (!f->backend || fusion_backend_find(f->registry, f->backend) >= 0)
		return true;
	buf_init(&names, 256);
	registry_backend_names(f->registry, &names);
	fprintf(stderr, "breakeven run: --backend %s: one of %s is needed\n", f->backend,
		names.data ? names.data : "interp");
	buf_finish(&names);
	return false;
}

/* "eager,static" as a JSON list; NULL after a message. */
static json_t *parse_list(const char *flag, const char *text, const char *const *allowed)
{
	char *copy = strdup(text), *rest = copy;
	json_t *list = json_array();

	for (char *name; copy && (name = strsep(&rest, ","));) {
		if (!flags_one_of("run", flag, name, allowed)) {
			json_decref(list);
			list = NULL;
			break;
		}
		json_array_append_new(list, json_string(name));
	}
	free(copy);
	return list;
}

static json_t *parse_modes(const char *text)
{
	const char *allowed[FUSION_MODE_COUNT + 1] = { NULL };

	for (int i = 0; i < FUSION_MODE_COUNT; i++)
		allowed[i] = fusion_mode_name((enum fusion_mode)i);
	return parse_list("--modes", text, allowed);
}

static json_t *parse_engines(const struct run_flags *f)
{
	static const char *const engines[] = { "breakeven", "torch", NULL };

	return parse_list("--engine", f->engines, engines);
}

/* The fields that flags put over the workload's; NULL after a message. */
static json_t *flag_fields(const struct run_flags *f)
{
	static const char *const devices[] = { "cpu", "cuda", NULL },
				 *const policies[] = { "dynamo", "native", NULL },
				 *const dtypes[] = { "bfloat16", "float16", "none", NULL },
				 *const tried[] = { "off", "fast", "max", NULL };
	json_t *fields, *modes = NULL, *list = NULL;
	long long threads = 0;

	if (!flags_one_of("run", "--device", f->device, devices) ||
	    !flags_one_of("run", "--policy", f->policy, policies) || !check_backend(f) ||
	    !flags_one_of("run", "--autocast", f->autocast, dtypes) ||
	    !flags_one_of("run", "--autotune", f->autotune, tried) ||
	    !flags_integer("run", "--threads", f->threads, 0, LLONG_MAX, &threads) ||
	    (f->engines && !(list = parse_engines(f))) ||
	    (f->modes && !(modes = parse_modes(f->modes)))) {
		json_decref(list);
		return NULL;
	}
	fields = json_object();
	if (list)
		json_object_set_new(fields, "engines", list);
	if (modes)
		json_object_set_new(fields, "modes", modes);
	if (f->threads)
		json_object_set_new(fields, "threads", json_integer(threads));
	if (f->device)
		json_object_set_new(fields, "device", json_string(f->device));
	if (f->policy)
		json_object_set_new(fields, "policy", json_string(f->policy));
	if (f->backend)
		json_object_set_new(fields, "backend", json_string(f->backend));
	if (f->autocast)
		json_object_set_new(fields, "autocast",
				    strcmp(f->autocast, "none") ? json_string(f->autocast)
								: json_null());
	if (f->autotune)
		json_object_set_new(fields, "autotune", json_string(f->autotune));
	if (f->source.entry)
		json_object_set_new(fields, "entry", json_string(f->source.entry));
	if (f->poison)
		json_object_set_new(fields, "poison", json_true());
	if (f->commit)
		json_object_set_new(fields, "commit", json_string(f->commit));
	if (f->branch)
		json_object_set_new(fields, "branch", json_string(f->branch));
	if (f->project)
		json_object_set_new(fields, "project", json_string(f->project));
	return fields;
}

struct shown {
	bool terminal;
	const volatile sig_atomic_t *interrupted;
	struct run_post *post; /* NULL: it stays here */
	struct beside *beside;
	const json_t *workload;
	bool weights; /* it reads files where they lie */
};

static const struct report_run *time_again(void *self, const struct profiler_again *what,
					   struct report_draft *draft, struct err *err)
{
	const struct shown *shown = self;

	if (!shown->weights)
		return beside_again(shown->beside, shown->workload,
				    &(struct beside_order){ what, shown->interrupted }, draft, err);
	err_set(err, ERR_WORKLOAD, "files of weights are read by one process");
	return NULL;
}

static bool show_progress(void *self, double share, const char *what, double left_s)
{
	const struct shown *shown = self;

	if (shown->terminal) {
		if (left_s >= 0)
			fprintf(stderr, "\r%3.0f %%  %s, %.0f s left\033[K", 100 * share, what,
				left_s);
		else
			fprintf(stderr, "\r%3.0f %%  %s\033[K", 100 * share, what);
	}
	return !*shown->interrupted;
}

static bool keep_block(void *self, const void *block, size_t len, struct err *err)
{
	return run_post_block(((struct shown *)self)->post, block, len, err);
}

static bool send_weights(void *self, const char *path, const char *id, struct err *err)
{
	const struct run_flags *f = self;

	if (!post_weights(f->post->post, path, id, err))
		fprintf(
		    stderr,
		    "breakeven run: weights %s not posted: %s; without them the run cannot be run "
		    "again there\n",
		    path, err->message);
	return err->code == ERR_NONE;
}

/* The run's commit, and those before it: a change that its history shows has its suspects.  A
 * server that does not take them has the run all the same. */
static void tell_commits(const struct run_flags *f, const struct report_run *run)
{
	struct err err = { 0 };

	if (run->workload && json_array_size(f->post->commits) > 0 &&
	    !commits_post(f->post->post, report_text(run->workload->project), f->post->commits,
			  &err))
		fprintf(stderr, "breakeven run: commits not posted: %s\n", err.message);
}

/* Into the server, where that is wanted; false after a message.  A run whose weights the server
 * does not take is posted all the same. */
static bool post_report(struct run_flags *f, const json_t *json, const struct report_run *run)
{
	struct err err = { 0 };
	bool whole;
	int64_t id;

	if (!f->post)
		return true;
	whole = workload_file_each_weights(&f->source, json, send_weights, f, &err);
	err = (struct err){ 0 };
	if (run_post_send(f->post, run, &id, &err))
		fprintf(stderr, "breakeven run: run %lld of %s\n", (long long)id, f->url);
	else
		fprintf(stderr, "breakeven run: not posted: %s\n", err.message);
	tell_commits(f, run);
	return whole && err.code == ERR_NONE;
}

static const struct report_run *execute(const struct run_flags *f, const json_t *json,
					const struct workload *w, struct report_draft *draft,
					struct err *err)
{
	/* The first ends the run at its next call, a second one at once. */
	struct shown shown = { .terminal = isatty(STDERR_FILENO),
			       .interrupted = interrupt_watch(),
			       .post = f->post,
			       .workload = json,
			       .weights = f->source.n_weights > 0 };
	char cache[4096];
	struct profiler_options options = {
		.timing = !f->no_timing,
		.brief = !f->json || f->brief,
		.passes = f->json,
		.only = f->at != NULL,
		.at = f->at_point,
		.cache_dir = f->cache,
		.version = breakeven_version(),
		.torch_python = f->torch_python,
		.torch_confined = !f->source.no_sandbox,
		.progress = show_progress,
		.timeline = f->post ? keep_block : NULL,
		.self = &shown,
	};
	const struct report_run *report = NULL;
	struct worker_options workers = { .cpu_seconds = WORKER_WALL_S * WORKER_CPU_PER_WALL,
					  .registry = f->registry };

	if (workload_wants_torch(w) && !f->torch_python) {
		err_set(err, ERR_NO_DEVICE, TORCH_SWITCHED_OFF);
		return NULL;
	}
	if (!f->cache && default_cache_dir(cache, sizeof(cache)))
		options.cache_dir = cache;
	workers.cache_dir = options.cache_dir;
	if (options.timing || workload_on_device(w))
		shown.beside = beside_start(&workers);
	if (options.timing)
		options.again = time_again;
	if (workload_file_confine(&f->source, w,
				  &(struct workload_file_rights){ .command = "run",
								  .cache_dir = options.cache_dir,
								  .registry = f->registry,
								  .posts = f->post != NULL },
				  err))
		report = profiler_run_engines(w, &options, draft, err);
	if (!report)
		beside_locate(shown.beside, json, err);
	beside_stop(shown.beside);
	if (shown.terminal)
		fprintf(stderr, "\r\033[K");
	return report;
}

/* Logs, prints and posts what was measured. */
static int finish(struct run_flags *f, const json_t *json, const struct report_run *run)
{
	const char *torch = torch_text_error(run);

	cache_log(run);
	if (torch)
		fprintf(stderr, "breakeven run: engine torch: %s\n", torch);
	if (!run_table_show(run, f->json)) {
		fprintf(stderr, "breakeven run: the result could not be written: %s\n",
			strerror(errno));
		return EXIT_FAILED;
	}
	return post_report(f, json, run) && !torch && run_table_agrees(run) ? EXIT_DONE
									    : EXIT_FAILED;
}

int cmd_run(int argc, char **argv, const struct registry *registry)
{
	struct run_flags f = { .registry = registry };
	struct err err = { 0 };
	json_t *fields = NULL, *json = NULL;
	struct workload *w = NULL;
	const struct report_run *run = NULL;
	struct report_draft draft = { 0 };
	bool proposed;
	int status;

	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	if (!flags_integer("run", "--at", f.at, 0, LLONG_MAX, &f.at_point) ||
	    !(fields = flag_fields(&f)))
		return EXIT_USAGE;
	if (f.without && !pass_flag_check(registry, f.without, &err)) {
		json_decref(fields);
		flags_refuse("run", "--without: ", err.message);
		return EXIT_USAGE;
	}
	status = EXIT_FAILED;
	json = workload_file_load(&f.source, &err);
	if (json)
		json_object_update(json, fields);
	f.no_timing |= json_is_true(json_object_get(json, "poison"));
	if (json && !f.no_timing)
		workload_file_commit(json);
	heap_take_for(json_string_value(json_object_get(json, "device")));
	if (json && f.without)
		pass_flag_apply(json, f.without);
	json_decref(fields);
	if (json && f.url && f.no_timing)
		err_set(&err, ERR_WORKLOAD,
			"a workload with poison is not timed, and --post is for what was measured");
	else if (json && f.url)
		f.post = run_post_create(f.url, &err);
	proposed = json && !err.code && workload_file_proposed(&f.source, "run", json, registry);
	if (json && !err.code && !proposed)
		w = workload_file_parse(&f.source, json, f.registry, &err);
	if (w)
		run = execute(&f, json, w, &draft, &err);
	if (proposed)
		status = EXIT_FAILED;
	else if (!run && err.code == ERR_CANCELLED)
		status = EXIT_INTERRUPTED;
	if (!proposed && !run)
		workload_file_error(&f.source, "run", json, f.registry, &err);
	else if (!proposed)
		status = finish(&f, json, run);
	report_draft_finish(&draft);
	workload_destroy(w);
	json_decref(json);
	json_decref(f.source.listed);
	run_post_destroy(f.post);
	return status;
}
