/* server/cli/explain_text.h -- what `breakeven explain` prints. */
#ifndef SERVER_CLI_EXPLAIN_TEXT_H
#define SERVER_CLI_EXPLAIN_TEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/buf.h"

struct report_explain;

/* Counts as torch._dynamo.explain() has them, breaks under their source lines,
 * graphs (as tables where `tables`), guards and recompiles of each frame, and
 * what other sizes lead to.  `place` and `workload` are those of break_text_print(). */
void explain_text_print(struct buf *out, const struct report_explain *e, const char *place,
			const json_t *workload, bool tables);

#endif
