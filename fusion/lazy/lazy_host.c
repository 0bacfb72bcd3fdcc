/* fusion/lazy/lazy_host.c -- what the VM asks of tensors in mode lazy.
 *
 * Ops are traced, sizes and dtypes are known without elements, and all else is
 * the eager host's affair, after the barrier that it needs.
 */
#include <string.h>

#include "fusion/torch/bind.h"
#include "fusion/eager/operators.h"
#include "fusion/lazy/lazy.h"
#include "fusion/torch/numbers.h"
#include "fusion/torch/torch_control.h"
#include "fusion/torch/natives.h"
#include "fusion/torch/torch_host.h"

static void pass_place(struct lazy *l)
{
	l->eager->host.line = l->host.line;
	l->eager->host.column = l->host.column;
}

static bool shape_value(const struct shape *shape, struct value *out, struct err *err)
{
	struct value sizes[MAX_RANK];

	for (int d = 0; d < shape->rank; d++)
		sizes[d] = value_int(shape->size[d]->value);
	*out = value_tuple(sizes, shape->rank);
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	out->list->is_size = true;
	return true;
}

static const struct node *node_of(const struct lazy *l, struct value v)
{
	return l->graph->nodes[v.tensor->node];
}

/* Sizes of a pending tensor.  False in *known: the eager host answers. */
static bool call_size(struct lazy *l, const struct native *f, const struct arguments *args,
		      bool *known, struct value *out, struct err *err)
{
	struct value t, dim;
	int64_t numel = 1;
	int d;

	*known = f->id == NATIVE_SIZE || f->id == NATIVE_DIM || f->id == NATIVE_NUMEL;
	if (!*known)
		return true;
	if (!torch_native_args(f, args, &t, &dim, err))
		return false;
	*known = lazy_pending(l, t);
	if (!*known)
		return true;
	if (f->id == NATIVE_SIZE && dim.kind == VALUE_NONE)
		return shape_value(&node_of(l, t)->shape, out, err);
	if (f->id == NATIVE_SIZE) {
		if (!torch_wrap_dim(dim.i, node_of(l, t)->shape.rank, &d, err))
			return false;
		*out = value_int(node_of(l, t)->shape.size[d]->value);
	} else if (f->id == NATIVE_DIM) {
		*out = value_int(node_of(l, t)->shape.rank);
	} else {
		for (d = 0; d < node_of(l, t)->shape.rank; d++)
			numel *= node_of(l, t)->shape.size[d]->value;
		*out = value_int(numel);
	}
	return true;
}

