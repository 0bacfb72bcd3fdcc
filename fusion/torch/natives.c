/* fusion/torch/natives.c -- calls that no row of ops.def takes as they are: which, and
 * the simple ones. */
#include "fusion/torch/natives.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fusion/torch/bind.h"
#include "fusion/weights/weights.h"

/* ---- Calls whose keyword makes them other ops.
 *
 * round(x, decimals=2) and scatter(x, dim, index, src, reduce="add"), and their forms
 * in place. */

static bool is_inplace(int id)
{
	return id >= NATIVE_INPLACE;
}

static int plain_id(int id)
{
	return is_inplace(id) ? id - NATIVE_INPLACE : id;
}

/* an op that a keyword makes another one, as round(decimals=), or in place. */
static bool keyword_wants(const struct native *f, const struct keywords *kw)
{
	int id = plain_id(f->id);

	for (int i = 0; kw && i < kw->n; i++)
		if ((id == OP_round && strcmp(kw->names[i].str->text, "decimals") == 0) ||
		    (id == OP_scatter && strcmp(kw->names[i].str->text, "reduce") == 0))
			return true;
	return false;
}

/* op(*at, operand) in the place of *at. */
static bool apply(const struct decomposer *c, enum op op, const char *name, struct value operand,
		  struct value *at, struct err *err)
{
	struct value next;
	bool ok = c->run(c->self,
			 &(struct op_call){ op, name, false, (struct value[]){ *at, operand },
					    operand.kind == VALUE_UNSET ? 1 : 2, NULL },
			 &next, err);

	value_unref(*at);
	*at = ok ? next : value_none();
	return ok;
}

/* As torch: nearbyint(x * 10^d) / 10^d, and the other way round below 0, each step in
 * the dtype of x. */
static bool round_decimals(const struct decomposer *c, const char *name, const struct value *v,
			   struct value *out, struct err *err)
{
	enum dtype dtype;
	int64_t decimals;
	struct value power;
	int rank;

	if (v[0].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "round takes a tensor, not %s",
			       value_type_name(v[0]));
	if (!decompose_number(c, v[1], "decimals", &decimals, err) ||
	    !c->type(c->self, v[0], &rank, &dtype, err))
		return false;
	if (decimals == 0)
		return c->run(c->self, &(struct op_call){ OP_round, name, false, v, 1, NULL }, out,
			      err);
	if (dtype_category(dtype) != CATEGORY_FLOAT)
		return err_set(err, ERR_UNSUPPORTED,
			       "round: decimals takes a tensor of floats, not %s",
			       dtype_name(dtype));
	power = value_float(pow(10, fabs((double)decimals)));
	*out = value_ref(v[0]);
	return apply(c, decimals > 0 ? OP_mul : OP_truediv, "fx:", power, out, err) &&
	       apply(c, OP_round, "fx:", (struct value){ .kind = VALUE_UNSET }, out, err) &&
	       apply(c, decimals > 0 ? OP_truediv : OP_mul, name, power, out, err);
}

/* A number in the sizes of the index: scatter_add takes tensors. */
static bool source(const struct decomposer *c, struct value index, struct value src,
		   enum dtype dtype, struct value *out, struct err *err)
{
	struct value to = { .kind = VALUE_DTYPE, .dtype = dtype };

	if (src.kind == VALUE_TENSOR) {
		*out = value_ref(src);
		return true;
	}
	*out = value_ref(index);
	return apply(c, OP_to, "fx:", to, out, err) && apply(c, OP_fill, "fx:", src, out, err);
}

/* v: x, dim, index, src, value, reduce */
static bool scatter_reduce(const struct decomposer *c, const char *name, const struct value *v,
			   struct value *out, struct err *err)
{
	struct value src;
	enum dtype dtype;
	int rank;
	bool ok;

	if (v[5].kind != VALUE_STR ||
	    (strcmp(v[5].str->text, "add") != 0 && strcmp(v[5].str->text, "multiply") != 0))
		return err_set(err, ERR_OP, "scatter: reduce is 'add' or 'multiply'");
	if (strcmp(v[5].str->text, "multiply") == 0)
		return err_set(err, ERR_OP,
			       "scatter: reduce='multiply' is not in the language; write "
			       "x.scatter_reduce(dim, index, src, 'prod')");
	if (v[0].kind != VALUE_TENSOR || v[2].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "scatter takes a tensor and one of indices");
	if (!c->type(c->self, v[0], &rank, &dtype, err) ||
	    !source(c, v[2], v[3].kind == VALUE_UNSET ? v[4] : v[3], dtype, &src, err))
		return false;
	ok = c->run(c->self,
		    &(struct op_call){ OP_scatter_add, name, false,
				       (struct value[]){ v[0], v[1], v[2], src }, 4, NULL },
		    out, err);
	value_unref(src);
	return ok;
}

