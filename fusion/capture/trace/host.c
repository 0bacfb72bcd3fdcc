/* fusion/capture/trace/host.c -- the host of the virtual machine that appends ops to a graph.
 */
#include "fusion/capture/trace/trace.h"

#include <stdio.h>
#include <string.h>

#include "fusion/eager/autograd.h"
#include "fusion/torch/bind.h"
#include "fusion/torch/numbers.h"
#include "fusion/torch/torch_control.h"
#include "fusion/torch/torch_host.h"
#include "fusion/torch/natives.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"

static bool writes_log(const struct native *f)
{
	return builtin_find("_prelude", "log") == f->id ||
	       builtin_find("warnings", "warn") == f->id;
}

/* Messages go nowhere, so natively nothing is lost; TorchDynamo calls no code that
 * might write one.  Within the prelude's module logging it is the program's call of it. */
static bool break_at_log(struct trace *t, const struct native *native, struct err *err)
{
	bool warns = builtin_find("warnings", "warn") == native->id;
	const struct frame *f = t->vm->frame;
	char subject[64];

	snprintf(subject, sizeof(subject), "logging's %s()", f->code->name);
	while (!warns && f->unit->hidden && f != t->base)
		f = f->up;
	trace_break_at(t, warns ? BREAK_SKIPPED : BREAK_LOGGING,
		       warns ? "warnings.warn()" : subject, f);
	return err_set(err, ERR_BREAK, "the graph ends here");
}

/* vm_host.builtin_break */
static bool trace_builtin_break(void *self, const struct native *f, struct err *err)
{
	static const char *const skipped[] = { "time" };
	const struct trace *t = self;
	char subject[64];

	if (builtin_find("", "print") == f->id && prints_may(self))
		return true;
	if (writes_log(f))
		return t->native || break_at_log(self, f, err);
	if (builtin_find("_prelude", "rnn") == f->id)
		return t->native || trace_break(self, BREAK_RNN, NULL, err);
	if (t->native && !builtin_row(f->id)->impure) /* the text of symbols: they are pinned */
		return true;
	for (size_t i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++) {
		if (builtin_find(skipped[i], f->name) != f->id)
			continue;
		snprintf(subject, sizeof(subject), "%s.%s()", skipped[i], f->name);
		return trace_break(self, BREAK_SKIPPED, subject, err);
	}
	snprintf(subject, sizeof(subject), "%s()", f->name);
	return trace_break(self, BREAK_HOST_CALL, subject, err);
}

enum { MOST_SYMBOLIC = 64 }; /* elements of a literal with symbols */

/* ---- torch.tensor(numbers) while capturing.
 *
 * Numbers that are known make a constant of the graph.  With a symbol among them
 * (torch.tensor(n), torch.tensor([n, 1.0 / k])) each element is a node, so that
 * the graph serves other sizes too. */

static bool is_list(struct value v)
{
	return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
}

/* Counts the elements; *symbols: how many are no plain numbers. */
static int count(struct value v, int depth, int *symbols)
{
	int n = 0;

	if (!is_list(v) || depth == MAX_RANK) {
		*symbols += v.kind >= VALUE_SYMINT && v.kind <= VALUE_DEFERRED_BOOL;
		return 1;
	}
	for (int i = 0; i < v.list->len; i++)
		n += count(v.list->at[i], depth + 1, symbols);
	return n;
}

/* The list with the numbers of the capture in place of symbols: its shape and
 * dtype are those of the literal. */
static bool at_capture(struct trace *t, struct value v, struct value *out, struct err *err)
{
	switch (v.kind) {
	case VALUE_SYMINT:
		*out = value_int(sym_hint(t->graph->syms, v.sym));
		return true;
	case VALUE_SYMREAL:
	case VALUE_SYMFLOAT:
		*out = value_float(0);
		return true;
	case VALUE_SYMBOOL:
		*out = v;
		return trace_settle(t, out, err);
	case VALUE_LIST:
	case VALUE_TUPLE:
		break;
	default:
		*out = value_ref(v);
		return true;
	}
	*out = value_sequence(VALUE_LIST, v.list->len);
	if (out->kind == VALUE_UNSET)
		return trace_no_memory(err);
	for (int i = 0; i < v.list->len; i++) {
		if (!at_capture(t, v.list->at[i], &out->list->at[i], err)) {
			value_unref(*out);
			return false;
		}
		out->list->len++;
	}
	return true;
}

struct literal {
	struct trace *t;
	enum dtype dtype;
	struct value items; /* a list: tensors of 0 dims */
	struct err *err;
};

