/* fusion/compile/pieces.c -- runs the pieces of a graph one after another.
 *
 * Values go from piece to piece as tensors of their own and are released as soon
 * as nothing reads them any more.  A loop makes what goes round again in each round;
 * whether there is another one is read from what the body leaves first.
 */
#include "fusion/compile/pieces.h"

#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/graph/loop.h"

/* The kernels of an exec, and of what it is made of, are numbered from `first` on. */
static void number_kernels(struct exec *e, int first)
{
	for (int i = 0; e->parts && i < e->parts->n_pieces; i++) {
		struct exec *x = e->parts->pieces[i].exec;

		number_kernels(x, first + x->first_kernel - e->first_kernel);
	}
	e->first_kernel = first;
}

/* The kernels of all pieces in one list, for whoever counts and names them. */
static bool sum_up(struct exec *e)
{
	struct lowered *l = ARENA_NEW(e->arena, struct lowered);
	const struct partition *p = e->parts;
	const char *source = "";
	int n = 0;

	for (int i = 0; i < p->n_pieces; i++)
		n += p->pieces[i].exec->lowered->n_kernels;
	if (!l || !(l->kernels = ARENA_ARRAY(e->arena, struct kernel, (size_t)n + 1)))
		return false;
	l->graph = e->graph;
	e->lowered = l;
	e->stats.cached = p->n_lowered > 0;
	for (int i = 0; i < p->n_pieces && source; i++) {
		struct exec *x = p->pieces[i].exec;

		number_kernels(x, l->n_kernels);
		for (int k = 0; k < x->lowered->n_kernels; k++)
			l->kernels[l->n_kernels++] = x->lowered->kernels[k];
		e->passes_ns += x->passes_ns;
		e->backend_ns += x->backend_ns;
		e->stats.kernels_built += x->stats.kernels_built;
		e->stats.compile_ns += x->stats.compile_ns;
		e->stats.note = e->stats.note ? e->stats.note : x->stats.note;
		if (p->pieces[i].kind == PIECE_LOWERED && x->executable)
			e->stats.cached &= x->stats.cached;
		if (x->stats.source)
			source = arena_printf(e->arena, "%s/* piece %d */\n%s", source, i,
					      x->stats.source);
	}
	e->stats.source = source && *source ? source : NULL;
	return source != NULL;
}

struct exec *pieces_join(const struct compile_options *options, struct graph *g,
			 struct partition *p, struct arena *arena)
{
	struct exec *e = ARENA_NEW(arena, struct exec);

	if (!e)
		return NULL;
	*e = (struct exec){ .env = options->env,
			    .arena = arena,
			    .graph = g,
			    .backend = options->backend,
			    .parts = p,
			    .n_inputs = g->n_inputs,
			    .n_outputs = g->n_outputs,
			    .n_vars = sym_var_count(g->syms) };
	e->vars = ARENA_ARRAY(arena, int64_t, (size_t)e->n_vars + 1);
	return e->vars && sum_up(e) ? e : NULL;
}

int exec_lowered_count(const struct exec *e)
{
	int n;

	if (!e)
		return 0;
	if (!e->parts)
		return e->executable != NULL;
	n = e->parts->n_lowered;
	for (int i = 0; i < e->parts->n_pieces; i++)
		if (e->parts->pieces[i].kind == PIECE_LOOP && !e->parts->pieces[i].denied)
			n += exec_lowered_count(e->parts->pieces[i].exec);
	return n;
}

/* A tensor of the same elements, row by row in memory of its own; NULL with *err. */
static struct tensor *copy_rows(const struct exec *e, struct tensor *t, struct err *err)
{
	struct tensor *copy = tensor_create(e->env->allocator, t->dtype, t->rank, t->size, err);

	if (copy)
		tensor_copy(copy, t);
	return copy;
}

/* What a piece made need not be row-major; the next one was compiled so. */
static bool hand_over(const struct exec *e, int value, struct tensor **at, struct err *err)
{
	struct partition *p = e->parts;
	struct tensor *t = p->values[value], *copy;

	if (value >= e->n_inputs && !tensor_contiguous(t)) {
		copy = copy_rows(e, t, err);
		if (!copy)
			return false;
		tensor_unref(t);
		p->values[value] = t = copy;
	}
	*at = t;
	return true;
}

