/* fusion/runtime/exec/watch.c -- see watch.h. */
#include "fusion/runtime/exec/watch.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/graph/loop.h"
#include "fusion/runtime/exec/partition.h"

enum { MAX_FIRINGS = 200 }; /* of a pass */

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while watching the passes");
}

static bool watch_graph(struct watched *w, const struct exec *e, struct graph *g, const char *name,
			struct err *err)
{
	struct watched_part part = { .name = arena_strdup(&w->arena, name),
				     .log = { .max_bytes = w->max_bytes - w->bytes,
					      .max_firings = MAX_FIRINGS } };
	bool ok;

	if (!part.name || !VEC_PUSH(&w->parts, part))
		return no_memory(err);
	ok = passes_watch(g, &e->passes, &w->parts.at[w->parts.len - 1].log, err);
	w->bytes += w->parts.at[w->parts.len - 1].log.bytes;
	return ok;
}

static bool watch_piece(struct watched *w, const struct exec *e, const struct piece *piece,
			const char *name, struct err *err)
{
	struct arena scratch = { 0 };
	struct graph *g;
	int *inputs;
	bool ok;

	if (piece->kind == PIECE_FALLBACK)
		return true; /* one op, as eager runs it */
	if (piece->kind == PIECE_LOOP)
		return watch_exec(w, piece->exec, piece->loop->body, name, err);
	g = graph_extract(e->graph, piece->inside, piece->made, piece->n_outputs, &scratch,
			  &inputs);
	ok = g ? watch_graph(w, piece->exec, g, name, err) : no_memory(err);
	arena_finish(&scratch);
	return ok;
}

bool watch_exec(struct watched *w, const struct exec *e, const struct graph *source,
		const char *name, struct err *err)
{
	struct arena scratch = { 0 };
	bool ok = true;

	if (!e->parts) {
		struct graph *g = graph_copy(source, &scratch);

		ok = g ? watch_graph(w, e, g, name, err) : no_memory(err);
		arena_finish(&scratch);
		return ok;
	}
	for (int i = 0; i < e->parts->n_pieces && ok; i++) {
		const struct piece *piece = &e->parts->pieces[i];
		const char *what = piece->kind == PIECE_LOOP ? "loop" : "piece";

		const char *own = *name ? arena_printf(&w->arena, "%s, %s %d", name, what, i)
					: arena_printf(&w->arena, "%s %d", what, i);

		ok = own ? watch_piece(w, e, piece, own, err) : no_memory(err);
	}
	return ok;
}

void watched_finish(struct watched *w)
{
	for (size_t i = 0; i < w->parts.len; i++)
		pass_log_finish(&w->parts.at[i].log);
	VEC_FREE(&w->parts);
	arena_finish(&w->arena);
	memset(w, 0, sizeof(*w));
}
