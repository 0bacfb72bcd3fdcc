/* fusion/backends/cuda/kernel/kernel.c -- how a kernel is cut into threads. */
#include "fusion/backends/cuda/kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

struct cuda_extent cuda_kernel_extent(const struct kernel *k, const int64_t *vars)
{
	struct cuda_extent e = { 1, 1, 1 };

	for (int d = 0; d < k->n_dims; d++) {
		int64_t extent = sym_eval(k->extent[d], vars);

		if (k->form == FORM_MAP || d >= k->n_outer)
			e.points *= extent;
		else if (k->form == FORM_COLS && d == k->n_outer - 1)
			e.columns = extent;
		else
			e.rows *= extent;
	}
	return e;
}

/* Calls visit() for each instruction of a body, a prologue or a post. */
static void each_inst(const struct kernel *k,
		      void (*visit)(void *self, const struct inst *inst, bool body), void *self)
{
	for (int i = 0; i < k->n_setup; i++)
		visit(self, &k->setup[i], false);
	for (int i = 0; i < k->n_prologue; i++)
		visit(self, &k->prologue[i], false);
	for (int s = 0; s < k->n_stages; s++) {
		for (int i = 0; i < k->stages[s].n_body; i++)
			visit(self, &k->stages[s].body[i], true);
		for (int i = 0; i < k->stages[s].n_post; i++)
			visit(self, &k->stages[s].post[i], false);
	}
}

struct alignment {
	const struct cuda_kernel *c;
	const int64_t *vars;
	int lanes;
	bool fails;
};

/* Each part of a join has whole runs of lanes. */
static bool is_join_aligned(const struct alignment *a, const struct lower_join *join)
{
	int last = join->rank - 1;

	for (int i = 0; i < join->n; i++) {
		const struct join_part *part = &join->part[i];

		if (sym_eval(part->extent[last], a->vars) % a->lanes != 0 ||
		    sym_eval(part->at.stride[last], a->vars) != 1 ||
		    sym_eval(part->at.offset, a->vars) % a->lanes != 0)
			return false;
		for (int d = 0; d < last; d++)
			if (sym_eval(part->at.stride[d], a->vars) % a->lanes != 0)
				return false;
	}
	return join->rank > 0;
}

/* A run of lanes begins at a multiple of lanes wherever the innermost dim does. */
static void check_access(void *self, const struct inst *inst, bool body)
{
	struct alignment *a = self;
	const struct kernel *k = a->c->kernel;
	int along = k->n_dims - 1;

	if (inst->kind == INST_LOAD && inst->join)
		a->fails |= !is_join_aligned(a, inst->join);
	if (!body || (!inst_loads(inst) && inst->kind != INST_STORE))
		return;
	if (cuda_is_turned(a->c, inst))
		along = a->c->turned_dim;
	else if (sym_eval(inst->at.stride[along], a->vars) != 1)
		return; /* lane by lane */
	a->fails |= sym_eval(inst->at.offset, a->vars) % a->lanes != 0;
	for (int d = 0; d < k->n_dims; d++)
		a->fails |= d != along && sym_eval(inst->at.stride[d], a->vars) % a->lanes != 0;
}

/* ---- rows that lanes do not divide, where memory has room after each */

/* From one row of a buffer to the next where a store's rows begin with them and what is after each
 * is nobody's; 0: not so. */
static int64_t row_room(const struct cuda_kernel *c, const struct inst *store)
{
	const struct kernel *k = c->kernel;
	const struct access *at = &store->at;
	const struct buffer *b = &c->lowered->buffers[at->buffer];
	const struct node *n = b->kind == BUFFER_TEMP ? c->lowered->graph->nodes[b->node] : NULL;
	const struct node *made = store->node >= 0 ? c->lowered->graph->nodes[store->node] : NULL;
	const struct sym *last = n && n->shape.rank ? n->shape.size[n->shape.rank - 1] : NULL;
	int64_t room;

	if (!last || !made || !sym_is_const(last) || n->channels_last || !sym_is_const(at->offset))
		return 0;
	room = n->pitch ? n->pitch : last->value;
	if (room == 0 || made->pitch != room || at->offset->value % room != 0 ||
	    made->shape.size[made->shape.rank - 1] != k->extent[k->n_dims - 1])
		return 0;
	for (int d = 0; d < k->n_dims - 1; d++)
		if (!sym_is_const(at->stride[d]) || at->stride[d]->value % room != 0)
			return 0;
	return room;
}

