/* fusion/capture/side_effects.c -- finds and repeats what a piece did to objects. */
#include "fusion/capture/side_effects.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/vm/classes.h"
#include "fusion/eager/autograd.h"

struct effects_finder {
	struct reconstruction_builder *b;
	struct sources *sources;
	VEC(struct effect) list;
};

static bool no_memory(struct effects_finder *f)
{
	return err_set(f->b->err, ERR_MEMORY, "out of memory while capturing the call");
}

static bool add(struct effects_finder *f, struct effect effect)
{
	value_ref(effect.key);
	if (VEC_PUSH(&f->list, effect))
		return true;
	value_unref(effect.key);
	return no_memory(f);
}

/* `v` is still what the source began with. */
static bool is_same(const struct effects_finder *f, int source, struct value v)
{
	const struct source *s = &f->sources->at[source];

	if (v.kind == VALUE_LAZY)
		return v.i == source;
	if (s->stand_in.kind == VALUE_UNSET)
		return v.kind == VALUE_UNSET && s->kind == VALUE_UNSET;
	if (s->stand_in.kind != v.kind)
		return false;
	if (v.kind == VALUE_BOOL || v.kind == VALUE_DTYPE)
		return v.kind == VALUE_BOOL ? v.b == s->stand_in.b : v.dtype == s->stand_in.dtype;
	return v.kind == VALUE_NONE || v.kind == VALUE_ELLIPSIS || s->stand_in.i == v.i;
}

/* An object that is a key is found again in each call. */
static bool set_key(struct effects_finder *f, struct effect *e, struct value key)
{
	e->key = key;
	e->key_step = -1;
	if (!source_key_is_object(key))
		return true;
	e->key = value_none();
	e->key_step = reconstruction_add(f->b, key);
	return e->key_step >= 0;
}

static bool store(struct effects_finder *f, int source, enum effect_kind kind, struct value key,
		  struct value v)
{
	struct effect effect = { .kind = kind, .source = source, .step = -1 };

	if (!set_key(f, &effect, key))
		return false;
	if (v.kind != VALUE_UNSET) {
		effect.step = reconstruction_add(f->b, v);
		if (effect.step < 0)
			return false;
	}
	return add(f, effect);
}

static bool find_list(struct effects_finder *f, int source, struct value stand_in)
{
	const struct source *s = &f->sources->at[source];
	bool same = stand_in.list->len == s->n_children;
	struct value copy;
	bool ok;

	for (int i = 0; same && i < stand_in.list->len; i++)
		same = is_same(f, s->first_child + i, stand_in.list->at[i]);
	if (same)
		return true;
	/* not the stand-in itself, which the reconstruction takes for the real list */
	copy = value_list(stand_in.list->at, stand_in.list->len);
	ok = copy.kind != VALUE_UNSET && VEC_PUSH(&f->b->kept, copy);
	if (!ok) {
		value_unref(copy);
		return no_memory(f);
	}
	return store(f, source, EFFECT_ITEMS, (struct value){ .kind = VALUE_UNSET }, copy);
}

/* A key as the stand-in of its dict has it, and the other way round. */
static struct value key_inside(const struct effects_finder *f, struct value key)
{
	int source = source_key_is_object(key) ? pointers_get(&f->b->trace->reals, key.object) : -1;

	return source >= 0 ? f->sources->at[source].stand_in : key;
}

static struct value key_outside(const struct effects_finder *f, struct value key)
{
	int source = source_key_is_object(key) ? variables_source(f->b->trace, key) : -1;

	return source >= 0 ? f->sources->at[source].value : key;
}

static bool remove_key(struct effects_finder *f, int source, struct value key)
{
	struct effect effect = { .kind = EFFECT_REMOVE, .source = source, .step = -1 };

	return set_key(f, &effect, key) && add(f, effect);
}

/* How many keys, from the first on, are still where they were, those that are gone left out:
 * the others were taken out and put in again. */
static int in_order(const struct effects_finder *f, const struct dict *was, const struct dict *is)
{
	struct value v, key;
	int at = 0, i;

	for (i = 0; was && is && i < is->len; i++) {
		while (at < was->len && !value_dict_get(is, key_inside(f, was->keys[at]), &v))
			at++;
		key = key_outside(f, is->keys[i]);
		if (at == was->len || !value_equal(was->keys[at++], key))
			break;
	}
	return i;
}

/* Keys and values, which the last child sources but `after` are. */
static bool find_dict(struct effects_finder *f, int source, const struct dict *was,
		      const struct dict *is, int after)
{
	const struct source *s = &f->sources->at[source];
	int first = s->first_child + s->n_children - after - (was ? was->len : 0), kept;
	struct value v, *place;

	for (int i = 0; was && i < was->len; i++)
		if ((!is || !value_dict_get(is, key_inside(f, was->keys[i]), &v)) &&
		    !remove_key(f, source, key_inside(f, was->keys[i])))
			return false;
	kept = in_order(f, was, is);
	for (int i = 0; is && i < is->len; i++) {
		struct value key = key_outside(f, is->keys[i]);

		place = was ? value_dict_place((struct dict *)was, key) : NULL;
		if (i < kept && place &&
		    is_same(f, first + (int)(place - was->values), is->values[i]))
			continue;
		if (i >= kept && place && !remove_key(f, source, is->keys[i]))
			return false;
		if (!store(f, source, EFFECT_STORE, is->keys[i], is->values[i]))
			return false;
	}
	return true;
}

