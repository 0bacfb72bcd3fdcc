/* fusion/torch/bind.c -- matches a call with an op's signature.
 *
 * A Python bool is an int to Python but not to torch: `dim=True` is refused,
 * `x * True` is not.
 */
#include "fusion/torch/bind.h"

#include <stdio.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/graph/custom.h"
#include "fusion/graph/symreal.h"
#include "fusion/torch/convert.h"
#include "fusion/vm/placement.h"

/* ---- torch.tensor(numbers): nested lists to elements.
 *
 * The dtype is PyTorch's choice: bool where all are bools, int64 where all are
 * ints (or bools), else the default float32. */

enum { MAX_LITERAL = 1 << 20 }; /* elements; a literal is typed in, or comes with a request */

static bool is_sequence(struct value v)
{
	return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE || v.kind == VALUE_RANGE;
}

static int64_t length_of(struct value v)
{
	return v.kind == VALUE_RANGE ? range_length(v.range) : v.list->len;
}

static struct value item_of(struct value v, int64_t i)
{
	return v.kind == VALUE_RANGE ? value_int(v.range->start + i * v.range->step)
				     : v.list->at[i];
}

/* The shape that the first items give; fill() checks that all others agree. */
static bool literal_shape(struct value v, int *rank, int64_t size[MAX_RANK], struct err *err)
{
	int64_t numel = 1;

	*rank = 0;
	while (is_sequence(v)) {
		if (*rank == MAX_RANK)
			return err_set(err, ERR_BOUND,
				       "torch.tensor: the lists are nested deeper than %d",
				       MAX_RANK);
		size[*rank] = length_of(v);
		if (size[*rank] > MAX_LITERAL || (numel *= size[*rank]) > MAX_LITERAL)
			return err_set(err, ERR_BOUND,
				       "torch.tensor: over %d elements; pass them as an argument",
				       MAX_LITERAL);
		if (size[(*rank)++] == 0)
			return true;
		v = item_of(v, 0);
	}
	return true;
}

static bool widen(struct value v, int depth, const struct bound_literal *l, enum dtype *dtype,
		  struct err *err)
{
	enum dtype own;

	if (is_sequence(v) && depth < l->rank) {
		for (int64_t i = 0, n = length_of(v); i < n; i++)
			if (!widen(item_of(v, i), depth + 1, l, dtype, err))
				return false;
		return true;
	}
	switch (v.kind) {
	case VALUE_BOOL:
		own = DTYPE_BOOL;
		break;
	case VALUE_INT:
		own = DTYPE_I64;
		break;
	case VALUE_FLOAT:
		own = l->real;
		break;
	default:
		return err_set(err, ERR_TYPE,
			       "torch.tensor takes numbers and (nested) lists of numbers of equal "
			       "length, not %s",
			       value_type_name(v));
	}
	if (v.scalar)
		own = scalar_infos[v.scalar].dtype;
	if (own > *dtype)
		*dtype = own;
	return true;
}

static bool fill(struct value v, int depth, const struct bound_literal *l, char **at,
		 struct err *err)
{
	enum dtype dtype = l->dtype;
	double f;
	int64_t i;

	if (depth < l->rank) {
		if (!is_sequence(v) || length_of(v) != l->size[depth])
			return err_set(err, ERR_VALUE,
				       "torch.tensor: the lists at depth %d differ in length; "
				       "give every one the same count",
				       depth + 1);
		for (int64_t k = 0; k < l->size[depth]; k++)
			if (!fill(item_of(v, k), depth + 1, l, at, err))
				return false;
		return true;
	}
	f = v.kind == VALUE_FLOAT ? v.f : v.kind == VALUE_INT ? (double)v.i : (double)v.b;
	if (v.kind == VALUE_FLOAT)
		i = v.f >= -0x1p63 && v.f < 0x1p63 ? (int64_t)v.f : INT64_MIN;
	else
		i = v.kind == VALUE_INT ? v.i : v.b;
	if (dtype_category(dtype) == CATEGORY_FLOAT && v.kind == VALUE_FLOAT)
		dtype_put_double(dtype, *at, 0, f);
	else if (dtype == DTYPE_BOOL)
		dtype_put_double(dtype, *at, 0, f);
	else
		dtype_put_int(dtype, *at, 0, i);
	*at += dtype_bytes(dtype);
	return true;
}

