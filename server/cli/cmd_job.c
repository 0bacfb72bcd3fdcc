/* server/cli/cmd_job.c -- `breakeven job --server URL --run ID`: does a run of a server on this
 * machine.  An executor of that server begins it (server/queue/dispatch.c).
 *
 * It is what the server's own queue is to a worker: it starts one, with the same limits, and passes
 * on what that says.  All of it is kept in a file until the server has the run's end: a server that
 * is started again asks for it from the beginning.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "fusion/base/clock.h"
#include "fusion/base/log.h"
#include "fusion/base/scratch.h"
#include "profiler/fields/fields.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/interrupt.h"
#include "server/cli/post.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

enum {
	PIECE_BYTES = 8 << 20, /* of one post */
	TICK_MS = 500,         /* between posts of what has come */
	ALIVE_MS = 10000,      /* without news: it still runs, and hears whether it shall */
	PATIENCE_S = 900,      /* for a server that is away */
	WAIT_MS = 5000,        /* between tries */
	ATTEMPT_BYTES = 16,
};

struct job_flags {
	const char *server, *run_text, *cache, *files, *torch_python;
	long long run;
	char usual_cache[4096];
};

struct job_run {
	const struct job_flags *f;
	const struct registry *registry;
	struct post *post;
	char attempt[2 * ATTEMPT_BYTES + 1];
	const volatile sig_atomic_t *interrupted;

	int file;         /* what the worker said so far */
	int64_t written;  /* bytes of it */
	int64_t received; /* that the server has */
	int64_t posted_ns;
	char *piece;      /* PIECE_BYTES */
	bool ended, done; /* the run, as the server says; done: with its report */
};

static bool begin(struct job_run *j, struct err *err)
{
	unsigned char bits[ATTEMPT_BYTES];

	if (getrandom(bits, sizeof(bits), 0) != (ssize_t)sizeof(bits))
		return err_set(err, ERR_IO, "the system gives no random bits");
	for (size_t i = 0; i < sizeof(bits); i++)
		snprintf(j->attempt + 2 * i, 3, "%02x", bits[i]);
	j->file = scratch_file("what a worker says", err);
	j->piece = malloc(PIECE_BYTES);
	if (j->file >= 0 && !j->piece)
		err_set(err, ERR_MEMORY, "out of memory for a post");
	j->post = j->file >= 0 && j->piece ? post_open(j->f->server, err) : NULL;
	return j->post != NULL;
}

static void finish(struct job_run *j)
{
	post_close(j->post);
	free(j->piece);
	if (j->file >= 0)
		close(j->file);
}

/* A server that is away, or whose disk is full, may be there again. */
static bool may_be_well(const struct err *err)
{
	return err->code == ERR_IO || err->code == ERR_BUSY || err->code == ERR_STORAGE ||
	       err->code == ERR_FULL || err->code == ERR_RATE || err->code == ERR_MEMORY;
}

/* ---- the run is taken ---- */

static char *take_once(struct job_run *j, int64_t *run_seconds, struct err *err)
{
	const struct report_job_taken *taken = NULL;
	struct arena arena = { 0 };
	char path[96], body[128], *workload = NULL;
	json_t *answer = NULL;

	snprintf(path, sizeof(path), "/jobs/%lld/take", j->f->run);
	snprintf(body, sizeof(body), "{\"attempt\": \"%s\"}", j->attempt);
	if (post_send(j->post, path,
		      (struct post_body){ "application/json", body, strlen(body), NULL }, &answer,
		      err))
		taken = report_read_job_taken(answer, &arena, err);
	if (taken) {
		workload = json_dumps(taken->workload, JSON_COMPACT);
		*run_seconds = taken->run_seconds;
		if (!workload)
			err_set(err, ERR_MEMORY, "out of memory for the workload");
	}
	json_decref(answer);
	arena_finish(&arena);
	return workload;
}

