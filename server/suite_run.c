/* server/suite_run.c -- see suite_run.h. */
#include "server/suite_run.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/vec.h"
#include "fusion/fusion.h"
#include "profiler/suite.h"
#include "server/worker.h"

enum { LOOK_MS = 200 };

struct suite {
	const struct suite_options *options;
	VEC(struct suite_result) results;
	struct arena arena; /* their texts */
	json_t *environment;
};

/* Takes in one message: a report, an error, the machine. */
static void take(struct suite *s, enum message_type type, const char *text, size_t len,
		 json_t **report, struct err *failure)
{
	if (type == MESSAGE_ERROR) {
		message_error(text, failure);
	} else if (type == MESSAGE_REPORT) {
		json_decref(*report);
		*report = json_loadb(text, len, 0, NULL);
	} else if (type == MESSAGE_ENVIRONMENT && !s->environment) {
		s->environment = json_loadb(text, len, 0, NULL);
	}
}

/* Listens to a worker until it is done, its time is up or someone interrupts. */
static json_t *hear(struct suite *s, struct worker *w, struct err *failure)
{
	struct message_reader reader = { 0 };
	int64_t end_ns = clock_ns() + (int64_t)s->options->run_seconds * 1000000000;
	json_t *report = NULL;
	bool over = false, bad = false;

	while (!over && !bad) {
		struct pollfd fd = { .fd = w->fd, .events = POLLIN };
		enum message_type type;
		char *text;
		size_t len;
		long n;

		if (*s->options->interrupted) {
			err_set(failure, ERR_CANCELLED, "interrupted");
			break;
		}
		if (clock_ns() > end_ns) {
			err_set(failure, ERR_WORKER, "the run took over %d s, the limit of one run",
				s->options->run_seconds);
			break;
		}
		if (poll(&fd, 1, LOOK_MS) < 0 && errno != EINTR)
			break;
		n = fd.revents ? message_fill(&reader, w->fd) : -2;
		over = n == 0 || n == -1;
		while (n > 0 && message_next(&reader, &type, &text, &len, &bad))
			take(s, type, text, len, &report, failure);
	}
	message_reader_finish(&reader);
	return report;
}

/* The report of a workload that was run by a worker; NULL with *failure. */
static json_t *run_job(struct suite *s, const json_t *json, struct err *failure)
{
	const struct worker_options options = {
		.cpu_seconds = s->options->run_seconds * WORKER_CPU_PER_WALL,
		.registry = s->options->registry,
		.torch_python = s->options->torch_python,
	};
	char *text = json_dumps(json, JSON_COMPACT);
	struct err end = { 0 };
	struct worker worker;
	json_t *report = NULL;
	bool clean;

	if (!text)
		err_set(failure, ERR_MEMORY, "out of memory for a workload");
	else if (worker_start(&worker, &options, MESSAGE_WORKLOAD, text, failure)) {
		report = hear(s, &worker, failure);
		worker_reap(&worker, !report, &clean, &end);
	}
	free(text);
	if (!report && failure->code == ERR_NONE)
		*failure = end;
	if (!report && failure->code == ERR_NONE)
		err_set(failure, ERR_WORKER, "the worker ended without a report");
	return report;
}

static bool add_results(struct suite *s, const struct suite_job *job, const json_t *report,
			const struct err *failure, struct err *err)
{
	struct suite_result results[3 * FUSION_MODE_COUNT];
	enum { MOST = sizeof(results) / sizeof(results[0]) };
	enum suite_status status = failure->code == ERR_CANCELLED ? SUITE_CANCELLED : SUITE_FAILED;
	const char *reason = failure->line > 0 ? arena_printf(&s->arena, "line %d: %s",
							      failure->line, failure->message)
					       : failure->message;
	int n = report ? suite_results_of_report(report, job->workload, 0, &s->arena, results, MOST)
		       : suite_results_of_failure(job->json, job->workload, 0, status, reason,
						  &s->arena, results, MOST);

	for (int i = 0; i < n; i++)
		if (!VEC_PUSH(&s->results, results[i]))
			return err_set(err, ERR_MEMORY, "out of memory for a suite");
	return true;
}

static bool run_one(struct suite *s, const struct suite_job *job, struct err *err)
{
	struct err failure = job->wrong;
	json_t *report = NULL;
	bool ok;

	if (*s->options->interrupted)
		err_set(&failure, ERR_CANCELLED, "interrupted");
	else if (failure.code == ERR_NONE)
		report = run_job(s, job->json, &failure);
	ok = add_results(s, job, report, &failure, err);
	json_decref(report);
	return ok;
}

json_t *suite_run(const struct suite_plan *plan, const struct suite_options *options,
		  struct err *err)
{
	struct suite s = { .options = options };
	int64_t begin_ns = clock_ns();
	json_t *report = NULL;
	bool ok = true;

	for (int i = 0; ok && i < plan->n_jobs; i++) {
		const struct suite_job *job = &plan->jobs[i];

		if (options->progress)
			options->progress(options->self, i, plan->n_jobs,
					  plan->names[job->workload],
					  json_string_value(json_object_get(job->json, "policy")));
		ok = run_one(&s, job, err);
	}
	if (ok)
		report = suite_report(plan->names, plan->n_workloads, s.results.at,
				      (int)s.results.len, err);
	if (report) {
		json_object_set_new(report, "name", json_string(plan->name));
		json_object_set(report, "request", plan->request);
		json_object_set(report, "environment", s.environment ? s.environment : json_null());
		json_object_set_new(report, "seconds",
				    json_real((double)(clock_ns() - begin_ns) * 1e-9));
	}
	json_decref(s.environment);
	VEC_FREE(&s.results);
	arena_finish(&s.arena);
	return report;
}