bool bind_literal(struct arena *arena, struct value data, struct bound_literal *l, struct err *err)
{
	enum dtype found = DTYPE_BOOL;
	int64_t numel = 1;
	char *at;

	if (!literal_shape(data, &l->rank, l->size, err) || !widen(data, 0, l, &found, err))
		return false;
	for (int d = 0; d < l->rank; d++)
		numel *= l->size[d];
	if (l->dtype == DTYPE_COUNT)
		l->dtype = numel == 0 ? l->real : found;
	at = arena_alloc(arena, (size_t)numel * dtype_bytes(l->dtype) + 1);
	if (!at)
		return err_set(err, ERR_MEMORY, "out of memory for torch.tensor");
	l->elements = at;
	return fill(data, 0, l, &at, err);
}

bool bind_tensor_call(const struct arguments *args, struct value *data, enum dtype *dtype,
		      struct err *err)
{
	int n_kw = args->kw ? args->kw->n : 0;
	struct value type = value_none();
	bool have = args->n - n_kw > 0;

	if (args->n - n_kw > 1)
		return err_set(err, ERR_TYPE,
			       "torch.tensor takes (data, *, dtype): %d positional arguments do "
			       "not fit",
			       args->n - n_kw);
	if (have)
		*data = args->at[0];
	for (int k = 0; k < n_kw; k++) {
		const char *key = args->kw->names[k].str->text;

		if (strcmp(key, "dtype") == 0) {
			type = args->at[args->n - n_kw + k];
		} else if (strcmp(key, "data") == 0 && !have) {
			*data = args->at[args->n - n_kw + k];
			have = true;
		} else if (strcmp(key, "device") == 0 || strcmp(key, "pin_memory") == 0) {
			if (!placement_fits("torch.tensor", key, args->at[args->n - n_kw + k], err))
				return false;
		} else if (strcmp(key, "requires_grad") != 0) { /* the host's affair */
			return err_set(
			    err, ERR_TYPE,
			    "torch.tensor has no parameter %s; it takes data, dtype, device "
			    "and requires_grad",
			    key);
		}
	}
	if (!have)
		return err_set(err, ERR_TYPE,
			       "torch.tensor takes (data, *, dtype): data is missing");
	*dtype = DTYPE_COUNT;
	return convert_dtype("torch.tensor", type, dtype, err);
}

/* How the user knows the op: "torch.sum", or "The operator +", to begin a sentence. */
static const char *display(const char *name, char text[64])
{
	if (strncmp(name, "op:", 3) != 0)
		return name;
	snprintf(text, 64, "the operator %s", strcmp(name, "op:neg") == 0 ? "-" : name + 3);
	return text;
}

static const char *accepted(const struct op_param *p)
{
	static const char *const words[] = {
		[PARAM_TENSOR] = "a tensor",
		[PARAM_TENSOR_SCALAR] = "a tensor or a number",
		[PARAM_SCALAR] = "a number",
		[PARAM_INT] = "an int",
		[PARAM_FLOAT] = "a float",
		[PARAM_BOOL] = "True or False",
		[PARAM_INTS] = "an int or a tuple of ints",
		[PARAM_DTYPE] = "a dtype such as torch.float32",
		[PARAM_STR] = "a string",
	};

	return words[p->kind];
}

static bool wrong_type(const char *name, const struct op_param *p, struct value v, struct err *err)
{
	char text[64];

	if (strncmp(name, "op:", 3) == 0)
		return err_set(err, ERR_TYPE,
			       "%s takes a tensor and a tensor or a number, not %s; "
			       "convert the operand first",
			       display(name, text), value_type_name(v));
	return err_set(err, ERR_TYPE, "%s: %s must be %s%s, not %s", name, p->name, accepted(p),
		       p->nullable ? " or None" : "", value_type_name(v));
}

static const struct sym *int_sym(struct graph *g, struct value v)
{
	return v.kind == VALUE_SYMINT ? v.sym : sym_const(g->syms, v.i);
}

static bool is_int(struct value v)
{
	return v.kind == VALUE_INT || v.kind == VALUE_SYMINT;
}

