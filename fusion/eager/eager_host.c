/* fusion/eager/eager_host.c -- what the VM asks of tensors when it runs eagerly.
 *
 * Reading a value (item, float, an `if`) is just a load here: the host is the
 * same machine that computes, and every op has finished when it returns.
 */
#include <stdio.h>
#include <string.h>

#include "fusion/torch/bind.h"
#include "fusion/torch/decomposition.h"
#include "fusion/torch/numbers.h"
#include "fusion/eager/eager.h"
#include "fusion/eager/operators.h"
#include "fusion/tensor/tensor.h"
#include "fusion/torch/torch_control.h"
#include "fusion/torch/natives.h"
#include "fusion/torch/torch_host.h"

static bool wrap(struct tensor *t, struct value *out, struct err *err)
{
	*out = tensor_wrap(t);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

/* Memory that the host fills, for a function that the program calls here. */
static void label(struct eager *e, const char *name)
{
	struct fusion_memory *what = allocator_label(e->env->allocator);

	if (!what)
		return;
	what->op = name;
	what->line = e->host.line;
}

/* torch.tensor(numbers) needs no kernel. */
static bool make_literal(struct eager *e, const struct arguments *args, struct value *out,
			 struct err *err)
{
	struct arena arena = { 0 };
	struct tensor *t = NULL;
	struct value data;
	struct bound_literal l = { .real = e->modes->real };

	if (bind_tensor_call(args, &data, &l.dtype, err) && bind_literal(&arena, data, &l, err)) {
		label(e, "tensor");
		t = tensor_create(e->env->allocator, l.dtype, l.rank, l.size, err);
	}
	if (t)
		memcpy(tensor_host_writes(t), l.elements, t->storage->bytes);
	arena_finish(&arena);
	return t && wrap(t, out, err);
}

bool eager_item(struct value v, struct value *out, struct err *err)
{
	const struct tensor *t = v.tensor->memory;
	const struct device_memory *device = allocator_device(t->storage->allocator);

	if (tensor_numel(t) != 1)
		return err_set(err, ERR_OP,
			       "a tensor of %lld elements has no single value; "
			       "reduce it first, for example with .sum() or .any()",
			       (long long)tensor_numel(t));
	if (dtype_category(t->dtype) == CATEGORY_FLOAT)
		*out = value_float(tensor_get_double(t, 0));
	else if (dtype_category(t->dtype) == CATEGORY_INT)
		*out = value_int(tensor_get_int(t, 0));
	else
		*out = value_bool(tensor_get_int(t, 0) != 0);
	/* What the program decides by it is nothing where the device has failed. */
	return !device || device->check(device->self, err);
}

static bool cast(struct eager *e, struct value t, enum dtype dtype, struct value *out,
		 struct err *err)
{
	struct value args[2] = { t, { .kind = VALUE_DTYPE, .dtype = dtype } };
	struct op_call c = { .op = OP_to, .name = "Tensor.to", .values = args, .n = 2 };

	if (t.tensor->memory->dtype == dtype) { /* as torch: the tensor itself */
		*out = value_ref(t);
		return true;
	}
	return eager_run(e, &c, out, err);
}

static bool shape_of(const struct tensor *t, struct value *out, struct err *err)
{
	struct value sizes[MAX_RANK];

	for (int d = 0; d < t->rank; d++)
		sizes[d] = value_int(t->size[d]);
	*out = value_tuple(sizes, t->rank);
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	out->list->is_size = true;
	return true;
}

static bool size_of(const struct tensor *t, struct value dim, struct value *out, struct err *err)
{
	int d;

	if (dim.kind == VALUE_NONE)
		return shape_of(t, out, err);
	if (!torch_wrap_dim(dim.i, t->rank, &d, err))
		return false;
	*out = value_int(t->size[d]);
	return true;
}

static bool stride_of(const struct tensor *t, struct value dim, struct value *out, struct err *err)
{
	struct value strides[MAX_RANK];
	int d;

	if (dim.kind != VALUE_NONE) {
		if (!torch_wrap_dim(dim.i, t->rank, &d, err))
			return false;
		*out = value_int(t->stride[d]);
		return true;
	}
	for (d = 0; d < t->rank; d++)
		strides[d] = value_int(t->stride[d]);
	*out = value_tuple(strides, t->rank);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

/* x.data_ptr(), or the bytes of its storage. */
static int64_t memory_of(const struct tensor *t, const char *name)
{
	int64_t at = t->offset * (int64_t)dtype_bytes(t->dtype);

	return strcmp(name, "Tensor.data_ptr") == 0 ? (int64_t)(intptr_t)t->storage->data + at
						    : (int64_t)t->storage->bytes;
}

static bool is_contiguous(const struct tensor *t, struct value format)
{
	struct tensor last = *t;
	int rank;

	if (!torch_channels_last(format, &rank))
		return tensor_contiguous(t);
	for (int d = 0; d < t->rank; d++) {
		last.size[d] = t->size[torch_channels_last_dim(t->rank, d)];
		last.stride[d] = t->stride[torch_channels_last_dim(t->rank, d)];
	}
	return t->rank == rank && tensor_contiguous(&last);
}

static bool call_native(struct eager *e, const struct native *f, const struct arguments *args,
			struct value *out, struct err *err)
{
	struct value t, dim;

	if (!torch_native_args(f, args, &t, &dim, err) || !tensor_check_memory(t, err))
		return false;
	switch (f->id) {
	case NATIVE_STRIDE:
		return stride_of(t.tensor->memory, dim, out, err);
	case NATIVE_IS_CONTIGUOUS:
		*out = value_bool(is_contiguous(t.tensor->memory, dim));
		return true;
	case NATIVE_STORAGE_OFFSET:
		*out = value_int(t.tensor->memory->offset);
		return true;
	case NATIVE_DATA_PTR:
		*out = value_int(memory_of(t.tensor->memory, f->name));
		return true;
	case NATIVE_ELEMENT_SIZE:
		*out = value_int((int64_t)dtype_bytes(t.tensor->memory->dtype));
		return true;
	case NATIVE_SIZE:
		return size_of(t.tensor->memory, dim, out, err);
	case NATIVE_DIM:
		*out = value_int(t.tensor->memory->rank);
		return true;
	case NATIVE_NUMEL:
		*out = value_int(tensor_numel(t.tensor->memory));
		return true;
	case NATIVE_ITEM:
		return eager_item(t, out, err);
	case NATIVE_IS_TENSOR:
		*out = value_bool(t.kind == VALUE_TENSOR);
		return true;
	default:
		return cast(e, t, torch_cast_dtype(f->id), out, err);
	}
}

static bool call(struct eager *e, const struct native *f, const struct arguments *args,
		 struct value *out, struct err *err)
{
	struct torch_memory memory = { e->env->allocator, e->env->backend_env.random,
				       e->env->files };
	struct value values[MAX_ARGS + 1];
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
	if (torch_grad_wants(f->id))
		return autograd_call(&e->autograd, f, args, out, err);
	if (torch_control_wants(f)) {
		bool ok = torch_control_call(f, args, e->modes, out, err);

		autocast_settle(&e->autocast, e->modes->autocast);
		return ok;
	}
	if (natives_wants(f, args))
		return natives_call(&e->decomposer, &memory, f, args, out, err);
	if (decompose_knows(f->id))
		return decompose_call(&e->decomposer, f, args, out, err);
	if (f->id >= NATIVE_INPLACE) {
		c.op = (enum op)(f->id - NATIVE_INPLACE);
		c.inplace = true;
	} else if (f->id >= OP_COUNT) {
		return call_native(e, f, args, out, err);
	}
	if (f->id == OP_tensor)
		return make_literal(e, args, out, err);
	if (f->self.kind == VALUE_TENSOR) {
		if (args->n > MAX_ARGS)
			return err_set(err, ERR_TYPE, "%s was given %d arguments", f->name,
				       args->n);
		values[0] = f->self;
		for (int i = 0; i < args->n; i++)
			values[i + 1] = args->at[i];
		c.values = values;
		c.n = args->n + 1;
	}
	if (c.op == OP_to && torch_plain_cast(&(struct arguments){ c.values, c.n, args->kw }) &&
	    tensor_check_memory(c.values[0], err))
		return cast(e, c.values[0], c.values[1].dtype, out, err);
	return eager_run(e, &c, out, err);
}

/* torch.zeros(3, requires_grad=True), x.requires_grad_(False) */
static bool require_grad(struct eager *e, struct value v, bool requires_grad, struct err *err)
{
	if (v.kind != VALUE_TENSOR ||
	    (tensor_check_memory(v, err) && autograd_set_leaf(&e->autograd, v, requires_grad, err)))
		return true;
	value_unref(v);
	return false;
}

/* torch.zeros(3, device="cuda"), x.to("cuda"), x.cuda(), torch._C.uniform(size, dtype, "gpu") */
static bool names_gpu(const struct native *f, const struct arguments *args)
{
	int n_kw = args->kw ? args->kw->n : 0;

	for (int i = 0; i < n_kw; i++)
		if (strcmp(args->kw->names[i].str->text, "device") == 0)
			return random_names_gpu(args->at[args->n - n_kw + i]);
	if (strcmp(f->name, "Tensor.cuda") == 0)
		return true;
	if (f->id == OP_to)
		for (int i = 0; i < args->n - n_kw; i++)
			if (args->at[i].kind == VALUE_STR && random_names_gpu(args->at[i]))
				return true;
	for (int i = 0; f->id < OP_COUNT && op_draws((enum op)f->id) && i < args->n; i++)
		if (args->at[i].kind == VALUE_STR && strcmp(args->at[i].str->text, "cpu") != 0)
			return true;
	return false;
}

static bool host_call(void *self, const struct native *f, const struct arguments *args,
		      struct value *out, struct err *err)
{
	struct eager *e = self;
	struct value wanted = value_bool(f->id == NATIVE_REQUIRES_GRAD_), given;

	if (__builtin_expect(numbers_wanted(f, args), 0))
		return numbers_call(&e->decomposer, f, args, out, err);
	if (f->id == NATIVE_REQUIRES_GRAD_ && f->self.kind == VALUE_TENSOR) {
		if (!torch_requires_grad_arg(args, &given, err))
			return false;
		*out = value_ref(f->self);
		return require_grad(e, *out, given.b, err);
	}
	if (!call(e, f, args, out, err))
		return false;
	if (__builtin_expect(e->modes && e->modes->gpu == GPU_NAMED, 0) &&
	    out->kind == VALUE_TENSOR && names_gpu(f, args))
		out->tensor->memory->storage->on_gpu = true;
	for (int i = 0; args->kw && i < args->kw->n; i++)
		if (strcmp(args->kw->names[i].str->text, "requires_grad") == 0)
			wanted = args->at[args->n - args->kw->n + i];
	return wanted.kind != VALUE_BOOL || !wanted.b || require_grad(e, *out, true, err);
}

/* By position and by name; false: what is no dropout of a tensor with a chance that draws. */
static bool read_dropout(const struct arguments *args, struct value given[4])
{
	static const char *const names[] = { "input", "p", "training", "inplace" };
	int n_kw = args->kw ? args->kw->n : 0, n = args->n - n_kw;

	if (args->n < 1 || args->n > 4)
		return false;
	given[0] = (struct value){ .kind = VALUE_UNSET };
	given[1] = value_float(0.5);
	given[2] = value_bool(true);
	given[3] = value_bool(false);
	memcpy(given, args->at, sizeof(*given) * (size_t)n);
	for (int i = 0; i < n_kw; i++) {
		int at = n;

		while (at < 4 && strcmp(names[at], args->kw->names[i].str->text) != 0)
			at++;
		if (at == 4)
			return false;
		given[at] = args->at[n + i];
	}
	return given[0].kind == VALUE_TENSOR && given[0].tensor->memory &&
	       given[1].kind == VALUE_FLOAT && given[1].f > 0 && given[1].f < 1 &&
	       given[2].kind == VALUE_BOOL && given[2].b && given[3].kind == VALUE_BOOL;
}

/* F.dropout() of a tensor that lies row by row: what its Python would find
 * (vm/prelude/functional_random.py). */
static bool host_as_op(void *self, const struct native *f, const struct arguments *args,
		       bool *known, struct value *out, struct err *err)
{
	struct eager *e = self;
	struct value given[4];
	struct op_call c = { .op = OP_dropout, .name = f->name, .values = given, .n = 3 };

	*known = f->id == OP_dropout && read_dropout(args, given) &&
		 tensor_contiguous(given[0].tensor->memory);
	if (!*known)
		return true;
	c.inplace = given[3].b;
	if (random_on_gpu(&e->decomposer, given[0])) {
		*known = c.inplace ? given[0].tensor->memory->dtype != DTYPE_F64 &&
					 !autograd_requires(given[0])
				   : given[0].tensor->memory->offset == 0;
		if (!*known)
			return true;
		if (c.inplace) { /* element by element, as bernoulli_() draws */
			c.op = OP_dropped;
			given[2] = value_int(0);
		}
	}
	return eager_run(e, &c, out, err);
}

static bool run_call(void *self, const struct op_call *c, struct value *out, struct err *err)
{
	return eager_run(self, c, out, err);
}

static bool host_binary(void *self, const struct binary *x, struct value *out, struct err *err)
{
	struct eager *e = self;

	return operator_binary(&(struct operator_host){ run_call, e, &e->operators }, x, out, err);
}

static bool host_unary(void *self, enum unop op, struct value a, struct value *out, struct err *err)
{
	struct eager *e = self;

	return operator_unary(&(struct operator_host){ run_call, e, &e->operators }, op, a, out,
			      err);
}

static bool host_compare(void *self, enum cmpop op, struct value a, struct value b,
			 struct value *out, struct err *err)
{
	struct eager *e = self;

	return operator_compare(&(struct operator_host){ run_call, e, &e->operators }, op, a, b,
				out, err);
}

static bool host_truth(void *self, struct value a, bool *out, struct err *err)
{
	struct value v;

	(void)self;
	if (!tensor_check_memory(a, err) || !eager_item(a, &v, err))
		return false;
	*out = v.kind == VALUE_FLOAT ? v.f != 0 : v.kind == VALUE_INT ? v.i != 0 : v.b;
	return true;
}

static bool host_to_number(void *self, enum value_kind kind, struct value a, struct value *out,
			   struct err *err)
{
	struct value v;
	double f;

	if (!tensor_check_memory(a, err))
		return false;
	if (!eager_item(a, &v, err)) {
		if (kind != VALUE_BOOL && err && err->code == ERR_OP)
			err->code =
			    ERR_VALUE; /* float() and int() raise another error than item() */
		return false;
	}
	if (kind == VALUE_BOOL) {
		bool truth;

		if (!host_truth(self, a, &truth, err))
			return false;
		*out = value_bool(truth);
		return true;
	}
	f = v.kind == VALUE_FLOAT ? v.f : v.kind == VALUE_INT ? (double)v.i : (double)v.b;
	if (kind == VALUE_FLOAT) {
		*out = value_float(f);
		return true;
	}
	if (v.kind == VALUE_FLOAT && !(f > -0x1p63 && f < 0x1p63))
		return err_set(err, ERR_OP, "int() of a tensor: %g does not fit into 64 bits", f);
	*out = value_int(v.kind == VALUE_FLOAT ? (int64_t)f : v.kind == VALUE_INT ? v.i : v.b);
	return true;
}

/* Which of e->methods a name is looked for in. */
static size_t method_slot(const char *name)
{
	uintptr_t at = (uintptr_t)name;

	return (at ^ at >> 5) % EAGER_METHODS;
}

/* A method that was found before, so no attribute has its name. */
static bool method_again(const struct eager *e, struct value t, const char *name, struct value *out)
{
	size_t slot = method_slot(name);
	const char *spelling = e->methods[slot].spelling;

	if (!spelling || strcmp(spelling + strlen("Tensor."), name) != 0)
		return false;
	*out = value_native(spelling, e->methods[slot].id, false, t);
	return out->kind != VALUE_UNSET;
}

static bool host_tensor_attr(void *self, struct value t, const char *name, struct value *out,
			     struct err *err)
{
	struct eager *e = self;
	bool known = true, ok;

	if (t.kind == VALUE_UNSET)
		return torch_method(e->names, t, name, out, err);
	if (t.tensor->memory && method_again(e, t, name, out))
		return true;
	if (strcmp(name, "shape") == 0)
		return tensor_check_memory(t, err) && shape_of(t.tensor->memory, out, err);
	if (strcmp(name, "ndim") == 0) {
		if (!tensor_check_memory(t, err))
			return false;
		*out = value_int(t.tensor->memory->rank);
		return true;
	}
	if (strcmp(name, "dtype") == 0) {
		if (!tensor_check_memory(t, err))
			return false;
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = t.tensor->memory->dtype };
		return true;
	}
	ok = tensor_check_memory(t, err) && autograd_attr(&e->autograd, t, name, &known, out, err);
	if (known)
		return ok;
	ok = decompose_attr(&e->decomposer, t, name, &known, out, err);
	if (known)
		return ok;
	if (!torch_method(e->names, t, name, out, err))
		return false;
	e->methods[method_slot(name)].spelling = out->native->name;
	e->methods[method_slot(name)].id = out->native->id;
	return true;
}

static bool set_grad(struct autograd *a, struct value t, struct value v, struct err *err)
{
	if (v.kind != VALUE_NONE && v.kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE,
			       "assigned grad expected to be a Tensor or None, not %s",
			       value_type_name(v));
	if (v.kind == VALUE_TENSOR &&
	    (!tensor_check_memory(v, err) || v.tensor->memory->dtype != t.tensor->memory->dtype ||
	     v.tensor->memory->rank != t.tensor->memory->rank ||
	     memcmp(v.tensor->memory->size, t.tensor->memory->size,
		    sizeof(int64_t) * (size_t)t.tensor->memory->rank) != 0))
		return autograd_error(
		    a, err, "assigned grad has data of a different size or type than its tensor");
	return autograd_set_gradient(a, t, v, err);
}

/* x.data = y: other elements under the same name. */
static bool set_data(struct value t, struct value v, struct err *err)
{
	struct tensor *old = t.tensor->memory;

	if (v.kind != VALUE_TENSOR || !tensor_check_memory(v, err))
		return err_set(err, ERR_TYPE, ".data is set to a tensor, not %s",
			       value_type_name(v));
	t.tensor->memory = tensor_ref(v.tensor->memory);
	tensor_unref(old);
	return true;
}

static bool autograd_set_attr(struct autograd *a, struct value t, const char *name, struct value v,
			      struct err *err)
{
	if (!tensor_check_memory(t, err))
		return false;
	if (strcmp(name, "grad") == 0 || strcmp(name, "_grad") == 0)
		return set_grad(a, t, v, err);
	if (strcmp(name, "requires_grad") == 0)
		return v.kind == VALUE_BOOL
			   ? autograd_set_leaf(a, t, v.b, err)
			   : err_set(err, ERR_TYPE, "requires_grad must be a bool");
	if (strcmp(name, "data") == 0)
		return set_data(t, v, err);
	return err_set(
	    err, ERR_NAME,
	    "the attribute %s of a tensor cannot be set; grad, requires_grad and data can", name);
}

static bool host_store_attr(void *self, struct value t, const char *name, struct value v,
			    struct err *err)
{
	struct eager *e = self;

	return autograd_set_attr(&e->autograd, t, name, v, err);
}

static bool host_length(void *self, struct value t, struct value *out, struct err *err)
{
	(void)self;
	if (!tensor_check_memory(t, err))
		return false;
	if (t.tensor->memory->rank == 0)
		return err_set(err, ERR_TYPE, "len() of a tensor without dimensions");
	*out = value_int(t.tensor->memory->size[0]);
	return true;
}

static bool host_module_attr(void *self, const struct module *m, const char *name,
			     struct value *out, struct err *err)
{
	struct eager *e = self;

	return torch_module_attr(e->names, m, name, out, err);
}

static void host_print(void *self, const char *text, size_t len)
{
	struct eager *e = self;

	buf_add(e->out, text, len);
}

static bool host_repr(void *self, struct value t, struct buf *text, struct err *err)
{
	const struct eager *e = self;
	char name[80], suffix[96] = "";
	const char *made = autograd_name(t, name);

	(void)err;
	if (made)
		snprintf(suffix, sizeof(suffix), "grad_fn=<%s>", made);
	else if (autograd_requires(t))
		strcpy(suffix, "requires_grad=True");
	if (t.tensor->is_parameter)
		buf_puts(text, "Parameter containing:\n");
	tensor_print(text, t.tensor->memory,
		     &(struct tensor_form){ e->modes->real, suffix, &e->modes->print });
	return true;
}

static bool decomposer_run(void *self, const struct op_call *call, struct value *out,
			   struct err *err)
{
	const char *fx = call->name + strlen("fx:");
	struct op_call c = *call;

	c.name = *fx ? fx : op_info(c.op)->id;
	return eager_run(self, &c, out, err);
}

static bool decomposer_size(void *self, struct value t, int dim, struct value *out, struct err *err)
{
	(void)self;
	if (!tensor_check_memory(t, err))
		return false;
	*out = value_int(t.tensor->memory->size[dim]);
	return true;
}

static bool decomposer_type(void *self, struct value t, int *rank, enum dtype *dtype,
			    struct err *err)
{
	(void)self;
	if (!tensor_check_memory(t, err))
		return false;
	*rank = t.tensor->memory->rank;
	*dtype = t.tensor->memory->dtype;
	return true;
}

/* One int64 tensor for each dim: where the mask holds, in row-major order. */
static bool decomposer_places(void *self, struct value mask, int rank, struct value *out,
			      struct err *err)
{
	struct eager *e = self;
	const struct tensor *m = mask.tensor->memory;
	int64_t numel = tensor_numel(m), count = 0, *at[MAX_RANK];

	for (int64_t i = 0; i < numel; i++)
		count += tensor_get_int(m, i) != 0;
	for (int d = 0; d < rank; d++) {
		struct tensor *t;

		label(e, "nonzero");
		t = tensor_create(e->env->allocator, DTYPE_I64, 1, &count, err);
		if (!t || !wrap(t, &out[d], err)) {
			while (d-- > 0)
				value_unref(out[d]);
			return false;
		}
		at[d] = tensor_host_writes(t);
	}
	for (int64_t i = 0; i < numel; i++) {
		int64_t rest = i;

		if (tensor_get_int(m, i) == 0)
			continue;
		for (int d = rank - 1; d >= 0; d--) {
			*at[d]++ = rest % m->size[d];
			rest /= m->size[d];
		}
	}
	return true;
}

static bool host_subscript(void *self, struct value t, struct value index, struct value *out,
			   struct err *err)
{
	struct eager *e = self;

	return decompose_subscript(&e->decomposer, t, index, out, err);
}

static bool host_row(void *self, struct value t, struct value index, struct value *out,
		     struct err *err)
{
	struct eager *e = self;

	return decompose_row(&e->decomposer, t, index, out, err);
}

static bool host_store_subscript(void *self, struct value t, struct value index, struct value v,
				 struct err *err)
{
	struct eager *e = self;

	return decompose_store(&e->decomposer, t, index, v, err);
}

/* A parameter requires a gradient even where none is recorded. */
static bool keeps_cast(void *self, struct value t)
{
	(void)self;
	return t.tensor->is_parameter || (autograd_requires(t) && autograd_is_leaf(t));
}

/* The VM is there when the first program runs. */
void eager_set_modes(struct eager *e, struct torch_modes *modes)
{
	e->modes = modes;
	e->decomposer.autocast = &modes->autocast;
	e->decomposer.gpu = &modes->gpu;
	e->decomposer.real = &modes->real;
	e->autocast = (struct autocast){ .decomposer = &e->decomposer,
					 .grad_off = &modes->grad_off,
					 .keeps = keeps_cast };
}

/* Whether a number among its arguments is computed with and decides nothing else: the
 * same program serves for any.  So not pow, which some exponents make another op.
 * Zero aside, which some refuse. */
static bool op_takes_any_number(enum op op)
{
	const struct op_info *info = op_info(op);

	if (info->kind == KIND_POINTWISE)
		return !(info->facts & FACT_NUMBER_DECIDES);
	return info->facts & FACT_ANY_NUMBER;
}

void eager_init(struct eager *e, const struct exec_env *env, uint64_t passes_disabled,
		struct torch_names *names, struct buf *out)
{
	e->env = env;
	e->backend = exec_eager_backend(env);
	e->passes_disabled = passes_disabled;
	e->names = names;
	e->out = out;
	e->decomposer = (struct decomposer){ .self = e,
					     .host = &e->host,
					     .run = decomposer_run,
					     .size = decomposer_size,
					     .type = decomposer_type,
					     .places = decomposer_places };
	for (int op = 0; op < OP_COUNT; op++)
		e->any_number[op] = op_takes_any_number((enum op)op);
	torch_operators_init(&e->operators);
	autograd_init(&e->autograd, e);
	e->host = (struct vm_host){
		.self = e,
		.has_module = torch_has_module,
		.module_attr = host_module_attr,
		.tensor_attr = host_tensor_attr,
		.call = host_call,
		.as_op = host_as_op,
		.binary = host_binary,
		.unary = host_unary,
		.compare = host_compare,
		.truth = host_truth,
		.subscript = host_subscript,
		.row = host_row,
		.store_subscript = host_store_subscript,
		.length = host_length,
		.to_number = host_to_number,
		.repr = host_repr,
		.print = host_print,
		.store_attr = host_store_attr,
	};
}
