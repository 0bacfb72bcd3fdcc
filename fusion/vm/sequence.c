/* fusion/vm/sequence.c -- subscripts, slices, lengths, membership.
 *
 * Strings are UTF-8 and indexed by character, as in Python. */
#include <string.h>

#include <stdlib.h>

#include "fusion/base/utf8.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/modules.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/call_host.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/operators.h"

static bool op_cut(struct vm *vm, const struct slice *s, int64_t n, struct sequence_cut *out,
		   struct err *err);
static bool op_position(struct vm *vm, struct value index, const char *type, int64_t n,
			int64_t *out, struct err *err);

/* ---- o[index] = v and del o[index]. ---- */

struct cut_gap { /* in a list */
	int from, n;
};

/* Items of `items`, referenced, take the place of those in the gap; NULL: none do. */
static bool splice(struct vm *vm, struct list *list, struct cut_gap gap, const struct list *items,
		   struct err *err)
{
	int from = gap.from, gone = gap.n, n = items ? items->len : 0;
	const struct value *at = items ? items->at : NULL;
	struct value *old;
	int tail = list->len - from - gone;

	if (!heap_adopt(vm->heap, &list->head) || !vm_spend(vm, n + tail / 16, err))
		return vm_out_of_memory(vm, err);
	old = malloc(sizeof(*old) * (size_t)(gone + 1));
	if (!old)
		return vm_out_of_memory(vm, err);
	if (gone > 0) /* an empty list has no memory */
		memcpy(old, list->at + from, sizeof(*old) * (size_t)gone);
	for (int i = gone; i < n; i++)
		if (!value_list_push(list,
				     value_none())) { /* room, with items that count nothing */
			list->len -= i - gone;
			free(old);
			return vm_out_of_memory(vm, err);
		}
	list->len = from + n + tail;
	if (tail > 0)
		memmove(list->at + from + n, list->at + from + gone, sizeof(*old) * (size_t)tail);
	for (int i = 0; i < n; i++)
		list->at[from + i] = value_ref(at[i]);
	for (int i = 0; i < gone; i++) /* last: what they free may look at the list */
		value_unref(old[i]);
	free(old);
	return true;
}

static bool store_stepped(struct vm *vm, struct list *list, const struct sequence_cut *cut,
			  const struct list *items, struct err *err)
{
	if (items->len != cut->count)
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"attempt to assign sequence of size %d to extended slice of size "
				"%lld",
				items->len, (long long)cut->count);
	for (int i = 0; i < items->len; i++) {
		struct value *place = &list->at[cut->start + i * cut->step], old = *place;

		*place = value_ref(items->at[i]);
		value_unref(old);
	}
	return vm_spend(vm, items->len, err);
}

static bool store_slice(struct vm *vm, struct list *list, const struct slice *s, struct value v,
			struct err *err)
{
	struct value items;
	struct sequence_cut cut;
	bool ok;

	if (!vm_keep(vm, value_list(NULL, 0), &items, err))
		return false;
	ok = op_extend(vm, items.list, v, err) && op_cut(vm, s, list->len, &cut, err);
	if (ok && cut.step != 1)
		ok = store_stepped(vm, list, &cut, items.list, err);
	else if (ok)
		ok = splice(vm, list, (struct cut_gap){ (int)cut.start, (int)cut.count },
			    items.list, err);
	value_unref(items);
	return ok;
}

static bool no_assignment(struct vm *vm, struct value o, const char *what, struct err *err)
{
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "'%s' object does not support item %s",
			value_type_name(o), what);
}

static bool store_list(struct vm *vm, struct list *list, struct value index, struct value v,
		       struct err *err)
{
	struct value old;
	int64_t at;

	if (index.kind == VALUE_SLICE)
		return store_slice(vm, list, index.slice, v, err);
	if (!op_position(vm, index, "list assignment", list->len, &at, err))
		return false;
	old = list->at[at];
	list->at[at] = value_ref(v);
	value_unref(old);
	return true;
}

