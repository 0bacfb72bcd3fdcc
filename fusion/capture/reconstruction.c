/* fusion/capture/reconstruction.c -- notes down what a capture left.
 *
 * Identity counts: the same object met twice is one object, a stand-in is the
 * object that it stands for, but equal values computed apart are not one.
 */
#include "fusion/capture/reconstruction.h"

#include "fusion/eager/autograd.h"
#include "fusion/capture/control/cond.h"
#include "fusion/capture/trace/trace.h"

#include <stdlib.h>
#include <string.h>

static bool no_memory(struct reconstruction_builder *b)
{
	return err_set(b->err, ERR_MEMORY, "out of memory for the result");
}

static bool add(struct reconstruction_builder *b, struct value v, int depth);

static bool push(struct reconstruction_builder *b, struct reconstruction_step step)
{
	if (VEC_PUSH(&b->steps, step))
		return true;
	value_unref(step.value);
	return no_memory(b);
}

/* An object that is made here; when it is met again it is this step's. */
static bool push_object(struct reconstruction_builder *b, struct value v,
			struct reconstruction_step step)
{
	if (v.kind == VALUE_TENSOR && v.tensor->attributes && !VEC_PUSH(&b->given, v))
		return no_memory(b);
	return push(b, step) &&
	       (pointers_set(&b->made, v.object, (int)b->steps.len - 1) || no_memory(b));
}

/* Where nothing is recorded: eager refuses writes to what is split of such a tensor, and
 * texts show it. */
static bool would_require(struct reconstruction_builder *b, struct value v, bool *out)
{
	const struct autograd *a = b->trace->autograd;

	return !a->notes || a->recording || b->trace->grad_off ||
	       trace_requires(b->trace, v, out, b->err);
}

static bool add_output(struct reconstruction_builder *b, struct value v,
		       enum reconstruction_kind kind, int node)
{
	struct reconstruction_step step = { .kind = kind, .index = (int)b->outputs.len };

	if (kind == RECONSTRUCT_OUTPUT) {
		step.n = v.tensor->is_parameter;
		step.leaf = trace_shows_leaf(b->trace, v);
		if (!would_require(b, v, &step.requires_grad))
			return false;
	}
	if (!VEC_PUSH(&b->outputs, node))
		return no_memory(b);
	return kind == RECONSTRUCT_OUTPUT ? push_object(b, v, step) : push(b, step);
}

static bool add_tensor(struct reconstruction_builder *b, struct value v);

/* As the gradient of a view has to have it (autograd.h). */
static bool lies_in_rows(const struct trace *t, struct value base)
{
	int source = trace_source(t, base);
	const struct source *s = source >= 0 ? &t->sources->at[source] : NULL;

	return !t->autograd->recording || !s || s->contiguous || !autograd_requires(s->value);
}

/* A view stays one: of the argument, or of the result that has its elements. */
static bool add_view(struct reconstruction_builder *b, struct value v)
{
	struct reconstruction_step step = { .kind = RECONSTRUCT_VIEW, .n = v.tensor->is_parameter };
	struct view_layout *layout = ARENA_NEW(b->trace->graph->arena, struct view_layout);
	struct value base;

	if (!layout)
		return no_memory(b);
	if (v.tensor->view->of_leaf && !trace_is_leaf(b->trace, v)) {
		b->trace->restart = b->trace->no_leaves = true;
		return err_set(b->err, ERR_BREAK, "a view of a leaf that the graph makes");
	}
	if (!trace_view_layout(b->trace, v, &base, layout, b->err))
		return false;
	step.layout = layout;
	if (!VEC_PUSH(&b->viewed, v.tensor->node))
		return no_memory(b);
	step.detached = v.tensor->view->detached;
	step.of_detached = v.tensor->view->detached_of.kind == VALUE_TENSOR;
	step.part = v.tensor->view->part;
	step.stale = trace_view_stale(b->trace, v);
	step.leaf = trace_shows_leaf(b->trace, v);
	if (!step.detached && !would_require(b, v, &step.requires_grad))
		return false;
	if (!step.detached && !lies_in_rows(b->trace, base))
		return err_set(
		    b->err, ERR_UNSUPPORTED,
		    "a result is a view of an argument that requires a gradient and does "
		    "not lie row by row; return a copy");
	return push_object(b, v, step) && add(b, base, 0) &&
	       (!step.of_detached || add(b, v.tensor->view->detached_of, 0));
}