static bool add_item(struct literal *l, struct value v)
{
	struct trace *t = l->t;
	struct value dtype = { .kind = VALUE_DTYPE, .dtype = l->dtype }, item;
	struct value empty = value_tuple(NULL, 0), values[3];
	struct keywords kw = { .n = 1 };
	struct value name = value_str("dtype", 5);
	int node;
	bool ok = empty.kind != VALUE_UNSET && name.kind != VALUE_UNSET;

	kw.names = &name;
	if (!ok) {
		trace_no_memory(l->err);
	} else if (v.kind == VALUE_SYMREAL || v.kind == VALUE_SYMFLOAT) {
		node = v.kind == VALUE_SYMREAL ? trace_real_node(t, v.real, l->err) : (int)v.i;
		ok = node >= 0 && trace_wrap(t, node, &values[0], l->err);
		values[1] = dtype;
		if (ok) {
			ok = trace_op(t, &(struct op_call){ OP_to, "fx:", false, values, 2, NULL },
				      &item, l->err);
			value_unref(values[0]);
		}
	} else {
		values[0] = empty;
		values[1] = v;
		values[2] = dtype;
		ok = trace_op(t, &(struct op_call){ OP_full, "fx:", false, values, 3, &kw }, &item,
			      l->err);
	}
	value_unref(empty);
	value_unref(name);
	if (!ok)
		return false;
	ok = value_list_push(l->items.list, item) || trace_no_memory(l->err);
	value_unref(item);
	return ok;
}

static bool add_items(struct literal *l, struct value v)
{
	if (!trace_settle(l->t, &v, l->err))
		return false;
	if (!is_list(v))
		return add_item(l, v);
	for (int i = 0; i < v.list->len; i++)
		if (!add_items(l, v.list->at[i]))
			return false;
	return true;
}

/* The items as one tensor of the literal's shape. */
static bool put_together(struct literal *l, int rank, const int64_t *size, struct value *out)
{
	struct trace *t = l->t;
	struct value flat, values[2], sizes[MAX_RANK];
	struct value stack = value_native("torch.stack", NATIVE_STACK, false,
					  (struct value){ .kind = VALUE_UNSET });
	bool ok;

	if (stack.kind == VALUE_UNSET)
		return trace_no_memory(l->err);
	ok = decompose_call(&t->decomposer, stack.native, &(struct arguments){ &l->items, 1, NULL },
			    &flat, l->err);
	value_unref(stack);
	if (!ok || rank == 1) {
		*out = flat;
		return ok;
	}
	for (int d = 0; d < rank; d++)
		sizes[d] = value_int(size[d]);
	values[0] = flat;
	values[1] = value_tuple(sizes, rank);
	ok = values[1].kind == VALUE_UNSET
		 ? trace_no_memory(l->err)
		 : trace_op(t, &(struct op_call){ OP_reshape, "fx:", false, values, 2, NULL }, out,
			    l->err);
	value_unref(values[1]);
	value_unref(flat);
	return ok;
}

static bool make_symbolic(struct trace *t, bool named, struct value data, enum dtype dtype,
			  struct value *out, struct err *err)
{
	struct literal l = { .t = t, .err = err };
	struct bound_literal numbers = { .dtype = dtype, .real = t->graph->real };
	struct value plain;
	bool ok;

	if (!at_capture(t, data, &plain, err))
		return false;
	ok = bind_literal(t->graph->arena, plain, &numbers, err);
	value_unref(plain);
	if (!ok)
		return false;
	l.dtype = numbers.dtype;
	l.items = value_list(NULL, 0);
	ok = l.items.kind == VALUE_UNSET ? trace_no_memory(err) : add_items(&l, data);
	if (ok && numbers.rank == 0)
		*out = value_ref(l.items.list->at[0]);
	else
		ok = ok && put_together(&l, numbers.rank, numbers.size, out);
	value_unref(l.items);
	if (ok && numbers.rank < 2 &&
	    !graph_set_fx(t->graph, out->tensor->node, named ? "tensor" : ""))
		ok = trace_no_memory(err);
	t->n_ops += ok && named && numbers.rank == 0; /* its node was none of FX's so far */
	return ok;
}

/* Too many: they are specialised. */
static bool pin_all(struct trace *t, struct value v, bool *changed)
{
	if (!is_list(v))
		*changed |= trace_pin_value_quietly(t, v);
	for (int i = 0; is_list(v) && i < v.list->len; i++)
		pin_all(t, v.list->at[i], changed);
	t->restart |= *changed;
	return *changed;
}

/* torch.tensor(numbers); without `named` FX calls it nothing. */
static bool trace_literal(struct trace *t, bool named, const struct arguments *args,
			  struct value *out, struct err *err)
{
	struct shape shape = { 0 };
	struct bound_literal l = { .real = t->graph->real };
	struct value data;
	int node, symbols = 0, elements_n;
	bool changed = false;

