/* profiler/measure/restore.c -- puts inputs that a program writes back to what they were.
 *
 * Where the kernels' memory is a device's, so are the copies that they are put back from: made
 * once, apart from the memory that is measured.  A copy within the device is asked for before the
 * clock starts and takes microseconds, where one from the host would take milliseconds, and be
 * made when the next kernel wants it: inside the clock.
 */
#include <stdlib.h>

#include "profiler/measure/lane.h"
#include "profiler/workload/value_json.h"

/* Of the copies, and of the sets that take turns, in all. */
static const size_t pristine_bytes = (size_t)4 << 30;
static const int64_t sets_bytes = INT64_C(1) << 30;

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for the run");
}

static bool on_device(const struct lane *lane)
{
	return allocator_device(fusion_allocator(lane->engine)) != NULL;
}

static void *rows_of(const struct inputs *in, size_t bytes)
{
	void **rows = calloc((size_t)in->n_calls + 1, sizeof(*rows));

	for (int i = 0; rows && i < in->n_calls; i++) {
		rows[i] = calloc((size_t)in->n_args[i] + 1, bytes);
		if (rows[i])
			continue;
		while (i-- > 0)
			free(rows[i]);
		free(rows);
		return NULL;
	}
	return rows;
}

/* ---- what is written */

static bool same_as_given(struct value original, struct value live)
{
	if (value_alike(original, live) && fusion_tensor_as_given(fusion_tensor(live)))
		return true; /* to compare them would fetch it */
	return value_same(original, live);
}

bool lane_note_writes(struct lane *lane, int call, struct err *err)
{
	const struct inputs *in = lane->originals;

	if (!lane->use)
		lane->use = rows_of(in, sizeof(**lane->use));
	if (!lane->use)
		return out_of_memory(err);
	for (int k = 0; k < in->n_args[call]; k++) {
		enum input_use *use = &lane->use[call][k];

		if (*use != USE_WRITTEN)
			*use = same_as_given(in->args[call][k], lane->args[call][k]) ? USE_READ
										     : USE_WRITTEN;
		lane->writes = lane->writes || *use == USE_WRITTEN;
	}
	return true;
}

static enum input_use use_of(const struct lane *lane, int call, int k)
{
	return lane->use ? lane->use[call][k] : USE_UNKNOWN;
}

/* ---- putting back */

/* What an argument is put back from. */
static struct value source_of(struct lane *lane, int call, int k)
{
	const struct inputs *in = lane->originals;
	struct value original = in->args[call][k], *kept;
	struct err ignored = { 0 };

	if (!on_device(lane))
		return original;
	if (!lane->pristine)
		lane->pristine = rows_of(in, sizeof(**lane->pristine));
	if (!lane->pristine_memory)
		lane->pristine_memory = allocator_create_beside(fusion_allocator(lane->engine),
								pristine_bytes);
	if (!lane->pristine || !lane->pristine_memory)
		return original;
	kept = &lane->pristine[call][k];
	if (kept->kind == VALUE_UNSET)
		*kept = value_copy(original, lane->pristine_memory, &ignored);
	return kept->kind == VALUE_UNSET ? original : *kept;
}

static bool renew(struct lane *lane, struct value from, struct value *live, struct err *err)
{
	struct value fresh = value_copy(from, fusion_allocator(lane->engine), err);

	if (fresh.kind == VALUE_UNSET)
		return false;
	value_unref(*live);
	*live = fresh;
	return !lane->grad || fusion_require_grad(lane->session, fresh, err);
}

static bool put_back(struct lane *lane, int call, int k, struct err *err)
{
	struct value *live = &lane->args[call][k], from = source_of(lane, call, k);

	lane->restores++;
	lane->restored_on_device += on_device(lane) && from.kind == VALUE_TENSOR &&
				    allocator_device(fusion_tensor_allocator(fusion_tensor(from)));
	if (value_alike(from, *live)) {
		tensor_copy(fusion_tensor(*live), fusion_tensor(from));
		return true;
	}
	if (from.kind != VALUE_TENSOR && value_same(from, *live))
		return true;
	return renew(lane, from, live, err);
}

bool lane_restore(struct lane *lane, int call, struct err *err)
{
	for (int k = 0; k < lane->originals->n_args[call]; k++)
		if (use_of(lane, call, k) != USE_READ && !put_back(lane, call, k, err))
			return false;
	return true;
}