static bool stays(const struct kernel *k, const struct access *at)
{
	for (int d = 0; d < k->n_dims - 1; d++)
		if (!sym_is(at->stride[d], 0))
			return false;
	return true;
}

bool cuda_is_open(const struct cuda_kernel *c, const struct access *at)
{
	return c->padded && stays(c->kernel, at) &&
	       c->lowered->buffers[at->buffer].kind != BUFFER_TEMP;
}

struct row_ends {
	const struct cuda_kernel *c;
	int64_t points;
	bool fails, helps;
};

/* A run that is loaded lies in one aligned vector, which memory has whole where it has a part. */
static void check_padding(void *self, const struct inst *inst, bool body)
{
	struct row_ends *p = self;
	const struct kernel *k = p->c->kernel;
	bool stored = inst->kind == INST_STORE;

	p->fails |= inst->join || inst->lookup || inst->kind == INST_SCAN;
	if (!body || p->fails || (!inst_loads(inst) && !stored) ||
	    sym_is(inst->at.stride[k->n_dims - 1], 0))
		return;
	p->fails |= !sym_is(inst->at.stride[k->n_dims - 1], 1) ||
		    (stored && row_room(p->c, inst) < p->points);
	p->helps |= stored || !stays(k, &inst->at);
}

/* The last dim's points up to whole runs of lanes, if each row has memory for them; 0: it has not.
 */
static int64_t padded_points(const struct cuda_kernel *c, int lanes)
{
	const struct kernel *k = c->kernel;
	int last = k->n_dims - 1;
	struct row_ends p = { .c = c };

	if (c->turned_dim >= 0 || last < 1 || !sym_is_const(k->extent[last]) ||
	    (k->form == FORM_ROWS && k->n_outer != last) || k->form == FORM_COLS)
		return 0;
	p.points = (k->extent[last]->value + lanes - 1) / lanes * lanes;
	each_inst(k, check_padding, &p);
	return p.fails || !p.helps ? 0 : p.points;
}

/* Whether all its accesses may be made `lanes` at a time under these symbols;
 * the addresses of buffers aside, which are to be multiples of CUDA_VECTOR_BYTES. */
static bool is_aligned(const struct cuda_kernel *c, int lanes, const int64_t *vars)
{
	const struct kernel *k = c->kernel;
	struct alignment a = { c, vars, lanes, false };

	if (lanes == 1)
		return true;
	if ((sym_eval(k->extent[k->n_dims - 1], vars) % lanes != 0 &&
	     padded_points(c, lanes) == 0) ||
	    (c->turned_dim >= 0 && sym_eval(k->extent[c->turned_dim], vars) % lanes != 0))
		return false;
	each_inst(k, check_access, &a);
	return !a.fails;
}

struct census {
	struct cuda_kernel *c;
	int widest;  /* bytes of an element that lies side by side with others */
	int strided; /* accesses that do not */
	int apart;   /* and such stores */
	int64_t points;
	bool joins;
};

static void note_buffer(struct census *n, int buffer)
{
	if (buffer >= 0 && n->c->places[buffer] < 0) {
		n->c->places[buffer] = n->c->n_buffers;
		n->c->buffers[n->c->n_buffers++] = buffer;
	}
}

/* Whether a value's last bits may decide between results that are far apart. */
static bool is_jump(const struct kernel *k, const struct inst *inst)
{
	static const enum op jumps[] = { OP_floor, OP_ceil,     OP_trunc, OP_round,
					 OP_sign,  OP_floordiv, OP_mod,   OP_fmod };

	if (inst->kind != INST_OP && inst->kind != INST_CAST)
		return false;
	for (size_t i = 0; inst->kind == INST_OP && i < sizeof(jumps) / sizeof(*jumps); i++)
		if (inst->op == jumps[i])
			return true;
	return dtype_category(inst->dtype) != CATEGORY_FLOAT &&
	       dtype_category(k->regs[inst->src[0]].dtype) == CATEGORY_FLOAT;
}

