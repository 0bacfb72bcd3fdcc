/* server/queue/hosts.c -- the machines of `serve --hosts`, and runs that processes there have. */
#include "server/queue/elsewhere.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/log.h"

static const struct executor *const executors[] = {
#define EXECUTOR(name) &name,
#include "server/queue/executors.def"
#undef EXECUTOR
};

/* NULL: there is none such. */
static const struct executor *executor_named(const char *name)
{
	for (size_t i = 0; i < sizeof(executors) / sizeof(executors[0]); i++)
		if (strcmp(executors[i]->name, name) == 0)
			return executors[i];
	return NULL;
}

/* ---- the file ---- */

static bool is_word(const char *text)
{
	size_t n = strlen(text);

	return n >= 1 && n <= 64 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
		   n;
}

static bool is_address(const char *url)
{
	return (strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0) &&
	       strlen(url) < 600 && !url[strcspn(url, " '\"\\\n")];
}

static bool check_host(const struct host_seat *seat, struct err *err)
{
	const struct host *h = &seat->host;

	if (!is_word(h->name) || strcmp(h->name, executor_local.name) == 0)
		return err_set(
		    err, ERR_BAD_REQUEST,
		    "'%.64s' is no name of a host: it is 1 to 64 letters, digits, - _ and "
		    ". (%s is this machine)",
		    h->name, executor_local.name);
	if (!h->executor || !h->executor->submit)
		return err_set(err, ERR_BAD_REQUEST,
			       "host %.64s: executor must be slurm or command, not '%.64s'",
			       h->name, h->settings->executor);
	if (!is_address(h->settings->server))
		return err_set(err, ERR_BAD_REQUEST,
			       "host %.64s: server must be an address as http://10.0.0.1:8080, not "
			       "'%.120s'",
			       h->name, h->settings->server);
	if (seat->most < 1 || seat->most > 1000)
		return err_set(err, ERR_BAD_REQUEST, "host %.64s: most must be 1 to 1000", h->name);
	if (h->settings->has.grace_seconds &&
	    !(h->settings->grace_seconds >= 0 && h->settings->grace_seconds <= 3600))
		return err_set(err, ERR_BAD_REQUEST, "host %.64s: grace_seconds must be 0 to 3600",
			       h->name);
	return h->executor->check(h, err);
}

/* A misspelt name would otherwise count for nothing. */
static bool check_names(const json_t *json, const struct report_record *record, const char *of,
			struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)json, key, value)
		if (!report_field(record, key))
			return err_set(err, ERR_BAD_REQUEST, "%s has no field '%.64s'", of, key);
	return true;
}

static bool read_hosts(struct hosts *h, struct err *err)
{
	const struct report_hosts_file *f = report_read_hosts_file(h->file, &h->arena, err);

	if (!f || !check_names(h->file, REPORT_RECORD(hosts_file), "the file of hosts", err))
		return false;
	if (f->hosts.n > HOSTS_MOST)
		return err_set(err, ERR_BAD_REQUEST, "it has %zu hosts; the limit is %d",
			       f->hosts.n, HOSTS_MOST);
	for (size_t i = 0; i < f->hosts.n; i++) {
		struct host_seat *seat = &h->seats[i];

		seat->host = (struct host){ .name = f->hosts.keys[i], .settings = &f->hosts.at[i] };
		seat->host.executor = executor_named(seat->host.settings->executor);
		seat->most = seat->host.settings->has.most ? seat->host.settings->most
							   : JOBS_OF_HOST;
		if (!check_names(seat->host.settings->json, REPORT_RECORD(host), seat->host.name,
				 err) ||
		    !check_host(seat, err))
			return false;
		h->n++;
	}
	return true;
}

