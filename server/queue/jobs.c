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
#include "server/queue/outcome.h"

/* A timeline of one run: what is past this is left out, whole blocks. */
enum { TIMELINE_BYTES = 64 << 20, LOOK_AT = 20 };
enum { KEEP_ALIVE_MS = 5000, RETRY_MS = 1000, STORE_TRIES = 10 };
static const int64_t silent_trace_ns = 120LL * 1000 * 1000 * 1000;

struct jobs {
	struct db *db;
	struct events *events;
	const char *cache_dir;
	bool yields;
	const struct registry *registry;
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
	char *environment, *report; /* texts of the worker; malloc */
	struct outcome outcome;     /* of the report, which is read once */
	VEC(char *) kept;           /* what MESSAGE_KEEP said, should no report come */
	size_t kept_bytes;
	char *part;                        /* the report that this makes; malloc */
	VEC(struct timeline_row) timeline; /* its blocks; data is malloc'd */
	size_t timeline_bytes;
	struct err failure; /* what the worker said, or what we found */
	int64_t deadline_ns;
	bool store_down; /* the store refused the last write, and the log has it */
	int tries;       /* to write down the end of the current run */

	/* Held while a row and `current` change together, so that a cancel finds
	 * the run waiting, in hand or ended, and never in between. */
	pthread_mutex_t turn;

	pthread_mutex_t lock; /* guards what follows; taken within `turn` */
	int64_t current;      /* run in hand; 0: none */
	bool cancel;          /* of the current run */
	struct job_state state;
	json_t *points; /* of its sweep */
	int64_t ends[JOB_ENDS];
	struct import_in_hand {
		int64_t run; /* 0: none */
		bool cancel;
		struct job_state state;
	} imports[JOBS_MOST_IMPORTS];
};

static void set_current(struct jobs *j, int64_t id)
{
	pthread_mutex_lock(&j->lock);
	j->current = id;
	j->cancel = false;
	j->state = (struct job_state){ .left_s = -1, .what = "starting a worker" };
	json_decref(j->points);
	j->points = NULL;
	pthread_mutex_unlock(&j->lock);
}

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
	found = import || j->current == id;
	if (found)
		*out = import ? import->state : j->state;
	pthread_mutex_unlock(&j->lock);
	return found;
}

json_t *jobs_points(struct jobs *j, int64_t id)
{
	json_t *points;

	pthread_mutex_lock(&j->lock);
	points = j->current != id ? NULL : j->points ? json_deep_copy(j->points) : json_array();
	pthread_mutex_unlock(&j->lock);
	return points;
}

static struct job_state state_of(const struct report_progress *p)
{
	struct job_state state = { .share = p->share, .left_s = p->left_s };

	snprintf(state.what, sizeof(state.what), "%s", p->what);
	return state;
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
		import->state = state_of(p);
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
		set_current(j, run.id);
	pthread_mutex_unlock(&j->turn);
	if (found) {
		j->failure = (struct err){ 0 };
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
				 MESSAGE_WORKLOAD, run.workload, &j->failure))
			events_publish(j->events, run.id);
		else
			end_current(j, false);
	}
	arena_finish(&arena);
}

static void read_progress(struct jobs *j, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	struct arena arena = { 0 };
	const struct report_progress *p = json ? report_read_progress(json, &arena, NULL) : NULL;

	if (p) {
		pthread_mutex_lock(&j->lock);
		j->state = state_of(p);
		j->state.n_points = (int)json_array_size(j->points);
		pthread_mutex_unlock(&j->lock);
		events_publish(j->events, j->current);
	}
	json_decref(json);
	arena_finish(&arena);
}

enum { MOST_POINTS = 64 }; /* of a sweep: bounds.def */

/* A point that is measured: shown while others are not. */
static void read_point(struct jobs *j, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	struct arena arena = { 0 };

	if (json && report_read_measured_point(json, &arena, NULL)) {
		pthread_mutex_lock(&j->lock);
		if (!j->points)
			j->points = json_array();
		if (json_array_size(j->points) < MOST_POINTS)
			json_array_append(j->points, json);
		j->state.n_points = (int)json_array_size(j->points);
		pthread_mutex_unlock(&j->lock);
		events_publish(j->events, j->current);
	}
	json_decref(json);
	arena_finish(&arena);
}

