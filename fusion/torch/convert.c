/* fusion/torch/convert.c -- x.to(), x.type(), x.half() and their like, and how a dtype is
 * spelt: torch.float16, int, torch.LongTensor, "torch.LongTensor".
 */
#include "fusion/torch/convert.h"

#include <string.h>

#include "fusion/vm/placement.h"

/* The tensor types of old, each of one dtype. */
static const struct {
	const char *name;
	enum dtype dtype;
} old_types[] = {
	{ "FloatTensor", DTYPE_F32 }, { "DoubleTensor", DTYPE_F64 },
	{ "HalfTensor", DTYPE_F16 },  { "BFloat16Tensor", DTYPE_BF16 },
	{ "LongTensor", DTYPE_I64 },  { "IntTensor", DTYPE_I32 },
	{ "ShortTensor", DTYPE_I16 }, { "CharTensor", DTYPE_I8 },
	{ "ByteTensor", DTYPE_U8 },   { "BoolTensor", DTYPE_BOOL },
};

enum { OLD_TYPES = sizeof(old_types) / sizeof(old_types[0]) };

bool convert_is_dtype(struct value v, enum dtype *dtype)
{
	static const struct {
		const char *name;
		enum dtype dtype;
	} types[] = { { "int", DTYPE_I64 }, { "float", DTYPE_F64 }, { "bool", DTYPE_BOOL } };

	if (v.kind == VALUE_DTYPE) {
		*dtype = v.dtype;
		return true;
	}
	for (size_t i = 0; v.kind == VALUE_NATIVE && v.native->builtin && i < 3; i++)
		if (strcmp(v.native->name, types[i].name) == 0) {
			*dtype = types[i].dtype;
			return true;
		}
	return false;
}

bool convert_dtype(const char *name, struct value v, enum dtype *dtype, struct err *err)
{
	return v.kind == VALUE_NONE || convert_is_dtype(v, dtype) ||
	       err_set(err, ERR_TYPE,
		       "%s: dtype must be a dtype such as torch.float32 or None, not %s", name,
		       value_type_name(v));
}

static bool find_old_type(const char *name, enum dtype *dtype)
{
	for (int i = 0; i < OLD_TYPES; i++)
		if (strcmp(old_types[i].name, name) == 0) {
			*dtype = old_types[i].dtype;
			return true;
		}
	return false;
}

/* "torch.LongTensor", "torch.cuda.LongTensor", and the functions of these names. */
static bool is_old_type(struct value v, enum dtype *dtype)
{
	static const char *const owners[] = { "torch.cuda.", "torch." };

	if (v.kind == VALUE_CLASS)
		return find_old_type(v.class->name, dtype);
	for (int i = 0; v.kind == VALUE_STR && i < 2; i++)
		if (strncmp(v.str->text, owners[i], strlen(owners[i])) == 0 &&
		    find_old_type(v.str->text + strlen(owners[i]), dtype))
			return true;
	return false;
}

/* "fx:to" of "Tensor.to". */
static const char *fx_name(const char *name, char text[64])
{
	const char *dot = strrchr(name, '.');

	strcpy(text, "fx:");
	strncat(text, dot ? dot + 1 : name, 60);
	return text;
}

struct convert_wanted {
	enum dtype dtype;    /* DTYPE_COUNT: none */
	bool copy;           /* even where the tensor is as wanted */
	struct value format; /* the text of a memory format; of another kind: none */
};

/* permute and to have two arguments, the others one. */
static bool run_named(const struct decomposer *c, enum op op, const char *name,
		      struct value *values, struct value *out, struct err *err)
{
	int n = op == OP_permute || op == OP_to ? 2 : 1;

	return c->run(c->self, &(struct op_call){ op, name, false, values, n, NULL }, out, err);
}

/* x.is_contiguous(memory_format=format) */
static bool lies_so(const struct decomposer *c, struct value x, struct value format, bool *so,
		    struct err *err)
{
	struct value key = value_str("memory_format", strlen("memory_format")), method, answer;
	struct keywords kw = { .n = 1, .names = &key };
	bool ok = key.kind != VALUE_UNSET || torch_no_memory(err);

	ok = ok && c->host->tensor_attr(c->host->self, x, "is_contiguous", &method, err);
	if (ok) {
		ok = c->host->call(c->host->self, method.native,
				   &(struct arguments){ &format, 1, &kw }, &answer, err);
		*so = ok && answer.b;
		value_unref(method);
	}
	value_unref(key);
	return ok;
}

