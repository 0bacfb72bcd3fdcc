/* fusion/compile/partition_run.c -- runs the pieces of a graph one after another.
 *
 * Values go from piece to piece as tensors of their own and are released as soon
 * as nothing reads them any more.
 */
#include "fusion/compile/partition.h"

#include <string.h>

#include "fusion/base/clock.h"

void partition_destroy(struct partition *p)
{
	for (int i = 0; p && i < p->n_pieces; i++)
		exec_destroy(p->pieces[i].exec);
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

bool partition_bind(struct partition *p, const int64_t *vars, struct err *err)
{
	for (int i = 0; i < p->n_pieces; i++)
		if (!exec_bind(p->pieces[i].exec, vars, err))
			return false;
	return true;
}

struct tensor *partition_copy(const struct exec *e, struct tensor *t, struct err *err)
{
	struct tensor *copy = tensor_create(e->env->allocator, t->dtype, t->rank, t->size, err);

	if (copy)
		tensor_copy(copy, t);
	return copy;
}

void partition_number(struct exec *e, int first)
{
	for (int i = 0; e->parts && i < e->parts->n_pieces; i++) {
		struct exec *x = e->parts->pieces[i].exec;

		partition_number(x, first + x->first_kernel - e->first_kernel);
	}
	e->first_kernel = first;
}

/* What a piece made need not be row-major; the next one was compiled so. */
static bool hand_over(const struct exec *e, int value, struct tensor **at, struct err *err)
{
	struct partition *p = e->parts;
	struct tensor *t = p->values[value], *copy;

	if (value >= e->n_inputs && !tensor_contiguous(t)) {
		copy = partition_copy(e, t, err);
		if (!copy)
			return false;
		tensor_unref(t);
		p->values[value] = t = copy;
	}
	*at = t;
	return true;
}

static bool compute(struct exec *e, const struct piece *piece,
		    const struct fusion_observer *observer, int graph, struct err *err)
{
	struct partition *p = e->parts;

	for (int i = 0; i < piece->n_inputs; i++)
		if (!hand_over(e, piece->inputs[i], &p->handed[i], err))
			return false;
	if (piece->kind == PIECE_LOOP)
		return loop_run(e, piece, observer, graph, err);
	if (!exec_run(piece->exec, p->handed, p->made, NULL, observer, graph, err))
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
			 const struct fusion_observer *observer, bool behind)
{
	const struct partition *p = e->parts;
	const int *values = behind ? piece->outputs : piece->inputs;
	int n = behind ? piece->n_outputs : piece->n_inputs;
	int64_t kept = 0, moved = 0;

	for (int v = e->n_inputs; v < p->n_values && !behind; v++)
		kept += bytes_of(p->values[v]);
	for (int i = 0; i < n; i++)
		if (values[i] >= e->n_inputs && (!behind || is_read_behind(p, piece, values[i])))
			moved += (is_output(e, values[i]) ? 1 : 2) * bytes_of(p->values[values[i]]);
	if (!behind)
		observer->crossed(observer->self, piece->brk, kept, 0);
	if (moved)
		observer->crossed(observer->self, piece->brk, 0, moved);
}

/* A fallback is what ended the graph's last kernel: it is told as a break is. */
static bool run_piece(struct exec *e, const struct piece *piece,
		      const struct fusion_observer *observer, int graph, struct err *err)
{
	struct partition *p = e->parts;
	bool told = observer && piece->brk >= 0 && observer->broke,
	     crosses = observer && piece->brk >= 0 && observer->crossed;
	int64_t begin = told ? clock_ns() : 0;

	if (crosses)
		tell_crossed(e, piece, observer, false);
	if (!compute(e, piece, observer, graph, err))
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

		outputs[i] = p->copy[i] ? partition_copy(e, t, err) : tensor_ref(t);
		if (!outputs[i])
			return false;
	}
	return true;
}

bool partition_run(struct exec *e, struct tensor *const *inputs, struct tensor **outputs,
		   const struct fusion_observer *observer, int graph, struct err *err)
{
	struct partition *p = e->parts;
	bool ok = true;

	e->launched = 0;
	for (int v = 0; v < p->n_values; v++)
		p->values[v] = v < e->n_inputs ? inputs[v] : NULL;
	for (int i = 0; i < e->n_outputs; i++)
		outputs[i] = NULL;
	for (int i = 0; ok && i < p->n_pieces; i++)
		ok = run_piece(e, &p->pieces[i], observer, graph, err);
	ok = ok && take_outputs(e, outputs, err);
	for (int v = e->n_inputs; v < p->n_values; v++)
		tensor_unref(p->values[v]);
	for (int i = 0; !ok && i < e->n_outputs; i++) {
		tensor_unref(outputs[i]);
		outputs[i] = NULL;
	}
	return ok;
}
