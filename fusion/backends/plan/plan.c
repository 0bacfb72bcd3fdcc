/* fusion/backends/plan/plan.c -- cuts a kernel into parts, and fills in its numbers.
 *
 * plan_create() looks at what does not depend on symbols; plan_bind() evaluates
 * extents and strides, coalesces the dims of every access, chooses the tile and
 * allocates what the threads need.
 */
#include "fusion/backends/plan/plan.h"
#include "fusion/backends/memory/memory.h"
#include "fusion/graph/symreal.h"

#include <stdlib.h>
#include <string.h>

static int place_count(const struct inst *insts, int n)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		count += insts[i].kind == INST_LOAD || insts[i].kind == INST_STORE ||
			 insts[i].kind == INST_SAVE || insts[i].kind == INST_RESTORE;
	return count;
}

static bool writes(const struct inst *insts, int n, int buffer)
{
	for (int i = 0; i < n; i++)
		if (insts[i].kind == INST_STORE && insts[i].at.buffer == buffer)
			return true;
	return false;
}

static bool kernel_writes(const struct kernel *k, int buffer)
{
	for (int s = 0; s < k->n_stages; s++)
		if (writes(k->stages[s].body, k->stages[s].n_body, buffer) ||
		    writes(k->stages[s].post, k->stages[s].n_post, buffer))
			return true;
	return k->library && buffer == k->out_buffer; /* by its product */
}

static void fill_place(struct plan_place *at, const struct plan *p, const struct inst *inst,
		       bool body)
{
	bool memory = inst->kind == INST_LOAD || inst->kind == INST_STORE;

	at->inst = inst;
	at->buffer = inst->at.buffer;
	at->bytes = (unsigned)dtype_bytes(inst->dtype);
	at->store = inst->kind == INST_STORE || inst->kind == INST_SAVE;
	at->one = !body && p->kernel->form != FORM_COLS;
	at->shared = inst_loads(inst) && kernel_writes(p->kernel, inst->at.buffer);
	if (memory && inst->kind == INST_LOAD && inst->dst >= 0 &&
	    p->kernel->regs[inst->dst].level == LEVEL_ONE)
		at->one = true;
}

static bool fill_part(struct plan *p, int index, const struct inst *insts, int n,
		      struct plan_place *places, struct err *err)
{
	struct part *part = &p->parts[index];

	part->insts = insts;
	part->n = n;
	part->body = index >= 2 && index % 2 == 0;
	part->places = places;
	part->n_places = place_count(insts, n);
	part->exact = true;
	if (part->n_places > MAX_PLACES)
		return err_set(
		    err, ERR_UNSUPPORTED,
		    "A fused kernel reads and writes %d tensors at once; the limit is %d. "
		    "Split the function.",
		    part->n_places, MAX_PLACES);
	for (int i = 0, k = 0; i < n; i++) {
		if (place_count(&insts[i], 1))
			fill_place(&places[k++], p, &insts[i], part->body);
		part->stores |= insts[i].kind == INST_STORE;
		if (insts[i].kind == INST_SCAN)
			return err_set(err, ERR_INTERNAL, "A running sum in a kernel of the host.");
		if (insts[i].kind != INST_REDUCE)
			continue;
		if (part->n_reduces == MAX_REDUCES)
			return err_set(err, ERR_UNSUPPORTED,
				       "A fused kernel has more than %d reductions in one pass. "
				       "Split the function.",
				       MAX_REDUCES);
		part->exact &= insts[i].op == OP_amax || insts[i].op == OP_amin ||
			       dtype_category(insts[i].dtype) != CATEGORY_FLOAT;
		part->reducers[part->n_reduces] = reducer_find(insts[i].op, insts[i].dtype);
		if (!part->reducers[part->n_reduces])
			return err_set(err, ERR_INTERNAL, "No reduction %s of %s.",
				       op_info(insts[i].op)->id, dtype_name(insts[i].dtype));
		part->lanes[part->n_reduces] = insts[i].dtype == DTYPE_BOOL
						   ? VECTOR_MAX
						   : p->kernels->vector_bytes /
							 (int)dtype_bytes(insts[i].dtype);
		part->reduces[part->n_reduces++] = &insts[i];
	}
	if (part->n_places > p->most_places)
		p->most_places = part->n_places;
	if (part->n_reduces > p->most_reduces)
		p->most_reduces = part->n_reduces;
	return true;
}