static bool again(const struct job_run *j, int64_t until_ns, const struct err *err)
{
	if (*j->interrupted || !may_be_well(err) || clock_ns() > until_ns)
		return false;
	usleep(WAIT_MS * 1000);
	return true;
}

/* The workload, malloc'd. */
static char *take(struct job_run *j, int64_t *run_seconds, struct err *err)
{
	int64_t until_ns = clock_ns() + PATIENCE_S * INT64_C(1000000000);
	char *workload;

	while (!(workload = take_once(j, run_seconds, err)) && again(j, until_ns, err))
		*err = (struct err){ 0 };
	return workload;
}

/* ---- what the worker says ---- */

/* One post of the next bytes, or of none.  The server says where to go on. */
static bool post_next(struct job_run *j, struct err *err)
{
	const struct report_job_received *got = NULL;
	struct arena arena = { 0 };
	json_t *answer = NULL;
	char path[192];
	ssize_t n = pread(j->file, j->piece, PIECE_BYTES, j->received);

	if (n < 0)
		return err_set(err, ERR_IO, "what the worker said cannot be read: %s",
			       strerror(errno));
	snprintf(path, sizeof(path), "/jobs/%lld/messages?attempt=%s&at=%" PRId64, j->f->run,
		 j->attempt, j->received);
	if (post_send(j->post, path,
		      (struct post_body){ "application/octet-stream", j->piece, (size_t)n, NULL },
		      &answer, err))
		got = report_read_job_received(answer, &arena, err);
	if (got) {
		j->received = got->received <= j->written && got->received >= 0 ? got->received : 0;
		j->ended = got->ended;
		j->done = strcmp(got->status, "done") == 0;
		j->posted_ns = clock_ns();
	}
	json_decref(answer);
	arena_finish(&arena);
	return got != NULL;
}

