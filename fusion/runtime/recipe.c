/* fusion/runtime/recipe.c -- notes down a result, and makes it again for each call.
 *
 * Identity counts: the same tensor returned twice is one object, an argument
 * returned is the argument itself, but equal values computed apart are not.
 */
#include "fusion/runtime/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/runtime/eager.h"

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for the result");
}

static bool push(struct recipe_builder *b, struct recipe_step step)
{
	return VEC_PUSH(&b->steps, step) || no_memory(b->err);
}

static bool add_tensor(struct recipe_builder *b, struct value v);

/* A view stays one: of the argument, or of the result that has its elements. */
static bool add_view(struct recipe_builder *b, struct value v)
{
	struct recipe_step step = { .kind = RECIPE_VIEW, .made_from = v.tensor };
	struct view_layout *layout = ARENA_NEW(b->trace->graph->arena, struct view_layout);
	struct value base;

	if (!layout)
		return no_memory(b->err);
	if (!trace_view_layout(b->trace, v, &base, layout, b->err))
		return false;
	step.layout = layout;
	return push(b, step) && add_tensor(b, base);
}

static bool add_tensor(struct recipe_builder *b, struct value v)
{
	struct recipe_step step = { .kind = RECIPE_OUTPUT, .made_from = v.tensor };
	int lifted = trace_lifted(b->trace, v), slot = trace_slot(b->trace, v), node;

	for (size_t i = 0; i < b->steps.len; i++)
		if (b->steps.at[i].made_from == v.tensor) {
			step = (struct recipe_step){ .kind = RECIPE_AGAIN, .index = (int)i };
			return push(b, step);
		}
	if (v.tensor->view && v.tensor->owner == b->trace->serial)
		return add_view(b, v);
	if (slot >= 0) {
		step.kind = RECIPE_SLOT;
		step.index = slot;
		return push(b, step);
	}
	if (lifted >= 0 || v.tensor->memory) {
		step.kind = RECIPE_LIFTED;
		step.value = value_ref(v);
		return push(b, step);
	}
	node = trace_node(b->trace, v, b->err); /* refuses what another call has made */
	if (node < 0)
		return false;
	step.index = (int)b->outputs.len;
	return (VEC_PUSH(&b->outputs, node) || no_memory(b->err)) && push(b, step);
}

static bool add_sequence(struct recipe_builder *b, struct value v, int depth)
{
	struct recipe_step step = { .kind = RECIPE_SEQUENCE,
				    .sequence = v.kind,
				    .is_size = v.list->is_size,
				    .n = v.list->len };

	if (!push(b, step))
		return false;
	for (int i = 0; i < v.list->len; i++)
		if (!recipe_add(b, v.list->at[i], depth + 1))
			return false;
	return true;
}

static bool add_dict(struct recipe_builder *b, struct value v, int depth)
{
	struct recipe_step step = { .kind = RECIPE_DICT, .n = v.dict->len, .value = value_dict() };

	for (int i = 0; step.value.kind == VALUE_DICT && i < v.dict->len; i++)
		if (!value_dict_set(step.value.dict, v.dict->keys[i], value_none())) {
			value_unref(step.value);
			return no_memory(b->err);
		}
	if (step.value.kind != VALUE_DICT || !VEC_PUSH(&b->steps, step)) {
		value_unref(step.value);
		return no_memory(b->err);
	}
	for (int i = 0; i < v.dict->len; i++)
		if (!recipe_add(b, v.dict->values[i], depth + 1))
			return false;
	return true;
}

bool recipe_add(struct recipe_builder *b, struct value v, int depth)
{
	struct recipe_step step = { .kind = RECIPE_VALUE };

	if (depth > MAX_NESTING || b->steps.len > MAX_SLOTS)
		return err_set(b->err, ERR_BOUND,
			       "the result is nested deeper than %d or has over %d parts",
			       MAX_NESTING, MAX_SLOTS);
	switch (v.kind) {
	case VALUE_TENSOR:
		return add_tensor(b, v);
	case VALUE_TUPLE:
	case VALUE_LIST:
		return add_sequence(b, v, depth);
	case VALUE_DICT:
		return add_dict(b, v, depth);
	case VALUE_SYMINT:
		step.kind = RECIPE_SIZE;
		step.size = v.sym;
		return push(b, step);
	default:
		step.value = value_ref(v);
		return push(b, step);
	}
}

