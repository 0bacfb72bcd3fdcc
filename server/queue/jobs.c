/* server/queue/jobs.c -- runs the queue's thread: takes runs from the store, hands each to a
 * worker, stores how it ended.
 *
 * The thread sleeps in poll() on the worker's socket and a wake-up counter.
 * What a worker says is kept in memory; the database hears of a run when it
 * starts and when it ends.
 */
#include "server/queue/queue.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/log.h"
#include "fusion/base/refused.h"
#include "fusion/base/vec.h"
#include "profiler/timeline/timeline.h"
#include "profiler/torch/host.h"
#include "server/queue/hosts.h"
#include "server/queue/job.h"

enum { KEEP_ALIVE_MS = 5000, RETRY_MS = 1000, STORE_TRIES = 10 };
static const int64_t silent_trace_ns = 120LL * 1000 * 1000 * 1000;

struct jobs {
	struct db *db;
	struct events *events;
	struct hosts *hosts; /* NULL: this machine alone */
	const char *cache_dir;
	bool yields;
	const struct registry *registry;
	bool shared; /* the store, with other servers */
	const char *torch_python;
	const char *files_folder;      /* of files that programs read; NULL: none */
	struct torch_host *torch_host; /* of torch_python; NULL: it could not be started */
	int64_t keep_days;
	int run_seconds;
	int64_t suite;
	bool quiet;
	pthread_t thread;
	int wake_fd;
	atomic_bool stopping, draining;

	/* The thread's own. */
	struct worker worker;
	struct message_reader reader;
	struct job job; /* in hand, with the lock below */
	int64_t deadline_ns;
	bool store_down; /* the store refused the last write, and the log has it */
	int tries;       /* to write down the end of the current run */

	/* Held while a row and the job change together, so that a cancel finds
	 * the run waiting, in hand or ended, and never in between. */
	pthread_mutex_t turn;

	pthread_mutex_t lock; /* guards what follows; taken within `turn` */
	int64_t ends[JOB_ENDS];
	struct import_in_hand {
		int64_t run; /* 0: none */
		bool cancel;
		struct job_state state;
	} imports[JOBS_MOST_IMPORTS];
};

/* The caller has the lock; NULL: it is not being read. */
static struct import_in_hand *find_import(struct jobs *j, int64_t id)
{
	for (int i = 0; i < JOBS_MOST_IMPORTS; i++)
		if (j->imports[i].run == id)
			return &j->imports[i];
	return NULL;
}

bool jobs_state(struct jobs *j, int64_t id, struct job_state *out)
{
	const struct import_in_hand *import;
	bool found;

	pthread_mutex_lock(&j->lock);
	import = find_import(j, id);
	found = import || j->job.run == id;
	if (found)
		*out = import ? import->state : j->job.state;
	pthread_mutex_unlock(&j->lock);
	return found || (j->hosts && hosts_job_state(j->hosts, id, out));
}

json_t *jobs_points(struct jobs *j, int64_t id)
{
	json_t *points = NULL;

	pthread_mutex_lock(&j->lock);
	if (j->job.run == id)
		points = j->job.points ? json_deep_copy(j->job.points) : json_array();
	pthread_mutex_unlock(&j->lock);
	if (!points && j->hosts)
		hosts_job_points(j->hosts, id, &points);
	return points;
}

void jobs_import_begin(struct jobs *j, int64_t id)
{
	struct import_in_hand *free_one;

	pthread_mutex_lock(&j->lock);
	free_one = find_import(j, 0);
	if (free_one)
		*free_one = (struct import_in_hand){
			.run = id, .state = { .left_s = -1, .what = "starting a worker" }
		};
	pthread_mutex_unlock(&j->lock);
	events_publish(j->events, id);
}

bool jobs_import_at(struct jobs *j, int64_t id, const struct report_progress *p)
{
	struct import_in_hand *import;
	bool goes_on;

	pthread_mutex_lock(&j->lock);
	import = find_import(j, id);
	goes_on = import && !import->cancel;
	if (goes_on && p)
		import->state = job_state_of(p);
	pthread_mutex_unlock(&j->lock);
	if (goes_on && p)
		events_publish(j->events, id);
	return goes_on;
}