	if (!bind_tensor_call(args, &data, &l.dtype, err))
		return false;
	named &= !trace_within_call(t);
	elements_n = count(data, 0, &symbols);
	if (symbols > 0 && elements_n <= MOST_SYMBOLIC)
		return make_symbolic(t, named, data, l.dtype, out, err);
	if (symbols > 0 && pin_all(t, data, &changed))
		return err_set(err, ERR_UNSUPPORTED, "the numbers are specialised");
	if (!bind_literal(t->graph->arena, data, &l, err))
		return false;
	shape.rank = l.rank;
	for (int d = 0; d < shape.rank; d++)
		shape.size[d] = sym_const(t->graph->syms, l.size[d]);
	node = graph_constant(t->graph, l.dtype, &shape, l.elements);
	if (node < 0)
		return trace_no_memory(err);
	t->graph->nodes[node]->line = t->host.line;
	t->graph->nodes[node]->column = t->host.column;
	if (!named && !graph_set_fx(t->graph, node, ""))
		return trace_no_memory(err);
	t->n_ops += named;
	return trace_wrap(t, node, out, err);
}

static bool shape_value(const struct shape *shape, struct value *out, struct err *err)
{
	struct value sizes[MAX_RANK];

	for (int d = 0; d < shape->rank; d++)
		sizes[d] = trace_size_value(shape->size[d]);
	*out = value_tuple(sizes, shape->rank);
	if (out->kind == VALUE_UNSET)
		return trace_no_memory(err);
	out->list->is_size = true;
	return true;
}

static bool cast(struct trace *t, const struct native *f, struct value tensor, struct value *out,
		 struct err *err)
{
	struct value args[2] = { tensor,
				 { .kind = VALUE_DTYPE, .dtype = torch_cast_dtype(f->id) } };

	return trace_op(t, &(struct op_call){ OP_to, f->name, false, args, 2, NULL }, out, err);
}

/* stride(), is_contiguous(), storage_offset() */
static bool layout_value(struct trace *t, const struct native *f, struct value tensor,
			 struct value dim, struct value *out, struct err *err)
{
	int node = trace_node(t, tensor, err), id = f->id, d;
	struct value strides[MAX_RANK];
	struct view_layout l;

	if (node < 0)
		return false;
	if (!view_layout(t->graph, node, &l))
		return trace_no_memory(err);
	if (strcmp(f->name, "Tensor.storage_offset") == 0 && sym_is_const(l.offset) && !t->native)
		return trace_break(t, BREAK_INT_ANSWER, ".storage_offset()", err);
	if (id == NATIVE_IS_CONTIGUOUS)
		*out = value_bool(torch_layout_contiguous(t->graph, &l, dim));
	else if (id == NATIVE_STORAGE_OFFSET)
		*out = trace_size_value(l.offset);
	if (id != NATIVE_STRIDE)
		return true;
	if (dim.kind != VALUE_NONE) {
		if (!torch_wrap_dim(dim.i, l.shape.rank, &d, err))
			return false;
		*out = trace_size_value(l.stride[d]);
		return true;
	}
	for (d = 0; d < l.shape.rank; d++)
		strides[d] = trace_size_value(l.stride[d]);
	*out = value_tuple(strides, l.shape.rank);
	return out->kind != VALUE_UNSET || trace_no_memory(err);
}

static bool call_native(struct trace *t, const struct native *f, const struct arguments *args,
			struct value *out, struct err *err)
{
	struct value tensor, dim;
	struct shape shape;
	enum dtype dtype;
	bool known;
	int d;

	if (!torch_native_args(f, args, &tensor, &dim, err))
		return false;
	if (f->id == NATIVE_IS_TENSOR) {
		*out = value_bool(tensor.kind == VALUE_TENSOR);
		return true;
	}
	if (f->id == NATIVE_ITEM)
		return deferred_read(t, VALUE_UNSET, tensor, &known, out, err) &&
		       (known || trace_break(t, BREAK_SCALAR_READ, ".item()", err));
	if (torch_cast_dtype(f->id) != DTYPE_COUNT)
		return cast(t, f, tensor, out, err);
	if (f->id == NATIVE_REQUIRES_GRAD_)
		return trace_requires_grad(t, tensor, dim, out, err);
	if (!trace_shape(t, tensor, &shape, &dtype, err))
		return false;
	if (f->id == NATIVE_DATA_PTR)
		return trace_break(t, BREAK_INT_ANSWER, ".data_ptr()", err);
	if (f->id >= NATIVE_STRIDE && f->id <= NATIVE_STORAGE_OFFSET)
		return layout_value(t, f, tensor, dim, out, err);
	if (f->id == NATIVE_SIZE && dim.kind == VALUE_NONE)
		return shape_value(&shape, out, err);
	if (f->id == NATIVE_SIZE) {
		if (!torch_wrap_dim(dim.i, shape.rank, &d, err))
			return false;
		*out = trace_size_value(shape.size[d]);
	} else if (f->id == NATIVE_DIM) {
		*out = value_int(shape.rank);
	} else if (f->id == NATIVE_ELEMENT_SIZE) {
		*out = value_int((int64_t)dtype_bytes(dtype));
	} else {
		const struct sym *numel = shape_numel(t->graph->syms, &shape);

		if (!numel)
			return trace_no_memory(err);
		*out = trace_size_value(numel);
	}
	return true;
}