/* The index of a tensor, without arrays; *out is the caller's. */
static bool open_index(struct vm *vm, struct value index, struct value *out, struct err *err)
{
	bool arrays = false;

	if (index.kind != VALUE_TUPLE)
		return instance_argument(vm, index, out, err);
	for (int i = 0; i < index.list->len; i++)
		arrays = arrays || index.list->at[i].kind == VALUE_INSTANCE;
	if (!arrays) {
		*out = value_ref(index);
		return true;
	}
	if (!vm_keep(vm, value_sequence(VALUE_TUPLE, index.list->len), out, err))
		return false;
	for (int i = 0; i < index.list->len; i++) {
		if (!instance_argument(vm, index.list->at[i], &out->list->at[i], err)) {
			value_unref(*out);
			return false;
		}
		out->list->len++;
	}
	return true;
}

static bool store_in_tensor(struct vm *vm, struct value o, struct value index, struct value v,
			    struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct value opened;
	bool ok;

	if (!open_index(vm, index, &opened, err))
		return false;
	ok = host->store_subscript(host->self, o, opened, v, err);
	value_unref(opened);
	return ok;
}

bool op_store_subscript(struct vm *vm, struct value o, struct value index, struct value v,
			struct err *err)
{
	struct value args[] = { index, v }, none;
	bool found;

	switch (o.kind) {
	case VALUE_TENSOR:
		return store_in_tensor(vm, o, index, v, err);
	case VALUE_LIST:
		return store_list(vm, o.list, index, v, err);
	case VALUE_DICT:
		if (!op_make_key(vm, o.dict, &index, err))
			return false;
		if (!heap_adopt(vm->heap, o.object) || !value_dict_set(o.dict, index, v))
			return vm_out_of_memory(vm, err);
		return true;
	default:
		if (!instance_call(vm, &(struct method_call){ &o, "__setitem__", args, 2 }, &none,
				   &found, err))
			return false;
		if (!found)
			return no_assignment(vm, o, "assignment", err);
		value_unref(none);
		return true;
	}
}

static bool delete_from_list(struct vm *vm, struct list *list, struct value index, struct err *err)
{
	struct sequence_cut cut;
	int64_t at;

	if (index.kind != VALUE_SLICE)
		return op_position(vm, index, "list assignment", list->len, &at, err) &&
		       splice(vm, list, (struct cut_gap){ (int)at, 1 }, NULL, err);
	if (!op_cut(vm, index.slice, list->len, &cut, err))
		return false;
	if (cut.step == 1)
		return splice(vm, list, (struct cut_gap){ (int)cut.start, (int)cut.count }, NULL,
			      err);
	for (int64_t i = 0; i < cut.count; i++) { /* from the end, so that places stay */
		int64_t k = cut.step > 0 ? cut.count - 1 - i : i;

		if (!splice(vm, list, (struct cut_gap){ (int)(cut.start + k * cut.step), 1 }, NULL,
			    err))
			return false;
	}
	return true;
}

bool op_delete_subscript(struct vm *vm, struct value o, struct value index, struct err *err)
{
	struct value none;
	bool found;

	switch (o.kind) {
	case VALUE_LIST:
		return delete_from_list(vm, o.list, index, err);
	case VALUE_DICT:
		if (!op_make_key(vm, o.dict, &index, err) || !vm_spend(vm, o.dict->len / 4, err))
			return false;
		return value_dict_remove(o.dict, index) || op_no_key(vm, index, err);
	default:
		if (!instance_call(vm, &(struct method_call){ &o, "__delitem__", &index, 1 }, &none,
				   &found, err))
			return false;
		if (!found)
			return no_assignment(vm, o, "deletion", err);
		value_unref(none);
		return true;
	}
}

int64_t range_length(const struct range *r)
{
	uint64_t span;

	if (r->step > 0 ? r->start >= r->stop : r->start <= r->stop)
		return 0;
	if (r->step > 0) {
		span = (uint64_t)r->stop - (uint64_t)r->start - 1;
		span /= (uint64_t)r->step;
	} else {
		span = (uint64_t)r->start - (uint64_t)r->stop - 1;
		span /= -(uint64_t)r->step;
	}
	return span >= INT64_MAX ? INT64_MAX : (int64_t)span + 1;
}

