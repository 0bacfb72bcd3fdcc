/* fusion/graph/einsum.c -- contractions: the labels of their dims, dtype and shape of their
 * results. */
#include "fusion/graph/einsum.h"

#include <ctype.h>
#include <string.h>

#include "fusion/graph/infer.h"

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

/* Reads "bij,bjk->bik" for operands of these ranks.  VALUE or SHAPE error. */
static bool einsum_parse(const char *equation, int n, const int *ranks, struct contraction *out,
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

/* What matmul does with operands of these ranks; `transposed`: the second one
 * has its last two dims swapped. */
static void einsum_matmul(int x_rank, int y_rank, bool transposed, struct contraction *out)
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

/* ---- dtype and shape of products of matrices */

static bool same_dtypes(struct infer *in, int first, int end)
{
	const struct node *x = NULL;

	if (!infer_alike(in, first, end))
		return false;
	for (int i = first; !x && i < end; i++)
		x = infer_tensor(in, i);
	if (x && x->dtype == DTYPE_BOOL)
		return err_set(in->err, ERR_DTYPE,
			       "%s: a product of bool matrices is not defined; call "
			       "x.to(torch.float32) first",
			       in->info->fx);
	in->out->dtype = in->out->compute = x ? x->dtype : DTYPE_F32;
	return true;
}

static bool sizes_differ(struct infer *in, const struct node *x, const struct node *y)
{
	char a[SHAPE_TEXT_BYTES], b[SHAPE_TEXT_BYTES];

	return err_set(
	    in->err, ERR_SHAPE, "%s: sizes %s and %s do not fit together%s", in->info->fx,
	    shape_text(&x->shape, a), shape_text(&y->shape, b),
	    in->op == OP_linear || in->op == OP_matmul_nt
		? ": the last size of the input must be that of the weight"
	    : in->op == OP_einsum
		? ": dims with one letter must have one size"
		: ": the last size of the first must equal the second to last of the second");
}

/* The size of each label, and so the shape of the result. */
static bool infer_contraction(struct infer *in, const struct contraction *c, const int *at)
{
	const struct sym *sizes[EINSUM_LABELS] = { NULL };
	struct shape *out = &in->out->shape;

	for (int i = 0; i < c->n && i < 2; i++) {
		const struct node *x = infer_tensor(in, at[i]);

		for (int d = 0; d < c->in[i].rank; d++) {
			int label = c->in[i].at[d];
			const struct sym **size = &sizes[label], *own = x->shape.size[d];
			/* Dims of a batch broadcast; those that are summed do not. */
			bool batch = label >= 52;

			if (!*size || (batch && sym_is(*size, 1)))
				*size = own;
			else if (!(batch && sym_is(own, 1)) && !infer_same_size(in, *size, own))
				return sizes_differ(in, infer_tensor(in, at[0]), x);
		}
	}
	if (c->out.rank > MAX_RANK)
		return err_set(in->err, ERR_BOUND, "%s: the result has over %d dims", in->info->fx,
			       MAX_RANK);
	out->rank = c->out.rank;
	for (int d = 0; d < out->rank; d++)
		out->size[d] = sizes[c->out.at[d]];
	return true;
}

static bool infer_matmul(struct infer *in)
{
	static const int at[2] = { 0, 1 };
	const struct node *x = infer_tensor(in, 0), *y = infer_tensor(in, 1);
	struct contraction c;
	bool transposed = in->op == OP_matmul_nt || in->op == OP_biased || in->op == OP_linear;

	if (!same_dtypes(in, 0, 2))
		return false;
	if (x->shape.rank == 0 || y->shape.rank == 0)
		return err_set(in->err, ERR_SHAPE,
			       "%s: an operand has no dims; multiply by a number with *",
			       in->info->fx);
	einsum_matmul(x->shape.rank, y->shape.rank, transposed, &c);
	return infer_contraction(in, &c, at);
}

/* The operands of mm, bmm, mv and dot have fixed ranks. */
static bool check_ranks(struct infer *in, int first, int x_rank, int y_rank)
{
	const struct node *x = infer_tensor(in, first), *y = infer_tensor(in, first + 1);
	char a[SHAPE_TEXT_BYTES], b[SHAPE_TEXT_BYTES];

	return (x->shape.rank == x_rank && y->shape.rank == y_rank) ||
	       err_set(in->err, ERR_SHAPE,
		       "%s: operands of %d and %d dims are needed, and these have sizes %s and %s; "
		       "torch.matmul takes others",
		       in->info->fx, x_rank, y_rank, shape_text(&x->shape, a),
		       shape_text(&y->shape, b));
}

static bool infer_mm(struct infer *in)
{
	return check_ranks(in, 0, 2, 2) && infer_matmul(in);
}

static bool infer_bmm(struct infer *in)
{
	return check_ranks(in, 0, 3, 3) && infer_matmul(in);
}

static bool infer_mv(struct infer *in)
{
	return check_ranks(in, 0, 2, 1) && infer_matmul(in);
}

static bool infer_dot(struct infer *in)
{
	return check_ranks(in, 0, 1, 1) && infer_matmul(in);
}

static bool infer_linear(struct infer *in)
{
	const struct node *w = infer_tensor(in, 1), *bias = infer_tensor(in, 2);

	if (!same_dtypes(in, 0, 3) || !infer_matmul(in))
		return false;
	if (w->shape.rank > 2)
		return err_set(in->err, ERR_SHAPE, "linear: the weight must have 2 dims, not %d",
			       w->shape.rank);
	if (bias &&
	    (bias->shape.rank > 1 ||
	     (bias->shape.rank == 1 && w->shape.rank == 2 && !sym_is(bias->shape.size[0], 1) &&
	      !infer_same_size(in, bias->shape.size[0], w->shape.size[0]))))
		return err_set(
		    in->err, ERR_SHAPE,
		    "linear: the bias must have one dim, of the first size of the weight");
	return true;
}

static bool infer_einsum(struct infer *in)
{
	static const int at[2] = { 1, 2 };
	struct contraction c;

	return same_dtypes(in, 1, 3) && einsum_of(in->g, in->op, in->args, &c, in->err) &&
	       infer_contraction(in, &c, at);
}

/* addmm, baddbmm, addmv: beta * input + alpha * (a @ b) */
static bool add_product(struct infer *in, int a_rank, int b_rank)
{
	static const int at[2] = { 1, 2 };
	const struct node *x = infer_tensor(in, 0);
	struct contraction c;
	struct shape product;

	if (!same_dtypes(in, 0, 3) || !check_ranks(in, 1, a_rank, b_rank))
		return false;
	einsum_matmul(a_rank, b_rank, false, &c);
	if (!infer_contraction(in, &c, at))
		return false;
	product = in->out->shape;
	if (!infer_broadcast(in, &in->out->shape, &x->shape))
		return false;
	return shape_equal(&product, &in->out->shape) ||
	       err_set(in->err, ERR_SHAPE, "%s: the input does not broadcast to the product",
		       in->info->fx);
}

static bool infer_addmm(struct infer *in)
{
	return add_product(in, 2, 2);
}

static bool infer_baddbmm(struct infer *in)
{
	return add_product(in, 3, 3);
}

static bool infer_addmv(struct infer *in)
{
	return add_product(in, 2, 1);
}

static bool infer_outer(struct infer *in)
{
	const struct node *x = infer_tensor(in, 0), *y = infer_tensor(in, 1);

	if (!check_ranks(in, 0, 1, 1))
		return false;
	in->out->dtype = in->out->compute = infer_promote(in, 0, 2);
	in->out->shape = (struct shape){ .rank = 2,
					 .size = { x->shape.size[0], y->shape.size[0] } };
	return true;
}

infer_fn *const einsum_rules[OP_COUNT] = {
#define RULE_einsum(word) infer_##word
#include "fusion/graph/infer_rules.h"
};