void lane_drop_pristine(struct lane *lane)
{
	const struct inputs *in = lane->originals;

	for (int i = 0; i < in->n_calls; i++) {
		for (int k = 0; lane->pristine && k < in->n_args[i]; k++)
			value_unref(lane->pristine[i][k]);
		if (lane->pristine)
			free(lane->pristine[i]);
		if (lane->use)
			free(lane->use[i]);
	}
	free(lane->pristine);
	free(lane->use);
	if (lane->pristine_memory)
		allocator_destroy(lane->pristine_memory);
	lane->pristine = NULL;
	lane->use = NULL;
	lane->pristine_memory = NULL;
}

/* ---- sets that take turns */

static int64_t bytes_of(struct value v)
{
	int64_t bytes = 0;

	if (v.kind == VALUE_TENSOR)
		return tensor_numel(fusion_tensor(v)) *
		       (int64_t)dtype_bytes(fusion_tensor(v)->dtype);
	if (v.kind == VALUE_LIST || v.kind == VALUE_TUPLE)
		for (int i = 0; i < value_length(v); i++)
			bytes += bytes_of(value_item(v, i));
	if (v.kind == VALUE_DICT)
		for (int i = 0; i < value_length(v); i++)
			bytes += bytes_of(value_item(v, i));
	return bytes;
}

/* Of all that a set has for itself. */
static int64_t set_bytes(const struct lane *lane)
{
	const struct inputs *in = lane->originals;
	int64_t bytes = 0;

	for (int i = 0; i < lane->n_timed; i++)
		for (int k = 0; k < in->n_args[lane->timed[i]]; k++)
			if (use_of(lane, lane->timed[i], k) != USE_READ)
				bytes += bytes_of(in->args[lane->timed[i]][k]);
	return bytes;
}

static void drop_set(struct lane *lane, struct value **set)
{
	const struct inputs *in = lane->originals;

	for (int i = 0; i < in->n_calls; i++) {
		for (int k = 0; k < in->n_args[i]; k++)
			value_unref(set[i][k]);
		free(set[i]);
	}
	free(set);
}

/* Arguments that are written are fresh, where they are of a timed call; all others are those of
 * the first set. */
static struct value **make_set(struct lane *lane, struct err *err)
{
	const struct inputs *in = lane->originals;
	struct value **set = rows_of(in, sizeof(**set)), **first = lane->args;
	bool ok = true;

	if (!set) {
		out_of_memory(err);
		return NULL;
	}
	for (int i = 0; i < in->n_calls; i++)
		for (int k = 0; k < in->n_args[i]; k++)
			set[i][k] = value_ref(first[i][k]);
	for (int i = 0; ok && i < lane->n_timed; i++) {
		int call = lane->timed[i];

		for (int k = 0; ok && k < in->n_args[call]; k++)
			if (use_of(lane, call, k) != USE_READ)
				ok = renew(lane, source_of(lane, call, k), &set[call][k], err);
	}
	if (ok)
		return set;
	drop_set(lane, set);
	return NULL;
}

bool lane_make_sets(struct lane *lane, int wanted, struct err *err)
{
	int64_t each = set_bytes(lane);
	struct err full = { 0 };

	lane_drop_sets(lane);
	if (each > 0 && wanted > sets_bytes / each)
		wanted = (int)(sets_bytes / each);
	wanted = wanted < 1 ? 1 : wanted;
	lane->sets = calloc((size_t)wanted, sizeof(*lane->sets));
	if (!lane->sets)
		return out_of_memory(err);
	lane->sets[0] = lane->args;
	for (lane->n_sets = 1; lane->n_sets < wanted; lane->n_sets++) {
		struct value **set = make_set(lane, &full);

		if (!set)
			break; /* those that there is memory for will do */
		lane->sets[lane->n_sets] = set;
	}
	lane->most_sets = lane->n_sets;
	return true;
}

void lane_use_set(struct lane *lane, int set)
{
	lane->set = set;
	lane->args = lane->sets[set];
}

void lane_drop_sets(struct lane *lane)
{
	if (!lane->sets)
		return;
	for (int s = 1; s < lane->n_sets; s++)
		drop_set(lane, lane->sets[s]);
	lane->args = lane->sets[0];
	free(lane->sets);
	lane->sets = NULL;
	lane->n_sets = lane->set = 0;
}
