/* fusion/compile/partition_report.c -- reports what the backend did not lower. */
#include "fusion/compile/partition.h"

static const enum break_id causes[] = {
	[FALLBACK_OP] = BREAK_UNSUPPORTED_OP,
	[FALLBACK_TYPE] = BREAK_UNSUPPORTED_TYPE,
	[FALLBACK_DENIED] = BREAK_DENIED_OP,
};

static bool is_fallback(const struct piece *piece)
{
	return piece->kind == PIECE_FALLBACK || (piece->kind == PIECE_LOOP && piece->denied);
}

/* One call may be several ops: x.sort() finds values and indices.  -1: nothing tells of
 * it so far. */
static int told_by(const struct partition *p, int index)
{
	const struct node *n = p->pieces[index].node;

	for (int i = 0; i < index; i++)
		if (is_fallback(&p->pieces[i]) && p->pieces[i].node->line == n->line &&
		    p->pieces[i].node->column == n->column)
			return p->pieces[i].brk;
	return -1;
}

static const char *subject_of(const struct piece *piece)
{
	const struct node *n = piece->node;

	if (piece->cause == FALLBACK_TYPE)
		return dtype_name(n->dtype);
	return n->fx[0] ? n->fx : op_info(n->op)->id;
}

/* Those of a loop's body stand once, however often it runs. */
static bool tell_pieces(struct exec *e, struct session_report *r, int graph, const char *function)
{
	for (int i = 0; e && e->parts && i < e->parts->n_pieces; i++) {
		struct piece *piece = &e->parts->pieces[i];
		struct session_break b = { .stage = STAGE_LOWERING,
					   .outcome = OUTCOME_FALLBACK,
					   .call = r->calls - 1,
					   .graph = graph,
					   .n_stack = 1 };
		struct fusion_line at = { .function = function };

		if (piece->kind == PIECE_LOOP && !tell_pieces(piece->exec, r, graph, function))
			return false;
		if (!is_fallback(piece))
			continue;
		piece->brk = told_by(e->parts, i);
		if (piece->brk >= 0)
			continue;
		at.line = piece->node->line;
		b.id = causes[piece->cause];
		b.stack = &at;
		b.column = piece->node->column;
		b.subject = subject_of(piece);
		b.message = piece->why;
		if (!report_add_break(r, &b, &piece->brk))
			return false;
	}
	return true;
}

bool partition_report(struct exec *e, struct session_report *r, int graph, const char *function)
{
	r->counts.lowered += exec_lowered_count(e);
	return tell_pieces(e, r, graph, function);
}