/* The elements of x in memory in the order of its dims `order`: a view of a copy. */
static bool copy_in_order(const struct decomposer *c, const char *fx, struct value x,
			  const int *order, struct value *out, struct err *err)
{
	struct value dims[MAX_RANK], back[MAX_RANK], turn[2] = { x }, copy, turned;
	bool ok;
	int rank;
	enum dtype dtype;

	if (!c->type(c->self, x, &rank, &dtype, err))
		return false;
	for (int place = 0; place < rank; place++) {
		dims[place] = value_int(order[place]);
		back[order[place]] = value_int(place);
	}
	turn[1] = value_tuple(dims, rank);
	ok = turn[1].kind != VALUE_UNSET ? run_named(c, OP_permute, "fx:", turn, &turned, err)
					 : torch_no_memory(err);
	value_unref(turn[1]);
	if (!ok)
		return false;
	ok = run_named(c, OP_clone, "fx:", &turned, &copy, err);
	value_unref(turned);
	if (!ok)
		return false;
	turned = copy;
	ok = run_named(c, OP_contiguous, "fx:", &turned, &copy, err);
	value_unref(turned);
	if (!ok)
		return false;
	turn[0] = copy;
	turn[1] = value_tuple(back, rank);
	ok = turn[1].kind != VALUE_UNSET ? run_named(c, OP_permute, fx, turn, out, err)
					 : torch_no_memory(err);
	value_unref(turn[1]);
	value_unref(copy);
	return ok;
}

/* x with its channels last: x itself where they are. */
static bool lay(const struct decomposer *c, const char *name, struct value x,
		struct convert_wanted w, struct value *out, struct err *err)
{
	int order[MAX_RANK], wanted, rank;
	enum dtype dtype;
	bool so;
	char fx[64];

	if (!c->type(c->self, x, &rank, &dtype, err))
		return false;
	torch_channels_last(w.format, &wanted);
	if (rank != wanted)
		return err_set(err, ERR_OP,
			       "required rank %d tensor to use %s format, but it has rank %d",
			       wanted, w.format.str->text + strlen("torch."), rank);
	if (!lies_so(c, x, w.format, &so, err))
		return false;
	if (so && !w.copy)
		return run_named(c, OP_alias, fx_name(name, fx), &x, out, err);
	for (int d = 0; d < rank; d++)
		order[d] = torch_channels_last_dim(rank, d);
	return copy_in_order(c, fx_name(name, fx), x, order, out, err);
}

/* x.clone(memory_format=), x.contiguous(memory_format=) */
static bool in_format(const struct decomposer *c, int id, const char *name,
		      const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "memory_format" };
	struct convert_wanted w = { .dtype = DTYPE_COUNT, .copy = id == OP_clone };
	struct value v[2];
	bool rows;
	int rank;
	char fx[64];

	if (!decompose_args(name, &(struct parameter_names){ names, 2, 1 }, args, v, err) ||
	    (v[1].kind != VALUE_UNSET && !placement_fits(name, names[1], v[1], err)))
		return false;
	if (v[0].kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes a tensor, not %s", name,
			       value_type_name(v[0]));
	w.format = v[1];
	if (torch_channels_last(v[1], &rank))
		return lay(c, name, v[0], w, out, err);
	rows = v[1].kind == VALUE_STR && strcmp(v[1].str->text, "torch.contiguous_format") == 0;
	if (id == OP_clone && rows) { /* what does not lie so is copied by contiguous() */
		if (!lies_so(c, v[0], v[1], &rows, err))
			return false;
		id = rows ? OP_clone : OP_contiguous;
	}
	return run_named(c, (enum op)id, fx_name(name, fx), v, out, err);
}

static bool cast(const struct decomposer *c, const char *name, struct value x,
		 struct convert_wanted to_what, struct value *out, struct err *err)
{
	enum dtype dtype = to_what.dtype;
	struct value to = { .kind = VALUE_DTYPE, .dtype = dtype };
	enum dtype from;
	char fx[64];
	int rank;

	if (x.kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "a cast takes a tensor, not %s", value_type_name(x));
	if (!c->type(c->self, x, &rank, &from, err))
		return false;
	if (torch_channels_last(to_what.format, &rank)) {
		struct value cast_to, values[2] = { x, to };
		bool ok;

		if (dtype == DTYPE_COUNT || from == dtype)
			return lay(c, name, x, to_what, out, err);
		if (!run_named(c, OP_to, "fx:", values, &cast_to, err))
			return false;
		ok = lay(c, name, cast_to, to_what, out, err);
		value_unref(cast_to);
		return ok;
	}
	if (dtype != DTYPE_COUNT && from != dtype)
		return c->run(c->self,
			      &(struct op_call){ OP_to, fx_name(name, fx), false,
						 (struct value[]){ x, to }, 2, NULL },
			      out, err);
	/* As torch: the tensor itself; a graph has the call all the same. */
	return c->run(c->self,
		      &(struct op_call){ to_what.copy ? OP_clone : OP_alias, fx_name(name, fx),
					 false, &x, 1, NULL },
		      out, err);
}

