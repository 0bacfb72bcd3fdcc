/* fusion/vm/display.c -- tuples, lists, sets, dicts and f-strings as a
 * program writes them out, and unpacking. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/operators.h"

/* The operands' references move into the new sequence. */
bool inst_build_sequence(struct vm *vm, struct frame *f, enum value_kind kind, int n,
			 struct err *err)
{
	struct value v = value_sequence(kind, n);

	if (v.kind == kind) {
		for (int i = 0; i < n; i++)
			v.list->at[i] = f->top[i - n];
		v.list->len = n;
		f->top -= n;
	}
	if (!vm_keep(vm, v, &v, err))
		return false;
	*f->top++ = v;
	return true;
}

static bool set_entry(struct vm *vm, struct dict *dict, struct value *key, struct value v,
		      struct err *err)
{
	if (!force_inside(vm, *key, err) || !op_make_key(vm, key, err))
		return false;
	return value_dict_set(dict, *key, v) || vm_out_of_memory(vm, err);
}

bool inst_build_map(struct vm *vm, struct frame *f, int pairs, struct err *err)
{
	struct value v, *at = f->top - 2 * pairs;

	if (!vm_keep(vm, value_dict(), &v, err))
		return false;
	for (int i = 0; i < pairs; i++) {
		if (!set_entry(vm, v.dict, &at[2 * i], at[2 * i + 1], err)) {
			value_unref(v);
			return false;
		}
	}
	replace(f, 2 * pairs, v);
	return true;
}

bool inst_build_set(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value v, *at = f->top - n;

	if (!vm_keep(vm, value_set(false), &v, err))
		return false;
	for (int i = 0; i < n; i++) {
		if (!set_entry(vm, v.dict, &at[i], value_none(), err)) {
			value_unref(v);
			return false;
		}
	}
	replace(f, n, v);
	return true;
}

bool inst_build_slice(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value step = n == 3 ? f->top[-1] : value_none(), v;

	if (!vm_keep(vm, value_slice(f->top[-n], f->top[1 - n], step), &v, err))
		return false;
	replace(f, n, v);
	return true;
}

bool inst_build_string(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct buf text = { 0 };
	struct value v;

	for (int i = -n; i < 0; i++) {
		struct value part = f->top[i];

		if (!value_is_text(part)) {
			buf_finish(&text);
			return err_set(err, ERR_INTERNAL, "BUILD_STRING of what is no text");
		}
		if (!text_append(vm, part, &text, err) || !vm_room(vm, (int64_t)text.len, 1, err)) {
			buf_finish(&text);
			return false;
		}
	}
	if (!builtin_take_text(vm, &text, &v, err))
		return false;
	replace(f, n, v);
	return true;
}

/* Text of a value by its conversion, 0 for none; false: v stays as it is. */
static bool convert(struct vm *vm, struct value v, int conversion, struct value *out,
		    struct err *err)
{
	struct buf text = { 0 };

	if (conversion == 0) {
		*out = value_ref(v);
		return true;
	}
	if (!builtin_text(vm, v, conversion == 1, &text, err)) {
		buf_finish(&text);
		return false;
	}
	return builtin_take_text(vm, &text, out, err);
}

bool inst_format_value(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	bool has_spec = arg & 4, ok;
	struct value spec = has_spec ? f->top[-1] : value_none();
	struct value v, r;
	struct buf text = { 0 };

	if (spec.kind == VALUE_DEFERRED_TEXT)
		return text_needed(vm, spec, err);
	if (has_spec && spec.kind != VALUE_STR)
		return err_set(err, ERR_INTERNAL, "FORMAT_VALUE without its text");
	v = f->top[has_spec ? -2 : -1];
	if (!force_inside(vm, v, err) || !convert(vm, v, arg & 3, &v, err))
		return false;
	ok = op_format(vm, v, has_spec ? spec.str->text : "", has_spec ? spec.str->len : 0, &text,
		       err);
	value_unref(v);
	if (!ok) {
		buf_finish(&text);
		return false;
	}
	if (!builtin_take_text(vm, &text, &r, err))
		return false;
	replace(f, has_spec ? 2 : 1, r);
	return true;
}

/* The container `depth` below the operands on top; INTERNAL if it is another. */
static bool container(struct frame *f, int operands, int depth, enum value_kind kind,
		      struct value *out, struct err *err)
{
	*out = f->top[-operands - depth];
	return out->kind == kind ||
	       err_set(err, ERR_INTERNAL, "an instruction that fills a container finds none");
}

bool inst_list_append(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value list;

	if (!container(f, 1, depth, VALUE_LIST, &list, err))
		return false;
	if (!value_list_push(list.list, f->top[-1]))
		return vm_out_of_memory(vm, err);
	value_unref(*--f->top);
	return true;
}

bool inst_list_extend(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value list;

	if (!container(f, 1, depth, VALUE_LIST, &list, err) ||
	    !op_extend(vm, list.list, f->top[-1], err))
		return false;
	value_unref(*--f->top);
	return true;
}