static bool fill_parts(struct plan *p, struct err *err)
{
	const struct kernel *k = p->kernel;
	struct plan_place *places = p->places;

	if (!fill_part(p, PART_SETUP, k->setup, k->n_setup, places, err))
		return false;
	places += p->parts[PART_SETUP].n_places;
	if (!fill_part(p, PART_PROLOGUE, k->prologue, k->n_prologue, places, err))
		return false;
	places += p->parts[PART_PROLOGUE].n_places;
	for (int s = 0; s < k->n_stages; s++) {
		const struct stage *stage = &k->stages[s];

		if (!fill_part(p, part_body(s), stage->body, stage->n_body, places, err))
			return false;
		places += p->parts[part_body(s)].n_places;
		if (!fill_part(p, part_post(s), stage->post, stage->n_post, places, err))
			return false;
		places += p->parts[part_post(s)].n_places;
	}
	return true;
}

/* Makes the places of joins; they are in the body of a MAP alone. */
static bool make_joined(struct plan *p)
{
	const struct part *body = &p->parts[part_body(0)];

	p->joined = calloc((size_t)body->n_places + 1, sizeof(*p->joined));
	for (int i = 0; p->joined && i < body->n_places; i++) {
		struct plan_place *at = &body->places[i];
		struct joined *joined = &p->joined[p->n_joined];

		if (!at->inst->join)
			continue;
		joined->places = calloc((size_t)at->inst->join->n + 1, sizeof(*joined->places));
		if (!joined->places)
			return false;
		p->n_joined++;
		joined->n = at->inst->join->n;
		at->joined = joined;
		for (int k = 0; k < joined->n; k++)
			joined->places[k] =
			    (struct plan_place){ .inst = at->inst,
						 .bytes = at->bytes,
						 .buffer = at->inst->join->part[k].at.buffer };
	}
	return p->joined != NULL;
}

/* And what loads by indices, in any part. */
static bool make_looked_up(struct plan *p)
{
	for (int i = 0; i < p->n_places; i++)
		p->n_looked_up += p->places[i].inst->lookup != NULL;
	p->looked_up = calloc((size_t)p->n_looked_up + 1, sizeof(*p->looked_up));
	for (int i = 0, n = 0; p->looked_up && i < p->n_places; i++)
		if (p->places[i].inst->lookup)
			p->places[i].looked_up = &p->looked_up[n++];
	return p->looked_up != NULL;
}

static int count_places(const struct kernel *k)
{
	int n = place_count(k->setup, k->n_setup) + place_count(k->prologue, k->n_prologue);

	for (int s = 0; s < k->n_stages; s++)
		n += place_count(k->stages[s].body, k->stages[s].n_body) +
		     place_count(k->stages[s].post, k->stages[s].n_post);
	return n;
}

struct plan *plan_create(const struct lowered *l, const struct kernel *k,
			 const struct kernel_table *kernels, void **consts, struct err *err)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (!p)
		goto memory;
	*p = (struct plan){ .lowered = l, .kernel = k, .kernels = kernels };
	if (!kernel_by_rows(l, k, &p->by_rows))
		goto memory;
	if (p->by_rows)
		p->kernel = k = p->by_rows;
	p->const_data = consts;
	p->n_parts = 2 + 2 * k->n_stages;
	p->n_places = count_places(k);
	p->parts = calloc((size_t)p->n_parts, sizeof(*p->parts));
	p->places = calloc((size_t)p->n_places + 1, sizeof(*p->places));
	p->code = calloc((size_t)p->n_parts, sizeof(*p->code));
	p->ones = aligned_alloc(VECTOR_MAX, ((size_t)k->n_regs + 1) * VECTOR_MAX);
	if (!p->parts || !p->places || !p->code || !p->ones)
		goto memory;
	for (int i = 0; i < k->n_setup; i++)
		p->has_setup |= k->setup[i].kind != INST_IMM;
	if (fill_parts(p, err)) {
		if (make_joined(p) && make_looked_up(p))
			return p;
		goto memory;
	}
	plan_destroy(p);
	return NULL;
memory:
	plan_destroy(p);
	err_set(err, ERR_MEMORY, "The system has no memory left to prepare a kernel.");
	return NULL;
}

static void drop_bound(struct plan *p)
{
	free(p->memory);
	free(p->workers);
	free(p->chunks);
	p->memory = NULL;
	p->workers = NULL;
	p->chunks = NULL;
	p->n_workers = 0;
}

