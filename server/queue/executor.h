/* server/queue/executor.h -- how jobs get to other machines.
 *
 * An executor is handed a script for sh, which calls `breakeven job` there; that process takes its
 * run from the server and posts back what its worker says (hosts.c).  So an executor knows nothing
 * of runs: it begins a script, says how that is, and ends it.
 */
#ifndef SERVER_QUEUE_EXECUTOR_H
#define SERVER_QUEUE_EXECUTOR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "profiler/fields/fields.h"

struct executor;

/* A row of the file of `serve --hosts`; texts are the file's. */
struct host {
	const char *name;
	const struct executor *executor;
	const struct report_host *settings;
};

/* n alike: the script is told which one it is by SLURM_ARRAY_TASK_ID, from 0 on. */
struct handed_script {
	const char *path, *name;
	int n;
};

enum job_standing {
	JOB_WAITS,
	JOB_RUNS,
	JOB_OVER,    /* it has ended, or the executor knows no such job */
	JOB_STOPPED, /* somebody ended it there */
	JOB_LIMITED, /* it took more time or memory than it may: it is not tried again */
};

struct followed_job {
	const char *job;
	enum job_standing standing;
	const char *said; /* in the executor's words; in the arena */
};

struct executor {
	const char *name, *title;
	bool several; /* it takes scripts of n > 1 */
	/* Whether the settings have what it needs; BAD_REQUEST. */
	bool (*check)(const struct host *h, struct err *err);
	/* What it calls the job; of several, what the first is called up to its number.  IO. */
	bool (*submit)(const struct host *h, const struct handed_script *script,
		       struct arena *arena, const char **job, struct err *err);
	/* Fills standing and said of each.  IO: nothing is known. */
	bool (*look)(const struct host *h, struct followed_job *jobs, int n, struct arena *arena,
		     struct err *err);
	/* Ends jobs, whatever state they are in.  IO. */
	bool (*cancel)(const struct host *h, const char *const *jobs, int n, struct err *err);
};

/* Those of the table.  `local`, the server's own queue, is handed nothing. */
#define EXECUTOR(name) extern const struct executor name;
#include "server/queue/executors.def"
#undef EXECUTOR

/* Runs a command for at most a minute; its output is in the arena.  False with IO: it cannot be
 * started, takes longer, or ends with another status than 0, and its output is in the message. */
bool executor_call(const char *const *argv, struct arena *arena, const char **output,
		   struct err *err);

#endif
