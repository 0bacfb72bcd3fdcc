/* profiler/import/counters.h -- counters of a trace, each a series of the timeline.
 *
 * A series is a lane of the role "counter" with events of the kind counter: `start_ns` and
 * `bytes` are a sample's time and value, `duration_ns` how long it holds (up to the next
 * sample of the series).  Where values are not whole the name's row says "scale": the
 * value is bytes / scale.  A lane's row: {"name", "role": "counter", "process", "label"
 * (the counter's and the series' own names), "device" (of memory), "unit" ("bytes")}.
 */
#ifndef PROFILER_IMPORT_COUNTERS_H
#define PROFILER_IMPORT_COUNTERS_H

#include <jansson.h>

#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "profiler/import/kineto.h"
#include "profiler/timeline/timeline.h"

enum { COUNTER_MAX_SERIES = 512, COUNTER_SCALE = 1000000 };

struct counter_series {
	uint64_t key;
	json_t *row;       /* of its lane */
	json_t *name;      /* a text */
	uint32_t lane;     /* of the timeline */
	uint32_t names[2]; /* rows of values that are whole, and that are scaled; + 1 */
	int64_t samples;
	double least, most, last;
	struct timeline_event pending; /* that holds until the next comes */
	bool says;                     /* ... or as long as its event says */
};

/* Zeroed is empty; the counters of one file. */
struct counters {
	VEC(struct counter_series) rows;
	int64_t end_ns; /* the last that any event of the file reached */
};
void counters_finish(struct counters *c);

struct model;

/* What the samples are for. */
struct counter_sink {
	struct model *m;
	int64_t base_ns; /* the zero of the file's clock */
};

/* A counter event: a sample of each of its series; `text` is its JSON.  False with MEMORY
 * or an error of the writer. */
bool counters_event(struct counters *c, const struct counter_sink *sink,
		    const struct kineto_event *e, const char *text, size_t len, struct err *err);

/* The same of a trace of our own: the series is that of the lane `lane`, and the event says how
 * long its sample holds. */
bool counters_own(struct counters *c, const struct counter_sink *sink, uint32_t lane,
		  const struct kineto_event *e, struct err *err);

/* What an allocator holds after a change. */
struct memory_sample {
	const char *series; /* "allocated" or "reserved" */
	int64_t device;     /* -1: the host */
	int64_t bytes;
};
bool counters_memory(struct counters *c, const struct counter_sink *sink,
		     const struct kineto_event *e, const struct memory_sample *sample,
		     struct err *err);

/* The file is over: what is pending holds to its end.  Adds a row for each series to
 * `list`: {"name", "process", "samples", "min", "max", "last"}. */
bool counters_end(struct counters *c, const struct counter_sink *sink, json_t *list,
		  struct err *err);

#endif