static bool call_control(struct trace *t, const struct native *f, const struct arguments *args,
			 struct value *out, struct err *err)
{
	if (f->id == CONTROL_GRAPH_BREAK)
		return trace_break(t, BREAK_EXPLICIT, NULL, err);
	if (f->id == CONTROL_MARK_DYNAMIC)
		return trace_break(t, BREAK_SKIPPED, f->name, err);
	*out = value_none();
	if (f->id == CONTROL_FUNCTION_CONTEXT)
		return trace_mark_call(t, "FunctionCtx", err) &&
		       (args->n == 0 || t->backward->functions->begin(t, args, err));
	if (f->id == CONTROL_BODY || f->id == CONTROL_PURE_BODY)
		return t->control->body(
		    t,
		    &(struct trace_body){ .writes_tensors = f->id == CONTROL_BODY,
					  .tensor_birth = t->n_tensors },
		    args, out, err);
	if (f->id == CONTROL_DERIVATIVE)
		return torch_control_derivative(f, args, &t->derivatives, out, err);
	if (f->id == CONTROL_GRAD_MODE || f->id == CONTROL_IS_GRAD)
		*out = value_bool(!t->grad_off);
	if (f->id == CONTROL_GRAD_MODE && args->n == 1) {
		bool enabled = args->at[0].kind == VALUE_BOOL && args->at[0].b;

		if (value_is_hosted(args->at[0]) && !t->host.truth(t, args->at[0], &enabled, err))
			return false;
		return (args->at[0].kind != VALUE_BOOL && !value_is_hosted(args->at[0])) ||
		       trace_mark_grad(t, enabled, err);
	}
	if (f->id == CONTROL_GRAD_MODE && args->n == 2 && args->at[0].kind == VALUE_BOOL) {
		t->grad_off = !args->at[0].b;
		return trace_mark_inference(t, args->at[1].b, err);
	}
	if (f->id == CONTROL_GRAD_MODE || f->id == CONTROL_IS_GRAD)
		return true;
	if (torch_control_is_autocast(f))
		return trace_autocast(t, f, args->at, args->n, out, err);
	if (f->id != CONTROL_IS_COMPILING && f->id != CONTROL_IS_TRACED &&
	    f->id != CONTROL_FOLLOWS_DYNAMO)
		return torch_control_call(f, args, NULL, out, err);
	t->told_of_capture |= f->id == CONTROL_IS_COMPILING;
	/* Policy native goes on after what the function prints, and so must not run it twice. */
	*out = value_bool(f->id != CONTROL_FOLLOWS_DYNAMO || !t->native);
	return true;
}

static bool call_tensors(struct trace *t, const struct native *f, const struct arguments *args,
			 struct value *out, struct err *err)
{
	struct value values[MAX_ARGS + 1];
	enum op op = (enum op)f->id;
	int own = f->self.kind == VALUE_TENSOR;
	bool inplace = false, known;
	struct torch_form form;
	struct op_call c;

