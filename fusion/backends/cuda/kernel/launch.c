/* fusion/backends/cuda/kernel/launch.c -- grids, parameters, the driver's call. */
#include "fusion/backends/cuda/kernel/kernel.h"

#include <stdlib.h>

#include "fusion/backends/library/library.h"

static bool no_memory(struct device *d, size_t bytes, struct err *err)
{
	const double mib = 1 << 20;

	return err_set(err, ERR_MEMORY,
		       "%s is out of memory: %.1f MiB were asked for a kernel's partial results, "
		       "kernels have %.1f MiB and %.1f MiB are free; use smaller inputs",
		       d->name, (double)bytes / mib, (double)d->memory.own_bytes / mib,
		       (double)d->memory.free_bytes(d) / mib);
}

static int n_values(const struct cuda_kernel *k)
{
	return k->n_buffers + (int)k->numbers.len + (k->sites.len ? 2 : 0) + (k->splits ? 2 : 0) +
	       (k->kernel->n_slots > 0 && !k->registers ? 2 : 0) + (k->turns ? 1 : 0);
}

/* The scratch's, slots' and turn's numbers come after these. */
static uint64_t *after_sites(const struct cuda_launch *l)
{
	const struct cuda_kernel *k = l->kernel;

	return l->values + k->n_buffers + k->numbers.len + (k->sites.len ? 2 : 0);
}

/* Where the device notes an index out of bounds, and for whom. */
static bool give_sites(struct cuda_launch *l, struct device *d, struct launch_fault *fault)
{
	const struct cuda_kernel *k = l->kernel;
	uint64_t *value = after_sites(l) - 2;

	if (k->sites.len == 0)
		return true;
	l->sites = calloc(k->sites.len, sizeof(*l->sites));
	if (!l->sites)
		return false;
	for (size_t i = 0; i < k->sites.len; i++) {
		l->sites[i].node = k->lowered->graph->nodes[k->sites.at[i].node];
		l->sites[i].fault = fault;
	}
	value[0] = (uint64_t)d->fault;
	value[1] = (uint64_t)l->sites;
	return true;
}

bool cuda_launch_create(struct cuda_launch *l, const struct cuda_kernel *k, CUfunction function,
			struct device *d, struct launch_fault *fault, struct err *err)
{
	int n = n_values(k);

	*l = (struct cuda_launch){ .kernel = k,
				   .function = function,
				   .wide = k->lanes > 1 || k->n_staged > 0,
				   .n_params = n };
	l->values = calloc((size_t)n + 1, sizeof(*l->values));
	l->params = calloc((size_t)n + 1, sizeof(*l->params));
	if (!l->values || !l->params || !give_sites(l, d, fault))
		return err_set(err, ERR_MEMORY, "The system has no memory left for a launch.");
	for (int i = 0; i < n; i++)
		l->params[i] = &l->values[i];
	l->block[0] = (unsigned)(k->kernel->form == FORM_COLS ? k->columns : k->threads);
	l->block[1] = (unsigned)(k->kernel->form == FORM_COLS ? k->threads : k->rows_a_block);
	cuda_check(d,
		   d->api.cuOccupancyMaxActiveBlocksPerMultiprocessor(
		       &l->resident, function, (int)(l->block[0] * l->block[1]), 0),
		   "cuOccupancyMaxActiveBlocksPerMultiprocessor");
	return true;
}

void cuda_launch_finish(struct cuda_launch *l)
{
	free(l->values);
	free(l->params);
	free(l->sites);
}

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* How many squares there are along each of their two dims, times all others: blocks. */
static int64_t count_squares(const struct cuda_kernel *c, const int64_t *vars)
{
	const struct kernel *k = c->kernel;
	int64_t side = c->pairs ? CUDA_PAIR_SIDE : CUDA_TURN_THREADS * c->lanes, blocks = 1;

	for (int d = 0; d < (c->pairs ? k->n_outer : k->n_dims); d++) {
		int64_t extent = sym_eval(k->extent[d], vars);
		bool squared = c->pairs ? d >= k->n_outer - 2
					: d == c->turned_dim || d == k->n_dims - 1;

		blocks *= squared ? (extent + side - 1) / side : extent;
	}
	return blocks;
}

/* Blocks that are resident at once keep a whole device busy. */
static void set_grid(struct cuda_launch *l, const struct device *d, const struct cuda_extent *e,
		     const int64_t *vars)
{
	const struct cuda_kernel *k = l->kernel;
	int64_t step = (int64_t)k->threads * k->lanes * k->each, resident, groups, split = 1;

	resident = (int64_t)d->multiprocessors * l->resident;
	if (k->turned_dim >= 0 || k->pairs) {
		groups = count_squares(k, vars);
	} else if (k->kernel->form == FORM_MAP) {
		int64_t points = e->points * e->rows, last;

		if (k->padded && points > 0) {
			last = sym_eval(k->kernel->extent[k->kernel->n_dims - 1], vars);
			points = points / last * k->padded->value;
		}
		groups = ceil_div(points, step);
		/* Blocks that come when others have gone leave less idle at the end than those
		 * that stride; where a thread has little to do, their coming is most of it. */
		if (cuda_kernel_strides(k))
			groups = least(groups, 4 * resident);
	} else {
		groups = k->kernel->form == FORM_COLS
			     ? e->rows * ceil_div(e->columns, k->columns)
			     : ceil_div(e->rows, k->rows_a_block * k->rows_each);
		if (k->splits && groups > 0 && groups < resident / 2)
			split = least(least(resident / groups, ceil_div(e->points, 2 * step)),
				      1024);
	}
	l->grid[0] = (unsigned)groups;
	l->grid[1] = (unsigned)(split > 1 ? split : 1);
}