static size_t str_offset(const struct str *s, int64_t at)
{
	size_t i = 0;

	while (i < s->len && (at > 0 || ((unsigned char)s->text[i] & 0xc0) == 0x80)) {
		i++;
		if (i < s->len && ((unsigned char)s->text[i] & 0xc0) != 0x80)
			at--;
	}
	return i;
}

/* v becomes what its __index__ gives, where it has one. */
static bool index_of_instance(struct vm *vm, struct value *v, struct err *err)
{
	struct value n;
	bool found;

	if (!instance_call(vm, &(struct method_call){ v, "__index__", NULL, 0 }, &n, &found, err))
		return false;
	if (found && value_counted(n)) {
		value_unref(n);
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "__index__ returned non-int");
	}
	if (found)
		*v = n;
	return true;
}

/* The __index__ of a tensor: ints and bools with one element have one. */
static bool index_of_tensor(struct vm_host *host, struct value t, struct value *out,
			    struct err *err)
{
	struct value dtype;

	if (!host->tensor_attr(host->self, t, "dtype", &dtype, err))
		return false;
	if (dtype_category(dtype.dtype) != CATEGORY_FLOAT &&
	    host->to_number(host->self, VALUE_INT, t, out, err))
		return true;
	if (dtype_category(dtype.dtype) != CATEGORY_FLOAT && err && err->code != ERR_VALUE)
		return false;
	return err_set(err, ERR_TYPE,
		       "only integer tensors of a single element can be converted to an index");
}

bool op_index(struct vm *vm, struct value v, const char *what, int64_t *out, struct err *err)
{
	struct vm_host *host;
	struct value n;

	if (value_is_hosted(v)) {
		host = vm_host_here(vm);
		if (v.kind == VALUE_TENSOR ? !index_of_tensor(host, v, &n, err)
					   : !host->to_number(host->self, VALUE_INT, v, &n, err))
			return false;
		v = n;
	}
	if (v.kind == VALUE_INSTANCE && !index_of_instance(vm, &v, err))
		return false;
	if (!value_is_integer(v))
		return err_set(err, ERR_TYPE, "%s must be an integer, not %s", what,
			       value_type_name(v));
	*out = value_as_int(v);
	return true;
}

/* Whether a class says itself when its objects are equal.  Each member of an enum is there once. */
static bool has_equality(struct class *class)
{
	return class_lookup(class, "__eq__") && !class_lookup(class, "__members__");
}

/* An object of a class that derives from str, int or their like is the key that those are; a member
 * of an enum stays itself, and is found by them (dict.c). */
static bool plain_key(struct vm *vm, struct value *v, struct err *err)
{
	struct class *class = v->instance->class;
	struct value *hash, plain;
	bool found;

	if (!class_find(vm, class, "__hash__", &hash, err))
		return false;
	if (hash && hash->kind == VALUE_NONE)
		return err_set(err, ERR_TYPE, "unhashable type: '%s'", class->name);
	if (!class_lookup(class, "__builtin__") || class_lookup(class, "__members__"))
		return true;
	if (!instance_call(vm, &(struct method_call){ v, "_as_argument", NULL, 0 }, &plain, &found,
			   err))
		return false;
	if (found && value_hashable(plain))
		*v = plain;
	if (found)
		value_unref(plain); /* the object has it */
	return true;
}

static bool fix_sizes(struct vm *vm, struct value *v, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	if (v->kind == VALUE_DEFERRED_TEXT)
		return text_needed(vm, *v, err);
	if (v->kind != VALUE_TENSOR && value_is_hosted(*v))
		return host->to_number(host->self, value_plain_kind(*v), *v, v, err);
	if (!realize(vm, v, err))
		return false;
	for (int i = 0; v->kind == VALUE_TUPLE && i < v->list->len; i++)
		if (!fix_sizes(vm, &v->list->at[i], err))
			return false;
	return true;
}

