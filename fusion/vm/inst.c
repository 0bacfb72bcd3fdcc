/* fusion/vm/inst.c -- instructions that most programs have few of: the
 * interpreter loop finds the others itself. */
#include "fusion/vm/classes.h"

#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/except.h"
#include "fusion/vm/files.h"
#include "fusion/vm/generator.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/names.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/run.h"

/* ---- tuples, lists, sets, dicts and f-strings as a
 * program writes them out, and unpacking.
 */

/* The operands' references move into the new sequence. */
static bool inst_build_sequence(struct vm *vm, struct frame *f, enum value_kind kind, int n,
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

static bool set_entry(struct vm *vm, struct dict *dict, struct value key, struct value v,
		      struct err *err)
{
	if (!realize_inside(vm, key, err) || !op_make_key(vm, dict, &key, err))
		return false;
	return value_dict_set(dict, key, v) || vm_out_of_memory(vm, err);
}

static bool inst_build_map(struct vm *vm, struct frame *f, int pairs, struct err *err)
{
	struct value v, *at = f->top - 2 * pairs;

	if (!vm_keep(vm, value_dict(), &v, err))
		return false;
	for (int i = 0; i < pairs; i++) {
		if (!set_entry(vm, v.dict, at[2 * i], at[2 * i + 1], err)) {
			value_unref(v);
			return false;
		}
	}
	replace(f, 2 * pairs, v);
	return true;
}

static bool inst_build_set(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value v, *at = f->top - n;

	if (!vm_keep(vm, value_set(false), &v, err))
		return false;
	for (int i = 0; i < n; i++) {
		if (!set_entry(vm, v.dict, at[i], value_none(), err)) {
			value_unref(v);
			return false;
		}
	}
	replace(f, n, v);
	return true;
}

static bool inst_build_slice(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value step = n == 3 ? f->top[-1] : value_none(), v;

	if (!vm_keep(vm, value_slice(f->top[-n], f->top[1 - n], step), &v, err))
		return false;
	replace(f, n, v);
	return true;
}

static bool inst_build_string(struct vm *vm, struct frame *f, int n, struct err *err)
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

static bool inst_format_value(struct vm *vm, struct frame *f, int arg, struct err *err)
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
	if (!realize_inside(vm, v, err) || !convert(vm, v, arg & 3, &v, err))
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

static bool inst_list_append(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value list;

	if (!container(f, 1, depth, VALUE_LIST, &list, err))
		return false;
	if (!value_list_push(list.list, f->top[-1]))
		return vm_out_of_memory(vm, err);
	value_unref(*--f->top);
	return true;
}

static bool inst_list_extend(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value list;

	if (!container(f, 1, depth, VALUE_LIST, &list, err) ||
	    !op_extend(vm, list.list, f->top[-1], err))
		return false;
	value_unref(*--f->top);
	return true;
}

static bool inst_list_to_tuple(struct vm *vm, struct frame *f, struct err *err)
{
	struct value list, tuple;

	if (!container(f, 0, 1, VALUE_LIST, &list, err) ||
	    !vm_keep(vm, value_tuple(list.list->at, list.list->len), &tuple, err))
		return false;
	replace(f, 1, tuple);
	return true;
}

static bool inst_set_add(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value set;

	if (!container(f, 1, depth, VALUE_SET, &set, err) ||
	    !set_entry(vm, set.dict, f->top[-1], value_none(), err))
		return false;
	value_unref(*--f->top);
	return true;
}

static bool inst_set_update(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value set, it, item;
	bool more = true, ok = true;

	if (!container(f, 1, depth, VALUE_SET, &set, err) || !op_iter(vm, f->top[-1], &it, err))
		return false;
	while (ok && more) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = set_entry(vm, set.dict, item, value_none(), err) && vm_spend(vm, 1, err);
		value_unref(item);
	}
	value_unref(it);
	if (ok)
		value_unref(*--f->top);
	return ok;
}

