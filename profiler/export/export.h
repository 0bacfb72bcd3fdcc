/* profiler/export/export.h -- a run, written for the tools that people have.
 *
 * Part of the profiler's public header.
 *
 *	const struct export_format *f = export_format_find("chrome");
 *	export_write(f, &run, &query, put, file, &err);
 *
 * Formats are rows of formats.def.  What is written goes to `put` in pieces: memory does
 * not grow with the timeline.  One thread each.
 */
#ifndef PROFILER_EXPORT_EXPORT_H
#define PROFILER_EXPORT_EXPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "profiler/timeline/timeline.h"

/* Hands out the blocks of a run's timeline, in order; `kind` as in profiler/timeline/timeline.h.
 * It is asked more than once. */
typedef bool export_blocks_fn(void *store, int64_t kind, timeline_block_fn *each, void *self,
			      struct err *err);

/* A run as the store has it; all of it borrowed.  NULL: there is none. */
struct export_run {
	int64_t id, created_ns;
	const char *name, *project, *status, *device, *commit, *branch, *version;
	const char *error, *error_code; /* a failed run's message, and its name in errors.def */
	int error_line, error_column;   /* 0: of no place */
	bool redacted;                  /* it came from a file that had left out its source */
	const json_t *workload, *report, *environment;
	export_blocks_fn *blocks;
	void *store;
};

/* Which part of it. */
struct export_query {
	const char
	    *mode; /* of the timeline, the graph and the tables; NULL: all (a graph: the first) */
	bool has_n;
	int64_t n;            /* the point of a sweep */
	bool has_window;      /* of the timeline: what reaches into it */
	int64_t t0_ns, t1_ns; /* since the first event of the mode's and the point's lanes */
	const char *table;    /* of csv: "kernels" (NULL too), "modes" or "breaks" */
	int64_t graph;        /* of dot and svg: its id */
	bool redact;          /* neither source, names of the user's, nor paths */
};

struct export_job;
struct export_format {
	const char *name, *extension, *type, *title;
	bool (*write)(struct export_job *job, struct err *err);
};

int export_format_count(void);
const struct export_format *export_format_at(int index);

/* NULL with BAD_REQUEST that lists the formats. */
const struct export_format *export_format_find(const char *name, struct err *err);

typedef bool export_put_fn(void *self, const void *bytes, size_t len, struct err *err);

/* Everything of the run in the format.  False with an error of `put` or of the timeline,
 * NOT_FOUND (no such graph, mode or point), TOO_LARGE (the format cannot hold so many
 * events), MEMORY. */
bool export_write(const struct export_format *f, const struct export_run *run,
		  const struct export_query *q, export_put_fn *put, void *self, struct err *err);

/* The log of a bisection as a page of one file, which is written or written again. */
struct report_bisect;
bool export_bisection(const struct report_bisect *log, const char *version, export_put_fn *put,
		      void *self, struct err *err);

/* A report without what takes most room: values of calls, guards, memory, what passes did, nodes
 * and code of graphs, samples, and without the fields `others` (ends with NULL) of the report. New;
 * parts are shared. */
json_t *report_slim(const json_t *report, const char *const *others);

#endif
