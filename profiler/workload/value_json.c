/* profiler/workload/value_json.c -- the bridge between Jansson and struct value.
 *
 * float32 goes out with the 9 digits that identify it, not with the 17 of the
 * double that holds it; both read back as the same float.
 */
#include "profiler/workload/value_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/fusion.h"
#include "profiler/workload/bulk.h"
#include "profiler/workload/spec.h"

enum { MAX_VALUE_DEPTH = 100, MAX_VALUES = 100 * 1000 }; /* of an output or argument */

static const struct value unset = { .kind = VALUE_UNSET };

static void store(struct tensor *t, int64_t i, const json_t *item)
{
	double number = 0;

	switch (dtype_category(t->dtype)) {
	case CATEGORY_BOOL:
		dtype_put_int(t->dtype, fusion_tensor_data(t), i,
			      json_is_true(item) || json_integer_value(item));
		return;
	case CATEGORY_INT:
		dtype_put_int(t->dtype, fusion_tensor_data(t), i, json_integer_value(item));
		return;
	case CATEGORY_FLOAT:
		spec_number(item, &number);
		dtype_put_double(t->dtype, fusion_tensor_data(t), i, number);
		return;
	}
}

/* What makes a value: where its tensors lie, and what its expressions are for. */
struct value_maker {
	struct allocator *a;
	const struct value_scope *scope; /* NULL: the spec has no expressions */
};

static struct value tensor_from_json(const json_t *spec, const struct value_maker *m,
				     struct err *err)
{
	struct spec_tensor s;
	struct tensor *t;
	struct value v;

	if (!spec_tensor(spec, "input", &s, err))
		return unset;
	t = tensor_create(m->a, s.dtype, s.rank, s.size, err);
	if (!t)
		return unset;
	if (!s.data)
		random_fill(&s.random, s.dtype, fusion_tensor_data(t), s.numel, 0);
	else
		for (int64_t i = 0; i < s.numel; i++)
			store(t, i, json_array_get(s.data, (size_t)i));
	v = fusion_value(t);
	tensor_unref(t);
	if (v.kind == VALUE_UNSET) {
		err_set(err, ERR_MEMORY, "out of memory for an input");
		return unset;
	}
	*fusion_dynamic_dims(v) = s.dynamic_dims;
	if (!s.requires_grad || !m->scope || fusion_require_grad(m->scope->session, v, err))
		return v;
	value_unref(v);
	return unset;
}

static struct value scalar_from_json(const json_t *json)
{
	if (json_is_null(json))
		return value_none();
	if (json_is_boolean(json))
		return value_bool(json_is_true(json));
	if (json_is_integer(json))
		return value_int(json_integer_value(json));
	if (json_is_real(json))
		return value_float(json_real_value(json));
	return value_str(json_string_value(json), json_string_length(json));
}

static struct value from_json(const json_t *spec, const struct value_maker *m, struct err *err);

static struct value items_from_json(const json_t *items, bool tuple, const struct value_maker *m,
				    struct err *err)
{
	size_t n = json_array_size(items), made = 0;
	struct value *at = calloc(n + 1, sizeof(*at));
	struct value v = unset;

	if (!at) {
		err_set(err, ERR_MEMORY, "out of memory for an input");
		return unset;
	}
	for (; made < n; made++) {
		at[made] = from_json(json_array_get(items, made), m, err);
		if (at[made].kind == VALUE_UNSET)
			break;
	}
	if (made == n)
		v = tuple ? value_tuple(at, (int)n) : value_list(at, (int)n);
	for (size_t i = 0; i < made; i++)
		value_unref(at[i]);
	free(at);
	return v;
}

static struct value dict_from_json(const json_t *items, const struct value_maker *m,
				   struct err *err)
{
	struct value dict = value_dict();
	const char *key;
	json_t *item;

