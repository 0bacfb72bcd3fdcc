/* fusion/passes/passes.c -- runs a list of passes over a graph.
 *
 * Whether the order is right was decided when the list was made (pass_list.c).
 * What is checked here, in debug and test builds and always behind a plugin's
 * pass: that the graph is one, that the outputs are still of their types, and
 * that what the pass says it makes or leaves does hold.
 */
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/graph/view.h"
#include "fusion/passes/pass.h"

static struct pass_origin *note_outputs(const struct graph *g)
{
	struct pass_origin *origins = ARENA_ARRAY(g->arena, struct pass_origin,
						  (size_t)g->n_outputs);

	for (int i = 0; origins && i < g->n_outputs; i++) {
		const struct node *n = g->nodes[g->outputs[i]];

		origins[i] = (struct pass_origin){ .id = g->outputs[i],
						   .kind = op_info(n->op)->kind,
						   .dtype = n->dtype,
						   .shape = n->shape };
	}
	return origins;
}

static bool all_primitive(const struct graph *g, struct err *err)
{
	for (int i = 0; i < g->n_nodes; i++)
		if (op_info(g->nodes[i]->op)->kind == KIND_COMPOSITE)
			return err_set(err, ERR_INTERNAL, "%%%s is a %s, which is made of others",
				       g->nodes[i]->name, op_info(g->nodes[i]->op)->id);
	return true;
}

static bool all_strided(const struct graph *g, struct err *err)
{
	struct view_layout layout;

	for (int i = 0; i < g->n_nodes; i++)
		if (op_info(g->nodes[i]->op)->kind == KIND_VIEW && !view_layout(g, i, &layout))
			return err_set(err, ERR_INTERNAL, "%%%s is a view without strides",
				       g->nodes[i]->name);
	return true;
}

static bool is_output(const struct graph *g, int id)
{
	for (int i = 0; i < g->n_outputs; i++)
		if (g->outputs[i] == id)
			return true;
	return false;
}

static bool is_read(const struct graph *g, int id)
{
	for (int i = id + 1; i < g->n_nodes; i++)
		for (int a = 0; a < g->nodes[i]->n_args; a++)
			if (g->nodes[i]->args[a].kind == ARG_NODE &&
			    g->nodes[i]->args[a].node == id)
				return true;
	return false;
}

static bool all_live(const struct graph *g, struct err *err)
{
	for (int i = 0; i < g->n_nodes; i++)
		if (g->nodes[i]->op != OP_input && !op_draws(g->nodes[i]->op) && !is_output(g, i) &&
		    !is_read(g, i))
			return err_set(err, ERR_INTERNAL, "nothing reads %%%s", g->nodes[i]->name);
	return true;
}

bool pass_properties_hold(const struct graph *g, unsigned properties,
			  const struct pass_origin *origins, struct err *err)
{
	int output;

	if ((properties & 1u << PROPERTY_primitive) && !all_primitive(g, err))
		return false;
	if ((properties & 1u << PROPERTY_strided) && !all_strided(g, err))
		return false;
	if ((properties & 1u << PROPERTY_live) && !all_live(g, err))
		return false;
	if ((properties & 1u << PROPERTY_apart) && !pass_outputs_hold(g, origins, &output))
		return err_set(err, ERR_INTERNAL, "output %d has no memory of its own", output);
	return true;
}

static bool same_outputs(const struct pass_run *run, struct err *err)
{
	for (int i = 0; i < run->g->n_outputs; i++) {
		const struct node *n = run->g->nodes[run->g->outputs[i]];

		if (n->dtype != run->origins[i].dtype ||
		    !shape_equal(&n->shape, &run->origins[i].shape))
			return err_set(err, ERR_INTERNAL,
				       "output %d, %%%s, has another dtype or shape than the "
				       "program gave it",
				       i, n->name);
	}
	return true;
}

static bool verify(const struct pass_run *run, const struct pass_info *pass, unsigned hold,
		   struct err *err)
{
	struct err why = { 0 };

	if (graph_verify(run->g, &why) && same_outputs(run, &why) &&
	    pass_properties_hold(run->g, hold, run->origins, &why))
		return true;
	if (pass->plugin)
		return err_set(err, ERR_PLUGIN, "pass %s of the plugin %s broke the graph: %.300s",
			       pass->name, pass->plugin, why.message);
	return err_set(err, ERR_INTERNAL, "after pass %s: %.400s", pass->name, why.message);
}

static bool run_pass(struct pass_run *run, const struct pass_info *pass, bool *changed,
		     struct err *err)
{
	struct pass_log *log = run->g->log;
	int64_t begin = log ? clock_ns() : 0;
	bool ok = pass->run(run, pass, changed, err);

	if (log)
		log->at->ns = clock_ns() - begin;
	return ok;
}

/* Runs one pass of the list; `hold`: the properties before it, and behind it. */
static bool step(struct pass_run *run, int i, unsigned *hold, struct err *err)
{
	const struct pass_info *pass = &run->list->passes[i];
	bool off = (run->options->disabled & ~run->list->required) >> i & 1;
	bool *changed = &run->out->changed[i];

	run->no_fusion = off || run->options->no_fusion;
	pass_log_begin(run->g->log, pass, off);
	if (off && strcmp(pass->name, "fuse") != 0)
		return true;
	if (!run_pass(run, pass, changed, err))
		return false;
	*hold = (*hold & ~pass->breaks) | pass->makes;
	pass_log_end(run->g->log, run, *changed);
	return !(run->options->verify || pass->plugin) || verify(run, pass, *hold, err);
}

bool passes_run(struct graph *g, const struct pass_options *options, struct pass_result *out,
		struct err *err)
{
	struct pass_run run = { .g = g,
				.options = options,
				.out = out,
				.list = options->list ? options->list : pass_list_default(),
				.origins = note_outputs(g) };
	unsigned hold = 0;

	*out = (struct pass_result){ .graph = g,
				     .changed = ARENA_ARRAY(g->arena, bool, MAX_PASSES) };
	if (!out->changed || !run.origins)
		return pass_out_of_memory(err);
	for (int i = 0; i < run.list->n; i++)
		if (!step(&run, i, &hold, err))
			return false;
	return true;
}

bool passes_decompose(struct graph *g, struct err *err)
{
	bool changed;

	return pass_decompose(g, &changed, err);
}