/* Where a pending tensor will lie.  False in *known: the eager host answers. */
static bool call_layout(struct lazy *l, const struct native *f, const struct arguments *args,
			bool *known, struct value *out, struct err *err)
{
	struct value t, dim, strides[MAX_RANK];
	struct view_layout layout;
	int d;

	*known = f->id == NATIVE_STRIDE || f->id == NATIVE_IS_CONTIGUOUS ||
		 f->id == NATIVE_STORAGE_OFFSET;
	if (!*known)
		return true;
	if (!torch_native_args(f, args, &t, &dim, err))
		return false;
	*known = lazy_pending(l, t) && !t.tensor->memory;
	if (!*known)
		return true;
	if (!lazy_layout(l, t.tensor, &layout))
		return torch_no_memory(err);
	if (f->id == NATIVE_IS_CONTIGUOUS) {
		*out = value_bool(torch_layout_contiguous(l->graph, &layout, dim));
	} else if (f->id == NATIVE_STORAGE_OFFSET) {
		*out = value_int(layout.offset->value);
	} else if (dim.kind != VALUE_NONE) {
		if (!torch_wrap_dim(dim.i, layout.shape.rank, &d, err))
			return false;
		*out = value_int(layout.stride[d]->value);
	} else {
		for (d = 0; d < layout.shape.rank; d++)
			strides[d] = value_int(layout.stride[d]->value);
		*out = value_tuple(strides, layout.shape.rank);
	}
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

static bool touches_any(const struct lazy *l, const struct native *f, const struct value *args,
			int n)
{
	bool found = lazy_touches(l, f->self, 0);

	for (int i = 0; i < n && !found; i++)
		found = lazy_touches(l, args[i], 0);
	return found;
}

/* The eager host's call, after a barrier where the trace knows an operand. */
static bool call_at_once(struct lazy *l, const struct native *f, const struct arguments *args,
			 struct value *out, struct err *err)
{
	struct lazy_reason why = { .id = BREAK_AT_ONCE, .subject = f->name };

	/* a backward pass adds to .grad of leaves, which what is pending may read */
	if ((torch_grad_is_pass(f->id) || touches_any(l, f, args->at, args->n)) &&
	    !lazy_sync(l, why, err))
		return false;
	pass_place(l);
	return l->eager->host.call(l->eager, f, args, out, err);
}

/* x.to(dtype) of what has it already is x; so are x.float() and its kin. */
static bool is_unchanged(const struct lazy *l, struct value v, enum dtype dtype)
{
	if (v.kind != VALUE_TENSOR)
		return false;
	if (v.tensor->owner == l)
		return node_of(l, v)->dtype == dtype;
	return v.tensor->memory && v.tensor->memory->dtype == dtype;
}

static bool cast(struct lazy *l, const char *name, struct value v, enum dtype dtype,
		 struct value *out, struct err *err)
{
	struct value args[2] = { v, { .kind = VALUE_DTYPE, .dtype = dtype } };
	struct op_call c = { .op = OP_to, .name = name, .values = args, .n = 2 };

	if (!is_unchanged(l, v, dtype))
		return lazy_op(l, &c, out, err);
	*out = value_ref(v);
	return true;
}

static bool call_native(struct lazy *l, const struct native *f, const struct arguments *args,
			struct value *out, struct err *err)
{
	struct lazy_reason why = { .id = BREAK_SCALAR_READ, .subject = ".item()" };
	struct value t, dim;
	bool known;

	if (torch_cast_dtype(f->id) != DTYPE_COUNT)
		return torch_native_args(f, args, &t, &dim, err) &&
		       cast(l, f->name, t, torch_cast_dtype(f->id), out, err);
	if (f->id == NATIVE_ITEM && f->self.kind == VALUE_TENSOR) {
		if (!lazy_sync_one(l, f->self, why, err))
			return false;
		pass_place(l);
		return l->eager->host.call(l->eager, f, args, out, err);
	}
	if (f->id == NATIVE_IS_TENSOR) {
		*out = value_bool(torch_native_args(f, args, &t, &dim, err) &&
				  t.kind == VALUE_TENSOR);
		return !err || err->code == ERR_NONE;
	}
	if (!call_size(l, f, args, &known, out, err))
		return false;
	if (!known && !call_layout(l, f, args, &known, out, err))
		return false;
	return known || call_at_once(l, f, args, out, err);
}

/* Functions that are no ops: those of ops are traced, the others read values. */
static bool call_more(struct lazy *l, const struct native *f, const struct arguments *args,
		      struct value *out, struct err *err)
{
	struct torch_memory memory = { l->eager->env->allocator, l->eager->env->backend_env.random,
				       l->eager->env->files };
	bool places = f->id == OP_where; /* where(condition) is nonzero */
	struct lazy_reason why = { .id = places ? BREAK_DYNAMIC_SHAPE : natives_break(f->id),
				   .subject = f->name };

	if (why.id == BREAK_NONE)
		return natives_call(&l->decomposer, &memory, f, args, out, err);
	/* The state of the run, as of the generator, is everybody's. */
	if ((why.id == BREAK_SKIPPED || touches_any(l, f, args->at, args->n)) &&
	    !lazy_sync(l, why, err))
		return false;
	pass_place(l);
	return l->eager->host.call(l->eager, f, args, out, err);
}

static bool call_op(struct lazy *l, const struct native *f, struct op_call *c, struct value *out,
		    struct err *err)
{
	struct value values[MAX_ARGS + 1];
	bool ok;

	if (f->self.kind == VALUE_TENSOR) {
		if (c->n > MAX_ARGS)
			return err_set(err, ERR_TYPE, "%s was given %d arguments", f->name, c->n);
		values[0] = f->self;
		for (int i = 0; i < c->n; i++)
			values[i + 1] = c->values[i];
		c->values = values;
		c->n++;
	}
	if (c->op == OP_to && torch_plain_cast(&(struct arguments){ c->values, c->n, c->kw }))
		ok = cast(l, f->name, c->values[0], c->values[1].dtype, out, err);
	else
		ok = lazy_op(l, c, out, err);
	c->values = NULL; /* some were ours */
	return ok;
}

/* Whether running `op` can wait. */
static bool lazy_takes(enum op op)
{
	switch (op_info(op)->kind) {
	case KIND_POINTWISE:
	case KIND_REDUCE:
	case KIND_CREATE:
	case KIND_COMPOSITE:
	case KIND_LIBRARY:
	case KIND_VIEW:
	case KIND_JOIN:
		return true;
	default:
		return false;
	}
}

static bool call(struct lazy *l, const struct native *f, const struct arguments *args,
		 struct value *out, struct err *err)
{
	struct op_call c = { .op = (enum op)f->id,
			     .name = f->name,
			     .values = args->at,
			     .n = args->n,
			     .kw = args->kw };
	struct torch_form form;

	if (torch_may_say_inplace(args) && torch_says_inplace(f, args, &form)) {
		args = &form.args;
		c.values = args->at;
		c.n = args->n;
		c.kw = args->kw;
		c.inplace = form.inplace;
	}
	if (f->id == CONTROL_IS_TRACED) {
		*out = value_bool(true);
		return true;
	}
	if (torch_control_wants(f)) {
		bool ok = torch_control_call(f, args, l->eager->modes, out, err);

		autocast_settle(&l->autocast, l->eager->modes->autocast);
		return ok;
	}
	if (natives_wants(f, args))
		return call_more(l, f, args, out, err);
	if (decompose_knows(f->id))
		return decompose_call(&l->decomposer, f, args, out, err);
	if (f->id >= NATIVE_INPLACE) {
		c.op = (enum op)(f->id - NATIVE_INPLACE);
		c.inplace = true;
	} else if (f->id >= OP_COUNT) {
		return call_native(l, f, args, out, err);
	}
	if (!lazy_takes(c.op))
		return call_at_once(l, f, args, out, err);
	return call_op(l, f, &c, out, err);
}

static bool wants_grad(const struct keywords *kw, const struct value *args, int n)
{
	for (int i = 0; kw && i < kw->n; i++)
		if (strcmp(kw->names[i].str->text, "requires_grad") == 0)
			return args[n - kw->n + i].kind == VALUE_BOOL && args[n - kw->n + i].b;
	return false;
}

static bool host_call(void *self, const struct native *f, const struct arguments *args,
		      struct value *out, struct err *err)
{
	struct lazy_reason why = { .id = BREAK_AT_ONCE, .subject = "requires_grad" };
	struct lazy *l = self;

	if (numbers_wanted(f, args))
		return numbers_call(&l->decomposer, f, args, out, err);
	if (f->id == NATIVE_REQUIRES_GRAD_ && f->self.kind == VALUE_TENSOR) {
		pass_place(l);
		return lazy_sync_one(l, f->self, why, err) &&
		       l->eager->host.call(l->eager, f, args, out, err);
	}
	if (!call(l, f, args, out, err))
		return false;
	if (!wants_grad(args->kw, args->at, args->n) || out->kind != VALUE_TENSOR ||
	    (lazy_sync_one(l, *out, why, err) &&
	     autograd_set_leaf(&l->eager->autograd, *out, true, err)))
		return true;
	value_unref(*out);
	return false;
}

static bool host_store_attr(void *self, struct value t, const char *name, struct value v,
			    struct err *err)
{
	struct lazy_reason why = { .id = BREAK_AT_ONCE, .subject = name };
	struct lazy *l = self;

	pass_place(l);
	return lazy_sync(l, why, err) && l->eager->host.store_attr(l->eager, t, name, v, err);
}

static bool run_call(void *self, const struct op_call *c, struct value *out, struct err *err)
{
	return lazy_op(self, c, out, err);
}

static bool host_binary(void *self, const struct binary *x, struct value *out, struct err *err)
{
	struct lazy *l = self;

	return operator_binary(&(struct operator_host){ run_call, l, &l->eager->operators }, x, out,
			       err);
}

static bool host_unary(void *self, enum unop op, struct value a, struct value *out, struct err *err)
{
	struct lazy *l = self;

	return operator_unary(&(struct operator_host){ run_call, l, &l->eager->operators }, op, a,
			      out, err);
}

static bool host_compare(void *self, enum cmpop op, struct value a, struct value b,
			 struct value *out, struct err *err)
{
	struct lazy *l = self;

	return operator_compare(&(struct operator_host){ run_call, l, &l->eager->operators }, op, a,
				b, out, err);
}

static bool host_truth(void *self, struct value a, bool *out, struct err *err)
{
	struct lazy *l = self;

	if (!lazy_sync_one(l, a, (struct lazy_reason){ .id = BREAK_BRANCH }, err))
		return false;
	pass_place(l);
	return l->eager->host.truth(l->eager, a, out, err);
}

static bool host_to_number(void *self, enum value_kind kind, struct value a, struct value *out,
			   struct err *err)
{
	struct lazy *l = self;
	struct lazy_reason why = { .id = BREAK_SCALAR_READ,
				   .subject = kind == VALUE_FLOAT ? "float()"
					      : kind == VALUE_INT ? "int()"
								  : "bool()" };

	if (!lazy_sync_one(l, a, why, err))
		return false;
	pass_place(l);
	return l->eager->host.to_number(l->eager, kind, a, out, err);
}

static bool host_repr(void *self, struct value t, struct buf *text, struct err *err)
{
	struct lazy *l = self;

	if (!l->eager->host.repr) {
		buf_puts(text, "tensor(...)");
		return true;
	}
	if (!lazy_sync_one(l, t, (struct lazy_reason){ .id = BREAK_TENSOR_TEXT }, err))
		return false;
	pass_place(l);
	return l->eager->host.repr(l->eager, t, text, err);
}

/* The views among the attributes: x.T and its kin are ops. */
static bool is_attribute_of_elements(const char *name)
{
	return strcmp(name, "T") == 0 || strcmp(name, "mT") == 0 || strcmp(name, "H") == 0 ||
	       strcmp(name, "mH") == 0 || strcmp(name, "data") == 0;
}

static bool host_tensor_attr(void *self, struct value t, const char *name, struct value *out,
			     struct err *err)
{
	struct lazy *l = self;
	bool known = true, ok;

	pass_place(l);
	if (t.kind == VALUE_UNSET)
		return l->eager->host.tensor_attr(l->eager, t, name, out, err);
	if (!lazy_pending(l, t) && !is_attribute_of_elements(name))
		return l->eager->host.tensor_attr(l->eager, t, name, out, err);
	if (t.tensor->grad) { /* written to, but a leaf as before */
		ok = autograd_attr(&l->eager->autograd, t, name, &known, out, err);
		if (known)
			return ok;
	}
	if (strcmp(name, "shape") == 0)
		return shape_value(&node_of(l, t)->shape, out, err);
	if (strcmp(name, "ndim") == 0) {
		*out = value_int(node_of(l, t)->shape.rank);
		return true;
	}
	if (strcmp(name, "dtype") == 0) {
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = node_of(l, t)->dtype };
		return true;
	}
	ok = decompose_attr(&l->decomposer, t, name, &known, out, err);
	return known ? ok : torch_method(l->eager->names, t, name, out, err);
}

