/* profiler/workload/spec.c -- reads and bounds the value specs of a workload.
 *
 * Every message opens with the path of the field, since a workload is written
 * by programs as often as by people.
 */
#include "profiler/workload/spec.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fusion/fusion.h"

enum { PATH_BYTES = 160 };

bool spec_number(const json_t *json, double *out)
{
	const char *text = json_string_value(json);

	if (json_is_number(json))
		*out = json_number_value(json);
	else if (text && strcmp(text, "nan") == 0)
		*out = (double)NAN;
	else if (text && strcmp(text, "inf") == 0)
		*out = (double)INFINITY;
	else if (text && strcmp(text, "-inf") == 0)
		*out = -(double)INFINITY;
	else
		return false;
	return true;
}

/* The only key of an object, NULL where it has none or several. */
static const char *only_key(const json_t *json)
{
	void *iter = json_object_iter((json_t *)json);

	return json_object_size(json) == 1 && iter ? json_object_iter_key(iter) : NULL;
}

static bool known_fields(const json_t *fields, const char *path, const char *const *known,
			 struct err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)fields, key, value)
	{
		bool found = false;

		for (int i = 0; known[i] && !found; i++)
			found = strcmp(key, known[i]) == 0;
		if (!found)
			return err_set(err, ERR_WORKLOAD, "%s has an unknown field '%.60s'", path,
				       key);
	}
	return true;
}

const char *spec_dtypes(char *out, size_t out_bytes)
{
	size_t len = 0;

	out[0] = '\0';
	for (int i = 0; i < DTYPE_COUNT && len < out_bytes; i++)
		len += (size_t)snprintf(out + len, out_bytes - len, "%s%s", i ? ", " : "",
					dtype_name((enum dtype)i));
	return out;
}

static bool read_dtype(const json_t *fields, const char *path, enum dtype *out, struct err *err)
{
	const json_t *json = json_object_get(fields, "dtype");
	const char *name = json_string_value(json);
	char known[PATH_BYTES];

	*out = DTYPE_F32;
	if (!json)
		return true;
	if (name && strncmp(name, "torch.", 6) == 0)
		name += 6;
	if (!name || !dtype_from_name(name, out))
		return err_set(err, ERR_WORKLOAD,
			       "%s.dtype: '%.40s' is not available in this version; it has %s",
			       path, name ? name : "(not a string)",
			       spec_dtypes(known, sizeof(known)));
	return true;
}

static bool read_shape(const json_t *fields, const char *path, struct spec_tensor *out,
		       struct err *err)
{
	const json_t *shape = json_object_get(fields, "shape");

	if (!json_is_array(shape))
		return err_set(err, ERR_WORKLOAD, "%s.shape must be a list of sizes, as [8, 16]",
			       path);
	if (json_array_size(shape) > MAX_RANK)
		return err_set(err, ERR_BOUND, "%s.shape has %zu dimensions; the limit is %d", path,
			       json_array_size(shape), MAX_RANK);
	out->rank = (int)json_array_size(shape);
	out->numel = 1;
	for (int d = 0; d < out->rank; d++) {
		const json_t *size = json_array_get(shape, (size_t)d);

		out->size[d] = json_integer_value(size);
		if (!json_is_integer(size) || out->size[d] < 0)
			return err_set(err, ERR_WORKLOAD, "%s.shape[%d] must be an integer >= 0",
				       path, d);
	}
	for (int d = 0; d < out->rank; d++)
		if (__builtin_mul_overflow(out->numel, out->size[d], &out->numel) ||
		    out->numel > (int64_t)1 << SPEC_MAX_ELEMENTS_LOG2)
			return err_set(err, ERR_BOUND,
				       "%s.shape asks for more than 2^31 = 2,147,483,648 elements, "
				       "the limit of one tensor; make it smaller",
				       path);
	return true;
}

/* [0, -1]: dims that are symbols from the first compilation on. */
static bool read_dynamic(const json_t *fields, const char *path, struct spec_tensor *out,
			 struct err *err)
{
	const json_t *dims = json_object_get(fields, "dynamic_dims");
	size_t i;
	json_t *dim;

	if (!dims || json_is_null(dims))
		return true;
	if (!json_is_array(dims))
		return err_set(err, ERR_WORKLOAD,
			       "%s.dynamic_dims must be a list of dimensions, as [0]", path);
	json_array_foreach((json_t *)dims, i, dim)
	{
		json_int_t d = json_integer_value(dim);

		if (!json_is_integer(dim) || d < -out->rank || d >= out->rank)
			return err_set(err, ERR_WORKLOAD,
				       "%s.dynamic_dims[%zu] must be a dimension of the shape, "
				       "from %d to %d",
				       path, i, -out->rank, out->rank - 1);
		out->dynamic_dims |= 1u << (d < 0 ? d + out->rank : d);
	}
	return true;
}