/* What x.to() was given. */
enum { TO_ARGS = 6 };

static const char *const to_names[TO_ARGS] = { "device", "dtype",         "non_blocking",
					       "copy",   "memory_format", "other" };

static bool is_dtype(struct value v)
{
	enum dtype dtype;

	return convert_is_dtype(v, &dtype);
}

/* x.to(device, dtype, ...), x.to(dtype, ...), x.to(other, ...): by place. */
static bool place_arguments(const char *name, const struct value *args, int n,
			    struct value v[TO_ARGS], struct err *err)
{
	int at = 0;

	if (n > 0 && args[0].kind == VALUE_TENSOR)
		v[5] = args[at++];
	else if (n > 0 && is_dtype(args[0]))
		v[1] = args[at++];
	else if (n > 0)
		v[0] = args[at++];
	if (at < n && v[0].kind != VALUE_UNSET &&
	    (is_dtype(args[at]) || args[at].kind == VALUE_NONE))
		v[1] = args[at++];
	for (int i = 2; at < n && i < 4; i++)
		v[i] = args[at++];
	return at == n || err_set(err, ERR_TYPE, "%s: %d arguments by place do not fit", name, n);
}

static bool name_arguments(const char *name, const struct value *args, const struct keywords *kw,
			   struct value v[TO_ARGS], struct err *err)
{
	for (int k = 0; kw && k < kw->n; k++) {
		const char *key = kw->names[k].str->text;
		int i = 0;

		while (i < TO_ARGS && strcmp(to_names[i], key) != 0)
			i++;
		if (i == TO_ARGS)
			return err_set(err, ERR_TYPE, "%s has no parameter %s", name, key);
		if (args[k].kind == VALUE_NONE)
			continue;
		if (v[i].kind != VALUE_UNSET)
			return err_set(err, ERR_TYPE, "%s: %s is given twice", name, key);
		v[i] = args[k];
	}
	return true;
}

static bool read_to(const struct decomposer *c, const char *name, const struct arguments *args,
		    struct convert_wanted *w, struct err *err)
{
	int positional = args->n - (args->kw ? args->kw->n : 0), rank;
	struct value v[TO_ARGS];

	for (int i = 0; i < TO_ARGS; i++)
		v[i] = (struct value){ .kind = VALUE_UNSET };
	*w = (struct convert_wanted){ .dtype = DTYPE_COUNT };
	if (!place_arguments(name, args->at, positional, v, err) ||
	    !name_arguments(name, args->at + positional, args->kw, v, err))
		return false;
	for (int i = 0; i < TO_ARGS; i++)
		if (v[i].kind != VALUE_UNSET && placement_is(to_names[i]) &&
		    !placement_fits(name, to_names[i], v[i], err))
			return false;
	if (v[3].kind != VALUE_UNSET && v[3].kind != VALUE_BOOL)
		return err_set(err, ERR_TYPE, "%s: copy must be True or False, not %s", name,
			       value_type_name(v[3]));
	w->copy = v[3].kind == VALUE_BOOL && v[3].b;
	w->format = v[4];
	if (v[5].kind == VALUE_TENSOR)
		return c->type(c->self, v[5], &rank, &w->dtype, err);
	return v[1].kind == VALUE_UNSET || convert_dtype(name, v[1], &w->dtype, err);
}

static bool to(const struct decomposer *c, const char *name, const struct arguments *args,
	       struct value *out, struct err *err)
{
	struct convert_wanted w;

	return read_to(c, name, &(struct arguments){ args->at + 1, args->n - 1, args->kw }, &w,
		       err) &&
	       cast(c, name, args->at[0], w, out, err);
}

/* torch._C.conversion(...): the dtype that Module.to(...) or .type(...) means, or None. */
static bool conversion(const struct decomposer *c, const struct arguments *args, struct value *out,
		       struct err *err)
{
	struct convert_wanted w = { .dtype = DTYPE_COUNT };

	*out = value_none();
	if (!(args->n == 1 && is_old_type(args->at[0], &w.dtype)) &&
	    !read_to(c, "Module.to", args, &w, err))
		return false;
	if (w.dtype != DTYPE_COUNT)
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = w.dtype };
	return true;
}