	if (dict.kind == VALUE_UNSET)
		return dict;
	json_object_foreach((json_t *)items, key, item)
	{
		struct value name = value_str(key, strlen(key));
		struct value v = from_json(item, m, err);
		bool ok = name.kind != VALUE_UNSET && v.kind != VALUE_UNSET &&
			  value_dict_set(dict.dict, name, v);

		value_unref(name);
		value_unref(v);
		if (!ok) {
			value_unref(dict);
			return unset;
		}
	}
	return dict;
}

static struct value evaluate(const char *text, const struct value_maker *m, struct err *err)
{
	const struct value_scope *scope = m->scope;
	struct fusion_expression e = { .text = text };
	struct value v = unset;

	if (!scope) {
		err_set(err, ERR_WORKLOAD, "an expression cannot be evaluated here");
		return unset;
	}
	e.label = scope->label;
	e.seed = scope->seed;
	e.with_n = scope->with_n;
	e.n = scope->n;
	return fusion_evaluate(scope->session, &e, &v, err) ? v : unset;
}

static struct value from_json(const json_t *spec, const struct value_maker *m, struct err *err)
{
	json_t *inner;

	if (spec_is_tensor(spec))
		return tensor_from_json(spec, m, err);
	if ((inner = json_object_get(spec, "python")))
		return evaluate(json_string_value(inner), m, err);
	if ((inner = json_object_get(spec, "tuple")))
		return items_from_json(inner, true, m, err);
	if ((inner = json_object_get(spec, "list")))
		return items_from_json(inner, false, m, err);
	if ((inner = json_object_get(spec, "dict")))
		return dict_from_json(inner, m, err);
	return scalar_from_json(json_object_get(spec, "value"));
}

struct value value_from_json(const json_t *spec, struct allocator *a, struct err *err)
{
	return from_json(spec, &(struct value_maker){ .a = a }, err);
}

struct value value_in_scope(const json_t *spec, struct allocator *a,
			    const struct value_scope *scope, struct err *err)
{
	return from_json(spec, &(struct value_maker){ a, scope }, err);
}

/* Whether the elements lie one after another, in some order of the dimensions. */
static bool is_dense(const struct tensor *t)
{
	int64_t expected = 1;
	unsigned taken = 0;

	for (int k = 0; k < t->rank; k++) {
		int next = -1;

		for (int d = 0; d < t->rank && next < 0; d++)
			if (!(taken >> d & 1) && t->stride[d] == expected)
				next = d;
		if (next < 0)
			return false;
		taken |= 1u << next;
		expected *= t->size[next];
	}
	return true;
}

static struct value copy_tensor(struct value original, struct allocator *a, struct err *err)
{
	const struct tensor *from = fusion_tensor(original);
	struct tensor *t = tensor_create(a, from->dtype, from->rank, from->size, err);
	struct value v;

	if (!t)
		return unset;
	if (!tensor_contiguous(from) && is_dense(from))
		memcpy(t->stride, from->stride, sizeof(t->stride));
	tensor_copy(t, from);
	v = fusion_value(t);
	tensor_unref(t);
	if (v.kind == VALUE_UNSET)
		err_set(err, ERR_MEMORY, "out of memory for an input");
	else
		*fusion_dynamic_dims(v) = *fusion_dynamic_dims(original);
	return v;
}

static struct value copy_items(struct value v, struct allocator *a, struct err *err)
{
	struct value *at = calloc((size_t)value_length(v) + 1, sizeof(*at));
	struct value copy = unset;
	int made = 0;

	for (; at && made < value_length(v); made++) {
		at[made] = value_copy(value_item(v, made), a, err);
		if (at[made].kind == VALUE_UNSET)
			break;
	}
	if (at && made == value_length(v))
		copy = v.kind == VALUE_TUPLE ? value_tuple(at, made) : value_list(at, made);
	for (int i = 0; at && i < made; i++)
		value_unref(at[i]);
	free(at);
	return copy;
}

struct value value_copy(struct value v, struct allocator *a, struct err *err)
{
	struct value dict;

