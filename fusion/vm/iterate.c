/* fusion/vm/iterate.c -- iterators and unpacking.
 *
 * An iterator over a dict or tensor remembers the length it began with: a dict
 * that grows under its own loop is an error, as in Python. */
#include "fusion/vm/classes.h"
#include "fusion/vm/generator.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/absent_modules.h"

static bool not_iterable(struct vm *vm, struct value v, struct err *err)
{
	return absent_module_refused(vm, v, err) &&
	       err_set(err, ERR_TYPE, "'%s' object is not iterable", value_type_name(v));
}

/* The method `name` of an instance's class, bound to it; false: there is none.
 * *out is the caller's.  Of values that are no instances always false. */
static bool instance_method(struct vm *vm, struct value v, const char *name, struct value *out,
			    struct err *err)
{
	struct value *place;

	if (v.kind != VALUE_INSTANCE)
		return false;
	place = class_lookup(v.instance->class, name);
	if (!place || !realize(vm, place, err))
		return false;
	if (place->kind == VALUE_FUNCTION)
		return vm_keep(vm, value_method(*place, v), out, err);
	if (place->kind == VALUE_NONE) /* __hash__ = None */
		return false;
	return instance_attribute(vm, v, name, out, err);
}

/* What __iter__ gives; an instance that has __next__ may be that. */
static bool instance_iter(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	struct value it, next;
	bool found, ok;

	if (!instance_call(vm, &(struct method_call){ &v, "__iter__", NULL, 0 }, &it, &found, err))
		return false;
	if (!found && class_lookup(v.instance->class, "__getitem__")) /* v[0], v[1], ... */
		return vm_keep(vm, value_iter(ITER_SEQUENCE, v), out, err);
	if (!found)
		return not_iterable(vm, v, err);
	if (it.kind != VALUE_INSTANCE) {
		ok = op_iter(vm, it, out, err);
	} else if (!instance_method(vm, it, "__next__", &next, err)) {
		ok = vm_raise(vm, CLASS_TYPE_ERROR, err,
			      "iter() returned non-iterator of type '%s'", value_type_name(it));
	} else {
		value_unref(next);
		ok = vm_keep(vm, value_iter(ITER_NEXT, it), out, err);
	}
	value_unref(it);
	return ok;
}

/* The members of an enum (prelude/enum.py), or what a metaclass says. */
static bool class_iter(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	struct value *place, members;
	bool ok, found;

	if (!instance_call(vm, &(struct method_call){ &v, "__iter__", NULL, 0 }, &members, &found,
			   err) ||
	    !class_find(vm, v.class, "__class_iter__", &place, err))
		return false;
	if (!found && (!place || place->kind != VALUE_DESCRIPTOR))
		return not_iterable(vm, v, err);
	if (!found && !vm_invoke(vm, place->descriptor->get, &(struct arguments){ &v, 1, NULL },
				 &members, err))
		return false;
	ok = op_iter(vm, members, out, err);
	value_unref(members);
	return ok;
}

bool op_iter(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	enum iter_kind kind = ITER_SEQUENCE;
	struct value over = v, n = value_int(-1);
	int64_t length;

	switch (v.kind) {
	case VALUE_STR:
	case VALUE_TUPLE:
	case VALUE_LIST:
		break;
	case VALUE_DEFERRED_TEXT:
		return text_needed(vm, v, err);
	case VALUE_RANGE:
		n = value_int(range_length(v.range));
		break;
	case VALUE_TENSOR:
		if (!op_length(vm, v, &n, err))
			return false;
		break;
	case VALUE_ITER:
		if (!v.iter->view) {
			*out = value_ref(v);
			return true;
		}
		kind = v.iter->iter_kind;
		over = v.iter->over;
		n = value_int(over.dict->len);
		break;
	case VALUE_DICT:
	case VALUE_SET:
		n = value_int(v.dict->len);
		break;
	case VALUE_GENERATOR:
		kind = ITER_NEXT;
		break;
	case VALUE_INSTANCE:
		return instance_iter(vm, v, out, err);
	case VALUE_CLASS:
		return class_iter(vm, v, out, err);
	default:
		return not_iterable(vm, v, err);
	}
	if (!op_index(vm, n, "a length", &length, err) ||
	    !vm_keep(vm, value_iter(kind, over), out, err))
		return false;
	out->iter->length = length;
	return true;
}