static void note_inst(void *self, const struct inst *inst, bool body)
{
	struct census *n = self;
	const struct kernel *k = n->c->kernel;
	int bytes = (int)dtype_bytes(inst->dtype);

	n->c->narrow &= !is_jump(k, inst);

	if (inst->kind != INST_LOAD && inst->kind != INST_STORE)
		return;
	if (inst->join) {
		n->joins = true;
		n->widest = bytes > n->widest ? bytes : n->widest;
		for (int i = 0; i < inst->join->n; i++)
			note_buffer(n, inst->join->part[i].at.buffer);
		return;
	}
	note_buffer(n, inst->at.buffer);
	for (int i = 0; inst->lookup && i < inst->lookup->n; i++)
		note_buffer(n, inst->lookup->index[i].at.buffer);
	if (inst->lookup)
		return;
	if (inst->kind == INST_STORE) {
		n->c->stored[inst->at.buffer] = true;
		n->c->narrow &= inst->dtype == DTYPE_F16 || inst->dtype == DTYPE_BF16;
	}
	if (!body || k->n_dims == 0)
		return;
	if (sym_is(inst->at.stride[k->n_dims - 1], 1))
		n->widest = bytes > n->widest ? bytes : n->widest;
	else if (!sym_is(inst->at.stride[k->n_dims - 1], 0)) {
		n->strided++;
		n->apart += inst->kind == INST_STORE;
	}
}

enum { WARP = 32 };

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
	return x < low ? low : x > high ? high : x;
}

static int power_of_two(int64_t at_least)
{
	int n = 1;

	while (n < at_least)
		n *= 2;
	return n;
}

static bool same_access(const struct kernel *k, const struct access *a, const struct access *b)
{
	bool same = a->buffer == b->buffer && a->offset == b->offset;

	for (int d = 0; d < k->n_dims && same; d++)
		same = a->stride[d] == b->stride[d];
	return same;
}

int cuda_find(const struct kernel *k, const struct access *const *list, int n,
	      const struct access *at)
{
	for (int i = 0; i < n; i++)
		if (same_access(k, list[i], at))
			return i;
	return -1;
}

/* Whether one of the stages [first, last) loads what `inst` does. */
static bool loads(const struct kernel *k, int first, int last, const struct inst *inst)
{
	for (int s = first; s < last; s++)
		for (int i = 0; i < k->stages[s].n_body; i++) {
			const struct inst *other = &k->stages[s].body[i];

			if (inst_loads(other) && same_access(k, &inst->at, &other->at))
				return true;
		}
	return false;
}

/* What a stage loads and a later one loads again, of memory that is not written here;
 * `early`: what any stage loads.  At most `most` of them. */
static void choose_kept(struct cuda_kernel *c, bool early, int64_t most)
{
	const struct kernel *k = c->kernel;

	if (k->form == FORM_MAP || c->pairs)
		return;
	for (int s = 0; s + !early < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++) {
			const struct inst *inst = &k->stages[s].body[i];

			if (inst_loads(inst) && c->n_kept < most && !c->stored[inst->at.buffer] &&
			    cuda_kept(c, inst) < 0 && (early || loads(k, s + 1, k->n_stages, inst)))
				c->kept[c->n_kept++] = &inst->at;
		}
}

/* What later stages load comes while the first one waits: all of it, if no more than
 * `most` are kept then.  More registers would cost blocks that wait side by side.
 * Whether there is any. */
static bool choose_early(struct cuda_kernel *c, int64_t most)
{
	int again = c->n_kept;

	choose_kept(c, true, CUDA_MAX_KEPT);
	if (c->n_kept > most)
		c->n_kept = again;
	return c->n_kept > again;
}

/* Whether an access, each element of it once, is larger than CUDA_PASSING_BYTES for sure. */
static bool passes(const struct kernel *k, const struct access *at, enum dtype dtype)
{
	int64_t bytes = (int64_t)dtype_bytes(dtype);

	for (int d = 0; d < k->n_dims; d++) {
		if (!sym_is_const(k->extent[d]) || sym_is(at->stride[d], 0))
			return false;
		bytes *= k->extent[d]->value;
	}
	return bytes >= CUDA_PASSING_BYTES;
}