void plan_destroy(struct plan *p)
{
	if (!p)
		return;
	drop_bound(p);
	free(p->by_rows);
	free(p->parts);
	free(p->places);
	for (int i = 0; i < p->n_joined; i++)
		free(p->joined[i].places);
	free(p->joined);
	free(p->looked_up);
	free(p->code);
	free(p->ones);
	free(p);
}

/* Appends a dim to a coalesced list: drops size 1, merges what continues. */
static int add_dim(struct plan_walk *dims, int n, int64_t extent, int64_t stride)
{
	if (extent == 1)
		return n;
	if (n > 0 && dims[n - 1].stride == extent * stride) {
		dims[n - 1].extent *= extent;
		dims[n - 1].stride = stride;
		return n;
	}
	dims[n] = (struct plan_walk){ extent, stride };
	return n + 1;
}

/* The parts of a join, over all of its space. */
static void bind_joined(struct joined *joined, const struct lower_join *join, const int64_t *vars)
{
	joined->width = 0;
	for (int k = 0; k < joined->n; k++) {
		const struct join_part *part = &join->part[k];
		struct plan_place *at = &joined->places[k];
		int64_t row = 1;

		at->n_inner = 0;
		at->points = 1;
		at->offset = sym_eval(part->at.offset, vars);
		for (int d = 0; d < join->rank; d++) {
			int64_t extent = sym_eval(part->extent[d], vars);

			at->n_inner = add_dim(at->inner, at->n_inner, extent,
					      sym_eval(part->at.stride[d], vars));
			at->points *= extent;
			row *= d >= join->dim ? extent : 1;
		}
		if (at->n_inner == 1 && at->inner[0].stride == 0)
			at->n_inner = 0;
		at->direct = at->n_inner == 1 ? at->inner[0].stride == 1 : at->points == 1;
		joined->begin[k] = joined->width;
		joined->width += row;
	}
}

/* The dims before those of the tile axis. */
static int outer_dims(const struct kernel *k)
{
	return k->form == FORM_MAP ? 0 : k->form == FORM_COLS ? k->n_outer - 1 : k->n_outer;
}

static void bind_looked_up(const struct plan *p, struct plan_place *at, bool body,
			   const int64_t *extent, const int64_t *vars)
{
	const struct kernel *k = p->kernel;
	struct lookup_dims dims = { .n_outer = outer_dims(k) };

	for (int d = body ? k->form == FORM_MAP ? 0 : k->n_outer : k->n_dims; d < k->n_dims; d++)
		dims.inner[dims.n_inner++] = d;
	if (k->form == FORM_COLS)
		dims.inner[dims.n_inner++] = dims.n_outer;
	for (int i = 0; i < dims.n_inner; i++)
		dims.extent[i] = extent[dims.inner[i]];
	lookup_bind(at->looked_up, at->inst->lookup, &at->inst->at, &dims, vars);
}

static void bind_place(struct plan *p, struct plan_place *at, bool body, const int64_t *extent,
		       const int64_t *vars)
{
	const struct kernel *k = p->kernel;
	const struct access *access = &at->inst->at;
	int outer = outer_dims(k);
	int64_t stride[MAX_RANK];

	at->n_outer = at->n_inner = 0;
	at->points = 1;
	at->offset = 0;
	at->plain = at->direct = at->whole = false;
	if (at->joined) {
		bind_joined(at->joined, at->inst->join, vars);
		return;
	}
	if (at->looked_up) {
		bind_looked_up(p, at, body, extent, vars);
		return;
	}
	if (at->inst->kind == INST_SAVE || at->inst->kind == INST_RESTORE)
		return;
	for (int d = 0; d < k->n_dims; d++)
		stride[d] = sym_eval(access->stride[d], vars);
	at->offset = sym_eval(access->offset, vars);
	for (int d = 0; d < outer; d++)
		at->outer[at->n_outer++] = (struct plan_walk){ extent[d], stride[d] };
	for (int d = body ? k->form == FORM_MAP ? 0 : k->n_outer : k->n_dims; d < k->n_dims; d++) {
		at->n_inner = add_dim(at->inner, at->n_inner, extent[d], stride[d]);
		at->points *= extent[d];
	}
	if (k->form == FORM_COLS) {
		at->point_step = stride[k->n_dims - 1];
		at->column_step = stride[outer];
		at->n_inner = add_dim(at->inner, at->n_inner, extent[outer], stride[outer]);
		at->points *= extent[outer];
	}
	if (at->n_inner == 1 && at->inner[0].stride == 0)
		at->n_inner = 0;
	at->direct = at->n_inner == 1 ? at->inner[0].stride == 1 : at->points == 1;
	at->plain = at->direct && !at->one && !at->shared;
	at->whole = at->direct && at->offset == 0 && at->n_outer == 0 &&
		    at->points == sym_eval(p->lowered->buffers[access->buffer].numel, vars);
}