	if (v.kind == VALUE_TENSOR)
		return copy_tensor(v, a, err);
	if (v.kind == VALUE_TUPLE || v.kind == VALUE_LIST)
		return copy_items(v, a, err);
	if (v.kind != VALUE_DICT)
		return value_ref(v);
	dict = value_dict();
	for (int i = 0; dict.kind != VALUE_UNSET && i < value_length(v); i++) {
		struct value item = value_copy(value_item(v, i), a, err);
		bool ok = item.kind != VALUE_UNSET &&
			  value_dict_set(dict.dict, value_key(v, i), item);

		value_unref(item);
		if (!ok) {
			value_unref(dict);
			return unset;
		}
	}
	return dict;
}

static bool shares_tensor(struct value v, int depth)
{
	bool shares = false;

	if (!value_counted(v))
		return false;
	if (v.kind == VALUE_TENSOR || v.object->refs > 1 || depth > MAX_VALUE_DEPTH)
		return v.kind == VALUE_TENSOR && v.object->refs > 1;
	for (int i = 0; !shares && i < value_length(v); i++)
		shares = shares_tensor(value_item(v, i), depth + 1);
	return shares;
}

bool value_shares_tensor(struct value v)
{
	return shares_tensor(v, 0);
}

static bool refill(struct value to, struct value from, int depth)
{
	struct value a = value_attributes(to), b = value_attributes(from);
	bool ok = to.kind == from.kind && value_length(to) == value_length(from);

	if (ok && to.kind == VALUE_TENSOR) {
		if (!value_alike(to, from))
			return false;
		tensor_copy(fusion_tensor(to), fusion_tensor(from));
		return true;
	}
	if (ok && a.kind == VALUE_DICT && b.kind == VALUE_DICT && depth < MAX_VALUE_DEPTH)
		return refill(a, b, depth + 1);
	for (int i = 0; ok && i < value_length(to) && depth < MAX_VALUE_DEPTH; i++)
		ok = refill(value_item(to, i), value_item(from, i), depth + 1);
	return ok && (to.kind != VALUE_INT || to.i == from.i) &&
	       (to.kind != VALUE_STR || value_equal(to, from));
}

bool value_refill(struct value to, struct value from)
{
	return refill(to, from, 0);
}

static bool leaves(struct fusion_session *session, struct value copy, struct value original,
		   int depth, struct err *err)
{
	int n = value_length(copy);

	if (copy.kind == VALUE_TENSOR)
		return !fusion_requires_grad(original) || fusion_require_grad(session, copy, err);
	for (int i = 0; i < n && i < value_length(original) && depth < MAX_VALUE_DEPTH; i++)
		if (!leaves(session, value_item(copy, i), value_item(original, i), depth + 1, err))
			return false;
	return true;
}

bool value_mark_leaves(struct fusion_session *session, struct value copy, struct value original,
		       struct err *err)
{
	return leaves(session, copy, original, 0, err);
}

/* Counts what a walk meets, shared parts each time, and stops at a limit. */
static bool walk(struct value v, int depth, int *left)
{
	int n = value_length(v);

	if (depth > MAX_VALUE_DEPTH || --*left < 0)
		return false;
	for (int i = 0; i < n; i++)
		if (!walk(value_item(v, i), depth + 1, left))
			return false;
	return true;
}

bool value_walkable(struct value v, const char *what, struct err *err)
{
	int left = MAX_VALUES;

	if (walk(v, 1, &left))
		return true;
	if (left < 0)
		return err_set(err, ERR_BOUND, "%s has over %d values; return fewer", what,
			       MAX_VALUES);
	return err_set(err, ERR_BOUND, "%s is nested over %d deep; return it flat", what,
		       MAX_VALUE_DEPTH);
}

