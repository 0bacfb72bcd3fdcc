/* fusion/capture/control/cond_merge.c -- chooses between what the two sides of a branch left.
 *
 * What both left alike stays.  Two tensors become torch.where(condition, a, b);
 * containers made in the sides are merged part by part, and objects that are
 * older than the branch where a side changed them.  Everything else makes the
 * branch fail.
 *
 * A tensor that is, on one side, an object which the program also has by another
 * name, is remembered as a CHOICE: what leaves the piece is that very object.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/capture/control/cond.h"
#include "fusion/capture/trace/trace.h"

enum { MAX_DEPTH = 50 };

struct merge_pair {
	struct value a, b, merged; /* references */
};

struct merger {
	struct cond *k;
	struct trace *t;
	VEC(struct merge_pair) pairs;
	struct err *err;
};

static bool merge(struct merger *m, struct value a, struct value b, int depth, struct value *out);

static bool refuse_kinds(struct merger *m, struct value a, struct value b)
{
	if (a.kind == VALUE_UNSET || b.kind == VALUE_UNSET)
		return cond_refuse(m->k, "a variable is set on one side only");
	return cond_refuse(m->k, "the sides leave %s and %s", value_type_name(a),
			   value_type_name(b));
}

/* ---- tensors ---- */

/* By another name it may be had, too. */
static bool is_shared(const struct merger *m, struct value v)
{
	return v.tensor->owner != m->t->serial || trace_source(m->t, v) >= 0 ||
	       v.tensor->birth < m->k->tensor_birth || v.tensor->view || trace_choice_of(m->t, v);
}

static bool add_choice(struct merger *m, const struct merge_pair *p)
{
	struct trace_choice c = { .merged = p->merged,
				  .condition = m->k->condition,
				  .of = { p->a, p->b },
				  .inst = m->k->inst };

	if (trace_choice_of(m->t, p->merged))
		return true;
	if (!VEC_PUSH(&m->t->choices, c))
		return trace_no_memory(m->err);
	value_ref(c.merged);
	value_ref(c.condition);
	value_ref(c.of[0]);
	value_ref(c.of[1]);
	return true;
}

static bool remember(struct merger *m, struct value a, struct value b, struct value merged)
{
	struct merge_pair p = { a, b, merged };

	if (!VEC_PUSH(&m->pairs, p))
		return trace_no_memory(m->err);
	value_ref(a);
	value_ref(b);
	value_ref(merged);
	return true;
}

/* A choice between two tensors requires a gradient; so must both of them. */
static bool gradients_match(struct merger *m, int where)
{
	const struct node *n = m->t->graph->nodes[where];
	const bool *tracked;

	if (dtype_category(n->dtype) != CATEGORY_FLOAT || !trace_records(m->t) ||
	    n->args[1].kind != ARG_NODE || n->args[2].kind != ARG_NODE)
		return true;
	tracked = trace_tracked(m->t, m->err);
	return tracked && (tracked[n->args[1].node] == tracked[n->args[2].node] ||
			   cond_refuse(m->k, "one side leaves a tensor that requires a gradient, "
					     "the other one that does not"));
}

static bool merge_tensors(struct merger *m, struct value a, struct value b, struct value *out)
{
	struct value values[3] = { m->k->condition, a, b };
	struct shape shape[2];
	enum dtype dtype[2];
	bool shared = is_shared(m, a) || is_shared(m, b);

	if (!trace_shape(m->t, a, &shape[0], &dtype[0], m->err) ||
	    !trace_shape(m->t, b, &shape[1], &dtype[1], m->err))
		return false;
	if (dtype[0] != dtype[1])
		return cond_refuse(m->k, "the sides leave a tensor of %s and one of %s",
				   dtype_name(dtype[0]), dtype_name(dtype[1]));
	if (!shape_equal(&shape[0], &shape[1]))
		return cond_refuse(m->k, "the sides leave tensors of different shapes");
	if (!trace_op(m->t, &(struct op_call){ OP_where, "fx:where", false, values, 3, NULL }, out,
		      m->err))
		return false;
	if (!gradients_match(m, out->tensor->node)) {
		value_unref(*out);
		return false;
	}
	m->t->graph->nodes[out->tensor->node]->merged = true;
	for (size_t i = 0; i < m->pairs.len; i++) { /* one of them under two names */
		if (m->pairs.at[i].a.object != a.object && m->pairs.at[i].b.object != b.object)
			continue;
		shared = true;
		if (!add_choice(m, &m->pairs.at[i]))
			return false;
	}
	return remember(m, a, b, *out) &&
	       (!shared || add_choice(m, &m->pairs.at[m->pairs.len - 1]));
}