/* x.type() names it, x.type(dtype) converts. */
static bool type(const struct decomposer *c, const char *name, const struct arguments *args,
		 struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "dtype", "non_blocking" };
	enum dtype dtype = DTYPE_COUNT, own;
	struct value v[3];
	char text[48] = "torch.";
	int rank;

	if (!decompose_args(name, &(struct parameter_names){ names, 3, 1 }, args, v, err) ||
	    !c->type(c->self, v[0], &rank, &own, err))
		return false;
	if (v[1].kind != VALUE_UNSET && v[1].kind != VALUE_NONE) {
		if (v[1].kind == VALUE_DTYPE)
			dtype = v[1].dtype;
		else if (!is_old_type(v[1], &dtype)) /* int, float and bool neither */
			return err_set(err, ERR_VALUE,
				       "%s: invalid type; it takes a dtype, or a "
				       "name such as 'torch.FloatTensor'",
				       name);
		return cast(c, name, v[0], (struct convert_wanted){ .dtype = dtype }, out, err);
	}
	for (int i = 0; i < OLD_TYPES; i++)
		if (old_types[i].dtype == own)
			strcat(text, old_types[i].name);
	*out = value_str(text, strlen(text));
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

/* x.cpu(), x.cuda(device): a run has one device. */
static bool device_of(const struct decomposer *c, const char *name, const struct arguments *args,
		      struct value *out, struct err *err)
{
	static const char *const names[] = { "input", "device", "non_blocking", "memory_format" };
	struct value v[4];

	if (!decompose_args(name, &(struct parameter_names){ names, 4, 1 }, args, v, err))
		return false;
	for (int i = 1; i < 4; i++)
		if (v[i].kind != VALUE_UNSET && !placement_fits(name, names[i], v[i], err))
			return false;
	return cast(c, name, v[0], (struct convert_wanted){ .dtype = DTYPE_COUNT }, out, err);
}

static enum dtype cast_dtype(int id)
{
	static const struct {
		int id;
		enum dtype dtype;
	} casts[] = { { MORE_HALF, DTYPE_F16 }, { MORE_BFLOAT16, DTYPE_BF16 },
		      { MORE_INT, DTYPE_I32 },  { MORE_SHORT, DTYPE_I16 },
		      { MORE_CHAR, DTYPE_I8 },  { MORE_BYTE, DTYPE_U8 } };

	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++)
		if (casts[i].id == id)
			return casts[i].dtype;
	return DTYPE_COUNT;
}

bool convert_knows(int id)
{
	return id == OP_to || id == OP_view || id == OP_clone || id == OP_contiguous ||
	       id == MORE_TYPE || id == MORE_TYPE_AS || id == MORE_DEVICE_OF ||
	       id == MORE_CONVERSION || cast_dtype(id) != DTYPE_COUNT;
}

bool convert_call(const struct decomposer *c, int id, const char *name,
		  const struct arguments *args, struct value *out, struct err *err)
{
	static const char *const like[] = { "input", "other" };
	static const char *const one[] = { "input", "memory_format" }, *const bits[] = { "input",
											 "dtype" };
	struct value v[2];
	enum dtype dtype = cast_dtype(id);
	int rank;

	switch (id) {
	case OP_to:
		return to(c, name, args, out, err);
	case OP_clone:
	case OP_contiguous:
		return in_format(c, id, name, args, out, err);
	case OP_view:
		return decompose_args(name, &(struct parameter_names){ bits, 2, 2 }, args, v,
				      err) &&
		       c->run(c->self, &(struct op_call){ OP_bits, "fx:view", false, v, 2, NULL },
			      out, err);
	case MORE_TYPE:
		return type(c, name, args, out, err);
	case MORE_CONVERSION:
		return conversion(c, args, out, err);
	case MORE_DEVICE_OF:
		return device_of(c, name, args, out, err);
	case MORE_TYPE_AS:
		if (!decompose_args(name, &(struct parameter_names){ like, 2, 2 }, args, v, err))
			return false;
		if (v[1].kind != VALUE_TENSOR)
			return err_set(err, ERR_TYPE, "type_as takes a tensor");
		return c->type(c->self, v[1], &rank, &dtype, err) &&
		       cast(c, name, v[0], (struct convert_wanted){ .dtype = dtype }, out, err);
	default:
		return decompose_args(name, &(struct parameter_names){ one, 2, 1 }, args, v, err) &&
		       (v[1].kind == VALUE_UNSET || placement_fits(name, one[1], v[1], err)) &&
		       cast(c, name, v[0], (struct convert_wanted){ .dtype = dtype }, out, err);
	}
}