static bool next_char(struct vm *vm, struct iter *it, struct value *out, bool *more,
		      struct err *err)
{
	/* position counts bytes here: a walk, not a search for each character */
	const struct str *s = it->over.str;
	size_t from = (size_t)it->position, to = from + 1;

	*more = from < s->len;
	if (!*more)
		return true;
	while (to < s->len && ((unsigned char)s->text[to] & 0xc0) == 0x80)
		to++;
	it->position = (int64_t)to;
	return vm_keep(vm, value_str(s->text + from, to - from), out, err);
}

static bool next_entry(struct vm *vm, struct iter *it, struct value *out, bool *more,
		       struct err *err)
{
	const struct dict *dict = it->over.dict;
	int64_t at = it->position;

	if (dict->len != it->length)
		return vm_raise(vm, CLASS_RUNTIME_ERROR, err, "%s changed size during iteration",
				it->over.kind == VALUE_SET ? "Set" : "dictionary");
	*more = at < dict->len;
	if (!*more)
		return true;
	it->position++;
	if (it->iter_kind == ITER_ITEMS) {
		struct value pair[] = { dict->keys[at], dict->values[at] };

		return vm_keep(vm, value_tuple(pair, 2), out, err);
	}
	*out = value_ref(it->iter_kind == ITER_VALUES ? dict->values[at] : dict->keys[at]);
	return true;
}

/* An IndexError ends it. */
static bool next_by_index(struct vm *vm, struct iter *it, struct value *out, bool *more,
			  struct err *err)
{
	struct err why = { 0 };

	*more = it->position >= 0 &&
		op_subscript(vm, it->over, value_int(it->position++), out, &why);
	if (*more || it->position < 0)
		return true;
	if (!vm_failed_with(vm, &why, CLASS_INDEX_ERROR)) {
		if (err)
			*err = why;
		return false;
	}
	vm_forget_raised(vm);
	it->position = -1;
	return true;
}

static bool item_of(struct vm *vm, struct value over, struct value index, struct value *out,
		    struct err *err)
{
	struct vm_host *host = over.kind == VALUE_TENSOR ? vm_host_here(vm) : NULL;

	if (!host || !host->row)
		return op_subscript(vm, over, index, out, err);
	return host->row(host->self, over, index, out, err);
}

static bool next_of_sequence(struct vm *vm, struct iter *it, struct value *out, bool *more,
			     struct err *err)
{
	struct value over = it->over;

	switch (over.kind) {
	case VALUE_RANGE:
		*more = it->position < it->length;
		if (*more)
			*out = value_int(over.range->start + it->position++ * over.range->step);
		return true;
	case VALUE_TUPLE:
	case VALUE_LIST:
		*more = it->position < over.list->len;
		if (*more)
			*out = value_ref(over.list->at[it->position++]);
		return true;
	case VALUE_STR:
		return next_char(vm, it, out, more, err);
	case VALUE_INSTANCE:
		return next_by_index(vm, it, out, more, err);
	case VALUE_DICT:
	case VALUE_SET:
		return next_entry(vm, it, out, more, err);
	default:
		*more = it->position < it->length;
		return !*more || item_of(vm, over, value_int(it->position++), out, err);
	}
}

/* `position` counts down; -1 at the end. */
static bool next_reversed(struct vm *vm, struct iter *it, struct value *out, bool *more,
			  struct err *err)
{
	*more = it->position >= 0;
	if (!*more)
		return true;
	if (it->over.kind == VALUE_LIST && it->position >= it->over.list->len)
		it->position = it->over.list->len - 1;
	*more = it->position >= 0;
	return !*more || op_subscript(vm, it->over, value_int(it->position--), out, err);
}

static bool next_enumerated(struct vm *vm, struct iter *it, struct value *out, bool *more,
			    struct err *err)
{
	struct value pair[2], v;
	bool ok;

	if (!realize(vm, &it->over, err) || !op_next(vm, it->over.iter, &v, more, err))
		return false;
	if (!*more)
		return true;
	pair[0] = value_int(it->position++);
	pair[1] = v;
	ok = vm_keep(vm, value_tuple(pair, 2), out, err);
	value_unref(v);
	return ok;
}

struct each {
	const struct list *iterators;
	int first; /* the ones before it are something else */
	int ended; /* the one that had no item */
};

/* One item of each iterator, as a tuple.  Not *more: one has none. */
static bool next_of_each(struct vm *vm, struct each *each, struct value *out, bool *more,
			 struct err *err)
{
	const struct list *list = each->iterators;
	int first = each->first;
	struct value v, item;
	bool ok = true;