static int64_t product(const int64_t *extent, int from, int to)
{
	int64_t n = 1;

	for (int d = from; d < to; d++)
		n *= extent[d];
	return n;
}

int64_t plan_cost(const struct kernel *k)
{
	int64_t cost = 1;

	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++) {
			const struct inst *inst = &k->stages[s].body[i];

			cost += inst->kind == INST_OP && op_info(inst->op)->transcendental ? 12 : 1;
		}
	return cost;
}

/* Points that one thread may as well do alone: about 5 us of work. */
static int64_t grain_of(const struct plan *p)
{
	int64_t cost = plan_cost(p->kernel);

	return cost < 4 ? 16 * 1024 : cost > 64 ? 1024 : 64 * 1024 / cost;
}

/* Pairs: columns whose points fit into a panel of PANEL_BYTES, which stays in a cache. */
static int64_t pairs_width(const struct plan *p)
{
	int64_t lanes = VECTOR_MAX / 4, width = PANEL_BYTES / 4 / (p->points + 1) / lanes * lanes;

	width = width < lanes ? lanes : width;
	width = width > p->tile ? p->tile : width;
	return width < p->columns ? width : p->columns;
}

/* COLS: points that a call takes of some columns, where some place has points, not columns,
 * side by side: lines of memory are turned into the tile.  0: no place has, or some part
 * does not read by its steps alone. */
static int64_t block_points(const struct plan *p)
{
	const struct kernel *k = p->kernel;
	bool turned = false;
	int64_t points = 1;

	if (k->form != FORM_COLS || k->n_dims != k->n_outer + 1 || k->n_slots > 0 ||
	    p->points < LEAST_TURNED || plan_has_pairs(p))
		return 0;
	for (int i = PART_PROLOGUE + 1; i < p->n_parts; i += 2)
		for (int j = 0; j < p->parts[i].n_places; j++) {
			const struct plan_place *at = &p->parts[i].places[j];

			if (at->store || at->looked_up || at->joined || at->shared)
				return 0;
			turned |= at->point_step == 1 && at->column_step > 1;
		}
	while (points < p->points && points < REDUCE_RUN)
		points *= 2;
	return turned ? points : 0;
}

static int64_t width_of(const struct plan *p)
{
	int64_t width = p->block_points ? p->tile / p->block_points : p->tile;

	if (plan_has_pairs(p))
		return pairs_width(p);
	return p->columns < width ? p->columns : width;
}

static size_t panel_bytes(const struct plan *p)
{
	return (size_t)(p->points + 1) * (size_t)plan_whole_vectors(p->width) * 4;
}

/* Of the reduced points alone: threads change no result. */
static int64_t column_chunk_of(int64_t points)
{
	int64_t chunk = COLUMN_CHUNK;

	while (chunk > COLUMN_CHUNK_LEAST && points / chunk < COLUMN_CHUNKS)
		chunk /= 2;
	return chunk;
}

/* Long tiles save calls; short ones keep temporaries in the first cache, and what later
 * stages of a COLS read of each column, which is repeated for all points of a tile. */
static int64_t tile_of(const struct plan *p)
{
	if (p->kernel->form == FORM_COLS && p->kernel->n_stages > 1)
		return TILE_ELEMENTS;
	for (int i = 0; i < p->n_parts; i++) {
		if (p->code[i].scratch_bytes)
			return TILE_ELEMENTS;
		if (!p->parts[i].body)
			continue;
		for (int k = 0; k < p->parts[i].n_places; k++) {
			const struct plan_place *at = &p->parts[i].places[k];

			if (!at->direct || (at->store && !at->whole))
				return TILE_ELEMENTS;
		}
	}
	return LONG_TILE;
}