static bool keyword_call(const struct decomposer *c, int id, const char *name,
			 const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const round_names[] = { "input", "decimals" };
	static const char *const scatter_names[] = { "input", "dim",   "index",
						     "src",   "value", "reduce" };
	const char *dot = strrchr(name, '.');
	bool rounds = plain_id(id) == OP_round, ok;
	struct value v[6], made;
	char fx[64] = "fx:";

	strncat(fx, dot ? dot + 1 : name, 60);
	ok = rounds ? decompose_args(name, &(struct parameter_names){ round_names, 2, 2 }, args, v,
				     err)
		    : decompose_args(name, &(struct parameter_names){ scatter_names, 6, 3 }, args,
				     v, err);
	if (!ok)
		return false;
	if (!is_inplace(id))
		return rounds ? round_decimals(c, fx, v, out, err)
			      : scatter_reduce(c, fx, v, out, err);
	ok = rounds ? round_decimals(c, "fx:", v, &made, err)
		    : scatter_reduce(c, "fx:", v, &made, err);
	if (!ok)
		return false;
	ok = c->run(c->self,
		    &(struct op_call){ OP_fill, fx, true, (struct value[]){ v[0], made }, 2, NULL },
		    out, err);
	value_unref(made);
	return ok;
}

/* ---- torch.tensor of what is a tensor, or has some, and
 * torch.Tensor(...), the constructor of old. */

/* Spelt so, a call has no name in FX. */
static const char PART[] = "torch.";

static bool is_list(struct value v)
{
	return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
}

static bool has_tensor(struct value v, int depth)
{
	if (!is_list(v))
		return v.kind == VALUE_TENSOR;
	for (int i = 0; i < v.list->len && depth < MAX_RANK; i++)
		if (has_tensor(v.list->at[i], depth + 1))
			return true;
	return false;
}

/* torch.tensor with tensors in its data, torch.Tensor(...). */
static bool literal_wants(const struct native *f, const struct value *args, int n)
{
	if (f->id == NATIVE_TENSOR)
		return true;
	return f->id == OP_tensor && n > 0 && has_tensor(args[0], 0);
}

static bool call(const struct decomposer *c, const char *name, int id, const struct arguments *args,
		 struct value *out, struct err *err)
{
	struct value f = value_native(name, id, false, (struct value){ .kind = VALUE_UNSET });
	bool ok;

	if (f.kind == VALUE_UNSET)
		return torch_no_memory(err);
	ok = c->host->call(c->host->self, f.native, args, out, err);
	value_unref(f);
	return ok;
}

static bool put_together(const struct decomposer *c, struct value v, const char *name,
			 struct value *out, struct err *err);

/* [a, [b, c]]: as nested stacks; numbers among tensors become tensors. */
static bool stack(const struct decomposer *c, struct value v, const char *name, struct value *out,
		  struct err *err)
{
	struct value items = value_list(NULL, 0), item;
	bool ok = items.kind != VALUE_UNSET || torch_no_memory(err);

	for (int i = 0; ok && i < v.list->len; i++) {
		ok = put_together(c, v.list->at[i], PART, &item, err);
		if (!ok)
			break;
		ok = value_list_push(items.list, item) || torch_no_memory(err);
		value_unref(item);
	}
	ok = ok && call(c, name, NATIVE_STACK, &(struct arguments){ &items, 1, NULL }, out, err);
	value_unref(items);
	return ok;
}

static bool put_together(const struct decomposer *c, struct value v, const char *name,
			 struct value *out, struct err *err)
{
	struct value empty, copy;
	bool ok;

