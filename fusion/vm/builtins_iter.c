/* fusion/vm/builtins_iter.c -- what goes over items: sum, max, zip, ...
 *
 * Each item counts as a step, so that sum(range(10 ** 18)) ends too. */
#include <math.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

enum { MOST_NESTED = 100 };

static bool builtin_range(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	int64_t v[3] = { 0, 0, 1 };

	for (int i = 0; i < call->n; i++) {
		struct value a = call->args[i];

		if (a.kind == VALUE_FLOAT ||
		    (!value_is_hosted(a) && !value_is_integer(a) &&
		     !(a.kind == VALUE_INSTANCE && class_lookup(a.instance->class, "__index__"))))
			return err_set(err, ERR_TYPE,
				       "'%s' object cannot be interpreted as an integer",
				       value_type_name(a));
		if (!op_index(vm, a, "an argument of range()", &v[call->n == 1 ? 1 : i], err))
			return false;
	}
	if (v[2] == 0)
		return err_set(err, ERR_VALUE, "range() arg 3 must not be zero");
	return vm_keep(vm, value_range(v[0], v[1], v[2]), out, err);
}

static bool builtin_list(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct value v;

	if (!vm_keep(vm, value_list(NULL, 0), &v, err))
		return false;
	if (call->n == 1 && !op_extend(vm, v.list, call->args[0], err)) {
		value_unref(v);
		return false;
	}
	*out = v;
	return true;
}

static bool builtin_tuple(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	struct value list;
	bool ok;

	if (call->n == 1 && call->args[0].kind == VALUE_TUPLE && !call->args[0].list->is_size) {
		*out = value_ref(call->args[0]);
		return true;
	}
	if (!builtin_list(vm, call, &list, err))
		return false;
	ok = vm_keep(vm, value_tuple(list.list->at, list.list->len), out, err);
	value_unref(list);
	return ok;
}

static bool builtin_size(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct value list;
	bool ok;

	if (!builtin_list(vm, call, &list, err))
		return false;
	for (int i = 0; i < list.list->len; i++)
		if (!value_is_integer(list.list->at[i]) && list.list->at[i].kind != VALUE_SYMINT) {
			vm_raise(vm, CLASS_TYPE_ERROR, err,
				 "torch.Size() takes an iterable of 'int' (item %d is '%s')", i,
				 value_type_name(list.list->at[i]));
			value_unref(list);
			return false;
		}
	ok = vm_keep(vm, value_tuple(list.list->at, list.list->len), out, err);
	if (ok)
		out->list->is_size = true;
	value_unref(list);
	return ok;
}

/* A fresh iterator, or a bad argument. */
static bool inner(struct vm *vm, struct value v, struct value *out, int *nested, struct err *err)
{
	if (!op_iter(vm, v, out, err))
		return false;
	if (out->iter->nested >= MOST_NESTED) {
		value_unref(*out);
		return err_set(err, ERR_RECURSION, "iterators are nested more than %d deep",
			       MOST_NESTED);
	}
	if (*nested <= out->iter->nested)
		*nested = out->iter->nested + 1;
	return true;
}

static bool builtin_enumerate(struct vm *vm, const struct builtin_call *call, struct value *out,
			      struct err *err)
{
	struct value it, start = value_int(0);
	int64_t first;
	int nested = 0;
	bool ok;

	if (call->n == 2)
		start = call->args[1];
	else
		builtin_keyword(call, "start", &start);
	if (!op_index(vm, start, "the start of enumerate()", &first, err) ||
	    !inner(vm, call->args[0], &it, &nested, err))
		return false;
	ok = vm_keep(vm, value_iter(ITER_ENUMERATE, it), out, err);
	value_unref(it);
	if (ok) {
		out->iter->position = first;
		out->iter->nested = nested;
	}
	return ok;
}

/* zip and map: `first` arguments as they are, then an iterator of each. */
static bool side_by_side(struct vm *vm, const struct builtin_call *call, enum iter_kind kind,
			 int first, struct value *out, struct err *err)
{
	struct value parts;
	int nested = 0;
	bool ok = true;

	if (!vm_keep(vm, value_sequence(VALUE_TUPLE, call->n), &parts, err))
		return false;
	for (int i = 0; ok && i < call->n; i++) {
		if (i < first)
			parts.list->at[i] = value_ref(call->args[i]);
		else
			ok = inner(vm, call->args[i], &parts.list->at[i], &nested, err);
		parts.list->len += ok;
	}
	ok = ok && vm_keep(vm, value_iter(kind, parts), out, err);
	if (ok)
		out->iter->nested = nested;
	value_unref(parts);
	return ok;
}

