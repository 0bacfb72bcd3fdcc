/* fusion/compile/partition_loop.c -- runs a loop of a graph, round after round.
 *
 * What goes round is made anew by each round; whether there is another one is
 * read from what the body leaves first.
 */
#include <string.h>

#include "fusion/graph/loop.h"
#include "fusion/compile/partition.h"

/* An instruction or so of eager each: its runs end by their steps. */
enum { MAX_ROUNDS = 10000000 };

static bool is_true(const struct tensor *t)
{
	return tensor_get_double(t, 0) != 0;
}

/* Row by row, as the body was compiled; a reference. */
static struct tensor *first_round(const struct exec *e, struct tensor *t, struct err *err)
{
	return tensor_contiguous(t) ? tensor_ref(t) : partition_copy(e, t, err);
}

static bool run_round(const struct piece *piece, struct tensor **carried,
		      struct tensor *const *operands, bool *more,
		      const struct fusion_observer *observer, int graph, struct err *err)
{
	const struct loop *loop = piece->loop;

	for (int i = 0; i < loop->body->n_inputs; i++)
		piece->round[i] = loop->reads[i] < loop->n_carried ? carried[loop->reads[i]]
								   : operands[loop->reads[i]];
	if (!exec_run(piece->exec, piece->round, piece->next, NULL, observer, graph, err))
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

		made[i] = ran ? tensor_ref(t) : partition_copy(e, t, err);
		if (made[i])
			continue;
		while (i > 0)
			tensor_unref(made[--i]);
		return false;
	}
	return true;
}

bool loop_run(struct exec *e, const struct piece *piece, const struct fusion_observer *observer,
	      int graph, struct err *err)
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
		ok = rounds < most
			 ? run_round(piece, carried, operands, &more, observer, graph, err)
			 : too_many(piece, rounds, err);
		e->launched += piece->exec->launched;
	}
	ok = ok && hand_out(e, piece, carried, rounds > 0, err);
	for (int i = 0; i < n; i++)
		tensor_unref(carried[i]);
	return ok;
}
