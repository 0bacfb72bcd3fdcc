/* server/queue/locate.c -- runs a job once more to find the kernel that failed.
 *
 * Whoever ran it is confined, and what a confined process starts could not start a GPU's driver:
 * its Landlock knows /proc/self of one process.  So a process that is not confined waits beside
 * it, starts one worker when it is asked, and that confines itself.
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
#include "server/queue/queue.h"

enum { LOCATE_SECONDS = 120 };

struct fault_locator {
	int fd;
	pid_t pid;
};

/* The next message, within the time of a worker; its text is good until the one after it. */
static bool next_message(struct message_reader *reader, int fd, enum message_type *type,
			 char **text, size_t *len)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };
	bool bad = false;

	while (!message_next(reader, type, text, len, &bad)) {
		int ready = bad ? -1 : poll(&polled, 1, LOCATE_SECONDS * 1000);
		long n;

		if (ready < 0 && !bad && errno == EINTR)
			continue;
		if (ready <= 0)
			return false;
		n = message_fill(reader, fd);
		if (n == 0 || n == -1)
			return false;
	}
	return true;
}

/* ---- the process that waits ---- */

/* What the worker says of its failure goes to who asked, as it is. */
static void ask_worker(int fd, const struct worker_options *options, const char *workload)
{
	struct message_reader reader = { 0 };
	enum message_type type = MESSAGE_PROGRESS;
	struct worker w;
	char *text;
	size_t len;
	bool clean;

	if (!worker_start(&w, options, MESSAGE_WORKLOAD, workload, NULL))
		return;
	while (type != MESSAGE_ERROR && next_message(&reader, w.fd, &type, &text, &len))
		if (type == MESSAGE_ERROR)
			message_send(fd, type, text, len, NULL);
	message_reader_finish(&reader);
	worker_reap(&w, true, &clean, NULL);
}

static _Noreturn void serve(int fd, const struct worker_options *options)
{
	struct message_reader reader = { 0 };
	enum message_type type;
	char *text;
	size_t len;
	bool bad = false, asked;

	signal(SIGINT, SIG_IGN); /* who asks decides when it is over */
	signal(SIGTERM, SIG_IGN);
	close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0u, 0);
	end_with_parent(fd);
	while (!(asked = message_next(&reader, &type, &text, &len, &bad)) && !bad)
		if (message_fill(&reader, fd) <= 0)
			break;
	if (asked && type == MESSAGE_WORKLOAD)
		ask_worker(fd, options, text);
	_exit(0);
}

/* ---- the process that asks ---- */

struct fault_locator *fault_locator_start(const char *cache_dir, const struct registry *registry)
{
	const struct worker_options options = { .cache_dir = cache_dir,
						.cpu_seconds = LOCATE_SECONDS,
						.registry = registry,
						.blocking = true };
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	struct fault_locator *l;
	int pair[2];

	if (blocking && strcmp(blocking, "1") == 0)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return NULL;
	l = malloc(sizeof(*l));
	if (l)
		*l = (struct fault_locator){ .fd = pair[0], .pid = fork() };
	if (l && l->pid == 0)
		serve(pair[1], &options);
	close(pair[1]);
	if (!l || l->pid < 0) {
		close(pair[0]);
		free(l);
		return NULL;
	}
	return l;
}

void fault_locator_ask(struct fault_locator *l, const json_t *workload, struct err *err)
{
	struct message_reader reader = { 0 };
	enum message_type type;
	struct err said = { 0 };
	char *text;
	size_t len;

	if (!l || err->code != ERR_DEVICE || err->line > 0)
		return;
	text = json_dumps(workload, JSON_COMPACT);
	if (text && message_send(l->fd, MESSAGE_WORKLOAD, text, strlen(text), NULL)) {
		char *answer;

		if (next_message(&reader, l->fd, &type, &answer, &len) && type == MESSAGE_ERROR)
			message_error(answer, &said);
	}
	free(text);
	message_reader_finish(&reader);
	if (said.code == ERR_DEVICE)
		*err = said;
}

void fault_locator_stop(struct fault_locator *l)
{
	if (!l)
		return;
	close(l->fd);
	kill(l->pid, SIGKILL); /* its worker ends with it */
	while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
		;
	free(l);
}
