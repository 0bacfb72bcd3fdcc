/* server/queue/queue.h -- what the rest of the server sees of the queue: runs are put into it, a
 * worker process measures each, and whoever listens hears how it goes.
 *
 *	events_create(), jobs_start(): the queue's thread takes runs from the store, one at a time
 *	enqueue(), suite_store_plan(), jobs_wake(): there is something to do
 *	worker_start(), message_*(): a process of its own for one job, and what the two say
 */
#ifndef SERVER_QUEUE_QUEUE_H
#define SERVER_QUEUE_QUEUE_H

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "db/archive.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/base/scratch.h"
#include "fusion/registry.h"
#include "profiler/fields/fields.h"
#include "profiler/profiler.h"

struct MHD_Connection;
struct MHD_Response;
struct events;
struct jobs;

/* ---- enqueue.c: a workload becomes a queued run, a trace a running one ---- */

/* Stores a checked workload (w is json, parsed) as a run that waits for its
 * turn, and who posted it ("": nobody is known).  The caller wakes the queue. */
bool enqueue(struct db *db, const json_t *json, const struct workload *w, const char *author,
	     int64_t *id, struct err *err);

/* The row that it is stored as, without its workload's text.  Texts live in `arena`, or
 * are borrowed. */
struct run_row enqueue_row(struct arena *arena, const struct report_workload *w, const char *name);

/* JSON as the text of a row, compact, in `arena`; takes the JSON.  NULL without JSON or memory. */
const char *row_text(struct arena *arena, json_t *json);

/* A run that another process records, running at once; its workload is `w` with `trace` and
 * `device`. */
bool enqueue_trace(struct db *db, const struct report_workload *w, const char *author, int64_t *id,
		   struct err *err);

/* ---- results.c: what other tools measured, as runs that are done ---- */

/* Texts live in the arena. */
struct results_stored {
	int64_t suite; /* that several are; 0: it is one */
	int64_t *runs; /* in the order of the results */
	size_t n;
};

/* Stores a `results` of profiler/fields/report.def, all or none, and who posted it.  WORKLOAD,
 * BOUND, MEMORY, STORAGE. */
bool results_store(struct db *db, const json_t *results, const char *author, struct arena *arena,
		   struct results_stored *out, struct err *err);

/* ---- jobs.c: takes runs from the database, one at a time (two at once would disturb each other's
 * clocks), and gives each to a worker process ---- */

struct jobs;

struct jobs_options {
	const char *cache_dir;           /* NULL: none */
	const struct registry *registry; /* whose plugins go to every worker; NULL: none */
	bool shared;                     /* the store, with other servers */
	const char *torch_python;        /* NULL: engine torch is switched off */
	const char *files_folder;        /* of the files that programs read; NULL: none */
	int run_seconds;                 /* of wall time; a run that takes more fails */
	int64_t suite;                   /* whose runs alone are taken; 0: all of the queue */
	bool yields;                     /* as its workers do: struct worker_options */
	int64_t keep_days;               /* of retention; 0: all is kept */
	bool quiet;                      /* runs that begin and end are not logged */
	struct hosts *hosts;             /* that have runs too; NULL: this machine alone */
};

/* Starts the thread.  Runs that an earlier server left under way are queued
 * again.  `db`, `events` and what the options name are borrowed. */
struct jobs *jobs_start(struct db *db, struct events *events, const struct jobs_options *o,
			struct err *err);

/* Ends the worker, puts its run back into the queue, ends the thread.  Nobody
 * may call the functions below any more.  NULL is fine. */
void jobs_stop(struct jobs *jobs);

/* From now on no run is taken up; the one in hand goes on.  jobs_in_hand(): that one, or a log that
 * is being read; 0: none.  Thread-safe. */
void jobs_drain(struct jobs *jobs);
int64_t jobs_in_hand(struct jobs *jobs);

/* How runs that a worker had in hand ended since the start. */
enum job_end { JOB_DONE, JOB_FAILED, JOB_CANCELLED, JOB_CRASHED, JOB_REQUEUED, JOB_ENDS };
const char *job_end_name(enum job_end end); /* "done", ... */
void jobs_ends(struct jobs *jobs, int64_t counts[JOB_ENDS]);

/* Tells the thread that the queue has changed.  Thread-safe, as are the rest. */
void jobs_wake(struct jobs *jobs);

/* Cancels a queued or running run: it will end as cancelled, whatever its
 * worker still says.  CONFLICT when it has ended. */