static int where_nodes(struct merger *m, int a, int b)
{
	struct trace *t = m->t;
	int condition = trace_node(t, m->k->condition, m->err), node;
	struct arg args[MAX_ARGS] = { arg_node(condition), arg_node(a), arg_node(b) };

	if (condition < 0)
		return -1;
	node = graph_add(t->graph,
			 &(struct node_spec){ OP_where, args, 3, t->host.line, t->host.column },
			 m->err);
	if (node < 0)
		return -1;
	t->n_ops++;
	return graph_set_fx(t->graph, node, "where") ? node : -1;
}

/* What was there before the piece may be saved for a backward pass, which refuses to read it
 * once it is written: a write that one side alone makes is none where the other is taken. */
static bool writes_match(struct merger *m, struct value tensor, bool first, bool second)
{
	return first == second || !trace_records(m->t) ||
	       (trace_source(m->t, tensor) < 0 && trace_lifted(m->t, tensor) < 0) ||
	       cond_refuse(m->k,
			   "one side alone writes to a tensor that the backward pass may read");
}

/* In-place ops of the sides: the tensor stands for one or the other. */
static bool merge_writes(struct merger *m)
{
	struct cond *k = m->k;

	for (size_t i = 0; i < k->writes.len; i++) {
		const struct cond_write *before = &k->writes.at[i];
		struct cond_write now = cond_write_read(m->t, before->tensor), first = *before;
		int node;

		if (i < k->first_writes.len)
			first = k->first_writes.at[i];
		if (first.writes == before->writes && now.writes == before->writes)
			continue;
		if (!writes_match(m, before->tensor, first.writes != before->writes,
				  now.writes != before->writes))
			return false;
		cond_write_put(m->t, before);
		if (first.node < 0)
			first.node = cond_write_read(m->t, before->tensor).node;
		if (now.node < 0)
			now.node = cond_write_read(m->t, before->tensor).node;
		node = where_nodes(m, first.node, now.node);
		if (node < 0)
			return trace_no_memory(m->err);
		if (!gradients_match(m, node))
			return false;
		if (!trace_rewrite(m->t, before->tensor, node, true))
			return trace_no_memory(m->err);
	}
	return true;
}

/* ---- containers ---- */

static bool is_fresh(const struct merger *m, struct value v)
{
	return v.object->heap && v.object->birth >= m->k->birth;
}

static bool merge_values(struct merger *m, const struct cond_content *a,
			 const struct cond_content *b, int depth, struct cond_content *into)
{
	for (int i = 0; i < a->n; i++) {
		struct value merged;

		if (a->keys && !cond_same(m->t, a->keys[i], b->keys[i]))
			return cond_refuse(m->k, "a %s has other keys on each side",
					   value_type_name(a->object));
		if (!merge(m, a->values[i], b->values[i], depth + 1, &merged))
			return false;
		value_unref(into->values[i]);
		into->values[i] = merged;
	}
	return true;
}

