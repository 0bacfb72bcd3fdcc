/* fusion/vm/namedtuple.c -- collections.namedtuple.
 *
 * A named tuple is a tuple that knows its class; the class holds the names. */
#include "fusion/vm/namedtuple.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"

enum { MOST_FIELDS = 1000 };

/* The names as a list of strings: from a sequence, or from words in a string. */
static bool field_names(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	const char *p;
	bool ok = true;

	if (!vm_keep(vm, value_list(NULL, 0), out, err))
		return false;
	if (v.kind != VALUE_STR)
		ok = op_extend(vm, out->list, v, err);
	for (p = v.kind == VALUE_STR ? v.str->text : ""; ok && *p;) {
		size_t gap = strspn(p, " ,\t\n"), len = strcspn(p + gap, " ,\t\n");
		struct value word;

		p += gap;
		if (len == 0)
			break;
		ok = vm_keep(vm, value_str(p, len), &word, err);
		if (ok) {
			ok = value_list_push(out->list, word) || vm_out_of_memory(vm, err);
			value_unref(word);
		}
		p += len;
	}
	for (int i = 0; ok && i < out->list->len; i++)
		if (out->list->at[i].kind != VALUE_STR)
			ok = vm_raise(vm, CLASS_VALUE_ERROR, err, "field names must be strings");
	if (ok && out->list->len > MOST_FIELDS)
		ok = err_set(err, ERR_BOUND, "a namedtuple has at most %d fields", MOST_FIELDS);
	if (!ok)
		value_unref(*out);
	return ok;
}

/* The names' text lives in the tuple `_fields` of the class. */
static bool set_fields(struct vm *vm, struct class *c, const struct list *names, struct err *err)
{
	const char **texts = malloc(sizeof(*texts) * ((size_t)names->len + 1));
	struct value fields;
	bool ok;

	if (!texts || !vm_keep(vm, value_tuple(names->at, names->len), &fields, err)) {
		free(texts);
		return vm_out_of_memory(vm, err);
	}
	for (int i = 0; i < names->len; i++)
		texts[i] = names->at[i].str->text;
	texts[names->len] = NULL;
	c->names = texts;
	c->count_names = names->len;
	ok = store_named(vm, c->attributes, "_fields", fields, err) &&
	     store_named(vm, c->attributes, "__match_args__", fields, err);
	value_unref(fields);
	return ok;
}

bool class_copy_names(struct class *to, const struct class *from)
{
	size_t bytes = sizeof(*to->names) * ((size_t)from->count_names + 1);
	const char **names;

	if (!from->names)
		return true;
	names = malloc(bytes);
	if (!names)
		return false;
	memcpy(names, from->names, bytes);
	to->names = names;
	to->count_names = from->count_names;
	to->defaults = from->defaults;
	if (to->defaults)
		value_ref(value_of(to->defaults));
	return true;
}

bool namedtuple_set_defaults(struct vm *vm, struct class *c, struct value defaults, struct err *err)
{
	struct value list, tuple;
	bool ok = vm_keep(vm, value_list(NULL, 0), &list, err);

	if (!ok)
		return false;
	ok = defaults.kind == VALUE_NONE || op_extend(vm, list.list, defaults, err);
	if (ok && list.list->len > c->count_names)
		ok = vm_raise(vm, CLASS_TYPE_ERROR, err,
			      "Got more default values than field names");
	ok = ok && vm_keep(vm, value_tuple(list.list->at, list.list->len), &tuple, err);
	value_unref(list);
	if (!ok)
		return false;
	if (c->defaults)
		value_unref(value_of(c->defaults));
	c->defaults = tuple.list;
	return true;
}

static bool collections_namedtuple(struct vm *vm, const struct builtin_call *call,
				   struct value *out, struct err *err)
{
	struct value names, none, defaults, v;
	bool ok;

	if (call->args[0].kind != VALUE_STR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"the name of a namedtuple must be a string");
	if (!field_names(vm, call->args[1], &names, err))
		return false;
	ok = vm_keep(vm, value_dict(), &none, err);
	if (ok) {
		ok = class_make(
		    vm, &(struct class_parts){ .name = call->args[0], .attributes = none.dict }, &v,
		    err);
		value_unref(none);
	}
	if (ok) {
		ok = set_fields(vm, v.class, names.list, err);
		if (ok && builtin_keyword(call, "defaults", &defaults) &&
		    defaults.kind != VALUE_NONE)
			ok = namedtuple_set_defaults(vm, v.class, defaults, err);
		if (ok)
			*out = v;
		else
			value_unref(v);
	}
	value_unref(names);
	return ok;
}

static int field_of(const struct class *c, const char *name)
{
	for (int i = 0; i < c->count_names; i++)
		if (strcmp(c->names[i], name) == 0)
			return i;
	return -1;
}

/* "missing 2 required positional arguments: 'x' and 'y'" */
static bool missing(struct vm *vm, const struct class *c, const struct value *at, int first,
		    struct err *err)
{
	struct buf names = { 0 };
	int n = 0, seen = 0;

