/* server/queue/suite_run.h -- the runs of a suite, one after the other, without a server. */
#ifndef SERVER_SUITE_RUN_H
#define SERVER_SUITE_RUN_H

#include <signal.h>

#include "server/queue/suite_plan.h"

struct arena;
struct db;
struct jobs;

struct suite_options {
	int run_seconds;                 /* wall time of one run */
	const char *db;                  /* the store that keeps its runs; NULL: none does */
	const char *cache_dir;           /* compiled kernels; NULL: none */
	const struct registry *registry; /* whose plugins the workers load; NULL: none */
	const char *torch_python;        /* NULL: engine torch is switched off */
	/* A few times a second: how many runs have ended, of how many, and which is under
	 * way. */
	void (*progress)(void *self, int done, int of, const char *name, const char *policy);
	void *self;
	const volatile sig_atomic_t *interrupted; /* when set, what is left is cancelled */
};

/* Runs all jobs of a plan as a server would, each in a process of its own, so that none can
 * end the suite.  The report (profiler/suite/suite.h) with the machine and the request, and the
 * `suite` of a store that is kept; new.  NULL with STORAGE, IO or MEMORY. */
json_t *suite_run(const struct suite_plan *plan, const struct suite_options *options,
		  struct err *err);

/* Cancels the runs of a suite that wait or run, the queue from its end on, so that none
 * begins meanwhile. */
bool suite_cancel(struct db *db, struct jobs *jobs, int64_t id, struct arena *arena,
		  struct err *err);

#endif