	if (is_list(v) && v.list->len > 0)
		return stack(c, v, name, out, err);
	if (v.kind != VALUE_TENSOR)
		return call(c, "fx:", OP_tensor, &(struct arguments){ &v, 1, NULL }, out, err);
	if (name == PART) { /* an element: one number, whatever its dims */
		empty = value_tuple(NULL, 0);
		if (empty.kind == VALUE_UNSET)
			return torch_no_memory(err);
		ok = c->run(c->self,
			    &(struct op_call){ OP_reshape, "fx:", false,
					       (struct value[]){ v, empty }, 2, NULL },
			    &copy, err);
		value_unref(empty);
	} else {
		ok = c->run(c->self, &(struct op_call){ OP_clone, "fx:", false, &v, 1, NULL },
			    &copy, err);
	}
	if (!ok)
		return false;
	ok = c->run(c->self,
		    &(struct op_call){ OP_detach, name == PART ? "fx:" : "fx:tensor", false, &copy,
				       1, NULL },
		    out, err);
	value_unref(copy);
	return ok;
}

/* torch.tensor(data, dtype=) with a tensor in data. */
static bool of_tensors(const struct decomposer *c, const struct arguments *args, struct value *out,
		       struct err *err)
{
	struct value to = { .kind = VALUE_DTYPE, .dtype = DTYPE_COUNT }, made, data;
	int rank;
	enum dtype dtype;
	bool ok;

	if (!bind_tensor_call(args, &data, &to.dtype, err))
		return false;
	if (to.dtype == DTYPE_COUNT)
		return put_together(c, data, "torch.tensor", out, err);
	if (!put_together(c, data, "torch.tensor", &made, err))
		return false;
	if (!c->type(c->self, made, &rank, &dtype, err))
		return false;
	if (dtype == to.dtype) {
		*out = made;
		return true;
	}
	ok = c->run(c->self,
		    &(struct op_call){ OP_to, "fx:", false, (struct value[]){ made, to }, 2, NULL },
		    out, err);
	value_unref(made);
	return ok;
}

/* torch.Tensor(2, 3): of these sizes, unset in torch; torch.Tensor([1, 2]): these. */
static bool literal_call(const struct decomposer *c, const struct native *f,
			 const struct arguments *args, struct value *out, struct err *err)
{
	struct value dtype = { .kind = VALUE_DTYPE, .dtype = *c->real }, name, size, values[2];
	struct keywords as = { .n = 1, .names = &name };
	bool ok;

	if (f->id == OP_tensor)
		return of_tensors(c, args, out, err);
	name = value_str("dtype", strlen("dtype"));
	if (name.kind == VALUE_UNSET)
		return torch_no_memory(err);
	if (args->n == 1 && (is_list(args->at[0]) || args->at[0].kind == VALUE_TENSOR) &&
	    !(is_list(args->at[0]) && args->at[0].list->is_size)) {
		values[0] = args->at[0];
		values[1] = dtype;
		ok = call(c, "torch.tensor", OP_tensor, &(struct arguments){ values, 2, &as }, out,
			  err);
	} else {
		size = args->n == 1 && is_list(args->at[0]) ? value_ref(args->at[0])
							    : value_tuple(args->at, args->n);
		if (args->n == 0 && size.kind != VALUE_UNSET) { /* empty */
			value_unref(size);
			size = value_tuple((struct value[]){ value_int(0) }, 1);
		}
		ok = size.kind != VALUE_UNSET || torch_no_memory(err);
		values[0] = size;
		values[1] = dtype;
		ok = ok && call(c, "torch.zeros", OP_zeros, &(struct arguments){ values, 2, &as },
				out, err);
		value_unref(size);
	}
	value_unref(name);
	return ok;
}

static const struct {
	const char *spellings, *parameters;
	enum break_id why;
} natives[] = {
#define NATIVE(id, spellings, parameters, why) { spellings, parameters, BREAK_##why },
#include "fusion/torch/natives.def"
#undef NATIVE
};

int natives_find(const char *spelling)
{
	size_t len = strlen(spelling);

	for (int i = 0; i < MORE_END - MORE_FIRST - 1; i++)
		for (const char *at = natives[i].spellings; (at = strstr(at, spelling)); at++)
			if ((at == natives[i].spellings || at[-1] == ' ') &&
			    (at[len] == ' ' || at[len] == '\0'))
				return MORE_FIRST + 1 + i;
	return -1;
}

