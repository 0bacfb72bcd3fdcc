/* fusion/torch/subscript.c -- x[index] and x[index] = v.
 *
 * An index is taken from left to right: ints, slices, None and ... become views,
 * one after the other; int tensors stay for one gather at the end, a bool
 * tensor for the places where it holds.
 */
#include "fusion/torch/decomposition.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fusion/graph/graph.h"

/* MAX_INDICES: of the op; more become one. */
enum { MAX_STEPS = 2 * MAX_RANK + 2, MAX_INDICES = 3, MAX_RANGE = 1 << 20 };

/* A view op to be run: values[0] is the tensor. */
struct subscript_step {
	enum op op;
	struct value values[5];
	int n;
};

struct subscript {
	const struct decomposer *c;
	struct subscript_step steps[MAX_STEPS];
	int n_steps;
	/* by dim that is indexed: tensors, as given; references.  A mask is that of its first dim,
	 * until it becomes indices. */
	struct value index[MAX_RANK];
	int masked[MAX_RANK]; /* the dims of the mask that begins there; 0 */
	int n_index;
	bool is_mask;     /* the one index is a bool tensor */
	int index_dim;    /* of the tensor after the views */
	int at[MAX_RANK]; /* the dim of each index */
	int dim;          /* next dim of the tensor, with the views so far */
	bool apart;       /* a slice or None was between two tensors, or int and tensor */
	bool closed;      /* one was after the last of them */
	int ints;
	struct value order; /* of the dims, where indices are not neighbours; UNSET */
	struct err *err;
};

static bool add_step(struct subscript *s, enum op op, const struct value *args, int n)
{
	struct subscript_step *step = &s->steps[s->n_steps];

	if (s->n_steps == MAX_STEPS)
		return err_set(s->err, ERR_BOUND, "the index has more than %d parts", MAX_STEPS);
	s->n_steps++;
	step->op = op;
	step->n = n + 1;
	for (int i = 0; i < n; i++)
		step->values[i + 1] = args[i];
	return true;
}

static bool is_size(struct value v)
{
	return v.kind == VALUE_INT || v.kind == VALUE_SYMINT;
}

bool decompose_compare(const struct decomposer *c, enum cmpop op, struct value a, struct value b,
		       bool *out, struct err *err)
{
	struct value v;

	if (a.kind == VALUE_INT && b.kind == VALUE_INT) {
		*out = op == CMP_LT ? a.i < b.i : op == CMP_LE ? a.i <= b.i : a.i == b.i;
		return true;
	}
	return c->host->compare(c->host->self, op, a, b, &v, err) &&
	       (v.kind == VALUE_BOOL ? (*out = v.b, true)
				     : c->host->truth(c->host->self, v, out, err));
}

bool decompose_add(const struct decomposer *c, struct value a, struct value b, struct value *out,
		   struct err *err)
{
	if (a.kind == VALUE_INT && b.kind == VALUE_INT) {
		*out = value_int((int64_t)((uint64_t)a.i + (uint64_t)b.i));
		return true;
	}
	return c->host->binary(c->host->self, &(struct binary){ BIN_ADD, false, a, b }, out, err);
}

/* Its __index__, which a bound of a slice is read by; sizes are ints, bools are not. */
bool decompose_index(const struct decomposer *c, struct value t, struct value *out, struct err *err)
{
	enum dtype dtype;
	int rank;

	if (!c->type(c->self, t, &rank, &dtype, err))
		return false;
	if (dtype_category(dtype) != CATEGORY_FLOAT &&
	    c->host->to_number(c->host->self, VALUE_INT, t, out, err))
		return true;
	if (dtype_category(dtype) != CATEGORY_FLOAT && err && err->code != ERR_VALUE)
		return false;
	return err_set(err, ERR_TYPE,
		       "only integer tensors of a single element can be converted to an index");
}

bool decompose_number(const struct decomposer *c, struct value v, const char *what, int64_t *out,
		      struct err *err)
{
	struct value number = v;