/* Hands out pieces of one allocation; `at` NULL only counts. */
static void *take(unsigned char *memory, size_t *at, size_t bytes)
{
	void *piece = memory ? memory + *at : NULL;

	*at += (bytes + VECTOR_MAX - 1) & ~(size_t)(VECTOR_MAX - 1);
	return piece;
}

static size_t scratch_bytes(const struct plan *p)
{
	size_t most = 0;

	for (int i = 0; i < p->n_parts; i++)
		if (p->code[i].scratch_bytes > most)
			most = p->code[i].scratch_bytes;
	return most;
}

static size_t lay_out_worker(const struct plan *p, struct plan_worker *w, unsigned char *memory,
			     size_t at)
{
	const struct kernel *k = p->kernel;
	bool cols = k->form == FORM_COLS;
	size_t row_tile = cols ? (size_t)p->tile * 8 + VECTOR_MAX : VECTOR_MAX;
	size_t columns = cols ? (size_t)p->width : 1;
	size_t slot_points = (size_t)(cols ? p->points * p->width : p->points);

	w->reg = take(memory, &at, sizeof(void *) * (size_t)(k->n_regs + 1));
	w->acc = take(memory, &at, sizeof(void *) * (size_t)(p->most_reduces + 1));
	w->slot = take(memory, &at, sizeof(void *) * (size_t)(k->n_slots + 1));
	w->base = take(memory, &at,
		       sizeof(int64_t) *
			   (size_t)(p->n_places + 1 + p->n_looked_up * (1 + MAX_INDICES)));
	w->quick = take(memory, &at, sizeof(char *) * (size_t)(p->n_places + 1));
	w->panel = take(memory, &at, sizeof(float *) * MAX_PLACES);
	for (int i = 0; plan_has_pairs(p) && i < p->parts[part_body(0)].n_places; i++) {
		void *panel = take(memory, &at, panel_bytes(p));

		if (memory)
			w->panel[i] = panel;
	}
	w->staging = take(memory, &at, (size_t)p->most_places * ((size_t)p->tile * 8 + VECTOR_MAX));
	w->scratch = take(memory, &at, scratch_bytes(p));
	w->partial = take(memory, &at, sizeof(union number) * (size_t)p->most_reduces * columns);
	w->total = take(memory, &at, sizeof(union number) * (size_t)p->most_reduces * columns);
	for (int i = 0; i < p->most_reduces; i++) {
		void *acc = take(memory, &at, row_tile);

		if (memory)
			w->acc[i] = acc;
	}
	for (int r = 0; r < k->n_regs; r++) {
		bool row = k->regs[r].level == LEVEL_ROW;
		void *reg = row ? take(memory, &at, row_tile) : p->ones + r * VECTOR_MAX;

		if (memory)
			w->reg[r] = k->regs[r].level == LEVEL_POINT ? NULL : reg;
	}
	for (int s = 0; s < k->n_slots; s++) {
		/* Columns: each chunk of points ends with room for a last vector. */
		size_t pad = cols ? ((size_t)(p->points / p->column_chunk) + 2) * COLUMN_PAD * 8
				  : VECTOR_MAX;
		void *slot = take(memory, &at, slot_points * dtype_bytes(k->slot_dtype[s]) + pad);

		if (memory)
			w->slot[s] = slot;
	}
	if (memory)
		w->room_bytes = (size_t)(memory + at - w->staging);
	return at;
}

static bool make_workers(struct plan *p, struct err *err)
{
	int64_t work = p->rows * p->points * (p->kernel->form == FORM_COLS ? p->columns : 1);
	size_t each = lay_out_worker(p, &(struct plan_worker){ 0 }, NULL, 0), at = 0;
	int64_t n = work / p->grain;
	size_t bytes;

	n = n < p->least_workers ? p->least_workers : n;
	n = n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : n;
	p->workers = calloc((size_t)n, sizeof(*p->workers));
	if (__builtin_mul_overflow(each, (size_t)n, &bytes) || !p->workers ||
	    posix_memalign(&p->memory, VECTOR_MAX, bytes) != 0) {
		p->memory = NULL;
		drop_bound(p);
		return err_set(
		    err, ERR_MEMORY,
		    "The system has no memory left for the %lld values that a kernel keeps "
		    "between its passes. Use smaller tensors.",
		    (long long)work);
	}
	for (int64_t i = 0; i < n; i++)
		at = lay_out_worker(p, &p->workers[i], p->memory, at);
	p->n_workers = (int)n;
	return true;
}