	for (int i = 0; i < first; i++)
		n += at[i].kind == VALUE_UNSET;
	for (int i = 0; i < first; i++)
		if (at[i].kind == VALUE_UNSET)
			buf_printf(&names, "%s'%s'",
				   seen++ == 0 ? ""
				   : seen < n  ? ", "
				   : n > 2     ? ", and "
					       : " and ",
				   c->names[i]);
	vm_raise(vm, CLASS_TYPE_ERROR, err,
		 "%s.__new__() missing %d required positional argument%s: %s", c->name, n,
		 n == 1 ? "" : "s", names.data ? names.data : "");
	buf_finish(&names);
	return false;
}

static bool fill(struct vm *vm, const struct class *c, const struct arguments *args,
		 struct value *at, struct err *err)
{
	int positional = args->n - (args->kw ? args->kw->n : 0), first;

	if (positional > c->count_names)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"%s() takes %d positional arguments but %d were given", c->name,
				c->count_names, positional);
	for (int i = 0; i < positional; i++)
		at[i] = args->at[i];
	for (int i = 0; args->kw && i < args->kw->n; i++) {
		int k = field_of(c, args->kw->names[i].str->text);

		if (k < 0 || at[k].kind != VALUE_UNSET)
			return vm_raise(vm, CLASS_TYPE_ERROR, err,
					k < 0 ? "%s() got an unexpected keyword argument '%s'"
					      : "%s() got multiple values for argument '%s'",
					c->name, args->kw->names[i].str->text);
		at[k] = args->at[positional + i];
	}
	first = c->count_names - (c->defaults ? c->defaults->len : 0);
	for (int i = 0; i < c->count_names; i++) {
		if (at[i].kind != VALUE_UNSET)
			continue;
		if (i < first)
			return missing(vm, c, at, first, err);
		at[i] = c->defaults->at[i - first];
	}
	return true;
}

bool namedtuple_new(struct vm *vm, struct class *class, const struct arguments *args,
		    struct value *out, struct err *err)
{
	struct value *at = calloc((size_t) class->count_names + 1, sizeof(*at));
	bool ok;

	if (!at)
		return vm_out_of_memory(vm, err);
	ok = fill(vm, class, args, at, err) &&
	     vm_keep(vm, value_tuple(at, class->count_names), out, err);
	free(at);
	if (ok) {
		class->head.refs++;
		out->list->class = class;
		out->list->fields = class->names;
		out->list->type_name = class->name;
	}
	return ok;
}

static bool as_dict(struct vm *vm, const struct list *t, struct value *out, struct err *err)
{
	struct value v;

	if (!vm_keep(vm, value_dict(), &v, err))
		return false;
	for (int i = 0; i < t->len; i++)
		if (!store_named(vm, v.dict, t->fields[i], t->at[i], err)) {
			value_unref(v);
			return false;
		}
	*out = v;
	return true;
}

static bool tuple_asdict(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	if (call->self.list->fields)
		return as_dict(vm, call->self.list, out, err);
	return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
			"'tuple' object has no attribute '_asdict'");
}

static bool tuple_replace(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	const struct list *t = call->self.list;
	struct value v;

	if (!t->class)
		return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err,
				"'tuple' object has no attribute '_replace'");
	if (!vm_keep(vm, value_tuple(t->at, t->len), &v, err))
		return false;
	v.list->fields = t->fields;
	v.list->type_name = t->type_name;
	v.list->class = value_ref(value_of(t->class)).class;
	for (int i = 0; call->kw && i < call->kw->n; i++) {
		int k = field_of(t->class, call->kw->names[i].str->text);

		if (k < 0) {
			vm_raise(vm, CLASS_VALUE_ERROR, err, "Got unexpected field name: '%s'",
				 call->kw->names[i].str->text);
			value_unref(v);
			return false;
		}
		value_unref(v.list->at[k]);
		v.list->at[k] = value_ref(call->args[call->n + i]);
	}
	*out = v;
	return true;
}

bool namedtuple_make(struct vm *vm, struct value class, struct value *out, struct err *err)
{
	struct value f;
	bool found, ok;

	if (!prelude_attribute(vm, "_bases", "make_named", &f, &found, err))
		return false;
	ok = vm_keep(vm, value_method(f, class), out, err);
	value_unref(f);
	return ok;
}

bool namedtuple_attribute(struct vm *vm, const struct list *t, const char *name, struct value *out,
			  bool *found, struct err *err)
{
	struct value *place;

	*found = false;
	for (int i = 0; t->fields && i < t->len && !*found; i++)
		if (strcmp(t->fields[i], name) == 0) {
			*found = true;
			if (!realize(vm, &t->at[i], err))
				return false;
			*out = value_ref(t->at[i]);
		}
	place = t->class && !*found ? value_dict_find(t->class->attributes, name) : NULL;
	if (place) {
		*found = true;
		*out = value_ref(*place);
	}
	return true;
}

#define BUILTINS_OF_NAMEDTUPLE
const struct builtin namedtuple_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