static int64_t *hints(const struct symtab *t)
{
	int64_t *vars = calloc((size_t)sym_var_count(t) + 1, sizeof(*vars));

	for (int i = 0; vars && i < sym_var_count(t); i++)
		vars[i] = sym_var_hint(t, i);
	return vars;
}

/* Whether a stage loads what none before it does. */
static bool loads_late(const struct kernel *k)
{
	for (int s = 1; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++) {
			const struct inst *inst = &k->stages[s].body[i];

			if (inst_loads(inst) && !loads(k, 0, s, inst))
				return true;
		}
	return false;
}

/* So many threads that each has a few loads under way at a time: a block that waits for
 * its reduction has others beside it on the multiprocessor. */
static void choose_threads(struct cuda_kernel *c, const struct cuda_extent *e)
{
	const struct kernel *k = c->kernel;
	int64_t most = 2 * CUDA_LONG_THREADS * c->lanes;
	bool halves = e->points <= most && (e->points == most || !loads_late(k));
	int64_t loads = (e->points + WARP * c->lanes - 1) / (WARP * c->lanes);
	int64_t under_way = e->rows == 1 ? 1
			    : c->lanes == 1 && e->rows >= CUDA_SOME_ROWS
				? clamp(loads, 1, CUDA_SINGLE_LOADS)
			    : e->points >= CUDA_LONG_ROW                ? halves ? 2 : 4
			    : c->lanes > 1 && e->rows >= CUDA_MANY_ROWS ? clamp(loads, 1, 4)
									: 1;
	int64_t each = c->lanes * under_way;

	if (k->form == FORM_MAP) {
		c->threads = c->lanes > 1 ? CUDA_MAP_THREADS / 2 : CUDA_MAP_THREADS;
		return;
	}
	if (k->form == FORM_COLS) {
		bool many = e->rows * e->columns >= CUDA_MANY_BLOCKS * CUDA_COLUMNS;
		int64_t own = !many             ? CUDA_COLUMN_POINTS
			      : k->n_stages > 1 ? CUDA_SLOT_POINTS
						: CUDA_MANY_COLUMN_POINTS;

		c->threads = power_of_two(
		    clamp((e->points + own - 1) / own, 1, CUDA_MAX_THREADS / CUDA_COLUMNS));
		c->columns = c->threads * CUDA_COLUMNS < CUDA_COLUMNS_THREADS
				 ? CUDA_COLUMNS_THREADS / c->threads
				 : CUDA_COLUMNS;
		return;
	}
	/* Blocks that share a row are many, and small ones leave less idle at the end. */
	c->threads = power_of_two(
	    clamp((e->points + each - 1) / each, 4,
		  e->rows == 1 && c->lanes > 1 && k->n_slots == 0 && k->n_stages == 1
		      ? CUDA_MAP_THREADS
		      : CUDA_MAX_THREADS));
	if (e->rows == 1 && c->threads < 128)
		c->threads = power_of_two(clamp(e->points, 4, 128));
	/* Whole warps: rows share them. */
	c->rows_a_block = c->threads > 32
			      ? 1
			      : power_of_two(clamp(e->rows, 32 / c->threads, 128 / c->threads));
}

/* Whether the last dim is short, as that of a pixel shuffle: what a thread loads far apart lies
 * beside what its neighbours do, and it stores all of the dim at once. */
static bool is_interleaved(const struct kernel *k, const struct census *n)
{
	const struct sym *last = k->extent[k->n_dims - 1];

	return k->form == FORM_MAP && !n->apart && sym_is_const(last) &&
	       last->value <= CUDA_SHORT_DIM;
}

static void choose_lanes(struct cuda_kernel *c, const struct census *n, int most,
			 const struct cuda_extent *e, const int64_t *vars)
{
	const struct kernel *k = c->kernel;
	int64_t points = e->points * e->rows;

	c->lanes = 1;
	if (k->form == FORM_COLS || k->n_dims == 0 || !n->widest ||
	    (n->strided && !is_interleaved(k, n)))
		return;
	/* Few points are better spread over threads. */
	if (points < 1 << 16)
		return;
	c->lanes = CUDA_VECTOR_BYTES / n->widest;
	c->lanes = c->lanes > most ? most : c->lanes;
	while (c->lanes > 1 && !is_aligned(c, c->lanes, vars))
		c->lanes /= 2;
	if (c->lanes > 1 && sym_eval(k->extent[k->n_dims - 1], vars) % c->lanes != 0)
		c->padded = sym_const(c->lowered->graph->syms, padded_points(c, c->lanes));
}