static bool read_file(struct hosts *h, const char *path, struct err *err)
{
	json_error_t at;
	struct err why = { 0 };

	if (!path)
		return true;
	h->file = json_load_file(path, JSON_REJECT_DUPLICATES, &at);
	if (!h->file)
		return err_set(err, ERR_JSON, "%.200s: line %d: %s", path, at.line, at.text);
	return read_hosts(h, &why) || err_set(err, why.code, "%.200s: %s", path, why.message);
}

/* NULL: there is no other machine of that name. */
static const struct host *host_named(const struct hosts *h, const char *name)
{
	for (int i = 0; i < h->n; i++)
		if (strcmp(h->seats[i].host.name, name) == 0)
			return &h->seats[i].host;
	return NULL;
}

bool hosts_take_workload(const struct hosts *h, const char *host, bool reads_files, struct err *err)
{
	const struct host *found = host && *host ? host_named(h, host) : NULL;

	if (!host || !*host || strcmp(host, executor_local.name) == 0)
		return true;
	if (!found)
		return err_set(
		    err, ERR_BAD_REQUEST,
		    "host '%.64s' is none of this server's: GET /api/v1/hosts lists them", host);
	return !reads_files || found->settings->files ||
	       err_set(err, ERR_BAD_REQUEST,
		       "host %.64s has not the files that this workload reads: its row of the file "
		       "of hosts has no 'files'",
		       host);
}

/* ---- start and end ---- */

static void drop_remote(struct remote *r)
{
	job_drop(&r->job);
	json_decref(r->job.points);
	message_reader_finish(&r->reader);
	free(r);
}

static void destroy(struct hosts *h)
{
	for (struct remote *r = h->first, *next; r; r = next) {
		next = r->next;
		drop_remote(r);
	}
	pthread_cond_destroy(&h->wake);
	pthread_mutex_destroy(&h->lock);
	pthread_mutex_destroy(&h->turn);
	json_decref(h->file);
	arena_finish(&h->arena);
	free(h);
}

struct hosts *hosts_start(struct db *db, struct events *events, const struct hosts_options *o,
			  struct err *err)
{
	struct hosts *h = calloc(1, sizeof(*h));
	pthread_condattr_t attributes;

	if (!h) {
		err_set(err, ERR_MEMORY, "out of memory for the hosts");
		return NULL;
	}
	h->db = db;
	h->events = events;
	h->run_seconds = o->run_seconds;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&h->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&h->lock, NULL);
	pthread_mutex_init(&h->turn, NULL);
	if (read_file(h, o->file, err) && db_placement_forget_unknown(db, err)) {
		if (pthread_create(&h->thread, NULL, dispatch_run, h) == 0)
			return h;
		err_set(err, ERR_MEMORY, "no thread for the hosts");
	}
	destroy(h);
	return NULL;
}

void hosts_stop(struct hosts *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->stopping = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
	pthread_join(h->thread, NULL);
	destroy(h);
}

void hosts_wake(struct hosts *h)
{
	pthread_mutex_lock(&h->lock);
	h->news = true;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
}

/* ---- runs in hand; the caller has the turn ---- */

static struct remote *find_remote(struct hosts *h, int64_t run)
{
	struct remote *r = h->first;

	while (r && r->job.run != run)
		r = r->next;
	return r;
}

static struct remote *add_remote(struct hosts *h, const struct job_claim *claim)
{
	struct remote *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->job = (struct job){ .db = h->db, .events = h->events, .lock = &h->lock };
	snprintf(r->attempt, sizeof(r->attempt), "%s", claim->attempt);
	job_begin(&r->job, claim->run);
	pthread_mutex_lock(&h->lock);
	r->next = h->first;
	h->first = r;
	pthread_mutex_unlock(&h->lock);
	return r;
}

static void remove_remote(struct hosts *h, struct remote *gone)
{
	struct remote **at = &h->first;

	pthread_mutex_lock(&h->lock);
	while (*at != gone)
		at = &(*at)->next;
	*at = gone->next;
	pthread_mutex_unlock(&h->lock);
	drop_remote(gone);
}

