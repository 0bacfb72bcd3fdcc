/* server/queue/suite_store.c -- see suite_store.h. */
#include "server/queue/suite_store.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "fusion/fusion.h"
#include "profiler/suite/suite.h"
#include "server/queue/enqueue.h"

enum { MOST_OF_RUN = 3 * FUSION_MODE_COUNT };

static struct run_result to_row(const struct suite_result *r)
{
	return (struct run_result){
		.engine = r->engine,
		.policy = r->policy,
		.mode = r->mode,
		.status = suite_status_name(r->status),
		.reason = r->reason,
		.speedup = r->speedup.mid,
		.speedup_lo = r->speedup.low,
		.speedup_hi = r->speedup.high,
		.median_us = r->median_us,
		.compile_ms = r->compile_ms,
		.launches = r->launches,
		.peak_bytes = r->peak_bytes,
		.max_abs_error = r->max_abs_error,
		.graphs = r->graphs,
		.capture_breaks = r->capture_breaks,
		.lowering_breaks = r->lowering_breaks,
		.recompiles = r->recompiles,
	};
}

static struct suite_result from_row(const struct run_result *r, int64_t workload)
{
	struct suite_result out = {
		.workload = (int)workload,
		.run = r->run,
		.engine = r->engine,
		/* torch has but one policy, whatever run it was part of */
		.policy = strcmp(r->engine, "torch") == 0 ? "dynamo" : r->policy,
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

/* ---- in */

static bool fill_member(struct arena *arena, const struct suite_job *job, const char *name,
			struct suite_member *out)
{
	char *text = json_dumps(job->json, JSON_COMPACT);

	*out = (struct suite_member){ .workload = job->workload,
				      .policy = json_string_value(
					  json_object_get(job->json, "policy")) };
	if (!text)
		return false;
	out->run = enqueue_row(arena, job->json, name);
	out->run.workload = arena_strdup(arena, text);
	out->run.error = job->wrong;
	free(text);
	return out->run.workload != NULL;
}

bool suite_store_plan(struct db *db, const struct suite_plan *plan, int64_t *id, struct err *err)
{
	struct arena arena = { 0 };
	struct suite_member *members = ARENA_ARRAY(&arena, struct suite_member,
						   (size_t)plan->n_jobs + 1);
	json_t *request = json_copy(plan->request);
	const char *project = json_string_value(json_object_get(request, "project"));
	char *names = json_dumps(json_object_get(request, "names"), JSON_COMPACT), *text;
	struct suite suite = { .name = plan->name, .project = project, .workloads = names };
	bool ok = members && names;

	json_object_del(request, "names");
	suite.request = text = json_dumps(request, JSON_COMPACT);
	for (int i = 0; ok && i < plan->n_jobs; i++)
		ok = fill_member(&arena, &plan->jobs[i], plan->names[plan->jobs[i].workload],
				 &members[i]);
	if (!ok || !text)
		ok = err_set(err, ERR_MEMORY, "out of memory for a suite");
	else
		ok = db_suite_insert(db, &suite, members, (size_t)plan->n_jobs, err);
	*id = suite.id;
	free(text);
	free(names);
	json_decref(request);
	arena_finish(&arena);
	return ok;
}

bool suite_store_results(struct db *db, int64_t run, const char *report, struct err *err)
{
	struct suite_result results[MOST_OF_RUN];
	struct run_result rows[MOST_OF_RUN];
	struct arena arena = { 0 };
	bool is = false, ok = db_run_in_suite(db, run, &is, err);
	json_t *json = ok && is ? json_loads(report, 0, NULL) : NULL;
	int n = json ? suite_results_of_report(json, 0, run, &arena, results, MOST_OF_RUN) : 0;

	for (int i = 0; i < n; i++)
		rows[i] = to_row(&results[i]);
	if (json)
		ok = db_results_put(db, run, rows, (size_t)n, err);
	json_decref(json);
	arena_finish(&arena);
	return ok;
}

/* ---- out */

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
	json_t *modes = json_array(), *json;
	bool ok = true;
	int n;

	if (status == SUITE_FAILED && m->run.error.line > 0)
		reason = arena_printf(arena, "line %d: %s", m->run.error.line,
				      m->run.error.message);
	else if (status == SUITE_FAILED)
		reason = m->run.error.message;
	for (; *rest; rest += strcspn(rest, ","), rest += *rest == ',')
		json_array_append_new(modes, json_stringn(rest, strcspn(rest, ",")));
	json = json_pack("{s:o, s:s}", "modes", modes, "policy", m->policy);
	n = suite_results_of_failure(json, (int)m->workload, m->run.id, status, reason, arena,
				     results, FUSION_MODE_COUNT);
	json_decref(json);
	for (int i = 0; ok && i < n; i++)
		ok = add(c, results[i]);
	return ok;
}

static bool collect(struct collected *c, struct db *db, int64_t id, struct arena *arena,
		    struct err *err)
{
	struct suite_member *members;
	struct run_result *rows;
	int n_members = 0, n_rows = 0, at = 0;
	bool ok = true;

	if (!db_suite_members(db, id, arena, &members, &n_members, &rows, &n_rows, err))
		return false;
	for (int i = 0; ok && i < n_members; i++) { /* both ascend by run */
		bool any = false;

		while (at < n_rows && rows[at].run < members[i].run.id)
			at++;
		for (; ok && at < n_rows && rows[at].run == members[i].run.id; at++, any = true)
			if (members[i].run.status == RUN_DONE)
				ok = add(c, from_row(&rows[at], members[i].workload));
		if (ok && (!any || members[i].run.status != RUN_DONE))
			ok = add_without(c, &members[i], arena);
	}
	return ok || err_set(err, ERR_MEMORY, "out of memory for the report of a suite");
}

json_t *suite_stored_report(struct db *db, const struct suite *suite, struct arena *arena,
			    struct err *err)
{
	json_t *names = json_loads(suite->workloads, 0, NULL), *name, *report = NULL;
	size_t n = json_array_size(names), i;
	const char **texts = ARENA_ARRAY(arena, const char *, n + 1);
	struct collected c = { .n_workloads = (int)n };

	json_array_foreach(names, i, name) if (texts) texts[i] = json_string_value(name);
	if (!texts)
		err_set(err, ERR_MEMORY, "out of memory for the report of a suite");
	else if (collect(&c, db, suite->id, arena, err))
		report = suite_report(texts, (int)n, c.results.at, (int)c.results.len, err);
	VEC_FREE(&c.results);
	json_decref(names);
	return report;
}

const char *suite_stored_status(const struct suite *suite)
{
	int64_t ended = suite->counts[RUN_DONE] + suite->counts[RUN_FAILED];

	if (suite->counts[RUN_RUNNING] || (suite->counts[RUN_QUEUED] && ended))
		return "running";
	if (suite->counts[RUN_QUEUED])
		return "queued";
	return suite->counts[RUN_CANCELLED] ? "cancelled" : "done";
}