void natives_offer(const char *scope, struct nearest *n, char kept[NATIVE_NAME_BYTES])
{
	size_t len = strlen(scope);

	for (size_t i = 0; i < sizeof(natives) / sizeof(natives[0]); i++)
		for (const char *at = natives[i].spellings; *at; at += strspn(at, " ")) {
			char name[NATIVE_NAME_BYTES];
			struct nearest with = *n;
			size_t word = strcspn(at, " ");

			snprintf(name, sizeof(name), "%.*s", word > len ? (int)(word - len - 1) : 0,
				 at + (word > len ? len + 1 : 0));
			if (word > len + 1 && strncmp(at, scope, len) == 0 && at[len] == '.' &&
			    !strchr(name, '.'))
				nearest_offer(&with, name);
			if (with.best == name) {
				memcpy(kept, name, sizeof(name));
				n->best = kept;
				n->distance = with.distance;
			}
			at += word;
		}
}

enum break_id natives_break(int id)
{
	return id > MORE_FIRST && id < MORE_END ? natives[id - MORE_FIRST - 1].why : BREAK_NONE;
}

static bool has_keyword(const struct keywords *kw, const char *name)
{
	for (int i = 0; kw && i < kw->n; i++)
		if (strcmp(kw->names[i].str->text, name) == 0)
			return true;
	return false;
}

/* x.to(dtype), by position or by name: the host does that itself. */
static bool is_plain_to(const struct arguments *args)
{
	return args->n == 1 && args->at[0].kind == VALUE_DTYPE &&
	       (!args->kw || args->kw->n == 0 || has_keyword(args->kw, "dtype"));
}

bool natives_among(const struct native *f, const struct arguments *args)
{
	bool method = f->self.kind == VALUE_TENSOR;

	if (f->id > MORE_FIRST && f->id < MORE_END)
		return true;
	if (has_keyword(args->kw, "out") || keyword_wants(f, args->kw) ||
	    literal_wants(f, args->at, args->n))
		return true;
	if (f->id >= OP_COUNT)
		return false;
	if (f->id == OP_max || f->id == OP_min)
		return args->n > (method ? 0 : 1);
	if (f->id == OP_to)
		return method && !is_plain_to(args);
	if (f->id == OP_clone || f->id == OP_contiguous)
		return has_keyword(args->kw, "memory_format");
	if (f->id == OP_where) /* where(condition) is nonzero */
		return args->n + method == 1;
	if (f->id == OP_view) /* x.view(torch.int32) */
		return method && args->n == 1 && args->at[0].kind == VALUE_DTYPE;
	return op_has((enum op)f->id, FACT_TUPLE);
}

static bool record(const char *const *fields, const char *type, const struct value *items, int n,
		   struct value *out, struct err *err)
{
	*out = value_tuple(items, n);
	for (int i = 0; i < n; i++)
		value_unref(items[i]);
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	out->list->fields = fields;
	out->list->type_name = type;
	return true;
}

static enum dtype one_dtype(const struct value *args, int n, enum dtype otherwise)
{
	return n > 0 && args[0].kind == VALUE_DTYPE ? args[0].dtype : otherwise;
}

static bool float_info(enum dtype dtype, struct value *out, struct err *err)
{
	static const char *const fields[] = { "resolution",      "min",  "max", "eps",
					      "smallest_normal", "tiny", "bits" };
	static const struct {
		double resolution, max, eps, tiny;
	} rows[DTYPE_COUNT] = {
		[DTYPE_F16] = { 1e-3, 65504, 0x1p-10, 0x1p-14 },
		[DTYPE_BF16] = { 1e-2, 0x1.fep127, 0x1p-7, 0x1p-126 },
		[DTYPE_F32] = { 1e-6, 0x1.fffffep127, 0x1p-23, 0x1p-126 },
		[DTYPE_F64] = { 1e-15, DBL_MAX, DBL_EPSILON, DBL_MIN },
	};
	struct value items[7];

	if (dtype_category(dtype) != CATEGORY_FLOAT)
		return err_set(err, ERR_TYPE, "torch.finfo takes a floating point dtype, not %s",
			       dtype_name(dtype));
	items[0] = value_float(rows[dtype].resolution);
	items[1] = value_float(-rows[dtype].max);
	items[2] = value_float(rows[dtype].max);
	items[3] = value_float(rows[dtype].eps);
	items[4] = items[5] = value_float(rows[dtype].tiny);
	items[6] = value_int((int64_t)dtype_bytes(dtype) * 8);
	return record(fields, "finfo", items, 7, out, err);
}