/* One piece, within the run `whole` of the graph. */
static bool run_exec(struct exec *e, struct tensor *const *inputs, struct tensor **outputs,
		     const struct exec_call *whole, struct err *err)
{
	const struct exec_call call = { .inputs = inputs,
					.outputs = outputs,
					.observer = whole->observer,
					.graph = whole->graph };

	return exec_run(e, &call, err);
}

static bool loop_run(struct exec *e, const struct piece *piece, const struct exec_call *call,
		     struct err *err);

static bool compute(struct exec *e, const struct piece *piece, const struct exec_call *call,
		    struct err *err)
{
	struct partition *p = e->parts;

	for (int i = 0; i < piece->n_inputs; i++)
		if (!hand_over(e, piece->inputs[i], &p->handed[i], err))
			return false;
	if (piece->kind == PIECE_LOOP)
		return loop_run(e, piece, call, err);
	if (!run_exec(piece->exec, p->handed, p->made, call, err))
		return false;
	e->launched += piece->exec->launched;
	return true;
}

static bool is_output(const struct exec *e, int value)
{
	for (int i = 0; i < e->n_outputs; i++)
		if (e->parts->outputs[i] == value)
			return true;
	return false;
}

static bool is_read_behind(const struct partition *p, const struct piece *piece, int value)
{
	for (const struct piece *next = piece + 1; next < p->pieces + p->n_pieces; next++)
		for (int i = 0; i < next->n_inputs; i++)
			if (next->inputs[i] == value)
				return true;
	return false;
}

static int64_t bytes_of(const struct tensor *t)
{
	return t ? tensor_numel(t) * (int64_t)dtype_bytes(t->dtype) : 0;
}

/* What lies in memory around a fallback only because it is one: an output would be
 * written in any case. */
static void tell_crossed(const struct exec *e, const struct piece *piece,
			 const struct fusion_observer *observer, bool outputs)
{
	const struct partition *p = e->parts;
	const int *values = outputs ? piece->outputs : piece->inputs;
	int n = outputs ? piece->n_outputs : piece->n_inputs;
	int64_t kept = 0, moved = 0;

	for (int v = e->n_inputs; v < p->n_values && !outputs; v++)
		kept += bytes_of(p->values[v]);
	for (int i = 0; i < n; i++)
		if (values[i] >= e->n_inputs && (!outputs || is_read_behind(p, piece, values[i])))
			moved += (is_output(e, values[i]) ? 1 : 2) * bytes_of(p->values[values[i]]);
	if (!outputs)
		observer->crossed(observer->self, piece->brk, kept, 0);
	if (moved)
		observer->crossed(observer->self, piece->brk, 0, moved);
}

/* A fallback is what ended the graph's last kernel: the observer hears of it as of a break. */
static bool run_piece(struct exec *e, const struct piece *piece, const struct exec_call *call,
		      struct err *err)
{
	struct partition *p = e->parts;
	const struct fusion_observer *observer = call->observer;
	bool told = observer && piece->brk >= 0 && observer->broke,
	     crosses = observer && piece->brk >= 0 && observer->crossed;
	int64_t begin = told ? clock_ns() : 0;

	if (crosses)
		tell_crossed(e, piece, observer, false);
	if (!compute(e, piece, call, err))
		return false;
	if (told)
		observer->broke(observer->self, piece->brk, begin, clock_ns());
	for (int i = 0; i < piece->n_outputs; i++)
		p->values[piece->outputs[i]] = p->made[i];
	if (crosses)
		tell_crossed(e, piece, observer, true);
	for (int i = 0; i < piece->n_dead; i++) {
		tensor_unref(p->values[piece->dead[i]]);
		p->values[piece->dead[i]] = NULL;
	}
	return true;
}

static bool take_outputs(struct exec *e, struct tensor **outputs, struct err *err)
{
	struct partition *p = e->parts;

	for (int i = 0; i < e->n_outputs; i++) {
		struct tensor *t = p->values[p->outputs[i]];

		outputs[i] = p->copy[i] ? copy_rows(e, t, err) : tensor_ref(t);
		if (!outputs[i])
			return false;
	}
	return true;
}