/* What in a tuple cannot be hashed is named. */
static const char *unhashable_type(struct value v)
{
	for (int i = 0; v.kind == VALUE_TUPLE && i < v.list->len; i++)
		if (!value_hashable(v.list->at[i])) {
			v = v.list->at[i];
			i = -1;
		}
	return value_type_name(v);
}

/* Whether a key has objects that say themselves when they are equal. */
static bool says_equal(struct value key)
{
	if (key.kind == VALUE_INSTANCE)
		return has_equality(key.instance->class);
	for (int i = 0; key.kind == VALUE_TUPLE && i < key.list->len; i++)
		if (says_equal(key.list->at[i]))
			return true;
	return false;
}

/* The hash of an object is asked for once: as of a key it may not change. */
static bool hash_of_key(struct vm *vm, struct value key, bool again, int64_t *out, struct err *err)
{
	struct value n;

	if (key.kind != VALUE_INSTANCE) {
		*out = key.kind == VALUE_TUPLE ? key.list->len : 0;
		return true;
	}
	if (again || !key.instance->hashed) {
		if (!value_hash(vm, key, &n, err) || !op_index(vm, n, "hash", out, err))
			return false;
		if (!key.instance->hashed)
			key.instance->hash = *out;
		key.instance->hashed = true;
	} else {
		*out = key.instance->hash;
	}
	return true;
}

/* In place of *key the key of the dict that equals it. */
static bool find_equal(struct vm *vm, const struct dict *dict, struct value *key, struct err *err)
{
	int64_t hash, other;
	bool same = false;

	if (!hash_of_key(vm, *key, true, &hash, err) || !vm_spend(vm, dict->len / 4, err))
		return false;
	for (int i = 0; i < dict->len && !same; i++) {
		struct value of = dict->keys[i];

		if (of.kind != key->kind)
			continue;
		if (!hash_of_key(vm, of, false, &other, err))
			return false;
		same = of.object == key->object;
		if (!same && hash == other) {
			value_ref(of); /* its __eq__ may change the dict */
			if (!op_equal(vm, of, *key, &same, err)) {
				value_unref(of);
				return false;
			}
			value_unref(of);
			same = same && i < dict->len && dict->keys[i].object == of.object;
		}
		if (same)
			*key = of;
	}
	return true;
}

bool op_make_key(struct vm *vm, const struct dict *dict, struct value *key, struct err *err)
{
	if (!value_hashable(*key)) /* nor nested too deep to walk */
		return err_set(err, ERR_TYPE, "unhashable type: '%s'", unhashable_type(*key));
	if (key->kind == VALUE_INSTANCE && !plain_key(vm, key, err))
		return false;
	if (!fix_sizes(vm, key, err))
		return false;
	return !dict || dict->len == 0 || !says_equal(*key) || find_equal(vm, dict, key, err);
}

/* Where a bound of a slice may be: one below 0 counts from n, others are cut to the range. */
struct cut_bounds {
	int64_t n, lowest, highest;
};

static bool slice_bound(struct vm *vm, struct value v, int64_t fallback,
			const struct cut_bounds *in, int64_t *out, struct err *err)
{
	int64_t i;

	if (v.kind == VALUE_NONE) {
		*out = fallback;
		return true;
	}
	if (!op_index(vm, v, "slice indices", &i, err))
		return false;
	if (i < 0)
		i += in->n;
	*out = i < in->lowest ? in->lowest : i > in->highest ? in->highest : i;
	return true;
}

static bool op_cut(struct vm *vm, const struct slice *s, int64_t n, struct sequence_cut *out,
		   struct err *err)
{
	int64_t step = 1, start, stop;
	struct cut_bounds in;
	struct range r;

