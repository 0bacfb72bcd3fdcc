/* fusion/compile/compile.c -- from a graph to what runs it.
 *
 * A graph that the backend lowers as a whole takes the steps of compile_piece(), from its
 * passes to its kernels.  Any other is cut first; then each piece takes them.
 */
#include "fusion/compile/compile.h"

#include "fusion/base/clock.h"
#include "fusion/base/refused.h"
#include "fusion/compile/exec.h"
#include "fusion/compile/partition.h"
#include "fusion/compile/pieces.h"

static struct pass_options passes_of(const struct compile_options *options)
{
	const struct backend *backend = options->backend;
	struct pass_options passes = options->passes;

	passes.list = options->env->passes;
	passes.no_fusion |= backend->one_by_one;
	passes.calls = backend->has_calls && backend->has_calls(options->env->backend_env.device);
	return passes;
}

struct exec *compile_piece(const struct compile_options *options, struct graph *g,
			   struct arena *arena, struct err *err)
{
	struct pass_options passes = passes_of(options);
	struct backend_env env = options->env->backend_env;
	struct pass_result passed = { 0 };
	int64_t begin = clock_ns(), lowering;
	uint64_t refused = memory_refused_here();
	struct lowered *lowered;
	struct exec *e;

	/* the passes of passes.def; the last one groups nodes into kernels */
	if (!passes_run(g, &passes, &passed, err))
		return NULL;
	lowering = clock_ns();
	/* lowering: a tile program for each kernel, and the buffers between them */
	lowered = lower_graph(passed.graph, passed.group, passed.why, passes.calls, arena, err);
	if (!lowered)
		return NULL;
	/* the executor: where buffers lie, and when their memory is taken and given back */
	e = exec_create(options, passed.graph, lowered, arena, err);
	if (!e)
		return NULL;
	/* the backend: machine code, unless its cache has it */
	if (lowered->n_kernels > 0) {
		env.cache_rebuild &= !options->of_eager;
		e->executable = backend_compile(options->backend, &env, lowered, &e->stats, err);
		if (!e->executable) {
			exec_destroy(e);
			return NULL;
		}
	}
	/* a pass, or a list of nodes, that ran out of memory may have left some out */
	if (memory_refused_here() != refused) {
		exec_destroy(e);
		memory_refused_error(err, "a compiled graph");
		return NULL;
	}
	e->passes = passes;
	e->passes_ns = lowering - begin;
	e->backend_ns = clock_ns() - lowering;
	return e;
}

/* A fallback runs as in eager; the body of a loop may be cut in its turn. */
static struct exec *compile_part(const struct compile_options *options, const struct piece *piece,
				 struct arena *arena, struct err *err)
{
	struct compile_options own = *options;

	own.passes.given_up = NULL; /* the whole graph's inputs, not the piece's */
	if (piece->kind == PIECE_FALLBACK || piece->denied)
		own.backend = exec_eager_backend(options->env);
	return piece->kind == PIECE_LOOP ? compile_graph(&own, piece->graph, arena, err)
					 : compile_piece(&own, piece->graph, arena, err);
}

static struct exec *compile_parts(const struct compile_options *options, struct graph *g,
				  struct partition *parts, struct arena *arena, struct err *err)
{
	struct exec *e;

	for (int i = 0; i < parts->n_pieces; i++) {
		struct piece *piece = &parts->pieces[i];

		piece->exec = compile_part(options, piece, arena, err);
		if (!piece->exec) {
			pieces_destroy(parts);
			return NULL;
		}
	}
	e = pieces_join(options, g, parts, arena);
	if (!e) {
		err_set(err, ERR_MEMORY, "out of memory while cutting a graph into pieces");
		pieces_destroy(parts);
	}
	return e;
}

struct exec *compile_graph(const struct compile_options *options, struct graph *g,
			   struct arena *arena, struct err *err)
{
	struct partition *parts;

	if (!partition_find(options, g, arena, &parts, err))
		return NULL;
	return parts ? compile_parts(options, g, parts, arena, err)
		     : compile_piece(options, g, arena, err);
}