/* One of two tensors that have other names, too: that very object. */
static bool add_choice(struct reconstruction_builder *b, struct value v,
		       const struct trace_choice *choice)
{
	struct reconstruction_step step = { .kind = RECONSTRUCT_CHOICE,
					    .index = (int)b->outputs.len };
	int condition = trace_node(b->trace, choice->condition, b->err);
	struct value of[2] = { choice->of[0], choice->of[1] };

	if (condition < 0)
		return false;
	if (!VEC_PUSH(&b->outputs, condition))
		return no_memory(b);
	return push_object(b, v, step) && add(b, of[0], 0) && add(b, of[1], 0);
}

/* A result whose elements share memory in eager, too, is a view of what it repeats. */
static bool add_expanded(struct reconstruction_builder *b, struct value v,
			 const struct view_layout *from)
{
	struct reconstruction_step step = { .kind = RECONSTRUCT_VIEW, .detached = true }, base;
	struct view_layout *layout = ARENA_NEW(b->trace->graph->arena, struct view_layout);

	if (!layout)
		return no_memory(b);
	*layout = *from;
	step.layout = layout;
	base = (struct reconstruction_step){ .kind = RECONSTRUCT_OUTPUT,
					     .index = (int)b->outputs.len };
	return (VEC_PUSH(&b->viewed, v.tensor->node) && VEC_PUSH(&b->outputs, layout->base)
		    ? true
		    : no_memory(b)) &&
	       push_object(b, v, step) && push(b, base);
}

static bool add_tensor(struct reconstruction_builder *b, struct value v)
{
	const struct trace_choice *choice = trace_choice_of(b->trace, v);
	int lifted = trace_lifted(b->trace, v), source = trace_source(b->trace, v), node;
	struct view_layout layout;
	bool requires;

	if (choice)
		return add_choice(b, v, choice);
	if (source >= 0)
		return push(b, (struct reconstruction_step){ .kind = RECONSTRUCT_SOURCE,
							     .index = source,
							     .n = v.tensor->is_parameter });
	if (v.tensor->view && v.tensor->owner == b->trace->serial)
		return add_view(b, v);
	if (lifted >= 0 || v.tensor->memory)
		return push(b, (struct reconstruction_step){ .kind = RECONSTRUCT_LIFTED,
							     .value = value_ref(v) });
	node = trace_node(b->trace, v, b->err); /* refuses what another call has made */
	if (node >= 0 && trace_expanded(b->trace, v, &layout)) {
		if (!trace_requires(b->trace, v, &requires, b->err))
			return false;
		if (!requires)
			return add_expanded(b, v, &layout);
	}
	return node >= 0 && add_output(b, v, RECONSTRUCT_OUTPUT, node);
}

static bool add_all(struct reconstruction_builder *b, const struct value *at, int n, int depth)
{
	for (int i = 0; i < n; i++)
		if (!add(b, at[i], depth + 1))
			return false;
	return true;
}

/* The class of a named tuple as the program has it: a guard holds it. */
static struct class *real_class(const struct reconstruction_builder *b, struct class *class)
{
	int source = variables_source(b->trace, value_of(class));

	return source < 0 ? class : b->trace->sources->at[source].value.class;
}

/* An empty container of the kind, which says how the real one is made. */
static bool add_sequence(struct reconstruction_builder *b, struct value v, int depth)
{
	struct class *class = v.list->class ? real_class(b, v.list->class) : NULL;
	struct reconstruction_step step = { .kind = RECONSTRUCT_SEQUENCE, .n = v.list->len };

	step.value = value_sequence(v.kind, 0);
	if (step.value.kind == VALUE_UNSET)
		return no_memory(b);
	step.value.list->is_size = v.list->is_size;
	step.value.list->fields = class ? class->names : v.list->fields;
	step.value.list->type_name = class ? class->name : v.list->type_name;
	step.value.list->class = class;
	if (class)
		value_ref(value_of(class));
	return push_object(b, v, step) && add_all(b, v.list->at, v.list->len, depth);
}

static struct value keys_of(const struct dict *dict, struct value keys)
{
	for (int i = 0; keys.kind != VALUE_UNSET && i < dict->len; i++)
		if (!value_dict_set(keys.dict, dict->keys[i], value_none())) {
			value_unref(keys);
			keys = (struct value){ .kind = VALUE_UNSET };
		}
	return keys;
}