	if (s->step.kind != VALUE_NONE && !op_index(vm, s->step, "slice indices", &step, err))
		return false;
	if (step == 0)
		return err_set(err, ERR_VALUE, "slice step cannot be zero");
	if (step < -INT64_MAX)
		step = -INT64_MAX;
	in = (struct cut_bounds){ n, step > 0 ? 0 : -1, step > 0 ? n : n - 1 };
	if (!slice_bound(vm, s->start, step > 0 ? in.lowest : in.highest, &in, &start, err) ||
	    !slice_bound(vm, s->stop, step > 0 ? in.highest : in.lowest, &in, &stop, err))
		return false;
	r = (struct range){ .start = start, .stop = stop, .step = step };
	*out = (struct sequence_cut){ start, stop, step, range_length(&r) };
	return true;
}

static bool slice_list(struct vm *vm, struct value o, const struct slice *s, struct value *out,
		       struct err *err)
{
	struct sequence_cut cut;
	struct value v;

	if (!op_cut(vm, s, o.list->len, &cut, err) ||
	    !vm_room(vm, cut.count, sizeof(struct value), err))
		return false;
	v = value_sequence(o.kind, (int)cut.count);
	if (v.kind == o.kind) {
		for (int64_t i = 0; i < cut.count; i++)
			v.list->at[i] = value_ref(o.list->at[cut.start + i * cut.step]);
		v.list->len = (int)cut.count;
		v.list->is_size = o.list->is_size;
	}
	return vm_keep(vm, v, out, err);
}

static bool slice_str(struct vm *vm, const struct str *str, const struct slice *s,
		      struct value *out, struct err *err)
{
	struct buf text = { 0 };
	struct sequence_cut cut;
	struct value v;
	int64_t n = str_length(str);
	bool ascii = n == (int64_t)str->len;

	if (!vm_spend(vm, n / 16, err) || !op_cut(vm, s, n, &cut, err))
		return false;
	if (!ascii && !vm_spend(vm, cut.count / 16 * (int64_t)str->len, err))
		return false; /* each character is looked for from the start */
	for (int64_t i = 0; i < cut.count; i++) {
		int64_t at = cut.start + i * cut.step;
		size_t from = ascii ? (size_t)at : str_offset(str, at);
		size_t to = ascii ? from + 1 : str_offset(str, at + 1);

		buf_add(&text, str->text + from, to - from);
	}
	v = text.failed ? (struct value){ .kind = VALUE_UNSET }
			: value_str(text.data ? text.data : "", text.len);
	buf_finish(&text);
	return vm_keep(vm, v, out, err);
}

static bool slice_range(struct vm *vm, const struct range *r, const struct slice *s,
			struct value *out, struct err *err)
{
	struct sequence_cut cut;
	int64_t step, start, stop;

	if (!op_cut(vm, s, range_length(r), &cut, err))
		return false;
	if (__builtin_mul_overflow(r->step, cut.step, &step) ||
	    __builtin_mul_overflow(cut.start, r->step, &start) ||
	    __builtin_add_overflow(start, r->start, &start) ||
	    __builtin_mul_overflow(cut.stop, r->step, &stop) ||
	    __builtin_add_overflow(stop, r->start, &stop))
		return err_set(err, ERR_VALUE, "the slice of this range needs more than 64 bits");
	return vm_keep(vm, value_range(start, stop, step), out, err);
}

/* Turns a Python index into one from 0; IndexError where it is out of range. */
static bool op_position(struct vm *vm, struct value index, const char *type, int64_t n,
			int64_t *out, struct err *err)
{
	int64_t i;

	if (!value_is_integer(index) && !value_is_hosted(index) && index.kind != VALUE_INSTANCE &&
	    strcmp(type, "string") == 0)
		return err_set(err, ERR_TYPE, "string indices must be integers, not '%s'",
			       value_type_name(index));
	if (!value_is_integer(index) && !value_is_hosted(index) && index.kind != VALUE_INSTANCE)
		return err_set(err, ERR_TYPE, "%.*s indices must be integers or slices, not %s",
			       (int)strcspn(type, " "), type, value_type_name(index));
	if (index.kind == VALUE_INSTANCE && !class_lookup(index.instance->class, "__index__"))
		return err_set(err, ERR_TYPE, "%.*s indices must be integers%s, not %s%s%s",
			       (int)strcspn(type, " "), type,
			       strcmp(type, "string") == 0 ? "" : " or slices",
			       strcmp(type, "string") == 0 ? "'" : "", value_type_name(index),
			       strcmp(type, "string") == 0 ? "'" : "");
	if (!op_index(vm, index, "an index", &i, err))
		return false;
	if (i < -n || i >= n)
		return vm_raise(vm, CLASS_INDEX_ERROR, err, "%s index out of range", type) ||
		       err_set(err, ERR_VALUE,
			       "%s index out of range: index %lld, but the length is %lld", type,
			       (long long)i, (long long)n);
	*out = i < 0 ? i + n : i;
	return true;
}

