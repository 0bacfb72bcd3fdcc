/* fusion/compile/watch.c -- runs the passes of a graph again, and keeps what they did. */
#include "fusion/compile/watch.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/graph/loop.h"
#include "fusion/compile/partition.h"

enum { MAX_FIRINGS = 200 }; /* of a pass */

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while watching the passes");
}

/* Which part a graph is; `inputs`: the names of what its inputs are; NULL: their own. */
struct watch_place {
	const char *name, *loop;
	const char *const *inputs;
};

static bool watch_within(struct watched *w, const struct exec *e, const struct graph *source,
			 const struct watch_place *at, struct err *err);

static const char *name_of(const struct graph *g, int id, const char *const *inputs)
{
	const struct node *n = g->nodes[id];

	return inputs && n->op == OP_input ? inputs[n->input] : n->name;
}

/* Names of nodes of g, copied. */
static const char **names_of(struct watched *w, const struct graph *g, const int *ids, int n,
			     const char *const *inputs)
{
	const char **names = ARENA_ARRAY(&w->arena, const char *, (size_t)n + 1);

	for (int i = 0; names && i < n; i++)
		if (!(names[i] = arena_strdup(&w->arena, name_of(g, ids[i], inputs))))
			return NULL;
	return names;
}

/* A copy of what an exec was made of, for the passes to change; its inputs and outputs are
 * these nodes of `from`. */
struct watch_copy {
	struct graph *g;
	const struct graph *from;
	const int *takes, *gives;
};

static bool watch_graph(struct watched *w, const struct exec *e, const struct watch_copy *copy,
			const struct watch_place *at, struct err *err)
{
	const struct graph *from = copy->from;
	struct graph *g = copy->g;
	struct watched_part part = {
		.name = arena_strdup(&w->arena, at->name),
		.loop = at->loop ? arena_strdup(&w->arena, at->loop) : NULL,
		.takes = names_of(w, from, copy->takes, g->n_inputs, at->inputs),
		.gives = names_of(w, from, copy->gives, g->n_outputs, at->inputs),
		.n_takes = g->n_inputs,
		.n_gives = g->n_outputs,
		.first_kernel = e->first_kernel,
		.n_kernels = e->lowered->n_kernels,
		.log = { .max_bytes = w->max_bytes - w->bytes, .max_firings = MAX_FIRINGS }
	};
	bool ok;

	if (!part.name || (at->loop && !part.loop) || !part.takes || !part.gives ||
	    !VEC_PUSH(&w->parts, part))
		return no_memory(err);
	ok = passes_watch(g, &e->passes, &w->parts.at[w->parts.len - 1].log, err);
	w->bytes += w->parts.at[w->parts.len - 1].log.bytes;
	return ok;
}

static bool watch_body(struct watched *w, const struct piece *piece, const struct watch_place *at,
		       struct err *err)
{
	struct watch_place within = { at->name, piece->node->name, piece->loop->names };

	return watch_within(w, piece->exec, piece->loop->body, &within, err);
}

static bool watch_piece(struct watched *w, const struct exec *e, const struct piece *piece,
			const struct watch_place *at, struct err *err)
{
	struct arena scratch = { 0 };
	struct graph *g;
	int *inputs;
	bool ok;

	if (piece->kind == PIECE_FALLBACK)
		return true; /* one op, as eager runs it */
	if (piece->kind == PIECE_LOOP)
		return watch_body(w, piece, at, err);
	g = graph_extract(e->graph, piece->inside, piece->made, piece->n_outputs, &scratch,
			  &inputs);
	ok = g ? watch_graph(w, piece->exec,
			     &(struct watch_copy){ g, e->graph, inputs, piece->made }, at, err)
	       : no_memory(err);
	arena_finish(&scratch);
	return ok;
}

static bool watch_whole(struct watched *w, const struct exec *e, const struct graph *source,
			const struct watch_place *at, struct err *err)
{
	struct arena scratch = { 0 };
	struct graph *g = graph_copy(source, &scratch);
	const struct watch_copy copy = { g, source, source->inputs, source->outputs };
	bool ok = g ? watch_graph(w, e, &copy, at, err) : no_memory(err);

	arena_finish(&scratch);
	return ok;
}

static bool watch_within(struct watched *w, const struct exec *e, const struct graph *source,
			 const struct watch_place *at, struct err *err)
{
	bool ok = true;

	if (!e->parts)
		return watch_whole(w, e, source, at, err);
	for (int i = 0; i < e->parts->n_pieces && ok; i++) {
		const struct piece *piece = &e->parts->pieces[i];
		const char *what = piece->kind == PIECE_LOOP ? "loop" : "piece";
		struct watch_place own = *at;

		own.name = *at->name ? arena_printf(&w->arena, "%s, %s %d", at->name, what, i)
				     : arena_printf(&w->arena, "%s %d", what, i);
		ok = own.name ? watch_piece(w, e, piece, &own, err) : no_memory(err);
	}
	return ok;
}

bool watch_exec(struct watched *w, const struct exec *e, const struct graph *source,
		const char *name, struct err *err)
{
	return watch_within(w, e, source, &(struct watch_place){ .name = name }, err);
}
