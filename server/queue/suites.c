/* server/queue/suites.c -- the runs of a suite: queued, run without a server, cancelled, and read
 * from the store as one report. */
#include "server/queue/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/vec.h"
#include "fusion/fusion.h"
#include "profiler/suite/suite.h"
#include "server/queue/likeness.h"

/* ---- into the store ---- */

/* What the row of a job says; of one that is no workload, and is not run either, what the suite
 * asked for. */
static const struct report_workload *fields_of(const struct suite_plan *plan,
					       const struct suite_job *job, struct arena *arena)
{
	struct report_workload *w = report_read_workload(job->json, arena, NULL);

	if (w || !(w = report_new_workload(1, arena)))
		return w;
	REPORT_SET(w, modes, plan->asked->modes);
	REPORT_SET(w, project, plan->asked->project);
	REPORT_SET(w, device, plan->asked->device);
	REPORT_SET(w, tags, plan->asked->tags);
	REPORT_SET(w, commit, plan->asked->commit);
	REPORT_SET(w, branch, plan->asked->branch);
	return w;
}

static bool fill_member(struct arena *arena, const struct suite_plan *plan,
			const struct suite_job *job, struct suite_member *out)
{
	const struct report_workload *w = fields_of(plan, job, arena);
	const char *text = row_text(arena, json_incref(job->json));

	*out = (struct suite_member){ .workload = job->workload, .policy = job->policy };
	if (text && w) {
		out->run = enqueue_row(arena, w, plan->names[job->workload]);
		out->run.workload = text;
		out->run.error = job->wrong;
	}
	return out->run.workload != NULL;
}

/* The names of the workloads as JSON. */
static json_t *names_json(const struct suite_plan *plan)
{
	json_t *list = json_array();

	for (int i = 0; i < plan->n_workloads; i++)
		json_array_append_new(list, json_string(plan->names[i]));
	return list;
}

bool suite_store_plan(struct db *db, const struct suite_plan *plan, const char *author,
		      struct suite_stored *out, struct err *err)
{
	struct arena arena = { 0 };
	struct suite_member *members = ARENA_ARRAY(&arena, struct suite_member,
						   (size_t)plan->n_jobs + 1);
	struct suite suite = { .name = plan->name,
			       .project = plan->asked->project,
			       .again = plan->asked->again,
			       .workloads = row_text(&arena, names_json(plan)),
			       .request = row_text(&arena, json_incref(plan->request)) };
	bool ok = members && suite.workloads && suite.request;

	for (int i = 0; ok && i < plan->n_jobs; i++) {
		ok = fill_member(&arena, plan, &plan->jobs[i], &members[i]);
		members[i].run.author = author;
	}
	ok = ok && likeness_fill(plan, members, &arena);
	if (!ok)
		err_set(err, ERR_MEMORY, "out of memory for a suite");
	else
		ok = db_suite_insert(db, &suite, members, (size_t)plan->n_jobs, err);
	*out = (struct suite_stored){ suite.id, suite.kept };
	arena_finish(&arena);
	return ok;
}

/* ---- out of it, as a report ---- */

static struct suite_result from_row(const struct run_result *r, const struct suite_member *m)
{
	struct suite_result out = {
		.workload = (int)m->workload,
		.run = r->run,
		.kept_ns = m->kept ? m->run.created_ns : 0,
		.engine = r->engine,
		/* torch has but one policy, whatever run it was part of */
		.policy = strcmp(r->engine, "torch") == 0 ? "dynamo" : m->policy,
		.mode = r->mode,
		.reason = r->reason,
		.speedup = { r->speedup_lo, r->speedup, r->speedup_hi },
		.median_us = r->median_us,
		.compile_ms = r->compile_ms,
		.launches = r->launches,
		.peak_bytes = r->peak_bytes,
		.max_abs_error = r->max_abs_error,
		.graphs = (int)r->graphs,
		.capture_breaks = (int)r->capture_breaks,
		.lowering_breaks = (int)r->lowering_breaks,
		.recompiles = (int)r->recompiles,
	};

	suite_status_from_name(r->status, &out.status);
	return out;
}

struct collected {
	VEC(struct suite_result) results;
	int n_workloads;
};

static bool add(struct collected *c, struct suite_result r)
{
	return r.workload < 0 || r.workload >= c->n_workloads || VEC_PUSH(&c->results, r);
}

