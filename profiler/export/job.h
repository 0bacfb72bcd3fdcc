/* profiler/export/job.h -- private: one export under way, as its writer sees it.
 *
 * What a writer reads is here and redacted already where that was asked for: no writer
 * knows of redaction.
 */
#ifndef PROFILER_EXPORT_JOB_H
#define PROFILER_EXPORT_JOB_H

#include "profiler/export/export.h"
#include "profiler/export/out.h"
#include "profiler/fields/fields.h"

struct export_job {
	const struct export_run *run; /* its JSON below is to be read, not this one's */
	const struct export_query *query;
	json_t *workload, *report, *environment; /* NULL: none */
	json_t *head_json;
	/* The same, read. */
	const struct report_exported_run *head; /* id, name, status, ... and the error */
	const struct report_workload *posted;   /* NULL: none */
	const struct report_run *found;         /* NULL: none */
	struct arena arena;
	struct timeline_tables tables;
	size_t n_lanes, n_names, n_shapes;
	bool *wanted; /* lanes that the query asks for */
	struct out out;
};

/* Each event of the wanted lanes, in the order of the store; numbers of names, shapes and
 * lanes lead somewhere. */
typedef bool job_event_fn(void *self, const struct timeline_event *event, struct err *err);
bool job_events(struct export_job *job, job_event_fn *each, void *self, struct err *err);

static inline struct timeline_lane job_lane(const struct export_job *job, size_t lane)
{
	return timeline_lane_at(&job->tables, lane);
}

const char *job_name(const struct export_job *job, uint32_t name);

/* Where the wanted lanes begin; 0 where they have no event. */
int64_t job_begin_ns(const struct export_job *job);

/* Whether what runs on a lane are kernels: of a device, or of the CPU. */
bool job_lane_is_device(const struct export_job *job, size_t lane);

/* A mode of the report, at a point of the sweep. */
struct job_mode {
	const char *engine; /* NULL: our own */
	const char *mode;
	bool has_n;
	int64_t n;                            /* of a sweep */
	const struct report_mode *m;          /* of another engine: what that has of it too */
	size_t breaks;                        /* how many: those of another engine are not in `m` */
	const struct report_comparison *paid; /* against eager; NULL: not compared */
};

/* Those that the query asks for, one by one, our own first.  Ends where `each` returns
 * false. */
typedef bool job_mode_fn(void *self, const struct job_mode *at);
void job_modes(const struct export_job *job, job_mode_fn *each, void *self);

/* A break of a mode, or of a log: a row of a table. */
struct job_break {
	bool own;
	size_t index;     /* of our own modes: in the list of its mode */
	const char *mode; /* NULL: unknown, as with other texts */
	bool has_n;
	int64_t n;
	const char *file;
	int64_t line; /* 0: unknown */
	const char *stage, *kind, *outcome, *gb, *message, *hint;
	bool has_graph;
	int64_t graph, count;
	double cost_us; /* NAN: unknown */
};

/* Those of our own modes, then those of logs. */
typedef void job_break_fn(void *self, const struct job_break *b);
void job_breaks(const struct export_job *job, job_break_fn *each, void *self);

#define FORMAT(name, extension, type, title)                                                       \
	bool export_##name(struct export_job *job, struct err *err);
#include "profiler/export/formats.def"
#undef FORMAT

#endif