/* At least so much at *at; what was there is lost.  A block that is being used by
 * launches before is freed only when they are done: cuMemFree waits. */
static bool grow(struct device *d, uint64_t *at, size_t *have, size_t bytes, struct err *err)
{
	if (bytes <= *have)
		return true;
	cuda_release(d, *at, *have);
	*at = cuda_take(d, bytes);
	*have = *at ? bytes : 0;
	if (!*at)
		return no_memory(d, bytes, err);
	d->memory.clear(d, (void *)*at, bytes);
	return true;
}

void cuda_scratch_finish(struct cuda_scratch *s, struct device *d)
{
	cuda_release(d, s->parts, s->parts_bytes);
	cuda_release(d, s->counts, s->counts_bytes);
	cuda_release(d, s->slots, s->slots_bytes);
}

/* Bytes of all slots of a row (COLS: of a block's columns). */
static int64_t slot_bytes(const struct cuda_kernel *c, const struct cuda_extent *e)
{
	const struct kernel *k = c->kernel;
	int64_t bytes = 0;

	for (int s = 0; s < k->n_slots; s++)
		bytes += ((int64_t)dtype_bytes(k->slot_dtype[s]) * e->points *
			      (k->form == FORM_COLS ? c->columns : 1) +
			  63) &
			 ~(int64_t)63;
	return bytes;
}

bool cuda_launch_bind(struct cuda_launch *l, struct device *d, struct cuda_scratch *s,
		      const int64_t *vars, struct err *err)
{
	const struct cuda_kernel *k = l->kernel;
	struct cuda_extent e = cuda_kernel_extent(k->kernel, vars);
	uint64_t *value = l->values + k->n_buffers;

	set_grid(l, d, &e, vars);
	for (size_t i = 0; i < k->numbers.len; i++)
		*value++ = (uint64_t)sym_eval(k->numbers.at[i], vars);
	value = after_sites(l);
	if (k->splits) {
		size_t groups = l->grid[0];
		size_t wide = k->kernel->form == FORM_COLS ? (size_t)k->columns : 1;

		if (l->grid[1] > 1 &&
		    (!grow(d, &s->parts, &s->parts_bytes,
			   groups * l->grid[1] * (size_t)k->n_reduces * wide * 8, err) ||
		     !grow(d, &s->counts, &s->counts_bytes, groups * 4, err)))
			return false;
		value += 2; /* cuda_launch_use_scratch() */
	}
	l->shared_bytes = 0;
	if (k->kernel->n_slots > 0 && !k->registers) {
		int64_t slot = slot_bytes(k, &e);
		int64_t block = slot * (k->kernel->form == FORM_COLS ? 1 : k->rows_a_block);

		value[0] = 0;
		value[1] = (uint64_t)slot;
		if (block <= d->shared_bytes - 16384)
			l->shared_bytes = (unsigned)block;
		else if (!grow(d, &s->slots, &s->slots_bytes, (size_t)block * l->grid[0], err))
			return false;
		else
			value[0] = 1; /* cuda_launch_use_scratch() */
	}
	return true;
}

void cuda_launch_use_scratch(struct cuda_launch *l, const struct cuda_scratch *s)
{
	const struct cuda_kernel *k = l->kernel;
	uint64_t *value = after_sites(l);

	if (k->splits) {
		value[0] = s->parts;
		value[1] = s->counts;
		value += 2;
	}
	if (k->kernel->n_slots > 0 && !k->registers && value[0])
		value[0] = s->slots;
}

static bool attribute(const struct cuda_launch *l, struct device *d, CUfunction_attribute which,
		      int *out)
{
	return d->api.cuFuncGetAttribute(out, which, l->function) == CUDA_SUCCESS;
}

bool cuda_launch_use(const struct cuda_launch *l, struct device *d, struct kernel_use *out)
{
	int threads = (int)(l->block[0] * l->block[1]), blocks, most;

	*out = (struct kernel_use){ .block_threads = threads };
	if (!attribute(l, d, CU_FUNC_ATTRIBUTE_NUM_REGS, &out->registers) ||
	    !attribute(l, d, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &out->shared_bytes) ||
	    !attribute(l, d, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &out->local_bytes) ||
	    d->api.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, l->function, threads,
							       l->shared_bytes) != CUDA_SUCCESS ||
	    d->api.cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
					d->handle) != CUDA_SUCCESS)
		return false;
	out->shared_bytes += (int)l->shared_bytes;
	out->occupancy = most > 0 ? (double)blocks * threads / most : 0;
	return true;
}

bool cuda_launch_fits(const struct cuda_launch *l, void *const *buffers)
{
	uint64_t all = 0;

	for (int i = 0; i < l->kernel->n_buffers; i++)
		all |= (uint64_t)buffers[l->kernel->buffers[i]];
	return !l->wide || all % CUDA_VECTOR_BYTES == 0;
}

void cuda_launch_run(struct cuda_launch *l, struct device *d, void *const *buffers, bool backward)
{
	const struct cuda_kernel *k = l->kernel;
	CUresult result;

	if (l->grid[0] == 0)
		return;
	cuda_launch_point(l, buffers);
	cuda_launch_turn(l, backward);
	d->launches++;
	result = d->api.cuLaunchKernel(l->function, l->grid[0], l->grid[1], 1, l->block[0],
				       l->block[1], 1, l->shared_bytes, d->stream, l->params, NULL);
	if (__builtin_expect(result != CUDA_SUCCESS || d->blocking, 0))
		cuda_check_launch(d, result, k->lowered, k->index);
	else
		cuda_suspect(d, k->lowered, k->index);
}