/* A run that has no results of its own has one for each of its modes. */
static bool add_without(struct collected *c, const struct suite_member *m, struct arena *arena)
{
	enum suite_status status = m->run.status == RUN_CANCELLED ? SUITE_CANCELLED
				   : m->run.status == RUN_FAILED  ? SUITE_FAILED
								  : SUITE_WAITING;
	const char *reason = NULL, *rest = m->run.modes;
	struct suite_result results[FUSION_MODE_COUNT];
	const char *modes[FUSION_MODE_COUNT];
	size_t n_modes = 0;
	bool ok = true;
	int n;

	if (status == SUITE_FAILED && m->run.error.line > 0)
		reason = arena_printf(arena, "line %d: %s", m->run.error.line,
				      m->run.error.message);
	else if (status == SUITE_FAILED)
		reason = m->run.error.message;
	for (; *rest && n_modes < FUSION_MODE_COUNT; rest += *rest == ',') {
		modes[n_modes++] = arena_strndup(arena, rest, strcspn(rest, ","));
		rest += strcspn(rest, ",");
	}
	n = suite_results_of_failure(&(struct suite_failure){ .modes = { modes, n_modes },
							      .policy = m->policy,
							      .workload = (int)m->workload,
							      .run = m->run.id,
							      .status = status,
							      .reason = reason },
				     arena, results, FUSION_MODE_COUNT);
	for (int i = 0; ok && i < n; i++)
		ok = add(c, results[i]);
	return ok;
}

static bool collect(struct collected *c, struct db *db, int64_t id, struct arena *arena,
		    struct err *err)
{
	struct suite_contents in;
	const struct run_result *rows;
	const struct suite_member *members;
	bool ok = true;
	int at = 0;

	if (!db_suite_members(db, id, arena, &in, err))
		return false;
	rows = in.results;
	members = in.members;
	for (int i = 0; ok && i < in.n_members; i++) { /* both ascend by run */
		bool any = false;

		while (at > 0 && rows[at - 1].run == members[i].run.id) /* kept twice */
			at--;
		while (at < in.n_results && rows[at].run < members[i].run.id)
			at++;
		for (; ok && at < in.n_results && rows[at].run == members[i].run.id;
		     at++, any = true)
			if (members[i].run.status == RUN_DONE)
				ok = add(c, from_row(&rows[at], &members[i]));
		if (ok && (!any || members[i].run.status != RUN_DONE))
			ok = add_without(c, &members[i], arena);
	}
	return ok || err_set(err, ERR_MEMORY, "out of memory for the report of a suite");
}

/* The tool of a suite that is a file of results, in the arena; NULL: it is none. */
static const char *tool_of(const struct suite *suite, struct arena *arena)
{
	json_t *request = json_loads(suite->request, 0, NULL);
	const char *tool = json_string_value(json_object_get(request, "result"));
	const char *copy = tool ? arena_strdup(arena, tool) : NULL;

	json_decref(request);
	return copy;
}

static json_t *benchmark_of(const struct run_row *run)
{
	json_t *about = json_loads(run->about, 0, NULL);
	const char *mode = json_string_value(json_object_get(about, "mode"));
	const char *shown = json_string_value(json_object_get(about, "shown"));
	json_t *json = json_pack("{s:I, s:s, s:s, s:s}", "run", (json_int_t)run->id, "name",
				 run->name, "mode", report_text(mode), "shown", report_text(shown));

	if (json && run->summary.mode)
		json_object_set_new(json, "verdict", json_string(run->summary.verdict));
	json_decref(about);
	return json;
}

/* Of a file of results its benchmarks, in place of columns. */
static bool add_benchmarks(json_t *report, const char *tool, struct db *db, int64_t id,
			   struct arena *arena, struct err *err)
{
	json_t *list = json_array(), *said;
	struct suite_contents in;
	const char *many;

	if (!db_suite_members(db, id, arena, &in, err)) {
		json_decref(list);
		return false;
	}
	for (int i = 0; i < in.n_members; i++)
		json_array_append_new(list, benchmark_of(&in.members[i].run));
	many = arena_printf(arena, "%d benchmark%s of %s.", in.n_members,
			    in.n_members == 1 ? "" : "s", tool);
	said = json_pack("[{s:s, s:s}]", "text", report_text(many), "as", "claim");
	json_object_set_new(report, "benchmarks", list);
	return json_object_set_new(report, "sentence", said) == 0 ||
	       err_set(err, ERR_MEMORY, "out of memory for the report of a suite");
}