bool recipe_create(struct recipe *r, struct recipe_builder *b, struct arena *arena, bool ok)
{
	size_t n = b->steps.len;

	if (ok) {
		r->steps = ARENA_ARRAY(arena, struct recipe_step, n + 1);
		r->made = ARENA_ARRAY(arena, struct value, n + 1);
		ok = r->steps && r->made ? true : no_memory(b->err);
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
	return ok;
}

void recipe_finish(struct recipe *r)
{
	for (int i = 0; i < r->n; i++)
		value_unref(r->steps[i].value);
	r->n = 0;
}

static struct value follow(struct recipe *r, int *at, const struct recipe_call *call);

static struct value follow_sequence(struct recipe *r, const struct recipe_step *step, int *at,
				    const struct recipe_call *call)
{
	struct value v = value_sequence(step->sequence, step->n);

	for (int i = 0; v.kind != VALUE_UNSET && i < step->n; i++) {
		struct value item = follow(r, at, call);

		if (item.kind == VALUE_UNSET) {
			value_unref(v);
			return item;
		}
		v.list->at[v.list->len++] = item;
	}
	if (v.kind != VALUE_UNSET)
		v.list->is_size = step->is_size;
	return v;
}

static struct value follow_dict(struct recipe *r, const struct recipe_step *step, int *at,
				const struct recipe_call *call)
{
	struct value v = value_dict();

	for (int i = 0; v.kind != VALUE_UNSET && i < step->n; i++) {
		struct value item = follow(r, at, call);
		bool ok = item.kind != VALUE_UNSET &&
			  value_dict_set(v.dict, step->value.dict->keys[i], item);

		value_unref(item);
		if (!ok) {
			value_unref(v);
			return (struct value){ .kind = VALUE_UNSET };
		}
	}
	return v;
}

static struct value follow_view(struct recipe *r, const struct recipe_step *step, int *at,
				const struct recipe_call *call)
{
	struct value base = follow(r, at, call);
	struct tensor *t;

	if (base.kind == VALUE_UNSET)
		return base;
	t = view_replay(base.tensor->memory, step->layout, call->vars, NULL);
	value_unref(base);
	return t ? eager_wrap(t) : (struct value){ .kind = VALUE_UNSET };
}

/* VALUE_UNSET: out of memory. */
static struct value follow(struct recipe *r, int *at, const struct recipe_call *call)
{
	const struct recipe_step *step = &r->steps[*at];
	struct value *made = &r->made[(*at)++];
	int64_t size;

	switch (step->kind) {
	case RECIPE_OUTPUT:
		*made = eager_wrap(call->outputs[step->index]);
		call->outputs[step->index] = NULL;
		return *made;
	case RECIPE_VIEW:
		return *made = follow_view(r, step, at, call);
	case RECIPE_SLOT:
		return *made = value_ref(slot_value(call->slots, step->index, call->args));
	case RECIPE_AGAIN:
		return *made = value_ref(r->made[step->index]);
	case RECIPE_SIZE:
		size = sym_eval(step->size, call->vars);
		return *made = value_int(size);
	case RECIPE_SEQUENCE:
		return *made = follow_sequence(r, step, at, call);
	case RECIPE_DICT:
		return *made = follow_dict(r, step, at, call);
	default:
		return *made = value_ref(step->value);
	}
}

bool recipe_follow(struct recipe *r, const struct recipe_call *call, struct value *out,
		   struct err *err)
{
	int at = 0;
	struct value v = follow(r, &at, call);

	if (v.kind == VALUE_UNSET)
		return no_memory(err);
	*out = v;
	return true;
}