/* A square of pairs has each of their rows in shared memory. */
static void choose_pairs(struct cuda_kernel *c)
{
	const struct kernel *k = c->kernel;
	int loads = 0;

	for (int i = 0; k->pairs && i < k->stages[0].n_body; i++)
		loads += k->stages[0].body[i].kind == INST_LOAD;
	c->pairs = loads > 0 && loads <= CUDA_PAIR_LOADS;
	if (c->pairs)
		c->threads = c->columns = CUDA_PAIR_THREADS;
}

/* ---- accesses along another dim than the walk's last */

bool cuda_is_turned(const struct cuda_kernel *c, const struct inst *inst)
{
	int last = c->kernel->n_dims - 1;

	return c->turned_dim >= 0 && (inst_loads(inst) || inst->kind == INST_STORE) &&
	       sym_is(inst->at.stride[c->turned_dim], 1) && !sym_is(inst->at.stride[last], 0) &&
	       !sym_is(inst->at.stride[last], 1);
}

/* The dim along which all accesses lie that are strided in the last one; -1. */
static int find_turned(const struct cuda_kernel *c, const int64_t *vars)
{
	const struct kernel *k = c->kernel;
	int last = k->n_dims - 1, dim = -1, n = 0;

	if (k->form != FORM_MAP || k->n_dims < 2 ||
	    sym_eval(k->extent[last], vars) < CUDA_TURN_LEAST)
		return -1;
	for (int i = 0; i < k->stages[0].n_body; i++) {
		const struct inst *inst = &k->stages[0].body[i];
		int d = 0;

		if ((!inst_loads(inst) && inst->kind != INST_STORE) ||
		    sym_is(inst->at.stride[last], 0) || sym_is(inst->at.stride[last], 1))
			continue;
		while (d < last && !sym_is(inst->at.stride[d], 1))
			d++;
		if (d == last || (dim >= 0 && d != dim) || ++n > CUDA_TURN_MOST)
			return -1;
		dim = d;
	}
	return dim >= 0 && sym_eval(k->extent[dim], vars) >= CUDA_TURN_LEAST ? dim : -1;
}

/* Lanes of so many bytes that a warp's line is of whole words, where all accesses allow it. */
static void choose_turned(struct cuda_kernel *c, const struct census *n, int most,
			  const int64_t *vars)
{
	const struct kernel *k = c->kernel;
	int narrowest = 4, lanes;

	c->turned_dim = n->joins || n->points < CUDA_TURN_POINTS ? -1 : find_turned(c, vars);
	if (c->turned_dim < 0)
		return;
	for (int i = 0; i < k->stages[0].n_body; i++) {
		const struct inst *inst = &k->stages[0].body[i];

		if ((inst->kind == INST_LOAD || inst->kind == INST_STORE) &&
		    (int)dtype_bytes(inst->dtype) < narrowest)
			narrowest = (int)dtype_bytes(inst->dtype);
	}
	lanes = 4 / narrowest < most ? 4 / narrowest : most;
	while (lanes > 1 && !is_aligned(c, lanes, vars))
		lanes /= 2;
	c->lanes = lanes;
	c->padded = NULL;
	c->threads = CUDA_TURN_THREADS;
	c->rows_a_block = CUDA_TURN_WARPS;
}

/* Elements that no vector holds are few bytes each: a thread has several under way. */
static void choose_apart(struct cuda_kernel *c, const struct census *n)
{
	const struct kernel *k = c->kernel;
	int bytes = 0;

	if (k->form != FORM_MAP || c->lanes > 1 || c->turned_dim >= 0 || k->library || n->joins ||
	    n->points < CUDA_APART_POINTS)
		return;
	for (int i = 0; i < k->stages[0].n_body; i++) {
		const struct inst *inst = &k->stages[0].body[i];

		if (inst->lookup || inst->join)
			return;
		bytes += inst->kind == INST_LOAD ? (int)dtype_bytes(inst->dtype) : 0;
	}
	while (bytes > 0 && c->each < CUDA_MOST_APART && c->each * bytes < CUDA_APART_BYTES)
		c->each *= 2;
}