bool op_no_key(struct vm *vm, struct value key, struct err *err)
{
	struct buf text = { .limit = 200 }, message = { 0 };

	value_print(&text, key, false);
	buf_printf(&message, "the dict has no key %s", text.data ? text.data : "like this");
	vm_raise_key(vm, key, err, message.data ? message.data : "the dict has no such key");
	buf_finish(&text);
	buf_finish(&message);
	return false;
}

/* Objects by __getitem__; list[int] and its like are annotations: the type. */
/* Generic and Protocol, which are the same for all types. */
static bool is_promise(struct value o)
{
	return o.kind == VALUE_NATIVE && native_is_typing(o.native) &&
	       (strcmp(o.native->name, "Generic") == 0 || strcmp(o.native->name, "Protocol") == 0);
}

static bool subscript_other(struct vm *vm, struct value o, struct value index, struct value *out,
			    struct err *err)
{
	bool found;

	if (!instance_call(vm, &(struct method_call){ &o, "__getitem__", &index, 1 }, out, &found,
			   err))
		return false;
	if (found)
		return true;
	if (o.kind == VALUE_CLASS) {
		struct value *place;

		if (!class_find(vm, o.class, "__class_getitem__", &place, err))
			return false;
		if (place && place->kind == VALUE_DESCRIPTOR)
			return call_with_self(vm, place->descriptor->get, o,
					      &(struct arguments){ &index, 1, NULL }, out, err);
	}
	if (o.kind == VALUE_CLASS || is_promise(o)) {
		*out = value_ref(o);
		return true;
	}
	if (o.kind == VALUE_NATIVE && o.native->builtin &&
	    (native_is_type(o.native) || native_is_typing(o.native)))
		return typing_ask(vm, "type_subscripted", (struct value[]){ o, index }, 2, out,
				  err);
	if (absent_module_is(vm, o) && absent_module_may_wait(vm)) {
		*out = value_ref(o);
		return true;
	}
	if (!absent_module_refused(vm, o, err))
		return false;
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "'%s' object is not subscriptable",
			value_type_name(o));
}

static bool tensor_subscript(struct vm *vm, struct value o, struct value index, struct value *out,
			     struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct value opened;
	bool ok;

	if (!open_index(vm, index, &opened, err))
		return false;
	ok = in_function_mode(vm)
		 ? call_host_operator(vm, "__getitem__", (struct value[]){ o, opened }, 2, out, err)
		 : host->subscript(host->self, o, opened, out, err);
	value_unref(opened);
	return ok;
}

bool op_subscript(struct vm *vm, struct value o, struct value index, struct value *out,
		  struct err *err)
{
	struct value found;
	int64_t at;

