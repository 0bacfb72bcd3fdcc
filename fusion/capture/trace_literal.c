/* fusion/capture/trace_literal.c -- torch.tensor(numbers) while capturing.
 *
 * Numbers that are known make a constant of the graph.  With a symbol among them
 * (torch.tensor(n), torch.tensor([n, 1.0 / k])) each element is a node, so that
 * the graph serves other sizes too.
 */
#include "fusion/torch/bind.h"
#include "fusion/torch/torch_host.h"
#include "fusion/capture/trace.h"

enum { MOST_SYMBOLIC = 64 }; /* elements of a literal with symbols */

static bool is_list(struct value v)
{
	return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
}

/* Counts the elements; *symbols: how many are no plain numbers. */
static int count(struct value v, int depth, int *symbols)
{
	int n = 0;

	if (!is_list(v) || depth == MAX_RANK) {
		*symbols += v.kind >= VALUE_SYMINT && v.kind <= VALUE_LATEBOOL;
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
			ok = trace_op(t, OP_to, "fx:", false, values, 2, NULL, &item, l->err);
			value_unref(values[0]);
		}
	} else {
		values[0] = empty;
		values[1] = v;
		values[2] = dtype;
		ok = trace_op(t, OP_full, "fx:", false, values, 3, &kw, &item, l->err);
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
	ok = compose_call(&t->composer, stack.native, &l->items, 1, NULL, &flat, l->err);
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
		 : trace_op(t, OP_reshape, "fx:", false, values, 2, NULL, out, l->err);
	value_unref(values[1]);
	value_unref(flat);
	return ok;
}

static bool make_symbolic(struct trace *t, bool named, struct value data, enum dtype dtype,
			  struct value *out, struct err *err)
{
	struct literal l = { .t = t, .dtype = dtype, .err = err };
	int64_t size[MAX_RANK];
	void *elements;
	struct value plain;
	int rank;
	bool ok;

	if (!at_capture(t, data, &plain, err))
		return false;
	ok = bind_literal(t->graph->arena, plain, &l.dtype, &rank, size, &elements, err);
	value_unref(plain);
	if (!ok)
		return false;
	l.items = value_list(NULL, 0);
	ok = l.items.kind == VALUE_UNSET ? trace_no_memory(err) : add_items(&l, data);
	if (ok && rank == 0)
		*out = value_ref(l.items.list->at[0]);
	else
		ok = ok && put_together(&l, rank, size, out);
	value_unref(l.items);
	if (ok && rank < 2 && !graph_set_fx(t->graph, out->tensor->node, named ? "tensor" : ""))
		ok = trace_no_memory(err);
	t->n_ops += ok && named && rank == 0; /* its node was none of FX's so far */
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

bool trace_literal(struct trace *t, bool named, const struct value *args, int n,
		   const struct keywords *kw, struct value *out, struct err *err)
{
	struct shape shape = { 0 };
	struct value data;
	enum dtype dtype;
	int64_t size[MAX_RANK];
	void *elements;
	int node, symbols = 0, elements_n;
	bool changed = false;

	if (!bind_tensor_call(args, n, kw, &data, &dtype, err))
		return false;
	named &= !trace_within_call(t);
	elements_n = count(data, 0, &symbols);
	if (symbols > 0 && elements_n <= MOST_SYMBOLIC)
		return make_symbolic(t, named, data, dtype, out, err);
	if (symbols > 0 && pin_all(t, data, &changed))
		return err_set(err, ERR_UNSUPPORTED, "the numbers are specialised");
	if (!bind_literal(t->graph->arena, data, &dtype, &shape.rank, size, &elements, err))
		return false;
	for (int d = 0; d < shape.rank; d++)
		shape.size[d] = sym_const(t->graph->syms, size[d]);
	node = graph_constant(t->graph, dtype, &shape, elements);
	if (node < 0)
		return trace_no_memory(err);
	t->graph->nodes[node]->line = t->host.line;
	t->graph->nodes[node]->column = t->host.column;
	if (!named && !graph_set_fx(t->graph, node, ""))
		return trace_no_memory(err);
	t->n_ops += named;
	return trace_wrap(t, node, out, err);
}