	if ((v.kind == VALUE_SYMINT || v.kind == VALUE_DEFERRED_INT) &&
	    !c->host->to_number(c->host->self, VALUE_INT, v, &number, err))
		return false;
	if (v.kind == VALUE_TENSOR) {
		enum dtype dtype;
		int rank;

		if (!c->type(c->self, v, &rank, &dtype, err))
			return false;
		if (rank == 0 && dtype_category(dtype) == CATEGORY_INT &&
		    !c->host->to_number(c->host->self, VALUE_INT, v, &number, err))
			return false;
	}
	if (number.kind != VALUE_INT)
		return err_set(err, ERR_TYPE, "%s must be an int, not %s", what,
			       value_type_name(v));
	*out = number.i;
	return true;
}

/* A bound of a slice, held between 0 and `size`. */
static bool bound(struct subscript *s, struct value v, struct value size, struct value otherwise,
		  struct value *out)
{
	const struct decomposer *c = s->c;
	bool negative, inside;

	if (v.kind == VALUE_NONE) {
		*out = otherwise;
		return true;
	}
	if (v.kind == VALUE_DEFERRED_INT &&
	    !c->host->to_number(c->host->self, VALUE_INT, v, &v, s->err))
		return false;
	if (v.kind == VALUE_TENSOR && !decompose_index(c, v, &v, s->err))
		return false;
	if (!is_size(v))
		return err_set(s->err, ERR_TYPE, "a slice has ints or None as bounds, not %s",
			       value_type_name(v));
	if (!decompose_compare(c, CMP_LT, v, value_int(0), &negative, s->err))
		return false;
	if (negative) {
		if (!decompose_add(c, v, size, &v, s->err) ||
		    !decompose_compare(c, CMP_LT, v, value_int(0), &negative, s->err))
			return false;
		*out = negative ? value_int(0) : v;
		return true;
	}
	if (!decompose_compare(c, CMP_LE, v, size, &inside, s->err))
		return false;
	*out = inside ? v : size;
	return true;
}

static bool same_size(struct value a, struct value b)
{
	return a.kind == b.kind && (a.kind == VALUE_INT ? a.i == b.i : a.sym == b.sym);
}

static bool take_slice(struct subscript *s, struct value t, int dim, const struct slice *slice)
{
	struct value size, start, stop, step = slice->step;
	int64_t stride = 1;
	bool after;

	if (!s->c->size(s->c->self, t, dim, &size, s->err))
		return false;
	if (step.kind == VALUE_TENSOR && !decompose_index(s->c, step, &step, s->err))
		return false;
	if (step.kind != VALUE_NONE &&
	    !decompose_number(s->c, step, "the step of a slice", &stride, s->err))
		return false;
	if (stride < 1)
		return err_set(s->err, ERR_VALUE,
			       "the step of a slice of a tensor must be positive; write "
			       "torch.flip(x, (dim,)) to reverse it");
	if (!bound(s, slice->start, size, value_int(0), &start) ||
	    !bound(s, slice->stop, size, size, &stop) ||
	    !decompose_compare(s->c, CMP_LT, stop, start, &after, s->err))
		return false;
	if (after)
		stop = start;
	if (s->n_index)
		s->closed = true;
	if (start.kind == VALUE_INT && start.i == 0 && stride == 1 && same_size(stop, size)) {
		s->dim++;
		return true;
	}
	return add_step(s, OP_slice,
			(struct value[]){ value_int(s->dim++), start, stop, value_int(stride) }, 4);
}

static bool take_tensor(struct subscript *s, struct value index);

/* What an index becomes by an op; then that. */
static bool take_made(struct subscript *s, enum op op, struct value index, struct value how)
{
	struct value made;
	bool ok;

	if (!s->c->run(
		s->c->self,
		&(struct op_call){ op, "fx:", false, (struct value[]){ index, how }, 2, NULL },
		&made, s->err))
		return false;
	ok = take_tensor(s, made);
	value_unref(made);
	return ok;
}

