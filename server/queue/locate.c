/* server/queue/locate.c -- see locate.h. */
#include "server/queue/locate.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "server/queue/worker.h"

enum { LOCATE_SECONDS = 120 };

/* What a worker says of its end: an error, or nothing. */
static void read_messages(struct worker *w, struct err *said)
{
	struct message_reader reader = { 0 };
	struct pollfd fd = { .fd = w->fd, .events = POLLIN };
	enum message_type type;
	char *text;
	size_t len;
	bool bad = false;
	long n = -2;

	while (n != 0 && n != -1 && !bad && said->code == ERR_NONE) {
		int ready = poll(&fd, 1, LOCATE_SECONDS * 1000);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			break;
		n = message_fill(&reader, w->fd);
		while (n > 0 && message_next(&reader, &type, &text, &len, &bad))
			if (type == MESSAGE_ERROR)
				message_error(text, said);
	}
	message_reader_finish(&reader);
}

void locate_fault(const json_t *workload, const char *cache_dir, const struct registry *registry,
		  struct err *err)
{
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	const struct worker_options options = { .cache_dir = cache_dir,
						.cpu_seconds = LOCATE_SECONDS,
						.registry = registry,
						.blocking = true };
	struct err said = { 0 };
	struct worker w;
	bool clean;
	char *text;

	if (err->code != ERR_DEVICE || err->line > 0 || (blocking && strcmp(blocking, "1") == 0))
		return;
	text = json_dumps(workload, JSON_COMPACT);
	if (text && worker_start(&w, &options, MESSAGE_WORKLOAD, text, NULL)) {
		read_messages(&w, &said);
		worker_reap(&w, true, &clean, NULL);
	}
	free(text);
	if (said.code == ERR_DEVICE)
		*err = said;
}
