/* profiler/run/fit_input.c -- the inputs of fit.h: from specs, to specs, as text. */
#include <stdlib.h>
#include <string.h>

#include "profiler/run/fit.h"
#include "profiler/workload/spec.h"

enum { USUAL_HIGH = 10 };

struct fit_input fit_input_from(const json_t *spec)
{
	struct fit_input in = { .spec = spec };
	struct spec_tensor t;
	struct err ignored = { 0 };

	if (!json_object_get(spec, "random") || !spec_tensor(spec, "", &t, &ignored) ||
	    t.rank > FIT_DIMS)
		return in;
	in.tensor = true;
	in.dtype = t.dtype;
	in.rank = t.rank;
	in.high = t.random.high > 1 ? (int64_t)t.random.high : USUAL_HIGH;
	memcpy(in.size, t.size, sizeof(in.size[0]) * (size_t)t.rank);
	return in;
}

/* What belongs to another type goes: the kind of numbers and their bounds. */
static void set_dtype(json_t *random, const struct fit_input *in, const struct fit_input *was)
{
	enum dtype_category category = dtype_category(in->dtype);

	json_object_set_new(random, "dtype", json_string(dtype_name(in->dtype)));
	if (!was->tensor || dtype_category(was->dtype) != category) {
		json_object_del(random, "low");
		json_object_del(random, "high");
		json_object_set_new(random, "kind",
				    json_string(category == CATEGORY_FLOAT ? "randn" : "randint"));
	}
	if (category == CATEGORY_BOOL)
		json_object_set_new(random, "high", json_integer(2));
	else if (category == CATEGORY_INT)
		json_object_set_new(random, "high", json_integer(in->high));
}

json_t *fit_input_spec(const struct fit_input *in, uint64_t seed)
{
	const struct fit_input was = in->spec ? fit_input_from(in->spec) : (struct fit_input){ 0 };
	json_t *spec = in->spec ? json_deep_copy(in->spec)
				: json_pack("{s:{s:I}}", "random", "seed", (json_int_t)seed);
	json_t *random = json_object_get(spec, "random"), *shape;

	if (!in->tensor || !random)
		return spec;
	json_object_set_new(random, "seed", json_integer((json_int_t)seed));
	shape = json_array();
	for (int d = 0; d < in->rank; d++)
		json_array_append_new(shape, json_integer(in->size[d]));
	json_object_set_new(random, "shape", shape);
	set_dtype(random, in, &was);
	return spec;
}

/* A value as Python has it. */
static void python_text(const json_t *value, struct buf *out)
{
	char *text;

	if (json_is_null(value) || json_is_boolean(value)) {
		buf_puts(out, json_is_null(value)   ? "None"
			      : json_is_true(value) ? "True"
						    : "False");
		return;
	}
	text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
	buf_puts(out, text ? text : "");
	free(text);
}

void fit_input_text(const struct fit_input *in, struct buf *out)
{
	const json_t *list = json_object_get(in->spec, "list");
	const char *python = json_string_value(json_object_get(in->spec, "python"));

	if (in->tensor) {
		buf_printf(out, "%s[", dtype_name(in->dtype));
		for (int d = 0; d < in->rank; d++)
			buf_printf(out, "%s%lld", d ? "," : "", (long long)in->size[d]);
		buf_putc(out, ']');
		if (dtype_category(in->dtype) == CATEGORY_INT)
			buf_printf(out, "<%lld", (long long)in->high);
	} else if (python) {
		buf_puts(out, python);
	} else if (json_object_get(in->spec, "value")) {
		python_text(json_object_get(in->spec, "value"), out);
	} else if (list) {
		json_t *item;
		size_t i;

		buf_putc(out, '[');
		json_array_foreach(list, i, item)
		{
			const struct fit_input each = fit_input_from(item);

			buf_puts(out, i ? ", " : "");
			fit_input_text(&each, out);
		}
		buf_putc(out, ']');
	}
}