static bool take_tensor(struct subscript *s, struct value index)
{
	enum dtype dtype;
	int rank, dims = 1;

	if (!s->c->type(s->c->self, index, &rank, &dtype, s->err))
		return false;
	if (dtype == DTYPE_U8) /* is a mask, as in torch */
		return take_made(s, OP_to, index,
				 (struct value){ .kind = VALUE_DTYPE, .dtype = DTYPE_BOOL });
	if (dtype == DTYPE_BOOL && rank == 0) /* of a dim of its own */
		return add_step(s, OP_unsqueeze, (struct value[]){ value_int(s->dim) }, 1) &&
		       take_made(s, OP_unsqueeze, index, value_int(0));
	if (dtype == DTYPE_BOOL)
		dims = rank;
	else if (dtype_category(dtype) != CATEGORY_INT)
		return err_set(s->err, ERR_INDEX,
			       "a tensor as index must be of ints or bools, not %s; write "
			       "index.long()",
			       dtype_name(dtype));
	if (s->n_index + dims > MAX_RANK)
		return err_set(s->err, ERR_UNSUPPORTED,
			       "tensors as indices of more than %d dimensions are not in the "
			       "language so far; index one after the other",
			       MAX_RANK);
	s->is_mask = dtype == DTYPE_BOOL && s->n_index == 0;
	s->apart |= s->closed && s->n_index;
	if (s->n_index == 0)
		s->index_dim = s->dim;
	s->masked[s->n_index] = dtype == DTYPE_BOOL ? dims : 0;
	s->index[s->n_index] = value_ref(index);
	for (int i = 0; i < dims; i++)
		s->at[s->n_index++] = s->dim++;
	return true;
}

/* x[[0, 2]], x[True]: that is a tensor, which FX keeps among the arguments of getitem. */
static bool take_list(struct subscript *s, struct value list)
{
	struct vm_host *host = s->c->host;
	struct value f = value_native("fx:", OP_tensor, false,
				      (struct value){ .kind = VALUE_UNSET });
	struct value index;
	bool ok;

	if (f.kind == VALUE_UNSET)
		return torch_no_memory(s->err);
	ok = host->call(host->self, f.native, &(struct arguments){ &list, 1, NULL }, &index,
			s->err);
	value_unref(f);
	if (!ok)
		return false;
	if (list.kind == VALUE_LIST && list.list->len == 0) /* no floats, as a tensor of [] is */
		ok = take_made(s, OP_to, index,
			       (struct value){ .kind = VALUE_DTYPE, .dtype = DTYPE_I64 });
	else
		ok = take_tensor(s, index);
	value_unref(index);
	return ok;
}

/* x[range(4)], as PyTorch takes any sequence. */
static bool take_range(struct subscript *s, const struct range *r)
{
	int64_t n = range_length(r);
	struct value list;
	bool ok;

	if (n > MAX_RANGE)
		return err_set(s->err, ERR_BOUND,
			       "a range of %" PRId64 " numbers as index; write torch.arange(...)",
			       n);
	list = value_list(NULL, 0);
	ok = list.kind != VALUE_UNSET;
	for (int64_t i = 0; ok && i < n; i++)
		ok = value_list_push(list.list, value_int(r->start + i * r->step));
	ok = ok ? take_list(s, list) : torch_no_memory(s->err);
	value_unref(list);
	return ok;
}

/* How many dims of the tensor an item uses up; -1: it has none of its own. */
static bool count_dims(struct subscript *s, struct value item, int *out)
{
	enum dtype dtype;
	int rank;

	*out = item.kind != VALUE_NONE && item.kind != VALUE_ELLIPSIS && item.kind != VALUE_BOOL;
	if (item.kind != VALUE_TENSOR)
		return true;
	if (!s->c->type(s->c->self, item, &rank, &dtype, s->err))
		return false;
	*out = dtype == DTYPE_BOOL ? rank : 1;
	return true;
}

/* `own` is the dim of the tensor as it was, s->dim with the views so far. */
static bool take_item(struct subscript *s, struct value t, struct value item, int own, int skipped)
{
	switch (item.kind) {
	case VALUE_INT:
	case VALUE_SYMINT:
		s->ints++;
		s->apart |= s->closed && s->n_index;
		return add_step(s, OP_select, (struct value[]){ value_int(s->dim), item }, 2);
	case VALUE_SLICE:
		return take_slice(s, t, own, item.slice);
	case VALUE_NONE:
		s->closed |= s->n_index > 0;
		return add_step(s, OP_unsqueeze, (struct value[]){ value_int(s->dim++) }, 1);
	case VALUE_ELLIPSIS:
		s->closed |= s->n_index > 0 && skipped > 0;
		s->dim += skipped;
		return true;
	case VALUE_TENSOR:
		return take_tensor(s, item);
	case VALUE_LIST:
	case VALUE_TUPLE: /* inside of another one: a list of places */
	case VALUE_BOOL:
		return take_list(s, item);
	case VALUE_RANGE:
		return take_range(s, item.range);
	default:
		return err_set(s->err, item.kind == VALUE_FLOAT ? ERR_INDEX : ERR_TYPE,
			       "a tensor is indexed by ints, slices, None, ... and tensors, not %s",
			       value_type_name(item));
	}
}