bool jobs_cancel(struct jobs *jobs, int64_t id, struct err *err);

struct job_state {
	double share;  /* 0..1 */
	double left_s; /* seconds; negative: unknown */
	char what[160];
	int n_points; /* of its sweep that are measured */
};

/* How far the run is that a worker has in hand, the queue's or one that reads a log; false if it
 * is not this one. */
bool jobs_state(struct jobs *jobs, int64_t id, struct job_state *out);

/* The points of its sweep that are measured so far, each a measured_point; the caller owns the
 * list. NULL: the queue's worker has it not in hand, or no memory. */
json_t *jobs_points(struct jobs *jobs, int64_t id);

enum { JOBS_RESTORABLE_S = 60 }; /* a removed run can be had back for so long at least */

enum { JOBS_MOST_IMPORTS = 2 }; /* at once; the caller counts them */
enum { IMPORT_MAX_UNPACKED_BYTES = 1 << 30 };

/* A log that becomes the run `id` is being read, to jobs_import_end().  Meanwhile how far it is
 * is what jobs_state() says, and jobs_cancel() is heard by jobs_import_at(), which is false from
 * then on. */
void jobs_import_begin(struct jobs *jobs, int64_t id);
bool jobs_import_at(struct jobs *jobs, int64_t id, const struct report_progress *p);
void jobs_import_end(struct jobs *jobs, int64_t id);

/* ---- retain.c: what old runs keep ---- */

enum { KEEP_DAYS = 60 }; /* of the rule where nobody says another */

/* What is older than so many days came before then. */
int64_t retain_before(int64_t days);

/* What thinning out a run frees, found by doing it without storing it. */
bool retain_frees(struct db *db, int64_t run, int64_t *bytes, struct err *err);

struct retained {
	int64_t runs, bytes;
};

/* Thins out the first of the query, and adds them to *out; *more: there are more.  Run by run: one
 * that was pinned meanwhile keeps all. */
bool retain_some(struct db *db, const struct retain_query *query, struct retained *out, bool *more,
		 struct err *err);

/* ---- outcome.c: a report as rows of the store ---- */

/* Reads the verdict on the main compiled mode (static where it was measured, else the first that
 * is not eager), at the last point of a sweep.  Texts live in `arena`.  out->mode stays NULL where
 * nothing was compared with eager. */
void summary_of_report(const struct report_run *report, struct arena *arena,
		       struct run_summary *out);

/* run_reasons_fn: "" of a report without breaks. */
char *reasons_of_report(const char *report, size_t len);

/* Whether a block of a timeline that another store wrote is whole, and its row says what it has;
 * struct bundle_take of db.h. */
bool bundle_block(const struct timeline_row *row, struct err *err);

/* Appends what the figures of a run that is done say, as JSON text: "null" where it has no modes.
 * What was made when the run was stored is read; what another version of this program made, or
 * none, is made from its report and kept.  False with MEMORY or STORAGE. */
bool outcome_findings(struct db *db, int64_t run, const struct buf *report, struct buf *out,
		      struct err *err);

/* ---- changes.c: where figures of a workload stepped ---- */

/* Looks at runs of a workload that are new, or gone, since they were looked at last, with
 * figures_catch_up() before it: at most `most` groups of runs that are held against each other;
 * *left is whether there is more to do. */
bool changes_catch_up(struct db *db, const char *name, int most, bool *left, struct err *err);

/* ---- hooks.c: webhooks.  A thread looks for changes that were found and verdicts that became
 * others, and sends what was stored for those who want to hear of it, signed, again and again until
 * it is taken or has failed.  Before a change is told, its workload runs once more, where this
 * server ran it: what does not come back is not told. ---- */

struct hooks;

/* What is told. */
struct hook_news {
	const char *event; /* "change" or "verdict" */
	int64_t subject;   /* the change or the run */
	int64_t again;     /* of a change: the run that showed it once more; 0: none could */
	int64_t before;    /* of a verdict: the run that it is another than that of */
	const char *was;
};

/* The body of a delivery, new; NULL with NOT_FOUND, MEMORY or STORAGE. */
typedef json_t *hook_describe_fn(void *self, const struct hook_news *news, struct err *err);

struct hooks_options {
	hook_describe_fn *describe;
	void *self; /* what describe() gets */
	const struct registry *registry;
	int retry_seconds;         /* until a second try; each later wait is five times as long */
	const char *const *inside; /* hosts that may be of this machine or its network */
	int n_inside;
};