/* The product of the extents of dims [first, last); -1: one of them is a symbol. */
static int64_t known_points(const struct kernel *k, int first, int last)
{
	int64_t points = 1;

	for (int d = first; d < last; d++) {
		if (!sym_is_const(k->extent[d]))
			return -1;
		points *= k->extent[d]->value;
	}
	return points;
}

static bool known(const struct kernel *k)
{
	return known_points(k, k->n_outer, k->n_dims) >= 0;
}

/* ---- rows that no vector divides */

/* Whether an access goes through memory as the kernel does through its points. */
static bool is_piece(const struct kernel *k, const struct access *at, enum dtype dtype)
{
	int64_t step = 1;

	for (int d = k->n_dims - 1; d >= 0; d--) {
		if (!sym_is(at->stride[d], step) || (d > 0 && !sym_is_const(k->extent[d])))
			return false;
		step *= d > 0 ? k->extent[d]->value : 1;
	}
	return sym_is_const(at->offset) &&
	       at->offset->value * (int64_t)dtype_bytes(dtype) % CUDA_VECTOR_BYTES == 0;
}

/* Whether the kernel loads from a buffer that it stores to. */
static bool reloads(const struct cuda_kernel *c)
{
	const struct kernel *k = c->kernel;

	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++)
			if (inst_loads(&k->stages[s].body[i]) &&
			    c->stored[k->stages[s].body[i].at.buffer])
				return true;
	return false;
}

/* Lists the accesses that can be staged: bytes of a point of all of them, or 0: too many. */
static int list_staged(struct cuda_kernel *c, int *narrowest)
{
	const struct kernel *k = c->kernel;
	int bytes = 0;

	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++) {
			const struct inst *inst = &k->stages[s].body[i];
			int own = (int)dtype_bytes(inst->dtype);

			if ((inst->kind != INST_LOAD && inst->kind != INST_STORE) ||
			    !is_piece(k, &inst->at, inst->dtype) || cuda_staged(c, &inst->at) >= 0)
				continue;
			if (c->n_staged == CUDA_MAX_STAGED)
				return 0;
			c->staged[c->n_staged++] = &inst->at;
			bytes += own;
			*narrowest = own < *narrowest ? own : *narrowest;
		}
	return bytes;
}

/* On an H200 sums of squares of 333 in 16 bits took 18 us after 45, log softmax of 41 in float32 21
 * after 30, a layer norm of 59 28 after 45; but one of 129 30 after 29, unit rows of 95 32 after
 * 27, and in 16 bits softmax of 777 39 after 23, log sums of 201 30 after 27. */
static bool pays_to_stage(const struct kernel *k, int narrowest, int64_t points)
{
	return k->n_stages == 1 || (narrowest >= 4 && points <= CUDA_STAGED_WALKED);
}

/* So many threads of a row that each has a few points, and so many rows that the block is full:
 * a multiple of a vector's elements, or a block's rows would not begin with one. */
static void choose_staged(struct cuda_kernel *c, const struct census *n, bool other, int most,
			  const struct cuda_extent *e)
{
	const struct kernel *k = c->kernel;
	int narrowest = CUDA_VECTOR_BYTES, rows, threads, least, bytes;

	if (k->form != FORM_ROWS || k->n_outer == 0 || k->library || most == 1 || !known(k) ||
	    c->lanes * n->widest > 4 || e->points > CUDA_STAGED_MOST || cuda_scans_rows(k) ||
	    cuda_looks_up(k) || reloads(c))
		return;
	bytes = list_staged(c, &narrowest) * (int)e->points;
	threads = power_of_two((e->points + CUDA_STAGED_POINTS - 1) / CUDA_STAGED_POINTS);
	if (threads > WARP)
		threads = power_of_two(
		    clamp((e->points + CUDA_STAGED_MANY_POINTS - 1) / CUDA_STAGED_MANY_POINTS, WARP,
			  CUDA_MAX_THREADS));
	least = CUDA_VECTOR_BYTES / narrowest;
	rows = threads * least < CUDA_STAGED_THREADS ? CUDA_STAGED_THREADS / threads : least;
	while (rows > least && rows * bytes > CUDA_STAGED_BYTES)
		rows /= 2;
	if (bytes == 0 || pays_to_stage(k, narrowest, e->points) == other ||
	    rows * bytes > CUDA_STAGED_MOST || rows * threads > CUDA_MAX_THREADS ||
	    rows * threads < WARP || e->rows < (int64_t)rows * CUDA_STAGED_BLOCKS) {
		c->n_staged = 0;
		return;
	}
	c->lanes = 1;
	c->threads = threads;
	c->rows_a_block = rows;
	c->staged_points = (int)e->points;
}