	if (torch_may_say_inplace(args) && torch_says_inplace(f, args, &form)) {
		args = &form.args;
		inplace = form.inplace;
	}
	if (torch_grad_wants(f->id))
		return trace_grad_call(t, f, args, out, err);
	if (torch_control_wants(f))
		return call_control(t, f, args, out, err);
	for (int i = 0; i < args->n; i++)
		if (args->at[i].kind == VALUE_DEFERRED_TEXT && natives_break(f->id) == BREAK_NONE)
			return deferred_text_need(t, args->at[i], err);
	if (f->id == MORE_TOLIST && own) {
		if (!deferred_list(t, f->self, &known, out, err))
			return false;
		if (known)
			return true;
	}
	if (natives_wants(f, args)) {
		if (natives_break(f->id) != BREAK_NONE || f->id == OP_where)
			return trace_break(
			    t, f->id == OP_where ? BREAK_DYNAMIC_SHAPE : natives_break(f->id),
			    f->name, err);
		return natives_call(&t->decomposer, NULL, f, args, out, err);
	}
	if (decompose_knows(f->id))
		return decompose_call(&t->decomposer, f, args, out, err);
	if (f->id >= NATIVE_INPLACE) {
		op = (enum op)(f->id - NATIVE_INPLACE);
		inplace = true;
	} else if (f->id >= OP_COUNT) {
		return call_native(t, f, args, out, err);
	}
	if (f->id == OP_tensor)
		return trace_literal(t, strcmp(f->name, "fx:") != 0, args, out, err);
	if (args->n > MAX_ARGS)
		return err_set(err, ERR_TYPE, "%s was given %d arguments", f->name, args->n);
	values[0] = f->self;
	for (int i = 0; i < args->n; i++)
		values[i + own] = args->at[i];
	c = (struct op_call){ op, f->name, inplace, values, args->n + own, args->kw };
	if (!deferred_full(t, &c, &known, out, err))
		return false;
	return known || trace_op(t, &c, out, err);
}

static bool host_call(void *self, const struct native *f, const struct arguments *args,
		      struct value *out, struct err *err)
{
	struct trace *t = self;
	bool leaf = args->kw && trace_makes_leaf(t, args);

	if (numbers_wanted(f, args))
		return numbers_call(&t->decomposer, f, args, out, err);
	if (leaf && (!trace_differentiates(t) || t->no_leaves))
		return trace_break(t, BREAK_REQUIRES_GRAD, NULL, err);
	if (!call_tensors(t, f, args, out, err))
		return false;
	if (!leaf || out->kind != VALUE_TENSOR || trace_make_leaf(t, *out, err))
		return true;
	value_unref(*out);
	return false;
}

static bool is_number(struct value v)
{
	return (v.kind >= VALUE_SYMINT && v.kind <= VALUE_DEFERRED_BOOL) || v.kind == VALUE_INT ||
	       v.kind == VALUE_FLOAT || v.kind == VALUE_BOOL;
}

static bool host_binary(void *self, const struct binary *x, struct value *out, struct err *err)
{
	struct trace *t = self;
	struct value values[2] = { x->a, x->b }, a = x->a, b = x->b;
	enum binop op = x->op;

	if (is_number(a) && is_number(b))
		return trace_size_binary(t, op, a, b, out, err);
	if (a.kind != VALUE_TENSOR && b.kind != VALUE_TENSOR) /* [0] * size and the like */
		return trace_pin_value(t, value_is_hosted(a) ? a : b, err);
	if (t->operators->binary[op] < 0)
		return torch_no_operator(torch_binary_name(op), err);
	return trace_op(t,
			&(struct op_call){ (enum op)t->operators->binary[op], torch_binary_name(op),
					   x->inplace && a.kind == VALUE_TENSOR, values, 2, NULL },
			out, err);
}

static bool host_truth(void *self, struct value a, bool *out, struct err *err);

/* not x */
static bool negate(struct trace *t, struct value a, struct value *out, struct err *err)
{
	bool known = trace_is_deferred(t, a), truth;
	struct value v = a;

	if (a.kind != VALUE_TENSOR && !known)
		return trace_size_not(t, a, out, err);
	if (a.kind == VALUE_TENSOR && !deferred_read(t, VALUE_BOOL, a, &known, &v, err))
		return false;
	if (known)
		return deferred_not(t, v, out, err);
	if (!host_truth(t, a, &truth, err))
		return false;
	*out = value_bool(!truth);
	return true;
}

static bool host_unary(void *self, enum unop op, struct value a, struct value *out, struct err *err)
{
	struct trace *t = self;

	if (op == UN_NOT)
		return negate(t, a, out, err);
	if (a.kind != VALUE_TENSOR)
		return trace_size_unary(t, op, a, out, err);
	if (op == UN_POS) { /* the tensor itself, and a node of FX */
		t->n_ops += !trace_within_call(t);
		*out = value_ref(a);
		return true;
	}
	if (t->operators->unary[op] < 0)
		return torch_no_operator(torch_unary_name(op), err);
	return trace_op(t,
			&(struct op_call){ (enum op)t->operators->unary[op], torch_unary_name(op),
					   false, &a, 1, NULL },
			out, err);
}

static bool host_compare(void *self, enum cmpop op, struct value a, struct value b,
			 struct value *out, struct err *err)
{
	struct trace *t = self;
	struct value values[2] = { a, b };