static bool find_set(struct effects_finder *f, int source, struct value stand_in)
{
	struct value copy;

	if (value_equal(stand_in, f->sources->at[source].value))
		return true;
	copy = value_set(stand_in.dict->frozen);
	for (int i = 0; copy.kind != VALUE_UNSET && i < stand_in.dict->len; i++)
		if (!value_dict_set(copy.dict, stand_in.dict->keys[i], value_none()))
			return no_memory(f);
	if (copy.kind == VALUE_UNSET || !VEC_PUSH(&f->b->kept, copy))
		return no_memory(f);
	return store(f, source, EFFECT_KEYS, (struct value){ .kind = VALUE_UNSET }, copy);
}

static bool find_cell(struct effects_finder *f, int source, struct value stand_in)
{
	const struct source *s = &f->sources->at[source];
	struct value content = stand_in.cell->content;

	if (s->value.kind == VALUE_UNSET) { /* the frame's own, fresh */
		if (f->b->returns)
			return true;
		if (s->first_child < 0 ? content.kind == VALUE_UNSET
				       : is_same(f, s->first_child, content))
			return true;
	} else if (is_same(f, s->first_child, content)) {
		return true;
	}
	return store(f, source, EFFECT_CONTENT, (struct value){ .kind = VALUE_UNSET }, content);
}

static int count_objects(const struct dict *dict)
{
	int n = 0;

	for (int i = 0; i < dict->len; i++)
		n += source_key_is_object(dict->keys[i]);
	return n;
}

/* Whether its dict was read by itself before: that tells what became of it. */
static bool has_dict_of_another(const struct effects_finder *f, const struct instance *stand_in)
{
	int source = stand_in->attributes
			 ? variables_source(f->b->trace, value_of(stand_in->attributes))
			 : -1;

	return source >= 0 && f->sources->at[source].access != SOURCE_DICT;
}

static bool find_in(struct effects_finder *f, int source)
{
	struct value real = f->sources->at[source].value,
		     stand_in = f->sources->at[source].stand_in;

	switch (stand_in.kind) {
	case VALUE_LIST:
		return find_list(f, source, stand_in);
	case VALUE_DICT:
		if (f->sources->at[source].access == SOURCE_DICT) /* the instance tells */
			return true;
		return find_dict(f, source, real.dict, stand_in.dict, count_objects(real.dict));
	case VALUE_SET:
		return find_set(f, source, stand_in);
	case VALUE_CELL:
		return find_cell(f, source, stand_in);
	case VALUE_INSTANCE:
		if (has_dict_of_another(f, stand_in.instance))
			return true;
		return find_dict(f, source, real.instance->attributes,
				 stand_in.instance->attributes, 2);
	case VALUE_FUNCTION:
		return find_dict(f, source, real.function->attributes,
				 stand_in.function->attributes, 0);
	case VALUE_CLASS:
		return find_dict(f, source, real.class->attributes, stand_in.class->attributes,
				 real.class->mro ? real.class->mro->len : 0);
	case VALUE_ITER:
		return stand_in.iter->position == real.iter->position ||
		       add(f, (struct effect){ .kind = EFFECT_POSITION,
					       .source = source,
					       .key_step = -1,
					       .number = stand_in.iter->position });
	default:
		return true;
	}
}

static bool find_globals(struct effects_finder *f)
{
	const struct trace *t = f->b->trace;

	for (size_t i = 0; i < t->globals.len; i++) {
		const struct variables_global *g = &t->globals.at[i];
		struct effect effect = {
			.kind = EFFECT_GLOBAL,
			.source = -1,
			.number = g->index,
			.step = -1,
			.key_step = -1,
		};

		if (!g->written || is_same(f, g->source, g->stand_in))
			continue;
		if (g->stand_in.kind != VALUE_UNSET) {
			effect.step = reconstruction_add(f->b, g->stand_in);
			if (effect.step < 0)
				return false;
		}
		if (!add(f, effect))
			return false;
	}
	return true;
}

static bool find_grads(struct effects_finder *f)
{
	const struct trace *t = f->b->trace;

	for (size_t i = 0; i < t->grads.len; i++) {
		const struct traced_grad *g = &t->grads.at[i];
		struct effect effect = { .kind = EFFECT_GRAD,
					 .source = trace_source(t, g->of),
					 .key_step = -1 };

		if (effect.source < 0) {
			effect.number = pointers_get(&f->b->made, g->of.object);
			if (effect.number < 0) /* it goes with the piece */
				continue;
		}
		effect.step = reconstruction_add(f->b, g->grad);
		if (effect.step < 0 || !add(f, effect))
			return false;
	}
	return true;
}

