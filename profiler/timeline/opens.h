/* profiler/timeline/opens.h -- private: the part of a window that a page shows first.
 *
 * On the last call, where the recording has calls and a row an event.  Else on what devices ran (or
 * the host, where no device ran anything), if less than half of the window holds OPENS_PERCENT of
 * that: a log of compiling may go on for seconds before kernels of microseconds.  Else on the
 * whole.  The window is cut into OPENS_BINS bins, and each remembers where in it the first event
 * began and the last ended: what ran close together is found exactly, however small a part of the
 * whole it is.
 */
#ifndef PROFILER_TIMELINE_OPENS_H
#define PROFILER_TIMELINE_OPENS_H

#include <jansson.h>

#include "profiler/timeline/timeline.h"

enum { OPENS_BINS = 4096, OPENS_PERCENT = 95 };

struct opens;

/* For the window [t0, t1], ns of the events' own clock.  NULL: out of memory. */
struct opens *opens_create(int64_t t0_ns, int64_t t1_ns);
void opens_destroy(struct opens *o); /* NULL is fine */

/* An event that takes time; [from, to] is what of it lies in the window. */
void opens_add(struct opens *o, const struct timeline_event *e, int64_t from_ns, int64_t to_ns);

/* {"of": "call", "device", "host" or "whole", "t0_ns", "t1_ns": from `begin_ns` on, "percent": of
 * the time of the device or the host that lies within}; `sampled`: rows stand for several events.
 * The caller owns it. */
json_t *opens_json(const struct opens *o, int64_t begin_ns, bool sampled);

#endif
