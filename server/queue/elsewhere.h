/* server/queue/elsewhere.h -- what hosts.c and dispatch.c share: the machines, and the runs that
 * processes of theirs have. */
#ifndef SERVER_QUEUE_ELSEWHERE_H
#define SERVER_QUEUE_ELSEWHERE_H

#include "server/queue/executor.h"
#include "server/queue/hosts.h"
#include "server/queue/job.h"

enum {
	HOSTS_MOST = 32,
	ATTEMPT_CHARS = 64,
	RUNS_ELSEWHERE = 4096, /* that are looked at */
	JOBS_OF_HOST = 64,     /* at once, where the file does not say */
};

/* A machine, and what was wrong when it was last asked. */
struct host_seat {
	struct host host;
	int64_t most;
	int64_t again_ns; /* no run is handed to it before then */
	char fault[320];  /* "": nothing; guarded by `lock` */
};

/* A run that a process of another machine has. */
struct remote {
	struct remote *next;
	struct job job;
	char attempt[ATTEMPT_CHARS + 1];
	int64_t received; /* bytes of its messages */
	struct message_reader reader;
};

struct hosts {
	struct db *db;
	struct events *events;
	int run_seconds;
	json_t *file; /* which has the texts of settings */
	struct arena arena;
	struct host_seat seats[HOSTS_MOST];
	int n;

	pthread_t thread;
	pthread_mutex_t lock; /* guards what others may ask of jobs, faults, ends, news and
			       * stopping; taken within `turn` */
	pthread_cond_t wake;
	bool news, stopping;
	int64_t ends[JOB_ENDS];

	pthread_mutex_t turn; /* of what changes runs and the list */
	struct remote *first;
};

/* dispatch.c */
void *dispatch_run(void *hosts);

#endif