bool effects_find(struct effects *e, struct reconstruction_builder *b, struct arena *arena)
{
	struct effects_finder f = { .b = b, .sources = b->trace->sources };
	bool ok = true;

	for (int i = 0; ok && i < f.sources->n; i++) {
		const struct source *s = &f.sources->at[i];

		if (value_counted(s->stand_in) && s->same_as < 0 &&
		    s->stand_in.object != s->value.object) {
			size_t before = f.list.len;

			ok = find_in(&f, i);
			if (f.list.len > before)
				f.sources->at[i].written = true;
		}
	}
	ok = ok && find_globals(&f) && find_grads(&f);
	e->at = ARENA_ARRAY(arena, struct effect, f.list.len + 1);
	ok = ok && (e->at || no_memory(&f));
	for (size_t i = 0; i < f.list.len; i++) {
		if (ok)
			e->at[i] = f.list.at[i];
		else
			value_unref(f.list.at[i].key);
	}
	e->n = ok ? (int)f.list.len : 0;
	VEC_FREE(&f.list);
	return ok;
}

static bool replace_items(struct list *list, const struct list *with)
{
	struct value old = value_list(list->at, list->len);
	bool ok = old.kind != VALUE_UNSET;

	while (ok && list->len > 0)
		value_unref(list->at[--list->len]);
	for (int i = 0; ok && i < with->len; i++)
		ok = value_list_push(list, with->at[i]);
	value_unref(old);
	return ok;
}

static bool replace_keys(struct dict *dict, const struct dict *with)
{
	bool ok = true;

	while (dict->len > 0)
		value_dict_remove(dict, dict->keys[dict->len - 1]);
	for (int i = 0; ok && i < with->len; i++)
		ok = value_dict_set(dict, with->keys[i], value_none());
	return ok;
}

static struct dict *entries_of(struct value object)
{
	struct value fresh;
	struct dict **own;

	if (object.kind == VALUE_DICT)
		return object.dict;
	if (object.kind == VALUE_CLASS)
		return object.class->attributes;
	own = object.kind == VALUE_FUNCTION ? &object.function->attributes
					    : &object.instance->attributes;
	if (!*own) {
		fresh = value_dict();
		*own = fresh.kind == VALUE_DICT ? fresh.dict : NULL;
	}
	return *own;
}

static void put(struct value *place, struct value v)
{
	struct value old = *place;

	*place = value_ref(v);
	value_unref(old);
}

static bool apply(const struct effect *e, struct value object, struct value v,
		  const struct value *made, const struct reconstruction_call *call)
{
	struct dict *dict;
	struct value key = e->key_step >= 0 ? made[e->key_step] : e->key;

	switch (e->kind) {
	case EFFECT_ITEMS:
		return replace_items(object.list, v.list);
	case EFFECT_KEYS:
		return replace_keys(object.dict, v.dict);
	case EFFECT_STORE:
	case EFFECT_REMOVE:
		dict = entries_of(object);
		if (!dict || (e->kind == EFFECT_STORE && !value_dict_set(dict, key, v)))
			return false;
		if (e->kind == EFFECT_REMOVE)
			value_dict_remove(dict, key);
		if (object.kind == VALUE_CLASS)
			class_note(object.class);
		return true;
	case EFFECT_CONTENT:
		put(&object.cell->content, v);
		return true;
	case EFFECT_GLOBAL:
		put(&call->vm->globals[e->number].value, v);
		return true;
	case EFFECT_POSITION:
		object.iter->position = e->number;
		return true;
	case EFFECT_GRAD:
		return autograd_set_gradient(call->autograd, object, v, NULL);
	}
	return true;
}

/* What an effect is done to; a reference. */
static struct value object_of(const struct effect *e, const struct reconstruction *r,
			      const struct reconstruction_call *call)
{
	if (e->source >= 0)
		return value_ref(source_value(call->sources, e->source, call->roots));
	return e->kind == EFFECT_GRAD ? value_ref(r->made[e->number]) : value_none();
}

bool effects_apply(const struct effects *e, const struct reconstruction *r,
		   const struct reconstruction_call *call, struct err *err)
{
	/* all objects first: an effect may cut the way to the next one */
	struct value few[8], *objects = few;
	bool ok = true;

	if (e->n > 8)
		objects = calloc((size_t)e->n, sizeof(*objects));
	if (!objects)
		return err_set(err, ERR_MEMORY, "out of memory for the result");
	for (int i = 0; i < e->n; i++)
		objects[i] = object_of(&e->at[i], r, call);
	for (int i = 0; i < e->n && ok; i++) {
		struct value v = { .kind = VALUE_UNSET };

		if (e->at[i].step >= 0)
			v = r->made[e->at[i].step];
		ok = apply(&e->at[i], objects[i], v, r->made, call);
	}
	for (int i = 0; i < e->n; i++)
		value_unref(objects[i]);
	if (objects != few)
		free(objects);
	return ok || err_set(err, ERR_MEMORY, "out of memory for the result");
}
