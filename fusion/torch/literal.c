/* fusion/torch/literal.c -- torch.tensor of what is a tensor, or has some, and
 * torch.Tensor(...), the constructor of old.
 */
#include <string.h>

#include "fusion/torch/bind.h"
#include "fusion/torch/torch_more.h"

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

bool literal_wants(const struct native *f, const struct value *args, int n)
{
	if (f->id == NATIVE_TENSOR)
		return true;
	return f->id == OP_tensor && n > 0 && has_tensor(args[0], 0);
}

static bool call(const struct composer *c, const char *name, int id, const struct value *args,
		 int n, const struct keywords *kw, struct value *out, struct err *err)
{
	struct value f = value_native(name, id, false, (struct value){ .kind = VALUE_UNSET });
	bool ok;

	if (f.kind == VALUE_UNSET)
		return torch_no_memory(err);
	ok = c->host->call(c->host->self, f.native, args, n, kw, out, err);
	value_unref(f);
	return ok;
}

static bool put_together(const struct composer *c, struct value v, const char *name,
			 struct value *out, struct err *err);

/* [a, [b, c]]: as nested stacks; numbers among tensors become tensors. */
static bool stack(const struct composer *c, struct value v, const char *name, struct value *out,
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
	ok = ok && call(c, name, NATIVE_STACK, &items, 1, NULL, out, err);
	value_unref(items);
	return ok;
}

static bool put_together(const struct composer *c, struct value v, const char *name,
			 struct value *out, struct err *err)
{
	struct value empty, copy;
	bool ok;

	if (is_list(v) && v.list->len > 0)
		return stack(c, v, name, out, err);
	if (v.kind != VALUE_TENSOR)
		return call(c, "fx:", OP_tensor, &v, 1, NULL, out, err);
	if (name == PART) { /* an element: one number, whatever its dims */
		empty = value_tuple(NULL, 0);
		if (empty.kind == VALUE_UNSET)
			return torch_no_memory(err);
		ok = c->run(c->self, OP_reshape, "fx:", false, (struct value[]){ v, empty }, 2,
			    &copy, err);
		value_unref(empty);
	} else {
		ok = c->run(c->self, OP_clone, "fx:", false, &v, 1, &copy, err);
	}
	if (!ok)
		return false;
	ok = c->run(c->self, OP_detach, name == PART ? "fx:" : "fx:tensor", false, &copy, 1, out,
		    err);
	value_unref(copy);
	return ok;
}

/* torch.tensor(data, dtype=) with a tensor in data. */
static bool of_tensors(const struct composer *c, const struct value *args, int n,
		       const struct keywords *kw, struct value *out, struct err *err)
{
	struct value to = { .kind = VALUE_DTYPE, .dtype = DTYPE_COUNT }, made, data;
	int rank;
	enum dtype dtype;
	bool ok;

	if (!bind_tensor_call(args, n, kw, &data, &to.dtype, err))
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
	ok = c->run(c->self, OP_to, "fx:", false, (struct value[]){ made, to }, 2, out, err);
	value_unref(made);
	return ok;
}

/* torch.Tensor(2, 3): of these sizes, unset in torch; torch.Tensor([1, 2]): these. */
bool literal_call(const struct composer *c, const struct native *f, const struct value *args, int n,
		  const struct keywords *kw, struct value *out, struct err *err)
{
	struct value dtype = { .kind = VALUE_DTYPE, .dtype = DTYPE_F32 }, name, size, values[2];
	struct keywords as = { .n = 1, .names = &name };
	bool ok;

	if (f->id == OP_tensor)
		return of_tensors(c, args, n, kw, out, err);
	name = value_str("dtype", strlen("dtype"));
	if (name.kind == VALUE_UNSET)
		return torch_no_memory(err);
	if (n == 1 && (is_list(args[0]) || args[0].kind == VALUE_TENSOR) &&
	    !(is_list(args[0]) && args[0].list->is_size)) {
		values[0] = args[0];
		values[1] = dtype;
		ok = call(c, "torch.tensor", OP_tensor, values, 2, &as, out, err);
	} else {
		size = n == 1 && is_list(args[0]) ? value_ref(args[0]) : value_tuple(args, n);
		if (n == 0 && size.kind != VALUE_UNSET) { /* empty */
			value_unref(size);
			size = value_tuple((struct value[]){ value_int(0) }, 1);
		}
		ok = size.kind != VALUE_UNSET || torch_no_memory(err);
		values[0] = size;
		values[1] = dtype;
		ok = ok && call(c, "torch.zeros", OP_zeros, values, 2, &as, out, err);
		value_unref(size);
	}
	value_unref(name);
	return ok;
}
