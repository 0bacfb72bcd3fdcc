/* server/queue/message.c -- sends and collects messages between the server and a worker. */
#include "server/queue/queue.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static bool send_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

void message_head(enum message_type type, size_t len, char head[MESSAGE_HEAD_BYTES])
{
	for (int i = 0; i < 4; i++)
		head[i] = (char)(unsigned char)(len >> (8 * i));
	head[4] = (char)type;
}

bool message_send(int fd, enum message_type type, const char *text, size_t len, struct err *err)
{
	char head[MESSAGE_HEAD_BYTES];

	if (len > MESSAGE_MAX_BYTES)
		return err_set(err, ERR_BOUND, "a message of %zu bytes is over the limit of %d",
			       len, MESSAGE_MAX_BYTES);
	message_head(type, len, head);
	if (!send_all(fd, head, sizeof(head)) || !send_all(fd, text, len))
		return err_set(err, ERR_IO, "the other side of the job's socket is gone: %s",
			       strerror(errno));
	return true;
}

static void drop_taken(struct message_reader *r)
{
	if (r->taken == 0)
		return;
	memmove(r->pending.data, r->pending.data + r->taken, r->pending.len - r->taken);
	r->pending.len -= r->taken;
	r->taken = 0;
}

long message_fill(struct message_reader *r, int fd)
{
	char bytes[65536];
	ssize_t n;

	drop_taken(r);
	do
		n = read(fd, bytes, sizeof(bytes));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? -2 : -1;
	buf_add(&r->pending, bytes, (size_t)n);
	return r->pending.failed ? -1 : (long)n;
}

bool message_add(struct message_reader *r, const char *bytes, size_t len)
{
	drop_taken(r);
	buf_add(&r->pending, bytes, len);
	return !r->pending.failed;
}

bool message_next(struct message_reader *r, enum message_type *type, char **text, size_t *len,
		  bool *bad)
{
	const unsigned char *h;
	size_t have = r->pending.len - r->taken;
	uint32_t n;

	*bad = false;
	if (have < MESSAGE_HEAD_BYTES)
		return false;
	h = (const unsigned char *)r->pending.data + r->taken;
	n = h[0] | (uint32_t)h[1] << 8 | (uint32_t)h[2] << 16 | (uint32_t)h[3] << 24;
	*bad = n > MESSAGE_MAX_BYTES;
	if (*bad || have < MESSAGE_HEAD_BYTES + n)
		return false;
	/* The text moves over its header by one byte, so that it can end in NUL
	 * although the next header follows at once. */
	*type = (enum message_type)h[4];
	*text = r->pending.data + r->taken + MESSAGE_HEAD_BYTES - 1;
	memmove(*text, *text + 1, n);
	(*text)[n] = '\0';
	*len = n;
	r->taken += MESSAGE_HEAD_BYTES + n;
	return true;
}

void message_failure(const struct report_failure *f, struct err *err)
{
	err_at(err, f->code ? err_from_name(f->code) : ERR_INTERNAL, (int)f->line, (int)f->column,
	       "%s", f->message);
	snprintf(err->file, sizeof(err->file), "%s", f->file ? f->file : "");
}

void message_error(const char *text, struct err *err)
{
	json_t *json = json_loads(text, 0, NULL);
	struct arena arena = { 0 };
	const struct report_failure *f = json ? report_read_failure(json, &arena, NULL) : NULL;

	if (!f) {
		err_set(err, ERR_INTERNAL, "the worker failed and did not say why");
	} else {
		message_failure(f, err);
		if (f->file && *f->file)
			snprintf(err->message, sizeof(err->message), "%s: %s", f->file, f->message);
	}
	json_decref(json);
	arena_finish(&arena);
}
