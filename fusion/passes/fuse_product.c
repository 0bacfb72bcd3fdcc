/* fusion/passes/fuse_product.c -- what a product of matrices takes along.
 *
 * Ops behind a product are computed on each block of its result while that is in
 * the cache, by the threads that made it: no launch of their own, no wait of all
 * threads between, and the product's result is neither written to memory nor read
 * from there.  A reduction needs whole rows, so blocks have all columns then, and
 * each reads all of the second operand: that pays where these are few.
 * What repeats along a row, as the numbers of a batch norm do behind a convolution,
 * is copied out for each block anew; where the result stays in the cache anyway, one
 * walk over all of it is cheaper (61_resnet_block.json, one thread: 1.09 of eager's
 * time on blocks, 0.9 in a kernel of its own).
 */
#include "fusion/passes/fuse.h"

enum {
	MOST_COLUMNS = 512,       /* of a block: as wide as backends make them */
	LEAST_ROWS = 256,         /* blocks of whole rows: fewer would leave threads without any */
	MOST_REPEATS = 2,         /* operands behind a product that repeat along its rows */
	CACHED_BYTES = 512 << 10, /* of a result: half of a usual second cache */
};

static double hint_of(const struct fuse *f, const struct shape *s, int d)
{
	return (double)sym_hint(f->g->syms, s->size[d]);
}

static bool refuse(struct fuse_verdict *why, enum fuse_limit limit, int node, double count)
{
	why->limit = limit;
	why->node = node;
	why->count = count;
	return false;
}

/* The last dim alone is folded, and rows are short and many. */
static bool takes_rows(const struct fuse *f, const struct node *product,
		       const struct domain *domain, struct fuse_verdict *why)
{
	const struct shape *s = &product->shape;
	int last = s->rank - 1;
	double rows = 1;

	if (domain->reduced != 1u << last)
		return refuse(why, LIMIT_PRODUCT, product->id, 0);
	for (int d = 0; d < last; d++)
		rows *= hint_of(f, s, d);
	why->units = rows;
	if (rows < LEAST_ROWS || hint_of(f, s, last) > MOST_COLUMNS)
		return refuse(why, LIMIT_WHOLE_ROW, product->id, hint_of(f, s, last));
	return true;
}

bool fuse_fits_product(const struct fuse *f, int a, int b, const struct domain *domain,
		       struct fuse_verdict *why)
{
	const struct cluster *ca = &f->clusters[a], *cb = &f->clusters[b];
	const struct node *product;

	if (ca->product < 0 && cb->product < 0)
		return true;
	product = f->g->nodes[ca->product >= 0 ? ca->product : cb->product];
	if ((ca->product >= 0 && cb->product >= 0) || ca->joins || cb->joins ||
	    !shape_equal(&domain->full, &product->shape) || f->places[product->id].row)
		return refuse(why, LIMIT_PRODUCT, product->id, 0);
	return !domain->reduces || !domain->reduced || takes_rows(f, product, domain, why);
}

/* One number for each row, or so: it varies, but not along the last dim. */
static bool is_repeated(const struct fuse *f, const struct arg *arg)
{
	const struct shape *s;

	if (arg->kind != ARG_NODE)
		return false;
	s = &f->g->nodes[arg->node]->shape;
	return domain_varying_dims(s) != 0 && sym_is(s->size[s->rank - 1], 1);
}

/* The one op that reads the value, element by element; NULL. */
static const struct node *only_user(const struct fuse *f, const struct node *n)
{
	const struct node *user = NULL;

	if (f->is_output[n->id])
		return NULL;
	for (int u = f->first_use[n->id]; u < f->first_use[n->id + 1]; u++) {
		const struct node *at = f->g->nodes[f->uses[u]];

		if ((user && user != at) || op_info(at->op)->kind != KIND_POINTWISE ||
		    !shape_equal(&at->shape, &n->shape))
			return NULL;
		user = at;
	}
	return user;
}

int fuse_product_repeats(const struct fuse *f, const struct node *product)
{
	double bytes = (double)dtype_bytes(product->dtype);
	int repeats = 0;

	for (int d = 0; d < product->shape.rank; d++)
		bytes *= hint_of(f, &product->shape, d);
	if (bytes > CACHED_BYTES)
		return 0;
	for (const struct node *n = only_user(f, product); n; n = only_user(f, n))
		for (int a = 0; a < n->n_args; a++)
			repeats += is_repeated(f, &n->args[a]);
	return repeats > MOST_REPEATS ? repeats : 0;
}