static bool int_info(enum dtype dtype, struct value *out, struct err *err)
{
	static const char *const fields[] = { "min", "max", "bits" };
	int bits = (int)dtype_bytes(dtype) * 8;
	int64_t max = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
	struct value items[3] = { value_int(-max - 1), value_int(max), value_int(bits) };

	if (dtype_category(dtype) != CATEGORY_INT)
		return err_set(err, ERR_TYPE, "torch.iinfo takes an int dtype, not %s",
			       dtype_name(dtype));
	if (dtype_promote(dtype, DTYPE_BOOL) == dtype && strcmp(dtype_name(dtype), "uint8") == 0) {
		items[0] = value_int(0);
		items[1] = value_int(255);
	}
	return record(fields, "iinfo", items, 3, out, err);
}

static bool set_seed(const struct torch_memory *memory, const struct value *args, int n,
		     struct value *out, struct err *err)
{
	if (n != 1 || args[0].kind != VALUE_INT)
		return err_set(err, ERR_TYPE, "torch.manual_seed takes an int");
	if (memory && memory->random)
		generators_seed(memory->random, (uint64_t)args[0].i);
	*out = value_none();
	return true;
}

static bool set_gpu_seed(const struct torch_memory *memory, const struct value *args, int n,
			 struct value *out, struct err *err)
{
	if (n != 1 || args[0].kind != VALUE_INT)
		return err_set(err, ERR_TYPE, "torch.cuda.manual_seed takes an int");
	if (memory && memory->random) {
		memory->random->gpu.seed = (uint64_t)args[0].i;
		memory->random->gpu.offset = 0;
	}
	*out = value_none();
	return true;
}

/* What a generator keeps: the words of the CPU's, the place of the next, the number that is left of
 * a pair and whether there is one, a GPU's seed and offset. */
enum { STATE_ITEMS = TWISTER_WORDS + 5 };