static bool inst_map_add(struct vm *vm, struct frame *f, int depth, struct err *err)
{
	struct value dict;

	if (!container(f, 2, depth, VALUE_DICT, &dict, err) ||
	    !set_entry(vm, dict.dict, f->top[-2], f->top[-1], err))
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

static bool inst_dict_update(struct vm *vm, struct frame *f, int depth, bool merge, struct err *err)
{
	struct value dict, from = f->top[-1], key;

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
		key = merge ? value_plain(from.dict->keys[i]) : from.dict->keys[i];
		if (merge && (!merge_key(vm, dict.dict, key, err) ||
			      !realize(vm, &from.dict->values[i], err)))
			return false;
		if (!vm_spend(vm, 1, err) || !op_make_key(vm, dict.dict, &key, err))
			return false;
		if (!value_dict_set(dict.dict, key, from.dict->values[i]))
			return vm_out_of_memory(vm, err);
	}
	value_unref(*--f->top);
	return true;
}

static bool inst_unpack(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value s = f->top[-1];
	struct value *to = f->top - 1;

	/* s is at to[0]: the items are put above it in reverse, then it goes */
	if (n == 2 && s.kind == VALUE_TUPLE && s.list->len == 2) {
		if (!realize(vm, &s.list->at[0], err) || !realize(vm, &s.list->at[1], err))
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

static bool inst_unpack_ex(struct vm *vm, struct frame *f, int arg, struct err *err)
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

/* ---- what the patterns of a match statement ask. ---- */

static bool inst_match_sequence(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value *v = &f->top[-1];
	bool fits = false;

	if (!realize(vm, v, err))
		return false;
	if (v->kind == VALUE_LIST || v->kind == VALUE_TUPLE)
		fits = arg % 2 ? v->list->len >= arg / 2 : v->list->len == arg / 2;
	*f->top++ = value_bool(fits);
	return true;
}

/* The attributes of v that a class pattern names: `n` by __match_args__, then `names`. */
static bool match_attributes(struct vm *vm, const struct value *top, int n, struct list *parts,
			     bool *fits, struct err *err)
{
	struct value v = top[-3], class = top[-2], by_place = { .kind = VALUE_UNSET }, part;
	const struct list *names = top[-1].list;
	bool ok = true, found = false;
	int most;

	if (n > 0 && class.kind == VALUE_NATIVE) /* int(x): x is the number */
		return n > 1 ? vm_raise(vm, CLASS_TYPE_ERROR, err,
					"%s() accepts 1 positional sub-pattern (%d given)",
					class.native->name, n)
			     : value_list_push(parts, v) || vm_out_of_memory(vm, err);
	if (n > 0 && !op_find_attribute(vm, class, "__match_args__", &by_place, &found, err))
		return false;
	most = by_place.kind == VALUE_TUPLE ? by_place.list->len : 0;
	if (n > most)
		ok = vm_raise(vm, CLASS_TYPE_ERROR, err,
			      "%s() accepts %d positional sub-pattern%s (%d given)",
			      class.kind == VALUE_CLASS ? class.class->name : "it", most,
			      most == 1 ? "" : "s", n);
	for (int i = 0; ok && *fits && i < n + names->len; i++) {
		struct value name;

		ok = i >= n || realize(vm, &by_place.list->at[i], err);
		if (!ok)
			break;
		name = i < n ? by_place.list->at[i] : names->at[i - n];
		if (name.kind != VALUE_STR)
			ok = vm_raise(vm, CLASS_TYPE_ERROR, err,
				      "__match_args__ elements must be strings (got %s)",
				      value_type_name(name));
		ok = ok && op_find_attribute(vm, v, name.str->text, &part, fits, err);
		if (!ok || !*fits)
			break;
		ok = value_list_push(parts, part) || vm_out_of_memory(vm, err);
		value_unref(part);
	}
	value_unref(by_place);
	return ok;
}

static bool inst_match_class(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value parts;
	bool fits;

	if (!value_is_instance(vm, f->top[-3], f->top[-2], &fits, err) ||
	    !vm_keep(vm, value_list(NULL, 0), &parts, err))
		return false;
	if (fits && !match_attributes(vm, f->top, n, parts.list, &fits, err)) {
		value_unref(parts);
		return false;
	}
	replace(f, 3, parts);
	*f->top++ = value_bool(fits);
	return true;
}

/* The values of the keys; *fits false where one is not there. */
static bool match_entries(struct vm *vm, struct dict *of, struct list *keys, struct list *parts,
			  bool *fits, struct err *err)
{
	struct value v;

	for (int i = 0; i < keys->len && *fits; i++) {
		if (!op_make_key(vm, of, &keys->at[i], err))
			return false;
		*fits = value_dict_get(of, keys->at[i], &v);
		if (*fits && !value_list_push(parts, v))
			return vm_out_of_memory(vm, err);
	}
	return true;
}

/* A dict of all but the keys. */
static bool match_rest(struct vm *vm, const struct dict *of, const struct list *keys,
		       struct list *parts, struct err *err)
{
	struct value rest;
	bool ok = vm_spend(vm, of->len, err) && vm_keep(vm, value_dict(), &rest, err);

	if (!ok)
		return false;
	for (int i = 0; ok && i < of->len; i++)
		ok = value_dict_set(rest.dict, of->keys[i], of->values[i]);
	for (int i = 0; ok && i < keys->len; i++)
		value_dict_remove(rest.dict, keys->at[i]);
	ok = (ok && value_list_push(parts, rest)) || vm_out_of_memory(vm, err);
	value_unref(rest);
	return ok;
}

static bool inst_match_mapping(struct vm *vm, struct frame *f, int with_rest, struct err *err)
{
	struct value parts, of;
	const struct value *keys = &f->top[-1];
	bool fits, ok;

	if (!realize(vm, &f->top[-2], err) || !instance_argument(vm, f->top[-2], &of, err))
		return false;
	fits = of.kind == VALUE_DICT;
	ok = vm_keep(vm, value_list(NULL, 0), &parts, err);
	if (ok) {
		ok = !fits || match_entries(vm, of.dict, keys->list, parts.list, &fits, err);
		if (ok && fits && with_rest)
			ok = match_rest(vm, of.dict, keys->list, parts.list, err);
		if (!ok)
			value_unref(parts);
	}
	value_unref(of);
	if (!ok)
		return false;
	replace(f, 2, parts);
	*f->top++ = value_bool(fits);
	return true;
}

/* ---- variables: locals, cells, globals, names of a class body. ---- */

static bool unset_local(struct vm *vm, const struct frame *f, int arg, struct err *err)
{
	return vm_raise(vm, CLASS_UNBOUND_LOCAL_ERROR, err,
			"cannot access local variable '%s' where it is not associated with a value",
			f->code->locals[arg]);
}

static bool unset_cell(struct vm *vm, const struct frame *f, int arg, struct err *err)
{
	if (arg < f->code->n_own_cells)
		return vm_raise(vm, CLASS_UNBOUND_LOCAL_ERROR, err,
				"cannot access local variable '%s' where it is not associated with "
				"a value",
				f->code->cells[arg]);
	return vm_raise(vm, CLASS_NAME_ERROR, err,
			"cannot access free variable '%s' where it is not associated with a value "
			"in enclosing scope",
			f->code->cells[arg]);
}

/* What the loop itself does not: a local that is unset or lazy. */
static bool inst_load_fast(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value *local = &f->locals[arg];

	if (local->kind == VALUE_UNSET)
		return unset_local(vm, f, arg, err);
	if (!realize(vm, local, err))
		return false;
	*f->top++ = value_ref(*local);
	return true;
}

static bool inst_load_global(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	int slot = f->unit->globals[arg];
	const struct global *g = &vm->globals[slot];
	struct vm_host *host = vm->host;
	struct value v = g->value;

	if (__builtin_expect(host->load_global != NULL, 0) &&
	    (!f->unit->hidden || (g->ours && !global_is_fixed(g)))) {
		vm_host_here(vm);
		if (!host->load_global(host->self, slot, g->name, g->value, &v, err) ||
		    !realize(vm, &v, err))
			return false;
		if (v.kind == VALUE_UNSET)
			v = value_ref(vm->globals[slot].builtin);
	} else {
		v = value_ref(v.kind != VALUE_UNSET ? v : g->builtin);
	}
	if (v.kind == VALUE_UNSET)
		return vm_unknown_name(vm, vm->globals[slot].name, err);
	*f->top++ = v;
	return true;
}

static bool inst_store_global(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	if (!global_store(vm, f->unit->globals[arg], f->top[-1], err))
		return false;
	value_unref(*--f->top);
	return true;
}

static bool inst_delete_global(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	int slot = f->unit->globals[arg];
	struct value v;

	if (!global_load(vm, slot, &v, err))
		return false;
	if (v.kind == VALUE_UNSET)
		return vm_raise(vm, CLASS_NAME_ERROR, err, "name '%s' is not defined",
				f->code->names[arg]);
	value_unref(v);
	return global_store(vm, slot, (struct value){ .kind = VALUE_UNSET }, err);
}

static bool inst_load_deref(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value *content = &f->cells[arg].cell->content;

	if (content->kind == VALUE_UNSET)
		return unset_cell(vm, f, arg, err);
	if (!realize(vm, content, err))
		return false;
	*f->top++ = value_ref(*content);
	return true;
}

static bool inst_delete_fast(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	if (f->locals[arg].kind == VALUE_UNSET)
		return unset_local(vm, f, arg, err);
	store(&f->locals[arg], (struct value){ .kind = VALUE_UNSET });
	return true;
}

static bool inst_delete_deref(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct cell *cell = f->cells[arg].cell;

	if (cell->content.kind == VALUE_UNSET)
		return unset_cell(vm, f, arg, err);
	store(&cell->content, (struct value){ .kind = VALUE_UNSET });
	return true;
}

static bool inst_load_name(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value *found = f->namespace ? value_dict_find(f->namespace, f->code->names[arg])
					   : NULL;

	if (!found)
		return inst_load_global(vm, f, arg, err);
	*f->top++ = value_ref(*found);
	return realize(vm, &f->top[-1], err);
}

static bool inst_store_name(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const char *name = f->code->names[arg];
	struct value key;
	bool ok;

	if (!f->namespace)
		return inst_store_global(vm, f, arg, err);
	if (!vm_keep(vm, value_str(name, strlen(name)), &key, err))
		return false;
	ok = value_dict_set(f->namespace, key, f->top[-1]);
	value_unref(key);
	if (!ok)
		return vm_out_of_memory(vm, err);
	value_unref(*--f->top);
	return true;
}

static bool inst_delete_name(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const char *name = f->code->names[arg];
	struct value key;
	bool found;

	if (!f->namespace)
		return inst_delete_global(vm, f, arg, err);
	if (!vm_keep(vm, value_str(name, strlen(name)), &key, err))
		return false;
	found = value_dict_remove(f->namespace, key);
	value_unref(key);
	return found || vm_raise(vm, CLASS_NAME_ERROR, err, "name '%s' is not defined", name);
}

/* ---- functions, classes, modules and what del takes away. ---- */

static bool inst_make_function(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct unit *unit = &f->unit->nested[arg];
	struct value defaults = f->top[-3], kw = f->top[-2], closure = f->top[-1], v;
	int free_cells = unit->code->n_cells - unit->code->n_own_cells;

	if ((closure.kind == VALUE_TUPLE ? closure.list->len : 0) != free_cells)
		return err_set(err, ERR_INTERNAL, "the closure of %s does not fit its code",
			       unit->code->name);
	if (!vm_keep(vm, value_function(unit->code), &v, err))
		return false;
	v.function->unit = unit;
	if (defaults.kind == VALUE_TUPLE)
		v.function->defaults = value_ref(defaults).list;
	if (kw.kind == VALUE_DICT)
		v.function->kwdefaults = value_ref(kw).dict;
	if (closure.kind == VALUE_TUPLE)
		v.function->closure = value_ref(closure).list;
	replace(f, 3, v);
	return true;
}

/* The class body runs as a call whose names go to the class's dict. */
static bool run_body(struct vm *vm, struct function *body, struct value namespace,
		     struct value *out, struct err *err)
{
	struct frame *g = frame_push(vm, body->unit, body, err);

	if (!g)
		return false;
	g->namespace = value_ref(namespace).dict;
	if (!frame_enter(vm, g, err)) {
		frame_pop(vm);
		return false;
	}
	return vm_run(vm, g, out, err);
}

/* Of List[int] among the bases, what a class derives from: list. */
static bool plain_bases(struct vm *vm, struct value *bases, int n, struct err *err)
{
	struct value r;
	bool found;

	for (int i = 0; i < n; i++) {
		if (bases[i].kind != VALUE_INSTANCE)
			continue;
		if (!instance_call(vm,
				   &(struct method_call){ &bases[i], "__mro_entries__", NULL, 0 },
				   &r, &found, err))
			return false;
		if (found)
			store(&bases[i], r);
	}
	return true;
}

static bool inst_make_class(struct vm *vm, struct frame *f, int n, struct err *err)
{
	struct value *bases = f->top - n, body = bases[-2], namespace, cell, r;
	const struct dict *keywords = n > 0 && bases[n - 1].kind == VALUE_DICT ? bases[n - 1].dict
									       : NULL;
	bool ok;

	for (int i = 0; i < n; i++)
		if (absent_module_is(vm, bases[i]) && absent_module_may_wait(vm)) {
			replace(f, n + 2, value_ref(bases[i]));
			return true;
		}

	if (body.kind != VALUE_FUNCTION || !body.function->code->has_namespace)
		return err_set(err, ERR_INTERNAL, "MAKE_CLASS without a class body");
	if (vm->host->may_define && !f->unit->hidden &&
	    !vm->host->may_define(vm_host_here(vm)->self, body.function->code->name, err))
		return false;
	if (!plain_bases(vm, bases, n, err) || !vm_keep(vm, value_dict(), &namespace, err))
		return false;
	ok = run_body(vm, body.function, namespace, &cell, err);
	if (ok) {
		ok = class_build(vm,
				 &(struct class_parts){ bases[-1], bases, n - (keywords != NULL),
							namespace.dict, keywords, NULL },
				 &r, err);
		if (ok && r.kind == VALUE_CLASS)
			r.class->hidden = f->unit->hidden, r.class->body = f->unit;
		if (ok && cell.kind == VALUE_CELL) /* __class__ of its methods */
			store(&cell.cell->content, value_ref(r));
		value_unref(cell);
	}
	value_unref(namespace);
	if (ok)
		replace(f, n + 2, r);
	return ok;
}

static bool delete_attr(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	if (!op_delete_attribute(vm, f->top[-1], f->code->names[arg], err))
		return false;
	value_unref(*--f->top);
	return true;
}

static bool delete_subscript(struct vm *vm, struct frame *f, struct err *err)
{
	if (!realize_inside(vm, f->top[-1], err) ||
	    !op_delete_subscript(vm, f->top[-2], f->top[-1], err))
		return false;
	drop(f, f->top - 2);
	return true;
}

static bool make_cell(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	struct value cell;

	if (!vm_keep(vm, value_cell((struct value){ .kind = VALUE_UNSET }), &cell, err))
		return false;
	store(&f->cells[arg], cell);
	return true;
}

/* RETURNED. */
static void inst_returned(struct frame *f)
{
	const struct iter *it = f->top[-1].iter;
	struct value v = it->over.kind == VALUE_GENERATOR ? it->over.generator->returned
							  : value_none();

	store(&f->top[-1], v.kind == VALUE_UNSET ? value_none() : value_ref(v));
}

/* What is no display: variables, functions, classes, imports, patterns. */
static bool statement(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	int arg = inst->arg;

	switch (inst->op) {
	case CODE_LOAD_FAST:
		return inst_load_fast(vm, f, arg, err);
	case CODE_LOAD_GLOBAL:
		return inst_load_global(vm, f, arg, err);
	case CODE_LOAD_DEREF:
		return inst_load_deref(vm, f, arg, err);
	case CODE_STORE_GLOBAL:
		return inst_store_global(vm, f, arg, err);
	case CODE_DELETE_FAST:
		return inst_delete_fast(vm, f, arg, err);
	case CODE_DELETE_GLOBAL:
		return inst_delete_global(vm, f, arg, err);
	case CODE_DELETE_DEREF:
		return inst_delete_deref(vm, f, arg, err);
	case CODE_DELETE_ATTR:
		return delete_attr(vm, f, arg, err);
	case CODE_DELETE_SUBSCR:
		return delete_subscript(vm, f, err);
	case CODE_MAKE_CELL:
		return make_cell(vm, f, arg, err);
	case CODE_MAKE_FUNCTION:
		return inst_make_function(vm, f, arg, err);
	case CODE_MAKE_CLASS:
		return inst_make_class(vm, f, arg, err);
	case CODE_LOAD_NAME:
		return inst_load_name(vm, f, arg, err);
	case CODE_STORE_NAME:
		return inst_store_name(vm, f, arg, err);
	case CODE_DELETE_NAME:
		return inst_delete_name(vm, f, arg, err);
	case CODE_IMPORT:
	case CODE_IMPORT_STAR:
		return inst_import(vm, f, inst, err);
	case CODE_REFUSE:
		return err_set(err, ERR_UNSUPPORTED, "%s", f->code->consts[arg].str);
	case CODE_RETURNED:
		inst_returned(f);
		return true;
	case CODE_MATCH_SEQUENCE:
		return inst_match_sequence(vm, f, arg, err);
	case CODE_MATCH_CLASS:
		return inst_match_class(vm, f, arg, err);
	case CODE_MATCH_MAPPING:
		return inst_match_mapping(vm, f, arg, err);
	default:
		return inst_exception(vm, f, inst, err);
	}
}

bool inst_other(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	int arg = inst->arg;

	switch (inst->op) {
	case CODE_BUILD_TUPLE:
		return inst_build_sequence(vm, f, VALUE_TUPLE, arg, err);
	case CODE_BUILD_LIST:
		return inst_build_sequence(vm, f, VALUE_LIST, arg, err);
	case CODE_BUILD_MAP:
		return inst_build_map(vm, f, arg, err);
	case CODE_BUILD_SET:
		return inst_build_set(vm, f, arg, err);
	case CODE_BUILD_SLICE:
		return inst_build_slice(vm, f, arg, err);
	case CODE_BUILD_STRING:
		return inst_build_string(vm, f, arg, err);
	case CODE_FORMAT_VALUE:
		return inst_format_value(vm, f, arg, err);
	case CODE_LIST_APPEND:
		return inst_list_append(vm, f, arg, err);
	case CODE_LIST_EXTEND:
		return inst_list_extend(vm, f, arg, err);
	case CODE_LIST_TO_TUPLE:
		return inst_list_to_tuple(vm, f, err);
	case CODE_SET_ADD:
		return inst_set_add(vm, f, arg, err);
	case CODE_SET_UPDATE:
		return inst_set_update(vm, f, arg, err);
	case CODE_MAP_ADD:
		return inst_map_add(vm, f, arg, err);
	case CODE_DICT_UPDATE:
	case CODE_DICT_MERGE:
		return inst_dict_update(vm, f, arg, inst->op == CODE_DICT_MERGE, err);
	case CODE_UNPACK_SEQUENCE:
		return inst_unpack(vm, f, arg, err);
	case CODE_UNPACK_EX:
		return inst_unpack_ex(vm, f, arg, err);
	default:
		return statement(vm, f, inst, err);
	}
}
