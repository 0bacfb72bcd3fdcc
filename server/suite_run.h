/* server/suite_run.h -- the runs of a suite, one after the other, in workers. */
#ifndef SERVER_SUITE_RUN_H
#define SERVER_SUITE_RUN_H

#include <signal.h>

#include "server/suite_plan.h"

struct suite_options {
	int run_seconds;                 /* wall time of one run */
	const struct registry *registry; /* whose plugins the workers load; NULL: none */
	const char *torch_python;        /* NULL: engine torch is switched off */
	/* Before each run: how many are done, of how many, and which is next. */
	void (*progress)(void *self, int done, int of, const char *name, const char *policy);
	void *self;
	const volatile sig_atomic_t *interrupted; /* when set, what is left is cancelled */
};

/* Runs all jobs of a plan, each in a process of its own, so that none can end the suite.
 * The report (profiler/suite.h) with the machine and the request; new.  NULL when out of
 * memory. */
json_t *suite_run(const struct suite_plan *plan, const struct suite_options *options,
		  struct err *err);

#endif
