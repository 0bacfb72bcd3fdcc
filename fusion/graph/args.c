/* fusion/graph/args.c -- arguments against an op's signature.
 *
 * A node has every argument of its row: what a call leaves out is filled in
 * from the signature's default, so no reader needs to know defaults.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/base/bits.h"
#include "fusion/graph/custom.h"
#include "fusion/graph/infer.h"

static const char *const arg_words[] = {
	[ARG_NONE] = "None",     [ARG_NODE] = "a Tensor",        [ARG_INT] = "an int",
	[ARG_FLOAT] = "a float", [ARG_REAL] = "a float",         [ARG_BOOL] = "a bool",
	[ARG_DTYPE] = "a dtype", [ARG_INTS] = "a tuple of ints", [ARG_STR] = "a str",
};

static const char *const param_words[] = {
	[PARAM_TENSOR] = "a Tensor",
	[PARAM_TENSOR_SCALAR] = "a Tensor or a number",
	[PARAM_SCALAR] = "a number",
	[PARAM_INT] = "an int",
	[PARAM_FLOAT] = "a float",
	[PARAM_BOOL] = "a bool",
	[PARAM_INTS] = "an int or a tuple of ints",
	[PARAM_DTYPE] = "a dtype such as torch.float32",
	[PARAM_STR] = "a str",
};

static bool is_number(enum arg_kind kind)
{
	return kind == ARG_INT || kind == ARG_FLOAT || kind == ARG_REAL || kind == ARG_BOOL;
}

static bool kind_fits(enum param_kind param, enum arg_kind kind)
{
	switch (param) {
	case PARAM_TENSOR:
		return kind == ARG_NODE;
	case PARAM_TENSOR_SCALAR:
		return kind == ARG_NODE || is_number(kind);
	case PARAM_SCALAR:
		return is_number(kind);
	case PARAM_INT:
		return kind == ARG_INT;
	case PARAM_FLOAT:
		return kind == ARG_FLOAT;
	case PARAM_BOOL:
		return kind == ARG_BOOL;
	case PARAM_INTS:
		return kind == ARG_INTS;
	case PARAM_DTYPE:
		return kind == ARG_DTYPE;
	default:
		return kind == ARG_STR;
	}
}

/* The default of an optional parameter; its text is in ops.def. */
static struct arg default_arg(const struct graph *g, const struct op_param *param)
{
	const char *text = param->fallback;

	if (!strcmp(text, "None"))
		return arg_none();
	switch (param->kind) {
	case PARAM_BOOL:
		return arg_bool(!strcmp(text, "True"));
	case PARAM_INTS: /* "()", or one int, which widen() makes a list */
		return *text == '(' ? arg_ints(NULL, 0) : arg_int(g, strtoll(text, NULL, 10));
	case PARAM_STR:
		return arg_str(text);
	case PARAM_FLOAT:
		return arg_float(strtod(text, NULL));
	case PARAM_INT:
		return arg_int(g, strtoll(text, NULL, 10));
	default:
		return strpbrk(text, ".e") ? arg_float(strtod(text, NULL))
					   : arg_int(g, strtoll(text, NULL, 10));
	}
}

/* An int where a float or a list of ints is wanted. */
static bool widen(struct graph *g, const struct op_param *param, struct arg *arg, struct err *err)
{
	const struct sym **list;

	if (arg->kind != ARG_INT)
		return true;
	if (param->kind == PARAM_FLOAT && sym_is_const(arg->sym)) {
		*arg = arg_float((double)arg->sym->value);
	} else if (param->kind == PARAM_INTS) {
		list = ARENA_ARRAY(g->arena, const struct sym *, 1);
		if (!list)
			return err_set(err, ERR_MEMORY, "out of memory while building a graph");
		list[0] = arg->sym;
		*arg = arg_ints(list, 1);
	}
	return true;
}

static bool copy_payload(struct graph *g, struct arg *arg, struct err *err)
{
	const struct sym **ints;

	if (arg->kind == ARG_STR) {
		arg->str = arena_strdup(g->arena, arg->str);
		if (arg->str)
			return true;
	} else if (arg->kind == ARG_INTS && arg->n > 0) {
		ints = ARENA_ARRAY(g->arena, const struct sym *, (size_t)arg->n);
		if (ints) {
			memcpy(ints, arg->ints, sizeof(ints[0]) * (size_t)arg->n);
			arg->ints = ints;
			return true;
		}
	} else {
		return true;
	}
	return err_set(err, ERR_MEMORY, "out of memory while building a graph");
}