static bool host_subscript(void *self, struct value t, struct value index, struct value *out,
			   struct err *err)
{
	struct lazy *l = self;

	return decompose_subscript(&l->decomposer, t, index, out, err);
}

static bool host_row(void *self, struct value t, struct value index, struct value *out,
		     struct err *err)
{
	struct lazy *l = self;

	return decompose_row(&l->decomposer, t, index, out, err);
}

static bool host_store_subscript(void *self, struct value t, struct value index, struct value v,
				 struct err *err)
{
	struct lazy *l = self;

	return decompose_store(&l->decomposer, t, index, v, err);
}

static bool host_length(void *self, struct value t, struct value *out, struct err *err)
{
	struct lazy *l = self;

	pass_place(l);
	if (!lazy_pending(l, t))
		return l->eager->host.length(l->eager, t, out, err);
	if (node_of(l, t)->shape.rank == 0)
		return err_set(err, ERR_TYPE, "len() of a tensor without dimensions");
	*out = value_int(node_of(l, t)->shape.size[0]->value);
	return true;
}

static bool host_module_attr(void *self, const struct module *m, const char *name,
			     struct value *out, struct err *err)
{
	struct lazy *l = self;

	return l->eager->host.module_attr(l->eager, m, name, out, err);
}

static void host_print(void *self, const char *text, size_t len)
{
	struct lazy *l = self;

	l->eager->host.print(l->eager, text, len);
}