/* Whether all keys are the same in each call; others are made as values are. */
static bool has_fixed_keys(const struct reconstruction_builder *b, const struct dict *dict)
{
	for (int i = 0; i < dict->len; i++)
		if (source_key_is_object(dict->keys[i]) || dict->keys[i].kind == VALUE_SYMINT ||
		    dict->keys[i].kind == VALUE_TUPLE ||
		    variables_source(b->trace, dict->keys[i]) >= 0)
			return false;
	return true;
}

static bool add_keyed(struct reconstruction_builder *b, struct value v, int depth)
{
	if (!push_object(
		b, v, (struct reconstruction_step){ .kind = RECONSTRUCT_KEYED, .n = v.dict->len }))
		return false;
	for (int i = 0; i < v.dict->len; i++)
		if (!add(b, v.dict->keys[i], depth + 1) || !add(b, v.dict->values[i], depth + 1))
			return false;
	return true;
}

static bool add_dict(struct reconstruction_builder *b, struct value v, int depth)
{
	struct reconstruction_step step = { .kind = RECONSTRUCT_DICT, .n = v.dict->len };

	if (!has_fixed_keys(b, v.dict))
		return add_keyed(b, v, depth);
	step.value = keys_of(v.dict, value_dict());
	if (step.value.kind == VALUE_UNSET)
		return no_memory(b);
	return push_object(b, v, step) && add_all(b, v.dict->values, v.dict->len, depth);
}

static bool add_set(struct reconstruction_builder *b, struct value v, int depth)
{
	struct reconstruction_step step = { .kind = RECONSTRUCT_SET };
	bool fixed = has_fixed_keys(b, v.dict);

	step.n = fixed ? 0 : v.dict->len;
	step.value = value_set(v.dict->frozen);
	if (fixed)
		step.value = keys_of(v.dict, step.value);
	if (step.value.kind == VALUE_UNSET)
		return no_memory(b);
	return push_object(b, v, step) && add_all(b, v.dict->keys, step.n, depth);
}

static bool add_iter(struct reconstruction_builder *b, struct value v, int depth)
{
	struct reconstruction_step step = { .kind = RECONSTRUCT_ITER, .n = 1 };
	const struct iter *it = v.iter;

	if (it->iter_kind == ITER_NEXT && it->over.kind != VALUE_INSTANCE)
		return err_set(b->err, ERR_VALUE, "a generator is kept");
	step.value = value_iter(it->iter_kind, value_none());
	if (step.value.kind == VALUE_UNSET)
		return no_memory(b);
	step.value.iter->view = it->view;
	step.value.iter->position = it->position;
	step.value.iter->length = it->length;
	step.value.iter->nested = it->nested;
	return push_object(b, v, step) && add(b, it->over, depth + 1);
}

static bool add_cell(struct reconstruction_builder *b, struct value v, int depth)
{
	bool set = v.cell->content.kind != VALUE_UNSET;
	struct reconstruction_step step = { .kind = RECONSTRUCT_CELL, .n = set };

	return push_object(b, v, step) && (!set || add(b, v.cell->content, depth + 1));
}

static struct value or_none(enum value_kind kind, void *object)
{
	return object ? (struct value){ .kind = kind, .object = object } : value_none();
}

static bool add_function(struct reconstruction_builder *b, struct value v, int depth)
{
	struct reconstruction_step step = { .kind = RECONSTRUCT_FUNCTION, .n = 4 };
	const struct function *f = v.function;

	step.value = value_function(f->code);
	if (step.value.kind == VALUE_UNSET)
		return no_memory(b);
	step.value.function->unit = f->unit;
	step.value.function->disabled = f->disabled;
	step.value.function->grad = f->grad;
	return push_object(b, v, step) && add(b, or_none(VALUE_TUPLE, f->defaults), depth + 1) &&
	       add(b, or_none(VALUE_DICT, f->kwdefaults), depth + 1) &&
	       add(b, or_none(VALUE_TUPLE, f->closure), depth + 1) &&
	       add(b, or_none(VALUE_DICT, f->attributes), depth + 1);
}

/* What the prelude's numpy keeps of a number in a graph leaves it as the number, but for a local
 * that the next piece goes on with, and for one whose method is about to be called. */
static bool is_number_in_graph(const struct reconstruction_builder *b, struct value v, int depth)
{
	return (b->returns || depth > 0) && !b->of_method && value_is_array_number(v) &&
	       v.instance->attributes && v.instance->attributes->len == 1;
}