/* int[] of a Python int, tuple or list. */
static bool bind_ints(struct graph *g, const char *name, const struct op_param *p,
		      const struct arguments *given, struct arg *out, struct err *err)
{
	const struct value *items = given->at;
	int n = given->n;
	const struct sym **ints = ARENA_ARRAY(g->arena, const struct sym *, (size_t)n + 1);

	if (n > MAX_RANK)
		return err_set(err, ERR_BOUND,
			       "%s: %s has %d entries; a tensor has at most %d dims", name, p->name,
			       n, MAX_RANK);
	if (!ints)
		return err_set(err, ERR_MEMORY, "out of memory for the graph");
	for (int i = 0; i < n; i++) {
		if (!is_int(items[i]))
			return wrong_type(name, p, items[i], err);
		ints[i] = int_sym(g, items[i]);
		if (!ints[i])
			return err_set(err, ERR_MEMORY, "out of memory for the graph");
	}
	*out = (struct arg){ .kind = ARG_INTS, .n = n, .ints = ints };
	return true;
}

static bool bind_number(const struct bind_target *t, struct value v, struct arg *out)
{
	struct graph *g = t->graph;

	switch (v.kind) {
	case VALUE_BOOL:
		*out = (struct arg){ .kind = ARG_BOOL, .b = v.b };
		return true;
	case VALUE_FLOAT:
		*out = (struct arg){ .kind = ARG_FLOAT, .f = v.f };
		return true;
	case VALUE_SYMREAL:
		if (!t->reals)
			return false;
		*out = arg_real(sym_var_at(g->syms, v.real->index));
		return true;
	case VALUE_INT:
	case VALUE_SYMINT:
		*out = (struct arg){ .kind = ARG_INT, .sym = int_sym(g, v) };
		return out->sym != NULL;
	default:
		return false;
	}
}

static bool bind_str(struct graph *g, struct value v, struct arg *out, struct err *err)
{
	char *text = arena_strndup(g->arena, v.str->text, v.str->len);

	*out = (struct arg){ .kind = ARG_STR, .str = text };
	return text || err_set(err, ERR_MEMORY, "out of memory for the graph");
}

static bool bind_tensor(const struct bind_target *t, struct value v, struct arg *out,
			struct err *err)
{
	int id = t->node(t->self, v, err);

	*out = arg_node(id);
	return id >= 0;
}

/* One argument for one parameter. */
static bool bind_value(const struct bind_target *t, const char *name, const struct op_param *p,
		       struct value v, struct arg *out, struct err *err)
{
	bool tensor = p->kind == PARAM_TENSOR || p->kind == PARAM_TENSOR_SCALAR;

	if (v.kind == VALUE_NONE && p->nullable) {
		*out = (struct arg){ .kind = ARG_NONE };
		return true;
	}
	if (v.kind == VALUE_STR && p->kind == PARAM_SCALAR && strcmp(p->name, "p") == 0 &&
	    strcmp(v.str->text, "fro") == 0)
		v = value_int(2); /* norm(x, p='fro') */
	if (v.kind == VALUE_TENSOR && tensor)
		return bind_tensor(t, v, out, err);
	if (v.kind >= VALUE_SYMREAL && v.kind <= VALUE_DEFERRED_BOOL &&
	    p->kind == PARAM_TENSOR_SCALAR && !(v.kind == VALUE_SYMREAL && t->reals))
		return bind_tensor(t, v, out, err);
	switch (p->kind) {
	case PARAM_TENSOR_SCALAR:
	case PARAM_SCALAR:
		if (bind_number(t, v, out))
			return true;
		break;
	case PARAM_INT:
		if (is_int(v) && bind_number(t, v, out))
			return true;
		break;
	case PARAM_FLOAT:
		if (v.kind == VALUE_INT)
			v = value_float((double)v.i);
		if (v.kind == VALUE_FLOAT)
			return bind_number(t, v, out);
		break;
	case PARAM_BOOL:
		if (v.kind == VALUE_BOOL)
			return bind_number(t, v, out);
		break;
	case PARAM_INTS:
		if (is_int(v))
			return bind_ints(t->graph, name, p, &(struct arguments){ &v, 1, NULL }, out,
					 err);
		if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST)
			return bind_ints(t->graph, name, p,
					 &(struct arguments){ v.list->at, v.list->len, NULL }, out,
					 err);
		break;
	case PARAM_DTYPE:
		*out = (struct arg){ .kind = ARG_DTYPE };
		if (convert_is_dtype(v, &out->dtype))
			return true;
		break;
	case PARAM_STR:
		if (v.kind == VALUE_STR)
			return bind_str(t->graph, v, out, err);
		break;
	case PARAM_TENSOR:
		break;
	}
	return wrong_type(name, p, v, err);
}

