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

/* Kernels, copies, sets and CUPTI's overhead are always recorded; besides: */
struct collector_options {
	const char *library; /* path of a libcupti; NULL: the loaded, else an installed one */
	bool api;            /* calls of the driver and the runtime: 0.2 µs more a launch */
	bool ranges;         /* of NVTX; collector_nvtx() brings them */
	bool memory;         /* allocations and releases */
	bool external;       /* which launches are between collector_push() and _pop() */
};

/* Begins to record.  NULL with the reason in `why`: no CUPTI, or who else holds it. */
struct collector *collector_start(const struct collector_sink *sink,
				  const struct collector_options *options, char *why,
				  size_t why_bytes);

/* With `external`: launches of this thread by a library until collector_pop() get an
 * event of WIRE_EXTERNAL each.  Launches by the driver's API have none: records of
 * their calls would cost each of them 0.2 us. */
void collector_push(struct collector *c, uint32_t id);
void collector_pop(struct collector *c);

/* What is complete, without waiting for the device; `all`: what is begun too, once the
 * caller has waited for it. */
void collector_flush(struct collector *c, bool all);

/* The rest; nothing is recorded any more.  `detach`: CUPTI leaves the process, so that
 * a launch costs what it did before; no call of CUDA may be under way then. */
void collector_stop(struct collector *c, bool detach);
void collector_counts(struct collector *c, struct wire_counts *out);

/* CUPTI's InitializeInjectionNvtx2(): NVTX asks for it in the program's first range.
 * `library` as above.  0: there is no CUPTI. */
int collector_nvtx(const char *library, void *get_export_table);

#endif
