/* fusion/runtime/slots.c -- takes the arguments of a call apart.
 *
 * Two arguments are the same tensor where they are the same memory seen the
 * same way, whether or not they are the same object.
 */
#include "fusion/runtime/slots.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/base/vec.h"

struct builder {
	struct slots *s;
	VEC(struct slot) slots;
	VEC(struct slot_dim) dims;
	struct err *err;
};

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while capturing the call");
}

static bool same_tensor(const struct tensor *a, const struct tensor *b)
{
	return a == b ||
	       (a->storage == b->storage && a->offset == b->offset && a->dtype == b->dtype &&
		a->rank == b->rank &&
		memcmp(a->size, b->size, sizeof(a->size[0]) * (size_t)a->rank) == 0 &&
		memcmp(a->stride, b->stride, sizeof(a->stride[0]) * (size_t)a->rank) == 0);
}

static bool add_tensor(struct builder *b, struct slot *slot)
{
	const struct tensor *t = slot->value.tensor->memory;

	if (!t)
		return err_set(b->err, ERR_TYPE, "the tensor %s has no memory", slot->name);
	slot->dtype = t->dtype;
	slot->rank = t->rank;
	slot->contiguous = tensor_contiguous(t);
	slot->same_as = -1;
	slot->first_dim = (int)b->dims.len;
	for (size_t i = 0; i < b->slots.len && slot->same_as < 0; i++)
		if (b->slots.at[i].kind == VALUE_TENSOR &&
		    same_tensor(b->slots.at[i].value.tensor->memory, t))
			slot->same_as = (int)i;
	for (int d = 0; d < t->rank; d++) {
		struct slot_dim dim = { .slot = (int)b->slots.len,
					.dim = d,
					.size = t->size[d],
					.class = slot->same_as >= 0
						     ? b->slots.at[slot->same_as].first_dim + d
						     : (int)b->dims.len,
					.var = -1 };

		slot->size[d] = t->size[d];
		if (!VEC_PUSH(&b->dims, dim))
			return no_memory(b->err);
	}
	return true;
}

static const char *child_name(struct builder *b, const struct slot *parent, int index)
{
	struct buf key;
	const char *name;

	if (parent->kind != VALUE_DICT)
		return arena_printf(b->s->arena, "%s[%d]", parent->name, index);
	buf_init(&key, 128);
	value_print(&key, parent->value.dict->keys[index], false);
	name = arena_printf(b->s->arena, "%s[%s]", parent->name, key.data ? key.data : "...");
	buf_finish(&key);
	return name;
}

static bool add(struct builder *b, int parent, int index, const char *name, struct value v,
		int depth);

static bool add_children(struct builder *b, int parent, int depth)
{
	struct value v = b->slots.at[parent].value;
	int n = v.kind == VALUE_DICT ? v.dict->len : v.list->len;

	if (depth == MAX_NESTING)
		return err_set(b->err, ERR_BOUND, "an argument is nested deeper than %d",
			       MAX_NESTING);
	b->slots.at[parent].n_children = n;
	for (int i = 0; i < n; i++) {
		const char *name = child_name(b, &b->slots.at[parent], i);

		if (!name)
			return no_memory(b->err);
		if (!add(b, parent, i, name,
			 v.kind == VALUE_DICT ? v.dict->values[i] : v.list->at[i], depth + 1))
			return false;
	}
	return true;
}

