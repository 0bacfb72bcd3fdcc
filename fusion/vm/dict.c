/* fusion/vm/dict.c -- equality, hashing and the insertion-ordered dict.
 *
 * Up to 8 entries a dict is scanned; beyond, an open-addressing index maps
 * hashes to positions.  1, 1.0 and True are one key, as in Python, so they
 * must hash alike. */
#include <math.h>

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/value.h"

/* ---- hash(v). ---- */

/* CPython's of numbers: their remainder by 2^61 - 1, the same for equal ones. */
static int64_t hash_of_number(struct value v)
{
	const int64_t modulus = (INT64_C(1) << 61) - 1;
	int64_t n = 0;
	int exponent;
	double m;

	if (value_is_integer(v)) {
		n = value_as_int(v) % modulus;
		return n == -1 ? -2 : n;
	}
	if (isinf(v.f))
		return v.f > 0 ? 314159 : -314159;
	if (isnan(v.f))
		return 0;
	m = fabs(frexp(v.f, &exponent));
	while (m != 0) { /* 28 bits at a time */
		m *= 268435456.0;
		exponent -= 28;
		n = (n << 28 & modulus) | n >> 33;
		n += (int64_t)m;
		m -= (double)(int64_t)m;
		if (n >= modulus)
			n -= modulus;
	}
	exponent = exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61;
	n = (n << exponent & modulus) | n >> (61 - exponent);
	n = v.f < 0 ? -n : n;
	return n == -1 ? -2 : n;
}

/* What an object that derives from str or from numbers is equal to, and hashed as; others are
 * themselves. */
static struct value number_or_text(struct value v)
{
	struct value plain = v.kind == VALUE_INSTANCE ? value_plain(v) : v;

	return plain.kind == VALUE_STR || value_is_number(plain) ? plain : v;
}

bool value_hash(struct vm *vm, struct value v, struct value *out, struct err *err)
{
	struct value key = v;
	bool found;

	if (v.kind == VALUE_INSTANCE) {
		struct value *none;

		if (!class_find(vm, v.instance->class, "__hash__", &none, err))
			return false;
		if (none && none->kind == VALUE_NONE)
			return err_set(err, ERR_TYPE, "unhashable type: '%s'",
				       v.instance->class->name);
		if (!instance_call(vm, &(struct method_call){ &v, "__hash__", NULL, 0 }, out,
				   &found, err))
			return false;
		if (found && out->kind == VALUE_BOOL)
			*out = value_int(out->b);
		if (found && out->kind == VALUE_INT && out->i == -1)
			*out = value_int(-2);
		if (found && (out->kind == VALUE_INT || value_is_hosted(*out)))
			return true;
		if (found) {
			value_unref(*out);
			return vm_raise(vm, CLASS_TYPE_ERROR, err,
					"__hash__ method should return an integer");
		}
	}
	if (!op_make_key(vm, NULL, &key, err))
		return false;
	key = number_or_text(key);
	*out = value_int(value_is_number(key) ? hash_of_number(key)
					      : (int64_t)(value_hash_of(key) >> 3));
	return true;
}

enum { SCAN = 8, DEEPEST = 100 };

static bool as_integer(struct value v, int64_t *out)
{
	switch (v.kind) {
	case VALUE_BOOL:
		*out = v.b;
		return true;
	case VALUE_INT:
		*out = v.i;
		return true;
	case VALUE_FLOAT:
		if (!(v.f >= -0x1p63 && v.f < 0x1p63) || v.f != floor(v.f))
			return false;
		*out = (int64_t)v.f;
		return true;
	default:
		return false;
	}
}

static bool equal(struct value a, struct value b, int depth);

/* "Tensor.add": torch.add is another object. */
static bool is_method_name(const char *name)
{
	return strncmp(name, "Tensor.", strlen("Tensor.")) == 0;
}

static bool equal_items(const struct list *a, const struct list *b, int depth)
{
	if (a->len != b->len)
		return false;
	for (int i = 0; i < a->len; i++)
		if (!equal(a->at[i], b->at[i], depth + 1))
			return false;
	return true;
}

static bool equal_dicts(const struct dict *a, const struct dict *b, int depth)
{
	struct value other;

	if (a->len != b->len)
		return false;
	for (int i = 0; i < a->len; i++)
		if (!value_dict_get(b, a->keys[i], &other) ||
		    !equal(a->values[i], other, depth + 1))
			return false;
	return true;
}

static bool equal_sets(const struct dict *a, const struct dict *b)
{
	struct value none;

	if (a->len != b->len)
		return false;
	for (int i = 0; i < a->len; i++)
		if (!value_dict_get(b, a->keys[i], &none))
			return false;
	return true;
}

static int64_t range_len(const struct range *r)
{
	if (r->step > 0 ? r->start >= r->stop : r->start <= r->stop)
		return 0;
	if (r->step > 0)
		return (int64_t)(((uint64_t)r->stop - (uint64_t)r->start - 1) / (uint64_t)r->step) +
		       1;
	return (int64_t)(((uint64_t)r->start - (uint64_t)r->stop - 1) / -(uint64_t)r->step) + 1;
}

