/* fusion/lower/space.c -- the dims of a kernel, and its form.
 *
 * Instructions come with strides over the dims of the domain.  Here dims of
 * size 1 go, outer dims come before reduced ones, and neighbours become one dim
 * where every access steps through them as through one.
 */
#include <string.h>

#include "fusion/lower/build.h"

enum {
	/* Columns as vector axis although they are strided: rows this short
	 * would leave the tile nearly empty. */
	SHORT_ROW = 32,
	/* Fewer columns than this are not worth a tile of their own. */
	FEW_COLUMNS = 8,
	/* Pairs: rows of either operand, and of both together. */
	LEAST_PAIR_ROWS = 16,
	LEAST_PAIRS = 1 << 12,
};

static void collect(struct build *b, inst_list *list)
{
	for (size_t i = 0; i < list->len; i++) {
		struct lower_lookup *lookup = list->at[i].lookup;

		if (list->at[i].at.buffer >= 0 && !VEC_PUSH(&b->accesses, &list->at[i].at))
			b->failed = true;
		for (int k = 0; lookup && k < lookup->n; k++)
			if (!VEC_PUSH(&b->accesses, &lookup->index[k].at))
				b->failed = true;
	}
}

static void collect_all(struct build *b)
{
	b->accesses.len = 0;
	collect(b, &b->setup);
	collect(b, &b->prologue);
	for (int s = 0; s < b->n_stages; s++) {
		collect(b, &b->body[s]);
		collect(b, &b->post[s]);
	}
}

/* Whether channels lie last of something that is loaded or stored. */
static bool has_channels_last(const struct build *b)
{
	for (size_t i = 0; i < b->accesses.len; i++) {
		const struct buffer *buffer = &b->l->buffers[b->accesses.at[i]->buffer];

		if (b->g->nodes[buffer->node]->channels_last)
			return true;
	}
	return false;
}

static bool has_join(const struct build *b)
{
	for (int s = 0; s < b->n_stages; s++)
		for (size_t i = 0; i < b->body[s].len; i++)
			if (b->body[s].at[i].join)
				return true;
	return false;
}

/* The dim along which an instruction's elements lie side by side; -1. */
static int side_by_side(const struct build *b, enum inst_kind kind, const int *order, int n)
{
	for (int s = 0; s < b->n_stages; s++)
		for (size_t i = 0; i < b->body[s].len; i++)
			for (int k = 0; b->body[s].at[i].kind == kind && k < n; k++)
				if (sym_is(b->body[s].at[i].at.stride[order[k]], 1))
					return k;
	return -1;
}

/* What is stored with its channels last is walked so, and so is what is read so to be folded. */
static void order_by_memory(const struct build *b, const struct kernel *k, int *order)
{
	int inner = side_by_side(b, INST_STORE, order, k->n_outer), dim;

	if (k->n_dims > k->n_outer && inner < 0)
		inner = side_by_side(b, INST_LOAD, order, k->n_outer);
	if (inner < 0)
		return;
	dim = order[inner];
	memmove(order + inner, order + inner + 1,
		(size_t)(k->n_outer - inner - 1) * sizeof(*order));
	order[k->n_outer - 1] = dim;
}

/* The dims of the domain that vary, outer ones first. */
static void order_dims(struct build *b, struct kernel *k, int order[MAX_RANK])
{
	uint32_t reduced = b->domain.reduced;
	uint32_t parts[2] = { domain_varying_dims(&b->domain.full) & ~reduced, reduced };

	for (int part = 0; part < 2; part++) {
		for (int d = 0; d < b->domain.full.rank; d++)
			if (parts[part] >> d & 1)
				order[k->n_dims++] = d;
		if (part == 0)
			k->n_outer = k->n_dims;
	}
	if (has_channels_last(b) && !has_join(b)) /* a join counts in the domain's order */
		order_by_memory(b, k, order);
	for (int i = 0; i < k->n_dims; i++)
		k->extent[i] = b->domain.full.size[order[i]];
	for (size_t i = 0; i < b->accesses.len; i++) {
		struct access *at = b->accesses.at[i];
		const struct sym *stride[MAX_RANK] = { NULL };
		for (int j = 0; j < k->n_dims; j++)
			stride[j] = at->stride[order[j]];
		memcpy(at->stride, stride, sizeof(stride));
	}
}

/* Whether every access steps through dims i and i + 1 as through one. */
static bool is_linear(const struct build *b, const struct kernel *k, int i)
{
	for (size_t j = 0; j < b->accesses.len; j++) {
		const struct access *at = b->accesses.at[j];
		const struct sym *step = at->stride[i + 1];
		if (step != b->zero)
			step = sym_mul(b->g->syms, step, k->extent[i + 1]);
		if (at->stride[i] != step)
			return false;
	}
	return true;
}

