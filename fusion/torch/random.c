/* fusion/torch/random.c -- rand and its like, and whose generator draws: see enum
 * gpu_use. */
#include <string.h>

#include "fusion/vm/frame.h"
#include "fusion/tensor/tensor.h"
#include "fusion/torch/convert.h"
#include "fusion/torch/natives.h"

bool random_on_gpu(const struct decomposer *c, struct value place)
{
	switch (c->gpu ? *c->gpu : GPU_ABSENT) {
	case GPU_DEFAULT:
		return true;
	case GPU_NAMED: /* so all is eager yet */
		return place.kind == VALUE_TENSOR ? place.tensor->memory->storage->on_gpu
						  : random_names_gpu(place);
	default:
		return false;
	}
}

bool random_generator(const struct decomposer *c, struct value place, struct value *out,
		      struct err *err)
{
	const char *name = random_on_gpu(c, place) ? "gpu" : "cpu";

	*out = value_str(name, strlen(name));
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

/* ---- rand, randn, randint */

struct draw_call {
	enum op op;
	struct value low, high; /* of random_ints */
	struct value size, dtype, device;
};

static bool draw(const struct decomposer *c, const struct draw_call *d, const char *name,
		 struct value *out, struct err *err)
{
	struct value values[6], draws;
	int n = 0;
	const char *dot = strrchr(name, '.');
	char fx[64] = "fx:";

	strncat(fx, dot ? dot + 1 : name, 60);
	if (d->op == OP_random_ints) {
		values[n++] = d->low;
		values[n++] = d->high;
	}
	values[n++] = d->size;
	values[n++] = d->dtype;
	if (random_on_gpu(c, d->device)) { /* else as the op's default has it */
		if (!random_generator(c, d->device, &draws, err))
			return false;
		if (d->op != OP_uniform)
			values[n++] = value_bool(false);
		values[n++] = draws;
	}
	return c->run(c->self, &(struct op_call){ d->op, fx, false, values, n, NULL }, out, err);
}

static bool keyword(const struct keywords *kw, const struct value *values, const char *name,
		    struct value *out)
{
	for (int i = 0; kw && i < kw->n; i++)
		if (strcmp(kw->names[i].str->text, name) == 0) {
			*out = values[i];
			return true;
		}
	return false;
}

static bool is_size(struct value v)
{
	return v.kind == VALUE_TUPLE || v.kind == VALUE_LIST;
}

/* (high, size), (low, high, size): how many of the arguments are bounds. */
static int take_bounds(struct draw_call *d, const struct value *args, int n)
{
	if (n > 0 && (n < 2 || is_size(args[1]))) {
		d->high = args[0];
		return 1;
	}
	if (n < 2)
		return 0;
	d->low = args[0];
	d->high = args[1];
	return 2;
}

/* Whether the dtype holds what is drawn; worded as PyTorch does. */
static bool holds_bounds(const struct draw_call *d, struct err *err)
{
	static const struct {
		enum dtype dtype;
		const char *name; /* C++'s */
		int64_t least, most;
	} kinds[] = { { DTYPE_BOOL, "bool", 0, 1 },
		      { DTYPE_U8, "unsigned char", 0, UINT8_MAX },
		      { DTYPE_I8, "signed char", INT8_MIN, INT8_MAX },
		      { DTYPE_I16, "short int", INT16_MIN, INT16_MAX },
		      { DTYPE_I32, "int", INT32_MIN, INT32_MAX } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].dtype != d->dtype.dtype)
			continue;
		if (d->low.kind == VALUE_INT &&
		    (d->low.i < kinds[i].least || d->low.i > kinds[i].most))
			return err_set(err, ERR_OP, "from is out of bounds for %s", kinds[i].name);
		if (d->high.kind == VALUE_INT &&
		    (d->high.i <= kinds[i].least || d->high.i - 1 > kinds[i].most))
			return err_set(err, ERR_OP, "to - 1 is out of bounds for %s",
				       kinds[i].name);
	}
	return true;
}

/* rand(2, 3), rand((2, 3)), randint(low, high, size) */
static bool numbers(const struct decomposer *c, int id, const char *name,
		    const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const all[] = { "low", "high", "size", "dtype", "generator" };
	int positional = args->n - (args->kw ? args->kw->n : 0), at = 0;
	const struct value *named = args->at + positional;
	bool ints = id == MORE_RANDINT, own = false, ok;
	struct draw_call d = { .op = ints              ? OP_random_ints
				     : id == MORE_RAND ? OP_uniform
						       : OP_normal,
			       .low = value_int(0),
			       .high = value_int(1),
			       .dtype = { .kind = VALUE_DTYPE,
					  .dtype = ints ? DTYPE_I64 : *c->real },
			       .device = value_none() };
	struct value given;

	if (!decompose_keywords(name, ints ? all : all + 2, ints ? 5 : 3, named, args->kw, err))
		return false;
	if (keyword(args->kw, named, "generator", &given) && given.kind != VALUE_NONE)
		return err_set(err, ERR_TYPE, "%s: the generator is a torch.Generator, not %s",
			       name, value_type_name(given));
	if (ints) {
		at = take_bounds(&d, args->at, positional);
		keyword(args->kw, named, "high", &d.high);
		keyword(args->kw, named, "low", &d.low);
	}
	if (keyword(args->kw, named, "dtype", &given) &&
	    !convert_dtype(name, given, &d.dtype.dtype, err))
		return false;
	keyword(args->kw, named, "device", &d.device);
	if (!keyword(args->kw, named, "size", &d.size)) {
		own = at >= positional || !is_size(args->at[at]);
		d.size = own ? value_tuple(args->at + at, positional - at) : args->at[at];
		if (d.size.kind == VALUE_UNSET)
			return torch_no_memory(err);
	}
	ok = (!ints || holds_bounds(&d, err)) && draw(c, &d, name, out, err);
	if (own)
		value_unref(d.size);
	return ok;
}

static bool like(const struct decomposer *c, int id, const char *name, const struct arguments *args,
		 struct value *out, struct err *err)
{
	int positional = args->n - (args->kw ? args->kw->n : 0);
	struct draw_call d = { .op = id == MORE_RAND_LIKE ? OP_uniform : OP_normal,
			       .dtype = { .kind = VALUE_DTYPE },
			       .device = value_none() };
	struct value given;
	bool ok;

	if (positional != 1 || args->at[0].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes one tensor", name);
	if (!decompose_keywords(name, (const char *const[]){ "dtype" }, 1, args->at + positional,
				args->kw, err) ||
	    !decompose_sizes(c, args->at[0], &d.size, &d.dtype.dtype, err))
		return false;
	keyword(args->kw, args->at + positional, "device", &d.device);
	ok = (!keyword(args->kw, args->at + positional, "dtype", &given) ||
	      convert_dtype(name, given, &d.dtype.dtype, err)) &&
	     draw(c, &d, name, out, err);
	value_unref(d.size);
	return ok;
}

bool random_call(const struct decomposer *c, int id, const char *name, const struct arguments *args,
		 struct value *out, struct err *err)
{
	return id == MORE_RAND_LIKE || id == MORE_RANDN_LIKE ? like(c, id, name, args, out, err)
							     : numbers(c, id, name, args, out, err);
}