/* Starts the thread.  `jobs` is woken where a run is queued; what the options name is borrowed. */
struct hooks *hooks_start(struct db *db, struct jobs *jobs, const struct hooks_options *options,
			  struct err *err);
void hooks_stop(struct hooks *h); /* NULL is fine */
void hooks_wake(struct hooks *h); /* there may be something to send; thread-safe */

enum { HOOK_TRIES = 7 };

/* Whether it is an address that posts go to: http or https, a host, no user and no password in it.
 * BAD_REQUEST with what is wrong. */
bool hook_url_check(const char *url, struct err *err);

/* "change,verdict", in that order, of a list in any; in `arena`.  NULL with BAD_REQUEST. */
const char *hook_events_check(const char *events, struct arena *arena, struct err *err);

/* "t=SECONDS,v1=HEX": the HMAC-SHA256 of "SECONDS.BODY" under the secret. */
enum { HOOK_SIGNATURE_BYTES = 112 };
void hook_sign(const char *secret, int64_t seconds, const char *body,
	       char out[HOOK_SIGNATURE_BYTES]);

/* Stores a delivery that tests a webhook; *delivery is its id.  NOT_FOUND. */
bool hook_test(struct db *db, int64_t hook, int64_t *delivery, struct err *err);

/* ---- events.c: server-sent events.  A stream is a suspended connection.  Publishing wakes the
 * streams of a run; each then writes the run's state as it is, so that a slow reader skips states
 * and never lags. ---- */

/* Writes the next event of `run` as text into out ("event: ...\n\n") and says
 * whether it was the last.  Called without locks of events.c held. */
typedef size_t events_describe_fn(void *self, int64_t run, char *out, size_t size, bool *last);

/* `self` is what describe() gets; at most `most` streams are open, of one listener `most_of_one`.
 * NULL when out of memory. */
struct events *events_create(events_describe_fn *describe, void *self, int most, int most_of_one);
void events_destroy(struct events *e);

/* A response that streams the events of a run over the connection to `listener`, a name or an
 * address.  NULL with BUSY when as many are open as may be, with RATE when as many of the listener.
 */
struct MHD_Response *events_open(struct events *e, struct MHD_Connection *connection, int64_t run,
				 const char *listener, struct err *err);

/* Wakes the streams of a run.  Thread-safe, as is the next. */
void events_publish(struct events *e, int64_t run);

/* A connection that waits for a run; the waiter's, which stays where it is until it is resumed. */
struct event_wait {
	struct event_wait *next; /* events.c's */
	struct MHD_Connection *connection;
	int64_t run;
	int64_t until_ns; /* of clock_ns() */
};

enum wait_result {
	WAIT_BEGUN, /* the connection is suspended until something is published of the run, or its
		     * time is over (events_keep_alive() looks), or its peer has gone */
	WAIT_NEWS,  /* something was published after events_count() was `seen` */
	WAIT_NOT    /* as many wait as may, or streams have been stopped */
};
enum wait_result events_wait(struct events *e, struct event_wait *w, uint64_t seen);

/* Milliseconds until the next of these times; `most` where none comes before that. */
int events_due_ms(struct events *e, int most);

/* How often something was published. */
uint64_t events_count(const struct events *e);

/* Ends streams whose peer has closed, and wakes those that have been silent for
 * 15 s, so that each sends a comment and a peer that is cut off is noticed.
 * Called every few seconds. */
void events_keep_alive(struct events *e);

/* Whether the peer of a suspended connection has closed it.  Bytes that it sent and nobody has
 * read hide that. */
bool peer_is_gone(struct MHD_Connection *connection);

/* Ends all streams; none stays suspended.  Before MHD_stop_daemon(). */
void events_stop(struct events *e);
int events_open_count(struct events *e);

/* ---- suite_plan.c: what a suite asks for, as the runs that answer it.
 *
 * A request is a suite_request of profiler/fields/requests.def.  Its fields go over those of each
 * workload.  A job is one workload under one policy: one run. ---- */

/* Seconds of sampling of a run, where the request does not say them. */
#define SUITE_SECONDS 0.3

enum { SUITE_MAX_JOBS = 1000 }; /* what the queue of a server holds */

struct suite_job {
	int workload; /* its place, from 0 */
	const char *policy;
	json_t *json;     /* the workload, with modes and policy; owned */
	struct err wrong; /* why it cannot be run; ERR_NONE: it can */
};

