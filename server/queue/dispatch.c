/* server/queue/dispatch.c -- the thread that hands runs to other machines and follows them.
 *
 * What it knows of a run is in the store (struct placement), so that it goes on after a restart.
 * A run that waits is handed over with a token of its own; runs of one suite go together where the
 * executor takes several.  A run whose job is over without a report waits again, three times at
 * most.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/log.h"
#include "fusion/base/scratch.h"
#include "server/queue/elsewhere.h"
#include "server/text/secret.h"

enum {
	LOOK_MS = 2000,     /* between looks, while some host has a run */
	AT_ONCE = 1000,     /* runs of one script */
	MOST_TAKES = 3,     /* as the store counts them */
	MESSAGE_CHARS = 160 /* of what an executor says */
};
static const int64_t second_ns = INT64_C(1000000000);
static const int64_t token_s = 7 * 86400; /* a job may wait for so long */
static const double grace_s = 20; /* for posts that are on their way, where the file does not say */
static const int64_t refused_s = 10; /* until a host is handed runs again */

/* One look. */
struct host_look {
	struct hosts *h;
	struct host_seat *seat;
	struct placement *rows; /* of all hosts */
	int n;
	struct arena *arena;
};

/* ---- faults ---- */

/* Said in the log when it is another than before. */
static void set_fault(struct hosts *h, struct host_seat *seat, const char *message)
{
	bool same;

	pthread_mutex_lock(&h->lock);
	same = strncmp(seat->fault, message, sizeof(seat->fault) - 1) == 0;
	snprintf(seat->fault, sizeof(seat->fault), "%s", message);
	pthread_mutex_unlock(&h->lock);
	if (!same && *message)
		log_line(LOG_WARN, "host %s: %s", seat->host.name, message);
}

static void note(const struct err *err)
{
	if (err->code != ERR_NONE)
		log_line(LOG_WARN, "runs of other machines: %s", err->message);
}

/* ---- jobs that were handed over ---- */

static void end_run(struct host_look *l, const struct placement *p, enum run_status status,
		    const char *what, const char *said)
{
	struct err why = { 0 }, err = { 0 };
	bool mine, ok;

	err_set(&why, ERR_WORKER, "host %.64s: %s: %.*s", p->host, what, MESSAGE_CHARS, said);
	ok = hosts_end_run(l->h, p->run, &(struct run_ended){ .status = status, .why = &why },
			   &mine, &err);
	if (ok && !mine)
		ok = db_run_end(l->h->db, p->run, status, &why, NULL, &err) ||
		     err.code == ERR_CONFLICT;
	if (ok)
		db_placement_drop(l->h->db, p->run, PLACEMENT_OVER, &err);
	events_publish(l->h->events, p->run);
	note(&err);
}

static void cancel_job(struct host_look *l, const char *job)
{
	struct err err = { 0 };

	if (!l->seat->host.executor->cancel(&l->seat->host, &job, 1, &err))
		set_fault(l->h, l->seat, err.message);
}

/* A job that is over, of a run that is not. */
static void lose(struct host_look *l, const struct placement *p, const struct followed_job *job)
{
	const struct report_host *s = l->seat->host.settings;
	double grace = s->has.grace_seconds ? s->grace_seconds : grace_s;
	int64_t now = clock_wall_ns();
	struct err err = { 0 };

	if (!p->lost_ns)
		db_placement_say(l->h->db, p->run, job->said, now, &err);
	else if ((double)(now - p->lost_ns) < grace * 1e9)
		return;
	else if (p->attempts + !p->taken >= MOST_TAKES)
		end_run(l, p, RUN_FAILED, "three jobs ended without a report, the last", job->said);
	else if (db_placement_drop(l->h->db, p->run, PLACEMENT_LOST, &err))
		log_line(LOG_WARN,
			 "run %lld: its job %s on host %s ended without a report (%s); it "
			 "waits again",
			 (long long)p->run, p->job, p->host, job->said);
	note(&err);
}

