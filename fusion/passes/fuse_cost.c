/* fusion/passes/fuse_cost.c -- when a merged kernel would be wrong or slow.
 *
 * The unit of cost is one cheap op on one element, about 0.1 ns.  Sizes are the
 * hints of the capture: a wrong hint costs time, never correctness.
 */
#include "fusion/passes/fuse.h"

enum {
	FREE_CHEAP_OPS = 4, /* the memory traffic of a point hides as many */
	/* A row of its own longer than this is given to several threads, which
	 * only a single walk allows; half of a usual L2 cache in float32. */
	LONG_ROW = 1 << 16,
	/* A GPU: blocks that leave most of it idle, columns of each, and rows and columns so
	 * long that a kernel more is nothing beside that. */
	FEW_BLOCKS = 96,
	BLOCK_COLUMNS = 32,
	LONG_COLUMN = 2048,
	LONG_SHARED_ROW = 1 << 15,
	/* Less than what a part of a kernel may have (fusion/backends/plan/plan.h). */
	MOST_ACCESSES = 160,
	MOST_REDUCTIONS = 24,
	/* Tiles of 4 KiB: as many leave half of a second cache of 1 MiB to the
	 * tensors.  Below that a value in a tile is always cheaper than one in
	 * memory, which is what two kernels would make of it. */
	MOST_ALIVE = 128,
};

static double hint_points(const struct fuse *f, const struct shape *s, uint32_t dims)
{
	double points = 1;
	for (int d = 0; d < s->rank; d++)
		if (dims >> d & 1)
			points *= (double)sym_hint(f->g->syms, s->size[d]);
	return points;
}

static bool is_stored(const struct fuse *f, int a, int node)
{
	if (f->is_output[node])
		return true;
	for (int u = f->first_use[node]; u < f->first_use[node + 1]; u++)
		if (f->group[f->uses[u]] != a)
			return true;
	return false;
}

/* Roots and quotients keep a processor as long as the functions of a library do. */
static bool is_slow(enum op op)
{
	return op_info(op)->transcendental || op_has(op, FACT_SLOW);
}

static bool refuse(struct fuse_verdict *why, enum fuse_limit limit, int node, double count)
{
	why->limit = limit;
	why->node = node;
	why->count = count;
	return false;
}

/* Whether a cluster makes the value in a register of its own, so that reading it
 * from elsewhere is an access. */
static bool is_read_outside(const struct fuse *f, int a, const struct arg *arg)
{
	const struct node *n = arg->kind == ARG_NODE ? f->g->nodes[arg->node] : NULL;

	if (!n || op_info(n->op)->kind == KIND_CREATE)
		return false;
	return f->group[arg->node] != a &&
	       (op_info(n->op)->kind != KIND_CONSTANT || domain_varying_dims(&n->shape));
}

/* The values that are stored, and the different ones that are read, where a lookup reads at places
 * of its own; no more than one past the bound. */
static int count_accesses(const struct fuse *f, int a, const int *nodes, int n)
{
	int read[MOST_ACCESSES + 1], n_read = 0, others = 0;

	for (int i = 0; i < n && n_read + others <= MOST_ACCESSES; i++) {
		const struct node *node = f->g->nodes[nodes[i]];
		bool looks_up = op_has(node->op, FACT_LOOKUP);

		others += is_stored(f, a, node->id) + looks_up;
		for (int k = looks_up; k < node->n_args && n_read <= MOST_ACCESSES; k++) {
			int at = 0;

			if (!is_read_outside(f, a, &node->args[k]))
				continue;
			while (at < n_read && read[at] != node->args[k].node)
				at++;
			read[at] = node->args[k].node;
			n_read += at == n_read;
		}
	}
	return others + n_read;
}