void jobs_import_end(struct jobs *j, int64_t id)
{
	struct import_in_hand *import;

	pthread_mutex_lock(&j->lock);
	import = find_import(j, id);
	if (import)
		*import = (struct import_in_hand){ 0 };
	pthread_mutex_unlock(&j->lock);
	events_publish(j->events, id);
}

/* A store that refuses (a full disk) is tried again and again, and logged once. */
static void note_store(struct jobs *j, bool works, const struct err *err)
{
	if (!works && !j->store_down)
		log_line(LOG_ERROR, "%s; trying again every few seconds", err->message);
	else if (works && j->store_down)
		log_line(LOG_INFO, "the database takes what is written again");
	j->store_down = !works;
}

static void end_current(struct jobs *j, bool kill_first);

/* Torch stays loaded from run to run; where its host has ended there is another.  The
 * socket, or NULL: the run will start one for itself, or say why not. */
static const char *torch_socket(struct jobs *j)
{
	struct err err = { 0 };

	if (!j->torch_python)
		return NULL;
	if (j->torch_host && !torch_host_alive(j->torch_host)) {
		torch_host_stop(j->torch_host);
		j->torch_host = NULL;
	}
	if (!j->torch_host && j->files_folder)
		mkdir(j->files_folder, 0700); /* it must be there to be read later */
	if (!j->torch_host)
		j->torch_host = torch_host_start(
		    j->torch_python, &(struct torch_reads){ .files = j->files_folder }, &err);
	return j->torch_host ? torch_host_socket(j->torch_host) : NULL;
}

static void begin_next(struct jobs *j)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct run_row run;
	bool found = false;

	pthread_mutex_lock(&j->turn);
	note_store(j, db_run_claim(j->db, j->suite, &arena, &run, &found, &err), &err);
	if (found)
		job_begin(&j->job, run.id);
	pthread_mutex_unlock(&j->turn);
	if (found) {
		j->tries = 0;
		j->deadline_ns = clock_ns() + (int64_t)j->run_seconds * 1000000000;
		if (!j->quiet)
			log_line(LOG_INFO, "run %lld: started (%s)", (long long)run.id, run.name);
		if (worker_start(&j->worker,
				 &(struct worker_options){ .cache_dir = j->cache_dir,
							   .yields = j->yields,
							   .cpu_seconds = j->run_seconds *
									  WORKER_CPU_PER_WALL,
							   .registry = j->registry,
							   .files_folder = j->files_folder,
							   .torch_python = j->torch_python,
							   .torch_host = torch_socket(j) },
				 MESSAGE_WORKLOAD, run.workload, &j->job.failure))
			events_publish(j->events, run.id);
		else
			end_current(j, false);
	}
	arena_finish(&arena);
}

/* Takes in what the worker sent; false when it will send no more. */
static bool read_messages(struct jobs *j)
{
	long n = message_fill(&j->reader, j->worker.fd);
	enum message_type type;
	char *text;
	size_t len;
	bool bad = false;

	if (n == -2)
		return true;
	while (n > 0 && message_next(&j->reader, &type, &text, &len, &bad))
		job_take(&j->job, type, text, len);
	if (n > 0 && bad) {
		kill(-j->worker.pid, SIGKILL); /* else the wait for its end could be long */
		err_set(&j->job.failure, ERR_WORKER,
			"the worker sent a message over the limit of %d bytes", MESSAGE_MAX_BYTES);
	}
	return n > 0 && !bad;
}

/* A run stays the current one until the store has its end: what it measured is
 * not given up for a disk that is full for a while. */
