/* profiler/report/subgraphs.c -- the loops within a captured graph. */
#include "profiler/report/subgraphs.h"

static struct report_carried_list carried_of(const struct fusion_loop *l,
					     struct report_draft *draft)
{
	struct report_carried *all = report_new_carried((size_t)l->n_carried, &draft->arena);

	for (int i = 0; all && i < l->n_carried; i++) {
		const struct fusion_carried *c = &l->carried[i];

		REPORT_SET_OR_NULL(&all[i], node, c->node >= 0, c->node);
		REPORT_SET_OR_NULL(&all[i], start, c->start >= 0, c->start);
		REPORT_SET_OR_NULL(&all[i], next, c->next >= 0, c->next);
		REPORT_SET_OR_NULL(&all[i], result, c->result >= 0, c->result);
	}
	return (struct report_carried_list){ all, (size_t)l->n_carried };
}

static void fill_loop(struct report_subgraph *to, const struct fusion_loop *l,
		      struct report_draft *draft)
{
	REPORT_SET(to, kind, "while_loop");
	REPORT_SET(to, node, l->node);
	REPORT_SET_OR_NULL(to, parent, l->parent >= 0, l->parent);
	REPORT_SET(to, line, l->line);
	REPORT_SET_OR_NULL(to, first, l->first >= 0, l->first);
	REPORT_SET_OR_NULL(to, again, l->again >= 0, l->again);
	REPORT_SET(to, carried, carried_of(l, draft));
	REPORT_SET(to, reads, report_draft_integers(draft, l->reads, l->n_reads));
	REPORT_SET(to, nodes, report_draft_integers(draft, l->nodes, l->n_nodes));
	REPORT_SET(to, condition, report_draft_integers(draft, l->condition, l->n_condition));
}

struct report_subgraph_list subgraphs_of(const struct graph *g, struct report_draft *draft)
{
	struct fusion_loops *loops = fusion_loops(g);
	int n = loops ? fusion_loop_count(loops) : 0;
	struct report_subgraph *all = report_new_subgraph((size_t)n, &draft->arena);

	for (int i = 0; all && i < n; i++) {
		struct fusion_loop l = fusion_loop(loops, i);

		fill_loop(&all[i], &l, draft);
	}
	fusion_loops_destroy(loops);
	return (struct report_subgraph_list){ all, (size_t)n };
}