static bool generator_state(const struct torch_memory *memory, struct value *out, struct err *err)
{
	static const struct generators none = { 0 };
	const struct generators *g = memory && memory->random ? memory->random : &none;
	struct value items[STATE_ITEMS];

	for (int i = 0; i < TWISTER_WORDS; i++)
		items[i] = value_int(g->cpu.word[i]);
	items[TWISTER_WORDS] = value_int(g->cpu.at);
	items[TWISTER_WORDS + 1] = value_float(g->cpu.normal);
	items[TWISTER_WORDS + 2] = value_bool(g->cpu.kept);
	items[TWISTER_WORDS + 3] = value_int((int64_t)g->gpu.seed);
	items[TWISTER_WORDS + 4] = value_int((int64_t)g->gpu.offset);
	*out = value_tuple(items, STATE_ITEMS);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

static bool is_state(const struct value *args, int n)
{
	const struct value *at = n == 1 && args[0].kind == VALUE_TUPLE ? args[0].list->at : NULL;
	int ints = 0;

	if (!at || args[0].list->len != STATE_ITEMS)
		return false;
	for (int i = 0; i < STATE_ITEMS; i++)
		ints += at[i].kind == VALUE_INT;
	return ints == STATE_ITEMS - 2 && at[TWISTER_WORDS + 1].kind == VALUE_FLOAT &&
	       at[TWISTER_WORDS + 2].kind == VALUE_BOOL && at[TWISTER_WORDS].i >= 0 &&
	       at[TWISTER_WORDS].i <= TWISTER_WORDS;
}

static bool set_generator(const struct torch_memory *memory, const struct value *args, int n,
			  struct value *out, struct err *err)
{
	struct generators *g = memory ? memory->random : NULL;
	const struct value *at;

	if (!is_state(args, n))
		return err_set(err, ERR_TYPE,
			       "the state of a generator is what get_state() or get_rng_state() "
			       "gave");
	*out = value_none();
	at = args[0].list->at;
	for (int i = 0; g && i < TWISTER_WORDS; i++)
		g->cpu.word[i] = (uint32_t)at[i].i;
	if (g) {
		g->cpu.at = (int)at[TWISTER_WORDS].i;
		g->cpu.normal = at[TWISTER_WORDS + 1].f;
		g->cpu.kept = at[TWISTER_WORDS + 2].b;
		g->gpu.seed = (uint64_t)at[TWISTER_WORDS + 3].i;
		g->gpu.offset = (uint64_t)at[TWISTER_WORDS + 4].i;
	}
	return true;
}

/* torch.device("cuda:1"), torch.device("cuda", 1), torch.device(1): its name. */
static bool device_named(const struct value *args, int n, struct value *out, struct err *err)
{
	struct value type = n > 0 ? args[0] : value_none(), index = n > 1 ? args[1] : value_none();
	char text[64];

	if (n == 1 && type.kind == VALUE_INT && type.i >= 0) {
		snprintf(text, sizeof(text), "cuda:%lld", (long long)type.i);
	} else if (n < 1 || n > 2 || type.kind != VALUE_STR ||
		   (index.kind != VALUE_NONE && index.kind != VALUE_INT)) {
		return err_set(err, ERR_TYPE, "torch.device takes a name such as 'cpu'");
	} else if (n == 2 && strchr(type.str->text, ':')) {
		return err_set(err, ERR_SHAPE,
			       "type (string) must not include an index because index was passed "
			       "explicitly: %.40s",
			       type.str->text);
	} else if (index.kind == VALUE_INT) {
		snprintf(text, sizeof(text), "%.40s:%lld", type.str->text, (long long)index.i);
	} else {
		snprintf(text, sizeof(text), "%.60s", type.str->text);
	}
	*out = value_str(text, strlen(text));
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	out->str->is_device = true;
	return true;
}

/* ---- files of the run ---- */

/* torch.load() and its kin have asked whether the file is there. */
static bool load_file(const struct torch_memory *memory, int id, const struct value *args,
		      struct value *out, struct err *err)
{
	struct weights_reader reader = { NULL, NULL };

	if (args[0].kind != VALUE_STR)
		return err_set(err, ERR_TYPE, "the path of a file is a str, not %s",
			       value_type_name(args[0]));
	if (memory)
		reader = (struct weights_reader){ memory->allocator, memory->files };
	if (id == MORE_HAS_FILE) {
		*out = value_bool(weights_find(reader.files, args[0].str->text) != NULL);
		return true;
	}
	if (id == MORE_LOAD_SAFETENSORS)
		return weights_safetensors(&reader, args[0].str->text, out, err);
	return weights_torch(&reader, args[0].str->text, args[1], out, err);
}

struct native_call { /* with the self */
	int id;
	const struct value *args;
	int n;
};

/* What needs no op and no elements; false in *known for another. */
static bool answer(const struct decomposer *c, const struct torch_memory *memory,
		   const struct native_call *call, bool *known, struct value *out, struct err *err)
{
	const struct value *args = call->args;
	int n = call->n;
	enum dtype dtype = DTYPE_F32;
	int rank;

	*known = true;
	switch (call->id) {
	case MORE_IS_FLOATING:
		if (n != 1 || args[0].kind != VALUE_TENSOR)
			return err_set(err, ERR_TYPE, "torch.is_floating_point takes a tensor");
		if (!c->type(c->self, args[0], &rank, &dtype, err))
			return false;
		*out = value_bool(dtype_category(dtype) == CATEGORY_FLOAT);
		return true;
	case MORE_IS_COMPLEX:
		*out = value_bool(false);
		return true;
	case MORE_MANUAL_SEED:
		return set_seed(memory, args, n, out, err);
	case MORE_GENERATOR_STATE:
		return generator_state(memory, out, err);
	case MORE_SET_GENERATOR:
		return set_generator(memory, args, n, out, err);
	case MORE_GPU_SEED:
		return set_gpu_seed(memory, args, n, out, err);
	case MORE_LOAD_TORCH:
	case MORE_LOAD_SAFETENSORS:
	case MORE_HAS_FILE:
		return load_file(memory, call->id, args, out, err);
	case MORE_DRAWS:
		return random_generator(c, n > 0 ? args[0] : value_none(), out, err);
	case MORE_DEFAULT_GPU:
		random_set_device(c, n > 0 ? args[0] : value_none());
		*out = value_none();
		return true;
	case MORE_DEFAULT_DTYPE:
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = *c->real };
		return true;
	case MORE_PROMOTE_TYPES:
		if (n != 2 || args[0].kind != VALUE_DTYPE || args[1].kind != VALUE_DTYPE)
			return err_set(err, ERR_TYPE, "torch.promote_types takes two dtypes");
		*out = (struct value){ .kind = VALUE_DTYPE,
				       .dtype = dtype_promote(args[0].dtype, args[1].dtype) };
		return true;
	case MORE_FINFO:
		return float_info(one_dtype(args, n, *c->real), out, err);
	case MORE_IINFO:
		return int_info(one_dtype(args, n, DTYPE_I64), out, err);
	case MORE_DEVICE:
		return device_named(args, n, out, err);
	default:
		*known = false;
		return true;
	}
}

