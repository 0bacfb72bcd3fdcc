/* server/http/making.c -- see making.h: lists of who makes and who waits, under one lock. */
#include "server/http/making.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "server/http/route.h"

enum keeps { KEEPS_UNKNOWN, KEEPS, KEEPS_NOT };

struct makings {
	struct answers *answers;
	pthread_mutex_t lock;
	struct making *first; /* those that make and those that wait; there are never many */
	bool stopped;
	const struct route *routes;
	_Atomic unsigned char keeps[]; /* enum keeps, by route */
};

struct makings *makings_create(struct answers *answers, const struct route_table *routes,
			       struct err *err)
{
	struct makings *m = calloc(1, sizeof(*m) + (size_t)routes->n);

	if (!m) {
		err_set(err, ERR_MEMORY, "out of memory for the server");
		return NULL;
	}
	m->answers = answers;
	m->routes = routes->rows;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void makings_destroy(struct makings *m)
{
	if (!m)
		return;
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static bool is_same(const struct making *a, const struct making *b)
{
	return a->version.store == b->version.store && a->version.live == b->version.live &&
	       strcmp(a->address, b->address) == 0;
}

bool making_waits(struct makings *m, struct making *mine)
{
	unsigned char keeps = m->keeps[mine->route - m->routes];
	const struct making *other;
	bool waits;

	if (keeps == KEEPS_NOT || (keeps == KEEPS_UNKNOWN && mine->route->slow))
		return false;
	pthread_mutex_lock(&m->lock);
	other = m->first;
	while (other && !(other->makes && is_same(other, mine)))
		other = other->next;
	waits = other && !m->stopped;
	mine->waits = waits;
	mine->makes = !waits;
	mine->next = m->first;
	m->first = mine;
	if (waits) /* under the lock: before it can be resumed, and is another's */
		MHD_suspend_connection(mine->connection);
	pthread_mutex_unlock(&m->lock);
	return waits;
}

/* Takes `mine` out and gives who waits for it the answer.  Under the lock. */
static struct making *take_waiting(struct makings *m, struct making *mine,
				   struct kept_answer *answer)
{
	struct making *done = NULL, *at;

	for (struct making **to = &m->first; (at = *to);) {
		bool waits = at->waits && is_same(at, mine);

		if (!waits && at != mine) {
			to = &at->next;
			continue;
		}
		*to = at->next;
		if (!waits)
			continue;
		at->waits = false;
		at->answer = answer ? answer_share(m->answers, answer) : NULL;
		at->next = done;
		done = at;
	}
	return done;
}

/* One that is resumed may be gone at once. */
static void resume_all(struct making *done)
{
	while (done) {
		struct making *next = done->next;

		MHD_resume_connection(done->connection);
		done = next;
	}
}

void making_over(struct makings *m, struct making *mine, struct kept_answer *answer, bool is_usual)
{
	struct making *done;

	if (is_usual)
		m->keeps[mine->route - m->routes] = answer ? KEEPS : KEEPS_NOT;
	if (!mine->makes)
		return;
	pthread_mutex_lock(&m->lock);
	mine->makes = false;
	done = take_waiting(m, mine, answer);
	pthread_mutex_unlock(&m->lock);
	resume_all(done);
}

void makings_stop(struct makings *m)
{
	struct making *done = NULL, *at;

	pthread_mutex_lock(&m->lock);
	m->stopped = true;
	for (struct making **to = &m->first; (at = *to);) {
		if (!at->waits) {
			to = &at->next;
			continue;
		}
		*to = at->next;
		at->waits = false;
		at->next = done;
		done = at;
	}
	pthread_mutex_unlock(&m->lock);
	resume_all(done);
}