static bool add_instance(struct reconstruction_builder *b, struct value v, int depth)
{
	bool payload = v.instance->payload.kind != VALUE_UNSET;
	struct reconstruction_step step = { .kind = RECONSTRUCT_INSTANCE, .n = payload ? 3 : 2 };
	struct instance *i = v.instance;

	if (is_number_in_graph(b, v, depth))
		return push(b,
			    (struct reconstruction_step){ .kind = RECONSTRUCT_NUMBER, .n = 1 }) &&
		       add(b, i->attributes->values[0], depth + 1);
	return push_object(b, v, step) && add(b, value_of(i->class), depth + 1) &&
	       add(b, or_none(VALUE_DICT, i->attributes), depth + 1) &&
	       (!payload || add(b, i->payload, depth + 1));
}

static bool add_parts(struct reconstruction_builder *b, struct value v,
		      enum reconstruction_kind kind, const struct value *parts, int n, int depth)
{
	struct reconstruction_step step = { .kind = kind, .n = n };

	if (kind == RECONSTRUCT_NATIVE) {
		step.value = value_native(v.native->name, v.native->id, v.native->builtin,
					  value_none());
		if (step.value.kind != VALUE_NATIVE)
			return no_memory(b);
	}
	return push_object(b, v, step) && add_all(b, parts, n, depth);
}

static bool add_method(struct reconstruction_builder *b, struct value v, const struct value *parts,
		       int depth)
{
	bool before = b->of_method, ok;

	b->of_method = true;
	ok = add_parts(b, v, RECONSTRUCT_METHOD, parts, 2, depth);
	b->of_method = before;
	return ok;
}

static bool add_symfloat(struct reconstruction_builder *b, struct value v)
{
	const struct node *n = b->trace->graph->nodes[v.i];

	if (n->input >= 0)
		return push(b, (struct reconstruction_step){
				   .kind = RECONSTRUCT_SOURCE,
				   .index = b->trace->inputs.at[n->input].source });
	return add_output(b, v, RECONSTRUCT_FLOAT, (int)v.i);
}

static bool add_text(struct reconstruction_builder *b, struct value v, int depth)
{
	const struct text_gap *gaps;
	struct reconstruction_step step = { .kind = RECONSTRUCT_TEXT };

	step.text = deferred_text_keep(b->trace, v, &gaps);
	if (!step.text || !push(b, step))
		return no_memory(b);
	for (int i = 0; i < step.text->n_gaps; i++)
		if (!add(b, gaps[i].value, depth + 1) ||
		    (gaps[i].kind == GAP_CHOICE && !add_all(b, gaps[i].of, 2, depth)))
			return false;
	return true;
}

/* What the call made itself. */
static bool add_fresh(struct reconstruction_builder *b, struct value v, int depth)
{
	struct value parts[3];

	switch (v.kind) {
	case VALUE_TUPLE:
	case VALUE_LIST:
		return add_sequence(b, v, depth);
	case VALUE_DICT:
		return add_dict(b, v, depth);
	case VALUE_SET:
		return add_set(b, v, depth);
	case VALUE_ITER:
		return add_iter(b, v, depth);
	case VALUE_CELL:
		return add_cell(b, v, depth);
	case VALUE_FUNCTION:
		if (v.function->unit->hidden && !v.function->closure)
			return push(b, (struct reconstruction_step){ .value = value_ref(v) });
		return add_function(b, v, depth);
	case VALUE_INSTANCE:
		return add_instance(b, v, depth);
	case VALUE_SLICE:
		parts[0] = v.slice->start;
		parts[1] = v.slice->stop;
		parts[2] = v.slice->step;
		return add_parts(b, v, RECONSTRUCT_SLICE, parts, 3, depth);
	case VALUE_METHOD:
		parts[0] = v.method->function;
		parts[1] = v.method->self;
		return add_method(b, v, parts, depth);
	case VALUE_NATIVE:
		if (v.native->self.kind == VALUE_UNSET)
			return push(b, (struct reconstruction_step){ .value = value_ref(v) });
		return add_parts(b, v, RECONSTRUCT_NATIVE, &v.native->self, 1, depth);
	case VALUE_GENERATOR:
		return err_set(b->err, ERR_VALUE, "a generator is kept");
	default: /* strings, ranges, modules; classes and descriptors, which hold no tensors */
		return push(b, (struct reconstruction_step){ .value = value_ref(v) });
	}
}

