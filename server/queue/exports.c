/* server/queue/exports.c -- which runs are being written for others, and how far each is. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fusion/base/clock.h"
#include "server/queue/queue.h"

struct exports {
	pthread_mutex_t lock; /* guards what follows */
	int64_t last_id;
	int n;
	struct export_row rows[EXPORTS_MOST]; /* the oldest first */
};

struct exports *exports_create(void)
{
	struct exports *e = calloc(1, sizeof(*e));

	if (e)
		pthread_mutex_init(&e->lock, NULL);
	return e;
}

void exports_destroy(struct exports *e)
{
	if (!e)
		return;
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/* The caller has the lock; NULL: it has ended. */
static struct export_row *find(struct exports *e, int64_t id)
{
	for (int i = 0; i < e->n; i++)
		if (e->rows[i].id == id)
			return &e->rows[i];
	return NULL;
}

bool exports_begin(struct exports *e, int64_t run, const char *format, const char *author,
		   int64_t *id, struct err *err)
{
	bool has_room;

	pthread_mutex_lock(&e->lock);
	has_room = e->n < EXPORTS_MOST;
	if (has_room) {
		struct export_row *row = &e->rows[e->n++];

		*row = (struct export_row){ .id = ++e->last_id,
					    .run = run,
					    .started_ns = clock_wall_ns(),
					    .format = format };
		snprintf(row->author, sizeof(row->author), "%s", author);
		*id = row->id;
	}
	pthread_mutex_unlock(&e->lock);
	return has_room ||
	       err_set(err, ERR_BUSY, "%d runs are being written, the limit; ask again later",
		       EXPORTS_MOST);
}

bool exports_at(struct exports *e, int64_t id, int64_t bytes, double share, struct err *err)
{
	struct export_row *row;
	bool goes_on;

	pthread_mutex_lock(&e->lock);
	row = find(e, id);
	goes_on = row && !row->cancelled;
	if (goes_on) {
		row->bytes = bytes;
		row->share = share;
	}
	pthread_mutex_unlock(&e->lock);
	return goes_on || err_set(err, ERR_CANCELLED, "the export was cancelled");
}

void exports_end(struct exports *e, int64_t id)
{
	struct export_row *row;

	pthread_mutex_lock(&e->lock);
	row = find(e, id);
	if (row) {
		for (e->n--; row < e->rows + e->n; row++)
			*row = row[1];
	}
	pthread_mutex_unlock(&e->lock);
}

int exports_list(struct exports *e, int64_t run, struct export_row rows[EXPORTS_MOST])
{
	int n = 0;

	pthread_mutex_lock(&e->lock);
	for (int i = 0; i < e->n; i++)
		if (!run || e->rows[i].run == run)
			rows[n++] = e->rows[i];
	pthread_mutex_unlock(&e->lock);
	return n;
}

void exports_cancel(struct exports *e, int64_t id)
{
	struct export_row *row;

	pthread_mutex_lock(&e->lock);
	row = find(e, id);
	if (row)
		row->cancelled = true;
	pthread_mutex_unlock(&e->lock);
}
