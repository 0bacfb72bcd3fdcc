/* fusion/passes/pass_log.c -- notes what passes do to a graph, for who wants to see it.
 *
 * A pass is told by the text of the graph behind it, if it changed anything, and
 * by the rules that fired in it, each with its node and line.  Texts and firings
 * are bounded; what is left out is counted.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/passes/pass.h"

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

void pass_log_begin(struct pass_log *log, const struct pass_info *pass, bool off)
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

void pass_log_end(struct pass_log *log, const struct pass_run *run, bool changed)
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