static json_t *number_to_json(double x, bool narrow)
{
	char text[32];

	if (isnan(x))
		return json_string("nan");
	if (isinf(x))
		return json_string(x > 0 ? "inf" : "-inf");
	if (!narrow)
		return json_real(x);
	snprintf(text, sizeof(text), "%.9g", x);
	return json_real(strtod(text, NULL));
}

static json_t *element_to_json(const struct tensor *t, int64_t i)
{
	switch (dtype_category(t->dtype)) {
	case CATEGORY_BOOL:
		return json_boolean(tensor_get_int(t, i) != 0);
	case CATEGORY_INT:
		return json_integer(tensor_get_int(t, i));
	case CATEGORY_FLOAT:
		break;
	}
	return number_to_json(tensor_get_double(t, i), t->dtype != DTYPE_F64);
}

static void summarise(json_t *fields, const struct tensor *t)
{
	struct bulk_summary all;
	char text[20];

	if (!bulk_summarise(t, 0, &all))
		return;
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)all.hash);
	json_object_set_new(fields, "sum", number_to_json(all.sum, false));
	json_object_set_new(fields, "hash", json_string(text));
}

static json_t *tensor_to_json(const struct tensor *t, bool whole)
{
	json_t *fields = json_object(), *shape = json_array(), *data;
	int64_t numel = tensor_numel(t);

	for (int d = 0; d < t->rank; d++)
		json_array_append_new(shape, json_integer(t->size[d]));
	json_object_set_new(fields, "shape", shape);
	json_object_set_new(fields, "dtype", json_string(dtype_name(t->dtype)));
	if (!whole && numel > VALUE_JSON_MAX_ELEMENTS) {
		summarise(fields, t);
		return json_pack("{s:o}", "tensor", fields);
	}
	data = json_array();
	for (int64_t i = 0; i < numel; i++)
		json_array_append_new(data, element_to_json(t, i));
	json_object_set_new(fields, "data", data);
	return json_pack("{s:o}", "tensor", fields);
}

static json_t *repr_to_json(struct value v)
{
	struct buf text;
	json_t *json;

	buf_init(&text, 4096);
	value_print(&text, v, false);
	json = json_pack("{s:s}", "repr", text.data ? text.data : "");
	buf_finish(&text);
	return json;
}

/* Whether it is a text with a zero byte, which JSON may not hold for those who read it in C: it is
 * given as Python's repr. */
static bool has_zero(struct value v)
{
	size_t len;
	const char *text = v.kind == VALUE_STR ? value_text(v, &len) : NULL;

	return text && strlen(text) < len;
}

static json_t *dict_to_json(struct value dict, bool whole)
{
	json_t *items = json_object();

	for (int i = 0; i < value_length(dict); i++) {
		struct buf key;

		buf_init(&key, 4096);
		value_print(&key, value_plain(value_key(dict, i)), !has_zero(value_key(dict, i)));
		json_object_set_new(items, key.data ? key.data : "",
				    value_to_json(value_item(dict, i), whole));
		buf_finish(&key);
	}
	return json_pack("{s:o}", "dict", items);
}

static json_t *text_to_json(struct value v)
{
	size_t len;
	const char *text = value_text(v, &len);

	return json_stringn_nocheck(text, len);
}

json_t *value_to_json(struct value v, bool whole)
{
	json_t *items;

	v = value_plain(v);
	switch (v.kind) {
	case VALUE_TENSOR:
		return tensor_to_json(fusion_tensor(v), whole);
	case VALUE_NONE:
		return json_pack("{s:n}", "value");
	case VALUE_BOOL:
		return json_pack("{s:b}", "value", v.b);
	case VALUE_INT:
		return json_pack("{s:I}", "value", (json_int_t)v.i);
	case VALUE_FLOAT:
		return json_pack("{s:o}", "value", number_to_json(v.f, false));
	case VALUE_STR:
		return has_zero(v) ? repr_to_json(v) : json_pack("{s:o}", "value", text_to_json(v));
	case VALUE_DICT:
		return dict_to_json(v, whole);
	case VALUE_TUPLE:
	case VALUE_LIST:
		items = json_array();
		for (int i = 0; i < value_length(v); i++)
			json_array_append_new(items, value_to_json(value_item(v, i), whole));
		return json_pack("{s:o}", v.kind == VALUE_TUPLE ? "tuple" : "list", items);
	default:
		return repr_to_json(v);
	}
}