static void finish_run(struct jobs *j)
{
	int64_t id = j->job.run;
	struct job_ending e = { .how = "" };
	struct err err = { 0 };
	bool settled;

	pthread_mutex_lock(&j->turn);
	settled = job_write_end(&j->job, atomic_load(&j->stopping), &e, &err) ||
		  err.code == ERR_CONFLICT;
	note_store(j, settled, &err);
	if (!settled && ++j->tries == STORE_TRIES && j->job.report &&
	    j->job.failure.code == ERR_NONE)
		j->job.failure = err; /* perhaps it is this report that does not go in */
	if (settled) {
		if (!j->quiet)
			log_line(LOG_INFO, "run %lld: %s", (long long)id,
				 err.code == ERR_NONE ? e.how : err.message);
		job_drop(&j->job);
		job_begin(&j->job, 0);
		pthread_mutex_lock(&j->lock);
		j->ends[e.end]++;
		pthread_mutex_unlock(&j->lock);
	}
	pthread_mutex_unlock(&j->turn);
	if (settled) {
		job_look_for_changes(j->db, id);
		events_publish(j->events, id);
	}
}

/* The worker has ended, or must. */
static void end_current(struct jobs *j, bool kill_first)
{
	struct err end = { 0 };
	bool clean;

	worker_reap(&j->worker, kill_first, &clean, &end);
	message_reader_finish(&j->reader);
	if (j->job.failure.code == ERR_NONE && !j->job.report)
		j->job.failure = end;
	if (j->job.failure.code == ERR_NONE && !j->job.report)
		err_set(&j->job.failure, ERR_WORKER, "the worker ended without a report");
	finish_run(j);
}

static bool wants_cancel(struct jobs *j)
{
	bool cancel;

	pthread_mutex_lock(&j->lock);
	cancel = j->job.cancel;
	pthread_mutex_unlock(&j->lock);
	return cancel;
}

static void poll_worker(struct jobs *j, bool readable)
{
	if (j->worker.pid == 0) {
		finish_run(j);
	} else if (wants_cancel(j)) {
		end_current(j, true);
	} else if (clock_ns() > j->deadline_ns) {
		err_set(&j->job.failure, ERR_WORKER,
			"the run took over %d s, the limit of one run; measure fewer points or "
			"smaller inputs, or start the server with a larger --run-seconds",
			j->run_seconds);
		end_current(j, true);
	} else if (readable && !read_messages(j)) {
		end_current(j, false);
	}
}

/* While nothing is measured, what was deleted. */
static void give_back(struct jobs *j)
{
	struct err err = { 0 };
	bool more;

	if (!db_give_back(j->db, false, &more, &err))
		note_store(j, false, &err);
}

/* What was removed so long ago that nobody may have it back. */
static void purge(struct jobs *j)
{
	struct err err = { 0 };
	bool more = true;

	while (more && !atomic_load(&j->stopping))
		if (!db_run_purge(j->db, clock_wall_ns() - JOBS_RESTORABLE_S * INT64_C(1000000000),
				  &more, &err)) {
			note_store(j, false, &err);
			return;
		}
}

enum { RETAIN_EACH_S = 600 };

/* Retention, when nothing runs: some in each turn, and all is looked at again after a while.
 * Whether there are more. */
static bool retain(struct jobs *j, int64_t *due_ns)
{
	const struct retain_query query = { .before_ns = retain_before(j->keep_days), .limit = 4 };
	struct retained done = { 0 };
	struct err err = { 0 };
	bool more = false;

	if (j->keep_days == 0 || clock_ns() < *due_ns)
		return false;
	if (!retain_some(j->db, &query, &done, &more, &err))
		log_line(LOG_WARN, "runs older than %lld days are not thinned out: %s",
			 (long long)j->keep_days, err.message);
	else if (done.runs)
		log_line(LOG_INFO, "%lld runs older than %lld days are thinned out: %lld bytes",
			 (long long)done.runs, (long long)j->keep_days, (long long)done.bytes);
	if (!more)
		*due_ns = clock_ns() + RETAIN_EACH_S * INT64_C(1000000000);
	return more;
}