static bool named(const char *name, const char *key)
{
	if (strcmp(name, key) == 0)
		return true;
	if (strcmp(name, "x") == 0)
		return strcmp(key, "input") == 0 || strcmp(key, "self") == 0;
	return (strcmp(name, "dim") == 0 && strcmp(key, "axis") == 0) ||
	       (strcmp(name, "keepdim") == 0 && strcmp(key, "keepdims") == 0);
}

int bind_parameter(const struct op_info *info, const char *key)
{
	for (int i = 0; i < info->n_params; i++)
		if (named(info->params[i].name, key))
			return i;
	return -1;
}

/* "x, dim, keepdim" */
static void list_params(const struct op_info *info, char *out, size_t bytes)
{
	size_t len = 0;

	out[0] = '\0';
	for (int i = 0; i < info->n_params && len < bytes; i++)
		if (info->params[i].name[0] != '_') /* PyTorch's own use of it */
			len += (size_t)snprintf(out + len, bytes - len, "%s%s", i ? ", " : "",
						info->params[i].name);
}

static bool no_parameter(const struct op_info *info, const char *name, const char *key,
			 struct err *err)
{
	struct nearest n = nearest_to(key);
	char params[192];

	for (int i = 0; i < info->n_params; i++)
		nearest_offer(&n, info->params[i].name);
	list_params(info, params, sizeof(params));
	if (n.best)
		return err_set(err, ERR_TYPE,
			       "%s has no parameter %s; did you mean %s? it takes %s", name, key,
			       n.best, params);
	return err_set(err, ERR_TYPE, "%s has no parameter %s; it takes %s", name, key, params);
}

static bool too_many(const struct op_info *info, const char *name, int n, struct err *err)
{
	char text[64], params[192];

	list_params(info, params, sizeof(params));
	return err_set(err, ERR_TYPE, "%s takes (%s): %d positional arguments do not fit",
		       display(name, text), params, n);
}

/* Whether PyTorch's op of that name takes it beside the row's own parameters: those that
 * make a tensor do.  requires_grad is the host's affair. */
static bool takes_placement(enum op op, const char *key)
{
	bool blocking = strcmp(key, "non_blocking") == 0;

	if (op_has(op, FACT_TAKES_PLACE))
		return !blocking;
	if (op_has(op, FACT_TAKES_FORMAT))
		return strcmp(key, "memory_format") == 0;
	if (op_has(op, FACT_TAKES_MOVE))
		return strcmp(key, "requires_grad") != 0 && strcmp(key, "pin_memory") != 0;
	return blocking && op_has(op, FACT_TAKES_BLOCKING); /* x.copy_(y, non_blocking=True) */
}

/* What a call is bound to: `info` is the row of `op`, or of a custom op. */
struct binding {
	const struct bind_target *target;
	enum op op;
	const struct op_info *info;
	const char *name;
};

static bool bind_keywords(const struct binding *b, const struct arguments *call, struct arg *args,
			  bool *given, struct err *err)
{
	const struct keywords *kw = call->kw;
	const struct op_info *info = b->info;
	const char *name = b->name;

	for (int k = 0; kw && k < kw->n; k++) {
		struct value v = call->at[call->n - kw->n + k];
		const char *key = kw->names[k].str->text;
		int i = bind_parameter(info, key);

		if (i < 0 && takes_placement(b->op, key) &&
		    (placement_is(key) || strcmp(key, "requires_grad") == 0)) {
			if (placement_is(key) && !placement_fits(name, key, v, err))
				return false;
			continue;
		}
		if (i < 0)
			return no_parameter(info, name, key, err);
		if (given[i])
			return err_set(err, ERR_TYPE, "%s: %s is given twice", name,
				       info->params[i].name);
		if (!bind_value(b->target, name, &info->params[i], v, &args[i], err))
			return false;
		given[i] = true;
	}
	return true;
}

/* torch.zeros(2, 3), x.view(2, -1), x.repeat(2, 1): sizes one by one.  The
 * parameter that takes them, -1: none does. */
static int sizes_spread(enum op op, const struct op_info *info, const struct value *values, int n)
{
	bool copies = op == OP_repeat || op == OP_tile || op == OP_flip || op == OP_new_zeros ||
		      op == OP_new_ones;
	int at = info->kind == KIND_CREATE ? 0 : 1;

	if ((info->kind != KIND_CREATE && info->kind != KIND_VIEW && !copies) || n < at + 2 ||
	    info->n_params <= at || info->params[at].kind != PARAM_INTS ||
	    (info->n_params > at + 1 && !info->params[at + 1].keyword_only))
		return -1;
	for (int i = at; i < n; i++)
		if (!is_int(values[i]))
			return -1;
	return at;
}

