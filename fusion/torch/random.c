/* fusion/torch/random.c -- rand and its like, and whose generator draws: see enum
 * gpu_use. */
#include <string.h>

#include "fusion/vm/frame.h"
#include "fusion/tensor/tensor.h"
#include "fusion/torch/convert.h"
#include "fusion/torch/natives.h"

bool random_names_gpu(struct value device)
{
	return device.kind == VALUE_INT ||
	       (device.kind == VALUE_STR && strncmp(device.str->text, "cpu", 3) != 0);
}

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

void random_set_device(const struct decomposer *c, struct value device)
{
	if (c->gpu && *c->gpu != GPU_ABSENT && random_names_gpu(device))
		*c->gpu = GPU_DEFAULT;
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

/* rand(2, 3), rand((2, 3)), randint(low, high, size) */
static bool numbers(const struct decomposer *c, int id, const char *name,
		    const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const all[] = { "low", "high", "size", "dtype" };
	int positional = args->n - (args->kw ? args->kw->n : 0), at = 0;
	const struct value *named = args->at + positional;
	bool ints = id == MORE_RANDINT, own = false, ok;
	struct draw_call d = { .op = ints              ? OP_random_ints
				     : id == MORE_RAND ? OP_uniform
						       : OP_normal,
			       .low = value_int(0),
			       .high = value_int(1),
			       .dtype = { .kind = VALUE_DTYPE,
					  .dtype = ints ? DTYPE_I64 : DTYPE_F32 },
			       .device = value_none() };
	struct value given;

	if (!decompose_keywords(name, ints ? all : all + 2, ints ? 4 : 2, named, args->kw, err))
		return false;
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
	ok = draw(c, &d, name, out, err);
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

/* ---- the state of the CPU's generator */

/* As many bytes as PyTorch's have: the generator's, and zeros. */
enum { STATE_BYTES = 5056 };
_Static_assert(sizeof(struct twister) <= STATE_BYTES, "a state has room for the generator");

static bool get_rng_state(const struct torch_memory *memory, struct value *out, struct err *err)
{
	const int64_t size = STATE_BYTES;
	struct tensor *t = tensor_create(memory->allocator, DTYPE_U8, 1, &size, err);

	if (!t)
		return false;
	memset(tensor_data(t), 0, STATE_BYTES);
	if (memory->random)
		memcpy(tensor_data(t), &memory->random->cpu, sizeof(memory->random->cpu));
	*out = tensor_wrap(t);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

static bool set_rng_state(const struct torch_memory *memory, struct value state, struct value *out,
			  struct err *err)
{
	const struct tensor *t;
	struct twister next;

	if (state.kind != VALUE_TENSOR || !state.tensor->memory ||
	    state.tensor->memory->dtype != DTYPE_U8 ||
	    tensor_numel(state.tensor->memory) != STATE_BYTES)
		return err_set(err, ERR_TYPE,
			       "RNG state must be a torch.ByteTensor of %d elements, as "
			       "get_rng_state() gives it",
			       STATE_BYTES);
	t = state.tensor->memory;
	for (size_t i = 0; i < sizeof(next); i++)
		((uint8_t *)&next)[i] = (uint8_t)tensor_get_int(t, (int64_t)i);
	if (next.at < 0 || next.at > TWISTER_WORDS || *(const uint8_t *)&next.kept > 1)
		return err_set(err, ERR_VALUE, "set_rng_state: this is no state of a generator");
	if (memory->random)
		memory->random->cpu = next;
	*out = value_none();
	return true;
}

bool random_state_call(const struct torch_memory *memory, int id, struct value argument,
		       struct value *out, struct err *err)
{
	*out = value_none();
	if (!memory)
		return err_set(err, ERR_UNSUPPORTED, "a graph has no state of a generator");
	switch (id) {
	case MORE_RNG_STATE:
		return get_rng_state(memory, out, err);
	case MORE_SET_RNG_STATE:
		return set_rng_state(memory, argument, out, err);
	case MORE_INITIAL_SEED:
		*out = value_int(memory->random ? (int64_t)memory->random->gpu.seed : 0);
		return true;
	default: /* torch._C._cpu_seed: no GPU's is seeded with it */
		if (argument.kind != VALUE_INT)
			return err_set(err, ERR_TYPE, "manual_seed takes an int");
		if (memory->random)
			twister_seed(&memory->random->cpu, (uint64_t)argument.i);
		return true;
	}
}
