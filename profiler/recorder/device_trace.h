/* profiler/recorder/device_trace.h -- private: what ran on the GPUs of this process, by CUPTI.
 *
 * Events are kept in memory until they are taken: for recordings of a few calls.
 */
#ifndef PROFILER_RECORDER_DEVICE_TRACE_H
#define PROFILER_RECORDER_DEVICE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "profiler/cupti/wire.h"

enum { DEVICE_TRACE_EVENTS = 1 << 16 }; /* that are kept at most; others are counted as lost */

struct device_trace;

/* NULL with the reason in `why`. */
struct device_trace *device_trace_start(bool api, char *why, size_t why_bytes);

/* CUPTI leaves the process; the trace is freed.  What was lost goes to *counts (NULL:
 * nobody asks).  NULL is fine. */
void device_trace_stop(struct device_trace *t, struct wire_counts *counts);

/* What this thread's libraries launch from now on has this id, until the next. */
void device_trace_push(struct device_trace *t, uint32_t id);
void device_trace_pop(struct device_trace *t);

/* All events since the last time, by their start, once the caller has waited for the
 * device; they are good until the next call. */
size_t device_trace_take(struct device_trace *t, const struct wire_event **events);

/* The text of an event's name; good until the trace is stopped. */
const char *device_trace_symbol(struct device_trace *t, uint32_t name);

#endif