/* What `to` holds becomes the choice between a and b. */
static bool merge_contents(struct merger *m, const struct cond_content *a,
			   const struct cond_content *b, int depth, struct value to)
{
	struct cond_content into;
	bool ok;

	if (a->n != b->n)
		return cond_refuse(m->k, "a %s has %d items on one side, %d on the other",
				   value_type_name(to), a->n < 0 ? 0 : a->n, b->n < 0 ? 0 : b->n);
	if (a->position != b->position)
		return cond_refuse(m->k, "a %s has gone on by other steps on each side",
				   value_type_name(to));
	ok = cond_content_read(a->object, &into);
	if (ok && into.n != a->n) { /* the object has gone on since; take a's */
		cond_content_drop(&into);
		ok = cond_content_write(a) && cond_content_read(a->object, &into);
	}
	if (ok) {
		for (int i = 0; into.keys && i < a->n; i++) {
			value_unref(into.keys[i]);
			into.keys[i] = value_ref(a->keys[i]);
		}
		ok = merge_values(m, a, b, depth, &into);
		value_unref(into.object);
		into.object = value_ref(to);
		ok = ok && (cond_content_write(&into) || trace_no_memory(m->err));
	}
	cond_content_drop(&into);
	return ok;
}

static bool merge_objects(struct merger *m, struct value a, struct value b, int depth,
			  struct value *out)
{
	struct cond_content x, y;
	bool ok;

	if (!is_fresh(m, a) || !is_fresh(m, b))
		return cond_refuse(m->k, "the sides leave two different objects (%s)",
				   value_type_name(a));
	for (size_t i = 0; i < m->pairs.len; i++)
		if (m->pairs.at[i].a.object == a.object || m->pairs.at[i].b.object == b.object)
			return cond_refuse(m->k, "a %s has two names on one side only",
					   value_type_name(a));
	if (!remember(m, a, b, a))
		return false;
	ok = cond_content_read(a, &x);
	ok = cond_content_read(b, &y) && ok;
	ok = ok ? merge_contents(m, &x, &y, depth, a) : trace_no_memory(m->err);
	cond_content_drop(&x);
	cond_content_drop(&y);
	if (ok)
		*out = value_ref(a);
	return ok;
}

static bool merge_tuples(struct merger *m, struct value a, struct value b, int depth,
			 struct value *out)
{
	struct value v;

	if (a.list->len != b.list->len || a.list->is_size != b.list->is_size ||
	    a.list->fields != b.list->fields || a.list->class != b.list->class)
		return cond_refuse(m->k, "the sides leave tuples that differ in more than items");
	v = value_sequence(VALUE_TUPLE, a.list->len);
	if (v.kind == VALUE_UNSET)
		return trace_no_memory(m->err);
	v.list->is_size = a.list->is_size;
	v.list->fields = a.list->fields;
	v.list->type_name = a.list->type_name;
	v.list->class = a.list->class;
	if (v.list->class)
		value_ref(value_of(v.list->class));
	for (int i = 0; i < a.list->len; i++) {
		if (!merge(m, a.list->at[i], b.list->at[i], depth + 1, &v.list->at[i])) {
			value_unref(v);
			return false;
		}
		v.list->len++;
	}
	if (vm_keep(m->t->vm, v, out, m->err))
		return true;
	return false;
}

/* Bound methods are made again each time that they are asked for. */
static bool same_callable(const struct merger *m, struct value a, struct value b)
{
	if (a.kind == VALUE_METHOD)
		return cond_same(m->t, a.method->function, b.method->function) &&
		       cond_same(m->t, a.method->self, b.method->self);
	return a.kind == VALUE_NATIVE && a.native->id == b.native->id &&
	       a.native->builtin == b.native->builtin &&
	       cond_same(m->t, a.native->self, b.native->self);
}