/* Indices that are not neighbours give the first dims of the result: their dims go there. */
static bool indices_first(struct subscript *s, int rank)
{
	struct value order[MAX_RANK], dims;
	int n = 0;

	for (int i = 0; i < s->n_index; i++)
		order[n++] = value_int(s->at[i]);
	for (int d = 0; d < rank; d++) {
		bool indexed = false;

		for (int i = 0; i < s->n_index; i++)
			indexed |= s->at[i] == d;
		if (!indexed)
			order[n++] = value_int(d);
	}
	dims = value_tuple(order, n);
	if (dims.kind == VALUE_UNSET)
		return torch_no_memory(s->err);
	s->index_dim = 0;
	s->order = dims;
	return add_step(s, OP_permute, &dims, 1);
}

static bool take_items(struct subscript *s, struct value t, const struct value *items, int n)
{
	int rank, used = 0, own = 0, dots = 0, dims;
	enum dtype dtype;

	if (!s->c->type(s->c->self, t, &rank, &dtype, s->err))
		return false;
	for (int i = 0; i < n; i++) {
		if (!count_dims(s, items[i], &dims))
			return false;
		used += dims;
		dots += items[i].kind == VALUE_ELLIPSIS;
	}
	if (dots > 1)
		return err_set(s->err, ERR_OP, "an index may have one ... only");
	if (used > rank)
		return err_set(s->err, ERR_INDEX,
			       "too many indices: %d for a tensor of %d dimension%s", used, rank,
			       rank == 1 ? "" : "s");
	for (int i = 0; i < n; i++) {
		if (!count_dims(s, items[i], &dims) || !take_item(s, t, items[i], own, rank - used))
			return false;
		own += items[i].kind == VALUE_ELLIPSIS ? rank - used : dims;
	}
	return !s->apart || indices_first(s, s->dim + (dots ? 0 : rank - used));
}

static bool parse(struct subscript *s, struct value t, struct value index)
{
	if (index.kind == VALUE_TUPLE)
		return take_items(s, t, index.list->at, index.list->len);
	return take_items(s, t, &index, 1);
}

static void finish(struct subscript *s)
{
	for (int i = 0; i < s->n_index; i++)
		value_unref(s->index[i]);
	value_unref(s->order);
}

/* Runs the views; the last one is called `name`. */
static bool run_steps(struct subscript *s, struct value t, const char *name, struct value *out)
{
	struct value at = value_ref(t), next;

	for (int i = 0; i < s->n_steps; i++) {
		struct subscript_step *step = &s->steps[i];

		step->values[0] = at;
		if (!s->c->run(s->c->self,
			       &(struct op_call){ step->op, i + 1 < s->n_steps ? "fx:" : name,
						  false, step->values, step->n, NULL },
			       &next, s->err)) {
			value_unref(at);
			return false;
		}
		value_unref(at);
		at = next;
	}
	*out = at;
	return true;
}

/* Makes the indices one shape: each gets all others added, times 0. */
static bool align_indices(struct subscript *s)
{
	struct value zero, sum;

	for (int i = 0; i < s->n_index && s->n_index > 1; i++)
		for (int j = 0; j < s->n_index; j++) {
			bool ok;

			if (i == j)
				continue;
			if (!s->c->run(s->c->self,
				       &(struct op_call){
					   OP_mul, "fx:", false,
					   (struct value[]){ s->index[j], value_int(0) }, 2, NULL },
				       &zero, s->err))
				return false;
			ok = s->c->run(s->c->self,
				       &(struct op_call){ OP_add, "fx:", false,
							  (struct value[]){ s->index[i], zero }, 2,
							  NULL },
				       &sum, s->err);
			value_unref(zero);
			if (!ok)
				return false;
			value_unref(s->index[i]);
			s->index[i] = sum;
		}
	return true;
}