/* What was left out stays ARG_NONE: graph_add() knows the defaults. */
static bool check_missing(const struct op_info *info, const char *name, const bool *given,
			  struct err *err)
{
	char params[192], text[64];

	for (int i = 0; i < info->n_params; i++) {
		if (given[i] || info->params[i].optional)
			continue;
		list_params(info, params, sizeof(params));
		return err_set(err, ERR_TYPE, "%s takes (%s): %s is missing", display(name, text),
			       params, info->params[i].name);
	}
	return true;
}

/* size_average and reduce, which PyTorch still takes for the word of `reduction`. */
struct old_words {
	int average, reduce, word; /* parameters */
};

static bool has_old_words(const struct op_info *info, struct old_words *w)
{
	*w = (struct old_words){ bind_parameter(info, "size_average"),
				 bind_parameter(info, "reduce"),
				 bind_parameter(info, "reduction") };
	return w->average >= 0 && w->reduce >= 0 && w->word >= 0;
}

static const char *reduction_of(bool average, bool reduce)
{
	return !reduce ? "none" : average ? "mean" : "sum";
}

static bool says(const struct arg *a)
{
	return a->kind != ARG_BOOL || a->b;
}

static void reduce_as_of_old(const struct op_info *info, struct arg *args)
{
	struct old_words w;

	if (!has_old_words(info, &w) ||
	    (args[w.average].kind == ARG_NONE && args[w.reduce].kind == ARG_NONE))
		return;
	args[w.word] = arg_str(reduction_of(says(&args[w.average]), says(&args[w.reduce])));
	args[w.average] = args[w.reduce] = arg_none();
}

static bool is_given(struct value v)
{
	return v.kind != VALUE_UNSET && v.kind != VALUE_NONE;
}

static bool value_says(struct value v)
{
	return v.kind != VALUE_BOOL || v.b;
}

static bool values_as_of_old(const struct op_info *info, struct value *out)
{
	struct old_words w;
	const char *word;

	if (!has_old_words(info, &w) || (!is_given(out[w.average]) && !is_given(out[w.reduce])))
		return true;
	word = reduction_of(value_says(out[w.average]), value_says(out[w.reduce]));
	value_unref(out[w.word]);
	out[w.word] = value_str(word, strlen(word));
	value_unref(out[w.average]);
	value_unref(out[w.reduce]);
	out[w.average] = out[w.reduce] = value_none();
	return out[w.word].kind != VALUE_UNSET;
}

/* At least one operand of an op on tensors is one. */
static bool has_tensor(const struct op_info *info, const struct arg *args)
{
	bool wanted = false;

	for (int i = 0; i < info->n_params; i++) {
		if (args[i].kind == ARG_NODE)
			return true;
		wanted |= info->params[i].kind == PARAM_TENSOR_SCALAR;
	}
	return !wanted;
}

/* var(x, False) is var(x, unbiased=False). */
static bool skips_dim(enum op op, const struct value *values, int n, int n_kw)
{
	return (op == OP_var || op == OP_std) && n == 2 && n_kw == 0 &&
	       values[1].kind == VALUE_BOOL;
}

/* x.add_(2, y) and torch.addcmul(x, 0.5, a, b), as PyTorch spelt them before 1.5: the parameter
 * that takes the number, which stands second; -1: not so. */
static int factor_first(enum op op, const struct op_info *info, const struct value *values, int n)
{
	int wanted = op == OP_add_alpha || op == OP_sub_alpha ? 3
		     : op == OP_addcmul || op == OP_addcdiv   ? 4
							      : 0;

	if (n < 3 || n != wanted || values[1].kind == VALUE_TENSOR ||
	    values[2].kind != VALUE_TENSOR)
		return -1;
	return info->n_params - 1;
}

/* The parameter of positional argument i. */
static int place_of(int i, int factor)
{
	return factor < 0 || i == 0 ? i : i == 1 ? factor : i - 1;
}

static bool bind_as(const struct binding *b, const struct arguments *call, struct arg *args,
		    struct err *err)
{
	const struct op_info *info = b->info;
	const char *name = b->name;
	int n_kw = call->kw ? call->kw->n : 0, n_positional = call->n - n_kw;
	bool given[MAX_ARGS] = { false };
	int spread, factor = factor_first(b->op, info, call->at, n_positional);
	char text[64];

