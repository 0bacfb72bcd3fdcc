/* server/queue/suite_plan.h -- what a suite asks for, as the runs that answer it.
 *
 * A request is {"name", "workloads": [workload, or {"name", "error"} where its file could
 * not be read], "suite": "blocks" in place of workloads for those that come with the
 * program, "modes", "policy": "dynamo", "native" or "both", "device", "backend",
 * "threads", "seconds", "engines", "project", "tags", "commit", "branch"}.  Its fields go over
 * those of each workload.  A job is one workload under one policy: one run.
 */
#ifndef SERVER_SUITE_PLAN_H
#define SERVER_SUITE_PLAN_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"

struct registry;

/* Seconds of sampling of a run, where the request does not say them. */
#define SUITE_SECONDS 0.3

enum { SUITE_MAX_JOBS = 1000 }; /* what the queue of a server holds */

struct suite_job {
	int workload;     /* its place, from 0 */
	json_t *json;     /* the workload, with modes and policy; owned */
	struct err wrong; /* why it cannot be run; ERR_NONE: it can */
};

struct suite_plan {
	const char *name;   /* of the request, or of the suite */
	json_t *request;    /* without its workloads; owned */
	const char **names; /* of the workloads, each but once */
	int n_workloads;
	struct suite_job *jobs; /* by workload, then by policy */
	int n_jobs;
};

/* Checks the request and each workload: what is wrong with a workload is its job's
 * business alone.  False with BAD_REQUEST or BOUND. */
bool suite_plan_make(struct suite_plan *plan, const json_t *request,
		     const struct registry *registry, struct err *err);
void suite_plan_finish(struct suite_plan *plan); /* zeroed is fine */

/* The workloads of the suite that comes with the program; NULL with why not. */
json_t *suite_blocks(struct err *err);

#endif