json_t *suite_stored_report(struct db *db, const struct suite *suite, struct arena *arena,
			    struct err *err)
{
	json_t *names = json_loads(suite->workloads, 0, NULL), *name, *report = NULL;
	size_t n = json_array_size(names), i;
	const char **texts = ARENA_ARRAY(arena, const char *, n + 1);
	struct collected c = { .n_workloads = (int)n };
	const char *tool = tool_of(suite, arena);

	json_array_foreach(names, i, name)
		if (texts)
			texts[i] = json_string_value(name);
	if (!texts)
		err_set(err, ERR_MEMORY, "out of memory for the report of a suite");
	else if (tool || collect(&c, db, suite->id, arena, err))
		report = suite_report(texts, (int)n, c.results.at, (int)c.results.len, err);
	if (report && tool && !add_benchmarks(report, tool, db, suite->id, arena, err)) {
		json_decref(report);
		report = NULL;
	}
	VEC_FREE(&c.results);
	json_decref(names);
	return report;
}

/* cancelled: it has ended, and some of its runs were. */
static const char *status_of(const struct suite *suite)
{
	int64_t ended = suite->counts[RUN_DONE] + suite->counts[RUN_FAILED];

	if (suite->counts[RUN_RUNNING] || (suite->counts[RUN_QUEUED] && ended))
		return "running";
	if (suite->counts[RUN_QUEUED])
		return "queued";
	return suite->counts[RUN_CANCELLED] ? "cancelled" : "done";
}

json_t *suite_stored_head(const struct suite *suite)
{
	json_t *runs = json_object();
	int64_t all = 0, ended = 0;

	for (int i = 0; i < RUN_STATUS_COUNT; i++) {
		json_object_set_new(runs, run_status_name((enum run_status)i),
				    json_integer(suite->counts[i]));
		all += suite->counts[i];
		ended += i > RUN_RUNNING ? suite->counts[i] : 0;
	}
	return json_pack("{s:I, s:s, s:s, s:I, s:s, s:f, s:o, s:I, s:o}", "id",
			 (json_int_t)suite->id, "name", suite->name, "project", suite->project,
			 "created_ns", (json_int_t)suite->created_ns, "status", status_of(suite),
			 "progress", all ? (double)ended / (double)all : 1.0, "runs", runs, "kept",
			 (json_int_t)suite->kept, "request", json_loads(suite->request, 0, NULL));
}

/* Adds what a list says of a suite's report, and nothing else of it. */
static bool add_listed(json_t *head, const json_t *report, struct arena *arena, struct err *err)
{
	const struct report_suite_listed *all = report_read_suite_listed(report, arena, err);
	struct report_suite_listed *listed = report_new_suite_listed(1, arena);

	if (!all)
		return false;
	if (listed) {
		REPORT_SET(listed, columns, all->columns);
		REPORT_SET(listed, common, all->common);
	}
	return (listed && json_object_update_new(head, report_write_suite_listed(listed)) == 0) ||
	       err_set(err, ERR_MEMORY, "out of memory for the list of suites");
}

json_t *suite_stored_listed(struct db *db, const struct suite *suite, struct arena *arena,
			    struct err *err)
{
	json_t *report = suite_stored_report(db, suite, arena, err);
	json_t *head = report ? suite_stored_head(suite) : NULL;

	if (head && !add_listed(head, report, arena, err)) {
		json_decref(head);
		head = NULL;
	}
	json_decref(report);
	return head;
}

/* ---- run without a server ---- */

enum { LOOK_US = 100 * 1000 };

bool suite_cancel(struct db *db, struct jobs *jobs, int64_t id, struct arena *arena,
		  struct err *err)
{
	struct suite_contents in;

	if (!db_suite_members(db, id, arena, &in, err))
		return false;
	for (int i = in.n_members - 1; i >= 0; i--) {
		struct err why = { 0 };

		if (in.members[i].run.status > RUN_RUNNING ||
		    jobs_cancel(jobs, in.members[i].run.id, &why) ||
		    why.code == ERR_CONFLICT) /* it has just ended */
			continue;
		*err = why;
		return false;
	}
	return true;
}

/* The job that is under way when so many have ended; those that cannot be run have done so
 * from the start. */
static const struct suite_job *job_at(const struct suite_plan *plan, int done)
{
	for (int i = 0; i < plan->n_jobs; i++)
		done -= plan->jobs[i].wrong.code != ERR_NONE;
	for (int i = 0; i < plan->n_jobs; i++)
		if (plan->jobs[i].wrong.code == ERR_NONE && done-- == 0)
			return &plan->jobs[i];
	return NULL;
}

