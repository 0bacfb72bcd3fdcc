/* server/queue/beside.c -- a process that waits beside a confined one, and starts workers for it.
 *
 * Whoever runs a program is confined, and what a confined process starts could not start a GPU's
 * driver: its Landlock knows /proc/self of one process.  So a process that is not confined waits
 * beside it and starts a worker when it is asked, which confines itself.  It is asked for a second
 * process' samples of a point, and for the kernel that failed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/spawn.h"
#include "profiler/fields/fields.h"
#include "profiler/profiler.h"
#include "server/queue/queue.h"

enum { SILENT_SECONDS = 120, TICK_MS = 100 };

struct beside {
	int fd;
	pid_t pid;
};

/* The next message of a worker that says something now and then; its text is good until the one
 * after it.  False where it is silent for too long, has gone, or *interrupted is set. */
static bool next_message(struct message_reader *reader, int fd, enum message_type *type,
			 char **text, const volatile sig_atomic_t *interrupted)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	int silent_ms = 0;
	bool bad = false;
	size_t len;

	while (!message_next(reader, type, text, &len, &bad)) {
		int ready = bad || (interrupted && *interrupted) ? -1 : poll(&polled, 1, TICK_MS);
		long n;

		if (ready < 0 && !bad && errno == EINTR && !(interrupted && *interrupted))
			continue;
		if (ready == 0 && (silent_ms += TICK_MS) < SILENT_SECONDS * 1000)
			continue;
		if (ready <= 0)
			return false;
		silent_ms = 0;
		n = message_fill(reader, fd);
		if (n == 0 || n == -1)
			return false;
	}
	return true;
}

/* ---- the process that waits ---- */

static void say_failure(int fd, const struct err *why)
{
	json_t *json = json_pack("{s:s, s:s}", "code", err_name(why->code), "message",
				 why->message);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	if (text)
		message_send(fd, MESSAGE_ERROR, text, strlen(text), NULL);
	free(text);
	json_decref(json);
}

/* What the worker says in the end goes to who asked, as it is; what it says meanwhile too, so that
 * the one who asks knows that it is at work. */
static void ask_worker(int fd, const struct worker_options *options, enum message_type job,
		       const char *order)
{
	struct message_reader reader = { 0 };
	enum message_type type = MESSAGE_PROGRESS;
	struct err why = { 0 };
	struct worker w;
	char *text;
	bool clean, ended = false;

	if (!worker_start(&w, options, job, order, &why)) {
		say_failure(fd, &why);
		return;
	}
	while (!ended && next_message(&reader, w.fd, &type, &text, NULL)) {
		ended = type == MESSAGE_ERROR || type == MESSAGE_REPORT;
		if ((ended || type == MESSAGE_PROGRESS) &&
		    !message_send(fd, type, text, strlen(text), NULL))
			break;
	}
	message_reader_finish(&reader);
	worker_reap(&w, true, &clean, ended ? NULL : &why);
	if (!ended)
		say_failure(fd, why.code ? &why
					 : &(struct err){ .code = ERR_WORKER,
							  .message = "it ended without a word" });
}

static _Noreturn void serve(int fd, struct worker_options options)
{
	struct message_reader reader = { 0 };
	enum message_type type;
	char *text;
	size_t len;
	bool bad = false;

	signal(SIGINT, SIG_IGN); /* who asks decides when it is over */
	signal(SIGTERM, SIG_IGN);
	close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0u, 0);
	end_with_parent(fd);
	while (!bad) {
		if (!message_next(&reader, &type, &text, &len, &bad)) {
			if (bad || message_fill(&reader, fd) <= 0)
				break;
			continue;
		}
		options.blocking = type == MESSAGE_WORKLOAD;
		ask_worker(fd, &options, type, text);
	}
	_exit(0);
}

/* ---- the process that asks ---- */

struct beside *beside_start(const struct worker_options *options)
{
	struct beside *b;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return NULL;
	b = malloc(sizeof(*b));
	if (b)
		*b = (struct beside){ .fd = pair[0], .pid = fork() };
	if (b && b->pid == 0)
		serve(pair[1], *options);
	close(pair[1]);
	if (!b || b->pid < 0) {
		close(pair[0]);
		free(b);
		return NULL;
	}
	return b;
}

struct question {
	enum message_type job;
	const json_t *order;
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

/* False with *err; `*answer` lives in the reader. */
static bool ask(struct beside *b, const struct question *q, struct message_reader *reader,
		char **answer, struct err *err)
{
	enum message_type type = MESSAGE_PROGRESS;
	char *text = json_dumps(q->order, JSON_COMPACT);
	bool ok = text && message_send(b->fd, q->job, text, strlen(text), err);

	free(text);
	while (ok && type == MESSAGE_PROGRESS)
		ok = next_message(reader, b->fd, &type, answer, q->interrupted);
	if (!ok && q->interrupted && *q->interrupted)
		return err_set(err, ERR_CANCELLED, "the run was cancelled");
	if (!ok)
		return err->code ? false : err_set(err, ERR_WORKER, "it gave no answer");
	if (type == MESSAGE_ERROR)
		message_error(*answer, err);
	return type == MESSAGE_REPORT ||
	       (err->code ? false : err_set(err, ERR_WORKER, "no report"));
}

void beside_locate(struct beside *b, const json_t *workload, struct err *err)
{
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	struct message_reader reader = { 0 };
	struct err said = { 0 };
	char *answer;

	if (!b || err->code != ERR_DEVICE || err->line > 0 ||
	    (blocking && strcmp(blocking, "1") == 0))
		return;
	ask(b, &(struct question){ MESSAGE_WORKLOAD, workload, NULL }, &reader, &answer, &said);
	message_reader_finish(&reader);
	if (said.code == ERR_DEVICE)
		*err = said;
}

const struct report_run *beside_again(struct beside *b, const json_t *workload,
				      const struct beside_order *what, struct report_draft *draft,
				      struct err *err)
{
	json_t *order = json_pack("{s:O, s:b, s:I, s:i}", "workload", (json_t *)workload, "swept",
				  what->again->swept, "n", (json_int_t)what->again->n, "rounds",
				  what->again->rounds);
	struct message_reader reader = { 0 };
	const struct report_run *run = NULL;
	char *answer;

	if (!b)
		err_set(err, ERR_WORKER, "no process could be started for it");
	else if (!order)
		err_set(err, ERR_MEMORY, "out of memory");
	else if (ask(b, &(struct question){ MESSAGE_AGAIN, order, what->interrupted }, &reader,
		     &answer, err))
		run = report_read_run(report_draft_value(draft, json_loads(answer, 0, NULL)),
				      &draft->arena, err);
	json_decref(order);
	message_reader_finish(&reader);
	return run;
}

void beside_stop(struct beside *b)
{
	if (!b)
		return;
	close(b->fd);
	kill(b->pid, SIGKILL); /* its worker ends with it */
	while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(b);
}