static bool read_leaf(const json_t *fields, const char *path, struct spec_tensor *out,
		      struct err *err)
{
	const json_t *leaf = json_object_get(fields, "requires_grad");

	out->requires_grad = json_is_true(leaf);
	if (leaf && !json_is_null(leaf) && !json_is_boolean(leaf))
		return err_set(err, ERR_WORKLOAD,
			       "%s.requires_grad must be true or false: whether the program may "
			       "ask for its gradient",
			       path);
	return !out->requires_grad || dtype_category(out->dtype) == CATEGORY_FLOAT ||
	       err_set(err, ERR_WORKLOAD,
		       "%s.requires_grad: only Tensors of floating point and complex dtype can "
		       "require gradients; %s cannot",
		       path, dtype_name(out->dtype));
}

static bool data_fits(const json_t *item, enum dtype dtype)
{
	double number;

	switch (dtype_category(dtype)) {
	case CATEGORY_BOOL:
		return json_is_boolean(item) || json_is_integer(item);
	case CATEGORY_INT:
		return json_is_integer(item);
	case CATEGORY_FLOAT:
		return spec_number(item, &number);
	}
	return false;
}

static bool read_data(const json_t *fields, const char *path, struct spec_tensor *out,
		      struct err *err)
{
	size_t i;
	json_t *item;

	out->data = json_object_get(fields, "data");
	if (!json_is_array(out->data))
		return err_set(err, ERR_WORKLOAD, "%s.data must be a list of numbers, row-major",
			       path);
	if ((int64_t)json_array_size(out->data) != out->numel)
		return err_set(err, ERR_WORKLOAD,
			       "%s.data has %zu numbers, but its shape holds %" PRId64, path,
			       json_array_size(out->data), out->numel);
	json_array_foreach((json_t *)out->data, i, item)
	{
		if (!data_fits(item, out->dtype))
			return err_set(err, ERR_WORKLOAD,
				       "%s.data[%zu] is not a number that %s can hold", path, i,
				       dtype_name(out->dtype));
	}
	return true;
}

static bool read_bounds(const json_t *fields, const char *path, struct random *r, struct err *err)
{
	const json_t *low = json_object_get(fields, "low"), *high = json_object_get(fields, "high");

	r->low = 0;
	r->high = r->kind == RANDOM_RANDINT ? 10 : 1;
	if (low && !json_is_null(low) && (!spec_number(low, &r->low) || !isfinite(r->low)))
		return err_set(err, ERR_WORKLOAD, "%s.low must be a finite number", path);
	if (high && !json_is_null(high) && (!spec_number(high, &r->high) || !isfinite(r->high)))
		return err_set(err, ERR_WORKLOAD, "%s.high must be a finite number", path);
	if ((r->kind == RANDOM_RAND || r->kind == RANDOM_RANDINT) && !(r->low < r->high))
		return err_set(err, ERR_WORKLOAD, "%s: low (%g) must be below high (%g)", path,
			       r->low, r->high);
	if (r->kind == RANDOM_RANDINT &&
	    (r->low != floor(r->low) || r->high != floor(r->high) || r->high - r->low > 0x1p32 ||
	     fabs(r->low) > 0x1p53 || fabs(r->high) > 0x1p53))
		return err_set(err, ERR_WORKLOAD,
			       "%s: low and high of randint must be integers at most 2^32 apart",
			       path);
	return true;
}

static bool read_random(const json_t *fields, const char *path, struct spec_tensor *out,
			struct err *err)
{
	const json_t *kind = json_object_get(fields, "kind");
	const json_t *seed = json_object_get(fields, "seed");
	const char *name = kind ? json_string_value(kind) : "randn";

	if (!name || !random_kind_from_name(name, &out->random.kind))
		return err_set(err, ERR_WORKLOAD,
			       "%s.kind '%.40s' is unknown; there are randn, rand, randint, zeros, "
			       "ones and arange",
			       path, name ? name : "(not a string)");
	if (seed && !json_is_integer(seed))
		return err_set(err, ERR_WORKLOAD, "%s.seed must be an integer", path);
	out->random.seed = (uint64_t)json_integer_value(seed);
	if ((out->random.kind == RANDOM_RANDN || out->random.kind == RANDOM_RAND) &&
	    dtype_category(out->dtype) != CATEGORY_FLOAT)
		return err_set(err, ERR_WORKLOAD,
			       "%s: %s makes fractions, which %s cannot hold; use randint", path,
			       name, dtype_name(out->dtype));
	return read_bounds(fields, path, &out->random, err);
}

