/* server/queue/message.h -- messages between the server and a worker.
 *
 * A message is a type byte and a text, sent over a socket pair as a four-byte
 * little-endian length, the type, the text.
 */
#ifndef SERVER_MESSAGE_H
#define SERVER_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"

enum message_type {
	MESSAGE_WORKLOAD = 'W',    /* server: the job, JSON */
	MESSAGE_CHECK = 'C',       /* server: a workload to explain, not to run, JSON */
	MESSAGE_PROGRESS = 'P',    /* worker: {"share", "what", "left_s"} */
	MESSAGE_ENVIRONMENT = 'V', /* worker: the machine, JSON */
	MESSAGE_TIMELINE = 'T',    /* worker: a block of a timeline; any number of them */
	MESSAGE_REPORT = 'R',      /* worker: the report, JSON; it is done */
	MESSAGE_ERROR = 'E',       /* worker: {"code", "message", "line", "column"}; it is done */
};

enum { MESSAGE_MAX_BYTES = 256 << 20 };

/* Sends all of it; IO error when the other side is gone. */
bool message_send(int fd, enum message_type type, const char *text, size_t len, struct err *err);

/* Collects bytes as they come.  Zeroed is ready. */
struct message_reader {
	struct buf pending;
	size_t taken; /* bytes of pending that were handed out */
};
void message_reader_finish(struct message_reader *r);

/* Reads what is there (blocks only if fd does).  Returns the bytes read, 0 at
 * the end of the stream, -1 on an error other than EAGAIN, -2 for EAGAIN. */
long message_fill(struct message_reader *r, int fd);

/* The next whole message; false when more bytes are needed.  The text is NUL
 * terminated and valid until the next message_fill().  `bad` is set when a
 * length is over MESSAGE_MAX_BYTES. */
bool message_next(struct message_reader *r, enum message_type *type, char **text, size_t *len,
		  bool *bad);

/* What the text of a MESSAGE_ERROR says. */
void message_error(const char *text, struct err *err);

#endif