	*more = list->len > first;
	if (!*more)
		return true;
	if (!vm_keep(vm, value_sequence(VALUE_TUPLE, list->len - first), &v, err))
		return false;
	for (int i = first; ok && *more && i < list->len; i++) {
		ok = realize(vm, &list->at[i], err) &&
		     op_next(vm, list->at[i].iter, &item, more, err);
		each->ended = i;
		if (ok && *more)
			v.list->at[v.list->len++] = item;
	}
	if (ok && *more)
		*out = v;
	else
		value_unref(v);
	return ok;
}

/* zip(strict=True) has come to an end: then all must end, the first first. */
static bool all_end(struct vm *vm, const struct list *list, int ended, struct err *err)
{
	const char *s = ended > 1 ? "s 1-" : " ";
	struct value item;
	bool more = false;

	if (ended > 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err,
				"zip() argument %d is shorter than argument%s%d", ended + 1, s,
				ended);
	for (int i = 1; !more && i < list->len; i++) {
		if (!realize(vm, &list->at[i], err) ||
		    !op_next(vm, list->at[i].iter, &item, &more, err))
			return false;
		s = i > 1 ? "s 1-" : " ";
		ended = i;
	}
	if (!more)
		return true;
	value_unref(item);
	return vm_raise(vm, CLASS_VALUE_ERROR, err, "zip() argument %d is longer than argument%s%d",
			ended + 1, s, ended);
}

static bool next_zipped(struct vm *vm, struct iter *it, struct value *out, bool *more,
			struct err *err)
{
	struct each each = { .iterators = it->over.list };

	return next_of_each(vm, &each, out, more, err) &&
	       (*more || !it->position || all_end(vm, it->over.list, each.ended, err));
}

static bool next_mapped(struct vm *vm, struct iter *it, struct value *out, bool *more,
			struct err *err)
{
	const struct list *parts = it->over.list;
	struct each each = { .iterators = parts, .first = 1 };
	struct value args;
	bool ok;

	if (!next_of_each(vm, &each, &args, more, err))
		return false;
	if (!*more)
		return true;
	ok = realize(vm, &parts->at[0], err) &&
	     vm_invoke(vm, parts->at[0], &(struct arguments){ args.list->at, args.list->len, NULL },
		       out, err);
	value_unref(args);
	return ok;
}

static bool passes(struct vm *vm, struct list *parts, struct value item, bool *out, struct err *err)
{
	struct value said = value_ref(item);
	bool ok;

	if (!realize(vm, &parts->at[0], err)) {
		value_unref(said);
		return false;
	}
	if (parts->at[0].kind != VALUE_NONE) {
		value_unref(said);
		if (!vm_invoke(vm, parts->at[0], &(struct arguments){ &item, 1, NULL }, &said, err))
			return false;
	}
	ok = op_truth(vm, said, out, err);
	value_unref(said);
	return ok;
}

static bool next_filtered(struct vm *vm, struct iter *it, struct value *out, bool *more,
			  struct err *err)
{
	struct list *parts = it->over.list;
	struct value item;
	bool found = false, ok = true;

	while (ok && !found) {
		if (!vm_spend(vm, 1, err) || !realize(vm, &parts->at[1], err) ||
		    !op_next(vm, parts->at[1].iter, &item, more, err))
			return false;
		if (!*more)
			return true;
		ok = passes(vm, parts, item, &found, err);
		if (ok && found)
			*out = item;
		else
			value_unref(item);
	}
	return ok;
}

/* A generator's next, or an instance's __next__ until it raises StopIteration. */
static bool next_called(struct vm *vm, struct value over, struct value *out, bool *more,
			struct err *err)
{
	bool found;

	if (over.kind == VALUE_GENERATOR)
		return generator_next(vm, over.generator, out, more, err);
	*more = true;
	if (instance_call(vm, &(struct method_call){ &over, "__next__", NULL, 0 }, out, &found,
			  err))
		return found || not_iterable(vm, over, err);
	if (!vm_failed_with(vm, err, CLASS_STOP_ITERATION))
		return false;
	vm_forget_raised(vm);
	*err = (struct err){ 0 };
	*more = false;
	return true;
}

static bool may_advance(struct vm *vm, struct iter *it, struct err *err)
{
	return !vm->host || !vm->host->may_advance ||
	       vm->host->may_advance(vm->host->self, value_of(it), err);
}

