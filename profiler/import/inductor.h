/* profiler/import/inductor.h -- private: what Inductor tells of its graphs in the texts of a log.
 *
 *	inductor_collective_schedule
 *		a list: the collectives of a graph, in Inductor's order
 *	inductor_output_code
 *		comes after the schedule of its graph: its calls of collectives and of waits
 *		are counted and compared with that
 *	inductor_runtime_and_tensor_meta
 *		{"ops": [{"name", "estimated_runtime_ns", "outputs": [
 *			{"shape", "stride", "dtype"}]}]}
 *	graph_execution
 *		{"graph_execution_order": ["0/0", {"compile_id": "0/1"}]}, of a process; the
 *		last one counts: it has all that ran before
 *
 * A compilation has several graphs (forward, backward, pieces): sums are over them.
 */
#ifndef PROFILER_IMPORT_INDUCTOR_H
#define PROFILER_IMPORT_INDUCTOR_H

#include "profiler/import/compiles.h"

enum {
	INDUCTOR_ORDER_MAX = 4096,        /* graphs of a process's order that are kept */
	INDUCTOR_TENSORS_BYTES = 8 << 20, /* of op_tensors of an import */
};

struct inductor_said {
	json_t *row, *process; /* of the compilation (NULL: of none), and of who wrote */
	const char *payload;   /* NUL terminated; NULL: none */
	size_t len;
};

/* Takes a text of that name over; of other names there is nothing to take.  What is no JSON of the
 * form is counted in the ledger. */
void inductor_take(struct compiles *c, const char *name, const struct inductor_said *said);

/* Drops from a row what only comparisons of ranks read: `op_tensors`, a text for each op. */
static inline void inductor_drop(json_t *row)
{
	json_object_del(row, "op_tensors");
	json_object_del(row, "scheduled");
}

#endif
