/* fusion/torch/autocast.c -- torch.autocast, in every host. */
#include "fusion/torch/autocast.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/tensor/tensor.h"

static unsigned on_bit(enum autocast_device device)
{
	return device == AUTOCAST_CPU ? AUTOCAST_ON_CPU : AUTOCAST_ON_CUDA;
}

/* Each device's second dtype has a bit. */
static unsigned dtype_bit(enum autocast_device device)
{
	return device == AUTOCAST_CPU ? AUTOCAST_CPU_HALF : AUTOCAST_CUDA_BFLOAT16;
}

bool autocast_enabled(unsigned mode, enum autocast_device device)
{
	return (mode & on_bit(device)) != 0;
}

enum dtype autocast_dtype(unsigned mode, enum autocast_device device)
{
	bool second = (mode & dtype_bit(device)) != 0;

	return second == (device == AUTOCAST_CPU) ? DTYPE_F16 : DTYPE_BF16;
}

unsigned autocast_enter(unsigned mode, enum autocast_device device, enum dtype dtype, bool enabled,
			bool cache)
{
	bool second = dtype == (device == AUTOCAST_CPU ? DTYPE_F16 : DTYPE_BF16);

	mode &= ~(on_bit(device) | dtype_bit(device) | AUTOCAST_NO_CACHE);
	mode |= (enabled ? on_bit(device) : 0) | (second ? dtype_bit(device) : 0) |
		(cache ? 0 : AUTOCAST_NO_CACHE);
	return mode < AUTOCAST_MAX_BLOCKS * AUTOCAST_BLOCK ? mode + AUTOCAST_BLOCK : mode;
}

unsigned autocast_ambient(enum dtype dtype, bool on_gpu)
{
	unsigned none = on_gpu ? AUTOCAST_RUNS_CUDA : 0;

	if (dtype != DTYPE_F16 && dtype != DTYPE_BF16)
		return none;
	return autocast_enter(none, autocast_place(none), dtype, true, true);
}

static unsigned version_of(struct value t)
{
	return t.tensor->memory ? t.tensor->memory->storage->version : 0;
}

static struct autocast_kept *find(struct autocast *a, struct value t)
{
	for (size_t i = 0; i < a->kept.len; i++)
		if (a->kept.at[i].from.tensor == t.tensor)
			return &a->kept.at[i];
	return NULL;
}

static bool cast_one(const struct autocast *a, struct value t, enum dtype to, struct value *out,
		     struct err *err)
{
	struct value args[2] = { t, { .kind = VALUE_DTYPE, .dtype = to } };

	return a->decomposer->run(
	    a->decomposer->self, &(struct op_call){ OP_to, "fx:", false, args, 2, NULL }, out, err);
}

/* The cast of a parameter, from before where there is one. */
static bool cast_kept(struct autocast *a, struct value t, enum dtype to, struct value *out,
		      struct err *err)
{
	struct autocast_kept *k = find(a, t), fresh = { .from = t };
	bool off = *a->grad_off, ok;

	/* of a trace that has ended there is no node, and what it wrote has a version */
	if (k && k->version == version_of(t) &&
	    (k->node == t.tensor->node || k->node < 0 || t.tensor->node < 0)) {
		*out = value_ref(k->to);
		return true;
	}
	*a->grad_off = false;
	ok = cast_one(a, t, to, out, err);
	*a->grad_off = off;
	if (!ok)
		return false;
	if (!k) {
		if (!VEC_PUSH(&a->kept, fresh)) {
			value_unref(*out);
			return torch_no_memory(err);
		}
		k = &a->kept.at[a->kept.len - 1];
		value_ref(t);
	} else {
		value_unref(k->to);
	}
	k->to = value_ref(*out);
	k->node = t.tensor->node;
	k->version = version_of(t);
	return true;
}

/* Whether a cast in this mode is worth keeping: of a float32 to autocast's own dtype. */
static bool mode_keeps(unsigned mode, enum dtype from, enum dtype to)
{
	return from == DTYPE_F32 && to == autocast_dtype(mode, autocast_place(mode)) &&
	       !(mode & AUTOCAST_NO_CACHE);
}

bool autocast_values(struct autocast *a, unsigned mode, const struct autocast_call *call, bool *any,
		     struct value *cast, struct err *err)
{
	const struct value *values = call->values;
	enum op op = call->op;
	int n = call->n;
	enum dtype dtypes[MAX_ARGS + 1], to;
	enum autocast_device place = autocast_place(mode);
	struct err banned = { 0 };
	int n_tensors = 0, rank;

	*any = false;
	if (op_info(op)->autocast[place] == AUTOCAST_NONE || n > MAX_ARGS + 1)
		return true;
	if (op == OP_einsum && values[0].kind == VALUE_STR && !autocast_sums(values[0].str->text))
		return true;
	for (int i = 0; i < n; i++)
		if (values[i].kind == VALUE_TENSOR &&
		    !a->decomposer->type(a->decomposer->self, values[i], &rank,
					 &dtypes[n_tensors++], err))
			return false;
	if (!autocast_target(
		op, place,
		&(struct autocast_operands){ autocast_dtype(mode, place), dtypes, n_tensors }, &to,
		&banned)) {
		if (banned.code)
			*err = banned;
		return !banned.code;
	}
	*any = true;
	n_tensors = 0;
	for (int i = 0; i < n; i++) {
		enum dtype from = values[i].kind == VALUE_TENSOR ? dtypes[n_tensors++] : to;
		bool changes = from != to && from != DTYPE_F64 &&
			       dtype_category(from) == CATEGORY_FLOAT;

		if (!changes) {
			cast[i] = value_ref(values[i]);
		} else if (!(mode_keeps(mode, from, to) && a->keeps(a->decomposer->self, values[i])
				 ? cast_kept(a, values[i], to, &cast[i], err)
				 : cast_one(a, values[i], to, &cast[i], err))) {
			autocast_drop(cast, i);
			return false;
		}
	}
	return true;
}

void autocast_forget(struct autocast *a)
{
	while (a->kept.len > 0) {
		struct autocast_kept k = a->kept.at[--a->kept.len];

		value_unref(k.from);
		value_unref(k.to);
	}
}