/* How many rows a thread has, one after the other: all that it loads of them comes first. */
static void choose_rows_each(struct cuda_kernel *c, const struct cuda_extent *e)
{
	const struct kernel *k = c->kernel;
	int64_t most = CUDA_SLOT_POINTS / c->lanes / (k->n_slots + c->n_kept + 1);

	if (k->form != FORM_ROWS || k->n_stages > 1 || c->threads > WARP || c->splits ||
	    c->n_staged > 0 || !cuda_kernel_is_one_step(c) || cuda_scans_rows(k) ||
	    cuda_looks_up(k) || k->library)
		return;
	while (2 * c->rows_each <= CUDA_ROWS_EACH && 2 * c->rows_each <= most &&
	       e->rows >= 2 * (int64_t)c->rows_each * c->rows_a_block * CUDA_ENOUGH_BLOCKS)
		c->rows_each *= 2;
}

bool cuda_kernel_is_one_step(const struct cuda_kernel *c)
{
	int64_t points = known_points(c->kernel, c->kernel->n_outer, c->kernel->n_dims);

	return !c->splits && points >= 0 && points <= (int64_t)c->threads * c->lanes;
}

static bool is_multiple(int64_t points, int64_t of)
{
	return points > 0 && points % of == 0;
}

/* What holds for all threads needs no question.  But the branch of one keeps early loads
 * where they are, and each step's stores with it: without, the assembler moved them after
 * the last sum, and all stores to the end, which cost a layer norm of 1024 5 % on an H200
 * (where softmax gained 1 %). */
static void choose_questions(struct cuda_kernel *c, bool early)
{
	const struct kernel *k = c->kernel;
	int64_t step = (int64_t)c->threads * c->lanes;

	if (early)
		return;
	if (k->form == FORM_MAP)
		c->all_live = true;
	else if (k->form == FORM_ROWS)
		c->all_live = is_multiple(known_points(k, 0, k->n_outer),
					  c->rows_a_block * c->rows_each);
	else
		c->all_live = is_multiple(known_points(k, k->n_outer - 1, k->n_outer), c->columns);
	c->whole = is_multiple(known_points(k, k->form == FORM_MAP ? 0 : k->n_outer, k->n_dims),
			       step) &&
		   !c->padded;
}

/* Whether some access is too large for the cache: what was written last of it is there. */
static bool some_pass(const struct kernel *k)
{
	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++) {
			const struct inst *inst = &k->stages[s].body[i];

			if ((inst_loads(inst) || inst->kind == INST_STORE) &&
			    passes(k, &inst->at, inst->dtype))
				return true;
		}
	return false;
}

/* What threads keep in registers from stage to stage; and what a thread loads of several rows, or
 * in the steps of one stage: all of that is under way at once. */
static void choose_registers(struct cuda_kernel *c, int64_t steps)
{
	const struct kernel *k = c->kernel;
	bool several = c->rows_each > 1;

	steps = several ? c->rows_each : steps;
	if (several || (k->n_stages == 1 && steps > 1 && !c->splits && !k->library &&
			!cuda_scans_rows(k) && c->n_staged == 0))
		choose_kept(c, true, CUDA_MAX_KEPT);
	c->registers = (k->n_slots > 0 || c->n_kept > 0) && known(k) && steps > 0 &&
		       steps * c->lanes <= CUDA_SLOT_POINTS;
	if (!c->registers || (k->n_slots + c->n_kept) * steps * c->lanes > 2 * CUDA_SLOT_POINTS)
		c->n_kept = 0;
	c->registers &= k->n_slots + c->n_kept > 0;
	c->rows_each = c->registers ? c->rows_each : 1;
	c->few_steps = c->registers && !several && steps >= CUDA_FEW_STEPS_FROM &&
		       steps <= CUDA_FEW_STEPS_TO;
	choose_questions(c,
			 c->registers && c->lanes > 1 && steps > 0 &&
			     choose_early(c, CUDA_EARLY_POINTS / (steps * c->lanes) - k->n_slots));
}