	if (is_number(a) && is_number(b))
		return trace_size_compare(t, op, a, b, out, err);
	if (torch_identity(op, a, b, out))
		return true;
	if (t->operators->compare[op] < 0)
		return torch_no_operator(torch_compare_name(op), err);
	/* 0 == x is the operator; x == 0 is x's method, __eq__ */
	return trace_op(t,
			&(struct op_call){ (enum op)t->operators->compare[op],
					   op == CMP_EQ && a.kind != VALUE_TENSOR
					       ? "fx:eq"
					       : torch_compare_name(op),
					   false, values, 2, NULL },
			out, err);
}

/* Where the policy is to follow both ways, it says why it does not. */
static bool break_branch(struct trace *t, struct err *err)
{
	const char *why = t->control->loop_refusal(t, t->vm->frame->inst);

	if (!why)
		why = trace_branch_refusal(t, t->vm->frame->inst);
	trace_break(t, BREAK_BRANCH, NULL, err);
	if (why)
		snprintf(t->brk.message, sizeof(t->brk.message),
			 "the branch depends on values in a tensor, and the graph does not hold "
			 "both sides of it: %s",
			 why);
	return false;
}

static bool host_truth(void *self, struct value a, bool *out, struct err *err)
{
	if (a.kind == VALUE_TENSOR && !trace_assert(self, a, out, err))
		return false;
	if (a.kind == VALUE_TENSOR)
		return *out || break_branch(self, err);
	if (a.kind == VALUE_DEFERRED_TEXT) {
		*out = ((struct trace *)self)->texts.at[a.i].filled;
		return *out || deferred_text_need(self, a, err);
	}
	return trace_size_truth(self, a, out, err);
}

/* A tensor that the program wrote down, as torch.tensor(1): its value is known. */
static bool is_literal(const struct trace *t, struct value v, struct value *number)
{
	const struct vtensor *tensor = v.tensor;
	const struct node *n;

	if (tensor->owner != t->serial || tensor->node < 0 || tensor->written || tensor->view)
		return false;
	n = t->graph->nodes[tensor->node];
	if ((n->op != OP_tensor && n->op != OP_constant) || !n->data || n->shape.rank != 0)
		return false;
	if (n->dtype == DTYPE_I64)
		*number = value_int(*(const int64_t *)n->data);
	else if (n->dtype == DTYPE_BOOL)
		*number = value_bool(*(const bool *)n->data);
	else
		return false;
	return true;
}

/* Whether the subscript that the frame is at has the tensor as a bound of a slice. */
static bool bounds_slice(const struct frame *f, struct value tensor)
{
	const struct value *index = f->top > f->stack ? &f->top[-1] : NULL, *at = index;
	int n = 1;

	if (!index || (f->inst->op != CODE_BINARY_SUBSCR && f->inst->op != CODE_STORE_SUBSCR))
		return false;
	if (index->kind == VALUE_TUPLE) {
		at = index->list->at;
		n = index->list->len;
	}
	for (int i = 0; i < n; i++)
		if (at[i].kind == VALUE_SLICE && (at[i].slice->start.object == tensor.object ||
						  at[i].slice->stop.object == tensor.object))
			return true;
	return false;
}

/* What of k % 3 and k // 4 is asked for holds for other k: it is guarded, and k stays a symbol. */
static bool is_remainder(enum value_kind kind, struct value a)
{
	return kind == VALUE_INT && a.kind == VALUE_SYMINT &&
	       (a.sym->kind == SYM_MOD || a.sym->kind == SYM_FLOORDIV);
}

static bool guard_remainder(struct trace *t, struct value a, struct value *out, struct err *err)
{
	struct value now = value_int(sym_hint(t->graph->syms, a.sym)), same;
	bool truth;

	if (!trace_size_compare(t, CMP_EQ, a, now, &same, err) ||
	    !trace_size_truth(t, same, &truth, err))
		return false;
	*out = now;
	return true;
}

static bool host_to_number(void *self, enum value_kind kind, struct value a, struct value *out,
			   struct err *err)
{
	struct trace *t = self;
	bool truth;

	if (a.kind == VALUE_TENSOR && kind == VALUE_INT && is_literal(self, a, out))
		return true;
	if (a.kind == VALUE_TENSOR && !t->native && bounds_slice(t->vm->frame, a))
		return trace_break(t, BREAK_SLICE_BOUND, NULL, err);
	if (a.kind == VALUE_TENSOR)
		return trace_break(self, BREAK_SCALAR_READ,
				   kind == VALUE_FLOAT ? "float()"
				   : kind == VALUE_INT ? "int()"
						       : "bool()",
				   err);
	if (is_remainder(kind, a))
		return guard_remainder(t, a, out, err);
	if (kind != VALUE_BOOL && a.kind != VALUE_SYMBOOL)
		return trace_pin_value(self, a, err);
	if (!trace_size_truth(self, a, &truth, err))
		return false;
	*out = kind == VALUE_BOOL ? value_bool(truth) : value_int(truth);
	return true;
}

