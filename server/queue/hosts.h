/* server/queue/hosts.h -- machines that run jobs for this server.
 *
 *	hosts_start(): reads the file, begins the thread that hands runs over (dispatch.c)
 *	`breakeven job` on the other machine: hosts_job_take(), then hosts_job_messages() until the
 *	run has ended
 *
 * A run of another machine has the status `queued` until a process there takes it.  What that
 * process posts is kept in memory until the run has ended, and stored then, as of a worker of this
 * machine; when the server ends before that, the process posts it once more.
 */
#ifndef SERVER_QUEUE_HOSTS_H
#define SERVER_QUEUE_HOSTS_H

#include "server/queue/queue.h"

struct hosts;

struct hosts_options {
	const char *file; /* a hosts_file of profiler/fields/hosts.def; NULL: there are no others */
	int run_seconds;  /* that a run may take */
};

/* NULL with IO, JSON or BAD_REQUEST: the file is not one of hosts. */
struct hosts *hosts_start(struct db *db, struct events *events, const struct hosts_options *options,
			  struct err *err);
void hosts_stop(struct hosts *h); /* NULL is fine */
void hosts_wake(struct hosts *h); /* a run was queued; thread-safe, as are the rest */

/* Whether a run of that host may be queued: there is one, and it has the files that a workload
 * reads.  BAD_REQUEST. */
bool hosts_take_workload(const struct hosts *h, const char *host, bool reads_files,
			 struct err *err);

/* ---- of jobs.c */

/* As jobs_state(), jobs_points(), jobs_ends() of runs that a process of another machine has. */
bool hosts_job_state(struct hosts *h, int64_t run, struct job_state *out);
bool hosts_job_points(struct hosts *h, int64_t run, json_t **points);
void hosts_add_ends(struct hosts *h, int64_t counts[JOB_ENDS]);

/* Ends a run that a process of another machine has, as failed or cancelled, and why (NULL: it says
 * so itself); what was measured of it stays.  *mine is false where no process has it: nothing is
 * done then. */
bool hosts_end_run(struct hosts *h, int64_t run, const struct run_ended *end, bool *mine,
		   struct err *err);

/* ---- of the API */

/* A process takes a run.  Its workload, JSON text, is in the arena.  CONFLICT: it has ended, or was
 * taken three times; NOT_FOUND, UNAUTHORIZED: the token is not of this run. */
struct job_claim {
	int64_t run;
	const uint8_t *hash; /* of the token that was sent */
	const char *attempt; /* what the process calls itself */
};
bool hosts_job_take(struct hosts *h, const struct job_claim *claim, struct arena *arena,
		    const char **workload, int64_t *run_seconds, struct err *err);

/* Messages of a worker (message.c), bytes `at` to at + len of all that the process has.  What comes
 * from elsewhere than where it was left is passed over, and out->received says where that is. */
struct job_bytes {
	int64_t at;
	const char *bytes;
	size_t len;
};
bool hosts_job_messages(struct hosts *h, const struct job_claim *claim,
			const struct job_bytes *bytes, struct report_job_received *out,
			struct err *err);

/* Machines with what they have, in the arena; the server's own is the first. */
const struct report_hosts *hosts_list(struct hosts *h, struct arena *arena, struct err *err);

#endif