static bool equal_ranges(const struct range *a, const struct range *b)
{
	int64_t n = range_len(a);

	if (n != range_len(b))
		return false;
	return n == 0 || (a->start == b->start && (n == 1 || a->step == b->step));
}

static bool equal_objects(struct value a, struct value b, int depth)
{
	if (a.kind != b.kind)
		return false;
	if (a.object == b.object)
		return true;
	switch (a.kind) {
	case VALUE_STR:
		return a.str->len == b.str->len && a.str->is_device == b.str->is_device &&
		       memcmp(a.str->text, b.str->text, a.str->len) == 0;
	case VALUE_TUPLE:
	case VALUE_LIST:
		return equal_items(a.list, b.list, depth);
	case VALUE_DICT:
		return equal_dicts(a.dict, b.dict, depth);
	case VALUE_SET:
		return equal_sets(a.dict, b.dict);
	case VALUE_METHOD:
		return value_counted(a.method->self) && value_counted(b.method->self) &&
		       a.method->self.object == b.method->self.object &&
		       value_equal(a.method->function, b.method->function);
	case VALUE_RANGE:
		return equal_ranges(a.range, b.range);
	case VALUE_SLICE:
		return equal(a.slice->start, b.slice->start, depth + 1) &&
		       equal(a.slice->stop, b.slice->stop, depth + 1) &&
		       equal(a.slice->step, b.slice->step, depth + 1);
	case VALUE_NATIVE: /* a builtin may be made again by each lookup */
		return a.native->id == b.native->id && a.native->builtin == b.native->builtin &&
		       is_method_name(a.native->name) == is_method_name(b.native->name) &&
		       (!native_is_typing(a.native) ||
			strcmp(a.native->name, b.native->name) == 0) &&
		       a.native->self.kind == b.native->self.kind &&
		       (!value_counted(a.native->self) ||
			a.native->self.object == b.native->self.object);
	case VALUE_MODULE:
		return strcmp(a.module->name, b.module->name) == 0;
	default:
		return false;
	}
}

static bool equal(struct value a, struct value b, int depth)
{
	int64_t i, j;

	if (depth > DEEPEST)
		return false;
	a = number_or_text(a);
	b = number_or_text(b);
	if (a.kind <= VALUE_FLOAT && b.kind <= VALUE_FLOAT && a.kind >= VALUE_BOOL &&
	    b.kind >= VALUE_BOOL) {
		if (a.kind == VALUE_FLOAT && b.kind == VALUE_FLOAT)
			return a.f == b.f;
		return as_integer(a, &i) && as_integer(b, &j) && i == j;
	}
	if (value_counted(a))
		return equal_objects(a, b, depth);
	if (a.kind != b.kind)
		return false;
	switch (a.kind) {
	case VALUE_DTYPE:
		return a.dtype == b.dtype;
	case VALUE_SYMINT:
		return a.sym == b.sym;
	case VALUE_SYMBOOL:
		return a.condition == b.condition;
	case VALUE_SYMREAL:
		return a.real == b.real;
	case VALUE_SYMFLOAT:
	case VALUE_DEFERRED_INT:
	case VALUE_DEFERRED_BOOL:
	case VALUE_DEFERRED_TEXT:
		return a.i == b.i;
	default:
		return true; /* None, Ellipsis */
	}
}

bool value_equal(struct value a, struct value b)
{
	return equal(a, b, 0);
}

static bool hashable(struct value v, int depth)
{
	switch (v.kind) {
	case VALUE_LIST:
	case VALUE_DICT:
	case VALUE_SLICE:
		return false;
	case VALUE_SET:
		return v.dict->frozen;
	case VALUE_TUPLE:
		if (depth > DEEPEST)
			return false;
		for (int i = 0; i < v.list->len; i++)
			if (!hashable(v.list->at[i], depth + 1))
				return false;
		return true;
	default:
		return true;
	}
}

bool value_hashable(struct value v)
{
	return hashable(v, 0);
}

static uint64_t hash(struct value v, int depth)
{
	uint64_t h = 0x9e3779b97f4a7c15u;
	int64_t i;

	v = number_or_text(v);
	if (as_integer(v, &i))
		return hash_bytes(&i, sizeof(i), 1);
	switch (v.kind) {
	case VALUE_FLOAT:
		return hash_bytes(&v.f, sizeof(v.f), 2);
	case VALUE_STR:
		return hash_bytes(v.str->text, v.str->len, 3);
	case VALUE_TUPLE:
		for (int k = 0; k < v.list->len && depth <= DEEPEST; k++)
			h = hash_bytes(&h, sizeof(h), hash(v.list->at[k], depth + 1));
		return h;
	case VALUE_FUNCTION:
	case VALUE_TENSOR:
	case VALUE_ITER:
	case VALUE_CELL:
	case VALUE_CLASS:
	case VALUE_INSTANCE:
		return hash_bytes(&v.object, sizeof(v.object), 4);
	default: /* few of a kind: equality tells them apart */
		return h + (uint64_t)v.kind;
	}
}