	switch (o.kind) {
	case VALUE_TENSOR:
		return tensor_subscript(vm, o, index, out, err);
	case VALUE_TUPLE:
	case VALUE_LIST:
		if (index.kind == VALUE_SLICE)
			return slice_list(vm, o, index.slice, out, err);
		if (!op_position(vm, index, o.kind == VALUE_TUPLE ? "tuple" : "list", o.list->len,
				 &at, err))
			return false;
		*out = value_ref(o.list->at[at]);
		return true;
	case VALUE_DICT:
		if (!op_make_key(vm, o.dict, &index, err))
			return false;
		if (!value_dict_get(o.dict, index, &found))
			return op_no_key(vm, index, err);
		*out = value_ref(found);
		return true;
	case VALUE_STR:
		if (index.kind == VALUE_SLICE)
			return slice_str(vm, o.str, index.slice, out, err);
		if (!vm_spend(vm, (int64_t)o.str->len / 16, err) ||
		    !op_position(vm, index, "string", str_length(o.str), &at, err))
			return false;
		return vm_keep(vm,
			       value_str(o.str->text + str_offset(o.str, at),
					 str_offset(o.str, at + 1) - str_offset(o.str, at)),
			       out, err);
	case VALUE_DEFERRED_TEXT:
		return text_needed(vm, o, err);
	case VALUE_RANGE:
		if (index.kind == VALUE_SLICE)
			return slice_range(vm, o.range, index.slice, out, err);
		if (!op_position(vm, index, "range object", range_length(o.range), &at, err))
			return false;
		*out = value_int(o.range->start + at * o.range->step);
		return true;
	default:
		return subscript_other(vm, o, index, out, err);
	}
}

static bool no_length(struct vm *vm, struct value v, struct err *err)
{
	return vm_raise(vm, CLASS_TYPE_ERROR, err, "object of type '%s' has no len()",
			value_type_name(v));
}

static bool length_of_instance(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	bool found;

	if (!instance_call(vm, &(struct method_call){ &v, "__len__", NULL, 0 }, out, &found, err))
		return false;
	if (!found)
		return no_length(vm, v, err);
	if (value_is_integer(*out) && value_as_int(*out) < 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "__len__() should return >= 0");
	if (out->kind == VALUE_BOOL)
		*out = value_int(out->b);
	if (out->kind == VALUE_INT || out->kind == VALUE_SYMINT)
		return true;
	vm_raise(vm, CLASS_TYPE_ERROR, err, "'%s' object cannot be interpreted as an integer",
		 value_type_name(*out));
	value_unref(*out);
	return false;
}

/* How many members an enum has, or what a metaclass says. */
static bool length_of_class(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	struct value *place;
	bool found;

	if (!instance_call(vm, &(struct method_call){ &v, "__len__", NULL, 0 }, out, &found, err))
		return false;
	if (found)
		return true;
	if (!class_find(vm, v.class, "__class_len__", &place, err))
		return false;
	if (!place || place->kind != VALUE_DESCRIPTOR)
		return err_set(err, ERR_TYPE, "object of type 'type' has no len()");
	return vm_invoke(vm, place->descriptor->get, &(struct arguments){ &v, 1, NULL }, out, err);
}

bool op_length(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	struct vm_host *host;

	switch (v.kind) {
	case VALUE_TENSOR:
		host = vm_host_here(vm);
		return host->length(host->self, v, out, err);
	case VALUE_STR:
		if (!vm_spend(vm, (int64_t)v.str->len / 16, err))
			return false;
		*out = value_int(str_length(v.str));
		return true;
	case VALUE_TUPLE:
	case VALUE_LIST:
		*out = value_int(v.list->len);
		return true;
	case VALUE_DICT:
	case VALUE_SET:
		*out = value_int(v.dict->len);
		return true;
	case VALUE_INSTANCE:
		return length_of_instance(vm, v, out, err);
	case VALUE_CLASS:
		return length_of_class(vm, v, out, err);
	case VALUE_RANGE:
		*out = value_int(range_length(v.range));
		return true;
	case VALUE_ITER:
		if (v.iter->view) {
			*out = value_int(v.iter->over.dict->len);
			return true;
		}
		break;
	default:
		break;
	}
	return no_length(vm, v, err);
}

static bool range_contains(const struct range *r, int64_t i)
{
	if (r->step > 0 ? i < r->start || i >= r->stop : i > r->start || i <= r->stop)
		return false;
	if (r->step > 0)
		return ((uint64_t)i - (uint64_t)r->start) % (uint64_t)r->step == 0;
	return ((uint64_t)r->start - (uint64_t)i) % -(uint64_t)r->step == 0;
}