bool inst_list_to_tuple(struct vm *vm, struct frame *f, struct err *err)
{
	struct value list, tuple;

	if (!container(f, 0, 1, VALUE_LIST, &list, err) ||
	    !vm_keep(vm, value_tuple(list.list->at, list.list->len), &tuple, err))
		return false;
	replace(f, 1, tuple);
	return true;
}

bool inst_set_add(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value set;

	if (!container(f, 1, depth, VALUE_SET, &set, err) ||
	    !set_entry(vm, set.dict, &f->top[-1], value_none(), err))
		return false;
	value_unref(*--f->top);
	return true;
}

bool inst_set_update(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value set, it, item;
	bool more = true, ok = true;

	if (!container(f, 1, depth, VALUE_SET, &set, err) || !op_iter(vm, f->top[-1], &it, err))
		return false;
	while (ok && more) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = set_entry(vm, set.dict, &item, value_none(), err) && vm_spend(vm, 1, err);
		value_unref(item);
	}
	value_unref(it);
	if (ok)
		value_unref(*--f->top);
	return ok;
}

bool inst_map_add(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value dict;

	if (!container(f, 2, depth, VALUE_DICT, &dict, err) ||
	    !set_entry(vm, dict.dict, &f->top[-2], f->top[-1], err))
		return false;
	drop(f, f->top - 2);
	return true;
}

static bool merge_key(struct vm *vm, const struct dict *dict, struct value key, struct err *err)
{
	struct value old;

	if (key.kind != VALUE_STR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "keywords must be strings");
	if (value_dict_get(dict, key, &old))
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"got multiple values for keyword argument '%s'", key.str->text);
	return true;
}

/* An object with keys() is a mapping: its entries in its place. */
static bool as_dict(struct vm *vm, struct value *place, struct err *err)
{
	struct value dict;
	bool known, ok;

	if (!vm_keep(vm, value_dict(), &dict, err))
		return false;
	ok = dict_update_by_keys(vm, dict.dict, *place, &known, err);
	if (ok && known)
		store(place, value_ref(dict));
	value_unref(dict);
	return ok;
}

bool inst_dict_update(struct vm *vm, struct frame *f, int depth, bool merge, struct err *err)
{
	struct value dict, from = f->top[-1];

	if (!container(f, 1, depth, VALUE_DICT, &dict, err))
		return false;
	if (from.kind == VALUE_INSTANCE && !as_dict(vm, &f->top[-1], err))
		return false;
	from = f->top[-1];
	if (from.kind != VALUE_DICT)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				merge ? "argument after ** must be a mapping, not %s"
				      : "'%s' object is not a mapping",
				value_type_name(from));
	for (int i = 0; i < from.dict->len; i++) {
		if (merge && (!merge_key(vm, dict.dict, from.dict->keys[i], err) ||
			      !force(vm, &from.dict->values[i], err)))
			return false;
		if (!vm_spend(vm, 1, err))
			return false;
		if (!value_dict_set(dict.dict, from.dict->keys[i], from.dict->values[i]))
			return vm_out_of_memory(vm, err);
	}
	value_unref(*--f->top);
	return true;
}

bool inst_unpack(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value s = f->top[-1];
	struct value *to = f->top - 1;

	/* s is at to[0]: the items are put above it in reverse, then it goes */
	if (n == 2 && s.kind == VALUE_TUPLE && s.list->len == 2) {
		if (!force(vm, &s.list->at[0], err) || !force(vm, &s.list->at[1], err))
			return false;
		to[0] = value_ref(s.list->at[1]);
		to[1] = value_ref(s.list->at[0]);
	} else {
		f->top--; /* an error must not see s twice */
		if (!op_unpack(vm, s, n, to, err)) {
			*f->top++ = s;
			return false;
		}
		for (int i = 0; i < n / 2; i++) {
			struct value t = to[i];

			to[i] = to[n - 1 - i];
			to[n - 1 - i] = t;
		}
	}
	f->top = to + n;
	value_unref(s);
	return true;
}

bool inst_unpack_ex(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	int before = arg & 255, after = arg >> 8, len;
	struct value all, middle;

	if (!vm_keep(vm, value_sequence(VALUE_LIST, 0), &all, err))
		return false;
	if (!op_extend(vm, all.list, f->top[-1], err)) {
		value_unref(all);
		return false;
	}
	len = all.list->len;
	if (len < before + after) {
		value_unref(all);
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"not enough values to unpack (expected at least %d, got %d)",
				before + after, len);
	}
	if (!vm_keep(vm, value_list(all.list->at + before, len - before - after), &middle, err)) {
		value_unref(all);
		return false;
	}
	value_unref(*--f->top);
	for (int i = len; i > len - after; i--)
		*f->top++ = value_ref(all.list->at[i - 1]);
	*f->top++ = middle;
	for (int i = before; i > 0; i--)
		*f->top++ = value_ref(all.list->at[i - 1]);
	value_unref(all);
	return true;
}
