/* profiler/measure/restore.c -- puts inputs that a program writes back to what they were.
 *
 * Where the kernels' memory is a device's, so are the copies that they are put back from: made
 * once, apart from the memory that is measured.  A copy within the device is asked for before the
 * clock starts and takes microseconds, where one from the host would take milliseconds, and be
 * made when the next kernel wants it: inside the clock.
 */
#include <stdlib.h>

#include "profiler/measure/candidate.h"
#include "profiler/workload/value_json.h"

/* Of the copies, and of the sets that take turns, in all. */
static const size_t pristine_bytes = (size_t)4 << 30;
static const int64_t sets_bytes = INT64_C(1) << 30;

static bool out_of_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for the run");
}

static bool on_device(const struct candidate *candidate)
{
	return allocator_device(fusion_allocator(candidate->engine)) != NULL;
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

bool candidate_note_writes(struct candidate *candidate, int call, struct err *err)
{
	const struct inputs *in = candidate->originals;

	if (!candidate->use)
		candidate->use = rows_of(in, sizeof(**candidate->use));
	if (!candidate->use)
		return out_of_memory(err);
	for (int k = 0; k < in->n_args[call]; k++) {
		enum input_use *use = &candidate->use[call][k];

		if (*use != USE_WRITTEN)
			*use = same_as_given(in->args[call][k], candidate->args[call][k])
				   ? USE_READ
				   : USE_WRITTEN;
		candidate->writes = candidate->writes || *use == USE_WRITTEN;
	}
	return true;
}

static enum input_use use_of(const struct candidate *candidate, int call, int k)
{
	return candidate->use ? candidate->use[call][k] : USE_UNKNOWN;
}

/* ---- putting back */

/* What an argument is put back from. */
static struct value source_of(struct candidate *candidate, int call, int k)
{
	const struct inputs *in = candidate->originals;
	struct value original = in->args[call][k], *kept;
	struct err ignored = { 0 };

	if (!on_device(candidate) || in->own[call][k])
		return original;
	if (!candidate->pristine)
		candidate->pristine = rows_of(in, sizeof(**candidate->pristine));
	if (!candidate->pristine_memory)
		candidate->pristine_memory = allocator_create_beside(
		    fusion_allocator(candidate->engine), pristine_bytes);
	if (!candidate->pristine || !candidate->pristine_memory)
		return original;
	kept = &candidate->pristine[call][k];
	if (kept->kind == VALUE_UNSET)
		*kept = value_copy(original, candidate->pristine_memory, &ignored);
	return kept->kind == VALUE_UNSET ? original : *kept;
}

static bool renew(struct candidate *candidate, int call, int k, struct value *live, struct err *err)
{
	struct value fresh = candidate_argument(candidate, call, k, source_of(candidate, call, k),
						err);

	if (fresh.kind == VALUE_UNSET)
		return false;
	value_unref(*live);
	*live = fresh;
	return true;
}

static bool put_back(struct candidate *candidate, int call, int k, struct err *err)
{
	struct value *live = &candidate->args[call][k], from = source_of(candidate, call, k);

	candidate->restores++;
	candidate->restored_on_device += on_device(candidate) && from.kind == VALUE_TENSOR &&
					 allocator_device(
					     fusion_tensor_allocator(fusion_tensor(from)));
	if (value_alike(from, *live)) {
		tensor_copy(fusion_tensor(*live), fusion_tensor(from));
		return true;
	}
	if (from.kind != VALUE_TENSOR && value_same(from, *live))
		return true;
	return renew(candidate, call, k, live, err);
}

bool candidate_restore(struct candidate *candidate, int call, struct err *err)
{
	for (int k = 0; k < candidate->originals->n_args[call]; k++)
		if (use_of(candidate, call, k) != USE_READ && !put_back(candidate, call, k, err))
			return false;
	return true;
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
static int64_t set_bytes(const struct candidate *candidate)
{
	const struct inputs *in = candidate->originals;
	int64_t bytes = 0;

	for (int i = 0; i < candidate->n_timed; i++)
		for (int k = 0; k < in->n_args[candidate->timed[i]]; k++)
			if (use_of(candidate, candidate->timed[i], k) != USE_READ)
				bytes += bytes_of(in->args[candidate->timed[i]][k]);
	return bytes;
}

static void drop_set(struct candidate *candidate, struct value **set)
{
	const struct inputs *in = candidate->originals;

	for (int i = 0; i < in->n_calls; i++) {
		for (int k = 0; k < in->n_args[i]; k++)
			value_unref(set[i][k]);
		free(set[i]);
	}
	free(set);
}

/* Arguments that are written are fresh, where they are of a timed call; all others are those of
 * the first set. */
static struct value **make_set(struct candidate *candidate, struct err *err)
{
	const struct inputs *in = candidate->originals;
	struct value **set = rows_of(in, sizeof(**set)), **first = candidate->args;
	bool ok = true;

	if (!set) {
		out_of_memory(err);
		return NULL;
	}
	for (int i = 0; i < in->n_calls; i++)
		for (int k = 0; k < in->n_args[i]; k++)
			set[i][k] = value_ref(first[i][k]);
	for (int i = 0; ok && i < candidate->n_timed; i++) {
		int call = candidate->timed[i];

		for (int k = 0; ok && k < in->n_args[call]; k++)
			if (use_of(candidate, call, k) != USE_READ)
				ok = renew(candidate, call, k, &set[call][k], err);
	}
	if (ok)
		return set;
	drop_set(candidate, set);
	return NULL;
}

bool candidate_make_sets(struct candidate *candidate, int wanted, struct err *err)
{
	int64_t each = set_bytes(candidate);
	struct err full = { 0 };

	candidate_drop_sets(candidate);
	if (each > 0 && wanted > sets_bytes / each)
		wanted = (int)(sets_bytes / each);
	wanted = wanted < 1 ? 1 : wanted;
	candidate->sets = calloc((size_t)wanted, sizeof(*candidate->sets));
	if (!candidate->sets)
		return out_of_memory(err);
	candidate->sets[0] = candidate->args;
	for (candidate->n_sets = 1; candidate->n_sets < wanted; candidate->n_sets++) {
		struct value **set = make_set(candidate, &full);

		if (!set)
			break; /* those that there is memory for will do */
		candidate->sets[candidate->n_sets] = set;
	}
	candidate->most_sets = candidate->n_sets;
	return true;
}

void candidate_drop_sets(struct candidate *candidate)
{
	if (!candidate->sets)
		return;
	for (int s = 1; s < candidate->n_sets; s++)
		drop_set(candidate, candidate->sets[s]);
	candidate->args = candidate->sets[0];
	free(candidate->sets);
	candidate->sets = NULL;
	candidate->n_sets = candidate->set = 0;
}
