/* fusion/torch/torch_call.c -- operators, and calls that are no ops.
 *
 * Shared by the eager and the capturing host, so that both refuse the same
 * things in the same words.
 */
#include "fusion/vm/operators.h"
#include "fusion/torch/bind.h"
#include "fusion/torch/torch_host.h"

#include <string.h>

static const char *const binary_names[BIN_COUNT] = {
	[BIN_ADD] = "op:+",       [BIN_SUB] = "op:-", [BIN_MUL] = "op:*",  [BIN_TRUEDIV] = "op:/",
	[BIN_FLOORDIV] = "op://", [BIN_MOD] = "op:%", [BIN_POW] = "op:**", [BIN_MATMUL] = "op:@",
	[BIN_AND] = "op:&",       [BIN_OR] = "op:|",  [BIN_XOR] = "op:^",  [BIN_LSHIFT] = "op:<<",
	[BIN_RSHIFT] = "op:>>",
};
static const char *const unary_names[UN_COUNT] = {
	[UN_NEG] = "op:neg", [UN_POS] = "op:pos", [UN_INVERT] = "op:~", [UN_NOT] = "op:not"
};
static const char *const compare_names[CMP_COUNT] = {
	[CMP_LT] = "op:<",          [CMP_LE] = "op:<=",         [CMP_EQ] = "op:==",
	[CMP_NE] = "op:!=",         [CMP_GT] = "op:>",          [CMP_GE] = "op:>=",
	[CMP_IS] = "op:is",         [CMP_IS_NOT] = "op:is not", [CMP_IN] = "op:in",
	[CMP_NOT_IN] = "op:not in",
};

const char *torch_binary_name(enum binop op)
{
	return binary_names[op];
}

const char *torch_unary_name(enum unop op)
{
	return unary_names[op];
}

const char *torch_compare_name(enum cmpop op)
{
	return compare_names[op];
}

static int operator_op(const char *name)
{
	enum op op;

	return op_find(name, &op) ? (int)op : -1;
}

void torch_operators_init(struct torch_operators *t)
{
	for (int i = 0; i < BIN_COUNT; i++)
		t->binary[i] = operator_op(binary_names[i]);
	for (int i = 0; i < UN_COUNT; i++)
		t->unary[i] = operator_op(unary_names[i]);
	for (int i = 0; i < CMP_COUNT; i++)
		t->compare[i] = operator_op(compare_names[i]);
}

bool torch_no_operator(const char *name, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED,
		       "the operator %s on tensors is not in the language so far; "
		       "write it with the ops that are",
		       name + strlen("op:"));
}

bool torch_plain_cast(const struct value *values, int n, const struct keywords *kw)
{
	return n == 2 && values[0].kind == VALUE_TENSOR && values[1].kind == VALUE_DTYPE &&
	       (!kw || kw->n == 0 || (kw->n == 1 && strcmp(kw->names[0].str->text, "dtype") == 0));
}

static bool is_operand(struct value v)
{
	return value_is_hosted(v) || value_is_number(v);
}

bool torch_identity(enum cmpop op, struct value a, struct value b, struct value *out)
{
	bool same = value_counted(a) && a.kind == b.kind && a.object == b.object;

	if (op == CMP_IS || op == CMP_IS_NOT) {
		*out = value_bool(same == (op == CMP_IS));
		return true;
	}
	if ((op == CMP_EQ || op == CMP_NE) && (!is_operand(a) || !is_operand(b))) {
		*out = value_bool(op == CMP_NE);
		return true;
	}
	return false;
}

enum dtype torch_cast_dtype(int id)
{
	switch (id) {
	case NATIVE_FLOAT:
		return DTYPE_F32;
	case NATIVE_DOUBLE:
		return DTYPE_F64;
	case NATIVE_LONG:
		return DTYPE_I64;
	case NATIVE_BOOL:
		return DTYPE_BOOL;
	default:
		return DTYPE_COUNT;
	}
}

