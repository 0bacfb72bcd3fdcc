/* fusion/passes/passes.c -- runs passes.def over a graph.
 *
 * Passes share and drop nodes freely, so an output may end up as an input, a
 * constant, or the same node as another output though the program made two
 * tensors.  A program that writes to one must not see the other change: such
 * outputs get a clone each before fusion.
 */
#include <string.h>

#include "fusion/passes/pass.h"

enum pass {
#define PASS(id, purpose) PASS_##id,
#include "fusion/passes/passes.def"
#undef PASS
	PASS_COUNT
};

static const struct pass_info infos[PASS_COUNT] = {
#define PASS(id, text) [PASS_##id] = { .name = #id, .purpose = text },
#include "fusion/passes/passes.def"
#undef PASS
};

static pass_fn *const functions[PASS_COUNT] = {
	[PASS_decompose] = pass_decompose,
	[PASS_fold] = pass_fold,
	[PASS_simplify] = pass_simplify,
	[PASS_cse] = pass_cse,
	[PASS_lift] = pass_lift,
	[PASS_dce] = pass_dce,
	[PASS_views] = pass_views,
	[PASS_fuse] = NULL, /* pass_fuse() has more to say than `changed` */
};

int passes_count(void)
{
	return PASS_COUNT;
}

const struct pass_info *passes_info(int index)
{
	return &infos[index];
}

static bool is_disabled(const struct pass_options *options, int pass)
{
	return pass != PASS_decompose && pass != PASS_views && (options->disabled >> pass & 1) != 0;
}

static bool verify(const struct graph *g, int pass, struct err *err)
{
	struct err why = { 0 };

	if (graph_verify(g, &why))
		return true;
	return err_set(err, ERR_INTERNAL, "after pass %s: %s", infos[pass].name, why.message);
}

static enum op_kind kind_of(const struct graph *g, int id)
{
	return op_info(g->nodes[id]->op)->kind;
}

/* Output i as the program made it: an id of the graph as it was, and its kind. */
struct origin {
	int id;
	enum op_kind kind;
};

static bool needs_clone(const struct graph *g, const struct origin *origins, int i)
{
	enum op_kind kind = kind_of(g, g->outputs[i]);

	if (kind == KIND_CONSTANT || kind == KIND_VIEW ||
	    (kind == KIND_INPUT && origins[i].kind != KIND_INPUT))
		return true;
	for (int j = 0; j < i; j++)
		if (g->outputs[j] == g->outputs[i] && origins[j].id != origins[i].id)
			return true;
	return false;
}

static bool part_outputs(struct graph *g, const struct origin *origins, struct err *err)
{
	int clone;

	for (int i = 0; i < g->n_outputs; i++) {
		struct arg x = arg_node(g->outputs[i]);

		if (!needs_clone(g, origins, i))
			continue;
		clone = graph_add(g, OP_clone, &x, 1, g->nodes[x.node]->line,
				  g->nodes[x.node]->column, err);
		if (clone < 0)
			return false;
		g->outputs[i] = clone;
		for (int j = i + 1; j < g->n_outputs; j++)
			if (origins[j].id == origins[i].id)
				g->outputs[j] = clone; /* one tensor, returned twice */
	}
	return true;
}

static struct origin *note_outputs(const struct graph *g)
{
	struct origin *origins = ARENA_ARRAY(g->arena, struct origin, (size_t)g->n_outputs);

	for (int i = 0; origins && i < g->n_outputs; i++)
		origins[i] = (struct origin){ g->outputs[i], kind_of(g, g->outputs[i]) };
	return origins;
}

/* Whether some kernel computes more than one node. */
static bool has_fused(const struct pass_result *out)
{
	int computed = 0;

	for (int i = 0; i < out->graph->n_nodes; i++)
		computed += out->group[i] >= 0;
	return computed > out->n_groups;
}

bool passes_run(struct graph *g, const struct pass_options *options, struct pass_result *out,
		struct err *err)
{
	struct origin *origins = note_outputs(g);

	*out = (struct pass_result){ .graph = g,
				     .changed = ARENA_ARRAY(g->arena, bool, PASS_COUNT) };
	if (!out->changed || !origins)
		return pass_out_of_memory(err);
	for (int i = 0; i < PASS_COUNT; i++) {
		if (!functions[i] || is_disabled(options, i))
			continue;
		if (!functions[i](g, &out->changed[i], err))
			return false;
		if (options->verify && !verify(g, i, err))
			return false;
	}
	if (!part_outputs(g, origins, err) || !pass_fuse(g, options->no_fusion, out, err))
		return false;
	out->changed[PASS_fuse] = has_fused(out);
	return !options->verify || verify(g, PASS_fuse, err);
}