/* Half the threads, or twice as many: of a row, of a column, of a block. */
static void change_threads(struct cuda_kernel *c, enum cuda_choice choice)
{
	bool rows = c->kernel->form == FORM_ROWS;
	int least = c->kernel->form == FORM_MAP ? WARP : 1;

	if (c->turned_dim >= 0 || c->pairs)
		return;
	if (choice == CHOICE_HALF_THREADS && c->threads > least) {
		c->threads /= 2;
		c->rows_a_block *= rows && cuda_kernel_block(c) < WARP ? 2 : 1;
	}
	if (choice == CHOICE_TWICE_THREADS && 2 * cuda_kernel_block(c) <= CUDA_MAX_THREADS)
		c->threads *= 2;
}

bool cuda_kernel_plan(struct cuda_kernel *c, const struct lowered *l, int index, int lanes,
		      enum cuda_choice choice)
{
	const struct kernel *k = &l->kernels[index];
	struct census n = { .c = c };
	int64_t *vars = hints(l->graph->syms), steps;
	struct cuda_extent e;

	*c = (struct cuda_kernel){ .lowered = l,
				   .kernel = k,
				   .index = index,
				   .rows_a_block = 1,
				   .rows_each = 1,
				   .each = 1,
				   .turned_dim = -1,
				   .narrow = true };
	c->places = calloc((size_t)l->n_buffers + 1, sizeof(int));
	c->buffers = calloc((size_t)l->n_buffers + 1, sizeof(int));
	c->stored = calloc((size_t)l->n_buffers + 1, sizeof(bool));
	if (!c->stored || !c->places || !c->buffers || !vars) {
		free(vars);
		return false;
	}
	for (int i = 0; i < l->n_buffers; i++)
		c->places[i] = -1;
	each_inst(k, note_inst, &n);
	e = cuda_kernel_extent(k, vars);
	choose_lanes(c, &n, lanes, &e, vars);
	c->lanes /= choice == CHOICE_HALF_LANES && c->lanes > 1 ? 2 : 1;
	choose_threads(c, &e);
	choose_pairs(c);
	n.points = e.points * e.rows;
	choose_turned(c, &n, lanes, vars);
	choose_apart(c, &n);
	choose_staged(c, &n, choice == CHOICE_OTHER_ROWS, lanes, &e);
	change_threads(c, choice);
	if (k->n_stages > 0 && k->form != FORM_MAP)
		for (int i = 0; i < k->stages[0].n_body; i++)
			c->n_reduces += k->stages[0].body[i].kind == INST_REDUCE;
	c->splits = k->n_stages == 1 && k->form != FORM_MAP && k->n_slots == 0 && c->n_reduces > 0;
	if (c->splits && k->form == FORM_ROWS && c->threads <= 32)
		c->splits = false; /* short rows */
	c->splits &= !c->pairs && !cuda_scans_rows(k) && c->n_staged == 0;
	if (k->form == FORM_ROWS && known_points(k, 0, k->n_outer) >= CUDA_SOME_ROWS)
		c->splits = false; /* they are blocks enough */
	if (known(k) && e.points <= 2 * (int64_t)c->threads * c->lanes)
		c->splits = false; /* for set_grid() too; its text takes long to compile */
	c->turns = k->form != FORM_COLS && c->turned_dim < 0 && c->lanes > 1 && !c->splits &&
		   some_pass(k);
	steps = (e.points + (int64_t)c->threads * c->lanes - 1) / ((int64_t)c->threads * c->lanes);
	choose_kept(c, false, CUDA_MAX_KEPT);
	choose_rows_each(c, &e);
	choose_registers(c, steps);
	free(vars);
	return true;
}

void cuda_kernel_finish(struct cuda_kernel *c)
{
	free(c->buffers);
	free(c->places);
	free(c->stored);
	VEC_FREE(&c->numbers);
	VEC_FREE(&c->sites);
}