/* An op that may fail by its operands' elements waits only outside of all tries (lazy_trace.c),
 * so that none catches what it fails with. */
static bool host_not_known(void *self, struct err *err)
{
	const struct lazy *l = self;

	(void)err;
	return l->faulted;
}

static bool decomposer_size(void *self, struct value t, int dim, struct value *out, struct err *err)
{
	struct lazy *l = self;

	if (!lazy_pending(l, t))
		return l->eager->decomposer.size(l->eager, t, dim, out, err);
	*out = value_int(node_of(l, t)->shape.size[dim]->value);
	return true;
}

static bool decomposer_type(void *self, struct value t, int *rank, enum dtype *dtype,
			    struct err *err)
{
	struct lazy *l = self;

	if (!lazy_pending(l, t))
		return l->eager->decomposer.type(l->eager, t, rank, dtype, err);
	*rank = node_of(l, t)->shape.rank;
	*dtype = node_of(l, t)->dtype;
	return true;
}

static bool decomposer_places(void *self, struct value mask, int rank, struct value *out,
			      struct err *err)
{
	struct lazy *l = self;
	struct lazy_reason why = { .id = BREAK_DYNAMIC_SHAPE, .subject = "x[mask]" };

	if (!lazy_sync_one(l, mask, why, err))
		return false;
	pass_place(l);
	return l->eager->decomposer.places(l->eager, mask, rank, out, err);
}

/* What stays NULL is what the eager host leaves NULL too. */
void lazy_host_init(struct lazy *l)
{
	l->host = l->eager->host;
	l->host.self = l;
	l->host.module_attr = host_module_attr;
	l->host.tensor_attr = host_tensor_attr;
	l->host.call = host_call;
	l->host.as_op = NULL; /* a call is put down, whatever it is */
	l->host.binary = host_binary;
	l->host.unary = host_unary;
	l->host.compare = host_compare;
	l->host.truth = host_truth;
	l->host.subscript = host_subscript;
	l->host.row = host_row;
	l->host.store_subscript = host_store_subscript;
	l->host.length = host_length;
	l->host.to_number = host_to_number;
	l->host.repr = host_repr;
	l->host.store_attr = host_store_attr;
	l->host.print = host_print;
	l->host.not_known = host_not_known;
	l->decomposer = (struct decomposer){ .self = l,
					     .autocast = &l->eager->modes->autocast,
					     .gpu = &l->eager->modes->gpu,
					     .real = &l->eager->modes->real,
					     .host = &l->host,
					     .run = run_call,
					     .size = decomposer_size,
					     .type = decomposer_type,
					     .places = decomposer_places };
}