uint64_t value_hash_of(struct value v)
{
	return hash(v, 0);
}

/* The slot of `key` in the index: its entry's, or the free one that ends the
 * search. */
static int slot_of(const struct dict *dict, struct value key)
{
	unsigned mask = (unsigned)dict->index_cap - 1;
	unsigned slot = (unsigned)hash(key, 0) & mask;

	while (dict->index[slot] >= 0 && !value_equal(dict->keys[dict->index[slot]], key))
		slot = (slot + 1) & mask;
	return (int)slot;
}

static int find(const struct dict *dict, struct value key)
{
	if (dict->index)
		return dict->index[slot_of(dict, key)];
	for (int i = 0; i < dict->len; i++)
		if (value_equal(dict->keys[i], key))
			return i;
	return -1;
}

static void fill_index(struct dict *dict)
{
	memset(dict->index, 0xff, sizeof(int) * (size_t)dict->index_cap);
	for (int i = 0; i < dict->len; i++)
		dict->index[slot_of(dict, dict->keys[i])] = i;
}

/* Room for `cap` entries and an index at most half full. */
static bool grow(struct dict *dict, int cap)
{
	int index_cap = cap > SCAN ? 4 : 0;
	size_t more;
	struct value *keys, *values;
	int *index = NULL;

	while (index_cap && index_cap < 2 * cap)
		index_cap *= 2;
	more = 2 * sizeof(struct value) * (size_t)(cap - dict->cap) +
	       sizeof(int) * (size_t)(index_cap - dict->index_cap);
	if (dict->head.heap && !heap_charge(dict->head.heap, more))
		return false;
	keys = realloc(dict->keys, sizeof(*keys) * (size_t)cap);
	if (keys)
		dict->keys = keys;
	values = realloc(dict->values, sizeof(*values) * (size_t)cap);
	if (values)
		dict->values = values;
	if (index_cap)
		index = malloc(sizeof(int) * (size_t)index_cap);
	if (!keys || !values || (index_cap && !index)) {
		free(index);
		if (dict->head.heap)
			heap_uncharge(dict->head.heap, more);
		return false;
	}
	dict->cap = cap;
	if (index_cap) {
		free(dict->index);
		dict->index = index;
		dict->index_cap = index_cap;
		fill_index(dict);
	}
	return true;
}

bool value_dict_set(struct dict *dict, struct value key, struct value v)
{
	int at = find(dict, key);
	struct value old;

	if (at >= 0) {
		old = dict->values[at];
		dict->values[at] = value_ref(v);
		value_unref(old);
		return true;
	}
	if (dict->len == dict->cap &&
	    (dict->cap > (1 << 28) || !grow(dict, dict->cap ? dict->cap * 2 : 4)))
		return false;
	if (dict->index)
		dict->index[slot_of(dict, key)] = dict->len;
	dict->keys[dict->len] = value_ref(key);
	dict->values[dict->len] = value_ref(v);
	if (key.kind == VALUE_STR)
		dict->texts |= name_bit(key.str->text, key.str->len);
	dict->len++;
	return true;
}

bool value_dict_get(const struct dict *dict, struct value key, struct value *out)
{
	int at = find(dict, key);

	if (at < 0)
		return false;
	*out = dict->values[at];
	return true;
}

struct value *value_dict_place(struct dict *dict, struct value key)
{
	int at = find(dict, key);

	return at < 0 ? NULL : &dict->values[at];
}

static inline bool is_text(struct value key, const char *text, size_t len)
{
	return key.kind == VALUE_STR && key.str->len == len &&
	       memcmp(key.str->text, text, len) == 0;
}

static __attribute__((noinline)) struct value *find_by_hash(struct dict *dict, const char *text,
							    size_t len)
{
	unsigned mask = (unsigned)dict->index_cap - 1;
	unsigned slot = (unsigned)hash_bytes(text, len, 3) & mask;

	for (; dict->index[slot] >= 0; slot = (slot + 1) & mask)
		if (is_text(dict->keys[dict->index[slot]], text, len))
			return &dict->values[dict->index[slot]];
	return NULL;
}

struct value *value_dict_find(struct dict *dict, const char *text)
{
	size_t len = strlen(text);

	if (!(dict->texts & name_bit(text, len)))
		return NULL;
	if (__builtin_expect(dict->index != NULL, 0))
		return find_by_hash(dict, text, len);
	for (int i = 0; i < dict->len; i++)
		if (is_text(dict->keys[i], text, len))
			return &dict->values[i];
	return NULL;
}

bool value_dict_remove(struct dict *dict, struct value key)
{
	int at = find(dict, key);
	struct value old_key, old;
	size_t rest;

	if (at < 0)
		return false;
	old_key = dict->keys[at];
	old = dict->values[at];
	rest = sizeof(struct value) * (size_t)(dict->len - at - 1);
	memmove(dict->keys + at, dict->keys + at + 1, rest);
	memmove(dict->values + at, dict->values + at + 1, rest);
	dict->len--;
	if (dict->index)
		fill_index(dict);
	value_unref(old_key);
	value_unref(old);
	return true;
}