bool torch_requires_grad_arg(const struct value *args, int n, const struct keywords *kw,
			     struct value *on, struct err *err)
{
	if (n > 1)
		return err_set(err, ERR_TYPE,
			       "Tensor.requires_grad_ takes at most one argument, "
			       "but %d are given",
			       n);
	if (kw && kw->n > 0 && strcmp(kw->names[0].str->text, "requires_grad") != 0)
		return err_set(err, ERR_TYPE, "Tensor.requires_grad_ has no parameter %s",
			       kw->names[0].str->text);
	*on = n > 0 ? args[0] : value_bool(true);
	return on->kind == VALUE_BOOL ||
	       err_set(err, ERR_TYPE,
		       "Tensor.requires_grad_: requires_grad must be True or False, "
		       "not %s",
		       value_type_name(*on));
}

bool torch_native_args(const struct native *f, const struct value *args, int n,
		       const struct keywords *kw, struct value *tensor, struct value *dim,
		       struct err *err)
{
	bool bound = f->self.kind == VALUE_TENSOR;
	bool takes_dim = f->id == NATIVE_SIZE || f->id == NATIVE_STRIDE;
	int wanted = bound ? 0 : 1, most = takes_dim ? wanted + 1 : wanted;

	*dim = value_none();
	if (f->id == NATIVE_TENSOR)
		return err_set(
		    err, ERR_UNSUPPORTED,
		    "torch.Tensor is a type for isinstance() here; write torch.tensor()");
	if (f->id == NATIVE_REQUIRES_GRAD_ && bound) { /* which the hosts carry out */
		*tensor = f->self;
		return torch_requires_grad_arg(args, n, kw, dim, err);
	}
	if (takes_dim && kw && kw->n == 1 && strcmp(kw->names[0].str->text, "dim") == 0)
		kw = NULL; /* size(dim=0) is size(0) */
	if (kw && kw->n > 0)
		return err_set(err, ERR_TYPE, "%s has no parameter %s", f->name,
			       kw->names[0].str->text);
	if (n < wanted || n > most)
		return err_set(err, ERR_TYPE, "%s takes %s, but %d %s given", f->name,
			       most == 0 ? "no arguments"
			       : wanted  ? "one argument"
					 : "at most one argument",
			       n, n == 1 ? "is" : "are");
	*tensor = bound ? f->self : args[0];
	if (n > wanted)
		*dim = args[wanted];
	if (tensor->kind != VALUE_TENSOR && f->id != NATIVE_IS_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes a tensor, not %s", f->name,
			       value_type_name(*tensor));
	if (dim->kind != VALUE_NONE && dim->kind != VALUE_INT)
		return err_set(err, ERR_TYPE, "%s: dim must be an int, not %s", f->name,
			       value_type_name(*dim));
	return true;
}

bool torch_wrap_dim(int64_t dim, int rank, int *out, struct err *err)
{
	if (rank == 0)
		return err_set(err, ERR_INDEX,
			       "dim %lld does not exist: the tensor has no dimensions",
			       (long long)dim);
	if (dim < -rank || dim >= rank)
		return err_set(err, ERR_INDEX,
			       "dim %lld does not exist: the tensor has %d dimension%s, dim may be "
			       "%d to %d",
			       (long long)dim, rank, rank == 1 ? "" : "s", -rank, rank - 1);
	*out = (int)(dim < 0 ? dim + rank : dim);
	return true;
}

bool torch_says_inplace(const struct native *f, const struct value *args, int n,
			const struct keywords *kw, struct torch_form *form)
{
	int positional = n - (kw ? kw->n : 0), at = -1;

	for (int i = 0; kw && i < kw->n && at < 0; i++)
		if (strcmp(kw->names[i].str->text, "inplace") == 0)
			at = positional + i;
	if (f->id >= OP_COUNT)
		return false;
	if (at < 0 && f->self.kind != VALUE_TENSOR) { /* F.silu(x, True) */
		at = f->id == OP_relu ? 1 : bind_parameter(op_info((enum op)f->id), "inplace");
		at = at < positional ? at : -1;
	}
	if (at < 0 || n > MAX_ARGS || args[at].kind != VALUE_BOOL)
		return false;
	*form = (struct torch_form){ .inplace = args[at].b };
	for (int i = 0; i < n; i++) {
		if (i == at)
			continue;
		if (i >= positional)
			form->names[form->kw.n++] = kw->names[i - positional];
		form->args[form->n++] = args[i];
	}
	form->kw.names = form->names;
	return true;
}