static void show(const struct suite_plan *plan, const struct suite_options *o, int done)
{
	const struct suite_job *job = job_at(plan, done);

	if (o->progress && job)
		o->progress(o->self, done, plan->n_jobs, plan->names[job->workload], job->policy);
}

/* Until each of its runs has ended. */
static bool await(const struct suite_plan *plan, const struct suite_options *o, struct db *db,
		  struct jobs *jobs, int64_t id, struct err *err)
{
	bool cancelled = false, ok = true, over = false;

	while (ok && !over) {
		struct arena arena = { 0 };
		struct suite suite;

		ok = db_suite_get(db, id, &arena, &suite, err);
		if (ok) {
			int64_t left = suite.counts[RUN_QUEUED] + suite.counts[RUN_RUNNING];

			over = left == 0;
			show(plan, o, plan->n_jobs - (int)left);
		}
		if (ok && !over && *o->interrupted && !cancelled) {
			cancelled = true;
			ok = suite_cancel(db, jobs, id, &arena, err);
		}
		arena_finish(&arena);
		if (ok && !over)
			usleep(LOOK_US);
	}
	return ok;
}

/* The machine, as the first of the runs that came to an end says. */
static json_t *environment_of(struct db *db, int64_t id, struct arena *arena)
{
	struct suite_contents in;
	struct err err = { 0 };
	json_t *found = NULL;
	bool ok = db_suite_members(db, id, arena, &in, &err);

	for (int i = 0; ok && i < in.n_members && !found; i++) {
		struct buf report, environment;

		if (in.members[i].run.status != RUN_DONE)
			continue;
		buf_init(&report, 0);
		buf_init(&environment, 0);
		if (db_report_get(db, in.members[i].run.id, &report, &environment, &err))
			found = json_loadb(environment.data, environment.len, 0, NULL);
		buf_finish(&report);
		buf_finish(&environment);
	}
	return found ? found : json_null();
}

static json_t *report_of(const struct suite_plan *plan, const struct suite_options *o,
			 struct db *db, int64_t id, struct err *err)
{
	struct arena arena = { 0 };
	struct suite suite;
	json_t *report = NULL;

	if (db_suite_get(db, id, &arena, &suite, err))
		report = suite_stored_report(db, &suite, &arena, err);
	if (report) {
		json_object_set_new(report, "name", json_string(plan->name));
		json_object_set(report, "request", plan->request);
		json_object_set_new(report, "environment", environment_of(db, id, &arena));
		if (o->db)
			json_object_set_new(report, "suite", json_integer(id));
		if (suite.kept)
			json_object_set_new(report, "kept", json_integer(suite.kept));
	}
	arena_finish(&arena);
	return report;
}

static json_t *run_in(struct db *db, const struct suite_plan *plan, const struct suite_options *o,
		      struct err *err)
{
	struct jobs_options options = { .cache_dir = o->cache_dir,
					.registry = o->registry,
					.torch_python = o->torch_python,
					.files_folder = o->files_folder,
					.run_seconds = o->run_seconds,
					.quiet = true };
	struct events *events = events_create(NULL, NULL, 0, 0); /* nobody listens */
	struct suite_stored stored = { 0 };
	struct jobs *jobs = NULL;
	json_t *report = NULL;

	if (!events)
		err_set(err, ERR_MEMORY, "out of memory for a suite");
	else if (suite_store_plan(db, plan, "", &stored, err)) {
		options.suite = stored.id;
		jobs = jobs_start(db, events, &options, err);
	}
	if (jobs && await(plan, o, db, jobs, options.suite, err))
		report = report_of(plan, o, db, options.suite, err);
	jobs_stop(jobs);
	events_destroy(events);
	return report;
}

json_t *suite_run(const struct suite_plan *plan, const struct suite_options *options,
		  struct err *err)
{
	struct scratch own = { 0 }; /* for a store that nobody keeps */
	char path[sizeof(own.path) + 8];
	int64_t begin_ns = clock_ns();
	struct db *db = NULL;
	json_t *report = NULL;

	if (options->db || scratch_create(&own, "the suite", err)) {
		snprintf(path, sizeof(path), "%s/runs", own.path);
		db = db_open(options->db ? options->db : path, err);
	}
	if (db)
		report = run_in(db, plan, options, err);
	db_close(db);
	scratch_destroy(&own);
	if (report)
		json_object_set_new(report, "seconds",
				    json_real((double)(clock_ns() - begin_ns) * 1e-9));
	return report;
}
