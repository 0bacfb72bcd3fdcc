/* profiler/import/model.h -- private: what the readers of logs fill in together.
 *
 * One of these for an import, however many files and kinds it has: that is where
 * a trace and the compile log of the same process meet (report.c).
 */
#ifndef PROFILER_IMPORT_MODEL_H
#define PROFILER_IMPORT_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "profiler/import/compiles.h"
#include "profiler/import/ledger.h"
#include "profiler/import/names.h"
#include "profiler/import/regions.h"
#include "profiler/import/xla.h"
#include "profiler/timeline/timeline.h"

/* Memory of a device, as its allocator said it. */
struct held_memory {
	int64_t events, allocated_bytes, peak_allocated_bytes, peak_reserved_bytes;
};
enum { MODEL_MAX_DEVICES = 64, MODEL_SHAPES = 8192, MODEL_MAX_GRAPHS = 16384 };

struct model_shape {
	int32_t grid[3], block[3];
	int64_t registers, shared_bytes;
	uint32_t number; /* in the timeline's table; 0: a free slot */
};

struct model {
	struct timeline_writer *writer; /* NULL: no timeline is wanted; borrowed */
	struct ledger ledger;
	int file;               /* which of the files is read, from 0 */
	int64_t base_at_end_ns; /* its clock's zero, where its end says so; else 0 */

	/* of traces */
	struct names names;
	struct regions regions;
	int64_t events, flows, graph_kernels;             /* all that were read */
	struct held_memory memory[MODEL_MAX_DEVICES + 1]; /* the host's first */
	json_t *counters;                         /* a list: a row for each series (counters.h) */
	int64_t async_spans, async_marks, arrows; /* slices.h */
	json_t *heads;                            /* a list: what each file says of itself */
	json_t *exported;      /* what a trace of our own says of its run (own.h); NULL: none */
	json_t *graphs_called; /* {hash of a compiled graph: calls} */
	struct model_shape shapes[MODEL_SHAPES];
	int n_shapes;

	/* of compile logs */
	struct compiles compiles;

	/* of PyTorch/XLA */
	struct xla_log xla;
};

bool model_init(struct model *m, struct timeline_writer *writer, struct err *err);
void model_finish(struct model *m);

/* The number of a launch's shape in the timeline's table; 0: there are too many. */
uint32_t model_shape(struct model *m, const int32_t grid[3], const int32_t block[3],
		     int64_t registers, int64_t shared_bytes);

/* Counts a call of a compiled graph, by its hash. */
void model_graph_called(struct model *m, const char *hash, size_t len);

/* A reader of one kind of log.  A file is given to it in pieces of any size. */
struct log_reader {
	const char *kind; /* as in answers: "kineto" */
	/* Whether a file that begins so is of this kind; `len` is at least some KB, or all. */
	bool (*recognises)(const char *bytes, size_t len);
	void *(*create)(struct model *m, struct err *err);
	bool (*feed)(void *self, const char *bytes, size_t len, struct err *err);
	bool (*end)(void *self, struct err *err); /* the file is over */
	void (*destroy)(void *self);              /* NULL is fine */
};
extern const struct log_reader reader_kineto, reader_torch_trace, reader_pt_xla;

#endif