	if (skips_dim(b->op, call->at, n_positional, n_kw)) {
		struct value all[] = { call->at[0], value_none(), call->at[1] };

		return bind_as(b, &(struct arguments){ all, 3, NULL }, args, err);
	}
	spread = sizes_spread(b->op, info, call->at, n_positional);
	if (spread >= 0) {
		if (!bind_ints(
			b->target->graph, name, &info->params[spread],
			&(struct arguments){ call->at + spread, n_positional - spread, NULL },
			&args[spread], err))
			return false;
		given[spread] = true;
	}
	for (int i = 0; i < (spread >= 0 ? spread : n_positional); i++) {
		int to = place_of(i, factor);

		if (to >= info->n_params || (info->params[to].keyword_only && to != factor))
			return too_many(info, name, n_positional, err);
		if (!bind_value(b->target, name, &info->params[to], call->at[i], &args[to], err))
			return false;
		given[to] = true;
	}
	if (!bind_keywords(b, call, args, given, err) || !check_missing(info, name, given, err))
		return false;
	reduce_as_of_old(info, args);
	if (!has_tensor(info, args))
		return err_set(err, ERR_TYPE,
			       "%s needs at least one tensor; all operands are numbers",
			       display(name, text));
	return true;
}

bool bind_call(const struct bind_target *target, enum op op, const char *name,
	       const struct arguments *call, struct arg args[MAX_ARGS], struct err *err)
{
	const struct custom_op *custom;

	memset(args, 0, sizeof(*args) * MAX_ARGS);
	if (op != OP_custom)
		return bind_as(&(struct binding){ target, op, op_info(op), name }, call, args, err);
	custom = custom_find(target->graph->custom, name);
	if (!custom)
		return err_set(err, ERR_NAME, "there is no %s", name);
	args[0] = arg_str(custom->info.id);
	return bind_as(&(struct binding){ target, op, &custom->info, name }, call, args + 1, err);
}

bool bind_by_parameter(enum op op, const struct arguments *args, struct value out[MAX_ARGS])
{
	const struct op_info *info = op_info(op);
	int n_positional = args->n - (args->kw ? args->kw->n : 0),
	    spread = sizes_spread(op, info, args->at, n_positional);
	int plain = spread >= 0 ? spread : n_positional;
	int factor = factor_first(op, info, args->at, n_positional);

	for (int i = 0; i < MAX_ARGS; i++)
		out[i] = (struct value){ .kind = VALUE_UNSET };
	for (int i = 0; i < plain && i < info->n_params; i++)
		out[place_of(i, factor)] = value_ref(args->at[i]);
	if (spread >= 0) {
		out[spread] = value_tuple(args->at + spread, n_positional - spread);
		if (out[spread].kind == VALUE_UNSET)
			return false;
	}
	for (int k = 0; args->kw && k < args->kw->n; k++) {
		int i = bind_parameter(info, args->kw->names[k].str->text);

		if (i >= 0)
			out[i] = value_ref(args->at[n_positional + k]);
	}
	return values_as_of_old(info, out);
}

static bool changes_shape(const struct node *to, const struct node *from, struct err *err)
{
	struct buf shapes;

	buf_init(&shapes, 256);
	shape_print(&shapes, &from->shape);
	buf_puts(&shapes, " does not fit into ");
	shape_print(&shapes, &to->shape);
	err_set(err, ERR_SHAPE,
		"an in-place operator keeps the shape of its tensor: %s; "
		"write x = x + y instead of x += y",
		shapes.data ? shapes.data : "");
	buf_finish(&shapes);
	return false;
}

int bind_inplace(struct graph *g, int target, int result, int line, int column, struct err *err)
{
	const struct node *to = g->nodes[target], *from = g->nodes[result];
	struct arg args[2] = { arg_node(result), arg_dtype(to->dtype) };

	if (!shape_equal(&to->shape, &from->shape)) {
		changes_shape(to, from, err);
		return -1;
	}
	if (dtype_category(from->dtype) > dtype_category(to->dtype)) {
		err_set(err, ERR_DTYPE,
			"an in-place operator keeps the dtype of its tensor: the result is %s, the "
			"tensor %s; write x = x + y instead of x += y",
			dtype_name(from->dtype), dtype_name(to->dtype));
		return -1;
	}
	if (from->dtype == to->dtype)
		return result;
	return graph_add(g, &(struct node_spec){ OP_to, args, 2, line, column }, err);
}