static bool host_cast(void *self, enum value_kind kind, struct value a, struct value *out,
		      struct err *err)
{
	struct trace *t = self;
	bool known;

	if (a.kind == VALUE_TENSOR && kind == VALUE_INT && is_literal(t, a, out))
		return true;
	if (a.kind == VALUE_TENSOR) {
		if (!deferred_read(t, kind, a, &known, out, err))
			return false;
		return known || host_to_number(t, kind, a, out, err);
	}
	if (trace_is_deferred(t, a))
		return deferred_cast(t, kind, a, out, err);
	return trace_cast(t, kind, a, out, err);
}

/* What no tensor has, and the program has not given this one, it may give it later. */
static bool method_or_own(struct trace *t, struct value tensor, const char *name, struct value *out,
			  struct err *err)
{
	struct err why = { 0 };

	if (torch_method(t->names, tensor, name, out, &why))
		return true;
	if (why.code == ERR_NAME && !prelude_defines("torch.Tensor", name) &&
	    !variables_absent(t, tensor, name, err))
		return false;
	*err = why;
	return false;
}

static bool host_tensor_attr(void *self, struct value tensor, const char *name, struct value *out,
			     struct err *err)
{
	struct trace *t = self;
	struct shape shape;
	enum dtype dtype;
	bool known, ok;

	if (tensor.kind == VALUE_UNSET)
		return torch_method(t->names, tensor, name, out, err);
	if (strcmp(name, "shape") != 0 && strcmp(name, "ndim") != 0 && strcmp(name, "dtype") != 0) {
		ok = trace_grad_attr(t, tensor, name, &known, out, err);
		if (known)
			return ok;
		ok = decompose_attr(&t->decomposer, tensor, name, &known, out, err);
		return known ? ok : method_or_own(t, tensor, name, out, err);
	}
	if (!trace_shape(t, tensor, &shape, &dtype, err))
		return false;
	if (name[0] == 's')
		return shape_value(&shape, out, err);
	if (name[0] == 'n')
		*out = value_int(shape.rank);
	else
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = dtype };
	return true;
}

static bool host_length(void *self, struct value tensor, struct value *out, struct err *err)
{
	struct shape shape;
	enum dtype dtype;

	if (!trace_shape(self, tensor, &shape, &dtype, err))
		return false;
	if (shape.rank == 0)
		return err_set(err, ERR_TYPE, "len() of a tensor without dimensions");
	*out = trace_size_value(shape.size[0]);
	return true;
}

static bool host_module_attr(void *self, const struct module *m, const char *name,
			     struct value *out, struct err *err)
{
	struct trace *t = self;

	return torch_module_attr(t->names, m, name, out, err);
}

/* torch's Module.__init__ calls this. */
static bool host_makes_module(void *self, struct err *err)
{
	struct trace *t = self;

	return t->native || trace_mark_call(t, "_log_api_usage_once", err);
}

static bool host_may_define(void *self, const char *class, struct err *err)
{
	return trace_break(self, BREAK_CLASS, class, err);
}

/* As torch, to which one from outside is an object of C: what it calls is a frame of its own. */
static bool host_may_advance(void *self, struct value it, struct err *err)
{
	const struct trace *t = self;

	return t->native || variables_source(t, it) < 0 ||
	       trace_break(self, BREAK_UNSUPPORTED, "a map or filter from outside", err);
}

/* As torch, for which it is a failure of its own. */
static bool host_may_miss(void *self, const char *module, struct err *err)
{
	const struct trace *t = self;

	return t->native || trace_break(self, BREAK_IMPORT, module, err);
}

static bool decomposer_run(void *self, const struct op_call *call, struct value *out,
			   struct err *err)
{
	return trace_op(self, call, out, err);
}

static bool decomposer_size(void *self, struct value tensor, int dim, struct value *out,
			    struct err *err)
{
	struct shape shape;
	enum dtype dtype;

	if (!trace_shape(self, tensor, &shape, &dtype, err))
		return false;
	*out = trace_size_value(shape.size[dim]);
	return true;
}

static bool decomposer_type(void *self, struct value tensor, int *rank, enum dtype *dtype,
			    struct err *err)
{
	struct shape shape;

	if (!trace_shape(self, tensor, &shape, dtype, err))
		return false;
	*rank = shape.rank;
	return true;
}

/* How many places there are decides the shape of the result. */
static bool decomposer_places(void *self, struct value mask, int rank, struct value *out,
			      struct err *err)
{
	(void)mask, (void)rank, (void)out;
	return trace_break(self, BREAK_DYNAMIC_SHAPE, "x[mask]", err);
}