static bool builtin_zip(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct value strict = value_bool(false);
	bool yes;

	builtin_keyword(call, "strict", &strict);
	if (!op_truth(vm, strict, &yes, err) || !side_by_side(vm, call, ITER_ZIP, 0, out, err))
		return false;
	out->iter->position = yes;
	return true;
}

static bool builtin_map(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return side_by_side(vm, call, ITER_MAP, 1, out, err);
}

static bool builtin_filter(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	return side_by_side(vm, call, ITER_FILTER, 1, out, err);
}

/* Of a class with __len__ and __getitem__: its items by number, made at once. */
static bool reversed_items(struct vm *vm, struct value v, int64_t n, struct value *out,
			   struct err *err)
{
	struct err why = { 0 };
	struct value list, item;
	bool ok = vm_keep(vm, value_list(NULL, 0), &list, err);

	if (!ok)
		return false;
	while (ok && n-- > 0) {
		if (!op_subscript(vm, v, value_int(n), &item, &why))
			break;
		ok = value_list_push(list.list, item) || vm_out_of_memory(vm, err);
		value_unref(item);
	}
	if (why.code != ERR_NONE && vm_failed_with(vm, &why, CLASS_INDEX_ERROR)) {
		vm_forget_raised(vm); /* there are no more */
	} else if (why.code != ERR_NONE) {
		ok = false;
		if (err)
			*err = why;
	}
	ok = ok && op_iter(vm, list, out, err);
	value_unref(list);
	return ok;
}

static bool builtin_reversed(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	struct value v = call->args[0], length, list;
	bool ok;

	if (v.kind == VALUE_INSTANCE) {
		if (!instance_call(vm, &(struct method_call){ &v, "__reversed__", NULL, 0 }, &list,
				   &ok, err))
			return false;
		if (ok) {
			ok = op_iter(vm, list, out, err);
			value_unref(list);
			return ok;
		}
		if (class_lookup(v.instance->class, "__getitem__"))
			return op_length(vm, v, &length, err) &&
			       reversed_items(vm, v, length.i, out, err);
	}
	if (v.kind == VALUE_DICT || (v.kind == VALUE_ITER && v.iter->view)) {
		if (!builtin_list(vm, call, &list, err))
			return false;
	} else if (v.kind == VALUE_LIST || v.kind == VALUE_TUPLE || v.kind == VALUE_STR ||
		   v.kind == VALUE_RANGE) {
		list = value_ref(v);
	} else {
		return err_set(err, ERR_TYPE, "'%s' object is not reversible", value_type_name(v));
	}
	ok = op_length(vm, list, &length, err) &&
	     vm_keep(vm, value_iter(ITER_REVERSED, list), out, err);
	if (ok)
		out->iter->position = length.i - 1;
	value_unref(list);
	return ok;
}

/* Python 3.12 sums floats with a running compensation (Neumaier), so that
 * sum([0.1] * 10) is 1.0. */
struct sum {
	struct value total;
	double compensation;
	struct value deferred; /* the same, where a graph computes it; UNSET: it does not */
};

static bool is_float(struct value v)
{
	return v.kind == VALUE_FLOAT || v.kind == VALUE_SYMFLOAT || v.kind == VALUE_SYMREAL;
}

static bool is_any_number(struct value v)
{
	return value_is_number(v) || (value_is_hosted(v) && v.kind != VALUE_TENSOR);
}

/* What t, the rounded sum of a and x, lost: exactly (a - (t - r)) + (x - r), where
 * r is t - a, whichever of a and x is larger. */
static bool lost(struct vm *vm, struct value a, struct value x, struct value t, struct value *out,
		 struct err *err)
{
	struct value r, of_a, of_x;

	return op_binary(vm, BIN_SUB, t, a, &r, err) && op_binary(vm, BIN_SUB, t, r, &of_a, err) &&
	       op_binary(vm, BIN_SUB, a, of_a, &of_a, err) &&
	       op_binary(vm, BIN_SUB, x, r, &of_x, err) &&
	       op_binary(vm, BIN_ADD, of_a, of_x, out, err);
}