static bool merge_counted(struct merger *m, struct value a, struct value b, int depth,
			  struct value *out)
{
	for (size_t i = 0; i < m->pairs.len; i++)
		if (m->pairs.at[i].a.object == a.object && m->pairs.at[i].b.object == b.object) {
			*out = value_ref(m->pairs.at[i].merged);
			return true;
		}
	switch (a.kind) {
	case VALUE_TENSOR:
		return merge_tensors(m, a, b, out);
	case VALUE_TUPLE:
		return merge_tuples(m, a, b, depth, out);
	case VALUE_INSTANCE:
		if (a.instance->class != b.instance->class ||
		    !cond_same(m->t, a.instance->payload, b.instance->payload))
			return cond_refuse(m->k, "the sides leave objects of different classes");
		return merge_objects(m, a, b, depth, out);
	case VALUE_LIST:
	case VALUE_DICT:
		return merge_objects(m, a, b, depth, out);
	case VALUE_RANGE:
		if (!value_equal(a, b))
			break;
		*out = value_ref(a);
		return true;
	default:
		if (!same_callable(m, a, b))
			break;
		*out = value_ref(a);
		return true;
	}
	return cond_refuse(m->k, "the sides leave different values (%s)", value_type_name(a));
}

static bool merge(struct merger *m, struct value a, struct value b, int depth, struct value *out)
{
	bool known = false;

	if (depth > MAX_DEPTH)
		return cond_refuse(m->k, "the sides leave values nested deeper than %d", MAX_DEPTH);
	if (cond_same(m->t, a, b)) {
		*out = value_ref(a.kind == VALUE_LAZY ? b : a);
		return true;
	}
	if ((a.kind == VALUE_LAZY && !variables_read(m->t, (int)a.i, &a, m->err)) ||
	    (b.kind == VALUE_LAZY && !variables_read(m->t, (int)b.i, &b, m->err)))
		return false;
	if (a.kind == VALUE_SYMINT || a.kind == VALUE_SYMBOOL)
		return trace_pin_value(m->t, a, m->err);
	if (b.kind == VALUE_SYMINT || b.kind == VALUE_SYMBOOL)
		return trace_pin_value(m->t, b, m->err);
	if (!cond_same(m->t, a, b) &&
	    (!deferred_choose(m->t, &(struct host_choice){ m->k->condition, a, b }, &known, out,
			      m->err) ||
	     known))
		return known;
	if (a.kind != b.kind)
		return refuse_kinds(m, a, b);
	if (!value_counted(a)) {
		if (cond_same(m->t, a, b)) {
			*out = a;
			return true;
		}
		return cond_refuse(m->k, "the sides leave different values (%s)",
				   value_type_name(a));
	}
	return merge_counted(m, a, b, depth, out);
}

/* ---- the frame, globals, older objects ---- */

static bool merge_into(struct merger *m, struct value first, struct value *place)
{
	struct value merged, old = *place;

	if (!merge(m, first, old, 0, &merged))
		return false;
	*place = merged;
	value_unref(old);
	return true;
}

static void clear(struct value *place)
{
	struct value old = *place;

	*place = (struct value){ .kind = VALUE_UNSET };
	value_unref(old);
}

/* Both return: only what they return counts. */
static bool merge_results(struct merger *m)
{
	const struct cond_place *first = &m->k->first;
	struct frame *f = m->k->frame;
	struct value *result = f->top - 1, moved;

	if (!merge_into(m, first->stack[first->n_stack - 1], result))
		return false;
	moved = *result;
	f->top--;
	while (f->top > f->stack)
		value_unref(*--f->top);
	*f->top++ = moved;
	for (int i = 0; i < f->code->n_locals; i++)
		clear(&f->locals[i]);
	return true;
}

static bool merge_frame(struct merger *m, int at)
{
	const struct cond_place *first = &m->k->first;
	struct frame *f = m->k->frame;
	const bool *live;

	if (at < 0)
		return merge_results(m);
	live = live_locals(f->code, at, m->t->graph->arena);
	if (!live)
		return trace_no_memory(m->err);
	if (first->n_stack != f->top - f->stack)
		return cond_refuse(m->k, "the sides meet with operand stacks of different depth");
	for (int i = 0; i < f->code->n_locals; i++) {
		if (!live[i])
			clear(&f->locals[i]);
		else if (!merge_into(m, first->locals[i], &f->locals[i]))
			return false;
	}
	for (int i = 0; i < f->code->n_cells; i++)
		if (!cond_same(m->t, first->cells[i], f->cells[i]))
			return cond_refuse(m->k, "a side makes a variable of a closure again");
	for (int i = 0; i < first->n_stack; i++)
		if (!merge_into(m, first->stack[i], &f->stack[i]))
			return false;
	return true;
}