/* Writes down how it ended; it is in hand no more then.  False where the store does not take it. */
static bool end_remote(struct hosts *h, struct remote *r, struct err *err)
{
	struct job_ending e = { .how = "" };
	int64_t run = r->job.run;
	bool written = job_write_end(&r->job, false, &e, err);

	if (!written && err->code != ERR_CONFLICT)
		return false;
	if (written) {
		log_line(LOG_INFO, "run %lld: %s", (long long)run, e.how);
		pthread_mutex_lock(&h->lock);
		h->ends[e.end]++;
		pthread_mutex_unlock(&h->lock);
	}
	*err = (struct err){ 0 };
	remove_remote(h, r);
	job_look_for_changes(h->db, run);
	events_publish(h->events, run);
	return true;
}

bool hosts_end_run(struct hosts *h, int64_t run, const struct run_ended *end, bool *mine,
		   struct err *err)
{
	struct remote *r;
	bool ok = true;

	pthread_mutex_lock(&h->turn);
	r = find_remote(h, run);
	*mine = r != NULL;
	if (r) {
		r->job.stopped = end->status == RUN_CANCELLED;
		r->job.failure = end->why ? *end->why : (struct err){ 0 };
		ok = end_remote(h, r, err);
	}
	pthread_mutex_unlock(&h->turn);
	hosts_wake(h);
	return ok;
}

/* ---- what others ask; the list changes with the lock held ---- */

bool hosts_job_state(struct hosts *h, int64_t run, struct job_state *out)
{
	struct remote *r;

	pthread_mutex_lock(&h->lock);
	r = find_remote(h, run);
	if (r)
		*out = r->job.state;
	pthread_mutex_unlock(&h->lock);
	return r != NULL;
}

bool hosts_job_points(struct hosts *h, int64_t run, json_t **points)
{
	struct remote *r;

	pthread_mutex_lock(&h->lock);
	r = find_remote(h, run);
	if (r)
		*points = r->job.points ? json_deep_copy(r->job.points) : json_array();
	pthread_mutex_unlock(&h->lock);
	return r != NULL;
}

void hosts_add_ends(struct hosts *h, int64_t counts[JOB_ENDS])
{
	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < JOB_ENDS; i++)
		counts[i] += h->ends[i];
	pthread_mutex_unlock(&h->lock);
}

/* ---- what processes post ---- */

static bool check_claim(struct hosts *h, const struct job_claim *claim, struct err *err)
{
	size_t len = strlen(claim->attempt);
	bool counts = false;

	if (len < 8 || len > ATTEMPT_CHARS)
		return err_set(err, ERR_BAD_REQUEST, "attempt must have 8 to %d letters and digits",
			       ATTEMPT_CHARS);
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)claim->attempt[i]))
			return err_set(err, ERR_BAD_REQUEST,
				       "attempt must be letters and digits alone");
	return db_placement_counts(h->db, claim->hash, claim->run, &counts, err) &&
	       (counts || err_set(err, ERR_UNAUTHORIZED,
				  "this token is not of run %lld: it has ended, or was handed to "
				  "another",
				  (long long)claim->run));
}

/* Why the process may not have it. */
static bool refuse_take(struct hosts *h, const struct job_claim *claim, const struct run_row *run,
			struct err *err)
{
	struct err why = { 0 };
	struct remote *r = find_remote(h, claim->run);

	if (run->status > RUN_RUNNING)
		return err_set(err, ERR_CONFLICT, "run %lld has ended: %s", (long long)claim->run,
			       run_status_name(run->status));
	err_set(&why, ERR_WORKER,
		"it was begun %d times on host %.64s, and ended without a report each time; it is "
		"not tried again",
		run->attempts, run->host);
	if (r) {
		r->job.failure = why;
		end_remote(h, r, err);
	} else {
		db_run_end(h->db, claim->run, RUN_FAILED, &why, NULL, err);
	}
	return err_set(err, ERR_CONFLICT, "%s", why.message);
}