bool spec_tensor(const json_t *spec, const char *path, struct spec_tensor *out, struct err *err)
{
	static const char *const of_tensor[] = { "shape",        "dtype",         "data",
						 "dynamic_dims", "requires_grad", NULL };
	static const char *const of_random[] = { "shape",        "dtype",         "kind",
						 "seed",         "low",           "high",
						 "dynamic_dims", "requires_grad", NULL };
	const json_t *fields = json_object_get(spec, "tensor");
	bool random = !fields;
	char where[PATH_BYTES];

	*out = (struct spec_tensor){ 0 };
	if (random)
		fields = json_object_get(spec, "random");
	snprintf(where, sizeof(where), "%s.%s", path, random ? "random" : "tensor");
	if (!json_is_object(fields))
		return err_set(err, ERR_WORKLOAD, "%s must be an object with a shape", where);
	if (!known_fields(fields, where, random ? of_random : of_tensor, err) ||
	    !read_dtype(fields, where, &out->dtype, err) || !read_shape(fields, where, out, err) ||
	    !read_dynamic(fields, where, out, err) || !read_leaf(fields, where, out, err))
		return false;
	return random ? read_random(fields, where, out, err) : read_data(fields, where, out, err);
}

static bool check(const json_t *spec, const char *path, int depth, int64_t *bytes, struct err *err);

static bool check_items(const json_t *items, const char *path, int depth, int64_t *bytes,
			struct err *err)
{
	char where[PATH_BYTES];
	size_t i;
	json_t *item;

	if (!json_is_array(items))
		return err_set(err, ERR_WORKLOAD, "%s must hold a list of values", path);
	json_array_foreach(items, i, item)
	{
		snprintf(where, sizeof(where), "%s.%zu", path, i);
		if (!check(item, where, depth, bytes, err))
			return false;
	}
	return true;
}

static bool check_dict(const json_t *items, const char *path, int depth, int64_t *bytes,
		       struct err *err)
{
	char where[PATH_BYTES];
	const char *key;
	json_t *item;

	if (!json_is_object(items))
		return err_set(err, ERR_WORKLOAD, "%s must hold an object of values", path);
	json_object_foreach((json_t *)items, key, item)
	{
		snprintf(where, sizeof(where), "%s.%.40s", path, key);
		if (!check(item, where, depth, bytes, err))
			return false;
	}
	return true;
}

/* Its names are the program's: workload.c looks at them. */
static bool check_python(const json_t *text, const char *path, struct err *err)
{
	const char *said = json_string_value(text);

	if (!said || strlen(said) != json_string_length(text))
		return err_set(err, ERR_WORKLOAD,
			       "%s.python must be a text: a Python expression, as "
			       "\"torch.randn(8, 16)\"",
			       path);
	if (json_string_length(text) > FUSION_EXPRESSION_BYTES)
		return err_set(err, ERR_BOUND, "%s.python has %zu bytes; the limit is %d", path,
			       json_string_length(text), FUSION_EXPRESSION_BYTES);
	return true;
}

static bool check(const json_t *spec, const char *path, int depth, int64_t *bytes, struct err *err)
{
	const char *kind = only_key(spec);
	const json_t *inner = kind ? json_object_get(spec, kind) : NULL;
	struct spec_tensor tensor;

	if (depth > SPEC_MAX_DEPTH)
		return err_set(err, ERR_BOUND, "%s is nested deeper than %d; the limit", path,
			       SPEC_MAX_DEPTH);
	if (kind && spec_is_tensor(spec)) {
		if (!spec_tensor(spec, path, &tensor, err))
			return false;
		*bytes += tensor.numel * (int64_t)dtype_bytes(tensor.dtype);
		return true;
	}
	if (kind && strcmp(kind, "value") == 0) {
		if (json_is_array(inner) || json_is_object(inner))
			return err_set(err, ERR_WORKLOAD,
				       "%s.value must be a number, bool, string or null", path);
		return true;
	}
	if (kind && strcmp(kind, "python") == 0)
		return check_python(inner, path, err);
	if (kind && (strcmp(kind, "tuple") == 0 || strcmp(kind, "list") == 0))
		return check_items(inner, path, depth + 1, bytes, err);
	if (kind && strcmp(kind, "dict") == 0)
		return check_dict(inner, path, depth + 1, bytes, err);
	return err_set(err, ERR_WORKLOAD,
		       "%s must be an object with one of python, tensor, random, value, tuple, "
		       "list, dict, as {\"python\": \"torch.randn(8, 16)\"}",
		       path);
}

bool spec_check(const json_t *spec, const char *path, int64_t *bytes, struct err *err)
{
	return check(spec, path, 0, bytes, err);
}

