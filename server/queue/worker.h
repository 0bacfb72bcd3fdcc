/* server/queue/worker.h -- a worker process, seen from the server. */
#ifndef SERVER_WORKER_H
#define SERVER_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "fusion/base/err.h"
#include "fusion/base/scratch.h"
#include "fusion/session/registry.h"
#include "server/queue/message.h"

enum {
	WORKER_FD = 3,           /* the socket in the child */
	WORKER_WALL_S = 600,     /* wall seconds of one job, where serve is not told another */
	WORKER_CPU_PER_WALL = 2, /* processor seconds of all threads for each of these */
	WORKER_SEND_S = 20,      /* for it to take its job */
};
#define WORKER_ADDRESS_BYTES ((rlim_t)12 << 30)

struct worker {
	pid_t pid;             /* 0: none */
	int fd;                /* the server's end, non-blocking for reads */
	int cpu_s;             /* its limit of processor seconds */
	struct scratch folder; /* its temporary files; removed when it is reaped */
};

/* Starts this binary again as `worker` and sends it the job: MESSAGE_WORKLOAD
 * to run and measure, MESSAGE_CHECK to explain.  The thread that
 * calls must outlive the worker: its end kills the child. */
struct worker_options {
	const char *cache_dir; /* NULL: none */
	int cpu_seconds;
	const struct registry *registry; /* whose plugins it loads too; NULL: none */
	const char *torch_python;        /* NULL: engine torch is switched off */
	const char *torch_host;          /* the socket of its host; NULL with torch_python */
	bool blocking;                   /* each call once, each launch waited for: see locate.h */
};
bool worker_start(struct worker *w, const struct worker_options *options, enum message_type job,
		  const char *workload, struct err *err);

/* Waits for its end (kill_first: brings that about), ends what it had started,
 * reaps it and closes the socket.  The cause of its
 * end goes to *err ("the worker was killed by signal 11 ...") when it did not
 * exit by itself; *clean says whether it did. */
void worker_reap(struct worker *w, bool kill_first, bool *clean, struct err *err);

#endif