static void collapse(struct build *b, struct kernel *k)
{
	for (int i = k->n_dims - 2; i >= 0; i--) {
		if (i + 1 == k->n_outer || !is_linear(b, k, i))
			continue;
		k->extent[i] = sym_mul(b->g->syms, k->extent[i], k->extent[i + 1]);
		if (!k->extent[i])
			b->failed = true;
		for (size_t j = 0; j < b->accesses.len; j++) {
			const struct sym **stride = b->accesses.at[j]->stride;
			memmove(stride + i, stride + i + 1,
				(size_t)(k->n_dims - i - 1) * sizeof(*stride));
			stride[k->n_dims - 1] = NULL;
		}
		memmove(k->extent + i + 1, k->extent + i + 2,
			(size_t)(k->n_dims - i - 2) * sizeof(*k->extent));
		k->n_dims--;
		if (i < k->n_outer)
			k->n_outer--;
	}
}

static bool has_scan(const struct build *b)
{
	for (int s = 0; s < b->n_stages; s++)
		for (size_t i = 0; i < b->body[s].len; i++)
			if (b->body[s].at[i].kind == INST_SCAN)
				return true;
	return false;
}

/* Whether what is folded lies side by side along a dim that is kept. */
static bool reads_columns(const struct build *b, const struct kernel *k)
{
	for (size_t i = 0; i < b->body[0].len; i++) {
		const struct access *at = &b->body[0].at[i].at;

		if (b->body[0].at[i].kind == INST_LOAD && sym_is(at->stride[k->n_outer - 1], 1) &&
		    !sym_is(at->stride[k->n_dims - 1], 0))
			return true;
	}
	return false;
}

/* Rows where the innermost dim is reduced, columns where it is kept, unless
 * that axis is so short that the other one fills tiles better. */
static enum kernel_form choose_form(const struct build *b, const struct kernel *k)
{
	if (k->n_outer == k->n_dims)
		return FORM_MAP;
	if (k->n_outer == 0 || has_scan(b))
		return FORM_ROWS;
	int64_t columns = sym_hint(b->g->syms, k->extent[k->n_outer - 1]), row = 1;
	for (int i = k->n_outer; i < k->n_dims; i++)
		row *= sym_hint(b->g->syms, k->extent[i]);

	if (has_channels_last(b) && reads_columns(b, k))
		return FORM_COLS;
	uint32_t varying = domain_varying_dims(&b->domain.full);
	int innermost = 31 - __builtin_clz(varying);
	if (b->domain.reduced >> innermost & 1)
		return row <= SHORT_ROW && columns >= 8 * row ? FORM_COLS : FORM_ROWS;
	return columns < FEW_COLUMNS && row >= 8 * columns ? FORM_ROWS : FORM_COLS;
}

static bool stands_still(const struct access *at, int d)
{
	return sym_is(at->stride[d], 0);
}

/* Whether a body reads, computes and folds as pairs of rows want it.  moves: the outer dims of
 * a pair along which some load moves. */
static bool pairs_inst(const struct build *b, const struct kernel *k, const struct inst *inst,
		       bool moves[2])
{
	int column = k->n_outer - 1;

	if (inst->dtype != DTYPE_F32)
		return false;
	for (int i = 0; i < 3; i++)
		if (inst->src[i] >= 0 && (b->regs.at[inst->src[i]].home.level == LEVEL_ROW ||
					  b->regs.at[inst->src[i]].dtype != DTYPE_F32))
			return false;
	switch (inst->kind) {
	case INST_LOAD:
		moves[0] |= !stands_still(&inst->at, column - 1);
		moves[1] |= !stands_still(&inst->at, column);
		return inst_loads(inst) &&
		       (stands_still(&inst->at, column - 1) || stands_still(&inst->at, column));
	case INST_OP:
		return true;
	case INST_REDUCE:
		return inst->op == OP_sum || inst->op == OP_amax || inst->op == OP_amin;
	default:
		return false;
	}
}

static bool has_pairs(const struct build *b, const struct kernel *k)
{
	bool moves[2] = { false };
	int64_t rows, columns;

	if (k->n_outer < 2 || k->n_dims != k->n_outer + 1 || b->n_stages != 1 || b->slots.len > 0)
		return false;
	rows = sym_hint(b->g->syms, k->extent[k->n_outer - 2]);
	columns = sym_hint(b->g->syms, k->extent[k->n_outer - 1]);
	if (rows < LEAST_PAIR_ROWS || columns < LEAST_PAIR_ROWS || rows * columns < LEAST_PAIRS)
		return false;
	for (size_t i = 0; i < b->body[0].len; i++)
		if (!pairs_inst(b, k, &b->body[0].at[i], moves))
			return false;
	return moves[0] && moves[1];
}

bool space_choose(struct build *b, struct kernel *k)
{
	int order[MAX_RANK] = { 0 };

	collect_all(b);
	if (b->failed)
		return false;
	order_dims(b, k, order);
	collapse(b, k);
	for (int i = k->n_dims; i < MAX_RANK; i++)
		k->extent[i] = NULL;
	k->pairs = has_pairs(b, k);
	k->form = k->pairs ? FORM_COLS : choose_form(b, k);
	return !b->failed;
}