/* out= has other sizes: it becomes what the call gives, as PyTorch resizes it. */
static bool write_resized(const struct decomposer *c, const struct native *f, struct value into,
			  struct value made, bool alike, struct err *err)
{
	if (!alike || !c->host->store_attr)
		return err_set(err, ERR_SHAPE,
			       "%s: out has other sizes than the result, and another dtype; give a "
			       "tensor of the result's",
			       f->name);
	return c->host->store_attr(c->host->self, into, "data", made, err);
}

/* No gradient goes through what is written into another tensor. */
static bool no_gradient(const struct decomposer *c, const struct native *f, struct value x,
			struct err *err)
{
	struct value wants = value_none();

	if (!c->host->tensor_attr(c->host->self, x, "requires_grad", &wants, err))
		return false;
	return wants.kind != VALUE_BOOL || !wants.b ||
	       err_set(err, ERR_OP,
		       "%s(): functions with out=... arguments don't support automatic "
		       "differentiation, but one of the arguments requires grad.",
		       f->name);
}

static bool write_tensor(const struct decomposer *c, const struct native *f, struct value into,
			 struct value made, struct err *err)
{
	struct value x, y, same, pair[2] = { into, made };
	enum dtype dtype, from;
	int rank, wanted;
	bool equal;

	if (into.kind != VALUE_TENSOR || made.kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s: out must be as many tensors as the result is",
			       f->name);
	if (!no_gradient(c, f, made, err) || !c->type(c->self, into, &rank, &dtype, err) ||
	    !c->type(c->self, made, &wanted, &from, err))
		return false;
	if (dtype_category(from) > dtype_category(dtype))
		return err_set(err, ERR_SHAPE,
			       "result type %s can't be cast to the desired output type %s",
			       dtype_name(from), dtype_name(dtype));
	equal = rank == wanted;
	for (int d = 0; equal && d < rank; d++)
		if (!c->size(c->self, into, d, &x, err) || !c->size(c->self, made, d, &y, err) ||
		    !decompose_compare(c, CMP_EQ, x, y, &equal, err))
			return false;
	if (!equal)
		return write_resized(c, f, into, made, dtype == from, err);
	if (!c->run(c->self, &(struct op_call){ OP_fill, "fx:", true, pair, 2, NULL }, &same, err))
		return false;
	value_unref(same);
	return true;
}

/* Of several results, say values and indices, none is converted. */
static bool same_dtype(const struct decomposer *c, const struct native *f, struct value into,
		       struct value made, struct err *err)
{
	enum dtype has, wants;
	int rank;

	if (into.kind != VALUE_TENSOR || made.kind != VALUE_TENSOR)
		return true; /* write_tensor() says so */
	return c->type(c->self, into, &rank, &has, err) &&
	       c->type(c->self, made, &rank, &wants, err) &&
	       (has == wants ||
		err_set(err, ERR_OP, "%s: Expected out tensor to have dtype %s, but got %s instead",
			f->name, dtype_name(wants), dtype_name(has)));
}

static bool write_all(const struct decomposer *c, const struct native *f, struct value into,
		      struct value made, struct err *err)
{
	bool several = into.kind == VALUE_TUPLE || into.kind == VALUE_LIST, ok = true;

	if (!several)
		return write_tensor(c, f, into, made, err);
	if (made.kind != VALUE_TUPLE || made.list->len != into.list->len)
		return err_set(err, ERR_TYPE, "%s: out must be as many tensors as the result is",
			       f->name);
	for (int i = 0; ok && i < made.list->len; i++)
		ok = same_dtype(c, f, into.list->at[i], made.list->at[i], err) &&
		     write_tensor(c, f, into.list->at[i], made.list->at[i], err);
	return ok;
}

/* f(..., out=y): what f gives, written into y. */
static bool call_into(const struct decomposer *c, const struct native *f,
		      const struct arguments *args, struct value *out, struct err *err)
{
	struct value rest[MAX_ARGS + 2], names[MAX_ARGS + 2], into = value_none(), made;
	struct keywords less = { .n = 0, .names = names };
	int at = args->n - args->kw->n;
	bool ok;

	memcpy(rest, args->at, sizeof(*args->at) * (size_t)at);
	for (int i = 0; i < args->kw->n; i++) {
		if (strcmp(args->kw->names[i].str->text, "out") == 0) {
			into = args->at[args->n - args->kw->n + i];
			continue;
		}
		names[less.n++] = args->kw->names[i];
		rest[at++] = args->at[args->n - args->kw->n + i];
	}
	if (!c->host->call(c->host->self, f, &(struct arguments){ rest, at, less.n ? &less : NULL },
			   &made, err))
		return false;
	if (into.kind == VALUE_NONE) {
		*out = made;
		return true;
	}
	ok = write_all(c, f, into, made, err);
	value_unref(made);
	if (ok)
		*out = value_ref(into);
	return ok;
}

