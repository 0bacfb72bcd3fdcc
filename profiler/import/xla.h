/* profiler/import/xla.h -- private: what PyTorch/XLA says of its graphs, over all files.
 *
 * PT_XLA_DEBUG prints a block for each compilation and each execution of a graph: why,
 * which graph, and where in the program.  A metrics report has counters and times.
 */
#ifndef PROFILER_IMPORT_XLA_H
#define PROFILER_IMPORT_XLA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "profiler/import/ledger.h"

/* The kind that the texts of such a log are kept under: the log itself, in pieces. */
#define XLA_TEXT_KIND "pt_xla_log"

enum xla_act { XLA_COMPILATION, XLA_EXECUTION, XLA_UNEXPECTED, XLA_ACT_COUNT };

struct xla_log {
	struct ledger *ledger;
	int64_t blocks[XLA_ACT_COUNT];
	json_t *causes;   /* {"compilation": {cause: n}, "execution": ..., "unexpected": ...} */
	json_t *graphs;   /* {hash: {"hash", "name", "inputs", "outputs", "compilations", ...}} */
	json_t *reads;    /* {"file:line": a break: a value that was read before the step's end} */
	json_t *metrics;  /* {name: {"samples", "total_us"}} */
	json_t *counters; /* {name: value} */
	json_t *notes;    /* ["pt-xla-profiler: ..."] */
	json_t *files;    /* of all: [{"file", "hashes", "reads", "fallbacks", ...}] */
};

bool xla_init(struct xla_log *x, struct ledger *ledger);
static inline void xla_finish(struct xla_log *x)
{
	json_decref(x->causes);
	json_decref(x->graphs);
	json_decref(x->reads);
	json_decref(x->metrics);
	json_decref(x->counters);
	json_decref(x->notes);
	json_decref(x->files);
}

/* A block that is whole. */
struct xla_block {
	enum xla_act act;
	char cause[256], name[256], hash[80];
	int64_t inputs, outputs; /* -1: not said */
	char file[512];          /* of the innermost frame that is not PyTorch's own */
	int line;
	char function[128];
	bool has_place; /* it is the program's own */
};

/* Whether there was such a log, its graphs, and its report.  New. */
int64_t xla_graphs(const struct xla_log *x);
json_t *xla_json(const struct xla_log *x, int64_t captured);

/* "06m09s401ms746.001us" as nanoseconds: 6 m 9.400746001 s, for PyTorch/XLA rounds each part
 * but the last; in *printed_ns the sum of what the text says, 6 m 9.401746001 s. */
bool xla_duration(const char *text, int64_t *ns, int64_t *printed_ns);

#endif