static bool str_contains(struct vm *vm, const struct str *s, struct value item, bool *out,
			 struct err *err)
{
	if (item.kind != VALUE_STR)
		return err_set(err, ERR_TYPE,
			       "'in <string>' requires string as left operand, not %s",
			       value_type_name(item));
	if (!vm_spend(vm, (int64_t)s->len / 16, err))
		return false;
	*out = item.str->len == 0 || memmem(s->text, s->len, item.str->text, item.str->len);
	return true;
}

static bool iteration_contains(struct vm *vm, struct value container, struct value item, bool *out,
			       struct err *err)
{
	struct value it, v;
	bool more, ok;

	*out = false;
	if (!op_iter(vm, container, &it, err))
		return false;
	do {
		ok = op_next(vm, it.iter, &v, &more, err);
		if (!ok || !more)
			break;
		*out = op_is(vm, v, item);
		ok = *out || op_equal(vm, v, item, out, err);
		value_unref(v);
	} while (ok && !*out);
	value_unref(it);
	return ok;
}

/* Of all its elements, whatever its dims. */
static bool tensor_contains(struct vm *vm, struct value container, struct value item, bool *out,
			    struct err *err)
{
	struct value equal, any, holds;
	bool ok;

	if (item.kind != VALUE_TENSOR && !value_is_number(item))
		return err_set(err, ERR_OP,
			       "Tensor.__contains__ only supports Tensor or scalar, but you passed "
			       "in a %s",
			       value_type_name(item));
	if (!op_compare(vm, CMP_EQ, item, container, &equal, err))
		return false;
	ok = op_attribute(vm, NULL, equal, "any", &any, err);
	value_unref(equal);
	if (!ok)
		return false;
	ok = vm_call(vm, any, &(struct arguments){ NULL, 0, NULL }, &holds, err);
	value_unref(any);
	if (!ok)
		return false;
	ok = op_truth(vm, holds, out, err);
	value_unref(holds);
	return ok;
}

bool op_contains(struct vm *vm, struct value container, struct value item, bool *out,
		 struct err *err)
{
	struct value ignored;
	bool found;

	switch (container.kind) {
	case VALUE_STR:
		if (item.kind == VALUE_DEFERRED_TEXT)
			return text_needed(vm, item, err);
		return str_contains(vm, container.str, item, out, err);
	case VALUE_DEFERRED_TEXT:
		return text_needed(vm, container, err);
	case VALUE_DICT:
	case VALUE_SET:
		if (!op_make_key(vm, container.dict, &item, err))
			return false;
		*out = value_dict_get(container.dict, item, &ignored);
		return true;
	case VALUE_CLASS:
	case VALUE_INSTANCE:
		if (!instance_call(vm,
				   &(struct method_call){ &container, "__contains__", &item, 1 },
				   &ignored, &found, err))
			return false;
		if (!found)
			break;
		found = op_truth(vm, ignored, out, err);
		value_unref(ignored);
		return found;
	case VALUE_RANGE:
		if (!value_is_integer(item))
			break;
		*out = range_contains(container.range, value_as_int(item));
		return true;
	case VALUE_ITER:
		if (is_set_view(container))
			return view_contains(vm, container.iter, item, out, err);
		break;
	case VALUE_TENSOR:
		return tensor_contains(vm, container, item, out, err);
	case VALUE_TUPLE:
	case VALUE_LIST:
	case VALUE_GENERATOR:
		break;
	default:
		return err_set(err, ERR_TYPE, "argument of type '%s' is not iterable",
			       value_type_name(container));
	}
	if (container.kind == VALUE_INSTANCE &&
	    !class_lookup(container.instance->class, "__iter__") &&
	    !class_lookup(container.instance->class, "__getitem__"))
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "argument of type '%s' is not iterable",
				value_type_name(container));
	return iteration_contains(vm, container, item, out, err);
}