struct suite_plan {
	const struct report_suite_request *asked; /* with all its modes */
	const char *name;                         /* of the request, or of the suite */
	json_t *whole;      /* the request, which has the texts of `asked`; owned */
	json_t *request;    /* without its workloads; owned */
	const char **names; /* of the workloads, each but once */
	int n_workloads;
	struct suite_job *jobs; /* by workload, then by policy */
	int n_jobs;
	const struct registry *registry; /* whose plugins they are run with; NULL: none */
	struct arena arena;              /* of what is asked, names and jobs */
};

/* Checks the request and each workload: what is wrong with a workload is its job's
 * business alone.  False with BAD_REQUEST or BOUND. */
bool suite_plan_make(struct suite_plan *plan, const json_t *request,
		     const struct registry *registry, struct err *err);
void suite_plan_finish(struct suite_plan *plan); /* zeroed is fine */

/* ---- suites.c: suites between the store (db/) and their reports (profiler/) ---- */

struct suite_stored {
	int64_t id;
	int64_t kept; /* jobs that have a run of an earlier suite */
};

/* Queues the runs of a plan, but for those that are like runs of earlier suites (likeness.h), where
 * it does not ask for all `again`; the caller wakes the queue. */
bool suite_store_plan(struct db *db, const struct suite_plan *plan, const char *author,
		      struct suite_stored *out, struct err *err);

/* The report of a suite as far as it has come: what waits is waiting.  New; NULL with *err. */
json_t *suite_stored_report(struct db *db, const struct suite *suite, struct arena *arena,
			    struct err *err);

/* All of a suite but its report: what it is, its status (queued, running, cancelled: it has ended,
 * and some of its runs were, or done), its runs by status.  New. */
json_t *suite_stored_head(const struct suite *suite);

/* The same with what a list says of its report, its columns.  New; NULL with *err. */
json_t *suite_stored_listed(struct db *db, const struct suite *suite, struct arena *arena,
			    struct err *err);

