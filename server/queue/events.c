/* server/queue/events.c -- streams server-sent events: who listens to which run.
 *
 * A suspended connection neither times out nor notices that its peer has gone,
 * and must be resumed before the daemon stops: hence keep-alive and stop.
 */
#include "server/queue/queue.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fusion/base/clock.h"

static const int64_t SILENCE_NS = INT64_C(15) * 1000000000;

struct event_stream {
	struct event_stream *next;
	struct events *owner;
	struct MHD_Connection *connection;
	int64_t run;
	int64_t last_write_ns;
	bool due;       /* something to say */
	bool suspended; /* resume it when something is due */
	bool ended;     /* the last event is in `text` */
	size_t len, sent;
	char text[1024];
	char listener[256]; /* cut: names of users are shorter */
};

struct events {
	pthread_mutex_t lock;
	struct event_stream *streams;
	struct event_wait *waits;
	int n_waits;
	int n_streams;
	bool stopping;
	_Atomic uint64_t published;
	int most, most_of_one; /* streams */
	events_describe_fn *describe;
	void *self;
};

struct events *events_create(events_describe_fn *describe, void *self, int most, int most_of_one)
{
	struct events *e = calloc(1, sizeof(*e));

	if (e) {
		pthread_mutex_init(&e->lock, NULL);
		e->describe = describe;
		e->self = self;
		e->most = most;
		e->most_of_one = most_of_one;
	}
	return e;
}

void events_destroy(struct events *e)
{
	if (!e)
		return;
	pthread_mutex_destroy(&e->lock);
	free(e);
}

static ssize_t give_text(struct event_stream *s, char *out, size_t max)
{
	size_t n = s->len - s->sent < max ? s->len - s->sent : max;

	memcpy(out, s->text + s->sent, n);
	s->sent += n;
	s->last_write_ns = clock_ns();
	return (ssize_t)n;
}

/* "id: 1764519000123": when it was said, so that ids grow, also from server to server.  Each event
 * is the run's state as it is, so who comes again with the last id misses nothing. */
static size_t name_event(char *out, size_t size)
{
	return (size_t)snprintf(out, size, "id: %lld\n", (long long)(clock_wall_ns() / 1000000));
}

/* MHD asks for bytes; with none to give the connection is suspended, under the
 * lock, so that a publisher cannot slip in between. */
static ssize_t read_stream(void *self, uint64_t position, char *out, size_t max)
{
	struct event_stream *s = self;
	struct events *e = s->owner;
	bool silent;

	(void)position;
	if (s->sent < s->len)
		return give_text(s, out, max);
	pthread_mutex_lock(&e->lock);
	if (s->ended || e->stopping) {
		pthread_mutex_unlock(&e->lock);
		return MHD_CONTENT_READER_END_OF_STREAM;
	}
	silent = clock_ns() - s->last_write_ns > SILENCE_NS;
	if (!s->due && !silent) {
		s->suspended = true;
		MHD_suspend_connection(s->connection);
		pthread_mutex_unlock(&e->lock);
		return 0;
	}
	silent = !s->due;
	s->due = false;
	pthread_mutex_unlock(&e->lock);

	s->sent = 0;
	if (silent) {
		strcpy(s->text, ": still there\n\n");
		s->len = strlen(s->text);
	} else {
		s->len = name_event(s->text, sizeof(s->text));
		s->len += e->describe(e->self, s->run, s->text + s->len, sizeof(s->text) - s->len,
				      &s->ended);
	}
	return give_text(s, out, max);
}

static void free_stream(void *self)
{
	struct event_stream *s = self;
	struct events *e = s->owner;

	pthread_mutex_lock(&e->lock);
	for (struct event_stream **at = &e->streams; *at; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			e->n_streams--;
			break;
		}
	}
	pthread_mutex_unlock(&e->lock);
	free(s);
}

static int count_of(const struct events *e, const char *listener)
{
	int n = 0;

	for (const struct event_stream *s = e->streams; s; s = s->next)
		n += strcmp(s->listener, listener) == 0;
	return n;
}

/* Puts it among those that are open, where there is room. */
static bool join(struct events *e, struct event_stream *s, struct err *err)
{
	bool full, greedy;

	pthread_mutex_lock(&e->lock);
	full = e->n_streams >= e->most || e->stopping;
	greedy = count_of(e, s->listener) >= e->most_of_one;
	if (!full && !greedy) {
		s->next = e->streams;
		e->streams = s;
		e->n_streams++;
	}
	pthread_mutex_unlock(&e->lock);
	if (full)
		return err_set(
		    err, ERR_BUSY,
		    "%d event streams are open, the limit; close a page or poll the run instead",
		    e->most);
	return !greedy || err_set(err, ERR_RATE,
				  "%d event streams of '%.64s' are open, the limit for one; close "
				  "a page or poll the run instead",
				  e->most_of_one, s->listener);
}