static void replace(char **text, const char *with)
{
	free(*text);
	*text = strdup(with);
}

/* The worker is this program, but what it runs is not: its blocks are checked. */
static void read_block(struct jobs *j, const char *bytes, size_t len)
{
	struct timeline_row row = { .len = len };
	struct timeline_block block;
	struct err err = { 0 };
	void *copy;

	if (!timeline_block_read(bytes, len, &block, &err)) {
		log_line(LOG_WARN, "run %lld: %s", (long long)j->current, err.message);
		return;
	}
	if (block.kind == TIMELINE_CHUNK && j->timeline_bytes + len > TIMELINE_BYTES)
		return;
	copy = malloc(len);
	if (!copy)
		return;
	memcpy(copy, bytes, len);
	row.kind = block.kind;
	row.events = block.events;
	row.t0_ns = block.t0_ns;
	row.t1_ns = block.t1_ns;
	row.data = copy;
	j->timeline_bytes += len;
	if (!VEC_PUSH(&j->timeline, row))
		free(copy);
}

static void drop_timeline(struct jobs *j)
{
	for (size_t i = 0; i < j->timeline.len; i++)
		free((void *)j->timeline.at[i].data);
	VEC_FREE(&j->timeline);
	j->timeline_bytes = 0;
}

/* The head, or a point of its sweep.  After one for which there is no room there is none. */
static void keep(struct jobs *j, const char *text, size_t len)
{
	char *copy = j->kept_bytes + len <= MESSAGE_MAX_BYTES ? strdup(text) : NULL;

	j->kept_bytes = copy ? j->kept_bytes + len : MESSAGE_MAX_BYTES;
	if (copy && !VEC_PUSH(&j->kept, copy))
		free(copy);
}

/* The report of what was measured, as JSON text, new; NULL: no point was, or no memory. */
static char *partial_report(const struct jobs *j)
{
	json_t *report = j->kept.len > 1 ? json_loads(j->kept.at[0], 0, NULL) : NULL;
	json_t *points = json_array();
	char *text = NULL;

	for (size_t i = 1; i < j->kept.len; i++)
		json_array_append_new(points, json_loads(j->kept.at[i], 0, NULL));
	json_object_set_new(json_object_get(report, "partial"), "measured",
			    json_integer((json_int_t)json_array_size(points)));
	json_object_set(report, "points", points);
	if (report && json_array_size(points))
		text = json_dumps(report, JSON_COMPACT);
	json_decref(points);
	json_decref(report);
	return text;
}

/* All that the worker of a run sent. */
static void drop_sent(struct jobs *j)
{
	for (size_t i = 0; i < j->kept.len; i++)
		free(j->kept.at[i]);
	VEC_FREE(&j->kept);
	j->kept_bytes = 0;
	outcome_finish(&j->outcome);
	free(j->report);
	free(j->part);
	free(j->environment);
	j->report = j->part = j->environment = NULL;
	drop_timeline(j);
}

/* Takes in what the worker sent; false when it will send no more. */
static bool read_messages(struct jobs *j)
{
	uint64_t refused = memory_refused_here();
	long n = message_fill(&j->reader, j->worker.fd);
	enum message_type type;
	char *text;
	size_t len;
	bool bad = false;

	if (n == -2)
		return true;
	while (n > 0 && message_next(&j->reader, &type, &text, &len, &bad)) {
		if (type == MESSAGE_PROGRESS)
			read_progress(j, text);
		else if (type == MESSAGE_POINT)
			read_point(j, text);
		else if (type == MESSAGE_KEEP)
			keep(j, text, len);
		else if (type == MESSAGE_TIMELINE)
			read_block(j, text, len);
		else if (type == MESSAGE_ENVIRONMENT)
			replace(&j->environment, text);
		else if (type == MESSAGE_REPORT)
			replace(&j->report, text);
		else if (type == MESSAGE_ERROR)
			message_error(text, &j->failure);
	}
	if (memory_refused_here() != refused && j->failure.code == ERR_NONE)
		memory_refused_error(&j->failure, "what the worker sent");
	if (n > 0 && bad) {
		kill(-j->worker.pid, SIGKILL); /* else the wait for its end could be long */
		err_set(&j->failure, ERR_WORKER,
			"the worker sent a message over the limit of %d bytes", MESSAGE_MAX_BYTES);
	}
	return n > 0 && !bad;
}