/* The sizes of a mask, or of the whole as it was before the dims of the indices came first. */
static bool append_sizes(struct subscript *s, struct value tensor, int rank, bool whole, char *text,
			 size_t room)
{
	size_t used = (size_t)snprintf(text, room, "[");

	for (int d = 0; d < rank; d++) {
		struct value size;
		int64_t n;
		int from = d;

		for (int k = 0; whole && s->order.kind == VALUE_TUPLE && k < rank; k++)
			if (s->order.list->at[k].i == d)
				from = k;
		if (!s->c->size(s->c->self, tensor, from, &size, s->err) ||
		    !decompose_number(s->c, size, "a size", &n, s->err))
			return false;
		used += (size_t)snprintf(text + used, room - used, "%s%" PRId64, d ? ", " : "", n);
	}
	snprintf(text + used, room - used, "]");
	return true;
}

enum { SIZES_BYTES = MAX_RANK * 24 };

/* Dim d of the mask that begins at index i is of another size than what it indexes. */
static bool refuse_mask(struct subscript *s, struct value part, int i, int d)
{
	char mask[SIZES_BYTES], sizes[SIZES_BYTES];
	enum dtype dtype;
	int rank;

	return s->c->type(s->c->self, part, &rank, &dtype, s->err) &&
	       append_sizes(s, s->index[i], s->masked[i], false, mask, sizeof(mask)) &&
	       append_sizes(s, part, rank, true, sizes, sizeof(sizes)) &&
	       err_set(s->err, ERR_INDEX,
		       "The shape of the mask %s at index %d does not match the shape of the "
		       "indexed tensor %s at index %d",
		       mask, d, sizes, s->at[i] + d);
}

/* The indices are the dims of `part` from index_dim on. */
static bool check_masks(struct subscript *s, struct value part)
{
	for (int i = 0; i < s->n_index; i++)
		for (int d = 0; d < s->masked[i]; d++) {
			struct value a, b;
			bool same = false;

			if (!s->c->size(s->c->self, s->index[i], d, &a, s->err) ||
			    !s->c->size(s->c->self, part, s->index_dim + i + d, &b, s->err) ||
			    !decompose_compare(s->c, CMP_EQ, a, b, &same, s->err))
				return false;
			if (!same)
				return refuse_mask(s, part, i, d);
		}
	return true;
}

/* A mask becomes the indices of the places where it holds. */
static bool unmask(struct subscript *s)
{
	struct value found[MAX_RANK];

	for (int i = 0; i < s->n_index; i++) {
		if (!s->masked[i])
			continue;
		if (!s->c->places(s->c->self, s->index[i], s->masked[i], found, s->err))
			return false;
		value_unref(s->index[i]);
		memcpy(&s->index[i], found, sizeof(*found) * (size_t)s->masked[i]);
	}
	return s->is_mask || align_indices(s); /* those of one are of one size */
}

static bool run_two(struct subscript *s, enum op op, struct value a, struct value b,
		    struct value *out)
{
	return s->c->run(s->c->self,
			 &(struct op_call){ op, "fx:", false, (struct value[]){ a, b }, 2, NULL },
			 out, s->err);
}

/* The index as places from the start; one that is out of bounds is an error. */
static bool from_start(struct subscript *s, struct value size, struct value index,
		       struct value *out)
{
	struct value places, range[4] = {
		value_int(0), value_int(1), size, { .kind = VALUE_DTYPE, .dtype = DTYPE_I64 }
	};
	bool ok = s->c->run(s->c->self,
			    &(struct op_call){ OP_arange, "fx:", false, range, 4, NULL }, &places,
			    s->err);

	if (!ok)
		return false;
	ok = s->c->run(s->c->self,
		       &(struct op_call){ OP_index, "fx:", false,
					  (struct value[]){ places, value_int(0), index }, 3,
					  NULL },
		       out, s->err);
	value_unref(places);
	return ok;
}

/* *all = *all * size + index, the place in two dims as one. */
static bool join_index(struct subscript *s, struct value size, struct value index,
		       struct value *all)
{
	struct value scaled, sum;
	bool ok = run_two(s, OP_mul, *all, size, &scaled);

	if (!ok)
		return false;
	ok = run_two(s, OP_add, scaled, index, &sum);
	value_unref(scaled);
	if (!ok)
		return false;
	value_unref(*all);
	*all = sum;
	return true;
}