static void follow_one(struct host_look *l, const struct placement *p,
		       const struct followed_job *job)
{
	bool lives = job->standing == JOB_WAITS || job->standing == JOB_RUNS;
	struct err err = { 0 };

	if (p->status > RUN_RUNNING) { /* it was cancelled here, or has its report */
		if (lives && p->status == RUN_CANCELLED)
			cancel_job(l, p->job);
		db_placement_drop(l->h->db, p->run, PLACEMENT_OVER, &err);
	} else if (lives) {
		db_placement_say(l->h->db, p->run, job->said, 0, &err);
	} else if (job->standing == JOB_STOPPED) {
		end_run(l, p, RUN_CANCELLED, "somebody ended its job", job->said);
	} else if (job->standing == JOB_LIMITED) {
		end_run(l, p, RUN_FAILED, "its job was ended", job->said);
	} else {
		lose(l, p, job);
	}
	note(&err);
}

static bool is_followed(const struct host_look *l, const struct placement *p)
{
	return p->handed && *p->job && strcmp(p->host, l->seat->host.name) == 0;
}

static void follow(struct host_look *l)
{
	struct followed_job *jobs = ARENA_ARRAY(l->arena, struct followed_job, (size_t)l->n + 1);
	struct err err = { 0 };
	int n = 0;

	for (int i = 0; i < l->n && jobs; i++)
		if (is_followed(l, &l->rows[i]))
			jobs[n++] = (struct followed_job){ .job = l->rows[i].job };
	if (n == 0)
		return;
	if (!l->seat->host.executor->look(&l->seat->host, jobs, n, l->arena, &err)) {
		set_fault(l->h, l->seat, err.message);
		return;
	}
	if (l->seat->again_ns == 0)
		set_fault(l->h, l->seat, "");
	for (int i = 0, k = 0; i < l->n; i++)
		if (is_followed(l, &l->rows[i]))
			follow_one(l, &l->rows[i], &jobs[k++]);
}

/* ---- runs that wait ---- */

/* The text between quotes of sh. */
static const char *quoted(struct arena *arena, const char *text)
{
	const char *out = arena_strdup(arena, "'"), *next;

	for (; out && (next = strchr(text, '\'')); text = next + 1)
		out = arena_printf(arena, "%s%.*s'\\''", out, (int)(next - text), text);
	return out ? arena_printf(arena, "%s%s'", out, text) : NULL;
}

static const char *flag(struct arena *arena, const char *name, const char *value)
{
	return value && *value ? arena_printf(arena, " %s %s", name, quoted(arena, value)) : "";
}

static const char *script_text(const struct host *host, const int64_t *runs, int n,
			       const char *token, struct arena *arena)
{
	const struct report_host *s = host->settings;
	const char *list = "";

	for (int i = 0; i < n && list; i++)
		list = arena_printf(arena, "%s %lld", list, (long long)runs[i]);
	return list ? arena_printf(
			  arena,
			  "#!/bin/sh\n"
			  "# Runs of a Breakeven server; the token is good for these alone.\n"
			  "export BREAKEVEN_TOKEN=%s\n"
			  "set --%s\n"
			  "shift \"${SLURM_ARRAY_TASK_ID:-0}\"\n"
			  "exec %s job --server %s --run \"$1\"%s%s\n",
			  token, list, quoted(arena, s->program ? s->program : "breakeven"),
			  quoted(arena, s->server), flag(arena, "--files", s->files),
			  flag(arena, "--torch-python", s->torch_python))
		    : NULL;
}

static bool write_script(const char *path, const char *text, struct err *err)
{
	FILE *f = text ? fopen(path, "we") : NULL;
	bool ok = f && fputs(text, f) >= 0;

	ok = f && fclose(f) == 0 && ok;
	return ok || err_set(err, ERR_IO, "no script for a job: %s",
			     text ? strerror(errno) : "out of memory");
}