static bool same_sizes(const struct tensor *a, const struct tensor *b)
{
	return a->rank == b->rank &&
	       memcmp(a->size, b->size, (size_t)a->rank * sizeof(a->size[0])) == 0;
}

static bool tensor_alike(const struct tensor *a, const struct tensor *b)
{
	return a->dtype == b->dtype && same_sizes(a, b);
}

bool value_alike(struct value a, struct value b)
{
	return a.kind == VALUE_TENSOR && b.kind == VALUE_TENSOR &&
	       tensor_alike(fusion_tensor(a), fusion_tensor(b));
}

static double tensor_distance(const struct tensor *a, const struct tensor *b)
{
	int64_t numel = tensor_numel(a);
	double most = 0;

	if (a->dtype == b->dtype && tensor_same_on_device(a, b))
		return 0;
	if (a->dtype == b->dtype && numel > 0 && tensor_contiguous(a) && tensor_contiguous(b) &&
	    bulk_same(fusion_tensor_read(a), fusion_tensor_read(b),
		      numel * (int64_t)dtype_bytes(a->dtype), 0))
		return 0;
	for (int64_t i = 0; i < numel; i++) {
		double x = tensor_get_double(a, i), y = tensor_get_double(b, i);

		if (x == y || (isnan(x) && isnan(y)))
			continue;
		if (isnan(x) || isnan(y))
			return (double)NAN;
		most = fmax(most, fabs(x - y));
	}
	return most;
}

static bool is_number(struct value v)
{
	return v.kind == VALUE_BOOL || v.kind == VALUE_INT || v.kind == VALUE_FLOAT;
}

static double as_number(struct value v)
{
	return v.kind == VALUE_FLOAT ? v.f : v.kind == VALUE_INT ? (double)v.i : (double)v.b;
}

enum { MAX_INSTANCE_DEPTH = 16 }; /* they may hold one another */

/* `depth`: of instances that it is in. */
static double distance(struct value a, struct value b, bool any_dtype, int depth)
{
	double most = 0;
	bool list = a.kind == VALUE_TUPLE || a.kind == VALUE_LIST;
	int n;

	if (a.kind != b.kind)
		return (double)NAN;
	if (a.kind == VALUE_TENSOR)
		return (any_dtype ? same_sizes : tensor_alike)(fusion_tensor(a), fusion_tensor(b))
			   ? tensor_distance(fusion_tensor(a), fusion_tensor(b))
			   : (double)NAN;
	if (is_number(a)) {
		double x = as_number(a), y = as_number(b);

		return x == y || (isnan(x) && isnan(y)) ? 0 : fabs(x - y);
	}
	if (a.kind == VALUE_INSTANCE && a.object != b.object) {
		a = value_attributes(a);
		b = value_attributes(b);
		if (a.kind != b.kind)
			return (double)NAN;
		depth++;
	}
	if ((!list && a.kind != VALUE_DICT) || depth > MAX_INSTANCE_DEPTH)
		return 0;
	n = value_length(a);
	if (n != value_length(b))
		return (double)NAN;
	for (int i = 0; i < n; i++) {
		double d = distance(value_item(a, i), value_item(b, i), any_dtype, depth);

		if (isnan(d))
			return d;
		most = fmax(most, d);
	}
	return most;
}

double value_distance(struct value a, struct value b, bool any)
{
	return distance(a, b, any, 0);
}

bool value_same(struct value a, struct value b)
{
	if (a.kind == VALUE_STR && b.kind == VALUE_STR)
		return value_equal(a, b);
	return value_distance(a, b, false) == 0;
}
