/* server/worker.h -- a worker process, seen from the server. */
#ifndef SERVER_WORKER_H
#define SERVER_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "fusion/base/err.h"

enum {
	WORKER_FD = 3,       /* the socket in the child */
	WORKER_CPU_S = 1200, /* processor seconds of one job, all threads */
	WORKER_WALL_S = 600, /* wall seconds of one job */
};
#define WORKER_ADDRESS_BYTES ((rlim_t)12 << 30)

struct worker {
	pid_t pid;        /* 0: none */
	int fd;           /* the server's end, non-blocking for reads */
	char folder[256]; /* its temporary files; removed when it is reaped */
};

/* Starts this binary again as `worker` and sends it the job.  The thread that
 * calls must outlive the worker: its end kills the child. */
bool worker_start(struct worker *w, const char *cache_dir, const char *workload, struct err *err);

/* Kills it if it still runs, reaps it and closes the socket.  The cause of its
 * end goes to *err ("the worker was killed by signal 11 ...") when it did not
 * exit by itself; *clean says whether it did. */
void worker_reap(struct worker *w, bool kill_first, bool *clean, struct err *err);

#endif