static bool keep(struct job_run *j, const char *bytes, size_t len, struct err *err)
{
	while (len > 0) {
		ssize_t n = pwrite(j->file, bytes, len, j->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(err, ERR_IO, "what the worker said cannot be kept: %s",
				       strerror(errno));
		j->written += n;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

/* As a worker says it. */
static bool keep_failure(struct job_run *j, const struct err *why, struct err *err)
{
	json_t *json = json_pack("{s:s, s:s, s:i, s:i}", "code", err_name(why->code), "message",
				 why->message, "line", why->line, "column", why->column);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;
	char head[MESSAGE_HEAD_BYTES];
	bool ok;

	message_head(MESSAGE_ERROR, len, head);
	ok = text && keep(j, head, sizeof(head), err) && keep(j, text, len, err);

	if (!text)
		err_set(err, ERR_MEMORY, "out of memory for a failure");
	free(text);
	json_decref(json);
	return ok;
}

/* What is there; false at its end. */
static bool read_worker(struct job_run *j, int fd, struct err *err)
{
	for (;;) {
		ssize_t n = read(fd, j->piece, PIECE_BYTES);

		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return true;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || !keep(j, j->piece, (size_t)n, err))
			return false;
	}
}

/* A server that is away meanwhile is asked again; what it refuses for good ends the run. */
static bool tell(struct job_run *j, struct err *err)
{
	int64_t since_ms = (clock_ns() - j->posted_ns) / 1000000;

	if (since_ms < (j->written > j->received ? TICK_MS : ALIVE_MS))
		return true;
	j->posted_ns = clock_ns();
	if (post_next(j, err) || may_be_well(err)) {
		*err = (struct err){ 0 };
		return !j->ended;
	}
	return false;
}

/* Until the worker has ended, the run has, or its time is over. */
static void watch(struct job_run *j, struct worker *w, int64_t run_seconds, struct err *failure)
{
	int64_t until_ns = clock_ns() + run_seconds * INT64_C(1000000000);

	while (failure->code == ERR_NONE && !j->ended) {
		struct pollfd fd = { .fd = w->fd, .events = POLLIN };

		if (poll(&fd, 1, TICK_MS) > 0 && !read_worker(j, w->fd, failure))
			return;
		/* Whoever ends the job says what becomes of its run. */
		if (*j->interrupted)
			return;
		if (clock_ns() > until_ns)
			err_set(failure, ERR_WORKER,
				"the run took over %lld s, the limit of one run; measure fewer "
				"points or smaller inputs, or start the server with a larger "
				"--run-seconds",
				(long long)run_seconds);
		else
			tell(j, failure);
	}
}

/* Until the server has all of it. */
static bool deliver(struct job_run *j, struct err *err)
{
	int64_t until_ns = clock_ns() + PATIENCE_S * INT64_C(1000000000);

	while (!j->ended) {
		struct err why = { 0 };

		if (post_next(j, &why))
			until_ns = clock_ns() + PATIENCE_S * INT64_C(1000000000);
		else if (!again(j, until_ns, &why)) {
			*err = why;
			return false;
		}
	}
	return true;
}

static bool run_workload(struct job_run *j, const char *workload, int64_t run_seconds,
			 struct err *err)
{
	struct worker_options options = {
		.cache_dir = j->f->cache,
		.cpu_seconds = (int)run_seconds * WORKER_CPU_PER_WALL,
		.registry = j->registry,
		.torch_python = j->f->torch_python,
		.files_folder = j->f->files,
	};
	struct err failure = { 0 }, end = { 0 };
	struct worker w = { .fd = -1 };
	bool clean = true;

	if (worker_start(&w, &options, MESSAGE_WORKLOAD, workload, &failure)) {
		watch(j, &w, run_seconds, &failure);
		worker_reap(&w, failure.code != ERR_NONE || j->ended || *j->interrupted, &clean,
			    &end);
	}
	if (j->ended)
		return true;
	if (*j->interrupted)
		return false;
	if (failure.code == ERR_NONE && !clean)
		failure = end;
	/* Of what it has sent before, a report or a failure, the first counts. */
	if (failure.code == ERR_NONE)
		err_set(&failure, ERR_WORKER, "the worker ended without a report");
	return keep_failure(j, &failure, err) && deliver(j, err);
}

static int do_run(const struct job_flags *f, const struct registry *registry)
{
	struct job_run j = {
		.f = f, .registry = registry, .file = -1, .interrupted = interrupt_watch()
	};
	struct err err = { 0 };
	int64_t run_seconds = 0;
	char *workload = begin(&j, &err) ? take(&j, &run_seconds, &err) : NULL;
	bool ok = workload && run_workload(&j, workload, run_seconds, &err);

	if (err.code != ERR_NONE)
		fprintf(stderr, "breakeven job: run %lld: %s\n", f->run, err.message);
	else if (ok)
		printf("run %lld: %s\n", f->run, j.done ? "done" : "ended without its report");
	free(workload);
	finish(&j);
	return ok && j.done ? EXIT_DONE : *j.interrupted ? EXIT_INTERRUPTED : EXIT_FAILED;
}

int cmd_job(int argc, char **argv, const struct registry *registry)
{
	struct job_flags f = { 0 };
	const struct flag table[] = {
		{ "--server", .value = &f.server },
		{ "--run", .value = &f.run_text },
		{ "--cache", .value = &f.cache },
		{ "--files", .value = &f.files },
		{ "--torch-python", .value = &f.torch_python },
	};
	struct flags flags = { .command = "job",
			       .table = table,
			       .n = sizeof(table) / sizeof(table[0]) };
	int status = flags_read(&flags, argc, argv);

	if (status >= 0)
		return status;
	if (!f.server || !f.run_text) {
		flags_refuse("job", "it needs --server and --run", "");
		return EXIT_USAGE;
	}
	if (!flags_integer("job", "--run", f.run_text, 1, INT64_MAX, &f.run))
		return EXIT_USAGE;
	if (!f.cache && default_cache_dir(f.usual_cache, sizeof(f.usual_cache)))
		f.cache = f.usual_cache;
	return do_run(&f, registry);
}
