/* profiler/cupti/collector.h -- activity records of CUPTI, as rows.
 *
 * Used by the injection library in processes that are not ours, and by a run of our
 * own.  CUPTI is loaded when it is wanted; nothing of it is linked.  Memory is bounded:
 * buffers are there before, and are used again; where all are in use CUPTI drops
 * records and counts them.  One collector a process, as CUPTI has one subscriber.
 */
#ifndef PROFILER_CUPTI_COLLECTOR_H
#define PROFILER_CUPTI_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "profiler/cupti/wire.h"

struct collector;

/* Called from threads of CUPTI, one at a time.  `name` comes before its events. */
struct collector_sink {
	void *self;
	void (*name)(void *self, uint32_t number, const char *text);
	void (*events)(void *self, const struct wire_event *events, size_t n);
};

/* Begins to record kernels, copies, sets and CUPTI's overhead, with `api` calls of the
 * driver and the runtime too.  `library`: a path of libcupti; NULL: one that is loaded
 * already, else one that is installed.  NULL with the reason in `why`: no CUPTI, or who
 * else holds it. */
struct collector *collector_start(const struct collector_sink *sink, const char *library, bool api,
				  char *why, size_t why_bytes);

/* What is complete, without waiting for the device. */
void collector_flush(struct collector *c);

/* The rest; nothing is recorded any more. */
void collector_stop(struct collector *c);
void collector_counts(struct collector *c, struct wire_counts *out);

#endif