static bool check_one(const struct graph *g, const struct op_info *info,
		      const struct op_param *param, const struct arg *arg, struct err *err)
{
	if (arg->kind == ARG_NONE && param->nullable)
		return true;
	if (!kind_fits(param->kind, arg->kind))
		return err_set(err, ERR_TYPE, "%s: `%s` is %s; %s%s is needed here", info->fx,
			       param->name, arg_words[arg->kind], param_words[param->kind],
			       param->nullable ? " or None" : "");
	if (arg->kind == ARG_NODE && (arg->node < 0 || arg->node >= g->n_nodes))
		return err_set(err, ERR_INTERNAL, "%s: `%s` is node %d of %d", info->fx,
			       param->name, arg->node, g->n_nodes);
	if (arg->kind == ARG_INT && !arg->sym)
		return err_set(
		    err, ERR_BOUND,
		    "%s: the size in `%s` has grown past %d terms; use fewer products of "
		    "sizes",
		    info->fx, param->name, SYM_MAX_NODES);
	for (int i = 0; arg->kind == ARG_INTS && i < arg->n; i++)
		if (!arg->ints[i])
			return err_set(err, ERR_BOUND,
				       "%s: size %d of `%s` has grown past %d terms; use fewer "
				       "products of sizes",
				       info->fx, i, param->name, SYM_MAX_NODES);
	return true;
}

bool args_check(const struct graph *g, enum op op, const struct arg *args, struct err *err)
{
	const struct op_info *info = op_info(op);

	for (int i = 0; i < info->n_params; i++)
		if (!check_one(g, info, &info->params[i], &args[i], err))
			return false;
	return true;
}

/* What the signature of a plugin's op says of its arguments; args[0] is its name. */
static bool bind_custom(struct graph *g, struct arg *args, struct err *err)
{
	const struct custom_op *op = args[0].kind == ARG_STR ? custom_find(g->custom, args[0].str)
							     : NULL;

	if (!op)
		return err_set(err, ERR_NAME, "there is no such op of a plugin");
	for (int i = 0; i < op->info.n_params; i++) {
		const struct op_param *param = &op->info.params[i];
		struct arg *arg = &args[i + 1];

		if (arg->kind == ARG_NONE && !param->optional && !param->nullable)
			return err_set(err, ERR_TYPE, "%s: `%s` is missing: %s(%s)", op->info.fx,
				       param->name, op->info.fx, op->info.signature);
		if (arg->kind == ARG_NONE && param->optional)
			*arg = default_arg(g, param);
		if (!widen(g, param, arg, err) || !check_one(g, &op->info, param, arg, err))
			return false;
	}
	for (int i = op->info.n_params + 1; i < MAX_ARGS; i++)
		if (args[i].kind != ARG_NONE)
			return err_set(err, ERR_TYPE, "%s takes %d arguments: %s(%s)", op->info.fx,
				       op->info.n_params, op->info.fx, op->info.signature);
	return true;
}

bool args_bind(struct graph *g, enum op op, const struct arg *args, int n, struct arg out[MAX_ARGS],
	       struct err *err)
{
	const struct op_info *info = op_info(op);

	if (n > info->n_params)
		return err_set(err, ERR_TYPE, "%s: takes %d arguments and got %d: %s(%s)", info->fx,
			       info->n_params, n, info->fx, info->signature);
	for (int i = 0; i < info->n_params; i++) {
		const struct op_param *param = &info->params[i];

		out[i] = i < n ? args[i] : arg_none();
		if (out[i].kind == ARG_NONE && !param->optional && !param->nullable)
			return err_set(err, ERR_TYPE, "%s: `%s` is missing: %s(%s)", info->fx,
				       param->name, info->fx, info->signature);
		if (out[i].kind == ARG_NONE && param->optional)
			out[i] = default_arg(g, param);
		if ((out[i].kind == ARG_INT && !out[i].sym) || /* check_one says it */
		    (widen(g, param, &out[i], err) && copy_payload(g, &out[i], err)))
			continue;
		return false;
	}
	if ((op == OP_custom || op == OP_custom_kernel) && !bind_custom(g, out, err))
		return false;
	return args_check(g, op, out, err);
}

bool arg_equal(const struct arg *a, const struct arg *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ARG_NONE:
		return true;
	case ARG_NODE:
		return a->node == b->node;
	case ARG_INT:
	case ARG_REAL:
		return a->sym == b->sym;
	case ARG_FLOAT:
		return same_double(a->f, b->f);
	case ARG_BOOL:
		return a->b == b->b;
	case ARG_DTYPE:
		return a->dtype == b->dtype;
	case ARG_STR:
		return !strcmp(a->str, b->str);
	case ARG_INTS:
		if (a->n != b->n)
			return false;
		for (int i = 0; i < a->n; i++)
			if (a->ints[i] != b->ints[i])
				return false;
		return true;
	}
	return false;
}