/* torch._C.into(out, made, name): what a function of the prelude gives, written into `out`. */
static bool write_named(const struct decomposer *c, const struct native *f, const struct value *v,
			int n, struct value *out, struct err *err)
{
	struct native named = *f;

	if (n != 3 || v[2].kind != VALUE_STR)
		return err_set(err, ERR_TYPE, "%s takes out, the result and a name", f->name);
	named.name = v[2].str->text;
	if (!write_all(c, &named, v[0], v[1], err))
		return false;
	*out = value_ref(v[0]);
	return true;
}

enum { MAX_PARAMETERS = 4 };

/* The parameters of a row one by one; they are cut once, when the first of all is called. */
static struct parameters {
	char text[64];
	const char *names[MAX_PARAMETERS];
	int n;
} parameters_of[MORE_END - MORE_FIRST - 1];

static void cut_parameters(void)
{
	for (int i = 0; i < MORE_END - MORE_FIRST - 1; i++) {
		struct parameters *p = &parameters_of[i];
		char *rest = p->text;

		snprintf(p->text, sizeof(p->text), "%s", natives[i].parameters);
		for (char *word; p->n < MAX_PARAMETERS && (word = strtok_r(rest, " ", &rest));)
			p->names[p->n++] = word;
	}
}

/* The arguments in the order of the native's row; *given is how many there are. */
static bool bind_native(int id, const char *name, const struct arguments *args,
			struct value out[MAX_PARAMETERS], int *given, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const struct parameters *p = &parameters_of[id - MORE_FIRST - 1];

	pthread_once(&once, cut_parameters);
	if (!decompose_args(name, &(struct parameter_names){ p->names, p->n, 0 }, args, out, err))
		return false;
	*given = 0;
	for (int i = 0; i < p->n; i++) {
		if (out[i].kind != VALUE_UNSET)
			*given = i + 1;
		else
			out[i] = value_none();
	}
	return true;
}

bool natives_call(const struct decomposer *c, const struct torch_memory *memory,
		  const struct native *f, const struct arguments *args, struct value *out,
		  struct err *err)
{
	bool method = f->self.kind == VALUE_TENSOR, known;
	int id = f->id == OP_where ? MORE_NONZERO : f->id;
	struct value all[MAX_ARGS + 2], bound[MAX_PARAMETERS];
	struct arguments whole = { all, args->n + method, args->kw }; /* with the self */

	if (args->n > MAX_ARGS)
		return err_set(err, ERR_TYPE, "%s was given %d arguments", f->name, args->n);
	if (literal_wants(f, args->at, args->n))
		return literal_call(c, f, args, out, err);
	if (has_keyword(args->kw, "out"))
		return call_into(c, f, args, out, err);
	all[0] = f->self;
	if (args->n > 0)
		memcpy(all + method, args->at, sizeof(*args->at) * (size_t)args->n);
	if (keyword_wants(f, args->kw))
		return keyword_call(c, id, f->name, &whole, out, err);
	if (f->id > MORE_FIRST && f->id < MORE_END &&
	    strcmp(natives[f->id - MORE_FIRST - 1].parameters, "*") != 0) {
		if (!bind_native(f->id, f->name, &whole, bound, &whole.n, err))
			return false;
		memcpy(all, bound, sizeof(bound));
		whole.kw = NULL;
	}
	if (!answer(c, memory, &(struct native_call){ id, all, whole.n }, &known, out, err))
		return false;
	if (known)
		return true;
	if (id == MORE_INTO)
		return write_named(c, f, all, whole.n, out, err);
	if (natives_break(id) == BREAK_NONE)
		return return_types_call(c, id, f->name, &whole, out, err);
	if (!memory)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s reads values of a tensor, which ends the graph", f->name);
	if (id == MORE_MASKED_SELECT)
		return masked_select_call(c, f->name, &whole, out, err);
	return data_dependent_call(memory, f->id == OP_where ? OP_where : id, f->name, &whole, out,
				   err);
}