static bool next_item(struct vm *vm, struct iter *it, struct value *out, bool *more,
		      struct err *err)
{
	switch (it->iter_kind) {
	case ITER_REVERSED:
		return next_reversed(vm, it, out, more, err);
	case ITER_ENUMERATE:
		return next_enumerated(vm, it, out, more, err);
	case ITER_ZIP:
		return next_zipped(vm, it, out, more, err);
	case ITER_MAP:
		return may_advance(vm, it, err) && next_mapped(vm, it, out, more, err);
	case ITER_FILTER:
		return may_advance(vm, it, err) && next_filtered(vm, it, out, more, err);
	case ITER_VALUES:
	case ITER_ITEMS:
		return next_entry(vm, it, out, more, err);
	case ITER_NEXT:
		return next_called(vm, it->over, out, more, err);
	default:
		return next_of_sequence(vm, it, out, more, err);
	}
}

bool op_next(struct vm *vm, struct iter *it, struct value *out, bool *more, struct err *err)
{
	return next_item(vm, it, out, more, err) && (!*more || realize(vm, out, err));
}

bool op_extend(struct vm *vm, struct list *list, struct value v, struct err *err)
{
	struct value it, item;
	bool more = true, ok = true;

	if (!list->head.heap && !heap_adopt(vm->heap, &list->head))
		return vm_out_of_memory(vm, err);
	if (v.kind == VALUE_LIST && v.list == list) { /* its end would run away */
		int n = list->len;

		for (int i = 0; ok && i < n; i++)
			ok = value_list_push(list, list->at[i]);
		return ok || vm_out_of_memory(vm, err);
	}
	if (!op_iter(vm, v, &it, err))
		return false;
	while (ok) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		if (!value_list_push(list, item))
			ok = vm_out_of_memory(vm, err);
		else
			ok = vm_spend(vm, 1, err);
		value_unref(item);
	}
	value_unref(it);
	return ok;
}

static bool unpack_list(struct vm *vm, struct value v, int n, struct value *to, struct err *err)
{
	if (v.list->len < n)
		return err_set(err, ERR_VALUE, "not enough values to unpack (expected %d, got %d)",
			       n, v.list->len);
	if (v.list->len > n)
		return err_set(err, ERR_VALUE, "too many values to unpack (expected %d)", n);
	for (int i = 0; i < n; i++)
		if (!realize(vm, &v.list->at[i], err))
			return false;
	for (int i = 0; i < n; i++)
		to[i] = value_ref(v.list->at[i]);
	return true;
}

static bool unpack_iterator(struct vm *vm, struct iter *it, int n, struct value *to,
			    struct err *err)
{
	struct value extra;
	bool more = true, ok = true;
	int got = 0;

	while (ok && more && got < n) {
		ok = op_next(vm, it, &to[got], &more, err);
		got += ok && more;
	}
	if (ok && got < n)
		ok = err_set(err, ERR_VALUE, "not enough values to unpack (expected %d, got %d)", n,
			     got);
	if (ok)
		ok = op_next(vm, it, &extra, &more, err);
	if (ok && more) {
		value_unref(extra);
		ok = err_set(err, ERR_VALUE, "too many values to unpack (expected %d)", n);
	}
	while (!ok && got > 0)
		value_unref(to[--got]);
	return ok;
}

static bool can_iterate(struct value v)
{
	switch (v.kind) {
	case VALUE_STR:
	case VALUE_DICT:
	case VALUE_SET:
	case VALUE_RANGE:
	case VALUE_ITER:
	case VALUE_GENERATOR:
	case VALUE_TENSOR:
		return true;
	case VALUE_INSTANCE:
		return class_lookup(v.instance->class, "__iter__") ||
		       class_lookup(v.instance->class, "__getitem__");
	case VALUE_CLASS:
		return class_lookup(v.class, "__class_iter__") != NULL;
	default:
		return false;
	}
}

bool op_unpack(struct vm *vm, struct value v, int n, struct value *to, struct err *err)
{
	struct value it;
	bool ok;

	if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST)
		return unpack_list(vm, v, n, to, err);
	if (!can_iterate(v))
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "cannot unpack non-iterable %s object",
				value_type_name(v));
	if (!op_iter(vm, v, &it, err))
		return false;
	ok = unpack_iterator(vm, it.iter, n, to, err);
	value_unref(it);
	return ok;
}
