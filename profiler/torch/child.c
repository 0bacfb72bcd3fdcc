/* profiler/torch/child.c -- one job of a host (host.h), from its order to its end. */
#include "profiler/torch/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fusion/base/buf.h"
#include "fusion/base/clock.h"

enum { TICK_MS = 100, LEAVE_MS = 5000, READ_BYTES = 64 << 10 };

/* ---- the folder */

bool torch_folder_write(const struct scratch *f, const char *name, const char *text,
			struct err *err)
{
	char path[320];
	FILE *file;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	file = fopen(path, "wxe");
	ok = file && fputs(text, file) != EOF;
	if (file)
		ok = fclose(file) == 0 && ok;
	return ok || err_set(err, ERR_IO, "%s cannot be written: %s", path, strerror(errno));
}

/* ---- the job */

struct running {
	const struct torch_child *c;
	int host, out, errors; /* ours: the connection is held open, the others are read */
	struct buf lines, tail;
	bool done; /* it said that it is */
};

bool torch_pipe(int ends[2])
{
	int low[2];

	if (pipe2(low, O_CLOEXEC) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
		close(low[i]);
	}
	return ends[0] >= 0 && ends[1] >= 0;
}

/* The order, with the ends of pipes that the job writes to. */
static bool send_order(int host, const char *text, const int theirs[2])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { 0 };
	struct iovec part = { .iov_base = (char *)text, .iov_len = strlen(text) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(head), theirs, 2 * sizeof(int));
	return sendmsg(host, &message, MSG_NOSIGNAL) == (ssize_t)part.iov_len;
}