/* With the turn. */
static bool take(struct hosts *h, const struct job_claim *claim, struct arena *arena,
		 const char **workload, struct err *err)
{
	struct remote *r = find_remote(h, claim->run);
	struct run_row run;
	bool taken;

	if (!db_placement_take(h->db, claim->run, claim->attempt, &taken, err) ||
	    !db_run_get(h->db, claim->run, arena, &run, err))
		return false;
	if (!taken)
		return refuse_take(h, claim, &run, err);
	if (r && strcmp(r->attempt, claim->attempt) != 0) {
		remove_remote(h, r);
		r = NULL;
	}
	if (!r && !add_remote(h, claim))
		return err_set(err, ERR_MEMORY, "out of memory for a job");
	*workload = run.workload;
	log_line(LOG_INFO, "run %lld: started on host %s (%s)", (long long)run.id, run.host,
		 run.name);
	return true;
}

bool hosts_job_take(struct hosts *h, const struct job_claim *claim, struct arena *arena,
		    const char **workload, int64_t *run_seconds, struct err *err)
{
	bool ok;

	*run_seconds = h->run_seconds;
	if (!check_claim(h, claim, err))
		return false;
	pthread_mutex_lock(&h->turn);
	ok = take(h, claim, arena, workload, err);
	pthread_mutex_unlock(&h->turn);
	events_publish(h->events, claim->run);
	return ok;
}

/* It has a report or a failure; what comes after the first of them is passed over. */
static bool is_over(const struct remote *r)
{
	return r->job.report || r->job.failure.code != ERR_NONE;
}

static bool read_bytes(struct remote *r, const struct job_bytes *bytes, struct err *err)
{
	enum message_type type;
	char *text;
	size_t len;
	bool bad = false;

	if (!message_add(&r->reader, bytes->bytes, bytes->len))
		return err_set(err, ERR_MEMORY, "out of memory for what a job sends");
	r->received += (int64_t)bytes->len;
	while (!is_over(r) && message_next(&r->reader, &type, &text, &len, &bad))
		job_take(&r->job, type, text, len);
	if (bad)
		err_set(&r->job.failure, ERR_WORKER,
			"the worker sent a message over the limit of %d bytes", MESSAGE_MAX_BYTES);
	return true;
}

/* With the turn.  NULL: the run has ended, or another process has it. */
static struct remote *remote_of(struct hosts *h, const struct job_claim *claim, struct err *err)
{
	struct remote *r = find_remote(h, claim->run);
	bool taken = false;

	if (r)
		return strcmp(r->attempt, claim->attempt) == 0 ? r : NULL;
	/* The server was started again meanwhile. */
	if (!db_placement_take(h->db, claim->run, claim->attempt, &taken, err) || !taken)
		return NULL;
	r = add_remote(h, claim);
	if (!r)
		err_set(err, ERR_MEMORY, "out of memory for a job");
	return r;
}

static bool take_messages(struct hosts *h, const struct job_claim *claim,
			  const struct job_bytes *bytes, struct report_job_received *out,
			  struct err *err)
{
	struct remote *r = remote_of(h, claim, err);
	bool over;

	REPORT_SET(out, status, run_status_name(RUN_RUNNING));
	REPORT_SET(out, received, r ? r->received : INT64_C(0));
	REPORT_SET(out, ended, r == NULL);
	if (!r || bytes->at != r->received)
		return err->code == ERR_NONE;
	if (!read_bytes(r, bytes, err))
		return false;
	out->received = r->received;
	over = is_over(r);
	out->ended = over;
	return !over || end_remote(h, r, err);
}

bool hosts_job_messages(struct hosts *h, const struct job_claim *claim,
			const struct job_bytes *bytes, struct report_job_received *out,
			struct err *err)
{
	struct arena arena = { 0 };
	struct run_row run;
	bool ok;