/* More indices than the op takes become one, of the dims that they name as one: *part then
 * is flat. */
static bool merge_indices(struct subscript *s, struct value *part)
{
	struct value all = value_none(), size, index, flat,
		     dims[3] = { *part, value_int(s->index_dim),
				 value_int(s->index_dim + s->n_index - 1) };
	bool ok = true;

	if (s->n_index <= MAX_INDICES)
		return true;
	for (int i = 0; ok && i < s->n_index; i++) {
		ok = s->c->size(s->c->self, *part, s->index_dim + i, &size, s->err);
		if (!ok)
			break;
		ok = from_start(s, size, s->index[i], &index);
		if (ok && i > 0) {
			ok = join_index(s, size, index, &all);
			value_unref(index);
		} else if (ok) {
			all = index;
		}
		value_unref(size);
	}
	ok = ok &&
	     s->c->run(s->c->self, &(struct op_call){ OP_flatten, "fx:", false, dims, 3, NULL },
		       &flat, s->err);
	if (!ok) {
		value_unref(all);
		return false;
	}
	while (s->n_index > 0)
		value_unref(s->index[--s->n_index]);
	s->index[s->n_index++] = all;
	value_unref(*part);
	*part = flat;
	return true;
}

static bool read_indices(struct subscript *s, struct value t, const char *name, struct value *out)
{
	struct value values[2 + MAX_INDICES] = { t, value_int(s->index_dim) };

	for (int i = 0; i < s->n_index; i++)
		values[2 + i] = s->index[i];
	return s->c->run(s->c->self,
			 &(struct op_call){ OP_index, name, false, values, 2 + s->n_index, NULL },
			 out, s->err);
}

bool decompose_subscript(const struct decomposer *c, struct value t, struct value index,
			 struct value *out, struct err *err)
{
	struct subscript s = { .c = c, .err = err };
	struct value part;
	bool ok = parse(&s, t, index);

	if (ok && s.n_steps + s.n_index == 0) /* x[:], x[...]: a view of all */
		ok = add_step(&s, OP_alias, NULL, 0);
	if (ok && s.n_index == 0) {
		ok = run_steps(&s, t, "fx:getitem", out);
	} else if (ok && run_steps(&s, t, "fx:", &part)) {
		ok = check_masks(&s, part) && unmask(&s) && merge_indices(&s, &part) &&
		     read_indices(&s, part, "fx:getitem", out);
		value_unref(part);
	} else {
		ok = false;
	}
	finish(&s);
	return ok;
}

/* A stored tensor may have more dims than its place, of size 1 and in front: they are dropped.
 * *out is the caller's. */
static bool fitting(const struct decomposer *c, struct value part, struct value v,
		    struct value *out, struct err *err)
{
	enum dtype dtype;
	int room, rank;

	*out = value_ref(v);
	if (v.kind != VALUE_TENSOR)
		return true;
	if (!c->type(c->self, part, &room, &dtype, err) || !c->type(c->self, v, &rank, &dtype, err))
		goto fail;
	for (; rank > room; rank--) {
		struct value size, dropped;

		if (!c->size(c->self, *out, 0, &size, err))
			goto fail;
		if (size.kind != VALUE_INT || size.i != 1) {
			value_unref(size);
			return true; /* the store says what does not fit */
		}
		if (!c->run(c->self,
			    &(struct op_call){ OP_squeeze, "fx:", false,
					       (struct value[]){ *out, value_int(0) }, 2, NULL },
			    &dropped, err))
			goto fail;
		value_unref(*out);
		*out = dropped;
	}
	return true;
fail:
	value_unref(*out);
	return false;
}

/* part[...] = v, in place. */
static bool fill_part(const struct decomposer *c, struct value part, struct value v,
		      const char *name, struct err *err)
{
	struct value done, fit;
	bool ok;

	if (!fitting(c, part, v, &fit, err))
		return false;
	ok = c->run(
	    c->self,
	    &(struct op_call){ OP_fill, name, true, (struct value[]){ part, fit }, 2, NULL }, &done,
	    err);
	value_unref(fit);
	if (ok)
		value_unref(done);
	return ok;
}