static bool connect_host(const char *path, int *host)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*host = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (*host < 0 || strlen(path) >= sizeof(address.sun_path))
		return false;
	strcpy(address.sun_path, path);
	return connect(*host, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static bool ended_early(const struct running *r, struct err *err);

static bool start(struct running *r, struct err *err)
{
	const struct torch_child *c = r->c;
	const struct torch_limits *l = c->limits;
	json_t *order = json_pack("{s:s, s:s, s:O?, s:{s:i, s:I, s:I}}", "role", c->role, "folder",
				  c->folder->path, "options", c->options, "limits", "cpu_s",
				  l->cpu_s, "memory_bytes", (json_int_t)l->memory_bytes,
				  "file_bytes", (json_int_t)l->file_bytes);
	char *text = order ? json_dumps(order, JSON_COMPACT) : NULL;
	int pipes[2][2] = { { -1, -1 }, { -1, -1 } };
	bool piped = text && torch_pipe(pipes[0]) && torch_pipe(pipes[1]);
	bool ok = piped && connect_host(c->socket, &r->host) &&
		  send_order(r->host, text, (int[]){ pipes[0][1], pipes[1][1] });

	if (!piped)
		err_set(err, ERR_IO, "no pipes for torch: %s", strerror(errno));
	r->out = pipes[0][0];
	r->errors = pipes[1][0];
	for (int i = 0; i < 2; i++)
		if (pipes[i][1] >= 0)
			close(pipes[i][1]);
	free(text);
	json_decref(order);
	return ok || (piped && ended_early(r, err));
}

/* One line; what is no JSON is left out. */
static bool take_line(struct running *r, const char *line, size_t len, struct err *err)
{
	struct report_draft *messages = r->c->messages;
	json_t *json = report_draft_value(
	    messages, json_loadb(line, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL));
	const struct report_torch_message *m;
	struct err why = { 0 };

	if (!json_is_object(json))
		return true;
	m = report_read_torch_message(json, &messages->arena, &why);
	if (!m)
		return err_set(err, ERR_WORKER, "torch's process said what it cannot: %.400s",
			       why.message);
	if (m->error)
		return err_set(err,
			       m->error->code && strcmp(m->error->code, "no-device") == 0
				   ? ERR_NO_DEVICE
				   : ERR_WORKER,
			       "%.*s", ERR_MESSAGE_BYTES - 1, m->error->message);
	r->done = r->done || m->done;
	return r->c->on_message(r->c->self, m, err);
}

/* Each whole line is a message, the rest waits.  False with *err; *over at the end. */
static bool read_lines(struct running *r, bool *over, struct err *err)
{
	char bytes[READ_BYTES], *end;
	ssize_t n = read(r->out, bytes, sizeof(bytes));
	size_t taken = 0;

	*over = n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
	if (n <= 0)
		return true;
	buf_add(&r->lines, bytes, (size_t)n);
	if (r->lines.failed)
		return err_set(err, ERR_WORKER, "torch's process sent a message over %d MiB",
			       TORCH_LINE_BYTES >> 20);
	while ((end = memchr(r->lines.data + taken, '\n', r->lines.len - taken))) {
		size_t len = (size_t)(end - r->lines.data) - taken;

		if (len && !take_line(r, r->lines.data + taken, len, err))
			return false;
		taken += len + 1;
	}
	memmove(r->lines.data, r->lines.data + taken, r->lines.len - taken);
	r->lines.len -= taken;
	return true;
}

/* The last of what it says on its standard error. */
static bool read_errors(struct running *r)
{
	char bytes[READ_BYTES];
	ssize_t n = read(r->errors, bytes, sizeof(bytes));
	size_t most = TORCH_STDERR_BYTES;

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	buf_add(&r->tail, bytes, (size_t)n);
	if (r->tail.len > most) {
		memmove(r->tail.data, r->tail.data + r->tail.len - most, most);
		r->tail.len = most;
	}
	return true;
}

/* With the last line that it said. */
static bool ended_early(const struct running *r, struct err *err)
{
	size_t end = r->tail.len, begin;

	while (end > 0 && r->tail.data[end - 1] == '\n')
		end--;
	for (begin = end; begin > 0 && r->tail.data[begin - 1] != '\n';)
		begin--;
	return err_set(err, ERR_WORKER, "%.200s ended before it was done%s%.*s", r->c->python,
		       end > begin ? ": " : "", (int)(end - begin < 250 ? end - begin : 250),
		       end > begin ? r->tail.data + begin : "");
}

static bool attend(struct running *r, struct err *err)
{
	int64_t deadline_ns = clock_ns() + (int64_t)r->c->limits->wall_s * 1000000000;
	struct pollfd fds[2] = { { .fd = r->out, .events = POLLIN },
				 { .fd = r->errors, .events = POLLIN } };
	bool over = false;

	while (!over) {
		if (poll(fds, 2, TICK_MS) < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "poll: %s", strerror(errno));
		if (fds[1].revents && !read_errors(r))
			fds[1].fd = -1;
		if (fds[0].revents && !read_lines(r, &over, err))
			return false;
		if (r->c->tick && !r->c->tick(r->c->self))
			return err_set(err, ERR_CANCELLED, "the run was cancelled");
		if (!over && clock_ns() > deadline_ns)
			return err_set(err, ERR_WORKER,
				       "torch took over %d s, its limit: measure fewer points or "
				       "fewer modes",
				       r->c->limits->wall_s);
	}
	return r->done || ended_early(r, err);
}

/* Gives the job up where it is under way, and waits for the host to have ended it. */
static void leave(struct running *r)
{
	struct pollfd gone = { .fd = r->host, .events = POLLIN };

	if (r->host < 0)
		return;
	shutdown(r->host, SHUT_WR);
	poll(&gone, 1, LEAVE_MS);
	close(r->host);
}

bool torch_child_run(const struct torch_child *c, struct err *err)
{
	struct running r = { .c = c, .host = -1, .out = -1, .errors = -1 };
	bool ok;

	buf_init(&r.lines, TORCH_LINE_BYTES);
	buf_init(&r.tail, 0);
	ok = start(&r, err) && attend(&r, err);
	leave(&r);
	while (r.errors >= 0 && poll(&(struct pollfd){ r.errors, POLLIN, 0 }, 1, 0) > 0 &&
	       read_errors(&r))
		;
	if (c->stderr_text) {
		memcpy(c->stderr_text, r.tail.len ? r.tail.data : "", r.tail.len);
		c->stderr_text[r.tail.len] = '\0';
	}
	for (int i = 0; i < 2; i++)
		if (((int[]){ r.out, r.errors })[i] >= 0)
			close(((int[]){ r.out, r.errors })[i]);
	buf_finish(&r.lines);
	buf_finish(&r.tail);
	return ok;
}