/* Where rows are few and long, their chunks are shared among the threads. */
static bool make_chunks(struct plan *p, struct err *err)
{
	bool cols = p->kernel->form == FORM_COLS;
	int64_t chunk = cols ? p->column_chunk : CHUNK, chunks = (p->points + chunk - 1) / chunk;
	size_t count;

	if (p->kernel->form == FORM_MAP || p->n_workers == 1 || chunks < 2 ||
	    p->rows >= MAX_WORKERS)
		return true;
	if (!__builtin_mul_overflow((size_t)chunks * (size_t)p->most_reduces + 1,
				    (size_t)(cols ? p->width : 1), &count))
		p->chunks = calloc(count, sizeof(*p->chunks));
	if (p->chunks)
		return true;
	drop_bound(p);
	return err_set(err, ERR_MEMORY, "The system has no memory left for a long reduction.");
}

/* An int as a float of that dtype, rounded once. */
static double int_as(enum dtype dtype, int64_t i)
{
	return dtype == DTYPE_F32 ? (double)(float)i : (double)i;
}

/* A constant of setup: one vector. */
static void bind_constant(struct plan *p, const struct inst *inst, const int64_t *vars)
{
	int64_t sym = inst->sym ? sym_eval(inst->sym, vars) : inst->imm_i;
	union number value;

	if (inst->real)
		value.f = real_of_bits(sym);
	else if (dtype_category(inst->dtype) == CATEGORY_FLOAT)
		value.f = inst->sym ? int_as(inst->dtype, sym) : inst->imm_f;
	else
		value.i = sym;
	number_fill(inst->dtype, p->ones + inst->dst * VECTOR_MAX, value,
		    VECTOR_MAX / (long)dtype_bytes(inst->dtype));
}

static void bind_constants(struct plan *p, const int64_t *vars)
{
	for (int i = 0; i < p->kernel->n_setup; i++)
		if (p->kernel->setup[i].kind == INST_IMM)
			bind_constant(p, &p->kernel->setup[i], vars);
}

void plan_bind_numbers(struct plan *p, const int64_t *vars)
{
	for (int i = 0; i < p->kernel->n_setup; i++)
		if (p->kernel->setup[i].sym)
			bind_constant(p, &p->kernel->setup[i], vars);
}

/* A MAP whose places are all runs of stride 1 that vectors may overrun. */
static bool is_flat(const struct plan *p)
{
	const struct part *body = &p->parts[part_body(0)];

	for (int k = 0; k < body->n_places; k++) {
		const struct plan_place *at = &body->places[k];
		bool even = p->points * at->bytes % p->kernels->vector_bytes == 0;

		if (!at->direct || at->one || at->inst->kind == INST_SAVE ||
		    at->inst->kind == INST_RESTORE ||
		    (!even && (at->shared || (at->store && (!at->whole || p->exact)))))
			return false;
	}
	return true;
}

/* For how many rows on a place goes in even steps, and how far each is. */
static int64_t find_row_step(struct plan_place *at)
{
	struct plan_walk outer[MAX_RANK];
	int n = 0;

	for (int d = 0; d < at->n_outer; d++)
		n = add_dim(outer, n, at->outer[d].extent, at->outer[d].stride);
	at->row_bytes = n ? outer[n - 1].stride * (int64_t)at->bytes : 0;
	return n ? outer[n - 1].extent : INT64_MAX;
}

/* A ROWS whose rows are one tile each, of places that a pointer is enough for. */
static bool is_quick(struct plan *p)
{
	p->row_run = p->rows;
	if (p->points == 0 || p->points > p->tile)
		return false;
	for (int i = PART_PROLOGUE; i < p->n_parts && p->n_looked_up == 0; i++)
		for (int k = 0; k < p->parts[i].n_places; k++) {
			struct plan_place *at = &p->parts[i].places[k];
			bool slot = at->inst->kind == INST_SAVE || at->inst->kind == INST_RESTORE;
			bool even = p->points * at->bytes % p->kernels->vector_bytes == 0;
			int64_t run = find_row_step(at);

			p->row_run = run < p->row_run ? run : p->row_run;
			if (!slot && !at->one &&
			    (!at->direct || (!even && (at->store || at->shared))))
				return false;
		}
	return p->n_looked_up == 0;
}