/* The store knows of it before the executor does: a process that comes first is let in. */
static bool hand_over(struct host_look *l, const int64_t *runs, int n, struct err *err)
{
	const struct host *host = &l->seat->host;
	struct placement_secret secret = { .expires_ns = clock_wall_ns() + token_s * second_ns };
	char token[SECRET_CHARS + 1], path[300], name[64];
	struct scratch folder = { 0 };
	const char *job = NULL;
	bool ok = secret_make(SECRET_JOB, token, err) &&
		  scratch_create(&folder, "the script of a job", err);

	snprintf(path, sizeof(path), "%s/job.sh", folder.path);
	snprintf(name, sizeof(name), "breakeven-%lld", (long long)runs[0]);
	secret_hash(token, secret.hash);
	ok = ok && write_script(path, script_text(host, runs, n, token, l->arena), err) &&
	     db_placement_begin(l->h->db, runs, n, &secret, err);
	if (ok && !host->executor->submit(
		      host, &(struct handed_script){ .path = path, .name = name, .n = n }, l->arena,
		      &job, err)) {
		struct err unsaid = { 0 };

		for (int i = 0; i < n; i++)
			db_placement_drop(l->h->db, runs[i], PLACEMENT_REFUSED, &unsaid);
		ok = false;
	}
	for (int i = 0; ok && i < n; i++)
		ok = db_placement_handed(l->h->db, runs[i],
					 n > 1 ? arena_printf(l->arena, "%s%d", job, i) : job, err);
	if (ok)
		log_line(LOG_INFO, "host %s: job %s%s has %d run%s from %lld on", host->name, job,
			 n > 1 ? "*" : "", n, n > 1 ? "s" : "", (long long)runs[0]);
	scratch_destroy(&folder);
	return ok;
}

static bool waits(const struct host_look *l, const struct placement *p)
{
	return !p->handed && p->status == RUN_QUEUED && strcmp(p->host, l->seat->host.name) == 0;
}

/* The first that waits, with those of its suite that do; at most so many. */
static int next_runs(const struct host_look *l, bool *seen, int most, int64_t *runs)
{
	int64_t suite = 0;
	int n = 0;

	for (int i = 0; i < l->n && n < most; i++) {
		if (seen[i] || !waits(l, &l->rows[i]) || (n > 0 && l->rows[i].suite != suite))
			continue;
		suite = l->rows[i].suite;
		runs[n++] = l->rows[i].run;
		seen[i] = true;
		if (suite == 0)
			break;
	}
	return n;
}

static void hand_over_all(struct host_look *l)
{
	int64_t *runs = ARENA_ARRAY(l->arena, int64_t, AT_ONCE);
	bool *seen = ARENA_ARRAY(l->arena, bool, (size_t)l->n + 1);
	int64_t room = l->seat->most;
	struct err err = { 0 };
	bool ok = runs && seen;

	for (int i = 0; i < l->n; i++)
		room -= l->rows[i].handed && l->rows[i].status <= RUN_RUNNING &&
			strcmp(l->rows[i].host, l->seat->host.name) == 0;
	while (ok && room > 0) {
		int most = l->seat->host.executor->several ? (int)(room < AT_ONCE ? room : AT_ONCE)
							   : 1;
		int n = next_runs(l, seen, most, runs);

		if (n == 0)
			break;
		ok = hand_over(l, runs, n, &err);
		room -= n;
	}
	if (ok) {
		l->seat->again_ns = 0;
		return;
	}
	l->seat->again_ns = clock_ns() + refused_s * second_ns;
	set_fault(l->h, l->seat, err.message);
}

/* ---- the thread ---- */

/* Whether there is anything to follow. */
static bool look_once(struct hosts *h)
{
	struct arena arena = { 0 };
	struct host_look l = { .h = h, .arena = &arena };
	struct err err = { 0 };
	bool some;

	if (!db_placement_list(h->db, RUNS_ELSEWHERE, &arena, &l.rows, &l.n, &err))
		note(&err);
	some = l.n > 0;
	for (int i = 0; i < l.n; i++) /* it ended before the executor said what it is called */
		if (l.rows[i].status > RUN_RUNNING && !*l.rows[i].job)
			db_placement_drop(h->db, l.rows[i].run, PLACEMENT_OVER, &err);
	for (int i = 0; i < h->n && some; i++) {
		l.seat = &h->seats[i];
		follow(&l);
		if (clock_ns() >= l.seat->again_ns)
			hand_over_all(&l);
	}
	arena_finish(&arena);
	return some;
}

void *dispatch_run(void *self)
{
	struct hosts *h = self;
	bool some = true;

	pthread_mutex_lock(&h->lock);
	while (!h->stopping) {
		struct timespec until;
		bool look = h->n > 0 && (some || h->news);

		h->news = false;
		if (look) {
			pthread_mutex_unlock(&h->lock);
			some = look_once(h);
			pthread_mutex_lock(&h->lock);
		}
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += LOOK_MS / 1000;
		if (h->stopping || h->news)
			continue;
		if (some && h->n > 0)
			pthread_cond_timedwait(&h->wake, &h->lock, &until);
		else
			pthread_cond_wait(&h->wake, &h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return NULL;
}
