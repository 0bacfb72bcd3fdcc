/* server/http/slow_pool.c -- runs requests that take long on threads of their own. */
#include "server/http/slow_pool.h"

#include <pthread.h>
#include <stdlib.h>

enum { THREADS_MOST = 16 };

struct slow_pool {
	pthread_mutex_t lock;
	pthread_cond_t due;
	struct slow_task *first, **last;
	bool stopping;
	pthread_t threads[THREADS_MOST];
	int n_threads;
};

static void *serve(void *self)
{
	struct slow_pool *b = self;
	struct slow_task *task;

	pthread_mutex_lock(&b->lock);
	for (;;) {
		while (!b->first && !b->stopping)
			pthread_cond_wait(&b->due, &b->lock);
		task = b->first;
		if (!task)
			break;
		b->first = task->next;
		if (!b->first)
			b->last = &b->first;
		pthread_mutex_unlock(&b->lock);
		task->fn(task);
		pthread_mutex_lock(&b->lock);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

struct slow_pool *slow_pool_create(int threads, struct err *err)
{
	struct slow_pool *b = calloc(1, sizeof(*b));

	if (!b) {
		err_set(err, ERR_MEMORY, "out of memory for the server's threads");
		return NULL;
	}
	b->last = &b->first;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->due, NULL);
	while (b->n_threads < threads && b->n_threads < THREADS_MOST &&
	       pthread_create(&b->threads[b->n_threads], NULL, serve, b) == 0)
		b->n_threads++;
	if (b->n_threads == 0) {
		err_set(err, ERR_MEMORY, "the system gives the server no threads");
		slow_pool_destroy(b);
		return NULL;
	}
	return b;
}

bool slow_pool_run(struct slow_pool *b, struct slow_task *task, struct err *err)
{
	bool taken;

	task->next = NULL;
	pthread_mutex_lock(&b->lock);
	taken = !b->stopping;
	if (taken) {
		*b->last = task;
		b->last = &task->next;
		pthread_cond_signal(&b->due);
	}
	pthread_mutex_unlock(&b->lock);
	return taken || err_set(err, ERR_BUSY, "the server is stopping; send it again later");
}

void slow_pool_stop(struct slow_pool *b)
{
	pthread_mutex_lock(&b->lock);
	b->stopping = true;
	pthread_cond_broadcast(&b->due);
	pthread_mutex_unlock(&b->lock);
	for (int i = 0; i < b->n_threads; i++)
		pthread_join(b->threads[i], NULL);
	b->n_threads = 0;
}

void slow_pool_destroy(struct slow_pool *b)
{
	if (!b)
		return;
	slow_pool_stop(b);
	pthread_cond_destroy(&b->due);
	pthread_mutex_destroy(&b->lock);
	free(b);
}