/* Floats of which the graph computes some: no references. */
static bool sum_deferred(struct vm *vm, struct sum *s, struct value item, struct err *err)
{
	struct value t, rest;

	if (!op_binary(vm, BIN_ADD, s->total, item, &t, err))
		return false;
	if (s->deferred.kind == VALUE_UNSET && (is_float(item) || s->compensation != 0)) {
		s->deferred = value_float(s->compensation);
		s->compensation = 0;
	}
	if (is_float(item)) {
		if (!lost(vm, s->total, item, t, &rest, err) ||
		    !op_binary(vm, BIN_ADD, s->deferred, rest, &s->deferred, err))
			return false;
	}
	s->total = t;
	return true;
}

/* total + deferred, where deferred is finite and not 0. */
static bool settle_deferred(struct vm *vm, struct sum *s, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct value gap, finite, some, all, deferred = s->deferred;
	bool yes = true, known;

	s->deferred.kind = VALUE_UNSET;
	if (deferred.kind == VALUE_UNSET)
		return true;
	if (!op_binary(vm, BIN_SUB, deferred, deferred, &gap, err) ||
	    !op_compare(vm, CMP_EQ, gap, value_int(0), &finite, err) ||
	    !op_compare(vm, CMP_NE, deferred, value_int(0), &some, err) ||
	    !op_binary(vm, BIN_ADD, s->total, deferred, &all, err))
		return false;
	if (finite.kind == VALUE_DEFERRED_BOOL)
		return op_binary(vm, BIN_AND, finite, some, &some, err) &&
		       host->pick(host->self, &(struct host_choice){ some, all, s->total }, &known,
				  &s->total, err);
	if (!op_truth(vm, finite, &yes, err) || (yes && !op_truth(vm, some, &yes, err)))
		return false;
	if (yes)
		s->total = all;
	return true;
}

static bool sum_add(struct vm *vm, struct sum *s, struct value item, struct err *err)
{
	struct value next;
	double x, t;

	if (vm->host->defers_numbers && is_float(s->total) && is_any_number(item) &&
	    (value_is_hosted(s->total) || value_is_hosted(item)))
		return sum_deferred(vm, s, item, err);
	if (!settle_deferred(vm, s, err))
		return false;
	if (s->total.head == VALUE_FLOAT && value_is_number(item) && !item.scalar) {
		x = value_as_double(item);
		t = s->total.f + x;
		if (item.kind == VALUE_FLOAT)
			s->compensation += fabs(s->total.f) >= fabs(x) ? (s->total.f - t) + x
								       : (x - t) + s->total.f;
		s->total.f = t;
		return true;
	}
	if (s->compensation != 0) { /* the rest is no float: settle */
		s->total.f += isfinite(s->compensation) ? s->compensation : 0;
		s->compensation = 0;
	}
	if (!op_binary(vm, BIN_ADD, s->total, item, &next, err))
		return false;
	value_unref(s->total);
	s->total = next;
	return true;
}

static bool builtin_sum(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	struct sum s = { .total = value_int(0), .deferred = { .kind = VALUE_UNSET } };
	struct value it, item;
	bool more = true, ok = true;

	if (call->n == 2)
		s.total = call->args[1];
	else
		builtin_keyword(call, "start", &s.total);
	if (s.total.kind == VALUE_STR)
		return err_set(err, ERR_TYPE, "sum() can't sum strings [use ''.join(seq) instead]");
	if (!op_iter(vm, call->args[0], &it, err))
		return false;
	value_ref(s.total);
	while (ok) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = vm_spend(vm, 1, err) && sum_add(vm, &s, item, err);
		value_unref(item);
	}
	value_unref(it);
	ok = ok && settle_deferred(vm, &s, err);
	if (!ok) {
		value_unref(s.total);
		return false;
	}
	if (s.compensation != 0 && isfinite(s.compensation))
		s.total.f += s.compensation;
	*out = s.total;
	return true;
}

/* An item whose truth only the host knows: it may answer for all that follow. */
static bool host_may_answer(const struct vm *vm, struct value item)
{
	return vm->host->any && (item.kind == VALUE_TENSOR || value_is_hosted(item));
}

/* any (`wanted` true) and all (false) stop at the first item of that truth. */
static bool look_for(struct vm *vm, struct value items, bool wanted, struct value *out,
		     struct err *err)
{
	struct value it, item;
	bool more = true, truth = !wanted, ok = true, answered = false;