/* All of it or nothing. */
static bool store_outcome(struct jobs *j, struct err *err)
{
	struct run_outcome *o = &j->outcome.stored;

	if (!outcome_read(&j->outcome, j->report, strlen(j->report), err))
		return false;
	o->environment = j->environment ? j->environment : "{}";
	o->blocks = j->timeline.at;
	o->n_blocks = j->timeline.len;
	return db_run_finish(j->db, j->current, o, err);
}

/* Ends the current run before it is done; the points of its sweep that are measured stay. */
static bool store_part(struct jobs *j, enum run_status status, const struct err *why,
		       struct err *err)
{
	struct run_outcome *o = &j->outcome.stored;
	const json_t *partial;

	if (!j->part && !j->report)
		j->part = partial_report(j);
	if (!j->part)
		return db_run_end(j->db, j->current, status, why, NULL, err);
	if (!outcome_read(&j->outcome, j->part, strlen(j->part), err))
		return false;
	partial = json_object_get(j->outcome.report, "partial");
	o->points_kept = (int)json_integer_value(json_object_get(partial, "measured"));
	o->points_of = (int)json_integer_value(json_object_get(partial, "of"));
	o->environment = j->environment ? j->environment : "{}";
	return db_run_end(j->db, j->current, status, why, o, err);
}

/* How the current run ended, for the log and the counters. */
struct ending {
	const char *how;
	enum job_end end;
};

/* Writes it down. */
static bool write_end(struct jobs *j, struct ending *e, struct err *err)
{
	bool cancelled;

	pthread_mutex_lock(&j->lock);
	cancelled = j->cancel;
	pthread_mutex_unlock(&j->lock);
	if (cancelled) {
		*e = (struct ending){ "cancelled", JOB_CANCELLED };
		return store_part(j, RUN_CANCELLED, NULL, err);
	}
	if (atomic_load(&j->stopping) && !j->report) {
		*e = (struct ending){ "back in the queue", JOB_REQUEUED };
		return db_run_requeue(j->db, j->current, err);
	}
	if (j->report && j->failure.code == ERR_NONE) {
		*e = (struct ending){ "done", JOB_DONE };
		return store_outcome(j, err);
	}
	*e = (struct ending){ j->failure.message,
			      j->failure.code == ERR_WORKER ? JOB_CRASHED : JOB_FAILED };
	return store_part(j, RUN_FAILED, &j->failure, err);
}

/* Its figures beside those of the runs before it.  What fails here is made up for when the history
 * is asked for. */
static void look_for_changes(struct jobs *j, int64_t id)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	struct run_row run;
	bool left;

	if (!db_run_get(j->db, id, &arena, &run, &err) || run.status != RUN_DONE ||
	    !changes_catch_up(j->db, run.name, LOOK_AT, &left, &err))
		if (err.code != ERR_NONE)
			log_line(LOG_WARN, "run %lld: changes: %s", (long long)id, err.message);
	arena_finish(&arena);
}

/* A run stays the current one until the store has its end: what it measured is
 * not given up for a disk that is full for a while. */
