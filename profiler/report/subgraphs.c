/* profiler/report/subgraphs.c -- the loops within a captured graph, as JSON. */
#include "profiler/report/subgraphs.h"

static json_t *id_json(int id)
{
	return id >= 0 ? json_integer(id) : json_null();
}

static json_t *ids_json(const int *ids, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, id_json(ids[i]));
	return list;
}

static json_t *carried_json(const struct fusion_loop *l)
{
	json_t *list = json_array();

	for (int i = 0; i < l->n_carried; i++) {
		const struct fusion_carried *c = &l->carried[i];

		json_array_append_new(list,
				      json_pack("{s:o, s:o, s:o, s:o}", "node", id_json(c->node),
						"start", id_json(c->start), "next",
						id_json(c->next), "result", id_json(c->result)));
	}
	return list;
}

static json_t *loop_json(const struct fusion_loop *l)
{
	return json_pack("{s:s, s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", "while_loop",
			 "node", l->node, "parent", id_json(l->parent), "line", l->line, "first",
			 id_json(l->first), "again", id_json(l->again), "carried", carried_json(l),
			 "reads", ids_json(l->reads, l->n_reads), "nodes",
			 ids_json(l->nodes, l->n_nodes), "condition",
			 ids_json(l->condition, l->n_condition));
}

json_t *subgraphs_json(const struct graph *g)
{
	struct fusion_loops *loops = fusion_loops(g);
	json_t *list = json_array();

	for (int i = 0; loops && i < fusion_loop_count(loops); i++) {
		struct fusion_loop l = fusion_loop(loops, i);

		json_array_append_new(list, loop_json(&l));
	}
	fusion_loops_destroy(loops);
	return list;
}