	if (!check_claim(h, claim, err))
		return false;
	pthread_mutex_lock(&h->turn);
	ok = take_messages(h, claim, bytes, out, err);
	pthread_mutex_unlock(&h->turn);
	if (ok && out->ended) {
		hosts_wake(h);
		ok = db_run_get(h->db, claim->run, &arena, &run, err);
		if (ok)
			out->status = run_status_name(run.status);
	}
	arena_finish(&arena);
	return ok;
}

/* ---- the list ---- */

static void fill_state(struct hosts *h, int seat, const struct placement *rows, int n,
		       struct arena *arena, struct report_host_state *to)
{
	const struct host *host = &h->seats[seat].host;
	struct report_host_job *jobs = report_new_host_job((size_t)n + 1, arena);
	int64_t waiting = 0, handed = 0, running = 0;
	size_t n_jobs = 0;

	for (int i = 0; i < n && jobs; i++) {
		struct report_host_job *job = &jobs[n_jobs];

		if (strcmp(rows[i].host, host->name) != 0 || rows[i].status > RUN_RUNNING)
			continue;
		waiting += !rows[i].handed;
		handed += rows[i].handed && rows[i].status == RUN_QUEUED;
		running += rows[i].status == RUN_RUNNING;
		REPORT_SET(job, run, rows[i].run);
		REPORT_SET(job, status, run_status_name(rows[i].status));
		REPORT_SET_IF(job, job, *rows[i].job, rows[i].job);
		REPORT_SET_IF(job, said, *rows[i].said, rows[i].said);
		REPORT_SET(job, attempts, rows[i].attempts);
		n_jobs++;
	}
	REPORT_SET(to, name, host->name);
	REPORT_SET(to, executor, host->executor->name);
	REPORT_SET_IF(to, title, host->settings->title, host->settings->title);
	REPORT_SET(to, waiting, waiting);
	REPORT_SET(to, handed, handed);
	REPORT_SET(to, running, running);
	REPORT_SET(to, jobs, (struct report_host_job_list){ jobs, n_jobs });
	pthread_mutex_lock(&h->lock);
	REPORT_SET_IF(to, error, h->seats[seat].fault[0],
		      arena_strdup(arena, h->seats[seat].fault));
	pthread_mutex_unlock(&h->lock);
}

/* This machine. */
static bool fill_local(struct hosts *h, struct report_host_state *to, struct err *err)
{
	int64_t counts[RUN_STATUS_COUNT];

	if (!db_run_counts_here(h->db, counts, err))
		return false;
	REPORT_SET(to, name, executor_local.name);
	REPORT_SET(to, executor, executor_local.name);
	REPORT_SET(to, title, executor_local.title);
	REPORT_SET(to, waiting, counts[RUN_QUEUED]);
	REPORT_SET(to, handed, INT64_C(0));
	REPORT_SET(to, running, counts[RUN_RUNNING]);
	REPORT_SET(to, jobs, (struct report_host_job_list){ 0 });
	return true;
}

const struct report_hosts *hosts_list(struct hosts *h, struct arena *arena, struct err *err)
{
	struct report_host_state *states = report_new_host_state((size_t)h->n + 1, arena);
	struct report_hosts *all = report_new_hosts(1, arena);
	struct placement *rows;
	int n;

	if (!db_placement_list(h->db, RUNS_ELSEWHERE, arena, &rows, &n, err))
		return NULL;
	if (!states || !all) {
		err_set(err, ERR_MEMORY, "out of memory for the list of hosts");
		return NULL;
	}
	if (!fill_local(h, &states[0], err))
		return NULL;
	for (int i = 0; i < h->n; i++)
		fill_state(h, i, rows, n, arena, &states[i + 1]);
	REPORT_SET(all, hosts, (struct report_host_state_list){ states, (size_t)h->n + 1 });
	return all;
}