static void finish_run(struct jobs *j)
{
	int64_t id = j->current;
	struct ending e = { .how = "" };
	struct err err = { 0 };
	bool settled;

	pthread_mutex_lock(&j->turn);
	settled = write_end(j, &e, &err) || err.code == ERR_CONFLICT;
	note_store(j, settled, &err);
	if (!settled && ++j->tries == STORE_TRIES && j->report && j->failure.code == ERR_NONE)
		j->failure = err; /* perhaps it is this report that does not go in */
	if (settled) {
		if (!j->quiet)
			log_line(LOG_INFO, "run %lld: %s", (long long)id,
				 err.code == ERR_NONE ? e.how : err.message);
		drop_sent(j);
		set_current(j, 0);
		pthread_mutex_lock(&j->lock);
		j->ends[e.end]++;
		pthread_mutex_unlock(&j->lock);
	}
	pthread_mutex_unlock(&j->turn);
	if (settled) {
		look_for_changes(j, id);
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
	if (j->failure.code == ERR_NONE && !j->report)
		j->failure = end;
	if (j->failure.code == ERR_NONE && !j->report)
		err_set(&j->failure, ERR_WORKER, "the worker ended without a report");
	finish_run(j);
}

static bool wants_cancel(struct jobs *j)
{
	bool cancel;

	pthread_mutex_lock(&j->lock);
	cancel = j->cancel;
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
		err_set(&j->failure, ERR_WORKER,
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

static void *run_queue(void *self)
{
	struct jobs *j = self;
	struct search_look look = { 0 };
	int64_t expired_ns = clock_ns();
	int64_t retain_due_ns = expired_ns;
	bool finds = false, retains = false; /* all runs are found; some are to be thinned out */

	while (!atomic_load(&j->stopping)) {
		struct pollfd fds[2] = { { .fd = j->wake_fd, .events = POLLIN } };
		uint64_t count;
		int n = 1;

		if (j->current == 0 && !atomic_load(&j->draining))
			begin_next(j);
		if (j->current != 0)
			fds[n++] = (struct pollfd){ .fd = j->worker.fd, .events = POLLIN };
		if (poll(fds, (nfds_t)n,
			 j->current || (finds && !retains)
			     ? events_due_ms(j->events, j->current ? RETRY_MS : KEEP_ALIVE_MS)
			     : 0) < 0 &&
		    errno != EINTR)
			log_line(LOG_ERROR, "poll: %s", strerror(errno));
		if ((fds[0].revents & POLLIN) && read(j->wake_fd, &count, sizeof(count)) < 0)
			log_line(LOG_WARN, "wake-up counter: %s", strerror(errno));
		if (j->current != 0)
			poll_worker(j, n > 1 && fds[1].revents != 0);
		events_keep_alive(j->events);
		if (clock_ns() - expired_ns > silent_trace_ns / 4) {
			struct err err = { 0 };

			keep_imports_open(j);
			db_trace_expire(j->db, silent_trace_ns, &err);
			expired_ns = clock_ns();
		}
		if (!finds && j->current == 0)
			finds = !make_found(j, &look);
		retains = j->current == 0 && finds && retain(j, &retain_due_ns);
		if (j->current == 0) {
			purge(j);
			give_back(j);
		}
	}
	if (j->current != 0)
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
	j->torch_python = o->torch_python;
	j->files_folder = o->files_folder;
	j->run_seconds = o->run_seconds;
	j->keep_days = o->keep_days;
	j->suite = o->suite;
	j->quiet = o->quiet;
	j->worker.fd = -1;
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
	drop_sent(j); /* of a run whose end the store did not take */
	json_decref(j->points);
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
	id = j->current;
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
}

void jobs_wake(struct jobs *j)
{
	uint64_t one = 1;

	if (write(j->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		log_line(LOG_WARN, "wake-up counter: %s", strerror(errno));
}

bool jobs_cancel(struct jobs *j, int64_t id, struct err *err)
{
	struct import_in_hand *import;
	bool is_current, ok;

	pthread_mutex_lock(&j->turn);
	pthread_mutex_lock(&j->lock);
	is_current = j->current == id;
	if (is_current)
		j->cancel = true;
	import = find_import(j, id);
	if (import)
		import->cancel = true; /* and the store has it at once, as of a trace */
	pthread_mutex_unlock(&j->lock);
	ok = is_current || db_run_end(j->db, id, RUN_CANCELLED, NULL, NULL, err);
	pthread_mutex_unlock(&j->turn);
	if (is_current)
		jobs_wake(j);
	else if (ok)
		events_publish(j->events, id);
	return ok;
}
