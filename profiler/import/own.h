/* profiler/import/own.h -- private: traces that Breakeven itself has written.
 *
 * profiler/export/chrome.c says in the head what the run was, and in each event which
 * row of its tables it has: the timeline that comes of it is that of the run, and what a
 * trace cannot say (breaks, recompiles, what an import before lost) comes with the head.
 */
#ifndef PROFILER_IMPORT_OWN_H
#define PROFILER_IMPORT_OWN_H

#include "fusion/base/vec.h"
#include "profiler/import/kineto.h"
#include "profiler/import/model.h"

/* Rows of more bytes keep their name alone. */
enum { OWN_ROW_BYTES = 12 << 10 };

/* What the numbers of a trace's events stand for in the timeline; zeroed is empty. */
struct own_trace {
	bool is_own;
	VEC(uint32_t) names, shapes; /* + 1; 0: not seen yet */
};
void own_finish(struct own_trace *o);

/* Whether the head, as far as it goes, is that of our own; takes what it says. */
bool own_begins(struct own_trace *o, const json_t *head, struct model *m);

/* What metadata says: a lane with its row, texts of a log; nothing where the event is other.  False
 * with MEMORY or an error of the writer. */
bool own_metadata(struct trace_lanes *lanes, const struct kineto_event *e, struct model *m,
		  struct err *err);

/* A complete event, into totals and the timeline; `base_ns` is the zero of its clock.  False with
 * MEMORY or an error of the writer. */
bool own_event(struct own_trace *o, struct trace_lanes *lanes, const struct kineto_event *e,
	       int64_t base_ns, struct model *m, struct err *err);

/* What the head says besides, into the report of a trace that stood alone; a run that was
 * measured, recorded or ended without a report as "original": {"report", "environment",
 * "workload"}, and which it was as "exported". */
void own_report(const struct model *m, json_t *report);

/* The facts of the timeline: those of the recording, and what was lost since.  New. */
json_t *own_facts(const struct model *m, int64_t dropped, int64_t doubtful);

#endif
