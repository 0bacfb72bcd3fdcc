/* server/queue/events.h -- server-sent events: who listens to which run.
 *
 * A stream is a suspended connection.  Publishing wakes the streams of a run;
 * each then writes the run's state as it is, so a slow reader skips states and
 * never falls behind.
 */
#ifndef SERVER_EVENTS_H
#define SERVER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"

struct MHD_Connection;
struct MHD_Response;
struct events;
struct stream;

enum { EVENTS_MAX_STREAMS = 64 };

/* Writes the next event of `run` as text into out ("event: ...\n\n") and says
 * whether it was the last.  Called without locks of events.c held. */
typedef size_t events_describe_fn(void *self, int64_t run, char *out, size_t size, bool *last);

/* `self` is what describe() gets.  NULL when out of memory. */
struct events *events_create(events_describe_fn *describe, void *self);
void events_destroy(struct events *e);

/* A response that streams the events of a run over the connection.  NULL with
 * BUSY when EVENTS_MAX_STREAMS are open. */
struct MHD_Response *events_open(struct events *e, struct MHD_Connection *connection, int64_t run,
				 struct err *err);

/* Wakes the streams of a run.  Thread-safe. */
void events_publish(struct events *e, int64_t run);

/* Ends streams whose peer has closed, and wakes those that have been silent for
 * 15 s, so that each sends a comment and a peer that is cut off is noticed.
 * Called every few seconds. */
void events_keep_alive(struct events *e);

/* Ends all streams; none stays suspended.  Before MHD_stop_daemon(). */
void events_stop(struct events *e);
int events_open_count(struct events *e);

#endif