/* Has runs of an earlier version found by a search, some in each turn; false: all are. */
static bool make_found(struct jobs *j, struct search_look *look)
{
	struct err err = { 0 };
	bool more = false;

	if (!db_search_catch_up(j->db, look, reasons_of_report, &more, &err)) {
		log_line(LOG_WARN, "runs of an earlier version are not all found by a search: %s",
			 err.message);
		return false;
	}
	return more;
}

/* A log that is being read may have no event for long: its run is no trace that fell silent. */
static void keep_imports_open(struct jobs *j)
{
	int64_t runs[JOBS_MOST_IMPORTS];
	struct err err = { 0 };

	pthread_mutex_lock(&j->lock);
	for (int i = 0; i < JOBS_MOST_IMPORTS; i++)
		runs[i] = j->imports[i].run;
	pthread_mutex_unlock(&j->lock);
	for (int i = 0; i < JOBS_MOST_IMPORTS; i++)
		if (runs[i])
			db_trace_append(j->db, runs[i],
					&(struct trace_post){ .most_bytes = SIZE_MAX,
							      .most_events = INT64_MAX },
					&err);
}

enum { LOOK_EACH_S = 3 };

/* Where others share the store: runs that a server has left are taken up again. */
static void take_over(struct jobs *j, int64_t *looked_ns)
{
	struct err err = { 0 };
	int n = 0;

	if (!j->shared || clock_ns() - *looked_ns < LOOK_EACH_S * INT64_C(1000000000))
		return;
	*looked_ns = clock_ns();
	if (!db_run_recover(j->db, &n, &err))
		note_store(j, false, &err);
	else if (n > 0)
		log_line(LOG_INFO, "%d runs of a server that is gone are taken up again", n);
}

/* How long the queue may sleep: others may put runs into a store that they share. */
static int sleep_ms(const struct jobs *j, bool idle)
{
	if (!j->job.run && !idle)
		return 0;
	return events_due_ms(j->events, j->job.run || j->shared ? RETRY_MS : KEEP_ALIVE_MS);
}

static void *run_queue(void *self)
{
	struct jobs *j = self;
	struct search_look look = { 0 };
	int64_t expired_ns = clock_ns();
	int64_t retain_due_ns = expired_ns, looked_ns = expired_ns;
	bool finds = false, retains = false; /* all runs are found; some are to be thinned out */

	while (!atomic_load(&j->stopping)) {
		struct pollfd fds[2] = { { .fd = j->wake_fd, .events = POLLIN } };
		uint64_t count;
		int n = 1;

		if (j->job.run == 0 && !atomic_load(&j->draining))
			begin_next(j);
		if (j->job.run != 0)
			fds[n++] = (struct pollfd){ .fd = j->worker.fd, .events = POLLIN };
		if (poll(fds, (nfds_t)n, sleep_ms(j, finds && !retains)) < 0 && errno != EINTR)
			log_line(LOG_ERROR, "poll: %s", strerror(errno));
		if ((fds[0].revents & POLLIN) && read(j->wake_fd, &count, sizeof(count)) < 0)
			log_line(LOG_WARN, "wake-up counter: %s", strerror(errno));
		if (j->job.run != 0)
			poll_worker(j, n > 1 && fds[1].revents != 0);
		events_keep_alive(j->events);
		take_over(j, &looked_ns);
		if (clock_ns() - expired_ns > silent_trace_ns / 4) {
			struct err err = { 0 };

			keep_imports_open(j);
			db_trace_expire(j->db, silent_trace_ns, &err);
			expired_ns = clock_ns();
		}
		if (!finds && j->job.run == 0)
			finds = !make_found(j, &look);
		retains = j->job.run == 0 && finds && retain(j, &retain_due_ns);
		if (j->job.run == 0) {
			purge(j);
			give_back(j);
		}
	}
	if (j->job.run != 0)
		end_current(j, true);
	torch_host_stop(j->torch_host); /* it ends with the thread that started it */
	j->torch_host = NULL;
	return NULL;
}

struct jobs *jobs_start(struct db *db, struct events *events, const struct jobs_options *o,
			struct err *err)
{
	struct jobs *j = calloc(1, sizeof(*j));
	int recovered = 0;