struct MHD_Response *events_open(struct events *e, struct MHD_Connection *connection, int64_t run,
				 const char *listener, struct err *err)
{
	struct event_stream *s = calloc(1, sizeof(*s));
	struct MHD_Response *response;

	if (!s) {
		err_set(err, ERR_MEMORY, "out of memory for an event stream");
		return NULL;
	}
	*s = (struct event_stream){ .owner = e,
				    .connection = connection,
				    .run = run,
				    .due = true,
				    .last_write_ns = clock_ns() };
	snprintf(s->listener, sizeof(s->listener), "%s", listener);
	if (!join(e, s, err)) {
		free(s);
		return NULL;
	}
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 2048, read_stream, s,
						     free_stream);
	if (!response) {
		free_stream(s);
		err_set(err, ERR_MEMORY, "out of memory for an event stream");
	}
	return response;
}

static void wake(struct event_stream *s)
{
	if (s->suspended) {
		s->suspended = false;
		MHD_resume_connection(s->connection);
	}
}

uint64_t events_count(const struct events *e)
{
	return e->published;
}

/* Nothing polls a suspended connection, so whether its peer has closed must be
 * asked.  Where bytes wait to be read a failing write tells. */
bool peer_is_gone(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
	    connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	char byte;
	ssize_t n = info ? recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) : 1;

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Resumes those that wait for the run, and, where a time is given, those whose time is over or
 * whose peer has gone.  The caller has the lock. */
static void resume_waits(struct events *e, int64_t run, int64_t now_ns)
{
	struct event_wait **at = &e->waits;

	while (*at) {
		struct event_wait *w = *at;

		if (w->run == run || e->stopping ||
		    (now_ns && (now_ns >= w->until_ns || peer_is_gone(w->connection)))) {
			*at = w->next;
			e->n_waits--;
			MHD_resume_connection(w->connection); /* w is its owner's again */
		} else {
			at = &w->next;
		}
	}
}

enum wait_result events_wait(struct events *e, struct event_wait *w, uint64_t seen)
{
	enum wait_result result = WAIT_BEGUN;

	pthread_mutex_lock(&e->lock);
	if (e->stopping || e->n_waits >= e->most) {
		result = WAIT_NOT;
	} else if (e->published != seen) {
		result = WAIT_NEWS;
	} else {
		w->next = e->waits;
		e->waits = w;
		e->n_waits++;
		MHD_suspend_connection(w->connection);
	}
	pthread_mutex_unlock(&e->lock);
	return result;
}

int events_due_ms(struct events *e, int most)
{
	int64_t now = clock_ns();

	pthread_mutex_lock(&e->lock);
	for (const struct event_wait *w = e->waits; w; w = w->next)
		if (w->until_ns - now < most * INT64_C(1000000))
			most = w->until_ns > now ? (int)((w->until_ns - now) / 1000000) + 1 : 0;
	pthread_mutex_unlock(&e->lock);
	return most;
}

void events_publish(struct events *e, int64_t run)
{
	pthread_mutex_lock(&e->lock);
	e->published++;
	resume_waits(e, run, 0);
	for (struct event_stream *s = e->streams; s; s = s->next) {
		if (s->run == run) {
			s->due = true;
			wake(s);
		}
	}
	pthread_mutex_unlock(&e->lock);
}

void events_keep_alive(struct events *e)
{
	int64_t now = clock_ns();

	pthread_mutex_lock(&e->lock);
	for (struct event_stream *s = e->streams; s; s = s->next) {
		if (!s->suspended)
			continue;
		if (peer_is_gone(s->connection))
			s->ended = true;
		if (s->ended || now - s->last_write_ns > SILENCE_NS)
			wake(s);
	}
	resume_waits(e, 0, now);
	pthread_mutex_unlock(&e->lock);
}

void events_stop(struct events *e)
{
	pthread_mutex_lock(&e->lock);
	e->stopping = true;
	resume_waits(e, 0, 0);
	for (struct event_stream *s = e->streams; s; s = s->next)
		wake(s);
	pthread_mutex_unlock(&e->lock);
}

int events_open_count(struct events *e)
{
	int n;

	pthread_mutex_lock(&e->lock);
	n = e->n_streams;
	pthread_mutex_unlock(&e->lock);
	return n;
}