bool pieces_run(struct exec *e, const struct exec_call *call, struct err *err)
{
	struct partition *p = e->parts;
	struct tensor **outputs = call->outputs;
	bool ok = true;

	e->launched = 0;
	for (int v = 0; v < p->n_values; v++)
		p->values[v] = v < e->n_inputs ? call->inputs[v] : NULL;
	for (int i = 0; i < e->n_outputs; i++)
		outputs[i] = NULL;
	for (int i = 0; ok && i < p->n_pieces; i++)
		ok = run_piece(e, &p->pieces[i], call, err);
	ok = ok && take_outputs(e, outputs, err);
	for (int v = e->n_inputs; v < p->n_values; v++)
		tensor_unref(p->values[v]);
	for (int i = 0; !ok && i < e->n_outputs; i++) {
		tensor_unref(outputs[i]);
		outputs[i] = NULL;
	}
	return ok;
}

/* An instruction or so of eager each: its runs end by their steps. */
enum { MAX_ROUNDS = 10000000 };

static bool is_true(const struct tensor *t)
{
	return tensor_get_double(t, 0) != 0;
}

/* Row by row, as the body was compiled; a reference. */
static struct tensor *first_round(const struct exec *e, struct tensor *t, struct err *err)
{
	return tensor_contiguous(t) ? tensor_ref(t) : copy_rows(e, t, err);
}

static bool run_round(const struct piece *piece, struct tensor **carried,
		      struct tensor *const *operands, bool *more, const struct exec_call *call,
		      struct err *err)
{
	const struct loop *loop = piece->loop;

	for (int i = 0; i < loop->body->n_inputs; i++)
		piece->round[i] = loop->reads[i] < loop->n_carried ? carried[loop->reads[i]]
								   : operands[loop->reads[i]];
	if (!run_exec(piece->exec, piece->round, piece->next, call, err))
		return false;
	*more = is_true(piece->next[0]);
	tensor_unref(piece->next[0]);
	for (int i = 0; i < loop->n_carried; i++) {
		struct tensor *t = piece->next[i + 1];

		tensor_unref(carried[i]);
		carried[i] = first_round(piece->exec, t, err);
		tensor_unref(t);
		if (!carried[i]) {
			while (++i < loop->n_carried)
				tensor_unref(piece->next[i + 1]);
			return false;
		}
	}
	return true;
}

static bool too_many(const struct piece *piece, int rounds, struct err *err)
{
	return err_at(err, ERR_STEPS, piece->node->line, piece->node->column,
		      "the loop ran %d times and its test still holds; make it end sooner", rounds);
}

/* An operand that was never replaced is somebody's still. */
static bool hand_out(struct exec *e, const struct piece *piece, struct tensor **carried, bool ran,
		     struct err *err)
{
	struct tensor **made = e->parts->made;

	for (int i = 0; i < piece->n_outputs; i++) {
		struct tensor *t = carried[piece->results[i]];

		made[i] = ran ? tensor_ref(t) : copy_rows(e, t, err);
		if (made[i])
			continue;
		while (i > 0)
			tensor_unref(made[--i]);
		return false;
	}
	return true;
}

/* runs a loop to its end. */
static bool loop_run(struct exec *e, const struct piece *piece, const struct exec_call *call,
		     struct err *err)
{
	struct tensor *const *operands = e->parts->handed + 1;
	bool more = is_true(e->parts->handed[0]), ok = true;
	int n = piece->loop->n_carried, rounds = 0, most = MAX_ROUNDS;
	struct tensor **carried = piece->carried;

	if (e->env->rounds > 0 && e->env->rounds < most)
		most = (int)e->env->rounds;
	memset(carried, 0, sizeof(*carried) * (size_t)n);
	for (int i = 0; i < n && ok; i++) {
		carried[i] = first_round(e, operands[i], err);
		ok = carried[i] != NULL;
	}
	for (; ok && more; rounds++) {
		ok = rounds < most ? run_round(piece, carried, operands, &more, call, err)
				   : too_many(piece, rounds, err);
		e->launched += piece->exec->launched;
	}
	ok = ok && hand_out(e, piece, carried, rounds > 0, err);
	for (int i = 0; i < n; i++)
		tensor_unref(carried[i]);
	return ok;
}
