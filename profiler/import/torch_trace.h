/* profiler/import/torch_trace.h -- private: a file of TORCH_TRACE as its handlers share it. */
#ifndef PROFILER_IMPORT_TORCH_TRACE_H
#define PROFILER_IMPORT_TORCH_TRACE_H

#include "profiler/import/model.h"
#include "profiler/import/torch_phases.h"
#include "profiler/import/torch_record.h"

/* A process that writes into the file. */
struct writer {
	int64_t pid;
	int process; /* its row of compiles.processes */
	bool began;  /* the table of strings */
	struct torch_phases phases;
};

struct torch_trace {
	struct model *m;
	struct torch_records records;
	VEC(char *) strings; /* of the file */
	VEC(struct writer) writers;
	struct writer *now; /* who writes now */
};

/* One record, as handlers take it. */
struct told {
	struct torch_trace *t;
	const struct torch_record *record;
	const json_t *meta; /* the value of its kind */
	const char *kind;
	char id[64]; /* "0/1"; "": of no compilation */
	json_t *row; /* of its compilation; NULL: none */
};

typedef bool told_fn(struct told *told, struct err *err);

/* A record of the kind "artifact": what it is stands in its name.  False with MEMORY. */
bool torch_artifact_take(struct told *told, struct err *err);

#endif
