/* fusion/graph/einsum.c -- labels of contractions. */
#include "fusion/graph/einsum.h"

#include <ctype.h>
#include <string.h>

enum { ELLIPSIS = 52 }; /* the last dim of "..." has this label, the one before it the next */

static int label_of(char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

static bool wrong(const char *equation, const char *what, struct err *err)
{
	return err_set(err, ERR_OP,
		       "einsum: '%.64s' %s; write letters for dims, a comma between operands, "
		       "and -> before the result, as in 'ij,jk->ik'",
		       equation, what);
}

/* Labels up to `end`; an ellipsis stands for `dots` dims. */
static bool read_labels(const char *equation, const char *at, const char *end, int dots,
			struct labels *out, struct err *err)
{
	out->rank = 0;
	for (; at < end; at++) {
		int label = label_of(*at);

		if (*at == ' ')
			continue;
		if (end - at >= 3 && !strncmp(at, "...", 3)) {
			for (int i = dots; i > 0 && out->rank < MAX_RANK; i--)
				out->at[out->rank++] = (uint8_t)(ELLIPSIS + i - 1);
			at += 2;
			continue;
		}
		if (label < 0)
			return wrong(equation, "has a character that is no letter", err);
		if (out->rank == MAX_RANK)
			return wrong(equation, "names more dims than a tensor may have", err);
		out->at[out->rank++] = (uint8_t)label;
	}
	return true;
}

static int count_letters(const char *at, const char *end)
{
	int n = 0;

	for (; at < end; at++)
		n += label_of(*at) >= 0;
	return n;
}

static bool has_dots(const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at == '.')
			return true;
	return false;
}

/* Without "->": the dims of "...", then letters that occur once, sorted. */
static void default_result(struct contraction *c)
{
	int count[EINSUM_LABELS] = { 0 };

	c->out.rank = 0;
	for (int i = 0; i < c->n; i++)
		for (int d = 0; d < c->in[i].rank; d++)
			count[c->in[i].at[d]]++;
	for (int label = EINSUM_LABELS - 1; label >= ELLIPSIS; label--)
		if (count[label])
			c->out.at[c->out.rank++] = (uint8_t)label;
	for (int i = 0; i < 52; i++) { /* capitals come first */
		int label = i < 26 ? i + 26 : i - 26;

		if (count[label] == 1 && c->out.rank < MAX_RANK)
			c->out.at[c->out.rank++] = (uint8_t)label;
	}
}

static bool check_result(const char *equation, const struct contraction *c, struct err *err)
{
	bool known[EINSUM_LABELS] = { false }, used[EINSUM_LABELS] = { false };

	for (int i = 0; i < c->n; i++)
		for (int d = 0; d < c->in[i].rank; d++)
			known[c->in[i].at[d]] = true;
	for (int d = 0; d < c->out.rank; d++) {
		if (!known[c->out.at[d]])
			return wrong(equation, "has a dim in the result that no operand has", err);
		if (used[c->out.at[d]])
			return wrong(equation, "has a dim twice in the result", err);
		used[c->out.at[d]] = true;
	}
	return true;
}

bool einsum_parse(const char *equation, int n, const int *ranks, struct contraction *out,
		  struct err *err)
{
	const char *arrow = strstr(equation, "->"), *end = equation + strlen(equation);
	const char *at = equation, *stop = arrow ? arrow : end;
	int most = 0;

	*out = (struct contraction){ .n = n };
	for (int i = 0; i < n; i++) {
		const char *comma = memchr(at, ',', (size_t)(stop - at));
		const char *last = comma ? comma : stop;
		int dots = ranks[i] - count_letters(at, last);

		if ((comma != NULL) != (i + 1 < n))
			return wrong(equation, "does not have as many operands as were given", err);
		if (dots < 0 || (dots > 0 && !has_dots(at, last)))
			return err_set(err, ERR_SHAPE,
				       "einsum: operand %d has %d dims, and '%.64s' names %d", i,
				       ranks[i], equation, count_letters(at, last));
		if (!read_labels(equation, at, last, dots, &out->in[i], err))
			return false;
		most = dots > most ? dots : most;
		at = last + 1;
	}
	if (!arrow)
		default_result(out);
	else if (!read_labels(equation, arrow + 2, end, most, &out->out, err))
		return false;
	return check_result(equation, out, err);
}

void einsum_matmul(int x_rank, int y_rank, bool transposed, struct contraction *out)
{
	enum { K, M, N };
	struct labels *x = &out->in[0], *y = &out->in[1], *z = &out->out;
	int batch = (x_rank > y_rank ? x_rank : y_rank) - 2;

	*out = (struct contraction){ .n = 2 };
	for (int i = batch; i > 0; i--) {
		if (x_rank >= i + 2)
			x->at[x->rank++] = (uint8_t)(ELLIPSIS + i - 1);
		if (y_rank >= i + 2)
			y->at[y->rank++] = (uint8_t)(ELLIPSIS + i - 1);
		z->at[z->rank++] = (uint8_t)(ELLIPSIS + i - 1);
	}
	if (x_rank > 1) {
		x->at[x->rank++] = M;
		z->at[z->rank++] = M;
	}
	x->at[x->rank++] = K;
	if (y_rank > 1 && transposed)
		y->at[y->rank++] = N;
	y->at[y->rank++] = K;
	if (y_rank > 1 && !transposed)
		y->at[y->rank++] = N;
	if (y_rank > 1)
		z->at[z->rank++] = N;
}

bool einsum_of(const struct graph *g, enum op op, const struct arg *args, struct contraction *out,
	       struct err *err)
{
	int first = op == OP_einsum, n = 0, ranks[2] = { 0 };

	for (int i = first; i < first + 2; i++)
		if (args[i].kind == ARG_NODE)
			ranks[n++] = g->nodes[args[i].node]->shape.rank;
	if (op == OP_einsum)
		return einsum_parse(args[0].str, n, ranks, out, err);
	einsum_matmul(ranks[0], ranks[1], op == OP_matmul_nt || op == OP_biased, out);
	return true;
}