struct suite_options {
	int run_seconds;                 /* wall time of one run */
	const char *db;                  /* the store that keeps its runs; NULL: none does */
	const char *cache_dir;           /* compiled kernels; NULL: none */
	const struct registry *registry; /* whose plugins the workers load; NULL: none */
	const char *torch_python;        /* NULL: engine torch is switched off */
	const char *files_folder;        /* of the files that programs read; NULL: none */
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

/* ---- message.c: messages between the server and a worker.  A message is a type byte and a text,
 * sent over a socket pair as a four-byte little-endian length, the type, the text. ---- */

enum message_type {
	MESSAGE_WORKLOAD = 'W', /* server: the job, JSON */
	MESSAGE_AGAIN = 'A',   /* who waits for it: {"workload", "swept", "n", "rounds"}: samples of
				* one point alone, JSON */
	MESSAGE_CHECK = 'C',   /* server: a workload to explain, not to run, JSON */
	MESSAGE_FIT = 'F',     /* server: {"workload", "free": names, "limit_ms"}: inputs that it
				* runs with are asked for */
	MESSAGE_IMPORT = 'I',  /* server: a log to read; its name, and MESSAGE_LOG follows */
	MESSAGE_RESULTS = 'S', /* server: a file of results to read; what is asked of it, JSON, and
				* MESSAGE_LOG follows */
	MESSAGE_LOG = 'L',     /* server: the log, or the file, itself */
	MESSAGE_EXPORT = 'X',  /* server: a run to write for others, JSON */
	MESSAGE_BLOCKS = 'B',  /* worker: it wants the blocks of the kind; server: that was all */
	MESSAGE_MORE = 'M',    /* worker: the next block, please; so one is under way at a time */
	MESSAGE_PART = 'O',    /* worker: a piece of what is exported */
	MESSAGE_POINT = 'M',   /* worker: a measured_point of profiler/fields/events.def */
	MESSAGE_KEEP = 'K',    /* worker: what is kept should it end without a report: once the
				* report without its points, then each of them, JSON */
	MESSAGE_PROGRESS = 'P',    /* worker: a progress of profiler/fields/events.def */
	MESSAGE_ENVIRONMENT = 'V', /* worker: the machine, JSON */
	MESSAGE_TIMELINE = 'T',    /* worker: a block of a timeline; any number of them.  Server:
				    * one that an export wants */
	MESSAGE_REPORT = 'R',      /* worker: the report, JSON (of an export "{}"); it is done */
	MESSAGE_ERROR = 'E',       /* worker: a failure of profiler/fields/report.def; it is done */
};

enum { MESSAGE_MAX_BYTES = 256 << 20 };

/* What is in front of a text. */
enum { MESSAGE_HEAD_BYTES = 5 };
void message_head(enum message_type type, size_t len, char head[MESSAGE_HEAD_BYTES]);

/* Sends all of it; IO error when the other side is gone. */
bool message_send(int fd, enum message_type type, const char *text, size_t len, struct err *err);

/* Collects bytes as they come.  Zeroed is ready. */
struct message_reader {
	struct buf pending;
	size_t taken; /* bytes of pending that were handed out */
};

static inline void message_reader_finish(struct message_reader *r)
{
	buf_finish(&r->pending);
	r->taken = 0;
}

/* Reads what is there (blocks only if fd does).  Returns the bytes read, 0 at
 * the end of the stream, -1 on an error other than EAGAIN, -2 for EAGAIN. */
long message_fill(struct message_reader *r, int fd);

/* Adds bytes that came on another way; false when out of memory. */
bool message_add(struct message_reader *r, const char *bytes, size_t len);

/* The next whole message; false when more bytes are needed.  The text is NUL
 * terminated and valid until the next message_fill() or
 * message_add().  `bad` is set when a
 * length is over MESSAGE_MAX_BYTES. */
bool message_next(struct message_reader *r, enum message_type *type, char **text, size_t *len,
		  bool *bad);

/* What the text of a MESSAGE_ERROR says, as the store keeps it: the message names the file. */
void message_error(const char *text, struct err *err);

/* What a failure says. */
void message_failure(const struct report_failure *f, struct err *err);

/* ---- worker.c: a worker process, seen from the server ---- */

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
 * to run and measure, MESSAGE_AGAIN to time a point once more, MESSAGE_CHECK to explain,
 * MESSAGE_FIT to find inputs, MESSAGE_IMPORT with the name of a log to read, MESSAGE_RESULTS with
 * what is asked of a file of results, MESSAGE_EXPORT with a run to write. The thread that calls
 * must outlive the worker: its end kills the child. */
struct worker_options {
	const char *cache_dir; /* NULL: none */
	int cpu_seconds;
	const struct registry *registry; /* whose plugins it loads too; NULL: none */
	const char *torch_python;        /* NULL: engine torch is switched off */
	const char *files_folder;        /* of the files that programs read; NULL: none */
	const char *torch_host;          /* the socket of its host; NULL with torch_python */
	const char *log;                 /* to read, with MESSAGE_IMPORT or MESSAGE_RESULTS */
	size_t log_bytes;
	bool blocking; /* each call once, each launch waited for: see beside.c */
	bool yields;   /* its priority is WORKER_NICE below the server's */
};
enum { WORKER_NICE = 5 };
bool worker_start(struct worker *w, const struct worker_options *options, enum message_type job,
		  const char *workload, struct err *err);

/* Waits for its end (kill_first: brings that about), ends what it had started,
 * reaps it and closes the socket.  The cause of its
 * end goes to *err ("the worker was killed by signal 11 ...") when it did not
 * exit by itself; *clean says whether it did. */
void worker_reap(struct worker *w, bool kill_first, bool *clean, struct err *err);

/* ---- beside.c: a process beside one that is confined, which starts workers for it ---- */

struct beside;
struct profiler_again;

/* To be called while there is one thread, before sandbox_enter(): it keeps the files that its
 * workers need, and has what sandbox_begin() leaves.  `options` are those of the workers; what it
 * points to stays until beside_stop().  NULL: there is none. */
struct beside *beside_start(const struct worker_options *options);

/* Which kernel it was that failed: a GPU says so when others have been launched after it, and the
 * process that did so can ask it nothing more.  So where *err is a failure of the device without a
 * line, the workload runs once more, untimed, each launch waited for, and what is said then is
 * taken over, if that is a failure of the device too.  NULL, or CUDA_LAUNCH_BLOCKING=1: nothing. */
void beside_locate(struct beside *b, const json_t *workload, struct err *err);

/* Samples of another process (profiler_options.again); CANCELLED when *interrupted is set, which
 * may be NULL. */
struct beside_order {
	const struct profiler_again *again;
	const volatile sig_atomic_t *interrupted;
};
const struct report_run *beside_again(struct beside *b, const json_t *workload,
				      const struct beside_order *what, struct report_draft *draft,
				      struct err *err);

/* NULL is fine. */
void beside_stop(struct beside *b);

#endif