static bool add(struct builder *b, int parent, int index, const char *name, struct value v,
		int depth)
{
	struct slot slot = { .parent = parent,
			     .index = index,
			     .kind = v.kind,
			     .name = name,
			     .value = v,
			     .same_as = -1 };
	int at = (int)b->slots.len;

	if (at == MAX_SLOTS)
		return err_set(b->err, ERR_BOUND, "a call has more than %d values", MAX_SLOTS);
	if (v.kind == VALUE_TENSOR && !add_tensor(b, &slot))
		return false;
	if (!VEC_PUSH(&b->slots, slot))
		return no_memory(b->err);
	value_ref(v);
	switch (v.kind) {
	case VALUE_TUPLE:
	case VALUE_LIST:
	case VALUE_DICT:
		return add_children(b, at, depth);
	case VALUE_NONE:
	case VALUE_BOOL:
	case VALUE_INT:
	case VALUE_FLOAT:
	case VALUE_STR:
	case VALUE_DTYPE:
	case VALUE_TENSOR:
		return true;
	default:
		return err_set(b->err, ERR_TYPE, "%s is of type %s, which cannot be an argument",
			       name, value_type_name(v));
	}
}

static bool keep(struct builder *b)
{
	struct slots *s = b->s;

	s->at = ARENA_ARRAY(s->arena, struct slot, b->slots.len + 1);
	s->dims = ARENA_ARRAY(s->arena, struct slot_dim, b->dims.len + 1);
	if (!s->at || !s->dims)
		return no_memory(b->err);
	if (b->slots.len)
		memcpy(s->at, b->slots.at, b->slots.len * sizeof(struct slot));
	if (b->dims.len)
		memcpy(s->dims, b->dims.at, b->dims.len * sizeof(struct slot_dim));
	s->n = (int)b->slots.len;
	s->n_dims = (int)b->dims.len;
	return true;
}

bool slots_create(struct slots *s, struct arena *arena, const struct code *code,
		  const struct value *args, int n, struct err *err)
{
	struct builder b = { .s = s, .err = err };
	bool ok = true;

	*s = (struct slots){ .arena = arena, .n_args = n };
	for (int i = 0; i < n && ok; i++) {
		const char *name = i < code->n_positional
				       ? arena_strdup(arena, code->locals[i])
				       : arena_printf(arena, "argument %d", i + 1);

		ok = name ? add(&b, -1, i, name, args[i], 0) : no_memory(err);
	}
	ok = ok && keep(&b);
	if (!ok)
		for (size_t i = 0; i < b.slots.len; i++)
			value_unref(b.slots.at[i].value);
	VEC_FREE(&b.slots);
	VEC_FREE(&b.dims);
	return ok;
}

void slots_finish(struct slots *s)
{
	for (int i = 0; i < s->n; i++)
		value_unref(s->at[i].value);
	s->n = 0;
}

/* What guards still need of a value once the capture is done: not its tensors,
 * which would stay in memory as long as the entry. */
static struct value essence(struct value v)
{
	struct value keys;

	switch (v.kind) {
	case VALUE_TENSOR:
		return value_none();
	case VALUE_TUPLE:
	case VALUE_LIST:
		return value_none();
	case VALUE_DICT:
		keys = value_dict();
		for (int i = 0; keys.kind == VALUE_DICT && i < v.dict->len; i++)
			if (!value_dict_set(keys.dict, v.dict->keys[i], value_none())) {
				value_unref(keys);
				return (struct value){ .kind = VALUE_UNSET };
			}
		return keys;
	default:
		return value_ref(v);
	}
}

bool slots_release_tensors(struct slots *s)
{
	for (int i = 0; i < s->n; i++) {
		struct value kept = essence(s->at[i].value);

		if (kept.kind == VALUE_UNSET)
			return false;
		value_unref(s->at[i].value);
		s->at[i].value = kept;
	}
	return true;
}

int slots_root(const struct slots *s, int dim)
{
	while (s->dims[dim].class != dim)
		dim = s->dims[dim].class;
	return dim;
}

void slots_merge(struct slots *s, int a, int b)
{
	a = slots_root(s, a);
	b = slots_root(s, b);
	if (a == b)
		return;
	if (a > b) { /* the root is the first dim: it names the symbol */
		int swap = a;

		a = b;
		b = swap;
	}
	s->dims[b].class = a;
	s->dims[a].pinned |= s->dims[b].pinned;
}
