/* server/http/patience.c -- see patience.h: a list of connections, and a thread that looks at it.
 */
#include "server/http/patience.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "fusion/base/clock.h"

enum {
	CROWDED_S = 2,           /* in a crowd: for the head */
	CROWDED_BYTES_S = 16384, /* in a crowd: of a body, a second */
	LOOK_MS = 500,
};

struct patient {
	struct patient *next, **at;
	int fd;
	/* Set by the thread that has the connection, without the lock: of a connection that is
	 * looked at while they change, the next look tells. */
	_Atomic bool waits; /* for a request that is not whole */
	_Atomic int64_t since_ns;
	_Atomic uint64_t bytes;    /* of a body */
	_Atomic uint64_t received; /* on the socket, before it began to wait */
};

struct patience {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct patient *first; /* the one that came last */
	int n, crowd, seconds;
	bool stopping;
	pthread_t thread;
};

static bool is_late(const struct patience *p, struct patient *c, int64_t now)
{
	int64_t waited_ms;

	if (!c->waits) /* looked at first: since_ns is set before it */
		return false;
	waited_ms = (now - c->since_ns) / 1000000;
	if (waited_ms < CROWDED_S * 1000)
		return false;
	return waited_ms > p->seconds * INT64_C(1000) ||
	       (p->n > p->crowd && c->bytes < (uint64_t)waited_ms * CROWDED_BYTES_S / 1000);
}

/* The bytes that a client has sent since its socket was opened; 0 where the system does not tell.
 */
static uint64_t received_by(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t size = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_received
									: 0;
}

/* Where a part of a request came, nothing was answered to it yet, so that these bytes are all that
 * the client gets.  Where none came, a client would take them for the answer to a request that it
 * is about to send: it gets none. */
static void send_away(struct patient *c)
{
	static const char text[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
				   "Content-Length: 0\r\n\r\n";

	if (received_by(c->fd) != c->received) {
		ssize_t sent = send(c->fd, text, sizeof(text) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);

		(void)sent; /* a client that does not read is closed all the same */
	}
	shutdown(c->fd, SHUT_RDWR);
	c->waits = false;
}

/* The library does not see that a client has closed its sending side where that came along with
 * the last bytes: its epoll tells of each change once.  This is a change again, and no other:
 * nothing is left to receive, and an answer can still be sent. */
static void tell_of_end(struct patient *c)
{
	char byte;

	if (c->waits && recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		shutdown(c->fd, SHUT_RD);
}

static void *look(void *self)
{
	struct patience *p = self;
	struct timespec next;

	pthread_mutex_lock(&p->lock);
	while (!p->stopping) {
		int64_t now = clock_ns();

		for (struct patient *c = p->first; c; c = c->next) {
			if (is_late(p, c, now))
				send_away(c);
			tell_of_end(c);
		}
		clock_gettime(CLOCK_REALTIME, &next);
		next.tv_nsec += LOOK_MS * 1000000L;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&p->wake, &p->lock, &next);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

struct patience *patience_create(int crowd, int seconds, struct err *err)
{
	struct patience *p = calloc(1, sizeof(*p));

	if (p) {
		p->crowd = crowd;
		p->seconds = seconds;
		pthread_mutex_init(&p->lock, NULL);
		pthread_cond_init(&p->wake, NULL);
		if (pthread_create(&p->thread, NULL, look, p) == 0)
			return p;
		free(p);
	}
	err_set(err, ERR_MEMORY, "out of memory for the server");
	return NULL;
}

void patience_destroy(struct patience *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	pthread_join(p->thread, NULL);
	pthread_cond_destroy(&p->wake);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

struct patient *patient_enter(struct patience *p, int fd)
{
	struct patient *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (struct patient){ .fd = fd, .waits = true, .since_ns = clock_ns(), .at = &p->first };
	pthread_mutex_lock(&p->lock);
	c->next = p->first;
	if (c->next)
		c->next->at = &c->next;
	p->first = c;
	p->n++;
	pthread_mutex_unlock(&p->lock);
	return c;
}

void patient_leave(struct patience *p, struct patient *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&p->lock);
	*c->at = c->next;
	if (c->next)
		c->next->at = c->at;
	p->n--;
	pthread_mutex_unlock(&p->lock);
	free(c);
}

void patient_sends(struct patient *c, size_t bytes, bool whole)
{
	if (!c)
		return;
	c->bytes += bytes;
	if (whole)
		c->waits = false;
}

void patient_waits(struct patient *c, int64_t request_bytes)
{
	if (!c)
		return;
	c->received = request_bytes < 0 ? received_by(c->fd)
					: c->received + (uint64_t)request_bytes;
	c->bytes = 0;
	c->since_ns = clock_ns();
	c->waits = true;
}