	if (!op_iter(vm, items, &it, err))
		return false;
	while (ok && truth != wanted && !answered) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = vm_spend(vm, 1, err);
		if (ok && host_may_answer(vm, item))
			ok = vm_host_here(vm)->any(vm->host->self,
						   &(struct any_call){ wanted, it, item },
						   &answered, out, err);
		ok = ok && (answered || op_truth(vm, item, &truth, err));
		value_unref(item);
	}
	value_unref(it);
	if (ok && !answered)
		*out = value_bool(truth);
	return ok;
}

static bool builtin_any(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return look_for(vm, call->args[0], true, out, err);
}

static bool builtin_all(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return look_for(vm, call->args[0], false, out, err);
}

struct extreme {
	enum cmpop better;
	struct value key; /* of comparison; None: the item itself */
	struct value best, best_key;
	bool found;
};

static bool may_be_hosted(struct value v)
{
	return value_is_hosted(v) || value_is_number(v) || v.kind == VALUE_TENSOR;
}

/* Numbers, or tensors, of which it is not known yet which is more. */
static bool hosted_extreme(struct vm *vm, struct extreme *e, struct value item, bool *known,
			   struct err *err)
{
	struct vm_host *host = vm_host_here(vm);
	struct value made;

	*known = false;
	if (!host->extreme || !may_be_hosted(item) || !may_be_hosted(e->best))
		return true;
	if (!host->extreme(host->self, e->better == CMP_LT, (struct value[]){ e->best, item },
			   known, &made, err))
		return false;
	if (*known) {
		value_unref(e->best);
		value_unref(e->best_key);
		e->best = made;
		e->best_key = value_ref(made);
	}
	return true;
}

static bool extreme_offer(struct vm *vm, struct extreme *e, struct value item, struct err *err)
{
	struct value rank = value_ref(item), answer;
	bool better = !e->found, ok = true;

	if (e->key.kind != VALUE_NONE) {
		value_unref(rank);
		if (!vm_invoke(vm, e->key, &(struct arguments){ &item, 1, NULL }, &rank, err))
			return false;
	}
	if (e->found && e->key.kind == VALUE_NONE &&
	    (value_is_hosted(e->best) || value_is_hosted(item))) {
		bool known;

		value_unref(rank);
		if (!hosted_extreme(vm, e, item, &known, err))
			return false;
		if (known)
			return true;
		rank = value_ref(item);
	}
	if (e->found) {
		ok = op_compare(vm, e->better, rank, e->best_key, &answer, err);
		if (ok) {
			ok = op_truth(vm, answer, &better, err);
			value_unref(answer);
		}
	}
	if (!ok || !better) {
		value_unref(rank);
		return ok;
	}
	if (e->found) {
		value_unref(e->best);
		value_unref(e->best_key);
	}
	e->best = value_ref(item);
	e->best_key = rank;
	e->found = true;
	return true;
}

static bool extreme_of(struct vm *vm, struct extreme *e, struct value items, struct err *err)
{
	struct value it, item;
	bool more = true, ok = true;

	if (!op_iter(vm, items, &it, err))
		return false;
	while (ok) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		ok = vm_spend(vm, 1, err) && extreme_offer(vm, e, item, err);
		value_unref(item);
	}
	value_unref(it);
	return ok;
}

static bool min_or_max(struct vm *vm, const struct builtin_call *call, enum cmpop better,
		       struct value *out, struct err *err)
{
	struct extreme e = { .better = better, .key = value_none() };
	struct value fallback;
	bool ok = true;

	builtin_keyword(call, "key", &e.key);
	if (call->n > 1 && builtin_keyword(call, "default", &fallback))
		return vm_raise(
		    vm, CLASS_TYPE_ERROR, err,
		    "Cannot specify a default for %s() with multiple positional arguments",
		    call->row->name);
	if (call->n == 1)
		ok = extreme_of(vm, &e, call->args[0], err);
	for (int i = 0; ok && call->n > 1 && i < call->n; i++)
		ok = extreme_offer(vm, &e, call->args[i], err);
	if (ok && e.found)
		*out = value_ref(e.best);
	else if (ok && builtin_keyword(call, "default", &fallback))
		*out = value_ref(fallback);
	else if (ok)
		ok = err_set(err, ERR_VALUE, "%s() arg is an empty sequence", call->row->name);
	if (e.found) {
		value_unref(e.best);
		value_unref(e.best_key);
	}
	return ok;
}

static bool builtin_min(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return min_or_max(vm, call, CMP_LT, out, err);
}

static bool builtin_max(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	return min_or_max(vm, call, CMP_GT, out, err);
}

#define BUILTINS_OF_ITER
const struct builtin iter_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