static const json_t *items_of(const json_t *spec)
{
	const json_t *list = json_object_get(spec, "list");

	return list ? list : json_object_get(spec, "tuple");
}

bool spec_each_python(const json_t *spec, const char *path, spec_python_fn *each, void *self)
{
	const json_t *text = json_object_get(spec, "python"), *list = items_of(spec);
	const char *key;
	char where[PATH_BYTES];
	json_t *item;
	size_t i;

	if (json_is_string(text))
		return each(self, json_string_value(text), path);
	json_array_foreach((json_t *)list, i, item)
	{
		snprintf(where, sizeof(where), "%s.%zu", path, i);
		if (!spec_each_python(item, where, each, self))
			return false;
	}
	json_object_foreach(json_object_get(spec, "dict"), key, item)
	{
		snprintf(where, sizeof(where), "%s.%.40s", path, key);
		if (!spec_each_python(item, where, each, self))
			return false;
	}
	return true;
}

static bool stop_at_first(void *self, const char *text, const char *path)
{
	(void)self, (void)text, (void)path;
	return false;
}

bool spec_has_python(const json_t *spec)
{
	return !spec_each_python(spec, "", stop_at_first, NULL);
}

bool spec_has_leaf(const json_t *spec)
{
	const json_t *fields = json_object_get(spec, "tensor");
	const char *text = json_string_value(json_object_get(spec, "python")), *key;
	json_t *item;
	size_t i;

	if (text)
		return strstr(text, "requires_grad") || strstr(text, "Parameter");
	fields = fields ? fields : json_object_get(spec, "random");
	if (json_is_true(json_object_get(fields, "requires_grad")))
		return true;
	json_array_foreach((json_t *)items_of(spec), i, item)
	{
		if (spec_has_leaf(item))
			return true;
	}
	json_object_foreach(json_object_get(spec, "dict"), key, item)
	{
		if (spec_has_leaf(item))
			return true;
	}
	return false;
}

/* The elements of t with `old` sizes along dim repeated or cut to `size`. */
static json_t *resize_data(const struct spec_tensor *t, int dim, int64_t size)
{
	json_t *data = json_array();
	int64_t outer = 1, inner = 1, old = t->size[dim];

	for (int d = 0; d < dim; d++)
		outer *= t->size[d];
	for (int d = dim + 1; d < t->rank; d++)
		inner *= t->size[d];
	for (int64_t o = 0; o < outer; o++)
		for (int64_t m = 0; m < size; m++)
			for (int64_t i = 0; i < inner; i++)
				json_array_append(
				    data, json_array_get(
					      t->data, (size_t)((o * old + m % old) * inner + i)));
	return data;
}

json_t *spec_resize(const json_t *spec, const char *path, int dim, int64_t size, struct err *err)
{
	struct spec_tensor t;
	json_t *copy, *fields;
	int at;

	if (json_object_get(spec, "python")) {
		err_set(err, ERR_WORKLOAD,
			"sweep.input.arg names %s, which is an expression; write n in it where its "
			"size goes, as torch.randn(n, 16), and leave arg and dim out",
			path);
		return NULL;
	}
	if (!spec_is_tensor(spec)) {
		err_set(err, ERR_WORKLOAD, "sweep.input.arg names %s, which is no tensor", path);
		return NULL;
	}
	if (!spec_tensor(spec, path, &t, err))
		return NULL;
	at = dim < 0 ? dim + t.rank : dim;
	if (at < 0 || at >= t.rank) {
		err_set(err, ERR_WORKLOAD, "sweep.input.dim is %d, but %s has %d dimension%s", dim,
			path, t.rank, t.rank == 1 ? "" : "s");
		return NULL;
	}
	if (t.data && t.size[at] == 0 && size > 0) {
		err_set(err, ERR_WORKLOAD,
			"%s is empty along dimension %d: there is nothing to repeat for a sweep; "
			"use {\"random\": ...}",
			path, at);
		return NULL;
	}
	if (t.data && t.numel / (t.size[at] ? t.size[at] : 1) * size > SPEC_MAX_RESIZED_DATA) {
		err_set(err, ERR_BOUND,
			"%s would have more than %d elements given as numbers in the sweep; "
			"use {\"random\": ...} for large inputs",
			path, SPEC_MAX_RESIZED_DATA);
		return NULL;
	}
	copy = json_deep_copy(spec);
	fields = json_object_get(copy, t.data ? "tensor" : "random");
	json_array_set_new(json_object_get(fields, "shape"), (size_t)at, json_integer(size));
	if (t.data)
		json_object_set_new(fields, "data", resize_data(&t, at, size));
	return copy;
}