/* A cell that the frame made, where the frame does not outlive the piece. */
static bool is_own_cell(const struct reconstruction_builder *b, struct value v, int source)
{
	const struct source *s = &b->trace->sources->at[source];

	return v.kind == VALUE_CELL && b->returns && s->access == SOURCE_CELL &&
	       s->index < b->trace->sources->code->n_own_cells && s->value.kind == VALUE_UNSET;
}

static bool add(struct reconstruction_builder *b, struct value v, int depth)
{
	int again, source;

	if (depth > MAX_NESTING || b->steps.len > MAX_SOURCES)
		return err_set(b->err, ERR_BOUND,
			       "the result is nested deeper than %d or has over %d parts",
			       MAX_NESTING, MAX_SOURCES);
	if (v.kind == VALUE_LAZY)
		return push(b, (struct reconstruction_step){ .kind = RECONSTRUCT_SOURCE,
							     .index = (int)v.i });
	if ((v.kind == VALUE_SYMINT && !trace_is_of_call(b->trace, v)) || v.kind == VALUE_SYMREAL ||
	    v.kind == VALUE_SYMBOOL)
		b->trace->computes_sizes = true;
	if (v.kind == VALUE_SYMREAL)
		return push(
		    b, (struct reconstruction_step){ .kind = RECONSTRUCT_REAL, .real = v.real });
	if (v.kind == VALUE_SYMBOOL)
		return push(b, (struct reconstruction_step){ .kind = RECONSTRUCT_BOOL,
							     .condition = v.condition });
	if (v.kind == VALUE_SYMINT)
		return push(
		    b, (struct reconstruction_step){ .kind = RECONSTRUCT_SIZE, .size = v.sym });
	if (v.kind == VALUE_SYMFLOAT || v.kind == VALUE_DEFERRED_INT ||
	    v.kind == VALUE_DEFERRED_BOOL)
		return add_symfloat(b, v);
	if (v.kind == VALUE_DEFERRED_TEXT)
		return add_text(b, v, depth);
	if (!value_counted(v))
		return push(b, (struct reconstruction_step){ .value = v });
	again = pointers_get(&b->made, v.object);
	if (again >= 0)
		return push(
		    b, (struct reconstruction_step){ .kind = RECONSTRUCT_AGAIN, .index = again });
	if (v.kind == VALUE_TENSOR)
		return add_tensor(b, v);
	source = variables_source(b->trace, v);
	if (source >= 0 && is_number_in_graph(b, b->trace->sources->at[source].value, depth) &&
	    !push(b, (struct reconstruction_step){ .kind = RECONSTRUCT_NUMBER, .n = 1 }))
		return false;
	if (source >= 0 && !is_own_cell(b, v, source))
		return push(b, (struct reconstruction_step){ .kind = RECONSTRUCT_SOURCE,
							     .index = source,
							     .n = v.kind == VALUE_TENSOR &&
								  v.tensor->is_parameter });
	if (v.kind == VALUE_INSTANCE && v.object->heap && v.object->birth < b->trace->birth)
		return push(b, (struct reconstruction_step){
				   .value = value_ref(v) }); /* the prelude's own */
	return add_fresh(b, v, depth);
}

int reconstruction_add(struct reconstruction_builder *b, struct value v)
{
	int first = (int)b->steps.len;

	return add(b, v, 0) ? first : -1;
}

bool reconstruction_create(struct reconstruction *r, struct reconstruction_builder *b,
			   struct arena *arena, bool ok)
{
	size_t n = b->steps.len;

	if (ok) {
		r->steps = ARENA_ARRAY(arena, struct reconstruction_step, n + 1);
		r->made = ARENA_ARRAY(arena, struct value, n + 1);
		ok = r->steps && r->made ? true : no_memory(b);
	}
	for (size_t i = 0; i < n; i++) {
		if (ok)
			r->steps[i] = b->steps.at[i];
		else
			value_unref(b->steps.at[i].value);
	}
	if (ok)
		r->n = (int)n;
	VEC_FREE(&b->steps);
	VEC_FREE(&b->outputs);
	VEC_FREE(&b->viewed);
	VEC_FREE(&b->given);
	for (size_t i = 0; i < b->kept.len; i++)
		value_unref(b->kept.at[i]);
	VEC_FREE(&b->kept);
	pointers_finish(&b->made);
	return ok;
}