/* A mask with as many dims as the part. */
static bool widen_mask(struct subscript *s, struct value part, struct value *mask)
{
	enum dtype dtype;
	int rank, mask_rank;

	if (!s->c->type(s->c->self, part, &rank, &dtype, s->err) ||
	    !s->c->type(s->c->self, s->index[0], &mask_rank, &dtype, s->err))
		return false;
	*mask = value_ref(s->index[0]);
	for (int d = s->index_dim + mask_rank; d < rank; d++) {
		struct value wider;
		bool ok = s->c->run(s->c->self,
				    &(struct op_call){ OP_unsqueeze, "fx:", false,
						       (struct value[]){ *mask, value_int(-1) }, 2,
						       NULL },
				    &wider, s->err);

		value_unref(*mask);
		if (!ok)
			return false;
		*mask = wider;
	}
	return true;
}

/* part[mask] = number */
static bool store_masked(struct subscript *s, struct value part, struct value v)
{
	struct value mask, filled;
	bool ok;

	if (!widen_mask(s, part, &mask))
		return false;
	ok = s->c->run(s->c->self,
		       &(struct op_call){ OP_masked_fill, "fx:", false,
					  (struct value[]){ part, mask, v }, 3, NULL },
		       &filled, s->err);
	value_unref(mask);
	if (!ok)
		return false;
	ok = fill_part(s->c, part, filled, "fx:setitem", s->err);
	value_unref(filled);
	return ok;
}

/* target[...] = whole, which may be flat. */
static bool fill_whole(struct subscript *s, struct value target, struct value whole)
{
	struct value fit;
	bool ok = run_two(s, OP_view_as, whole, target, &fit);

	if (!ok)
		return false;
	ok = fill_part(s->c, target, fit, "fx:setitem", s->err);
	value_unref(fit);
	return ok;
}

/* part[i, j] = v: v takes sizes and dtype of part[i, j]. */
static bool store_indexed(struct subscript *s, struct value target, struct value v)
{
	const struct decomposer *c = s->c;
	struct value part = value_ref(target), values[3 + MAX_INDICES] = { 0 };
	struct value chosen, value, whole, fit;
	bool ok = unmask(s), merged = s->n_index > MAX_INDICES;

	ok = ok && merge_indices(s, &part) && read_indices(s, part, "fx:", &chosen);
	if (!ok) {
		value_unref(part);
		return false;
	}
	values[0] = part;
	values[1] = value_int(s->index_dim);
	ok = fitting(c, chosen, v, &fit, s->err);
	if (ok) {
		ok = c->run(c->self,
			    &(struct op_call){ OP_fill, "fx:", false,
					       (struct value[]){ chosen, fit }, 2, NULL },
			    &value, s->err);
		value_unref(fit);
	}
	value_unref(chosen);
	if (!ok) {
		value_unref(part);
		return false;
	}
	values[2] = value;
	for (int i = 0; i < s->n_index; i++)
		values[3 + i] = s->index[i];
	ok = c->run(c->self,
		    &(struct op_call){ OP_index_put, "fx:", false, values, 3 + s->n_index, NULL },
		    &whole, s->err);
	value_unref(value);
	value_unref(part);
	if (!ok)
		return false;
	ok = merged ? fill_whole(s, target, whole)
		    : fill_part(c, target, whole, "fx:setitem", s->err);
	value_unref(whole);
	return ok;
}

static bool is_single(const struct decomposer *c, struct value v)
{
	enum dtype dtype;
	int rank = 0;

	return v.kind != VALUE_TENSOR || (c->type(c->self, v, &rank, &dtype, NULL) && rank == 0);
}

bool decompose_store(const struct decomposer *c, struct value t, struct value index, struct value v,
		     struct err *err)
{
	struct subscript s = { .c = c, .err = err };
	struct value part;
	bool ok = parse(&s, t, index);

	if (ok && s.n_steps == 0)
		part = value_ref(t);
	else
		ok = ok && run_steps(&s, t, "fx:", &part);
	if (ok) {
		if (!check_masks(&s, part))
			ok = false;
		else if (s.n_index == 0)
			ok = fill_part(c, part, v, "fx:setitem", err);
		else if (s.is_mask && is_single(c, v))
			ok = store_masked(&s, part, v);
		else
			ok = store_indexed(&s, part, v);
		value_unref(part);
	}
	finish(&s);
	return ok;
}