enum {
	TURN_LEAST = 16, /* of both dims */
	TURN_POINTS = 1 << 14,
	TURN_BYTES = 64, /* of a line of memory: a block has as many rows as that has elements */
};

/* The dim along which the place's elements lie side by side, though not along the last; -1:
 * it lies along the last, or is the same there; -2: neither. */
static int turned_dim(const struct kernel *k, const struct plan_place *at, const int64_t *vars)
{
	int last = k->n_dims - 1;
	int64_t step = sym_eval(at->inst->at.stride[last], vars);

	if (step == 0 || step == 1)
		return -1;
	for (int d = 0; d < last; d++)
		if (sym_eval(at->inst->at.stride[d], vars) == 1)
			return d;
	return -2;
}

/* Whether a MAP is walked in blocks of two dims. */
static bool bind_turn(struct plan *p, const int64_t *extent, const int64_t *vars)
{
	const struct kernel *k = p->kernel;
	const struct part *body = &p->parts[part_body(0)];
	int last = k->n_dims - 1, dim = -1;
	unsigned bytes = 1;

	if (k->library || last < 1 || extent[last] < TURN_LEAST || p->points < TURN_POINTS)
		return false;
	for (int i = 0; i < body->n_places; i++) {
		struct plan_place *at = &body->places[i];
		int d = at->joined || at->looked_up ? -2 : at->one ? -1 : turned_dim(k, at, vars);

		if (d == -1)
			continue;
		if (d == -2 || at->store || (dim >= 0 && d != dim))
			return false;
		dim = d;
		bytes = at->bytes > bytes ? at->bytes : bytes;
	}
	if (dim < 0 || extent[dim] < TURN_LEAST)
		return false;
	for (int i = 0; i < body->n_places; i++) {
		const struct access *at = &body->places[i].inst->at;

		body->places[i].turn_step = sym_eval(at->stride[dim], vars);
		body->places[i].line_step = sym_eval(at->stride[last], vars);
	}
	p->turn = (struct plan_turn){ .outer = product(extent, 0, dim),
				      .extent = extent[dim],
				      .between = product(extent, dim + 1, last),
				      .line = extent[last],
				      .rows = TURN_BYTES / bytes };
	p->turn.width = TILE_ELEMENTS / p->turn.rows;
	return true;
}

/* How a MAP is shared: never in more parts than there are workers. */
static void bind_map(struct plan *p)
{
	p->flat = is_flat(p);
	p->tiles = (p->points + p->tile - 1) / p->tile;
	p->tiles_grain = p->grain / p->tile;
	if (p->tiles_grain < (p->tiles + p->n_workers - 1) / p->n_workers)
		p->tiles_grain = (p->tiles + p->n_workers - 1) / p->n_workers;
}

bool plan_bind(struct plan *p, const int64_t *vars, struct err *err)
{
	const struct kernel *k = p->kernel;
	int64_t extent[MAX_RANK] = { 0 };

	drop_bound(p);
	for (int d = 0; d < k->n_dims; d++)
		extent[d] = sym_eval(k->extent[d], vars);
	p->n_outer_dims = k->form == FORM_MAP    ? 0
			  : k->form == FORM_COLS ? k->n_outer - 1
						 : k->n_outer;
	memcpy(p->outer_extent, extent, sizeof(*extent) * (size_t)p->n_outer_dims);
	p->rows = product(extent, 0, p->n_outer_dims);
	p->points = product(extent, k->form == FORM_MAP ? 0 : k->n_outer, k->n_dims);
	p->columns = k->form == FORM_COLS ? extent[k->n_outer - 1] : 1;
	for (int i = 0; i < p->n_parts; i++)
		for (int j = 0; j < p->parts[i].n_places; j++)
			bind_place(p, &p->parts[i].places[j], p->parts[i].body, extent, vars);
	p->grain = grain_of(p);
	p->tile = tile_of(p);
	p->block_points = block_points(p);
	p->width = width_of(p);
	p->column_chunk = column_chunk_of(p->points);
	bind_constants(p, vars);
	if (!make_workers(p, err) || !make_chunks(p, err))
		return false;
	if (k->form == FORM_MAP)
		bind_map(p);
	p->turned = k->form == FORM_MAP && bind_turn(p, extent, vars);
	p->quick = k->form == FORM_ROWS && is_quick(p);
	return true;
}