/* Position of node id in an ascending list that has it. */
static int position(const int *nodes, int n, int id)
{
	int low = 0, high = n - 1;

	while (low < high) {
		int middle = (low + high) / 2;

		if (nodes[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The most values for each point that are alive at once: each may want a tile. */
static int most_alive(const struct fuse *f, int a, const int *nodes, int n)
{
	int ends[FUSE_MAX_NODES] = { 0 }, alive = 0, most = 0;

	for (int i = 0; i < n; i++) {
		int id = nodes[i], last = -1;

		alive -= ends[i];
		for (int u = f->first_use[id]; u < f->first_use[id + 1]; u++)
			if (f->group[f->uses[u]] == a && f->uses[u] > last)
				last = f->uses[u];
		if (last < 0 || f->places[id].row)
			continue;
		alive++;
		ends[position(nodes, n, last)]++;
		if (alive > most)
			most = alive;
	}
	return most;
}

/* The bounds that a kernel has in the backends. */
static bool within_bounds(const struct fuse *f, int a, const int *nodes, int n,
			  struct fuse_verdict *why)
{
	int accesses = 0, reductions = 0;

	for (int i = 0; i < n; i++) {
		const struct node *node = f->g->nodes[nodes[i]];

		reductions += op_folds(node->op);
		accesses += is_stored(f, a, node->id);
		for (int k = 0; k < node->n_args; k++)
			accesses += is_read_outside(f, a, &node->args[k]);
	}
	if (accesses > MOST_ACCESSES) /* some are of one value */
		accesses = count_accesses(f, a, nodes, n);
	if (reductions > MOST_REDUCTIONS)
		return refuse(why, LIMIT_REDUCTIONS, -1, reductions);
	if (accesses > MOST_ACCESSES)
		return refuse(why, LIMIT_ACCESSES, -1, accesses);
	if (n > MOST_ALIVE && most_alive(f, a, nodes, n) > MOST_ALIVE)
		return refuse(why, LIMIT_LIVE, -1, most_alive(f, a, nodes, n));
	return true;
}

/* ---- what a product of matrices takes along
 *
 * Ops after a product are computed on each block of its result while that is in
 * the cache, by the threads that made it: no launch of their own, no wait of all
 * threads between, and the product's result is neither written to memory nor read
 * from there.  A reduction needs whole rows, so blocks have all columns then, and
 * each reads all of the second operand: that pays where these are few.
 * What repeats along a row, as the numbers of a batch norm do after a convolution,
 * is copied out for each block again; where the result stays in the cache anyway, one
 * walk over all of it is cheaper (61_resnet_block.json, one thread: 1.09 of eager's
 * time on blocks, 0.9 in a kernel of its own).
 */

enum {
	MOST_COLUMNS = 512,       /* of a block: as wide as backends make them */
	LEAST_ROWS = 256,         /* blocks of whole rows: fewer would leave threads without any */
	MOST_REPEATS = 2,         /* operands after a product that repeat along its rows */
	CACHED_BYTES = 512 << 10, /* of a result: half of a usual second cache */
};

static double hint_of(const struct fuse *f, const struct shape *s, int d)
{
	return (double)sym_hint(f->g->syms, s->size[d]);
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

/* Whether clusters a and b, now nodes[0..n) placed as cluster a of `domain`, make one with the
 * product that one of them begins with. */
static bool fits_product(const struct fuse *f, int a, int b, const struct domain *domain,
			 struct fuse_verdict *why)
{
	const struct cluster *ca = &f->clusters[a], *cb = &f->clusters[b];
	const struct node *product;

	if (ca->product < 0 && cb->product < 0)
		return true;
	product = f->g->nodes[ca->product >= 0 ? ca->product : cb->product];
	if ((ca->product >= 0 && cb->product >= 0) || ca->joins || cb->joins || ca->looks_up ||
	    cb->looks_up || ca->scans || cb->scans ||
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

/* ---- */

/* Whether a GPU would have few blocks for long rows, or columns side by side: one walk of
 * them can be split, several cannot. */
static bool is_in_few_blocks(const struct fuse *f, const struct domain *domain, uint32_t rows)
{
	uint32_t varying = domain_varying_dims(&domain->full);
	double lines = hint_points(f, &domain->full, rows);
	double points = hint_points(f, &domain->full, varying & ~rows);
	bool across = !(domain->reduced >> (31 - __builtin_clz(varying)) & 1);

	return across ? lines < FEW_BLOCKS * BLOCK_COLUMNS && points >= LONG_COLUMN
		      : lines < FEW_BLOCKS && points >= LONG_SHARED_ROW;
}

bool fuse_pays(const struct fuse *f, int a, int b, const struct domain *domain, int n,
	       struct fuse_verdict *why)
{
	const int *nodes = f->merged;
	uint32_t varying = domain_varying_dims(&domain->full);
	uint32_t rows = varying & ~domain->reduced;
	double extra = 0, most = 0;
	int cheap = 0, heavy = 0, last_stage = 0;

	if (!fits_product(f, a, b, domain, why))
		return false;
	for (int i = 0; i < n; i++) {
		const struct node *node = f->g->nodes[nodes[i]];
		const struct domain_place *p = &f->places[node->id];
		uint32_t dims = domain_place_dims(node, p->map);
		uint32_t walked = p->row ? rows : varying;
		double units;

		/* A join is read point by point in the order of the walk. */
		if (op_info(node->op)->kind == KIND_JOIN &&
		    !shape_equal(&node->shape, &domain->full))
			return refuse(why, LIMIT_JOIN, node->id, 0);
		if (!p->row && p->stage > last_stage)
			last_stage = p->stage;
		if (dims == walked)
			continue;
		/* A value smaller than the walk would be stored many times. */
		if (is_stored(f, a, node->id))
			return refuse(why, LIMIT_STORED, node->id, 0);
		if (dims == 0)
			continue; /* computed once a launch */
		bool slow = is_slow(node->op);
		heavy += slow;
		cheap += !slow && !p->row;
		units = (hint_points(f, &domain->full, walked) -
			 hint_points(f, &domain->full, dims)) *
			(slow ? UNITS_HEAVY : 1);
		extra += units;
		if (units > most) {
			most = units;
			why->node = node->id;
			why->count = hint_points(f, &domain->full, walked & ~dims);
		}
	}
	if (last_stage > 0 && rows == 0 && hint_points(f, &domain->full, varying) > LONG_ROW)
		return refuse(why, LIMIT_LONG_ROW, -1, hint_points(f, &domain->full, varying));
	if (f->calls && last_stage > 0 && varying && is_in_few_blocks(f, domain, rows))
		return refuse(why, LIMIT_LONG_ROW, -1,
			      hint_points(f, &domain->full, varying & ~rows));
	why->units = extra;
	if (extra > UNITS_LAUNCH && (heavy > 0 || cheap > FREE_CHEAP_OPS))
		return refuse(why, LIMIT_RECOMPUTE, why->node, why->count);
	return within_bounds(f, a, nodes, n, why);
}
