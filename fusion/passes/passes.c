/* fusion/passes/passes.c -- runs a list of passes over a graph.
 *
 * Whether the order is right was decided when the list was made (pass_list.c).
 * What is checked here, in debug and test builds and always after a plugin's
 * pass: that the graph is one, that the outputs are still of their types, and
 * that what the pass says it makes or leaves does hold.
 */
#include <stdlib.h>
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

static bool properties_hold(const struct graph *g, unsigned properties,
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
	    properties_hold(run->g, hold, run->origins, &why))
		return true;
	if (pass->plugin)
		return err_set(err, ERR_PLUGIN, "pass %s of the plugin %s broke the graph: %.300s",
			       pass->name, pass->plugin, why.message);
	return err_set(err, ERR_INTERNAL, "after pass %s: %.400s", pass->name, why.message);
}

/* ---- the log of who watches: it keeps the text of the graph after a pass, if it changed
 * anything, and by the rules that fired in it, each with its node and line.  Texts and firings
 * are bounded; what is left out is counted. */

/* The text into the log, where it still fits; NULL where it does not. */
static const char *keep_text(struct pass_log *log, struct buf *text)
{
	const char *kept = NULL;

	if (!text->data || text->failed) {
		log->failed = true;
	} else if (log->bytes + text->len > log->max_bytes) {
		log->left_out_bytes += text->len;
	} else {
		kept = arena_strndup(&log->arena, text->data, text->len);
		log->failed |= !kept;
		log->bytes += kept ? text->len : 0;
	}
	buf_finish(text);
	return kept;
}

static void pass_log_begin(struct pass_log *log, const struct pass_info *pass, bool off)
{
	if (!log)
		return;
	log->at = &log->steps[log->n++];
	*log->at = (struct pass_step){ .name = pass->name, .plugin = pass->plugin, .off = off };
}

/* Which kernel each node is in, below the graph. */
static void print_groups(struct buf *out, const struct pass_result *result)
{
	const struct graph *g = result->graph;

	for (int k = 0; k < result->n_groups; k++) {
		const char *separator = "";

		buf_printf(out, "kernel %d:", k);
		for (int id = 0; id < g->n_nodes; id++)
			if (result->group[id] == k) {
				buf_printf(out, "%s %%%s", separator, g->nodes[id]->name);
				separator = ",";
			}
		buf_putc(out, '\n');
	}
}

/* How the nodes came together: into the kernel of what reads them, or beside
 * others that read the same. */
static void note_groups(struct graph *g, const struct pass_result *result)
{
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id], *with = NULL;
		bool feeds = false;

		for (int a = 0; a < n->n_args && result->group[id] >= 0; a++)
			if (n->args[a].kind == ARG_NODE &&
			    result->group[n->args[a].node] == result->group[id]) {
				with = g->nodes[n->args[a].node];
				feeds = true;
			}
		for (int k = 0; k < id && !feeds && result->group[id] >= 0; k++)
			if (result->group[k] == result->group[id])
				with = g->nodes[k];
		if (with)
			pass_fired(g, feeds ? "into the kernel of what it reads" : "side by side",
				   n, with);
	}
}

static void pass_log_end(struct pass_log *log, const struct pass_run *run, bool changed)
{
	struct buf text;

	if (!log)
		return;
	log->at->changed = changed;
	log->at->n_nodes = run->g->n_nodes;
	if (run->out->group)
		note_groups(run->g, run->out);
	if (!changed && !run->out->group)
		return;
	buf_init(&text, 0);
	graph_print(&text, run->g);
	if (run->out->group)
		print_groups(&text, run->out);
	log->at->after = keep_text(log, &text);
}

void pass_note(struct graph *g, const char *rule, const struct node *n, const struct node *with)
{
	struct pass_log *log = g->log;
	struct pass_firing f = { .rule = rule, .line = n->line, .column = n->column };

	if (!log->at)
		return;
	if (log->at->firings.len >= (size_t)log->max_firings) {
		log->at->firings_left_out++;
		return;
	}
	f.rule = arena_strdup(&log->arena, rule);
	f.node = arena_strdup(&log->arena, n->name);
	f.with = with ? arena_strdup(&log->arena, with->name) : NULL;
	if (!f.rule || !f.node || !VEC_PUSH(&log->at->firings, f))
		log->failed = true;
}

/* ---- */

static bool run_pass(struct pass_run *run, const struct pass_info *pass, bool *changed,
		     struct err *err)
{
	struct pass_log *log = run->g->log;
	int64_t begin = log ? clock_ns() : 0;
	bool ok;

	run->self = pass;
	ok = pass->run(run, changed, err);

	if (log)
		log->at->ns = clock_ns() - begin;
	return ok;
}

/* Runs one pass of the list; `hold`: the properties before it, and after it. */
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

bool passes_watch(struct graph *g, const struct pass_options *options, struct pass_log *log,
		  struct err *err)
{
	struct pass_result result;
	struct buf text;
	bool ok;

	buf_init(&text, 0);
	graph_print(&text, g);
	log->before = keep_text(log, &text);
	log->n_nodes = g->n_nodes;
	g->log = log;
	ok = passes_run(g, options, &result, err);
	g->log = NULL;
	log->at = NULL;
	return ok && (!log->failed || pass_out_of_memory(err));
}

void pass_log_finish(struct pass_log *log)
{
	for (int i = 0; i < log->n; i++)
		VEC_FREE(&log->steps[i].firings);
	arena_finish(&log->arena);
	memset(log, 0, sizeof(*log));
}