	if (!j || (j->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
		free(j);
		err_set(err, ERR_MEMORY, "no resources for the queue of jobs: %s", strerror(errno));
		return NULL;
	}
	j->db = db;
	j->events = events;
	j->cache_dir = o->cache_dir;
	j->yields = o->yields;
	j->registry = o->registry;
	j->shared = o->shared;
	j->torch_python = o->torch_python;
	j->files_folder = o->files_folder;
	j->run_seconds = o->run_seconds;
	j->keep_days = o->keep_days;
	j->suite = o->suite;
	j->quiet = o->quiet;
	j->hosts = o->hosts;
	j->worker.fd = -1;
	j->job = (struct job){ .db = db, .events = events, .lock = &j->lock };
	pthread_mutex_init(&j->lock, NULL);
	pthread_mutex_init(&j->turn, NULL);
	if (!db_run_recover(db, &recovered, err))
		goto fail;
	if (recovered > 0)
		log_line(LOG_INFO, "%d runs of an earlier server are taken up again", recovered);
	if (pthread_create(&j->thread, NULL, run_queue, j) != 0) {
		err_set(err, ERR_MEMORY, "no thread for the queue of jobs");
		goto fail;
	}
	return j;
fail:
	pthread_mutex_destroy(&j->lock);
	pthread_mutex_destroy(&j->turn);
	close(j->wake_fd);
	free(j);
	return NULL;
}

void jobs_stop(struct jobs *j)
{
	if (!j)
		return;
	atomic_store(&j->stopping, true);
	jobs_wake(j);
	pthread_join(j->thread, NULL);
	job_drop(&j->job); /* of a run whose end the store did not take */
	json_decref(j->job.points);
	pthread_mutex_destroy(&j->lock);
	pthread_mutex_destroy(&j->turn);
	close(j->wake_fd);
	free(j);
}

void jobs_drain(struct jobs *j)
{
	atomic_store(&j->draining, true);
}

int64_t jobs_in_hand(struct jobs *j)
{
	int64_t id;

	pthread_mutex_lock(&j->lock);
	id = j->job.run;
	for (int i = 0; id == 0 && i < JOBS_MOST_IMPORTS; i++)
		id = j->imports[i].run;
	pthread_mutex_unlock(&j->lock);
	return id;
}

const char *job_end_name(enum job_end end)
{
	static const char *const names[JOB_ENDS] = { "done", "failed", "cancelled", "crashed",
						     "requeued" };

	return names[end];
}

void jobs_ends(struct jobs *j, int64_t counts[JOB_ENDS])
{
	pthread_mutex_lock(&j->lock);
	memcpy(counts, j->ends, sizeof(j->ends));
	pthread_mutex_unlock(&j->lock);
	if (j->hosts)
		hosts_add_ends(j->hosts, counts);
}

void jobs_wake(struct jobs *j)
{
	uint64_t one = 1;

	if (write(j->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		log_line(LOG_WARN, "wake-up counter: %s", strerror(errno));
	if (j->hosts)
		hosts_wake(j->hosts);
}

bool jobs_cancel(struct jobs *j, int64_t id, struct err *err)
{
	struct import_in_hand *import;
	bool is_current, ok, elsewhere = false;

	if (j->hosts && !hosts_end_run(j->hosts, id, &(struct run_ended){ .status = RUN_CANCELLED },
				       &elsewhere, err))
		return false;
	if (elsewhere)
		return true;
	pthread_mutex_lock(&j->turn);
	pthread_mutex_lock(&j->lock);
	is_current = j->job.run == id;
	if (is_current)
		j->job.cancel = true;
	import = find_import(j, id);
	if (import)
		import->cancel = true; /* and the store has it at once, as of a trace */
	pthread_mutex_unlock(&j->lock);
	ok = is_current || db_run_end(j->db, id, RUN_CANCELLED, NULL, NULL, err);
	pthread_mutex_unlock(&j->turn);
	if (ok && !is_current)
		events_publish(j->events, id);
	jobs_wake(j);
	return ok;
}