/* As torch: x[:, i] is of a constant i; x[i] and x[:, i:] are of a symbol. */
static bool pin_items(struct trace *t, struct value index, struct err *err)
{
	if (index.kind != VALUE_TUPLE || t->native)
		return true;
	for (int i = 0; i < index.list->len; i++)
		if (index.list->at[i].kind == VALUE_SYMINT)
			return trace_pin(t, index.list->at[i].sym, err);
	return true;
}

/* As torch: a number that the graph computes is read where it is the index; one that comes in is
 * known at the capture. */
static bool reads_number(struct trace *t, struct value index, bool *reads, struct err *err)
{
	int n = index.kind == VALUE_TUPLE ? index.list->len : 1;

	*reads = false;
	for (int i = 0; i < n && !*reads; i++) {
		struct value v = index.kind == VALUE_TUPLE ? index.list->at[i] : index, number;
		struct shape shape;
		enum dtype dtype;
		int node;

		if (v.kind != VALUE_TENSOR)
			continue;
		node = trace_node(t, v, err);
		if (node < 0 || !trace_shape(t, v, &shape, &dtype, err))
			return false;
		*reads = shape.rank == 0 && dtype != DTYPE_U8 &&
			 dtype_category(dtype) == CATEGORY_INT &&
			 t->graph->nodes[node]->op != OP_input && !is_literal(t, v, &number);
	}
	return true;
}

static bool host_subscript(void *self, struct value tensor, struct value index, struct value *out,
			   struct err *err)
{
	struct trace *t = self;
	bool reads = false;

	if (!t->native && !t->vm->frame->unit->hidden && !reads_number(t, index, &reads, err))
		return false;
	if (reads)
		return trace_break(t, BREAK_INDEX_READ, NULL, err);
	return pin_items(t, index, err) &&
	       decompose_subscript(&t->decomposer, tensor, index, out, err);
}

static bool host_row(void *self, struct value tensor, struct value index, struct value *out,
		     struct err *err)
{
	struct trace *t = self;

	return decompose_row(&t->decomposer, tensor, index, out, err);
}

static bool host_store_subscript(void *self, struct value tensor, struct value index,
				 struct value v, struct err *err)
{
	struct trace *t = self;

	return decompose_store(&t->decomposer, tensor, index, v, err);
}

static void host_found_distinct(void *self, struct value a, struct value b)
{
	struct trace *t = self;
	int of_a = variables_source(t, a), of_b = variables_source(t, b);

	if (of_a >= 0 && of_b >= 0)
		t->sources->at[of_a].found_distinct = t->sources->at[of_b].found_distinct = true;
}

static bool host_not_known(void *self, struct err *err)
{
	return deferred_fault(self, err);
}

static void host_print(void *self, const char *text, size_t len)
{
	struct trace *t = self;

	t->failed |= !prints_add(t, text, len);
}

void trace_host_init(struct trace *t)
{
	t->autocast = (struct autocast){ .decomposer = &t->decomposer,
					 .grad_off = &t->grad_off,
					 .keeps = trace_keeps_cast };
	t->decomposer = (struct decomposer){ .self = t,
					     .autocast = &t->autocast_mode,
					     .host = &t->host,
					     .run = decomposer_run,
					     .size = decomposer_size,
					     .type = decomposer_type,
					     .places = decomposer_places };
	t->host = (struct vm_host){
		.self = t,
		.has_module = torch_has_module,
		.module_attr = host_module_attr,
		.tensor_attr = host_tensor_attr,
		.call = host_call,
		.binary = host_binary,
		.unary = host_unary,
		.compare = host_compare,
		.truth = host_truth,
		.subscript = host_subscript,
		.row = host_row,
		.store_subscript = host_store_subscript,
		.length = host_length,
		.to_number = host_to_number,
		.cast = host_cast,
		.math = trace_math,
		.extreme = trace_extreme,
		.print = host_print,
		.store_attr = trace_store_attr,
		.realize = variables_realize,
		.load_global = variables_load_global,
		.store_global = variables_store_global,
		.absent = variables_absent,
		.whole = variables_whole,
		.may_store = variables_may_store,
		.may_define = host_may_define,
		.makes_module = host_makes_module,
		.may_miss = host_may_miss,
		.may_advance = host_may_advance,
		.builtin_break = trace_builtin_break,
		.pick = deferred_pick,
		.branch = t->control->branch,
		.not_known = host_not_known,
		.found_distinct = host_found_distinct,
		.any = t->control->any,
	};
	deferred_text_host(&t->host);
}