static bool merge_globals(struct merger *m)
{
	const struct cond_place *first = &m->k->first;
	struct trace *t = m->t;

	for (size_t i = 0; i < t->globals.len; i++) {
		struct value was = { .kind = VALUE_LAZY, .i = t->globals.at[i].source };
		struct value merged, now = t->globals.at[i].stand_in;

		if (i < first->globals.len)
			was = first->globals.at[i];
		else if (t->sources->at[was.i].value.kind == VALUE_UNSET)
			was.kind = VALUE_UNSET;
		if (cond_same(t, was, now))
			continue;
		if (!merge(m, was, now, 0, &merged))
			return false;
		t->globals.at[i].stand_in = merged;
		value_unref(now);
	}
	return true;
}

static int count_in(const struct value *at, int n, const struct object *o)
{
	int count = 0;

	for (int i = 0; at && i < n; i++)
		count += value_counted(at[i]) && at[i].object == o;
	return count;
}

static int count_contents(const cond_contents *list, const struct object *o)
{
	int count = 0;

	for (size_t i = 0; i < list->len; i++) {
		count += list->at[i].object.object == o;
		count += count_in(list->at[i].values, list->at[i].n, o);
		count += list->at[i].keys ? count_in(list->at[i].keys, list->at[i].n, o) : 0;
	}
	return count;
}

/* Only what branches have saved refers to it: the program cannot get there. */
static bool is_dead(const struct cond *k, const struct object *o)
{
	int held = 0;

	for (; k; k = k->up) {
		held += count_in(k->before.locals, k->before.n_fixed + k->before.n_stack, o);
		held += count_in(k->first.locals, k->first.n_fixed + k->first.n_stack, o);
		held += count_in(k->before.globals.at, (int)k->before.globals.len, o);
		held += count_in(k->first.globals.at, (int)k->first.globals.len, o);
		held += count_contents(&k->contents, o) + count_contents(&k->changed, o);
	}
	return held == o->refs;
}

static const struct cond_content *find_changed(const struct cond *k, struct value object)
{
	for (size_t i = 0; i < k->changed.len; i++)
		if (k->changed.at[i].object.object == object.object)
			return &k->changed.at[i];
	return NULL;
}

static bool merge_older(struct merger *m)
{
	struct cond *k = m->k;
	bool ok = true;

	for (size_t i = 0; i < k->contents.len && ok; i++) {
		struct value object = k->contents.at[i].object;
		const struct cond_content *first = find_changed(k, object);
		struct cond_content now;

		ok = cond_content_read(object, &now) || trace_no_memory(m->err);
		if (ok && (first || !cond_content_same(m->t, &k->contents.at[i], &now))) {
			if (object.kind == VALUE_GENERATOR)
				ok = cond_refuse(k, "a side of the branch runs a generator on");
			first = first ? first : &k->contents.at[i];
			cond_content_drop(&now);
			if (ok && is_dead(k, object.object))
				continue;
			if (!ok || !cond_content_read(object, &now))
				return false;
			/* k->contents may grow */
			ok = merge_contents(m, first, &now, 0, object);
		}
		cond_content_drop(&now);
	}
	return ok;
}

bool cond_merge(struct cond *k, int at, struct err *err)
{
	struct merger m = { .k = k, .t = k->trace, .err = err };
	bool ok = merge_writes(&m) && merge_frame(&m, at) && merge_globals(&m) && merge_older(&m);

	for (size_t i = 0; i < m.pairs.len; i++) {
		value_unref(m.pairs.at[i].a);
		value_unref(m.pairs.at[i].b);
		value_unref(m.pairs.at[i].merged);
	}
	VEC_FREE(&m.pairs);
	return ok;
}
