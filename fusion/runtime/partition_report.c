/* fusion/runtime/partition_report.c -- tells a session what its backend did not lower. */
#include "fusion/runtime/partition.h"
#include "fusion/runtime/session.h"

static const enum break_id causes[] = {
	[FALLBACK_OP] = BREAK_UNSUPPORTED_OP,
	[FALLBACK_TYPE] = BREAK_UNSUPPORTED_TYPE,
	[FALLBACK_DENIED] = BREAK_DENIED_OP,
};

bool partition_report(const struct exec *e, struct session *s, int graph, const char *function)
{
	s->counts.lowered += exec_lowered_count(e);
	for (int i = 0; e && e->parts && i < e->parts->n_pieces; i++) {
		const struct piece *piece = &e->parts->pieces[i];
		struct session_break b = { .stage = STAGE_LOWERING,
					   .outcome = OUTCOME_FALLBACK,
					   .call = s->calls - 1,
					   .graph = graph,
					   .n_stack = 1 };
		struct fusion_line at = { .function = function };

		if (piece->kind != PIECE_FALLBACK)
			continue;
		at.line = piece->node->line;
		b.id = causes[piece->cause];
		b.stack = &at;
		b.column = piece->node->column;
		b.subject = piece->cause == FALLBACK_TYPE ? dtype_name(piece->node->dtype)
							  : piece->node->fx;
		b.message = piece->why;
		if (!session_add_break(s, &b))
			return false;
	}
	return true;
}
