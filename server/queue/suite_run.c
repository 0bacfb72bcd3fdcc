/* server/queue/suite_run.c -- see suite_run.h. */
#include "server/queue/suite_run.h"

#include <stdio.h>
#include <unistd.h>

#include "db/db.h"
#include "fusion/base/clock.h"
#include "fusion/base/scratch.h"
#include "profiler/suite/suite.h"
#include "server/queue/events.h"
#include "server/queue/jobs.h"
#include "server/queue/suite_store.h"

enum { LOOK_US = 100 * 1000 };

bool suite_cancel(struct db *db, struct jobs *jobs, int64_t id, struct arena *arena,
		  struct err *err)
{
	struct suite_member *members;
	struct run_result *results;
	int n = 0, n_results = 0;

	if (!db_suite_members(db, id, arena, &members, &n, &results, &n_results, err))
		return false;
	for (int i = n - 1; i >= 0; i--) {
		struct err why = { 0 };

		if (members[i].run.status > RUN_RUNNING ||
		    jobs_cancel(jobs, members[i].run.id, &why) ||
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
		o->progress(o->self, done, plan->n_jobs, plan->names[job->workload],
			    json_string_value(json_object_get(job->json, "policy")));
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
	struct suite_member *members;
	struct run_result *results;
	struct err err = { 0 };
	json_t *found = NULL;
	int n = 0, n_results = 0;

	if (!db_suite_members(db, id, arena, &members, &n, &results, &n_results, &err))
		n = 0;
	for (int i = 0; i < n && !found; i++) {
		struct buf report, environment;

		if (members[i].run.status != RUN_DONE)
			continue;
		buf_init(&report, 0);
		buf_init(&environment, 0);
		if (db_report_get(db, members[i].run.id, &report, &environment, &err))
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
					.run_seconds = o->run_seconds,
					.quiet = true };
	struct events *events = events_create(NULL, NULL); /* nobody listens */
	struct jobs *jobs = NULL;
	json_t *report = NULL;

	if (!events)
		err_set(err, ERR_MEMORY, "out of memory for a suite");
	else if (suite_store_plan(db, plan, &options.suite, err))
		jobs = jobs_start(db, events, &options, err);
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
